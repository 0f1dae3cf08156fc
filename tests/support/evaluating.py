"""Evaluators that are opened as in a run."""

from pathlib import Path

import anyio

from cobandit.live.evaluators import Context, find_evaluator


def context(
    folder=Path(),
    configurations=({"n": 1},),
    instances=("7",),
    cost="tokens",
    objectives=(),
):
    rows = (
        instances if isinstance(instances, dict) else {name: {} for name in instances}
    )
    return Context(configurations, rows, cost, folder, folder / "run", objectives)


async def nothing(evaluator):
    """Do nothing with an open evaluator."""


def opened(name, options, use=nothing, **of_context):
    """Open an evaluator, and return the result of ``use(evaluator)``."""
    kind = find_evaluator(name)

    async def main():
        async with kind.open(
            kind.options(**options), context(**of_context)
        ) as evaluator:
            return await use(evaluator)

    return anyio.run(main)
