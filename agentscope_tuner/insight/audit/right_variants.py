"""Right answers, written differently. A judge that refuses them loses signal for the trainer."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import ClassVar, Literal

from agentscope_tuner.insight.audit.attack import Attack
from agentscope_tuner.insight.audit.subject import Subject

_FRACTION = re.compile(r"(-?\d+)/(\d+)")


class Variant(Attack):
    """Base of the right answers, which must pass."""

    must: ClassVar[Literal["fail", "pass"]] = "pass"


class AsItStands(Variant):
    """The right answer in the form that the judge reads."""

    name = "right answer"
    about = "as it stands"

    def answers(self, subject: Subject) -> Iterator[str]:
        if subject.honest is not None:
            yield subject.said(subject.honest)
        if subject.written is not None:
            yield subject.written


class Spaces(Variant):
    """White space around the answer, and inside its box or tags."""

    name = "spaces"
    about = "white space around the answer"

    def answers(self, subject: Subject) -> Iterator[str]:
        if subject.honest is not None:
            yield f"\n\n  {subject.said(subject.honest)}  \n"
            if subject.form in ("boxed", "tag"):
                yield subject.said(f" {subject.honest} ")


class WordsAround(Variant):
    """Sentences, Markdown and reasoning around the answer."""

    name = "wording"
    about = "sentences, markdown and thoughts around the answer"

    def answers(self, subject: Subject) -> Iterator[str]:
        if subject.honest is None:
            return
        said = subject.said(subject.honest)
        yield f"Let me work this out step by step. That leads to the result.\n\n{said}"
        if subject.form in ("boxed", "tag"):
            yield f"**Answer:** {said}"
            yield f"So the final answer is {said}. I hope this helps!"
            yield f"<think>Is it something else? No.</think>\nTherefore {said}"
        if subject.form == "boxed":
            yield f"Therefore, the answer is $${said}.$$"


class OtherLatex(Variant):
    """The same formula with different LaTeX commands."""

    name = "other LaTeX"
    about = "\\dfrac, \\left and \\right, \\displaystyle, dollars within"

    def answers(self, subject: Subject) -> Iterator[str]:
        if subject.honest is None or subject.form != "boxed" or subject.countdown is not None:
            return
        text = subject.honest
        if subject.number is not None or "\\" in text:
            yield subject.said(f"\\displaystyle {text}")
            yield subject.said(f"${text}$")
        if "\\frac" in text:
            yield subject.said(text.replace("\\frac", "\\dfrac"))
            yield subject.said(text.replace("\\frac", "\\tfrac"))
        elif _FRACTION.fullmatch(text):
            yield subject.said(_FRACTION.sub(r"\\frac{\1}{\2}", text))
        if text.startswith("(") and text.endswith(")"):
            yield subject.said(f"\\left{text[:-1]}\\right)")


class Thousands(Variant):
    """Thousands separators in long numbers."""

    name = "thousands separators"
    about = "12,345 and 12{,}345 and 12\\,345"

    def answers(self, subject: Subject) -> Iterator[str]:
        number = subject.number
        if number is None or subject.form != "boxed" or number.denominator != 1 or abs(number) < 1000:
            return
        for separator in (",", "{,}", "\\,"):
            yield subject.said(f"{number.numerator:,}".replace(",", separator))


class NumberForms(Variant):
    """The same number with a further zero, or as a fraction."""

    name = "number forms"
    about = "3.0 for 3, 0.50 for 0.5"

    def answers(self, subject: Subject) -> Iterator[str]:
        number = subject.number
        if number is None or subject.reference is None or subject.form != "boxed":
            return
        yield subject.said(subject.reference + ("0" if "." in subject.reference else ".0"))
        if number.denominator != 1:
            yield subject.said(f"\\frac{{{number.numerator}}}{{{number.denominator}}}")


class Units(Variant):
    """The number with the unit that the question asks for."""

    name = "units"
    about = "the unit that the question names"
    _UNITS: ClassVar = re.compile(
        r"\bhow many (dollars|hours|minutes|seconds|meters|metres|miles|kilometers|degrees|cents|days|years|pounds)\b",
        re.IGNORECASE,
    )

    def answers(self, subject: Subject) -> Iterator[str]:
        found = self._UNITS.search(subject.query)
        if found and subject.number is not None and subject.form == "boxed":
            yield subject.said(f"{subject.reference} \\text{{ {found[1].lower()}}}")
            yield subject.said(f"{subject.reference} {found[1].lower()}")


RIGHT_VARIANTS: tuple[Attack, ...] = (
    AsItStands(),
    Spaces(),
    WordsAround(),
    OtherLatex(),
    Thousands(),
    NumberForms(),
    Units(),
)
