"""Word problems with one or two sums, and their prompts for two small models.

Problem n is drawn from ``default_rng([SEED, n])``, so that the number of problems does
not change the earlier ones.
"""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from measured.models import PACKAGES, SHORT

NAME = "word-sums"
TITLE = (
    "Two small language models on word problems: {arms} configurations, {instances}"
    " problems"
)
SEED = 1
N_INSTANCES = 300
PEOPLE = ("Ann", "Ben", "Eva", "Tom", "Mia", "Leo", "Zoe", "Sam", "Ida", "Max")
THINGS = ("apples", "pens", "books", "coins", "cards", "eggs", "cups", "stamps")
#: Largest number of a problem; for models of this size, the first one is easy and the
#: last one is hard.
LARGEST = (5, 10, 20, 50)
#: The 72 configurations.
GRID: dict[str, list[Any]] = {
    "model": list(PACKAGES),
    "shots": [0, 1, 2],
    "style": ["direct", "written out"],
    "temperature": [0.0, 0.5, 1.0],
    "max_tokens": [8, 32],
}


class WordProblem(NamedTuple):
    """A question, its sums written out and its answer."""

    question: str
    sums: str
    answer: int


def problem(number: int) -> WordProblem:
    """Return problem ``number``; negative numbers are examples in the prompts.

    No configuration is tested on these examples.

    Examples
    --------
    >>> problem(0).question
    'Sam has 6 stamps and gets 2 more. How many now?'
    >>> problem(0).sums
    '6 + 2 = 8'
    """
    rng = np.random.default_rng([SEED, number % 2**32])
    largest = int(rng.choice(LARGEST))

    total = int(rng.integers(1, largest, endpoint=True))
    story = f"{rng.choice(PEOPLE)} has {total} {rng.choice(THINGS)}"
    sums = []
    for step in range(int(rng.choice((1, 1, 2)))):
        change = int(rng.integers(1, largest, endpoint=True))
        loses = change < total and rng.random() < 0.5
        story += (", then " if step else " and ") + (
            f"loses {change}" if loses else f"gets {change} more"
        )
        after = total - change if loses else total + change
        sums.append(f"{total} {'-' if loses else '+'} {change} = {after}")
        total = after

    return WordProblem(f"{story}. How many now?", ", ".join(sums), total)


def config_name(configuration: Mapping[str, Any]) -> str:
    """Return the name of a configuration in the table.

    Examples
    --------
    >>> config_name({name: values[-1] for name, values in GRID.items()})
    'Gemma 2-shot written out T=1.0 max 32'
    """
    model, shots, style, temperature, limit = configuration.values()
    return f"{SHORT[model]} {shots}-shot {style} T={temperature} max {limit}"


def instances() -> list[str]:
    """Return the problems in the order of evaluation, by their number."""
    return [str(n) for n in range(N_INSTANCES)]


def prompt(configuration: Mapping[str, Any], instance: str) -> str:
    """Return the prompt of a problem."""
    written_out = configuration["style"] == "written out"
    lines = [
        (
            "Write each sum out, then the answer."
            if written_out
            else "Give the answer as a number."
        ),
        "",
    ]
    for example in (problem(-1 - shot) for shot in range(configuration["shots"])):
        shown = (
            f"{example.sums}. So {example.answer}"
            if written_out
            else str(example.answer)
        )
        lines += [f"Question: {example.question}", f"Answer: {shown}", ""]

    return "\n".join(
        [*lines, f"Question: {problem(int(instance)).question}", "Answer:"]
    )


def correct(text: str, instance: str) -> bool:
    """Return whether the last number of the answer is the right one.

    Examples
    --------
    >>> correct(" 6 + 2 = 8. So 8", "0"), correct(" 6 + 2", "0"), correct(" none", "0")
    (True, False, False)
    """
    numbers = re.findall(r"\d+", text)
    return bool(numbers) and int(numbers[-1]) == problem(int(instance)).answer
