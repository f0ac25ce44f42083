"""What a new user types wrong in the first hour, and the words that say what to do."""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from agentscope_tuner.cli.app import app
from tests.tables import each_row

ROW = '{"question": "6*7?", "answer": "42", "response": "\\\\boxed{42}"}\n'


def section(text: str) -> str:
    return "astuner:\n  task_judge:\n" + "".join(f"    {line}\n" for line in text.splitlines())


@each_row
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "judge.yaml").write_text(section("judge: math"), encoding="utf-8")
    (tmp_path / "rows.jsonl").write_text(ROW * 2, encoding="utf-8")
    (tmp_path / "latin.jsonl").write_text('{"question": "\u00e9"}\n', encoding="latin-1")
    mixed = '{"prompt": "q", "completion": "a", "answer": "2"}\n' + ROW
    several = {"torn.csv": "a,b\n1\n", "lists.jsonl": "[1]\n", "bare.jsonl": "{}\n", "mixed.jsonl": mixed}
    for name, text in several.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def said(command: str) -> str:
    done = CliRunner().invoke(app, command.split(), env={"COLUMNS": "300"})
    assert done.exit_code != 0, done.output
    return " ".join(done.output.replace("│", " ").split())


@pytest.mark.parametrize(
    ("yaml", "words"),
    [
        (section("judge: maths"), "no judge has the name 'maths': did you mean 'math'?"),
        (section("judge: LLM"), "did you mean 'llm'?"),
        (section("judge: math\ndeadline: 30s"), "got '30s': write 30, without a unit"),
        (
            section("judge: combined\nlength: {weight: 1}"),
            'under parts: write parts: {"length": {"judge": "length", "weight": 1}}',
        ),
        (section("judge: math\njudge: llm"), "'judge' stands twice in one mapping: join the two"),
        ("astuner:\n  task_judge：\n    judge: math\n", "line 2 has a full-width colon, ：: YAML takes a plain one"),
        ("astuner:\n  task_judge:\n    judge: math\n     on_error: zero\n", "line 4 is indented further than line 3"),
        (section("judge: math\nreads: [answer]"), "such as reads: {answer: COLUMN}, got ['answer']"),
        (section("judge: llm\nllm: gpt-4o"), "such as llm: {model_name: MODEL, base_url: URL}, got 'gpt-4o'"),
        (section("judge: choice\njudge_kwargs: {letters: abcd}"), "must be 2 to 26 capital letters, such as ABCD"),
        (section("judge: ./my_judge.py"), "did you mean 'my_judge->CLASS', with the name of the class in that file?"),
        (section("judge: length"), "hard is missing: the length, in `unit`, from which the reward is lowest"),
        (section("judge: language"), "language is missing: the language to write in"),
        (section("judge: ./judges/my_judge.py:J"), "did you mean 'judges.my_judge->J'?"),
        (section('judge: math\nname: "${NAME_OF_IT}"'), "an environment variable is read by ${oc.env:NAME_OF_IT}"),
        (section('judge: llm\nllm: {model_name: m, base_url: "http://a/v1", api_key: "a\\nb"}'), "copy it anew"),
        (section("judge: math\nmath: boxed"), "on_undecided, such as math: {answer_in: [boxed, hash]}, got 'boxed'"),
        (
            section("judge: [math]"),
            'names one judge; for several write judge: combined, parts: {"math": {"judge": "math"}}',
        ),
        (
            section("judge: llm\nllm: {model_name: m, base_url: 'http://a/v1', temperature: 0}"),
            "it is the judge model's: write client: {temperature: …}",
        ),
        (section("juge: math"), "juge: unknown key; did you mean 'judge'?"),
        (section("rules: []"), "judge is missing: name a judge, choice, code, countdown"),
        (
            section("judge: math\njudge_type: llm"),
            "judge: math and judge_type: llm both name the judge: give one of them",
        ),
        (section("judge: nobodys_judge->Mine"), "there is no nobodys_judge.py in the working directory"),
        (section("judge: my_judge.py->Mine"), "write 'my_judge->Mine'"),
        (section("judge: my_judge.Mine"), "did you mean 'my_judge->Mine'?"),
        (
            section("judge: math\nmath: {answer_in: box}"),
            "should be 'boxed', 'tag', 'hash', 'label' or 'last_value', got 'box'",
        ),
        (section("judge: math\njudge_kwargs: {answer_in: [hash]}"), "write astuner.task_judge.math.answer_in"),
        (section("judge: math\nreads: {answer: {form: a}}"), "did you mean 'from'?"),
        (section("judge: math\nreads: {answer: {from: a, take: box}}"), "must be hash, last_box, number, json.<path>"),
        (section("judge: math\nrules: [{kind: max_chars, max_chars: 9}]"), "id is missing: every rule needs one"),
        ("astuner:\n\ttask_judge: {}\n", "line 2 is indented with a tab: YAML takes spaces"),
        ("astuner:\n  judge: math\n", "astuner.judge stands where nobody reads it: write astuner.task_judge.judge"),
        (section("judge: math") + "  reads: {answer: a}\n", "write astuner.task_judge.reads"),
        (section("judge: math") + "  math: {answer_in: [hash]}\n", "write astuner.task_judge.math"),
        ("judge: math\n", "judge stands at the top, where nobody reads it: write astuner.task_judge.judge"),
        (
            "task_judge:\n  judge: math\n",
            "task_judge stands at the top, where nobody reads it: write astuner.task_judge",
        ),
        (
            "astuner:\ntask_judge:\n  judge: math\n",
            "task_judge stands beside astuner, where nobody reads it: indent task_judge and all below it by two spaces",
        ),
        ("astunner:\n  task_judge:\n    judge: math\n", "did you mean 'astuner'?"),
        (section("judge: verifier"), "task_judge.verifier.preset is missing: one of 'general_verifier', 'xverify'"),
        (section("judge: reward_model"), "task_judge.reward_model.url is missing: the address of the server"),
        (
            section("judge: math\nsecond_opinion: {conf: a}"),
            "it stands beside task_judge: write astuner.second_opinion",
        ),
        (section("judge: math\nstop_when_failing: true"), "it is an argument of the trainer's adapter"),
        (section("judge: math\ngrace: 5"), "it is an option of `astuner judge`: write --grace"),
        (section("judge: sql"), "judge_kwargs.databases is missing: write judge_kwargs: {databases: FOLDER}"),
        (section("judge: math\nanswer_in: hash"), "answer_in: unknown key; did you mean 'math.answer_in'?"),
        (section("judge: llm\nllm: {model: m}"), "llm.model: unknown key; did you mean 'model_name'?"),
        (section("judge: llm\nprompt: Score it"), "such as astuner.task_judge.llm.prompt"),
        (section("judge: combined\ncombined: {a: math}"), "stand under astuner.task_judge.parts"),
        (
            section("judge: math\nrules: {a: {kind: non_empty}}"),
            'must be a list: write rules: [{"id": "a", "kind": "non_empty"}]',
        ),
        (
            section("judge: llm\nllm: {model_name: m, prompt: a, scale: 1-5}"),
            "a mapping of keys to values, of min, max",
        ),
        (section('judge: math\nrules: [{pattern: "\\d"}]'), "a backslash in double quotes begins an escape in line 4"),
        (
            section('judge: llm\nllm: {prompt: "in \\boxed{}"}'),
            "a control character before 'oxed': in double quotes YAML",
        ),
        (section('judge: math\nname: "${oc.env:NO_SUCH_NAME}"'), "'NO_SUCH_NAME' not found: export it"),
        (section('judge: math\nname: "${env:HOME}"'), "an environment variable is read by ${oc.env:"),
        (
            section("judge: llm\nllm: {model_name: m, prompt: 'Score {response} from 1 to 5', api_key: $MY_KEY}"),
            "api_key is no key, got '$MY_KEY': write ${oc.env:MY_KEY}",
        ),
        (
            section(
                "judge: llm\nllm: {model_name: m, prompt: '{response} 1 to 5', base_url: http://a/v1/chat/completions}"
            ),
            "base_url ends before the call's own path: write http://a/v1, got",
        ),
        (section("judge： math"), "write 'judge: math', with a space and a plain colon"),
        (section("judge: math").replace("  ", "\u00a0\u00a0"), "is indented with wide spaces: YAML takes plain ones"),
        ("astuner.task_judge.judge: math\n", "is one key with dots, which an override is: write each part as a key"),
        (section("judge: combined\nparts: [math, length]"), 'write parts: {"a_name": {"judge": "math"}}'),
        (
            section("judge: combined\nparts: {a: math}"),
            "parts.a: must be a mapping, got 'math': write parts.a: {\"judge\"",
        ),
        (
            section("judge: routed\nby: kind\nroutes: {a: math}"),
            "routes.a: must be a mapping, got 'math': write routes.a",
        ),
        (section("judge: http\nhttp: {url: a}"), "http: unknown key; most judges have their settings in judge_kwargs"),
        (section("judge: math\nreads: {answer: ''}"), "string should have at least 1 character, got ''"),
        (section("judge: math\ndeadline: 5s"), "deadline: input should be a valid number, got '5s'"),
        (section("judge: math\non_error: skip"), "on_error: input should be 'raise' or 'zero', got 'skip'"),
        (
            section("judge: math\nrules: [{id: a, kind: regex, pattern: x}]"),
            "unknown kind 'regex' (did you mean 'regex_match'?)",
        ),
        (
            section("judge: math\nrules: [{id: a, kind: non_empty, target: answer, action: mark_bad}]"),
            "target must be output (the final answer), query or metadata.<key>, got 'answer': for the column 'answer' "
            "write metadata.answer",
        ),
        (
            section(
                "judge: llm\nllm: {model_name: m, api_key: k, prompt: '{response}', "
                "scale: {min: 1, max: 5}, reads: {a: q}}"
            ),
            "a column of a row is task.metadata.COLUMN",
        ),
        (
            section(
                "judge: llm\nllm: {model_name: m, api_key: k, prompt: 'Score {response}', scale: {min: 5, max: 1}}"
            ),
            "min must be below max, got",
        ),
        (section("judge: gsm8k"), "got 'gsm8k', and no judge has this name; the short names are choice, code"),
        (section("judge: math\nlog_dir: ~/run"), "log_dir: no shell replaces ~ or $NAME here: write the whole path"),
        (section("judge: math\nlog_dir: $HOME/run"), "or ${oc.env:NAME}, got '$HOME/run'"),
        (section("judge: math, format"), "several are asked by `judge: combined`"),
        (section("judge: combined\nparts: {math: 0.8}"), 'write parts.math: {"judge": "math", "weight": 0.8}'),
        (section("judge: math\ntimeout: 10"), "timeout: unknown key; did you mean 'deadline'?"),
    ],
)
def test_a_wrong_configuration_says_what_to_write(folder: Path, yaml: str, words: str) -> None:
    (folder / "judge.yaml").write_text(yaml, encoding="utf-8")
    assert words in said("check --conf judge.yaml")


@pytest.mark.parametrize(
    ("name", "rows", "words"),
    [
        ("rows.jsonl", '{"question": "q", "final": "3", "response": "a"}', "write `reads: {answer: final}` under"),
        ("rows.jsonl", '{"question": "q", "answer": "3", "reply": "a"}', "`reads: {response: reply}` under"),
        ("rows.jsonl", '{"question": "q", "answer": "3"}', "`astuner check` takes rows without responses"),
        ("rows.jsonl", '{"q": "q", "label": "x", "target": "3", "response": "a"}', "label and target differ: name one"),
        (
            "rows.jsonl",
            '{"question": "q", "answer": null, "response": "a"}',
            "a missing cell becomes None",
        ),
        ("rows.jsonl", "[\n3", "the line holds '[' alone; write each object on one line"),
        ("rows.jsonl", "", "'rows.jsonl' holds no rows: nothing was judged"),
        (
            "rows.csv",
            "question;answer, response\n1;2,3",
            "commas or semicolons may part the cells of 'question;answer, response': quote its names",
        ),
        ("rows.xlsx", "PK", "save the sheet as CSV"),
        ("rows.json", '[{"question": "q"', "cannot read 'rows.json'"),
        ("rows.csv", "question;answer;response\nq;3,5;3.5", "the row's answer '3,5' may be one number or two"),
        ("rows.csv", 'question,answer,response\n"q,1,2', "since a quote is left open"),
        ("rows.jsonl", "{'question': 'q', 'answer': '3'}", "JSON takes double quotes: write `json.dumps(row)`"),
        (
            "rows.jsonl",
            '{"question": "q", "answer": "3", "response": "a"},',
            "ends in a comma: a line holds one object",
        ),
        (
            "rows.jsonl",
            '{"prompt": "a?", "text": "a? 3", "answer": "3"}',
            "'text' begins with the question: write the rest",
        ),
        ("rows.jsonl", '{"question": "q", "answer": "3", "resp', "and it is cut short: complete it, or remove it"),
        (
            "rows.jsonl",
            '{"question": "q",\n"answer": "3"}',
            "write each object on one line, as `jq -c 'arrays[], objects' FILE` does",
        ),
        ("rows.jsonl", '{"question": "q", "answer": ["3"], "response": "a"}', "`reads: {answer: answer.0}` under"),
        ("rows.jsonl", '{"question": "q", "answer": {"v": 3}, "response": "a"}', "`reads: {answer: answer.v}` under"),
        ("rows.jsonl", '{"question": "q", "answer": "3", "response": ["a", "b"]}', "`reads: {response: response.0}`"),
        ("rows.jsonl", '{"data": {"question": "q", "answer": "3", "response": "a"}}', "{response: data.response}"),
        (
            "rows.jsonl",
            '{"question": "q", "answer": NaN, "response": "a"}',
            "a missing cell becomes None",
        ),
        (
            "rows.jsonl",
            '{"question": "q", "answer": "#N/A", "response": "a"}',
            "'#N/A' stands for a missing or infinite value",
        ),
        (
            "rows.jsonl",
            '{"question": "q", "answer": "-", "response": "a"}',
            "'-' stands for a missing or infinite value",
        ),
        (
            "rows.jsonl",
            '"question": "q",',
            'no JSON: the line begins \'"question": "q",\'; write each object on one line',
        ),
        (
            "rows.jsonl",
            "{'question': 'q'}",
            "the row is no JSON: the line begins \"{'question': 'q'}\", and JSON takes",
        ),
        ("rows.jsonl", "astuner:\n  task_judge:\n", "is it YAML? --conf takes that, and --input takes rows"),
        ("rows.jsonl", json.dumps(ROW), "a text that holds JSON: the row was encoded twice"),
        ("rows.jsonl", "42", 'Input should be an object, such as {"question": …, "answer": …, "response": …}'),
        (
            "rows.jsonl",
            '{"question": "q", "answer": 3, "response": {"id": 1, "choices": [{"message": {"content": "it is 3"}}]}}',
            "`reads: {response: response.choices.0.message.content}` under",
        ),
        (
            "rows.jsonl",
            '{"messages": [{"role": "user", "content": "q"}], "answer": 3}',
            "its messages end with a user's turn",
        ),
        (
            "rows.jsonl",
            '{"question": "q", "answers": [{"text": 3}], "response": "3"}',
            "`reads: {answer: answers.0.text}`",
        ),
        ("rows.jsonl", '{"task": {"main_query": "q"}, "output": "3"}', 'a rollout is {"id", "task": {"main_query"'),
        (
            "rows.jsonl",
            '{"question": "q", "answer": 3, "responses": ["a", "b"]}',
            "'responses' holds 2 values: write one row for each, or name one, `reads: {response: responses.0}`",
        ),
        (
            "rows.jsonl",
            '{"question": "q", "gold": 3, "answer": "it is 4"}',
            "is 'answer' it, and 'gold' the reference? Then name both, `reads: {response: answer, answer: gold}`",
        ),
        ("rows.jsonl", '{"question": "q", "answer": true, "response": "a"}', "got True: write the text 'True'"),
        ("rows.csv", "问题,回答,答案\n几,三,3", "is it '回答'? Then name it"),
        (
            "rows.json",
            f'{{"0": {ROW.strip()}, "1": {ROW.strip()}}}',
            "each value is a row of its own: `jq -c '.[]' FILE",
        ),
    ],
)
def test_rows_that_cannot_be_judged_say_why(folder: Path, name: str, rows: str, words: str) -> None:
    (folder / name).write_text(rows, encoding="utf-8")
    assert words in said(f"judge --conf judge.yaml --input {name} --output o.jsonl")


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("chek --conf judge.yaml", "Did you mean 'check'"),
        ("check --conf no.yaml", "no configuration file 'no.yaml': `astuner init math FOLDER` writes one"),
        ("check --conf rows.jsonl", "it looks like a file of rows, which --input takes; --conf takes the YAML"),
        ("explain --conf judge.yaml --input rows.jsonl --id z", "no row with the id 'z': the first are"),
        ("judge-eval --conf judge.yaml --labels rows.jsonl", "`astuner agree` compares the rows that any judge"),
        ("report rows.jsonl --output .", "'.' is a folder: name a file, such as 'report.html'"),
        ("migrate judge.yaml", "it is migrated, so check it with `astuner check`"),
        ("check --conf judge.yaml judge=math", "write astuner.task_judge.judge"),
        ("check --conf judge.yaml math.answer_in=[hash]", "write astuner.task_judge.math.answer_in"),
        ("check --conf judge.yaml deadline=5", "write astuner.task_judge.deadline"),
        ("--conf judge.yaml", "a command comes first, as in astuner check --conf FILE"),
        ("check --conf math", "name a YAML file; in Python a mapping is taken, too, such as {'astuner'"),
        ("compare rows.jsonl", "Missing argument 'B'; `astuner compare --help`"),
        ("report rows.jsonl", "Missing option '--output' / '-o'; `astuner report --help`"),
        ("init math mine --from rows.jsonl --map gold=answer", "--map gold=answer: no row has 'gold', only 'question'"),
        ("init math mine --map gold=answer", "add --from ROWS"),
        ("init math mine --from rows.jsonl --map a=task.task_id", "init writes `reads` for question, answer, response"),
        (
            "judge --conf judge.yaml --input no.jsonl --output o.jsonl",
            "there is no file 'no.jsonl': did you mean 'rows.jsonl'?",
        ),
        ("judge --conf judge.yaml --input rows.jsonl", "--output is missing"),
        ("judge --conf judge.yaml rows.jsonl -o o.jsonl", "'rows.jsonl' stands alone: write --input rows.jsonl"),
        ("check judge.yaml", "'judge.yaml' stands alone: write --conf judge.yaml"),
        ("judge --config judge.yaml", "(Possible options: --conf)"),
        ("explain --row 9", "No such option: --row: it has --conf, --input, --id, --format"),
        ("config --conf judge.yaml --on-error zero", "a setting is written astuner.task_judge.on_error=VALUE"),
        ("run --conf judge.yaml", "No such command 'run': it has demo, init, migrate, check, judge, explain"),
        ("judge --conf judge.yaml --input rows.jsonl -o o.jsonl --limit all", "a valid integer"),
        ("judge --conf judge.yaml --input rows.jsonl -o o.jsonl --jobs 0", "got '0'"),
        ("judge --conf judge.yaml --input row.jsonl -o o.jsonl", "did you mean 'rows.jsonl'?"),
        ("judge --conf judge.yaml --input data/rows.jsonl -o o.jsonl", "and no folder 'data'"),
        ("judge --conf judge.yaml --input gs:/rows.jsonl -o o.jsonl", "a URL reads gs://…"),
        ("judge --conf judge.yaml --input . -o o.jsonl", "the next run would read it as rollouts"),
        ("judge --conf judge.yaml --input r*.csv -o o.jsonl", "no file matches 'r*.csv'"),
        ("serve --conf judge.yaml --port 99999", "got '99999'"),
        (
            "init math mine --from judge.yaml",
            "the row is no JSON: the line begins 'astuner:': is it YAML?",
        ),
        ("init math mine --from latin.jsonl", "invalid continuation byte: rows are read as UTF-8: save the file so"),
        ("init math mine --from torn.csv", "--from holds no row: torn.csv:2: the row has 1 cells where the header"),
        ("init math mine --from lists.jsonl", "--from holds no row: the first line is no object: a list, where"),
        ("init math mine --from bare.jsonl", "--from holds no row: the first row has no column"),
        ("rubrics eval --conf judge.yaml", "Missing option '--input'; `astuner rubrics eval --help` has the options"),
        ("rules nosuch", "`astuner rules --help` has the options"),
        ("init choice mine", "give --from ROWS"),
        ("init env mine --from rows.jsonl", "got 'env'"),
        ("explain --answer 3", "give --conf and --input, or --reference and --answer"),
        ("explain --reference 3 --answer", "requires an argument"),
        ("doctor rows.jsonl", "the row has no judgement: judge the file first"),
        ("agree --input rows.jsonl", "the row has no judgement: judge the file first"),
        ("rules try --text a --rule {kind:max_char}", "kind is missing: one of max_tokens"),
        ("migrate rows.jsonl", "it looks like a file of rows"),
        ("init", "Choose from: math"),
        (
            "judge --conf judge.yaml --input rows.jsonl --output o.xlsx",
            "name .csv, .jsonl, .jsonl.gz, .parquet or .arrow",
        ),
        ("judge --conf judge.yaml --input rows.jsonl --output rows.jsonl", "--input and --output are one file"),
        (
            "check --conf judge.yaml --input rows.jsonl --format verl",
            "these do not look like rows of verl: leave --format out",
        ),
        (
            "judge --conf judge.yaml --input mixed.jsonl -o o.jsonl",
            "; the first row is one of trl, and this is not: part the file, or use --format plain",
        ),
        ("check --conf judge.yaml --input rows.jsonl --format hf", "--format must be one of auto, plain, trl"),
        (
            "check --conf judge.yaml --input rows.jsonl --map answer",
            "--map must read column=path, such as problem=question",
        ),
        ("check --conf judge.yaml --input rows.jsonl --map gold=ref", "its places are question, answer, response"),
        ("check --conf judge.yaml --input rows.jsonl --map answer=gt", "if 'gt' is your column, write 'gt=answer'"),
        ("check --conf judge.yaml --input rows.jsonl --map gold=answer", "the row has no 'gold', only"),
        ("init math . --from rows.jsonl", "'judge.yaml' is there already: name another folder"),
        ("init math . --from rows.jsonl", "as in `astuner init math my_judge --from …`"),
        ("init code mine --from rows.jsonl", "they look like rows of math, since answer holds a number or a formula"),
        ("init maths", "'maths' is not one of"),
        ("check --conf jugde.yaml", "no configuration file 'jugde.yaml': did you mean 'judge.yaml'?"),
        (
            "judge --conf judge.yaml --input rows.jsonl --input a.jsonl -o o.jsonl",
            "--input is given 2 times, and takes",
        ),
        ("judge --conf judge.yaml -o o.jsonl --input rows.jsonl rows.jsonl", "the shell has replaced a pattern"),
    ],
)
def test_a_wrong_command_says_what_to_type(folder: Path, command: str, words: str) -> None:
    assert words in said(command)


ONE_COLUMN = "judge: math\nreads: {answer: text, response: text}"
PAIRWISE = "judge: pairwise\nllm: {model_name: m, base_url: 'http://127.0.0.1:9/v1', api_key: k}"
RANKS_ONLY = """from agentscope_tuner import BaseJudge
class Mine(BaseJudge):
    def compute_rewards(self, task, outputs):
        return [(1.0, True) for _ in outputs]
"""


@pytest.mark.parametrize(
    ("yaml", "rows", "words", "others"),
    [
        (
            "judge: code",
            {"tests": {"in": ["1"], "out": ["2"]}, "response": "```python\nprint(2)\n```"},
            "no known form of tests has the keys ['in', 'out']: write for example `\"tests\": {\"inputs\"",
            None,
        ),
        # a judge of ours has no class to write in; one that ranks by mistake is told of the other method
        (PAIRWISE, {"response": "a"}, "give it several rollouts of a task, one after the other", "in its class"),
        (
            "judge: my_ranks->Mine",
            {"response": "a"},
            "its class has compute_rewards and no compute_reward(",
            "in its class",
        ),
        (
            "judge: http\njudge_kwargs: {url: 'http://127.0.0.1:9/reward'}",
            {"response": "a"},
            "nobody listens there",
            "ssl:",
        ),
    ],
)
def test_a_row_without_a_verdict_says_what_to_do(
    folder: Path, yaml: str, rows: dict[str, Any], words: str, others: str | None
) -> None:
    (folder / "my_ranks.py").write_text(RANKS_ONLY, encoding="utf-8")
    (folder / "judge.yaml").write_text(section(yaml), encoding="utf-8")
    (folder / "rows.jsonl").write_text(json.dumps({"question": "q", "answer": "3", **rows}), encoding="utf-8")
    told = said("judge --conf judge.yaml --input rows.jsonl --output o.jsonl")
    assert words in told
    assert others is None or others not in told


def test_one_column_cannot_be_the_answer_and_the_response(folder: Path) -> None:
    (folder / "judge.yaml").write_text(section(ONE_COLUMN), encoding="utf-8")
    (folder / "rows.jsonl").write_text('{"text": "6*7? \\\\boxed{42}"}', encoding="utf-8")
    told = said("judge --conf judge.yaml --input rows.jsonl --output o.jsonl")
    assert "has no 'text' beside its response and its question: one column cannot be two of them" in told


@pytest.mark.parametrize(
    ("response", "words"),
    [
        ("Thus $x = 42$.", "the response states no answer in \\boxed{}, nor by another sign: ask for it in the prompt"),
        ('{"answer": 42}', "the answer stands after a label such as `Answer:`: set math.answer_in: [boxed, label]"),
        ("\\boxed{42}", None),
    ],
)
def test_the_check_says_where_answers_are_not_seen(folder: Path, response: str, words: str | None) -> None:
    row = {"question": "6*7?", "answer": "42", "response": response}
    (folder / "rows.jsonl").write_text(json.dumps(row), encoding="utf-8")
    told = (
        CliRunner()
        .invoke(app, ["check", "--conf", "judge.yaml", "--input", "rows.jsonl"], env={"COLUMNS": "300"})
        .output
    )
    assert words in told if words else "note:" not in told


def test_criteria_that_cannot_be_read_are_found_before_a_run(folder: Path) -> None:
    model = "task_rubrics: {model_name: m, base_url: 'http://127.0.0.1:9/v1', api_key: k}"
    (folder / "judge.yaml").write_text(section(f"judge: task_rubrics\n{model}"), encoding="utf-8")
    rows = [{"question": "q", "rubrics": rubrics, "response": "a"} for rubrics in (None, [], ["It is polite."])]
    (folder / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    told = said("check --conf judge.yaml --input rows.jsonl")
    assert "2 could not be judged" in told
    assert "rubrics must be a list of 1 to 200 criteria, got None" in told


def test_rows_without_a_success_name_the_command_that_looks_for_the_cause(folder: Path) -> None:
    (folder / "rows.jsonl").write_text(
        '{"question": "q", "answer": "3,5", "response": "\\\\boxed{3.5}"}\n' * 2, "utf-8"
    )
    done = CliRunner().invoke(app, ["judge", "--conf", "judge.yaml", "--input", "rows.jsonl", "--output", "o.jsonl"])
    assert done.exit_code == 0
    told = " ".join(done.output.split())
    assert "none of 2 judged rows is a success: `astuner doctor o.jsonl` looks for the cause" in told


def test_a_table_of_countdown_has_its_numbers_as_texts(folder: Path) -> None:
    (folder / "judge.yaml").write_text(section("judge: countdown"), encoding="utf-8")
    (folder / "rows.csv").write_text('target,nums,response\n12,"[10, 2]",\\boxed{10+2}\n', encoding="utf-8")
    done = CliRunner().invoke(app, ["judge", "--conf", "judge.yaml", "--input", "rows.csv", "--output", "o.jsonl"])
    assert done.exit_code == 0, done.output
    assert json.loads((folder / "o.jsonl").read_text(encoding="utf-8"))["judgement"]["reward"] == 1.0


GOOD = {"question": "6*7?", "answer": "42", "response": "\\boxed{42}"}
LINE = json.dumps(GOOD)
TABLE = "question,answer,response\n6*7?,42,\\boxed{42}\n"


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.csv", TABLE.encode("utf-16"), "'a.csv' is UTF-16: save it as UTF-8"),
        ("a.jsonl", LINE.encode("utf-16"), "'a.jsonl' is UTF-16: save it as UTF-8"),
        # its first row was judged, since Python's parser reads UTF-16
        ("a.jsonl", f"{LINE}\n".encode("utf-16-le"), "holds bytes that are no text, as UTF-16 does"),
        ("a.csv", "question,answer,response\nÖ,42,é\n".encode("cp1252"), "save the table as UTF-8, which spreadsheets"),
        ("a.csv", "question,answer,response\n多少,42,多\n".encode("gb18030"), "save the table as UTF-8"),
        (
            "a.jsonl",
            '{"question": "Ö", "answer": "4", "response": "4"}'.encode("cp1252"),
            "read as UTF-8: save the file",
        ),
        ("a.jsonl", b"PK\x03\x04", "is a zip archive or a spreadsheet: unpack it, or save the sheet as CSV"),
        ("a.csv", b"PK\x03\x04\n", "is a zip archive or a spreadsheet: unpack it, or save the sheet as CSV"),
        ("a.jsonl", gzip.compress(LINE.encode(), mtime=0), "is packed by gzip: let its name end in .gz"),
        ("a.txt", b"PAR1", "is Parquet: let its name end in .parquet"),
        ("a.pkl", b"\x80\x04\x95", "is a pickle, which may run code as it is loaded: write its rows as JSON lines"),
        ("a.db", b"SQLite format 3\0", "is an SQLite database: export the table as CSV"),
        ("a.jsonl.gz", LINE.encode(), "Not a gzipped file"),
        ("a.parquet", LINE.encode(), "is not a parquet file, it begins"),
        ("a.csv", f"{LINE}\n".encode(), "it holds JSON lines, so name it .jsonl"),
        ("a.jsonl", TABLE.encode(), "is it a table? Then name the file .csv or .tsv"),
        ("a.jsonl", f"[{LINE}, {LINE}]".encode(), "`jq -c '.[]'` writes its entries line by line"),
        ("a.json", json.dumps({"data": [GOOD]}).encode(), "'data' holds a list of rows: `jq -c '.data[]' FILE"),
        (
            "a.json",
            json.dumps({"data": [GOOD]}, indent=1).encode(),
            "write each object on one line, as `jq -c 'arrays[], objects' FILE` does",
        ),
        ("a.csv", b"", "is empty: a table needs a header"),
        ("a.csv", b"question,answer,response\n", "'a.csv' holds no rows: nothing was judged"),
        ("a.csv", b"6*7?,42,said\n6*8?,48,said\n", "a table's first line holds the names of its columns: is it a row"),
        ("a.csv", b"question,answer,response\nq,1,234,1234\n", "a cell with a comma in it stands in quotes"),
        ("a.csv", b"question,answer,answer,response\na,1,2,3\n", "has two columns 'answer': rename one"),
        (
            "a.csv",
            b"question,answer,response\nq,,3\n",
            "the row's reference answer is empty: fill its cell, or drop the row",
        ),
        (
            "a.jsonl",
            json.dumps({**GOOD, "answer": " "}).encode(),
            "the row's reference answer is empty: fill its cell, or drop the row",
        ),
        ("a.jsonl", json.dumps({**GOOD, "answer": True}).encode(), "must be a str or a finite number, got True"),
        (
            "a.jsonl",
            json.dumps({**GOOD, "response": None}).encode(),
            "no response, its 'response' is null: fill the cell or drop the row, or",
        ),
        (
            "a.jsonl",
            json.dumps({key.title(): value for key, value in GOOD.items()}).encode(),
            "is it 'Response'? Then name it, `reads: {response: Response}`",
        ),
        ("a.jsonl.gz", ROW.encode(), "its name ends in .gz, but it is not packed: name it otherwise"),
        ("hf/dataset_info.json", b"{}", "'hf' holds no file that ends in .jsonl"),
        ("hf/state.json", b'{"_data_files": []}', "'hf' holds no rows"),
        ("hf/state.json", b'{"_data_files": [{"filename": "a.arrow"}]}', "cannot read 'hf/a.arrow'"),
        ("hf/dataset_dict.json", b'{"splits": ["train", "test"]}', "name one, such as 'hf/train'"),
    ],
)
def test_a_file_of_another_kind_says_what_it_is(folder: Path, name: str, content: bytes, words: str) -> None:
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_bytes(content)
    assert words in said(f"judge --conf judge.yaml --input {name.partition('/')[0]} --output o.jsonl --jobs 1")


@pytest.mark.parametrize(
    ("yaml", "words"),
    [
        (section("judge: math").encode("utf-16"), "it is not in UTF-8, so save it as UTF-8"),
        (section("judge: math\nname: größe").encode("cp1252"), "it is not in UTF-8, so save it as UTF-8"),
        (section("judge:math").encode(), "got 'judge:math': write 'judge: math', with a space"),
        (section('judge: "math').encode(), "the quote in line 3 is not closed"),
        (section("judge: llm\nllm: {model_name: ${MODEL}, base_url: x}").encode(), 'write it in quotes, "${MODEL}"'),
        (
            b"astuner:\n task_judge:\n   judge: math\n  rules: []\n",
            "line 4 begins in column 3, and no key above it does",
        ),
        (section("judge: math\njudge: llm").encode(), "found duplicate key judge"),
        (b"- a\n", "must hold a mapping at its top, such as `astuner:`, got a list"),
        (b"", "judge is missing: name a judge"),
        (b"{question: q, answer: 4}", "no astuner.task_judge, only 'question', 'answer': is it the right file?"),
    ],
)
def test_a_file_that_is_no_configuration_says_why(folder: Path, yaml: bytes, words: str) -> None:
    (folder / "judge.yaml").write_bytes(yaml)
    assert words in said("check --conf judge.yaml")


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("check --conf .", "'.' is a folder: name one of its files, judge.yaml"),
        # a run may not have begun: the page waits for it, and for a misspelt name as well
        ("view later.jsonl --conf nowhere.yaml", "there is no file 'later.jsonl' yet"),
        ("check --conf none", "'none' is a folder, and holds no .yaml"),
        ("judge --conf judge.yaml --input rows.jsonl --output none", "name a file in it, such as 'none/scored.jsonl'"),
        ("judge --conf judge.yaml --input rows.jsonl --output rows.jsonl/o", "'rows.jsonl' is a file, and no folder"),
        ("judge --conf judge.yaml --input row.jsonl.gz --output o.jsonl", "did you mean 'rows.jsonl'?"),
        ("judge --conf judge.yaml --input row.csv --output o.jsonl", "there is no file 'row.csv'"),
        ("judge --conf judge.yaml --input rows.jsonl --output /dev/stdout", "--output must be a file"),
        ("init math rows.jsonl", "'rows.jsonl' is a file, and init writes a folder: name another folder"),
        ("init math judge.yaml --from rows.jsonl", "'judge.yaml' is a file, and init writes a folder"),
        ("judge --conf judge.yaml --input none --output o.jsonl", "'none' holds no file that ends in .jsonl"),
        ("judge --conf judge.yaml --input ~/a.jsonl --output o.jsonl", "the shell has not replaced the ~: write '/"),
        ("judge --conf judge.yaml --input openai/gsm8k --output o.jsonl", "'hf://datasets/openai/gsm8k/**/*.parquet'"),
        (
            "judge --conf judge.yaml --input https://huggingface.co/datasets/openai/gsm8k --output o.jsonl",
            "is a page: its rows are 'hf://datasets/openai/gsm8k/**/*.parquet'",
        ),
        ("rules run --conf judge.yaml --input u.csv --output o.csv", "as UTF-16 does; name another by --encoding"),
    ],
)
def test_a_path_that_cannot_be_meant_says_what_to_name(folder: Path, command: str, words: str) -> None:
    (folder / "none").mkdir()
    (folder / "u.csv").write_bytes(TABLE.encode("utf-16"))
    assert words in said(command)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl", b"\xef\xbb\xbf" + LINE.encode() + b"\r\n"),
        ("a.csv", TABLE.replace("\n", "\r\n").encode("utf-8-sig")),
        ("a.csv", TABLE.replace(",", ", ").encode()),
        ("a.json", f"[{LINE}]".encode()),
        ("a.txt", LINE.encode()),
        ("a.csv", TABLE.replace(",", ";").encode("utf-8-sig")),
        ("a.csv", f"sep=;\r\n{TABLE.replace(',', ';')}".encode()),
        ("a.csv", TABLE.replace(",", "\t").encode()),
        ("a.tsv", TABLE.encode()),
        ("a.csv", b'"question";"answer (a, b)";answer;response\n6*7?;x;42;"6*7, so; \\boxed{42}"\n'),
        ("a.jsonl", json.dumps({**GOOD, "answer": 42}).encode()),
        ("hf/dataset_info.json", b"{}"),
    ],
)
def test_what_looks_like_a_mistake_and_is_none_is_read(folder: Path, name: str, content: bytes) -> None:
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_bytes(content)
    if name.startswith("hf"):
        (folder / "hf" / "rows.jsonl").write_text(LINE, encoding="utf-8")
    command = f"judge --conf judge.yaml --input {name.partition('/')[0]} --output o.jsonl --jobs 1 --json"
    done = CliRunner().invoke(app, command.split())
    assert done.exit_code == 0, done.output
    assert json.loads((folder / "o.jsonl").read_text(encoding="utf-8"))["judgement"]["reward"] == 1.0


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("judge --conf judge.yaml --input gone.jsonl -o o.jsonl", "'gone.jsonl': it is a link to 'nowhere'"),
        ("check --conf gone.jsonl", "'gone.jsonl': it is a link to 'nowhere', which is not there"),
        # its rows were missed by nobody
        ("judge --conf judge.yaml --input links --output o.jsonl", "cannot read 'links/b.jsonl'"),
    ],
)
def test_a_link_to_nowhere_is_named(folder: Path, command: str, words: str) -> None:
    (folder / "links").mkdir()
    (folder / "links" / "a.jsonl").write_text(ROW, encoding="utf-8")
    for link in ("gone.jsonl", "links/b.jsonl"):
        (folder / link).symlink_to("nowhere")
    assert words in said(command)


@pytest.mark.parametrize("judge", ["choice", "code", "text_match"])
def test_a_section_that_the_judge_does_not_read_is_noted(folder: Path, judge: str) -> None:
    # a letter behind #### was 0.0, since only the math judge reads math.answer_in
    (folder / "judge.yaml").write_text(section(f"judge: {judge}\nmath: {{answer_in: [hash]}}"), encoding="utf-8")
    done = CliRunner().invoke(app, ["check", "--conf", "judge.yaml"], env={"COLUMNS": "300"})
    assert "note: astuner.task_judge.math is not read by" in done.output


@pytest.mark.parametrize(
    "judge", ["math", "verifier\nverifier: {preset: xverify, model_name: m, base_url: http://a/v1}"]
)
def test_a_section_that_the_judge_reads_is_not_noted(folder: Path, judge: str) -> None:
    (folder / "judge.yaml").write_text(section(f"judge: {judge}\nmath: {{answer_in: [hash]}}"), encoding="utf-8")
    done = CliRunner().invoke(app, ["check", "--conf", "judge.yaml"])
    assert (done.exit_code, "is not read by" in done.output) == (0, False)


@pytest.mark.parametrize(
    ("held", "noted"),
    [("[]", True), ("{}", True), ("set()", True), ("['because']", False), ("None", False), ("()", False)],
)
def test_an_empty_container_of_a_judges_class_is_noted_as_shared(folder: Path, held: str, noted: bool) -> None:
    judge = f"class Counts(BaseJudge):\n    seen = {held}\n    def compute_reward(self, task, output): return 1.0, True"
    (folder / f"shared{len(held)}{noted:d}.py").write_text(f"from agentscope_tuner import BaseJudge\n{judge}\n")
    (folder / "judge.yaml").write_text(section(f"judge: shared{len(held)}{noted:d}->Counts"), encoding="utf-8")
    done = CliRunner().invoke(app, ["check", "--conf", "judge.yaml"], env={"COLUMNS": "300"})
    assert (done.exit_code, "note: Counts.seen is an empty" in done.output) == (0, noted)


@pytest.mark.parametrize(
    ("pattern", "refused"),
    [
        (r'"\boxed"', True),
        (r'"\\boxed"', True),
        (r"'\boxed\{'", True),
        (r'"\frac"', True),
        (r"'\\boxed'", False),
        (r'"\\\\boxed"', False),
        (r"'\bthe\b'", False),
        (r"'\d+'", False),
    ],
)
def test_a_pattern_that_does_not_find_a_box_is_refused(folder: Path, pattern: str, refused: bool) -> None:
    rule = f"{{id: box, kind: regex_match, pattern: {pattern}, target: output, action: mark_bad}}"
    (folder / "judge.yaml").write_text(section(f"judge: math\nrules: [{rule}]"), encoding="utf-8")
    done = CliRunner().invoke(app, ["check", "--conf", "judge.yaml"], env={"COLUMNS": "300"})
    told = ("does not find what it shows: write two backslashes", "a backslash so; write single quotes")
    assert (done.exit_code, any(one in done.output for one in told)) == (2 * refused, refused)


@pytest.mark.parametrize(("response", "noted"), [({}, True), ({"response": "\\boxed{42}"}, False)])
def test_rows_without_responses_are_noted(folder: Path, response: dict[str, str], noted: bool) -> None:
    (folder / "rows.jsonl").write_text(json.dumps({"question": "6*7?", "answer": "42", **response}), encoding="utf-8")
    done = CliRunner().invoke(app, ["check", "--conf", "judge.yaml", "--input", "rows.jsonl"], env={"COLUMNS": "300"})
    told = " ".join(done.output.split())
    assert (done.exit_code, "`astuner judge` needs a column `response`" in told) == (0, noted)


def test_a_box_that_lost_its_backslash_says_so(folder: Path) -> None:
    (folder / "rows.jsonl").write_text(json.dumps({**GOOD, "response": "\boxed{42}"}), encoding="utf-8")
    done = CliRunner().invoke(app, ["judge", "--conf", "judge.yaml", "--input", "rows.jsonl", "--output", "o.jsonl"])
    assert done.exit_code == 0, done.output
    reason = json.loads((folder / "o.jsonl").read_text(encoding="utf-8"))["judgement"]["reason"]
    assert "where `\\boxed` lost its backslash" in reason


def test_a_mistake_prints_no_traceback_and_never_the_same_words_as_success(folder: Path) -> None:
    done = CliRunner().invoke(
        app, ["judge", "--conf", "judge.yaml", "--input", "rows.jsonl", "--output", "o.jsonl", "x"]
    )
    assert (done.exit_code, type(done.exception)) == (2, SystemExit)
    assert "an override must read key=value, without spaces, got 'x'" in done.output


def test_an_import_that_this_python_lacks_says_which_python_it_is(folder: Path) -> None:
    (folder / "judge_of_elsewhere.py").write_text("import a_package_of_elsewhere\n", encoding="utf-8")
    (folder / "judge.yaml").write_text(section("judge: judge_of_elsewhere->J"), encoding="utf-8")
    assert f"{sys.executable} -m pip install a_package_of_elsewhere" in said("check --conf judge.yaml")


def test_a_coroutine_for_a_reward_names_the_call_to_await(folder: Path) -> None:
    lines = [
        "from agentscope_tuner import BaseJudge",
        "class J(BaseJudge):",
        "    async def ask(self): return 1.0",
        "    async def acompute_reward(self, workflow_task, workflow_output): return self.ask(), True",
    ]
    (folder / "forgetful_judge.py").write_text("\n".join(lines), encoding="utf-8")
    (folder / "judge.yaml").write_text(section("judge: forgetful_judge->J"), encoding="utf-8")
    words = said("judge --conf judge.yaml --input rows.jsonl --output o.jsonl")
    assert "got a coroutine: await J.ask(…)" in words


@pytest.mark.parametrize(("more", "noted"), [("", 0), ("\nlog_dir: out/judged", 1)])
def test_a_folder_for_a_trainings_verdicts_is_said_to_stay_empty(folder: Path, more: str, noted: int) -> None:
    (folder / "judge.yaml").write_text(section(f"judge: math{more}"), encoding="utf-8")
    command = ["judge", "--conf", "judge.yaml", "--input", "rows.jsonl", "--output", "o.jsonl"]
    done = CliRunner().invoke(app, command, env={"COLUMNS": "300"})
    assert done.output.count("astuner judge writes nothing to log_dir 'out/judged'") == noted
    assert not (folder / "out").exists()


@pytest.mark.parametrize("between", ["\r", " ", ""])
def test_a_line_of_two_rows_says_how_to_part_them(folder: Path, between: str) -> None:
    (folder / "rows.jsonl").write_bytes(f"{ROW.strip()}{between}{ROW.strip()}{between}".encode())
    assert "and another object follows; write each object on one line" in said(
        "check --conf judge.yaml --input rows.jsonl"
    )


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ('{"question": "q", "answer": "so \\\\boxed{42}", "response": "42"}', "are the two columns swapped?"),
        ('{"question": ["a", "b"], "answer": ["1", "2"], "response": ["x", "y"]}', "hold 2 values each"),
        ('{"prompt": ["a", "b"], "answer": ["1", "2"], "completion": ["x", "y"]}', "hold 2 values each"),
        ('{"answer": {"0": "1", "1": "2"}, "response": {"0": "x", "1": "y"}}', "as a file of columns does"),
        ('{"question": "q", "answer": "1", "response": "x",}', "before its last bracket stands a comma"),
        ("// a comment", "a comment, which JSON lines do not have"),
    ],
)
def test_what_looks_like_another_form_is_named(folder: Path, row: str, words: str) -> None:
    (folder / "rows.jsonl").write_text(row + "\n", encoding="utf-8")
    command = ["judge", "--conf", "judge.yaml", "--input", "rows.jsonl", "--output", "o.jsonl"]
    done = CliRunner().invoke(app, command, env={"COLUMNS": "300"})
    assert words in " ".join(done.output.replace("│", " ").split())


@pytest.mark.parametrize(
    ("answer", "response"),
    [("42", "42"), ("so \\\\boxed{42}", "I do not know what it is"), ("so \\\\boxed{42}", "\\\\boxed{41}")],
)
def test_rows_that_stand_the_right_way_round_are_not_asked_about(folder: Path, answer: str, response: str) -> None:
    row = f'{{"question": "q", "answer": "{answer}", "response": "{response}"}}\n'
    (folder / "rows.jsonl").write_text(row, encoding="utf-8")
    command = ["judge", "--conf", "judge.yaml", "--input", "rows.jsonl", "--output", "o.jsonl"]
    assert "swapped" not in CliRunner().invoke(app, command, env={"COLUMNS": "300"}).output


def test_one_column_alone_is_not_sent_round_in_a_circle(folder: Path) -> None:
    (folder / "rows.jsonl").write_text('{"text": "1+1? \\\\boxed{2}"}\n', encoding="utf-8")
    check, judge = "check --conf judge.yaml --input rows.jsonl", "judge --conf judge.yaml --input rows.jsonl --output o"
    assert "the policy's response stands in another column, which the file needs, too" in said(check)
    (folder / "judge.yaml").write_text(section("judge: math\nreads: {answer: text}"), encoding="utf-8")
    told = said(judge + ".jsonl")
    assert "nothing beside 'text': write what the policy answered into a column `response`" in told
    assert "reads: {response: text}" not in told


def test_a_summary_names_the_first_row_of_each_failure(folder: Path) -> None:
    (folder / "rows.jsonl").write_text(ROW + "{'a': 1}\n" * 2, encoding="utf-8")
    assert "(first rows.jsonl:2)" in said("judge --conf judge.yaml --input rows.jsonl --output o.jsonl")


def test_a_configuration_is_found_in_capitals(folder: Path) -> None:
    assert "did you mean 'judge.yaml'?" in said("check --conf JUDGE.YAML --input rows.jsonl")


def test_a_program_s_tests_under_another_name_are_not_shown_as_missing(folder: Path) -> None:
    (folder / "judge.yaml").write_text(section("judge: code\ncode: {isolation: none}\ndeadline: 60"), "utf-8")
    row = {"prompt": "def f", "test": "assert f(1)==1", "completion": "```python\ndef f(x): return x\n```"}
    (folder / "rows.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    done = CliRunner().invoke(app, ["check", "--conf", "judge.yaml", "--input", "rows.jsonl"])
    assert "every one can be judged" in done.output, done.output
    assert "tests" not in done.output


def test_criteria_of_negative_points_alone_are_told_what_they_lack(folder: Path) -> None:
    model = "task_rubrics: {model_name: m, base_url: 'http://127.0.0.1:9/v1', api_key: k}"
    (folder / "judge.yaml").write_text(section(f"judge: task_rubrics\n{model}"), encoding="utf-8")
    rows = [
        {"question": "q", "rubrics": each, "response": "a"} for each in ([{"criterion": "a", "points": -3}], "nice")
    ]
    (folder / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    told = said("check --conf judge.yaml --input rows.jsonl")
    assert "give one points above 0" in told
    assert 'write a list such as [{"criterion": "names its source", "points": 1}]' in told
    assert "reads: {answer" not in told
