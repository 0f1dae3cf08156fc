"""Stored results, which pages recompute in part and `verify` as a whole."""
