"""The memory of reading a million rows of Parquet, in one row group and in many: `python -m benchmarks.scale.columnar`.

Peak resident memory of this process when a tenth and all of the rows are read, and rows a second of CPU time beside the
same rows as JSON lines. Fails when memory grows by more than `--most-growth` between a tenth and the end.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from agentscope_tuner.records.files import dump_lines
from agentscope_tuner.records.reader import Line, parse_line
from benchmarks.bars import at_most
from benchmarks.scale.memory import peak_mib
from benchmarks.scale.workload import exact_lines

_CHUNK = 50_000


def write(path: Path, rows: int, group: int) -> None:
    """The rows of `exact_lines`, a chunk at a time where there are several row groups."""
    # in the child alone: the reader's process must meet pyarrow as a command does
    import pyarrow
    from pyarrow import parquet

    schema = pyarrow.schema([("id", pyarrow.string()), ("task", pyarrow.string()), ("output", pyarrow.string())])
    made = exact_lines(rows)
    with parquet.ParquetWriter(path, schema) as file:
        chunks: list[pyarrow.Table] = []
        while lines := list(islice(made, _CHUNK)):
            rollouts = [parse_line(Line("", line.rstrip())).rollout for line in lines]
            columns = {
                "id": [row.id for row in rollouts if row],
                "task": [row.task.model_dump_json() for row in rollouts if row],
                "output": [row.output.model_dump_json() for row in rollouts if row],
            }
            chunks.append(pyarrow.table(columns, schema))
            if sum(chunk.num_rows for chunk in chunks) >= group:
                file.write_table(pyarrow.concat_tables(chunks), row_group_size=group)
                chunks = []
        if chunks:
            file.write_table(pyarrow.concat_tables(chunks), row_group_size=group)


def read(lines: Iterator[Line], rows: int) -> tuple[float, float]:
    """Memory's growth from a tenth to the end, and CPU seconds."""
    started, at_a_tenth = time.process_time(), 0.0
    for number, line in enumerate(lines, 1):
        assert line.problem is None, line.problem
        if number == rows // 10:
            at_a_tenth = peak_mib(os.getpid())
    assert number == rows, f"{number} of {rows} rows"
    end = peak_mib(os.getpid())
    print(f"    peak RSS {at_a_tenth:.0f} MiB at a tenth, {end:.0f} MiB at the end")
    return end / at_a_tenth - 1, time.process_time() - started


def main() -> None:
    """Print the figures; each file is written by a child, so that the reader's peak is its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--most-growth", type=float, default=0.05)
    asked = parser.parse_args()
    met = True
    with tempfile.TemporaryDirectory() as folder:
        for name, group in (("row groups of 50,000", _CHUNK), ("one row group", asked.rows)):
            path = Path(folder) / "rows.parquet"
            if (child := os.fork()) == 0:
                write(path, asked.rows, group)
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
            print(f"{name}: {path.stat().st_size / 2**20:.0f} MiB")
            growth, seconds = read(dump_lines(str(path)), asked.rows)
            print(f"    {asked.rows / seconds:,.0f} rows per CPU second")
            met &= at_most(f"memory's growth over Parquet, {name}", 100 * growth, 100 * asked.most_growth, "%")
    raise SystemExit(0 if met else 1)


if __name__ == "__main__":
    main()
