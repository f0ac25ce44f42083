"""Names that a package loads on first use, and documented import paths that have moved: the old path still gives the
module, now at its new one.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec, spec_from_file_location
from types import ModuleType
from typing import Any

#: By old package or module: the new one. Everything below a package moves with it.
MOVED = {
    "agentscope_tuner.insight": "agentscope_tuner.lab",
    "agentscope_tuner.on_ray": "agentscope_tuner.engines.ray",
    "agentscope_tuner.env_service.environments": "agentscope_tuner.env_service",
    "agentscope_tuner.graders.function_grader": "agentscope_tuner.graders.base_grader",
    "agentscope_tuner.lab.watch.gaming_test": "agentscope_tuner.lab.watch.second_opinion",
    "agentscope_tuner.lab.watch.gaming_alarm": "agentscope_tuner.lab.watch.second_opinion",
}
# What `python -m agentscope_tuner.cli` looks for
_RUN = {"agentscope_tuner.cli.__main__": "agentscope_tuner.__main__"}


class _Moved(MetaPathFinder, Loader):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname in _RUN and (found := find_spec(_RUN[fullname])):
            return spec_from_file_location(fullname, found.origin)
        return ModuleSpec(fullname, self) if _new_path(fullname) else None

    def exec_module(self, module: ModuleType) -> None:
        # The import system returns what it finds here: the module itself, not a second copy with classes of its own
        sys.modules[module.__name__] = import_module(_new_path(module.__name__))


class _Absent(MetaPathFinder):
    """Comes last, so it is asked about names of the package that are no module: `from agentscope_tuner import X` looks
    for one where the package has no X.
    """

    def __init__(self, package: str) -> None:
        self._package = package

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> None:
        package, _, name = fullname.rpartition(".")
        if f"{package}.".startswith(f"{self._package}.") and not name.startswith("__"):
            public = getattr(sys.modules.get(package), "__all__", ())
            # With its `name` set, the import system would put its own words in place of these
            raise ModuleNotFoundError(f"{package} has no {name!r}: {self._way_out(name, public, path or ())}")

    def _way_out(self, name: str, public: Sequence[str], path: Sequence[str]) -> str:
        # Imported late: every worker process loads this module
        from difflib import get_close_matches
        from pkgutil import iter_modules

        modules = [module.name for module in iter_modules(path) if not module.name.startswith("_")]
        plain = {known.lower(): known for known in (*public, *modules)}
        if near := get_close_matches(name.lower(), plain, n=1, cutoff=0.8):
            return f"did you mean {plain[near[0]]!r}?"
        judges = import_module(f"{self._package}.task_judge.contract.loading")
        if judge := judges.near_judge(name):
            return f"a judge is loaded by its name, load_judge({{'astuner': {{'task_judge': {{'judge': {judge!r}}}}}}})"
        return f"its public names are {', '.join(public)}" if public else f"its modules are {', '.join(modules)}"


def _new_path(name: str) -> str:
    """The present name of a module that has moved from `name`; empty for a module that has not moved."""
    for old, new in MOVED.items():
        if name == old or name.startswith(old + "."):
            return new + name.removeprefix(old)
    return ""


def keep_old_paths() -> None:
    """Make the old paths importable. The finder must come first: the folders below a new path hold the same names."""
    sys.meta_path.insert(0, _Moved())


def name_what_is_absent(package: str) -> None:
    """For an import of a name that `package`, or a package in it, lacks: make the error name the public name or judge
    that may be meant.
    """
    sys.meta_path.append(_Absent(package))


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
