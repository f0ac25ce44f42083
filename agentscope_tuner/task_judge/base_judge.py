"""The base classes of judges, and the reward that a judge returns."""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, NoReturn, TypeVar

from agentscope_tuner._run import loops
from agentscope_tuner.config import SECTION, StrictSection, task_judge_section, validate_section
from agentscope_tuner.errors import JudgeError, input_error
from agentscope_tuner.workflow import Task, WorkflowOutput, WorkflowTask

if TYPE_CHECKING:
    from agentscope_tuner.graders.cost import Estimate, Reckoner


#: Numbers by name, which add up over processes.
Counts = Mapping[str, Sequence[int]]

_VERDICTS = {"compute_reward", "acompute_reward", "compute_rewards"}


_PAIR = "it is a pair, `reward, is_success = …`"


def _among_rewards(name: str) -> Callable[[Reward, Any], bool]:
    """The comparison `name` of tuples, such as `__lt__`, between rewards.

    Compared with a number, it raises an error that says how to take the number out of the pair.
    """

    def compare(reward: Reward, other: Any) -> bool:
        if isinstance(other, int | float):
            reward._no_number()
        return bool(getattr(tuple, name)(reward, other))

    return compare


class Reward(tuple[float, bool]):
    """`(raw_reward, is_success)`, as the trainer takes it, with its explanation.

    Attributes:
        reason: why, in one line of words.
        metrics: numbers about how the verdict was reached (calls, tokens, seconds …), for logs.
        filtered_by: the name of the judge's own cheap check, if such a check decided the verdict like a rule; else
            empty.
        violations: ids of rules that the judge itself found broken, such as those of a judge behind a service.
        calls: the questions to judge models and their replies, where these are kept; filled in by TaskJudge.
        turns: what each turn of the policy earned, in order; None for a turn that was not judged. They add up to the
            reward. Empty where the whole rollout has one reward.
    """

    reason: str
    metrics: Mapping[str, float]
    filtered_by: str = ""
    violations: tuple[str, ...] = ()
    turns: Sequence[float | None] = ()
    calls: Sequence[Mapping[str, Any]] = ()

    def __new__(
        cls,
        raw_reward: float,
        is_success: bool,
        *,
        reason: str = "",
        metrics: Mapping[str, float] | None = None,
        filtered_by: str = "",
        violations: tuple[str, ...] = (),
        turns: Sequence[float | None] = (),
    ) -> Reward:
        reward = super().__new__(cls, (raw_reward, is_success))
        reward.reason = reason
        reward.metrics = {} if metrics is None else metrics
        # Most rewards have none of these
        if filtered_by is not Reward.filtered_by:
            reward.filtered_by = filtered_by
        if violations is not Reward.violations:
            reward.violations = violations
        if turns is not Reward.turns:
            # numpy's arrays are neither true nor false
            reward.turns = turns.tolist() if hasattr(turns, "tolist") else turns
        return reward

    def __getattr__(self, name: str) -> NoReturn:
        # Asked only about names that a reward lacks
        raise AttributeError(
            f"a Reward has no {name!r}: {_PAIR}, with .reason, .metrics, .filtered_by, .violations, .turns and .calls"
        )

    def _no_number(self, *_: object) -> NoReturn:
        raise TypeError(f"a Reward is no number: {_PAIR}")

    __float__ = __int__ = __round__ = __abs__ = __sub__ = __rsub__ = __truediv__ = __radd__ = _no_number

    __lt__, __le__, __gt__, __ge__ = map(_among_rewards, ("__lt__", "__le__", "__gt__", "__ge__"))

    def __reduce__(self) -> tuple[Any, ...]:
        # The inherited `tuple.__reduce_ex__` would call `__new__` with the pair as one argument
        explained = {"reason": self.reason, "metrics": dict(self.metrics), "violations": self.violations}
        again: Callable[..., Reward] = partial(Reward, self[0], self[1], filtered_by=self.filtered_by)
        return partial(again, turns=tuple(self.turns), **explained), ()


class BaseJudge:
    """The base of every judge. Your own judge overrides `compute_reward`, or `acompute_reward` when it awaits
    something.

    `config` is the whole training configuration; a judge's own settings go under `astuner.task_judge.judge_kwargs`.
    Store it, and change nothing in it. One judge serves many rollouts, from several threads at once.

    Attributes:
        judge_kind: where many rows at once are judged. `"io"`, a judge that waits: one judge, in the caller's process,
            whose event loop runs `acompute_reward` where it is overridden, and threads `compute_reward` where it is
            not. `"cpu"`, a judge that computes: one judge in each of several processes, which share no memory and may
            be restarted, so that such a judge must keep nothing from one row to the next. A class that defines a
            verdict and does not say its kind is "io": it may hold what must not exist twice.
        bounds_itself: whether every verdict ends within a bound of the judge's own (a deadline, or an amount of work),
            whatever the policy wrote. A class that defines a verdict and does not say so is taken not to; one
            that hands verdicts on to foreign code sets it False for itself.
        reference_keys: the keys of `task.metadata` that together are the reference: two tasks of one id must have the
            same. By default `answer`; a class whose tasks have no reference names none.
        takes_kwargs: whether `judge_kwargs` may hold settings. It holds for its own class alone, because a subclass may
            read settings.
        reads_own_reward: whether the judge passes on the reward that the workflow set on its output.
        metric_names: the names in its rewards' `metrics`, for verl and OpenRLHF, which need the same metrics for every
            sample; `astuner.task_judge.metric_names` names others.
        component_names: the parts that its reward is made of, each with its own reward under `part/<name>` in the
            metrics of a verdict.
        gives_turns: whether its rewards have `turns`, which a trainer that takes one float for a rollout refuses.
        top_reward: its highest reward, where it is known: see `combined.settings`.
        asks: the judges that it asks, each a `TaskJudge`, by name; see `combined.settings`.
    """

    judge_kind: ClassVar[Literal["cpu", "io"]] = "io"
    bounds_itself: bool = False
    reference_keys: tuple[str, ...] = ("answer",)
    takes_kwargs: ClassVar[bool] = True
    reads_own_reward: bool = False
    metric_names: tuple[str, ...] = ()
    component_names: tuple[str, ...] = ()
    gives_turns: bool = False
    top_reward: float | None = None
    asks: Mapping[str, Any] = MappingProxyType({})

    def __init_subclass__(cls, **keywords: Any) -> None:
        """Keeps the sync and the async form of a verdict together.

        A subclass that overrides only `compute_reward` must not inherit its parent's `acompute_reward`: trainers that
        await would get the parent's verdicts. An overridden `acompute_reward` may call the inherited `compute_reward`.
        """
        super().__init_subclass__(**keywords)
        if "compute_reward" in cls.__dict__ and "acompute_reward" not in cls.__dict__:
            cls.acompute_reward = BaseJudge.acompute_reward  # type: ignore[method-assign]
        if "compute_rewards" in cls.__dict__ and "ranks_groups" not in cls.__dict__:
            cls.ranks_groups = BaseJudge.ranks_groups  # type: ignore[method-assign]
        if not _VERDICTS.isdisjoint(cls.__dict__):
            # The parent's values describe the parent's verdicts, not the subclass's
            if "judge_kind" not in cls.__dict__:
                cls.judge_kind = "io"
            if "bounds_itself" not in cls.__dict__:
                cls.bounds_itself = False

    def __init__(self, config: Any) -> None:
        self.config = config

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> tuple[float, bool]:
        """Judge one rollout.

        Returns:
            `(raw_reward, is_success)`: a finite float, usually within 0.0 to 1.0, and whether the task was solved.
            A `Reward` is such a tuple and also carries the reason.

        Raises:
            JudgeError: no verdict could be reached. 0.0 is a verdict on the answer and must not stand for this.
        """
        if type(self).acompute_reward is BaseJudge.acompute_reward:
            raise NotImplementedError(
                f"{type(self).__name__} must define compute_reward(workflow_task, workflow_output)"
            )
        return loops.run(self.acompute_reward(workflow_task, workflow_output))

    async def acompute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> tuple[float, bool]:
        """`compute_reward` for callers inside an event loop; unless overridden, it runs in a thread."""
        return await loops.in_thread(self.compute_reward, workflow_task, workflow_output)

    def compute_rewards(
        self, workflow_task: WorkflowTask, workflow_outputs: Sequence[WorkflowOutput]
    ) -> Sequence[tuple[float, bool]]:
        """Judge an advantage group: outputs of one task, one verdict each, in order. Listwise judges rank here.

        A single output without a verdict may have a JudgeError in its place; a raised error fails the whole group.
        """
        return [self.compute_reward(workflow_task, output) for output in workflow_outputs]

    def ranks_groups(self) -> bool:
        """Whether `compute_rewards` must see a whole advantage group; by default whether the class overrides it.

        A judge that ranks only with some configurations overrides this, too.
        """
        return type(self).compute_rewards is not BaseJudge.compute_rewards

    def ranks_alone(self, workflow_task: WorkflowTask) -> bool:
        """Whether one output to this task can be ranked without its group, because the task brings other answers.

        Asked only if `ranks_groups` is True. If this is False, a single rollout, or a group of one, is refused.
        """
        return False

    def check_group(self, tasks: Sequence[Task]) -> str | None:
        """Why rollouts of `tasks`, which share an id, must not be judged as one advantage group; None if they may.

        Asked only if `ranks_groups` is True, before `compute_rewards`, which is given the first task for all of them.
        """
        return None

    def check_task(self, task: Task, output: WorkflowOutput | None = None) -> str | None:
        """Why outputs to `task` could not be judged, found without judging any; None when nothing speaks against it.

        `astuner check --input` asks it of every row, to find broken data before a run costs GPU hours. The words before
        the first colon name the kind of problem, such as `missing` or `unreadable`, and are counted together.

        Args:
            task: a task as the data set gives it.
            output: the output of the row, where the rows are rollouts.
        """
        return None

    def row_notes(self, task: Task, output: WorkflowOutput | None = None) -> list[str]:
        """Notes for a person, before a run, about how this judge reads a row.

        Their words are the same for every such row, because `astuner check --input` counts them.
        """
        return []

    def same_reference(self, first: Mapping[str, Any], second: Mapping[str, Any]) -> bool:
        """Whether two tasks have the same reference; override it if equality is too strict.

        Args:
            first: the values of `reference_keys` in the first task's metadata.
            second: those in the second task's.
        """
        return first == second

    def estimate(self, task: WorkflowTask, outputs: Sequence[WorkflowOutput], reckoner: Reckoner) -> Estimate:
        """What judging these outputs of one task would use of judge models, found without asking any. By default
        nothing, which is not `complete` for a judge that may wait for others.

        A judge that asks this package's judge models gives their questions to `reckoner.reckon`. A judge that asks
        other judges adds up their estimates, with `Estimate.perhaps` for judges that are asked only under a condition.

        Raises:
            JudgeError: there would be no verdict.
        """
        from agentscope_tuner.graders.cost import Estimate

        return Estimate(complete=self.judge_kind == "cpu")

    def run_notes(self) -> list[str]:
        """Notes for a person after a run, one line each: patterns that no single verdict shows."""
        return self.notes_on(self.take_counts())

    def take_counts(self) -> Counts:
        """The counts for `notes_on` since the last call; the counts of several processes are added up."""
        return {}

    def notes_on(self, counts: Counts) -> list[str]:
        """The notes of a run, from the sum of its processes' counts."""
        return []

    async def aready(self) -> None:
        """Returns if this judge could judge now; a judge that depends on an endpoint checks that the endpoint answers.

        It must return soon, cost nothing, and change nothing: a service's readiness check awaits it every few seconds.

        Raises:
            JudgeError: the judge could not judge now; the message says why.
        """


def shown(value: object) -> str:
    """The beginning of a value's `repr`, for messages."""
    try:
        return reprlib.repr(value)
    except ValueError:  # an int of more digits than Python prints
        return f"a {type(value).__name__} too long to print"


def final_answer(workflow_output: WorkflowOutput, key: str = "final_answer") -> str:
    """The agent's answer, `workflow_output.metadata["final_answer"]`, or what stands there under another `key`.

    Raises:
        JudgeError: it is absent or not a str. An agent that gave no answer has `""`, which is judged.
    """
    metadata = workflow_output.metadata
    if key not in metadata:
        extra = list(workflow_output.model_extra or {})[:4]
        beside = f", and beside metadata the output has {extra!r}" if extra else ""
        raise input_error(
            f"workflow_output.metadata has no {key!r}, only {sorted(metadata)!r}{beside}: the workflow sets it, "
            f"as WorkflowOutput(metadata={{{key!r}: …}})"
        )
    answer = metadata[key]
    if not isinstance(answer, str):
        raise input_error(f"{key} must be a str ('' when the agent gave none), got {type(answer).__name__}")
    return answer


#: Where these judges' settings stand.
KWARGS = f"{SECTION}.judge_kwargs"

SettingsT = TypeVar("SettingsT", bound=StrictSection)


class TextJudge(BaseJudge, Generic[SettingsT]):
    """A judge that computes, calls no service, and ends within a bound whatever the policy wrote.

    A subclass names the model of its `judge_kwargs` as `settings_class`, which is read into `settings` and checked
    once, and defines `verdict`; both forms of the trainer's call come from it.

    Raises:
        ConfigError: `judge_kwargs` has an unknown key or an impossible value; names the key, the value and what is
            allowed.
    """

    judge_kind = "cpu"
    bounds_itself = True
    settings_class: type[SettingsT]

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self.settings = validate_section(self.settings_class, task_judge_section(config).judge_kwargs, KWARGS)

    def verdict(self, task: WorkflowTask, output: WorkflowOutput) -> Reward:
        """The verdict on one rollout; raises as `BaseJudge.compute_reward` does."""
        raise NotImplementedError(f"{type(self).__name__} must define verdict(task, output)")

    def reference(self, task: Task) -> object:
        """The task's reference, in the form that `verdict` compares an output with; None by default.

        Raises:
            JudgeError: the reference is missing or cannot be read.
        """
        return None

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Reward:
        return self.verdict(workflow_task, workflow_output)

    async def acompute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Reward:
        # A verdict is bounded, so it needs no thread
        return self.verdict(workflow_task, workflow_output)

    def check_task(self, task: Task, output: WorkflowOutput | None = None) -> str | None:
        """See BaseJudge: why `reference` cannot be read."""
        try:
            self.reference(task)
        except JudgeError as error:
            return f"{self.reference_problem(task, error)}: {error.message}"
        return None

    def reference_problem(self, task: Task, error: JudgeError) -> str:
        """The kind of problem with a reference: `missing`, or `unreadable`."""
        return "missing" if task.metadata.get("answer") is None else "unreadable"


def without_numpy(value: object) -> Any:
    """`value` without numpy's arrays and scalars, as Parquet columns hold them: judges cannot compare them by `==`."""
    if type(value).__module__ == "numpy":
        return without_numpy(value.tolist())  # type: ignore[attr-defined]
    if isinstance(value, Mapping):
        return {str(key): without_numpy(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [without_numpy(inner) for inner in value]
    return value


def as_list(value: object) -> list[Any] | None:
    """`value` as a list, if it is a list, a tuple or numpy's array, as Parquet columns hold lists; else None."""
    if isinstance(value, list | tuple):
        return list(value)
    plain = value.tolist() if hasattr(value, "tolist") else None
    return plain if isinstance(plain, list) else None
