"""The service's OpenAPI description: requests and replies by wire format, and how requests are refused.

Handlers parse the bytes themselves, so that a malformed row can fail alone and a cheap row is not validated twice.
These models describe the same formats for OpenAPI.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from fastapi import Header, HTTPException
from pydantic import BaseModel, ConfigDict, Field

from agentscope_tuner.service.handler import DEADLINE_HEADER
from agentscope_tuner.service.rows import RewardBatch, RewardBatchReply, RewardRow, RowJudgement


class RefusalBody(BaseModel):
    """Why a request was refused."""

    detail: str


class Readiness(BaseModel):
    """Whether the service is ready for requests."""

    status: Literal["ready", "not ready", "draining"]
    judges: dict[str, str | None] = Field(description="by judge: why it is not ready; null when it is")


class OpenRLHFRequest(BaseModel):
    """One sample, as OpenRLHF sends it: lists of one."""

    query: list[str] = Field(min_length=1, max_length=1, description="prompt and response as one text")
    prompts: list[str] = Field(min_length=1, max_length=1, description="what `query` begins with")
    labels: list[Any] = Field(min_length=1, max_length=1, description="the ground truth")


class OpenRLHFReply(BaseModel):
    """Scalars. A sample without a verdict is an HTTP error, never a reward of 0."""

    rewards: float
    scores: float
    extra_logs: dict[str, float]


class SlimeRequest(BaseModel):
    """One sample, as slime and miles send it."""

    prompt: str | list[dict[str, Any]] = Field(description="what was asked, a text or chat messages")
    response: str
    label: Any = Field(description="the ground truth")


class NeMoGymParams(BaseModel):
    """`responses_create_params`, as far as it is read."""

    model_config = ConfigDict(extra="allow")

    input: str | list[dict[str, Any]]


class NeMoGymResponse(BaseModel):
    """An OpenAI Response, as far as it is read."""

    model_config = ConfigDict(extra="allow")

    output: list[dict[str, Any]] = Field(description="its last item, when it is a message, is the answer")


class NeMoGymRequest(BaseModel):
    """A rollout, together with the data set's own fields."""

    model_config = ConfigDict(extra="allow")

    responses_create_params: NeMoGymParams
    response: NeMoGymResponse


class NeMoGymReply(NeMoGymRequest):
    """The request's fields, and its verdict."""

    reward: float = Field(description="0.0 and masked where there is no verdict")
    mask_sample: bool
    failure_kind: str | None
    failure_reason: str | None
    is_success: float
    filtered: float
    judge_seconds: float


@dataclass(frozen=True, slots=True)
class Shape:
    """The request and the reply of a wire format."""

    summary: str
    request: Any
    reply: Any

    def signature(self) -> inspect.Signature:
        """The parameters that FastAPI is to describe."""
        body = inspect.Parameter("body", inspect.Parameter.KEYWORD_ONLY, annotation=self.request)
        deadline = inspect.Parameter(
            "deadline",
            inspect.Parameter.KEYWORD_ONLY,
            default=None,
            annotation=Annotated[
                float | None,
                Header(
                    alias=DEADLINE_HEADER, gt=0, description="seconds to judge within; the service's limit is the most"
                ),
            ],
        )
        return inspect.Signature([body, deadline])


SHAPES: Mapping[str, Shape] = {
    "native": Shape("Judge one rollout or many", RewardRow | RewardBatch, RowJudgement | RewardBatchReply),
    "openrlhf": Shape("Judge one sample in OpenRLHF's wire", OpenRLHFRequest, OpenRLHFReply),
    "nemo_gym": Shape("Judge one rollout in NeMo-Gym's wire", NeMoGymRequest, NeMoGymReply),
    "slime": Shape("Judge one sample in slime's wire; the answer is the reward itself", SlimeRequest, float),
}

_REFUSALS = {
    400: "no JSON, or numbers or nesting beyond bounds",
    401: "the bearer token is missing or wrong",
    408: "the body did not arrive in time",
    413: "the body, the batch or the answer is too long",
    415: "the body is not JSON",
    422: "not of this wire's shape",
    429: "as many requests wait as may; see Retry-After",
    503: "shutting down, or, in OpenRLHF's and slime's wires, no verdict; see Retry-After",
    504: "not judged within the deadline",
}
#: The refusals of every judging route, for FastAPI.
PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"model": RefusalBody, "description": why} for status, why in _REFUSALS.items()
}


class Documented:
    """A judging route for FastAPI's description; `Direct` answers its requests.

    Args:
        shape: the route's requests and replies.
    """

    def __init__(self, shape: Shape) -> None:
        self.__signature__ = shape.signature()
        self.__name__ = shape.summary

    async def __call__(self, **described: Any) -> None:
        # Called only for a path with a line break at its end, which the router's patterns accept
        raise HTTPException(404)
