"""The algorithms as the paper writes them, ask and tell, made to be read beside it."""

from cobandit.policies.identification import PSISR, CoPSI, Phase, UniformIdentification
from cobandit.policies.online import HVUCB, AccuracyCostUCB, CoHVUCB, UniformAllocation

__all__ = [
    "HVUCB",
    "PSISR",
    "AccuracyCostUCB",
    "CoHVUCB",
    "CoPSI",
    "Phase",
    "UniformAllocation",
    "UniformIdentification",
]
