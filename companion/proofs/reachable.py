"""Checks of bounds with reachable sets: the active sets that small errors allow."""

from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from cobandit import _validation, dominance, theory
from cobandit.problem import Problem
from companion import bounds
from companion.bounds.reachable_sets import largest_complexity
from companion.proofs.checks import SLACK, CheckResult, Floats, below, check
from companion.proofs.disjunctions import Disjunctions, Inequality
from companion.proofs.exact_errors import two_arm_error
from companion.proofs.hard_problems import SHARE, best_test_error, hard_family
from companion.proofs.misclassification import SHARP_SHARE, eliminate, misread
from companion.proofs.simulated_errors import swapped_costs


def exactly_leave(means: ArrayLike, slack: float) -> NDArray[np.bool_]:
    r"""Return the exact mask of the arms that can have the largest empirical gap.

    Empirical means may err by ``slack`` / 2. `companion.bounds.may_leave` already
    excludes some arms. For every other arm, two mixed-integer linear programs are
    solved. One is for the case that the arm's gap is :math:`\Delta^-`, the other for
    the case :math:`\Delta^+`.

    Parameters
    ----------
    means : array_like, shape (k, D)
    slack : float
        Twice the largest error of a mean, as in `companion.bounds.may_leave`.

    Returns
    -------
    ndarray of bool, shape (k,)
        True also for an arm whose gap can equal the largest gap of the other arms.

    Examples
    --------
    >>> exactly_leave([[0.9], [0.8], [0.2]], 0.05)
    array([False, False,  True])
    """
    means = _validation.means(means)
    leaves = bounds.may_leave(means, slack)
    for arm in np.flatnonzero(leaves).tolist():
        leaves[arm] = any(
            _has_largest_gap(means, arm, slack / 2, case) for case in (True, False)
        )
    return leaves


def _has_largest_gap(means: Floats, arm: int, reach: float, dominated: bool) -> bool:
    """Return whether an arm can have the largest gap if means err by ``reach``.

    The gap is Delta^- if ``dominated``, else Delta^+. Let m(i, j) be the minimum of
    x_j - x_i over the objectives, and M(i, j) the maximum of x_i - x_j. Then

        Delta_i^- = max_j m(i, j),
        Delta_i^+ = min_j min(M(i, j), M(j, i)^+ + (Delta_j^-)^+).
    """
    n_arms, n_objectives = means.shape
    program = Disjunctions()
    x = [
        [program.variable(mean - reach, mean + reach) for mean in row] for row in means
    ]
    others = [[j for j in range(n_arms) if j != i] for i in range(n_arms)]

    # all other gaps are at most the level, and the gap of the arm is at least the level
    level = program.variable(0, 2)
    # upper bounds on (Delta_i^-)^+
    minus = [program.variable(0, 2) for _ in x]

    def lower(i: int, j: int, margin: Inequality) -> list[Inequality]:
        """Return the inequality x_i + margin <= x_j for each objective."""
        return [{x[i][d]: 1, x[j][d]: -1, **margin} for d in range(n_objectives)]

    # m(i, j) <= minus_i for every j: in some objective, x_j - minus_i <= x_i
    for i in range(n_arms):
        for j in others[i]:
            program.one_of([row] for row in lower(j, i, {minus[i]: -1}))

    # every other gap is at most the level: Delta_j^- is at most the level, and for some
    # i, one of the two terms of Delta_j^+ is at most the level
    for j in others[arm]:
        program.all_of([{minus[j]: 1, level: -1}])
        small_terms = []
        for i in others[j]:
            excess = {minus[i]: 1, level: -1}
            small_terms.append(lower(j, i, {level: -1}))
            small_terms.append([excess, *lower(i, j, excess)])
        program.one_of(small_terms)

    # Delta^- of the arm is at least the level: some j is better by the level everywhere
    if dominated:
        program.one_of(lower(arm, j, {level: 1}) for j in others[arm])
        return program.feasible()

    # Delta^+ of the arm is at least the level: for every j, both of its terms are
    for j in others[arm]:
        program.one_of([row] for row in lower(j, arm, {level: 1}))

        # the second term is a sum of two parts, at least `ahead` and `dominates`
        ahead = program.variable(0, 2)
        dominates = program.variable(0, 2)
        program.all_of([{level: 1, ahead: -1, dominates: -1}])
        program.one_of([[{ahead: 1}], *([row] for row in lower(arm, j, {ahead: 1}))])
        program.one_of(
            [[{dominates: 1}], *(lower(j, i, {dominates: 1}) for i in others[j])]
        )
    return program.feasible()


def unlisted_sets(
    means: ArrayLike, runs: int, seed: int, share: float = SHARP_SHARE
) -> int:
    r"""Count the active sets in simulated runs that `reachable_sets` does not list.

    A count above zero refutes `companion.bounds.reachable_sets`.

    Parameters
    ----------
    means : array_like, shape (K, D)
    runs, seed : int
        Number of runs and their seed. In two of three runs, all errors have the largest
        allowed size.
    share : float
        Largest error of a mean, divided by :math:`\gamma_{(k)}` while k arms are
        active. For shares up to 1/8, every set should be listed.

    Returns
    -------
    int
        Number of active sets of gap elimination that are not listed.

    Examples
    --------
    >>> means = [[0.9], [0.8], [0.5], [0.45], [0.2]]
    >>> [unlisted_sets(means, 100, 0, share) for share in (1 / 8, 1 / 2)]
    [0, 6]
    """
    means = _validation.means(means)
    rng = np.random.default_rng(seed)
    gaps = np.sort(dominance.classification_gaps(means))
    within = share * (1 - 1e-9)
    visited = set()

    def observe(phase: int, active: list[int]) -> Floats:
        visited.add(tuple(np.isin(range(len(means)), active).tolist()))
        error = rng.uniform(-1, 1, (len(active), means.shape[1]))
        return means[active] + within * gaps[len(active) - 1] * (
            np.sign(error) if run % 3 else error
        )

    for run in range(runs):  # noqa: B007 - read in observe
        eliminate(len(means), observe)
    listed = {
        tuple(active)
        for sets in bounds.reachable_sets(means)
        for active in sets.tolist()
    }
    return len(visited - listed)


def complexities(seed: int, n_arms: int) -> pd.DataFrame:
    """Compare the paper's complexity with two complexities over reachable sets.

    All three are computed for a random problem with two objectives. The costs are
    assigned to the arms in two ways. First, the most expensive arms are the hardest to
    classify. Then, the most expensive arms are the easiest to classify.

    Parameters
    ----------
    seed, n_arms : int

    Returns
    -------
    DataFrame, two rows
        ``costly``, which arms are expensive ("hardest" or "easiest"), and three
        complexities, each at most the previous one: ``H``, the paper's; ``named``, over
        the reachable sets by the rule `companion.bounds.may_leave`; ``exact``, over the
        reachable sets by the rule `exactly_leave`.

    Examples
    --------
    >>> frame = complexities(seed=0, n_arms=3).round(1)
    >>> frame[["H", "named", "exact"]].values.tolist()
    [[30.3, 30.3, 30.3], [30.3, 24.3, 24.3]]
    """
    rng = np.random.default_rng(seed)
    rows = []

    drawn = Problem(rng.random((n_arms, 2)), 10 ** rng.uniform(-1, 0, n_arms))
    gaps = np.sort(drawn.classification_gaps)
    sets = bounds.reachable_sets(drawn.means, exactly_leave)
    for costly, problem in zip(
        ("hardest", "easiest"), swapped_costs(drawn), strict=True
    ):
        named = bounds.reachable_complexity(problem.means, problem.costs)
        exact = largest_complexity(sets, problem.costs, gaps)
        rows.append((costly, problem.complexity, named, exact))

    return pd.DataFrame(rows, columns=["costly", "H", "named", "exact"])


#: Distance of the second mean of `three_arms` from a critical value, in units of the
#: largest gap. At the critical value, the second arm can just be removed first.
APART = 1e-3


def three_arms(within: float) -> Floats:
    """Return means of three arms with one objective.

    The last two means differ by ``within`` times the largest classification gap.
    """
    return np.array([[0.9], [0.1 + 0.8 * within], [0.1]])


@check("Reachable sets: where phases without a failure lead", "which-arms", ours=True)
def check_sets(seed: int) -> CheckResult:
    """Active sets in runs with errors below γ/8, and with extreme errors."""
    problems = np.random.default_rng(seed).random((2, 5, 2))
    runs = 60
    missing = sum(unlisted_sets(means, runs, seed) for means in problems)
    corners = np.array(list(product((-1.0, 1.0), repeat=3)))[:, :, None]

    def stays(means: Floats, factor: float) -> bool:
        gap = Problem(means, np.ones(3)).classification_gaps.max()
        return all(
            eliminate(3, misread(means, [factor * gap / 8 * corner]))[1][0] == 2
            for corner in corners
        )

    # errors of g/8 reverse the last two arms if their means are less than g/4 apart; by
    # intervals, which treat margins separately, the middle arm may leave up to g/2
    cases = {
        "γ/8 ×": (exactly_leave, three_arms(1 / 4 + APART)),
        "γ/8 by intervals ×": (bounds.may_leave, three_arms(1 / 2 + APART)),
    }
    one_set_each = all(
        len(bounds.reachable_sets(means, leaves)[1]) == 1
        for leaves, means in cases.values()
    )
    return CheckResult(
        f"{len(problems)} problems of 5 arms, {runs} runs each; {len(cases)} times"
        f" {len(corners)} errors",
        f"{missing} sets that are not listed",
        {name: partial(stays, means) for name, (_, means) in cases.items()},
        holds=missing == 0 and one_set_each,
    )


@check("Error probability with reachable sets", "which-arms", ours=True)
def check_reachable_error(seed: int) -> CheckResult:
    """Lower bound on CoPSI's error with an expensive arm that is easy to classify."""
    better = 0.55
    worse = 0.45
    cheap = 0.05
    problem = Problem([[better], [worse], [0.0]], [cheap, cheap, 1.0])
    L = theory.exact_allocation_constant(problem.costs)
    H = bounds.reachable_complexity(problem.means, problem.costs)
    options: dict[str, Any] = {
        "n_arms": 3,
        "n_objectives": 1,
        "allocation": L,
        "complexity": H,
    }
    budgets = np.geomspace(20, 2000, 8)
    first, last = (budgets // (L * costs) for costs in (problem.costs.sum(), 2 * cheap))
    last_error = [
        two_arm_error(better, worse, 2 * pulls, allocation=1.0) for pulls in last
    ]
    # the expensive arm is removed first if the worse arm has a success in phase 1
    error = np.array(last_error) - (1 - worse) ** first

    def bound(factor: float = 1.0) -> Floats:
        return np.array(
            [
                bounds.difference_error_bound(factor * budget, **options)
                for budget in budgets
            ]
        )

    values = bound()
    return CheckResult(
        f"{len(budgets)} budgets to {budgets[-1]:,.0f}; H is"
        f" {problem.complexity / H:.3g} H_reach",
        f"at most {(error / values).max():.2g} of the bound",
        {"16 H_reach ÷": below(error, bound), "K(K−1)²D ÷": below(error, values)},
        informative=bool((values < 1).any()),
    )


@check("One objective: H_reach and the sum over arms", "which-arms", ours=True)
def check_one_objective(seed: int) -> CheckResult:
    """Ratio of H_reach to the sum of c/γ², for one objective."""
    costs = np.array([1e-4, 1e-4, 1.0])
    means = three_arms(1 / 4 - APART)
    reachable = bounds.reachable_complexity(means, costs, exactly_leave)
    total = bounds.summed_complexity(Problem(means, costs).classification_gaps, costs)
    return CheckResult(
        "three arms, of which the middle one just may leave",
        f"{reachable / total:.4f}, where 16/9 is allowed",
        {"16/9 ÷": below(reachable, 16 / 9 * total * (1 + SLACK))},
    )


@check("No method errs less for every cost vector", "which-arms", ours=True)
def check_least_error(seed: int) -> CheckResult:
    """Smallest possible error on two arms; complexities of the hard family."""
    rows = []  # least error, budget, complexity
    for size, budgets in ((1, (2, 10, 30, 100, 300, 500)), (3, (10**5, 10**6))):
        problem = hard_family(np.ones(size + 1), size)[1]
        H = bounds.reachable_complexity(problem.means, problem.costs)
        apart = 1 / 4 if size == 1 else problem.classification_gaps[1] / SHARE
        rows += [(best_test_error(n, apart), n, H) for n in budgets]
    error, pulls, complexity = np.array(rows).T

    def bound(factor: float = 1.0) -> Floats:
        cases = zip(pulls, complexity, strict=True)
        return np.array(
            [
                bounds.least_error(n / factor, allocation=1.0, complexity=H)
                for n, H in cases
            ]
        )

    rng = np.random.default_rng(seed)
    scaled = []
    fronts = []
    for K, size in ((2, 1), (3, 1), (4, 1), (4, 2), (4, 3), (5, 3)):
        costs = np.sort(10 ** rng.uniform(-2, 0, K))
        first, *others = hard_family(costs, size)
        fronts += [int(q.pareto_mask.sum()) == size for q in (first, *others)]
        for arm, q in enumerate(others, start=1):
            small = (q.means - first.means)[arm, 0] / 2  # gamma_i = s C_i
            sum_ = costs[: arm + 1].sum()
            scaled.append(bounds.reachable_complexity(q.means, costs) * small**2 / sum_)
    values = bound()
    return CheckResult(
        f"{len(pulls)} budgets to {pulls.max():,.0f} pulls; {len(scaled)} problems,"
        f" fronts to {size} arms",
        f"at least {(error / values).min():.2g} times the bound; "
        f"complexities up to {max(scaled):.3g} of what is allowed",
        {
            "18 ÷": lambda factor: bool((error >= bound(factor)).all()),
            "¼ ×": below(values, error),
            "1/(s²C) ÷": below(scaled, 1 + SLACK),
        },
        holds=all(fronts),
    )
