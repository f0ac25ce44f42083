"""The base of judges that ask other judges, each of which has a whole `task_judge` section inside theirs."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, ClassVar, Literal

from agentscope_tuner.config import task_judge_section
from agentscope_tuner.errors import Cause, JudgeError, judge_error
from agentscope_tuner.task_judge.base_judge import BaseJudge, Counts
from agentscope_tuner.task_judge.contract.judgement import Judgement
from agentscope_tuner.task_judge.contract.loading import load_inner
from agentscope_tuner.task_judge.contract.task_judge import TaskJudge
from agentscope_tuner.workflow import Task, WorkflowOutput


class AsksJudges(BaseJudge):
    """Loads the judges that it asks; what it says about tasks and runs is what they say, under their names.

    Attributes:
        inner_key: where their sections stand: `parts` or `routes`.
        section: the typed section.

    Raises:
        ConfigError: one of them cannot be loaded.
    """

    inner_key: ClassVar[Literal["parts", "routes"]]

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        section = self.section = task_judge_section(config)
        sections = getattr(section, self.inner_key)
        self.asks: Mapping[str, TaskJudge] = {
            name: load_inner(config, section, self.inner_key, name, own) for name, own in sections.items()
        }
        for judge in self.asks.values():
            # This judge warns of a reward that is passed over: once is enough
            judge.heeds_own_reward = True
        asked = [judge.inner for judge in self.asks.values()]
        self.metric_names = tuple(dict.fromkeys(name for judge in asked for name in judge.metric_names))
        self.reference_keys = tuple(dict.fromkeys(key for judge in asked for key in judge.reference_keys))
        self.reads_own_reward = any(judge.reads_own_reward for judge in asked)
        self.gives_turns = any(judge.gives_turns for judge in asked)
        self._ranks = any(judge.traits.ranks for judge in self.asks.values())
        self.bounds_itself = all(
            judge.traits.bounded or sections[name].deadline is not None for name, judge in self.asks.items()
        )

    def called(self, name: str) -> str:
        """What messages call one of them: `part 'style'`."""
        return f"{self.inner_key.removesuffix('s')} {name!r}"

    def paid(self, name: str, judgement: Judgement) -> Judgement:
        """A verdict of one of them; a failed one is 0.0 where `on_error: zero` was asked for by name.

        Raises:
            JudgeError: there is no verdict. It does not name the task, because summaries count failures by their words.
        """
        if judgement.reward is not None:
            return judgement
        if getattr(self.section, self.inner_key)[name].on_error == "zero":
            reason = f"no verdict, 0.0 by on_error: zero: {judgement.reason}"
            return Judgement("judged", 0.0, False, reason, metrics=judgement.metrics)
        told = f"{self.called(name)} ({self.asks[name].traits.name}): {judgement.reason}"
        error = judge_error(told, judgement.cause or Cause.JUDGE)
        error.metrics = judgement.metrics
        raise error

    def problem_of(self, names: Collection[str], task: Task, output: WorkflowOutput | None) -> str | None:
        """The first problem that the judges of these names find in a row, with its kind and the judge's name."""
        for name in names:
            if (problem := self.asks[name].check_task(task, output)) is not None:
                return self.named(name, problem)
        return None

    def named(self, name: str, problem: str) -> str:
        """A problem that one of them found, with its kind and that judge's name."""
        kind, colon, said = problem.partition(":")
        return f"{kind}: {self.called(name)}:{said}" if colon else f"{problem}: {self.called(name)}"

    async def ready(self, names: Collection[str]) -> None:
        """Ask the judges of these names whether they could judge now.

        Raises:
            JudgeError: one of them could not.
        """
        for name in names:
            try:
                await self.asks[name].inner.aready()
            except JudgeError as exc:
                raise JudgeError(f"{self.called(name)}: {exc.message}", cause=exc.cause) from exc

    def run_notes(self) -> list[str]:
        """See BaseJudge: those of each, under its name."""
        return [f"{name}: {note}" for name, judge in self.asks.items() for note in judge.inner.run_notes()]

    def take_counts(self) -> Counts:
        """See BaseJudge: those of each, under its name."""
        taken = ((name, judge.inner.take_counts()) for name, judge in self.asks.items())
        return {f"{name}: {key}": numbers for name, counts in taken for key, numbers in counts.items()}

    def notes_on(self, counts: Counts) -> list[str]:
        """See BaseJudge: those of each, under its name."""
        notes = []
        for name, judge in self.asks.items():
            own = {key.removeprefix(f"{name}: "): n for key, n in counts.items() if key.startswith(f"{name}: ")}
            notes += [f"{name}: {note}" for note in judge.inner.notes_on(own)]
        return notes


def same_for(judge: TaskJudge, first: Mapping[str, Any], second: Mapping[str, Any]) -> bool:
    """Whether `judge` reads the same from two references."""
    keys = judge.inner.reference_keys
    return judge.inner.same_reference({key: first.get(key) for key in keys}, {key: second.get(key) for key in keys})
