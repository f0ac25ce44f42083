"""What `astuner migrate` makes of AgentJet's own YAMLs: `python -m benchmarks.agentjet CHECKOUT`.

Of each YAML in the folder that configures AgentJet a line says which judge it names and which of ours that becomes, and
whether astuner loads the result; or why it is refused. A judge of AgentJet's users is imported from the working
directory: those under `tutorial` load in a checkout of AgentJet, and not here. The last line counts.
"""

from __future__ import annotations

import argparse
import contextlib
import logging
import re
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from agentscope_tuner import AstunerError, load_judge
from agentscope_tuner.cli.migrate import migrated
from agentscope_tuner.config.yaml_files import yaml_hint

_OURS = re.compile(r"^(?:ajet|astuner?):", re.MULTILINE)


def outcome(path: Path) -> str:
    """A word for what becomes of the file, and the judge, or the reason."""
    text = path.read_text(encoding="utf-8")
    try:
        made, _ = migrated(text)
        section: dict[str, Any] = yaml.safe_load(made)["astuner"]["task_judge"]
        # from a file, as a run has it: duplicate keys are seen only there
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / path.name).write_text(made, encoding="utf-8")
            load_judge(Path(folder) / path.name)
    except yaml.YAMLError as exc:
        return f"refused: {yaml_hint(exc, path) or exc}"
    except ValueError as exc:
        return f"refused: {exc}"
    except AstunerError as exc:
        return f"migrated, and does not load here: {exc}"
    protocol = section.get("judge_protocol", section.get("judge_type", "")).rpartition("->")[2]
    return f"loads: {protocol}"


def files(folder: Path) -> Iterator[Path]:
    """Each YAML with a section of AgentJet's."""
    for path in sorted(folder.rglob("*.y*ml")):
        with contextlib.suppress(UnicodeDecodeError):
            if path.is_file() and _OURS.search(path.read_text(encoding="utf-8")):
                yield path


def main() -> None:
    """Print a line for each file."""
    logging.disable(logging.WARNING)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    counted: Counter[str] = Counter()
    for path in files(folder):
        told = " ".join(outcome(path).split())
        counted[told.partition(":")[0]] += 1
        print(f"{path.relative_to(folder)}\t{told}")
    print(", ".join(f"{count} {word}" for word, count in counted.most_common()) or "no YAML of AgentJet's")


if __name__ == "__main__":
    main()
