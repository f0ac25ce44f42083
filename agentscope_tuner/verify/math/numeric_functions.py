"""The functions and constants that have a numeric value (worker side)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mpmath import mp

from agentscope_tuner.verify.math.numeric_matrix import NotANumber, OutOfRange, Value

MAX_GAMMA = 5_000
MAX_ANGLE = 10**9
SATURATED = 400


def check_range(name: str, args: Sequence[Value]) -> None:
    """Refuse an argument at which the function takes long to compute, or no longer changes measurably.

    Raises:
        TooComplex: an argument is out of range.
    """
    size = max((abs(a) for a in args), default=0)
    if name in ("sin", "cos", "tan", "cot", "sec", "csc") and size > MAX_ANGLE:
        raise OutOfRange(f"{name} out of range")
    if name in ("sinh", "cosh", "tanh", "coth", "sech", "csch", "erf") and size > SATURATED:
        raise OutOfRange(f"{name} out of range")
    if name in ("binom", "doublefact") and size > MAX_GAMMA:
        raise OutOfRange("a binomial or a factorial out of range")


def _whole(args: Sequence[Value]) -> list[int]:
    if not all(mp.isint(a) for a in args):
        raise NotANumber("whole numbers are needed")
    return [int(mp.re(a)) for a in args]


def _real(args: Sequence[Value]) -> list[Value]:
    if any(mp.im(a) != 0 for a in args):
        raise NotANumber("real numbers are needed")
    return [mp.re(a) for a in args]


def _gcd(args: Sequence[Value]) -> Value:
    from math import gcd

    return mp.mpf(gcd(*_whole(args)))


def _lcm(args: Sequence[Value]) -> Value:
    from math import lcm

    return mp.mpf(lcm(*_whole(args)))


SEVERAL: dict[str, Callable[[Sequence[Value]], Value]] = {
    "max": lambda args: max(_real(args)),
    "min": lambda args: min(_real(args)),
    "gcd": _gcd,
    "lcm": _lcm,
    "binom": lambda args: mp.binomial(*args),
    "floor": lambda args: mp.floor(*_real(args)),
    "ceil": lambda args: mp.ceil(*_real(args)),
    "sgn": lambda args: mp.sign(*_real(args)),
}
FUNCTIONS: dict[str, Callable[[Value], Value]] = {
    "sin": mp.sin, "cos": mp.cos, "tan": mp.tan, "cot": mp.cot, "sec": mp.sec, "csc": mp.csc,
    "arcsin": mp.asin, "arccos": mp.acos, "arctan": mp.atan, "arccot": mp.acot, "arcsec": mp.asec, "arccsc": mp.acsc,
    "sinh": mp.sinh, "cosh": mp.cosh, "tanh": mp.tanh, "coth": mp.coth, "sech": mp.sech, "csch": mp.csch,
    "arcsinh": mp.asinh, "arccosh": mp.acosh, "arctanh": mp.atanh,
    "doublefact": mp.fac2, "ln": mp.log, "erf": mp.erf, "Re": mp.re, "Im": mp.im, "conj": mp.conj, "arg": mp.arg,
}  # fmt: skip
CONSTANTS: dict[str, Callable[[], Value]] = {"\\pi": lambda: +mp.pi, "e": lambda: +mp.e, "i": lambda: mp.mpc(0, 1)}
