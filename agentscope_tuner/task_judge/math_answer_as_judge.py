r"""Judges a mathematical answer: compares the answer that the output states with the task's reference."""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Mapping
from decimal import Decimal
from functools import partial
from numbers import Rational, Real
from typing import Any

from agentscope_tuner.config import SECTION, task_judge_section
from agentscope_tuner.errors import Cause, JudgeError, reference_error
from agentscope_tuner.task_judge.base_judge import BaseJudge, Reward, final_answer, shown
from agentscope_tuner.verify.find import Place, PlacedAnswer, find_answer, last_boxed, stated_elsewhere
from agentscope_tuner.verify.math.place import ajudge_place, judge_place, numbers_first
from agentscope_tuner.verify.math.prose import letter
from agentscope_tuner.verify.math.readings import Wording, is_listing
from agentscope_tuner.verify.math.tokens import TooComplex, is_missing, lost_backslash
from agentscope_tuner.verify.math.unwrap import Pair, bare, read_reference, reference
from agentscope_tuner.verify.math.verdict import MathVerdict, Verdict, acompare, check_reference, compare, compare_exact
from agentscope_tuner.verify.number_words import spelled_number
from agentscope_tuner.verify.sandbox import Sandbox, shared
from agentscope_tuner.workflow import Task, WorkflowOutput, WorkflowTask

_log = logging.getLogger(__name__)

#: Begins the name of a metric, such as `elsewhere/hash`: the answer is written in this place, which is not read.
ELSEWHERE = "elsewhere/"
_PLACES: Mapping[Place, str] = {
    "boxed": r"in \boxed{}",
    "hash": "after ####",
    "tag": "in <answer>",
    "label": "after a label such as `Answer:`",
}
# What a box becomes in a string that is not raw, and in JSON that was written by hand: `\b` is read as a backspace
_LOST_BOX = "\boxed"
# A float of this size has no fractional digits
_MOST_EXACT = 2**53
# States a plain answer in each place: if its comparison breaks, too, the answer is not the cause
_HARMLESS = "<answer>\\boxed{0}</answer>\nAnswer: 0\n#### 0\n\\boxed{0}"


class MathAnswerAsJudge(BaseJudge):
    r"""Gives 1.0 and success for an answer that equals the reference mathematically, else 0.0.

    The answer stands in `workflow_output.metadata["final_answer"]`, unless configured otherwise in its last `\boxed{}`;
    the reference is `workflow_task.task.metadata["answer"]`. Settings: `astuner.task_judge.math`.
    """

    judge_kind = "cpu"
    bounds_itself = True
    takes_kwargs = False

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self._settings = task_judge_section(config).math
        self._places, self._think = tuple(self._settings.answer_in), tuple(self._settings.think)
        self._only_boxed = self._places == ("boxed",)
        if "last_value" in self._settings.answer_in:
            _log.warning(
                "astuner.task_judge.math.answer_in names 'last_value': the last number of a text is paid, whether the "
                "policy states it as its answer or not, so guesses are too"
            )

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Reward:
        try:
            return self._compare(workflow_task.task, workflow_output)
        except (JudgeError, MemoryError):
            raise
        except Exception as exc:  # noqa: BLE001 - nobody foresaw it
            return self._broken(workflow_task.task, workflow_output, exc)

    async def acompute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Reward:
        try:
            return await self._acompare(workflow_task.task, workflow_output)
        except (JudgeError, MemoryError):
            raise
        except Exception as exc:  # noqa: BLE001 - nobody foresaw it
            return self._broken(workflow_task.task, workflow_output, exc)

    def _broken(self, task: Task, output: WorkflowOutput, error: Exception) -> Reward:
        r"""The verdict if an unforeseen error ended the comparison: 0.0, `unread`, if this answer causes the error.

        It does if a plain answer, `\boxed{0}`, can be compared and this one fails again, without a worker.

        Raises:
            Exception: `error`, if the cause may be another: the reference, the judge, a worker or the machine.
        """
        try:
            self._compare(task, WorkflowOutput(metadata={"final_answer": _HARMLESS}), alone=True)
        except Exception as exc:  # noqa: BLE001 - whatever it is, the answer is not the cause
            if not (isinstance(exc, JudgeError) and exc.cause is Cause.UNDECIDED):
                raise error from None
        try:
            self._compare(task, output, alone=True)
        except type(error):
            _log.error("an answer is unread, because its comparison with the reference broke", exc_info=error)
            reason = f"unread: {type(error).__name__} in the comparison"
            return Reward(0.0, False, reason=reason, metrics={"unread": 1.0})
        except Exception:  # noqa: BLE001 - a different error: the first one is raised
            pass
        raise error

    def _compare(self, task: Task, workflow_output: WorkflowOutput, *, alone: bool = False) -> Reward:
        """The verdict in this process and, unless it is to be `alone`, in a worker."""
        truth, found = _reference(task), self.find(workflow_output)
        if found.text is None:
            return self._without_answer(workflow_output, found, truth)
        settings, question = self._settings, asked(task)
        is_exact = settings.equivalence == "exact"
        if not is_exact and (known := numbers_first(found, truth, question)) is not None:
            return self._reward(known, found)
        stages = compare_exact if is_exact else partial(compare, symbolic=None if alone else self._symbolic)
        compared = partial(stages, ground_truth=truth, question=question, copied=settings.copied)
        if found.is_plain() and not is_exact:
            return self._reward(compared(found.text), found)
        return self._reward(judge_place(found, truth, question, compared), found)

    async def _acompare(self, task: Task, workflow_output: WorkflowOutput) -> Reward:
        settings = self._settings
        if settings.equivalence == "exact":
            return self._compare(task, workflow_output)
        truth, found = _reference(task), self.find(workflow_output)
        if found.text is None:
            return self._without_answer(workflow_output, found, truth)
        question = asked(task)
        if (known := numbers_first(found, truth, question)) is not None:
            return self._reward(known, found)
        compared = partial(
            acompare,
            ground_truth=truth,
            symbolic=self._sandbox.acompare,
            reading=self._sandbox.aread,
            question=question,
            copied=settings.copied,
        )
        return self._reward(await ajudge_place(found, truth, question, compared), found)

    def _without_answer(self, output: WorkflowOutput, found: PlacedAnswer, truth: str) -> Reward:
        """The verdict on an output that states no answer where it is read: wrong, whatever the reference is.

        Raises:
            JudgeError: there is no reference.
        """
        reference(truth)
        text = final_answer(output)
        if _LOST_BOX in text:
            damaged = f"{found.where}; the answer is damaged: it holds {lost_backslash(_LOST_BOX)}"
            return Reward(0.0, False, reason=damaged)
        place = stated_elsewhere(text, self._settings.answer_in, self._settings.think)
        if place is None:
            return Reward(0.0, False, reason=f"{found.where}{_swapped(truth, text)}")
        reason = f"{found.where}, which states one {_PLACES[place]}: {self._setting(place)} would read it"
        return Reward(0.0, False, reason=reason, metrics={f"{ELSEWHERE}{place}": 1.0})

    def _setting(self, place: Place) -> str:
        return f"math.answer_in: [{', '.join([*self._settings.answer_in, place])}]"

    def row_notes(self, task: Task, output: WorkflowOutput | None = None) -> list[str]:
        """See BaseJudge: a reference that is read otherwise than may be meant; an answer where it is not read."""
        notes = []
        if (about_reference := _reading_note(task)) is not None:
            notes.append(about_reference)
        if output is None or "final_answer" not in output.metadata or self.find(output).text is not None:
            return notes
        place = stated_elsewhere(final_answer(output), self._settings.answer_in, self._settings.think)
        if place is None:
            if swapped := _swapped(_reference(task), final_answer(output)):
                return [*notes, f"the response states no answer{swapped}"]
            return [
                *notes,
                f"the response states no answer {_PLACES['boxed']}, nor by another sign: ask for it in the prompt",
            ]
        return [*notes, f"the answer stands {_PLACES[place]}: set {self._setting(place)}"]

    def find(self, output: WorkflowOutput) -> PlacedAnswer:
        """The answer that an output states, with what stands around it."""
        return find_answer(final_answer(output), self._places, self._think, by_value=True)

    def pair(self, task: Task, output: WorkflowOutput) -> Pair | None:
        """The answer and the reference, as the stages compare them; None where the output states no answer.

        Raises:
            JudgeError: one of them is missing or unreadable.
        """
        truth, found = _reference(task), self.find(output)
        return None if found.text is None else Pair.of(bare(found.text), reference(truth), asked(task))

    def check_task(self, task: Task, output: WorkflowOutput | None = None) -> str | None:
        """See BaseJudge: `missing`, `NaN or infinite`, `wrong type`, `damaged`, `over the bounds` or `unreadable`."""
        try:
            truth = _reference(task)
            (reference if self._settings.equivalence == "exact" else check_reference)(truth)
        except JudgeError as error:
            return f"{_kind(task.metadata.get('answer'), error)}: {error.message}"
        return None

    def same_reference(self, first: Mapping[str, Any], second: Mapping[str, Any]) -> bool:
        """See BaseJudge. By value, as answers are compared; references that only a worker could compare count as
        different.
        """
        if self._settings.equivalence == "exact" or first == second:
            return first == second
        try:
            texts = [_reference(Task(metadata=dict(given))) for given in (first, second)]
            return compare(texts[0], texts[1]).outcome == "equal" or compare(texts[1], texts[0]).outcome == "equal"
        except JudgeError:
            return False

    def _symbolic(
        self, answer: str, ground_truth: str, *, question: str | None = None, stage: str = "symbolic"
    ) -> tuple[Verdict, str]:
        # Most rows never get here, so they do not look for the pool
        return self._sandbox.compare(answer, ground_truth, question=question, stage=stage)

    @property
    def _sandbox(self) -> Sandbox:
        # Looked up each time: meanwhile the judge may have been pickled or forked into another process
        return shared(self._settings.workers, self._settings.deadline)

    def _reward(self, verdict: MathVerdict, found: PlacedAnswer) -> Reward:
        outcome, reason = verdict.outcome, verdict.reason
        if outcome == "equal" and self._only_boxed:
            return Reward(1.0, True, reason=reason)
        if outcome == "undecided" and not reason.startswith(outcome):
            # a stage names itself first: nobody may take its reason for one that found the answer wrong
            reason = f"{outcome}: {reason}"
        if outcome != "equal":
            if (damage := lost_backslash(found.raw)) is not None:
                reason = f"{reason}; the answer is damaged: it holds {damage}"
            elif outcome == "undecided" and self._settings.on_undecided == "raise":
                raise JudgeError(reason, cause=Cause.UNDECIDED)
        if not self._only_boxed:
            reason = f"{reason}; answer read from {found.where}"
        if outcome == "equal":
            return Reward(1.0, True, reason=reason)
        marks = {"unread": verdict.unread, "undecided": outcome == "undecided"}
        return Reward(0.0, False, reason=reason, metrics={mark: 1.0 for mark, holds in marks.items() if holds})


def elsewhere_note(metric: str, share: str) -> str:
    """A hint to add a place to `answer_in`, since answers are written there that are not read.

    Args:
        metric: `elsewhere/<place>`, such as `elsewhere/hash` for answers after `####`.
        share: how many rows have this metric, such as `40`.
    """
    place = metric.removeprefix(ELSEWHERE)
    stands = next(words for name, words in _PLACES.items() if name == place)
    return f"{share} answers stand {stands}, where they are not read: add {place} to astuner.task_judge.math.answer_in"


def asked(task: Task) -> str | None:
    """The question that the policy was asked: `main_query`, else the last user message of `init_messages`."""
    if task.main_query:
        return task.main_query
    for message in reversed(task.init_messages):
        if message.get("role") == "user":
            content = message.get("content")
            if isinstance(content, list):
                content = "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
            return content if isinstance(content, str) and content else None
    return None


def _reference(task: Task) -> str:
    """The task's reference answer as text.

    Raises:
        JudgeError: there is none, or it is neither text nor a finite number.
    """
    if "answer" not in task.metadata:
        raise reference_error(f"the task's metadata has no 'answer', only {sorted(task.metadata)!r}")
    value = task.metadata["answer"]
    if isinstance(value, str):
        return value
    text = None if isinstance(value, bool) else _number_as_text(value)
    if text is None:
        raise reference_error(f"the reference answer {_way_out(value)}")
    return text


# More are a sentence, and no reference
_MOST_WORDS, _MOST_CHARS = 3, 60


def _swapped(truth: str, text: str) -> str:
    r"""A question for the end of a message, if the reference has the `\boxed{}` that the response lacks; else empty.

    It asks whether the two columns are swapped.
    """
    alone = len(text) <= _MOST_CHARS and 0 < len(text.split()) <= _MOST_WORDS
    swapped = alone and last_boxed(text) is None and last_boxed(truth) is not None
    return ", but one in the reference: are the two columns swapped?" if swapped else ""


# `3,5`: a list seldom has no space behind its comma
_COMMA_IN_NUMBER = re.compile(r"-?\d+,\d+")


def _reading_note(task: Task) -> str | None:
    """A note for a person, if the reference may be read otherwise than meant, such as `3,5` as two numbers.

    None if there is nothing to note, or if the reference cannot be read at all.
    """
    try:
        text = reference(_reference(task))
        side = read_reference(text, None)
    except JudgeError:
        return None
    option = letter(text)
    if spelled_number(text) is not None:
        return None
    if side.reading is None or isinstance(side.reading, Wording) or (option is not None and option in text):
        return (
            "the reference is words or a letter, not mathematics: where most are, `judge: text_match` is for words, "
            "`judge: choice` for multiple choice"
        )
    if is_listing(side.reading, "list") and _COMMA_IN_NUMBER.fullmatch(text):
        return "the reference is read as two numbers, as 3 and 5 of 3,5: if its comma is a decimal point, write 3.5"
    return None


def _way_out(value: object) -> str:
    """The end of a message about a reference that is neither text nor number: what it is, and what to write instead."""
    keys = range(len(value)) if isinstance(value, list | tuple) else value if isinstance(value, dict) else ()
    for inside in keys:
        held, part = ("mapping", repr(inside)) if isinstance(value, dict) else ("list", "the first")
        several = "" if isinstance(value, dict) else "; for words, `text_match` takes a list, each of which is right"
        told = f"is a {held}, {shown(value)}, and must be a str or a finite number: to judge by {part} alone"
        return f"{told}, write `reads: {{answer: answer.{inside}}}` under {SECTION}{several}"
    if isinstance(value, bool):
        return f"must be a str or a finite number, got {value}: write the text {str(value)!r}"
    return (
        f"must be a str or a finite number, got {shown(value)}: a missing cell becomes None or NaN. If every row "
        f"lacks it, name its column: `reads: {{answer: COLUMN}}` under {SECTION} (OpenRLHF: --data.label_key COLUMN). "
        f"If only some rows lack it, drop them"
    )


def _kind(value: object, error: JudgeError) -> str:
    """The kind of problem, in one or two words, of a reference that `error` refuses."""
    if value is None or (isinstance(value, str) and not value.strip(" $#\n\t")):
        return "missing"
    if not isinstance(value, str):
        lost = isinstance(value, Real | Decimal) and not isinstance(value, bool | Rational)
        return "NaN or infinite" if lost else "wrong type"
    if lost_backslash(value) is not None:
        return "damaged"
    if isinstance(error.__cause__, TooComplex):
        return "over the bounds"
    return "NaN or infinite" if is_missing(last_boxed(value) or value.strip("$ ")) else "unreadable"


def _number_as_text(value: object) -> str | None:
    """A finite number as people write it, numpy's scalars included; None for anything else."""
    try:
        if isinstance(value, Rational):
            whole = value.denominator == 1
            return f"{value.numerator}" if whole else f"{value.numerator}/{value.denominator}"
        if isinstance(value, Decimal):
            return str(value) if value.is_finite() else None
        if isinstance(value, Real) and math.isfinite(value):
            number = float(value)
            # pandas makes floats of whole numbers where one cell is missing; numpy's own text of its 32 bits is 0.1
            return str(int(number)) if number.is_integer() and abs(number) < _MOST_EXACT else str(value)
    except ValueError:  # more digits than Python prints
        return None
    return None
