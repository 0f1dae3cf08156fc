"""Ask and tell: what every algorithm shares, whatever it decides."""

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
    """An evaluation that `ask` handed out: the arm, and which evaluation of that arm it is.

    It is the arm's number and stands wherever that can, so that two evaluations of one
    arm are equal.

    Attributes
    ----------
    number : int
        Counted from 0.  Tried again after a failure, an evaluation keeps its number;
        where each instance is evaluated once, the number is the instance's place in the
        order that all configurations share.

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
        """Arm and number, which tell an evaluation from every other."""
        return int(self), self.number


class AskTell:
    """A policy that is asked for evaluations and told what they gave, any number at once and in any order.

    Subclasses say in `_choose` which arm comes next.  Their constructors keep each
    argument as an attribute of that name, and may pass ``**options`` on to their
    parent's; `inspect.signature` lists what they may be.

    While others are in flight, as much of the budget is set aside for each as it can
    cost: the largest declared cost, times the largest ratio of a cost told so far to
    that.

    Attributes: ``n_arms``, ``n_objectives``, ``budget``; ``spent`` (float, unit of the
    budget) and ``pulls`` (int, shape (K,)) so far; ``in_flight`` (int, shape (K,)),
    evaluations handed out and not told.
    """

    #: Name for pictures and tables.
    label = ""

    #: Whether the last evaluation may cross the budget, as T(B) is defined; a replay
    #: then drops it.
    overdraw = False

    #: Largest cost of one evaluation of each arm, shape (K,), as far as it was
    #: declared.
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
        # of the next new evaluation
        self._numbers = np.zeros(self.n_arms, dtype=np.int64)
        self._flying: list[tuple[int, int]] = []  # arm and number, the oldest first
        self._failed: list[tuple[int, int]] = []  # to be tried again
        self._excess = 1.0  # largest ratio of a cost told to the largest declared
        self.warned = False  # of a cost outside what was declared

    @property
    def begun(self) -> NDArray[np.int64]:
        """Evaluations of each arm that were told or are in flight, shape (K,)."""
        return self.pulls + self.in_flight

    @property
    def upcoming(self) -> int | None:
        """Arm of the evaluation that the next `ask` hands out; None if it hands out none."""
        return self._choose()

    @property
    def finished(self) -> bool:
        """Whether the run is over: nothing is in flight, and `ask` has nothing more."""
        return not self._flying and self.upcoming is None

    @property
    def options(self) -> dict[str, Any]:
        """The arguments that make a fresh policy like this one: each is kept as an attribute of its name."""
        return {
            name: getattr(self, name)
            for name in inspect.signature(type(self)).parameters
        }

    def ask(self) -> Pull | None:
        """Hand out the evaluation to make next, another one on each call.

        Returns
        -------
        Pull or None
            None if nothing can be handed out now: results have to be told first, or the
            run is `finished`.
        """
        arm = self._choose()
        if arm is None:
            return None
        failed = [number for each, number in self._failed if each == arm]
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
            What `ask` returned; of a plain number the oldest evaluation in flight.
        reward : array_like, shape (D,), or None
            Objectives in [0, 1].  None is a failure: what it cost is charged, nothing
            is scored, and the same evaluation is handed out again by a later `ask`.
        cost : float, optional
            What it cost, > 0, in the unit of the budget.  It is charged even where it
            crosses the budget. Identification policies charge the declared cost by
            default; a failure costs nothing by default.

        Warns
        -----
        GuaranteeWarning
            Once, if a cost is outside what was declared: it is charged, but the
            guarantee is void.

        Raises
        ------
        CobanditError
            If the evaluation is not in flight, or reward or cost is not valid; nothing
            has changed then.
        """
        pull = self.find(arm)
        failed = reward is None
        values = np.empty(0) if reward is None else self._valid(reward)
        if cost is None:
            cost = 0.0 if failed else self._declared_cost(pull)
        cost = (_validation.non_negative if failed else _validation.positive)(
            cost, "cost"
        )
        fits = cost <= _budget.add_slack(self._largest[pull])
        doubt = "" if self.warned or (failed and fits) else self._doubt(pull, cost)
        self._land(pull)
        self._excess = max(self._excess, cost / self._largest[pull])
        if failed:
            self.spent += cost
            self._try_again(pull)
        else:
            self._record(pull, values, cost)

        self._settle()
        if doubt:
            self.warned = True
            warnings.warn(
                f"cost {cost:g} of arm {int(pull)} is {doubt}",
                GuaranteeWarning,
                stacklevel=2,
            )

    def find(self, arm: int, among: list[tuple[int, int]] | None = None) -> Pull:
        """Find the evaluation in flight that `tell` would take.

        Parameters
        ----------
        arm : Pull or int
            Of a plain number the oldest evaluation in flight.
        among : list of (arm, number), optional
            Where to look instead.

        Raises
        ------
        CobanditError
            If it is not there.
        """
        number, known = (
            getattr(arm, "number", None),
            self._flying if among is None else among,
        )
        found = [each for each in known if each[0] == arm and number in (None, each[1])]
        if not found:
            which = (
                f"arm {arm!r}"
                if number is None
                else f"evaluation {number} of arm {arm}"
            )
            arms = sorted({each for each, _ in known})
            there = (
                f"evaluations of arms {arms} are"
                if arms
                else "nothing is: call ask() first"
            )
            raise CobanditError(f"told about {which}, which is not in flight; {there}")

        return Pull(*found[0])

    def leave_out(self, pull: int) -> None:
        """Leave the instance of an evaluation out, where instances are shared and evaluated once.

        Raises
        ------
        CobanditError
            Always, but from the policies that evaluate once.
        """
        raise CobanditError(
            f"{type(self).__name__} does not share instances between arms: tell a"
            " reward, or None to try it again"
        )

    @property
    def mean_rewards(self) -> NDArray[np.float64]:
        """Empirical mean vector of each arm, shape (K, D); zero for an arm that was never pulled."""
        return self._reward_sums / np.maximum(self.pulls, 1)[:, None]

    @property
    def _set_aside(self) -> NDArray[np.float64]:
        """What an evaluation of each arm may cost, shape (K,)."""
        return self._largest * self._excess

    @property
    def _committed(self) -> float:
        """What is spent, and set aside for what is in flight."""
        return (
            self.spent + float(self.in_flight @ self._set_aside)
            if self._flying
            else self.spent
        )

    def _land(self, pull: Pull) -> None:
        self._flying.remove(pull.key)
        self.in_flight[pull] -= 1

    def _too_small(self, why: str, smallest: float, what: str = "") -> BudgetError:
        """Say that the budget is, why, and what would be enough."""
        needed = _budget.round_up(smallest)
        return BudgetError(
            f"budget {self.budget:g} {why}: at least {needed} is needed{what}", smallest
        )

    def _valid(self, reward: ArrayLike) -> NDArray[np.float64]:
        values = _validation.numbers(reward, "reward", 1)
        if (
            len(values) != self.n_objectives
            or not ((values >= 0) & (values <= 1)).all()
        ):
            raise CobanditError(
                f"reward is {values.tolist()}: {self.n_objectives} numbers in [0, 1]"
                " are needed"
            )
        return values

    def _next_number(self, arm: int) -> int:
        """Return the number of the arm's next new evaluation."""
        return int(self._numbers[arm])

    def _begin(self, pull: Pull) -> None:
        """Take down that a new evaluation is handed out."""
        self._numbers[pull] = pull.number + 1

    def _try_again(self, pull: Pull) -> None:
        self._failed.append(pull.key)

    def _settle(self) -> None:
        """Draw the conclusions from what was told."""

    def _choose(self) -> int | None:
        """Return the arm to evaluate next, None if there is none now; to look changes nothing."""
        raise NotImplementedError

    def _declared_cost(self, arm: int) -> float:
        raise CobanditError(
            "cost is missing: an online policy has to be told what the evaluation cost"
        )

    def _doubt(self, arm: int, cost: float) -> str:
        """Why this cost voids the policy's guarantee; empty if it does not."""
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
    """Signature of a constructor; where it passes ``**options`` on, with what its parent's takes."""
    # the first is self
    _, *own = inspect.signature(vars(policy)["__init__"]).parameters.values()
    named = {parameter.name: parameter for parameter in own}
    kinds = [parameter.kind for parameter in own]
    if Parameter.VAR_KEYWORD not in kinds:
        return inspect.Signature(own)
    parents = dict(inspect.signature(policy.__mro__[1]).parameters)
    if Parameter.VAR_POSITIONAL not in kinds:
        parents = {
            name: each.replace(kind=Parameter.KEYWORD_ONLY)
            for name, each in parents.items()
        }
    both = [each for each in (parents | named).values() if each.kind not in VARIADIC]
    return inspect.Signature(sorted(both, key=lambda parameter: parameter.kind))
