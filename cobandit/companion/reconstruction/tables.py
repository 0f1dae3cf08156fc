"""The tables of fitted parameters: where these are stored, and what is drawn from them."""

from __future__ import annotations

import json
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml

from cobandit import _check
from cobandit.companion.reconstruction.generator import INSTANCES, Parameters, generate, grid
from cobandit.companion.reconstruction.settings import (
    N_INSTANCES,
    N_PROFILING,
    SETTINGS,
    SPLIT_SEED,
    Setting,
)
from cobandit.errors import CobanditError
from cobandit.tables.card import Card
from cobandit.tables.catalogue import data_directory
from cobandit.tables.readers import file_sha256
from cobandit.tables.table import EvaluationTable

STORE = "reconstruction.json"
TITLES = {"gsm8k": "GSM8K", "piqa": "PIQA"}


def setting(name: str) -> Setting:
    """Give the published numbers behind a reconstruction.

    Raises
    ------
    CobanditError
        If there is no reconstruction of that name.

    Examples
    --------
    >>> setting("gsm8k").n_arms, setting("piqa").n_arms
    (108, 132)
    """
    return SETTINGS[_check.choice(name, "reconstruction", SETTINGS)]


@lru_cache
def members(name: str) -> tuple[Parameters, ...]:
    """Give the fitted parameters: first those of the bundled table, then the ensemble's.

    Examples
    --------
    >>> len(members("gsm8k")) == len(members("piqa"))
    True
    """
    setting(name)
    stored = json.loads((data_directory() / STORE).read_text(encoding="utf-8"))
    effects = ("models", "configs")
    return tuple(
        Parameters(**entry | {effect: np.array(entry[effect]) for effect in effects})
        for entry in stored[name]
    )


def store(directory: Path, fitted: dict[str, tuple[Parameters, ...]]) -> None:
    """Write the fitted parameters of all tables into ``reconstruction.json``, one member per line."""
    tables = []
    for name, sets in fitted.items():
        lines = [json.dumps(asdict(parameters), default=np.ndarray.tolist) for parameters in sets]
        tables.append(f"{json.dumps(name)}: [\n  " + ",\n  ".join(lines) + "\n]")
    text = "{\n" + ",\n".join(tables) + "\n}\n"
    (directory / STORE).write_text(text, encoding="utf-8")


def frame(name: str, parameters: Parameters) -> pd.DataFrame:
    """Draw the table of some parameters.

    Parameters
    ----------
    name : {"gsm8k", "piqa"}
    parameters : Parameters

    Returns
    -------
    DataFrame, 1,000 rows a configuration
        config, instance, model, prompt (categorical), temperature, max_tokens, correct (0 or 1), latency_s
        (seconds, whole milliseconds) and tokens; sorted by config, then instance.

    Examples
    --------
    >>> frame("gsm8k", members("gsm8k")[0]).shape
    (108000, 9)
    """
    draw = generate(setting(name), parameters)
    arms = pd.DataFrame(grid(setting(name)), columns=["model", "temperature", "max_tokens", "prompt"])
    arms.insert(0, "config", [f"{m}-t{t}-{limit}-{prompt}" for m, t, limit, prompt in arms.to_numpy()])
    correct, latency_ms, tokens = (values[:, np.argsort(INSTANCES)] for values in draw)
    rows = arms.loc[np.repeat(np.arange(len(arms)), N_INSTANCES)].reset_index(drop=True)
    rows = rows.astype(
        {"config": "category", "model": "category", "prompt": "category", "max_tokens": "int16"}
    )
    instances = np.tile(np.arange(N_INSTANCES), len(arms))
    labels = pd.Index([f"q{q:03d}" for q in range(N_INSTANCES)])
    rows.insert(1, "instance", pd.Series(pd.Categorical.from_codes(instances, labels)))
    return rows.assign(
        correct=correct.ravel().astype(np.uint8),
        latency_s=latency_ms.ravel() / 1000,
        tokens=tokens.ravel().astype(np.int16),
    )


def card(name: str) -> Card:
    """Give the card of a reconstruction, still without the checksum of its records.

    Examples
    --------
    >>> card("piqa").title
    'Reconstruction of the PIQA table: 132 configurations of 11 language models'
    """
    numbers = setting(name)
    title = f"Reconstruction of the {TITLES[name]} table: {numbers.n_arms} configurations"
    return Card.model_validate(
        {
            "name": name,
            "title": f"{title} of {len(numbers.models)} language models",
            "source": (
                "cobandit.companion.reconstruction, fitted to a part of the numbers of arXiv:2608.04333v1"
            ),
            "license": "CC0-1.0",
            "kind": "reconstruction",
            "records": f"{name}.parquet",
            "cost": {"column": "tokens", "unit": "tokens"},
            "objectives": [
                {"name": "accuracy", "column": "correct"},
                {"name": "efficiency", "column": "latency_s", "transform": "inverse-percentile"},
            ],
            "split": {"profiling": N_PROFILING, "seed": SPLIT_SEED},
            "arms": ["model", "temperature", "max_tokens", "prompt"],
        }
    )


def member(name: str, number: int) -> EvaluationTable:
    """Make the table of one member of the ensemble; number 0 is the bundled one.

    Raises
    ------
    CobanditError
        If there is no reconstruction of that name, or it has no such member.

    Examples
    --------
    >>> member("gsm8k", 0)
    gsm8k (reconstruction): 108 configurations x 1000 instances
    objectives: accuracy, efficiency; cost in tokens
    """
    sets = members(name)
    if _check.count(number, "number", 0) >= len(sets):
        raise CobanditError(f"{name} has members 0 to {len(sets) - 1}, not {number}")
    note = (f"member {number} of the ensemble",) if number else ()
    return EvaluationTable.from_frame(frame(name, sets[number]), card(name), f"{name}, member {number}", note)


def write(name: str, directory: str | Path, parameters: Parameters | None = None) -> Path:
    """Write a table and its card, NAME.parquet and NAME.yml.

    Parameters
    ----------
    name : {"gsm8k", "piqa"}
    directory : str or Path
        An existing directory, ``data`` in a checkout.
    parameters : Parameters, optional
        Default: those of the bundled table.

    Returns
    -------
    Path
        Of the records.
    """
    described = card(name)
    records = Path(directory) / described.records
    frame(name, parameters or members(name)[0]).to_parquet(records, index=False, compression="zstd")
    content: dict[str, Any] = described.model_dump(mode="json", exclude_unset=True)
    content["sha256"] = file_sha256(records)
    text = yaml.safe_dump(content, sort_keys=False, width=110)
    records.with_suffix(".yml").write_text(text, encoding="utf-8")
    return records
