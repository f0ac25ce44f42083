"""One file for each trainer: it takes the trainer's call, returns `load_judge`'s verdict, and reports a failed verdict
in the way that this trainer handles best.
"""
