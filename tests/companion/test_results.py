"""Stored results: fresh, whole, and the same when a part is recomputed."""

import json
import shutil
from contextlib import nullcontext
from types import SimpleNamespace

import pandas as pd
import pytest
from support.faults import bad_argument

from companion import paper
from companion.paper import contrasts
from companion.stored import code_digest, results, store


@pytest.fixture
def stored(tmp_path, monkeypatch):
    """A copy of the stored results that a test may damage."""
    folder = tmp_path / "results"
    shutil.copytree(results.results_directory(), folder)
    monkeypatch.setattr(store, "results_directory", lambda: folder)
    monkeypatch.setattr(results, "results_directory", lambda: folder)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("name", store.list_expected())
def test_results_match_the_data_at_hand(name):
    """Fails when the data have changed since: run make results."""
    assert (
        len(results.read_result(name)) and store.read_manifest()[name]["seconds"] >= 0
    )


@pytest.mark.slow
def test_recomputed_audit_block_matches():
    part = results.recompute("audit", "gsm8k", 20, 3)
    assert set(part["n"]) == {results.AUDIT_BLOCK}


@pytest.mark.acceptance
def test_recomputed_remarks_match():
    assert len(results.recompute("remarks", "piqa-small")) > 10


@pytest.mark.acceptance
def test_recomputed_runs_of_once_match():
    assert set(results.recompute("once", "piqa-small")["share"]) == {*results.SHARES}


@pytest.mark.slow
def test_results_are_stored_for_the_default_arguments_only():
    """Other tables and arguments are computed."""
    stored = results.replicate("piqa-small")
    assert stored.equals(
        results.read_result("measured").query("dataset == 'piqa-small'")
    )
    few = results.replicate("piqa-small", 0.02, online=False)
    assert set(few["experiment"]) < set(stored["experiment"])
    assert few["runs"].max() < stored["runs"].max()

    wrong = results.evaluate_once("piqa-small", [1.0], 3).query("quantity == 'wrong'")
    assert set(wrong["runs"]) == {3}
    assert set(results.evaluate_once("piqa-small")["runs"]) == {results.ORDERS}


@pytest.mark.acceptance
def test_recomputed_posterior_table_matches():
    """Fails when a change of the code changes a draw of a table or a replay."""
    for name, kind in (("piqa", "table"), ("gsm8k", "prior"), ("piqa", "other")):
        plays = results.read_result("posterior")
        plays = plays[
            (plays["dataset"] == name)
            & (plays["kind"] == kind)
            & (plays["key"] == "kept")
        ]
        number = int(plays.loc[plays["value"] == 1, "number"].iloc[-1])
        assert set(results.recompute("posterior", name, kind, number)["number"]) == {
            number
        }


@pytest.mark.slow
@pytest.mark.parametrize("name", ["swebench", "swebench-once"])
def test_recomputed_result_of_unbundled_table_matches(name, mirror):
    for arguments in results.RESULTS[name].arguments():
        results.recompute(name, *arguments)


@pytest.mark.slow
def test_result_without_its_table_is_not_recomputed(stored, capsys):
    before = (stored / "manifest.json").read_text()
    results.make(["swebench", "ledger"], workers=1)
    assert "its table is not on this machine" in capsys.readouterr().err
    assert (stored / "manifest.json").read_text() == before and len(
        results.read_result("swebench")
    )


@pytest.mark.slow
def test_differing_part_is_refused(stored):
    frame = pd.read_parquet(stored / "audit.parquet")
    frame["second"] += 1
    frame.to_parquet(stored / "audit.parquet", index=False)
    with bad_argument("damaged-result", "audit"):
        results.read_result("audit")
    known = json.loads((stored / "manifest.json").read_text())
    known["audit"]["sha256"] = store.file_sha256(stored / "audit.parquet")
    (stored / "manifest.json").write_text(json.dumps(known))
    with bad_argument("other-numbers", "audit", ["gsm8k"]):
        results.recompute("audit", "gsm8k", 20, 3)


def test_results_of_other_data_are_refused(stored, monkeypatch):
    monkeypatch.setattr(store.Result, "checksum_data", lambda self: "other")
    with bad_argument("other-data", "posterior", ["make results"]):
        results.read_result("posterior")


@pytest.mark.slow
def test_drawing_starts_from_the_stored_tables(stored, monkeypatch, tmp_path):
    """Stored tables are not drawn again; new numbers follow until enough are kept."""
    store.remove_result("waiting")
    before = results.read_result("posterior")
    of = (
        before[before["key"] == "kept"]
        .groupby(["dataset", "kind"])["value"]
        .agg(["size", "sum"])
    )
    wanted = {
        kind: 1 + int(of.xs(kind, level="kind")["sum"].max()) for kind in results.WANTED
    }
    drawn = []

    def play(name, kind, number):
        drawn.append((name, kind, number))
        row = {
            "reading": "default",
            "key": "kept",
            "value": float(number % 2),
            "dataset": name,
        }
        return pd.DataFrame([row | {"kind": kind, "number": number}])

    monkeypatch.setattr(results, "WANTED", wanted)
    monkeypatch.setattr(
        results, "Memory", lambda *_, **__: SimpleNamespace(cache=lambda _: play)
    )
    monkeypatch.setattr(results, "store_ledger", lambda: None)
    results.draw_tables(str(tmp_path), workers=1)
    after = results.read_result("posterior")
    first = {place: int(counts["size"]) for place, counts in of.iterrows()}
    for (name, kind), size in first.items():
        numbers = [
            number
            for table_name, of_kind, number in drawn
            if (table_name, of_kind) == (name, kind)
        ]
        assert numbers == list(range(size, size + len(numbers)))
    assert {name for name, kind, _ in drawn if kind == "table"} == {"gsm8k", "piqa"}
    kept_now = after[after["key"] == "kept"].groupby(["dataset", "kind"])["value"].sum()
    assert all(kept_now[place] >= wanted[place[1]] for place in first)
    keys = ["dataset", "kind", "number", "reading", "key"]
    old = after[~after.set_index(keys[:3]).index.isin(drawn)]
    assert before.sort_values(keys, ignore_index=True).equals(
        old.sort_values(keys, ignore_index=True)
    )


@pytest.mark.acceptance
def test_interrupted_drawing_stores_waiting_tables(stored, monkeypatch, tmp_path):
    """No page sees them before, and none is drawn twice."""
    store.remove_result("waiting")
    before = results.read_result("posterior")
    n_kept = (
        before[(before["key"] == "kept") & (before["kind"] == "table")]
        .groupby("dataset")["value"]
        .sum()
    )
    monkeypatch.setattr(results, "WANTED", {"table": int(n_kept.max()) + 25})
    monkeypatch.setattr(results, "store_ledger", lambda: None)
    drawn = []
    patience = [23]

    def play(name, kind, number):
        if len(drawn) == patience[0]:
            raise KeyboardInterrupt
        drawn.append((name, kind, number))
        row = {"reading": "default", "key": "kept", "value": 1.0, "dataset": name}
        return pd.DataFrame([row | {"kind": kind, "number": number}])

    monkeypatch.setattr(
        results, "Memory", lambda *_, **__: SimpleNamespace(cache=lambda _: play)
    )
    with pytest.raises(KeyboardInterrupt):
        results.draw_tables(str(tmp_path), workers=1)
    assert len(results.read_result("waiting")) == 23
    assert results.read_result("posterior").equals(before)
    patience[0] = 10**6
    results.draw_tables(str(tmp_path), workers=1)
    assert len(drawn) == len(set(drawn))
    assert (
        "waiting" not in store.read_manifest()
        and not (stored / "waiting.parquet").exists()
    )
    after = results.read_result("posterior")
    assert len(after) == len(before) + len(drawn)


@pytest.mark.acceptance
def test_drawing_restarts_after_a_change_of_code(stored, monkeypatch):
    known = json.loads((stored / "manifest.json").read_text())
    assert len(store.read_current_parts("posterior")) > 1000
    known["posterior"]["code"] = "other"
    (stored / "manifest.json").write_text(json.dumps(known))
    assert store.read_current_parts("posterior") == {}
    (stored / "posterior.parquet").unlink()
    assert store.read_current_parts("posterior") == {}


def test_missing_results_name_the_remedy(stored):
    (stored / "posterior.parquet").unlink()
    with bad_argument("not-stored", "posterior", [str(stored), "make results"]):
        results.read_result("posterior")
    with bad_argument("unknown-choice", "result", ["'posteriro'"]):
        results.read_result("posteriro")


def test_every_number_has_a_row_in_the_stored_ledger():
    """Each printed number has one row, and each predicted one a prediction."""
    rows = results.read_ledger()
    numbers = [n for n in paper.published() if n.role in paper.RESULT_ROLES]
    assert rows["key"].tolist() == [n.key for n in numbers]
    tested = rows[
        rows["role"].isin(("predicted", "arithmetic"))
        & (rows["experiment"] != "tuning")
    ]
    assert rows.loc[rows["role"] == "used", "predicted_low"].isna().all()
    assert tested.loc[tested["against"].isna(), "ours"].notna().all()
    predicted = tested[tested["role"] == "predicted"]
    assert len(predicted) > 30 and predicted[
        ["predicted_low", "predicted_high"]
    ].notna().all(axis=None)


def test_stored_tables_have_consecutive_numbers():
    """Numbers count up from 0 without a gap, and unkept tables have no plays."""
    plays = results.read_result("posterior")
    for _, part in plays.groupby(["dataset", "kind"]):
        assert sorted(part["number"].unique()) == list(range(part["number"].nunique()))
        missed = part.loc[(part["key"] == "kept") & (part["value"] == 0), "number"]
        assert (part[part["number"].isin(missed)]["key"] == "kept").all()


@pytest.mark.acceptance
def test_scores_are_widened_by_the_calibration():
    assert (
        paper.widening(paper.calibrate(results.read_result("posterior")))
        == contrasts.WIDENING
    )


@pytest.mark.slow
def test_stored_ledger_matches_the_stored_results():
    """After a change of the rule, run python -m companion.stored.results ledger."""
    stored = {name: results.read_result(name) for name in results.BEHIND_LEDGER}
    assert not store.compare_frames(
        results.read_ledger(), results.make_ledger(stored), ["key"]
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("names", "kind", "known"),
    [
        (["gsm8k", "piqa"], "reconstruction", True),
        (["gsm8k"], "measured", False),
        (["gsm8k", "mine"], "reconstruction", False),
    ],
)
def test_only_bundled_reconstructions_have_predictions(names, kind, known):
    """A table of the same name that someone measured is another one."""
    tables = [
        SimpleNamespace(name=name, card=SimpleNamespace(kind=kind)) for name in names
    ]
    assert (results.predict_printed(tables) is not None) == known


@pytest.mark.slow
def test_audit_decides_claims_about_errors():
    """Its replays separate what the paper's number of them cannot."""
    few = paper.verdicts(results.read_result("replication"))
    many = paper.verdicts(results.ledger_cells())
    assert few["uniform-competitive-at-the-start"] == "holds"  # within a tenth
    assert many["uniform-competitive-at-the-start"] == "fails"  # 0.71 against 0.61
    assert set(few.index[few != many]) <= {
        claim.key for claim in paper.claims() if claim.experiment == "identification"
    }


def test_results_come_from_the_code_at_hand():
    """A failure means that the code behind a result has changed since."""
    listed = [
        name for name in store.list_stale() if "code" in store.read_manifest()[name]
    ]
    assert not listed, "-> run: python -m companion.stored.results confirm"


SMALL = {
    "cobandit.facts": (
        """
from pathlib import Path

def read():
    return Path(__file__).with_name("facts.yml").read_text()
"""
    ),
    "cobandit.facts.yml": "mean: 0.5",
    "cobandit.policies.__init__": "from cobandit.policies.one import One",
    "cobandit.policies.one": (
        '''
from cobandit.theory import bound

class One:
    """Words."""

    def ask(self):
        return bound(self.n)
'''
    ),
    "cobandit.theory": (
        """
from cobandit._budget import SLACK

def bound(n):
    # why
    return 2 * n + SLACK

def other(n):
    return n
"""
    ),
    "cobandit._budget": "SLACK = 1e-9\n",
    "cobandit.replay.kernels.fast": (
        """
from cobandit import policies

@policies.register(policies.One)
def _index(n):
    return n
"""
    ),
    "cobandit.result": (
        '''
from cobandit.facts import read

METHODS = ("One",)

def part(name):
    """Words."""
    return play(METHODS) + read()

def play(methods):
    return methods
'''
    ),
}


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Return the checksum of a small package's result after a change."""

    def checksum(module="", old="", new=""):
        for name, text in SMALL.items():
            suffix = ".yml" if name.endswith(".yml") else ".py"
            path = tmp_path.joinpath(*name.removesuffix(".yml").split(".")).with_suffix(
                suffix
            )
            path.parent.mkdir(parents=True, exist_ok=True)
            changed = text.replace(old, new) if name == module else text
            assert module != name or changed != text
            path.write_text(changed)

        for cached in ("_tree", "_bound", "_kernels", "_definition"):
            getattr(code_digest, cached).cache_clear()
        return code_digest.code_checksum(
            SimpleNamespace(__module__="cobandit.result", __name__="part")
        )

    monkeypatch.setattr(code_digest, "PACKAGES", {"cobandit": tmp_path / "cobandit"})
    yield checksum
    for cached in ("_tree", "_bound", "_kernels", "_definition"):
        getattr(code_digest, cached).cache_clear()


@pytest.mark.parametrize(
    ("module", "old", "new", "counts"),
    [
        ("cobandit.result", "return methods", "return methods[:1]", True),
        ("cobandit.result", '("One",)', '("One", "Two")', True),
        ("cobandit.policies.one", "self.n)", "self.n + 1)", True),
        ("cobandit.theory", "2 * n", "3 * n", True),
        ("cobandit._budget", "1e-9", "1e-8", True),
        ("cobandit.facts.yml", "0.5", "0.6", True),
        ("cobandit.replay.kernels.fast", "return n", "return -n", True),
        # of a function that nothing calls
        ("cobandit.theory", "    return n\n", "    return -n\n", False),
        ("cobandit.theory", "# why", "# because", False),
        ("cobandit.result", "Words", "Other words", False),
        ("cobandit.policies.one", "\n\nclass", "\nclass", False),
    ],
)
def test_code_digest_covers_all_reached_definitions(package, module, old, new, counts):
    before = package()
    assert (package(module, old, new) != before) == counts


def test_stale_results_are_confirmed_by_a_sample(stored, monkeypatch):
    def part(name, block):
        return pd.DataFrame({"dataset": [name], "block": block, "mean": factor * block})

    blocks = [(name, block) for name in "ab" for block in range(3)]
    monkeypatch.setattr(
        store, "RESULTS", {"small": store.Result(part, lambda: blocks, (), False)}
    )
    monkeypatch.setattr(store, "code_checksum", lambda part: code)
    monkeypatch.setattr(store, "spread", lambda **how: nullcontext())
    factor = 0.5
    code = "old"
    store.write_result("small", [part(*entry) for entry in blocks], 0.0)
    factor = 0.6
    code = "wrong"
    (outcome,) = store.confirm()
    assert len(outcome.differences) == 2 and list(store.list_stale()) == ["small"]
    factor = 0.5
    code = "new"
    (outcome,) = store.confirm()
    assert (
        outcome.computed == 2
        and not outcome.differences
        and not list(store.list_stale())
    )
