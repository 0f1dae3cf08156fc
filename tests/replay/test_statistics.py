"""The paper's guarantees on synthetic problems where they say something, and convergence of the replay.

Seeds are fixed, so nothing here is flaky.  The false-alarm rate that a test states is the probability,
over the choice of its seed, that it fails although all is well.
"""

from itertools import product
from math import sqrt

import numpy as np
import pytest
from scipy import stats
from support import methods

import cobandit as cb
from cobandit import theory
from cobandit.replay import kernels
from cobandit.replay.grid import pack_table
from cobandit.replay.running import run_kernel
from cobandit.stats import metrics
from cobandit.testing import table_of

pytestmark = pytest.mark.slow


def quarters(means, costs):
    """Rows of an arm: independent Bernoulli rewards of means k / 4, and equally likely costs."""
    hits = product(*[[float(4 * mean > j) for j in range(4)] for mean in means])
    return [[cost, *reward] for reward, cost in product(hits, costs)]


@pytest.fixture(scope="module")
def noisy():
    """Three arms, D = 2, costs 1/2 or 1: lambda = 1/2, mean cost 3/4, efficiencies 3/4, 1/12 and 1/6."""
    arms = [quarters(means, (0.5, 1.0)) for means in ((0.75, 0.75), (0.25, 0.25), (0.5, 0.25))]
    return table_of(arms, costs_seen=[[0.5, 1.0]] * 3)


def pulls_by_kernel(table, policy, replications):
    """Pulls of an online policy in many replications, (R, K)."""
    return run_kernel(policy, pack_table(table).feedback, 0, np.arange(replications))[0]


@pytest.mark.parametrize("budget", [300_000.0, 600_000.0])
def test_theorem_1_and_corollary_1(budget, noisy):
    """E[n_i] and both regrets of CoHV-UCB with the theory's radii stay below bounds that are not trivial.

    The upper end of the mean of 24 runs, five standard errors above it, has to stay below the bound.  The
    runs lie hundreds of standard errors below, so a false alarm has probability below 1e-6.
    """
    policy = cb.CoHVUCB(3, 2, budget, (0.5, 1.0), expected_costs=noisy.costs)
    problem, pulls = noisy.problem, pulls_by_kernel(noisy, policy, 24)
    assert problem.efficiency == pytest.approx([0.75, 1 / 12, 1 / 6])
    how = {"n_objectives": 2, "cost_ratio": 0.5, "budget": budget}

    def upper(values):
        return values.mean() + 5 * values.std(ddof=1) / sqrt(len(values))

    for arm in (1, 2):
        bound = theory.pull_bound(problem.efficiency_gaps[arm], n_arms=3, **how)
        assert bound < budget / 0.5  # of which pulls there cannot be more anyway
        assert upper(pulls[:, arm]) <= bound
    bound = theory.efficiency_regret_bound(problem.efficiency_gaps, **how)
    assert upper(metrics.efficiency_regret(problem, pulls)) <= bound
    bound = theory.standard_regret_bound(
        problem.efficiency_gaps, problem.costs, problem.efficiency.max(), **how
    )
    assert upper(metrics.standard_regret(problem, pulls, budget)) <= bound
    assert (pulls[:, 0] > pulls[:, 1:].sum(axis=1)).all()  # and it has found the best arm


@pytest.mark.parametrize("method", list(methods.ONLINE.values()))
def test_lemma_1(method, noisy):
    """No policy earns more than nu* (B + 1) in expectation; here the optimum is nearly attained.

    One-sided, five standard errors over 200 runs: false alarms below 3e-7 each.
    """
    budget = 60.0
    policy = method(3, 2, budget, (0.5, 1.0), expected_costs=noisy.costs, reward_scale=0.1, cost_scale=0.1)
    earned = pulls_by_kernel(noisy, policy, 200) @ noisy.problem.hypervolume
    bound = theory.optimal_utility_bound(noisy.problem.efficiency.max(), budget)
    assert earned.mean() <= bound + 5 * earned.std(ddof=1) / sqrt(200)


def test_the_concentration_event_is_left_as_rarely_as_stated():
    """Step 1 of Theorem 1's proof: P <= 2 K (D + 1) T_B^(1 - 2 alpha), for K = 2, D = 1, T_B = 9, alpha = 1.

    4,000 draws of the four sequences; a frequency five standard errors above the bound would come up with
    probability below 1e-6 if the bound were attained.
    """
    bound = theory.failure_probability(n_arms=2, n_objectives=1, cost_ratio=1, budget=8, alpha=1)
    assert bound == pytest.approx(8 / 9)
    samples = np.random.default_rng(0).integers(0, 2, (4000, 4, theory.horizon(8, 1)))
    steps = np.arange(1, samples.shape[-1] + 1)
    radii = [theory.confidence_radius(int(n), 8, 1, alpha=1) for n in steps]
    left = (np.abs(samples.cumsum(axis=-1) / steps - 0.5) > radii).any(axis=(1, 2)).mean()
    assert 0 < left <= bound + 5 * sqrt(bound * (1 - bound) / 4000)


@pytest.mark.parametrize("target", [0.9, 0.3, 0.01])
@pytest.mark.parametrize("costs", [(1.0, 1.0, 1.0), (0.2, 1.0, 0.5)], ids=str)
def test_theorem_2(target, costs):
    """At a budget where Theorem 2 promises an error of at most ``target``, CoPSI errs no more often.

    1,000 runs; more errors than the binomial quantile of 1e-6 would have that probability at most if the
    bound were attained.
    """
    means = [(0.75, 0.25), (0.25, 0.75), (0.0, 0.0)]
    table = table_of([quarters(mean, (cost,)) for mean, cost in zip(means, costs, strict=True)])
    problem, lam = table.problem, min(costs)
    assert problem.pareto_mask.tolist() == [True, True, False]
    scale = 256 * theory.allocation_constant(3, lam) * problem.complexity
    budget = scale * np.log(36 / target)  # 2 K^2 D exp(-B / scale) = target
    how = {"n_arms": 3, "n_objectives": 2, "cost_ratio": lam, "complexity": problem.complexity}
    assert theory.identification_error_bound(budget, **how) == pytest.approx(target)
    assert budget >= 2 * theory.allocation_constant(3, lam) * problem.complexity
    runs = cb.replay_identification(table, "CoPSI", budget / table.costs.sum(), replications=1000)
    errors = int((~runs["correct"]).sum())
    assert errors <= stats.binom.isf(1e-6, 1000, target)


def test_more_budget_means_fewer_errors(synthetic):
    """Errors on the bundled table fall from nearly sure to rare.

    Each comparison is of two proportions of 400 runs that differ by far more than the seven standard errors
    asked for: false alarms below 1e-6.
    """
    runs = cb.replay_identification(synthetic, ["CoPSI", "PSISR"], [10, 300, 20_000], replications=400)
    errors = 1 - runs.groupby(["method", "rho"])["correct"].mean().unstack()
    steps = -np.diff(errors.to_numpy(), axis=1)
    assert (steps > 7 * sqrt(0.5 / 400)).any(axis=1).all() and (steps > -5 * sqrt(0.5 / 400)).all()


def test_replayed_means_converge_to_those_of_the_table(small_table):
    """Bootstrap means of rewards and costs of 20,000 pulls an arm, against exact means and deviations.

    Eighteen comparisons at 5 standard errors: a false alarm has probability below 18 * 6e-7 = 1.1e-5.
    """
    rounds, feedback = 20_000, small_table.feedback
    for arm in range(small_table.n_arms):
        first, last = feedback.offsets[arm : arm + 2]
        own = np.column_stack([feedback.costs, feedback.rewards])[first:last]
        drawn = own[[kernels.instance(0, 0, arm, s, last - first) for s in range(rounds)]]
        error = 5 * own.std(axis=0) / sqrt(rounds) + 1e-12
        assert (np.abs(drawn.mean(axis=0) - own.mean(axis=0)) <= error).all()
        assert own[:, 1:].mean(axis=0) == pytest.approx(small_table.means[arm])
