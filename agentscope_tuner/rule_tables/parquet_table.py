"""Reads and writes Parquet tables, one batch at a time; needs the extra `parquet`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from agentscope_tuner.errors import ConfigError, JudgeError
from agentscope_tuner.rule_tables.table_row import Table, TableRow
from agentscope_tuner.storage.columns import open_parquet, pyarrow_for
from agentscope_tuner.storage.stored_file import StoredFile

BATCH_ROWS = 1024


@contextmanager
def open_parquet_table(path: Path, encoding: str) -> Iterator[Table]:
    """The Parquet table at `path`; text in Parquet is always UTF-8, so `encoding` is not used."""
    with open_parquet(StoredFile(str(path))) as file:
        try:
            yield ParquetTable(file)
        except (OSError, pyarrow_for(path.name).ArrowException) as exc:
            raise ConfigError(f"{path}: {exc}") from exc


class _Cells(Mapping[str, Any]):
    """One row, whose cells become Python values on access, because a few cannot, such as a date before year 1."""

    def __init__(self, columns: Mapping[str, Any], index: int) -> None:
        self._columns = columns
        self._index = index

    def __getitem__(self, name: str) -> Any:
        cell = self._columns[name][self._index]
        try:
            return cell.as_py()
        except (ValueError, OverflowError, KeyError) as exc:
            raise JudgeError(f"{name!r} holds a {cell.type} that cannot be read: {exc}") from exc

    def __contains__(self, name: object) -> bool:
        return name in self._columns

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)


class ParquetTable:
    """A Parquet file; new columns are nullable."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self._read = 0
        self.columns: list[str] = file.schema_arrow.names

    def rows(self) -> Iterator[TableRow]:
        for batch in self._file.iter_batches(batch_size=BATCH_ROWS):
            columns = dict(zip(self.columns, batch.columns, strict=True))
            for index in range(batch.num_rows):
                self._read += 1
                yield TableRow(self._read, _Cells(columns, index), batch)

    def share_read(self) -> float:
        return self._read / max(int(self._file.metadata.num_rows), 1)

    @contextmanager
    def writer(self, path: Path, new_columns: Mapping[str, type]) -> Iterator[_ParquetWriter]:
        import pyarrow
        from pyarrow import parquet

        kinds = {int: pyarrow.int8(), str: pyarrow.string()}
        new = [pyarrow.field(name, kinds[kind]) for name, kind in new_columns.items()]
        # A name may belong to two columns, so columns are chosen by position
        kept = [index for index, name in enumerate(self.columns) if name not in new_columns]
        own = self._file.schema_arrow
        schema = pyarrow.schema([own.field(index) for index in kept] + new, metadata=own.metadata)
        with parquet.ParquetWriter(path, schema) as file:
            yield _ParquetWriter(file, schema, kept)


class _ParquetWriter:
    def __init__(self, file: Any, schema: Any, kept: list[int]) -> None:
        self._file = file
        self._schema = schema
        self._kept = kept
        self._pending: list[Mapping[str, Any]] = []

    def write(self, row: TableRow, added: Mapping[str, Any]) -> None:
        from pyarrow import RecordBatch, array

        batch = row.raw
        self._pending.append(added)
        if len(self._pending) < batch.num_rows:
            return
        new = [
            array([row.get(field.name) for row in self._pending], field.type)
            for field in list(self._schema)[len(self._kept) :]
        ]
        self._file.write_batch(
            RecordBatch.from_arrays([batch.column(index) for index in self._kept] + new, schema=self._schema)
        )
        self._pending.clear()
