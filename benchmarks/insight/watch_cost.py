"""`make bench-watch`: what `log_dir` adds to a judge, and `astuner watch` over a million rows: processor time, memory.

All in processor time of the whole process, its other threads included, against the 50 microseconds that a judge of
20,000 verdicts a second takes for one.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from agentscope_tuner.lab.growing_files import RunRows, by_step
from agentscope_tuner.lab.watch.live import RunWatch
from agentscope_tuner.lab.watch.second_opinion import Sampling, SecondOpinion
from agentscope_tuner.records.reader import Line
from agentscope_tuner.records.scored_rows import ScoredRow
from agentscope_tuner.task_judge.contract.judgement import Judgement
from agentscope_tuner.task_judge.run_log import RunLog
from agentscope_tuner.workflow import Task, WorkflowOutput, WorkflowTask
from benchmarks.bars import at_most
from benchmarks.insight.speed import GROUP, STEP, scored_line

_VERDICT = 50e-6
_BATCH = 256
_ROUNDS = 80
_REPEATS = 7


def pairs(chars: int) -> list[tuple[WorkflowTask, WorkflowOutput]]:
    """A batch in groups of 16, each row with a task of its own, as adapters make them."""
    answer = ("Let me see. " * (chars // 12 + 1))[:chars] + "\\boxed{42}"
    tasks = [
        Task(main_query=f"What is {n // GROUP} * 7?", task_id=str(n // GROUP), metadata={"answer": "42"})
        for n in range(_BATCH)
    ]
    return [(WorkflowTask(task=task), WorkflowOutput(metadata={"final_answer": answer})) for task in tasks]


def logged(folder: Path, chars: int, at_once: int, share: float) -> float:
    """Seconds of processor that one row costs, in calls of `at_once` rows: the least of some repetitions, because what
    else the machine does only adds."""
    batch = pairs(chars)
    verdicts = [Judgement("judged", 1.0, True, "exact: 42 = 42", seconds=5e-5 + n * 1e-9) for n in range(_BATCH)]
    calls = [(batch[n : n + at_once], verdicts[n : n + at_once]) for n in range(0, _BATCH, at_once)]
    found = []
    for repeat in range(_REPEATS):
        log = RunLog(folder / f"{chars}-{at_once}-{share}-{repeat}", share=share)
        begun = time.process_time()
        for step in range(_ROUNDS):
            for some, said in calls:
                log.add(some, said, step)
        log.close()
        found.append((time.process_time() - begun) / _ROUNDS / _BATCH)
    return min(found)


def print_logged() -> None:
    print("log_dir, a row:                        microseconds   of a judge with 20,000 verdicts a second")
    with tempfile.TemporaryDirectory() as name:
        for chars, at_once, share in ((120, _BATCH, 1.0), (120, _BATCH, 0.25), (2000, _BATCH, 1.0), (120, 1, 1.0)):
            spent = logged(Path(name), chars, at_once, share)
            said = f"{chars:,} characters, {at_once} at once, log_share {share:g}"
            print(f"  {said:42} {spent * 1e6:6.2f}   {spent / _VERDICT:.1%}")
            if chars == 120 and at_once == _BATCH:
                # the bar that the default misses is named beside it
                at_most(f"log_dir beside 20,000 verdicts a second, log_share {share:g}", spent / _VERDICT * 100, 2, "%")


def watched(rows: int) -> None:
    """The watch over rows of ids, tasks and answers of their own, with second opinions that find nothing."""
    lines = (Line("rows:1", scored_line(number, right=number % 3 == 0)) for number in range(rows))
    opinion = SecondOpinion(lambda chosen: [True] * len(chosen), Sampling())
    spent, sizes = 0.0, []
    ready: Iterator[ScoredRow] = RunRows(Path("-")).scored(lines)
    watch = RunWatch(opinion)
    for count, (step, block) in enumerate(by_step(ready)):
        begun = time.process_time()
        watch.step(step, block)
        spent += time.process_time() - begun
        if count % max(1, rows // STEP // 10) == 0:
            sizes.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
    print(f"watch, {rows:,} rows, {opinion.asked:,} second opinions: {spent / rows * 1e6:.1f} us a row,")
    print(f"  {spent / rows / _VERDICT:.1%} of a processor beside 20,000 verdicts a second, in a process of its own")
    print(f"  peak memory at each tenth of the rows, in MB: {' '.join(map(str, sizes))}")
    at_most("astuner watch, growth over the last nine tenths of the rows", sizes[-1] - sizes[1], 8, "MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    asked = parser.parse_args()
    print_logged()
    watched(asked.rows)


if __name__ == "__main__":
    main()
