"""Each error of both packages, and of the scripts behind the data, has a code."""

import ast
import pickle
import re
from functools import cache
from pathlib import Path

import pytest

from cobandit.errors import BudgetError, CobanditError

ROOT = Path(__file__).resolve().parents[2]
MODULES = [
    path
    for folder in ("cobandit", "companion", "data/scripts")
    for path in sorted((ROOT / folder).rglob("*.py"))
]
#: Raises faults, each of which has its code already.
EXEMPT = {"raise_if_any"}
#: Errors whose code is an argument.
ERRORS = {"CobanditError", "TableError", "DatasetUnavailable"}
#: Position of the code in a call.
CODE = {"raise_fault": 3, "Fault": 6}


def is_add_to_faults(function):
    """Tell whether a function that is called is `add` of a list of faults."""
    return getattr(function, "attr", "") == "add" and ast.unparse(
        function.value
    ).endswith("faults")


@cache
def parse(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def list_faults_without_code(tree):
    """Yield the line of each input error without a code."""
    exempt = {
        call
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef) and function.name in EXEMPT
        for call in ast.walk(function)
    }
    for call in ast.walk(tree):
        if not isinstance(call, ast.Call) or call in exempt:
            continue
        name = getattr(call.func, "id", "")
        has_code = any(keyword.arg == "code" for keyword in call.keywords)
        is_addition = is_add_to_faults(call.func)
        if name in CODE:
            has_code |= len(call.args) > CODE[name]
        is_error = name in ERRORS | CODE.keys() or is_addition
        if is_error and not has_code:
            yield call.lineno


@pytest.mark.slow
def test_every_error_has_a_code():
    places = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in MODULES
        for line in list_faults_without_code(parse(path))
    ]
    assert not places, f"give these a code: {places}"


@pytest.mark.slow
def test_codes_are_short_names():
    codes = [
        keyword.value.value
        for path in MODULES
        for call in ast.walk(parse(path))
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") in ERRORS
        for keyword in call.keywords
        if keyword.arg == "code"
    ]
    assert len(codes) > 50
    assert not [code for code in codes if not re.fullmatch(r"[a-z]+(-[a-z]+)*", code)]
    assert max(map(len, codes)) <= 24


@pytest.mark.parametrize(
    "error",
    [
        CobanditError("rho is -1", argument="rho", code="out-of-range"),
        BudgetError("budget 1 is too small: at least 3 is needed", 3.0),
    ],
)
def test_errors_keep_their_code_between_processes(error):
    copy = pickle.loads(pickle.dumps(error))
    assert copy.faults == error.faults and len(error.faults) == 1
    assert vars(copy) == vars(error) and str(copy) == str(error)


def test_error_without_code_is_noticed():
    source = (
        'raise CobanditError("no")\n'
        'raise_fault("a", "b", "c")\n'
        'faults.add("b", "c")\n'
        'raise_fault("a", "b", "c", "code")\n'
        'faults.add("b", "c", code="code")\n'
    )
    assert sorted(list_faults_without_code(ast.parse(source))) == [1, 2, 3]
