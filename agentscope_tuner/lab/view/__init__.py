"""A page to read rollouts and their verdicts: `astuner view` serves it, `astuner report` writes it as one file.

The page's sources are in `web/` at the top of the repository, and its built files in `static/`. `index` keeps the rows
in SQLite. `queries` and `overview` ask the index for pages of rows and for sums. A rollout's whole text is read from
its file when somebody opens the rollout.
"""
