"""Figures of the book that are not part of the library."""
