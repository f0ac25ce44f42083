"""Everything that uses Ray: a cluster judges files, single rollouts, and the service's requests.

This module imports Ray, connects to a cluster for a run (`session`), and gives actors the configuration, the modules
and the working directory of this process.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from agentscope_tuner.config import Source, plain_data, resolve
from agentscope_tuner.errors import AstunerError, ConfigError, importing

# Shared memory of a session of our own. Rows only pass through it, and Ray spills a surplus to disk
_OBJECT_STORE_BYTES = 256 * 2**20


def ray_module(name: str = "ray") -> Any:
    """Import and return Ray, or one of its modules: `ray_module("ray.data")`.

    Raises:
        ConfigError: Ray is not installed.
    """
    with importing("Ray is not installed", "ray"):
        return import_module(name)


@contextmanager
def session(address: str | None, *, workers: int | None) -> Iterator[Any]:
    """A context with Ray connected: this process's session, the cluster at `address`, or a new session on this machine.

    A connection or session that begins here is closed at the end of the block. A cluster that is connected to here is
    sent the modules that this process imported from its working directory.

    Args:
        address: as `ray.init` takes it, such as `auto`; None for this machine.
        workers: how many CPUs a new session on this machine offers; None for all.

    Raises:
        ConfigError: Ray is not installed, or nothing answers at `address`.
    """
    ray = ray_module()
    if ray.is_initialized():
        yield ray
        return
    try:
        if address is None:
            # The session serves this run alone: no usage report, no dashboard
            os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
            ray.init(
                num_cpus=workers,
                include_dashboard=False,
                object_store_memory=_OBJECT_STORE_BYTES,
                log_to_driver=False,
                logging_level="error",
            )
        else:
            runtime_env = {"py_modules": own_modules()} if own_modules() else None
            ray.init(address=address, runtime_env=runtime_env, log_to_driver=False, logging_level="error")
    # boundary: Ray raises plain Exceptions, too, such as for a node that takes too long to start
    except Exception as exc:
        # end the processes that did start
        ray.shutdown()
        if address is not None:
            raise ConfigError(f"no Ray at address {address!r}: {exc}") from exc
        way_out = "On a busy machine, start it before with `ray start --head` and give its address: auto"
        raise ConfigError(f"Ray did not start on this machine: {exc} {way_out}") from exc
    try:
        yield ray
    finally:
        ray.shutdown()


def own_modules() -> list[str]:
    """The paths of the packages and modules that this process imported from its working directory: a user's own judges.

    They are sent to the workers of a cluster, which lack this directory. Installed packages, this one included, are
    left out: the workers have them.
    """
    here = Path.cwd().resolve()
    found = {path for module in list(sys.modules.values()) if (path := _top(module, here)) is not None}
    return sorted(str(path) for path in found)


def _top(module: ModuleType, here: Path) -> Path | None:
    """The path to send to workers so that they can import `module`: its top package's folder, or its file.

    None if the module is installed, is the main script, or is not in the directory `here`.
    """
    name, file = getattr(module, "__name__", ""), getattr(module, "__file__", None)
    if not file or name.partition(".")[0] in ("__main__", "agentscope_tuner"):
        return None
    place = Path(file).resolve()
    installed = Path(sys.prefix).resolve() in place.parents or "site-packages" in place.parts
    if installed or here not in place.parents:
        return None
    depth = name.count(".")
    if place.name == "__init__.py":
        return place.parents[depth]
    return place if depth == 0 else place.parents[depth - 1]


def portable(config: Source) -> dict[str, Any]:
    """`config` as plain dicts and lists that mean the same on another machine: files are read, and the interpolations
    of its `astuner` section are resolved, in this process.

    Raises:
        ConfigError: the configuration cannot be read, or an interpolation under `astuner` cannot be resolved.
    """
    return plain_data(resolve(config).whole)


def enter(folder: str) -> None:
    """In an actor: change to the caller's working directory, if this node has it, so that relative paths hold."""
    if os.path.isdir(folder):
        os.chdir(folder)


def own_error(exc: BaseException) -> AstunerError | None:
    """The AstunerError that an actor raised, found inside the error that Ray wraps it in; None if there is none."""
    seen: list[BaseException | None] = [exc]
    while seen:
        if (found := seen.pop()) is None:
            continue
        cause = getattr(found, "cause", None)
        if isinstance(found, AstunerError) and not isinstance(cause, BaseException):
            return found
        seen += [found.__cause__, cause if isinstance(cause, BaseException) else None]
    return None
