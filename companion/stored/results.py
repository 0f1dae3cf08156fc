"""The results that take too long for a page, each one function, and the ledger that follows from them.

``make results`` writes them into ``data/results``; pages recompute parts of them,
``cobandit-book verify`` as much as is wanted.  ``ledger.csv`` has every printed number,
ours, and what was predicted of it.

Command: ``python -m companion.stored.results [NAME...]``; the name ``ledger`` writes
the ledger alone, ``confirm`` recomputes a few parts of what other code was stored by,
and enters the code at hand, and ``draw`` draws the tables behind the predictions.
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
from cobandit.stats import metrics, paired_errors
from cobandit.tables import EvaluationTable, available, load
from companion import paper
from companion.pages import first_figure, regions
from companion.paper import experiments, remarks
from companion.promises import cells as promised
from companion.reconstruction import chain
from companion.reconstruction.experiment import DEFAULT, play, read
from companion.reconstruction.hierarchy import SETTINGS
from companion.reconstruction.other import OTHER
from companion.stored import fronts, kept, races
from companion.stored.kept import RESULTS as RESULTS
from companion.stored.kept import (
    Verification,
    differences,
    directory,
    read_result,
    store,
    stored,
)
from companion.stored.kept import recompute as recompute

NAMES = tuple(SETTINGS)
MEASURED = ("word-sums", "piqa-small")
BUNDLED = (*MEASURED, "synthetic-24", *NAMES)
#: A table that is not bundled: what is stored of it can be read everywhere, and
#: computed where the table is.
ELSEWHERE = ("swebench-bash-only",)
LEDGER = "ledger.csv"
#: Results that the ledger is made of.
BEHIND_LEDGER = ("replication", "tuning", "audit", "posterior")


def each(
    names: Iterable[str], *others: Iterable[Any]
) -> Callable[[], list[tuple[Any, ...]]]:
    """One part per table that is on this machine, and each of what else is given."""
    return lambda: list(product(filter(available, names), *others))


@stored("replication", each(NAMES), NAMES)
@stored("measured", each(MEASURED), MEASURED)
@stored("swebench", each(ELSEWHERE), ELSEWHERE)
def replication(name: str) -> pd.DataFrame:
    """All experiments on one table of the catalogue, at the paper's replication counts.

    As `companion.paper.experiments.summary` and `companion.paper.experiments.facts`.
    """
    table = load(name)
    # a page waits for it
    cells = experiments.summary(table, workers=-1, backend="threading")
    return pd.concat([cells, experiments.facts(table)], ignore_index=True)


@stored("tuning", each(NAMES), NAMES)
def tuning(name: str) -> pd.DataFrame:
    """Radii and initialisation chosen for one bundled reconstruction, as the paper does for its table."""
    return experiments.tuning_cells(load(name))


def numbers_in(name: str) -> list[tuple[str, str, int]]:
    """Return data set, kind and number of each table that a result of drawn tables holds."""
    path = directory() / f"{name}.parquet"
    if not path.is_file():
        return []
    frame = pd.read_parquet(
        path, columns=["dataset", "kind", "number"]
    ).drop_duplicates()
    return [tuple(row) for row in frame.itertuples(index=False)]


#: Seeds of the plays start here: none of the replays of a page uses them.
PLAY_SEED = 10**6
#: Other readings are played on tables with smaller numbers.
READ = 200


@stored("posterior", partial(numbers_in, "posterior"))
def played(name: str, kind: str, number: int) -> pd.DataFrame:
    """Draw a table and play the paper's experiments on it, if it is kept.

    Parameters
    ----------
    name : {"gsm8k", "piqa"}
    kind : {"table", "prior", "other"}
    number : int
        The seed of the table.

    Returns
    -------
    DataFrame
        One row per value: ``dataset``, ``kind``, ``number``, ``reading``, ``key`` and
        ``value``; the first is whether the table is ``kept``, and the only one if it is
        not.
    """
    if kind == "prior":
        drawn = chain.draw_prior(name, number)
    else:
        drawn = chain.draw(name, number, OTHER if kind == "other" else chain.HIERARCHY)

    kept = kind == "prior" or drawn.kept
    seed = PLAY_SEED * (1 + list(SETTINGS).index(name)) + number
    values = {DEFAULT: {"kept": float(kept)}}
    if kept:
        values[DEFAULT] |= play(name, drawn.land, seed)
    if kept and kind == "table" and number < READ:
        values |= read(name, drawn.land, seed)
    rows = [
        (reading, key, value)
        for reading, own in values.items()
        for key, value in own.items()
    ]
    frame = pd.DataFrame(rows, columns=["reading", "key", "value"])
    return frame.assign(dataset=name, kind=kind, number=number)


@stored("waiting", partial(numbers_in, "waiting"), passing=True)
def waiting(name: str, kind: str, number: int) -> pd.DataFrame:
    """Draw and play a table that no page looks at before all that are wanted are there.

    So nobody can stop drawing when the results suit.
    """
    return played(name, kind, number)


#: So many of the kept tables, those with the smallest numbers, stand for all where a
#: table itself is needed.
LANDSCAPES = 20


def first_kept() -> list[tuple[str, int]]:
    """Return data set and number of the kept tables whose landscapes are stored."""
    plays = read_result("posterior")
    at = (plays["kind"] == "table") & (plays["key"] == "kept") & (plays["value"] == 1)
    numbers = plays[at & (plays["reading"] == DEFAULT)].groupby("dataset")["number"]
    return [
        (name, int(number))
        for name in NAMES
        for number in numbers.get_group(name).sort_values()[:LANDSCAPES]
    ]


@stored("landscapes", first_kept)
def landscape(name: str, number: int) -> pd.DataFrame:
    """Draw a kept table, and measure what the paper remarks about its own tables.

    Returns
    -------
    DataFrame
        ``dataset``, ``number``, ``key`` of the remark's measure and ``value``.
    """
    land = chain.draw(name, number).land
    values = {key: measure(land) for key, measure in remarks.OF_TABLES.items()}
    frame = pd.DataFrame(values.items(), columns=["key", "value"])
    return frame.assign(dataset=name, number=number)


#: Kept tables of each kind: that meet the facts, of the prior, and of the other
#: generator.
WANTED = {"table": 1200, "prior": 200, "other": 200}
#: Tables between two looks at how many are kept; an interruption loses those that are
#: not done.
BATCH = 10


def draw(folder: str = "_build/posterior", workers: int = -1) -> None:
    """Draw and play until enough tables of each kind and data set are kept, and store all.

    It begins with the tables that are stored, if the code at hand made them.
    Interrupted, it stores the new tables as the result ``waiting``, and goes on from
    there the next time.
    """
    judged = kept.parts_at_hand("posterior")
    new = kept.parts_at_hand("waiting")
    seconds = {
        name: kept.manifest().get(name, {}).get("seconds", 0)
        for name in ("posterior", "waiting")
    }

    play_once = Memory(folder, verbose=0).cache(played)
    start = time.perf_counter()
    try:
        with Parallel(n_jobs=workers, return_as="generator") as run:
            for kind, wanted in WANTED.items():
                for name in NAMES:
                    while missing := numbers_to_draw(judged | new, name, kind, wanted):
                        parts = run(
                            delayed(play_once)(name, kind, number) for number in missing
                        )
                        for number, part in zip(missing, parts, strict=True):
                            new[name, kind, number] = part
    except KeyboardInterrupt:
        seconds["waiting"] += time.perf_counter() - start
        store("waiting", list(new.values()), seconds["waiting"])
        raise

    store(
        "posterior",
        [*judged.values(), *new.values()],
        sum(seconds.values()) + time.perf_counter() - start,
    )
    kept.remove("waiting")
    store_ledger()


def numbers_to_draw(
    parts: Mapping[tuple[Any, ...], pd.DataFrame], name: str, kind: str, wanted: int
) -> list[int]:
    """Return the numbers to draw next, were all kept: none if enough of the first in a row are kept."""
    n_kept = 0
    number = 0
    while n_kept < wanted and (name, kind, number) in parts:
        n_kept += is_kept(parts[name, kind, number])
        number += 1
    return [number + more for more in range(min(wanted - n_kept, BATCH))]


def is_kept(part: pd.DataFrame) -> bool:
    """Whether the table of a part, as `played` gives it, meets the facts."""
    return bool(part["value"].iloc[0])


AUDIT_BLOCK = 1_000
#: Replays by budget; the large ones cost most, and fewer replays tell them apart.
AUDIT_REPLAYS = {
    rho: 100_000 if rho <= 500 else 10_000 for rho in experiments.IDENTIFICATION_RHO
}
#: Budget and number of each.
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


@stored(
    "audit",
    lambda: [(name, *block) for name, block in product(NAMES, AUDIT_BLOCKS)],
    NAMES,
)
def audit_block(name: str, rho: int, block: int) -> pd.DataFrame:
    """Count joint errors on the 14 arms in one block of `AUDIT_BLOCK` replays, whose number is its seed."""
    table = experiments.structured_subset(load(name))
    runs = replay_identification(table, AUDIT_METHODS, rho, AUDIT_BLOCK, block)
    return paired_errors.joint_errors(runs).assign(dataset=name, block=block)


stored("regions", regions.parts)(regions.part)  # of random problems: no table is read


RACED = (*BUNDLED, *races.MADE_UP)
stored("race", lambda: list(product(RACED, races.TOLERANCES)), BUNDLED)(races.race)
KINDS_OF = (*MEASURED, "synthetic-24")
stored("race-kinds", lambda: list(product(KINDS_OF, races.KINDS_TOLERANCES)), KINDS_OF)(
    races.race_kinds
)
stored("swebench-race", each(ELSEWHERE, races.TOLERANCES), ELSEWHERE)(races.race)
stored(
    "fronts",
    lambda: [(name, *both) for name, both in product(BUNDLED, fronts.TOLERANCES)],
    BUNDLED,
)(fronts.race_both)
stored("rivals", lambda: [(name,) for name in races.MADE_UP])(races.race_rivals)
stored("promises", promised.list_cells)(promised.try_cell)


@stored(
    "argument",
    lambda: [("word-sums", method) for method in first_figure.METHODS],
    ("word-sums",),
)
def argument_states(name: str, method: str) -> pd.DataFrame:
    """Return what the first figure of the book shows: `companion.pages.first_figure.play_states`."""
    return first_figure.play_states(load(name), method).assign(dataset=name)


ONCE_METHODS = (
    "CoPSIOnce",
    "UniformOnce",
    "PSISROnce",
    "EGESHOnce",
    "CoPSIPrintedOnce",
)
SHARES = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


@stored("swebench-once", each(ELSEWHERE), ELSEWHERE)
def once(name: str) -> pd.DataFrame:
    """Every pair of a table at most once: how often each method is wrong, and its F1, at each share."""
    runs = replay_identification(
        load(name), ONCE_METHODS, share=SHARES, feedback="once"
    )
    runs["wrong"] = ~runs["correct"].astype(bool)
    by = ("dataset", "method", "share")
    cells = [
        metrics.summarise(runs, column, by).assign(quantity=column)
        for column in ("wrong", "f1")
    ]
    return pd.concat(cells, ignore_index=True)


def cells(found: Mapping[str, pd.DataFrame] | None = None) -> pd.DataFrame:
    """Give what the ledger sets next to the printed numbers, of results by name or of those that are stored.

    Returns
    -------
    DataFrame
        The replication, with errors from the audit, which has most replays, and what
        tuning chooses.

    Examples
    --------
    >>> "tuning" in set(cells()["experiment"])
    True
    """
    found = found or {name: read_result(name) for name in BEHIND_LEDGER[:3]}
    own = pd.concat([found["replication"], found["tuning"]], ignore_index=True)
    return experiments.with_audit_errors(own, found["audit"])


def ledger_of(found: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Make the ledger, as `companion.paper.printed`, of the results that are behind it, by name."""
    return paper.ledger(
        cells(found), predicted=paper.predict_numbers(found["posterior"])
    )


def predictions_of(tables: Sequence[EvaluationTable]) -> pd.DataFrame | None:
    """Predict what the paper prints, or give None if one of the tables is no bundled reconstruction.

    Returns
    -------
    DataFrame or None
        As `companion.paper.predict_numbers`.

    Examples
    --------
    >>> from cobandit import load
    >>> predictions_of([load("synthetic-24")]) is None
    True
    """
    if all(
        table.name in NAMES and table.card.kind == "reconstruction" for table in tables
    ):
        return paper.predict_numbers(read_result("posterior"))
    return None


def ledger() -> pd.DataFrame:
    """Read the stored ledger.

    Returns
    -------
    DataFrame
        As `companion.paper.printed`.

    Raises
    ------
    CobanditError
        If it is not stored.
    """
    path = directory() / LEDGER
    if not path.is_file():
        raise CobanditError(
            f"there is no {path} -> run: python -m companion.stored.results ledger"
        )
    return pd.read_csv(path, dtype={"printed": str})


def store_ledger() -> None:
    """Write the ledger of the stored results."""
    found = {name: read_result(name) for name in BEHIND_LEDGER}
    ledger_of(found).to_csv(directory() / LEDGER, index=False, lineterminator="\n")


def verify(*, fast: bool = False, **how: Any) -> list[Verification]:
    """Recompute the stored results and the ledger, from the bundled tables, and compare.

    Parameters
    ----------
    fast : bool
        Compute a few parts of each only; the ledger then takes the others as stored.
    **how
        As `companion.stored.kept.compare` takes it.

    Returns
    -------
    list of Verification
        One for each result, and one for the ledger.  A result that is missing, damaged
        or of other data is a difference, too.  Of a result on a table that is not on
        this machine nothing is computed.
    """
    outcomes: list[Verification] = []
    whole: dict[str, pd.DataFrame] = {}
    for name in kept.expected():
        parts = kept.few(name) if fast else RESULTS[name].arguments()
        outcome, frame = kept.compare(name, parts, **how)
        outcomes.append(outcome)
        if frame is not None:
            whole[name] = frame

    if missing := [name for name in BEHIND_LEDGER if name not in whole]:
        found = [f"not compared: it needs {' and '.join(missing)}"]
        return [*outcomes, Verification("ledger", 0, 0, 0.0, found)]

    began, rows = time.perf_counter(), ledger_of(whole)
    try:
        found = differences(ledger(), rows, ["key"])
    except CobanditError as error:
        found = [str(error)]

    return [
        *outcomes,
        Verification(
            "ledger", len(rows), len(rows), time.perf_counter() - began, found
        ),
    ]


def make(names: Sequence[str] = (), workers: int = -1) -> None:
    """Compute results and store them, each as soon as it is complete, and then the ledger of all.

    Parameters
    ----------
    names : sequence of str
        Default: all; ``"ledger"`` is written in any case.
    workers : int
        Processes.
    """
    names = [
        _validation.choice(name, "result", [*RESULTS, "ledger"]) for name in names
    ] or kept.expected()
    for name in [name for name in names if name != "ledger"]:
        result, start = RESULTS[name], time.perf_counter()
        if not (arguments := result.arguments()):
            print(
                f"{name} stays as it is: its table is not on this machine",
                file=sys.stderr,
            )
            continue
        tasks = (delayed(result.part)(*one) for one in arguments)
        done = Parallel(n_jobs=workers, return_as="generator")(tasks)
        parts = list(
            track(
                done,
                description=name,
                total=len(arguments),
                console=Console(stderr=True),
            )
        )
        store(name, parts, time.perf_counter() - start)

    store_ledger()


def main(names: Sequence[str]) -> None:
    """Make what is named, draw the tables behind the predictions, or confirm what is stored."""
    if list(names) == ["draw"]:
        return draw()
    if list(names) != ["confirm"]:
        return make(names)
    for outcome in kept.confirm():
        said = (
            "; ".join(outcome.differences[:3])
            or f"{outcome.computed} parts computed again are as stored"
        )
        print(f"{outcome.name}: {said}")


if __name__ == "__main__":
    from companion.stored import results  # whose functions have their module's name

    results.main(sys.argv[1:])
