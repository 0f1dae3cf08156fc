"""Endpoints on loopback as evaluators: requests, scores, costs and errors."""

import json
import threading

import anyio
import pytest
from pydantic import ValidationError
from support.evaluating import opened
from support.faults import fault
from support.runs import asking
from support.stub_endpoint import completion, stub_endpoint

import cobandit as cb
from cobandit import live
from cobandit.errors import CobanditError
from cobandit.live.configurations import Configurations
from cobandit.live.evaluators import Failure, find_evaluator
from cobandit.live.evaluators.client import Client

USUAL = {"scorer": "number", "prompt": "{question}"}
ROWS = {
    "a": {"question": "1 + 1?", "answer": 2},
    "b": {"question": "2 + {2}?", "answer": "#### 4"},
}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "prices.yml").write_text("small: {input: 1, cached: 0.1, output: 10}\n")
    (tmp_path / "free.yml").write_text("small: {input: 0, output: 0}")
    return tmp_path


def ask(
    folder,
    answer_,
    configurations=({"model": "small"},),
    instances=ROWS,
    models=(200, {"data": []}),
    cost="tokens",
    objectives=(),
    use=None,
    **options,
):
    """Rows of the first configuration, and what the endpoint was asked."""

    async def evaluate(evaluator):
        return await evaluator.evaluate(configurations[0], list(instances))

    context = {
        "folder": folder,
        "configurations": configurations,
        "instances": instances,
    }
    context |= {"cost": cost, "objectives": objectives}
    with stub_endpoint(answer_, models) as address:
        arguments = USUAL | {"base_url": address} | options
        return opened("openai", arguments, use or evaluate, **context), address.requests


@pytest.mark.slow
def test_chat_request_becomes_a_row(folder, monkeypatch):
    monkeypatch.setenv("MY_KEY", " sk-123\n")
    configuration = {
        "model": "small",
        "temperature": 0.5,
        "max_tokens": None,
        "tone": "Be brief.",
        "top_k": 5,
    }
    turns = [
        {"role": "system", "content": "{tone}"},
        {"role": "user", "content": "Q: {question}\nA, as {{x}}:"},
    ]
    rows, requests = ask(
        folder,
        lambda body: completion("It is 2.", (20, 3), cached=16),
        [configuration],
        key="MY_KEY",
        prompt=turns,
        body={"cache_prompt": False, "top_k": 40},
        prices="prices.yml",
    )
    assert [row.pop("seconds") > 0 for row in rows] == [True, True]
    usual = {
        "prompt_tokens": 20,
        "cached_tokens": 16,
        "tokens": 3,
        "cost_usd": pytest.approx(35.6e-6),
    }
    usual |= {"truncated": 0, "empty": 0}
    assert rows == [usual | {"score": 1}, usual | {"score": 0}]
    (path, headers, body), (_, _, second) = requests
    assert (path, headers["authorization"]) == ("/v1/chat/completions", "Bearer sk-123")
    assert body == {
        "model": "small",
        "temperature": 0.5,
        "cache_prompt": False,
        "top_k": 5,
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Q: 1 + 1?\nA, as {x}:"},
        ],
    }
    # data are no template
    assert second["messages"][1]["content"] == "Q: 2 + {2}?\nA, as {x}:"


def test_prompts_are_selected_by_name(folder):
    configurations = [
        {"model": "small", "prompt": "long", "n": 1},
        {"model": "small", "prompt": "short"},
    ]
    prompts = {"short": "{question}", "long": "Think {n} times. {question}"}
    _, requests = ask(
        folder, lambda body: completion("2"), configurations, prompt=prompts
    )
    assert "authorization" not in requests[0][1]
    messages = [{"role": "user", "content": "Think 1 times. 1 + 1?"}]
    assert requests[0][2] == {"model": "small", "messages": messages}


def test_empty_answer_scores_zero_without_another_try(folder):
    rows, _ = ask(folder, lambda body: completion(None, (20, 0)))
    assert (rows[0]["score"], rows[0]["tokens"], rows[0]["empty"]) == (0, 1, 1)


@pytest.mark.slow
@pytest.mark.parametrize(
    "usage", [None, {}, {"prompt_tokens": 5, "completion_tokens": None}, "free", [5]]
)
def test_answer_without_usage_is_accepted(folder, usage):
    """They are estimated where they are the cost, and are missing elsewhere."""
    answer = completion("2") | {"usage": usage}
    rows, _ = ask(folder, lambda _: answer, cost="seconds")
    assert (
        rows[0].keys() == {"score", "seconds", "truncated", "empty"}
        and rows[0]["score"] == 1
    )
    rows, _ = ask(folder, lambda _: answer, cost="cost_usd", prices="prices.yml")
    prompt = 5 if isinstance(usage, dict) and usage else 2
    assert (rows[0]["score"], rows[0]["prompt_tokens"], rows[0]["tokens"]) == (
        1,
        prompt,
        1,
    )
    assert rows[0]["estimated"] == 1 and rows[0]["cost_usd"] == pytest.approx(
        (prompt + 10) / 1e6
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("status", "body", "headers", "retry", "wait"),
    [
        (429, {"error": {"message": "slow down"}}, {"Retry-After": "7"}, True, 7),
        (429, "", {"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT"}, True, None),
        (500, "oops", {}, True, None),
        (503, "busy", {"Retry-After": "1"}, True, 1),
        (408, "", {}, True, None),
        (400, {"error": {"message": "too long"}}, {"Retry-After": "7"}, False, None),
        (422, "no", {}, False, None),
        (200, "<html>not what was asked for</html>", {}, True, None),
        (200, {"choices": []}, {}, True, None),
        (200, {"error": {"message": "upstream"}}, {}, True, None),
        (200, {"error": {"code": 400}}, {}, False, None),
        (200, {"error": {"code": 503}}, {"Retry-After": "1"}, True, 1),
    ],
)
def test_failed_request_is_a_failure(folder, status, body, headers, retry, wait):
    with pytest.raises(Failure) as caught:
        ask(folder, lambda _: (status, body, headers))
    assert (caught.value.retry, caught.value.wait, caught.value.cost) == (
        retry,
        wait,
        None,
    )
    assert caught.value.unavailable is (status in (429, 503) or "503" in str(body))
    assert len(str(caught.value)) < 300


@pytest.mark.slow
@pytest.mark.parametrize(
    ("status", "body", "message"),
    [
        (
            401,
            "bad key",
            "a request for small with MY_KEY (status 401: bad key)",
        ),
        (403, "", "with MY_KEY (status 403: )"),
        (402, "pay", "status 402: pay"),
        (429, {"error": {"code": "insufficient_quota"}}, "status 429"),
        (404, "model not found", "status 404: model not found"),
        (200, {"error": {"code": 402}}, "status 402"),
        (301, "", "status 301: redirected to https://elsewhere.example/v1"),
    ],
)
def test_refused_key_stops_the_run_and_stays_hidden(
    folder, monkeypatch, status, body, message
):
    monkeypatch.setenv("MY_KEY", "sk-secret")
    with fault("request-refused", "http://", names=[message]) as caught:
        ask(
            folder,
            lambda _: (status, body, {"Location": "https://elsewhere.example/v1"}),
            key="MY_KEY",
        )
    assert "sk-secret" not in str(caught.value)


def test_broken_connection_is_tried_again(folder):
    def hang_up(body):
        raise ConnectionAbortedError

    with pytest.raises(Failure) as caught:
        ask(folder, hang_up)
    assert caught.value.retry and not caught.value.unavailable


@pytest.mark.slow
def test_requests_overlap_up_to_the_limit(folder):
    n = 101  # one more than a client's pool has by default
    meet = threading.Barrier(n, timeout=30)

    def answer(body):
        meet.wait()
        return completion("2")

    async def use(evaluator):
        async with anyio.create_task_group() as group:
            for _ in range(n):
                group.start_soon(evaluator.evaluate, {"model": "small"}, ["a"])

    assert len(ask(folder, answer, use=use)[1]) == n


def test_unreachable_server_is_reported(folder):
    with stub_endpoint(None) as address:
        pass

    async def ask_nobody():
        await Client(address, None, None).ask({"model": "small"})

    with pytest.raises(Failure) as caught:
        anyio.run(ask_nobody)
    assert str(address) in str(caught.value)
    assert caught.value.retry and caught.value.unavailable
    with fault("no-server", address):
        ask(folder, None, base_url=address)


@pytest.mark.slow
def test_endpoints_have_separate_keys(folder, monkeypatch):
    """The endpoint follows from the configuration but is no part of its name."""
    monkeypatch.setenv("FIRST", "sk-1")
    monkeypatch.setenv("SECOND", "sk-2")
    with (
        stub_endpoint(lambda _: completion("2")) as one,
        stub_endpoint(lambda _: completion("4")) as two,
    ):
        places = [
            {"model": "small", "base_url": str(one), "key": "FIRST"},
            {"model": "large", "base_url": f"{two}/", "key": "SECOND"},
        ]
        assert Configurations(list=places).names == ("small", "large")

        async def use(evaluator):
            return [await evaluator.evaluate(entry, ["a", "b"]) for entry in places]

        rows = opened(
            "openai", USUAL, use, folder=folder, configurations=places, instances=ROWS
        )
    assert [[row["score"] for row in entry] for entry in rows] == [[1, 0], [0, 1]]
    keys = [
        [headers["authorization"] for _, headers, _ in condition.requests]
        for condition in (one, two)
    ]
    assert keys == [["Bearer sk-1"] * 2, ["Bearer sk-2"] * 2]
    assert all(
        "base_url" not in body and "key" not in body for _, _, body in one.requests
    )


def test_turns_are_sent_and_truncated_answers_marked(folder):
    cut = completion("It is 2", (20, 3))
    cut["choices"][0]["finish_reason"] = "length"
    messages = [("user", "1 + 2?"), ("assistant", "3"), ("user", "{question}")]
    turns = [{"role": role, "content": content} for role, content in messages]
    rows, requests = ask(folder, lambda _: cut, prompt=turns)
    assert requests[0][2]["messages"] == [
        *turns[:2],
        {"role": "user", "content": "1 + 1?"},
    ]
    assert rows[0]["truncated"] == 1
    answer = rows[0].answer
    assert (answer["text"], answer["target"], answer["finish"]) == (
        "It is 2",
        "2",
        "length",
    )
    assert len(answer["prompt"]) == 16


SCORER = """
def half(text, answer):
    return 0.5 if answer in text else 0.0

def columns(text, answer):
    return {"score": 1.0, "length": len(text)}

def bad(text, answer):
    return 1 / 0
"""


def test_function_scores_answers(folder, monkeypatch):
    monkeypatch.syspath_prepend(str(folder))
    (folder / "own_scorer.py").write_text(SCORER)
    rows, _ = ask(folder, lambda _: completion("It is 2"), scorer="own_scorer:half")
    assert rows[0]["score"] == 0.5
    rows, _ = ask(
        folder,
        lambda _: completion("2"),
        scorer="own_scorer:columns",
        objectives=["length"],
    )
    assert rows[0]["length"] == 1
    with fault("no-function", "own_scorer:hal", remedy="'half'?"):
        ask(folder, lambda _: completion("2"), scorer="own_scorer:hal")
    with fault("scorer-failed", "own_scorer:bad", names=["ZeroDivisionError"]):
        ask(folder, lambda _: completion("2"), scorer="own_scorer:bad")
    with fault("no-price", names=["'small'"]):
        ask(folder, None, scorer="own_scorer:half", cost="cost_usd")


@pytest.mark.parametrize(
    ("cost", "maximum"),
    [("tokens", 32), ("cost_usd", 342e-6), ("seconds", float("inf"))],
)
def test_cost_of_an_evaluation_is_bounded_in_advance(folder, cost, maximum):
    """A prompt of 6 bytes in a chat has at most 22 tokens, an answer its limit."""
    configuration = {"model": "small", "max_tokens": 32}

    async def use(evaluator):
        return evaluator.bound_cost(configuration, "a")

    assert ask(folder, None, [configuration], cost=cost, prices="prices.yml", use=use)[
        0
    ] == pytest.approx(maximum)


def write(folder, question="1 + {}?", **columns):
    """Eight questions."""
    lines = [
        {"instance": i, "question": question.format(i), "answer": "2"} | columns
        for i in "abcdefgh"
    ]
    (folder / "questions.jsonl").write_text("\n".join(map(json.dumps, lines)))


@pytest.mark.slow
def test_stored_answers_are_rescored_without_a_call(folder):
    """Also those that were evaluated before the process was stopped."""

    def answer(body):
        if len(address.requests) == stop:
            return 401, "stopped here"
        return completion(
            "It is 2" if body["model"] == "small" else "2",
            (9, 1 + len(address.requests) % 3),
        )

    write(folder)
    with stub_endpoint(answer) as address:
        plan = asking(address, scorer="exact") | {"budget": 1}
        (folder / "plan.yml").write_text(json.dumps(plan))
        stop = 9
        with fault("request-refused", address, ["stopped here"]):
            live.run(folder / "plan.yml", folder / "run")
        stop = -1
        done = live.run(folder / "plan.yml", folder / "run")
        (folder / "silent.yml").write_text(json.dumps(plan | {"answers": False}))
        live.run(folder / "silent.yml", folder / "silent")
        n_requests = len(address.requests)
        table = live.rescore(folder / "run", {"scorer": "number"})
        assert len(address.requests) == n_requests
    answers = live.read_answers(folder / "run")
    assert len(answers) == len(cb.read(done.table).rows) > 8 and set(
        answers["text"]
    ) == {"It is 2", "2"}
    scores = [
        cb.read(result).rows.groupby("config")["accuracy"].mean().to_dict()
        for result in (done.table, table)
    ]
    assert scores == [{"small": 0.0, "large": 1.0}, {"small": 1.0, "large": 1.0}]
    with fault("scorer-options", "the scorer"):
        live.rescore(folder / "run", {"scorer": "regex"})
    assert not (folder / "silent" / "answers.jsonl").exists()
    with fault("no-answers-kept", str(folder / "silent")):
        live.rescore(folder / "silent", {"scorer": "number"})


@pytest.mark.slow
def test_changed_text_is_refused_at_restart(folder):
    """Unused columns may change, and runs without stored texts still resume."""

    def answer(body):
        return (
            completion("2", (9, 1 + len(address.requests) % 3))
            if len(address.requests) < until
            else (401, "")
        )

    def start(name="run"):
        live.run(folder / f"{name}.yml", folder / name)

    def expect_change():
        return fault("changed-instances", names=["8 of 8 instances", "'a'"])

    with stub_endpoint(answer) as address:
        plan = asking(address) | {"equal_scores": True}
        (folder / "run.yml").write_text(json.dumps(plan))
        (folder / "more.yml").write_text(
            json.dumps(plan | {"reuse": "run/table.parquet"})
        )
        write(folder)
        until = 4
        with fault("request-refused", names=["status 401"]):
            start()
        until = 1000
        write(folder, "What is 1 + {}?", remark="better")
        with expect_change():
            start()
        assert len(address.requests) == 4
        write(folder, remark="other")
        start()
        write(folder, "What is 1 + {}?")
        with expect_change():
            start("more")
        assert not (folder / "more").exists()
        (folder / "run" / "instances.json").unlink()
        start()
        write(folder)
        with expect_change():
            start()


@pytest.mark.slow
def test_prices_have_a_checksum(folder):
    async def use(evaluator):
        return evaluator.digests

    matches = []
    for price in (10, 1000):
        (folder / "prices.yml").write_text(f"small: {{input: 1, output: {price}}}")
        matches.append(ask(folder, None, prices="prices.yml", use=use)[0])
    assert {name for name in matches[0] if matches[0][name] != matches[1][name]} == {
        "prices.yml"
    }


def arm(**settings):
    return {"configurations": [settings]}


@pytest.mark.parametrize(
    ("arguments", "code", "named", "remedy"),
    [
        (arm(temperature=0), "no-model", "model", "'model'"),
        (arm(model="m", temprature=0), "idle-setting", "'temprature'", "did you mean"),
        (arm(model="m", top_k=1), "idle-setting", "'top_k'", ""),
        (arm(model="m", prompt="x"), "idle-setting", "'prompt'", ""),
        (
            {"prompt": {"a": "{question}"}} | arm(model="m", prompt="x"),
            "no-prompt",
            "'x'",
            "",
        ),
        (arm(model="m", question="x"), "unknown-name", "{question}", ""),
        ({"prompt": {"a": "{question}"}}, "no-prompt", "''", "set 'prompt' to"),
        ({"prompt": "{qestion}"}, "unknown-name", "{qestion}", "did you mean"),
        ({"prompt": "{question[0]}"}, "bad-template", "{question[0]}", "write {name}"),
        ({"prompt": "{question:>3}"}, "bad-template", "{question:>3}", "write {name}"),
        ({"prompt": "{question"}, "bad-template", "{question", "write {name}"),
        (
            {"answer": "anwser"},
            "no-right-answer",
            "'anwser' is None",
            "instances: {file: ...}",
        ),
        (
            {"instances": {"a": {}, "b": {}}},
            "no-right-answer",
            "None",
            "instances: {file: ...}",
        ),
        (
            {"instances": {"a": {"question": 1, "answer": "x"}}},
            "no-right-answer",
            "'answer' is 'x'",
            "",
        ),
        ({"base_url": None}, "base-url", "None", "/v1"),
        ({"base_url": "127.0.0.1:80"}, "base-url", "'127.0.0.1:80'", "/v1"),
        (
            {"base_url": "http://x/v1/chat/completions"},
            "base-url",
            "completions",
            "/v1",
        ),
        ({"key": "NO_SUCH_KEY"}, "no-key", "'NO_SUCH_KEY'", "export NO_SUCH_KEY"),
        ({"cost": "token"}, "no-column", "'token'", "did you mean 'tokens'?"),
        (
            {"objectives": ["score", "second"]},
            "no-column",
            "'second'",
            "did you mean 'seconds'? name one of",
        ),
    ],
)
def test_option_faults_are_reported_before_any_request(
    folder, arguments, code, named, remedy
):
    requests = []
    with fault(code, names=[named], remedy=remedy):
        ask(folder, requests.append, **arguments)
    assert not requests


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"cost": "cost_usd"}, "has no price of 'small' -> write 'small: {input:"),
        (
            {"cost": "cost_usd", "prices": "free.yml"},
            "the price of 'small' is zero, but costs must be positive",
        ),
        ({"prices": "prices.yml"} | arm(model="smal"), "price of 'smal'"),
        ({"prices": "nowhere.yml"}, "there is no such file of prices"),
        (
            {"models": (401, "who are you?")},
            "its models with no key (status 401: who are you?)",
        ),
    ],
)
def test_price_and_key_faults_are_reported_before_any_request(
    folder, arguments, message
):
    requests = []
    with pytest.raises(CobanditError) as caught:
        ask(folder, requests.append, **arguments)
    assert message in str(caught.value) and not requests


def test_endpoint_without_model_list_is_accepted(folder):
    """And where there is one template, a setting may be called prompt as any."""
    arms = [{"model": "small", "prompt": "Say"}]
    prompt = "{prompt} {model} {question}"
    rows, requests = ask(
        folder, lambda _: completion("2"), arms, models=(404, "no list"), prompt=prompt
    )
    assert (
        len(rows) == 2
        and requests[0][2]["messages"][0]["content"] == "Say small 1 + 1?"
    )


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [
        ({"scorer": "regex"}, "scorer-options"),
        ({"scorer": "exact", "pattern": "x"}, "scorer-options"),
        ({"scorer": "exact", "tolerance": 0.1}, "scorer-options"),
        ({"scorer": "regex", "pattern": "("}, "pattern_regex"),
        ({"temperature": 0}, "extra_forbidden"),
    ],
)
def test_idle_options_are_refused(arguments, kind):
    with pytest.raises(ValidationError) as caught:
        find_evaluator("openai").options(
            **(USUAL | {"base_url": "http://x/v1"} | arguments)
        )
    (detail,) = caught.value.errors()
    error = detail.get("ctx", {}).get("error")
    faults = getattr(error, "faults", ())
    assert kind == (faults[0].code if faults else detail["type"])
