"""Shared parts of the tests: strategies, drawn tables, writers of logs."""
