"""The tree of a configuration's judge with its parts and routes, one line for each."""

from __future__ import annotations

from collections.abc import Iterator

from agentscope_tuner.config import PartConfig, TaskJudgeConfig

_NAMES = {
    "rubrics_auto_grader": "AutoGraderJudge",
    "llm": "LLMJudge",
    "task_rubrics": "TaskRubricsJudge",
    "combined": "CombinedJudge",
    "routed": "RoutedJudge",
}


def judge_tree(section: TaskJudgeConfig) -> list[str]:
    """The lines of the tree; a single line where the judge asks no other judge."""
    return [_told(section), *_below(section)]


def _below(section: TaskJudgeConfig) -> Iterator[str]:
    inner = {**section.parts, **section.routes}
    for number, (name, each) in enumerate(inner.items(), 1):
        last = number == len(inner)
        yield f"{'└──' if last else '├──'} {name}{_worth(each)}: {_told(each)}"
        for line in _below(each):
            yield f"{'    ' if last else '│   '}{line}"


def _worth(section: TaskJudgeConfig) -> str:
    return f" × {section.weight:g}" if isinstance(section, PartConfig) else ""


def _told(section: TaskJudgeConfig) -> str:
    told = [_NAMES.get(section.judge_type) or (section.judge_protocol or "no judge_protocol").rpartition("->")[2]]
    if section.judge_type == "combined":
        told += [section.reward, f"success: {section.success}"]
        told += [f"clip {section.clip[0]:g} to {section.clip[1]:g}"] if section.clip else []
    if section.judge_type == "routed":
        told.append(f"by {section.by}")
    if isinstance(section, PartConfig):
        told += [f"when {section.when}"] if section.when else []
        told += ["optional"] if section.optional else []
    told += [f"{len(section.rules)} rules"] if section.rules else []
    return ", ".join([*told, *(["on_error: zero"] if section.on_error == "zero" else [])])
