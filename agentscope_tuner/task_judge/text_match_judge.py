"""TextMatchJudge: short answers against their reference, as SQuAD compares them."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from agentscope_tuner.config import StrictSection
from agentscope_tuner.errors import Cause, JudgeError
from agentscope_tuner.task_judge.base_judge import Reward, final_answer
from agentscope_tuner.task_judge.text_judge import TextJudge, as_list, read_kwargs
from agentscope_tuner.verify.math.damage import is_missing
from agentscope_tuner.verify.places import after_thinking, find_answer
from agentscope_tuner.verify.text.text_match import best_match
from agentscope_tuner.verify.text.words import visible
from agentscope_tuner.workflow import Task, WorkflowOutput, WorkflowTask


class TextMatchConfig(StrictSection):
    """TextMatchJudge's `astuner.task_judge.judge_kwargs`."""

    #: the reward: 1.0 for an exact match, or the F1 over words
    metric: Literal["exact", "f1"] = "exact"
    #: f1: a lower value gives 0.0
    least: float = Field(default=0.0, ge=0, le=1)
    #: where the answer stands, in order of preference, as for MathAnswerAsJudge; when null, all of the output but its
    #: reasoning
    answer_in: list[Literal["boxed", "tag", "hash", "label"]] | None = Field(default=None, min_length=1)


class TextMatchJudge(TextJudge):
    """The best match of the answer with `task.metadata["answer"]`, a text or a list of aliases.

    Success is an exact match.
    Exact match and F1 are SQuAD's (arXiv 1606.05250), Chinese by characters; see `verify.text.text_match`. F1 rewards
    words, whatever their order or meaning: an answer of n words that holds all r of the reference gets 2r / (n + r), so
    that naming four cities for one gets 0.4. `least` gives such answers 0.0. Training should end with an exact match.

    Raises:
        JudgeError: of a verdict: the reference is no text.
    """

    metric_names = ("exact", "f1")

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self._settings = read_kwargs(TextMatchConfig, config)

    def verdict(self, task: WorkflowTask, output: WorkflowOutput) -> Reward:
        """See TextJudge."""
        settings, references, text = self._settings, _references(task.task), final_answer(output)
        answer: str | None = after_thinking(text)
        where = ""
        if settings.answer_in is not None:
            answer, where, _ = find_answer(text, settings.answer_in)
        if answer is None:
            return Reward(0.0, False, reason=where, metrics={"exact": 0.0, "f1": 0.0})
        exact, shared = best_match(answer, references)
        paid = float(exact) if settings.metric == "exact" else shared if shared >= settings.least else 0.0
        reason = "an exact match" if exact else f"no exact match, F1 {shared:.3f}"
        return Reward(paid, exact, reason=reason, metrics={"exact": float(exact), "f1": shared})

    def check_task(self, task: Task, output: WorkflowOutput | None = None) -> str | None:
        """See BaseJudge: `missing` or `wrong type`."""
        try:
            _references(task)
        except JudgeError as error:
            value = task.metadata.get("answer")
            missing = value is None or isinstance(value, str) or as_list(value) == []
            return f"{'missing' if missing else 'wrong type'}: {error.message}"
        return None


def _references(task: Task) -> list[str]:
    value = task.metadata.get("answer")
    found: list[str] = []
    listed = as_list(value)
    for item in [value] if listed is None else listed:
        if not isinstance(item, str) or not visible(item).strip() or is_missing(item):
            raise JudgeError(
                f"the reference answer must be text, or a list of texts, got {item!r:.100}: a missing cell of a data "
                "set becomes None or NaN, drop such rows; write a number as the text that is expected",
                cause=Cause.REFERENCE,
            )
        found.append(item)
    if not found:
        raise JudgeError("the reference answer is an empty list", cause=Cause.REFERENCE)
    return found
