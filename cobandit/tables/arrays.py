"""Arrays of rewards and costs, converted to the columns of a table."""

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from cobandit.errors import raise_fault


def read_arrays(
    rewards: ArrayLike,
    costs: ArrayLike,
    configs: Sequence[str] | None,
    instances: Sequence[str] | None,
    objectives: Iterable[str] | None,
) -> pd.DataFrame:
    """Make a tidy frame with the columns config, instance, each objective, and cost.

    The parameters are described at ``EvaluationTable.from_arrays``.

    Raises
    ------
    TableError
        If shapes and numbers of names do not agree, or an objective has the name of
        another column.

    Examples
    --------
    >>> frame = read_arrays([[0.5, np.nan], [1, 0]], [2, 3], ["a", "b"], None, None)
    >>> frame["cost"].tolist()
    [2.0, 3.0, 3.0]
    """
    scores = _fill_masked(rewards)
    scores = scores[:, :, None] if scores.ndim == 2 else scores
    if scores.ndim != 3:
        problem = f"rewards have the shape {scores.shape}"
        remedy = (
            "give an array of shape (K, N, D): configurations, instances, objectives;"
            " or (K, N) for one objective"
        )
        raise_fault("rewards", problem, remedy, "wrong-shape")

    n_arms, n_instances, n_objectives = scores.shape
    config_names = _name("config", configs, n_arms)
    instance_names = _name("instance", instances, n_instances)
    objective_names = _name("objective", objectives, n_objectives)
    reserved = sorted({"config", "instance", "cost"} & {*objective_names})
    if reserved:
        problem = f"{reserved[0]!r} is the name of another column of every table"
        raise_fault("objectives", problem, "rename the objective", "reserved-name")

    paid = _fill_masked(costs)
    if paid.shape not in (scores.shape[:1], scores.shape[:2]):
        problem = f"costs have the shape {paid.shape}, but rewards have {scores.shape}"
        remedy = "give one cost per configuration, (K,), or one per evaluation, (K, N)"
        raise_fault("costs", problem, remedy, "wrong-shape")

    by_evaluation = paid[:, None] if paid.ndim == 1 else paid
    rows = pd.MultiIndex.from_product(
        [config_names, instance_names], names=["config", "instance"]
    )
    frame = pd.DataFrame(scores.reshape(-1, n_objectives), rows, objective_names)
    frame["cost"] = np.broadcast_to(by_evaluation, scores.shape[:2]).ravel()
    return frame.dropna(how="all", subset=objective_names).reset_index()


def _fill_masked(array: ArrayLike) -> np.ndarray:
    filled: np.ndarray = np.ma.filled(np.ma.asarray(array, np.float64), np.nan)
    return filled


def _name(kind: str, names: Iterable[str] | None, count: int) -> list[str]:
    """Return names as text; if none are given, make names such as config07."""
    if names is None:
        n_digits = len(str(count - 1))
        return [f"{kind}{number:0{n_digits}}" for number in range(count)]

    texts = [*map(str, names)]
    if len(texts) != count:
        problem = f"there are {len(texts)} names for {count} {kind}s in rewards"
        remedy = f"give one name per {kind}; rewards have the shape (K, N, D)"
        raise_fault(f"{kind}s", problem, remedy, "wrong-shape")
    return texts
