"""Blocks of unparsed rows, which a source of rows passes to an engine.

A block is cut out of the input without a look at its rows, so the process that reads the input does no work for each
row. The process that judges a block parses it, and turns a trainer's rows into rollouts.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, BinaryIO, TypeVar

from agentscope_tuner.records.formats import AUTO, Conversion, noted
from agentscope_tuner.records.reader import BOM, MAX_LINE_BYTES, Line, Row, parse_line

T = TypeVar("T")

_BLOCK_BYTES = 2**18
# Single lines are gathered into blocks of this many bytes, so that sending them to another process is cheap
_GATHERED_LINES, _GATHERED_BYTES = 64, 2**18


@dataclass(slots=True, kw_only=True)
class Block(ABC):
    """Neighbouring rows of the input, unparsed: the unit that a reader gives an engine, and that is sent to workers.

    Attributes:
        number: the position at which it begins in the run: 0 for the first block, else the `end` of the block before.
        results: the results if they are known before judging; such a block is passed on and not judged.
        deaths: how many workers died while they judged it.
        conversion: turns each of its lines, a trainer's row, into a rollout; None if they are rollouts already.
        span: its length in the run, at least 1, in bytes or in rows. When it is cut in two, the spans of its parts add
            up to its span.
        size: roughly how many bytes it keeps in memory.
    """

    number: int = 0
    results: Sequence[Any] | None = None
    deaths: int = 0
    conversion: Conversion | None = None

    @property
    @abstractmethod
    def span(self) -> int: ...

    @property
    @abstractmethod
    def size(self) -> int: ...

    @property
    def end(self) -> int:
        """The position in the run at which the next block begins, in the units of `span`."""
        return self.number + self.span

    @abstractmethod
    def unconverted(self) -> Iterator[Any]:
        """The rows in order as they were read, before `conversion`: each a `Line`, or another item for the engine."""

    def items(self) -> Iterator[Any]:
        """The rows in order, after `conversion`: each a line with a rollout, or with the problem that makes it fail."""
        return self.unconverted() if self.conversion is None else map(self.conversion, self.unconverted())

    def steps(self) -> int:
        """The number of steps in which it is judged: one for each row, or 1 if it has to be judged as a whole."""
        return sum(1 for _ in self.unconverted())

    def split(self, span: int) -> tuple[Block, Block | None]:
        """Cut off a first part of about `span` (bytes or rows), at least one row; returns it and the rest.

        The rest is None if nothing is left.
        """
        return self.cut(span)

    def cut(self, steps: int) -> tuple[Block, Block | None]:
        """Cut off the rows that the first `steps` steps judge (at least one step); returns them and the rest.

        The rest is None if nothing is left.
        """
        return self, None

    def _parts(self, head: Block, tail: Block) -> tuple[Block, Block]:
        head.number = self.number
        tail.number = head.end
        head.conversion = tail.conversion = self.conversion
        return head, tail


@dataclass(slots=True)
class TextBlock(Block):
    """A block of whole lines of a JSONL file, as bytes that are not yet split into lines.

    Attributes:
        name: the file's name, for messages.
        first: the number of the first line, from 1.
        data: the lines with their line breaks; the last line of a file may lack one.
    """

    name: str
    first: int
    data: bytes

    @property
    def span(self) -> int:
        """The block's length in the run: its number of bytes, 4 for the two lines `a` and `b`."""
        return len(self.data)

    @property
    def size(self) -> int:
        """The bytes that it keeps in memory."""
        return len(self.data)

    def unconverted(self) -> Iterator[Line]:
        """The lines, without blank lines; a line of more than `MAX_LINE_BYTES` has a problem in place of its text."""
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
        """Cut off whole lines of at least `span` bytes; returns them and the rest, which is None if nothing is left."""
        return self._cut_at(self.data.find(b"\n", max(span - 1, 0)) + 1)

    def cut(self, steps: int) -> tuple[Block, Block | None]:
        """Cut off the first `steps` rows; returns them and the rest, which is None if nothing is left."""
        end = 0
        while steps and (end := self.data.find(b"\n", start := end) + 1):
            steps -= _holds_row(self.data[start:end], first=self.first == 1 and not start)
        # blank lines go with the row before them
        return self._cut_at(end if self.data[end:].strip() else 0)

    def _cut_at(self, end: int) -> tuple[Block, Block | None]:
        if not 0 < end < len(self.data):
            return self, None
        head, tail = self.data[:end], self.data[end:]
        behind = TextBlock(self.name, self.first + head.count(b"\n"), tail)
        return self._parts(TextBlock(self.name, self.first, head), behind)


@dataclass(slots=True)
class LineBlock(Block):
    """A block of separate lines: rows of Parquet or CSV, lines with an earlier run's verdicts, or an advantage group.

    Attributes:
        lines: the lines, or other items that the engine judges.
        held: roughly how many bytes they keep in memory.
        is_group: whether the lines have to be judged as a whole, as an advantage group.
    """

    lines: tuple[Any, ...]
    held: int
    is_group: bool = False

    @property
    def size(self) -> int:
        """Roughly how many bytes it keeps in memory."""
        return self.held

    @property
    def span(self) -> int:
        """The block's length in the run: its number of lines, or 1 if they are judged as a whole."""
        return 1 if self.is_group else len(self.lines)

    def unconverted(self) -> Iterator[Any]:
        """The lines as they were read, before `conversion`."""
        return iter(self.lines)

    def steps(self) -> int:
        """The number of steps in which it is judged: one for each line, or 1 if they are judged as a whole."""
        return self.span

    def cut(self, steps: int) -> tuple[Block, Block | None]:
        """Cut off the first `steps` lines; returns them and the rest. A group is not cut: the rest is None."""
        head, tail = self.lines[: max(steps, 1)], self.lines[max(steps, 1) :]
        if self.is_group or not tail:
            return self, None
        size = self.held * len(head) // len(self.lines)
        return self._parts(LineBlock(head, size), LineBlock(tail, self.held - size))


def read_blocks(stream: BinaryIO, name: str) -> Iterator[Block]:
    """The lines of a JSONL stream in blocks of about 256 KiB, which engines judge.

    A line of more than `MAX_LINE_BYTES` is not kept: a block of its own says that it is too long.

    Args:
        stream: the stream.
        name: the file's name, for messages.
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


def read_lines(stream: BinaryIO, name: str) -> Iterator[Line]:
    """The unparsed lines of a JSONL stream, without blank lines; `parse_line` parses them, possibly elsewhere."""
    for block in read_blocks(stream, name):
        yield from block.items()


def read_rows(stream: BinaryIO, name: str) -> Iterator[Row]:
    """The rows of a JSONL stream, one at a time.

    A line that is not a rollout becomes a Row with a `problem`: bad JSON, invalid UTF-8, a missing key, a wrong type,
    or too many bytes.
    """
    return map(parse_line, read_lines(stream, name))


def limited(blocks: Iterable[Block], rows: int) -> Iterator[Block]:
    """The blocks of the first `rows` rows of the input (at least one), for `--limit`; no block after them is read."""
    left = rows
    for block in blocks:
        if (held := sum(1 for _ in block.items())) >= left:
            yield block.cut(left)[0]
            return
        yield block
        left -= held


def gathered(lines: Iterable[Any]) -> Iterator[Block]:
    """Gather single lines into blocks of up to 64 lines. If reading raises an error, the lines before it come first."""
    for taken, size in batches(lines, lambda line: len(line.raw), _GATHERED_LINES, _GATHERED_BYTES):
        yield LineBlock(tuple(taken), size)


def batches(
    items: Iterable[T], size_of: Callable[[T], int], most: int, most_bytes: int
) -> Iterator[tuple[list[T], int]]:
    """Split `items` into lists of neighbours that are bounded in number and bytes, each with its number of bytes.

    With `size_of=len` and `most=2`, `aa`, `bb`, `c` give `(["aa", "bb"], 4)` and `(["c"], 1)`. If reading raises an
    error, the items before it come first.

    Args:
        items: the items.
        size_of: the bytes of an item.
        most: the most items in a list.
        most_bytes: a list that reaches so many bytes gets no more items.
    """
    taken: list[T] = []
    size = 0
    try:
        for item in items:
            taken.append(item)
            size += size_of(item)
            if len(taken) >= most or size >= most_bytes:
                yield taken, size
                taken, size = [], 0
    # boundary: any error that ends the input is raised after the rows that were read before it
    except Exception:
        if taken:
            yield taken, size
        raise
    if taken:
        yield taken, size


def _holds_row(line: bytes, *, first: bool) -> bool:
    raw = line.strip()
    return bool(raw.removeprefix(BOM) if first else raw)


def _too_long(name: str, number: int, length: int) -> Line:
    """The `Line` in place of a line that is too long: line `number` of the file `name`, of `length` bytes."""
    length = max(length, MAX_LINE_BYTES + 1)
    problem = f"the line has {length} bytes, more than {MAX_LINE_BYTES}: cut the row's texts"
    return Line(f"{name}:{number}", b"", problem)


def _skip_rest(read: Any, length: int) -> tuple[int, bytes]:
    """Read on to the end of a line that is too long, without keeping it.

    Args:
        read: reads up to so many bytes of the stream.
        length: how many bytes of the line were read before.

    Returns:
        The whole length of the line, and the bytes that were read after it.
    """
    while piece := read(_BLOCK_BYTES):
        rest, ended, behind = piece.partition(b"\n")
        length += len(rest.rstrip(b"\r") if ended else rest)
        if ended:
            return length, behind
    return length, b""


def converted(blocks: Iterable[Block], conversion: Conversion) -> Iterator[Block]:
    """Set `conversion` in each block, so that its rows are turned into rollouts when they are judged.

    For the format `auto`, the first row decides the format; if it is a rollout already, the blocks stay as they are.

    Raises:
        ConfigError: while iterating: the first row is in no known format.
    """
    left = iter(blocks)
    passed: list[Block] = []
    if conversion.name == AUTO:
        found = conversion.found_among(line for block in noted(left, passed) for line in block.items())
        if found is None:
            # The rows are rollouts already
            yield from chain(passed, left)
            return
        conversion = found
    for block in chain(passed, left):
        block.conversion = conversion
        yield block
