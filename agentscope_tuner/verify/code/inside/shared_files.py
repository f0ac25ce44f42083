"""A folder that the tests and the program both have, each in its own jail: what one side changes is told to the other.

Only regular files and folders travel, as data. Nothing in this folder is ever imported, and tests whose code could run
what a file holds are not given it; see `run_tests`.
"""

from __future__ import annotations

import base64
import os
import stat
import sys
from typing import Any

from agentscope_tuner._jail.inside import HOME

#: Where it is, on both sides.
ROOT = os.path.join(os.path.dirname(HOME), "files")
_MOST_FILES = 500
_MOST_BYTES = 4 * 2**20
_MOST_DEPTH = 32


class FilesError(Exception):
    """The folder holds more than travels, or the other side's changes are none."""


# mode, when it was changed, and what it holds: None for a folder
_File = tuple[int, int, bytes | None]


class SharedFiles:
    """This side's folder.

    Attributes:
        has_taken: whether anything in it is the other side's.
    """

    def __init__(self) -> None:
        os.makedirs(ROOT, exist_ok=True)
        os.environ["TMPDIR"] = ROOT
        if (module := sys.modules.get("tempfile")) is not None:
            # it keeps what it has found before
            module.__dict__["tempdir"] = ROOT
        self._known: dict[str, _File] = {}
        self.has_taken = False

    def changes(self) -> dict[str, object]:
        """What has changed here since the last time: by name, a file, a folder, or None where it is gone.

        Raises:
            FilesError: it holds too much.
        """
        before, self._known = self._known, (now := _files())
        changed: dict[str, object] = dict.fromkeys(before.keys() - now.keys())
        for name, (mode, since, content) in now.items():
            if before.get(name) != now[name]:
                changed[name] = [mode, since, None if content is None else base64.b64encode(content).decode()]
        return changed

    def take(self, changes: Any) -> None:
        """Make the other side's changes here.

        Raises:
            FilesError: they are none.
        """
        try:
            gone = sorted(name for name, new in changes.items() if new is None)
            size = sum(len(new[2] or "") for new in changes.values() if new is not None)
            if len(changes) > 2 * _MOST_FILES or size > 2 * _MOST_BYTES:
                raise ValueError("too many, or too large")
            for name in reversed(gone):
                _remove(_placed(name))
            for name in sorted(changes.keys() - {*gone}):
                _write(_placed(name), *changes[name])
        except (OSError, TypeError, ValueError, AttributeError) as exc:
            raise FilesError(f"these are no files: {exc}") from exc
        self.has_taken |= bool(changes)
        self._known = _files()


def _files() -> dict[str, _File]:
    """The regular files and the folders, by name."""
    found: dict[str, _File] = {}
    size = 0
    for folder, folders, files in os.walk(ROOT):
        for name in (*folders, *files):
            about = os.lstat(path := os.path.join(folder, name))
            size += about.st_size if (is_file := stat.S_ISREG(about.st_mode)) else 0
            if len(found) >= _MOST_FILES or size > _MOST_BYTES:
                raise FilesError(f"{len(found):,} files of {size:,} bytes: more than tests and a program can share")
            mode, name = stat.S_IMODE(about.st_mode), os.path.relpath(path, ROOT)
            if is_file:
                found[name] = mode, about.st_mtime_ns, _content(path, mode)
            elif stat.S_ISDIR(about.st_mode):
                found[name] = mode, 0, None
    return found


def _content(path: str, mode: int) -> bytes:
    # a test may have taken the right to read it away
    is_closed = not mode & stat.S_IRUSR
    if is_closed:
        os.chmod(path, mode | stat.S_IRUSR)
    with open(path, "rb") as file:
        content = file.read(_MOST_BYTES + 1)
    if is_closed:
        os.chmod(path, mode)
    return content


def _placed(name: str) -> str:
    """The place of a name; every folder on the way to it is one, and no link."""
    parts = name.split("/")
    if "\0" in name or len(parts) > _MOST_DEPTH or not all(part and part not in (".", "..") for part in parts):
        raise ValueError(f"no name of a file: {name!r:.60}")
    for end in range(1, len(parts)):
        os.makedirs(above := os.path.join(ROOT, *parts[:end]), exist_ok=True)
        if os.path.islink(above):
            raise ValueError(f"a link: {name!r:.60}")
    return os.path.join(ROOT, name)


def _remove(path: str) -> None:
    for folder, folders, files in os.walk(path, topdown=False):
        for name in (*folders, *files):
            _remove_one(os.path.join(folder, name))
    if os.path.lexists(path):
        _remove_one(path)


def _remove_one(path: str) -> None:
    (os.rmdir if os.path.isdir(path) and not os.path.islink(path) else os.unlink)(path)


def _write(path: str, mode: int, changed: int, content: str | None) -> None:
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
