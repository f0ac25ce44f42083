"""Rollout files: one JSON object on each line, `{"id", "task": {…}, "output": {…}, "label"?: {…}}`."""
