"""The catalogue: bundled, mirrored, cached and fetched tables, all offline."""

import shutil
from pathlib import Path

import numpy as np
import pooch
import pytest
from pooch import hashes
from support.faults import bad_argument, fault

from cobandit.errors import DatasetUnavailable, TableError
from cobandit.tables import available, datasets, load, swebench
from cobandit.tables.card import read_card
from cobandit.tables.catalogue import data_directory
from cobandit.tables.storage import file_sha256

SWEBENCH = "swebench-bash-only"


@pytest.fixture
def offline(monkeypatch, tmp_path):
    """No mirror, an empty cache and a failing downloader; the cached file's path."""

    def refuse(url, output_file, registry):
        raise ConnectionError("no route to host")

    monkeypatch.delenv("COBANDIT_MIRROR", raising=False)
    monkeypatch.delenv("COBANDIT_OFFLINE")
    monkeypatch.setattr(pooch, "os_cache", lambda project: tmp_path / "cache" / project)
    monkeypatch.setattr(pooch, "HTTPDownloader", lambda **_: refuse)
    return tmp_path / "cache" / "cobandit" / SWEBENCH / "leaderboards.json"


def test_datasets_lists_licence_and_attribution():
    listed = datasets().set_index("name")
    assert {SWEBENCH, "synthetic-24"} <= set(listed.index)
    assert listed.loc[SWEBENCH, "license"] == "CC BY-NC 4.0"
    assert "SWE-bench" in listed.loc[SWEBENCH, "attribution"]
    assert listed.loc["synthetic-24", "kind"] == "synthetic"
    assert listed.loc["synthetic-24", "availability"] == "bundled"
    measured = listed.loc[
        ["word-sums", "piqa-small"], ["kind", "availability", "license"]
    ]
    assert measured.drop_duplicates().to_numpy().tolist() == [
        ["measured", "bundled", "CC0-1.0"]
    ]


def test_bundled_cards_have_names_and_checksums():
    cards = list(data_directory().glob("*.yml"))
    assert len(cards) == len(datasets())
    for path in cards:
        card = read_card(path)
        assert card.name == path.stem
        assert (
            card.origin is not None
            or file_sha256(path.parent / card.records) == card.sha256
        )


@pytest.mark.parametrize(
    ("name", "suggestion"),
    [("synthetic24", "synthetic-24"), ("SWEbench-bash", SWEBENCH)],
)
def test_unknown_names_suggest_the_nearest(name, suggestion):
    for call in (load, available):
        with fault("unknown-table", names=[repr(name)], remedy=f"'{suggestion}'?"):
            call(name)
    with fault("unknown-table", names=["'zzz'"], remedy="synthetic-24"):
        load("zzz")


# The real table.


@pytest.mark.slow
def test_swebench_table_matches_its_origin(mirror):
    table = load(SWEBENCH)
    assert table.n_arms == 24
    assert set(table.n_instances) == {500}
    assert table.objectives == ("accuracy", "efficiency")
    rows = table.rows
    assert rows["split"].value_counts().to_dict() == {
        "evaluation": 24 * 400,
        "profiling": 24 * 100,
    }
    summary = table.summary()
    assert (
        round(summary["accuracy"].min(), 3),
        round(summary["accuracy"].max(), 3),
    ) == (0.090, 0.744)
    assert (round(summary["cost"].min(), 3), round(summary["cost"].max(), 3)) == (
        0.028,
        1.131,
    )
    assert (round(rows["cost"].min(), 4), round(rows["cost"].max(), 2)) == (
        0.0004,
        3.29,
    )
    assert "Claude 3.7 Sonnet (20250219)" not in table.configs
    assert any(
        "Claude 3.7 Sonnet" in note and "10.2 %" in note and "52.8 %" in note
        for note in table.notes
    )
    assert any("6 entries without per-instance rows" in note for note in table.notes)
    assert table.arms["open_weights"].sum() == 10
    assert table.subset("open_weights").n_arms == 10


@pytest.mark.slow
def test_swebench_calls_match_the_file(mirror):
    frame, _ = swebench.read_submissions(mirror / SWEBENCH / "leaderboards.json")
    calls = frame.groupby("config")["api_calls"].mean()
    assert (round(calls.min(), 1), round(calls.max(), 1)) == (13.2, 86.9)
    table = load(SWEBENCH)
    fast, slow = table.limits["efficiency"]
    rows = table.rows.astype({"config": str, "instance": str}).merge(
        frame, on=["config", "instance"]
    )
    expected = np.clip((1 / rows["api_calls"] - 1 / slow) / (1 / fast - 1 / slow), 0, 1)
    np.testing.assert_allclose(rows["efficiency"], expected, atol=1e-12)
    profiling = rows.loc[rows["split"] == "profiling", "api_calls"]
    assert (fast, slow) == tuple(np.percentile(profiling, [5, 95]))


@pytest.mark.slow
def test_mirror_suffices(offline, mirror):
    assert available(SWEBENCH)
    assert datasets().set_index("name").loc[SWEBENCH, "availability"] == "mirror"
    assert load(SWEBENCH).n_arms == 24


@pytest.mark.slow
def test_cache_suffices(mirror, offline):
    offline.parent.mkdir(parents=True)
    shutil.copyfile(mirror / SWEBENCH / "leaderboards.json", offline)
    assert available(SWEBENCH)
    assert datasets().set_index("name").loc[SWEBENCH, "availability"] == "cached"
    assert load(SWEBENCH).n_arms == 24


@pytest.mark.slow
def test_download_is_cached(mirror, offline, monkeypatch):
    def serve(url, output_file, registry):
        assert "f1176b65ae29d14f4f52208b48e3d8cfc972bc17" in url
        shutil.copyfile(mirror / SWEBENCH / "leaderboards.json", output_file)

    monkeypatch.setattr(pooch, "HTTPDownloader", lambda **_: serve)
    assert not available(SWEBENCH)
    assert load(SWEBENCH).n_arms == 24
    assert offline.is_file() and available(SWEBENCH)
    assert [path.name for path in offline.parent.iterdir()] == [offline.name], (
        "nothing temporary is left"
    )


# Unavailable tables.


@pytest.mark.slow
def test_unavailable_table_reports_attempts_and_remedy(offline, monkeypatch, tmp_path):
    assert not available(SWEBENCH)
    with pytest.raises(DatasetUnavailable) as error:
        load(SWEBENCH)
    text = str(error.value)
    tried = ["COBANDIT_MIRROR is not set", f"there is no {offline}", "no route to host"]
    for part in [
        *tried,
        "https://raw.githubusercontent.com/SWE-bench",
        "set COBANDIT_MIRROR",
        f"{SWEBENCH}/leaderb",
    ]:
        assert part in text
    monkeypatch.setenv("COBANDIT_MIRROR", str(tmp_path / "mirror"))
    with bad_argument("not-fetched", SWEBENCH, [str(tmp_path / "mirror")]):
        load(SWEBENCH)


def test_offline_mode_makes_no_request(offline, monkeypatch):
    monkeypatch.setattr(
        pooch, "retrieve", lambda *_, **__: pytest.fail("the origin was asked")
    )
    monkeypatch.setenv("COBANDIT_OFFLINE", "1")
    with bad_argument("not-fetched", SWEBENCH, ["PermissionError", "COBANDIT_OFFLINE"]):
        load(SWEBENCH)


def test_mirror_with_another_file_is_refused(offline, monkeypatch, tmp_path):
    wrong = tmp_path / SWEBENCH / "leaderboards.json"
    wrong.parent.mkdir()
    wrong.write_text("{}")
    monkeypatch.setenv("COBANDIT_MIRROR", str(tmp_path))
    with pytest.raises(TableError) as error:
        load(SWEBENCH)
    text = str(error.value)
    assert (
        str(wrong) in text
        and hashes.file_hash(wrong) in text
        and "91bb31c7b8b6" in text
    )


def test_damaged_cache_is_not_used(offline):
    offline.parent.mkdir(parents=True)
    offline.write_text("{}")
    assert not available(SWEBENCH)
    with bad_argument("not-fetched", SWEBENCH, [f"damaged {offline}"]):
        load(SWEBENCH)


def test_download_with_wrong_checksum_is_refused(offline, monkeypatch):
    def ask(url, output_file, registry):
        Path(output_file).write_bytes(b"<html>please log in</html>")

    monkeypatch.setattr(pooch, "HTTPDownloader", lambda **_: ask)
    with bad_argument("not-fetched", SWEBENCH, ["hash"]):
        load(SWEBENCH)
    assert not offline.exists()
