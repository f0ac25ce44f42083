"""The page's server: whom it answers, with which headers; and the report, one file that no row can break."""

from __future__ import annotations

import asyncio
import base64
import gzip
import json
import os
import re
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, get_args

import httpx
import pytest

from agentscope_tuner import show
from agentscope_tuner.lab.labels import MOST_ALARMS, PersonsVerdict, beside, read_alarms
from agentscope_tuner.lab.view.report import write_report
from agentscope_tuner.lab.view.server import ViewSession, create_view_app, serve_view
from tests.tables import each_row

TOKEN = "t0ken"
HOST = "127.0.0.1:8123"
HOSTILE = "</script><script>alert(1)</script><!-- \u2028 javascript:alert(1) \ud800 \u202e"
ROW: dict[str, Any] = {
    "id": HOSTILE,
    "task": {"main_query": HOSTILE, "task_id": "a"},
    "output": {"metadata": {"final_answer": HOSTILE}},
    "judgement": {
        "status": "judged",
        "reward": 1.0,
        "is_success": True,
        "reason": HOSTILE,
        "violations": [],
        "metrics": {},
    },
}


@each_row
def scored(tmp_path: Path) -> Path:
    path = tmp_path / "</title><b>.jsonl".replace("/", "_")
    path.write_text(json.dumps(ROW) + "\n", encoding="utf-8")
    return path


@each_row
def session(scored: Path) -> Iterator[ViewSession]:
    session = ViewSession(scored, scored.with_name("labels.jsonl"))
    session.index.update()
    yield session
    session.close()


def ask(
    session: ViewSession, method: str, path: str, *, host: str = HOST, token: str | None = TOKEN, **more: Any
) -> httpx.Response:
    async def one() -> httpx.Response:
        app = create_view_app(session, TOKEN, frozenset((HOST,)))
        transport = httpx.ASGITransport(app=app)
        headers = {"host": host} | ({"x-astuner-token": token} if token is not None else {})
        async with httpx.AsyncClient(transport=transport, base_url=f"http://{HOST}", headers=headers) as client:
            return await client.request(method, path, **more)

    return asyncio.run(one())


@pytest.mark.parametrize("path", ["/", "/app.js", "/app.css"])
def test_the_page_is_served_under_a_strict_policy(path: str, session: ViewSession) -> None:
    answer = ask(session, "GET", path, token=None)
    assert answer.status_code == 200
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8123", "127.0.0.1", "127.0.0.1:81", ""])
@pytest.mark.parametrize("path", ["/", "/api/rows"])
def test_no_other_host_is_served(path: str, host: str, session: ViewSession) -> None:
    assert ask(session, "GET", path, host=host).status_code == 421


@pytest.mark.parametrize("token", [None, "", "t0ke", "t0ken "])
def test_nothing_is_told_without_the_token(token: str | None, session: ViewSession) -> None:
    for path in ("state", "rows", "row?n=1", "group?n=1", "overview", "export"):
        assert ask(session, "GET", f"/api/{path}", token=token).status_code == 403
    assert ask(session, "POST", "/api/label", token=token, json={}).status_code == 403


@pytest.mark.parametrize("path", ["/../setup.cfg", "/static/app.js", "/api", "/api/rows/", "/docs", "/%2e%2e/x"])
def test_there_is_nothing_else(path: str, session: ViewSession) -> None:
    assert ask(session, "GET", path).status_code in (307, 404)


def test_rows_come_as_they_are(session: ViewSession) -> None:
    assert ask(session, "GET", "/api/row?n=1").json()["row"]["id"] == HOSTILE
    assert ask(session, "GET", "/api/rows").json()["total"] == 1


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/api/rows?offset=-1", 400),
        ("/api/rows?limit=many", 400),
        ("/api/rows?sort=n;drop", 400),
        ("/api/rows?color=red", 400),
        ("/api/row?n=99", 404),
        ("/api/row?n=" + "9" * 30, 400),
        ("/api/overview?reward=x", 400),
    ],
)
def test_a_question_that_cannot_be_read_is_refused(path: str, status: int, session: ViewSession) -> None:
    answer = ask(session, "GET", path)
    assert answer.status_code == status
    assert answer.json()["error"]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"id": "a", "nth": 0, "label": "right", "remark": ""}, 200),
        ({"id": "a", "nth": 0, "label": None, "remark": ""}, 200),
        ({"id": "a", "nth": 0, "label": "superb", "remark": ""}, 400),
        ({"id": 3, "nth": 0, "label": "right", "remark": ""}, 400),
        ({"label": "right"}, 400),
        ([1], 400),
        ({"id": "a", "nth": 0, "label": "right", "remark": "x" * 100_000}, 413),
    ],
)
def test_labels(body: Any, status: int, session: ViewSession) -> None:
    assert ask(session, "POST", "/api/label", json=body).status_code == status


def test_a_row_comes_with_its_group_and_with_what_an_earlier_run_said_of_it(scored: Path) -> None:
    judgement = {**ROW["judgement"], "reward": 0.0, "is_success": False, "reason": "earlier"}
    before = scored.with_name("before.jsonl")
    before.write_text(json.dumps({**ROW, "judgement": judgement}) + "\n", encoding="utf-8")
    session = ViewSession(scored, scored.with_name("labels.jsonl"), earlier=before)
    try:
        session.start()
        # two threads read the files; pytest's time limit ends a reading that never comes
        while (row := ask(session, "GET", "/api/row?n=1").json()).get("earlier") is None:
            continue
        assert row["earlier"]["row"]["judgement"]["reason"] == "earlier"
        (member,) = ask(session, "GET", "/api/group?n=1").json()["rows"]
        assert member["n"] == 1
        assert ask(session, "GET", "/api/overview").json()["alarms"] == []
    finally:
        session.close()


@pytest.mark.parametrize(
    ("line", "alarms"),
    [
        ('{"step": 3, "monitor": "length", "message": "twice as long"}', [(3, "length", "twice as long")]),
        ('{"step": true, "name": "flat", "reason": "no spread"}', [(None, "flat", "no spread")]),
        ('{"step": 1e300}', [(None, "alarm", "")]),
        ('{"step": "3", "message": ["a"]}', [(None, "alarm", "['a']")]),
        ('{"message": "' + "x" * 600 + '"}', [(None, "alarm", "x" * 500)]),
        ("{", []),
        ("[1]", []),
        ("[" * 100_000, []),
        ("\xff", []),
    ],
)
def test_alarms_are_read_as_they_are_and_other_lines_passed_over(line: str, alarms: list[Any], tmp_path: Path) -> None:
    path = tmp_path / "run.alarms.jsonl"
    path.write_bytes(line.encode("latin-1") + b"\n")
    assert beside(tmp_path / "run.jsonl", "alarms") == path
    assert beside(tmp_path, "alarms") == tmp_path / "alarms.jsonl"
    assert [(one["step"], one["monitor"], one["message"]) for one in read_alarms(path)] == alarms


def test_of_many_alarms_the_last_are_told(tmp_path: Path) -> None:
    path = tmp_path / "alarms.jsonl"
    path.write_text("".join(json.dumps({"step": step}) + "\n" for step in range(MOST_ALARMS + 7)))
    told = read_alarms(path)
    assert [told[0]["step"], told[-1]["step"], len(told)] == [7, MOST_ALARMS + 6, MOST_ALARMS]


def test_a_row_is_judged_again_only_where_there_is_a_judge(session: ViewSession) -> None:
    assert "--conf" in ask(session, "POST", "/api/explain", json={"n": 1}).json()["error"]


def test_a_row_is_judged_again_as_its_file_has_it(scored: Path) -> None:
    # a browser's numbers end at 2**53, and an id in a tool call may not
    metadata = {"final_answer": "", "id": 2**60 + 1}
    rows = [{**ROW, "id": name, "output": {"metadata": metadata}} for name in "ab"]
    scored.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    session = ViewSession(
        scored,
        scored.with_name("labels.jsonl"),
        explain=lambda group, place: f"{group[place]['id']}: {group[place]['output']['metadata']['id']!r}",
    )
    try:
        session.index.update()
        numbers = [row["n"] for row in session.rows({})["rows"]]
        assert [session.explain({"n": n}) for n in numbers] == [{"text": f"{name}: {2**60 + 1}"} for name in "ab"]
        assert session.explain({"n": 99}) is None
    finally:
        session.close()


def test_a_report_holds_its_rows_and_nothing_ends_its_scripts(scored: Path, tmp_path: Path) -> None:
    target = tmp_path / "deep" / "report.html"
    written = write_report(scored, target, labels=tmp_path / "none", limit=10)
    assert (written["rows"], written["shown"]) == (1, 1)
    page = target.read_text(encoding="utf-8")
    assert len(re.findall(r"<script", page)) == 2
    assert len(re.findall(r"</script", page)) == 2
    assert "alert(1)" not in page
    assert 'http-equiv="Content-Security-Policy"' in page
    assert "<b>" not in page[: page.index("<style>")]
    packed = re.search(r'id="report-data">([A-Za-z0-9+/=]*)</script>', page)
    assert packed
    data = json.loads(gzip.decompress(base64.b64decode(packed[1])))
    assert json.loads(data["rows"][0]["row"])["id"] == HOSTILE


def test_a_report_takes_the_place_of_no_pipe_and_no_link(scored: Path, tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from agentscope_tuner.cli.app import app

    # the page was renamed onto it: root's /dev/stdout became a file
    pipe, link, page = tmp_path / "pipe", tmp_path / "link.html", tmp_path / "page.html"
    os.mkfifo(pipe)
    refused = CliRunner().invoke(app, ["report", str(scored), "-o", str(pipe)])
    assert "must be a regular file" in refused.output
    assert (refused.exit_code, pipe.is_fifo()) == (2, True)
    link.symlink_to(page)
    assert CliRunner().invoke(app, ["report", str(scored), "-o", str(link)]).exit_code == 0
    assert link.is_symlink()
    assert page.is_file()


def test_a_report_of_many_rows_holds_whole_groups(tmp_path: Path) -> None:
    path = tmp_path / "scored.jsonl"
    rows = [{**ROW, "id": f"{n}", "task": {"task_id": f"t{n // 4}"}} for n in range(400)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    written = write_report(path, tmp_path / "r.html", labels=tmp_path / "none", limit=100)
    assert (written["rows"], written["shown"]) == (400, 100)
    packed = re.search(r'id="report-data">([^<]*)<', (tmp_path / "r.html").read_text(encoding="utf-8"))
    assert packed
    tasks = [row["task"] for row in json.loads(gzip.decompress(base64.b64decode(packed[1])))["rows"]]
    assert {tasks.count(task) for task in tasks} == {4}


def data_of(page: str) -> dict[str, Any]:
    packed = re.search(r'id="report-data">([^<]*)<', page)
    assert packed
    data: dict[str, Any] = json.loads(gzip.decompress(base64.b64decode(packed[1])))
    return data


def test_a_trainers_rows_are_shown_by_format_and_map_in_page_and_report(tmp_path: Path) -> None:
    # they stood there without question, answer and reward
    from typer.testing import CliRunner

    from agentscope_tuner.cli.app import app

    run, page = tmp_path / "run", tmp_path / "r.html"
    run.mkdir()
    gold = {"question": "6*7?", "gold": "42"}
    rows = [{**gold, "response": "42", "accuracy": 1.0}, {**gold, "response": "41", "accuracy": 0.0}]
    lines = [json.dumps(row) for row in rows]
    (run / "1.jsonl").write_text("\n".join([lines[0], '{"gold": 3}', lines[1]]), encoding="utf-8")
    reading = ["--format", "plain", "--map", "gold=answer", "--map", "accuracy=judgement.reward"]
    result = CliRunner().invoke(app, ["report", str(run), "-o", str(page), *reading])
    assert result.exit_code == 0, result.output
    shown = [json.loads(row["row"]) for row in data_of(page.read_text(encoding="utf-8"))["rows"] if not row["problem"]]
    assert [(row["task"]["main_query"], row["judgement"]["reward"]) for row in shown] == [("6*7?", 1.0), ("6*7?", 0.0)]
    wrong = ["report", str(run), "-o", str(page), "--format", "plane"]
    refused = CliRunner().invoke(app, wrong, env={"COLUMNS": "200"})
    assert (refused.exit_code, "--format must be one of" in refused.output) == (2, True)


def test_a_table_is_shown_by_its_own_rows_name_and_alarms(tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from agentscope_tuner.cli.app import app

    table, other, page = tmp_path / "g.csv", tmp_path / "h.csv", tmp_path / "r.html"
    table.write_text("id,judgement.status,judgement.reward\na,judged,1.0\nb,judged,0.0\n")
    other.write_text("id,judgement.status,judgement.reward\na,judged,1.0\n")
    alarm = {"step": 1, "monitor": "length", "message": "twice as long"}
    beside(table, "alarms").write_text(json.dumps(alarm) + "\n")
    shown = data_of(show(table).html)
    assert (shown["name"], shown["of"]) == ("g.csv", 2)
    assert [row["status"] for row in shown["rows"]] == ["judged"] * 2
    result = CliRunner().invoke(app, ["report", str(table), str(other), "-o", str(page)])
    assert result.exit_code == 0, result.output
    data = data_of(page.read_text(encoding="utf-8"))
    assert [run["name"] for run in data["runs"]] == ["h.csv"]
    refused = CliRunner().invoke(app, ["report", str(table), "gone.csv", "-o", str(page)], env={"COLUMNS": "200"})
    assert (refused.exit_code, "there is no file 'gone.csv': name what" in refused.output) == (2, True)
    assert len(data["alarms"]) == 1
    session = ViewSession(table, beside(table, "labels"), others=[other])
    try:
        for index in session.indexes:
            index.update()
        assert session.state({})["name"] == "g.csv"
        assert [run["name"] for run in session.overview({})["runs"]] == ["h.csv"]
        assert len(session.overview({})["alarms"]) == 1
    finally:
        session.close()


def test_a_report_of_a_folder_without_lines_is_refused(tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from agentscope_tuner.cli.app import app

    folder = tmp_path / "fold"
    folder.mkdir()
    (folder / "g.csv").write_text("id,judgement.status,judgement.reward\na,judged,1.0\n")
    result = CliRunner().invoke(app, ["report", str(folder), "-o", str(tmp_path / "rf.html")])
    assert result.exit_code == 2
    assert "holds no .jsonl file" in " ".join(result.output.split())
    assert not (tmp_path / "rf.html").exists()


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["b.jsonl"], "there is no file 'b.jsonl'"),
        (["--conf", "configs/math.yaml", "b.jsonl"], "there is no file 'b.jsonl'"),
        (["a=1"], "'a=1' overrides the YAML that --conf names, and none is named"),
    ],
)
def test_what_stands_behind_the_file_is_a_run_or_an_override_and_never_ignored(
    tmp_path: Path, options: list[str], why: str
) -> None:
    from typer.testing import CliRunner

    from agentscope_tuner.cli.app import app

    path = tmp_path / "a.jsonl"
    path.write_text("")
    result = CliRunner().invoke(app, ["view", str(path), *options])
    assert result.exit_code == 2
    assert why in " ".join(result.output.split())


def verdict(name: str, reward: float, step: int, reason: str = "exact: 1 = 1") -> str:
    found = {"status": "judged", "reward": reward, "is_success": reward == 1.0, "reason": reason}
    row = {"id": name, "task": {"task_id": name[0]}, "output": {"metadata": {"step": step}}, "judgement": found}
    return json.dumps(row) + "\n"


def test_other_runs_are_laid_over_and_each_has_its_own_labels_and_filters(tmp_path: Path) -> None:
    paths = [tmp_path / "a" / "judged.jsonl", tmp_path / "b" / "judged.jsonl", tmp_path / "c.jsonl"]
    for reward, path in enumerate(paths):
        path.parent.mkdir(exist_ok=True)
        path.write_text("".join(verdict(f"{n}", float(reward == 1 or n > 2), n) for n in range(4)))
    session = ViewSession(paths[0], beside(paths[0], "labels"), others=paths[1:])
    try:
        assert session.overview({})["runs"][0]["points"] == []
        before = session.state({})["version"]
        for index in session.indexes:
            index.update()
        assert session.state({})["version"] == before + 3
        first, second = session.overview({})["runs"]
        # two files of one name are told apart by their paths
        assert (first["name"], second["name"]) == (str(paths[1]), "c.jsonl")
        assert [point["reward"] for point in first["points"]] == [1.0] * 4
        assert [point["reward"] for point in second["points"]] == [0.0, 0.0, 0.0, 1.0]
        assert [run["totals"]["rows"] for run in session.overview({"step": "2..3"})["runs"]] == [2, 2]
        assert [run["totals"]["rows"] for run in session.overview({"success": "yes"})["runs"]] == [4, 1]
    finally:
        session.close()
    write_report(paths[0], tmp_path / "r.html", labels=tmp_path / "none", others=paths[1:], limit=100)
    packed = re.search(r'id="report-data">([^<]*)<', (tmp_path / "r.html").read_text(encoding="utf-8"))
    assert packed
    assert [run["name"] for run in json.loads(gzip.decompress(base64.b64decode(packed[1])))["runs"]] == [
        str(paths[1]),
        "c.jsonl",
    ]


def test_the_rows_of_a_filter_are_handed_out_as_they_stand_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    lines = [verdict("a1", 1.0, 1), verdict("a2", 0.0, 1, "test 3 of 5: no"), verdict("b1", 0.0, 1, "test 4 of 5: no")]
    path.write_text("".join(lines) + "not json\n" + lines[0].strip())
    session = ViewSession(path, beside(path, "labels"))
    session.index.update()
    try:
        for query, wanted in (
            ("", [*lines, "not json\n", lines[0]]),
            ("?prompts=varies", [*lines[:2], lines[0]]),
            ("?prompts=single", [lines[2]]),
            ("?shape=test … of … no", lines[1:3]),
            ("?success=yes&step=1..1", [lines[0], lines[0]]),
            ("?q=nowhere", []),
        ):
            answer = ask(session, "GET", f"/api/export{query}")
            assert answer.status_code == 200
            assert answer.text == "".join(wanted), query
        assert ask(session, "GET", "/api/export?nonsense=1").status_code == 400
        assert ask(session, "GET", "/api/export", token="no").status_code == 403
    finally:
        session.close()


def test_rows_are_shown_in_a_notebook_apart_from_it(tmp_path: Path) -> None:
    shown = show([ROW, {**ROW, "id": 7}, {"id": object()}])
    packed = re.search(r'id="report-data">([^<]*)<', shown.html)
    assert packed
    assert len(json.loads(gzip.decompress(base64.b64decode(packed[1])))["rows"]) == 3
    frame = shown._repr_html_()
    # no origin: the page reaches neither the notebook nor what it stores
    assert 'sandbox="allow-scripts allow-downloads"' in frame
    assert frame.count("<") == 2
    assert frame.count('"') == 6
    path = tmp_path / "run.jsonl"
    path.write_text(verdict("a", 1.0, 1))
    assert "run.jsonl" in show(str(path)).html
    with pytest.raises(FileNotFoundError, match="name what `astuner judge --output` wrote"):
        show(tmp_path / "none.jsonl")


def test_the_server_answers_for_its_own_two_addresses_and_announces_one_with_its_token(
    session: ViewSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, int]] = []
    announced: list[str] = []

    class Server:
        """In the place of uvicorn's: asks the application itself."""

        def __init__(self, config: SimpleNamespace) -> None:
            self._app = config.app

        def run(self, sockets: list[socket.socket]) -> None:
            (address, port), token = sockets[0].getsockname(), announced[0].partition("?token=")[2]
            assert announced == [f"http://{address}:{port}/?token={token}"]
            hosts = (f"127.0.0.1:{port}", f"localhost:{port}", "localhost", f"evil.example:{port}")
            asked.extend((host.replace(str(port), "PORT"), asyncio.run(self._status(host, token))) for host in hosts)

        async def _status(self, host: str, token: str) -> int:
            headers = {"host": host, "x-astuner-token": token}
            async with httpx.AsyncClient(transport=httpx.ASGITransport(app=self._app), headers=headers) as client:
                return (await client.get("http://x/api/state")).status_code

    fake = SimpleNamespace(Config=lambda app, **options: SimpleNamespace(app=app), Server=Server)
    monkeypatch.setitem(sys.modules, "uvicorn", fake)
    monkeypatch.setattr(sys, "setswitchinterval", lambda seconds: None)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        serve_view(session, listener, announce=announced.append)
    assert asked == [("127.0.0.1:PORT", 200), ("localhost:PORT", 200), ("localhost", 421), ("evil.example:PORT", 421)]
    assert len(announced[0].partition("?token=")[2]) == 24
    # closed: nobody follows the file any more
    assert not any(thread.is_alive() for thread in session._threads)


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "told"),
    [
        ("GET", "/api/rows?limit=x", None, 400, "limit must be a number of rows, got 'x'"),
        ("GET", f"/api/rows?offset={'1' * 16}", None, 400, f"offset must be a number of rows, got '{'1' * 16}'"),
        ("GET", f"/api/row?n={'a' * 81}", None, 400, f"n must be a number of rows, got '{'a' * 80}'"),
        ("GET", "/api/row?n=7", None, 404, "there is no such row"),
        ("POST", "/api/label", b"[1]", 400, "the request must be a JSON object"),
        ("POST", "/api/label", b" " * (2**16 + 1), 413, "a request may have 65536 bytes"),
        ("POST", "/api/label", b'{"id": "1"}', 400, "a label needs the row's id, its nth and a remark"),
        (
            "POST", "/api/label", b'{"id": "1", "nth": 0, "remark": "", "label": "fine"}', 400,
            f"label must be one of {', '.join(get_args(PersonsVerdict))}, got 'fine'",
        ),
        ("POST", "/api/explain", b'{"n": 1}', 400, "explain needs the judge: start astuner view with --conf FILE"),
    ],
)  # fmt: skip
def test_what_the_page_cannot_ask_is_told(
    method: str, path: str, body: bytes | None, status: int, told: str, session: ViewSession
) -> None:
    answer = ask(session, method, path, content=body)
    assert (answer.status_code, answer.json()) == (status, {"error": told})


def test_a_wrong_token_and_another_host_are_told(session: ViewSession) -> None:
    told = {"error": "the token is missing or wrong: open the address that was printed"}
    assert ask(session, "GET", "/api/state", token="no").json() == told
    long = "x" * 201
    assert ask(session, "GET", "/", host=long).text == f"this address is not served: '{'x' * 200}'\n"
