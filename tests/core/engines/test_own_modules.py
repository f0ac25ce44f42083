"""What a cluster gets of the working directory: the packages and modules that were imported from it, and no other."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from agentscope_tuner.engines.ray import own_modules, portable
from agentscope_tuner.errors import ConfigError


@pytest.mark.slow
def test_packages_and_modules_of_the_working_directory_go_along(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for file in ("ray_own_package/__init__.py", "ray_own_package/deep/__init__.py", "ray_own_module.py"):
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_text("")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    __import__("ray_own_package.deep")
    __import__("ray_own_module")
    try:
        assert own_modules() == [str(tmp_path.resolve() / name) for name in ("ray_own_module.py", "ray_own_package")]
        monkeypatch.chdir(Path(sys.prefix))
        assert own_modules() == [], "installed packages are on the cluster already"
    finally:
        for name in ("ray_own_package", "ray_own_package.deep", "ray_own_module"):
            del sys.modules[name]


def test_what_the_cluster_could_not_resolve_is_refused_here() -> None:
    config = {"astuner": {"experiment_name": "${nowhere.name}", "task_judge": {"judge_protocol": "pkg.mod->Judge"}}}
    with pytest.raises(ConfigError, match="nowhere"):
        portable(config)
