"""A callback for TRL's trainers: it watches the run, and stops it when the policy is shown to game the judge."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agentscope_tuner.config import Source
from agentscope_tuner.insight.watch.live import LiveWatch
from agentscope_tuner.insight.watch.scalars import Scalars


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
