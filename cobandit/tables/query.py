"""Chooses rows of a table, or configurations by their descriptive columns, by a condition."""

from __future__ import annotations

import numpy as np
import pandas as pd

from cobandit.faults import nearest, stop


def condition(frame: pd.DataFrame, query: str, place: str, each: str) -> np.ndarray:
    """Evaluate a condition for each row.

    Parameters
    ----------
    frame : DataFrame, N rows
    query : str
        A pandas expression over its columns.
    place, each : str
        What the condition is, and what a row is, for messages.

    Returns
    -------
    array of bool, shape (N,)

    Raises
    ------
    TableError
        If the query does not parse, names an unknown column, or is not a condition.

    Examples
    --------
    >>> condition(pd.DataFrame({"shots": [0, 5]}), "shots > 0", "--where", "row").tolist()
    [False, True]
    """
    known = [str(column) for column in frame.columns]
    try:
        # empty scopes: a query sees the columns and none of our variables
        mask = frame.eval(query, engine="python", local_dict={}, global_dict={})
    except pd.errors.UndefinedVariableError as error:
        name = str(error).split("'")[1]
        stop(
            place,
            f"there is no column {name!r}",
            nearest(name, known) + f"the columns are {', '.join(known)}",
        )
    except Exception as error:
        # pandas raises SyntaxError, TypeError, ValueError, KeyError, AttributeError and more for bad text
        reason = " ".join(str(error).split())
        remedy = "write a condition such as temperature > 0 and model == 'small'"
        stop(place, f"it cannot be evaluated: {reason}", remedy)
    if not (isinstance(mask, pd.Series) and pd.api.types.is_bool_dtype(mask)):
        stop(place, f"it is not true or false for each {each}", f"write a condition on {', '.join(known)}")
    return mask.to_numpy(dtype=bool, na_value=False)


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
    return condition(arms, query, f"subset {query!r} of {table}", "configuration")
