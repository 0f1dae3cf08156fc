"""The reconstructions: stored parameters, bundled tables and the command."""

import inspect
import re

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import cobandit as cb
from cobandit.cli import app as cli
from cobandit.companion import reconstruction
from cobandit.companion.paper.experiments import FOURTEEN
from cobandit.companion.reconstruction import facts, hierarchy, instances, sampler
from cobandit.companion.reconstruction.pool import EXACT
from cobandit.companion.reconstruction.settings import NAMED, SETTINGS
from cobandit.errors import CobanditError
from cobandit.policies.registry import KERNELS
from cobandit.tables.catalogue import data_directory

NAMES = list(SETTINGS)


@pytest.fixture(scope="module", params=NAMES)
def name(request):
    return request.param


@pytest.fixture(scope="module")
def bundled(name):
    """The bundled records, as they are in the file."""
    return pd.read_parquet(data_directory() / f"{name}.parquet")


@pytest.fixture(scope="module")
def state(name):
    return reconstruction.tables_of(name)[0].state


# --- the bundled tables -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_regenerating_gives_the_bundled_table(name, bundled):
    again = reconstruction.rows_of(name, reconstruction.tables_of(name)[0].state)
    assert list(again.columns) == list(bundled.columns)
    for column in bundled:
        if isinstance(again[column].dtype, pd.CategoricalDtype):
            assert (again[column].astype(str).to_numpy() == bundled[column].astype(str).to_numpy()).all()
        else:
            assert again[column].dtype == bundled[column].dtype
            assert (again[column].to_numpy() == bundled[column].to_numpy()).all()


@pytest.mark.slow
def test_bundled_table_is_a_checked_reconstruction(name):
    table = cb.load(name)
    assert table.kind == "reconstruction" and "reconstruction" in table.title.lower()
    assert table.objectives == ("accuracy", "efficiency") and table.card.cost.unit == "tokens"
    assert set(table.n_instances) == {1000} and table.n_arms == SETTINGS[name].n_arms
    assert cb.datasets().set_index("name").loc[name, "availability"] == "bundled"


def test_bundled_files_are_small():
    files = [path for name in NAMES for path in data_directory().glob(f"{name}.*")]
    files.append(data_directory() / reconstruction.STORE)
    assert len(files) == 5
    assert sum(path.stat().st_size for path in files) < 2_000_000


@pytest.mark.slow
def test_grid_is_full_and_named(name, bundled):
    arms = bundled.drop_duplicates("config")
    assert arms["config"].astype(str).is_monotonic_increasing  # the sampler and a replay break ties alike
    assert len(arms) == SETTINGS[name].n_arms
    columns = ["model", "temperature", "max_tokens", "prompt"]
    counts = [arms[column].nunique() for column in columns]
    assert np.prod(counts) == len(arms) == len(arms.drop_duplicates(columns))
    assert set(NAMED) <= set(arms["model"])
    assert cb.load(name).subset(FOURTEEN).n_arms == 14


def test_values_are_what_the_columns_say(name, bundled):
    assert set(bundled["correct"]) == {0, 1}
    assert (bundled["tokens"] >= 1).all() and (bundled["tokens"] <= bundled["max_tokens"]).all()
    ms = bundled["latency_s"] * 1000
    assert (ms >= 1).all() and np.allclose(ms, ms.round(), atol=1e-6)


@pytest.mark.slow
def test_exact_facts_are_met(name, state):
    """Table 1 to the printed digit, the sizes of two fronts, which arm is best."""
    deviations = facts.from_means(name, facts.landscape(state, facts.scene(name, state)))
    assert (deviations[EXACT] == 0).all()
    setting, table = SETTINGS[name], cb.load(name)
    everything, latency = table.summary("all"), table.raw_means["latency_s"]
    assert everything["on_front"].sum() == setting.front
    for ends, values, digit in (
        (setting.accuracy, everything["accuracy"], 0.001),
        (setting.latency, latency, 0.001),
        (setting.tokens, everything["cost"], 0.1),
        (setting.profiling_tokens, table.costs, 0.01),
    ):
        assert [values.min(), values.max()] == pytest.approx(list(ends), abs=digit / 2 + 1e-9)
    assert table.cost_range[1] == setting.limits[1]


@pytest.mark.slow
def test_cost_and_efficiency_depend_on_each_other(name):
    rows = cb.load(name).rows
    assert rows.groupby("config", observed=True)[["cost", "efficiency"]].corr().iloc[::2, 1].mean() < -0.05


# --- the posterior ----------------------------------------------------------------------------------------


def test_tables_of_ten_runs_are_stored(name):
    stored = reconstruction.tables_of(name)
    assert len(stored) >= 100 and len({table.run for table in stored}) >= 10
    assert len({table.seed for table in stored}) == len(stored)  # no two are played on the same evaluations


def test_every_stored_state_is_a_table(name):
    for number, table in enumerate(reconstruction.tables_of(name)):
        assert hierarchy.means(SETTINGS[name], table.state) is not None, number


@pytest.mark.slow
def test_another_table_is_drawn(name):
    table = reconstruction.table(name, 3)
    assert table.kind == "reconstruction" and table.n_arms == SETTINGS[name].n_arms
    assert (table.truth().means != cb.load(name).truth().means).any()


def test_unknown_tables_are_refused():
    with pytest.raises(CobanditError, match="gsm8k has tables 0 to"):
        reconstruction.table("gsm8k", 9999)
    with pytest.raises(CobanditError, match="Did you mean 'gsm8k'"):
        reconstruction.tables_of("gms8k")


@pytest.mark.slow
def test_the_sampler_runs_no_method_that_is_predicted(name, state, monkeypatch):
    """What the paper's algorithms do on a reconstruction must not be able to influence it."""
    played = set()

    for policy, kernel in list(KERNELS.items()):

        def run(*arguments, _key=policy.__name__, _run=kernel.run):
            played.add(_key)
            return _run(*arguments)

        monkeypatch.setitem(KERNELS, policy, kernel._replace(run=run))

    land = facts.landscape(state, facts.scene(name, state))
    facts.from_means(name, land)
    facts.identified(name, land, 1)
    facts.accuracy_cost(name, land, 1, 12)
    assert played == {"AccuracyCostUCB"}  # uniform allocation follows from means
    for module in (facts, hierarchy, instances, sampler):
        assert not re.search(r"CoHVUCB|HVUCB|CoPSI|PSISR|_cohv|_hv_|eliminate", inspect.getsource(module))


# --- the command ------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_command_writes_the_bundled_table(name, bundled, tmp_path):
    done = CliRunner().invoke(cli.app, ["reconstruct", name, "-o", str(tmp_path)])
    assert done.exit_code == 0 and "pareto arms" in done.output and "written" in done.output
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / f"{name}.parquet"), bundled)
    cards = [(place / f"{name}.yml").read_text() for place in (tmp_path, data_directory())]
    assert cards[0].split("sha256")[0] == cards[1].split("sha256")[0]
    assert cb.read(tmp_path / f"{name}.parquet").n_arms == SETTINGS[name].n_arms


@pytest.mark.slow
def test_command_writes_another_table(tmp_path):
    done = CliRunner().invoke(cli.app, ["reconstruct", "gsm8k", "-o", str(tmp_path), "--number", "2"])
    assert done.exit_code == 0
    written = pd.read_parquet(tmp_path / "gsm8k.parquet")
    expected = reconstruction.rows_of("gsm8k", reconstruction.tables_of("gsm8k")[2].state)
    assert (written["tokens"] == expected["tokens"]).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["gsm9k", "-o", "."], "unknown reconstruction 'gsm9k'. Did you mean 'gsm8k'"),
        (["gsm8k", "-o", "nowhere"], "there is no such folder"),
        (["gsm8k", "--number", "9999"], "has tables 0 to"),
    ],
)
def test_command_refuses_bad_arguments(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(cli.app, ["reconstruct", *arguments])
    assert isinstance(done.exception, CobanditError) and message in str(done.exception)
    assert not list(tmp_path.iterdir())
