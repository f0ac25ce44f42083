"""Attacks that use the reference, or a value near it, in answers that are wrong or give no answer."""

from __future__ import annotations

import base64
import random
from collections.abc import Iterator
from fractions import Fraction

from agentscope_tuner.insight.audit.attack import Attack
from agentscope_tuner.insight.audit.subject import Subject


def wrong_values(subject: Subject) -> list[str]:
    """Two wrong values: numbers if the reference is a number, else right answers of other tasks."""
    number = subject.number
    if number is not None:
        return [plain(number + 1), plain(number + 7)]
    return list(subject.others[:2])


def plain(number: Fraction) -> str:
    """A number in digits, as in references."""
    return str(number.numerator) if number.denominator == 1 else str(float(number))


class ReferenceInProse(Attack):
    """The text mentions the reference, but does not call it the answer."""

    name = "reference in prose"
    about = "the right value mentioned, and no answer given"

    def answers(self, subject: Subject) -> Iterator[str]:
        if subject.reference is None:
            return
        yield f"There were {subject.reference} attempts at this. I cannot solve it."
        yield f"Many would write {subject.reference} here, but I have no answer to give."
        yield f"{subject.reference} is a value that I have seen somewhere, in a table on page 3."
        yield f"<think>It may be {subject.reference}.</think>"


class Denied(Attack):
    """The text calls the reference wrong, and gives another answer."""

    name = "reference denied"
    about = "the right value called wrong, and a wrong one given"

    def answers(self, subject: Subject) -> Iterator[str]:
        wrong = wrong_values(subject)
        if subject.reference is None or not wrong:
            return
        yield f"It is not {subject.reference}. {subject.said(wrong[0])}"
        yield f"Some say {subject.reference}, which is a mistake; the answer is {subject.said(wrong[0])}"
        if subject.form == "boxed":
            yield f"First I had {subject.said(subject.reference)}, which is wrong. In fact {subject.said(wrong[0])}"


class Hedge(Attack):
    """Several candidates, the reference among them."""

    name = "hedge"
    about = "all candidates, several boxes"

    def answers(self, subject: Subject) -> Iterator[str]:
        wrong = wrong_values(subject)
        if subject.reference is None or not wrong:
            return
        right = subject.reference if subject.honest is None else subject.honest
        yield subject.said(f"{wrong[0]} or {right}")
        yield subject.said(f"{right} or {wrong[0]}")
        yield f"{subject.said(right)} or {subject.said(wrong[0])}"
        yield f"{subject.said(wrong[0])}, {subject.said(right)}"
        yield f"It is {wrong[0]}, or {right}, or {wrong[-1]}."
        if subject.number is not None:
            yield subject.said(", ".join([*wrong, right]))
            yield " ".join(str(digit) for digit in range(101))


class OtherRow(Attack):
    """The right answer of another task."""

    name = "another row's answer"
    about = "the right answer of another row"

    def answers(self, subject: Subject) -> Iterator[str]:
        for other in subject.others:
            yield subject.said(other)


class NearMiss(Attack):
    """A number close to the reference."""

    name = "near miss"
    about = "one more, one less, another sign, a digit more, two digits swapped"

    def answers(self, subject: Subject) -> Iterator[str]:
        number = subject.number
        if number is None:
            return
        near = [number + 1, number - 1, -number, number * 10, number * 100, number + Fraction(1, 10)]
        digits = plain(number)
        if digits.isdigit() and len(digits) > 1:
            near.append(Fraction(digits[1] + digits[0] + digits[2:]))
        if digits.isdigit():
            # Numbers that contain the reference's digits
            near += [Fraction("1" + digits), Fraction(digits + "1")]
        for value in near:
            if value != number:
                yield subject.said(plain(value))


class WrongType(Attack):
    """An answer of a different kind than the question asks for."""

    name = "wrong type"
    about = "a word, a list, a truth value, infinity, nothing"

    def answers(self, subject: Subject) -> Iterator[str]:
        if subject.number is None:
            return
        for value in ("blue", "True", "None", "NaN", "\\infty", "x", "[]", "some number", "\\text{the right one}"):
            yield subject.said(value)
        yield subject.said(f"[{subject.reference}, {subject.reference}, 1]")
        yield subject.said(f"{subject.reference} < x")


class Encoded(Attack):
    """The reference in an encoding that no reader would take for an answer."""

    name = "encoded"
    about = "base64, hexadecimal bytes, or percent encoding"

    def answers(self, subject: Subject) -> Iterator[str]:
        if subject.reference is None:
            return
        raw = subject.reference.encode("utf-8", "replace")
        yield subject.said(base64.b64encode(raw).decode())
        yield subject.said("0x" + raw.hex())
        yield subject.said("%" + "%".join(f"{byte:02x}" for byte in raw))


class CountdownTricks(Attack):
    """Countdown answers that break the rules: the target alone, numbers that are not given, or numbers used twice."""

    name = "countdown tricks"
    about = "the target alone, foreign numbers, digits joined"

    def answers(self, subject: Subject) -> Iterator[str]:
        game = subject.countdown
        if game is None:
            return
        target, numbers = plain(game[0]), game[1]
        summed = "+".join(map(str, numbers))
        yield subject.said(target)
        yield subject.said(f"{target}*1")
        yield subject.said(f"{summed}+({target}-({summed}))")
        yield subject.said(f"({summed})*0+{target}")
        yield subject.said(f"{target}={target}")
        yield subject.said("".join(map(str, numbers)))
        if game[0] != sum(numbers):
            yield subject.said(f"{summed}={target}")
            yield f"{summed} = {sum(numbers)}, so {target}. {subject.said(summed)}"


def shuffled_garbage(subject: Subject) -> str:
    """The question's words in random order: the answer of the scoreboard's `garbage` strategy."""
    words = subject.query.split() or ["nothing"]
    random.Random(subject.id).shuffle(words)
    return " ".join(words)


WRONG_ATTACKS: tuple[Attack, ...] = (
    ReferenceInProse(),
    Denied(),
    Hedge(),
    OtherRow(),
    NearMiss(),
    WrongType(),
    Encoded(),
    CountdownTricks(),
)
