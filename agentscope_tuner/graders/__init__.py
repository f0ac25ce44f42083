"""Graders: text in, a score or a rank out. Asynchronous; they know nothing of tasks and workflows."""

from typing import TYPE_CHECKING

from agentscope_tuner._moved import on_first_use

if TYPE_CHECKING:
    from agentscope_tuner.graders.base_grader import BaseGrader as BaseGrader
    from agentscope_tuner.graders.base_grader import FunctionGrader as FunctionGrader
    from agentscope_tuner.graders.client.chat_model import ChatModel as ChatModel
    from agentscope_tuner.graders.client.settings import ChatSettings as ChatSettings
    from agentscope_tuner.graders.combine import WeightedSumGrader as WeightedSumGrader
    from agentscope_tuner.graders.llm_grader import LLMGrader as LLMGrader
    from agentscope_tuner.graders.ready import CoherenceGrader as CoherenceGrader
    from agentscope_tuner.graders.ready import CorrectnessGrader as CorrectnessGrader
    from agentscope_tuner.graders.ready import FormatGrader as FormatGrader
    from agentscope_tuner.graders.ready import GroundingGrader as GroundingGrader
    from agentscope_tuner.graders.ready import InstructionFollowingGrader as InstructionFollowingGrader
    from agentscope_tuner.graders.ready import MemoryGrader as MemoryGrader
    from agentscope_tuner.graders.ready import PairwiseGrader as PairwiseGrader
    from agentscope_tuner.graders.ready import RelevanceGrader as RelevanceGrader
    from agentscope_tuner.graders.ready import SafetyGrader as SafetyGrader
    from agentscope_tuner.graders.ready import ToolUseGrader as ToolUseGrader
    from agentscope_tuner.graders.ready import TrajectoryGrader as TrajectoryGrader
    from agentscope_tuner.graders.schema import GraderMode as GraderMode
    from agentscope_tuner.graders.schema import GraderRank as GraderRank
    from agentscope_tuner.graders.schema import GraderScore as GraderScore
    from agentscope_tuner.graders.template import ChatMessage as ChatMessage
    from agentscope_tuner.graders.template import LanguageEnum as LanguageEnum
    from agentscope_tuner.graders.template import PromptTemplate as PromptTemplate

# Each module is imported when one of its names is first used: code that only reads a row's usage needs no client
_NAMES = {
    "base_grader": "BaseGrader FunctionGrader",
    "client.chat_model": "ChatModel",
    "client.settings": "ChatSettings",
    "combine": "WeightedSumGrader",
    "llm_grader": "LLMGrader",
    "ready": "CoherenceGrader CorrectnessGrader FormatGrader GroundingGrader InstructionFollowingGrader MemoryGrader "
    "PairwiseGrader RelevanceGrader SafetyGrader ToolUseGrader TrajectoryGrader",
    "schema": "GraderMode GraderRank GraderScore",
    "template": "ChatMessage LanguageEnum PromptTemplate",
}
__all__ = sorted(" ".join(_NAMES.values()).split())
__getattr__ = on_first_use(__name__, _NAMES)
