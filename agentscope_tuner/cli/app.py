"""The command's root: global options, and every command group mounted once."""

from __future__ import annotations

import logging
from typing import Annotated

import typer
from rich.logging import RichHandler

from agentscope_tuner._version import __version__
from agentscope_tuner.cli import (
    agree,
    audit,
    cache,
    check,
    compare,
    config,
    demo,
    env,
    explain,
    init,
    judge,
    judge_eval,
    llm,
    rollout,
    rubrics,
    rules,
    serve,
    view,
    watch,
)
from agentscope_tuner.cli.console import err

app = typer.Typer(
    name="astuner",
    help="The reward layer for RL fine-tuning of LLM agents.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(asked: bool) -> None:
    if asked:
        print(__version__)
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and exit.")
    ] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Log what the judges log, at INFO.")] = False,
) -> None:
    handler = RichHandler(console=err, show_path=False, markup=False)
    logging.basicConfig(level=logging.INFO if verbose else logging.WARNING, format="%(message)s", handlers=[handler])


app.command("demo")(demo.demo)
app.command("init")(init.init)
app.command("judge")(judge.judge)
app.command("rollout")(rollout.rollout)
app.command("config")(config.show)
app.command("check")(check.check)
app.command("explain")(explain.explain)
app.command("serve")(serve.serve)
app.command("audit")(audit.audit)
app.command("agree")(agree.agree)
app.command("compare")(compare.compare)
app.command("judge-eval")(judge_eval.judge_eval)
app.command("view")(view.view)
app.command("report")(view.report)
app.command("watch")(watch.watch)
app.add_typer(rules.app, name="rules")
app.add_typer(env.app, name="env")
app.add_typer(rubrics.app, name="rubrics")
app.add_typer(llm.app, name="llm")
app.add_typer(cache.app, name="cache")
