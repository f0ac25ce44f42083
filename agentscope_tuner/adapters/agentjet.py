"""AgentJet: a judge for its `task_judge.judge_protocol`, and its own judges under our rules and deadline.

    ajet:
      task_judge: {judge_protocol: agentscope_tuner.adapters.agentjet->AstunerJudge}
    astuner:
      task_judge: {judge_protocol: agentscope_tuner.task_judge.math_answer_as_judge->MathAnswerAsJudge}

`astuner migrate` writes both sections. A failed verdict raises: AgentJet plays the rollout again, `max_llm_retries`
times, and then ends the run.
"""

from __future__ import annotations

import copy
import importlib
from collections.abc import Mapping
from typing import Any

from omegaconf import DictConfig, OmegaConf
from pydantic import Field, PrivateAttr

from agentscope_tuner._run.forks import own_lock
from agentscope_tuner.config import SECTION, StrictSection, task_judge_section, validate_section
from agentscope_tuner.errors import ConfigError, JudgeError
from agentscope_tuner.records.formats.sample import message_text
from agentscope_tuner.task_judge.base_judge import BaseJudge
from agentscope_tuner.task_judge.batch import ConfiguredJudge
from agentscope_tuner.workflow import Task, WorkflowOutput, WorkflowTask

# The texts that AgentJet's readers write in place of a question if a row has none, or if an environment asks it
_NO_QUESTION = frozenset({"[not defined]", "Empty", ""})
_lock = own_lock()
_loaded: dict[str, ConfiguredJudge] = {}


class AstunerJudge:
    """The judge under `astuner.task_judge`, as AgentJet builds and asks it: once for every rollout.

    All objects of a process share one judge, so that rules are compiled and connections opened once.

    Args:
        config: AgentJet's whole configuration, with our section beside `ajet`.

    Raises:
        ConfigError: the judge cannot be loaded, or it ranks groups, and AgentJet asks about one rollout at a time.
    """

    def __init__(self, config: DictConfig) -> None:
        # The section's text is the key: AgentJet may read its file anew
        text = OmegaConf.to_yaml(config.get("astuner"))
        with _lock:
            self._judge = _loaded.get(text) or _loaded.setdefault(text, _pointwise(ConfiguredJudge(config)))

    def compute_reward(self, workflow_task: Any, workflow_output: Any) -> tuple[float, bool]:
        """`(raw_reward, is_success)` of a rollout.

        Args:
            workflow_task: AgentJet's task; its `episode_uuid` is our `task_env_uuid`.
            workflow_output: AgentJet's output.

        Raises:
            JudgeError: no verdict, unless `on_error: zero` was configured.
        """
        task, output = _AgentJetTask.of(workflow_task), _AgentJetOutput.of(workflow_output)
        judgement = self._judge.judge(task, output)
        return self._judge.reward_or_raise(judgement), bool(judgement.is_success)


def _pointwise(judge: ConfiguredJudge) -> ConfiguredJudge:
    if judge.listwise:
        raise ConfigError(
            f"{judge.name} ranks groups, and AgentJet asks about one rollout at a time: name another judge"
        )
    return judge


class _AgentJetTask(WorkflowTask):
    """AgentJet's task as ours, which keeps the original for AgentJet's own judges."""

    _original: Any = PrivateAttr(default=None)

    @classmethod
    def of(cls, original: Any) -> _AgentJetTask:
        inner = original.task
        task = cls(
            task=Task(
                main_query=_question(inner),
                init_messages=inner.init_messages,
                task_id=inner.task_id or original.task_id,
                env_type=inner.env_type or "no_env",
                metadata=inner.metadata,
            ),
            task_id=original.task_id,
            env_type=original.env_type,
            task_env_uuid=original.episode_uuid,
            gym_env=original.gym_env,
        )
        task._original = original
        return task


def _question(task: Any) -> str:
    """The question of AgentJet's task. If an environment asks it, it is in the messages with which the
    episode began.
    """
    if task.main_query.strip() not in _NO_QUESTION:
        return str(task.main_query)
    said = [message.get("content") for message in task.init_messages if message.get("role") == "user"]
    return message_text(said[-1]) if said else ""


class _AgentJetOutput(WorkflowOutput):
    """AgentJet's output as ours, which keeps the original, too."""

    _original: Any = PrivateAttr(default=None)

    @classmethod
    def of(cls, original: Any) -> _AgentJetOutput:
        # No copy: what the workflow logs is its own. The reward is unset, or AgentJet would not ask a judge
        output = cls(metadata=dict(original.metadata))
        output._original = original
        return output


class AgentJetJudgeConfig(StrictSection):
    """AgentJetJudge's `astuner.task_judge.judge_kwargs`."""

    protocol: str = Field(pattern=r"^[\w.]+->\w+$", description="AgentJet's judge, as `module->Class`")
    #: what the class reads from `config.astuner.task_judge`, where AgentJet's own section has that name
    settings: dict[str, Any] = Field(default_factory=dict)


class AgentJetJudge(BaseJudge):
    """A judge written for AgentJet, asked under our rules and deadline; its reward is checked as every reward is.

    Raises:
        ConfigError: `judge_kwargs.protocol` is missing, or names no class with `compute_reward`; or `reads` names a
            column, which AgentJet's own task would not show.
    """

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        section = task_judge_section(config)
        mine = validate_section(AgentJetJudgeConfig, section.judge_kwargs, f"{SECTION}.judge_kwargs")
        protocol = mine.protocol
        if named := sorted(section.reads.keys() - {"question", "response"}):
            raise ConfigError(
                f"{SECTION}.reads.{named[0]}: {protocol} is asked about AgentJet's own task, whose metadata stay as "
                "they are: let AgentJet's reader put the column there, or name a judge of astuner's"
            )
        if mine.settings:
            config = copy.deepcopy(config)
            OmegaConf.set_readonly(config, False)
            OmegaConf.update(config, SECTION, mine.settings, merge=True, force_add=True)
        self._judge = _built(protocol, config)

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> tuple[float, bool]:
        """The reward and the success that AgentJet's judge gives. It is asked with AgentJet's own objects if AgentJet
        asks, else with ours.

        Raises:
            JudgeError: the answer is no pair of a reward and a success.
        """
        answer = self._judge.compute_reward(
            getattr(workflow_task, "_original", None) or workflow_task,
            getattr(workflow_output, "_original", None) or workflow_output,
        )
        if not isinstance(answer, tuple | list) or len(answer) != 2:
            raise JudgeError(f"{type(self._judge).__name__} must return (raw_reward, is_success), got {answer!r:.200}")
        return answer[0], answer[1]


def _built(protocol: str, config: Mapping[str, Any]) -> Any:
    module, _, name = protocol.partition("->")
    where = f"{SECTION}.judge_kwargs.protocol"
    try:
        judge_class = getattr(importlib.import_module(module), name)
    # boundary: importing foreign code may raise anything
    except Exception as exc:
        raise ConfigError(f"{where}: {protocol!r} cannot be imported here: {type(exc).__name__}: {exc}") from exc
    if not callable(getattr(judge_class, "compute_reward", None)):
        raise ConfigError(f"{where}: {protocol!r} has no compute_reward(workflow_task, workflow_output)")
    try:
        return judge_class(config)
    # boundary: so may its constructor
    except Exception as exc:
        raise ConfigError(f"{where}: {protocol!r} could not be constructed: {type(exc).__name__}: {exc}") from exc
