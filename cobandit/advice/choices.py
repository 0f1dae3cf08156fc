"""Choosing one configuration by what is asked of it: the cheapest that is good enough, or the preferred."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cobandit import _check
from cobandit.advice.paired import Paired
from cobandit.dominance import TIE
from cobandit.errors import CobanditError


class Wishes(NamedTuple):
    """What is asked of a configuration, objective by objective; all of it at once."""

    at_least: dict[str, float]  # the mean that it has to have
    within: dict[str, float]  # how far it may be below the best
    prefer: dict[str, float]  # weights of the objectives; without any, the cheapest is chosen

    def __str__(self) -> str:
        """Say it in words."""
        goal = " : ".join(f"{weight:g} {name}" for name, weight in self.prefer.items())
        asked = [f"{name} of at least {value:g}" for name, value in self.at_least.items()]
        asked += [f"{name} within {value:g} of the best" for name, value in self.within.items()]
        return (f"highest mean of {goal}" if goal else "cheapest") + (
            f" with {' and '.join(asked)}" if asked else ""
        )


class Choice(NamedTuple):
    """What was chosen, by the means; None where nothing meets what is asked."""

    asked: str
    configuration: str | None
    confidence: float  # that it meets the conditions
    sure: str | None  # the same choice among those that meet them surely
    next: str | None  # the next best by what is preferred
    ahead: float  # by how much
    share: float  # of the redrawn tables in which it is ahead of all that meet the conditions
    closest: str  # who comes closest to the conditions


def read_wishes(
    objectives: tuple[str, ...],
    at_least: Mapping[str, float] | None = None,
    within: float | Mapping[str, float] | None = None,
    prefer: Mapping[str, float] | None = None,
) -> Wishes | None:
    """Check what is asked; None if nothing is.

    Raises
    ------
    CobanditError
        If an objective is none of the table's, or a number is out of range.

    Examples
    --------
    >>> str(read_wishes(("accuracy", "speed"), {"accuracy": 0.7}, prefer={"accuracy": 3, "speed": 1}))
    'highest mean of 3 accuracy : 1 speed with accuracy of at least 0.7'
    """
    if within is not None and not isinstance(within, Mapping):
        within = dict.fromkeys(objectives, within)
    given = {"at_least": dict(at_least or {}), "within": dict(within or {}), "prefer": dict(prefer or {})}
    for what, wish in given.items():
        for name, value in wish.items():
            _check.choice(name, f"objective of {what}", objectives)
            wish[name] = float(value)
            if not 0 <= wish[name] < (np.inf if what == "prefer" else 1 + 1e-12):
                allowed = "a weight of zero or more" if what == "prefer" else "a number in [0, 1]"
                raise CobanditError(
                    f"{what}: {name} is {value}; {allowed} is needed, as objectives are scored"
                )
    if given["prefer"] and not any(given["prefer"].values()):
        raise CobanditError("prefer: every weight is zero; give one that is not")
    return Wishes(**given) if any(given.values()) else None


def choose(
    wishes: Wishes,
    names: tuple[str, ...],
    objectives: tuple[str, ...],
    compared: Paired,
    redrawn: NDArray[np.float64],
    level: float,
    among: NDArray[np.bool_],
) -> Choice:
    r"""Choose by the means, and say how sure it is.

    That a configuration meets all conditions is one intersection-union test: its confidence is the least of
    those of single one-sided t-tests, against each threshold and against each configuration that could be
    the best. *Sure* is whoever meets them at ``1 - (1 - level) / K``, so that the statement holds for
    whichever is chosen.

    Parameters
    ----------
    wishes : Wishes
    names, objectives : tuple of str
        Of the K configurations and D objectives.
    compared : Paired
    redrawn : ndarray, shape (R, K, D)
        Means of the redrawn tables.
    level : float
    among : ndarray of bool, shape (K,)
        Those to choose from.

    Returns
    -------
    Choice
    """
    column = [objectives.index(name) for name in wishes.prefer]
    weights = np.array(list(wishes.prefer.values())) / max(sum(wishes.prefer.values()), 1e-300)
    cheap = np.argsort(compared.costs, kind="stable")
    preferred = compared.means[:, column] @ weights
    order = cheap[np.argsort(-preferred[cheap], kind="stable")]
    slack, confidence = _meet(wishes, objectives, compared)
    meets = order[(slack >= -TIE)[order] & among[order]]
    sure = meets[confidence[meets] >= 1 - (1 - level) / among.sum()]
    second = int(meets[1]) if wishes.prefer and len(meets) > 1 else None
    drawn = redrawn[:, meets][:, :, column] @ weights
    return Choice(
        str(wishes),
        names[meets[0]] if len(meets) else None,
        float(confidence[meets[0]]) if len(meets) else 0.0,
        names[sure[0]] if len(sure) else None,
        None if second is None else names[second],
        0.0 if second is None else float(preferred[meets[0]] - preferred[second]),
        float((drawn.argmax(axis=1) == 0).mean()) if len(meets) else 0.0,
        names[int(np.where(among, slack, -np.inf).argmax())],
    )


def _meet(
    wishes: Wishes, objectives: tuple[str, ...], compared: Paired
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """By how much each configuration meets all conditions, and with which confidence: shape (K,) each."""
    from scipy import stats  # half a second that an import of cobandit need not take

    n_arms, counts = len(compared.costs), compared.counts
    left = 1 - counts / compared.n_instances if compared.finite else np.ones(n_arms)
    slack, t = np.full(n_arms, np.inf), np.full(n_arms, np.inf)

    def ask(excess: NDArray[np.float64], error: NDArray[np.float64], arms: NDArray[np.int64]) -> None:
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(error > 0, excess / error, np.where(excess >= -TIE, np.inf, -np.inf))
        slack[arms], t[arms] = np.minimum(slack[arms], excess), np.minimum(t[arms], ratio)

    for name, least in wishes.at_least.items():
        d = objectives.index(name)
        error = np.sqrt(left * compared.variances[d])
        ask(compared.means[:, d] - least, error, np.arange(n_arms))
    if wishes.within:
        for gaps in compared.dominance():
            gaps.left[:, np.arange(len(gaps.arms)), gaps.arms] = 0.0  # of itself it is known
            for name, most in wishes.within.items():
                d = objectives.index(name)
                excess = most - gaps.gaps[d]
                for other in range(n_arms):
                    ask(excess[:, other], gaps.left[d, :, other], gaps.arms)
    return slack, stats.t.cdf(t, counts - 1)
