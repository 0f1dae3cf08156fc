"""A plan for tests, and deterministic evaluators that replace models."""

import zlib

import anyio
import numpy as np

from cobandit.live.evaluators import Failure

PLAN = {
    "name": "toy",
    "configurations": {"grid": {"model": ["small", "large"], "shots": [0, 2, 6]}},
    "instances": 40,
    "method": "CoPSIOnce",
    "budget": 0.5,
    "unit": "share",
    "cost": {"column": "tokens", "unit": "tokens"},
    "objectives": [
        {"name": "accuracy", "column": "correct"},
        {"name": "efficiency", "column": "seconds", "transform": "inverse-percentile"},
    ],
}


def asking(address, **options):
    """Return a plan that asks an endpoint the questions in a file."""
    evaluate = {
        "base_url": address,
        "scorer": "number",
        "prompt": "{question}",
    } | options
    return PLAN | {
        "configurations": {"grid": {"model": ["small", "large"]}},
        "instances": {"file": "questions.jsonl"},
        "pilot": 3,
        "objectives": [{"name": "accuracy", "column": "score"}],
        "evaluate": {"openai": evaluate},
    }


LARGEST = 60
"""Upper bound on the tokens of an evaluation."""


def measure(configuration, instance):
    """Return the result of an evaluation, which is always the same."""
    shots, large = configuration["shots"], configuration["model"] == "large"
    rng = np.random.default_rng(
        zlib.crc32(f"{sorted(configuration.items())} {instance}".encode())
    )
    tokens = float(rng.integers(2, 10) * (1 + shots / 2) * (1.5 if large else 1))
    right = rng.random() < 0.2 + 0.1 * shots + 0.15 * large - 0.05 * large * shots
    return {
        "correct": float(right),
        "tokens": tokens,
        "seconds": 0.02 * tokens * rng.uniform(0.5, 1.5),
    }


class Fake:
    """Evaluator that takes random time, and records its calls and the billed cost.

    ``fail(configuration, instance, tried)`` may return a `Failure` that replaces the
    result, or raise an error. ``tried`` is the number of earlier attempts.
    """

    def __init__(self, block=1, delay=0.0, seed=0, fail=None, at_once=None):
        self.block = block
        self.at_once = at_once
        self.delay = delay
        self.fail = fail
        self.rng = np.random.default_rng(seed)
        self.calls = []
        self.billed = 0.0
        self.under_way = self.most = 0

    @property
    def evaluated(self):
        """Pairs of configuration and instance of all started evaluations, in order."""
        return [
            (configuration, instance)
            for configuration, ids in self.calls
            for instance in ids
        ]

    async def evaluate(self, configuration, instances):
        settings = tuple(configuration.values())
        tried = [self.evaluated.count((settings, instance)) for instance in instances]
        self.calls.append((settings, tuple(instances)))
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        try:
            await anyio.sleep(self.delay * self.rng.random())
            return [
                await self._one(configuration, *entry)
                for entry in zip(instances, tried)
            ]
        finally:
            self.under_way -= 1

    async def _one(self, configuration, instance, tried):
        failure = self.fail(configuration, instance, tried) if self.fail else None
        if failure is not None:
            self.billed += failure.cost or 0.0
            return failure
        row = measure(configuration, instance)
        self.billed += row["tokens"]
        return row


def flaky(share=0.2, cost=None, times=1, seed=1, retry=True):
    """Return a function ``fail`` for `Fake` with which some evaluations fail.

    A share of the evaluations fails in the first ``times`` attempts, but not later.
    """

    def fail(configuration, instance, tried):
        draw = (
            zlib.crc32(f"{seed} {sorted(configuration.items())} {instance}".encode())
            / 2**32
        )
        return (
            Failure("overloaded", cost=cost, retry=retry)
            if draw < share and tried < times
            else None
        )

    return fail
