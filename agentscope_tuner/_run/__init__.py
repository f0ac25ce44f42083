"""What runs: the pool of child processes that can be killed, background event loops, and threads for foreign code."""
