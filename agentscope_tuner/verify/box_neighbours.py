r"""Signs and numbers directly beside a box: `1+\boxed{42}` and `43=\boxed{42}` are no answers, `-\boxed{7}` is -7."""

from __future__ import annotations

import re

_NEAR = 60
# The last character before a box that is a part of something larger, or the command that ends there
_JOINING = frozenset("0123456789-−.+*/×·÷{^_")
_LONGEST_COMMAND = 8
_COMMAND_ENDS = ("\\cdot", "\\times", "\\div")
# The characters beside a box that is part of a longer number, or that has a sign before it
_PART_BEFORE = re.compile(r"(?:(?:\A|[\s$=(:：])[-−]|\d|(?<![\d.])0\.)\$?\Z|=\s*[-−]\s+\Z")
_PART_BEHIND = re.compile(r"\s?\^(?!\s*\{?\s*(?:\\circ|\\prime|\*))|\d|\.\d")
# A formula of numbers may begin behind a word, a stop, a delimiter or an equals sign
_WORD = r"\b(?:so|thus|hence|then|therefore|that|and|is|was|are|equals|have|get|gives|total|sum|answer|result|value)\s"
_BEGINNING = rf"(?:\A|\n|[=$:：，。是为得]|\\[(\[]|[.,;]\s|(?<!\\){_WORD})\s*"
_OPERATOR = r"(?:[+*/×·÷]|\\(?:cdot|times|div)(?![a-zA-Z]))"
_NUMBERS = r"(?:[\d.,+*/^(){}×·÷−\s-]|\\(?:cdot|times|div|[dt]?frac|sqrt|pi|left|right)(?![a-zA-Z]))"
_OPERATED_BEFORE = re.compile(
    rf"{_BEGINNING}(?:[\d(]|\\(?:[dt]?frac|sqrt|pi)){_NUMBERS}{{0,40}}?(?<=[\d)}}\si])"
    rf"(?:{_OPERATOR}\s*|[-−]|(?P<spaced>\s[-−]\s+))\$?\Z",
    re.IGNORECASE,
)
_OPERATED_BEHIND = re.compile(rf"\s?(?:{_OPERATOR}|[-−](?=\d))\s?\d[\d.,]*(?![\d.]*\s?[a-zA-Z\\^])")
_BEGUN = re.compile(rf"{_BEGINNING}\Z", re.IGNORECASE)
# The box is the operand of a root, a fraction, a power or an index
_OPERAND = re.compile(
    r"(?:\\sqrt\s*(?:\[[^\]]{1,3}\]\s*)?\{|\\[dt]?frac\s*(?:\{[^{}]{1,30}\}\s*)?\{|\d[\^_]\s*\{?)\s*\Z"
)
# An equation in which the box fills the gap: `3+\boxed{4}=7`
_EQUATION_BEHIND = re.compile(r"[^$\n=]{0,60}=")
_EQUATION_BEFORE = re.compile(r"\d[\d.,]*[^$\n=a-zA-Z]{0,30}=[^$\n=]{0,60}\Z")
# Another integer beside the box: a second candidate, or a value that the text equates with the box
_OR_BEFORE = re.compile(r"(?P<other>[-−]?\d[\d,]*)[\s$]*(?:\bor|或者?是?)\s*\$?\Z", re.IGNORECASE)
_OR_ENDS = ("r", "R", "者", "或", "是")
_OR_BEHIND = re.compile(r"\s*\$?\s*(?:\bor\b|或者?)\s*\$?(?P<other>[-−]?\d[\d,]*)(?![\d.]*[\d/%^])", re.IGNORECASE)
_EQUATED = re.compile(
    r"\s*\$?\s*(?:=|→|->|\\(?:right)?(?:to|arrow)\b)\s*\$?\s*(?P<other>[-−]?\d[\d,]*)\s*(?:\$|\.?\s*\Z|\\[)\]])"
)
_EQUATED_BEFORE = re.compile(rf"{_BEGINNING}(?P<other>[-−]?\d[\d,]*)\s*\$?\s*=\s*\$?\s*\Z", re.IGNORECASE)
# The formula ends behind the box, without a unit, an index or a power that would change the value
_ENDED = re.compile(r"\s*(?:\$|\.?\s*\Z|\\[)\]]|[.,;。，；](?!\d))")
_INTEGER = re.compile(r"\s*[-−]?\d[\d,]*\s*")
# A sign that belongs to the value in the box
_SIGN = re.compile(
    r"(?:\A|\n|[=:：$]|\\[(\[]|\b(?:is|equals|be)\s|[是为得])\s*(?P<sign>[-−])\$?\Z|=\s*(?P<apart>[-−])\s+\Z"
)
_SIGNED_AGAIN = re.compile(r"\s*(?:[-+−±]|\\(?:pm|mp|text)\b)")
_LISTED = re.compile(r"[=;<>]|,(?!\d{3})|\\text")


def is_joined_before(near: str, text: str, start: int, end: int) -> bool:
    """Whether the box is a part of a longer number or of a formula by the text before it: with a sign, under a root.

    Args:
        near: the text just before the box.
        text: the whole output.
        start: where the box begins.
        end: where it ends.
    """
    if not _ends_joining(near):
        return False
    near = _marked(near, start)
    if _PART_BEFORE.search(near) is not None:
        return True
    found = _OPERAND.search(near) or _OPERATED_BEFORE.search(near)
    if found is None or (found.groupdict().get("spaced") is not None and not _is_in_formula(near)):
        return False
    return not _is_in_equation(near, text, end)


def _ends_joining(near: str) -> bool:
    near = near.rstrip(" $")
    return near[-1:] in _JOINING or ("\\" in near[-_LONGEST_COMMAND:] and near.endswith(_COMMAND_ENDS))


def is_joined_behind(near: str, text: str, start: int, end: int) -> bool:
    """The same by the text behind the box: with a power, with a number that is added or taken away."""
    if _PART_BEHIND.match(text, end) is not None:
        return True
    if _OPERATED_BEHIND.match(text, end, end + _NEAR) is None:
        return False
    near = _marked(near, start)
    return _BEGUN.search(near) is not None and not _is_in_equation(near, text, end)


def _is_in_equation(near: str, text: str, end: int) -> bool:
    return _EQUATION_BEHIND.match(text, end, end + _NEAR) is not None or _EQUATION_BEFORE.search(near) is not None


def _marked(near: str, start: int) -> str:
    """The text just before the box, with a mark before it where it is not all of the text."""
    near = near[-_NEAR:]
    return f"…{near}" if start > len(near) else near


def _is_in_formula(near: str) -> bool:
    # The last `$` opens the formula of the box, which leaves the operator outside
    line = near[near.rfind("\n") + 1 :].removesuffix("$")
    opened = line.count("$") % 2 == 1
    return opened or any(line.rfind(f"\\{o}") > line.rfind(f"\\{c}") for o, c in ("()", "[]"))


def is_second_of_two(near: str, behind: str, start: int, inside: str) -> bool:
    """Whether an integer stands behind another integer, as a second candidate or as what it equals.

    Args:
        near: the text just before the box.
        behind: the text behind it, with single spaces.
        start: where the box begins.
        inside: the text in the box.
    """
    last = near.rstrip("$ \n")[-1:]
    if last in _OR_ENDS:
        return _INTEGER.fullmatch(inside) is not None and _is_other(_OR_BEFORE.search(near), inside)
    if last != "=" or _INTEGER.fullmatch(inside) is None or (behind and _ENDED.match(behind) is None):
        return False
    return _is_other(_EQUATED_BEFORE.search(_marked(near, start)), inside)


def is_first_of_two(near: str, behind: str, inside: str) -> bool:
    """Whether another integer stands behind an integer, as a second candidate or as what it equals."""
    if _INTEGER.fullmatch(inside) is None:
        return False
    if _is_other(_OR_BEHIND.match(behind), inside):
        return True
    # `3+\\boxed{4}=7`: the sum equals it
    return not _ends_joining(near) and _is_other(_EQUATED.match(behind), inside)


def _is_other(found: re.Match[str] | None, inside: str) -> bool:
    return found is not None and _digits(found["other"]) != _digits(inside)


def _digits(text: str) -> str:
    return text.replace(",", "").replace("−", "-").strip()


def sign_of(near: str, start: int, inside: str) -> int | None:
    """Where the minus sign stands that belongs to the value in the box; None where none does.

    Args:
        near: the text just before the box.
        start: where the box begins.
        inside: the text in the box.
    """
    if _SIGNED_AGAIN.match(inside) is not None or _LISTED.search(inside) is not None or "\\boxed" in near:
        return None
    near = _marked(near, start)
    found = _SIGN.search(near)
    return None if found is None else start - len(near) + max(found.start("sign"), found.start("apart"))
