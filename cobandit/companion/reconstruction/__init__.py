"""Reconstructions of the paper's two tables, which are not public.

A documented generator (`generator`) draws a table from a hierarchy of models and configurations; its
parameters are fitted (`fit`, `loss`) to a stated part of the published numbers (`settings`), each of which is
a check (`targets`).  What the paper's own algorithms do on such a table is not looked at in the fit: it is
predicted.  Names of models are labels and nothing more: the effects of all models are drawn alike, and no row
says anything about the model it is named after.

``data/reconstruction.json`` holds fitted parameters: of each table member 0, which is bundled, and an
ensemble of others that were fitted in the same way from other random numbers.
"""

from cobandit.companion.reconstruction.generator import Parameters
from cobandit.companion.reconstruction.settings import SETTINGS, SUBSET
from cobandit.companion.reconstruction.tables import (
    STORE,
    card,
    frame,
    member,
    members,
    setting,
    store,
    write,
)

__all__ = [
    "SETTINGS",
    "STORE",
    "SUBSET",
    "Parameters",
    "card",
    "frame",
    "member",
    "members",
    "setting",
    "store",
    "write",
]
