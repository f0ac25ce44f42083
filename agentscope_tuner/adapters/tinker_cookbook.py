"""tinker-cookbook 0.6: a `ProblemEnv` whose answer is judged.

    JudgedEnv = judged_env("configs/math.yaml")
    builder = ProblemGroupBuilder(lambda: JudgedEnv(renderer, question, answer), num_envs=16)

The verdict is awaited, so that the other rollouts of the loop go on meanwhile. A failed one raises out of `step`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tinker_cookbook.renderers import get_text_content
from tinker_cookbook.rl.problem_env import ProblemEnv

from agentscope_tuner.adapters.rollout import named_metrics
from agentscope_tuner.records.formats.sample import as_rollout, ground_truth_metadata
from agentscope_tuner.task_judge.batch import judge_for, loaded


def judged_env(config: str | Path) -> type[JudgedProblem]:
    """An environment class; the judge is loaded now, once for each process.

    Raises:
        ConfigError: the judge cannot be loaded.
    """
    return type("ConfiguredEnv", (JudgedProblem,), {"path": loaded(config)})


class JudgedProblem(ProblemEnv):  # type: ignore[misc]  # tinker_cookbook is absent where types are checked
    """A problem whose answer the judge decides. The reward is the judge's alone: `format_coef` is 0 by default.

    Args:
        renderer: tinker-cookbook's.
        question: the problem.
        answer: the reference, a text, a number or a record.
        more: of ProblemEnv, such as `convo_prefix`.
    """

    path = ""

    def __init__(self, renderer: Any, question: str, answer: object, **more: Any) -> None:
        super().__init__(renderer, **{"format_coef": 0.0, **more})
        self.question, self.answer = question, answer
        self._reward = 0.0

    async def step(self, action: Any, **more: Any) -> Any:
        """See ProblemEnv; `metrics` also hold the judge's, and `correct` is its success.

        Raises:
            JudgeError: no verdict, unless `on_error: zero` was configured.
        """
        message, _ = self.renderer.parse_response(action)
        judge = judge_for(self.path)
        pair = as_rollout(self.question, get_text_content(message), ground_truth_metadata(self.answer))
        judgement = await judge.ajudge(*pair)
        self._reward = judge.reward_or_raise(judgement)
        result = await super().step(action, **more)
        result.metrics.update(named_metrics(judge, judgement), correct=float(bool(judgement.is_success)))
        return result

    def get_question(self) -> str:
        """The problem."""
        return self.question

    def check_answer(self, sample_str: str) -> float:
        """The reward of the verdict that `step` awaited."""
        return self._reward

    def check_format(self, sample_str: str) -> bool:
        """True: the judge's rules say what form an answer needs."""
        return True

    def get_reference_answer(self) -> str:
        """The reference, for tinker-cookbook's log."""
        return str(self.answer)
