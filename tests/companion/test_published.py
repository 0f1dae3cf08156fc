"""What the paper prints, as data: complete, at its place, consistent with itself."""

from __future__ import annotations

import os
import re
from pathlib import Path

import numpy as np
import pytest

import cobandit as cb
from companion import paper
from companion.paper import experiments

NUMBERS = paper.published()
TITLE = r"\title{Cost-Aware Multi-Objective Bandits"


@pytest.fixture(scope="module")
def latex() -> str:
    """Return the paper's LaTeX, from the file or folder of COBANDIT_PAPER."""
    if not (named := os.environ.get("COBANDIT_PAPER")):
        pytest.skip("COBANDIT_PAPER does not name the paper's LaTeX source")
    files = (
        [Path(named)] if Path(named).is_file() else sorted(Path(named).glob("*.t*x*"))
    )
    return next(
        text for file in files if TITLE in (text := file.read_text(encoding="utf-8"))
    )


# Where each place begins and ends in the source. Captions lie within paragraphs and
# come first.
PLACES = {
    "Section 4.1": (r"\subsection{Cost-Aware Hypervolume UCB}", r"\begin{thm}"),
    "Theorem 1": (r"\begin{thm}[Regret bound", r"\end{thm}"),
    "Theorem 2": (r"\begin{thm}[Fixed-budget", r"\end{thm}"),
    "Section 6": (r"\section{Conclusion", r"\bibliography"),
    "Proof of Corollary 1": (r"\section{Proof of Corollary", r"\section{Proof"),
    "Lemma 2": (r"\begin{lem}[Deterministic", r"\end{lem}"),
    "Proof of Theorem 2": (r"\paragraph{Step 2: Budget", r"\end{document}"),
}
EXPERIMENTS = {
    "Table 1": (r"\begin{tabular}", r"\end{tabular}"),
    "Figure 2, caption": (r"\caption{Main", r"\label"),
    "Figure 4, caption": (r"\caption{Online decision", r"\label"),
    "Figure 5, caption": (r"\caption{Pareto F1", r"\label"),
    "Figure 6, caption": (r"\caption{Pareto identification", r"\label"),
    "Section 5.1, Datasets": (r"\paragraph{Datasets.}", r"\paragraph"),
    "Section 5.1, Evaluation settings": (
        r"\paragraph{Evaluation settings.}",
        r"\paragraph",
    ),
    "Section 5.2, Online selection": (r"\paragraph{Online selection.}", r"\paragraph"),
    "Section 5.2, Pareto set identification": (
        r"\paragraph{Pareto set identification.}",
        r"\section",
    ),
    "Appendix A, Experimental details": (
        r"\subsection{Experimental Details}",
        r"\paragraph",
    ),
    "Appendix A, Supplementary evaluation metrics": (
        r"\paragraph{Supplementary",
        r"\subsection",
    ),
    "Appendix A, Standard hypervolume regret": (r"\paragraph{Standard", r"\paragraph"),
    "Appendix A, Online decision trajectories": (
        r"\paragraph{Online decision",
        r"\paragraph",
    ),
    "Appendix A, Approximate recovery on the complete configuration sets": (
        r"\paragraph{Approx",
        r"\paragraph",
    ),
    "Appendix A, Robustness to stochastic token costs": (
        r"\paragraph{Robustness",
        r"\section",
    ),
}

# What looks like a number in Section 5 and Appendix A and is none that the paper
# reports.
NOT_REPORTED = {
    r"\\cite[pt]?\{[^}]*\}": "citations",
    r"\\(?:label|ref|eqref)\{[^}]*\}": "cross-references",
    r"\\(?:setlength|includegraphics)(?:\{[^}]*\}|\[[^]]*\])+": "page layout",
    r"GSM8K|GPT-2|CodeLlama-7B|Tulu-2-7B|(?:Tulu|Gemma|LLaMA|Mistral)-7B|\bF1\b": (
        "names"
    ),
    r"\\log_(?:\{10\}|2)|base-10": "bases of logarithms, which are units of an axis",
    r"\\\[(?:(?!\\in\\\{).)*?\\\]": (
        "displayed formulas; the grid of the tuning is displayed too, and stays"
    ),
    r"\b(?:five\s+budgets|four\s+methods)\b": "counts of what is listed",
    r"\b(?:three\s+(?:baselines|methods)|[Aa]ll\s+three)\b": "counts of what is listed",
    r"\btwo\s+(?:hypervolume|elimination|cost|terms)\b": "counts of what is listed",
    r"\bequals\s+one\s+only\b": "the largest possible F1",
}
NUMBER = re.compile(
    r"10\^-\d+|(?<![\d.,])\d{1,3},\d{3}(?![\d.,])|\d*\.\d+%?|\d+%?|"
    r"\b(?:one"
    r" (?:third|tenth)|one|two|three|four|five|six|seven|eight|nine|ten|eleven"
    r"|twelve)\b"
)


def tokens(latex: str) -> list[str]:
    latex = re.sub(r"10\^\{(-\d+)\}", r"10^\1", latex.replace(r"\%", "%"))
    return NUMBER.findall(re.sub(r"\s+", " ", latex))


def region(text: str, start: str, end: str) -> tuple[int, int]:
    position = text.index(start)
    return position, text.index(end, position + len(start))


def reported(latex: str) -> str:
    for pattern in NOT_REPORTED:
        latex = re.sub(pattern, " ", latex, flags=re.DOTALL)
    return latex


@pytest.fixture(scope="module")
def places(latex) -> dict[str, str]:
    """Return the text of each place in Section 5 and Appendix A, and the remainder."""
    ranges = [
        (r"\section{Experiments}", r"\section"),
        (r"\section{Additional", r"\section"),
    ]
    text = "\n".join(latex[slice(*region(latex, *ends))] + ends[1] for ends in ranges)
    cut = {}
    for place, ends in EXPERIMENTS.items():
        first, last = region(text, *ends)
        cut[place] = reported(text[first:last])
        text = text[:first] + text[last:]
    return cut | {"elsewhere": reported(text)}


def rows_at(place: str) -> list[paper.Published]:
    return [number for number in NUMBERS if number.place == place]


def test_every_place_is_known():
    assert {number.place for number in NUMBERS} == set(PLACES) | set(EXPERIMENTS)


@pytest.mark.parametrize("place", EXPERIMENTS)
def test_numbers_are_in_their_place_and_order(places, place):
    numbers = tokens(places[place])
    place_in_text = 0
    for number in rows_at(place):
        assert number.printed in numbers[place_in_text:], (
            f"{number.key}: {number.printed} is not in {numbers[place_in_text:]}"
        )
        place_in_text = numbers.index(number.printed, place_in_text)


@pytest.mark.parametrize("place", EXPERIMENTS)
def test_every_number_of_a_place_has_a_row(places, place):
    printed = {number.printed for number in rows_at(place)}
    budgets = {f"{number.rho:g}" for number in rows_at(place) if number.rho}
    assert not [
        token for token in tokens(places[place]) if token not in printed | budgets
    ]


def test_experiment_numbers_are_nowhere_else(places):
    assert tokens(places["elsewhere"]) == []


@pytest.mark.parametrize("pattern", NOT_REPORTED)
def test_every_exclusion_is_needed(latex, pattern):
    assert re.search(pattern, latex, flags=re.DOTALL)


@pytest.mark.parametrize("place", PLACES)
def test_constants_of_the_theory_are_in_their_place(latex, place):
    numbers = tokens(latex[slice(*region(latex, *PLACES[place]))])
    assert {number.printed for number in rows_at(place)} <= set(numbers)


def test_latex_is_not_copied(latex):
    def words(text: str) -> list[str]:
        named = r"\\text\w+|[\w-]*-UCB|uniform allocation"
        return re.findall(r"\w+", re.sub(named, " ", text, flags=re.IGNORECASE).lower())

    text = f" {' '.join(words(latex))} "
    sentences = {number.says for number in NUMBERS} | {
        claim.says for claim in paper.claims()
    }
    runs = [
        words(says)[start : start + 6]
        for says in sentences
        for start in range(len(words(says)) - 5)
    ]
    assert len(runs) > 100
    assert not [run for run in runs if f" {' '.join(run)} " in text]


def test_keys_are_unique_and_numbers_have_meanings():
    keys = [number.key for number in NUMBERS]
    assert len(set(keys)) == len(keys) > 180
    assert all(
        number.says and number.quantity and number.experiment for number in NUMBERS
    )


def test_place_has_each_quantity_once():
    observed = [
        (number.place, number.experiment, number.coordinates) for number in NUMBERS
    ]
    assert len(set(observed)) == len(observed)


def test_coordinates_name_methods_of_the_library():
    for number in NUMBERS:
        for method in (number.method, number.against):
            assert method is None or hasattr(cb, method)
        assert number.dataset in (None, "gsm8k", "piqa")
        assert number.costs in (None, "declared", "realised")
        assert (
            (number.operation is not None)
            == (number.role == "arithmetic")
            == (number.against is not None)
        )
        if number.method:
            assert number.dataset and number.rho
            assert (number.costs is not None) == (number.quantity in ("error", "f1"))


@pytest.mark.parametrize(
    ("printed", "value", "half_unit"),
    [
        ("64.7%", 0.647, 0.0005),
        (".014", 0.014, 0.0005),
        ("1097.75", 1097.75, 0.005),
        ("1,000", 1000, 0),
        ("95%", 0.95, 0),
        ("0.0148", 0.0148, 0.00005),
        ("nine", 9, 0),
        ("one third", 1 / 3, 0.05),
        ("10^-12", 1e-12, 0),
    ],
)
def test_value_and_rounding_follow_from_the_printed_text(printed, value, half_unit):
    for number in [number for number in NUMBERS if number.printed == printed]:
        assert (number.value, number.half_unit) == (value, half_unit)


def test_used_numbers_are_those_of_the_reconstruction():
    frame = paper.as_frame()
    used = frame[frame["role"] == "used"]
    assert set(used["experiment"]) == {"table1", "profiling", *experiments.EXPERIMENTS}

    # of the policies under test nothing may be used
    assert set(used["method"].dropna()) == {
        "UniformAllocation",
        "AccuracyCostUCB",
        "UniformIdentification",
    }
    tested = {"CoHVUCB", "HVUCB", "CoPSI", "PSISR"}
    assert set(frame.loc[frame["method"].isin(tested), "role"]) == {
        "predicted",
        "arithmetic",
    }
    run = frame["method"].isin(used["method"].dropna())
    assert set(frame.loc[run, "role"]) == {"used"}
    assert set(frame.loc[frame["role"] == "predicted", "method"].dropna()) == tested


def test_grids_are_accepted_by_replays():
    for name in ("online", "identification", "full-set"):
        printed = [
            n.value
            for n in NUMBERS
            if (n.experiment, n.quantity) == (name, "rho") and n.item
        ]
        assert tuple(printed) == experiments.EXPERIMENTS[name].rho


def test_errors_are_whole_numbers_of_replays():
    replays = next(
        number.value
        for number in NUMBERS
        if number.key == "identification-replications"
    )
    errors = [
        number.value
        for number in NUMBERS
        if number.quantity == "error" and not number.operation
    ]
    assert len(errors) > 15
    np.testing.assert_allclose(
        np.array(errors) * replays, np.round(np.array(errors) * replays)
    )


def test_arithmetic_is_recomputed_for_every_derived_number():
    table = paper.arithmetic().set_index("printed")
    assert len(table) == sum(number.role == "arithmetic" for number in NUMBERS)
    assert (table["low"] <= table["computed"]).all() and (
        table["computed"] <= table["high"]
    ).all()
    assert table.loc["64.7%", "computed"] == pytest.approx(1 - 59.88 / 169.45)
    assert table.loc["18.7%", "computed"] == pytest.approx(0.486 / 0.409 - 1)
    assert table.loc["0.077", "computed"] == pytest.approx(0.486 - 0.409)
    assert table.loc["one tenth", "computed"] == pytest.approx(0.156 / 1.466)
    assert table.loc["84.6%", ["low", "high"]].tolist() == pytest.approx(
        [1 - 0.0045 / 0.0255, 1 - 0.0035 / 0.0265]
    )


def test_arithmetic_marks_what_rounding_cannot_explain(monkeypatch):
    wrong = tuple(
        (
            paper.Published(**{**vars(number), "printed": "70.0%"})
            if number.printed == "64.7%"
            else number
        )
        for number in NUMBERS
    )
    monkeypatch.setattr("companion.paper.derived.published", lambda: wrong)
    table = paper.arithmetic()
    assert table.loc[~table["inside"], "printed"].tolist() == ["70.0%"]


@pytest.mark.slow
def test_inconsistencies_compare_equal_coordinates_only():
    table = paper.inconsistencies()

    assert ("1097.75", "1149.32") in set(table["printed"])
    numbers = {number.key: number for number in NUMBERS}
    for pair in table.to_dict("records"):
        first = numbers[pair["first"]]
        second = numbers[pair["second"]]
        assert first.coordinates == second.coordinates
        assert abs(pair["difference"]) > first.half_unit + second.half_unit

    # repeated numbers that agree are none
    assert not any("error" in key for key in table["first"])
    assert (
        sum(number.quantity == "arms" and number.printed == "108" for number in NUMBERS)
        == 4
    )


def test_constants_of_the_theory_match_the_library():
    values = paper.theory_values()
    rows = [
        number
        for number in NUMBERS
        if number.experiment == "theory" and number.quantity in values
    ]
    assert {number.quantity for number in rows} == set(values)
    for number in rows:
        assert values[number.quantity] == pytest.approx(number.value, rel=1e-9), (
            number.key
        )
