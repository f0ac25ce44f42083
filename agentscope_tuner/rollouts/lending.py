"""Makes the models that rollouts use."""

from __future__ import annotations

from collections.abc import Callable

from agentscope_tuner.rollouts.attempt import Lender
from agentscope_tuner.rollouts.settings import RolloutSettings

#: A function that makes the lender of a run, in each process.
Lend = Callable[[RolloutSettings], Callable[[], Lender]]


def model_tuners(settings: RolloutSettings) -> Callable[[], Lender]:
    """The lender of real models: a ModelTuner for each rollout, for the endpoint that `astuner.rollout.model` names.

    Raises:
        ConfigError: the extra `agentscope` is not installed.
    """
    # `direct` imports the HTTP client; else all first rollouts would wait for this import
    from agentscope_tuner.model_tuner import ModelTuner, direct  # noqa: F401

    model, targets = settings.rollout.model, settings.rollout.trainable_targets

    def lend() -> Lender:
        return ModelTuner.for_endpoint(
            model.base_url,
            model.name,
            api_key=model.api_key,
            stream=model.stream,
            logprobs=model.logprobs,
            trainable_targets=targets,
            temperature=model.temperature,
            max_tokens=model.max_tokens,
        )

    return lend
