"""The typed section `astuner.task_judge.rubrics_auto_grader`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from agentscope_tuner.config import SECTION, StrictSection, task_judge_section, validate_section
from agentscope_tuner.errors import ConfigError
from agentscope_tuner.graders.client.settings import ChatSettings, EndpointSection
from agentscope_tuner.graders.combine import VoteRule
from agentscope_tuner.graders.schema import GraderMode

WHERE = f"{SECTION}.rubrics_auto_grader"
DEFAULT_EXPERIMENT_DIR = "experiments"


class TrainingFile(StrictSection):
    """The section `training` of a data set."""

    #: labelled samples, one JSON object a line
    file_path: str


class DatasetFile(StrictSection):
    """The section `dataset_file` or `jsonl_dataset_file`."""

    training: TrainingFile


class AutoGraderConfig(EndpointSection):
    """The settings for learning rubrics and for judging by them."""

    #: the model that proposes rubrics and judges by them
    model_name: str = Field(min_length=1)

    grader_mode: Literal["pointwise", "listwise"] = "pointwise"
    language: Literal["en", "zh"] = "en"
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
    #: share of the score range
    success_threshold: float = Field(default=0.7, ge=0, le=1)

    #: astuner.experiment_dir, else experiments, when None
    experiment_dir: str | None = None
    #: learn at start-up when nothing was learned yet
    auto_learn: bool = False
    #: judge by rubrics that are not proven on held-out samples
    accept_unproven: bool = False
    #: rewards in 0 to 1, or the score itself
    reward_scale: Literal["unit", "raw"] = "unit"
    score_from: Literal["text", "logprobs"] = "text"
    votes: int = Field(default=1, ge=1)
    vote_rule: VoteRule = "median"
    #: listwise: ask in both orders
    swap: bool = False
    #: listwise: longer groups are ranked in chunks
    max_group_chars: int = Field(default=48_000, ge=1_000)
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
