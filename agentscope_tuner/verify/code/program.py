"""Finds the program in a policy's output."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from agentscope_tuner.verify.code.formats import CallTest, CodeTest, TestSet, parsed
from agentscope_tuner.verify.find import after_thinking

ProgramPlace = Literal["fence", "tag", "whole"]
# A part that matched is never tried shorter: a long line that ends in a backtick would take quadratic time
_FENCE = re.compile(
    r"^([ \t]*+(?:>[ \t>]*+)?(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]++)*+)(`{3,}+|~{3,}+)[ \t]*+([^\s`{]*+)[^\n`]*+$",
    re.MULTILINE,
)
# What a block in a quotation has before each of its lines
_QUOTE = re.compile(r"^[ \t]*+>[ ]?", re.MULTILINE)
# Behind the language may stand its version, the name of a file and options
_LANGUAGE = re.compile(r"([a-z+_]++)-?[0-9]*+(?:\.[0-9]+)*+(?:[:;,=(].*)?", re.DOTALL)
# A fence that is indented by more than this beyond its opening fence is part of the block, as in a docstring
_MOST_DEEPER = 3
_TAG = re.compile(r"<(/?)answer\b[^<>]{0,100}>", re.IGNORECASE)
#: The languages that programs are judged in, and their names without a version.
LANGUAGES = {
    "python": {"python", "py", "pypy", "cpython"},
    "cpp": {"cpp", "c++", "cc", "cxx", "cplusplus", "gnu++", "g++"},
    "javascript": {"javascript", "js", "node", "nodejs"},
    "bash": {"bash", "sh", "shell"},
}
# The languages that other judges look for by the same rules: every dialect of SQL counts
_OTHERS = {
    "sql": {
        *("sql", "sqlite", "postgresql", "postgres", "psql", "pgsql", "plpgsql", "mysql", "mariadb", "tsql", "mssql"),
        *("plsql", "bigquery", "duckdb"),
    }
}
# Further names that a fence may have, but not a row: C is compiled as C++
_BESIDE = {"cpp": {"c"}}
_MOST_CHARS = 1_000_000


class FoundProgram(NamedTuple):
    """The program in a policy's output, or the reason why there is none.

    Attributes:
        source: the program; None if there is none.
        why: the reason, such as `no fenced block with a program in python`. Empty if there is a program, and for a text
            without any block that may itself be the program.
    """

    source: str | None
    why: str = ""


def language_of(named: str) -> str | None:
    """The language that a fence or a row names: `python` for `python3.11` and `python:solution.py`, `cpp` for `c++20`.
    None if it is not known here.
    """
    found = _LANGUAGE.fullmatch(named.lower())
    return next((own for own, names in (LANGUAGES | _OTHERS).items() if found and found[1] in names), None)


def _names(fence: str, language: str) -> bool:
    """Whether the word after the opening fence of a block, such as `c++20`, means `language`. `c` means `cpp` as well,
    since C is compiled as C++.
    """
    found = _LANGUAGE.fullmatch(fence.lower())
    return language_of(fence) == language or bool(found and found[1] in _BESIDE.get(language, ()))


def find_program(output: str, place: ProgramPlace, language: str, tests: TestSet | None = None) -> FoundProgram:
    """The program that a policy's output contains, or the reason why there is none.

    Fenced blocks in `language` and those without a language count. If there are several, those outside quotations are
    preferred; then those that define the most of the names that the tests use; then those that name the language; then
    the last one. A last block that is never closed was cut off, so there is no program.

    Args:
        output: the policy's output.
        place: where the program must be. `fence`: in a block; `tag`: within the last `<answer>`, in a block or alone;
            `whole`: without a block, all of the output is the program.
        language: of the program, such as `python`.
        tests: by their names, the block with the program is distinguished from one that only uses it, such as an
            example.
    """
    said = _without_reasoning(output)
    if len(said) > _MOST_CHARS:
        return FoundProgram(None, f"over the bounds: {len(said):,} characters")
    if place == "tag":
        tags = list(_TAG.finditer(said))
        opened = next((tag for tag in reversed(tags) if not tag[1]), None)
        closed = next((tag for tag in tags if tag[1] and opened is not None and tag.start() >= opened.end()), None)
        if opened is None or closed is None:
            return FoundProgram(None, "no <answer> with a program")
        said = said[opened.end() : closed.start()]
    found = _last_block(said, language, tests)
    if found.source is not None or found.why:
        return found
    if place == "fence":
        return FoundProgram(None, f"no fenced block with a program in {language}")
    return FoundProgram(said) if said.strip() else FoundProgram(None, "the output is empty")


# A string literal on one line; and the character that replaces `<` in it for a while
_TEXT = re.compile(r"'[^'\n]{0,300}'|\"[^\"\n]{0,300}\"")
_LESS = "\ue01f"


def _without_reasoning(output: str) -> str:
    """The output without its reasoning, such as `<think>…</think>`. A tag in a string literal of a fenced block, as in
    `print("<think>")`, belongs to the program and is kept.
    """
    if "<" not in output or _LESS in output:
        return after_thinking(output)
    parts, end = [], 0
    for opened, closed in _blocks(output):
        if closed is not None:
            block = output[opened.end() : closed.start()]
            parts += [output[end : opened.end()], _TEXT.sub(lambda text: text[0].replace("<", _LESS), block)]
            end = closed.start()
    return after_thinking("".join([*parts, output[end:]])).replace(_LESS, "<")


def _blocks(text: str) -> Iterator[tuple[re.Match[str], re.Match[str] | None]]:
    """The opening and the closing fence of each block in a text. The closing fence is None if the last block is never
    closed.

    A block in a quotation that ends before its closing fence is left out.
    """
    opened: re.Match[str] | None = None
    for fence in _FENCE.finditer(text):
        depth = fence[1].count(">")
        if opened is not None and opened[1].count(">") > depth:
            opened = None
        if opened is None:
            opened = fence
        elif (
            fence[2].startswith(opened[2])
            and not fence[3]
            and opened[1].count(">") == depth
            and not fence[1].strip(" \t>")
            and len(fence[1]) <= len(opened[1]) + _MOST_DEEPER
        ):
            yield opened, fence
            opened = None
    if opened is not None:
        yield opened, None


def _last_block(text: str, language: str, tests: TestSet | None) -> FoundProgram:
    """The program among the fenced blocks of a text, as `find_program` chooses it. If there is no block, both the
    program and the reason are empty.
    """
    # a program is often followed by examples of what it prints, in blocks that name no language
    blocks: list[tuple[bool, bool, str]] = []
    for opened, closed in _blocks(text):
        is_outside = ">" not in opened[1]
        if opened[3] and not _names(opened[3], language):
            continue
        if closed is not None:
            # the output may have Windows' ends of lines
            block = text[opened.end() + 1 : closed.start()].replace("\r\n", "\n")
            blocks.append((is_outside, bool(opened[3]), _unindented(block, opened[1])))
        elif is_outside:
            return FoundProgram(None, "the last block of code is never closed")
    named = _named_by(tests) if tests is not None and len(blocks) > 1 else set()

    def rank(block: tuple[bool, bool, str]) -> tuple[bool, int, bool]:
        is_outside, names_language, source = block
        defined = {name for found in _DEFINED.findall(source) for name in found}
        return is_outside, len(named & defined), names_language

    found = max(reversed(blocks), key=rank)[2] if blocks else None
    if found is not None and not found.strip():
        return FoundProgram(None, "the last block of code is empty")
    return FoundProgram(found)


_DEFINED = re.compile(
    r"^(?:[ \t]*+(?:async[ \t]++)?(?:def|class)[ \t]++(\w++)|(\w++)[ \t]*+(?::[^=\n]*+)?=(?!=))", re.MULTILINE
)


def _named_by(tests: TestSet) -> set[str]:
    """The names that a program must define for these tests: `{"f"}` for the test `assert f(1) == 2`."""
    named = {test.name for test in tests.tests if isinstance(test, CallTest)} | ({tests.entry} - {""})
    for test in tests.tests:
        if isinstance(test, CodeTest) and not test.entry:
            named |= _named_in(test)
    return named


def _named_in(test: CodeTest) -> set[str]:
    """The names that tests import from the program: `{"f"}` for `from solution import f`. If they import none, the
    names that they call and do not define.
    """
    tree = parsed(f"{test.setup}\n{test.source}")
    nodes = [*ast.walk(tree)] if tree is not None else []
    imports = [node for node in nodes if isinstance(node, ast.ImportFrom) and node.module in test.modules]
    imported = {alias.name for node in imports for alias in node.names} - {"*"}
    called = {node.func.id for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    own = {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    return imported or called - own - vars(builtins).keys()


def _unindented(block: str, before: str) -> str:
    """The text of a block without what is before each line of it: the indentation of its fence, and the marks of a
    quotation, such as `> `.

    Args:
        block: the text.
        before: the text before the fence in its line.
    """
    for _ in range(before.count(">")):
        block = _QUOTE.sub("", block)
        before = before.partition(">")[2].removeprefix(" ")
    if not (indent := len(before)):
        return block
    return "".join(line[:indent].lstrip(" \t") + line[indent:] for line in block.splitlines(keepends=True))


_FUTURE = re.compile(r"^from[ \t]++__future__[ \t]++import[ \t]++(?:\([^()]*+\)|[^\n;#()]*+)", re.MULTILINE)


def completed(source: str, tests: TestSet) -> str:
    """The program with the code that its task puts above it. That is HumanEval's whole prompt if the program only
    continues the prompt, and otherwise the prompt's imports and helpers.
    """
    if not tests.entry:
        return source
    defined = rf"^[ \t]*(?:(?:async[ \t]+)?def|class)[ \t]+{tests.entry}\b|^{tests.entry}[ \t]*(?::[^=\n]*)?=(?!=)"
    above = tests.preamble
    if tests.prompt and not re.search(defined, source, re.MULTILINE):
        above = tests.prompt.rstrip()
    if not above:
        return source
    # Python allows these only at the beginning
    futures = _FUTURE.findall(source)
    below = _FUTURE.sub(lambda found: "pass" + "\n" * found[0].count("\n"), source) if futures else source
    return "\n".join([*futures, above, below])
