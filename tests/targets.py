"""The names that `make` takes: what the Makefile spells out, and the sessions of noxfile.py."""

from __future__ import annotations

import re
from pathlib import Path

from noxfile import TASKS

_MAKEFILE = Path(__file__).parents[1] / "Makefile"
TARGETS = {
    *re.findall(r"^([\w-]+):", _MAKEFILE.read_text(encoding="utf-8"), re.MULTILINE),
    *(task.name for tasks in TASKS.values() for task in tasks),
}
