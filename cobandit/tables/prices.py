"""Tokens and what they cost: counted in text, and turned into money by a YAML file of USD per million.

.. code-block:: yaml

    small-model: {input: 0.25, cached: 0.025, output: 2}
    large-model: {input: 3, output: 15}
"""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Annotated, NamedTuple

from pydantic import Field

from cobandit.faults import stop, suggest
from cobandit.tables.safe_reading import Fields, check_fields, load_yaml

#: Characters that count as one token where no tokenizer is given.
CHARACTERS = 4


class TokenCounter(NamedTuple):
    """How tokens are counted: the function, and what the card calls its unit."""

    count: Callable[[str], int]
    unit: str


def count_characters(text: str) -> int:
    """Count one token for every four characters begun.

    Examples
    --------
    >>> [count_characters(text) for text in ("The answer is 42.", "", "a", "abcd", "abcde")]
    [5, 0, 1, 1, 2]
    """
    return -(-len(text) // CHARACTERS)


def make_token_counter(tokenizer: Path | None) -> TokenCounter:
    """Make the counter: by characters, or with a ``tokenizer.json`` as Hugging Face models have it.

    Parameters
    ----------
    tokenizer : Path or None
        The file; reading it needs the package ``tokenizers``.

    Raises
    ------
    TableError
        If the file is missing or is no tokenizer, or the package is not installed.

    Examples
    --------
    >>> make_token_counter(None).unit
    'tokens (characters / 4)'
    """
    if tokenizer is None:
        return TokenCounter(count_characters, f"tokens (characters / {CHARACTERS})")
    if not tokenizer.is_file():
        stop(tokenizer, "there is no such tokenizer", "name a tokenizer.json, or leave --tokenizer out")
    try:
        from tokenizers import Tokenizer  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        stop(tokenizer, "reading it needs the package tokenizers", "pip install tokenizers")
    try:
        encoder = Tokenizer.from_file(str(tokenizer))
    except Exception as error:  # its Rust core raises plain Exception
        stop(tokenizer, f"this is no tokenizer.json ({str(error)[:80]})", "take the model's own file")

    unit = f"tokens ({tokenizer.name})"
    return TokenCounter(lambda text: len(encoder.encode(text, add_special_tokens=False).ids), unit)


MILLION = 1_000_000

_Usd = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Price(Fields):
    """USD per million tokens of a model; input that came from a cache costs as other input if not said.

    Examples
    --------
    >>> cost_usd(Usage(0, 1000, 0), {"m": Price(input=0.25, output=2)}, "m")
    0.00025
    """

    input: _Usd = Field(description="give USD per million tokens of input")
    cached: _Usd | None = Field(default=None, description="give USD per million tokens from a cache")
    output: _Usd = Field(description="give USD per million tokens of output")


class Usage(NamedTuple):
    """Tokens of one evaluation: input without that from a cache, input from a cache, output."""

    input: float
    cached: float
    output: float


#: Prices by model.
Prices = Mapping[str, Price]


def read_prices(path: str | Path, models: Iterable[str] = ()) -> dict[str, Price]:
    """Read a file of prices and check that it has those of the models in question.

    Parameters
    ----------
    path : str or Path
        The YAML file.
    models : iterable of str
        Models whose prices are needed.

    Returns
    -------
    dict
        `Price` by model, all that the file has.

    Raises
    ------
    TableError
        If the file is missing, is not as above, or lacks a model.

    Examples
    --------
    >>> read_prices("nowhere.yml")
    Traceback (most recent call last):
        ...
    cobandit.faults.TableError: nowhere.yml: there is no such file of prices -> check the path
    """
    path = Path(path)
    content = load_yaml(path, "file of prices")
    if not isinstance(content, dict) or not content:
        stop(path, "it holds no prices", "write 'MODEL: {input: USD per million, cached: ..., output: ...}'")
    prices = {
        str(model): check_fields(Price, fields, f"{path}, model {str(model)!r}")
        for model, fields in content.items()
    }
    for model in models:
        if model not in prices:
            stop(path, f"it has no price of {model!r}", suggest(model, prices, "add it"))
    return prices


def check_paid(prices: Prices, models: Iterable[str]) -> None:
    """Refuse models whose prices are all zero: what costs nothing cannot be budgeted in USD.

    Raises
    ------
    TableError
        With what to take as the cost instead.

    Examples
    --------
    >>> check_paid({"mine": Price(input=0, output=0)}, ["mine"])
    Traceback (most recent call last):
        ...
    cobandit.faults.TableError: prices: those of 'mine' are zero, and a method needs costs above zero -> \
take tokens or seconds as the cost, such as cost: {column: tokens, unit: tokens}
    """
    for model in models:
        if model in prices and not any(prices[model].model_dump().values()):
            problem = f"those of {model!r} are zero, and a method needs costs above zero"
            remedy = "take tokens or seconds as the cost, such as cost: {column: tokens, unit: tokens}"
            stop("prices", problem, remedy)


def cost_usd(usage: Usage, prices: Prices, model: str) -> float:
    r"""Turn tokens into money.

    .. math:: c = 10^{-6} \, (p_{in} n_{in} + p_{cached} n_{cached} + p_{out} n_{out})

    Parameters
    ----------
    usage : Usage
    prices : mapping of str to Price
    model : str

    Returns
    -------
    float
        USD.

    Raises
    ------
    TableError
        If the model has no price.

    Examples
    --------
    >>> cost_usd(Usage(1000, 500, 200), {"m": Price(input=3, cached=0.3, output=15)}, "m")
    0.00615
    """
    if model not in prices:
        stop("--prices", f"there is no price of {model!r}", suggest(model, prices, "add it, or count tokens"))
    price = prices[model]
    cached = price.input if price.cached is None else price.cached
    return (price.input * usage.input + cached * usage.cached + price.output * usage.output) / MILLION
