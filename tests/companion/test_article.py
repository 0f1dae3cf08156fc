"""The article: comparisons in its sentences agree with the computed numbers."""

import re
from pathlib import Path

import pandas as pd
import pytest

from companion import paper
from companion.pages import article, claim_rows, claims, regions
from companion.stored import results

PAGE = (Path(__file__).parents[2] / "book" / "intro.md").read_text(encoding="utf-8")

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def cells():
    return pd.concat(
        [results.ledger_cells(), results.read_result("measured")], ignore_index=True
    )


def at_the_end(cells, experiment, quantity, dataset):
    """Means and intervals of the methods at the largest budget."""
    part = cells[(cells["experiment"] == experiment) & (cells["quantity"] == quantity)]
    part = part[
        (part["dataset"] == dataset) & part["rho"].notna() & part["against"].isna()
    ]
    return part[part["rho"] == part["rho"].max()].set_index("method")


def is_below(end, first, second):
    return end.loc[first, "high"] < end.loc[second, "low"]


def test_cohv_ucb_is_ahead_or_not_separated(cells):
    for dataset in ("gsm8k", "piqa", *results.MEASURED):
        end = at_the_end(cells, "online", "standard_regret", dataset)
        assert is_below(end, "CoHVUCB", "UniformAllocation")
        assert is_below(end, "CoHVUCB", "HVUCB") == (dataset != "gsm8k")
    assert not is_below(end, "CoHVUCB", "AccuracyCostUCB") and dataset == "piqa-small"
    assert not is_below(end, "AccuracyCostUCB", "CoHVUCB")


def test_advantage_over_uniform_allocation_appears_early_in_a_run(cells):
    part = cells[
        (cells["experiment"] == "trajectory")
        & (cells["quantity"] == "efficiency_regret")
    ]
    part = part[part["spent"].notna() & part["against"].isna()]
    for _, run in part.groupby("dataset"):
        half = run.assign(share=run["spent"] / run["spent"].max()).query(
            "0.4 < share < 0.6"
        )
        means = half.groupby("method")["mean"].mean()
        assert means["CoHVUCB"] < means["UniformAllocation"]


def test_every_ordering_is_counted_once():
    sentence = article.count_orderings(row.status for row in orderings())
    total, *parts = (
        int(count)
        for count in re.findall(r"\d+", "".join(sentence.split(" of its ")[1:]))
    )
    assert total == len(paper.claims()) == int(sentence.split()[0]) + sum(parts)


def test_every_ordering_is_counted_once_on_measured_tables():
    rows = list(orderings())
    sentence = article.count_on_measured(row.measured for row in rows)
    counts = [int(count) for count in re.findall(r"\d+", sentence)]
    assert sum(counts) == len(rows)
    assert counts[3] == sum(not row.measured for row in rows)


def orderings():
    plays = results.read_result("posterior")
    return claim_rows.ordering_rows(
        results.ledger_cells(),
        claims.replace_paper_tables(results.MEASURED),
        paper.shares(plays),
        on_originals=False,
    )


def test_kind_of_costs_changes_no_error():
    ours = paper.verdicts(claims.replace_paper_tables(results.MEASURED))
    many = paper.verdicts(results.ledger_cells())
    assert (
        ours["realised-costs-do-no-harm"]
        == many["realised-costs-do-no-harm"]
        == "holds"
    )


def test_psi_sr_errs_less_often(cells):
    for dataset in ("gsm8k", "piqa"):
        assert is_below(
            at_the_end(cells, "identification", "error", dataset), "PSISR", "CoPSI"
        )
    end = at_the_end(cells, "identification", "error", "word-sums")
    assert end.loc["PSISR", "mean"] < end.loc["CoPSI", "mean"]
    assert (
        at_the_end(cells, "identification", "error", "piqa-small")["mean"] == 0
    ).all()


def test_copsi_finds_less_of_the_front_than_uniform_on_measured_tables(cells):
    for dataset in results.MEASURED:
        end = at_the_end(cells, "full-set", "f1", dataset)
        assert end.loc["CoPSI", "mean"] < end.loc["UniformIdentification", "mean"]
    for dataset in ("gsm8k", "piqa"):
        assert is_below(
            at_the_end(cells, "full-set", "f1", dataset),
            "UniformIdentification",
            "CoPSI",
        )


def test_dividing_by_cost_pays_from_cost_ratio_three():
    gain = regions.advantage_of_dividing(results.read_result("regions"))
    assert gain.loc[(1, 0), "high"] < 0 < gain.loc[(3, 0), "low"]
    assert gain.loc[(3, 1), "high"] < 0 < gain.loc[(10, 1), "low"]
    assert (gain.drop(index=[1, (3, 1)]).loc[3:, "low"] > 0).all()


def test_adaptive_constant_and_once_repair_the_spend():
    cells = article.compare_on_measured(100)
    for table in results.MEASURED:
        cell = cells.loc[table]
        f1 = cell.loc["200", "f1"]
        half = cell.loc["half", "correct"]
        assert f1["CoPSIAdaptive"] > f1["UniformIdentification"] > f1["CoPSI"]
        assert half["CoPSIOnce"] > 0.9 > 0.1 > half["UniformOnce"]
        assert cell.loc[("all", "CoPSIPrintedOnce"), "correct"] < 0.25
        assert cell.loc[("200", "CoPSI"), "used"] < 0.45


def test_race_meets_its_promise_at_lower_cost():
    races = article.race_on_word_sums()
    assert (races["off"] <= 0.05).all() and 0.3 < races["share"][0.02] < races["share"][
        0.0
    ] < 0.6


def test_bounds_exceed_measured_values():
    for steps in article.climb_ladders().values():
        values = list(steps.values())
        assert values == sorted(values, reverse=True)


def test_abstract_is_short_and_names_both_algorithms():
    abstract = PAGE.partition("**Abstract.**")[2].partition("```")[0]
    assert len(abstract.split()) <= 120
    assert "CoHV-UCB" in abstract and "CoPSI" in abstract and "(A6)" in abstract


def test_computed_numbers_are_not_typed_by_hand():
    """Typed numbers are the paper's, or settings: a decimal would be a result."""
    prose = re.sub(
        r"```.*?```|\$.*?\$|\{glue:text\}`\w+`",
        "",
        PAGE.partition("**Abstract.**")[2],
        flags=re.S,
    )
    typed = set(re.findall(r"(?<![\w.])\d*\.\d+", prose))
    assert typed <= {".004", ".006", ".148", ".164", ".005", ".010"}, typed


def test_copsi_is_best_on_as_many_kinds_of_problems_without_psi_sr():
    """The page says it of both, since the budget of PSI-SR is reading A6."""
    outcomes = results.read_result("regions")
    identified = outcomes[outcomes["selection"] == "identification"]
    others = identified[~identified["name"].str.startswith("PSI-SR")]
    n_best, n_kinds = regions.count_best(identified, "CoPSI")
    assert regions.count_best(others, "CoPSI") == (n_best, n_kinds)
    methods = identified["name"].unique()
    all_best = [regions.count_best(identified, method)[0] for method in methods]
    assert sum(all_best) >= n_kinds  # more where methods tie
