"""The report: one HTML file that opens from disk and asks nothing of any other machine."""

from __future__ import annotations

import base64
import hashlib
import html
from pathlib import Path
from typing import Any

import pandas as pd

from cobandit.recommendation import Recommendation
from cobandit.rerun.plan import INTRODUCTIONS
from cobandit.rerun.words import sentences, worth_showing

HERE = Path(__file__).parent
#: Rows of a table in the report; the results folder has all.
SHOWN = 200


def write_report(folder: Path, manifest: dict[str, Any], advice: Recommendation) -> Path:
    """Write ``index.html`` from what a folder holds.

    Parameters
    ----------
    folder : Path
        With the executed notebooks that the manifest names.
    manifest : dict
    advice : Recommendation

    Returns
    -------
    Path
    """
    import jinja2
    import nbformat

    from cobandit.rerun.typeset import body

    sections = []
    for entry in manifest["pages"]:
        executed = folder / "notebooks" / f"{entry['page']}.ipynb"
        shown = {"entry": entry, "title": entry["page"].replace("-", " "), "body": ""}
        if entry["status"] in ("done", "failed"):
            notebook = nbformat.read(executed, as_version=4)
            first = next(cell for cell in notebook.cells if cell.source.startswith("# "))
            first.source = INTRODUCTIONS.get(entry["page"], first.source)
            shown["title"] = first.source.splitlines()[0].removeprefix("# ")
            shown["body"] = body(notebook, entry["page"])
        sections.append(shown)
    script = (HERE / "report.js").read_text(encoding="utf-8")
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(HERE), autoescape=True, trim_blocks=True)
    page = environment.get_template("report.html.j2").render(
        manifest=manifest,
        advice=advice,
        said=sentences(advice),
        sections=sections,
        arms=_arms(advice),
        questions=_questions(advice),
        style=(HERE / "report.css").read_text(encoding="utf-8"),
        script=script,
        script_sha256=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    )
    path = folder / "index.html"
    partial = folder / ".partial-index.html"
    partial.write_text(page, encoding="utf-8")
    return partial.replace(path)


def _html(frame: pd.DataFrame) -> str:
    shown = frame.head(SHOWN)
    made = shown.map(lambda value: html.escape(value) if isinstance(value, str) else value).to_html(
        index=False, escape=False, border=0, na_rep="–"
    )
    rest = len(frame) - len(shown)
    return made + (f"<p>and {rest:,} more in <code>results/</code></p>" if rest else "")


def _arms(advice: Recommendation) -> str:
    arms = worth_showing(advice).reset_index(names="configuration")
    columns: dict[str, Any] = {"configuration": arms["configuration"]}
    for name in [name.removesuffix("_low") for name in arms if name.endswith("_low")]:
        columns[name] = [
            f"{mean:.3f} ±{(high - low) / 2:.3f}"
            for mean, low, high in zip(arms[name], arms[f"{name}_low"], arms[f"{name}_high"], strict=True)
        ]
    columns |= {
        f"cost ({advice.unit})": arms["cost"].map("{:.4g}".format),
        "per cost": arms["hypervolume_per_cost"].map("{:.4g}".format),
        "front": arms["on_front"].map({True: "yes", False: "no"}),
        "in redraws": arms["front_share"].map("{:.1%}".format),
        "settled": arms["front_settled"].map({True: "yes", False: "no"}),
        "best in redraws": arms["efficient_share"].map("{:.1%}".format),
    }
    if advice.budget is not None:
        columns["next"] = arms["next"]
    return _html(pd.DataFrame(columns))


def _questions(advice: Recommendation) -> str:
    if not len(advice.questions):
        return ""
    asked = advice.questions
    return _html(
        pd.DataFrame(
            {
                "configuration": asked["configuration"],
                "question": asked["kind"].map({"front": "on the front?", "efficiency": "most efficient?"}),
                "hardest to tell from": asked["against"],
                "gap over standard error": asked["ratio"].map("{:.2f}".format),
                "needed": asked["factor"].map("{:.2f}".format),
                "evaluations": [f"{n:,.0f}" if n != float("inf") else "a tie" for n in asked["evaluations"]],
                f"price ({advice.unit})": [f"{p:,.4g}" if p != float("inf") else "–" for p in asked["price"]],
            }
        )
    )
