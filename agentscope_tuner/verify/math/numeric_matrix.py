"""Values that may be matrices (worker side): rows of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mpmath import mp

from agentscope_tuner.verify.math.text import TooComplex

# mpmath's numbers are untyped: a Value is an mpf, an mpc, or a matrix as rows of them
Value = Any


class OutOfRange(TooComplex):
    """A value so large or so small that adding another term to it changes no digit."""


class NotANumber(Exception):
    """The expression has no value at this point: it is undefined or infinite, or its kind of node has no value."""


def matrix_sum(terms: Sequence[Value]) -> Value:
    """The sum of matrices.

    Raises:
        NotANumber: their sizes differ, or a term is not a matrix.
    """
    if not all(isinstance(t, list) for t in terms) or len({(len(t), len(t[0])) for t in terms}) != 1:
        raise NotANumber("a sum of matrices of different sizes")
    return [[mp.fsum(cells) for cells in zip(*rows, strict=True)] for rows in zip(*terms, strict=True)]


def product(left: Value, right: Value) -> Value:
    """The product of two values, of which either may be a matrix.

    Raises:
        NotANumber: two matrices whose sizes do not allow a product.
    """
    if isinstance(left, list) and isinstance(right, list):
        return _matrix_product(left, right)
    if isinstance(left, list):
        left, right = right, left
    return [[left * cell for cell in row] for row in right] if isinstance(right, list) else left * right


def _matrix_product(left: list[list[Value]], right: list[list[Value]]) -> Value:
    if len(left[0]) != len(right):
        raise NotANumber("a product of matrices that do not fit")
    return [
        [mp.fsum(a * b for a, b in zip(row, column, strict=True)) for column in zip(*right, strict=True)]
        for row in left
    ]
