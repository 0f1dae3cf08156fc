"""Tests of the error probabilities that the library promises, on difficult tables."""
