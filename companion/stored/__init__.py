"""Stored results of long computations, and the code that computes and verifies them."""
