"""Mathematics as models write it: read and compared. A worker process decides the pairs that cheap stages cannot."""
