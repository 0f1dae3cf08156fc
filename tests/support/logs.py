"""Small logs of two configurations in the formats of several tools.

Functions change these logs for tests.

The logs are not measured. Each configuration answers twelve sums. ``tidy.csv`` has the
answers, and the other files have the same answers in the format of each tool.
"""

import json
import re
import shutil
import struct
import zipfile
import zlib
from pathlib import Path

import pandas as pd
import pyarrow as pa

from cobandit.tables.catalogue import data_directory

STORED = Path(__file__).resolve().parents[1] / "tables" / "logs"
DATE = "2026-01-15T10-20-30.123456"
#: The logs of Inspect AI: of the configuration sparrow-mini, and of heron-large.
HEADS, TAILS = "json/sparrow-mini-t0.json", "json/heron-large-t0.7.json"
#: A log of a third configuration, with forty sums.
THIRD = data_directory() / "logs" / "sparrow-mini-t0.7.json"


def answers():
    """Return the rows of ``tidy.csv`` with the texts of the answers.

    There is one list per configuration, with one row per sum.
    """
    rows = pd.read_csv(STORED / "tidy.csv")
    # sparrow-mini comes first in the table
    samples = sorted(STORED.rglob("samples_*"), reverse=True)
    lines = [line for path in samples for line in path.read_text().splitlines()[:12]]
    rows["text"] = [json.loads(line)["resps"][0][0] for line in lines]
    group = rows.groupby(["model", "temperature"])
    return {
        f"{model} temperature={t}": list(part.itertuples())
        for (model, t), part in group
    }


def change(path, function):
    """Change the contents of a JSON file in place with a function."""
    content = json.loads(Path(path).read_text())
    function(content)
    Path(path).write_text(json.dumps(content))


def change_samples(function, *paths):
    """Change every sample of Inspect logs with ``function(index, sample)``."""
    for path in paths or (HEADS, TAILS):
        change(
            path,
            lambda log: [
                function(i, sample) for i, sample in enumerate(log["samples"])
            ],
        )


def put(folder, stored=STORED / HEADS):
    """Copy a stored log to a folder, and return its path."""
    Path(folder).mkdir(exist_ok=True)
    return shutil.copy(stored, folder)


def write_lm_eval(folder, task="sums", function=list):
    """Write logs of the LM evaluation harness for a task, with changed lines."""
    for samples in STORED.rglob("samples_*"):
        place = folder / samples.parent.relative_to(STORED / "lm")
        place.mkdir(parents=True, exist_ok=True)
        lines = function(
            [json.loads(line) for line in samples.read_text().splitlines()]
        )
        (place / samples.name.replace("sums", task)).write_text(
            "\n".join(map(json.dumps, lines))
        )
        results = samples.with_name(f"results_{DATE}.json").read_text()
        (place / f"results_{DATE}.json").write_text(
            results.replace('"sums"', f'"{task}"')
        )


def unfiltered(lines):
    """Return the lines of a task with a single filter, whose name is "none"."""
    return [line | {"filter": "none"} for line in lines[:12]]


def members(path):
    """Return the contents of a ZIP archive by name."""
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def pack(path, without):
    """Remove the members of a ZIP archive whose names match a pattern."""
    remaining = {
        name: content
        for name, content in members(path).items()
        if not re.match(without, name)
    }
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in remaining.items():
            archive.writestr(name, content)


def zip_with_zstandard(path, members, claim=None):
    """Write a ZIP archive with Zstandard (method 93), as recent Inspect does.

    The module zipfile cannot write such archives. ``claim`` is a wrong size to declare
    for the expanded members.
    """
    codec = pa.Codec("zstd")
    body, directory = b"", b""
    for name, content in members.items():
        packed, raw_name = codec.compress(content, asbytes=True), name.encode()
        size = len(content) if claim is None else claim
        common = struct.pack(
            "<HHHHHIIIHH",
            63,
            0,
            93,
            0,
            33,
            zlib.crc32(content),
            len(packed),
            size,
            len(raw_name),
            0,
        )
        entry = (
            b"PK\1\2"
            + struct.pack("<H", 63)
            + common
            + struct.pack("<HHHII", 0, 0, 0, 0, len(body))
        )
        directory += entry + raw_name
        body += b"PK\3\4" + common + raw_name + packed
    end = struct.pack(
        "<HHHHIIH", 0, 0, len(members), len(members), len(directory), len(body), 0
    )
    Path(path).write_bytes(body + directory + b"PK\5\6" + end)
