"""Runs of HELM: ``run_spec.json`` with ``per_instance_stats.json``, one folder per run.

Each of HELM's metric classes writes entries of its own for an instance, so the statistics of one instance
stand in several entries, which are brought together here.  ``inference_runtime`` is that of a whole batch
where inference ran in batches, so it is divided by ``batch_size``.  Trials of an instance are averaged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from pydantic import Field, JsonValue, RootModel

from cobandit.faults import stop, suggest
from cobandit.tables.importers.logs import (
    Evaluation,
    LoggedRun,
    choose_metrics,
    choose_tasks,
    collect_settings,
    combine,
    finite,
    read_each,
)
from cobandit.tables.importers.sources import ImportResult, Notes, PricedOptions, importer
from cobandit.tables.prices import Prices, Usage, cost_usd
from cobandit.tables.safe_reading import Number, Record, find_files, parse, plain_text, read_bytes

STATS, SPEC = "per_instance_stats.json", "run_spec.json"

_BOOKKEEPING = {
    "num_references",
    "num_train_trials",
    "num_prompt_tokens",
    "num_completion_tokens",
    "num_output_tokens",
    "training_co2_cost",
    "training_energy_cost",
    "inference_runtime",
    "inference_denoised_runtime",
    "inference_idealized_runtime",
    "batch_size",
    "num_train_instances",
    "prompt_truncated",
    "max_prob",
    "logprob",
    "num_perplexity_tokens",
    "num_bytes",
    "predicted_index",
}
"""Statistics of every run that say nothing of how good an answer is."""


class HelmOptions(PricedOptions):
    """Options of ``cobandit import helm``."""

    latency: Literal["inference_runtime", "none"] = Field(
        "inference_runtime", description="The time that makes efficiency: inference_runtime or none."
    )


class _Name(Record):
    name: str


class _Stat(Record):
    name: _Name
    count: int = 0
    mean: Number | None = None


class _Entry(Record):
    instance_id: str
    train_trial_index: int = 0
    perturbation: JsonValue = None
    stats: list[_Stat]


class _Entries(RootModel[list[_Entry]]):
    pass


class _Scenario(Record):
    class_name: str
    args: dict[str, JsonValue] = Field(default_factory=dict)


class _Spec(Record):
    name: str
    scenario_spec: _Scenario
    adapter_spec: dict[str, JsonValue]

    @property
    def task(self) -> str:
        """Class of the scenario and its arguments, such as ``MMLUScenario:subject=anatomy``."""
        name = self.scenario_spec.class_name.rpartition(".")[2]
        arguments = ",".join(f"{key}={value}" for key, value in sorted(self.scenario_spec.args.items()))
        return f"{name}:{arguments}" if arguments else name


@importer("helm", HelmOptions)
def read_logs(paths: Sequence[Path], options: HelmOptions, notes: Notes) -> ImportResult:
    """Runs of HELM, folders with run_spec.json and per_instance_stats.json.

    Parameters
    ----------
    paths : sequence of Path
        Folders that hold runs at any depth, or files ``per_instance_stats.json``.
    options : HelmOptions
    notes : Notes

    Returns
    -------
    ImportResult

    Raises
    ------
    TableError
        If a file is damaged or no run of HELM, or a choice (task, metric) has to be made.
    """
    files = find_files(paths, [STATS, SPEC], "per-instance statistics of HELM")
    runs_of = dict.fromkeys(file.with_name(STATS) for file in files)
    specs = read_each(runs_of, _spec, notes)
    tasks, files = choose_tasks(options, {file: spec.task for file, spec in specs.items()}, notes)
    instances = read_each(files, lambda file: _instances(file, notes), notes)
    scored = [
        (specs[file].task, {name for stats in rows.values() for name in stats if _is_metric(name)})
        for file, rows in instances.items()
    ]
    metrics = choose_metrics("metric", options.metric, scored)
    prices = options.known_prices()

    runs = []
    for file, rows in instances.items():
        adapter, when = dict(specs[file].adapter_spec), file.stat().st_mtime  # a run does not say when it was
        deployment, model = adapter.pop("model_deployment", None), adapter.pop("model", None)
        settings = collect_settings(file.with_name(SPEC), deployment or model, adapter)
        run = LoggedRun(str(file), specs[file].task, settings, when=when)
        wanted = metrics.of[run.task]
        for (id_, trial), stats in rows.items():
            if missing := [name for name in wanted if name not in stats]:
                run.left_out[f"instances without {missing[0]}"] += 1
                continue
            where = f"{file}, instance {id_!r}"
            instance = plain_text(id_, where, "the instance_id")
            seconds = _seconds(stats, where) if options.latency != "none" else None
            if options.cost == "usd":
                cost = _usd(stats, where, run.settings["model"], prices)
            else:
                cost = _tokens(stats, where, options.count)
            scores = tuple(stats[name] for name in wanted)
            prompt = stats.get("num_prompt_tokens") if options.leaves_out_prompts else None
            run.evaluations.append(Evaluation(instance, scores, cost, seconds, prompt, f"trial {trial}"))
        runs.append(run)
    paid = {"generated": "tokens generated", "all": "tokens of prompt and completion"}[options.count]
    if options.cost == "usd":
        paid = "USD by --prices, for tokens of prompt and completion"
    notes.remarks += [
        f"{', '.join(metrics.objectives)}: {metrics}, {', '.join(tasks)}",
        f"cost: {paid}, as HELM counted them",
    ]
    source = f"HELM runs: {', '.join(tasks)}, {metrics}; {paid}; {options.latency}"
    measured = options.identify(tasks, metrics.of, options.latency)
    return combine(runs, metrics.objectives, options.charged, options, notes, source, measured)


def _is_metric(name: str) -> bool:
    return name not in _BOOKKEEPING and not name.startswith("finish_reason_")


def _spec(file: Path) -> _Spec:
    spec = file.with_name(SPEC)
    if not file.is_file():
        stop(spec, f"there is no {STATS} next to it: the run did not finish", "run it again")
    if not spec.is_file():
        problem = f"there is no {SPEC} next to it, which names the model"
        stop(file, problem, "give the whole folder of the run")
    return parse(_Spec, read_bytes(spec), spec)


def _instances(file: Path, notes: Notes) -> dict[tuple[str, int], dict[str, float]]:
    """Statistics by name of each (instance, trial) as it was asked, without those that were perturbed."""
    entries = parse(_Entries, read_bytes(file), file).root
    if not entries:
        remedy = "run it again with per-instance statistics (not --skip-instances)"
        stop(file, "there are no instances", remedy)
    found: dict[tuple[str, int], dict[str, float]] = {}
    perturbed = set()
    for entry in entries:
        if entry.perturbation is not None:
            perturbed.add((entry.instance_id, entry.train_trial_index, str(entry.perturbation)))
            continue
        stats = found.setdefault((entry.instance_id, entry.train_trial_index), {})
        for stat in entry.stats:
            if stat.mean is None:  # HELM writes a statistic that it could not compute with a count of 0
                continue
            name = stat.name.name
            where = f"{file}, instance {entry.instance_id!r}"
            value = finite(stat.mean, where, name)
            if stats.setdefault(name, value) != value:
                problem = f"it has two values of {name}, {stats[name]:g} and {value:g}"
                stop(where, problem, "keep one of them in the file")
    if perturbed:
        notes.left_out["perturbed instances"] += len(perturbed)
    return found


def _tokens(stats: Mapping[str, float], where: str, count: str) -> float:
    """Tokens that cost; unlike ``num_completion_tokens``, ``num_output_tokens`` excludes an echoed prompt."""
    generated = stats.get("num_output_tokens", stats.get("num_completion_tokens"))
    prompt = stats.get("num_prompt_tokens")
    wanted = [generated] if count == "generated" else [generated, prompt]
    known = [number for number in wanted if number is not None]
    if len(known) < len(wanted):
        stop(where, "its numbers of tokens are missing", "use runs whose metrics include the basic ones")
    if min(known) < 0:
        stop(where, f"it used {min(known):g} tokens", "correct the file, or leave the run out")
    return sum(known)


def _usd(stats: Mapping[str, float], where: str, model: str, prices: Prices) -> float:
    """Money by the prices: HELM counts tokens and knows none."""
    if model not in prices:
        remedy = suggest(model, prices, "add it to the file of --prices, or count tokens: --cost tokens")
        stop(where, f"there is no price of {model!r}", remedy)
    generated = _tokens(stats, where, "generated")
    return cost_usd(Usage(_tokens(stats, where, "all") - generated, 0, generated), prices, model)


def _seconds(stats: Mapping[str, float], where: str) -> float | None:
    if "inference_runtime" not in stats:
        return None
    batch = stats.get("batch_size", 1.0)
    if batch < 1:
        remedy = "correct the file, or leave out times with --latency none"
        stop(where, f"its batch_size is {batch:g}", remedy)
    return stats["inference_runtime"] / batch
