"""The countdown game: an equation must reach a target and use each given number exactly once."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from agentscope_tuner.verify.arithmetic import Expression, read_chain
from agentscope_tuner.verify.arithmetic_tokens import NotArithmeticError

UNREADABLE, WELL_FORMED, RIGHT = 0.0, 0.1, 1.0
_MOST_DIGITS = 40


@dataclass(frozen=True, slots=True)
class CountdownScore:
    """A reward of 0.0 (no attempt), 0.1 (a wrong attempt) or 1.0 (right), with its reason."""

    reward: float
    reason: str


def score(equation: str | None, target: Fraction | int, numbers: Sequence[Fraction | int]) -> CountdownScore:
    r"""Score the equation in the agent's box. No text raises, and a text over 500 characters is refused unread.

    Models write arithmetic in several notations, and these are read:

    - signs: `* x × · \times \cdot`, `/ ÷ \div`, every dash as a minus, and full-width forms;
    - a product without its sign at a bracket, `6(4)`; like every product it is calculated from left to right;
    - every kind of bracket that LaTeX prints, each closed by its own kind;
    - `\frac{a}{b}`, `\text{…}`, LaTeX spaces, and a final full stop;
    - `24 =` before the expression;
    - a chain of steps behind the expression, `= 4*6 = 24`: each step's value is the target, and the last is the target.

    Everything else, such as powers and factorials, is unreadable.

    Args:
        equation: the text inside the box, None when there was no box.
        target: the value to reach.
        numbers: the given numbers, each of which must be used exactly once.

    Returns:
        1.0: the expression uses the given numbers and its value is the target. 0.1: a wrong attempt, with at least one
        operator between two numbers, and at least one given number. 0.0: anything else, so that a single number earns
        nothing.
    """
    if equation is None:
        return CountdownScore(UNREADABLE, "no \\boxed{} in the answer")
    try:
        steps = read_chain(equation)
    except NotArithmeticError as exc:
        return CountdownScore(UNREADABLE, f"not an equation: {exc}")
    problem = _problem(steps, Fraction(target), [Fraction(number) for number in numbers])
    if problem is None:
        return CountdownScore(RIGHT, f"right: {_expression(steps).text} = {_shown(Fraction(target))}")
    given = {abs(Fraction(number)) for number in numbers}
    if any(step.is_calculation and not given.isdisjoint(step.numbers) for step in steps):
        return CountdownScore(WELL_FORMED, problem)
    return CountdownScore(UNREADABLE, f"no attempt, since it calculates nothing with the given numbers; {problem}")


def _expression(steps: Sequence[Expression]) -> Expression:
    """The step that must use the given numbers: the first, or the second where a model writes `24 = 4 * 6`."""
    target_first = len(steps) > 1 and not steps[0].is_calculation
    return steps[1] if target_first else steps[0]


def _problem(steps: Sequence[Expression], target: Fraction, numbers: Sequence[Fraction]) -> str | None:
    """The first error of an equation, its numbers checked before its value; None for a right equation."""
    expression = _expression(steps)
    used = sorted(expression.numbers)
    # A minus before a number is always allowed, so a given -5 and a given 5 allow the same equations: compare sizes
    given = sorted(abs(number) for number in numbers)
    if used != given:
        return f"wrong numbers: used {_listed(used)}, given {_listed(given)}"
    for step in (expression, *steps):
        try:
            value = step.value()
        except ZeroDivisionError:
            return f"wrong value: {step.text} divides by zero"
        if value != target:
            says = f"{step.text} = {_shown(value)}" if step is expression else f"it says = {step.text}"
            return f"wrong value: {says}, not {_shown(target)}"
    if steps[-1] is not expression and steps[-1].is_calculation:
        return f"wrong value: the chain must end with the target, not with {steps[-1].text}"
    return None


_MOST_TO_TRY = 4
# An absolute value as numerator and denominator in lowest terms. A Fraction would take five times as long
_Size = tuple[int, int]


def is_reachable(target: Fraction | int, numbers: Sequence[Fraction | int]) -> bool | None:
    """Whether any equation with these numbers reaches the target. All are tried, in about a millisecond.

    Returns:
        None for more than four numbers, because they would take too long.
    """
    if len(numbers) > _MOST_TO_TRY:
        return None
    # A minus before a number or a bracket is always allowed, so only absolute values matter.
    # A subset of the numbers is an int with one bit for each number
    sizes = {1 << place: {_size(number)} for place, number in enumerate(numbers)}
    wanted, whole = _size(target), (1 << len(numbers)) - 1
    for chosen in range(1, whole):
        if chosen not in sizes:
            found = sizes[chosen] = set()
            for part in _smaller_parts(chosen):
                for a in sizes[part]:
                    for b in sizes[chosen ^ part]:
                        found.update(_joined(a, b))
    if whole in sizes:
        return wanted in sizes[whole]
    # The last operator joins the value a of one half to the value b of the other. So b and the target give each a that
    # would reach the target, and only the values of one half need be tried
    return any(
        not sizes[whole ^ part].isdisjoint(_joined(b, wanted) if b[0] else [wanted])
        or (not wanted[0] and (0, 1) in (b, *sizes[whole ^ part]))
        for part in _smaller_parts(whole)
        for b in sizes[part]
    )


def _size(number: Fraction | int) -> _Size:
    return abs(Fraction(number)).as_integer_ratio()


def _smaller_parts(chosen: int) -> Iterator[int]:
    """For each split of the chosen numbers into two parts: the part with fewer numbers."""
    part = (chosen - 1) & chosen
    while part > chosen ^ part:
        yield min(part, chosen ^ part, key=int.bit_count)
        part = (part - 1) & chosen


def _joined(a: _Size, b: _Size) -> list[_Size]:
    """The absolute values that one operator can make of a and b.

    They are also the numbers that an operator can join with b to make a, because each operator has its inverse.
    """
    (an, ad), (bn, bd) = a, b
    left, right, below = an * bd, bn * ad, ad * bd
    found = [_lowest(left + right, below), _lowest(abs(left - right), below), _lowest(an * bn, below)]
    if bn:
        found.append(_lowest(left, right))
    if an:
        found.append(_lowest(right, left))
    return found


def _lowest(above: int, below: int) -> _Size:
    common = math.gcd(above, below)
    return above // common, below // common


def _listed(numbers: Sequence[Fraction]) -> str:
    return "[" + ", ".join(map(_shown, numbers[:20])) + (", …]" if len(numbers) > 20 else "]")


def _shown(number: Fraction) -> str:
    # Python refuses to print a number of more than 4,300 digits, and a log should hold far fewer
    if max(abs(number.numerator), number.denominator) >= 10**_MOST_DIGITS:
        return f"a number of more than {_MOST_DIGITS} digits"
    return str(number)
