"""Results of promptfoo: the JSON that ``promptfoo eval --output results.json`` writes.

``results.results`` has one entry per provider, prompt and test: ``score`` and ``namedScores``, ``latencyMs``,
``cost`` in USD, and ``response.tokenUsage``.  A configuration is a provider with a prompt; an instance is
what the test's variables are, so that files whose tests stand in another order can be combined.  An answer
that came from promptfoo's cache has no cost and no time of its own.
"""

import json
from collections import Counter
from collections.abc import Sequence
from math import nan
from pathlib import Path
from typing import Literal

from pydantic import Field, JsonValue

from cobandit.tables.importers import logs
from cobandit.tables.importers.scores import ScoreReader
from cobandit.tables.importers.sources import ImportResult, Notes, PricedOptions, importer
from cobandit.tables.safe_reading import Record, find_files, parse

#: ``failureReason`` of an entry that got no answer.
FAILED = 2


class PromptfooOptions(PricedOptions):
    """Options of ``cobandit import promptfoo``."""

    latency: Literal["latencyMs", "none"] = Field(
        "latencyMs", description="The time that makes efficiency; answers from the cache have none."
    )


class _Named(Record):
    id: str | None = None
    label: str | None = None
    raw: str | None = None

    @property
    def name(self) -> str | None:
        return self.label or self.id or self.raw


class _Tokens(Record):
    prompt: float | None = None
    completion: float | None = None


class _Response(Record):
    cached: bool = False
    tokenUsage: _Tokens | None = None


class _Entry(Record):
    provider: _Named
    prompt: _Named = _Named()
    vars: dict[str, JsonValue] = Field(default_factory=dict)
    response: _Response | None = None
    score: JsonValue = None
    namedScores: dict[str, JsonValue] | None = None
    latencyMs: float | None = None
    cost: float | None = None
    failureReason: int | None = None

    @property
    def scores(self) -> dict[str, JsonValue]:
        """The score of all assertions, and those that have a name of their own."""
        return {"score": self.score, **(self.namedScores or {})}

    @property
    def failed(self) -> bool:
        """Whether there was no answer; an answer that failed its assertions is one."""
        return self.response is None or self.failureReason == FAILED


class _Stats(Record):
    successes: int = 0
    failures: int = 0
    errors: int = 0


class _Results(Record):
    timestamp: str = ""
    results: list[_Entry]
    stats: _Stats | None = None


class _File(Record):
    results: _Results


@importer("promptfoo", PromptfooOptions)
def read_logs(paths: Sequence[Path], options: PromptfooOptions, notes: Notes) -> ImportResult:
    """Results of promptfoo, as promptfoo eval --output results.json writes them.

    Parameters
    ----------
    paths : sequence of Path
        Files of results, or folders that hold them.
    options : PromptfooOptions
    notes : Notes

    Returns
    -------
    ImportResult

    Raises
    ------
    TableError
        If a file is damaged or none of promptfoo's, or a score has to be chosen.
    """
    files = find_files(paths, ["*.json"], "promptfoo results")
    parsed = logs.read_each(files, lambda file: parse(_File, file).results, notes)
    scored = [("promptfoo", entry.scores) for log in parsed.values() for entry in log.results]
    metrics = logs.choose_metrics("score", options.metric or ("score",), scored)
    wanted = metrics.of["promptfoo"]
    reader = ScoreReader(options.word)

    runs: list[logs.LoggedRun] = []
    for file, log in parsed.items():
        if log.stats:
            counted = log.stats.successes + log.stats.failures + log.stats.errors
            notes.compare(file, len(log.results), counted)
        by_configuration: dict[tuple[str | None, str | None], logs.LoggedRun] = {}
        repeats: Counter[tuple[int, str]] = Counter()
        for entry in log.results:
            key = entry.provider.name, entry.prompt.name
            if key not in by_configuration:
                settings = logs.collect_settings(file, key[0], {"prompt": key[1]})
                by_configuration[key] = logs.LoggedRun(
                    str(file), "promptfoo", settings, when=logs.find_begin(log.timestamp)
                )
            run = by_configuration[key]
            if entry.failed:
                run.left_out["results without an answer"] += 1
                continue
            instance = name_instance(entry.vars)
            repeats[id(run), instance] += 1
            run.evaluations.append(
                logs.Evaluation(
                    instance,
                    tuple(reader.read(entry.scores.get(name), name) for name in wanted),
                    *_cost(entry, options),
                    repeat=f"repeat {repeats[id(run), instance]}",
                )
            )
        runs += by_configuration.values()
    notes.logs += reader.unknown_words()
    measured = options.identify(options.latency)
    return logs.combine(
        runs, ["promptfoo"], metrics, options.charged, options, notes, "promptfoo results", measured
    )


def name_instance(variables: dict[str, JsonValue]) -> str:
    """Name a test by its variables, the same in every file.

    Examples
    --------
    >>> name_instance({"question": "2 + 2?"}), name_instance({"b": 1, "a": "x"})
    ('2 + 2?', '{"a": "x", "b": 1}')
    """
    if len(variables) == 1:
        (value,) = variables.values()
        if isinstance(value, str) and value.strip():
            return logs.shorten(value)
    return logs.shorten(json.dumps(variables, sort_keys=True, ensure_ascii=False))


def _cost(entry: _Entry, options: PromptfooOptions) -> tuple[float, float | None, float | None]:
    """Return cost, seconds and tokens of the prompt; the cost is NaN where none was measured."""
    tokens = (entry.response and entry.response.tokenUsage) or _Tokens()
    if entry.response is None or entry.response.cached:
        return nan, None, None
    seconds = None if options.latency == "none" or entry.latencyMs is None else entry.latencyMs / 1000
    if options.cost == "usd":
        return nan if entry.cost is None else entry.cost, seconds, None
    return nan if tokens.completion is None else tokens.completion, seconds, tokens.prompt
