"""The last stage, sympy: integrals, limits, endless sums and products, identities over the whole numbers."""

from __future__ import annotations

import subprocess
import sys

import pytest

from agentscope_tuner.verify.math.verdict import compare
from agentscope_tuner.verify.sandbox import shared

# each row: the reference, the answer, and whether sympy calls them equal
PAIRS = [
    (r"\int_0^1 x^2\,dx", r"\frac13", True),
    (r"\int_0^1 x^2\,dx", r"\frac14", False),
    (r"\int x^2\,dx", r"\frac{x^3}{3}+C", True),
    (r"\int x^2\,dx", r"\frac{x^3}{2}+C", False),
    (r"\int \frac{dx}{x}", r"\ln x+C", True),
    (r"\int_0^\pi \sin x\,dx", "2", True),
    (r"\int_0^1\int_0^1 xy\,dx\,dy", r"\frac14", True),
    (r"\lim_{x\to 0}\frac{\sin x}{x}", "1", True),
    (r"\lim_{x\to 0}\frac{\sin x}{x}", "2", False),
    (r"\lim_{n\to\infty}\left(1+\frac1n\right)^n", "e", True),
    (r"\sum_{k=0}^\infty \frac{1}{2^k}", "2", True),
    ("3", r"\sum_{k=0}^\infty \frac{1}{2^k}", False),
    (r"\frac{\pi^2}{6}", r"\sum_{n=1}^{\infty}\frac{1}{n^2}", True),
    (r"\prod_{k=2}^{\infty}\left(1-\frac{1}{k^2}\right)", r"\frac12", True),
    (r"(-1)^n", r"\cos n\pi", True),
    (r"(-1)^n", r"\cos(n\pi)+1", False),
    ("0", r"\sin(n\pi)", True),
]


@pytest.mark.parametrize(("reference", "answer", "equal"), PAIRS)
def test_sympy_decides_what_has_no_value_at_points(reference: str, answer: str, equal: bool) -> None:
    # a deadline that a machine under load keeps, too
    verdict = compare(answer, reference, symbolic=shared(1, 5.0).compare)
    assert (verdict.stage, verdict.outcome) == ("sympy", "equal" if equal else "different")


def test_an_integral_for_its_value_is_left_unevaluated_before_sympy_is_asked() -> None:
    verdict = compare(r"\int_0^1 2x\,dx", "1", symbolic=shared().compare)
    assert (verdict.stage, verdict.outcome) == ("structure", "different")


def test_sympy_is_not_imported_by_the_caller_nor_before_it_is_needed() -> None:
    script = (
        "import sys; from agentscope_tuner.verify.math.verdict import compare;"
        "from agentscope_tuner.verify.sandbox import shared;"
        "compare('2\\\\sqrt3', '\\\\sqrt{12}', symbolic=shared().compare);"
        "import agentscope_tuner.verify.math.symbolic;"
        "assert not {'sympy'} & sys.modules.keys(), 'sympy'"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=120)
