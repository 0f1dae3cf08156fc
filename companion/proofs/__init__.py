"""Simulations and exact computations that test the steps of the paper's proofs, one module a step.

Nothing here is part of a method.  Each function measures one quantity that a proof
bounds; the bounds themselves are in `cobandit.theory`, so that what is tested and what
it is tested with stay apart.
"""
