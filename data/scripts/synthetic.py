"""A synthetic evaluation table with exactly known true means.

Twenty-four configurations (four model sizes x three temperatures x two prompts) answer
400 questions. Question q has a difficulty u_q, uniform on [0, 1], that all
configurations share. With probability ``SHARED``, configuration i has this difficulty,
and otherwise an independent one. So x_iq is uniform on [0, 1] for every i, while the
configurations are correlated as on a real benchmark. Then::

    correct_iq    = 1{x_iq < a_i}                                      mean a_i
    efficiency_iq = e_i + SPREAD min(e_i, 1 - e_i) (1 - 2 x_iq)        mean e_i
    tokens_iq     = floor(c_i (1 + COST_SPREAD (2 x_iq - 1)) + r_iq)   mean c_i

with r_iq uniform on [0, 1] and independent, which rounds to whole tokens without
changing the mean. As E[x] = 1/2, the means are exactly a_i, e_i and c_i, and a cost is
between 1 - COST_SPREAD and 1 + COST_SPREAD times its mean, up to rounding. Efficiencies
are in [0, 1]. Hard questions are answered wrongly, slowly and at length.

The parameters make the cost relevant: higher accuracy needs more tokens and time, mean
costs span a factor of ten, the Pareto front has several arms, and the arm of the
largest hypervolume is not the arm of the largest hypervolume per token.
"""

from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

from cobandit.tables.storage import write_table

NAME = "synthetic-24"
SEED = 24
N_INSTANCES = 400
SHARED = 0.7
SPREAD = 0.8
COST_SPREAD = 0.5


#: By model size: accuracy, efficiency and tokens of the direct prompt at temperature 0,
#: and the gain in accuracy of the chain of thought.
SIZES = {
    "small": (0.42, 0.85, 64.0, 0.08),
    "medium": (0.55, 0.70, 96.0, 0.06),
    "large": (0.66, 0.52, 128.0, 0.04),
    "frontier": (0.76, 0.38, 160.0, 0.06),
}

#: By temperature: the change of the accuracy, direct and with chain of thought, and the
#: factor of the tokens (its inverse for the efficiency).
TEMPERATURES = {
    0.0: (0.0, 0.0, 1.0),
    0.5: (-0.02, 0.03, 1.1),
    1.0: (-0.06, -0.05, 1.25),
}

#: Factors of the chain-of-thought prompt.
COT_EFFICIENCY = 0.6
COT_TOKENS = 3.2

#: Columns of a configuration, and of its true means.
ARM = ["size", "temperature", "prompt"]
MEANS = ["accuracy", "efficiency", "tokens"]


def parameters() -> pd.DataFrame:
    """Return the true means of the 24 configurations.

    Returns
    -------
    DataFrame, 24 rows
        Indexed by config, sorted: size, temperature, prompt, accuracy, efficiency (both
        in [0, 1]), tokens.

    Examples
    --------
    >>> parameters().loc["small-direct-t0.0", MEANS].tolist()
    [0.42, 0.85, 64.0]
    >>> float(parameters()["tokens"].max() / parameters()["tokens"].min())
    10.0
    """
    rows = []
    for (size, model), (degree, heat), thinks in product(
        SIZES.items(), TEMPERATURES.items(), (False, True)
    ):
        (accuracy, efficiency, tokens, gain) = model
        (direct, cot, longer) = heat
        prompt = "cot" if thinks else "direct"
        means = (
            accuracy + (gain + cot if thinks else direct),
            efficiency / longer * (COT_EFFICIENCY if thinks else 1.0),
            tokens * longer * (COT_TOKENS if thinks else 1.0),
        )
        rows.append((f"{size}-{prompt}-t{degree}", size, degree, prompt, *means))

    return (
        pd.DataFrame(rows, columns=["config", *ARM, *MEANS])
        .set_index("config")
        .sort_index()
    )


def generate(n_instances: int = N_INSTANCES, seed: int = SEED) -> pd.DataFrame:
    """Draw the table.

    Parameters
    ----------
    n_instances, seed : int
        Number of questions and seed; the defaults give the bundled table.

    Returns
    -------
    DataFrame, 24 n_instances rows
        config, instance, correct (bool), efficiency, tokens (int), size, temperature,
        prompt.

    Examples
    --------
    >>> generate(n_instances=3).shape
    (72, 8)
    """
    true = parameters()
    shape = (len(true), n_instances)
    rng = np.random.default_rng(seed)
    shared = rng.random(n_instances)
    independent, chance, rounding = rng.random((3, *shape))
    difficulty = np.where(chance < SHARED, shared, independent)

    accuracy, efficiency, tokens = true[MEANS].to_numpy().T[:, :, None]
    room = np.minimum(efficiency, 1 - efficiency)
    drawn = true.loc[np.repeat(true.index, n_instances), ARM].reset_index()
    drawn.insert(
        1, "instance", np.tile([f"q{q:03d}" for q in range(n_instances)], len(true))
    )
    cost = np.floor(tokens * (1 + COST_SPREAD * (2 * difficulty - 1)) + rounding)
    drawn.insert(2, "correct", (difficulty < accuracy).ravel())
    drawn.insert(
        3, "efficiency", (efficiency + SPREAD * room * (1 - 2 * difficulty)).ravel()
    )
    drawn.insert(4, "tokens", cost.astype(np.int64).ravel())
    return drawn


#: Card of the bundled table, without the checksum of its records.
CARD = {
    "name": NAME,
    "title": (
        "Synthetic benchmark of 24 language model configurations with known true means"
    ),
    "source": f"data/scripts/synthetic.py, seed {SEED}",
    "license": "CC0-1.0",
    "kind": "synthetic",
    "records": f"{NAME}.parquet",
    "cost": {"column": "tokens", "unit": "tokens"},
    "objectives": [
        {"name": "accuracy", "column": "correct"},
        {"name": "efficiency", "column": "efficiency"},
    ],
    "split": {"profiling": 100, "seed": 0},
    "arms": ARM,
}


def write(directory: str | Path) -> None:
    """Write the bundled table and its card.

    The files are ``synthetic-24.parquet`` and ``synthetic-24.yml``.

    Parameters
    ----------
    directory : str or Path
        An existing directory, ``data`` in a checkout.
    """
    write_table(generate(), CARD, Path(directory, f"{NAME}.parquet"))
