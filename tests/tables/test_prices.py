"""Files of prices, and what usage comes to."""

import subprocess
import sys
from datetime import date

import numpy as np
import pytest
from support import logs

from cobandit.errors import TableError
from cobandit.tables.importers import import_logs
from cobandit.tables.prices import Price, Prices, package, read_prices
from cobandit.tables.usage import Usage

FILE = """
small: {input: 0.25, cached: 0.025, output: 2}
org/large-v1.5:
  input: 3
  output: 15
free: {input: 0, output: 0}
"""


@pytest.fixture
def write(tmp_path):
    def write(content):
        path = tmp_path / "prices.yml"
        path.write_text(content)
        return path

    return write


def test_cached_input_defaults_to_the_price_of_input(write):
    prices = read_prices(write(FILE))
    assert prices.own["org/large-v1.5"] == Price(input=3, output=15)
    assert prices.usd(Usage(10**6, 0, 0), "small") == 0.25
    assert prices.usd(Usage(0, 10**6, 0), "small") == 0.025
    assert prices.usd(Usage(0, 0, 10**6), "small") == 2
    assert prices.usd(Usage(0, 0, 0, written=10**6), "small") == 0.3125
    assert prices.usd(Usage(100, 50, 10), "org/large-v1.5") == pytest.approx(600e-6)
    assert prices.usd(Usage(100, 50, 10), "free") == 0


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "the file is empty"),
        ("- small", "the file has no prices"),
        ("small: 3", "model 'small'"),
        (
            "small: {input: 3}",
            (
                "model 'small', field 'output': the field is missing -> give the price"
                " of a million"
            ),
        ),
        (
            "small: {input: -1, output: 3}",
            "field 'input': Input should be greater than or equal to 0",
        ),
        ("small: {input: .nan, output: 3}", "field 'input'"),
        (
            "small: {input: 1, ouput: 3, output: 3}",
            "unknown key 'ouput' -> did you mean 'output'?",
        ),
        (
            "small: {input: 1, output: 3}\nsmall: {input: 1, output: 3}",
            "the key 'small' is given twice",
        ),
        ("smal: {input: 1, output: 3}", "has a price of 'small'"),
    ],
)
def test_invalid_price_file_is_refused(write, content, message):
    path = write(content)
    with pytest.raises(TableError) as caught:
        read_prices(path).require([("small", None)])
    assert message in str(caught.value)
    assert str(path) in str(caught.value)


DAY = date(2026, 11, 27)


@pytest.mark.parametrize(
    ("model", "base_url", "vendor"),
    [
        ("gpt-4o-mini", None, "openai"),
        ("openai/gpt-4o-mini", None, "openai"),
        ("openai/azure/gpt-4o-mini", None, "azure"),
        ("openai/gpt-4o-mini", "https://openrouter.ai/api/v1", "openrouter"),
        ("openrouter/openai/gpt-4o-mini", None, "openrouter"),
        ("gpt-4o-mini", "http://127.0.0.1:4000/v1", "openai"),
    ],
)
def test_models_are_priced_with_and_without_vendor(model, base_url, vendor):
    prices = Prices(day=DAY)
    assert prices.usd(Usage(10**6, 0, 10**6), model, base_url) == pytest.approx(0.75)
    assert (
        prices.describe([(model, base_url)])
        == f"{package()} as of 2026-11-27 ({model} of {vendor})"
    )


def test_cache_prices_follow_the_vendor():
    prices = Prices(day=DAY)
    usage = Usage(600, 300, 100, 100)
    assert prices.usd(usage, "claude-sonnet-4-5") == pytest.approx(
        (3 * 600 + 0.3 * 300 + 3.75 * 100 + 1500) / 1e6
    )


def test_price_file_precedes_known_prices(write):
    prices = read_prices(write("gpt-4o-mini: {input: 9, output: 9}"), DAY)
    assert prices.usd(Usage(10**6, 0, 0), "gpt-4o-mini") == 9
    assert prices.usd(Usage(10**6, 0, 0), "gpt-4o") == 2.5


def test_checksum_of_an_older_file_is_unchanged(write):
    """A run keeps it, and goes on only with prices that are what they were."""
    prices = read_prices(write("small: {input: 1, cached: 0.1, output: 10}"))
    assert repr(prices.own) == "{'small': Price(input=1.0, cached=0.1, output=10.0)}"


@pytest.mark.slow
def test_prices_load_lazily_without_network():
    code = """
import sys, socket
def refuse(*_): raise OSError("no network")
socket.socket.connect = socket.getaddrinfo = refuse
from cobandit.tables.prices import Prices
from cobandit.tables.usage import Usage
import cobandit.live.runner
assert "genai_prices" not in sys.modules
print(Prices().usd(Usage(10**6, 0, 0), "gpt-4o-mini"))
"""
    assert (
        float(
            subprocess.run(
                [sys.executable, "-c", code], check=True, capture_output=True
            ).stdout
        )
        > 0
    )


@pytest.fixture
def priced(workspace):
    """Logs, and prices of their models."""
    models = ["example/sparrow-mini", "example/heron-large"]
    (workspace / "prices.yml").write_text(
        "".join(f"{m}: {{input: 2, cached: 0.5, output: 10}}\n" for m in models)
    )
    return workspace


def costs(table):
    """Cost of each evaluation."""
    return table.rows.set_index(["config", "instance"])["cost"].sort_index()


@pytest.mark.slow
@pytest.mark.parametrize(("source", "folder"), [("inspect", "json"), ("helm", "helm")])
def test_prices_turn_logged_tokens_into_money(priced, source, folder):
    metric = {"inspect": "match", "helm": "exact_match"}[source]
    generated, every = (
        costs(
            import_logs(
                source, [folder], f"{count}.parquet", metric=metric, count=count
            ).table
        )
        for count in ("generated", "all")
    )
    priced = {"metric": metric, "cost": "usd", "prices": "prices.yml"}
    table = import_logs(source, [folder], "my.parquet", **priced).table
    assert table.card.cost.model_dump() == {"column": "cost_usd", "unit": "USD"}
    assert np.allclose(
        costs(table), (2 * (every - generated) + 10 * generated) / 1e6, rtol=1e-12
    )


def test_logged_money_precedes_prices(priced):
    used = []

    def cache(i, sample):
        (usage,) = sample["model_usage"].values()
        usage |= {"input_tokens_cache_read": 10, "input_tokens_cache_write": 4}
        usage["total_tokens"] += 14
        usage |= {} if i else {"total_cost": 0.25}
        used.append(usage)

    logs.change_samples(cache, logs.HEADS)
    table = import_logs(
        "inspect", ["json"], "my.parquet", cost="usd", prices="prices.yml"
    ).table
    (name,) = [name for name in table.configs if "sparrow" in name]
    usage = used[1]
    expected = (
        2 * (usage["input_tokens"] + 1.25 * 4) + 0.5 * 10 + 10 * usage["output_tokens"]
    ) / 1e6
    assert costs(table)[name, "1"] == 0.25
    assert costs(table)[name, "2"] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("source", "options", "message"),
    [
        (
            "inspect",
            {"cost": "usd"},
            "unknown -> give the price with --prices",
        ),
        (
            "inspect",
            {"cost": "usd", "prices": "other.yml"},
            "unknown -> give the price with --prices",
        ),
        (
            "inspect",
            {"cost": "usd", "prices": "nowhere.yml"},
            "there is no such file of prices",
        ),
        (
            "helm",
            {"cost": "usd"},
            "unknown -> give the price with --prices",
        ),
        (
            "helm",
            {"prices": "prices.yml"},
            "--prices has no effect with --cost tokens -> add --cost usd",
        ),
    ],
)
def test_missing_prices_are_reported(priced, source, options, message):
    (priced / "other.yml").write_text("other: {input: 1, output: 1}\n")
    folder, metric = {"inspect": ("json", "match"), "helm": ("helm", "exact_match")}[
        source
    ]
    with pytest.raises(TableError) as caught:
        import_logs(source, [folder], "my.parquet", metric=metric, **options)
    assert message in str(caught.value)
    assert not (priced / "my.parquet").exists()
