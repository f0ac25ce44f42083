"""GRPO with TRL under configured judges: progress on the terminal, curves as CSV, PNG and TensorBoard scalars."""

from __future__ import annotations

import csv
import importlib.util
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from statistics import fmean
from typing import Any

from datasets import Dataset
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from transformers import LlamaForCausalLM, PreTrainedTokenizerFast, PrinterCallback, TrainerCallback
from trl import GRPOConfig, GRPOTrainer

from agentscope_tuner.adapters.trl import combined, reward_func

# between two drawings of the curves, which take about one
_SECONDS = 15.0


@dataclass(frozen=True)
class Step:
    """One optimisation step of a run, as TRL logged it.

    Attributes:
        run: what was trained, and under which judge.
        seed: of policy, data and sampling.
        step: from 1.
        reward: mean reward of the step's completions, by the judge that trains.
        success: share of them that the watching judge calls right.
        filtered: share of them that a rule of the training judge marked bad.
        failed: share of them without a verdict.
        judge_seconds: mean wall-clock time of a verdict.
        step_seconds: wall-clock time of the step.
        parts: mean reward of each part, where the judge that trains is a combined one.
    """

    run: str
    seed: int
    step: int
    reward: float
    success: float
    filtered: float
    failed: float
    judge_seconds: float
    step_seconds: float
    parts: Mapping[str, float] = field(default_factory=dict)


class Board:
    """What a training shows while it goes: a bar on a terminal, and every few seconds the curves anew.

    Args:
        path: of the curves, without a suffix: the numbers go to `.csv`, the picture to `.png`.
        total: steps of all runs together.
    """

    def __init__(self, path: Path, total: int) -> None:
        self.steps: list[Step] = []
        self._path = path
        self._drawn = time.monotonic()
        columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), TextColumn("{task.description}"))
        # to standard error: the report alone is the output
        self._progress = Progress(*columns, console=Console(stderr=True), disable=not sys.stderr.isatty())
        self._bar = self._progress.add_task("training", total=total)

    def __enter__(self) -> Board:
        self._progress.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._progress.stop()
        # also what an interrupted training has learned so far
        self.draw()

    def add(self, step: Step) -> None:
        """One more step is done."""
        self.steps.append(step)
        described = f"{step.run}, seed {step.seed}: reward {step.reward:.3f}, success {step.success:.3f}"
        self._progress.update(self._bar, advance=1, description=described)
        if time.monotonic() - self._drawn > _SECONDS:
            self.draw()
            self._drawn = time.monotonic()

    def draw(self) -> None:
        """Write the curves of the steps so far."""
        if self.steps:
            write_csv(self.steps, self._path.with_suffix(".csv"))
            plot(self.steps, self._path.with_suffix(".png"))


class _Steps(TrainerCallback):  # type: ignore[misc]  # transformers is absent where types are checked
    """Hands on each step as TRL logs it."""

    def __init__(self, names: tuple[str, str], run: str, seed: int, done: Callable[[Step], None]) -> None:
        self._trains, self._watches = names
        self._run, self._seed, self._done = run, seed, done
        self.count = 0

    def on_log(self, args: Any, state: Any, control: Any, logs: Mapping[str, Any] | None = None, **rest: Any) -> None:
        if logs is None or "reward" not in logs:
            return
        self.count += 1
        self._done(
            Step(
                run=self._run,
                seed=self._seed,
                step=state.global_step,
                reward=logs["reward"],
                success=logs[f"{self._watches}/success_rate"],
                filtered=logs[f"{self._trains}/filtered"],
                failed=logs[f"{self._trains}/failed"],
                judge_seconds=logs[f"{self._trains}/judge_seconds"],
                step_seconds=logs["step_time"],
                parts=_parts(logs, f"{self._trains}/part/"),
            )
        )


def _parts(logs: Mapping[str, Any], prefix: str) -> dict[str, float]:
    """The parts among TRL's logs, which name a metric of theirs behind another slash."""
    names = {key: key.removeprefix(prefix) for key in logs if key.startswith(prefix)}
    return {name: logs[key] for key, name in names.items() if "/" not in name}


def train(
    policy: tuple[LlamaForCausalLM, PreTrainedTokenizerFast],
    rows: Sequence[Mapping[str, Any]],
    judge: str,
    *,
    run: str,
    seed: int,
    steps: int,
    completion_length: int,
    done: Callable[[Step], None],
    out: Path,
    learning_rate: float = 1e-3,
    watch: str | None = None,
) -> None:
    """Train `policy` in place.

    Args:
        policy: model and tokenizer.
        rows: `prompt` and the judge's columns.
        judge: the configuration of the judge whose rewards train.
        run: names the curves.
        seed: of the sampling.
        steps: of 128 completions in groups of 16.
        completion_length: at most, in tokens.
        done: gets each step when it is over.
        out: TensorBoard's scalars go to a folder in it, where tensorboard is installed.
        learning_rate: constant.
        watch: the configuration of a judge that only looks on, at weight 0; its success rate is then the one reported.

    Raises:
        RuntimeError: not every step was logged.
    """
    configs = [judge] if watch is None else [judge, watch]
    parts = [reward_func(config) for config in configs]
    # one function of both: beside a second one, TRL would count a failed verdict as 0
    function = parts[0] if watch is None else combined(parts, weights=[1.0, 0.0])
    name = "".join(character if character.isalnum() else "-" for character in f"{run} {seed}")
    arguments = GRPOConfig(
        # TensorBoard's callback writes into `runs` here
        output_dir=str(out / "tensorboard" / name) if _has_tensorboard() else tempfile.mkdtemp(prefix="astuner-grpo-"),
        use_cpu=True,
        bf16=False,
        report_to="tensorboard" if _has_tensorboard() else "none",
        save_strategy="no",
        disable_tqdm=True,
        per_device_train_batch_size=128,
        num_generations=16,
        max_completion_length=completion_length,
        beta=0.0,
        temperature=1.0,
        learning_rate=learning_rate,
        lr_scheduler_type="constant",
        max_steps=steps,
        logging_steps=1,
        seed=seed,
    )
    model, tokenizer = policy
    watched = _Steps((parts[0].__name__, parts[-1].__name__), run, seed, done)
    trainer = GRPOTrainer(
        model=model,
        reward_funcs=function,
        args=arguments,
        processing_class=tokenizer,
        train_dataset=Dataset.from_list([dict(row) for row in rows]),
        callbacks=[watched],
    )
    # a dictionary of thirty numbers a step says less than the board
    trainer.remove_callback(PrinterCallback)
    trainer.train()
    if watched.count != steps:
        raise RuntimeError(f"TRL logged {watched.count} of {steps} steps")


def _has_tensorboard() -> bool:
    return importlib.util.find_spec("tensorboard") is not None


def ends(steps: Sequence[Step], value: str, width: int = 10) -> tuple[float, float]:
    """The mean of `value` over the first and over the last `width` steps of one run."""
    values = [float(getattr(step, value)) for step in steps]
    return fmean(values[:width]), fmean(values[-width:])


def report(steps: Sequence[Step]) -> None:
    """One line a run: where reward and success began and where they ended."""
    for run, seed in sorted({(step.run, step.seed) for step in steps}):
        own = [step for step in steps if (step.run, step.seed) == (run, seed)]
        reward, success, filtered = (ends(own, value) for value in ("reward", "success", "filtered"))
        print(
            f"{run:<28} seed {seed}  reward {reward[0]:.3f} -> {reward[1]:.3f}  success {success[0]:.3f} -> "
            f"{success[1]:.3f}  filtered {filtered[0]:.3f} -> {filtered[1]:.3f}  {_ends_of_parts(own)}"
            f"{sum(step.step_seconds for step in own):.0f} s"
        )


def _ends_of_parts(steps: Sequence[Step], width: int = 10) -> str:
    """`part: where it began -> where it ended  ` for each part."""
    told = ""
    for part in steps[0].parts:
        values = [step.parts.get(part, 0.0) for step in steps]
        told += f"{part} {fmean(values[:width]):.3f} -> {fmean(values[-width:]):.3f}  "
    return told


def write_csv(steps: Sequence[Step], path: Path) -> None:
    """The numbers behind the curves, one row a step."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        parts = list(dict.fromkeys(part for step in steps for part in step.parts))
        writer = csv.DictWriter(file, [own.name for own in fields(Step) if own.name != "parts"] + parts)
        writer.writeheader()
        for step in steps:
            row = {**asdict(step), **step.parts}
            del row["parts"]
            writer.writerow({key: round(value, 6) if isinstance(value, float) else value for key, value in row.items()})


def plot(steps: Sequence[Step], path: Path) -> None:
    """Reward, success and filtered share over the steps: a column of panels a run, a line a seed."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    runs = list(dict.fromkeys(step.run for step in steps))
    labels = {"reward": "mean reward", "success": "success rate", "filtered": "filtered share"}
    parts = dict.fromkeys(part for step in steps for part in step.parts)
    labels |= {part: f"part {part}" for part in parts}
    curves = list(labels)
    figure, axes = pyplot.subplots(
        len(curves),
        len(runs),
        figsize=(1 + 4 * len(runs), 1 + 2 * len(curves)),
        sharex="col",
        sharey="row",
        squeeze=False,
    )
    for column, run in enumerate(runs):
        axes[0][column].set_title(run)
        for row, curve in enumerate(curves):
            for seed in sorted({step.seed for step in steps if step.run == run}):
                own = [step for step in steps if (step.run, step.seed) == (run, seed)]
                values = [step.parts.get(curve, 0.0) if curve in parts else getattr(step, curve) for step in own]
                axes[row][column].plot([step.step for step in own], values, label=f"seed {seed}")
            if curve not in parts:
                axes[row][column].set_ylim(-0.05, 1.25)
            axes[row][column].grid(alpha=0.3)
        axes[-1][column].set_xlabel("step")
        axes[-1][column].legend(loc="center right")
    for row, label in enumerate(labels.values()):
        axes[row][0].set_ylabel(label)
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    pyplot.close(figure)
