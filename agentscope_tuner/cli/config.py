"""`astuner config`: shows a configuration. Also the options of every command that reads one."""

from __future__ import annotations

from typing import Annotated

import typer
from omegaconf import OmegaConf

from agentscope_tuner.cli.console import config_errors, printable
from agentscope_tuner.cli.judge_tree import judge_tree
from agentscope_tuner.config import masked, resolve

Conf = Annotated[str, typer.Option("--conf", help="The training YAML.", metavar="FILE")]
Overrides = Annotated[list[str] | None, typer.Argument(help="Overrides.", metavar="[KEY=VALUE]...")]


def show(conf: Conf, overrides: Overrides = None) -> None:
    """Print the resolved configuration, secrets masked; of a judge that asks others, first the tree as a comment."""
    with config_errors():
        settings = resolve(conf, overrides or ())
        plain = masked(settings.whole)
    tree = judge_tree(settings.task_judge)
    if len(tree) > 1:
        print("".join(f"# {printable(line)}\n" for line in tree), end="")
    print(OmegaConf.to_yaml(OmegaConf.create(plain)), end="")
