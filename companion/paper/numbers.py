"""Every number that the paper prints, with its place and its meaning.

The numbers were copied by hand, in the paper's order, to ``numbers.yml`` next to this
file. Everything else is computed from that file.
"""

from collections import Counter
from dataclasses import asdict, dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

#: Roles of numbers that are results. The book recomputes these numbers.
RESULT_ROLES = ("used", "predicted", "arithmetic")

#: Experiments that report runs of another experiment, by name.
SAME_RUNS_AS = {"trajectory": "online", "stochastic": "identification"}


def run_of(experiment: str) -> str:
    """Return the name of the experiment whose runs an experiment reports."""
    return SAME_RUNS_AS.get(experiment, experiment)


COUNTS = {"two": 2, "three": 3, "seven": 7, "nine": 9}
#: Fractions in words, taken as rounded to one decimal.
FRACTIONS = {"one third": 1 / 3, "one tenth": 1 / 10}


@dataclass(frozen=True)
class Published:
    """One number at one place of the paper.

    Attributes
    ----------
    key : str
        Unique name, which joins the other fields, such as data set and method. If
        several numbers have the same fields, the name of the second one ends in ``-2``,
        and so on.
    printed : str
        The number as printed, without LaTeX.
    place, says : str
        Place in the paper, and meaning of the number there, in our words.
    role : str
        Role in our book: ``"used"``, a number to which reconstructions are fitted;
        ``"predicted"``, a result to which reconstructions are not fitted;
        ``"arithmetic"``, a number that the paper derives from other numbers;
        ``"theory"``, a constant of the theory; ``"setting"``, a choice of the paper
        that the book copies.
    experiment : str
        Experiment of the paper: ``"table1"``, ``"profiling"``, ``"tuning-grid"``,
        ``"tuning"``, ``"online"``, ``"trajectory"``, ``"identification"``,
        ``"full-set"``, ``"stochastic"`` or ``"theory"``.
    quantity : str
        Column of a replay (``"efficiency_regret"``, ``"f1"``), ``"error"`` for the
        share of replays that are not ``correct``, or the name of a statistic or
        setting.
    dataset : {"gsm8k", "piqa", None}
        None for numbers about both data sets.
    method, against : str, optional
        Names of policy classes. ``against`` is the other method of a derived number.
    rho : float, optional
        Budget in evaluations per configuration.
    costs : {"declared", "realised", None}
        In identification: whether pulls are charged declared or realised costs.
    item : int, optional
        Position in a printed list of values, from 1.
    operation : str, optional
        Key of `companion.paper.derived.OPERATIONS`, for a derived number.

    Examples
    --------
    >>> number = next(n for n in published() if n.printed == "64.7%")
    >>> number.key
    'gsm8k-online-32-CoHVUCB-vs-UniformAllocation-efficiency_regret-relative_reduction'
    >>> number.value, number.half_unit
    (0.647, 0.0005)
    """

    key: str
    printed: str
    place: str
    says: str
    role: str
    experiment: str
    quantity: str
    dataset: str | None = None
    method: str | None = None
    against: str | None = None
    rho: float | None = None
    costs: str | None = None
    item: int | None = None
    operation: str | None = None

    @property
    def value(self) -> float:
        """The number as a float; percentages are fractions."""
        if self.printed in COUNTS | FRACTIONS:
            return (COUNTS | FRACTIONS)[self.printed]
        digits = self.printed.replace(",", "").replace("10^", "1e").removesuffix("%")
        return float(Decimal(digits) / (100 if self.printed.endswith("%") else 1))

    @property
    def half_unit(self) -> float:
        """Half a unit of the last printed digit; 0 for exact numbers.

        Choices, constants and whole numbers are exact.
        """
        if self.printed in FRACTIONS:
            return 0.05
        if (
            self.role in ("setting", "theory")
            or self.experiment == "tuning"
            or "." not in self.printed
        ):
            return 0.0
        decimals = len(self.printed.removesuffix("%").partition(".")[2])
        return float(
            Decimal(5).scaleb(-decimals - 1)
            / (100 if self.printed.endswith("%") else 1)
        )

    @property
    def coordinates(self) -> tuple[Any, ...]:
        """The fields that identify the quantity of a number.

        If two numbers agree in these fields but differ by more than rounding, the paper
        contradicts itself.
        """
        names = (
            "dataset",
            "quantity",
            "method",
            "against",
            "operation",
            "rho",
            "costs",
            "item",
        )
        return (run_of(self.experiment), *(getattr(self, name) for name in names))

    @property
    def inputs(self) -> tuple[str, ...]:
        """The keys of the two numbers from which the paper derives this number.

        The first is the number of ``method``, the second the number of ``against``. The
        tuple is empty if the paper does not derive the number.
        """
        if self.operation is None:
            return ()
        start = vars(self) | dict.fromkeys(("against", "operation", "item"))
        return tuple(
            _key(start | {"method": name}) for name in (self.method, self.against)
        )


def run_key(
    dataset: str | None,
    experiment: str,
    rho: float | None,
    method: str | None,
    quantity: str,
) -> str:
    """Return the key of a mean over runs.

    The key does not depend on the place in the paper. Runs under realised costs differ
    from runs under declared costs only in a few last pulls. Errors under both kinds of
    costs therefore have the same key.

    Examples
    --------
    >>> run_key("piqa", "stochastic", 5000, "CoPSI", "error")
    'piqa-identification-5000-CoPSI-error-declared'
    """
    place = "trajectory" if quantity == "moving_average" else run_of(experiment)
    costs = "declared" if quantity in ("error", "f1") else None
    named = {"dataset": dataset, "experiment": place, "rho": rho, "method": method}
    return _key(named | {"quantity": quantity, "costs": costs})


def _key(fields: dict[str, Any]) -> str:
    rho = fields.get("rho")
    against = fields.get("against")
    parts = [
        fields.get("dataset"),
        fields["experiment"],
        rho and f"{rho:g}",
        fields.get("method"),
    ]
    parts += [
        against and f"vs-{against}",
        fields["quantity"],
        fields.get("operation"),
        fields.get("costs"),
    ]
    return "-".join(str(part) for part in [*parts, fields.get("item")] if part)


@cache
def published() -> tuple[Published, ...]:
    """Return all numbers that the paper prints, in the paper's order.

    Constants 0 and 1 of formulas, exponents, indices and counts of listed items are
    left out. A number that is printed at two places is listed twice. A number that is
    repeated at one place is listed once.

    Returns
    -------
    tuple of Published

    Examples
    --------
    >>> numbers = {number.key: number for number in published()}
    >>> numbers["piqa-online-32-CoHVUCB-efficiency_regret"].printed
    '1097.75'
    """
    source = Path(__file__).with_name("numbers.yml")

    # scalars remain text, so that 0.270 keeps its last digit
    groups = yaml.load(source.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)
    rows: list[dict[str, Any]] = [
        group | number for group in groups for number in group.pop("numbers")
    ]
    for row in rows:
        grid = row["printed"]
        row["item"] = [*range(1, 1 + len(grid))] if isinstance(grid, list) else None

    frame = pd.DataFrame(rows)
    for columns in (["printed", "item"], "experiment", "dataset", "costs"):
        frame = frame.explode(columns)
    counts: Counter[str] = Counter()
    numbers = []
    for record in frame.to_dict("records"):
        fields: dict[str, Any] = {
            str(k): v for k, v in record.items() if pd.notna(v) and v != "null"
        }
        fields |= {"rho": float(fields["rho"])} if "rho" in fields else {}
        key = _key(fields)
        counts[key] += 1
        numbers.append(
            Published(key=f"{key}-{counts[key]}" if counts[key] > 1 else key, **fields)
        )

    return tuple(numbers)


@cache
def as_frame() -> pd.DataFrame:
    """Return all numbers that the paper prints as a data frame.

    Returns
    -------
    DataFrame
        One row per number: the fields of `Published`, then ``value``, ``half_unit`` and
        ``inputs``.

    Examples
    --------
    >>> frame = as_frame()
    >>> frame.loc[frame["place"] == "Figure 4, caption", "printed"].tolist()
    ['32', '95%', '100', '50']
    """
    derived = ("value", "half_unit", "inputs")
    return pd.DataFrame(
        [asdict(n) | {name: getattr(n, name) for name in derived} for n in published()]
    )
