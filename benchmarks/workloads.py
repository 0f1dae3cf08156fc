"""Workloads of the benchmarks: runs of kernels and classes on random tables.

A kernel is the compiled form of a policy class. Times are processor times, so other
programs have little effect.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobandit import _validation
from cobandit.dominance import pareto_mask
from cobandit.errors import CobanditError
from cobandit.policies import PSISR, CoHVUCB, CoPSI, CoPSIOnce, ParetoRace
from cobandit.replay.kernels import FeedbackRows
from cobandit.replay.running import run_kernel

SCALES: dict[str, Any] = {"reward_scale": 0.01, "cost_scale": 0.01}  # the paper's
# alternate pulls between arms, so that different memory is read
WIDER = dict.fromkeys(SCALES, 0.1)


def random_rows(
    rng: np.random.Generator, n_arms: int, n_objectives: int, instances: int
) -> NDArray[np.float64]:
    """Draw the rows of a random table for a kernel: cost, scaled cost, rewards.

    Mean costs differ by a factor of up to ten.

    Examples
    --------
    >>> random_rows(np.random.default_rng(0), 3, 2, instances=4).shape
    (12, 4)
    """
    n = n_arms * instances
    costs = np.repeat(rng.uniform(0.1, 1.0, n_arms), instances) * rng.uniform(
        0.5, 1.0, n
    )
    means = np.repeat(rng.uniform(0.1, 0.9, (n_arms, n_objectives)), instances, axis=0)
    rewards = np.clip(means + rng.normal(0, 0.2, means.shape), 0, 1)
    return np.column_stack([costs, costs / costs.max(), rewards])


class Online:
    """Runs of CoHV-UCB on a random table of K arms, by kernel and by class.

    Examples
    --------
    >>> run = Online(10, 2, rho=4)
    >>> bool(run.compiled() > 10) and bool(len(list(run.readable())) > 10)
    True
    """

    def __init__(
        self,
        n_arms: int,
        n_objectives: int,
        rho: float,
        instances: int = 20,
        scales: Mapping[str, Any] = SCALES,
    ):
        self.scales = scales
        self.rows = random_rows(
            np.random.default_rng(n_arms), n_arms, n_objectives, instances
        )
        self.costs = self.rows[:, 0].reshape(n_arms, instances).mean(axis=1)
        self.feedback = FeedbackRows(
            self.rows, np.arange(0, len(self.rows) + 1, instances)
        )
        self.budget = rho * float(self.costs.sum())
        self.shape = (n_arms, n_objectives)

    def policy(self) -> CoHVUCB:
        """Return a fresh policy."""
        cost_range = (self.rows[:, 0].min(), self.rows[:, 0].max())
        return CoHVUCB(
            *self.shape,
            self.budget,
            cost_range,
            expected_costs=self.costs,
            **self.scales,
        )

    def compiled(self, replications: int = 1) -> int:
        """Run the kernel, and return the number of pulls."""
        pulls, *_ = run_kernel(self.policy(), self.feedback, 0, np.arange(replications))
        return int(pulls.sum())

    def readable(self) -> Iterator[int]:
        """Run the class on the same table, and yield the arm of each pull."""
        policy = self.policy()
        instances = len(self.rows) // self.shape[0]
        s = 0
        while (arm := policy.ask()) is not None:
            row = self.rows[arm * instances + s % instances]
            policy.tell(arm, row[2:], float(row[0]))
            s += 1
            yield arm

    def megabytes(self) -> tuple[float, float]:
        """Return the size of the table, and of a kernel run's further arrays.

        Examples
        --------
        >>> Online(1000, 2, rho=4).megabytes()
        (0.648008, 0.081768)
        """
        n_arms, n_objectives = self.shape
        # the tree has a value and an arm at each of two nodes per leaf
        leaves = 1 << (n_arms - 1).bit_length()
        run = (
            8 * (4 * leaves + n_arms * (n_objectives + 1 + 3)) + n_arms
        )  # sums; keys, pulls, rows; affordable
        return _size(self.feedback) / 1e6, run / 1e6


class Front:
    """Runs of CoPSI on K arms without noise, with a Pareto front of a given size.

    Examples
    --------
    >>> Front(40, rho=200, front=10).compiled().sum()
    np.int64(10)
    """

    def __init__(self, n_arms: int, rho: float, front: int = 30):
        rng = np.random.default_rng(n_arms)
        first = np.linspace(0.3, 0.9, front)
        best = np.column_stack([first, 1.2 - first])
        weaker = best[rng.integers(front, size=n_arms - front)] - rng.uniform(
            0.05, 0.28, (n_arms - front, 1)
        )
        self.means = np.vstack([best, weaker])[rng.permutation(n_arms)]
        if pareto_mask(self.means).sum() != front:
            raise CobanditError(f"the random arms do not have a front of size {front}")
        self.costs = rng.uniform(0.1, 1.0, n_arms)
        columns = np.column_stack([self.costs, self.costs, self.means])
        self.feedback = FeedbackRows(columns, np.arange(n_arms + 1))
        self.budget = rho * float(self.costs.sum())

    def compiled(self) -> NDArray[np.bool_]:
        """Run one replication by the kernel, and return the mask of returned arms."""
        policy = CoPSI(self.costs, self.budget, 2)
        runs = run_kernel(policy, self.feedback, 0, np.arange(1), realised=False)
        return np.asarray(runs.returned[0])

    def readable(self) -> NDArray[np.int64]:
        """Run the class, and return the arms that it recommends."""
        policy = CoPSI(self.costs, self.budget, 2)
        while (arm := policy.ask()) is not None:
            policy.tell(arm, self.means[arm])
        return policy.recommend()

    def megabytes(self) -> tuple[float, float]:
        """Return the size of the table, and of a kernel run's further arrays.

        Examples
        --------
        >>> Front(1000, rho=200).megabytes()
        (0.040008, 0.121)
        """
        n_arms, n_objectives = self.means.shape
        # sums and means; keys, two gaps, front, active, order, costs, pulls, three for
        # sorting; returned
        return (
            _size(self.feedback) / 1e6,
            n_arms * (8 * (2 * n_objectives + 11) + 1) / 1e6,
        )


class Rejects:
    """Runs of PSI-SR on K noisy arms, with a budget of T evaluations at equal costs.

    Examples
    --------
    >>> run = Rejects(10, 500)
    >>> int(run.compiled(2)) > 900 and run.readable() > 450
    True
    """

    def __init__(self, n_arms: int, evaluations: int, instances: int = 100):
        self.rows = random_rows(np.random.default_rng(n_arms), n_arms, 2, instances)
        self.rows[:, :2] = 1.0
        self.feedback = FeedbackRows(
            self.rows, np.arange(0, len(self.rows) + 1, instances)
        )
        self.costs = np.ones(n_arms)
        self.budget = float(evaluations)
        self.instances = instances

    def compiled(self, replications: int = 1) -> int:
        """Run the kernel, and return the number of pulls."""
        policy = PSISR(self.costs, self.budget, 2)
        pulls, *_ = run_kernel(
            policy, self.feedback, 0, np.arange(replications), realised=False
        )
        return int(pulls.sum())

    def readable(self) -> int:
        """Run the class, instance by instance, and return the number of pulls."""
        policy = PSISR(self.costs, self.budget, 2)
        s = 0
        while (arm := policy.ask()) is not None:
            policy.tell(arm, self.rows[arm * self.instances + s % self.instances, 2:])
            s += 1
        return s


class Once:
    """Runs of `CoPSIOnce` on K noisy arms with two objectives.

    The budget is a share of the cost of evaluating everything.

    Examples
    --------
    >>> 10 * 5 <= Once(10, share=0.5, instances=40).compiled() < 10 * 40
    True
    """

    def __init__(self, n_arms: int, share: float, instances: int = 300):
        rows = random_rows(np.random.default_rng(n_arms), n_arms, 2, instances)
        self.costs = rows[:, 0].reshape(n_arms, instances).mean(axis=1)
        self.feedback = FeedbackRows(
            rows, np.arange(0, len(rows) + 1, instances), once=True
        )
        self.budget = share * instances * float(self.costs.sum())
        self.instances = instances

    def compiled(self) -> int:
        """Run one replication by the kernel, and return the number of pulls."""
        policy = CoPSIOnce(self.costs, self.budget, 2, self.instances)
        pulls, *_ = run_kernel(policy, self.feedback, 0, np.arange(1), realised=False)
        return int(pulls.sum())


class Race:
    """Runs of `ParetoRace` on K noisy arms with two objectives and noisy costs.

    Costs are compared, and the tolerance of the objectives is 0.02.

    Examples
    --------
    >>> 10 * 20 <= Race(10, instances=40).compiled() < 10 * 40
    True
    """

    def __init__(self, n_arms: int, instances: int = 300):
        rows = random_rows(np.random.default_rng(n_arms), n_arms, 2, instances)
        self.costs = rows[:, 0].reshape(n_arms, instances).mean(axis=1)
        self.feedback = FeedbackRows(
            rows, np.arange(0, len(rows) + 1, instances), once=True
        )
        self.instances = instances

    def compiled(self) -> int:
        """Run one replication by the kernel, and return the number of pulls."""
        policy = ParetoRace(self.costs, 2, self.instances, tolerance=0.02)
        pulls, *_ = run_kernel(policy, self.feedback, 0, np.arange(1))
        return int(pulls.sum())


def _size(feedback: FeedbackRows) -> int:
    return feedback.rows.nbytes + feedback.offsets.nbytes


def processor_seconds(
    function: Callable[[], Any], repetitions: int = 3
) -> tuple[float, Any]:
    """Return the smallest processor time of several calls, and the last result.

    Examples
    --------
    >>> seconds, value = processor_seconds(lambda: sum(range(10)))
    >>> seconds >= 0, value
    (True, 45)
    """
    times = []
    value = None
    for _ in range(_validation.count(repetitions, "repetitions", 1)):
        start = process_time()
        value = function()
        times.append(process_time() - start)
    return min(times), value


def pull_seconds(
    n_arms: int, pulls: int, n_objectives: int = 2, scales: Mapping[str, Any] = SCALES
) -> float:
    """Measure the time of a pull by the kernel, from a longer and a shorter run.

    Both runs pull each arm more than once.

    Parameters
    ----------
    n_arms : int
    pulls : int
        Approximate difference between the numbers of pulls of the two runs.
    n_objectives : int
    scales : mapping
        ``reward_scale`` and ``cost_scale`` of the policy.

    Returns
    -------
    float
        Seconds per pull.

    Examples
    --------
    >>> 0 < pull_seconds(100, 100_000) < 1e-3
    True
    """
    extra = max(2.0, pulls / n_arms)
    short, long = (
        Online(n_arms, n_objectives, rho, scales=scales) for rho in (2.0, 2.0 + extra)
    )
    first, few = processor_seconds(short.compiled)
    second, many = processor_seconds(long.compiled)
    return max(second - first, 1e-12) / (many - few)
