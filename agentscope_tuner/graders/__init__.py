"""Graders: text in, a score or a rank out. Asynchronous; they know nothing of tasks and workflows."""

from agentscope_tuner.graders.base_grader import BaseGrader
from agentscope_tuner.graders.chat_model import ChatModel, ChatSettings
from agentscope_tuner.graders.combine import WeightedSumGrader
from agentscope_tuner.graders.correctness import CorrectnessGrader
from agentscope_tuner.graders.format_grader import FormatGrader
from agentscope_tuner.graders.function_grader import FunctionGrader
from agentscope_tuner.graders.instruction_following import InstructionFollowingGrader
from agentscope_tuner.graders.llm_grader import LLMGrader
from agentscope_tuner.graders.pairwise import PairwiseGrader
from agentscope_tuner.graders.prompt_template import ChatMessage, LanguageEnum, PromptTemplate
from agentscope_tuner.graders.relevance import RelevanceGrader
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
