"""ChoiceJudge: multiple choice, by the letter that the output states."""

from __future__ import annotations

import string
from collections.abc import Mapping
from typing import Any

from pydantic import Field

from agentscope_tuner.config import StrictSection
from agentscope_tuner.errors import Cause, JudgeError
from agentscope_tuner.task_judge.base_judge import Reward, final_answer
from agentscope_tuner.task_judge.text_judge import TextJudge, as_list, read_kwargs
from agentscope_tuner.verify.text.choice import plain, read_choice
from agentscope_tuner.verify.text.letters import LetterReader
from agentscope_tuner.workflow import Task, WorkflowOutput, WorkflowTask


class ChoiceConfig(StrictSection):
    """ChoiceJudge's `astuner.task_judge.judge_kwargs`."""

    #: the letters of the options, where a task does not list its options
    letters: str = Field(default="ABCDEFGH", pattern=r"^[A-Z]{2,26}$")
    #: the key of the task's metadata that lists the options, where there is such a key: texts in order, a mapping of
    #: letters to texts, or `{label: [...], text: [...]}` as ARC has them
    options: str = "options"


class ChoiceJudge(TextJudge):
    r"""Gives 1.0 and success for exactly the letters of `task.metadata["answer"]`, else 0.0.

    The reference is a letter, several (`"AC"`, `"A, C"`, `["A", "C"]`), or the text of an option that the task lists.
    The letter is found in many forms: `(B)`, `B.`, `Answer: b`, `option B`, `选B`, `\boxed{B}`, `B. Paris`, or the
    option's text alone. Two letters, `A or B`, and a letter with the text of another option are 0.0; see
    `verify.text.choice`.

    Raises:
        JudgeError: of a verdict: the reference or the options cannot be read. A number is no reference, because it may
            count from 0 or from 1.
    """

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self._settings = read_kwargs(ChoiceConfig, config)

    def verdict(self, task: WorkflowTask, output: WorkflowOutput) -> Reward:
        """See TextJudge."""
        letters, options, right = self._question(task.task)
        chosen = read_choice(final_answer(output), letters, options)
        if not chosen.letters:
            return Reward(0.0, False, reason=chosen.problem)
        equal = chosen.letters == right
        return Reward(float(equal), equal, reason=f"chosen {chosen.letters!r}, right is {right!r}")

    def check_task(self, task: Task, output: WorkflowOutput | None = None) -> str | None:
        """See BaseJudge: `missing`, `wrong type` or `unreadable`."""
        try:
            self._question(task)
        except JudgeError as error:
            value = task.metadata.get("answer")
            readable = isinstance(value, str) or as_list(value) is not None
            missing = value is None or (isinstance(value, str) and not value.strip())
            kind = "missing" if missing else "unreadable" if readable else "wrong type"
            return f"{kind}: {error.message}"
        return None

    def _question(self, task: Task) -> tuple[str, dict[str, str], str]:
        options = _options(task.metadata.get(self._settings.options), self._settings.options)
        letters = "".join(options) or self._settings.letters
        return letters, options, _right(task.metadata, letters, options)


def _right(metadata: Mapping[str, Any], letters: str, options: Mapping[str, str]) -> str:
    """The letters of the reference, in order."""
    value = metadata.get("answer")
    listed = as_list(value)
    found = ""
    for item in [value] if listed is None else listed:
        if not isinstance(item, str) or not item.strip():
            raise JudgeError(
                f"the reference answer must be a letter, or several, as text, got {value!r:.100}; a number does not "
                "say whether it counts from 0 or from 1",
                cause=Cause.REFERENCE,
            )
        text = item.strip().upper()
        read = LetterReader(letters).read(text, 0)
        named = [letter for letter, option in options.items() if plain(option) == plain(item)]
        # `AB` is the blood type where exactly one option has this text, else two letters
        several = read is not None and len(read.letters) > 1 and len(named) == 1
        if read is not None and not several and not text[read.end :].strip(" ."):
            found += read.letters
        elif len(named) == 1:
            found += named[0]
        else:
            raise JudgeError(f"the reference answer {item!r:.100} is none of {letters!r}", cause=Cause.REFERENCE)
    if not found:
        raise JudgeError("the reference answer is an empty list", cause=Cause.REFERENCE)
    return "".join(sorted(set(found)))


def _options(value: object, key: str) -> dict[str, str]:
    if value is None:
        return {}
    if isinstance(value, Mapping) and {"label", "text"} <= set(value):
        labels, texts = as_list(value["label"]) or [], as_list(value["text"]) or []
        value = dict(zip(map(str, labels), texts, strict=True)) if len(labels) == len(texts) else {}
    elif (listed := as_list(value)) is not None:
        value = dict(zip(string.ascii_uppercase, listed, strict=False)) if 2 <= len(listed) <= 26 else {}
    if isinstance(value, Mapping) and len(value) >= 2 and all(map(_is_option, value.items())):
        return {str(letter).upper(): str(text) for letter, text in sorted(value.items())}
    raise JudgeError(
        f"the task's {key!r} must list 2 to 26 texts, or map letters to texts, got {value!r:.100}",
        cause=Cause.REFERENCE,
    )


def _is_option(item: tuple[object, object]) -> bool:
    letter, text = item
    named = isinstance(letter, str) and len(letter) == 1 and letter.isascii() and letter.isalpha()
    return named and isinstance(text, str | int | float) and not isinstance(text, bool)
