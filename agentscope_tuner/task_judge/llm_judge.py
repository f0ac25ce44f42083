"""LLMJudge: a judge model asked by a prompt that the configuration names."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Any

from agentscope_tuner import _loop
from agentscope_tuner.config import task_judge_section, validate_section
from agentscope_tuner.errors import Cause, ConfigError, GraderError, JudgeError
from agentscope_tuner.graders.base_grader import BaseGrader, evaluate
from agentscope_tuner.graders.client.chat_model import ChatModel
from agentscope_tuner.graders.client.endpoint import probe
from agentscope_tuner.graders.client.usage import Usage
from agentscope_tuner.graders.listwise import place_reward, rank_all
from agentscope_tuner.graders.llm_grader import LLMGrader
from agentscope_tuner.graders.prompt.judge_prompt import Trajectory
from agentscope_tuner.graders.schema import GraderMode, GraderScore, grader_error
from agentscope_tuner.task_judge.base_judge import BaseJudge, Reward
from agentscope_tuner.task_judge.llm_settings import WHERE, LLMJudgeConfig, build_grader
from agentscope_tuner.task_judge.protocol import resolve_protocol
from agentscope_tuner.task_judge.reads import USUAL_PATHS, check_path, read_path
from agentscope_tuner.workflow import WorkflowOutput, WorkflowTask


class LLMJudge(BaseJudge):
    """`judge_type: llm`; configured under `astuner.task_judge.llm`, see LLMJudgeConfig.

    Pointwise, the reward is the score, scaled to 0.0 to 1.0 unless `reward_scale: raw`; success is a scaled score of
    `success_threshold` or more. Listwise, an advantage group is ranked at once, as AutoGraderJudge ranks it.

    Raises:
        ConfigError: the section is wrong.
    """

    bounds_itself = True
    metric_names = ("score", *Usage.metric_names())

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        section = task_judge_section(config)
        self.settings = validate_section(LLMJudgeConfig, section.llm, WHERE)
        self.model = ChatModel(self.settings.settings(section.deadline))
        self.grader: BaseGrader = build_grader(self.settings, self.model, resolve_protocol)
        if not type(self.grader).aevaluate.__module__.startswith("agentscope_tuner."):
            # the deadline of our calls bounds no grader of a user's own
            self.bounds_itself = False
        self.range = self._range()
        self.paths = self._paths()
        _ = self.model.endpoint, self.model.settings.markers  # a missing key or file is found now
        if self.ranks_groups():
            self.metric_names = ("place", *Usage.metric_names())

    def ranks_groups(self) -> bool:
        """With a listwise grader."""
        return self.grader.mode is GraderMode.LISTWISE

    def _range(self) -> tuple[float, float]:
        if isinstance(self.grader, LLMGrader):
            return self.grader.min_score, self.grader.max_score
        if self.settings.scale is None:
            raise ConfigError(f"{WHERE}.scale is missing: the range of {self.settings.grader!r}, as {{min: 0, max: 1}}")
        return self.settings.scale.min, self.settings.scale.max

    def _paths(self) -> dict[str, str]:
        """From each variable that the grader is shown to where it is read."""
        paths, own = {**USUAL_PATHS, **self.settings.reads}, self.settings.reads
        for name, path in own.items():
            check_path(path, f"{WHERE}.reads.{name}")
        if not isinstance(self.grader, LLMGrader):
            return paths
        used = self.grader.template.variables(self.grader.language) - {"rubrics", "min_score", "max_score"}
        for name in own:
            if name not in used:
                nearest = difflib.get_close_matches(name, used, n=1)
                hint = f"did you mean {nearest[0]!r}? " if nearest else ""
                raise ConfigError(
                    f"{WHERE}.reads.{name}: {hint}the prompt uses {', '.join(sorted(used))}, not {name!r}"
                )
        for name in sorted(used - set(paths) - set(self.grader.optional)):
            raise ConfigError(f"{WHERE}.reads.{name} is missing: the prompt uses {{{name}}}, say where it is read")
        return {name: path for name, path in paths.items() if name in used}

    async def acompute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Reward:
        """See BaseJudge."""
        if self.ranks_groups():
            raise JudgeError("a listwise judge ranks an advantage group (compute_rewards)", cause=Cause.CONFIG)
        result = await evaluate(self.grader, **self._values(workflow_task, workflow_output))
        if result.error is not None or not isinstance(result, GraderScore):
            raise grader_error(f"{result.error}", result.cause)
        low, high = self.range
        if not low <= result.score <= high:
            raise GraderError(f"{self.grader.name} scored {result.score:g}, beyond its range {low:g} to {high:g}")
        share = (result.score - low) / (high - low)
        usage = result.metadata.get("usage", Usage())
        metrics = {"score": result.score, **usage.metrics(), **_disagreement(result)}
        reward = result.score if self.settings.reward_scale == "raw" else share
        success = share >= self.settings.success_threshold - 1e-9
        filtered = str(result.metadata.get("filtered_by", ""))
        return Reward(
            reward,
            success and not filtered,
            reason=" ".join(result.reason.split()),
            metrics=metrics,
            filtered_by=filtered,
        )

    def compute_rewards(
        self, workflow_task: WorkflowTask, workflow_outputs: Sequence[WorkflowOutput]
    ) -> Sequence[tuple[float, bool]]:
        """Rank an advantage group of two or more, where the grader is listwise."""
        if not self.ranks_groups():
            return super().compute_rewards(workflow_task, workflow_outputs)
        if len(workflow_outputs) < 2:
            raise JudgeError("a listwise judge ranks two or more outputs of a task, and got one", cause=Cause.INPUT)
        return _loop.run(self._rank(workflow_task, workflow_outputs))

    async def _rank(self, task: WorkflowTask, outputs: Sequence[WorkflowOutput]) -> list[Reward]:
        assert isinstance(self.grader, LLMGrader)
        shown = [self._values(task, output) for output in outputs]
        texts = [_one_text(values.pop("response")) for values in shown]
        ranking = await rank_all(self.grader, texts, self.settings.max_group_chars, shown[0])
        shared = {name: value / len(texts) for name, value in ranking.usage.metrics().items()}
        best, worst = min(ranking.places), max(ranking.places)
        return [
            Reward(
                place_reward(place, len(texts)),
                place == best < worst,
                reason=" ".join(f"place {place:g} of {len(texts)}: {ranking.reason}".split()),
                metrics={"place": place, **shared},
            )
            for place in ranking.places
        ]

    async def aready(self) -> None:
        """Asks the judge model's endpoint whether it answers."""
        await probe(self.model.endpoint)

    def _values(self, task: WorkflowTask, output: WorkflowOutput) -> dict[str, Any]:
        values = {name: read_path(path, task, output) for name, path in self.paths.items()}
        response = values.get("response")
        if not isinstance(response, str | Trajectory):
            raise JudgeError(
                f"{self.paths['response']} must be a text or chat messages, got {type(response).__name__}",
                cause=Cause.INPUT,
            )
        # references are often numbers
        return {
            name: str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value
            for name, value in values.items()
        }


def _one_text(response: str | Trajectory) -> str:
    return response if isinstance(response, str) else "\n\n".join(response)


def _disagreement(result: GraderScore) -> Mapping[str, float]:
    votes = result.metadata.get("votes")
    if not votes:
        return {}
    return {"judge_votes": float(len(votes)), "judge_disagreement": max(votes) - min(votes)}
