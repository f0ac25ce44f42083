"""The HTTP reward service: `create_app` makes it, `astuner serve` runs it; extra `serve`.

app = create_app({"": ConfiguredJudge("configs/math.yaml")}, ServiceSettings())
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentscope_tuner.service.admission import ServiceSettings
    from agentscope_tuner.service.app import create_app

__all__ = ["ServiceSettings", "create_app"]

_HOME = {"ServiceSettings": "admission", "create_app": "app"}


def __getattr__(name: str) -> object:
    # Loaded on first use: the command line reads settings before it can say that the extra is missing
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
