"""Runs code in the background: pools of child processes that can be killed, event loops, and threads."""
