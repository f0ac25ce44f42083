"""TextMatchJudge: short answers, compared as SQuAD does: normalised exact match, and F1 over words."""

from __future__ import annotations

import re
from typing import Literal

from pydantic import Field

from agentscope_tuner.config import StrictSection
from agentscope_tuner.errors import JudgeError, reference_error
from agentscope_tuner.task_judge.base_judge import Reward, TextJudge, as_list, final_answer
from agentscope_tuner.verify.find import after_thinking, find_answer
from agentscope_tuner.verify.math.tokens import is_missing
from agentscope_tuner.verify.text import best_match, visible
from agentscope_tuner.workflow import Task, WorkflowOutput, WorkflowTask

# What a table holds of a column of lists
_LISTED = re.compile(r"""\[\s*(?:'[^']*'|"[^"]*")\s*[,\]]""")


class TextMatchConfig(StrictSection):
    """TextMatchJudge's `astuner.task_judge.judge_kwargs`."""

    #: the reward: 1.0 for an exact match, or the F1 over words
    metric: Literal["exact", "f1"] = "exact"
    #: f1: a lower value gives 0.0
    least: float = Field(default=0.0, ge=0, le=1)
    #: where the answer stands, in order of preference, as for MathAnswerAsJudge; when null, all of the output but its
    #: reasoning
    answer_in: list[Literal["boxed", "tag", "hash", "label"]] | None = Field(default=None, min_length=1)


class TextMatchJudge(TextJudge[TextMatchConfig]):
    """The best match of the answer with `task.metadata["answer"]`, a text or a list of aliases.

    Success is an exact match.
    Exact match and F1 are SQuAD's (arXiv 1606.05250), Chinese by characters; see `best_match`. F1 rewards
    words, whatever their order or meaning: an answer of n words that holds all r of the reference gets 2r / (n + r), so
    that naming four cities for one gets 0.4. `least` gives such answers 0.0. Training should end with an exact match.

    Raises:
        JudgeError: of a verdict: the reference is no text.
    """

    settings_class = TextMatchConfig
    metric_names = ("exact", "f1")

    def verdict(self, task: WorkflowTask, output: WorkflowOutput) -> Reward:
        """See TextJudge."""
        settings, references, text = self.settings, self.reference(task.task), final_answer(output)
        answer: str | None = after_thinking(text)
        where = ""
        if settings.answer_in is not None:
            answer, where = find_answer(text, settings.answer_in)[:2]
        if answer is None:
            return Reward(0.0, False, reason=where, metrics={"exact": 0.0, "f1": 0.0})
        exact, shared = best_match(answer, references)
        paid = float(exact) if settings.metric == "exact" else shared if shared >= settings.least else 0.0
        reason = "an exact match" if exact else f"no exact match, F1 {shared:.3f}"
        return Reward(paid, exact, reason=reason, metrics={"exact": float(exact), "f1": shared})

    def reference(self, task: Task) -> list[str]:
        """See TextJudge: the aliases of the right answer."""
        value = task.metadata.get("answer")
        found: list[str] = []
        listed = as_list(value)
        for item in [value] if listed is None else listed:
            if not isinstance(item, str) or not visible(item).strip() or is_missing(item):
                raise reference_error(
                    f"the reference answer must be text, or a list of texts, got {item!r:.100}: a missing cell of a "
                    "data set becomes None or NaN, drop such rows; write a number as the text that is expected"
                )
            if listed is None and _LISTED.match(item):
                told = "a list as text: write JSON lines, where `answer` is a list; of that text alone, if it is meant"
                raise reference_error(f"the reference answer {item!r:.100} is {told}")
            found.append(item)
        if not found:
            raise reference_error("the reference answer is an empty list")
        return found

    def reference_problem(self, task: Task, error: JudgeError) -> str:
        """See TextJudge: `wrong type` where it is no text."""
        value = task.metadata.get("answer")
        blank = isinstance(value, str) and not _LISTED.match(value)
        return "missing" if value is None or blank or as_list(value) == [] else "wrong type"
