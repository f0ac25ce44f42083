"""The file of a learned grader, `auto_grader.json`."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agentscope_tuner._version import __version__
from agentscope_tuner.errors import ConfigError
from agentscope_tuner.graders.arguments import OPTIONAL
from agentscope_tuner.graders.client.chat_model import ChatModel
from agentscope_tuner.graders.llm_grader import LLMGrader
from agentscope_tuner.graders.prompt.template import ChatMessage, LanguageEnum, PromptTemplate
from agentscope_tuner.rubrics import prompts
from agentscope_tuner.rubrics.config import WHERE, AutoGraderConfig
from agentscope_tuner.rubrics.proof import Verdict, unproven


class Rubric(BaseModel):
    """One learned rubric."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    text: str = Field(min_length=1)
    samples: list[int] = Field(description="lines of the samples whose labels it reproduced")
    gain: float = Field(description="coding rate it added to the set when it was chosen")
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
    data: dict[str, Any] = Field(default_factory=dict, description="the samples learned from")
    learning: dict[str, Any] = Field(default_factory=dict, description="how learning went")
    evaluation: dict[str, Any] = Field(default_factory=dict, description="agreement on held-out samples")
    verdict: Verdict | None = Field(default=None, description="None in files of version 1, which kept none")


def in_prompt(rubrics: Sequence[Rubric]) -> str:
    """Rubrics as lines for the prompt, under their themes where they have any."""
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
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    # Ctrl-C included: half a file must not stay in the folder
    except BaseException:
        os.unlink(temporary)
        raise


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


def make_grader(config: AutoGraderConfig, rubrics: str, model: ChatModel | None = None) -> LLMGrader:
    """The grader that judges by `rubrics`, or without any if `rubrics` is empty.

    Raises:
        ConfigError: `custom_evaluation_prompt` lacks a variable or uses an unknown one, or options contradict each
            other.
    """
    language = LanguageEnum(config.language)
    try:
        return LLMGrader(
            model or config.settings(),
            "auto_grader",
            config.mode,
            evaluation_template(config),
            language,
            min_score=config.min_score,
            max_score=config.max_score,
            rubrics=rubrics or prompts.NO_RUBRICS[language],
            score_from=config.score_from,
            votes=config.votes,
            vote_rule=config.vote_rule,
            swap=config.swap,
            optional=(*OPTIONAL, "ground_truth") if config.ground_truth_field is None else OPTIONAL,
            # `judging` checks for answers without content itself, in groups too
            filter_no_content=False,
        )
    except ValueError as exc:
        raise ConfigError(f"{WHERE}: {exc}") from exc


def evaluation_template(config: AutoGraderConfig) -> PromptTemplate:
    """`custom_evaluation_prompt` as a template, else the packaged one.

    Raises:
        ConfigError: the custom prompt lacks a variable or uses an unknown one.
    """
    if config.custom_evaluation_prompt is None:
        return prompts.EVALUATION[config.mode]
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
