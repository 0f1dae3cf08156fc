"""Strategies of Hypothesis: problems with means and costs on binary grids."""

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st


def examples(of_hundred):
    """Return settings with a number of examples that depends on the profile.

    ``of_hundred`` is the number in `make acceptance`; `make test` uses half of it, and
    `make check` a quarter.
    """
    return settings(max_examples=max(1, of_hundred * settings().max_examples // 100))


@st.composite
def mean_matrices(draw, max_arms=8, max_objectives=4, step=8):
    """Draw means (K, D) on a binary grid, with exact differences and frequent ties."""
    n_arms = draw(st.integers(2, max_arms))
    n_objectives = draw(st.integers(1, max_objectives))
    cells = st.lists(st.integers(0, step), min_size=n_objectives, max_size=n_objectives)
    return np.array(draw(st.lists(cells, min_size=n_arms, max_size=n_arms))) / step


def cost_vectors(n_arms, step=16):
    """Draw costs (K,) that are multiples of 1 / ``step`` in (0, 1]."""
    return st.lists(st.integers(1, step), min_size=n_arms, max_size=n_arms).map(
        lambda c: np.array(c) / step
    )


@st.composite
def problems(draw, max_arms=8, max_objectives=4):
    """Draw means (K, D) and costs (K,)."""
    means = draw(mean_matrices(max_arms, max_objectives))
    return means, draw(cost_vectors(len(means)))


@st.composite
def benchmarks(draw, max_arms=6, max_instances=12, levels=4):
    """Draw rewards (K, N, D), which are multiples of 1 / ``levels``, and costs (K,)."""
    shape = (
        draw(st.integers(2, max_arms)),
        draw(st.integers(1, max_instances)),
        draw(st.integers(1, 3)),
    )
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    return rng.integers(0, levels, shape, endpoint=True) / levels, draw(
        cost_vectors(shape[0])
    )
