"""The reconstruction: prior, instances, facts, chains, plays and inference."""

import inspect
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import cobandit as cb
from cobandit.stats import metrics
from cobandit.tables import EvaluationTable
from companion.paper import predictive
from companion.paper.experiments import FOURTEEN
from companion.paper.numbers import published
from companion.paper.predictive import played_key
from companion.reconstruction import (
    chain,
    experiment,
    facts,
    hierarchy,
    instances,
    other,
    rows_of,
)
from companion.reconstruction.hierarchy import (
    N_PROFILING,
    PARAMETERS,
    SETTINGS,
    draw_state,
    grid,
    means,
)
from companion.reconstruction.tables import card

NAMES = list(SETTINGS)


@pytest.fixture(scope="module", params=NAMES)
def name(request):
    return request.param


@pytest.fixture(scope="module")
def drawn(name):
    """Three tables from the prior."""
    rng = np.random.default_rng(7)
    return [
        chain._draw(SETTINGS[name], chain.HIERARCHY, rng, every=1) for _ in range(3)
    ]


@pytest.fixture(scope="module")
def land(name, drawn):
    return drawn[0].land


@pytest.mark.slow
def test_longer_limit_never_shortens_and_tokens_take_time(name):
    setting = SETTINGS[name]
    rng = np.random.default_rng(0)
    arms = pd.DataFrame(
        grid(setting), columns=["model", "temperature", "limit", "prompt"]
    )
    for _ in range(30):
        mean_values = means(setting, draw_state(setting, rng))
        tokens = arms.assign(tokens=mean_values.tokens).pivot_table(
            index=["model", "temperature", "prompt"], columns="limit", values="tokens"
        )
        assert (tokens[setting.limits[1]] > tokens[128]).all()
        assert (mean_values.tokens <= mean_values.limit).all()


def test_mean_effects_of_temperature_and_chain_of_thought():
    z = np.linspace(-4, 4, 81)
    assert (
        max(PARAMETERS["heat_accuracy"](x) for x in z)
        <= 0
        <= min(PARAMETERS["cot_tokens"](x) for x in z)
    )
    drawn = np.array(
        [
            PARAMETERS["spread_tokens"](x)
            for x in np.random.default_rng(0).standard_normal(2000)
        ]
    )
    expected = stats.loguniform(0.05, 0.8)
    assert stats.kstest(drawn, expected.cdf).pvalue > 1e-4


@pytest.mark.slow
def test_drawn_tables_meet_printed_facts_about_means(name, drawn):
    setting = SETTINGS[name]
    for drawn_table in drawn:
        table = drawn_table.land.scene.body
        count = drawn_table.land.count
        correct = table.rank < count[:, None]
        for values, ends, pairs in (
            (correct, setting.accuracy, 1e-9),
            (table.seconds, setting.latency, 5e-4),
            (table.tokens, setting.tokens, 0.05),
            (table.tokens[:, :N_PROFILING], setting.profiling_tokens, 0.005 + 1e-9),
        ):
            values = values.mean(axis=1)
            assert (values.min(), values.max()) == pytest.approx(ends, abs=pairs, rel=0)
        assert table.tokens.min() >= 1 and table.tokens.max() <= setting.limits[1]
        assert table.seconds.min() > 0


@pytest.mark.slow
def test_uniform_allocation_follows_from_means(land):
    runs = experiment.judge_pulls(
        land, experiment.pull(land, "UniformAllocation", 200, seed=11), land.problem
    )
    for values, expected in zip(runs, facts.uniform_online(land), strict=True):
        # 5 standard errors, and 0.2 % for what the last round leaves open
        assert abs(values.mean() - expected) < 5 * values.std() / np.sqrt(
            200
        ) + 2e-3 * abs(expected)


@pytest.mark.slow
def test_uniform_identification_by_means_matches_replays(land):
    sets = experiment.find_sets(land, "UniformIdentification", 200, 300, seed=5)
    shown = experiment.uniform_fronts(land.rewards, 200, 300, np.random.default_rng(1))
    played, ours = (
        metrics.f1_score(entry, land.problem.pareto_mask) for entry in (sets, shown)
    )
    # false alarms: about 1 in 10^5, and a little for the normal approximation
    assert (
        abs(played.mean() - ours.mean())
        < 4.4 * np.hypot(played.std(), ours.std()) / np.sqrt(300) + 0.01
    )


@pytest.mark.parametrize("of_accuracy", [True, False])
@pytest.mark.slow
def test_moves_preserve_the_prior_and_other_parts(of_accuracy):
    rng = np.random.default_rng(2)
    state = draw_state(SETTINGS["gsm8k"], rng)

    squares = []
    body = instances.body(SETTINGS["gsm8k"], state)
    for step in range(1500):
        state = chain.propose(SETTINGS["gsm8k"], state, of_accuracy, rng)
        values = np.concatenate(
            [state.parameters, state.models.ravel(), state.configs.ravel()]
        )
        squares.append(values @ values / len(values))
        if of_accuracy and step < 20:
            after = instances.body(SETTINGS["gsm8k"], state)
            assert (after.tokens == body.tokens).all() and (
                after.seconds == body.seconds
            ).all()

    assert 0.6 < np.mean(squares) < 1.4


@pytest.mark.slow
def test_chain_samples_a_known_posterior(monkeypatch):
    """A fact with noise 1/2 about a number of variance 1, in 200 chains.

    Without the facts the mean would be 0; had the weight stayed at that of the first
    move, about 0.
    """

    class Fake:
        scene = None

    def look(setting, kind, state, *_):
        return chain.Table(state, Fake, np.array([(state - 1.0) / 0.5]))

    def move(setting, state, of_accuracy, rng):
        return float(chain.walk(np.array([state]), rng)[0])

    kind = chain.Kind(
        lambda setting, rng: float(rng.standard_normal()), move, None, None
    )
    monkeypatch.setattr(chain, "_look", look)
    monkeypatch.setattr(chain.Table, "kept", False)  # so that all moves are made
    monkeypatch.setattr(
        chain,
        "STAGES",
        (chain.Stage(60, 1e-3, 0.5, 10), chain.Stage(100, 0.03, 0.5, 1)),
    )
    monkeypatch.setattr(chain, "STARTS", 1)
    result = np.array(
        [chain.draw("gsm8k", number, kind).state for number in range(200)]
    )
    assert abs(result.mean() - 0.8) < 4 * np.sqrt(0.2 / 200) + 0.03
    assert 0.12 < result.var() < 0.32


def test_number_determines_the_table(monkeypatch):
    monkeypatch.setattr(
        chain, "STAGES", (chain.Stage(5, 0.1, 0.5, 10), chain.Stage(5, 0.1, 0.5, 1))
    )
    monkeypatch.setattr(chain, "STARTS", 2)
    first, redrawn, other = (chain.draw("piqa", number) for number in (3, 3, 4))
    assert (first.land.means == redrawn.land.means).all() and (
        first.land.means != other.land.means
    ).any()


@pytest.mark.slow
def test_part_of_the_instances_approximates_all(name, drawn):
    for drawn_table in drawn:
        land = drawn_table.land
        rough = chain._look(
            land.setting, chain.HIERARCHY, drawn_table.state, every=10
        ).land
        assert (
            rough.scene.spent.shape[1] == 80
            and np.abs(rough.costs - land.costs).mean() < 2.0
        )
        # what is correct is counted on all instances
        assert (land.means[:, 0] == rough.means[:, 0]).all()
        assert np.abs(land.means[:, 1] - rough.means[:, 1]).mean() < 0.05


def test_passed_instances_are_counted(land):
    rows = land.rewards
    assert land.means == pytest.approx(rows.mean(axis=1), abs=1e-12)


@pytest.mark.slow
def test_predicted_methods_do_not_influence_tables(name):
    for module in (facts, hierarchy, instances, chain, other):
        assert not re.search(
            r"CoHVUCB|HVUCB|PSISR|_cohv|_hv_|eliminate", inspect.getsource(module)
        )


@pytest.mark.slow
def test_other_generator_meets_printed_facts_about_means(name):
    setting = SETTINGS[name]
    rng = np.random.default_rng(1)
    land = chain._draw(setting, other.OTHER, rng, every=1).land
    for values, ends, pairs in (
        (land.scene.body.tokens.mean(axis=1), setting.tokens, 0.05),
        (land.costs, setting.profiling_tokens, 0.006),
        (land.count / 1000, setting.accuracy, 1e-9),
    ):
        assert (values.min(), values.max()) == pytest.approx(ends, abs=pairs)


def _tables(rng, n=120, noise=1.0):
    used = rng.standard_normal((n, 2))
    return used, used @ np.array([1.0, -2.0]) + noise * rng.standard_normal(n)


@given(st.integers(20, 80), st.integers(0, 10_000), st.sampled_from([0.5, 0.8, 0.95]))
def test_interval_contains_exactly_unrejected_values(n, seed, level):
    rng = np.random.default_rng(seed)
    used, values = _tables(rng, n)
    prediction = predictive.predict(used, values, rng.standard_normal(2))
    low, high = prediction.interval(level, wider=1.2)
    for value in (
        rng.normal(prediction.centre, 2 * abs(high - low), 30)
        if np.isfinite(high)
        else []
    ):
        assert (low <= value <= high) == (
            prediction.p(value, wider=1.2) > 1 - level + 1e-9
        )


@pytest.mark.slow
def test_intervals_have_their_coverage():
    """Coverage on 400 sets of 60 tables; in-sample residuals would give 77 %."""
    rng = np.random.default_rng(6)
    hits = {0.5: 0, 0.8: 0, 0.95: 0}
    for _ in range(400):
        used, values = _tables(rng, 60)
        drawn, truth = (x[0] for x in _tables(rng, 1))
        prediction = predictive.predict(used, values, drawn)
        for level in hits:
            low, high = prediction.interval(level)
            hits[level] += low <= truth <= high
    for level, count in hits.items():  # false alarm: about 1 in 15,000 each
        assert abs(count / 400 - level) < 4 * np.sqrt(level * (1 - level) / 400) + 0.01


def test_scores_match_left_out_tables():
    """Each score is the left-out residual over the growth of its error."""
    used, values = _tables(np.random.default_rng(5), 25)
    prediction = predictive.predict(used, values, np.zeros(2))
    assert prediction.regressed
    for i in range(len(values)):
        rest = np.arange(len(values)) != i
        without = predictive.predict(used[rest], values[rest], used[i])
        assert prediction.scores[i] == pytest.approx(without.score(values[i]))


def test_useless_facts_are_not_used():
    rng = np.random.default_rng(0)
    used = rng.standard_normal((40, 6))
    values = rng.standard_normal(40)
    prediction = predictive.predict(used, values, np.full(6, 50.0))
    assert not prediction.regressed and prediction.centre == pytest.approx(
        values.mean()
    )
    assert prediction.remoteness == 1.0


def test_joint_p_detects_jointly_unusual_values():
    rng = np.random.default_rng(3)
    common = rng.standard_normal(300)
    scores = np.stack([common, common + 0.1 * rng.standard_normal(300)], axis=1)
    alike, apart = (
        predictive.joint_p(scores, np.array([1.5, score])) for score in (1.5, -1.5)
    )
    assert alike > 0.1 > 0.01 > apart


@pytest.mark.slow
def test_play_has_every_used_or_predicted_number(name, drawn, land):
    values = experiment.play(name, land, seed=5)
    readings = experiment.read(name, land, seed=5)
    assert set(readings) | {experiment.DEFAULT} == set(experiment.READINGS)

    # each reading is another value of something that is printed
    for reading, changed in readings.items():
        assert set(changed) < set(values), reading
        assert any(values[k] != changed[k] for k in changed), reading

    numbers = [
        n
        for n in published()
        if n.dataset == name and n.method and n.experiment != "tuning"
    ]
    assert {played_key(number) for number in numbers} <= set(values)
    assert all(np.isfinite(value) for value in values.values())


@pytest.mark.slow
def test_psi_sr_at_equal_costs_equals_copsi(name, land):
    """Schedule and returned sets of the class agree on a table of equal costs."""
    arms = facts.subset_of(SETTINGS[name])
    equal = float(land.costs[arms].mean())
    sets = experiment.find_sets(land, "PSISR", 50, 5, 4, arms, equal=equal)
    finder = cb.CoPSI(np.full(len(arms), equal), 50 * float(land.costs[arms].sum()), 2)
    assert finder.allocation_constant == pytest.approx(3.2516, abs=1e-4)
    assert (
        sets == experiment.find_sets(land, "CoPSI", 50, 5, 4, arms, equal=equal)
    ).all()


@pytest.mark.slow
def test_likelihood_uses_the_written_table(name, drawn, land):
    table = EvaluationTable.from_records(rows_of(name, drawn[0]), card(name))
    assert table.cost_range == land.range and table.costs == pytest.approx(
        land.costs, abs=1e-12
    )
    assert table.truth().means == pytest.approx(land.problem.means, abs=1e-12)
    assert table.truth().costs == pytest.approx(land.problem.costs, abs=1e-12)
    runs = cb.replay_online(
        table,
        cb.spec("AccuracyCostUCB", **experiment.RADII),
        32,
        replications=3,
        seed=4,
    )
    played = experiment.judge_pulls(
        land, experiment.pull(land, "AccuracyCostUCB", 3, seed=4), land.problem
    )
    regrets = runs[["efficiency_regret", "standard_regret"]].to_numpy().T
    assert regrets == pytest.approx(played[:2], rel=1e-9)
    few = table.subset(FOURTEEN)
    arms = facts.subset_of(SETTINGS[name])
    runs = cb.replay_identification(
        few, "UniformIdentification", 50, replications=5, seed=4
    )
    sets = experiment.find_sets(land, "UniformIdentification", 50, 5, 4, arms)
    truth = few.problem.pareto_mask
    assert (runs["correct"].to_numpy() == (sets == truth).all(axis=1)).all()
    assert runs["f1"].to_numpy() == pytest.approx(metrics.f1_score(sets, truth))
