"""Everything that uses Ray: a cluster judges files, single rollouts, and the service's requests.

Here are Ray's import, a session for a run, and the modules and settings that actors need from this process.
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
    """Ray, or one of its modules.

    Raises:
        ConfigError: it is not installed.
    """
    with importing("Ray is not installed", "ray"):
        return import_module(name)


@contextmanager
def session(address: str | None, *, workers: int | None) -> Iterator[Any]:
    """A context with Ray connected: this process's session, the cluster at `address`, or a new session on this machine.

    A session that begins here also ends here. A cluster gets this process's modules of the working directory.

    Args:
        address: as `ray.init` takes it, such as `auto`; None for this machine.
        workers: how many CPUs a session of our own offers; None for all.

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
        # processes that did start
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
    """The packages and modules that this process has imported from its working directory.

    Such as a project's own judges. The workers of a cluster lack this directory, so these are sent to them. Installed
    packages, this one included, they have themselves.
    """
    here = Path.cwd().resolve()
    found = {path for module in list(sys.modules.values()) if (path := _top(module, here)) is not None}
    return sorted(str(path) for path in found)


def _top(module: ModuleType, here: Path) -> Path | None:
    """The package folder or the file to ship for `module`; None when it is not in the directory `here`."""
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
    """`config` as plain data that means the same in another process: files read, `astuner` resolved here.

    Raises:
        ConfigError: the configuration cannot be read, or an interpolation under `astuner` cannot be resolved.
    """
    return plain_data(resolve(config).whole)


def enter(folder: str) -> None:
    """In an actor: change to the caller's working directory, if this node has it, so that relative paths hold."""
    if os.path.isdir(folder):
        os.chdir(folder)


def own_error(exc: BaseException) -> AstunerError | None:
    """The AstunerError inside Ray's error, as it was raised; None when there is none."""
    seen: list[BaseException | None] = [exc]
    while seen:
        if (found := seen.pop()) is None:
            continue
        cause = getattr(found, "cause", None)
        if isinstance(found, AstunerError) and not isinstance(cause, BaseException):
            return found
        seen += [found.__cause__, cause if isinstance(cause, BaseException) else None]
    return None
