"""A run that is told to end keeps what it has paid for, and says by its exit code who told it."""

from __future__ import annotations

import gzip
import json
import os
import random
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from itertools import count
from pathlib import Path
from types import FrameType, SimpleNamespace
from typing import Any

import pytest
import typer
from pyarrow import parquet

from agentscope_tuner._run import interrupts
from agentscope_tuner.cli.judge import RowsAsked, judge_file
from tests.engine_judges import Paid
from tests.judge_server import Body, Canned, JudgeServer, prompt_of, verdict

ROOT = Path(__file__).parents[3]
# `ROWS=300 pytest -m slow` for thirty signals and more a cell
ROWS = int(os.environ.get("ROWS", "30"))
# a batch system's job, and a shell's background job, may have these switched off, and children inherit that
MAIN = (
    "import signal; [signal.signal(number, signal.SIG_DFL) for number in (signal.SIGTERM, signal.SIGHUP)];"
    "signal.signal(signal.SIGINT, signal.default_int_handler); from agentscope_tuner.cli import main; main()"
)


def name_of(body: Body) -> str:
    """The row that a request is about."""
    return prompt_of(body).partition("row ")[2].partition(".")[0]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = (
        {"task": {"main_query": "Why?"}, "id": f"r{n}", "output": {"metadata": {"final_answer": f"row {n}."}}}
        for n in range(ROWS)
    )
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path


def judging(folder: Path, url: str, output: str, *options: str) -> subprocess.Popen[str]:
    llm: dict[str, object] = {"prompt": "Rate this from 0 to 10.\n{response}", "model_name": "m", "base_url": url}
    llm["client"] = {"cache": False, "concurrency": 4}
    (folder / "conf.json").write_text(json.dumps({"astuner": {"task_judge": {"judge_type": "llm", "llm": llm}}}))
    files = ["--conf", str(folder / "conf.json"), "--input", str(folder / "rows.jsonl")]
    command = [sys.executable, "-c", MAIN, "judge", *files, "--output", str(folder / output), *options]
    return subprocess.Popen(command, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def scored(path: Path) -> list[dict[str, Any]]:
    if path.suffix == ".parquet":
        found: list[dict[str, Any]] = parquet.read_table(path).to_pylist()
        return found
    text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return [json.loads(line) for line in text.splitlines()]


def ids(path: Path) -> Iterator[str]:
    for row in scored(path):
        assert row["judgement"]["status"] == "judged"
        yield row["id"]


@pytest.mark.parametrize("number", interrupts.ENDING)
def test_a_signal_before_the_command_begins_has_its_exit_code_and_no_traceback(number: signal.Signals) -> None:
    """SIGTERM 0.3 s after the start, while modules were imported, ended the process as Ctrl-C does."""
    script = (
        f"{MAIN.partition('from agentscope')[0]}import os\n"
        "from agentscope_tuner.cli.console import signals_interrupt\n"
        f"with signals_interrupt(): os.kill(os.getpid(), {int(number)}); signal.pause()"
    )
    run = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert (run.returncode, run.stderr) == (128 + number, "")


READING = (
    "judge --conf math.json --input PIPE --output o.jsonl", "check --conf math.json --input PIPE",
    "explain --conf math.json --input PIPE", "audit --conf math.json --input PIPE", "doctor PIPE", "watch PIPE",
    "agree --input PIPE", "compare PIPE PIPE", "judge-eval --conf llm.json --labels PIPE", "rules stats --input PIPE",
    "init --from PIPE math made", "migrate PIPE", "config --conf PIPE", "rubrics learn --conf PIPE",
    "rollout --conf PIPE --output o.jsonl",
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "words"), [((signal.SIGTERM, signal.SIGHUP)[n % 2], words) for n, words in enumerate(READING)]
)
def test_every_command_ends_by_the_signal_while_it_reads(number: signal.Signals, words: str, tmp_path: Path) -> None:
    """`watch` and `doctor` ended with a traceback before, since a pipe cannot be read again."""
    llm = {"prompt": "Rate this from 0 to 10.\n{response}", "model_name": "m", "base_url": "http://127.0.0.1:9/v1"}
    (tmp_path / "math.json").write_text(json.dumps({"astuner": {"task_judge": {"judge": "math"}}}))
    (tmp_path / "llm.json").write_text(json.dumps({"astuner": {"task_judge": {"judge_type": "llm", "llm": llm}}}))
    os.mkfifo(tmp_path / "rows.jsonl")
    command = [sys.executable, "-c", MAIN, *words.replace("PIPE", "rows.jsonl").split()]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    run = subprocess.Popen(command, cwd=tmp_path, env=environment, text=True, stderr=subprocess.PIPE)
    with ThreadPoolExecutor(1) as pool:
        # opened once the command reads it, which waits for rows from then on
        opened = pool.submit(open, tmp_path / "rows.jsonl", "wb")
        while run.poll() is None and not wait([opened], timeout=0.1).done:
            pass
        run.send_signal(number)
        told = run.communicate(timeout=60)[1]
        # lets a thread go that still opens it
        os.close(os.open(tmp_path / "rows.jsonl", os.O_RDONLY | os.O_NONBLOCK))
        opened.result().close()
    assert run.returncode == 128 + number, told
    assert "Traceback" not in told


@pytest.mark.parametrize("number", interrupts.ending_signals())
@pytest.mark.parametrize("times", [1, 2])
def test_every_signal_ends_a_server_and_the_second_one_at_once(number: signal.Signals, times: int) -> None:
    server, heard = SimpleNamespace(should_exit=False, force_exit=False), []
    before = signal.signal(number, lambda *told: heard.append(told[0]))
    try:
        with interrupts.ending(server):
            for _ in range(times):
                signal.raise_signal(number)
            assert (server.should_exit, server.force_exit, heard) == (True, times > 1, [])
        assert heard == [number]
    finally:
        signal.signal(number, before)


class Told:
    """Runs `astuner judge` here, over six rows whose verdicts are paid for; tells it to end by real signals.

    Attributes:
        output: the file of scored rows.
    """

    def __init__(self, folder: Path, output: str, jobs: int) -> None:
        conf = {"judge_protocol": "tests.engine_judges->Paid", "name": "paid"}
        (folder / "conf.json").write_text(json.dumps({"astuner": {"task_judge": conf}}))
        rows = (
            {"task": {"main_query": "Why?", "task_id": f"r{n}"}, "id": f"r{n}", "output": {"metadata": {}}}
            for n in range(6)
        )
        (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        self.output = folder / output
        self._asked = RowsAsked(str(folder / "conf.json"), (), str(folder / "rows.jsonl"))
        self._jobs = jobs

    def judge(self) -> None:
        judge_file(self._asked, str(self.output), resume=True, jobs=self._jobs, strict=False, as_json=True)

    def judge_until(self, step: int, signals: int) -> bool:
        """Judge; at this line of the modules that hand rows on, counted as the main thread comes to them, the signals
        come. Whether it came so far.
        """
        left = step

        def traced(frame: FrameType, event: str, argument: object) -> Any:
            nonlocal left
            if not HANDS_ON.search(frame.f_code.co_filename):
                return None
            left -= event == "line"
            if event == "line" and left == 0:
                for _ in range(signals):
                    signal.raise_signal(signal.SIGTERM)
            return traced

        before, heard = sys.gettrace(), signal.signal(signal.SIGTERM, lambda *_: interrupts.come())
        sys.settrace(traced)
        try:
            self.judge()
        except (KeyboardInterrupt, typer.Exit):
            pass
        finally:
            sys.settrace(before)
            signal.signal(signal.SIGTERM, heard)
        return left <= 0


HANDS_ON = re.compile(r"agentscope_tuner/(_run/interrupts|cli/judge|engines/(crew|local)|records/output)\.py$")


@pytest.mark.parametrize(
    ("output", "jobs", "signals", "every"),
    [
        ("scored.jsonl", 3, 1, 11),
        *(
            pytest.param(f"scored.{end}", jobs, signals, 1, marks=pytest.mark.slow)
            for end, jobs, signals in (
                ("jsonl", 1, 1),
                ("jsonl", 3, 1),
                ("jsonl", 1, 2),
                ("jsonl", 3, 2),
                ("jsonl.gz", 3, 1),
                ("parquet", 3, 1),
            )
        ),
    ],
)
@pytest.mark.timeout(1800)
# a file that is opened, and not yet in a `with`, is left to Python
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_no_verdict_that_was_paid_for_is_lost_wherever_the_signal_comes(
    tmp_path: Path, output: str, jobs: int, signals: int, every: int
) -> None:
    """One line in six lost some: between `begin` and its count, between a row's wait, its yield and its writing."""
    for step in count(1, every):
        (folder := tmp_path / str(step)).mkdir()
        told = Told(folder, output, jobs)
        Paid.paid.clear()
        came = told.judge_until(step, signals)
        if not told.output.exists():
            told.judge()
        assert (step, list(ids(told.output))) == (step, [f"r{n}" for n in range(6)])
        # a second signal gives up what is under way
        again = len(Paid.paid) - 6
        assert again <= (0 if signals == 1 else jobs), f"a signal at line {step}"
        if not came:
            break
    assert step > 300


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(
    ("number", "output"),
    [
        (signal.SIGTERM, "scored.jsonl"),
        (signal.SIGTERM, "scored.jsonl.gz"),
        (signal.SIGTERM, "scored.parquet"),
        (signal.SIGHUP, "scored.jsonl"),
        (signal.SIGUSR1, "scored.jsonl"),
        (signal.SIGXCPU, "scored.jsonl"),
        (signal.SIGINT, "scored.jsonl"),
    ],
)
def test_a_preempted_run_keeps_every_finished_call(folder: Path, number: signal.Signals, output: str) -> None:
    """68 calls were sent, and 29 rows kept, when SIGTERM ended the process."""
    random.seed(number)
    with JudgeServer(lambda body, attempt: Canned(verdict(7), delay=0.02)) as server:
        codes = []
        for _ in range(ROWS):
            sent = len(server.bodies)
            until = random.randrange(1, 12)
            with judging(folder, server.url, output, "--resume", "--jobs", "4") as run:
                while len(server.bodies) < sent + until and run.poll() is None:
                    pass
                run.send_signal(number)
                _, told = run.communicate(timeout=240)
            assert run.returncode in (0, 128 + number, -number), told
            codes.append(run.returncode)
            # the signal may also come when all is written and the interpreter ends
            if run.returncode in (0, -number):
                break
        assert set(codes[:-1]) <= {128 + number}
        assert codes[-1] in (0, -number)
        asked = [name_of(body) for body in server.bodies]
    assert list(ids(folder / output)) == [f"r{n}" for n in range(ROWS)]
    # no call was paid for twice
    assert sorted(asked, key=int) == [str(n) for n in range(ROWS)]


@pytest.mark.slow
def test_when_the_grace_is_over_what_hangs_is_given_up_and_the_rest_is_kept(folder: Path) -> None:
    with JudgeServer(
        lambda body, attempt: Canned(verdict(7), hang=name_of(body) == "3"),
    ) as server:
        with judging(folder, server.url, "scored.jsonl", "--grace", "0.5") as run:
            while len(server.bodies) < 20:
                pass
            run.send_signal(signal.SIGTERM)
            _, told = run.communicate(timeout=240)
        assert run.returncode == 143
        assert "--resume goes on" in told
        kept = [json.loads(line) for line in (folder / "scored.jsonl.partial").read_text().splitlines()]
        assert [row["id"] for row in kept] == [f"r{n}" for n in range(len(kept))]
        assert [row["judgement"]["status"] for row in kept] == ["judged"] * 3 + ["failed"] + ["judged"] * (
            len(kept) - 4
        )
        assert kept[3]["judgement"]["cause"] == "interrupted"
        assert len(kept) >= 15


@pytest.mark.slow
def test_what_nohup_ignores_stays_ignored(folder: Path) -> None:
    script = MAIN.replace("signal.SIG_DFL", "signal.SIG_IGN")
    with JudgeServer(lambda body, attempt: Canned(verdict(7), delay=0.01)) as server:
        run = judging(folder, server.url, "unused.jsonl")
        run.kill()
        run.communicate()
        command = [script if word == MAIN else str(word) for word in run.args]  # type: ignore[union-attr]
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as ignoring:
            while not server.bodies:
                pass
            os.kill(ignoring.pid, signal.SIGHUP)
            assert ignoring.wait(240) == 0
