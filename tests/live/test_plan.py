"""Plans: accepted fields, and faults with their file, field and remedy."""

import json
import re
from pathlib import Path

import pandas as pd
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from support.faults import fault

from cobandit.errors import TableError
from cobandit.live.evaluators.endpoints import ANSWER_SECONDS
from cobandit.live.instances import Instances
from cobandit.live.plan import Plan, check_plan
from cobandit.tables.plain_yaml import load_yaml
from cobandit.tables.profiling import profiling_mask

FUNCTION = {"function": "my_module:evaluate"}
RACES = {"method": "ParetoRace", "budget": None, "unit": ""}
PROVED = RACES | {"stop": {"tolerance": 0.02, "certified": True, "front": "objectives"}}
CERTAIN = {"method": {"CoPSIOnce": {"confidence": 0.9}}}
GOOD = {
    "name": "word-sums",
    "configurations": {
        "grid": {"model": ["a", "b"], "temperature": [0, 0.5], "max_tokens": [8]}
    },
    "instances": 30,
    "method": "CoPSIOnce",
    "budget": 0.5,
    "unit": "share",
    "cost": {"column": "tokens", "unit": "tokens"},
    "objectives": [
        {"name": "accuracy", "column": "correct"},
        {"name": "efficiency", "column": "seconds", "transform": "inverse-percentile"},
    ],
    "evaluate": {"callable": FUNCTION},
}


def test_fields_of_a_plan_are_read():
    plan = check_plan(GOOD, "plan.yml")
    assert plan.names == (
        "a temperature=0",
        "a temperature=0.5",
        "b temperature=0",
        "b temperature=0.5",
    )
    assert plan.configurations.all[1] == {
        "model": "a",
        "temperature": 0.5,
        "max_tokens": 8,
    }
    assert plan.settings == ("model", "temperature", "max_tokens")
    assert (plan.method.name, plan.pilot, plan.at_once, plan.failures) == (
        "CoPSIOnce",
        5,
        1,
        "zero",
    )
    assert (
        sorted(plan.order) == sorted(map(str, range(30)))
        and plan.order != plan.instances.ids
    )
    assert plan.largest_costs is None and plan.is_once


def test_configurations_have_options_and_a_largest_cost():
    configurations = {
        "list": [{"model": "[a]", "limit": 8}, {"model": "b", "shots": 2, "limit": 32}]
    }
    changes = {"configurations": configurations, "largest_cost": "limit"}
    plan = check_plan(GOOD | CERTAIN | changes, "plan.yml")
    assert plan.names == ("[a] limit=8", "b limit=32 shots=2")
    assert plan.method.options == {"confidence": 0.9} and plan.largest_costs == [
        8.0,
        32.0,
    ]
    assert (
        check_plan(GOOD | {"largest_cost": 64}, "plan.yml").largest_costs == [64.0] * 4
    )


@pytest.mark.parametrize(
    "written",
    [{"file": "ids.txt"}, {"file": "ids.csv"}, {"file": "ids.jsonl", "column": "id"}],
)
def test_instances_are_read_from_files(tmp_path, written):
    """Ids stay text, and a file stands where the plan does."""
    ids = ["007", "q 2", "[x]"]
    (tmp_path / "ids.txt").write_text(
        "\ufeff007\r\n\r\n q 2\r\n[x]\r\n", encoding="utf-8"
    )
    pd.DataFrame({"instance": ids, "question": 1}).to_csv(
        tmp_path / "ids.csv", index=False
    )
    (tmp_path / "ids.jsonl").write_text(
        "".join(json.dumps({"id": entry}) + "\n" for entry in ids)
    )
    content = GOOD | {"instances": written, "pilot": 2, "budget": 1}
    assert check_plan(content, "plan.yml", tmp_path).instances.ids == tuple(ids)


@given(st.integers(2, 40), st.integers(0, 5), st.data())
def test_pilot_is_the_profiling_split_of_a_complete_table(n, seed, data):
    pilot = data.draw(st.integers(1, n))
    ids = sorted(str(number) for number in range(n))
    mask = profiling_mask(n, pilot, seed)
    order = Instances.model_validate(ids[::-1]).shuffle(seed)
    assert set(order[:pilot]) == {name for name, is_in in zip(ids, mask) if is_in}


def arms(**written):
    return {"configurations": written}


MISSPELT = {"name": "x", "column": "x", "transform": "inverse-percentil"}


#: Changes of a good plan, with the code of the fault, and what its place and remedy
#: name.
BAD = [
    (
        {"objectives": {"accuracy": "correct"}},
        "tuple_type",
        "'objectives'",
        "list at least one",
    ),
    ({"budget": None}, "no-end", "", "give a budget"),
    ({"stop": {"tolerance": 0.1}}, "no-end", "", "give a budget"),
    ({"method": "ParetoRace", "budget": None}, "no-end", "", "stop: {tolerance"),
    ({"unit": ""}, "budget-unit", "", "write share"),
    ({"buget": 1}, "extra_forbidden", "'buget'", "did you mean 'budget'?"),
    (
        {"evaluate": {"callable": {"funktion": "a:b"} | FUNCTION}},
        "extra_forbidden",
        "'evaluate.callable'",
        "",
    ),
    ({"unit": "USD"}, "budget-unit", "", "write share, or tokens"),
    ({"budget": 2}, "budget-share", "", "give a share up to 1"),
    ({"budget": -1}, "greater_than", "'budget'", "give a positive number"),
    ({"budget": float("inf")}, "less_than", "'budget'", "give a positive number"),
    (
        arms(grid={"model": "a"}),
        "tuple_type",
        "'configurations.grid.model'",
        "write {grid",
    ),
    (arms(gird={}), "extra_forbidden", "'configurations.gird'", "did you mean 'grid'?"),
    (
        arms(list=[{"model": "a"}]),
        "one-configuration",
        "'configurations'",
        "at least two",
    ),
    (
        arms(list=[{"model": n} for n in "aba"]),
        "equal-configurations",
        "'configurations'",
        "remove one",
    ),
    (
        arms(grid={"stop": ["x", ["y"]]}),
        "nested-value",
        "'configurations.grid.stop.1'",
        "give text",
    ),
    (
        arms(grid={" ": ["x", "y"]}),
        "string_pattern_mismatch",
        "'configurations.grid. ",
        "write {grid",
    ),
    (
        arms(grid={"n": [1, 2]}, list=[{"n": 3}]),
        "grid-or-list",
        "'configurations'",
        "write {grid",
    ),
    (
        arms(list=[{"model": "a"}, {}]),
        "too_short",
        "'configurations.list.1'",
        "write {grid",
    ),
    (arms(grid={"config": [1, 2]}), "equal-columns", "", "rename one"),
    (
        {"cost": {"column": "max_tokens", "unit": "tokens"}},
        "equal-columns",
        "",
        "rename one",
    ),
    ({"instances": "nowhere.txt"}, "no-instances", "'instances'", "number"),
    ({"instances": True}, "too_short", "'instances.rows'", "at least two ids"),
    (
        {"instances": ["a", " "]},
        "string_pattern_mismatch",
        "'instances.rows. ",
        "at least two ids",
    ),
    ({"instances": ["a", {"b": 1}]}, "no-id", "'instances'", "give text"),
    (
        {"instances": ["a", "b", "a"]},
        "equal-ids",
        "'instances'",
        "list each instance once",
    ),
    ({"pilot": 1}, "greater_than_equal", "'pilot'", "at least two"),
    ({"pilot": 31}, "pilot-size", "", "smaller"),
    ({"budget": 0.1}, "pilot-size", "", "or the budget larger"),
    (
        {"method": "CoHVUCB", "failures": "leave-out"},
        "repeated-instances",
        "",
        "failures: zero",
    ),
    (RACES | {"stop": {"certified": True}}, "certified-costs", "", "front: objectives"),
    (
        RACES | {"stop": {"cost": "10 per cent"}},
        "bad-tolerance",
        "'stop.cost'",
        "write a share such as '10%'",
    ),
    (
        RACES | {"stop": {"cost": -1}},
        "bad-tolerance",
        "'stop.cost'",
        "write a share such as '10%'",
    ),
    (
        RACES | {"stop": {"front": "cost"}},
        "literal_error",
        "'stop.front'",
        "write objectives",
    ),
    (PROVED | {"failures": "leave-out"}, "certified-leave-out", "", "write failures"),
    (PROVED | {"ordered": True}, "certified-order", "", "ordered"),
    (
        RACES | {"stop": {"certified": 3}},
        "bool_parsing",
        "'stop.certified'",
        "write true",
    ),
    (CERTAIN | {"failures": "leave-out"}, "confidence-leave-out", "", "write failures"),
    ({"at_once": 0}, "greater_than_equal", "'at_once'", "at least 1"),
    ({"largest_cost": "max_token"}, "largest-cost", "", "did you mean 'max_tokens'?"),
    ({"largest_cost": float("inf")}, "largest-cost", "", "give a number"),
    ({"largest_cost": "model"}, "largest-cost", "", "give a number"),
    (
        {"method": {"CoPSIOnce": {"confidence": 2}}},
        "method-options",
        "",
        "correct the method",
    ),
]


@pytest.mark.parametrize(("changes", "code", "place", "remedy"), BAD)
def test_bad_plan_has_one_fault_with_code_place_and_remedy(
    changes, code, place, remedy
):
    with pytest.raises(TableError) as caught:
        check_plan(GOOD | changes, "plan.yml")
    (fault,) = caught.value.faults
    assert fault.code == code, fault
    assert fault.file.startswith("plan.yml") and place in fault.file, fault.file
    assert remedy in fault.remedy, fault.remedy


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"method": "CoPSIOnse"},
            "unknown method 'CoPSIOnse'. Did you mean 'CoPSIOnce'?",
        ),
        (
            {"method": {"CoPSIOnce": {"confidance": 1}}},
            "unknown option of CoPSIOnce 'confidance'. Did you",
        ),
        ({"evaluate": {"calable": {}}}, "did you mean 'callable'?"),
        (
            {"objectives": [MISSPELT]},
            "field 'objectives.0': there is no transform 'inverse-percentil'",
        ),
        ({"objectives": []}, "the list of objectives is empty"),
        (
            {"objectives": GOOD["objectives"][:1] * 2},
            "two objectives have the same name",
        ),
        (
            {"instances": {"file": "nowhere.txt"}},
            "nowhere.txt: the file cannot be read",
        ),
    ],
)
def test_bad_names_are_corrected(changes, message):
    with pytest.raises(TableError) as error:
        check_plan(GOOD | changes, "plan.yml")
    assert message in str(error.value) and "plan.yml" in str(error.value)
    assert len(error.value.faults) == 1


@pytest.mark.parametrize(
    ("name", "content", "code", "words"),
    [
        ("q.jsonl", "", "empty-file", ""),
        ("q.jsonl", '{"instance": "a"', "bad-record", "line 1"),
        ("q.jsonl", "[1]", "bad-record", "line 1"),
        ("q.jsonl", '{"instance": 1}\n' * 2, "equal-ids", "line 2: the instance '1'"),
        (
            "q.jsonl",
            '{"id": "a", "answer": 1}',
            "no-id",
            "'instance' is missing; the file has id, answer",
        ),
        ("q.csv", "instance,answer\na\n", "row-length", "line 2"),
        ("q.csv", "instance,answer\na,1,2\n", "row-length", "line 2"),
        ("q.csv", 'instance,answer\n"a,1\n', "unreadable-file", "UTF-8"),
        ("q.txt", b"\x89PNG", "unreadable-file", "UTF-8"),
        ("q.tsv", "instance\tanswer\n", "file-format", ".tsv"),
        ("missing/q.csv", None, "unreadable-file", "No such file or directory"),
    ],
)
def test_bad_file_of_instances_is_refused(tmp_path, name, content, code, words):
    if content is not None:
        (tmp_path / name).write_bytes(
            content if isinstance(content, bytes) else content.encode()
        )
    with fault(code, "field 'instances'", names=[name, words]):
        check_plan(GOOD | {"instances": {"file": name}}, "plan.yml", tmp_path)


def test_all_faults_are_listed_at_once():
    with pytest.raises(TableError) as error:
        check_plan(GOOD | {"budget": -1, "at_once": 0, "seed": "x"}, "plan.yml")
    assert [(entry.file, entry.code) for entry in error.value.faults] == [
        ("plan.yml, field 'budget'", "greater_than"),
        ("plan.yml, field 'at_once'", "greater_than_equal"),
        ("plan.yml, field 'seed'", "int_parsing"),
    ]
    with fault("model_type", "plan.yml", ["[1, 2]"]):
        check_plan([1, 2], "plan.yml")


def test_page_shows_valid_evaluators():
    page = (Path(__file__).parents[2] / "notebooks" / "live.md").read_text(
        encoding="utf-8"
    )
    shown = [
        yaml.safe_load(block)
        for block in re.findall(r"```yaml\n(evaluate:.*?)```", page, re.DOTALL)
    ]
    assert [check_plan(GOOD | entry, "live.md").evaluate.name for entry in shown] == [
        "callable",
        "openai",
        "inspect",
    ]


def test_race_is_certified_by_its_plan():
    measured, proved = (
        check_plan(GOOD | RACES | {"stop": {"tolerance": 0.02} | extra}, "plan.yml")
        for extra in ({}, {"certified": True, "front": "objectives"})
    )
    costs = [1.0] * len(proved.names)
    race = proved.make_policy(costs, (1.0, 1.0), budget=None)
    assert race.certified and race.evidence is not None and race.tolerance == 0.02
    assert not measured.make_policy(costs, (1.0, 1.0), budget=None).certified
    # a plan that was written before a race could be certified is the plan of a measured
    # one
    written = measured.model_dump(mode="json")
    del written["stop"]["certified"]
    assert measured.differences(written) == [] and len(proved.differences(written)) == 2


def test_race_compares_costs_by_default():
    costs = [1.0] * len(check_plan(GOOD, "plan.yml").names)
    for extra, compares, tolerance in (
        ({}, True, 0.0),
        ({"cost": "10%"}, True, "10%"),
        ({"cost": 0.5}, True, 0.5),
        ({"front": "objectives"}, False, 0.0),
    ):
        plan = check_plan(
            GOOD | RACES | {"stop": {"tolerance": 0.02} | extra}, "plan.yml"
        )
        race = plan.make_policy(costs, (1.0, 1.0), budget=None)
        assert race.compares_cost == compares and race.cost_tolerance == tolerance


def test_schemas_and_several_prompts_are_not_nested_too_deeply(tmp_path):
    """An answer's schema in the request has eleven levels."""
    schema = {
        "type": "object",
        "properties": {
            "steps": {"type": "array", "items": {"anyOf": [{"type": "object"}]}}
        },
    }
    evaluate = {
        "base_url": "http://127.0.0.1:1/v1",
        "scorer": "number",
        "prompt": {
            name: [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "{question}"},
            ]
            for name in ("short", "long")
        },
        "body": {
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "steps", "schema": schema},
            },
            "extra_body": {"chat_template_kwargs": {"enable_thinking": False}},
        },
    }
    content = GOOD | {"evaluate": {"openai": evaluate}}
    (tmp_path / "plan.yml").write_text(yaml.safe_dump(content))
    assert (
        check_plan(
            load_yaml(tmp_path / "plan.yml", "plan"), "plan.yml"
        ).evaluate.options
        == evaluate
    )


@pytest.mark.parametrize(
    ("written", "column", "unit"),
    [
        ("usd", "cost_usd", "USD"),
        ("tokens", "tokens", "tokens"),
        ("seconds", "seconds", "seconds"),
    ],
)
def test_short_names_of_costs_are_read(written, column, unit):
    cost = check_plan(
        GOOD | {"cost": written, "objectives": GOOD["objectives"][:1]}, "plan"
    ).cost
    assert (cost.column, cost.unit) == (column, unit)


def test_description_of_the_timeout_has_the_default_of_endpoints():
    described = Plan.model_fields["timeout"].description
    assert re.findall(r"\d+", described) == [str(ANSWER_SECONDS)]
