"""The one registry of methods: every policy with a label goes by the name of its class."""

import inspect
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

import numpy as np

from cobandit import _budget, _validation
from cobandit.errors import CobanditError
from cobandit.policies.asktell import AskTell
from cobandit.policies.identification_policy import IdentificationPolicy
from cobandit.policies.online_policy import OnlinePolicy

#: What a method is a class of.
Policy = OnlinePolicy | IdentificationPolicy

#: Arguments that whoever runs a policy knows, a table or a plan and its pilot: no
#: option sets them.
SUPPLIED = frozenset(
    {"n_arms", "n_objectives", "n_instances", "budget"}
    | {"cost_range", "costs", "expected_costs", "largest_costs", "cluster"}
)

#: Compiled runs by class, entered by `cobandit.replay.kernels`; a class without one
#: runs itself.
KERNELS: dict[type[AskTell], Any] = {}


def _walk(family: type[Any]) -> Iterator[type[Policy]]:
    for policy in family.__subclasses__():
        yield policy
        yield from _walk(policy)


def is_ours(defined: Any) -> bool:
    """Whether a class or a function is this project's."""
    return str(defined.__module__).startswith("cobandit.")


def get_kind(policy: type[AskTell]) -> str:
    """``"online"``, ``"identification"``, or ``"once"`` if it is told how many instances there are."""
    if not issubclass(policy, IdentificationPolicy):
        return "online"
    return (
        "once"
        if "n_instances" in inspect.signature(policy).parameters
        else "identification"
    )


def list_methods(kind: str | None = None) -> dict[str, type[Policy]]:
    """List the methods by name: this project's, and those that were imported besides.

    Of two classes with one name this project's counts, otherwise the later, as where a
    notebook defines its class again.

    Parameters
    ----------
    kind : {"online", "identification", "once"}, optional
        Only those, see `get_kind`.

    Examples
    --------
    >>> list_methods("once")["CoPSIOnce"].label
    'CoPSI once'
    """
    policies = chain(_walk(OnlinePolicy), _walk(IdentificationPolicy))
    found = [
        policy
        for policy in policies
        if policy.label and kind in (None, get_kind(policy))
    ]
    by_name = {policy.__name__: policy for policy in sorted(found, key=is_ours)}
    return dict(sorted(by_name.items()))


@dataclass(frozen=True)
class Spec:
    """A method and its options; make it with `spec`."""

    policy: type[AskTell]
    given: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Name of the class."""
        return self.policy.__name__

    @property
    def kind(self) -> str:
        """As `get_kind`."""
        return get_kind(self.policy)

    @property
    def label(self) -> str:
        """Name for pictures and tables."""
        return self.policy.label

    @property
    def options(self) -> str:
        """The options as text, ``"eta=0.05, reward_scale=0.01"``; empty where all are defaults."""
        return ", ".join(f"{key}={value}" for key, value in sorted(self.given.items()))

    def make(self, rho: float, **supplied: Any) -> AskTell:
        """Make the policy for one budget, from those of the `SUPPLIED` arguments that its class takes.

        ``eta`` becomes n_init = max(1, floor(eta rho)).
        """
        takes, options = inspect.signature(self.policy).parameters, dict(self.given)
        if "eta" in options:
            options["n_init"] = max(1, _budget.floor(options.pop("eta") * rho))
        return self.policy(
            **{name: supplied[name] for name in supplied if name in takes}, **options
        )


def spec(name: str | type[AskTell], **options: Any) -> Spec:
    """Name a method to replay, with options of its class.

    Parameters
    ----------
    name : str or class
        ``"CoHVUCB"``, ``"HVUCB"``, ``"AccuracyCostUCB"``, ``"UniformAllocation"``
        online; ``"CoPSI"``, ``"PSISR"``, ``"UniformIdentification"`` for
        identification; ``"CoPSIOnce"``, ``"UniformOnce"`` where every instance is
        evaluated once; the name of any other class that has a label.  Or the class
        itself, or one of your own that extends ``OnlinePolicy`` or
        ``IdentificationPolicy``: without a kernel it runs itself, some hundred times
        slower; in several processes if other processes can import it.
    **options
        Keyword arguments of the class that do not come from the table; online also
        ``eta``, which stands for ``n_init = max(1, floor(eta rho))`` (paper, Appendix
        A).

    Returns
    -------
    Spec

    Raises
    ------
    CobanditError
        If the method or an option is unknown (the nearest name is suggested), or
        ``eta`` and ``n_init`` are both given.  Values are checked when the policy is
        made.

    Examples
    --------
    >>> spec("CoHVUCB", reward_scale=0.01, cost_scale=0.01, eta=0.05).options
    'cost_scale=0.01, eta=0.05, reward_scale=0.01'
    >>> spec("CoHVUBC")
    Traceback (most recent call last):
    ...
    cobandit.errors.CobanditError: unknown method 'CoHVUBC'. Did you mean 'CoHVUCB'? Known: ...
    """
    known = list_methods()
    policy = (
        name
        if isinstance(name, type)
        else known[_validation.choice(name, "method", list(known))]
    )
    check_class(policy)
    takes = set(inspect.signature(policy).parameters) - SUPPLIED
    if issubclass(policy, OnlinePolicy):
        takes.add("eta")
    for option, value in options.items():
        _validation.choice(option, f"option of {policy.__name__}", sorted(takes))
        if isinstance(value, (np.ndarray, list)):
            raise CobanditError(
                f"option {option} of {policy.__name__} must be a single value"
            )

    if "eta" in options:
        options["eta"] = _validation.non_negative(options["eta"], "eta")
        if "n_init" in options:
            raise CobanditError("eta stands for n_init: give one of them")

    return Spec(policy, options)


def check_class(policy: type[Any]) -> None:
    """Refuse a class that is no policy, or has the name of one of this project's."""
    if not issubclass(policy, (OnlinePolicy, IdentificationPolicy)):
        raise CobanditError(
            f"{policy.__name__} is no method: it extends neither OnlinePolicy nor"
            " IdentificationPolicy"
        )
    known = list_methods().get(policy.__name__, policy)
    if known is not policy and is_ours(known):
        raise CobanditError(
            f"there is a method {policy.__name__} already: give the class another name"
        )


def read_methods(methods: Any, kind: str) -> list[Spec]:
    """Turn names, classes and specs into specs of one kind of experiment.

    On a finite benchmark a method stands for what is made of it there: PSISR for
    PSISROnce.
    """
    known = list_methods(kind)
    if isinstance(methods, (str, Spec, type)):
        methods = [methods]
    if not isinstance(methods, Iterable):
        raise CobanditError(f"methods: names or specs are needed, got {methods!r}")

    chosen = [
        method if isinstance(method, Spec) else spec(method) for method in methods
    ]
    if not chosen:
        raise CobanditError(f"no method to replay; known: {', '.join(known)}")

    for place, method in enumerate(chosen):
        made_of_it = [
            each
            for each in known.values()
            if kind == "once" and issubclass(each, method.policy)
        ]
        if method.kind != kind and made_of_it:
            # not a user's kin of it
            least_derived = min(made_of_it, key=lambda each: len(each.__mro__))
            chosen[place] = replace(method, policy=least_derived)
        elif method.kind != kind:
            hint = (
                "it evaluates once: give feedback 'once'; "
                if method.kind == "once"
                else ""
            )
            raise CobanditError(
                f"{method.name} is not a method for {kind} replays; {hint}known:"
                f" {', '.join(known)}"
            )

    labels = [(method.name, method.options) for method in chosen]
    if len(set(labels)) < len(labels):
        raise CobanditError("the same method with the same options is named twice")
    if len({method.policy for method in chosen}) > len(
        {method.name for method in chosen}
    ):
        raise CobanditError("two classes have the same name: give one of them another")

    return chosen
