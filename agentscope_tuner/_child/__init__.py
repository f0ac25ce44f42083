"""A child process that can be killed: the sandbox, the engines and the environment server build on it.

`process` is the parent's end, `entry` the child's. `ask` sends a question and waits for its answer under a deadline.
"""
