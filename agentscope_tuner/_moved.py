"""Names that a package loads on first use, and documented import paths that have moved: the old path still gives the
module, now at its new one.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

#: By old package or module: the new one. Everything below a package moves with it.
MOVED = {
    "agentscope_tuner.insight": "agentscope_tuner.lab",
    "agentscope_tuner.on_ray": "agentscope_tuner.engines.ray",
    "agentscope_tuner.env_service.environments": "agentscope_tuner.env_service",
    "agentscope_tuner.graders.function_grader": "agentscope_tuner.graders.base_grader",
    "agentscope_tuner.lab.watch.gaming_test": "agentscope_tuner.lab.watch.gaming_alarm",
}


class _Moved(MetaPathFinder, Loader):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return ModuleSpec(fullname, self) if _new_path(fullname) else None

    def exec_module(self, module: ModuleType) -> None:
        # The import system returns what it finds here: the module itself, not a second copy with classes of its own
        sys.modules[module.__name__] = import_module(_new_path(module.__name__))


def _new_path(name: str) -> str:
    """Where the module `name` is now; empty for a module that has not moved."""
    for old, new in MOVED.items():
        if name == old or name.startswith(old + "."):
            return new + name.removeprefix(old)
    return ""


def keep_old_paths() -> None:
    """Make the old paths importable. The finder must come first: the folders below a new path hold the same names."""
    sys.meta_path.insert(0, _Moved())


def on_first_use(package: str, homes: Mapping[str, str], public: Sequence[str] = ()) -> Callable[[str], Any]:
    """The `__getattr__` of `package` for names of its modules, each of which is imported when it is first needed.

    Args:
        homes: by module, below the package, its names, between blanks.
        public: the package's public names, for the message; by default these.
    """
    home = {name: module for module, names in homes.items() for name in names.split()}

    def get(name: str) -> Any:
        if name in home:
            return getattr(import_module(f"{package}.{home[name]}"), name)
        told = ", ".join(public or sorted(home))
        raise AttributeError(f"module {package!r} has no attribute {name!r}; its public names are {told}")

    return get
