"""Difficult names of configurations, and evaluations of them."""

import pandas as pd

NAMES = [
    "[0-shot] gpt",
    "[bold]loud[/bold] gpt",
    "a [/] stray end",
    "ends in \\",
    "[link=https://example.org]gpt[/link]",
    ":heart: gpt :warning:",
    "<b>gpt</b> <script>alert(1)</script>",
    "costs $x$ or $$y$$",
    "a | b | c",
    "gpt\non two lines\r\tand a tab",
    "\x1b[31mred\x1b[0m \x07\x1b]0;title\x07",
    "_gpt_ *star* `tick`",
    "l" + "o" * 100_000 + "ng",
]


def write_records(n_instances):
    """Write evaluations of configurations with these names to ``records.parquet``.

    Each configuration costs one more than the previous one.
    """
    rows = [
        (name, f"q{q}", 1.0 + (k + q) % 5, float((q * (k + 2)) % 7 > 2), k + q + 1.0)
        for k, name in enumerate(NAMES)
        for q in range(n_instances)
    ]
    pd.DataFrame(
        rows, columns=["model", "question", "usd", "ok", "seconds"]
    ).to_parquet("records.parquet")
