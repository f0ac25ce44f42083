"""The red team: every cheat against every form of tests. Nothing may be paid, left running, left behind or seen.

Beside it stand programs as models write them, with what they are due: right ones, wrong ones, and rows that are broken.
"""

from __future__ import annotations

import argparse
import json
import os
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from agentscope_tuner import load_judge
from agentscope_tuner.workflow import Task, WorkflowOutput, WorkflowTask
from benchmarks.bars import at_least, at_most
from benchmarks.code.cheats import SECRET_FILE, SECRET_VARIABLE, Cheat, cheats, liars, raids, rows

SETTINGS = {"seconds": 1.0, "total_seconds": 4.0, "memory_mb": 256, "processes": 32}
_CHECK = "def check(candidate):\n    assert candidate(2) == 4\n    assert abs(candidate(3) - 6) < 1e-6\n"
_UNITTEST = """import unittest
from solution import double
class DoubleTest(unittest.TestCase):
    def test_two(self):
        self.assertEqual(double(2), 4)
    def test_near(self):
        self.assertAlmostEqual(double(3), 6)
    def test_in(self):
        self.assertIn(double(4), [8])
"""
FORMS: dict[str, Any] = {
    "stdin": {"inputs": ["2\n", "3\n"], "outputs": ["4\n", "6\n"]},
    "call": {"fn_name": "double", "inputs": [[2], [3]], "outputs": [4, 6]},
    "assert": ["assert double(2) == 4", "assert double(3) == 6"],
    "check": {"prompt": "def double(n):\n", "test": _CHECK, "entry_point": "double"},
    "unittest": {"framework": "unittest", "module": "solution", "test": _UNITTEST},
}


class Attack(NamedTuple):
    """A cheat, and the tests that it meets: a form of them, or a task of the same name with tests of its own."""

    form: str
    tests: Any
    cheat: Cheat

    def pair(self) -> tuple[WorkflowTask, WorkflowOutput]:
        """What a judge is asked."""
        language = self.cheat.language
        tests = self.tests if language == "python" else self.tests | {"language": language}
        answer = f"```{language}\n{self.cheat.program}\n```"
        return WorkflowTask(task=Task(metadata={"tests": tests})), WorkflowOutput(metadata={"final_answer": answer})


def attacks(forms: Sequence[str] = tuple(FORMS)) -> Iterator[Attack]:
    """All: each cheat in these forms, liars before the tasks that they do not solve, and raids."""
    for form in forms:
        yield from (Attack(form, FORMS[form], cheat) for cheat in cheats())
    yield from (Attack(f"task {task['name']}", task["tests"], liar) for task, liar in liars())
    known = FORMS | {row["name"]: row["tests"] for row in rows("forms")}
    yield from (Attack(form, known[form], raid) for form, raid in raids())


class Outcome(NamedTuple):
    """What an attack came to."""

    attack: Attack
    reward: float | None
    seconds: float
    reason: str


def attempt(judge: Any, attack: Attack) -> Outcome:
    """Judge one attack."""
    begun = time.monotonic()
    judgement = judge.judge(*attack.pair())
    return Outcome(attack, judgement.reward, time.monotonic() - begun, judgement.error or judgement.reason)


def attempts(judge: Any, team: Sequence[Attack], at_once: int, log: Path | None) -> list[Outcome]:
    """Judge attacks, but for those whose outcome stands in the log already, by their places; and note the others."""
    done: dict[int, Outcome] = {}
    for line in log.read_text().splitlines() if log is not None and log.exists() else ():
        place, *outcome = json.loads(line)
        done[place] = Outcome(team[place], *outcome)
    lock = threading.Lock()

    def one(place: int) -> Outcome:
        if place in done:
            return done[place]
        outcome = attempt(judge, team[place])
        if log is not None:
            with lock, log.open("a") as file:
                file.write(json.dumps([place, *outcome[1:]]) + "\n")
        return outcome

    with ThreadPoolExecutor(at_once) as pool:
        return list(pool.map(one, range(len(team))))


def mistaken(row: dict[str, Any], judge: Any) -> str | None:
    """How the verdict on a row of honest work differs from what it is due; None where it does not."""
    task = WorkflowTask(task=Task(metadata=row["metadata"]))
    judgement = judge.judge(task, WorkflowOutput(metadata={"final_answer": row["output"]}))
    if judgement.reward == row["reward"] and (judgement.reward is not None or judgement.cause == "reference"):
        return None
    return f"{row['name']}: due {row['reward']}, got {judgement.reward}: {judgement.error or judgement.reason}"


def running() -> set[str]:
    """The processes of all jails on this machine."""
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            command = (folder / "cmdline").read_bytes()
        except OSError:
            continue
        if b"agentscope_tuner._jail.inside" in command:
            found.add(folder.name)
    return found


def running_below(pid: int) -> set[str]:
    """Those of a process and of all that it has started."""
    return {found for found in running() if str(pid) in (above(found) or ())}


def orphans() -> set[str]:
    """Those that no grader holds any more, and those of this process: other graders on this machine have their own."""
    found, own = running(), above("self") or set()
    expected = {*found, "0", "1", str(os.getpid()), *own}
    return {pid for pid in found if (held := above(pid)) is not None and held <= expected}


def above(pid: str) -> set[str] | None:
    """The processes above one; None where it has ended meanwhile, which is then no orphan."""
    found, one = set[str](), pid
    while one not in ("0", "1"):
        try:
            parent = Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()[1]
        except OSError:
            if one == pid:
                return None
            # one above it has ended, and what was below that has another parent now
            found, one = set(), pid
            continue
        found.add(parent)
        one = parent
    return found


def _alone(judge: Any, attack: Attack, within: float, tries: int = 3) -> Outcome:
    """The first outcome within so many seconds of a few, one after the other; else the last."""
    for _ in range(tries):
        if (outcome := attempt(judge, attack)).seconds <= within:
            break
    return outcome


def main() -> None:
    """Attack, and print what got through."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--forms", nargs="*", default=list(FORMS))
    parser.add_argument("--family")
    parser.add_argument("--at-once", type=int, default=2)
    parser.add_argument("--log", type=Path, help="what has been attacked stands there: the next run goes on behind it")
    parser.add_argument("--all", action="store_true", help="print every outcome")
    asked = parser.parse_args()
    Path(SECRET_FILE).write_text("secret")
    os.environ[SECRET_VARIABLE] = "secret"
    section = {"judge_protocol": "agentscope_tuner.task_judge.code_judge->CodeJudge", "code": SETTINGS}
    judge = load_judge({"astuner": {"task_judge": section}})
    usual = load_judge({"astuner": {"task_judge": {"judge_protocol": section["judge_protocol"]}}})
    before = {*os.listdir("/tmp"), *os.listdir("/dev/shm")}
    team = [one for one in attacks(asked.forms) if asked.family in (None, one.cheat.family)]
    outcomes = attempts(judge, team, asked.at_once, asked.log)
    with ThreadPoolExecutor(asked.at_once) as pool:
        work = [*rows("honest"), *rows("odd")]
        honest = {reward: [row for row in work if row["reward"] == reward] for reward in (1.0, 0.0, None)}
        mistakes = {
            reward: [how for how in pool.map(lambda row: mistaken(row, usual), due) if how]
            for reward, due in honest.items()
        }
    time.sleep(1)
    stayed = orphans()
    # what is being killed at that moment, another grader's too, has not stayed
    time.sleep(0.5)
    stayed &= running()
    paid = [one for one in outcomes if one.reward]
    failed = [one for one in outcomes if one.reward is None]
    left = {*os.listdir("/tmp"), *os.listdir("/dev/shm")} - before
    bound = SETTINGS["total_seconds"]
    late = [one for one in outcomes if one.seconds > bound + 1]
    # while others have the cores a program is given longer: what counts is how long it takes alone
    late = [again for one in late if (again := _alone(judge, one.attack, bound + 1)).seconds > bound + 1]
    for title, found in (
        ("PAID", paid),
        ("NO VERDICT", failed),
        ("LATE", late),
        *([("", outcomes)] if asked.all else []),
    ):
        for one in found:
            form, cheat = one.attack.form, one.attack.cheat
            print(f"{title} {form} {cheat.family}: {cheat.name} {one.seconds:.2f} s {one.reason[:150]!r}")
    for how in (how for found in mistakes.values() for how in found):
        print(f"MISTAKEN {how[:200]}")
    forms, programs = {one.attack.form for one in outcomes}, {one.attack.cheat for one in outcomes}
    print(f"{len(outcomes)} attacks by {len(programs)} programs, in {len(forms)} forms")
    print(f"files left in /tmp and /dev/shm: {sorted(left)}")
    at_most("red team: paid", len(paid), 0, "attacks")
    at_most("red team: without a verdict", len(failed), 0, "attacks")
    at_most("red team: left running after 1 s", len(stayed), 0, "processes")
    at_least(
        "honest programs: right ones paid", 1 - len(mistakes[1.0]) / len(honest[1.0]), 0.99, f"of {len(honest[1.0])}"
    )
    at_most("honest programs: wrong ones paid or without a verdict", len(mistakes[0.0]), 0, f"of {len(honest[0.0])}")
    at_most("honest programs: broken rows with a verdict", len(mistakes[None]), 0, f"of {len(honest[None])}")
    at_most("red team: over their bound by more than 1 s", len(late), 0, "attacks")


if __name__ == "__main__":
    main()
