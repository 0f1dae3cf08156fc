"""The code of single pages: their numbers, their sentences and what they need on any table."""
