"""Cheap prefilters that run before any judge: the eight rule kinds, compiled once per configuration."""

from .handlers import RULE_HANDLERS
from .rule_set import RuleSet, Violation, compile_rules

__all__ = ["RULE_HANDLERS", "RuleSet", "Violation", "compile_rules"]
