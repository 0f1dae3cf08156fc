"""Which active sets can be reached: exactly, by search, and on problems that are hard for every method."""

from collections.abc import Iterable, Mapping
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import optimize, stats

from cobandit import _validation, dominance, theory
from cobandit.errors import CobanditError
from cobandit.problem import Problem
from companion import bounds
from companion.bounds.reachable_sets import largest_complexity
from companion.proofs.checks import SLACK, CheckResult, Floats, below, check
from companion.proofs.identification_error import swapped_costs, two_arm_error
from companion.proofs.misclassification import SHARP_SHARE, eliminate, misread


# ----------------------------------------------------------------------------- exactly
def exactly_leave(means: ArrayLike, slack: float) -> NDArray[np.bool_]:
    r"""Arms whose empirical gap is the largest for some errors of the means within ``slack`` / 2.

    One mixed-integer linear program for each arm that `companion.bounds.may_leave`
    names, and for each of the two cases in which its gap is the larger of
    :math:`\Delta^-` and :math:`\Delta^+`.

    Parameters
    ----------
    means : array_like, shape (k, D)
    slack : float
        Twice what a mean may err by, as in `companion.bounds.may_leave`.

    Returns
    -------
    ndarray of bool, shape (k,)
        True also where its gap can be no more than level with the largest.

    Examples
    --------
    >>> exactly_leave([[0.9], [0.8], [0.2]], 0.05)
    array([False, False,  True])
    """
    means = _validation.means(means)
    named = bounds.may_leave(means, slack)
    for arm in np.flatnonzero(named).tolist():
        named[arm] = any(
            _has_largest_gap(means, arm, slack / 2, case) for case in (True, False)
        )
    return named


def _has_largest_gap(means: Floats, arm: int, reach: float, dominated: bool) -> bool:
    """Whether means within ``reach`` give this arm a largest gap: Delta^- if ``dominated``, else Delta^+."""
    n_arms, n_objectives = means.shape
    program = Disjunctions()
    x = [
        [program.variable(mean - reach, mean + reach) for mean in row] for row in means
    ]
    level = program.variable(0, 2)  # no other gap is above it, this one not below
    below = [program.variable(0, 2) for _ in x]  # at least (Delta_i^-)^+
    others = [[j for j in range(n_arms) if j != i] for i in range(n_arms)]

    def lower(i: int, j: int, more: Inequality) -> list[Inequality]:
        """x_i and more are at most x_j, in every objective."""
        return [{x[i][d]: 1, x[j][d]: -1, **more} for d in range(n_objectives)]

    for i in range(n_arms):
        for j in others[i]:
            program.one_of([each] for each in lower(j, i, {below[i]: -1}))
    for j in others[arm]:
        program.all_of([{below[j]: 1, level: -1}])
        either = []
        for i in others[j]:
            small = {below[i]: 1, level: -1}
            either += [lower(j, i, {level: -1}), [small, *lower(i, j, small)]]
        program.one_of(either)
    if dominated:
        program.one_of(lower(arm, j, {level: 1}) for j in others[arm])
        return program.feasible()
    for j in others[arm]:
        program.one_of([each] for each in lower(j, arm, {level: 1}))
        # at most the two terms
        ahead = program.variable(0, 2)
        dominates = program.variable(0, 2)
        program.all_of([{level: 1, ahead: -1, dominates: -1}])
        program.one_of([[{ahead: 1}], *([each] for each in lower(arm, j, {ahead: 1}))])
        program.one_of(
            [[{dominates: 1}], *(lower(j, i, {dominates: 1}) for i in others[j])]
        )
    return program.feasible()


# ----------------------------------------------------------------------------- by search
def unlisted_sets(
    means: ArrayLike, runs: int, seed: int, share: float = SHARP_SHARE
) -> int:
    r"""Active sets in runs whose means err by less than a share of the gap that are not listed as reachable.

    Parameters
    ----------
    means : array_like, shape (K, D)
    runs, seed : int
        In two of three runs the errors are as large as they may be.
    share : float
        What a mean may err by, over :math:`\gamma_{(k)}`; at 1/8 and below every set is
        reachable.

    Returns
    -------
    int
        Sets that gap elimination comes to and `companion.bounds.reachable_sets` does
        not have.

    Examples
    --------
    >>> [unlisted_sets([[0.9], [0.8], [0.5], [0.45], [0.2]], 100, 0, share) for share in (1 / 8, 1 / 2)]
    [0, 6]
    """
    means = _validation.means(means)
    rng = np.random.default_rng(seed)
    gaps = np.sort(dominance.classification_gaps(means))
    within = share * (1 - 1e-9)
    visited = set()

    def see(phase: int, active: list[int]) -> Floats:
        visited.add(tuple(np.isin(range(len(means)), active).tolist()))
        error = rng.uniform(-1, 1, (len(active), means.shape[1]))
        return means[active] + within * gaps[len(active) - 1] * (
            np.sign(error) if run % 3 else error
        )

    for run in range(runs):  # noqa: B007 - read in see
        eliminate(len(means), see)
    return len(
        visited
        - {
            tuple(each)
            for sets in bounds.reachable_sets(means)
            for each in sets.tolist()
        }
    )


def complexities(seed: int, n_arms: int) -> pd.DataFrame:
    """Complexities of a random problem of two objectives, the costly arms hardest to classify, then easiest.

    Parameters
    ----------
    seed, n_arms : int

    Returns
    -------
    DataFrame, two rows
        ``costly`` ("hardest" or "easiest"), the paper's ``H``, ``named`` by
        `companion.bounds.may_leave` and ``exact`` by `exactly_leave`.  Each is at most
        the one before.

    Examples
    --------
    >>> complexities(seed=0, n_arms=3).round(1)[["H", "named", "exact"]].values.tolist()
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
        rows.append(
            (
                costly,
                problem.complexity,
                named,
                largest_complexity(sets, problem.costs, gaps),
            )
        )

    return pd.DataFrame(rows, columns=["costly", "H", "named", "exact"])


# ----------------------------------------------------------------------------- hard for every method
#: What the coin of an arm is worth in each of its rewards where fronts are larger; the
#: rest is its place.
SHARE = 0.95


def hard_family(costs: ArrayLike, front_size: int = 1) -> list[Problem]:
    r"""Problems that no method can all solve quickly: one, and q - 1 that differ from it in one arm each.

    Of K arms, costs ascending, the last p - 1 are on the front of every problem, and q
    = K - p + 1 are contested.  With :math:`\gamma_i = s\,(c_1 + \dots + c_i)` the
    contested arms of the first problem have the means :math:`v` and :math:`v -
    \gamma_i`, and in each of the others one arm has :math:`v + \gamma_i`, in every
    objective; so each problem has one of them on its front.  For p = 1 there is one
    objective, :math:`v = \frac12` and :math:`s = 1 / (4 C([K]))`.  Otherwise there are
    two; v and the places of the arms that are always on the front are evenly spaced on
    a falling line, :math:`1 / (20 (p - 1))` apart in each objective, and s is a sixth
    of that over C([K]), so that they are far from all others.

    Parameters
    ----------
    costs : array_like, shape (K,)
    front_size : int
        p, less than K.

    Returns
    -------
    list of Problem
        q of them, with the costs ascending.

    Examples
    --------
    >>> [problem.means.ravel().tolist() for problem in hard_family([1.0, 1.0])]
    [[0.5, 0.25], [0.5, 0.75]]
    >>> [problem.pareto_mask.tolist() for problem in hard_family([1.0, 1.0, 1.0], front_size=2)]
    [[True, False, True], [False, True, True]]
    """
    costs = np.sort(_validation.costs(costs))
    always = _validation.count(front_size, "front_size", 1) - 1
    n_contested = len(costs) - always
    if n_contested < 2:
        raise CobanditError(
            f"front_size is {front_size}: less than the {len(costs)} arms is needed"
        )

    step = 1 / (20 * always) if always else 0.0
    gaps = (
        np.cumsum(costs)[:n_contested] / costs.sum() * (step / 6 if always else 1 / 4)
    )
    gaps[0] = 0.0  # the first stays at v
    places = np.zeros((len(costs), 2 if always else 1))
    if always:
        places[n_contested:, 0] = step * np.arange(1, always + 1)
        places[:, 1] = 1 / 20 - places[:, 0]

    base = places + (SHARE / 2 if always else 1 / 2)
    base[:n_contested] -= gaps[:, None]

    # a row a problem, the first of zeros
    raised = 2 * gaps[:, None] * np.eye(n_contested, len(costs))
    return [Problem(base + by[:, None], costs) for by in raised]


def best_test_error(pulls: int, apart: float = 1 / 4) -> float:
    """Least error on the second problem of two contested arms, if that on the first may be one half.

    The arms differ between the problems in one coin, of mean 1/2 less or more
    ``apart``, so that whoever spends it all on that coin does best, and by Neyman and
    Pearson calls it the better if it succeeds often.

    Parameters
    ----------
    pulls : int
        Of that coin, the budget over its cost.
    apart : float
        In (0, 1/2).

    Returns
    -------
    float

    Examples
    --------
    Heads are called 3/4, and so is a third of the tails.

    >>> round(best_test_error(1), 6)
    0.166667
    """
    pulls = _validation.count(pulls, "pulls", 1)
    low = 0.5 - apart
    high = 0.5 + apart
    median = int(stats.binom.isf(0.5, pulls, low))
    above = stats.binom.sf(median, pulls, low)
    here = stats.binom.pmf(median, pulls, low)
    # of the runs at the median, those that are called the better
    called = (0.5 - above) / here
    missed = stats.binom.cdf(median - 1, pulls, high) + (1 - called) * stats.binom.pmf(
        median, pulls, high
    )
    return float(missed)


# ----------------------------------------------------------------------------- mixed-integer programs
#: Coefficients by variable; the inequality is that their sum is at most zero.
Inequality = Mapping[int, float]


class Disjunctions:
    """Variables in boxes, inequalities, and choices between groups of inequalities.

    Every inequality must be within 8 of holding wherever the variables are in their
    boxes.

    Examples
    --------
    >>> program = Disjunctions()
    >>> a, b = program.variable(0, 1), program.variable(0.5, 1)
    >>> program.all_of([{b: 1, a: -1}])  # b <= a
    >>> program.one_of([[{a: 1}], [{a: 1, b: -1}]])  # a <= 0 or a <= b
    >>> program.feasible()
    True
    >>> program.all_of([{a: 1}])
    >>> program.feasible()
    False
    """

    def __init__(self) -> None:
        self._variables: list[tuple[float, float, bool]] = []
        self._rows: list[tuple[Inequality, float]] = []

    def variable(self, least: float, most: float, whole: bool = False) -> int:
        """Add a variable and return its number."""
        self._variables.append((least, most, whole))
        return len(self._variables) - 1

    def all_of(self, inequalities: Iterable[Inequality]) -> None:
        """Add inequalities that have to hold."""
        self._rows += [(each, 0.0) for each in inequalities]

    def one_of(self, alternatives: Iterable[Iterable[Inequality]]) -> None:
        """Add groups of inequalities, all of at least one of which have to hold."""
        chosen = []
        for group in alternatives:
            switch = self.variable(0, 1, whole=True)
            chosen.append(switch)
            self._rows += [({**each, switch: 8.0}, 8.0) for each in group]
        self._rows.append((dict.fromkeys(chosen, -1.0), -1.0))

    def feasible(self) -> bool:
        """Whether all can hold, up to the solver's tolerance of 1e-6; True if it cannot decide."""
        least, most, whole = np.array(self._variables).T
        matrix = np.zeros((len(self._rows), len(whole)))
        for row, (weights, _) in zip(matrix, self._rows, strict=True):
            row[list(weights)] = list(weights.values())
        limits = np.array([limit for _, limit in self._rows])
        all_bounds = optimize.Bounds(least, most)
        held = optimize.LinearConstraint(matrix, -np.inf, limits)
        found = optimize.milp(
            np.zeros(len(whole)), integrality=whole, bounds=all_bounds, constraints=held
        )
        return bool(found.status != 2)  # scipy's number for infeasible


# ----------------------------------------------------------------------------- checks
#: How far, over the largest gap, the middle of three arms is from where it may just
#: leave.
APART = 1e-3


def three_arms(within: float) -> Floats:
    """Means of three arms on a line, the last two this share of the largest gap apart."""
    return np.array([[0.9], [0.1 + 0.8 * within], [0.1]])


@check("Reachable sets: where phases without a failure lead", "which-arms", ours=True)
def check_sets(seed: int) -> CheckResult:
    """Sets that runs with errors below γ/8 come to; the middle of three arms, at all extreme errors."""
    drawn = np.random.default_rng(seed).random((2, 5, 2))
    runs = 60
    missing = sum(unlisted_sets(means, runs, seed) for means in drawn)
    corners = np.array(list(product((-1.0, 1.0), repeat=3)))[:, :, None]

    def stays(means: Floats, by: float) -> bool:
        gap = Problem(means, np.ones(3)).classification_gaps.max()
        return all(
            eliminate(3, misread(means, [by * gap / 8 * corner]))[1][0] == 2
            for corner in corners
        )

    # the means of the last two arms pass each other if they are less than g/4 apart;
    # intervals, in which margins move one by one, let the middle one leave up to g/2
    cases = {
        "γ/8 ×": (exactly_leave, three_arms(1 / 4 + APART)),
        "γ/8 by intervals ×": (bounds.may_leave, three_arms(1 / 2 + APART)),
    }
    told = all(
        len(bounds.reachable_sets(means, leaves)[1]) == 1
        for leaves, means in cases.values()
    )
    return CheckResult(
        f"{len(drawn)} problems of 5 arms, {runs} runs each; {len(cases)} times"
        f" {len(corners)} errors",
        f"{missing} sets that are not listed",
        {name: partial(stays, means) for name, (_, means) in cases.items()},
        holds=missing == 0 and told,
    )


@check("Error probability with reachable sets", "which-arms", ours=True)
def check_reachable_error(seed: int) -> CheckResult:
    """Error of CoPSI with the exact constant, from below, an expensive arm being easy to classify."""
    better = 0.55
    worse = 0.45
    cheap = 0.05
    p = Problem([[better], [worse], [0.0]], [cheap, cheap, 1.0])
    L = theory.exact_allocation_constant(p.costs)
    H = bounds.reachable_complexity(p.means, p.costs)
    how: dict[str, Any] = {
        "n_arms": 3,
        "n_objectives": 1,
        "allocation": L,
        "complexity": H,
    }
    budgets = np.geomspace(20, 2000, 8)
    first, last = (budgets // (L * costs) for costs in (p.costs.sum(), 2 * cheap))
    wrong = [two_arm_error(better, worse, 2 * pulls, allocation=1.0) for pulls in last]
    # unless the worse arm has no success in the first phase, the expensive one leaves
    seen = np.array(wrong) - (1 - worse) ** first

    def bound(by: float = 1.0) -> Floats:
        return np.array(
            [bounds.difference_error_bound(by * budget, **how) for budget in budgets]
        )

    at = bound()
    return CheckResult(
        f"{len(budgets)} budgets to {budgets[-1]:,.0f}; H is {p.complexity / H:.3g}"
        " H_reach",
        f"at most {(seen / at).max():.2g} of the bound",
        {"16 H_reach ÷": below(seen, bound), "K(K−1)²D ÷": below(seen, at)},
        informative=bool((at < 1).any()),
    )


@check("One objective: H_reach and the sum over arms", "which-arms", ours=True)
def check_one_objective(seed: int) -> CheckResult:
    """H_reach over the sum of c/γ², one objective, exactly."""
    costs = np.array([1e-4, 1e-4, 1.0])
    means = three_arms(1 / 4 - APART)
    most = bounds.reachable_complexity(means, costs, exactly_leave)
    total = bounds.summed_complexity(Problem(means, costs).classification_gaps, costs)
    return CheckResult(
        "three arms, of which the middle one just may leave",
        f"{most / total:.4f}, where 16/9 is allowed",
        {"16/9 ÷": below(most, 16 / 9 * total * (1 + SLACK))},
    )


@check("No method errs less for every cost vector", "which-arms", ours=True)
def check_least_error(seed: int) -> CheckResult:
    """Least error that any method can have on two contested arms, exact; complexities of the hard family."""
    rows = []  # least error, budget, complexity
    for size, budgets in ((1, (2, 10, 30, 100, 300, 500)), (3, (10**5, 10**6))):
        p = hard_family(np.ones(size + 1), size)[1]
        H = bounds.reachable_complexity(p.means, p.costs)
        apart = 1 / 4 if size == 1 else p.classification_gaps[1] / SHARE
        rows += [(best_test_error(n, apart), n, H) for n in budgets]
    least, pulls, complexity = np.array(rows).T

    def bound(by: float = 1.0) -> Floats:
        cases = zip(pulls, complexity, strict=True)
        return np.array(
            [bounds.least_error(n / by, allocation=1.0, complexity=H) for n, H in cases]
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
    at = bound()
    return CheckResult(
        f"{len(pulls)} budgets to {pulls.max():,.0f} pulls; {len(scaled)} problems,"
        f" fronts to {size} arms",
        f"at least {(least / at).min():.2g} times the bound; "
        f"complexities up to {max(scaled):.3g} of what is allowed",
        {
            "18 ÷": lambda by: bool((least >= bound(by)).all()),
            "¼ ×": below(at, least),
            "1/(s²C) ÷": below(scaled, 1 + SLACK),
        },
        holds=all(fronts),
    )
