"""TextMatchJudge: short answers, compared as SQuAD does: normalised exact match, and F1 over words."""

from __future__ import annotations

import re
import string
import unicodedata
from collections import Counter
from collections.abc import Iterable
from typing import Literal, NamedTuple

from pydantic import Field

from agentscope_tuner.config import StrictSection
from agentscope_tuner.errors import JudgeError, reference_error
from agentscope_tuner.task_judge.base_judge import Reward, TextJudge, as_list, final_answer
from agentscope_tuner.verify.find import after_thinking, find_answer
from agentscope_tuner.verify.math.tokens import is_missing
from agentscope_tuner.verify.text import UNSPACED, visible
from agentscope_tuner.workflow import Task, WorkflowOutput, WorkflowTask

_POINT, _MINUS = "\ue000", "\ue001"
_NUMBER_POINT = re.compile(r"(?<=[0-9])\.(?=[0-9])|(?<![\w.])\.(?=[0-9])")
_NUMBER_SIGN = re.compile(r"(?<![\w.\)\]])[-−](?=[$€£]?\.?[0-9])")
# Signs between digits, except the comma of thousands and the decimal point
_BETWEEN_DIGITS = re.compile(rf"(?<=[0-9])[^\w\s,.{_POINT}{_MINUS}](?=[0-9])")
_ASCII_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = {"a", "an", "the"}
_WORD = re.compile(rf"[{UNSPACED}]|[^\s{UNSPACED}]+")


class TextMatch(NamedTuple):
    """Attributes:
    exact: SQuAD's exact match: the normalised texts are the same.
    f1: SQuAD's F1, 0.0 to 1.0.
    """

    exact: bool
    f1: float


def best_match(answer: str, references: Iterable[str]) -> TextMatch:
    """SQuAD's two metrics, each the best over all references.

    F1 is the harmonic mean of precision and recall over the words. A repeated word counts each time, and the order of
    words does not matter. So an answer of n words that contains all r words of a reference gets 2r / (n + r).
    """
    ours = normalised(answer)
    counted = Counter(ours)
    exact, best = False, 0.0
    for reference in references:
        theirs = normalised(reference)
        common = (counted & Counter(theirs)).total()
        # This equals 2pr / (p + r) with p = common / ours and r = common / theirs
        best = max(best, 2 * common / (len(ours) + len(theirs)) if common else 0.0)
        exact = exact or ours == theirs
    return TextMatch(exact, best)


# What a table holds of a column of lists
_LISTED = re.compile(r"""\[\s*(?:'[^']*'|"[^"]*")\s*[,\]]""")


def normalised(text: str) -> list[str]:
    """The words of `text` in the form that SQuAD's evaluation compares (arXiv 1606.05250, section 6.1).

    They are in lower case, without punctuation, and without the articles a, an and the. SQuAD's form is extended:

    - punctuation of every script is removed, not only of ASCII;
    - each character of a script without blanks, such as Han, is a word;
    - a number keeps its sign and its decimal point, and other signs between digits separate them, because SQuAD reads
      both 1.5 and 1/5 as 15;
    - a text of nothing but articles or punctuation keeps them.
    """
    text = unicodedata.normalize("NFC", visible(text)).lower()
    parted = _BETWEEN_DIGITS.sub(" ", _NUMBER_SIGN.sub(_MINUS, _NUMBER_POINT.sub(_POINT, text)))
    words = _WORD.findall(_without_punctuation(parted))
    return [word for word in words if word not in _ARTICLES] or words or text.split()


def _without_punctuation(text: str) -> str:
    text = text.translate(_ASCII_PUNCTUATION)
    if text.isascii():
        return text
    dropped = {character for character in set(text) if unicodedata.category(character).startswith("P")}
    return text.translate(dict.fromkeys(map(ord, dropped)))


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
