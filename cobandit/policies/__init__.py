"""The algorithms as policies with ``ask`` and ``tell``, and a registry of them."""

from importlib import import_module
from pkgutil import iter_modules

from cobandit.policies.asktell import Pull as Pull
from cobandit.policies.baselines import HVUCB as HVUCB
from cobandit.policies.baselines import PSISR as PSISR
from cobandit.policies.baselines import AccuracyCostUCB as AccuracyCostUCB
from cobandit.policies.baselines import UniformAllocation as UniformAllocation
from cobandit.policies.baselines import UniformIdentification as UniformIdentification
from cobandit.policies.cohv_ucb import CoHVKLUCB as CoHVKLUCB
from cobandit.policies.cohv_ucb import CoHVUCB as CoHVUCB
from cobandit.policies.cohv_ucb import CoHVUCBV as CoHVUCBV
from cobandit.policies.copsi import CoPSI as CoPSI
from cobandit.policies.copsi import CoPSIAdaptive as CoPSIAdaptive
from cobandit.policies.copsi import CoPSIExact as CoPSIExact
from cobandit.policies.copsi_once import CoPSIOnce as CoPSIOnce
from cobandit.policies.identification_policy import Phase as Phase
from cobandit.policies.once_policy import CoPSIPrintedOnce as CoPSIPrintedOnce
from cobandit.policies.once_policy import EGESHOnce as EGESHOnce
from cobandit.policies.once_policy import PSISROnce as PSISROnce
from cobandit.policies.once_policy import UniformOnce as UniformOnce
from cobandit.policies.online_policy import BestArm as BestArm
from cobandit.policies.pareto_race import ParetoRace as ParetoRace
from cobandit.policies.registry import Spec as Spec
from cobandit.policies.registry import spec as spec

# a method is registered when its module is imported
for _module in iter_modules(__path__, f"{__name__}."):
    import_module(_module.name)
