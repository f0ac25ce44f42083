"""Graders with a prompt of their own, ready to use."""
