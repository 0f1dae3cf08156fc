"""What judges the paper: its numbers, the checks of its proofs, reconstructions, stored results, reports.

It stands on the library; nothing in the library imports it.
"""
