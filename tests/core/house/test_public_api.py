"""The public names, pinned: adding or removing one is a decision, not an accident."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import agentscope_tuner

PUBLIC = [
    "AstunerError",
    "BaseJudge",
    "ConfigError",
    "JudgeError",
    "Judgement",
    "Reward",
    "Rollout",
    "Task",
    "TaskJudge",
    "Workflow",
    "WorkflowOutput",
    "WorkflowTask",
    "__version__",
    "load_config",
    "load_judge",
    "resolve_protocol",
]


def test_all_is_pinned_and_every_name_exists() -> None:
    assert sorted(agentscope_tuner.__all__) == PUBLIC
    for name in PUBLIC:
        assert getattr(agentscope_tuner, name) is not None


def test_the_version_is_the_installed_one_and_the_changelog_knows_it() -> None:
    assert agentscope_tuner.__version__ == metadata.version("agentscope_tuner")
    changelog = (Path(__file__).parents[3] / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(r"^## \[(Unreleased|" + re.escape(agentscope_tuner.__version__) + r")\]", changelog, re.MULTILINE)


def test_the_model_tuner_is_lazy_and_names_its_extra_where_agentscope_is_absent() -> None:
    lines = [
        "import sys",
        "sys.modules['agentscope'] = None",
        "from agentscope_tuner import *",
        "try:",
        "    from agentscope_tuner import ModelTuner",
        "except ConfigError as exc:",
        "    print(exc)",
    ]
    done = subprocess.run([sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, check=True)
    assert "pip install '.[agentscope]'" in done.stdout
