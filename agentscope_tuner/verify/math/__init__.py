"""Mathematics as models write it: read, compared, and decided in a worker process where cheap stages cannot."""
