"""Values of the standard library that are as good as plain data: they travel by what makes them."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import Any

from agentscope_tuner.verify.code.inside.code_values import pack, unpack

# By module and class: what the class, or a function of the module, is called with
_KINDS: dict[tuple[str, str], tuple[str, Callable[[Any], list[object]]]] = {
    ("uuid", "UUID"): ("UUID", lambda value: [str(value)]),
    ("re", "Pattern"): ("compile", lambda value: [value.pattern, value.flags]),
    ("datetime", "timezone"): ("timezone", lambda value: [*value.__getinitargs__()]),
    ("zoneinfo", "ZoneInfo"): ("ZoneInfo", lambda value: [value.key]),
    **{
        ("ipaddress", name): (name, lambda value: [str(value)])
        for kind in ("Address", "Network", "Interface")
        for name in (f"IPv4{kind}", f"IPv6{kind}")
    },
}


def packed(value: object) -> object:
    """The value as JSON; None if it is no such value, or of a class built on one."""
    own = (type(value).__module__, type(value).__name__)
    # a class may call itself anything
    if own not in _KINDS or getattr(sys.modules.get(own[0]), own[1], None) is not type(value):
        return None
    return {"st": [*own, pack(_KINDS[own][1](value))]}


def unpacked(told: Any) -> object:
    """The value of such JSON."""
    home, name, arguments = told["st"]
    make = getattr(importlib.import_module(home), _KINDS[home, name][0])
    return make(*unpack(arguments))  # type: ignore[misc]
