"""`compile_rules` and `RuleSet.check`: the eight kinds, targets, actions, negation, and what is never a violation."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from agentscope_tuner.errors import ConfigError, JudgeError
from agentscope_tuner.rules import RULE_HANDLERS, RuleSet, Violation, compile_rules
from agentscope_tuner.rules.kinds import KINDS, is_found
from agentscope_tuner.rules.rule_set import find_problems
from agentscope_tuner.task_judge.contract.loading import load_judge
from agentscope_tuner.workflow import Task, WorkflowOutput, WorkflowTask


def one_rule(kind: str, **keys: Any) -> RuleSet:
    return compile_rules([{"id": "rule", "kind": kind, **keys}])


def breaks(kind: str, text: str, **keys: Any) -> bool:
    return bool(one_rule(kind, **keys).check(text))


@pytest.mark.parametrize(
    ("kind", "keys", "holds", "broken"),
    [
        (
            "max_tokens",
            {"max_tokens": 3},
            ["", "one two three", "三个字", "a, b; c"],
            ["one two three four", "四个汉字"],
        ),
        ("max_chars", {"max_chars": 3}, ["", "abc", "三个字", "😀😀😀"], ["abcd", "    "]),
        ("non_empty", {}, ["x", " x ", "0"], ["", " ", "\n\t\u3000"]),
        ("allowed_values", {"allowed_values": ["0", "1"]}, ["0", " 1\n"], ["", "2", "01", "0 1"]),
        ("allowed_values", {"allowed_values": ["0"], "trim": False}, ["0"], ["0 ", "\n0"]),
        ("contains_any", {"keywords": ["用户", "User"]}, ["某用户说", "aUser"], ["", "user", "用 户"]),
        ("contains_any", {"keywords": ["User"], "ignore_case": True}, ["user", "USERS"], ["use r"]),
        ("regex_match", {"pattern": "^[^{]*$"}, ["", "plain", "a\nb"], ["{", '{"a": 1}', "x{"]),
        ("regex_match", {"pattern": r"\d"}, ["a1b"], ["", "ab"]),
        ("regex_match", {"pattern": "^yes$", "ignore_case": True}, ["YES", "yes\n"], ["yes sir", "ja"]),
        ("starts_with", {"prefix": "总结："}, ["总结：好", "总结："], ["", "总结", " 总结："]),
        ("ends_with", {"suffix": "。"}, ["完。", "。"], ["", "完", "。 "]),
        ("ends_with", {"suffix": "END", "ignore_case": True}, ["the end", "End"], ["ends"]),
    ],
)
def test_each_kind_means_what_the_guide_says(
    kind: str, keys: dict[str, Any], holds: list[str], broken: list[str]
) -> None:
    assert [text for text in holds if breaks(kind, text, **keys)] == []
    assert [text for text in broken if not breaks(kind, text, **keys)] == []


def test_all_violations_come_in_the_order_of_the_rules() -> None:
    rules = compile_rules(
        [
            {"id": "short", "kind": "max_chars", "target": "output", "max_chars": 2, "action": "record"},
            {"id": "filled", "kind": "non_empty", "target": "output", "action": "mark_bad"},
            {
                "id": "binary",
                "kind": "allowed_values",
                "target": "output",
                "allowed_values": ["0"],
                "action": "mark_bad",
            },
        ]
    )
    assert rules.check("   ") == (
        Violation("short", "record"),
        Violation("filled", "mark_bad"),
        Violation("binary", "mark_bad"),
    )
    assert rules.check("0") == ()
    assert len(rules) == 3
    assert rules.ids == ("short", "filled", "binary")


def test_no_rules_are_no_violations() -> None:
    rules = compile_rules([])
    assert not rules
    assert rules.check("") == ()


def test_targets_other_than_the_output() -> None:
    rules = compile_rules(
        [
            {"id": "asked", "kind": "non_empty", "target": "query"},
            {"id": "tool", "kind": "allowed_values", "target": "metadata.tool", "allowed_values": ["search"]},
        ]
    )
    assert rules.check("x", query="why?", metadata={"tool": "search"}) == ()
    assert [v.rule_id for v in rules.check("search", query=" ", metadata={"tool": "rm"})] == ["asked", "tool"]


@pytest.mark.parametrize(
    ("metadata", "message"),
    [({}, "metadata.tool, which is missing"), ({"tool": 3}, "as text, got 3"), ({"tool": None}, "as text, got None")],
)
def test_a_target_that_cannot_be_read_is_no_verdict(metadata: dict[str, Any], message: str) -> None:
    with pytest.raises(JudgeError, match=message):
        one_rule("non_empty", target="metadata.tool").check("x", metadata=metadata)


def test_not_turns_any_rule_round() -> None:
    assert breaks("contains_any", "as an AI model", keywords=["as an AI"], **{"not": True})
    assert not breaks("contains_any", "fine", keywords=["as an AI"], **{"not": True})
    assert breaks("max_chars", "abc", max_chars=3, **{"not": True})


@pytest.mark.parametrize("target", ["output", "metadata.tool"])
@pytest.mark.parametrize("turned", [False, True])
def test_an_output_that_a_catastrophic_pattern_never_ends_on_breaks_the_rule_in_time(target: str, turned: bool) -> None:
    rules = one_rule("regex_match", pattern="^(a+)+$", target=target, **{"not": turned})
    runaway = "a" * 5000 + "b"
    (broken,) = rules.check(runaway, metadata={"tool": runaway})
    assert (broken.rule_id, broken.action) == ("rule", "mark_bad")
    assert broken.unfinished.startswith("did not finish: pattern '^(a+)+$' took more than 0.055 s of CPU time")
    assert bool(rules.check("aaaa", metadata={"tool": "aaaa"})) is turned


def test_a_question_that_a_catastrophic_pattern_never_ends_on_is_no_verdict() -> None:
    with pytest.raises(JudgeError, match=r"rule 'rule' did not finish: pattern '\^\(a\+\)\+\$' took more than 0.055 s"):
        one_rule("regex_match", pattern="^(a+)+$", target="query").check("x", query="a" * 5000 + "b")


def test_an_output_cannot_take_its_low_verdict_away_by_a_pattern_that_never_ends() -> None:
    rules = [
        {"id": "runs", "kind": "regex_match", "pattern": "^(a+)+$"},
        {"id": "short", "kind": "max_chars", "max_chars": 9},
    ]
    judge = load_judge({"astuner": {"task_judge": {"judge": "math", "rule_reward": -1.0, "rules": rules}}})
    task = WorkflowTask(task=Task(main_query="q", metadata={"answer": "42"}))
    answer = "a" * 5000 + r"\boxed{41}"
    judgement = judge.judge(task, WorkflowOutput(metadata={"final_answer": answer}))
    assert (judgement.status, judgement.reward, judgement.violations) == ("filtered", -1.0, ("runs", "short"))
    assert judgement.reason.startswith("rules: runs did not finish: pattern '^(a+)+$' took more than 0.055 s")


def test_a_linear_pattern_is_timed_when_case_is_ignored() -> None:
    # a class that matches one character or two under full case folding is no longer linear
    rules = compile_rules([{"id": "rule", "kind": "regex_match", "pattern": "^[ßs]*$", "ignore_case": True}])
    assert rules.check("s" * 3000 + "1")[0].unfinished


@pytest.mark.parametrize("rule_id", ["a,b", " a", "a ", "a\nb", ""])
def test_an_id_that_a_result_table_cannot_hold_is_refused(rule_id: str) -> None:
    with pytest.raises(ConfigError, match="id must"):
        compile_rules([{"id": rule_id, "kind": "non_empty"}])


def test_a_pattern_nested_too_deeply_is_a_listed_problem() -> None:
    nested = {"id": "deep", "kind": "regex_match", "pattern": "(" * 5000 + ")" * 5000}
    with pytest.raises(ConfigError, match=r"has 2 problems[^\0]*'deep'\): pattern does not compile[^\0]*unknown kind"):
        compile_rules([nested, {"id": "b", "kind": "max_char"}])


@pytest.mark.parametrize("busy", [0, 1, 2, 3])
def test_time_that_other_threads_burn_is_not_held_against_a_pattern(busy: int) -> None:
    budgets = []

    def search(text: str, *, timeout: float, concurrent: bool) -> object:
        budgets.append(timeout)
        if len(budgets) <= busy:
            raise TimeoutError("regex timed out")  # at once: this thread has done nothing
        return None

    assert is_found(search, "x" * 50_000) is False
    assert budgets == pytest.approx([0.05, 0.05, 0.2, 0.8][: busy + 1])


def test_a_process_too_busy_to_tell_is_a_timeout() -> None:
    def search(text: str, *, timeout: float, concurrent: bool) -> object:
        raise TimeoutError("regex timed out")

    with pytest.raises(TimeoutError, match="other threads"):
        is_found(search, "x")


def test_a_rule_set_crosses_processes() -> None:
    rules = one_rule("regex_match", pattern="^a")
    assert [v.rule_id for v in pickle.loads(pickle.dumps(rules)).check("b")] == ["rule"]


def test_every_problem_is_reported_at_once() -> None:
    broken = [
        {"id": 1, "kind": "max_token", "max_tokens": 3},
        {"id": "a", "kind": "max_tokens", "max_tokens": "200", "ignorecase": True},
        {"id": "a", "kind": "contains_any", "keywords": []},
        {"id": "r", "kind": "regex_match", "pattern": "(", "action": "markbad", "target": "outptu"},
        {"kind": "starts_with"},
        "non_empty",
    ]
    with pytest.raises(ConfigError) as caught:
        compile_rules(broken, where="evaluation.rules")  # type: ignore[arg-type]
    lines = str(caught.value).splitlines()
    assert lines[0] == "evaluation.rules has 12 problems:"
    expected = [
        "[0]: id must be a string that is not empty, got 1: put it in quotes",
        "[0]: unknown kind 'max_token' (did you mean 'max_tokens'?)",
        "[1] ('a'): max_tokens must be a whole number of at least 0, got '200': write it without quotes",
        "[1] ('a'): unknown key 'ignorecase'",
        "[2] ('a'): id 'a' is already the id of rule [1]",
        "[2] ('a'): keywords must be a list of at least one string, got []",
        "[3] ('r'): target must be output (the final answer), query or metadata.<key>, got 'outptu' "
        "(did you mean 'output'?)",
        "[3] ('r'): action must be one of mark_bad, record, got 'markbad' (did you mean 'mark_bad'?)",
        "[3] ('r'): pattern does not compile: missing ) at position 1: '('",
        "[4]: id is missing",
        "[4]: prefix is missing: starts_with needs it (a string)",
        "[5]: must be a mapping with an id and a kind, got 'non_empty'",
    ]
    for line, start in zip(lines[1:], expected, strict=True):
        assert line.startswith(f"- evaluation.rules{start}")


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        ({"id": "a"}, "must be a list of rules, got {'id': 'a'}"),
        ([{"id": "a"}], "kind is missing: one of max_tokens"),
        ([{"id": "a", "kind": ["non_empty"]}], "unknown kind ['non_empty']"),
    ],
)
def test_what_is_no_rule_is_told(rules: Any, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        compile_rules(rules)
    assert words in str(caught.value)


def test_the_table_holds_all_kinds() -> None:
    kinds = "max_tokens max_chars non_empty allowed_values contains_any regex_match starts_with ends_with"
    assert " ".join(RULE_HANDLERS) == kinds
    for name in RULE_HANDLERS:
        assert list(KINDS[name].example)[:2] == ["id", "kind"]
        assert len(compile_rules([KINDS[name].example])) == 1


WORDS = st.text("aB \u4f60\u00df\n", min_size=1, max_size=3)


@settings(max_examples=100, deadline=None)
@given(st.text("aB \u4f60\u00df\n", max_size=8), st.lists(WORDS, min_size=1, max_size=3), st.integers(0, 8))
def test_kinds_hold_to_their_definitions_and_not_turns_each_round(text: str, words: list[str], most: int) -> None:
    trimmed = [word.strip() for word in words]
    expected: dict[str, tuple[dict[str, Any], bool]] = {
        "max_chars": ({"max_chars": most}, len(text) > most),
        "non_empty": ({}, not text.strip()),
        "allowed_values": ({"allowed_values": trimmed}, text.strip() not in trimmed),
        "contains_any": ({"keywords": words}, not any(word in text for word in words)),
        "regex_match": ({"pattern": regex.escape(words[0])}, words[0] not in text),
        "starts_with": ({"prefix": words[0]}, not text.startswith(words[0])),
        "ends_with": ({"suffix": words[0]}, not text.endswith(words[0])),
    }
    for kind, (keys, broken) in expected.items():
        assert (breaks(kind, text, **keys), breaks(kind, text, **keys, **{"not": True})) == (broken, not broken), kind


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ({"kind": "ends_with", "suffix": ""}, "suffix must not be empty: every text would satisfy it"),
        ({"kind": "ends_with", "suffix": 7}, "suffix must be a string, got 7: put it in quotes"),
        ({"kind": "ends_with", "suffix": True}, "suffix must be a string, got True: put it in quotes"),
        ({"kind": "ends_with", "suffix": None}, "suffix must be a string, got None"),
        ({"kind": "ends_with", "suffix": "x", "ignore_case": 1}, "ignore_case must be true or false, got 1"),
        ({"kind": "ends_with"}, "suffix is missing: ends_with needs it (a string)"),
        ({"kind": "max_chars", "max_chars": -1}, "max_chars must be a whole number of at least 0, got -1"),
        ({"kind": "max_chars", "max_chars": True}, "max_chars must be a whole number of at least 0, got True"),
        ({"kind": "max_chars", "max_chars": 1.0}, "max_chars must be a whole number of at least 0, got 1.0"),
        (
            {"kind": "max_chars", "max_chars": " 3 "},
            "max_chars must be a whole number of at least 0, got ' 3 ': write it without quotes",
        ),
        ({"kind": "max_chars", "max_chars": "3.5"}, "max_chars must be a whole number of at least 0, got '3.5'"),
        ({"kind": "contains_any", "keywords": "a"}, "keywords must be a list of at least one string, got 'a'"),
        ({"kind": "contains_any", "keywords": ["a", 0]}, "keywords must hold strings, got 0: put it in quotes"),
        ({"kind": "contains_any", "keywords": [None]}, "keywords must hold strings, got None"),
        (
            {"kind": "contains_any", "keywords": ["a", ""]},
            "keywords must not hold an empty string, which is in every text, got ['a', '']",
        ),
        (
            {"kind": "allowed_values", "allowed_values": ["a", " b"]},
            "allowed_values [' b'] can never match a trimmed text: strip them, or set trim: false",
        ),
        ({"kind": "regex_match", "pattern": ""}, "pattern must not be empty: every text would satisfy it"),
        ({"kind": "regex_match", "pattern": "("}, "pattern does not compile: missing ) at position 1: '('"),
        ({"kind": "max_tokens", "max_tokens": 1, "tokenizer": 3}, "tokenizer must name a tiktoken encoding, got 3"),
        ({"kind": "non_empty", "not": "yes"}, "not must be true or false, got 'yes'"),
        (
            {"kind": "non_empty", "target": "metadata."},
            "target must be output (the final answer), query or metadata.<key>, got 'metadata.'",
        ),
        (
            {"kind": "non_empty", "target": "response"},
            "target must be output (the final answer), query or metadata.<key>, got 'response': the policy's text is "
            "`output`",
        ),
        (
            {"kind": "non_empty", "target": 3},
            "target must be output (the final answer), query or metadata.<key>, got 3",
        ),
        (
            {"kind": "non_empty", "action": "drop"},
            "action must be one of mark_bad, record, got 'drop'",
        ),
        (
            {"kind": "non_empty", "id": "a,b"},
            "id must not hold commas, line breaks or white space at its ends, got 'a,b'",
        ),
        (
            {"kind": "non_empty", "id": " a"},
            "id must not hold commas, line breaks or white space at its ends, got ' a'",
        ),
        ({"kind": "non_empty", "id": ""}, "id must be a string that is not empty, got ''"),
        (
            {"kind": "non_empty", "trimm": True},
            "unknown key 'trimm': non_empty takes id, kind, target, action, not",
        ),
        (
            {"kind": "allowed_values", "allowed_values": ["a"], "trimm": True},
            "unknown key 'trimm' (did you mean 'trim'?): allowed_values takes id, kind, target, action, not, "
            "allowed_values, trim",
        ),
    ],
)
def test_a_problem_is_told_in_full(rule: dict[str, Any], message: str) -> None:
    (problem,) = find_problems([{"id": "r", **rule}])
    assert problem.message == message


@pytest.mark.parametrize(
    "rule",
    [
        {"kind": "max_chars", "max_chars": 0},
        {"kind": "allowed_values", "allowed_values": ["a", " b"], "trim": False},
        {"kind": "allowed_values", "allowed_values": [""]},
        {"kind": "non_empty", "target": "metadata.x", "action": "record", "not": True},
        {"kind": "non_empty", "target": "query"},
    ],
)
def test_an_unusual_rule_has_no_problem(rule: dict[str, Any]) -> None:
    assert find_problems([{"id": "r", **rule}]) == []
