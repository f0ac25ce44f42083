"""ms-swift, AReaL, miles, verifiers 0.1 and tinker-cookbook: their own reward code, from PyPI, around our judges.

Each is there without the engines that it trains with. AReaL's package imports those at its top, so that the one module
that calls rewards is imported without it. NeMo RL is not on PyPI: its environment runs against the types it documents.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import math
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import torch
from omegaconf import OmegaConf

from agentscope_tuner import ConfigError, JudgeError
from agentscope_tuner.adapters import areal, ms_swift, slime
from agentscope_tuner.errors import DeadlineError
from tests.hanging_judges import release
from tests.with_trainers.judges import HANGING, config, hanging
from tests.with_trainers.runners import snippet, without_engines

ROOT = Path(__file__).parents[2]
RIGHT, WRONG = r"\boxed{42}", r"\boxed{41}"
# FailsSome has no verdict on what is no box
NONE = "no box"
GROUP = [RIGHT, NONE, WRONG, RIGHT, RIGHT, WRONG, RIGHT, RIGHT]


def written(tmp_path: Path, settings: dict[str, Any], name: str = "judge.yaml") -> str:
    OmegaConf.save(OmegaConf.create(settings), tmp_path / name)
    return str(tmp_path / name)


@pytest.fixture
def math_judge(tmp_path: Path) -> str:
    protocol = "agentscope_tuner.task_judge.math_answer_as_judge->MathAnswerAsJudge"
    return written(tmp_path, {"astuner": {"task_judge": {"judge_protocol": protocol}}}, "math.yaml")


@pytest.fixture
def ranks(tmp_path: Path) -> str:
    return written(tmp_path, config("Shortest"), "ranks.yaml")


@pytest.fixture
def failing(tmp_path: Path) -> str:
    return written(tmp_path, config("FailsSome"))


@pytest.fixture(params=HANGING)
def hangs(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return written(tmp_path, hanging(request.param), "hangs.yaml")


class TestVerifiers01:
    def states(self, answers: list[str]) -> list[Any]:
        prompt = [{"role": "user", "content": "6*7?"}]
        return [
            {
                "prompt": prompt,
                "completion": [{"role": "assistant", "content": answer}],
                "answer": "42",
                "info": {},
                "error": None,
                "trajectory": [{"advantage": None, "reward": None}],
            }
            for answer in answers
        ]

    def environment(self, config: str) -> Any:
        import verifiers as vf
        from datasets import Dataset

        from agentscope_tuner.adapters.verifiers import judge_rubric

        rows = Dataset.from_list([{"question": "6*7?", "answer": "42"}])
        return vf.SingleTurnEnv(dataset=rows, rubric=judge_rubric(config))

    def test_a_group_is_scored(self, math_judge: str) -> None:
        from agentscope_tuner.adapters.verifiers import judge_rubric

        states = self.states([RIGHT, WRONG])
        asyncio.run(judge_rubric(math_judge).score_group(states))
        assert [state["reward"] for state in states] == [1.0, 0.0]
        assert [state["advantage"] for state in states] == [0.5, -0.5]
        assert states[0]["trajectory"][0] == {"advantage": 0.5, "reward": 1.0}
        assert states[0]["metrics"]["MathAnswerAsJudge/success"] == 1.0

    @pytest.mark.parametrize(
        ("row", "rewards"),
        [
            ({"answer": "", "info": {"answer": "42"}}, [1.0, 0.0]),
            ({"info": {"ground_truth": "42"}}, [1.0, 0.0]),
            # the row's own answer counts
            ({"answer": "42", "info": {"answer": "41"}}, [1.0, 0.0]),
        ],
    )
    def test_the_reference_may_stand_in_a_rows_info(self, row: Any, rewards: list[float], math_judge: str) -> None:
        from agentscope_tuner.adapters.verifiers import judge_rubric

        # verifiers writes "" for a column that a data set does not have, and that hid the one in info
        states = [{**state, "answer": None, **row} for state in self.states([RIGHT, WRONG])]
        asyncio.run(judge_rubric(math_judge).score_group(states))
        assert [state["error"] for state in states] == [None, None]
        assert [state["reward"] for state in states] == rewards

    @pytest.mark.parametrize("beside", [False, True], ids=["alone", "beside another reward"])
    @pytest.mark.parametrize("answers", [[NONE], GROUP], ids=["alone in its group", "in a group of 8"])
    def test_a_failed_verdict_has_advantage_0_and_stands_in_no_mean(
        self, answers: list[str], beside: bool, failing: str
    ) -> None:
        import verifiers as vf

        from agentscope_tuner.adapters.verifiers import judge_rubric

        async def brevity(completion: Any, **named: Any) -> float:
            return 1.0 / len(completion[-1]["content"])

        rubric = judge_rubric(failing)
        if beside:
            rubric.add_reward_func(brevity, weight=0.5)
        states = self.states(answers)
        asyncio.run(rubric.score_group(states))
        failed = [state for state in states if state["error"] is not None]
        assert [state["completion"][0]["content"] for state in failed] == [NONE]
        # what verifiers retries, and prime-rl leaves out
        assert isinstance(failed[0]["error"], vf.InfraError)
        assert "the judge model did not answer" in str(failed[0]["error"])
        assert failed[0]["advantage"] == 0.0
        assert math.isclose(sum(state["advantage"] for state in states), 0.0, abs_tol=1e-9)

    def test_a_failed_verdict_gives_no_step_a_reward(self, failing: str) -> None:
        from agentscope_tuner.adapters.verifiers import judge_rubric

        # the step of "no box" had the reward 0.0, as if it were a verdict
        states = self.states([NONE, WRONG])
        asyncio.run(judge_rubric(failing).score_group(states))
        steps = [state["trajectory"][0] for state in states]
        assert steps == [{"advantage": 0.0, "reward": None}, {"advantage": 0.0, "reward": 1.0}]

    def test_an_environments_own_rubric_takes_no_part_in_advantages_and_steps(self, failing: str) -> None:
        # it came last, and wrote 0.0 as the advantage of all, and as the reward of the step without a verdict
        environment, states = self.environment(failing), self.states([RIGHT, NONE, WRONG, WRONG])
        asyncio.run(environment.rubric.score_group(states))
        assert [state["advantage"] for state in states] == [0.0, 0.0, 0.0, 0.0]
        assert [state["trajectory"][0]["reward"] for state in states] == [1.0, None, 1.0, 1.0]
        assert [state["metrics"]["num_turns"] for state in states] == [1.0] * 4
        # and a failed verdict was logged as a success of 0.0
        assert states[1]["metrics"] == {"FailsSome/failed": 1.0, "num_turns": 1.0}

    def test_the_advantages_of_a_group_are_those_of_all_rewards(self, math_judge: str) -> None:
        async def brevity(completion: Any, **named: Any) -> float:
            return float(completion[-1]["content"] == WRONG)

        environment, states = self.environment(math_judge), self.states([RIGHT, WRONG, NONE])
        environment.rubric.add_reward_func(brevity, weight=0.25)
        asyncio.run(environment.rubric.score_group(states))
        assert [state["reward"] for state in states] == [1.0, 0.25, 0.0]
        mean = 1.25 / 3
        for state in states:
            advantage = state["reward"] - mean
            assert math.isclose(state["advantage"], advantage)
            assert state["trajectory"] == [{"advantage": state["advantage"], "reward": state["reward"]}]

    def test_an_environment_runs_the_group_of_a_judge_that_ranks_together(self, math_judge: str, ranks: str) -> None:
        # rollouts were asked one at a time, and each was refused
        environment = self.environment(ranks)
        assert environment.requires_group_rollouts
        assert not self.environment(math_judge).requires_group_rollouts
        states = self.states(["a", "ab", "abc", "abcd"])
        asyncio.run(environment.rubric.score_group(states))
        assert [round(state["advantage"], 3) for state in states] == [0.5, 0.167, -0.167, -0.5]

    @pytest.mark.parametrize("said", [RIGHT, NONE])
    def test_a_rollout_alone_is_scored_beside_the_environments_rubric(self, said: str, failing: str) -> None:
        (state,) = self.states([said])
        asyncio.run(self.environment(failing).rubric.score_rollout(state))
        assert (state["error"] is None) is (said == RIGHT)
        assert state["reward"] == float(said == RIGHT)
        assert state["metrics"]["num_turns"] == 1.0
        assert ("FailsSome/success" in state["metrics"]) is (said == RIGHT)

    @pytest.mark.parametrize(
        "unread", [None, b"42", 42, ["42"], [{"content": RIGHT}], [{"role": "gpt", "content": RIGHT}]]
    )
    def test_a_rollout_that_cannot_be_read_costs_its_group_no_verdict(self, unread: Any, math_judge: str) -> None:
        from agentscope_tuner.adapters.verifiers import judge_rubric

        states = self.states([RIGHT, RIGHT, WRONG])
        states[1]["completion"] = unread
        asyncio.run(judge_rubric(math_judge).score_group(states))
        assert [state["error"] is None for state in states] == [True, False, True]
        assert [state["advantage"] for state in states] == [0.5, 0.0, -0.5]
        assert states[1]["metrics"]["MathAnswerAsJudge/failed"] == 1.0

    def test_a_run_whose_turns_never_are_its_steps_is_stopped(self, tmp_path: Path) -> None:
        from agentscope_tuner.adapters.verifiers import judge_rubric

        turns = {"judge_protocol": "tests.core.task_judge.test_turns->Turns"}
        rubric = judge_rubric(written(tmp_path, {"astuner": {"task_judge": turns}}))
        for _ in range(2):
            asyncio.run(rubric.score_group(self.states([RIGHT] * 64)))
        with pytest.raises(
            JudgeError, match=r"no verdict in 3 batches in a row: 192 rows with cause rollout.*3 turns a reward"
        ):
            asyncio.run(rubric.score_group(self.states([RIGHT] * 64)))

    def test_a_judge_that_hangs_is_an_error_in_time(self, hangs: str) -> None:
        from agentscope_tuner.adapters.verifiers import judge_rubric

        states, rubric = self.states(GROUP), judge_rubric(hangs)
        with release():
            asyncio.run(rubric.score_group(states))
        assert all("no verdict within 0.3 s" in str(state["error"]) for state in states)
        assert {state["advantage"] for state in states} == {0.0}

    def test_a_run_without_verdicts_is_stopped(self, math_judge: str, failing: str) -> None:
        from agentscope_tuner.adapters.verifiers import judge_rubric

        states = [{**state, "answer": None, "info": {"solved": "42"}} for state in self.states([RIGHT] * 64)]
        with pytest.raises(JudgeError, match="no verdict on any row so far: 64 rows with cause reference"):
            asyncio.run(judge_rubric(math_judge).score_group(states))
        rubric = judge_rubric(failing)
        for _ in range(2):
            asyncio.run(rubric.score_group(self.states([NONE] * 64)))
        with pytest.raises(JudgeError, match="no verdict in 3 batches in a row: 192 rows with cause judge"):
            asyncio.run(rubric.score_group(self.states([NONE] * 64)))

    def test_its_environments_are_audited(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        from typer.testing import CliRunner

        from agentscope_tuner.cli.app import app

        environment = """
import verifiers as vf
from datasets import Dataset

def right(completion, answer, **given):
    return float(answer in completion[-1]["content"])

def load_environment():
    rows = [{"question": f"{a} + {b}?", "answer": str(a + b)} for a, b in ((17, 25), (101, 32), (250, 411))]
    return vf.SingleTurnEnv(dataset=Dataset.from_list(rows), rubric=vf.Rubric(funcs=[right]))
"""
        (tmp_path / "holed_environment.py").write_text(environment)
        monkeypatch.syspath_prepend(str(tmp_path))
        result = CliRunner().invoke(
            app, ["audit", "--env", "verifiers:holed_environment", "--json", "--fail-over", "0"]
        )
        assert result.exit_code == 1
        found = json.loads(result.stdout.splitlines()[-1])
        assert found["tasks"] == 3
        assert {each["name"] for each in found["attacks"] if each["must"] == "fail" and each["rate"]} >= {
            "reference in prose",
            "hedge",
        }

    def test_a_plain_rubric_pays_0(self) -> None:
        """Why the rubric is ours: what a reward function raises is counted as 0 by verifiers itself."""
        import verifiers as vf

        async def broken(completion: Any, **named: Any) -> float:
            raise vf.Error("no verdict")

        states = self.states([RIGHT, WRONG])
        asyncio.run(vf.Rubric(funcs=[broken]).score_group(states))
        assert [state["reward"] for state in states] == [0.0, 0.0]
        assert states[0]["error"] is None


class TestMsSwift:
    def rewards(self, answers: list[str], *functions: Any) -> Any:
        from swift.rl_core.data import GRPOSample
        from swift.rl_core.grpo_algorithm import compute_rewards_per_func

        asked = {"role": "user", "content": "6*7?"}
        samples = [
            GRPOSample(
                messages=[asked, {"role": "assistant", "content": answer}], prompt_id="p", extra={"solution": "42"}
            )
            for answer in answers
        ]
        return compute_rewards_per_func(samples, list(functions), [None] * len(functions), torch.device("cpu"))

    def test_the_samples_of_a_prompt_are_one_task(self) -> None:
        # its row says how each sample ended, and each was a task of its own
        from swift.rl_core.data import GRPOSample

        asked, extra = {"role": "user", "content": "6*7?"}, {"solution": "42"}
        rows = [
            GRPOSample(
                messages=[asked, {"role": "assistant", "content": answer}],
                prompt_id="p",
                request_id=answer,
                finish_reason=reason,
                response_token_ids=[[len(answer)]],
                rollout_infos={"turns": len(answer)},
                extra=extra,
            ).to_reward_row()
            for answer, reason in ((RIGHT, "stop"), (WRONG, "length"), ("", None))
        ]
        found = {ms_swift.pair_of(row["messages"][-1]["content"], row)[0].task_id for row in rows}
        assert len(found) == 1

    def test_its_own_code_calls_us(self, math_judge: str) -> None:
        function = ms_swift.orm(math_judge)(args=SimpleNamespace(num_generations=2))
        assert self.rewards([RIGHT, WRONG], function).tolist() == [[1.0], [0.0]]

    @pytest.mark.parametrize("beside", [False, True], ids=["alone", "beside another reward"])
    @pytest.mark.parametrize("answers", [[NONE], GROUP], ids=["alone in its group", "in a group of 8"])
    def test_a_failed_verdict_fails_the_step(self, answers: list[str], beside: bool, failing: str) -> None:
        def brevity(completions: list[str], **named: Any) -> list[float]:
            return [0.5] * len(completions)

        with pytest.raises(JudgeError, match="the judge model did not answer"):
            self.rewards(answers, ms_swift.orm(failing)(), *([brevity] if beside else []))

    def test_its_own_code_awaits_the_async_twin(self, math_judge: str, failing: str) -> None:
        function = ms_swift.async_orm(math_judge)(args=SimpleNamespace(num_generations=2))
        assert self.rewards([RIGHT, WRONG], function).tolist() == [[1.0], [0.0]]
        with pytest.raises(JudgeError, match="the judge model did not answer"):
            self.rewards(GROUP, ms_swift.async_orm(failing)())

    def test_a_judge_that_hangs_fails_the_step_in_time(self, hangs: str) -> None:
        import swift.rl_core.data
        import swift.rl_core.grpo_algorithm  # noqa: F401 - imports are not the verdict's time

        function = ms_swift.orm(hangs)()
        with release(), pytest.raises(DeadlineError, match=r"no verdict within 0\.3 s"):
            self.rewards(GROUP, function)

    def test_a_missing_reward_would_move_the_policy(self) -> None:
        """Why it raises: ms-swift sums with nansum and masks nothing."""
        from swift.rl_core.advantage import compute_advantages

        rewards = torch.tensor([[1.0], [math.nan], [1.0], [1.0]])
        advantages, _ = compute_advantages(rewards, torch.ones(1), 4)
        assert advantages[1] < 0


class TestMiles:
    def ask(self, judge: str, tmp_path: Path, answers: list[str], monkeypatch: pytest.MonkeyPatch) -> Any:
        from miles.rollout.rm_hub import batched_async_rm
        from miles.utils.types import Sample

        name = f"my_rm_{abs(hash((judge, str(tmp_path))))}"
        (tmp_path / f"{name}.py").write_text(
            f"from agentscope_tuner.adapters.slime import custom_rm\nreward = custom_rm({judge!r})\n", encoding="utf-8"
        )
        monkeypatch.syspath_prepend(str(tmp_path))
        arguments = SimpleNamespace(custom_rm_path=f"{name}.reward", rm_type=None)
        samples = [Sample(group_index=0, prompt="6*7?", response=answer, label="42") for answer in answers]
        return asyncio.run(batched_async_rm(arguments, samples))

    def test_its_own_code_calls_us(self, math_judge: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        assert self.ask(math_judge, tmp_path, [RIGHT, WRONG], monkeypatch) == [1.0, 0.0]

    @pytest.mark.parametrize("answers", [[NONE], GROUP], ids=["alone", "in a group of 8"])
    def test_a_failed_verdict_fails_the_rollout(
        self, answers: list[str], failing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with pytest.raises(JudgeError, match="the judge model did not answer"):
            self.ask(failing, tmp_path, answers, monkeypatch)

    def test_a_judge_that_hangs_fails_the_rollout_in_time(
        self, hangs: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        import miles.rollout.rm_hub  # noqa: F401 - its import is not the verdict's time

        with release(), pytest.raises(DeadlineError, match=r"no verdict within 0\.3 s"):
            self.ask(hangs, tmp_path, GROUP, monkeypatch)

    def test_its_sample_is_read(self) -> None:
        from miles.utils.types import Sample

        task, output = slime.as_pair(Sample(prompt="6*7?", response="42</s>", label="42", metadata={"level": 2}))
        assert (task.task.metadata["level"], output.metadata["final_answer"]) == (2, "42")

    def test_the_loss_mask_tells_the_policys_last_turn(self, math_judge: str, tmp_path: Path) -> None:
        from miles.utils.types import Sample
        from tokenizers import Tokenizer, models
        from transformers import PreTrainedTokenizerFast

        vocabulary = {text: place for place, text in enumerate(["<unk>", "6*7?", "<call>", RIGHT, WRONG, "unknown"])}
        tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
        PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<unk>").save_pretrained(tmp_path / "tokenizer")
        args = SimpleNamespace(hf_checkpoint=str(tmp_path / "tokenizer"))

        def reward(*turns: tuple[str, int]) -> Any:
            sample = Sample(prompt="6*7?", response=" ".join(text for text, _ in turns), label="42", group_index=0)
            sample.tokens = [vocabulary["6*7?"], *(vocabulary[text] for text, _ in turns)]
            sample.loss_mask, sample.response_length = [mask for _, mask in turns], len(turns)
            return asyncio.run(slime.custom_rm(math_judge)(args, sample))

        # what the tool said was the last box of the text, and earned 1.0
        assert reward(("<call>", 1), (RIGHT, 0), ("unknown", 1)) == 0.0
        assert reward((WRONG, 1), (WRONG, 0), (RIGHT, 1)) == 1.0
        assert reward((RIGHT, 1), (RIGHT, 0)) == 0.0
        assert reward((RIGHT, 1)) == 1.0

    def test_its_own_training_data_leave_out_what_has_no_verdict(
        self, failing: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from miles.rollout.filter_hub.base_types import call_dynamic_filter
        from miles.utils.types import Sample

        samples = [Sample(prompt="6*7?", response=answer, label="42", group_index=0) for answer in GROUP]
        reward = slime.custom_rm(failing, on_failed="leave")
        for sample, value in zip(samples, asyncio.run(reward(SimpleNamespace(), samples)), strict=True):
            sample.reward = value
        assert [sample.reward is None for sample in samples] == [answer == NONE for answer in GROUP]
        dropped = call_dynamic_filter(slime.drop_unjudged, SimpleNamespace(), samples)
        assert (dropped.keep, dropped.reason) == (False, "no_verdict")
        assert call_dynamic_filter(slime.drop_unjudged, SimpleNamespace(), samples[2:]).keep
        args = SimpleNamespace(
            advantage_estimator="grpo", rewards_normalization=True, grpo_std_normalization=True, n_samples_per_prompt=8
        )
        args.reward_key = None
        _, rewards = slime.mask_unjudged(args, samples)
        assert (samples[1].remove_sample, rewards[1]) == (True, 0.0)
        # miles' own normalisation of the others
        known = torch.tensor([sample.reward for sample in samples if sample.reward is not None])
        own = (known - known.mean()) / (known.std() + 1e-6)
        assert torch.allclose(torch.tensor([*rewards[:1], *rewards[2:]]), own)

    @pytest.mark.parametrize("per_token", [False, True])
    def test_its_own_loss_of_what_has_no_verdict_is_0_and_no_nan(self, per_token: bool) -> None:
        from miles.backends.training_utils import cp_utils
        from miles.utils.distributed_utils import distributed_masked_whiten
        from miles.utils.types import Sample

        samples = [Sample(prompt="6*7?", response="a", response_length=3, reward=reward) for reward in (1.0, None)]
        args = SimpleNamespace(advantage_estimator="grpo", rewards_normalization=True, grpo_std_normalization=True)
        args.n_samples_per_prompt, args.reward_key, args.global_batch_size = 1, None, 1
        slime.mask_unjudged(args, samples)
        masked = [torch.tensor(samples[1].loss_mask, dtype=torch.float)]
        token_losses = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
        parallel = SimpleNamespace(cp=SimpleNamespace(size=1))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(cp_utils, "get_parallel_state", lambda: parallel)
            loss = cp_utils.get_sum_of_sample_mean([4], [3], masked, per_token)(token_losses)
        loss.backward()
        assert loss.item() == 0.0
        assert token_losses.grad is not None
        assert token_losses.grad.tolist() == [0.0, 0.0, 0.0]
        # --normalize-advantages itself refuses a rollout that is masked as a whole
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(torch.distributed, "all_reduce", lambda *given, **named: None)
            with pytest.raises(ValueError, match="mask sum across all participating GPUs is zero"):
                distributed_masked_whiten(torch.ones(3), masked[0])


@pytest.fixture(scope="module")
def reward_api() -> ModuleType:
    """`areal.api.reward_api`, without the engines that `areal/__init__.py` imports."""
    api: ModuleType = without_engines("areal.api.reward_api")
    return api


class TestAreal:
    def ask(self, reward_api: ModuleType, reward: Any, answer: str, **options: Any) -> Any:
        wrapper = reward_api.AsyncRewardWrapper(reward, max_workers=1, max_retries=0, **options)
        return asyncio.run(wrapper("6*7?", answer, [1], [2], answer="42"))

    def test_its_pool_calls_us(self, math_judge: str, reward_api: ModuleType) -> None:
        reward = areal.reward_fn(math_judge)
        assert [self.ask(reward_api, reward, answer) for answer in (RIGHT, WRONG)] == [1.0, 0.0]

    def test_a_failed_verdict_is_raised_out_of_the_pool(self, failing: str, reward_api: ModuleType) -> None:
        with pytest.raises(JudgeError, match="the judge model did not answer"):
            self.ask(reward_api, areal.reward_fn(failing), NONE)

    def test_a_hanging_judge_raises_where_areal_would_answer_0(self, tmp_path: Path, reward_api: ModuleType) -> None:
        hanging = written(tmp_path, config("Hangs"), "hangs.yaml")
        with pytest.raises(JudgeError, match="no verdict within"):
            self.ask(reward_api, areal.reward_fn(hanging, seconds=0.2), RIGHT)
        # what it would answer: 0, after its own limit
        assert self.ask(reward_api, areal.reward_fn(hanging, seconds=60), RIGHT, timeout_seconds=0.2) == 0


class Renderer:
    """What `ProblemEnv.step` asks of a renderer, for one action."""

    def __init__(self, said: str) -> None:
        self.said = said

    def parse_response(self, action: Any) -> Any:
        ended = SimpleNamespace(is_stop_sequence=True, is_clean=True)
        return {"role": "assistant", "content": self.said}, ended

    def get_stop_sequences(self) -> list[str]:
        return ["</s>"]


class TestTinkerCookbook:
    def step(self, judge: str, said: str) -> Any:
        env = snippet("tinker-cookbook", judge)["JudgedEnv"](Renderer(said), "6*7?", "42")
        return asyncio.run(env.step([1, 2]))

    def test_the_guides_environment_steps(self, math_judge: str) -> None:
        assert self.step(math_judge, RIGHT).reward == 1.0
        assert self.step(math_judge, WRONG).reward == 0.0

    def test_a_judge_that_hangs_is_raised_in_time(self, hangs: str) -> None:
        env = snippet("tinker-cookbook", hangs)["JudgedEnv"](Renderer(RIGHT), "6*7?", "42")
        with release(), pytest.raises(DeadlineError, match=r"no verdict within 0\.3 s"):
            asyncio.run(env.step([1, 2]))

    def test_a_failed_verdict_is_raised_out_of_the_step(self, failing: str) -> None:
        with pytest.raises(JudgeError, match="the judge model did not answer"):
            self.step(failing, NONE)


class TestNemoRl:
    def environment(self, judge: str, monkeypatch: pytest.MonkeyPatch) -> Any:
        monkeypatch.syspath_prepend(str(ROOT / "tests" / "stand_ins"))
        from agentscope_tuner.adapters.nemo_rl import JudgeEnvironmentInPlace

        return JudgeEnvironmentInPlace({"config": judge})

    def log(self, answer: str) -> list[dict[str, Any]]:
        tokens = torch.zeros(3)
        return [
            {"role": "user", "content": "6*7?", "token_ids": tokens},
            {"role": "assistant", "content": answer + "<|im_end|>", "token_ids": tokens},
        ]

    def test_a_step_judges_the_batch(self, math_judge: str, monkeypatch: pytest.MonkeyPatch) -> None:
        environment = self.environment(math_judge, monkeypatch)
        truth = [{"ground_truth": "42"}] * 2
        step = environment.step([self.log(RIGHT), self.log(WRONG)], truth)
        assert step.rewards.tolist() == [1.0, 0.0]
        assert step.terminateds.tolist() == [1.0, 1.0]
        assert step.answers == [RIGHT, WRONG]
        assert [observation["role"] for observation in step.observations] == ["environment"] * 2
        batch: dict[str, Any] = {}
        assert environment.global_post_process_and_metrics(batch)[1]["MathAnswerAsJudge/success_rate"] == 0.5
        assert "MathAnswerAsJudge/success_rate" not in environment.global_post_process_and_metrics(batch)[1]

    def test_an_assistants_turn_in_the_prompt_is_no_answer(
        self, math_judge: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        # the question was the one before the first assistant's turn, an example's
        self.environment(math_judge, monkeypatch)
        from agentscope_tuner.adapters.nemo_rl import _pair

        shown = [{"role": "user", "content": "1+1?"}, {"role": "assistant", "content": r"\boxed{2}"}]
        task, output = _pair([*shown, *self.log(RIGHT)], {"ground_truth": "42"})
        assert (task.task.main_query, output.metadata["final_answer"]) == ("6*7?", RIGHT)
        assert [turn["role"] for turn in output.metadata["messages"]] == ["assistant"]

    @pytest.mark.parametrize("answers", [[NONE], GROUP], ids=["alone", "in a group of 8"])
    def test_a_failed_verdict_fails_the_step(
        self, answers: list[str], failing: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        environment = self.environment(failing, monkeypatch)
        with pytest.raises(JudgeError, match="the judge model did not answer"):
            environment.step([self.log(answer) for answer in answers], [{"ground_truth": "42"}] * len(answers))

    def test_a_judge_that_hangs_fails_the_step_in_time(self, hangs: str, monkeypatch: pytest.MonkeyPatch) -> None:
        environment = self.environment(hangs, monkeypatch)
        truth = [{"ground_truth": "42"}] * len(GROUP)
        with release(), pytest.raises(DeadlineError, match=r"no verdict within 0\.3 s"):
            environment.step([self.log(answer) for answer in GROUP], truth)

    def test_each_part_of_a_combined_judge_may_be_a_reward_of_its_own(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.syspath_prepend(str(ROOT / "tests" / "stand_ins"))
        from agentscope_tuner.adapters.nemo_rl import JudgeEnvironmentInPlace

        math_part = {"judge_protocol": "agentscope_tuner.task_judge.math_answer_as_judge->MathAnswerAsJudge"}
        box = {"judge_protocol": "tests.with_trainers.judges->AnyBox", "weight": 0.5}
        section = {"judge_type": "combined", "parts": {"right": math_part, "boxed": box}}
        judge = written(tmp_path, {"astuner": {"task_judge": section}}, "parts.yaml")
        environment = JudgeEnvironmentInPlace({"config": judge, "named_rewards": True})
        step = environment.step([self.log(RIGHT), self.log(WRONG), self.log(NONE)], [{"ground_truth": "42"}] * 3)
        assert {name: found.tolist() for name, found in step.rewards.items()} == {
            "right": [1.0, 0.0, 0.0],
            "boxed": [1.0, 1.0, 0.0],
        }
        with pytest.raises(ConfigError, match="has no parts: it takes judge_type: combined"):
            JudgeEnvironmentInPlace({"config": written(tmp_path, config("AnyBox")), "named_rewards": True})

    def test_it_is_a_ray_actor(self, math_judge: str, monkeypatch: pytest.MonkeyPatch) -> None:
        self.environment(math_judge, monkeypatch)
        from agentscope_tuner.adapters.nemo_rl import JudgeEnvironment

        # how NeMo RL starts one: `get_object(fqn).options(...).remote(config)`
        assert callable(JudgeEnvironment.options)


class TestSnippets:
    """The guide's other snippets, against objects of their trainers' shapes."""

    def test_art(self, math_judge: str, failing: str) -> None:
        def trajectory(said: str) -> Any:
            turns = [{"role": "user", "content": "6*7?"}, {"role": "assistant", "content": said}]
            return SimpleNamespace(messages=lambda: turns, reward=0.0, metrics={})

        judged = snippet("OpenPipe ART", math_judge)["judged"]
        assert asyncio.run(judged(trajectory(RIGHT), {"answer": "42"})).reward == 1.0
        with pytest.raises(JudgeError, match="the judge model did not answer"):
            asyncio.run(snippet("OpenPipe ART", failing)["judged"](trajectory(NONE), {"answer": "42"}))

    def test_axolotl_which_takes_functions_of_two_parameters_or_more(self, math_judge: str) -> None:
        function = snippet("Axolotl and Unsloth", math_judge)["math"]
        assert len(inspect.signature(function).parameters) >= 2
        assert function(["6*7?"], [RIGHT], answer=["42"]) == [1.0]
