"""Rubrics learned from labelled samples: configuration, learning, evaluation, the saved result."""
