r"""How often a formula of the question, copied into the box, is paid: over any JSONL of questions and references.

python -m benchmarks.math.copied --input F --question task.main_query --reference task.metadata.answer

Two policies are tried on every row: box the last formula of the question, and box each formula of it in turn.
Formulas stand in `$…$`, `$$…$$`, `\(…\)` or `\[…\]`; a question without any offers its arithmetic. A formula that is
the reference's own text is left out: it is the right answer. Without `--input`, over the 300 problems of
`benchmarks.math.problems`.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agentscope_tuner import ConfigError, TaskJudge, load_judge
from benchmarks.math.bench import ROOT
from benchmarks.math.problems import problems
from benchmarks.math.redteam import share, verdict, written

BAR = 0.5
_FORMULA = re.compile(r"\$\$(.+?)\$\$|\$(.+?)\$|\\\((.+?)\\\)|\\\[(.+?)\\\]", re.DOTALL)
_ARITHMETIC = re.compile(r"[-+*/^=<>().\d\sxyznt]*\d[-+*/^=<>().\d\sxyznt]*")


def formulas(question: str) -> list[str]:
    """The formulas of a question, in order, without the full stop or comma that ends the sentence."""
    found = [next(group for group in match if group) for match in _FORMULA.findall(question)]
    if not found:
        runs = [run.strip() for run in _ARITHMETIC.findall(question)]
        found = [run for run in runs if re.search(r"[\w)]\s*[-+*/^=<>]\s*[\w(]", run)]
    return [text for formula in found if (text := formula.strip().rstrip(".,;").strip())]


def field(row: dict[str, Any], path: str) -> Any:
    """The value at a dotted path.

    Raises:
        ConfigError: the row has none.
    """
    value: Any = row
    for name in path.split("."):
        if not isinstance(value, dict) or name not in value:
            raise ConfigError(f"the row has no {path!r}: its fields are {sorted(row)!r}")
        value = value[name]
    return value


def pairs(path: Path | None, question: str, reference: str) -> Iterator[tuple[str, Any]]:
    """Questions with their references."""
    if path is None:
        yield from ((problem.question, problem.reference) for problem in problems())
        return
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            if line.strip():
                row = json.loads(line)
                yield str(field(row, question)), field(row, reference)


def own_text(formula: str, reference: Any) -> bool:
    """Whether a formula is the reference's own text, spaces and dollars aside."""
    plain = (re.sub(r"[\s$]|\\[,;!]", "", str(text)) for text in (formula, reference))
    return len(set(plain)) == 1


def paid(judge: TaskJudge, question: str, reference: Any, formula: str) -> bool:
    """Whether the formula alone in the box is paid."""
    return (
        not own_text(formula, reference) and verdict(judge, question, reference, written({"answer": formula})) is True
    )


def main() -> int:
    """0 when neither policy is paid on more than `BAR` percent of the rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--input", type=Path, help="a JSONL file")
    parser.add_argument("--question", default="task.main_query", help="the dotted path of a row's question")
    parser.add_argument("--reference", default="task.metadata.answer", help="the dotted path of a row's reference")
    parser.add_argument("--conf", type=Path, default=ROOT / "configs" / "math.yaml")
    parser.add_argument("--show", type=int, default=0, help="print so many of the paid copies")
    asked = parser.parse_args()
    judge = load_judge(asked.conf)
    rows = last = every = 0
    shown: list[str] = []
    for question, reference in pairs(asked.input, asked.question, asked.reference):
        rows += 1
        found = formulas(question)
        copies = [formula for formula in found if paid(judge, question, reference, formula)]
        last += bool(found) and found[-1] in copies
        every += bool(copies)
        shown += [f"  {formula!r} for {reference!r}: {question[:120]}" for formula in copies]
    print(f"{asked.input or 'benchmarks.math.problems'}: {rows} questions")
    print(f"  last formula of the question boxed: paid on {last} ({share(last, rows):.2f} %)")
    print(f"  any formula of the question boxed:  paid on {every} ({share(every, rows):.2f} %)")
    print("\n".join(shown[: asked.show]) if asked.show else "", end="\n" if asked.show and shown else "")
    return 0 if share(every, rows) <= BAR else 1


if __name__ == "__main__":
    raise SystemExit(main())
