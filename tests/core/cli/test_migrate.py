"""`astuner migrate`: AgentJet's YAML keeps all but its judge, and what has no equivalent is named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner, Result

from agentscope_tuner import ConfigError
from agentscope_tuner.cli.app import app
from agentscope_tuner.cli.migrate import migrated
from agentscope_tuner.task_judge.contract.loading import load_judge
from agentscope_tuner.workflow import Task, WorkflowOutput, WorkflowTask

ADAPTER = "agentscope_tuner.adapters.agentjet->AstunerJudge"
HOME = "agentscope_tuner.task_judge"
HERE = "tests.core.cli.test_migrate"
REST = """
# ---- nothing below is ours ----
trinity:
  synchronizer: {sync_offset: 1}  # in braces
hydra:
  run:
    dir: out/${now:%Y-%m-%d}
defaults:
  - verl_default # verl only
  - _self_
"""


def trained(judge: str, name: str = "ajet") -> str:
    return f"""# main
{name}:
  project_name: "x" # ✨
{judge}
  # the model
  model:
    path: /mnt/模型
{REST}"""


def named(protocol: str, *more: str) -> str:
    lines = "".join(f"\n    {line}" for line in more)
    judge = f"    judge_type: customized_protocol # one of two\n    judge_protocol: {protocol} # mine"
    return f"  task_judge:\n{judge}{lines}\n"


BOTH = [
    ("ajet.task_judge", "env_service_as_judge->EnvServiceJudge"),
    ("tutorial.example_math_agent", "math_answer_as_judge->MathAnswerAsJudge"),
    ("tutorial.x", "countdown_answer_as_judge->CountdownAnswerAsJudge"),
]
OWN = "tests.core.adapters.test_agentjet->OwnJudge"


@pytest.mark.parametrize(
    ("judge", "ours"),
    [
        ("", f"{HOME}.env_service_as_judge->EnvServiceJudge"),
        ("  task_judge:\n", f"{HOME}.env_service_as_judge->EnvServiceJudge"),
        *((named(f"{package}.{ours}"), f"{HOME}.{ours}") for package, ours in BOTH),
        (named(OWN), "agentscope_tuner.adapters.agentjet->AgentJetJudge"),
        (named("null"), f"{HOME}.workflow_reward_as_judge->WorkflowRewardJudge"),
    ],
)
@pytest.mark.parametrize("section", ["ajet", "astune"])
def test_the_judge_moves_and_all_else_stays(judge: str, ours: str, section: str) -> None:
    text = trained(judge, section)
    new, _ = migrated(text)
    before, after = yaml.safe_load(text), yaml.safe_load(new)
    assert after.pop("astuner")["task_judge"]["judge_protocol"] == ours
    asked = after[section].pop("task_judge", {})
    assert (asked or {}).get("judge_protocol") == (None if "Workflow" in ours else ADAPTER)
    before[section].pop("task_judge", None)
    assert after == before
    kept = [line for line in text.splitlines() if "#" in line and "judge" not in line]
    assert [line for line in kept if line not in new.splitlines()] == []
    load_judge(yaml.safe_load(new))


def test_a_section_of_the_first_name_is_written_anew_in_its_place() -> None:
    new, notes = migrated(
        trained(named("astuner.task_judge.math_answer_as_judge->MathAnswerAsJudge", "alien_llm_model: q"), "astuner")
    )
    assert yaml.safe_load(new)["astuner"]["task_judge"] == {
        "judge_protocol": f"{HOME}.math_answer_as_judge->MathAnswerAsJudge"
    }
    assert yaml.safe_load(new)["astuner"]["model"] == {"path": "/mnt/模型"}
    assert any(note.startswith("task_judge.alien_llm_model is left out: upstream it names") for note in notes)


def test_a_type_that_is_misspelled_in_agentjets_early_files_is_none_of_ours() -> None:
    judge = f"  task_judge:\n    judge_type: customized_protocal\n    judge_protocol: astuner.task_judge.{BOTH[0][1]}\n"
    new, _ = migrated(trained(judge, "astuner"))
    assert yaml.safe_load(new)["astuner"]["task_judge"] == {"judge_protocol": f"{HOME}.{BOTH[0][1]}"}


def test_agentjets_keys_beside_a_judge_of_the_packages_name_are_not_ours_yet() -> None:
    # `migrate` sent the file to `check`, which refused its keys
    judge = named(f"{HOME}.env_service_as_judge->EnvServiceJudge", "alien_llm_model: qwen3")
    new, notes = migrated(trained(judge, "astuner"))
    assert yaml.safe_load(new)["astuner"]["task_judge"] == {
        "judge_protocol": f"{HOME}.env_service_as_judge->EnvServiceJudge"
    }
    assert [note.partition(" is left out")[0] for note in notes[:-1]] == ["task_judge.alien_llm_model"]
    # rules in this section would run nowhere in training, and nothing said so
    assert "without our rules and deadline; for these, call the section `ajet`" in notes[-1]
    load_judge(yaml.safe_load(new))


def test_learned_rubrics_keep_what_is_known_and_name_the_rest() -> None:
    judge = """  task_judge:
    judge_type: rubrics_auto_grader
    rubrics_auto_grader:
      model_name: qwen-max
      generate_number: 2
      sampling_mode: all_samples
      grader_name: Math
      dataset_file:
        training: {file_path: rows.jsonl}
"""
    new, notes = migrated(trained(judge))
    assert yaml.safe_load(new)["astuner"]["task_judge"] == {
        "judge_type": "rubrics_auto_grader",
        "rubrics_auto_grader": {
            "model_name": "qwen-max",
            "query_specific_generate_number": 2,
            "dataset_file": {"training": {"file_path": "rows.jsonl"}},
        },
    }
    assert yaml.safe_load(new)["ajet"]["task_judge"] == {
        "judge_type": "customized_protocol",
        "judge_protocol": ADAPTER,
    }
    left_out = [note.partition(" is left out")[0].rpartition(".")[2] for note in notes if "left out" in note]
    assert left_out == ["sampling_mode", "grader_name"]


def test_rubrics_in_agentjets_first_form_are_those_of_today() -> None:
    # the judge of AgentJet's defaults stood for it; then `name its judge there` led to no judge that works
    text = """astune:
  task_judge:
    class_name: RMAutoGraderJudge
    model_name: qwen-plus
    generate_number: 3
    aggregation_mode: merge_similar
    max_retries: 5
    reference_samples_path: rows.jsonl
"""
    new, notes = migrated(text)
    assert yaml.safe_load(new)["astuner"]["task_judge"] == {
        "judge_type": "rubrics_auto_grader",
        "rubrics_auto_grader": {
            "model_name": "qwen-plus",
            "query_specific_generate_number": 3,
            "enable_categorization": True,
            "dataset_file": {"training": {"file_path": "rows.jsonl"}},
        },
    }
    assert yaml.safe_load(new)["astune"]["task_judge"] == {"judge_protocol": ADAPTER}
    assert "first form of judge_type: rubrics_auto_grader" in notes[0]
    assert not any("samples are missing" in note for note in notes)
    with pytest.raises(ConfigError, match="no learned grader"):
        load_judge(yaml.safe_load(new))


def test_rubrics_get_what_the_file_inherits_from_agentjet() -> None:
    judge = "  task_judge:\n    judge_type: rubrics_auto_grader\n    rubrics_auto_grader: {grader_mode: listwise}\n"
    alone, _ = migrated(trained(judge))
    assert yaml.safe_load(alone)["astuner"]["task_judge"]["rubrics_auto_grader"] == {"grader_mode": "listwise"}
    new, notes = migrated(trained(judge).replace("verl_default", "ajet_default"))
    # ours go up to 10: labels from 0 to 1 would all have been low
    assert yaml.safe_load(new)["astuner"]["task_judge"]["rubrics_auto_grader"] == {
        "model_name": "qwen-max",
        "max_score": 1,
        "grader_mode": "listwise",
    }
    assert ["AgentJet's defaults" in notes[0], "missing: add" in notes[1], "takes pointwise" in notes[2]] == [True] * 3


def test_agentjets_judge_that_asks_a_model_becomes_our_verifier(monkeypatch: pytest.MonkeyPatch) -> None:
    # it was called the user's own, and loaded nowhere but in a checkout of AgentJet
    monkeypatch.setenv("DASHSCOPE_API_KEY", "key")
    protocol = "tutorial.example_math_agent.math_answer_as_judge->MathAnswerAndLlmAsJudge"
    for more, model in (([], "qwen3-235b-a22b-instruct-2507"), (["alien_llm_model: deepseek-v3"], "deepseek-v3")):
        new, notes = migrated(trained(named(protocol, *more)))
        made = yaml.safe_load(new)["astuner"]["task_judge"]
        assert made["judge_protocol"] == f"{HOME}.verifier_judge->VerifierJudge"
        assert (made["verifier"]["model_name"], made["verifier"]["client"]) == (model, {"max_tokens": 512})
        assert ("base_url" in made["verifier"]) is (model == "deepseek-v3")
        assert "asks about all that it finds wrong" in notes[0]
        assert len(notes) == 2
        load_judge(yaml.safe_load(new))


def test_an_own_judges_settings_stay_where_its_class_reads_them() -> None:
    # only a note said that they were gone
    lines = ("alien_llm_model: q", "deadline: soon", "weights: {a: 1}")
    for section, place in (("ajet", ("ajet", "task_judge")), ("astuner", ("judge_kwargs", "settings"))):
        new, notes = migrated(trained(named(f"{HERE}->Reads", *lines), section))
        whole = yaml.safe_load(new)
        found: Any = whole if section == "ajet" else whole["astuner"]["task_judge"]
        for key in place:
            found = found[key]
        kept = {key: value for key, value in found.items() if key not in ("judge_type", "judge_protocol")}
        assert kept == {"alien_llm_model": "q", "deadline": "soon", "weights": {"a": 1}}
        assert "alien_llm_model, deadline, weights stay where it reads them" in notes[0]
        task = WorkflowTask(task=Task(task_id="t"))
        assert load_judge(whole).compute_reward(task, WorkflowOutput()) == (0.25, True)


class Reads:
    """A judge of AgentJet's user's: it reads its settings from AgentJet's section."""

    def __init__(self, config: Any) -> None:
        self.section = (config.ajet if "ajet" in config else config.astuner).task_judge

    def compute_reward(self, workflow_task: Any, workflow_output: Any) -> tuple[float, bool]:
        return 0.25 * self.section.weights.a, self.section.deadline == "soon"


@pytest.mark.parametrize(
    ("section", "given", "asked"),
    [
        ("ajet", "rubrics_auto_grader", "customized_protocol"),
        # the first AgentJet reads no other spelling, and then has no judge
        ("astune", "rubrics_auto_grader", "customized_protocal"),
        ("astune", "customized_protocal", "customized_protocal"),
        ("ajet", "customized_protocol", "customized_protocol"),
    ],
)
def test_the_trainer_reads_its_own_spelling_of_the_type(section: str, given: str, asked: str) -> None:
    text = f"{section}:\n  task_judge:\n    judge_type: {given}\n    judge_protocol: {BOTH[0][0]}.{BOTH[0][1]}\n"
    made = yaml.safe_load(migrated(text)[0])[section]["task_judge"]
    assert made == {"judge_type": asked, "judge_protocol": ADAPTER}


def test_rubrics_in_a_shared_section_are_asked_as_a_class() -> None:
    # by their type, AgentJet of that time asks its own judge of learned rubrics, with our keys
    judge = "  task_judge:\n    judge_type: rubrics_auto_grader\n    rubrics_auto_grader: {model_name: q}\n"
    made = yaml.safe_load(migrated(trained(judge, "astuner"))[0])["astuner"]["task_judge"]
    assert made == {
        "judge_protocol": f"{HOME}.rm_auto_grader_judge->AutoGraderJudge",
        "rubrics_auto_grader": {"model_name": "q"},
    }


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("verl: {}\n", "no section ajet"),
        ("[1, 2]\n", "no section ajet"),
        ("defaults: 3\najet: {x: 1}\n", "in braces"),
        ("ajet: 3\n", "ajet must be a mapping, got 3"),
        ("ajet:\n  task_judge: none\n", "ajet.task_judge must be a mapping, got 'none'"),
        ("ajet: {model: {path: x}}\n", "in braces"),
        # what AgentJet's own files hold: a section twice, a judge in another file, and gaps to fill
        ("ajet:\n  rollout: {a: 1}\n  x: 1\n  rollout: {b: 1}\n", "ajet.rollout stands there twice"),
        ("defaults: [ajet_ts_default]\najet:\n  x: 1\n", "copy ajet.task_judge from 'ajet_ts_default'"),
        ("astune:\n  data_generator: {a: 1}\n  document_reader: {b: 1}\n", "it trains nothing"),
        ("astune:\n  task_judge:\n    class_name: Mine\n", "judge_protocol: module->Class, or delete 'class_name'"),
        ("ajet:\n  x: !!python/name:os.system\n", "the tag !!python/name:os.system in line 2, and tags are refused"),
        ("ajet:\n  x: !!bool maybe\n", "'maybe'"),
        ("ajet:\n  task_judge:\n    judge_type: rubrics_auto_grader\n    rubrics_auto_grader: [1]\n", "a mapping"),
        ("ajet:\n  model: {path: x}\n  steps: {{NUM_STEPS}}\n", "with a gap {{NUM_STEPS}} in line 3: fill its gaps"),
        ("ajet:\n  x: 1\nastuner:\n  task_judge: {}\n", "it is migrated"),
        ("astuner:\n  task_judge: {judge_type: llm}\n", "it is migrated"),
        ("astuner:\n  task_judge: {judge: math}\n", "it is migrated"),
        ("astuner:\n  task_judge: {judge_protocol: math}\n", "it is migrated"),
        (f"astuner:\n  task_judge:\n    judge_protocol: {HOME}.length_judge->LengthJudge\n", "it is migrated"),
        ("ajet:\n\tx: 1\n", "cannot start any token"),
        ("", "no section ajet"),
    ],
)
def test_what_is_no_configuration_of_agentjets_is_refused(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "conf.yaml"
    path.write_text(text, encoding="utf-8")
    result = run(path)
    assert result.exit_code == 2
    assert said in " ".join(result.stderr.split())
    assert result.stdout == ""


def run(*arguments: Any) -> Result:
    return CliRunner().invoke(app, ["migrate", *map(str, arguments)])


def test_the_file_is_written_once_and_the_next_command_is_said(tmp_path: Path) -> None:
    source, target = tmp_path / "ajet.yaml", tmp_path / "new.yaml"
    source.write_text(trained(named("null")), encoding="utf-8")
    assert run(source).stdout == migrated(trained(named("null")))[0]
    result = run(source, "--output", target)
    assert (result.exit_code, result.stdout) == (0, "")
    assert "AgentJet asks no judge" in " ".join(result.stderr.split())
    assert "astuner check --conf" in result.stderr
    assert target.read_text(encoding="utf-8") == migrated(trained(named("null")))[0]
    again = run(source, "--output", target)
    assert again.exit_code == 2
    assert "is there already" in " ".join(again.stderr.split())


@pytest.mark.parametrize(
    "text",
    [
        # the result was no YAML
        "---\najet:\n  task_judge:\n    judge_protocol: a.b->C\n...\n",
        "ajet:\n  task_judge:\n    judge_protocol: |\n      a.b->C\n  z: 1\n",
        # the trainer's section stayed, or another one changed with it
        "d: &y\n  judge_protocol: a.b->C\najet:\n  task_judge: *y\n",
        "ajet: &x\n  task_judge:\n    judge_protocol: a.b->C\nother: *x\n",
        "astuner: &x\n  task_judge:\n    judge_protocol: a.b->C\nother: *x\n",
    ],
)
def test_what_cannot_be_replaced_by_lines_is_refused_and_not_spoiled(text: str) -> None:
    with pytest.raises(ValueError, match="cannot be replaced line by line: write the section without anchors"):
        migrated(text)
