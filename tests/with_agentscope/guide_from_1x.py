"""docs/from_agentscope_1x.md, taken apart; both versions of agentscope check their half of it."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from pathlib import Path

from tests.judge_server import Body, Canned
from tests.with_agentscope.chat_replies import Say, in_turn

PAGE = (Path(__file__).parents[2] / "docs/from_agentscope_1x.md").read_text(encoding="utf-8")
OLD, NEW = "agentscope 1.0.21", "agentscope 2.0"

# what the model says to the page's workflow: one call of its tool, then the answer
ADDS = (Say(tools=[("add", '{"a": 2, "b": 2}')]), Say(r"\boxed{4}"))


def block(language: str, first_line: str) -> str:
    """The one block of the page that begins so."""
    (found,) = [
        body
        for body in re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
        if body.startswith(first_line)
    ]
    return str(found)


def rows(heading: str) -> list[list[str]]:
    """The cells of the table under a heading, its own head left out."""
    section = PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")][2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def names(column: int) -> list[str]:
    """The dotted names in a column of the table of names; 0 is 1.x."""
    return [name for row in rows("Names") for name in re.findall(r"`(agentscope(?:_tuner)?\.[\w.]+)`", row[column])]


def exists(name: str) -> bool:
    """Whether a dotted name leads somewhere: modules first, then attributes."""
    parts = name.split(".")
    for at in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:at]))
        except ImportError:
            continue
        for part in parts[at:]:
            if not hasattr(found, part):
                return False
            found = getattr(found, part)
        return True
    return False


def difference(begins: str, column: int) -> str:
    """What the table of silent differences says of one thing, for a test to quote."""
    (found,) = [row[column] for row in rows("Silent differences") if row[0].startswith(begins)]
    return found


def busy() -> Callable[[Body, int], Canned]:
    """An endpoint that is always overloaded, and asks for the next try at once."""
    return in_turn(Say(how=Canned(status=503, headers={"retry-after-ms": "1"})))
