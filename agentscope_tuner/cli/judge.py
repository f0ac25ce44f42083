"""`astuner judge`: rollouts in, scored rollouts and a summary out, on this machine or on Ray; or what it would cost."""

from __future__ import annotations

import fnmatch
import json
import os
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Annotated, BinaryIO, Literal

import typer

from agentscope_tuner._run import interrupts
from agentscope_tuner.cli.console import (
    GRACE_SECONDS,
    Exit,
    cell,
    config_errors,
    counted,
    ending,
    err,
    fail,
    out,
    progress,
    say,
    table,
)
from agentscope_tuner.cli.options import (
    Conf,
    Format,
    Json,
    Map,
    Overrides,
    Resume,
    Source,
    conversion,
    mapped,
    opened_source,
)
from agentscope_tuner.cli.rendering import print_summary
from agentscope_tuner.config import Settings
from agentscope_tuner.engines.judging import JudgedBefore, LineJudge, resumed, with_earlier
from agentscope_tuner.engines.local import score
from agentscope_tuner.engines.ray.files import score_files
from agentscope_tuner.engines.ray.partitions import input_files
from agentscope_tuner.errors import Cause, ConfigError, JudgeError
from agentscope_tuner.graders.client.usage import Usage
from agentscope_tuner.graders.cost import Estimate, Reckoner
from agentscope_tuner.records.blocks import Block, converted, gathered, limited
from agentscope_tuner.records.output import earlier_rows, furthest, scored_output, stage_of
from agentscope_tuner.records.reader import Line
from agentscope_tuner.records.scored_rows import Summary
from agentscope_tuner.storage import is_pattern, is_url, plain
from agentscope_tuner.task_judge.base_judge import Counts
from agentscope_tuner.task_judge.contract.loading import load_judge
from agentscope_tuner.task_judge.math_answer_as_judge import ELSEWHERE, elsewhere_note

_MOST_PROBLEMS = 5
_REASON_CHARS = 160
_NOT_WRITTEN = (".xlsx", ".xls")


class DryRun:
    """Counts over the rows that would be judged.

    Attributes:
        rows: how many there are.
        kept: rows that an earlier run judged.
        uncalled: rows that rules decide, or that cannot be read.
        failed: rows that would fail before any model is asked.
        problems: why rows would fail, and how often.
        unknown: rows whose judge cannot estimate its calls.
        total: the estimated use of the other rows.
    """

    def __init__(self) -> None:
        self.rows = self.kept = self.uncalled = self.failed = self.unknown = 0
        self.problems: Counter[str] = Counter()
        self.total = Estimate()

    def add(self, judge: LineJudge, lines: Iterable[Line | JudgedBefore]) -> None:
        """Estimate what judging `lines` would use."""
        reckoner = Reckoner()
        for group in judge.groups(lines):
            count = len(group.lines)
            self.rows += count
            if group.results is not None or isinstance(group.lines[0], JudgedBefore):
                self.kept += count
                continue
            try:
                asked, estimate = judge.estimate(group.lines, reckoner)
            except JudgeError as exc:
                self.failed += count
                self.problems[exc.message[:_REASON_CHARS]] += count
                continue
            self.uncalled += count - asked
            self.total += estimate
            self.unknown += 0 if estimate.complete else asked

    def counts(self) -> Iterator[tuple[str, str]]:
        """Each count by its name, in words."""
        least, most = self.total.least, self.total.most
        yield "rows", f"{self.rows}" + (f", {self.kept} judged before" if self.kept else "")
        yield "settled uncalled", f"{self.uncalled} by rules, or unreadable"
        for problem, count in self.problems.most_common(_MOST_PROBLEMS):
            yield f"fail uncalled x{count}", problem
        if self.unknown:
            yield "not known", f"{self.unknown} rows: their judge does not say what it asks (BaseJudge.estimate)"
        yield "calls", _span(least.calls, most.calls)
        yield "cache hits", _span(least.cache_hits, most.cache_hits)
        yield "prompt tokens", "about " + _span(least.prompt_tokens, most.prompt_tokens)
        yield "reply tokens", "about " + _span(least.completion_tokens, most.completion_tokens)
        yield "cost", self._cost(least, most)
        if self.total.priced and most.cost:
            rows = max(1, self.rows - self.kept)
            yield "cost a row", _span(least.cost / rows, most.cost / rows, ",.4g")

    def _cost(self, least: Usage, most: Usage) -> str:
        if not most.calls:
            return "0"
        if not self.total.priced:
            return "not known: client.prices has no {prompt, completion} per million tokens"
        return "about " + _span(least.cost, most.cost, ",.4g")


def _span(least: float, most: float, form: str = ",") -> str:
    return format(least, form) if least == most else f"{least:{form}} to {most:{form}}"


# A rate over less time would leap
_LEAST_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class RowsAsked:
    """The rows to judge, and how to read them.

    Attributes:
        conf: the training YAML.
        overrides: overrides of it, `key=value`.
        input_: a file, a folder, or `-`.
        limit: judge only so many rows, from the first on.
        format_: the trainer whose rows they are.
        pairs: the pairs of `--map`: where columns of the rows go.
        tasks: where the tasks' metadata stands.
    """

    conf: str
    overrides: Sequence[str]
    input_: str
    limit: int | None = None
    format_: str | None = None
    pairs: Sequence[str] | None = None
    tasks: str | None = None

    def settings(self) -> Settings:
        """The configuration, in which `--map` takes the place of the columns that it names.

        Raises:
            ConfigError: it is wrong.
        """
        return mapped(self.conf, self.overrides, self.pairs)

    def rollouts(self, source: Source, settings: Settings) -> Iterator[Line]:
        """The rows, one by one, as rollouts."""
        return conversion(settings, self.format_, self.pairs, self.tasks).all(islice(source.lines(), self.limit))

    def blocks(self, source: Source, settings: Settings) -> Iterator[Block]:
        """The rows in blocks; the process that judges a block turns it into rollouts."""
        if self.tasks:
            # Their contents would be sent to the workers with every block
            return gathered(self.rollouts(source, settings))
        blocks = limited(source.blocks, self.limit) if self.limit else source.blocks
        return converted(blocks, conversion(settings, self.format_, self.pairs))


def judge_file(
    asked: RowsAsked, output: str, *, resume: bool, jobs: int | None, strict: bool, as_json: bool = False
) -> Summary:
    """Judge the rows into `output`, and print the summary."""
    summary, kept, started = Summary(), 0, time.perf_counter()
    with config_errors():
        _check_apart(asked.input_, output)
        _check_outside(asked.input_, output)
        settings = asked.settings()
        digest = settings.task_judge.digest()
        # Load the judge first: a wrong configuration must leave an earlier output as it is
        judge = LineJudge(settings, digest, strict)
        replaced = not resume and not is_url(output) and os.path.isfile(plain(output))
        try:
            with (
                opened_source(asked.input_, watched=partial(_watched, summary)) as source,
                interrupts.held(),
                scored_output(output, resume=resume) as scored,
            ):
                blocks, earlier = asked.blocks(source, settings), scored.earlier()
                if resume:
                    blocks = resumed(blocks, earlier, digest)
                with closing(score(judge, interrupts.Interruptible(blocks), jobs=jobs)) as results:
                    for block in results:
                        scored.write(block.data)
                        summary.merge(block.summary)
                        kept += block.kept
                        if strict and block.error is not None:
                            raise JudgeError(block.error)
                beyond = sum(1 for _ in earlier)
                if not summary.rows:
                    # an earlier output stays as it is
                    raise ConfigError(f"{asked.input_!r} holds no rows: nothing was judged")
        except (JudgeError, KeyboardInterrupt) as exc:
            raise _stopped(exc, f"{summary.rows} rows") from exc
    title, notes = f"{source.name} ▸ {output}", [*_notes(summary, output), *judge.inner.run_notes()]
    notes += _on_earlier(output, kept, summary.rows - kept, beyond, replaced=replaced)
    notes += _unlogged(settings)
    print_summary(summary, time.perf_counter() - started, title=title, kept=kept, notes=notes, as_json=as_json)
    return summary


def _on_earlier(output: str, kept: int, judged: int, beyond: int, *, replaced: bool) -> Iterator[str]:
    """Sentences about an output that was there before: whether it was replaced, and how many of its
    verdicts were kept.
    """
    if replaced:
        yield f"{output} was there and is replaced; --resume keeps what is judged"
    if kept or beyond:
        dropped = f"; {counted(beyond, 'row')} behind the last of this input dropped" if beyond else ""
        yield f"--resume kept the verdicts of {counted(kept, 'row')} of {output} and judged {judged:,} now{dropped}"


def _unlogged(settings: Settings) -> list[str]:
    """A note that `astuner judge` writes nothing to `log_dir`, which is for trainers; empty if none is set."""
    folder = settings.task_judge.log_dir
    told = "the verdicts stand in --output, which `astuner watch` and `astuner doctor` read, too"
    return [f"astuner judge writes nothing to log_dir {folder!r}, as a training does: {told}"] if folder else []


def _notes(summary: Summary, output: str) -> Iterator[str]:
    told = False
    for metric, (rows, _) in summary.means.items():
        if metric.startswith(ELSEWHERE):
            told = True
            yield elsewhere_note(metric, f"{rows:,.0f} of {summary.rows:,}")
    judged = summary.statuses["judged"]
    if judged > 1 and not summary.successes and not told:
        yield f"none of {judged:,} judged rows is a success: `astuner doctor {output}` looks for the cause"
    if summary.causes[Cause.BUG.value]:
        yield "a judge raised, or returned no reward: `astuner -v judge … --jobs 1` logs where, each frame"


def show_costs(asked: RowsAsked, resumed: str | None, *, as_json: bool) -> None:
    """Print what it would cost to judge the rows that the output `resumed` lacks."""
    with config_errors():
        settings = asked.settings()
        digest = settings.task_judge.digest()
        judge, found = LineJudge(settings, digest), DryRun()
        with opened_source(asked.input_, watched=partial(_watched, Summary())) as source:
            lines = asked.rollouts(source, settings)
            earlier = earlier_rows(furthest(stage_of(resumed))) if resumed is not None else None
            found.add(judge, lines if earlier is None else with_earlier(lines, earlier, digest))
    if as_json:
        print(json.dumps({"input": asked.input_, **dict(found.counts())}))
        return
    counts = table(f"{source.name}: nothing was sent")
    for each in found.counts():
        counts.add_row(*map(cell, each))
    out.print(counts)


def _check_apart(input_: str, output: str) -> None:
    with suppress(OSError):
        if os.path.samefile(plain(input_), plain(output)):
            raise ConfigError(f"--input and --output are one file, {output!r}, and would be written over: name another")


def _check_outside(input_: str, output: str) -> None:
    """Refuse an output that lies among the inputs: the next run would judge it."""
    if input_ == "-" or is_url(input_) or is_url(output):
        return
    source, target = Path(plain(input_)), Path(plain(output)).resolve()
    inside = source.is_dir() and source.resolve() in target.parents
    if is_pattern(input_):
        # `**/` may stand for no folder, too
        form = "(.*/)?".join(fnmatch.translate(part)[:-2] for part in str(source.absolute()).split("**/"))
        inside = re.fullmatch(form, str(target)) is not None
    if inside:
        said = "the next run would read it as rollouts, so name another folder"
        raise ConfigError(f"--output {output!r} lies within --input {input_!r}: {said}")


def _stopped(exc: JudgeError | KeyboardInterrupt, kept: str) -> typer.Exit:
    """Print why the run ends early, and what is `kept`; returns the exit for the caller to raise."""
    failed = isinstance(exc, JudgeError)
    say(f"stopped: {exc if failed else 'interrupted'}\n{kept} are kept; --resume goes on", to=err)
    return typer.Exit(Exit.ROWS_FAILED if failed else Exit.INTERRUPTED)


def _watched(summary: Summary, blocks: Iterator[Block], stream: BinaryIO) -> Iterator[Block]:
    """The blocks of a file, with a progress bar over its bytes while they are read, on a terminal only."""
    if not err.is_terminal:
        yield from blocks
        return
    from rich.progress import TaskProgressColumn

    seekable = stream.seekable()
    total = os.fstat(stream.fileno()).st_size if seekable else None
    with progress(*([TaskProgressColumn()] if total else [])) as shown:
        bar = shown.add_task("judging", total=total)
        started = time.monotonic()
        for block in blocks:
            rate = summary.rows / max(time.monotonic() - started, _LEAST_SECONDS)
            description = f"{summary.rows} rows, {summary.statuses['failed']} failed, {rate:,.0f} a second"
            shown.update(bar, description=description, completed=stream.tell() if seekable else summary.rows)
            yield block


def add_counts(total: dict[str, list[int]], more: Counts) -> None:
    """Add the counts of one process to the counts of all processes."""
    for name, numbers in more.items():
        total[name] = [one + other for one, other in zip(total.get(name, [0] * len(numbers)), numbers, strict=True)]


def judge_on_ray(
    asked: RowsAsked, target: str, *, address: str | None, jobs: int | None, resume: bool, as_json: bool
) -> Summary:
    """Judge the files that `asked.input_`, a pattern, names into the folder `target`, and print the summary."""
    summary, counts, kept, started = Summary(), dict[str, list[int]](), 0, time.perf_counter()
    with config_errors():
        settings = asked.settings()
        if is_url(target):
            raise ConfigError(f"--output must be a folder that every node sees, got {target!r}: mount the bucket")
        output = Path(plain(target))
        if output.exists() and not output.is_dir():
            raise ConfigError(f"--output must be a folder with --engine ray, got the file {str(output)!r}")
        digest, files = settings.task_judge.digest(), input_files(asked.input_)
        records = score_files(settings, files, output, digest=digest, jobs=jobs, address=address, resume=resume)
        try:
            with progress() as shown:
                bar = shown.add_task("judging", total=None)
                for record in records:
                    summary.merge(Summary.from_dict(record.summary))
                    add_counts(counts, record.counts)
                    kept += record.kept
                    shown.update(bar, description=f"{summary.rows} rows, {summary.statuses['failed']} failed")
        except (JudgeError, KeyboardInterrupt) as exc:
            raise _stopped(exc, f"{summary.rows} rows in whole partitions") from exc
        if not summary.rows:
            raise ConfigError(f"{asked.input_!r} holds no rows: nothing was judged")
    title, notes = f"{asked.input_} ▸ {output}", load_judge(settings).inner.notes_on(counts)
    notes = [*notes, *_unlogged(settings)]
    print_summary(summary, time.perf_counter() - started, title=title, kept=kept, notes=notes, as_json=as_json)
    return summary


def _output(given: str | None) -> str:
    """`--output`, which must be a file that can be written."""
    if given is None:
        raise fail("--output is missing: the file that the scored rollouts go to")
    if given == "-" or re.fullmatch(r"/dev/(std(out|err)|fd/.*)|/proc/[^/]+/fd/.*", given):
        raise fail("--output must be a file: scored rows are written aside and renamed when they are whole")
    if given.lower().endswith(_NOT_WRITTEN):
        raise fail(f"--output {given!r} is not written: name .csv, .jsonl, .jsonl.gz, .parquet or .arrow")
    return given


_JOBS = "Rows at the same time. By default a process a core if the judge computes, `concurrency` if it awaits, else 1."
_ENGINE = "ray: on a Ray cluster. --input is then a pattern of files, --output a folder, --jobs the number of actors."
_TASKS = "The tasks, for dumps without the data set's columns, such as TRL's; matched by the query."
_INPUT = "Rows with responses: JSON lines, CSV, Parquet, Arrow; a file, folder, pattern or URL; - is standard input."
_OUTPUT = "The file of scored rollouts, by path or URL: .jsonl, .csv, .tsv, each also as .gz, .parquet or .arrow."
_GRACE = "Seconds that rows under way have to finish after Ctrl-C or another signal. A second signal gives them up."
_DRY_RUN = "Print what judging would cost; nothing is sent or written. With --resume, of the rows that --output lacks."


def judge(
    conf: Conf,
    input_: Annotated[str, typer.Option("--input", help=_INPUT)],
    output: Annotated[str | None, typer.Option("--output", "-o", help=_OUTPUT)] = None,
    overrides: Overrides = None,
    resume: Resume = False,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="Judge only the first N rows.")] = None,
    jobs: Annotated[int | None, typer.Option("--jobs", min=1, help=_JOBS, show_default="by the judge's kind")] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Stop at the first row that fails.")] = False,
    format_: Format = None,
    map_: Map = None,
    tasks: Annotated[str | None, typer.Option("--tasks", help=_TASKS)] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help=_DRY_RUN)] = False,
    engine: Annotated[Literal["local", "ray"], typer.Option("--engine", help=_ENGINE)] = "local",
    address: Annotated[str | None, typer.Option("--address", help="The Ray cluster's address, such as auto.")] = None,
    grace: Annotated[float, typer.Option("--grace", min=0, help=_GRACE)] = GRACE_SECONDS,
    as_json: Json = False,
) -> None:
    """Judge a file of rollouts. A failed row has no reward, which is not a reward of 0; the exit code is then 3."""
    ending.grace = grace
    if dry_run and engine == "ray":
        raise fail("--dry-run reads the rows here: --engine local, with one of the files as --input")
    asked = RowsAsked(conf, overrides or (), input_, limit, format_, map_, tasks)
    if dry_run:
        show_costs(asked, output if resume else None, as_json=as_json)
        return
    output = _output(output)
    if engine == "ray":
        if limit or strict or format_ or map_ or tasks:
            raise fail("--limit, --strict, --format, --map and --tasks are read by --engine local")
        summary = judge_on_ray(asked, output, address=address, jobs=jobs, resume=resume, as_json=as_json)
    else:
        summary = judge_file(asked, output, resume=resume, jobs=jobs, strict=strict, as_json=as_json)
    if summary.statuses["failed"]:
        raise typer.Exit(Exit.ROWS_FAILED)
