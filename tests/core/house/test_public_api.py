"""The public names, pinned: adding or removing one is a decision, not an accident."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

import agentscope_tuner
from agentscope_tuner import _moved

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
    "show",
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


# every import path that README, docs, configs and tutorials have shown, and the names below it
DOCUMENTED = {
    "agentscope_tuner.adapters.rollout": ("as_rollout", "ground_truth_metadata", "named_metrics"),
    "agentscope_tuner.adapters.trl": ("combined", "reward_func", "stop_when_gamed"),
    "agentscope_tuner.config": ("load_config",),
    "agentscope_tuner.engines.local": ("score",),
    "agentscope_tuner.env_service": ("EnvServiceClient", "GymEnv"),
    "agentscope_tuner.env_service.environment": ("Environment",),
    "agentscope_tuner.errors": ("JudgeError", "ConfigError"),
    "agentscope_tuner.graders": ("CorrectnessGrader", "FunctionGrader", "WeightedSumGrader", "LLMGrader", "BaseGrader"),
    "agentscope_tuner.insight.watch.live": ("LiveWatch",),
    "agentscope_tuner.insight.watch.scalars": ("TensorBoardScalars",),
    "agentscope_tuner.on_ray.files": ("score_files",),
    "agentscope_tuner.on_ray.pool": ("RayJudge",),
    "agentscope_tuner.rules": ("RULE_HANDLERS", "compile_rules"),
    "agentscope_tuner.task_judge.base_judge": ("BaseJudge", "Reward"),
    "agentscope_tuner.task_judge.batch": ("judge_for",),
    "agentscope_tuner.task_judge.choice_judge": ("ChoiceJudge",),
    "agentscope_tuner.task_judge.countdown_answer_as_judge": ("CountdownAnswerAsJudge",),
    "agentscope_tuner.task_judge.env_service_as_judge": ("EnvServiceJudge",),
    "agentscope_tuner.task_judge.format_judge": ("FormatJudge",),
    "agentscope_tuner.task_judge.http_judge": ("HttpJudge",),
    "agentscope_tuner.task_judge.instruction_judge": ("InstructionJudge",),
    "agentscope_tuner.task_judge.json_answer_judge": ("JsonAnswerJudge",),
    "agentscope_tuner.task_judge.language_judge": ("LanguageJudge",),
    "agentscope_tuner.task_judge.length_judge": ("LengthJudge",),
    "agentscope_tuner.task_judge.math_answer_as_judge": ("MathAnswerAsJudge",),
    "agentscope_tuner.task_judge.repetition_judge": ("RepetitionJudge",),
    "agentscope_tuner.task_judge.text_match_judge": ("TextMatchJudge",),
    "agentscope_tuner.task_judge.tool_call_judge": ("ToolCallJudge",),
    "agentscope_tuner.task_judge.workflow_reward_as_judge": ("WorkflowRewardJudge",),
    "agentscope_tuner.workflow": ("Rollout", "Task", "Workflow", "WorkflowOutput", "WorkflowTask"),
}


@pytest.mark.parametrize(("path", "names"), DOCUMENTED.items(), ids=DOCUMENTED)
def test_documented_import_paths_keep_working(path: str, names: tuple[str, ...]) -> None:
    module = importlib.import_module(path)
    assert [name for name in names if not hasattr(module, name)] == []


def test_a_path_that_moved_gives_the_module_itself_and_no_second_copy() -> None:
    old = importlib.import_module("agentscope_tuner.insight.watch.live")
    assert old is importlib.import_module("agentscope_tuner.lab.watch.live")
    assert old.LiveWatch.__module__ == "agentscope_tuner.lab.watch.live"


@pytest.mark.parametrize(("old", "new"), _moved.MOVED.items())
def test_each_moved_path_is_importable(old: str, new: str) -> None:
    assert importlib.import_module(old) is importlib.import_module(new)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("MathJudge", "load_judge({'astuner': {'task_judge': {'judge': 'math'}}})"),
        ("LLMJudge", "load_judge({'astuner': {'task_judge': {'judge': 'llm'}}})"),
        ("load_jugde", "did you mean 'load_judge'?"),
        ("Loadjudge", "did you mean 'load_judge'?"),
        ("tokenizer_of_elsewhere", "its public names are AstunerError, "),
    ],
)
def test_an_import_of_what_the_package_lacks_names_what_is_meant(name: str, words: str) -> None:
    for line in (f"from agentscope_tuner import {name}", f"import agentscope_tuner.{name}"):
        with pytest.raises(ModuleNotFoundError) as caught:
            exec(line)  # noqa: S102  # the statement itself is tested
        assert words in str(caught.value)
    assert not hasattr(agentscope_tuner, name)


def test_the_package_of_the_command_runs_as_the_command() -> None:
    command = [sys.executable, "-m", "agentscope_tuner.cli", "--version"]
    assert subprocess.check_output(command, text=True).strip() == agentscope_tuner.__version__
