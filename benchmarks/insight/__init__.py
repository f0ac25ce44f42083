"""Red teams and monitors measured: real GRPO runs, honest and gamed, and judges with known holes."""
