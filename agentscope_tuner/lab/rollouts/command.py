"""`astuner rollout`: tasks in, judged rollouts out, with no trainer."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import MofNCompleteColumn

from agentscope_tuner._run import interrupts
from agentscope_tuner.cli.console import Exit, config_errors, ending, err, progress, say
from agentscope_tuner.cli.options import Conf, Json, Overrides, Resume
from agentscope_tuner.cli.rendering import print_summary
from agentscope_tuner.config import Source, resolve
from agentscope_tuner.errors import ConfigError
from agentscope_tuner.lab.rollouts.processes import RolloutProcesses
from agentscope_tuner.lab.rollouts.rows import Earlier, RolloutRow, RolloutTally
from agentscope_tuner.lab.rollouts.runner import Lend, RolloutRunner, model_tuners
from agentscope_tuner.lab.rollouts.settings import load_settings, open_tasks
from agentscope_tuner.records.output import ScoredFile
from agentscope_tuner.records.scored_rows import Summary
from agentscope_tuner.task_judge.contract.loading import load_judge
from agentscope_tuner.workflow import Task

Runner = RolloutRunner | RolloutProcesses


def rollout(
    conf: Conf,
    output: Annotated[Path, typer.Option("--output", "-o", help="The file for the judged rollouts.")],
    overrides: Overrides = None,
    resume: Resume = False,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="Only the first N tasks.")] = None,
    processes: Annotated[int, typer.Option("--processes", min=1, help="Spread the rollouts over N processes.")] = 1,
    as_json: Json = False,
) -> None:
    """Run your workflow several times on each task, and judge every rollout.

    Exit code 3 when any rollout has no reward: its row is kept, says why, and is run again by --resume. Ctrl-C
    and the signals of schedulers keep what is done.
    """
    with config_errors():
        whole = resolve(conf, overrides or ())
        whole_run(whole, output, model_tuners, resume=resume, limit=limit, processes=processes, as_json=as_json)


def whole_run(
    config: Source,
    output: Path,
    lend: Lend,
    *,
    resume: bool = False,
    limit: int | None = None,
    processes: int = 1,
    as_json: bool = False,
) -> None:
    """Roll out, write, and print the summary; tests pass a lender of their own.

    Raises:
        ConfigError: an error in the configuration, the tasks or the output file.
        typer.Exit: some row has no reward (3), or the run was interrupted (130).
    """
    whole = resolve(config)
    settings = load_settings(whole)
    if str(output) == "-":
        raise ConfigError("--output must be a file: rows are written aside and renamed when they are whole")
    # check before anything runs, here too when other processes judge: the user sees mistakes at once
    judge, lender = load_judge(whole), lend(settings)
    tally = RolloutTally(unheard=set(settings.rollout.trainable_targets or ()))
    written, started = _Written(settings.digest, tally), time.perf_counter()
    try:
        with open_tasks(settings, limit=limit) as (tasks, place), ScoredFile(output, resume=resume) as scored:
            earlier = Earlier(scored, settings.digest, tasks, settings.rollout.num_repeat)
            runner = (
                RolloutProcesses(whole, lend, settings.rollout, processes, earlier=earlier.rows_of)
                if processes > 1
                else RolloutRunner.of(settings, judge, lender, place, earlier.rows_of)
            )
            _roll_out(runner, settings.rollout.num_repeat, tasks, earlier, scored, written)
    except KeyboardInterrupt as exc:
        rows = written.summary.rows
        say(f"stopped: interrupted\n{rows} rows are kept; --resume goes on", to=err)
        raise typer.Exit(Exit.INTERRUPTED) from exc
    title = f"{settings.reader.type} ▸ {output}"
    more = written.tally.lines()
    if written.left_behind:
        more.append(("left behind", f"{written.left_behind}: they did not end when they were cancelled"))
    seconds = time.perf_counter() - started
    print_summary(written.summary, seconds, title=title, more=more, kept=written.kept, as_json=as_json)
    if written.summary.statuses["failed"]:
        raise typer.Exit(Exit.ROWS_FAILED)


@dataclass(slots=True)
class _Written:
    """The totals of the rows that are in the file so far."""

    digest: str
    tally: RolloutTally
    summary: Summary = field(default_factory=Summary)
    left_behind: int = 0
    kept: int = 0

    def write(self, group: Sequence[RolloutRow], scored: ScoredFile) -> None:
        for row in group:
            scored.write(row.to_line(self.digest))
            self.summary.add(row.judgement, name=row.id)
            self.kept += row.kept
        self.tally.add(group)

    def so_far(self) -> str:
        reward = "no verdict yet" if self.summary.mean_reward is None else f"reward {self.summary.mean_reward:.3f}"
        spread = f"{self.tally.spread} of {self.tally.groups} groups spread"
        return f"{reward}, {self.summary.statuses['failed']} failed, {spread}"


def _roll_out(
    runner: Runner, num_repeat: int, tasks: Sequence[Task], earlier: Earlier, scored: ScoredFile, written: _Written
) -> None:
    todo = (task for task in tasks if not earlier.has(task.task_id))
    with _shown(runner, written, len(tasks) * num_repeat) as show, _interrupting(runner) as interrupted:
        for group in chain(earlier.whole_groups(), runner.run(todo)):
            written.write(group, scored)
            show()
        written.left_behind = runner.left_behind
        if interrupted():
            # Not begun again, but their cost counts
            for group in earlier.remaining():
                written.write(group, scored)
            raise KeyboardInterrupt


@contextmanager
def _interrupting(runner: Runner) -> Iterator[Callable[[], bool]]:
    """A context in which Ctrl-C, SIGTERM and SIGHUP stop the runner, which then passes on the finished rows; a second
    signal ends at once. It gives a function that returns whether a signal came.
    """
    stopped = threading.Event()

    def handle(number: int, frame: object) -> None:
        ending.told(number)
        stopped.set()
        runner.stop()
        for again in heard:
            signal.signal(again, signal.default_int_handler)

    with interrupts.handled(handle) as heard:
        yield stopped.is_set


@contextmanager
def _shown(runner: Runner, written: _Written, total: int) -> Iterator[Callable[[], None]]:
    """A progress bar with the reward so far, on a terminal only."""
    with progress(MofNCompleteColumn()) as drawn:
        bar = drawn.add_task("rolling out", total=total)

        def show() -> None:
            told = f"{written.so_far()}, {runner.running} running"
            drawn.update(bar, description=told, completed=written.summary.rows)

        yield show
