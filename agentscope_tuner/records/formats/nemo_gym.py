"""NeMo-Gym: the requests of its `/verify` wire; the rows of its rollout files have the same form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentscope_tuner.errors import JudgeError
from agentscope_tuner.records.formats.columns import truth_of
from agentscope_tuner.records.formats.sample import Pair, as_rollout, message_text

_PROTOCOL_FIELDS = frozenset({"responses_create_params", "response", "verifier_metadata"})


def decode_request(payload: Mapping[str, Any]) -> Pair:
    """The rollout in a request: `{"responses_create_params": {"input": …}, "response": <OpenAI Response>, …}`.

    The dataset's own fields, beside those or under `verifier_metadata`, become `task.metadata`; where there is no
    `answer` among them, `expected_answer` or `ground_truth` is the ground truth.

    Raises:
        JudgeError: the request has another shape.
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
    """The text of the last item, when it is the assistant's message: an episode that ends in a call has no answer."""
    if not output or output[-1].get("type", "message") != "message":
        return ""
    return message_text(output[-1].get("content"))


def _metadata(payload: Mapping[str, Any]) -> dict[str, Any]:
    nested = payload.get("verifier_metadata")
    fields = {
        **(dict(nested) if isinstance(nested, Mapping) else {}),
        **{key: value for key, value in payload.items() if key not in _PROTOCOL_FIELDS},
    }
    return {**fields, **truth_of(fields, "answer", "expected_answer", "ground_truth")}


read = decode_request
