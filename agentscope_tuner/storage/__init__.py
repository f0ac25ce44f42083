"""Files by path on this machine, or by URL through fsspec: text, Parquet and Arrow."""
