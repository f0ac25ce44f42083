"""`astuner rules`: what is printed, what is written, and the exit codes 0, 2 and 3."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from agentscope_tuner.cli.rules import app
from tests.tables import each_row

AGENTS = Path(__file__).parents[3] / "configs" / "agents"
BROKEN = """\
evaluation:
  judge_agent_id: judge_default
  rule_modules: [no_such_module]
  rules:
    - id: a
      kind: max_tokens
      max_tokens: "200"
    - id: a
      kind: regex_match
      pattern: "^a"
      pattern: "["
    - kind: contains_any
      keyword: [x]
"""


@each_row
def table(tmp_path: Path) -> Path:
    path = tmp_path / "in.csv"
    path.write_text("id,output\n1,positive\n2,maybe so\n3, neutral\n", encoding="utf-8")
    return path


def rules(*args: object) -> Result:
    return CliRunner().invoke(app, [str(arg) for arg in args], env={"COLUMNS": "200", "TERM": "xterm"})


def run(table: Path, *args: object) -> Result:
    return rules("run", "--agents-dir", AGENTS, "--infile", table, "--outfile", table.with_name("out.csv"), *args)


def test_run_and_stats(table: Path) -> None:
    done = run(table, "--agent", "classifier")
    assert done.exit_code == 0, done.output
    lines = table.with_name("out.csv").read_text(encoding="utf-8").splitlines()
    assert lines == [
        "id,output,rule_pass,rule_violations",
        "1,positive,1,",
        '2,maybe so,0,"valid_category_only,single_word_output"',
        "3, neutral,0,single_word_output",
    ]
    counted = rules("stats", "--infile", table.with_name("out.csv"), "--json")
    assert json.loads(counted.stdout) == {
        "rows": 3,
        "total": 3,
        "passed": 1,
        "failed": 2,
        "unchecked": 0,
        "pass_rate": pytest.approx(1 / 3),
        "rules": {
            "single_word_output": {"count": 2, "share": pytest.approx(2 / 3)},
            "valid_category_only": {"count": 1, "share": pytest.approx(1 / 3)},
        },
        "together": [{"rules": ["valid_category_only", "single_word_output"], "count": 1}],
    }
    shown = rules("stats", "--infile", table.with_name("out.csv")).stdout
    for text in ("33.3%", "66.7%", "fire together", "single_word_output"):
        assert text in shown
        assert text in done.stdout


def test_counts_by_rule_stand_under_the_name_of_their_flow(tmp_path: Path) -> None:
    conf, table = tmp_path / "rules.yaml", tmp_path / "in.csv"
    conf.write_text("evaluation: {rules: [{id: has_t, kind: contains_any, keywords: [t]}]}", encoding="utf-8")
    table.write_text("output,output__second\nt,a\nt,t\n", encoding="utf-8")
    done = rules("run", "--conf", conf, "--infile", table, "--outfile", tmp_path / "out.csv")
    lines = [re.findall(r"[\w.%]+", line) for line in done.stdout.splitlines()]
    assert lines[lines.index(["rule", "count", "share", "output", "second"]) + 2] == ["has_t", "1", "25.0%", "0", "1"]


@pytest.mark.slow
@pytest.mark.parametrize(("ending", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml")])
def test_stats_draws_a_bar_chart(table: Path, ending: str, start: bytes) -> None:
    pytest.importorskip("matplotlib", reason="the extra `report` is not installed")
    run(table, "--agent", "classifier")
    chart = table.with_name(f"chart.{ending}")
    done = rules("stats", "--infile", table.with_name("out.csv"), "--plot", chart)
    assert done.exit_code == 0, done.output
    assert chart.read_bytes().startswith(start)


def test_an_agent_may_be_a_directory_and_a_training_yaml_will_do(table: Path, tmp_path: Path) -> None:
    agents = tmp_path / "agents"
    (agents / "short").mkdir(parents=True)
    section = "rules: [{id: has_t, kind: contains_any, keywords: [t]}]"
    (agents / "short" / "agent.yaml").write_text(f"evaluation: {{{section}}}", encoding="utf-8")
    (tmp_path / "train.yaml").write_text(f"trinity: {{x: 1}}\nastuner: {{task_judge: {{{section}}}}}", encoding="utf-8")
    by_file = ("--conf", agents / "short" / "agent.yaml")
    for source in (("--agents-dir", agents, "--agent", "short"), ("--conf", tmp_path / "train.yaml"), by_file):
        done = rules("run", *source, "--infile", table, "--outfile", table.with_name("out.csv"))
        assert done.exit_code == 0, done.output
        verdicts = [line.rsplit(",", 2)[1:] for line in table.with_name("out.csv").read_text().splitlines()[1:]]
        assert verdicts == [["1", ""], ["0", "has_t"], ["1", ""]]


@pytest.mark.parametrize(
    "yaml", ["evaluation: {judge_agent_id: judge_default}", "name: x", "", "evaluation: {rules: }"]
)
def test_without_rules_every_row_passes_and_it_says_so(table: Path, tmp_path: Path, yaml: str) -> None:
    (tmp_path / "bare.yaml").write_text(yaml, encoding="utf-8")
    done = run(table, "--agents-dir", tmp_path, "--agent", "bare")
    assert done.exit_code == 0
    assert "evaluation.rules: no rules: every row gets rule_pass 1" in done.stderr
    assert [line.rsplit(",", 2)[1] for line in table.with_name("out.csv").read_text().splitlines()] == [
        "rule_pass",
        "1",
        "1",
        "1",
    ]


def test_a_row_that_cannot_be_checked_is_exit_code_3(table: Path) -> None:
    with table.open("a") as stream:
        stream.writelines(f"{number}\n" for number in range(30))
    done = run(table, "--agent", "classifier")
    assert done.exit_code == 3
    assert f"{table}:5: has 1 cells where the header has 2" in done.stderr
    assert "10 more problems" in done.stderr
    assert len(table.with_name("out.csv").read_text().splitlines()) == 34


def test_validate_reports_every_problem_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "broken.yaml"
    path.write_text(BROKEN, encoding="utf-8")
    done = rules("validate", "--agents-dir", tmp_path, "--agent", "broken")
    assert done.exit_code == 2
    starts = [
        f"{path}:3: rules: rule_modules: 'no_such_module' could not be imported: ModuleNotFoundError: ",
        f"{path}:7: rules[0] ('a'): max_tokens must be a whole number of at least 0, got '200'",
        f"{path}:8: rules[1] ('a'): id 'a' is already the id of rule [0]",
        f"{path}:11: rules[1] ('a'): pattern does not compile",
        f"{path}:11: rules[1]: key 'pattern' stands twice",
        f"{path}:12: rules[2]: id is missing",
        f"{path}:12: rules[2]: keywords is missing",
        f"{path}:13: rules[2]: unknown key 'keyword' (did you mean 'keywords'?)",
    ]
    for line, start in zip(done.stderr.splitlines(), starts, strict=True):
        assert line.startswith(start)


def test_run_refuses_broken_rules_and_writes_nothing(table: Path, tmp_path: Path) -> None:
    (tmp_path / "broken.yaml").write_text(BROKEN, encoding="utf-8")
    done = run(table, "--agents-dir", tmp_path, "--agent", "broken")
    assert done.exit_code == 2
    assert "evaluation.rules has 8 problems:" in done.stderr
    assert "- line 11: rules[1]: key 'pattern' stands twice" in done.stderr
    assert not table.with_name("out.csv").exists()


RULE = "[{id: filled, kind: non_empty}]"


@pytest.mark.parametrize(
    ("yaml", "problem"),
    [
        ("evaluation:\n  rules:\n  - {id: filled, kind: non_empty, kind: max_chars}\n", "line 3: rules[0]: key 'kind'"),
        (f"evaluation:\n  rules: {RULE}\n  rules: []\n", "line 3: rules: key 'rules' stands twice"),
        (f"evaluation:\n  rules: {RULE}\nevaluation: {{}}\n", "line 3: rules: key 'evaluation' stands twice"),
        (f"evaluation:\n  rule: {RULE}\n", "line 2: rules: unknown key 'rule': did you mean 'rules'?"),
        (f"a: x\nevalution:\n  rules: {RULE}\n", "line 2: rules: unknown key 'evalution': did you mean 'evaluation'?"),
    ],
)
def test_rules_that_would_be_overlooked_are_refused(table: Path, tmp_path: Path, yaml: str, problem: str) -> None:
    (tmp_path / "lost.yaml").write_text(yaml, encoding="utf-8")
    done = run(table, "--agents-dir", tmp_path, "--agent", "lost")
    assert done.exit_code == 2
    assert problem in done.stderr
    assert not table.with_name("out.csv").exists()
    checked = rules("validate", "--agents-dir", tmp_path, "--agent", "lost")
    assert checked.exit_code == 2
    assert problem.partition(": ")[2] in checked.stderr


def test_rules_by_interpolation_are_reported_at_their_key(table: Path, tmp_path: Path) -> None:
    yaml = "mine: [{id: a, kind: max_char}]\nastuner:\n  task_judge:\n    rules: ${mine}\n"
    (tmp_path / "train.yaml").write_text(yaml, encoding="utf-8")
    done = rules("validate", "--conf", tmp_path / "train.yaml")
    assert done.exit_code == 2
    assert "train.yaml:4: rules[0] ('a'): unknown kind 'max_char'" in done.stderr


def test_what_a_row_holds_is_not_obeyed_by_the_terminal(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text('\x1b[2J\x1b[31m not json\n{"output": ["\\ud800"]}\n', encoding="utf-8")
    done = rules(
        *("run", "--agents-dir", AGENTS, "--agent", "binary", "--infile", path),
        *("--outfile", tmp_path / "out.jsonl"),
    )
    assert done.exit_code == 3
    assert "\x1b" not in done.output
    assert "in.jsonl:2: " in done.stderr


@pytest.mark.parametrize("agent", sorted(path.stem for path in AGENTS.glob("*.yaml")))
def test_the_example_agents_are_valid(agent: str) -> None:
    done = rules("validate", "--agents-dir", AGENTS, "--agent", agent)
    assert done.exit_code == 0, done.output
    assert "no problems" in done.stdout


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--agent", "nobody"], "agents here: binary, classifier, dialogue_summary, structured_output"),
        (["--agent", "../secret"], "--agent must be the name of an agent"),
        ([], "name the rules by one of --agent and --conf"),
        (["--agent", "binary", "--conf", "x.yaml"], "name the rules by one of --agent and --conf"),
        (["--conf", "nowhere.yaml"], "nowhere.yaml"),
    ],
)
def test_bad_usage_is_exit_code_2(table: Path, args: list[str], message: str) -> None:
    done = run(table, *args)
    assert done.exit_code == 2
    assert message in done.stderr


def test_list_names_every_kind_with_its_parameters() -> None:
    shown = rules("list").stdout
    for text in ("max_tokens", "allowed_values", "ignore_case", "(default", "regex_match", '"suffix": "。"'):
        assert text in shown


def test_the_kinds_of_a_users_module_are_listed_as_json_too(tmp_path: Path) -> None:
    (tmp_path / "mykinds.py").write_text(
        "from agentscope_tuner.rules import RULE_HANDLERS\n"
        'def shouts(rule, value):\n    """in capitals"""\n    return not value.isupper()\n'
        'RULE_HANDLERS["shouts"] = shouts\n'
    )
    command = [sys.executable, "-m", "agentscope_tuner.rules", "list", "--module", "mykinds", "--json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    listed = json.loads(done.stdout)
    assert listed["shouts"] == {"holds": "in capitals", "example": None}
    assert listed["max_chars"]["example"]


@pytest.mark.parametrize(
    ("rule", "text", "code", "said"),
    [
        ('{"kind": "max_chars", "max_chars": 3}', "abc", 0, "holds"),
        ("{kind: max_chars, max_chars: 3, action: record}", "abcd", 0, "violated: record"),
        ("{kind: non_empty, target: metadata.tool}", " ", 0, "violated: mark_bad"),
        ("{kind: regex_match, pattern: '^(a+)+$'}", "a" * 5000 + "b", 3, "not decided: rule 'rule' did not finish"),
        ("{kind: max_char}", "", 2, "unknown kind 'max_char' (did you mean 'max_chars'?)"),
        ("{", "", 2, "--rule must be one rule"),
        ("max_chars", "", 2, "--rule must be a mapping"),
    ],
)
def test_try_checks_one_rule_on_one_text(rule: str, text: str, code: int, said: str) -> None:
    done = rules("try", "--rule", rule, "--text", text)
    assert done.exit_code == code, done.output
    assert said in done.output


def test_python_m_is_the_same_command(table: Path) -> None:
    out = table.with_name("out.csv")
    arguments = ["run", "--agents-dir", str(AGENTS), "--agent", "binary", "--infile", str(table), "--outfile", str(out)]
    done = subprocess.run(
        [sys.executable, "-m", "agentscope_tuner.rules", *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert out.read_text().splitlines()[2] == "2,maybe so,0,binary_only"
