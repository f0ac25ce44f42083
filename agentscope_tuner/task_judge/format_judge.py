r"""FormatJudge: whether an output has the required shape: tags in order, one `\boxed{}`, JSON valid by a JSON Schema.

The JSON is hostile, so the schema library's steps are counted and the searches of its patterns are timed.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from functools import partial
from typing import Annotated, Any, NamedTuple

import regex
from pydantic import Field, model_validator

from agentscope_tuner.config import StrictSection
from agentscope_tuner.errors import Cause, JudgeError, importing, told
from agentscope_tuner.rules.kinds import RunawaySearch, compile_pattern, is_found
from agentscope_tuner.task_judge.base_judge import KWARGS, Reward, TextJudge, final_answer
from agentscope_tuner.verify.find import after_thinking, last_boxed
from agentscope_tuner.verify.strict_json import NotStrictJsonError, comparable, float_real, read_json, stated_json
from agentscope_tuner.verify.text import fenced, visible
from agentscope_tuner.workflow import WorkflowOutput, WorkflowTask


class Shaped(NamedTuple):
    """Attributes:
    part: the text inside the last tag; None where the shape is broken.
    problem: the fault of the shape, in words; empty for a correct shape.
    """

    part: str | None
    problem: str = ""


def read_tags(
    text: str, tags: Sequence[str], *, opened: bool = False, around: bool = False, empty: bool = False
) -> Shaped:
    """Check that `text` is `<first>…</first><second>…</second>…`: each tag once, in this order, none inside another.

    DeepSeek-R1's format reward (arXiv 2501.12948, section 2.2.2) asks for the reasoning and the answer between their
    tags. A later reader of the answer must find exactly one, so each tag must occur once in all of the text. Tags in
    the reasoning, in a code block, or in another spelling (`<Answer >`) count, too.

    Args:
        tags: names without their brackets.
        opened: the prompt ends with the first opening tag, so that the output begins inside it.
        around: whether words may stand outside of the tags; white space is always allowed.
        empty: whether a tag may be empty.
    """
    names = "|".join(re.escape(tag) for tag in tags)
    any_tag = re.compile(rf"<\s?(/?)\s?({names})(?![\w-])[^<>]{{0,100}}>", re.IGNORECASE)
    expected = [f"<{slash}{tag}>" for tag in tags for slash in ("", "/")][1 if opened else 0 :]
    inside, at, outside, part = opened, 0, "", ""
    found = 0
    for tag in any_tag.finditer(text):
        if found == len(expected):
            return Shaped(None, f"{tag[0]!r:.60} after the last of the tags")
        if tag[0] != expected[found]:
            return Shaped(None, f"{tag[0]!r:.60} where {expected[found]} is due")
        between, at = text[at : tag.start()], tag.end()
        if inside:
            part = between
            if not (empty or visible(part).strip()):
                return Shaped(None, f"nothing before {expected[found]}")
        else:
            outside += between
            if not fenced(outside).closed:
                return Shaped(None, f"{expected[found]} stands in a code block")
        inside, found = not inside, found + 1
    if found < len(expected):
        return Shaped(None, f"no {expected[found]}")
    outside += text[at:]
    if not around and outside.strip():
        return Shaped(None, f"{outside.strip()!r:.40} stands outside of the tags")
    return Shaped(part)


# An escaped character is skipped as a whole, because `\\boxed` is a line break and a word
_BOX = re.compile(r"\\(?:(boxed|fbox)(?![a-zA-Z])|.)", re.DOTALL)


def box_problem(text: str) -> str:
    r"""The reason why `text` does not hold exactly one filled `\boxed{}`; empty when it does."""
    if (count := sum(box[1] is not None for box in _BOX.finditer(text))) != 1:
        return f"{count} boxes, where one is asked for" if count else r"no \boxed{}"
    if (inside := last_boxed(text)) is None:
        return r"a \boxed{} that is never closed"
    return "" if visible(inside).strip() else r"an empty \boxed{}"


#: The checks are many times slower than reading JSON, so longer texts are refused unread.
MOST_CHARS = 100_000
MOST_DEPTH = 32
# The most keywords that may be checked for one value, which takes about a tenth of a second
_MOST_STEPS = 10_000
_MOST_SEARCH_SECONDS = 0.3
# Refused keywords: their cost grows with every branch of the schema, and the library searches keys for them without a
# time limit
_UNBOUNDED = ("unevaluatedItems", "unevaluatedProperties")

Search = Callable[[str], bool]


class OverBoundsError(Exception):
    """The checks of a value would take longer than is allowed."""


class _Work:
    def __init__(self) -> None:
        self.steps = 0
        self.seconds = 0.0

    def step(self) -> None:
        self.steps += 1
        if self.steps > _MOST_STEPS:
            raise OverBoundsError(f"more than {_MOST_STEPS:,} checks against the JSON Schema")

    def search(self, search: Search, text: str) -> bool:
        started = time.thread_time()
        found = search(text)
        self.seconds += time.thread_time() - started
        if self.seconds > _MOST_SEARCH_SECONDS:
            raise RunawaySearch(f"the patterns of the JSON Schema took more than {_MOST_SEARCH_SECONDS} s of CPU time")
        return found


_work: ContextVar[_Work] = ContextVar("json_schema_work")


class JsonSchema:
    """A JSON Schema, checked by the rules of the draft that its `$schema` names, or of draft 2020-12.

    By the standard's default, `format` is not checked. Nothing is fetched, so a `$ref` must point into the schema
    itself.

    Args:
        schema: the schema, as JSON objects.
        searching: makes a bounded search function for a `pattern`. It raises ValueError for a bad pattern; the search
            raises RunawaySearch when it takes too long.

    Raises:
        ValueError: `schema` is not a schema, or its checks cannot be bounded; the message names the way out.
        ImportError: `jsonschema` is not installed.
    """

    def __init__(self, schema: Mapping[str, Any], searching: Callable[[str], Search]) -> None:
        import jsonschema
        from referencing import Registry
        from referencing.jsonschema import DRAFT202012

        draft = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
        named = schema.get("$schema")
        if named is not None and str(named).rstrip("#") != draft.META_SCHEMA.get("$schema", "").rstrip("#"):
            raise ValueError(f"$schema {named!r} is none that jsonschema knows")
        try:
            draft.check_schema(dict(schema))
        except jsonschema.SchemaError as exc:
            raise ValueError(f"{'.'.join(map(str, exc.absolute_path)) or 'the schema'}: {exc.message:.300}") from None
        self._searches = {pattern: searching(pattern) for pattern in _patterns(schema)}
        counted: dict[str, Any] = {name: _counted(check) for name, check in draft.VALIDATORS.items()}
        own: dict[str, Any] = {
            "pattern": self._pattern,
            "patternProperties": self._pattern_properties,
            "additionalProperties": self._additional_properties,
            "uniqueItems": _unique_items,
        }
        bounded = jsonschema.validators.extend(draft, counted | {name: _counted(own[name]) for name in own})
        # jsonschema's default registry fetches unknown references from the network, so an empty registry is given
        self._validator = bounded(dict(schema), registry=Registry())
        root = Registry().with_resource("", DRAFT202012.create_resource(dict(schema)))
        for reference in _references(schema):
            _check_reference(reference, root)
        smallest: tuple[object, ...] = (None, "", 0, [], {})
        with told("the schema refers to itself without end", OverBoundsError, to=ValueError):
            for value in smallest:
                self.problem(value)

    def problem(self, value: object) -> str | None:
        """The first error of `value`, in words; None when it is valid.

        Raises:
            OverBoundsError: `value` is too large to be checked.
            RunawaySearch: the search for a pattern of the schema takes too long.
            TimeoutError: the process is too busy for it.
        """
        token = _work.set(_Work())
        try:
            error = next(self._validator.iter_errors(value), None)
        except (ArithmeticError, RecursionError) as exc:
            raise OverBoundsError(f"checks that overflow: {type(exc).__name__}") from None
        finally:
            _work.reset(token)
        if error is None:
            return None
        where = "".join(f"[{part!r:.40}]" for part in list(error.absolute_path)[:8])
        return f"{error.message:.200}{f' at {where}' if where else ''}"

    def _found(self, pattern: str, text: str) -> bool:
        return _work.get().search(self._searches[pattern], text)

    def _pattern(self, validator: Any, pattern: str, instance: Any, schema: Any) -> Iterator[Any]:
        if isinstance(instance, str) and not self._found(pattern, instance):
            yield _error(f"{instance!r:.80} does not match {pattern!r}")

    def _pattern_properties(self, validator: Any, patterns: Any, instance: Any, schema: Any) -> Iterator[Any]:
        if isinstance(instance, dict):
            for pattern, subschema in patterns.items():
                for key, value in instance.items():
                    if self._found(pattern, key):
                        yield from validator.descend(value, subschema, path=key, schema_path=pattern)

    def _additional_properties(self, validator: Any, allowed: Any, instance: Any, schema: Any) -> Iterator[Any]:
        if not isinstance(instance, dict):
            return
        known, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
        for key, value in instance.items():
            if key in known or any(self._found(pattern, key) for pattern in patterns):
                continue
            if allowed is False:
                yield _error(f"additional property {key!r:.80}")
            else:
                yield from validator.descend(value, allowed, path=key)


def _check_reference(reference: str, root: Any) -> None:
    from referencing.exceptions import Unresolvable

    if not reference.startswith("#"):
        raise ValueError(f"$ref {reference!r} points outside of the schema, and nothing is fetched: copy it into $defs")
    try:
        root.resolver().lookup(reference)
    except Unresolvable:
        raise ValueError(f"$ref {reference!r} points to nothing in the schema") from None


def _error(message: str) -> Any:
    from jsonschema import ValidationError

    return ValidationError(message)


def _unique_items(validator: Any, wanted: Any, instance: Any, schema: Any) -> Iterator[Any]:
    # The library would compare each item with every other item where the items cannot be sorted
    if wanted and isinstance(instance, list) and len(set(map(comparable, instance))) < len(instance):
        yield _error("the same item twice")


def _counted(check: Any) -> Any:
    def counted(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
        _work.get().step()
        yield from check(validator, value, instance, schema) or ()

    return counted


def _parts(schema: object) -> Iterator[Mapping[str, Any]]:
    """Every object within the schema, without recursion. Objects under `enum` and `const` are harmless extras."""
    waiting: list[object] = [schema]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Mapping):
            yield part
            waiting.extend(part.values())
        elif isinstance(part, list | tuple):
            waiting.extend(part)


def _patterns(schema: Mapping[str, Any]) -> Iterator[str]:
    for part in _parts(schema):
        if "$id" in part and part is not schema:
            raise ValueError("an $id below the schema's root is not supported: write its schema into $defs")
        for keyword in _UNBOUNDED:
            if keyword in part:
                raise ValueError(f"{keyword} is not supported: write additionalProperties or items")
        if isinstance(part.get("pattern"), str):
            yield part["pattern"]
        if isinstance(part.get("patternProperties"), Mapping):
            yield from part["patternProperties"]


def _references(schema: Mapping[str, Any]) -> Iterator[str]:
    for part in _parts(schema):
        for keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
            if isinstance(part.get(keyword), str):
                yield part[keyword]


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


class FormatJudge(TextJudge[FormatConfig]):
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

    settings_class = FormatConfig
    reference_keys = ()

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        schema = self.settings.json_schema
        self._schema = None if schema is None else _compiled(schema)

    def verdict(self, task: WorkflowTask, output: WorkflowOutput) -> Reward:
        """See TextJudge."""
        settings, text = self.settings, final_answer(output)
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
        if not (problem := shaped.problem) and shaped.part is not None:
            problem = (settings.boxed and box_problem(shaped.part)) or self._json_problem(shaped.part)
        return Reward(0.0 if problem else 1.0, not problem, reason=problem or "the required shape")

    def _json_problem(self, part: str) -> str:
        if self._schema is None:
            return ""
        try:
            text = stated_json(part, fence=self.settings.allow_fence)
            value = read_json(text, real=float_real, most_chars=MOST_CHARS, most_depth=MOST_DEPTH)
            return self._schema.problem(value) or ""
        except NotStrictJsonError as exc:
            return str(exc)
        except OverBoundsError as exc:
            return f"over the bounds: {exc}"
        except RunawaySearch as exc:
            # The answer must not be able to take its low verdict away
            return f"a pattern of the schema did not finish: {exc}"
        except TimeoutError as exc:
            raise JudgeError(f"{KWARGS}.json_schema: {exc}", cause=Cause.DEADLINE) from exc


def _compiled(schema: dict[str, Any]) -> JsonSchema:
    where = f"{KWARGS}.json_schema"
    with importing(f"{where} needs jsonschema", "json-schema"), told(where, ValueError):
        return JsonSchema(schema, _searching)


def _searching(pattern: str) -> Callable[[str], bool]:
    with told(f"pattern {pattern!r}", regex.error, to=ValueError):
        compiled = compile_pattern(pattern, ignore_case=False)
    return partial(is_found, compiled.search)
