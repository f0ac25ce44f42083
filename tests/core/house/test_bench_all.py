"""`make bench-all`: every figure with its bar is collected, and none that is missing passes for met."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from benchmarks.all import BENCHES, Ran, ran, report
from benchmarks.bars import BarLine, at_least, at_most, read_bar_line
from tests.targets import TARGETS

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("figure", "bar", "unit", "least", "printed"),
    [
        (0.74, 0.7, "x", True, "judge: 0.74x (>= 0.70x) met by 6 %"),
        (0.7, 0.7, "x", True, "judge: 0.70x (>= 0.70x) met by 0 %"),
        (13358, 25000, "rows/s", True, "judge: 13,358 rows/s (>= 25,000 rows/s) missed by 47 %"),
        (0.41, 0.3, "s", False, "judge: 0.41 s (<= 0.30 s) missed by 37 %"),
        (3.0, 0, "errors", False, "judge: 3.00 errors (<= 0.00 errors) missed by 3.00 errors"),
        (float("nan"), 1.0, "x", True, "judge: nanx (>= 1.00x) missed by nan %"),
    ],
)
def test_a_figure_says_whether_it_reaches_its_bar_and_by_how_much(
    figure: float, bar: float, unit: str, least: bool, printed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    met = (at_least if least else at_most)("judge", figure, bar, unit)
    line = capsys.readouterr().out
    assert line == printed + "\n"
    read = read_bar_line(line)
    assert read is not None
    assert (read.name, read.met) == ("judge", met)


@pytest.mark.parametrize(
    "line",
    ["", "median ratios: speed 1.38, client CPU 1.02", "a: 1.0x (>= 2.0x)", "bars: all met", "p50 (ms): met by 3 %"],
)
def test_other_lines_are_no_figures(line: str) -> None:
    assert read_bar_line(line) is None


def test_what_prints_no_figure_or_fails_is_missed_and_named() -> None:
    met = BarLine("speed", "1.00x", ">= 0.90x", "met by 11 %")
    results = {"bench-llm": Ran(0, 1.0, [met]), "bench-view": Ran(2, 1.0), "bench-rules": Ran(1, 1.0, [met])}
    assert [result.met for result in results.values()] == [True, False, False]
    page = report(results)
    assert "2 of 2 figures reach their bar" in page
    assert "| `make bench-view` | | | missed: no figure, exit code 2 |" in page
    assert "| `make bench-rules` | | | missed: exit code 1 |" in page


def test_a_benchmark_is_run_and_its_lines_are_read() -> None:
    script = "print('warm'); print('speed: 2.00x (>= 1.00x) met by 100 %'); raise SystemExit(3)"
    done = ran([sys.executable, "-c", script])
    assert (done.code, [line.name for line in done.lines]) == (3, ["speed"])


def test_each_benchmark_is_a_target_of_make() -> None:
    assert set(BENCHES) <= TARGETS
