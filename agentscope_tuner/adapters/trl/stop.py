"""A callback for TRL's trainers: watch the run, and stop it when it is shown to be gamed."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

from agentscope_tuner.insight.watch.follow import NewLines
from agentscope_tuner.insight.watch.run_watch import Alarm, AlarmsFile, RunWatch, by_step
from agentscope_tuner.insight.watch.second_opinion import SecondOpinion, asks_judge
from agentscope_tuner.records.scored_rows import scored_rows
from agentscope_tuner.task_judge.batch import ConfiguredJudge

_log = logging.getLogger(__name__)


def stop_when_gamed(log_dir: str | Path, second_opinion: str | Path, **options: Any) -> Any:
    """A callback for `GRPOTrainer(callbacks=[…])`: after every step it looks at what the judge has logged.

        callback = stop_when_gamed("out/judged", "configs/math.yaml", rate=0.02)

    Args:
        log_dir: `astuner.task_judge.log_dir` of the judge that trains.
        second_opinion: the stricter judge's YAML.
        options: `rate`, `most`, `tolerance`, `alpha`, `seed`, as `SecondOpinion` takes them.

    Raises:
        ConfigError: the second judge cannot be loaded.
    """
    from transformers import TrainerCallback

    opinion = SecondOpinion(asks_judge(ConfiguredJudge(second_opinion)), **options)

    class StopWhenGamed(TrainerCallback):  # type: ignore[misc]  # transformers is absent where types are checked
        """Ends training after the step at which the second opinion's test alarms; writes alarms to the run's folder."""

        def __init__(self) -> None:
            self.watch = RunWatch(opinion)
            self.alarms: list[Alarm] = []
            self._lines = NewLines(Path(log_dir))
            self._file = AlarmsFile(AlarmsFile.beside(Path(log_dir)))

        def on_step_end(self, args: Any, state: Any, control: Any, **rest: Any) -> None:
            for step, rows in by_step(scored_rows(self._lines.read())):
                for alarm in self.watch.step(step, rows)[1]:
                    self.alarms.append(alarm)
                    self._file.write(alarm)
                    _log.warning("step %g: %s: %s", alarm.step, alarm.monitor, alarm.message)
            if self.watch.gamed:
                control.should_training_stop = True

    return StopWhenGamed()
