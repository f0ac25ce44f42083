"""SqlJudge: runs the query that the policy wrote beside the reference query, and compares their rows: as a multiset,
and in order only where the reference orders.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from agentscope_tuner._jail.bubblewrap import SHOWN
from agentscope_tuner._jail.idle_jails import SandboxBreaker, require_isolation, warm_jails
from agentscope_tuner._jail.jail import Ending, Jail, JailBroken, JailWork, RunLimits, slot
from agentscope_tuner._run import loops
from agentscope_tuner.config import StrictSection, task_judge_section, validate_section
from agentscope_tuner.errors import ConfigError, JudgeError, reference_error
from agentscope_tuner.task_judge.base_judge import KWARGS, BaseJudge, Reward, final_answer
from agentscope_tuner.verify.code.inside.code_values import NotPlainError, load
from agentscope_tuner.verify.code.program import find_program
from agentscope_tuner.workflow import Task, WorkflowOutput, WorkflowTask

_FOLDERS = (str(Path(__file__).parents[1] / "verify" / "code" / "inside"),)
_ENTRY = "agentscope_tuner.verify.code.inside.query_or_puzzle"
_NAME = re.compile(r"[\w. -]{1,200}\Z")
_REFERENCES = ("gold_sql", "SQL", "query", "sql")


class SqlConfig(StrictSection):
    """SqlJudge's `astuner.task_judge.judge_kwargs`."""

    #: a folder of databases: `<db_id>/<db_id>.sqlite` or `<db_id>.sqlite`
    databases: str = Field(
        description="write judge_kwargs: {databases: FOLDER}, where FOLDER/<db_id>/<db_id>.sqlite is the database of a "
        "row with that db_id"
    )
    #: folders of more databases of the same schemas, on which the queries must agree, too
    variants: list[str] = Field(default_factory=list)
    #: where the query stands: the last fenced block, that in <answer>, or the whole output if it has no block
    answer_in: Literal["fence", "tag", "whole"] = "fence"
    #: CPU seconds of one query
    seconds: float = Field(default=10.0, gt=0, le=3600)
    memory_mb: int = Field(default=512, ge=64)
    #: rows of one result
    most_rows: int = Field(default=100_000, ge=1)
    #: whether rows must come in the reference's order: where the reference orders them, never, or always
    order: Literal["reference", "never", "always"] = "reference"
    #: whether a reference without rows counts; every other query without rows would then be right
    empty_reference: Literal["error", "accept"] = "error"


class SqlJudge(BaseJudge):
    """Gives 1.0 and success to a query with the rows of the reference query, else 0.0.

    The tasks are rows of BIRD and Spider: `task.metadata` holds `db_id`, and the reference as `gold_sql`, `SQL`,
    `query` or `sql`. Rows are compared as a multiset, and in order where the reference orders them. Databases are
    opened read-only in a jail; only questions are allowed there. Jailed queries run as another user, so databases
    must be readable by all.

    Raises:
        ConfigError: a setting is wrong, or there is no isolation on this machine.
        JudgeError: of a verdict: the reference query fails, or has no rows, or the sandbox failed.
    """

    judge_kind = "io"
    bounds_itself = True
    reference_keys = ("db_id", *_REFERENCES)
    metric_names = ("rows", "cpu_seconds")

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self._settings = settings = validate_section(SqlConfig, task_judge_section(config).judge_kwargs, KWARGS)
        for folder in (settings.databases, *settings.variants):
            if not Path(folder).is_dir():
                raise ConfigError(f"{KWARGS}: there is no folder {folder!r}")
        self._limits = RunLimits(
            seconds=settings.seconds, wall_seconds=2 * settings.seconds, memory_mb=settings.memory_mb, processes=8
        )
        self._breaker = SandboxBreaker()
        require_isolation(KWARGS)

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Reward:
        """See BaseJudge. Blocks while the queries run."""
        database, reference = _reference(workflow_task.task)
        found = find_program(final_answer(workflow_output), self._settings.answer_in, "sql")
        if found.source is None:
            return Reward(
                0.0, False, reason=found.why.replace("program", "query"), metrics={"rows": 0.0, "cpu_seconds": 0.0}
            )
        files = self._files(database)
        with self._breaker.trying():
            return self._compared(found.source.strip().rstrip(";"), reference, files)

    async def acompute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Reward:
        """See BaseJudge: the same in a thread, so that no event loop waits for a query."""
        return await loops.in_thread(self.compute_reward, workflow_task, workflow_output)

    def check_task(self, task: Task, output: WorkflowOutput | None = None) -> str | None:
        """See BaseJudge: a row without its database, or whose reference query fails."""
        try:
            database, reference = _reference(task)
            self._compared(reference, reference, self._files(database))
        except JudgeError as error:
            return f"bad row: {error.message}"
        except JailBroken as exc:
            return f"sandbox: {exc}"
        return None

    def _compared(self, query: str, reference: str, files: Sequence[Path]) -> Reward:
        """The verdict of all databases; the first difference ends it."""
        ordered = {"reference": is_ordered(reference), "never": False, "always": True}[self._settings.order]
        spent, rows = 0.0, 0
        with slot():
            for number, file in enumerate(files):
                expected, _ = self._rows(file, reference)
                if isinstance(expected, str):
                    raise reference_error(f"the reference query fails on {file.name}: {expected}")
                if not expected and number == 0 and self._settings.empty_reference == "error":
                    raise reference_error(
                        f"the reference query has no rows on {file.name}, so any query without rows would be right: "
                        "drop the row, or set empty_reference: accept"
                    )
                got, ending = self._rows(file, query)
                spent += ending.cpu_seconds
                rows = 0 if isinstance(got, str) else len(got)
                why = got if isinstance(got, str) else self._difference(got, expected, ordered, file, reference)
                metrics = {"rows": float(rows), "cpu_seconds": round(spent, 4)}
                if why is not None:
                    where = f"on {file.name}: " if len(files) > 1 else ""
                    return Reward(0.0, False, reason=f"{where}{why}", metrics=metrics)
        return Reward(1.0, True, reason=f"the reference's {rows} rows", metrics=metrics)

    def _difference(
        self, got: Sequence[Row], expected: Sequence[Row], ordered: bool, file: Path, reference: str
    ) -> str | None:
        def both_ways() -> tuple[Sequence[Row], Sequence[Row]] | None:
            queries = [without_ties(reference, len(expected[0]), way) for way in ("ASC", "DESC")]
            one, other = (self._rows(file, query)[0] for query in queries)
            return None if isinstance(one, str) or isinstance(other, str) else (one, other)

        return same_rows(got, expected, ordered=ordered, both_ways=both_ways)

    def _rows(self, file: Path, query: str) -> tuple[list[tuple[object, ...]] | str, Ending]:
        """The rows of a query, or why there are none.

        Raises:
            JailBroken: the jail failed twice, or the machine gave it no CPU.
        """
        payload = {"database": f"{SHOWN}/0", "query": query, "most_rows": self._settings.most_rows}
        work = JailWork(entry=f"{_ENTRY}:run_query", payload=json.dumps(payload).encode())
        # a database that is written anew is another file
        kind = f"sql {file} {file.stat().st_mtime_ns}"
        ending = warm_jails.run(
            kind, lambda: Jail(folders=_FOLDERS, visible=[str(file)], preload=[_ENTRY]), work, self._limits
        )
        return _read(ending, self._limits), ending

    def _files(self, database: str) -> list[Path]:
        """The database in the folder, then in those variants that have it."""
        found = [self._file(folder, database) for folder in (self._settings.databases, *self._settings.variants)]
        if found[0] is None:
            raise reference_error(f"there is no database {database!r} in {self._settings.databases}")
        return [file for file in found if file is not None]

    @staticmethod
    def _file(folder: str, database: str) -> Path | None:
        for path in (Path(folder) / database / f"{database}.sqlite", Path(folder) / f"{database}.sqlite"):
            if path.is_file():
                return path.resolve()
        return None


def _read(ending: Ending, limits: RunLimits) -> list[tuple[object, ...]] | str:
    if why := ending.over(limits):
        return why
    try:
        found = load(ending.result)
    except NotPlainError:
        return f"the result is over {limits.output_kb:,} KB, or the database's program failed"
    if not isinstance(found, dict) or not isinstance(rows := found.get("rows", found.get("error")), list | str):
        return "no rows"
    return rows if isinstance(rows, str) else [row for row in rows if isinstance(row, tuple)]


def _reference(task: Task) -> tuple[str, str]:
    """The name of the task's database, and the reference query.

    Raises:
        JudgeError: one of them is missing.
    """
    metadata = task.metadata
    database = metadata.get("db_id")
    if not isinstance(database, str) or not _NAME.match(database) or set(database) <= {"."}:
        raise reference_error(f"the task's metadata has no database's name as 'db_id', got {database!r:.80}")
    for key in _REFERENCES:
        if isinstance(metadata.get(key), str) and metadata[key].strip():
            return database, metadata[key].strip().rstrip(";")
    raise reference_error(
        f"the task's metadata has no reference query as {', '.join(_REFERENCES)}, only {sorted(metadata)!r}"
    )


_PIECE = re.compile(
    r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`[^`]*`|\[[^\]]*\]|--[^\n]*|/\*.*?\*/|[()]|\border\s+by\b|\blimit\b",
    re.IGNORECASE | re.DOTALL,
)
_DIGITS = 12

Row = Sequence[object]


def is_ordered(query: str) -> bool:
    """Whether the whole result of `query` is ordered: `ORDER BY` outside of brackets, text and comments."""
    return any(piece[0][0] in "oO" for piece in _outside(query))


def _outside(query: str) -> Iterator[re.Match[str]]:
    """The pieces of `query` outside of brackets."""
    depth = 0
    for piece in _PIECE.finditer(query):
        if piece[0] in "()":
            depth += 1 if piece[0] == "(" else -1
        elif depth == 0:
            yield piece


def without_ties(query: str, columns: int, way: str) -> str:
    """`query`, which is ordered, with rows that it orders alike in the order of their columns: `ASC` or `DESC`."""
    limits = [piece.start() for piece in _outside(query) if piece[0].lower() == "limit"]
    end = limits[-1] if limits else len(query)
    terms = "".join(f", {number} {way}" for number in range(1, columns + 1))
    # on a line of its own, since a comment may stand before it
    return f"{query[:end]}\n{terms} {query[end:]}"


def same_rows(
    got: Sequence[Row],
    expected: Sequence[Row],
    *,
    ordered: bool,
    both_ways: Callable[[], tuple[Sequence[Row], Sequence[Row]] | None] = lambda: None,
) -> str | None:
    """None where the rows are the same, else the first difference in words, without the expected rows.

    Columns count by their place, not by their names. A number is a number, whether SQLite keeps it as an integer or
    not; floats are the same to twelve digits. NULL is NULL, and no text is a number.

    Args:
        ordered: whether their order counts.
        both_ways: gives the expected rows with ties put in one order, and in the opposite one; None where it cannot.
    """
    if len(got) != len(expected):
        return f"{len(got)} rows, {len(expected)} expected"
    if got and len(got[0]) != len(expected[0]):
        return f"{len(got[0])} columns, {len(expected[0])} expected"
    here, there = [_comparable(row) for row in got], [_comparable(row) for row in expected]
    if ordered:
        at = next((at for at, pair in enumerate(zip(here, there, strict=True), 1) if pair[0] != pair[1]), None)
        if at is not None and Counter(here) == Counter(there):
            if (ways := both_ways()) is not None and _same_but_for_ties(here, *(map(_comparable, way) for way in ways)):
                return None
            return f"the right rows in another order, from row {at}"
        return None if at is None else f"row {at} is another"
    more = Counter(here) - Counter(there)
    return f"{sum(more.values())} of {len(got)} rows are others" if more else None


def _same_but_for_ties(got: Sequence[Row], one_way: Iterable[Row], other_way: Iterable[Row]) -> bool:
    """Whether `got` differs from the expected rows only within pieces that hold the same rows both ways."""
    expected, turned = [*one_way], [*other_way]
    if not Counter(expected) == Counter(turned) == Counter(got):
        return False
    begun, unmatched = 0, Counter[Row]()
    for at, (one, other) in enumerate(zip(expected, turned, strict=True), 1):
        for row, by in ((one, 1), (other, -1)):
            unmatched[row] += by
            if not unmatched[row]:
                del unmatched[row]
        if not unmatched:
            if Counter(got[begun:at]) != Counter(expected[begun:at]):
                return False
            begun = at
    return True


def _comparable(row: Row) -> tuple[object, ...]:
    return tuple(_value(value) for value in row)


def _value(value: object) -> object:
    if isinstance(value, float):
        if not math.isfinite(value):
            return ("number", repr(value))
        short = float(f"{value:.{_DIGITS}g}")
        return ("number", int(short) if short.is_integer() and abs(short) < 2**53 else short)
    return ("number", value) if isinstance(value, int) else (type(value).__name__, value)
