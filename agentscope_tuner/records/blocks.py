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
    """Neighbouring rows of the input, on their way through an engine. They are sent to other processes, by pickle.

    Attributes:
        number: where it begins in the run: the first block at 0, each other where the block before it ends.
        results: the results, where they are known before judging; such a block is passed on and not judged.
        deaths: workers that died while they judged it.
        conversion: turns each of its lines, a trainer's row, into a rollout; None where they are rollouts.
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
        """Where the next block begins."""
        return self.number + self.span

    @abstractmethod
    def unconverted(self) -> Iterator[Any]:
        """The rows in order, each a `Line` or another item that engines accept, as they were read."""

    def items(self) -> Iterator[Any]:
        """The rows in order, each a rollout or what engines make a failed row of."""
        return self.unconverted() if self.conversion is None else map(self.conversion, self.unconverted())

    def steps(self) -> int:
        """In how many steps it is judged: a row each, unless it has to be judged as a whole."""
        return sum(1 for _ in self.unconverted())

    def split(self, span: int) -> tuple[Block, Block | None]:
        """A part of about `span`, at least one row, and the rest, or None where nothing is left."""
        return self.cut(span)

    def cut(self, steps: int) -> tuple[Block, Block | None]:
        """Two blocks: the rows that the first `steps` steps judge (at least one step), and the others.

        None instead of the second where there are no others.
        """
        return self, None

    def _parts(self, head: Block, tail: Block) -> tuple[Block, Block]:
        head.number = self.number
        tail.number = head.end
        head.conversion = tail.conversion = self.conversion
        return head, tail


@dataclass(slots=True)
class TextBlock(Block):
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

    def unconverted(self) -> Iterator[Line]:
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
        return self._cut_at(self.data.find(b"\n", max(span - 1, 0)) + 1)

    def cut(self, steps: int) -> tuple[Block, Block | None]:
        """See Block."""
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
    """Lines that were made singly: from a trainer's rows, with an earlier run's verdicts, or to be judged together.

    Attributes:
        held: their bytes.
        is_group: whether the lines have to be judged as a whole.
    """

    lines: tuple[Any, ...]
    held: int
    is_group: bool = False

    @property
    def size(self) -> int:
        """See Block."""
        return self.held

    @property
    def span(self) -> int:
        """See Block: rows."""
        return 1 if self.is_group else len(self.lines)

    def unconverted(self) -> Iterator[Any]:
        """See Block."""
        return iter(self.lines)

    def steps(self) -> int:
        """See Block."""
        return self.span

    def cut(self, steps: int) -> tuple[Block, Block | None]:
        """See Block."""
        head, tail = self.lines[: max(steps, 1)], self.lines[max(steps, 1) :]
        if self.is_group or not tail:
            return self, None
        size = self.held * len(head) // len(self.lines)
        return self._parts(LineBlock(head, size), LineBlock(tail, self.held - size))


def read_blocks(stream: BinaryIO, name: str) -> Iterator[Block]:
    """The lines of a JSONL stream in blocks, one for each read of the stream.

    A line of more than `MAX_LINE_BYTES` has a problem; at most that and a block of it are held in memory.
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
    """The blocks of the first `rows` rows, at least one; the input is read no further."""
    left = rows
    for block in blocks:
        if (held := sum(1 for _ in block.items())) >= left:
            yield block.cut(left)[0]
            return
        yield block
        left -= held


def gathered(lines: Iterable[Any]) -> Iterator[Block]:
    """Blocks of single lines. Lines before an error are passed on before the error is raised."""
    for taken, size in batches(lines, lambda line: len(line.raw), _GATHERED_LINES, _GATHERED_BYTES):
        yield LineBlock(tuple(taken), size)


def batches(
    items: Iterable[T], size_of: Callable[[T], int], most: int, most_bytes: int
) -> Iterator[tuple[list[T], int]]:
    """Neighbours in lists that are bounded in number and in bytes, each with its bytes; those before an error, too."""
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
    """A line of `length` bytes, which is too long."""
    length = max(length, MAX_LINE_BYTES + 1)
    problem = f"the line has {length} bytes, more than {MAX_LINE_BYTES}: cut the row's texts"
    return Line(f"{name}:{number}", b"", problem)


def _skip_rest(read: Any, length: int) -> tuple[int, bytes]:
    """Read to the end of a line of which `length` bytes are read; returns its whole length, and the bytes after it."""
    while piece := read(_BLOCK_BYTES):
        rest, ended, behind = piece.partition(b"\n")
        length += len(rest.rstrip(b"\r") if ended else rest)
        if ended:
            return length, behind
    return length, b""


def converted(blocks: Iterable[Block], conversion: Conversion) -> Iterator[Block]:
    """`Conversion.all` for blocks of lines.

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
