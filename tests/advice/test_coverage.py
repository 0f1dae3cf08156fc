"""Coverage of decided memberships on samples of tables with known answers."""

from __future__ import annotations

import pytest
from scipy import stats
from support.settled import coverage

import cobandit as cb

SAMPLES = 40


def held(result, level=0.95):
    """Check an error rate; 40 samples exceed 7 errors by chance once in 1,000 tests."""
    assert result["wrong"].sum() <= stats.binom.isf(1e-3, len(result), 1 - level)
    return result


@pytest.mark.acceptance
@pytest.mark.parametrize(
    ("name", "n_instances"),
    [("synthetic-24", 60), ("synthetic-24", 150), ("gsm8k", 200), ("piqa", 200)],
)
def test_decided_memberships_hold_on_new_instances(name, n_instances):
    errors = held(
        coverage(
            cb.load(name), n_instances, samples=SAMPLES if n_instances < 200 else 12
        )
    )
    assert errors["settled"].sum() >= errors["bonferroni"].sum()


@pytest.mark.slow
@pytest.mark.parametrize("n_instances", [60, 150])
def test_decided_memberships_hold_on_measured_instances(swebench, n_instances):
    # with the cost, whose tails leave little settled
    held(coverage(swebench, n_instances, samples=SAMPLES))
    errors = held(coverage(swebench, n_instances, samples=SAMPLES, strict=True))
    assert errors["settled"].sum() > 1.05 * errors["bonferroni"].sum()


@pytest.mark.acceptance
@pytest.mark.parametrize(("share", "minimum"), [(0.3, 0.4), (0.7, 8)])
def test_decided_memberships_hold_on_the_benchmark(synthetic, share, minimum):
    """Of 400 instances two configurations share a tenth, or a half."""
    errors = held(coverage(synthetic, share=share, samples=SAMPLES))
    assert errors["settled"].mean() > minimum


@pytest.mark.slow
def test_errors_would_be_noticed(synthetic, monkeypatch):
    """With critical values divided by six, the tests above fail."""
    from cobandit.stats import simultaneous

    true = simultaneous.critical_value
    monkeypatch.setattr(
        simultaneous, "critical_value", lambda counts, level: true(counts, level) / 6
    )
    assert coverage(synthetic, 60, samples=12)["wrong"].sum() > stats.binom.isf(
        1e-3, 12, 0.05
    )
