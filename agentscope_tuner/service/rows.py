"""The native wire format: the requests and replies of `/reward`."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agentscope_tuner.errors import Cause, DeadlineError
from agentscope_tuner.service.refusal import Refusal
from agentscope_tuner.service.settings import ServiceSettings
from agentscope_tuner.task_judge.judgement import Judgement
from agentscope_tuner.workflow import Identifier, Task, WorkflowOutput, WorkflowTask

Pair = tuple[WorkflowTask, WorkflowOutput]


class RewardRow(BaseModel):
    """One rollout to judge; each line of a rollout file is one."""

    # The `extra` of the task and the output may hold any fields; further fields of the row are not read
    model_config = ConfigDict(extra="ignore")

    task: Task
    output: WorkflowOutput
    id: Identifier | None = Field(default=None, description="comes back with the verdict")
    task_env_uuid: str = Field(default="", description="the environment instance the rollout ran in")


class RewardBatch(BaseModel):
    """Many rollouts. Neighbours with one task id are an advantage group, for judges that rank."""

    rollouts: list[RewardRow]
    pointwise: bool = Field(default=False, description="neighbours are no groups: a judge that ranks refuses them")


class RowJudgement(BaseModel):
    """A verdict, or the reason why there is none."""

    id: str | int | None = Field(default=None, description="the row's own; absent when it had none")
    status: Literal["judged", "filtered", "failed"]
    reward: float | None = Field(description="null exactly when failed, which is not a reward of 0")
    is_success: bool | None = Field(description="null exactly when failed")
    reason: str
    violations: list[str] = Field(description="ids of the rules broken")
    error: str | None = Field(description="what went wrong; null unless failed")
    cause: Cause | None = Field(description="what has to be mended, as a word to count by; null unless failed")
    metrics: dict[str, float]
    seconds: float
    late: bool = Field(
        default=False,
        description="failed only because the request's time was over, while other rows have verdicts: ask again",
    )


class RewardBatchReply(BaseModel):
    """One judgement for each rollout, in order; a row that could not be read has failed alone."""

    judgements: list[RowJudgement]


class BadRow(Exception):
    """A row that cannot be read, with the HTTP status it has when it comes alone."""

    def __init__(self, status: int, problem: str) -> None:
        super().__init__(problem)
        self.status = status
        self.problem = problem

    def judgement(self) -> Judgement:
        """The failed judgement of this row inside a batch."""
        return Judgement.failed(f"bad row: {self.problem}", cause=Cause.INPUT)


def read_row(data: Any, settings: ServiceSettings) -> Pair:
    """A row as a task and its output.

    Raises:
        BadRow: the row is no rollout, or its answer is too long.
    """
    try:
        row = RewardRow.model_validate(data)
    except ValidationError as exc:
        raise BadRow(422, first_problem(exc)) from exc
    check_answer(row.output, settings)
    return WorkflowTask(task=row.task, task_env_uuid=row.task_env_uuid), row.output


def check_answer(output: WorkflowOutput, settings: ServiceSettings) -> None:
    """Raises BadRow for a final answer longer than the limit."""
    answer = output.metadata.get("final_answer")
    if isinstance(answer, str) and len(answer) > settings.max_answer_chars:
        raise BadRow(413, f"the answer has {len(answer)} characters, more than {settings.max_answer_chars}")


def read_batch(data: dict[str, Any], settings: ServiceSettings) -> list[Any]:
    """The rows of a batch, each as it came.

    Raises:
        Refusal: the rows are no list, or more than allowed.
    """
    rows = data["rollouts"]
    if not isinstance(rows, list):
        raise Refusal(422, f"rollouts must be a list of rows, got {type(rows).__name__}")
    if len(rows) > settings.max_rows:
        raise Refusal(413, f"the batch has {len(rows)} rows, more than {settings.max_rows}: send several")
    return rows


def written(data: Any, judgement: Judgement) -> dict[str, Any]:
    """The verdict on the row `data`, with the row's id."""
    own = data.get("id") if isinstance(data, dict) else None
    return {"id": own, **judgement.to_dict()} if isinstance(own, str) or type(own) is int else judgement.to_dict()


def written_late(data: Any) -> dict[str, Any]:
    """The failed verdict on the row `data`, which was not judged in the request's time."""
    return {**written(data, Judgement.failed(DeadlineError("not judged within the request's time"))), "late": True}


def first_problem(exc: ValidationError) -> str:
    """The first problem that pydantic found, with its path."""
    first = exc.errors(include_url=False, include_input=False, include_context=False)[0]
    path = ".".join(str(part) for part in first["loc"])
    more = f" (and {exc.error_count() - 1} more)" if exc.error_count() > 1 else ""
    return f"{path}: {first['msg']}{more}" if path else f"{first['msg']}{more}"
