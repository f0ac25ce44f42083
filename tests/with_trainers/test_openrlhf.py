"""OpenRLHF's real single-turn executor, in a Ray actor, with our reward file and over our HTTP wire.

Its dependencies flash-attn and deepspeed build against CUDA, and vLLM generates: so openrlhf is installed without them,
an engine of ours says what the policy would, and the module that needs vLLM's names at import is given empty ones.
"""

from __future__ import annotations

import asyncio
import functools
import importlib.util
import json
import os
import re
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import ray
import torch
from omegaconf import OmegaConf
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from agentscope_tuner import JudgeError
from agentscope_tuner.adapters.openrlhf import decode_request, encode_response
from agentscope_tuner.errors import DeadlineError
from agentscope_tuner.task_judge.batch import judge_for
from tests.hanging_judges import release
from tests.with_trainers.judges import HANGING, HOSTILE, config, hanging

MATH = {
    "astuner": {"task_judge": {"judge_protocol": "agentscope_tuner.task_judge.math_answer_as_judge->MathAnswerAsJudge"}}
}
PROMPT = r"What is 6*7? Put it in \boxed{}."
SAID = [r"\boxed{42.0}", r"\boxed{41}", "no box"]


def tokenizer() -> PreTrainedTokenizerFast:
    """A token a character, and all of them come back: what decoding drops would be dropped from the answer."""
    text = "".join([*HOSTILE, *SAID, PROMPT])
    characters = sorted({character for character in text if character.isprintable()})
    vocabulary = {token: index for index, token in enumerate(["<unk>", "</s>", *characters])}
    inner = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    inner.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    inner.decoder = decoders.Fuse()
    return PreTrainedTokenizerFast(tokenizer_object=inner, unk_token="<unk>", eos_token="</s>")


class Engine:
    """Says `text`, and ends its turn, as vLLM would for the policy."""

    def __init__(self, text: str) -> None:
        self.text = text

    async def generate(self, prompt_token_ids: list[int], sampling_params: Any, multi_modal_data: Any = None) -> Any:
        tokens = tokenizer()(self.text + "</s>", add_special_tokens=False)["input_ids"]
        return SimpleNamespace(
            outputs=[SimpleNamespace(token_ids=tokens, text=self.text, finish_reason="stop", logprobs=None)]
        )


@ray.remote
class Rollouts:
    """What OpenRLHF's vLLM actor holds of rewards: its executor, here a new one for each run."""

    async def run(self, remote_url: list[str], texts: list[str], label: str) -> list[dict[str, Any]]:
        from openrlhf.utils.agent import SingleTurnAgentExecutor

        executor = SingleTurnAgentExecutor(remote_url)
        params = SimpleNamespace(max_tokens=64, logprobs=None)
        return await asyncio.gather(
            *(executor.execute(PROMPT, label, params, 4_000_000, tokenizer(), Engine(text)) for text in texts)
        )


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Iterator[None]:
    """Started by the first test that needs it: agents are judged in this process."""
    yield
    actor.cache_clear()
    ray.shutdown()


@functools.cache
def actor() -> Any:
    """One for all tests: importing torch and OpenRLHF takes it twenty seconds of CPU time."""
    ray.init(
        num_cpus=2, include_dashboard=False, log_to_driver=False, runtime_env={"env_vars": {"PYTHONPATH": os.getcwd()}}
    )
    return Rollouts.remote()


@pytest.fixture
def judge_path(tmp_path: Path, request: pytest.FixtureRequest) -> str:
    path = tmp_path / "judge.yaml"
    OmegaConf.save(OmegaConf.create(getattr(request, "param", MATH)), path)
    return str(path)


@pytest.fixture
def reward_py(judge_path: str, tmp_path: Path) -> str:
    path = tmp_path / "my_reward.py"
    path.write_text(
        f"from agentscope_tuner.adapters.openrlhf import reward_file\nreward_func = reward_file({judge_path!r})\n",
        encoding="utf-8",
    )
    return str(path)


@pytest.fixture
def reward_url(judge_path: str) -> Iterator[str]:
    """The wire, served: an error status where there is no verdict."""
    judge = judge_for(judge_path)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            payload = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            try:
                status, answer = 200, json.dumps(encode_response(judge, judge.judge(*decode_request(payload))))
            except JudgeError as exc:
                status, answer = 503, json.dumps({"error": str(exc)})
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(answer.encode())

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/openrlhf"
    server.shutdown()


def rollouts(url: str, texts: list[str], label: str = "42") -> list[dict[str, Any]]:
    outputs: list[dict[str, Any]] = ray.get(actor().run.remote([url], texts, label), timeout=300)
    return outputs


def experience(output: dict[str, Any]) -> Any:
    """OpenRLHF's own reading of an executor's output."""
    for name, attribute in (("vllm", "SamplingParams"), ("vllm.inputs", "TokensPrompt"), ("vllm.utils", "random_uuid")):
        setattr(sys.modules.setdefault(name, ModuleType(name)), attribute, object)
    from openrlhf.trainer.ppo_utils import samples_generator

    generator = next(
        value for value in vars(samples_generator).values() if hasattr(value, "_process_response_into_experience")
    )
    return generator._process_response_into_experience(SimpleNamespace(), output, max_len=4_000_000)


@pytest.mark.parametrize("way", ["reward_py", "reward_url"])
def test_both_ways_give_the_trainer_its_reward(way: str, request: pytest.FixtureRequest) -> None:
    outputs = rollouts(request.getfixturevalue(way), SAID)
    assert [output["reward"] for output in outputs] == [1.0, 0.0, 0.0]
    assert [output["scores"] for output in outputs] == [1.0, 0.0, 0.0]
    read = experience(outputs[0])
    assert torch.equal(read.rewards, torch.tensor([1.0]))
    assert torch.equal(read.scores, torch.tensor([1.0]))
    assert torch.equal(read.info["acc"], torch.tensor([1.0]))
    assert set(read.info) >= {"reward", "score", "acc", "filtered", "failed", "judge_seconds"}


@pytest.mark.parametrize("way", ["reward_py", "reward_url"])
@pytest.mark.parametrize("judge_path", [config("Fails")], indirect=True)
def test_a_failed_verdict_is_never_zero(judge_path: str, way: str, request: pytest.FixtureRequest) -> None:
    (output,) = rollouts(request.getfixturevalue(way), SAID[:1], label="41")
    assert output["reward"] is None
    assert output["scores"] is None
    read = experience(output)
    assert read.rewards is None
    assert "reward" not in read.info
    # OpenRLHF joins a batch's rewards: one without any ends the run
    with pytest.raises(TypeError):
        torch.cat([torch.tensor([1.0]), read.rewards])


@pytest.mark.parametrize("way", ["reward_py", "reward_url"])
def test_hostile_answers_are_wrong_answers(way: str, request: pytest.FixtureRequest) -> None:
    # a token a character: a megabyte of them is the tokenizer's time, not ours
    attacks = [text for text in HOSTILE if text.isprintable() and len(text) < 200_000]
    outputs = rollouts(request.getfixturevalue(way), attacks)
    assert [output["reward"] for output in outputs] == [0.0] * len(attacks)


def test_our_launch_uses_flags_that_openrlhf_has() -> None:
    (package,) = importlib.util.find_spec("openrlhf").submodule_search_locations  # type: ignore[union-attr]
    known = set(re.findall(r'"--([a-z_.]+)"', Path(package, "cli", "train_ppo_ray.py").read_text(encoding="utf-8")))
    launch = (Path(__file__).parents[2] / "configs" / "openrlhf_math.sh").read_text(encoding="utf-8")
    used = set(re.findall(r"--([a-z]+\.[a-z_.]+)", launch))
    assert "reward.remote_url" in used
    assert used <= known


class Params(SimpleNamespace):
    """As much of vLLM's sampling parameters as an episode reads."""


class Turns(Engine):
    """Says one text a turn."""

    def __init__(self, *texts: str) -> None:
        super().__init__(texts[0])
        self.texts = iter(texts)

    async def generate(self, *asked: Any, **named: Any) -> Any:
        self.text = next(self.texts)
        return await super().generate(*asked, **named)


def episode(agent: type, *said: str, label: str = "42") -> dict[str, Any]:
    """An episode that OpenRLHF's own executor of several turns plays."""
    from openrlhf.utils.agent import MultiTurnAgentExecutor

    executor = MultiTurnAgentExecutor(agent)
    params = Params(max_tokens=64, logprobs=None)
    engine = Turns(*said)
    response: dict[str, Any] = asyncio.run(executor.execute(PROMPT, label, params, 10_000, tokenizer(), engine))
    return response


def test_an_agents_last_answer_is_judged(judge_path: str) -> None:
    from agentscope_tuner.adapters.openrlhf_agent import judged_agent

    response = episode(judged_agent(judge_path), SAID[0])
    assert (response["reward"], response["scores"]) == (1.0, 1.0)
    assert response["extra_logs"]["acc"] == 1.0
    assert episode(judged_agent(judge_path), SAID[1])["reward"] == 0.0


def test_an_agent_may_be_answered_before_it_is_judged(judge_path: str) -> None:
    from agentscope_tuner.adapters.openrlhf_agent import judged_agent

    class Asks(judged_agent(judge_path)):  # type: ignore[misc]
        async def feedback(self, states: dict[str, Any]) -> str | None:
            return None if "box" in states["action_text"] else "in a box"

    response = episode(Asks, "no", SAID[0])
    assert response["reward"] == 1.0
    assert len(response["action_ranges"]) == 2


@pytest.mark.parametrize("judge_path", [config("Fails")], indirect=True)
def test_a_failed_verdict_on_an_agent_is_raised(judge_path: str) -> None:
    from agentscope_tuner.adapters.openrlhf_agent import judged_agent

    with pytest.raises(JudgeError, match="the judge model did not answer"):
        episode(judged_agent(judge_path), r"\boxed{41}", label="41")


@pytest.mark.parametrize("judge", HANGING)
def test_a_judge_that_hangs_ends_an_agents_episode_in_time(judge: str, tmp_path: Path) -> None:
    from agentscope_tuner.adapters.openrlhf_agent import judged_agent

    OmegaConf.save(OmegaConf.create(hanging(judge)), tmp_path / "hangs.yaml")
    agent = judged_agent(tmp_path / "hangs.yaml")
    with release(), pytest.raises(DeadlineError, match=r"no verdict within 0\.3 s"):
        episode(agent, SAID[0])
