"""Blocks of a trainer's rows: the same rollouts as line by line, wherever a block is cut, in whatever process."""

from __future__ import annotations

import io
import json
import pickle
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pytest

from agentscope_tuner.errors import ConfigError
from agentscope_tuner.records.blocks import Block, TextBlock, converted, read_blocks, read_lines
from agentscope_tuner.records.formats import Conversion
from agentscope_tuner.records.reader import Line

VERL: dict[str, Any] = {"input": "6*7?", "output": "\\boxed{42}", "gts": "42", "score": 1.0, "step": 1}
OWN = {"id": "1", "task": {"main_query": "q"}, "output": {"metadata": {"final_answer": "x"}}}
BROKEN = [b"", b"{not json", b"[]", b'{"input": NaN}', b"  ", b"\xff"]


def data(*rows: dict[str, Any], broken: Sequence[bytes] = BROKEN) -> bytes:
    lines = [json.dumps(row).encode() for row in rows]
    return b"\n".join([*lines[:1], *broken, *lines[1:]]) + b"\n"


def lines_of(blocks: Iterable[Block]) -> list[Line]:
    return [line for block in blocks for line in block.items()]


def single(text: bytes) -> Iterator[Block]:
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        yield TextBlock("f", number, line)


@pytest.mark.parametrize(
    ("text", "name", "pairs"),
    [
        (data(VERL, VERL, {**VERL, "step": 2}), "verl", []),
        (data(VERL, VERL), "auto", []),
        (data(VERL, VERL), "verl", ["gts=task.metadata.truth"]),
        (data(VERL, {"q": 1}), None, ["input=task.main_query"]),
        (data(OWN, OWN), "auto", []),
        (b"\n\n" + data(VERL, VERL, broken=()), "auto", []),
        (b"{not json\n" + data(VERL), "auto", []),
        (b"", "auto", []),
    ],
)
def test_rows_are_made_the_same_rollouts_as_line_by_line(text: bytes, name: str | None, pairs: list[str]) -> None:
    expected = list(Conversion(name, pairs).all(read_lines(io.BytesIO(text), "f")))
    for blocks in (list(read_blocks(io.BytesIO(text), "f")), list(single(text))):
        assert lines_of(converted(blocks, Conversion(name, pairs))) == expected


def test_the_parts_of_a_block_hold_its_rollouts_in_another_process_too() -> None:
    block = TextBlock("f", 5, data(VERL, VERL, VERL), conversion=Conversion("verl"))
    whole = list(block.items())
    for rows in range(1, len(whole) + 1):
        head, tail = pickle.loads(pickle.dumps(block)).cut(rows)
        assert list(head.items()) == whole[:rows]
        assert (list(tail.items()) if tail else []) == whole[rows:]
        assert head.span + (tail.span if tail else 0) == block.span
        assert head.size + (tail.size if tail else 0) == block.size
    head, tail = block.split(10)
    assert list(head.items()) + (list(tail.items()) if tail else []) == whole


def test_what_is_no_format_is_said_before_a_row_is_read_and_an_unknown_row_where_it_stands() -> None:
    with pytest.raises(ConfigError, match=r"--format must be one of auto, plain, trl, .* got 'csv'"):
        Conversion("csv")
    with pytest.raises(ConfigError, match="--map must read column=path"):
        Conversion("trl", ["prompt"])
    with pytest.raises(ConfigError, match=r"f:2: no trainer's format has the columns \['a'\]"):
        list(converted([TextBlock("f", 1, b'\n{"a": 1}\n')], Conversion("auto")))
