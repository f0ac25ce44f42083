"""`python -m agentscope_tuner.rules` is `astuner rules`."""

from agentscope_tuner.cli.rules import app

app(prog_name="python -m agentscope_tuner.rules")
