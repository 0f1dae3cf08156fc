"""Tests of the library's promises about errors, on tables designed to break them."""
