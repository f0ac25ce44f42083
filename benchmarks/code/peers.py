"""Other graders of programs beside the judge: what cheats they pay, and what right programs they refuse.

Each verdict of theirs is a process of its own in a namespace of its own, without a network and with nothing to write
but its own `/tmp`, because some of these programs kill whatever they can. Programs that only use up memory, processes
or output are left out: nothing holds them there.

The graders are installed without what their packages ask for, which their reward code does not use; where one is not
installed, that is said. rLLM's and open-instruct's are on no package index.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import random
import resource
import secrets
import subprocess
import sys
import time
import types
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from agentscope_tuner import load_judge
from agentscope_tuner._jail.bubblewrap import bwrap_path
from agentscope_tuner.workflow import Task, WorkflowOutput, WorkflowTask
from benchmarks.bars import at_most
from benchmarks.code.cheats import cheats, rows
from benchmarks.code.redteam import FORMS
from benchmarks.code.speed import prime_code

# Of a verdict, by the clock; each grader's own bound is less for one or two tests
_BOUND = 30.0
_HELD_BY_NOTHING = ("bomb", "output")
_MEMORY = 4 * 2**30


class Trial(NamedTuple):
    """A program before its tests. `kind`: a cheat, or what it is due."""

    kind: str
    name: str
    answer: str
    tests: dict[str, Any]


def _verl() -> Callable[[str, dict[str, Any]], bool] | None:
    score = prime_code()
    # as its trainer asks; a wrong answer makes the other way raise
    return score and (lambda answer, tests: bool(score(answer, tests, continuous=True)[0] == 1.0))


def _nemo_gym() -> Callable[[str, dict[str, Any]], bool] | None:
    found = importlib.util.find_spec("resources_servers")
    if found is None or not found.submodule_search_locations:
        return None
    folder = Path(next(iter(found.submodule_search_locations)), "code_gen")
    if not folder.exists():
        return None
    sys.path.insert(0, str(folder))
    # they take the grader to other machines, and draw a bar
    for name, attribute in (("ray", "remote"), ("tqdm", "tqdm")):
        if importlib.util.find_spec(name) is None:
            module = sys.modules[name] = types.ModuleType(name)
            setattr(module, attribute, lambda *_, **__: lambda function: function)
    grader = importlib.import_module("lcb_integration.compute_code_generation_metrics")

    def judge(answer: str, tests: dict[str, Any]) -> bool:
        sample = {"input_output": json.dumps(tests)}
        results, _ = grader.check_correctness(sample, _program(answer), timeout=6, debug=False)
        return all(result is True for result in results)

    return judge


def _skyrl() -> Callable[[str, dict[str, Any]], bool] | None:
    found = importlib.util.find_spec("skyrl_gym")
    if found is None or not found.submodule_search_locations:
        return None
    file = Path(next(iter(found.submodule_search_locations)), "envs", "lcb", "livecodebench.py")
    spec = importlib.util.spec_from_file_location("livecodebench", file)
    assert spec is not None
    assert spec.loader is not None
    # every program begins with the import of both, which its guard breaks where they are not there already
    for package in ("numpy", "pandas"):
        importlib.import_module(package)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    def judge(answer: str, tests: dict[str, Any]) -> bool:
        kind, name = ("functional", tests["fn_name"]) if "fn_name" in tests else ("stdin", None)
        listed = [
            {"input": given, "output": wanted, "testtype": kind, "metadata": {"func_name": name}}
            for given, wanted in zip(tests["inputs"], tests["outputs"], strict=True)
        ]
        return bool(module.compute_score(answer, listed)[1] == 1.0)

    return judge


PEERS = {"verl prime_code": _verl, "NeMo-Gym code_gen": _nemo_gym, "SkyRL-gym lcb": _skyrl}


def _program(answer: str) -> str:
    return answer.rpartition("```python\n")[2].partition("\n```")[0]


def trials() -> Iterator[Trial]:
    """All, in the two forms that every grader reads."""
    forms = {form: _written(FORMS[form]) for form in ("stdin", "call")}
    for form, tests in forms.items():
        for cheat in cheats():
            if cheat.language == "python" and cheat.family not in _HELD_BY_NOTHING:
                yield Trial("cheat", f"{form} {cheat.family}: {cheat.name}", f"```python\n{cheat.program}\n```", tests)
    for row in rows("honest"):
        tests = row["metadata"].get("tests")
        if not isinstance(tests, dict) or not tests.keys() <= {"inputs", "outputs", "fn_name"}:
            continue
        if row["reward"] in (0.0, 1.0) and (written := _written(tests)):
            yield Trial("right" if row["reward"] else "wrong", row["name"], row["output"], written)


def _written(tests: dict[str, Any]) -> dict[str, Any]:
    """Tests as the data sets of these graders write them: an argument a line; none where they have no such form."""
    if "fn_name" not in tests:
        texts = [*tests["inputs"], *tests["outputs"]]
        return tests if all(isinstance(text, str) for text in texts) else {}
    # a list of one may be a value in a list, and these graders disagree on it
    is_doubtful = any(isinstance(wanted, list) and len(wanted) == 1 for wanted in tests["outputs"])
    if is_doubtful or not all(isinstance(given, list) for given in tests["inputs"]):
        return {}
    inputs = ["\n".join(map(json.dumps, given)) for given in tests["inputs"]]
    return tests | {"inputs": inputs, "outputs": [json.dumps(wanted) for wanted in tests["outputs"]]}


def by_peer(name: str, trial: Trial) -> str:
    """What a grader says: `paid`, `refused`, `late`, or `died`, without a verdict."""
    command = [bwrap_path(), "--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    command += ["--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]
    command += [sys.executable, "-m", "benchmarks.code.peers", "--child"]
    word = secrets.token_hex(8)
    asked = json.dumps([name, word, trial.answer, trial.tests])
    root = str(Path(__file__).parents[2])
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=root, text=True
    ) as child:
        try:
            said, _ = child.communicate(asked, timeout=_BOUND)
        except subprocess.TimeoutExpired:
            child.kill()
            return "late"
    verdict = next((line.partition(word)[2] for line in said.splitlines() if word in line), "")
    return verdict.strip() or "died"


def _child() -> None:
    name, word, answer, tests = json.loads(sys.stdin.read())
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    judge = PEERS[name]()
    assert judge is not None
    print(word, "paid" if judge(answer, tests) else "refused", flush=True)


def main() -> None:
    """Ask every grader about the same programs, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--of-each", type=int, default=30, help="cheats, right programs and wrong ones")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.child:
        _child()
        return
    chosen: list[Trial] = []
    for kind in ("cheat", "right", "wrong"):
        found = [trial for trial in trials() if trial.kind == kind]
        chosen += random.Random(asked.seed).sample(found, min(asked.of_each, len(found)))
    ours = load_judge({"astuner": {"task_judge": {"judge": "code"}}})

    def by_us(trial: Trial) -> str:
        output = WorkflowOutput(metadata={"final_answer": trial.answer})
        judgement = ours.judge(WorkflowTask(task=Task(metadata={"tests": trial.tests})), output)
        return "died" if judgement.reward is None else "paid" if judgement.reward else "refused"

    count = Counter(trial.kind for trial in chosen)
    print(f"{count['cheat']} cheats, {count['wrong']} wrong programs, {count['right']} right ones, seed {asked.seed}")
    print("| grader | cheats paid | wrong paid | right refused | past 30 s | no verdict |\n|---|---|---|---|---|---|")
    for name in ["astuner", *PEERS]:
        if name in PEERS and PEERS[name]() is None:
            print(f"| {name} | not installed |")
            continue
        begun = time.monotonic()
        with ThreadPoolExecutor(2) as pool:
            said = list(pool.map(by_us if name == "astuner" else lambda one, name=name: by_peer(name, one), chosen))
        kinds = Counter((trial.kind, verdict) for trial, verdict in zip(chosen, said, strict=True))
        late, died = said.count("late"), said.count("died")
        figures = [kinds["cheat", "paid"], kinds["wrong", "paid"], kinds["right", "refused"], late, died]
        print(f"| {name} | {' | '.join(map(str, figures))} | {time.monotonic() - begun:.0f} s", flush=True)
        if name == "astuner":
            at_most("beside peers: cheats and wrong programs paid", figures[0] + figures[1], 0, "")


if __name__ == "__main__":
    main()
