"""Writes evaluation logs of made-up models in the formats that `cobandit import` reads.

Nothing here was measured: a model answers sums with a made-up chance, length and time. `data/logs` holds what
`write_inspect(..., EXAMPLE, 40)` writes, and a test holds the two together.
"""

import json
import random
import struct
import zipfile
import zlib
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

DATE = "2026-01-15T10-20-30.123456"


DICE = 16  # chosen so that the example's Pareto set is the same in its evaluation split as in all of it


class Config(NamedTuple):
    """A made-up configuration: chance of a right answer, mean words, seconds a word."""

    model: str
    temperature: float
    skill: float
    words: float
    pace: float


EXAMPLE = [
    Config("example/sparrow-mini", 0.0, 0.62, 18, 0.012),
    Config("example/sparrow-mini", 0.7, 0.58, 27, 0.012),
    Config("example/heron-large", 0.0, 0.80, 34, 0.035),
    Config("example/heron-large", 0.7, 0.84, 58, 0.035),
]
SMALL = [EXAMPLE[0], EXAMPLE[3]]


THOUGHT = "first add the tens and then the ones, carry one if they pass ten, check by adding again, so"


class Answer(NamedTuple):
    question: str
    target: str
    text: str
    right: bool
    tokens: int
    prompt_tokens: int
    seconds: float


def answers(config, n, seed=0):
    """What a configuration says to n sums; the sums are the same for all."""
    asked = random.Random(seed)
    dice = random.Random(f"{DICE} {seed} {config.model} {config.temperature}")
    found = []
    for _ in range(n):
        a, b = asked.randint(11, 99), asked.randint(11, 99)
        right = dice.random() < config.skill
        shown = a + b if right else a + b + dice.choice([-10, -1, 1, 10])
        words = max(4, round(dice.gauss(config.words, config.words / 5)))
        question = f"What is {a} + {b}? Think aloud, then give the sum."
        thoughts = " ".join((THOUGHT.split() * words)[:words])
        text = f"{a} + {b}: {thoughts} the sum is {shown}."
        seconds = round(0.2 + words * config.pace * dice.uniform(0.8, 1.4), 3)
        found.append(Answer(question, str(a + b), text, right, words + words // 3, 21, seconds))
    return found


def file_name(config):
    return f"{config.model.split('/')[1]}-t{config.temperature:g}"


def change(path, function):
    """Change what a JSON file holds in place."""
    content = json.loads(Path(path).read_text())
    function(content)
    Path(path).write_text(json.dumps(content))


# ----------------------------------------------------------------------------- Inspect AI


def inspect_log(config, n, failed=(), task="sums", **usage_of_others):
    """A log as a dictionary; samples whose position is in `failed` end in an error."""
    samples = []
    for i, said in enumerate(answers(config, n)):
        total = said.prompt_tokens + said.tokens
        usage = {"input_tokens": said.prompt_tokens, "output_tokens": said.tokens, "total_tokens": total}
        choice = {"message": {"content": said.text, "source": "generate", "role": "assistant"}}
        sample = {
            "id": i + 1,
            "epoch": 1,
            "input": said.question,
            "target": said.target,
            "output": {"model": config.model, "choices": [choice | {"stop_reason": "stop"}]},
            "scores": {"match": {"value": "C" if said.right else "I", "answer": said.text[-20:]}},
            "model_usage": {config.model: usage, **usage_of_others},
            "total_time": said.seconds,
            "working_time": round(said.seconds * 0.9, 3),
        }
        if i in failed:
            sample |= {"error": {"message": "APITimeoutError: request timed out", "traceback": ""}}
            del sample["scores"]
        samples.append(sample)
    return {
        "version": 2,
        "status": "success",
        "eval": {
            "run_id": f"made-up-{file_name(config)}",
            "created": "2026-01-15T10:20:30+00:00",
            "task": task,
            "task_id": "made-up",
            "task_version": 0,
            "task_args": {},
            "dataset": {"name": "sums", "samples": n},
            "model": config.model,
            "model_generate_config": {"temperature": config.temperature, "max_tokens": 256},
            "config": {"epochs": 1, "fail_on_error": False},
            "packages": {"inspect_ai": "0.3.150"},
        },
        "plan": {"name": "plan", "steps": [{"solver": "generate", "params": {}}], "config": {}},
        "results": {"total_samples": n, "completed_samples": n - len(failed), "scores": []},
        "samples": samples,
    }


def write_inspect(folder, configs=SMALL, n=12, failed=(), kind="json"):
    for config in configs:
        log = inspect_log(config, n, failed if config == configs[-1] else ())
        write_eval(Path(folder) / f"{file_name(config)}.{kind}", log)


def write_eval(path, log):
    """Write a log, as JSON or as the archive, by the name's ending."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".json":
        samples = ",\n".join(json.dumps(sample) for sample in log["samples"])
        head = json.dumps({key: value for key, value in log.items() if key != "samples"}, indent=2)
        path.write_text(f'{head[:-2]},\n  "samples": [\n{samples}\n  ]\n}}\n', encoding="utf-8")
        return
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        start = {key: log[key] for key in ("version", "eval", "plan")}
        archive.writestr("_journal/start.json", json.dumps(start))
        for sample in log["samples"]:
            archive.writestr(f"samples/{sample['id']}_epoch_{sample['epoch']}.json", json.dumps(sample))
        archive.writestr("summaries.json", "[]")
        header = {key: value for key, value in log.items() if key != "samples"}
        archive.writestr("header.json", json.dumps(header))


def zip_with_zstandard(path, members, claim=None):
    """Write an archive as recent versions of Inspect do, compressed by method 93, which zipfile cannot.

    `claim` is the size that each member says it expands to, if that is to be a lie.
    """
    codec = pa.Codec("zstd")
    body, directory = b"", b""
    for name, content in members.items():
        packed, raw_name = codec.compress(content, asbytes=True), name.encode()
        size = len(content) if claim is None else claim
        common = struct.pack(
            "<HHHHHIIIHH", 63, 0, 93, 0, 33, zlib.crc32(content), len(packed), size, len(raw_name), 0
        )
        entry = b"PK\1\2" + struct.pack("<H", 63) + common + struct.pack("<HHHII", 0, 0, 0, 0, len(body))
        directory += entry + raw_name
        body += b"PK\3\4" + common + raw_name + packed
    end = struct.pack("<HHHHIIH", 0, 0, len(members), len(members), len(directory), len(body), 0)
    Path(path).write_bytes(body + directory + b"PK\5\6" + end)


# ----------------------------------------------------------------------------- lm-evaluation-harness


def lm_eval_lines(config, n, filters=("strict-match", "flexible-extract")):
    """Lines of a samples file: one a document and filter; the second filter forgives everything."""
    lines = []
    for number, name in enumerate(filters):
        for i, said in enumerate(answers(config, n)):
            generation = {"until": ["Question:"], "do_sample": config.temperature > 0}
            lines.append(
                {
                    "doc_id": i,
                    "doc": {"question": said.question, "answer": said.target},
                    "target": said.target,
                    "arguments": {
                        "gen_args_0": {
                            "arg_0": f"Question: {said.question}\nAnswer:",
                            "arg_1": generation | {"temperature": config.temperature},
                        }
                    },
                    "resps": [[said.text]],
                    "filtered_resps": [said.text[-4:-1]],
                    "filter": name,
                    "metrics": ["exact_match"],
                    "doc_hash": "0",
                    "prompt_hash": "0",
                    "target_hash": "0",
                    "exact_match": 1.0 if number else float(said.right),
                }
            )
    return lines


def lm_eval_results(config, n, task="sums"):
    return {
        "results": {task: {"alias": task, "exact_match,strict-match": config.skill}},
        "configs": {
            task: {
                "task": task,
                "num_fewshot": 0,
                "generation_kwargs": {"until": ["Question:"], "temperature": config.temperature},
            }
        },
        "versions": {task: 1.0},
        "n-samples": {task: {"original": 1319, "effective": n}},
        "n-shot": {task: 0},
        "higher_is_better": {task: {"exact_match": True}},
        "config": {
            "model": "hf",
            "model_args": f"pretrained={config.model},dtype=bfloat16",
            "gen_kwargs": f"temperature={config.temperature}",
        },
        "model_source": "hf",
        "model_name": config.model,
        "model_name_sanitized": config.model.replace("/", "__"),
        "system_instruction": None,
        "chat_template_sha": None,
        "total_evaluation_time_seconds": "12.5",
    }


def write_lm_eval(folder, configs=SMALL, n=12, task="sums", lines=lm_eval_lines):
    for config in configs:
        place = Path(folder) / file_name(config) / config.model.replace("/", "__")
        place.mkdir(parents=True, exist_ok=True)
        text = "".join(json.dumps(line) + "\n" for line in lines(config, n))
        (place / f"samples_{task}_{DATE}.jsonl").write_text(text, encoding="utf-8")
        (place / f"results_{DATE}.json").write_text(json.dumps(lm_eval_results(config, n, task), indent=2))


# ----------------------------------------------------------------------------- HELM


def _stat(name, value):
    body = {"count": 1, "sum": value, "min": value, "max": value, "mean": value, "variance": 0.0}
    return {"name": {"name": name, "split": "test"}, **body}


def helm_run(config, n, batch=4):
    """run_spec.json and per_instance_stats.json, with two entries an instance and one that is perturbed."""
    entries = []
    typo = {"name": "typos", "robustness": True, "fairness": False, "computed_on": "perturbed"}
    for i, said in enumerate(answers(config, n)):
        basic = [
            _stat("num_references", 1),
            _stat("num_prompt_tokens", said.prompt_tokens),
            _stat("num_completion_tokens", said.tokens),
            _stat("num_output_tokens", said.tokens),
            _stat("inference_runtime", said.seconds * batch),
            _stat("batch_size", batch),
            {"name": {"name": "training_co2_cost", "split": "test"}, "count": 0, "sum": 0},
        ]
        entry = {"instance_id": f"id{i}", "train_trial_index": 0}
        entries.append(entry | {"stats": [*basic, _stat("exact_match", float(said.right))]})
        entries.append(entry | {"stats": [_stat("quasi_exact_match", float(said.right))]})
        if i == 0:
            entries.append(entry | {"perturbation": typo, "stats": [_stat("exact_match", 0.0)]})
    spec = {
        "name": f"sums:model={config.model.replace('/', '_')}",
        "scenario_spec": {"class_name": "example.SumsScenario", "args": {}},
        "adapter_spec": {
            "method": "generation",
            "global_prefix": "",
            "instructions": "",
            "input_prefix": "Question: ",
            "output_prefix": "Answer: ",
            "output_suffix": "\n",
            "max_train_instances": 0,
            "model": config.model,
            "model_deployment": config.model,
            "temperature": config.temperature,
            "max_tokens": 256,
            "num_outputs": 1,
            "stop_sequences": [],
        },
        "metric_specs": [],
        "groups": ["sums"],
    }
    return spec, entries


def write_helm(folder, configs=SMALL, n=12):
    for config in configs:
        place = Path(folder) / "runs" / "v1" / f"sums:model={file_name(config)}".replace(":", "_")
        place.mkdir(parents=True, exist_ok=True)
        spec, entries = helm_run(config, n)
        (place / "run_spec.json").write_text(json.dumps(spec, indent=2))
        (place / "per_instance_stats.json").write_text(json.dumps(entries, indent=2))


# ----------------------------------------------------------------------------- CSV


def write_all(folder):
    """The logs of two configurations in every format."""
    write_lm_eval(folder / "lm")
    write_inspect(folder / "json")
    write_inspect(folder / "eval", kind="eval")
    write_helm(folder / "helm")
    write_tidy(folder / "tidy.csv")
    write_wide(folder / "wide.csv")


def write_tidy(path, configs=SMALL, n=12):
    rows = ["model,temperature,question,correct,tokens,seconds"]
    for config in configs:
        rows += [
            f"{config.model},{config.temperature},{i:03d},{int(said.right)},{said.tokens},{said.seconds}"
            for i, said in enumerate(answers(config, n))
        ]
    path.write_text("\n".join(rows) + "\n")


def write_wide(path, configs=SMALL, n=12):
    names = [file_name(config) for config in configs]
    rows = [",".join(["question", *(f"{name}_{field}" for name in names for field in ("correct", "tokens"))])]
    said = [answers(config, n) for config in configs]
    for i in range(n):
        cells = [f"{int(one[i].right)},{one[i].tokens}" for one in said]
        rows.append(",".join([f"{i:03d}", *cells]))
    path.write_text("\n".join(rows) + "\n")
