"""What a sample of an Inspect log says: scores, usage, times; for the importer, and for live evaluations."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress
from typing import Annotated

from pydantic import Field, JsonValue

from cobandit.faults import stop
from cobandit.tables.importers.core import finite, is_number
from cobandit.tables.importers.files import Record
from cobandit.tables.prices import Prices, Usage, cost_usd

_LETTERS = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0, "yes": 1.0, "no": 0.0, "true": 1.0, "false": 0.0}

_Tokens = Annotated[int, Field(strict=True, ge=0)]
_Number = Annotated[float, Field(strict=True)]


class ModelUsage(Record):
    """Tokens of one model in a sample, and their cost if it was logged."""

    input_tokens: _Tokens = 0
    input_tokens_cache_read: _Tokens | None = None
    input_tokens_cache_write: _Tokens | None = None
    output_tokens: _Tokens = 0
    total_tokens: _Tokens = 0
    total_cost: _Number | None = None

    @property
    def tokens(self) -> Usage:
        """The tokens that have a price; what was written to a cache counts as other input."""
        written, read = self.input_tokens_cache_write or 0, self.input_tokens_cache_read or 0
        return Usage(self.input_tokens + written, read, self.output_tokens)


class _Score(Record):
    value: JsonValue


class Sample(Record):
    """A sample of a log."""

    id: int | str
    epoch: int = 1
    scores: dict[str, _Score] | None = None
    model_usage: dict[str, ModelUsage] = Field(default_factory=dict)
    total_time: _Number | None = None
    working_time: _Number | None = None
    started_at: str | None = None
    error: JsonValue = None
    invalidation: JsonValue = None

    def values(self) -> dict[str, JsonValue]:
        """Return the scores by name; one that is a dictionary counts as one for each of its keys."""
        found: dict[str, JsonValue] = {}
        for name, score in (self.scores or {}).items():
            if isinstance(score.value, dict):
                found |= {f"{name}.{key}": value for key, value in score.value.items()}
            else:
                found[name] = score.value
        return found

    def why_unusable(self, metric: str) -> str | None:
        """Say why the sample gives no score, None if it does."""
        if self.error is not None:
            return "samples that ended in an error"
        if self.invalidation is not None:
            return "samples that were invalidated"
        value = self.values().get(metric)
        # Inspect writes an unscored sample as not a number
        if value is None or (isinstance(value, float) and math.isnan(value)):
            return f"samples without a score of {metric}"
        return None


def read_score(value: JsonValue, where: str, metric: str) -> float:
    """Read a score as Inspect itself does, but refuse what Inspect would count as 0 with a warning.

    Raises
    ------
    TableError
        If it is neither a number nor a letter or a word that stands for one.

    Examples
    --------
    >>> read_score("C", "sample 1", "match"), read_score(True, "sample 1", "match")
    (1.0, 1.0)
    """
    if isinstance(value, str):
        letter = _LETTERS.get(value, _LETTERS.get(value.lower()))
        with suppress(ValueError):
            value = float(value) if letter is None else letter
    if not is_number(value):
        problem = f"the score of {metric} is neither a number nor one of C, I, P, N"
        stop(where, problem, "take another scorer with --metric, or import the numbers as CSV")
    return finite(value, where, f"the score of {metric}")


def usage_usd(usages: Mapping[str, ModelUsage], prices: Prices) -> float | None:
    """Add up what the usage of each model cost: what was logged, else by its price; None if one has neither.

    Examples
    --------
    >>> usage_usd({"m": ModelUsage(total_cost=0.5)}, {}), usage_usd({"m": ModelUsage()}, {})
    (0.5, None)
    """
    total = 0.0
    for model, usage in usages.items():
        if usage.total_cost is not None:
            total += usage.total_cost
        elif model in prices:
            total += cost_usd(usage.tokens, prices, model)
        else:
            return None
    return total
