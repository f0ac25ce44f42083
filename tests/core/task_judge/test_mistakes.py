"""What a user gets wrong on the first day is refused at load, with the way out; a judge that raises says where."""

from __future__ import annotations

import asyncio
import logging
import pickle
import sys
import threading
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import agentscope_tuner
from agentscope_tuner import (
    ConfigError,
    Reward,
    Task,
    WorkflowOutput,
    WorkflowTask,
    load_config,
    load_judge,
)
from agentscope_tuner.config import resolve
from agentscope_tuner.errors import called_so
from agentscope_tuner.task_judge.batch import judge_for
from agentscope_tuner.task_judge.contract.loading import JUDGES, JUDGES_BY_TYPE, SHORT_NAMES, resolve_protocol

BUILT_IN = "agentscope_tuner.task_judge"
MATH = f"{BUILT_IN}.math_answer_as_judge->MathAnswerAsJudge"
TASK = WorkflowTask(task=Task(task_id="t1", metadata={"answer": "42"}))
OUTPUT = WorkflowOutput(metadata={"final_answer": "x"})
JUDGE = """
import json
from agentscope_tuner import BaseJudge
from agentscope_tuner.task_judge.math_answer_as_judge import MathAnswerAsJudge

class Base(BaseJudge):
    def compute_reward(self, workflow_task, workflow_output):
        return 1.0, True

class Async(BaseJudge):
    async def compute_reward(self, workflow_task, workflow_output):
        return 1.0, True

class AsyncGroup(BaseJudge):
    async def compute_rewards(self, workflow_task, workflow_outputs):
        return [(1.0, True)] * len(workflow_outputs)

class NotAsync(BaseJudge):
    def acompute_reward(self, workflow_task, workflow_output):
        return 1.0, True

class OneArgument(BaseJudge):
    def compute_reward(self, workflow_output):
        return 1.0, True

class NoSelf(BaseJudge):
    def compute_reward(workflow_task, workflow_output):
        return 1.0, True

class OwnNames(BaseJudge):
    def compute_reward(self, task, output, strict=False, *more, **named):
        return 1.0, True

class Static(BaseJudge):
    @staticmethod
    def compute_reward(task, output):
        return 1.0, True

class OwnMath(MathAnswerAsJudge):
    def __init__(self, config):
        super().__init__(config)
        self.own = config.astuner.task_judge.judge_kwargs.equivalence

class ReadsMore(Base):
    def __init__(self, config):
        super().__init__(config)
        self.threshold = config.astuner.task_judge.judge_kwargs.threshold

class ReadsSection(Base):
    def __init__(self, config):
        super().__init__(config)
        self.own = config.judge_kwargs

class Breaks(Base):
    def __init__(self, config):
        super().__init__(config)
        self.threshold = 1 / 0

class Raising(BaseJudge):
    def compute_reward(self, workflow_task, workflow_output):
        return self.read("{")

    def read(self, text):
        return json.loads(text)

class Looks(BaseJudge):
    def compute_reward(self, workflow_task, workflow_output):
        return float(workflow_output.response == "1"), True

class Subscribes(BaseJudge):
    def compute_reward(self, workflow_task, workflow_output):
        return float(workflow_output["response"] == "1"), True

class Elsewhere(BaseJudge):
    def compute_reward(self, workflow_task, workflow_output):
        return "".response, True

class RaisingLater(BaseJudge):
    async def acompute_reward(self, workflow_task, workflow_output):
        raise StopIteration(workflow_output)
"""


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A module of judges that Python finds, as a user's beside the YAML is found."""
    folder = tmp_path_factory.mktemp("judges")
    (folder / "first_day_judges.py").write_text(JUDGE, encoding="utf-8")
    sys.path.insert(0, str(folder))
    yield "first_day_judges"
    sys.path.remove(str(folder))


def section(protocol: str, **more: Any) -> dict[str, Any]:
    return {"astuner": {"task_judge": {"judge_protocol": protocol, **more}}}


@pytest.mark.parametrize(
    ("config", "words"),
    [
        (section(MATH, judge_kwargs={"equivalence": "exact"}), "write astuner.task_judge.math.equivalence"),
        (section(MATH, judge_kwargs={"deadline": 3}), "judge_kwargs.deadline: MathAnswerAsJudge reads no judge_kwargs"),
        (section(MATH, judge_kwargs={"threshold": 3}), "judge_kwargs.threshold: MathAnswerAsJudge"),
        (section("countdown", judge_kwargs={"target": 24}), "CountdownAnswerAsJudge reads no judge_kwargs, got 24"),
        (
            section(f"{BUILT_IN}.env_service_as_judge->EnvServiceJudge", judge_kwargs={"env_url": "x"}),
            "allowed keys are evaluate_params",
        ),
        (
            section(f"{BUILT_IN}.rm_auto_grader_judge->AutoGraderJudge", judge_kwargs={"model_name": "m"}),
            "write astuner.task_judge.rubrics_auto_grader.model_name",
        ),
        ({"task_judge": {"judge_protocol": MATH}}, "task_judge stands at the top, where nobody reads it"),
        ({"astuner": {"rollout": {}}, "task_judge": {}}, "write astuner.task_judge"),
        ({"judge_protocol": MATH}, "write astuner.task_judge.judge_protocol"),
        ({"astuner": {"judge_protocol": MATH}}, "write astuner.task_judge.judge_protocol"),
        ({"astuner": {"task_judge": {"judge_protocol": MATH}, "rules": []}}, "write astuner.task_judge.rules"),
        ({"astunner": {"task_judge": {"judge_protocol": MATH}}}, "did you mean 'astuner'?"),
    ],
)
def test_a_setting_in_the_wrong_place_is_refused_with_the_right_one(config: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_judge(config)
    assert words in str(caught.value)


def test_a_key_of_another_judges_section_is_no_way_out() -> None:
    with pytest.raises(ConfigError) as caught:
        load_judge(section("countdown", judge_kwargs={"answer_in": ["tag"]}))
    assert str(caught.value).endswith(
        "CountdownAnswerAsJudge reads no judge_kwargs, got ['tag']: leave judge_kwargs out"
    )


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("task_judge.on_error=zero", "write astuner.task_judge.on_error"),
        ("on_error=zero", "write astuner.task_judge.on_error"),
        ("rules=[]", "write astuner.task_judge.rules"),
        ("astunner.task_judge.on_error=zero", "did you mean 'astuner.task_judge.on_error'?"),
        (
            "astuner.task_judge.math=exact",
            "astuner.task_judge.math: must be a mapping of keys to values, of equivalence, answer_in",
        ),
        ("astuner.task_judge.judge_protocol=maths", "no judge has the name 'maths': did you mean 'math'?"),
        ("judge=math", "nobody reads 'judge' at the top: write astuner.task_judge.judge"),
        ("astuner.task_judge.judge_protocol=MathAnswerJudge", "did you mean 'math'?"),
        ("astuner.task_judge.judge_protocol=count_down", "did you mean 'countdown'?"),
        ("astuner.task_judge.judge_protocol=zebra", "the short names are choice, code, countdown, env"),
        ("astuner.task_judge.judge=math", "judge: math and judge_protocol"),
        (f"astuner.task_judge.judge_protocol={BUILT_IN}.math->MathAnswerAsJudge", "did you mean 'math'?"),
        (f"astuner.task_judge.judge_protocol={MATH[:-5]}", "did you mean 'MathAnswerAsJudge'?"),
    ],
)
def test_an_override_that_would_change_nothing_or_break_is_refused(override: str, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_judge(load_config(section(MATH), [override]))
    assert words in str(caught.value)


def test_overrides_of_other_programs_sections_pass() -> None:
    config = load_config(section(MATH), ["trainer.steps=3", "model.rules_of_play=x", "astuner.rollout.x=1"])
    assert config.trainer.steps == 3


@pytest.mark.parametrize(
    ("judge", "words"),
    [
        ("ReadsMore", "it reads astuner.task_judge.judge_kwargs.threshold, which the configuration does not set"),
        ("ReadsSection", "a judge gets the whole file, so write config.astuner.task_judge.judge_kwargs"),
        ("Breaks", "ZeroDivisionError: division by zero ("),
    ],
)
def test_a_constructor_that_fails_says_where(module: str, judge: str, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_judge(section(f"{module}->{judge}"))
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "config",
    [
        section(MATH, judge_kwargs={}),
        {**section(MATH), "task_judge": {"other": "program's"}, "rules": [], "judge_type": 3},
        {"astuner": {**section(MATH)["astuner"], "rollout": {}, "math": {}}},
    ],
)
def test_what_belongs_to_other_programs_passes(config: dict[str, Any]) -> None:
    assert load_judge(config).traits.name == "MathAnswerAsJudge"


def test_a_judge_of_ones_own_reads_its_kwargs_even_where_its_parent_takes_none(module: str) -> None:
    judge = load_judge(section(f"{module}->OwnMath", judge_kwargs={"equivalence": "loose"}))
    assert getattr(judge.inner, "own") == "loose"  # noqa: B009  # the class is made by this test


@pytest.mark.parametrize(
    ("protocol", "words"),
    [
        ("tutorial/my_task/my_judge.py->MyCustomJudge", "write 'tutorial.my_task.my_judge->MyCustomJudge'"),
        ("./tutorial/my_task/my_judge.py->MyCustomJudge", "write 'tutorial.my_task.my_judge->MyCustomJudge'"),
        (str(Path.cwd() / "tutorial/my_task/my_judge.py") + "->J", "write 'tutorial.my_task.my_judge->J'"),
        ("/nowhere/at/all/my_judge.py->J", "write 'my_judge->J'"),
        ("my_judge.py->J", "write 'my_judge->J'"),
        (r"judges\mine.py->J", "write 'judges.mine->J'"),
        ("pkg/judges/__init__.py->J", "write 'pkg.judges->J'"),
        ("pkg.judges:Mine", "did you mean 'pkg.judges->Mine'?"),
        ("pkg.judges.Mine", "did you mean 'pkg.judges->Mine'?"),
        ("pkg.judges", "must read 'module->Class', got 'pkg.judges'"),
    ],
)
def test_a_protocol_that_names_no_module_shows_how_it_would(protocol: str, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_judge(section(protocol))
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Async", "compute_reward is `async def`: name it acompute_reward"),
        ("AsyncGroup", "compute_rewards is `async def`"),
        ("NotAsync", "acompute_reward must be `async def`"),
        ("OneArgument", "compute_reward must take (self, workflow_task, workflow_output), got (self, workflow_output)"),
        ("NoSelf", "got (workflow_task, workflow_output)"),
    ],
)
def test_a_method_that_could_not_be_called_is_refused_at_load(module: str, name: str, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_judge(section(f"{module}->{name}"))
    assert words in str(caught.value)


@pytest.mark.parametrize("name", ["Base", "OwnNames", "Static"])
def test_any_method_that_can_be_called_is_taken(module: str, name: str) -> None:
    judge = load_judge(section(f"{module}->{name}"))
    assert judge.compute_reward(TASK, OUTPUT) == (1.0, True)
    assert asyncio.run(judge.acompute_reward(TASK, OUTPUT)) == (1.0, True)


@pytest.mark.parametrize(("name", "function"), [("Raising", "read"), ("RaisingLater", "acompute_reward")])
def test_a_judge_that_raises_shows_its_file_and_line(
    module: str, name: str, function: str, caplog: pytest.LogCaptureFixture
) -> None:
    judge = load_judge(section(f"{module}->{name}"))
    with caplog.at_level(logging.INFO):
        judgement = judge.judge(TASK, OUTPUT)
    raised = JUDGE.split("\n").index(next(line for line in JUDGE.split("\n") if f"def {function}(" in line)) + 2
    if name == "RaisingLater":
        raised = JUDGE.split("\n").index("        raise StopIteration(workflow_output)") + 1
    assert f"first_day_judges.py:{raised} in {function})" in str(judgement.error)
    # rows are counted by the reason: a place is the same for all that fail there
    assert judgement.reason.endswith(f"first_day_judges.py:{raised} in {function})")
    (record,) = [record for record in caplog.records if "the judge raised" in record.getMessage()]
    assert f'first_day_judges.py", line {raised}, in {function}' in record.getMessage()


HELD = "; a WorkflowOutput has .reward, .is_success, .metadata, and .metadata the keys ['final_answer'] ("


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Looks", f"'WorkflowOutput' object has no attribute 'response'{HELD}"),
        ("Subscribes", f"a WorkflowOutput has no ['response']{HELD.replace(';', ':', 1)}"),
        # its own object is no task, so its fields are not told
        ("Elsewhere", "'str' object has no attribute 'response' ("),
    ],
)
def test_a_judge_that_looks_for_another_field_is_told_those_there_are(module: str, name: str, words: str) -> None:
    assert words in load_judge(section(f"{module}->{name}")).judge(TASK, OUTPUT).reason


@pytest.mark.parametrize(
    ("mistake", "words"),
    [
        (
            lambda judge: judge.compute_reward(TASK, OUTPUT).reward,
            "a Reward has no 'reward': it is a pair, `reward, is",
        ),
        (lambda judge: judge.judge(TASK, OUTPUT).score, "a Judgement has no 'score': it has .status, .reward, "),
        (lambda judge: judge.judge(TASK, OUTPUT)["reward"], "a Judgement is no mapping and no pair: it has .status, "),
        (lambda judge: list(judge.judge(TASK, OUTPUT)), "a Judgement is no mapping and no pair: it has .status, "),
        (lambda judge: judge.compute_rewards(TASK, OUTPUT), "are a list, [output, …], got one WorkflowOutput"),
        (lambda judge: asyncio.run(judge.ajudge_group(TASK, OUTPUT)), "a list, [output, …], got one WorkflowOutput"),
    ],
)
def test_a_verdict_that_is_read_wrongly_says_what_it_has(module: str, mistake: Any, words: str) -> None:
    with pytest.raises((AttributeError, TypeError)) as caught:
        mistake(load_judge(section(f"{module}->Base")))
    assert words in str(caught.value)


@pytest.mark.parametrize("given", [{"args": (TASK, OUTPUT)}, {"args": (), "prompts": ["1"], "completions": ["1"]}])
def test_a_judge_that_is_called_itself_names_its_methods(module: str, given: dict[str, Any]) -> None:
    judge: Any = load_judge(section(f"{module}->Base"))
    with pytest.raises(
        TypeError, match=r"write \.compute_reward\(task, output\) for a reward, \.judge\(task, output\)"
    ):
        judge(*given.pop("args"), **given)


@pytest.mark.parametrize("name", [*SHORT_NAMES, *JUDGES])
def test_a_short_name_or_a_class_name_names_the_judge(name: str) -> None:
    known = SHORT_NAMES.get(name, name)
    assert resolve_protocol(name).__name__ == known
    settings = resolve({"astuner": {"task_judge": {"judge": name}}})
    assert settings.task_judge.judge_protocol == name


@pytest.mark.parametrize("name", list(JUDGES_BY_TYPE))
def test_a_judge_of_a_type_is_named_the_same_way(name: str) -> None:
    short, long = ({"astuner": {"task_judge": {key: name}}} for key in ("judge", "judge_type"))
    assert resolve(short).task_judge.judge_type == name
    assert resolve(short).task_judge.digest() == resolve(long).task_judge.digest()


def test_parts_have_short_names_too() -> None:
    parts = {"right": {"judge": "math"}, "short": {"judge": "repetition", "weight": 0.1}}
    judge = load_judge({"astuner": {"task_judge": {"judge": "combined", "parts": parts}}})
    assert judge.traits.name == "CombinedJudge"


def test_a_module_that_is_not_found_says_where_it_was_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match=r"no my_lost_judge.py in the working directory '.*', nor on Python's path"):
        load_judge(section("my_lost_judge->J"))
    (tmp_path / "judges").mkdir()
    (tmp_path / "judges" / "my_lost_judge.py").touch()
    with pytest.raises(ConfigError, match=r"there is judges/my_lost_judge.py: write 'judges.my_lost_judge->J'"):
        load_judge(section("my_lost_judge->J"))


def test_a_module_that_python_has_already_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    # the folder is put there, and processes of later tests would find its string.py
    monkeypatch.setattr("sys.path", [*sys.path])
    (tmp_path / "string.py").touch()
    with pytest.raises(
        ConfigError, match=r"has a module of this name, .*, which hides your string.py: rename the file"
    ):
        load_judge(section("string->J"))


@pytest.mark.parametrize("text", ["judge: math", "astuner:\n  task_judge: {judge: math}\n"])
def test_yaml_text_is_no_path(text: str) -> None:
    with pytest.raises(ConfigError, match=r"it is YAML text, and a path or a mapping is taken: `load_judge\(yaml"):
        load_judge(text)


@pytest.mark.parametrize(
    ("name", "metadata", "answer", "words"),
    [
        ("json", {"answer": 4}, '{"answer": 4}', "not the reference's value, 4: the answer's is {'answer': 4}"),
        ("countdown", {"target": 6, "nums": [1, 2, 3]}, "<answer>1+2+3</answer>", "ask for the box in the prompt"),
        ("countdown", {"target": 6, "nums": [1, 2, 3]}, "1+2+3", r"no \boxed{} in the answer"),
    ],
)
def test_a_reward_of_zero_says_where_the_judge_looked(
    name: str, metadata: dict[str, Any], answer: str, words: str
) -> None:
    task = WorkflowTask(task=Task(task_id="1", metadata=metadata))
    found = load_judge(section(name)).judge(task, WorkflowOutput(metadata={"final_answer": answer}))
    assert (found.reward, words in found.reason) == (0.0, True), found.reason


def test_a_column_beside_the_metadata_is_named() -> None:
    judge = load_judge(section("math"))
    right = WorkflowOutput(metadata={"final_answer": r"\boxed{2}"})
    found = judge.judge(WorkflowTask(task=Task.model_validate({"task_id": "1", "answer": "2"})), right)
    assert "write Task(metadata={'answer': …})" in found.reason
    task = WorkflowTask(task=Task(task_id="1", metadata={"answer": "2"}))
    assert (
        "beside metadata the output has ['response']"
        in judge.judge(task, WorkflowOutput.model_validate({"response": "2"})).reason
    )


@pytest.mark.parametrize("text", ["astuner:\n\ttask_judge: {}\n", "astuner:\n  task_judge:\n  \tjudge: math\n"])
def test_a_tab_in_yaml_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "c.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=r"line [23] is indented with a tab: YAML takes spaces"):
        load_judge(tmp_path / "c.yaml")


def test_the_short_name_of_the_package_says_what_to_import() -> None:
    with pytest.raises(ImportError, match="from agentscope_tuner import load_judge"):
        import_module("astuner")


# calls that the types refuse
LOOSE: Any = agentscope_tuner


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: LOOSE.Task("1+1?"), "write Task(main_query='1+1?', metadata={'answer': '2'})"),
        (lambda: LOOSE.WorkflowTask(TASK.task), "write WorkflowTask(task="),
        (lambda: LOOSE.WorkflowOutput("2"), "write WorkflowOutput(metadata={'final_answer': '2'})"),
        (
            lambda: LOOSE.Task(metadata="2"),
            "a Task's metadata is a dict, got '2': write Task(metadata={'answer': '2'})",
        ),
        (lambda: LOOSE.Task(main_query="q", metadata=None), "got None: write Task(metadata={'answer': '2'})"),
        (lambda: LOOSE.WorkflowOutput(metadata="2"), "write WorkflowOutput(metadata={'final_answer': '2'})"),
        (lambda: LOOSE.WorkflowTask(task="1+1?"), "a WorkflowTask's task is a dict, got '1+1?': write WorkflowTask("),
        (lambda: LOOSE.load_judge(path="judge.yaml"), "'path': write load_judge('judge.yaml')"),
        (lambda: LOOSE.load_judge(), "write load_judge('judge.yaml')"),
        (lambda: _math().judge(TASK), "'workflow_output': write judge(WorkflowTask(task=Task("),
        (lambda: _math().compute_reward(task=TASK, output=OUTPUT), "'task': write compute_reward(WorkflowTask("),
        (lambda: _math().judge_group([TASK], [OUTPUT]), "write judge_group(WorkflowTask("),
        (lambda: _math().compute_rewards([TASK], OUTPUT), "[WorkflowOutput(metadata={'final_answer': ANSWER}), …]"),
        (lambda: float(_math().compute_reward(TASK, OUTPUT)), "a Reward is no number: it is a pair"),
        (lambda: _math().compute_reward(TASK, OUTPUT) > 0.5, "`reward, is_success = …`"),
        (lambda: sum([_math().compute_reward(TASK, OUTPUT)]), "a Reward is no number: it is a pair"),
    ],
)
def test_a_call_with_wrong_arguments_says_how_it_is_written(call: Any, words: str) -> None:
    with pytest.raises(TypeError) as refused:
        call()
    assert words in str(refused.value)


@pytest.mark.parametrize("name", ["score", "evaluate", "judge_rows", "reward"])
def test_a_method_that_no_judge_has_names_those_there_are(name: str) -> None:
    with pytest.raises(
        AttributeError, match=rf"a loaded judge has no '{name}': write \.compute_reward\(task, output\)"
    ):
        getattr(_math(), name)
    assert not hasattr(_math(), name)


@pytest.mark.parametrize(
    ("module", "words"),
    [
        ("adapters.openrhlf", "agentscope_tuner.adapters has no 'openrhlf': did you mean 'openrlhf'?"),
        ("adapters.trl_reward", "agentscope_tuner.adapters has no 'trl_reward': its modules are agentjet, agentscope"),
        (
            "adapters.trl.RewardFunction",
            "agentscope_tuner.adapters.trl has no 'RewardFunction': did you mean 'RewardFunc'?",
        ),
        ("adapter", "agentscope_tuner has no 'adapter': did you mean 'adapters'?"),
        ("Loadjudge", "agentscope_tuner has no 'Loadjudge': did you mean 'load_judge'?"),
    ],
)
def test_a_module_that_is_not_there_is_told_with_those_there_are(module: str, words: str) -> None:
    with pytest.raises(ModuleNotFoundError) as refused:
        import_module(f"agentscope_tuner.{module}")
    assert str(refused.value).startswith(words)


@pytest.mark.parametrize("protocol", SHORT_NAMES.values())
def test_no_judge_of_ours_shares_a_container_that_check_would_note(protocol: str) -> None:
    held = [each for kind in resolve_protocol(protocol).__mro__ for each in vars(kind).items() if not each[1]]
    shared = [name for name, value in held if isinstance(value, list | dict | set) and not name.startswith("__")]
    assert shared == []


def test_mappings_of_any_kind_are_metadata() -> None:
    held = load_config({"answer": "2"})
    assert LOOSE.Task(metadata=held).metadata["answer"] == LOOSE.Task(metadata={"answer": "2"}).metadata["answer"]
    assert LOOSE.WorkflowTask(task={"metadata": {"answer": "2"}}).task == Task(metadata={"answer": "2"})


def test_what_a_function_itself_raises_is_left_as_it_is() -> None:
    @called_so("other(1)")
    def other(number: Any) -> Any:
        return len(number)

    with pytest.raises(TypeError, match=r"^object of type 'int' has no len\(\)$"):
        other(1)
    assert other("ab") == 2


def test_rewards_stay_pairs() -> None:
    low, high = Reward(0.0, False), Reward(1.0, True)
    assert (low < high, max(low, high), sorted([high, low]), high == (1.0, True)) == (True, high, [low, high], True)
    assert pickle.loads(pickle.dumps(high)) == high


def _math() -> Any:
    return load_judge({"astuner": {"task_judge": {"judge": "math"}}})


def test_a_module_that_asks_for_its_own_judge_as_it_is_imported_hangs_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reward file that a trainer loads by its path names its own judge, which is imported by its name once more."""
    monkeypatch.syspath_prepend(tmp_path)
    config, found = tmp_path / "own.yaml", list[object]()
    config.write_text("astuner: {task_judge: {judge_protocol: own_reward_file->Own}}", encoding="utf-8")
    asks = f"from agentscope_tuner.task_judge.batch import judge_for\njudge = judge_for({str(config)!r})"
    (tmp_path / "own_reward_file.py").write_text(f"{JUDGE}\nOwn = Base\n{asks}", encoding="utf-8")
    trainer = threading.Thread(target=lambda: found.append(judge_for(config)), daemon=True)
    trainer.start()
    trainer.join(30)
    assert not trainer.is_alive()
    assert found == [import_module("own_reward_file").judge]
