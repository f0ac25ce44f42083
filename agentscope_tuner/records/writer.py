"""One scored line: the row's own keys as they stood, and its judgement."""

from __future__ import annotations

import json
from typing import Any

from agentscope_tuner.records.reader import Row
from agentscope_tuner.task_judge.judgement import Judgement


def scored_line(row: Row, judgement: Judgement, config_digest: str = "") -> bytes:
    """The row's own keys, as they stood, and `judgement`; one line of JSON, in UTF-8.

    `config_digest` names the configuration that judged, so that a later run sees when its own is another.
    """
    verdict = {**judgement.to_dict(), "config": config_digest} if config_digest else judgement.to_dict()
    unjudged = _without_judgement(row.raw) if row.rollout is not None else None
    if unjudged is None:
        return _encode({**own_keys(row.raw), "judgement": verdict}) + b"\n"
    # Insert the judgement into the bytes: parsing and printing the row would change its numbers and escapes
    return unjudged[:-1] + b', "judgement": ' + _encode(verdict) + b"}\n"


def _without_judgement(raw: bytes) -> bytes | None:
    """The object without a judgement at its end; None when a judgement stands, or may stand, anywhere else."""
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
