"""Asks a data set's own checker whether a program's output is right, where several are."""

from __future__ import annotations

import json
from collections.abc import Callable

from agentscope_tuner._jail.jail import Ending, Jail, JailWork, RunLimits
from agentscope_tuner.verify.code.cases import StdinTest

_FILES = ("input.txt", "correct_output.txt", "solution_output.txt")
# of a checker, which may compare long outputs
_SECONDS = 10.0


class CheckerError(Exception):
    """The checker does not even accept the data set's own output; the message says what it does."""


def accepts(jail: Callable[[], Jail], checker: str, test: StdinTest, printed: bytes, seconds: float) -> bool:
    """Whether the checker gives `printed` the full score. It runs in a jail without the program.

    A checker that refuses `printed`, or fails on it, must accept the data set's own output.

    Args:
        jail: gives one for each question: `printed` can send the checker over its bounds, with which its jail ends.
        seconds: that it may take over `printed`, which can make it loop.

    Raises:
        CheckerError: it accepts neither.
        JailBroken: the jail failed.
    """
    score, _ = _asked(jail(), checker, test, printed, min(_SECONDS, seconds))
    if score == 1:
        return True
    own, how = _asked(jail(), checker, test, test.expected.encode(errors="replace"), _SECONDS)
    if own != 1:
        raise CheckerError(f"the checker of the row does not accept its own output: {how}")
    return False


def _asked(jail: Jail, checker: str, test: StdinTest, printed: bytes, seconds: float) -> tuple[float | None, str]:
    contents = (test.given.encode(errors="replace"), test.expected.encode(errors="replace"), printed)
    payload = json.dumps({"program": checker, "arguments": list(_FILES)}).encode()
    work = JailWork(
        entry="agentscope_tuner.verify.code.inside.run_program:script",
        payload=payload,
        files=dict(zip(_FILES, contents, strict=True)),
    )
    ending = jail.run(work, RunLimits(seconds=seconds, wall_seconds=seconds))
    if ending.kind in ("starved", "killed"):
        raise jail.broken(f"a checker was {ending.kind}")
    return _score(ending), f"{ending.kind}, exit code {ending.status}, {ending.stdout[:100]!r}"


def _score(ending: Ending) -> float | None:
    if ending.kind != "exit" or ending.status != 0:
        return None
    lines = ending.stdout.decode(errors="replace").strip().splitlines()
    try:
        # all of the line: a checker's words may repeat the program's
        return float(lines[-1]) if lines else None
    except ValueError:
        return None
