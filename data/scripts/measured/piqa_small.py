"""The paper's second benchmark, in small: PIQA with two prompts and two models.

We may not distribute the questions: they are read from the user's copy, and a table
contains line numbers.
"""

import json
import os
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from cobandit.errors import CobanditError
from measured.models import PACKAGES, SHORT

NAME = "piqa-small"
TITLE = (
    "Two small language models on PIQA: {arms} configurations, {instances} questions"
)
SEED = 1
N_INSTANCES = 300
#: Largest number of characters of a question with its two solutions; two thirds of the
#: split are within it.
LONGEST = 240
#: The paper's 12 configurations per model.
GRID: dict[str, list[Any]] = {
    "model": list(PACKAGES),
    "temperature": [0.0, 0.5, 1.0],
    "max_tokens": [8, 32],
    "prompt": ["direct", "chain of thought"],
}


class PiqaQuestion(NamedTuple):
    """A question, its two solutions, and the right one (1 or 2)."""

    goal: str
    solutions: tuple[str, str]
    answer: int


@cache
def questions() -> dict[str, PiqaQuestion]:
    """Return the short questions by line (from 0), in the order of evaluation.

    Raises
    ------
    CobanditError
        If the files are not under the folder that ``COBANDIT_MIRROR`` names.
    """
    folder = Path(os.environ.get("COBANDIT_MIRROR", ".")) / "piqa"
    try:
        lines = (folder / "valid.jsonl").read_text(encoding="utf-8").splitlines()
        labels = (folder / "valid-labels.lst").read_text(encoding="utf-8").split()
    except OSError as error:
        raise CobanditError(
            f"PIQA's questions are missing ({error}): put valid.jsonl and"
            " valid-labels.lst of its validation split into a folder `piqa`, and set"
            " COBANDIT_MIRROR to the folder above it",
            argument="valid.jsonl",
            code="no-file",
        ) from None

    read = [json.loads(line) for line in lines]
    short = [n for n, row in enumerate(read) if sum(map(len, row.values())) <= LONGEST]
    return {
        str(n): PiqaQuestion(
            read[n]["goal"], (read[n]["sol1"], read[n]["sol2"]), int(labels[n]) + 1
        )
        for n in np.random.default_rng(SEED).permutation(short)
    }


def instances() -> list[str]:
    """Return the first questions in the order of evaluation."""
    return list(questions())[:N_INSTANCES]


def config_name(configuration: Mapping[str, Any]) -> str:
    """Return the name of a configuration in the table.

    Examples
    --------
    >>> config_name({name: values[-1] for name, values in GRID.items()})
    'Gemma chain of thought T=1.0 max 32'
    """
    model, temperature, limit, style = configuration.values()
    return f"{SHORT[model]} {style} T={temperature} max {limit}"


def prompt(configuration: Mapping[str, Any], instance: str) -> str:
    """Return the prompt of a question."""
    question = questions()[instance]
    lines = [
        f"Goal: {question.goal}",
        *(f"Solution {n}: {s}" for n, s in enumerate(question.solutions, 1)),
    ]
    if configuration["prompt"] == "direct":
        return "\n".join([*lines, "The better one is solution"])
    return "\n".join(
        [*lines, "Think about which solution works, then name its number. Thought:"]
    )


def correct(text: str, instance: str) -> bool:
    """Return whether the last 1 or 2 of the answer is the right solution.

    An answer without either is wrong.
    """
    named = re.findall(r"\b[12]\b", text)
    return bool(named) and int(named[-1]) == questions()[instance].answer
