"""Watches one run: each step's rows become statistics and alarms."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from agentscope_tuner.errors import ConfigError
from agentscope_tuner.lab.watch.gaming_test import SecondOpinion
from agentscope_tuner.lab.watch.step_stats import Kind, Novelty, RewardJumps, StepStats, monitors, step_stats
from agentscope_tuner.records.scored_rows import ScoredRow
from agentscope_tuner.storage import put_in_place

_TOGETHER = 2


@dataclass(frozen=True, slots=True)
class Alarm:
    """The finding of a monitor.

    Attributes:
        step: the step of the finding.
        monitor: the monitor's name; `second opinion`, `overpaid` and `held-out` for the tests, `monitors together` for
            two monitors of gaming that worry at once.
        kind: the subject: `gamed`, `signal` or `judge`.
        message: the finding in one line of words.
    """

    step: float
    monitor: str
    kind: Kind
    message: str

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON, as on a line of an alarms file."""
        return asdict(self)


class RunWatch:
    """Monitors and second opinions over the steps of one run, in memory that does not grow with the run.

    Args:
        second_opinion: asks a second judge about rows; None watches with the monitors alone.

    Attributes:
        last: the statistics of the latest step.
        alarms: the latest alarms, 1,000 at most.
        gamed: whether the second opinion has raised the alarm.
    """

    def __init__(self, second_opinion: SecondOpinion | None = None) -> None:
        self.second_opinion = second_opinion
        self._monitors, self._novelty, self._jumps = monitors(), Novelty(), RewardJumps()
        self._together = False
        self.last: StepStats | None = None
        self.alarms: deque[Alarm] = deque(maxlen=1_000)
        self.gamed = False

    def step(self, step: float, rows: Sequence[ScoredRow]) -> tuple[StepStats | None, list[Alarm]]:
        """Add all rows of one step.

        Returns:
            The step's statistics, and the alarms that it raised; None where all rows are held out from training.
        """
        if self.second_opinion is not None:
            rows = self.second_opinion.trained(rows)
            if not rows:
                return None, []
        # The test's error bound fails if a step's own rows decide how many of them are asked about. So only earlier
        # steps count here
        worried = any(monitor.worried and monitor.kind == "gamed" for monitor in self._monitors)
        stats = step_stats(step, rows, self._novelty)
        found: list[Alarm] = []
        found.extend(
            Alarm(step, monitor.name, monitor.kind, message)
            for monitor in self._monitors
            if (message := monitor.update(stats))
        )
        if (jump := self._jumps.update(stats)) is not None:
            found.append(Alarm(step, self._jumps.name, *jump))
        names = [monitor.name for monitor in self._monitors if monitor.worried and monitor.kind == "gamed"]
        if len(names) >= _TOGETHER and not self._together:
            found.append(Alarm(step, "monitors together", "gamed", f"{' and '.join(names)} worry at once"))
        self._together = len(names) >= _TOGETHER
        if self.second_opinion is not None:
            told = self.second_opinion.step(rows, worried=worried)
            found.extend(Alarm(step, name, "gamed", message) for name, message in told)
            self.gamed = self.second_opinion.alarmed
        self.alarms.extend(found)
        self.last = stats
        return stats, found


class AlarmsFile:
    """A file of alarms for `astuner view`, as JSON lines `{"step", "monitor", "kind", "message"}`.

    Args:
        path: the file. The first alarm creates it, or replaces the file of an earlier watch of the run. Without an
            alarm the end of the watch empties the earlier file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lines: list[str] = []

    def __enter__(self) -> AlarmsFile:
        return self

    def write(self, alarm: Alarm) -> None:
        """Write the file anew, with one more alarm.

        Raises:
            ConfigError: the file cannot be written.
        """
        self._lines.append(json.dumps(alarm.to_dict()) + "\n")
        self._replace_file()

    def _replace_file(self) -> None:
        aside = self._path.with_name(self._path.name + ".next")
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            aside.write_text("".join(self._lines), encoding="utf-8")
            # A reader must never see half a file: renaming replaces the old file at once
            put_in_place(aside, self._path)
        except OSError as exc:
            raise ConfigError(f"cannot write the alarms to {str(self._path)!r}: {exc}") from exc

    def __exit__(self, *raised: object) -> None:
        if not self._lines and self._path.exists():
            self._replace_file()
