"""Checks rules on CSV, TSV, JSONL and Parquet tables, and counts their violations."""
