r"""The law: no answer is equal to two references that differ from each other.

A policy may put one text into its box, and that text has one value. References differ when neither answers the other.
docs/math_equivalence.md says which pairs an answer may still serve: those that differ only by a label that an answer
may leave out (a unit, a name, brackets), and those that are closer than the rounding that both allow.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from agentscope_tuner import Task, TaskJudge, WorkflowOutput, WorkflowTask, load_judge

ROOT = Path(__file__).parents[3]


class Reference(NamedTuple):
    r"""A reference; `value` is what it states without its labels, `ulp` a unit of its last decimal (0: it is exact)."""

    text: str
    kind: str
    value: tuple[object, ...]
    ulp: Fraction = Fraction(0)


@cache
def judge() -> TaskJudge:
    return load_judge(ROOT / "configs" / "math.yaml")


@cache
def pays(reference: str, answer: str) -> bool:
    task = WorkflowTask(task=Task(metadata={"answer": reference}))
    output = WorkflowOutput(metadata={"final_answer": f"\\boxed{{{answer}}}"})
    judgement = judge().judge(task, output)
    assert judgement.status == "judged", (reference, answer, judgement.error)
    return judgement.is_success is True


def differ(first: Reference, second: Reference) -> bool:
    """Whether neither reference answers the other."""
    return not pays(first.text, second.text) and not pays(second.text, first.text)


def same_but_labels(first: Reference, second: Reference) -> bool:
    """Whether they state the same values under other labels: `5 cm` and `5 kg`, `(1,2)` and `\\{2,1\\}`."""
    if first.kind == second.kind:
        return first.value == second.value
    return sorted(map(str, first.value)) == sorted(map(str, second.value))


def within_rounding(first: Reference, second: Reference) -> bool:
    """Whether some number is rounded to both: their distance is at most half a unit of each's last decimal."""
    a, b = first.value[0], second.value[0]
    if not (isinstance(a, Fraction) and isinstance(b, Fraction)) or first.ulp == second.ulp:
        return False
    return abs(a - b) <= (first.ulp + second.ulp) / 2


SMALL = st.integers(-30, 60)
POSITIVE = st.integers(2, 40)


def _fraction(value: Fraction) -> str:
    if value.denominator == 1:
        return str(value.numerator)
    sign = "-" if value < 0 else ""
    return f"{sign}\\frac{{{abs(value.numerator)}}}{{{value.denominator}}}"


def _number(value: Fraction | int) -> Reference:
    return Reference(_fraction(Fraction(value)), "number", (Fraction(value),))


def _decimal(hundredths: int, places: int) -> Reference:
    ulp = Fraction(1, 10**places)
    value = hundredths * ulp
    return Reference(f"{float(value):.{places}f}", "number", (value,), ulp)


def _mixed(whole: int, top: int, bottom: int) -> Reference:
    return Reference(f"{whole}\\frac{{{top}}}{{{bottom}}}", "number", (whole + Fraction(top, bottom),))


def _interval(ends: tuple[int, int], brackets: tuple[str, str]) -> Reference:
    low, high = min(ends), max(ends) + (ends[0] == ends[1])
    kind = "open" if brackets == ("(", ")") else "interval" + "".join(brackets)
    return Reference(f"{brackets[0]}{low},{high}{brackets[1]}", kind, (low, high))


_numbers = st.one_of(
    st.builds(_number, SMALL),
    st.builds(_number, st.fractions(-9, 9, max_denominator=12)),
    st.builds(_decimal, st.integers(101, 9999), st.sampled_from((2, 3))),
    st.builds(_mixed, st.integers(1, 9), st.integers(1, 3), st.integers(4, 9)),
)
_logs = st.one_of(
    st.builds(lambda n: Reference(f"\\ln {n}", "ln", (n,)), POSITIVE),
    st.builds(lambda n: Reference(f"\\log {n}", "log", (n,)), POSITIVE),
    st.builds(lambda n: Reference(f"\\log_{{10}} {n}", "log10", (n,)), POSITIVE),
    st.builds(lambda n: Reference(f"\\log_2 {n}", "log2", (n,)), POSITIVE),
)
_marked = st.one_of(
    st.builds(lambda n: Reference(f"{n}\\%", "percent", (n,)), POSITIVE),
    st.builds(lambda n: Reference(f"{n}^\\circ", "degrees", (n,)), POSITIVE),
    st.builds(
        lambda n, u: Reference(f"{n}\\text{{ {u}}}", "unit", (n,)), POSITIVE, st.sampled_from(("cm", "kg", "hours"))
    ),
    st.builds(lambda n, m: Reference(f"{n}:{m}", "ratio", (Fraction(n, m),)), POSITIVE, POSITIVE),
)
_collections = st.one_of(
    st.builds(
        lambda v: Reference(f"\\{{{', '.join(map(str, v))}\\}}", "set", tuple(sorted(v))),
        st.sets(SMALL, min_size=2, max_size=3),
    ),
    st.builds(
        lambda v: Reference(", ".join(map(str, v)), "list", tuple(sorted(v))), st.sets(SMALL, min_size=2, max_size=3)
    ),
    st.builds(lambda a, b: Reference(f"({a},{b})", "tuple", (a, b)), SMALL, SMALL),
    st.builds(_interval, st.tuples(SMALL, SMALL), st.sampled_from((("[", "]"), ("[", ")"), ("(", "]")))),
)
_formulas = st.one_of(
    st.builds(lambda a, b: Reference(f"{a}x+{b}", "line", (a, b)), POSITIVE, POSITIVE),
    st.builds(lambda a, b: Reference(f"x^2+{a}x+{b}", "square", (a, b)), POSITIVE, POSITIVE),
    st.builds(lambda n, s: Reference(f"{s}={n}", "named", (Fraction(n),)), SMALL, st.sampled_from("xyn")),
    st.builds(lambda n: Reference(f"x>{n}", "ray", (n,)), SMALL),
)  # fmt: skip
REFERENCES = st.one_of(_numbers, _logs, _marked, _collections, _formulas)

# one box for several values; A and B stand for the references' texts
_TRICKS = (
    "A", "B", "A \\text{ or } B", "A, B", "A \\text{ and } B", "\\{A, B\\}", "A = B", "A \\to B", "A/B", "A:B",
    "A \\approx B", "\\boxed{A}\\boxed{B}", "\\boxed{A}, \\boxed{B}", "A\\ (B)", "A\\%", "A^\\circ", "B^\\circ",
    "A\\text{ percent}", "A\\text{ cm}", "[A, B]", "(A, B)", "(A), (B)", "\\begin{cases}A\\\\B\\end{cases}",
    "\\begin{aligned}A\\\\B\\end{aligned}", "A \\mid B", "A; B", "A \\lor B", "A\\pm B", "A \\le x \\le B",
    "\\begin{pmatrix}A\\\\B\\end{pmatrix}", "A\\text{ to }B", "AB", "x = A, B", "x = A \\text{ or } y = B",
    "\\text{A or B}", "A \\implies B", "A \\cup B", "\\{A\\} \\cup \\{B\\}",
    "A \\text{ if } n \\text{ is even, } B \\text{ if odd}", "A \\ne B", "\\overline{A}, B", "A^{B}", "A_{B}",
    "A\\,B",
)  # fmt: skip
# p is worth the first and q the second, where one of two readings is taken
_SWITCHES = (
    "p+(q-p)\\frac{\\log 10-1}{\\ln 10-1}",
    "p+(q-p)\\left(\\lfloor\\log 10\\rfloor-1\\right)",
    "p+(q-p)\\frac{100\\%-1}{99}",
    "p+(q-p)\\frac{180^\\circ-\\pi}{180-\\pi}",
    "\\frac{p+q}{2}\\pm\\frac{q-p}{2}",
    "p+(q-p)\\left(2\\frac{1}{2}-1\\right)\\cdot\\frac{2}{3}",
    "p+(q-p)\\frac{\\log e-\\log_{10} e}{1-\\log_{10} e}",
    "p+(q-p)\\left(1/2\\cdot 2\\right)",
    "\\log_{10} 10^{p}+(q-p)\\log 10-(q-p)",
)


def _obeys(first: Reference, second: Reference, answer: str) -> None:
    if same_but_labels(first, second) or within_rounding(first, second):
        return
    if pays(first.text, answer) and pays(second.text, answer):
        assert not differ(first, second), f"{answer} is paid for {first.text} and for {second.text}"


@pytest.mark.slow
@settings(max_examples=250, deadline=None, derandomize=True)
@given(REFERENCES, REFERENCES, st.sampled_from(_TRICKS))
@example(_number(42), _number(43), "A \\text{ or } B")
@example(_number(1), _number(2), "A, B")
def test_one_box_never_serves_two_references(first: Reference, second: Reference, trick: str) -> None:
    assume(first.text != second.text)
    answer = "".join({"A": first.text, "B": second.text}.get(letter, letter) for letter in trick)
    _obeys(first, second, answer)


@pytest.mark.slow
@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.fractions(-20, 20, max_denominator=4), st.fractions(-20, 20, max_denominator=4), st.sampled_from(_SWITCHES))
@example(Fraction(42), Fraction(43), _SWITCHES[1])
@example(Fraction(7), Fraction(100), _SWITCHES[0])
def test_no_second_reading_switches_between_two_numbers(first: Fraction, second: Fraction, switch: str) -> None:
    assume(first != second)
    numbers = {"(q-p)": f"({_fraction(second - first)})", "p+q": f"{_fraction(first)}+({_fraction(second)})"}
    answer = switch
    for name, number in {
        **numbers,
        "q-p": _fraction(second - first),
        "p+": f"{_fraction(first)}+",
        "{p}": f"{{{_fraction(first)}}}",
    }.items():
        answer = answer.replace(name, number)
    _obeys(_number(first), _number(second), answer)


def _read_twice(n: int) -> list[tuple[str, str, str]]:
    """First reference, second reference, and a text that one may read as either."""
    return [
        (_fraction(Fraction(n, 100)), str(n), f"{n}\\%"),
        (f"{n}\\%", _fraction(Fraction(n, 100)) + "\\%", _fraction(Fraction(n, 100))),
        (str(n), f"\\frac{{{n}\\pi}}{{180}}", f"{n}^\\circ"),
        (f"\\ln {n}", f"\\log_{{10}} {n}", f"\\log {n}"),
        (f"\\frac{{{2 * n + 1}}}{{2}}", f"\\frac{{{n}}}{{2}}", f"{n}\\frac{{1}}{{2}}"),
        (f"\\frac{{{n}}}{{{n + 1}}}", f"({n},{n + 1})", f"{n}:{n + 1}"),
        (f"\\frac{{x}}{{{n}}}", f"\\frac{{1}}{{{n}x}}", f"1/{n}x"),
        (str(n * n), str(-n * n), f"-{n}^2"),
        (str(n), str(-n), f"\\pm {n}"),
        (f"{n}{n}{n}{n}"[:4], f"{n}, {n}", f"{n},{n}"),
        (str(1000 * n + 234), f"{n}, 234", f"{n},234"),
        (f"{n}.5", f"{n}, 5", f"{n},5"),
        (f"{n}{n}", str(n * n), f"{n} {n}"),
        (f"\\sin({n}^\\circ)", f"\\sin(\\frac{{{n}\\cdot{n}\\pi}}{{180}})", f"\\sin {n}"),
    ]


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.integers(3, 60), st.integers(0, 13))
def test_a_text_with_two_readings_has_one(n: int, at: int) -> None:
    first, second, answer = _read_twice(n)[at]
    _obeys(Reference(first, "first", (first,)), Reference(second, "second", (second,)), answer)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.integers(1, 99_999), st.sampled_from((2, 3, 4)), st.integers(-60, 60))
def test_rounding_serves_one_of_two_neighbours(ulps: int, places: int, thousandths: int) -> None:
    first, second = _decimal(ulps, places), _decimal(ulps + 1, places)
    exact = (ulps + Fraction(1, 2) + Fraction(thousandths, 1000)) * first.ulp
    for answer in (_fraction(exact), f"{float(exact):.{places + 3}f}"):
        assert not (pays(first.text, answer) and pays(second.text, answer)), (first.text, second.text, answer)


# a function, and its derivative
_PRIMITIVES = (("x^2", "2x"), ("\\sin x", "\\cos x"), ("e^x", "e^x"), ("x^3-x", "(3x^2-1)"), ("\\ln x", "\\frac{1}{x}"))
_UNFINISHED = (
    "\\int D\\,dx", "f(x)=\\int D\\,dx", "y=\\int D\\,dx", "I=\\int D\\,dx", "F+\\int 0\\,dx", "f(x)=F+\\int 0\\,dx",
    "\\int D\\,dx=\\int D\\,dx", "\\int D\\,dx+c", "F+c", "F\\pm k", "F=F+k", "F\\to F+k", "F+C, C\\in\\mathbb{R}",
)  # fmt: skip


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    st.sampled_from(_PRIMITIVES), st.sampled_from(_UNFINISHED), st.integers(1, 9), st.sampled_from(("", "f(x)=", "y="))
)
@example(_PRIMITIVES[0], _UNFINISHED[1], 5, "f(x)=")
def test_an_integral_never_serves_two_of_its_values(
    function: tuple[str, str], unfinished: str, constant: int, name: str
) -> None:
    whole, derivative = function
    answer = unfinished.replace("D", derivative).replace("F", whole).replace("k", str(constant))
    first, second = whole, f"{name}{whole}+{constant}"
    assert not (pays(first, answer) and pays(second, answer)), f"{answer} is paid for {first} and for {second}"


@pytest.mark.parametrize("reference", ["(4,-2)", "(1,1)", "(2,-1)"])
def test_a_pair_is_no_empty_interval(reference: str) -> None:
    assert not pays(reference, "x<-2 \\text{ and } x>2")
