"""Verifiers: text in, verdict out, without configuration. All are pure but the sandbox, which runs worker processes."""
