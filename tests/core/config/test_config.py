"""Configuration fails at load, with the key, the value and the way out; what is not ours passes through."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from omegaconf import OmegaConf

from agentscope_tuner.config import load_config, masked, resolve, task_judge_section
from agentscope_tuner.errors import ConfigError

TRAINING_YAML = """
hydra: {searchpath: ["file://verl/trainer/config"]}
defaults: [verl_default, trinity_default, _self_]
trinity: {algorithm: {algorithm_type: grpo}, checkpoint: "${trinity.nowhere}"}
verl: {trainer: {n_gpus_per_node: 8}}
data: {train_batch_size: 32, path: "???"}
rollout: {agentscope_workflow: "tutorial.my_task.workflow->MyWorkflow"}
astuner:
  experiment_name: run
  task_judge:
    judge_protocol: pkg.mod->Judge
    rule_reward: -0.5
"""


@pytest.fixture
def training_yaml(tmp_path: Path) -> Path:
    path = tmp_path / "train.yaml"
    path.write_text(TRAINING_YAML, encoding="utf-8")
    return path


def test_a_training_yaml_keeps_its_foreign_sections(training_yaml: Path) -> None:
    config = load_config(training_yaml)
    assert config.defaults == ["verl_default", "trinity_default", "_self_"]
    assert config.verl.trainer.n_gpus_per_node == 8
    assert config.astuner.experiment_name == "run"


def test_layers_are_defaults_then_file_then_overrides(training_yaml: Path) -> None:
    config = load_config(training_yaml, ["astuner.task_judge.on_error=zero", "data.path=tasks.jsonl"])
    section = task_judge_section(config)
    assert (section.on_error, section.rule_reward, section.judge_type) == ("zero", -0.5, "customized_protocol")
    assert config.data.path == "tasks.jsonl"
    # judges receive the whole config, defaults included
    assert config.astuner.task_judge.math.equivalence == "symbolic"


def test_the_callers_config_is_never_changed() -> None:
    mine = OmegaConf.create({"astuner": {"task_judge": {"rule_reward": 0.25}}})
    OmegaConf.set_readonly(mine, True)
    OmegaConf.set_struct(mine, True)
    assert load_config(mine).astuner.task_judge.on_error == "raise"
    assert mine == {"astuner": {"task_judge": {"rule_reward": 0.25}}}


@pytest.mark.parametrize("text", ["", "astuner:", "astuner:\n  task_judge:", "astuner:\n  task_judge:\n    rules:"])
def test_a_heading_with_nothing_under_it_is_an_empty_section(tmp_path: Path, text: str) -> None:
    path = tmp_path / "empty.yaml"
    path.write_text(text, encoding="utf-8")
    assert task_judge_section(load_config(path)).rules == []


@pytest.mark.parametrize(
    ("section", "words"),
    [
        ({"judge_protocl": "a->B"}, ["judge_protocl", "did you mean 'judge_protocol'?", "judge_type", "rule_reward"]),
        ({"math": {"equivalance": "exact"}}, ["math.equivalance", "'equivalence'"]),
        ({"math": {"equivalence": "fuzzy"}}, ["math.equivalence", "'symbolic' or 'exact'", "'fuzzy'"]),
        (
            {"judge_type": "lmm"},
            [
                "judge_type",
                "'llm', 'pairwise', 'task_rubrics', 'reward_model', 'verifier', 'combined' or 'routed'",
                "'lmm'",
            ],
        ),
        ({"rule_reward": "0.5"}, ["rule_reward", "valid number", "'0.5'"]),
        ({"rule_reward": float("nan")}, ["rule_reward", "finite", "nan"]),
        ({"rule_reward": True}, ["rule_reward", "True"]),
        ({"rules": {"id": "x"}}, ["rules", "must be a list, in YAML a line `- …`"]),
        ({"judge_kwargs": {"a": "${nowhere}"}}, ["nowhere"]),
        ({"on_error": "ignore", "judge_type": 7}, ["on_error", "'ignore'", "judge_type", "7"]),
        (["not", "a", "mapping"], ["astuner.task_judge", "must be a mapping"]),
    ],
)
def test_a_wrong_section_is_refused_with_the_key_the_value_and_the_way_out(section: Any, words: list[str]) -> None:
    with pytest.raises(ConfigError) as caught:
        load_config({"astuner": {"task_judge": section}})
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ("ours", "words"),
    [({"task_judgee": {}}, "did you mean 'task_judge'?"), (3, "astuner must be a mapping"), ([1], "[1]")],
)
def test_a_misspelt_section_is_not_an_absent_one(ours: Any, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_config({"astuner": ours})
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: [1", ["not valid YAML", "line 1"]),
        ("- a\n- b", ["mapping at its top"]),
        ("a: 1\na: 2", ["not valid YAML", "duplicate"]),
        # these were called no valid YAML, and the next one ended in a traceback
        ("a: 1\nb: !!python/tuple [a]", ["has the tag !!python/tuple in line 2, and tags are refused", "may run code"]),
        ("a: !include b.yaml", ["has the tag !include in line 1"]),
        ("a: !!int x", ["holds a value that does not fit its tag, such as `!!int x`: invalid literal for int()"]),
        ("a: !!timestamp 2026-01-01", ["does not fit its tag", "'date' is not a supported"]),
    ],
)
def test_a_file_that_is_no_mapping_is_refused(tmp_path: Path, text: str, words: list[str]) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    for word in ["bad.yaml", *words]:
        assert word in str(caught.value)


def test_a_missing_file_and_a_malformed_override_are_named() -> None:
    with pytest.raises(ConfigError, match=r"nowhere\.yaml"):
        load_config("nowhere.yaml")
    with pytest.raises(ConfigError, match=r"key=value, without spaces, got 'astuner\.rules'"):
        load_config(None, ["astuner.rules"])


def test_an_interpolation_that_cannot_be_shown_is_an_error_of_the_configuration() -> None:
    with pytest.raises(ConfigError, match="NO_SUCH_VARIABLE"):
        masked(load_config({"astuner": {"other": "${oc.env:NO_SUCH_VARIABLE}"}}))


def test_what_the_configuration_reads_from_the_environment_is_masked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pattern of a rule, `${oc.env:BANNED}`, was printed in clear."""
    monkeypatch.setenv("BANNED", "codename-aurora")
    monkeypatch.setenv("DIGIT", "1")
    rules = [{"id": "a1", "kind": "regex_match", "pattern": "${oc.env:BANNED}|x${oc.env:DIGIT}", "action": "mark_bad"}]
    judge = {"rules": rules, "name": "${.judge_kwargs.copied}", "judge_kwargs": {"copied": "${oc.env: BANNED, none}"}}
    settings = resolve({"astuner": {"task_judge": judge}, "data": {"path": "codename-aurora/1"}})
    shown = masked(settings.whole, settings.environment)
    section = shown["astuner"]["task_judge"]
    assert section["rules"][0]["pattern"] == "***|x1"
    assert section["judge_kwargs"]["copied"] == "***"
    assert "codename-aurora" not in repr(shown)
    assert settings.task_judge.rules[0]["pattern"] == "codename-aurora|x1"


def test_secrets_are_masked_wherever_they_stand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_SERVICE_TOKEN", "s3cr3t-from-the-environment")
    config = load_config(
        {
            "astuner": {
                "task_judge": {
                    "rubrics_auto_grader": {"api_key": "sk-abc", "model_name": "qwen-plus"},
                    "judge_kwargs": {"header": "Bearer ${oc.env:SOME_SERVICE_TOKEN}", "max_tokens": 20},
                }
            },
            "wandb": {"password": "hunter2", "url": "https://user:pw@host/x", "password_file": "/etc/pw"},
            "more": {"openaiApiKey": "a", "api_keys": ["b"], "secret-key": "c", "credentials": {"user": "d"}, "pwd": 7},
            "empty": {"api_key": "", "token": None, "max_tokens": 5, "keyboard": "qwerty"},
        }
    )
    plain = masked(config)
    section = plain["astuner"]["task_judge"]
    assert section["rubrics_auto_grader"] == {"api_key": "***", "model_name": "qwen-plus"}
    assert section["judge_kwargs"] == {"header": "Bearer ***", "max_tokens": 20}
    assert set(plain["more"].values()) == {"***"}
    assert plain["empty"] == {"api_key": "", "token": None, "max_tokens": 5, "keyboard": "qwerty"}
    assert plain["wandb"] == {"password": "***", "url": "https://***@host/x", "password_file": "/etc/pw"}


def test_a_file_nested_beyond_the_parsers_depth_is_a_config_error(tmp_path: Path) -> None:
    """It was a RecursionError of the YAML reader."""
    path = tmp_path / "deep.yaml"
    path.write_text("a: " + "[" * 2_000 + "]" * 2_000)
    with pytest.raises(ConfigError, match="nest"):
        resolve(path)
