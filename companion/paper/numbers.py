"""Every number that the paper prints, with where it stands and how to look it up.

The numbers are typed once, in the paper's order, in ``numbers.yml`` next to this file;
all else is derived.
"""

from collections import Counter
from dataclasses import asdict, dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

#: Roles of the results, which the book computes, too.
RESULT_ROLES = ("used", "predicted", "arithmetic")

#: Experiments that report runs of another one: their course, or the same cells next to
#: other ones.
SAME_RUNS_AS = {"trajectory": "online", "stochastic": "identification"}


def run_of(experiment: str) -> str:
    """Name the experiment whose runs one reports."""
    return SAME_RUNS_AS.get(experiment, experiment)


COUNTS = {"two": 2, "three": 3, "seven": 7, "nine": 9}
#: Fractions in words, read as decimals of one digit.
FRACTIONS = {"one third": 1 / 3, "one tenth": 1 / 10}


@dataclass(frozen=True)
class Published:
    """One number on one place of the paper.

    Attributes
    ----------
    key : str
        Unique and readable: the coordinates, joined.  The second mention of a thing
        within one experiment ends in ``-2``, and so on.
    printed : str
        As it stands on the page, without LaTeX.
    place, says : str
        Where it stands, and what it says there, in our words.
    role : str
        What it is to the book: ``"used"``, given to the reconstruction;
        ``"predicted"``, about a method that no part of it ran; ``"arithmetic"``,
        derived by the paper from its other numbers; ``"theory"``, a constant of it; or
        ``"setting"``, a choice that is copied.
    experiment : str
        ``"table1"``, ``"profiling"``, ``"tuning-grid"`` and ``"tuning"``, ``"online"``,
        ``"trajectory"``, ``"identification"``, ``"full-set"``, ``"stochastic"`` or
        ``"theory"``.
    quantity : str
        Column of a replay where there is one (``"efficiency_regret"``, ``"f1"``),
        ``"error"`` for the share of replays that are not ``correct``; else the name of
        the statistic or setting.
    dataset : {"gsm8k", "piqa", None}
        None for what holds on both.
    method, against : str, optional
        Classes of this library; ``against`` is the one with which an arithmetic entry
        compares.
    rho : float, optional
        Budget in rounds over all configurations.
    costs : {"declared", "realised", None}
        What a pull is charged, in identification.
    item : int, optional
        Place in a printed grid, from 1.
    operation : str, optional
        Of an arithmetic entry: a key of `companion.paper.derived.OPERATIONS`.

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
        """The number; a percentage as a fraction."""
        if self.printed in COUNTS | FRACTIONS:
            return (COUNTS | FRACTIONS)[self.printed]
        digits = self.printed.replace(",", "").replace("10^", "1e").removesuffix("%")
        return float(Decimal(digits) / (100 if self.printed.endswith("%") else 1))

    @property
    def half_unit(self) -> float:
        """Half of the last printed digit; 0 for choices, constants and whole numbers: they are exact."""
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
        """What the number is about: two numbers with the same coordinates should be the same."""
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
        """Keys of the numbers from which an arithmetic entry follows: the method's, then the other one's."""
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
    """Name a mean over runs, such that what is printed about the same runs has the same key.

    Under realised costs the pulls are those under declared costs, but for a few at the
    end, and errors of both are one number here.

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
    """All numbers of the paper, in its order.

    Constants 0 and 1 of formulas, exponents, indices and counts of what a sentence
    lists are left out.  A number that stands on two places is there twice, one that
    stands twice on one place is there once.

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

    # every scalar stays the text that it is, so that 0.270 keeps its last digit
    groups = yaml.load(source.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)
    rows: list[dict[str, Any]] = [
        group | own for group in groups for own in group.pop("numbers")
    ]
    for row in rows:
        grid = row["printed"]
        row["item"] = [*range(1, 1 + len(grid))] if isinstance(grid, list) else None

    frame = pd.DataFrame(rows)
    for several in (["printed", "item"], "experiment", "dataset", "costs"):
        frame = frame.explode(several)
    seen: Counter[str] = Counter()
    numbers = []
    for each in frame.to_dict("records"):
        fields: dict[str, Any] = {
            str(k): v for k, v in each.items() if pd.notna(v) and v != "null"
        }
        fields |= {"rho": float(fields["rho"])} if "rho" in fields else {}
        key = _key(fields)
        seen[key] += 1
        numbers.append(
            Published(key=f"{key}-{seen[key]}" if seen[key] > 1 else key, **fields)
        )

    return tuple(numbers)


def as_frame() -> pd.DataFrame:
    """Return `published` as a table.

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
