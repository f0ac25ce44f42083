"""Checks hostile values against a JSON Schema. The library's checks are counted, so that no value takes long."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from typing import Any

from agentscope_tuner.verify.text.strict_json import comparable

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
            raise TimeoutError(f"the patterns of the JSON Schema took more than {_MOST_SEARCH_SECONDS} s of CPU time")
        return found


_work: ContextVar[_Work] = ContextVar("json_schema_work")


class JsonSchema:
    """A JSON Schema, checked by the rules of the draft that its `$schema` names, or of draft 2020-12.

    By the standard's default, `format` is not checked. Nothing is fetched, so a `$ref` must point into the schema
    itself.

    Args:
        schema: the schema, as JSON objects.
        searching: makes a bounded search function for a `pattern`. It raises ValueError for a bad pattern; the search
            raises TimeoutError when it takes too long.

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
        for value in smallest:
            self._try(value)

    def problem(self, value: object) -> str | None:
        """The first error of `value`, in words; None when it is valid.

        Raises:
            OverBoundsError: `value` is too large to be checked.
            TimeoutError: the search for a pattern of the schema takes too long.
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

    def _try(self, value: object) -> None:
        try:
            self.problem(value)
        except OverBoundsError as exc:
            raise ValueError(f"the schema refers to itself without end: {exc}") from None

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
