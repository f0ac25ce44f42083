"""`astuner config` and `astuner check`: look at a configuration without judging anything."""

from __future__ import annotations

from typing import Annotated

import typer
from omegaconf import OmegaConf

from agentscope_tuner.cli.console import config_errors, out
from agentscope_tuner.config import masked, resolve
from agentscope_tuner.task_judge.protocol import load_judge

Conf = Annotated[str, typer.Option("--conf", help="The training YAML.", metavar="FILE")]
Overrides = Annotated[list[str] | None, typer.Argument(help="Overrides.", metavar="[KEY=VALUE]...")]


def show(conf: Conf, overrides: Overrides = None) -> None:
    """Print the resolved configuration, secrets masked."""
    with config_errors():
        plain = masked(resolve(conf, overrides or ()).whole)
    print(OmegaConf.to_yaml(OmegaConf.create(plain)), end="")


def check(conf: Conf, overrides: Overrides = None) -> None:
    """Load the judge and judge nothing: exit code 0 when a training run could use it, 2 with every problem when not."""
    with config_errors():
        settings = resolve(conf, overrides or ())
        judge = load_judge(settings)
    section = settings.task_judge
    out.print(f"ok: {type(judge.inner).__name__}, {len(section.rules)} rules, on_error: {section.on_error}")
