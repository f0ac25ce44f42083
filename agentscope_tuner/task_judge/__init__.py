"""The trainer's contract: judges, the rules that run before them, and `load_judge`."""
