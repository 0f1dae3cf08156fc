"""The importer of promptfoo, for JSON from ``promptfoo eval --output results.json``.

``results.results`` has one entry per provider, prompt and test, with ``score``,
``namedScores``, ``latencyMs``, ``cost`` in USD, and ``response.tokenUsage``. A
configuration is a provider with a prompt. An instance is a test, named by its
variables, so that files with tests in different orders can be combined. An answer from
promptfoo's cache has no cost and no time. ``results.prompts`` has promptfoo's counts
and sums of scores, which are compared with the entries.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, JsonValue

from cobandit.tables.bounded_files import find_files
from cobandit.tables.card import CUT_OFF, EMPTY
from cobandit.tables.checked_json import LogRecord, parse_json
from cobandit.tables.importers.combining_samples import combine_samples
from cobandit.tables.importers.import_notes import Notes
from cobandit.tables.importers.import_options import LogOptions, RepeatOptions
from cobandit.tables.importers.importer_registry import ImportResult, importer
from cobandit.tables.importers.log_choices import collect
from cobandit.tables.importers.log_samples import Log, ModelUse, Sample
from cobandit.tables.importers.log_settings import collect_settings, find_begin, shorten
from cobandit.tables.usage import Usage

#: ``failureReason`` of an entry without an answer.
ERROR_REASON = 2


class PromptfooOptions(LogOptions, RepeatOptions):
    """Options of ``cobandit import promptfoo``."""

    latency: Literal["latencyMs", "none"] = Field(
        "latencyMs",
        description=(
            "The time from which efficiency is computed: latencyMs or none. Cached"
            " answers have no time."
        ),
    )


class _Named(LogRecord):
    id: str | None = None
    label: str | None = None
    raw: str | None = None

    @property
    def name(self) -> str | None:
        return self.label or self.id or self.raw


class _Tokens(LogRecord):
    prompt: float | None = None
    completion: float | None = None


class _Response(LogRecord):
    cached: bool = False
    tokenUsage: _Tokens | None = None
    output: JsonValue = None
    finishReason: str | None = None


class _Entry(LogRecord):
    provider: _Named
    prompt: _Named = _Named()
    vars: dict[str, JsonValue] = Field(default_factory=dict)
    metadata: Annotated[
        dict[str, JsonValue], BeforeValidator(lambda value: value or {})
    ] = Field(default_factory=dict)
    response: _Response | None = None
    score: JsonValue = None
    namedScores: dict[str, JsonValue] | None = None
    latencyMs: float | None = None
    cost: float | None = None
    failureReason: int | None = None

    @property
    def scores(self) -> dict[str, JsonValue]:
        """The overall score (``score``), and the named scores."""
        return {"score": self.score, **(self.namedScores or {})}

    @property
    def failed(self) -> bool:
        """Whether there is no answer; a wrong answer counts as an answer."""
        return self.response is None or self.failureReason == ERROR_REASON

    @property
    def used(self) -> tuple[ModelUse, ...]:
        """Tokens and cost in USD; empty for an answer from a cache."""
        if self.response is None or self.response.cached:
            return ()
        tokens = self.response.tokenUsage or _Tokens()
        usage = (
            None
            if tokens.completion is None
            else Usage(tokens.prompt or 0, 0, tokens.completion)
        )
        return (ModelUse(self.provider.name or "", usage, self.cost),)

    @property
    def seconds(self) -> float | None:
        """Seconds of the answer; None for an answer from a cache."""
        if self.response is None or self.response.cached or self.latencyMs is None:
            return None
        return self.latencyMs / 1000

    @property
    def flaws(self) -> tuple[str, ...]:
        """Return the flaws of the answer, such as being cut off."""
        if self.response is None:
            return ()
        is_cut_off = self.response.finishReason in ("length", "max_tokens")
        return (CUT_OFF,) * is_cut_off + (EMPTY,) * (self.response.output == "")


class _Stats(LogRecord):
    successes: int = 0
    failures: int = 0
    errors: int = 0


def _lenient(value: JsonValue) -> JsonValue:
    """Return a number, or None for any other value.

    Another value is not an error, because numbers that the file states are only
    compared with the entries.
    """
    return value if isinstance(value, int | float) else None


Stated = Annotated[float | None, BeforeValidator(_lenient)]


class _Metrics(LogRecord):
    score: Stated = None
    testPassCount: Stated = None
    testFailCount: Stated = None
    testErrorCount: Stated = None

    @property
    def counted(self) -> int:
        """Number of entries that promptfoo counted."""
        counts = self.testPassCount, self.testFailCount, self.testErrorCount
        return int(sum(count or 0 for count in counts))

    @property
    def means(self) -> dict[str, float]:
        """Mean scores; empty if promptfoo counted missing answers as zeros."""
        if self.score is None or self.testErrorCount or not self.counted:
            return {}
        return {"score": self.score / self.counted}


class _Prompt(_Named):
    provider: str | None = None
    metrics: Annotated[
        _Metrics,
        BeforeValidator(lambda value: value if isinstance(value, dict) else {}),
    ] = _Metrics()


class _Results(LogRecord):
    timestamp: str = ""
    results: list[_Entry]
    stats: _Stats | None = None
    prompts: list[_Prompt] = Field(default_factory=list)


class _File(LogRecord):
    results: _Results


@importer("promptfoo", PromptfooOptions)
def read_logs(
    paths: Sequence[Path], options: PromptfooOptions, notes: Notes
) -> ImportResult:
    """Read results of promptfoo, written by promptfoo eval --output results.json."""
    files = find_files(paths, ["*.json"], "promptfoo results")
    collected = collect(files, lambda file: _read(file, options, notes), options, notes)
    measured = options.identify(options.latency)
    return combine_samples(
        collected, options, notes, "promptfoo results", measured, default=("score",)
    )


def _read(file: Path, options: PromptfooOptions, notes: Notes) -> list[Log]:
    """Read a file, and return one log per provider and prompt."""
    parsed = parse_json(_File, file).results
    if parsed.stats:
        n_results = len(parsed.results)
        counted = parsed.stats.successes + parsed.stats.failures + parsed.stats.errors
        notes.compare(str(file), n_results, n_results, counted)

    samples: dict[tuple[str | None, str | None], list[Sample]] = {}
    repeats: Counter[tuple[str | None, str | None, str]] = Counter()
    for entry in parsed.results:
        key = entry.provider.name, entry.prompt.name
        instance = name_instance(entry.vars)
        repeats[*key, instance] += 1
        samples.setdefault(key, []).append(
            Sample(
                instance,
                entry.scores,
                entry.used,
                None if options.latency == "none" else entry.seconds,
                f"repeat {repeats[*key, instance]}",
                "results without an answer" if entry.failed else None,
                fields={**entry.vars, **entry.metadata},
                flaws=entry.flaws,
            )
        )

    began = find_begin(parsed.timestamp)
    metrics: dict[tuple[str | None, str | None], _Metrics] = defaultdict(_Metrics)
    metrics.update(
        {(prompt.provider, prompt.name): prompt.metrics for prompt in parsed.prompts}
    )
    return [
        Log(
            str(file),
            "promptfoo",
            collect_settings(file, provider, {"prompt": prompt}),
            samples[provider, prompt],
            began=began,
            counted=metrics[provider, prompt].counted or None,
            means=metrics[provider, prompt].means,
        )
        for provider, prompt in samples
    ]


def name_instance(variables: dict[str, JsonValue]) -> str:
    """Name a test by its variables, so that it has the same name in all files.

    Examples
    --------
    >>> name_instance({"question": "2 + 2?"}), name_instance({"b": 1, "a": "x"})
    ('2 + 2?', '{"a": "x", "b": 1}')
    """
    if len(variables) == 1:
        (value,) = variables.values()
        if isinstance(value, str) and value.strip():
            return shorten(value)
    return shorten(json.dumps(variables, sort_keys=True, ensure_ascii=False))
