"""A measured figure beside its bar, as the one line that `make bench-all` collects.

    judge, one job, beside compute_reward: 0.74x (>= 0.70x) met by 6 %
    astuner --help: 0.41 s (<= 0.30 s) missed by 37 %

A benchmark prints what it likes, and one such line for each figure that has a bar.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_LINE = re.compile(
    r"(?P<name>\S.*): (?P<figure>(?:nan|inf|-?[\d,.]+)[^()]*) \((?P<bar>[<>]= .+)\) "
    r"(?P<said>(?:met|missed) by .+)"
)


@dataclass(frozen=True, slots=True)
class BarLine:
    """One line, read back.

    Attributes:
        name: what was measured.
        figure: with its unit.
        bar: `>=` or `<=` and a value with its unit.
        said: met or missed, and by how much.
    """

    name: str
    figure: str
    bar: str
    said: str

    @property
    def met(self) -> bool:
        """Whether the figure reaches its bar."""
        return self.said.startswith("met")


def at_least(name: str, figure: float, bar: float, unit: str = "x") -> bool:
    """Print a figure that should reach `bar`, and say whether it does."""
    return _print(name, figure, bar, unit, ">=", figure >= bar)


def at_most(name: str, figure: float, bar: float, unit: str = "x") -> bool:
    """Print a figure that should stay under `bar`, and say whether it does."""
    return _print(name, figure, bar, unit, "<=", figure <= bar)


def read_bar_line(line: str) -> BarLine | None:
    """What `at_least` or `at_most` printed; None for any other line."""
    found = _LINE.fullmatch(line.strip())
    return BarLine(**found.groupdict()) if found else None


def _print(name: str, figure: float, bar: float, unit: str, sign: str, met: bool) -> bool:
    # a NaN reaches no bar, and is no number of per cent away from it
    away = f"{abs(figure / bar - 1):.0%}".replace("%", " %") if bar else _shown(abs(figure - bar), unit)
    print(
        f"{name}: {_shown(figure, unit)} ({sign} {_shown(bar, unit)}) {'met' if met else 'missed'} by {away}",
        flush=True,
    )
    return met


def _shown(value: float, unit: str) -> str:
    """Three digits at least; `x` stands at its number, other units after a blank."""
    number = f"{value:,.0f}" if abs(value) >= 100 else f"{value:.2f}"
    return number + (unit if unit == "x" else f" {unit}" if unit else "")
