"""The cache of replies that held a verdict: on disk, and shared by processes."""

from __future__ import annotations

import json
import logging
import os
import sqlite3
from pathlib import Path
from typing import Any, Protocol

from agentscope_tuner._run.forks import unforked
from agentscope_tuner.graders.client.reply import Reply
from agentscope_tuner.graders.client.usage import Usage

_log = logging.getLogger(__name__)


class ReplyStore(Protocol):
    """Keeps replies under the digest of their question. The verdict cache and the journal of learning are such
    stores.
    """

    def get(self, key: str) -> Reply | None:
        """The reply kept under `key`, or None."""

    def put(self, key: str, reply: Reply, usage: Usage) -> None:
        """Keep `reply`, which cost `usage`, under `key`."""


def default_cache_dir() -> Path:
    """`$ASTUNER_CACHE_DIR`, else `verdicts` in the user's cache folder (`$XDG_CACHE_HOME/astuner`,
    `~/.cache/astuner`).
    """
    if chosen := os.environ.get("ASTUNER_CACHE_DIR"):
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "astuner" / "verdicts"


def open_cache(directory: Path) -> Any:
    """The diskcache in `directory`, created if absent. It holds at most 1 GiB, and drops the oldest verdicts first.

    Raises:
        OSError, sqlite3.Error: the folder cannot be used.
    """
    import diskcache

    class PlainDisk(diskcache.Disk):  # type: ignore[misc]
        """Refuses pickles, because unpickling would let anybody who can write into the folder run code here."""

        def fetch(self, mode: int, filename: str | None, value: Any, read: bool) -> Any:
            if mode == diskcache.core.MODE_PICKLE:
                raise ValueError("the verdict cache holds a pickle, which astuner never writes: clear it")
            return super().fetch(mode, filename, value, read)

    # At most one second: a verdict must not wait long for another process's write
    return diskcache.Cache(str(directory), disk=PlainDisk, timeout=1, disk_min_file_size=2**20, size_limit=2**30)


class VerdictCache:
    """The verdict cache as a ReplyStore.

    A cache that cannot be read or written is logged once and used no more: verdicts then cost calls, but none is lost.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._cache: Any = None
        self._broken = False

    @property
    def exists(self) -> bool:
        """Whether its folder holds a cache already."""
        return self._cache is not None or (self._directory / "cache.db").exists()

    def get(self, key: str) -> Reply | None:
        """The reply kept under `key`, or None."""
        kept = self._use("get", key)
        try:
            return None if kept is None else decode_reply(kept)
        except (ValueError, KeyError, TypeError):
            return None  # another version wrote it: ask again, and overwrite it

    def put(self, key: str, reply: Reply, usage: Usage) -> None:
        """Keep `reply` under `key`, without its cost."""
        self._use("set", key, encode_reply(reply))

    def _use(self, operation: str, *arguments: str) -> Any:
        if self._broken:
            return None
        try:
            # SQLite's locks are the process's, and it holds them without Python's
            with unforked():
                if self._cache is None:
                    self._cache = open_cache(self._directory)
                return getattr(self._cache, operation)(*arguments)
        except (OSError, sqlite3.Error, ValueError) as exc:
            self._broken = True
            _log.warning("the verdict cache in %s is not used: %s: %s", self._directory, type(exc).__name__, exc)
        except Exception as exc:
            # Comparing by name saves the import of diskcache, whose Timeout has no base but Exception
            if type(exc).__name__ != "Timeout":
                raise
        return None


def encode_reply(reply: Reply) -> str:
    """`reply` as JSON, with log probabilities up to the first token that is not white space; no later one is read."""
    tops: list[dict[str, float]] = []
    for top in reply.top_logprobs:
        tops.append(top)
        if max(top, key=lambda token: top[token], default="").strip():
            break
    kept: dict[str, Any] = {"text": reply.text, "finish": reply.finish}
    if tops:
        kept["top_logprobs"] = tops
    # Escapes: a model may write half a surrogate pair, which UTF-8 cannot encode
    return json.dumps(kept)


def decode_reply(kept: str) -> Reply:
    """The reply that `encode_reply` wrote.

    Raises:
        ValueError, KeyError, TypeError: `kept` is not such a text.
    """
    fields = json.loads(kept)
    return Reply(fields["text"], fields["finish"], top_logprobs=fields.get("top_logprobs", []))
