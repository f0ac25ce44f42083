"""`astuner config`: look at a configuration; and the options of every command that reads one."""

from __future__ import annotations

from typing import Annotated

import typer
from omegaconf import OmegaConf

from agentscope_tuner.cli.console import config_errors
from agentscope_tuner.config import masked, resolve

Conf = Annotated[str, typer.Option("--conf", help="The training YAML.", metavar="FILE")]
Overrides = Annotated[list[str] | None, typer.Argument(help="Overrides.", metavar="[KEY=VALUE]...")]


def show(conf: Conf, overrides: Overrides = None) -> None:
    """Print the resolved configuration, secrets masked."""
    with config_errors():
        plain = masked(resolve(conf, overrides or ()).whole)
    print(OmegaConf.to_yaml(OmegaConf.create(plain)), end="")
