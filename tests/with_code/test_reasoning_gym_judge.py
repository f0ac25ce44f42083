"""ReasoningGymJudge: the package's own answers are paid, and hostile ones are refused, bounded and named."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Mapping
from functools import cache
from typing import Any

import pytest

from agentscope_tuner import Judgement, Task, TaskJudge, WorkflowOutput, WorkflowTask, load_judge
from agentscope_tuner.task_judge.reasoning_gym_judge import RUN_THE_ANSWER

with warnings.catch_warnings():
    # a package that it builds on compares with literals by `is`
    warnings.simplefilter("ignore", SyntaxWarning)
    import reasoning_gym
    from reasoning_gym.factory import DATASETS

# some data sets leave the package's files open
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning")
# `composite` asks to be told which others it is made of
_DATASETS = sorted(set(DATASETS) - {"composite"})
# of these any answer that fits is right, and none is given
_WITHOUT_ANSWERS = {"boxnet", "graph_color", "propositional_logic", "rubiks_cube", "rush_hour"}
_ESCAPE = "__import__('os').system('true')"
_POWER = "9**9**9"


@cache
def _judge(**settings: Any) -> TaskJudge:
    section = {
        "judge_protocol": "agentscope_tuner.task_judge.reasoning_gym_judge->ReasoningGymJudge",
        "judge_kwargs": settings,
    }
    return load_judge({"astuner": {"task_judge": section}})


@cache
def _entry(dataset: str, seed: int = 7) -> Mapping[str, Any]:
    return dict(reasoning_gym.create_dataset(dataset, size=1, seed=seed)[0])


def _judged(entry: Mapping[str, Any], answer: object, judge: TaskJudge | None = None) -> Judgement:
    asked = WorkflowTask(task=Task(main_query=entry["question"], metadata=dict(entry)))
    said = WorkflowOutput(metadata={"final_answer": f"<answer>{answer}</answer>"})
    return (judge or _judge()).judge(asked, said)


def _row(dataset: str, answer: str = "4", **metadata: Any) -> dict[str, Any]:
    return {"question": "?", "answer": answer, "metadata": {"source_dataset": dataset, **metadata}}


@pytest.mark.parametrize("dataset", _DATASETS)
def test_the_own_answer_of_a_data_set_is_paid(dataset: str) -> None:
    entry = _entry(dataset)
    assert (entry["answer"] is None) == (dataset in _WITHOUT_ANSWERS)
    if entry["answer"] is None:
        return
    judgement = _judged(entry, entry["answer"])
    assert (judgement.reward, judgement.is_success) == (1.0, True), judgement


@pytest.mark.parametrize("answer", ["I do not know.", "", "nan", _ESCAPE, _POWER, "[].__class__.__base__"])
@pytest.mark.parametrize("dataset", _DATASETS)
def test_an_answer_that_is_none_is_not_paid(dataset: str, answer: str) -> None:
    judgement = _judged(_entry(dataset), answer, _judge(seconds=1.0))
    assert (judgement.reward, judgement.is_success) == (0.0, False), judgement


@pytest.mark.parametrize("answer", ["nan", "nan+nanj", "NaN", "inf", "-Infinity"])
def test_no_number_is_near_every_number(answer: str) -> None:
    judgement = _judged(_entry("complex_arithmetic"), answer)
    assert judgement.reward == 0.0
    assert "NaN" in judgement.reason


@pytest.mark.parametrize(("own", "other"), [("True", "False"), ("False", "True")])
def test_a_truth_is_compared_as_a_truth_and_not_as_a_text(own: str, other: str) -> None:
    """The scorer asks `bool` of both texts, which is true of each."""
    entry = _row("game_of_life_halting", own)
    assert _judged(entry, own).reward == 1.0
    assert _judged(entry, other).reward == 0.0
    assert _judged(entry, "maybe").reward == 0.0


@pytest.mark.parametrize(
    ("dataset", "own", "answer", "reward"),
    [
        # these scorers pay 0 for any number, pass over a sign, and take the first of several numbers
        ("coin_flip", "0.171875", "0", 0.0),
        ("gsm_symbolic", "405", "-405", 0.0),
        ("gsm_symbolic", "405", "405 or 13", 0.0),
        ("gsm_symbolic", "405", "405", 1.0),
        ("gsm_symbolic", "405", "405.0 apples", 1.0),
        ("decimal_arithmetic", "8.27243551523", "8.2724355152", 1.0),
        # this one takes any numbers that make 24, or nearly
        ("puzzle24", "10 + 3 + 4 + 7", "10*7/3 + 4/4", 0.0),
        ("puzzle24", "1 + 3 + 10 * 2", "10*3 / (2 - 1)", 0.0),
        ("puzzle24", "10 * 7 - 46 + 0", "46*10/(7*0 + 20)", 0.0),
        ("puzzle24", "10 * 7 / 3 + 1", "10*7/3 + 1", 0.0),
        ("puzzle24", "10 + 3 + 4 + 7", "2 + 9 + 6 + 7", 0.0),
        ("puzzle24", "10 + 3 + 4 + 7", "(7 + 10) + (4 + 3)", 1.0),
        ("fraction_simplification", r"$\frac{464}{887}$", r"$\frac{464}{887}$", 1.0),
        # this one takes numbers that are off by one
        ("number_sorting", "['2.5', '1.0', '-41.53']", "['3.4', '1.9', '-40.63']", 0.0),
        ("number_sorting", "['2.5', '1.0', '-41.53']", "[2, 1, -42]", 0.0),
        ("number_sorting", "['2.5', '1.0', '-41.53']", "[1.0, 2.5, -41.53]", 0.0),
        ("number_sorting", "['2.5', '1.0', '-41.53']", "[2.5, 1, -41.53]", 1.0),
        ("number_sorting", "['2.5', '1.0', '-41.53']", "['2.50', '1.0', '-41.530']", 1.0),
        ("number_sorting", "['2.5', '1.0', '-41.53']", "['2.5', '1.0', '-41.5']", 0.0),
        ("number_sorting", "['2.5', '1.0', '-41.53']", "['3.4', '1.9', '-40.6', ]", 0.0),
        # and these pass over what stands behind
        ("letter_jumble", "sorts of dishes", "sorts of dishes", 1.0),
        ("letter_jumble", "sorts of dishes", "Sorts of  dishes\n", 1.0),
        ("letter_jumble", "sorts of dishes", "sorts of dishes and more", 0.0),
        ("letter_jumble", "sorts of dishes", "sorts of dishes or roots of dishes", 0.0),
        ("letter_jumble", "sorts of dishes", "sorts of dishes\nsorts of dishes", 0.0),
        ("simple_integration", "x**2 + C", "x**2 + C or x**3 + C", 0.0),
        ("simple_integration", "x**2 + C", "x**2 + C", 1.0),
    ],
)
def test_a_number_is_no_other_number_whatever_its_scorer_says(
    dataset: str, own: str, answer: str, reward: float
) -> None:
    entry = {**_entry(dataset), "answer": own}
    known = {"simplified_numerator": 464, "simplified_denominator": 887, "direction": "descending"}
    known |= {"original_words": ["sorts", "of", "dishes"], "integrand": "2*x", "variable": "x"}
    entry["metadata"] = {**entry["metadata"], **known}
    assert _judged(entry, answer).reward == reward


@pytest.mark.parametrize(
    "answer",
    [
        _ESCAPE,
        "exec('pass')",
        "exec ('pass')",
        "exec\n('pass')",
        "(exec)('pass')",
        "[exec][0]('pass')",
        "getattr (1, '__class__')",
        "[getattr][0](1, '_' '_class_' '_')",
        "S('x')",
        "exec\\\n('pass')",
        "open('/etc/passwd').read()",
    ],
)
def test_queens_are_data_and_no_program(answer: str) -> None:
    judgement = _judged(_entry("n_queens"), answer)
    assert judgement.reward == 0.0
    assert "is no part of an answer" in judgement.reason


def test_an_own_answer_may_call_what_no_other_may() -> None:
    own = "-2*Integral(x**2*cos(3*x), x) + C"
    entry = _row("intermediate_integration", own, integrand="-2*x**2*cos(3*x)", variable="x")
    assert _judged(entry, own).reward == 1.0
    assert _judged(entry, own.replace(" ", "")).reward == 1.0
    for other in ("Integral(-2*x**2*cos(3*x), x) + C", f"{own} + 0", own.replace("Integral", "integrate"), _ESCAPE):
        assert _judged(entry, other).reward == 0.0


def test_queens_may_stand_in_any_valid_way() -> None:
    entry = _entry("n_queens")
    for board in entry["metadata"]["valid_answers"]:
        assert _judged(entry, board).reward == 1.0


def test_a_scorer_that_hangs_on_an_answer_is_bounded_and_named() -> None:
    judgement = _judged(_entry("countdown"), _POWER, _judge(seconds=1.0))
    assert judgement.reward == 0.0
    assert "over its bounds" in judgement.reason


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        (_row("no_such_data_set"), "no_such_data_set"),
        # without what the scorer reads of a row it raises, whatever the answer is
        (_row("n_queens"), "valid_answers"),
        # these scorers swallow what they cannot read, and pay nobody
        (_row("number_sorting", "junk", direction="ascending"), "does not pay its own answer"),
        (_row("number_sorting", "['2', '1']", direction="ascending"), "does not pay its own answer"),
        (_row("countdown", "1 + 1", target=5, numbers=[1, 1]), "does not pay its own answer"),
        (_row("simple_integration", "x +* C", integrand="1", variable="x"), "does not pay its own answer"),
    ],
)
def test_a_scorer_that_fails_on_its_own_answer_is_no_verdict(entry: dict[str, Any], why: str) -> None:
    judgement = _judged(entry, "4")
    assert (judgement.reward, judgement.cause) == (None, "reference"), judgement
    assert why in (judgement.error or "")


def test_a_scorer_that_hangs_on_its_own_answer_is_no_verdict() -> None:
    entry = {**_entry("countdown"), "answer": _POWER}
    judgement = _judged(entry, _POWER, _judge(seconds=1.0))
    assert (judgement.reward, judgement.cause) == (None, "reference"), judgement
    assert "over its bounds" in (judgement.error or "")


@pytest.mark.parametrize("metadata", [{}, {"answer": "4"}, {"answer": "4", "source_dataset": "../gcd"}])
def test_a_row_of_no_data_set_is_no_verdict(metadata: dict[str, Any]) -> None:
    judgement = _judge().judge(
        WorkflowTask(task=Task(metadata=metadata)), WorkflowOutput(metadata={"final_answer": "<answer>4</answer>"})
    )
    assert (judgement.reward, judgement.cause) == (None, "reference"), judgement


def test_scorers_that_run_answers_are_warned_about_once(caplog: pytest.LogCaptureFixture) -> None:
    judge = _judge(seconds=3.0)
    with caplog.at_level(logging.WARNING):
        for dataset in ("countdown", "gcd", "countdown"):
            _judged(_entry(dataset), "x.y", judge)
    (warning,) = [record.getMessage() for record in caplog.records if "runs answers as code" in record.getMessage()]
    assert "'countdown'" in warning


def test_the_scorers_that_run_answers_are_known_to_the_package() -> None:
    for dataset in RUN_THE_ANSWER:
        assert callable(reasoning_gym.get_score_answer_fn(dataset))


@pytest.mark.parametrize(("binary", "reward"), [(True, 0.0), (False, 0.05)])
def test_a_shaped_score_is_paid_only_where_it_is_asked_for(binary: bool, reward: float) -> None:
    """Countdown gives 0.05 for a formula of the right form."""
    judgement = _judged(_entry("countdown"), "1 + 1", _judge(binary=binary))
    assert (judgement.reward, judgement.is_success) == (reward, False)
    assert judgement.metrics["score"] == 0.05


def test_rows_are_checked_with_their_own_answer() -> None:
    from agentscope_tuner.task_judge.reasoning_gym_judge import ReasoningGymJudge

    check = ReasoningGymJudge({}).check_task
    assert check(Task(metadata=dict(_entry("gcd")))) is None
    told = check(Task(metadata=_row("n_queens")))
    assert told is not None
    assert "its scorer fails on its own answer" in told
