"""Reads the rows of each trainer as a task and an output: TRL, verl, OpenRLHF, slime and miles, Trinity-RFT, NeMo-Gym.

They are rows of a data set with a response, rows of the files that a trainer dumps, and the requests that it sends to a
reward service.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentscope_tuner.errors import JudgeError, input_error
from agentscope_tuner.records.formats.sample import (
    Pair,
    as_rollout,
    final_text,
    first,
    ground_truth_metadata,
    id_text,
    is_chat,
    last_turn,
    policys_turns,
    reference_of,
    required,
    text_of,
    truth_of,
)


def read_trl(row: Mapping[str, Any]) -> Pair:
    """Read a row of TRL: `{"prompt": …, "completion": …, <columns>}`; both are texts or chat messages.

    Without `completion`, `messages` may hold the whole conversation, whose last turns are the completion.

    Raises:
        JudgeError: the row has no prompt or completion, or they are neither texts nor chat messages.
    """
    prompt: Any
    completion: Any
    if row.get("completion") is None and isinstance(row.get("messages"), list):
        begun = policys_turns(row["messages"])
        prompt, completion = row["messages"][:begun], row["messages"][begun:]
    else:
        prompt, completion = first(row, "prompt", "question")[1], required(row, "completion")
    if completion == []:
        raise input_error("the row has no completion: its messages end with a user's turn")
    for name, value in (("prompt", prompt), ("completion", completion)):
        if not isinstance(value, str) and not is_chat(value):
            raise input_error(f"{name} must be a text or chat messages, got {value!r:.100}")
    rest = {key: value for key, value in row.items() if key not in ("prompt", "completion", "messages")}
    return as_rollout(prompt, completion, {**rest, **reference_of(row)})


_RESPONSES = ("response", "solution_str", "output", "responses")


def read_verl(row: Mapping[str, Any]) -> Pair:
    """Read a row of verl, of one of two forms.

    A row of a data set with a response is `{"data_source", "prompt": [messages], "reward_model": {"ground_truth"},
    "extra_info", "response"}`. A dumped row is `{"input", "output", "gts", "score", "step"}`.

    Raises:
        JudgeError: the row has no prompt or no response.
    """
    prompt_key, prompt = first(row, "prompt", "input")
    answer_key, answer = first(row, *_RESPONSES)
    answer = answer[0] if isinstance(answer, list) and len(answer) == 1 else answer
    model, info = row.get("reward_model"), row.get("extra_info")
    info = info if isinstance(info, Mapping) else {}
    rest = {key: value for key, value in row.items() if key not in (prompt_key, answer_key, "extra_info")}
    # As in verl's adapter: extra_info may have an `answer` of its own, but the ground truth takes precedence
    truth = truth_of(model, "ground_truth") if isinstance(model, Mapping) else truth_of(row, "ground_truth", "gts")
    metadata = {**rest, **info, **truth}
    if (index := id_text(info.get("index"))) and "data_source" in row:
        metadata.setdefault("task_id", f"{row['data_source']}/{index}")
    return as_rollout(prompt, text_of(answer, answer_key), metadata)


# A shorter overlap may be chance, and then a part of the prompt would be judged as the policy's answer
_SURE_CHARS = 32


def read_openrlhf(row: Mapping[str, Any]) -> Pair:
    """Read a row of OpenRLHF: a request to its reward service (see `decode_openrlhf_request`), or a dumped row.

    A dumped row is `{"prompt" or "input": …, "response" or "output": …, "label" or "answer": …}`.

    Raises:
        JudgeError: the row has neither form.
    """
    if isinstance(row.get("query"), list) and "labels" in row:
        return decode_openrlhf_request(row)
    prompt_key, prompt = first(row, "prompt", "input", "question")
    answer_key, answer = first(row, "response", "output", "completion")
    rest = {key: value for key, value in row.items() if key not in (prompt_key, answer_key)}
    return as_rollout(prompt, text_of(answer, answer_key), {**rest, **truth_of(row, "label", "answer")})


def decode_openrlhf_request(payload: Mapping[str, Any]) -> Pair:
    """Read OpenRLHF's request for a reward: `{"query": [prompt + response], "prompts": [...], "labels": [...]}`.

    The label is the ground truth: it becomes `task.metadata["answer"]`, and the fields of a record (a JSON object) are
    added to the metadata.

    Raises:
        JudgeError: the lists do not hold exactly one sample, as OpenRLHF sends it; or the query does not begin with its
            prompt, so that it is unknown where the response begins.
    """
    columns = [payload.get(key) for key in ("query", "prompts", "labels")]
    if not all(isinstance(column, list | tuple) and len(column) == 1 for column in columns):
        shown = {key: _shape(payload.get(key)) for key in ("query", "prompts", "labels")}
        raise JudgeError(f"OpenRLHF sends lists of one query, one prompt and one label, got {shown!r}")
    (query,), (prompt,), (label,) = columns  # type: ignore[misc]
    if not isinstance(query, str) or not isinstance(prompt, str):
        raise JudgeError(f"query and prompt must be str, got {type(query).__name__} and {type(prompt).__name__}")
    # under its own name, too, for `reads`
    return as_rollout(prompt, response_of(query, prompt), {"label": label, **ground_truth_metadata(label)})


def response_of(query: str, prompt: str) -> str:
    """The policy's response: `query` without `prompt` before it and without end-of-turn markers after it.

    `response_of("What is 2+2?4", "What is 2+2?")` is `4`. OpenRLHF cuts long prompts from the left, so the query may
    begin with the last part of the prompt alone.

    Raises:
        JudgeError: the query does not begin with the prompt or a sufficiently long last part of it.
    """
    kept = len(prompt) if query.startswith(prompt) else _overlap(prompt, query)
    if kept < min(len(prompt), _SURE_CHARS):
        told = f"the query {query!r:.100} does not begin with its prompt {prompt!r:.100}"
        raise JudgeError(f"{told}: the tokenizer does not give its text back, so where the response begins is unknown")
    return last_turn(query[kept:])


def _overlap(prompt: str, query: str) -> int:
    """The length of the longest suffix of `prompt` with which `query` begins: 2 for `abcab` and `abX`.

    It takes linear time (Knuth, Morris, Pratt).
    """
    # None is equal to no character, so that no match extends from the query into the prompt
    joined = [*query[: len(prompt)], None, *prompt]
    lengths = [0] * len(joined)
    for index in range(1, len(joined)):
        matched = lengths[index - 1]
        while matched and joined[index] != joined[matched]:
            matched = lengths[matched - 1]
        lengths[index] = matched + (joined[index] == joined[matched])
    return lengths[-1]


def _shape(column: object) -> str:
    return f"{len(column)} values" if isinstance(column, list | tuple) else type(column).__name__


def read_slime(row: Mapping[str, Any]) -> Pair:
    """Read a row of slime or miles, of a data set or a dump: `{"prompt", "response", "label", "metadata"}`.

    The prompt may also be named `messages` or `input`.

    Raises:
        JudgeError: the row has no prompt or response.
    """
    prompt = first(row, "prompt", "messages", "input")[1]
    metadata = row.get("metadata")
    own = metadata if isinstance(metadata, Mapping) else {}
    if row.get("group_index") is not None:
        own = {"task_id": f"group/{row['group_index']}", **own}
    return pair(prompt, required(row, "response"), row.get("label", row.get("answer")), own)


def as_pair(sample: Any, answer: str | None = None) -> Pair:
    """A `Sample` object of slime or miles as a task and its output: the label is the ground truth.

    Args:
        sample: the object; its metadata become the task's.
        answer: the policy's last turn, if the sample's response holds several turns; None to take the response.

    Raises:
        JudgeError: the sample has no prompt or response of slime's type.
    """
    metadata = getattr(sample, "metadata", None)
    own = dict(metadata) if isinstance(metadata, Mapping) else {}
    if (index := getattr(sample, "group_index", None)) is not None:
        own = {"task_id": f"group/{index}", **own}
    response = getattr(sample, "response", None) if answer is None else answer
    return pair(getattr(sample, "prompt", None), response, getattr(sample, "label", None), own)


def decode_slime_request(payload: Mapping[str, Any]) -> Pair:
    """Read slime's request for a reward: `{"prompt": …, "response": …, "label": …}`.

    Raises:
        JudgeError: the request has a different form.
    """
    if not {"prompt", "response", "label"} <= payload.keys():
        raise input_error(f"slime sends prompt, response and label, got {sorted(payload)!r}")
    return pair(payload["prompt"], payload["response"], payload["label"], {})


def pair(prompt: object, response: object, label: object, metadata: Mapping[str, Any]) -> Pair:
    """The task and the output made from the parts of a slime sample; the label is the ground truth.

    Args:
        prompt: a text or chat messages.
        response: the policy's text.
        label: the ground truth; None to look for it in the metadata.
        metadata: becomes the task's metadata.

    Raises:
        JudgeError: the prompt or the response has a different type.
    """
    messages = isinstance(prompt, list) and all(isinstance(message, Mapping) for message in prompt)
    if not isinstance(prompt, str) and not messages:
        raise input_error(f"a sample's prompt must be a str or chat messages, got {prompt!r:.100}")
    if not isinstance(response, str):
        raise input_error(f"a sample's response must be a str, got {response!r:.100}")
    own = {key: value for key, value in metadata.items() if key != "judgement"}
    truth = reference_of(own) if label is None else ground_truth_metadata(label)
    named = {} if label is None else {"label": label}
    return as_rollout(prompt, response, {**named, **own, **truth})  # type: ignore[arg-type]


def read_trinity(row: Mapping[str, Any]) -> Pair:
    """Read an experience of Trinity-RFT: `{"eid", "prompt_text", "response_text" or "messages", "info", "reward"}`.

    The ground truth is taken from `info`.

    Raises:
        JudgeError: the row has neither a prompt with a response nor messages.
    """
    eid = row.get("eid")
    names = eid if isinstance(eid, Mapping) else {}
    info = row.get("info")
    own = dict(info) if isinstance(info, Mapping) else {}
    if named := id_text(names.get("task")):
        own.setdefault("task_id", f"{id_text(names.get('batch'))}/{named}".lstrip("/"))
    if names.get("batch") not in (None, ""):
        own.setdefault("step", names["batch"])
    metadata = {**own, **truth_of(own, "answer", "ground_truth", "truth")}
    prompt, response, messages = row.get("prompt_text"), row.get("response_text"), row.get("messages")
    if is_chat(messages) and isinstance(messages, list):
        asked = max((place for place, turn in enumerate(messages) if turn["role"] == "user"), default=-1) + 1
        return as_rollout(messages[:asked], messages[asked:], metadata)
    if not isinstance(prompt, str) or not isinstance(response, str):
        raise input_error(f"an experience needs prompt_text and response_text, or messages, got {sorted(row)!r}")
    return as_rollout(prompt, response, metadata)


_PROTOCOL_FIELDS = frozenset({"responses_create_params", "response", "verifier_metadata"})
# How the fields begin that NeMo-Gym adds to a row, and that differ between the samples of one prompt
_OF_A_ROLLOUT = "_ng_"


def decode_nemo_gym_request(payload: Mapping[str, Any]) -> Pair:
    """Read NeMo-Gym's request: `{"responses_create_params": {"input": …}, "response": <OpenAI Response>, …}`.

    The data set's own fields, beside these or under `verifier_metadata`, become `task.metadata`. The ground truth is
    their `answer`, `expected_answer` or `ground_truth`.

    Raises:
        JudgeError: the request has a different form.
    """
    params, response = payload.get("responses_create_params"), payload.get("response")
    if not isinstance(params, Mapping) or not isinstance(response, Mapping):
        raise JudgeError(f"/verify takes responses_create_params and response, two objects, got {sorted(payload)!r}")
    output = response.get("output")
    if not isinstance(output, list) or not all(isinstance(item, Mapping) for item in output):
        raise JudgeError(f"response.output must be a list of objects, got {output!r:.200}")
    prompt = params.get("input")
    if isinstance(prompt, list):
        # All other items are calls of earlier turns and their outputs
        prompt = [item for item in prompt if isinstance(item, Mapping) and "role" in item]
    elif not isinstance(prompt, str):
        raise JudgeError(f"responses_create_params.input must be a str or a list, got {type(prompt).__name__}")
    return as_rollout(prompt, _last_message(output), _metadata(payload))


def _last_message(output: list[Mapping[str, Any]]) -> str:
    """The text of the last item of a Response, if it is the policy's message; empty if the episode ends in a call."""
    last = output[-1] if output else {}
    if not output or (last.get("type") or "message") != "message":
        return ""
    return final_text([{"role": last.get("role") or "assistant", "content": last.get("content")}])


def _metadata(payload: Mapping[str, Any]) -> dict[str, Any]:
    nested = payload.get("verifier_metadata")
    inner = dict(nested) if isinstance(nested, Mapping) else {}
    # a request's class may declare a field that the row has under verifier_metadata, and send it as null
    hidden = _PROTOCOL_FIELDS | {key for key in inner if payload.get(key) is None}
    own = {key: value for key, value in payload.items() if key not in hidden and key[:4] != _OF_A_ROLLOUT}
    fields = {**inner, **own}
    return {**fields, **truth_of(fields, "answer", "expected_answer", "ground_truth")}


read_nemo_gym = decode_nemo_gym_request
