"""Cheap prefilters that run before any judge: the eight rule kinds, compiled once per configuration."""

from agentscope_tuner.rules.kinds import RULE_HANDLERS
from agentscope_tuner.rules.rule_set import RuleSet, Violation, compile_rules

__all__ = ["RULE_HANDLERS", "RuleSet", "Violation", "compile_rules"]
