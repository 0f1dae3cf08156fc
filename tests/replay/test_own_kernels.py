"""A kernel of the user's: a class and a formula in a module of one's own."""

import subprocess
import sys
import textwrap

import pytest
from support.faults import bad_argument

import cobandit as cb
from cobandit import testing
from cobandit.policies.online_policy import OnlinePolicy
from cobandit.policies.registry import KERNELS
from cobandit.replay import kernels

MODULE = """
    import numpy as np
    from cobandit.policies.online_policy import OnlinePolicy
    from cobandit.replay.kernels import online_index

    class Weighted(OnlinePolicy):
        label = "Weighted"
        def index(self):
            hypervolume = np.prod(self.mean_rewards, axis=1)
            return hypervolume - WEIGHT * self.normalised_mean_costs

    @online_index(Weighted)
    def _weighted_index(n, sums, squares):
        hypervolume = 1.0
        for d in range(1, len(sums)):
            hypervolume *= sums[d] / n
        return hypervolume - WEIGHT * (sums[0] / n)
"""

USE = """
    import cobandit as cb, own
    from cobandit.policies.registry import KERNELS
    table = cb.load("synthetic-24")
    costs = table.costs
    policy = own.Weighted(
        24, 2, 8 * costs.sum(), table.cost_range, expected_costs=costs
    )
    cb.play(policy, table)
    method = ["Weighted", own.Weighted][CHOICE]
    runs = cb.replay_online(table, method, 8, replications=4, workers=WORKERS)
    assert own.Weighted in KERNELS
    print(runs["spent"][0] == policy.spent and runs["pulls"][0] == policy.pulls.sum())
    print(runs["efficiency_regret"].tolist())
"""


def replayed(folder, weight, choice, workers):
    """Compare a replay in a fresh process, or two workers, with its class."""
    (folder / "own.py").write_text(f"WEIGHT = {weight}\n" + textwrap.dedent(MODULE))
    use = (
        textwrap.dedent(USE)
        .replace("CHOICE", str(choice))
        .replace("WORKERS", str(workers))
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", use],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    twins, regrets = done.stdout.splitlines()
    return twins == "True", regrets


@pytest.mark.acceptance
def test_changed_formula_is_noticed(tmp_path):
    """A run that was kept on disk would play the formula of before."""
    (first, before), (second, after) = (
        replayed(tmp_path, 0.25, 0, 2),
        replayed(tmp_path, 2.0, 1, 1),
    )
    assert first and second and before != after


class Own(OnlinePolicy):
    label = "Own"
    sign = -1

    def index(self):
        return self.sign * self.pulls.astype(float)


class Steady(cb.PSISR):
    """Its targets grow by the same at every phase."""

    step = 2

    def _target(self, phase):
        return self.step * phase


@pytest.fixture
def forgotten():
    """What a test registers is forgotten afterwards."""
    before = dict(KERNELS)
    yield
    KERNELS.clear()
    KERNELS.update(before)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("policy", "register", "formula", "others", "run_of"),
    [
        (
            Own,
            kernels.online_index,
            lambda n, sums, squares, sign: sign * float(n),
            {"sign": 1},
            cb.CoHVUCB,
        ),
        (
            Steady,
            kernels.elimination_target,
            lambda terms, step: step * terms.phase,
            {"step": 3},
            cb.CoPSI,
        ),
    ],
    ids=["index", "target"],
)
def test_custom_formulas_share_the_compiled_run(
    policy, register, formula, others, run_of, forgotten
):
    """A class that a notebook defines again takes the place of the former one."""
    repeated = type(policy.__name__, (policy,), {"__module__": __name__, **others})
    for defined in (policy, repeated):
        register(defined)(formula)
        assert KERNELS[defined].run is KERNELS[run_of].run
        testing.check_kernel(defined, range(3))


def test_kernel_name_must_be_unused(forgotten):
    namesake = type("CoHVUCB", (cb.CoHVUCB,), {})
    with bad_argument("name-taken", "policy", ["CoHVUCB"]):
        kernels.online_index(namesake)(lambda n, sums, squares: -float(n))
    assert namesake not in KERNELS


def test_formulas_are_stored_under_separate_names():
    """Under a single name, processes that compile at once would confuse formulas."""
    policies = [
        method(3, 2, 9.0, (0.2, 1.0), expected_costs=[1.0] * 3)
        for method in (cb.CoHVUCB, cb.HVUCB)
    ]
    names = {
        KERNELS[type(policy)].read(policy).call._pyfunc.__qualname__
        for policy in policies
    }
    assert (
        len(names) == 2
        and len({KERNELS[policy].run.py_func.__qualname__ for policy in KERNELS}) > 3
    )


def test_unsupported_replays_are_reported(forgotten):
    with bad_argument("evaluates-once", "feedback", ["CoPSIOnce"]):
        testing.check_kernel("CoPSIOnce")
    for formula, attribute, value in (
        (lambda terms, stepp: 1, "stepp", "no such attribute"),
        (lambda terms, costs: 1, "costs", "array"),
    ):
        kernels.elimination_target(Steady)(formula)
        with bad_argument("not-a-number", attribute, ["Steady", value]):
            testing.check_kernel(Steady)


def test_formula_reads_at_most_eight_numbers(forgotten):
    with bad_argument("too-many-numbers", "formula", ["9", "8"]):
        kernels.elimination_target(Steady)(lambda terms, a, b, c, d, e, f, g, h, i: 1)
