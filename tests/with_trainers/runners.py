"""One function a trainer: rows through its own reward code under a judge, and what reached it.

Each returns a `Got` for each row, or raises what the trainer would see. A trainer is imported where it is asked: each
environment has another.
"""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import itertools
import json
import math
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Row:
    """A prompt and what the policy wrote; with `tool`, a tool's text stands before it in the same episode."""

    said: str
    question: str = "6*7?"
    truth: object = "42"
    tool: str = ""

    @property
    def prompt(self) -> list[dict[str, str]]:
        return [{"role": "system", "content": "Be brief."}, {"role": "user", "content": self.question}]

    @property
    def asked(self) -> str:
        """The prompt as one text, as a trainer makes it with the tokenizer's chat template."""
        return str(letters().apply_chat_template(self.prompt, tokenize=False, add_generation_prompt=True))

    @property
    def turns(self) -> list[dict[str, str]]:
        last = {"role": "assistant", "content": self.said}
        if not self.tool:
            return [last]
        return [{"role": "assistant", "content": "I ask."}, {"role": "tool", "content": self.tool}, last]

    @property
    def text(self) -> str:
        """All turns as one text, as a trainer decodes them with a chat template's tokens."""
        if not self.tool:
            return self.said
        return f"I ask.<|im_end|>\n<|im_start|>tool\n{self.tool}<|im_end|>\n<|im_start|>assistant\n{self.said}"


@dataclass(frozen=True)
class Got:
    """What reached the trainer for one row: a number, numbers by name, or None where it left the row out; what it logs
    beside; and whether each turn got its own."""

    reward: object
    beside: Mapping[str, object] = field(default_factory=dict)
    turns: bool = False


Answer = list[Got]


def brevity(completions: Sequence[Any], **named: Any) -> list[float]:
    """A second reward."""
    return [0.5 for _ in completions]


def trl_trainer(functions: Any, rows: Sequence[Row]) -> Answer:
    import trl
    from datasets import Dataset

    from tutorial.example_math_agent.train_trl import draw
    from tutorial.tiny_policy import new_policy

    model, tokenizer = new_policy("0123456789+=", draw, seed=0, warm_up_steps=1)
    arguments = trl.GRPOConfig(
        output_dir=tempfile.mkdtemp(), use_cpu=True, bf16=False, report_to="none", num_generations=4,
        per_device_train_batch_size=4,
    )  # fmt: skip
    data = Dataset.from_list([{"prompt": "6*7?"}] * 4)
    trainer = trl.GRPOTrainer(
        model=model, reward_funcs=functions, args=arguments, processing_class=tokenizer, train_dataset=data
    )
    # as a rollout_func adds what it found out of each completion
    inputs = [{"prompt": row.prompt, "answer": row.truth, "steps": place} for place, row in enumerate(rows)]
    prompts, said = [row.prompt for row in rows], [row.turns for row in rows]
    found = trainer._calculate_rewards(inputs, prompts, said, [[1] for _ in rows])
    logged = {**trainer._pending_metrics, **trainer._pending_extra_logs}
    # as its own advantages: a completion that no function scored is left out, any other is summed by nansum
    missing = found.isnan().all(dim=1).tolist()
    sums = found.nansum(dim=1).tolist()
    return [Got(None if gone else total, logged) for gone, total in zip(missing, sums, strict=True)]


def trl(config: str, rows: Sequence[Row], beside: bool) -> Answer:
    from agentscope_tuner.adapters.trl import reward_func

    return trl_trainer([reward_func(config), brevity] if beside else [reward_func(config)], rows)


def trl_combined(config: str, rows: Sequence[Row], beside: bool) -> Answer:
    from agentscope_tuner.adapters.trl import combined

    return trl_trainer([combined([config, brevity] if beside else [config])], rows)


@cache
def letters() -> Any:
    """A tokenizer of bytes, saved where verl finds it."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    model = Tokenizer(models.BPE(vocab={letter: place for place, letter in enumerate(alphabet)}, merges=[]))
    model.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    model.decoder = decoders.ByteLevel()
    fast = PreTrainedTokenizerFast(tokenizer_object=model, eos_token="<|im_end|>", pad_token="<|im_end|>")
    fast.add_special_tokens({"additional_special_tokens": ["<|im_start|>"]})
    fast.chat_template = (
        "{% for turn in messages %}<|im_start|>{{ turn.role }}\n{{ turn.content }}<|im_end|>\n{% endfor %}"
        "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
    )
    fast.name_or_path = tempfile.mkdtemp()
    fast.save_pretrained(fast.name_or_path)
    return fast


def verl_worker(config: str, rows: Sequence[Row], extra: Sequence[str], **keys: object) -> Answer:
    """verl's RewardLoopWorker, which its Ray actors are, with one sample a call, as its agent loop asks it."""
    import numpy
    import torch
    from hydra import compose, initialize_config_dir
    from verl import DataProto
    from verl.experimental.reward_loop.reward_loop import RewardLoopWorker

    tokenizer = letters()
    lines = {
        "reward.custom_reward_function.reward_kwargs.config": config,
        "actor_rollout_ref.model.path": tokenizer.name_or_path,
        **keys,
    }
    with initialize_config_dir(str(ROOT / "configs"), version_base=None):
        worker = RewardLoopWorker(compose("verl_math", [f"{key}={value}" for key, value in lines.items()]))

    def sample(place: int, row: Row) -> Any:
        ids = torch.tensor([tokenizer(row.text, add_special_tokens=False)["input_ids"] or [0]])
        own = {"turn_scores": [place], "tool_rewards": [], "raw_prompt": row.prompt, **dict.fromkeys(extra, row.said)}
        columns: dict[str, Any] = {
            "data_source": "test", "uid": row.question, "reward_model": {"style": "rule", "ground_truth": row.truth},
            "extra_info": {"split": "train"}, "raw_prompt": row.prompt, "tool_extra_fields": own,
            "__num_turns__": len(row.turns) + 1,
        }  # fmt: skip
        tensors = {
            "prompts": torch.zeros(1, 1, dtype=torch.long),
            "responses": ids,
            "attention_mask": torch.ones(1, 1 + ids.shape[1], dtype=torch.long),
        }
        held = {}
        for key, value in columns.items():
            held[key] = numpy.empty(1, dtype=object)
            held[key][0] = value
        return DataProto.from_dict(tensors=tensors, non_tensors=held)

    async def all_rows() -> list[dict[str, Any]]:
        samples = [sample(place, row) for place, row in enumerate(rows)]
        return list(await asyncio.gather(*(worker.compute_score(one) for one in samples)))

    found = worker.loop.run_until_complete(all_rows())
    rewards = [(one["reward_score"], one["reward_extra_info"]) for one in found]
    return [Got(None if math.isnan(reward) else reward, extra) for reward, extra in rewards]


def verl(config: str, rows: Sequence[Row], beside: bool) -> Answer:
    # as adapters.verl_agent leaves it
    return verl_worker(config, rows, ["astuner_last_turn"])


def verl_manager(config: str, rows: Sequence[Row], beside: bool) -> Answer:
    keys = {
        "reward.reward_manager.source": "importlib",
        "reward.reward_manager.name": "JudgeRewardManager",
        "reward.reward_manager.module.path": "pkg://agentscope_tuner.adapters.verl_manager",
        "reward.custom_reward_function.path": "null",
        "reward.num_workers": 1,
        "data.train_batch_size": 8,
        "actor_rollout_ref.rollout.n": 4,
        "actor_rollout_ref.rollout.val_kwargs.n": 4,
    }
    return verl_worker(config, rows, [], **keys)


def ms_swift(config: str, rows: Sequence[Row], beside: bool) -> Answer:
    import torch
    from swift.rl_core.data import GRPOSample
    from swift.rl_core.grpo_algorithm import compute_rewards_per_func

    from agentscope_tuner.adapters import ms_swift as adapter

    samples = [
        GRPOSample(messages=[*row.prompt, *row.turns], prompt_id=row.question, extra={"solution": row.truth})
        for row in rows
    ]
    functions = [adapter.orm(config)(args=SimpleNamespace(num_generations=4)), *([brevity] if beside else [])]
    found = compute_rewards_per_func(samples, functions, [None] * len(functions), torch.device("cpu"))
    return [Got(value) for value in found.nansum(dim=1).tolist()]


def without_engines(module: str) -> Any:
    """A module of a package that imports its engines at the top, where what calls rewards needs none of them."""
    name = module.partition(".")[0]
    if name not in sys.modules:
        found = importlib.util.find_spec(name)
        assert found is not None
        package = ModuleType(name)
        package.__path__ = list(found.submodule_search_locations or ())
        sys.modules[name] = package
    return importlib.import_module(module)


def areal(config: str, rows: Sequence[Row], beside: bool) -> Answer:
    from agentscope_tuner.adapters import areal as adapter

    api = without_engines("areal.api.reward_api")
    # its own limit, after which it answers 0, is 15 s: a new process takes longer on a busy machine
    wrapper = api.AsyncRewardWrapper(adapter.reward_fn(config), max_workers=1, max_retries=0, timeout_seconds=120)

    def ask(row: Row) -> Any:
        # as its RLVRWorkflow does with a row of `messages` and `answer`
        return asyncio.run(wrapper(row.asked, row.text, [1], [2], messages=row.prompt, answer=row.truth))

    return [Got(ask(row)) for row in rows]


def samples_of(rows: Sequence[Row]) -> list[Any]:
    """Samples of miles' own Dataset, under --apply-chat-template."""
    from miles.utils.data import Dataset

    path = Path(tempfile.mkdtemp()) / "rows.jsonl"
    path.write_text("\n".join(json.dumps({"messages": row.prompt, "answer": row.truth}) for row in rows))
    keys = {"prompt_key": "messages", "label_key": "answer", "apply_chat_template": True}
    samples = Dataset(str(path), letters(), None, None, **keys).samples
    asked = [row.question for row in rows]
    for sample, row in zip(samples, rows, strict=True):
        sample.group_index, sample.response = asked.index(row.question), row.text
    return list(samples)


def miles_rewards(function: Any, samples: list[Any]) -> list[Any]:
    from miles.rollout.rm_hub import batched_async_rm

    name = f"astuner_rm_{id(function)}"
    module = ModuleType(name)
    module.reward = function  # type: ignore[attr-defined]
    sys.modules[name] = module
    arguments = SimpleNamespace(custom_rm_path=f"{name}.reward", rm_type=None)
    return list(asyncio.run(batched_async_rm(arguments, samples)))


def miles(config: str, rows: Sequence[Row], beside: bool) -> Answer:
    from agentscope_tuner.adapters import slime

    samples = samples_of(rows)
    rewards = miles_rewards(slime.custom_rm(config), samples)
    return [
        Got(reward, sample.metadata["judgement"]["metrics"]) for reward, sample in zip(rewards, samples, strict=True)
    ]


def miles_leaves(config: str, rows: Sequence[Row], beside: bool) -> Answer:
    from agentscope_tuner.adapters import slime

    samples = samples_of(rows)
    # a batch that counts towards a stop has 64 rows
    judged = slime.custom_rm(config, on_failed="leave")
    for sample, reward in zip(samples, miles_rewards(judged, samples), strict=True):
        sample.reward = reward
    args = SimpleNamespace(
        advantage_estimator="grpo", rewards_normalization=False, grpo_std_normalization=False, n_samples_per_prompt=4,
        reward_key=None,
    )  # fmt: skip
    shown, _ = slime.mask_unjudged(args, samples)
    return [
        Got(None if sample.remove_sample else reward, sample.metadata["judgement"]["metrics"])
        for sample, reward in zip(samples, shown, strict=True)
    ]


def verifiers_01(config: str, rows: Sequence[Row], beside: bool) -> Answer:
    import verifiers as vf
    from datasets import Dataset

    from agentscope_tuner.adapters.verifiers import judge_rubric

    async def second(completion: Any, **named: Any) -> float:
        return 0.5

    rubric = judge_rubric(config)
    if beside:
        rubric.add_reward_func(second)
    # which adds a rubric of its own, and asks what it then has
    environment = vf.SingleTurnEnv(dataset=Dataset.from_list([{"question": "6*7?", "answer": "42"}]), rubric=rubric)
    states: list[dict[str, Any]] = [
        {"prompt": row.prompt, "completion": row.turns, "answer": row.truth, "info": {}, "error": None,
         "trajectory": [{"advantage": None, "reward": None} for _ in range(3)]}
        for row in rows
    ]  # fmt: skip
    asyncio.run(environment.rubric.score_group(states))
    found = []
    for state in states:
        left_out = state["error"] is not None and state["advantage"] == 0.0
        steps = {step["reward"] for step in state["trajectory"]}
        assert not left_out or steps == {None}
        found.append(Got(None if left_out else state["reward"], state["metrics"], len(steps) > 1))
    return found


def snippet(heading: str, config: str) -> dict[str, Any]:
    """What the guide's code under `heading` defines, with `config` for the YAML it names."""
    import re

    pages = sorted((ROOT / "docs" / "trainers").glob("*.md"))
    guide = "\n".join(page.read_text(encoding="utf-8") for page in pages if not page.name.endswith(".zh.md"))
    code = re.search(rf"^##? {heading}\n.*?```python\n(.*?)```", guide, re.DOTALL | re.MULTILINE)
    assert code is not None, heading
    names: dict[str, Any] = {"__name__": "snippet"}
    exec(code[1].replace("configs/math.yaml", config), names)  # noqa: S102, the guide is ours
    return names


def tinker_cookbook(config: str, rows: Sequence[Row], beside: bool) -> Answer:
    def renderer(said: str) -> Any:
        ended = SimpleNamespace(is_stop_sequence=True, is_clean=True)
        reply = {"role": "assistant", "content": said}
        return SimpleNamespace(parse_response=lambda action: (reply, ended), get_stop_sequences=lambda: ["</s>"])

    env = snippet("tinker-cookbook", config)["JudgedEnv"]
    steps = [asyncio.run(env(renderer(row.text), row.question, row.truth).step([1, 2])) for row in rows]
    return [Got(step.reward, step.metrics) for step in steps]


def stand_ins() -> None:
    """The types of trainers that are not on PyPI, as they document them."""
    path = str(ROOT / "tests" / "stand_ins")
    if path not in sys.path:
        sys.path.insert(0, path)


def nemo_rl(config: str, rows: Sequence[Row], beside: bool) -> Answer:
    stand_ins()
    from agentscope_tuner.adapters.nemo_rl import JudgeEnvironmentInPlace
    from agentscope_tuner.task_judge.batch import judge_for

    named = bool(judge_for(config).component_names)
    environment = JudgeEnvironmentInPlace({"config": config, "named_rewards": named})
    # its math_hf_data_processor makes one message of the prompt, with the chat template around it
    logs = [[{"role": "user", "content": row.asked}, *row.turns] for row in rows]
    step = environment.step(logs, [{"ground_truth": row.truth} for row in rows])
    if named:
        return [
            Got({name: found.tolist()[place] for name, found in step.rewards.items()}) for place in range(len(rows))
        ]
    return [Got(reward) for reward in step.rewards.tolist()]


def rllm(config: str, rows: Sequence[Row], beside: bool) -> Answer:
    stand_ins()
    from agentscope_tuner.adapters.rllm import JudgeEvaluator

    evaluator = JudgeEvaluator(config)
    found = []
    for row in rows:
        steps = [SimpleNamespace(output=said, reward=None) for said in ("I ask.", "I see.", row.said)]
        episode = SimpleNamespace(artifacts={}, trajectories=[SimpleNamespace(output=row.said, steps=steps)])
        task = SimpleNamespace(id="t", instruction=row.question, metadata={"answer": row.truth})
        answer = evaluator.evaluate(task, episode)
        signals = {signal.name: signal.value for signal in answer.signals}
        found.append(Got(answer.reward, signals, all(step.reward is not None for step in steps)))
    return found


def open_instruct(config: str, rows: Sequence[Row], beside: bool) -> Answer:
    stand_ins()
    from agentscope_tuner.adapters.open_instruct import verifier

    judged = verifier("judged", config)()
    # as its rlvr_tokenize writes the prompt
    asked = ["\n".join(f"{turn['role']}: {turn['content']}" for turn in row.prompt) for row in rows]
    return [Got(judged([1], row.text, row.truth, query).score) for row, query in zip(rows, asked, strict=True)]


def openrlhf(config: str, rows: Sequence[Row], beside: bool) -> Answer:
    """Its executor of one turn, its reading of what that answers, and the batch that its trainer makes of it."""
    import torch

    for name, attribute in (("vllm", "SamplingParams"), ("vllm.inputs", "TokensPrompt"), ("vllm.utils", "random_uuid")):
        setattr(sys.modules.setdefault(name, ModuleType(name)), attribute, object)
    from openrlhf.datasets.prompts_dataset import preprocess_data
    from openrlhf.trainer.ppo_utils import samples_generator
    from openrlhf.utils.agent import SingleTurnAgentExecutor

    folder = Path(tempfile.mkdtemp())
    (folder / "my_reward.py").write_text(
        f"from agentscope_tuner.adapters.openrlhf import reward_file\nreward_func = reward_file({config!r})\n",
        encoding="utf-8",
    )
    tokenizer, executor = letters(), SingleTurnAgentExecutor([str(folder / "my_reward.py")])

    def engine(row: Row) -> Any:
        async def generate(*asked: Any, **named: Any) -> Any:
            ids = tokenizer(row.text, add_special_tokens=False)["input_ids"] + [tokenizer.eos_token_id]
            out = SimpleNamespace(token_ids=ids, text=row.text, finish_reason="stop", logprobs=None)
            return SimpleNamespace(outputs=[out])

        return SimpleNamespace(generate=generate)

    async def all_rows() -> list[dict[str, Any]]:
        params = SimpleNamespace(max_tokens=64, logprobs=None)
        runs = (executor.execute(asked(row), row.truth, params, 10_000, tokenizer, engine(row)) for row in rows)
        return list(await asyncio.gather(*runs))

    def asked(row: Row) -> str:
        given = {"input": row.prompt, "label": row.truth}
        return str(preprocess_data(given, label_key="label", apply_chat_template=tokenizer.apply_chat_template)[0])

    reads = next(v for v in vars(samples_generator).values() if hasattr(v, "_process_response_into_experience"))
    outputs = asyncio.run(all_rows())
    read = [reads._process_response_into_experience(SimpleNamespace(), output, max_len=10_000) for output in outputs]
    rewards = torch.cat([one.rewards for one in read])
    return [Got(reward, one.info) for reward, one in zip(rewards.tolist(), read, strict=True)]


def openrlhf_agent(config: str, rows: Sequence[Row], beside: bool) -> Answer:
    from openrlhf.utils.agent import MultiTurnAgentExecutor

    from agentscope_tuner.adapters.openrlhf_agent import judged_agent

    tokenizer = letters()

    def played(row: Row) -> Any:
        said = [turn["content"] for turn in row.turns if turn["role"] == "assistant"]
        texts = iter(said)

        class Asks(judged_agent(config)):  # type: ignore[misc]
            async def feedback(self, states: dict[str, Any]) -> str | None:
                return row.tool if row.tool and states["action_text"] != said[-1] else None

        async def generate(*asked: Any, **named: Any) -> Any:
            text = next(texts)
            ids = tokenizer(text, add_special_tokens=False)["input_ids"] + [tokenizer.eos_token_id]
            out = SimpleNamespace(token_ids=ids, text=text, finish_reason="stop", logprobs=None)
            return SimpleNamespace(outputs=[out])

        params, engine = SimpleNamespace(max_tokens=64, logprobs=None), SimpleNamespace(generate=generate)
        executor = MultiTurnAgentExecutor(Asks)
        return asyncio.run(executor.execute(row.asked, row.truth, params, 10_000, tokenizer, engine))

    found = [played(row) for row in rows]
    return [Got(one["reward"], one["extra_logs"]) for one in found]


def trinity(config: str, rows: Sequence[Row], beside: bool) -> Answer:
    from trinity.buffer.schema.formatter import TaskFormatter
    from trinity.common.config import FormatConfig, StorageConfig
    from trinity.common.experience import Experience

    storage = StorageConfig(
        name="test",
        default_workflow_type="agentscope_tuner.adapters.trinity.JudgedWorkflow",
        default_reward_fn_type="agentscope_tuner.adapters.trinity.AstunerReward",
        reward_fn_args={"config": config},
        format=FormatConfig(prompt_key="question", response_key="answer"),
    )

    def run(answers: list[Row]) -> list[Any]:
        made = TaskFormatter(storage).format({"question": answers[0].question, "answer": answers[0].truth})
        said = [Experience(tokens=[0, 1], prompt_length=1, response_text=row.text) for row in answers]

        async def chat(messages: Any, **options: Any) -> list[Any]:
            return said

        workflow = made.to_workflow(SimpleNamespace(chat_async=chat))
        workflow.set_repeat_times(len(said), 0)
        return list(asyncio.run(workflow.run_async()))

    groups = [list(group) for _, group in itertools.groupby(rows, key=lambda row: row.question)]
    return [Got(found.reward, found.metrics) for group in groups for found in run(group)]


def agentscope1(config: str, rows: Sequence[Row], beside: bool) -> Answer:
    from agentscope.message import Msg
    from agentscope.tuner import check_judge_function

    from agentscope_tuner.adapters.agentscope import judge_func

    judge = judge_func(config)
    check_judge_function(judge)
    tasks = [{"question": row.question, "answer": row.truth} for row in rows]
    said = [Msg("agent", row.said, "assistant") for row in rows]

    async def one(task: dict[str, Any], response: Any) -> Got:
        found: Any = await judge(task=task, response=response)
        return Got(found.reward, found.metrics)

    return [asyncio.run(one(task, response)) for task, response in zip(tasks, said, strict=True)]


def nemo_gym(config: str, rows: Sequence[Row], beside: bool) -> Answer:
    from nemo_gym.base_resources_server import BaseVerifyResponse
    from nemo_gym.openai_utils import NeMoGymResponse

    from agentscope_tuner.adapters.nemo_gym import decode_request, encode_response
    from agentscope_tuner.task_judge.batch import judge_for

    judge, found = judge_for(config), []
    for row in rows:
        said = [
            {"type": "message", "role": "assistant", "status": "completed", "id": f"m{place}",
             "content": [{"type": "output_text", "text": turn["content"], "annotations": []}]}
            if turn["role"] == "assistant"
            else {"type": "function_call_output", "call_id": "c1", "output": turn["content"]}
            for place, turn in enumerate(row.turns)
        ]  # fmt: skip
        response = NeMoGymResponse.model_validate(
            {"id": "r1", "created_at": 0.0, "model": "policy", "object": "response", "output": said,
             "parallel_tool_calls": False, "tool_choice": "auto", "tools": []}
        )  # fmt: skip
        payload = {
            "responses_create_params": {"input": row.prompt},
            "response": json.loads(response.model_dump_json()),
            "expected_answer": row.truth,
        }
        sent = encode_response(payload, judge, judge.judge(*decode_request(payload)))
        read = BaseVerifyResponse.model_validate(sent)
        parts = sent.get("reward_components")
        found.append(Got(None if read.mask_sample else parts or read.reward, sent))
    return found


def skyrl_gym(config: str, rows: Sequence[Row], beside: bool) -> Answer:
    import skyrl_gym

    skyrl_gym.envs.registration.registry.pop("judged", None)
    snippet("SkyRL-gym", config)
    found: Answer = []
    for row in rows:
        env = skyrl_gym.make("judged", extras={"reward_spec": {"ground_truth": row.truth}})
        env.init(row.prompt)
        step = env.step(row.text)
        found.append(Got(step["reward"], env.get_metrics()))
    return found


def open_env(config: str, rows: Sequence[Row], beside: bool) -> Answer:
    from openenv.core.env_server.types import Action, Observation

    found: Answer = []
    for row in rows:
        names = snippet("OpenEnv", config)
        told = {"question": row.question, "answer": row.truth, "step_count": len(found)}
        seen = Observation(done=True, metadata=told)
        reward = names["rubric"](Action(metadata={"answer": row.text}), seen)
        found.append(Got(reward, names["rubric"].metrics))
    return found


def verifiers_04(config: str, rows: Sequence[Row], beside: bool) -> Answer:
    import verifiers.v1 as vf

    names = snippet("verifiers", config)
    found = []
    for row in rows:
        rewards: dict[str, Any] = {}

        def record(name: str, score: float, weight: float, into: dict[str, Any] = rewards) -> None:
            into[name] = vf.trace.Reward(score=score, weight=weight)

        logged: dict[str, float] = {}
        trace = SimpleNamespace(
            last_reply=row.said, rewards=rewards, metrics={}, record_reward=record, record_metrics=logged.update
        )
        asyncio.run(names["MathTask"](names["MathData"](prompt=row.prompt, answer=row.truth or "")).score(trace))
        found.append(Got(rewards["judged"].value, logged))
    return found


def of_agentjet(module: str) -> Any:
    """A module of the installed AgentJet, without the package around it, which imports vLLM."""
    from importlib.metadata import files
    from importlib.util import module_from_spec, spec_from_file_location

    found = next(file for file in files("agentjet") or () if str(file) == f"ajet/{module}.py")
    spec = spec_from_file_location(module.replace("/", "_"), found.locate())
    assert spec is not None
    assert spec.loader is not None
    loaded = module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def agentjet(config: str, rows: Sequence[Row], beside: bool) -> Answer:
    from omegaconf import OmegaConf

    schema = of_agentjet("schema/task")
    loads = of_agentjet("utils/dynamic_import").dynamic_import
    judge = loads("agentscope_tuner.adapters.agentjet->AstunerJudge")(OmegaConf.load(config))
    found: Answer = []
    for row in rows:
        # as its reader of an environment's tasks and its resource keeper leave it
        inner = schema.Task(
            main_query="[not defined]", init_messages=row.prompt, task_id=row.question, metadata={"answer": row.truth}
        )
        output = schema.WorkflowOutput(metadata={"final_answer": row.said})
        reward, _ = judge.compute_reward(
            schema.WorkflowTask(task_id=row.question, episode_uuid=f"e{len(found)}", task=inner), output
        )
        found.append(Got(reward))
    return found


def art(config: str, rows: Sequence[Row], beside: bool) -> Answer:
    from openai.types.chat.chat_completion import Choice

    from agentscope_tuner.adapters.art import judged_by

    trajectories, gather = without_engines("art.trajectories"), without_engines("art.gather")
    judged = judged_by(config)

    def kept(turn: Mapping[str, str]) -> Any:
        # what the policy wrote stands as a choice, with its log-probabilities, among messages
        if turn["role"] == "assistant":
            return Choice.model_validate({"finish_reason": "stop", "index": 0, "message": turn})
        return {**turn, "tool_call_id": "call"}

    async def rollout(place: int, row: Row) -> Any:
        history = [*row.prompt, *map(kept, row.turns)]
        episode = trajectories.Trajectory(messages_and_choices=history, metadata={"place": place})
        return await judged(episode, {"answer": row.truth})

    async def gathered() -> list[Any]:
        group = trajectories.TrajectoryGroup(rollout(place, row) for place, row in enumerate(rows))
        (found,) = await gather.gather_trajectory_groups([group], pbar_desc=None)
        # in the order in which they ended
        return sorted(found.trajectories, key=lambda episode: int(episode.metadata["place"]))

    return [Got(episode.reward, episode.metrics) for episode in asyncio.run(gathered())]


@dataclass(frozen=True)
class Runner:
    """A trainer of the matrix.

    Attributes:
        environment: the key of noxfile's ENVIRONMENTS that it is installed in.
        package: what its version is asked of; empty for one that is not on PyPI, which runs on the types it documents.
        runs: what of the trainer runs in its row, and what the test does in its place, in English and Chinese.
        ask: rows under a judge's YAML, and whether another reward stands beside.
        several: whether it takes several reward functions.
        swallows: the trainer's own words where it logs an error and then fails on what is missing.
    """

    environment: str
    package: str
    runs: tuple[str, str]
    ask: Callable[[str, Sequence[Row], bool], Answer]
    several: bool = False
    swallows: str = "the judge's own words"


_STOOD_IN = (
    "the types that it documents, written by us; the test calls the adapter",
    "按其文档写的类型；由测试调用适配器",
)
_AS_ABOVE = ("as above", "同上")

RUNNERS = {
    "TRL": Runner(
        "trl",
        "trl",
        (
            "`GRPOTrainer._calculate_rewards`; the test sums the functions as its advantages do",
            "`GRPOTrainer._calculate_rewards`；测试像优势计算那样对各函数求和",
        ),
        trl,
        several=True,
    ),
    "TRL, `combined`": Runner("trl", "trl", _AS_ABOVE, trl_combined, several=True),
    "verl, `compute_score`": Runner(
        "verl",
        "verl",
        (
            "its configuration and `RewardLoopWorker` with the manager `naive`, outside Ray, a sample a call",
            "它的配置和 `RewardLoopWorker`，用 `naive`，不经 Ray，每次一条样本",
        ),
        verl,
    ),
    "verl, `JudgeRewardManager`": Runner(
        "verl", "verl", ("the same, with our manager", "同上，用我们的 manager"), verl_manager
    ),
    "OpenRLHF, reward file": Runner(
        "more",
        "openrlhf",
        (
            "`SingleTurnAgentExecutor`, and how its trainer reads the answer; the engine is a stand-in",
            "`SingleTurnAgentExecutor`，以及训练器读取结果的代码；推理引擎是替身",
        ),
        openrlhf,
        swallows="expected Tensor as element",
    ),
    "OpenRLHF, agent": Runner(
        "more",
        "openrlhf",
        ("`MultiTurnAgentExecutor`; the engine is a stand-in", "`MultiTurnAgentExecutor`；推理引擎是替身"),
        openrlhf_agent,
    ),
    "Trinity-RFT": Runner(
        "trinity",
        "trinity-rft",
        (
            "`TaskFormatter`, and our workflow, which is an `AsyncSimpleWorkflow`; the model is a stand-in",
            "`TaskFormatter`，以及我们的工作流（`AsyncSimpleWorkflow` 的子类）；模型是替身",
        ),
        trinity,
    ),
    "agentscope.tuner": Runner(
        "agentscope1",
        "agentscope",
        (
            "`check_judge_function`, `Msg` and `JudgeOutput`; the test calls the function, as the tuner would",
            "`check_judge_function`、`Msg` 和 `JudgeOutput`；由测试代替 tuner 调用函数",
        ),
        agentscope1,
    ),
    "AgentJet": Runner(
        "envs",
        "agentjet",
        (
            "its schema, and its import of judges; the test calls the judge, as its trainer would",
            "它的数据结构和对评测器的导入；由测试代替训练器调用评测器",
        ),
        agentjet,
    ),
    "NeMo-Gym": Runner(
        "nemogym",
        "nemo-gym",
        (
            "its classes of requests and responses, which the test passes on without a server",
            "它的请求类和响应类；由测试传递，不经服务器",
        ),
        nemo_gym,
    ),
    "NeMo RL": Runner("more", "", _STOOD_IN, nemo_rl),
    "miles (slime)": Runner(
        "more", "miles-rl", ("`Dataset` and `batched_async_rm`", "`Dataset` 和 `batched_async_rm`"), miles
    ),
    "miles (slime), `leave`": Runner(
        "more",
        "miles-rl",
        ("the same; the test calls `mask_unjudged` behind it", "同上；其后由测试调用 `mask_unjudged`"),
        miles_leaves,
        swallows="no sample of this rollout has a verdict",
    ),
    "ms-swift": Runner(
        "more",
        "ms-swift",
        (
            "`compute_rewards_per_func`; the test sums the functions by `nansum`, as ms-swift does",
            "`compute_rewards_per_func`；测试像 ms-swift 那样用 `nansum` 求和",
        ),
        ms_swift,
        several=True,
    ),
    "AReaL": Runner(
        "more",
        "areal",
        (
            "`AsyncRewardWrapper` and its pool of processes, with one try and a limit of 120 s",
            "`AsyncRewardWrapper` 及其进程池，只试一次，限时 120 秒",
        ),
        areal,
    ),
    "rLLM": Runner("more", "", _STOOD_IN, rllm),
    "open-instruct": Runner("more", "", _STOOD_IN, open_instruct),
    "tinker-cookbook": Runner(
        "more",
        "tinker-cookbook",
        ("`ProblemEnv.step`; the renderer is a stand-in", "`ProblemEnv.step`；renderer 是替身"),
        tinker_cookbook,
    ),
    "ART": Runner(
        "art",
        "openpipe-art",
        (
            "`Trajectory`, `TrajectoryGroup` and `gather_trajectory_groups`",
            "`Trajectory`、`TrajectoryGroup` 和 `gather_trajectory_groups`",
        ),
        art,
    ),
    "SkyRL-gym": Runner("envs", "skyrl-gym", ("`make`, `init` and `step`", "`make`、`init` 和 `step`"), skyrl_gym),
    "OpenEnv": Runner(
        "envs",
        "openenv-core",
        ("`Rubric`, `Action` and `Observation`; no environment", "`Rubric`、`Action` 和 `Observation`；没有环境"),
        open_env,
    ),
    "verifiers": Runner(
        "envs", "verifiers", ("`Task.score`; the trace is a stand-in", "`Task.score`；trace 是替身"), verifiers_04
    ),
    "verifiers 0.1": Runner(
        "more",
        "verifiers",
        (
            "`SingleTurnEnv` and the rubrics that it scores a group by; the test writes the rollouts",
            "`SingleTurnEnv` 和它给一组打分用的 rubric；轨迹由测试写出",
        ),
        verifiers_01,
        several=True,
    ),
}
