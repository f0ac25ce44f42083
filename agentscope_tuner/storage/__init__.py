"""Files wherever they are: paths of this machine, and URLs that fsspec reaches; text, Parquet and Arrow."""
