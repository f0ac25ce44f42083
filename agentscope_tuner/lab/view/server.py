"""The questions that the page may ask about one run, and the server that answers them, for one person here."""

from __future__ import annotations

import hmac
import json
import logging
import secrets
import socket
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import closing, nullcontext
from pathlib import Path
from typing import Any, get_args

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from agentscope_tuner._run import interrupts
from agentscope_tuner.errors import told
from agentscope_tuner.lab.labels import LabelsFile, PersonsVerdict, beside, read_alarms
from agentscope_tuner.lab.view.index import Reader, RowIndex
from agentscope_tuner.lab.view.overview import name_beside, overview, run_of
from agentscope_tuner.lab.view.queries import BadFilter, IndexReader, condition_of
from agentscope_tuner.lab.view.report import STATIC
from agentscope_tuner.records.reader import object_in

_log = logging.getLogger(__name__)
POLL_SECONDS = 0.3
#: The most rows that the page hands out at once: a browser holds them in memory.
MOST_EXPORTED = 20_000
#: Judges a row again. Takes the rows of its group as they stand in the file, and the row's index; returns a text.
Explainer = Callable[[list[Any], int], str]


class ViewSession:
    """One run that is shown: its index, which follows the file, and people's labels of its rows.

    Args:
        source: a scored file, which need not exist yet, or a folder of scored files.
        labels: the labels file.
        earlier: a scored file of the same rows, to compare with.
        others: scored files of other runs, whose curves are laid over this run's.
        explain: judges a row again; None if no configuration was given.
        read: see RowIndex.

    Attributes:
        index: the index of the file that is shown.
        indexes: this index, that of earlier verdicts, and those of other runs.
    """

    def __init__(
        self,
        source: Path,
        labels: Path,
        *,
        earlier: Path | None = None,
        others: Sequence[Path] = (),
        explain: Explainer | None = None,
        read: Reader | None = None,
    ) -> None:
        self._source, self._explain = source, explain
        self._labels = LabelsFile(labels)
        self.index = RowIndex(source, read)
        self._earlier = RowIndex(earlier, read) if earlier is not None else None
        self._others = [RowIndex(other, read) for other in others]
        self._other_readers = [IndexReader(index, LabelsFile(beside(index.source, "labels"))) for index in self._others]
        # Two connections, so that a page of the table does not wait for an overview
        self._table = IndexReader(self.index, self._labels, self._earlier)
        self._charts = IndexReader(self.index, self._labels, self._earlier)
        self._overviews: dict[tuple[object, ...], dict[str, Any]] = {}
        self._explaining = threading.Lock()
        earlier_index = [] if self._earlier is None else [self._earlier]
        self.indexes = [self.index, *earlier_index, *self._others]
        self._threads = [threading.Thread(target=self._follow, args=(i,), daemon=True) for i in self.indexes]

    def start(self) -> None:
        """Start the threads that follow the files."""
        for thread in self._threads:
            thread.start()

    def _follow(self, index: RowIndex) -> None:
        while True:
            try:
                index.follow(POLL_SECONDS)
                return
            except OSError:
                # The disk of the index or of the rows failed. Try again; the page shows the rows read so far meanwhile
                _log.exception("cannot read %s", index.source)
                threading.Event().wait(1.0)

    def close(self) -> None:
        """Stop following, and remove the index."""
        for index in self.indexes:
            index.stop()
        for thread in self._threads:
            if thread.is_alive():
                thread.join(10)
        for reader in (self._table, self._charts, *self._other_readers):
            reader.close()
        for index in self.indexes:
            index.close()

    def state(self, given: Mapping[str, str]) -> dict[str, Any]:
        """The state that changes while a run writes, and the actions that the page may offer."""
        earlier = self._earlier
        return {
            "name": self._source.name or str(self._source),
            "epoch": sum(index.epoch for index in self.indexes),
            "version": sum(index.version for index in self.indexes),
            "rows": self.index.rows,
            "reading": self.index.share_read,
            "labels": str(self._labels.path),
            "earlier": earlier.source.name if earlier else None,
            "explain": self._explain is not None,
            "report": None,
        }

    def rows(self, given: Mapping[str, str]) -> dict[str, Any]:
        """A page of rows.

        Raises:
            BadFilter: a filter, the sort or a number cannot be read.
        """
        filters, (offset, limit) = dict(given), (_count(given, "offset", 0), _count(given, "limit", 100))
        sort = filters.pop("sort", "row")
        for key in ("offset", "limit"):
            filters.pop(key, None)
        return {"version": self.index.version, **self._table.page(filters, sort, offset, limit)}

    def row(self, given: Mapping[str, str]) -> dict[str, Any] | None:
        """One row, whole, and its counterpart in the earlier file."""
        found = self._table.whole_row(_count(given, "n", 0))
        if found is not None and self._earlier is not None and (other := self._earlier_row(found["n"])) is not None:
            with closing(IndexReader(self._earlier, self._labels)) as with_earlier:
                found["earlier"] = with_earlier.whole_row(other)
        return found

    def _earlier_row(self, n: int) -> int | None:
        with self._table.ready_for(condition_of({})) as database:
            row = database.execute("SELECT other FROM changes WHERE n = ?", (n,)).fetchone()
        return row[0] if row else None

    def group(self, given: Mapping[str, str]) -> dict[str, Any]:
        """The rows of one task and step."""
        return self._table.group(_count(given, "n", 0))

    def overview(self, given: Mapping[str, str]) -> dict[str, Any]:
        """Totals and charts over the rows that pass the filters."""
        self._labels.read()
        state = self.state({})
        key = (state["epoch"], state["version"], self._labels.version, *sorted(given.items()))
        if (found := self._overviews.get(key)) is None:
            found = overview(self._charts, given)
            pairs = zip(self._others, self._other_readers, strict=True)
            found["runs"] = [run_of(reader, name_beside(index.source, self._source), given) for index, reader in pairs]
            self._overviews = {**dict(list(self._overviews.items())[-7:]), key: found}
        return {**found, "alarms": read_alarms(beside(self._source, "alarms"))}

    def export(self, given: Mapping[str, str]) -> Iterator[bytes]:
        """The lines of the rows that pass the filters, up to `MOST_EXPORTED`."""
        return self._table.exported(given, MOST_EXPORTED)

    def label(self, given: dict[str, Any]) -> dict[str, Any]:
        """Write a person's label of a row, `{"id", "nth", "label", "remark"}`; the label None withdraws it."""
        id_, nth, label, remark = (given.get(key) for key in ("id", "nth", "label", "remark"))
        if not isinstance(id_, str) or not isinstance(nth, int) or not isinstance(remark, str):
            raise BadFilter("a label needs the row's id, its nth and a remark")
        if label is not None and label not in get_args(PersonsVerdict):
            raise BadFilter(f"label must be one of {', '.join(get_args(PersonsVerdict))}, got {label!r:.80}")
        with told(f"cannot write {str(self._labels.path)!r}", OSError, to=BadFilter):
            self._labels.add(id_, nth, label, remark)
        return {"label": label, "remark": remark}

    def explain(self, given: dict[str, Any]) -> dict[str, Any] | None:
        """Judge a row again. Judging may cost money, so one row at a time is judged."""
        if self._explain is None:
            raise BadFilter("explain needs the judge: start astuner view with --conf FILE")
        n = given.get("n")
        group = self._table.group_in_file(n) if isinstance(n, int) else []
        place = next((at for at, (member, _) in enumerate(group) if member == n), None)
        if place is None:
            return None
        with self._explaining:
            return {"text": self._explain([row for _, row in group], place)}


def _count(given: Mapping[str, str], key: str, default: int) -> int:
    value = given.get(key, str(default))
    if not value.isascii() or not value.isdigit() or len(value) > 15:
        raise BadFilter(f"{key} must be a number of rows, got {value[:80]!r}")
    return int(value)


TOKEN_HEADER = "x-astuner-token"
_MOST_BODY = 64 * 1024
# A rollout's content must always stay text, so the page loads nothing from a network and allows no inline script, no
# frame and no form
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; font-src data:; img-src data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
_TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css"}

Answer = Callable[[Request], Awaitable[Response]]


class OneHost:
    """ASGI middleware that answers only requests for the server's own address.

    Otherwise another site could let its own name resolve to 127.0.0.1, and its page could read the answers (DNS
    rebinding).
    """

    def __init__(self, app: ASGIApp, hosts: frozenset[str]) -> None:
        self._app = app
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            host = next((value for key, value in scope["headers"] if key == b"host"), b"").decode("latin-1")
            if host not in self._hosts:
                response = Response(f"this address is not served: {host[:200]!r}\n", 421, _HEADERS)
                await response(scope, receive, send)
                return
        await self._app(scope, receive, send)


def create_view_app(session: ViewSession, token: str, hosts: frozenset[str]) -> ASGIApp:
    """The application.

    Args:
        session: answers the page's questions.
        token: the secret that every question must send; the page takes it from its own address.
        hosts: the values of the header `Host` that are answered, each with its port.
    """

    def guarded(answer: Answer) -> Answer:
        async def checked(request: Request) -> Response:
            if not hmac.compare_digest(request.headers.get(TOKEN_HEADER, "").encode(), token.encode()):
                return _json({"error": "the token is missing or wrong: open the address that was printed"}, 403)
            try:
                return await answer(request)
            except BadFilter as exc:
                return _json({"error": str(exc)}, 400)

        return checked

    questions: dict[str, Callable[[Mapping[str, str]], Any]] = {
        "state": session.state,
        "rows": session.rows,
        "row": session.row,
        "group": session.group,
        "overview": session.overview,
    }

    async def export(request: Request) -> Response:
        found = await run_in_threadpool(lambda: b"".join(session.export(dict(request.query_params))))
        return Response(found, 200, {**_HEADERS, "content-type": "application/jsonl"})

    commands: dict[str, Callable[[dict[str, Any]], Any]] = {"label": session.label, "explain": session.explain}
    routes = [Route(f"/{name}", _file(name)) for name in ("app.js", "app.css")]
    routes += [Route("/", _file("index.html"))]
    routes += [Route(f"/api/{name}", guarded(_query(ask)), methods=["GET"]) for name, ask in questions.items()]
    routes += [Route("/api/export", guarded(export), methods=["GET"])]
    routes += [Route(f"/api/{name}", guarded(_command(run)), methods=["POST"]) for name, run in commands.items()]
    return OneHost(Starlette(routes=routes), hosts)


def _file(name: str) -> Answer:
    path = STATIC / name

    async def answer(request: Request) -> Response:
        body = await run_in_threadpool(path.read_bytes)
        return Response(body, headers={**_HEADERS, "content-type": f"{_TYPES[path.suffix]}; charset=utf-8"})

    return answer


def _query(ask: Callable[[Mapping[str, str]], Any]) -> Answer:
    async def answer(request: Request) -> Response:
        found = await run_in_threadpool(ask, dict(request.query_params))
        return _json({"error": "there is no such row"}, 404) if found is None else _json(found)

    return answer


def _command(run: Callable[[dict[str, Any]], Any]) -> Answer:
    async def answer(request: Request) -> Response:
        body = b""
        async for part in request.stream():
            body += part
            if len(body) > _MOST_BODY:
                return _json({"error": f"a request may have {_MOST_BODY} bytes"}, 413)
        if (given := object_in(body)) is None:
            return _json({"error": "the request must be a JSON object"}, 400)
        found = await run_in_threadpool(run, given)
        return _json({"error": "there is no such row"}, 404) if found is None else _json(found)

    return answer


def _json(value: Any, status: int = 200) -> Response:
    # json.dumps writes ASCII: UTF-8 cannot hold half a surrogate pair, but an escape can
    return Response(json.dumps(value).encode(), status, {**_HEADERS, "content-type": "application/json"})


def serve_view(session: ViewSession, listener: socket.socket, *, announce: Callable[[str], None]) -> None:
    """Serve `session` on `listener`, which listens on 127.0.0.1, until a signal tells this process to end.

    Args:
        session: a session that is not started yet.
        listener: a socket that is bound and listening.
        announce: called with the address and its token, once the server accepts connections.
    """
    import uvicorn  # the server alone needs it; the application is tested without

    port = listener.getsockname()[1]
    token = secrets.token_urlsafe(18)
    hosts = frozenset(f"{name}:{port}" for name in ("127.0.0.1", "localhost"))
    config = uvicorn.Config(
        create_view_app(session, token, hosts),
        http="h11",
        ws="none",
        lifespan="off",
        log_config=None,
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=2,
    )
    # A thread beside the server reads large files. With Python's default of 5 ms the server would wait for it too long
    sys.setswitchinterval(0.0005)
    session.start()
    server = uvicorn.Server(config)
    # uvicorn's own hears SIGINT and SIGTERM only, and an interrupt while it makes its loop leaves half of one
    server.capture_signals = nullcontext  # type: ignore[method-assign,unused-ignore]
    try:
        with interrupts.ending(server):
            announce(f"http://127.0.0.1:{port}/?token={token}")
            server.run(sockets=[listener])
    finally:
        session.close()
