"""`python -m agentscope_tuner`: the `astuner` command, where its folder is not on the path."""

from agentscope_tuner.cli import main

main()
