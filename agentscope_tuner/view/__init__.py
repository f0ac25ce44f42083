"""A page to read rollouts and their verdicts: `astuner view` serves it, `astuner report` writes it as one file.

The page's sources are in `web/` at the top of the repository, its built files in `static/`. Rows are indexed in SQLite
(`index`), pages and sums are asked of the index (`listing`, `overview`), and a rollout's own text is read from its file
when somebody opens it.
"""
