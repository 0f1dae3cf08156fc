"""One claim of the paper as a row of a table: its fields, identifier and status."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from cobandit.figures.style import method_label
from companion.paper.contrasts import WORDS
from companion.paper.judge import FAILS, HOLDS, NOT_SEPARATED, UNKNOWN
from companion.proofs import checks

#: Statuses in addition to those of `companion.paper.judge` and
#: `companion.paper.contrasts`.
DIVIDED = "divided"
USED = "used"
NO_WORD = "no word"
NOT_TESTABLE = "not testable"
#: Additions to a verdict that is based on one kind of tables only.
MEASURED_ONLY = "where measured"
DRAWN_ONLY = "on reconstructions"
_ADDITIONS = ("", f" {MEASURED_ONLY}", f" {DRAWN_ONLY}")
#: The sign of each status.
SIGNS = {
    **{f"{HOLDS}{addition}": "✓" for addition in _ADDITIONS},
    **{f"{FAILS}{addition}": "✗" for addition in _ADDITIONS},
    checks.SAYS_NOTHING: "○",
    checks.FAILS: "✗",
    DIVIDED: "◐",
    NOT_SEPARATED: "≈",
    UNKNOWN: "?",
    **dict(zip(WORDS, "✓≈↯✗?", strict=True)),
    USED: "▪",
    NOT_TESTABLE: "–",
    NO_WORD: "–",
}
KINDS = ("statement", "contrast", "ordering", "remark", "number", "statement of ours")
STATEMENT, CONTRAST, ORDERING, REMARK, NUMBER, OURS = KINDS
#: Method whose schedule the paper leaves open, and the name of this open choice.
READ_METHOD = "PSISR"
READING = "A6"
QUANTITIES = {
    "online": "regret",
    "identification": "odds of an error",
    "full-set": "odds of F1",
}


class ClaimRow(NamedTuple):
    """One claim as text: its place in the paper, its value, our results, its status.

    ``reading`` names the choice that the paper leaves open and that affects the claim,
    such as A6. ``exhibit`` names the table or figure of the paper that shows the claim.
    Both may be empty.
    """

    key: str
    kind: str
    claim: str
    place: str = ""
    reading: str = ""
    exhibit: str = ""
    page: str = "experiments"
    paper: str = ""
    reconstruction: str = ""
    measured: str = ""
    replays: str = ""
    status: str = NO_WORD
    size: str = ""


def reading_of(*methods: str | None) -> str:
    """Return the open choice that affects a claim about these methods, or ''.

    Only the schedule of PSI-SR, choice A6, affects claims.
    """
    return READING if READ_METHOD in methods else ""


#: Table or figure of the paper for each experiment. If an experiment has two figures,
#: each has a pair of experiment and quantity as its key.
FIGURES = {
    ("online", "efficiency_regret"): "Figure 2",
    ("online", "standard_regret"): "Figure 3",
    "identification": "Figure 2",
    "trajectory": "Figure 4",
    "full-set": "Figure 5",
    "stochastic": "Figure 6",
    "table1": "Table 1",
}
#: Quantities of identification that no figure shows.
NOT_DRAWN = ("gap_min", "pareto_arms")


def exhibit_of(experiment: str, quantity: str) -> str:
    """Return the paper's table or figure that shows a quantity, or '' if none does.

    Examples
    --------
    >>> exhibit_of("online", "standard_regret")
    'Figure 3'
    """
    if experiment == "identification" and quantity in NOT_DRAWN:
        return ""
    return FIGURES.get((experiment, quantity)) or FIGURES.get(experiment, "")


@cache
def identifiers() -> dict[str, str]:
    """Return the identifiers of all claims, such as C4, by the ``key`` of `ClaimRow`.

    Examples
    --------
    >>> identifiers()["Theorem 1: pulls of a suboptimal arm"]
    'C4'
    """
    return {
        key: f"C{number}"
        for number, key in enumerate(read_typed("claims.yml"), start=1)
    }


def read_typed(name: str) -> Any:
    """Read a YAML file in the folder of this module."""
    return yaml.safe_load(Path(__file__).with_name(name).read_text(encoding="utf-8"))


def name_contrast(row: Mapping[Any, Any], against: str) -> str:
    """Name a comparison of two methods by its data set, its quantity and the methods.

    ``against`` is the text between the names of the methods.
    """
    names = against.join(method_label(row[name]) for name in ("method", "against"))
    return f"{row['dataset'].upper()}, {QUANTITIES[row['experiment']]}: {names}"
