"""Random formulas: grown, rewritten by identities of all complex values, changed by small mistakes, written."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import NamedTuple

Draw = random.Random


class Tree(NamedTuple):
    """A formula: `int` and `sym` carry their value in `name`, a function its name; everything else has children."""

    head: str
    args: tuple[Tree, ...] = ()
    name: str = ""


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


def grown(draw: Draw, depth: int, names: str) -> Tree:
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


def rewrites(tree: Tree, draw: Draw) -> list[Tree]:
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


def _function_rewrites(a: Tree, name: str, draw: Draw) -> list[Tree]:
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


def changes(tree: Tree, draw: Draw) -> list[Tree]:
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


def edited(tree: Tree, draw: Draw, edits: Callable[[Tree, Draw], list[Tree]]) -> Tree:
    """The tree with one edit at a random place."""
    if tree.args and draw.random() < 0.65:
        at = draw.randrange(len(tree.args))
        if tree.head == "pow" and at == 1:
            at = 0
        args = tuple(edited(a, draw, edits) if i == at else a for i, a in enumerate(tree.args))
        return tree._replace(args=args)
    return draw.choice(edits(tree, draw))


_TIGHT = {"int", "sym", "sqrt", "fn", "div"}


def latex(tree: Tree, draw: Draw) -> str:
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


def _closed(tree: Tree, draw: Draw) -> str:
    # e^{…} would take what follows it for more of its base's power: it needs no brackets, a negative number does
    text = latex(tree, draw)
    return text if tree.head in _TIGHT else f"\\left({text}\\right)"
