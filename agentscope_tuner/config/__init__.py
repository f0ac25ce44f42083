"""Configuration: OmegaConf over YAML, with one typed and strict section, `astuner.task_judge`.

Layers, later ones win: defaults < file < `key=value` overrides. Every other section (`rollout`, `data`, `trinity`,
`verl`, `hydra`, `defaults` …) passes through untouched: real training YAMLs have such sections, and judges receive the
whole configuration. `resolve` reads and merges it once and returns `Settings`, which the command line, the engines and
`load_judge` pass on.
"""

from agentscope_tuner.config.masked import masked
from agentscope_tuner.config.problems import StrictSection, validate_section
from agentscope_tuner.config.sections import SECTION, MathConfig, PartConfig, TaskJudgeConfig, route_name
from agentscope_tuner.config.settings import (
    Settings,
    Source,
    load_config,
    read_section,
    resolve,
    task_judge_section,
    with_section,
)

__all__ = [
    "SECTION",
    "MathConfig",
    "PartConfig",
    "Settings",
    "Source",
    "StrictSection",
    "TaskJudgeConfig",
    "load_config",
    "masked",
    "read_section",
    "resolve",
    "route_name",
    "task_judge_section",
    "validate_section",
    "with_section",
]
