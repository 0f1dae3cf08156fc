"""Advice from a table: the configurations worth their cost, and evaluations to make."""

from cobandit.advice.doctor import doctor as doctor
from cobandit.advice.findings import Finding as Finding
from cobandit.advice.recommendation import Recommendation as Recommendation
from cobandit.advice.recommender import recommend as recommend
from cobandit.advice.rivals import find_rivals as find_rivals
from cobandit.advice.splits import SplitComparison as SplitComparison
from cobandit.advice.splits import compare_splits as compare_splits
