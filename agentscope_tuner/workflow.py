"""The types that a trainer, a workflow and a judge exchange: tasks, outputs, rollouts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NoReturn, Protocol, Self, runtime_checkable

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from agentscope_tuner.bounds import bounded

if TYPE_CHECKING:
    from agentscope_tuner.model_tuner import ModelTuner


def _as_text(value: object) -> object:
    # No bool, although it is an int, and no float, which may be NaN
    return str(value) if type(value) is int else value


#: A name; data sets also number their rows, and a number becomes its digits.
Identifier = Annotated[str, BeforeValidator(_as_text)]


_NO_MAPPINGS = frozenset({type(None), str, bytes, int, float, bool, list, tuple, set})


class Boundary(BaseModel):
    """The base of what crosses between trainer, workflow and judge."""

    # Trainers add fields of their own to tasks and outputs: keep them
    model_config = ConfigDict(extra="allow", arbitrary_types_allowed=True)
    #: The fields of an example object, for messages.
    example: ClassVar[Mapping[str, Any]] = {}

    #: The names of the fields in `example` that are mappings.
    mappings: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        cls.mappings = tuple(name for name, value in cls.example.items() if isinstance(value, dict))

    def __new__(cls, *given: object, **fields: Any) -> Self:
        """Refuses values without a name and those that are no mappings, of which pydantic shows no form to write."""
        # one is made for every row
        for name in cls.mappings:
            if type(fields.get(name, cls)) in _NO_MAPPINGS:
                told = f"a {cls.__name__}'s {name} is a dict, got {fields[name]!r:.80}"
                raise TypeError(f"{told}: write {cls.__name__}({name}={cls.example[name]!r})")
        if given:
            written = ", ".join(f"{name}={value!r}" for name, value in cls.example.items())
            raise TypeError(f"a {cls.__name__} takes its fields by their names: write {cls.__name__}({written})")
        return super().__new__(cls)

    def __getitem__(self, key: object) -> NoReturn:
        raise TypeError(f"a {type(self).__name__} has no [{key!r}]: {self.fields_told()}")

    def fields_told(self) -> str:
        """The fields that can be read, and the keys of `metadata`, in words for whoever looked for others."""
        fields = ", ".join(f".{name}" for name in [*type(self).model_fields, *(self.model_extra or {})])
        metadata = getattr(self, "metadata", None)
        keys = f", and .metadata the keys {sorted(map(str, metadata))!r:.300}" if isinstance(metadata, dict) else ""
        return f"a {type(self).__name__} has {fields}{keys}"


class Task(Boundary):
    """One training task, as a data set gives it."""

    example = MappingProxyType({"main_query": "1+1?", "metadata": {"answer": "2"}})

    main_query: str = Field(default="", description="the question put to the agent")
    init_messages: list[dict[str, Any]] = Field(default_factory=list, description="chat messages that open the episode")
    task_id: Identifier = Field(default="", description="names the task in errors, logs and advantage groups")
    env_type: str = Field(default="no_env", description="the environment service's kind of environment")
    metadata: dict[str, Any] = Field(default_factory=dict, description='`metadata["answer"]` is the ground truth')


class WorkflowTask(Boundary):
    """A task on its way through one rollout."""

    example = MappingProxyType({"task": dict(Task.example)})

    task: Task
    task_id: Identifier = Field(default="", description="the task's own id when left empty")
    env_type: str = Field(default="", description="the task's own kind of environment when left empty")
    task_env_uuid: str = Field(default="", description="the environment instance this rollout runs in")
    gym_env: Any = Field(default=None, exclude=True, description="a handle with `evaluate`, for EnvServiceJudge")

    def model_post_init(self, context: Any, /) -> None:
        # An assignment takes longer than the comparison before it, and this runs for every row
        if not self.task_id:
            self.task_id = self.task.task_id
        if not self.env_type:
            self.env_type = self.task.env_type


@runtime_checkable
class _Reply(Protocol):
    """A `Msg` of agentscope, 1.x or 2.0, which need not be installed."""

    def get_text_content(self, separator: str = ...) -> str | None: ...


class WorkflowOutput(Boundary):
    """The output of a workflow, for the judge.

    `metadata["final_answer"]` may be the agent's reply as it stands, an agentscope `Msg`: its text becomes the answer,
    and `metadata["finished_reason"]` says how the reply ended, unless the workflow has set it: `completed`,
    `exceed_max_iters`, `interrupted`, `error`, or `awaiting_tool_calls` when the agent stopped to ask for a permission,
    or for a tool that is executed elsewhere.

    What a policy nested too deeply, or counted with too many digits, stands in the metadata as text: see `bounds`.
    """

    example = MappingProxyType({"metadata": {"final_answer": "2"}})

    reward: float | None = Field(default=None, description="left None: the judge fills it in")
    is_success: bool | None = Field(default=None, description="left None: the judge fills it in")
    metadata: dict[str, Any] = Field(default_factory=dict, description='`metadata["final_answer"]` is the answer')

    def model_post_init(self, context: Any, /) -> None:
        for held in (self.metadata, self.__pydantic_extra__ or {}):
            for key, value in held.items():
                if not isinstance(value, str) and (kept := bounded(value)) is not value:
                    held[key] = kept
        reply = self.metadata.get("final_answer")
        if isinstance(reply, str) or not isinstance(reply, _Reply):
            return
        self.metadata["final_answer"] = reply.get_text_content("") or ""
        # agentscope 1.x has no such field; 2.0 leaves it None in a reply that has not ended
        if hasattr(reply, "finished_reason"):
            reason = reply.finished_reason
            self.metadata.setdefault("finished_reason", "awaiting_tool_calls" if reason is None else str(reason))


class Rollout(Boundary):
    """One row of a rollout file: a task and what an agent made of it."""

    example = MappingProxyType({"id": "1", "task": dict(Task.example), "output": dict(WorkflowOutput.example)})

    id: Identifier
    task: Task
    output: WorkflowOutput
    label: dict[str, Any] | None = None


def first_problem(exc: ValidationError) -> str:
    """The first problem that pydantic found, with its path."""
    first = exc.errors(include_url=False, include_input=False, include_context=False)[0]
    path = ".".join(str(part) for part in first["loc"])
    more = f" (and {exc.error_count() - 1} more)" if exc.error_count() > 1 else ""
    shape = _SHAPES.get(first["msg"].rpartition(" ")[2]) if first["type"] == "model_type" else None
    told = f"write an object such as {shape}" if shape else first["msg"]
    return f"{path}: {told}{more}" if path else f"{told}{more}"


_SHAPES = {kind.__name__: json.dumps(dict(kind.example)) for kind in (Task, WorkflowTask, WorkflowOutput, Rollout)}


class Workflow:
    """The base of agent workflows, which produce rollouts."""

    async def execute(self, task: WorkflowTask, model_tuner: ModelTuner) -> WorkflowOutput:
        """Run the agent on `task` with the trainer's model; leave `reward` None for the judge to fill in."""
        raise NotImplementedError(f"{type(self).__name__} must define `async def execute(self, task, model_tuner)`")
