"""Every method that is registered passes the public checks, and the checks find what is broken."""

import numpy as np
import pytest

import cobandit as cb
from cobandit import testing
from cobandit.errors import CobanditError
from cobandit.policies.identification import IdentificationPolicy
from cobandit.policies.online import OnlinePolicy
from cobandit.replay import kernels

METHODS = [
    *(cb.spec(name) for name in (*kernels.ONLINE, *kernels.IDENTIFICATION)),
    cb.spec("PSISR", rounds="max"),
    cb.spec("PSISR", rounds="mean"),
]
every_method = pytest.mark.parametrize(
    "method", METHODS, ids=lambda method: f"{method.name}-{method.options}"
)


@every_method
def test_protocol(method):
    testing.check_policy(method)


@every_method
@pytest.mark.parametrize("seeds", [range(8), pytest.param(range(8, 30), marks=pytest.mark.slow)])
def test_kernel_makes_the_pulls_of_its_class(method, seeds):
    testing.check_kernel(method, seeds)


# ----------------------------------------------------------------------------- what the checks find


class Sound(OnlinePolicy):
    """Fewest pulls first, written with nothing but the parent."""

    label = "Sound"

    def index(self):
        return -self.pulls.astype(float)


class Planned(IdentificationPolicy):
    """One round."""

    label = "Planned"

    def __init__(self, costs, budget, n_objectives, *, min_cost=None):
        super().__init__(costs, budget, n_objectives, min_cost=min_cost)
        if budget < self.costs.sum() * (1 - 1e-9):
            raise cb.errors.BudgetError("no round", float(self.costs.sum()))

    def _schedule(self):
        yield from range(self.n_arms)


@pytest.mark.parametrize("policy", [Sound, Planned])
def test_a_policy_of_ones_own_passes(policy):
    testing.check_policy(policy)
    with pytest.raises(CobanditError, match="no kernel"):
        testing.check_kernel(policy)


class Fickle(Sound):
    def ask(self):
        self.asked = getattr(self, "asked", -1) + 1
        self._asked = self.asked % self.n_arms if super().ask() is not None else None
        return self._asked


class Restless(Sound):
    def ask(self):
        self.asked = getattr(self, "asked", 0) + 1
        return super().ask()


class Endless(Sound):
    def ask(self):
        arm = super().ask()
        self.ended = getattr(self, "ended", 0) + (arm is None)
        return 0 if self.ended > 1 else arm


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
    def __init__(self, n_arms, n_objectives, budget, cost_range, *, expected_costs=None, first=0):
        super().__init__(n_arms, n_objectives, budget, cost_range, expected_costs=expected_costs)
        self.first, self.order = 0, np.random.default_rng().permutation(n_arms)

    def index(self):
        return self.order - 1000.0 * self.pulls


class Lost(Sound):
    def __setstate__(self, state):
        vars(self).update(state)
        self.pulls = np.zeros_like(self.pulls)


class Generous(Planned):
    def __init__(self, costs, budget, n_objectives, *, min_cost=None):
        IdentificationPolicy.__init__(self, costs, budget, n_objectives, min_cost=min_cost)


@pytest.mark.parametrize(
    ("policy", "check", "message"),
    [
        (Fickle, testing.check_ask, "another arm"),
        (Restless, testing.check_ask, "a second ask changed"),
        (Endless, testing.check_ask, "went on"),
        (Hasty, testing.check_tell, "a refused tell changed"),
        (Trusting, testing.check_tell, "was not refused"),
        (Overspending, testing.check_budget, "with fixed costs"),
        (Cheap, testing.check_budget, "told were"),
        (Generous, testing.check_budget, "not refused by a BudgetError"),
        (Forgetful, testing.check_options, "asks for others"),
        (Lost, testing.check_pickle, "its pickle"),
    ],
)
def test_a_fault_is_found_by_its_check(policy, check, message):
    with pytest.raises(AssertionError, match=message):
        check(policy)


@pytest.mark.parametrize("method", ["CoHVUCB", "CoPSI"])
def test_a_kernel_that_differs_is_found(method, monkeypatch):
    registry = kernels.ONLINE if method in kernels.ONLINE else kernels.IDENTIFICATION
    kernel = registry[method]

    def other_stream(p, *where):
        return kernel.run(p, *(np.uint64(9) if isinstance(each, np.uint64) else each for each in where))

    monkeypatch.setitem(registry, method, kernel._replace(run=other_stream))
    with pytest.raises(AssertionError, match=r"part at pull|ends with"):
        testing.check_kernel(method, seeds=range(3))
