"""What the tests and the program share, each in its own jail: containers, such as lists, and a folder of files.

Used on both sides of tests that carry code, with each message between them (`Conversations`).

A container has one number on both sides. A message names it by its number, and holds its contents if they are new or
have changed since the last message. So two names for one list are two names for one list on the other side as well,
within a value and between values. Of the folder, regular files and folders travel, as data. Nothing in it is ever
imported, and tests whose code could run what a file holds do not get it; see `run_tests`.
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
# Names of no conversation: the inbox for messages that any thread may take, and the thread that only reads
_ANY, _READER = "", "reader"
# Containers are compared before each message: bytes of their text. Beyond it, the oldest are forgotten, and so become
# copies
_MOST_BYTES = 200_000


def _references(held: dict[int, object], number: int) -> int:
    """How many references there are to a held container; `_ALONE` if only `held` refers to it."""
    return sys.getrefcount(held[number])


_ALONE = _references({0: []}, 0)
# Types whose objects never change; other parts of a container are compared before each message
_LASTING = {type(None), bool, int, float, complex, str, bytes, range, Decimal, Fraction}
_Parts = tuple[list[object], list[object]]


def _parts(value: Any) -> _Parts | None:
    """The items of a built-in container, and its values; None if its class may define its own ways to read them."""
    own = type(value)
    if own in (list, set, deque):
        return [*value], []
    if own in (dict, OrderedDict, Counter, defaultdict):
        return [*value], [*value.values(), getattr(value, "default_factory", None)]
    return None


def _lasts(part: object) -> bool:
    """Whether an object always means the same data in a message: it never changes, or it is a container with a number
    of its own. True for `(1, [2])`, false for an object of a class.
    """
    own = type(part)
    return own in _LASTING or issubclass(own, MUTABLE) or (own is tuple and all(map(_lasts, part)))  # type: ignore[call-overload]


def _is_same(before: _Parts | None, value: Any) -> bool:
    """Whether the parts of a container are the very objects that they were, so that nothing must be sent. No part is
    asked whether it equals another.
    """
    if before is None or (now := _parts(value)) is None:
        return False
    return all(len(old) == len(new) and all(map(operator.is_, old, new)) for old, new in zip(before, now, strict=True))


class SharedContainers:
    """The containers of one side that the other side holds, too; adds their changes to each message, and takes them
    from it.

    Args:
        pack, unpack: make data of what a container holds, and the other way round.
        first: the first number that this side gives; it goes on in steps of two, so the sides never give the same one.
        handle: makes data of a container whose class only this side has; None for any other.
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
        # what the other side knows of each
        self._known: dict[int, str] = {}
        # by number: the parts of those whose parts all last (`_lasts`); and which of these may hold other containers
        self._parts: dict[int, _Parts] = {}
        self._naming: set[int] = set()
        # by thread: the containers in the message that it makes, and has not sent yet
        self._mentioned: defaultdict[int, set[int]] = defaultdict(set)

    def share(self, value: object) -> object:
        """What represents a container in a message: `{"m": number}`."""
        if id(value) not in self._numbers:
            self._hold(self._next, value)
            self._next += 2
        self._mentioned[threading.get_ident()].add(number := self._numbers[id(value)])
        return {"m": number}

    def __getitem__(self, number: int) -> object:
        """The container that a message names."""
        return self._held[number]

    def told(self, number: int) -> object:
        """What the other side knows of the container with that number, as JSON; None if nothing."""
        return json.loads(self._known.get(number) or "null")

    def alive(self) -> dict[str, object]:
        """The state (`_held` and `_numbers`) without those containers that only this object refers to; a replay starts
        from it.
        """
        held = {number: one for number, one in self._held.items() if _references(self._held, number) > _ALONE + 1}
        return {"_held": held, "_numbers": {id(one): number for number, one in held.items()}}

    def outgoing(self) -> dict[str, object]:
        """What the next message must say of containers: `held`, the contents that the other side does not know; and
        `dropped`, the numbers of those that it may forget.
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
        """Add to `told` the contents of each container that is new to the other side, or has changed."""
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
        """Give the containers of this side the contents that a message of the other side says."""
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
        """Note the parts of a container that has just been sent or read, if they can show later that nothing
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
        """Forget containers that nothing else on this side refers to, and the oldest if all together are too large;
        their numbers.
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
        """JSON of what a container holds."""
        if isinstance(value, defaultdict):
            items = [[self._pack(key), self._pack(part)] for key, part in value.items()]
            return {"makes": [self._pack(value.default_factory), items]}
        if isinstance(value, deque) and value.maxlen is not None:
            return {"most": [value.maxlen, contents([*value], self._pack)]}
        return contents(value, self._pack)

    def _empty(self, content: Any) -> object:
        """A new, empty container of the kind that the content is of."""
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
        """Replace all that a container holds by the content."""
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
    """Questions and answers over one line. Each thread has a conversation of its own, so that one thread may wait in
    the program for what another thread asks it next.

    Attributes:
        lock: must be held to change what messages name, such as shared containers.

    Args:
        side: the prefix of the names of conversations that begin on this side.
        help_out: is called if no thread is free for a message that any thread may take.
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
        """Hold one of the places for questions under way, while the block runs. What is asked within it, before the
        question is answered, needs no other place.
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
        """Have this thread speak in the conversation of that name, while the block runs."""
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
        """The name of this thread's conversation."""
        if not hasattr(self._thread, "name"):
            self._thread.name = next(self._names)
        name: str = self._thread.name
        return name

    def send(self, message: dict[str, Any], name: str | None = None) -> None:
        """Send a message in the conversation of that name, or else in this thread's."""
        with self.lock:
            self._line.send(message | self._shared.outgoing() | {"in": name or self._name()})

    def receive(self) -> dict[str, Any]:
        """The next message in this thread's conversation; waits for it."""
        return self._received(self._name())

    def receive_any(self) -> dict[str, Any]:
        """The next message in this thread's conversation, or in one that no thread has taken up; waits for it."""
        return self._received(self._name(), _ANY)

    def _received(self, *names: str) -> dict[str, Any]:
        """The next message for one of these names. One waiting thread reads the line for all; the others sleep until it
        wakes them.
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
        # removed at once: a thread that was woken may not run yet, and must not be woken in another's place
        if place:
            place.pop(next(iter(place))).notify()

    def read_on(self) -> None:
        """Have a thread of its own read the line from now on, also while no thread waits for a message."""
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
    """The folder holds more than may travel, or what the other side sent is no change of files."""


# mode, when it was changed, and what it holds: None for a folder
_File = tuple[int, int, bytes | None]


class SharedFiles:
    """This side's folder of files (`ROOT`): finds what has changed in it, and makes the other side's changes.

    Made for tests that use files; both sides have it at the same path.
    """

    def __init__(self) -> None:
        os.makedirs(ROOT, exist_ok=True)
        os.environ["TMPDIR"] = ROOT
        if (module := sys.modules.get("tempfile")) is not None:
            # it may have found, and kept, another folder before
            module.__dict__["tempdir"] = ROOT
        self._known: dict[str, _File] = {}

    def changes(self) -> dict[str, object]:
        """What has changed in the folder since the last time: by name, a file or a folder with its data; None if it is
        gone.

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
        """Make the other side's changes in this side's folder.

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
    """The regular files and the folders in `ROOT`, by their relative names.

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
    # a test may have made the file unreadable
    if is_closed := not mode & stat.S_IRUSR:
        os.chmod(path, mode | stat.S_IRUSR)
    with open(path, "rb") as file:
        content = file.read(_MOST_FILE_BYTES + 1)
    if is_closed:
        os.chmod(path, mode)
    return content


def _placed(name: str) -> str:
    """The path of a name in `ROOT`. Makes the folders that lead to it.

    Raises:
        ValueError: it is no name of a file in `ROOT`, or leads through a link.
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
    (os.rmdir if os.path.isdir(path) and not os.path.islink(path) else os.unlink)(path)


def _write(path: str, mode: int, changed: int, content: str | None) -> None:
    """Write a file or, if `content` is None, a folder."""
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
