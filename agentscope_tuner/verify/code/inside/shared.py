"""The data that tests and program share, though they run in two processes: containers such as lists, and a folder of
files.

Used in both processes, with each message between them (`Conversations`).

After `items = [2, 1]` and `sort(items)` in a test, `items` must be `[1, 2]`, as if both ran in one process. So each
process has its own copy of a container, and both know it by the same number. A message names a container by its number,
and has its contents if they are new or have changed since the last message. So two names for one list in a test are two
names for one list in the program as well.

Of the folder, regular files and folders travel, as data. Nothing in it is ever imported, and tests whose code could run
what a file holds do not get it; see `run_tests`.
"""

from __future__ import annotations

import base64
import itertools
import json
import operator
import os
import stat
import sys
import threading
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from fractions import Fraction
from typing import Any

from agentscope_tuner._jail.inside import HOME
from agentscope_tuner.verify.code.inside.code_values import MUTABLE, PLAIN_KINDS, JailLine, NotPlainError, contents

#: Threads of the tests that can wait in the program at once.
MOST_AT_ONCE = 16
# Two names that no conversation has: of the inbox for messages that any thread may take, and of the thread that only
# reads the line
_ANY, _READER = "", "reader"
# The most bytes of all containers as text, since they are compared before each message. Beyond it the oldest ones are
# forgotten: changes in them do not reach the other process any more
_MOST_BYTES = 200_000


def _references(held: dict[int, object], number: int) -> int:
    """How many references to the container `number` there are in this process. It is `_ALONE` if only `held` refers to
    it, so that nothing else uses it any more.
    """
    return sys.getrefcount(held[number])


_ALONE = _references({0: []}, 0)
# Types whose objects never change; other parts of a container are compared before each message
_LASTING = {type(None), bool, int, float, complex, str, bytes, range, Decimal, Fraction}
_Parts = tuple[list[object], list[object]]


def _parts(value: Any) -> _Parts | None:
    """The items of a built-in container and its values, to see later if they have changed: `([1, 2], [])` for `[1, 2]`.
    None for any other class, which may define its own ways to read it.
    """
    own = type(value)
    if own in (list, set, deque):
        return [*value], []
    if own in (dict, OrderedDict, Counter, defaultdict):
        return [*value], [*value.values(), getattr(value, "default_factory", None)]
    return None


def _lasts(part: object) -> bool:
    """Whether an object always becomes the same data in a message: it never changes, or it is a container with its own
    number. True for `(1, [2])`, false for an object of some class.
    """
    own = type(part)
    return own in _LASTING or issubclass(own, MUTABLE) or (own is tuple and all(map(_lasts, part)))  # type: ignore[call-overload]


def _is_same(before: _Parts | None, value: Any) -> bool:
    """Whether the parts of a container are the same objects as before, so that it need not be sent again. Objects are
    compared by `is`, since an `==` could run code of the program.

    Args:
        before: the parts, as `_parts` gave them; None if they are unknown.
        value: the container.
    """
    if before is None or (now := _parts(value)) is None:
        return False
    return all(len(old) == len(new) and all(map(operator.is_, old, new)) for old, new in zip(before, now, strict=True))


class SharedContainers:
    """The containers of one process of which the other process has a copy. It adds their changes to each message that
    is sent, and makes those that a received message reports.

    Args:
        pack, unpack: make JSON of a value, and a value of JSON.
        first: the first number that this process gives: 1 in the tests' process, 2 in the program's. It goes on in
            steps of two, so the two never give the same number.
        handle: makes JSON of a container whose class only this process has; None for any other.
    """

    def __init__(
        self,
        pack: Callable[[object], object],
        unpack: Callable[[object], Any],
        first: int,
        handle: Callable[[object], object] = lambda _: None,
    ) -> None:
        self._pack, self._unpack, self._next, self._handle = pack, unpack, first, handle
        self._held: dict[int, object] = {}
        self._numbers: dict[int, int] = {}
        # the contents of each, as the other process knows them
        self._known: dict[int, str] = {}
        # by number: the parts of those whose parts all last (`_lasts`); and which of these may hold other containers
        self._parts: dict[int, _Parts] = {}
        self._naming: set[int] = set()
        # by thread: the containers in the message that it makes, and has not sent yet
        self._mentioned: defaultdict[int, set[int]] = defaultdict(set)

    def share(self, value: object) -> object:
        """The JSON that represents a container in a message: `{"m": 3}`, with its number."""
        if id(value) not in self._numbers:
            self._hold(self._next, value)
            self._next += 2
        self._mentioned[threading.get_ident()].add(number := self._numbers[id(value)])
        return {"m": number}

    def __getitem__(self, number: int) -> object:
        """The container with the number that a message names."""
        return self._held[number]

    def told(self, number: int) -> object:
        """The contents of a container as the other process knows them, as JSON: `[1, 2]`. None if it does not know the
        container.
        """
        return json.loads(self._known.get(number) or "null")

    def alive(self) -> dict[str, object]:
        """The variables `_held` and `_numbers`, without the containers that nothing else in this process uses. A
        repeated run of a test starts from them.
        """
        held = {number: one for number, one in self._held.items() if _references(self._held, number) > _ALONE + 1}
        return {"_held": held, "_numbers": {id(one): number for number, one in held.items()}}

    def outgoing(self) -> dict[str, object]:
        """The part of the next message about containers: `{"held": {"3": [1, 2]}, "dropped": [5]}`. In `held` are new
        or changed contents by number, in `dropped` the containers that the other process may forget.
        """
        told: dict[int, object] = {}
        try:
            self._tell(told)
        except BaseException:  # whatever cannot travel
            # nothing is sent: new containers of this message are forgotten, and changes go with the next message
            self._known.update(dict.fromkeys(told, ""))
            self._parts.clear()
            for number in self._held.keys() - self._known.keys():
                self._forget(number)
            raise
        dropped = self._dropped()
        self._mentioned.pop(threading.get_ident(), None)
        return ({"held": told} if told else {}) | ({"dropped": dropped} if dropped else {})

    def _tell(self, told: dict[int, object]) -> None:
        """Add to `told` the contents of each container that is new to the other process, or that has changed."""
        seen = 0
        # containers within containers are added to `_held` meanwhile
        while numbers := [*self._held][seen:]:
            seen += len(numbers)
            for number in numbers:
                if _is_same(self._parts.get(number), self._held[number]):
                    continue
                content = self._content(self._held[number])
                self._note_parts(number)
                if (text := json.dumps(content)) != (known := self._known.get(number)):
                    own = None if known else self._handle(self._held[number])
                    self._known[number], told[number] = text, content if own is None else {"own": [own, content]}

    def incoming(self, message: dict[str, Any]) -> None:
        """Change the containers of this process as a message of the other process reports."""
        told = {int(number): content for number, content in message.get("held", {}).items()}
        for number, content in told.items():
            if number not in self._held:
                self._hold(number, self._empty(content))
        for number, content in told.items():
            self._fill(self._held[number], content)
        for number in told:
            self._known[number] = json.dumps(self._content(self._held[number]))
            self._note_parts(number)
        for number in {*map(int, message.get("dropped", []))} & self._held.keys():
            self._forget(number)
        self._mentioned.pop(threading.get_ident(), None)

    def _hold(self, number: int, value: object) -> None:
        self._held[number] = value
        self._numbers[id(value)] = number

    def _forget(self, number: int) -> None:
        del self._numbers[id(self._held.pop(number))]
        self._known.pop(number, None)
        self._parts.pop(number, None)
        # it gets a new number if it is shared again, so what may hold it must be compared again
        for naming in self._naming:
            self._parts.pop(naming, None)
        self._naming.clear()

    def _note_parts(self, number: int) -> None:
        """Note the parts of a container that was just sent or received, if they can show later that nothing has
        changed.
        """
        parts = _parts(self._held[number])
        if parts is None or not all(_lasts(part) for part in (*parts[0], *parts[1][:-1])):
            self._parts.pop(number, None)
            return
        self._parts[number] = parts
        if not {*map(type, parts[0]), *map(type, parts[1][:-1])} <= _LASTING:
            self._naming.add(number)

    def _dropped(self) -> list[int]:
        """Forget the containers that nothing else in this process uses, and the oldest ones if all together are too
        large. Returns their numbers.
        """
        size = sum(map(len, self._known.values()))
        dropped = []
        for number in [*self._held]:
            if any(number in mentioned for mentioned in self._mentioned.values()):
                continue
            if size > _MOST_BYTES or _references(self._held, number) <= _ALONE:
                size -= len(self._known[number])
                self._forget(number)
                dropped.append(number)
        return dropped

    def _content(self, value: Any) -> object:
        """The contents of a container as JSON: `[1, 2]` for a list, `{"d": [["a", 1]]}` for a dictionary."""
        if isinstance(value, defaultdict):
            items = [[self._pack(key), self._pack(part)] for key, part in value.items()]
            return {"makes": [self._pack(value.default_factory), items]}
        if isinstance(value, deque) and value.maxlen is not None:
            return {"most": [value.maxlen, contents([*value], self._pack)]}
        return contents(value, self._pack)

    def _empty(self, content: Any) -> object:
        """A new, empty container of the kind that the JSON of its contents shows: `set()` for `{"s": [1]}`."""
        if isinstance(content, list):
            return []
        ((tag, parts),) = content.items()
        if tag == "own":
            made, like = self._unpack(parts[0]), self._empty(parts[1])
            if isinstance(like, deque | defaultdict):
                type(like).__init__(made, *like.__reduce__()[1])
            return made
        if tag == "makes":
            return defaultdict(self._unpack(parts[0]))
        if tag == "most":
            return deque(maxlen=int(parts[0]))
        kinds = {"d": dict, "s": set, "q": deque, "y": bytearray}
        return kinds[tag]() if tag in kinds else {"Counter": Counter, "OrderedDict": OrderedDict}[parts[0]]()

    def _fill(self, old: Any, content: Any) -> None:
        """Replace everything in the container `old` by the contents, given as JSON."""
        if isinstance(content, dict) and "own" in content:
            content = content["own"][1]
        if isinstance(content, dict) and "makes" in content:
            new: Any = self._unpack({"d": content["makes"][1]})
        else:
            new = self._unpack(content["most"][1] if isinstance(content, dict) and "most" in content else content)
        is_known = isinstance(old, MUTABLE)
        kind: Any = next((kind for kind in PLAIN_KINDS if isinstance(old, kind)), None)
        like = (list, deque) if kind is deque else dict if isinstance(old, dict) else kind
        if not is_known or not isinstance(new, like):
            raise NotPlainError("a container of another kind")
        # by the built-in methods: a class that is built on it may have its own
        if kind in (list, bytearray):
            kind.__setitem__(old, slice(None), new)
        else:
            kind.clear(old)
            if isinstance(new, dict):
                for key, part in new.items():
                    kind.__setitem__(old, key, part)
            else:
                (kind.extend if kind is deque else kind.update)(old, new)


class Conversations:
    """Questions and answers between the tests' process and the program's process, over one line. Each thread has its
    own conversation, so that one thread may wait for an answer while a second one asks.

    Attributes:
        lock: must be held to change what messages refer to, such as shared containers.

    Args:
        line: the line to the other process.
        shared: the containers of this process that both share.
        side: the prefix of the names of conversations that begin in this process, such as `tests `.
        help_out: is called if a message arrives that any thread may take, and all threads are busy.
    """

    def __init__(self, line: JailLine, shared: SharedContainers, side: str, help_out: Callable[[], None]) -> None:
        self._line, self._shared, self._side, self._help_out = line, shared, side, help_out
        self.lock = threading.RLock()
        self._names = (f"{side}{number}" for number in itertools.count())
        self._thread = threading.local()
        # more would fill the line in one direction while the other waits
        self._places = threading.BoundedSemaphore(MOST_AT_ONCE)
        self._within: Counter[str] = Counter()
        self._free = 0
        self._inbox: defaultdict[str, deque[dict[str, Any]]] = defaultdict(deque)
        self._is_read = False
        # sleeping threads by the name of their conversation: all, and those that take any message
        self._waiting: dict[str, threading.Condition] = {}
        self._idle: dict[str, threading.Condition] = {}

    @contextmanager
    def place(self) -> Iterator[None]:
        """Limit how many threads ask at once: hold one of `MOST_AT_ONCE` places while the block runs. A question within
        it, before the first one is answered, needs no other place.
        """
        if getattr(self._thread, "has_place", False):
            yield
            return
        with self._places:
            self._thread.has_place = True
            try:
                yield
            finally:
                self._thread.has_place = False

    @contextmanager
    def within(self, name: str) -> Iterator[None]:
        """While the block runs, this thread sends and receives in the conversation `name`: that of the question that it
        answers.
        """
        before, self._thread.name = self._name(), name
        with self.lock:
            self._within[name] += 1
        try:
            yield
        finally:
            self._thread.name = before
            with self.lock:
                self._within[name] -= 1

    def _name(self) -> str:
        """The name of this thread's conversation, such as `tests 0`."""
        if not hasattr(self._thread, "name"):
            self._thread.name = next(self._names)
        name: str = self._thread.name
        return name

    def send(self, message: dict[str, Any], name: str | None = None) -> None:
        """Send a message in the conversation `name`; in this thread's own one if `name` is None."""
        with self.lock:
            self._line.send(message | self._shared.outgoing() | {"in": name or self._name()})

    def receive(self) -> dict[str, Any]:
        """The next message in this thread's conversation. Waits for it."""
        return self._received(self._name())

    def receive_any(self) -> dict[str, Any]:
        """The next message in this thread's conversation, or in one that no thread has taken up yet. Waits for it."""
        return self._received(self._name(), _ANY)

    def _received(self, *names: str) -> dict[str, Any]:
        """The next message for one of these conversations. One waiting thread reads the line for all; the others sleep
        until it wakes them.
        """
        with self.lock:
            self._free += _ANY in names
            try:
                while (name := next((name for name in names if self._inbox[name]), None)) is None:
                    if self._is_read:
                        self._wait(names)
                    else:
                        self._read()
                return self._inbox[name].popleft()
            finally:
                self._free -= _ANY in names
                # if no thread reads the line now, wake one that waits, to read for all
                if not self._is_read:
                    self._notify_first(self._waiting)

    def _wait(self, names: Sequence[str]) -> None:
        """Sleep until the thread that reads the line wakes this one."""
        changed = threading.Condition(self.lock)
        places = [self._waiting] + [self._idle] * (_ANY in names)
        for place in places:
            place[names[0]] = changed
        try:
            changed.wait()
        finally:
            for place in places:
                place.pop(names[0], None)

    def _notify_first(self, place: dict[str, threading.Condition]) -> None:
        """Wake the thread that has slept longest."""
        # removed at once: a thread that was woken may not run yet, and must not be woken in another's place
        if place:
            place.pop(next(iter(place))).notify()

    def read_on(self) -> None:
        """Start a thread that reads the line from now on, even while no other thread waits for a message."""
        threading.Thread(target=self._read_all, daemon=True).start()

    def _read_all(self) -> None:
        with self.lock:
            while True:
                try:
                    self._wait([_READER]) if self._is_read else self._read()
                # the threads that wait are woken, and find the error themselves
                except BaseException:  # noqa: BLE001
                    for changed in self._waiting.values():
                        changed.notify()
                    return

    def _read(self) -> None:
        """Read one message from the line, put it into the inbox of its conversation, and wake a thread that waits for
        it.
        """
        self._is_read = True
        self.lock.release()
        try:
            message = self._line.receive()
        finally:
            self.lock.acquire()
            self._is_read = False
        self._shared.incoming(message)
        name = str(message["in"])
        is_taken = name.startswith(self._side) or self._within[name]
        self._inbox[name := name if is_taken else _ANY].append(message)
        if name in self._waiting:
            self._waiting[name].notify()
        elif name == _ANY:
            self._notify_first(self._idle)
        if len(self._inbox[_ANY]) > self._free:
            self._help_out()


#: The path of the shared folder, on both sides.
ROOT = os.path.join(os.path.dirname(HOME), "files")
_MOST_FILES = 500
_MOST_FILE_BYTES = 4 * 2**20
_MOST_DEPTH = 32


class FilesError(Exception):
    """The shared folder holds more than may be sent, or the other process sent something that is no change
    of files.
    """


# mode, when it was changed, and what it holds: None for a folder
_File = tuple[int, int, bytes | None]


class SharedFiles:
    """The copy of the shared folder in this process (`ROOT`): finds what has changed in it, and makes the changes that
    the other process reports.

    Made only for tests that use files. Both processes have the folder at the same path.
    """

    def __init__(self) -> None:
        os.makedirs(ROOT, exist_ok=True)
        os.environ["TMPDIR"] = ROOT
        if (module := sys.modules.get("tempfile")) is not None:
            # it may have found, and kept, another folder before
            module.__dict__["tempdir"] = ROOT
        self._known: dict[str, _File] = {}

    def changes(self) -> dict[str, object]:
        """The changes in the folder since the last call, by relative name: `{"out.txt": [mode, time, content]}`, with
        the content as base64, or None for a folder. A name that is gone has None in place of the list.

        Raises:
            FilesError: the folder holds too much.
        """
        before, self._known = self._known, (now := _files())
        changed: dict[str, object] = dict.fromkeys(before.keys() - now.keys())
        for name, (mode, since, content) in now.items():
            if before.get(name) != now[name]:
                changed[name] = [mode, since, None if content is None else base64.b64encode(content).decode()]
        return changed

    def take(self, changes: Any) -> None:
        """Make the changes of the other process in this process's folder.

        Args:
            changes: as `changes` of the other process gave them.

        Raises:
            FilesError: they are no changes of files, or too many.
        """
        try:
            gone = sorted(name for name, new in changes.items() if new is None)
            size = sum(len(new[2] or "") for new in changes.values() if new is not None)
            if len(changes) > 2 * _MOST_FILES or size > 2 * _MOST_FILE_BYTES:
                raise ValueError("too many, or too large")
            for name in reversed(gone):
                _remove(_placed(name))
            for name in sorted(changes.keys() - {*gone}):
                _write(_placed(name), *changes[name])
        except (LookupError, OSError, TypeError, ValueError, AttributeError) as exc:
            raise FilesError(f"these are no files: {exc}") from exc
        self._known = _files()


def _files() -> dict[str, _File]:
    """The regular files and the folders in `ROOT`, by relative name, such as `out.txt`.

    Raises:
        FilesError: there are too many, or they are too large.
    """
    found: dict[str, _File] = {}
    size = 0
    for folder, folders, files in os.walk(ROOT):
        for name in (*folders, *files):
            about = os.lstat(path := os.path.join(folder, name))
            size += about.st_size if (is_file := stat.S_ISREG(about.st_mode)) else 0
            if len(found) >= _MOST_FILES or size > _MOST_FILE_BYTES:
                raise FilesError(f"{len(found):,} files of {size:,} bytes: more than tests and a program can share")
            mode, name = stat.S_IMODE(about.st_mode), os.path.relpath(path, ROOT)
            if is_file:
                found[name] = mode, about.st_mtime_ns, _content(path, mode)
            elif stat.S_ISDIR(about.st_mode):
                found[name] = mode, 0, None
    return found


def _content(path: str, mode: int) -> bytes:
    """The bytes of a file, also if a test has made it unreadable."""
    # a test may have made the file unreadable
    if is_closed := not mode & stat.S_IRUSR:
        os.chmod(path, mode | stat.S_IRUSR)
    with open(path, "rb") as file:
        content = file.read(_MOST_FILE_BYTES + 1)
    if is_closed:
        os.chmod(path, mode)
    return content


def _placed(name: str) -> str:
    """The path in `ROOT` of a relative name such as `a/out.txt`. Makes the folders that lead to it.

    Raises:
        ValueError: the name leads out of `ROOT`, as `../out.txt` does, or through a link.
    """
    parts = name.split("/")
    if "\0" in name or len(parts) > _MOST_DEPTH or not all(part and part not in (".", "..") for part in parts):
        raise ValueError(f"no name of a file: {name!r:.60}")
    for end in range(1, len(parts)):
        os.makedirs(above := os.path.join(ROOT, *parts[:end]), exist_ok=True)
        if os.path.islink(above):
            raise ValueError(f"a link: {name!r:.60}")
    return os.path.join(ROOT, name)


def _remove(path: str) -> None:
    """Remove a file, a link, or a folder with all that is in it."""
    for folder, folders, files in os.walk(path, topdown=False):
        for name in (*folders, *files):
            _remove_one(os.path.join(folder, name))
    if os.path.lexists(path):
        _remove_one(path)


def _remove_one(path: str) -> None:
    """Remove a file, a link or an empty folder."""
    (os.rmdir if os.path.isdir(path) and not os.path.islink(path) else os.unlink)(path)


def _write(path: str, mode: int, changed: int, content: str | None) -> None:
    """Write a file, or make a folder if `content` is None.

    Args:
        path: of the file.
        mode: its permissions.
        changed: the time at which it was changed, in nanoseconds.
        content: its bytes as base64.
    """
    is_folder = content is None
    if os.path.lexists(path) and (os.path.islink(path) or os.path.isdir(path) != is_folder):
        _remove(path)
    if is_folder:
        os.makedirs(path, exist_ok=True)
    else:
        # as a program that has it open would see it; a file that may not be read is made anew
        if os.path.lexists(path) and not os.access(path, os.W_OK):
            os.unlink(path)
        with open(path, "wb") as file:
            file.write(base64.b64decode(content or "", validate=True))
        os.utime(path, ns=(changed, changed))
    os.chmod(path, stat.S_IMODE(mode) & 0o777)
