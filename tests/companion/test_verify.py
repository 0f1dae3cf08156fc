"""``cobandit-book verify`` on small stored results, intact and damaged."""

import json
import re
import shutil

import numpy as np
import pandas as pd
import pytest
from support.commands import call_book
from support.faults import bad_argument

from companion import paper
from companion.paper.predictive import printed_values
from companion.stored import results, store


def small_cells(name, tuned):
    """Return cells that agree with printed numbers, instead of replays."""
    coordinates = ["dataset", "experiment", "quantity", "method", "rho", "costs"]
    rows = [
        {key: getattr(number, key) for key in coordinates} | {"mean": number.value}
        for number in paper.published()
        if number.role in paper.RESULT_ROLES
        and number.operation is None
        and number.dataset == name
    ]
    cells = pd.DataFrame(rows).drop_duplicates(coordinates, ignore_index=True)
    cells = cells[cells["experiment"].eq("tuning") == tuned].dropna(axis=1, how="all")
    return cells.assign(low=cells["mean"] * 0.99, high=cells["mean"] * 1.01)


def small_play(name, kind, number):
    """What a table would print: the paper's numbers, spread a little."""
    printed = {
        key: value for key, value in printed_values().items() if key.startswith(name)
    }
    scale = 1 + 0.01 * np.random.default_rng(number).normal(size=len(printed))
    values = {"kept": 1.0} | {
        key: min(value * s, 0.99) if value < 1 else value * s
        for (key, value), s in zip(printed.items(), scale, strict=True)
    }
    known = pd.Series(values).rename_axis("key").reset_index(name="value")
    return known.assign(dataset=name, kind=kind, number=number, reading="default")


def small_block(name, rho, block):
    return pd.DataFrame(
        {
            "dataset": name,
            "rho": float(rho),
            "method": ["CoPSI", "PSISR"],
            "options": "",
            "n": 5,
        }
    ).assign(first=[1, 1], second=[block, 0], both=0, block=block)


def use(patch, folder, known):
    patch.setattr(store, "code_checksum", lambda part: "code")
    for module in (store, results):
        patch.setattr(module, "results_directory", lambda: folder)
        patch.setattr(module, "RESULTS", known)


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """Store results with trivial parts by the code of the real ones."""
    folder = tmp_path_factory.mktemp("stored") / "results"
    parts = {
        "replication": (
            lambda name: small_cells(name, tuned=False),
            lambda: [(name,) for name in results.NAMES],
        ),
        "tuning": (
            lambda name: small_cells(name, tuned=True),
            lambda: [(name,) for name in results.NAMES],
        ),
        "posterior": (
            small_play,
            lambda: [(name, "table", i) for name in results.NAMES for i in range(40)],
        ),
        "audit": (small_block, lambda: [("gsm8k", 20, block) for block in range(3)]),
    }
    known = {
        name: results.RESULTS[name]._replace(part=part, arguments=arguments)
        for name, (part, arguments) in parts.items()
    }
    with pytest.MonkeyPatch.context() as patch:
        use(patch, folder, known)
        results.make(workers=1)

    return folder, known


@pytest.fixture
def stored(small, tmp_path, monkeypatch):
    """A copy of them that a test may damage."""
    made, known = small
    folder = tmp_path / "results"
    shutil.copytree(made, folder)
    use(monkeypatch, folder, known)
    return folder


def rewrite(folder, name, change):
    """Change a stored frame and make its manifest agree with it."""
    path = folder / f"{name}.parquet"
    change(pd.read_parquet(path)).to_parquet(path, index=False)
    known = json.loads((folder / "manifest.json").read_text())
    known[name]["sha256"] = store.file_sha256(path)
    (folder / "manifest.json").write_text(json.dumps(known))


@pytest.mark.slow
@pytest.mark.parametrize(
    "options", [[], ["--fast"], ["--workers", 2, "--backend", "threading"]]
)
def test_stored_results_verify(stored, options):
    done = call_book("verify", *options)
    assert done.exit_code == 0, done.output
    assert "all recomputed parts agree" in done.output
    row = re.findall(r"posterior\D+(\d+)\D+80\b", done.output)  # recomputed, of so many
    assert row == ["2" if "--fast" in options else "80"]


@pytest.mark.slow
def test_unknown_back_end_is_refused(stored):
    done = call_book("verify", "--backend", "treading")
    with bad_argument("unknown-choice", "backend", ["'threading'"]):
        raise done.exception


def spoil_ledger(folder):
    text = (folder / "ledger.csv").read_text()
    number = pd.read_csv(folder / "ledger.csv").dropna(subset=["predicted_low"]).iloc[0]
    (folder / "ledger.csv").write_text(
        text.replace(f"{number['predicted_low']}", "0.123", 1)
    )


def spoil_files(folder):
    with (folder / "audit.parquet").open("ab") as file:
        file.write(b"x")
    (folder / "ledger.csv").unlink()


def rewriting(name, change):
    return lambda folder: rewrite(folder, name, change)


AUDIT = ["audit: gsm8k", ": second is "]
REPLICATION = ["replication: gsm8k"]
DAMAGE = [
    (spoil_ledger, True, ["ledger: ", ": predicted_low is 0.123, recomputed"]),
    (
        rewriting("audit", lambda f: f.assign(second=f["second"] + (f["block"] == 2))),
        False,
        AUDIT,
    ),
    (
        rewriting("replication", lambda f: f.assign(mean=f["mean"] * 1.001)),
        True,
        REPLICATION,
    ),
    (
        rewriting("posterior", lambda f: pd.concat([f, f.tail(3).assign(number=9)])),
        False,
        ["rows are"],
    ),
    (
        spoil_files,
        True,
        ["differs from the file that the manifest", "the ledger needs audit"],
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize(("damage", "fast", "says"), DAMAGE)
def test_verification_names_exactly_the_changes(stored, damage, fast, says):
    damage(stored)
    done = call_book("verify", *["--fast"] * fast)
    assert done.exit_code == 1 and all(part in done.output for part in says), (
        done.output
    )
    assert ("ledger: " in done.output) == any(
        "ledger" in part or "not compared" in part for part in says
    )


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda f: f, []),
        (lambda f: f.assign(mean=f["mean"] * (1 + 1e-12)), []),
        (lambda f: f.assign(mean=f["mean"] * (1 + 1e-6)), ["a: mean is", "b: mean is"]),
        (lambda f: f.assign(count=[1, 3, 3]), ["b: count is 2, recomputed 3"]),
        (
            lambda f: f.assign(mean=[0.5, np.nan, np.nan]),
            ["b: mean is 0.25, recomputed nan"],
        ),
        (lambda f: f.assign(mean=[0.5, 0.25, 0.0]), ["c: mean is nan, recomputed 0.0"]),
        (
            lambda f: f.rename(columns={"count": "n"}),
            ["do not have the same columns: count, n"],
        ),
        (lambda f: f.head(2), ["3 rows are stored, 2 recomputed"]),
    ],
)
def test_differences_of_frames_are_listed(change, says):
    frame = pd.DataFrame(
        {"key": ["a", "b", "c"], "mean": [0.5, 0.25, np.nan], "count": [1, 2, 3]}
    )
    result = store.compare_frames(frame, change(frame), ["key"])
    assert len(result) == len(says)
    assert all(text in line for text, line in zip(says, result, strict=True))
