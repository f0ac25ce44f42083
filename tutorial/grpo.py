"""GRPO with TRL under configured judges, and its curves as CSV and PNG."""

from __future__ import annotations

import csv
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from statistics import fmean
from typing import Any

from datasets import Dataset
from transformers import LlamaForCausalLM, PreTrainedTokenizerFast, PrinterCallback
from trl import GRPOConfig, GRPOTrainer

from agentscope_tuner.adapters.trl import reward_func


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


def train(
    policy: tuple[LlamaForCausalLM, PreTrainedTokenizerFast],
    rows: Sequence[Mapping[str, Any]],
    judge: str,
    *,
    run: str,
    seed: int,
    steps: int,
    completion_length: int,
    learning_rate: float = 1e-3,
    watch: str | None = None,
) -> list[Step]:
    """Train `policy` in place.

    Args:
        policy: model and tokenizer.
        rows: `prompt` and the judge's columns.
        judge: the configuration of the judge whose rewards train.
        run: names the curves.
        seed: of the sampling.
        steps: of 128 completions in groups of 16.
        completion_length: at most, in tokens.
        learning_rate: constant.
        watch: the configuration of a judge that only looks on, at weight 0; its success rate is then the one reported.

    Raises:
        RuntimeError: not every step was logged.
    """
    configs = [judge] if watch is None else [judge, watch]
    functions = [reward_func(config) for config in configs]
    arguments = GRPOConfig(
        output_dir=tempfile.mkdtemp(prefix="astuner-grpo-"),
        use_cpu=True,
        bf16=False,
        report_to="none",
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
        reward_weights=[1.0, 0.0][: len(functions)],
    )
    model, tokenizer = policy
    trainer = GRPOTrainer(
        model=model,
        reward_funcs=list(functions),
        args=arguments,
        processing_class=tokenizer,
        train_dataset=Dataset.from_list([dict(row) for row in rows]),
    )
    # a dictionary of thirty numbers a step says less than the report
    trainer.remove_callback(PrinterCallback)
    trainer.train()
    trains, watches = functions[0].__name__, functions[-1].__name__
    logged = [entry for entry in trainer.state.log_history if "reward" in entry]
    if len(logged) != steps:
        raise RuntimeError(f"TRL logged {len(logged)} of {steps} steps")
    return [
        Step(
            run=run,
            seed=seed,
            step=entry["step"],
            reward=entry["reward"],
            success=entry[f"{watches}/success_rate"],
            filtered=entry[f"{trains}/filtered"],
            failed=entry[f"{trains}/failed"],
            judge_seconds=entry[f"{trains}/judge_seconds"],
            step_seconds=entry["step_time"],
        )
        for entry in logged
    ]


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
            f"{success[1]:.3f}  filtered {filtered[0]:.3f} -> {filtered[1]:.3f}  "
            f"{sum(step.step_seconds for step in own):.0f} s"
        )


def write_csv(steps: Sequence[Step], path: Path) -> None:
    """The numbers behind the curves, one row a step."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Step)])
        writer.writeheader()
        writer.writerows(
            {key: round(value, 6) if isinstance(value, float) else value for key, value in asdict(step).items()}
            for step in steps
        )


def plot(steps: Sequence[Step], path: Path) -> None:
    """Reward, success and filtered share over the steps: a column of panels a run, a line a seed."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    runs = list(dict.fromkeys(step.run for step in steps))
    curves = ("reward", "success", "filtered")
    figure, axes = pyplot.subplots(
        len(curves), len(runs), figsize=(1 + 4 * len(runs), 7), sharex="col", sharey="row", squeeze=False
    )
    for column, run in enumerate(runs):
        axes[0][column].set_title(run)
        for row, curve in enumerate(curves):
            for seed in sorted({step.seed for step in steps if step.run == run}):
                own = [step for step in steps if (step.run, step.seed) == (run, seed)]
                values = [getattr(step, curve) for step in own]
                axes[row][column].plot([step.step for step in own], values, label=f"seed {seed}")
            axes[row][column].set_ylim(-0.05, 1.05)
            axes[row][column].grid(alpha=0.3)
        axes[-1][column].set_xlabel("step")
        axes[-1][column].legend(loc="center right")
    for row, label in enumerate(("mean reward", "success rate", "filtered share")):
        axes[row][0].set_ylabel(label)
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    pyplot.close(figure)
