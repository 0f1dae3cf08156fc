"""Every ordering that the paper claims in words, as data.

The claims are typed once, in the paper's order, in ``orderings.yml`` next to this file.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from cobandit import _check

RELATIONS = (
    "better",
    "keeps up",
    "comparable",
    "unchanged",
    "undecided",
    "nearer",
    "growing advantage",
    "larger advantage",
)
BUDGETS = ("all", "most", "largest", "smallest")
#: Quantities of which more is better; of all others, less.
HIGHER = ("f1", "correct")


@dataclass(frozen=True)
class Claim:
    """One ordering that the paper states in words.

    Attributes
    ----------
    key, says, place : str
        Its name, what it says in our words, and where.
    experiment, quantity, datasets, costs
        As in `Published`; on which datasets it is claimed.
    methods, against : tuple of str
        Each of ``methods`` stands in the relation to each of ``against``.
    relation : str
        ``"better"``; ``"keeps up"`` (better or comparable); ``"comparable"``; ``"unchanged"`` (comparable
        under declared and realised costs); ``"undecided"`` (each is better somewhere); ``"nearer"`` (to the
        first of ``against`` than to the second); ``"growing advantage"`` (larger at the largest budget than
        at the smallest); ``"larger advantage"`` (on the first dataset than on the second).
    at : {"all", "most", "largest", "smallest"}
        At which budgets.
    along : {"rho", "spent"}
        Column that holds the budget: ``"spent"`` along a trajectory.
    measure : {"ratio", "difference", None}
        How an advantage is measured.

    Examples
    --------
    >>> claim = next(c for c in claims() if c.key == "CoHVUCB-least-standard-regret")
    >>> claim.against, claim.at, claim.direction
    (('HVUCB', 'AccuracyCostUCB', 'UniformAllocation'), 'all', 'lower')
    """

    key: str
    says: str
    place: str
    experiment: str
    datasets: tuple[str, ...]
    quantity: str
    methods: tuple[str, ...]
    against: tuple[str, ...] = ()
    relation: str = "better"
    at: str = "all"
    along: str = "rho"
    measure: str | None = None
    costs: str | None = None

    def __post_init__(self) -> None:
        _check.choice(self.relation, "relation", RELATIONS)
        _check.choice(self.at, "at", BUDGETS)

    @property
    def direction(self) -> str:
        """``"higher"`` or ``"lower"``: which values of the quantity are better."""
        return "higher" if self.quantity in HIGHER else "lower"


@cache
def claims() -> tuple[Claim, ...]:
    """All claims, in the order of the paper.

    Returns
    -------
    tuple of Claim

    Examples
    --------
    >>> claims()[0].key
    'adaptive-beats-uniform'
    """
    entries = yaml.safe_load(Path(__file__).with_name("orderings.yml").read_text(encoding="utf-8"))
    typed: list[dict[str, Any]] = [
        {name: tuple(value) if isinstance(value, list) else value for name, value in entry.items()}
        for entry in entries
    ]
    return tuple(Claim(**entry) for entry in typed)
