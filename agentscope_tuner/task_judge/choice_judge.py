r"""ChoiceJudge: multiple choice, by the letter that the output states as its answer.

The answer may stand in one of four places, and the first that the output has is read: a box; `<answer>` tags;
statements (`The answer is B`, `I choose (B)`, `B is correct`, `故选B`); a last line that is only a choice (`B`, `(B)`,
`B. Paris`, or `Paris` where the options are known). Reasoning between `<think>` tags never counts.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from numbers import Real
from typing import Literal, NamedTuple

from pydantic import Field

from agentscope_tuner.config import StrictSection
from agentscope_tuner.errors import JudgeError, reference_error
from agentscope_tuner.task_judge.base_judge import KWARGS, Reward, TextJudge, as_list, final_answer
from agentscope_tuner.verify.find import after_thinking, find_answer, last_boxes
from agentscope_tuner.verify.labels import CONTRADICTION, DENIAL, is_denied
from agentscope_tuner.verify.text import OPEN, LetterReader, Letters
from agentscope_tuner.workflow import Task, WorkflowOutput, WorkflowTask

# Answers come last, so only this many characters at the end are searched for statements
_TAIL = 20_000
_MOST_STATEMENTS = 24
_LONGEST_LINE = 600


class Choice(NamedTuple):
    """Attributes:
    letters: the chosen letters, in upper case and in alphabetical order; empty without a choice.
    problem: the reason why there is no choice, in words.
    """

    letters: str
    problem: str = ""


def read_choice(text: str, letters: str, options: Mapping[str, str] | None = None) -> Choice:
    """The letters that `text` states as its answer.

    Three kinds of answer are no choice: `A or B`, two different statements side by side, and a letter beside the text
    of another option. Other words between two statements mean that the model corrected itself, and the last counts.

    Args:
        letters: the letters of the options, in upper case, such as `ABCD`.
        options: the text of each option; an answer may then be the text alone.
    """
    # NFKC turns the full-width Ｂ into the letter B. The limit on the length is far beyond the length of any place
    said = unicodedata.normalize("NFKC", after_thinking(text)[-10 * _TAIL :])
    reader = _ChoiceReader(letters, options or {})
    if boxes := last_boxes(said):
        choices = [reader.whole(_unwrapped(box[:_LONGEST_LINE])) for box in boxes[-8:]]
        return choices[-1] if len({choice.letters for choice in choices}) == 1 else Choice("", CONTRADICTION)
    tagged = find_answer(said, ["tag"])
    if tagged.text is not None:
        return reader.stated(_WRAPPER.sub(r"\1", tagged.text))
    if tagged.where.startswith("no "):
        return reader.stated(_WRAPPER.sub(r"\1", said))
    return Choice("", tagged.where)


_WRAPPER = re.compile(r"\\(?:text|textbf|mathrm|mathbf|textrm|mbox)\s?\{([^{}]*)\}")


def _unwrapped(boxed: str) -> str:
    return _WRAPPER.sub(r"\1", _WRAPPER.sub(r"\1", boxed)).replace("\\", "")


_BE = r"(?:is|are|was|would\sbe|should\sbe|must\sbe|will\sbe|has\sto\sbe)"
_NOT = r"(?:\s(?:not|never)\b|n['’]t\b)"
_ANNOUNCED = re.compile(
    rf"""
    (?<![^\W_])(?:
        (?:answers?|ans|solution)(?:\s(?:choice|option|key|letter))?[*_]{{0,3}}
        (?:\s\([^()\n]{{1,40}}\)|\s(?:to|for)\s[^.:：=\n]{{1,80}}?)?\s{{0,3}}
        (?:[:：=]|\b{_BE}\b|['’]s\b)
      | (?:correct|right|best|final|true|appropriate|suitable|my)\s(?:options?|choices?|letters?|pick)\s{{0,3}}
        (?:[:：=]|\b{_BE}\b)
      | (?:i|we|i['’]ll|we['’]ll|i['’]d|therefore|thus|so|hence|would|will|should|must|to)\s
        (?:would\s|will\s|then\s)?(?:choose|pick|select|chose|picked|selected|go\swith|opt\sfor|say|options?|choice)
      | (?:choose|pick|select)\b
      | it(?:\s{_BE}\b|['’]s\b)
    )
    (?P<denied>{_NOT})?
    | (?:答案|答)[】\]*]{{0,3}}(?:应该|应当|应|就|也|便)?(?P<denied_zh>不会?|并非)?(?:[:：]|是|为|选择?|即)?
    | 正确的?选项(?P<denied_zh_option>不)?(?:是|为|[:：])?
    | (?P<denied_zh_choice>不能?|别|非|没)?(?:应该?)?(?<![可候备挑筛])选(?!项)择?(?:是|为|[:：])?
    """,
    re.VERBOSE | re.IGNORECASE,
)
_BEHIND_ANNOUNCED = re.compile(
    r"[\s:：*_]{0,6}(?:(?:most|likely|probably|clearly|simply|definitely|indeed|therefore|thus|the|options?|choices?|letter)"
    r"\b[\s:：*_]{0,4}|选项|选){0,4}",
    re.IGNORECASE,
)
_FOLLOWED = re.compile(
    rf"\s{{0,3}}(?:选项|项)?\s{{0,3}}(?:{_BE}(?P<denied>{_NOT})?\s(?:indeed\s|clearly\s|definitely\s)?(?:the\s)?"
    r"(?:correct|right|best|final|answer)(?:\s(?:answer|option|choice|one))?\b|(?:是|为)?(?P<denied_zh>不)?(?:正确|对的))",
    re.IGNORECASE,
)
_WRONG = re.compile(r"\s{0,3}(?:选?项)?(?:是|为)?(?:错|不对|不正确)")
_QUESTION = re.compile(r"[\s*_`\"')）\]]{0,6}[?？]")
_SUPPOSED = re.compile(
    r"\b(?:if|whether|suppose|supposing|assume|assuming|unless)\b|如果|假设|假如|若|是否", re.IGNORECASE
)
_CLAUSE = re.compile(
    r"[,;.!?:\n，。；！？：]|\b(?:so|thus|hence|therefore|because|since)\b|所以|因此|因为|故", re.IGNORECASE
)
_BEFORE = 80
# Words that may stand between two statements of one sentence
_FILLER_WORDS = (
    "so thus or and then hence therefore also either maybe perhaps possibly alternatively alternative the my our final "
    "correct another other option choice it could be is else 或者 或 和 也 所以 因此 最终 正确"
)
_FILLER = frozenset(_FILLER_WORDS.split())


class _StatedChoice(NamedTuple):
    letters: str
    start: int
    end: int
    denied: bool


class _ChoiceReader:
    """Reads the letters of one question."""

    def __init__(self, letters: str, options: Mapping[str, str]) -> None:
        self._reader = LetterReader(letters)
        self._options = {letter: plain(text) for letter, text in options.items()}

    def stated(self, text: str) -> Choice:
        """The choice that `text` states: all of it, its last statement, or its last line."""
        stripped = text.strip()
        if len(stripped) <= _LONGEST_LINE and "\n" not in stripped and (whole := self.whole(stripped)).letters:
            return whole
        tail = text[-_TAIL:]
        statements = list(self._statements(tail))[-_MOST_STATEMENTS:]
        return self._last_asserted(tail, statements) if statements else self._last_line(tail)

    def whole(self, text: str) -> Choice:
        """The choice when all of `text` is one choice: `B`, `(B)`, `B. Paris`, `Option B`, or an option's text."""
        text = text.strip().strip("*_`$「」『』 ").strip()
        named = next((letter for letter, option in self._options.items() if option and option == plain(text)), "")
        bare = self._reader.read(text, 0)
        if bare is not None and len(bare.letters) == 1 and not _SIGNS.sub("", text[bare.end :]):
            # `C` means option C, even if the text of option B is `C`. But then a lower-case `c` is ambiguous
            clear = named in ("", bare.letters) or not text.islower()
            return Choice(bare.letters) if clear else Choice("", f"{text!r:.60} is a letter, and the text of {named}")
        if named:
            return Choice(named)
        found = self._reader.read(text, _LEAD.match(text).end())  # type: ignore[union-attr]
        if found is None:
            return Choice("", f"{text!r:.60} is no option")
        rest = text[found.end :]
        if self._offers_another(text, found.letters, found.end):
            return Choice("", f"{text!r:.60} leaves it open")
        if not _SIGNS.sub("", rest):
            return Choice(found.letters)
        return self._beside(found, rest, text)

    def _beside(self, found: Letters, rest: str, text: str) -> Choice:
        """The choice if more text follows the letter: `B. Paris` is B if option B, or no option, is `Paris`.

        Other text must come after punctuation, and neither deny the letter nor mention another: `B. not A` is no
        choice.

        Args:
            found: the letter.
            rest: the text behind it.
            text: the whole text, for messages.
        """
        told = _behind_letter(rest)
        others = [letter for letter, option in self._options.items() if option and option == told]
        if others:
            return Choice(found.letters) if others == [found.letters] else Choice("", CONTRADICTION)
        if _APART.match(rest) and not (self._reader.mentions(rest) or is_denied(rest) or any(self._statements(rest))):
            return Choice(found.letters)
        return Choice("", f"{text!r:.60} is no option")

    def _offers_another(self, text: str, letters: str, end: int) -> bool:
        """Whether another letter is offered behind `letters`, which end at `end`: `A or B`, `A) B`.

        An option's text may look like a letter: if option B is `C`, then `B) C` offers no second letter.
        """
        if not self._reader.alternative(text, end):
            return False
        line = text[end : end + _LONGEST_LINE].split("\n")[0]
        apart = text[end - 1] in _CLOSING or _APART.match(line) is not None
        return not apart or not self._options.get(letters) or self._options[letters] != _behind_letter(line)

    def _statements(self, text: str) -> Iterator[_StatedChoice]:
        found: dict[int, _StatedChoice] = {}
        for label in _ANNOUNCED.finditer(text):
            behind = _BEHIND_ANNOUNCED.match(text, label.end())
            assert behind is not None
            stated = self._reader.read(text, behind.end())
            if stated is not None and not _QUESTION.match(text, stated.end):
                wrong = _WRONG.match(text, stated.end)
                denied = any(value for name, value in label.groupdict().items() if name.startswith("denied"))
                self._keep(found, text, label.start(), stated, denied or wrong is not None)
        for stated in self._reader.all(text):
            if (said := _FOLLOWED.match(text, stated.end)) and not _QUESTION.match(text, said.end()):
                denied = bool(said["denied"] or said["denied_zh"])
                self._keep(found, text, stated.start, stated._replace(end=said.end()), denied)
        yield from (found[end] for end in sorted(found))

    def _keep(self, found: dict[int, _StatedChoice], text: str, start: int, stated: Letters, denied: bool) -> None:
        clause = _CLAUSE.split(text[max(start - _BEFORE, 0) : start])[-1]
        if not _SUPPOSED.search(clause):
            found[stated.end] = _StatedChoice(stated.letters, start, stated.end, denied or is_denied(clause))

    def _last_asserted(self, text: str, statements: Sequence[_StatedChoice]) -> Choice:
        asserted = [statement for statement in statements if not statement.denied]
        if not asserted:
            return Choice("", DENIAL)
        last = asserted[-1]
        if any(other.denied and other.start > last.start and other.letters == last.letters for other in statements):
            return Choice("", DENIAL)
        if last.letters == OPEN or self._offers_another(text, last.letters, last.end):
            return Choice("", CONTRADICTION)
        for other, following in zip(asserted[-2::-1], asserted[:0:-1], strict=False):
            if not _are_side_by_side(self._without_option(text[other.end : following.start])):
                break
            if other.letters != last.letters:
                return Choice("", CONTRADICTION)
        return self._with_its_text(text, last)

    def _with_its_text(self, text: str, last: _StatedChoice) -> Choice:
        line = plain(text[last.end : last.end + _LONGEST_LINE].split("\n")[0])
        beside = [letter for letter, option in self._options.items() if option and option == line]
        return Choice("", CONTRADICTION) if beside and beside != [last.letters] else Choice(last.letters)

    def _without_option(self, between: str) -> str:
        told = plain(between)
        for option in self._options.values():
            if option and told.startswith(option):
                return told[len(option) :]
        return between

    def _last_line(self, text: str) -> Choice:
        lines = [line for line in text.rsplit("\n", 40) if line.strip()]
        found = [self.whole(line) for line in lines[-2:] if len(line) <= _LONGEST_LINE]
        if not found or not found[-1].letters:
            return Choice("", "no choice is stated")
        if len(found) > 1 and found[0].letters and found[0].letters != found[1].letters:
            return Choice("", CONTRADICTION)
        return found[-1]


_CLOSING = ")]}）】"
_APART = re.compile(r"[*_`]{0,3}\s{0,2}(?:[.:)\]）、]|[–—-]\s)")
# Punctuation behind a letter that does not change its meaning
_SIGNS = re.compile(r"[\s.。!*_`$)\]）]")
_LEAD = re.compile(
    r"(?:(?:the\s)?(?:correct\s|right\s|final\s)?(?:options?|choices?|answers?|letter)\b|选项|选择?|答案)?(?:\s?(?:is\b|是|为))?"
    r"[\s:：*_]{0,6}",
    re.IGNORECASE,
)


def _behind_letter(rest: str) -> str:
    """The text behind a letter, without the punctuation between, in the form of `plain`: `. Paris` gives `paris`."""
    return plain(re.sub(r"^[\s.:)\]）、,;*_–—-]{1,6}", "", rest))


def _are_side_by_side(between: str) -> bool:
    return len(between) < _BEFORE and all(word in _FILLER for word in re.findall(r"\w+", between.lower()))


def plain(text: str) -> str:
    """An option's text for comparison: case folded, white space collapsed, punctuation around it removed."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split()).strip(" .。,;:!*_`\"'$()[]")


class ChoiceConfig(StrictSection):
    """ChoiceJudge's `astuner.task_judge.judge_kwargs`."""

    #: the letters of the options, where a task does not list its options
    letters: str = Field(
        default="ABCDEFGH", pattern=r"^[A-Z]{2,26}$", description="2 to 26 capital letters, such as ABCD"
    )
    #: the key of the task's metadata that lists the options, where there is such a key: texts in order, a mapping of
    #: letters to texts, or `{label: [...], text: [...]}` as ARC has them
    options: str = "options"
    #: the number of the first option, 0 or 1, where references are numbers
    count_from: Literal[0, 1] | None = None


class ChoiceJudge(TextJudge[ChoiceConfig]):
    r"""Gives 1.0 and success for exactly the letters of `task.metadata["answer"]`, else 0.0.

    The reference is a letter, several (`"AC"`, `"A, C"`, `["A", "C"]`), or the text of an option that the task lists;
    with `count_from` also the number of an option.
    The letter is found in many forms: `(B)`, `B.`, `Answer: b`, `option B`, `选B`, `\boxed{B}`, `B. Paris`, or the
    option's text alone. Two letters, `A or B`, and a letter with the text of another option are 0.0; see
    `read_choice`.

    Raises:
        JudgeError: of a verdict: the reference or the options cannot be read. Without `count_from` a number is no
            reference, because it may count from 0 or from 1.
    """

    settings_class = ChoiceConfig

    def verdict(self, task: WorkflowTask, output: WorkflowOutput) -> Reward:
        """See TextJudge."""
        letters, options, right = self.reference(task.task)
        chosen = read_choice(final_answer(output), letters, options)
        if not chosen.letters:
            return Reward(0.0, False, reason=chosen.problem)
        equal = chosen.letters == right
        return Reward(float(equal), equal, reason=f"chosen {chosen.letters!r}, right is {right!r}")

    def reference_problem(self, task: Task, error: JudgeError) -> str:
        """See TextJudge: also `wrong type`."""
        value = task.metadata.get("answer")
        if value is None or (isinstance(value, str) and not value.strip()):
            return "missing"
        counted = self.settings.count_from is not None and _number(value) is not None
        readable = counted or isinstance(value, str) or as_list(value) is not None
        return "unreadable" if readable else "wrong type"

    def reference(self, task: Task) -> tuple[str, dict[str, str], str]:
        """See TextJudge: the letters of the options, the options' texts, and the right letters."""
        options = options_of(task.metadata.get(self.settings.options), self.settings.options)
        letters = "".join(options) or self.settings.letters
        value = task.metadata.get("answer")
        items = as_list(value)
        if self.settings.count_from is not None:
            items = [self._letter_of_number(item, letters) for item in ([value] if items is None else items)]
        return letters, options, _right(value if items is None else items, letters, options)

    def _letter_of_number(self, item: object, letters: str) -> object:
        """The letter of an option's number: with `count_from: 0`, 2 gives `C`. Any other item is returned as it is.

        Raises:
            JudgeError: no option has this number.
        """
        number, first = _number(item), self.settings.count_from
        if number is None or first is None:
            return item
        if not first <= number < first + len(letters):
            raise reference_error(
                f"the reference answer {item!r} is none of {len(letters)} options counted from {first}: see count_from "
                f"under {KWARGS}"
            )
        return letters[number - first]


def _number(value: object) -> int | None:
    """A whole number: 2, the text `2`, or 2.0, as a column with missing cells holds it. None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, Real):
        return int(float(value)) if float(value).is_integer() else None
    return int(value) if isinstance(value, str) and _DIGITS.fullmatch(value) else None


_DIGITS = re.compile(r"\s*[0-9]{1,2}\s*")


def _ambiguous_number(number: int, letters: str) -> str:
    """The error message for a reference that is a number, if it is not configured whether options count from 0 or 1."""
    from_0, from_1 = (repr(letters[at]) if 0 <= at < len(letters) else "none" for at in (number, number - 1))
    told = f"which may count the options from 0 ({from_0}) or from 1 ({from_1})"
    return f"the reference answer is the number {number}, {told}: write count_from: 0 or count_from: 1 under {KWARGS}"


def _right(value: object, letters: str, options: Mapping[str, str]) -> str:
    """The right letters, in order: `"C, A"` and `["C", "A"]` give `AC`, and `"Paris"` gives the letter of this option.

    Raises:
        JudgeError: the reference names no option.
    """
    listed = as_list(value)
    found = ""
    for item in [value] if listed is None else listed:
        if not isinstance(item, str) or not item.strip():
            number = _number(item)
            text = f"the reference answer must be a letter, or several, as text, got {value!r:.100}"
            raise reference_error(text if number is None else _ambiguous_number(number, letters))
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
            counts = ", or set judge_kwargs: {count_from: 0}, or 1" if _number(item) is not None else ""
            raise reference_error(
                f"the reference answer {item!r:.100} is none of {letters!r}: write the right option's letter{counts}; "
                "`math` is for numbers and formulas, `text_match` for words"
            )
    if not found:
        raise reference_error("the reference answer is an empty list")
    return "".join(sorted(set(found)))


def options_of(value: object, key: str) -> dict[str, str]:
    """The texts of a task's options by letter, in order: `["Paris", "Rome"]` gives `{"A": "Paris", "B": "Rome"}`.

    Args:
        value: what the task holds under `key`, in one of the forms of `ChoiceConfig.options`; None gives no options.
        key: for messages.

    Raises:
        JudgeError: they cannot be read.
    """
    if value is None:
        return {}
    if isinstance(value, Mapping) and {"label", "text"} <= set(value):
        labels, texts = as_list(value["label"]) or [], as_list(value["text"]) or []
        value = dict(zip(map(str, labels), texts, strict=True)) if len(labels) == len(texts) else {}
    elif (listed := as_list(value)) is not None:
        value = dict(zip(string.ascii_uppercase, listed, strict=False)) if 2 <= len(listed) <= 26 else {}
    if isinstance(value, Mapping) and len(value) >= 2 and all(map(_is_option, value.items())):
        return {str(letter).upper(): str(text) for letter, text in sorted(value.items())}
    raise reference_error(f"the task's {key!r} must list 2 to 26 texts, or map letters to texts, got {value!r:.100}")


def _is_option(item: tuple[object, object]) -> bool:
    letter, text = item
    named = isinstance(letter, str) and len(letter) == 1 and letter.isascii() and letter.isalpha()
    return named and isinstance(text, str | int | float) and not isinstance(text, bool)
