"""The typed section `astuner.task_judge.rubrics_auto_grader`, and the labelled samples that it names."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from agentscope_tuner.config import SECTION, StrictSection, task_judge_section, validate_section
from agentscope_tuner.errors import ConfigError, told
from agentscope_tuner.graders.client.settings import MODEL_NAME, ChatSettings, EndpointSection
from agentscope_tuner.graders.combine import GradingSection
from agentscope_tuner.graders.injection_defence import lower_letters, plain
from agentscope_tuner.graders.schema import GraderMode, is_finite_number

WHERE = f"{SECTION}.rubrics_auto_grader"
DEFAULT_EXPERIMENT_DIR = "experiments"
#: The fewest held-out queries on which a measurement means something.
LEAST_HELD_OUT = 10


class TrainingFile(StrictSection):
    """The section `training` of a data set."""

    #: labelled samples, one JSON object a line
    file_path: str = Field(description="the file of labelled samples")


class DatasetFile(StrictSection):
    """The section `dataset_file` or `jsonl_dataset_file`."""

    training: TrainingFile


class AutoGraderConfig(EndpointSection, GradingSection):
    """The settings for learning rubrics and for judging by them."""

    #: the model that proposes rubrics and judges by them
    model_name: str = Field(min_length=1, description=MODEL_NAME)

    grader_mode: Literal["pointwise", "listwise"] = "pointwise"
    min_score: float = 0.0
    max_score: float = 10.0
    input_data_type: Literal["dataset_file", "jsonl_dataset_file"] = "dataset_file"
    dataset_file: DatasetFile | None = None
    jsonl_dataset_file: DatasetFile | None = None
    #: the query's field, of the task or of its metadata
    query_field: str = "main_query"
    #: the answer's key in the workflow output's metadata
    answer_field: str = "final_answer"
    #: the labelled answer's key in a sample's metadata
    reference_field: str = "answer"
    #: key of a right answer in the metadata of samples and tasks, shown in learning and in judging
    ground_truth_field: str | None = None

    #: rubrics proposed for each sample
    query_specific_generate_number: int = Field(default=1, ge=1)
    #: sort the chosen rubrics into themes
    enable_categorization: bool = False
    #: how many themes at most
    categories_number: int = Field(default=5, ge=1)
    #: revisions of one proposal
    max_epochs: int = Field(default=5, ge=0)
    #: samples worked on between two selections
    batch_size: int = Field(default=10, ge=1)
    #: rubrics chosen from one batch at most
    mcr_batch_size: int = Field(default=10, ge=1)
    #: coding rate a rubric must add to be chosen
    min_increment_threshold: float = Field(default=0.002, ge=0)
    #: batches in a row that add no rubric before learning stops
    patience: int = Field(default=2, ge=1)
    #: batches at most
    max_iterations: int = Field(default=50, ge=1)
    max_total_rubrics: int = Field(default=200, ge=1)
    #: in place of the packaged one
    custom_evaluation_prompt: str | None = None

    #: astuner.experiment_dir, else experiments, when None
    experiment_dir: str | None = None
    #: learn at start-up when nothing was learned yet
    auto_learn: bool = False
    #: judge by rubrics that are not proven on held-out samples
    accept_unproven: bool = False
    #: a tenth of the score range when None
    label_tolerance: float | None = Field(default=None, ge=0)
    #: share of the queries kept for evaluation; at least ten, up to half of them
    holdout: float = Field(default=0.2, gt=0, lt=1)
    #: of this endpoint; TF-IDF, computed here, if None
    embedding_model: str | None = None
    seed: int = 0

    def settings(self) -> ChatSettings:
        """The judge model's settings.

        Raises:
            ConfigError: `client` holds an unknown key or a wrong value.
        """
        fields = {**self.client, "model_name": self.model_name, "base_url": self.base_url, "api_key": self.api_key}
        return validate_section(ChatSettings, fields, f"{WHERE}.client")

    @property
    def mode(self) -> GraderMode:
        """`grader_mode` as a GraderMode."""
        return GraderMode(self.grader_mode)

    @property
    def tolerance(self) -> float:
        """The largest difference from its label at which a score still reproduces the label."""
        return (self.max_score - self.min_score) / 10 if self.label_tolerance is None else self.label_tolerance

    def training_file(self) -> Path:
        """The file of labelled samples.

        Raises:
            ConfigError: no file is configured.
        """
        dataset = self.dataset_file if self.input_data_type == "dataset_file" else self.jsonl_dataset_file
        if dataset is None:
            raise ConfigError(
                f"{WHERE}.{self.input_data_type}.training.file_path is missing: the labelled samples to learn from"
            )
        return Path(dataset.training.file_path)


def auto_grader_config(whole: Any) -> tuple[AutoGraderConfig, Path]:
    """The typed section of a whole configuration, and the path of the learned grader's file.

    Raises:
        ConfigError: a key is unknown, a value wrong, or values contradict each other.
    """
    config = validate_section(AutoGraderConfig, task_judge_section(whole).rubrics_auto_grader, WHERE)
    if config.min_score >= config.max_score:
        raise ConfigError(f"{WHERE}: min_score {config.min_score:g} must be below max_score {config.max_score:g}")
    config.settings()
    astuner = whole.get("astuner") if isinstance(whole, Mapping) or hasattr(whole, "get") else None
    outer = astuner.get("experiment_dir") if astuner is not None else None
    folder = config.experiment_dir or (outer if outer not in (None, "auto") else DEFAULT_EXPERIMENT_DIR)
    return config, Path(str(folder)) / "auto_grader.json"


_FEWEST = 5


@dataclass(frozen=True, slots=True)
class Sample:
    """One labelled sample.

    Attributes:
        line: the number of its line in the file, for messages.
        query: the question that the answers answer.
        answers: one answer in pointwise mode, two or more candidates in listwise mode.
        labels: the score of the answer, or the candidates' ranks, where 1 is best and ties are allowed.
        ground_truth: the right answer; None if no `ground_truth_field` is configured.
    """

    line: int
    query: str
    answers: tuple[str, ...]
    labels: tuple[float, ...]
    ground_truth: str | None = None

    @property
    def same_query(self) -> str:
        """A key that is equal for queries which differ only in case, spacing, punctuation or widths."""
        return _letters(self.query)


def check_row(row: Mapping[str, Any], config: AutoGraderConfig) -> str | None:
    """Why rubrics cannot judge a row, or cannot be learned from a labelled row; None if they can.

    A row is labelled by `metadata.score` in pointwise mode, and by ranks in `metadata.candidates` in listwise mode.
    """
    metadata = row["metadata"]
    query = row.get(config.query_field, metadata.get(config.query_field))
    if not isinstance(query, str) or not query.strip():
        return f"missing: no text {config.query_field!r}, the query, neither in the task nor in its metadata"
    candidates = metadata.get("candidates")
    ranked = isinstance(candidates, list) and any(isinstance(one, Mapping) and "rank" in one for one in candidates)
    if not (ranked if config.mode is GraderMode.LISTWISE else "score" in metadata):
        return None
    try:
        _sample(row, 0, config)
    except KeyError as exc:
        return f"missing: the labelled sample has no {exc}"
    except (ValueError, TypeError) as exc:
        return f"unusable label: {exc}"
    return None


def read_samples(path: Path, config: AutoGraderConfig) -> list[Sample]:
    """The samples in `path`.

    Raises:
        ConfigError: the file cannot be read, a row is malformed (the message names its line), or rows are too few.
    """
    with told(f"cannot read the labelled samples {str(path)!r}"):
        # Not `splitlines`, which also ends lines at characters that JSON may hold within a text
        lines = path.read_text(encoding="utf-8").split("\n")
    samples = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            samples.append(_sample(json.loads(line), number, config))
        except (ValueError, KeyError, TypeError) as exc:
            wanted = (
                "metadata.answer and metadata.score" if config.mode is GraderMode.POINTWISE else "metadata.candidates"
            )
            what = f"missing {exc}" if isinstance(exc, KeyError) else str(exc)
            raise ConfigError(
                f"{path}, line {number}: {what}; a {config.grader_mode} row holds {config.query_field} and {wanted}"
            ) from exc
    if len(samples) < _FEWEST:
        raise ConfigError(f"{path}: {len(samples)} labelled samples; learning and evaluation need {_FEWEST} at least")
    return samples


def distinct(samples: Sequence[Sample]) -> list[Sample]:
    """The samples without copies: the first of equal samples stays, with the mean of their labels."""
    copies: dict[tuple[str, ...], list[Sample]] = {}
    for sample in samples:
        copies.setdefault((sample.same_query, *map(_letters, sample.answers)), []).append(sample)
    return [
        replace(
            same[0], labels=tuple(sum(labels) / len(same) for labels in zip(*(s.labels for s in same), strict=True))
        )
        for same in copies.values()
    ]


def _letters(text: str) -> str:
    return lower_letters(plain(text)) or text.strip()


def _sample(row: Mapping[str, Any], line: int, config: AutoGraderConfig) -> Sample:
    metadata = row["metadata"]
    query = row[config.query_field] if config.query_field in row else metadata[config.query_field]
    truth = None if config.ground_truth_field is None else _text(metadata[config.ground_truth_field])
    if config.mode is GraderMode.POINTWISE:
        answer, label = metadata[config.reference_field], metadata["score"]
        if not is_finite_number(label) or not config.min_score <= label <= config.max_score:
            raise ValueError(f"score must lie within {config.min_score:g} to {config.max_score:g}, got {label!r}")
        return Sample(line, _text(query), (_text(answer),), (float(label),), truth)
    candidates = metadata["candidates"]
    if len(candidates) < 2:
        raise ValueError(f"candidates must be two or more, got {len(candidates)}")
    ranks = [candidate["rank"] for candidate in candidates]
    if any(type(rank) is not int or rank < 1 for rank in ranks) or len(set(ranks)) == 1:
        raise ValueError(f"ranks must be whole numbers from 1 that tell candidates apart, got {ranks!r}")
    return Sample(line, _text(query), tuple(_text(c["answer"]) for c in candidates), tuple(map(float, ranks)), truth)


def _text(value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"query and answers must be texts, got {value!r:.100}")
    return value


def split(samples: Sequence[Sample], holdout: float, seed: int) -> tuple[list[Sample], list[Sample]]:
    """Split `samples` into those to learn from and those held out; the same `seed` gives the same split.

    Copies count once, and all samples of a query are on one side. About the share `holdout` of the queries is held
    out; if a proof needs more queries, up to half of them are. Queries are sorted by mean label (in listwise
    mode by the labels of their first sample), with equal ones shuffled. Every n-th query is held out, so that both
    sides span all labels.

    Raises:
        ConfigError: there is only one query, so that nothing can be held out.
    """
    groups: dict[str, list[Sample]] = {}
    for sample in distinct(samples):
        groups.setdefault(sample.same_query, []).append(sample)
    if len(groups) < 2:
        raise ConfigError("all labelled samples share one query: rubrics are measured on queries they have not seen")
    generator = random.Random(seed)
    ordered = sorted(groups.values(), key=lambda group: (_mean_label(group), generator.random()))
    size = max(1, round(holdout * len(ordered)), min(LEAST_HELD_OUT, len(ordered) // 2))
    size = min(size, len(ordered) - 1)
    step = len(ordered) / size
    start = generator.random() * step
    chosen = {int(start + step * index) for index in range(size)}
    learn = [sample for index, group in enumerate(ordered) if index not in chosen for sample in group]
    held = [sample for index, group in enumerate(ordered) if index in chosen for sample in group]
    return sorted(learn, key=lambda sample: sample.line), sorted(held, key=lambda sample: sample.line)


def _mean_label(group: Sequence[Sample]) -> tuple[float, ...]:
    if any(len(sample.labels) > 1 for sample in group):
        return tuple(sorted(group[0].labels))
    return (sum(sample.labels[0] for sample in group) / len(group),)


def digest(samples: Sequence[Sample]) -> str:
    """A digest of the samples' content; it does not depend on the file's path."""
    plain = [[sample.query, sample.answers, sample.labels] for sample in samples]
    return hashlib.sha256(json.dumps(plain, ensure_ascii=False).encode("utf-8", "replace")).hexdigest()[:16]
