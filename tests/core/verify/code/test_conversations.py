"""Two sides of a line whose threads talk at once."""

from __future__ import annotations

import base64
import builtins
import json
import os
import random
import socket
import tempfile
import threading
from collections import Counter, OrderedDict, defaultdict, deque
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


class _Side:
    """One side's containers, and whatever is within them."""

    def __init__(self, first: int) -> None:
        self.shared = SharedContainers(self._pack, lambda one: unpack(one, self._named), first)

    def _pack(self, one: object) -> object:
        return pack(one, lambda kind: {"ty": kind.__name__}, share=self.shared.share)  # type: ignore[attr-defined]

    def _named(self, told: Any) -> object:
        return self.shared[told["m"]] if "m" in told else getattr(builtins, told["ty"])

    def give(self, one: object) -> Any:
        """The message that tells of it."""
        return json.loads(json.dumps({"ok": self._pack(one)} | self.shared.outgoing()))

    def take(self, message: Any) -> Any:
        self.shared.incoming(message)
        return unpack(message["ok"], self._named)


def _changed(one: Any, dice: random.Random, spare: list[Any]) -> None:
    """Change a container, or what is within it, in one of its own ways."""
    new = dice.choice([dice.randrange(100), (dice.randrange(9), "a"), dice.choice(spare)])
    key = dice.choice([new, None, "k", 1.5]) if not isinstance(new, list | dict | set | deque | bytearray) else "k"
    if isinstance(one, bytearray):
        one.append(dice.randrange(256))
    elif isinstance(one, set):
        one.symmetric_difference_update({dice.randrange(5), key})
    elif isinstance(one, Counter):
        one[key] = dice.randrange(9)
    elif isinstance(one, dict):
        one.pop(next(iter(one), None), None) if dice.random() < 0.3 else one.update({key: new})
    elif dice.random() < 0.3 and one:
        one.pop()
    else:
        one.append(new)


def _all_of() -> list[Any]:
    kinds: list[Any] = [[1], {"a": 1}, {1, 2}, deque([1]), deque([1, 2], 3), bytearray(b"ab"), Counter("aab")]
    kinds += [OrderedDict(b=1, a=2), defaultdict(list, a=[1]), defaultdict(None, {1: 2})]
    return kinds


def test_two_sides_see_whatever_either_does_to_containers() -> None:
    dice = random.Random(7)
    for _ in range(6):
        mine, theirs = _Side(1), _Side(2)
        held = _all_of()
        # some within two others, and one within itself
        held[0] += held[1:]
        held[1]["in"] = held[0]
        copy = theirs.take(mine.give(held))
        assert copy[0][1] is copy[1]
        assert copy[1]["in"] is copy[0]
        for _ in range(12):
            for here, there, parts, others in ((mine, theirs, held, copy), (theirs, mine, copy, held)):
                at = dice.randrange(len(held))
                _changed(parts[at], dice, [*parts[2:3], *parts[5:6]])
                assert there.take(here.give(parts)) is others
                for one, other in zip(held[2:], copy[2:], strict=True):
                    assert (type(one), one) == (type(other), other)
                assert getattr(copy[4], "maxlen", None) == 3
                assert [*held[7].items()] == [*copy[7].items()]
                assert held[8].default_factory is copy[8].default_factory is list
        # nothing has changed since
        assert mine.give(None) == theirs.give(None) == {"ok": None}


def test_what_nobody_holds_any_more_is_dropped_on_both_sides() -> None:
    mine, theirs = _Side(1), _Side(2)
    held: Any = [[1], {"a": [2]}]
    copy = theirs.take(mine.give(held))
    assert sorted(mine.shared._held) == sorted(theirs.shared._held) == [1, 3, 5, 7]
    alive: Any = mine.shared.alive()
    assert ({*alive["_held"]}, alive["_numbers"][id(held)]) == ({1, 3, 5, 7}, 1)
    assert (mine.shared.told(3), mine.shared.told(7), mine.shared.told(9)) == ([1], [2], None)
    del alive
    held.pop()
    told = mine.give(held)
    assert theirs.take(told) == copy == [[1]]
    assert sorted({*mine.shared.alive()["_held"]}) == [1, 3]  # type: ignore[misc]
    # with the message that tells of it, or with the next
    theirs.take(mine.give(held))
    mine.take(theirs.give(copy))
    theirs.take(mine.give(held))
    assert sorted(mine.shared._held) == sorted(theirs.shared._held) == [1, 3]


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
