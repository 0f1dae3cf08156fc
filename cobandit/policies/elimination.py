"""Empirical gap elimination, the loop that CoPSI and PSI-SR share (paper, Algorithm 2)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cobandit.dominance import classification_gaps, pareto_mask
from cobandit.policies.identification import IdentificationPolicy, Phase

#: Gaps this close to the largest count as equal to it (paper, Appendix A).
GAP_RTOL, GAP_ATOL = 1e-10, 1e-12


class GapElimination(IdentificationPolicy):
    r"""Empirical gap elimination, one arm a phase (Algorithm 2); subclasses set the targets n_r.

    .. math::

        \text{for } r = 1, \dots, K - 1: \quad
        &\text{pull every } i \in A_r \text{ until } N_i = n_r, \\
        &e_r \in \arg\max_{i \in A_r} \hat\gamma_{i,r}
            \text{ (a dominated arm first, then the lowest number)}, \\
        &\text{accept } e_r \text{ if it is on the empirical front, else reject it}; \quad
            A_{r+1} = A_r \setminus \{e_r\}
    """

    def _target(self, phase: int) -> int:
        """Pulls that every active arm has at the end of the phase (counted from 1)."""
        raise NotImplementedError

    def _schedule(self) -> Iterator[int | None]:
        for phase in range(1, self.n_arms):
            target = self._target(phase)
            yield from self._evaluate(target)
            self._remove(phase, target)

    def _remove(self, phase: int, target: int) -> None:
        active = self._active
        means = self.mean_rewards[active]
        front, gaps = pareto_mask(means), classification_gaps(means)
        # e_r in argmax gamma, an empirically dominated arm first, then the lowest number.
        largest = gaps >= gaps.max() - (GAP_ATOL + GAP_RTOL * gaps.max())
        candidates = largest & ~front if (largest & ~front).any() else largest
        position = int(candidates.argmax())
        removed, accepted = int(active[position]), bool(front[position])
        if accepted:
            self._accepted.append(removed)
        self.phases.append(Phase(phase, active, target, means, gaps, removed, accepted))
        self._active = np.delete(active, position)
