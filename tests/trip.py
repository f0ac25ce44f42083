"""Counts the calls of this package that a reply of a judge model passes on its way to a judgement."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType

from agentscope_tuner._run import loops
from agentscope_tuner.task_judge.contract.loading import load_judge
from agentscope_tuner.workflow import Task, WorkflowOutput, WorkflowTask
from tests.judge_server import Body, Canned, JudgeServer, verdict

_PACKAGE = str(Path(loops.__file__).parents[1])


class Trip:
    """The functions of the package that are entered or resumed, on the caller's thread and on the background loop."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, str]] = []
        self.running = False

    def __enter__(self) -> Trip:
        self._set(self._note)
        return self

    def __exit__(self, *_: object) -> None:
        self._set(None)

    def _set(self, hook: Callable[[FrameType, str, object], None] | None) -> None:
        done = threading.Event()

        def there() -> None:
            sys.setprofile(hook)
            done.set()

        loops.get_loop().call_soon_threadsafe(there)
        assert done.wait(60)
        sys.setprofile(hook)

    def _note(self, frame: FrameType, event: str, argument: object) -> None:
        if self.running and event == "call" and frame.f_code.co_filename.startswith(_PACKAGE):
            self.calls.append((frame.f_code.co_filename[len(_PACKAGE) + 1 :], frame.f_code.co_qualname))

    @property
    def modules(self) -> list[str]:
        """The modules that were entered, in order of the first entrance."""
        return list(dict.fromkeys(module for module, _ in self.calls))

    @property
    def moves(self) -> int:
        """How often a call was in another module than the call before it."""
        return sum(one[0] != other[0] for one, other in zip(self.calls, self.calls[1:], strict=False))


def reply_to_judgement() -> Trip:
    """The calls from the reply of the only juror to the judgement."""
    trip = Trip()

    def answer(body: Body, attempt: int) -> Canned:
        # Until here the client waits for the reply
        trip.running = body["messages"][-1]["content"].count("counted") > 0
        return Canned(verdict(4))

    with JudgeServer(answer) as server:
        section = {"model_name": "m", "base_url": server.url, "client": {"cache": False}}
        section |= {"prompt": "Score from 1 to 5 how well it answers {query}: {response}"}
        judge = load_judge({"astuner": {"task_judge": {"judge_type": "llm", "llm": section}}})
        task = WorkflowTask(task=Task(main_query="Why is the sky blue?", task_id="t1"))
        for text in ("Because of scattering.", "Because of scattering, counted."):
            with trip:
                found = judge.judge(task, WorkflowOutput(metadata={"final_answer": text}))
            trip.running = False
            assert found.status == "judged", found
    return trip
