"""Evaluations under way: the policy's requests, several at once, with their results for its journal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from typing import NoReturn

import anyio

from cobandit.errors import CobanditError, TableError, raise_fault
from cobandit.live.evaluators.base import Evaluator, Failure, Row
from cobandit.live.evaluators.user_code import describe_error
from cobandit.live.progress import Progress
from cobandit.live.records import FAILED
from cobandit.live.retries import Retries, TimedOut, Verdict
from cobandit.live.stages import Stage
from cobandit.policies.asktell import Pull
from cobandit.policies.online_policy import OnlinePolicy
from cobandit.tables.usage import Doubt


class Dispatcher:
    """Keeps ``at_once`` calls of an evaluator under way, or as many as it allows, until all is done.

    A failure that was billed is charged at once, and evaluated when the policy hands it
    out again; one that cost nothing waits here.  While a configuration rests after a
    failure, others go on.

    Parameters
    ----------
    evaluator : Evaluator
    stage : Stage
    watch : callable
        Called with a `Progress` after each thing that happened.
    doubted : set of str
        Kinds of doubts about answers that were named before; new ones are added.
    """

    def __init__(
        self,
        evaluator: Evaluator,
        stage: Stage,
        watch: Callable[[Progress], None],
        doubted: set[str],
    ):
        self.plan = stage.plan
        self.evaluator = evaluator
        self.stage = stage
        self.watch = watch
        self._waiting: list[Pull] = []  # handed out, and not part of a call
        # outcomes that cannot be charged before another evaluation has a cost
        self._held: list[tuple[Pull, Row | Failure]] = []
        self._n_held = 0  # so far
        self._doubted = doubted
        self._news = anyio.Event()
        self._retries = Retries(self.plan.patience, self.plan.retries)

    async def play(self) -> None:
        """Evaluate until nothing can be asked any more.

        Raises
        ------
        CobanditError
            Of those that stopped the run the first; what was evaluated is kept.
        """
        self.watch(Progress(self.stage, ""))
        allowed = self.evaluator.at_once or self.plan.at_once
        try:
            async with anyio.create_task_group() as tasks:
                for _ in range(min(self.plan.at_once, allowed)):
                    tasks.start_soon(self._work)
        except BaseExceptionGroup as group:
            error: BaseException = group
            while isinstance(error, BaseExceptionGroup):
                error = error.exceptions[0]
            if isinstance(error, CobanditError):
                kept = "What was evaluated is kept: mend that, and run the plan again"
                message = f"{str(error).rstrip('. ')}. {kept}"
                faults = error.faults if isinstance(error, TableError) else ()
                error = TableError(message) if faults else CobanditError(message)
                if isinstance(error, TableError):
                    error.faults = faults
            raise error from None

    async def _work(self) -> None:
        while True:
            if pulls := self._next_block():
                await self._evaluate(pulls)
            elif self.stage.over:
                return
            elif self._held and len(self._held) == self.stage.policy.in_flight.sum():
                arms = {int(pull) for pull, _ in self._held}
                if self.stage.smallest_cost is None or len(arms) == len(
                    self.stage.names
                ):
                    self._refuse_held()
                # the policy has nothing else to hand out
                self._report_held(at_any_cost=True)
            else:
                next_due = min(map(self._retries.find_due, self._waiting), default=inf)
                with anyio.move_on_after(next_due - anyio.current_time()):
                    await self._news.wait()

    def _next_block(self) -> list[Pull]:
        """Take evaluations of one configuration, as many as one call takes; none if none can be made now."""
        pulls: list[Pull] = []
        while not pulls and (ready := self._ask()):
            block = [pull for pull in ready if pull == ready[0]][: self.evaluator.block]
            taken = {pull.key for pull in block}
            self._waiting = [pull for pull in self._waiting if pull.key not in taken]
            # its instance may have been left out
            pulls = [pull for pull in block if not self._settle(pull)]
        return pulls

    def _ask(self) -> list[Pull]:
        """Ask as far ahead as it helps, and list what can be evaluated now."""
        block, journal = self.evaluator.block, self.stage.journal

        # which wants to know most before it decides
        online = isinstance(journal.policy, OnlinePolicy)

        # any other is asked until some configuration fills a block, past those of
        # configurations that rest
        ahead = block * (self.plan.at_once if online else journal.policy.n_arms)

        most, room = 1 if block == 1 else ahead, ahead if online else inf
        ready = [pull for pull in self._waiting if self._is_due(pull)]
        while (
            len(ready) < most
            and len(self._waiting) < room
            and (pull := journal.ask()) is not None
        ):
            if not self._settle(pull):
                self._waiting.append(pull)
                ready += [pull] * self._is_due(pull)

        return ready

    def _is_due(self, pull: Pull) -> bool:
        return anyio.current_time() >= self._retries.find_due(pull)

    def _settle(self, pull: Pull) -> bool:
        """Report an evaluation that need not be made, and return whether it was one."""
        is_known = self.stage.report_known(pull)
        if is_known:
            self._wake()
        return is_known

    async def _evaluate(self, pulls: list[Pull]) -> None:
        """Evaluate once, and report the outcomes."""
        began = anyio.current_time()
        arm = int(pulls[0])
        outcomes = await self._call(
            arm, [self.stage.name_instance(pull) for pull in pulls]
        )
        for pull, outcome in zip(pulls, outcomes, strict=True):
            if isinstance(outcome, Failure):
                await self._fail(pull, outcome)
            else:
                self._retries.note_answer(arm, began)
                self._end(pull, outcome)
        self._wake()

    def _end(self, pull: Pull, outcome: Row | Failure) -> None:
        """Report an evaluation that is over, or hold it until it can be charged."""
        if not self.stage.can_report(outcome):
            self._held.append((pull, outcome))
            self._n_held += 1
            # a question may be bad; two of each configuration are not
            if self._n_held >= 2 * len(self.stage.names):
                self._refuse_held()
        elif isinstance(outcome, Failure):
            self._give_up(pull, outcome)
        else:
            self.stage.report(pull, outcome)
            values = ", ".join(
                f"{column} {value:.4g}" for column, value in outcome.items()
            )
            self._report(pull, f"{self._name(pull)}: {values}")
            for doubt in getattr(outcome, "doubts", ()):
                self._name_doubt(pull, doubt)
            self._report_held()

    def _name_doubt(self, pull: Pull, doubt: Doubt) -> None:
        """Name a doubt about an answer, unless one of its kind was named before."""
        if doubt.kind not in self._doubted:
            self._doubted.add(doubt.kind)
            line = (
                f"{self._name(pull)}: {doubt.text} (said once; the run's end counts"
                " them)"
            )
            self._report(pull, line, notable=True)

    def _give_up(self, pull: Pull, failure: Failure) -> None:
        self.stage.report_failed(pull, failure)
        self._report(pull, f"{self._name(pull)} failed: {failure}", failed=True)

    def _report_held(self, at_any_cost: bool = False) -> None:
        """Report outcomes that were held; failures also if nothing was answered yet, where that is asked."""
        held = self._held
        self._held = []
        for pull, outcome in held:
            if at_any_cost and isinstance(outcome, Failure):
                self._give_up(pull, outcome)
            else:
                self._end(pull, outcome)
        self._wake()

    def _refuse_held(self) -> NoReturn:
        pull, outcome = self._held[0]
        if isinstance(outcome, Failure):
            problem = f"nothing could be evaluated: it failed: {outcome}"
            remedy = "see to the evaluator or its service"
            raise_fault(self._name(pull), problem, remedy, "nothing-evaluated")

        problem = (
            f"it gave 0 as {self.plan.cost.column!r}, and a method needs costs above"
            " zero"
        )
        remedy = (
            "take as the cost what is used although it is free, such as {column:"
            " tokens, unit: tokens}"
        )
        raise_fault(self._name(pull), problem, remedy, "free-evaluations")

    async def _fail(self, pull: Pull, failure: Failure) -> None:
        """Score a failure, try it again later, or stop the run: as the table of `retries` says."""
        now = anyio.current_time()
        arm = int(pull)
        verdict = self._retries.judge(pull, failure, now)
        if verdict is Verdict.SCORE:
            self._end(pull, failure)
            return

        cost = failure.cost or 0.0
        paid = await self._ask_again(arm) if verdict is Verdict.COMPARE else None
        if paid is not None:
            self._retries.note_comparison(pull)
            cost += paid
            outlook = "while another is answered"
        else:
            pause = self._retries.postpone(pull, failure, now)
            if pause is None:
                silence = self._retries.find_silence(arm, now)
                problem = (
                    f"it has answered nothing for {silence:.0f} s. The last failure, on"
                    f" instance {self.stage.name_instance(pull)!r}:"
                    f" {str(failure).rstrip('. ')}"
                )
                remedy = (
                    "see to the service, make fewer calls at once (at_once), or raise"
                    " patience"
                )
                raise_fault(
                    repr(self.stage.names[arm]), problem, remedy, "silent-service"
                )
            outlook = f"and is tried again in {pause:.1f} s"
        # what was billed is charged at once, and asked for again by the policy
        if cost:
            self.stage.charge_failure(pull, Failure(str(failure), cost=cost))
        else:
            self._waiting.append(pull)
        self._report(
            pull, f"{self._name(pull)} failed, {outlook}: {failure}", failed=True
        )

    async def _ask_again(self, arm: int) -> float | None:
        """Ask a configuration an answered question again, and return the cost; None if it does not answer."""
        records = self.stage.records.items()
        answered = [
            key for key, record in records if key[0] == arm and FAILED not in record
        ]
        if not answered:
            return None
        _, instance = self.stage.name_record(answered[-1])
        (outcome,) = await self._call(arm, [instance])
        return (
            None
            if isinstance(outcome, Failure)
            else outcome.get(self.plan.cost.column, 0.0)
        )

    async def _call(self, arm: int, instances: list[str]) -> Sequence[Row | Failure]:
        """Call the evaluator, within the time that it has; what fails as a whole fails for each."""
        timeout = self.plan.timeout or float(getattr(self.evaluator, "timeout", inf))

        seconds = timeout * len(instances)
        name = self.stage.names[arm]
        try:
            with anyio.move_on_after(seconds):
                outcomes = await self.evaluator.evaluate(
                    self.plan.configurations.all[arm], instances
                )
                if len(outcomes) != len(instances):
                    problem = (
                        f"the evaluator gave {len(outcomes)} rows for {len(instances)}"
                        " instances"
                    )
                    raise_fault(repr(name), problem, "return one for each", "row-count")
                return outcomes
        except Failure as failure:
            return [failure] * len(instances)
        except CobanditError:
            raise
        except Exception as error:
            where = f"{name!r}, instance {instances[0]!r}"
            raise CobanditError(
                f"the evaluator failed on {where}, with {describe_error(error)}"
            ) from error

        message = f"no answer within {seconds:g} s, which is its timeout"
        late = TimedOut(message, cost=self.stage.mean_cost(arm), retry=True)
        return [late] * len(instances)

    def _report(
        self, pull: Pull, line: str, failed: bool = False, notable: bool = False
    ) -> None:
        """Report what happened to an evaluation."""
        name = self.stage.names[pull]
        self.watch(
            Progress(
                self.stage, line, failed=failed, notable=notable, configuration=name
            )
        )

    def _name(self, pull: Pull) -> str:
        return f"{self.stage.names[pull]} on {self.stage.name_instance(pull)}"

    def _wake(self) -> None:
        """Wake calls that wait for the policy to have more to hand out."""
        self._news.set()
        self._news = anyio.Event()
