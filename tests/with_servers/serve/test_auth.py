"""Who may ask: with a token nothing but `/healthz` answers without it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from agentscope_tuner.service.app import is_exposed
from tests.with_servers.serve.running_service import RunningService, config_file, row

TOKEN = "s3cret-of-this-test"


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    folder = tmp_path_factory.mktemp("guarded")
    token_file = folder / "token"
    token_file.write_text(TOKEN + "\n", encoding="ascii")
    token_file.chmod(0o600)
    conf = config_file(folder)
    with RunningService("--conf", conf, "--conf", f"math={conf}", "--token-file", str(token_file), token=TOKEN) as up:
        yield up


def stranger(service: RunningService, *headers: tuple[str, str]) -> httpx.Client:
    return httpx.Client(
        base_url=f"http://127.0.0.1:{service.port}",
        headers=[(name.encode(), value.encode()) for name, value in headers],
        timeout=60,
    )


BEARERS: dict[str, tuple[tuple[str, str], ...]] = {
    "none": (),
    "another": (("Authorization", "Bearer wrong"),),
    "empty": (("Authorization", ""),),
    "a beginning": (("Authorization", f"Bearer {TOKEN[:-1]}"),),
    "more": (("Authorization", f"Bearer {TOKEN}x"),),
    "another scheme": (("Authorization", f"Basic {TOKEN}"),),
    "bare": (("Authorization", TOKEN),),
    "glued": (("Authorization", f"Bearer{TOKEN}"),),
    "twice": (("Authorization", f"Bearer {TOKEN} {TOKEN}"),),
    "not ASCII": (("Authorization", "Bearer s3crét"),),
    "two": (("Authorization", f"Bearer {TOKEN}"), ("Authorization", "Bearer wrong")),
}
ASKED = [
    ("POST", "/reward"),
    ("POST", "/math/reward"),
    ("POST", "/get_reward"),
    ("POST", "/openrlhf"),
    ("POST", "/"),
    ("POST", "/verify"),
    ("POST", "/slime"),
    ("GET", "/readyz"),
    ("GET", "/metrics"),
    ("GET", "/docs"),
    ("GET", "/openapi.json"),
    ("GET", "/nowhere"),
    ("GET", "/healthz/"),
    ("GET", "//healthz"),
    ("GET", "/healthz%2f..%2fmetrics"),
    ("GET", "/HEALTHZ"),
    ("OPTIONS", "/reward"),
    ("HEAD", "/metrics"),
    ("DELETE", "/reward"),
    ("TRACE", "/docs"),
]


@pytest.mark.parametrize(("method", "path"), ASKED)
@pytest.mark.parametrize("bearer", BEARERS)
def test_without_the_token_nothing_answers(guarded: RunningService, method: str, path: str, bearer: str) -> None:
    with stranger(guarded, *BEARERS[bearer]) as client:
        got = client.request(method, path, json=row(r"\boxed{42}") if method == "POST" else None)
    assert got.status_code == 401
    assert got.headers["www-authenticate"] == "Bearer"
    assert "metrics" not in got.text
    assert "boxed" not in got.text


def test_healthz_answers_everybody(guarded: RunningService) -> None:
    with stranger(guarded) as client:
        assert client.get("/healthz").text == "OK"


def test_with_the_token_everything_answers(guarded: RunningService) -> None:
    assert guarded.post("/reward", row(r"\boxed{42}")).json()["reward"] == 1.0
    for path in ("/readyz", "/metrics", "/docs", "/openapi.json", "/healthz"):
        assert guarded.client.get(path).status_code == 200
    assert guarded.client.get("/nowhere").status_code == 404
    assert guarded.client.get("/reward").status_code == 405


@pytest.mark.parametrize("scheme", ["bearer", "BEARER", "Bearer ", "bEaReR"])
def test_the_scheme_may_be_in_any_case(guarded: RunningService, scheme: str) -> None:
    """`Authorization: bearer …` was 401: RFC 9110 makes no difference."""
    with stranger(guarded, ("Authorization", f"{scheme} {TOKEN}")) as client:
        assert client.get("/readyz").status_code == 200


@pytest.mark.parametrize(
    ("mode", "own", "exposed"),
    [
        (0o600, True, False),
        (0o400, True, False),
        (0o640, True, True),
        (0o604, True, True),
        # a secret that Kubernetes mounts: root's, readable by the pod's group alone
        (0o440, False, False),
        (0o640, False, False),
        (0o460, False, True),
        (0o444, False, True),
    ],
)
def test_a_file_is_exposed_when_others_than_this_process_read_it(mode: int, own: bool, exposed: bool) -> None:
    assert is_exposed(0o100000 | mode, own=own) is exposed


def test_a_refused_request_does_not_spoil_its_connection(guarded: RunningService) -> None:
    with stranger(guarded) as client:
        for _ in range(3):
            assert client.post("/reward", content=b"x" * 3_000_000).status_code == 401
        assert client.get("/healthz").status_code == 200


def test_the_description_names_the_token(guarded: RunningService) -> None:
    described = guarded.client.get("/openapi.json").json()
    assert described["components"]["securitySchemes"]["HTTPBearer"] == {"type": "http", "scheme": "bearer"}
    assert described["security"] == [{"HTTPBearer": []}]
    assert described["paths"]["/healthz"]["get"]["security"] == []


def test_a_new_token_counts_within_seconds(tmp_path: Path) -> None:
    token_file = tmp_path / "token"
    token_file.write_text("the-old-one", encoding="ascii")
    token_file.chmod(0o644)
    with RunningService("--conf", config_file(tmp_path), "--token-file", str(token_file), token="the-new-one") as up:
        assert up.client.get("/readyz").status_code == 401
        # as a mounted secret changes: another file under the same name
        fresh = tmp_path / "fresh"
        fresh.write_text("the-new-one", encoding="ascii")
        os.replace(fresh, token_file)
        end = time.monotonic() + 10
        while up.client.get("/readyz").status_code == 401 and time.monotonic() < end:
            time.sleep(0.05)
        assert up.client.get("/readyz").status_code == 200
        token_file.unlink()
        time.sleep(1.2)
        assert up.client.get("/readyz").status_code == 200
        log = up.log()
    assert "can be read or changed by others" in log
    assert "the-new-one" not in log


def astuner(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from agentscope_tuner.cli import main; main()", "serve", "--port", "0", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "127.evil.example"])
def test_it_does_not_listen_beyond_this_machine_without_a_token(tmp_path: Path, host: str) -> None:
    done = astuner("--conf", config_file(tmp_path), "--host", host)
    assert done.returncode == 2
    assert "--token-file" in done.stderr
    assert "--insecure" in done.stderr


def test_it_does_so_where_it_is_asked_to(tmp_path: Path) -> None:
    with RunningService("--conf", config_file(tmp_path), "--host", "0.0.0.0", "--insecure") as service:
        assert service.post("/reward", row(r"\boxed{42}")).status_code == 200
        assert "anyone who reaches 0.0.0.0" in service.log()


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "must hold one token"),
        (b"two words", "must hold one token"),
        ("tökén".encode(), "cannot read"),
        (None, "cannot read"),
    ],
)
def test_a_token_file_without_a_token_stops_it(tmp_path: Path, content: bytes | None, problem: str) -> None:
    token_file = tmp_path / "token"
    if content is not None:
        token_file.write_bytes(content)
    done = astuner("--conf", config_file(tmp_path), "--token-file", str(token_file))
    assert done.returncode == 2
    assert problem in " ".join(done.stderr.split())


@pytest.mark.parametrize(
    ("confs", "problem"),
    [
        (["{}", "{}"], "already"),
        (["m={}", "m={}"], "already"),
        (["{}", "default={}"], "the judge without a name is 'default' in the metrics"),
        (["metrics={}"], "prefix of its routes"),
        (["verify={}"], "prefix of its routes"),
        (["missing.yaml"], "no configuration file"),
    ],
)
def test_judges_that_cannot_be_told_apart_stop_it(tmp_path: Path, confs: list[str], problem: str) -> None:
    path = config_file(tmp_path)
    done = astuner(*(word for conf in confs for word in ("--conf", conf.format(path))))
    assert done.returncode == 2
    assert problem in " ".join(done.stderr.split())
