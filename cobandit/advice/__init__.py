"""What a table says about a choice: the configurations worth keeping, and what would settle the rest."""

from cobandit.advice.recommendation import Recommendation, recommend

__all__ = ["Recommendation", "recommend"]
