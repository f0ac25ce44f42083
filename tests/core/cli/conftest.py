"""What each test of the command line begins with."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

from agentscope_tuner.cli.console import print_errors_as_json


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call() -> Generator[None, Any, Any]:
    """A process runs one command; here many run, some of them within a group of commands that decides nothing."""
    print_errors_as_json(False)
    try:
        return (yield)
    finally:
        print_errors_as_json(False)
