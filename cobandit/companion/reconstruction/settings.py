"""What the paper prints about its tables themselves, to which reconstructions are held."""

from __future__ import annotations

from typing import NamedTuple

N_INSTANCES = 1000
N_PROFILING = 200
SPLIT_SEED = 0

TEMPERATURES = (0.0, 0.5, 1.0)
PROMPTS = ("cot", "direct")

NAMED = ("GPT-2", "CodeLlama-7B", "Tulu-7B", "Tulu-2-7B", "Gemma-7B", "LLaMA-7B", "Mistral-7B")
"""The models that the paper names, in its order (Appendix A)."""


class Ends(NamedTuple):
    """Smallest and largest value over the configurations."""

    low: float
    high: float


class Setting(NamedTuple):
    """One table of the paper: its grid, and the published numbers that the reconstruction has to meet.

    Attributes
    ----------
    models : tuple of str
        The models that the paper names and neutral names for the others.
    limits : (int, int)
        Generation limits in tokens; the larger one is also the largest single cost.
    accuracy, latency, tokens : Ends
        Table 1: means over all instances; fraction, seconds, tokens.
    profiling_tokens : Ends
        Mean tokens in the profiling split (Section 5).
    front : int
        Table 1: size of the Pareto set.
    same_best : bool
        Whether the arm of the largest hypervolume has the largest hypervolume per cost (Section 5).
    subset_front, subset_gap : int, float
        Pareto arms and smallest classification gap of the 14-arm subset (Section 5, Appendix A).
    """

    models: tuple[str, ...]
    limits: tuple[int, int]
    accuracy: Ends
    latency: Ends
    tokens: Ends
    profiling_tokens: Ends
    front: int
    same_best: bool
    subset_front: int
    subset_gap: float

    @property
    def n_arms(self) -> int:
        """Number of configurations, K."""
        return len(self.models) * len(TEMPERATURES) * len(self.limits) * len(PROMPTS)


def _models(number: int) -> tuple[str, ...]:
    return (*NAMED, *(f"model-{i:02d}" for i in range(len(NAMED) + 1, number + 1)))


SETTINGS = {
    "gsm8k": Setting(
        models=_models(9),
        limits=(128, 256),
        accuracy=Ends(0.014, 0.165),
        latency=Ends(0.432, 8.854),
        tokens=Ends(122.1, 146.4),
        profiling_tokens=Ends(118.37, 147.21),
        front=7,
        same_best=True,
        subset_front=2,
        subset_gap=0.005,
    ),
    "piqa": Setting(
        models=_models(11),
        limits=(128, 512),
        accuracy=Ends(0.462, 0.571),
        latency=Ends(0.443, 3.049),
        tokens=Ends(93.5, 149.9),
        profiling_tokens=Ends(95.01, 152.16),
        front=7,
        same_best=False,
        subset_front=3,
        subset_gap=0.010,
    ),
}
