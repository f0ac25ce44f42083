"""The red team in company: eight programs at a time, as trainers have them judged, and one of each eight is right.

The ways: `astuner serve` over its socket, an actor of Ray's, the reward function of a real TRL trainer, and eight
threads of one process. Each way gets the same sample, which holds every family of attacks. Nothing may be paid, left
running or without a verdict, and no right program may lose by what runs beside it.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import Any

from agentscope_tuner import JudgeError, WorkflowOutput, WorkflowTask, load_judge
from agentscope_tuner.task_judge.batch import ConfiguredJudge
from benchmarks.bars import at_most
from benchmarks.code.cheats import SECRET_FILE, SECRET_VARIABLE, Cheat
from benchmarks.code.redteam import FORMS, SETTINGS, Attack, attacks, orphans, running, running_below
from benchmarks.scale.served import Served

_AT_ONCE = 8
_SECTION = {"judge_protocol": "agentscope_tuner.task_judge.code_judge->CodeJudge", "code": SETTINGS}
_CONFIG = {"astuner": {"task_judge": _SECTION}}
_RIGHT = Cheat(
    "right", "right", "def double(n):\n    return 2 * n\nif __name__ == '__main__':\n    print(2 * int(input()))\n"
)

Pair = tuple[WorkflowTask, WorkflowOutput]
#: Judges so many at once: in their order the rewards, None where there is no verdict, and why.
Way = Callable[[Sequence[Pair]], list[tuple[float | None, str]]]


def sample(most: int, seed: int) -> list[Attack]:
    """So many attacks: of every family in turn, and of every form of tests that a family knows."""
    families: dict[str, list[Attack]] = defaultdict(list)
    for attack in attacks():
        families[f"{attack.cheat.family} {attack.form if attack.cheat.family == 'raid' else ''}"].append(attack)
    draw = random.Random(seed)
    for known in families.values():
        draw.shuffle(known)
    found: list[Attack] = []
    for family in cycle(sorted(families)):
        if len(found) == most or not any(families.values()):
            return found
        found += [families[family].pop()] if families[family] else []
    raise AssertionError("a cycle has no end")


@contextmanager
def _serve() -> Iterator[Way]:
    with Served(_SECTION) as served:
        kwargs = {"url": f"http://127.0.0.1:{served.port}/reward", "timeout": 280.0, "max_batch": _AT_ONCE}
        http = {"judge_protocol": "agentscope_tuner.task_judge.http_judge->HttpJudge", "judge_kwargs": kwargs}
        judge = ConfiguredJudge({"astuner": {"task_judge": http}})
        yield lambda pairs: [(one.reward, one.error or one.reason) for one in judge.judge_batch(list(pairs))]
        assert served.process.poll() is None, "the service has ended"


@contextmanager
def _crowd() -> Iterator[Way]:
    judge = load_judge(_CONFIG)
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        judged = partial(pool.map, lambda one: judge.judge(*one))
        yield lambda pairs: [(one.reward, one.error or one.reason) for one in judged(pairs)]


@contextmanager
def _ray() -> Iterator[Way]:
    import ray

    from agentscope_tuner.engines.ray.pool import RayJudge

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    judge = RayJudge(_CONFIG)

    def reward(ref: Any) -> tuple[float | None, str]:
        try:
            found = judge.get(ref)
        except JudgeError as exc:
            return None, str(exc)
        return float(found[0]), found.reason

    try:
        yield lambda pairs: [reward(ref) for ref in [judge.compute_reward.remote(*one) for one in pairs]]
    finally:
        judge.shutdown()
        ray.shutdown()


@contextmanager
def _trl() -> Iterator[Way]:
    """Each step of a trainer judges eight: in the place of what its model writes stand the attacks."""
    import trl
    from datasets import Dataset

    from agentscope_tuner.adapters.trl import RewardFunc
    from tutorial.tiny_policy import new_policy

    class Attacked(RewardFunc):
        def __call__(self, prompts: Any, completions: Any, *rest: Any, **named: Any) -> list[float | None]:
            given["rewards"] = super().__call__(prompts, given["answers"], *rest, **named | {"tests": given["tests"]})
            return list(given["rewards"])

    given: dict[str, Any] = {}
    function = Attacked(_CONFIG)
    model, tokenizer = new_policy("0123456789+=", lambda draw: "1+1=2", seed=0, warm_up_steps=0)

    def step(pairs: Sequence[Pair]) -> list[tuple[float | None, str]]:
        given["answers"] = [str(output.metadata["final_answer"]) for _, output in pairs]
        given["tests"] = [json.dumps(task.task.metadata["tests"]) for task, _ in pairs]
        with tempfile.TemporaryDirectory() as out:
            arguments = trl.GRPOConfig(
                output_dir=out,
                use_cpu=True,
                bf16=False,
                report_to="none",
                save_strategy="no",
                disable_tqdm=True,
                per_device_train_batch_size=len(pairs),
                num_generations=len(pairs),
                max_completion_length=6,
                max_steps=1,
            )
            trainer = trl.GRPOTrainer(
                model=model,
                reward_funcs=function,
                args=arguments,
                processing_class=tokenizer,
                train_dataset=Dataset.from_list([{"prompt": "1+1=", "tests": "?"}] * len(pairs)),
            )
            trainer.train()
        return [(reward, "") for reward in given["rewards"]]

    yield step


_WAYS: dict[str, Callable[[], AbstractContextManager[Way]]] = {
    "serve": _serve,
    "ray": _ray,
    "trl": _trl,
    "crowd": _crowd,
}


def meet(name: str, team: Sequence[Attack]) -> bool:
    """Judge all in this way, print what got through and the figures; whether nothing did."""
    before = orphans()
    paid, failed, refused, late = [], [], [], []
    bound = (SETTINGS["total_seconds"] + 1) * -(-_AT_ONCE // len(os.sched_getaffinity(0)))
    right = cycle(Attack(form, tests, _RIGHT) for form, tests in FORMS.items())
    with _WAYS[name]() as judge_all:
        # what starts with the first of all is not what is measured
        judge_all([next(right).pair() for _ in range(2)])
        for first in range(0, len(team), _AT_ONCE - 1):
            company = [*team[first : first + _AT_ONCE - 1], next(right)]
            pairs, begun = [one.pair() for one in company], time.monotonic()
            verdicts = judge_all(pairs)
            # while others have the cores a program is given longer: what counts is whether it is late again
            if time.monotonic() - begun > bound:
                begun = time.monotonic()
                judge_all(pairs)
                late += [company] if time.monotonic() - begun > bound else []
            for one, (reward, why) in zip(company, verdicts, strict=True):
                if reward is None:
                    failed.append((one, why))
                elif one.cheat is _RIGHT:
                    refused += [(one, why)] if reward != 1.0 else []
                elif reward:
                    paid.append((one, why))
        # idle jails end within a second; who holds them is still there
        time.sleep(2)
        left = running_below(os.getpid())
    left |= orphans() - before
    # what is being killed at that moment, another grader's too, has not stayed
    time.sleep(0.5)
    left &= running()
    for title, found in (("PAID", paid), ("NO VERDICT", failed), ("REFUSED", refused)):
        for one, why in found:
            print(f"{title} {one.form} {one.cheat.family}: {one.cheat.name} {why[:200]!r}")
    met = [
        at_most(f"red team, {name}: paid", len(paid), 0, f"of {len(team)} attacks"),
        at_most(f"red team, {name}: without a verdict", len(failed), 0, "attacks"),
        at_most(f"red team, {name}: left running after 2 s", len(left), 0, "processes"),
        at_most(f"red team, {name}: eight that took over {bound:g} s", len(late), 0, "times"),
        at_most(f"red team, {name}: right ones beside them refused", len(refused), 0, "programs"),
    ]
    return all(met)


def main() -> None:
    """Attack in each way."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ways", nargs="*", default=["crowd", "serve", "ray"], choices=list(_WAYS))
    parser.add_argument("--attacks", type=int, default=70)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    Path(SECRET_FILE).write_text("secret")
    os.environ[SECRET_VARIABLE] = "secret"
    team = sample(asked.attacks, asked.seed)
    families, forms = {one.cheat.family for one in team}, {one.form for one in team}
    print(f"{len(team)} attacks of {len(families)} families in {len(forms)} forms")
    met = [meet(name, team) for name in asked.ways]
    raise SystemExit(0 if all(met) else 1)


if __name__ == "__main__":
    main()
