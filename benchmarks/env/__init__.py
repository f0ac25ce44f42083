"""Benchmarks of the env service."""
