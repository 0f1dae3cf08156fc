"""Judges of the paper: numbers, proof checks, reconstructions, results, reports.

It builds on the library, and nothing in the library imports it.
"""
