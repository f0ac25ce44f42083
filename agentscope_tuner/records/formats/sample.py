"""Turns a trainer's sample (texts or chat messages, columns, ground truth) into a task and an output, by `as_rollout`.

Data sets hold a column under one of several names, miss it, or fill it with NaN. `ColumnMap` writes the columns that
`--map` names to their paths in a rollout.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from agentscope_tuner.errors import ConfigError, input_error
from agentscope_tuner.records.reader import object_in
from agentscope_tuner.task_judge.base_judge import without_numpy
from agentscope_tuner.task_judge.contract.columns import at_path, cell_at, sole_answer_column
from agentscope_tuner.workflow import Task, WorkflowOutput, WorkflowTask

_ID_KEYS = ("id", "uid", "request_id", "index", "idx")


def without_nan(value: Any) -> Any:
    """`value` without NaN, a table's empty cells: `{"a": nan, "b": [nan, 1]}` gives `{"b": [None, 1]}`."""
    if isinstance(value, Mapping):
        return {str(key): without_nan(inner) for key, inner in value.items() if not is_nan(inner)}
    if isinstance(value, list):
        return [None if is_nan(inner) else without_nan(inner) for inner in value]
    return value


def is_nan(value: object) -> bool:
    """Whether a cell is NaN, as a data frame fills an empty cell."""
    return isinstance(value, float) and math.isnan(value)


def first(row: Mapping[str, Any], *names: str) -> tuple[str, Any]:
    """The first of `names` that the row has, and its value: of `{"b": 2}` by the names `a` and `b`, `("b", 2)`.

    Raises:
        JudgeError: the row has none of these columns, or they are null.
    """
    found = next((name for name in names if row.get(name) is not None), None)
    if found is None and (null := next((name for name in names if name in row), None)):
        raise input_error(f"the row's {null!r} is null")
    if found is None:
        raise input_error(f"the row has no {' or '.join(names)}, only {sorted(row)!r}")
    return found, row[found]


def required(row: Mapping[str, Any], name: str) -> Any:
    """The value of the row's column `name`.

    Raises:
        JudgeError: the row does not have this column, or it is null.
    """
    return first(row, name)[1]


def text_of(value: object, name: str) -> str:
    """Return `value` if it is a text; `name` is its column, for the message.

    Raises:
        JudgeError: the value is no text.
    """
    if not isinstance(value, str):
        raise input_error(f"{name} must be a text, got {value!r:.100}")
    return value


def truth_of(row: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """The ground truth as a task's metadata, from the first of the columns `names` that the row has: `{"answer": "5"}`.

    Empty if the row has none of them.
    """
    found = next((row[name] for name in names if row.get(name) is not None), None)
    return {} if found is None else ground_truth_metadata(found)


def reference_of(row: Mapping[str, Any]) -> dict[str, Any]:
    """The reference answer in a data set's row, as a task's metadata: `{"answer": "5"}`; empty if there is none.

    It is in the column `answer`, else in the only column that surely holds it; see `Reads`. A worked solution that does
    not mark its answer is none, and neither is one of two columns that differ. An `answer` that is a missing cell stays
    missing.
    """
    if "answer" in row:
        return ground_truth_metadata(row["answer"])
    name = sole_answer_column(row)
    return {} if name is None else ground_truth_metadata(at_path(row, name))


def id_of(row: Mapping[str, Any], otherwise: str) -> str:
    """The row's own id as text, else `otherwise`. `{"index": 7.0}` gives `7`: tables may turn integers into floats.

    The id is the first of the columns `id`, `uid`, `request_id`, `index` and `idx` that holds a text or an integer.
    """
    for name in _ID_KEYS:
        value = row.get(name)
        if isinstance(value, str) and value:
            return value
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
    return otherwise


_QUERY, _ANSWER = "task.main_query", "output.metadata.final_answer"
_TEXTS = ("id", "task.task_id", _QUERY)
_LABEL = "label.score"
_WORDS = {"right": 1.0, "wrong": 0.0, "true": 1.0, "false": 0.0}
_PLACES = (*_TEXTS, "task.init_messages", "task.env_type", "judgement.reward", _LABEL)
_METADATA = ("task.metadata.", "output.metadata.")
#: Short names of the three places that every row has.
ROLES = {"question": _QUERY, "answer": "task.metadata.answer", "response": _ANSWER}


class ColumnMap:
    """Writes the columns that `--map` names to the given paths of a rollout: `problem=question` for the column
    `problem`.

    Args:
        pairs: pairs `column=path`. A column may be a nested field, `reward_model.ground_truth`. A path is `question`,
            `answer` or `response`, which are short for `task.main_query`, `task.metadata.answer` and
            `output.metadata.final_answer`; or it is `id`, `task.task_id`, `task.init_messages`, `task.env_type`,
            `task.metadata.<key>`, `output.metadata.<key>`, `judgement.reward` (the reward that a trainer has dumped) or
            `label.score` (how people rate the response). The question and the response may be chat messages.

    Raises:
        ConfigError: a pair that is not `column=path`, or a path that a rollout does not have.
    """

    def __init__(self, pairs: Sequence[str]) -> None:
        self._pairs: list[tuple[str, str]] = []
        for pair in pairs:
            column, equals, path = pair.partition("=")
            if not (column and equals and path):
                raise ConfigError(f"--map must read column=path, such as problem=question, got {pair!r}")
            path = ROLES.get(path, path)
            if path not in _PLACES and not any(path.startswith(place) and path != place for place in _METADATA):
                places = ", ".join([*ROLES, *_PLACES, *(place + "<key>" for place in _METADATA)])
                is_place = column in (*ROLES, *_PLACES)
                turned = f"if {path!r} is your column, write '{path}={column}'. The" if is_place else "the"
                told = f"stands behind the =, and a rollout has no {path!r}; its places are {places}"
                raise ConfigError(f"--map {pair!r}: {turned} place of your column {column!r} {told}")
            self._pairs.append((column, path))
        #: Which of `ROLES` the pairs name.
        self.roles = frozenset(role for role, place in ROLES.items() if any(path == place for _, path in self._pairs))

    def apply(self, row: Mapping[str, Any], rollout: dict[str, Any]) -> None:
        """Write the row's mapped columns into `rollout`, in place.

        Raises:
            JudgeError: the row lacks one of the columns, or it is null.
        """
        for column, path in self._pairs:
            for place, value in _values_by_path(path, _cell_of(row, column)):
                *parents, last = place.split(".", 2) if ".metadata." in place else place.split(".")
                inner = rollout
                for parent in parents:
                    inner = inner.setdefault(parent, {})
                inner[last] = value


def _values_by_path(path: str, value: Any) -> list[tuple[str, Any]]:
    """The paths in a rollout, with values, to which the value of a column mapped to `path` is written.

    A number becomes text if the path takes a text: 7 for `id` gives `[("id", "7")]`. Chat messages for the question or
    the response give two: their text, and the messages themselves.
    """
    if path in _TEXTS and isinstance(value, int | float) and not isinstance(value, bool):
        return [(path, str(value))]
    if path == _LABEL and isinstance(value, str):
        return [(path, _number(value))]
    if path == _QUERY and is_chat(value):
        return [(path, as_rollout(value, "", {})[0].task.main_query), ("task.init_messages", value)]
    if path == _ANSWER and is_chat(value):
        return [(path, final_text(value)), ("output.metadata.messages", value)]
    return [(path, value)]


def _number(text: str) -> float:
    """The number in a label that a table holds as text: 1.0 for `right`, `true` or `1`.

    Raises:
        JudgeError: the text is neither a number nor one of `_WORDS`.
    """
    try:
        return _WORDS[text.strip().lower()] if text.strip().lower() in _WORDS else float(text)
    except ValueError:
        told = f"label.score takes a number or one of {', '.join(_WORDS)}, got {text!r:.60}"
        raise input_error(told) from None


def _cell_of(row: Mapping[str, Any], column: str) -> Any:
    if (value := cell_at(row, column)) is None:
        null = f"the row's {column!r} is null"
        raise input_error(null if column in row else f"the row has no {column!r}, only {sorted(row)!r}")
    return value


Pair = tuple[WorkflowTask, WorkflowOutput]

# A ground truth is a number, an expression or a small record; a longer text is an answer in words, not parsed as JSON
_JSON_CHARS = 10_000

# The types of text blocks: of chat completions, and two of OpenAI's Responses
_TEXT_BLOCKS = ("text", "output_text", "input_text")

# Some trainers keep special tokens when they decode; these are cut, so that an answer ends the same under every trainer
_END_MARKERS = (
    "<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|end_of_text|>", "<|end|>", "<end_of_turn>",
    "<｜end▁of▁sentence｜>", "<eos>", "<|return|>", "<|eot|>", "<|eom|>", "<|END_RESPONSE|>", "<|END_OF_TURN_TOKEN|>",
    "[e~[", "</s>", "<turn|>", "<seed:eos>", "[|endofturn|]", "<｜hy_place▁holder▁no▁2｜>", "<|assistant_end|>",
    "<|role_end|>", "<|EOT|>", "<|eom_id|>",
)  # fmt: skip

# The marks that chat templates write between turns: <|im_start|>, <start_of_turn>, <｜User｜>, [|tool|], [INST]
_MARK = re.compile(
    r"(?:<[|｜]?|\[\|?)(?P<name>/?[^\W\d_][\w▁:]{0,39})(?:[|｜]?>|\|?\])(?P<behind>[ ]*[\w.-]+)?|\]~b\](?P<minimax>\w+)"
)
_POLICYS_ROLES = frozenset({"assistant", "model", "ai", "chatbot"})
_TOOLS_ROLES = frozenset({"tool", "tools", "ipython", "function", "functions", "observation", "environment"})
_USERS_ROLES = frozenset({"user", "human"})
_OTHERS_ROLES = _TOOLS_ROLES | _USERS_ROLES | {"system", "developer"}
# Words in the names of marks: those that begin a turn, those without a role, and those around a tool's answer
_BEGINS = frozenset({"start", "begin", "bos", "bot", "bom", "turn"})
_PLAIN = _BEGINS | {"im", "of", "role", "header", "id", "token", "message", "seed", "hy"}
_TOOLS = frozenset({"tool", "tools", "function", "functions", "code", "execution"})
_ANSWERS = frozenset(["output", "outputs", "response", "responses", "result", "results", "return", "returns"])
_HEADER_REST = re.compile(
    r"(?:[\w.-]+(?=<\|im_middle))?(?: to=[\w.]+)?(?:<\|channel\|>\w+(?: to=[\w.]+)?(?: ?<\|constrain\|>\w+)?)?"
    r"(?:<\|(?:end_header_id|header_end|im_middle|message|end_of_role|start_response)\|>)?\n*",
    re.IGNORECASE,
)
# The text with which a template may begin the policy's turn
_THINKS = re.compile(r"(?:\s|</?think>)*+")
# Before the mark that names the role
_COHERES_START = "<|START_OF_TURN_TOKEN|>"
_AFTER_THE_PROMPT = _POLICYS_ROLES | {"tool", "tool_response", "function", "observation", "environment"}

Prompt = str | Sequence[Mapping[str, Any]]


def as_rollout(
    prompt: Prompt,
    completion: Prompt,
    metadata: Mapping[str, Any],
    *,
    gym_env: object = None,
    shared: object = None,
) -> tuple[WorkflowTask, WorkflowOutput]:
    """One sample of a trainer's batch as the task and the output that judges take.

    Args:
        prompt: plain text, or chat messages, of which the last user message is the query; see `question_in`.
        completion: plain text, or the chat messages that the policy added; see `final_text`.
        metadata: the data set's columns. The task gets them, and so does the output, because there is no workflow here
            that would pass columns such as `target` to the judge. `task_id` is the task's id; without one it is a
            digest of the prompt and `shared`.
        gym_env: the environment the episode ran in, for judges that ask the environment.
        shared: the data that the completions of one advantage group have in common; by default the metadata.

    Raises:
        JudgeError: the prompt or the completion is neither a text nor chat messages; or as `final_text`.
    """
    for name, value in (("prompt", prompt), ("completion", completion)):
        if not isinstance(value, str) and not _are_messages(value):
            raise input_error(f"a {name} is a text or a list of chat messages, got {value!r:.100}")
    messages = [] if isinstance(prompt, str) else [dict(message) for message in prompt]
    asked = [message_text(message.get("content")) for message in messages if message.get("role") == "user"]
    query = question_in(prompt if isinstance(prompt, str) else (asked[-1] if asked else ""))
    task_id = id_text(metadata.get("task_id")) or _digest(prompt, dict(metadata) if shared is None else shared)
    task = Task(main_query=query, init_messages=messages, task_id=task_id, metadata=dict(metadata))
    output = WorkflowOutput(metadata={**metadata, "final_answer": final_text(completion)})
    # a column of this name is the data set's own conversation, often with a model answer: no turn of it is the policy's
    output.metadata.pop("messages", None)
    if not isinstance(completion, str):
        output.metadata["messages"] = [dict(message) for message in completion]
    return WorkflowTask(task=task, gym_env=gym_env), output


def _are_messages(value: object) -> bool:
    """Whether `value` is a list of mappings with a `role`, such as `{"role": "user"}`; it may be empty.

    False for messages of a different format, such as `{"from": "gpt"}`.
    """
    if not isinstance(value, Collection) or isinstance(value, Mapping | bytes):
        return False
    return all(isinstance(turn, Mapping) and isinstance(turn.get("role"), str) for turn in value)


def question_in(text: str) -> str:
    r"""The user's last question in a prompt that a chat template joined to one text; any other text as it is.

    `"<|im_start|>user\nWhat is 2+2?<|im_end|>\n<|im_start|>assistant\n"` gives `What is 2+2?`. Such a text ends with
    the header of the policy's turn. If more text follows that header, because the policy's turn is begun for it, the
    text must also begin with a template's mark.
    """
    if not (headers := _headers(text)) or not headers[-1].policys:
        return text
    if not _THINKS.fullmatch(text, _behind(text, headers[-1])) and not _MARK.match(text.lstrip()):
        return text
    asked, turn = text, list[_Header]()
    for header in headers:
        if not header.policys:
            turn.append(header)
            continue
        # a header that a user quotes is none; a tool's answer may be written in a user's turn
        place = next((place for place, each in enumerate(turn) if each.users), None)
        if place is not None and (found := _between(text, turn[place], [*turn[place + 1 :], header])) is not None:
            asked = found
        turn = []
    return asked


def _between(text: str, asks: _Header, behind: Sequence[_Header]) -> str | None:
    """The text of a user's turn, up to the policy's header; None if the turn only holds a tool's answer.

    Args:
        text: the whole prompt.
        asks: the header of the user's turn.
        behind: the headers after it, the last one the policy's.
    """
    start = _behind(text, asks)
    if not text[start : behind[0].start].strip() and len(behind) > 1:
        return None
    turn = text[start : behind[-1].start].rstrip().removesuffix(_COHERES_START)
    return without_end_markers(turn.rstrip()).strip()


def is_chat(value: object) -> bool:
    """Whether `value` is a list of chat messages with a `role`, and not empty."""
    turns = value if isinstance(value, list) else []
    return bool(turns) and all(isinstance(turn, Mapping) and "role" in turn for turn in turns)


def policys_turns(messages: Sequence[Any], turns: int = 0) -> int:
    """The index at which the policy's response begins in a conversation: 1 if the roles are user, assistant, tool,
    assistant.

    The response goes to the end: it holds the policy's turns, and the answers of tools and environments between them.

    Args:
        messages: the conversation.
        turns: how many of the policy's turns the response holds, if that is known: a user may have answered between
            these. With 0, the response begins behind the last message that neither the policy nor a tool nor an
            environment wrote.
    """
    own = [place for place, message in enumerate(messages) if message.get("role") in _POLICYS_ROLES] if turns else []
    if 0 < turns <= len(own):
        return own[-turns]
    end = len(messages)
    while end and isinstance(messages[end - 1], Mapping) and messages[end - 1].get("role") in _AFTER_THE_PROMPT:
        end -= 1
    return end


def final_text(completion: Prompt) -> str:
    """The policy's final answer: the `last_turn` of the text, or of the last message if the assistant wrote it.

    It is empty if the last message is not the assistant's: an episode that was cut off after a tool's answer has no
    final answer, and an earlier message must not pass for it. A message may hold several turns, as a text may: some
    trainers hand over all turns as one message of the assistant.

    Raises:
        JudgeError: no message is the policy's, and a message has an unknown role.
    """
    if isinstance(completion, str):
        return last_turn(completion)
    wrote = {str(message.get("role")) for message in completion}
    if _POLICYS_ROLES.isdisjoint(wrote) and (unknown := wrote - _OTHERS_ROLES - _AFTER_THE_PROMPT):
        named = ", ".join(map(repr, sorted(unknown)))
        raise input_error(f"no message of the completion has the policy's role, assistant, but {named:.200}")
    if len(completion) == 0 or completion[-1].get("role") not in _POLICYS_ROLES:
        return ""
    return last_turn(message_text(completion[-1].get("content")))


def message_text(content: object) -> str:
    """The text of a chat message's `content`, which is a text, None, a block or a list of blocks.

    The texts of blocks are joined: `[{"type": "text", "text": "5"}]` gives `5`. Only text blocks count: a model's
    thoughts, for example, do not.

    Raises:
        JudgeError: the content is something else, which might hold an answer that is not read here.
    """
    if isinstance(content, str):
        return content
    if content is None or is_nan(content):
        return ""
    # Parquet gives lists as numpy arrays
    plain: Any = content.tolist() if type(content).__module__ == "numpy" else content  # type: ignore[attr-defined]
    blocks = [plain] if isinstance(plain, Mapping) else plain
    known = isinstance(blocks, list | tuple) and all(isinstance(block, str | Mapping) for block in blocks)
    if not known:
        raise input_error(f"a message's content is a text or a list of blocks, got {content!r:.100}")
    # a table gives all blocks the same keys, with null if a block lacks one
    texts = [
        block if isinstance(block, str) else block.get("text")
        for block in blocks
        if isinstance(block, str) or (block.get("type") or "text") in _TEXT_BLOCKS
    ]
    return "".join(text for text in texts if isinstance(text, str))


def without_end_markers(text: str) -> str:
    """`text` without the end-of-turn markers of common chat templates at its end: `5` for `5<|im_end|>`."""
    end = len(text)
    # cut once: a policy may end its text with a hundred thousand markers
    while ending := next((marker for marker in _END_MARKERS if text.endswith(marker, 0, end)), None):
        end -= len(ending)
    return text[:end]


def last_turn(text: str) -> str:
    """The policy's last turn in the text of a response, without end markers.

    A response of several turns also holds what tools and users said; that is not the policy's answer. Only turns with
    a chat template's own marks between them can be separated. If the text has a turn of a user, a tool or the system,
    the policy's last turn is what follows the next assistant's header, or the mark that ends a tool's answer; it is
    empty if no such header or mark follows. A header of a different role at the very end is ignored: the policy only
    ended its turn with it.
    """
    headers = _headers(text)
    if headers and headers[-1].end == len(text.rstrip()) and not headers[-1].policys:
        text = text[: headers.pop().start].rstrip()
    if all(header.policys for header in headers):
        return without_end_markers(text)
    if not headers[-1].policys:
        return ""
    return without_end_markers(text[_behind(text, headers[-1]) :])


class _Header(NamedTuple):
    """The position of the header of a turn in a text, and whether the policy's turn (or a user's) follows it."""

    start: int
    end: int
    policys: bool
    users: bool = False


def _headers(text: str) -> list[_Header]:
    return [header for mark in _MARK.finditer(text) if (header := _header(mark))]


def _behind(text: str, header: _Header) -> int:
    """The position in `text` at which the turn after `header` begins, behind the rest of the header's marks."""
    rest = _HEADER_REST.match(text, header.end)
    return rest.end() if rest else header.end


def _header(mark: re.Match[str]) -> _Header | None:
    """The header of a turn that a chat template's mark is, or begins: `<|im_start|>assistant`; None for other marks.

    Any word behind a mark that begins a turn is a role, even a tool's own name.
    """
    start, shown = mark.start(), mark[0]
    if mark["minimax"]:
        role = mark["minimax"].lower()
        return _Header(start, mark.end(), role in _POLICYS_ROLES, role in _USERS_ROLES)
    name, behind = mark["name"].lower(), (mark["behind"] or "").strip().lower()
    end = mark.start("behind") if mark["behind"] else mark.end()
    words = frozenset(re.split("[_▁:]", name.lstrip("/")))
    closes = name.startswith("/") or "end" in words or bool(re.match(r"<\w+\|>|\[/", shown))
    # `d[tool_output]` is code, while `[TOOL_RESULTS]` is a mark of Mistral's template
    written = not re.match(r"\[\w", shown) or mark["name"].isupper()
    if written and (words == {"inst"} or (words & _TOOLS and words & _ANSWERS)):
        return _Header(start, end, closes, words == {"inst"} and not closes)
    if closes:
        return None
    barred = shown[1] in "|｜"
    named = words - _PLAIN
    if barred and len(named) == 1 and named <= _POLICYS_ROLES | _OTHERS_ROLES:
        return _Header(start, end, named <= _POLICYS_ROLES, named <= _USERS_ROLES)
    # a tag without bars is a template's only if a role follows: <start_of_turn>user
    if named or not words & _BEGINS or not (behind if barred else behind in _POLICYS_ROLES | _OTHERS_ROLES):
        return None
    return _Header(start, mark.end(), behind in _POLICYS_ROLES, behind in _USERS_ROLES)


def ground_truth_metadata(ground_truth: object) -> dict[str, Any]:
    """A trainer's ground truth as a task's metadata: `{"answer": "5"}` for `"5"`.

    If it is a mapping, or a JSON object in a text such as `{"target": 24, "numbers": [1, 2, 3, 4]}`, its fields are
    added to the metadata. Its own `answer` is then the answer; without one, `answer` is the ground truth as it came.
    """
    plain = without_numpy(ground_truth)
    packed = isinstance(plain, str) and plain.lstrip().startswith("{") and len(plain) <= _JSON_CHARS
    record = object_in(plain) if packed else plain
    return {"answer": plain, **record} if isinstance(record, dict) else {"answer": plain}


def id_text(task_id: object) -> str:
    """A cell as a task's id: `7` for 7 and for 7.0; empty for None and NaN.

    If a cell is missing, a data frame turns the column's integers into floats and the missing cell into NaN. With NaN
    as their id, unrelated rows would be one group.
    """
    plain = without_numpy(task_id)
    if isinstance(plain, float):
        return str(int(plain)) if plain.is_integer() else "" if math.isnan(plain) else str(plain)
    return "" if plain is None else str(plain)


def _digest(prompt: Prompt, shared: object) -> str:
    """A task id made from the prompt and its columns, which the completions of one advantage group share."""
    told = repr((prompt, shared))
    if _ADDRESS.search(told):
        told = repr((prompt, _without_addresses(shared)))
    return hashlib.blake2b(told.encode("utf-8", "replace"), digest_size=6).hexdigest()


# The `repr` of an object holds its address, which differs if the object, such as an image, is decoded for each sample
_ADDRESS = re.compile(r" at 0x[0-9A-Fa-f]+")


def _without_addresses(value: Any) -> Any:
    """`value` with its objects as texts without their addresses (` at 0x7f…`); texts are not changed."""
    if isinstance(value, Mapping):
        return {key: _without_addresses(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_without_addresses(inner) for inner in value]
    return value if isinstance(value, str | bytes) else _ADDRESS.sub("", repr(value))
