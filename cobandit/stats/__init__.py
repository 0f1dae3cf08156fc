"""Regrets, scores and their intervals; methods compared replication by replication."""
