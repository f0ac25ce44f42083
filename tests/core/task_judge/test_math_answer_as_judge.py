"""The judge on top of the verifier: where it finds the answer and the reference, and what it says."""

from __future__ import annotations

import asyncio
import json
import logging
import os
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy
import pytest

from agentscope_tuner import ConfigError, JudgeError, Task, WorkflowOutput, WorkflowTask, load_config, load_judge
from agentscope_tuner.errors import Cause
from agentscope_tuner.task_judge.math_answer_as_judge import MathAnswerAsJudge, asked
from agentscope_tuner.verify.find import find_answer
from agentscope_tuner.verify.math.verdict import MathVerdict, ReadPair, acompare
from agentscope_tuner.verify.sandbox import Sandbox


@cache
def judge_of(math: str) -> MathAnswerAsJudge:
    return MathAnswerAsJudge(load_config({"astuner": {"task_judge": {"math": json.loads(math)}}}))


def judge(output: object, answer: object, *, task: Task | None = None, **math: object) -> Any:
    task = task or Task()
    task.metadata["answer"] = answer
    workflow_task = WorkflowTask(task=task)
    return judge_of(json.dumps(math)).compute_reward(workflow_task, WorkflowOutput(metadata={"final_answer": output}))


@pytest.mark.parametrize(
    ("output", "answer", "reward", "reason"),
    [
        (r"so \boxed{42}", "42", (1.0, True), "exact: 42 = 42"),
        (r"so \boxed{42}", "She makes 6*7=42.\n#### 42", (1.0, True), "exact: 42 = 42"),
        (r"so \boxed{42}", r"\boxed{42}", (1.0, True), "exact: 42 = 42"),
        (r"so \boxed{1,234}", r"\(1234\)", (1.0, True), "normalised: 1,234 = 1234"),
        (r"so \boxed{0.5}", r"$\frac{1}{2}$", (1.0, True), r"numeric: 0.5 = \frac{1}{2}"),
        (r"so \boxed{43}", "42", (0.0, False), "numeric: 43 ≠ 42"),
        ("so 42", "42", (0.0, False), r"no \boxed{} in the answer"),
        (r"so \boxed{}", "42", (0.0, False), "normalised:  ≠ 42 (the box is empty)"),
        (r"so \boxed{42}", 42, (1.0, True), "exact: 42 = 42"),
    ],
)
def test_rewards_carry_their_reason(output: str, answer: object, reward: tuple[float, bool], reason: str) -> None:
    verdict = judge(output, answer)
    assert verdict == reward
    assert verdict.reason == reason


UNUSABLE: dict[str, list[Any]] = {
    "empty": ["", "  ", "$$", "#### "],
    "cannot be read": [r"\frac{1}{", "3 +"],
    "must be a str or a finite number": [
        *[None, True, ["4"], ("4",), {"answer": "4"}, b"4", 4j, float("nan"), float("inf"), -float("inf"), 1e999],
        *[Decimal("NaN"), Decimal("Infinity"), numpy.float64("nan"), numpy.float32("inf"), numpy.bool_(True)],
        *[numpy.array([4]), numpy.datetime64("NaT", "s"), 10**5_000, json.loads("NaN"), json.loads("1e999")],
    ],
    "missing or infinite": ["NaN", "nan", "-inf", "Infinity", "<NA>", "$nan$"],
    "lost its backslash": ["\frac{1}{2}", "3 \times 4", "a \neq b", "2\beta", "\rho", "\alpha", "\vec{v}", "x\to 2"],
}


@pytest.mark.parametrize("words", UNUSABLE)
@pytest.mark.parametrize("equivalence", ["symbolic", "exact"])
def test_an_unusable_reference_is_our_failure(words: str, equivalence: str) -> None:
    for answer in UNUSABLE[words]:
        for output in (r"\boxed{42}", r"\boxed{nan}"):
            if equivalence == "exact" and words == "cannot be read":
                continue  # compared by its characters
            with pytest.raises(JudgeError) as caught:
                judge(output, answer, equivalence=equivalence)
            assert words in caught.value.message
            assert caught.value.cause == Cause.REFERENCE


@pytest.mark.parametrize("is_async", [False, True])
def test_an_answer_over_which_the_comparison_breaks_is_unread(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, is_async: bool
) -> None:
    def breaks(*_: object, **__: object) -> MathVerdict:
        raise IndexError("a bug of ours")

    module = "agentscope_tuner.task_judge.math_answer_as_judge"

    def sometimes(text: str, *given: Any, **named: Any) -> Any:
        return (breaks if "x+1" in text else find_answer)(text, *given, **named)

    monkeypatch.setattr(f"{module}.find_answer", sometimes)
    task = WorkflowTask(task=Task(metadata={"answer": "x+1"}))
    output = WorkflowOutput(metadata={"final_answer": r"so \boxed{x+1}"})
    subject = MathAnswerAsJudge(load_config({"astuner": {"task_judge": {}}}))

    def reward() -> Any:
        asked = subject.acompute_reward(task, output) if is_async else None
        return subject.compute_reward(task, output) if asked is None else asyncio.run(asked)

    found = reward()
    assert found == (0.0, False)
    assert found.reason == "unread: IndexError in the comparison"
    assert found.metrics == {"unread": 1.0}
    assert "a bug of ours" in caplog.text
    # where a plain answer breaks it, too, the judge is at fault
    monkeypatch.setattr(f"{module}.find_answer", breaks)
    with pytest.raises(IndexError):
        reward()


@pytest.mark.parametrize("is_async", [False, True])
def test_a_worker_that_breaks_is_no_fault_of_the_answer(monkeypatch: pytest.MonkeyPatch, is_async: bool) -> None:
    def breaks(*_: object, **__: object) -> Sandbox:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr("agentscope_tuner.task_judge.math_answer_as_judge.shared", breaks)
    task = WorkflowTask(task=Task(metadata={"answer": r"\int_0^1 e^{-x^2}\,dx"}))
    output = WorkflowOutput(metadata={"final_answer": r"so \boxed{\int_0^2 e^{-x^2/4}\,dx/2}"})
    # without a worker the pair is undecided, which is an error, too
    raising = {"astuner": {"task_judge": {"math": {"on_undecided": "raise"}}}}
    subject = MathAnswerAsJudge(load_config(raising))
    with pytest.raises(RuntimeError, match="new thread"):
        asyncio.run(subject.acompute_reward(task, output)) if is_async else subject.compute_reward(task, output)


def test_an_output_that_states_no_answer_is_wrong_whatever_the_reference_says() -> None:
    assert judge("an output without a box", "a set that nobody can read {") == (0.0, False)


@pytest.mark.parametrize(
    ("reference", "answer"),
    [
        (42, "42"),
        (-3, "-3"),
        (2**70, str(2**70)),
        (42.0, "42"),
        (0.1, "0.1"),
        (1e-7, r"10^{-7}"),
        (Decimal("1.5"), "3/2"),
        (Fraction(1, 3), r"\frac{1}{3}"),
        (numpy.int64(42), "42"),
        (numpy.float64(42.0), "42"),
        (numpy.float32(0.1), "0.1"),
        (numpy.str_("42"), "42"),
    ],
)
def test_a_reference_may_be_a_number(reference: object, answer: str) -> None:
    assert judge(rf"\boxed{{{answer}}}", reference) == (1.0, True)
    assert judge(rf"\boxed{{{answer}+1}}", reference) == (0.0, False)


def test_a_whole_number_that_became_a_float_allows_no_rounding() -> None:
    assert judge(r"\boxed{42.04}", 42.0) == (0.0, False)


def test_a_damaged_answer_is_named_in_its_reason() -> None:
    for output in ("\\boxed{\frac{1}{2}}", "\\boxed{1}, no: \\boxed{\frac{1}{2}}", "<answer>\frac{1}{2}</answer>"):
        verdict = judge(output, "1/2", on_undecided="raise", answer_in=["boxed", "tag"])
        assert verdict == (0.0, False)
        assert "the answer is damaged" in verdict.reason
        assert r"`\frac` lost its backslash" in verdict.reason
    assert r"`\theta` lost its backslash" in judge("\\boxed{\theta}", r"\theta").reason
    # a line break before a word is none, as long as the answer is right
    assert judge("\\boxed{\ne\n}", "e") == (1.0, True)


@pytest.mark.parametrize(
    ("answer", "reference"),
    [
        (r"\frac13+\int_0^1\frac1{1+x^2}dx", r"\int_0^1 x^2dx+\frac\pi4"),
        (r"\int_0^1 e^{x^2}dx+1", r"1+\int_0^1 e^{t^2}dt"),
        (r"1+\frac12+\frac14+\cdots", "2"),
        ("9^{9^{9^{9}}}", "42"),
        ("10^{10^{10}}+1", "10^{10^{10}}"),
        ("100000!", "1"),
    ],
)
def test_an_answer_that_was_not_found_wrong_says_so(answer: str, reference: str) -> None:
    verdict = judge(rf"\boxed{{{answer}}}", reference)
    assert (verdict, verdict.metrics) == ((0.0, False), {"undecided": 1.0})
    assert verdict.reason.startswith("undecided: ")
    with pytest.raises(JudgeError, match="undecided: ") as raised:
        judge(rf"\boxed{{{answer}}}", reference, on_undecided="raise")
    assert raised.value.cause is Cause.UNDECIDED


@pytest.mark.parametrize(
    ("answer", "reference", "reward"),
    [
        ("3", "4", 0.0),
        (r"3\sqrt2", r"\sqrt{12}", 0.0),
        ("x+1", "x+2", 0.0),
        (r"\sqrt{12}", r"2\sqrt3", 1.0),
        ("1/2", "0.5", 1.0),
    ],
)
def test_an_answer_that_was_found_right_or_wrong_bears_no_mark(answer: str, reference: str, reward: float) -> None:
    verdict = judge(rf"\boxed{{{answer}}}", reference)
    assert (verdict[0], dict(verdict.metrics)) == (reward, {})
    assert "undecided" not in verdict.reason


R1 = "<think>Is it 41? \\boxed{41}</think>\n"


@pytest.mark.parametrize(
    ("output", "answer_in", "reward", "reason"),
    [
        ("<answer>42</answer>", ["boxed", "tag"], 1.0, "exact: 42 = 42; answer read from <answer>"),
        ("#### 42", ["hash"], 1.0, "exact: 42 = 42; answer read from ####"),
        ("The answer is $42$.", ["label"], 1.0, "exact: 42 = 42; answer read from a label"),
        ("所以答案是 42。", ["label"], 1.0, "exact: 42 = 42; answer read from a label"),
        ("it is 42", ["last_value"], 1.0, "exact: 42 = 42; answer read from the last value"),
        (r"\boxed{41} #### 42", ["boxed", "hash"], 0.0, r"numeric: 41 ≠ 42; answer read from the last \boxed{}"),
        ("The answer is not 42.", ["boxed", "label"], 0.0, "a denial in a label"),
        ("Answer: 41\nAnswer: 42", ["label"], 0.0, "two different answers side by side in a label"),
        (r"\boxed{41} or \boxed{42}", ["boxed"], 0.0, r"two different answers side by side in the last \boxed{}"),
        (R1 + r"\boxed{42}", ["boxed"], 1.0, "exact: 42 = 42"),
        (R1 + "42", ["boxed"], 0.0, r"no \boxed{} in the answer after the thinking"),
        (R1 + "42", ["boxed", "hash"], 0.0, r"no \boxed{}, no #### in the answer after the thinking"),
        (r"<think>\boxed{42}", ["boxed"], 0.0, r"no \boxed{} in the answer after the thinking"),
    ],
)
def test_the_answer_is_read_where_the_configuration_says(
    output: str, answer_in: list[str], reward: float, reason: str
) -> None:
    verdict = judge(output, "42", answer_in=answer_in)
    assert verdict == (reward, reward == 1.0)
    assert verdict.reason == reason


def test_the_awaited_verdict_is_the_same() -> None:
    config = load_config({"astuner": {"task_judge": {"math": {"answer_in": ["tag"]}}}})
    task = WorkflowTask(task=Task(metadata={"answer": r"\sqrt{2}"}))
    for said, reward in (("<answer>2^{1/2}</answer>", 1.0), ("<answer>2</answer>", 0.0), ("42", 0.0)):
        output = WorkflowOutput(metadata={"final_answer": said})
        awaited = asyncio.run(MathAnswerAsJudge(config).acompute_reward(task, output))
        assert awaited[0] == reward
        assert awaited.reason == MathAnswerAsJudge(config).compute_reward(task, output).reason


LETTERS = "+".join(f"a_{{{number}}}" for number in range(60))


@pytest.mark.parametrize("question", ["", f"What is {LETTERS}?"])
@pytest.mark.parametrize(
    ("answer", "reference"),
    [
        (LETTERS, "+".join(reversed(LETTERS.split("+")))),
        (LETTERS, f"{LETTERS}+1"),
        # of one letter, so that the worker is far from its deadline
        (rf"{'x+' * 140}\sqrt{{x^4+2x^2+1}}", f"{'x+' * 140}x^2+1"),
        (", ".join(map(str, range(100))), ", ".join(map(str, range(99, -1, -1)))),
        ("(" * 300 + "x" + ")" * 300, "x"),
        ("+".join([r"\sin(x)^2+\cos(x)^2"] * 20), "20"),
        (r"\int_0^1 x^2dx+" * 20 + "1", r"\frac{23}{3}"),
        ("word " * 80, "5"),
        ("5", "word " * 80),
        (LETTERS, LETTERS + r"+\frac{1}{"),
    ],
)
def test_a_long_pair_is_read_in_the_sandbox_with_the_same_verdict(answer: str, reference: str, question: str) -> None:
    """A thread that read it held up the loop of a service: fifty long rows delayed the cheap requests beside them."""
    judged = load_judge({"astuner": {"task_judge": {"judge": "math"}}})
    task = WorkflowTask(task=Task(main_query=question, metadata={"answer": reference}))
    output = WorkflowOutput(metadata={"final_answer": rf"so \boxed{{{answer}}}"})
    here, there = judged.judge(task, output), asyncio.run(judged.ajudge(task, output))
    assert (there.status, there.reward, there.reason, there.metrics) == (
        here.status,
        here.reward,
        here.reason,
        here.metrics,
    )
    assert there.cause == here.cause


def test_a_long_pair_is_not_read_on_the_callers_loop() -> None:
    asked_of: list[str] = []

    async def reading(answer: str, ground_truth: str, *, question: str | None, copied: str) -> ReadPair:
        asked_of.append(answer)
        return MathVerdict("equal", "structure", "as the sandbox said"), False

    async def symbolic(answer: str, ground_truth: str, *, question: str | None = None, stage: str = "symbolic") -> Any:
        raise AssertionError(answer)

    for answer, elsewhere in ((LETTERS, True), ("x+1", False)):
        verdict = asyncio.run(acompare(answer, f"1+{answer}-1", symbolic=symbolic, reading=reading))
        assert verdict.outcome == "equal"
        assert (verdict.reason == "as the sandbox said") is elsewhere
    assert asked_of == [LETTERS]


@pytest.mark.parametrize(
    ("answer_in", "words"), [([], "at least 1"), (["box"], "'boxed'"), (3, "list"), (["boxed", 3], "'boxed'")]
)
def test_a_place_that_is_none_is_a_configuration_error(answer_in: object, words: str) -> None:
    with pytest.raises(ConfigError, match=words) as caught:
        load_config({"astuner": {"task_judge": {"math": {"answer_in": answer_in}}}})
    assert "astuner.task_judge.math.answer_in" in str(caught.value)


QUESTION = "Simplify $2(x+1)-2$."


@pytest.mark.parametrize(
    "task",
    [
        Task(main_query=QUESTION),
        Task(init_messages=[{"role": "user", "content": QUESTION}]),
        Task(init_messages=[{"role": "user", "content": [{"type": "text", "text": QUESTION}]}]),
    ],
    ids=["main_query", "message", "parts"],
)
def test_a_formula_of_the_question_is_no_answer_unless_configured(task: Task) -> None:
    refused = judge(r"\boxed{2(x+1)-2}", "2x", task=task)
    assert refused == (0.0, False)
    assert "stands in the question" in refused.reason
    assert judge(r"\boxed{2(x+1)-2}", "2x", task=task, copied="accept") == (1.0, True)
    assert judge(r"\boxed{2x}", "2x", task=task) == (1.0, True)
    # the reference's own text stays an answer
    assert judge(r"\boxed{2(x+1)-2}", "2(x+1)-2", task=task) == (1.0, True)
    assert judge("Answer: $2(x+1)-2$", "2x", task=task, answer_in=["label"]) == (0.0, False)


def test_paying_guesses_is_warned_about_at_load(caplog: pytest.LogCaptureFixture) -> None:
    for places, warnings in ((["boxed", "label"], 0), (["boxed", "last_value"], 1)):
        caplog.clear()
        with caplog.at_level(logging.WARNING):
            assert judge(r"\boxed{42}", "42", answer_in=places) == (1.0, True)
        assert [("guesses" in record.getMessage()) for record in caplog.records] == [True] * warnings


@pytest.mark.parametrize(
    ("task", "question"),
    [
        (Task(main_query="What is it?", init_messages=[{"role": "user", "content": "other"}]), "What is it?"),
        (
            Task(init_messages=[{"role": "system", "content": "s"}, {"role": "user", "content": "What is it?"}]),
            "What is it?",
        ),
        (
            Task(
                init_messages=[
                    {"role": "user", "content": "1+1?"},
                    {"role": "assistant", "content": "2"},
                    {"role": "user", "content": "2+2?"},
                ]
            ),
            "2+2?",
        ),
        (
            Task(
                init_messages=[
                    {
                        "role": "user",
                        "content": [
                            {"type": "text", "text": "What"},
                            {"type": "image_url"},
                            {"type": "text", "text": "is it?"},
                        ],
                    }
                ]
            ),
            "What\n\nis it?",
        ),
        (Task(init_messages=[{"role": "user", "content": None}]), None),
        (Task(init_messages=[{"role": "system", "content": "s"}]), None),
        (Task(), None),
    ],
)
def test_the_question_is_the_query_or_the_last_user_message(task: Task, question: str | None) -> None:
    assert asked(task) == question


@pytest.mark.parametrize("output", [None, 42, ["42"]])
def test_an_answer_that_is_no_text_is_a_broken_workflow(output: object) -> None:
    with pytest.raises(JudgeError, match="final_answer"):
        judge(output, "42")


def test_exact_equivalence_compares_characters() -> None:
    assert judge(r"\boxed{0.5}", "1/2", equivalence="exact") == (0.0, False)
    assert judge(r"\boxed{1/2}", "$1/2$", equivalence="exact") == (1.0, True)


def shared_rollouts(name: str) -> list[dict[str, Any]]:
    shared = Path(os.environ.get("ASTUNER_SHARED", Path(__file__).parents[4] / "shared"))
    path = shared / "rollouts" / name
    if not path.exists():
        pytest.skip(f"{path} is not on this machine")
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_agrees_with_the_labels_of_real_gsm8k_outputs() -> None:
    rows = shared_rollouts("gsm8k_tora70b.jsonl")
    judge = MathAnswerAsJudge(load_config())
    wrong, boxless = [], 0
    for row in rows:
        task = WorkflowTask(task=Task.model_validate(row["task"]))
        reward = judge.compute_reward(task, WorkflowOutput.model_validate(row["output"]))
        if reward[1] != row["label"]["is_success"]:
            # the labels look at the value alone: a right value outside any box is 0.0 here
            boxless += "no \\boxed" in reward.reason
            wrong += [row["id"]] if "no \\boxed" not in reward.reason else []
    assert not wrong
    assert boxless == 5


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ("1/2", None),
        (0.5, None),
        (None, "missing"),
        ("  ", "missing"),
        ("$ $", "missing"),
        (float("nan"), "NaN or infinite"),
        ("nan", "NaN or infinite"),
        (True, "wrong type"),
        (["1"], "wrong type"),
        ("\x0crac12", "damaged"),
    ],
)
def test_what_keeps_a_reference_from_being_compared_is_told_in_a_word(answer: Any, kind: str | None) -> None:
    told = MathAnswerAsJudge({}).check_task(Task(metadata={"answer": answer}))
    assert told is None if kind is None else str(told).startswith(f"{kind}: ")


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("1/2", "0.5", True),
        ("0.5", "\\frac{1}{2}", True),
        ("1/2", "1/3", False),
        ("\\text{Yes}", "yes", True),
        (None, "1", False),
        (None, None, True),
    ],
)
def test_references_are_the_same_by_their_values(first: Any, second: Any, same: bool) -> None:
    judge = MathAnswerAsJudge({})
    assert judge.same_reference({"answer": first}, {"answer": second}) is same
    assert judge.same_reference({"answer": second}, {"answer": first}) is same


def test_exact_references_are_the_same_by_their_texts() -> None:
    judge = MathAnswerAsJudge({"astuner": {"task_judge": {"math": {"equivalence": "exact"}}}})
    assert judge.same_reference({"answer": "1/2"}, {"answer": "1/2"})
    assert not judge.same_reference({"answer": "1/2"}, {"answer": "0.5"})


@pytest.mark.parametrize(
    "said", [r"\boxed{5}", r"so \boxed{}", "5", "no idea", "<answer>5</answer>", r"\boxed{5", "x" * 9_999]
)
@pytest.mark.parametrize("truth", ["", "  ", "$$", r"\boxed{}", "#### ", "nan", "inf", None, float("nan")])
@pytest.mark.parametrize("equivalence", ["exact", "symbolic"])
def test_without_a_reference_there_is_no_verdict_whatever_the_answer(
    said: str, truth: object, equivalence: str
) -> None:
    # unboxed, an answer was wrong; boxed, it had no verdict
    judge = MathAnswerAsJudge({"astuner": {"task_judge": {"math": {"equivalence": equivalence}}}})
    task = WorkflowTask(task=Task(metadata={"answer": truth}))
    output = WorkflowOutput(metadata={"final_answer": said})
    asks: list[Callable[[], object]] = [
        lambda: judge.compute_reward(task, output),
        lambda: asyncio.run(judge.acompute_reward(task, output)),
    ]
    for ask in asks:
        with pytest.raises(JudgeError) as caught:
            ask()
        assert caught.value.cause is Cause.REFERENCE


def test_an_empty_box_is_refused_as_empty_whatever_stands_behind_it(caplog: pytest.LogCaptureFixture) -> None:
    """Its comparison broke, which was logged for each such answer."""
    task = WorkflowTask(task=Task(main_query="Find x.", metadata={"answer": "5"}))
    output = WorkflowOutput(metadata={"final_answer": r"\boxed{}. The answer is 5. It is not 4."})
    reward = MathAnswerAsJudge({}).compute_reward(task, output)
    assert (reward[0], caplog.text) == (0.0, "")
    assert "the box is empty" in reward.reason


@pytest.mark.parametrize("equivalence", ["symbolic", "exact"])
@pytest.mark.parametrize(
    ("answer", "sound"),
    [
        ('{"target": 4}', False),
        ("{'target': 4, 'numbers': [1, 3]}", False),
        ("{'target': 4}", False),
        ('{ "answer" : "4" }', False),
        ('["4"]', False),
        ("['4', '5']", False),
        ("[4]", True),
        ("{4}", True),
        (r"\{4\}", True),
        ("{x: x > 3}", True),
    ],
)
def test_a_record_that_a_column_holds_as_text_is_no_answer(answer: str, sound: bool, equivalence: str) -> None:
    # every answer was wrong: 4 is not {"target": 4}
    judge = MathAnswerAsJudge({"astuner": {"task_judge": {"math": {"equivalence": equivalence}}}})
    task = WorkflowTask(task=Task(metadata={"answer": answer}))
    for said in (r"\boxed{4}", "nothing"):
        output = WorkflowOutput(metadata={"final_answer": said})
        if sound:
            judge.compute_reward(task, output)
            continue
        with pytest.raises(
            JudgeError, match="is a record or a list of texts, no answer: name what of it is one"
        ) as found:
            judge.compute_reward(task, output)
        assert found.value.cause is Cause.REFERENCE


@pytest.mark.parametrize("boxed", [",", "\\,", ",,", " , "])
def test_a_box_of_commas_is_no_answer_in_words_and_takes_no_verdict_away(boxed: str) -> None:
    """The search for a first word failed with an IndexError, and the trainer left out the row."""
    judge = load_judge({"astuner": {"task_judge": {"judge": "math"}}})
    task = WorkflowTask(task=Task(main_query="Which peace?", metadata={"answer": "Peace of Westphalia"}))
    found = judge.judge(task, WorkflowOutput(metadata={"final_answer": f"\\boxed{{{boxed}}}"}))
    assert (found.status, found.reward) == ("judged", 0.0)
