"""The table of checks: outcomes, refuted false statements, and slack.

Seeds are fixed, so nothing here is flaky.
"""

import math

import numpy as np
import pytest
from support.faults import bad_argument

from cobandit import theory
from cobandit.replay.running import Runs
from companion import bounds
from companion.proofs import (
    allocation,
    checks,
    concentration,
    identification_error,
    misclassification,
    optimism,
    plain_remarks,
    simulated_errors,
    standard_regret,
    without_replacement,
    worst_paths,
)

IDENTITY = "Proof of Corollary 1: optional sampling at T(B)"
CLAIM = "Abstract: error O(exp(−B/H))"
IDENTICAL = "Abstract, Section 6: identical costs recover the standard rate"
REFUTED = {IDENTITY, CLAIM, IDENTICAL}
#: What to divide by a million to get a statement that is false, and the constant in
#: front of it in the table.
BOUNDS = {
    "Theorem 1, Step 1: means stay within their radii": (
        "failure_probability",
        "2K(D+1)",
    ),
    "Theorem 1, Step 3: no index exceeds its efficiency by much": (
        "index_constant",
        "C",
    ),
    "Theorem 1: pulls of a suboptimal arm": ("pull_bound", "4αC²"),
    "Theorem 1: efficiency regret O(log B)": ("efficiency_regret_bound", "4αC²"),
    "Lemma 1: no policy earns more than ν*(B + 1)": ("optimal_utility_bound", None),
    "Corollary 1: standard regret": ("standard_regret_bound", "2ν*"),
    "Section 3.2: complexity H": ("cost_complexity", None),
    "Section 4.1: T_B bounds the number of pulls": ("horizon", "T_B"),
    "Theorem 2, Step 2: CoPSI stays within its budget": ("allocation_constant", "L"),
    "Theorem 2: error probability": ("identification_error_bound", "2K²D"),
    "Pulls: lean, instance and threshold bound": ("radius_pull_bound", "threshold"),
    "Pulls: split bound": ("split_pull_bound", "sum"),
    "Completed pulls cost B − 1 to B + 1 − λ, and earn ν* times that": (
        "completed_utility_bound",
        None,
    ),
    "The exact constant": ("exact_allocation_constant", "L*"),
    "Error probability by differences": ("difference_error_bound", "K(K−1)²D"),
    "Error probability with reachable sets": ("difference_error_bound", "K(K−1)²D"),
    "One objective: H_reach and the sum over arms": ("summed_complexity", "16/9"),
    "What a plan overspends at random costs": ("overspend_bound", "1 in front"),
    "CoPSI with random costs": ("difference_error_bound", "K(K−1)²D"),
    "A pilot for unknown mean costs": ("pilot_failure_bound", "2K"),
    "Concentration without replacement": ("hoeffding_serfling_tail", None),
    "Error probability without replacement": ("paired_error_bound", "by pairs, 2"),
    "Exploration with several in flight": ("alpha_in_flight", None),
    "Leaving a radius, by peeling: α > ½ is enough": ("leaving_bound", "m in front"),
    "Error probability by variances of pairs, instances shared": (
        "variance_error_bound",
        "K(K−1)²D",
    ),
}


def twice_as_far(means, cost, radius, lam, *, upper, extreme=worst_paths.extreme_means):
    return extreme(means, cost, 2 * np.asarray(radius), lam, upper=upper)


def half_the_targets(costs, budget, targets=allocation.elimination_targets):
    pulls, shares = targets(costs, budget)
    return pulls // 2, shares


def ten_more(*args, selection, policy=optimism.CoHVUCB, **named):
    K, D, budget = args
    return policy(
        K, D, budget + 10 * (selection == "feasible"), selection=selection, **named
    )


def twice_as_many(rewards, delta, minimum=bounds.least_evaluations):
    return 2 * minimum(rewards, delta)


def twice_the_instances(*tables_and_delta, minimum=bounds.least_instances):
    return 2 * minimum(*tables_and_delta)


def both_returned(finder, feedback, seed, names, *, realised):
    return Runs(None, None, np.ones((len(names), 2), dtype=bool), None)


def small_bound(x):
    return 1e-6 * math.exp(x)


def no_set_but_all(means, leaves=None):
    return [np.eye(len(means), dtype=bool)[:1]] * (len(means) - 1)


#: Statements without a constant that could be cut.
PLAIN = {
    "Section 4.1: the dependence on budget and gap",
    "Section 3.2: a gap of zero is not well posed",
    "Theorem 2, Step 2: targets never decrease",
    "After Theorem 2: unit costs recover the standard rate",
}
OTHERS = {
    "Section 4.1: the dependence on budget and gap": (
        theory,
        "pull_bound",
        lambda gap, bound=theory.pull_bound, **case: bound(gap, **case) ** 1.1,
    ),
    "Section 3.2: a gap of zero is not well posed": (
        theory,
        "cost_complexity",
        lambda gaps, costs: 1.0,
    ),
    "Theorem 2, Step 2: targets never decrease": (
        plain_remarks,
        "reached_targets",
        lambda finder: [3, 2],
    ),
    "After Theorem 2: unit costs recover the standard rate": (
        theory,
        "allocation_constant",
        lambda n_arms, cost_ratio: 1.0,
    ),
    "Reachable sets: where phases without a failure lead": (
        bounds,
        "reachable_sets",
        no_set_but_all,
    ),
    "No method errs less for every cost vector": (
        bounds,
        "least_error",
        lambda budget, least=bounds.least_error, **how: 3 * least(budget, **how),
    ),
    "Pulls that no method can save": (
        theory,
        "least_divergence",
        lambda *args, least=theory.least_divergence, **how: 0.99 * least(*args, **how),
    ),
    "CoHV-KL-UCB: its region and its pulls": (
        theory,
        "bernoulli_divergence",
        lambda p, q, kl=theory.bernoulli_divergence: 2 * kl(p, q),
    ),
    "Theorem 1, Step 2: the best arm's index is optimistic": (
        optimism,
        "extreme_means",
        twice_as_far,
    ),
    "Theorem 2, Step 3: what every phase collects": (
        identification_error,
        "least_target_share",
        lambda problem, budget, seed, share=simulated_errors.least_target_share: (
            0.7 * share(problem, budget, seed)
        ),
    ),
    "Lemma 2: no mistake while margins err by little": (
        misclassification,
        "PAPER_SHARE",
        0.5,
    ),
    "Theorem 2, Step 4: concentration at adaptive targets": (
        concentration,
        "exp",
        small_bound,
    ),
    "The two smallest gaps are equal": (
        misclassification,
        "smallest_gaps",
        lambda trials, seed: np.array([[0.1, 0.1], [0.1, 0.2]]),
    ),
    "The adaptive constant spends all but a round": (
        allocation,
        "elimination_targets",
        half_the_targets,
    ),
    "Lemma 2 with margins off by less than γ/4": (
        misclassification,
        "SHARP_SHARE",
        0.2,
    ),
    "Concentration of differences": (concentration, "exp", small_bound),
    "Pulls under feasible selection: 1/λ more": (optimism, "CoHVUCB", ten_more),
    "CoPSI once stays within its budget": (
        without_replacement,
        "largest_spend",
        lambda *args: 1.01,
    ),
    "Lower bound on the cost of certainty": (
        bounds,
        "least_evaluations",
        twice_as_many,
    ),
    "Instances that no method can save in random order": (
        bounds,
        "least_instances",
        twice_the_instances,
    ),
    "Leave early only when certain: error probability": (
        without_replacement,
        "run_kernel",
        both_returned,
    ),
}


def outcome(statement):
    return checks.check_statements([statement]).iloc[0]["outcome"]


def factor(tested, statement, constant):
    """By what a constant of a statement has to be changed for the check to notice."""
    slack = tested.set_index("statement").loc[statement, "slack"]
    return next(group for name, group in slack.items() if name[:-2] == constant)


def scaled(monkeypatch, name, factor):
    module = bounds if hasattr(bounds, name) else theory
    function = getattr(module, name)
    monkeypatch.setattr(
        module, name, lambda *args, **named: factor * function(*args, **named)
    )


def test_every_statement_has_a_check_that_can_fail():
    assert set(checks.checks()) == REFUTED | set(BOUNDS) | set(OTHERS)


@pytest.mark.slow
def test_outcomes_of_all_checks(tested):
    assert tested["statement"].tolist() == list(checks.checks())
    assert set(tested.loc[tested["outcome"] == checks.FAILS, "statement"]) == REFUTED
    assert set(tested.loc[tested["outcome"] != checks.FAILS, "outcome"]) == {
        checks.HOLDS
    }
    assert (
        set(tested.loc[tested["slack"].map(len) == 0, "statement"]) == REFUTED | PLAIN
    )


@pytest.mark.slow
@pytest.mark.parametrize("statement", BOUNDS)
def test_millionth_of_a_bound_is_refuted(statement, monkeypatch):
    scaled(monkeypatch, BOUNDS[statement][0], 1e-6)
    assert outcome(statement) == checks.FAILS


@pytest.mark.slow
@pytest.mark.parametrize("statement", OTHERS)
def test_false_statements_are_refuted(statement, monkeypatch):
    monkeypatch.setattr(*OTHERS[statement])
    assert outcome(statement) == checks.FAILS


@pytest.mark.slow
@pytest.mark.parametrize(
    "statement", [s for s, (_, constant) in BOUNDS.items() if constant]
)
def test_slack_is_the_smallest_refuted_change(statement, monkeypatch, tested):
    name, constant = BOUNDS[statement]
    slack = factor(tested, statement, constant)
    with monkeypatch.context() as cut:
        scaled(cut, name, 1 / (1.05 * slack))
        assert outcome(statement) == checks.FAILS
    scaled(monkeypatch, name, 1 / (0.95 * slack))
    assert outcome(statement) == checks.HOLDS


@pytest.mark.parametrize(
    ("statement", "constant", "minimum", "maximum"),
    [
        # no check can notice less than what is true: the instance bound is a sixteenth
        # of Theorem 1's
        ("Theorem 1: pulls of a suboptimal arm", "4αC²", 16, 20),
        ("Theorem 1, Step 2: the best arm's index is optimistic", "radius", 1, 1.01),
        ("Lemma 1: no policy earns more than ν*(B + 1)", "1 in B + 1", 1, 1.01),
        ("Corollary 1: standard regret", "2ν*", 1, 1.05),
        ("Theorem 2, Step 3: what every phase collects", "2", 4 / 3, 1.35),
        ("Pulls: lean, instance and threshold bound", "threshold", 1, 1.01),
        ("Pulls: split bound", "sum", 1, 1.3),
        ("The exact constant", "L*", 1, 1.01),
        ("Pulls under feasible selection: 1/λ more", "1/λ", 1, 1.05),
        ("Lower bound on the cost of certainty", "2δ", 4 / 3, 1.34),
        ("Exploration with several in flight", "κ − 1", 1, 1.05),
        ("Reachable sets: where phases without a failure lead", "γ/8", 1, 1.01),
        ("One objective: H_reach and the sum over arms", "16/9", 1, 1.01),
        ("No method errs less for every cost vector", "1/(s²C)", 1, 1.01),
        ("What a plan overspends at random costs", "2(1 − √λ)²", 1, 1.3),
        ("A pilot for unknown mean costs", "(1 + η)/(1 − η)", 1, 1.01),
        ("Pulls that no method can save", "1/K_inf", 1, 1.01),
        ("Pulls that no method can save", "K_inf", 1, 1.02),
        ("CoHV-KL-UCB: its region and its pulls", "log T_B", 1, 3),
        ("CoHV-KL-UCB: its region and its pulls", "right-hand side", 1, 1.15),
        ("Leaving a radius, by peeling: α > ½ is enough", "m in front", 1, 5),
        (
            "Leaving a radius, by peeling: α > ½ is enough",
            "2α in the exponent",
            1,
            1.15,
        ),
        ("Instances that no method can save in random order", "sum", 1, 1.5),
        ("Leave early only when certain: error probability", "δ", 1, 5),
        (
            "Error probability by variances of pairs, instances shared",
            "32σ² + 16γ/3",
            1,
            16,
        ),
    ],
)
@pytest.mark.slow
def test_sharpness_of_the_checks(statement, constant, minimum, maximum, tested):
    assert 0.995 * minimum <= factor(tested, statement, constant) <= maximum


@pytest.mark.slow
def test_checks_of_lemma_2_are_sharp(tested):
    eighth = factor(tested, "Lemma 2: no mistake while margins err by little", "γ/8")
    quarter = factor(tested, "Lemma 2 with margins off by less than γ/4", "γ/4")
    assert (eighth, quarter) == (pytest.approx(2, abs=0.02), pytest.approx(1, abs=0.01))


@pytest.mark.slow
@pytest.mark.parametrize(
    "statement",
    ["Theorem 1: pulls of a suboptimal arm", "Theorem 2: error probability"],
)
def test_bound_above_the_trivial_one_is_vacuous(statement, monkeypatch):
    scaled(
        monkeypatch, BOUNDS[statement][0], 1e300 if "Theorem 2" in statement else 1e9
    )
    assert outcome(statement) == checks.SAYS_NOTHING


def test_refuted_statements_hold_under_their_conditions(monkeypatch):
    # a fixed cost that divides the budget
    fixed = standard_regret.expected_stopping([1], [1.0], 100)
    monkeypatch.setattr(standard_regret, "expected_stopping", lambda *args: fixed)
    assert outcome(IDENTITY) == checks.HOLDS
    scaled(monkeypatch, "cost_complexity", 256)
    assert outcome(CLAIM) == checks.HOLDS
    monkeypatch.setattr(theory, "allocation_constant", lambda n_arms, cost_ratio: 3.25)
    assert outcome(IDENTICAL) == checks.HOLDS


@pytest.mark.parametrize(
    ("holds", "smallest"),
    [
        (lambda multiple: multiple < 7.5, 7.5),
        (lambda multiple: True, math.inf),
        (lambda multiple: multiple <= 1, 1),
        (lambda multiple: False, 0),
    ],
)
def test_slack_is_the_factor_where_a_check_fails(holds, smallest):
    result = checks.find_slack(holds)
    assert (
        math.isnan(result)
        if smallest == 0
        else result == pytest.approx(smallest, rel=1e-3)
    )


def test_unknown_statements_are_refused():
    with bad_argument("unknown-choice", "statements", ["'Theorem 3'"]):
        checks.check_statements(["Theorem 3"])
