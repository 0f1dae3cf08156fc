"""Numerical checks of the paper's statements, step by step."""
