"""Random LaTeX: formulas of a grammar, mutations of real answers, countdown equations; each by the draw it is given."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
_Draw = random.Random

_SYMBOLS = (*"abcdefhkmnpqrstuvwxyzABCN", "\\pi", "\\theta", "\\alpha", "\\infty", "e", "i", "\\emptyset", "\\ldots")
_FUNCTIONS = (
    "sin", "cos", "tan", "cot", "sec", "csc", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "ln", "log",
    "lg", "exp", "det", "gcd", "lcm", "min", "max", "Re", "Im", "arg", "operatorname{sgn}", "operatorname{lcm}",
    "operatorname{erf}", "operatorname{foo}",
)  # fmt: skip
_BINARY = (
    "+", "-", "*", "/", "=", "<", ">", "^", "_", ",", ";", ":", "!", "|", "\\cdot ", "\\times ", "\\div ", "\\pm ",
    "\\mp ", "\\le ", "\\ge ", "\\ne ", "\\in ", "\\cup ", "\\cap ", "\\setminus ", "\\to ", "\\approx ",
    "\\equiv ", "\\bmod ", "\\mid ", "\\implies ", "\\text{ or }", "\\text{ and }", "\\quad ", "\\\\", "&", " ", "",
    "~", "\\,", "{,}", "==", "**",
)  # fmt: skip
_BRACKETS = (
    ("(", ")"), ("[", "]"), ("\\{", "\\}"), ("\\left(", "\\right)"), ("\\left[", "\\right)"), ("|", "|"),
    ("{", "}"), ("\\lfloor ", "\\rfloor "), ("\\lceil ", "\\rceil "), ("\\langle ", "\\rangle "),
    ("\\left.", "\\right|"), ("\\bigl(", "\\bigr)"), ("\\|", "\\|"), ("\\left\\{", "\\right."), ("(", "]"),
    ("]", "["), ("$", "$"), ("\\(", "\\)"),
)  # fmt: skip
_ENVIRONMENTS = (
    "pmatrix", "bmatrix", "vmatrix", "matrix", "cases", "aligned", "array", "align*", "gathered", "smallmatrix",
    "foo",
)  # fmt: skip
_WORDS = (
    "cm", "apples", "or", "and", "not", "percent", "degrees", "million", "dozen", "is", "the answer",
    "for all real x", "where", "yes", "no solution", "all real numbers", "o'clock", "p.m.", "halves", "units",
    "(A)", "half of", "mod 7",
)  # fmt: skip
_ODD = (
    "\x00", "\t", "\n", "\u200b", "\ufeff", "４２", "٤٢", "х", "五", "½", "²", "√", "∞", "−", "×", "…", "\U0001d7d9",
    "é", "°", "％", "\ud800", "\\", "\\u", "#", "%", "\\%", "\\$", "^\\circ", "'", "\"", "`", "\\char",
    "\\def\\x{\\x}\\x", "?", "@",
)  # fmt: skip
_PLAIN = ("x", "y", "x", "n", "\\pi")
_EXPONENTS = ("2", "-1", "\\frac{1}{3}", "10", "x", "99999", "0.5")
_SUMS = ("\\sum_{n=1}^{20}", "\\prod_{n=1}^5", "\\int_0^1", "\\sum_{n=1}^\\infty", "\\lim_{n\\to\\infty}")
_LONG = (30, 100, 400, 1_000, 5_000)


def _integer(draw: _Draw) -> str:
    if draw.random() < 0.03:
        return draw.choice("123456789") * draw.choice(_LONG)
    return str(draw.choice((0, 1, 2, draw.randrange(100), draw.randrange(10**9))))


def _number(draw: _Draw) -> str:
    whole = _integer(draw)
    match draw.randrange(10):
        case 0:
            return f"{whole}.{_integer(draw)}"
        case 1:
            return f"{whole}\\frac{{{_integer(draw)}}}{{{_integer(draw)}}}"
        case 2:
            return f"{draw.choice(('0', '', whole))}.\\overline{{{_integer(draw)}}}"
        case 3:
            return f"{whole}{{,}}{draw.randrange(1000):03d}"
        case 4:
            return whole + draw.choice(("e", "E", " \\times 10^")) + _integer(draw)
        case 5:
            return f"-{whole}"
        case _:
            return whole


def _environment(draw: _Draw, depth: int) -> str:
    name = draw.choice(_ENVIRONMENTS)
    rows = ("&".join(latex(draw, depth - 2) for _ in range(draw.randrange(4))) for _ in range(draw.randrange(4)))
    return f"\\begin{{{name}}}" + "\\\\".join(rows) + f"\\end{{{draw.choice((name, name, name, 'cases'))}}}"


def _big(draw: _Draw, depth: int) -> str:
    name = draw.choice(("sum", "prod", "int", "lim", "bigcup", "iint"))
    low = draw.choice(("k=1", "0", "x\\to 0", "n\\to\\infty", "", latex(draw, 0)))
    high = draw.choice(("10", "n", "\\infty", "10^{12}", "", latex(draw, 0)))
    return f"\\{name}_{{{low}}}^{{{high}}} {latex(draw, depth - 1)}" + draw.choice(("", "\\,dx", "dx"))


def _powered(draw: _Draw, depth: int) -> str:
    sign = draw.choice(("^", "^", "_", "!", "!!", "'", "^{\\circ}", "\\%"))
    inside = f"{{{latex(draw, depth - 1)}}}" if sign in ("^", "_") else ""
    return f"{latex(draw, depth - 1)}{sign}{inside}"


def latex(draw: _Draw, depth: int) -> str:
    """One formula, often a broken one, nested at most `depth` deep."""
    if depth <= 0:
        return draw.choice((_number(draw), _number(draw), draw.choice(_SYMBOLS), draw.choice(_SYMBOLS), ""))
    match draw.randrange(14):
        case 0 | 1 | 2:
            return latex(draw, depth - 1) + draw.choice(_BINARY) + latex(draw, depth - 1)
        case 3:
            opener, closer = draw.choice(_BRACKETS)
            return opener + latex(draw, depth - 1) + closer
        case 4:
            command = draw.choice(("frac", "dfrac", "binom", "tfrac", "stackrel"))
            return f"\\{command}{{{latex(draw, depth - 1)}}}{{{latex(draw, depth - 1)}}}"
        case 5:
            degree = draw.choice(("", "", "[3]", f"[{latex(draw, 0)}]"))
            return f"\\sqrt{degree}{{{latex(draw, depth - 1)}}}"
        case 6:
            base = draw.choice(("", "", "_2", "^2", "^{-1}", f"_{{{latex(draw, 0)}}}"))
            opener, closer = draw.choice((("(", ")"), (" ", ""), ("{", "}")))
            return f"\\{draw.choice(_FUNCTIONS)}{base}{opener}{latex(draw, depth - 1)}{closer}"
        case 7:
            return _powered(draw, depth)
        case 8:
            return _environment(draw, depth)
        case 9:
            return _big(draw, depth)
        case 10:
            return f"{latex(draw, depth - 1)}\\text{{ {draw.choice(_WORDS)} }}{draw.choice(('', latex(draw, 0)))}"
        case 11:
            command = draw.choice(
                ("overline", "vec", "hat", "mathbb", "mathrm", "boxed", "phantom", "color", "dot", "foo")
            )
            return f"\\{command}{{{latex(draw, depth - 1)}}}"
        case 12:
            return latex(draw, depth - 1) + draw.choice(_ODD) + latex(draw, 0)
        case _:
            return ",".join(latex(draw, depth - 2) for _ in range(draw.randrange(1, 5)))


def sound(draw: _Draw, depth: int) -> str:
    """One formula that can be read, nested at most `depth` deep: what the later stages look at."""
    if depth <= 0:
        return draw.choice((str(draw.randrange(50)), f"{draw.randrange(9)}.{draw.randrange(99)}", *_PLAIN))
    left = sound(draw, depth - 1)
    match draw.randrange(12):
        case 0 | 1 | 2 | 3:
            return left + draw.choice(("+", "-", "\\cdot ", "/", "+", "^2+", "\\pm ")) + sound(draw, depth - 1)
        case 4:
            return f"\\frac{{{left}}}{{{sound(draw, depth - 1)}}}"
        case 5:
            return f"\\sqrt{{{left}}}"
        case 6:
            return f"\\{draw.choice(('sin', 'cos', 'ln', 'log', 'log_2', 'tan', 'exp', 'arctan'))}({left})"
        case 7:
            opener, closer = draw.choice(
                (("(", ")"), ("|", "|"), ("\\lfloor ", "\\rfloor "), ("\\{", "\\}"), ("[0,", ")"))
            )
            return opener + left + closer
        case 8:
            return f"({left})^{{{draw.choice(_EXPONENTS)}}}"
        case 9:
            return left + draw.choice(("=", "<", "\\le ", ",", ",", "\\text{ or }")) + sound(draw, depth - 1)
        case 10:
            return f"{draw.choice(_SUMS)} {left}"
        case _:
            return left + draw.choice(("\\%", "^\\circ", "\\text{ cm}", "!", "_8", "\\text{ m}", ""))


def mutated(draw: _Draw, seeds: Sequence[str]) -> str:
    """One of the seeds after one to four accidents."""
    text = draw.choice(seeds)
    for _ in range(draw.randint(1, 4)):
        at, to = sorted(draw.randrange(len(text) + 1) for _ in range(2))
        match draw.randrange(8):
            case 0:
                text = text[:at] + text[to:]
            case 1:
                text = text[:at] + text[at:to] * draw.choice((2, 3, 50)) + text[to:]
            case 2:
                text = text[:at] + draw.choice(_ODD) + text[at:]
            case 3:
                text = text[:at] + draw.choice(_BINARY) + text[at:]
            case 4:
                text = text[:at] + latex(draw, 2) + text[to:]
            case 5:
                other = draw.choice(seeds)
                text = text[:at] + other[draw.randrange(len(other) + 1) :]
            case 6:
                opener, closer = draw.choice(_BRACKETS)
                text = text[:at] + opener * draw.choice((1, 1, 2, 300)) + text[at:to] + closer + text[to:]
            case _:
                text = text[:at] + draw.choice("0123456789") * draw.choice(_LONG) + text[to:]
    return text[:20_000]


def equation(draw: _Draw) -> str:
    """A countdown equation over 4, 6, 3 and 2, seldom a right one."""
    text = draw.choice("4632")
    for number in draw.sample(("4", "6", "3", "2", "7", "0", "0.5", "9" * 400), draw.randrange(1, 5)):
        sign = draw.choice(
            ("+", "-", "*", "/", "×", "\\div ", "−", "(", ")", "**", "//", "", " ", "=", "^", "x", "...")
        )
        text = draw.choice((f"{text}{sign}{number}", f"({text}){sign}{number}", f"{number}{sign}({text})"))
    if draw.random() < 0.3:
        text = mutated(draw, [text])
    return draw.choice(
        (text, f"{text}=24", f"24 = {text}", f"\\frac{{{text}}}{{2}}", f"\\text{{{text}}}.", f"[{text}]")
    )


def real_pairs() -> list[tuple[str, str]]:
    """Answers and references of the case files and of the red team's rows: the seeds of the mutations."""
    paths = [
        *sorted((ROOT / "tests" / "cases").glob("math_*.jsonl")),
        *sorted(Path(__file__).parent.glob("redteam/dev.jsonl")),
    ]
    rows = [json.loads(line) for path in paths for line in path.read_text(encoding="utf-8").splitlines()]
    return [
        (row["answer"], row["reference"])
        for row in rows
        if "answer" in row and isinstance(row["reference"], str) and row["equal"] is not None
    ]
