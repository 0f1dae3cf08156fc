"""Write .zenodo.json and codemeta.json from CITATION.cff, which is their only source.

python docs/citation.py
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[1]
LICENCES = (
    "The book has the licence CC BY 4.0, bundled tables those that their cards name."
)


def describe_for_zenodo(citation: dict[str, Any]) -> dict[str, Any]:
    """Describe a deposit for Zenodo."""
    (paper,) = citation["references"]
    return {
        "title": citation["title"],
        "description": citation["abstract"],
        "upload_type": citation["type"],
        "version": citation["version"],
        "creators": citation["authors"],
        "keywords": citation["keywords"],
        "license": citation["license"],
        "notes": LICENCES,
        "related_identifiers": [
            {
                "identifier": paper["identifiers"][0]["value"],
                "relation": "isSupplementTo",
                "resource_type": "publication-preprint",
            }
        ],
    }


def describe_as_codemeta(citation: dict[str, Any]) -> dict[str, Any]:
    """Describe the software in the terms of CodeMeta 3.0."""
    (paper,) = citation["references"]
    return {
        "@context": "https://w3id.org/codemeta/3.0",
        "@type": "SoftwareSourceCode",
        "name": "cobandit",
        "headline": citation["title"],
        "description": citation["abstract"],
        "version": citation["version"],
        "license": f"https://spdx.org/licenses/{citation['license']}",
        "programmingLanguage": "Python",
        "author": [
            {"@type": "Organization", "name": author["name"]}
            for author in citation["authors"]
        ],
        "keywords": citation["keywords"],
        "citation": [
            {
                "@type": "ScholarlyArticle",
                "name": paper["title"],
                "identifier": paper["identifiers"][0]["value"],
            }
        ],
    }


def describe() -> dict[str, str]:
    """Return the text of each file, by its name."""
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    described = {
        ".zenodo.json": describe_for_zenodo(citation),
        "codemeta.json": describe_as_codemeta(citation),
    }
    return {
        name: json.dumps(content, indent=2) + "\n"
        for name, content in described.items()
    }


if __name__ == "__main__":
    for name, text in describe().items():
        (ROOT / name).write_text(text, encoding="utf-8")
