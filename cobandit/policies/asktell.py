"""Ask and tell: what every algorithm shares, whatever it decides."""

from __future__ import annotations

import inspect
import warnings
from inspect import Parameter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobandit import _check
from cobandit.errors import CobanditError, GuaranteeWarning

VARIADIC = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)


class AskTell:
    """A policy that is asked for an arm and told what its evaluation gave.

    Subclasses say in `_choose` which arm comes next.  Their constructors keep each argument as an attribute
    of that name, and may pass ``**options`` on to their parent's; `inspect.signature` lists what they may be.

    Attributes: ``n_arms``, ``n_objectives``, ``budget``; ``spent`` (float, unit of the budget) and ``pulls``
    (int, shape (K,)) so far.
    """

    #: Name for pictures and tables.
    label = ""

    def __init_subclass__(cls, **kwargs: Any):
        super().__init_subclass__(**kwargs)
        if "__init__" in vars(cls):
            cls.__signature__ = _full_signature(cls)  # type: ignore[attr-defined]

    def __init__(self, n_arms: int, n_objectives: int, budget: float):
        self.n_arms = _check.count(n_arms, "n_arms", 2)
        self.n_objectives = _check.count(n_objectives, "n_objectives", 1)
        self.budget = _check.positive(budget, "budget")
        self.spent = 0.0
        self.pulls = np.zeros(self.n_arms, dtype=np.int64)
        self._reward_sums = np.zeros((self.n_arms, self.n_objectives))
        self._asked: int | None = None
        self._warned = False

    @property
    def waiting(self) -> int | None:
        """Arm that was asked for and has not been told yet; None if there is none."""
        return self._asked

    @property
    def options(self) -> dict[str, Any]:
        """The arguments that make a fresh policy like this one: each is kept as an attribute of its name."""
        names = list(inspect.signature(type(self)).parameters)
        for name in names:
            if not hasattr(self, name):
                raise CobanditError(
                    f"{type(self).__name__} keeps no attribute {name}, the name of its argument"
                )
        return {name: getattr(self, name) for name in names}

    def ask(self) -> int | None:
        """Return the arm to evaluate next; the same one until it is told, None once the run is over.

        Returns
        -------
        int or None
        """
        if self._asked is None:
            self._asked = self._choose()
        return self._asked

    def tell(self, arm: int, reward: ArrayLike, cost: float | None = None) -> None:
        """Report the evaluation of the arm that was asked for.

        Parameters
        ----------
        arm : int
            What `ask` returned.
        reward : array_like, shape (D,)
            Objectives in [0, 1].
        cost : float, optional
            What it cost, > 0, in the unit of the budget.  It is charged even where it crosses the budget.
            Identification policies charge the declared cost by default.

        Warns
        -----
        GuaranteeWarning
            Once, if a cost is outside what was declared: it is charged, but the guarantee is void.

        Raises
        ------
        CobanditError
            If the arm was not asked for, or reward or cost is not valid; nothing has changed then.
        """
        if isinstance(arm, bool) or not isinstance(arm, (int, np.integer)) or arm != self._asked:
            asked = (
                "no arm is waiting: call ask() first"
                if self._asked is None
                else f"arm {self._asked} is waiting"
            )
            raise CobanditError(f"tell for arm {arm!r}, but {asked}")
        values = _check.numbers(reward, "reward", 1)
        if len(values) != self.n_objectives:
            raise CobanditError(
                f"reward has {len(values)} entries, but there are {self.n_objectives} objectives"
            )
        if (values < 0).any() or (values > 1).any():
            raise CobanditError(f"reward is {values.tolist()}: every objective must lie in [0, 1]")
        cost = _check.positive(self._declared_cost(self._asked) if cost is None else cost, "cost")
        doubt = "" if self._warned else self._doubt(self._asked, cost)
        self._record(self._asked, values, cost)
        self._asked = None
        if doubt:
            self._warned = True
            warnings.warn(f"cost {cost:g} of arm {arm} is {doubt}", GuaranteeWarning, stacklevel=2)

    @property
    def mean_rewards(self) -> NDArray[np.float64]:
        """Empirical mean vector of each arm, shape (K, D); zero for an arm that was never pulled."""
        return self._reward_sums / np.maximum(self.pulls, 1)[:, None]

    def _choose(self) -> int | None:
        raise NotImplementedError

    def _declared_cost(self, arm: int) -> float:
        raise CobanditError("cost is missing: an online policy has to be told what the evaluation cost")

    def _doubt(self, arm: int, cost: float) -> str:
        """Why this cost voids the policy's guarantee; empty if it does not."""
        raise NotImplementedError

    def _record(self, arm: int, reward: NDArray[np.float64], cost: float) -> None:
        self.pulls[arm] += 1
        self.spent += cost
        self._reward_sums[arm] += reward

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({self.n_arms} arms, {self.n_objectives} objectives, "
            f"spent {self.spent:g} of {self.budget:g} in {self.pulls.sum()} pulls)"
        )


def _full_signature(policy: type[AskTell]) -> inspect.Signature:
    """Signature of a constructor; where it passes ``**options`` on, with what its parent's takes."""
    _, *own = inspect.signature(vars(policy)["__init__"]).parameters.values()  # the first is self
    named = {parameter.name: parameter for parameter in own}
    kinds = [parameter.kind for parameter in own]
    if Parameter.VAR_KEYWORD not in kinds:
        return inspect.Signature(own)
    parents = dict(inspect.signature(policy.__mro__[1]).parameters)
    if Parameter.VAR_POSITIONAL not in kinds:
        parents = {name: each.replace(kind=Parameter.KEYWORD_ONLY) for name, each in parents.items()}
    both = [each for each in (parents | named).values() if each.kind not in VARIADIC]
    return inspect.Signature(sorted(both, key=lambda parameter: parameter.kind))
