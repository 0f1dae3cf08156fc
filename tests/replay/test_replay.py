"""Replays: tidy frames, agreement with the readable classes, refused arguments."""

import warnings

import numpy as np
import pandas as pd
import pytest
from support import methods
from support.faults import bad_argument

import cobandit as cb
from cobandit.errors import CobanditError, GuaranteeWarning
from cobandit.replay import drivers, grid
from cobandit.testing.small_tables import table_of

ONLINE, IDENTIFICATION = list(methods.ONLINE), list(methods.IDENTIFICATION)
pytestmark = pytest.mark.filterwarnings("ignore::cobandit.errors.GuaranteeWarning")


def online_policy(name, table, budget, **options):
    how = {"cost_range": table.cost_range, "expected_costs": table.costs}
    return methods.ONLINE[name](
        table.n_arms, table.n_objectives, budget, **how, **options
    )


def played(policy, table, replication, **how):
    cb.play(policy, table, replication=replication, **how)
    return policy


# The frames.


def test_online_results_have_their_columns(small_table):
    chosen = [
        "CoHVUCB",
        cb.spec("CoHVUCB", reward_scale=0.1, cost_scale=0.1),
        "UniformAllocation",
    ]
    runs = cb.replay_online(small_table, chosen, rho=[4, 2.5], replications=3, seed=9)
    kinds = runs.drop(
        columns=["method", "options", "status", "dataset", "kind", "unit"]
    ).dtypes
    assert kinds.map(lambda dtype: dtype.kind).to_dict() == {
        **{"rho": "f", "budget": "f", "replication": "i", "spent": "f", "pulls": "i"},
        **{"efficiency_regret": "f", "standard_regret": "f", "best_arm_pulls": "i"},
    }
    keys = runs[["method", "options", "rho", "replication"]].itertuples(
        index=False, name=None
    )
    variants = [
        ("CoHVUCB", ""),
        ("CoHVUCB", "cost_scale=0.1, reward_scale=0.1"),
        ("UniformAllocation", ""),
    ]
    assert list(keys) == [
        (*variant, rho, r) for variant in variants for rho in (4, 2.5) for r in range(3)
    ]
    assert runs.index.equals(pd.RangeIndex(18)) and (runs["status"] == "ok").all()
    assert runs["budget"].to_numpy() == pytest.approx(
        runs["rho"] * small_table.costs.sum()
    )
    assert not runs.attrs
    named = runs[["dataset", "kind", "unit"]].drop_duplicates()
    assert named.to_numpy().tolist() == [["made-up", "synthetic", "units"]]


def test_identification_results_have_their_columns(small_table):
    runs = cb.replay_identification(
        small_table, IDENTIFICATION, rho=20, replications=2, seed=1
    )
    assert list(runs) == [
        *("method", "options", "rho", "budget", "replication"),
        *("status", "spent", "pulls", "returned", "correct", "f1"),
        *("dataset", "kind", "unit"),
    ]
    assert runs["correct"].dtype == bool and runs["f1"].dtype == float
    assert all(isinstance(names, tuple) for names in runs["returned"])
    assert set().union(*runs["returned"]) <= set(small_table.configs)


@pytest.mark.parametrize("method", ONLINE)
def test_online_numbers_match_the_class(method, small_table):
    problem = small_table.problem
    runs = cb.replay_online(small_table, [method], rho=[1.5, 7], replications=4, seed=2)
    for row in runs.itertuples():
        policy = played(
            online_policy(method, small_table, row.budget),
            small_table,
            row.replication,
            seed=2,
        )
        assert (row.spent, row.pulls) == (policy.spent, policy.pulls.sum())
        assert row.best_arm_pulls == policy.pulls[problem.best_arm]
        best = problem.efficiency.max()
        regret = sum(
            n * (best - e)
            for n, e in zip(policy.pulls, problem.efficiency, strict=True)
        )
        assert row.efficiency_regret == pytest.approx(regret, rel=1e-12)
        earned = policy.pulls @ problem.hypervolume
        assert row.standard_regret == pytest.approx(
            best * row.budget / small_table.cost_range[1] - earned
        )


@pytest.mark.slow
@pytest.mark.parametrize("charge", ["declared", "realised"])
@pytest.mark.parametrize("method", IDENTIFICATION)
def test_identification_numbers_match_the_class(method, charge, small_table):
    truth = set(np.array(small_table.configs)[small_table.problem.pareto_mask])
    runs = cb.replay_identification(
        small_table, [method], [9, 30], replications=4, seed=2, charge=charge
    )
    for row in runs.itertuples():
        finder = methods.IDENTIFICATION[method](small_table.costs, row.budget, 2)
        played(finder, small_table, row.replication, seed=2, charge=charge)
        returned = {small_table.configs[arm] for arm in finder.recommend()}
        assert (row.spent, row.pulls, set(row.returned)) == (
            finder.spent,
            finder.pulls.sum(),
            returned,
        )
        assert row.correct == (returned == truth)
        assert row.f1 == pytest.approx(
            2 * len(returned & truth) / (len(returned) + len(truth))
        )


def test_eta_is_the_number_of_initial_pulls(small_table):
    """n_init = max(1, floor(eta rho)); 0.3 * 10 is 3, whatever floating point says."""
    for rho, n_init in ((2, 1), (10, 3), (11, 3)):
        by_eta = cb.replay_online(
            small_table, [cb.spec("CoHVUCB", eta=0.3)], rho, replications=3
        )
        by_number = cb.replay_online(
            small_table, [cb.spec("CoHVUCB", n_init=n_init)], rho, replications=3
        )
        pd.testing.assert_frame_equal(
            by_eta.drop(columns="options"), by_number.drop(columns="options")
        )


# Infeasible budgets.


def test_infeasible_online_budgets_have_rows(small_table):
    runs = cb.replay_online(small_table, ONLINE, rho=[0.9, 1], replications=2)
    paths = cb.replay_paths(small_table, ONLINE, rho=[0.9, 1], replications=2)
    assert (runs["status"] == np.where(runs["rho"] < 1, "infeasible", "ok")).all()
    starved = runs[runs["rho"] < 1]
    assert (
        starved[["spent", "efficiency_regret", "standard_regret"]].isna().all(axis=None)
    )
    assert (starved[["pulls", "best_arm_pulls"]] == 0).all(axis=None)
    assert paths[paths["rho"] < 1]["efficiency_regret"].isna().all()
    assert not runs[runs["rho"] == 1].isna().any(axis=None)


def test_infeasible_identification_budgets_have_rows(small_table):
    smallest = cb.theory.allocation_constant(
        6, small_table.costs.min() / small_table.costs.max()
    )
    runs = cb.replay_identification(
        small_table, ["CoPSI"], [0.999 * smallest, smallest], replications=2
    )
    assert runs["status"].tolist() == ["infeasible"] * 2 + ["ok"] * 2
    starved = runs[:2]
    assert starved["returned"].tolist() == [(), ()] and not starved["correct"].any()
    assert (
        starved[["spent", "f1"]].isna().all(axis=None) and (starved["pulls"] == 0).all()
    )


# Randomness.


def test_replications_do_not_depend_on_number_or_other_methods(small_table):
    many = cb.replay_online(small_table, ONLINE, rho=[2, 5], replications=45, seed=1)
    few = cb.replay_online(small_table, ONLINE[1], rho=5, replications=7, seed=1)
    part = many[
        (many["method"] == ONLINE[1]) & (many["rho"] == 5) & (many["replication"] < 7)
    ]
    pd.testing.assert_frame_equal(part.reset_index(drop=True), few)


@pytest.mark.slow
def test_chunking_changes_nothing(small_table, monkeypatch):
    def replay(parts):
        monkeypatch.setattr(grid, "PARTS", parts)
        return cb.replay_identification(
            small_table, ["CoPSI", "PSISR"], rho=[9, 20], replications=25
        )

    usual = replay(grid.PARTS)
    for parts, cut in ((1, 1), (3, 3), (1000, 25)):
        pd.testing.assert_frame_equal(usual, replay(parts))
        assert len(grid.cut_grid(small_table, [cb.spec("CoPSI")], 9, 25, 0)) == cut
    many = grid.cut_grid(small_table, [cb.spec("CoPSI")], range(9, 109), 25, 0)
    assert len(many) == 100  # cells enough for many workers: each is one part


# Paths.


def path_of(run, problem, budget):
    """Count regret and mean gap of the last 50 pulls at 200 steps of the budget."""
    rows = []
    for step in range(1, drivers.POINTS + 1):
        spent, done = 0.0, 0
        for cost in run.costs:
            spent += cost
            if spent > budget * step / drivers.POINTS * (1 + 1e-9):
                break
            done += 1
        gaps = problem.efficiency_gaps[run.arms[:done]]
        rows.append((gaps.sum(), gaps[-50:].mean() if done else np.nan))
    return np.array(rows)


@pytest.mark.slow
@pytest.mark.parametrize("method", ONLINE)
def test_paths_have_one_row_per_step(method, small_table):
    paths = cb.replay_paths(small_table, [method], rho=[2, 30], replications=3, seed=7)
    assert list(paths) == [
        *("method", "options", "rho", "replication"),
        *("spent", "efficiency_regret", "moving_average"),
        *("dataset", "kind", "unit"),
    ]
    assert len(paths) == 2 * 3 * 200
    for (rho, replication), path in paths.groupby(["rho", "replication"]):
        budget = rho * small_table.costs.sum()
        assert path["spent"].to_numpy() == pytest.approx(
            budget * np.arange(1, 201) / 200
        )
        run = cb.play(
            online_policy(method, small_table, budget),
            small_table,
            seed=7,
            replication=replication,
        )
        twin = path_of(run, small_table.problem, budget)
        assert path[
            ["efficiency_regret", "moving_average"]
        ].to_numpy() == pytest.approx(twin, nan_ok=True)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_paths_end_where_the_run_ends(seed):
    """With known costs the budget is spent exactly, or by rounding one bit more."""
    rng = np.random.default_rng(seed)
    table = table_of(
        [[[cost, 0.5, reward]] * 2 for cost, reward in rng.uniform(0.1, 1, (5, 2))]
    )
    runs, paths = (
        replay(table, ["UniformAllocation", "CoHVUCB"], [3, 7, 10], 1)
        for replay in (cb.replay_online, cb.replay_paths)
    )
    keys = ["method", "rho", "replication"]
    ends = paths.groupby(keys, sort=False)["efficiency_regret"].last()
    assert ends.to_numpy() == pytest.approx(
        runs.set_index(keys)["efficiency_regret"].to_numpy(), rel=1e-12
    )


# Refused arguments.


@pytest.mark.parametrize(
    ("code", "argument", "names", "change"),
    [
        ("unknown-choice", "method", ["'CoHVUCB'?"], {"methods": ["CoHVUBC"]}),
        ("wrong-kind", "methods", ["CoPSI", "online"], {"methods": ["CoPSI"]}),
        ("no-method", "methods", [], {"methods": []}),
        (
            "repeated-method",
            "methods",
            [],
            {"methods": ["CoHVUCB", cb.spec("CoHVUCB")]},
        ),
        ("unknown-choice", "method", ["3"], {"methods": [3]}),
        ("out-of-range", "rho", [], {"rho": 0}),
        ("not-finite", "rho", [], {"rho": float("nan")}),
        ("out-of-range", "rho", [], {"rho": []}),
        ("out-of-range", "rho", [], {"rho": [2, 2]}),
        ("not-a-number", "rho", [], {"rho": "many"}),
        ("not-a-number", "rho", [], {"rho": None}),
        ("out-of-range", "replications", [], {"replications": 0}),
        ("out-of-range", "seed", [], {"seed": -1}),
        ("out-of-range", "seed", [], {"seed": 2**64}),
        (
            "not-a-whole-number",
            "n_init",
            [],
            {"methods": [cb.spec("CoHVUCB", n_init=1.5)]},
        ),
        ("out-of-range", "alpha", [], {"methods": [cb.spec("CoHVUCB", alpha=-1)]}),
        (
            "out-of-range",
            "objective",
            [],
            {"methods": [cb.spec("AccuracyCostUCB", objective=2)]},
        ),
        ("out-of-range", "workers", [], {"workers": 0}),
        ("unknown-choice", "backend", ["'threading'?"], {"backend": "thread"}),
        ("dask-or-scheduler", "scheduler", [], {"backend": "dask"}),
        ("dask-or-scheduler", "scheduler", [], {"scheduler": "tcp://127.0.0.1:1"}),
    ],
    ids=lambda value: str(value)[:40],
)
def test_invalid_replays_are_refused(code, argument, names, change, small_table):
    good = {"methods": ["HVUCB"], "rho": [2], "replications": 2, "seed": 0}
    with bad_argument(code, argument, names):
        cb.replay_online(small_table, **good | change)


@pytest.mark.parametrize(
    ("code", "argument", "names", "change"),
    [
        ("wrong-kind", "methods", ["HVUCB", "identification"], {"methods": ["HVUCB"]}),
        ("unknown-choice", "charge", ["'declared'?"], {"charge": "declard"}),
        (
            "unknown-choice",
            "rounds",
            ["'mean'?"],
            {"methods": cb.spec("PSISR", rounds="meen")},
        ),
        (
            "above-smallest-cost",
            "min_cost",
            [],
            {"methods": cb.spec("CoPSI", min_cost=1e9)},
        ),
    ],
)
def test_invalid_identification_replays_are_refused(
    code, argument, names, change, small_table
):
    with bad_argument(code, argument, names):
        cb.replay_identification(
            small_table, **{"methods": "CoPSI", "rho": 20} | change
        )


@pytest.mark.parametrize("replay", [cb.replay_online, cb.replay_identification])
def test_path_of_a_table_is_refused(replay):
    with bad_argument("not-a-table", "table", ["'my.parquet'", "cobandit.load"]):
        replay(
            "my.parquet",
            ["HVUCB" if replay is cb.replay_online else "CoPSI"],
            rho=2,
            replications=2,
        )


@pytest.mark.parametrize(
    ("code", "argument", "names", "name", "options"),
    [
        ("unknown-choice", "method", ["'CoPSI'?"], "CoPSY", {}),
        (
            "unknown-choice",
            "option of CoHVUCB",
            ["'reward_scale'?"],
            "CoHVUCB",
            {"rewards_scale": 1},
        ),
        (
            "unknown-choice",
            "option of CoHVUCB",
            ["'objective'"],
            "CoHVUCB",
            {"objective": 0},
        ),
        ("unknown-choice", "option of CoPSI", ["'eta'"], "CoPSI", {"eta": 0.1}),
        ("unknown-choice", "option of CoPSI", ["'budget'"], "CoPSI", {"budget": 1}),
        ("out-of-range", "eta", [], "CoHVUCB", {"eta": -1}),
        ("not-a-number", "eta", [], "CoHVUCB", {"eta": "half"}),
        ("eta-and-n-init", "eta", [], "CoHVUCB", {"eta": 0.5, "n_init": 2}),
        ("not-a-single-value", "alpha", ["CoHVUCB"], "CoHVUCB", {"alpha": [1, 2]}),
    ],
)
def test_invalid_specs_are_refused(code, argument, names, name, options):
    with bad_argument(code, argument, names):
        cb.spec(name, **options)


@pytest.mark.parametrize(
    "change",
    [
        {"seed": -1},
        {"seed": 2**64},
        {"seed": 0.5},
        {"replication": -1},
        {"charge": "free"},
    ],
    ids=str,
)
def test_invalid_play_is_refused(change, small_table):
    with pytest.raises(CobanditError):
        cb.play(online_policy("HVUCB", small_table, 20.0), small_table, **change)


@pytest.mark.parametrize(("n_arms", "n_objectives"), [(5, 2), (7, 2), (6, 1)])
def test_play_refuses_a_policy_of_another_shape(n_arms, n_objectives, small_table):
    policy = cb.HVUCB(n_arms, n_objectives, 50.0, small_table.cost_range)
    with pytest.raises(CobanditError):
        cb.play(policy, small_table)


def test_play_calls_its_observer(small_table):
    """Before each pull that counts, with the policy as it was when it chose."""
    observations = []
    policy = online_policy("CoHVUCB", small_table, 20.0)
    run = cb.play(
        policy,
        small_table,
        watch=lambda p, arm: observations.append((arm, int(p.pulls.sum()))),
    )
    assert observations == list(
        zip(run.arms.tolist(), range(len(run.arms)), strict=True)
    )


# On real tables.


def test_guarantee_warnings_come_from_classes_only():
    """For costs above the profiled range a class warns and a replay only charges."""
    table = table_of([[[9.0, 0.5]] * 3] * 2, profiling_costs=[[1.0, 1.0]] * 2)
    policy = online_policy("HVUCB", table, 40.0)
    with pytest.warns(GuaranteeWarning):
        cb.play(policy, table)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        runs = cb.replay_online(table, ["HVUCB"], rho=20, replications=1)
    assert runs.loc[0, "spent"] == policy.spent == 36


# Classes without a kernel.


class OwnCoHV(cb.CoHVUCB):
    label = "own CoHV-UCB"


class OwnCoPSI(cb.CoPSI):
    label = "own CoPSI"


def halves(frame, own, method):
    parts = [
        frame[frame["method"] == name].drop(columns="method") for name in (own, method)
    ]
    return [part.reset_index(drop=True) for part in parts]


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_class_without_kernel_replays_like_its_kernel(workers):
    table = cb.load("synthetic-24")
    options = {"reward_scale": 0.03, "eta": 0.25}
    methods = [cb.spec(OwnCoHV, **options), cb.spec("CoHVUCB", **options)]
    how = {"replications": 2, "workers": workers, "backend": "threading"}
    for replay in (cb.replay_online, cb.replay_paths):
        pd.testing.assert_frame_equal(
            *halves(replay(table, methods, [0.5, 4], **how), "OwnCoHV", "CoHVUCB")
        )
    for charge in ("declared", "realised"):
        results = cb.replay_identification(
            table, [OwnCoPSI, "CoPSI"], rho=[1, 50], charge=charge, **how
        )
        pd.testing.assert_frame_equal(*halves(results, "OwnCoPSI", "CoPSI"))


def test_class_is_labelled_by_its_name():
    """Also in plans, figures and without a kernel; the project's names are reserved."""
    from cobandit import figures
    from cobandit.policies.registry import list_methods

    later = type("Later", (cb.CoPSI,), {"label": "later"})
    assert (
        cb.spec("Later") == cb.spec(later) and figures.method_label("Later") == "later"
    )
    assert list_methods()["Later"] is later  # where a plan looks
    with bad_argument("name-taken", "policy", ["CoPSI"]):
        cb.spec(type("CoPSI", (cb.CoPSI,), {}))
    with bad_argument("unknown-choice", "method", ["'Unnamed'"]):
        type("Unnamed", (cb.CoPSI,), {"label": ""})
        cb.spec("Unnamed")


@pytest.mark.slow
def test_invalid_or_clashing_class_is_refused():
    with bad_argument("not-a-method", "policy", ["dict", "OnlinePolicy"]):
        cb.spec(dict)
    assert cb.spec(cb.CoHVUCB) == cb.spec("CoHVUCB")
    twins = [type("Twin", (cb.CoPSI,), {}) for _ in range(2)]
    with bad_argument("equal-names", "methods"):
        cb.replay_identification(
            cb.load("synthetic-24"), [twins[0], cb.spec(twins[1], min_cost=1)], 50
        )
    with bad_argument("wrong-kind", "methods", ["OwnCoPSI", "online"]):
        cb.replay_online(cb.load("synthetic-24"), [OwnCoPSI], rho=[2])
