"""Pure verifiers: text in, verdict out. No configuration, no I/O, no state."""
