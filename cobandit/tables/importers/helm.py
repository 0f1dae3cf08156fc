"""The importer of HELM: a folder per run, with ``run_spec.json`` and instances.

HELM writes one entry per metric class and instance to ``per_instance_stats.json``, so
the entries of an instance are merged here. ``inference_runtime`` is the time of a whole
batch, so it is divided by ``batch_size``. Trials of an instance are averaged by
default. The means in the run's ``stats.json`` are compared with the means of the
samples.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from pydantic import Field, JsonValue, RootModel

from cobandit.errors import raise_fault
from cobandit.tables.bounded_files import find_files
from cobandit.tables.card import CUT_OFF, EMPTY
from cobandit.tables.checked_json import LogRecord, Number, parse_json, plain_text
from cobandit.tables.importers.combining_samples import combine_samples
from cobandit.tables.importers.import_notes import Notes
from cobandit.tables.importers.import_options import LogOptions, RepeatOptions
from cobandit.tables.importers.importer_registry import ImportResult, importer
from cobandit.tables.importers.log_choices import collect
from cobandit.tables.importers.log_samples import Log, ModelUse, Sample
from cobandit.tables.importers.log_settings import collect_settings
from cobandit.tables.usage import Usage

STATS = "per_instance_stats.json"
SPEC = "run_spec.json"
#: Optional file with the means over all instances.
TOTALS = "stats.json"

# statistics that do not measure the quality of an answer
_BOOKKEEPING = re.compile(
    r"(num|training|inference|finish_reason)_.*|batch_size|prompt_truncated|max_prob|logprob|predicted_index"
)


class HelmOptions(LogOptions, RepeatOptions):
    """Options of ``cobandit import helm``."""

    latency: Literal["inference_runtime", "none"] = Field(
        "inference_runtime",
        description=(
            "The time from which efficiency is computed: inference_runtime or none."
        ),
    )


class _Name(LogRecord):
    name: str


class _Stat(LogRecord):
    name: _Name
    mean: Number | None = None


class _TotalName(_Name):
    split: str | None = None
    perturbation: JsonValue = None


class _Total(LogRecord):
    name: _TotalName
    mean: JsonValue = None


class _Entry(LogRecord):
    instance_id: str
    train_trial_index: int = 0
    perturbation: JsonValue = None
    stats: list[_Stat]


_Entries = RootModel[list[_Entry]]
_Totals = RootModel[list[_Total]]


class _Scenario(LogRecord):
    class_name: str
    args: dict[str, JsonValue] = Field(default_factory=dict)


class _Spec(LogRecord):
    name: str
    scenario_spec: _Scenario
    adapter_spec: dict[str, JsonValue]

    @property
    def task(self) -> str:
        """Class and arguments of the scenario: ``MMLUScenario:subject=anatomy``."""
        name = self.scenario_spec.class_name.rpartition(".")[2]
        arguments = ",".join(
            f"{key}={value}" for key, value in sorted(self.scenario_spec.args.items())
        )
        return f"{name}:{arguments}" if arguments else name


@importer("helm", HelmOptions)
def read_logs(
    paths: Sequence[Path], options: HelmOptions, notes: Notes
) -> ImportResult:
    """Read runs of HELM, folders with run_spec.json and per_instance_stats.json."""
    files = find_files(paths, [STATS, SPEC], "per-instance statistics of HELM")
    statistics = dict.fromkeys(file.with_name(STATS) for file in files)
    runs = collect(
        statistics,
        lambda file: [_read(file, options, notes)],
        options,
        notes,
        lambda file: _spec(file).task,
    )
    measured = options.identify(options.latency)
    return combine_samples(
        runs, options, notes, "HELM runs", measured, metric_kind="metric"
    )


def _read(file: Path, options: HelmOptions, notes: Notes) -> Log:
    spec = _spec(file)

    # a run does not log its time
    modified = file.stat().st_mtime
    adapter = dict(spec.adapter_spec)
    deployment = adapter.pop("model_deployment", None)
    model = adapter.pop("model", None)
    settings = collect_settings(file.with_name(SPEC), deployment or model, adapter)
    samples = []
    for (instance, trial), stats in _instances(file, notes).items():
        prompt, output = (
            stats.get(name) for name in ("num_prompt_tokens", "num_output_tokens")
        )
        usage = None if prompt is None or output is None else Usage(prompt, 0, output)
        seconds = stats.get(options.latency)  # None if the option is "none"
        samples.append(
            Sample(
                plain_text(
                    instance, f"{file}, instance {instance!r}", "the instance_id"
                ),
                {
                    name: mean
                    for name, mean in stats.items()
                    if not _BOOKKEEPING.fullmatch(name)
                },
                (ModelUse(str(settings["model"]), usage),),
                (
                    None
                    if seconds is None
                    else seconds / max(1, stats.get("batch_size", 1))
                ),
                f"trial {trial}",
                flaws=(CUT_OFF,) * bool(stats.get("finish_reason_length"))
                + (EMPTY,) * (output == 0),
            )
        )

    return Log(
        str(file), spec.task, settings, samples, began=modified, means=_means(file)
    )


def _means(file: Path) -> dict[str, float]:
    """Return the run's means on unperturbed data, for statistics with one split."""
    totals = file.with_name(TOTALS)
    if not totals.is_file():
        return {}
    by_name: dict[str, list[float]] = {}
    for total in parse_json(_Totals, totals).root:
        if total.name.perturbation is None and isinstance(total.mean, int | float):
            by_name.setdefault(total.name.name, []).append(total.mean)
    # the means of two splits cannot be combined, because their numbers of instances are
    # unknown
    return {name: means[0] for name, means in by_name.items() if len(means) == 1}


def _spec(file: Path) -> _Spec:
    spec = file.with_name(SPEC)
    if not (file.is_file() and spec.is_file()):
        raise_fault(
            file.parent,
            f"the folder lacks {STATS} or {SPEC}",
            "give the complete folder of a finished run",
            "incomplete-run",
        )
    return parse_json(_Spec, spec)


def _instances(file: Path, notes: Notes) -> dict[tuple[str, int], dict[str, float]]:
    """Return a dictionary of named statistics per unperturbed instance and trial."""
    values: dict[tuple[str, int], dict[str, float | None]] = {}
    perturbed = set()
    for entry in parse_json(_Entries, file).root:
        if entry.perturbation is not None:
            perturbed.add(
                (entry.instance_id, entry.train_trial_index, str(entry.perturbation))
            )
            continue
        stats = values.setdefault((entry.instance_id, entry.train_trial_index), {})
        stats |= {stat.name.name: stat.mean for stat in entry.stats}

    if not values:
        raise_fault(
            file,
            "this run has only perturbed instances, which are not imported",
            "leave the run out",
            "no-evaluation",
        )
    if perturbed:
        notes.left_out["perturbed instances"] += len(perturbed)
    for stats in values.values():
        # if num_output_tokens is missing, num_completion_tokens is used, although it
        # includes an echoed prompt
        stats.setdefault("num_output_tokens", stats.get("num_completion_tokens"))

    # HELM leaves out the mean of a statistic that it could not compute
    return {
        key: {name: mean for name, mean in stats.items() if mean is not None}
        for key, stats in values.items()
    }
