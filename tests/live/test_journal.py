"""The journal of a live run restores its records after cuts, kills and damage."""

import errno
import json
import os
import pickle
import subprocess
import sys
import warnings
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.faults import bad_argument, fault
from support.strategies import examples

import cobandit as cb
from cobandit.errors import CobanditError, GuaranteeWarning, TableError
from cobandit.testing.policy_checks import bad_tells
from cobandit.testing.policy_runs import snapshot

COSTS = [0.25, 1.0, 0.5]
MAKERS = {
    "CoHVUCB": lambda: cb.CoHVUCB(
        3, 2, 4, (0.2, 1.0), reward_scale=0.1, expected_costs=COSTS
    ),
    "CoHVUCBV": lambda: cb.CoHVUCBV(3, 2, 4, (0.2, 1.0), alpha=0.1, selection="all"),
    "CoHVKLUCB": lambda: cb.CoHVKLUCB(3, 2, 4, (0.2, 1.0), expected_costs=COSTS),
    "HVUCB": lambda: cb.HVUCB(3, 2, 4, (0.2, 1.0), n_init=2),
    "AccuracyCostUCB": lambda: cb.AccuracyCostUCB(
        3, 2, 4, (0.2, 1.0), objective=1, alpha=1.5
    ),
    "UniformAllocation": lambda: cb.UniformAllocation(3, 2, 4, (0.2, 1.0)),
    "CoPSI": lambda: cb.CoPSI(COSTS, 9, 2, min_cost=0.2),
    "CoPSIExact": lambda: cb.CoPSIExact(COSTS, 9, 2),
    "CoPSIAdaptive": lambda: cb.CoPSIAdaptive(COSTS, 9, 2),
    "PSISR": lambda: cb.PSISR(COSTS, 8, 2, rounds="mean"),
    "UniformIdentification": lambda: cb.UniformIdentification(COSTS, 6, 2),
    "CoPSIOnce": lambda: cb.CoPSIOnce(COSTS, 9, 2, 7),
    "CoPSIOnce, certain": lambda: cb.CoPSIOnce(COSTS, 9, 2, 7, confidence=0.5),
}
every_policy = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.journal"


@pytest.fixture
def no_flush(monkeypatch):
    """Skip flushing to disk, which is tested separately, because runs are many."""
    monkeypatch.setattr(os, "fsync", lambda fd: None)


def evaluation(arm, pull, seed=0):
    """What pull number ``pull`` of an arm gives, whoever asks and whenever."""
    rng = np.random.default_rng([seed, arm, pull])
    return rng.random(2), COSTS[arm] * rng.uniform(0.8, 1.0)


def play(run, seed=0, maximum=None):
    """Go on to the end, or for ``most`` evaluations."""
    while maximum != 0 and (arm := run.ask()) is not None:
        run.tell(arm, *evaluation(arm, run.policy.pulls[arm], seed))
        maximum = None if maximum is None else maximum - 1


def entries(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def told(path):
    return [entry for entry in entries(path) if "tell" in entry]


def without_sums(tells):
    return [
        {key: value for key, value in entry.items() if key != "crc"} for entry in tells
    ]


def twice(path):
    """Evaluations that were begun and never told."""
    return sum(entry.get("ask") is not None for entry in entries(path)) - len(
        told(path)
    )


def places(content, whole=3):
    """List all bytes of the first and last lines, and the ends of the others."""
    lines, start = content.splitlines(keepends=True), 0
    for number, line in enumerate(lines):
        if whole <= number < len(lines) - whole:
            yield from (start, start + 1, start + len(line) // 2, start + len(line) - 1)
        else:
            yield from range(start, start + len(line))
        start += len(line)
    yield start


def uninterrupted(path, make, seed=0):
    """The state after each line of a run that nothing interrupts."""
    policy = make()
    with cb.Journal(path, policy) as run:
        states = [snapshot(policy)]
        while (arm := run.ask()) is not None:
            states.append(snapshot(policy))
            run.tell(arm, *evaluation(arm, policy.pulls[arm], seed))
            states.append(snapshot(policy))
        states.append(snapshot(policy))
    assert len(states) == len(entries(path))
    return states


# Written files.


@pytest.mark.slow
@every_policy
def test_journal_changes_nothing_in_a_run(path, make):
    bare = make()
    while (arm := bare.ask()) is not None:
        bare.tell(arm, *evaluation(arm, bare.pulls[arm]))
    assert bare.pulls.min() > 0
    assert uninterrupted(path, make)[-1] == snapshot(bare)
    content = path.read_bytes()
    with cb.Journal(path, policy := make()) as run:
        assert run.ask() is None
    assert path.read_bytes() == content and snapshot(policy) == snapshot(bare)


def test_journal_has_the_documented_lines(path):
    record = {"seconds": 0.5, "said": "é"}
    with cb.Journal(path, MAKERS["CoPSI"](), names=["a", "b", "c"]) as run:
        first, second = run.ask(), run.ask()
        assert (
            [pull.key for pull in run.in_flight]
            == [first.key, second.key]
            == [(0, 0), (0, 1)]
        )
        run.tell(
            second,
            np.array([0.1, 1], dtype=np.float32),
            None,
            record | {"seconds": np.float64(0.5)},
        )
        run.tell(0, None, 0.125)
        assert run.in_flight == []
    head, *asks, tell, failure = without_sums(entries(path))
    options = {
        "costs": COSTS,
        "budget": 9.0,
        "n_objectives": 2,
        "min_cost": 0.2,
        "largest_costs": None,
    }
    assert head == {
        "journal": 2,
        "policy": "CoPSI",
        "names": ["a", "b", "c"],
        "options": options,
    }
    assert asks == [{"ask": 0, "number": 0}, {"ask": 0, "number": 1}]
    reward = [float(np.float32(0.1)), 1.0]
    assert tell == {
        "tell": 0,
        "number": 1,
        "reward": reward,
        "cost": None,
        "record": record,
    }
    assert failure == {
        "tell": 0,
        "number": 0,
        "reward": None,
        "cost": 0.125,
        "record": None,
    }


def test_each_line_is_on_the_disk_before_the_call_returns(path, monkeypatch):
    flushed = []
    monkeypatch.setattr(
        os,
        "fsync",
        lambda fd: flushed.append((os.fstat(fd).st_ino, os.fstat(fd).st_size)),
    )
    with cb.Journal(path, MAKERS["CoHVUCB"]()) as run:

        def is_safe():
            return flushed and flushed[-1] == (path.stat().st_ino, path.stat().st_size)

        assert is_safe()
        assert any(inode == path.parent.stat().st_ino for inode, _ in flushed)
        for number in range(2, 8, 2):
            arm = run.ask()
            assert is_safe() and len(entries(path)) == number
            run.tell(arm, *evaluation(arm, 0))
            assert is_safe() and len(entries(path)) == number + 1


@pytest.mark.parametrize("bad", bad_tells(0).values(), ids=bad_tells(0))
def test_refused_results_are_not_written(path, bad):
    policy = MAKERS["CoHVUCB"]()
    with cb.Journal(path, policy) as run:
        with bad_argument("not-in-flight", "arm", ["ask()"]):
            run.tell(0, [0.5, 0.5], 1.0)
        assert run.ask() == 0
        before = path.read_bytes(), snapshot(policy)
        with pytest.raises(CobanditError):
            run.tell(*bad)
        assert (path.read_bytes(), snapshot(policy)) == before
        run.tell(0, [0.5, 0.5], 1.0)


# Truncation and kills.


@pytest.mark.slow
@pytest.mark.parametrize("name", ["CoPSI", "CoHVUCB", "CoPSIOnce"])
def test_journal_truncated_at_any_byte_is_resumed(path, name, no_flush):
    make = MAKERS[name]
    states = uninterrupted(path, make)
    content, tells = path.read_bytes(), told(path)
    for cut in places(content):
        path.write_bytes(content[:cut])
        # A line counts once all but its newline is there.
        n_lines = max(1, content[:cut].count(b"\n") + (content[cut : cut + 1] == b"\n"))
        with cb.Journal(path, policy := make()) as run:
            assert snapshot(policy) == states[n_lines - 1]
            assert path.read_bytes() == b"".join(
                content.splitlines(keepends=True)[:n_lines]
            )
            begun = len(run.in_flight)
            if cut != len(path.read_bytes()):
                # the same file and the same state as for the cut between two lines
                continue
            play(run)
        assert snapshot(policy) == states[-1]
        assert without_sums(told(path)) == without_sums(tells)
        assert twice(path) == begun


@pytest.mark.slow
@examples(60)
@given(
    st.sampled_from(sorted(MAKERS)),
    st.lists(st.tuples(st.integers(0, 8), st.floats(0, 1)), max_size=5),
    st.integers(0, 2**32),
)
def test_journal_truncated_repeatedly_is_resumed(tmp_path_factory, name, cuts, seed):
    folder = tmp_path_factory.mktemp("cuts")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda fd: None)
        states = uninterrupted(folder / "whole", MAKERS[name], seed)
        path = folder / "cut"
        for maximum, share in cuts:
            with cb.Journal(path, MAKERS[name]()) as run:
                play(run, seed, maximum)
            content = path.read_bytes()
            # as a process that dies leaves it: somewhere in its last two lines
            start = len(b"".join(content.splitlines(keepends=True)[:-2]))
            path.write_bytes(content[: start + round(share * (len(content) - start))])
        with cb.Journal(path, policy := MAKERS[name]()) as run:
            play(run, seed)
    assert snapshot(policy) == states[-1]
    assert without_sums(told(path)) == without_sums(told(folder / "whole"))
    assert 0 <= twice(path) <= len(cuts)


@pytest.mark.slow
@given(
    st.lists(
        st.tuples(st.floats(0, 1), st.floats(0, 1), st.floats(1e-9, 0.4)), max_size=10
    )
)
def test_numbers_are_restored_exactly(tmp_path_factory, feedback):
    path = tmp_path_factory.mktemp("bits") / "run.journal"
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        patch.setattr(os, "fsync", lambda fd: None)
        warnings.simplefilter("ignore", GuaranteeWarning)
        with cb.Journal(path, first := MAKERS["CoHVUCB"]()) as run:
            for *reward, cost in feedback:
                run.tell(run.ask(), reward, cost)
        with cb.Journal(path, second := MAKERS["CoHVUCB"]()):
            pass
    assert snapshot(first) == snapshot(second)


# Imports once and forks, so that a process is killed in its run and not in its imports.
# The first two processes wait after some evaluations, so that they are killed even if
# this machine is busy.
KILLER = """
import os, pathlib, random, signal, sys, time
sys.path[:0] = sys.argv[1].split(os.pathsep)
import cobandit as cb
from test_journal import LONG, evaluation


def live(path, policy, waits):
    with cb.Journal(path, policy) as run:
        n_evaluations = 0
        while (arm := run.ask()) is not None:
            time.sleep(random.uniform(0, 0.01))
            if waits and n_evaluations == 5:
                time.sleep(60)
            run.tell(arm, *evaluation(arm, run.policy.pulls[arm]))
            n_evaluations += 1


random.seed(0)
for name, make in LONG.items():
    kills = 0
    while True:
        child = os.fork()
        if child == 0:
            live(pathlib.Path(sys.argv[2]) / name, make(), waits=kills < 2)
            os._exit(0)
        time.sleep(random.uniform(0, 0.03 * (1 + kills)))
        os.kill(child, signal.SIGKILL)
        if os.waitpid(child, 0)[1] == 0:
            break
        kills += 1
    print(kills)
"""
LONG = {
    "CoHVUCB": lambda: cb.CoHVUCB(3, 2, 12, (0.2, 1.0), reward_scale=0.1),
    "CoPSI": lambda: cb.CoPSI(COSTS, 24, 2, min_cost=0.2),
    "CoPSIOnce": lambda: cb.CoPSIOnce(COSTS, 24, 2, 20),
}


@pytest.mark.slow
def test_killed_process_is_resumed(tmp_path):
    command = [sys.executable, "-c", KILLER, os.pathsep.join(sys.path), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    for (name, make), kills in zip(
        LONG.items(), map(int, done.stdout.split()), strict=True
    ):
        states = uninterrupted(tmp_path / "whole", make)
        with cb.Journal(tmp_path / name, policy := make()):
            assert snapshot(policy) == states[-1]
        assert without_sums(told(tmp_path / name)) == without_sums(
            told(tmp_path / "whole")
        )
        assert kills >= 2 and twice(tmp_path / name) <= kills
        (tmp_path / "whole").unlink()


# Many in flight.


def state(run):
    """What a run is at, as far as it can be seen from outside."""
    policy = run.policy
    recommended = policy.recommend()
    return pickle.dumps(
        (
            policy.pulls.tolist(),
            policy.in_flight.tolist(),
            policy.spent,
            policy.mean_rewards.tolist(),
            recommended.tolist()
            if isinstance(recommended, np.ndarray)
            else str(recommended),
            [pull.key for pull in run.in_flight],
            [
                (record.pull.key, str(record.reward), record.cost, record.record)
                for record in run.records()
            ],
        )
    )


def fly(run, rng, at_once=3, maximum=None, leave_out=False):
    """Resume with several in flight, in random order, with failures and omissions.

    Yields after each line.
    """
    flying = []
    while maximum is None or maximum > 0:
        while len(flying) < at_once and (pull := run.ask()) is not None:
            flying.append(pull)
            yield
        if not flying:
            return
        pull = flying.pop(int(rng.integers(len(flying))))
        reward, cost = evaluation(pull, pull.number)
        attempts = sum(record.pull.key == pull.key for record in run.records())
        if leave_out and pull.key == (0, 1):
            run.leave_out(pull)
        elif pull.number % 3 == 2 and not attempts:
            run.tell(pull, None, 0.0, {"attempt": 1})
        else:
            run.tell(
                pull,
                reward,
                None if run.policy.label.startswith(("CoPSI", "Uni")) else cost,
                {"n": attempts},
            )
        yield
        maximum = None if maximum is None else maximum - 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["UniformIdentification", "CoHVUCB", "CoPSI", "CoPSIOnce"]
)
def test_journal_truncated_while_in_flight_is_resumed(path, name, no_flush):
    make = MAKERS[name]
    with cb.Journal(path, make()) as run:
        states = [
            state(run),
            *(
                state(run)
                for _ in fly(
                    run, np.random.default_rng(0), leave_out=name == "CoPSIOnce"
                )
            ),
        ]
        assert run.policy.finished
        assert run.ask() is None  # written by the last ask of the flight
    content = path.read_bytes()
    states += states[-1:]
    assert len(states) == content.count(b"\n")
    for cut in places(content):
        path.write_bytes(content[:cut])
        n_lines = max(1, content[:cut].count(b"\n") + (content[cut : cut + 1] == b"\n"))
        with cb.Journal(path, make()) as run:
            assert state(run) == states[n_lines - 1]
            assert path.read_bytes() == b"".join(
                content.splitlines(keepends=True)[:n_lines]
            )
            if cut != len(path.read_bytes()):
                continue
            waiting = [pull.key for pull in run.in_flight]
            assert [run.ask().key for _ in waiting] == waiting  # these first, once each
            assert [pull.key for pull in run.in_flight] == waiting


@pytest.mark.slow
@examples(60)
@given(
    st.sampled_from(["CoPSI", "CoPSIExact", "CoPSIOnce", "UniformIdentification"]),
    st.lists(
        st.tuples(st.integers(0, 8), st.integers(1, 9), st.floats(0, 1)), max_size=5
    ),
    st.integers(0, 2**32),
)
def test_repeatedly_truncated_flights_end_like_an_uninterrupted_one(
    tmp_path_factory, name, cuts, seed
):
    folder, rng = tmp_path_factory.mktemp("flights"), np.random.default_rng(seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda fd: None)
        with cb.Journal(folder / "whole", uncut := MAKERS[name]()) as run:
            list(fly(run, rng, at_once=1))
        path = folder / "cut"
        for maximum, at_once, share in cuts:
            with cb.Journal(path, MAKERS[name]()) as run:
                list(fly(run, rng, at_once, maximum))
            content = path.read_bytes()
            start = len(b"".join(content.splitlines(keepends=True)[:-2]))
            path.write_bytes(content[: start + round(share * (len(content) - start))])
        with cb.Journal(path, policy := MAKERS[name]()) as run:
            list(fly(run, rng))
            records = run.records()
    assert policy.recommend().tolist() == uncut.recommend().tolist()
    assert repr(policy.phases) == repr(uncut.phases)
    scored = [record.pull.key for record in records if record.reward is not None]
    assert len(scored) == len(set(scored)) == policy.pulls.sum()
    begun = [
        (entry["ask"], entry["number"])
        for entry in entries(path)
        if entry.get("ask") is not None
    ]
    ended = [record.pull.key for record in records]
    for key in set(begun):
        assert 0 <= begun.count(key) - ended.count(key) <= len(cuts)


def test_records_are_restored(path):
    content = {
        "prompt tokens": np.int64(12),
        "answer": "17 €",
        "parts": [0.5, None, True],
    }

    def make():
        return cb.CoPSIOnce(COSTS, 12.25, 2, 7)

    with cb.Journal(path, make()) as run:
        pulls = [run.ask() for _ in range(5)]
        run.tell(pulls[4], [1.0, 0.5], 0.2, content)
        run.tell(pulls[0], None, 0.1)
        run.leave_out(pulls[0])  # after the failure, that was billed
        before = state(run)
        after = [run.ask().key for _ in range(3)]
    with cb.Journal(path, make()) as run:
        first, second = run.records()
        assert (first.pull.key, second.pull.key) == ((0, 4), (0, 0))
        assert first.record == {
            "prompt tokens": 12,
            "answer": "17 €",
            "parts": [0.5, None, True],
        }
        assert (first.reward.tolist(), first.cost, second.reward, second.cost) == (
            [1.0, 0.5],
            0.2,
            None,
            0.1,
        )
        assert run.policy.left_out.tolist() == [True] + [False] * 6
        assert [run.ask().key for _ in range(6)] == [(0, 1), (0, 2), (0, 3), *after]
    assert pickle.loads(before)[5] == [(0, 1), (0, 2), (0, 3)]


@pytest.mark.parametrize(
    "record", [{"x": float("nan")}, {"x": object()}, {"x": {1, 2}}, [1, 2], "text", 3]
)
def test_unstorable_record_is_refused(path, record):
    with cb.Journal(path, policy := MAKERS["CoPSI"]()) as run:
        arm = run.ask()
        before = path.read_bytes(), snapshot(policy)
        with pytest.raises(TableError) as caught:
            run.tell(arm, [0.5, 0.5], record=record)
        assert caught.value.faults[0].code in ("not-plain", "bad-record")
        assert (path.read_bytes(), snapshot(policy)) == before


@pytest.mark.parametrize(
    ("name", "code"),
    [("CoPSI", "no-shared-instances"), ("CoPSIOnce, certain", "needs-all-instances")],
)
def test_refused_omissions_are_not_written(path, name, code):
    with cb.Journal(path, MAKERS[name]()) as run:
        pull, before = run.ask(), path.read_bytes()
        with bad_argument(code, "pull"):
            run.leave_out(pull)
        with bad_argument("not-in-flight", "arm", ["2"]):
            run.leave_out(2)
        assert path.read_bytes() == before and run.in_flight == [pull]


# Damage.


@pytest.mark.slow
def test_changed_byte_is_reported_with_its_line(path, no_flush):
    make = MAKERS["CoPSI"]
    uninterrupted(path, make)
    content = path.read_bytes()
    # without the last newline the last line is a torn one
    for place in [*places(content)][:-2]:
        damaged = bytearray(content)
        damaged[place] ^= 1
        path.write_bytes(damaged)
        line = content[:place].count(b"\n") + 1
        with fault("damaged-journal", str(path), names=[f"line {line} of "]):
            cb.Journal(path, make())
        assert path.read_bytes() == damaged


def test_lost_duplicated_and_swapped_lines_are_reported(path, no_flush):
    make = MAKERS["CoHVUCB"]
    uninterrupted(path, make)
    lines = path.read_bytes().splitlines(keepends=True)
    for i, j in pairwise(range(1, len(lines))):
        changed = [
            lines[:i] + lines[j:],
            lines[:j] + lines[i:],
            [*lines[:i], lines[j], lines[i], *lines[j + 1 :]],
        ]
        for some in changed:
            path.write_bytes(b"".join(some))
            with fault("damaged-journal", str(path)):
                cb.Journal(path, make())
    path.write_bytes(b"".join(lines))
    cb.Journal(path, make()).close()


def test_remedy_for_a_damaged_line_works(path):
    make = MAKERS["CoPSI"]
    states = uninterrupted(path, make)
    path.write_bytes(path.read_bytes().replace(b'"tell": 0', b'"tell": 1', 1))
    with fault("damaged-journal", remedy="copy its first 2 lines into a new file"):
        cb.Journal(path, make())
    copy = path.with_name("kept")
    copy.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:2]))
    with cb.Journal(copy, policy := make()) as run:
        play(run)
    assert snapshot(policy) == states[-1]


@pytest.mark.slow
@pytest.mark.parametrize(
    "text", [b"not mine\n", b"not mine", b'{"journal": 1}\n', b'{"journal": 1, ']
)
def test_other_files_are_not_modified(path, text):
    path.write_bytes(text)
    with pytest.raises(TableError) as caught:
        cb.Journal(path, MAKERS["CoPSI"]())
    assert caught.value.faults[0].code in ("not-a-journal", "damaged-journal")
    assert path.read_bytes() == text


def test_result_survives_a_full_disk(path):
    """The message holds it; it can be reported without another `ask`."""
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    make = MAKERS["CoHVUCB"]
    record = {f"column {number}": number / 7 for number in range(100)}
    run = cb.Journal(path, make())
    arm = run.ask()
    content = path.read_bytes()
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(content) + 10, hard))
    try:
        with fault("not-written", str(path)) as caught:
            run.tell(arm, [0.25, 0.5], 0.2, record)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert len(path.read_bytes()) == len(content) + 10  # a part of the line was written
    lost = json.loads("{" + str(caught.value).partition(": {")[2])
    assert lost["reward"] == [0.25, 0.5] and lost["record"] == record
    with fault("closed-journal", str(path)):
        run.ask()
    with cb.Journal(path, make()) as run:
        assert path.read_bytes() == content and run.in_flight == [arm]
        run.tell(run.in_flight[0], [0.25, 0.5], 0.2)
        assert twice(path) == 0 and run.ask().key != arm.key


@pytest.mark.parametrize("call", ["ask", "tell"])
def test_interrupt_during_writing_closes_the_journal(path, monkeypatch, call):
    def interrupt(fd):
        raise KeyboardInterrupt

    run = cb.Journal(path, MAKERS["CoPSI"]())
    if call == "tell":
        run.ask()
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", interrupt)
        with pytest.raises(KeyboardInterrupt):
            run.ask() if call == "ask" else run.tell(0, [0.5, 0.5])
    with fault("closed-journal", str(path)):
        run.ask()
    with cb.Journal(path, MAKERS["CoPSI"]()) as run:
        assert run.policy.pulls.sum() == (call == "tell")


# Another run.


ONLINE = {"n_arms": 3, "n_objectives": 2, "budget": 4.0, "cost_range": (0.2, 1.0)}


ONCE = {"costs": COSTS, "budget": 9, "n_objectives": 2, "n_instances": 7}
OTHERS = {"n_arms": 4, "budget": 5.0, "cost_range": (0.2, 0.9), "reward_scale": 0.5}
OTHERS |= {"expected_costs": [1.0, 1.0, 1.0]}  # as without, before the first pull


@pytest.mark.parametrize(
    ("kind", "arguments", "option", "value"),
    [
        *((cb.CoHVUCB, ONLINE, *change) for change in OTHERS.items()),
        *(
            (cb.CoPSIOnce, ONCE, *change)
            for change in {"n_instances": 8, "confidence": 0.9}.items()
        ),
    ],
)
def test_other_options_are_refused_by_name(path, kind, arguments, option, value):
    cb.Journal(path, kind(**arguments)).close()
    content = path.read_bytes()
    with fault("other-policy", str(path), names=[f"options.{option}"]):
        cb.Journal(path, kind(**arguments | {option: value}))
    assert path.read_bytes() == content


def test_other_classes_and_names_are_refused(path):
    cb.Journal(path, cb.CoHVUCB(**ONLINE), names=["a", "b", "c"]).close()
    with fault("other-policy", names=["policy is 'CoHVUCB' there, but 'HVUCB' here"]):
        cb.Journal(path, cb.HVUCB(**ONLINE), names=["a", "b", "c"])
    for names in (["a", "c", "b"], None):
        with fault("other-policy", names=["names"]):
            cb.Journal(path, cb.CoHVUCB(**ONLINE), names=names)
    with fault("wrong-shape", "names", names=["2 names for 3 arms"]):
        cb.Journal(path, cb.CoHVUCB(**ONLINE), names=["a", "b"])


def test_used_policy_is_refused(path):
    policy = MAKERS["CoHVUCB"]()
    policy.ask()
    with fault("used-policy", str(path)):
        cb.Journal(path, policy)
    assert not path.exists()


def test_results_reported_to_the_policy_are_refused(path):
    with cb.Journal(path, MAKERS["CoHVUCB"]()) as run:
        run.policy.tell(run.ask(), [0.5, 0.5], 0.5)
        with fault("policy-used-directly", str(path)):
            run.ask()


class Fickle(cb.UniformAllocation):
    """Chooses by something that is no option of it."""

    first = 0

    def _choose(self):
        return Fickle.first


class Seeded(cb.UniformAllocation):
    """Has an argument of its own."""

    def __init__(self, rng):
        super().__init__(**ONLINE)
        self.rng = rng


class Forgetful(cb.UniformAllocation):
    def __init__(self, rng):
        super().__init__(**ONLINE)


def test_policy_with_other_decisions_is_refused(path, monkeypatch):
    with cb.Journal(path, Fickle(**ONLINE)) as run:
        run.tell(run.ask(), [0.5, 0.5], 0.5)
        run.ask()
    monkeypatch.setattr(Fickle, "first", 2)
    content = path.read_bytes()
    with fault("policy-differs", f"{path}, line 2", names=["of arm 0", "of arm 2"]):
        cb.Journal(path, Fickle(**ONLINE))
    assert path.read_bytes() == content


def test_policy_that_refuses_earlier_results_is_reported(path, monkeypatch):
    with cb.Journal(path, Fickle(**ONLINE)) as run:
        run.tell(run.ask(), [0.5, 0.5], 0.5)

    def refuse(self, arm, reward, cost=None):
        raise CobanditError("not today")

    monkeypatch.setattr(Fickle, "tell", refuse)
    with fault("policy-refuses", f"{path}, line 3", names=["not today"]):
        cb.Journal(path, Fickle(**ONLINE))


def test_custom_policies_can_be_journaled(path):
    with cb.Journal(path, Seeded(7)) as run:
        play(run)
    cb.Journal(path, Seeded(7)).close()
    with fault("other-policy", names=["options.rng is 7 there, but 8 here"]):
        cb.Journal(path, Seeded(8))
    with fault("not-plain", names=["option rng"], remedy="a seed, not a generator"):
        cb.Journal(path, Seeded(np.random.default_rng()))
    with pytest.raises(AttributeError) as caught:
        cb.Journal(path, Forgetful(7))
    assert caught.value.name == "rng"


# Lock and warnings.


HOLD = """
import sys, cobandit as cb
run = cb.Journal(sys.argv[1], cb.CoPSI([0.25, 1.0, 0.5], 9, 2, min_cost=0.2))
print(flush=True)
input()
"""


@pytest.mark.slow
def test_second_process_is_refused(path):
    command = [sys.executable, "-c", HOLD, str(path)]
    holder = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        holder.stdout.readline()
        with fault("open-elsewhere", str(path)):
            cb.Journal(path, MAKERS["CoPSI"]())
    finally:
        holder.kill()
        holder.communicate()
    cb.Journal(path, MAKERS["CoPSI"]()).close()


def test_second_process_is_refused_by_another_path(path):
    path.touch()
    link = path.with_name("link")
    link.symlink_to(path)
    with (
        cb.Journal(path, MAKERS["CoPSI"]()),
        fault("open-elsewhere", str(link)),
    ):
        cb.Journal(link, MAKERS["CoPSI"]())


def test_failed_lock_is_reported(path, monkeypatch):
    with fault("no-folder"):
        cb.Journal(path / "run.journal", MAKERS["CoPSI"]())
    assert not path.exists()
    path.mkdir()
    with fault("not-lockable", str(path), names=["Is a directory"]):
        cb.Journal(path, MAKERS["CoPSI"]())
    fcntl = pytest.importorskip("fcntl")

    def flock(*arguments):
        raise OSError(errno.ENOSYS, "no locks here")

    monkeypatch.setattr(fcntl, "flock", flock)
    second_path = path.with_name("other.journal")
    with fault("not-lockable", str(second_path), names=["no locks here"]):
        cb.Journal(second_path, MAKERS["CoPSI"]())
    assert not second_path.exists()


def test_journal_without_folder_flush(path, monkeypatch):
    """As on Windows: only the file itself is flushed."""
    monkeypatch.delattr(os, "O_DIRECTORY")
    states = uninterrupted(path, MAKERS["CoPSI"])
    with cb.Journal(path, policy := MAKERS["CoPSI"]()):
        assert snapshot(policy) == states[-1]


def test_warning_raised_as_error_follows_the_write_and_points_at_the_caller(path):
    make = MAKERS["CoHVUCB"]
    with cb.Journal(path, first := make()) as run:
        run.ask()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(GuaranteeWarning) as caught:
                run.tell(0, [0.5, 0.5], 1.5)
        assert "1.5" in str(caught.value)
        assert first.spent == 1.5
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with cb.Journal(path, second := make()):
            assert snapshot(first) == snapshot(second)
    with cb.Journal(path.with_name("other"), make()) as run:
        run.ask()
        with pytest.warns(GuaranteeWarning) as caught:
            run.tell(0, [0.5, 0.5], 1.5)
    assert [warning.filename for warning in caught] == [__file__]
