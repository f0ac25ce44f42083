"""Graders: text in, a score or a rank out. Asynchronous; they know nothing of tasks and workflows."""

from agentscope_tuner.graders.base_grader import BaseGrader
from agentscope_tuner.graders.client.chat_model import ChatModel, ChatSettings
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
