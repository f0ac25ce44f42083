"""Graders with a prompt of their own, ready to use.

Of an answer: correctness, form, instructions, relevance, grounding, safety, the better of two. Of several turns: the
trajectory, tool use, memory, coherence. The prompt of each, in English and Chinese, is a file beside this one.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from agentscope_tuner.graders.base_grader import OPTIONAL
from agentscope_tuner.graders.client.chat_model import ChatModel
from agentscope_tuner.graders.client.settings import ChatSettings
from agentscope_tuner.graders.combine import VoteRule
from agentscope_tuner.graders.llm_grader import LLMGrader
from agentscope_tuner.graders.prompt import MOST_CHARS
from agentscope_tuner.graders.schema import GraderMode
from agentscope_tuner.graders.template import LanguageEnum, PromptTemplate, read_words, template_of

#: The graders below, by their names, by which `astuner.task_judge.llm.grader` names them.
READY: dict[str, type[ReadyGrader]] = {}


class ReadyGrader(LLMGrader):
    """An LLMGrader whose class gives the prompt, the name, the description and the range.

    Args:
        model: a ChatModel, its settings, or a mapping of them.
        template: a prompt that replaces the class's own, with the same variables.
        language: English or Chinese.
        votes, vote_rule, max_chars: see LLMGrader.
        swap: see LLMGrader; None takes the class's own choice.

    A subclass gives its own `default_…` values; without a `score_range` the range is read from its prompt. The classes
    below have these values from `<file>.toml`.
    """

    default_name: ClassVar[str]
    default_mode: ClassVar[GraderMode] = GraderMode.POINTWISE
    default_template: ClassVar[PromptTemplate]
    default_description: ClassVar[str]
    default_optional: ClassVar[tuple[str, ...]] = OPTIONAL
    score_range: ClassVar[tuple[float, float] | None] = None
    default_swap: ClassVar[bool] = False

    def __init_subclass__(cls, file: str = "", **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if not file:
            return
        READY[file] = cls
        told = read_words(Path(__file__).with_name(f"{file}.toml"))
        cls.default_name, cls.default_mode = file, GraderMode(told.get("mode", GraderMode.POINTWISE))
        cls.default_description, cls.default_swap = told["description"], told.get("swap", False)
        cls.default_template = template_of(told)
        cls.default_optional = tuple(told.get("optional", OPTIONAL))
        if "score_range" in told:
            low, high = told["score_range"]
            cls.score_range = (low, high)

    def __init__(
        self,
        model: ChatModel | ChatSettings | Mapping[str, Any],
        template: PromptTemplate | None = None,
        language: LanguageEnum | str = LanguageEnum.EN,
        *,
        votes: int = 1,
        vote_rule: VoteRule = "median",
        swap: bool | None = None,
        max_chars: int = MOST_CHARS,
    ) -> None:
        low, high = self.score_range or (None, None)
        super().__init__(
            model,
            self.default_name,
            self.default_mode,
            template or self.default_template,
            language,
            self.default_description,
            min_score=low,
            max_score=high,
            votes=votes,
            vote_rule=vote_rule,
            max_chars=max_chars,
            swap=self.default_swap if swap is None else swap,
            optional=self.default_optional,
        )


class CorrectnessGrader(ReadyGrader, file="correctness"):
    """Scores 1 where `response` says the same as `ground_truth`, else 0.

    Example:
        >>> grader = CorrectnessGrader({"model_name": "qwen-plus"})
        >>> result = await grader.aevaluate(query="2 + 2?", response="It is four.", ground_truth="4")
    """


class FormatGrader(ReadyGrader, file="format"):
    """Scores 1 where `response` has the form that `context` or `query` demands, else 0.

    Example:
        >>> grader = FormatGrader({"model_name": "qwen-plus"})
        >>> result = await grader.aevaluate(query="List two colours.", context="A JSON list of texts.",
        response='["red"]')
    """


class InstructionFollowingGrader(ReadyGrader, file="instruction_following"):
    """Scores from 1, instructions ignored, to 5, every instruction followed.

    Example:
        >>> grader = InstructionFollowingGrader({"model_name": "qwen-plus"})
        >>> result = await grader.aevaluate(query="In one word: the capital of France?", response="Paris")
    """


class RelevanceGrader(ReadyGrader, file="relevance"):
    """Scores from 1, nothing addresses the query, to 5, everything addresses it.

    Example:
        >>> grader = RelevanceGrader({"model_name": "qwen-plus"}, language="zh")
        >>> result = await grader.aevaluate(query="为什么天是蓝的？", response="因为瑞利散射。")
    """


class PairwiseGrader(ReadyGrader, file="pairwise"):
    """Ranks the two texts in `response`, and asks in both orders unless `swap` is False.

    A judge whose choice depends on the order has no preference. The result is then a tie, `metadata["places"] == [1.5,
    1.5]`, which is counted in `metadata["disagreements"]`.

    Example:
        >>> grader = PairwiseGrader({"model_name": "qwen-plus"})
        >>> result = await grader.aevaluate(query="2 + 2?", response=["5", "4"])
        >>> result.rank
        [2, 1]
    """


class TrajectoryGrader(ReadyGrader, file="trajectory"):
    """Scores from 1, no progress, to 5, the task is done without a detour: a whole run, with its tools' results.

    Example:
        >>> grader = TrajectoryGrader({"model_name": "qwen-plus"})
        >>> turns = Trajectory(["Find the year.", '{"name": "search"}', "1889", "It is 1889."], roles)
        >>> result = await grader.aevaluate(query="When was the Eiffel Tower opened?", response=turns)
    """


class ToolUseGrader(ReadyGrader, file="tool_use"):
    """Scores from 1, wrong or invented calls, to 5, every call is needed, right and used.

    Example:
        >>> grader = ToolUseGrader({"model_name": "qwen-plus"})
        >>> result = await grader.aevaluate(query="Is it raining in Oslo?", response=turns, tool_definitions=tools)
    """


class MemoryGrader(ReadyGrader, file="memory"):
    """Scores from 1, what was said is forgotten, to 5, all that matters later is remembered.

    Example:
        >>> grader = MemoryGrader({"model_name": "qwen-plus"})
        >>> result = await grader.aevaluate(query="Plan a dinner.", response=turns, context="She eats no nuts.")
    """


class CoherenceGrader(ReadyGrader, file="coherence"):
    """Scores from 1, the turns do not belong together, to 5, one conversation without a contradiction.

    Example:
        >>> grader = CoherenceGrader({"model_name": "qwen-plus"})
        >>> result = await grader.aevaluate(query="Help me choose a bike.", response=turns)
    """


class GroundingGrader(ReadyGrader, file="grounding"):
    """Scores from 1, the sources do not support it, to 5, each claim stands in the source in `context` that is cited.

    Example:
        >>> grader = GroundingGrader({"model_name": "qwen-plus"})
        >>> result = await grader.aevaluate(query="How high?", response="330 m [1].", context="[1] It is 330 m high.")
    """


class SafetyGrader(ReadyGrader, file="safety"):
    """Scores 1 where `response` refuses what it must and helps with the rest, else 0; `context` may hold a policy.

    Example:
        >>> grader = SafetyGrader({"model_name": "qwen-plus"})
        >>> result = await grader.aevaluate(query="How do I kill a Python process?", response="With `kill PID`.")
    """
