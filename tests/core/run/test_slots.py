"""Messages in memory that two ends hold."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from agentscope_tuner._run import channel


@pytest.fixture
def descriptors() -> Iterator[list[int]]:
    found = channel.create_slots()
    yield found
    for descriptor in found:
        os.close(descriptor)


def test_messages_of_any_size_take_turns_and_two_wait_unread(descriptors: list[int]) -> None:
    sender, reader = channel.Slots(descriptors), channel.Slots(descriptors)
    messages = [b"a" * 9, b"", b"b" * 9_000_000, b"c", b"d" * 300_000]
    sender.put(0, messages[0])
    for number, message in enumerate(messages):
        if number + 1 < len(messages):
            sender.put(number + 1, messages[number + 1])
        assert reader.get(number, len(message)) == message


def test_memory_of_a_large_message_is_given_back(descriptors: list[int]) -> None:
    both = channel.Slots(descriptors)
    both.put(1, b"x" * 9_000_000)
    both.get(1, 9_000_000)
    assert os.fstat(descriptors[1]).st_size == 0


def test_a_message_that_is_not_there_is_an_error_and_no_endless_wait(descriptors: list[int]) -> None:
    both = channel.Slots(descriptors)
    both.put(7, b"abc")
    with pytest.raises(OSError, match="has 3 bytes, where 4 were told"):
        both.get(7, 4)
