"""Targets of the gap eliminations."""

from __future__ import annotations

from math import floor
from typing import NamedTuple

import numpy as np

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

    targets: np.ndarray


class PSISROnceParameters(NamedTuple):
    """The same of PSI-SR on a finite benchmark, its targets cut at N."""

    targets: np.ndarray


@elimination_target(policies.PSISROnce, PSISROnceParameters, ONCE)
@elimination_target(policies.PSISR, PSISRParameters)
def _psi_sr_target(at, p):
    return p.targets[at.phase - 1]
