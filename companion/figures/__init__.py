"""Figures that only pages of the book draw."""
