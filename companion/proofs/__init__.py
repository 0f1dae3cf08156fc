"""Numerical tests of the steps of the paper's proofs, one module per topic.

Nothing here is part of a method. Each function measures a quantity that a proof bounds.
The bounds themselves are in `cobandit.theory` and `companion.bounds`, so a bound
and its test share no code.
"""
