"""Stored results: recomputed in part by pages, and as a whole by `verify`."""
