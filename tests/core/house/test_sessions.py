"""noxfile.py: its rows name what is there, all tests are run before a change lands, installing happens once."""

from __future__ import annotations

import importlib.util
import os
import shlex
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import noxfile
from noxfile import ENVIRONMENTS, TASKS
from tests.tables import each_row, in_rows

ROOT = Path(noxfile.__file__).parent
ROWS = [task for tasks in TASKS.values() for task in tasks]
NAMES = [*ENVIRONMENTS, *(task.name for task in ROWS)]


def words_of(task: noxfile.Task) -> list[str]:
    return [word for command in task.commands for word in shlex.split(command)]


def test_no_two_sessions_have_one_name() -> None:
    assert sorted(NAMES) == sorted(set(NAMES))


@pytest.mark.parametrize("task", ROWS, ids=lambda task: task.name)
def test_a_row_names_environments_sessions_modules_and_files_that_are_there(task: noxfile.Task) -> None:
    assert {*filter(None, [task.environment]), *task.needs} <= set(NAMES)
    for word in words_of(task):
        if word.startswith(("benchmarks.", "tutorial.")):
            assert importlib.util.find_spec(word), word
        assert not word.startswith("{bin}/") or word[6:] in ("astuner", "python", ""), word
        if word.startswith(("tests/", "benchmarks/", "tutorial/", "docs/", "deploy/", "configs/")):
            assert list(ROOT.glob(word)), word


def test_every_environment_is_that_of_some_session() -> None:
    assert set(ENVIRONMENTS) == {name for task in ROWS for name in (task.environment, *task.needs)} & set(ENVIRONMENTS)


def test_every_test_outside_the_core_is_run_before_a_change_lands() -> None:
    needed = {name for task in ROWS if task.ci for name in task.needs}
    run = {word for task in ROWS if task.ci or task.name in needed for word in words_of(task)}
    tests = [path.relative_to(ROOT) for path in (ROOT / "tests").glob("with_*/**/test_*.py")]
    assert len(tests) > 30
    assert [test for test in tests if not run & {str(test), *map(str, test.parents)}] == []


def test_the_requirement_files_of_trainers_are_those_of_environments() -> None:
    files = {str(path.relative_to(ROOT)) for path in (ROOT / "tests" / "with_trainers").glob("*.txt")}
    commands = " ".join(command for commands in ENVIRONMENTS.values() for command in commands)
    assert files == {word for word in commands.split() if word.startswith("tests/with_trainers/")}


class Session:
    """Remembers what was installed and what was run."""

    def __init__(self, room: Path) -> None:
        self.virtualenv = SimpleNamespace(location=str(room))
        self.calls: list[tuple[str, ...]] = []
        self.posargs: list[str] = []

    def install(self, *words: str, env: dict[str, str]) -> None:
        self.calls.append(words)

    def run(self, *words: str, **_options: Any) -> None:
        self.calls.append(words)


def test_an_environment_is_installed_once_until_what_it_asks_for_changes(tmp_path: Path) -> None:
    (tmp_path / "asked.txt").write_text("one==1")
    session: Any = Session(tmp_path)
    commands = [f"pip install -r {tmp_path / 'asked.txt'}"]
    for _ in range(2):
        noxfile.install(session, commands)
    assert session.calls == [("--quiet", "--compile-bytecode", "-r", str(tmp_path / "asked.txt"))]
    (tmp_path / "asked.txt").write_text("one==2")
    noxfile.install(session, commands)
    noxfile.install(session, [*commands, "pip install other"])
    assert len(session.calls) == 4


def test_what_failed_to_install_is_installed_again(tmp_path: Path) -> None:
    session: Any = Session(tmp_path)
    session.install = lambda *_words, **_more: 1 / 0
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            noxfile.install(session, ["pip install one"])


def test_uv_finds_packages_where_pip_does(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", "https://one/simple https://two/simple")
    monkeypatch.setenv("PIP_FIND_LINKS", f"{tmp_path} {tmp_path}/none https://three")
    found = noxfile.pip_settings.__wrapped__()
    assert {name: value for name, value in found.items() if name.startswith(("UV_INDEX", "UV_FIND"))} == {
        "UV_INDEX_STRATEGY": "unsafe-best-match",
        "UV_INDEX": "https://one/simple https://two/simple",
        "UV_FIND_LINKS": f"{tmp_path},https://three",
    }


def test_the_variables_of_make_reach_the_last_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"SEED": "7", "WITHIN": "a b", "SAMPLE": ""}.items():
        monkeypatch.setenv(name, value)
    session: Any = Session(tmp_path)
    session.posargs = ["--again"]
    task = noxfile.task(
        "t",
        "none",
        "",
        "first {bin}/x",
        "benchmarks.mutants",
        options={"--seed": "SEED", "--within": "WITHIN", "--sample": "SAMPLE"},
    )
    task.run(session)
    first, last = session.calls
    assert first == ("first", str(ROOT / ".venvs/none/bin/x"))
    assert last == ("python", "-m", "benchmarks.mutants", "--seed", "7", "--within", "a", "b", "--again")


def collected(request: pytest.FixtureRequest, function: Any) -> Any:
    """The tests that pytest makes of a function, as though this module held it."""
    request.getfixturevalue("monkeypatch").setattr(request.module, "test_table", function, raising=False)
    make = request.config.hook.pytest_pycollect_makeitem
    return in_rows(request.node.parent, make(collector=request.node.parent, name="test_table", obj=function))


def test_rows_of_a_table_are_all_run_and_each_that_fails_is_shown(request: pytest.FixtureRequest) -> None:
    ran = []

    @pytest.mark.parametrize("number", range(30))
    def test_table(number: int) -> None:
        ran.append(number)
        if number == 2:
            pytest.skip("this row is not for here")
        assert number not in (5, 7)

    tests = collected(request, test_table)
    assert [len(test.rows) for test in tests] == [25, 5]
    with pytest.raises(AssertionError, match="2 of 25 rows fail") as failed:
        tests[0].runtest()
    assert ran == [*range(25)]
    shown = str(tests[0].repr_failure(failed))
    assert [number for number in range(30) if f"test_table[{number}]" in shown] == [5, 7]
    assert "assert 7 not in (5, 7)" in shown


def test_a_row_that_is_skipped_is_told_and_a_limit_that_passed_ends_the_rows(request: pytest.FixtureRequest) -> None:
    ran = []

    @pytest.mark.parametrize("number", [0, 1, 2])
    def test_table(number: int) -> None:
        ran.append(number)
        (pytest.fail if number == 1 else pytest.skip)("Timeout (>1s) from pytest-timeout")

    (test,) = collected(request, test_table)
    with pytest.raises(AssertionError) as failed:
        test.runtest()
    assert ran == [0, 1]
    assert "did not run" in str(test.repr_failure(failed))
    (skipped,) = in_rows(request.node.parent, test.rows[::2])
    with pytest.raises(pytest.skip.Exception):
        skipped.runtest()


def test_rows_that_wait_do_so_together_and_one_with_a_mark_of_its_own_stays_a_test(
    request: pytest.FixtureRequest,
) -> None:
    met = threading.Barrier(3, timeout=60)

    @pytest.mark.waits
    @pytest.mark.parametrize("number", [0, pytest.param(1, marks=pytest.mark.slow), 2, 3])
    def test_table(number: int) -> None:
        met.wait()
        assert number != 2

    rows, alone = collected(request, test_table)
    with pytest.raises(AssertionError, match="1 of 3 rows fail") as failed:
        rows.runtest()
    assert "test_table[2]" in str(rows.repr_failure(failed))
    assert alone.name == "test_table[1]"


@pytest.mark.parametrize("mark", [pytest.mark.slow, pytest.mark.timeout(5), pytest.mark.usefixtures("tmp_path")])
def test_rows_that_bear_a_mark_or_take_a_fixture_of_pytest_stay_tests(
    request: pytest.FixtureRequest, mark: pytest.MarkDecorator
) -> None:
    @mark
    @pytest.mark.parametrize("number", [1, 2])
    def test_table(number: int) -> None:
        assert number

    @pytest.mark.parametrize("number", [1, 2])
    def test_told(number: int, caplog: pytest.LogCaptureFixture) -> None:
        assert number

    @pytest.mark.parametrize("number", [1, 2])
    def test_asked(number: int, tmp_path: Path, request: pytest.FixtureRequest) -> None:
        assert number

    assert [len(collected(request, each)) for each in (test_table, test_told, test_asked)] == [2, 2, 2]


UNDONE: list[Path] = []


@each_row
def noted(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "noted"
    UNDONE.append(tmp_path)


def test_each_row_has_a_folder_its_fixtures_and_what_it_patches_to_itself(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []

    @pytest.mark.parametrize("number", [0, 1, 2])
    def test_table(number: int, noted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("ASTUNER_ROW", str(number))
        assert noted.parent == tmp_path
        assert not noted.exists()
        noted.touch()
        seen.append(tmp_path)
        assert number != 1

    monkeypatch.chdir(tmp_path)
    UNDONE.clear()
    (test,) = collected(request, test_table)
    with pytest.raises(AssertionError, match="1 of 3 rows fail"):
        test.runtest()
    assert seen == UNDONE
    assert len(set(seen)) == 3
    assert not any(folder.exists() for folder in seen)
    assert (Path.cwd(), os.environ.get("ASTUNER_ROW")) == (tmp_path, None)
