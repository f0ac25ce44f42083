"""Watches a run for gaming while it trains: monitors of every step, and second opinions with an error bound."""
