"""Watches a training from inside: after every step it looks at the rows that the judge has logged."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agentscope_tuner.config import Source, resolve
from agentscope_tuner.errors import ConfigError
from agentscope_tuner.insight.watch.opinion_settings import OPINION, changed, opinion_of, opinion_section
from agentscope_tuner.insight.watch.run_rows import RunRows, by_step
from agentscope_tuner.insight.watch.run_watch import Alarm, AlarmsFile, RunWatch
from agentscope_tuner.insight.watch.scalars import Scalars, step_scalars

_log = logging.getLogger(__name__)


class LiveWatch:
    """A watch for a trainer's callback, which asks it after every step. Alarms are logged, and written to a file.

        live = LiveWatch(config="configs/math_watched.yaml")
        ...
        live.look()
        if live.watch.gamed:
            stop

    Args:
        log_dir: the training judge's `astuner.task_judge.log_dir`; by default the value in `config`.
        second_opinion: a stricter judge's YAML, or a file of labels; by default `astuner.second_opinion` in `config`.
        config: the configuration of the training judge.
        scalars: writers of each step's numbers, such as `TensorBoardScalars(Path("out/curves"))`.
        options: values that replace keys of `astuner.second_opinion`: `rate`, `most`, `budget`, `tolerance`, `alpha`,
            `seed`.

    Attributes:
        watch: the monitors and the second opinion; `watch.gamed` tells whether the run is gamed.
        alarms: all alarms so far.

    Raises:
        ConfigError: no log_dir or no second opinion is named, or the second judge cannot be loaded.
    """

    def __init__(
        self,
        log_dir: str | Path | None = None,
        second_opinion: str | Path | None = None,
        *,
        config: Source | None = None,
        scalars: Sequence[Scalars] = (),
        **options: Any,
    ) -> None:
        settings = None if config is None else resolve(config)
        folder = log_dir or (settings.task_judge.log_dir if settings is not None else None)
        if folder is None:
            raise ConfigError("a watch reads what the judge logs: name its log_dir, or a config that has one")
        section = opinion_section(settings) if settings is not None else None
        if second_opinion is None and section is None:
            raise ConfigError(f"nobody is named for second opinions: name a judge, or a config with {OPINION}")
        named = None if second_opinion is None else Path(second_opinion)
        opinion, ids = opinion_of(changed(section, named, options))
        self.watch = RunWatch(opinion)
        self.alarms: list[Alarm] = []
        self._scalars = scalars
        self._rows = RunRows(Path(folder), counted=ids)
        self._file = AlarmsFile(AlarmsFile.beside(Path(folder)))

    def look(self) -> list[Alarm]:
        """The alarms of all rows that the training's processes have logged since the last call."""
        self.flush()
        new = []
        for step, rows in by_step(self._rows.new()):
            stats, alarms = self.watch.step(step, rows)
            for alarm in alarms:
                new.append(alarm)
                self._file.write(alarm)
                _log.warning("step %g: %s: %s", alarm.step, alarm.monitor, alarm.message)
            for curve in self._scalars:
                curve.write(step, step_scalars(stats, alarms, self.watch))
        self.alarms.extend(new)
        return new

    def flush(self) -> None:
        """Write the rows that this process's judges hold back, so that another process's `look` finds them."""
        from agentscope_tuner.task_judge.run_log import flush_logs

        flush_logs()

    def close(self) -> None:
        """End the curves."""
        for curve in self._scalars:
            curve.close()
