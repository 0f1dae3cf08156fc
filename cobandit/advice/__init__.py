"""What a table says about a choice: the configurations worth keeping, and what would settle the rest."""

from cobandit.advice.recommendation import Recommendation, recommend
from cobandit.advice.splits import SplitComparison, compare_splits

__all__ = ["Recommendation", "SplitComparison", "compare_splits", "recommend"]
