"""verl's real reward loop, in its Ray actors on a CPU, with our compute_score loaded the way its configuration does."""

from __future__ import annotations

import asyncio
import math
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import numpy
import pytest
import ray
import torch
import verl
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast
from verl.experimental.agent_loop.agent_loop import AgentLoopManager, AgentLoopOutput, DictConfigWrap, ToolListWrap
from verl.experimental.reward_loop import RewardLoopManager
from verl.tools.function_tool import FunctionTool, _build_schema_from_fn
from verl.trainer.ppo.core_algos import compute_gdpo_outcome_advantage, compute_grpo_outcome_advantage
from verl.trainer.ppo.ray_trainer import RayPPOTrainer
from verl.workers.rollout.replica import TokenOutput

from agentscope_tuner import ConfigError, JudgeError, WorkflowTask
from agentscope_tuner.adapters.verl import compute_score_sync
from agentscope_tuner.adapters.verl_agent import LastTurnToolAgentLoop, last_turn_ids
from agentscope_tuner.records.files import dump_lines
from agentscope_tuner.records.formats import Conversion
from agentscope_tuner.records.formats.sample import as_rollout
from agentscope_tuner.records.reader import parse_line
from agentscope_tuner.task_judge.batch import ConfiguredJudge
from tests.with_trainers.judges import HOSTILE, config
from tests.with_trainers.matrix import nobody, parts
from tests.with_trainers.runners import Row, verl_worker

KEYS = {"score", "acc", "filtered", "failed", "undecided", "unread", "judge_seconds"}
CONFIGS = Path(__file__).parents[2] / "configs"
MATH = "agentscope_tuner.task_judge.math_answer_as_judge->MathAnswerAsJudge"
MATH_JUDGE = {"astuner": {"task_judge": {"judge_protocol": MATH}}}
SAID = [r"\boxed{42.0}", r"so \boxed{41}", "no box", *(text for text in HOSTILE if "\ud800" not in text)]


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Iterator[None]:
    # the workers import judges from this checkout
    environment = {"env_vars": {"PYTHONPATH": os.getcwd()}}
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, runtime_env=environment)
    yield
    ray.shutdown()


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> PreTrainedTokenizerFast:
    """Every answer is one token: a policy may write what it likes, and decoding gives it back unchanged."""
    vocabulary = {text: index for index, text in enumerate(["<pad>", "<unk>", "<eos>", *SAID])}
    fast = PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>")),
        pad_token="<pad>",
        eos_token="<eos>",
        unk_token="<unk>",
    )
    path = tmp_path_factory.mktemp("tokenizer")
    fast.save_pretrained(path)
    fast.name_or_path = str(path)
    return fast


def judge_file(tmp_path: Path, settings: dict[str, Any]) -> str:
    path = tmp_path / "judge.yaml"
    OmegaConf.save(OmegaConf.create(settings), path)
    return str(path)


@contextmanager
def manager(
    tokenizer: PreTrainedTokenizerFast, judge: str, *, workers: int = 1, **reward: str
) -> Iterator[RewardLoopManager]:
    """verl's own configuration under our configs/verl_math.yaml; its workers end with it."""
    lines = {
        "reward.custom_reward_function.reward_kwargs.config": judge,
        "reward.num_workers": workers,
        "actor_rollout_ref.model.path": tokenizer.name_or_path,
        **reward,
    }
    with initialize_config_dir(str(CONFIGS), version_base=None):
        whole = compose("verl_math", [f"{key}={value}" for key, value in lines.items()])
    loop = RewardLoopManager(whole)
    yield loop
    for worker in loop.reward_loop_workers:
        ray.kill(worker)


def batch(tokenizer: PreTrainedTokenizerFast, answers: Sequence[str], truth: object = "42") -> verl.DataProto:
    ids = torch.tensor([[tokenizer.convert_tokens_to_ids(answer), tokenizer.pad_token_id] for answer in answers])
    count = len(answers)
    columns = {
        "data_source": ["test"] * count,
        "reward_model": [{"style": "rule", "ground_truth": truth}] * count,
        "extra_info": [{"index": index, "question": "6*7?"} for index in range(count)],
    }
    return verl.DataProto.from_dict(
        tensors={
            "prompts": torch.zeros(count, 1, dtype=torch.long),
            "responses": ids,
            "attention_mask": torch.tensor([[1, 1, 0]] * count),
        },
        non_tensors={key: numpy.array(values, dtype=object) for key, values in columns.items()},
    )


def test_answers_are_scored_in_verls_worker_and_hostile_ones_cost_no_verdict(tokenizer: Any, tmp_path: Path) -> None:
    judge = judge_file(tmp_path, MATH_JUDGE)
    with manager(tokenizer, judge) as loop:
        result = loop.compute_rm_score(batch(tokenizer, SAID[:3]))
        hostile = loop.compute_rm_score(batch(tokenizer, SAID))
    assert result.batch["rm_scores"].tolist() == [[1.0, 0.0], [0.0, 0.0], [0.0, 0.0]]
    assert set(result.meta_info["reward_extra_keys"]) == KEYS
    assert result.non_tensor_batch["acc"].tolist() == [1.0, 0.0, 0.0]
    assert hostile.batch["rm_scores"].sum(dim=1).tolist() == [1.0] + [0.0] * (len(SAID) - 1)
    assert hostile.non_tensor_batch["failed"].sum() == 0.0


def test_the_remote_manager_takes_the_sync_twin(tokenizer: Any, tmp_path: Path) -> None:
    judge = judge_file(tmp_path, MATH_JUDGE)
    options = {"reward.reward_manager.name": "remote", "reward.custom_reward_function.name": "compute_score_sync"}
    with manager(tokenizer, judge, **options) as loop:
        result = loop.compute_rm_score(batch(tokenizer, SAID[:3]))
    assert result.batch["rm_scores"].sum(dim=1).tolist() == [1.0, 0.0, 0.0]


def test_a_failed_verdict_ends_the_run_and_says_why(tokenizer: Any, tmp_path: Path) -> None:
    judge = judge_file(tmp_path, config("Fails"))
    with (
        manager(tokenizer, judge) as loop,
        pytest.raises(Exception, match=r"task 'test/0': Fails: the judge model did not answer"),
    ):
        loop.compute_rm_score(batch(tokenizer, SAID[:1], truth="41"))


def test_a_manager_that_makes_0_of_a_failure_ends_the_step(tokenizer: Any, tmp_path: Path) -> None:
    judge = judge_file(tmp_path, MATH_JUDGE)
    limited = {"reward.reward_manager.name": "rate_limited"}
    with manager(tokenizer, judge, **limited) as loop, pytest.raises((TypeError, ValueError), match="str"):
        loop.compute_rm_score(batch(tokenizer, SAID[:3]))


def test_each_worker_builds_one_judge_and_asks_it_off_the_main_thread(tokenizer: Any, tmp_path: Path) -> None:
    judge = judge_file(tmp_path, config("Where"))
    with manager(tokenizer, judge, workers=2, **{"reward.reward_manager.name": "dapo"}) as loop:
        result = loop.compute_rm_score(batch(tokenizer, SAID[:3] * 2))
    processes = set(result.non_tensor_batch["score"].tolist())
    assert len(processes) == 2
    assert float(os.getpid()) not in processes
    assert result.non_tensor_batch["acc"].tolist() == [1.0] * 6


def test_this_verl_does_not_mask_so_we_refuse_to(tmp_path: Path) -> None:
    judge = judge_file(tmp_path, config("Fails"))
    # on a verdict that would not fail: refused at the first score, not at the first failure
    with pytest.raises(ConfigError, match="takes a NaN score into its group's baseline"):
        compute_score_sync("test", "x", "42", config=judge, on_failed="mask")
    # why: one NaN, and no sample of the group has an advantage
    scores = torch.tensor([[math.nan], [0.0], [1.0]])
    advantages, _ = compute_grpo_outcome_advantage(scores, torch.ones(3, 1), numpy.array(["group"] * 3))
    assert not torch.isfinite(advantages).any()


def test_what_verl_dumps_is_judged_again_to_equal_rewards(tmp_path: Path) -> None:
    answers = ["\\boxed{42}", "\\boxed{41}", "", "42"]
    judge = ConfiguredJudge("configs/math.yaml")
    pairs = [as_rollout("6*7?", answer, {"answer": "42"}) for answer in answers]
    scores = [judge.reward_or_raise(verdict) for verdict in judge.judge_batch(pairs)]
    # what `trainer.rollout_data_dir` calls after each step
    RayPPOTrainer._write_generations(
        ["6*7?"] * 4, answers, ["42"] * 4, scores, {"acc": [score > 0 for score in scores]}, str(tmp_path), 7
    )
    rows = [parse_line(line) for line in Conversion("auto").all(dump_lines(str(tmp_path)))]
    rollouts = [row.rollout for row in rows if row.rollout is not None]
    assert [rollout.model_extra["judgement"]["reward"] for rollout in rollouts] == scores
    tasks = [(WorkflowTask(task=rollout.task), rollout.output) for rollout in rollouts]
    assert [verdict.reward for verdict in judge.judge_batch(tasks)] == scores == [1.0, 0.0, 0.0, 0.0]


TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


@pytest.fixture(scope="module")
def letters(tmp_path_factory: pytest.TempPathFactory) -> PreTrainedTokenizerFast:
    """Every byte is a token, beside the two of a chat template."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    model = Tokenizer(models.BPE(vocab={letter: place for place, letter in enumerate(alphabet)}, merges=[]))
    model.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    model.decoder = decoders.ByteLevel()
    fast = PreTrainedTokenizerFast(tokenizer_object=model, eos_token="<|im_end|>", pad_token="<|im_end|>")
    fast.add_special_tokens({"additional_special_tokens": ["<|im_start|>"]})
    fast.chat_template = TEMPLATE
    path = tmp_path_factory.mktemp("letters")
    fast.save_pretrained(path)
    fast.name_or_path = str(path)
    return fast


def calculator(expression: str) -> str:
    """Answers what the judge would pay for.

    Args:
        expression: anything
    """
    return r"\boxed{42}"


CALL = '<tool_call>\n{"name": "calculator", "arguments": {"expression": "6*7"}}\n</tool_call>'


class Policy:
    """What verl's language model client answers: the turns of one episode."""

    def __init__(self, tokenizer: Any, *turns: str) -> None:
        self._turns = iter([tokenizer.encode(turn + "<|im_end|>", add_special_tokens=False) for turn in turns])

    async def generate(self, **asked: Any) -> TokenOutput:
        return TokenOutput(token_ids=next(self._turns))


def played(letters: Any, *turns: str, **options: object) -> AgentLoopOutput:
    """An episode in verl's own agent loop, with a tool, as its worker builds and runs it."""
    lines = {
        "actor_rollout_ref.rollout.multi_turn.enable": True,
        "actor_rollout_ref.rollout.response_length": 512,
        "actor_rollout_ref.rollout.prompt_length": 512,
        **options,
    }
    with initialize_config_dir(str(CONFIGS), version_base=None):
        whole = compose("verl_math", [f"{key}={value}" for key, value in lines.items()])

    schema = _build_schema_from_fn(calculator, "calculator")

    async def episode() -> AgentLoopOutput:
        loop = LastTurnToolAgentLoop(
            trainer_config=DictConfigWrap(whole),
            server_manager=Policy(letters, *turns),
            tokenizer=letters,
            processor=None,
            dataset_cls=None,
            data_config=DictConfigWrap(whole.data),
            tools=ToolListWrap([FunctionTool("calculator", calculator, schema)]),
        )
        return await loop.run({}, raw_prompt=[{"role": "user", "content": "6*7?"}])

    return asyncio.run(episode())


@pytest.mark.parametrize(
    ("turns", "last", "reward"),
    [
        ([CALL, "I do not know."], "I do not know.", 0.0),
        ([CALL, r"So \boxed{42}."], r"So \boxed{42}.", 1.0),
        ([CALL, CALL, r"\boxed{41}"], r"\boxed{41}", 0.0),
        ([r"\boxed{42}"], r"\boxed{42}", 1.0),
    ],
)
def test_verls_agent_loop_names_the_last_turn(
    turns: list[str], last: str, reward: float, letters: Any, tmp_path: Path
) -> None:
    output = played(letters, *turns)
    assert output.num_turns == 2 * len(turns)
    assert output.extra_fields["astuner_last_turn"] == last
    # what verl's naive manager makes of it
    said = letters.decode(output.response_ids, skip_special_tokens=True)
    info = {**output.extra_fields, "num_turns": output.num_turns, "raw_prompt": [{"role": "user", "content": "6*7?"}]}
    judge = judge_file(tmp_path, MATH_JUDGE)
    assert compute_score_sync("test", said, "42", info, config=judge)["score"] == reward
    if len(turns) > 1:
        # the tool's box stands in the text: it earned 1.0
        assert r"\boxed{42}" in said
        del info["astuner_last_turn"]
        with pytest.raises(JudgeError, match=f"{2 * len(turns)} turns as one text"):
            compute_score_sync("test", said, "42", info, config=judge)


@pytest.mark.parametrize(
    ("mask", "last"),
    [([1, 1, 1], [1, 2, 3]), ([1, 0, 1], [3]), ([0, 1, 1], [2, 3]), ([1, 1, 0], []), ([0, 0, 0], []), ([1, 1], [1, 2])],
)
def test_an_episode_that_ends_with_a_tool_has_no_answer(mask: list[int], last: list[int]) -> None:
    assert last_turn_ids([1, 2, 3], mask) == last


# -------------------------------------------------------------------------------------------------- JudgeRewardManager

MANAGED = {
    "reward.reward_manager.source": "importlib",
    "reward.reward_manager.name": "JudgeRewardManager",
    "reward.reward_manager.module.path": "pkg://agentscope_tuner.adapters.verl_manager",
    "reward.custom_reward_function.path": "null",
    "data.train_batch_size": "8",
    "actor_rollout_ref.rollout.n": "4",
    "actor_rollout_ref.rollout.val_kwargs.n": "4",
}


def with_uids(data: verl.DataProto, *uids: str) -> verl.DataProto:
    data.non_tensor_batch["uid"] = numpy.array(uids, dtype=object)
    asked = numpy.empty(len(uids), dtype=object)
    asked[:] = [[{"role": "user", "content": "6*7?"}] for _ in uids]
    data.non_tensor_batch["raw_prompt"] = asked
    return data


def test_verls_workers_load_our_manager_and_log_each_group_by_its_uid(tokenizer: Any, tmp_path: Path) -> None:
    settings = {"astuner": {"task_judge": {"judge_protocol": MATH, "log_dir": str(tmp_path / "log")}}}
    with manager(tokenizer, judge_file(tmp_path, settings), **MANAGED) as loop:
        result = loop.compute_rm_score(with_uids(batch(tokenizer, SAID[:3]), "a", "a", "b"))
    assert result.batch["rm_scores"].sum(dim=1).tolist() == [1.0, 0.0, 0.0]
    assert set(result.meta_info["reward_extra_keys"]) == KEYS
    (log,) = (tmp_path / "log").glob("*.jsonl")
    rows = [parse_line(line) for line in dump_lines(str(log))]
    asked = {row.rollout.task.main_query for row in rows if row.rollout is not None}
    assert asked == {"6*7?"}


def test_our_manager_ranks_the_groups_of_a_batch(tokenizer: Any, tmp_path: Path) -> None:
    # the shortest of a group earns the most; the groups come mixed
    said = [SAID[0], SAID[1]] * 2 + [SAID[2], SAID[0]] * 2
    with manager(tokenizer, judge_file(tmp_path, config("Shortest")), **MANAGED) as loop:
        result = loop.compute_rm_score(with_uids(batch(tokenizer, said), *"aabbaabb"))
    scores = result.batch["rm_scores"].sum(dim=1).tolist()
    lengths = {"a": [said[place] for place in (0, 1, 4, 5)], "b": [said[place] for place in (2, 3, 6, 7)]}
    for uid, score, text in zip("aabbaabb", scores, said, strict=True):
        assert score == pytest.approx(sum(len(other) > len(text) for other in lengths[uid]) / 3)


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        ({"actor_rollout_ref.rollout.n": "1"}, "rollout.n is 1"),
        ({"actor_rollout_ref.rollout.val_kwargs.n": "1"}, "val_kwargs.n 1: write the same"),
        ({"data.train_batch_size": "512"}, "2048 samples of a step may wait"),
    ],
)
def test_a_judge_that_ranks_is_refused_where_its_groups_are_not_whole(
    keys: dict[str, str], told: str, tokenizer: Any, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match=told):
        our_manager(tokenizer, judge_file(tmp_path, config("Shortest")), **keys)
    # to one that does not rank they are all the same
    (tmp_path / "other").mkdir()
    our_manager(tokenizer, judge_file(tmp_path / "other", MATH_JUDGE), **keys)


def our_manager(tokenizer: Any, judge: str, **keys: str) -> Any:
    """What verl builds in its reward workers, built here."""
    from verl.trainer.ppo.reward import load_reward_manager

    lines = {
        **MANAGED,
        "reward.num_workers": "1",
        "reward.custom_reward_function.reward_kwargs.config": judge,
        "actor_rollout_ref.model.path": tokenizer.name_or_path,
        **keys,
    }
    with initialize_config_dir(str(CONFIGS), version_base=None):
        return load_reward_manager(compose("verl_math", [f"{key}={value}" for key, value in lines.items()]), tokenizer)


def test_a_sample_does_not_wait_for_ever_for_its_group(tokenizer: Any, tmp_path: Path) -> None:
    key = "+reward.custom_reward_function.reward_kwargs.group_seconds"
    made = our_manager(tokenizer, judge_file(tmp_path, config("Shortest")), **{key: "0.2"})
    data = with_uids(batch(tokenizer, SAID[:2]), "a", "a")

    async def two_of_four() -> list[Any]:
        return await asyncio.gather(
            *(made.run_single(data[place : place + 1]) for place in range(2)), return_exceptions=True
        )

    found = made.loop.run_until_complete(two_of_four())
    assert all("2 of the 4 samples of group 'a' came within 0.2 s" in str(error) for error in found), found


def test_a_whole_group_is_not_late_while_it_is_judged(tokenizer: Any, tmp_path: Path) -> None:
    # "2 of the 2 samples came within 0.3 s": the judge took longer than a sample waits for the others
    key = "+reward.custom_reward_function.reward_kwargs.group_seconds"
    made = our_manager(tokenizer, judge_file(tmp_path, config("Shortest")), **{key: "0"})
    data = with_uids(batch(tokenizer, SAID[:1] * 4), *"aaaa")
    pairs = [made._pair(data[place]) for place in range(4)]

    async def whole() -> list[Any]:
        return await asyncio.gather(*(made._ranked("a", pair) for pair in pairs), return_exceptions=True)

    found = [one if isinstance(one, BaseException) else one[0].status for one in made.loop.run_until_complete(whole())]
    assert found == ["judged"] * 4


@pytest.mark.parametrize(
    ("said", "fact"), [([0] * 4, "all_right"), ([1] * 4, "all_wrong"), ([0, 1, 1, 1], None), ([0, 1], None)]
)
def test_group_facts_say_what_the_group_of_each_sample_teaches(
    said: list[int], fact: str | None, tokenizer: Any, tmp_path: Path
) -> None:
    kwargs = "+reward.custom_reward_function.reward_kwargs"
    made = our_manager(
        tokenizer, judge_file(tmp_path, MATH_JUDGE), **{f"{kwargs}.group_facts": "true", f"{kwargs}.group_seconds": "1"}
    )
    data = with_uids(batch(tokenizer, [SAID[place] for place in said]), *"a" * len(said))

    async def all_rows() -> list[Any]:
        return await asyncio.gather(*(made.run_single(data[place : place + 1]) for place in range(len(said))))

    for found in made.loop.run_until_complete(all_rows()):
        facts = {key.split("/")[-1]: value for key, value in found["reward_extra_info"].items() if "/groups/" in key}
        assert facts == {name: float(name == fact) for name in ("all_right", "all_wrong", "zero_spread", "no_verdict")}


@pytest.mark.parametrize(
    ("turns", "reward"), [([CALL, "I do not know."], 0.0), ([CALL, r"So \boxed{42}."], 1.0), ([r"\boxed{42}"], 1.0)]
)
def test_our_manager_tells_the_last_turn_by_the_chat_template(
    turns: list[str], reward: float, letters: Any, tmp_path: Path
) -> None:
    output = played(letters, *turns)
    # verl's own agent loop would not leave the last turn
    del output.extra_fields["astuner_last_turn"]
    made = our_manager(letters, judge_file(tmp_path, MATH_JUDGE))
    count = len(output.response_ids)
    held = {
        "data_source": "test", "uid": "a", "reward_model": {"ground_truth": "42"}, "extra_info": {},
        "raw_prompt": [{"role": "user", "content": "6*7?"}], "tool_extra_fields": output.extra_fields,
        "__num_turns__": output.num_turns,
    }  # fmt: skip
    columns = {key: numpy.empty(1, dtype=object) for key in held}
    for key, value in held.items():
        columns[key][0] = value
    data = verl.DataProto.from_dict(
        tensors={
            "prompts": torch.zeros(1, 1, dtype=torch.long),
            "responses": torch.tensor([output.response_ids]),
            "attention_mask": torch.ones(1, 1 + count, dtype=torch.long),
        },
        non_tensors=columns,
    )
    assert made.loop.run_until_complete(made.run_single(data))["reward_score"] == reward


def test_samples_that_share_their_row_are_each_judged_by_their_own_last_turn(letters: Any, tmp_path: Path) -> None:
    # verl's naive manager writes each sample's turns into the row that they share, and paid what a tool had said
    said = [letters(text)["input_ids"] for text in (r"I ask. tool: \boxed{42}", r"\boxed{42}")]
    longest = max(map(len, said))
    held = {
        "data_source": ["test"] * 2, "uid": [0, 0], "reward_model": [{"ground_truth": "42"}] * 2,
        "extra_info": [{}] * 2, "__num_turns__": [4, 2], "astuner_last_turn": ["I do not know.", None],
    }  # fmt: skip
    data = verl.DataProto.from_dict(
        tensors={
            "prompts": torch.zeros(2, 1, dtype=torch.long),
            "responses": torch.tensor([ids + [0] * (longest - len(ids)) for ids in said]),
            "attention_mask": torch.tensor([[1] * (1 + len(ids)) + [0] * (longest - len(ids)) for ids in said]),
        },
        non_tensors={key: numpy.array(values, dtype=object) for key, values in held.items()},
    )
    made = our_manager(letters, judge_file(tmp_path, MATH_JUDGE))

    async def at_once() -> list[Any]:
        return await asyncio.gather(*(made.run_single(data[place : place + 1]) for place in range(2)))

    assert [found["reward_score"] for found in made.loop.run_until_complete(at_once())] == [0.0, 1.0]


@pytest.mark.parametrize("name", ["dapo", "gdpo"])
def test_a_manager_that_passes_on_no_prompt_gives_no_question_and_is_told(name: str, tmp_path: Path) -> None:
    judge = judge_file(tmp_path, nobody())
    with pytest.raises(JudgeError, match=r"No question came: .*Put the question into extra_info\.question"):
        verl_worker(judge, [Row("42")], [], **{"reward.reward_manager.name": name})


def test_verls_gdpo_takes_the_parts_of_a_combined_judge_by_name(tmp_path: Path) -> None:
    judge, gdpo = judge_file(tmp_path, parts()), {"reward.reward_manager.name": "gdpo"}
    said = [Row(r"\boxed{42}"), Row(r"\boxed{41}"), Row("no box")]
    beside = [got.beside for got in verl_worker(judge, said, [], **gdpo)]
    keys = ["CombinedJudge/part/right", "CombinedJudge/part/boxed"]
    named = {key: numpy.array([scores[key] for scores in beside]) for key in keys}
    assert [values.tolist() for values in named.values()] == [[1.0, 0.0, 0.0], [1.0, 1.0, 0.0]]
    advantages, _ = compute_gdpo_outcome_advantage(
        torch.zeros(3, 4),
        torch.ones(3, 4),
        numpy.array(["a"] * 3, dtype=object),
        config={"gdpo_reward_keys": keys},
        non_tensor_batch=named,
        batch={"prompts": torch.zeros(3, 2), "attention_mask": torch.ones(3, 6, dtype=torch.long)},
    )
    right, boxed, neither = advantages[:, 0].tolist()
    assert right > boxed > neither


# ------------------------------------------------------------------------------------- a real small model, with a tool

TOOL = '''
from verl.tools.function_tool import function_tool

@function_tool("calculator")
def calculator(expression: str) -> str:
    """Answers what the judge would pay for.

    Args:
        expression: anything
    """
    return r"\\boxed{42}"
'''
CALLS = r"""root ::= "<tool_call>\n{\"name\": \"calculator\", \"arguments\": " arguments "}\n</tool_call>"
arguments ::= "{\"expression\": \"" sum "\"}"
sum ::= [0-9]{1,2} [+*-] [0-9]{1,2}"""
SAYS = "root ::= [^<]+"


class SmallModel:
    """What verl's agent loops ask: SmolLM2 behind llama.cpp's server, whose chat template is that of `letters`."""

    def __init__(self, url: str, tokenizer: Any) -> None:
        self._url, self._tokenizer = url, tokenizer

    async def generate(self, *given: Any, prompt_ids: list[int], **asked: Any) -> TokenOutput:
        text = self._tokenizer.decode(prompt_ids, skip_special_tokens=False)
        # the episodes of one question begin with a call; all end with what the model likes to say
        grammar = CALLS if text.count("<|im_start|>") == 2 and "6*7" in text else SAYS
        wanted = {"prompt": text, "n_predict": 64, "temperature": 1.0, "stop": ["<|im_end|>"], "grammar": grammar}
        async with httpx.AsyncClient(timeout=60) as client:
            said = (await client.post(f"{self._url}/completion", json=wanted)).raise_for_status().json()["content"]
        return TokenOutput(token_ids=self._tokenizer.encode(said + "<|im_end|>", add_special_tokens=False))


@pytest.fixture(scope="module")
def small_model() -> Iterator[str]:
    command = [sys.executable, "-m", "agentscope_tuner", "llm", "serve", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        assert server.stdout is not None
        yield server.stdout.readline().split(" at ")[1].strip().removesuffix("/v1")
        server.terminate()


def test_a_real_models_episodes_reach_the_judge_as_they_are(letters: Any, small_model: str, tmp_path: Path) -> None:
    """verl's agent loop manager and reward loop, each in its Ray actors: questions, answers, turns and groups."""
    (tmp_path / "tools.py").write_text(TOOL, encoding="utf-8")
    loops = [{"name": "tool_agent", "_target_": "agentscope_tuner.adapters.verl_agent.LastTurnToolAgentLoop"}]
    OmegaConf.save(OmegaConf.create(loops), tmp_path / "agents.yaml")
    (Path(letters.name_or_path) / "config.json").write_text('{"model_type": "llama", "architectures": ["Llama"]}')
    settings = {"astuner": {"task_judge": {"judge_protocol": MATH, "log_dir": str(tmp_path / "log")}}}
    rollout = {
        "multi_turn.enable": True, "multi_turn.function_tool_path": tmp_path / "tools.py",
        "agent.agent_loop_config_path": tmp_path / "agents.yaml", "agent.default_agent_loop": "tool_agent",
        "agent.num_workers": 2, "prompt_length": 256, "response_length": 512,
    }  # fmt: skip
    lines = {**MANAGED, **{f"actor_rollout_ref.rollout.{key}": str(value) for key, value in rollout.items()}}
    asked = ["What is 6*7? Box it.", "How many legs have two dogs? Box it."]
    held = {
        "raw_prompt": [[{"role": "user", "content": question}] for question in asked for _ in range(4)],
        "data_source": ["test"] * 8, "uid": [uid for uid in "ab" for _ in range(4)], "extra_info": [{}] * 8,
        "reward_model": [{"style": "rule", "ground_truth": truth} for truth in ("42", "8") for _ in range(4)],
    }  # fmt: skip
    columns = {key: numpy.empty(8, dtype=object) for key in held}
    for key, values in held.items():
        columns[key][:] = values
    with manager(letters, judge_file(tmp_path, settings), **lines) as loop:
        workers = AgentLoopManager.create(
            config=loop.config,
            llm_client=SmallModel(small_model, letters),
            reward_loop_worker_handles=loop.reward_loop_workers,
        )
        found = workers.generate_sequences(verl.DataProto.from_dict(tensors={}, non_tensors=columns))
    rewards = found.batch["rm_scores"].sum(dim=1).tolist()
    turns = found.non_tensor_batch["__num_turns__"].tolist()
    assert turns == [4] * 4 + [2] * 4
    rows = [parse_line(line).rollout for file in (tmp_path / "log").glob("*.jsonl") for line in dump_lines(str(file))]
    seen = Counter((row.task.task_id, row.task.main_query, row.output.metadata["final_answer"]) for row in rows if row)
    # the rollout as verl has it, of which the judge was sent what is counted here
    said = zip(found.batch["responses"], found.batch["response_mask"], found.batch["attention_mask"], strict=True)
    last = [
        letters.decode(last_turn_ids(ids[:size], mask[:size]), skip_special_tokens=True)
        for ids, mask, size in ((ids.tolist(), mask.tolist(), int(whole[256:].sum())) for ids, mask, whole in said)
    ]
    expected = Counter(zip("aaaabbbb", (asked[place // 4] for place in range(8)), last, strict=True))
    # the last verdicts are logged a moment later
    assert seen
    assert not seen - expected
    judge = ConfiguredJudge("configs/math.yaml")
    pairs = [as_rollout(question, said, {"answer": "42" if uid == "a" else "8"}) for (uid, question, said) in expected]
    paid = {
        key: judge.reward_or_raise(verdict) for key, verdict in zip(expected, judge.judge_batch(pairs), strict=True)
    }
    assert sorted(rewards) == sorted(paid[key] for key in expected.elements())
