"""The judge of interactive tasks: the environment that ran the episode gives its score."""

from __future__ import annotations

import inspect
import math
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from omegaconf import DictConfig, ListConfig, OmegaConf
from pydantic import Field

from agentscope_tuner._run import loops
from agentscope_tuner.config import StrictSection, task_judge_section, validate_section
from agentscope_tuner.env_service.environment import TOKEN_VARIABLE
from agentscope_tuner.env_service.wire import finite_score
from agentscope_tuner.errors import ConfigError, EnvServiceError, told
from agentscope_tuner.task_judge.base_judge import KWARGS, BaseJudge, Reward, as_list
from agentscope_tuner.workflow import Task, WorkflowOutput, WorkflowTask

if TYPE_CHECKING:
    from agentscope_tuner.env_service import AsyncEnvServiceClient

_SECTION = "astuner.task_reader.env_service"
_NO_EPISODE = "This judge asks the environment that ran the episode; rows of a file are for others, as `judge: math`"
_URL_KEY = f"{_SECTION}.env_url"
_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def reward_from_score(score: float) -> tuple[float, bool]:
    """The documented mapping: a score of 1 or more is a success and earns `1.0 + 0.5 * score`, any other `0.5 * score`.

    Solving the task pays at least 1.5 and partial progress less than 0.5, so a policy never gains by stopping short.
    """
    return (1.0 + 0.5 * score, True) if score >= 1 else (0.5 * score, False)


class EnvServiceJudgeConfig(StrictSection):
    """EnvServiceJudge's `astuner.task_judge.judge_kwargs`: the arguments of `evaluate`."""

    #: such as `{sparse: true}`, without which some environments answer a report instead of a score
    evaluate_params: dict[str, Any] = Field(default_factory=dict)
    #: the protocol's `messages`, for environments that read them
    messages: dict[str, Any] = Field(default_factory=dict)
    #: whether the reward is what the steps of the episode earned, turn by turn, as `gym_env.turn_rewards` holds it; the
    #: score then says only whether the task was solved
    turns: bool = False


class EnvServiceJudge(BaseJudge):
    """Asks `workflow_task.gym_env` for the episode's score and maps it with `reward_from_score`.

    The handle is a `GymEnv` or any object with `evaluate()` or `evaluate(instance_id, params=...)`, sync or async; the
    instance id is `workflow_task.task_env_uuid`. A foreign handle must bound its own waiting: nothing here can stop a
    thread that blocks. A task that came without a handle, from a file or over HTTP, is evaluated at the configured
    `astuner.task_reader.env_service.env_url`, with the token in ASTUNER_ENV_TOKEN. Arguments for the environment's
    evaluation stand in `judge_kwargs`, see EnvServiceJudgeConfig.

    Raises:
        BadScore: when the score is no finite number.
        EnvServiceError: when there is no usable handle, or it raised.
    """

    metric_names = ("env_score",)
    # The environment itself computes the score
    reference_keys = ()

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self._service = _configured_service(config)
        settings = _settings(config, only_ours=type(self) is EnvServiceJudge)
        self.gives_turns = settings.turns
        self._told = {"params": settings.evaluate_params}
        if settings.messages:
            self._told["messages"] = settings.messages

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Reward:
        """The environment's score as a reward. Blocks while the environment answers."""
        instance_id = workflow_task.task_env_uuid
        evaluate = _bound_evaluate(self._handle(workflow_task), instance_id, self._told)
        with _env_errors(instance_id):
            answer = evaluate()
            if inspect.isawaitable(answer):
                answer = loops.run(answer)
        return self._reward(answer, workflow_task)

    async def acompute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Reward:
        """As `compute_reward`; a handle that blocks does so in a thread of its own."""
        instance_id = workflow_task.task_env_uuid
        evaluate = _bound_evaluate(self._handle(workflow_task), instance_id, self._told)
        with _env_errors(instance_id):
            answer = evaluate() if inspect.iscoroutinefunction(evaluate) else await loops.in_thread(evaluate)
            if inspect.isawaitable(answer):
                answer = await answer
        return self._reward(answer, workflow_task)

    def check_task(self, task: Task, output: WorkflowOutput | None = None) -> str | None:
        """See BaseJudge: an episode is created from the task's id and its kind of environment."""
        if not task.task_id.strip():
            return "missing: task_id is empty, and an environment creates its episodes by it"
        if task.env_type in ("", "no_env"):
            form = 'in a row beside "task_id", such as "env_type": "frozenlake"'
            return f"missing: env_type names no environment, got {task.env_type!r}: write it {form}. {_NO_EPISODE}"
        return None

    async def aready(self) -> None:
        """Asks the configured env service whether it is up. The handles in tasks belong to their workflows."""
        if self._service is not None:
            await self._service.healthz()

    def _reward(self, answer: object, task: WorkflowTask) -> Reward:
        score = finite_score(answer, task.task_env_uuid)
        raw_reward, is_success = reward_from_score(score)
        turns: tuple[float | None, ...] = ()
        if self.gives_turns:
            turns = _turns(task.gym_env, task.task_env_uuid)
            try:
                raw_reward = math.fsum(turn for turn in turns if turn is not None)
            except (OverflowError, TypeError, ValueError) as exc:
                where = f"instance {task.task_env_uuid!r}"
                raise EnvServiceError(f"{where}: gym_env.turn_rewards {turns!r:.100} have no sum: {exc}") from exc
        verdict = "solved" if is_success else "not solved"
        metrics = {"env_score": score}
        return Reward(
            raw_reward, is_success, reason=f"environment score {score:g}: {verdict}", metrics=metrics, turns=turns
        )

    def _handle(self, task: WorkflowTask) -> object:
        return self._service if task.gym_env is None and task.task_env_uuid else task.gym_env


def _settings(config: Any, *, only_ours: bool) -> EnvServiceJudgeConfig:
    if not isinstance(config, Mapping | DictConfig):
        return EnvServiceJudgeConfig()
    given = task_judge_section(config).judge_kwargs
    # A subclass may have settings of its own
    known = given if only_ours else {key: given[key] for key in EnvServiceJudgeConfig.model_fields if key in given}
    return validate_section(EnvServiceJudgeConfig, known, KWARGS)


def _configured_service(config: Any) -> AsyncEnvServiceClient | None:
    if not isinstance(config, DictConfig) or (url := OmegaConf.select(config, _URL_KEY)) is None:
        return None
    urls = list(url) if isinstance(url, ListConfig) else [url]
    if not urls or not all(isinstance(item, str) for item in urls):
        raise ConfigError(f"{_URL_KEY} must be a URL, or a list of them, got {url!r}")
    from agentscope_tuner.env_service import AsyncEnvServiceClient, ClientOptions

    section = OmegaConf.select(config, _SECTION)
    options = ClientOptions(
        token=os.environ.get(TOKEN_VARIABLE) or None,
        headers={str(name): value for name, value in (section.get("headers") or {}).items()},
        ca_file=section.get("ca_file"),
    )
    return AsyncEnvServiceClient(urls, options)


def _bound_evaluate(gym_env: object, instance_id: str, given: Mapping[str, dict[str, Any]]) -> Callable[[], Any]:
    """`gym_env.evaluate` with the arguments it takes, ready to be called."""
    where = f"instance {instance_id!r}"
    if gym_env is None:
        raise EnvServiceError(
            f"{where}: gym_env is None. {_NO_EPISODE}. A workflow sets workflow_task.gym_env to an object with "
            f"evaluate(), or task_env_uuid beside {_URL_KEY} in the configuration"
        )
    evaluate = getattr(gym_env, "evaluate", None)
    if not callable(evaluate):
        raise EnvServiceError(f"{where}: workflow_task.gym_env must have evaluate(), got {type(gym_env).__name__!r}")
    try:
        signature = inspect.signature(evaluate)
    except (TypeError, ValueError):
        # Some compiled callables have no signature: use the documented call without arguments
        return partial(evaluate)
    args, keywords = _arguments(signature, instance_id, given)
    if lost := [name for name, value in given.items() if value and name not in keywords]:
        raise EnvServiceError(
            f"{where}: gym_env.evaluate{signature} takes no {' and no '.join(lost)}: see judge_kwargs"
        )
    unfit = f"{where}: gym_env.evaluate must take () or (instance_id, params=...), got {signature}"
    with told(unfit, TypeError, to=EnvServiceError):
        signature.bind(*args, **keywords)
    if args == ("",):
        raise EnvServiceError(f"{where}: gym_env.evaluate{signature} asks for an id; set workflow_task.task_env_uuid")
    return partial(evaluate, *args, **keywords)


def _arguments(
    signature: inspect.Signature, instance_id: str, told: Mapping[str, dict[str, Any]]
) -> tuple[tuple[str, ...], dict[str, dict[str, Any]]]:
    """The arguments for `evaluate`: the id if its first parameter takes it, and the entries of `told` that it names."""
    parameters = list(signature.parameters.values())
    named = {parameter.name for parameter in parameters}
    # (*args, **kwargs) is a wrapper that hands everything on: it gets the documented call
    wrapper = [parameter.kind for parameter in parameters] == [
        inspect.Parameter.VAR_POSITIONAL,
        inspect.Parameter.VAR_KEYWORD,
    ]
    first = parameters[0] if parameters and parameters[0].kind in _POSITIONAL else None
    required = first is not None and first.default is inspect.Parameter.empty and first.name != "params"
    optional = first is not None and first.name == "instance_id" and instance_id != ""
    args = (instance_id,) if required or optional or wrapper else ()
    return args, {name: value for name, value in told.items() if name in named or wrapper}


@contextmanager
def _env_errors(instance_id: str) -> Iterator[None]:
    try:
        yield
    except EnvServiceError:
        raise
    except Exception as exc:  # the boundary to foreign code: whatever it raises, there is no verdict
        message = f"instance {instance_id!r}: gym_env.evaluate raised {type(exc).__name__}: {exc}"
        raise EnvServiceError(message) from exc


def _turns(gym_env: object, instance_id: str) -> tuple[float | None, ...]:
    given = getattr(gym_env, "turn_rewards", None)
    turns = as_list(given)
    if turns is None or all(turn is None for turn in turns):
        raise EnvServiceError(
            f"instance {instance_id!r}: turns: true reads gym_env.turn_rewards, which the episode's steps fill with "
            f"their rewards, got {given!r:.100}"
        )
    return tuple(turns)
