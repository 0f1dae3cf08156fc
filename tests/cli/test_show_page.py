"""``cobandit show RUN --html``: the page of a run, while it goes on and at its end."""

import re
import time

import pytest
from support.commands import call
from support.faults import bad_argument
from support.runs import PLAN, Fake

from cobandit import live
from cobandit.cli.show import PAGE_SECONDS
from cobandit.errors import CobanditError
from cobandit.live.run_files import RunFiles
from cobandit.live.status import tabulate_configurations, tabulate_evaluations

RACE = {"method": "ParetoRace", "budget": None, "unit": "", "stop": {"tolerance": 0.2}}


def stop_after(number):
    """Create an evaluator whose service fails after some evaluations."""

    def fail(configuration, instance, tried):
        if len(fake.evaluated) > number:
            raise CobanditError("stopped here", code="stopped")

    fake = Fake(fail=fail)
    evaluate = fake.evaluate

    async def evaluate_cut_off(configuration, instances):
        rows = await evaluate(configuration, instances)
        return [
            row | {"truncated": float(configuration["model"] == "small")}
            for row in rows
        ]

    fake.evaluate = evaluate_cut_off
    return fake


def read(path):
    return path.read_text(encoding="utf-8")


@pytest.mark.slow
def test_page_of_finished_run_shows_states(tmp_path):
    done = live.run(PLAN | RACE, tmp_path / "run", evaluator=stop_after(10_000))
    shown = call("show", tmp_path / "run", "--html", tmp_path / "run.html")
    assert shown.exit_code == 0, shown.output
    page = read(tmp_path / "run.html")
    assert 'http-equiv="refresh"' not in page and "<h2>The run</h2>" in page

    progress = live.read_progress(tmp_path / "run")
    states = tabulate_configurations(progress)
    returned = states["state"].str.startswith("returned")
    assert set(states.index[returned]) == set(
        done.recommendation
    ) and 0 < returned.sum() < len(states)
    for name, row in states.iterrows():
        instances = int(re.search(r"after (\d+) instances", row["state"])[1])
        assert (
            instances
            == done.policy.pulls[list(done.plan.names).index(name)]
            == row["evaluations"]
        )
        assert row["state"] in page
    cut_off = states["answers cut off"]
    assert (
        cut_off == states["evaluations"].where(states.index.str.contains("small"), 0)
    ).all()
    assert tabulate_evaluations(progress).n_arms == len(states)


@pytest.mark.slow
def test_page_of_running_run_reloads(tmp_path, monkeypatch):
    with bad_argument("stopped"):
        live.run(
            PLAN | RACE | {"stop": {}}, tmp_path / "run", evaluator=stop_after(150)
        )
    at_work = [True, True, False]
    monkeypatch.setattr(RunFiles, "is_busy", property(lambda self: at_work.pop(0)))
    pages = []
    monkeypatch.setattr(
        time, "sleep", lambda seconds: pages.append(read(tmp_path / "run.html"))
    )
    shown = call("show", tmp_path / "run", "--html", tmp_path / "run.html")
    assert shown.exit_code == 0, shown.output
    assert [
        f'http-equiv="refresh" content="{PAGE_SECONDS}"' in page for page in pages
    ] == [
        True,
        True,
    ]
    last = read(tmp_path / "run.html")
    assert 'http-equiv="refresh"' not in last and ">active<" in last


def test_pilot_has_no_page(tmp_path):
    with bad_argument("stopped"):
        live.run(PLAN | RACE, tmp_path / "run", evaluator=stop_after(5))
    shown = call("show", tmp_path / "run", "--html", tmp_path / "run.html")
    (fault,) = shown.exception.faults
    assert (fault.code, fault.file) == ("few-evaluations", str(tmp_path / "run"))
    assert not (tmp_path / "run.html").exists()
