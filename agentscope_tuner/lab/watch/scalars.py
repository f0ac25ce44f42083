"""Writes the numbers of a run's steps as curves, to TensorBoard, Weights & Biases or MLflow."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from agentscope_tuner.errors import told


class Scalars(Protocol):
    """Takes the numbers of one step; `close` ends the curves."""

    def write(self, step: float, numbers: Mapping[str, float]) -> None: ...

    def close(self) -> None: ...


class TensorBoardScalars:
    """Writes event files that TensorBoard shows beside the trainer's own.

    Args:
        folder: the folder of the event files.

    Raises:
        ConfigError: tensorboard is not installed.
    """

    def __init__(self, folder: Path) -> None:
        with told("no tensorboard, which writes its files: pip install tensorboard", ImportError):
            # The layer under torch's SummaryWriter; it works without torch
            from tensorboard.compat.proto.event_pb2 import Event
            from tensorboard.compat.proto.summary_pb2 import Summary
            from tensorboard.summary.writer.event_file_writer import EventFileWriter
        self._event, self._summary = Event, Summary
        self._writer = EventFileWriter(str(folder))

    def write(self, step: float, numbers: Mapping[str, float]) -> None:
        """Add the numbers of a step."""
        values = [self._summary.Value(tag=name, simple_value=value) for name, value in numbers.items()]
        event = self._event(wall_time=time.time(), step=int(step), summary=self._summary(value=values))
        self._writer.add_event(event)
        # A step may take minutes, and people watch the curves, so no step waits in a buffer
        self._writer.flush()

    def close(self) -> None:
        """Close the event file."""
        self._writer.close()


class WandbScalars:
    """Writes to Weights & Biases: to the run that the trainer has begun in this process, or else to a new run.

    Args:
        project: the project of a new run; wandb's own settings, such as WANDB_MODE=offline, decide the rest.
        name: the name of a new run.

    Raises:
        ConfigError: wandb is not installed.
    """

    def __init__(self, project: str | None = None, name: str | None = None) -> None:
        with told("no wandb, which sends the numbers: pip install wandb", ImportError):
            import wandb
        self._own = wandb.run is None
        self._run: Any = wandb.init(project=project or "astuner", name=name) if self._own else wandb.run
        # The trainer's run counts its own steps and refuses earlier steps, so our numbers get an axis of their own
        self._run.define_metric("astuner/*", step_metric="astuner/step")

    def write(self, step: float, numbers: Mapping[str, float]) -> None:
        """Add the numbers of a step."""
        self._run.log({**numbers, "astuner/step": step})

    def close(self) -> None:
        """End the run, unless the trainer has begun it."""
        if self._own:
            self._run.finish()


class MlflowScalars:
    """Writes to MLflow: to the run that is active in this process, or else to a new run.

    Args:
        experiment: the experiment of a new run; MLFLOW_TRACKING_URI and MLflow's other settings decide the rest.
        name: the name of a new run.

    Raises:
        ConfigError: mlflow is not installed.
    """

    def __init__(self, experiment: str | None = None, name: str | None = None) -> None:
        with told("no mlflow, which keeps the numbers: pip install mlflow", ImportError):
            import mlflow
        self._mlflow: Any = mlflow
        self._own = mlflow.active_run() is None
        if self._own:
            mlflow.set_experiment(experiment or "astuner")
            mlflow.start_run(run_name=name)
        self._run = mlflow.active_run().info.run_id

    def write(self, step: float, numbers: Mapping[str, float]) -> None:
        """Add the numbers of a step."""
        self._mlflow.log_metrics(dict(numbers), step=int(step), run_id=self._run)

    def close(self) -> None:
        """End the run, unless it was active before."""
        if self._own:
            self._mlflow.end_run()
