"""What becomes of an evaluation that failed: it is scored, compared with others, or tried again later.

===================================  ====================================================================
the question's (400, a refusal)      scored as ``failures`` says, at once
unclear (500, a dropped connection)  tried again; it is the question's if it goes on failing while its
                                     configuration answers others, again and again, or,
                                     where no others are left, one that it has answered
                                     before
the service's (429, nobody there)    tried again; the run stops when a configuration has answered nothing
                                     for as long as ``patience``
===================================
====================================================================
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

#: Seconds between two tries, at most, where a service does not ask for more.
LONGEST_BACK_OFF = 60.0

#: Seconds between two tries, at most, where a service asks for more.
LONGEST_WAIT = 120.0

#: Seconds after which one evaluation may be given up, however long the patience with
#: the service is.
LONGEST_ALONE = 30.0

#: Failures of one evaluation with answers to others in between, after which the
#: question is at fault, once the patience is over.
CONTRASTS_LATE = 3

#: The same before the patience is over.
CONTRASTS_EARLY = 5

#: The same if each failure took as long as an answer may.
CONTRASTS_TIMED_OUT = 1

#: Tries of one evaluation before one that was answered is asked again, where no others
#: are left.
TRIES_ALONE = 5


def back_off(tries: int) -> float:
    """Draw the seconds to the next try: up to 2, 4, 8, ..., so that several do not come back together."""
    return random.uniform(0, min(LONGEST_BACK_OFF, 2.0 ** min(tries, 10)))


class TimedOut(Failure):
    """An evaluation that took too long; it may have been billed, and does not prove the question at fault."""


class Verdict(Enum):
    """What to do after a failure."""

    #: The question is at fault: score it as the plan's ``failures`` says.
    SCORE = "score"
    #: Ask the configuration for an answer that it gave before, to see who is at fault.
    COMPARE = "compare"
    #: Try again later.
    RETRY = "retry"


@dataclass
class Trial:
    """The tries of one evaluation so far.

    Attributes
    ----------
    tries, billed : int
        Failures, and those that were billed.
    contrasts : int
        How often its configuration answered others between two failures.
    was_contrasted : bool
        Whether it did before the last failure.
    first, last : float
        Times of the first and of the last failure.
    due : float
        When it may be tried again.
    """

    tries: int = 0
    billed: int = 0
    contrasts: int = 0
    was_contrasted: bool = False
    first: float = inf
    last: float = inf
    due: float = 0.0


@dataclass
class Contact:
    """The answers of one configuration so far.

    Attributes
    ----------
    answered : float
        When the last call that it answered began.
    silent_since : float
        Since when it has answered nothing, but failed; infinity if it has not.
    rests_until : float
        Until when it is left alone.
    """

    answered: float = -inf
    silent_since: float = inf
    rests_until: float = 0.0


class Retries:
    """The failures of a run so far, and what follows from the next one.

    Parameters
    ----------
    patience : float
        Seconds for which a configuration that answers nothing is tried again.
    retries : int
        How often an evaluation is tried again that was billed and gave no score.
    """

    def __init__(self, patience: float, retries: int):
        self.patience = patience
        self.retries = retries
        self._trials: defaultdict[Key, Trial] = defaultdict(Trial)
        self._contacts: defaultdict[int, Contact] = defaultdict(Contact)

    def note_answer(self, arm: int, began: float) -> None:
        """Note that a configuration answered a call that began at a time."""
        contact = self._contacts[arm]
        contact.answered = max(began, contact.answered)
        contact.silent_since = inf
        contact.rests_until = 0.0

    def find_due(self, pull: Pull) -> float:
        """Find when an evaluation may be tried next; zero if at any time."""
        return max(self._trials[pull.key].due, self._contacts[int(pull)].rests_until)

    def find_silence(self, arm: int, now: float) -> float:
        """Find for how many seconds a configuration has answered nothing, but failed."""
        return max(0.0, now - self._contacts[arm].silent_since)

    def judge(self, pull: Pull, failure: Failure, now: float) -> Verdict:
        """Count a failure, and say what to do about it."""
        trial = self._trials[pull.key]
        contact = self._contacts[int(pull)]
        trial.tries += 1
        if failure.cost and not isinstance(failure, TimedOut):
            trial.billed += 1

        # the question's, or paid for often enough: either way it was answered
        if not failure.retry or trial.billed > self.retries:
            contact.silent_since = inf
            return Verdict.SCORE

        contact.silent_since = min(now, contact.silent_since)
        trial.was_contrasted = contact.answered > trial.last
        trial.contrasts += trial.was_contrasted
        trial.first = min(now, trial.first)
        trial.last = now
        # the service's: it says nothing of the question
        if failure.unavailable:
            return Verdict.RETRY

        # unclear: it fails again and again while its configuration answers others
        if trial.contrasts >= self._contrasts_needed(now - trial.first, failure):
            return Verdict.SCORE

        # unclear: nothing is answered, maybe since no other question is left to be
        # asked
        enough = (
            CONTRASTS_TIMED_OUT + 1 if isinstance(failure, TimedOut) else TRIES_ALONE
        )
        silence = self.find_silence(int(pull), now)
        is_alone = (
            silence >= min(self.patience, LONGEST_ALONE) and trial.tries >= enough
        )
        if is_alone or silence >= self.patience:
            return Verdict.COMPARE
        return Verdict.RETRY

    def _contrasts_needed(self, elapsed: float, failure: Failure) -> float:
        """Return how many answers to others prove that the question is at fault by now."""
        if elapsed < min(self.patience, LONGEST_ALONE):
            return inf
        if isinstance(failure, TimedOut):
            return CONTRASTS_TIMED_OUT
        return CONTRASTS_LATE if elapsed >= self.patience else CONTRASTS_EARLY

    def note_comparison(self, pull: Pull) -> None:
        """Note that the configuration answers another question: one more failure is the question's."""
        self._contacts[int(pull)].silent_since = inf
        self._trials[pull.key].contrasts = CONTRASTS_EARLY

    def postpone(self, pull: Pull, failure: Failure, now: float) -> float | None:
        """Let an evaluation wait, and return for how many seconds; None if the patience is over."""
        trial = self._trials[pull.key]
        contact = self._contacts[int(pull)]
        rest = self.patience - self.find_silence(int(pull), now)
        if rest <= 0:
            return None
        wanted = max(back_off(trial.tries), min(failure.wait or 0.0, LONGEST_WAIT))
        pause = min(wanted, rest)
        trial.due = now + pause
        # where others were answered meanwhile, they may go on
        if not trial.was_contrasted:
            contact.rests_until = now + pause
        return pause
