"""The ask-and-tell protocol of all policies."""

from __future__ import annotations

import inspect
import warnings
from inspect import Parameter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobandit import _budget, _validation
from cobandit.errors import BudgetError, CobanditError, GuaranteeWarning

VARIADIC = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)


class Pull(int):
    """An evaluation that a policy requests: an arm, and the evaluation's number.

    A pull is an integer, the number of its arm, and can be used as an index. Two pulls
    of one arm compare equal; `key` distinguishes them.

    Attributes
    ----------
    number : int
        Number of the evaluation among the evaluations of its arm, from 0. An evaluation
        that is repeated after a failure keeps its number. If the policy evaluates each
        instance at most once, the number is the position of the instance in the
        policy's order.

    Examples
    --------
    >>> pull = Pull(2, 7)
    >>> pull, pull.number, pull.key, ["a", "b", "c"][pull]
    (2, 7, (2, 7), 'c')
    """

    number: int

    def __new__(cls, arm: int, number: int) -> Pull:  # noqa: D102
        pull = super().__new__(cls, arm)
        pull.number = number
        return pull

    def __getnewargs__(self) -> tuple[int, int]:  # type: ignore[override]
        return self.key

    @property
    def key(self) -> tuple[int, int]:
        """The arm and the number, which identify the evaluation."""
        return int(self), self.number


class AskTell:
    """A policy that requests evaluations and receives their results in any order.

    An evaluation is *in flight* from its request until its result is reported; any
    number of evaluations may be in flight. Subclasses choose the next arm in `_choose`.
    Their constructors store each argument as an attribute of the same name, and may
    pass ``**options`` to the constructor of their parent. `inspect.signature` then
    lists the parameters of both.

    A part of the budget is reserved for each evaluation in flight: the largest declared
    cost of its arm. If an observed cost has exceeded the largest declared cost of its
    arm, all reserves are multiplied by the largest ratio of an observed cost to this
    declared cost.

    Attributes
    ----------
    n_arms, n_objectives : int
        K and D.
    budget : float
        B.
    spent : float
        Sum of the charged costs so far, in the unit of the budget.
    pulls : ndarray of int, shape (K,)
        Number of scored evaluations per arm.
    in_flight : ndarray of int, shape (K,)
        Number of requested evaluations without a result, per arm.
    """

    #: Name in figures and tables.
    label = ""

    #: Whether the last evaluation may exceed the budget. A replay allows this and does
    #: not count this evaluation, because T(B) is the number of pulls within the budget.
    overdraw = False

    #: Largest declared cost of one evaluation of each arm, shape (K,).
    _largest: NDArray[np.float64]

    def __init_subclass__(cls, **kwargs: Any):
        super().__init_subclass__(**kwargs)
        if "__init__" in vars(cls):
            cls.__signature__ = _full_signature(cls)  # type: ignore[attr-defined]

    def __init__(self, n_arms: int, n_objectives: int, budget: float):
        self.n_arms = _validation.count(n_arms, "n_arms", 2)
        self.n_objectives = _validation.count(n_objectives, "n_objectives", 1)
        self.budget = _validation.positive(budget, "budget")
        self.spent = 0.0
        self.pulls = np.zeros(self.n_arms, dtype=np.int64)
        self.in_flight = np.zeros(self.n_arms, dtype=np.int64)
        self._reward_sums = np.zeros((self.n_arms, self.n_objectives))

        # number of each arm's next new evaluation
        self._numbers = np.zeros(self.n_arms, dtype=np.int64)
        # evaluations in flight, oldest first, and failed ones, as (arm, number)
        self._flying: list[tuple[int, int]] = []
        self._failed: list[tuple[int, int]] = []
        # largest ratio of an observed cost to the largest declared cost of its arm
        self._excess = 1.0
        # whether a `GuaranteeWarning` was given
        self.warned = False

    @property
    def begun(self) -> NDArray[np.int64]:
        """Number of evaluations per arm that are scored or in flight, shape (K,)."""
        return self.pulls + self.in_flight

    @property
    def upcoming(self) -> int | None:
        """Arm of the evaluation that the next `ask` returns, or None."""
        return self._choose()

    @property
    def finished(self) -> bool:
        """Whether the run is over: nothing is in flight, and `ask` returns None."""
        return not self._flying and self.upcoming is None

    @property
    def options(self) -> dict[str, Any]:
        """Arguments with which the constructor of this policy was called."""
        return {
            name: getattr(self, name)
            for name in inspect.signature(type(self)).parameters
        }

    def ask(self) -> Pull | None:
        """Return the next evaluation to make; every call returns a different one.

        Returns
        -------
        Pull or None
            None if no evaluation can be requested now: either the policy needs the
            results of evaluations in flight first, or the run is `finished`.
        """
        arm = self._choose()
        if arm is None:
            return None

        # failed evaluations of the arm come first, in the order of their numbers
        failed = [number for failed_arm, number in self._failed if failed_arm == arm]
        pull = Pull(arm, min(failed, default=self._next_number(arm)))
        if failed:
            self._failed.remove(pull.key)
        else:
            self._begin(pull)
        self._flying.append(pull.key)
        self.in_flight[arm] += 1
        return pull

    def tell(
        self, arm: int, reward: ArrayLike | None, cost: float | None = None
    ) -> None:
        """Report the result of an evaluation in flight, in any order.

        Parameters
        ----------
        arm : Pull or int
            The evaluation, as `ask` returned it. The plain number of an arm stands for
            the arm's oldest evaluation in flight.
        reward : array_like, shape (D,), or None
            Objectives in [0, 1]. None reports a failure: ``cost`` is charged, nothing
            is scored, and a later `ask` returns the same evaluation again.
        cost : float, optional
            Cost of the evaluation, > 0, in the unit of the budget. It may exceed the
            budget. By default, identification policies charge the declared cost, and a
            failure costs nothing.

        Warns
        -----
        GuaranteeWarning
            Once, if a cost is outside the declared range. The cost is charged, but the
            guarantee is void.

        Raises
        ------
        CobanditError
            If the evaluation is not in flight, or if the reward or the cost is invalid.
            The policy is then unchanged.
        """
        pull = self.find(arm)
        has_failed = reward is None
        values = np.empty(0) if reward is None else self._valid(reward)
        if has_failed:
            cost = _validation.non_negative(0.0 if cost is None else cost, "cost")
        else:
            cost = self._declared_cost(pull) if cost is None else cost
            cost = _validation.positive(cost, "cost")

        # a failure may cost less than the declared range without a warning
        violation = ""
        is_cheap_failure = has_failed and cost <= _budget.add_slack(self._largest[pull])
        if not self.warned and not is_cheap_failure:
            violation = self._guarantee_violation(pull, cost)

        # change the policy only now, after all checks have passed
        self._land(pull)
        self._excess = max(self._excess, cost / self._largest[pull])
        if has_failed:
            self.spent += cost
            self._try_again(pull)
        else:
            self._record(pull, values, cost)

        self._update()
        if violation:
            self.warned = True
            warnings.warn(
                f"cost {cost:g} of arm {int(pull)} is {violation}",
                GuaranteeWarning,
                stacklevel=2,
            )

    def find(self, arm: int, among: list[tuple[int, int]] | None = None) -> Pull:
        """Return the evaluation in flight that an argument of `tell` stands for.

        Parameters
        ----------
        arm : Pull or int
            An evaluation, or the number of an arm, which stands for the oldest
            evaluation of this arm.
        among : list of (arm, number), optional
            Evaluations to search; by default the evaluations in flight.

        Raises
        ------
        CobanditError
            If the evaluation is not among these.
        """
        # an int without `number` matches any evaluation of its arm
        number = getattr(arm, "number", None)
        evaluations = self._flying if among is None else among
        for candidate, candidate_number in evaluations:
            if candidate == arm and number in (None, candidate_number):
                return Pull(candidate, candidate_number)

        which = f"arm {arm!r}"
        if number is not None:
            which = f"evaluation {number} of arm {arm}"
        arms = sorted({candidate for candidate, _ in evaluations})
        in_flight = "no evaluation is in flight: call ask() first"
        if arms:
            in_flight = f"evaluations of arms {arms} are in flight"
        raise CobanditError(
            f"{which} is not in flight, so it cannot have a result; {in_flight}",
            argument="arm",
            code="not-in-flight",
        )

    def leave_out(self, pull: int) -> None:
        """Exclude the instance of an evaluation for all arms.

        Only policies that evaluate each instance at most once can do this.

        Raises
        ------
        CobanditError
            For every other policy.
        """
        raise CobanditError(
            f"{type(self).__name__} does not share instances between arms, so no"
            " instance can be left out. Tell a reward, or None to try the evaluation"
            " again.",
            argument="pull",
            code="no-shared-instances",
        )

    @property
    def mean_rewards(self) -> NDArray[np.float64]:
        """Empirical mean vector of each arm, shape (K, D); zero without a pull."""
        return self._reward_sums / np.maximum(self.pulls, 1)[:, None]

    @property
    def _set_aside(self) -> NDArray[np.float64]:
        """Budget reserved for one evaluation in flight of each arm, shape (K,)."""
        return self._largest * self._excess

    @property
    def _committed(self) -> float:
        """Cost spent so far, plus the reserve for evaluations in flight."""
        if not self._flying:
            return self.spent
        return self.spent + float(self.in_flight @ self._set_aside)

    def _land(self, pull: Pull) -> None:
        """Remove an evaluation from the evaluations in flight."""
        self._flying.remove(pull.key)
        self.in_flight[pull] -= 1

    def _too_small(
        self, reason: str, smallest: float, derivation: str = ""
    ) -> BudgetError:
        """Return the error for a budget that is too small."""
        needed = _budget.round_up(smallest)
        return BudgetError(
            f"budget {self.budget:g} {reason}: at least {needed} is needed{derivation}",
            smallest,
        )

    def _valid(self, reward: ArrayLike) -> NDArray[np.float64]:
        """Return a reward as an array, or raise."""
        values = _validation.numbers(reward, "reward", 1)
        is_in_range = bool(((values >= 0) & (values <= 1)).all())
        if len(values) != self.n_objectives or not is_in_range:
            raise CobanditError(
                f"reward is {values.tolist()}: {self.n_objectives} numbers in [0, 1]"
                " are needed",
                argument="reward",
                code="out-of-range",
            )
        return values

    def _next_number(self, arm: int) -> int:
        """Return the number of the next new evaluation of an arm."""
        return int(self._numbers[arm])

    def _begin(self, pull: Pull) -> None:
        """Count a new evaluation that `ask` is about to return."""
        self._numbers[pull] = pull.number + 1

    def _try_again(self, pull: Pull) -> None:
        """Queue a failed evaluation, so that a later `ask` returns it again."""
        self._failed.append(pull.key)

    def _update(self) -> None:
        """Update the policy after a result."""

    def _choose(self) -> int | None:
        """Return the arm to evaluate next, or None if there is none now.

        `upcoming` calls this method as well, so a call must not change what the
        next `ask` returns.
        """
        raise NotImplementedError

    def _declared_cost(self, arm: int) -> float:
        """Return the arm's declared cost; raise an error if no cost is declared."""
        raise CobanditError(
            "cost is missing: an online policy needs the cost of each evaluation",
            argument="cost",
            code="missing-cost",
        )

    def _guarantee_violation(self, arm: int, cost: float) -> str:
        """Return why a cost voids the guarantee, or '' if it does not."""
        raise NotImplementedError

    def _record(self, pull: Pull, reward: NDArray[np.float64], cost: float) -> None:
        self.pulls[pull] += 1
        self.spent += cost
        self._score(pull, reward)

    def _score(self, pull: Pull, reward: NDArray[np.float64]) -> None:
        self._reward_sums[pull] += reward

    def __repr__(self) -> str:
        flying = f", {len(self._flying)} in flight" if self._flying else ""
        return (
            f"{type(self).__name__}({self.n_arms} arms, {self.n_objectives} objectives,"
            f" spent {self.spent:g} of {self.budget:g} in {self.pulls.sum()}"
            f" pulls{flying})"
        )


def _full_signature(policy: type[AskTell]) -> inspect.Signature:
    """Return the signature of a constructor, with inherited parameters.

    A constructor inherits the parameters of its parent if it takes ``**options``.
    """
    constructor = inspect.signature(vars(policy)["__init__"])
    _, *parameters = constructor.parameters.values()  # without self
    kinds = [parameter.kind for parameter in parameters]
    if Parameter.VAR_KEYWORD not in kinds:
        return inspect.Signature(parameters)

    inherited = dict(inspect.signature(policy.__mro__[1]).parameters)
    # without *arguments, inherited parameters can only be passed by name
    if Parameter.VAR_POSITIONAL not in kinds:
        inherited = {
            name: parameter.replace(kind=Parameter.KEYWORD_ONLY)
            for name, parameter in inherited.items()
        }

    # a parameter of the constructor replaces an inherited one of the same name
    merged = inherited | {parameter.name: parameter for parameter in parameters}
    named = [item for item in merged.values() if item.kind not in VARIADIC]
    return inspect.Signature(sorted(named, key=lambda parameter: parameter.kind))
