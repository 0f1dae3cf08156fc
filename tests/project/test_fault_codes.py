"""Input errors of tables and live runs go through one raiser, with a code."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2] / "cobandit"
MODULES = sorted((ROOT / "tables").rglob("*.py")) + sorted(
    (ROOT / "live").rglob("*.py")
)
#: Adds a sentence to an error of an evaluator, whose faults it keeps.
EXEMPT = {"_promise_results"}
#: Position of the code in a call.
CODE = {"raise_fault": 3, "Fault": 6}


def list_faults_without_code(source):
    """Yield the line of each input error without a code."""
    tree = ast.parse(source)
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
        is_addition = ast.unparse(call.func).endswith("faults.add")
        if name in CODE:
            has_code |= len(call.args) > CODE[name]
        is_error = name in ("CobanditError", "TableError", *CODE) or is_addition
        if is_error and not has_code:
            yield call.lineno


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_every_input_error_has_a_code(path):
    lines = list(list_faults_without_code(path.read_text(encoding="utf-8")))
    assert not lines, f"raise these through raise_fault, with a code: {lines}"


def test_error_without_code_is_noticed():
    source = (
        'raise CobanditError("no")\n'
        'raise_fault("a", "b", "c")\n'
        'faults.add("b", "c")\n'
        'raise_fault("a", "b", "c", "code")\n'
        'faults.add("b", "c", code="code")\n'
    )
    assert sorted(list_faults_without_code(source)) == [1, 2, 3]
