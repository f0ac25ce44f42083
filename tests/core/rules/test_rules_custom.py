"""Kinds of one's own in RULE_HANDLERS, and the documents that show them: every block in them is run."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from agentscope_tuner.errors import Cause, ConfigError, JudgeError
from agentscope_tuner.rules import RULE_HANDLERS, RuleSet, compile_rules

ROOT = Path(__file__).parents[3]
GUIDES = ("docs/rules.md", "docs/rules.zh.md")
TUTORIAL = "tutorial/custom_rule/README.md"


@pytest.fixture
def handlers() -> Iterator[dict[str, Any]]:
    """The table, which is one for the process, put back as it was."""
    before = dict(RULE_HANDLERS)
    yield RULE_HANDLERS
    RULE_HANDLERS.clear()
    RULE_HANDLERS.update(before)


def custom(**keys: Any) -> RuleSet:
    return compile_rules([{"id": "mine", "kind": "mine", **keys}])


def test_a_handler_gets_the_rule_as_the_mapping_that_was_written(handlers: dict[str, Any]) -> None:
    seen = []

    def handler(rule: dict[str, Any], value: str) -> bool:
        seen.append((rule, value))
        return value == rule["word"]  # type: ignore[no-any-return]

    handlers["mine"] = handler
    rule = {"word": "bad", "deep": {"list": [1, 2]}, "target": "query", "action": "record"}
    assert [broken.action for broken in custom(**rule).check("good", query="bad")] == ["record"]
    assert seen == [({"id": "mine", "kind": "mine", **rule}, "bad")]
    assert type(seen[0][0]) is dict


def test_not_turns_a_custom_kind_round_too(handlers: dict[str, Any]) -> None:
    handlers["mine"] = lambda rule, value: value == "x"
    assert not custom(**{"not": True}).check("x")
    assert custom(**{"not": True}).check("y")


def test_a_handler_that_changes_its_rule_changes_its_own_copy(handlers: dict[str, Any]) -> None:
    handlers["mine"] = lambda rule, value: rule["words"].append(value) is not None
    words: list[str] = []
    rules = custom(words=words)
    assert rules.check("x") == ()
    assert words == []


@pytest.mark.parametrize(
    ("handler", "message"),
    [
        (lambda rule, value: rule["missing"], r"rule 'mine' \(kind 'mine'\) raised KeyError: 'missing'"),
        (lambda rule, value: None, r"must return True \(a violation\) or False, got None"),
        (lambda rule, value: 1, r"must return True \(a violation\) or False, got 1"),
        (lambda rule, value: value.no_such_method(), "raised AttributeError"),
    ],
)
def test_a_handler_that_fails_is_no_violation(handlers: dict[str, Any], handler: Any, message: str) -> None:
    handlers["mine"] = handler
    with pytest.raises(JudgeError, match=message):
        custom().check("x")


@pytest.mark.parametrize(
    ("kind", "error", "cause", "message"),
    [
        # only of a search for a pattern is it known that the text, or a busy machine, took the time
        ("regex_match", TimeoutError("busy"), Cause.DEADLINE, "did not finish on a text of 4 characters: busy"),
        ("regex_match", KeyError("pattern"), Cause.BUG, "(kind 'regex_match') raised KeyError: 'pattern'"),
        ("mine", TimeoutError("slow"), Cause.BUG, "(kind 'mine') raised TimeoutError: slow"),
    ],
)
def test_a_check_that_fails_says_whose_fault_it_is(
    handlers: dict[str, Any], kind: str, error: Exception, cause: Cause, message: str
) -> None:
    def fails(rule: dict[str, Any], value: str) -> bool:
        raise error

    handlers[kind] = fails
    with pytest.raises(JudgeError) as caught:
        compile_rules([{"id": "runs", "kind": kind}]).check("text")
    assert (caught.value.cause, caught.value.message) == (cause, f"rule 'runs' {message}")


def test_what_is_no_function_is_refused_at_load(handlers: dict[str, Any]) -> None:
    handlers["mine"] = "not a function"
    with pytest.raises(ConfigError, match="must be a function of a rule and a text"):
        custom()


def test_a_handler_may_take_the_place_of_a_built_in_kind(handlers: dict[str, Any]) -> None:
    handlers["max_chars"] = lambda rule, value: len(value.encode()) > rule["bytes"]
    rules = compile_rules([{"id": "bytes", "kind": "max_chars", "bytes": 3}])
    assert [bool(rules.check(text)) for text in ("abc", "é", "字字")] == [False, False, True]


@pytest.mark.parametrize("modules", ["my_rules", [1], [""], {"a": 1}])
def test_rule_modules_must_be_names(modules: Any) -> None:
    with pytest.raises(ConfigError, match="rule_modules must be a list of module names"):
        compile_rules([], rule_modules=modules)


def blocks(path: str, language: str) -> list[str]:
    text = (ROOT / path).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def python(*args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *args], cwd=ROOT, capture_output=True, text=True, check=False)


def rules_of(block: str) -> list[dict[str, Any]]:
    parsed = yaml.safe_load(block)
    if isinstance(parsed, list):
        return parsed
    section = parsed.get("evaluation") or parsed["astuner"]["task_judge"]
    return section["rules"]  # type: ignore[no-any-return]


@pytest.mark.parametrize("path", GUIDES)
def test_every_rule_in_the_guides_loads(path: str) -> None:
    shown = [rules_of(block) for block in blocks(path, "yaml")]
    for rules in shown:
        compile_rules(rules)
    assert {rule["kind"] for rules in shown for rule in rules} == set(RULE_HANDLERS)


def test_both_guides_say_the_same_with_the_same_blocks() -> None:
    english, chinese = (
        [block for _ in "1" for block in blocks(path, "(?:yaml|bash|console|python)")] for path in GUIDES
    )
    assert len(english) == len(chinese) > 10
    headings = [len(re.findall("^##", (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE)) for path in GUIDES]
    assert headings[0] == headings[1]


@pytest.mark.parametrize("path", GUIDES)
def test_the_handler_in_the_guides_works(path: str) -> None:
    (block,) = blocks(path, "python")
    check = """
from agentscope_tuner.rules import compile_rules
rules = compile_rules([{"id": "calm", "kind": "your_new_rule_type", "most": 1}])
print([bool(rules.check(text)) for text in ("hello!", "hello!!")])
"""
    assert python("-c", block + check).stdout.strip() == "[False, True]"


@pytest.mark.slow
def test_the_tutorial_runs_as_written(tmp_path: Path) -> None:
    (block,) = blocks(TUTORIAL, "bash")
    run, attempt = re.findall(r"^astuner rules (.*?(?:\\\n.*?)*)$", block, re.MULTILINE)
    checked = tmp_path / "checked.csv"
    command = run.replace("\\\n", " ").replace("checked.csv", str(checked)).split()
    done = python("-m", "agentscope_tuner.rules", *command)
    assert done.returncode == 0, done.stderr
    verdicts = re.findall(r",([01]),(.*)$", checked.read_text(encoding="utf-8"), re.MULTILINE)
    assert verdicts == [
        ("1", ""),
        ("0", "no_loops"),
        ("1", "brackets_match"),
        ("0", "not_empty"),
        ("1", ""),
        ("0", '"no_loops,brackets_match"'),
    ]
    assert "--module tutorial.custom_rule.rules" in attempt
    rule = re.search("'({.*?})'", attempt)
    assert rule is not None
    tried = python(
        "-m",
        "agentscope_tuner.rules",
        "try",
        "--module",
        "tutorial.custom_rule.rules",
        "--rule",
        rule[1],
        "--text",
        "a\na",
    )
    assert tried.stdout.strip() == "violated: mark_bad"


def test_the_handler_in_the_tutorial_is_the_one_that_ships() -> None:
    (block,) = blocks(TUTORIAL, "python")
    shipped = (ROOT / "tutorial" / "custom_rule" / "rules.py").read_text(encoding="utf-8")
    for line in block.splitlines():
        assert line in shipped or line.startswith("def handle_max_repeats("), line


def test_a_handler_is_handed_each_key_of_its_rule(handlers: dict[str, Any]) -> None:
    handlers["mine"] = lambda rule, value: len(value) > rule["most"]
    custom(most=3, anything="x")
