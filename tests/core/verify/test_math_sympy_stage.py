r"""The sympy stage by itself, in this process: what a formula becomes in sympy, and what sympy says of two formulas."""

from __future__ import annotations

from typing import Any

import pytest

from agentscope_tuner.verify.math.node import DIFFERENT, EQUAL, UNKNOWN, Node, Outcome
from agentscope_tuner.verify.math.unwrap import Pair


# each process of the tests collects this file, and few of them run it: sympy is imported there
def formulas() -> list[tuple[str, Any]]:
    """Formulas, and what each becomes in sympy."""
    import sympy
    from sympy import Integral, Limit, Rational, oo, pi

    x, y, a, b = sympy.symbols("x y a b", real=True)
    n, k = sympy.symbols("n k", integer=True)
    # where they are bounded by a limit or an integral, letters that count are real
    real_n = sympy.Symbol("n", real=True)
    whole_i, whole_x = sympy.symbols("i x", integer=True)

    return [
        ("7", 7),
        (r"\frac{3}{4}", Rational(3, 4)),
        ("0.25", Rational(1, 4)),
        ("x+y", x + y),
        ("x-y", x - y),
        ("-x", -x),
        ("2xy", 2 * x * y),
        (r"\frac{x}{y}", x / y),
        ("x^{1000}", x**1000),
        ("2^{1000}", sympy.Integer(2) ** 1000),
        ("2^{-3}", Rational(1, 8)),
        ("2^{x}", 2**x),
        (r"\sqrt{2}", sympy.sqrt(2)),
        (r"50\%", Rational(1, 2)),
        (r"90^\circ", pi / 2),
        (r"\pi", pi),
        ("e", sympy.E),
        ("i", sympy.I),
        (r"\infty", oo),
        (r"-\infty", -oo),
        ("n!", sympy.factorial(n)),
        ("n!!", sympy.factorial2(n)),
        ("f(x)", sympy.Function("f")(x)),
        ("f(x,y)", sympy.Function("f")(x, y)),
        (r"\ln x", sympy.log(x)),
        (r"|x|", sympy.Abs(x)),
        (r"\lfloor x\rfloor", sympy.floor(x)),
        (r"\lceil x\rceil", sympy.ceiling(x)),
        (r"\binom{n}{k}", sympy.binomial(n, k)),
        (r"\gcd(n,k)", sympy.gcd(n, k)),
        (r"\max(x,y)", sympy.Max(x, y)),
        (r"\min(x,y)", sympy.Min(x, y)),
        *[(rf"\{name} x", getattr(sympy, name)(x)) for name in ("sin", "cos", "tan", "cot", "sec", "csc")],
        *[(rf"\{name} x", getattr(sympy, name)(x)) for name in ("sinh", "cosh", "tanh", "coth")],
        *[(rf"\arc{name} x", getattr(sympy, f"a{name}")(x)) for name in ("sin", "cos", "tan")],
        (r"\int x\,dx", Integral(x, x)),
        (r"\int_0^1 x^2\,dx", Integral(x**2, (x, 0, 1))),
        (r"\int_0^1\int_a^b xy\,dx\,dy", Integral(x * y, (x, a, b), (y, 0, 1))),
        (r"\int_1^2 \frac{dx}{x}", Integral(1 / x, (x, 1, 2))),
        (r"\int_1^2 -x\,dx", Integral(-x, (x, 1, 2))),
        (r"\int_1^2 (x+1)\,dx", Integral(x + 1, (x, 1, 2))),
        (r"\int_0^1 n\,dn", Integral(real_n, (real_n, 0, 1))),
        (r"\int_0^1 nx\,dx", Integral(n * x, (x, 0, 1))),
        (r"\lim_{x\to 0} \frac{1}{x}", Limit(1 / x, x, 0, "+-")),
        (r"\lim_{n\to\infty} \frac{k}{n}", Limit(k / real_n, real_n, oo, "+-")),
        (r"\sum_{k=1}^{n} k", sympy.Sum(k, (k, 1, n))),
        (r"\prod_{k=1}^{n} k", sympy.Product(k, (k, 1, n))),
        (r"\sum_{i=1}^{3} ix", sympy.Sum(whole_i * x, (whole_i, 1, 3))),
        (r"\sum_{x=1}^{3} x", sympy.Sum(whole_x, (whole_x, 1, 3))),
        (r"\begin{pmatrix}1&x\\2&y\end{pmatrix}", sympy.Matrix([[1, x], [2, y]])),
        (r"\det\begin{pmatrix}1&x\\2&y\end{pmatrix}", y - 2 * x),
    ]


REFUSED = [
    ("2^{1001}", "a large power"),
    ("2^{-1001}", "a large power"),
    (r"\int_0^1 x", "without its differential"),
    (r"\sum_{k} k", "a sum without bounds"),
    (r"\{1,2\}", "a Collection in sympy"),
    (r"\mathbb{R}", r"\mathbb"),
]

# each row: the reference, the answer, and what sympy says
PAIRS = [
    (r"\int x^2\,dx", r"\frac{x^3}{3}+C", EQUAL),
    (r"\int x^2\,dx", r"\frac{x^3}{3}", EQUAL),
    (r"\int x^2\,dx", r"\frac{x^3}{3}+7", EQUAL),
    (r"\int x^2\,dx", r"\frac{x^3}{3}+x", DIFFERENT),
    (r"\int x^2\,dx", r"\frac{x^3}{2}", DIFFERENT),
    (r"\int kx\,dx", r"\frac{kx^2}{2}+C", EQUAL),
    (r"\int kx\,dx", r"\frac{kx^2}{2}+k", EQUAL),
    (r"\int kx\,dx", r"\frac{kx^2}{2}+x", DIFFERENT),
    (r"\frac{x^3}{3}+C", r"\int x^2\,dx", UNKNOWN),
    (r"\frac{x^3}{3}", r"\int x^2\,dx", UNKNOWN),
    (r"\frac13", r"\int_0^1 x^2\,dx", EQUAL),
    (r"\int_0^1 x^2\,dx", r"\frac13", EQUAL),
    (r"\int_0^1 x^2\,dx", r"-\frac13", DIFFERENT),
    (r"\int_0^1 x^2\,dx", r"\frac14", DIFFERENT),
    (r"\int_0^1 x^2\,dx", r"\begin{pmatrix}1&2\end{pmatrix}", UNKNOWN),
    (r"\begin{pmatrix}1&2\end{pmatrix}", r"\int_0^1 x^2\,dx", UNKNOWN),
    (r"\sum_{k=1}^\infty f(k)", "1", UNKNOWN),
    ("1", r"\sum_{k=1}^\infty f(k)", UNKNOWN),
    (r"\sum_{i=0}^{\infty}\frac{1}{2^i}", "2", EQUAL),
    (r"\sum_{i=0}^{\infty}\frac{1}{2^i}", "3", DIFFERENT),
    (r"\sum_{k=1}^\infty k", r"\infty", EQUAL),
    (r"\infty", r"\sum_{k=1}^\infty k", EQUAL),
    (r"-\infty", r"\sum_{k=1}^\infty k", UNKNOWN),
    (r"\sum_{k=1}^\infty k", "5", UNKNOWN),
    ("5", r"\sum_{k=1}^\infty k", UNKNOWN),
    (r"\lim_{x\to 0}\frac{\sin x}{x}", "1", EQUAL),
    (r"\lim_{x\to 0}\frac{\sin x}{x}", "0.9999999999", DIFFERENT),
    (r"\prod_{k=2}^{\infty}(1-\frac{1}{k^2})", r"\frac12", EQUAL),
    (r"\prod_{k=2}^{\infty}(1-\frac{1}{k^2})", r"\frac13", DIFFERENT),
    (r"\prod_{k=1}^{4} k", "24", EQUAL),
    (r"\prod_{k=1}^{4} k", "25", DIFFERENT),
    (r"(-1)^n", r"\cos n\pi", EQUAL),
    (r"(-1)^n", r"\cos n\pi+n-1", DIFFERENT),
    (r"\sum_{k=1}^{n} kx", r"\frac{n(n+1)x}{2}", EQUAL),
    (r"\sum_{k=1}^{n} kx", r"\frac{n(n+1)}{2}", DIFFERENT),
]


def nodes(reference: str, answer: str) -> tuple[Node, Node]:
    pair = Pair.of(answer, reference, None)
    assert pair.ref.node is not None
    assert pair.ans.node is not None
    return pair.ref.node, pair.ans.node


def test_a_formula_means_the_same_in_sympy() -> None:
    import sympy

    from agentscope_tuner.verify.math.algebra import Translator

    found = [(text, Translator().of(nodes("1", text)[1]), sympy.sympify(expected)) for text, expected in formulas()]
    assert [row for row in found if row[1] != row[2]] == []
    assert len(found) > 60


@pytest.mark.parametrize(("text", "named"), REFUSED)
def test_what_means_nothing_to_sympy_is_refused_by_its_name(text: str, named: str) -> None:
    from agentscope_tuner.verify.math.algebra import NotTranslated, Translator

    with pytest.raises(NotTranslated) as refused:
        Translator().of(nodes("1", text)[1])
    assert named in str(refused.value)


@pytest.mark.parametrize(("reference", "answer", "outcome"), PAIRS)
def test_equal_is_what_sympy_proves_and_different_what_differs_by_far(
    reference: str, answer: str, outcome: Outcome
) -> None:
    from agentscope_tuner.verify.math import algebra

    assert algebra.same(*nodes(reference, answer), "seed") is outcome


def test_warming_up_needs_no_question() -> None:
    from agentscope_tuner.verify.math import algebra

    algebra.warm_up()
