"""The README's blocks and commands, in its order, for the tests that run them."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
#: The language and the text of each block.
BLOCKS = [(found[1], found[2]) for found in BLOCK.finditer(README)]
#: What follows `$ ` in console blocks.
COMMANDS = [
    line.removeprefix("$ ")
    for language, body in BLOCKS
    for line in body.splitlines()
    if language == "console" and line.startswith("$ ")
]
#: What is typed into a Python prompt: one session over all blocks.
SESSION = "".join(body for language, body in BLOCKS if language == "pycon")
#: Commands within sentences, such as `make train`.
INLINE = re.findall(r"`((?:make|pip|astuner) [^`]+)`", re.sub(r"(?ms)^```.*?^```$", "", README))


def written_files() -> dict[str, str]:
    """The files that the README has its reader write: Python by the name in its first line, each YAML block."""
    found = {
        body.splitlines()[0].removeprefix("# "): body
        for language, body in BLOCKS
        if language == "python" and body.startswith("# ")
    }
    yaml = [body for language, body in BLOCKS if language == "yaml"]
    return found | {f"readme-{number}.yaml": body for number, body in enumerate(yaml)}
