"""Reads an earlier run's file line by line, for every kind of `--resume`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from agentscope_tuner.records.writer import own_keys
from agentscope_tuner.task_judge.judgement import Judgement


class EarlierRow(NamedTuple):
    """One line of a scored file.

    Attributes:
        line: the unchanged line, with its line break.
        own: the row without its judgement.
        judgement: the verdict; None when it cannot be read.
        config: the digest of the configuration that judged, as given to `scored_line`.
    """

    line: bytes
    own: dict[str, Any]
    judgement: Judgement | None
    config: str | None

    @property
    def spent(self) -> dict[str, float]:
        """The metrics of what judge models cost for this row: a run that judges it again adds them up."""
        # Imported here, since a run that resumes nothing does not need it
        from agentscope_tuner.graders.client.usage import Usage

        metrics = self.judgement.metrics if self.judgement else {}
        return {name: metrics[name] for name in Usage.metric_names() if metrics.get(name)}

    def is_of(self, raw: bytes) -> bool:
        """Whether this row is the input's `line`, judged: the same keys with the same values."""
        # Nearly every row was written unchanged
        return self.line.startswith(raw[:-1] + b', "judgement": ') or self.own == own_keys(raw)


def earlier_rows(path: Path | None) -> Iterator[EarlierRow]:
    """The rows of `path`, up to the first incomplete row: a killed run may have written half a line."""
    if path is None:
        return
    with open(path, "rb") as stream:
        for line in stream:
            try:
                own = json.loads(line)
            except (ValueError, RecursionError):
                return
            if not line.endswith(b"\n") or not isinstance(own, dict):
                return
            verdict = own.pop("judgement", None)
            config = verdict.pop("config", None) if isinstance(verdict, dict) else None
            yield EarlierRow(line, own, Judgement.from_dict(verdict), config)
