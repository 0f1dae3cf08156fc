"""The same algorithms, fast, over tables: streams, kernels, experiment drivers, parallel back ends."""

from cobandit.replay.allocation import replay_allocation
from cobandit.replay.identification import replay_identification
from cobandit.replay.methods import Spec, spec
from cobandit.replay.online import replay_online
from cobandit.replay.reference import Run, play

__all__ = ["Run", "Spec", "play", "replay_allocation", "replay_identification", "replay_online", "spec"]
