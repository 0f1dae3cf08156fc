"""Results that take too long for a page: stored, recomputed in part by pages, and in whole by `verify`."""
