"""Decisions after a failed evaluation: score it as failed, or retry it.

The decision depends on the cause of the failure:

* **The instance** (status 400, a refusal): the failure is scored immediately, as the
  plan's ``failures`` determines.
* **Unclear** (status 500, a dropped connection): the evaluation is retried. If it keeps
  failing while the configuration repeatedly answers other instances, the instance is at
  fault, and the failure is scored. If no other instances are left, an instance that was
  answered before is repeated for comparison.
* **The service** (status 429, no server): the evaluation is retried, and the run stops
  when a configuration has not answered for ``patience`` seconds.
"""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import dataclass
from enum import Enum
from math import inf

from cobandit.live.evaluators.base import Failure
from cobandit.live.records import Key
from cobandit.policies.asktell import Pull

#: Longest pause before a retry, in seconds, unless the service requests a longer one.
LONGEST_BACK_OFF = 60.0

#: Longest pause that a service can request, in seconds.
LONGEST_WAIT = 120.0

#: Seconds after which a single evaluation may count as failed, even if the plan's
#: ``patience`` is longer.
LONGEST_ALONE = 30.0

#: A contrast is a failure on an instance after an answer on another one. With this
#: number of contrasts, the instance counts as the cause, if ``patience`` has passed.
CONTRASTS_LATE = 3
#: Number of contrasts after which the instance counts as the cause, if ``patience`` has
#: not passed yet (see `CONTRASTS_LATE`).
CONTRASTS_EARLY = 5
#: Number of contrasts after which the instance counts as the cause, if the failure is a
#: timeout (see `CONTRASTS_LATE`).
CONTRASTS_TIMED_OUT = 1
#: Number of tries, if no other instances are left, before an answered evaluation is
#: repeated for comparison.
TRIES_ALONE = 5


def back_off(tries: int) -> float:
    """Draw a random pause before the next try, of up to 2, 4, 8, ... seconds."""
    return random.uniform(0, min(LONGEST_BACK_OFF, 2.0 ** min(tries, 10)))


class TimedOut(Failure):
    """The failure of an evaluation that exceeded its time limit and may be billed."""


class Verdict(Enum):
    """Reaction to a failure."""

    #: Score the failure by the plan's ``failures``, because the instance is at fault.
    SCORE = "score"
    #: Repeat an answered instance, to test whether the service is at fault.
    COMPARE = "compare"
    #: Try again later.
    RETRY = "retry"


@dataclass
class Trial:
    """The failures of one evaluation so far."""

    #: Number of failures.
    tries: int = 0
    #: Number of failures that were billed.
    billed: int = 0
    #: Number of failures that follow an answer of the configuration on another
    #: instance.
    contrasts: int = 0
    #: Whether the configuration has answered another instance since the last failure.
    was_contrasted: bool = False
    #: Time of the first failure.
    first: float = inf
    #: Time of the last failure.
    last: float = inf
    #: Time of the next try.
    due: float = 0.0


@dataclass
class Contact:
    """The answers of one configuration so far."""

    #: Start of the last answered call.
    answered: float = -inf
    #: Time of the first failure since the last answer; infinity without one.
    silent_since: float = inf
    #: Time until which the configuration pauses.
    rests_until: float = 0.0


class Retries:
    """The failures of a run, and the decision that follows from the next failure.

    Parameters
    ----------
    patience : float
        Seconds for which a configuration without answers is retried.
    retries : int
        Number of retries of an evaluation that was billed without a score.
    """

    def __init__(self, patience: float, retries: int):
        self.patience = patience
        self.retries = retries
        self._trials: defaultdict[Key, Trial] = defaultdict(Trial)
        self._contacts: defaultdict[int, Contact] = defaultdict(Contact)

    def note_answer(self, arm: int, began: float) -> None:
        """Record an answer of a configuration, and the start of its call."""
        contact = self._contacts[arm]
        contact.answered = max(began, contact.answered)
        contact.silent_since = inf
        contact.rests_until = 0.0

    def find_due(self, pull: Pull) -> float:
        """Return the earliest time of an evaluation's next try; zero means now."""
        return max(self._trials[pull.key].due, self._contacts[int(pull)].rests_until)

    def find_silence(self, arm: int, now: float) -> float:
        """Return the seconds for which a configuration has failed without an answer."""
        return max(0.0, now - self._contacts[arm].silent_since)

    def judge(self, pull: Pull, failure: Failure, now: float) -> Verdict:
        """Count a failure, and return the reaction to it."""
        trial = self._trials[pull.key]
        contact = self._contacts[int(pull)]
        trial.tries += 1
        if failure.cost and not isinstance(failure, TimedOut):
            trial.billed += 1

        # the service answered, so the instance is at fault or was billed often enough
        if not failure.retry or trial.billed > self.retries:
            contact.silent_since = inf
            return Verdict.SCORE

        contact.silent_since = min(now, contact.silent_since)
        trial.was_contrasted = contact.answered > trial.last
        trial.contrasts += trial.was_contrasted
        trial.first = min(now, trial.first)
        trial.last = now
        # the service is at fault, independently of the instance
        if failure.unavailable:
            return Verdict.RETRY

        # unclear cause, but the instance keeps failing while others are answered
        if trial.contrasts >= self._contrasts_needed(now - trial.first, failure):
            return Verdict.SCORE

        # unclear cause, and no answers to compare with, perhaps because no other
        # instance is left
        has_timed_out = isinstance(failure, TimedOut)
        n_needed = CONTRASTS_TIMED_OUT + 1 if has_timed_out else TRIES_ALONE
        silence = self.find_silence(int(pull), now)
        is_long = silence >= min(self.patience, LONGEST_ALONE)
        is_alone = is_long and trial.tries >= n_needed
        if is_alone or silence >= self.patience:
            return Verdict.COMPARE
        return Verdict.RETRY

    def _contrasts_needed(self, elapsed: float, failure: Failure) -> float:
        """Return how many contrasts suffice to count the instance as the cause."""
        if elapsed < min(self.patience, LONGEST_ALONE):
            return inf
        if isinstance(failure, TimedOut):
            return CONTRASTS_TIMED_OUT
        return CONTRASTS_LATE if elapsed >= self.patience else CONTRASTS_EARLY

    def note_comparison(self, pull: Pull) -> None:
        """Record that an evaluation, repeated after failures of another, succeeded.

        The next failure is scored, because the service works.
        """
        self._contacts[int(pull)].silent_since = inf
        self._trials[pull.key].contrasts = CONTRASTS_EARLY

    def postpone(self, pull: Pull, failure: Failure, now: float) -> float | None:
        """Postpone an evaluation, and return the pause; None if ``patience`` ended."""
        trial = self._trials[pull.key]
        contact = self._contacts[int(pull)]
        remaining = self.patience - self.find_silence(int(pull), now)
        if remaining <= 0:
            return None

        service_wait = min(failure.wait or 0.0, LONGEST_WAIT)
        pause = min(max(back_off(trial.tries), service_wait), remaining)
        trial.due = now + pause
        # other instances continue if one was answered since the call began
        if not trial.was_contrasted:
            contact.rests_until = now + pause
        return pause
