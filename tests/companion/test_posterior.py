"""The reconstruction as a posterior: prior, instances, used facts, sampler and final inference."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import cobandit as cb
from cobandit.companion.paper.experiments import FOURTEEN
from cobandit.companion.paper.numbers import published
from cobandit.companion.paper.predictive import played_key
from cobandit.companion.reconstruction import (
    experiment,
    facts,
    inference,
    instances,
    pool,
    posterior,
    sampler,
)
from cobandit.companion.reconstruction.hierarchy import PARAMETERS, correct_counts, draw_state, grid, means
from cobandit.companion.reconstruction.settings import N_PROFILING, SETTINGS
from cobandit.companion.reconstruction.tables import card
from cobandit.errors import CobanditError
from cobandit.tables import EvaluationTable

NAMES = list(SETTINGS)


@pytest.fixture(scope="module", params=NAMES)
def name(request):
    return request.param


@pytest.fixture(scope="module")
def drawn(name):
    """Three states from the prior, and their tables."""
    rng = np.random.default_rng(7)
    states = [draw_state(SETTINGS[name], rng) for _ in range(3)]
    return [(state, facts.scene(name, state)) for state in states]


@pytest.fixture(scope="module")
def land(name, drawn):
    return facts.landscape(*drawn[0])


# --- the prior --------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_longer_limit_never_shortens_and_tokens_cost_time(name):
    setting, rng = SETTINGS[name], np.random.default_rng(0)
    arms = pd.DataFrame(grid(setting), columns=["model", "temperature", "limit", "prompt"])
    for _ in range(30):
        given = means(setting, draw_state(setting, rng))
        tokens = arms.assign(tokens=given.tokens).pivot_table(
            index=["model", "temperature", "prompt"], columns="limit", values="tokens"
        )
        assert (tokens[setting.limits[1]] > tokens[128]).all()
        assert (given.tokens[~given.is_long] <= 128).all()


def test_on_average_temperature_does_not_raise_accuracy_and_chain_of_thought_lengthens():
    z = np.linspace(-4, 4, 81)
    assert max(PARAMETERS["heat_accuracy"](x) for x in z) <= 0 <= min(PARAMETERS["cot_tokens"](x) for x in z)
    drawn = np.array([PARAMETERS["spread_tokens"](x) for x in np.random.default_rng(0).standard_normal(2000)])
    expected = stats.loguniform(0.05, 0.8)
    assert stats.kstest(drawn, expected.cdf).pvalue > 1e-4


# --- instances --------------------------------------------------------------------------------------------


def test_every_drawn_table_meets_what_is_printed_about_means(name, drawn):
    setting = SETTINGS[name]
    for state, on in drawn:
        table, count = on.body, correct_counts(setting, state, on.body.verbosity)
        correct = table.rank < count[:, None]
        ends = [(correct.mean(axis=1), setting.accuracy, 1e-9)]
        ends += [
            (table.seconds.mean(axis=1), setting.latency, 5e-4),
            (table.tokens.mean(axis=1), setting.tokens, 0.05),
        ]
        ends += [(table.tokens[:, :N_PROFILING].mean(axis=1), setting.profiling_tokens, 0.005 + 1e-9)]
        for values, (low, high), tolerance in ends:
            assert abs(values.min() - low) <= tolerance and abs(values.max() - high) <= tolerance
        assert table.tokens.min() >= 1 and table.tokens.max() <= setting.limits[1]
        assert table.seconds.min() > 0


def test_a_state_stands_for_one_table(name):
    setting = SETTINGS[name]
    state = draw_state(setting, np.random.default_rng(3))
    first = instances.body(setting, state)
    instances.body(setting, draw_state(setting, np.random.default_rng(4)))
    again = instances.body(setting, state)
    assert all((a == b).all() for a, b in zip(first[:3], again[:3], strict=True))


def test_a_move_of_accuracies_leaves_the_body(name):
    setting, rng = SETTINGS[name], np.random.default_rng(5)
    state = draw_state(setting, rng)
    before = instances.body(setting, state)
    for move in (move for move in sampler.MOVES if move.startswith("accuracy")):
        moved = sampler.propose(name, state, move, 1.0, rng)
        after = instances.body(setting, moved)
        assert all((a == b).all() for a, b in zip(before[:3], after[:3], strict=True))
        counts = [correct_counts(setting, s, before.verbosity) for s in (state, moved)]
        assert (counts[0] != counts[1]).any()


# --- used facts -------------------------------------------------------------------------------------------


def test_used_facts_are_those_that_the_paper_prints(name):
    known = {}
    for number in published():
        known.setdefault(number.key.removesuffix("-2"), []).append(number.value)
    used = facts.USED[name]
    online = [
        f"{name}-{run}-32-{{}}-{quantity}"
        for run, quantity in (
            ("trajectory", "efficiency_regret"),
            ("online", "standard_regret"),
            ("trajectory", "moving_average"),
        )
    ]
    assert used.accuracy_cost == tuple(known[key.format("AccuracyCostUCB")][0] for key in online)
    uniform = [known[key.format("UniformAllocation")][0] for key in online]
    uniform[0] = (uniform[0] + known[f"{name}-online-32-UniformAllocation-efficiency_regret"][0]) / 2
    assert used.regrets == pytest.approx(tuple(uniform))
    f1 = tuple(known[f"{name}-full-set-{rho}-UniformIdentification-f1-declared"][0] for rho in facts.ALL_RHO)
    assert used.f1 == f1
    for rho, error in used.errors.items():
        printed = known[f"{name}-identification-{rho}-UniformIdentification-error-declared"]
        printed = printed + known.get(f"{name}-stochastic-{rho}-UniformIdentification-error-realised", [])
        assert error == pytest.approx((min(printed) + max(printed)) / 2)


@pytest.mark.slow
def test_uniform_allocation_follows_from_means(land):
    runs = facts.play_online(land, "UniformAllocation", 200, seed=11)
    for values, expected in zip(runs, facts.uniform_online(land), strict=True):
        # 5 standard errors, and 0.2 % for what the last round leaves open
        assert abs(values.mean() - expected) < 5 * values.std() / np.sqrt(200) + 2e-3 * abs(expected)


@pytest.mark.parametrize("rho", [10, 200])
@pytest.mark.slow
def test_uniform_identification_by_its_means_is_that_of_its_replays(land, rho):
    played, _ = facts.play_identification(land, "UniformIdentification", rho, 300, seed=5)
    shown = facts.uniform_fronts(land.rewards, rho, 300, np.random.default_rng(1))
    truth = land.front
    assert (truth == land.problem.pareto_mask).all()
    ours = 2 * (shown & truth).sum(axis=1) / (shown.sum(axis=1) + truth.sum())
    # false alarms: about 1 in 10^5, and a little for the normal approximation
    assert abs(played.mean() - ours.mean()) < 4.4 * np.hypot(played.std(), ours.std()) / np.sqrt(300) + 0.01


# --- the sampler ------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("move", sampler.MOVES)
def test_moves_leave_the_prior_as_it_is(move):
    rng = np.random.default_rng(2)
    state, squares, n = draw_state(SETTINGS["gsm8k"], rng), [], 400
    for _ in range(n):
        state = sampler.propose("gsm8k", state, move, 0.8, rng)
        values = np.concatenate([state.parameters, state.models.ravel(), state.configs.ravel()])
        squares.append(values @ values / len(values))
    assert 0.6 < np.mean(squares) < 1.4


@pytest.mark.slow
def test_the_sampler_finds_a_known_posterior(monkeypatch):
    """Ten runs with a Gaussian likelihood of one parameter, at the last temperature: mean 3.2 / 4.2."""

    monkeypatch.setattr(sampler, "scene", lambda name, state: True)
    monkeypatch.setattr(sampler, "landscape", lambda state, on: state.parameters[0])
    monkeypatch.setattr(sampler, "from_means", lambda name, x: np.array([(x - 1.0) / 0.25]))
    monkeypatch.setattr(sampler, "identified", lambda name, x, seed: (np.zeros(1), 0.0))
    monkeypatch.setattr(sampler, "accuracy_cost", lambda name, x, seed, replays: (np.zeros(1), 0.0))
    found = []
    for number in range(10):
        walk = sampler.Run("gsm8k", number)
        for _ in walk.levels():
            pass
        found.append([p.state.parameters[0] for p in walk.particles])
    means = np.mean(found, axis=1)
    # precision of prior and of the likelihood at temperature 0.2: 1 and 3.2
    assert abs(means.mean() - 3.2 / 4.2) < 4 * means.std(ddof=1) / np.sqrt(10) + 0.05
    assert 0.3 < np.std(found) < 0.7  # sqrt(1 / 4.2) = 0.488


# --- the final inference ----------------------------------------------------------------------------------


def _pool(rng, runs=10, size=20):
    """Two used values, and two predicted ones that depend on them, and on the run."""
    run = np.repeat(np.arange(runs), size)
    used = rng.standard_normal((len(run), 2)) + rng.standard_normal((runs, 2))[run]
    shared = 0.5 * rng.standard_normal((runs, 2))[run]
    predicted = used @ np.array([[1.0, -2.0], [0.5, 0.0]]) + shared + rng.standard_normal((len(run), 2))
    return inference.Pool(pd.DataFrame(used), pd.DataFrame(predicted, columns=["a", "b"]), run)


@pytest.mark.slow
def test_intervals_hold_what_they_say():
    """On 40 pools of ten runs; with the residuals halved coverage at 90 % would be 0.6."""
    rng = np.random.default_rng(6)
    ranks = [inference.calibrate(_pool(rng), runs=np.array([0])) for _ in range(40)]
    found = inference.coverage(pd.concat(ranks)).loc["all"]
    assert 0.44 < found[0.5] < 0.62 and 0.85 < found[0.9] < 0.97 and found[0.95] > 0.9


def test_a_table_is_predicted_without_its_run():
    """The loop over tables, one by one; a value of its own run in the fit would show."""
    pool = _pool(np.random.default_rng(5), runs=4, size=3)
    used, predicted = pool.used.to_numpy(), pool.predicted.to_numpy()
    found = inference.calibrate(pool).set_index(["table", "key"])["rank"]
    for i, run in enumerate(pool.run):
        others = pool.run != run
        rest = inference.Pool(pool.used[others], pool.predicted[others], pool.run[others])
        below = (inference.predict(rest, used[i]) < predicted[i]).sum(axis=0)
        assert found[i].to_numpy() == pytest.approx((below + 0.5) / (others.sum() + 1))


@pytest.mark.slow
def test_narrow_intervals_are_widened_and_sound_ones_left():
    """One run in twelve lies apart from all others, and no residual of theirs reaches it."""
    rng = np.random.default_rng(7)
    sound = _pool(rng, runs=12)
    apart = sound._replace(predicted=sound.predicted + 6.0 * (sound.run == 1)[:, None])
    assert inference.widening(sound) == 1
    assert inference.widening(apart) > 1.05
    spread = [np.ptp(inference.predict(sound, np.zeros(2), wider), axis=0) for wider in (1.0, 1.5)]
    assert (spread[1] > 1.2 * spread[0]).all()


@pytest.mark.slow
def test_joint_values_of_a_table_are_like_those_of_tables_and_made_up_ones_are_not():
    """The two predicted values rise together, so that one high and one low is no table's."""
    rng = np.random.default_rng(3)
    pool = _pool(rng)
    own = np.array([0.3, -0.2])
    expected = own @ np.array([[1.0, -2.0], [0.5, 0.0]])
    used = pd.Series(own, index=pool.used.columns)
    inside = pd.Series(expected, index=["a", "b"])
    assert inference.judge_jointly(pool, used, inside).p > 0.2
    assert inference.judge_jointly(pool, used, inside + 6).p < 0.02
    assert (
        inference.judge_jointly(pool, used, (inside + 6).where([True, False])).p < 0.02
    )  # one is not printed


def test_remoteness_is_one_inside_and_large_outside():
    pool = _pool(np.random.default_rng(0))
    inside = np.mean([inference.remoteness(pool, x) for x in pool.used.to_numpy()])
    assert inside == pytest.approx(1.0, abs=0.05)
    assert inference.remoteness(pool, pool.used.mean().to_numpy() + 5 * pool.used.std().to_numpy()) > 10


def test_scales_are_inverses():
    values = np.array([0.004, 0.1, 0.5])
    for key in ("x-error-declared", "x-efficiency_regret", "fact-front"):
        assert inference.back(key, inference.transformed(key, values)) == pytest.approx(values)


@pytest.mark.slow
def test_a_play_has_every_number_that_is_used_or_predicted(name, drawn):
    played = experiment.play(name, drawn[0][0], seed=5)
    values = played[experiment.DEFAULT]
    for reading, changed in played.items():  # each reading is another value of something that is printed
        assert reading == experiment.DEFAULT or set(changed) < set(values), reading
        assert reading == experiment.DEFAULT or any(values[k] != changed[k] for k in changed), reading
    numbers = [n for n in published() if n.dataset == name and n.method and n.experiment != "tuning"]
    assert {played_key(number) for number in numbers} <= set(values)
    assert all(np.isfinite(value) for value in values.values())
    plays = pd.DataFrame(
        {
            "dataset": name,
            "number": 0,
            "run": 0,
            "reading": "default",
            "key": values.keys(),
            "value": values.values(),
        }
    )
    used, predicted = (part.columns for part in pool.pool(name, plays)[0][:2])
    assert all(any(method in key for method in ("CoHVUCB", "-HVUCB", "CoPSI", "PSISR")) for key in predicted)
    assert not any(method in key for key in used for method in ("HVUCB", "PSI"))


# --- stored tables ----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_likelihood_sees_the_table_that_anybody_reads(name, drawn, land):
    table = EvaluationTable.from_records(posterior.rows_of(name, drawn[0][0]), card(name))
    assert table.cost_range == land.range and table.costs == pytest.approx(land.costs, abs=1e-12)
    assert table.truth().means == pytest.approx(land.problem.means, abs=1e-12)
    assert table.truth().costs == pytest.approx(land.problem.costs, abs=1e-12)
    runs = cb.replay_online(table, cb.spec("AccuracyCostUCB", **facts.RADII), 32, replications=3, seed=4)
    played = facts.play_online(land, "AccuracyCostUCB", 3, seed=4)
    for quantity in ("efficiency_regret", "standard_regret"):
        assert runs[quantity].to_numpy() == pytest.approx(getattr(played, quantity), rel=1e-9)
    few = table.subset(FOURTEEN)
    arms = facts.subset_of(SETTINGS[name])
    runs = cb.replay_identification(few, "UniformIdentification", 50, replications=5, seed=4)
    f1, correct = facts.play_identification(land, "UniformIdentification", 50, 5, 4, arms)
    assert (runs["correct"].to_numpy() == correct).all() and runs["f1"].to_numpy() == pytest.approx(f1)


def test_stored_tables_come_back(tmp_path, monkeypatch):
    rng = np.random.default_rng(8)
    tables = {
        name: [
            posterior.Stored(sampler.rounded(draw_state(SETTINGS[name], rng)), run, seed=50 + run)
            for run in range(2)
        ]
        for name in NAMES
    }
    posterior.write_states(tmp_path, tables)
    assert [path.name for path in tmp_path.iterdir()] == [posterior.STORE]
    monkeypatch.setattr(posterior, "data_directory", lambda: tmp_path)
    for name in NAMES:
        for before, after in zip(tables[name], posterior.tables_of.__wrapped__(name), strict=True):
            assert before[1:] == after[1:] and before.state.instances == after.state.instances
            effects = [(getattr(t.state, e) for e in posterior.EFFECTS) for t in (before, after)]
            assert all((one == other).all() for one, other in zip(*effects, strict=True))


def test_nothing_stored_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr(posterior, "data_directory", lambda: tmp_path)
    with pytest.raises(CobanditError, match="make posterior"):
        posterior.tables_of.__wrapped__("gsm8k")
