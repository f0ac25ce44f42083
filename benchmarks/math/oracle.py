r"""Our verdicts beside sympy's values on 5,000 generated pairs: a part of `make fuzz`.

Each pair is one random formula twice: rewritten by random identities, and half of the time with a small change on top.
sympy decides what the pair is: both trees become sympy expressions (no text is parsed) and their difference is
evaluated with many digits, for formulas with symbols at three points, where `n` is a whole number. Only identities that hold for all complex values
are used, so that the signs of the points do not matter.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import sympy

from agentscope_tuner.verify.math.answer import compare
from agentscope_tuner.verify.sandbox import DEADLINE, shared

SEED, COUNT = 20261122, 5_000
_Draw = random.Random


class Tree(NamedTuple):
    """A formula: `int` and `sym` carry their value in `name`, a function its name; everything else has children."""

    head: str
    args: tuple[Tree, ...] = ()
    name: str = ""


class Pair(NamedTuple):
    """Two formulas, as LaTeX, and whether sympy finds them equal."""

    reference: str
    answer: str
    equal: bool


def _int(n: int) -> Tree:
    return Tree("neg", (_int(-n),)) if n < 0 else Tree("int", (), str(n))


def _fn(name: str, arg: Tree) -> Tree:
    return Tree("fn", (arg,), name)


def _add(a: Tree, b: Tree) -> Tree:
    return Tree("add", (a, b))


def _mul(a: Tree, b: Tree) -> Tree:
    return Tree("mul", (a, b))


def _pow(a: Tree, n: int) -> Tree:
    return Tree("pow", (a, _int(n)))


def _div(a: Tree, b: Tree) -> Tree:
    return Tree("div", (a, b))


def _sub(a: Tree, b: Tree) -> Tree:
    return Tree("sub", (a, b))


def _neg(a: Tree) -> Tree:
    return Tree("neg", (a,))


def grown(draw: _Draw, depth: int, names: str) -> Tree:
    """A random formula over the symbols `names`; a constant where there are none."""
    if depth <= 0:
        if names and draw.random() < 0.5:
            return Tree("sym", (), draw.choice(names))
        return draw.choice((_int(draw.randint(1, 12)), _int(draw.randint(-9, -1)), Tree("sym", (), "\\pi")))
    match draw.randrange(12):
        case 0 | 1 | 2:
            return _add(grown(draw, depth - 1, names), grown(draw, depth - 1, names))
        case 3:
            return _sub(grown(draw, depth - 1, names), grown(draw, depth - 2, names))
        case 4 | 5:
            return _mul(grown(draw, depth - 1, names), grown(draw, depth - 2, names))
        case 6:
            return _div(grown(draw, depth - 1, names), grown(draw, depth - 2, names))
        case 7:
            return _pow(grown(draw, depth - 2, names), draw.choice((2, 2, 3, -1)))
        case 8:
            return Tree("sqrt", (_int(draw.randint(2, 50)),))
        case 9:
            return _fn("ln", _int(draw.randint(2, 30)))
        case 10:
            return _fn(draw.choice(("sin", "cos", "tan", "exp")), grown(draw, depth - 2, names))
        case _:
            return _div(_int(draw.randint(1, 20)), _int(draw.randint(2, 12)))


def _rewrites(tree: Tree, draw: _Draw) -> list[Tree]:
    """What an identity makes of this tree's top."""
    k = _int(draw.randint(2, 9))
    always = [
        _neg(_neg(tree)),
        _div(_mul(tree, k), k),
        _sub(_add(tree, k), k),
        _add(_sub(tree, k), k),
        _mul(_int(1), tree),
    ]
    found: list[Tree] = []
    match tree:
        case Tree("int", (), value):
            n, part = int(value), draw.randint(1, 9)
            found = [
                _add(_int(part), _int(n - part)),
                _div(_int(n * part), _int(part)),
                _sub(_int(n + part), _int(part)),
            ]
            if n == 1:
                found.append(_add(_pow(_fn("sin", k), 2), _pow(_fn("cos", k), 2)))
        case Tree("add", (a, b)):
            found = [_add(b, a), _sub(a, _neg(b)), _neg(_sub(_neg(a), b))]
        case Tree("sub", (Tree("pow", (a, Tree("int", (), "2"))), Tree("pow", (b, Tree("int", (), "2"))))):
            found = [_mul(_sub(a, b), _add(a, b))]
        case Tree("sub", (a, b)):
            found = [_add(a, _neg(b)), _neg(_sub(b, a))]
        case Tree("mul", (a, Tree("add", (b, c)))):
            found = [_add(_mul(a, b), _mul(a, c)), _mul(tree.args[1], a)]
        case Tree("mul", (a, b)):
            found = [_mul(b, a), _mul(_neg(a), _neg(b))]
        case Tree("div", (a, b)):
            found = [_mul(a, _pow(b, -1)), _div(_mul(a, k), _mul(b, k)), _div(_neg(a), _neg(b)), _neg(_div(a, _neg(b)))]
        case Tree("pow", (Tree("add", (a, b)), Tree("int", (), "2"))):
            found = [_add(_add(_pow(a, 2), _mul(_mul(_int(2), a), b)), _pow(b, 2))]
        case Tree("pow", (a, Tree("int", (), "2"))):
            found = [_mul(a, a), _pow(_neg(a), 2)]
        case Tree("sqrt", (Tree("int", (), value),)):
            n, root = int(value), draw.randint(2, 5)
            found = [_div(_int(n), tree), _div(Tree("sqrt", (_int(n * root * root),)), _int(root))]
        case Tree("fn", (a,), name):
            found = _function_rewrites(a, name, draw)
    return found * 3 + always


def _function_rewrites(a: Tree, name: str, draw: _Draw) -> list[Tree]:
    half = _div(a, _int(2))
    k = _int(draw.randint(2, 9))
    quarter = _div(Tree("sym", (), "\\pi"), _int(2))
    table: dict[str, list[Tree]] = {
        "sin": [
            _fn("cos", _sub(quarter, a)),
            _mul(_int(2), _mul(_fn("sin", half), _fn("cos", half))),
            _neg(_fn("sin", _neg(a))),
        ],
        "cos": [
            _fn("sin", _add(quarter, a)),
            _sub(_int(1), _mul(_int(2), _pow(_fn("sin", half), 2))),
            _fn("cos", _neg(a)),
        ],
        "tan": [_div(_fn("sin", a), _fn("cos", a)), _neg(_fn("tan", _neg(a)))],
        "exp": [
            _mul(_fn("exp", _sub(a, k)), _fn("exp", k)),
            _pow(_fn("exp", half), 2),
            _div(_int(1), _fn("exp", _neg(a))),
        ],
        "ln": [
            _sub(_fn("ln", _mul(a, k)), _fn("ln", k)),
            _neg(_fn("ln", _div(_int(1), a))),
            _div(_fn("ln", _pow(a, 2)), _int(2)),
        ],
    }
    return table[name]


def _changes(tree: Tree, draw: _Draw) -> list[Tree]:
    """Small mistakes at this tree's top."""
    match tree:
        case Tree("int", (), value):
            return [_int(int(value) + draw.choice((-1, 1, 10))), _neg(tree)]
        case Tree("add", (a, b)):
            return [_sub(a, b), _mul(a, b), a]
        case Tree("sub", (a, b)):
            return [_add(a, b), _sub(b, a)]
        case Tree("mul", (a, b)):
            return [_add(a, b), _div(a, b), a]
        case Tree("div", (a, b)):
            return [_div(b, a), _mul(a, b)]
        case Tree("pow", (a, _)):
            return [_pow(a, 4), a]
        case Tree("fn", (a,), name):
            return [_fn({"sin": "cos", "cos": "sin", "tan": "sin", "exp": "cos", "ln": "exp"}[name], a), _neg(tree), a]
        case Tree("sqrt", (a,)):
            return [a, _neg(tree), Tree("sqrt", (_add(a, _int(1)),))]
        case _:
            return [_add(tree, _int(1)), _neg(tree)]


def edited(tree: Tree, draw: _Draw, edits: Callable[[Tree, _Draw], list[Tree]]) -> Tree:
    """The tree with one edit at a random place."""
    if tree.args and draw.random() < 0.65:
        at = draw.randrange(len(tree.args))
        if tree.head == "pow" and at == 1:
            at = 0
        args = tuple(edited(a, draw, edits) if i == at else a for i, a in enumerate(tree.args))
        return tree._replace(args=args)
    return draw.choice(edits(tree, draw))


_TIGHT = {"int", "sym", "sqrt", "fn", "div"}


def latex(tree: Tree, draw: _Draw) -> str:
    """The tree in one of the ways people write it."""
    match tree:
        case Tree("int" | "sym", (), name):
            return name
        case Tree("neg", (a,)):
            return f"-{_closed(a, draw)}"
        case Tree("add", (a, b)):
            return f"{latex(a, draw)}+{_closed(b, draw) if b.head == 'neg' else latex(b, draw)}"
        case Tree("sub", (a, b)):
            return f"{latex(a, draw)}-{_closed(b, draw)}"
        case Tree("mul", (a, b)):
            sign = draw.choice(("\\cdot ", "\\times ", "*"))
            return f"{_closed(a, draw)}{sign}{_closed(b, draw)}"
        case Tree("div", (a, b)):
            return f"\\{draw.choice(('frac', 'dfrac'))}{{{latex(a, draw)}}}{{{latex(b, draw)}}}"
        case Tree("pow", (a, n)):
            base = a.name if a.head in ("int", "sym") else f"\\left({latex(a, draw)}\\right)"
            return f"{base}^{{{latex(n, draw)}}}"
        case Tree("sqrt", (a,)):
            return f"\\sqrt{{{latex(a, draw)}}}"
        case Tree("fn", (a,), "exp"):
            return f"e^{{{latex(a, draw)}}}"
        case Tree("fn", (a,), name):
            return f"\\{name}\\left({latex(a, draw)}\\right)"
    raise AssertionError(tree)


def _closed(tree: Tree, draw: _Draw) -> str:
    # e^{…} would take what follows it for more of its base's power: it needs no brackets, a negative number does
    text = latex(tree, draw)
    return text if tree.head in _TIGHT else f"\\left({text}\\right)"


def value(tree: Tree) -> Any:
    """The tree as sympy has it."""
    args = [value(a) for a in tree.args]
    match tree.head:
        case "int":
            return sympy.Integer(tree.name)
        case "sym":
            return sympy.pi if tree.name == "\\pi" else sympy.Symbol(tree.name)
        case "neg":
            return -args[0]
        case "add":
            return args[0] + args[1]
        case "sub":
            return args[0] - args[1]
        case "mul":
            return args[0] * args[1]
        case "div":
            return args[0] / args[1]
        case "pow":
            return args[0] ** args[1]
        case "sqrt":
            return sympy.sqrt(args[0])
        case _:
            return {"ln": sympy.log}.get(tree.name, getattr(sympy, tree.name))(args[0])


# `n` counts, as the judge takes it where a formula is made for whole numbers: sin(n pi) is its own negative
_POINTS = (
    {"x": sympy.Rational(7, 5), "y": sympy.Rational(11, 13), "n": sympy.Integer(3)},
    {"x": sympy.Rational(3, 11), "y": sympy.Rational(17, 7), "n": sympy.Integer(19)},
    {"x": sympy.Rational(-13, 9), "y": sympy.Rational(5, 3), "n": sympy.Integer(-8)},
)


def same(first: Any, second: Any) -> bool | None:
    """Whether sympy's values agree at every point where both exist; None where none can be told."""
    known = 0
    for point in _POINTS if (first.free_symbols | second.free_symbols) else _POINTS[:1]:
        a, b = (side.subs(point).evalf(40) for side in (first, second))
        if not (a.is_number and b.is_number and a.is_finite and b.is_finite) or max(abs(a), abs(b)) > 10**25:
            continue
        if abs(a - b) > (abs(a) + abs(b) + 1) * sympy.Float(10) ** -25:
            return False
        known += 1
    return True if known else None


def pair(at: int, seed: int = SEED) -> Pair | None:
    """Pair number `at` of the seed's series; None where sympy gives no value."""
    draw = random.Random(f"{seed}/{at}")
    reference = grown(draw, draw.randint(1, 4), draw.choice(("", "x", "xy", "n")))
    answer = reference
    if at % 2:
        answer = edited(answer, draw, _changes)
    for _ in range(draw.randint(1, 4)):
        answer = edited(answer, draw, _rewrites)
    equal = same(value(reference), value(answer))
    if equal is None:
        return None
    return Pair(latex(reference, draw), latex(answer, draw), equal)


def disagreements(count: int, seed: int = SEED, start: int = 0) -> tuple[Counter[str], list[str]]:
    """Judge `count` pairs; what was said, and each verdict that is not sympy's."""
    said: Counter[str] = Counter()
    found = []
    for at in range(start, sys.maxsize):
        if said.total() == count:
            break
        made = pair(at, seed)
        if made is None:
            continue
        verdict = compare(made.answer, made.reference, symbolic=shared(1, DEADLINE).compare).outcome
        said[f"{'equal' if made.equal else 'different'} by sympy, {verdict} by ours"] += 1
        if (verdict == "equal") is not made.equal:
            found.append(f"pair {at}: {verdict} by ours, equal is {made.equal}: {made.answer} for {made.reference}")
    return said, found


def main() -> int:
    """0 when every verdict is sympy's."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=COUNT)
    parser.add_argument("--seed", type=int, default=SEED)
    asked = parser.parse_args()
    started = time.monotonic()
    said, found = disagreements(asked.count, asked.seed)
    print(f"{said.total():,} pairs of seed {asked.seed} in {time.monotonic() - started:.0f} s: {dict(said)}")
    for line in found:
        print(f"  {line}")
    print(f"  {len(found)} disagreements")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
