"""InstructionJudge: whether an output follows the verifiable instructions of its prompt, as IFEval has them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal

from agentscope_tuner.config import StrictSection
from agentscope_tuner.errors import Cause, JudgeError
from agentscope_tuner.task_judge.base_judge import Reward, final_answer
from agentscope_tuner.task_judge.text_judge import TextJudge, as_list, read_kwargs
from agentscope_tuner.verify.places import after_thinking
from agentscope_tuner.verify.text.instructions import MOST_INSTRUCTIONS, follows, instruction_problem
from agentscope_tuner.workflow import Task, WorkflowOutput, WorkflowTask


class InstructionConfig(StrictSection):
    """InstructionJudge's `astuner.task_judge.judge_kwargs`."""

    #: `strict`: the response as it is; `loose`: also without its first or last line and its asterisks, as the paper
    mode: Literal["strict", "loose"] = "strict"
    #: several instructions: 1.0 where `all` are followed and else 0.0, or the `fraction` that is
    reward: Literal["all", "fraction"] = "all"


class InstructionJudge(TextJudge):
    """The share of the task's instructions that the output follows, 0.0 to 1.0; success means all of them.

    IFEval (arXiv 2311.07911) names 25 instructions that a program can check. A task lists its own under
    `metadata["instruction_id_list"]`, such as `length_constraints:number_words`, and the arguments of each, in the same
    order, under `metadata["kwargs"]`. Text in `<think>` tags does not belong to the response. The docstring of
    `verify.text.instructions` says where a check differs from the paper's code.

    Raises:
        JudgeError: of a verdict: an instruction is not known, or its arguments are missing or of the wrong kind.
    """

    reference_keys = ("instruction_id_list", "kwargs")
    metric_names = ("instructions_followed",)

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self._settings = read_kwargs(InstructionConfig, config)

    def verdict(self, task: WorkflowTask, output: WorkflowOutput) -> Reward:
        """See TextJudge."""
        instructions, said = _instructions(task.task), after_thinking(final_answer(output))
        loose = self._settings.mode == "loose"
        missed = [name for name, given in instructions if not follows(said, name, given, loose=loose)]
        share = 1.0 - len(missed) / len(instructions)
        reward = share if self._settings.reward == "fraction" else float(not missed)
        told = f", not {', '.join(missed[:8])}" if missed else ""
        reason = f"{len(instructions) - len(missed)} of {len(instructions)} instructions followed{told}"
        return Reward(reward, not missed, reason=reason, metrics={"instructions_followed": share})

    def check_task(self, task: Task, output: WorkflowOutput | None = None) -> str | None:
        """See BaseJudge: `missing` or `unreadable`."""
        try:
            _instructions(task)
        except JudgeError as error:
            listed = task.metadata.get("instruction_id_list")
            missing = listed is None or as_list(listed) == []
            return f"{'missing' if missing else 'unreadable'}: {error.message}"
        return None


def _instructions(task: Task) -> list[tuple[str, Mapping[str, Any]]]:
    ids, arguments = as_list(task.metadata.get("instruction_id_list")), as_list(task.metadata.get("kwargs"))
    if ids is None or not 1 <= len(ids) <= MOST_INSTRUCTIONS:
        raise _bad(f"instruction_id_list must list 1 to {MOST_INSTRUCTIONS} instructions, got {ids!r:.100}")
    if arguments is None or len(arguments) != len(ids):
        raise _bad(f"kwargs must list one mapping for each of {len(ids)} instructions, got {arguments!r:.100}")
    found = []
    for name, raw in zip(ids, arguments, strict=True):
        given = _arguments(raw)
        problem = instruction_problem(name, given) if isinstance(name, str) else f"no instruction: {name!r:.80}"
        if problem:
            raise _bad(problem)
        found.append((name, given))
    return found


def _arguments(raw: object) -> Mapping[str, Any]:
    try:
        given = json.loads(raw) if isinstance(raw, str) else raw
    except (ValueError, RecursionError) as exc:
        raise _bad(f"kwargs: {raw!r:.100} is no JSON: {exc}") from exc
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise _bad(f"kwargs: a mapping is needed for each instruction, got {given!r:.100}")
    return given


def _bad(message: str) -> JudgeError:
    return JudgeError(f"the task's {message}", cause=Cause.REFERENCE)
