"""Two entry points of jails: `run_query` runs a query on a SQLite database, for the judge of SQL; `score_puzzle` runs a
scorer of reasoning-gym, for the judge of its puzzles.

Both need a jail: a query is hostile, and a scorer may hang, raise, or run what it is given.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
from typing import Any
from urllib.parse import quote

from agentscope_tuner._jail.inside import begin, leave
from agentscope_tuner.verify.code.inside.code_values import dump, load

# Bytes of one text or blob
_MOST_BYTES = 1_000_000
# SQLITE_SELECT, READ, FUNCTION and RECURSIVE: what a question needs; everything else is refused, whatever SQLite adds
_ALLOWED = {20, 21, 31, 33}


def run_query(payload: bytes) -> int:
    """Run a query on a database that is opened read-only. Leaves `{"rows": [(1, "a")]}` as the result of the jail, or
    `{"error": …}` with SQLite's message. Returns 0.

    Args:
        payload: JSON of `{"database", "query", "most_rows"}`: a path, SQL, and the most rows that are allowed.
    """
    asked = json.loads(payload)
    begin()
    found: dict[str, object]
    try:
        found = {"rows": _rows(asked["database"], asked["query"], asked["most_rows"])}
    except (sqlite3.Error, sqlite3.Warning, OverflowError, UnicodeError, ValueError) as exc:
        found = {"error": f"{exc}"[:500]}
    except MemoryError:
        found = {"error": "out of memory"}
    leave(dump(found))
    return 0


def _rows(database: str, query: str, most_rows: int) -> list[tuple[object, ...]]:
    """The rows that the query gives, such as `[(1, "a")]`.

    Raises:
        sqlite3.Error: the query fails, does more than read, or gives more than `most_rows` rows.
    """
    connection = sqlite3.connect(f"file:{quote(database)}?mode=ro&immutable=1", uri=True, isolation_level=None)
    connection.text_factory = lambda data: data.decode("utf-8", "surrogateescape")
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MOST_BYTES)
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    connection.setlimit(sqlite3.SQLITE_LIMIT_WORKER_THREADS, 0)
    # these tables of the library's own are declared when they are first named, which is no question
    with contextlib.suppress(sqlite3.OperationalError):
        connection.execute("SELECT 1 FROM json_each('[]'), json_tree('[]')").close()
    connection.set_authorizer(_authorize)
    cursor = connection.execute(query)
    if cursor.description is None:
        raise sqlite3.ProgrammingError("the statement returns no rows")
    rows = cursor.fetchmany(most_rows + 1)
    if len(rows) > most_rows:
        raise sqlite3.DataError(f"more than {most_rows:,} rows")
    return rows


def _authorize(action: int, first: str | None, second: str | None, *others: object) -> int:
    """SQLite's authorizer: allows a query to read, and denies everything else, also the function `load_extension`."""
    if action not in _ALLOWED or (second or "").lower() == "load_extension":
        return sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_OK


def score_puzzle(payload: bytes) -> int:
    """Score an answer to a puzzle. Leaves `{"score": 0.5}` as the result of the jail, or `{"error": …}`. Returns 0.

    Args:
        payload: of `{"dataset", "answer", "entry"}`, as `dump` writes it: the data set's name, the answer, the puzzle.
    """
    # heavy, and preloaded where the jail is for this
    import reasoning_gym

    asked: Any = load(payload)
    begin()
    found: dict[str, object]
    try:
        score = reasoning_gym.get_score_answer_fn(asked["dataset"])(answer=asked["answer"], entry=asked["entry"])
        found = {"score": float(score)}
    except Exception as exc:  # noqa: BLE001 - a hundred scorers raise anything
        found = {"error": f"{type(exc).__name__}: {exc}"[:300]}
    leave(json.dumps(found).encode())
    return 0
