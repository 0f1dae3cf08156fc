"""The cost column of a table whose columns are named by options."""

from __future__ import annotations

import pandas as pd

from cobandit.tables.card import Cost
from cobandit.tables.frames import charge
from cobandit.tables.importers.import_notes import Notes
from cobandit.tables.importers.tidy_options import TidyOptions, read_cost
from cobandit.tables.token_counts import make_token_counter


def add_cost(frame: pd.DataFrame, options: TidyOptions, notes: Notes) -> Cost:
    """Add the cost as a column of the frame, unless a column of the file has it."""
    cost = read_cost(options.cost, frame.columns)
    name = "cost"
    unit = options.unit or "evaluations"
    if isinstance(cost, str):
        return Cost(column=cost, unit=unit)

    if options.text:
        tokens = make_token_counter(options.tokenizer)
        name = "tokens"
        unit = options.unit or tokens.unit
        texts = frame[list(options.text)].astype(object)
        texts = texts.where(texts.notna(), "")
        costs = (
            texts.map(lambda text: tokens.count(str(text))).sum(axis=1).astype(float)
        )
    else:
        costs = charge(frame["config"], cost, "--cost")
        if not isinstance(cost, dict):
            alike = "cost-aware methods then see no difference in cost"
            notes.remarks.append(
                f"cost: each evaluation costs {cost:.15g} ({unit}): {alike}"
            )

    while name in frame:
        name += "_"
    frame[name] = costs
    # the text columns are no longer needed, unless another option names them
    in_use = {*options.arm, *(objective.column for objective in options.objective)}
    for column in {*options.text} - in_use:
        del frame[column]

    return Cost(column=name, unit=unit)
