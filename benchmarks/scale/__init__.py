"""Benchmarks at scale: engines on this machine and on Ray, and the reward service over HTTP."""
