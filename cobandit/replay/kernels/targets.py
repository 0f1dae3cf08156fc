"""Targets of the gap eliminations."""

from __future__ import annotations

from math import ceil, floor
from typing import NamedTuple

from cobandit import policies
from cobandit._check import SLACK
from cobandit.replay.kernels.elimination import elimination_target
from cobandit.replay.kernels.registry import ONCE


class CoPSIParameters(NamedTuple):
    """What the target of CoPSI reads."""

    budget: float
    allocation_constant: float


class CoPSIExactParameters(NamedTuple):
    """What the target of CoPSI with the exact constant reads: the same formula, another constant."""

    budget: float
    allocation_constant: float


@elimination_target(policies.CoPSIExact, CoPSIExactParameters)
@elimination_target(policies.CoPSI, CoPSIParameters)
def _copsi_target(at, p):
    return floor(p.budget / (p.allocation_constant * at.round_cost) * (1.0 + SLACK))


class CoPSIPrintedOnceParameters(NamedTuple):
    """What the target of CoPSI as printed reads on a finite benchmark."""

    budget: float
    allocation_constant: float
    n_instances: int


@elimination_target(policies.CoPSIPrintedOnce, CoPSIPrintedOnceParameters, ONCE)
def _copsi_once_target(at, p):
    target = floor(p.budget / (p.allocation_constant * at.round_cost) * (1.0 + SLACK))
    return min(p.n_instances, target)


class CoPSIAdaptiveParameters(NamedTuple):
    """What the target of CoPSI with the adaptive constant reads."""

    budget: float


@elimination_target(policies.CoPSIAdaptive, CoPSIAdaptiveParameters)
def _copsi_adaptive_target(at, p):
    budget = p.budget - (at.spent - at.reached * at.round_cost)  # less what the arms that left were charged
    constant = 1.0  # L* of those that are left, from the cheapest upwards
    left = at.costs[0] + at.costs[1]
    for cost in at.costs[2:]:
        left += cost
        constant += cost / left
    return floor(budget / (constant * at.round_cost) * (1.0 + SLACK))


class PSISRParameters(NamedTuple):
    """What the target of PSI-SR reads."""

    n_arms: int
    n_rounds: int
    log_bar: float


@elimination_target(policies.PSISR, PSISRParameters)
def _psi_sr_target(at, p):
    return ceil((p.n_rounds - p.n_arms) / (p.log_bar * (p.n_arms + 1 - at.phase)) * (1.0 - SLACK))


class PSISROnceParameters(NamedTuple):
    """What the target of PSI-SR reads on a finite benchmark."""

    n_arms: int
    n_rounds: int
    log_bar: float
    n_instances: int


@elimination_target(policies.PSISROnce, PSISROnceParameters, ONCE)
def _psi_sr_once_target(at, p):
    return min(p.n_instances, _psi_sr_target(at, p))
