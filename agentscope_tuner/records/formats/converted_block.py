"""Blocks of a trainer's rows, which their reader turns into rollouts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

from agentscope_tuner.records.blocks import Block
from agentscope_tuner.records.formats import AUTO, Conversion, format_of
from agentscope_tuner.records.reader import Line


@dataclass(frozen=True, slots=True)
class ConvertedBlock:
    """A block of lines with a trainer's rows; its items are rollouts, one for each line."""

    block: Block
    conversion: Conversion

    @property
    def span(self) -> int:
        """See Block."""
        return self.block.span

    @property
    def size(self) -> int:
        """See Block."""
        return self.block.size

    def items(self) -> Iterator[Line]:
        """See Block."""
        return map(self.conversion, self.block.items())

    def split(self, span: int) -> tuple[Block, Block | None]:
        """See Block."""
        return self._parts(*self.block.split(span))

    def cut(self, rows: int) -> tuple[Block, Block | None]:
        """See Block."""
        return self._parts(*self.block.cut(rows))

    def _parts(self, head: Block, tail: Block | None) -> tuple[Block, Block | None]:
        return ConvertedBlock(head, self.conversion), tail and ConvertedBlock(tail, self.conversion)


def converted(blocks: Iterable[Block], conversion: Conversion) -> Iterator[Block]:
    """`as_rollouts` for blocks of lines.

    Raises:
        ConfigError: while iterating: the first row is in no known format.
    """
    left = iter(blocks)
    passed: list[Block] = []
    while conversion.name == AUTO and (block := next(left, None)) is not None:
        passed.append(block)
        first = next((line for line in block.items() if line.problem is None), None)
        if first is not None:
            found = format_of(first)
            if found is None:
                # The rows are rollouts already
                yield from chain(passed, left)
                return
            conversion = conversion.of(found)
    for block in chain(passed, left):
        yield ConvertedBlock(block, conversion)
