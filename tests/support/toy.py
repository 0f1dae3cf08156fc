"""The card of a small table, and a function that writes a table in any format."""

from pathlib import Path

CARD = {
    "name": "toy",
    "title": "Toy",
    "source": "made up",
    "license": "CC0-1.0",
    "kind": "synthetic",
    "records": "toy.csv",
    "cost": {"column": "usd", "unit": "USD"},
    "objectives": [
        {"name": "accuracy", "column": "correct"},
        {"name": "speed", "column": "seconds", "transform": "inverse-percentile"},
    ],
    "split": {"profiling": 2, "seed": 0},
    "arms": ["model"],
}


def write_frame(frame, path):
    """Write a frame to a file in the format of the file's suffix."""
    suffix = Path(path).suffix.lower()
    if suffix == ".jsonl":
        frame.to_json(path, orient="records", lines=True, double_precision=15)
    elif suffix == ".parquet":
        frame.to_parquet(path, index=False)
    else:
        frame.to_csv(path, index=False, sep="\t" if suffix == ".tsv" else ",")
