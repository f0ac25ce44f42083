"""What the values of somebody's rows tell of their columns, where no name does: for `astuner init --from`."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from agentscope_tuner.errors import JudgeError
from agentscope_tuner.task_judge.contract.columns import IDS, agree, at_path, leaves
from agentscope_tuner.verify.find import stated_elsewhere
from agentscope_tuner.verify.math.verdict import check_reference

Row = Mapping[str, Any]
#: Of the rows looked at, those that must be of a kind.
SHARE = 0.8
_WHOLE_CHARS = 60
# One row in so many must agree
_SELDOM = 5
_FEW_WORDS = 2
# A single letter is a variable
_FORMULA = re.compile(r"[\d\\+*^=<>π∞%$]|(?<!\w)-\w|\b\w/\w\b|^\s*\w\s*$")


def whole_row(rows: Sequence[Row]) -> dict[str, Any]:
    """A row that has every column of the others: cells of the first row may be missing."""
    whole: dict[str, Any] = {}
    for row in rows:
        for name in row:
            value, held = at_path(row, name), whole.get(name)
            if isinstance(value, Mapping) and isinstance(held, Mapping):
                whole[name] = whole_row([held, value])
            elif held is None:
                whole[name] = value
    return whole


def is_reference(value: Any) -> bool:
    """Whether the math judge reads a value as an answer. A sentence is read too, but seldom is one."""
    if not isinstance(value, str | int | float) or isinstance(value, bool):
        return False
    text = str(value)
    try:
        check_reference(text)
    except JudgeError:
        return False
    return len(text) <= _WHOLE_CHARS or "####" in text or "\\boxed" in text


def is_formula(value: Any) -> bool:
    """Whether a value is a reference with a digit, a sign or a backslash in it; the math judge reads words, too."""
    return is_reference(value) and bool(_FORMULA.search(str(value)))


def answers_by_value(
    taken: Collection[str], rows: Sequence[Row], whole: Row, texts: Sequence[str]
) -> tuple[list[str], list[str]]:
    """The columns whose values could be answers, where no name speaks of one: in most rows a number or a formula, and
    not always the same; and those of them that some response states, too.
    """
    likely, stated = [], []
    for name in leaves(whole):
        if name in IDS or name in taken:
            continue
        cells = [at_path(row, name) for row in rows]
        bare = [cell for cell in cells if is_formula(cell) and stated_elsewhere(str(cell), []) is None]
        if len(bare) < SHARE * len(rows) or len(set(map(str, bare))) * 2 <= len(rows):
            continue
        likely.append(name)
        said = [{"response": text} for text in texts] if len(texts) == len(rows) else [{} for _ in rows]
        agreeing = sum(
            any(agree({"": cell, **row, **held}, ["", other]) for other in _signed({**row, **held}))
            for row, held, cell in zip(rows, said, cells, strict=True)
        )
        if agreeing * _SELDOM >= len(rows):
            stated.append(name)
    return likely, stated


def _signed(row: Row) -> list[str]:
    """The columns whose texts state an answer by a sign."""
    held = ((name, at_path(row, name)) for name in leaves(row))
    return [name for name, text in held if isinstance(text, str) and stated_elsewhere(text, [])]


def states_its_own(rows: Sequence[Row], answer: str, taken: Collection[str]) -> str | None:
    """The column whose texts state an answer by a sign, and in some row another one than the reference: what a policy
    wrote. A second reference would always agree.

    Args:
        answer: the column of the reference.
        taken: the columns that are known already.
    """
    for name in leaves(whole_row(rows)):
        cells = {place: text for place, row in enumerate(rows) if isinstance(text := at_path(row, name), str)}
        signed = [place for place, text in cells.items() if stated_elsewhere(text, [])]
        often = name not in taken and len(signed) * 2 > len(rows)
        if often and not all(agree(rows[place], [answer, name]) for place in signed):
            return name
    return None


def only_sentences(rows: Sequence[Row], taken: Collection[str]) -> str | None:
    """The only column beside `taken` whose texts have several words and are mostly different; None where there are
    more.
    """
    found = []
    for name in leaves(whole_row(rows)):
        texts = [text for row in rows if isinstance(text := at_path(row, name), str)]
        worded = sum(len(text.split()) > _FEW_WORDS for text in texts) * 2 > len(rows)
        if name not in taken and worded and len(set(texts)) * 2 > len(rows):
            found.append(name)
    return found[0] if len(found) == 1 else None
