"""Retries of failed evaluations: each is scored, compared with others, or tried again.

The cause of a failure decides:

* **The instance** (status 400, a refusal): it is scored by ``failures``, at once.
* **Unclear** (status 500, a dropped connection): it is tried again. The instance is at
  fault if it keeps failing while its configuration repeatedly answers other instances,
  or, if no others are left, an instance that it has answered before.
* **The service** (status 429, no server): it is tried again, and the run stops when a
  configuration has not answered for the time of ``patience``.
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

#: Most seconds between two tries, if the service does not ask for more.
LONGEST_BACK_OFF = 60.0

#: Most seconds between two tries, if the service asks for more.
LONGEST_WAIT = 120.0

#: Seconds after which a single evaluation may count as failed, whatever the patience
#: with the service.
LONGEST_ALONE = 30.0

#: Failures of an evaluation, with answers to others in between, that show the instance
#: to be at fault once the patience is over.
CONTRASTS_LATE = 3

#: The same number before the patience is over.
CONTRASTS_EARLY = 5

#: The same number if each failure was a timeout.
CONTRASTS_TIMED_OUT = 1

#: Tries of an evaluation before an answered one is repeated for comparison, if no
#: others are left.
TRIES_ALONE = 5


def back_off(tries: int) -> float:
    """Draw the seconds to the next try: up to 2, 4, 8, ..., to spread the retries."""
    return random.uniform(0, min(LONGEST_BACK_OFF, 2.0 ** min(tries, 10)))


class TimedOut(Failure):
    """An evaluation that took too long; it may have been billed."""


class Verdict(Enum):
    """The reaction to a failure."""

    #: Score the failure by the plan's ``failures``, because the instance is at fault.
    SCORE = "score"
    #: Repeat an answered instance, to see whether the service is at fault.
    COMPARE = "compare"
    #: Try again later.
    RETRY = "retry"


@dataclass
class Trial:
    """The tries of one evaluation so far."""

    #: Number of failures.
    tries: int = 0
    #: Number of failures that were billed.
    billed: int = 0
    #: Number of failures before which its configuration answered other instances.
    contrasts: int = 0
    #: Whether it did so before the last failure.
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

    #: Start of the last call that it answered.
    answered: float = -inf
    #: Time of the first failure since then; infinity without one.
    silent_since: float = inf
    #: End of its pause.
    rests_until: float = 0.0


class Retries:
    """The failures of a run so far, which decide the reaction to the next failure.

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
        """Record that a configuration answered, and when the call began."""
        contact = self._contacts[arm]
        contact.answered = max(began, contact.answered)
        contact.silent_since = inf
        contact.rests_until = 0.0

    def find_due(self, pull: Pull) -> float:
        """Return the time of the next try of an evaluation; zero for any time."""
        return max(self._trials[pull.key].due, self._contacts[int(pull)].rests_until)

    def find_silence(self, arm: int, now: float) -> float:
        """Return the seconds since which a configuration has only failed."""
        return max(0.0, now - self._contacts[arm].silent_since)

    def judge(self, pull: Pull, failure: Failure, now: float) -> Verdict:
        """Count a failure, and return the reaction to it."""
        trial = self._trials[pull.key]
        contact = self._contacts[int(pull)]
        trial.tries += 1
        if failure.cost and not isinstance(failure, TimedOut):
            trial.billed += 1

        # the instance is at fault, or was billed often enough; the service answered
        if not failure.retry or trial.billed > self.retries:
            contact.silent_since = inf
            return Verdict.SCORE

        contact.silent_since = min(now, contact.silent_since)
        trial.was_contrasted = contact.answered > trial.last
        trial.contrasts += trial.was_contrasted
        trial.first = min(now, trial.first)
        trial.last = now
        # the service is at fault, whatever the instance
        if failure.unavailable:
            return Verdict.RETRY

        # unclear, but it keeps failing while its configuration answers others
        if trial.contrasts >= self._contrasts_needed(now - trial.first, failure):
            return Verdict.SCORE

        # unclear, and nothing is answered, perhaps because no other instance is left
        has_timed_out = isinstance(failure, TimedOut)
        n_needed = CONTRASTS_TIMED_OUT + 1 if has_timed_out else TRIES_ALONE
        silence = self.find_silence(int(pull), now)
        is_long = silence >= min(self.patience, LONGEST_ALONE)
        is_alone = is_long and trial.tries >= n_needed
        if is_alone or silence >= self.patience:
            return Verdict.COMPARE
        return Verdict.RETRY

    def _contrasts_needed(self, elapsed: float, failure: Failure) -> float:
        """Return the number of contrasts needed to find the instance at fault."""
        if elapsed < min(self.patience, LONGEST_ALONE):
            return inf
        if isinstance(failure, TimedOut):
            return CONTRASTS_TIMED_OUT
        return CONTRASTS_LATE if elapsed >= self.patience else CONTRASTS_EARLY

    def note_comparison(self, pull: Pull) -> None:
        """Record an answer on another instance; the next failure is then scored."""
        self._contacts[int(pull)].silent_since = inf
        self._trials[pull.key].contrasts = CONTRASTS_EARLY

    def postpone(self, pull: Pull, failure: Failure, now: float) -> float | None:
        """Postpone an evaluation; return the seconds, None if patience is over."""
        trial = self._trials[pull.key]
        contact = self._contacts[int(pull)]
        remaining = self.patience - self.find_silence(int(pull), now)
        if remaining <= 0:
            return None

        service_wait = min(failure.wait or 0.0, LONGEST_WAIT)
        pause = min(max(back_off(trial.tries), service_wait), remaining)
        trial.due = now + pause
        # other instances may continue if they were answered in the meantime
        if not trial.was_contrasted:
            contact.rests_until = now + pause
        return pause
