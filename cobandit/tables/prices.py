"""Prices of tokens, by model.

Prices of many vendors come from the installed package genai-prices, as of a given day.
A YAML file with prices in USD per million tokens takes precedence. It can give prices
of other models, discounts, and corrections:

.. code-block:: yaml

    small-model: {input: 0.25, cached: 0.025, output: 2}
    large-model: {input: 3, output: 15, written: 3.75}
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, date, datetime, time
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, NamedTuple, NoReturn

from pydantic import Field

from cobandit._text import ellipsize, suggest
from cobandit.errors import raise_fault
from cobandit.tables.checked_fields import Fields, check_fields
from cobandit.tables.plain_yaml import load_yaml
from cobandit.tables.usage import Usage

MILLION = 1_000_000

#: Default price of a token written to a cache, relative to an input token.
WRITTEN = 1.25

#: Name of the source of prices that are not from a file.
PACKAGE = "genai-prices"

#: Vendor names in logs, with the package's names for them.
_ALIASES = {
    "azureai": "azure",
    "bedrock": "aws",
    "gemini": "google",
    "grok": "x-ai",
    "mistralai": "mistral",
    "vertex": "google",
    "vertex_ai": "google",
    "xai": "x-ai",
}

_Usd = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Price(Fields):
    """Prices of a model, in USD per million tokens.

    By default, input tokens from a cache have the price of other input tokens, and
    input tokens that are written to a cache cost a quarter more.

    Examples
    --------
    >>> Price(input=0.25, output=2).usd(Usage(0, 1000, 0))
    0.00025
    """

    input: _Usd = Field(
        description="give the price of a million tokens of input in USD"
    )
    cached: _Usd | None = Field(
        default=None, description="give the price of a million cached tokens in USD"
    )
    written: _Usd | None = Field(
        default=None,
        description="give the price of a million tokens written to a cache, in USD",
    )
    output: _Usd = Field(
        description="give the price of a million tokens of output in USD"
    )

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        # Runs store a checksum of this representation. If `written` is missing, it is
        # left out, so that checksums from before this field existed stay valid.
        return (
            argument
            for argument in super().__repr_args__()
            if argument != ("written", None)
        )

    def usd(self, usage: Usage) -> float:
        r"""Return the cost of tokens in USD.

        .. math::

            c = 10^{-6} \, (p_{in} n_{in} + p_{cached} n_{cached}
                + p_{written} n_{written} + p_{out} n_{out})

        Examples
        --------
        >>> Price(input=3, cached=0.3, output=15).usd(Usage(1000, 500, 200))
        0.00615
        """
        cached = self.input if self.cached is None else self.cached
        written = WRITTEN * self.input if self.written is None else self.written
        total = (
            self.input * usage.input
            + cached * usage.cached
            + self.output * usage.output
        )
        return (total + written * usage.written) / MILLION


class _Reference(NamedTuple):
    """Name and vendor of a model, by which genai-prices identifies it."""

    model: str
    vendor: dict[str, str]
    name: str


class Prices:
    """Prices of models on one day.

    Parameters
    ----------
    own : mapping of str to Price, optional
        Prices by model, which take precedence over prices in the package.
    day : date, optional
        Day of the package's prices, by default today.
    file : str, optional
        File of the prices in ``own``, for messages.

    Examples
    --------
    >>> from datetime import date
    >>> prices = Prices({"mine": Price(input=1, output=2)}, date(2026, 11, 1))
    >>> prices.usd(Usage(1000, 0, 100), "mine")
    0.0012
    >>> prices.usd(Usage(1000, 0, 100), "openai/gpt-4o-mini")
    0.00021
    >>> prices.usd(Usage(1000, 0, 100), "a model that nobody sells") is None
    True
    """

    def __init__(
        self,
        own: Mapping[str, Price] | None = None,
        day: date | None = None,
        file: str = "",
    ):
        self.own = dict(own or {})
        self.day = day or date.today()
        self.file = file
        self._references: dict[tuple[str, str | None], _Reference | None] = {}

    def __repr__(self) -> str:
        return f"Prices({self.own!r})"

    def usd(
        self, usage: Usage, model: str, base_url: str | None = None
    ) -> float | None:
        """Return the cost of a model's tokens in USD; None if the price is unknown.

        Parameters
        ----------
        usage : Usage
        model : str
            Name of the model, possibly after its vendor and a slash.
        base_url : str, optional
            Address of the endpoint, which may identify the vendor.
        """
        if model in self.own:
            return self.own[model].usd(usage)
        key = model, base_url
        if key not in self._references:
            self._references[key] = self._find(model, base_url)
        reference = self._references[key]
        return None if reference is None else self._calculate(usage, reference)[0]

    def require(
        self, models: Iterable[tuple[str, str | None]], *, above_zero: bool = True
    ) -> None:
        """Raise if a model has no price, or if its price is zero.

        Parameters
        ----------
        models : iterable of (str, str or None)
            Names of models, with the addresses of their endpoints.
        above_zero : bool
            Whether a price of zero is an error.

        Raises
        ------
        TableError
            If a price is missing or zero. The message shows the line to write into a
            file of prices.

        Examples
        --------
        >>> free = Prices({"mine": Price(input=0, output=0)})
        >>> free.require([("mine", None)])  # doctest: +ELLIPSIS
        Traceback (most recent call last):
            ...
        cobandit.errors.TableError: prices: the price of 'mine' is zero, but costs ...
        """
        for model, base_url in models:
            cost = self.usd(Usage(MILLION, 0, MILLION), model, base_url)
            if cost is None:
                self.refuse(model)
            if above_zero and not cost:
                problem = f"the price of {model!r} is zero, but costs must be positive"
                remedy = (
                    "use tokens or seconds as the cost, such as cost: {column:"
                    " tokens, unit: tokens}"
                )
                raise_fault(self.file or "prices", problem, remedy, "price-zero")

    def refuse(self, model: str, place: str = "") -> NoReturn:
        """Raise the error for a model without a price.

        Raises
        ------
        TableError
            The message shows the line to write into a file of prices, and offers tokens
            as the cost.
        """
        problem = f"neither this file nor {package()} has a price of {model!r}"
        if not self.file:
            problem = f"{package()} has no price of {model!r}"
        write = (
            f"write '{model}: {{input: ..., output: ...}}', in USD per million"
            " tokens, into a file of prices"
        )
        remedy = suggest(model, self.own, f"{write}, or use tokens as the cost")
        raise_fault(place or self.file or "prices", problem, remedy, "no-price")

    def describe(self, models: Iterable[tuple[str, str | None]]) -> str:
        """Describe the sources of the models' prices, and the day of package prices.

        Examples
        --------
        >>> from datetime import date
        >>> price = Price(input=1, output=2)
        >>> mine = Prices({"mine": price}, date(2026, 11, 1), "my.yml")
        >>> mine.describe([("mine", None), ("gpt-4o-mini", None)])  # doctest: +ELLIPSIS
        'my.yml (mine); genai-prices ... as of 2026-11-01 (gpt-4o-mini of openai)'
        """
        own_models = []
        package_models = []
        for model, base_url in dict.fromkeys(models):
            if model in self.own:
                own_models.append(model)
            elif self.usd(Usage(0, 0, 0), model, base_url) is not None:
                reference = self._references[model, base_url]
                package_models.append(
                    f"{model} of {reference.name}" if reference is not None else model
                )

        parts = (
            [f"{self.file or 'given'} ({ellipsize(', '.join(own_models), 200)})"]
            if own_models
            else []
        )
        if package_models:
            parts.append(
                f"{package()} as of {self.day}"
                f" ({ellipsize(', '.join(package_models), 400)})"
            )

        return "; ".join(parts)

    def _find(self, model: str, base_url: str | None) -> _Reference | None:
        for name, vendor in _candidates(model, base_url):
            try:
                _, called = self._calculate(
                    Usage(1, 0, 1), _Reference(name, vendor, "")
                )
            except LookupError:
                continue
            return _Reference(name, vendor, called)
        return None

    def _calculate(self, usage: Usage, reference: _Reference) -> tuple[float, str]:
        """Return the cost of tokens by the package's price, and the vendor's name."""
        # imported here, because it takes a second and many runs do not need it
        import genai_prices

        counts: dict[str, Any] = {
            "input_tokens": usage.prompt,
            "output_tokens": usage.output,
        }
        # zero tokens cost nothing, even if their price is unknown
        if usage.cached:
            counts["cache_read_tokens"] = usage.cached
        if usage.written:
            counts["cache_write_tokens"] = usage.written
        price: Any = genai_prices.calc_price(  # type: ignore[call-overload]
            genai_prices.Usage(**counts),
            reference.model,
            # prices at noon, because some vendors are cheaper at night and the time of
            # each request is unknown here
            genai_request_timestamp=datetime.combine(self.day, time(12), UTC),
            **reference.vendor,
        )
        return float(price.total_price), price.provider.id


def _candidates(
    model: str, base_url: str | None
) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield possible names and vendors of a model that may be named ``vendor/name``."""
    if base_url is not None:
        yield model, {"provider_api_url": base_url}
    vendor, slash, rest = model.partition("/")
    if slash:
        yield rest, {"provider_id": _ALIASES.get(vendor, vendor)}
    yield model, {}
    if slash:
        yield from _candidates(rest, None)


def package() -> str:
    """Return the name and version of the package of prices."""
    return f"{PACKAGE} {version(PACKAGE)}"


def read_prices(path: str | Path | None, day: date | None = None) -> Prices:
    """Return the prices of genai-prices; prices in a given file take precedence.

    Parameters
    ----------
    path : str, Path or None
        YAML file; without one, only the package's prices are used.
    day : date, optional
        As in `Prices`.

    Raises
    ------
    TableError
        If the file is missing or malformed.

    Examples
    --------
    >>> read_prices("nowhere.yml")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    cobandit.errors.TableError: nowhere.yml: there is no such file of prices -> ...
    """
    if path is None:
        return Prices(day=day)

    path = Path(path)
    content = load_yaml(path, "file of prices")
    if not isinstance(content, dict) or not content:
        raise_fault(
            path,
            "the file has no prices",
            "write 'MODEL: {input: USD per million, cached: ..., output: ...}'",
            "no-prices",
        )

    own_prices = {
        str(model): check_fields(Price, fields, f"{path}, model {str(model)!r}")
        for model, fields in content.items()
    }
    return Prices(own_prices, day, str(path))
