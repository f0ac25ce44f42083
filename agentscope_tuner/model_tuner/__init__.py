"""The agentscope chat model that a trainer lends to a workflow, and the record of its calls.

Needs the `agentscope` extra, and agentscope 2.0: without it this module raises a ConfigError that says so.
"""

from agentscope_tuner.errors import ConfigError, install

try:
    import agentscope.credential  # noqa: F401 - 1.x has none
except ImportError as exc:
    raise ConfigError(f"agentscope_tuner.model_tuner needs agentscope 2.0: {install('agentscope')} ({exc})") from exc

from agentscope_tuner.model_tuner.call import ModelCall
from agentscope_tuner.model_tuner.endpoint import EndpointModel, endpoint_model
from agentscope_tuner.model_tuner.tuner import ModelTuner, RecordedModel

__all__ = ["EndpointModel", "ModelCall", "ModelTuner", "RecordedModel", "endpoint_model"]
