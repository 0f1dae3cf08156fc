"""What was tested of each statement, in small: one row per statement, each computed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import pandas as pd

from cobandit.companion.proofs import tested_identification as identification
from cobandit.companion.proofs import tested_least_regret as least_regret
from cobandit.companion.proofs import tested_online as online
from cobandit.companion.proofs import tested_ours as ours
from cobandit.companion.proofs import tested_practice as practice
from cobandit.companion.proofs import tested_random_costs as random_costs
from cobandit.companion.proofs import tested_reach as reach
from cobandit.companion.proofs.findings import FAILS, HOLDS, SAYS_NOTHING, Finding
from cobandit.errors import CobanditError

__all__ = ["CHECKS", "FAILS", "HOLDS", "OURS", "SAYS_NOTHING", "Finding", "check_statements"]

Checks = Mapping[str, tuple[Callable[[int], Finding], str]]

#: Statement of the paper: the check and the page that has more of it.
CHECKS: Checks = {
    "Theorem 1, Step 1: means stay within their radii": (online.event, "regret-bound"),
    "Theorem 1, Step 2: the best arm's index is optimistic": (online.best_index, "regret-bound"),
    "Theorem 1, Step 3: no index exceeds its efficiency by much": (online.any_index, "regret-bound"),
    "Theorem 1: pulls of a suboptimal arm": (online.pulls, "regret-bound"),
    "Theorem 1: efficiency regret O(log B)": (online.regret, "regret-bound"),
    "Lemma 1: no policy earns more than ν*(B + 1)": (online.benchmark, "standard-regret"),
    "Proof of Corollary 1: optional sampling at T(B)": (online.identity, "standard-regret"),
    "Corollary 1: standard regret": (online.standard_regret, "standard-regret"),
    "Section 3.2: complexity H": (identification.hardness, "gaps-and-complexity"),
    "Theorem 2, Step 2: CoPSI stays within its budget": (identification.feasibility, "copsi"),
    "Lemma 2: no mistake while margins err by little": (identification.elimination, "error-bound"),
    "Theorem 2, Step 3: what every phase collects": (identification.targets, "error-bound"),
    "Theorem 2, Step 4: concentration at adaptive targets": (identification.concentration, "error-bound"),
    "Theorem 2: error probability": (identification.error, "error-bound"),
    "Abstract: error O(exp(−B/H))": (identification.exponent, "errata"),
}

#: The same of this project's own propositions.
OURS: Checks = {
    "Pulls: lean, instance and threshold bound": (ours.event_bounds, "regret-bound"),
    "Pulls: split bound": (ours.split_bound, "regret-bound"),
    "Pulls under feasible selection: 1/λ more": (practice.feasible, "regret-bound"),
    "Completed pulls cost B − 1 to B + 1 − λ, and earn ν* times that": (ours.completed, "standard-regret"),
    "The two smallest gaps are equal": (ours.equal_gaps, "gaps-and-complexity"),
    "The exact constant": (ours.exact_constant, "copsi"),
    "The adaptive constant spends all but a round": (ours.whole_budget, "spend-all-copsi"),
    "Lemma 2 with margins off by less than γ/4": (ours.elimination, "error-bound"),
    "Concentration of differences": (ours.differences, "error-bound"),
    "Error probability by differences": (ours.error, "error-bound"),
    "Reachable sets: where phases without a failure lead": (reach.sets, "which-arms"),
    "Error probability with reachable sets": (reach.error, "which-arms"),
    "One objective: H_reach and the sum over arms": (reach.one_objective, "which-arms"),
    "No method errs less for every cost vector": (reach.least_error, "which-arms"),
    "What a plan overspends at random costs": (random_costs.overspend, "random-costs"),
    "CoPSI with random costs": (random_costs.error, "random-costs"),
    "A pilot for unknown mean costs": (random_costs.pilot, "random-costs"),
    "Pulls that no method can save": (least_regret.pulls, "lower-bound"),
    "CoHV-KL-UCB: its region and its pulls": (least_regret.index, "lower-bound"),
    "CoPSI once stays within its budget": (practice.budget_once, "once"),
    "Concentration without replacement": (practice.without_replacement, "once"),
    "Error probability without replacement": (practice.error_once, "once"),
    "What certainty costs at least": (practice.certainty, "once"),
    "Exploration with several in flight": (practice.delay, "live"),
}


def check_statements(statements: Iterable[str] | None = None, seed: int = 0) -> pd.DataFrame:
    """Test statements in small, and say what came out and what change of a constant would have been noticed.

    Parameters
    ----------
    statements : iterable of str, optional
        Keys of ``CHECKS`` or ``OURS``; default all of ``CHECKS``.
    seed : int
        Of what is simulated.

    Returns
    -------
    DataFrame, one row per statement
        ``statement``; ``tested``, what was looked at; ``size``; ``outcome`` (``holds``, ``holds, says nothing
        at this size`` if every bound tried is above what holds trivially, or ``counterexample``);
        ``found``, the number behind it; ``noticed``, for each constant the smallest factor by which it can be
        cut (÷) or raised (×) so that the check fails; ``page``, the notebook that has more.  Seconds for all
        of them.

    Raises
    ------
    CobanditError
        If a statement is not among ``CHECKS`` and ``OURS``.

    Examples
    --------
    >>> row = check_statements(["Section 3.2: complexity H"]).iloc[0]
    >>> row["outcome"], row["noticed"]
    ('holds', 'H ÷ 1')
    """
    known = {**CHECKS, **OURS}
    rows = []
    for statement in CHECKS if statements is None else statements:
        if statement not in known:
            raise CobanditError(f"{statement!r} is not tested; there are: {'; '.join(known)}")
        test, page = known[statement]
        rows.append((statement, *test(seed), page))
    return pd.DataFrame(rows, columns=["statement", *Finding._fields, "page"])
