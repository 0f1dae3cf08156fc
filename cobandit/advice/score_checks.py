"""What is to be noticed of scores: configurations, instances and objectives that tell little."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import numpy as np

from cobandit.advice.findings import Finding, Rows

#: A constant score means something from so many instances on.
ENOUGH = 10
#: Share of instances on which all configurations score alike, from which on it is said.
ALIKE = 0.2
#: Share of evaluations with one value, from which on a column hardly measures.
ONE_VALUE = 0.5
#: Rank correlation of two objectives from which on they are one thing.
SAME = 0.95


def constant(rows: Rows) -> Iterator[Finding]:
    """Configurations that score the same on every instance."""
    starts, counts = rows.evaluations.offsets[:-1], rows.evaluations.counts
    for name, scores in rows.objectives():
        low, high = np.minimum.reduceat(scores, starts), np.maximum.reduceat(scores, starts)
        for value in (0.0, 1.0):
            arms = np.flatnonzero((low == high) & (low == value) & (counts >= ENOUGH))
            if 0 < len(arms) < rows.table.n_arms:
                have = "has" if len(arms) == 1 else "have"
                yield Finding(
                    "constant",
                    float(len(arms)),
                    f"{len(arms)} of {rows.table.n_arms} configurations {have} {name} {value:g} "
                    f"on every instance: {rows.names(arms)}",
                    "Look at a few of their answers: a broken prompt, parser or scorer does that, or a task "
                    "that is too hard or too easy for them",
                )


def duplicates(rows: Rows) -> Iterator[Finding]:
    """Configurations that are the same in everything that was measured."""
    groups: defaultdict[bytes, list[int]] = defaultdict(list)
    for arm in range(rows.table.n_arms):
        own = rows.of(arm)
        parts = (rows.evaluations.instance[own], *(values[own] for values in rows.evaluations.values))
        groups[b"".join(part.tobytes() for part in parts)].append(arm)
    same = [arms for arms in groups.values() if len(arms) > 1]
    if same:
        yield Finding(
            "duplicates",
            float(sum(len(arms) - 1 for arms in same)),
            "Scores and costs are the same on every instance for "
            + "; ".join(rows.names(arms) for arms in same[:3]),
            "One may have been logged twice under two names, or an option did nothing: keep one",
        )


def alike(rows: Rows) -> Iterator[Finding]:
    """Instances on which all configurations score alike: no comparison learns from them."""
    instance = rows.evaluations.instance
    seen = np.bincount(instance)
    asked = seen >= 3
    for name, scores in rows.objectives():
        low, high = np.full(len(seen), np.inf), np.full(len(seen), -np.inf)
        np.minimum.at(low, instance, scores)
        np.maximum.at(high, instance, scores)
        same = asked & (low == high)
        share = same.sum() / max(1, asked.sum())
        if share <= ALIKE:
            continue
        right, wrong = (int((same & (low == value)).sum()) for value in (1, 0))
        left = asked.sum() - same.sum()
        yield Finding(
            "alike",
            float(share),
            f"On {share:.0%} of the instances all configurations have the same {name} (all 1 on {right}, all "
            f"0 on {wrong}): {left} of {asked.sum()} tell configurations apart",
            "Add instances that are neither trivial nor hopeless"
            + (", and check the answer keys of those that nobody gets right" if wrong else ""),
        )


def one_value(rows: Rows) -> Iterator[Finding]:
    """Objectives that hardly measure: most evaluations have the same value."""
    for name, scores in rows.objectives():
        values, counts = np.unique(scores, return_counts=True)
        share = counts.max() / len(scores)
        if len(values) > 2 and share > ONE_VALUE:
            value, objective = (
                values[counts.argmax()],
                rows.table.card.objectives[rows.table.objectives.index(name)],
            )
            yield Finding(
                "one value",
                float(share),
                f"{share:.0%} of the evaluations have {name} {value:.3g} (column {objective.column})",
                "Check the clock or its resolution, or take other percentiles (low, high) in the card",
            )


def same(rows: Rows) -> Iterator[Finding]:
    """Objectives that order the configurations alike, or as cost does."""
    from scipy import stats  # half a second that an import of cobandit need not take

    if rows.table.n_arms < 5:
        return
    every = rows.table.summary()
    columns = {name: every[name] for name in rows.table.objectives} | {"low cost": -every["cost"]}
    names = list(columns)
    for i, first in enumerate(names):
        for second in names[i + 1 :]:
            if any(np.allclose(columns[name], columns[name].iloc[0], atol=0) for name in (first, second)):
                continue  # nothing is ordered by a constant
            rank = float(stats.spearmanr(columns[first], columns[second]).statistic)
            if rank < SAME:
                continue
            as_cost = second == "low cost"
            yield Finding(
                "same",
                rank,
                f"{first} and {second} order the configurations alike (rank correlation {rank:.2f})",
                f"Leave {first} out: per cost it counts twice"
                if as_cost
                else "Keep one of them as an objective",
            )
