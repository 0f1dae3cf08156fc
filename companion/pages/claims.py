"""The table of all claims of the paper: printed value, our results, and status.

The rows are the statements of the theory, fourteen numerical comparisons of methods
(contrasts), comparisons in words (orderings), other remarks, the printed numbers, and
last the book's own statements. The identifier of a row is its position in
``claims.yml``. The identifier never changes, because pages link to it.
"""

from collections.abc import Sequence
from functools import cache

import pandas as pd

from cobandit.errors import CobanditError
from cobandit.tables import open_table
from companion import paper
from companion.pages.claim_row import KINDS, identifiers
from companion.pages.claim_rows import (
    contrast_rows,
    number_rows,
    ordering_rows,
    remark_rows,
    statement_rows,
)
from companion.paper import experiments
from companion.proofs import checks
from companion.stored import results


def every_claim(
    plays: pd.DataFrame | None = None,
    statements: pd.DataFrame | None = None,
    measured: Sequence[str] = results.MEASURED,
    words: pd.DataFrame | None = None,
    scale: float = 1.0,
) -> pd.DataFrame:
    """Return the table of all claims of the paper, with our results and a status.

    Parameters
    ----------
    plays : DataFrame, optional
        Results of runs on drawn reconstructions, as returned by
        `companion.stored.results.played`. Default: the stored results.
    statements : DataFrame, optional
        Default: the result of `companion.proofs.checks.check_statements`, whose
        computation takes most of the time.
    measured : sequence of str
        Tables that replace the paper's tables: names in the catalogue, or files.
    words : DataFrame, optional
        Default: the result of `companion.paper.resample_words` for ``plays``.
    scale : float
        Number of replications on tables without stored results, as a multiple of the
        paper's number.

    Returns
    -------
    DataFrame
        One row per claim, indexed by its identifier, with the fields of `ClaimRow`.
        The rows are in the order of `KINDS`.

    Raises
    ------
    CobanditError
        If a claim has no line in ``claims.yml``.
    """
    plays = results.read_result("posterior") if plays is None else plays
    statements = checks.check_statements() if statements is None else statements
    cells = results.ledger_cells()
    ours = replace_paper_tables(measured, scale)
    words = paper.resample_words(plays) if words is None else words
    rows = [
        *statement_rows(statements),
        *contrast_rows(paper.judge_contrasts(plays), words, cells, ours),
        *ordering_rows(cells, ours, paper.shares(plays), are_originals(measured)),
        *remark_rows(measured, are_originals(measured)),
        *number_rows(cells, ours, paper.predict_numbers(plays)),
    ]
    rows.sort(key=lambda row: KINDS.index(row.kind))
    if unknown := {row.key for row in rows} - set(identifiers()):
        raise CobanditError(
            f"the claim {min(unknown)!r} has no identifier -> add its key at the end of"
            " claims.yml",
            argument="claims.yml",
            code="no-identifier",
        )

    return pd.DataFrame(
        rows, index=pd.Index([identifiers()[row.key] for row in rows], name="id")
    )


@cache
def play_measured(names: tuple[str, ...], scale: float = 1.0) -> pd.DataFrame:
    """Replay the paper's experiments on tables, or read their stored results.

    Parameters
    ----------
    names : tuple of str
        Names in the catalogue, or files. Only the first two are used.
    scale : float
        Number of replications as a multiple of the paper's number. The number is
        reduced if replays would take longer than a minute.

    Returns
    -------
    DataFrame
        Rows of `companion.stored.results.replicate` for all tables.
    """
    played = []
    for name in names[: len(results.NAMES)]:
        extent = experiments.Extent()
        if names != results.MEASURED and not are_originals(names):
            extent = experiments.fit_extent(open_table(name))
        played.append(
            results.replicate(name, scale * extent.scale, online=extent.online)
        )
    return pd.concat(played, ignore_index=True)


def replace_paper_tables(names: Sequence[str], scale: float = 1.0) -> pd.DataFrame:
    """Return the results of `play_measured` under the names of the paper's data sets.

    The first table replaces GSM8K, and the second PIQA.
    """
    cells = play_measured(tuple(names), scale)
    stands_for = dict(zip(cells["dataset"].unique(), results.NAMES, strict=False))
    return cells.assign(dataset=cells["dataset"].replace(stands_for))


def are_originals(names: Sequence[str]) -> bool:
    """Return whether these tables have the names of the paper's two tables.

    Claims about one of the paper's data sets, or about their comparison, can be judged
    only on the paper's tables.
    """
    return tuple(names) != results.MEASURED and [
        open_table(name).name for name in names
    ] == [*results.NAMES]
