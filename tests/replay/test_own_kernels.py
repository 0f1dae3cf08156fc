"""A kernel of the user's: a class, a tuple and a formula in a module of one's own."""

import subprocess
import sys
import textwrap
from typing import NamedTuple

import numpy as np
import pytest

import cobandit as cb
from cobandit import testing
from cobandit.errors import CobanditError
from cobandit.policies.online_policy import OnlinePolicy
from cobandit.policies.registry import KERNELS
from cobandit.replay import kernels
from cobandit.replay.kernels import compiling, selection

MODULE = """
    from typing import NamedTuple
    import numpy as np
    from cobandit.policies.online_policy import OnlinePolicy
    from cobandit.replay.kernels import online_index

    class Weighted(OnlinePolicy):
        label = "Weighted"
        def index(self):
            return np.prod(self.mean_rewards, axis=1) - WEIGHT * self.normalised_mean_costs

    class WeightedParameters(NamedTuple):
        alpha: float

    @online_index(Weighted, WeightedParameters)
    def _weighted_index(n, sums, squares, p):
        hypervolume = 1.0
        for d in range(1, len(sums)):
            hypervolume *= sums[d] / n
        return hypervolume - WEIGHT * (sums[0] / n)
"""

USE = """
    import cobandit as cb, own
    from cobandit.policies.registry import KERNELS
    table = cb.load("synthetic-24")
    policy = own.Weighted(24, 2, 8 * table.costs.sum(), table.cost_range, expected_costs=table.costs)
    cb.play(policy, table)
    runs = cb.replay_online(table, ["Weighted", own.Weighted][CHOICE], 8, replications=4, workers=WORKERS)
    assert own.Weighted in KERNELS
    print(runs["spent"][0] == policy.spent and runs["pulls"][0] == policy.pulls.sum())
    print(runs["efficiency_regret"].tolist())
"""


def replayed(folder, weight, choice, workers):
    """Whether a fresh process replays what its class does, and the regrets; two workers are two others."""
    (folder / "own.py").write_text(f"WEIGHT = {weight}\n" + textwrap.dedent(MODULE))
    use = textwrap.dedent(USE).replace("CHOICE", str(choice)).replace("WORKERS", str(workers))
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", use], cwd=folder, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    twins, regrets = done.stdout.splitlines()
    return twins == "True", regrets


@pytest.mark.slow
def test_a_changed_formula_is_noticed(tmp_path):
    """A run that was kept on disk would play the formula of before."""
    (first, before), (second, after) = replayed(tmp_path, 0.25, 0, 2), replayed(tmp_path, 2.0, 1, 1)
    assert first and second and before != after


class Own(OnlinePolicy):
    label = "Own"

    def index(self):
        return -self.pulls.astype(float)


class OwnParameters(NamedTuple):
    """Nothing is read."""


@pytest.fixture
def forgotten():
    """What a test registers is forgotten afterwards."""
    known = (KERNELS, compiling.INDICES)
    before = [dict(each) for each in known]
    yield
    for each, kept in zip(known, before, strict=True):
        each.clear()
        each.update(kept)


def register(policy=Own, parameters=OwnParameters, formula=lambda n, sums, squares, p: -float(n)):
    kernels.online_index(policy, parameters)(formula)


@pytest.mark.slow
def test_only_runs_of_the_project_are_kept_on_disk(forgotten):
    register()
    assert KERNELS[Own].run is not KERNELS[cb.CoHVUCB].run
    runs = cb.replay_online(cb.load("synthetic-24"), ["Own", "UniformAllocation"], 4, replications=3)
    own, uniform = (runs[runs["method"] == name]["spent"].tolist() for name in ("Own", "UniformAllocation"))
    assert own == uniform
    run = KERNELS[Own].run
    assert run.signatures and run.stats.cache_path is None
    assert KERNELS[cb.CoHVUCB].run.stats.cache_path


@pytest.mark.slow
def test_formulas_that_read_the_same_share_a_run_until_it_is_compiled(forgotten):
    """A class that a notebook defines again takes the place of the former one, with a tuple of its own."""
    eager = type("Eager", (Own,), {"index": lambda self: self.pulls.astype(float)})
    fresh = type("FreshParameters", (OwnParameters,), {})  # no run of this process has compiled it
    register(parameters=fresh), register(eager, fresh, lambda n, sums, squares, p: float(n))
    assert KERNELS[Own].run is KERNELS[eager].run
    for policy in (Own, eager):
        testing.check_kernel(policy, range(2))
    with pytest.raises(CobanditError, match="define the tuple again"):
        register(eager, fresh)
    again = type("Own", (Own,), {"__module__": __name__, "__qualname__": Own.__qualname__})
    register(again, type("OwnParameters", (OwnParameters,), {}))
    assert cb.spec("Own").policy is again


def test_a_formula_of_ones_own_does_not_join_a_run_of_the_project(forgotten):
    """What is kept on disk does not know it."""
    with pytest.raises(CobanditError, match="define the tuple again"):
        register(parameters=selection.PaperParameters)


def test_a_kernel_cannot_take_the_name_of_another_method(forgotten):
    taken = type("CoHVUCB", (cb.CoHVUCB,), {})
    with pytest.raises(CobanditError, match="there is a method CoHVUCB already"):
        register(taken)
    assert OwnParameters not in compiling.INDICES


class Listed(NamedTuple):
    """An array, which a function that is called by its address cannot be given."""

    targets: np.ndarray


def test_a_target_reads_numbers(forgotten):
    halves = type("Halves", (cb.PSISR,), {"__module__": __name__})
    kernels.elimination_target(halves, Listed)(lambda at, p: p.targets[at.phase - 1])
    with pytest.raises(CobanditError, match="Listed: a target reads numbers"):
        cb.replay_identification(cb.load("synthetic-24"), halves, 100, replications=1)


class Steady(cb.PSISR):
    """Its targets grow by the same at every phase."""

    step = 2

    def _target(self, phase):
        return self.step * phase


class SteadyParameters(NamedTuple):
    """By how much targets grow."""

    step: int


@pytest.mark.slow
def test_targets_of_ones_own_share_the_run_of_all_eliminations(forgotten):
    """A notebook may define class and formula again, for the same tuple."""
    kernels.elimination_target(Steady, SteadyParameters)(lambda at, p: p.step * at.phase)
    assert KERNELS[Steady].run is KERNELS[cb.CoPSI].run
    testing.check_kernel(Steady, range(3))
    squares = {"_target": lambda self, phase: self.step * phase**2}
    again = type("Steady", (Steady,), {"__module__": __name__, **squares})
    kernels.elimination_target(again, SteadyParameters)(lambda at, p: p.step * at.phase**2)
    testing.check_kernel(again, range(3))
