"""Graders: text in, a score or a rank out. Asynchronous; they know nothing of tasks and workflows."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agentscope_tuner.graders.base_grader import BaseGrader
    from agentscope_tuner.graders.client.chat_model import ChatModel
    from agentscope_tuner.graders.client.chat_settings import ChatSettings
    from agentscope_tuner.graders.combine import WeightedSumGrader
    from agentscope_tuner.graders.function_grader import FunctionGrader
    from agentscope_tuner.graders.llm_grader import LLMGrader
    from agentscope_tuner.graders.prompt.template import ChatMessage, LanguageEnum, PromptTemplate
    from agentscope_tuner.graders.ready.correctness import CorrectnessGrader
    from agentscope_tuner.graders.ready.format_grader import FormatGrader
    from agentscope_tuner.graders.ready.instruction_following import InstructionFollowingGrader
    from agentscope_tuner.graders.ready.pairwise import PairwiseGrader
    from agentscope_tuner.graders.ready.relevance import RelevanceGrader
    from agentscope_tuner.graders.schema import GraderMode, GraderRank, GraderScore

__all__ = [
    "BaseGrader",
    "ChatMessage",
    "ChatModel",
    "ChatSettings",
    "CorrectnessGrader",
    "FormatGrader",
    "FunctionGrader",
    "GraderMode",
    "GraderRank",
    "GraderScore",
    "InstructionFollowingGrader",
    "LLMGrader",
    "LanguageEnum",
    "PairwiseGrader",
    "PromptTemplate",
    "RelevanceGrader",
    "WeightedSumGrader",
]

# Each module is imported when one of its names is first used: code that only reads a row's usage needs no client
_HOMES = {
    "agentscope_tuner.graders.base_grader": ("BaseGrader",),
    "agentscope_tuner.graders.client.chat_model": ("ChatModel",),
    "agentscope_tuner.graders.client.chat_settings": ("ChatSettings",),
    "agentscope_tuner.graders.combine": ("WeightedSumGrader",),
    "agentscope_tuner.graders.function_grader": ("FunctionGrader",),
    "agentscope_tuner.graders.llm_grader": ("LLMGrader",),
    "agentscope_tuner.graders.prompt.template": (
        "ChatMessage",
        "LanguageEnum",
        "PromptTemplate",
    ),
    "agentscope_tuner.graders.ready.correctness": ("CorrectnessGrader",),
    "agentscope_tuner.graders.ready.format_grader": ("FormatGrader",),
    "agentscope_tuner.graders.ready.instruction_following": ("InstructionFollowingGrader",),
    "agentscope_tuner.graders.ready.pairwise": ("PairwiseGrader",),
    "agentscope_tuner.graders.ready.relevance": ("RelevanceGrader",),
    "agentscope_tuner.graders.schema": (
        "GraderMode",
        "GraderRank",
        "GraderScore",
    ),
}


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(home), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}; its public names are {', '.join(__all__)}")
