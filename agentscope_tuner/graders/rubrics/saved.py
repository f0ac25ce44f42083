"""The file of a learned grader, `auto_grader.json`: its rubrics, their samples, and whether they are proven.

Beside it lie the journal of learning, by which a run that was killed continues where it stopped, and a lock: one
process at a time learns a grader, and the others can name that process.

The prompts that propose, revise and sort rubrics, and that judge by them, are in prompts.toml.
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agentscope_tuner._version import __version__
from agentscope_tuner.errors import ConfigError, told
from agentscope_tuner.graders.base_grader import OPTIONAL
from agentscope_tuner.graders.client.chat_model import ChatModel
from agentscope_tuner.graders.client.reply import Reply
from agentscope_tuner.graders.client.usage import Usage
from agentscope_tuner.graders.client.verdict_cache import decode_reply, encode_reply
from agentscope_tuner.graders.llm_grader import LLMGrader
from agentscope_tuner.graders.rubrics.settings import LEAST_HELD_OUT, WHERE, AutoGraderConfig
from agentscope_tuner.graders.schema import GraderMode
from agentscope_tuner.graders.template import ChatMessage, LanguageEnum, PromptTemplate, read_words, template_of
from agentscope_tuner.storage import write_whole

#: Words that are filled into prompts, by their names and languages.
WORDS = read_words(Path(__file__).with_name("prompts.toml"))
PROPOSE, REVISE, SORT = (template_of(WORDS[name]) for name in ("propose", "revise", "sort"))
EVALUATION = {
    GraderMode.POINTWISE: template_of(WORDS["score"]),
    GraderMode.LISTWISE: template_of(WORDS["rank"]),
}


#: The largest p-value: shuffled labels may rarely agree in order as well as the learned grader does.
MOST_CHANCE = 0.01


class Verdict(BaseModel):
    """The decision whether rubrics may judge; the saved file keeps it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    accepted: bool
    #: what speaks against the set; none when accepted
    reasons: list[str] = Field(default_factory=list)


def verdict_on(report: dict[str, Any]) -> Verdict:
    """The verdict on the measurements of `evaluate`.

    A set is accepted if all of these hold on the samples held out:

    - There are `LEAST_HELD_OUT` queries or more.
    - It has a smaller mean absolute error than the model without rubrics: the interval of the gain lies above 0.
    - Its error is below the error of the constant that predicts the mean label.
    - Its order agrees with the order of the labels better than chance explains.
    """
    against: list[str] = []
    if report["queries"] < LEAST_HELD_OUT:
        against.append(f"{report['queries']} queries were held out, and a proof needs {LEAST_HELD_OUT}")
    gain = report["mae_gain"]
    if gain["interval"] is None or gain["interval"][0] <= 0:
        against.append(f"its gain over the model without rubrics, {_gain_text(gain)}, is not surely above 0")
    learned, constant = report["learned"]["mae"]["value"], report["constant_mean"]["mae"]["value"]
    if learned >= constant:
        against.append(f"its error, {learned:g}, is not below that of always guessing the mean, {constant:g}")
    rho, chance = report["learned"]["spearman"]["value"], report["learned"]["order_by_chance"]
    if rho is None or rho <= 0:
        against.append(f"its order does not follow the labels (rank correlation {'undefined' if rho is None else rho})")
    elif chance is None or chance > MOST_CHANCE:
        against.append(f"chance explains its order (rank correlation {rho:g}, p = {chance}, at most {MOST_CHANCE:g})")
    return Verdict(accepted=not against, reasons=against)


def unproven(reasons: Sequence[str]) -> str:
    """The `reasons` of a verdict against a set of rubrics, in one line."""
    return "; ".join(reasons) or "it was never measured"


def _gain_text(gain: dict[str, Any]) -> str:
    spread = gain["interval"]
    return f"{gain['value']:g}" + (f" (95 % interval {spread[0]:g} to {spread[1]:g})" if spread else "")


class Rubric(BaseModel):
    """One learned rubric."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    text: str = Field(min_length=1)
    #: lines of the samples whose labels it reproduced
    samples: list[int]
    #: coding rate it added to the set when it was chosen
    gain: float
    theme: str | None = None


class SavedGrader(BaseModel):
    """The result of learning. It holds no key."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    schema_version: Literal[1, 2] = 2
    astuner_version: str = __version__
    created: str = Field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
    model_name: str
    grader_mode: Literal["pointwise", "listwise"]
    language: Literal["en", "zh"]
    min_score: float
    max_score: float
    rubrics: list[Rubric] = Field(min_length=1)
    #: the samples learned from
    data: dict[str, Any] = Field(default_factory=dict)
    #: how learning went
    learning: dict[str, Any] = Field(default_factory=dict)
    #: agreement on held-out samples
    evaluation: dict[str, Any] = Field(default_factory=dict)
    #: None in files of version 1, which kept none
    verdict: Verdict | None = None


def in_prompt(rubrics: Sequence[Rubric]) -> str:
    """Rubrics as numbered lines for the prompt, under headings such as `## style` if they have themes."""
    lines: list[str] = []
    theme: str | None = None
    for number, rubric in enumerate(rubrics, start=1):
        if rubric.theme is not None and rubric.theme != theme:
            lines.append(f"## {rubric.theme}")
        theme = rubric.theme
        lines.append(f"{number}. {rubric.text}")
    return "\n".join(lines)


def check_proven(saved: SavedGrader, path: Path, config: AutoGraderConfig) -> None:
    """Refuse rubrics that are not proven on held-out samples, unless `accept_unproven` is set.

    Raises:
        ConfigError: the rubrics are refused; the message gives the reasons and the ways out.
    """
    if config.accept_unproven or (saved.verdict is not None and saved.verdict.accepted):
        return
    why = (
        "it keeps no verdict: an older version learned it" if saved.verdict is None else unproven(saved.verdict.reasons)
    )
    raise ConfigError(
        f"the rubrics in {str(path)!r} are not proven: {why}; learn them again with more or other samples "
        f"(astuner rubrics learn), or set {WHERE}.accept_unproven: true"
    )


def save(saved: SavedGrader, path: Path) -> None:
    """Write `saved` to `path`, whole or not at all. The JSON is indented, so that versions can be compared by line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(saved.model_dump(mode="json"), indent=2, ensure_ascii=False) + "\n"
    write_whole(path, text.encode("utf-8", "replace").decode())


def load(path: Path, config: AutoGraderConfig, conf_hint: str = "<your config>.yaml") -> SavedGrader:
    """The learned grader in `path`, checked against `config`.

    Raises:
        ConfigError: the file is missing, damaged, or learned for another mode, language or range. The message names
            the command to run.
    """
    command = f"run: astuner rubrics learn --conf {conf_hint}"
    try:
        saved = SavedGrader.model_validate_json(path.read_bytes())
    except FileNotFoundError as exc:
        raise ConfigError(f"no learned grader at {str(path)!r}; {command}") from exc
    except (OSError, ValidationError) as exc:
        problem = exc.errors()[0]["msg"] if isinstance(exc, ValidationError) else str(exc)
        raise ConfigError(f"the learned grader {str(path)!r} is damaged ({problem}); {command}") from exc
    for key in ("grader_mode", "language", "min_score", "max_score"):
        was, now = getattr(saved, key), getattr(config, key)
        if was != now:
            raise ConfigError(f"{WHERE}.{key} is {now!r}, but {str(path)!r} was learned with {was!r}; {command}")
    return saved


# The keys that an LLMGrader has under the same names
_GRADERS_OWN = {"language", "min_score", "max_score", "score_from", "votes", "vote_rule", "swap"}


def make_grader(config: AutoGraderConfig, rubrics: str, model: ChatModel | None = None) -> LLMGrader:
    """The grader that judges by `rubrics`, or without any if `rubrics` is empty.

    Raises:
        ConfigError: `custom_evaluation_prompt` lacks a variable or uses an unknown one, or options contradict each
            other.
    """
    language = LanguageEnum(config.language)
    with told(WHERE, ValueError):
        return LLMGrader(
            model or config.settings(),
            "auto_grader",
            config.mode,
            evaluation_template(config),
            rubrics=rubrics or WORDS["no_rubrics"][language],
            **config.model_dump(include=_GRADERS_OWN),
            optional=(*OPTIONAL, "ground_truth") if config.ground_truth_field is None else OPTIONAL,
        )


def evaluation_template(config: AutoGraderConfig) -> PromptTemplate:
    """`custom_evaluation_prompt` as a template, else the packaged one.

    Raises:
        ConfigError: the custom prompt lacks a variable or uses an unknown one.
    """
    if config.custom_evaluation_prompt is None:
        return EVALUATION[config.mode]
    language = LanguageEnum(config.language)
    template = PromptTemplate(messages={language: [ChatMessage(content=config.custom_evaluation_prompt)]})
    known = {"query", "response", "rubrics", "ground_truth", "min_score", "max_score"}
    used = template.variables(language)
    if "ground_truth" in used and config.ground_truth_field is None:
        raise ConfigError(
            f"{WHERE}.custom_evaluation_prompt uses {{ground_truth}}: name its key in {WHERE}.ground_truth_field"
        )
    if missing := {"query", "response", "rubrics"} - used:
        raise ConfigError(f"{WHERE}.custom_evaluation_prompt must use {{{'}, {'.join(sorted(missing))}}}")
    if unknown := used - known:
        raise ConfigError(
            f"{WHERE}.custom_evaluation_prompt uses unknown {sorted(unknown)!r}; known variables are {sorted(known)!r}"
        )
    return template


class Journal:
    """A ReplyStore in a JSONL file that only grows.

    Learning is seeded, so the same replies lead to the same questions. A resumed run therefore asks only the questions
    that the journal does not answer. Learning holds a lock, so that one process at a time writes the journal.

    Attributes:
        resumed: the number of replies that earlier runs left.
        spent_before: the usage of these replies.
    """

    def __init__(self, path: Path) -> None:
        self._replies: dict[str, Reply] = {}
        self.resumed = 0
        self.spent_before = Usage()
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file: IO[bytes] = path.open("a+b")
        self._read()

    def _read(self) -> None:
        self._file.seek(0)
        whole = 0
        for line in self._file:
            if not line.endswith(b"\n"):
                break  # a run was killed while it wrote this line
            whole += len(line)
            try:
                key, reply, *usage = json.loads(line)
                self._replies[key] = decode_reply(json.dumps(reply))
                self.spent_before += Usage(**usage[0]) if usage else Usage(calls=1)
            except (ValueError, KeyError, TypeError):
                continue  # a damaged line costs one call
        self._file.truncate(whole)
        self._file.seek(0, 2)
        self.resumed = len(self._replies)

    def get(self, key: str) -> Reply | None:
        """See ReplyStore."""
        return self._replies.get(key)

    def put(self, key: str, reply: Reply, usage: Usage) -> None:
        """See ReplyStore. The operating system has the reply when this returns, so that a kill cannot lose it."""
        self._replies[key] = reply
        line = json.dumps([key, json.loads(encode_reply(reply)), usage._asdict()])
        self._file.write(line.encode() + b"\n")
        self._file.flush()

    def close(self) -> None:
        """Close the file."""
        self._file.close()


_POLL_SECONDS = 0.2


@contextmanager
def locked(path: Path, patience: float = 0.0, progress: Path | None = None) -> Iterator[None]:
    """Hold the lock of the grader at `path`. The system releases it when the process ends in any way.

    Args:
        path: the grader's file.
        patience: how many seconds to wait while the holder makes no progress.
        progress: a file that grows while the holder of the lock works.

    Raises:
        ConfigError: another process holds the lock; the message names it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.with_name("auto_grader.lock").open("a+") as lock:
        waited_since, seen = time.monotonic(), _size(progress)
        while not _taken(lock):
            if _size(progress) != seen:
                waited_since, seen = time.monotonic(), _size(progress)
            if time.monotonic() - waited_since >= patience:
                lock.seek(0)
                holder = lock.read(200).strip() or "a process that left no name"
                raise ConfigError(
                    f"{str(path)!r} is being learned by {holder}: wait for it, or end it (a stopped one holds the "
                    f"lock, too)"
                )
            time.sleep(_POLL_SECONDS)
        lock.seek(0)
        lock.truncate()
        lock.write(f"process {os.getpid()} on {socket.gethostname()} since {datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC\n")
        lock.flush()
        yield


def _taken(lock: IO[str]) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _size(path: Path | None) -> int:
    try:
        return path.stat().st_size if path is not None else 0
    except OSError:
        return 0
