"""Mannerisms of code and prose become fewer: today's counts are ceilings."""

from __future__ import annotations

import language
import pytest

#: Lower a number when the count has fallen.
MOST = {
    "cobandit": language.Counts(
        small_names=0.01, phrases=1, unbroken=0.09, double_assignments=0.4
    ),
    "companion": language.Counts(
        small_names=0.004, phrases=1, unbroken=0.03, double_assignments=0.3
    ),
}
MOST_IN_PROSE = 3
#: Share of names in a folder of tests.
MOST_IN_TESTS = 0.01
TESTS = language.ROOT / "tests"
FOLDERS = sorted({path.parent for path in TESTS.rglob("*/*.py")})

SAMPLE = '''
def add(found, number):
    """Say what is there, and all that follows."""
    total, said = found, number
    return total + said
'''


def test_mannerisms_are_counted(tmp_path):
    module = tmp_path / "sample.py"
    broken = "\n".join(f"    value_{k} = {k}" for k in range(20))
    module.write_text(f"{SAMPLE}\n\ndef unbroken():\n{broken}\n", encoding="utf-8")

    counts = language.count([module])

    assert counts.small_names == 2 / 24
    assert counts.phrases == 2 / 8 * 10_000
    assert counts.unbroken == 1.0
    assert counts.double_assignments == pytest.approx(1 / 28 * 1_000)


@pytest.mark.slow
@pytest.mark.parametrize("package", MOST)
def test_mannerisms_of_the_code_are_below_the_ceiling(package):
    counts = language.count_package(package)._asdict()
    risen = {
        name: value
        for name, value in counts.items()
        if value > getattr(MOST[package], name)
    }
    assert not risen, "write it plainly (python benchmarks/language.py counts)"


def test_mannerisms_of_the_prose_are_below_the_ceiling():
    assert language.count_phrases_of_prose() <= MOST_IN_PROSE


@pytest.mark.slow
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_names_in_tests_tell_what_they_hold(folder):
    assert language.count(folder.glob("*.py")).small_names < MOST_IN_TESTS
