"""The table of what was tested: its outcomes, and that a false statement gets another.

Seeds are fixed, so nothing here is flaky.
"""

import math

import numpy as np
import pytest

from cobandit import theory
from cobandit.companion.proofs import deviation, misclassification, pulls, stopping, summary
from cobandit.errors import CobanditError

IDENTITY = "Proof of Corollary 1: optional sampling at T(B)"
CLAIM = "Abstract: error O(exp(−B/H))"
REFUTED = {IDENTITY, CLAIM}
#: What to divide by a million to get a statement that is false.
BOUNDS = {
    "Theorem 1, Step 1: means stay within their radii": "failure_probability",
    "Theorem 1, Step 3: no index exceeds its efficiency by much": "index_constant",
    "Theorem 1: pulls of a suboptimal arm": "pull_bound",
    "Theorem 1: efficiency regret O(log B)": "efficiency_regret_bound",
    "Lemma 1: no policy earns more than ν*(B + 1)": "optimal_utility_bound",
    "Corollary 1: standard regret": "standard_regret_bound",
    "Section 3.2: complexity H": "cost_complexity",
    "Theorem 2, Step 2: CoPSI stays within its budget": "allocation_constant",
    "Theorem 2: error probability": "identification_error_bound",
}
OTHERS = {
    "Theorem 1, Step 2: the best arm's index is optimistic": (
        (pulls.WatchedRuns, "on_event"),  # optimistic in every run, also off the event
        lambda runs: np.ones(len(runs.spent), dtype=bool),
    ),
    "Lemma 2: no mistake while margins err by little": ((misclassification, "PAPER_SHARE"), 0.5),
    "Theorem 2, Step 4: concentration at adaptive targets": (
        (deviation, "exp"),
        lambda x: 1e-6 * math.exp(x),
    ),
}


def outcome(statement):
    return summary.check_statements([statement])["outcome"].item()


def scaled(monkeypatch, name, factor):
    function = getattr(theory, name)
    monkeypatch.setattr(theory, name, lambda *args, **named: factor * function(*args, **named))


def test_every_statement_has_a_test_that_it_can_fail():
    assert set(summary.CHECKS) == REFUTED | set(BOUNDS) | set(OTHERS)


@pytest.mark.slow
def test_outcomes():
    table = summary.check_statements()
    assert table["statement"].tolist() == list(summary.CHECKS)
    assert set(table.loc[table["outcome"] == summary.FAILS, "statement"]) == REFUTED
    assert set(table.loc[table["outcome"] != summary.FAILS, "outcome"]) == {summary.HOLDS}


@pytest.mark.parametrize(("statement", "name"), BOUNDS.items())
def test_a_millionth_of_a_bound_is_refuted(statement, name, monkeypatch):
    scaled(monkeypatch, name, 1e-6)
    assert outcome(statement) == summary.FAILS


@pytest.mark.parametrize("statement", OTHERS)
def test_other_false_statements_are_refuted(statement, monkeypatch):
    place, false = OTHERS[statement]
    monkeypatch.setattr(*place, false)
    assert outcome(statement) == summary.FAILS


@pytest.mark.parametrize(
    "statement", ["Theorem 1: pulls of a suboptimal arm", "Theorem 2: error probability"]
)
def test_a_bound_above_the_trivial_one_says_nothing(statement, monkeypatch):
    scaled(monkeypatch, BOUNDS[statement], 1e9)
    assert outcome(statement) == summary.SAYS_NOTHING


def test_what_is_refuted_would_hold_where_it_does(monkeypatch):
    fixed = stopping.expected_stopping([1], [1.0], 100)  # a fixed cost that divides the budget
    monkeypatch.setattr(stopping, "expected_stopping", lambda *args: fixed)
    assert outcome(IDENTITY) == summary.HOLDS
    scaled(monkeypatch, "cost_complexity", 256)
    assert outcome(CLAIM) == summary.HOLDS


def test_unknown_statements_are_refused():
    with pytest.raises(CobanditError, match="is not tested"):
        summary.check_statements(["Theorem 3"])
