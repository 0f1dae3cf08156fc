"""Figures: drawn numbers, colours of methods, provenance in the title."""

import re
import subprocess
import sys
import warnings
from itertools import combinations, pairwise
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import PathCollection
from matplotlib.colors import TABLEAU_COLORS, to_rgb
from matplotlib.transforms import Bbox
from support.faults import bad_argument
from support.table_shapes import SHAPES

import cobandit as cb
from cobandit import figures
from cobandit._text import amount
from cobandit.figures.style import INK, LOOKS, SHADES
from cobandit.policies.registry import is_builtin, list_methods
from cobandit.stats import summaries
from cobandit.testing.small_tables import table_of

ROOT = Path(__file__).parents[2]
#: Everything that draws, but for the registry of colours itself; commands colour what
#: they print.
DRAWS = [
    path
    for pattern in (
        "cobandit/figures/*.py",
        "companion/**/*.py",
        "notebooks/*.md",
        "book/*.md",
    )
    for path in sorted(ROOT.glob(pattern))
    if path.stem != "style" and path.parent.name != "cli"
]

# evaluation costs pass what profiling saw, and their means
pytestmark = pytest.mark.filterwarnings("ignore::cobandit.GuaranteeWarning")


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def online(small_table):
    """Budgets below one evaluation an arm are infeasible."""
    methods = ["CoHVUCB", cb.spec("CoHVUCB", reward_scale=0.1), "UniformAllocation"]
    return cb.replay_online(small_table, methods, rho=[8, 0.5, 2], replications=6)


@pytest.fixture(scope="module")
def found(synthetic):
    """From errors in every run to none at all."""
    methods = ["CoPSI", "UniformIdentification"]
    return cb.replay_identification(
        synthetic, methods, rho=[1, 4, 40, 4000], replications=6
    )


def lines(ax, label):
    """Data of the line with this label."""
    (line,) = (line for line in ax.get_lines() if line.get_label() == label)
    return line


def bands(ax):
    """For each band, what it spans at each of its corners: {x: (low, high)}."""
    spans = []
    for band in ax.collections:
        corners = [path.vertices for path in band.get_paths() if len(path.vertices)]
        points = pd.DataFrame(
            np.concatenate(corners) if corners else np.empty((0, 2)), columns=["x", "y"]
        )
        spans.append(
            {
                x: (group["y"].min(), group["y"].max())
                for x, group in points.groupby("x")
            }
        )
    return spans


@pytest.mark.slow
def test_budget_figure_draws_the_summary(online):
    ax = figures.by_budget(online, "efficiency_regret", "regret")
    cells = summaries.summarise(online, "efficiency_regret").sort_values("rho")
    labels = {
        ("CoHVUCB", ""): "CoHV-UCB (default)",
        ("CoHVUCB", "reward_scale=0.1"): "CoHV-UCB (reward_scale=0.1)",
        ("UniformAllocation", ""): "Uniform allocation",
    }
    assert len(ax.get_lines()) == len(bands(ax)) == 3
    drawn = bands(ax)
    for place, ((method, options), label) in enumerate(labels.items()):
        cell = cells[(cells["method"] == method) & (cells["options"] == options)]
        x, y = lines(ax, label).get_data()
        assert list(x) == [0.5, 2, 8]
        assert list(y) == pytest.approx(cell["mean"].tolist(), nan_ok=True)
        # a gap where the budget is too small
        assert np.isnan(y[0]) and 0.5 not in drawn[place]
        for rho, low, high in (
            cell[["rho", "low", "high"]].dropna().itertuples(index=False)
        ):
            assert drawn[place][rho] == pytest.approx((low, high))
    assert ax.get_ylabel() == "regret" and ax.get_xscale() == "log"
    assert list(ax.get_xticks()) == [0.5, 2, 8]


@pytest.mark.slow
def test_upper_axis_shows_budgets_in_units_of_cost(small_table):
    runs = cb.replay_online(small_table, ["UniformAllocation"], [2, 8], 2)
    ax = figures.by_budget(runs, "efficiency_regret", "regret")
    (above,) = ax.child_axes
    ax.figure.canvas.draw()
    assert above.get_xlim() == pytest.approx(
        np.multiply(ax.get_xlim(), small_table.costs.sum()), rel=5e-3
    )
    assert above.get_xlabel() == f"budget B ({small_table.card.cost.unit})"


def test_error_by_budget_draws_zero_errors_as_limits(found):
    ax = figures.error_by_budget(found)
    cells = summaries.summarise(
        found.assign(error=~found["correct"]), "error"
    ).sort_values("rho")
    arrows = [line for line in ax.get_lines() if line.get_marker() == r"$\downarrow$"]
    limits = {(x, y) for line in arrows for x, y in zip(*line.get_data(), strict=True)}
    unseen = cells[(cells["successes"] == 0) & (cells["runs"] > 0)]
    assert len(unseen) and limits == set(
        unseen[["rho", "high"]].itertuples(index=False, name=None)
    )
    for method, label in (
        ("CoPSI", "CoPSI"),
        ("UniformIdentification", "Uniform identification"),
    ):
        cell = cells[cells["method"] == method]
        expected = cell["mean"].where(cell["successes"] > 0)
        assert list(lines(ax, label).get_ydata()) == pytest.approx(
            expected.tolist(), nan_ok=True
        )
    assert ax.get_yscale() == "log"


@pytest.mark.slow
@pytest.mark.parametrize("rho", [[1], [1, 1.5]])
def test_infeasible_budgets_draw_empty_lines(rho, synthetic):
    runs = cb.replay_identification(synthetic, ["CoPSI"], rho=rho, replications=2)
    assert set(runs["status"]) == {"infeasible"}
    for ax in (figures.error_by_budget(runs), figures.by_budget(runs, "f1", "F1")):
        assert np.isnan(lines(ax, "CoPSI").get_ydata()).all()
        ax.figure.canvas.draw()


@pytest.mark.slow
def test_method_has_one_style_in_every_figure(online, found):
    everything = figures.by_budget(online, "efficiency_regret", "regret")
    alone = figures.by_budget(
        online[online["method"] == "UniformAllocation"], "standard_regret", "regret"
    )
    one, other = (lines(ax, "Uniform allocation") for ax in (everything, alone))
    assert (one.get_color(), one.get_marker()) == (
        other.get_color(),
        other.get_marker(),
    )
    variants = [
        line
        for line in everything.get_lines()
        if line.get_label().startswith("CoHV-UCB")
    ]
    assert len({line.get_color() for line in variants}) == 1
    assert len({line.get_linestyle() for line in variants}) == 2
    error = lines(figures.error_by_budget(found), "CoPSI")
    f1 = lines(figures.by_budget(found, "f1", "F1"), "CoPSI")
    assert error.get_color() == f1.get_color()


def test_methods_have_different_styles():
    methods = list(LOOKS)
    styles = [figures.method_style(method) for method in methods]
    for key in ("color", "marker"):
        assert len({entry[key] for entry in styles}) == len(methods)
    assert {
        name for name, policy in list_methods().items() if is_builtin(policy)
    } == set(methods)
    assert figures.method_label("CoPSI") == "CoPSI"
    assert figures.method_label("CoPSIAdaptive") == "CoPSI (adaptive L*)"


def contrast(color, ground):
    """Ratio of relative luminances, as WCAG 2 defines it."""

    def luminance(shade):
        linear = [
            x / 12.92 if x <= 0.03928 else ((x + 0.055) / 1.055) ** 2.4
            for x in to_rgb(shade)
        ]
        return np.dot(linear, (0.2126, 0.7152, 0.0722))

    low, high = sorted((luminance(color), luminance(ground)))
    return (high + 0.05) / (low + 0.05)


def test_colours_have_contrast_in_both_themes_and_methods_own_theirs():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    methods = [(look.light, look.dark) for look in LOOKS.values()]
    # the text's, in either theme
    shades = [(light, dark) for light, dark in SHADES.items() if light != INK]
    for light, dark in methods + shades:
        assert contrast(light, "#ffffff") >= 3 and contrast(dark, "#14181e") >= 3
    assert contrast(INK, "#ffffff") >= 3
    for colours in zip(*methods, *shades, (INK, INK), strict=False):
        assert len(set(colours)) == len(colours)
    figures.use_style()
    drawn = {line["color"] for line in plt.rcParams["axes.prop_cycle"]}
    assert drawn == set(SHADES)


@pytest.mark.slow
@pytest.mark.parametrize("source", DRAWS, ids=lambda path: path.stem)
def test_no_figure_uses_a_default_palette(source):
    """Nor writes one down that the registry has for a method."""
    text = source.read_text(encoding="utf-8")
    tableau = "|".join(TABLEAU_COLORS)
    assert not re.search(
        rf"\"C[0-9]\"|{tableau}|tab10|viridis|[\"'](?:red|blue|green|orange|purple)[\"']",
        text,
    )
    assert not [look for look in LOOKS.values() if f'"{look.light}"' in text]


@pytest.mark.slow
def test_style_of_a_user_method_follows_from_its_name():
    """In this process and any other, and never that of a method of the project."""
    names = [f"Own{number}" for number in range(40)]
    looks = [figures.method_style(name) for name in names]
    code = (
        "from cobandit import figures; print([figures.method_style(name) for name in"
        f" {names}])"
    )
    shown = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert shown.stdout.strip() == str(looks)
    assert not {look["marker"] for look in looks} & {
        look.marker for look in LOOKS.values()
    }
    assert len({tuple(look.values()) for look in looks}) > 20


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["measured", "reconstruction", "synthetic"])
def test_titles_mark_unmeasured_data(kind):
    arms = [[[1.0, 0.5, reward]] * 2 for reward in (0.25, 0.5)]
    table = table_of(arms, kind=kind, name="tables")
    runs = cb.replay_online(table, ["HVUCB"], rho=[2, 4], replications=2)
    results = cb.replay_identification(table, ["CoPSI"], rho=[4, 8], replications=2)
    axes = [
        figures.by_budget(runs, "efficiency_regret", "regret"),
        figures.error_by_budget(results),
        figures.landscape(table, "objective0", "objective1"),
    ]
    title = "tables" if kind == "measured" else f"tables ({kind})"
    assert [ax.get_title() for ax in axes] == [title] * 3


@pytest.mark.slow
def test_landscape_marks_every_arm(synthetic):
    ax = figures.landscape(synthetic, "accuracy", "efficiency")
    points = synthetic.summary()
    front = points[points["on_front"]].sort_values(["accuracy", "efficiency"])
    rest, best = ax.collections[:2]
    assert np.asarray(best.get_offsets()) == pytest.approx(
        front[["accuracy", "efficiency"]].to_numpy()
    )
    assert len(rest.get_offsets()) == len(points) - len(front)
    areas, costs = best.get_sizes(), front["cost"].to_numpy()
    assert np.corrcoef(areas, costs)[0, 1] == pytest.approx(1)
    numbered = [f"{number}  {name}" for number, name in enumerate(front.index, start=1)]
    assert [text.get_text() for text in ax.get_legend().get_texts()][
        -len(front) :
    ] == numbered
    ranges = [list(map(int, text.get_text().split("–"))) for text in ax.texts]
    assert [n for ends in ranges for n in range(ends[0], ends[-1] + 1)] == list(
        range(1, len(front) + 1)
    )
    with bad_argument("unknown-choice", "objective", ["'acuracy'", "'accuracy'?"]):
        figures.landscape(synthetic, "acuracy", "efficiency")
    with bad_argument("unknown-choice", "objective", ["'cost'"]):
        figures.landscape(synthetic, "accuracy", "cost")


def test_tied_front_is_monotone_and_close_marks_share_a_number():
    # dominated only if worse in both: arms 1 to 3 tie in the first objective
    means = [
        (0.125, 1.0),
        (0.5, 0.875),
        (0.5, 0.8701171875),
        (0.5, 0.25),
        (0.875, 0.125),
        (0.25, 0.125),
    ]
    table = table_of([[[1.0, *mean]] * 2 for mean in means])
    ax = figures.landscape(table, "objective0", "objective1")
    x, y = np.array(ax.lines[0].get_data())
    assert (np.diff(x) >= 0).all() and (np.diff(y) <= 0).all() and len(x) == 5
    assert [text.get_text() for text in ax.texts] == ["1", "2–3", "4", "5"]
    named = [text.get_text() for text in ax.get_legend().get_texts()][-5:]
    assert named == [f"{arm + 1}  {table.configs[arm]}" for arm in range(5)]


def test_landscape_of_one_objective_shows_cost(synthetic):
    table = synthetic.select_objectives("accuracy")
    ax = figures.landscape(table, "cost", "accuracy")
    assert ax.get_xlabel() == f"mean cost ({table.card.cost.unit})"
    # more cost is better along the front, from the cheapest on
    x, y = np.array(ax.lines[0].get_data())
    assert (np.diff(x) > 0).all() and (np.diff(y) > 0).all()
    assert (
        x[0] == table.summary()["cost"].min()
        and y[-1] == table.summary()["accuracy"].max()
    )


@pytest.mark.slow
@pytest.mark.parametrize("n_arms", [5, 40])
def test_names_overlap_neither_names_nor_marks(n_arms):
    """On a short front of which two are alike, and on a long one."""
    scores, costs = np.linspace(0.5, 0.9, n_arms), np.geomspace(1, 40, n_arms)
    if n_arms == 5:
        scores[1], costs[1] = 0.5001, 1.02
    rows = np.stack(
        [np.tile(scores, (4, 1)).T, np.tile(scores[::-1], (4, 1)).T], axis=2
    )
    names = [f"model {arm}" for arm in range(n_arms)]
    table = cb.EvaluationTable.from_arrays(
        rows, np.tile(costs, (4, 1)).T, configs=names
    )
    advice = cb.recommend(table, replications=2)
    figure = advice.plot()
    figure.canvas.draw()
    for objective, ax in zip(advice.objectives, figure.axes, strict=True):
        boxes = [text.get_window_extent() for text in ax.texts if text.get_text()]
        assert len(boxes) == min(n_arms, 20)
        assert not [pair for pair in combinations(boxes, 2) if Bbox.intersection(*pair)]
        marks = ax.transData.transform(
            advice.arms.loc[advice.front.index, ["cost", objective]].to_numpy()
        )
        assert not [place for place in marks for box in boxes if box.contains(*place)]


def test_letters_missing_in_the_font_are_left_to_the_browser():
    figure, ax = plt.subplots()
    ax.set_title("模型")
    ax.plot([0, 1], label="नमूना")
    figures.shared_legend(figure)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        drawing = figures.panels(figure)
    assert "模型" in drawing and "नमूना" in drawing


@pytest.mark.slow
def test_single_budget_has_one_label_and_large_regrets_are_grouped(small_table):
    runs = cb.replay_online(small_table, ["CoHVUCB"], rho=[19], replications=3)
    ax = figures.by_budget(
        runs.assign(efficiency_regret=1_160_000.0), "efficiency_regret", "regret"
    )
    ax.figure.canvas.draw()
    (above,) = ax.child_axes
    assert [label.get_text() for label in above.get_xticklabels()] == [
        amount(runs["budget"].iloc[0])
    ]
    assert "1,160,000" in {label.get_text() for label in ax.get_yticklabels()}
    results = cb.replay_identification(small_table, ["CoPSI"], rho=[50], replications=8)
    intervals = [
        part
        for part in figures.by_budget(results, "f1", "F1").collections
        if len(part.get_paths())
    ]
    assert intervals, "a single budget has intervals, too"


@pytest.mark.parametrize(("low", "high"), [(0.93, 1.01), (2.1, 2.9), (1040, 1160)])
def test_narrow_logarithmic_axis_has_several_labels(low, high):
    ax = plt.subplots()[1]
    ax.plot([0, 1], [low, high])
    figures.log_axis(ax)
    ax.figure.canvas.draw()
    bottom, top = ax.get_ylim()
    texts = [
        label.get_text()
        for label in ax.get_yticklabels()
        if bottom <= label.get_position()[1] <= top
    ]
    assert len(texts) >= 2 and not [text for text in texts if "e" in text]


def test_labels_of_small_costs_do_not_overlap():
    ax = plt.figure(figsize=(3.2, 3), layout="none").subplots()
    figures.landscape(SHAPES["long-names"](), "cost", "accuracy", ax=ax)
    ax.figure.draw_without_rendering()
    shown = [label for label in ax.get_xticklabels() if label.get_text()]
    ends = [(box.x0, box.x1) for label in shown if (box := label.get_window_extent())]
    assert all(one[1] < following[0] for one, following in pairwise(sorted(ends)))


def test_landscape_shows_one_split(synthetic):
    ax = figures.landscape(synthetic, "accuracy", "efficiency", split="evaluation")
    truth = synthetic.means[synthetic.problem.pareto_mask]
    assert np.asarray(ax.collections[1].get_offsets()) == pytest.approx(
        truth[np.lexsort(truth.T[::-1])]
    )


def test_index_path_draws_every_arm():
    history = pd.DataFrame(
        {"pull": [1, 1, 2, 2], "arm": ["a", "b"] * 2, "index": [0.5, 0.25, 0.5, 0.125]}
    )
    ax = figures.index_path(history, "index", "index")
    assert list(lines(ax, "b").get_xdata()) == [1, 2]
    assert list(lines(ax, "b").get_ydata()) == [0.25, 0.125]


def test_phase_plane_marks_the_removed_arm():
    means = np.array([[0.75, 0.25], [0.25, 0.75], [0.5, 0.125]])
    finder = cb.CoPSI([1, 4, 1], 40, 2)
    while (arm := finder.ask()) is not None:
        finder.tell(arm, means[arm])
    titles, rings = [], []
    for phase in finder.phases:
        ax = figures.phase_plane(phase, "abc", ("x", "y"))
        titles.append(ax.get_title())
        rings += [
            (*ring.get_offsets()[0].tolist(), ring.get_linestyle()[0][1] is None)
            for ring in ax.collections
        ]
        assert [text.get_text() for text in ax.texts] == [
            "abc"[arm] for arm in phase.active
        ]
    assert titles == [
        "phase 1: 2 pulls each, b accepted",
        "phase 2: 8 pulls each, c rejected",
    ]
    assert rings == [(0.25, 0.75, True), (0.5, 0.125, False)]  # whole: accepted
    crossed = figures.phase_plane(
        finder.phases[0], "abc", ("x", "y"), front=[True, False, True]
    )
    assert (
        crossed.get_title().endswith("b accepted by mistake")
        and len(crossed.collections) == 2
    )


def test_stepper_shows_one_step_and_prints_the_requested_ones():
    shown = figures.stepper([("one <", "<p>1</p>"), ("two", "<p>2</p>")], printed=[1])
    assert (
        shown.count("checked>") == 1
        and "one &lt;" in shown
        and shown.count('class="step paper"') == 1
    )
    one, second = (
        re.search(r'id="([^"]+)"', figures.stepper([("", "")]))[1] for _ in range(2)
    )
    assert one != second  # two on a page do not share their buttons


@pytest.mark.slow
def test_logarithmic_axis_has_plain_numbers():
    ax = plt.subplots()[1]
    ax.plot([1, 2, 3], [0.02, 5, 2000])
    figures.log_axis(ax)
    ax.figure.canvas.draw()
    assert {"0.1", "1", "1,000"} <= {label.get_text() for label in ax.get_yticklabels()}


def test_shown_table_is_deterministic():
    frame = pd.DataFrame({"method": ["CoPSI"], "error": [0.25], "f1": [np.nan]})
    first, repeated = (
        figures.show_table(frame, "Errors", error=".3f", f1=".2f").to_html()
        for _ in range(2)
    )
    assert first == repeated and "0.250" in first and "–" in first and "Errors" in first


def test_shown_table_typesets_numbers_within_texts():
    frame = pd.DataFrame(
        {"bound": [8.574e15, 121_700.0], "mean": ["-0.2 (-0.3 to 0.1)", "0.3 ± 0.1"]}
    )
    html = figures.show_table(frame, "", bound=",.4g").to_html()
    assert "8.574 · 10¹⁵" in html and "121,700" in html
    assert "−0.2 (−0.3\u00a0to\u00a00.1)" in html and "0.3\u00a0±\u00a00.1" in html


def test_logarithmic_axis_leaves_the_other_axis_alone():
    ax = plt.figure().subplots()
    ax.plot([1, 100], [0, 0], "o")
    before = ax.get_ylim()
    figures.log_axis(ax, "x")
    assert ax.get_ylim() == before


def marks_of(ax, face):
    """Positions of the marks of the front with this face: filled ones are settled."""
    for part in ax.collections:
        if isinstance(part, PathCollection) and list(part.get_sizes()) == [36]:
            colours = {tuple(colour.round(3)) for colour in part.get_facecolor()}
            if tuple(np.round(face, 3)) in colours:
                return part.get_offsets()
    return np.empty((0, 2))


@pytest.mark.slow
def test_front_draws_the_recommendation(synthetic):
    advice = cb.recommend(
        synthetic, at_least={"accuracy": 0.7}, tolerance=0.02, replications=20
    )
    figure = advice.plot()
    assert [ax.get_ylabel() for ax in figure.axes] == [
        "mean accuracy",
        "mean efficiency",
    ]
    for objective, ax in zip(advice.objectives, figure.axes, strict=True):
        members = advice.arms.loc[advice.front.index]
        settled = members[members["front_settled"]]
        drawn = marks_of(ax, (*to_rgb(INK), 1.0))
        np.testing.assert_allclose(drawn, settled[["cost", objective]])
    wish = [
        line.get_ydata()
        for line in figure.axes[0].get_lines()
        if line.get_linestyle() == "--"
    ]
    assert [list(entry) for entry in wish] == [[0.7, 0.7]]
    assert not [
        line for line in figure.axes[1].get_lines() if line.get_linestyle() == "--"
    ]
    assert len(bands(figure.axes[0])) > len(
        bands(cb.recommend(synthetic, replications=20).plot().axes[0])
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "n_objectives", [1, pytest.param(3, marks=pytest.mark.acceptance), 4]
)
@pytest.mark.parametrize(
    "n_arms", [2, 12, pytest.param(108, marks=pytest.mark.acceptance)]
)
def test_front_holds_any_number_of_arms_and_objectives(n_arms, n_objectives):
    """A short front has names at its marks, a long one numbers; none is missing."""
    rng = np.random.default_rng(n_arms)
    configs = [f"provider/a-model-with-a-long-name $x$ {arm}" for arm in range(n_arms)]
    table = cb.EvaluationTable.from_arrays(
        rng.random((n_arms, 20, n_objectives)),
        10 ** rng.uniform(-4, 2, (n_arms, 20)),
        configs=configs,
    )
    advice = cb.recommend(table, replications=2)
    figure = advice.plot()
    figure.canvas.draw()
    assert len(figure.axes) == n_objectives
    texts = [text.get_text() for text in figure.axes[0].texts]
    shown = min(len(advice.front), 20)
    assert len([text for text in texts if text]) >= shown


@pytest.mark.slow
def test_objects_show_themselves_in_a_notebook(synthetic):
    advice = cb.recommend(synthetic, replications=20)
    shown = advice._repr_html_()
    assert (
        shown.count("<svg") >= 2
        and advice.front.index[0] in shown
        and "\n" not in repr(advice)
    )
    assert (
        "<table" in synthetic._repr_html_()
        and synthetic.configs[0] in synthetic._repr_html_()
    )
    assert synthetic.problem.names[0] in synthetic.problem._repr_html_()
