r"""FormatJudge: whether an output has the required shape: tags, one box, JSON that is valid against a schema."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Annotated, Any

import regex
from pydantic import Field, model_validator

from agentscope_tuner.config import StrictSection
from agentscope_tuner.errors import Cause, ConfigError, JudgeError, install
from agentscope_tuner.rules.patterns import compile_pattern, is_found
from agentscope_tuner.task_judge.base_judge import Reward, final_answer
from agentscope_tuner.task_judge.text_judge import KWARGS, TextJudge, read_kwargs
from agentscope_tuner.verify.places import after_thinking
from agentscope_tuner.verify.text import json_schema
from agentscope_tuner.verify.text.json_schema import JsonSchema, OverBoundsError
from agentscope_tuner.verify.text.shape import Shaped, box_problem, read_tags
from agentscope_tuner.verify.text.strict_json import NotStrictJsonError, float_real, read_json, stated_json
from agentscope_tuner.workflow import WorkflowOutput, WorkflowTask

_Tag = Annotated[str, Field(pattern=r"^[A-Za-z][\w-]{0,40}$")]


class FormatConfig(StrictSection):
    """FormatJudge's `astuner.task_judge.judge_kwargs`: at least one of `tags`, `boxed` and `json_schema`."""

    #: names of tags, without their brackets: the output is `<think>…</think><answer>…</answer>` for `[think, answer]`
    tags: list[_Tag] | None = Field(default=None, min_length=1, max_length=16)
    #: the chat template ends the prompt with the first opening tag, so that the output begins inside it
    opened_in_prompt: bool = False
    #: whether words may stand before, between and behind the tags
    allow_around: bool = False
    #: whether a tag may hold nothing, as `<think></think>` does where a model skips its reasoning
    allow_empty: bool = False
    #: one `\\boxed{}`, not empty, in the last tag; without tags, in what is not reasoning
    boxed: bool = False
    #: a JSON Schema, against which the same part is valid; `{}` for any JSON
    json_schema: dict[str, Any] | None = None
    #: whether the JSON may be the only code block, with words around it
    allow_fence: bool = False

    @model_validator(mode="after")
    def _asks_for_something(self) -> FormatConfig:
        if self.tags is None and not self.boxed and self.json_schema is None:
            raise ValueError("name what is required: at least one of `tags`, `boxed: true` and `json_schema`")
        if self.tags is not None and len({tag.lower() for tag in self.tags}) < len(self.tags):
            raise ValueError(f"each tag stands once, so `tags` names each once, got {self.tags!r}")
        of_tags = {"opened_in_prompt", "allow_around", "allow_empty"} & self.model_fields_set
        if self.tags is None and of_tags:
            raise ValueError(f"`{min(of_tags)}` belongs to `tags`, which is missing")
        if self.json_schema is None and self.allow_fence:
            raise ValueError("`allow_fence` belongs to `json_schema`, which is missing")
        return self


class FormatJudge(TextJudge):
    r"""Gives 1.0 and success for an output of the required shape, else 0.0; the reason names the first error.

    A right form is not a right answer. As a part of a combined judge, give it little weight, or gate it on correctness.
    Tags are required in order, each once, as DeepSeek-R1's format reward has them; a box is one `\boxed{}`; JSON is
    strict (no key twice, no `NaN`), at most 100,000 characters and 32 levels, and valid by `jsonschema`, with searches
    of `pattern` bounded.

    Raises:
        ConfigError: nothing is required; the schema is no JSON Schema, points outside of itself, or has a bad pattern;
            or `jsonschema` is not installed.
        JudgeError: of a verdict: a pattern of the schema runs away.
    """

    reference_keys = ()

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self._settings = read_kwargs(FormatConfig, config)
        schema = self._settings.json_schema
        self._schema = None if schema is None else _compiled(schema)

    def verdict(self, task: WorkflowTask, output: WorkflowOutput) -> Reward:
        """See TextJudge."""
        settings, text = self._settings, final_answer(output)
        if settings.tags is None:
            shaped = Shaped(after_thinking(text))
        else:
            shaped = read_tags(
                text,
                settings.tags,
                opened=settings.opened_in_prompt,
                around=settings.allow_around,
                empty=settings.allow_empty,
            )
        problem = shaped.problem
        if not problem and shaped.part is not None:
            problem = (settings.boxed and box_problem(shaped.part)) or self._json_problem(shaped.part)
        return Reward(0.0 if problem else 1.0, not problem, reason=problem or "the required shape")

    def _json_problem(self, part: str) -> str:
        if self._schema is None:
            return ""
        try:
            text = stated_json(part, fence=self._settings.allow_fence)
            value = read_json(
                text, real=float_real, most_chars=json_schema.MOST_CHARS, most_depth=json_schema.MOST_DEPTH
            )
            return self._schema.problem(value) or ""
        except NotStrictJsonError as exc:
            return str(exc)
        except OverBoundsError as exc:
            return f"over the bounds: {exc}"
        except TimeoutError as exc:
            raise JudgeError(f"{KWARGS}.json_schema: a pattern runs away: {exc}", cause=Cause.DEADLINE) from exc


def _compiled(schema: dict[str, Any]) -> JsonSchema:
    where = f"{KWARGS}.json_schema"
    try:
        return JsonSchema(schema, _searching)
    except ImportError:
        raise ConfigError(f"{where} needs jsonschema: {install('json-schema')}") from None
    except ValueError as exc:
        raise ConfigError(f"{where}: {exc}") from exc


def _searching(pattern: str) -> Callable[[str], bool]:
    try:
        compiled = compile_pattern(pattern, ignore_case=False)
    except regex.error as exc:
        raise ValueError(f"pattern {pattern!r}: {exc}") from exc
    return partial(is_found, compiled.search)
