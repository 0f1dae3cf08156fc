"""What judges the paper: its numbers, the checks of its proofs, made-up tables, stored results, reports.

It stands on the library; nothing in the library imports it.
"""
