"""Benchmarks: one command each, ratios or rates measured in one run, never asserted in tests."""
