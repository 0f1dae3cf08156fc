"""Reachable active sets: exact, by search, and on problems hard for every method."""

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


def exactly_leave(means: ArrayLike, slack: float) -> NDArray[np.bool_]:
    r"""Return the arms whose empirical gap can be the largest, exactly.

    Means may err by ``slack`` / 2. Every arm that `companion.bounds.may_leave` marks
    needs a mixed-integer linear program for each of the two cases in which its gap is
    the larger of :math:`\Delta^-` and :math:`\Delta^+`.

    Parameters
    ----------
    means : array_like, shape (k, D)
    slack : float
        Twice the largest error of a mean, as in `companion.bounds.may_leave`.

    Returns
    -------
    ndarray of bool, shape (k,)
        True also where the gap can equal the largest gap but not exceed it.

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
    """Return whether means within ``reach`` can give this arm the largest gap.

    The gap is Delta^- if ``dominated``, else Delta^+. With m(i, j) the minimum of x_j -
    x_i and M(i, j) the maximum of x_i - x_j over the objectives,

        Delta_i^- = max_j m(i, j),
        Delta_i^+ = min_j min(M(i, j), M(j, i)^+ + (Delta_j^-)^+).
    """
    n_arms, n_objectives = means.shape
    program = Disjunctions()
    x = [
        [program.variable(mean - reach, mean + reach) for mean in row] for row in means
    ]
    others = [[j for j in range(n_arms) if j != i] for i in range(n_arms)]

    # the level of the largest gap: other gaps are at most this, the arm's gap at least
    level = program.variable(0, 2)
    # upper bounds on (Delta_i^-)^+
    minus = [program.variable(0, 2) for _ in x]

    def lower(i: int, j: int, margin: Inequality) -> list[Inequality]:
        """Return that x_i plus a margin is at most x_j, in every objective."""
        return [{x[i][d]: 1, x[j][d]: -1, **margin} for d in range(n_objectives)]

    # m(i, j) <= minus_i for every j: in some objective, x_j - minus_i <= x_i
    for i in range(n_arms):
        for j in others[i]:
            program.one_of([row] for row in lower(j, i, {minus[i]: -1}))

    # the gap of every other arm j is at most the level: Delta_j^- is, and for some i
    # one of the terms of Delta_j^+ is
    for j in others[arm]:
        program.all_of([{minus[j]: 1, level: -1}])
        small_terms = []
        for i in others[j]:
            excess = {minus[i]: 1, level: -1}
            small_terms.append(lower(j, i, {level: -1}))
            small_terms.append([excess, *lower(i, j, excess)])
        program.one_of(small_terms)

    # Delta^- of the arm is at least the level: some j is ahead by it everywhere
    if dominated:
        program.one_of(lower(arm, j, {level: 1}) for j in others[arm])
        return program.feasible()

    # Delta^+ of the arm is at least the level: both terms are, for every j
    for j in others[arm]:
        program.one_of([row] for row in lower(j, arm, {level: 1}))

        # the second term is a sum: its parts are at least `ahead` and `dominates`
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
    r"""Count active sets in runs with small errors that are not listed as reachable.

    Parameters
    ----------
    means : array_like, shape (K, D)
    runs, seed : int
        Number of runs and their seed. In two of three runs the errors are as large as
        allowed.
    share : float
        Largest error of a mean over :math:`\gamma_{(k)}`; at 1/8 and below, every set
        is listed.

    Returns
    -------
    int
        Number of active sets of gap elimination that are not in
        `companion.bounds.reachable_sets`.

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
    """Return complexities of a random problem, with two assignments of its costs.

    The problem has two objectives. First the most expensive arms are hardest to
    classify, then easiest.

    Parameters
    ----------
    seed, n_arms : int

    Returns
    -------
    DataFrame, two rows
        ``costly`` ("hardest" or "easiest"), the paper's ``H``, ``named`` by
        `companion.bounds.may_leave` and ``exact`` by `exactly_leave`. Each is at most
        the previous one.

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


#: Weight of an arm's coin in each of its rewards where fronts are larger; the remaining
#: weight is its place.
SHARE = 0.95


def hard_family(costs: ArrayLike, front_size: int = 1) -> list[Problem]:
    r"""Return problems that no method can all solve quickly.

    They are one problem, and q - 1 that differ from it in one arm each. Of K arms with
    ascending costs, the last p - 1 are on the front of every problem, and q = K - p + 1
    are contested. With :math:`\gamma_i = s\,(c_1 + \dots + c_i)`, the contested arms of
    the first problem have the means :math:`v` and :math:`v - \gamma_i`. In each of the
    others, one arm has :math:`v + \gamma_i` in every objective, so that each problem
    has one contested arm on its front.

    For p = 1 there is one objective, :math:`v = \frac12` and :math:`s = 1 / (4
    C([K]))`. Otherwise there are two objectives; v and the places of the arms that are
    always on the front are evenly spaced on a falling line, :math:`1 / (20 (p - 1))`
    apart in each objective, and s is a sixth of that over C([K]), so that they are far
    from all others.

    Parameters
    ----------
    costs : array_like, shape (K,)
    front_size : int
        p, less than K.

    Returns
    -------
    list of Problem
        q problems, with ascending costs.

    Examples
    --------
    >>> [problem.means.ravel().tolist() for problem in hard_family([1.0, 1.0])]
    [[0.5, 0.25], [0.5, 0.75]]
    >>> family = hard_family([1.0, 1.0, 1.0], front_size=2)
    >>> [problem.pareto_mask.tolist() for problem in family]
    [[True, False, True], [False, True, True]]
    """
    costs = np.sort(_validation.costs(costs))
    n_always = _validation.count(front_size, "front_size", 1) - 1
    n_contested = len(costs) - n_always
    if n_contested < 2:
        raise CobanditError(
            f"front_size is {front_size}: it must be less than the {len(costs)} arms"
        )

    step = 1 / (20 * n_always) if n_always else 0.0
    gaps = (
        np.cumsum(costs)[:n_contested] / costs.sum() * (step / 6 if n_always else 1 / 4)
    )
    gaps[0] = 0.0  # the first stays at v
    places = np.zeros((len(costs), 2 if n_always else 1))
    if n_always:
        places[n_contested:, 0] = step * np.arange(1, n_always + 1)
        places[:, 1] = 1 / 20 - places[:, 0]

    base = places + (SHARE / 2 if n_always else 1 / 2)
    base[:n_contested] -= gaps[:, None]

    # one row per problem; the first has no raised arm
    raised = 2 * gaps[:, None] * np.eye(n_contested, len(costs))
    return [Problem(base + shift[:, None], costs) for shift in raised]


def best_test_error(pulls: int, apart: float = 1 / 4) -> float:
    """Return the least error on one problem if it may be one half on the other.

    There are two contested arms. The problems differ in one coin, with mean 1/2 minus
    or plus ``apart``. It is best to spend the whole budget on that coin and, by Neyman
    and Pearson, to call it the better arm if it succeeds often.

    Parameters
    ----------
    pulls : int
        Pulls of that coin: the budget over its cost.
    apart : float
        Distance of the coin's mean from 1/2, in (0, 1/2).

    Returns
    -------
    float

    Examples
    --------
    The answer is 3/4 after heads, and after a third of the tails.

    >>> round(best_test_error(1), 6)
    0.166667
    """
    pulls = _validation.count(pulls, "pulls", 1)
    low = 0.5 - apart
    high = 0.5 + apart
    median = int(stats.binom.isf(0.5, pulls, low))
    above = stats.binom.sf(median, pulls, low)
    here = stats.binom.pmf(median, pulls, low)
    # at the median, randomise so that the error on the first problem is one half
    called = (0.5 - above) / here
    missed = stats.binom.cdf(median - 1, pulls, high)
    missed_here = stats.binom.pmf(median, pulls, high)
    return float(missed + (1 - called) * missed_here)


#: Coefficients by variable, whose weighted sum is at most zero.
Inequality = Mapping[int, float]


class Disjunctions:
    """A mixed-integer program of inequalities and choices between groups of them.

    Variables are in boxes. Every inequality must be violated by at most 8 wherever the
    variables are in their boxes.

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

    def variable(self, low: float, high: float, is_integer: bool = False) -> int:
        """Add a variable and return its number."""
        self._variables.append((low, high, is_integer))
        return len(self._variables) - 1

    def all_of(self, inequalities: Iterable[Inequality]) -> None:
        """Add inequalities that all have to hold."""
        self._rows += [(row, 0.0) for row in inequalities]

    def one_of(self, alternatives: Iterable[Iterable[Inequality]]) -> None:
        """Add groups of inequalities; at least one group has to hold."""
        chosen = []
        for group in alternatives:
            switch = self.variable(0, 1, is_integer=True)
            chosen.append(switch)
            # a switch of 1 enforces the group; at 0 its rows hold everywhere
            self._rows += [({**row, switch: 8.0}, 8.0) for row in group]
        self._rows.append((dict.fromkeys(chosen, -1.0), -1.0))

    def feasible(self) -> bool:
        """Return whether all can hold, up to 1e-6; True if the solver cannot decide."""
        low, high, is_integer = np.array(self._variables).T
        matrix = np.zeros((len(self._rows), len(is_integer)))
        for row, (weights, _) in zip(matrix, self._rows, strict=True):
            row[list(weights)] = list(weights.values())
        limits = np.array([limit for _, limit in self._rows])
        all_bounds = optimize.Bounds(low, high)
        constraints = optimize.LinearConstraint(matrix, -np.inf, limits)
        result = optimize.milp(
            np.zeros(len(is_integer)),
            integrality=is_integer,
            bounds=all_bounds,
            constraints=constraints,
        )
        return bool(result.status != 2)  # scipy's number for infeasible


#: Distance of the middle of three arms from the place where it can just be removed, in
#: units of the largest gap.
APART = 1e-3


def three_arms(within: float) -> Floats:
    """Return means of three arms on a line, the last two a share of the gap apart."""
    return np.array([[0.9], [0.1 + 0.8 * within], [0.1]])


@check("Reachable sets: where phases without a failure lead", "which-arms", ours=True)
def check_sets(seed: int) -> CheckResult:
    """Active sets of runs with errors below γ/8; three arms at all extreme errors."""
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

    # the means of the last two arms pass each other if they are less than g/4 apart;
    # intervals, in which margins move one by one, let the middle one leave up to g/2
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
    """Lower bound of CoPSI's error with an expensive arm that is easy to classify."""
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
    """Exact H_reach over the sum of c/γ², one objective."""
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
    """Exact least error on two contested arms; complexities of the hard family."""
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
