"""Blocks of unparsed rows, which a source of rows passes to an engine.

A block is cut out of the input without a look at its rows, so the process that reads the input does no work for each
row. The process that judges a block parses it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, Protocol

from agentscope_tuner.records.reader import BOM, MAX_LINE_BYTES, Line

_BLOCK_BYTES = 2**18
# Single lines are gathered into blocks of this many bytes, so that sending them to another process is cheap
_GATHERED_LINES, _GATHERED_BYTES = 64, 2**18


class Block(Protocol):
    """Neighbouring rows of the input. Blocks are sent to other processes, so they can be pickled.

    Attributes:
        span: the block's length in the input, at least 1, in bytes or in rows. When a block is cut in two, the spans of
            its parts add up to its span.
        size: roughly how many bytes the block keeps in memory.
    """

    @property
    def span(self) -> int: ...

    @property
    def size(self) -> int: ...

    def items(self) -> Iterator[Any]:
        """The rows in order, each a `Line` or another item that engines accept."""

    def split(self, span: int) -> tuple[Block, Block | None]:
        """A part of about `span`, at least one row, and the rest, or None where nothing is left."""

    def cut(self, rows: int) -> tuple[Block, Block | None]:
        """The first `rows` rows, at least one, and the rest, or None where no row is left."""


@dataclass(frozen=True, slots=True)
class TextBlock:
    """Whole lines of a JSONL file, unchanged.

    Attributes:
        name: the file's, for messages.
        first: the number of the first line.
        data: the lines with their ends; the last line of a file may lack it.
    """

    name: str
    first: int
    data: bytes

    @property
    def span(self) -> int:
        """See Block: bytes."""
        return len(self.data)

    @property
    def size(self) -> int:
        """See Block."""
        return len(self.data)

    def items(self) -> Iterator[Line]:
        """The lines, without blank lines; a line that is too long has a problem."""
        name = self.name
        for number, whole in enumerate(self.data.split(b"\n"), self.first):
            if len(whole) > MAX_LINE_BYTES:
                yield _too_long(name, number, len(whole.rstrip(b"\r")))
                continue
            raw = whole.strip()
            if number == 1:
                raw = raw.removeprefix(BOM)
            if raw:
                yield Line(f"{name}:{number}", raw)

    def split(self, span: int) -> tuple[Block, Block | None]:
        """See Block."""
        return self._parts(self.data.find(b"\n", max(span - 1, 0)) + 1)

    def cut(self, rows: int) -> tuple[Block, Block | None]:
        """See Block."""
        lines = self.data.split(b"\n", rows)
        if self.first > 1 and len(lines) > rows and all(map(bytes.strip, lines[:rows])):
            return self._parts(len(self.data) - len(lines[rows]) if lines[rows].strip() else 0)
        # There are blank lines among them, or a byte order mark before the first
        end = 0
        while rows and (end := self.data.find(b"\n", start := end) + 1):
            rows -= _holds_row(self.data[start:end], first=self.first == 1 and not start)
        # blank lines go with the row before them
        return self._parts(end if self.data[end:].strip() else 0)

    def _parts(self, end: int) -> tuple[Block, Block | None]:
        if not 0 < end < len(self.data):
            return self, None
        head, tail = self.data[:end], self.data[end:]
        return TextBlock(self.name, self.first, head), TextBlock(self.name, self.first + head.count(b"\n"), tail)


@dataclass(frozen=True, slots=True)
class LineBlock:
    """Lines that were made singly, from a trainer's rows or with an earlier run's verdicts."""

    lines: tuple[Any, ...]
    size: int

    @property
    def span(self) -> int:
        """See Block: rows."""
        return len(self.lines)

    def items(self) -> Iterator[Any]:
        """See Block."""
        return iter(self.lines)

    def split(self, span: int) -> tuple[Block, Block | None]:
        """See Block."""
        return self.cut(span)

    def cut(self, rows: int) -> tuple[Block, Block | None]:
        """See Block."""
        head, tail = self.lines[: max(rows, 1)], self.lines[max(rows, 1) :]
        if not tail:
            return self, None
        size = self.size * len(head) // len(self.lines)
        return LineBlock(head, size), LineBlock(tail, self.size - size)


def read_blocks(stream: BinaryIO, name: str) -> Iterator[Block]:
    """The lines of a JSONL stream in blocks, one for each read of the stream; see `read_lines`.

    Of a line that is too long, at most `MAX_LINE_BYTES` and a block are held in memory.
    """
    read = getattr(stream, "read1", stream.read)
    number, begun = 1, bytearray()
    piece = read(_BLOCK_BYTES)
    while piece:
        if end := piece.rfind(b"\n") + 1:
            block = TextBlock(name, number, bytes(begun) + piece[:end])
            begun = bytearray(piece[end:])
            yield block
            number += block.data.count(b"\n")
        else:
            begun += piece
        if len(begun) <= MAX_LINE_BYTES:
            piece = read(_BLOCK_BYTES)
            continue
        length, piece = _skip_rest(read, len(begun))
        begun.clear()
        yield LineBlock((_too_long(name, number, length),), 1)
        number += 1
        piece = piece or read(_BLOCK_BYTES)
    if begun:
        yield TextBlock(name, number, bytes(begun))


def limited(blocks: Iterable[Block], rows: int) -> Iterator[Block]:
    """The blocks of the first `rows` rows, at least one; the input is read no further."""
    left = rows
    for block in blocks:
        held = sum(1 for _ in block.items())
        if held >= left:
            yield block.cut(left)[0]
            return
        yield block
        left -= held


def gathered(lines: Iterable[Any]) -> Iterator[Block]:
    """Blocks of single lines. Lines before an error are passed on before the error is raised."""
    taken: list[Any] = []
    size = 0
    try:
        for line in lines:
            taken.append(line)
            size += len(line.raw)
            if len(taken) >= _GATHERED_LINES or size >= _GATHERED_BYTES:
                yield LineBlock(tuple(taken), size)
                taken, size = [], 0
    # boundary: any error that ends the input is raised after the rows that were read before it
    except Exception:
        if taken:
            yield LineBlock(tuple(taken), size)
        raise
    if taken:
        yield LineBlock(tuple(taken), size)


def _holds_row(line: bytes, *, first: bool) -> bool:
    raw = line.strip()
    return bool(raw.removeprefix(BOM) if first else raw)


def _too_long(name: str, number: int, length: int) -> Line:
    """A line of `length` bytes, too long, as `read_lines` gives it."""
    length = max(length, MAX_LINE_BYTES + 1)
    return Line(f"{name}:{number}", b"", f"the line has {length} bytes, more than {MAX_LINE_BYTES}")


def _skip_rest(read: Any, length: int) -> tuple[int, bytes]:
    """Read to the end of a line of which `length` bytes are read; returns its whole length, and the bytes after it."""
    while piece := read(_BLOCK_BYTES):
        rest, ended, behind = piece.partition(b"\n")
        length += len(rest.rstrip(b"\r") if ended else rest)
        if ended:
            return length, behind
    return length, b""
