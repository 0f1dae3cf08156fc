"""What is replayed: a method by name, with its options."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cobandit import _check
from cobandit.errors import CobanditError
from cobandit.policies.asktell import AskTell
from cobandit.policies.identification import IdentificationPolicy
from cobandit.policies.online import OnlinePolicy
from cobandit.replay.kernels import IDENTIFICATION, ONLINE, Kernel
from cobandit.replay.readable import Readable, readable

#: What a replay takes from the table, so that no spec may set it.
FROM_TABLE = frozenset({"n_arms", "n_objectives", "budget", "cost_range", "costs", "expected_costs"})

#: Classes without a kernel that a spec was made of, by name.
OTHERS: dict[str, type[AskTell]] = {}


@dataclass(frozen=True)
class Spec:
    """A method and its options; make it with `spec`."""

    name: str
    given: dict[str, Any] = field(default_factory=dict)
    policy: type[AskTell] | None = None  # of a method that has no kernel

    def __reduce__(self) -> tuple[Any, ...]:
        """Send the class along: to find it, another process imports the module that registers the kernel."""
        return _received, (self.kernel.policy, self.name, self.given, self.policy)

    @property  # not cached, or it would be sent along and compiled anew in each worker
    def kernel(self) -> Kernel | Readable:
        """The compiled method, or what runs the class in its place."""
        return readable(self.policy) if self.policy else (ONLINE | IDENTIFICATION)[self.name]

    @property
    def kind(self) -> str:
        """``"online"`` or ``"identification"``."""
        return "identification" if issubclass(self.kernel.policy, IdentificationPolicy) else "online"

    @property
    def label(self) -> str:
        """Name for pictures and tables."""
        return self.kernel.policy.label

    @property
    def options(self) -> str:
        """The options as text, ``"eta=0.05, reward_scale=0.01"``; empty where all are defaults."""
        return ", ".join(f"{key}={value}" for key, value in sorted(self.given.items()))

    def make(self, rho: float, **from_table: Any) -> AskTell:
        """Make the readable policy for one budget; ``eta`` becomes n_init = max(1, floor(eta rho))."""
        options = dict(self.given)
        if "eta" in options:
            options["n_init"] = max(1, _check.floor(options.pop("eta") * rho))
        return self.kernel.policy(**from_table, **options)


def _received(_: type[AskTell], *fields: Any) -> Spec:
    return Spec(*fields)


def classes() -> dict[str, type[AskTell]]:
    """Return every class that can be replayed, by name: those with a kernel first, in a fixed order.

    Examples
    --------
    >>> list(classes())[:2]
    ['CoHVUCB', 'HVUCB']
    """
    return {name: kernel.policy for name, kernel in (ONLINE | IDENTIFICATION).items()} | OTHERS


def spec(name: str | type[AskTell], **options: Any) -> Spec:
    """Name a method to replay, with options of its class.

    Parameters
    ----------
    name : str or class
        ``"CoHVUCB"``, ``"HVUCB"``, ``"AccuracyCostUCB"``, ``"UniformAllocation"`` online; ``"CoPSI"``,
        ``"PSISR"``, ``"UniformIdentification"`` for identification.  Or a class of your own that extends
        ``OnlinePolicy`` or ``IdentificationPolicy``: it has no compiled twin and runs itself, some hundred
        times slower; in several processes if other processes can import it.
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
    own = None
    if isinstance(name, type):
        own, name = name, name.__name__
        if not issubclass(own, (OnlinePolicy, IdentificationPolicy)):
            raise CobanditError(
                f"{name} is no method: it extends neither OnlinePolicy nor IdentificationPolicy"
            )
        if own is classes().get(name) and name not in OTHERS:
            own = None  # it has a kernel
        elif name in (ONLINE | IDENTIFICATION):
            raise CobanditError(f"there is a method {name} already: give the class another name")
        else:
            OTHERS[name] = own
    _check.choice(name, "method", list(classes()))
    own = own or OTHERS.get(name)
    known = set(inspect.signature(classes()[name]).parameters) - FROM_TABLE
    if issubclass(classes()[name], OnlinePolicy):
        known.add("eta")
    for option in options:
        _check.choice(option, f"option of {name}", sorted(known))
    if "eta" in options:
        options["eta"] = _check.non_negative(options["eta"], "eta")
        if "n_init" in options:
            raise CobanditError("eta stands for n_init: give one of them")
    for option, value in options.items():
        if isinstance(value, (np.ndarray, list)):
            raise CobanditError(f"option {option} of {name} must be a single value")
    return Spec(name, options, own)


def specs(methods: Any, kind: str) -> list[Spec]:
    """Turn names and specs into specs of one kind of experiment (``"online"`` or ``"identification"``)."""
    registry = ONLINE if kind == "online" else IDENTIFICATION
    if isinstance(methods, (str, Spec, type)):
        methods = [methods]
    if not isinstance(methods, Iterable):
        raise CobanditError(f"methods: names or specs are needed, got {methods!r}")
    chosen = [method if isinstance(method, Spec) else spec(method) for method in methods]
    if not chosen:
        raise CobanditError(f"no method to replay; known: {', '.join(registry)}")
    for method in chosen:
        if method.kind != kind:
            raise CobanditError(
                f"{method.name} is not a method for {kind} replays; known: {', '.join(registry)}"
            )
    labels = [(method.name, method.options) for method in chosen]
    if len(set(labels)) < len(labels):
        raise CobanditError("the same method with the same options is named twice")
    return chosen
