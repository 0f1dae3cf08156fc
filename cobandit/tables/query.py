"""Chooses configurations by a condition on their descriptive columns."""

from __future__ import annotations

import numpy as np
import pandas as pd

from cobandit.faults import TableError, nearest


def matching(arms: pd.DataFrame, query: str, table: str) -> np.ndarray:
    """Evaluate a condition for each configuration.

    Parameters
    ----------
    arms : DataFrame, K rows
        ``config`` and the descriptive columns.
    query : str
        A pandas expression over these columns.
    table : str
        Name of the table, for messages.

    Returns
    -------
    array of bool, shape (K,)

    Raises
    ------
    TableError
        If the query does not parse, names an unknown column, or is not a condition.

    Examples
    --------
    >>> arms = pd.DataFrame({"config": ["a", "b", "c"], "temperature": [0.0, 0.5, 1.0]})
    >>> matching(arms, "temperature > 0 and config != 'c'", "toy").tolist()
    [False, True, False]
    >>> matching(arms, "temprature > 0", "toy")
    Traceback (most recent call last):
        ...
    cobandit.faults.TableError: subset 'temprature > 0' of toy: there is no column 'temprature' -> did you \
mean 'temperature'? the columns are config, temperature
    """
    place = f"subset {query!r} of {table}"
    known = list(arms.columns)
    try:
        # empty scopes: a query sees the columns and none of our variables
        mask = arms.eval(query, engine="python", local_dict={}, global_dict={})
    except pd.errors.UndefinedVariableError as error:
        name = str(error).split("'")[1]
        remedy = nearest(name, known) + f"the columns are {', '.join(known)}"
        raise TableError(f"{place}: there is no column {name!r} -> {remedy}") from None
    except Exception as error:
        # pandas raises SyntaxError, TypeError, ValueError, KeyError, AttributeError and more for bad text
        reason = " ".join(str(error).split())
        remedy = "write a condition such as temperature > 0 and model == 'small'"
        raise TableError(f"{place} cannot be evaluated: {reason} -> {remedy}") from None
    if not (isinstance(mask, pd.Series) and pd.api.types.is_bool_dtype(mask)):
        remedy = f"write a condition on {', '.join(known)}"
        raise TableError(f"{place} is not true or false for each configuration -> {remedy}")
    return mask.to_numpy(dtype=bool, na_value=False)
