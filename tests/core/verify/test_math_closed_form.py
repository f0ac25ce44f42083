r"""Roots, pi, logarithms and angles that are decided exactly before a worker is asked."""

from __future__ import annotations

import time

import pytest

from agentscope_tuner.verify.math.verdict import compare

EQUAL = [
    (r"\frac{16}{\sqrt{2}}", r"8\sqrt{2}"),
    (r"\sqrt{12}+\sqrt{27}", r"5\sqrt{3}"),
    (r"\frac{1}{\sqrt{3}-\sqrt{2}}", r"\sqrt{3}+\sqrt{2}"),
    (r"\frac{1}{1+\sqrt2+\sqrt3}", r"\frac{2+\sqrt2-\sqrt6}{4}"),
    (r"(\sqrt2+\sqrt3)^2", r"5+2\sqrt6"),
    (r"\sqrt{6}\sqrt{10}", r"2\sqrt{15}"),
    (r"\frac{\sqrt{3}\pi}{6}", r"\frac{\pi}{2\sqrt{3}}"),
    (r"\frac{\pi^2}{\pi}", r"\pi"),
    (r"\ln 49", r"2\ln 7"),
    (r"\ln\sqrt{8}", r"\frac{3}{2}\ln 2"),
    (r"\ln 6 - \ln 2", r"\ln 3"),
    (r"12\sin x\cos x", r"6\sin 2x"),
    (r"1-2\sin^2\frac{x}{2}", r"\cos x"),
    (r"\sin x\cos y+\cos x\sin y", r"\sin(x+y)"),
    (r"\sin(x+\frac{\pi}{2})", r"\cos x"),
    (r"\tan^2 t+1", r"\sec^2 t"),
    (r"4\cos^3 x-3\cos x", r"\cos 3x"),
]
DIFFERENT = [
    (r"50\sqrt2\%", r"50\sqrt2"),
    (r"50\sqrt2\%", r"\frac{\sqrt3}{2}"),
    (r"2\sqrt{11}", r"3\sqrt{11}"),
    (r"\sqrt{5}", r"\sqrt{2}+\sqrt{3}"),
    (r"\frac{\pi}{7}", r"\frac{\pi}{6}"),
    (r"\pi", r"\frac{22}{7}"),
    (r"\pi", r"\sqrt{10}"),
    (r"\ln 7", r"2\ln 3"),
    (r"\ln 2", r"\frac{1}{2}"),
    (r"\frac{355}{113}+\sqrt2-\sqrt2", r"\pi"),
    (r"6\cos 2x", r"6\sin 2x"),
    (r"\sin 2x", r"2\sin x"),
    (r"\sin(x+\pi)", r"\sin x"),
    (r"\cos\frac{x}{2}", r"\cos x"),
]
LEFT_OPEN = [
    # a decimal may round the other side
    ("3.14159265", r"\pi"),
    ("2.828427", r"\sqrt{8}"),
    # nobody knows whether these numbers are independent
    (r"\pi^2\cdot 2", r"\ln 2\cdot 3"),
    (r"\ln 2\ln 3", r"\ln 5"),
    # true for whole numbers alone
    (r"(-1)^n", r"\cos n\pi"),
    (r"\sin 1", r"\cos 1"),
]


@pytest.mark.parametrize(("answer", "reference"), EQUAL)
def test_the_same_number_or_function_written_otherwise_is_equal(answer: str, reference: str) -> None:
    for left, right in ((answer, reference), (reference, answer)):
        assert compare(left, right).outcome == "equal"


@pytest.mark.parametrize(("answer", "reference"), DIFFERENT)
def test_another_number_or_function_is_different(answer: str, reference: str) -> None:
    for left, right in ((answer, reference), (reference, answer)):
        assert compare(left, right).outcome == "different"


@pytest.mark.parametrize(("answer", "reference"), LEFT_OPEN)
def test_what_is_not_known_exactly_is_left_to_the_worker(answer: str, reference: str) -> None:
    assert compare(answer, reference).outcome == "undecided"


@pytest.mark.parametrize(
    "answer",
    [
        "".join(rf"(1+\sqrt{{{n}}})" for n in range(2, 150)),
        "+".join(rf"\sqrt{{{10**15 + n}}}" for n in range(150)),
        ",".join(rf"\sqrt{{{10**7 + n}}}" for n in range(99)),
        "".join(rf"\sin({n}x)" for n in range(1, 200)),
        r"\sin(" + "+".join(f"x_{n}" for n in range(200)) + ")",
        r"\cos(99999999999x)",
        r"\sqrt{0}^{-1}",
    ],
)
def test_hostile_constants_end_within_the_budget(answer: str) -> None:
    for reference in (answer + "+1", r"\sqrt{2}", r"\sin x"):
        started = time.process_time()
        assert compare(answer, reference).outcome != "equal"
        assert time.process_time() - started < 2
