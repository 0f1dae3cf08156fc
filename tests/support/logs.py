"""Small logs of two configurations in every format, and changes to them.

Nothing in them was measured: each model answers twelve sums. The rows of ``tidy.csv``
say what, the other files hold the same as each tool writes it.
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
#: The logs of Inspect AI of either configuration, of sparrow-mini and of heron-large.
HEADS, TAILS = "json/sparrow-mini-t0.json", "json/heron-large-t0.7.json"
#: A log of a third configuration, with forty sums.
THIRD = data_directory() / "logs" / "sparrow-mini-t0.7.json"


def answers():
    """Return the answers by configuration: a row per sum, with the text."""
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
    """Change what a JSON file holds in place."""
    content = json.loads(Path(path).read_text())
    function(content)
    Path(path).write_text(json.dumps(content))


def change_samples(function, *paths):
    """Change every sample of the named Inspect logs, given its place."""
    for path in paths or (HEADS, TAILS):
        change(
            path,
            lambda log: [
                function(i, sample) for i, sample in enumerate(log["samples"])
            ],
        )


def put(folder, stored=STORED / HEADS):
    """A log as it is stored, in a folder; its place."""
    Path(folder).mkdir(exist_ok=True)
    return shutil.copy(stored, folder)


def write_lm_eval(folder, task="sums", function=list):
    """Copy logs of the harness with another task name and other lines."""
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
    """Lines of a task that has one filter, which is called none."""
    return [line | {"filter": "none"} for line in lines[:12]]


def members(path):
    """What an archive holds, by name."""
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def pack(path, without):
    """Write an archive again, without the members that are called so."""
    remaining = {
        name: content
        for name, content in members(path).items()
        if not re.match(without, name)
    }
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in remaining.items():
            archive.writestr(name, content)


def zip_with_zstandard(path, members, claim=None):
    """Write an archive as recent Inspect does, by method 93, which zipfile lacks.

    `claim` is the size that each member says it expands to, if that is to be a lie.
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
