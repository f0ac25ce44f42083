"""Finds the program in an output."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from agentscope_tuner.verify.code.formats import TestSet
from agentscope_tuner.verify.find import after_thinking

ProgramPlace = Literal["fence", "tag", "whole"]
# A part that matched is never tried shorter: a long line that ends in a backtick would take quadratic time
_FENCE = re.compile(r"^([ \t]*+)(`{3,}+|~{3,}+)[ \t]*+([^\s`{]*+)[^\n`]*+$", re.MULTILINE)
# Behind the language may stand its version, the name of a file and options
_LANGUAGE = re.compile(r"([a-z+_]++)-?[0-9]*+(?:\.[0-9]+)*+(?:[:;,=(].*)?", re.DOTALL)
# Deeper than its opening fence by more, a fence is part of the block: of a docstring in it
_MOST_DEEPER = 3
_TAG = re.compile(r"<(/?)answer\b[^<>]{0,100}>", re.IGNORECASE)
#: The languages that programs are judged in, and their names without a version.
LANGUAGES = {
    "python": {"python", "py", "pypy", "cpython"},
    "cpp": {"cpp", "c++", "cc", "cxx", "cplusplus", "gnu++", "g++"},
    "javascript": {"javascript", "js", "node", "nodejs"},
    "bash": {"bash", "sh", "shell"},
}
# What other judges look for by the same rules
_OTHERS = {"sql": {"sql", "sqlite"}}
_MOST_CHARS = 1_000_000


class FoundProgram(NamedTuple):
    """Attributes:
    source: the program; None where there is none.
    why: why there is none.
    start, end: where it stands in the text that was searched.
    """

    source: str | None
    why: str = ""


def language_of(named: str) -> str | None:
    """The language that a fence or a row names, such as `c++20`, `python3.11` or `python:solution.py`."""
    found = _LANGUAGE.fullmatch(named.lower())
    return next((own for own, names in (LANGUAGES | _OTHERS).items() if found and found[1] in names), None)


def find_program(output: str, place: ProgramPlace, language: str) -> FoundProgram:
    """The program that `output` states: its last fenced block in `language`, else its last one without a language.

    A block that is never closed is cut off, and no program.
    """
    said = after_thinking(output)
    if len(said) > _MOST_CHARS:
        return FoundProgram(None, f"over the bounds: {len(said):,} characters")
    if place == "tag":
        tags = list(_TAG.finditer(said))
        opened = next((tag for tag in reversed(tags) if not tag[1]), None)
        closed = next((tag for tag in tags if tag[1] and opened is not None and tag.start() >= opened.end()), None)
        if opened is None or closed is None:
            return FoundProgram(None, "no <answer> with a program")
        said = said[opened.end() : closed.start()]
    found = _last_block(said, language)
    if place != "fence" and found.source is None and not found.why:
        return FoundProgram(said) if said.strip() else FoundProgram(None, "the output is empty")
    return (
        found
        if found.source is not None or found.why
        else FoundProgram(None, f"no fenced block with a program in {language}")
    )


def _last_block(text: str, language: str) -> FoundProgram:
    # examples of what a program prints often stand behind it, in blocks that name no language
    last: dict[bool, str] = {}
    opened: re.Match[str] | None = None
    for fence in _FENCE.finditer(text):
        if opened is None:
            opened = fence
        elif fence[2].startswith(opened[2]) and not fence[3] and len(fence[1]) <= len(opened[1]) + _MOST_DEEPER:
            if not opened[3] or language_of(opened[3]) == language:
                last[bool(opened[3])] = _unindented(text[opened.end() + 1 : fence.start()], len(opened[1]))
            opened = None
    if opened is not None and (not opened[3] or language_of(opened[3]) == language):
        return FoundProgram(None, "the last block of code is never closed")
    if (found := last.get(True, last.get(False))) is not None and not found.strip():
        return FoundProgram(None, "the last block of code is empty")
    return FoundProgram(found)


def _unindented(block: str, indent: int) -> str:
    """The block without the white space that stands before its fence, too."""
    if not indent:
        return block
    return "".join(line[:indent].lstrip(" \t") + line[indent:] for line in block.splitlines(keepends=True))


def completed(source: str, tests: TestSet) -> str:
    """The program with what its task puts above it: HumanEval's prompt, or the imports in it."""
    if not tests.entry:
        return source
    if tests.prompt and not re.search(rf"^[ \t]*(?:async[ \t]+)?def[ \t]+{tests.entry}\b", source, re.MULTILINE):
        return f"{tests.prompt.rstrip()}\n{source}"
    return f"{tests.preamble}\n{source}" if tests.preamble else source
