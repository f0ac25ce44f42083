"""A configuration is read, merged and validated once, into settings that are handed on."""

from __future__ import annotations

import copy
import json
import pickle
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, cast

import pytest
from omegaconf import DictConfig, OmegaConf
from pydantic import BaseModel
from typer.testing import CliRunner

from agentscope_tuner.cli.app import app
from agentscope_tuner.config import TaskJudgeConfig, load_config, resolve, task_judge_section
from agentscope_tuner.errors import ConfigError
from agentscope_tuner.task_judge.contract.loading import load_judge
from agentscope_tuner.task_judge.math_answer_as_judge import MathAnswerAsJudge

MATH = "agentscope_tuner.task_judge.math_answer_as_judge->MathAnswerAsJudge"
HTTP = "agentscope_tuner.task_judge.http_judge->HttpJudge"


@contextmanager
def counted(**functions: Callable[..., Any]) -> Iterator[Counter[str]]:
    """How often each function is entered on this thread; for class methods, by the class's name too."""
    codes = {getattr(function, "__func__", function).__code__: name for name, function in functions.items()}
    calls: Counter[str] = Counter()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code in codes:
            owner = frame.f_locals.get("cls")
            calls[codes[frame.f_code] + (f" of {owner.__name__}" if isinstance(owner, type) else "")] += 1

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        yield calls
    finally:
        sys.setprofile(before)


@pytest.mark.parametrize(
    ("protocol", "extra"), [(MATH, "math: {equivalence: exact}"), (HTTP, "judge_kwargs: {url: 'http://127.0.0.1:9/r'}")]
)
def test_one_command_merges_once_and_validates_once(tmp_path: Path, protocol: str, extra: str) -> None:
    conf, rows = tmp_path / "judge.yaml", tmp_path / "rows.jsonl"
    rules = "rules: [{id: never, kind: max_chars, max_chars: 0}]"
    conf.write_text(f"astuner: {{task_judge: {{judge_protocol: {protocol}, {extra}, {rules}}}}}", encoding="utf-8")
    row = {"id": "a", "task": {"metadata": {"answer": "1"}}, "output": {"metadata": {"final_answer": "1"}}}
    rows.write_text(json.dumps(row) + "\n", encoding="utf-8")
    args = ["judge", "--conf", str(conf), "--input", str(rows), "--output", str(tmp_path / "out.jsonl"), "--jobs", "1"]
    with counted(merge=OmegaConf.merge, load=OmegaConf.load, validate=BaseModel.model_validate) as calls:
        result = CliRunner().invoke(app, [*args, "astuner.task_judge.rule_reward=-1"])
    assert result.exit_code == 0, result.output
    assert json.loads((tmp_path / "out.jsonl").read_text(encoding="utf-8"))["judgement"]["reward"] == -1.0
    assert (calls["merge"], calls["load"], calls["validate of TaskJudgeConfig"]) == (1, 1, 1)


def test_settings_are_handed_on_as_they_are_here_and_in_another_process() -> None:
    settings = resolve({"astuner": {"task_judge": {"judge_protocol": MATH, "math": {"equivalence": "exact"}}}})
    assert resolve(settings) is settings
    again = pickle.loads(pickle.dumps(settings))
    assert (again.task_judge, again.whole) == (settings.task_judge, settings.whole)
    with counted(merge=OmegaConf.merge, validate=BaseModel.model_validate) as calls:
        for own in (settings, again):
            assert load_judge(own).traits.name == "MathAnswerAsJudge"
    assert not calls
    assert resolve(settings, ["astuner.task_judge.on_error=zero"]).task_judge.on_error == "zero"
    assert settings.task_judge.on_error == "raise"


def test_what_was_changed_since_is_validated_anew() -> None:
    config = load_config({"astuner": {"task_judge": {"judge_protocol": MATH, "rule_reward": 1}}})
    config.astuner.task_judge.math.equivalence = "exact"
    assert task_judge_section(config).math.equivalence == "exact"
    assert load_judge(config).inner is not None
    config.astuner.task_judge.rule_reward = True  # equals 1, and is no reward
    with pytest.raises(ConfigError, match=r"rule_reward.*True"):
        task_judge_section(config)
    own = copy.deepcopy(load_config({}))
    own.astuner.task_judge.math.equivalence = "fuzzy"
    with pytest.raises(ConfigError, match="'fuzzy'"):
        MathAnswerAsJudge(own)


def test_a_judge_is_handed_its_section_and_a_copy_that_is_changed_is_read_anew() -> None:
    judge = load_judge({"astuner": {"task_judge": {"judge_protocol": MATH, "math": {"equivalence": "exact"}}}}).inner
    with counted(plain=OmegaConf.to_container, validate=BaseModel.model_validate) as calls:
        assert task_judge_section(judge.config).math.equivalence == "exact"
    assert not calls
    # in place, as judges outside of this package read it
    assert judge.config.astuner.task_judge.math.on_undecided == "zero"
    for copied in (copy.deepcopy(judge.config), cast("DictConfig", OmegaConf.merge(judge.config, {}))):
        copied.astuner.task_judge.math.equivalence = "symbolic"
        assert task_judge_section(copied).math.equivalence == "symbolic"


def test_a_part_is_handed_its_own_section_and_the_whole_around_it_stays() -> None:
    parts = {
        "a": {"judge_protocol": MATH, "weight": 2.0, "deadline": 9},
        "b": {"judge_protocol": MATH, "optional": True},
    }
    whole = load_config(
        {"astuner": {"task_judge": {"judge_type": "combined", "deadline": 5, "parts": parts}}, "trainer": {"epochs": 3}}
    )
    judge = load_judge(whole).inner
    for config in (whole, judge.config):
        assert config.astuner.task_judge.judge_type == "combined"
        assert dict(config.astuner.task_judge.parts.a)["weight"] == 2.0
        assert config.astuner.task_judge.parts.b.math.on_undecided == "zero"
    own = judge.asks["a"].inner.config
    assert own.trainer.epochs == 3
    section = own.astuner.task_judge
    assert (section.judge_protocol, section.deadline, section.math.workers) == (MATH, 5.0, 1)
    assert not {"weight", "when", "optional"} & set(section)
    # a change of one part's configuration reaches neither the other part nor the whole
    own.trainer.epochs = 4
    assert (judge.config.trainer.epochs, judge.asks["b"].inner.config.trainer.epochs) == (3, 3)
    assert task_judge_section(copy.deepcopy(own)) == TaskJudgeConfig(judge_protocol=MATH, deadline=5.0)


def test_interpolations_are_resolved_where_the_configuration_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OF_THIS_HOST", "here")
    kwargs = {"place": "${oc.env:OF_THIS_HOST}"}
    parts = {"a": {"judge_protocol": "tests.part_judges->Says", "judge_kwargs": {"key": "a", **kwargs}}}
    judge = load_judge({"astuner": {"task_judge": {"judge_type": "combined", "parts": parts}}}).inner
    settings = pickle.dumps(judge.asks["a"].inner.config)
    monkeypatch.delenv("OF_THIS_HOST")
    assert pickle.loads(settings).astuner.task_judge.judge_kwargs.place == "here"


def test_the_digest_names_what_decides_the_verdicts() -> None:
    base = TaskJudgeConfig()
    assert base.model_copy(update={"rule_reward": -1.0}).digest() != base.digest()
    assert base.model_copy(update={"name": "mine"}).digest() == base.digest()
