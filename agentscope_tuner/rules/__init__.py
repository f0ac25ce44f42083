"""Cheap prefilters that run before any judge."""
