"""The promise at every seam: a failed verdict is never a 0 that nobody sees, alone, beside another reward, in a group.

Each adapter is asked in its trainer's own way about answers of which one has no verdict. It either fails the step, or
marks the row in the way that its trainer leaves out of the advantages. tests/with_trainers runs the trainers' own
advantage code on what the adapters answer. A judge that hangs fails in the same way, in time.
"""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest

from agentscope_tuner import JudgeError
from agentscope_tuner.adapters import areal, ms_swift, nemo_gym, open_instruct, openrlhf, rllm, slime, verl
from agentscope_tuner.adapters.trl import async_reward_func, combined, reward_func
from agentscope_tuner.errors import DeadlineError
from agentscope_tuner.task_judge.batch import judge_for
from tests import hanging_judges
from tests.core.adapters.test_adapters_more import Sample, said
from tests.core.adapters.test_adapters_nemo_gym import request as verify_request
from tests.core.adapters.test_adapters_nemo_gym import said as output_message
from tests.core.adapters.test_adapters_verl import settings
from tests.core.adapters.test_trl_trainer import Trainer, brevity
from tests.tables import each_row_unasked

# the failed one among others, right and wrong
GROUP = ["42", "41", "42", "boom", "41", "42", "41", "42"]
OUT_OF_THE_BASELINE = "marked"
Rewards = list[float | None]


def trl_alone(config: str, answers: list[str]) -> Rewards:
    return list(Trainer(reward_func(config), group=len(answers)).rewards(answers))


def trl_async(config: str, answers: list[str]) -> Rewards:
    return list(Trainer(async_reward_func(config), group=len(answers)).rewards(answers))


def trl_beside(config: str, answers: list[str]) -> Rewards:
    with pytest.warns(UserWarning, match="stands beside brevity"):
        return list(Trainer(reward_func(config), brevity, group=len(answers)).rewards(answers))


def trl_combined(config: str, answers: list[str]) -> Rewards:
    function = combined([config, brevity], weights=[1.0, 0.5])
    return list(Trainer(function, group=len(answers)).rewards(answers))


def verl_(config: str, answers: list[str]) -> Rewards:
    return [verl.compute_score_sync("math", answer, "42", config=config)["score"] for answer in answers]


def verl_awaited(config: str, answers: list[str]) -> Rewards:
    return [asyncio.run(verl.compute_score("math", answer, "42", config=config))["score"] for answer in answers]


def openrlhf_file(config: str, answers: list[str]) -> Rewards:
    reward = openrlhf.reward_file(config)
    return [reward([f"6*7={answer}"], ["6*7="], ["42"])["rewards"] for answer in answers]  # type: ignore[misc]


def nemo_gym_(config: str, answers: list[str]) -> Rewards:
    rewards: Rewards = []
    judge = judge_for(config)
    for answer in answers:
        payload = verify_request(output_message(answer), expected_answer="42")
        reply = nemo_gym.encode_response(payload, judge, judge.judge(*nemo_gym.decode_request(payload)))
        masked = reply["mask_sample"] and reply["instance_config"]["mask_sample"]
        rewards.append(None if masked else reply["reward"])
    return rewards


def slime_(config: str, answers: list[str]) -> Rewards:
    return list(asyncio.run(slime.custom_rm(config)(None, [Sample(answer) for answer in answers])))


def slime_wire(config: str, answers: list[str]) -> Rewards:
    judge = judge_for(config)
    payloads = [{"prompt": "6*7=", "response": answer, "label": "42"} for answer in answers]
    return [slime.encode_response(judge, judge.judge(*slime.decode_request(payload))) for payload in payloads]


def ms_swift_(config: str, answers: list[str]) -> Rewards:
    messages = [said(answer) for answer in answers]
    return list(ms_swift.orm(config)()(answers, messages=messages, answer=["42"] * len(answers)))


def areal_(config: str, answers: list[str]) -> Rewards:
    return [areal.reward_fn(config)("6*7=", answer, answer="42") for answer in answers]


def areal_awaited(config: str, answers: list[str]) -> Rewards:
    reward = areal.async_reward_fn(config)
    return [asyncio.run(reward("6*7=", answer, answer="42")) for answer in answers]


def rllm_evaluator(config: str, answers: list[str]) -> Rewards:
    evaluator = rllm.JudgeEvaluator(config)
    episodes = [SimpleNamespace(artifacts={"answer": answer}) for answer in answers]
    return [evaluator.evaluate({"question": "6*7=", "answer": "42"}, episode).reward for episode in episodes]


def open_instruct_(config: str, answers: list[str]) -> Rewards:
    verifier = open_instruct.verifier("math_judge", config)()
    return [verifier([1], answer, "42", "6*7=").score for answer in answers]


def open_instruct_awaited(config: str, answers: list[str]) -> Rewards:
    verifier = open_instruct.verifier("math_judge", config)()
    return [asyncio.run(verifier.async_call([1], answer, "42", query="6*7=")).score for answer in answers]


def rllm_(config: str, answers: list[str]) -> Rewards:
    reward = rllm.reward_fn(config)
    return [reward({"question": "6*7=", "answer": "42"}, answer).reward for answer in answers]


@dataclass(frozen=True)
class Seam:
    """What a trainer's call becomes when a verdict fails."""

    ask: Callable[[str, list[str]], Rewards]
    becomes: str


SEAMS = {
    "TRL": Seam(trl_alone, OUT_OF_THE_BASELINE),
    "TRL, async": Seam(trl_async, OUT_OF_THE_BASELINE),
    "TRL, a bare function beside another": Seam(trl_beside, "the step fails"),
    "TRL, combined": Seam(trl_combined, OUT_OF_THE_BASELINE),
    "verl": Seam(verl_, "the step fails"),
    "verl, awaited": Seam(verl_awaited, "the step fails"),
    "OpenRLHF": Seam(openrlhf_file, "the step fails"),
    "NeMo-Gym": Seam(nemo_gym_, OUT_OF_THE_BASELINE),
    "slime": Seam(slime_, "the step fails"),
    "slime's wire": Seam(slime_wire, "the step fails"),
    "ms-swift": Seam(ms_swift_, "the step fails"),
    "AReaL": Seam(areal_, "the step fails"),
    "AReaL, awaited": Seam(areal_awaited, "the step fails"),
    "rLLM": Seam(rllm_, "the step fails"),
    "rLLM, an evaluator": Seam(rllm_evaluator, "the step fails"),
    "open-instruct": Seam(open_instruct_, "the step fails"),
    "open-instruct, awaited": Seam(open_instruct_awaited, "the step fails"),
}


@each_row_unasked
def trainers_types(monkeypatch: pytest.MonkeyPatch) -> None:
    """The types of trainers that are not on PyPI, as they document them."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "stand_ins"))


@pytest.mark.parametrize("answers", [["boom"], GROUP], ids=["alone", "in a group of 8"])
@pytest.mark.parametrize("name", SEAMS)
def test_a_failed_verdict_is_no_silent_zero(name: str, answers: list[str], tmp_path: Path) -> None:
    seam, config = SEAMS[name], settings(tmp_path)
    if seam.becomes == OUT_OF_THE_BASELINE:
        rewards = seam.ask(config, answers)
        missing = [place for place, reward in enumerate(rewards) if reward is None]
        assert missing == [answers.index("boom")]
    else:
        with pytest.raises(JudgeError, match="the judge model did not answer"):
            seam.ask(config, answers)


@pytest.mark.parametrize("name", [name for name in SEAMS if name != "TRL, a bare function beside another"])
def test_without_a_failure_every_row_has_its_reward(name: str, tmp_path: Path) -> None:
    rewards = SEAMS[name].ask(settings(tmp_path), ["42", "41"])
    assert None not in rewards
    assert rewards[0] - rewards[1] == 1.0  # type: ignore[operator]


SECONDS = 0.1
# what hangs goes on for an hour: this much is what a busy machine may add
GRACE = 60.0


@pytest.fixture
def dead_service() -> Iterator[str]:
    """The URL of a service that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}/reward"


@pytest.mark.filterwarnings("ignore:the reward function .* stands beside")
@pytest.mark.parametrize(
    ("name", "hanging"),
    [(name, hanging) for name in SEAMS for hanging in ("Blocks", "Awaits", "over HTTP")]
    + [(name, "RanksForEver") for name in ("TRL", "TRL, async", "slime", "ms-swift")],
)
def test_a_judge_that_hangs_is_a_deadline_error_in_time(
    name: str, hanging: str, dead_service: str, tmp_path: Path
) -> None:
    judge, extra = f"tests.hanging_judges->{hanging}", f"    deadline: {SECONDS}\n"
    if hanging == "over HTTP":
        judge = "agentscope_tuner.task_judge.http_judge->HttpJudge"
        extra += f"    judge_kwargs: {{url: {dead_service}}}\n"
    config, before = settings(tmp_path, judge, extra), set(threading.enumerate())
    started = time.monotonic()
    with hanging_judges.release():
        if SEAMS[name].becomes == OUT_OF_THE_BASELINE:
            assert SEAMS[name].ask(config, ["42"] * 2) == [None] * 2
        else:
            with pytest.raises(JudgeError, match=f"no verdict within {SECONDS:g} s") as caught:
                SEAMS[name].ask(config, ["42"] * 2)
            assert isinstance(caught.value, DeadlineError) or "TRL would count that as 0" in str(caught.value)
        # the verdicts of some trainers are asked for one after another
        assert time.monotonic() - started < 2 * SECONDS + GRACE
        assert all(thread.daemon for thread in set(threading.enumerate()) - before)
