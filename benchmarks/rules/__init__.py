"""Benchmarks of the rule engine: `make bench-rules`."""
