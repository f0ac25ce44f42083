"""The judge in a trainer's process: loaded once, then asked for single rollouts, batches or whole groups."""

from __future__ import annotations

import asyncio
import logging
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, cast

from agentscope_tuner._run import loops
from agentscope_tuner._run.fair_queue import one_request
from agentscope_tuner._run.forks import own_lock
from agentscope_tuner.config import Source, resolve
from agentscope_tuner.errors import Cause, JudgeError, judge_error
from agentscope_tuner.task_judge.contract.deadline import TimeLimit
from agentscope_tuner.task_judge.contract.judgement import RULES_REWARD, Judgement
from agentscope_tuner.task_judge.contract.loading import load_judge
from agentscope_tuner.workflow import Task, WorkflowOutput, WorkflowTask

if TYPE_CHECKING:
    from agentscope_tuner.task_judge.run_log import RunLog

_log = logging.getLogger(__name__)
Pair = tuple[WorkflowTask, WorkflowOutput]
# So many first verdicts of a run are searched for a mistake in the configuration, which is logged once
_FIRST = 64

_REASON_CHARS = 300
# Seconds that a batch may judge before it waits for its next turn on its event loop
_TURN_SECONDS = 0.005


def _hints(judgements: Sequence[Judgement]) -> Iterator[str]:
    """Hints at a likely mistake in the configuration, each a line for the log, from a run's first verdicts.

    Such as: half of the answers are in a place that is not read; one rule filters half of the rows; none is a success.
    """
    from agentscope_tuner.task_judge.math_answer_as_judge import ELSEWHERE, elsewhere_note

    metrics = Counter(name for each in judgements for name in each.metrics if name.startswith(ELSEWHERE))
    rules = Counter(rule for each in judgements if each.status == "filtered" for rule in set(each.violations))
    told = False
    for metric, count in metrics.most_common(1):
        if 2 * count >= len(judgements):
            told = True
            yield elsewhere_note(metric, str(count))
    for rule, count in rules.most_common(1):
        if 2 * count >= len(judgements):
            told = True
            yield f"{count} are filtered by {rule!r} of astuner.task_judge.rules, and never judged"
    judged = [each for each in judgements if each.status == "judged"]
    if 2 * len(judged) >= len(judgements) and not told and not any(each.is_success for each in judged):
        first = judged[0].reason.partition(":")[0]
        alike = [each.reason for each in judged if each.reason.partition(":")[0] == first]
        yield f"none is a success; the reason of {len(alike)} is like this one: {judged[0].reason[:_REASON_CHARS]}"


class UnreadOutput(WorkflowOutput):
    """The output of a row that could not be read: no judge is asked about it, and its verdict is a failed one.

    Attributes:
        why: what could not be read.
        cause: `input`; or `rollout` if the row holds no output.
    """

    why: str
    cause: Cause = Cause.INPUT


def read_or_unread(read: Callable[[Any], Pair], completion: Any) -> Pair:
    """The row's task and output by `read(completion)`; if that fails, an `UnreadOutput` in place of the output.

    Each row of a batch is read by itself, so that one that cannot be read costs the others no verdict.

    Raises:
        JudgeError: as `read`, for anything but the row's own fault.
    """
    try:
        return read(completion)
    except JudgeError as exc:
        if exc.cause not in (Cause.INPUT, Cause.ROLLOUT):
            raise
        why, cause = exc.message, exc.cause
    try:
        task, output = read("")
    # the prompt's fault, then
    except JudgeError:
        task, output = WorkflowTask(task=Task()), WorkflowOutput()
    return task, UnreadOutput(metadata=output.metadata, why=why, cause=cause)


class ConfiguredJudge:
    """`load_judge(config)` with the methods that every adapter needs.

    Args:
        config: as `load_judge` takes it; not changed.
        logs: whether verdicts are written to `log_dir`, where the configuration names one: the verdicts of an audit or
            of a second opinion are no rows of the run.

    Attributes:
        name: `astuner.task_judge.name`, or the judge's class name, for metrics and logs.
        listwise: whether the judge ranks whole advantage groups.
        reference_keys, component_names, gives_turns: see BaseJudge.
        is_cheap: whether the judge computes, within a bound of its own, so that its verdicts wait only for a worker.
        at_once: the most rows, or groups of a judge that ranks, to be judged at once.
        metric_names: the metrics that trainers get for every sample: `astuner.task_judge.metric_names`, or those of the
            judge's class.

    Raises:
        ConfigError: the judge cannot be loaded.
    """

    def __init__(self, config: Source, *, logs: bool = True) -> None:
        settings = resolve(config)
        self._judge = load_judge(settings)
        section = settings.task_judge
        self._zero_on_error = section.on_error == "zero"
        self._rule_reward = section.rule_reward
        traits = self._judge.traits
        self.name = section.name or traits.name
        own = self._judge.inner.metric_names
        self.metric_names = tuple(own if section.metric_names is None else section.metric_names)
        self.listwise = traits.ranks
        self.reference_keys = self._judge.inner.reference_keys
        self.component_names = self._judge.inner.component_names
        self.gives_turns = self._judge.inner.gives_turns
        self.is_cheap = traits.kind == "cpu" and traits.bounded and not traits.ranks
        self.at_once = self._judge.at_once(section.concurrency)
        #: The training step that a trainer is in, for the log; None where its adapter does not know.
        self.step: int | None = None
        self._run_log: RunLog | None = None
        # None once the hint was given, or is not wanted
        self._first: list[Judgement] | None = [] if logs else None
        if section.log_dir and logs:
            from agentscope_tuner.task_judge.run_log import RunLog

            self._run_log = RunLog(Path(section.log_dir), share=section.log_share)

    def read(self, task: Task) -> Task:
        """The task as the judge is given it, its question and answer read from the columns that `reads` names.

        Raises:
            JudgeError: the task lacks a column that is named for its answer.
        """
        return self._judge.read(task)

    def judge(self, task: WorkflowTask, output: WorkflowOutput) -> Judgement:
        """One verdict, or the reason why there is none."""
        found = self._unread((task, output)) or self._judge.judge(task, output)
        return self._logged([(task, output)], [found])[0]

    async def ajudge(self, task: WorkflowTask, output: WorkflowOutput) -> Judgement:
        """`judge` for callers inside an event loop, which goes on meanwhile."""
        return self._logged([(task, output)], [await self._ajudge(task, output)])[0]

    async def _ajudge(self, task: WorkflowTask, output: WorkflowOutput) -> Judgement:
        try:
            return self._unread((task, output)) or await self._judge.ajudge(task, output)
        # A server handles Ctrl-C by a signal handler, so the judge itself raised this error, and it must not end the
        # server
        except KeyboardInterrupt as exc:
            error = JudgeError(f"{self.name}: {exc!r}", task_id=task.task_id, cause=Cause.BUG)
            return Judgement.failed(error)

    async def aready(self, limit: TimeLimit) -> None:
        """Returns if the judge could judge now; see `BaseJudge.aready`.

        Args:
            limit: seconds for the answer. A judge that does not bound itself may block its loop, so it is asked on the
                judges' loop.

        Raises:
            DeadlineError: no answer in time.
        """
        await limit.awaited("", self._judge.inner.aready, on_this_loop=self._judge.traits.bounded)

    def judge_batch(self, pairs: Sequence[Pair]) -> list[Judgement]:
        """A verdict for each pair, in order. Neighbours with one task id are a group, whole for listwise judges."""
        if self.listwise:
            return [judgement for group in groups(pairs) for judgement in self.judge_group(group)]
        return loops.run(self.ajudge_batch(pairs))

    async def ajudge_batch(self, pairs: Sequence[Pair]) -> list[Judgement]:
        """`judge_batch` for callers inside an event loop."""
        return cast("list[Judgement]", await self.ajudge_until(pairs, None))

    async def ajudge_until(self, pairs: Sequence[Pair], ends_at: float | None) -> list[Judgement | None]:
        """`ajudge_batch` until a given time; rows without a verdict by then are cancelled and get None.

        Args:
            ends_at: the end, by the running loop's clock; None for no end.
        """
        judgements: list[Judgement | None] = [None] * len(pairs)
        try:
            async with asyncio.timeout_at(ends_at) as limit:
                await (self._judge_groups_into if self.listwise else self._judge_rows_into)(judgements, pairs)
        except TimeoutError:
            if not limit.expired():
                raise
        return judgements

    def judge_group(self, group: Sequence[Pair]) -> list[Judgement]:
        """A verdict for each output of an advantage group, in order. The first task is used for all of them.

        Outputs that could not be read get a failed verdict; a judge that ranks then ranks the others.
        """
        asked, known = self._readable(group)
        judged = known if not asked else self._judge.judge_group(asked[0][0], [output for _, output in asked])
        return self._logged(group, self._in_place(group, judged))

    async def ajudge_group(self, group: Sequence[Pair]) -> list[Judgement]:
        """`judge_group` for callers inside an event loop."""
        asked, known = self._readable(group)
        with one_request():
            outputs = [output for _, output in asked]
            judged = known if not asked else await self._judge.ajudge_group(asked[0][0], outputs)
        return self._logged(group, self._in_place(group, judged))

    def _unread(self, pair: Pair) -> Judgement | None:
        """The failed verdict on an output that could not be read; None for any other output."""
        task, output = pair
        return self._refused(task, output.why, output.cause) if isinstance(output, UnreadOutput) else None

    def _refused(self, task: WorkflowTask, why: str, cause: Cause = Cause.INPUT) -> Judgement:
        return Judgement.failed(JudgeError(why, task_id=task.task_id, judge=self.name, cause=cause))

    def _readable(self, group: Sequence[Pair]) -> tuple[list[Pair], list[Judgement]]:
        """The pairs of a group to ask the judge about, or else none, and a failed verdict for each readable pair.

        The latter if the group must not be ranked as one, or if only one output is readable and has no rank alone.
        """
        read = [pair for pair in group if not isinstance(pair[1], UnreadOutput)]
        if refused := self._judge.refused([task.task for task, _ in read]):
            return [], refused
        alone = len(read) == 1 < len(group) and self.listwise
        if alone and not self._judge.inner.ranks_alone(read[0][0]):
            told = (
                f"the other {len(group) - 1} of its group could not be read, and {self.name} has none to rank it with"
            )
            return [], [self._refused(read[0][0], told)]
        return read, []

    def _in_place(self, group: Sequence[Pair], judged: Iterable[Judgement]) -> list[Judgement]:
        """A verdict for each pair of a group: a failed one if it could not be read, else the next of `judged`."""
        verdicts = iter(judged)
        return [self._unread(pair) or next(verdicts) for pair in group]

    def close_log(self) -> None:
        """Close the file in `log_dir`, where there is one; a later verdict opens another."""
        if self._run_log is not None:
            self._run_log.close()

    def _logged(self, pairs: Sequence[Pair], judgements: list[Judgement]) -> list[Judgement]:
        if self._run_log is not None:
            self._run_log.add(pairs, judgements, self.step)
        # Other threads log, too, and may end it meanwhile
        if (first := self._first) is not None:
            first.extend(judgements[:_FIRST])
            if len(first) >= _FIRST and self._first is first:
                self._first = None
                for hint in _hints(first[:_FIRST]):
                    _log.warning("%s: of the first %d verdicts, %s", self.name, _FIRST, hint)
        return judgements

    def reward(self, judgement: Judgement, *, turns: bool = False) -> float | None:
        """The reward of a verdict. A failed verdict gives 0.0 if `on_error: zero` was asked for by name, else None.

        Args:
            turns: whether the caller hands `judgement.turns` on as well.

        Raises:
            JudgeError: the judge gives a reward for each turn, and the caller takes one for the whole rollout.
        """
        if not turns and (self.gives_turns or judgement.turns):
            raise JudgeError(
                "it gives a reward for each turn (turns: true), and this trainer takes one for a whole "
                "rollout, which would drop them: leave turns out; docs/trainers.md lists the trainers that take them",
                judge=self.name,
                cause=Cause.CONFIG,
            )
        return 0.0 if judgement.reward is None and self._zero_on_error else judgement.reward

    def reward_or_raise(self, judgement: Judgement, *, turns: bool = False) -> float:
        """`reward` for trainers that can only stop when there is no verdict, and are given `settled` verdicts.

        Raises:
            JudgeError: there is no verdict; the message names the task and the judge.
        """
        judgement = self.settled(judgement)
        if (reward := self.reward(judgement, turns=turns)) is None:
            raise judge_error(judgement.error or judgement.reason, judgement.cause)
        return reward

    def settled(self, judgement: Judgement) -> Judgement:
        """The judgement; a rollout without a rank, as rules filtered all others of its group, gets their reward.

        All rollouts of the group then have the same reward: it teaches nothing, but the run need not stop.
        """
        if judgement.cause is not Cause.ALONE:
            return judgement
        metrics = dict(judgement.metrics)
        # Services of an earlier version do not send this metric
        reward = metrics.pop(RULES_REWARD, self._rule_reward)
        return Judgement("filtered", reward, False, judgement.reason, metrics=metrics, seconds=judgement.seconds)

    async def _judge_groups_into(self, judgements: list[Judgement | None], pairs: Sequence[Pair]) -> None:
        judged = 0
        for group in groups(pairs):
            judgements[judged : judged + len(group)] = await self.ajudge_group(group)
            judged += len(group)

    async def _judge_rows_into(self, judgements: list[Judgement | None], pairs: Sequence[Pair]) -> None:
        """Judge each pair by itself. Only rows that await start more tasks: a task costs more than a cheap verdict."""
        rows = iter(enumerate(pairs))
        helpers: list[asyncio.Task[None]] = []
        waiting: asyncio.Handle

        async def work() -> None:
            nonlocal waiting
            turn = time.monotonic() + _TURN_SECONDS
            for index, (task, output) in rows:
                judgements[index] = await self._ajudge(task, output)
                if time.monotonic() > turn:
                    # A long run of cheap rows must not block the rest of the event loop
                    waiting.cancel()
                    await loops.turn()
                    waiting = loop.call_soon(help_out)
                    turn = time.monotonic() + _TURN_SECONDS

        def help_out() -> None:
            if not helpers:
                helpers.extend(loop.create_task(work()) for _ in range(min(self.at_once, len(pairs)) - 1))

        loop = asyncio.get_running_loop()
        try:
            with one_request():
                # The loop calls it as soon as a row awaits something; where no row does, it is cancelled below
                waiting = loop.call_soon(help_out)
                await work()
                await asyncio.gather(*helpers)
        finally:
            waiting.cancel()
            for helper in helpers:
                helper.cancel()
            known = [(pair, found) for pair, found in zip(pairs, judgements, strict=True) if found is not None]
            self._logged([pair for pair, _ in known], [found for _, found in known])


def groups(pairs: Iterable[Pair]) -> list[list[Pair]]:
    """Split `pairs` into runs of neighbours that share a task id: trainers put a group's completions side by side.

    A row without a task id is a group by itself, because ranking unrelated rows together would give meaningless
    rewards.
    """
    return [list(run) for _, run in groupby(pairs, key=lambda pair: pair[0].task_id or object())]


def mean_metrics(judgements: Sequence[Judgement]) -> dict[str, float]:
    """The mean of each of the judge's metrics, over the verdicts that have it."""
    values: dict[str, list[float]] = {}
    for judgement in judgements:
        for metric, value in judgement.metrics.items():
            values.setdefault(metric, []).append(value)
    return {metric: fmean(numbers) for metric, numbers in values.items()}


def located(config: str | Path) -> str:
    """The absolute path of a configuration file. A relative one is looked for in the working directory and then along
    `sys.path`, like the judge's module, because trainers pass the path to workers that may have another working
    directory.
    """
    path = Path(config)
    if path.is_absolute():
        return str(path)
    places = [Path.cwd(), *(Path(entry) for entry in sys.path if entry)]
    found = next((place / path for place in places if (place / path).is_file()), places[0] / path)
    return str(found.absolute())


_lock = own_lock()
_loaded: dict[str, ConfiguredJudge] = {}


def judge_for(config: str | Path) -> ConfiguredJudge:
    """The judge of the file `config`, loaded at the first call and then shared by all threads of the process.

    For reward functions: trainers call them anew for every sample, so they have no place to keep a judge.

    Raises:
        ConfigError: the judge cannot be loaded.
    """
    path = located(config)
    with _lock:
        # A module with a judge of its own may ask for it here as it is imported
        return _loaded.get(path) or _loaded.setdefault(path, ConfiguredJudge(path))


def loaded(config: str | Path) -> str:
    """`located`, once its judge has been loaded: a wrong configuration fails here, not in the first rollout."""
    path = located(config)
    judge_for(path)
    return path
