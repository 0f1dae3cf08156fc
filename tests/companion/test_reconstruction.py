"""The reconstructions: generator, fitted targets, stored parameters, bundled tables and the command."""

import inspect
import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import cobandit as cb
from cobandit.cli import app as cli
from cobandit.companion import reconstruction
from cobandit.companion.reconstruction import fit, generator, loss, targets
from cobandit.companion.reconstruction.settings import N_PROFILING, SETTINGS, SUBSET
from cobandit.errors import CobanditError
from cobandit.replay import kernels
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
def command(name, tmp_path_factory):
    """The folder that `cobandit reconstruct` wrote, what it printed, and the targets that it replayed for."""
    folder, replayed, check_replays = tmp_path_factory.mktemp(name), [], targets.check_replays

    def spy(*arguments):
        replayed.extend(check_replays(*arguments))
        return replayed

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(targets, "check_replays", spy)
        done = CliRunner().invoke(cli.app, ["reconstruct", name, "-o", str(folder)])
    assert done.exit_code == 0
    return folder, done.output, replayed


@pytest.fixture(scope="module")
def draw(name):
    return generator.generate(SETTINGS[name], reconstruction.members(name)[0])


# --- the bundled tables -----------------------------------------------------------------------------------


def test_regenerating_gives_the_bundled_table(name, bundled):
    again = reconstruction.frame(name, reconstruction.members(name)[0])
    assert list(again.columns) == list(bundled.columns)
    for column in bundled:
        if isinstance(again[column].dtype, pd.CategoricalDtype):
            assert (again[column].astype(str).to_numpy() == bundled[column].astype(str).to_numpy()).all()
        else:
            assert again[column].dtype == bundled[column].dtype
            assert (again[column].to_numpy() == bundled[column].to_numpy()).all()


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
    assert sum(path.stat().st_size for path in files) < 6_000_000


def test_grid_is_full_and_named(name, bundled):
    arms = bundled.drop_duplicates("config")
    assert arms["config"].astype(str).is_monotonic_increasing  # the fit and a replay break ties alike
    assert len(arms) == SETTINGS[name].n_arms
    columns = ["model", "temperature", "max_tokens", "prompt"]
    counts = [arms[column].nunique() for column in columns]
    assert np.prod(counts) == len(arms) == len(arms.drop_duplicates(columns))
    assert set(targets.SUBSET.split("'")[1::2]) <= set(arms["model"])
    assert cb.load(name).subset(SUBSET).n_arms == 14


def test_values_are_what_the_columns_say(name, bundled):
    assert set(bundled["correct"]) == {0, 1}
    assert (bundled["tokens"] >= 1).all() and (bundled["tokens"] <= bundled["max_tokens"]).all()
    ms = bundled["latency_s"] * 1000
    assert (ms >= 1).all() and np.allclose(ms, ms.round(), atol=1e-6)


@pytest.mark.slow
def test_every_target_is_met_by_the_bundled_table(name, bundled, command):
    """The command replays the same table, as the test of what it writes says."""
    latency = bundled.groupby("config", observed=True)["latency_s"].mean()
    checked = [*targets.check_means(SETTINGS[name], cb.load(name), latency), *command[2]]
    assert len(checked) == {"gsm8k": 22, "piqa": 21}[name]
    assert not [target for target in checked if not target.met]


def test_cost_and_efficiency_depend_on_each_other(name, draw):
    within = [np.corrcoef(*arm)[0, 1] for arm in zip(draw.tokens, draw.latency_ms, strict=True)]
    assert np.mean(within) > 0.15
    table = cb.load(name)
    rows = table.rows
    assert rows.groupby("config", observed=True)[["cost", "efficiency"]].corr().iloc[::2, 1].mean() < -0.05


def test_instances_share_their_difficulty(draw):
    common = [arm for arm in draw.correct if arm.mean() > 0.05]
    correlations = np.corrcoef(np.array(common, dtype=float))
    assert correlations[np.triu_indices(len(common), 1)].mean() > 0.1


# --- the ensemble -----------------------------------------------------------------------------------------


def test_ensemble_has_distinct_members_as_many_for_each_table(name):
    members = reconstruction.members(name)
    assert len({parameters.instances for parameters in members}) == len(members) >= 21
    assert len(members) == len(reconstruction.members(NAMES[0]))
    for parameters in members:
        for key, (low, high) in generator.RANGES.items():
            assert low <= getattr(parameters, key) <= high


@pytest.mark.slow
def test_every_member_meets_the_targets_that_need_no_replay(name):
    for number, parameters in enumerate(reconstruction.members(name)):
        rows = reconstruction.frame(name, parameters)
        latency = rows.groupby("config", observed=True)["latency_s"].mean()
        table = reconstruction.member(name, number)
        checked = targets.check_means(SETTINGS[name], table, latency)
        assert not [(number, target) for target in checked if not target.met]


@pytest.mark.slow
def test_some_member_meets_the_targets_by_replay(name):
    checked = targets.check_replays(SETTINGS[name], reconstruction.member(name, 2), 2000)
    assert not [target for target in checked if not target.met]


def test_member_that_does_not_exist(name):
    with pytest.raises(CobanditError, match=r"has members 0 to \d+, not 999"):
        reconstruction.member(name, 999)
    with pytest.raises(CobanditError, match=r"unknown reconstruction 'gms8k'\. Did you mean 'gsm8k'"):
        reconstruction.members("gms8k")


def test_stored_parameters_survive_a_round_trip(tmp_path):
    fitted = {name: reconstruction.members(name) for name in NAMES}
    reconstruction.store(tmp_path, fitted)
    stored = data_directory() / reconstruction.STORE
    assert (tmp_path / reconstruction.STORE).read_text() == stored.read_text()
    assert json.loads(stored.read_text())["gsm8k"][0]["skew_accuracy"] == fitted["gsm8k"][0].skew_accuracy


# --- the generator ----------------------------------------------------------------------------------------


def test_cut_off_numbers_have_their_sums_and_follow_one_scale():
    rng = np.random.default_rng(1)
    shape = rng.lognormal(0, 0.4, (6, 300))
    limit = np.array([128, 128, 256, 512, 20, 128])
    sums = np.array([300 * 127, 300 * 90, 300 * 140, 300 * 400, 300 * 3, 300 * 128])
    whole = generator._cut_off(generator._lengths(shape), limit, sums)
    assert (whole.sum(axis=1) == sums).all() and (whole <= limit[:, None]).all()
    for row in range(6):  # by bisection
        low, high = 0.0, 1e6
        for _ in range(200):
            middle = (low + high) / 2
            low, high = (
                (middle, high)
                if np.minimum(middle * shape[row], limit[row]).sum() < sums[row]
                else (low, middle)
            )
        assert np.abs(whole[row] - np.minimum(low * shape[row], limit[row])).max() < 1 + 1e-6


def means_of(draw):
    """Means by configuration, under the names that the setting gives them."""
    return {
        "accuracy": draw.correct.mean(axis=1),
        "latency": draw.latency_ms.mean(axis=1) / 1000,
        "tokens": draw.tokens.mean(axis=1),
        "profiling_tokens": draw.tokens[:, :N_PROFILING].mean(axis=1),
    }


def test_any_parameters_meet_the_printed_ends(name):
    """Those of the tokens only if some configuration passes the shorter limit."""
    setting, rng = SETTINGS[name], np.random.default_rng(7)
    passed = 0
    for _ in range(8):
        draw = generator.generate(setting, fit.random_parameters(setting, 3, rng))
        means = means_of(draw)
        passes = means["tokens"].max() > setting.limits[0]
        passed += passes
        for key in means if passes else ("accuracy", "latency"):
            ends = [means[key].min(), means[key].max()]
            np.testing.assert_allclose(ends, getattr(setting, key), atol=5e-5)
        assert (draw.tokens.max(axis=1) <= [arm[2] for arm in generator.grid(setting)]).all()
    assert passed >= 4


# --- the fit ----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_loss_of_every_member_is_near_zero(name):
    setting = SETTINGS[name]
    subset = loss.subset_of(setting)
    assert max(loss.loss(setting, p, subset) for p in reconstruction.members(name)) <= fit.CLOSE


def test_uniform_regrets_of_the_loss_are_those_of_a_replay(name, draw):
    runs = cb.replay_online(cb.load(name), "UniformAllocation", targets.RHO, 20)
    replayed = runs[["efficiency_regret", "standard_regret"]].mean()
    np.testing.assert_allclose(loss.Landscape(draw).uniform_regrets, replayed, rtol=0.005)


@pytest.mark.slow
def test_uniform_errors_of_the_loss_are_those_of_a_replay(name, draw):
    """Two samples of 1,000: within 4 standard errors, and 0.01 for the normal approximation."""
    rewards = loss.Landscape(draw).rewards(loss.subset_of(SETTINGS[name]))
    table = cb.load(name).subset(SUBSET)
    for n in (20, 1000):
        runs = cb.replay_identification(table, "UniformIdentification", n, 1000)
        error = 1 - runs["correct"].mean()
        slack = 4 * np.sqrt(2 * error * (1 - error) / 1000) + 0.01
        assert loss.uniform_error(rewards, n) == pytest.approx(error, abs=slack)


def test_accuracy_cost_regret_of_the_loss_is_that_of_a_replay(name, draw):
    runs = cb.replay_online(cb.load(name), targets.ACCURACY_COST, targets.RHO)
    assert loss.Landscape(draw).accuracy_cost_regret(100) == pytest.approx(runs["efficiency_regret"].mean())


@pytest.mark.parametrize("size", [0, 1])
def test_front_penalty_is_zero_where_the_size_is_right(size):
    means = np.random.default_rng(3).random((20, 2))
    number = int(cb.pareto_mask(means).sum())
    assert loss._front_penalty(means, number) == 0
    for other in (number - 1, number + 1):
        assert 0.5 <= loss._front_penalty(means, other) <= 4.5


def test_loss_counts_what_is_missed(name):
    setting, fitted = SETTINGS[name], reconstruction.members(name)[0]
    subset = loss.subset_of(setting)
    worse = loss.loss(setting, replace(fitted, skew_accuracy=fitted.skew_accuracy + 1), subset)
    assert worse > 1
    assert 1 < loss.loss(setting, replace(fitted, skew_accuracy=fitted.skew_accuracy + 1), subset, 1) <= worse


def test_fit_is_repeatable(name, monkeypatch):
    monkeypatch.setattr(fit, "STARTS", 3)
    monkeypatch.setattr(fit, "SUBSET_FIRST", fit.Schedule(20, 1.0, 0.1))
    monkeypatch.setattr(fit, "loss", lambda setting, parameters, *_, **__: parameters.skew_latency)
    ends = []
    for _ in range(2):
        run = fit.Annealing(name, 3, None, lambda *_: False)
        run.start()
        assert not run.anneal(fit.Schedule(40, 1.0, 0.1))
        ends.append((run.value, run.parameters.skew_accuracy, run.parameters.configs.tolist()))
    assert ends[0] == ends[1]


def test_fit_goes_on_until_parameters_are_accepted(name, monkeypatch):
    monkeypatch.setattr(fit, "STARTS", 1)
    for schedule in ("SUBSET_FIRST", "COOL", "WARM"):
        monkeypatch.setattr(fit, schedule, fit.Schedule(10, 1.0, 0.1))
    monkeypatch.setattr(fit, "loss", lambda *_, **__: 0.0)
    tried = []
    found = fit.fit(name, 0, accept=lambda _, parameters: tried.append(parameters) or len(tried) == 10)
    assert found is tried[9]


def test_member_starts_from_the_first_and_moves_away(name, monkeypatch):
    monkeypatch.setattr(fit, "loss", lambda *_, **__: 0.0)
    monkeypatch.setattr(fit, "WARM", fit.Schedule(60, 1.0, 0.1))
    monkeypatch.setattr(fit, "accept", lambda *_: True)
    before = fit.random_parameters(SETTINGS[name], 3, np.random.default_rng(1))
    after = fit.fit(name, 1, before, accept=lambda *_: True)
    assert after.instances != before.instances
    moved = (after.configs != before.configs).any(axis=1)
    assert moved.any() and not (after.models == before.models).all()


def test_fit_starts_again_after_an_annealing_that_leads_nowhere(name, monkeypatch):
    monkeypatch.setattr(fit, "STARTS", 1)
    monkeypatch.setattr(fit, "SUBSET_FIRST", fit.Schedule(1, 1.0, 0.1))
    monkeypatch.setattr(fit, "COOL", fit.Schedule(4, 1.0, 0.1))
    losses = iter([50.0] * 3 + [40.0] * 4 + [30.0] * 3 + [20.0] * 4 + [10.0] * 3 + [0.0] * 4)
    monkeypatch.setattr(fit, "loss", lambda *_, **__: next(losses))
    fit.fit(name, 0, accept=lambda *_: True)
    assert next(losses, None) is None  # two starts that lead nowhere, and a third


def test_proposals_stay_within_their_ranges(name):
    rng = np.random.default_rng(5)
    subset = loss.subset_of(SETTINGS[name])
    state = fit.random_parameters(SETTINGS[name], 3, rng)
    for _ in range(300):
        state = fit.proposal(state, subset, rng)
        for key, (low, high) in generator.RANGES.items():
            assert low <= getattr(state, key) <= high


def test_proposals_keep_the_distribution_of_the_effects(name):
    """Standard normal before, standard normal after: means and variances within five standard errors."""
    rng = np.random.default_rng(6)
    subset = loss.subset_of(SETTINGS[name])
    state = fit.random_parameters(SETTINGS[name], 3, rng)
    for _ in range(3000):
        state = fit.proposal(state, subset, rng)
    effects = np.concatenate([state.models.ravel(), state.configs.ravel()])
    assert abs(effects.mean()) < 5 / np.sqrt(effects.size)
    assert abs(effects.var() - 1) < 5 * np.sqrt(2 / effects.size)


def test_fit_and_checks_run_no_method_that_is_predicted(name, draw, monkeypatch):
    """What the paper's algorithms do on a reconstruction must not be able to influence it."""
    played = set()

    def spy(registry):
        for key, kernel in list(registry.items()):

            def run(*arguments, _key=key, _run=kernel.run):
                played.add(_key)
                return _run(*arguments)

            monkeypatch.setitem(registry, key, kernel._replace(run=run))

    spy(kernels.ONLINE)
    spy(kernels.IDENTIFICATION)
    # one made before would hold the kernel that is spied on
    monkeypatch.setattr(targets, "ACCURACY_COST", cb.spec("AccuracyCostUCB", reward_scale=0.01))
    targets.check_parameters(name, reconstruction.members(name)[0], 5)
    assert played == {"UniformAllocation", "AccuracyCostUCB", "UniformIdentification"}
    for module in (reconstruction, generator, targets, loss, fit):
        code = inspect.getsource(module)
        assert not re.search(r"CoHVUCB|HVUCB|CoPSI|PSISR|_cohv|_hv_|eliminate", code)


# --- the command ------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_command_writes_the_bundled_table(name, bundled, command):
    folder, output, replayed = command
    assert replayed and "met;" in output.replace("\n", " ")
    written = pd.read_parquet(folder / f"{name}.parquet")
    pd.testing.assert_frame_equal(written, bundled)
    card, bundled_card = ((place / f"{name}.yml").read_text() for place in (folder, data_directory()))
    assert card.split("sha256")[0] == bundled_card.split("sha256")[0]
    assert cb.read(folder / f"{name}.parquet").n_arms == SETTINGS[name].n_arms
    assert not (folder / reconstruction.STORE).exists()


def test_command_refits(tmp_path, monkeypatch):
    known = reconstruction.members("piqa")
    monkeypatch.setattr(fit, "fit", lambda name, member, first=None: known[member + 1])
    monkeypatch.setattr(targets, "check_replays", lambda *_: [])  # other tests replay
    arguments = ["reconstruct", "piqa", "-o", str(tmp_path), "--refit", "--members", "2"]
    assert CliRunner().invoke(cli.app, arguments).exit_code == 0
    stored = json.loads((tmp_path / reconstruction.STORE).read_text())
    assert [entry["instances"] for entry in stored["piqa"]] == [p.instances for p in known[1:3]]
    assert len(stored["gsm8k"]) == len(reconstruction.members("gsm8k"))
    written = pd.read_parquet(tmp_path / "piqa.parquet")
    assert (written["tokens"] == reconstruction.frame("piqa", known[1])["tokens"]).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["gsm9k", "-o", "."], "unknown reconstruction 'gsm9k'. Did you mean 'gsm8k'"),
        (["gsm8k", "-o", "nowhere"], "there is no such folder"),
    ],
)
def test_command_refuses_bad_arguments(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(cli.app, ["reconstruct", *arguments])
    assert isinstance(done.exception, CobanditError) and message in str(done.exception)
    assert not list(tmp_path.iterdir())
