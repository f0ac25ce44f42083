r"""`make ablate`: what each rule and each row of a table of the math judge earns, over all rows of the repository.

Everything that `benchmarks.math.removals` finds in `agentscope_tuner/verify/math` and in what finds the answer is taken
out in turn, and rows that may meet it are judged without it: those that run a rule, which one pass over marked modules
tells, and those that hold the words of a part of a table. `--most` rows are judged, fewer where many change: counts are
lower bounds. Parts of which no row meets two are tried at once.

What seems to earn nothing is then taken out all at once, all rows are judged, and what changes one is found by halving.
So the list of what earns nothing holds for all rows, and together, where the report says that it changes 0: of two
rules that do the same, one is on it. Where time was short, it says how many rows the list still changes. The report
stands in `out/ablate.md`: what each part earns, and that list.

`--cases` are more files of labelled pairs, `--rollouts` of rollouts; `--only` leaves out the modules whose path does
not contain the text.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, reduce
from operator import and_, or_
from pathlib import Path
from types import CodeType
from typing import Any, NamedTuple

from benchmarks.math.ablate_rows import PACKAGE, Changed, Judging, Row, corpora, rows
from benchmarks.math.removals import TABLE_KINDS, Removal, marked, removals, without

OUT = Path("out/ablate.md")
SEED, MOST = 0, 100
JUDGE = f"{PACKAGE}.verify"
# What runs the worker, and judges nothing
PLUMBING = {f"{JUDGE}.{name}" for name in ("sandbox", "sandbox_process", "sandbox_worker", "queued_pair", "turns")}
# A row that takes longer in a pass with nothing taken out may change its verdict by itself
SLOW_SECONDS = 0.5
CHILD_CPU_SECONDS, CHILD_BYTES, MOST_LATE = 240, 6 * 2**30, 5
# So many changed rows are enough to say that a part earns something
ENOUGH = 10
# Rounds of taking out all idle parts, each without those that the one before found to blame
MOST_ROUNDS = 6
# Changed modules that are kept: while a group is halved, most of them stay as they are
MOST_COMPILED = 200
# Parts that are tried at once, and batches that another part may join
MOST_AT_ONCE, MOST_OPEN = 32, 200
# Of `most` rows, one in so many is judged without a part of a table: there are many, and their rows are known less well
_FEWER = 4


class Part(NamedTuple):
    """Something that can be taken out: the `number`th of a module's removals."""

    module: str
    number: int
    removal: Removal

    @property
    def place(self) -> str:
        """Module and line, as people write them."""
        return f"{self.module.removeprefix(JUDGE + '.').replace('.', '/')}.py:{self.removal.line}"


Verdicts = dict[int, bool | None]


@dataclass
class Found:
    """What taking out one part does: the rows that were judged, those that changed, and whether the package broke.

    `tried` is False where there was no time for it.
    """

    judged: int = 0
    changed: Verdicts = field(default_factory=dict)
    broken: str = ""
    tried: bool = True

    @property
    def idle(self) -> bool:
        """Whether it earns nothing."""
        return self.tried and not self.changed and not self.broken


@dataclass
class World:
    """The rows and their verdicts with nothing taken out, and the modules' texts."""

    rows: list[Row]
    sources: dict[str, str]
    compiled: dict[str, CodeType]
    jobs: int
    verdicts: list[bool | None] = field(default_factory=list)
    slow: set[int] = field(default_factory=set)
    met: dict[tuple[str, int], list[int]] = field(default_factory=dict)
    without: dict[tuple[str, frozenset[int]], CodeType] = field(default_factory=dict)

    @classmethod
    def of(cls, chosen: Sequence[Row], only: str, jobs: int) -> World:
        """The world of these rows; imports the package once, to have its modules and libraries at hand."""
        compiled: dict[str, CodeType] = {}
        Changed(compiled, {}).install()
        judging = Judging()
        for text in ("\\boxed{2\\sqrt[3]{2}}", "\\boxed{\\int_0^1 x^x dx}"):
            judging.verdict(Row("", "\\sqrt[3]{16}", text, None))
        __import__("sympy")
        sources = {}
        for name, module in list(sys.modules.items()):
            path = getattr(module, "__file__", None)
            if name.startswith(f"{JUDGE}.") and name not in PLUMBING and path and only in path:
                sources[name] = Path(path).read_text(encoding="utf-8")
        sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, Changed)]
        return cls(list(chosen), sources, compiled, jobs)

    def parts(self) -> list[Part]:
        """Everything that can be taken out."""
        return [
            Part(name, number, removal)
            for name, source in sorted(self.sources.items())
            for number, removal in enumerate(removals(source))
        ]

    def measure(self) -> None:
        """Judge every row with nothing taken out, and note which rules it runs."""
        slices = [range(start, len(self.rows), 4 * self.jobs) for start in range(4 * self.jobs)]
        results = list(in_children([lambda one=one: self._measured(one) for one in slices], self.jobs))  # type: ignore[misc]
        self.verdicts = [None] * len(self.rows)
        met = defaultdict(list)
        for _, result in results:
            if "error" in result:
                raise SystemExit(result["error"])
            for at, verdict, seconds, ran in result["rows"]:
                self.verdicts[at] = verdict
                if seconds > SLOW_SECONDS:
                    self.slow.add(at)
                    continue
                for name, index in ran:
                    met[name, index].append(at)
        self.met = dict(met)

    def _measured(self, places: range) -> dict[str, Any]:
        ran: dict[str, set[int]] = {name: set() for name in self.sources}
        Changed(
            self.compiled, {name: _compiled(marked(source)) for name, source in self.sources.items()}, ran
        ).install()
        judging = Judging()
        judging.verdict(self.rows[0])
        found = []
        for at in places:
            forget_results()
            for numbers in ran.values():
                numbers.clear()
            started = time.process_time()
            verdict = judging.verdict(self.rows[at])
            seconds = time.process_time() - started
            found.append((at, verdict, seconds, [(name, one) for name, numbers in ran.items() for one in numbers]))
        return {"rows": found}

    def codes(self, parts: Sequence[Part]) -> dict[str, CodeType]:
        """The modules without some parts, compiled."""
        chosen = defaultdict(set)
        for part in parts:
            chosen[part.module].add(part.number)
        found = {}
        if len(self.without) > MOST_COMPILED:
            self.without.clear()
        for name, numbers in chosen.items():
            key = name, frozenset(numbers)
            if key not in self.without:
                self.without[key] = _compiled(without(self.sources[name], numbers))
            found[name] = self.without[key]
        return found

    def changed(self, codes: dict[str, CodeType], places: Sequence[int], enough: int) -> dict[str, Any]:
        """Judge rows by changed modules, in this process; run in a child of its own. It ends at `enough` changes."""
        Changed(self.compiled, codes).install()
        judging = Judging()
        return self._judged(judging, places, enough)

    def tried(self, batch: Sequence[Trial]) -> dict[str, Any]:
        """Take out the parts of a batch, and judge the rows of each; run in a child of its own."""
        Changed(self.compiled, self.codes([trial.part for trial in batch])).install()
        judging = Judging()
        return {"parts": [self._judged(judging, trial.places, ENOUGH) for trial in batch]}

    def _judged(self, judging: Judging, places: Sequence[int], enough: int) -> dict[str, Any]:
        found: dict[int, bool | None] = {}
        judged = late = 0
        for at in places:
            if len(found) >= enough or late >= MOST_LATE:
                break
            started = time.process_time()
            verdict = judging.verdict(self.rows[at])
            late += verdict is None and time.process_time() - started > SLOW_SECONDS
            judged += 1
            if verdict is not self.verdicts[at]:
                found[at] = verdict
        return {"judged": judged, "changed": list(found.items())}


def _compiled(tree: ast.Module) -> CodeType:
    return compile(tree, "changed", "exec", dont_inherit=True)


def forget_results() -> None:
    """Clear the package's caches: a row that takes a result from them runs no rule."""
    for name, module in list(sys.modules.items()):
        if name.startswith(f"{JUDGE}."):
            for thing in list(vars(module).values()):
                clear = None if isinstance(thing, type) else getattr(thing, "cache_clear", None)
                if clear is not None:
                    clear()


Task = Callable[[], dict[str, Any]]


def in_children(tasks: Sequence[Task], jobs: int) -> Iterator[tuple[int, dict[str, Any]]]:
    """Run each task in a child that is forked for it, and give its number and its result, or an `error`."""
    waiting = list(enumerate(tasks))[::-1]
    running: dict[int, tuple[int, Any]] = {}
    while waiting or running:
        while waiting and len(running) < jobs:
            number, task = waiting.pop()
            # Closed once its child has ended
            kept = tempfile.TemporaryFile()  # noqa: SIM115
            pid = os.fork()
            if not pid:
                _child(task, kept)
            running[pid] = (number, kept)
        pid, status = os.wait()
        number, kept = running.pop(pid)
        kept.seek(0)
        text = kept.read()
        kept.close()
        code = os.waitstatus_to_exitcode(status)
        yield number, json.loads(text) if code == 0 else {"error": text.decode() or f"ended with {code}"}


def _child(task: Task, kept: Any) -> None:
    code = 1
    try:
        resource.setrlimit(resource.RLIMIT_CPU, (CHILD_CPU_SECONDS, CHILD_CPU_SECONDS))
        resource.setrlimit(resource.RLIMIT_AS, (CHILD_BYTES, CHILD_BYTES))
        signal.signal(signal.SIGXCPU, signal.SIG_DFL)
        result = json.dumps(task())
        kept.write(result.encode())
        code = 0
    # boundary: whatever the changed package raises must not let the child go on as its parent does
    except BaseException as exc:  # noqa: BLE001
        kept.write("".join(traceback.format_exception_only(exc)).strip().encode())
    finally:
        kept.flush()
        os._exit(code)


class Trial(NamedTuple):
    """A part, the rows that may meet it, as the bits of a number, and those of them that are to be judged."""

    part: Part
    meets: int
    places: list[int]


def trials(world: World, parts: Sequence[Part], most: int) -> list[Trial]:
    """For each part that a row may meet, rows drawn at random; those with all words of a part of a table first."""
    spoken = [row.spoken() for row in world.rows]
    usable = _bits(at for at in range(len(spoken)) if at not in world.slow)

    @cache
    def holding(word: str) -> int:
        return _bits(at for at, text in enumerate(spoken) if word in text) & usable

    found = []
    for part in parts:
        draw = random.Random(f"{SEED}/{part.module}/{part.number}")
        if part.removal.kind in TABLE_KINDS:
            by_word = [holding(word) for word in part.removal.words] or [usable]
            meets = reduce(or_, by_word)
            every = reduce(and_, by_word)
            fewer = max(1, most // _FEWER)
            places = _drawn(draw, every, fewer)
            places += _drawn(draw, meets & ~every, fewer - len(places))
        else:
            meets = _bits(world.met.get((part.module, part.number), ()))
            places = _drawn(draw, meets, most)
        if places:
            found.append(Trial(part, meets, places))
    return found


def _bits(places: Iterable[int]) -> int:
    text = bytearray()
    for at in places:
        if at // 8 >= len(text):
            text.extend(bytes(at // 8 + 1 - len(text)))
        text[at // 8] |= 1 << at % 8
    return int.from_bytes(text, "little")


def _drawn(draw: random.Random, bits: int, most: int) -> list[int]:
    places = [at for at, bit in enumerate(reversed(f"{bits:b}")) if bit == "1"]
    return draw.sample(places, min(most, len(places)))


def batches(chosen: Iterable[Trial]) -> list[list[Trial]]:
    """Trials that can be made at once, as no row that is judged for one meets another; each batch is of one module."""
    made: list[list[Trial]] = []
    open_: list[tuple[list[Trial], int, int]] = []
    module = ""
    for trial in chosen:
        if trial.part.module != module:
            module, open_ = trial.part.module, []
        judged = _bits(trial.places)
        for at, (batch, meets, places) in enumerate(open_):
            if len(batch) < MOST_AT_ONCE and not judged & meets and not places & trial.meets:
                batch.append(trial)
                open_[at] = (batch, meets | trial.meets, places | judged)
                break
        else:
            made.append([trial])
            open_ = [*open_[-MOST_OPEN:], (made[-1], trial.meets, judged)]
    # Where time is short, many parts are tried first
    return sorted(made, key=len, reverse=True)


def each(world: World, parts: Sequence[Part], most: int, until: float) -> dict[Part, Found]:
    """What each part does. One that no row meets is not tried; one whose turn comes after `until` neither."""
    found = {part: Found() for part in parts}
    waiting = batches(trials(world, parts, most))
    print(f"{sum(map(len, waiting)):,} are met by a row; {len(waiting):,} batches", flush=True)
    _try_batches(world, waiting, until, found)
    # One part may break a batch: each of them is tried alone
    alone = [[trial] for batch in waiting for trial in batch if len(batch) > 1 and found[trial.part].broken]
    _try_batches(world, alone, until, found)
    return found


def _try_batches(world: World, waiting: Sequence[list[Trial]], until: float, found: dict[Part, Found]) -> None:
    def task(batch: Sequence[Trial]) -> Task:
        return lambda: world.tried(batch) if time.monotonic() < until else {"untried": True}

    for done, (number, result) in enumerate(in_children([task(batch) for batch in waiting], world.jobs), 1):
        for at, trial in enumerate(waiting[number]):
            if "untried" in result:
                found[trial.part] = Found(tried=False)
            else:
                found[trial.part] = _found(result if "error" in result else result["parts"][at])
        if done % 100 == 0:
            print(f"  {done} of {len(waiting)}", flush=True)


def _found(result: dict[str, Any]) -> Found:
    if "error" in result:
        return Found(broken=result["error"].splitlines()[-1][:80])
    return Found(result["judged"], dict(result["changed"]))


def at_once(world: World, parts: Sequence[Part], places: Sequence[int]) -> Found:
    """What taking out all of the parts does to the rows."""
    codes, slices = world.codes(parts), max(1, min(world.jobs, len(places) // 50))
    tasks = [lambda one=places[start::slices]: world.changed(codes, one, len(one) + 1) for start in range(slices)]
    found = Found()
    for _, result in in_children(tasks, world.jobs):
        one = _found(result)
        found.changed |= one.changed
        found.broken = found.broken or one.broken
    return found


def blamed(
    world: World, parts: Sequence[Part], out: Sequence[Part], places: Sequence[int], until: float
) -> dict[Part, Found]:
    """Those of the parts that change a verdict when all of `out` are out already, found by halving.

    After `until` nothing more is told apart, nor blamed.
    """
    if time.monotonic() > until:
        return {}
    found = at_once(world, [*out, *parts], places)
    if not found.changed and not found.broken:
        return {}
    if len(parts) == 1:
        return {parts[0]: found}
    left, right = parts[: len(parts) // 2], parts[len(parts) // 2 :]
    affected = places if found.broken else list(found.changed)
    guilty = blamed(world, left, out, affected, until)
    kept_out = [*out, *(part for part in left if part not in guilty)]
    return guilty | blamed(world, right, kept_out, affected, until)


def together(world: World, idle: Sequence[Part], until: float) -> tuple[dict[Part, Found], int | None]:
    """Which of the idle parts do change a verdict, and the rows that change without all the others.

    None where that is not known, because the package does not load without them.
    """
    places = [at for at in range(len(world.rows)) if at not in world.slow]
    guilty: dict[Part, Found] = {}
    for _ in range(MOST_ROUNDS):
        left = [part for part in idle if part not in guilty]
        found = at_once(world, left, places)
        if (not found.changed and not found.broken) or time.monotonic() > until:
            return guilty, None if found.broken else len(found.changed)
        affected = places if found.broken else list(found.changed)
        guilty |= blamed(world, left, [], affected, until)
        print(f"  {len(guilty):,} of them change a verdict", flush=True)
    found = at_once(world, [part for part in idle if part not in guilty], places)
    return guilty, None if found.broken else len(found.changed)


class Earned(NamedTuple):
    """What something is worth, in rows: right answers paid and wrong ones not, which would else be otherwise."""

    kept: int
    stopped: int
    refused: int
    paid: int
    other: int

    def cells(self) -> str:
        return " | ".join(str(count) for count in self)


def earned(world: World, changed: Verdicts) -> Earned:
    """Count changed verdicts by the rows' labels."""
    count: Counter[str] = Counter()
    for at, verdict in changed.items():
        right, before = world.rows[at].right, world.verdicts[at]
        if right is None or (verdict is True) is (before is True):
            count["other"] += 1
        elif right:
            count["kept" if before is True else "refused"] += 1
        else:
            count["paid" if before is True else "stopped"] += 1
    return Earned(*(count[name] for name in Earned._fields))


HEAD = "parts | earn nothing | right kept | wrong stopped | right refused | wrong paid | other changes |"


def report(world: World, found: dict[Part, Found], rest: int | None) -> str:
    """The whole report, in Markdown; `rest`: the rows that change without all idle parts, None if not known."""
    idle = [part for part, one in found.items() if one.idle]
    untried = sum(not one.tried for one in found.values())
    lines = [
        "# What the rules and tables of the math judge earn",
        "",
        f"{len(world.rows):,} rows, of which {len(world.slow)} were too slow to be compared; {len(found):,} parts, of "
        f"which {len(idle):,} change no verdict; taken out all at once, they change "
        f"{'a number of verdicts that is not known' if rest is None else rest}."
        + (f" For {untried:,} there was no time." if untried else ""),
        "",
        "Right kept: rows labelled right that would not be paid without it. Wrong stopped: rows labelled wrong that "
        "would be. Right refused and wrong paid: what it costs. Other: rows without a label, and lost verdicts.",
    ]
    by_kind = _grouped(found, lambda part: part.removal.kind)
    lines += [
        "",
        f"| kind | {HEAD}",
        "| --- |" + " --- |" * 7,
        *(_line(world, k, p, found) for k, p in by_kind.items()),
    ]
    by_module = _grouped(found, lambda part: part.place.partition(":")[0])
    lines += ["", f"| module | {HEAD}", "| --- |" + " --- |" * 7]
    lines += [_line(world, k, p, found) for k, p in by_module.items()]
    for title, tables in (("table", True), ("rule", False)):
        groups = _grouped(
            {part: one for part, one in found.items() if (part.removal.kind in TABLE_KINDS) is tables},
            lambda part: f"{part.place.partition(':')[0]} `{part.removal.of}`",
        )
        lines += ["", f"| {title} | {HEAD}", "| --- |" + " --- |" * 7]
        lines += [_line(world, k, p, found) for k, p in groups.items()]
    lines += ["", "## What earns nothing", ""]
    for name, parts in _grouped(dict.fromkeys(idle), lambda part: f"{part.place} `{part.removal.of}`").items():
        said = ", ".join(f"`{part.removal.what}`" for part in parts)
        lines.append(f"- {name}: {said}")
    broken = [part for part, one in found.items() if one.broken]
    lines += ["", f"{len(broken)} parts cannot be taken out: the package does not load without them, or loops."]
    return "\n".join(lines) + "\n"


def _grouped(found: dict[Part, Any], key: Callable[[Part], str]) -> dict[str, list[Part]]:
    groups = defaultdict(list)
    for part in found:
        groups[key(part)].append(part)
    return dict(groups)


def _line(world: World, name: str, parts: Sequence[Part], found: dict[Part, Found]) -> str:
    changed: Verdicts = {}
    for part in parts:
        changed |= found[part].changed
    idle = sum(found[part].idle for part in parts)
    return f"| {name.replace('|', chr(92) + '|')} | {len(parts)} | {idle} | {earned(world, changed).cells()} |"


def ablate(world: World, most: int, seconds: float, output: Path) -> str:
    """Take out every part in turn, for so many seconds, then what is idle at once; the report is written twice."""
    until = time.monotonic() + seconds
    world.measure()
    parts = world.parts()
    print(f"{len(world.rows):,} rows measured; {len(parts):,} parts", flush=True)
    found = each(world, parts, most, until)
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(report(world, found, None), encoding="utf-8")
    idle = [part for part, one in found.items() if one.idle]
    print(f"{len(idle):,} parts seem to earn nothing: all of them at once", flush=True)
    guilty, rest = together(world, idle, time.monotonic() + seconds)
    text = report(world, found | guilty, rest)
    output.write_text(text, encoding="utf-8")
    return text


def main() -> int:
    """0: this measures, and has no bar."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=Path, nargs="*", default=[], help="more files of labelled pairs")
    parser.add_argument("--rollouts", type=Path, nargs="*", default=[], help="more files of rollouts")
    parser.add_argument("--alone", action="store_true", help="without the repository's own rows")
    parser.add_argument("--only", default="", help="only modules whose path contains this")
    parser.add_argument("--most", type=int, default=MOST, help="rows judged without a part that changes some")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument(
        "--minutes",
        type=float,
        default=1e6,
        help="nothing more is taken out alone after this time, nor at once after twice as long",
    )
    parser.add_argument("--output", type=Path, default=OUT)
    asked = parser.parse_args()
    started = time.monotonic()
    world = World.of(rows([*([] if asked.alone else corpora()), *asked.cases, *asked.rollouts]), asked.only, asked.jobs)
    text = ablate(world, asked.most, 60 * asked.minutes, asked.output)
    print(text.partition("\n| table |")[0])
    print(f"{asked.output}: {time.monotonic() - started:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
