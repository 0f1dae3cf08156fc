r"""How fast the bound of Theorem 2 falls with the budget, and a bound for PSI-SR at unit costs."""

from __future__ import annotations

from math import exp

from cobandit import _check
from cobandit.errors import CobanditError
from cobandit.theory.differences import difference_error_rate
from cobandit.theory.identification import checked_problem, decay_budget, needed_allocation_constant


def error_rate(*, n_arms: int, cost_ratio: float, complexity: float) -> float:
    r"""Rate at which the bound of Theorem 2 falls, :math:`1 / (256\, L_{K,\lambda} H_{\mu,c})`.

    Parameters
    ----------
    n_arms : int
        K >= 2.
    cost_ratio : float
        lambda in (0, 1].
    complexity : float
        :math:`H_{\mu,c}`; ``inf`` is allowed.

    Returns
    -------
    float
        Of -log(error), per unit of budget.

    Examples
    --------
    >>> error_rate(n_arms=2, cost_ratio=1.0, complexity=2.0) == 1 / 768
    True
    """
    n_arms, _, complexity = checked_problem(n_arms, 1, complexity)
    return 1 / decay_budget(n_arms, cost_ratio, complexity)


def psi_sr_error_bound(rounds: int, *, n_arms: int, n_objectives: int, complexity: float) -> float:
    r"""Error of PSI-SR at unit costs, by the proof of `difference_error_bound` (ours, not of Kone et al.).

    .. math:: K(K-1)^2 D \exp\Bigl(-\frac{T - K}{16\, \overline{\log}(K) H_2}\Bigr)

    With k active arms its targets are at least :math:`(T - K) / (\overline{\log}(K)\, k)`, so that
    :math:`n_k \gamma_{(k)}^2 \ge (T - K) / (\overline{\log}(K) H_2)`; differences of means that err by less
    than :math:`\gamma_{(k)}/4` lead to no mistake, and each of the K (K - 1) D / 2 differences of independent
    arms errs by more in a phase with probability at most :math:`2 \exp(-n_k \gamma_{(k)}^2 / 16)`.  Ceilings
    lose nothing.

    Parameters
    ----------
    rounds : int
        T > K, the pulls that the budget holds.
    n_arms, n_objectives : int
        K >= 2 and D >= 1.
    complexity : float
        :math:`H_2 = \max_k k / \gamma_{(k)}^2`; ``inf`` is allowed.

    Returns
    -------
    float
        It may exceed one, and then says nothing.  :math:`\overline{\log}(K)` is
        `needed_allocation_constant` at unit costs.

    Examples
    --------
    >>> bound = psi_sr_error_bound(98, n_arms=2, n_objectives=1, complexity=3.0)
    >>> round(bound, 6)  # 2 exp(-2)
    0.270671
    """
    n_arms, n_objectives, complexity = checked_problem(n_arms, n_objectives, complexity)
    rounds = _check.count(rounds, "rounds", 1)
    if rounds <= n_arms:
        raise CobanditError(f"rounds: {rounds} for {n_arms} arms; PSI-SR needs more rounds than arms")
    allocation = needed_allocation_constant(n_arms, 1.0)
    rate = difference_error_rate(allocation=allocation, complexity=complexity)
    return n_arms * (n_arms - 1) ** 2 * n_objectives * exp(-rate * (rounds - n_arms))
