"""A run under watch: rows in, one account a step out, alarms between them."""

from __future__ import annotations

import json
import os
from collections import deque
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from agentscope_tuner.errors import ConfigError
from agentscope_tuner.insight.watch.monitors import Kind, monitors
from agentscope_tuner.insight.watch.second_opinion import SecondOpinion
from agentscope_tuner.insight.watch.step_stats import Novelty, StepStats, step_stats
from agentscope_tuner.records.scored_rows import ScoredRow

_TOGETHER = 2


@dataclass(frozen=True, slots=True)
class Alarm:
    """The finding of a monitor.

    Attributes:
        step: at which.
        monitor: its name; `second opinion` for the test, `monitors together` for two that speak of gaming at once.
        kind: `gamed`, `signal` or `judge`.
        message: in one line of words.
    """

    step: float
    monitor: str
    kind: Kind
    message: str

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON, and the line of an alarms file."""
        return asdict(self)


class RunWatch:
    """Monitors and second opinions over the steps of one run; its size does not grow with the run.

    Args:
        second_opinion: None for monitors alone.
    """

    def __init__(self, second_opinion: SecondOpinion | None = None) -> None:
        self.second_opinion = second_opinion
        self._monitors, self._novelty = monitors(), Novelty()
        self._together = False
        self.last: StepStats | None = None
        self.alarms: deque[Alarm] = deque(maxlen=1_000)
        self.gamed = False

    def step(self, step: float, rows: Sequence[ScoredRow]) -> tuple[StepStats, list[Alarm]]:
        """Take in one whole step."""
        # of earlier steps: the test has no error bound if a step's own rows decide how many of them are asked about
        worried = any(monitor.worried and monitor.kind == "gamed" for monitor in self._monitors)
        stats = step_stats(step, rows, self._novelty)
        found: list[Alarm] = []
        found.extend(
            Alarm(step, monitor.name, monitor.kind, message)
            for monitor in self._monitors
            if (message := monitor.update(stats))
        )
        names = [monitor.name for monitor in self._monitors if monitor.worried and monitor.kind == "gamed"]
        if len(names) >= _TOGETHER and not self._together:
            found.append(Alarm(step, "monitors together", "gamed", f"{' and '.join(names)} worry at once"))
        self._together = len(names) >= _TOGETHER
        if self.second_opinion is not None and self.second_opinion.step(rows, worried=worried):
            found.append(Alarm(step, "second opinion", "gamed", self.second_opinion.message()))
            self.gamed = True
        self.alarms.extend(found)
        self.last = stats
        return stats, found


class AlarmsFile:
    """Alarms as JSON lines, `{"step", "monitor", "kind", "message"}`, made with the first of them; for `astuner view`.

    Args:
        path: what an earlier watch of the run has written there is replaced, with the first alarm or at the end.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lines: list[str] = []

    @staticmethod
    def beside(run: Path) -> Path:
        """Where the alarms of a run stand: in its folder, or beside its file."""
        if run.is_dir() or not run.suffix:
            return run / "alarms.jsonl"
        return run.with_name(run.name.removesuffix(".jsonl") + ".alarms.jsonl")

    def __enter__(self) -> AlarmsFile:
        return self

    def write(self, alarm: Alarm) -> None:
        """Add one, and put the file in place.

        Raises:
            ConfigError: it cannot be written.
        """
        self._lines.append(json.dumps(alarm.to_dict()) + "\n")
        self._put()

    def _put(self) -> None:
        aside = self._path.with_name(self._path.name + ".next")
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            aside.write_text("".join(self._lines), encoding="utf-8")
            # a reader sees the old file or the new one
            os.replace(aside, self._path)
        except OSError as exc:
            raise ConfigError(f"cannot write the alarms to {str(self._path)!r}: {exc}") from exc

    def __exit__(self, *raised: object) -> None:
        if not self._lines and self._path.exists():
            self._put()
