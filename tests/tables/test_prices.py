"""Files of prices, and what usage comes to."""

import pytest

from cobandit.faults import TableError
from cobandit.tables.prices import Price, Usage, cost_usd, read_prices

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


def test_prices_are_per_million_and_cached_input_costs_as_other_input_if_not_said(write):
    prices = read_prices(write(FILE), ["small", "free"])
    assert prices["org/large-v1.5"] == Price(input=3, cached=3, output=15)
    assert cost_usd(Usage(10**6, 0, 0), prices, "small") == 0.25
    assert cost_usd(Usage(0, 10**6, 0), prices, "small") == 0.025
    assert cost_usd(Usage(0, 0, 10**6), prices, "small") == 2
    assert cost_usd(Usage(100, 50, 10), prices, "org/large-v1.5") == pytest.approx(600e-6)
    assert cost_usd(Usage(100, 50, 10), prices, "free") == 0


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "it holds no prices"),
        ("- small", "it holds no prices"),
        ("small: 3", "model 'small'"),
        ("small: {input: 3}", "model 'small', field 'output': the field is missing -> give USD per million"),
        ("small: {output: 3}", "field 'input': the field is missing"),
        ("small: {input: -1, output: 3}", "field 'input': Input should be greater than or equal to 0"),
        ("small: {input: .nan, output: 3}", "field 'input'"),
        ("small: {input: 1, output: .inf}", "field 'output'"),
        ("small: {input: much, output: 3}", "field 'input'"),
        ("small: {input: 1, ouput: 3, output: 3}", "unknown key 'ouput' -> did you mean 'output'?"),
        ("small: {input: 1, output: 3}\nsmall: {input: 1, output: 3}", "the key 'small' is given twice"),
        ("smal: {input: 1, output: 3}", "it has no price of 'small' -> did you mean 'smal'? add it"),
        ("a: [", "is not valid YAML"),
    ],
)
def test_what_is_no_file_of_prices_is_refused(write, content, said):
    path = write(content)
    with pytest.raises(TableError) as caught:
        read_prices(path, ["small"])
    assert said in str(caught.value)
    assert str(path) in str(caught.value)
