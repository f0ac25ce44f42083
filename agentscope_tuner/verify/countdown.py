"""The countdown game: reach a target with each given number used exactly once."""

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
    """`reward` is 0.0 (no attempt), 0.1 (an attempt, but wrong) or 1.0; `reason` says why."""

    reward: float
    reason: str


def score(equation: str | None, target: Fraction | int, numbers: Sequence[Fraction | int]) -> CountdownScore:
    r"""Score what the agent boxed. No text raises, and none takes longer than five hundred characters do.

    It is read as a model means it. Signs: `* x × · \times \cdot`, `/ ÷ \div`, every dash as a minus, full-width forms;
    a product may leave its sign out at a bracket, `6(4)`, and is then read like any other, from left to right. Brackets
    of every kind that LaTeX prints, each closed by its own kind. `\frac{a}{b}`, `\text{…}`, LaTeX spaces, a final full
    stop. `24 =` may stand before the expression, and behind it a chain of steps that ends with the target, `= 4*6 =
    24`: each step must be worth the target. All else, such as powers and factorials, is unreadable.

    Args:
        equation: the text inside the box, None when there was no box.
        target: the value to reach.
        numbers: the given numbers, each of which must be used exactly once.

    Returns:
        1.0: the expression uses the numbers and is worth the target. 0.1: an attempt, that is at least one operator
        between two numbers of which one is given. 0.0: anything else, so that no single number is paid.
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
    """The step that must use the numbers: the first, or the second where a model writes `24 = 4 * 6`."""
    target_first = len(steps) > 1 and not steps[0].is_calculation
    return steps[1] if target_first else steps[0]


def _problem(steps: Sequence[Expression], target: Fraction, numbers: Sequence[Fraction]) -> str | None:
    """What is wrong with it, the numbers first; None when it is right."""
    expression = _expression(steps)
    used = sorted(expression.numbers)
    # by absolute value: unary minus is free, so a given -5 and a given 5 allow the same equations
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
# a size as numerator and denominator in lowest terms: a Fraction takes five times as long to make and to look up
_Size = tuple[int, int]


def is_reachable(target: Fraction | int, numbers: Sequence[Fraction | int]) -> bool | None:
    """Whether some equation is right: by trying all of them, in about a millisecond.

    Returns:
        None, undecided, for more than four numbers.
    """
    if len(numbers) > _MOST_TO_TRY:
        return None
    # a minus before a number or a bracket is free: sizes alone matter. Sets of numbers are bits of an int
    sizes = {1 << place: {_size(number)} for place, number in enumerate(numbers)}
    wanted, whole = _size(target), (1 << len(numbers)) - 1
    for chosen in range(1, whole):
        if chosen not in sizes:
            found = sizes[chosen] = set()
            for part in _halves(chosen):
                for a in sizes[part]:
                    for b in sizes[chosen ^ part]:
                        found.update(_joined(a, b))
    if whole in sizes:
        return wanted in sizes[whole]
    # the last sign joins a to b: from b and the target follows each a that would do
    return any(
        not sizes[whole ^ part].isdisjoint(_joined(b, wanted) if b[0] else [wanted])
        or (not wanted[0] and (0, 1) in (b, *sizes[whole ^ part]))
        for part in _halves(whole)
        for b in sizes[part]
    )


def _size(number: Fraction | int) -> _Size:
    return abs(Fraction(number)).as_integer_ratio()


def _halves(chosen: int) -> Iterator[int]:
    """One side of each way to part the chosen numbers in two, the smaller one."""
    part = (chosen - 1) & chosen
    while part > chosen ^ part:
        yield min(part, chosen ^ part, key=int.bit_count)
        part = (part - 1) & chosen


def _joined(a: _Size, b: _Size) -> list[_Size]:
    """What one sign makes of a and b, up to signs: also each a that it joins with b to a target, for it is the same."""
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
    # Python refuses to print more than some thousand digits, and a log wants fewer
    if max(abs(number.numerator), number.denominator) >= 10**_MOST_DIGITS:
        return f"a number of more than {_MOST_DIGITS} digits"
    return str(number)
