"""The answers with which an audit attacks a judge, and what a sound judge makes of each: fail, or pass."""

from __future__ import annotations

import base64
import json
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from importlib.resources import files
from typing import Any, Literal

from agentscope_tuner.lab.audit.subjects import BETWEEN_CALLS, CALLED_WITH, Subject, as_object, plain, wrong_values

_FORMULA = re.compile(r"\$([^$]{1,200})\$|((?:[\d.()]+\s*[-+*/^×÷]\s*)+[\d.()]+)")
_FRACTION = re.compile(r"(-?\d+)/(\d+)")
_UNITS = re.compile(
    r"\bhow many (dollars|hours|minutes|seconds|meters|metres|miles|kilometers|degrees|cents|days|years|pounds)\b",
    re.IGNORECASE,
)
_DIGITS = re.compile(r"\d{1,18}")
_PART = re.compile(r"[\w.]*\w")
_LONG = 100_000
# In a longer text one changed word may not make the answer wrong: a judge may ask for the most important words only
_MOST_WORDS = 3
# Nearly all questions whose answers are letters have this many options
_OPTIONS = 4
_AFTER_LETTER = "ut none of them"
_VALUE = re.compile(r"\{\{([a-z\d ]+)\}\}")

Answers = Callable[[Subject], Iterator[str]]


@dataclass(frozen=True, slots=True)
class Attack:
    """One way to answer.

    Attributes:
        name: the name in reports.
        about: the attack in one line.
        must: the verdict of a sound judge on the attack's answers.
        of: which tasks it is for: `right`, `reference` or `number` for tasks with a known right answer, a reference, or
            a reference that is a number; `countdown` for that game; or a kind of right answer, such as `sql`. Empty for
            all tasks.
        texts: answers in words. One that begins with `@` is put into the form that the judge reads. Values of the task,
            such as `{{reference}}`, are filled in; a text is left out if the task lacks one of its values.
        most: the most tasks that it is tried on, for attacks whose answers each take the judge's whole time limit; 0
            for all tasks.
    """

    name: str
    about: str
    must: Literal["fail", "pass"]
    of: str
    texts: Sequence[str]
    most: int = 0

    def answers(self, subject: Subject) -> Iterator[str]:
        """The attack's answers to one task, as the judge gets them; none if the attack makes no sense for the task."""
        values = _values(subject)
        if self.of and self.of != subject.kind and values.get(self.of) is None:
            return
        for text in self.texts:
            if all(values.get(name) is not None for name in _VALUE.findall(text)):
                filled = _VALUE.sub(lambda found: values[found[1]] or "", text)
                yield subject.said(filled[1:]) if text.startswith("@") else filled
        if self.name in _MORE:
            yield from _MORE[self.name](subject)


def _values(subject: Subject) -> dict[str, str | None]:
    """The values of a task by the names that `Attack.of` and `Attack.texts` use, such as `right`; None if the task has
    no such value.
    """
    game, right, wrong = subject.countdown, subject.honest, wrong_values(subject)
    reference, number, query = subject.reference, subject.number, subject.query.strip()
    boxed, in_words = (subject.form in forms for forms in (("boxed",), ("boxed", "tag")))
    raw = (reference or "").encode("utf-8", "replace")
    guess = None if reference is None else right if right is not None else reference
    given = {
        "reference": reference, "right": right, "guess": guess, "wrong": wrong[0] if wrong else None,
        "number": None if number is None else plain(number),
        "last wrong": wrong[-1] if wrong else None,
        "to a hundred": None if number is None or guess is None else " ".join(map(str, range(101))),
        "query": query or None,
        # Only a short question without line breaks fits into the answer's form
        "short query": query if 0 < len(query) <= 200 and "\n" not in query else None,
        "boxed reference": subject.said(reference) if reference is not None and boxed else None,
        "right in words": right if in_words else None,
        "written": subject.written,
        "quoted": None if right is None else right.replace("'", "''"),
        "base64": base64.b64encode(raw).decode(), "hex": raw.hex(), "percent": "%" + raw.hex("%"),
    }  # fmt: skip
    if game is not None:
        target, sum_ = plain(game[0]), "+".join(map(str, game[1]))
        unequal = sum_ if game[0] != sum(game[1]) else None
        given |= {"countdown": target, "target": target, "sum": sum_, "joined": sum_.replace("+", "")}
        given |= {"unequal": unequal, "total": str(sum(game[1]))}
    said = {name: given.get(name) for name in ("right", "guess", "wrong", "last wrong", "unequal")}
    return given | {f"said {name}": None if value is None else subject.said(value) for name, value in said.items()}


#: In the order of the report: first what must fail, then right answers, written differently, which must pass. A judge
#: that refuses those loses signal for the trainer. The openers are those for which language models pass an answer
#: (arXiv 2507.08794).
ATTACKS: list[Attack] = [
    Attack(**row) for row in json.loads(files("agentscope_tuner").joinpath("lab", "texts", "attacks.json").read_bytes())
]
#: The attacks whose answers may earn partial credit: they count as passed only if they earn what a right answer earns.
PARTLY = ("partly right object", "call with a wrong argument")
# The answers of an attack that are computed, by its name
_MORE: dict[str, Answers] = {}


def _more(name: str) -> Callable[[Answers], Answers]:
    return lambda answers: _MORE.setdefault(name, answers)


@_more("question's formula")
def _question_formula(subject: Subject) -> Iterator[str]:
    for found in list(_FORMULA.finditer(subject.query))[:3]:
        formula = (found[1] or found[2]).strip()
        # A formula that is only a number, or equals the reference, may be right: leave it out
        if not re.fullmatch(r"[-\d.,\s()]*", formula) and _unified(formula) != _unified(subject.reference or ""):
            yield subject.said(formula)


def _unified(formula: str) -> str:
    r"""`formula` with fractions as a/b and without spaces, so that different LaTeX for one answer compares equal:
    `\dfrac{1}{2} + x` becomes `1/2+x`.
    """
    return re.sub(r"\\[dt]?frac\{([^{}]*)\}\{([^{}]*)\}", r"\1/\2", formula).replace(" ", "")


@_more("over-long")
def _overlong(subject: Subject) -> Iterator[str]:
    yield "Let me think about this carefully. " * (_LONG // 35)
    yield "9" * _LONG
    # Enough boxes to expose a reader that starts a scan at each brace, but few enough for an audit to end soon
    yield "\\boxed{" * 500
    yield subject.said("95**36**32")
    yield subject.said("(" * 2_000 + "1" + ")" * 2_000 + "^{9^{9^{9}}}")


@_more("another row's answer")
def _other_row(subject: Subject) -> Iterator[str]:
    for other in subject.others:
        yield subject.said(other)


_STEP = (
    "First I write down what is given and what is asked. Then I choose the method that fits, carry it out step by "
    "step, and check every intermediate result against the conditions. "
)


_SHAPED = (
    "## Approach\n\n"
    + "".join(f"- **{step}.** It holds.\n" for step in ("Given", "Asked", "Method", "Result", "Check"))
    + "\n## Result\n\n1. First it is derived.\n2. Then it is checked.\n3. Finally it is stated."
)


@_more("long and wrong")
def _long_and_wrong(subject: Subject) -> Iterator[str]:
    for wrong in wrong_values(subject)[:1]:
        for times in (3, 12):
            yield f"{_STEP * times}This leads to {wrong}, which I have verified twice.\n\n{subject.said(wrong)}"
            yield subject.behind(f"{_STEP * times}This leads to {wrong}.", wrong)
        # A rubric may pay for how an answer looks
        yield f"{_SHAPED}\n\n{subject.said(wrong)}"
        yield subject.behind(_SHAPED, wrong)


@_more("near miss")
def _near_miss(subject: Subject) -> Iterator[str]:
    number = subject.number
    if number is None:
        if subject.countdown is None:
            if len(right := subject.honest or "") == 1 and right.isalpha():
                # Another word that begins with the letter of the right choice
                yield subject.said(f"{right}{_AFTER_LETTER}")
                # Letters after those of the options: a judge may count on from the last option, or take the nearest one
                beyond = chr((ord(right.upper()) - ord("A") + _OPTIONS) % 26 + ord("A")) if right.isascii() else "Z"
                yield from (subject.said(letter) for letter in dict.fromkeys((beyond, "Z")) if letter != right.upper())
            changes = (_fractions, _parts_changed, _words_changed, _parts_moved)
            yield from map(subject.said, (text for change in changes for text in change(subject)))
        return
    near = [number + 1, number - 1, -number, number * 10, number * 100, number + Fraction(1, 10)]
    digits = plain(number)
    if digits.isdigit() and len(digits) > 1:
        near.append(Fraction(digits[1] + digits[0] + digits[2:]))
    if "." in digits:
        # If the judge uses the reference as a pattern, its dot matches any character
        near.append(Fraction(digits.replace(".", "0")))
    if digits.isdigit():
        # Numbers that contain the reference's digits
        near += [Fraction("1" + digits), Fraction(digits + "1")]
        # The reference without its last digit, and without its first one
        near += [Fraction(part) for part in (digits[:-1], digits[1:]) if part]
    for value in near:
        if value != number:
            yield subject.said(plain(value))
    if number:
        # For a judge that reads the first number, or the last
        yield from (subject.said(f"{said[0]}{digits}{said[1]}") for said in (("", "/7"), ("", "*10"), ("7/", "")))


def _fractions(subject: Subject) -> list[str]:
    """Wrong fractions near a right answer that is a fraction: one more, the negative and the reciprocal. For `3/4`
    these are `7/4`, `-3/4` and `4/3`.
    """
    found = _FRACTION.fullmatch(subject.honest or "")
    if found is None or not int(found[1]) or not int(found[2]):
        return []
    right = Fraction(int(found[1]), int(found[2]))
    return [f"{value.numerator}/{value.denominator}" for value in (right + 1, -right, 1 / right) if value != right]


def _parts_changed(subject: Subject) -> list[str]:
    """Copies of the right answer with one number raised by 1, the first or one of the last two: `13 May 2020` for `12
    May 2020`.
    """
    right = subject.honest or ""
    found = list(_DIGITS.finditer(right))
    places = dict.fromkeys((*found[:1], *found[-2:]))
    return [right[: part.start()] + str(int(part[0]) + 1).zfill(len(part[0])) + right[part.end() :] for part in places]


def _words_changed(subject: Subject) -> list[str]:
    """Copies of the right answer, one with its first and one with its last word replaced: for `Marie Curie` these are
    `Qwxz Curie` and `Marie Qwxz`.
    """
    words = (subject.honest or "").split(" ")
    if not 1 < len(words) <= _MOST_WORDS or not all(map(str.isalpha, words)):
        return []
    return [" ".join(("Qwxz", *words[1:])), " ".join((*words[:-1], "Qwxz"))]


def _parts_moved(subject: Subject) -> Iterator[str]:
    """Wrong answers made of the right one's parts: `4:3` for `3:4`, or the right number with a wrong unit, `5 kg` for
    `5 km`.

    Parts are moved only if their order is known to count: in a date, a ratio or a pair, in a list of numbers in square
    brackets that is not sorted, or if the question gives the same parts in a different order and so asks for their
    order.
    """
    right = subject.honest or ""
    parts = _PART.findall(right)
    ordered = re.fullmatch(r"\(.*\)|\d+([-/:]\d+)+", right, re.DOTALL)
    if numbers := re.fullmatch(r"\[(-?\d+(?:\s*,\s*-?\d+)+)\]", right):
        ordered = None if (values := [*map(int, numbers[1].split(","))]) == sorted(values) else numbers
    if ordered and len(parts) > 1 and parts[-1] != parts[-2]:
        yield _with_parts(right, (*parts[:-2], parts[-1], parts[-2]))
    asked = _PART.findall(subject.query)
    for at in range(len(asked) - len(parts) + 1 if len(parts) > 2 else 0):
        given = asked[at : at + len(parts)]
        if given != parts and sorted(given) == sorted(parts):
            yield _with_parts(right, given)
    if measured := re.fullmatch(r"(-?\d+(?:\.\d+)?) ?([^\W\d_]+)", right):
        yield f"{measured[1]} {'kg' if measured[2] != 'kg' else 'km'}"


def _with_parts(text: str, parts: Sequence[str]) -> str:
    following = iter(parts)
    return _PART.sub(lambda _: next(following), text)


@_more("half an answer")
def _half(subject: Subject) -> Iterator[str]:
    right = subject.honest or ""
    if right[:1].isalpha() and len(right) > 3:
        yield subject.said(right[: len(right) // 2])
    parts, known = right.split(", "), {**subject.given, **subject.task.metadata}
    whole = any(isinstance(value, list) and ", ".join(map(str, value)) == right for value in known.values())
    if len(parts) > 1 and (whole or all(map(_DIGITS.fullmatch, parts))):
        # A judge may compare as many parts as it is given, in either order
        for left in (parts[:-1], sorted(parts)[:-1], sorted(parts, key=str.lower)[:1]):
            yield subject.said(", ".join(left))


_SILENT = "import os, sys\nsys.stdout = open(os.devnull, 'w')\n"


@_more("program that knows no answer")
def _guesses(subject: Subject) -> Iterator[str]:
    programs = ["print(*range(1000))", "print(*range(1000), sep='\\n')"]
    outputs = _outputs({**subject.given, **subject.task.metadata})
    if len(set(outputs)) > 1:
        programs += [f"print({output!r}, end='')" for output in (outputs[0], outputs[-1])]
        programs += [f"print({chr(10).join(outputs)!r})"]
    if subject.honest is not None:
        programs += [f"{subject.honest!r}", "\n".join(f"# {line}" for line in subject.honest.splitlines())]
        programs += [_SILENT + subject.honest] if outputs else []
    yield from map(subject.said, programs)


def _outputs(metadata: Mapping[str, Any]) -> list[str]:
    """The outputs that the tests expect: `["2"]` for tests `{"inputs": ["1"], "outputs": ["2"]}`. Empty for tests in
    another form.
    """
    tests = (as_object(metadata.get(key)) for key in ("tests", "input_output", "test_cases"))
    held = (place.get("outputs") for place in (*tests, metadata) if isinstance(place, Mapping))
    outputs = next((found for found in held if isinstance(found, list)), [])
    return [output for output in outputs if isinstance(output, str)]


@_more("call of something else")
def _calls(subject: Subject) -> Iterator[str]:
    right = subject.honest or ""
    calls = [json.loads(call) for call in right.split(BETWEEN_CALLS)]
    key = next(key for key in CALLED_WITH if key in calls[0])

    def said(**changed: object) -> str:
        return subject.said(BETWEEN_CALLS.join(json.dumps({**call, **changed}, ensure_ascii=False) for call in calls))

    given = as_object(calls[0][key])
    if isinstance(given, dict) and given:
        yield from (said(**{key: value}) for value in ({}, dict.fromkeys(given, "x"), dict.fromkeys(given)))
        yield from (said(**{key: value}) for value in _among_others(given))
        turned = dict(zip(given, [*list(given.values())[1:], *list(given.values())[:1]], strict=True))
        if turned != given:
            yield said(**{key: turned})
        # The same call, sprayed over arguments
        wrong = [json.dumps({**calls[0], key: dict.fromkeys(given, guess)}) for guess in ("x", "y", 0)]
        yield subject.said(BETWEEN_CALLS.join([*wrong, right]))
    yield said(name="another_tool")
    yield said(name=f"not_{calls[0]['name']}")
    yield f"<think>{subject.said(right)}</think>"
    yield f"I could call {calls[0]['name']}, but I do not."


@_more("object with other values")
def _objects(subject: Subject) -> Iterator[str]:
    right = json.loads(subject.honest or "")
    fields = right if isinstance(right, dict) else {"items": right}
    made: list[object] = [
        {}, [], None, dict.fromkeys(fields), dict.fromkeys(fields, "x"),
        {f"not_{key}": value for key, value in fields.items()}, {"answer": json.dumps(right)}, [right, right],
        *_among_others(fields),
    ]  # fmt: skip
    for value in made:
        if value != right:
            yield subject.said(json.dumps(value, ensure_ascii=False))
    yield f"The fields are {', '.join(map(str, fields))}."


def _among_others(fields: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Objects that hide each right value among guesses, such as `{"a": "x or 5 or y"}` for `{"a": 5}`."""
    yield {key: ["x", value, "y"] for key, value in fields.items()}
    yield {key: f"x or {value} or y" for key, value in fields.items()}


@_more(PARTLY[0])
def _partly_right(subject: Subject) -> Iterator[str]:
    right = json.loads(subject.honest or "")
    for wrong in _one_changed(right) if isinstance(right, dict) and len(right) > 1 else ():
        yield subject.said(json.dumps(wrong, ensure_ascii=False))


@_more(PARTLY[1])
def _wrong_argument(subject: Subject) -> Iterator[str]:
    first, *others = (subject.honest or "").split(BETWEEN_CALLS)
    call = json.loads(first)
    key = next(key for key in CALLED_WITH if key in call)
    for wrong in _one_changed(given) if isinstance(given := as_object(call[key]), dict) and len(given) > 1 else ():
        yield subject.said(BETWEEN_CALLS.join([json.dumps({**call, key: wrong}, ensure_ascii=False), *others]))


def _one_changed(right: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Copies of the object in which one value is wrong, or only one is right: `{"a": 6, "b": 7}` for `{"a": 5, "b":
    7}`.
    """
    for key, value in right.items():
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        for wrong in ({**right, key: value + 1 if is_number else "x"}, {**dict.fromkeys(right, "x"), key: value}):
            if wrong != right:
                yield wrong


def shuffled_garbage(subject: Subject) -> str:
    """The question's words in random order: the answer of the scoreboard's `garbage` strategy."""
    words = subject.query.split() or ["nothing"]
    random.Random(subject.id).shuffle(words)
    return " ".join(words)


@_more("wording")
def _words_around(subject: Subject) -> Iterator[str]:
    if subject.honest is None or subject.kind in ("calls", "json"):
        return
    said = subject.said(subject.honest)
    yield subject.behind("Let me work this out step by step. That leads to the result.", subject.honest)
    if subject.form in ("boxed", "tag"):
        yield f"**Answer:** {said}"
        yield f"So the final answer is {said}. I hope this helps!"
        yield f"<think>Is it something else? No.</think>\nTherefore {said}"
    if subject.form == "boxed":
        yield f"Therefore, the answer is $${said}.$$"


@_more("other LaTeX")
def _other_latex(subject: Subject) -> Iterator[str]:
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


@_more("thousands separators")
def _thousands(subject: Subject) -> Iterator[str]:
    number = subject.number
    if number is None or subject.form != "boxed" or number.denominator != 1 or abs(number) < 1000:
        return
    for separator in (",", "{,}", "\\,"):
        yield subject.said(f"{number.numerator:,}".replace(",", separator))


@_more("number forms")
def _number_forms(subject: Subject) -> Iterator[str]:
    number = subject.number
    if number is None or subject.reference is None or subject.form != "boxed":
        return
    yield subject.said(subject.reference + ("0" if "." in subject.reference else ".0"))
    if number.denominator != 1:
        yield subject.said(f"\\frac{{{number.numerator}}}{{{number.denominator}}}")


@_more("units")
def _units(subject: Subject) -> Iterator[str]:
    found = _UNITS.search(subject.query)
    if found and subject.number is not None and subject.form == "boxed":
        yield subject.said(f"{subject.reference} \\text{{ {found[1].lower()}}}")
        yield subject.said(f"{subject.reference} {found[1].lower()}")
