"""The HTTP reward service, which judges rollouts that trainers send: `create_app` makes it, `astuner serve` runs it.

It needs the extra `serve`.

app = create_app({"": ConfiguredJudge("configs/math.yaml")}, ServiceSettings())
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentscope_tuner._moved import on_first_use

if TYPE_CHECKING:
    from agentscope_tuner.service.admission import ServiceSettings
    from agentscope_tuner.service.app import create_app

__all__ = ["ServiceSettings", "create_app"]

# The command line reads settings before it can say that the extra is missing
__getattr__ = on_first_use(__name__, {"admission": "ServiceSettings", "app": "create_app"})
