"""Any endpoint that answers as OpenAI's does: chat or plain completions, a prompt template and a scorer.

.. code-block:: yaml

    evaluate:
      openai:
        base_url: http://127.0.0.1:8080/v1
        key: MY_API_KEY                 # the environment variable that holds it
        instances: questions.jsonl      # with instance, question and answer
        prompt: "{question} Answer with a number."
        scorer: number
        prices: prices.yml

A setting of a configuration is a field of the request (``model``, ``temperature``, ``max_tokens`` and so on,
or whatever ``body`` gives a default of), the name of one of several prompts, or a value for the templates.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from cobandit.faults import nearest, stop
from cobandit.live.evaluators import Context, Row, evaluator
from cobandit.live.evaluators.prompts import Columns, OpenAIOptions, Prompts, read_instances
from cobandit.live.evaluators.scorers import ScorerOptions
from cobandit.tables.prices import Prices, check_paid, cost_usd, read_prices

if TYPE_CHECKING:
    from cobandit.live.evaluators.client import Client

COLUMNS = ("correct", "prompt_tokens", "cached_tokens", "tokens", "seconds", "cost_usd")
"""What an evaluation gives: ``tokens`` are those generated, ``seconds`` go from request to answer."""


class EndpointEvaluator:
    """Asks an endpoint and scores what it answers.

    Parameters
    ----------
    client : Client
    prompts : Prompts
    scorer : ScorerOptions
    instances : mapping of str to mapping
        Columns by id.
    prices : mapping of str to Price, or None
    """

    block = 1
    at_once = None

    def __init__(
        self,
        client: Client,
        prompts: Prompts,
        scorer: ScorerOptions,
        instances: Mapping[str, Columns],
        prices: Prices | None,
    ):
        self._client = client
        self._prompts = prompts
        self._scorer = scorer
        self._instances = instances
        self._prices = prices
        self.digests = prompts.digests(instances, scorer.answer)

    async def evaluate(self, configuration: Mapping[str, Any], instances: Sequence[str]) -> list[Row]:
        """Ask once for each instance."""
        return [await self._one(configuration, self._instances[instance]) for instance in instances]

    async def _one(self, configuration: Mapping[str, Any], columns: Columns) -> Row:
        text, usage, seconds = await self._client.ask(self._prompts.request(configuration, columns))
        correct = self._scorer.correct(text, str(columns[self._scorer.answer]))
        row = {"correct": float(correct), "seconds": seconds}
        if usage is None:  # an endpoint that does not count tokens
            return row
        row |= {
            "prompt_tokens": float(usage.input + usage.cached),
            "cached_tokens": float(usage.cached),
            "tokens": float(max(1, usage.output)),  # an answer's end is one, which some leave out
        }
        if self._prices is not None:
            row["cost_usd"] = cost_usd(usage, self._prices, str(self._prompts.model(configuration)))
        return row


@evaluator("openai", OpenAIOptions)
@asynccontextmanager
async def open_openai(options: OpenAIOptions, context: Context) -> AsyncIterator[EndpointEvaluator]:
    """Read and check instances, prompts, prices and the key, and ask the endpoint whether it is there.

    Raises
    ------
    CobanditError
        If one of them is wrong, or nobody answers.
    """
    from cobandit.live.evaluators.client import Client  # HTTP takes its time to import

    instances = read_instances(options.instances, context.folder, context.instances)
    _check_answers(options, instances)
    prompts = Prompts(options, context.configurations, instances)
    prices = None
    if options.prices is not None:
        models = {str(prompts.model(each)) for each in context.configurations}
        prices = read_prices(context.folder / options.prices, sorted(models))
        if context.cost == "cost_usd":
            check_paid(prices, sorted(models))
    for what, column in [("cost", context.cost), *(("objectives", each) for each in context.objectives)]:
        if column == "cost_usd" and prices is None:
            stop("prices", f"{what}: cost_usd is wanted, and there are no prices", "name a file of prices")
        if column not in COLUMNS:
            remedy = f"{nearest(column, COLUMNS)}an endpoint gives {', '.join(COLUMNS)}"
            stop(what, f"there is no column {column!r}", remedy)
    async with Client(options.base_url, options.api, _key(options), options.key) as client:
        await client.check()
        yield EndpointEvaluator(client, prompts, options, instances, prices)


def _check_answers(options: OpenAIOptions, instances: Mapping[str, Columns]) -> None:
    for name, columns in instances.items():
        where = f"{options.instances.file}, instance {name!r}"
        if options.answer not in columns:
            remedy = f"{nearest(options.answer, columns)}name the column of right answers with answer"
            stop(where, f"it has no {options.answer!r}", remedy)
        if not options.usable(str(columns[options.answer])):
            problem = f"no text could match its answer {columns[options.answer]!r} by scorer {options.scorer}"
            stop(where, problem, "correct the answer, or choose another scorer")


def _key(options: OpenAIOptions) -> str | None:
    if options.key is None:
        return None
    key = os.environ.get(options.key, "").strip()
    if not key:
        stop("key", f"the environment variable {options.key!r} is not set", f"export {options.key}=...")
    if not (key.isascii() and key.isprintable()):
        stop("key", f"the environment variable {options.key!r} holds what no key has", "copy the key again")
    return key
