"""Ask and tell: the protocol that every algorithm shares."""

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
    """An evaluation that `ask` handed out: an arm, and the number of the evaluation.

    A pull is an integer, the number of the arm, and can be used as such; two
    evaluations of one arm compare equal.

    Attributes
    ----------
    number : int
        Number of the evaluation among those of its arm, from 0.  An evaluation keeps
        its number when it is repeated after a failure.  If each instance is evaluated
        once, it is the position of the instance in the order that all configurations
        share.

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
        """Arm and number, which identify an evaluation."""
        return int(self), self.number


class AskTell:
    """A policy that requests evaluations and receives their results in any order.

    Any number of evaluations may be in flight.  Subclasses choose the next arm in
    `_choose`.  Their constructors store each argument as an attribute of the same name,
    and may pass ``**options`` to the constructor of their parent; `inspect.signature`
    lists all of them.

    For each evaluation in flight, a part of the budget is reserved: the largest
    declared cost of the arm, times the largest ratio of an observed cost to the
    declared one.

    Attributes
    ----------
    n_arms, n_objectives : int
        K and D.
    budget : float
        B.
    spent : float
        Spend so far, in the unit of the budget.
    pulls : ndarray of int, shape (K,)
        Evaluations of each arm that were scored.
    in_flight : ndarray of int, shape (K,)
        Evaluations that were requested and have no result yet.
    """

    #: Name in figures and tables.
    label = ""

    #: Whether the last evaluation may exceed the budget, as in the definition of T(B).
    #: A replay then drops it.
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
        # arm and number of evaluations in flight, the oldest first, and of failed ones
        self._flying: list[tuple[int, int]] = []
        self._failed: list[tuple[int, int]] = []
        # largest ratio of an observed cost to the largest declared one
        self._excess = 1.0
        # whether a cost outside of the declared range was reported
        self.warned = False

    @property
    def begun(self) -> NDArray[np.int64]:
        """Evaluations of each arm with a result or in flight, shape (K,)."""
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
        """Arguments of the constructor that make an equal, fresh policy."""
        return {
            name: getattr(self, name)
            for name in inspect.signature(type(self)).parameters
        }

    def ask(self) -> Pull | None:
        """Return the next evaluation, a different one on each call.

        Returns
        -------
        Pull or None
            None if there is no evaluation to make now: results have to be reported
            first, or the run is `finished`.
        """
        arm = self._choose()
        if arm is None:
            return None

        # failed evaluations of the arm come first, the smallest number before others
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
        """Report an evaluation that is in flight; the order does not matter.

        Parameters
        ----------
        arm : Pull or int
            The evaluation that `ask` returned.  A plain number is the arm's oldest
            evaluation in flight.
        reward : array_like, shape (D,), or None
            Objectives in [0, 1].  None is a failure: its cost is charged, nothing is
            scored, and a later `ask` returns the same evaluation again.
        cost : float, optional
            Cost of the evaluation, > 0, in the unit of the budget; it may exceed the
            budget. Identification policies charge the declared cost by default; a
            failure costs nothing by default.

        Warns
        -----
        GuaranteeWarning
            Once, if a cost is outside the declared range. The cost is charged, but the
            guarantee is void.

        Raises
        ------
        CobanditError
            If the evaluation is not in flight, or reward or cost is not valid.  The
            policy is then unchanged.
        """
        pull = self.find(arm)
        has_failed = reward is None
        values = np.empty(0) if reward is None else self._valid(reward)
        if has_failed:
            cost = _validation.non_negative(0.0 if cost is None else cost, "cost")
        else:
            cost = self._declared_cost(pull) if cost is None else cost
            cost = _validation.positive(cost, "cost")

        # a failure may cost less than declared without a warning
        violation = ""
        is_cheap_failure = has_failed and cost <= _budget.add_slack(self._largest[pull])
        if not self.warned and not is_cheap_failure:
            violation = self._guarantee_violation(pull, cost)

        # every check has passed: from here on the policy changes
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
        """Find the evaluation in flight that `tell` would record.

        Parameters
        ----------
        arm : Pull or int
            A plain number is the arm's oldest evaluation in flight.
        among : list of (arm, number), optional
            Evaluations to search, by default the evaluations in flight.

        Raises
        ------
        CobanditError
            If the evaluation is not among these.
        """
        # a plain number has no number of an evaluation, and matches any of its arm
        number = getattr(arm, "number", None)
        evaluations = self._flying if among is None else among
        for candidate, candidate_number in evaluations:
            if candidate == arm and number in (None, candidate_number):
                return Pull(candidate, candidate_number)

        which = f"arm {arm!r}"
        if number is not None:
            which = f"evaluation {number} of arm {arm}"
        arms = sorted({candidate for candidate, _ in evaluations})
        in_flight = "nothing is: call ask() first"
        if arms:
            in_flight = f"evaluations of arms {arms} are"
        raise CobanditError(f"told about {which}, which is not in flight; {in_flight}")

    def leave_out(self, pull: int) -> None:
        """Leave out the instance of an evaluation, for policies that evaluate once.

        Raises
        ------
        CobanditError
            For every other policy.
        """
        raise CobanditError(
            f"{type(self).__name__} does not share instances between arms, so none can"
            " be left out. Tell a reward, or None to try the evaluation again."
        )

    @property
    def mean_rewards(self) -> NDArray[np.float64]:
        """Empirical mean vector of each arm, shape (K, D); zero without a pull."""
        return self._reward_sums / np.maximum(self.pulls, 1)[:, None]

    @property
    def _set_aside(self) -> NDArray[np.float64]:
        """Reserve for one evaluation of each arm in flight, shape (K,)."""
        return self._largest * self._excess

    @property
    def _committed(self) -> float:
        """Spend so far plus the reserve for evaluations in flight."""
        if not self._flying:
            return self.spent
        return self.spent + float(self.in_flight @ self._set_aside)

    def _land(self, pull: Pull) -> None:
        """Take an evaluation out of flight."""
        self._flying.remove(pull.key)
        self.in_flight[pull] -= 1

    def _too_small(
        self, reason: str, smallest: float, derivation: str = ""
    ) -> BudgetError:
        """Return the error of a too small budget, which names the smallest budget."""
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
                " are needed"
            )
        return values

    def _next_number(self, arm: int) -> int:
        """Return the number of the arm's next new evaluation."""
        return int(self._numbers[arm])

    def _begin(self, pull: Pull) -> None:
        """Record a new evaluation in flight."""
        self._numbers[pull] = pull.number + 1

    def _try_again(self, pull: Pull) -> None:
        """Record a failed evaluation, which a later `ask` returns again."""
        self._failed.append(pull.key)

    def _update(self) -> None:
        """Update the policy after a result."""

    def _choose(self) -> int | None:
        """Return the arm to evaluate next, None if there is none now.

        Subclasses must not change state here that `ask` or `tell` depend on.
        """
        raise NotImplementedError

    def _declared_cost(self, arm: int) -> float:
        """Return the cost of a result that was reported without a cost, or raise."""
        raise CobanditError(
            "cost is missing: an online policy needs the cost of each evaluation"
        )

    def _guarantee_violation(self, arm: int, cost: float) -> str:
        """Return the reason why this cost voids the guarantee, empty if it does not."""
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
    """Return the signature of a constructor with the parameters of its parents.

    Parameters of the parent count if the constructor passes ``**options`` to it.
    """
    constructor = inspect.signature(vars(policy)["__init__"])
    _, *parameters = constructor.parameters.values()  # without self
    kinds = [parameter.kind for parameter in parameters]
    if Parameter.VAR_KEYWORD not in kinds:
        return inspect.Signature(parameters)

    inherited = dict(inspect.signature(policy.__mro__[1]).parameters)
    if Parameter.VAR_POSITIONAL not in kinds:
        inherited = {
            name: parameter.replace(kind=Parameter.KEYWORD_ONLY)
            for name, parameter in inherited.items()
        }

    # a parameter that the constructor names replaces the inherited one
    merged = inherited | {parameter.name: parameter for parameter in parameters}
    named = [item for item in merged.values() if item.kind not in VARIADIC]
    return inspect.Signature(sorted(named, key=lambda parameter: parameter.kind))
