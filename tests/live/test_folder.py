"""The folder of a run in a notebook: status, configurations and front."""

import html
import re

import pytest
from support.faults import bad_argument
from support.runs import PLAN, Fake

from cobandit import live
from cobandit.errors import CobanditError

pytestmark = pytest.mark.slow

RACE = PLAN | {
    "method": "ParetoRace",
    "budget": None,
    "unit": "",
    "stop": {"tolerance": 0.2},
}


def text_of(page):
    return html.unescape(re.sub(r"<[^>]+>", " ", page))


def test_folder_of_finished_run_shows_status_configurations_and_front(tmp_path):
    done = live.run(RACE, tmp_path / "run", evaluator=Fake())
    folder = live.RunFolder(tmp_path / "run")
    page = folder._repr_html_()
    text = text_of(page)
    assert "toy, ParetoRace, over" in text and "settled: 6 of 6" in text
    for name, pulls in zip(done.plan.names, done.policy.pulls, strict=True):
        assert re.search(
            rf"{name}\s+{pulls}\s+(returned|left) after {pulls} instances", text
        ), name
    assert page.count("<svg") >= 1
    assert repr(folder) == f"RunFolder({(tmp_path / 'run').as_posix()!r})"
    assert (
        repr(done).startswith(f"Run('toy', returns {len(done.recommendation)} of 6")
        and len(repr(done)) < 100
    )


def test_folder_in_its_pilot_shows_evaluations_without_a_picture(tmp_path):
    def fail(configuration, instance, tried):
        if len(fake.evaluated) > 7:
            raise CobanditError("stopped here", code="stopped")

    fake = Fake(fail=fail)
    with bad_argument("stopped"):
        live.run(RACE, tmp_path / "run", evaluator=fake)
    page = live.RunFolder(tmp_path / "run")._repr_html_()
    assert "toy, ParetoRace, pilot" in text_of(page) and "<svg" not in page


def test_folder_without_a_run_shows_its_name_alone(tmp_path):
    folder = live.RunFolder(tmp_path / "none")
    assert folder._repr_html_() is None and not folder.begun
