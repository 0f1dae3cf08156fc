"""The kernel of CoHV-KL-UCB."""

from __future__ import annotations

from math import exp, inf, log, log1p, pi, sqrt
from typing import NamedTuple

from cobandit import policies
from cobandit.policies.cohv_kl_ucb import LEAST, MOST_STEPS, START, STEP
from cobandit.replay.kernels._cache import inner
from cobandit.replay.kernels.online import online_index


class CoHVKLUCBParameters(NamedTuple):
    """What the index of CoHV-KL-UCB reads."""

    log_term: float
    cost_ratio: float


@inner
def _cheapest(q, eta, lam):
    """Share z of the way from lambda to 1 that the optimistic cost is at."""
    square, linear = (1 - lam) * (eta - 1), (1 - lam) * (1 - eta * q) + eta * lam
    constant = eta * q * lam
    root = sqrt(max(0.0, linear * linear + 4 * square * constant))
    if linear < 0:
        return min(q, (root - linear) / (2 * square))
    return min(q, 2 * constant / (linear + root)) if constant > 0 else 0.0


@online_index(policies.CoHVKLUCB, CoHVKLUCBParameters)
def _cohv_kl_ucb_index(n, sums, squares, p):
    lam, coordinates = p.cost_ratio, len(sums)
    span = 1 - lam
    allowed = (p.log_term + coordinates / 2 * log(pi * (n + 0.5))) / n
    q = min(1.0, max(0.0, (sums[0] / n - lam) / span)) if span > 0 else 0.0
    eta = (coordinates - 1 + span / lam) / allowed
    spread = q * (1 - q) * (span / (lam + span * q)) ** 2
    for d in range(1, coordinates):
        spread += (n - sums[d]) / sums[d] if sums[d] > 0 else -inf
    if spread > 0 and sqrt(spread / (2 * allowed)) > START:
        eta = sqrt(spread / (2 * allowed))
    at, low, high = log(eta), LEAST, inf
    for _ in range(MOST_STEPS):
        eta = exp(at)
        value, slope = 0.0, 0.0
        for d in range(1, coordinates):
            r = sums[d] / n
            value += (1 - r) * log1p(1 / eta)
            if r > 0:
                value -= r * log1p((1 - r) / (r * (1 + eta)))
            slope -= (1 - r) / ((1 + eta * r) * (1 + eta))
        z = _cheapest(q, eta, lam)
        if q > z:
            value += q * log(q / z)
            if q < 1:
                value += (1 - q) * log((1 - q) / (1 - z))
            slope -= span * (q - z) / (span * (1 - 2 * z) + eta * (lam + span * z) - eta * (q - z) * span)
        if value > allowed:
            low = at
        else:
            high = at
        after = low
        if value > 0 and slope < 0:
            after = at - value * log(value / allowed) / slope
        if not low < after < high:
            after = (low + high) / 2 if high < inf else at + 1
        step = after - at
        at = after
        if abs(step) < STEP:
            break
    eta = exp(at)
    hypervolume = 1.0
    for d in range(1, coordinates):
        hypervolume *= (1 + eta * sums[d] / n) / (1 + eta)
    return hypervolume / (lam + span * _cheapest(q, eta, lam))
