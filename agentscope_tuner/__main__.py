"""`python -m agentscope_tuner`: the `astuner` command, for shells whose PATH lacks the command's folder."""

from agentscope_tuner.cli import main

main()
