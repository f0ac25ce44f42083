r"""References that are sentences: `The smallest integer \( k \) is 2022.` states 2022.

References are trusted: of a sentence the one value counts that it ends with, or the only formula in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_MATH = re.compile(r"\$\$(.+?)\$\$|(?<!\\)\$((?:[^$\\]|\\.)+)(?<!\\)\$|\\\((.+?)\\\)|\\\[(.+?)\\\]", re.DOTALL)
_VERB = re.compile(
    r"\b(?:is|are|equals?|be|was|were|takes?|costs?|has|have|gives?|get|answer:)\b(?!.*\b(?:is|are|equals?)\b)",
    re.IGNORECASE | re.DOTALL,
)
_COMMAND = re.compile(r"\\[a-zA-Z]+\s*(?:\{[^{}]*\})?|\{[^{}]*\}")
_WORD = re.compile(r"(?<![\\a-zA-Z])[a-zA-Z]{2,}")
_NUMBER = re.compile(r"(?<![\w.])-?\\?\$?\d[\d,]*(?:\.\d+)?")
_FEWEST_WORDS = 2


def is_sentence(text: str) -> bool:
    """Whether words stand in the text itself, not in a `\\text{}`, and it begins with one."""
    plain = _COMMAND.sub(" ", _MATH.sub(" ", text))
    return text[:1].isalpha() and len(_WORD.findall(plain)) >= _FEWEST_WORDS - bool(_MATH.search(text))


def candidates(text: str) -> Iterator[str]:
    """What the sentence may state, the surest first."""
    text = text.strip().rstrip(".")
    formulas = [next(g for g in m.groups() if g is not None) for m in _MATH.finditer(text)]
    verb = _VERB.search(text)
    if verb is not None:
        rest = text[verb.end() :].strip()
        inside = _MATH.fullmatch(rest)
        yield next(g for g in inside.groups() if g is not None) if inside else rest
    if len(set(formulas)) == 1:
        yield formulas[0]
    elif formulas and verb is not None and _MATH.search(text, verb.end()):
        yield formulas[-1]
    numbers = list(_NUMBER.finditer(text))
    if not formulas and len(numbers) == 1:
        yield text[numbers[0].start() :]
        yield numbers[0].group()
