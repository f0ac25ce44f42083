"""A judging process: it loads the judge, then sends the judge's answers to questions about tasks and outputs."""

from __future__ import annotations

import pickle

from agentscope_tuner._run.child_entry import ParentChannel
from agentscope_tuner.errors import ConfigError, JudgeError
from agentscope_tuner.task_judge.contract.judgement import FramesOf
from agentscope_tuner.task_judge.contract.loading import load_judge
from agentscope_tuner.task_judge.contract.task_judge import TaskJudge


def main(channel: ParentChannel) -> None:
    """Answer until the parent closes the channel.

    Args:
        channel: brings the configuration and then `(task, output or outputs)`; takes None once the judge is loaded, or
            a text that says why it cannot be, and then `("answered", …)` or `("raised", (JudgeError, frames))`. All
            of them are pickles: both ends are one program under one user.
    """
    messages = iter(channel)
    recipe = next(messages, None)
    if recipe is None:
        return
    try:
        judge = load_judge(pickle.loads(recipe)).without_deadline()
    # boundary: any error that keeps the judge from being built goes to the parent, which raises it
    except BaseException as exc:  # noqa: BLE001
        channel.send(pickle.dumps(str(exc) if isinstance(exc, ConfigError) else f"{type(exc).__name__}: {exc}"))
        return
    channel.send(pickle.dumps(None))
    for message in messages:
        channel.send(_answer(judge, message))


def _answer(judge: TaskJudge, message: bytes) -> bytes:
    try:
        task, about = pickle.loads(message)
        answer = judge.ask(task, about)
        return pickle.dumps(("answered", answer), pickle.HIGHEST_PROTOCOL)
    except JudgeError as exc:
        return _raised(exc, "" if exc.__cause__ is None else str(FramesOf(exc.__cause__)))
    # boundary: a message that cannot be read here, or an answer that cannot be sent, fails its row alone
    except Exception as exc:  # noqa: BLE001
        return _raised(JudgeError(f"the judge's process could not answer: {type(exc).__name__}: {exc}"))


def _raised(error: JudgeError, frames: str = "") -> bytes:
    try:
        sent = pickle.dumps(("raised", (error, frames)), pickle.HIGHEST_PROTOCOL)
        # An error of the judge's own class may fail to unpickle
        pickle.loads(sent)
    # an error that cannot be pickled is sent as text
    except Exception:  # noqa: BLE001
        plain = JudgeError(error.message, task_id=error.task_id, judge=error.judge, cause=error.cause)
        plain.place = error.place
        sent = pickle.dumps(("raised", (plain, frames)), pickle.HIGHEST_PROTOCOL)
    return sent
