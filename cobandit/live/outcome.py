"""What a run leaves: its evaluations as a table with a card, and what its method recommends."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

import cobandit
from cobandit.live.folder import RunFolder
from cobandit.live.pilot import FAILED
from cobandit.live.plan import Plan
from cobandit.live.scoring import worst
from cobandit.live.stages import Key, MainStage
from cobandit.policies.identification import IdentificationPolicy
from cobandit.tables.saving import save
from cobandit.tables.table import EvaluationTable

UNSET = "not set"
