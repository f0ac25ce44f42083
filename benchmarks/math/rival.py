"""Math-Verify's verdicts, in its own environment: pairs on standard input, verdicts and seconds on standard output.

Runs with the interpreter of .venvs/math-verify and imports nothing of astuner.
"""

from __future__ import annotations

import json
import logging
import sys
import time

from latex2sympy2_extended import latex2sympy
from math_verify import parse, verify

logging.disable(logging.CRITICAL)


def judge(answer: str, reference: str) -> bool:
    """As its README shows: both sides parsed, the reference in dollars."""
    return bool(verify(parse(f"${reference}$"), parse(answer)))


def parses(_answer: str, reference: str) -> bool:
    """Whether the parser under Math-Verify reads the reference, wrapping removed by the caller."""
    return latex2sympy(reference) is not None


def main() -> None:
    """One pair a line; a line of its own for each verdict, so that a reader sees where it hangs.

    With `--parse`, latex2sympy2-extended alone on each pair's reference: whether it gives an expression.
    """
    ask = parses if "--parse" in sys.argv else judge
    ask("$1$", "1")
    for line in sys.stdin:
        pair = json.loads(line)
        started, cpu = time.perf_counter(), time.process_time()
        try:
            verdict: bool | None = ask(pair["answer"], pair["reference"])
        # boundary: whatever it raises is an abstention, counted as a wrong verdict by the reader
        except Exception:  # noqa: BLE001
            verdict = None
        used = {"seconds": time.perf_counter() - started, "cpu": time.process_time() - cpu}
        print(json.dumps({"verdict": verdict, **used}), flush=True)


if __name__ == "__main__":
    main()
