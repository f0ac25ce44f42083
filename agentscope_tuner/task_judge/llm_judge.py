"""LLMJudge: asks a judge model with a prompt that the configuration names."""

from __future__ import annotations

from collections.abc import Coroutine, Mapping, Sequence
from typing import Any

from agentscope_tuner._run import loops
from agentscope_tuner.config import task_judge_section, validate_section
from agentscope_tuner.errors import ConfigError, JudgeError, config_fault, did_you_mean, input_error
from agentscope_tuner.graders.base_grader import BaseGrader, is_missing
from agentscope_tuner.graders.client.usage import Usage, metered
from agentscope_tuner.graders.cost import Estimate, Question, Reckoner, questions_of
from agentscope_tuner.graders.listwise import group_prompts, place_reward, shown_order, tournament_prompts
from agentscope_tuner.graders.llm_grader import NO_CONTENT, LLMGrader
from agentscope_tuner.graders.prompt import Trajectory, is_empty
from agentscope_tuner.graders.schema import GraderMode
from agentscope_tuner.task_judge.base_judge import Reward
from agentscope_tuner.task_judge.contract.loading import resolve_protocol
from agentscope_tuner.task_judge.llm.jury import LLMPanel, PanelRanking
from agentscope_tuner.task_judge.llm.probes import ModelJudge, Probes
from agentscope_tuner.task_judge.llm.rollout_fields import USUAL_PATHS, Reader, check_path, read_path
from agentscope_tuner.task_judge.llm.settings import (
    READY_PATHS,
    WHERE,
    LLMJudgeConfig,
    Panels,
    build_grader,
    build_panels,
)
from agentscope_tuner.workflow import Task, WorkflowOutput, WorkflowTask


class LLMJudge(ModelJudge):
    """`judge_type: llm`; configured under `astuner.task_judge.llm`, see LLMJudgeConfig.

    Pointwise, the reward is the score, scaled to 0.0 to 1.0 unless `reward_scale: raw`; success is a scaled score of
    `success_threshold` or more. Listwise, an advantage group is ranked at once, as AutoGraderJudge ranks it.
    With `models` a jury is asked; with `escalate` other models, too, where its condition holds for the first verdict.
    Their verdict then replaces the first one; if they fail, there is no verdict.

    Raises:
        ConfigError: the section is wrong.
    """

    bounds_itself = True

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        section = task_judge_section(config)
        mine = validate_section(LLMJudgeConfig, self._with_defaults(section.llm), WHERE)
        listwise = mine.mode == "listwise"
        known = {"disagreement": float} if listwise else {"score": float, "disagreement": float}
        panels = build_panels(mine, WHERE, section.deadline, known)
        first, dearer = (
            {name: build_grader(mine, model, resolve_protocol) for name, model in models.items()}
            for models in (panels.first, panels.dearer)
        )
        self._ask(mine, panels, first, dearer)

    def _ask(
        self, mine: LLMJudgeConfig, panels: Panels, first: Mapping[str, BaseGrader], dearer: Mapping[str, BaseGrader]
    ) -> None:
        """Set this judge up to ask these graders, by the settings `mine`.

        Args:
            mine: the settings.
            panels: the judge models.
            first: the graders that are asked first, by the names of their models.
            dearer: those that are asked if `escalate` says so.

        Raises:
            ConfigError: they do not fit each other.
        """
        self.settings, self.panels = mine, panels
        self.grader: BaseGrader = next(iter(first.values()))
        if not type(self.grader).aevaluate.__module__.startswith("agentscope_tuner."):
            # The deadline of our calls does not bound a user's own grader
            self.bounds_itself = False
        if mine.images == "send" and self.ranks_groups():
            raise ConfigError(f"{WHERE}.images: a judge that ranks is shown texts alone, got 'send'")
        if mine.probes != "off" and self.ranks_groups():
            raise ConfigError(
                f"{WHERE}.probes: a judge that ranks pays no answer by itself: write off, got {mine.probes!r}"
            )
        self.range = self._range()
        self._optional: Sequence[str] = getattr(self.grader, "optional", ())
        self.paths = self._paths()
        self.first, self.dearer = (LLMPanel(graders, mine, self.range) for graders in (first, dearer))
        self._probes = Probes(mine.probes, WHERE)
        self._reader = Reader(WHERE, mine.images == "send")
        self.judge_models, self.response_path = panels.every, self.paths["response"]
        self.top_score = self.range[1]
        self.top_reward = self.top_score if mine.reward_scale == "raw" else 1.0
        scores = [] if self.ranks_groups() or len(panels.every) < 2 else [*panels.first, *panels.dearer]
        self.metric_names = (
            "place" if self.ranks_groups() else "score",
            *panels.metric_names,
            *(f"score_{name}" for name in scores),
            *self._reader.counted(),
            *Usage.metric_names(),
        )

    def _with_defaults(self, section: Mapping[str, Any]) -> dict[str, Any]:
        return dict(section)

    def ranks_groups(self) -> bool:
        """True with a listwise grader."""
        return self.grader.mode is GraderMode.LISTWISE

    def _range(self) -> tuple[float, float]:
        if isinstance(self.grader, LLMGrader):
            return self.grader.min_score, self.grader.max_score
        if self.settings.scale is None:
            raise ConfigError(f"{WHERE}.scale is missing: the range of {self.settings.grader!r}, as {{min: 0, max: 1}}")
        return self.settings.scale.min, self.settings.scale.max

    def _paths(self) -> dict[str, str]:
        """The path of each variable of the grader's prompt."""
        own = self.settings.reads
        paths = {**USUAL_PATHS, **READY_PATHS.get(self.settings.grader or "", {}), **own}
        for name, path in own.items():
            check_path(path, f"{WHERE}.reads.{name}")
        if not isinstance(self.grader, LLMGrader):
            return paths
        used = self.grader.template.variables(self.grader.language) - {"rubrics", "min_score", "max_score"}
        for name in own:
            if name not in used:
                hint = did_you_mean(name, used)
                raise ConfigError(
                    f"{WHERE}.reads.{name}: {hint}the prompt uses {', '.join(sorted(used))}, not {name!r}"
                )
        for name in sorted(used - set(paths) - set(self.grader.optional)):
            raise ConfigError(f"{WHERE}.reads.{name} is missing: the prompt uses {{{name}}}, say where it is read")
        return {name: path for name, path in paths.items() if name in used}

    async def acompute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Reward:
        """See BaseJudge."""
        if self.grader.mode is GraderMode.LISTWISE:
            raise config_fault("a listwise judge ranks an advantage group (compute_rewards)")
        when = self.panels.when
        with metered() as meter:
            values = self._values(workflow_task, workflow_output, self.paths)
            if self.settings.probes != "off" and not is_empty(values["response"]):
                await self._probes.check(lambda text: self._shares(values, text), values.get("ground_truth"))
            found = first = await self.first.score(values)
            told = ""
            scored = {"score": first.share, "disagreement": first.disagreement}
            if when is not None and when.holds(scored) is True and not first.filtered_by:
                found = await self.dearer.score(values)
                told = f"asked again at {first.score:g}: "
        metrics = {"score": found.score, **found.metrics, **meter.usage.metrics()}
        if self._reader.images:
            metrics |= self._reader.counted(*values.values())
        if when is not None:
            metrics["escalated"] = float(found is not first)
        if len(self.judge_models) > 1:
            metrics |= {f"score_{name}": score for name, score in {**first.by_name, **found.by_name}.items()}
        return Reward(
            found.score if self.settings.reward_scale == "raw" else found.share,
            found.share >= self.settings.success_threshold - 1e-9 and not found.filtered_by,
            reason=" ".join((told + found.reason).split()),
            metrics=metrics,
            filtered_by=found.filtered_by,
        )

    def _shares(self, values: Mapping[str, Any], text: str) -> dict[str, Coroutine[Any, Any, float]]:
        """For each model, by name, a coroutine that asks it to score the answer `text`, as a share of the range."""

        async def share(name: str, grader: BaseGrader) -> float:
            alone = LLMPanel({name: grader}, self.settings, self.range)
            return (await alone.score({**values, "response": text})).share

        return {name: share(name, one) for name, one in {**self.first.graders, **self.dearer.graders}.items()}

    def compute_rewards(
        self, workflow_task: WorkflowTask, workflow_outputs: Sequence[WorkflowOutput]
    ) -> Sequence[tuple[float, bool]]:
        """Rank an advantage group of two or more, where the grader is listwise."""
        if not self.ranks_groups():
            return super().compute_rewards(workflow_task, workflow_outputs)
        if len(workflow_outputs) < 2:
            raise input_error("a listwise judge ranks two or more outputs of a task, and got one")
        return loops.run(self._rank(workflow_task, workflow_outputs))

    async def _rank(self, task: WorkflowTask, outputs: Sequence[WorkflowOutput]) -> list[Reward]:
        shown = [self._values(task, output, self.paths) for output in outputs]
        return await self._placed([_one_text(values.pop("response")) for values in shown], shown[0], len(shown))

    async def _placed(self, texts: Sequence[str], inputs: Mapping[str, Any], rows: int) -> list[Reward]:
        """Rank `texts`; the reward of each is by its place in the ranking.

        Args:
            texts: the answers.
            inputs: the other variables of the prompt.
            rows: how many rows share the cost of the ranking, in their metrics.
        """
        size, told, when = len(texts), "", self.panels.when
        with metered(rows) as meter:
            found = first = await self.first.rank(texts, inputs)
            if when is not None and when.holds({"disagreement": first.disagreement}) is True:
                found, told = await self.dearer.rank(texts, inputs), "asked again: "
        metrics = {**found.metrics, **{name: value / rows for name, value in meter.usage.metrics().items()}}
        metrics |= self._more_metrics(found)
        if when is not None:
            metrics["escalated"] = float(found is not first)
        best, worst = min(found.places), max(found.places)
        return [
            # 0.0 even where all of a group is empty, whose mean place would pay more
            Reward(0.0, False, reason=NO_CONTENT, metrics=metrics, filtered_by="no_content")
            if is_empty(text)
            else Reward(
                place_reward(place, size),
                place == best < worst,
                reason=" ".join(f"place {place:g} of {size}: {told}{found.reason}".split()),
                metrics={"place": place, **metrics},
            )
            for text, place in zip(texts, found.places, strict=True)
        ]

    def _more_metrics(self, found: PanelRanking) -> dict[str, float]:
        return {}

    def estimate(self, task: WorkflowTask, outputs: Sequence[WorkflowOutput], reckoner: Reckoner) -> Estimate:
        """See BaseJudge."""
        values = [self._values(task, output, self.paths) for output in outputs]
        if self.ranks_groups() and len(values) < 2:
            raise input_error("a listwise judge ranks two or more outputs of a task, and got one")
        first, dearer = (reckoner.reckon(self._questions(panel, values)) for panel in (self.first, self.dearer))
        return first + dearer.perhaps

    def _questions(self, panel: LLMPanel, values: Sequence[Mapping[str, Any]]) -> list[Question]:
        if not self.ranks_groups():
            return [
                question
                for one in values
                for grader in panel.graders.values()
                for question in questions_of(grader, one)
            ]
        texts = [_one_text(one["response"]) for one in values]
        inputs = {name: value for name, value in values[0].items() if name != "response"}
        mine = self.settings
        texts = [texts[index] for index in shown_order(texts, mine.shuffle_seed)]
        questions: list[Question] = []
        for grader in panel.graders.values():
            if isinstance(grader, LLMGrader):
                if mine.compare == "pairs":
                    prompts = tournament_prompts(grader, texts, mine.most_pairs, inputs)
                else:
                    prompts = group_prompts(grader, texts, mine.max_group_chars, inputs)
                questions += [(grader.model, prompt) for prompt in prompts]
        return questions

    def check_task(self, task: Task, output: WorkflowOutput | None = None) -> str | None:
        """See BaseJudge: `missing`, for a field of the task that the judge model is shown."""
        optional = self._optional if isinstance(self.grader, LLMGrader) else tuple(self.paths)
        for name, path in self.paths.items():
            if not path.startswith("task."):
                continue
            try:
                [value] = self._values(WorkflowTask(task=task), WorkflowOutput(), {name: path}).values()
            except JudgeError as error:
                return f"missing: {error.message}"
            if name not in optional and is_missing(name, value):
                return f"missing: {path} is {read_path(path, WorkflowTask(task=task), WorkflowOutput())!r}"
        return None

    def _values(self, task: WorkflowTask, output: WorkflowOutput, paths: Mapping[str, str]) -> dict[str, Any]:
        """The value of each variable of the prompt, read at its path.

        None if it is missing, its path is a default that nobody configured, and the prompt can do without it.
        """
        found: dict[str, Any] = {}
        # a foreign grader is given every usual field, whether it shows it or not
        asks = isinstance(self.grader, LLMGrader) and "query" not in self.grader.optional
        for name, path in paths.items():
            try:
                if name == "query" and asks:
                    found[name] = self._reader.question(path, task, output)
                    continue
                value = found[name] = read_path(path, task, output)
                # A text, as most are, is shown as it is
                if not isinstance(value, str):
                    read = self._reader.response if name == "response" else self._reader.value
                    found[name] = read(path, task, output)
            except JudgeError:
                if name == "response" or name in self.settings.reads or name not in self._optional:
                    raise
                found[name] = None
        return found


class PairwiseJudge(LLMJudge):
    """`judge_type: pairwise`: LLMJudge, configured alike under `astuner.task_judge.llm`, with other defaults.

    An advantage group is ranked by comparing its answers in pairs, each pair in both orders, by the ready grader
    `pairwise` unless a prompt is given.

    Raises:
        ConfigError: the section is wrong.
    """

    def _with_defaults(self, section: Mapping[str, Any]) -> dict[str, Any]:
        found = {"mode": "listwise", "compare": "pairs", "swap": True, **section}
        own = ("prompt", "prompt_file", "template", "grader")
        return found if any(found.get(name) is not None for name in own) else {**found, "grader": "pairwise"}


def _one_text(response: str | Trajectory) -> str:
    return response if isinstance(response, str) else response.joined()
