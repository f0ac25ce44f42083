"""open-instruct: a verifier, found by subclass and chosen by the `dataset` column.

A file that the launch script imports, before `build_all_verifiers` looks for subclasses:

    from agentscope_tuner.adapters.open_instruct import verifier
    MathJudge = verifier("math_judge", "configs/math.yaml")

Read in open-instruct's sources of October 2026 (`open_instruct/ground_truth_utils.py`): it is not on PyPI. A failed
verdict raises, and that ends the step.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agentscope_tuner.adapters.rollout import LAST_TURN
from agentscope_tuner.errors import config_fault
from agentscope_tuner.records.formats.sample import as_rollout, ground_truth_metadata
from agentscope_tuner.task_judge.batch import ConfiguredJudge, Pair, judge_for, loaded
from agentscope_tuner.task_judge.contract.judgement import Judgement

_TURN = re.compile(r"^(user|system|assistant|tool|environment): ", re.MULTILINE)


def verifier(name: str, config: str | Path, *, weight: float = 1.0) -> type:
    """A new subclass of `VerifierFunction`; open-instruct finds it because it is a subclass.

    Args:
        name: the value in the data set's `dataset` column that selects this verifier.
        config: the judge's YAML.
        weight: the weight of its score among several verifiers of a row.

    Raises:
        ConfigError: the judge cannot be loaded.
    """
    from open_instruct.ground_truth_utils import VerificationResult, VerifierFunction

    path = loaded(config)

    class Judged(VerifierFunction):  # type: ignore[misc]  # open_instruct is absent where types are checked
        """Scores predictions by the configured judge."""

        def __init__(self, verifier_config: Any = None) -> None:
            super().__init__(name, verifier_config=verifier_config, weight=weight)

        def __call__(
            self, tokenized_prediction: Any, prediction: str, label: Any, query: Any = None, rollout_state: Any = None
        ) -> Any:
            """The score of a prediction, and the reason."""
            judge = judge_for(path)
            return _result(judge, judge.judge(*_pair(prediction, label, query, rollout_state)))

        async def async_call(
            self, tokenized_prediction: Any, prediction: str, label: Any, query: Any = None, rollout_state: Any = None
        ) -> Any:
            """The async form of `__call__`, for open-instruct's event loop."""
            judge = judge_for(path)
            return _result(judge, await judge.ajudge(*_pair(prediction, label, query, rollout_state)))

    def _result(judge: ConfiguredJudge, judgement: Judgement) -> Any:
        cost = judgement.metrics.get("judge_cost", 0.0)
        return VerificationResult(score=judge.reward_or_raise(judgement), cost=cost, reasoning=judgement.reason)

    Judged.__name__ = Judged.__qualname__ = f"{name}_verifier"
    return Judged


def _pair(prediction: str, label: Any, query: Any, rollout_state: Any) -> Pair:
    state = rollout_state if isinstance(rollout_state, Mapping) else {}
    said = state.get(LAST_TURN)
    if not isinstance(said, str):
        if state.get("step_count"):
            raise config_fault(
                f"open-instruct hands over {state['step_count']} steps as one text, and what tools said in it is not "
                f"the policy's answer: let the environment leave the last turn in rollout_state[{LAST_TURN!r}]"
            )
        said = prediction
    asked = _last_asked(query) if isinstance(query, str) else query if isinstance(query, list) else ""
    return as_rollout(asked, said, ground_truth_metadata(label))


def _last_asked(query: str) -> str:
    """The last turn of the user in a prompt in open-instruct's form, in which each message is `role: content` on a new
    line.
    """
    if not _TURN.match(query):
        return query
    turns = list(_TURN.finditer(query))
    # what a user writes may have lines of this form, too, and the prompt ends with a user's turn
    last = next((turn.start() for turn in reversed(turns) if turn[1] not in ("user", "system")), 0)
    asked = next((turn for turn in turns if turn[1] == "user" and turn.start() >= last), None)
    return query if asked is None else query[asked.end() :]
