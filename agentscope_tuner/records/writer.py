"""Writes a scored line: the row's own keys, unchanged, and its judgement."""

from __future__ import annotations

import json
from json.encoder import encode_basestring as _text
from typing import Any

from agentscope_tuner.records.reader import Row
from agentscope_tuner.task_judge.judgement import Judgement


def scored_line(row: Row, judgement: Judgement, config_digest: str = "") -> bytes:
    """The row's own keys, unchanged, and `judgement`; one line of JSON, in UTF-8.

    `config_digest` names the configuration that judged, so that a later run notices a different configuration.
    """
    unjudged = _without_judgement(row.raw) if row.rollout is not None else None
    if unjudged is None:
        verdict = {**judgement.to_dict(), "config": config_digest} if config_digest else judgement.to_dict()
        return _encode({**own_keys(row.raw), "judgement": verdict}) + b"\n"
    return unjudged[:-1] + judged_end(judgement, judgement.seconds, config_digest)


def judged_end(judgement: Judgement, seconds: float, config_digest: str = "") -> bytes:
    """The end of a `scored_line`, which replaces the last brace of a row without a judgement.

    `seconds` replace the judgement's own. The bytes are those of `json.dumps(…, ensure_ascii=False)`, which takes five
    times as long: it makes an encoder for every call.
    """
    reason, error = _text(judgement.reason), "null" if judgement.error is None else _text(judgement.error)
    success = "null" if judgement.is_success is None else "true" if judgement.is_success else "false"
    reward = "null" if judgement.reward is None else repr(judgement.reward)
    cause = "null" if judgement.cause is None else _text(judgement.cause.value)
    violations = ", ".join(map(_text, judgement.violations)) if judgement.violations else ""
    metrics = json.dumps(dict(judgement.metrics), ensure_ascii=False) if judgement.metrics else "{}"
    calls = f', "calls": {json.dumps(judgement.calls, ensure_ascii=False)}' if judgement.calls else ""
    config = f', "config": {_text(config_digest)}' if config_digest else ""
    verdict = (
        f', "judgement": {{"status": "{judgement.status}", "reward": {reward}, "is_success": {success}, '
        f'"reason": {reason}, "violations": [{violations}], "error": {error}, "cause": {cause}, '
        f'"metrics": {metrics}, "seconds": {round(seconds, 6)!r}{calls}{config}}}}}\n'
    )
    # Insert the judgement into the bytes: parsing and printing the row would change its numbers and escapes
    try:
        return verdict.encode()
    except UnicodeEncodeError:
        named = {"config": config_digest} if config_digest else {}
        plain = _encode({**judgement.to_dict(), "seconds": round(seconds, 6), **named})
        return b', "judgement": ' + plain + b"}\n"


def read_end(end: bytes) -> Judgement:
    """The judgement that `judged_end` wrote."""
    verdict = json.loads(b"{" + end[2:])["judgement"]
    verdict.pop("config", None)
    judgement = Judgement.from_dict(verdict)
    assert judgement is not None
    return judgement


def _without_judgement(raw: bytes) -> bytes | None:
    """The object without a judgement at its end; None when there is, or may be, a judgement at another place."""
    if b'"judgement"' not in raw:
        return raw
    before, separator, judgement = raw.rpartition(b', "judgement": ')
    if not separator or b'"judgement"' in before:
        return None
    try:
        json.loads(judgement[:-1])
    except ValueError:
        return None
    return before + b"}"


def own_keys(raw: bytes) -> dict[str, Any]:
    """The keys of a line besides its judgement; empty when the line is no JSON object."""
    try:
        parsed = json.loads(raw)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(parsed, dict):
        return {}
    parsed.pop("judgement", None)
    return parsed


def _encode(value: Any) -> bytes:
    try:
        return json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        # A model can write half a surrogate pair: UTF-8 cannot encode it, a JSON escape can
        return json.dumps(value).encode()
