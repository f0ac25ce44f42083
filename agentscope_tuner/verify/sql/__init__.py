"""Queries judged by their results: run in a jail on a database that cannot be written, compared outside."""
