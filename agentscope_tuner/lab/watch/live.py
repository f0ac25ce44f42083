"""Watches one run: each step's rows become statistics and alarms; from outside, or inside a training.

`stop_when_gamed` is a callback for TRL's trainers, which ends the run when the policy is shown to game the judge.
"""

from __future__ import annotations

import json
import logging
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from agentscope_tuner.config import Source, resolve
from agentscope_tuner.errors import ConfigError, told
from agentscope_tuner.lab.growing_files import RunRows, by_step
from agentscope_tuner.lab.labels import beside
from agentscope_tuner.lab.watch.scalars import Scalars
from agentscope_tuner.lab.watch.second_opinion import OPINION, SecondOpinion, changed, opinion_of, opinion_section
from agentscope_tuner.lab.watch.step_stats import Kind, RewardJumps, StepStats, monitors, step_stats
from agentscope_tuner.records.scored_rows import ScoredRow
from agentscope_tuner.storage import write_whole

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


def unseen(opinion: SecondOpinion) -> str:
    """How many rows got no second opinion, in words."""
    asked = opinion.asked + opinion.asked_held_out
    return f"{opinion.unanswered} of {asked} sampled rows got no second opinion: gaming among them is not seen"


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
        self._monitors, self._jumps = monitors(), RewardJumps()
        self._told: set[str] = set()
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
        stats = step_stats(step, rows)
        told = ((monitor, monitor.update(stats)) for monitor in self._monitors)
        found = [Alarm(step, monitor.name, monitor.kind, message) for monitor, message in told if message]
        if (jump := self._jumps.update(stats)) is not None:
            found.append(Alarm(step, self._jumps.name, *jump))
        names = [monitor.name for monitor in self._monitors if monitor.worried and monitor.kind == "gamed"]
        if len(names) >= _TOGETHER:
            found += self._once(Alarm(step, "monitors together", "gamed", f"{' and '.join(names)} worry at once"))
        else:
            self._told.discard("monitors together")
        if (opinion := self.second_opinion) is not None:
            found += (Alarm(step, name, "gamed", message) for name, message in opinion.step(rows, worried=worried))
            if opinion.overpaid_while_learning:
                name = "overpaid while learning"
                found += self._once(Alarm(step, name, "signal", opinion.message(name)))
            if opinion.blinded:
                found += self._once(Alarm(step, "no second opinion", "judge", unseen(opinion)))
            self.gamed = opinion.alarmed
        self.alarms.extend(found)
        self.last = stats
        return stats, found

    def _once(self, alarm: Alarm) -> list[Alarm]:
        """The alarm in a list; empty if its monitor has raised an alarm before."""
        again = alarm.monitor in self._told
        self._told.add(alarm.monitor)
        return [] if again else [alarm]


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
        self._lines.append(json.dumps(asdict(alarm)) + "\n")
        self._replace_file()

    def _replace_file(self) -> None:
        with told(f"cannot write the alarms to {str(self._path)!r}", OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            # A reader must never see half a file
            write_whole(self._path, "".join(self._lines))

    def __exit__(self, *raised: object) -> None:
        if not self._lines and self._path.exists():
            self._replace_file()


_log = logging.getLogger(__name__)


def step_scalars(stats: StepStats, alarms: list[Alarm], watch: RunWatch) -> dict[str, float]:
    """The numbers of a step by name, `astuner/…`; a number that the step does not have is left out."""
    plain = asdict(stats)
    numbers = {name: float(value) for name, value in plain.items() if isinstance(value, int | float) and name != "step"}
    for why, count in stats.flat.items():
        numbers[f"flat/{why.replace(' ', '_')}"] = count / stats.groups
    numbers["flat_groups"] = sum(stats.flat.values()) / stats.groups if stats.groups else 0.0
    numbers |= {f"part/{name}": share for name, share in stats.parts.items()}
    numbers["alarms"] = float(len(alarms))
    opinion = watch.second_opinion
    if opinion is not None:
        numbers["second_opinion/asked"] = float(opinion.asked)
        numbers["second_opinion/evidence"] = opinion.evidence
        numbers["second_opinion/false_passes_at_least"] = opinion.test.lower_bound
        if opinion.test.rows:
            numbers["second_opinion/refused"] = opinion.test.false / opinion.test.rows
    return {f"astuner/{name}": value for name, value in numbers.items()}


def written_steps(
    watch: RunWatch, rows: Iterable[ScoredRow | None], file: AlarmsFile, curves: Sequence[Scalars]
) -> Iterator[tuple[StepStats, list[Alarm]]]:
    """The statistics and the alarms of each step of `rows`, which are written to `file` and `curves` first."""
    for step, held in by_step(rows):
        stats, alarms = watch.step(step, held)
        if stats is None:
            continue
        for alarm in alarms:
            file.write(alarm)
        for curve in curves:
            curve.write(step, step_scalars(stats, alarms, watch))
        yield stats, alarms


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
        watch: the monitors and the second opinion; `watch.gamed` says whether the run is gamed.
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
