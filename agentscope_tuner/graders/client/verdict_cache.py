"""Replies that held a verdict, kept on disk and shared by processes."""

from __future__ import annotations

import json
import logging
import os
import sqlite3
from pathlib import Path
from typing import Any, Protocol

from agentscope_tuner.graders.client.reply import Reply
from agentscope_tuner.graders.client.usage import Usage

_log = logging.getLogger(__name__)


class ReplyStore(Protocol):
    """Where replies are kept under the digest of what was asked. The verdict cache is one, a learning journal
    another.
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
    """The diskcache in `directory`, made when absent: at most 1 GiB, the oldest verdicts go first.

    Raises:
        OSError, sqlite3.Error: the folder cannot be used.
    """
    import diskcache

    class PlainDisk(diskcache.Disk):  # type: ignore[misc]
        """Refuses pickles: who can write into the folder must not be able to run code here."""

        def fetch(self, mode: int, filename: str | None, value: Any, read: bool) -> Any:
            if mode == diskcache.core.MODE_PICKLE:
                raise ValueError("the verdict cache holds a pickle, which astuner never writes: clear it")
            return super().fetch(mode, filename, value, read)

    # a second: a verdict does not wait long for another process's write
    return diskcache.Cache(str(directory), disk=PlainDisk, timeout=1, disk_min_file_size=2**20, size_limit=2**30)


class VerdictCache:
    """The verdict cache as a ReplyStore. A cache that cannot be read or written is reported once and then left alone:
    verdicts cost a call again, and none is lost.
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
            return None  # written by another version: asked again, and overwritten

    def put(self, key: str, reply: Reply, usage: Usage) -> None:
        """Keep `reply` under `key`, without its cost."""
        self._use("set", key, encode_reply(reply))

    def _use(self, operation: str, *arguments: str) -> Any:
        if self._broken:
            return None
        try:
            if self._cache is None:
                self._cache = open_cache(self._directory)
            return getattr(self._cache, operation)(*arguments)
        except (OSError, sqlite3.Error, ValueError) as exc:
            self._broken = True
            _log.warning("the verdict cache in %s is not used: %s: %s", self._directory, type(exc).__name__, exc)
        except Exception as exc:
            # diskcache's Timeout has no base of its own; importing it here would cost what laziness saves
            if type(exc).__name__ != "Timeout":
                raise
        return None


def encode_reply(reply: Reply) -> str:
    """`reply` as JSON; log probabilities only of the tokens before and at the first that is not white space."""
    tops: list[dict[str, float]] = []
    for top in reply.top_logprobs:
        tops.append(top)
        if max(top, key=lambda token: top[token], default="").strip():
            break
    kept: dict[str, Any] = {"text": reply.text, "finish": reply.finish}
    if tops:
        kept["top_logprobs"] = tops
    return json.dumps(kept, ensure_ascii=False)


def decode_reply(kept: str) -> Reply:
    """What `encode_reply` made.

    Raises:
        ValueError, KeyError, TypeError: it is not such a text.
    """
    fields = json.loads(kept)
    return Reply(fields["text"], fields["finish"], top_logprobs=fields.get("top_logprobs", []))
