"""Numerical tests of the paper's theorems and of the steps of their proofs, by topic.

Each test computes a quantity that a proof bounds, exactly or by simulation. The bounds
are in `cobandit.theory` and `companion.bounds`, so a bound and its test share no code.
"""
