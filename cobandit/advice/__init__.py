"""What a table says about a choice: the configurations worth keeping, and what would settle the rest."""

from cobandit.advice.doctor import Finding, doctor
from cobandit.advice.recommendation import Recommendation, recommend
from cobandit.advice.splits import SplitComparison, compare_splits

__all__ = ["Finding", "Recommendation", "SplitComparison", "compare_splits", "doctor", "recommend"]
