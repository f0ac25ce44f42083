"""One killable child process, under the sandbox's workers, the engines' workers and the environment server's episodes.

`process` is the parent's end, `entry` the child's. `ask` sends a question and waits for its answer under a deadline.
"""
