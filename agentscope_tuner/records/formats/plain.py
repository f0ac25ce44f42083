"""Reads rows of no trainer's form: a question, a reference answer and a response in columns of any names.

`astuner.task_judge.reads` names the columns; else the names that data sets commonly use are looked for. All columns
become the task's metadata, in which the judge finds its reference by the same names.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from agentscope_tuner.errors import JudgeError, input_error
from agentscope_tuner.records.formats.sample import Pair, as_rollout, is_chat, last_turn, message_text, policys_turns
from agentscope_tuner.task_judge.contract.columns import (
    ANSWERS,
    IDS,
    QUESTIONS,
    RESPONSES,
    WHERE,
    Reads,
    at_path,
    cell_at,
    leaves,
    likely_columns,
    packed_rows,
    record_of,
    sole_other,
)

# in a message, in place of the name of a column that cannot be guessed
_COLUMN = "<column>"

_OF_TASKS = frozenset({"main_query", "init_messages", "env_type"})
# a data set may have a column `task` that holds something else
_TASK_KEYS = _OF_TASKS | {"task_id", "metadata"}
# columns of our own rows that do not show, beside a `task_id`, that the row is a task: data sets have them, too
_IN_OWN_ROWS = frozenset({"task_id", "metadata", "id", "output", "label", "step", "judgement"})
# A row's only column of this name is a conversation, whose last turns are the response
CHATS = ("messages", "conversations", "conversation", "chat")
# With one of these a row is a data set's, even if it has a task's id and metadata
_OF_DATA_SETS = {*QUESTIONS, *RESPONSES, *CHATS} - _IN_OWN_ROWS
_ROLES = {
    "human": "user", "user": "user", "system": "system", "gpt": "assistant", "assistant": "assistant",
    "function_call": "assistant", "observation": "tool", "tool": "tool",
}  # fmt: skip


def is_own(row: Mapping[str, Any]) -> bool:
    """Whether a row is a task or a rollout in this package's own form, such as `{"task": {…}, "output": {…}}` or
    `{"main_query": …}`.
    """
    task = row.get("task")
    if isinstance(task, Mapping) and (
        not task or not _TASK_KEYS.isdisjoint(task) or isinstance(row.get("output"), Mapping)
    ):
        return True
    if not _OF_TASKS.isdisjoint(row):
        return True
    if "task_id" not in row or not isinstance(row.get("metadata", {}), Mapping):
        return False
    return row.keys() <= _IN_OWN_ROWS or ("metadata" in row and _OF_DATA_SETS.isdisjoint(row))


def read_plain(row: Mapping[str, Any], reads: Reads, *, given: frozenset[str] = frozenset()) -> Pair:
    """The task and the output that a row of no trainer's form holds; see `PlainRow`.

    Args:
        row: the row.
        reads: the configuration's names of the columns.
        given: the roles that `--map` names: `question` or `response` is then not looked for.

    Raises:
        JudgeError: the row has no response, or two columns that differ could be its question or its response.
    """
    found = PlainRow(row, reads, given)
    response = "" if "response" in given else found.response()
    if response is None:
        if (packed := packed_rows(row)) is not None:
            raise input_error(f"the row is no row: {packed}")
        empty = next((name for name in RESPONSES if name in row), None)
        lacks = f"only {sorted(map(str, row))!r}"
        if empty is not None:
            lacks = f"its {empty!r} is null: fill the cell or drop the row, or, where another column holds the response"
        raise input_error(f"the row has no response, {lacks}: {_way_out(row, found.taken())}")
    return as_rollout(found.question(), response, {key: value for key, value in row.items() if key not in found.used})


def _way_out(row: Mapping[str, Any], taken: Collection[str]) -> str:
    """The end of the message about a row without a response: what the user should write so that it is found.

    Args:
        row: the row.
        taken: its columns that the configuration names as something other than the response.
    """
    left = {name: value for name, value in row.items() if name not in taken}
    if taken and not left.keys() - set(IDS):
        named = " and ".join(map(repr, sorted(taken)))
        return f"it has nothing beside {named}: write what the policy answered into a column `response`"
    way_out, reads_ = _guessed(left)
    asked = next((row[name] for name in QUESTIONS if isinstance(row.get(name), str)), "")
    if asked and isinstance(text := row.get(reads_), str) and text.startswith(asked):
        return f"{reads_!r} begins with the question: write the rest, the policy's part, into a column `response`"
    if any(str(key).isdecimal() for key in row):
        way_out = f"a table's first line holds the names of its columns: is it a row here? Else {way_out}"
    column = reads_.partition(",")[0]
    alone = "; `astuner check` takes rows without responses" if column == _COLUMN else ""
    where = f"under {WHERE.rpartition('.')[0]}, or --map {column}=response"
    return f"{way_out}, `reads: {{response: {reads_}}}` {where}{alone}"


def _guessed(row: Mapping[str, Any]) -> tuple[str, str]:
    """A guess, for a message, at the column that holds the response: in words, and what to write behind `response:`.

    Such as `("is it 'reply'? Then name it", "reply")`.
    """
    other = sole_other(row, QUESTIONS + ANSWERS)
    guess = next(iter(likely_columns(row, "response")), None)
    if guess is None and other in likely_columns(row, "answer"):
        response = next((name for name in ANSWERS if name in row), None)
        if response is not None:
            return f"is {response!r} it, and {other!r} the reference? Then name both", f"{response}, answer: {other}"
        other = None
    several = (name for name, held in row.items() if isinstance(held, list) and held and name.rstrip("s") in RESPONSES)
    if guess is None and (name := next(several, None)) is not None:
        return f"{name!r} holds {len(row[name])} values: write one row for each, or name one", f"{name}.0"
    guess = guess or other
    return (f"is it {guess!r}? Then name it", guess) if guess else ("name its column", _COLUMN)


class PlainRow:
    """Finds the question and the response in a row of no trainer's form.

    They are in the columns that the configuration names (`reads`), else in those with a common name such as `question`.

    Attributes:
        used: the columns that hold the policy's response, once `response` was called: they are no part of the task.
    """

    def __init__(self, row: Mapping[str, Any], reads: Reads, given: frozenset[str] = frozenset()) -> None:
        self._row, self._reads, self._given = row, reads, given
        self.used: set[str] = set()
        self._chat = next((turns for name in CHATS if (turns := chat_of(row.get(name)))), [])

    def question(self) -> str | list[dict[str, Any]]:
        """The question, as a text or as chat messages; empty if the row has none.

        Raises:
            JudgeError: two columns that differ could be it, or the row lacks the column that `reads` names.
        """
        name = None if "question" in self._given else self._column("question", QUESTIONS)
        if name is None:
            return self._chat[: policys_turns(self._chat)]
        value = at_path(self._row, name)
        return chat_of(value) or _text(value)

    def response(self) -> str | list[dict[str, Any]] | None:
        """The response, as a text or as the messages that the policy added; None if the row has none.

        Raises:
            JudgeError: two columns that differ could be it, or the column holds neither a text nor a chat.
        """
        # an empty response counts as a response, which is wrong
        name = self._column("response", RESPONSES) or self._empty_response()
        if name is None:
            self.used |= {name for name in CHATS if name in self._row}
            return self._chat[policys_turns(self._chat) :] or None
        self.used.add(name.partition(".")[0])
        value = cell_at(self._row, name)
        value = value[0] if isinstance(value, list) and len(value) == 1 and not is_chat(value) else value
        turns = chat_of(value)
        if not turns and isinstance(value, Mapping | list) and value != []:
            # as a text it would hold all samples, and also what users and tools said
            held = f"{len(value)} values" if isinstance(value, list) else f"the keys {sorted(map(str, value))!r:.200}"
            longest = max(leaves(value, name), key=lambda at: len(_text(at_path(self._row, at))), default=f"{name}.0")
            if (packed := packed_rows(self._row)) is not None:
                raise input_error(packed)
            named = f"`reads: {{response: {longest}}}` under {WHERE.rpartition('.')[0]}"
            raise input_error(f"{name} holds {held}, and no text or chat: name one, {named}, or write a row for each")
        return turns or ("" if value == [] else last_turn(_text(value)))

    def taken(self) -> set[str]:
        """The row's columns that the configuration names as its question or its answer, and so not as its response."""
        named = (self._reads.column(role) for role in ("question", "answer"))
        paths = (name for column in named if column is not None for name in column.names)
        return {path.partition(".")[0] for path in paths} & self._row.keys()

    def _column(self, role: str, names: tuple[str, ...]) -> str | None:
        if (named := self._reads.column(role)) is not None:
            found = next((name for name in named.names if at_path(self._row, name) is not None), None)
            if found is None and role == "question":
                told = f"only {sorted(map(str, self._row))!r}"
                raise input_error(f"{WHERE}.{role}: the row has no {' or '.join(named.names)}, {told}")
            return found
        present = [name for name in names if at_path(self._row, name) is not None]
        self._refuse_two(role, present)
        return present[0] if present else None

    def _empty_response(self) -> str | None:
        named = self._reads.column("response")
        names = RESPONSES if named is None else named.names
        return next((name for name in names if cell_at(self._row, name) == ""), None)

    def _refuse_two(self, role: str, present: list[str]) -> None:
        """Refuse a row if several columns could be its question or response (`role`), and they differ.

        They do not differ if the longest text contains the others, as a prompt contains the question.

        Raises:
            JudgeError: they differ.
        """
        texts = [plain_text(at_path(self._row, name)) for name in present]
        longest = max(texts, key=len, default="")
        if any(text.strip() not in longest for text in texts):
            named = f"`reads: {{{role}: {present[0]}}}` under {WHERE.rpartition('.')[0]}"
            raise input_error(f"{' and '.join(present)} differ, and each could be the {role}: name one, {named}")


def chat_of(value: Any) -> list[dict[str, Any]]:
    """The chat messages that a cell holds, with `role` and `content`; empty if it holds anything else.

    `[{"from": "human", "value": "Hi"}]` gives `[{"role": "user", "content": "Hi"}]`. A text may hold the messages as
    JSON, as tables do.
    """
    value = record_of(value) if isinstance(value, str) else value
    if is_chat(value):
        return [dict(turn) for turn in value]
    turns = value if isinstance(value, list) else []
    if not turns or not all(isinstance(turn, Mapping) and turn.get("from") in _ROLES for turn in turns):
        return []
    return [{"role": _ROLES[turn["from"]], "content": turn.get("value")} for turn in turns]


def plain_text(value: object) -> str:
    """A cell as text, to show and to compare it: `"5"` for 5, and for chat messages the text of the last message."""
    turns = chat_of(value)
    try:
        return message_text(turns[-1].get("content")) if turns else _text(value)
    except JudgeError:
        return _text(value)


def _text(value: object) -> str:
    return value if isinstance(value, str) else str(value)
