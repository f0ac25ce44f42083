"""Reads from one line of a scored file the fields that the page filters and sums by."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import pydantic_core

from agentscope_tuner.records.reader import is_deeper
from agentscope_tuner.records.scored_rows import step_of

_STATUSES = frozenset(("judged", "filtered", "failed"))
_REFERENCE_KEYS = ("answer", "ground_truth", "reference", "target")
_PREVIEW = 200
# An answer states its result at its end
_ENDING = 90
_REASON = 400
_MOST_NAMES = 64
# A reason such as `exact: 25 = 25` starts with the name of the stage that decided
_STAGE = re.compile(r"[^\d:]{1,40}")
_PART = "part/"
_KNOWN_KEYS = frozenset(("id", "task", "output", "judgement"))
_NOTHING: Mapping[str, Any] = MappingProxyType({})
# A recursive function takes two frames for each level of a row, and Python allows a thousand
_MOST_LEVELS = 400
_TOO_DEEP = f"it is nested deeper than {_MOST_LEVELS} levels"


class RowFields(NamedTuple):
    """The fields of one row that the index keeps.

    Attributes:
        id: the row's own id, as text; empty if it has none.
        task: the task's id. Rows of one task and step are one group.
        step: the training step; None if the row names none.
        status: `judged`, `filtered` or `failed`; `unreadable` if the line holds no verdict.
        reward: a finite number, or None.
        stage: the stage that decided: the first words of the reason, up to its colon.
        cost: the cost of judging, in the currency of the configured prices.
        chars: the number of characters of the answer.
        problem: why the line holds no verdict, in words.
        text: all of the row's texts, for searching.
    """

    id: str = ""
    task: str = ""
    step: float | None = None
    status: str = "unreadable"
    reward: float | None = None
    success: bool | None = None
    stage: str = ""
    cause: str | None = None
    reason: str = ""
    seconds: float | None = None
    cost: float | None = None
    chars: int = 0
    prompt: str = ""
    answer: str = ""
    reference: str = ""
    problem: str | None = None
    violations: tuple[str, ...] = ()
    parts: Mapping[str, float] = _NOTHING
    text: str = ""


def parsed(raw: bytes) -> dict[str, Any]:
    """The object that a line holds.

    Raises:
        ValueError: the line holds no object; the message says why.
    """
    try:
        value = pydantic_core.from_json(raw)
    except ValueError:
        # The fast parser refuses half a surrogate pair, which the standard parser reads
        try:
            value = json.loads(raw)
        except RecursionError as exc:
            raise ValueError(_TOO_DEEP) from exc
        if is_deeper(value, _MOST_LEVELS):
            raise ValueError(_TOO_DEEP) from None
    if not isinstance(value, dict):
        raise ValueError(f"a row must be an object, got {type(value).__name__}")
    return value


def fields_of(raw: bytes) -> RowFields:
    """The fields of a line, as text that UTF-8 can hold. The fields of an unreadable line are its `problem` alone."""
    try:
        row = pydantic_core.from_json(raw, cache_strings="keys")
        if type(row) is not dict:
            row = parsed(raw)
    except ValueError:
        try:
            row = _encodable(parsed(raw))
        except ValueError as exc:
            told = f"not a row: {_encodable(str(exc))}"[:_REASON]
            return RowFields(problem=told, text=raw[:_PREVIEW].decode("utf-8", "replace"))
    task, output, verdict = _mapping(row, "task"), _mapping(row, "output"), _mapping(row, "judgement")
    metadata, given = _mapping(output, "metadata"), _mapping(task, "metadata")
    metrics = _mapping(verdict, "metrics")
    answer, id_, task_id = as_text(metadata.get("final_answer")), as_text(row.get("id")), as_text(task.get("task_id"))
    question, reference = _question(task), _reference(given, metadata)
    reason, success, reward = as_text(verdict.get("reason")), verdict.get("is_success"), _number(verdict.get("reward"))
    status, problem = _status(verdict, reward)
    texts = [id_, task_id, question, answer, reference, reason, *_further_texts(row, task, metadata, verdict)]
    return RowFields(
        id_,
        task_id,
        step_of(row, metadata, given),
        status,
        reward,
        success if isinstance(success, bool) else None,
        _stage(status, reason),
        (as_text(verdict.get("cause")) or "unknown") if status == "failed" else None,
        reason[:_REASON],
        _number(verdict.get("seconds")),
        _number(metrics.get("judge_cost")),
        len(answer),
        question[:_PREVIEW],
        answer if len(answer) <= _ENDING else f"…{answer[-_ENDING:]}",
        reference[:_PREVIEW],
        problem,
        _names(verdict.get("violations")) if verdict.get("violations") else (),
        dict(_parts(metrics)) if metrics else _NOTHING,
        "\n".join(texts),
    )


def _status(verdict: Mapping[str, Any], reward: float | None) -> tuple[str, str | None]:
    """The verdict's status and None, or `unreadable` and the reason."""
    status = verdict.get("status")
    if not isinstance(status, str) or status not in _STATUSES:
        return "unreadable", "the row has no judgement: judge the file first"
    if reward is None and status != "failed":
        return "unreadable", f"the reward is {verdict.get('reward')!r:.60}, which is no finite number"
    return status, None


def _further_texts(
    row: Mapping[str, Any], task: Mapping[str, Any], metadata: Mapping[str, Any], verdict: Mapping[str, Any]
) -> list[str]:
    """The texts that only some rows have: opening messages, further metadata and further keys."""
    found: list[str] = []
    if messages := task.get("init_messages"):
        _add_texts(found, messages)
    for key, value in metadata.items():
        if key != "final_answer":
            _add_texts(found, value)
    for key, value in row.items():
        if key not in _KNOWN_KEYS:
            _add_texts(found, value)
    if calls := verdict.get("calls"):
        _add_texts(found, calls)
    if error := verdict.get("error"):
        found.append(as_text(error))
    return found


def _encodable(value: Any) -> Any:
    """`value` with half surrogate pairs escaped, because neither SQLite nor a file can hold them."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {_encodable(key): _encodable(item) for key, item in value.items()}
    return [_encodable(item) for item in value] if isinstance(value, list) else value


def as_text(value: object) -> str:
    """`value` as the page shows it: a text as it is, None as an empty text, anything else as JSON."""
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False, default=str)


def _mapping(row: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = row.get(key)
    return value if type(value) is dict else _NOTHING


def _number(value: object) -> float | None:
    if type(value) is float:
        return value if math.isfinite(value) else None
    if type(value) is not int:
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _stage(status: str, reason: str) -> str:
    if status == "filtered":
        return "rules"
    head = reason.partition(":")[0].strip()
    return head if status == "judged" and _STAGE.fullmatch(head) else ("other" if status == "judged" else "")


def _question(task: Mapping[str, Any]) -> str:
    question = as_text(task.get("main_query"))
    if question:
        return question
    messages = task.get("init_messages")
    for message in reversed(messages if isinstance(messages, list) else []):
        if isinstance(message, dict) and message.get("role") == "user":
            return as_text(message.get("content"))
    return ""


def _reference(given: Mapping[str, Any], metadata: Mapping[str, Any]) -> str:
    for place in (given, metadata):
        for key in _REFERENCE_KEYS:
            if place.get(key) is not None:
                return as_text(place[key])
    return ""


def _names(value: object) -> tuple[str, ...]:
    named = value if isinstance(value, list) else []
    return tuple(dict.fromkeys(as_text(name)[:_PREVIEW] for name in named[:_MOST_NAMES]))


def _parts(metrics: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    for name, value in metrics.items():
        part = name.removeprefix(_PART)
        # `part/length` is a part's reward, and `part/length/chars` a metric of the part
        if part != name and "/" not in part and (number := _number(value)) is not None:
            yield part[:_PREVIEW], number


def _add_texts(found: list[str], value: Any) -> None:
    """Add every text in `value`, at any depth; the keys of mappings are not added."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        kind = type(item)
        if kind is str:
            found.append(item)
        elif kind is dict:
            waiting.extend(reversed(item.values()))
        elif kind is list:
            waiting.extend(reversed(item))
        elif kind is int or kind is float:
            found.append(str(item))
