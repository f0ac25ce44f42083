"""`--map column=path`: puts columns of a row into their places in a rollout."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agentscope_tuner.errors import Cause, ConfigError, JudgeError
from agentscope_tuner.records.formats.sample import as_rollout, final_text, is_chat

_QUERY, _ANSWER = "task.main_query", "output.metadata.final_answer"
_TEXTS = ("id", "task.task_id", _QUERY)
_PLACES = (*_TEXTS, "task.init_messages", "task.env_type", "judgement.reward")
_METADATA = ("task.metadata.", "output.metadata.")


class ColumnMap:
    """The columns that `--map` names, and their places.

    Args:
        pairs: pairs `column=path`. A column may name a nested field, `reward_model.ground_truth`; a path is one of
            `id`, `task.main_query`, `task.task_id`, `task.init_messages`, `task.env_type`, `task.metadata.<key>`,
            `output.metadata.<key>`, of which `output.metadata.final_answer` is the answer, and `judgement.reward`, the
            reward that a trainer has dumped. Chat messages may stand for the query and for the answer.

    Raises:
        ConfigError: a pair that is not `column=path`, or a path that a rollout does not have.
    """

    def __init__(self, pairs: Sequence[str]) -> None:
        self._pairs: list[tuple[str, str]] = []
        for pair in pairs:
            column, equals, path = pair.partition("=")
            if not (column and equals and path):
                raise ConfigError(f"--map must read column=path, such as prompt=task.main_query, got {pair!r}")
            if path not in _PLACES and not any(path.startswith(place) and path != place for place in _METADATA):
                places = ", ".join([*_PLACES, *(place + "<key>" for place in _METADATA)])
                raise ConfigError(f"--map {pair!r}: a rollout has no {path!r}; its places are {places}")
            self._pairs.append((column, path))

    def apply(self, row: Mapping[str, Any], rollout: dict[str, Any]) -> None:
        """Put the row's columns into `rollout`.

        Raises:
            JudgeError: the row does not have a column.
        """
        for column, path in self._pairs:
            for place, value in _placed(path, _found(row, column)):
                *parents, last = place.split(".", 2) if ".metadata." in place else place.split(".")
                inner = rollout
                for parent in parents:
                    inner = inner.setdefault(parent, {})
                inner[last] = value


def _placed(path: str, value: Any) -> list[tuple[str, Any]]:
    """The value for its place: a number becomes text where a text belongs; chat messages are kept, with their text."""
    if path in _TEXTS and isinstance(value, int | float) and not isinstance(value, bool):
        return [(path, str(value))]
    if path == _QUERY and is_chat(value):
        return [(path, as_rollout(value, "", {})[0].task.main_query), ("task.init_messages", value)]
    if path == _ANSWER and is_chat(value):
        return [(path, final_text(value)), ("output.metadata.messages", value)]
    return [(path, value)]


def _found(row: Mapping[str, Any], column: str) -> Any:
    if row.get(column) is not None:
        return row[column]
    value: Any = row
    for part in column.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    if value is None and column in row:
        raise JudgeError(f"the row's {column!r} is null", cause=Cause.INPUT)
    if value is None:
        raise JudgeError(f"the row has no {column!r}, only {sorted(row)!r}", cause=Cause.INPUT)
    return value
