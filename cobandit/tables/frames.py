"""Data frames and arrays as a user has them, brought into the columns of a table."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from cobandit import _validation
from cobandit._text import suggest
from cobandit.errors import raise_fault
from cobandit.tables.card import Objective
from cobandit.tables.safe_reading import check_fields

#: What messages call the data frame and the arguments next to it.
FRAME = "from_frame"

UNKNOWN_LICENSE = "not stated"


def charge(
    config: pd.Series, cost: float | Mapping[str, float], where: str
) -> pd.Series:
    """Charge every evaluation the same cost, or that of its configuration.

    Parameters
    ----------
    config : Series of str, length N
    cost : float or mapping of str to float
    where : str
        Who gave the cost, for messages.

    Raises
    ------
    TableError
        If a configuration has no cost, or there is none of such a name.

    Examples
    --------
    >>> charge(pd.Series(["a", "b", "a"]), {"a": 1, "b": 20}, "--cost").tolist()
    [1.0, 20.0, 1.0]
    """
    if not isinstance(cost, Mapping):
        return pd.Series(_validation.scalar(cost, where), config.index)

    configs = sorted(config.dropna().unique())
    if unknown := sorted(set(cost) - set(configs)):
        raise_fault(
            where,
            f"there is no configuration {unknown[0]!r}",
            suggest(unknown[0], configs),
        )

    if missing := sorted(set(configs) - set(cost)):
        raise_fault(
            where,
            f"none is given to {', '.join(missing)}",
            "give each configuration its own",
        )

    return config.map(cost).astype(float)


def read_objectives(given: Mapping[str, Any] | Sequence[str]) -> list[Objective]:
    """Read columns, or ``{name: column}``, ``{name: (column, transform)}``, ``{name: fields of a card}``.

    Raises
    ------
    TableError
        If one is not as it should be.

    Examples
    --------
    >>> [objective.transform for objective in read_objectives({"speed": ("seconds", "negate-minmax")})]
    ['negate-minmax']
    """
    objectives, given = [], [given] if isinstance(given, str) else given
    for name, meaning in (
        given.items() if isinstance(given, Mapping) else zip(given, given, strict=True)
    ):
        pair = meaning if isinstance(meaning, tuple) else (meaning,)
        fields = dict(zip(("column", "transform"), pair, strict=False))
        if isinstance(meaning, Mapping):
            fields = dict(meaning)
        where = f"{FRAME}, objectives[{name!r}]"
        objectives.append(check_fields(Objective, {"name": str(name), **fields}, where))
    return objectives


def read_arrays(
    rewards: ArrayLike,
    costs: ArrayLike,
    configs: Sequence[str] | None,
    instances: Sequence[str] | None,
    names: Iterable[str] | None,
) -> pd.DataFrame:
    """Make a tidy frame of arrays: config, instance, the objectives, cost; takes what `from_arrays` takes.

    Raises
    ------
    TableError
        If shapes or numbers of names do not fit together, or an objective has the name
        of another column.

    Examples
    --------
    >>> read_arrays([[0.5, np.nan], [1, 0]], [2, 3], ["a", "b"], None, None)["cost"].tolist()
    [2.0, 3.0, 3.0]
    """
    scores, paid = (
        np.ma.filled(np.ma.asarray(each, np.float64), np.nan)
        for each in (rewards, costs)
    )
    scores = scores[:, :, None] if scores.ndim == 2 else scores
    if scores.ndim != 3:
        raise_fault(
            "rewards",
            f"they have the shape {scores.shape}",
            "give (K, N, D), or (K, N) for one objective",
        )

    kinds = zip(
        ("config", "instance", "objective"),
        scores.shape,
        (configs, instances, names),
        strict=True,
    )
    labels = [
        _number(stem, count) if given is None else [*map(str, given)]
        for stem, count, given in kinds
    ]
    for stem, count, given in zip(
        ("configs", "instances", "objectives"), scores.shape, labels, strict=True
    ):
        if len(given) != count:
            problem = f"{len(given)} names for {count} of them in the rewards"
            raise_fault(stem, problem, "name each, rewards (K, N, D)")

    if taken := sorted({"config", "instance", "cost"} & {*labels[2]}):
        raise_fault(
            "objectives",
            f"{taken[0]!r} is the name of another column",
            "call the objective otherwise",
        )

    if paid.shape not in (scores.shape[:1], scores.shape[:2]):
        problem = f"they have the shape {paid.shape}, the rewards {scores.shape}"
        raise_fault(
            "costs",
            problem,
            "give one for each configuration, (K,), or each evaluation, (K, N)",
        )

    places = pd.MultiIndex.from_product(labels[:2], names=["config", "instance"])
    frame = pd.DataFrame(scores.reshape(-1, scores.shape[2]), places, labels[2])
    frame["cost"] = np.broadcast_to(
        paid[:, None] if paid.ndim == 1 else paid, scores.shape[:2]
    ).ravel()
    return frame.dropna(how="all", subset=labels[2]).reset_index()


def _number(stem: str, count: int) -> list[str]:
    """Names that sort as they stand."""
    return [f"{stem}{number:0{len(str(count - 1))}}" for number in range(count)]
