"""`reads`: a task's columns give its question and its answer, the same for whoever calls the judge."""

from __future__ import annotations

import asyncio
import pickle
from types import SimpleNamespace
from typing import Any

import numpy
import pytest

from agentscope_tuner import (
    ConfigError,
    JudgeError,
    Judgement,
    Task,
    TaskJudge,
    WorkflowOutput,
    WorkflowTask,
    load_judge,
)
from agentscope_tuner.adapters import areal, ms_swift, verl
from agentscope_tuner.adapters.trl import reward_func
from agentscope_tuner.adapters.trl.functions import pairs_of
from agentscope_tuner.records.formats.sample import as_rollout
from agentscope_tuner.records.formats.trainers import as_pair, decode_openrlhf_request, decode_slime_request, read_trl
from agentscope_tuner.task_judge.contract.columns import Reads

MATH = "agentscope_tuner.task_judge.math_answer_as_judge->MathAnswerAsJudge"


def config(reads: Any = None, **section: Any) -> dict[str, Any]:
    return {"astuner": {"task_judge": {"judge_protocol": MATH, "reads": reads or {}, **section}}}


def ask(judge: TaskJudge, columns: dict[str, Any], said: str = r"\boxed{72}") -> Judgement:
    return judge.judge(WorkflowTask(task=Task(metadata=columns)), WorkflowOutput(metadata={"final_answer": said}))


@pytest.mark.parametrize(
    "columns",
    [
        {"answer": "72"},
        {"answer": 72},
        {"answer": "36 * 2 = 72\n#### 72"},
        {"solution": r"so it is $\boxed{72}$"},
        {"solution": "72"},
        {"solution": "A long story, which says nothing of where its answer stands.\n72", "ground_truth": 72},
        {"ground_truth": "72"},
        {"reward_model": {"ground_truth": "72", "style": "rule"}},
        {"reward_model": '{"ground_truth": "72"}'},
        {"ground_truth": 72, "target": "72", "label": None},
        {"expected_answer": "72", "ground_truth": float("nan")},
        {"expected_answer": 72, "ground_truth": numpy.int64(72), "solution": numpy.float32("nan")},
        # the worked solution and the answer say the same
        {"solution": r"so it is $\boxed{72}$.", "final_answer": "72"},
        {"solution": "so\n#### 72", "expected_answer": 72, "label": ""},
        # `answer` is the name that the documentation gives
        {"answer": "72", "solution": "71", "label": "algebra"},
    ],
)
def test_a_reference_is_found_under_the_names_that_data_sets_use(columns: dict[str, Any]) -> None:
    assert ask(load_judge(config()), columns).reward == 1.0
    assert ask(load_judge(config()), columns, r"\boxed{71}").reward == 0.0


@pytest.mark.parametrize(
    ("columns", "way_out"),
    [
        (
            {"solution": "A proof.\nIt follows from the lemma."},
            "to compare with all of it, write `reads: {answer: solution}`",
        ),
        ({"solution": "it is 72", "final_answer": "72"}, "solution and final_answer differ: name one"),
        ({"label": "algebra", "target": "72"}, "label and target differ"),
        ({"ground_truth": "72", "label": "algebra"}, "differ: name one, `reads: {answer: ground_truth}`"),
        ({"solution": r"\boxed{72}", "label": "algebra"}, "differ: name one, `reads: {answer: solution}`"),
        # a class, a difficulty, what a dump took out of the policy's response: each paid it, or paid nothing
        ({"label": "algebra"}, "write `reads: {answer: label}` under astuner.task_judge; if not, add"),
        ({"label": 72}, "if 'label' holds the reference answer, write"),
        ({"label": 72, "ground_truth": ""}, "if 'label' holds the reference answer, write"),
        ({"target": 72}, "if 'target' holds the reference answer, write"),
        ({"target": "hard", "answer_type": "number"}, "if 'target' holds the reference answer, write"),
        ({"final_answer": "72"}, "if 'final_answer' holds the reference answer, write"),
        ({"label": 72, "target": 72, "final_answer": 72}, "reads: {answer: final_answer}"),
        ({"solution": "A proof.\n" * 9, "final_answer": "72"}, "reads: {answer: final_answer}"),
        ({"ground_truth": [72, 71], "target": 72}, "ground_truth and target differ"),
        ({"final": "72", "question": "q", "id": 3}, "`reads: {answer: final}`"),
        ({"ground_truth": float("nan"), "gold": "72"}, "is it 'gold'?"),
        ({"ground_truth": numpy.array([71, 72])}, "must be a str or a finite number"),
        ({"gold": "72"}, "is it 'gold'? Then write `reads: {answer: gold}`"),
        ({"meta": {"gt": 72}}, "`reads: {answer: meta.gt}`"),
        ({"level": True, "a": 1}, "name the reference's column"),
        ({}, "only []; put the reference there"),
    ],
)
def test_a_reference_that_is_not_sure_is_no_reward_but_a_line_to_write(columns: dict[str, Any], way_out: str) -> None:
    judge = load_judge(config())
    judgement = ask(judge, columns)
    assert (judgement.status, judgement.reward, judgement.cause) == ("failed", None, "reference")
    assert way_out in str(judgement.error)
    assert way_out in str(judge.check_task(Task(metadata=columns)))


@pytest.mark.parametrize(
    ("answer", "columns"),
    [
        ("gold", {"gold": "72", "answer": "71"}),
        (["first", "second"], {"second": "72"}),
        ({"from": ["first", "meta.gold"]}, {"first": None, "meta": {"gold": 72}}),
        ({"from": "choices.1.text"}, {"choices": [{"text": "71"}, {"text": "72"}]}),
        ("choices.1.text", {"choices": numpy.array([{"text": "71"}, {"text": "72"}], dtype=object)}),
        ({"from": "a.b"}, {"a.b": "72", "a": {"b": "71"}}),
        ({"from": "solution", "take": "hash"}, {"solution": "#### 71\n#### 72\n"}),
        ({"from": "answer", "take": "hash"}, {"answer": "so\n#### 72\nDone."}),
        ({"from": "solution", "take": "last_box"}, {"solution": r"\boxed{71}, no: \boxed{72}"}),
        ({"from": "solution", "take": "number"}, {"solution": "from 71 to 72 apples."}),
        ({"from": "solution", "take": "json.final.value"}, {"solution": '{"final": {"value": 72}}'}),
        ({"from": "solution", "take": "json.final"}, {"solution": {"final": "72"}}),
        ({"from": "solution", "take": r"regex:Answer: (\d+)"}, {"solution": "Answer: 72 apples"}),
        ({"from": "solution", "take": r"regex:\d+$"}, {"solution": "71 or 72"}),
    ],
)
def test_a_named_column_is_taken_from_as_its_form_says(answer: Any, columns: dict[str, Any]) -> None:
    judge = load_judge(config({"answer": answer}))
    assert ask(judge, columns).reward == 1.0
    task = Task(metadata=columns)
    # read again by whoever was handed the read task, it stays; and the caller's own is not changed
    assert judge.read(judge.read(task)) is not task
    assert judge.read(judge.read(task)).metadata == judge.read(task).metadata
    assert task.metadata == columns


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("gold", "the row has no 'gold', only 'solution': name one of these; if none fits, `astuner init auto` finds"),
        ({"from": "solution", "take": "hash"}, "solution holds nothing to take by 'hash', it is 'a tale'"),
        ("$.solution", "the row has no '$.solution', but 'solution': write the path so"),
        ("solution[0]", "the row has no 'solution[0]', but 'solution': write the path so"),
        ({"from": "solution", "take": "last_box"}, "last_box"),
        ({"from": "solution", "take": "number"}, "number"),
        ({"from": "solution", "take": "json.a"}, "json.a"),
        ({"from": "solution", "take": "regex:(72)"}, "regex"),
    ],
)
def test_a_named_column_without_its_value_is_no_reward(answer: Any, why: str) -> None:
    judgement = ask(load_judge(config({"answer": answer})), {"solution": "a tale"})
    assert (judgement.reward, judgement.cause) == (None, "reference")
    assert why in str(judgement.error)


@pytest.mark.parametrize(
    ("reads", "why"),
    [
        ({"answer": 3}, "astuner.task_judge.reads.answer: must be a mapping"),
        ({"answer": []}, "reads.answer.from"),
        ({"answer": {"from": 3}}, "reads.answer.from"),
        ({"answer": {"form": "x"}}, "allowed keys are from, take"),
        ({"answer": {"from": "x", "take": "box"}}, "must be hash, last_box, number, json.<path> or regex:<pattern>"),
        ({"answer": {"from": "x", "take": "regex:("}}, "the pattern does not compile"),
        ({"response": {"from": "x", "take": "hash"}}, "math.answer_in says where"),
        ({"question": {"from": "x", "take": "hash"}}, "a question is read whole"),
    ],
)
def test_a_wrong_mapping_stops_at_load(reads: Any, why: str) -> None:
    with pytest.raises(ConfigError, match=why.replace("(", r"\(").replace("|", r"\|")):
        load_judge(config(reads))


def test_the_question_is_read_for_those_who_need_it() -> None:
    reads = Reads({"question": "problem", "target": "info.target"})
    columns = {"problem": "2 * 36?", "info": {"target": 24}}
    read = reads.read(Task(main_query="a prompt around it", metadata=columns), ())
    assert (read.main_query, read.metadata["target"]) == ("2 * 36?", 24)
    # a trainer hands the prompt beside the columns
    columns = {"info": {"target": 24}}
    assert reads.read(Task(main_query="2 * 36?", metadata=columns), ()).main_query == "2 * 36?"
    chat = {"problem": [{"role": "user", "content": "2 * 36?"}], "info": {"target": 1}}
    assert reads.read(Task(metadata=chat), ()).main_query == "2 * 36?"


def test_what_else_is_missing_is_not_taken_for_the_answer() -> None:
    routed = {
        "judge_type": "routed",
        "judge_protocol": None,
        "by": "task.metadata.kind",
        "routes": {"x": {"judge": "math"}},
    }
    judge, columns = load_judge(config(**routed)), {"kind": "z"}
    # it said: is it 'kind'? Then write `reads: {answer: kind}`
    for told in (str(ask(judge, columns).error), str(judge.check_task(Task(metadata=columns)))):
        assert "no route has that name" in told
        assert "reads" not in told
    assert "`reads: {answer: gold}`" in str(ask(judge, {"kind": "x", "gold": "72"}).error)


def test_a_judge_that_needs_no_reference_gets_the_task_as_it_is() -> None:
    length = "agentscope_tuner.task_judge.length_judge->LengthJudge"
    judge = load_judge({"astuner": {"task_judge": {"judge_protocol": length, "judge_kwargs": {"soft": 5, "hard": 9}}}})
    task = Task(metadata={"solution": "72"})
    assert judge.read(task) is task


def test_every_way_to_ask_reads_the_same() -> None:
    judge = load_judge(config({"answer": {"from": "solution", "take": "hash"}}))
    task = WorkflowTask(task=Task(metadata={"solution": "so\n#### 72"}))
    output = WorkflowOutput(metadata={"final_answer": r"\boxed{72}"})
    assert judge.compute_reward(task, output)[0] == 1.0
    assert asyncio.run(judge.acompute_reward(task, output))[0] == 1.0
    assert [found.reward for found in judge.judge_group(task, [output, output])] == [1.0, 1.0]
    assert [found.reward for found in asyncio.run(judge.ajudge_group(task, [output]))] == [1.0]
    assert pickle.loads(pickle.dumps(judge.read(task.task).metadata)) == {"solution": "so\n#### 72", "answer": "72"}


def test_parts_and_routes_are_read_by_the_mapping_around_them_and_by_their_own() -> None:
    math = {"judge_protocol": MATH}
    inner = {**math, "reads": {"answer": {"from": "solution", "take": "number"}}}
    combined = {"judge_type": "combined", "judge_protocol": None, "parts": {"one": math, "two": inner}}
    judge = load_judge(config({"answer": "gold"}, **combined))
    columns = {"gold": "72", "solution": "in all 72"}
    assert ask(judge, columns).reward == 2.0
    assert judge.check_task(Task(metadata=columns)) is None
    assert "reads.answer" in str(judge.check_task(Task(metadata={"gold": "72"})))


@pytest.mark.parametrize("judged_by", [lambda task: task, lambda task: pickle.loads(pickle.dumps(task))])
def test_a_part_reads_the_rows_own_columns_whatever_was_read_around_it(judged_by: Any) -> None:
    outer, inner = Reads({"answer": "gold", "answers": "answer"}), Reads({"answer": "answer"})
    # the part named the row's `answer`, and was paid for `gold`
    read = judged_by(outer.read(Task(metadata={"gold": "72", "answer": "71"}), ("answer",)))
    assert (read.metadata["answer"], read.metadata["answers"]) == ("72", "71")
    assert inner.read(read, ("answer",)).metadata["answer"] == "71"
    assert outer.read(inner.read(read, ("answer",)), ("answer",)).metadata["answer"] == "72"
    hashed = Reads({"answer": {"from": "answer", "take": "hash"}})
    again = hashed.read(judged_by(hashed.read(Task(metadata={"answer": "so\n#### 72"}), ("answer",))), ("answer",))
    assert again.metadata["answer"] == "72"


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("from 71 to 72 apples.", "72"),
        ("it is 72.", "72"),
        ("7.2e1", "7.2e1"),
        ("1,234,567.5 in all", "1234567.5"),
        ("so -3/4", "-3/4"),
        ("(71, 72)", "72"),
        ([1, 72], "72"),
        (72.0, "72.0"),
        ("a1 b2", None),
        ("none", None),
        # each gave the last piece of it
        ("1.000.000", None),
        ("1,00,000", None),
        ("(3,4)", None),
        ("12,3456", None),
        ("10.5.2026", None),
    ],
)
def test_the_last_number_is_taken_whole_or_not_at_all(text: Any, number: str | None) -> None:
    reads = Reads({"answer": {"from": "told", "take": "number"}})
    if number is None:
        with pytest.raises(JudgeError, match="holds nothing to take by 'number'"):
            reads.read(Task(metadata={"told": text}), ("answer",))
    else:
        assert reads.read(Task(metadata={"told": text}), ("answer",)).metadata["answer"] == number


# The same section, as each trainer hands its rows over
ONE = config({"answer": {"from": ["reward_model.ground_truth", "label", "solution"], "take": "hash"}})


def test_one_mapping_serves_trl_verl_openrlhf_and_slime(tmp_path: Any) -> None:
    trl = reward_func(ONE)
    assert trl(["q", "q"], [r"\boxed{72}", r"\boxed{71}"], solution=["#### 72"] * 2) == [1.0, 0.0]
    judge = load_judge(ONE)
    for pair in (
        verl.pair_of("gsm8k", r"\boxed{72}", "#### 72", {"question": "q"}),
        decode_openrlhf_request({"query": [r"q \boxed{72}"], "prompts": ["q "], "labels": ["#### 72"]}),
        decode_slime_request({"prompt": "q", "response": r"\boxed{72}", "label": "#### 72"}),
        as_rollout("q", r"\boxed{72}", {"solution": "#### 72"}),
    ):
        assert judge.judge(*pair).reward == 1.0


def test_trl_rewards_its_own_column_without_a_word_of_configuration() -> None:
    # TRL's own reward functions read `solution`: this was [None, None] for ever
    rewards = reward_func(config())(["q", "q"], [r"\boxed{72}", r"\boxed{7}"], solution=[r"$\boxed{72}$", r"$72$"])
    assert rewards == [1.0, 0.0]


TALE = "We add the apples, and by the lemma above the sum telescopes,\nwhich leaves them all."


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        # a worked solution that does not say where its answer stands made every answer wrong
        ({"solution": TALE}, None),
        ({"solution": "print(72)", "ground_truth": "72"}, None),
        ({"answer": None, "solution": "72"}, None),
        ({"answer": float("nan"), "solution": "72"}, None),
        ({"label": "algebra"}, None),
        ({"solution": TALE, "ground_truth": "72"}, 1.0),
        ({"solution": f"{TALE} #### 72", "answer": "72"}, 1.0),
        ({"solution": '{"answer": "72", "level": 3}'}, 1.0),
        ({"reward_model": {"ground_truth": "72"}}, 1.0),
    ],
)
def test_trainers_that_hand_over_columns_guess_no_more_than_a_file_of_rows(
    columns: dict[str, Any], expected: float | None
) -> None:
    judge, said = load_judge(config()), r"\boxed{72}"
    trl = pairs_of(["q"], [said], {key: [value] for key, value in columns.items()})
    turns = [{"role": "user", "content": "q"}, {"role": "assistant", "content": said}]
    pairs = [*trl, ms_swift.pair_of(said, {"messages": turns, **columns}), areal.pair_of("q", said, dict(columns))]
    pairs.append(read_trl({"prompt": "q", "completion": said, **columns}))
    assert [judge.judge(*pair).reward for pair in pairs] == [expected] * 4


@pytest.mark.parametrize(
    ("label", "metadata", "expected"),
    [
        ("72", {"answer": "71"}, 1.0),
        ('{"answer": "72"}', {}, 1.0),
        # without --label-key the metadata tell: this was None for ever
        (None, {"ground_truth": "72"}, 1.0),
        (None, {"answer": "72"}, 1.0),
        (None, {"label": "72"}, None),
        (None, {"answer": None, "ground_truth": "72"}, None),
        (None, {}, None),
        ("", {"ground_truth": "72"}, None),
    ],
)
def test_slimes_label_is_the_reference_and_without_one_its_metadata(
    label: Any, metadata: dict[str, Any], expected: float | None
) -> None:
    sample = SimpleNamespace(prompt="q", response=r"\boxed{72}", label=label, metadata=metadata, group_index=0)
    assert load_judge(config()).judge(*as_pair(sample)).reward == expected


def test_a_missing_cell_is_mended_by_no_other_column() -> None:
    # a kind, or another text, would have made every answer wrong
    judgement = ask(load_judge(config()), {"answer": None, "label": "algebra", "solution": "71"})
    assert (judgement.reward, judgement.cause) == (None, "reference")


def test_a_judge_that_needs_no_answer_does_without_the_column() -> None:
    length = {"judge": "length", "judge_kwargs": {"soft": 5, "hard": 9}, "reads": {"answer": "gold"}}
    judge = load_judge({"astuner": {"task_judge": length}})
    assert ask(judge, {"other": 1}, "1").status == "judged"
    assert judge.read(Task(metadata={"gold": "72"})).metadata["answer"] == "72"


def test_a_key_that_is_nearly_one_of_those_that_are_read_is_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    """`reads: {anser: solution}` was taken without a word, and the judge compared with the column `answer`."""
    load_judge(config({"anser": "solution"}))
    assert caplog.messages == [
        "astuner.task_judge.reads.anser: did you mean 'answer'? MathAnswerAsJudge does not say that it reads this key"
    ]
    caplog.clear()
    load_judge(config({"answer": "solution", "question": "problem", "target": "level"}))
    assert caplog.messages == []


def test_a_mapping_the_wrong_way_round_is_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    load_judge(config({"gold": "answer"}))
    assert "reads.gold: did you mean `answer: gold`? On the left stands what MathAnswerAsJudge reads" in caplog.text
