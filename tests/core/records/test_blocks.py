"""Blocks: cut out of a stream anywhere, they hold the lines that reading line by line gives."""

from __future__ import annotations

import io
from collections.abc import Iterator

import pytest

from agentscope_tuner.records.blocks import Block, LineBlock, TextBlock, gathered, limited, read_blocks
from agentscope_tuner.records.reader import MAX_LINE_BYTES, Line

STREAMS = {
    "empty": b"",
    "one line without an end": b'{"id": 1}',
    "plain": b'{"id": 1}\n{"id": 2}\n{"id": 3}\n',
    "crlf": b'{"id": 1}\r\n{"id": 2}\r\n',
    "blank lines": b'\n\n  \n{"id": 1}\n\t\n\n{"id": 2}\n \n',
    "a BOM": b'\xef\xbb\xbf{"id": 1}\n{"id": 2}\n',
    "a BOM alone": b'\xef\xbb\xbf\n{"id": 2}\n',
    "invalid UTF-8": b'{"id": 1}\n\xff\xfe broken\n{"id": 3}\n',
    "other line ends inside": '{"id": "\u2028\u0085\x0b"}\n{"id": 2}'.encode(),
    "NUL": b'{"id": 1}\n\x00\n{"id": 3}\n',
}


def too_long(length: int) -> str:
    return f"the line has {length} bytes, more than {MAX_LINE_BYTES}: cut the row's texts"


class Trickle(io.RawIOBase):
    """Brings a stream in pieces of `size` bytes, as a pipe may."""

    def __init__(self, data: bytes, size: int) -> None:
        self._data = data
        self._size = size

    def readable(self) -> bool:
        return True

    def read1(self, size: int = -1) -> bytes:
        piece, self._data = self._data[: self._size], self._data[self._size :]
        return piece


def lines_of(data: bytes) -> list[Line]:
    """The lines as a plain reader finds them."""
    found = []
    for number, whole in enumerate(data.split(b"\n"), 1):
        raw = whole.strip()
        if number == 1:
            raw = raw.removeprefix(b"\xef\xbb\xbf")
        if len(whole) > MAX_LINE_BYTES:
            length = max(len(whole.rstrip(b"\r")), MAX_LINE_BYTES + 1)
            found.append(Line(f"f:{number}", b"", too_long(length)))
        elif raw:
            found.append(Line(f"f:{number}", raw))
    return found


def blocks_of(data: bytes, size: int) -> list[Block]:
    return list(read_blocks(Trickle(data, size), "f"))  # type: ignore[arg-type]


def items(blocks: list[Block]) -> list[Line]:
    return [line for block in blocks for line in block.items()]


@pytest.mark.parametrize("size", [1, 2, 7, 10, 1000])
@pytest.mark.parametrize("data", STREAMS.values(), ids=STREAMS.keys())
def test_lines_are_the_same_wherever_the_stream_is_cut(data: bytes, size: int) -> None:
    assert items(blocks_of(data, size)) == lines_of(data)


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b""])
@pytest.mark.parametrize("more", [0, 1, 300_000])
@pytest.mark.parametrize("behind", [b"", b'{"id": 3}\n{"id": 4}'])
def test_a_line_that_is_too_long_is_a_problem_and_the_rest_is_read(end: bytes, more: int, behind: bytes) -> None:
    data = b'{"id": 1}\n' + b"x" * (MAX_LINE_BYTES + more) + end + (behind if end else b"")
    assert items(list(read_blocks(io.BytesIO(data), "f"))) == lines_of(data)


def test_of_a_line_without_end_little_is_held_in_memory() -> None:
    class Endless(io.RawIOBase):
        left = 100 * 2**20

        def read1(self, size: int = -1) -> bytes:
            size = min(size, self.left)
            self.left -= size
            return b"x" * size

    (block,) = read_blocks(Endless(), "f")  # type: ignore[arg-type]
    (line,) = block.items()
    assert (line.raw, line.problem) == (b"", too_long(100 * 2**20))


@pytest.mark.parametrize("data", [data for data in STREAMS.values() if data], ids=[n for n, d in STREAMS.items() if d])
@pytest.mark.parametrize("first", [1, 9])
def test_the_parts_of_a_block_hold_its_rows(data: bytes, first: int) -> None:
    block = TextBlock("f", first, data)
    whole = list(block.items())
    for rows in range(1, len(whole) + 1):
        head, tail = block.cut(rows)
        assert list(head.items()) == whole[:rows]
        assert (list(tail.items()) if tail else []) == whole[rows:]
        assert head.span + (tail.span if tail else 0) == block.span
        assert (tail is None) == (rows >= len(whole))
    for span in (1, 5, 12, 10_000):
        head, tail = block.split(span)
        assert list(head.items()) + (list(tail.items()) if tail else []) == whole
        assert head.span + (tail.span if tail else 0) == block.span


def test_lines_that_come_one_by_one_are_gathered_and_kept_before_an_error() -> None:
    made = [Line(f"f:{number}", b"x" * 10) for number in range(100)]

    def breaking() -> Iterator[Line]:
        yield from made
        raise OSError("the disk is gone")

    found: list[Line] = []
    with pytest.raises(OSError, match="the disk is gone"):
        found.extend(line for block in gathered(breaking()) for line in block.items())
    assert found == made


def test_a_block_of_lines_is_cut_by_rows() -> None:
    block = LineBlock(tuple(Line(f"f:{number}", b"x") for number in range(5)), 50)
    head, tail = block.cut(2)
    assert tail is not None
    assert (head.span, tail.span, head.size + tail.size) == (2, 3, 50)
    assert block.cut(5) == (block, None)


@pytest.mark.parametrize("data", STREAMS.values(), ids=STREAMS)
@pytest.mark.parametrize("rows", [1, 2, 3])
def test_a_limit_leaves_the_first_rows_wherever_the_stream_is_cut(data: bytes, rows: int) -> None:
    expected = lines_of(data)[:rows]
    for size in (1, 7, 1000):
        blocks = limited(blocks_of(data, size), rows)
        assert items(list(blocks)) == expected


def test_nothing_is_read_behind_a_limit() -> None:
    def blocks() -> Iterator[Block]:
        yield TextBlock("f", 1, b"{}\n{}\n")
        raise AssertionError("the rows that were asked for have come")

    assert [block.span for block in limited(blocks(), 2)] == [6]
