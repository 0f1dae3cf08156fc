"""Functions for the book's pages: their numbers, sentences, tables and figures."""
