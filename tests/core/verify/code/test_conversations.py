"""Two sides of a line whose threads talk at once."""

from __future__ import annotations

import base64
import json
import os
import socket
import tempfile
import threading
from collections import Counter, deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from agentscope_tuner.verify.code.inside.code_values import JailLine, LineEndedError, pack, unpack
from agentscope_tuner.verify.code.inside.shared import Conversations, FilesError, SharedContainers, SharedFiles


class _Answering:
    """The side that answers: `wait` when another thread has asked `go`, `back` with what it asks back."""

    def __init__(self, line: JailLine) -> None:
        self.talk = Conversations(line, SharedContainers(lambda one: one, lambda one: one, 2), "theirs ", self.help)
        self.gone = threading.Event()

    def help(self) -> None:
        threading.Thread(target=self.answer_all, daemon=True).start()

    def answer_all(self) -> None:
        while True:
            try:
                asked = self.talk.receive_any()
            except LineEndedError:
                return
            with self.talk.within(asked["in"]):
                answer = self.answer(asked)
            self.talk.send({"is": answer}, asked["in"])

    def answer(self, asked: dict[str, Any]) -> Any:
        if asked["do"] == "wait":
            return self.gone.wait(10)
        if asked["do"] == "go":
            self.gone.set()
        if asked["do"] == "back":
            self.talk.send({"back": 2})
            return self.talk.receive()["re"] + 1
        return asked["do"]


@pytest.fixture
def asking() -> Iterator[Conversations]:
    mine, theirs = socket.socketpair()
    # never closed: its threads end a moment later, and must not read what has its number then
    other = _Answering(JailLine(theirs.detach()))
    other.talk.read_on()
    other.help()
    with mine:
        shared = SharedContainers(lambda one: one, lambda one: one, 1)
        yield Conversations(JailLine(mine.fileno()), shared, "mine ", lambda: None)


def ask(talk: Conversations, what: object) -> Any:
    """One question, whose answer may ask back for the double of a number."""
    with talk.place():
        talk.send({"do": what})
        while "back" in (reply := talk.receive_any()):
            talk.send({"re": 2 * reply["back"]}, reply["in"])
        return reply["is"]


def test_a_question_waits_for_what_another_thread_asks_later(asking: Conversations) -> None:
    with ThreadPoolExecutor(2) as pool:
        waits = pool.submit(ask, asking, "wait")
        assert pool.submit(ask, asking, "go").result() == "go"
        assert waits.result() is True


def test_every_thread_gets_its_own_answers(asking: Conversations) -> None:
    questions = list(range(400))
    with ThreadPoolExecutor(40) as pool:
        assert list(pool.map(lambda number: ask(asking, number), questions)) == questions


def test_who_is_asked_back_answers_in_the_same_conversation(asking: Conversations) -> None:
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda _: ask(asking, "back"), range(50))) == [5] * 50


def test_a_container_that_has_not_changed_is_not_written_out_again() -> None:
    packed: list[object] = []

    def pack(one: object) -> object:
        packed.append(one)
        return one

    shared = SharedContainers(pack, lambda one: one, 1)
    numbers = [*range(1000)]
    shared.share(numbers)
    assert shared.outgoing() == {"held": {1: numbers}}
    packed.clear()
    assert shared.outgoing() == {}
    assert packed == []
    numbers[500] = True
    assert shared.outgoing() == {"held": {1: numbers}}
    # it equals what it was
    numbers[500] = 1
    assert shared.outgoing() == {"held": {1: numbers}}


def test_what_can_change_unseen_is_looked_at_each_time() -> None:
    class Changing:
        data = 1

    shared = SharedContainers(lambda one: getattr(one, "data", one), lambda one: one, 1)
    held = [Changing()]
    shared.share(held)
    assert shared.outgoing() == {"held": {1: [1]}}
    held[0].data = 2
    assert shared.outgoing() == {"held": {1: [2]}}


def test_a_container_that_got_another_number_is_named_by_it() -> None:
    def pack(one: object) -> object:
        return shared.share(one) if isinstance(one, list) else one

    shared = SharedContainers(pack, lambda one: one, 1)
    inner = [1]
    outer = [inner]
    shared.share(outer)
    assert shared.outgoing() == {"held": {1: [{"m": 3}], 3: [1]}}
    shared.incoming({"dropped": [3]})
    assert shared.outgoing() == {"held": {1: [{"m": 5}], 5: [1]}}


@pytest.mark.parametrize(
    ("held", "made"),
    [
        ([1, 2], [2, 1]),
        ({1, 2}, {2, 3}),
        (bytearray(b"a"), bytearray(b"bc")),
        (deque([1]), deque([2, 1])),
        (deque([1], 2), deque([2, 3], 2)),
        ({"a": 1}, {"b": 2, "c": 3}),
        (Counter("aa"), Counter("b")),
    ],
)
def test_a_container_becomes_what_the_other_side_makes_of_it(held: Any, made: Any) -> None:
    mine, theirs = (SharedContainers(pack, unpack, first) for first in (1, 2))
    mine.share(held)
    theirs.incoming(mine.outgoing())
    theirs._fill(theirs[1], theirs._content(made))
    mine.incoming(theirs.outgoing())
    assert (type(held), held) == (type(made), made)


class _Folder:
    """One side's folder of files."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root, self._monkeypatch = root, monkeypatch
        monkeypatch.setenv("TMPDIR", "")
        monkeypatch.setattr(tempfile, "tempdir", None)
        self._here()
        self.files = SharedFiles()
        assert (os.environ["TMPDIR"], tempfile.gettempdir()) == (str(root), str(root))

    def _here(self) -> None:
        self._monkeypatch.setattr(f"{SharedFiles.__module__}.ROOT", str(self.root))

    def changes(self) -> dict[str, Any]:
        self._here()
        found: dict[str, Any] = json.loads(json.dumps(self.files.changes()))
        return found

    def take(self, changes: Any) -> None:
        self._here()
        self.files.take(changes)

    def state(self) -> dict[str, object]:
        return {
            str(path.relative_to(self.root)): (
                path.stat().st_mode & 0o777,
                path.is_file() and (path.read_bytes(), path.stat().st_mtime_ns),
            )
            for path in self.root.rglob("*")
        }


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[_Folder, _Folder]:
    return _Folder(tmp_path / "tests", monkeypatch), _Folder(tmp_path / "program", monkeypatch)


def test_a_folder_becomes_what_the_other_side_makes_of_it(folders: tuple[_Folder, _Folder]) -> None:
    mine, theirs = folders
    assert mine.changes() == {}
    (mine.root / "deep" / "er").mkdir(parents=True)
    (mine.root / "a").write_bytes(b"one\xff")
    (mine.root / "deep" / "b").write_text("two")
    (mine.root / "deep" / "b").chmod(0o640)
    (mine.root / "link").symlink_to("a")
    told = mine.changes()
    assert told.keys() == {"a", "deep", "deep/b", "deep/er"}
    assert told["deep"][1:] == [0, None]
    theirs.take(told)
    (mine.root / "link").unlink()
    assert theirs.state() == mine.state()
    # what was taken is no change, and what comes back is another's
    assert (theirs.changes(), mine.changes()) == ({}, {})
    (theirs.root / "a").unlink()
    (theirs.root / "a").mkdir()
    (theirs.root / "a" / "c").write_text("three")
    (theirs.root / "deep" / "b").write_text("2")
    (theirs.root / "deep" / "er").rmdir()
    told = theirs.changes()
    assert told.keys() == {"a", "a/c", "deep/b", "deep/er"}
    assert told["deep/er"] is None
    mine.take(told)
    assert mine.state() == theirs.state()
    # a folder with what is in it, and a file in the place of one
    (theirs.root / "a" / "c").unlink()
    (theirs.root / "a").rmdir()
    (theirs.root / "a").write_text("four")
    mine.take(theirs.changes())
    assert mine.state() == theirs.state()
    mine.take({})
    assert mine.state() == theirs.state()


_CONTENT = base64.b64encode(b"x").decode()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        *(
            ({name: [0o600, 0, _CONTENT]}, "no name of a file")
            for name in ("", ".", "..", "a/../b", "a//b", "/a", "a\0", "/".join("a" * 33))
        ),
        ({"out/a": [0o600, 0, _CONTENT]}, "a link: 'out/a'"),
        ({f"a{number}": None for number in range(1001)}, "too many, or too large"),
        ({"a": [0o600, 0, "A" * (8 * 2**20 + 4)]}, "too many, or too large"),
        ({"a": [0o600, 0, "?"]}, "these are no files"),
        ({"a": [0o600, 0]}, "these are no files"),
        ([], "these are no files"),
    ],
)
def test_what_are_no_files_is_refused(folders: tuple[_Folder, _Folder], changes: Any, words: str) -> None:
    mine, theirs = folders
    (mine.root / "out").symlink_to(theirs.root)
    with pytest.raises(FilesError, match=words):
        mine.take(changes)
    assert [*theirs.root.iterdir()] == []


def test_a_folder_of_more_than_travels_says_so(
    folders: tuple[_Folder, _Folder], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"{SharedFiles.__module__}._MOST_FILE_BYTES", 1000)
    monkeypatch.setattr(f"{SharedFiles.__module__}._MOST_FILES", 5)
    mine, theirs = folders
    (mine.root / "large").write_bytes(bytes(1000))
    assert mine.changes().keys() == {"large"}
    (mine.root / "more").write_bytes(b"1")
    with pytest.raises(FilesError, match=r"[12] files of 1,001 bytes"):
        mine.changes()
    for number in range(6):
        (theirs.root / str(number)).touch()
    with pytest.raises(FilesError, match="5 files of 0 bytes"):
        theirs.changes()
