"""The paper's experiments (Section 5 and Appendix A), on any evaluation table.

Methods, budgets and numbers of replications are the paper's. Choices that the paper
leaves open have the book's default. ``**parallel`` stands for the options of a replay
about parallel runs: ``workers``, ``backend``, ``scheduler`` and ``progress``.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import pandas as pd

from cobandit import _validation
from cobandit.errors import TableError
from cobandit.replay import (
    Spec,
    replay_identification,
    replay_online,
    replay_paths,
)
from cobandit.replay.paper_settings import (
    IDENTIFICATION_RHO,
    ONLINE_RHO,
    online_methods,
)
from cobandit.tables import EvaluationTable
from companion.paper.experiment_cells import (
    CHARGES,
    TRAJECTORY_QUANTITIES,
    cells,
    exact_cells,
    trajectory_cells,
)

FULL_SET_RHO = (10, 20, 50, 100, 200)


IDENTIFICATION = ("CoPSI", "PSISR", "UniformIdentification")


#: Query for the 14 arms of the paper's identification experiment, on tables with the
#: paper's configurations.
FOURTEEN = (
    "model in ['GPT-2', 'CodeLlama-7B', 'Tulu-7B', 'Tulu-2-7B', 'Gemma-7B', 'LLaMA-7B',"
    " 'Mistral-7B'] and temperature in [0.5, 1.0] and max_tokens == 128 and prompt =="
    " 'direct'"
)


#: Analogous queries for our measured tables: the same two temperatures of every model,
#: the smaller generation limit and the direct prompt. We chose these arms before we saw
#: any results on them.
ALIKE = {
    "word-sums": "temperature in [0.5, 1.0] and max_tokens == 8 and style == 'direct'",
    "piqa-small": (
        "temperature in [0.5, 1.0] and max_tokens == 8 and prompt == 'direct'"
    ),
}


def structured_subset(table: EvaluationTable) -> EvaluationTable:
    """Return a table with only the arms of the paper's identification experiment.

    These are the paper's 14 arms, or analogous arms of our measured tables. A table
    without such arms is returned unchanged.

    Examples
    --------
    >>> import cobandit as cb
    >>> tables = map(cb.load, ("piqa", "word-sums", "synthetic-24"))
    >>> [structured_subset(table).n_arms for table in tables]
    [14, 12, 24]
    """
    try:
        return table.subset(ALIKE.get(table.name, FOURTEEN))
    except TableError:
        return table


class Experiment(NamedTuple):
    """One experiment of the paper: its replay function, methods, budgets and results.

    ``quantities`` are the reported columns of the replay. If ``chosen`` is true, only
    the arms of `structured_subset` are replayed.
    """

    replay: Callable[..., pd.DataFrame]
    methods: Sequence[Spec | str]
    rho: tuple[float, ...]
    replications: int
    quantities: tuple[str, ...]
    chosen: bool = False


_FEW = Experiment(
    replay_identification,
    IDENTIFICATION,
    IDENTIFICATION_RHO,
    500,
    ("error",),
    chosen=True,
)


#: Experiments by name. In this order, they are Figures 2a-b and 3; Figures 2c-d; Figure
#: 5, with F1; Figure 6, with both kinds of costs; and Figure 4, along the runs.
EXPERIMENTS = {
    "online": Experiment(
        replay_online,
        online_methods(),
        ONLINE_RHO,
        100,
        ("efficiency_regret", "standard_regret"),
    ),
    "identification": _FEW,
    "full-set": Experiment(
        replay_identification, IDENTIFICATION, FULL_SET_RHO, 100, ("f1",)
    ),
    "stochastic": _FEW._replace(rho=IDENTIFICATION_RHO[-1:]),
    "trajectory": Experiment(
        replay_paths,
        online_methods(),
        ONLINE_RHO[-1:],
        100,
        TRAJECTORY_QUANTITIES,
    ),
}


#: Largest number of evaluations of an online run that a page replays.
MOST_EVALUATIONS = 2e6


#: Number of evaluations of an online run above which `fit_extent` reduces replications.
MANY_EVALUATIONS = 1e5


#: Number of configurations above which `fit_extent` reduces replications, because the
#: time of identification grows with the square of this number.
MANY_ARMS = 60


class Extent(NamedTuple):
    """Reductions of the paper's experiments, so that a page takes about a minute."""

    #: Replications as a multiple of the paper's number.
    scale: float = 1.0
    #: Whether online methods are replayed.
    online: bool = True
    #: Largest number of evaluations of one online run.
    evaluations: float = 0.0

    def say_less(self, replications: int) -> str:
        """Describe how this extent reduces an experiment, or return '' if it does not.

        Parameters
        ----------
        replications : int
            Requested number of replications.

        Examples
        --------
        >>> Extent(0.5).say_less(100)
        'So that the page takes a minute, there are 50 replications instead of 100.'
        """
        sentences = []
        if (played := max(2, round(self.scale * replications))) < replications:
            sentences.append(
                f"So that the page takes a minute, there are {played} replications"
                f" instead of {replications}."
            )

        if not self.online:
            sentences.append(
                "Replays of online methods are left out, because the largest budget"
                f" pays for up to {self.evaluations:,.0f} evaluations of the cheapest"
                " configuration. Compare configurations with more similar costs."
            )

        return " ".join(sentences)


def fit_extent(*tables: EvaluationTable) -> Extent:
    """Return reductions with which the paper's experiments take about a minute.

    The estimate assumes that an online run spends its whole budget on the cheapest
    configuration.

    Examples
    --------
    >>> import cobandit as cb
    >>> fit_extent(cb.load("synthetic-24"))[:2]
    (1.0, True)
    """
    evaluations = max(ONLINE_RHO) * max(
        float(table.costs.sum() / table.costs.min()) for table in tables
    )
    online = evaluations <= MOST_EVALUATIONS
    for_runs = (
        3 * MANY_EVALUATIONS / max(MANY_EVALUATIONS, evaluations) if online else 1.0
    )
    for_arms = (MANY_ARMS / max(table.n_arms for table in tables)) ** 2
    return Extent(min(1.0, for_arms, for_runs), online, evaluations)


def play(
    name: str,
    table: EvaluationTable,
    replications: int | None = None,
    seed: int = 0,
    rho: Sequence[float] | None = None,
    **parallel: Any,
) -> pd.DataFrame:
    """Replay one of the paper's experiments on a table.

    Parameters
    ----------
    name : str
        Key of `EXPERIMENTS`.
    table : EvaluationTable
    replications : int, optional
        Default: the paper's number.
    seed : int
    rho : sequence of float, optional
        Budgets in evaluations per configuration. Default: the paper's budgets.

    Returns
    -------
    DataFrame
        The columns of the replay; for ``"stochastic"``, also ``costs``, the kind of
        charged costs.

    Examples
    --------
    >>> import cobandit as cb
    >>> play("online", cb.load("synthetic-24"), replications=2)["rho"].unique().tolist()
    [2.0, 4.0, 8.0, 16.0, 32.0]
    >>> play("stochastic", cb.load("synthetic-24"), 2)["costs"].unique().tolist()
    ['declared', 'realised']
    """
    experiment = EXPERIMENTS[_validation.choice(name, "experiment", EXPERIMENTS)]
    arms = structured_subset(table) if experiment.chosen else table
    budgets = rho or experiment.rho
    options = {
        "replications": replications or experiment.replications,
        "seed": seed,
        **parallel,
    }
    if name != "stochastic":
        return experiment.replay(arms, experiment.methods, budgets, **options)

    charged = {
        charge: experiment.replay(
            arms, experiment.methods, budgets, charge=charge, **options
        )
        for charge in CHARGES
    }
    return pd.concat(
        [runs.assign(costs=charge) for charge, runs in charged.items()],
        ignore_index=True,
    )


def facts(table: EvaluationTable) -> pd.DataFrame:
    """Compute the statistics of a table that the paper reports about its tables.

    The statistics are the columns of Table 1 and the range of profiling costs. For the
    14 arms, they also include the size of the front and the smallest classification
    gap.

    Returns
    -------
    DataFrame
        ``dataset``, ``experiment``, ``quantity`` and the exact value as ``mean``,
        ``low`` and ``high``.

    Examples
    --------
    >>> import cobandit as cb
    >>> values = facts(cb.load("synthetic-24")).set_index("quantity")["mean"]
    >>> float(values["arms"]), round(float(values["accuracy_max"]), 3)
    (24.0, 0.845)
    """
    means = table.summary()
    arms = structured_subset(table)
    by_cell: dict[tuple[str, str], float] = {
        ("table1", "arms"): table.n_arms,
        ("table1", "pareto_arms"): means["on_front"].sum(),
        ("profiling", "cost_min"): table.costs.min(),
        ("profiling", "cost_max"): table.costs.max(),
        ("identification", "pareto_arms"): arms.problem.pareto_mask.sum(),
        ("identification", "gap_min"): arms.problem.classification_gaps.min(),
    }

    columns = {"accuracy": means.get("accuracy"), "tokens": means["cost"]}
    columns["latency"] = table.raw_means.get("latency_s")
    for name, values in columns.items():
        if values is not None:
            by_cell["table1", f"{name}_min"] = values.min()
            by_cell["table1", f"{name}_max"] = values.max()

    return exact_cells(by_cell).assign(dataset=table.name)


def summary(
    table: EvaluationTable,
    scale: float = 1.0,
    seed: int = 0,
    *,
    online: bool = True,
    **parallel: Any,
) -> pd.DataFrame:
    """Run all experiments of the paper on a table, and return means and intervals.

    Parameters
    ----------
    table : EvaluationTable
    scale : float
        Number of replications as a multiple of the paper's number.
    seed : int
    online : bool
        Whether online methods are replayed as well.
    **parallel
        Options of the replays.

    Returns
    -------
    DataFrame
        One row per cell, which is one quantity at one budget, for one method or for a
        comparison of two methods. The columns are the columns of `cells` and
        `trajectory_cells`, and ``dataset``.

    Examples
    --------
    >>> import cobandit as cb
    >>> frame = summary(cb.load("synthetic-24"), scale=0.02)
    >>> sorted(frame["experiment"].unique())
    ['full-set', 'identification', 'online', 'stochastic', 'trajectory']
    """
    parts = []
    for name, experiment in EXPERIMENTS.items():
        if experiment.replay is not replay_identification and not online:
            continue
        replications = max(2, round(scale * experiment.replications))
        runs = play(name, table, replications, seed, **parallel)
        if name == "trajectory":
            parts.append(trajectory_cells(runs))
        else:
            parts += [cells(runs, name, quantity) for quantity in experiment.quantities]
    return pd.concat(parts, ignore_index=True).assign(dataset=table.name)
