"""Rubrics learned from sixty labelled samples, with a model that runs on this machine."""
