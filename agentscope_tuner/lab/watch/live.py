"""Watches a training from inside: after every step it looks at the rows that the judge has logged.

`stop_when_gamed` is its callback for TRL's trainers, which ends the run when the policy is shown to game the judge.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agentscope_tuner.config import Source, resolve
from agentscope_tuner.errors import ConfigError
from agentscope_tuner.lab.labels import beside
from agentscope_tuner.lab.watch.gaming_test import OPINION, changed, opinion_of, opinion_section
from agentscope_tuner.lab.watch.run_rows import RunRows
from agentscope_tuner.lab.watch.run_watch import Alarm, AlarmsFile, RunWatch
from agentscope_tuner.lab.watch.scalars import Scalars, written_steps

_log = logging.getLogger(__name__)


class LiveWatch:
    """A watch for a trainer's callback, which asks it after every step. Alarms are logged, and written to a file.

        live = LiveWatch(config="configs/math_lenient_logged.yaml")
        ...
        live.look()
        if live.watch.gamed:
            stop

    Args:
        log_dir: the training judge's `astuner.task_judge.log_dir`; by default the value in `config`.
        second_opinion: a stricter judge's YAML, or a file of labels; by default `astuner.second_opinion` in `config`.
        config: the configuration of the training judge.
        scalars: writers of each step's numbers, such as `TensorBoardScalars(Path("out/curves"))`.
        options: values that replace keys of `astuner.second_opinion`: `rate`, `most`, `budget`, `tolerance`, `rise`,
            `pass_at`, `alpha`, `seed`, `holdout`.

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
        self._file = AlarmsFile(beside(Path(folder), "alarms"))

    def look(self) -> list[Alarm]:
        """The alarms of all rows that the training's processes have logged since the last call."""
        self.flush()
        steps = written_steps(self.watch, self._rows.new(), self._file, self._scalars)
        new = [alarm for _, alarms in steps for alarm in alarms]
        for alarm in new:
            _log.warning("step %g: %s: %s", alarm.step, alarm.monitor, alarm.message)
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


def stop_when_gamed(
    log_dir: str | Path | None = None,
    second_opinion: str | Path | None = None,
    *,
    config: Source | None = None,
    scalars: Sequence[Scalars] = (),
    **options: Any,
) -> Any:
    """A callback for `GRPOTrainer(callbacks=[…])`: after every step it reads the rows that the judge has logged.

        callback = stop_when_gamed("out/judged", "configs/math.yaml", rate=0.02)
        callback = stop_when_gamed(config="configs/math_lenient_logged.yaml")

    Trainers that take callbacks of transformers take it, too, such as ms-swift's. Of several ranks only the first one
    reads the rows, and all of them stop after the same step.

    Args:
        log_dir, second_opinion, config, scalars, options: as `LiveWatch` takes them.

    Raises:
        ConfigError: as `LiveWatch`.
    """
    from accelerate.utils import broadcast_object_list
    from transformers import TrainerCallback

    live = LiveWatch(log_dir, second_opinion, config=config, scalars=scalars, **options)

    class StopWhenGamed(TrainerCallback):  # type: ignore[misc]  # transformers is absent where types are checked
        """Ends training after the step at which the second opinion's test alarms; writes alarms to the run's folder."""

        def __init__(self) -> None:
            self.watch, self.alarms = live.watch, live.alarms

        def on_step_end(self, args: Any, state: Any, control: Any, **rest: Any) -> None:
            if state.is_world_process_zero:
                live.look()
            else:
                live.flush()
            # all ranks stop after the same step: a rank that goes on alone waits for the others for ever
            if broadcast_object_list([self.watch.gamed])[0]:
                control.should_training_stop = True

        def on_train_end(self, args: Any, state: Any, control: Any, **rest: Any) -> None:
            live.close()

    return StopWhenGamed()
