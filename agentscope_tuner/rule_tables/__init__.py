"""Rules over CSV, TSV, JSONL and Parquet tables, and the tally of what they found."""
