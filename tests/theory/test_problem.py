"""Problem, hypervolume and complexity against the paper's definitions (3.1, 3.2)."""

from itertools import combinations
from math import inf, prod

import moocore
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.faults import bad_argument
from support.strategies import cost_vectors, mean_matrices, problems

from cobandit import Problem, classification_gaps, hypervolume, pareto_mask
from cobandit.errors import CobanditError
from cobandit.theory import cost_complexity, exact_allocation_constant
from companion.bounds import summed_complexity


def complexity(gaps, costs):
    """H_{mu,c} over all 2^K - 1 subsets: C(A) over the squared |A|-th smallest gap."""
    ordered, arms = sorted(gaps), range(len(gaps))
    largest = 0.0
    for size in range(1, len(gaps) + 1):
        for subset in combinations(arms, size):
            gap = ordered[size - 1]
            largest = max(
                largest, sum(costs[i] for i in subset) / gap**2 if gap else inf
            )
    return largest


@pytest.mark.slow
@given(problems())
def test_implementations_agree(given_problem):
    means, costs = given_problem
    problem = Problem(means, costs)
    volumes = [prod(mean) for mean in means.tolist()]
    efficiency = [
        volume / cost for volume, cost in zip(volumes, costs.tolist(), strict=True)
    ]
    best = max(efficiency)
    assert (problem.n_arms, problem.n_objectives) == means.shape
    assert problem.hypervolume == pytest.approx(volumes, rel=1e-15)
    assert problem.efficiency == pytest.approx(efficiency, rel=1e-15)
    assert problem.best_arm == problem.efficiency.tolist().index(
        problem.efficiency.max()
    )
    assert problem.efficiency_gaps == pytest.approx(
        [best - e for e in efficiency], abs=1e-15
    )
    assert (problem.pareto_mask == pareto_mask(means)).all()
    assert (problem.classification_gaps == classification_gaps(means)).all()
    assert problem.complexity == pytest.approx(
        complexity(problem.classification_gaps, costs), rel=1e-12
    )


@given(st.integers(2, 8).flatmap(lambda k: st.tuples(cost_vectors(k), cost_vectors(k))))
def test_complexity_is_the_maximum_over_all_subsets(gaps_and_costs):
    gaps, costs = gaps_and_costs
    assert cost_complexity(gaps, costs) == pytest.approx(
        complexity(gaps, costs), rel=1e-12
    )


def test_values_match_a_hand_calculation():
    """H = 3/8, 1/4, 1/8; nu = 3/8, 1/2, 1/2 (tied); both others dominate arm 2."""
    problem = Problem(
        [[0.75, 0.5], [0.5, 0.5], [0.25, 0.5]], [1.0, 0.5, 0.25], names="abc"
    )
    assert problem.hypervolume.tolist() == [0.375, 0.25, 0.125]
    assert problem.efficiency.tolist() == [0.375, 0.5, 0.5]
    assert (problem.best_arm, problem.names) == (1, ("a", "b", "c"))
    assert problem.efficiency_gaps.tolist() == [0.125, 0, 0]
    assert problem.pareto_mask.all()  # all tie in the second objective
    assert problem.complexity == inf


def test_values_are_not_rescaled():
    means, costs = [[0.5], [0.25]], np.array([3.0, 50.0])
    problem = Problem(means, costs)
    assert problem.costs.tolist() == [3, 50] and problem.efficiency.tolist() == [
        0.5 / 3,
        0.25 / 50,
    ]
    costs[:] = 1  # a later change of the caller's array is no change of the problem
    assert problem.costs.tolist() == [3, 50]


@given(mean_matrices(max_objectives=5))
def test_hypervolume_of_one_point_is_a_box(means):
    assert hypervolume(means) == pytest.approx(
        [prod(mean) for mean in means.tolist()], rel=1e-15
    )
    assert hypervolume(means[None])[0] == pytest.approx(hypervolume(means))
    for mean in means[:, : max(2, means.shape[1])]:
        if len(mean) > 1:  # moocore starts at two objectives
            reference = moocore.hypervolume(
                mean[None], ref=np.zeros(len(mean)), maximise=True
            )
            assert hypervolume(mean) == pytest.approx(reference, rel=1e-12)


GOOD = {"means": [[0.5, 0.5], [0.25, 0.5]], "costs": [1.0, 0.5], "names": None}


@pytest.mark.parametrize(
    ("bad", "code"),
    [
        ({"means": [[0.5, 0.5]], "costs": [1.0]}, "wrong-shape"),
        ({"means": [[1.2, 0.5], [0.25, 0.5]]}, "out-of-range"),
        ({"means": [[0.5, 0.5], [-0.25, 0.5]]}, "out-of-range"),
        ({"means": [[0.5, float("nan")], [0.25, 0.5]]}, "not-finite"),
        ({"costs": [1.0]}, "wrong-length"),
        ({"costs": [1.0, 1.0, 1.0]}, "wrong-length"),
        ({"costs": [1.0, 0.0]}, "cost-not-positive"),
        ({"costs": [1.0, -1.0]}, "cost-not-positive"),
        ({"costs": [1.0, float("nan")]}, "not-finite"),
        ({"costs": [1.0, float("inf")]}, "not-finite"),
        ({"costs": 1.0}, "wrong-shape"),
        ({"names": ["a"]}, "bad-names"),
        ({"names": ["a", "a"]}, "bad-names"),
    ],
    ids=str,
)
def test_invalid_problems_are_refused(bad, code):
    Problem(**GOOD)
    with bad_argument(code, next(iter(bad))):
        Problem(**GOOD | bad)


POINTS = [0.5, [], [[0.5, -0.1]], [float("nan")], ["x"], [[0.5], []]]
GAPS = [
    ([0.5, -0.1], [1, 1]),
    ([0.5, 0.5], [1, 0]),
    ([0.5, 0.5], [1, 1, 1]),
    ([], []),
    ([[0.5]], [1]),
]


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        *((hypervolume, [point]) for point in POINTS),
        *(
            (complexity, pair)
            for complexity in (cost_complexity, summed_complexity)
            for pair in GAPS
        ),
        *((exact_allocation_constant, [costs]) for costs in ([1.0], [1.0, 0.0])),
    ],
)
def test_invalid_points_and_gaps_are_refused(function, arguments):
    with pytest.raises(CobanditError):
        function(*arguments)
