"""LanguageJudge: the share of an output that is in the required language."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from agentscope_tuner.config import StrictSection
from agentscope_tuner.errors import ConfigError, JudgeError, reference_error
from agentscope_tuner.task_judge.base_judge import KWARGS, Reward, TextJudge, final_answer
from agentscope_tuner.task_judge.llm.rollout_fields import check_path, read_path
from agentscope_tuner.verify.find import after_thinking
from agentscope_tuner.verify.text import LANGUAGES, language_share
from agentscope_tuner.workflow import Task, WorkflowOutput, WorkflowTask


class LanguageConfig(StrictSection):
    """LanguageJudge's `astuner.task_judge.judge_kwargs`."""

    #: a code of ISO 639-1 such as `zh`, or the path of each task's own code, such as `task.metadata.language`
    language: str = Field(description="the language to write in, such as `language: en`")
    #: the smallest share of words in the language that counts as success: names and terms may stay foreign
    least: float = Field(default=0.9, gt=0, le=1)
    #: `all`: the reasoning counts too, as for DeepSeek-R1; `answer`: only what stands outside of `<think>`
    part: Literal["all", "answer"] = "all"


class LanguageJudge(TextJudge[LanguageConfig]):
    """The share of words that are written in the language's scripts, 0.0 to 1.0; success from `least` on.

    DeepSeek-R1's language consistency reward (arXiv 2501.12948, section 2.3.2), by scripts and without a model: it
    cannot tell English from French, but it can tell English from Chinese. Code, formulas and links are left out, so an
    output that has nothing else has no words in the language, and gets 0.0; text that a policy hides in a code block is
    not checked.

    Raises:
        ConfigError: the language is not known.
        JudgeError: of a verdict: the task names no language that is known.
    """

    settings_class = LanguageConfig
    reference_keys = ()
    metric_names = ("language_share",)

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self._named = self.settings.language.startswith("task.")
        if self._named:
            check_path(self.settings.language, f"{KWARGS}.language")
        elif _code(self.settings.language) is None:
            raise ConfigError(
                f"{KWARGS}.language: {self.settings.language!r} is not known; it is a path such as "
                f"task.metadata.language, or one of {', '.join(LANGUAGES)}"
            )

    def verdict(self, task: WorkflowTask, output: WorkflowOutput) -> Reward:
        """See TextJudge."""
        language, text = self.reference(task.task), final_answer(output)
        share, ours, total = language_share(after_thinking(text) if self.settings.part == "answer" else text, language)
        reason = (
            f"{ours:,} of {total:,} words are written as {language!r} is" if total else "no words, only code or signs"
        )
        return Reward(share, share >= self.settings.least, reason=reason, metrics={"language_share": share})

    def reference(self, task: Task) -> str:
        """See TextJudge: the code of the required language."""
        named = self.settings.language
        told = read_path(named, WorkflowTask(task=task), WorkflowOutput()) if self._named else named
        code = _code(told) if isinstance(told, str) else None
        if code is None:
            raise reference_error(f"{named}: {told!r:.100} is none of {', '.join(LANGUAGES)}")
        return code

    def reference_problem(self, task: Task, error: JudgeError) -> str:
        """See TextJudge."""
        return "missing" if "is missing" in error.message else "unreadable"


def _code(name: str) -> str | None:
    """The language code of a tag: `zh` for `zh-CN`, `pt` for `pt_BR`; None for an unknown language."""
    code = name.strip().replace("_", "-").partition("-")[0].lower()
    return code if code in LANGUAGES else None
