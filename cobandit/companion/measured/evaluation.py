"""One evaluation of a measured table; a plan of ``cobandit run`` names these functions."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import Any
from zlib import crc32

from anyio import to_process

from cobandit.companion.measured import models, piqa_small, word_sums

TASKS = {task.NAME: task for task in (word_sums, piqa_small)}


def measure(name: str, configuration: Mapping[str, Any], instance: str) -> dict[str, float]:
    """Ask a model one question: whether it was right, tokens, and seconds of processor time.

    The seed of the sampler follows from table, configuration and instance, so that an evaluation that is
    made again writes the same text.
    """
    task: ModuleType = TASKS[name]
    settings = " | ".join(str(value) for value in configuration.values())
    seed = crc32(f"{name}|{settings}|{task.place(instance)}".encode()) % 2**31
    answer = models.complete(
        configuration["model"],
        task.prompt(configuration, instance),
        limit=configuration["max_tokens"],
        temperature=configuration["temperature"],
        seed=seed,
    )
    return {
        "correct": float(task.correct(answer.text, instance)),
        "seconds": answer.seconds,
        "tokens": answer.tokens,
        "prompt_tokens": answer.prompt_tokens,
    }


async def evaluate_word_sums(configuration: Mapping[str, Any], instance: str) -> dict[str, float]:
    """One word problem, in a process of its own: processor time is counted by the process."""
    return await to_process.run_sync(measure, word_sums.NAME, dict(configuration), instance)


async def evaluate_piqa_small(configuration: Mapping[str, Any], instance: str) -> dict[str, float]:
    """One question of PIQA, in a process of its own."""
    return await to_process.run_sync(measure, piqa_small.NAME, dict(configuration), instance)
