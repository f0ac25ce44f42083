"""Rows of no trainer's form: what is read as the question, the response and the metadata, and what is refused."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest

from agentscope_tuner import ConfigError, JudgeError
from agentscope_tuner.records.blocks import TextBlock, converted
from agentscope_tuner.records.files import dump_lines, is_dump
from agentscope_tuner.records.formats import Conversion
from agentscope_tuner.records.formats.plain import is_own, read_plain
from agentscope_tuner.records.reader import Line
from agentscope_tuner.task_judge.contract.columns import NO_READS, Reads


def made(*rows: dict[str, Any], reads: Reads = NO_READS, responses: bool = True) -> list[Line]:
    lines = [Line(f"f:{place}", json.dumps(row).encode()) for place, row in enumerate(rows, 1)]
    return list(Conversion("auto", reads=reads, responses=responses).all(lines))


def read(row: dict[str, Any], reads: Reads = NO_READS) -> tuple[str, str]:
    (line,) = made(row, reads=reads)
    assert line.problem is None, line.problem
    rollout = json.loads(line.raw)
    return rollout["task"]["main_query"], rollout["output"]["metadata"]["final_answer"]


CHAT = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]


@pytest.mark.parametrize(
    "row",
    [
        {"question": "q", "response": "a"},
        {"problem": "q", "completion": "a"},
        {"query": "q", "generation": ["a"]},
        {"instruction": "q", "input": "", "output": "a"},
        {"question": "q", "prompt": "Solve: q", "model_output": "a"},
        {"prompt": CHAT[:1], "prediction": CHAT[1:]},
        {"messages": CHAT, "level": 3},
        {"messages": CHAT, "task_id": "t1"},
        {"question": "q", "messages": CHAT},
        {"conversations": [{"from": "human", "value": "q"}, {"from": "gpt", "value": "a"}]},
        {"messages": json.dumps(CHAT)},
        {"question": "q", "response": json.dumps(CHAT[1:])},
        {
            "conversations": [
                {"from": "human", "value": "q"},
                {"from": "function_call", "value": "f()"},
                {"from": "observation", "value": "no"},
                {"from": "gpt", "value": "a"},
            ]
        },
        {"question": "q", "response": "a", "output": "a"},
        {"question": "q", "response": "", "output": "a"},
    ],
)
def test_a_question_and_a_response_are_found(row: dict[str, Any]) -> None:
    assert read(row) == ("q", "a")


@pytest.mark.parametrize(
    ("row", "own"),
    [
        # a task with a key more was read as a row of a data set
        ({"task_id": "t1", "metadata": {"answer": "2"}, "difficulty": 3}, True),
        ({"task_id": "t1", "metadata": {"answer": "2"}, "split": "train", "output": {}}, True),
        ({"task_id": "t1", "metadata": {"answer": "2"}}, True),
        ({"task_id": "t1"}, True),
        *(({key: "x", "question": "q"}, True) for key in ("main_query", "init_messages", "env_type")),
        ({"task": {}, "question": "q"}, True),
        ({"task": {"name": "algebra"}, "output": {}}, True),
        ({"task": {"name": "algebra"}, "question": "q"}, False),
        ({"task_id": "t1", "difficulty": 3}, False),
        ({"task_id": "t1", "metadata": "easy", "difficulty": 3}, False),
        ({"task_id": "t1", "metadata": {}, "question": "q", "answer": "2"}, False),
        ({"task_id": "t1", "metadata": {}, "messages": CHAT}, False),
        ({"task_id": "t1", "metadata": {}, "response": "a", "answer": "2"}, False),
    ],
)
def test_a_task_of_our_own_may_have_keys_more_and_a_data_set_a_task_id(row: dict[str, Any], own: bool) -> None:
    assert is_own(row) is own


@pytest.mark.parametrize("asked", ["prompt", "input"])
@pytest.mark.parametrize("said", ["response", "output", "completion"])
def test_a_label_is_a_reference_where_it_is_named_alone(asked: str, said: str) -> None:
    # prompt and response told OpenRLHF's form, where a label is the reference: every answer was compared with "algebra"
    row = {asked: "q", said: "a", "label": "algebra"}
    assert read(row) == ("q", "a")
    assert "answer" not in json.loads(made(row)[0].raw)["task"]["metadata"]
    assert json.loads(made({**row, "answer": "4"})[0].raw)["task"]["metadata"]["answer"] == "4"


@pytest.mark.parametrize(
    "text", ["a<|im_end|>", "<|im_start|>user\n\\boxed{4}<|im_end|>\n<|im_start|>assistant\na</s>"]
)
def test_a_response_is_the_last_turn_of_its_text(text: str) -> None:
    assert read({"question": "q", "response": text}) == ("q", "a")


@pytest.mark.parametrize(
    "row",
    [
        {"prompt": "q", "completion": "the data set's own", "response": "the policy's"},
        {"prompt": "q", "completion": "the data set's own", "output": "the policy's"},
        {"prompt": CHAT[:1], "completion": CHAT[1:], "generation": "the policy's"},
        {"prompt": "q", "response": "the policy's", "prediction": "another's"},
        {"input": "q", "output": "the data set's own", "model_output": "the policy's"},
    ],
)
def test_no_form_is_guessed_where_two_columns_could_be_the_response(row: dict[str, Any]) -> None:
    # prompt and completion told TRL's form: the reference solution was judged, and paid
    (line,) = made(row)
    assert "differ, and each could be the response: name one" in str(line.problem)
    assert read(row, Reads({"response": next(reversed(row))}))[1].endswith("'s")


@pytest.mark.parametrize(
    ("response", "why"),
    [
        (["\\boxed{1}", "\\boxed{4}"], "holds 2 values.*response.0"),
        ({"text": "\\boxed{4}"}, "holds the keys \\['text'\\].*response.text"),
        ({"body": {"choices": [{"message": {"role": "assistant", "content": "\\boxed{4}"}}]}}, "the keys \\['body'"),
        ([["\\boxed{4}"], "x"], "holds 2 values"),
        ({}, "the keys"),
    ],
)
def test_a_response_that_holds_several_or_more_than_a_text_is_none(response: Any, why: str) -> None:
    # their Python form was judged as one text: the last of eight samples was paid for all
    (line,) = made({"question": "q", "answer": "4", "response": response})
    assert re.search(why, str(line.problem))


def test_a_chat_in_a_text_ends_with_who_spoke_last() -> None:
    tool = {"role": "tool", "content": "\\boxed{4}"}
    assert read({"question": "q", "response": json.dumps([*CHAT[1:], tool])}) == ("q", "")
    assert read({"question": "q", "response": []}) == ("q", "")
    # a policy may write lists
    assert read({"question": "q", "response": "[1, 2]"}) == ("q", "[1, 2]")
    assert read({"question": "q", "response": '[{"a": 1}]'}) == ("q", '[{"a": 1}]')


def test_a_label_beside_an_answer_is_no_reference_of_slimes() -> None:
    row = {"prompt": "q", "response": "a", "label": "algebra", "metadata": {}, "answer": "4"}
    assert json.loads(made(row)[0].raw)["task"]["metadata"]["answer"] == "4"


@pytest.mark.parametrize("row", [{"question": "q", "response": ""}, {"question": "q", "output": "", "a": 1}])
def test_an_empty_response_is_a_response(row: dict[str, Any]) -> None:
    # else a policy that writes nothing would have no verdict, and no 0
    assert read(row) == ("q", "")


def test_named_columns_are_read_before_all_others() -> None:
    reads = Reads({"question": "q", "response": ["said.text", "said"]})
    assert read({"q": "asked", "question": "no", "said": {"text": "yes"}, "response": "no"}, reads) == ("asked", "yes")
    # a form that would read another column
    assert read({"prompt": "p", "q": "asked", "completion": "no", "said": "yes"}, reads) == ("asked", "yes")


UNDER = "under astuner.task_judge"
NAME_IT = f"name its column, `reads: {{response: <column>}}` {UNDER}, or --map <column>=response"
NO_ROW = "`astuner check` takes rows without responses"


def lacks(*columns: str) -> str:
    return f"the row has no response, only {sorted(columns)!r}"


@pytest.mark.parametrize(
    ("row", "reads", "why"),
    [
        ({"question": "q", "answer": "1"}, {}, f"{lacks('question', 'answer')}: {NAME_IT}; {NO_ROW}"),
        (
            {"question": "q", "response": None, "x": 3},
            {},
            "the row has no response, its 'response' is null: fill the cell or drop the row, or, where another column "
            f"holds the response: is it 'x'? Then name it, `reads: {{response: x}}` {UNDER}, or --map x=response",
        ),
        (
            {"question": "q", "answer": "1", "reply": "a"},
            {},
            f"{lacks('question', 'answer', 'reply')}: is it 'reply'? Then name it, `reads: {{response: reply}}` "
            f"{UNDER}, or --map reply=response",
        ),
        # --map takes one column: it is named without the reference's
        (
            {"question": "q", "solution": "s", "answer": "1", "gold": "1"},
            {},
            f"{lacks('question', 'solution', 'answer', 'gold')}: is 'answer' it, and 'gold' the reference? Then name "
            f"both, `reads: {{response: answer, answer: gold}}` {UNDER}, or --map answer=response",
        ),
        (
            {"question": "q", "responses": ["a", "b"]},
            {},
            f"{lacks('question', 'responses')}: 'responses' holds 2 values: write one row for each, or name one, "
            f"`reads: {{response: responses.0}}` {UNDER}, or --map responses.0=response",
        ),
        (
            {"question": "q", "text": "q and a"},
            {},
            f"{lacks('question', 'text')}: 'text' begins with the question: write the rest, the policy's part, into a "
            "column `response`",
        ),
        (
            {"0": "q", "1": "a"},
            {},
            f"{lacks('0', '1')}: a table's first line holds the names of its columns: is it a row here? Else "
            f"{NAME_IT}; {NO_ROW}",
        ),
        (
            {"q": "a", "gold": "b", "id": 1},
            {"question": "q", "answer": "gold"},
            f"{lacks('q', 'gold', 'id')}: it has nothing beside 'gold' and 'q': write what the policy answered into a "
            "column `response`",
        ),
        (
            {"q": "a", "response": "b"},
            {"question": ["x", "y"]},
            "astuner.task_judge.reads.question: the row has no x or y, only ['q', 'response']",
        ),
        (
            {"question": "q", "problem": "p", "response": "a"},
            {},
            "question and problem differ, and each could be the question: name one, `reads: {question: question}` "
            f"{UNDER}",
        ),
        (
            {"question": "q", "response": "a", "output": "b"},
            {},
            f"response and output differ, and each could be the response: name one, `reads: {{response: response}}` "
            f"{UNDER}",
        ),
        (
            {"question": "q", "response": {"text": "a", "thought": "and so on"}},
            {},
            "response holds the keys ['text', 'thought'], and no text or chat: name one, "
            f"`reads: {{response: response.thought}}` {UNDER}, or write a row for each",
        ),
        # who spoke is not known: these are no turns of a chat
        (
            {"conversations": [{"from": "narrator", "value": "a"}]},
            {},
            "the row is no row: 'conversations' holds a list of rows: `jq -c '.conversations[]' FILE > rows.jsonl` "
            "writes them line by line",
        ),
        (
            {"question": "q", "response": ["a", "b"]},
            {},
            f"response holds 2 values, and no text or chat: name one, `reads: {{response: response.0}}` {UNDER}, or "
            "write a row for each",
        ),
    ],
)
def test_what_could_mean_two_things_is_refused_with_the_line_to_write(
    row: dict[str, Any], reads: dict[str, Any], why: str
) -> None:
    with pytest.raises(JudgeError) as caught:
        read_plain(row, Reads(reads))
    assert caught.value.message == why


def test_rows_without_a_question_are_tasks_of_their_own() -> None:
    # one id for all of them would make one group of unrelated rows
    rows = [{"gold": str(place), "response": "a"} for place in range(3)]
    assert len({json.loads(line.raw)["task"]["task_id"] for line in made(*rows)}) == 3
    same = [{"question": "q", "gold": "1", "response": said, "score": said} for said in "ab"]
    assert len({json.loads(line.raw)["task"]["task_id"] for line in made(*same)}) == 1


def test_rows_of_our_own_pass_through_whatever_stands_beside_them() -> None:
    own = {"id": "1", "task": {"main_query": "q"}, "output": {"metadata": {}}, "question": "no"}
    (line,) = made(own)
    assert json.loads(line.raw) == own
    plain, mixed = made({"question": "q", "response": "a"}, own)
    assert json.loads(mixed.raw) == own
    assert plain.problem is None


@pytest.mark.parametrize("broken", [b'{"question": "q"', b"3", b"[", b"\xff"])
def test_a_broken_first_line_does_not_decide_how_the_others_are_read(broken: bytes) -> None:
    row = b'{"question": "q", "response": "a"}'
    lines = [Line("f:1", broken), Line("f:2", row)]
    conversion = Conversion("auto", reads=NO_READS)
    (block,) = converted([TextBlock("f", 1, broken + b"\n" + row)], conversion)
    for found in (list(conversion.all(lines)), list(block.items())):
        assert json.loads(found[1].raw)["output"]["metadata"]["final_answer"] == "a"
        assert found[1].problem is None


def test_columns_stay_metadata_and_the_response_is_none() -> None:
    (line,) = made({"question": "q", "gold": 1, "response": "a"})
    assert json.loads(line.raw)["task"]["metadata"] == {"question": "q", "gold": 1}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("question;answer,response\n1;2,3\n", "commas or semicolons may part the cells of 'question;answer,response'"),
        ("question,answer,answer\n1,2,3\n", "has two columns 'answer': rename one"),
        ("", "is empty: a table needs a header"),
    ],
)
def test_a_table_that_cannot_be_meant_is_refused(tmp_path: Path, text: str, why: str) -> None:
    (tmp_path / "rows.csv").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=why):
        list(dump_lines(str(tmp_path / "rows.csv")))


def test_tables_and_lists_are_rows(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('question,answer\n"a, b",\n"x\ny",2\n', encoding="utf-8-sig")
    (tmp_path / "b.tsv").write_text("question\tanswer\nq\t2\n", encoding="utf-8")
    (tmp_path / "b.csv.gz").write_bytes(gzip.compress(b"question,answer\nq,2\n"))
    (tmp_path / "c.json").write_text('[\n {"question": "q"},\n 3\n]', encoding="utf-8")
    read = {
        name: [json.loads(line.raw) for line in dump_lines(str(tmp_path / name))]
        for name in ("a.csv", "b.tsv", "b.csv.gz", "c.json")
    }
    assert read == {
        "a.csv": [{"question": "a, b", "answer": ""}, {"question": "x\ny", "answer": "2"}],
        "b.tsv": [{"question": "q", "answer": "2"}],
        "b.csv.gz": [{"question": "q", "answer": "2"}],
        "c.json": [{"question": "q"}, 3],
    }
    for broken in (b"question,answer\nq,2\n", gzip.compress(b"question,answer\nq,2\n")[:20]):
        (tmp_path / "e.csv.gz").write_bytes(broken)
        with pytest.raises(ConfigError, match=r"e\.csv\.gz' is no whole gzip file"):
            list(dump_lines(str(tmp_path / "e.csv.gz")))
    (tmp_path / "d.json").write_text("[1]\n[2]\n", encoding="utf-8")
    assert is_dump(str(tmp_path / "c.json"))
    assert not is_dump(str(tmp_path / "d.json"))
