"""Rollouts judged by a pool of Ray actors: `local.score` on many machines."""

from __future__ import annotations

import asyncio
import os
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from agentscope_tuner import _loop
from agentscope_tuner.config import Source
from agentscope_tuner.engines.judging import RolloutJudge
from agentscope_tuner.engines.units import Rows, Unit
from agentscope_tuner.errors import Cause, JudgeError
from agentscope_tuner.on_ray.session import enter, own_error, portable, session
from agentscope_tuner.task_judge.judgement import Judgement
from agentscope_tuner.workflow import Rollout

# Units in one call, for quick verdicts: a call costs Ray half a millisecond, so it must hold many
_QUICK = 256
# Calls that an actor holds at once: it begins the second without waiting for us
_CALLS = 2
# How far finished rows may run ahead of an unfinished earlier row, in calls of each actor
_AHEAD = 16
# When so many actors die in a row without a verdict, the cluster cannot run this judge
_MOST_DEATHS = 10

RolloutUnit = Unit[Rollout, Judgement]


def score(
    config: Source,
    rollouts: Iterable[Rollout],
    *,
    jobs: int | None = None,
    ordered: bool = True,
    address: str | None = None,
) -> Iterator[tuple[int, Judgement]]:
    """A judgement for each rollout, from a pool of judge actors; the signature is that of `engines.local.score`.

    An actor that dies is replaced, and its rollouts are judged again, each by itself: one that has then killed two
    actors gets a failed judgement, and the rest goes on. `rollouts` is read as the pool can take them.

    Args:
        config: as `load_judge` takes it.
        rollouts: neighbours with one task id are an advantage group for a judge that ranks.
        jobs: judge actors. None: for a judge that computes as many as the cluster has CPUs, else one.
        ordered: in the input's order; else as they are done.
        address: the Ray cluster's; None uses the session of this process, or starts one on this machine.

    Yields:
        `(index of the rollout in the input, its judgement)`.

    Raises:
        ConfigError: the judge cannot be loaded, or there is no Ray.
        JudgeError: the cluster cannot run the judge: actors die before they judge anything.
    """
    judge = RolloutJudge(config)
    with session(address, workers=jobs) as ray:
        workers = jobs or (int(ray.cluster_resources().get("CPU", 1)) if judge.traits.kind == "cpu" else 1)
        pool = _ActorPool(ray, judge, (portable(config), os.getcwd()), workers, Rows(ordered=ordered))
        try:
            yield from pool.run(judge.units(rollouts))
        finally:
            pool.close()


class _UnitActor:
    """Judges units in an actor process that Ray has placed."""

    def __init__(self, config: dict[str, Any], directory: str) -> None:
        enter(directory)
        self._judge = RolloutJudge(config)

    def ready(self) -> None:
        """Answered when the judge is loaded."""

    def judge(self, units: Sequence[Sequence[Rollout]]) -> list[Sequence[Judgement]]:
        if not self._judge.traits.shares_loop or self._judge.traits.kind == "cpu":
            return [self._judge.judge(unit) for unit in units]
        return _loop.run(self._all(units))

    async def _all(self, units: Sequence[Sequence[Rollout]]) -> list[Sequence[Judgement]]:
        return await asyncio.gather(*(self._judge.ajudge(unit) for unit in units))


@dataclass(eq=False, slots=True)
class _Worker:
    """An actor and its work.

    Attributes:
        calls: how many are under way.
        alone: its unit may have killed another actor: send it no second unit.
    """

    actor: Any
    calls: int = 0
    alone: bool = False


@dataclass(eq=False, slots=True)
class _UnitCall:
    worker: _Worker
    units: list[RolloutUnit]


@dataclass(slots=True)
class _Suspects:
    """Units whose actor died, to be judged one by one, and how many each has killed since."""

    waiting: deque[RolloutUnit] = field(default_factory=deque)
    deaths: dict[int, int] = field(default_factory=dict)


class _ActorPool:
    def __init__(
        self, ray: Any, judge: RolloutJudge, told: tuple[dict[str, Any], str], workers: int, rows: Rows[Judgement]
    ) -> None:
        self._ray, self._judge, self._told, self._rows = ray, judge, told, rows
        awaits = judge.traits.shares_loop and judge.traits.kind == "io"
        # an actor has `_CALLS` calls under way
        awaited = max(1, judge.concurrency // _CALLS)
        self._batch = awaited if awaits else _QUICK if judge.traits.kind == "cpu" else 1
        self._actor = ray.remote(num_cpus=1, max_concurrency=_CALLS if awaits else 1)(_UnitActor)
        # Ray may have no place for an actor, such as after the loss of a node: give no work to actors that still start
        self._starting: dict[Any, _Worker] = {}
        self._workers: list[_Worker] = []
        self._most = workers
        self._calls: dict[Any, _UnitCall] = {}
        self._suspects = _Suspects()
        self._begun = self._in_vain = 0

    def _start(self) -> None:
        worker = _Worker(self._actor.remote(*self._told))
        self._starting[worker.actor.ready.remote()] = worker

    def run(self, units: Iterator[RolloutUnit]) -> Iterator[tuple[int, Judgement]]:
        for _ in range(self._most):
            self._start()
        more = True
        while more or self._calls or self._suspects.waiting:
            self._retry()
            while more and (worker := self._free()):
                batch = list(islice(units, self._batch))
                more = bool(batch)
                self._begun += len(batch)
                self._rows.finish((unit, unit.results) for unit in batch if unit.results is not None)
                if batch := [unit for unit in batch if unit.results is None]:
                    self._call(worker, batch)
            if self._calls or not self._workers:
                done, _ = self._ray.wait([*self._calls, *self._starting], num_returns=1)
                self._take(done[0])
            while self._rows.ready:
                yield self._rows.ready.popleft()

    def close(self) -> None:
        for worker in [*self._workers, *self._starting.values()]:
            self._ray.kill(worker.actor)

    def _free(self) -> _Worker | None:
        """An actor to give the next batch to; None when all have enough, or too many rows wait for an earlier one."""
        if self._suspects.waiting or self._begun - self._rows.released > self._batch * _AHEAD * self._most:
            return None
        return min(
            (worker for worker in self._workers if worker.calls < _CALLS and not worker.alone),
            key=lambda worker: worker.calls,
            default=None,
        )

    def _call(self, worker: _Worker, units: list[RolloutUnit]) -> None:
        worker.calls += 1
        self._calls[worker.actor.judge.remote([unit.items for unit in units])] = _UnitCall(worker, units)

    def _retry(self) -> None:
        for worker in self._workers:
            if self._suspects.waiting and not worker.calls:
                worker.alone = True
                self._call(worker, [self._suspects.waiting.popleft()])

    def _take(self, ref: Any) -> None:
        """Handle a result of Ray's: an actor has started, or a call has ended."""
        call, starting = self._calls.pop(ref, None), self._starting.pop(ref, None)
        try:
            results = self._ray.get(ref)
        except self._ray.exceptions.RayActorError as exc:
            self._in_vain += 1
            if self._in_vain > _MOST_DEATHS:
                raise own_error(exc) or JudgeError(
                    f"{self._in_vain} judge actors died: {exc}", cause=Cause.WORKER
                ) from exc
            self._lost(call)
        except self._ray.exceptions.RayError as exc:
            raise own_error(exc) or JudgeError(f"Ray ended the run: {exc}", cause=Cause.WORKER) from exc
        else:
            if starting:
                self._workers.append(starting)
            if call:
                call.worker.calls -= 1
                call.worker.alone = False
                self._rows.finish(zip(call.units, results, strict=True))
                self._in_vain = 0

    def _lost(self, call: _UnitCall | None) -> None:
        """Replace an actor, and find out which of its units it died of."""
        if call is None:
            self._start()
            return
        if call.worker in self._workers:
            self._workers.remove(call.worker)
            self._start()
        for unit in call.units:
            deaths = self._suspects.deaths[unit.number] = self._suspects.deaths.get(unit.number, 0) + call.worker.alone
            if deaths < 2:
                self._suspects.waiting.append(unit)
                continue
            del self._suspects.deaths[unit.number]
            error = JudgeError("its worker died twice while it was judged", cause=Cause.WORKER)
            self._rows.finish([(unit, self._judge.failed(unit.items, error))])
            # the row killed its workers: the cluster is not to blame
            self._in_vain = 0
