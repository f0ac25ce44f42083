"""Answers that a policy could write to hang a judge, to crash it, to run code in it, or to be paid for nothing.

Every one is judged against 42 unless it says otherwise, and none of them is 42.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from agentscope_tuner import Task, WorkflowOutput, WorkflowTask, load_config
from agentscope_tuner.task_judge.math_answer_as_judge import MathAnswerAsJudge
from agentscope_tuner.verify.sandbox import shared
from benchmarks.math.cpu import with_children

SENTINEL = "astuner_hostile_sentinel"
_CODE = [
    f"__import__('os').system('touch {SENTINEL}')",
    f"open('{SENTINEL}','w')",
    f"exec(\"open('{SENTINEL}','w')\")",
    f"[c for c in ().__class__.__base__.__subclasses__()][0]('{SENTINEL}')",
    f"\\input{{|touch {SENTINEL}}}",
    f"\\write18{{touch {SENTINEL}}}",
    f"lambda: open('{SENTINEL}','w')",
    f"eval(compile('open(\"{SENTINEL}\",\"w\")','','exec'))",
    "`touch " + SENTINEL + "`",
    "$(touch " + SENTINEL + ")",
]
_SLOW = [
    r"9^{9^{9^{9}}}", r"2^{2^{2^{2^{2^{2}}}}}", r"95**36**32", r"10^{10^{10}}", r"(10^{100})!", "100!!!!",
    "9!" + "!" * 500,
    r"\binom{10^9}{5\cdot 10^8}", r"\binom{1000000}{500000}", r"\int_0^1 x^{x^x}\,dx", r"\int\int\int e^{x^2}dx",
    r"\lim_{x\to 0}\frac{\sin x}{x}", r"\sum_{k=1}^{10^{12}} k", r"\prod_{k=1}^{10^9} k", r"e^{e^{e^{e^{e}}}}",
    r"\sin(10^{50})", r"\tan(10^{30})", r"\ln(\ln(\ln(10^{10000})))", r"x^{100000}+x^{99999}", r"(x+y+z)^{5000}",
    r"(1+\frac{1}{10^{9}})^{10^{9}}", r"\gcd(10^{300}, 7^{300})", r"\sqrt[1000000]{2}", r"0.1^{10^{9}}",
    r"(-1)^{10^{40}}",
    r"\det" * 400, r"\log" * 400 + "9", r"\sqrt{" * 400 + "42" + "}" * 400, r"\frac{1}{" * 300 + "1" + "}" * 300,
    r"\frac1" * 1000, "{" * 5000 + "43" + "}" * 5000, "(" * 3000 + "43" + ")" * 3000,
    r"\left(" * 900 + "43" + r"\right)" * 900,
    "[" * 2000, "|" * 3000 + "43" + "|" * 3000, "-" * 5000 + "43", "^" * 3000, "_" * 3000, "x_" * 1500, "\\" * 5000,
    "1" + "+1" * 2000, "2" + "*2" * 1400, "1" + "/1" * 1400, "x" + r"\pm 1" * 900, r"\pm" * 900 + "42", "(x+1)" * 900,
    "[0,1]" + r"\cup[0,1]" * 600, "1," * 5000 + "1", r"\{1," * 300, r"\begin{pmatrix}" * 300, r"\text{" * 900,
    r"\begin{pmatrix}" + r"1&1\\" * 400 + r"\end{pmatrix}", r"\begin{pmatrix}x&y\\y&x\end{pmatrix}^{50}",
    r"\sin(" * 100 + "x" + ")" * 100, r"\left|" * 100 + "x" + r"\right|" * 100, "x^" * 300 + "x", "43" + "%" * 2000,
    "9" * 5000, "1" + "0" * 4999, "0." + "3" * 5000, "1e999999999", "1e-999999999", r"0.\overline{" + "3" * 3000 + "}",
    "x" * 1_000_000, "9" * 1_000_000, " " * 1_000_000, "é" * 100_000, "|x|" * 200, r"\frac{x^{24}+1}{x^{23}-x^7+2}>0",
    "x<1" + r"\text{ or }x<1" * 300, r"|x-1|+|x-2|+|x-3|+|x-4|+|x-5|<9", r"\sin(1/x)>0", r"x^{24}-3x^{11}+x<\sqrt{x}",
]  # fmt: skip
_UNEARNED = [
    "", " ", "?", "x", "NaN", "nan", r"\infty", r"-\infty", "inf", "None", "null", "True", "1 or 42",
    r"42 \text{ or } 43",
    "42, 43", r"\{42, 43\}", "41, 42", r"\pm 42", "40 = 41 = 42", r"41 \to 42", r"41 \Rightarrow 42", r"42 \ne 42",
    "x \\ne 43",
    "42 is not the answer", "not 42", "42 or more", r"\ge 42", "x \\ge 42", "(42, 42)", "[42, 43]", "42 maybe", "4 2",
    "42x",
    "42 + x", "42i", "42_7", "x + 42 = 84", "2x = 84", "42 = 43", r"\frac{42}{0}", r"\frac{0}{0}", r"42 + 0^{-1}",
    r"42 + 10^{-50}", r"42 + 10^{-5000}", r"42 + e^{-1000}", r"42\cos(10^{-100})", r"42 + \sin(10^{-400})",
    r"42^{1+10^{-300}}",
    r"42\tanh(1000)", r"42\tanh(10^{6})", r"43\cdot 10^{10000}\cdot 10^{-10000}", r"43 + 10^{10000} - 10^{10000}",
    r"\sqrt{2}\cdot\sqrt{2}\cdot 21 + 10^{-40}", r"41.9999", "42.0001", "41.99999", r"42.\overline{1}", r"420\%",
    "42°C or 43°C",
    "42\x00", "\u0434\u0432\u0430", "4\u200b3", "\uff14\uff13", "\u0664\u0663", "⁴²", "④②", "IV", "0x2A", "forty-three",
    r"\boxed{43}", r"\boxed{}", r"\text{42 or 43}", r"\text{the answer}", r"42 \approx 43", r"43 \approx 42", "42!",
    "42'", "|42",
    r"\sqrt{42}", "-42", "--43", "+-42", "1/42", "42/", "^42", "42^", r"\{\}", r"\emptyset", r"\mathbb{R}",
    r"\left(42\right",
]  # fmt: skip


class Hostile(NamedTuple):
    """One output and the reference that it must not be paid for."""

    output: str
    reference: str = "42"


def outputs() -> list[Hostile]:
    """Every hostile output, boxed."""
    return [
        *(Hostile(f"\\boxed{{{answer}}}") for answer in (*_CODE, *_SLOW, *_UNEARNED)),
        Hostile("\\boxed{41}" * 20_000),
        Hostile("\\boxed{" * 20_000 + "42"),
        Hostile("\\boxed{42} wait, " * 5_000 + "\\boxed{41}"),
        Hostile("\\boxed{42} no, \\boxed{}"),
        Hostile("\\boxed{42} no, \\boxed{4"),
        Hostile("{" * 200_000 + "\\boxed{43}"),
        Hostile("\\boxed{\\boxed{42} or 43}"),
        Hostile("\\boxed{x+3=8}", "5"),
        Hostile("\\boxed{x^2-5x+6=0}", "2,3"),
        Hostile("\\boxed{(2,1)}", "(1,2)"),
        Hostile("\\boxed{\\mathbb{R}}", "x>2"),
        Hostile("\\boxed{0=0}", "y=2x+1"),
        Hostile("\\boxed{x=x}", "x=5"),
        Hostile("\\boxed{\\frac{f(x)}{f(x)}f(y)}", "f(x)"),
        Hostile("\\boxed{\\sqrt{x^2}}", "x"),
        Hostile("\\boxed{\u0445}", "x"),
        Hostile("\\boxed{1000000000000000000000000000000}", "1000000000000000000000000000001"),
    ]


@dataclass(frozen=True)
class Result:
    """What one run of the hostile set showed."""

    where: str
    judged: int
    # outputs paid, ordinary answers misjudged, code that ran: must be empty anywhere, on any machine
    wrong: list[str]
    # outputs that took more than a second of CPU time, of the judging process and its workers together, without the
    # start of a worker that replaces a killed one: must be empty
    late: list[str]
    slowest_cpu_seconds: float


def judge_all(where: str, rounds: int = 1) -> Result:
    """Judge every hostile output here and now, an ordinary one after each; in each further round against another
    reference, which none of them states either. A new worker judges an ordinary sum first, for which it imports sympy.
    """
    judge = MathAnswerAsJudge(load_config())
    wrong: list[str] = []
    late: list[str] = []
    slowest = 0.0
    again = (Hostile(output, str(10**6 + number)) for number in range(1, rounds) for output, _ in outputs())
    judged = 0
    workers: list[int] | None = None
    for hostile in chain(outputs(), again):
        judged += 1
        if shared().pids() != workers:
            workers = shared().pids()
            if not _judged(judge, "\\boxed{\\sum_{k=1}^{\\infty} \\frac{1}{2^k}}", "1")[1]:
                wrong.append(f"a new worker misjudged an ordinary sum before answer {judged}")
        started = _cpu()
        reward = _judged(judge, hostile.output, hostile.reference)
        took = _cpu() - started
        slowest = max(slowest, took)
        shown = f"{hostile.output[:60]!r} ({len(hostile.output)} characters)"
        if reward[1]:
            wrong.append(f"paid: {shown}")
        if took > 1:
            late.append(f"took {took:.2f} s of CPU time: {shown}")
        if not _judged(judge, "\\boxed{2\\sqrt{3}}", "\\sqrt{12}")[1]:
            wrong.append(f"an ordinary answer after {shown} was misjudged")
    if Path(SENTINEL).exists():
        wrong.append("code ran")
    return Result(where, judged, wrong, late, round(slowest, 3))


def _cpu() -> float:
    return with_children(shared().pids())


def _judged(judge: MathAnswerAsJudge, output: str, reference: str):  # type: ignore[no-untyped-def]
    task = WorkflowTask(task=Task(metadata={"answer": reference}))
    return judge.compute_reward(task, WorkflowOutput(metadata={"final_answer": output}))


def report_to(path: str, label: str) -> None:
    """Judge everything and leave the result in a file: for processes that can return nothing else."""
    Path(path).write_text(json.dumps(asdict(judge_all(label))), encoding="utf-8")


def show(result: Result) -> int:
    """Print the result; the exit code it deserves."""
    print(json.dumps(asdict(result), indent=1, ensure_ascii=False))
    return 1 if result.wrong or result.late else 0


if __name__ == "__main__":
    sys.exit(show(judge_all("main thread")))
