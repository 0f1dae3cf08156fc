"""The report: one HTML file that opens from disk and asks nothing of any other machine."""

from __future__ import annotations

import base64
import hashlib
import html
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from cobandit.advice.recommendation import Recommendation
from cobandit.advice.words import amount, describe, describe_steps, worth_showing
from cobandit.companion.report.manifest import Manifest
from cobandit.files import replace_file

HERE = Path(__file__).parent
#: Rows of a table in the report; the results folder has all.
SHOWN = 200


def write_report(
    folder: Path,
    manifest: Manifest,
    advice: Recommendation,
    notice: Sequence[str],
) -> Path:
    """Write ``index.html`` from what a folder holds.

    Parameters
    ----------
    folder : Path
        With the executed notebooks that the manifest names.
    manifest : Manifest
    advice : Recommendation
    notice : sequence of str
        What to notice of the table.

    Returns
    -------
    Path
    """
    import jinja2
    import nbformat

    from cobandit.companion.report.pages import source
    from cobandit.companion.report.typeset import body

    sections = []
    for entry in manifest.pages:
        title = source(entry.page).partition("\n# ")[2].partition("\n")[0]
        shown = {"entry": entry, "title": title, "body": ""}
        if entry.status in ("done", "failed"):
            executed = nbformat.read(folder / "notebooks" / f"{entry.page}.ipynb", as_version=4)
            shown["body"] = body(executed, entry.page)
        sections.append(shown)
    script = (HERE / "report.js").read_text(encoding="utf-8")
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(HERE), autoescape=True, trim_blocks=True)
    page = environment.get_template("report.html.j2").render(
        manifest=manifest,
        advice=advice,
        said=describe(advice),
        notice=notice,
        sections=sections,
        arms=_arms(advice),
        questions=_questions(advice),
        style=(HERE / "report.css").read_text(encoding="utf-8"),
        script=script,
        script_sha256=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    )
    path = folder / "index.html"
    with replace_file(path) as partial:
        partial.write_text(page, encoding="utf-8")
    return path


def _html(frame: pd.DataFrame) -> str:
    shown = frame.head(SHOWN)
    made = shown.map(lambda value: html.escape(value) if isinstance(value, str) else value).to_html(
        index=False, escape=False, border=0, na_rep="–"
    )
    rest = len(frame) - len(shown)
    return made + (f"<p>and {rest:,} more in <code>results/</code></p>" if rest else "")


def _arms(advice: Recommendation) -> str:
    arms, steps = worth_showing(advice), dict(zip(advice.front.index, describe_steps(advice), strict=True))
    columns: dict[str, Any] = {"configuration": arms.index, "n": arms["instances"].map("{:,}".format)}
    columns[f"cost ({advice.unit})"] = arms["cost"].map(amount)
    for name in advice.objectives:
        columns[name] = [
            f"{mean:.3f} ±{(high - low) / 2:.3f}"
            for mean, low, high in zip(arms[name], arms[f"{name}_low"], arms[f"{name}_high"], strict=True)
        ]
    columns |= {
        "step up": [steps.get(str(name), "not on the front") for name in arms.index],
        "stays": arms["front_share"].map("{:.0%}".format),
        "settled": arms["front_settled"].map({True: "yes", False: "no"}),
    }
    return _html(pd.DataFrame(columns))


def _questions(advice: Recommendation) -> str:
    if not len(advice.questions):
        return ""
    asked = advice.questions
    return _html(
        pd.DataFrame(
            {
                "configuration": asked["configuration"],
                "question": asked["kind"].map({"front": "worth its cost?", "efficiency": "largest ratio?"}),
                "hardest to tell from": asked["against"],
                "new instances": [
                    f"{n:,.0f}" if n != float("inf") else f"a {why}"
                    for n, why in zip(asked["new_instances"], asked["why"], strict=True)
                ],
                f"price ({advice.unit})": [amount(p) if p != float("inf") else "–" for p in asked["price"]],
            }
        )
    )
