"""Children that are started while other threads judge, and how many of them hang: `make bench-forks`.

Each way of starting a process beside each load: two threads of the parent judge without a pause, and each child judges
a number, a formula for a worker and, where the load is a service, asks it. A child that is not done after `--patience`
seconds hangs, but for one to which a busy machine gave too little of its processors: it is waited for as long as it
uses some, at most six times as long. `first` gives every few children a parent of their own, whose first question to a
judge model is under way, so that its libraries are being imported. Ten minutes on two cores.
"""

from __future__ import annotations

import argparse
import faulthandler
import itertools
import json
import multiprocessing
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from typing import Any

from agentscope_tuner.task_judge.contract.loading import load_judge
from agentscope_tuner.task_judge.contract.task_judge import TaskJudge
from agentscope_tuner.workflow import Task, WorkflowOutput, WorkflowTask
from benchmarks.bars import at_most
from benchmarks.math.cpu import cpu_seconds
from benchmarks.scale.rows import MATH_JUDGE

WAYS = ("fork", "daemon", "spawn", "forkserver", "pool", "dataloader")
LOADS = ("idle", "number", "formula", "llm", "service", "first")
_AT_ONCE = 4
# CPU seconds that a child which still judges uses in a quarter of the patience, and one that waits does not
_AT_WORK = 0.05
_MORE_TIMES = 20
_FIRST_CHILDREN = 8


def config(load: str, url: str) -> dict[str, Any]:
    """The judge of a load; `url` is that of the judge model or of the service."""
    if load in ("llm", "first"):
        llm = {"prompt": "Rate this from 0 to 10.\n{response}", "model_name": "m", "base_url": url}
        return {"astuner": {"task_judge": {"judge_type": "llm", "llm": llm}}}
    if load == "service":
        protocol = "agentscope_tuner.task_judge.http_judge->HttpJudge"
        section = {"judge_protocol": protocol, "judge_kwargs": {"url": f"{url}/reward"}}
        return {"astuner": {"task_judge": section}}
    return {"astuner": {"task_judge": MATH_JUDGE}}


_numbers = itertools.count(1)


def is_judged(judge: TaskJudge, load: str) -> bool:
    """Whether one new pair of a load gets the verdict that it ought to get."""
    number = 10**6 * os.getpid() + next(_numbers)
    # a judge model of the tests pays by the label
    answer, truth = f"label=5\nThe answer is \\boxed{{{number}}}", f"{number}.0"
    if load == "formula":
        answer, truth = f"\\boxed{{\\cosh^2(x)-\\sinh^2(x)+{number}}}", f"{number}+1"
    task = WorkflowTask(task=Task(main_query="How many?", task_id=str(number), metadata={"answer": truth}))
    found = judge.judge(task, WorkflowOutput(metadata={"final_answer": answer}))
    if found.status != "judged":
        print(found.error, file=sys.stderr)
    if load == "formula" and not found.reason.startswith("symbolic: "):
        print(f"no worker was asked: {found.reason}", file=sys.stderr)
        return False
    return found.status == "judged" and bool(found.reward)


_judges: dict[str, TaskJudge] = {}


def child(load: str, url: str) -> bool:
    """What a child does: judge with what it has from its parent, or with what it makes itself."""
    kinds = ("number", "formula", *(() if load in ("idle", "number", "formula") else (load,)))
    return all(is_judged(_judge(kind, url), kind) for kind in kinds)


def _judge(kind: str, url: str) -> TaskJudge:
    if kind not in _judges:
        _judges[kind] = load_judge(config(kind, url))
    return _judges[kind]


def _exits(load: str, url: str, patience: float) -> None:
    # where it stands, if it hangs
    faulthandler.dump_traceback_later(0.9 * patience)
    os._exit(0 if child(load, url) else 1)


Counts = tuple[int, int]


def by_processes(method: str, daemon: bool, load: str, url: str, children: int, patience: float) -> Counts:
    """How many children hang, and how many end badly."""
    context, hung, bad = multiprocessing.get_context(method), 0, 0
    for _ in range(0, children, _AT_ONCE):
        started = [context.Process(target=_exits, args=(load, url, patience), daemon=daemon) for _ in range(_AT_ONCE)]  # type: ignore[attr-defined]
        for process in started:
            process.start()
            time.sleep(random.random() / 500)
        end = time.monotonic() + patience
        for process in started:
            process.join(max(0.0, end - time.monotonic()))
            used = 0.0
            for _ in range(_MORE_TIMES):
                if process.exitcode is not None or (now := cpu_seconds(process.pid or 0)) <= used + _AT_WORK:
                    break
                used = now
                process.join(patience / 4)
            if process.exitcode is None:
                hung += 1
                process.kill()
                process.join()
            elif process.exitcode:
                bad += 1
    return hung, bad


def by_pool(load: str, url: str, children: int, patience: float) -> Counts:
    """The same for a multiprocessing.Pool that gives each task a new child."""
    hung = bad = 0
    with multiprocessing.get_context("fork").Pool(_AT_ONCE, maxtasksperchild=1) as pool:
        asked = [pool.apply_async(child, (load, url)) for _ in range(children)]
        for answer in asked:
            try:
                bad += not answer.get(patience)
            except multiprocessing.TimeoutError:
                hung += 1
    return hung, bad


def by_data_loader(load: str, url: str, children: int, patience: float) -> Counts:
    """The same for the workers of torch's DataLoader."""
    from torch.utils.data import DataLoader, Dataset  # type: ignore[import-not-found,unused-ignore]

    class Verdicts(Dataset):  # type: ignore[type-arg,misc,unused-ignore]
        def __len__(self) -> int:
            return _AT_ONCE

        def __getitem__(self, index: int) -> bool:
            return child(load, url)

    hung = bad = 0
    for _ in range(0, children, _AT_ONCE):
        try:
            found = list(DataLoader(Verdicts(), batch_size=1, num_workers=_AT_ONCE, timeout=patience))
            bad += sum(not bool(one) for one in found)
        except RuntimeError as exc:
            hung += "timed out" in str(exc)
            bad += "timed out" not in str(exc)
    return hung, bad


def started_by(way: str, load: str, url: str, children: int, patience: float) -> Counts:
    """Start the children in this way, and count."""
    if way == "pool":
        return by_pool(load, url, children, patience)
    if way == "dataloader":
        return by_data_loader(load, url, children, patience)
    method = "fork" if way == "daemon" else way
    return by_processes(method, way == "daemon", load, url, children, patience)


def parent(way: str, load: str, url: str, children: int, patience: float) -> Counts:
    """Judge in two threads, and start the children meanwhile."""
    ended = threading.Event()

    def judge_on() -> None:
        judge = _judge(load, url)
        while not ended.is_set():
            is_judged(judge, load)

    threads = []
    if load != "idle":
        judge = _judge(load, url)
        if load != "first":
            is_judged(judge, load)
        threads = [threading.Thread(target=judge_on, daemon=True) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        return started_by(way, load, url, children, patience)
    finally:
        ended.set()
        for thread in threads:
            thread.join(patience)


@contextmanager
def served(load: str) -> Iterator[str]:
    """The address of what a load asks: a judge model, or a service of the math judge; empty where it asks nobody."""
    with ExitStack() as stack:
        if load in ("llm", "first"):
            command = [sys.executable, "-m", "tests.judge_server"]
            process = stack.enter_context(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
            stack.callback(process.terminate)
            assert process.stdout is not None
            yield process.stdout.readline().split()[-1]
        elif load == "service":
            from benchmarks.scale.served import Served

            yield f"http://127.0.0.1:{stack.enter_context(Served(MATH_JUDGE)).port}"
        else:
            yield ""


def counted(way: str, load: str, children: int, patience: float) -> Counts:
    """The counts of a cell, from parents that are processes of their own."""
    each = min(children, _FIRST_CHILDREN) if load == "first" else children
    hung = bad = 0
    with served(load) as url, tempfile.TemporaryDirectory() as cache:
        for _ in range(0, children, each):
            command = [sys.executable, "-m", "benchmarks.scale.forks", "--cell", way, load, url]
            command += ["--children", str(each), "--patience", str(patience)]
            environment = {**os.environ, "ASTUNER_CACHE_DIR": cache}
            ran = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=environment)
            found = json.loads(ran.stdout.splitlines()[-1])
            hung, bad = hung + found[0], bad + found[1]
    return hung, bad


def _cells(ways: list[str], loads: list[str], say: Callable[[str], object]) -> Iterator[tuple[str, str]]:
    for way, load in itertools.product(ways, loads):
        if way == "dataloader" and find_spec("torch") is None:
            say(f"{way}, {load}: not measured: no torch here")
        elif load == "service" and find_spec("uvicorn") is None:
            say(f"{way}, {load}: not measured: no uvicorn here")
        else:
            yield way, load


def main() -> None:
    """Prints a line for each cell. Exit code 1 when a child hung, or got another verdict than it ought to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--children", type=int, default=200)
    parser.add_argument("--patience", type=float, default=60.0)
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS))
    parser.add_argument("--loads", nargs="+", choices=LOADS, default=list(LOADS))
    parser.add_argument("--cell", nargs=3, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.cell:
        way, load, url = asked.cell
        print(json.dumps(parent(way, load, url, asked.children, asked.patience)))
        # a pool's hanging child, or a thread that waits for one, must not keep this process
        sys.stdout.flush()
        os._exit(0)
    version = ".".join(map(str, sys.version_info[:3]))
    met = True
    for way, load in _cells(asked.ways, asked.loads, print):
        hung, bad = counted(way, load, asked.children, asked.patience)
        name = f"children that hang of {asked.children}, {way} beside {load}, Python {version}"
        met &= at_most(name, hung, 0, "")
        if bad:
            print(f"{way} beside {load}: {bad} children ended without the right verdict")
            met = False
    sys.exit(0 if met else 1)


if __name__ == "__main__":
    main()
