"""The stored results: functions that compute them, and the ledger.

``make results`` writes the results to ``data/results``. Pages recompute parts of the
results, and ``cobandit-book verify`` recomputes a sample or all of them. The ledger,
``ledger.csv``, lists every result that the paper prints, with our value and our
prediction.

``make results`` runs ``python -m companion.stored.results [NAME...]``. The name
``ledger`` writes only the ledger. ``confirm`` recomputes a sample of the results whose
code has changed, and accepts the new code if nothing differs. ``draw`` draws the tables
behind the predictions.
"""

import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any

import pandas as pd
from joblib import Memory, Parallel, delayed
from rich.console import Console
from rich.progress import track

from cobandit import _validation
from cobandit.errors import CobanditError
from cobandit.replay import replay_identification, spec
from cobandit.stats import paired_errors, summaries
from cobandit.tables import EvaluationTable, available, load, open_table
from companion import paper
from companion.pages import first_figure, regions
from companion.paper import audit, experiments, remarks
from companion.paper.tuning import tuning_cells
from companion.promises import cells as promised
from companion.reconstruction import chain
from companion.reconstruction.experiment import DEFAULT, play, read
from companion.reconstruction.hierarchy import SETTINGS
from companion.reconstruction.other import OTHER
from companion.stored import fronts, made_up_tables, races, stopping_rules, store
from companion.stored.store import RESULTS as RESULTS
from companion.stored.store import (
    Verification,
    compare_frames,
    read_result,
    register_result,
    results_directory,
    write_result,
)
from companion.stored.store import recompute as recompute

NAMES = tuple(SETTINGS)
MEASURED = ("word-sums", "piqa-small")
BUNDLED = (*MEASURED, "synthetic-24", *NAMES)
#: A table that is not bundled. Its stored results can be read on all machines, but
#: computed only on machines that have the table.
ELSEWHERE = ("swebench-bash-only",)
LEDGER = "ledger.csv"
#: Results from which the ledger is made.
BEHIND_LEDGER = ("replication", "tuning", "audit", "posterior")


def per_table(
    names: Iterable[str], *others: Iterable[Any]
) -> Callable[[], list[tuple[Any, ...]]]:
    """Return a function that lists the arguments for all parts of a result.

    The list combines each table that is on this machine with all other arguments.
    """
    return lambda: list(product(filter(available, names), *others))


@register_result("replication", per_table(NAMES), NAMES)
@register_result("measured", per_table(MEASURED), MEASURED)
@register_result("swebench", per_table(ELSEWHERE), ELSEWHERE)
def replication(name: str) -> pd.DataFrame:
    """Run all experiments on one table, with the paper's numbers of replications.

    The rows are those of `companion.paper.experiments.summary` and
    `companion.paper.experiments.facts`.
    """
    return _replicate(name)


def _replicate(
    name: str, scale: float = 1.0, seed: int = 0, *, online: bool = True
) -> pd.DataFrame:
    table = open_table(name)
    # use all cores, because a page may wait for the result
    cells = experiments.summary(
        table, scale, seed, online=online, workers=-1, backend="threading"
    )
    return pd.concat([cells, experiments.facts(table)], ignore_index=True)


def replicate(
    name: str, scale: float = 1.0, seed: int = 0, *, online: bool = True
) -> pd.DataFrame:
    """Return the results of all experiments on a table, stored ones if they exist.

    Parameters
    ----------
    name : str
        Name in the catalogue, or a file.
    scale, seed, online
        As in `companion.paper.experiments.summary`. Results with the defaults are
        stored for the tables in `NAMES` and `MEASURED`.

    Returns
    -------
    DataFrame
        The columns of `replication`.

    Examples
    --------
    >>> cells = replicate("gsm8k")
    >>> cells.equals(read_result("replication").query("dataset == 'gsm8k'"))
    True
    """
    if (scale, seed, online) == (1.0, 0, True):
        for stored, names in (("replication", NAMES), ("measured", MEASURED)):
            if name in names:
                cells = read_result(stored)
                return cells[cells["dataset"] == name]
    return _replicate(name, scale, seed, online=online)


@register_result("tuning", per_table(NAMES), NAMES)
def tuning(name: str) -> pd.DataFrame:
    """Tune the radii and the initialisation of CoHV-UCB on one reconstruction."""
    return tuning_cells(load(name))


def list_drawn(name: str) -> list[tuple[str, str, int]]:
    """Return data set, kind and number of each drawn table in a stored result."""
    path = results_directory() / f"{name}.parquet"
    if not path.is_file():
        return []
    frame = pd.read_parquet(
        path, columns=["dataset", "kind", "number"]
    ).drop_duplicates()
    return [tuple(row) for row in frame.itertuples(index=False)]


#: First seed of runs on drawn tables. The replays of pages use smaller seeds.
PLAY_SEED = 10**6
#: Tables with smaller numbers are also replayed under other readings of the paper.
READ = 200


@register_result("posterior", partial(list_drawn, "posterior"))
def played(name: str, kind: str, number: int) -> pd.DataFrame:
    """Draw a random table, and run the experiments if it agrees with the facts.

    The facts are what the paper prints about its tables.

    Parameters
    ----------
    name : {"gsm8k", "piqa"}
    kind : {"table", "prior", "other"}
        ``table`` is drawn by the protocol's generator. ``prior`` is drawn from the
        prior of that generator, which does not use the facts. ``other`` is drawn by
        the second generator.
    number : int
        The seed of the table.

    Returns
    -------
    DataFrame
        One row per value: ``dataset``, ``kind``, ``number``, ``reading``, ``key`` and
        ``value``. The first row has the key ``kept`` and the value 1 if the table
        agrees with the printed facts. Otherwise, its value is 0, and there are no other
        rows.
    """
    if kind == "prior":
        drawn = chain.draw_prior(name, number)
    else:
        drawn = chain.draw(name, number, OTHER if kind == "other" else chain.HIERARCHY)

    is_kept = kind == "prior" or drawn.kept
    seed = PLAY_SEED * (1 + list(SETTINGS).index(name)) + number
    values = {DEFAULT: {"kept": float(is_kept)}}
    if is_kept:
        values[DEFAULT] |= play(name, drawn.land, seed)
    if is_kept and kind == "table" and number < READ:
        values |= read(name, drawn.land, seed)
    rows = [
        (reading, key, value)
        for reading, reading_values in values.items()
        for key, value in reading_values.items()
    ]
    frame = pd.DataFrame(rows, columns=["reading", "key", "value"])
    return frame.assign(dataset=name, kind=kind, number=number)


@register_result("waiting", partial(list_drawn, "waiting"), passing=True)
def waiting(name: str, kind: str, number: int) -> pd.DataFrame:
    """Return the result of `played` for one table, while other tables are being drawn.

    Pages do not read this result, so nobody can stop drawing at a favourable moment.
    """
    return played(name, kind, number)


#: Number of kept tables per data set in the result ``landscapes``. These are the tables
#: with the smallest numbers.
LANDSCAPES = 20


def list_landscapes() -> list[tuple[str, int]]:
    """Return data set and number of each table in the result ``landscapes``."""
    plays = read_result("posterior")
    is_kept = (
        (plays["kind"] == "table") & (plays["key"] == "kept") & (plays["value"] == 1)
    )
    numbers = plays[is_kept & (plays["reading"] == DEFAULT)].groupby("dataset")[
        "number"
    ]
    return [
        (name, int(number))
        for name in NAMES
        for number in numbers.get_group(name).sort_values()[:LANDSCAPES]
    ]


@register_result("landscapes", list_landscapes)
def landscape(name: str, number: int) -> pd.DataFrame:
    """Compute the statistics that the paper's remarks are about, on one reconstruction.

    `companion.paper.remarks` defines these statistics, and calls them measures.

    Returns
    -------
    DataFrame
        ``dataset``, ``number``, ``key`` of the measure, and ``value``.
    """
    land = chain.draw(name, number).land
    values = {key: measure(land) for key, measure in remarks.OF_TABLES.items()}
    frame = pd.DataFrame(values.items(), columns=["key", "value"])
    return frame.assign(dataset=name, number=number)


REMARKED = (*NAMES, *MEASURED)


@register_result("remarks", per_table(REMARKED), REMARKED)
def remark_values(name: str) -> pd.DataFrame:
    """Measure what the paper's remarks are about, on one bundled table.

    Returns
    -------
    DataFrame
        ``dataset``, ``key`` of the remark, and ``value``.
    """
    values = remarks.measure_remarks(load(name))
    frame = pd.DataFrame(values.items(), columns=["key", "value"])
    return frame.assign(dataset=name)


def measured_remarks(name: str) -> dict[str, float]:
    """Return the values of the paper's remarks on a table, by the remark's key.

    Parameters
    ----------
    name : str
        Name in the catalogue, or a file. The values of `REMARKED` are stored.

    Examples
    --------
    >>> measured_remarks("gsm8k")["targets-reached"]
    1.0
    """
    if name not in REMARKED:
        return remarks.measure_remarks(open_table(name))
    stored = read_result("remarks")
    values = stored[stored["dataset"] == name].set_index("key")["value"]
    return {str(key): float(value) for key, value in values.items()}


#: Number of kept tables per kind: tables of the protocol's generator, draws from its
#: prior, and tables of the second generator.
WANTED = {"table": 1200, "prior": 200, "other": 200}
#: Number of tables in a batch. Kept tables are counted after each batch, and an
#: interruption loses unfinished tables.
BATCH = 10


def draw_tables(folder: str = "_build/posterior", workers: int = -1) -> None:
    """Draw tables until `WANTED` tables are kept, run experiments, and store results.

    Drawing continues from the stored tables if the current code computed them. After an
    interruption, the new tables are stored as the result ``waiting``, from which the
    next call continues.
    """
    finished = store.read_current_parts("posterior")
    new = store.read_current_parts("waiting")
    seconds = {
        name: store.read_manifest().get(name, {}).get("seconds", 0)
        for name in ("posterior", "waiting")
    }

    play_once = Memory(folder, verbose=0).cache(played)
    start = time.perf_counter()
    try:
        with Parallel(n_jobs=workers, return_as="generator") as run:
            for kind, wanted in WANTED.items():
                for name in NAMES:
                    while missing := numbers_to_draw(
                        finished | new, name, kind, wanted
                    ):
                        parts = run(
                            delayed(play_once)(name, kind, number) for number in missing
                        )
                        for number, part in zip(missing, parts, strict=True):
                            new[name, kind, number] = part
    except KeyboardInterrupt:
        seconds["waiting"] += time.perf_counter() - start
        write_result("waiting", list(new.values()), seconds["waiting"])
        raise

    write_result(
        "posterior",
        [*finished.values(), *new.values()],
        sum(seconds.values()) + time.perf_counter() - start,
    )
    store.remove_result("waiting")
    store_ledger()


def numbers_to_draw(
    parts: Mapping[tuple[Any, ...], pd.DataFrame], name: str, kind: str, wanted: int
) -> list[int]:
    """Return the numbers of the tables to draw next.

    The list has one number per missing kept table, but at most `BATCH` numbers. The
    list is empty if enough tables are kept.
    """
    n_kept = 0
    number = 0
    while n_kept < wanted and (name, kind, number) in parts:
        n_kept += meets_facts(parts[name, kind, number])
        number += 1
    return [number + offset for offset in range(min(wanted - n_kept, BATCH))]


def meets_facts(part: pd.DataFrame) -> bool:
    """Return whether a part is about a table that agrees with the printed facts."""
    return bool(part["value"].iloc[0])


AUDIT_BLOCK = 1_000
#: Number of replays by budget. Large budgets take most time and need fewer replays.
AUDIT_REPLAYS = {
    rho: 100_000 if rho <= 500 else 10_000 for rho in experiments.IDENTIFICATION_RHO
}
#: Budget and number of each block.
AUDIT_BLOCKS = [
    (rho, block)
    for rho, n in AUDIT_REPLAYS.items()
    for block in range(n // AUDIT_BLOCK)
]
AUDIT_METHODS = (
    *experiments.IDENTIFICATION,
    spec("PSISR", rounds="max"),
    spec("PSISR", rounds="mean"),
)


@register_result(
    "audit",
    lambda: [(name, *block) for name, block in product(NAMES, AUDIT_BLOCKS)],
    NAMES,
)
def audit_block(name: str, rho: int, block: int) -> pd.DataFrame:
    """Count errors, and joint errors of pairs of methods, in 1,000 replays on 14 arms.

    The number of the block of replays is the seed.
    """
    table = experiments.structured_subset(load(name))
    runs = replay_identification(table, AUDIT_METHODS, rho, AUDIT_BLOCK, block)
    return paired_errors.joint_errors(runs).assign(dataset=name, block=block)


register_result("regions", regions.parts)(
    regions.part
)  # random problems: no table is read


RACED = (*BUNDLED, *made_up_tables.MADE_UP)
register_result("race", lambda: list(product(RACED, races.TOLERANCES)), BUNDLED)(
    races.race
)
KINDS_OF = (*MEASURED, "synthetic-24")
register_result(
    "race-kinds", lambda: list(product(KINDS_OF, races.KINDS_TOLERANCES)), KINDS_OF
)(races.race_kinds)
register_result("swebench-race", per_table(ELSEWHERE, races.TOLERANCES), ELSEWHERE)(
    races.race
)
register_result(
    "fronts",
    lambda: [
        (name, *tolerances) for name, tolerances in product(BUNDLED, fronts.TOLERANCES)
    ],
    BUNDLED,
)(fronts.race_both)
register_result("rivals", lambda: [(name,) for name in made_up_tables.MADE_UP])(
    stopping_rules.race_rivals
)
register_result("promises", promised.list_cells)(promised.try_cell)


@register_result(
    "argument",
    lambda: [("word-sums", method) for method in first_figure.METHODS],
    ("word-sums",),
)
def argument_states(name: str, method: str) -> pd.DataFrame:
    """Replay one method of the book's first figure at all of its budgets."""
    return first_figure.play_states(load(name), method).assign(dataset=name)


ONCE_METHODS = (
    "CoPSIOnce",
    "UniformOnce",
    "PSISROnce",
    "EGESHOnce",
    "CoPSIPrintedOnce",
)
#: Number of orders of the instances.
ORDERS = 500
SHARES = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


@register_result("once", per_table(BUNDLED), BUNDLED)
@register_result("swebench-once", per_table(ELSEWHERE), ELSEWHERE)
def once(name: str) -> pd.DataFrame:
    """Return errors and F1 of methods that evaluate each instance at most once.

    The frame has one row per method, budget and quantity. Budgets are shares of the
    cost of evaluating everything.
    """
    return _evaluate_once(name)


def _evaluate_once(
    name: str,
    shares: Iterable[float] = SHARES,
    replications: int = ORDERS,
    seed: int = 0,
) -> pd.DataFrame:
    runs = replay_identification(
        open_table(name),
        ONCE_METHODS,
        share=shares,
        replications=replications,
        seed=seed,
        feedback="once",
        workers=-1,
        backend="threading",
    )
    runs["wrong"] = ~runs["correct"].astype(bool)
    keys = ("dataset", "method", "share")
    cells = [
        summaries.summarise(runs, column, keys).assign(quantity=column)
        for column in ("wrong", "f1")
    ]
    return pd.concat(cells, ignore_index=True)


def evaluate_once(
    name: str,
    shares: Iterable[float] = SHARES,
    replications: int = ORDERS,
    seed: int = 0,
) -> pd.DataFrame:
    """Return the results of `once` on a table, stored ones if they exist.

    Parameters
    ----------
    name : str
        Name in the catalogue, or a file.
    shares : iterable of float
        Budgets as shares of the cost of evaluating everything.
    replications : int
        Number of orders of the instances.
    seed : int
        Results with the defaults are stored for the bundled tables.

    Examples
    --------
    >>> cells = evaluate_once("word-sums").set_index(["quantity", "method", "share"])
    >>> float(cells.loc[("wrong", "CoPSIOnce", 1.0), "mean"])
    0.0
    """
    if name in BUNDLED and (tuple(shares), replications, seed) == (SHARES, ORDERS, 0):
        cells = read_result("once")
        return cells[cells["dataset"] == name]
    return _evaluate_once(name, shares, replications, seed)


def ledger_cells(frames: Mapping[str, pd.DataFrame] | None = None) -> pd.DataFrame:
    """Return our values of the numbers that the paper prints, from stored results.

    Parameters
    ----------
    frames : mapping of str to DataFrame, optional
        Results by name. Default: the stored results.

    Returns
    -------
    DataFrame
        The results ``replication`` and ``tuning``, with the errors of the result
        ``audit``.

    Examples
    --------
    >>> "tuning" in set(ledger_cells()["experiment"])
    True
    """
    frames = frames or {name: read_result(name) for name in BEHIND_LEDGER[:3]}
    cells = pd.concat([frames["replication"], frames["tuning"]], ignore_index=True)
    return audit.with_audit_errors(cells, frames["audit"])


def make_ledger(frames: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the ledger: the paper's numbers with our values and predictions.

    ``frames`` has the results of `BEHIND_LEDGER` by name. The columns are those of
    `companion.paper.printed.ledger`.
    """
    return paper.ledger(
        ledger_cells(frames), predicted=paper.predict_numbers(frames["posterior"])
    )


def predict_printed(tables: Sequence[EvaluationTable]) -> pd.DataFrame | None:
    """Predict the paper's numbers, if a page shows only reconstructions of its tables.

    Parameters
    ----------
    tables : sequence of EvaluationTable
        Tables of the page.

    Returns
    -------
    DataFrame or None
        Result of `companion.paper.predict_numbers`, or None if one of the tables is not
        a reconstruction.

    Examples
    --------
    >>> from cobandit import load
    >>> predict_printed([load("synthetic-24")]) is None
    True
    """
    if all(
        table.name in NAMES and table.card.kind == "reconstruction" for table in tables
    ):
        return paper.predict_numbers(read_result("posterior"))
    return None


def read_ledger() -> pd.DataFrame:
    """Read the stored ledger, which compares the paper's numbers with ours.

    Returns
    -------
    DataFrame
        The columns of `companion.paper.printed.ledger`.

    Raises
    ------
    CobanditError
        If the ledger is not stored.
    """
    path = results_directory() / LEDGER
    if not path.is_file():
        raise CobanditError(
            f"{path} does not exist -> run: python -m companion.stored.results ledger",
            argument=str(path),
            code="not-stored",
        )
    return pd.read_csv(path, dtype={"printed": str})


def store_ledger() -> None:
    """Write the ledger, which lists the paper's numbers next to ours, to its file."""
    frames = {name: read_result(name) for name in BEHIND_LEDGER}
    make_ledger(frames).to_csv(
        results_directory() / LEDGER, index=False, lineterminator="\n"
    )


def verify(*, fast: bool = False, **how: Any) -> list[Verification]:
    """Recompute the results and the ledger, and compare them with the stored ones.

    Parameters
    ----------
    fast : bool
        Whether to recompute only a sample of the parts. The ledger then uses stored
        results.
    **how
        Options of `companion.stored.store.compare_result`.

    Returns
    -------
    list of Verification
        One entry per result, and one for the ledger. A result that is missing, damaged
        or computed from other data counts as a difference. Results on a table that is
        not on this machine are not recomputed.
    """
    outcomes: list[Verification] = []
    frames: dict[str, pd.DataFrame] = {}
    for name in store.list_expected():
        parts = store.sample_parts(name) if fast else RESULTS[name].arguments()
        outcome, frame = store.compare_result(name, parts, **how)
        outcomes.append(outcome)
        if frame is not None:
            frames[name] = frame

    if missing := [name for name in BEHIND_LEDGER if name not in frames]:
        differences = [f"not compared: the ledger needs {' and '.join(missing)}"]
        return [*outcomes, Verification("ledger", 0, 0, 0.0, differences)]

    start = time.perf_counter()
    rows = make_ledger(frames)
    try:
        differences = compare_frames(read_ledger(), rows, ["key"])
    except CobanditError as error:
        differences = [str(error)]

    return [
        *outcomes,
        Verification(
            "ledger", len(rows), len(rows), time.perf_counter() - start, differences
        ),
    ]


def make(names: Sequence[str] = (), workers: int = -1) -> None:
    """Compute results, store each of them when it is complete, and write the ledger.

    Parameters
    ----------
    names : sequence of str
        Names of results. Default: all results. The ledger is always written.
    workers : int
        Number of processes.
    """
    names = [
        _validation.choice(name, "result", [*RESULTS, "ledger"]) for name in names
    ] or store.list_expected()
    for name in [name for name in names if name != "ledger"]:
        result = RESULTS[name]
        start = time.perf_counter()
        arguments = result.arguments()
        if not arguments:
            print(
                f"{name} is not recomputed: its table is not on this machine",
                file=sys.stderr,
            )
            continue

        tasks = (delayed(result.part)(*values) for values in arguments)
        done = Parallel(n_jobs=workers, return_as="generator")(tasks)
        parts = list(
            track(
                done,
                description=name,
                total=len(arguments),
                console=Console(stderr=True),
            )
        )
        write_result(name, parts, time.perf_counter() - start)

    store_ledger()


def main(names: Sequence[str]) -> None:
    """Compute the named results, draw tables, or confirm the stored results."""
    if list(names) == ["draw"]:
        return draw_tables()
    if list(names) != ["confirm"]:
        return make(names)
    for outcome in store.confirm():
        message = (
            "; ".join(outcome.differences[:3])
            or f"{outcome.computed} recomputed parts agree with the stored ones"
        )
        print(f"{outcome.name}: {message}")


if __name__ == "__main__":
    # functions of this import have the name of their module instead of "__main__"
    from companion.stored import results

    results.main(sys.argv[1:])
