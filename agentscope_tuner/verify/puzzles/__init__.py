"""Puzzles judged by the scorers of a puzzle collection, which run in a jail."""
