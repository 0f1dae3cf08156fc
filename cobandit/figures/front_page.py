"""A recommendation as one HTML file, readable offline: picture, sliders and table."""

from __future__ import annotations

import json
import math
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd

from cobandit.errors import CobanditError
from cobandit.figures.fronts import find_steps
from cobandit.tables.whole_files import replace_file

if TYPE_CHECKING:
    from cobandit.advice import Recommendation

HERE = Path(__file__).parent
#: Script that sorts a table when a heading is clicked.
SORTABLE = HERE / "sortable.js"
#: Width and height of a panel in pixels; the width fits on a phone.
WIDTH, HEIGHT = 270, 250
#: Largest number of characters of a name at its mark.
SHORT = 24

#: Largest number of front members that are named at their marks.
NAMED = 8
#: Colour of the choice.
CHOSEN = "#e8722a"

#: Step of a slider.
STEP = 0.005

SETTLED, OPEN, BEATEN = (
    "worth its cost, settled",
    "worth its cost, not settled",
    "beaten",
)
COLOURS = {SETTLED: "#3a8fc8", OPEN: "#3a8fc8", BEATEN: "#8a8f96"}
SHAPES = {SETTLED: "circle", OPEN: "diamond", BEATEN: "circle"}


class RunReport(NamedTuple):
    """Content of a page about the live run that made the evaluations.

    Attributes
    ----------
    lines : list of str
        Progress of the run.
    table : DataFrame
        One row per configuration, from `cobandit.live.status.tabulate_configurations`.
    seconds : int or None
        Seconds after which the page reloads itself; None after the end of the run.
    """

    lines: list[str]
    table: pd.DataFrame
    seconds: int | None


def write_front_page(
    advice: Recommendation, path: str | Path, run: RunReport | None = None
) -> None:
    """Write a recommendation as one self-contained HTML file.

    The page shows the picture of `cobandit.figures.front`, with values at each mark,
    the lines of the answer, and a table of all configurations that can be sorted. A
    slider per objective sets the smallest accepted mean, and the cheapest configuration
    that meets all of these requirements is marked. The page can be opened offline, and
    has a light and a dark theme.

    Parameters
    ----------
    advice : Recommendation
    path : str or Path
        An existing file is replaced.
    run : RunReport, optional
        Run that made the evaluations, if any.

    Raises
    ------
    CobanditError
        If the packages for drawing are not installed.

    See Also
    --------
    cobandit.figures.front : the picture alone.
    """
    try:
        import jinja2
        import vl_convert  # noqa: F401 - `_bundle_scripts` uses it
    except ImportError as error:
        raise CobanditError(
            f"a page needs Altair and vl-convert, but {error.name} is not installed. "
            "Install them with: pip install 'cobandit[html]'",
            code="missing-package",
        ) from error

    from cobandit.advice.answer import answer
    from cobandit.advice.answer_table import front_first, write_answer_table

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    page = environment.get_template("front_page.html.j2").render(
        advice=advice,
        answer=answer(advice),
        table=write_answer_table(advice, front_first(advice)),
        run=run,
        runtime=_bundle_scripts(),
        sortable=SORTABLE.read_text(encoding="utf-8"),
        # a name may contain </script>
        chart=json.dumps(draw_chart(advice), sort_keys=True).replace("<", "\\u003c"),
    )
    with replace_file(Path(path)) as partial:
        partial.write_text(page, encoding="utf-8")


@cache
def _bundle_scripts() -> str:
    """Return the scripts of Vega-Lite, which take longer than the rest of a page."""
    import vl_convert

    return str(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;"))


def draw_chart(advice: Recommendation) -> dict[str, Any]:
    """Return the Vega-Lite specification: a panel per objective, with sliders below."""
    import altair as alt

    arms = _points(advice)
    sliders = []
    for number, objective in enumerate(advice.objectives):
        field = alt.binding_range(
            min=0, max=1, step=STEP, name=f"at least {objective} "
        )
        sliders.append(
            alt.param(
                name=f"least{number}", value=_least_asked(advice, objective), bind=field
            )
        )
    meets = " && ".join(
        f"datum.o{number} >= least{number}" for number in range(len(sliders))
    )

    few = alt.Axis(tickCount=5, format="~g", labelOverlap=True)
    panels = []
    for number, objective in enumerate(advice.objectives):
        cost = alt.X(
            "cost:Q",
            title=f"mean cost ({advice.unit})",
            scale=_cost_scale(arms),
            axis=few,
        )
        mean = alt.Y(
            f"o{number}:Q", title=f"mean {objective}", scale=alt.Scale(zero=False)
        )
        points = alt.Chart(arms)
        members = points.transform_filter(f"datum.standing != '{BEATEN}'")
        steps = alt.Chart(find_steps(advice, objective)).mark_line(
            interpolate="step-after", strokeWidth=1
        )
        ends = {
            "y": alt.Y(f"low{number}:Q", title=f"mean {objective}"),
            "y2": f"high{number}:Q",
        }
        marks = points.mark_point(size=60, filled=True, opacity=1).encode(
            x=cost,
            y=mean,
            color=alt.Color(
                "standing:N",
                title=None,
                scale=_scale(arms, COLOURS),
                legend=alt.Legend(orient="top", columns=1),
            ),
            shape=alt.Shape("standing:N", title=None, scale=_scale(arms, SHAPES)),
            tooltip=_tooltip(advice),
        )
        names = members.mark_text(align="left", dx=8, dy=8, fontSize=10).encode(
            x=cost, y=mean, text="short:N"
        )
        chosen = (
            points.transform_filter(meets)
            .transform_window(place="row_number()", sort=[alt.SortField("cost")])
            .transform_filter("datum.place == 1")
        )
        ring = chosen.mark_point(size=260, strokeWidth=2, filled=False, color=CHOSEN)
        label = chosen.mark_text(
            align="left", dx=8, dy=-10, fontWeight="bold", color=CHOSEN
        )
        layers = [
            steps.encode(x=cost, y=alt.Y("mean:Q", title=f"mean {objective}")),
            members.mark_rule(opacity=0.6).encode(x=cost, **ends),
            marks,
            *([names] if len(advice.front) <= NAMED else []),
            ring.encode(x=cost, y=mean),
            label.encode(x=cost, y=mean, text="short:N"),
        ]
        panels.append(alt.layer(*layers).properties(width=WIDTH, height=HEIGHT))
    chart = alt.concat(*panels, columns=2).add_params(*sliders)
    return dict(chart.to_dict())


def _cost_scale(arms: pd.DataFrame) -> Any:
    import altair as alt

    spread = arms["cost"].max() > arms["cost"].min() > 0
    return (
        alt.Scale(type="log", nice=False, padding=30)
        if spread
        else alt.Scale(zero=False)
    )


def _scale(arms: pd.DataFrame, looks: dict[str, str]) -> Any:
    """Return a scale of colours or shapes for certainties that occur in ``arms``."""
    import altair as alt

    shown = [standing for standing in looks if arms["standing"].eq(standing).any()]
    return alt.Scale(domain=shown, range=[looks[standing] for standing in shown])


def _least_asked(advice: Recommendation, objective: str) -> float:
    """Return the first value of a slider: the required mean, or 0 if there is none."""
    if advice.choice is None:
        return 0.0
    wishes = advice.choice.wishes
    least = wishes.at_least.get(objective, 0.0)
    if objective in wishes.within:
        least = max(least, advice.arms[objective].max() - wishes.within[objective])
    return round(math.floor(least / STEP + 1e-9) * STEP, 3)


def _points(advice: Recommendation) -> pd.DataFrame:
    """Return the data of the marks, one row per configuration.

    Columns of objectives have numbers instead of names, because an objective may have
    the name of another column.
    """
    arms = advice.arms
    frame = pd.DataFrame(
        {"name": arms.index.astype(str), "cost": arms["cost"].to_numpy()}
    )

    frame["short"] = [
        name if len(name) <= SHORT else f"{name[: SHORT - 1]}…"
        for name in frame["name"]
    ]
    frame["n"] = arms["instances"].to_numpy()
    for number, objective in enumerate(advice.objectives):
        frame[f"o{number}"] = arms[objective].to_numpy()
        frame[f"low{number}"] = arms[f"{objective}_low"].to_numpy()
        frame[f"high{number}"] = arms[f"{objective}_high"].to_numpy()
        if objective in advice.measured:
            frame[f"median{number}"] = arms[f"{objective}_p50"].to_numpy()
            frame[f"slow{number}"] = arms[f"{objective}_p95"].to_numpy()

    on_front = arms.index.isin(advice.front.index)
    settled = arms["front_settled"].to_numpy()
    frame["standing"] = BEATEN
    frame.loc[on_front & settled, "standing"] = SETTLED
    frame.loc[on_front & ~settled, "standing"] = OPEN
    return frame


def _tooltip(advice: Recommendation) -> list[Any]:
    import altair as alt

    tips = [
        alt.Tooltip("name:N", title="configuration"),
        alt.Tooltip("n:Q", title="instances"),
    ]
    tips.append(
        alt.Tooltip("cost:Q", title=f"mean cost ({advice.unit})", format=".4~g")
    )
    for number, objective in enumerate(advice.objectives):
        tips.append(alt.Tooltip(f"o{number}:Q", title=objective, format=".3f"))
        level = f"{100 * advice.level:g} %"
        tips.append(
            alt.Tooltip(
                f"low{number}:Q", title=f"{objective}, {level} from", format=".3f"
            )
        )
        tips.append(
            alt.Tooltip(
                f"high{number}:Q", title=f"{objective}, {level} to", format=".3f"
            )
        )
        if objective in advice.measured:
            column = advice.measured[objective]
            tips.append(
                alt.Tooltip(
                    f"median{number}:Q", title=f"{column}, median", format=".3~g"
                )
            )
            tips.append(
                alt.Tooltip(
                    f"slow{number}:Q", title=f"{column}, 95th percentile", format=".3~g"
                )
            )
    tips.append(alt.Tooltip("standing:N", title="standing"))
    return tips
