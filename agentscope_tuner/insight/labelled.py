"""Reads labelled answers that measure a judge: rollouts with a label, or samples from which rubrics are learned."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentscope_tuner.errors import ConfigError
from agentscope_tuner.insight.labels import own_label
from agentscope_tuner.workflow import Task, WorkflowOutput, WorkflowTask


@dataclass(frozen=True, slots=True)
class Labelled:
    """One labelled answer.

    Attributes:
        task: the task of the rollout.
        output: the rollout's output, with the answer.
        label: the value that people give the answer; a higher label is better.
        group: the name that all answers to one task share.
    """

    task: WorkflowTask
    output: WorkflowOutput
    label: float
    group: str


def read_labelled(path: Path, response_path: str, limit: int | None = None) -> list[Labelled]:
    """The labelled answers of a file of JSON lines.

    A line is a rollout with `label: {score}` or `label: {is_success}`, or a sample. A sample is
    `{main_query, metadata: {answer, score}}` or `{main_query, metadata: {candidates: [{answer, rank}]}}`. A lower
    rank is better, so the label of a rank is its negative.

    Args:
        path: the file.
        response_path: the path at which the judge reads an answer, such as `output.metadata.final_answer`.
        limit: the most lines to read.

    Raises:
        ConfigError: the file cannot be read, a line is neither a rollout nor a sample, or all labels are equal.
    """
    found: list[Labelled] = []
    try:
        with open(path, encoding="utf-8-sig") as stream:
            for number, line in enumerate(stream, 1):
                if line.strip() and (limit is None or number <= limit):
                    found += _answers(json.loads(line), number, response_path)
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as exc:
        raise ConfigError(f"cannot read the labelled answers of {str(path)!r}: {type(exc).__name__}: {exc}") from exc
    if len({one.label for one in found}) < 2:
        raise ConfigError(f"{str(path)!r} holds {len(found)} labelled answers with one label: nothing tells them apart")
    return found


def _answers(row: Mapping[str, Any], number: int, response_path: str) -> Iterator[Labelled]:
    if "output" in row:
        label = own_label(row)
        if label is None:
            raise ValueError(f"line {number}: a rollout needs a label: {{score: …}} or {{is_success: …}}")
        task = Task.model_validate(row["task"])
        yield _labelled(task, WorkflowOutput.model_validate(row["output"]), label)
        return
    metadata = dict(row["metadata"])
    answers = metadata.pop("candidates", None) or [{"answer": metadata.pop("answer"), "score": metadata.pop("score")}]
    task = Task.model_validate({**row, "metadata": metadata})
    for answer in answers:
        label = float(answer["score"]) if "score" in answer else -float(answer["rank"])
        if not math.isfinite(label):
            raise ValueError(f"line {number}: a label must be a finite number, got {label!r}")
        yield _labelled(task, with_response(WorkflowOutput(), response_path, answer["answer"]), label)


def _labelled(task: Task, output: WorkflowOutput, label: float) -> Labelled:
    return Labelled(WorkflowTask(task=task), output, label, task.task_id or task.main_query)


def response_of(output: WorkflowOutput, response_path: str) -> str:
    """The answer at `response_path`; for chat messages the text of the last message.

    Raises:
        KeyError: `output` has no answer there.
    """
    value: Any = output.metadata
    for part in _keys(response_path):
        value = value[part]
    return str(value[-1]["content"] if isinstance(value, list) else value)


def with_response(output: WorkflowOutput, response_path: str, text: str) -> WorkflowOutput:
    """`output` with another answer at `response_path`."""
    *outer, last = _keys(response_path)
    metadata: dict[str, Any] = dict(output.metadata)
    inner = metadata
    for part in outer:
        inner[part] = dict(inner.get(part, {}))
        inner = inner[part]
    before = inner.get(last)
    if isinstance(before, list):
        inner[last] = [*before[:-1], {**before[-1], "content": text}]
    else:
        inner[last] = text
    return output.model_copy(update={"metadata": metadata})


def _keys(response_path: str) -> list[str]:
    root, field, *keys = response_path.split(".")
    if (root, field) != ("output", "metadata") or not keys:
        raise ConfigError(
            f"the judge reads answers at {response_path!r}; to be changed they must be in output.metadata"
        )
    return keys
