"""The same algorithms, fast, over tables: streams, kernels, experiment drivers, parallel back ends."""

from cobandit.replay.identification import replay_identification
from cobandit.replay.methods import Spec, spec
from cobandit.replay.online import replay_online, replay_paths
from cobandit.replay.reference import PlayedRun, play

__all__ = ["PlayedRun", "Spec", "play", "replay_identification", "replay_online", "replay_paths", "spec"]
