"""Evaluations that are made now: a journal that a run can be resumed from."""

from cobandit.live.journal import Journal

__all__ = ["Journal"]
