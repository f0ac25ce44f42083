"""A trainer's sample as a task and an output: its texts, chat messages, columns and ground truth.

Data sets hold a column under one of several names, miss it, or fill it with NaN; `ColumnMap` puts columns that `--map`
names into their places in a rollout.
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
    """`value` without NaN cells, which are a table's empty cells; in a list they become None."""
    if isinstance(value, Mapping):
        return {str(key): without_nan(inner) for key, inner in value.items() if not is_nan(inner)}
    if isinstance(value, list):
        return [None if is_nan(inner) else without_nan(inner) for inner in value]
    return value


def is_nan(value: object) -> bool:
    """Whether a cell is NaN, a table's empty cell."""
    return isinstance(value, float) and math.isnan(value)


def first(row: Mapping[str, Any], *names: str) -> tuple[str, Any]:
    """The first of `names` that the row has, and the value under it.

    Raises:
        JudgeError: the row has none of them.
    """
    found = next((name for name in names if row.get(name) is not None), None)
    if found is None and (null := next((name for name in names if name in row), None)):
        raise input_error(f"the row's {null!r} is null")
    if found is None:
        raise input_error(f"the row has no {' or '.join(names)}, only {sorted(row)!r}")
    return found, row[found]


def required(row: Mapping[str, Any], name: str) -> Any:
    """The value of a column.

    Raises:
        JudgeError: the row does not have it.
    """
    return first(row, name)[1]


def text_of(value: object, name: str) -> str:
    """`value`, which must be a text.

    Raises:
        JudgeError: the value is no text.
    """
    if not isinstance(value, str):
        raise input_error(f"{name} must be a text, got {value!r:.100}")
    return value


def truth_of(row: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """The ground truth as metadata, from the first of `names` that the row has; empty where it has none."""
    found = next((row[name] for name in names if row.get(name) is not None), None)
    return {} if found is None else ground_truth_metadata(found)


def reference_of(row: Mapping[str, Any]) -> dict[str, Any]:
    """The reference among a data set's columns, as metadata: `answer`, else the one that surely holds it; see `Reads`.

    A worked solution that does not say where its answer stands is none, nor is one of two columns that differ. An
    `answer` that is a missing cell stays missing.
    """
    if "answer" in row:
        return ground_truth_metadata(row["answer"])
    name = sole_answer_column(row)
    return {} if name is None else ground_truth_metadata(at_path(row, name))


def id_of(row: Mapping[str, Any], otherwise: str) -> str:
    """The row's own id as text, where it has one; integers are ids, also those that a table turned into floats."""
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
    """The columns that `--map` names, and their places.

    Args:
        pairs: pairs `column=path`. A column may name a nested field, `reward_model.ground_truth`; a path is one of
            `question`, `answer` and `response`, or of the places that they stand for, `task.main_query`,
            `task.metadata.answer` and `output.metadata.final_answer`; or `id`, `task.task_id`, `task.init_messages`,
            `task.env_type`, `task.metadata.<key>`, `output.metadata.<key>`, `judgement.reward`, the reward that a
            trainer has dumped, and `label.score`, what people say of the response. Chat messages may stand for the
            question and for the response.

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
    if path == _LABEL and isinstance(value, str):
        return [(path, _number(value))]
    if path == _QUERY and is_chat(value):
        return [(path, as_rollout(value, "", {})[0].task.main_query), ("task.init_messages", value)]
    if path == _ANSWER and is_chat(value):
        return [(path, final_text(value)), ("output.metadata.messages", value)]
    return [(path, value)]


def _number(text: str) -> float:
    """A label out of a table, whose cells are texts."""
    try:
        return _WORDS[text.strip().lower()] if text.strip().lower() in _WORDS else float(text)
    except ValueError:
        told = f"label.score takes a number or one of {', '.join(_WORDS)}, got {text!r:.60}"
        raise input_error(told) from None


def _found(row: Mapping[str, Any], column: str) -> Any:
    if (value := cell_at(row, column)) is None:
        null = f"the row's {column!r} is null"
        raise input_error(null if column in row else f"the row has no {column!r}, only {sorted(row)!r}")
    return value


Pair = tuple[WorkflowTask, WorkflowOutput]

# A ground truth is a number, an expression or a small record; a longer text is an answer, and not parsed as JSON
_JSON_CHARS = 10_000

# The types of text blocks: of chat completions, and two of OpenAI's Responses
_TEXT_BLOCKS = ("text", "output_text", "input_text")

# Some trainers keep special tokens when they decode; the answer must end the same under every trainer
_END_MARKERS = (
    "<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|end_of_text|>", "<|end|>", "<end_of_turn>",
    "<｜end▁of▁sentence｜>", "<eos>", "<|return|>", "<|eot|>", "<|eom|>", "<|END_RESPONSE|>", "<|END_OF_TURN_TOKEN|>",
    "[e~[", "</s>", "<turn|>", "<seed:eos>", "[|endofturn|]", "<｜hy_place▁holder▁no▁2｜>", "<|assistant_end|>",
    "<|role_end|>", "<|EOT|>", "<|eom_id|>",
)  # fmt: skip

# What chat templates write between turns: <|im_start|>, <start_of_turn>, <｜User｜>, [|tool|], <tool_response>, [INST]
_MARK = re.compile(
    r"(?:<[|｜]?|\[\|?)(?P<name>/?[^\W\d_][\w▁:]{0,39})(?:[|｜]?>|\|?\])(?P<behind>[ ]*[\w.-]+)?|\]~b\](?P<minimax>\w+)"
)
_POLICYS_ROLES = frozenset({"assistant", "model", "ai", "chatbot"})
_TOOLS_ROLES = frozenset({"tool", "tools", "ipython", "function", "functions", "observation", "environment"})
_USERS_ROLES = frozenset({"user", "human"})
_OTHERS_ROLES = _TOOLS_ROLES | _USERS_ROLES | {"system", "developer"}
# The words of a mark's name: of those that begin a turn, and of those around what a tool answered
_BEGINS = frozenset({"start", "begin", "bos", "bot", "bom", "turn"})
_PLAIN = _BEGINS | {"im", "of", "role", "header", "id", "token", "message", "seed", "hy"}
_TOOLS = frozenset({"tool", "tools", "function", "functions", "code", "execution"})
_ANSWERS = frozenset(["output", "outputs", "response", "responses", "result", "results", "return", "returns"])
_HEADER_REST = re.compile(
    r"(?:[\w.-]+(?=<\|im_middle))?(?: to=[\w.]+)?(?:<\|channel\|>\w+(?: to=[\w.]+)?(?: ?<\|constrain\|>\w+)?)?"
    r"(?:<\|(?:end_header_id|header_end|im_middle|message|end_of_role|start_response)\|>)?\n*",
    re.IGNORECASE,
)
# What a template may begin the policy's turn with
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
    """One sample of a trainer's batch as a task and its output.

    Args:
        prompt: plain text, or chat messages; the last user message is then the query, without what a chat template
            wrote around it; see `question_in`.
        completion: plain text, or the chat messages that the policy added; see `final_text`.
        metadata: the dataset's columns. The task gets them, and so does the output, because there is no workflow here
            that would pass `target` and `nums` to the judge. `task_id` names the task; without one it is a digest of
            prompt and `shared`.
        gym_env: the environment the episode ran in, for judges that ask the environment.
        shared: what the completions of one group have in common; by default the metadata.

    Raises:
        JudgeError: the prompt or the completion is something else; or as `final_text`.
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
    # a column of this name is a conversation of the data set's, often the model answer: no turn of it is the policy's
    output.metadata.pop("messages", None)
    if not isinstance(completion, str):
        output.metadata["messages"] = [dict(message) for message in completion]
    return WorkflowTask(task=task, gym_env=gym_env), output


def _are_messages(value: object) -> bool:
    """Whether `value` holds mappings that say who wrote them; that of another format, `{"from": "gpt"}`, does not."""
    if not isinstance(value, Collection) or isinstance(value, Mapping | bytes):
        return False
    return all(isinstance(turn, Mapping) and isinstance(turn.get("role"), str) for turn in value)


def question_in(text: str) -> str:
    """What the user asked last in a prompt that a chat template made one text of; any other text as it is.

    Such a text ends with the header of the policy's turn, and begins with a template's mark where more follows that
    header, as it does when the policy's turn is begun for it.
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
        # what a user quotes is no header; what a tool answered may stand in a user's turn
        place = next((place for place, each in enumerate(turn) if each.users), None)
        if place is not None and (found := _between(text, turn[place], [*turn[place + 1 :], header])) is not None:
            asked = found
        turn = []
    return asked


def _between(text: str, asks: _Header, behind: Sequence[_Header]) -> str | None:
    """A user's turn up to the policy's header, the last of `behind`; None where it is what a tool answered."""
    start = _behind(text, asks)
    if not text[start : behind[0].start].strip() and len(behind) > 1:
        return None
    turn = text[start : behind[-1].start].rstrip().removesuffix(_COHERES_START)
    return without_end_markers(turn.rstrip()).strip()


def is_chat(value: object) -> bool:
    """Whether `value` is a list of chat messages that is not empty."""
    turns = value if isinstance(value, list) else []
    return bool(turns) and all(isinstance(turn, Mapping) and "role" in turn for turn in turns)


def policys_turns(messages: Sequence[Any], turns: int = 0) -> int:
    """The index of the message with which the policy's part of a conversation begins; the part goes to the end.

    It holds the policy's turns, and what tools and environments said between them.

    Args:
        messages: the conversation.
        turns: how many of the policy's turns the part holds, where that is known: a user may have answered between
            these. By default the part begins behind the last message that neither the policy nor a tool nor an
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
    """The policy's final answer: the `last_turn` of the text, or of the last message when the assistant wrote it, else
    `""`.

    An episode that was cut off after a tool's answer has no final answer: an earlier message must not stand for it. A
    message is read as a text is: some trainers hand over all turns as one message of the assistant's.

    Raises:
        JudgeError: no message is the policy's, and who wrote one is not known.
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
    """The text of a chat message's content: a str, a block or a list of blocks whose texts are joined, or None.

    Only text blocks count: a model's thoughts, for example, do not.

    Raises:
        JudgeError: the content is something else: it may hold an answer, which nobody read.
    """
    if isinstance(content, str):
        return content
    if content is None or is_nan(content):
        return ""
    # a list out of Parquet
    plain: Any = content.tolist() if type(content).__module__ == "numpy" else content  # type: ignore[attr-defined]
    blocks = [plain] if isinstance(plain, Mapping) else plain
    known = isinstance(blocks, list | tuple) and all(isinstance(block, str | Mapping) for block in blocks)
    if not known:
        raise input_error(f"a message's content is a text or a list of blocks, got {content!r:.100}")
    # a table gives all blocks the same keys, with null where one of them has none
    texts = [
        block if isinstance(block, str) else block.get("text")
        for block in blocks
        if isinstance(block, str) or (block.get("type") or "text") in _TEXT_BLOCKS
    ]
    return "".join(text for text in texts if isinstance(text, str))


def without_end_markers(text: str) -> str:
    """`text` without the end-of-turn markers of the common chat templates after it."""
    end = len(text)
    # cut once: a policy may end its text with a hundred thousand markers
    while ending := next((marker for marker in _END_MARKERS if text.endswith(marker, 0, end)), None):
        end -= len(ending)
    return text[:end]


def last_turn(text: str) -> str:
    """The policy's last turn of `text`, without end markers: what a tool or a user said in it is not the policy's.

    Only turns between a chat template's own marks can be told apart. Where a user's, a tool's or a system's turn stands
    in the text, the policy's last turn is what follows it and the next assistant's header, or the mark that ends a
    tool's answer; it is empty where none follows. The header of another's turn at the very end is only how the policy
    ended its own.
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
    """Where a turn's header stands, and whether the policy's turn follows it, or a user's."""

    start: int
    end: int
    policys: bool
    users: bool = False


def _headers(text: str) -> list[_Header]:
    return [header for mark in _MARK.finditer(text) if (header := _header(mark))]


def _behind(text: str, header: _Header) -> int:
    """Where the turn of a header begins."""
    rest = _HEADER_REST.match(text, header.end)
    return rest.end() if rest else header.end


def _header(mark: re.Match[str]) -> _Header | None:
    """The header that a mark is, or begins; None for any other mark.

    Behind a mark that begins turns any word is a role, as a tool's own name is; only the policy's are understood.
    """
    start, shown = mark.start(), mark[0]
    if mark["minimax"]:
        role = mark["minimax"].lower()
        return _Header(start, mark.end(), role in _POLICYS_ROLES, role in _USERS_ROLES)
    name, behind = mark["name"].lower(), (mark["behind"] or "").strip().lower()
    end = mark.start("behind") if mark["behind"] else mark.end()
    words = frozenset(re.split("[_▁:]", name.lstrip("/")))
    closes = name.startswith("/") or "end" in words or bool(re.match(r"<\w+\|>|\[/", shown))
    # d[tool_output] is code, [TOOL_RESULTS] is Mistral's
    written = not re.match(r"\[\w", shown) or mark["name"].isupper()
    if written and (words == {"inst"} or (words & _TOOLS and words & _ANSWERS)):
        return _Header(start, end, closes, words == {"inst"} and not closes)
    if closes:
        return None
    barred = shown[1] in "|｜"
    named = words - _PLAIN
    if barred and len(named) == 1 and named <= _POLICYS_ROLES | _OTHERS_ROLES:
        return _Header(start, end, named <= _POLICYS_ROLES, named <= _USERS_ROLES)
    # a tag without bars is a template's only where a role follows: <start_of_turn>user
    if named or not words & _BEGINS or not (behind if barred else behind in _POLICYS_ROLES | _OTHERS_ROLES):
        return None
    return _Header(start, mark.end(), behind in _POLICYS_ROLES, behind in _USERS_ROLES)


def ground_truth_metadata(ground_truth: object) -> dict[str, Any]:
    """A trainer's ground truth as task metadata: under `answer`, and the fields of a record beside it.

    A record is a mapping or a JSON object in a str, as data sets carry `{"target": 24, "numbers": [1, 2, 3, 4]}` in a
    single column. A record's own `answer` is the answer; otherwise the ground truth stays there as it came.
    """
    plain = without_numpy(ground_truth)
    packed = isinstance(plain, str) and plain.lstrip().startswith("{") and len(plain) <= _JSON_CHARS
    record = object_in(plain) if packed else plain
    return {"answer": plain, **record} if isinstance(record, dict) else {"answer": plain}


def id_text(task_id: object) -> str:
    """A column's value as the task's id; empty where there is no id. Where a cell is missing, a data frame turns
    integers into floats and the missing cell into NaN; NaN as an id would put unrelated rows into one group.
    """
    plain = without_numpy(task_id)
    if isinstance(plain, float):
        return str(int(plain)) if plain.is_integer() else "" if math.isnan(plain) else str(plain)
    return "" if plain is None else str(plain)


def _digest(prompt: Prompt, shared: object) -> str:
    """An id that is equal for the completions of one advantage group, which share a prompt and its columns."""
    told = repr((prompt, shared))
    if _ADDRESS.search(told):
        told = repr((prompt, _without_addresses(shared)))
    return hashlib.blake2b(told.encode("utf-8", "replace"), digest_size=6).hexdigest()


# An object that is decoded anew for each sample, such as an image, is shown with its address
_ADDRESS = re.compile(r" at 0x[0-9A-Fa-f]+")


def _without_addresses(value: Any) -> Any:
    """`value` without the addresses of its objects; texts may speak of addresses, and keep them."""
    if isinstance(value, Mapping):
        return {key: _without_addresses(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_without_addresses(inner) for inner in value]
    return value if isinstance(value, str | bytes) else _ADDRESS.sub("", repr(value))
