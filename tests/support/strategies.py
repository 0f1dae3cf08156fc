"""Hypothesis: numbers of examples, and means and costs on binary grids."""

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st


def examples(of_hundred):
    """Scale a number of examples: full in `make test`, a quarter in `make check`."""
    return settings(max_examples=max(1, of_hundred * settings().max_examples // 100))


@st.composite
def mean_matrices(draw, max_arms=8, max_objectives=4, step=8):
    """Draw (K, D) on a binary grid: exact differences, frequent ties and duplicates."""
    n_arms = draw(st.integers(2, max_arms))
    n_objectives = draw(st.integers(1, max_objectives))
    cells = st.lists(st.integers(0, step), min_size=n_objectives, max_size=n_objectives)
    return np.array(draw(st.lists(cells, min_size=n_arms, max_size=n_arms))) / step


def cost_vectors(n_arms, step=16):
    """(K,) in (0, 1] on a grid of powers of two."""
    return st.lists(st.integers(1, step), min_size=n_arms, max_size=n_arms).map(
        lambda c: np.array(c) / step
    )


@st.composite
def problems(draw, max_arms=8, max_objectives=4):
    """Means (K, D) and costs (K,)."""
    means = draw(mean_matrices(max_arms, max_objectives))
    return means, draw(cost_vectors(len(means)))


@st.composite
def benchmarks(draw, max_arms=6, max_instances=12, levels=4):
    """Rewards (K, N, D) on a grid of so many levels above zero, costs (K,)."""
    shape = (
        draw(st.integers(2, max_arms)),
        draw(st.integers(1, max_instances)),
        draw(st.integers(1, 3)),
    )
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    return rng.integers(0, levels, shape, endpoint=True) / levels, draw(
        cost_vectors(shape[0])
    )
