"""The registry of methods: policy classes, with their names, kinds and options."""

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

#: Base classes of a method.
Policy = OnlinePolicy | IdentificationPolicy

#: Arguments that a table or a plan supplies. They cannot be options of a method.
SUPPLIED = frozenset(
    {"n_arms", "n_objectives", "n_instances", "budget"}
    | {"cost_range", "costs", "expected_costs", "largest_costs", "cluster"}
)

#: Kernels by policy class: compiled implementations for replays. The module
#: `cobandit.replay.kernels` registers them. A policy without a kernel is replayed in
#: Python.
KERNELS: dict[type[AskTell], Any] = {}


def _walk(family: type[Any]) -> Iterator[type[Policy]]:
    """Yield all direct and indirect subclasses of a class."""
    for policy in family.__subclasses__():
        yield policy
        yield from _walk(policy)


def is_builtin(defined: Any) -> bool:
    """Return whether a class or a function belongs to this package."""
    return str(defined.__module__).startswith("cobandit.")


def get_kind(policy: type[AskTell]) -> str:
    """Return the kind of a method: ``"online"``, ``"identification"`` or ``"once"``.

    A method of kind ``"once"`` identifies the front of a finite benchmark and evaluates
    each instance at most once; ``n_instances`` is one of its parameters.
    """
    if not issubclass(policy, IdentificationPolicy):
        return "online"
    is_once = "n_instances" in inspect.signature(policy).parameters
    return "once" if is_once else "identification"


def list_methods(kind: str | None = None) -> dict[str, type[Policy]]:
    """Return the methods by name, including imported user-defined ones.

    If two classes have the same name, a built-in class has priority. Among user-defined
    classes, the class that was defined last counts, so a notebook can redefine a class.

    Parameters
    ----------
    kind : {"online", "identification", "once"}, optional
        Kind of the methods (see `get_kind`); all kinds by default.

    Examples
    --------
    >>> list_methods("once")["CoPSIOnce"].label
    'CoPSI once'
    """
    policies = chain(_walk(OnlinePolicy), _walk(IdentificationPolicy))
    methods = [
        policy
        for policy in policies
        if policy.label and kind in (None, get_kind(policy))
    ]
    # built-in classes come last, so they replace others of the same name
    by_name = {policy.__name__: policy for policy in sorted(methods, key=is_builtin)}
    return dict(sorted(by_name.items()))


@dataclass(frozen=True)
class Spec:
    """A method and its options, as returned by `spec`."""

    policy: type[AskTell]
    given: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Name of the class."""
        return self.policy.__name__

    @property
    def kind(self) -> str:
        """Kind of the method (see `get_kind`)."""
        return get_kind(self.policy)

    @property
    def label(self) -> str:
        """Name in figures and tables."""
        return self.policy.label

    @property
    def options(self) -> str:
        """Options as text, such as ``"eta=0.05, reward_scale=0.01"``."""
        return ", ".join(f"{key}={value}" for key, value in sorted(self.given.items()))

    def make(self, rho: float, **supplied: Any) -> AskTell:
        """Return a new policy with these options, for one budget.

        Of the ``supplied`` arguments, those that the class has as parameters are used.
        An option ``eta`` is replaced by ``n_init = max(1, floor(eta rho))``.
        """
        options = dict(self.given)
        if "eta" in options:
            options["n_init"] = max(1, _budget.floor(options.pop("eta") * rho))
        parameters = inspect.signature(self.policy).parameters
        arguments = {name: supplied[name] for name in supplied if name in parameters}
        return self.policy(**arguments, **options)


def spec(name: str | type[AskTell], **options: Any) -> Spec:
    """Return a method with options, for replays.

    Parameters
    ----------
    name : str or class
        Name of a method, or its class. For online selection, there are ``"CoHVUCB"``,
        ``"HVUCB"``, ``"AccuracyCostUCB"`` and ``"UniformAllocation"``; for
        identification, ``"CoPSI"``, ``"PSISR"`` and ``"UniformIdentification"``; on a
        finite benchmark, ``"CoPSIOnce"`` and ``"UniformOnce"``. `list_methods` returns
        all names. A class of your own must extend ``OnlinePolicy`` or
        ``IdentificationPolicy``. If it has no compiled kernel, it is replayed in
        Python, about a hundred times slower. Several processes can share this work if
        they can import the class.
    **options
        Keyword arguments of the class, except those that the table supplies, such as
        ``costs``. Online methods also accept ``eta``, which sets ``n_init = max(1,
        floor(eta rho))`` (paper, Appendix A).

    Returns
    -------
    Spec

    Raises
    ------
    CobanditError
        If the method or an option is unknown (the message suggests the nearest name),
        or if both ``eta`` and ``n_init`` are given. Values of options are checked when
        the policy is made.

    Examples
    --------
    >>> spec("CoHVUCB", reward_scale=0.01, cost_scale=0.01, eta=0.05).options
    'cost_scale=0.01, eta=0.05, reward_scale=0.01'
    >>> spec("CoHVUBC")
    Traceback (most recent call last):
    ...
    cobandit.errors.CobanditError: unknown method 'CoHVUBC'. Did you mean 'CoHVUCB'? ...
    """
    if isinstance(name, type):
        policy: Any = name
    else:
        methods = list_methods()
        policy = methods[_validation.choice(name, "method", methods)]
    check_class(policy)

    allowed = set(inspect.signature(policy).parameters) - SUPPLIED
    if issubclass(policy, OnlinePolicy):
        allowed.add("eta")
    for option, value in options.items():
        _validation.choice(option, f"option of {policy.__name__}", sorted(allowed))
        if isinstance(value, (np.ndarray, list)):
            raise CobanditError(
                f"option {option} of {policy.__name__} must be a single value, not an"
                " array or a list",
                argument=option,
                code="not-a-single-value",
            )

    if "eta" in options:
        options["eta"] = _validation.non_negative(options["eta"], "eta")
        if "n_init" in options:
            raise CobanditError(
                "eta and n_init are both given, but eta determines n_init: give only"
                " one of them",
                argument="eta",
                code="eta-and-n-init",
            )

    return Spec(policy, options)


def check_class(policy: type[Any]) -> None:
    """Raise unless a class is a policy with a name that no built-in policy has."""
    if not issubclass(policy, (OnlinePolicy, IdentificationPolicy)):
        raise CobanditError(
            f"{policy.__name__} is not a method: its class must extend OnlinePolicy"
            " or IdentificationPolicy",
            argument="policy",
            code="not-a-method",
        )
    namesake = list_methods().get(policy.__name__, policy)
    if namesake is not policy and is_builtin(namesake):
        raise CobanditError(
            f"a method {policy.__name__} exists already: give the class another name",
            argument="policy",
            code="name-taken",
        )


def read_methods(methods: Any, kind: str) -> list[Spec]:
    """Return a list of methods as `Spec` objects, for one kind of experiment.

    Methods may be given as names, classes or specs. For the kind ``"once"``, a method
    is replaced by its version for finite benchmarks, such as PSISR by PSISROnce.
    """
    of_kind = list_methods(kind)
    if isinstance(methods, (str, Spec, type)):
        methods = [methods]
    if not isinstance(methods, Iterable):
        raise CobanditError(
            f"methods must be a name, a class or a spec, or a list of these, got"
            f" {methods!r}",
            argument="methods",
            code="not-a-method",
        )

    chosen = [
        method if isinstance(method, Spec) else spec(method) for method in methods
    ]
    if not chosen:
        raise CobanditError(
            f"no method is given; known: {', '.join(of_kind)}",
            argument="methods",
            code="no-method",
        )

    for place, method in enumerate(chosen):
        if method.kind == kind:
            continue

        subclasses = [
            policy for policy in of_kind.values() if issubclass(policy, method.policy)
        ]
        if kind == "once" and subclasses:
            # prefer the built-in version over user-defined subclasses
            least_derived = min(subclasses, key=lambda policy: len(policy.__mro__))
            chosen[place] = replace(method, policy=least_derived)
            continue

        hint = ""
        if method.kind == "once":
            hint = (
                "it evaluates each instance at most once, so give feedback='once' to"
                " replay_identification; "
            )
        raise CobanditError(
            f"{method.name} is not a method for {kind} replays; {hint}known:"
            f" {', '.join(of_kind)}",
            argument="methods",
            code="wrong-kind",
        )

    labels = [(method.name, method.options) for method in chosen]
    if len(set(labels)) < len(labels):
        raise CobanditError(
            "methods has the same method with the same options twice: remove one of"
            " them",
            argument="methods",
            code="repeated-method",
        )
    n_classes = len({method.policy for method in chosen})
    if n_classes > len({method.name for method in chosen}):
        raise CobanditError(
            "two classes in methods have the same name: rename one of them",
            argument="methods",
            code="equal-names",
        )

    return chosen
