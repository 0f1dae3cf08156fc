"""What is replayed: a method by name or class, with its options."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from cobandit import _check
from cobandit.errors import CobanditError
from cobandit.policies.asktell import AskTell
from cobandit.policies.identification import IdentificationPolicy
from cobandit.policies.online import OnlinePolicy
from cobandit.replay.kernels import IDENTIFICATION, ONCE, ONLINE, kernel_of

#: What a replay takes from the table, so that no spec may set it; of the costs it knows the declared ones.
FROM_TABLE = frozenset(
    {
        "n_arms",
        "n_objectives",
        "n_instances",
        "budget",
        "cost_range",
        "costs",
        "expected_costs",
        "largest_costs",
    }
)


@dataclass(frozen=True)
class Spec:
    """A method and its options; make it with `spec`."""

    policy: type[AskTell]
    given: dict[str, Any] = field(default_factory=dict)

    def __reduce__(self) -> tuple[Any, ...]:
        """Send along what its kernel reads: to find it, another process imports the module of the kernel."""
        kernel = kernel_of(self.policy)
        return _received, (kernel and kernel.parameters, self.policy, self.given)

    @property
    def name(self) -> str:
        """Name of the class."""
        return self.policy.__name__

    @property
    def kind(self) -> str:
        """``"online"``, ``"identification"``, or ``"once"`` if it is told how many instances there are."""
        if not issubclass(self.policy, IdentificationPolicy):
            return "online"
        return "once" if "n_instances" in inspect.signature(self.policy).parameters else "identification"

    @property
    def label(self) -> str:
        """Name for pictures and tables."""
        return self.policy.label

    @property
    def options(self) -> str:
        """The options as text, ``"eta=0.05, reward_scale=0.01"``; empty where all are defaults."""
        return ", ".join(f"{key}={value}" for key, value in sorted(self.given.items()))

    def make(self, rho: float, **from_table: Any) -> AskTell:
        """Make the readable policy for one budget; ``eta`` becomes n_init = max(1, floor(eta rho))."""
        options = dict(self.given)
        if "eta" in options:
            options["n_init"] = max(1, _check.floor(options.pop("eta") * rho))
        return self.policy(**from_table, **options)


def _received(_: Any, policy: type[AskTell], given: dict[str, Any]) -> Spec:
    return Spec(policy, given)


def spec(name: str | type[AskTell], **options: Any) -> Spec:
    """Name a method to replay, with options of its class.

    Parameters
    ----------
    name : str or class
        ``"CoHVUCB"``, ``"HVUCB"``, ``"AccuracyCostUCB"``, ``"UniformAllocation"`` online; ``"CoPSI"``,
        ``"PSISR"``, ``"UniformIdentification"`` for identification; ``"CoPSIOnce"``, ``"UniformOnce"`` where
        every instance is evaluated once; the name of any other class that has a kernel.  Or the class
        itself, or one of your own that extends ``OnlinePolicy`` or ``IdentificationPolicy``: without a
        kernel it runs itself, some hundred times slower; in several processes if other processes can
        import it.
    **options
        Keyword arguments of the class that do not come from the table; online also ``eta``, which stands
        for ``n_init = max(1, floor(eta rho))`` (paper, Appendix A).

    Returns
    -------
    Spec

    Raises
    ------
    CobanditError
        If the method or an option is unknown (the nearest name is suggested), or ``eta`` and ``n_init``
        are both given.  Values are checked when the policy is made.

    Examples
    --------
    >>> spec("CoHVUCB", reward_scale=0.01, cost_scale=0.01, eta=0.05).options
    'cost_scale=0.01, eta=0.05, reward_scale=0.01'
    >>> spec("CoHVUBC")
    Traceback (most recent call last):
    ...
    cobandit.errors.CobanditError: unknown method 'CoHVUBC'. Did you mean 'CoHVUCB'? Known: ...
    """
    policy = _policy(name)
    known = set(inspect.signature(policy).parameters) - FROM_TABLE
    if issubclass(policy, OnlinePolicy):
        known.add("eta")
    for option in options:
        _check.choice(option, f"option of {policy.__name__}", sorted(known))
    if "eta" in options:
        options["eta"] = _check.non_negative(options["eta"], "eta")
        if "n_init" in options:
            raise CobanditError("eta stands for n_init: give one of them")
    for option, value in options.items():
        if isinstance(value, (np.ndarray, list)):
            raise CobanditError(f"option {option} of {policy.__name__} must be a single value")
    return Spec(policy, options)


def _policy(name: str | type[AskTell]) -> type[AskTell]:
    """Return the class that is meant."""
    known = ONLINE | IDENTIFICATION | ONCE
    if not isinstance(name, type):
        return known[_check.choice(name, "method", list(known))].policy
    if not issubclass(name, (OnlinePolicy, IdentificationPolicy)):
        raise CobanditError(
            f"{name.__name__} is no method: it extends neither OnlinePolicy nor IdentificationPolicy"
        )
    if name.__name__ in known and known[name.__name__].policy is not name:
        raise CobanditError(f"there is a method {name.__name__} already: give the class another name")
    return name


def once_version(method: Spec) -> Spec:
    """Return what a method is on a finite benchmark: PSISR becomes PSISROnce, which is made of it."""
    made_of_it = [each.policy for each in ONCE.values() if issubclass(each.policy, method.policy)]
    return replace(method, policy=made_of_it[0]) if made_of_it else method


def specs(methods: Any, kind: str) -> list[Spec]:
    """Turn names and specs into specs of one kind of experiment, as `Spec.kind`."""
    registry = {"online": ONLINE, "identification": IDENTIFICATION, "once": ONCE}[kind]
    if isinstance(methods, (str, Spec, type)):
        methods = [methods]
    if not isinstance(methods, Iterable):
        raise CobanditError(f"methods: names or specs are needed, got {methods!r}")
    chosen = [method if isinstance(method, Spec) else spec(method) for method in methods]
    if kind == "once":
        chosen = [once_version(method) for method in chosen]
    if not chosen:
        raise CobanditError(f"no method to replay; known: {', '.join(registry)}")
    for method in chosen:
        if method.kind != kind:
            hint = "it evaluates once: give feedback 'once'; " if method.kind == "once" else ""
            raise CobanditError(
                f"{method.name} is not a method for {kind} replays; {hint}known: {', '.join(registry)}"
            )
    labels = [(method.name, method.options) for method in chosen]
    if len(set(labels)) < len(labels):
        raise CobanditError("the same method with the same options is named twice")
    if len({method.policy for method in chosen}) > len({method.name for method in chosen}):
        raise CobanditError("two classes have the same name: give one of them another")
    return chosen
