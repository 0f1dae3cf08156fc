"""The dispatcher, which makes the evaluations that a policy requests, concurrently."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from typing import NoReturn

import anyio

from cobandit.errors import CobanditError, TableError, raise_fault
from cobandit.live.evaluators.base import Evaluator, Failure, Row
from cobandit.live.evaluators.user_code import describe_error
from cobandit.live.progress import Progress
from cobandit.live.records import FAILED_KEY
from cobandit.live.retries import Retries, TimedOut, Verdict
from cobandit.live.stages import RunStage
from cobandit.policies.asktell import Pull
from cobandit.policies.online_policy import OnlinePolicy
from cobandit.tables.usage import Doubt


class Dispatcher:
    """Makes the evaluations of a stage (pilot or main stage) by concurrent calls.

    At most ``at_once`` calls run at the same time. If a failed call has a cost, the
    dispatcher charges this cost to the budget immediately, and the policy requests the
    evaluation again. If a failed call has no cost, the dispatcher itself retries the
    call. While one configuration pauses after a failure, others continue.

    Parameters
    ----------
    evaluator : Evaluator
    stage : RunStage
    watch : callable
        Called with a `Progress` after each event.
    reported_doubts : set of str
        Kinds of flawed answers that were already reported, such as an unreadable field.
        The dispatcher adds new kinds.
    """

    def __init__(
        self,
        evaluator: Evaluator,
        stage: RunStage,
        watch: Callable[[Progress], None],
        reported_doubts: set[str],
    ):
        self.plan = stage.plan
        self.evaluator = evaluator
        self.stage = stage
        self.watch = watch
        # requests of the policy that no call contains yet
        self._waiting: list[Pull] = []
        # outcomes without a cost, which are charged once the smallest cost is known
        self._held: list[tuple[Pull, Row | Failure]] = []
        self._n_ever_held = 0
        self._reported_doubts = reported_doubts
        self._news = anyio.Event()
        self._retries = Retries(self.plan.patience, self.plan.retries)

    async def play(self) -> None:
        """Evaluate until the policy has no further requests.

        Raises
        ------
        CobanditError
            The first error that stops the run; results are kept.
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
                error = _promise_results(error)
            raise error from None

    async def _work(self) -> None:
        while True:
            if pulls := self._next_block():
                await self._evaluate(pulls)
            elif self.stage.over:
                return
            elif self._held and len(self._held) == self.stage.policy.in_flight.sum():
                arms = {int(pull) for pull, _ in self._held}
                n_arms = len(self.stage.names)
                if self.stage.smallest_cost is None or len(arms) == n_arms:
                    self._refuse_held()
                # the policy has no further request at the moment
                self._report_held(at_any_cost=True)
            else:
                next_due = min(map(self._retries.find_due, self._waiting), default=inf)
                with anyio.move_on_after(next_due - anyio.current_time()):
                    await self._news.wait()

    def _next_block(self) -> list[Pull]:
        """Return evaluations of one configuration for the next call; may be empty."""
        pulls: list[Pull] = []
        while not pulls and (ready := self._ask()):
            block = [pull for pull in ready if pull == ready[0]][: self.evaluator.block]
            block_keys = {pull.key for pull in block}
            self._waiting = [
                pull for pull in self._waiting if pull.key not in block_keys
            ]
            # the instance may have been left out after the request
            pulls = [pull for pull in block if not self._settle(pull)]
        return pulls

    def _ask(self) -> list[Pull]:
        """Request evaluations from the policy, and return those that can start now."""
        block = self.evaluator.block
        journal = self.stage.journal

        # An online policy decides best with all results, so few requests are queued.
        # Any other policy is asked until the requests of one configuration fill a
        # block; requests of pausing configurations are queued meanwhile.
        is_online = isinstance(journal.policy, OnlinePolicy)
        ahead = block * (self.plan.at_once if is_online else journal.policy.n_arms)
        max_waiting = ahead if is_online else inf
        max_ready = 1 if block == 1 else ahead

        ready = [pull for pull in self._waiting if self._is_due(pull)]
        while len(ready) < max_ready and len(self._waiting) < max_waiting:
            pull = journal.ask()
            if pull is None:
                break
            if not self._settle(pull):
                self._waiting.append(pull)
                if self._is_due(pull):
                    ready.append(pull)

        return ready

    def _is_due(self, pull: Pull) -> bool:
        return anyio.current_time() >= self._retries.find_due(pull)

    def _settle(self, pull: Pull) -> bool:
        """Report an already known result to the policy; return whether there is one."""
        is_known = self.stage.report_known(pull)
        if is_known:
            self._wake()
        return is_known

    async def _evaluate(self, pulls: list[Pull]) -> None:
        """Make one call of the evaluator, and report its outcomes."""
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
        """Report the outcome of an evaluation, or hold it until it can be charged."""
        if not self.stage.can_report(outcome):
            self._held.append((pull, outcome))
            self._n_ever_held += 1
            # one instance may fail for all configurations, but two point to the service
            if self._n_ever_held >= 2 * len(self.stage.names):
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
        """Report a flaw of an answer, such as an unreadable field, once per kind."""
        if doubt.kind not in self._reported_doubts:
            self._reported_doubts.add(doubt.kind)
            note = "shown once; the number is given at the end of the run"
            line = f"{self._name(pull)}: {doubt.text} ({note})"
            self._report(pull, line, notable=True)

    def _give_up(self, pull: Pull, failure: Failure) -> None:
        self.stage.report_failed(pull, failure)
        self._report(pull, f"{self._name(pull)} failed: {failure}", failed=True)

    def _report_held(self, at_any_cost: bool = False) -> None:
        """Report the outcomes that waited for the first successful evaluation.

        With ``at_any_cost``, failures are reported even if no evaluation has succeeded
        yet.
        """
        outcomes = self._held
        self._held = []
        for pull, outcome in outcomes:
            if at_any_cost and isinstance(outcome, Failure):
                self._give_up(pull, outcome)
            else:
                self._end(pull, outcome)
        self._wake()

    def _refuse_held(self) -> NoReturn:
        pull, outcome = self._held[0]
        if isinstance(outcome, Failure):
            problem = f"no evaluation has succeeded; this one failed with: {outcome}"
            remedy = "check the evaluator and its service"
            raise_fault(self._name(pull), problem, remedy, "nothing-evaluated")

        problem = (
            f"the cost in column {self.plan.cost.column!r} is 0, but costs must be"
            " positive"
        )
        remedy = (
            "choose a cost that is positive even for free evaluations, such as"
            " {column: tokens, unit: tokens}"
        )
        raise_fault(self._name(pull), problem, remedy, "free-evaluations")

    async def _fail(self, pull: Pull, failure: Failure) -> None:
        """Score a failed evaluation, retry it or stop the run, as `retries` decides."""
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
            outlook = "although a repeated evaluation was answered"
        else:
            pause = self._retries.postpone(pull, failure, now)
            if pause is None:
                silence = self._retries.find_silence(arm, now)
                name = repr(self.stage.names[arm])
                problem = (
                    f"this configuration has not answered for {silence:.0f} s. The last"
                    f" failure, on instance {self.stage.name_instance(pull)!r}, was:"
                    f" {str(failure).rstrip('. ')}"
                )
                remedy = (
                    "check the service, reduce at_once (the number of concurrent"
                    " calls), or increase patience"
                )
                raise_fault(name, problem, remedy, "silent-service")
            outlook = f"and is retried in {pause:.1f} s"

        # a billed failure is charged at once, and the policy requests it again
        if cost:
            self.stage.charge_failure(pull, Failure(str(failure), cost=cost))
        else:
            self._waiting.append(pull)
        self._report(
            pull, f"{self._name(pull)} failed, {outlook}: {failure}", failed=True
        )

    async def _ask_again(self, arm: int) -> float | None:
        """Repeat an evaluation that once succeeded, to test whether the service works.

        Returns the cost of the repeated evaluation. This is None if the evaluation
        fails, or if no evaluation of the arm has succeeded yet.
        """
        records = self.stage.records.items()
        answered = [
            key for key, record in records if key[0] == arm and FAILED_KEY not in record
        ]
        if not answered:
            return None
        _, instance = self.stage.name_record(answered[-1])
        (outcome,) = await self._call(arm, [instance])
        if isinstance(outcome, Failure):
            return None
        return outcome.get(self.plan.cost.column, 0.0)

    async def _call(self, arm: int, instances: list[str]) -> Sequence[Row | Failure]:
        """Call the evaluator within its timeout; a failed call fails every instance."""
        timeout = self.plan.timeout or float(getattr(self.evaluator, "timeout", inf))

        seconds = timeout * len(instances)
        name = self.stage.names[arm]
        try:
            with anyio.move_on_after(seconds):
                settings = self.plan.configurations.all[arm]
                outcomes = await self.evaluator.evaluate(settings, instances)
                if len(outcomes) != len(instances):
                    problem = (
                        f"the evaluator returned {len(outcomes)} rows for"
                        f" {len(instances)} instances"
                    )
                    raise_fault(
                        repr(name),
                        problem,
                        "let the evaluator return one row per instance",
                        "row-count",
                    )
                return outcomes
        except Failure as failure:
            return [failure] * len(instances)
        except CobanditError:
            raise
        except Exception as error:
            place = f"{name!r} on instance {instances[0]!r}"
            problem = f"the evaluator failed with {describe_error(error)}"
            remedy = (
                "correct the evaluator, or raise cobandit.live.evaluators.Failure in it"
            )
            raise_fault(place, problem, remedy, "evaluator-failed")

        message = f"no answer within the timeout of {seconds:g} s"
        late = TimedOut(message, cost=self.stage.mean_cost(arm), retry=True)
        return [late] * len(instances)

    def _report(
        self, pull: Pull, line: str, failed: bool = False, notable: bool = False
    ) -> None:
        """Report an event of an evaluation."""
        progress = Progress(
            self.stage,
            line,
            failed=failed,
            notable=notable,
            configuration=self.stage.names[pull],
        )
        self.watch(progress)

    def _name(self, pull: Pull) -> str:
        return f"{self.stage.names[pull]} on {self.stage.name_instance(pull)}"

    def _wake(self) -> None:
        """Wake the workers that wait for further requests of the policy."""
        self._news.set()
        self._news = anyio.Event()


def _promise_results(error: CobanditError) -> CobanditError:
    """Return the error with a note that the run's results are stored."""
    promise = "Results are kept. Correct the problem, and run the plan again"
    message = f"{str(error).rstrip('. ')}. {promise}"
    kind = TableError if isinstance(error, TableError) else CobanditError
    complete = kind(message)
    complete.faults = error.faults
    return complete
