"""OpenRLHF: the samples of its wire, and rows of its data sets with a response."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentscope_tuner.errors import JudgeError
from agentscope_tuner.records.formats.columns import first, text_of, truth_of
from agentscope_tuner.records.formats.sample import Pair, as_rollout, ground_truth_metadata, without_end_markers

# A shorter overlap may be chance, and then a part of the prompt would be judged as the policy's answer
_SURE_CHARS = 32


def read(row: Mapping[str, Any]) -> Pair:
    """A sample of the wire, or `{"prompt" or "input": …, "response" or "output": …, "label" or "answer": …}`.

    Raises:
        JudgeError: the row has neither form.
    """
    if isinstance(row.get("query"), list) and "labels" in row:
        return decode_request(row)
    prompt_key, prompt = first(row, "prompt", "input", "question")
    answer_key, answer = first(row, "response", "output", "completion")
    rest = {key: value for key, value in row.items() if key not in (prompt_key, answer_key, "label")}
    truth = truth_of(row, "label", "answer")
    return as_rollout(prompt, without_end_markers(text_of(answer, answer_key)), {**rest, **truth})


def decode_request(payload: Mapping[str, Any]) -> Pair:
    """The sample in OpenRLHF's `{"query": [prompt + response], "prompts": [...], "labels": [...]}`.

    The label is the ground truth: `task.metadata["answer"]`, and the fields of a record (a JSON object) beside it.

    Raises:
        JudgeError: the lists do not hold exactly one sample, as OpenRLHF sends it; or the query does not begin with its
            prompt, so that the policy's part cannot be told.
    """
    columns = [payload.get(key) for key in ("query", "prompts", "labels")]
    if not all(isinstance(column, list | tuple) and len(column) == 1 for column in columns):
        shown = {key: _shape(payload.get(key)) for key in ("query", "prompts", "labels")}
        raise JudgeError(f"OpenRLHF sends lists of one query, one prompt and one label, got {shown!r}")
    (query,), (prompt,), (label,) = columns  # type: ignore[misc]
    if not isinstance(query, str) or not isinstance(prompt, str):
        raise JudgeError(f"query and prompt must be str, got {type(query).__name__} and {type(prompt).__name__}")
    return as_rollout(prompt, response_of(query, prompt), ground_truth_metadata(label))


def response_of(query: str, prompt: str) -> str:
    """The policy's response: `query` without `prompt` before it and without end-of-turn markers after it.

    OpenRLHF cuts long prompts from the left, so the query may begin anywhere within the prompt.

    Raises:
        JudgeError: the query begins with no end part of the prompt.
    """
    kept = len(prompt) if query.startswith(prompt) else _overlap(prompt, query)
    if kept < min(len(prompt), _SURE_CHARS):
        raise JudgeError(
            f"the query {query!r:.100} does not begin with its prompt {prompt!r:.100}: the tokenizer does not give "
            "back the text it was given, and where the response begins is unknown"
        )
    return without_end_markers(query[kept:])


def _overlap(prompt: str, query: str) -> int:
    """The length of the longest suffix of `prompt` with which `query` begins, in linear time (Knuth, Morris, Pratt)."""
    pattern = query[: len(prompt)]
    fallback = [0] * len(pattern)
    matched = 0
    for index in range(1, len(pattern)):
        while matched and pattern[index] != pattern[matched]:
            matched = fallback[matched - 1]
        matched += pattern[index] == pattern[matched]
        fallback[index] = matched
    matched = 0
    for character in prompt:
        while matched and (matched == len(pattern) or character != pattern[matched]):
            matched = fallback[matched - 1]
        matched += bool(pattern) and character == pattern[matched]
    return matched


def _shape(column: object) -> str:
    return f"{len(column)} values" if isinstance(column, list | tuple) else type(column).__name__
