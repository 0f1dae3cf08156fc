"""Simulated runs of policies on tables (replays): compiled code and parallel runs."""

from cobandit.policies.registry import Spec as Spec
from cobandit.policies.registry import spec as spec
from cobandit.replay.drivers import replay_identification as replay_identification
from cobandit.replay.drivers import replay_online as replay_online
from cobandit.replay.drivers import replay_paths as replay_paths
from cobandit.replay.running import PlayedRun as PlayedRun
from cobandit.replay.running import play as play
