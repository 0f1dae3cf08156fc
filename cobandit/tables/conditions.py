"""Conditions on the rows of a table, which a user writes as pandas expressions."""

import numpy as np
import pandas as pd

from cobandit.errors import raise_fault


def evaluate_condition(frame: pd.DataFrame, query: str, place: str) -> np.ndarray:
    """Return, for each row, whether it meets a condition that a user wrote.

    Parameters
    ----------
    frame : DataFrame, N rows
    query : str
        Pandas expression over the columns.
    place : str
        Origin of the condition, for messages.

    Returns
    -------
    array of bool, shape (N,)

    Raises
    ------
    TableError
        If the query does not parse, names an unknown column, or is not a condition.

    Examples
    --------
    >>> frame = pd.DataFrame({"shots": [0, 5]})
    >>> evaluate_condition(frame, "shots > 0", "--where").tolist()
    [False, True]
    """
    remedy = (
        f"write a condition on {', '.join(map(str, frame.columns))}, such as"
        " temperature > 0"
    )
    try:
        # with empty scopes, a query can use the columns but none of our variables
        mask = frame.eval(query, engine="python", local_dict={}, global_dict={})
    except Exception as error:
        # for a wrong condition, pandas raises SyntaxError, TypeError, ValueError,
        # KeyError, AttributeError and other exceptions
        problem = f"the condition cannot be evaluated: {' '.join(str(error).split())}"
        raise_fault(place, problem, remedy, "bad-condition")

    if not (isinstance(mask, pd.Series) and pd.api.types.is_bool_dtype(mask)):
        problem = "the condition gives values other than true and false"
        raise_fault(place, problem, remedy, "bad-condition")

    return mask.to_numpy(dtype=bool, na_value=False)
