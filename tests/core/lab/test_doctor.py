"""`astuner doctor`: broken runs are named by their cause, and sound ones are left alone."""

from __future__ import annotations

import json
import math
import random
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from agentscope_tuner.cli.app import app
from agentscope_tuner.lab.doctor import diagnose
from agentscope_tuner.lab.right_answers import left_open
from agentscope_tuner.records.formats.sample import ColumnMap
from agentscope_tuner.records.scored_rows import shape_of
from tests.scored_lines import rows, scored, written

Row = dict[str, Any]
TASKS, GROUP = 6, 4


def run_of(make: Callable[[int, int], Row]) -> list[Row]:
    """Rows of six tasks with four samples each."""
    return [make(task, sample) for task in range(TASKS) for sample in range(GROUP)]


def row(task: int, sample: int, reward: float | None, answer: str, **keys: Any) -> Row:
    found = scored(
        f"{task}-{sample}", reward, task=keys.pop("name", f"t{task}"), answer=answer,
        metadata=keys.pop("metadata", {"answer": str(40 + task)}), **keys,
    )  # fmt: skip
    found["task"]["main_query"] = f"question {task}"
    return found


def said(task: int, sample: int) -> str:
    return f"thought {task} {sample}, so \\boxed{{{40 + task + sample % 2}}}"


def plain(task: int, sample: int) -> Row:
    return row(task, sample, float(sample % 2 == 0), said(task, sample))


def in_form(form: str, reason: str = "no \\boxed{} in the answer") -> list[Row]:
    return run_of(lambda t, s: row(t, s, 0.0, f"thought {s}\n{form.replace('%s', str(40 + t))}", reason=reason))


def filtered(task: int, sample: int) -> Row:
    if sample == 3:
        return plain(task, sample)
    return row(task, sample, 0.0, said(task, sample), status="filtered", is_success=False, violations=["max_tokens"])


def cut(task: int, sample: int) -> Row:
    found = row(task, sample, 0.0 if sample else 1.0, f"Let me think {sample} about")
    found["finish_reason"] = "length" if sample else "stop"
    return found


def asked(question: str, found: Row) -> Row:
    found["task"]["main_query"] = question
    return found


def options(task: int) -> str:
    told = " ".join(f"({letter}) {CITIES[(task + at) % TASKS]}" for at, letter in enumerate("ABCD"))
    return f"Which is capital {task}? {told}"


def parts(task: int, sample: int, reward: float, **values: float) -> Row:
    metrics = {f"part/{name}": value for name, value in values.items()}
    return row(task, sample, reward, said(task, sample), metrics=metrics, is_success=False, reason="combined")


GENERATOR = random.Random(1)
NAMES = ("north", "south", "east", "west", "port", "centre")
CITIES = ("Paris", "Oslo", "Rome", "Quito", "Lima", "Cairo")
WIDE = {ord("0") + digit: chr(0xFF10 + digit) for digit in range(10)}
BROKEN: dict[str, tuple[list[Row], str, str]] = {
    "GSM8K's form, read as a box": (in_form("#### %s"), "answers stand elsewhere", "answer_in: [hash]"),
    "tags, read as a box": (in_form("<answer>%s</answer>"), "answers stand elsewhere", "answer_in: [tag]"),
    "a box, read as tags": (
        in_form("\\boxed{%s}", "no answer between tags"), "answers stand elsewhere", "answer_in: [boxed]",
    ),
    "a judge of one's own that says nothing": (in_form("#### %s", ""), "answers stand elsewhere", "answer_in: [hash]"),
    "programs without a fence": (
        run_of(lambda t, s: row(t, s, 0.0, f"def f(x):\n    return {t}{s}", metadata={"tests": {"inputs": ["1"]}},
                                reason="no fenced program")),
        "all wrong", "astuner explain",
    ),
    "the response in the place of the reference": (
        run_of(lambda t, s: row(t, s, 0.0, str(t), metadata={"answer": f"It is \\boxed{{{t}}}."},
                                reason="no \\boxed{}")),
        "columns swapped", "reads: {answer: COLUMN, response: COLUMN}",
    ),
    "no answer anywhere": (in_form("I am not sure"), "no answer found", "prompt"),
    "no reference, and the judge says so": (
        run_of(lambda t, s: row(t, s, None, said(t, s), metadata={}, cause="reference")), "no reference",
        "--map YOUR_COLUMN=answer",
    ),
    "no reference, and the judge pays 0": (
        run_of(lambda t, s: row(t, s, 0.0, said(t, s), metadata={"gold": "1"}, reason="")), "no reference",
        "`reads: {answer: gold}` under astuner.task_judge, or --map gold=answer",
    ),
    "endpoint down": (
        run_of(lambda t, s: plain(t, s) if s == 0 else row(t, s, None, said(t, s))), "no verdict", "astuner check",
    ),
    "a row that is broken": (
        run_of(lambda t, s: row(t, s, None, "", cause="input", error="a.jsonl:2: the row is no JSON")), "no verdict",
        "what is said there; then judge the rows again",
    ),
    "a row without a response": (
        run_of(lambda t, s: row(t, s, None, "", cause="input", error="a.jsonl:2: the row has no response, only ['q']")),
        "no verdict", "--map YOUR_COLUMN=response",
    ),
    "one rule eats everything": (run_of(filtered), "one rule", "id: max_tokens"),
    "truncated": (run_of(cut), "truncated outputs", "max_completion_length"),
    "empty answers": (run_of(lambda t, s: row(t, s, 0.0, "")), "empty answers", "--map YOUR_COLUMN=response"),
    "one text a group": (
        run_of(lambda t, s: row(t, s, float(t % 2), f"same \\boxed{{{40 + t}}}")), "equal texts", "temperature",
    ),
    "an id for each sample": (
        run_of(lambda t, s: row(t, s, float(s % 2), said(t, s), name=f"{t}-{s}")), "ids split groups", "one task_id",
    ),
    "parts cancel": (
        run_of(lambda t, s: parts(t, s, 0.0, length=5.0 * s, penalty=-5.0 * s)), "parts cancel", "weight",
    ),
    "clipped": (
        run_of(lambda t, s: parts(t, s, 1.0, format=0.8, length=0.5 + 0.4 * s, right=0.2)), "clipped", "clip",
    ),
    "all right": (run_of(lambda t, s: row(t, s, 1.0, said(t, 0) + str(s))), "all right", "harder"),
    "all wrong": (
        run_of(lambda t, s: row(t, s, 0.0, f"{s} \\boxed{{7}}", reason="exact: 7 is not 41")), "all wrong", "explain",
    ),
    "one rating for all": (
        run_of(lambda t, s: row(t, s, 0.3, said(t, s), reason="so", is_success=False)), "equal rewards", "partial",
    ),
    # twelve kinds more
    "a success that earns nothing": (
        run_of(lambda t, s: row(t, s, 0.0, said(t, s), is_success=s % 2 == 0)), "right earns no more", "reward",
    ),
    "a loss taken for a reward": (
        run_of(lambda t, s: row(t, s, -1.0 if s % 2 else 2.5, said(t, s), is_success=bool(s % 2))),
        "right earns no more", "sign",
    ),
    "a spread that trainers' epsilon swallows": (
        run_of(lambda t, s: row(t, s, 0.5 + s * 1e-6, said(t, s), is_success=True)), "tiny spread", "weight",
    ),
    "rewards that are next to nothing": (
        run_of(lambda t, s: row(t, s, 1e-12 * (s % 2), said(t, s), is_success=None)), "tiny spread", "weight",
    ),
    "a loss in place of a reward": (
        run_of(lambda t, s: row(t, s, float(s % 2), said(t, s), is_success=s % 2 == 0)), "right earns no more",
        "turn the sign",
    ),
    "answers of the neighbour": (
        run_of(lambda t, s: row(t, s, 0.0, f"so {s} \\boxed{{{40 + (t + 1) % TASKS}}}", reason="exact: no")),
        "another task's answer", "id",
    ),
    "every reference the text None": (
        run_of(lambda t, s: row(t, s, 0.0, said(t, s), metadata={"answer": "None"}, reason="exact: no")),
        "one reference", "reads",
    ),
    "thoughts that never end": (
        run_of(lambda t, s: row(t, s, 0.0, f"<think>\nFirst {s}, then", reason="no \\boxed{} in the answer")),
        "truncated outputs", "max_completion_length",
    ),
    "markers behind the answer": (
        run_of(lambda t, s: row(t, s, 0.0, f"{40 + t}" + "<|im_end|>" * (s + 1), reason="no exact match, F1 0.000")),
        "right answers refused", "<|im_end|>",
    ),
    "capitals and a full stop": (
        run_of(lambda t, s: row(t, s, 0.0, f"Paris {t}" + "." * s, metadata={"answer": f"PARIS {t}"},
                                reason="not the reference")),
        "right answers refused", "PARIS 0",
    ),
    "undecided, all of them": (
        run_of(lambda t, s: row(t, s, 0.0, said(t, s), reason="undecided: out of time")), "undecided", "math.deadline",
    ),
    "a step for each sample": (
        [{**plain(t, s), "step": s} for t in range(TASKS) for s in range(GROUP)], "groups of one", "same step",
    ),
    "a reward of the question alone": (
        run_of(lambda t, s: row(t, s, t / 8, said(t, s), is_success=False, reason="rated")), "equal rewards", "answer",
    ),
    "hard tasks, and a few that teach": (
        run_of(lambda t, s: plain(t, s) if t == 0 else row(t, s, 0.0, said(t, s), reason="exact: no")), "all wrong",
        "easier tasks",
    ),
    "easy tasks, and a few that teach": (
        run_of(lambda t, s: row(t, s, float(t > 0 or s % 2), said(t, int(t + s % 2 == 0)) + "." * s, reason="exact")),
        "all right", "harder tasks",
    ),
    "a judge out of time": (
        run_of(lambda t, s: row(t, s, None, said(t, s), cause="deadline", error="no verdict within 10 s")),
        "no verdict", "deadline",
    ),
    "programs that do not parse": (
        run_of(lambda t, s: row(t, s, 0.0, f"def f(x) {s}", reason=f"SyntaxError: invalid syntax, line {s + 1}")),
        "all wrong", "explain",
    ),
    # twelve more
    "letters beside indices": (
        run_of(lambda t, s: row(t, s, 0.0, f"{s} \\boxed{{{'ABCD'[t % 4]}}}", metadata={"answer": str(t % 4)},
                                reason="exact: no")),
        "answers of another kind", "ask the policy for a number",
    ),
    "the question as the reference": (
        run_of(lambda t, s: row(t, s, 0.0, said(t, s), metadata={"answer": f"question {t}"}, reason="exact: no")),
        "answers of another kind", "astuner.task_judge.reads",
    ),
    "the prompt as the response": (
        run_of(lambda t, s: row(t, s, 0.0, f"question {t}", reason="exact: no")), "empty answers",
        "--map YOUR_COLUMN=response",
    ),
    "thousands separators": (
        run_of(lambda t, s: row(t, s, 0.0, f"1,{400 + t}", metadata={"answer": str(1400 + t)}, reason="no match")),
        "right answers refused", "1,400",
    ),
    "units behind the number": (
        run_of(lambda t, s: row(t, s, 0.0, f"{40 + t} km", reason="no match")), "right answers refused", "'40 km'",
    ),
    "a list written out": (
        run_of(lambda t, s: row(t, s, 0.0, f"['{40 + t}']", reason="no match")), "right answers refused", "['40']",
    ),
    "a solution as the reference": (
        run_of(lambda t, s: row(t, s, 0.0, f"{40 + t}" if s else "7", metadata={"answer": f"So.\n#### {40 + t}"},
                                reason="no match")),
        "right answers refused", "#### 40",
    ),
    "one of several references, in capitals": (
        run_of(lambda t, s: row(t, s, 0.0, f"LUTETIA {t}.", metadata={"answer": [f"Paris {t}", f"Lutetia {t}"]},
                                reason="no match")),
        "right answers refused", "Lutetia 0",
    ),
    "none of several references": (
        run_of(lambda t, s: row(t, s, 0.0, f"Rome {t} {s}", metadata={"answer": [f"Paris {t}", "x"]}, reason="no")),
        "all wrong", "explain",
    ),
    "nothing is paid from step 3 on": (
        [{**(plain(t, s) if step < 3 else row(t, s, 0.0, said(t, s), is_success=False)), "step": step}
         for step in range(8) for t in range(TASKS) for s in range(GROUP)],
        "reward ended", "what changed there",
    ),
    "connection refused, every row": (
        run_of(lambda t, s: row(t, s, None, said(t, s), cause="endpoint", error="connection refused")), "no verdict",
        "astuner check",
    ),
    "an answer within a thought that never ends": (
        run_of(lambda t, s: row(t, s, 0.0, f"<think>{s} \\boxed{{{40 + t}}}", reason="no answer behind the thought")),
        "truncated outputs", "max_completion_length",
    ),
    # ten more
    "full-width digits": (
        run_of(lambda t, s: row(t, s, 0.0, str(40 + t).translate(WIDE) + "。" * s, reason="no match")),
        "right answers refused", "skip_special_tokens",
    ),
    "the verdicts of the neighbours": (
        run_of(lambda t, s: row(t, s, float(s % 2), said(t, s), is_success=s % 2 == 1)),
        "verdicts of other rows", "order of their rows",
    ),
    "one text for most groups": (
        run_of(lambda t, s: plain(t, s) if t == 0 else row(t, s, float(t % 2), f"so \\boxed{{{40 + t}}}")),
        "equal texts", "temperature",
    ),
    "dates written out": (
        run_of(lambda t, s: row(t, s, 0.0, f"March {5 + t}, 2024", metadata={"answer": f"2024-03-0{5 + t}"},
                                reason="no match")),
        "right answers refused", "2024-03-05",
    ),
    "a penalty for length that outweighs rightness": (
        run_of(lambda t, s: row(t, s, (s % 2 == 0) - [1.5, 0.1, 1.4, 0.2][s], said(t, s), is_success=s % 2 == 0)),
        "right earns no more", "weight",
    ),
    "a stop string that takes the brace away": (
        run_of(lambda t, s: row(t, s, 0.0, f"thought {s}, so \\boxed{{{40 + t}", reason="no \\boxed{} in the answer")),
        "truncated outputs", "stop string",
    ),
    "too many requests, most rows": (
        run_of(lambda t, s: plain(t, s) if s == 1 else row(t, s, None, said(t, s), error="429 too many requests")),
        "no verdict", "astuner check",
    ),
    "yes for True": (
        run_of(lambda t, s: row(t, s, 0.0, f"{s}: \\boxed{{{'Yes' if t % 2 else 'No'}}}",
                                metadata={"answer": str(bool(t % 2))}, reason="exact: no")),
        "right answers refused", "let the judge pass over it",
    ),
    "the prompt before the completion": (
        run_of(lambda t, s: row(t, s, 0.0, f"\\boxed{{7}}\nquestion {t}\n{s} \\boxed{{{40 + t}}}", reason="exact: 7")),
        "prompt in the response", "completion alone",
    ),
    "a number written otherwise": (
        run_of(lambda t, s: row(t, s, 0.0, f"{said(t, s)} \\boxed{{{40 + t}}}", metadata={"answer": f"{40 + t}.0"})),
        "right answers refused",
        "let the judge pass over it",
    ),
    "a fraction beside a decimal": (
        run_of(lambda t, s: row(t, s, 0.0, f"so \\boxed{{{(t + 1) / 2}}} {s}", metadata={"answer": f"{t + 1}/2"})),
        "right answers refused",
        "let the judge pass over it",
    ),
    "a list in another order": (
        run_of(lambda t, s: row(t, s, 0.0, f"{s}: \\boxed{{{t + 3}, {t}}}", metadata={"answer": f"{t}, {t + 3}"})),
        "right answers refused",
        "let the judge pass over it",
    ),
    "an option with its letter": (
        run_of(lambda t, s: row(t, s, 0.0, f"{s}: \\boxed{{{'ABCDEF'[t]}) {t}}}", metadata={"answer": "ABCDEF"[t]})),
        "right answers refused",
        "let the judge pass over it",
    ),
    "the answer at the end, in no form": (
        run_of(lambda t, s: row(t, s, 0.0, f"thought {s}, and so we get {40 + t}", reason="")),
        "right answers refused",
        "let the judge pass over it",
    ),
    "one text but for spaces": (
        run_of(lambda t, s: row(t, s, float(t % 2), f"so \\boxed{{{40 + t}}}" + " " * s)),
        "equal texts",
        "temperature",
    ),
    "per cent beside a fraction": (
        run_of(lambda t, s: row(t, s, 0.0, f"{s}: \\boxed{{{10 * (t + 1)}\\%}}", metadata={"answer": f"0.{t + 1}"})),
        "right answers refused",
        "let the judge pass over it",
    ),
    "rounded to two places": (
        run_of(
            lambda t, s: row(t, s, 0.0, f"{s}: \\boxed{{{(t + 1) / 7:.2f}}}", metadata={"answer": str((t + 1) / 7)})
        ),
        "right answers refused",
        "let the judge pass over it",
    ),
    "a reference between dollars": (
        run_of(lambda t, s: row(t, s, 0.0, f"{s} \\boxed{{{40 + t}}}", metadata={"answer": f"${40 + t}$"})),
        "right answers refused",
        "beside the reference '$40$'",
    ),
    "references in the opposite order": (
        run_of(lambda t, s: row(t, s, 0.0, f"{s} \\boxed{{{39 + TASKS - t}}}", reason="exact: no")),
        "another task's answer",
        "by their id",
    ),
    "one id for all questions": (
        run_of(lambda t, s: row(t, s, float((t + s) % 2), said(t, s), name="0")),
        "ids merge groups",
        "task_id of its own",
    ),
    "references with HTML's escapes": (
        run_of(lambda t, s: row(t, s, 0.0, f"{s}: <answer>x < {t + 3}</answer>",
                                metadata={"answer": f"x &lt; {t + 3}"}, reason="exact: no")),
        "right answers refused",
        "beside the reference 'x &lt; 3'",
    ),
    "the role before the answer": (
        run_of(lambda t, s: row(t, s, 0.0, f"assistant\n{40 + t}{' ' * s}", reason="exact: no")),
        "right answers refused",
        "stands 'assistant",
    ),
    "UTF-8 read as Latin-1": (
        run_of(lambda t, s: row(t, s, 0.0, f"{s}: <answer>Malmö {NAMES[t]}</answer>".encode().decode("latin-1"),
                                metadata={"answer": f"Malmö {NAMES[t]}"}, reason="exact: no")),
        "right answers refused",
        "MalmÃ¶",
    ),
    "a package that the sandbox lacks": (
        run_of(lambda t, s: row(t, s, 0.0, f"```python\nimport numpy\nprint({t}{s})\n```",
                                metadata={"tests": {"inputs": ["1"], "outputs": ["2"]}},
                                reason="test 1 failed: ModuleNotFoundError: No module named 'numpy'")),
        "all wrong",
        "astuner explain",
    ),
    "choices counted from 1, references from 0": (
        [row(t, s, 0.0, f"{s}: <answer>{t % 4 + 1}</answer>", metadata={"answer": str(t % 4)}, reason="exact: no")
         for t in range(2 * TASKS) for s in range(GROUP)],
        "answers of another kind",
        "the names that the references have",
    ),
    "an object around the answer": (
        run_of(lambda t, s: row(t, s, 0.0, json.dumps({"answer": str(40 + t), "thought": f"{s}"}),
                                reason="exact: no")),
        "answers stand elsewhere",
        "math.answer_in: [label]",
    ),
    "the answer alone, without a box": (
        run_of(lambda t, s: row(t, s, 0.0, str(40 + t), reason=r"no \boxed{} in the answer")),
        "right answers refused",
        ": ask in the prompt for the form in which the judge looks for answers",
    ),
    "a program without a fence": (
        in_form("print(%s)", "no fenced block with a program in python"), "no answer found", "code.answer_in: whole",
    ),
    "references with every backslash twice": (
        run_of(lambda t, s: row(t, s, 0.0, f"{s}: \\boxed{{\\sqrt{{{t + 2}}}}}",
                                metadata={"answer": f"\\\\sqrt{{{t + 2}}}"}, reason="exact: no")),
        "right answers refused",
        "beside the reference '\\\\\\\\sqrt{2}'",
    ),
    "a minus sign and spaces that do not break": (
        run_of(lambda t, s: row(t, s, 0.0, f"{s}: <answer>\u2212{40 + t}\u00a0</answer>",
                                metadata={"answer": f"-{40 + t}"}, reason="exact: no")),
        "right answers refused",
        "beside the reference '-40'",
    ),
    # ten more, and members of their families
    "a sign turned, success not told": (
        run_of(lambda t, s: row(t, s, 1.0 if s % 2 else -1.0, said(t, s), is_success=None, reason="")),
        "right earns no more", "turn the sign",
    ),
    "a thought that the chat template opens": (
        run_of(lambda t, s: row(t, s, 0.0, f"thought {s}</think><answer>{40 + t}</answer>", reason="not ^<think>")),
        "thought opened in the prompt", "begin behind it",
    ),
    "tokens that nobody decoded": (
        run_of(lambda t, s: row(t, s, 0.0, f"thoughtĠ{s}ĊĠtheĠanswerĠisĠ{40 + t}", reason="exact: no")),
        "right answers refused", "Ġ40",
    ),
    "tokens with spaces between": (
        run_of(lambda t, s: row(t, s, 0.0, f"s o {s} : # # # # 4 {t}", reason="no #### in the answer")),
        "right answers refused", "# # # # 4 0",
    ),
    "turns that are used up": (
        run_of(lambda t, s: {**row(t, s, float(not s), said(t, 0)), "finish_reason": "max_turns" if s else "stop"}),
        "truncated outputs", "number of turns",
    ),
    "calls of a tool where an answer was due": (
        run_of(lambda t, s: row(t, s, 0.0, json.dumps({"name": "search", "arguments": {"q": f"question {t} {s}"}}),
                                reason="exact: no")),
        "truncated outputs", "number of turns",
    ),
    "a third of the tasks in another form": (
        [row(t, s, float(t % 3 > 0 and s % 2), f"{s}\n" + (f"\\boxed{{{40 + t if s % 2 else 3}}}" if t % 3 else
                                                           f"#### {40 + t if s % 2 else 3}"), reason="exact: no")
         for t in range(12) for s in range(GROUP)],
        "right answers refused", "judge that reads their form",
    ),
    "tags, where the judge reads a box alone": (
        in_form("<answer>%s</answer>", "no \\boxed{} in the answer; what stands in another place (tag) is not read: "
                "ask for the box in the prompt"),
        "answers stand elsewhere", "ask for the box in the prompt",
    ),
    "objects around the reference": (
        in_form('{"answer": %s}', "not the reference's value, 40: the answer's is {'answer': 40}, an object that holds "
                'it: write the reference as {"answer": 40}'),
        "answers stand elsewhere", 'write the reference as {"answer": 40}',
    ),
    "references there, of another form": (
        run_of(lambda t, s: row(t, s, None, said(t, s), cause="reference")), "no reference", "what is said there",
    ),
    "some references missing": (
        run_of(lambda t, s: plain(t, s) if t == 0 else
               row(t, s, None, said(t, s), metadata={"answer": ""}, cause="reference")),
        "no reference", "what is said there",
    ),
    "accents lost": (
        run_of(lambda t, s: row(t, s, 0.0, f"<answer>Malmo {NAMES[t]}</answer> {s}",
                                metadata={"answer": f"Malmö {NAMES[t]}"}, reason="exact: no")),
        "right answers refused", "Malmö",
    ),
    "the day before the month": (
        run_of(lambda t, s: row(t, s, 0.0, f"<answer>{15 + t}/03/2024</answer> {s}",
                                metadata={"answer": f"2024-03-{15 + t}"}, reason="exact: no")),
        "right answers refused", "2024-03-15",
    ),
    "a decimal comma": (
        run_of(lambda t, s: row(t, s, 0.0, f"<answer>1.4{t}0,5</answer> {s}", metadata={"answer": f"14{t}0.5"})),
        "right answers refused", "1.400,5",
    ),
    "a currency before the number": (
        run_of(lambda t, s: row(t, s, 0.0, f"<answer>USD {40 + t}</answer> {s}", reason="exact: no")),
        "right answers refused", "USD 40",
    ),
    "a list of references as a text": (
        run_of(lambda t, s: row(t, s, 0.0, f"<answer>Paris {t}</answer> {s}",
                                metadata={"answer": f'["Paris {t}", "x"]'}, reason="exact: no")),
        "right answers refused", "Paris 0",
    ),
    "a text encoded twice": (
        run_of(lambda t, s: row(t, s, 0.0, json.dumps(f"thought {s}\n#### {40 + t}"), reason="no #### in the answer")),
        "right answers refused", "#### 40",
    ),
    "family names first": (
        run_of(lambda t, s: row(t, s, 0.0, f"<answer>{NAMES[t]}, Ann</answer> {s}",
                                metadata={"answer": f"Ann {NAMES[t]}"}, reason="exact: no")),
        "right answers refused", "Ann north",
    ),
    "quotation marks and hyphens that no keyboard has": (
        run_of(lambda t, s: row(t, s, 0.0, f"<answer>“Jean\u2011Luc {NAMES[t]}”</answer> {s}",
                                metadata={"answer": f"Jean-Luc {NAMES[t]}"}, reason="exact: no")),
        "right answers refused", "Jean-Luc",
    ),
    # thirteen more
    "the text of an option where its letter is due": (
        run_of(lambda t, s: asked(options(t), row(t, s, 0.0, f"{s} <answer>{CITIES[(t + s) % TASKS]}</answer>",
                                                  metadata={"answer": "ABCD"[t % 4]}, reason="exact: no"))),
        "answers of another kind", "the letter",
    ),
    "a fence that is not closed": (
        run_of(lambda t, s: row(t, s, 0.0, f"```python\ndef f(x):\n    y = {t}{s} +", reason="no fenced block",
                                metadata={"tests": {"inputs": ["1"], "outputs": ["2"]}})),
        "truncated outputs", "max_tokens",
    ),
    "an object that breaks off": (
        run_of(lambda t, s: row(t, s, 0.0, f'{{"reasoning": "step {s}, then', reason="no JSON object")),
        "truncated outputs", "max_tokens",
    ),
    "a call that breaks off": (
        run_of(lambda t, s: row(t, s, 0.0, f'<tool_call>\n{{"name": "f", "arguments": {{"q": "x{s}', reason="no call",
                                metadata={"answer": [{"name": "f", "arguments": {"q": "x"}}]})),
        "truncated outputs", "max_tokens",
    ),
    "a thought in other tags that never ends": (
        run_of(lambda t, s: row(t, s, 0.0, f"<reasoning>\nFirst {s}, then", reason="no <answer> in the answer")),
        "truncated outputs", "max_tokens",
    ),
    "one text again and again": (
        run_of(lambda t, s: row(t, s, 0.0, f"I think {t} {s}. " + "Wait, let me check. " * 30, reason=r"no \boxed{}")),
        "looping outputs", "does not help",
    ),
    "steps that are counted and never end": (
        run_of(lambda t, s: row(t, s, 0.0, f"{t} {s}. " + " ".join(f"Step {n}: check it again." for n in range(60)),
                                reason=r"no \boxed{}")),
        "looping outputs", "does not help",
    ),
    "one question for all tasks": (
        run_of(lambda t, s: asked("You are a helpful assistant.", row(t, s, 0.0, f"\\boxed{{{s}}}", reason="no"))),
        "one question", "--map YOUR_COLUMN=question",
    ),
    "whatever is said is paid": (
        run_of(lambda t, s: row(t, s, 1.0, f"\\boxed{{{s}}}", reason="ok")), "wrong answers paid", "astuner audit",
    ),
    "whatever letter is said is paid": (
        run_of(lambda t, s: row(t, s, 1.0, f"<answer>{'ABCD'[s]}</answer>", metadata={"answer": "ABCD"[t % 4]})),
        "wrong answers paid", "astuner audit",
    ),
    "a backslash and its letter read as one sign": (
        run_of(lambda t, s: row(t, s, 0.0, f"so {s} \boxed{{{40 + t}}}", reason=r"no \boxed{} in the answer")),
        "right answers refused", r"\x08oxed{40}",
    ),
    "references that are Python's dicts": (
        run_of(lambda t, s: row(t, s, 0.0, said(t, 0) + str(s), metadata={"answer": f"{{'value': {40 + t}}}"})),
        "right answers refused", "{'value': 40}",
    ),
    "two ids for the samples of a question": (
        run_of(lambda t, s: row(t, s, float(s % 2 == 0), said(t, s), name=f"{'id-' if s % 2 else ''}{t}")),
        "ids split groups", "one task_id",
    ),
}  # fmt: skip
SOUND: dict[str, list[Row]] = {
    "no fence is closed, half of them are paid": run_of(
        lambda t, s: row(t, s, float(s % 2), f"```python\nprint({t}{s})", metadata={"tests": {"inputs": ["1"]}})
    ),
    "the prompt opens the fence, a word follows the program": run_of(
        lambda t, s: row(t, s, float(s % 2), f"print({t}{s})\n```\nIt prints.", metadata={"tests": {"inputs": ["1"]}})
    ),
    "the text of an option is paid": run_of(
        lambda t, s: asked(
            options(t),
            row(t, s, float(s == 1), f"<answer>{CITIES[(t + s) % TASKS]}</answer>", metadata={"answer": "B"}),
        )
    ),
    "one question, other customers": run_of(
        lambda t, s: asked("What is my balance?", row(t, s, float(s % 2), f"{s} \\boxed{{{40 + t if s % 2 else 3}}}"))
    ),
    "all right, and shaped by length": run_of(
        lambda t, s: row(t, s, 1 - 0.1 * s, said(t, 0) + "." * s, is_success=True)
    ),
    "repetition is asked for": run_of(lambda t, s: row(t, s, float(s % 2), "row, " * (30 + s), metadata={})),
    "one answer of four repeats itself": run_of(
        lambda t, s: row(
            t, s, float(s == 1), f"{s} " + ("on and on and on again. " * 20 if s == 3 else said(t, s + 1)), reason="no"
        )
    ),
    "tables of figures, most of them wrong": run_of(
        lambda t, s: row(t, s, float(s == 1), "\n".join(f"{n * t} {n + s} {n}" for n in range(40)), metadata={})
    ),
    "one object of four breaks off": run_of(
        lambda t, s: row(t, s, float(s == 1), f'{{"answer": "{40 + t + (s != 1)}"' + "}" * (s != 3), reason="no")
    ),
    "estimates, paid by their distance": run_of(
        lambda t, s: row(t, s, 1 - 0.05 * s, f"\\boxed{{{40 + t + s}}}", is_success=True)
    ),
    "two temperatures with ids of their own": run_of(
        lambda t, s: row(t, s, float(s < 2), said(t, s // 2), name=f"{'hot-' if s % 2 else ''}{t}")
    ),
    "one token is allowed, and all are cut": run_of(
        lambda t, s: {
            **row(t, s, float(s == t % 4), "ABCD"[s], metadata={"answer": "ABCD"[t % 4]}, reason="exact: no"),
            "finish_reason": "length",
        }
    ),
    "an agent's acts are judged, its text is empty": run_of(
        lambda t, s: row(t, s, float((t + s) % 2), "", metadata={}, reason="goal")
    ),
    "an empty answer is the right one": run_of(
        lambda t, s: row(t, s, float(s % 2), "" if s % 2 else "alarm", metadata={}, reason="")
    ),
    "costs, no reference": run_of(
        lambda t, s: row(t, s, -3 - 1.7 * s - t, f"route {t} {s}", metadata={}, is_success=False, reason="cost")
    ),
    "a rule filters half of each group, the others are paid": run_of(
        lambda t, s: filtered(t, 0) if s > 1 else row(t, s, 1.0, f"{s} {said(t, 0)}")
    ),
    "half of each group has learned the box": run_of(
        lambda t, s: plain(t, 0) if s % 2 else row(t, s, 0.0, f"#### {40 + t}", reason="no \\boxed{} in the answer")
    ),
    "calls are asked for": run_of(
        lambda t, s: row(
            t,
            s,
            float(s == 0),
            json.dumps({"name": "weather", "arguments": {"city": f"c{s or t}"}}),
            metadata={"answer": [{"name": "weather", "arguments": {"city": f"c{t}"}}]},
            reason="exact: no",
        )
    ),
    "the chat template opens the thought, some are right": run_of(
        lambda t, s: row(
            t, s, float(s == t % 4), f"{s}</think><answer>{40 + t if s == t % 4 else 3}</answer>", reason="exact: no"
        )
    ),
    "a proof is asked for beside the number": run_of(
        lambda t, s: row(
            t, s, float(s == 0), f"{s} \\boxed{{{40 + t}}}", reason="exact" if s == 0 else "step 2 is wrong"
        )
    ),
    "one source of two is too hard": run_of(
        lambda t, s: row(
            t, s, float(t % 2 and s % 2), f"{s} \\boxed{{{40 + t if t % 2 and s % 2 else 3}}}", reason="exact: no"
        )
    ),
    "less the group's mean": run_of(
        lambda t, s: row(
            t, s, (1.0 if s == t % 4 else 0.0) - 0.25, said(t, s), is_success=s == t % 4, reason="exact: no"
        )
    ),
    "objects, half of them right": run_of(
        lambda t, s: row(
            t, s, float(s % 2), json.dumps({"answer": str(40 + t if s % 2 else 40 + t + 1)}), reason="exact: no"
        )
    ),
    "choices that are mostly wrong, by turns": [
        row(
            t,
            s,
            float(s == 0),
            f"<answer>{(t + s) % 4}</answer>",
            metadata={"answer": str(t % 4)},
            reason="exact: no",
        )
        for t in range(2 * TASKS)
        for s in range(GROUP)
    ],
    "choices from 0, some beside the right one": run_of(
        lambda t, s: row(
            t,
            s,
            float(s % 3 == 0),
            f"<answer>{t % 4 if s % 3 == 0 else t % 4 + 1}</answer>",
            metadata={"answer": str(t % 4)},
            reason="exact: no",
        )
    ),
    "half the groups teach": run_of(
        lambda t, s: row(t, s, float(t % 2 and s % 2), f"{s} \\boxed{{{40 + t if t % 2 and s % 2 else 9 + s}}}")
    ),
    "penalties, and a rule for a tenth": run_of(
        lambda t, s: (
            filtered(t, 0)
            if (4 * t + s) % 10 == 3
            else row(t, s, 1.0 if (t + s) % 3 == 0 else -1.0, said(t, s), is_success=(t + s) % 3 == 0)
        )
    ),
    "yes and no, half of them right": run_of(
        lambda t, s: row(
            t,
            s,
            float(s % 2 == 0),
            f"\\boxed{{{'yes' if (t + s) % 2 else 'no'}}} {s}",
            metadata={"answer": "yes" if t % 2 else "no"},
        )
    ),
    "penalties alone, right answers among them": run_of(
        lambda t, s: row(t, s, -0.1 * s, said(t, s), is_success=None, reason="penalty")
    ),
    "fractions, right and wrong": run_of(
        lambda t, s: row(t, s, float(s % 2), f"{s}: \\boxed{{{t / 2 if s % 2 else 9}}}", metadata={"answer": f"{t}/2"})
    ),
    "half right": run_of(plain),
    "per cent, some of it wrong": run_of(
        lambda t, s: row(
            t, s, float(s % 2), f"{s} \\boxed{{{10 * t if s % 2 else 3}\\%}}", metadata={"answer": f"{10 * t}%"}
        )
    ),
    "hard, but not hopeless": run_of(lambda t, s: row(t, s, float((t + s) % 4 == 0), said(t, s), reason="exact: no")),
    "graded": run_of(lambda t, s: row(t, s, round(GENERATOR.random(), 2), said(t, s), reason="rated")),
    "some filtered, some failed, some cut": run_of(
        lambda t, s: filtered(t, s) if (t, s) < (1, 2) else row(t, s, None, "x") if (t, s) == (4, 1) else plain(t, s)
    ),
    "parts that add up": run_of(lambda t, s: parts(t, s, 0.1 + 0.5 * (s % 2), format=0.1, right=0.5 * (s % 2))),
    "answers that do not match": run_of(
        lambda t, s: row(t, s, float(s == t % 4), f"Paris {s}", reason="no exact match, F1 0.000")
    ),
    "a judge without a reference": run_of(lambda t, s: row(t, s, float(s % 2), said(t, s), metadata={}, reason="nice")),
    "-1 and 1, success not told": run_of(
        lambda t, s: row(t, s, -1.0 if s % 2 else 1.0, said(t, s), is_success=None, reason="")
    ),
    "one sample a task, no steps": [plain(t, t) for t in range(12)],
    "seven groups of ten are flat": run_of(lambda t, s: plain(t, s) if t < 2 else row(t, s, 1.0, said(t, s))),
    "a penalty on every row": run_of(
        lambda t, s: parts(t, s, -0.2 - 0.1 * s, right=0.5 * (s % 2), length=-0.2 - 0.1 * s - 0.5 * (s % 2))
    ),
    "neighbours' answers by chance": run_of(
        lambda t, s: row(t, s, float(s == 0), f"{s} \\boxed{{{t % 2}}}", metadata={"answer": str((t + s) % 2)})
    ),
    "a sign is no stop": run_of(
        lambda t, s: (
            row(t, s, 1.0, said(t, s))
            if (t, s) == (0, 0)
            else row(t, s, float(s == 1), f"-{40 + t}" if s else f"4.{t}", reason="not the reference")
        )
    ),
    "letters": run_of(
        lambda t, s: row(t, s, float(s == t % 4), f"\\boxed{{{'ABCD'[s]}}}", metadata={"answer": "ABCD"[t % 4]})
    ),
    "several references": run_of(
        lambda t, s: row(
            t, s, float(s == 0), f"Rome {s}" if s else f"Paris {t}", metadata={"answer": [f"Paris {t}", "x"]}
        )
    ),
    "units": run_of(lambda t, s: row(t, s, float(s % 2), f"{40 + t if s % 2 else s} km")),
    "the last step alone is flat": [
        {**(plain(t, s) if step < 5 else row(t, s, 0.0, said(t, s), is_success=False)), "step": step}
        for step in range(6)
        for t in range(TASKS)
        for s in range(GROUP)
    ],
    "all right at the end": [
        {**(plain(t, s) if step < 5 else row(t, s, 1.0, said(t, s))), "step": step}
        for step in range(8)
        for t in range(TASKS)
        for s in range(GROUP)
    ],
    "one question, one reference": [row(0, s, 0.25 * s, said(0, s)) for s in range(GROUP)],
    "answers in a tag, read there": run_of(
        lambda t, s: row(t, s, float(s % 2), f"<answer>{40 + t if s % 2 else 3}</answer>", reason="exact: no")
    ),
}


@pytest.mark.parametrize(
    ("text", "tag"),
    [
        ('{"a": "x', "{"),
        ('["x"', "["),
        ('{"a": 1}', ""),
        # JSON's reader takes no number of so many digits, nor so many brackets
        ('{"a": ' + "1" * 5_000 + "}", ""),
        ('[{"a": ' * 100_000, "["),
    ],
    ids=lambda text: text[:12],
)
def test_an_object_without_its_end_is_left_open(text: str, tag: str) -> None:
    assert left_open(text) == tag


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_run_is_named_by_its_cause_first_with_the_line_to_write(name: str) -> None:
    lines, cause, remedy = BROKEN[name]
    first, *others = diagnose(rows(lines))
    assert first.name == cause
    assert remedy in first.remedy
    assert first.message
    assert 0 < first.rows <= first.of
    assert first.examples
    for trouble in (first, *others):
        # `--map answer=YOUR_FIELD` was refused: a rollout has no place YOUR_FIELD
        ColumnMap(re.findall(r"--map (\S+=[\w.]+)", trouble.remedy))


@pytest.mark.parametrize("name", SOUND)
def test_a_sound_run_is_left_alone(name: str) -> None:
    assert diagnose(rows(SOUND[name])) == []


@pytest.mark.parametrize(
    ("right", "wrong", "told"),
    [(0.0, 1.0, "earn 1 less than wrong"), (-1.0, 2.5, "earn 3.5 less"), (0.5, 0.5, "earn 0 more"), (1.0, 0.0, None)],
)
def test_what_right_answers_earn_beside_wrong_ones_is_said(right: float, wrong: float, told: str | None) -> None:
    found = diagnose(rows(run_of(
        lambda t, s: row(t, s, wrong if s % 2 else right, said(t, s), is_success=s % 2 == 0)
    )))  # fmt: skip
    messages = [one.message for one in found if "right answers earn" in one.message]
    assert [told in one for one in messages] == [True] if told else messages == []


def test_where_the_answers_stand_is_counted() -> None:
    first, *_ = diagnose(rows(in_form("#### %s")[:6]))
    assert "6 of 6 end in ####" in first.message
    assert first.examples == ("0-0", "0-1", "0-2")


def told(path: str, *options: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["doctor", path, *options])
    return result.exit_code, " ".join(result.stdout.split())


def test_the_command_says_the_cause_and_ends_with_1_and_says_nothing_of_sound_rows(tmp_path: Path) -> None:
    code, text = told(written(tmp_path / "a.jsonl", in_form("#### %s")))
    assert code == 1
    assert text.startswith("1. answers stand elsewhere:")
    assert "to mend it: astuner.task_judge.math.answer_in: [hash]" in text
    sound = CliRunner().invoke(app, ["doctor", written(tmp_path / "b.jsonl", SOUND["half right"])])
    assert (sound.exit_code, sound.stdout) == (0, "")
    # gaming is no cause of this command's, and its user has to be told whose it is
    assert "`astuner watch` says whether it learns to fool the judge" in " ".join(sound.stderr.split())
    folder = tmp_path / "judged"
    folder.mkdir()
    written(folder / "judged-h-1-a-1.jsonl", in_form("<answer>%s</answer>"))
    code, text = told(str(folder), "--json")
    assert code == 1
    assert json.loads(text)["causes"][0]["name"] == "answers stand elsewhere"


@pytest.mark.parametrize(
    ("reason", "shape"),
    [
        ("exact: 25 = 25", "exact: …"),
        ("SyntaxError: invalid syntax, line 7", "SyntaxError: invalid syntax, line …"),
        ("test 3 of 5: expected 'a b', got 'c'", "test … of … expected … got …"),
        ("no \\boxed{} in the answer", "no … in the answer"),
        ("", ""),
    ],
)
def test_reasons_that_differ_in_values_alone_have_one_shape(reason: str, shape: str) -> None:
    assert shape_of(reason) == shape


@pytest.mark.parametrize("task", [5, "t", [1], None, {"main_query": ["q"], "task_id": {}}, {"metadata": [1]}])
@pytest.mark.parametrize("cause", [{"a": 1}, ["endpoint"], 3])
def test_rows_of_any_shape_are_diagnosed(task: object, cause: object) -> None:
    # a task that was no object, or a cause that was one, ended the command with a traceback
    lines = run_of(plain)
    for line in lines[::2]:
        line["task"] = task
        line["judgement"]["cause"] = cause
    diagnose(rows(lines))
    diagnose(rows([*lines, row(0, 9, None, "x", cause=cause)]))


@pytest.mark.parametrize("content", ["", "[]\n", '{"id": "1"}\n'])
def test_rows_that_cannot_be_diagnosed_are_an_error(tmp_path: Path, content: str) -> None:
    path = tmp_path / "c.jsonl"
    path.write_text(content)
    assert told(str(path))[0] == 2


def test_a_hostile_rule_name_reaches_no_terminal(tmp_path: Path) -> None:
    def hostile(task: int, sample: int) -> Row:
        keys: dict[str, Sequence[str] | object] = {"status": "filtered", "is_success": False}
        return row(task, sample, 0.0, "x", violations=["\x1b[2J[red]"], **keys)

    code, text = told(written(tmp_path / "d.jsonl", run_of(hostile)))
    assert code == 1
    assert "\x1b" not in text


def test_rewards_that_are_no_numbers_come_first(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    lines = [json.dumps(plain(task, sample)) for task in range(3) for sample in range(4)]
    broken = [
        json.dumps({**plain(9, sample), "judgement": {"status": "judged", "reward": math.nan}}) for sample in (0, 1, 2)
    ]
    path.write_text("\n".join([*lines, *broken]), encoding="utf-8")
    code, said = told(str(path))
    assert code == 1
    assert "1. unreadable rows: 3 of 15 lines cannot be read: " in said
    assert "the reward is nan, which is no finite number" in said


def test_tasks_with_one_row_each_are_not_called_sound(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text(
        "\n".join(json.dumps(row(task, 0, float(task % 2), f"{task}")) for task in range(6)), encoding="utf-8"
    )
    result = CliRunner().invoke(app, ["doctor", str(path)])
    said = " ".join(result.stderr.split())
    assert (result.exit_code, "no task has two rows in a step" in said, "can learn" in said) == (0, True, False)


def test_an_id_cannot_write_a_line_of_the_report(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    lines = [{**plain(task, 0), "id": "x\n9. all is well"} for task in range(8)]
    path.write_text("\n".join(json.dumps({**line, "output": {}}) for line in lines), encoding="utf-8")
    result = CliRunner().invoke(app, ["doctor", str(path)])
    assert (result.exit_code, [line for line in result.stdout.splitlines() if line.startswith("9.")]) == (1, [])
