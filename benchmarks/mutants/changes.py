"""The changes that mutmut makes: how many there are in each module of the package, and what one of them is."""

from __future__ import annotations

import difflib
import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from mutmut.mutation.file_mutation import ChildReplacementTransformer, create_mutations

PACKAGE = Path("agentscope_tuner")
# Not drawn, because no test that runs here could notice: copies that `astuner init` writes into a user's folder, and
# code that runs inside Ray's own processes, which `make test-ray` tests
LEFT_OUT = ("agentscope_tuner/cli/starters/", "agentscope_tuner/engines/ray/", "agentscope_tuner/service/on_ray.py")


@dataclass(frozen=True)
class Mutant:
    """One change: the `index`th that mutmut makes in a file's functions and classes."""

    path: str
    index: int


@dataclass(frozen=True)
class Change:
    """What a mutant does to its file: the whole text after it, the lines that it touches (from 1), the difference."""

    source: str
    lines: range
    difference: str


def population(kept: Path, within: Sequence[str] = ()) -> list[Mutant]:
    """Every mutant of the package.

    Args:
        kept: a file of counts: to count anew takes minutes.
        within: modules and folders to draw from; empty for the whole package.
    """
    counts: dict[str, int] = json.loads(kept.read_text()) if kept.exists() else {}
    found: list[Mutant] = []
    for path in sorted(PACKAGE.rglob("*.py")):
        if str(path).startswith(LEFT_OUT) or (within and not str(path).startswith(tuple(within))):
            continue
        source = path.read_text(encoding="utf-8")
        key = f"{path} {hashlib.sha256(source.encode()).hexdigest()}"
        if key not in counts:
            counts[key] = len(_changes(str(path), source))
        found += [Mutant(str(path), index) for index in range(counts[key])]
    if not found:
        raise SystemExit(f"no module to change within {', '.join(within)}")
    kept.write_text(json.dumps(counts, indent=0))
    return found


def change(mutant: Mutant) -> Change:
    """What a mutant does to its file."""
    before = Path(mutant.path).read_text(encoding="utf-8")
    after = _changes(mutant.path, before)[mutant.index]()
    old, new = before.splitlines(), after.splitlines()
    touched = [code[1:3] for code in difflib.SequenceMatcher(None, old, new, False).get_opcodes() if code[0] != "equal"]
    lines = range(touched[0][0] + 1, max(touched[-1][1], touched[0][0] + 1) + 1)
    difference = "\n".join(list(difflib.unified_diff(old, new, mutant.path, mutant.path, n=2, lineterm=""))[2:])
    return Change(after, lines, difference)


def _changes(path: str, source: str) -> list[Callable[[], str]]:
    """For each change, what makes the file's text after it."""
    module, mutations, _, _ = create_mutations(path, source)

    def after(old: object, new: object) -> str:
        return str(module.visit(ChildReplacementTransformer(old, new)).code)

    return [
        lambda mutation=mutation: after(mutation.original_node, mutation.mutated_node)  # type: ignore[misc]
        for mutation in mutations
        if mutation.contained_by_top_level_function
    ]
