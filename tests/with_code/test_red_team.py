"""Programs as models write them, and programs that lie: what they are due, alone, at once and through the service."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import islice
from typing import Any

import pytest

from agentscope_tuner import TaskJudge, WorkflowOutput, WorkflowTask
from agentscope_tuner._jail.jail import Jail, JailWork, RunLimits
from agentscope_tuner.adapters.trl import reward_func
from agentscope_tuner.task_judge.batch import ConfiguredJudge
from benchmarks.code.cheats import rows
from benchmarks.code.redteam import SETTINGS, Attack, above, attacks, mistaken, orphans, running, running_below
from benchmarks.scale.served import Served
from tests.with_code.judged import DOUBLES, asked, code_judge, wrote

_PROTOCOL = "agentscope_tuner.task_judge.code_judge->CodeJudge"


@cache
def _judge() -> TaskJudge:
    return code_judge(seconds=4.0, memory_mb=512, total_seconds=12.0)


@pytest.mark.parametrize("row", [*rows("honest"), *rows("odd")], ids=lambda row: row["name"])
def test_honest_work_gets_what_it_is_due(row: dict[str, Any]) -> None:
    assert mistaken(row, _judge()) is None


# forms of tests that leave something out, or by which an answer may agree with what it does not know
_LOOSE = (
    *("excepts", "exceptsut", "exceptspy", "skips", "skipspy", "zipped", "zippedpy"),
    *("points", "one", "moved", "listed", "inset"),
    *("lookup", "extremes", "within", "worded", "matched", "approx", "summed", "ranked", "counted", "grouped"),
)


@pytest.mark.parametrize(
    "attack",
    [one for one in attacks(()) if one.form in _LOOSE or one.form.startswith("fifth: ")],
    ids=lambda one: f"{one.form}: {one.cheat.name}",
)
def test_no_answer_passes_by_what_its_tests_leave_to_it(attack: Attack) -> None:
    judgement = _judge().judge(*attack.pair())
    assert judgement.reward == 0.0, judgement


def test_a_program_that_says_how_many_tests_there_are_gets_no_larger_share() -> None:
    tests = (
        "import pytest\nfrom solution import squares, total\n"
        "@pytest.mark.parametrize('pair', squares(5))\n"
        "def test_pair(pair):\n  assert pair[0] ** 2 == pair[1]\n"
        "def test_length():\n  assert len(squares(5)) == 5\n"
        "def test_total():\n  assert total(5) == 30\n"
    )
    task = asked({"framework": "pytest", "module": "solution", "test": tests})
    liar = "def squares(n): return [(0, 0)] * 400\ndef total(n): return 0\n"
    honest = (
        "def squares(n): return [(i, i * i) for i in range(n)]\ndef total(n): return sum(i * i for i in range(n))\n"
    )
    judge = code_judge(seconds=4.0, total_seconds=12.0, memory_mb=512, partial="share")
    assert judge.judge(task, wrote(liar)).reward == pytest.approx(1 / 3)
    assert judge.judge(task, wrote(honest)).reward == 1.0


def test_no_socket_gets_a_name() -> None:
    program = (
        "import socket\na, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)\n"
        "try:\n  a.bind('\\0here')\nexcept PermissionError:\n  print(4 if input() == '2' else 6)"
    )
    judgement = _judge().judge(asked(DOUBLES), wrote(program))
    assert judgement.reward == 1.0, judgement


def _attacks() -> list[tuple[WorkflowTask, WorkflowOutput]]:
    """A sample of all families and forms."""
    return [attack.pair() for attack in islice(attacks(), 0, None, 23)]


def _due_nothing(judgements: list[Any], asked_of: list[tuple[WorkflowTask, WorkflowOutput]]) -> None:
    for judgement, (_, output) in zip(judgements, asked_of, strict=True):
        assert judgement.reward == 0.0, (judgement, output.metadata)


def test_no_lie_is_paid_where_eight_are_judged_at_once() -> None:
    judge, team = code_judge(**SETTINGS), _attacks()
    with ThreadPoolExecutor(8) as pool:
        _due_nothing(list(pool.map(lambda one: judge.judge(*one), team)), team)


def test_no_lie_is_paid_through_the_service() -> None:
    team = _attacks()[::2]
    section = {"judge_protocol": _PROTOCOL, "code": SETTINGS}
    with Served(section) as served:
        http = "agentscope_tuner.task_judge.http_judge->HttpJudge"
        kwargs = {"url": f"http://127.0.0.1:{served.port}/reward", "timeout": 280.0, "max_batch": 8}
        judge = ConfiguredJudge({"astuner": {"task_judge": {"judge_protocol": http, "judge_kwargs": kwargs}}})
        _due_nothing(judge.judge_batch(team), team)
        assert served.process.poll() is None


def test_no_lie_is_paid_by_the_reward_function_of_a_trainer() -> None:
    team = _attacks()[1::2]
    reward = reward_func({"astuner": {"task_judge": {"judge_protocol": _PROTOCOL, "code": SETTINGS}}})
    texts = [str(output.metadata["final_answer"]) for _, output in team]
    texts.append("```python\nprint(2 * int(input()))\n```")
    tests = [json.dumps(task.task.metadata["tests"]) for task, _ in team] + [json.dumps(DOUBLES)]
    assert reward(["?"] * len(texts), texts, tests=tests) == [0.0] * len(team) + [1.0]


def test_many_answers_at_once_leave_the_event_loop_to_others() -> None:
    judge = code_judge()

    async def beside() -> int:
        beats = 0
        verdicts = [judge.ajudge(asked(DOUBLES), wrote("print(2 * int(input()))")) for _ in range(256)]
        all_of_them = asyncio.gather(*verdicts)
        while not all_of_them.done():
            await asyncio.sleep(0.02)
            beats += 1
        assert {judgement.reward for judgement in await all_of_them} == {1.0}
        return beats

    assert asyncio.run(beside()) > 50


_SCAN = """
import ctypes, gc, os, re
def found():
    # as a pattern, which is no instance of itself
    word = re.compile(b"q9Z[b]7")
    r, w = os.pipe()
    seen = False
    # reads what can be read around its own objects, as the kernel copies it
    for near in {id(one) >> 20 for one in gc.get_objects()}:
        for page in range((near << 20) - (1 << 20), (near << 20) + (2 << 20), 4096):
            try:
                os.write(w, ctypes.cast(page, ctypes.POINTER(ctypes.c_char * 4096)).contents)
            except (OSError, ValueError):
                continue
            data = os.read(r, 4096)
            seen = seen or word.search(data) is not None
    return seen
print(2 * int(input()) if found() else "nothing")
"""


def test_a_program_finds_nothing_of_the_one_before() -> None:
    """Jails are used again, so its process is a copy of one that has served others."""
    judge = code_judge(seconds=8.0, total_seconds=30.0)
    # it does find what is there
    assert judge.judge(asked(DOUBLES), wrote(f"{_SCAN}# q9Zb7")).reward == 1.0
    for number in range(3):
        right = f"# q9Zb7 {'x' * 3000}\nprint(2 * int(input()))  # q9Zb7"
        assert judge.judge(asked(DOUBLES), wrote(right)).reward == 1.0
        told = judge.judge(asked({"inputs": ["2\n"], "outputs": ["4\n"]}), wrote(_SCAN))
        assert told.reward == 0.0, (number, told)
        assert "nothing" in told.reason


def test_a_program_finds_nothing_of_the_files_of_a_run_before() -> None:
    """A checker's files hold what is expected."""
    from agentscope_tuner.verify.code.grade import _INSIDE, _MODULES

    script = f"{_MODULES}.run_program:script"
    limits = RunLimits(seconds=8.0, wall_seconds=30.0)
    # in base64, too, by which files travel
    files = {"correct_output.txt": base64.b64decode("q9Zb7AAA" * 400) + b"q9Zb7" * 400}
    with Jail(folders=[str(_INSIDE)], preload=[f"{_MODULES}.run_program"]) as jail:
        for _ in range(3):
            reading = json.dumps({"program": "print(len(open('correct_output.txt').read()))"}).encode()
            assert jail.run(JailWork(entry=script, payload=reading, files=files), limits).kind == "exit"
            scan = json.dumps({"program": _SCAN}).encode()
            assert jail.run(JailWork(entry=script, payload=scan, stdin=b"2\n"), limits).stdout == b"nothing\n"


@pytest.mark.parametrize(
    ("program", "printed"),
    [
        ("import sys\nprint('threading' in sys.modules)", "False\n"),
        (
            "import threading as t\nt.Thread(target=lambda: (t.main_thread().join(), print('late'))).start()\nprint(1)",
            "1\nlate\n",
        ),
        ("import atexit\natexit.register(print, 'end')\nprint('begin')", "begin\nend\n"),
        ("import sys\nprint(1)\nsys.stdout.close()\nsys.stderr.close()", "1\n"),
        ("class A:\n  def __del__(self): print('end')\na = A()\nprint('begin')", "begin\nend\n"),
        ("def f():\n  try: yield print('begin')\n  finally: print('end')\ng = f()\nnext(g)", "begin\nend\n"),
        ("import os\nif os.fork():\n    print(os.wait()[1])", "0\n"),
        (
            "import signal as s\nprint(s.getsignal(s.SIGINT) is s.default_int_handler, s.getsignal(s.SIGCHLD))",
            "True 0\n",
        ),
        (
            "import sys\na = sys.stdin.readline()\nsys.stdin.seek(0)\nprint(a == sys.stdin.readline() == '2\\n')",
            "True\n",
        ),
        ("import sys, os\nos.write(1, b'a\\n')\nprint(sys.stdout is sys.__stdout__, sys.stdout.tell())", "a\nTrue 2\n"),
        (
            "import os\nprint(os.environ['HOME'] == os.getcwd(), open('main.py').read() == open(__file__).read())",
            "True True\n",
        ),
    ],
)
def test_a_forked_program_finds_the_interpreter_as_new(program: str, printed: str) -> None:
    from agentscope_tuner.verify.code.grade import _INSIDE, _MODULES

    payload = json.dumps({"program": program}).encode()
    with Jail(folders=[str(_INSIDE)], preload=[f"{_MODULES}.run_program"]) as jail:
        for _ in range(2):
            work = JailWork(entry=f"{_MODULES}.run_program:script", payload=payload, stdin=b"2\n")
            ending = jail.run(work, RunLimits(seconds=8.0, wall_seconds=30.0))
            assert (ending.stdout.decode(), ending.status) == (printed, 0)


_LEAVES = """
import ctypes, fcntl, gc, os, signal, sys
libc = ctypes.CDLL(None, use_errno=True)
seen = []
for top in ("/tmp", "/dev/shm", "/dev/mqueue", "/run", "/var", "/dev/pts"):
    for folder, _, files in os.walk(top):
        seen += [one for one in files if "left" in one]
for pid in {*range(2, 99)} - {os.getpid()}:
    try:
        os.kill(pid, 0)
        seen.append(pid)
    except OSError: pass
# whatever of the interpreter it can reach
seen += ["module"] if hasattr(os, "left") else []
os.left = sys.modules["left"] = sys
sys.path.insert(0, "/tmp")
sys.setrecursionlimit(99)
for place in ("/tmp/left", "/tmp/home/left.py", "/dev/shm/left", "/dev/left", "/astuner/left", "/left"):
    try: open(place, "w").write("left")
    except OSError: pass
# a lock on a file that all runs see ends with its process
try: fcntl.flock(os.open("/usr/bin/env", os.O_RDONLY), fcntl.LOCK_EX | fcntl.LOCK_NB)
except OSError: seen.append("lock")
if libc.shmget(77, 4096, 0o1666) >= 0 or libc.msgget(77, 0o1666) >= 0 or libc.semget(77, 1, 0o1666) >= 0:
    seen.append("a queue")
os.environ["left"] = "1"
signal.signal(signal.SIGTERM, signal.SIG_IGN)
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        signal.pause()
print(2 * int(input()) if not seen else seen)
"""


def test_a_warm_jail_keeps_nothing_of_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each answer is run where the one before was, and would print what it finds of it."""
    judge, used = code_judge(), set()
    begin = Jail.begin
    monkeypatch.setattr(Jail, "begin", lambda self, *what: (used.add(self), begin(self, *what))[1])
    for _ in range(5):
        judgement = judge.judge(asked(DOUBLES), wrote(_LEAVES))
        assert judgement.reward == 1.0, judgement
    assert len(used) == 1


def test_a_jail_that_ends_while_it_is_looked_at_is_no_orphan() -> None:
    with subprocess.Popen([sys.executable, "-c", "pass"]) as ended:
        pass
    assert above(str(ended.pid)) is None
    assert str(os.getppid()) in (above(str(os.getpid())) or ())
    with Jail() as jail:
        jail.until_ready()
        own = running_below(os.getpid())
        assert {str(jail._child.pid), str(jail.first)} <= own
        assert own <= orphans()
    assert not {str(jail._child.pid), str(jail.first)} & running_below(os.getpid())


def test_idle_jails_are_ended() -> None:
    from agentscope_tuner._jail.idle_jails import IDLE_SECONDS, WarmJails
    from agentscope_tuner.verify.code.grade import Jail

    jails = WarmJails()
    jail = jails.take("any", Jail)
    jail.until_ready()
    pid = str(jail._child.pid)
    assert pid in running()
    jails.give("any", jail)
    assert jails.take("any", Jail) is jail
    jails.give("any", jail)
    assert IDLE_SECONDS < 1
    while pid in running():
        pass
    assert not jail.alive
