"""What the tests share: strategies, random tables, ask-and-tell protocol checks, the real table."""

import inspect
import itertools
import os
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import settings
from hypothesis import strategies as st

from cobandit.tables import Card, EvaluationTable, load
from cobandit.tables.keys import profiling_mask

settings.register_profile("cobandit", deadline=None, derandomize=True, max_examples=100)
settings.load_profile("cobandit")

SWEBENCH = "swebench-bash-only"
MIRROR = Path(
    os.environ.get("COBANDIT_MIRROR", Path(__file__).resolve().parents[2] / "shared" / "data")
)  # as the tests were started, before one changes it


@pytest.fixture(scope="session")
def swebench():
    """The real table; skipped where neither COBANDIT_MIRROR nor ../shared/data holds its records."""
    if not (MIRROR / SWEBENCH / "leaderboards.json").is_file():
        pytest.skip(f"COBANDIT_MIRROR names no directory with {SWEBENCH}/leaderboards.json")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COBANDIT_MIRROR", str(MIRROR))
        return load(SWEBENCH)


# ----------------------------------------------------------------------------- strategies


@st.composite
def mean_matrices(draw, max_arms=8, max_objectives=4, step=8):
    """(K, D) on a grid of powers of two: differences are exact, ties and duplicates frequent."""
    n_arms = draw(st.integers(2, max_arms))
    n_objectives = draw(st.integers(1, max_objectives))
    cells = st.lists(st.integers(0, step), min_size=n_objectives, max_size=n_objectives)
    return np.array(draw(st.lists(cells, min_size=n_arms, max_size=n_arms))) / step


def cost_vectors(n_arms, step=16):
    """(K,) in (0, 1] on a grid of powers of two."""
    return st.lists(st.integers(1, step), min_size=n_arms, max_size=n_arms).map(lambda c: np.array(c) / step)


@st.composite
def problems(draw, max_arms=8, max_objectives=4):
    """Means (K, D) and costs (K,)."""
    means = draw(mean_matrices(max_arms, max_objectives))
    return means, draw(cost_vectors(len(means)))


# ----------------------------------------------------------------------------- tables


def table_of(arms, *, costs_seen=None, kind="synthetic", name="made-up"):
    """Table whose arm i has the evaluation rows ``arms[i]``: (cost, reward_1, ..., reward_D) each.

    ``costs_seen`` are the costs of its profiling rows, two or more an arm; by default those of its first
    and last evaluation row.
    """
    if costs_seen is None:
        costs_seen = [[rows[0][0], rows[-1][0]] for rows in arms]
    n_profiling = max(map(len, costs_seen))
    n_instances = n_profiling + max(map(len, arms))
    profiling = profiling_mask(n_instances, n_profiling, seed=0)
    ids = np.array([f"q{q:05d}" for q in range(n_instances)])
    card = Card.model_validate(
        {
            "name": name,
            "title": f"Made up ({kind})",
            "source": "tests",
            "license": "CC0-1.0",
            "kind": kind,
            "records": "none.parquet",
            "cost": {"column": "cost", "unit": "units"},
            "objectives": [
                {"name": f"objective{d}", "column": f"objective{d}"} for d in range(len(arms[0][0]) - 1)
            ],
            "split": {"profiling": n_profiling, "seed": 0},
        }
    )
    records = []
    for i, (rows, seen) in enumerate(zip(arms, costs_seen, strict=True)):
        blank = [0.5] * (len(rows[0]) - 1)
        profiled = zip(ids[profiling], ([cost, *blank] for cost in seen), strict=False)
        evaluated = zip(ids[~profiling], rows, strict=False)
        records += [[f"arm{i:03d}", q, *row] for q, row in itertools.chain(profiled, evaluated)]
    columns = ["config", "instance", "cost", *(objective.column for objective in card.objectives)]
    return EvaluationTable.from_frame(pd.DataFrame(records, columns=columns), card, source="a test")


def ragged_table(rng, n_arms, n_objectives, sizes=(2, 12), noise=0.5):
    """Random table: each arm has its own number of instances, mean cost and mean rewards (to one decimal)."""
    arms, seen = [], []
    for _ in range(n_arms):
        base, mean = rng.uniform(0.1, 1.0), rng.uniform(size=n_objectives)
        n = int(rng.integers(*sizes, endpoint=True))
        costs = base * rng.uniform(1 - noise, 1 + noise, n)
        rewards = np.clip(np.round(mean + rng.normal(0, 0.3, (n, n_objectives)), 1), 0, 1)
        arms.append(np.column_stack([costs, rewards]).tolist())
        seen.append((base * rng.uniform(1 - noise, 1 + noise, int(rng.integers(2, 5)))).tolist())
    return table_of(arms, costs_seen=seen)


@pytest.fixture(scope="session")
def small_table():
    """Six arms, two objectives, ragged."""
    return ragged_table(np.random.default_rng(6), 6, 2)


@pytest.fixture(scope="session")
def synthetic():
    """The bundled table."""
    return load("synthetic-24")


# ----------------------------------------------------------------------------- ask and tell


def run(policy, feedback):
    """Play until the policy stops; ``feedback(arm)`` gives reward and cost. The arms in their order."""
    arms = []
    while (arm := policy.ask()) is not None:
        policy.tell(arm, *feedback(arm))
        arms.append(arm)
    return arms


def noise_free(rewards, costs):
    """Feedback that never varies."""
    return lambda arm: (rewards[arm], costs[arm])


def snapshot(policy):
    """Everything that a policy remembers, as bytes, its unfinished plan included."""
    state = dict(vars(policy))
    plan = state.pop("_plan", None)
    if plan is not None and plan.gi_frame is not None:
        local = {key: value for key, value in inspect.getgeneratorlocals(plan).items() if key != "self"}
        state["plan"] = (plan.gi_frame.f_lasti, local)
    return pickle.dumps(state)


#: What `tell` must refuse while arm 0 of two objectives is waiting: arm, reward, cost.
BAD_TELLS = {
    "other arm": (1, [0.5, 0.5], 1.0),
    "no such arm": (7, [0.5, 0.5], 1.0),
    "negative arm": (-1, [0.5, 0.5], 1.0),
    "no arm": (None, [0.5, 0.5], 1.0),
    "arm as text": ("0", [0.5, 0.5], 1.0),
    "reward above one": (0, [1.2, 0.5], 1.0),
    "reward below zero": (0, [0.5, -0.1], 1.0),
    "reward NaN": (0, [0.5, float("nan")], 1.0),
    "reward infinite": (0, [float("inf"), 0.5], 1.0),
    "reward too short": (0, [0.5], 1.0),
    "reward too long": (0, [0.5, 0.5, 0.5], 1.0),
    "reward a scalar": (0, 0.5, 1.0),
    "reward nested": (0, [[0.5, 0.5]], 1.0),
    "reward text": (0, ["high", "low"], 1.0),
    "cost zero": (0, [0.5, 0.5], 0.0),
    "cost negative": (0, [0.5, 0.5], -1.0),
    "cost NaN": (0, [0.5, 0.5], float("nan")),
    "cost infinite": (0, [0.5, 0.5], float("inf")),
    "cost text": (0, [0.5, 0.5], "dear"),
}
