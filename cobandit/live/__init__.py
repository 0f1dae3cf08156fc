"""Evaluations that are made now: a journal that a run can be resumed from."""

from cobandit.live.journal import Journal, Told

__all__ = ["Journal", "Told"]
