"""Crews for judges that wait: in threads, or on the process's event loop. They share the caller's judge."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from queue import SimpleQueue

from agentscope_tuner import _loop
from agentscope_tuner.engines.crew import Crew
from agentscope_tuner.engines.units import In, Out, Rows, Unit, Work
from agentscope_tuner.errors import Cause, JudgeError

# Units begun and not yet handed on, for each job: while one unit is slow, the other jobs still find work
_AHEAD = 8


class ThreadCrew(Crew[In, Out]):
    """Judges in `jobs` threads. They are daemon threads: a judge that hangs cannot keep the program from ending."""

    def __init__(self, work: Work[In, Out], rows: Rows[Out], jobs: int) -> None:
        super().__init__(work, rows, jobs * _AHEAD)
        self._jobs = jobs
        self._threads: list[threading.Thread] = []
        self._queue: SimpleQueue[Unit[In, Out] | None] = SimpleQueue()
        self._dropping = False

    def begin(self, unit: Unit[In, Out]) -> None:
        """See Crew."""
        self._queue.put(unit)
        if len(self._threads) < self._jobs and not self._queue.empty():
            thread = threading.Thread(target=self._judge, name=f"astuner-judge-{len(self._threads)}", daemon=True)
            self._threads.append(thread)
            thread.start()

    def _judge(self) -> None:
        while (unit := self._queue.get()) is not None:
            if self._dropping:
                self.rows.drop(unit.span)
                continue
            try:
                self.rows.finish([(unit, self._results(unit))])
            # boundary: a judge's own errors are failed rows by now, so this is a fault of ours: the caller raises it
            except BaseException as exc:  # noqa: BLE001
                self.rows.fail(exc)

    def _results(self, unit: Unit[In, Out]) -> Sequence[Out]:
        if unit.results is not None:
            return unit.results
        try:
            return self.work.judge(unit.items)
        except (KeyboardInterrupt, asyncio.CancelledError, GeneratorExit) as exc:
            # The judge itself raised it: our threads are never interrupted or cancelled from outside
            return self.work.failed(unit.items, _raised(exc))

    def drop(self) -> None:
        """See Crew."""
        self._dropping = True

    def close(self) -> None:
        """See Crew."""
        self._dropping = True
        for _ in self._threads:
            self._queue.put(None)


class LoopCrew(Crew[In, Out]):
    """Judges `jobs` units at once on the process's background event loop, where clients keep their connections."""

    def __init__(self, work: Work[In, Out], rows: Rows[Out], jobs: int) -> None:
        super().__init__(work, rows, jobs * _AHEAD)
        self._slots = asyncio.Semaphore(jobs)
        self._futures: set[Future[None]] = set()
        self._dropping = False

    def begin(self, unit: Unit[In, Out]) -> None:
        """See Crew."""
        future = asyncio.run_coroutine_threadsafe(self._judge(unit), _loop.get_loop())
        self._futures.add(future)
        future.add_done_callback(self._futures.discard)

    async def _judge(self, unit: Unit[In, Out]) -> None:
        try:
            async with self._slots:
                if self._dropping:
                    self.rows.drop(unit.span)
                else:
                    self.rows.finish([(unit, await self._results(unit))])
        # boundary: a judge's own errors are failed rows by now, so this is a fault of ours: the caller raises it
        except BaseException as exc:  # noqa: BLE001
            self.rows.fail(exc)

    async def _results(self, unit: Unit[In, Out]) -> Sequence[Out]:
        if unit.results is not None:
            return unit.results
        try:
            return await self.work.ajudge(unit.items)
        except (KeyboardInterrupt, asyncio.CancelledError, GeneratorExit) as exc:
            # The judge itself raised it, or the run was abandoned and its results are not read
            return self.work.failed(unit.items, _raised(exc))

    def drop(self) -> None:
        """See Crew."""
        self._dropping = True

    def close(self) -> None:
        """See Crew."""
        self._dropping = True
        for future in list(self._futures):
            future.cancel()


def _raised(exc: BaseException) -> JudgeError:
    return JudgeError(f"the judge raised {type(exc).__name__}: {exc}", cause=Cause.BUG)
