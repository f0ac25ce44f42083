"""The tutorial's samples and configurations are what its page says they are."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from agentscope_tuner.config import load_config
from agentscope_tuner.graders.rubrics.learn import learn_and_save, plan
from agentscope_tuner.graders.rubrics.settings import auto_grader_config, read_samples
from tests.judge_server import Body, Canned, JudgeServer

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "tutorial" / "example_rm_auto_grader"


def test_sixty_samples_of_three_qualities(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    for name in ("local", "hosted"):
        config, _ = auto_grader_config(load_config(FOLDER / f"{name}.yaml"))
        samples = read_samples(config.training_file(), config)
        assert Counter(sample.labels[0] for sample in samples) == {10.0: 20, 4.0: 20, 0.0: 20}
        assert set(Counter(sample.query for sample in samples).values()) == {3}
        assert len({sample.answers for sample in samples}) == 60


@pytest.mark.slow
def test_the_local_configuration_learns_from_twelve(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same run as `make rubrics-demo`, with a stand-in that can tell the qualities apart once it has a rubric."""

    def answer(body: Body, attempt: int) -> Canned:
        prompt = "\n".join(message["content"] for message in body["messages"])
        if not body.get("logprobs"):
            return Canned('{"rubrics": ["Asks for the mechanism and a number."]}')
        share = 0.5
        if "Asks for the mechanism" in prompt:
            shown = prompt.split("[BEGIN response")[1].split("[END response")[0]
            share = 0.97 if len(shown) > 120 else 0.4 if shown.count("ecause") < 1 else 0.03
        return Canned("yes", top_logprobs={"yes": share, "no": 1 - share}, finish="length")

    monkeypatch.chdir(ROOT)
    with JudgeServer(answer) as server:
        where = "astuner.task_judge.rubrics_auto_grader"
        overrides = [
            f"{where}.base_url={server.url}",
            f"{where}.experiment_dir={tmp_path}",
            f"{where}.client.cache=false",
        ]
        config, path = auto_grader_config(load_config(FOLDER / "local.yaml", overrides))
        expected = plan(config)
        saved = learn_and_save(config, path)
    assert (expected.learn_from, expected.held_out, saved.learning["tried_samples"]) == (30, 30, 12)
    assert saved.evaluation["samples"] == 30
    assert saved.learning["calls"] <= expected.calls[1]
