"""SqlJudge: runs the query that the policy wrote beside the reference query, and compares their rows: as a multiset,
and in order only where the reference orders.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
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
# `query` may be the question where a row has another
_REFERENCES = ("gold_sql", "SQL", "sql", "query")


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
    `sql` or `query`. Rows are compared as a multiset, and in order where the reference orders them. Databases are
    opened read-only in a jail; only questions are allowed there. Jailed queries run as another user, so databases
    must be readable by all.

    Raises:
        ConfigError: a setting is wrong, or there is no isolation on this machine.
        JudgeError: of a verdict: the reference query fails, or has no rows, or the sandbox failed.
    """

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
                if _CHANGING.search(reference) and self._changes(file, reference, expected, ordered):
                    raise reference_error(
                        f"the reference query gives other rows each time on {file.name}: drop the row, or write "
                        "constants in place of random() and the time"
                    )
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

    def _changes(self, file: Path, reference: str, expected: Sequence[Row], ordered: bool) -> bool:
        """Whether the reference query gives other rows when it is run again, as one with `random()` does."""
        again = (self._rows(file, reference)[0] for _ in range(_TIMES))
        return any(isinstance(rows, str) or same_rows(rows, expected, ordered=ordered) for rows in again)

    def _difference(
        self, got: Sequence[Row], expected: Sequence[Row], ordered: bool, file: Path, reference: str
    ) -> str | None:
        def both_ways(whole: bool) -> tuple[Sequence[Row], Sequence[Row]] | None:
            queries = [without_ties(reference, len(expected[0]), way, whole=whole) for way in ("ASC", "DESC")]
            one, other = (self._rows(file, query)[0] for query in queries)
            return None if isinstance(one, str) or isinstance(other, str) else (one, other)

        skipped = skipped_rows(reference)
        return same_rows(got, expected, ordered=ordered, both_ways=both_ways, skipped=skipped)

    def _rows(self, file: Path, query: str) -> tuple[list[tuple[object, ...]] | str, Ending]:
        """The rows of a query, or a text that says why there are none; and how its run ended.

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
        """The files of the database: that in the main folder first, then those of the `variants` that have it."""
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
    r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`[^`]*`|\[[^\]]*\]|--[^\n]*|/\*.*?\*/|[()]"
    r"|\border\b(?:\s|--[^\n]*\n|/\*.*?\*/)++by\b|\blimit\b",
    re.IGNORECASE | re.DOTALL,
)
# `LIMIT 3 OFFSET 2`, `LIMIT 2, 3`
_LIMIT = re.compile(r"limit\s+([0-9]+)(?:\s*(,|\boffset\b)\s*([0-9]+))?[\s;]*\Z", re.IGNORECASE)
# Words in a query that may give other rows each time, and how often such a query is run again
_CHANGING = re.compile(r"random|\bnow\b|\bcurrent_|\b(?:date|time|datetime|julianday)\s*\(\s*\)", re.IGNORECASE)
_TIMES = 3
_DIGITS = 12
# If no expected number but 0 is below _LEAST, a number below _NOTHING is a rest of rounding, and counts as 0
_NOTHING, _LEAST = 1e-12, 1e-9
_WHOLE_BELOW = 2**53

Row = Sequence[object]


def is_ordered(query: str) -> bool:
    """Whether the whole result of `query` is ordered: `ORDER BY` outside of brackets, text and comments."""
    return any(piece[0][0] in "oO" for piece in _outside(query))


def _outside(query: str) -> Iterator[re.Match[str]]:
    """The keywords of `query` (`ORDER BY`, `LIMIT`), and its quoted texts and comments, outside of brackets."""
    depth = 0
    for piece in _PIECE.finditer(query):
        if piece[0] in "()":
            depth += 1 if piece[0] == "(" else -1
        elif depth == 0:
            yield piece


def _limit(query: str) -> int | None:
    """The position of the last `LIMIT` of `query`; None if it has none."""
    return next(iter([piece.start() for piece in _outside(query) if piece[0].lower() == "limit"][-1:]), None)


def skipped_rows(query: str) -> int | None:
    """How many rows `query` leaves out before those that its `LIMIT` keeps: 5 for `LIMIT 2 OFFSET 5`.

    None if it has no `LIMIT`, or one that is not written in plain numbers.
    """
    found = None if (at := _limit(query)) is None else _LIMIT.match(query, at)
    if found is None:
        return None
    return int(found[1] if found[2] == "," else found[3] or 0)


def without_ties(query: str, columns: int, way: str, *, whole: bool = False) -> str:
    """`query`, which is ordered, with its ties ordered, too: rows that it orders alike go by their columns.

    Args:
        query: the query.
        columns: how many columns its rows have.
        way: `ASC` or `DESC`, the order within ties.
        whole: whether to leave out its `LIMIT`.
    """
    end = len(query) if (at := _limit(query)) is None else at
    terms = "".join(f", {number} {way}" for number in range(1, columns + 1))
    # on a line of its own, since a comment may stand before it
    return f"{query[:end]}\n{terms} {'' if whole else query[end:]}"


def same_rows(
    got: Sequence[Row],
    expected: Sequence[Row],
    *,
    ordered: bool,
    both_ways: Callable[[bool], tuple[Sequence[Row], Sequence[Row]] | None] = lambda _: None,
    skipped: int | None = None,
) -> str | None:
    """None if the rows are the same, else the first difference in words, without the expected rows.

    Columns count by their position, not by their names. A number is a number, whether SQLite keeps it as an integer or
    not; expected integers are the same exactly, others to twelve digits. NULL is NULL, and no text is a number.

    Args:
        got: the rows of the judged query.
        expected: the rows of the reference query.
        ordered: whether their order counts.
        both_ways: gives the expected rows twice, with ties in one order and in the opposite one; None if it cannot. Its
            argument says whether to give all rows, as without `LIMIT`.
        skipped: how many of all rows come before the expected ones; None if the expected rows are all there are.
    """
    if len(got) != len(expected):
        return f"{len(got)} rows, {len(expected)} expected"
    if got and len(got[0]) != len(expected[0]):
        return f"{len(got[0])} columns, {len(expected[0])} expected"
    comparable = _comparable(expected)
    here, there = [*map(comparable, got)], [*map(comparable, expected)]
    if ordered:
        at = next((at for at, pair in enumerate(zip(here, there, strict=True), 1) if pair[0] != pair[1]), None)
        if at is None:
            return None
        is_moved = Counter(here) == Counter(there)
        for whole, begun in ((False, 0 if is_moved else None), (True, skipped)):
            ways = None if begun is None else both_ways(whole)
            if ways is not None and _same_but_for_ties(here, begun or 0, *([*map(comparable, way)] for way in ways)):
                return None
        return f"the right rows in another order, from row {at}" if is_moved else f"row {at} is another"
    more = Counter(here) - Counter(there)
    return f"{sum(more.values())} of {len(got)} rows are others" if more else None


def _same_but_for_ties(got: Sequence[Row], begun: int, expected: Sequence[Row], turned: Sequence[Row]) -> bool:
    """Whether `got` could be the expected rows, because it differs from them only in the order of ties.

    Args:
        got: the rows of the judged query; the first one is row `begun` of `expected`.
        begun: see `got`.
        expected: the rows of the reference query, with ties in one order.
        turned: the same rows, with ties in the opposite order.
    """
    start, unmatched, piece = 0, Counter[Row](), list[Row]()
    for end, (one, other) in enumerate(zip(expected, turned, strict=False), 1):
        piece.append(one)
        for row, by in ((one, 1), (other, -1)):
            unmatched[row] += by
            if not unmatched[row]:
                del unmatched[row]
        if not unmatched:
            # a piece that the end cuts may have kept any of its rows
            if Counter(got[max(0, start - begun) : max(0, end - begun)]) - Counter(piece):
                return False
            start, piece = end, []
    return start == len(expected) == len(turned) >= begun + len(got)


def _comparable(expected: Sequence[Row]) -> Callable[[Row], Row]:
    """A function of a row, whose results are equal for rows that count as the same: `(1, "a")` and `(1.0, "a")`."""
    columns = [_number_of(column) for column in zip(*expected, strict=True)]

    def compare(row: Row) -> Row:
        return tuple(
            ("number", to_number(value)) if isinstance(value, int | float) else (type(value).__name__, value)
            for value, to_number in zip(row, columns, strict=True)
        )

    return compare


def _number_of(expected: Row) -> Callable[[Any], object]:
    """A function of a column's numbers, whose results are equal for numbers that count as the same.

    A whole number counts exactly if all expected ones are whole, and so does an expected integer among others. All
    other numbers count to twelve digits.
    """
    numbers = [value for value in expected if isinstance(value, int | float)]
    is_whole = all(map(_is_whole, numbers))
    exact = {int(one) for one in numbers if is_whole or isinstance(one, int)}
    least = min((abs(one) for one in numbers if one), default=1.0)

    def rounded(value: int | float) -> float:
        return 0.0 if least >= _LEAST and abs(value) < _NOTHING else float(f"{float(value):.{_DIGITS}g}")

    def compare(value: int | float) -> object:
        try:
            if (is_whole and _is_whole(value)) or (round(value) in exact and rounded(value) == rounded(round(value))):
                return round(value)
            # it is near no expected integer
            return (rounded(value),)
        # not finite, or an int too large for a float
        except (OverflowError, ValueError):
            return repr(value)

    return compare


def _is_whole(value: int | float) -> bool:
    return isinstance(value, int) or (value.is_integer() and abs(value) < _WHOLE_BELOW)
