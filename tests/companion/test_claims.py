"""The table of all claims: rows, lasting identifiers, and statements about it."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from support.faults import bad_argument

from companion import paper
from companion.pages import claim_row, claim_rows, claims, claims_display, exhibits
from companion.paper import contrasts
from companion.proofs import checks
from companion.stored import results

ROOT = Path(__file__).parents[2]
LINK = re.compile(r"\{claim\}`(\w+)`")


@pytest.fixture(scope="session")
def rows(tested, once):
    def fill(folder):
        claims.every_claim(statements=tested).to_pickle(folder / "rows.pickle")

    return pd.read_pickle(once("claims", fill) / "rows.pickle")


@pytest.mark.slow
def test_rows_are_exactly_the_claims(rows):
    assert rows.index.is_unique and set(rows["key"]) == set(claim_row.identifiers())
    statements = rows[rows["kind"].isin([claim_row.STATEMENT, claim_row.OURS])]
    assert set(statements["key"]) == set(checks.checks())
    assert (rows["kind"] == claim_row.CONTRAST).sum() == len(contrasts.CONTRASTS)
    orderings = rows.loc[rows["kind"] == claim_row.ORDERING, "key"]
    assert orderings.tolist() == [f"ordering {claim.key}" for claim in paper.claims()]

    # what is printed twice alike has one row, and stands on both places
    numbers = rows[rows["kind"] == claim_row.NUMBER]
    printed = {
        (n.coordinates, n.printed)
        for n in paper.published()
        if n.role in paper.RESULT_ROLES
    }
    assert len(numbers) == len(printed) and set(rows["status"]) <= set(claim_row.SIGNS)


@pytest.mark.slow
def test_status_follows_from_the_columns(rows):
    orderings = rows[rows["kind"] == claim_row.ORDERING]
    for row in orderings.to_dict("records"):
        measured = (
            row["measured"]
            if row["measured"] and row["measured"][0] != "("
            else "cannot be checked"
        )
        assert row["status"] == claim_rows.combine_verdicts(measured, row["replays"])

    numbers = rows[rows["kind"] == claim_row.NUMBER]
    used = numbers["status"] == claim_row.USED
    assert (numbers.loc[used, "reconstruction"] == "").all()
    judged = paper.judge_contrasts(results.read_result("posterior"))
    assert (
        rows.loc[rows["kind"] == claim_row.CONTRAST, "status"].tolist()
        == judged["word"].tolist()
    )


def test_identifiers_never_change():
    """Pages, and pages of others, link to these."""
    numbers = claim_row.identifiers()
    assert len(set(numbers.values())) == len(numbers) >= 199
    assert numbers["Theorem 2: error probability"] == "C13"
    assert numbers["ordering CoPSI-beats-PSISR-at-the-end"] == "C39"
    assert numbers["remark poor-arms-avoided"] == "C199"
    assert numbers["piqa-online-32-CoHVUCB-efficiency_regret"] == "C91"


@pytest.mark.slow
def test_claim_without_identifier_is_refused(tested, monkeypatch):
    for other in ("contrast_rows", "ordering_rows", "remark_rows", "number_rows"):
        monkeypatch.setattr(claims, other, lambda *_: [])
    new = tested.iloc[:1].assign(statement="Theorem 3")
    statements = pd.concat([tested, new])
    with bad_argument("no-identifier", "claims.yml", ["'Theorem 3'"]):
        claims.every_claim(statements=statements, words=pd.DataFrame())


def test_links_to_claims_exist():
    identifiers = set(claim_row.identifiers().values())
    pages = [*ROOT.glob("book/*.md"), *ROOT.glob("notebooks/*.md")]
    matches = {
        link
        for page in pages
        for link in LINK.findall(page.read_text(encoding="utf-8"))
    }
    assert matches and matches <= identifiers, matches - identifiers


@pytest.mark.acceptance
def test_other_tables_replace_measured_ones(tested, monkeypatch):
    # the rows that take longest to compute, and do not depend on these tables' names
    monkeypatch.setattr(claims, "remark_rows", lambda *_: [])
    rows = claims.every_claim(statements=tested, measured=["synthetic-24"], scale=0.05)
    listed = rows[rows["kind"] == claim_row.ORDERING].set_index("key")["measured"]
    assert listed["ordering CoHVUCB-beats-uniform-at-the-end"] in (
        "holds",
        "fails",
        "not separated",
    )
    assert listed["ordering costs-matter-more-on-piqa"] == ""


def test_rows_are_linkable_and_escaped():
    row = claim_row.ClaimRow(
        "k",
        claim_row.ORDERING,
        "a < b",
        "Section 5",
        "experiments",
        paper="holds",
        status="divided",
    )
    frame = pd.DataFrame([row], index=pd.Index(["C9"], name="id"))
    html = claims_display.claims_html(frame, "All & more")
    assert '<tr id="C9" data-kind="ordering">' in html and 'href="#C9"' in html
    assert (
        "a &lt; b" in html and "All &amp; more" in html and "◐</span> divided" in html
    )


@pytest.mark.slow
def test_count_of_contrasts_outside_matches_shown_intervals(rows):
    shown = rows[rows["kind"] == claim_row.CONTRAST]
    ends = shown["reconstruction"].str.split(" to ", expand=True).astype(float)
    outside = ~shown["paper"].astype(float).between(ends[0], ends[1])
    judged = paper.judge_contrasts(results.read_result("posterior"))
    assert outside.sum() == (judged["p"] <= 0.05).sum()


@pytest.mark.slow
def test_contrasts_are_sorted_by_word():
    judged = paper.judge_contrasts(results.read_result("posterior"))
    (ax,) = claims_display.draw_contrasts(judged).axes
    texts = [text.get_text() for text in ax.texts]
    words = [text for text in texts if text in paper.WORDS]
    assert words == sorted(words, key=paper.WORDS.index) and len(words) == len(judged)
    drawn = np.concatenate([line.get_xdata() for line in ax.lines])
    assert ax.get_xlim()[0] <= drawn.min() and drawn.max() <= ax.get_xlim()[1]


@pytest.mark.slow
def test_counts_on_the_claims_page_are_right(rows):
    """Its first lines, and what it points at."""
    status = rows["status"]
    theory = rows[rows["kind"] == claim_row.STATEMENT]
    assert theory.index[theory["status"] == checks.FAILS].tolist() == [
        "C7",
        "C14",
        "C217",
    ]
    assert set(theory["status"]) == {checks.HOLDS, checks.FAILS}
    assert status["C39"] == "fails"  # CoPSI errs less often than PSI-SR
    online = rows.loc["C30":"C55"].drop(index=[f"C{n}" for n in range(34, 41)])[
        "status"
    ]
    assert online.str.startswith("holds").mean() > 0.5

    # an advantage has to be one; a used fact that is missed decides nothing; no errors
    # cannot be compared
    assert status["C58"] == "not separated" and status["C50"] == "cannot be checked"
    assert rows.loc[["C26", "C27"], "measured"].tolist() == ["", ""]
    assert rows.loc["C9", "kind"] == claim_row.OURS
    compared_claims = [claim.key for claim in paper.claims() if claim.compares_datasets]
    assert (
        len(compared_claims) == 5
        and (
            rows.set_index("key").loc[
                [f"ordering {key}" for key in compared_claims], "measured"
            ]
            == ""
        ).all()
    )
    assert (
        rows.loc["C45", "measured"] == "(holds)"
        and rows.loc["C45", "status"] == "not separated"
    )


@pytest.mark.slow
def test_remarks_on_private_tables_are_judged_if_drawn_tables_agree(rows):
    remarks = rows[rows["kind"] == claim_row.REMARK].set_index("key")
    assert remarks.loc["remark denser-on-piqa", "status"] == contrasts.CANNOT_TELL
    assert (
        remarks.loc["remark aligned-on-gsm8k", "status"] == "holds on reconstructions"
    )
    assert remarks.loc["remark many-near-ties", "status"] == contrasts.CANNOT_TELL
    assert remarks.loc["remark first-study", "status"] == claim_row.NOT_TESTABLE
    # elimination makes few of its mistakes early, and a pull can cost more than what is
    # left
    assert remarks.loc["remark early-mistakes", "status"] == "fails"
    assert remarks.loc["remark budget-never-exceeded", "status"] == "fails"


@pytest.mark.slow
def test_every_exhibit_has_claims_and_an_anchor(rows):
    page = (ROOT / "notebooks" / "exhibits.md").read_text(encoding="utf-8")
    names = [exhibit.name for exhibit in exhibits.EXHIBITS]
    assert re.findall(r"^## ((?:Table|Figure) \d)$", page, re.M) == names

    assert re.findall(r"^\((\S+)\)=\n## (?:Table|Figure)", page, re.M) == [
        claims_display.anchor(name) for name in names
    ]
    assert set(rows["exhibit"]) == {"", *names}
    # so that the page of exhibits need not check statements
    statements = rows[rows["kind"].isin([claim_row.STATEMENT, claim_row.OURS])]
    assert set(statements["exhibit"]) == {""}
    for name in names:
        own_claims = exhibits.claims_of(rows, name)
        assert len(own_claims) and all(
            f"claims.html#{key}" in exhibits.exhibit_html(rows, name)
            for key in own_claims.index
        )

    # where two figures print one total, it has a row in each
    assert "piqa-trajectory-32-CoHVUCB-efficiency_regret" in set(
        exhibits.claims_of(rows, "Figure 4")["key"]
    )
    assert "piqa-online-32-CoHVUCB-efficiency_regret" in set(
        exhibits.claims_of(rows, "Figure 2")["key"]
    )


@pytest.mark.slow
def test_every_row_has_claim_and_place(rows):
    assert (rows["claim"] != "").all() and (rows["place"] != "").all()
    hangs = rows["reading"] == "A6"
    assert set(rows.index[hangs]) >= {"C20", "C22", "C27", "C29", "C39", "C63"}
    is_about_psi_sr = rows["key"].str.contains("PSISR") | rows["claim"].str.contains(
        "PSI-SR"
    )
    named = rows["kind"].isin([claim_row.CONTRAST, claim_row.NUMBER])
    assert (is_about_psi_sr[named] == hangs[named]).all()
    typed = set(claim_row.read_typed("statements.yml"))
    assert typed == set(checks.checks())
    ends = [
        paper.least_target_ratio(14, low, high)
        for low, high in ((118.37, 147.21), (95.01, 152.16))
    ]
    assert np.sign(np.subtract(ends, 1)).tolist() == [1, -1]


@pytest.mark.slow
def test_measured_tables_replace_the_papers_tables():
    """Word sums stand for GSM8K, and PIQA's questions for PIQA."""
    part = results.read_result("measured")
    ours = claims.replace_paper_tables(results.MEASURED)
    for name, of in (("word-sums", "gsm8k"), ("piqa-small", "piqa")):
        assert part.loc[part["dataset"] == name, "mean"].equals(
            ours.loc[ours["dataset"] == of, "mean"]
        )
