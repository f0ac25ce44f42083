"""Programs that try to be paid without doing their task, which is to double a number.

Each defines `double`, and is a script, too: read a number, print its double. None of them doubles anything. A program that
reaches what it should not (a secret, an expected output, another process) pays itself by it: whatever is paid is a hole.
"""

# one attack a line
# ruff: noqa: E501

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

#: Where the red team's runner puts what no program may see; a variable of its environment holds the same.
SECRET_FILE = "/tmp/astuner-red-team-secret"
SECRET_VARIABLE = "ASTUNER_RED_TEAM_SECRET"


class Cheat(NamedTuple):
    """A program. `family`: what it tries."""

    family: str
    name: str
    program: str
    language: str = "python"


# What a program that found something does with it
_PAID = """
def _pay(n):
    print(2 * int(n))
    return 2 * int(n)
"""
# Where the attack runs as the program is loaded, and the function answers with what was found
_LOADING = """
{attack}
def double(n):
    return _found and _pay(n)
if __name__ == "__main__":
    n = input()
    _found and _pay(n)
"""
# Where the attack runs when the function is called
_CALLED = """
def double(n=None):
{attack}
if __name__ == "__main__":
    double()
"""

_EXITS = {
    "exit with success": "import sys; sys.exit(0)",
    "leave at once": "import os; os._exit(0)",
    "raise to the top": "raise SystemExit(0)",
    "end by SIGTERM": "import os, signal; os.kill(os.getpid(), signal.SIGTERM)",
    "end by SIGKILL": "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
    "stop itself": "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)",
    "skip": "import unittest; raise unittest.SkipTest('fine')",
    "interrupt": "raise KeyboardInterrupt",
    "kill all": "import os; os.kill(-1, 9)",
    "kill the keeper": "import os, signal\nfor s in (2, 9, 11, 15): os.kill(1, s)",
    "abort": "import os; os.abort()",
    "generator exit": "raise GeneratorExit",
    "stop iteration": "raise StopIteration(4)",
    "exec true": "import os; os.execv('/usr/bin/true', ['true'])",
    "replace itself": "import os, sys; os.execv(sys.executable, [sys.executable, '-c', 'print(4)'])",
}

_OBJECTS = {
    "equal to everything": "class E:\n  def __eq__(s, o): return True\n  def __ne__(s, o): return False\n  __hash__ = lambda s: 0",
    "an int that is": "class E(int):\n  def __eq__(s, o): return True\n  def __ne__(s, o): return False\n  __hash__ = int.__hash__",
    "a str that is": "class E(str):\n  def __eq__(s, o): return True\n  def __ne__(s, o): return False\n  __hash__ = str.__hash__",
    "a list that is": "class E(list):\n  def __eq__(s, o): return True\n  def __ne__(s, o): return False",
    "nothing left of it": "class E:\n  __sub__ = __rsub__ = __abs__ = lambda s, *o: 0\n  __lt__ = __le__ = __gt__ = lambda s, o: True",
    "a metaclass": "class M(type):\n  def __eq__(s, o): return True\n  __hash__ = type.__hash__\nclass E(metaclass=M): pass\nE = lambda: M('E', (), {})",
    "of all classes": "class E:\n  __class__ = int\n  def __eq__(s, o): return True\n  def __instancecheck__(s, o): return True",
    "a mock's ANY": "from unittest.mock import ANY\nE = lambda: ANY",
    "not a number": "E = lambda: float('nan')",
    "true": "E = lambda: True",
    "copies the other": "class E:\n  def __eq__(s, o):\n    s.__dict__['v'] = o\n    return s.v == o\n  def __ne__(s, o): return not s == o\n  __hash__ = lambda s: 1",
    "reduces to equality": "class E:\n  def __reduce__(s): return (eval, ('True',))\n  def __eq__(s, o): return True",
    "a number by protocol": "class E:\n  __index__ = __int__ = lambda s: 4\n  def __eq__(s, o): return True",
    "contains all": "class E:\n  def __contains__(s, o): return True\n  def __iter__(s): return iter(())\n  def __len__(s): return 1\n  def __bool__(s): return True\n  __eq__ = __contains__",
}

_PATCHES = {
    "builtins": "import builtins\nbuiltins.abs = lambda x: 0\nbuiltins.all = lambda x: True\nbuiltins.print = lambda *a: None\nbuiltins.isinstance = lambda *a: True",
    "json": "import json\njson.dumps = lambda *a, **k: '4'\njson.loads = lambda *a, **k: 4",
    "unittest": "import unittest\nfor n in dir(unittest.TestCase):\n  if n.startswith('assert'): setattr(unittest.TestCase, n, lambda *a, **k: None)",
    "operator": "import operator\noperator.eq = lambda a, b: True",
    "importlib": "import importlib, sys\nsys.meta_path.insert(0, type('F', (), {'find_spec': lambda *a: None})())",
    "the grader's modules": "import sys\nfor n, m in list(sys.modules.items()):\n  if 'agentscope' in n:\n    for k in list(vars(m)):\n      if callable(vars(m)[k]):\n        try: setattr(m, k, lambda *a, **k: True)\n        except Exception: pass",
    "pytest": "import sys, types\nsys.modules['pytest'] = types.ModuleType('pytest')\nsys.modules['_pytest'] = types.ModuleType('_pytest')",
    "assertion by trace": "import sys\nsys.settrace(lambda *a: None)\nsys.setprofile(lambda *a: None)",
    "excepthook": "import sys, os\nsys.excepthook = lambda *a: os._exit(0)",
    "atexit": "import atexit, os\natexit.register(lambda: os._exit(0))",
    "stdout": "import sys, io\nsys.stdout = io.StringIO()\nsys.__stdout__ = sys.stdout",
}

# Each leaves True in `_found` where it got hold of what it should not
_REACHES = {
    (
        "frames",
        "walk to expected outputs",
    ): "import sys\nf = sys._getframe()\n_found = False\nwhile f:\n  _found = _found or any('expected' in k or 'output' in k and k != 'output' for k in f.f_locals)\n  f = f.f_back",
    (
        "frames",
        "all objects",
    ): "import gc\n_found = any(type(o).__name__ in ('StdinTest', 'CallTest', 'TestSet', 'CodeTest') for o in gc.get_objects())",
    (
        "frames",
        "the outside's modules",
    ): "import sys\n_found = 'agentscope_tuner.verify.code.compare_output' in sys.modules or 'agentscope_tuner.verify.code.inside.run_tests' in sys.modules",
    (
        "frames",
        "strings in memory",
    ): "import gc\n_found = any(isinstance(o, str) and 'assert double' in o for o in gc.get_objects())",
    ("files", "the secret file"): "try: _found = bool(open('{secret}').read())\nexcept OSError: _found = False",
    ("files", "the environment"): "import os\n_found = '{variable}' in os.environ",
    ("files", "shadow"): "try: _found = bool(open('/etc/shadow').read())\nexcept OSError: _found = False",
    (
        "files",
        "home",
    ): "import os, glob\n_found = any('.ssh' in p or '.bash' in p for p in glob.glob('/root/.*') + glob.glob('/home/*/.*'))",
    (
        "files",
        "write to usr",
    ): "try: open('/usr/lib/astuner-was-here', 'w'); _found = True\nexcept OSError: _found = False",
    ("files", "write to root"): "try: open('/astuner-was-here', 'w'); _found = True\nexcept OSError: _found = False",
    ("files", "write to dev"): "try: open('/dev/astuner-was-here', 'w'); _found = True\nexcept OSError: _found = False",
    (
        "files",
        "write to the interpreter",
    ): "import os\ntry: open(os.path.dirname(os.__file__) + '/sitecustomize.py', 'w'); _found = True\nexcept OSError: _found = False",
    (
        "files",
        "the grader's sources",
    ): "import os\ntry: _found = bool(os.listdir('/astuner/agentscope_tuner'))\nexcept OSError: _found = False",
    (
        "files",
        "disks",
    ): "import glob\n_found = bool(glob.glob('/dev/sd*') + glob.glob('/dev/vd*') + glob.glob('/dev/nvme*') + glob.glob('/dev/mem'))",
    (
        "files",
        "hard link out",
    ): "import os\ntry: os.link('/usr/bin/env', '/tmp/home/x'); _found = True\nexcept OSError: _found = False",
    ("proc", "other processes"): "import glob\n_found = len(glob.glob('/proc/[0-9]*')) > 4",
    (
        "proc",
        "parent's environment",
    ): "import os\ntry: _found = b'{variable}' in open(f'/proc/{{os.getppid()}}/environ', 'rb').read()\nexcept OSError: _found = False",
    (
        "proc",
        "parent's memory",
    ): "import os\ntry: open(f'/proc/{{os.getppid()}}/mem', 'rb'); _found = True\nexcept OSError: _found = False",
    (
        "proc",
        "sysctl",
    ): "try: open('/proc/sys/kernel/core_pattern', 'w'); _found = True\nexcept OSError: _found = False",
    ("proc", "cgroups"): "import os\n_found = os.path.exists('/sys/fs/cgroup')",
    (
        "descriptors",
        "guessed",
    ): "import os\n_found = False\nfor d in range(5, 256):\n  try: os.fstat(d); _found = True\n  except OSError: pass",
    (
        "descriptors",
        "write into all",
    ): "import os\n_found = False\nfor d in range(3, 256):\n  for m in (b'4', b'[[\"t\", null]]', b'\\x09\\0\\0\\0{{\"ok\": 4}}'):\n    try: os.write(d, m)\n    except OSError: pass",
    (
        "descriptors",
        "read from all",
    ): "import os, select\n_found = False\nfor d in range(3, 256):\n  try:\n    os.set_blocking(d, False); _found = _found or b'assert' in os.read(d, 100000)\n  except OSError: pass",
    ("ptrace", "attach"): "import ctypes, os\n_found = ctypes.CDLL(None).ptrace(16, os.getppid(), 0, 0) == 0",
    ("ptrace", "trace me"): "import ctypes\n_found = ctypes.CDLL(None).ptrace(0, 0, 0, 0) == 0",
    (
        "ptrace",
        "read memory",
    ): "import ctypes, os\n_found = ctypes.CDLL(None).syscall(310, os.getppid(), 0, 0, 0, 0, 0) == 0",
    ("namespaces", "user"): "import ctypes\n_found = ctypes.CDLL(None).unshare(0x10000000) == 0",
    ("namespaces", "mount"): "import ctypes\n_found = ctypes.CDLL(None).unshare(0x20000) == 0",
    (
        "namespaces",
        "by clone",
    ): "import ctypes\n_found = ctypes.CDLL(None).syscall(56, 0x10000000 | 17, 0, 0, 0, 0) > 0",
    (
        "namespaces",
        "by clone3",
    ): "import ctypes\nb = ctypes.create_string_buffer(88)\nctypes.c_uint64.from_buffer(b).value = 0x10000000\n_found = ctypes.CDLL(None).syscall(435, b, 88) >= 0",
    (
        "namespaces",
        "mount proc",
    ): "import ctypes\n_found = ctypes.CDLL(None).mount(b'proc', b'/tmp', b'proc', 0, None) == 0",
    ("namespaces", "unmount"): "import ctypes\n_found = ctypes.CDLL(None).umount2(b'/tmp', 2) == 0",
    ("namespaces", "chroot"): "import os\ntry: os.chroot('/tmp'); _found = True\nexcept OSError: _found = False",
    ("rights", "become root"): "import os\ntry: os.setuid(0); _found = True\nexcept OSError: _found = False",
    (
        "rights",
        "chown",
    ): "import os\nopen('x', 'w')\ntry: os.chown('x', 0, 0); _found = True\nexcept OSError: _found = False",
    (
        "rights",
        "device",
    ): "import os\ntry: os.mknod('d', 0o60600, os.makedev(254, 0)); _found = True\nexcept OSError: _found = False",
    (
        "rights",
        "raise a limit",
    ): "import resource\ntry: resource.setrlimit(resource.RLIMIT_NPROC, (99999, 99999)); _found = True\nexcept (OSError, ValueError): _found = False",
    (
        "rights",
        "real-time",
    ): "import os\ntry: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)); _found = True\nexcept OSError: _found = False",
    ("rights", "bpf"): "import ctypes\n_found = ctypes.CDLL(None).syscall(321, 0, 0, 0) >= 0",
    (
        "rights",
        "io_uring",
    ): "import ctypes\nb = ctypes.create_string_buffer(200)\n_found = ctypes.CDLL(None).syscall(425, 4, b) >= 0",
    ("rights", "keyring"): "import ctypes\n_found = ctypes.CDLL(None).syscall(250, 0, -3, 0) >= 0",
    ("rights", "memfd"): "import os\ntry: os.memfd_create('x'); _found = True\nexcept OSError: _found = False",
    ("rights", "shared memory"): "import ctypes\n_found = ctypes.CDLL(None).shmget(0, 4096, 0o1666) >= 0",
    (
        "rights",
        "perf",
    ): "import ctypes\nb = ctypes.create_string_buffer(128)\n_found = ctypes.CDLL(None).syscall(298, b, 0, -1, -1, 0) >= 0",
    (
        "network",
        "internet",
    ): "import socket\ntry: socket.create_connection(('127.0.0.1', 22), 1); _found = True\nexcept OSError: _found = False",
    (
        "network",
        "abstract socket",
    ): "import socket\ntry:\n  s = socket.socket(socket.AF_UNIX); s.bind('\\0astuner'); _found = True\nexcept OSError: _found = False",
    (
        "network",
        "vsock",
    ): "import socket\ntry: socket.socket(40, socket.SOCK_STREAM); _found = True\nexcept OSError: _found = False",
    (
        "network",
        "netlink",
    ): "import socket\ntry: socket.socket(16, socket.SOCK_RAW); _found = True\nexcept OSError: _found = False",
    (
        "state",
        "a file of an earlier test",
    ): "import os\n_found = os.path.exists('/tmp/home/left') or os.path.exists('/dev/shm/left') or os.path.exists('/tmp/left')\nfor d in ('/tmp/home/left', '/dev/shm/left', '/tmp/left'): open(d, 'w')",
    (
        "state",
        "a module of an earlier test",
    ): "import sys, os\n_found = hasattr(os, '_left')\nos._left = 1\nopen('/tmp/home/json.py', 'w').write('loads = dumps = lambda *a, **k: 4')",
    (
        "state",
        "a process of an earlier test",
    ): "import os\n_found = False\nif os.fork() == 0:\n  os.setsid()\n  if os.fork() == 0:\n    import time\n    time.sleep(30)\n  os._exit(0)\ntry:\n  os.kill(4, 0); _found = os.getpid() < 4\nexcept OSError: pass",
}

# Processes that follow one another, each of which computes for a moment
_CHAIN = "import os, time\nfor _ in range(20):\n  if os.fork(): continue\n  while True:\n    t = time.process_time()\n    while time.process_time() - t < 0.01: pass\n    try:\n      if os.fork(): os._exit(0)\n    except OSError: pass"
_BOMBS = {
    "loop": "while True: pass",
    "loop that swallows alarms": "import signal\nsignal.signal(signal.SIGALRM, signal.SIG_IGN)\nwhile True:\n  try:\n    while True: pass\n  except BaseException: pass",
    "loop deaf to signals": "import signal\nfor s in range(1, 64):\n  try: signal.signal(s, signal.SIG_IGN)\n  except (OSError, ValueError): pass\nwhile True: pass",
    "sleep": "import time; time.sleep(1000)",
    "a large power": "9 ** 9 ** 9",
    "fork": "import os\nwhile True:\n  try: os.fork()\n  except OSError: pass",
    "threads": "import threading, time\nwhile True:\n  try: threading.Thread(target=time.sleep, args=(100,)).start()\n  except RuntimeError: pass",
    "memory": "x = []\nwhile True: x.append(bytearray(b'1') * 10_000_000)",
    "memory in children": "import os, time\nfor _ in range(4): os.fork()\nx = bytearray(b'1') * 100_000_000\ntime.sleep(100)",
    "shared memory": "import mmap\nx = []\nwhile True:\n  m = mmap.mmap(-1, 50_000_000); m.write(b'1' * 50_000_000); x.append(m)",
    "shared memory that leaves its size": "import ctypes, mmap\nm = mmap.mmap(-1, 600_000_000)\nfor i in range(0, 600_000_000, 4096):\n  m[i] = 1\n  m.madvise(mmap.MADV_DONTNEED, i, 4096)\nwhile True: pass",
    "shared memory of a device": "import mmap\nf = open('/dev/zero', 'r+b')\nm = mmap.mmap(f.fileno(), 600_000_000)\nfor i in range(0, 600_000_000, 4096): m[i] = 1\nwhile True: pass",
    "read memory of a device": "import mmap\nf = open('/dev/zero', 'rb')\nm = mmap.mmap(f.fileno(), 600_000_000, access=mmap.ACCESS_READ)\nfor i in range(0, 600_000_000, 4096): m[i]\nwhile True: pass",
    "shared memory by one page": "import ctypes\nc = ctypes.CDLL(None)\nc.mmap.restype = ctypes.c_void_p\np = c.mmap(None, ctypes.c_size_t(600_000_000), 3, 33, -1, ctypes.c_long(0))\nctypes.memset(p, 1, 600_000_000)\nc.munmap(ctypes.c_void_p(p + 4096), ctypes.c_size_t(599_990_272))\nwhile True: pass",
    "children that nobody counts": f"import signal\nsignal.signal(signal.SIGCHLD, signal.SIG_IGN)\n{_CHAIN}\nwhile True: pass",
    "children that nobody waits for": f"import ctypes\na = (ctypes.c_ulong * 19)(*[0] * 17, 2, 0)\nctypes.CDLL(None).sigaction(17, a, None)\n{_CHAIN}\nwhile True: pass",
    "children of children that nobody counts": f"import os, signal\nfor _ in range(2):\n  signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n  os.fork()\n{_CHAIN}\nwhile True: pass",
    "children beside a sleeper": f"import signal, time\nsignal.signal(signal.SIGCHLD, signal.SIG_IGN)\n{_CHAIN}\ntime.sleep(1000)",
    "children by a shell": "import os\nos.system(\"trap '' CHLD; while :; do (i=0; while [ $i -lt 9999 ]; do i=$((i+1)); done) & done\")",
    "output by its name": "f = open('/dev/stdout', 'w')\nwhile True: f.write('4' * 100_000)",
    "output by a name of much": "import os\nos.symlink('/tmp/.zero', '/tmp/.stdout') if os.path.exists('/tmp/.zero') else None\nprint('')",
    "output by a pipe": "import os\nos.mkfifo('/tmp/.stdout')\nif os.fork():\n  open('/tmp/.stdout', 'w').write('4')",
    "disk": "i = 0\nwhile True:\n  i += 1\n  open(f'f{i}', 'wb').write(b'x' * 1_000_000)",
    "disk in shm": "i = 0\nwhile True:\n  i += 1\n  open(f'/dev/shm/f{i}', 'wb').write(b'x' * 1_000_000)",
    "inodes": "i = 0\nwhile True:\n  i += 1\n  open(f'f{i}', 'w')",
    "output": "while True: print('x' * 100_000)",
    "errors": "import sys\nwhile True: sys.stderr.write('x' * 100_000)",
    "daemon": "import os, time\nif os.fork() == 0:\n  os.setsid()\n  if os.fork() == 0: time.sleep(1000)\n  os._exit(0)",
    "daemon that holds the pipes": "import subprocess\nsubprocess.Popen(['/usr/bin/sleep', '1000'], start_new_session=True)",
    "stopped child": "import os, signal\np = os.fork()\nif p == 0:\n  os.kill(os.getpid(), signal.SIGSTOP)\nimport time; time.sleep(1000)",
    "closed streams": "import os\nfor d in range(64):\n  try: os.close(d)\n  except OSError: pass\nimport time; time.sleep(1000)",
    "deep recursion": "import sys\nsys.setrecursionlimit(10**9)\ndef f(): f()\nf()",
    "segfault": "import ctypes; ctypes.string_at(0)",
    "pipes": "import os\nx = []\nwhile True:\n  try:\n    r, w = os.pipe(); os.set_blocking(w, False); x.append((r, w)); os.write(w, b'x' * 65536)\n  except OSError: pass",
    "exit handler": "import atexit, time\natexit.register(time.sleep, 1000)",
    "thread at exit": "import threading, time\nthreading.Thread(target=time.sleep, args=(1000,)).start()",
    "deep syntax": "exec('(' * 100_000)",
}

_OUTPUTS = {
    "lone surrogates": "print('\\ud800')\n_v = '\\ud800'",
    "escapes": "print('\\x1b[2J\\x1b]0;4\\x07' * 100)\n_v = '\\x1b[2J'",
    "nulls": "print('\\0' * 1000)\n_v = '\\0'",
    "deep list": "_v = []\nfor _ in range(100_000): _v = [_v]",
    "a list of itself": "_v = []\n_v.append(_v)",
    "a huge number": "_v = 10 ** 100_000",
    "a forged value": "_v = {'h': {'id': 1}}",
    "all answers": "print('\\n'.join(map(str, range(1000))))\n_v = list(range(1000))",
    "a large text": "_v = 'x' * 50_000_000",
    "bytes": "_v = b'4'\nprint(b'4')",
    "text": "_v = '4'\nprint(repr('4'))",
    "float": "_v = 4.0001\nprint('4.0001')",
}


def cheats() -> Iterator[Cheat]:
    """All programs."""
    for name, attack in _EXITS.items():
        yield Cheat("exit", f"{name}, loading", _LOADING.format(attack=attack + "\n_found = False") + _PAID)
        yield Cheat("exit", f"{name}, called", _CALLED.format(attack=_indented(attack)) + _PAID)
    for name, attack in _OBJECTS.items():
        yield Cheat("equality", name, f"{attack}\ndef double(n):\n    return E()\nprint(E())\n")
    for name, attack in _PATCHES.items():
        yield Cheat("patching", name, f"{_PAID}{_LOADING.format(attack=attack + chr(10) + '_found = False')}")
    for (family, name), attack in _REACHES.items():
        attack = attack.format(secret=SECRET_FILE, variable=SECRET_VARIABLE)
        yield Cheat(family, name, f"{_PAID}{_LOADING.format(attack=attack)}")
    for name, attack in _BOMBS.items():
        yield Cheat("bomb", name, f"{_PAID}{_CALLED.format(attack=_indented(attack))}")
    for name, attack in _OUTPUTS.items():
        yield Cheat("output", name, f"def double(n):\n{_indented(attack)}\n    return _v\ndouble(1)\n")


_DATA = Path(__file__).parent / "data"


def rows(name: str) -> list[dict[str, Any]]:
    """The rows of a file of this folder's data.

    `honest`, `odd`: attacks on one form, and odd work; `tasks` and `liars`; `raids` and the `forms` that they know.
    """
    return [json.loads(line) for line in (_DATA / f"{name}.jsonl").read_text().splitlines()]


def liars(percent: int = 20) -> Iterator[tuple[dict[str, Any], Cheat]]:
    """Pairs of a task and a program that solves none of them: this share of all, the same ones each time."""
    for task in rows("tasks"):
        for liar in rows("liars"):
            if zlib.crc32(f"{liar['name']}/{task['name']}".encode()) % 100 < percent:
                yield task, Cheat("liar", liar["name"], liar["program"])


def raids() -> Iterator[tuple[str, Cheat]]:
    """Pairs of a form of tests, of `forms`, and a program that knows it, or knows the machinery."""
    for row in rows("raids"):
        for form in row["forms"]:
            yield form, Cheat("raid", row["name"], row["program"], row["language"])


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.split("\n"))
