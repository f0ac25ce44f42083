"""Mixed data: 1,000 rollouts of five kinds, the same in every environment, and the digest of what they are paid.

The command line, the service, Ray and TRL judge them by `configs/routed.yaml`, whose routes are single judges and a
combined one. `DIGEST` is of the rewards' bits, so that all four agree with each other and not only nearly.
"""

from __future__ import annotations

import hashlib
import json
import random
import struct
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
CONFIG = str(ROOT / "configs/routed.yaml")
COUNT = 1_000
#: `digest` of the rewards of `mixed_rows()`.
DIGEST = "09e383906746ae24"

Row = dict[str, Any]


def mixed_rows(count: int = COUNT, seed: int = 17) -> list[Row]:
    """`count` rows, the kinds in turn; right and wrong answers, long ones, and some that state nothing."""
    rng = random.Random(seed)
    rows = []
    for number in range(count):
        source = list(_KINDS)[number % len(_KINDS)]
        query, metadata, answer = _KINDS[source](rng)
        task = {"task_id": f"m{number}", "main_query": query, "metadata": {"data_source": source, **metadata}}
        rows.append({"id": f"m{number}", "task": task, "output": {"metadata": {"final_answer": answer}}})
    return rows


def columns_of(rows: Sequence[Row]) -> dict[str, list[Any]]:
    """The tasks' metadata as a data set has it: a column for each key, None where a row lacks it."""
    keys = list(dict.fromkeys(key for row in rows for key in row["task"]["metadata"]))
    return {key: [row["task"]["metadata"].get(key) for row in rows] for key in keys}


def write_rows(path: Path, rows: Sequence[Row] | None = None) -> Path:
    """A rollout file."""
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows or mixed_rows()), encoding="utf-8")
    return path


def digest(rewards: Sequence[float | None]) -> str:
    """Of the bits of all rewards, in order; raises where one is missing."""
    assert None not in rewards
    return hashlib.sha256(struct.pack(f"<{len(rewards)}d", *rewards)).hexdigest()[:16]


def _math(rng: random.Random) -> tuple[str, Row, str]:
    over, under = rng.randint(1, 9), rng.choice((2, 4, 5, 8))
    value = rng.choice((f"{over}/{under}", f"\\frac{{{over}}}{{{under}}}", f"{over / under:g}", f"{over}", ""))
    # beyond the soft limit of the length part in one row of four
    words = "so " * rng.choice((5, 50, 500, 3_000))
    return f"What is {over} over {under}?", {"answer": f"{over}/{under}"}, f"{words}\\boxed{{{value}}}"


def _countdown(rng: random.Random) -> tuple[str, Row, str]:
    first, second, third = (rng.randint(1, 20) for _ in range(3))
    answer = rng.choice((f"{first}+{second}*{third}", f"{third}*{second}+{first}", f"{first}+{second}", "no idea"))
    task = {"target": first + second * third, "nums": [first, second, third]}
    return "Reach the target.", task, f"\\boxed{{{answer}}}"


def _choice(rng: random.Random) -> tuple[str, Row, str]:
    said = rng.choice(("Answer: {}", "({})", "The answer is {}.", "{} or D", "I do not know"))
    return "Which of A to D?", {"answer": rng.choice("ABC")}, said.format(rng.choice("ABC"))


def _qa(rng: random.Random) -> tuple[str, Row, str]:
    answer = " ".join(rng.sample(["Ada", "Lovelace", "of", "London", "the", "first", "programmer"], rng.randint(1, 7)))
    return "Who wrote it?", {"answer": "Ada Lovelace, the first programmer"}, answer


def _json(rng: random.Random) -> tuple[str, Row, str]:
    said = {"name": rng.choice(("Ada", "Bob")), "year": rng.choice((1815, 1815.0, "1815")), "city": "London"}
    given = rng.choice((json.dumps(said), json.dumps(said)[:-1], json.dumps({"name": "Ada"})))
    return "Answer in JSON.", {"answer": json.dumps({"name": "Ada", "year": 1815, "city": "London"})}, given


_KINDS: dict[str, Callable[[random.Random], tuple[str, Row, str]]] = {
    "math": _math,
    "countdown": _countdown,
    "choice": _choice,
    "qa": _qa,
    "json": _json,
}
