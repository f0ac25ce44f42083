"""slime, ms-swift, AReaL, rLLM, open-instruct and Trinity, each by the call that it makes, without its package."""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import pickle
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from agentscope_tuner import BaseJudge, ConfigError, JudgeError, Judgement, Reward, WorkflowOutput, WorkflowTask
from agentscope_tuner.adapters import areal, ms_swift, open_instruct, rllm, slime
from agentscope_tuner.adapters.rollout import LAST_TURN
from agentscope_tuner.errors import Cause
from agentscope_tuner.records.formats.sample import last_turn
from agentscope_tuner.task_judge.batch import judge_for
from tests.core.adapters.test_adapters_verl import MEASURES, settings

LONGEST = "tests.core.adapters.test_adapters->Longest"
TURNS = "tests.core.adapters.test_adapters_more->Turns"
STAND_INS = Path(__file__).parents[2] / "stand_ins"


class Waits(BaseJudge):
    """Waits for what never comes."""

    async def acompute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> tuple[float, bool]:
        await asyncio.Event().wait()
        return 1.0, True


class Turns(BaseJudge):
    """A reward for each turn: by its text; what is no number in `PAID` has none."""

    gives_turns = True
    PAID = {"42": 1.0, "41": 0.5, "no": 0.0}  # noqa: RUF012

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Reward:
        said = workflow_output.metadata.get("messages") or [{"content": workflow_output.metadata["final_answer"]}]
        turns = [self.PAID.get(message["content"]) for message in said]
        return Reward(sum(filter(None, turns)), True, turns=turns)


@dataclass
class Sample:
    """What the adapter reads of slime's `Sample`."""

    response: str
    prompt: Any = "6*7="
    label: Any = "42"
    group_index: int | None = 0
    metadata: dict[str, Any] = field(default_factory=dict)


class TestSlime:
    def ask(self, config: str, samples: Any) -> Any:
        return asyncio.run(slime.custom_rm(config)(SimpleNamespace(), samples, evaluation=False))

    def test_one_sample_and_a_list_of_them(self, tmp_path: Path) -> None:
        config = settings(tmp_path)
        sample = Sample("42<|im_end|>")
        assert self.ask(config, sample) == 1.0
        assert sample.metadata["judgement"]["status"] == "judged"
        assert self.ask(config, [Sample("42"), Sample("41"), Sample("")]) == [1.0, 0.0, 0.0]
        assert self.ask(config, [sample]) == [1.0]

    @pytest.mark.parametrize("samples", [Sample("boom"), [Sample("42"), Sample("boom")]])
    def test_a_failed_verdict_ends_the_rollout(self, samples: Any, tmp_path: Path) -> None:
        with pytest.raises(JudgeError, match="the judge model did not answer"):
            self.ask(settings(tmp_path), samples)

    def test_a_judge_that_ranks_takes_the_groups_of_a_batch(self, tmp_path: Path) -> None:
        config = settings(tmp_path, LONGEST)
        batch = [Sample(text, group_index=index) for index, text in [(0, "x"), (1, "xx"), (0, "xxx"), (1, "x")]]
        assert self.ask(config, batch) == [0.0, 1.0, 1.0, 0.0]
        with pytest.raises(JudgeError, match="--group-rm"):
            self.ask(config, Sample("x"))

    def test_metadata_and_labels_reach_the_judge(self) -> None:
        messages = [{"role": "system", "content": "Box it."}, {"role": "user", "content": "6*7?"}]
        task, output = slime.as_pair(Sample("x", messages, '{"target": 3}', metadata={"level": 2}))
        assert task.task.main_query == "6*7?"
        assert task.task.metadata == {
            "task_id": "group/0",
            "label": '{"target": 3}',
            "level": 2,
            "answer": '{"target": 3}',
            "target": 3,
        }
        assert output.metadata["final_answer"] == "x"
        own, _ = slime.as_pair(Sample("x", label=None, metadata={"answer": "7"}))
        assert own.task.metadata["answer"] == "7"

    def test_the_wire(self) -> None:
        task, output = slime.decode_request({"prompt": "6*7=", "response": "42</s>", "label": "42"})
        assert (task.task.main_query, output.metadata["final_answer"]) == ("6*7=", "42")

    @pytest.mark.parametrize(
        "payload",
        [
            {},
            {"prompt": "q", "label": "1"},
            {"prompt": 1, "response": "", "label": "1"},
            {"prompt": "q", "response": None, "label": "1"},
            {"prompt": ["q"], "response": "", "label": "1"},
        ],
    )
    def test_another_shape_is_refused(self, payload: dict[str, Any]) -> None:
        with pytest.raises(JudgeError, match=r"prompt, response and label|must be a str"):
            slime.decode_request(payload)


def said(*turns: str) -> list[dict[str, Any]]:
    return [{"role": "user", "content": "6*7?"}, *({"role": "assistant", "content": turn} for turn in turns)]


class TestMsSwift:
    def test_a_tools_last_words_are_not_the_answer(self, tmp_path: Path) -> None:
        # ms-swift's `completions` are the last messages, whoever wrote them
        turns = [{"role": "user", "content": "6*7?"}, {"role": "assistant", "content": "<tool_call>"}]
        messages = [[*turns, {"role": "tool", "content": "42"}], [*turns, {"role": "assistant", "content": "42"}]]
        assert self.ask(settings(tmp_path), ["42", "42"], messages=messages) == [0.0, 1.0]

    @pytest.mark.parametrize("judge", ["tests.core.adapters.test_adapters->Echo", LONGEST])
    def test_the_awaited_twin_gives_the_same(self, judge: str, tmp_path: Path) -> None:
        config, answers = settings(tmp_path, judge), ["42", "41", "x", "42"]
        named = {"messages": [said(text) for text in answers], "answer": ["42"] * 4}
        twin = ms_swift.async_orm(config)()
        assert asyncio.run(twin(answers, **named)) == ms_swift.orm(config)()(answers, **named)
        assert type(twin).__name__ == type(ms_swift.orm(config)()).__name__

    def ask(self, config: str, completions: list[str], args: Any = None, **columns: Any) -> Any:
        named = {"messages": [said(text) for text in completions], "trainer_state": object(), **columns}
        named.setdefault("answer", ["42"] * len(completions))
        return ms_swift.orm(config)(args=args)(completions, **named)

    def test_rewards_and_the_name_that_swift_logs(self, tmp_path: Path) -> None:
        config = settings(tmp_path, extra="    name: strict\n")
        assert self.ask(config, ["42", "41", ""]) == [1.0, 0.0, 0.0]
        assert type(ms_swift.orm(config)()).__name__ == "strict"

    def test_rows_are_logged_with_the_step_of_the_trainer(self, tmp_path: Path) -> None:
        config = settings(tmp_path, extra=f"    log_dir: {tmp_path / 'judged'}\n")
        self.ask(config, ["42", "41"], trainer_state=SimpleNamespace(global_step=4))
        [file] = (tmp_path / "judged").iterdir()
        assert [json.loads(line)["step"] for line in file.read_text().splitlines()] == [5, 5]

    def test_the_reference_may_stand_under_solution(self, tmp_path: Path) -> None:
        reward = ms_swift.orm(settings(tmp_path))()
        assert reward(["42"], messages=[said("42")], solution=["42"]) == [1.0]

    def test_a_failed_verdict_ends_the_step(self, tmp_path: Path) -> None:
        with pytest.raises(JudgeError, match="the judge model did not answer"):
            self.ask(settings(tmp_path), ["42", "boom"])

    def test_groups_are_those_of_the_prompts(self, tmp_path: Path) -> None:
        config = settings(tmp_path, LONGEST)
        ids = ["a", "b", "a", "b"]
        assert self.ask(config, ["x", "xx", "xxx", "x"], prompt_id=ids) == [0.0, 1.0, 1.0, 0.0]

    @pytest.mark.parametrize("ids", ["ab", "aab"])
    def test_a_part_of_a_group_has_no_verdict(self, ids: str, tmp_path: Path) -> None:
        args = SimpleNamespace(num_generations=4, num_generations_eval=None)
        with pytest.raises(JudgeError, match="ranks whole groups"):
            self.ask(settings(tmp_path, LONGEST), ["x"] * len(ids), args, prompt_id=list(ids))


class TestAreal:
    ROW: dict[str, Any] = {"messages": [{"role": "user", "content": "6*7?"}], "answer": "42", "level": 3}  # noqa: RUF012

    def test_one_completion(self, tmp_path: Path) -> None:
        reward = areal.reward_fn(settings(tmp_path))
        assert reward("6*7?", "42<|im_end|>", [1], [2], **self.ROW) == 1.0
        assert asyncio.run(areal.async_reward_fn(settings(tmp_path))("6*7?", "41", [1], [2], **self.ROW)) == 0.0

    def test_a_failed_verdict_raises(self, tmp_path: Path) -> None:
        with pytest.raises(JudgeError, match="the judge model did not answer"):
            areal.reward_fn(settings(tmp_path))("6*7?", "boom", **self.ROW)
        with pytest.raises(JudgeError, match="the judge model did not answer"):
            asyncio.run(areal.async_reward_fn(settings(tmp_path))("6*7?", "boom", **self.ROW))

    def test_it_raises_before_areal_would_answer_0(self, tmp_path: Path) -> None:
        config = settings(tmp_path, "tests.core.adapters.test_adapters_more->Waits")
        with pytest.raises(JudgeError, match=r"no verdict within 0\.01 s, and AReaL answers 0 after 15"):
            areal.reward_fn(config, seconds=0.01)("6*7?", "42", **self.ROW)
        (other := tmp_path / "other").mkdir()
        zero = settings(other, "tests.core.adapters.test_adapters_more->Waits", "    on_error: zero\n")
        assert areal.reward_fn(zero, seconds=0.01)("6*7?", "42", **self.ROW) == 0.0

    def test_it_pickles_into_a_process_pool_in_another_directory(self, tmp_path: Path) -> None:
        settings(tmp_path)
        before = os.getcwd()
        os.chdir(tmp_path)
        try:
            reward = areal.reward_fn("judge.yaml")
        finally:
            os.chdir(before)
        assert pickle.loads(pickle.dumps(reward))("6*7?", "42", **self.ROW) == 1.0
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            assert pool.submit(reward, "6*7?", "42", [1], [2], **self.ROW).result(timeout=60) == 1.0


@pytest.fixture
def trainers_types(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(STAND_INS))


@pytest.mark.usefixtures("trainers_types")
class TestRllm:
    ROW: dict[str, Any] = {"question": "6*7?", "answer": "42"}  # noqa: RUF012

    def test_an_episode_is_scored_with_signals(self, tmp_path: Path) -> None:
        evaluator = rllm.JudgeEvaluator(settings(tmp_path, MEASURES))
        output = evaluator.evaluate(self.ROW, SimpleNamespace(artifacts={"answer": "42"}, trajectories=[]))
        assert (output.reward, output.is_correct) == (1.0, True)
        signals = {signal.name: signal.value for signal in output.signals}
        assert signals["Measures/tokens"] == 7.0
        assert signals["success"] == 1.0
        assert output.metadata["status"] == "judged"

    @pytest.mark.parametrize(
        "episode",
        [
            {"artifacts": {"answer": "42"}},
            {"trajectories": [{"output": "42", "steps": []}]},
            {"trajectories": [{"output": None, "steps": [{"output": "42"}]}]},
            {"trajectories": [{"steps": [{"model_response": "42"}]}]},
        ],
    )
    @pytest.mark.parametrize("wrap", [dict, lambda row: SimpleNamespace(data=row)])
    def test_the_answer_is_found_where_agents_put_it(self, episode: Any, wrap: Any, tmp_path: Path) -> None:
        def as_object(value: Any) -> Any:
            if isinstance(value, dict) and "answer" not in value:
                return SimpleNamespace(**{key: as_object(inner) for key, inner in value.items()})
            return [as_object(inner) for inner in value] if isinstance(value, list) else value

        evaluator = rllm.JudgeEvaluator(settings(tmp_path))
        assert evaluator.evaluate(wrap(self.ROW), as_object(episode)).reward == 1.0

    @pytest.mark.parametrize(
        ("last", "reward"),
        [
            ({"role": "assistant", "content": "42"}, 1.0),
            ({"role": "assistant", "content": "41"}, 0.0),
            ({"role": "tool", "content": "42"}, 0.0),
            ({"role": "user", "content": "42"}, 0.0),
        ],
    )
    def test_a_step_of_rllms_own_workflows_has_its_reply_in_its_conversation(
        self, last: Any, reward: float, tmp_path: Path
    ) -> None:
        # such a step leaves its other texts empty, and a right answer was judged as none
        talk = [{"role": "user", "content": "6*7?"}, last]
        step = SimpleNamespace(model_response="", action=None, chat_completions=talk)
        episode = SimpleNamespace(artifacts={}, trajectories=[SimpleNamespace(steps=[step])])
        assert rllm.JudgeEvaluator(settings(tmp_path)).evaluate(self.ROW, episode).reward == reward

    @pytest.mark.parametrize("output", [{"text": "42"}, 42, ["42"], False])
    def test_an_output_that_is_no_text_is_no_empty_answer(self, output: Any, tmp_path: Path) -> None:
        # each was judged as an answer that the policy left empty
        evaluator = rllm.JudgeEvaluator(settings(tmp_path))
        episode = SimpleNamespace(artifacts={}, trajectories=[SimpleNamespace(output=output, steps=[])])
        with pytest.raises(JudgeError, match=r"an answer must be a str|a completion is a text"):
            evaluator.evaluate(self.ROW, episode)
        # what the last step says is the policy's own
        episode.trajectories[0].steps = [SimpleNamespace(output="42")]
        assert evaluator.evaluate(self.ROW, episode).reward == 1.0

    def test_messages_as_an_output_are_read_as_messages(self, tmp_path: Path) -> None:
        talk = [{"role": "tool", "content": "41"}, {"role": "assistant", "content": "42"}]
        episode = SimpleNamespace(artifacts={}, trajectories=[SimpleNamespace(output=talk, steps=[])])
        assert rllm.JudgeEvaluator(settings(tmp_path)).evaluate(self.ROW, episode).reward == 1.0

    def test_turns_are_the_rewards_of_the_steps(self, tmp_path: Path) -> None:
        evaluator = rllm.JudgeEvaluator(settings(tmp_path, TURNS))

        def played(*said: str) -> tuple[Any, list[Any]]:
            steps = [SimpleNamespace(output=text, reward=0.0) for text in said]
            return SimpleNamespace(artifacts={}, trajectories=[SimpleNamespace(output=None, steps=steps)]), steps

        episode, steps = played("no", "42", "41")
        assert evaluator.evaluate(self.ROW, episode).reward == 1.5
        assert [step.reward for step in steps] == [0.0, 1.0, 0.5]
        with pytest.raises(JudgeError, match=r"gave the turns \[1.0, None\], and the trajectory has 2"):
            evaluator.evaluate(self.ROW, played("42", "?")[0])
        with pytest.raises(JudgeError, match=r"gave the turns \[1.0\], and the trajectory has 0 steps") as raised:
            evaluator.evaluate(self.ROW, SimpleNamespace(artifacts={"answer": "42"}))
        assert (raised.value.judge, raised.value.cause) == ("Turns", Cause.ROLLOUT)
        # the older reward function has no steps
        with pytest.raises(JudgeError, match="a reward for each turn"):
            rllm.reward_fn(settings(tmp_path, TURNS))(self.ROW, "42")

    def test_a_failed_verdict_raises(self, tmp_path: Path) -> None:
        evaluator = rllm.JudgeEvaluator(settings(tmp_path))
        with pytest.raises(JudgeError, match="the judge model did not answer"):
            evaluator.evaluate(self.ROW, SimpleNamespace(artifacts={"answer": "boom"}))
        with pytest.raises(JudgeError, match="the judge model did not answer"):
            rllm.reward_fn(settings(tmp_path))(self.ROW, "boom")

    def test_an_episode_that_holds_nothing_has_no_verdict(self, tmp_path: Path) -> None:
        with pytest.raises(JudgeError, match="no trajectory"):
            rllm.JudgeEvaluator(settings(tmp_path)).evaluate(self.ROW, SimpleNamespace(artifacts={}, trajectories=[]))

    def test_the_older_reward_function(self, tmp_path: Path) -> None:
        reward = rllm.reward_fn(settings(tmp_path))
        assert reward({"problem": "6*7?", "ground_truth": "42"}, "42").is_correct
        assert reward(self.ROW, SimpleNamespace(action="41")).reward == 0.0
        with pytest.raises(JudgeError, match="must be a str, got 3"):
            reward(self.ROW, 3)


@pytest.mark.usefixtures("trainers_types")
class TestOpenInstruct:
    def test_a_verifier_is_found_and_scores(self, tmp_path: Path) -> None:
        from open_instruct.ground_truth_utils import VerifierFunction

        made = open_instruct.verifier("math_judge", settings(tmp_path), weight=0.5)
        assert made in VerifierFunction.__subclasses__()
        one = made({})
        assert (one.name, one.weight) == ("math_judge", 0.5)
        assert one([1], "42<|im_end|>", "42", "6*7?").score == 1.0
        result = asyncio.run(one.async_call([1], "41", "42", query="6*7?", rollout_state=None))
        assert result.score == 0.0
        assert isinstance(result.reasoning, str)

    @pytest.mark.parametrize("state", [{}, {"step_count": 0, "rewards": []}, {"step_count": 2, LAST_TURN: "42"}])
    def test_the_last_turn_is_judged(self, tmp_path: Path, state: dict[str, Any]) -> None:
        one = open_instruct.verifier("math_judge", settings(tmp_path))()
        said = "41" if LAST_TURN in state else "42"
        assert one([1], said, "42", "6*7?", state).score == 1.0

    def test_a_tools_text_is_not_judged(self, tmp_path: Path) -> None:
        # the tool said the right answer, the policy that it does not know
        one = open_instruct.verifier("math_judge", settings(tmp_path))()
        with pytest.raises(JudgeError, match=r"hands over 2 steps as one text.*rollout_state\['astuner_last_turn'\]"):
            one([1], "call <output>42</output> no idea", "42", "6*7?", {"step_count": 2, "done": True, "rewards": []})

    def test_a_failed_verdict_raises(self, tmp_path: Path) -> None:
        one = open_instruct.verifier("math_judge", settings(tmp_path))()
        with pytest.raises(JudgeError, match="the judge model did not answer"):
            one([1], "boom", "42")
        with pytest.raises(JudgeError, match="the judge model did not answer"):
            asyncio.run(one.async_call([1], "boom", "42"))


@pytest.mark.parametrize("build", [slime.custom_rm, ms_swift.orm, areal.reward_fn, rllm.JudgeEvaluator, rllm.reward_fn])
def test_a_wrong_configuration_stops_before_training(build: Any) -> None:
    with pytest.raises(ConfigError, match="no configuration file"):
        build("absent.yaml")


@pytest.mark.parametrize(
    ("text", "plain"), [("42<|im_end|></s>", "42"), ("42", "42"), ("<|im_end|> 42", "<|im_end|> 42"), ("</s>", "")]
)
def test_markers_after_a_turn_are_no_part_of_the_answer(text: str, plain: str) -> None:
    assert last_turn(text) == plain


class TestTrinity:
    """With classes in place of Trinity's own, whose registry and workflows are tested where it is installed."""

    @pytest.fixture
    def adapter(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
        names = ("trinity", "common", "rewards", "reward_fn"), ("trinity", "common", "workflows", "workflow")
        bases = ("RewardFn", "AsyncSimpleWorkflow")
        for path, base in zip(names, bases, strict=True):
            for length in range(1, len(path)):
                monkeypatch.setitem(sys.modules, ".".join(path[:length]), ModuleType(".".join(path[:length])))
            module = ModuleType(".".join(path))
            setattr(module, base, type(base, (), {}))
            monkeypatch.setitem(sys.modules, module.__name__, module)
        name = "agentscope_tuner.adapters.trinity"
        monkeypatch.delitem(sys.modules, name, raising=False)
        yield importlib.import_module(name)
        sys.modules.pop(name, None)

    def judged(self, adapter: Any, reward_fn: Any, *said: str | None, **fields: Any) -> list[Any]:
        answers = [
            SimpleNamespace(response_text=text, metrics=metrics, reward=None, eid=SimpleNamespace(run=None))
            for text, metrics in zip(said, ({"own": 1.0}, *[None] * len(said)), strict=False)
        ]

        async def chat_async(messages: object, **options: object) -> list[Any]:
            assert (messages, options) == (["asked"], {"n": len(said)})
            return answers

        workflow = adapter.JudgedWorkflow()
        workflow.model = SimpleNamespace(chat_async=chat_async)
        workflow.format_messages = lambda: ["asked"]
        told = {"truth": "42", "task_desc": "6*7?", "run_id_base": 8, "rollout_args": {"n": len(said)}, **fields}
        vars(workflow).update(told, reward_fn=reward_fn)
        found: list[Any] = asyncio.run(workflow.run_async())
        assert found == answers
        return found

    def test_each_answer_to_a_prompt_has_its_reward_its_metrics_and_its_number(
        self, adapter: Any, tmp_path: Path
    ) -> None:
        found = self.judged(adapter, adapter.AstunerReward(settings(tmp_path)), "42", "41", None)
        assert [one.reward for one in found] == [1.0, 0.0, 0.0]
        assert [one.eid.run for one in found] == [8, 9, 10]
        assert [one.metrics["astuner"] for one in found] == [1.0, 0.0, 0.0]
        # what Trinity's own has measured stays
        assert found[0].metrics["own"] == 1.0

    @pytest.mark.parametrize(("asked", "shown"), [("6*7?", "6*7?"), (None, "")])
    def test_the_judge_sees_the_question(
        self, adapter: Any, asked: str | None, shown: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        asks: list[tuple[list[str], object, str]] = []

        async def answers(self: Any, texts: list[str], truth: object, prompt: str) -> list[dict[str, float]]:
            asks.append((texts, truth, prompt))
            return [{"astuner": 0.5}] * len(texts)

        monkeypatch.setattr(adapter.AstunerReward, "answers", answers)
        self.judged(adapter, adapter.AstunerReward(settings(tmp_path)), "42", None, task_desc=asked)
        assert asks == [(["42", ""], "42", shown)]

    def test_a_failed_verdict_and_another_reward_function_raise(self, adapter: Any, tmp_path: Path) -> None:
        with pytest.raises(JudgeError, match="the judge model did not answer"):
            self.judged(adapter, adapter.AstunerReward(settings(tmp_path)), "42", "boom")
        with pytest.raises(ConfigError, match="JudgedWorkflow was given SimpleNamespace"):
            self.judged(adapter, SimpleNamespace(), "42")

    def test_trinitys_sum_of_the_values_is_the_reward_alone(self, adapter: Any, tmp_path: Path) -> None:
        told = adapter.AstunerReward(settings(tmp_path, MEASURES))("42", truth="42", prompt="6*7?", with_think=True)
        assert (sum(told.values()), told["astuner"]) == (1.0, 1.0)
        assert len(told) > 1


class _Rubric:
    """What `vf.Rubric` and `vf.RubricGroup` do for this adapter."""

    def __init__(self, rubrics: Sequence[Any] = ()) -> None:
        self.rubrics, self.funcs, self.has_group_rewards = list(rubrics), list[Any](), False

    def _get_reward_funcs(self) -> list[Any]:
        return self.funcs

    async def score_rollout(self, state: dict[str, Any]) -> None:
        await self.score_group([state])

    async def score_group(self, states: list[dict[str, Any]]) -> None:
        for state in states:
            state["reward"], state["metrics"] = sum(one(state) for one in self.funcs), {"length": 3.0}
            for step in state.get("trajectory", []):
                step.update(reward=9.0, advantage=9.0)


class _Group(_Rubric):
    has_group_rewards = False

    def __init__(self, rubrics: Sequence[Any]) -> None:
        self.rubrics = list(rubrics)


@pytest.fixture
def judge_rubric(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Any]:
    module = ModuleType("verifiers")
    vars(module).update(InfraError=RuntimeError, Rubric=_Rubric, RubricGroup=_Group)
    monkeypatch.setitem(sys.modules, "verifiers", module)
    home = "agentscope_tuner.adapters.verifiers"
    monkeypatch.delitem(sys.modules, home, raising=False)

    def made(judge: str, weight: float = 1.0) -> Any:
        path = tmp_path / f"{judge}.yaml"
        path.write_text(f"astuner:\n  task_judge:\n    judge_protocol: tests.with_trainers.judges->{judge}\n")
        return importlib.import_module(home).judge_rubric(path, weight, stop_when_failing=False)

    yield made
    sys.modules.pop(home, None)


def _state(said: str, truth: object = "42", **more: Any) -> dict[str, Any]:
    message = SimpleNamespace(model_dump=lambda: {"role": "assistant", "content": said})
    prompt = [{"role": "user", "content": "6*7?"}]
    return {"prompt": prompt, "completion": [message], "answer": truth, **more}


def test_a_rubric_of_verifiers_writes_the_judges_verdicts(judge_rubric: Any) -> None:
    rubric = judge_rubric("Fails", 2.0)
    assert not rubric.has_group_rewards
    right, wrong, failed = (_state(*one) for one in (("\\boxed{42}",), ("\\boxed{40}",), ("\\boxed{41}", "41")))
    # no column of its own, but one of the row
    named = {**_state("\\boxed{42}", ""), "info": {"answer": "42"}}
    for state in (right, named):
        asyncio.run(rubric.score_rollout(state))
        assert state["reward"] == 2.0
        assert state["metrics"] == {"Fails/failed": 0.0, "Fails": 1.0, "Fails/success": 1.0, "Fails/filtered": 0.0}
        assert "error" not in state
    states = [right, wrong, failed]
    for state in states:
        state["trajectory"] = [{}, {"reward": 5.0, "advantage": None}]
    asyncio.run(rubric.score_group(states))
    assert [state["reward"] for state in states] == [2.0, 0.0, 0.0]
    # without a verdict it stands in no mean, and its steps have no reward
    assert [state["advantage"] for state in states] == [1.0, -1.0, 0.0]
    assert right["trajectory"] == [{"reward": 2.0, "advantage": 1.0}, {"reward": 5.0, "advantage": 1.0}]
    assert failed["trajectory"] == [{"advantage": 0.0}, {"reward": 5.0, "advantage": 0.0}]
    assert failed["metrics"] == {"Fails/failed": 1.0}
    assert "the judge model did not answer" in str(failed["error"])
    # its own error came first
    own = _state("\\boxed{41}", "41", error="no tool")
    asyncio.run(rubric.score_rollout(own))
    assert own["error"] == "no tool"


def test_functions_beside_the_judge_are_added(judge_rubric: Any) -> None:
    rubric = judge_rubric("Fails")
    rubric.rubrics[0].funcs.append(lambda _: 0.25)
    right, failed = _state("\\boxed{42}", trajectory=[{"reward": None}]), _state("\\boxed{41}", "41")
    asyncio.run(rubric.score_group([right, failed]))
    assert [right["reward"], failed["reward"]] == [1.25, 0.0]
    assert right["metrics"] == {
        "Fails/failed": 0.0,
        "Fails": 1.0,
        "Fails/success": 1.0,
        "Fails/filtered": 0.0,
        "length": 3.0,
    }
    assert right["trajectory"] == [{"reward": 1.25, "advantage": 0.0}]
    asyncio.run(rubric.score_rollout(right))
    assert right["reward"] == 1.25


def test_a_judge_that_ranks_asks_verifiers_for_groups(judge_rubric: Any) -> None:
    rubric = judge_rubric("Shortest")
    assert rubric.has_group_rewards
    states = [_state("x" * size) for size in (1, 2, 3, 4)]
    asyncio.run(rubric.score_group(states))
    assert [state["reward"] for state in states] == pytest.approx([1.0, 2 / 3, 1 / 3, 0.0])
    with pytest.raises(JudgeError, match="Shortest ranks a group, and got one rollout: score groups, not rollouts"):
        asyncio.run(rubric.score_rollout(states[0]))


def test_turns_that_are_not_the_rollouts_steps_are_no_verdict(judge_rubric: Any) -> None:
    rubric = judge_rubric("Fails")
    judged = Judgement(status="judged", reward=1.0, is_success=True, turns=(1.0, None))
    fits = _state("x", trajectory=[{}, {}])
    assert rubric._fitting(fits, judged) is judged
    refused = rubric._fitting(_state("x", trajectory=[{}]), judged)
    assert (refused.status, refused.cause) == ("failed", "rollout")
    assert "gave 2 turns a reward, and the rollout has 1 steps" in (refused.error or "")
    rubric._weight = 3.0
    rubric._write_verdict(judge_for(rubric._path), fits, judged)
    assert fits["trajectory"] == [{"reward": 3.0}, {"reward": None}]
