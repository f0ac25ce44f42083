"""What each test of the command line begins with."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agentscope_tuner.cli.console import print_errors_as_json


@pytest.fixture(autouse=True)
def _errors_in_words() -> Iterator[None]:
    """A process runs one command; here many run, some of them within a group of commands that decides nothing."""
    print_errors_as_json(False)
    yield
    print_errors_as_json(False)
