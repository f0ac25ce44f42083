"""`GymEnv`: one episode in an env service, the handle a workflow finds in `workflow_task.gym_env`."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Mapping
from types import TracebackType
from typing import Any

from agentscope_tuner.env_service.client import EnvServiceClient
from agentscope_tuner.env_service.wire import Created, StepResult
from agentscope_tuner.errors import EnvServerError, EnvServiceError, InstanceNotFound

logger = logging.getLogger(__name__)


class GymEnv:
    """One episode: `with GymEnv(client, env_type, task_id) as env:` creates it, and always releases it.

    A step whose request failed may or may not have been played. So the episode is broken from then on: later steps and
    evaluations raise the first error. Otherwise a workflow that swallowed the error would be scored for an episode that
    the network ended.

    Args:
        client: the service's client; not closed by this handle.
        env_type: the kind of environment.
        task_id: the task to play.
        instance_id: the episode's name; put it into `workflow_task.task_env_uuid`, too. A fresh name when left out.
        params: for the environment's creation.

    Attributes:
        instance_id: names the episode; the service may replace it at creation.
        state: the chat messages that open the episode; empty before it is created.
        turn_rewards: what each step earned so far, as the environment answered; None where it gave no reward.
    """

    def __init__(
        self,
        client: EnvServiceClient,
        env_type: str,
        task_id: str,
        *,
        instance_id: str | None = None,
        params: Mapping[str, Any] | None = None,
    ) -> None:
        self.client = client
        self.env_type = env_type
        self.task_id = task_id
        self.instance_id = instance_id or uuid.uuid4().hex
        self.state: list[dict[str, Any]] = []
        self.turn_rewards: list[float | None] = []
        self._params = params
        self._broken: BaseException | None = None
        self._scores: dict[str, float] = {}

    def create(self) -> Created:
        """Starts the episode; `with` does this."""
        created = self.client.create_instance(self.env_type, self.task_id, self.instance_id, self._params)
        self.instance_id = created.instance_id
        self.state = created.state
        return created

    def step(self, action: Mapping[str, Any], params: Mapping[str, Any] | None = None) -> StepResult:
        """Plays `action`, a chat message such as `{"role": "assistant", "content": "left"}`.

        Raises:
            EnvServiceError: after a status 4xx the episode goes on, since it may be unchanged; any other failure breaks
                it.
        """
        self._raise_if_broken("step")
        self._scores.clear()
        try:
            result = self.client.step(self.instance_id, action, params)
        except BaseException as exc:
            # Ctrl-C, too: after any interruption it is unknown whether the step was played
            refused = isinstance(exc, EnvServerError) and 400 <= exc.status < 500
            if not refused and not isinstance(exc, InstanceNotFound):
                self._broken = exc
            raise
        self.turn_rewards.append(result.reward)
        return result

    def evaluate(
        self,
        instance_id: str | None = None,
        params: Mapping[str, Any] | None = None,
        messages: Mapping[str, Any] | None = None,
    ) -> float:
        """The episode's score; it is requested once and kept until the next step.

        Args:
            instance_id: may be left out; another episode's is an error.
            params: for the environment's evaluation.
            messages: for the environment's evaluation, where it reads messages.

        Raises:
            EnvServiceError: there is no score, or a step's request failed.
        """
        if instance_id is not None and instance_id != self.instance_id:
            raise EnvServiceError(f"this handle plays instance {self.instance_id!r}, asked to evaluate {instance_id!r}")
        self._raise_if_broken("evaluate")
        key = repr((sorted((params or {}).items()), sorted((messages or {}).items())))
        if key not in self._scores:
            self._scores[key] = self.client.evaluate(self.instance_id, messages=messages, params=params)
        return self._scores[key]

    def get_info(self, params: Mapping[str, Any] | None = None) -> Any:
        """The environment's information about the episode: any JSON value."""
        return self.client.get_info(self.instance_id, params=params)

    def release(self) -> bool:
        """Ends the episode, best effort; `with` does this. A score that was requested before is kept."""
        return self.client.release_instance(self.instance_id)

    def _raise_if_broken(self, verb: str) -> None:
        if self._broken is not None:
            raise EnvServiceError(
                f"{verb} of instance {self.instance_id!r}: an earlier step failed and may or may not have been played, "
                f"start a new episode: {type(self._broken).__name__}: {self._broken}"
            ) from self._broken

    def __enter__(self) -> GymEnv:
        try:
            self.create()
        except BaseException:
            # After a lost answer or Ctrl-C the service may still hold the episode
            self.release()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.release()
