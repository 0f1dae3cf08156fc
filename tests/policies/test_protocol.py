"""Every registered method passes the public checks, which find broken policies."""

import numpy as np
import pytest
from support import methods
from support.faults import bad_argument

import cobandit as cb
from cobandit.policies.asktell import Pull
from cobandit.policies.identification_policy import IdentificationPolicy
from cobandit.policies.online_policy import OnlinePolicy
from cobandit.policies.registry import KERNELS
from cobandit.testing import policy_checks
from cobandit.testing.kernel_checks import check_kernel
from cobandit.testing.policy_runs import evaluate_on, fly, policy_on
from cobandit.testing.small_tables import table_of

METHODS = [
    *(cb.spec(name) for name in (*methods.ONLINE, *methods.IDENTIFICATION)),
    cb.spec("PSISR", rounds="max"),
    cb.spec("PSISR", rounds="mean"),
]
QUICK = ("CoHVUCB", "CoPSI")


def named(method):
    return f"{method.name}-{method.options}"


@pytest.mark.slow
@pytest.mark.parametrize(
    "method",
    [
        each if each.name in QUICK else pytest.param(each, marks=pytest.mark.slow)
        for each in METHODS
    ],
    ids=named,
)
def test_protocol(method):
    policy_checks.check_policy(method)


@pytest.mark.slow
@pytest.mark.parametrize(
    "seeds", [range(4), pytest.param(range(4, 30), marks=pytest.mark.acceptance)]
)
@pytest.mark.parametrize("method", METHODS, ids=named)
def test_kernel_makes_the_pulls_of_its_class(method, seeds):
    check_kernel(method, seeds)


@pytest.mark.slow
@pytest.mark.parametrize("method", [*METHODS, *map(cb.spec, methods.ONCE)], ids=named)
def test_policies_are_invariant_to_the_scale_of_costs(method):
    """The same feedback in another unit leads to the same pulls."""
    for seed in range(4):
        pulls = []
        for unit in (1.0, 7.0, 1 / 3):
            rng = np.random.default_rng(seed)
            rows = [
                [(unit * cost, *row) for row in rng.random((30, 2))]
                for cost in rng.uniform(0.2, 1, 6)
            ]
            table = table_of(rows)
            policy = policy_on(method, table, 11.5 * table.costs.sum())
            pulls.append([event.pull.key for event in fly(policy, evaluate_on(table))])
        assert pulls[0] == pulls[1] == pulls[2]


# Broken policies.


class Sound(OnlinePolicy):
    """Fewest pulls first, written with nothing but the parent."""

    label = "Sound"

    def index(self):
        return -self.pulls.astype(float)


class Planned(IdentificationPolicy):
    """One round."""

    label = "Planned"

    def _schedule(self):
        yield from range(self.n_arms)


@pytest.mark.slow
@pytest.mark.parametrize("policy", [Sound, Planned])
def test_custom_policy_passes_the_protocol(policy):
    policy_checks.check_policy(policy)
    with bad_argument("no-kernel", "method", [policy.__name__]):
        check_kernel(policy)


class Repeating(Sound):
    def ask(self):
        pull = super().ask()
        return pull and Pull(pull, 0)


class Restless(Sound):
    def ask(self):
        pull = super().ask()
        self.in_vain = getattr(self, "in_vain", 0) + (pull is None)
        return pull

    def index(self):
        return super().index() * (-1) ** getattr(self, "in_vain", 0)


class Endless(Sound):
    def ask(self):
        pull = super().ask()
        return Pull(0, 0) if pull is None and not self.in_flight.any() else pull


class Stuck(Planned):
    def _choose(self):
        return None if self.pulls.any() else super()._choose()

    @property
    def finished(self):
        return False


class Dropping(Planned):
    def _try_again(self, pull):
        pass


class Renumbering(Sound):
    def _try_again(self, pull):
        pass


class Impatient(Planned):
    """Goes on by what it was told so far, while results are still out."""

    def _schedule(self):
        yield from range(self.n_arms)
        yield int(self.mean_rewards[:, 0].argmax())


class Blind(Sound):
    """Forgets what is in flight."""

    @property
    def affordable(self):
        return self.spent + self.expected_costs <= self.budget


class BlindPlan(cb.UniformIdentification):
    """Sets aside what evaluations cost on average."""

    @property
    def _set_aside(self):
        return self.costs


class Hasty(Sound):
    def tell(self, arm, reward, cost=None):
        self.last = reward
        super().tell(arm, reward, cost)


class Trusting(Sound):
    def tell(self, arm, reward, cost=None):
        super().tell(arm, np.clip(reward, 0, 1), cost)


class Overspending(Sound):
    @property
    def affordable(self):
        return np.full(self.n_arms, self.spent <= self.budget)


class Cheap(Sound):
    def _record(self, arm, reward, cost):
        super()._record(arm, reward, cost * 0.9)


class Forgetful(Sound):
    def __init__(
        self, n_arms, n_objectives, budget, cost_range, *, expected_costs=None, first=0
    ):
        super().__init__(
            n_arms, n_objectives, budget, cost_range, expected_costs=expected_costs
        )
        self.first, self.order = 0, np.random.default_rng().permutation(n_arms)

    def index(self):
        return self.order - 1000.0 * self.pulls


class Lost(Sound):
    def __setstate__(self, state):
        vars(self).update(state)
        self.pulls = np.zeros_like(self.pulls)


class Generous(Planned):
    def _check_budget(self):
        pass


@pytest.mark.slow
@pytest.mark.parametrize(
    ("policy", "check", "message"),
    [
        (Repeating, policy_checks.check_ask, "requested twice"),
        (Restless, policy_checks.check_ask, "returned None matter"),
        (Endless, policy_checks.check_ask, "after the policy was finished"),
        (Stuck, policy_checks.check_ask, "nothing in flight"),
        (Dropping, policy_checks.check_order, "with 1 evaluations"),
        (Renumbering, policy_checks.check_ask, "number"),
        (Impatient, policy_checks.check_order, "with 3 evaluations"),
        (Blind, policy_checks.check_budget, "in flight"),
        (BlindPlan, policy_checks.check_budget, "in flight"),
        (Hasty, policy_checks.check_tell, "a rejected tell changed"),
        (Trusting, policy_checks.check_tell, "was not rejected"),
        (Overspending, policy_checks.check_budget, "with fixed costs"),
        (Cheap, policy_checks.check_ask, "spent differ from"),
        (Generous, policy_checks.check_budget, "raised no BudgetError"),
        (Forgetful, policy_checks.check_copies, "requests other evaluations"),
        (Lost, policy_checks.check_copies, "a copy by pickle"),
    ],
)
def test_faulty_policy_fails_its_check(policy, check, message):
    with pytest.raises(AssertionError, match=message):
        check(policy)


@pytest.mark.parametrize("method", ["CoHVUCB", "CoPSI"])
def test_differing_kernel_is_reported(method, monkeypatch):
    policy = cb.spec(method).policy
    kernel = KERNELS[policy]

    def other_stream(p, *where):
        return kernel.run(
            p,
            *(
                np.uint64(9) if isinstance(entry, np.uint64) else entry
                for entry in where
            ),
        )

    monkeypatch.setitem(KERNELS, policy, kernel._replace(run=other_stream))
    with pytest.raises(AssertionError, match=r"differ at pull|has the result"):
        check_kernel(method, seeds=range(3))
