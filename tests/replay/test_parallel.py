"""Back ends: equal results from processes, threads or Dask; Ctrl-C keeps results."""

import os
import pickle
import subprocess
import sys
import textwrap

import joblib
import numba
import pandas as pd
import pytest
from joblib.externals.loky import get_reusable_executor

import cobandit as cb
from cobandit.policies.registry import KERNELS
from cobandit.replay import grid, parallel, running


@pytest.fixture(scope="module")
def usual(small_table):
    """The replay that every back end has to repeat."""
    return replays(small_table)


@pytest.fixture(autouse=True)
def few_parts(monkeypatch):
    """Enough for two workers to take turns."""
    monkeypatch.setattr(grid, "PARTS", 5)


def replays(table, **how):
    methods = ["CoHVUCB", cb.spec("AccuracyCostUCB", objective=1), "UniformAllocation"]
    runs = cb.replay_online(table, methods, [0.5, 4], replications=25, seed=3, **how)
    paths = cb.replay_paths(table, methods, [0.5, 4], replications=25, seed=3, **how)
    finders = ["CoPSI", cb.spec("PSISR", rounds="mean"), "UniformIdentification"]
    results = cb.replay_identification(
        table, finders, [9, 40], replications=25, seed=3, **how
    )
    return runs, paths, results


@pytest.mark.slow
@pytest.mark.parametrize(
    "how",
    [
        {"workers": 2, "backend": "loky"},
        {"workers": 1, "backend": "threading"},
        {"workers": 2, "backend": "threading"},
        {"workers": -1, "backend": "threading"},
        {"progress": True},
    ],
    ids=str,
)
def test_backends_and_workers_change_nothing(how, usual, small_table):
    for frame, same in zip(usual, replays(small_table, **how), strict=True):
        pd.testing.assert_frame_equal(frame, same)


def dask(**how):
    """A cluster on this machine."""
    distributed = pytest.importorskip("distributed")
    return distributed.LocalCluster(
        threads_per_worker=1, dashboard_address=None, protocol="tcp", **how
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "processes", [False, pytest.param(True, marks=pytest.mark.acceptance)]
)
def test_dask_changes_nothing(processes, usual, small_table):
    with dask(n_workers=2, processes=processes) as cluster:
        result = replays(
            small_table, backend="dask", scheduler=cluster.scheduler_address
        )
    for frame, same in zip(usual, result, strict=True):
        pd.testing.assert_frame_equal(frame, same)


def test_arrays_have_one_type_in_every_process(small_table, tmp_path):
    """Other types, writable or mapped, would be compiled again by every worker."""
    feedback = grid.pack_table(small_table).feedback
    mapped = joblib.load(joblib.dump(feedback, tmp_path / "feedback")[0], mmap_mode="r")
    types = {
        numba.typeof(running.fix_types(result))
        for result in (feedback, pickle.loads(pickle.dumps(feedback)), mapped)
    }
    assert len(types) == 1


def compilations(_):
    """Count versions of each run that this process loaded, and that it compiled."""
    runs = {kernel.run for kernel in KERNELS.values()}
    counts = [
        (sum(r.stats.cache_hits.values()), sum(r.stats.cache_misses.values()))
        for r in runs
    ]
    return tuple(map(sum, zip(*counts, strict=True)))


@pytest.mark.acceptance
def test_workers_load_compiled_runs_from_disk(small_table):
    """Fresh processes receive the methods and the table as a replay sends them."""
    source = grid.pack_table(small_table)
    replays(small_table)  # compiled here, if not before
    with get_reusable_executor(max_workers=1, kill_workers=True) as worker:
        for name in ("CoHVUCB", "CoPSI", "PSISR"):
            (cell,) = grid.cut_grid(
                small_table, [cb.spec(name)], 20, 3, 0, most_parts=1
            )
            assert worker.submit(play_in_worker, source, cell).result() > 0
        hits, misses = worker.submit(compilations, None).result()
    assert hits == 2 and misses == 0  # one online, and one that all eliminations share


def play_in_worker(source, cell):
    policy = grid.make_policy(source, cell)
    return running.run_kernel(policy, source.feedback, cell.seed, cell.replications)[
        0
    ].sum()


class Traced:
    """Counts how often it is sent."""

    sent = 0

    def __reduce__(self):
        Traced.sent += 1
        return Traced, ()


def number_of(_, number):
    return number


@pytest.mark.slow
def test_dask_sends_shared_data_once():
    """Sent with every task, a large table would be copied once per task."""
    with dask(n_workers=1, processes=False) as cluster:
        how = {"backend": "dask", "scheduler": cluster.scheduler_address}
        counts = []
        for n in (10, 40):
            Traced.sent = 0
            assert parallel.run(
                number_of, [(i,) for i in range(n)], shared=(Traced(),), **how
            ) == [*range(n)]
            counts.append(Traced.sent)
    assert counts[0] == counts[1] <= 3  # hashed for its name, and sent


def interrupt_at(number):
    if number == 3:
        raise KeyboardInterrupt
    return number


def test_interrupt_returns_the_finished_prefix():
    with pytest.warns(UserWarning, match="3 of 6"):
        assert parallel.run(interrupt_at, [(i,) for i in range(6)]) == [0, 1, 2]


def test_other_errors_propagate():
    with pytest.raises(ZeroDivisionError):
        parallel.run(divmod, [(1, 1), (1, 0)])


SCRIPT = """
    import itertools, os, signal, sys, threading, warnings
    import cobandit as cb
    from rich.progress import Progress

    # A job in the background starts with SIGINT ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)

    # During part 4, SIGINT is sent to the whole group, as a terminal does.
    def advance(*_, parts=itertools.count(1)):
        if next(parts) == 3:
            threading.Timer(0.05, os.killpg, (0, signal.SIGINT)).start()

    Progress.advance = advance
    table = cb.load("synthetic-24")
    workers, backend = int(sys.argv[1]), sys.argv[2]
    runs = cb.replay_online(
        table, "CoHVUCB", 600, replications=4000, workers=workers, backend=backend
    )
    is_prefix = runs["replication"].tolist() == list(range(len(runs)))
    print(len(runs), is_prefix, runs["dataset"][0])
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="sends SIGINT to a group of processes")
@pytest.mark.parametrize(
    ("workers", "backend"),
    [
        pytest.param("1", "loky", marks=pytest.mark.acceptance),
        ("2", "threading"),
        pytest.param("2", "loky", marks=pytest.mark.acceptance),
    ],
)
def test_ctrl_c_interrupts_a_kernel(workers, backend, tmp_path):
    """A part is 200 replications of 50,000 pulls: the signal meets compiled code."""
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(SCRIPT))
    done = subprocess.run(
        [sys.executable, str(script), workers, backend],
        capture_output=True,
        text=True,
        start_new_session=True,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr
    rows, is_prefix, dataset = done.stdout.split()
    assert 600 <= int(rows) < 4000 and is_prefix == "True" and dataset == "synthetic-24"
    assert (
        "only the results of the first" in done.stderr
        and "Traceback" not in done.stderr
    )
