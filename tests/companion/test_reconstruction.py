"""The reconstructions: bundled tables, drawn ones and the command."""

import numpy as np
import pandas as pd
import pytest
from support.faults import bad_argument
from support.sampling import sample
from typer.testing import CliRunner

import cobandit as cb
from cobandit.tables.catalogue import data_directory
from companion import reconstruction
from companion.cli import app as cli
from companion.paper.experiments import FOURTEEN
from companion.reconstruction import chain
from companion.reconstruction.hierarchy import NAMED, SETTINGS

NAMES = list(SETTINGS)


@pytest.fixture(scope="module", params=NAMES)
def name(request):
    return request.param


@pytest.fixture(scope="module")
def bundled(name):
    """The bundled records, as they are in the file."""
    return pd.read_parquet(data_directory() / f"{name}.parquet")


@pytest.mark.slow
def test_bundled_table_is_a_checked_reconstruction(name):
    table = cb.load(name)
    assert (
        table.kind == "reconstruction" and "reconstruction" in table.card.title.lower()
    )
    assert (
        table.objectives == ("accuracy", "efficiency")
        and table.card.cost.unit == "tokens"
    )
    assert set(table.n_instances) == {1000} and table.n_arms == SETTINGS[name].n_arms
    assert cb.datasets().set_index("name").loc[name, "availability"] == "bundled"


def test_bundled_files_are_small(name):
    assert (
        sum(path.stat().st_size for path in data_directory().glob(f"{name}.*"))
        < 1_500_000
    )


@pytest.mark.slow
def test_grid_is_full_and_named(name, bundled):
    arms = bundled.drop_duplicates("config")
    # the sampler and a replay break ties alike
    assert arms["config"].astype(str).is_monotonic_increasing
    assert len(arms) == SETTINGS[name].n_arms
    columns = ["model", "temperature", "max_tokens", "prompt"]
    counts = [arms[column].nunique() for column in columns]
    assert np.prod(counts) == len(arms) == len(arms.drop_duplicates(columns))
    assert set(NAMED) <= set(arms["model"])
    assert cb.load(name).subset(FOURTEEN).n_arms == 14


def test_values_match_their_columns(name, bundled):
    assert set(bundled["correct"]) == {0, 1}
    assert (bundled["tokens"] >= 1).all() and (
        bundled["tokens"] <= bundled["max_tokens"]
    ).all()
    ms = bundled["latency_s"] * 1000
    assert (ms >= 1).all() and np.allclose(ms, ms.round(), atol=1e-6)


@pytest.mark.slow
def test_exact_facts_are_met(name):
    """Table 1 to the printed digit, the size of the front."""
    setting = SETTINGS[name]
    table = cb.load(name)
    everything = table.summary("all")

    latency = table.raw_means["latency_s"]
    assert everything["on_front"].sum() == setting.front
    for ends, values, digit in (
        (setting.accuracy, everything["accuracy"], 0.001),
        (setting.latency, latency, 0.001),
        (setting.tokens, everything["cost"], 0.1),
        (setting.profiling_tokens, table.costs, 0.01),
    ):
        assert [values.min(), values.max()] == pytest.approx(
            list(ends), abs=digit / 2 + 1e-9
        )

    assert table.cost_range[1] == setting.limits[1]


@pytest.mark.slow
def test_cost_and_efficiency_are_dependent(name):
    rows = cb.load(name).rows
    assert (
        rows.groupby("config", observed=True)[["cost", "efficiency"]]
        .corr()
        .iloc[::2, 1]
        .mean()
        < -0.05
    )


def of_few_moves(monkeypatch, kept=True):
    """Chains of a second, whose tables are kept or not."""
    monkeypatch.setattr(
        chain, "STAGES", (chain.Stage(3, 0.1, 0.5, 10), chain.Stage(3, 0.1, 0.5, 1))
    )
    monkeypatch.setattr(chain, "STARTS", 2)
    monkeypatch.setattr(chain.Table, "kept", kept)


@pytest.mark.slow
@pytest.mark.parametrize("name", sample(NAMES))
def test_command_writes_a_table(name, tmp_path, monkeypatch):
    of_few_moves(monkeypatch)
    done = CliRunner().invoke(
        cli.app, ["reconstruct", name, "-o", str(tmp_path), "--number", "5"]
    )
    assert done.exit_code == 0 and "written" in done.output
    written = pd.read_parquet(tmp_path / f"{name}.parquet")
    pd.testing.assert_frame_equal(
        written, reconstruction.rows_of(name, chain.draw(name, 5))
    )
    card = (tmp_path / f"{name}.yml").read_text().split("sha256")[0]
    assert card == (data_directory() / f"{name}.yml").read_text().split("sha256")[0]
    assert cb.read(tmp_path / f"{name}.parquet").n_arms == SETTINGS[name].n_arms


@pytest.mark.parametrize(
    ("arguments", "code", "argument", "names"),
    [
        (["gsm9k", "-o", "."], "unknown-choice", "reconstruction", ["gsm9k", "gsm8k"]),
        (["gsm8k", "-o", "nowhere"], "no-folder", "--output", ["nowhere"]),
        (["gsm8k", "--number", "5"], "misses-fact", "number", ["gsm8k", "5"]),
    ],
)
def test_command_refuses_bad_arguments(
    arguments, code, argument, names, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    of_few_moves(monkeypatch, kept=False)
    with bad_argument(code, argument, names):
        CliRunner().invoke(cli.app, ["reconstruct", *arguments], catch_exceptions=False)
    assert not list(tmp_path.iterdir())
