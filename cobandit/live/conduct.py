"""Evaluations under way: what a policy hands out is evaluated, several at once, and told to its journal."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import anyio
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type, wait_random_exponential

from cobandit.errors import CobanditError
from cobandit.live.evaluators import Evaluator, Failure, Row
from cobandit.live.journal import Journal
from cobandit.live.plan import Plan
from cobandit.policies.asktell import Pull
from cobandit.policies.online import OnlinePolicy

#: Seconds between tries: at random, up to 1, 2, 4, ... and never more than a minute.
BACK_OFF = wait_random_exponential(multiplier=1, max=60)


class Stage(Protocol):
    """What a part of a run, its pilot or the rest, makes of what evaluations give.

    ``journal`` holds its policy; ``known`` are records that need no evaluation, by arm and place in the order.
    """

    journal: Journal
    known: Mapping[tuple[int, int], dict[str, Any]]

    def instance(self, pull: Pull) -> str:
        """Name the instance of an evaluation."""
        ...

    def tell(self, pull: Pull, record: dict[str, Any]) -> None:
        """Tell what an evaluation gave."""
        ...

    def give_up(self, pull: Pull, failure: Failure) -> None:
        """Tell that an evaluation failed for good."""
        ...

    def mean_cost(self, arm: int) -> float | None:
        """Cost of an evaluation of an arm, as far as it is known."""
        ...


class Conductor:
    """Keeps ``at_once`` calls of an evaluator under way until the policy is finished.

    A failure that may be mended is tried again here if it cost nothing.  One that was billed is told, so
    that its cost is charged at once, and is evaluated when the policy hands it out again.

    Parameters
    ----------
    plan : Plan
    evaluator : Evaluator
    stage : Stage
    watch : callable
        Called with a line of text after each thing that happened.
    """

    def __init__(self, plan: Plan, evaluator: Evaluator, stage: Stage, watch: Callable[[str], None]):
        self.plan = plan
        self.evaluator = evaluator
        self.stage = stage
        self.watch = watch
        self._waiting: deque[Pull] = deque()  # handed out, and not yet part of a call
        self._tries: Counter[tuple[int, int]] = Counter()
        self._told = anyio.Event()

    async def play(self) -> None:
        """Evaluate until nothing can be asked any more."""
        async with anyio.create_task_group() as tasks:
            for _ in range(self.plan.at_once):
                tasks.start_soon(self._work)

    async def _work(self) -> None:
        while True:
            if pulls := self._next_block():
                await self._evaluate(pulls)
            elif self.stage.journal.policy.finished:
                return
            else:
                await self._told.wait()

    def _next_block(self) -> list[Pull]:
        """Ask, and take evaluations of one configuration, as many as one call takes."""
        block = self.evaluator.block
        # what is known ahead is asked for at once; an index method wants to know most before it decides
        most = block * self.plan.at_once if isinstance(self.stage.journal.policy, OnlinePolicy) else None
        while block > 1 or not self._waiting:
            if most is not None and len(self._waiting) >= most:
                break
            pull = self.stage.journal.ask()
            if pull is None:
                break
            self._take(pull)
        if not self._waiting:
            return []
        arm = int(self._waiting[0])
        pulls = [pull for pull in self._waiting if pull == arm][:block]
        taken = set(map(id, pulls))
        self._waiting = deque(pull for pull in self._waiting if id(pull) not in taken)
        return pulls

    def _take(self, pull: Pull) -> None:
        """Tell what is known of an evaluation, or put it among those to be made."""
        record = self.stage.known.get((int(pull), pull.number))
        if record is None:
            self._waiting.append(pull)
        else:
            self.stage.tell(pull, record)
            self._news()

    async def _evaluate(self, pulls: Sequence[Pull]) -> None:
        left = list(pulls)
        again = AsyncRetrying(sleep=anyio.sleep, wait=_pause, retry=retry_if_exception_type(Failure))
        async for attempt in again:
            with attempt:
                left = await self._try(left)

    async def _try(self, pulls: list[Pull]) -> list[Pull]:
        """Evaluate once; raise a failure if some are to be tried again here, and leave these in the list."""
        instances = [self.stage.instance(pull) for pull in pulls]
        found = await self._call(int(pulls[0]), instances)
        again, mends = [], []
        for pull, instance, outcome in zip(list(pulls), instances, found, strict=True):
            name = f"{self.plan.names[pull]} on {instance}"
            if not isinstance(outcome, Failure):
                self.stage.tell(pull, dict(outcome))
                self.watch(f"{name}: {', '.join(f'{key} {value:.4g}' for key, value in outcome.items())}")
                continue
            self._tries[int(pull), pull.number] += 1
            if not outcome.retry or self._tries[int(pull), pull.number] > self.plan.retries:
                self.stage.give_up(pull, outcome)
                self.watch(f"{name} failed: {outcome}")
            elif outcome.cost:
                self.stage.journal.tell(pull, None, outcome.cost, {"failed": str(outcome)})
                self.watch(f"{name} failed, and is tried again: {outcome}")
            else:
                again.append(pull)
                mends.append(outcome)
                self.watch(f"{name} failed, and is tried again: {outcome}")
        self._news()
        pulls[:] = again
        if mends:
            raise max(mends, key=lambda failure: failure.wait or 0)
        return again

    async def _call(self, arm: int, instances: list[str]) -> Sequence[Row | Failure]:
        """Call the evaluator, within the time that it has; whatever fails as a whole fails for each."""
        seconds = None if self.plan.timeout is None else self.plan.timeout * len(instances)
        try:
            with anyio.fail_after(seconds):
                found = await self.evaluator.evaluate(self.plan.configurations[arm], instances)
        except Failure as failure:
            return [failure] * len(instances)
        except TimeoutError:
            late = Failure(f"no answer within {seconds:g} s", cost=self.stage.mean_cost(arm), retry=True)
            return [late] * len(instances)
        except CobanditError:
            raise
        except Exception as error:
            raise CobanditError(
                f"the evaluator failed on {self.plan.names[arm]!r}, instance {instances[0]!r}, with "
                f"{type(error).__name__}: {error}.  Correct it and run the plan again: what was told is kept"
            ) from error
        if len(found) != len(instances):
            raise CobanditError(
                f"the evaluator gave {len(found)} rows for {len(instances)} instances of "
                f"{self.plan.names[arm]!r}: one for each is needed"
            )
        return found

    def _news(self) -> None:
        """Wake those that wait for the policy to have more to hand out."""
        self._told.set()
        self._told = anyio.Event()


def _pause(state: RetryCallState) -> float:
    """Wait as long as the service wants, or longer each time."""
    failure = state.outcome.exception() if state.outcome else None
    return max(BACK_OFF(state), getattr(failure, "wait", None) or 0.0)
