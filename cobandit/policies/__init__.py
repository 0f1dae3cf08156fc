"""The algorithms, ask and tell, made to be read next to the paper: one algorithm per file."""

from cobandit.policies.accuracy_cost_ucb import AccuracyCostUCB
from cobandit.policies.asktell import Pull
from cobandit.policies.cohv_kl_ucb import CoHVKLUCB
from cobandit.policies.cohv_ucb import CoHVUCB
from cobandit.policies.cohv_ucb_v import CoHVUCBV
from cobandit.policies.copsi import CoPSI
from cobandit.policies.copsi_adaptive import CoPSIAdaptive
from cobandit.policies.copsi_exact import CoPSIExact
from cobandit.policies.copsi_once import CoPSIOnce
from cobandit.policies.hv_ucb import HVUCB
from cobandit.policies.identification import Phase
from cobandit.policies.once_baselines import CoPSIPrintedOnce, EGESHOnce, PSISROnce, UniformOnce
from cobandit.policies.online import BestArm
from cobandit.policies.pareto_race import ParetoRace
from cobandit.policies.psi_sr import PSISR
from cobandit.policies.uniform_allocation import UniformAllocation
from cobandit.policies.uniform_identification import UniformIdentification

__all__ = [
    "HVUCB",
    "PSISR",
    "AccuracyCostUCB",
    "BestArm",
    "CoHVKLUCB",
    "CoHVUCB",
    "CoHVUCBV",
    "CoPSI",
    "CoPSIAdaptive",
    "CoPSIExact",
    "CoPSIOnce",
    "CoPSIPrintedOnce",
    "EGESHOnce",
    "PSISROnce",
    "ParetoRace",
    "Phase",
    "Pull",
    "UniformAllocation",
    "UniformIdentification",
    "UniformOnce",
]
