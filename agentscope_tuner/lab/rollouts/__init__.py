"""Makes rollouts without a trainer: it reads tasks, runs the workflow on each several times, and judges every result.

Each rollout has a thread and an event loop of its own. So a workflow that waits for ever, blocks or ignores its
cancellation delays no other rollout: its row says `timed_out`, and where the workflow stood. Threads have two limits. A
workflow that computes in Python without end keeps its share of the interpreter until the process ends, and a workflow
that holds the interpreter's lock inside a C call stops the whole process. `RolloutProcesses` runs rollouts in several
processes.
"""
