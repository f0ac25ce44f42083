"""`astuner` is the command and the name in talk; the package that is imported is `agentscope_tuner`."""

raise ImportError("import agentscope_tuner, whose command is astuner: from agentscope_tuner import load_judge")
