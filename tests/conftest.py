"""What every test shares: a terminal of one width, whatever terminal they are started from, and a quiet collector."""

from __future__ import annotations

import functools
import gc
import os
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from _pytest.assertion import rewrite

from tests.tables import in_rows

# nohup starts the tests with hangups ignored, which every service that they start would inherit.
signal.signal(signal.SIGHUP, signal.SIG_DFL)

# Where the environment forbids it, every worker of pytest would compile all tests anew, and every child process
# of a test the package.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# pytest rewrites the assertions of whatever is installed with a plugin of pytest: each worker would compile the package
# again. Those of the tests alone are read.
for finder in sys.meta_path:
    getattr(finder, "_must_rewrite", set[str]()).discard("agentscope_tuner")

# Tables fold long words at the terminal's width, and rich reads the width when the command line is imported: a test
# that looks for a word in a table passed or failed with the developer's window.
os.environ["COLUMNS"] = "100"
os.environ["LINES"] = "40"
for name in ("FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
    os.environ.pop(name, None)

# Commands are imported when they are run, and with the first of them the terminal is made: after a test had set a width
# of its own for one command, all later tests had that width.
import typer.testing  # noqa: E402

import agentscope_tuner.cli.console  # noqa: E402, F401

# typer makes the whole command line anew for each call in a test, of which there are hundreds in a process
typer.testing._get_command = functools.cache(typer.testing._get_command)  # type: ignore[attr-defined]

CORE = Path(__file__).parent / "core"

# The files that take the longest. Each is one process's, and one that began last would end alone. Those that wait stand
# between those that compute, so that no core waits while all processes do
LONGEST = (
    *("math_cases", "blame", "audit", "deadline", "math_one_door", "chat_model", "watch", "juries", "patterns"),
    *("llm_judge", "statistics", "math_mutated_text", "first_mistakes", "reward_model_judge", "grader_reply"),
    *("combined_judge", "bounds", "failed_verdicts", "pool", "math_hostile", "env_faults", "doctor", "cli_judge"),
    *("http_judge", "sandbox", "plain_words", "verifier_judge", "rollouts", "layers", "first_hour", "math_rounds"),
    *("rubrics_learning", "math_words_abroad", "forks", "grader_ready", "countdown", "tour"),
)


def pytest_configure(config: pytest.Config) -> None:
    # xdist would begin with the files of the most tests
    config.option.loadscopereorder = False
    if getattr(config.option, "numprocesses", None) and config.option.assertmode == "rewrite":
        compile_once(config)


# hypothesis reads all constants of the package, and keeps them by file
READ_PACKAGE = """
import compileall, pathlib, types
compileall.compile_dir("agentscope_tuner", quiet=2)
if not pathlib.Path(".hypothesis/constants").exists():
    from hypothesis.internal.constants_ast import constants_from_module
    for path in pathlib.Path("agentscope_tuner").absolute().rglob("*.py"):
        module = types.ModuleType(path.stem)
        module.__file__ = str(path)
        constants_from_module(module)
"""


def compile_once(config: pytest.Config) -> None:
    """Compile the package and the tests, where that has not been done: each process of a new clone would do it."""
    # an older hypothesis reads none
    package = subprocess.Popen([sys.executable, "-c", READ_PACKAGE], cwd=CORE.parents[1], stderr=subprocess.DEVNULL)
    asked = [Path(name.partition("::")[0]).absolute() for name in config.args]
    for test in {test for path in asked for test in ([path] if path.is_file() else path.rglob("test_*.py"))}:
        compiled = rewrite.get_cache_dir(test) / f"{test.stem}{rewrite.PYC_TAIL}"
        if not compiled.exists() or compiled.stat().st_mtime < test.stat().st_mtime:
            rewrite.try_makedirs(compiled.parent)
            # which file cannot be read is told where it is collected
            with suppress(SyntaxError):
                source, code = rewrite._rewrite_test(test, config)
                rewrite._write_pyc(config.stash[rewrite.assertstate_key], code, source, compiled)
    package.wait()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    places = {f"test_{name}.py": place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.path.name, len(LONGEST)))


# Thousands of collected tests stay to the end: the garbage collector went through all of them again with each test.
gc.disable()


def pytest_collection_finish() -> None:
    gc.collect()
    gc.freeze()
    # at Python's own 700 it took a tenth of the processor time of the graders' tests
    gc.set_threshold(50_000)
    gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_pycollect_makeitem(collector: pytest.Collector) -> Generator[None, Any, Any]:
    """Whoever asks for single rows gets them: by `-k`, or by the name of one."""
    made = yield
    asked = collector.config.option.keyword or any("[" in name for name in collector.config.args)
    return (
        made if asked or CORE not in collector.path.parents or not isinstance(made, list) else in_rows(collector, made)
    )
