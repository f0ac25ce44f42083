"""TRL's real GRPOTrainer with our rewards: plain, async, failing, listwise, and hostile in the middle."""

from __future__ import annotations

import json
import math
import os
import re
import socket
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy
import pytest
import torch
import trl
from datasets import Dataset
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from agentscope_tuner import ConfigError, JudgeError, Rollout, WorkflowTask
from agentscope_tuner.adapters.trl import RewardFunc, async_reward_func, combined, reward_func, stop_when_gamed
from agentscope_tuner.lab.watch.scalars import TensorBoardScalars
from agentscope_tuner.records.files import dump_lines
from agentscope_tuner.records.formats import Conversion
from agentscope_tuner.task_judge.batch import ConfiguredJudge
from tests.mixed_rows import CONFIG as MIXED
from tests.mixed_rows import DIGEST, columns_of, digest, mixed_rows
from tests.with_trainers.judges import HOSTILE, config
from tutorial.example_math_agent.train_trl import LENIENT, OURS, draw, rows
from tutorial.grpo import Board, train
from tutorial.tiny_policy import new_policy

STEPS = 5


def grpo(
    function: Any,
    out: Path,
    *,
    steps: int = STEPS,
    batch: int = 16,
    generations: int = 4,
    callbacks: list[Any] | None = None,
    data: list[dict[str, Any]] | None = None,
    rollout: Any = None,
    **options: Any,
) -> Any:
    model, tokenizer = new_policy("0123456789+=", draw, seed=0, warm_up_steps=60)
    arguments = trl.GRPOConfig(
        output_dir=str(out),
        use_cpu=True,
        bf16=False,
        report_to="none",
        save_strategy="no",
        disable_tqdm=True,
        per_device_train_batch_size=batch,
        num_generations=generations,
        max_completion_length=6,
        learning_rate=1e-3,
        max_steps=steps,
        logging_steps=1,
        **options,
    )
    trainer = trl.GRPOTrainer(
        model=model,
        reward_funcs=function,
        args=arguments,
        processing_class=tokenizer,
        train_dataset=Dataset.from_list(data or rows(seed=0)),
        callbacks=callbacks,
        rollout_func=rollout,
    )
    trainer.train()
    return trainer


def steps_of(trainer: Any) -> list[dict[str, Any]]:
    return [entry for entry in trainer.state.log_history if "reward" in entry]


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (reward_func(OURS), "MathAnswerAsJudge"),
        (async_reward_func(OURS), "MathAnswerAsJudge"),
        (reward_func(config("Awaits")), "Awaits"),
        (async_reward_func(config("Awaits")), "Awaits"),
    ],
    ids=["sync", "async", "sync over an async judge", "async over an async judge"],
)
def test_training_runs_and_logs_the_judges_metrics(function: Any, name: str, tmp_path: Path) -> None:
    steps = steps_of(grpo(function, tmp_path))
    assert [entry["step"] for entry in steps] == list(range(1, STEPS + 1))
    for entry in steps:
        assert entry[f"rewards/{name}/mean"] == pytest.approx(entry["reward"])
        assert entry[f"{name}/success_rate"] == pytest.approx(entry["reward"], abs=1e-6)
        assert entry[f"{name}/failed"] == 0.0
        assert 0.0 <= entry[f"{name}/filtered"] <= 1.0
        assert entry[f"{name}/judge_seconds"] > 0.0
    assert any(entry["reward"] > 0 for entry in steps)


def test_reasons_reach_the_completions_table(tmp_path: Path) -> None:
    trainer = grpo(reward_func(OURS), tmp_path, steps=1)
    reasons = list(trainer._logs["extra"]["MathAnswerAsJudge/reason"])
    assert len(reasons) == 16
    assert all(isinstance(reason, str) and reason for reason in reasons)


@pytest.mark.parametrize("build", [reward_func, async_reward_func])
def test_a_failed_verdict_moves_nothing_and_is_counted(build: Any, tmp_path: Path) -> None:
    trainer = grpo(build(config("FailsSome")), tmp_path)
    rewards = list(trainer._logs["rewards"]["FailsSome"])
    unscored = [math.isnan(reward) for reward in rewards]
    groups = [unscored[start : start + 4] for start in range(0, len(unscored), 4)]
    assert any(0 < sum(group) < 4 for group in groups), "no group had both: the test shows nothing"
    # every verdict is 1.0: were a failure a number, its group's verdicts would stand out against it
    assert {reward for reward in rewards if not math.isnan(reward)} == {1.0}
    assert set(trainer._logs["advantages"]) == {0.0}
    assert any(entry["FailsSome/failed"] > 0 for entry in steps_of(trainer))
    assert all(math.isfinite(entry["loss"]) for entry in steps_of(trainer))


def test_a_completion_that_cannot_be_read_has_advantage_0_and_the_others_their_rewards(tmp_path: Path) -> None:
    judge = reward_func(OURS)

    def own(completions: list[Any], **given: Any) -> Any:
        # one of each group of four
        completions = [None if place % 4 == 1 else each for place, each in enumerate(completions)]
        return judge(completions=completions, **given)

    trainer = grpo(own, tmp_path, steps=2)
    rewards, advantages = list(trainer._logs["rewards"]["own"]), list(trainer._logs["advantages"])
    unread = [place for place, reward in enumerate(rewards) if math.isnan(reward)]
    assert unread == list(range(1, len(rewards), 4))
    assert {advantages[place] for place in unread} == {0.0}
    assert [entry["MathAnswerAsJudge/failed"] for entry in steps_of(trainer)] == [0.25, 0.25]


@pytest.mark.parametrize("build", [reward_func, async_reward_func])
@pytest.mark.parametrize(
    ("column", "seen"), [("solution", True), ("answer", True), ("target", False), (None, False)], ids=str
)
def test_the_reference_is_read_or_the_first_batch_ends_the_run(
    build: Any, column: str | None, seen: bool, tmp_path: Path
) -> None:
    # TRL went on to its end with every reward None, and exit code 0
    data = [{"prompt": row["prompt"], **({column: row["answer"]} if column else {})} for row in rows(seed=0)]
    if seen:
        steps = steps_of(grpo(build(OURS), tmp_path, steps=2, data=data))
        assert [entry["MathAnswerAsJudge/failed"] for entry in steps] == [0.0, 0.0]
        return
    meant = "write `reads: {answer: target}`" if column else "The rows have no column"
    with pytest.raises(JudgeError, match=f"no verdict on any row so far.*{meant}"):
        grpo(build(OURS), tmp_path, data=data)


def test_where_nobody_listens_training_ends_in_its_first_batch(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}/v1"
    llm = {"grader": "relevance", "model_name": "m", "base_url": url, "api_key": "k", "client": {"cache": False}}
    function = reward_func({"astuner": {"task_judge": {"judge_type": "llm", "llm": llm}}})
    with pytest.raises(JudgeError, match=r"the judge is asked no more.*nobody listens there"):
        grpo(function, tmp_path)


def test_whole_groups_without_a_verdict_do_not_stop_training(tmp_path: Path) -> None:
    steps = steps_of(grpo(reward_func(config("Fails")), tmp_path))
    assert len(steps) == STEPS
    assert sum(entry["Fails/failed"] for entry in steps) > 0


@pytest.mark.parametrize("build", [reward_func, async_reward_func])
def test_a_listwise_judge_ranks_whole_groups(build: Any, tmp_path: Path) -> None:
    trainer = grpo(build(config("Shortest")), tmp_path)
    steps = steps_of(trainer)
    assert [entry["Shortest/failed"] for entry in steps] == [0.0] * STEPS
    assert any(0.0 < entry["reward"] < 1.0 for entry in steps)


class Hostile(RewardFunc):
    """Our reward function on a batch of which, in one step, most answers are attacks: a policy this small cannot write
    them itself."""

    def __init__(self, judge: Any, at: int) -> None:
        super().__init__(judge)
        self.at = at

    def __call__(self, prompts: Any, completions: Any, *rest: Any, **named: Any) -> list[float | None]:
        if named["trainer_state"].global_step == self.at:
            attacks = HOSTILE[: len(completions)]
            completions = [*attacks, *completions[len(attacks) :]]
        rewards = super().__call__(prompts, completions, *rest, **named)
        if named["trainer_state"].global_step == self.at:
            assert rewards[: len(HOSTILE)] == [0.0] * len(HOSTILE)
        return rewards


def without_rules() -> dict[str, Any]:
    # the rules of configs/math.yaml would spare the judge the long answers
    return {
        "astuner": {
            "task_judge": {"judge_protocol": "agentscope_tuner.task_judge.math_answer_as_judge->MathAnswerAsJudge"}
        }
    }


@pytest.mark.parametrize("judge", [OURS, without_rules()], ids=["with its rules", "without rules"])
def test_a_hostile_batch_in_the_middle_is_judged(judge: Any, tmp_path: Path) -> None:
    function = Hostile(judge, at=2)
    steps = steps_of(grpo(function, tmp_path))
    assert len(steps) == STEPS


def on_two_ranks(script: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", "--standalone", str(script)]
    path = os.pathsep.join(filter(None, [os.getcwd(), os.environ.get("PYTHONPATH")]))
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": path, "CUDA_VISIBLE_DEVICES": ""}
    return subprocess.run(
        [*command, str(folder)], env=environment, capture_output=True, text=True, timeout=300, check=False
    )


def test_groups_that_ranks_share_are_ranked_whole(tmp_path: Path) -> None:
    done = on_two_ranks(Path(__file__).parent / "two_ranks.py", tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.count("ranked whole") == 2, done.stdout + done.stderr[-3000:]


def test_the_tutorials_training_writes_curves_and_scalars_as_it_goes(tmp_path: Path) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    with Board(tmp_path / "math", total=2) as board:
        policy = new_policy("0123456789+=", draw, seed=0, warm_up_steps=60)
        train(
            policy,
            rows(seed=0),
            LENIENT,
            run="substring",
            seed=0,
            steps=2,
            completion_length=6,
            done=board.add,
            out=tmp_path,
            watch=OURS,
        )
        board.draw()
        assert (tmp_path / "math.csv").read_text(encoding="utf-8").count("\n") == 3
    assert (tmp_path / "math.png").stat().st_size > 10_000
    assert [step.step for step in board.steps] == [1, 2]
    (events,) = (tmp_path / "tensorboard").rglob("events.*")
    scalars = EventAccumulator(str(events))
    scalars.Reload()
    logged = [event.value for event in scalars.Scalars("train/reward")]
    assert logged == pytest.approx([step.reward for step in board.steps], abs=1e-5)
    assert "train/MathAnswerAsJudge/success_rate" in scalars.Tags()["scalars"]


def brevity(completions: Any, **named: Any) -> list[float]:
    # as many values as there are answers: of equal ones no group would learn
    return [sum(map(ord, completion)) % 7 / 10 for completion in completions]


@pytest.mark.parametrize("aggregation", ["sum_then_normalize", "normalize_then_sum"])
@pytest.mark.parametrize("beside", [False, True], ids=["alone", "beside another reward"])
def test_a_failed_verdict_has_advantage_0_in_grpos_own_code(beside: bool, aggregation: str, tmp_path: Path) -> None:
    parts = [config("FailsSome"), brevity] if beside else [config("FailsSome")]
    trainer = grpo(combined(parts), tmp_path, steps=2, generations=8, multi_objective_aggregation=aggregation)
    rewards = list(trainer._logs["rewards"]["combined"])
    advantages = list(trainer._logs["advantages"])
    missing = [math.isnan(reward) for reward in rewards]
    assert any(missing)
    assert [advantage for advantage, gone in zip(advantages, missing, strict=True) if gone] == [0.0] * sum(missing)
    if beside:
        assert any(advantages), "no completion was better than another: the test shows nothing"
        # the part was logged, and its failures were no zeros of the sum
        assert [math.isnan(reward) for reward in trainer._logs["extra"]["rewards/FailsSome"] if reward is not None] == [
            False
        ] * (len(missing) - sum(missing))


def test_without_combined_trl_would_pay_a_failed_verdict_like_a_wrong_answer(tmp_path: Path) -> None:
    """Why `combined` is there: a function that answers None, beside another, is summed as 0 by TRL itself."""

    def fails_some(completions: Any, **named: Any) -> list[float | None]:
        return [1.0 if completion.startswith("\\boxed{") else None for completion in completions]

    trainer = grpo([fails_some, brevity], tmp_path, steps=1, generations=8)
    missing = [math.isnan(reward) for reward in trainer._logs["rewards"]["fails_some"]]
    assert any(advantage for advantage, gone in zip(trainer._logs["advantages"], missing, strict=True) if gone)


@pytest.mark.parametrize("build", [reward_func, async_reward_func])
def test_a_bare_function_beside_another_warns_and_fails_the_step(build: Any, tmp_path: Path) -> None:
    with (
        pytest.warns(UserWarning, match=r"FailsSome stands beside brevity.*combined"),
        pytest.raises(JudgeError, match="beside brevity TRL would count that as 0"),
    ):
        grpo([build(config("FailsSome")), brevity], tmp_path, steps=1)


def test_online_dpo_fails_the_step(tmp_path: Path) -> None:
    from trl.experimental.online_dpo import OnlineDPOConfig, OnlineDPOTrainer

    model, tokenizer = new_policy("0123456789+=", draw, seed=0, warm_up_steps=60)
    arguments = OnlineDPOConfig(
        output_dir=str(tmp_path), use_cpu=True, bf16=False, report_to="none", max_steps=2, max_new_tokens=6
    )
    trainer = OnlineDPOTrainer(
        model=model,
        reward_funcs=reward_func(config("FailsSome")),
        args=arguments,
        processing_class=tokenizer,
        train_dataset=Dataset.from_list(rows(seed=0)),
    )
    with pytest.raises(JudgeError, match="OnlineDPO and SDPO do"):
        trainer.train()


def test_extras_of_a_rollout_function_split_no_group(tmp_path: Path) -> None:
    function = reward_func(config("Shortest"))

    class WithExtras(RewardFunc):
        def __call__(self, prompts: Any, completions: Any, *rest: Any, **named: Any) -> list[float | None]:
            named["turns"] = list(range(len(completions)))
            return super().__call__(prompts, completions, *rest, **named)

    steps = steps_of(grpo(WithExtras(function._config), tmp_path, steps=2))
    assert [entry["Shortest/failed"] for entry in steps] == [0.0, 0.0]


def test_what_an_environment_says_in_a_rollout_function_is_not_paid(tmp_path: Path) -> None:
    conf = tmp_path / "judge.yaml"
    conf.write_text("astuner: {task_judge: {judge: text_match}}", encoding="utf-8")

    def rollout(prompts: Any, trainer: Any, **more: Any) -> dict[str, Any]:
        read = partial(trainer.processing_class, add_special_tokens=False)
        said, told = read("4")["input_ids"], read("2")["input_ids"]
        return {
            "prompt_ids": [read(prompt)["input_ids"] for prompt in prompts],
            "completion_ids": [[*said, *told] for _ in prompts],
            "logprobs": [[0.0] * len([*said, *told]) for _ in prompts],
            "env_mask": [[1] * len(said) + [0] * len(told) for _ in prompts],
            **{name: [value] * len(prompts) for name, value in more.items()},
        }

    for right, reward in (("42", 0.0), ("4", 1.0)):
        data = [{"prompt": "1+1=", "answer": right}] * 8
        named = partial(rollout, astuner_last_turn="4")
        steps = steps_of(grpo(reward_func(conf), tmp_path, steps=1, data=data, rollout=named))
        assert [entry["reward"] for entry in steps] == [reward]
        with pytest.raises(JudgeError, match="return it as 'astuner_last_turn'"):
            grpo(reward_func(conf), tmp_path, steps=1, data=data, rollout=rollout)


def test_the_completions_that_trl_dumps_are_judged_again_to_equal_rewards(tmp_path: Path) -> None:
    grpo(reward_func(OURS), tmp_path, steps=3, log_completions=True)
    tasks, scored = tmp_path / "tasks.jsonl", tmp_path / "scored.jsonl"
    tasks.write_text("".join(json.dumps(row) + "\n" for row in rows(seed=0)))
    astuner = str(Path(sys.executable).with_name("astuner"))
    command = [astuner, "judge", "--conf", OURS, "--input", str(tmp_path / "completions"), "--output", str(scored)]
    subprocess.run([*command, "--format", "auto", "--tasks", str(tasks)], check=True)
    dumped = [json.loads(line.raw)["judgement"] for line in Conversion("trl").all(dump_lines(command[5]))]
    again = [json.loads(line)["judgement"] for line in scored.read_text().splitlines()]
    assert len(again) == 3 * 16
    assert [verdict["reward"] for verdict in again] == [verdict["reward"] for verdict in dumped]
    assert {verdict["reward"] for verdict in again} == {0.0, 1.0}


def test_the_samples_that_slime_saves_by_torch_are_read_and_judged_again(tmp_path: Path) -> None:
    # slime's --save-debug-rollout-data: torch.save(dict(rollout_id=…, samples=[sample.to_dict() …]), path)
    answers = [("\\boxed{42}", 1.0), ("41", 0.0), ("\\boxed{4}", numpy.float32(0))]
    samples = [
        {"group_index": place // 2, "index": place, "prompt": "What is 6*7?", "response": response, "label": "42",
         "reward": reward, "tokens": torch.arange(3), "status": "completed", "metadata": {},
         "rollout_log_probs": numpy.zeros(3, dtype="float32"), "weight": numpy.float32(1.0)}
        for place, (response, reward) in enumerate(answers)
    ]  # fmt: skip
    torch.save({"rollout_id": 7, "samples": samples}, tmp_path / "7.pt")
    found = [json.loads(line.raw) for line in Conversion("auto").all(dump_lines(str(tmp_path)))]
    assert [(row["id"], row["task"]["task_id"], row["step"]) for row in found] == [
        ("0", "group/0", 7), ("1", "group/0", 7), ("2", "group/1", 7),
    ]  # fmt: skip
    assert [row["judgement"]["reward"] for row in found] == [1.0, 0.0, 0.0]
    verdicts = ConfiguredJudge(OURS).judge_batch([pair_of(row) for row in found])
    assert [verdict.reward for verdict in verdicts] == [1.0, 0.0, 0.0]


def pair_of(row: dict[str, Any]) -> Any:
    rollout = Rollout.model_validate(row)
    return WorkflowTask(task=rollout.task), rollout.output


def test_a_torch_file_that_could_run_code_is_not_loaded(tmp_path: Path) -> None:
    class Runs:
        def __reduce__(self) -> Any:
            return os.mkdir, (str(tmp_path / "ran"),)

    torch.save({"rollout_id": 7, "samples": [{"metadata": Runs()}]}, tmp_path / "7.pt")
    with pytest.raises(ConfigError, match="objects that could run code"):
        dump_lines(str(tmp_path / "7.pt"))
    assert not (tmp_path / "ran").exists()


def test_a_run_that_is_gamed_is_stopped(tmp_path: Path) -> None:
    judged = tmp_path / "judged"
    # any answer with a box is paid, which the warm-up writes most of the time
    paid = {
        "judge_protocol": "tests.with_trainers.judges->AnyBox",
        "log_dir": str(judged),
    }
    curves = TensorBoardScalars(tmp_path / "curves")
    stop = stop_when_gamed(judged, OURS, rate=0.5, most=0.5, scalars=[curves])
    trainer = grpo(reward_func({"astuner": {"task_judge": paid}}), tmp_path, steps=20, callbacks=[stop])
    assert trainer.state.global_step < 20
    assert stop.watch.gamed
    alarms = [json.loads(line) for line in (judged / "alarms.jsonl").read_text().splitlines()]
    assert alarms[-1]["monitor"] == "second opinion"
    assert alarms[-1]["step"] == trainer.state.global_step
    events = EventAccumulator(str(tmp_path / "curves"))
    events.Reload()
    steps = list(range(1, trainer.state.global_step + 1))
    assert [scalar.step for scalar in events.Scalars("astuner/reward")] == steps
    assert events.Scalars("astuner/second_opinion/evidence")[-1].value == 1.0


def test_all_ranks_of_a_gamed_run_stop_after_the_same_step(tmp_path: Path) -> None:
    # the ranks read the same files, not at the same moment: one that went on alone would wait for ever
    script = Path(__file__).parent / "stopped_ranks.py"
    done = on_two_ranks(script, tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    stops = re.findall(r"stopped after (\d+) steps", done.stdout)
    assert len(stops) == 2, done.stdout + done.stderr[-3000:]
    assert len(set(stops)) == 1
    assert int(stops[0]) < 20


def test_mixed_rows_are_paid_the_same_bits_as_by_the_command_line_and_log_each_part() -> None:
    mixed = mixed_rows()
    prompts = [row["task"]["main_query"] for row in mixed]
    completions = [row["output"]["metadata"]["final_answer"] for row in mixed]
    logged: dict[str, float] = {}
    rewards = reward_func(MIXED)(prompts, completions, log_metric=logged.__setitem__, **columns_of(mixed))
    assert digest(rewards) == DIGEST
    assert logged["RoutedJudge/part/correct"] > logged["RoutedJudge/part/length"]
    assert {name for name in logged if name.startswith("RoutedJudge/route/")} == {
        f"RoutedJudge/route/{kind}" for kind in ("math", "countdown", "choice", "qa", "json")
    }


def test_a_trainer_logs_each_part_of_a_combined_judge(tmp_path: Path) -> None:
    trainer = grpo(reward_func("tutorial/example_math_agent/parts.yaml"), tmp_path)
    for entry in steps_of(trainer):
        assert {"parts/part/correct", "parts/part/form", "parts/part/length"} <= set(entry)
        parts = [entry[f"parts/part/{name}"] for name in ("correct", "form", "length")]
        # clip can only raise the mean of what the parts add up to here
        assert entry["reward"] >= parts[0] + 0.2 * parts[1] + 0.1 * parts[2] - 1e-6
