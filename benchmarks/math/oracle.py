r"""Our verdicts beside sympy's values on 5,000 generated pairs: a part of `make fuzz`.

Each pair is one random formula twice: rewritten by random identities, and half of the time with a small change on top.
sympy decides what the pair is: both trees become sympy expressions (no text is parsed) and their difference is
evaluated with many digits, for formulas with symbols at three points, where `n` is a whole number. Only identities that
hold for all complex values are used, so that the signs of the points do not matter.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from typing import Any, NamedTuple

import sympy

from agentscope_tuner.verify.math.verdict import compare
from agentscope_tuner.verify.sandbox import DEADLINE, shared
from benchmarks.math.random_formulas import Tree, changes, edited, grown, latex, rewrites

SEED, COUNT = 20261122, 5_000


class Pair(NamedTuple):
    """Two formulas, as LaTeX, and whether sympy finds them equal."""

    reference: str
    answer: str
    equal: bool


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
        answer = edited(answer, draw, changes)
    for _ in range(draw.randint(1, 4)):
        answer = edited(answer, draw, rewrites)
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
