"""Checks of classification gaps, the complexity, and Lemma 2 on erroneous means."""

from collections.abc import Callable, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import bisect

from cobandit import _validation, dominance, theory
from companion.proofs.checks import SLACK, CheckResult, Floats, below, check

#: Largest error of a mean in the paper's proof, as a share of the gap of the phase.
PAPER_SHARE = 1 / 16
#: Largest error of a mean as a share of the gap, if no step of the proof has slack.
SHARP_SHARE = 1 / 8

#: Largest number of arms of random problems.
MOST_ARMS = 8
#: Families of random problems.
FAMILIES = ("uniform", "close to a front", "dominated copies", "one decimal")


#: Function of the number of a phase, from 0, and of the list of the k active arms. It
#: returns the observed means of these arms, shape (k, D).
Observe = Callable[[int, list[int]], Floats]


def misread(means: ArrayLike, errors: Sequence[Floats] = ()) -> Observe:
    """Return an `Observe` function that adds given errors to the true means.

    The means and each array of errors have the shape (K, D). The r-th array belongs to
    the r-th phase. Later phases have no errors.
    """
    means = _validation.means(means)
    return lambda phase, active: (
        means + errors[phase] if phase < len(errors) else means
    )[active]


def eliminate(
    n_arms: int,
    observe: Observe,
    gaps_of: Callable[[ArrayLike], Floats] = dominance.classification_gaps,
) -> tuple[NDArray[np.bool_], list[int]]:
    """Run gap elimination on the observed means of each phase.

    Each phase removes the active arm with the largest classification gap.

    Parameters
    ----------
    n_arms : int
    observe : callable
        `Observe` function, such as the result of `misread`.
    gaps_of : callable
        Function of the means of active arms that returns their gaps, (k, D) -> (k,).

    Returns
    -------
    returned : ndarray of bool, shape (K,)
        The accepted arms and the last remaining arm.
    order : list of int
        The arms in the order of their removal.

    Examples
    --------
    >>> observe = misread([[0.75, 0.25], [0.25, 0.75], [0.5, 0.125]])
    >>> eliminate(3, observe)
    (array([ True,  True, False]), [1, 2])
    """
    active = list(range(n_arms))
    returned = np.zeros(n_arms, dtype=bool)
    order = []
    for phase in range(n_arms - 1):
        means = observe(phase, active)
        gaps = gaps_of(means)
        front = dominance.pareto_mask(means)
        position = dominance.find_clearest(gaps, front)
        removed = active.pop(position)
        returned[removed] = front[position]
        order.append(removed)
    returned[active[0]] = True
    return returned, order


def random_means(
    rng: np.random.Generator, family: str, n_arms: int, n_objectives: int
) -> Floats:
    """Draw mean rewards (K, D) of a random problem from one of `FAMILIES`.

    Examples
    --------
    >>> random_means(np.random.default_rng(0), "one decimal", 2, 2).tolist()
    [[0.6, 0.2], [0.0, 0.0]]
    """
    means = rng.random((n_arms, n_objectives))
    # near the plane of coordinate mean 1/2, few arms dominate others
    if family == "close to a front":
        means -= means.mean(axis=1, keepdims=True) - rng.uniform(
            0.45, 0.55, (n_arms, 1)
        )
    elif family == "one decimal":
        means = np.floor(10 * means) / 10
    elif family == "dominated copies":
        for arm in np.flatnonzero(rng.random(n_arms) < 0.6)[1:]:
            means[arm] = means[rng.integers(arm)] - 0.2 * rng.random(n_objectives) ** 2
    return means


def adverse_errors(
    rng: np.random.Generator, shape: tuple[int, ...], size: float, aimed: bool
) -> Floats:
    """Draw errors of means, each plus or minus ``size``.

    If ``aimed``, all errors of one random arm are positive, and all errors of another
    random arm are negative.

    Examples
    --------
    >>> adverse_errors(np.random.default_rng(0), (2, 1), 0.5, aimed=False).tolist()
    [[0.5], [-0.5]]
    """
    errors = size * np.sign(rng.uniform(-1, 1, shape))
    if aimed:
        raised, lowered = rng.choice(shape[0], 2, replace=False)
        errors[raised] = size
        errors[lowered] = -size
    return errors


def lemma_trials(
    trials: int, seed: int, shares: Sequence[float] = (PAPER_SHARE,)
) -> NDArray[np.int64]:
    r"""Count wrong sets of gap elimination on random problems with erroneous means.

    Parameters
    ----------
    trials : int
        Number of problems of up to 8 arms and 4 objectives, in equal parts from each of
        `FAMILIES`. Half of them have ``aimed`` errors (see `adverse_errors`).
    seed : int
    shares : sequence of float
        Largest error of a mean, divided by the gap :math:`\gamma_{(k_r)}` of phase r.
        The paper's proof uses 1/16.

    Returns
    -------
    ndarray of int
        Number of problems with a wrong set, for each share.

    Examples
    --------
    >>> lemma_trials(60, seed=0, shares=(PAPER_SHARE, 0.5))
    array([ 0, 14])
    """
    rng = np.random.default_rng(seed)
    n_wrong = np.zeros(len(shares), dtype=np.int64)
    for trial in range(trials):
        family = FAMILIES[trial % 4]
        aimed = bool(trial // 4 % 2)
        gaps = np.zeros(1)
        while gaps[0] <= 1e-6:  # the paper assumes positive gaps
            n_arms, n_objectives = (1 + rng.integers((1, 0), (MOST_ARMS, 4))).tolist()
            means = random_means(rng, family, n_arms, n_objectives)
            gaps = np.sort(dominance.classification_gaps(means))
        for number, share in enumerate(shares):
            errors = [
                adverse_errors(rng, means.shape, share * gap, aimed)
                for gap in gaps[:0:-1]
            ]
            n_wrong[number] += _is_wrong(means, errors)

    return n_wrong


def sharp_example(share: float, margin: float = 1e-3) -> tuple[Floats, Floats]:
    r"""Return means of six arms, and errors that mislead gap elimination.

    Gap elimination removes the arm with the largest classification gap in each phase.
    All numbers are in units of 1/64. Only the second arm dominates the first, by the
    tiny ``margin``. The last arm has the largest gap, which is 8. With errors of x, the
    gap of the second arm is 4x - 2 margin, and the gap of the last arm is 8 - 4x. If x
    > 1 + margin / 4, the second arm is removed first, and then no remaining arm
    dominates the first.

    Parameters
    ----------
    share : float
        Size of the errors, as a share of the largest gap.
    margin : float
        With a smaller margin, the smallest share that misleads is closer to 1/8.

    Returns
    -------
    means, errors : ndarray, shape (6, 2)

    Examples
    --------
    >>> for share in (0.124, 0.126):
    ...     means, errors = sharp_example(share)
    ...     returned, _ = eliminate(6, misread(means, [errors]))
    ...     print(np.array_equal(returned, dominance.pareto_mask(means)))
    True
    False
    """
    groups = np.repeat([[0.0, 40.0], [30.0, 0.0]], 3, axis=0)  # far apart
    places = [
        [0.0, 0.0],
        [margin, 12.0],
        [12.0, -margin],
        [0.0, 0.0],
        [12.0, 5.9],
        [-2.1, 20.0],
    ]
    means = groups + np.array(places)
    signs = np.array([[1, -1], [-1, 1], [1, 1], [-1, 1], [1, -1], [1, -1]], dtype=float)
    largest = dominance.classification_gaps(means).max()
    return (means + 1) / 64, _validation.positive(share, "share") * largest * signs / 64


def misleads(means: Floats, signs: Floats, share: float) -> bool:
    """Return whether given errors in the first phase lead to a wrong set.

    The errors have the given signs. Their size is ``share`` times the largest
    classification gap.

    Examples
    --------
    >>> means, errors = sharp_example(0.2)
    >>> [misleads(means, np.sign(errors), share) for share in (0.1249, 0.1251)]
    [False, True]
    """
    return _is_wrong(
        means, [share * dominance.classification_gaps(means).max() * signs]
    )


def _is_wrong(means: Floats, errors: Sequence[Floats]) -> bool:
    returned, _ = eliminate(len(means), misread(means, errors))
    return not np.array_equal(returned, dominance.pareto_mask(means))


def local_search(
    tries: int, seed: int, margin: float = 2.0
) -> tuple[float, float, int]:
    """Search near `sharp_example` for smaller errors that mislead gap elimination.

    Gap elimination removes the arm with the largest classification gap in each phase.
    The search changes means and signs of errors at random. A change is kept if smaller
    errors than before then lead to a wrong set.

    Parameters
    ----------
    tries, seed : int
    margin : float
        Margin of `sharp_example`, from which the search starts.

    Returns
    -------
    share, start : float
        The smallest error that misleads, as a share of the largest gap: after the
        search, and for the initial example.
    improvements : int
        Number of kept changes.

    Examples
    --------
    >>> share, start, _ = local_search(300, seed=0)
    >>> 0.125 < share < 0.15 < 0.2 < start
    True
    """
    rng = np.random.default_rng(seed)
    means, errors = sharp_example(0.2, margin)

    signs = np.sign(errors)
    improvements = 0
    smallest = start = _smallest(means, signs, 1.0)
    for _ in range(tries):
        moved = means.copy()
        turned = signs.copy()
        arm = rng.integers(len(means))
        moved[arm] += 10 ** rng.uniform(-4, -1) * rng.standard_normal(2)
        if rng.random() < 0.1:
            turned[arm, rng.integers(2)] *= -1
        gaps = dominance.classification_gaps(moved)
        if gaps.min() > 0 and misleads(moved, turned, smallest * (1 - 1e-4)):
            smallest = _smallest(moved, turned, smallest * (1 - 1e-4))
            means = moved
            signs = turned
            improvements += 1

    return smallest, start, improvements


def _smallest(means: Floats, signs: Floats, upper: float) -> float:
    """Return the smallest misleading share below ``upper``, by bisection."""
    return float(
        bisect(lambda share: misleads(means, signs, share) - 0.5, 0, upper, xtol=1e-6)
    )


def gap_bounds_hold(means: ArrayLike) -> bool:
    r"""Return whether every classification gap equals the expression that Lemma 2 uses.

    The expression is :math:`\gamma_i = \max(\Delta_i^-, \Delta_i^+)`.

    Examples
    --------
    >>> gap_bounds_hold([[0.75, 0.25], [0.5, 0.5], [0.375, 0.25]])
    True
    """
    m, M = dominance.margins_of_others(means)
    minus = m.max(axis=1)
    plus = np.minimum(M, np.maximum(M.T, 0.0) + np.maximum(minus, 0.0)).min(axis=1)
    gaps = dominance.classification_gaps(means)
    return bool(np.array_equal(np.maximum(minus, plus), gaps))


def smallest_gaps(trials: int, seed: int) -> Floats:
    """Return the two smallest classification gaps of random problems.

    Every second problem has many ties.

    Parameters
    ----------
    trials, seed : int
        Number of problems, of up to 8 arms and 4 objectives, and their seed.

    Returns
    -------
    ndarray, shape (trials, 2)
        The gaps of each problem in ascending order. The two gaps are always equal.

    Examples
    --------
    >>> first, second = smallest_gaps(100, seed=0).T
    >>> np.array_equal(first, second), int((first == 0).sum()) > 10
    (True, True)
    """
    rng = np.random.default_rng(seed)
    smallest = []
    for trial in range(trials):
        shape = rng.integers(2, MOST_ARMS + 1), rng.integers(1, 5)
        means = np.round(rng.random(shape), 1 if trial % 2 else 15)
        smallest.append(np.sort(dominance.classification_gaps(means))[:2])
    return np.array(smallest)


def brute_force_complexity(gaps: ArrayLike, costs: ArrayLike) -> float:
    r"""Return the complexity by its definition, a maximum over all sets of arms.

    The maximum of :math:`C(A) / \gamma_{(|A|)}^2` is over all non-empty sets A.

    Parameters
    ----------
    gaps, costs : array_like, shape (K,)
        Positive numbers; K is small.

    Returns
    -------
    float

    Examples
    --------
    >>> brute_force_complexity([0.5, 0.25], [1.0, 2.0])
    32.0
    """
    gaps = np.sort(_validation.numbers(gaps, "gaps", 1))
    costs = _validation.costs(costs)
    return max(
        float(sum(costs[list(chosen)]) / gaps[size - 1] ** 2)
        for size in range(1, len(gaps) + 1)
        for chosen in combinations(range(len(gaps)), size)
    )


def one_term_gaps(means: ArrayLike) -> Floats:
    r"""Return classification gaps without the second term of :math:`\Delta_i^+`.

    For arms on the front, the remaining term is :math:`\min_j M(i, j)`. These gaps show
    why the definition needs the second term.

    Examples
    --------
    >>> one_term_gaps([[0.75, 0.25], [0.5, 0.5], [0.375, 0.25]])
    array([0.25 , 0.25 , 0.125])
    """
    _, M = dominance.margins_of_others(means)
    gaps = dominance.classification_gaps(means)
    front = dominance.pareto_mask(means)
    gaps[front] = M.min(axis=1)[front]
    return gaps


@check("Section 3.2: complexity H", "copsi", ours=True)
def check_complexity(seed: int) -> CheckResult:
    """Ratio of the sorted form to the maximum over all sets."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(300):
        n_arms = int(rng.integers(2, 11))
        gaps = 10 ** rng.uniform(-2, 0, n_arms)
        costs = 10 ** rng.uniform(-3, 0, n_arms)
        complexity = theory.cost_complexity(gaps, costs)
        rows.append((n_arms, complexity / brute_force_complexity(gaps, costs)))

    sizes, ratio = np.array(rows).T
    return CheckResult(
        f"{len(rows)} problems to {sizes.max():.0f} arms",
        f"largest relative difference {abs(ratio - 1).max():.1g}",
        {"H ÷": lambda factor: bool((abs(ratio / factor - 1) <= SLACK).all())},
    )


@check("Lemma 2: no mistake while margins err by little", "copsi")
def check_lemma(seed: int) -> CheckResult:
    """Gap elimination with means that err by 1/16 of the phase's gap."""
    share = PAPER_SHARE
    trials = 2000
    tries = 150
    wrong = lemma_trials(trials, seed, shares=(share,))[0]
    misled = local_search(tries, seed, margin=0.05)[0]
    return CheckResult(
        f"{trials:,} problems to {MOST_ARMS} arms; {tries} around the sharp example",
        f"{wrong} wrong sets; the smallest error that misled was {misled:.4f}",
        {"γ/8 ×": lambda factor: factor * share < misled},
        holds=bool(wrong == 0),
    )


@check("The two smallest gaps are equal", "copsi", ours=True)
def check_equal_gaps(seed: int) -> CheckResult:
    """Difference of the two smallest gaps."""
    first, second = smallest_gaps(1000, seed).T
    return CheckResult(
        f"{len(first):,} problems, {int((first == 0).sum())} with a gap of zero",
        f"largest difference {np.abs(first - second).max():g}",
        {"γ₍₂₎ ÷": below(first * (1 - SLACK), second)},
        holds=bool((first == second).all()),
    )


@check("Lemma 2 with margins off by less than γ/4", "copsi", ours=True)
def check_sharp_lemma(seed: int) -> CheckResult:
    """Smallest error of means that misleads gap elimination, relative to the gap."""
    tries = 150
    allowed = SHARP_SHARE
    misled = local_search(tries, seed, margin=0.05)[0]
    return CheckResult(
        f"{tries} problems around the sharp example",
        f"{misled:.5f}, where less than {allowed:g} is allowed",
        {"γ/4 ×": lambda factor: factor * allowed <= misled},
    )
