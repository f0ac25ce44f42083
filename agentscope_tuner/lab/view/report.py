"""Writes the page as one file that opens from disk, with its code, its style and its rows."""

from __future__ import annotations

import base64
import gzip
import hashlib
import html
import json
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

from agentscope_tuner.lab.labels import LabelsFile, beside, read_alarms
from agentscope_tuner.lab.view.index import Reader, RowIndex
from agentscope_tuner.lab.view.overview import name_beside, run_of
from agentscope_tuner.lab.view.queries import IndexReader, condition_of
from agentscope_tuner.storage import write_whole

#: The folder of the built page; `make page` builds it from `web/`.
STATIC = Path(__file__).parent / "static"
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="generator" content="astuner report">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<div id="app"></div>
<noscript>This report shows its rows with JavaScript, which is switched off here.</noscript>
<script type="application/octet-stream" id="report-data">{data}</script>
<script type="module">{script}</script>
</body>
</html>
"""


def write_report(
    source: Path,
    target: Path,
    *,
    labels: Path,
    earlier: Path | None = None,
    others: Sequence[Path] = (),
    limit: int,
    read: Reader | None = None,
) -> dict[str, int]:
    """Write the report of `source` to `target`, with whole groups and about `limit` rows at most.

    Of the runs `others` the report has the curves alone. `read` is that of RowIndex.

    Returns:
        `rows`, the rows of `source`; `shown`, the rows in the report; `bytes`, the size of the report.

    Raises:
        ConfigError: a table or a packed file cannot be read.
        OSError: a file cannot be read or written.
    """
    with ExitStack() as stack:
        paths = [path for path in (source, earlier) if path is not None]
        index, *before = (stack.enter_context(closing(RowIndex(path, read))) for path in paths)
        for each in (index, *before):
            each.update()
        data = _data(index, LabelsFile(labels), *before, limit=limit)
        data["runs"] = [_other_run(other, source, read) for other in others]
        data["alarms"] = read_alarms(beside(source, "alarms"))
    page = _page(source.name, data)
    # renaming onto a link would replace the link
    target = target.resolve() if target.is_symlink() else target
    target.parent.mkdir(parents=True, exist_ok=True)
    write_whole(target, page)
    return {"rows": data["of"], "shown": len(data["rows"]), "bytes": target.stat().st_size}


class RowsPage:
    """The page of some rows, for a notebook, which shows it where a cell ends with it.

    Attributes:
        html: the page, as `astuner report` writes it.
    """

    def __init__(self, html_: str) -> None:
        self.html = html_

    def _repr_html_(self) -> str:
        # Sandboxed without an origin: nothing in the page reaches the notebook around it
        page = html.escape(self.html, quote=True)
        return (
            f'<iframe srcdoc="{page}" sandbox="allow-scripts allow-downloads" style="width: 100%; height: 760px; '
            'border: 1px solid #8884; border-radius: 8px"></iframe>'
        )


def show(rows: str | Path | Iterable[Mapping[str, Any]], *, limit: int = 2_000) -> RowsPage:
    """The page of `astuner report` in a notebook.

        show("out/scored.jsonl")
        show([row.model_dump() for row in rows])

    Args:
        rows: a scored file, as lines or a table, a folder of files of lines, or scored rows.
        limit: rows in the page at the most; of more, whole groups at even distances.

    Raises:
        ConfigError: a table or a packed file cannot be read.
        OSError: the file cannot be read.
    """
    with tempfile.TemporaryDirectory(prefix="astuner-show-") as folder:
        if isinstance(rows, str | Path):
            source = Path(rows)
            if not source.exists():
                raise FileNotFoundError(f"there is no file {str(source)!r}: name what `astuner judge --output` wrote")
        else:
            source = Path(folder) / "rows.jsonl"
            source.write_text("".join(json.dumps(row, default=str) + "\n" for row in rows), encoding="utf-8")
        target = Path(folder) / "page.html"
        write_report(source, target, labels=beside(source, "labels"), limit=limit)
        return RowsPage(target.read_text(encoding="utf-8"))


def _data(index: RowIndex, labels: LabelsFile, earlier: RowIndex | None = None, *, limit: int) -> dict[str, Any]:
    every = max(1, -(-index.rows // max(1, limit)))
    with closing(IndexReader(index, labels, earlier)) as reader, reader.ready_for(condition_of({})) as database:
        picked = "SELECT n FROM rows WHERE coalesce(grp, n) % ? = 0 ORDER BY n"
        wanted = [row[0] for row in database.execute(picked, (every,))]
        rows = [{**row, "row": json.dumps(row["row"])} for row in reader.whole_rows(wanted)]
    return {
        "name": index.source.name,
        "rows": rows,
        "of": index.rows,
        "every": every,
        "earlier": earlier.source.name if earlier else None,
    }


def _other_run(source: Path, shown: Path, read: Reader | None) -> dict[str, Any]:
    with closing(RowIndex(source, read)) as index:
        index.update()
        with closing(IndexReader(index, LabelsFile(beside(source, "labels")))) as reader:
            return run_of(reader, name_beside(source, shown), {})


def _page(name: str, data: dict[str, Any]) -> str:
    """The page. Its rows are compressed and in base64, so that none of their text can end a script or open a tag."""
    script = (STATIC / "app.js").read_text(encoding="utf-8")
    style = (STATIC / "app.css").read_text(encoding="utf-8")
    for text, end in ((script, "</script"), (style, "</style"), (script, "<!--")):
        if end in text:
            raise ValueError(f"the built page holds {end!r}, which would end it inside a report: build it anew")
    policy = (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; font-src data:; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    packed = base64.b64encode(gzip.compress(json.dumps(data).encode(), 6, mtime=0)).decode()
    title = html.escape(f"{name} · astuner")
    return _PAGE.format(policy=policy, title=title, style=style, script=script, data=packed)


def _digest(text: str) -> str:
    """The hash by which a content security policy allows an inline script."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
