"""Evaluations under way: what a policy hands out is evaluated, several at once, and told to its journal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from math import inf

import anyio
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type, wait_random_exponential

from cobandit.errors import CobanditError
from cobandit.live.evaluators import Evaluator, Failure, Row
from cobandit.live.plan import Plan
from cobandit.live.stages import Key, Stage
from cobandit.policies.asktell import Pull
from cobandit.policies.online import OnlinePolicy

#: Seconds between tries: at random, up to 1, 2, 4, ... and never more than a minute.
BACK_OFF = wait_random_exponential(multiplier=1, max=60)


class Conductor:
    """Keeps ``at_once`` calls of an evaluator under way, or as many as it allows, until all is done.

    A failure that may be mended is tried again here if it cost nothing.  One that was billed is told, so
    that its cost is charged at once, and is evaluated when the policy hands it out again.  Where the service
    is what fails, the run stops: no configuration is worse for that.

    Parameters
    ----------
    plan : Plan
    evaluator : Evaluator
    stage : Stage
    watch : callable
        Called with a line of text after each thing that happened, and whether it is a failure.
    """

    def __init__(self, plan: Plan, evaluator: Evaluator, stage: Stage, watch: Callable[[str, bool], None]):
        self.plan = plan
        self.evaluator = evaluator
        self.stage = stage
        self.watch = watch
        self._waiting: list[Pull] = []  # handed out, and not yet part of a call
        self._tries: Counter[Key] = Counter()
        self._told = anyio.Event()

    async def play(self) -> None:
        """Evaluate until nothing can be asked any more."""
        allowed = self.evaluator.at_once or self.plan.at_once
        async with anyio.create_task_group() as tasks:
            for _ in range(min(self.plan.at_once, allowed)):
                tasks.start_soon(self._work)

    async def _work(self) -> None:
        while True:
            if pulls := self._next_block():
                await self._evaluate(pulls)
            elif self.stage.over:
                return
            else:
                await self._told.wait()

    def _next_block(self) -> list[Pull]:
        """Take evaluations of one configuration, as many as one call takes; none if none can be made."""
        pulls: list[Pull] = []
        while not pulls and self._ask():
            first = self._waiting[:1]
            block = [pull for pull in self._waiting if pull in first][: self.evaluator.block]
            taken = {pull.key for pull in block}
            self._waiting = [pull for pull in self._waiting if pull.key not in taken]
            pulls = [pull for pull in block if not self._settle(pull)]  # its instance may have been left out
        return pulls

    def _ask(self) -> bool:
        """Ask as far ahead as it helps, and say whether something waits to be evaluated."""
        block, policy = self.evaluator.block, self.stage.policy
        if block == 1:
            most = 1
        elif isinstance(policy, OnlinePolicy):  # wants to know most before it decides
            most = block * self.plan.at_once
        else:  # so many that some configuration fills a block
            most = block * policy.n_arms
        while len(self._waiting) < most and (pull := self.stage.journal.ask()) is not None:
            if not self._settle(pull):
                self._waiting.append(pull)
        return bool(self._waiting)

    def _settle(self, pull: Pull) -> bool:
        """Tell an evaluation that need not be made, and say whether it was one."""
        settled = self.stage.settle(pull)
        if settled:
            self._news()
        return settled

    async def _evaluate(self, pulls: list[Pull]) -> None:
        """Evaluate, and go on trying what may be mended and cost nothing."""
        trying = AsyncRetrying(sleep=anyio.sleep, wait=_pause, retry=retry_if_exception_type(Failure))
        async for attempt in trying:
            with attempt:
                pulls, failure = await self._try(pulls)
                if failure is not None:
                    raise failure

    async def _try(self, pulls: list[Pull]) -> tuple[list[Pull], Failure | None]:
        """Evaluate once, tell what came of it, and return what is to be tried again here, and why."""
        instances = [self.stage.instance(pull) for pull in pulls]
        found = await self._call(int(pulls[0]), instances)
        again, why, gone = [], None, ""
        for pull, instance, outcome in zip(pulls, instances, found, strict=True):
            name = f"{self.stage.names[pull]} on {instance}"
            if not isinstance(outcome, Failure):
                self.stage.tell(pull, outcome)
                self.watch(
                    f"{name}: {', '.join(f'{column} {x:.4g}' for column, x in outcome.items())}", False
                )
                continue
            self._tries[pull.key] += 1
            if not outcome.retry or self._tries[pull.key] > self.plan.retries:
                if outcome.unavailable:
                    gone = gone or f"{name}: {outcome}"
                    continue
                self.stage.give_up(pull, outcome)
                self.watch(f"{name} failed: {outcome}", True)
                continue
            if outcome.cost:
                self.stage.try_again(pull, outcome)
            else:
                again.append(pull)
                why = max(why or outcome, outcome, key=lambda failure: failure.wait or 0)
            self.watch(f"{name} failed, and is tried again: {outcome}", True)
        self._news()
        if gone:
            raise CobanditError(
                f"{gone}.  What was told is kept: see to the service, or ask it less at once or with more "
                "retries, and run the plan again"
            )
        return again, why

    async def _call(self, arm: int, instances: list[str]) -> Sequence[Row | Failure]:
        """Call the evaluator, within the time that it has; what fails as a whole fails for each."""
        seconds = inf if self.plan.timeout is None else self.plan.timeout * len(instances)
        name = self.stage.names[arm]
        try:
            with anyio.move_on_after(seconds):
                found = await self.evaluator.evaluate(self.plan.configurations.all[arm], instances)
                if len(found) != len(instances):
                    raise CobanditError(
                        f"the evaluator gave {len(found)} rows for {len(instances)} instances of {name!r}: "
                        "one for each is needed"
                    )
                return found
        except Failure as failure:
            return [failure] * len(instances)
        except CobanditError:
            raise
        except Exception as error:
            raise CobanditError(
                f"the evaluator failed on {name!r}, instance {instances[0]!r}, with {type(error).__name__}: "
                f"{error}.  Correct it and run the plan again: what was told is kept"
            ) from error
        late = Failure(f"no answer within {seconds:g} s", cost=self.stage.mean_cost(arm), retry=True)
        return [late] * len(instances)

    def _news(self) -> None:
        """Wake those that wait for the policy to have more to hand out."""
        self._told.set()
        self._told = anyio.Event()


def _pause(state: RetryCallState) -> float:
    """Wait as long as the service wants, or longer each time."""
    failure = state.outcome.exception() if state.outcome else None
    return max(BACK_OFF(state), getattr(failure, "wait", None) or 0.0)
