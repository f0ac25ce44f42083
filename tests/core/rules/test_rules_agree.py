"""The compiled checks, the token estimate and case folding, each held against its plain definition on hostile text."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import regex

from agentscope_tuner.rules import RULE_HANDLERS, compile_rules
from agentscope_tuner.rules.kinds import KINDS, fold, has_no_case
from agentscope_tuner.rules.tokens import LONGEST_WORD, estimate_tokens, exceeds_tokens

POOLS = (
    "ab c1,_.\n\t ",
    "ab  é€ñ. ßẞ",
    "你好，世界 。aB",
    "приве т.МИР ΩςΣσ ",
    "😀a 😀𠀀b🀄",
    "iIıİi\u0307\u0307 I\u0307x",
    "a\ud800 \udc00x你\ufeff\u200b",
    "ﬃﬁſKÅ°kK ss",
)
RULES: list[dict[str, Any]] = [
    {"kind": "max_tokens", "max_tokens": 9},
    {"kind": "max_tokens", "max_tokens": 0},
    {"kind": "max_chars", "max_chars": 12},
    {"kind": "non_empty"},
    {"kind": "allowed_values", "allowed_values": ["a", "你好", "", "i\u0307"]},
    {"kind": "allowed_values", "allowed_values": ["a", " a"], "trim": False},
    {"kind": "contains_any", "keywords": ["ab", "好，", "\n\t"]},
    {"kind": "contains_any", "keywords": ["AB", "你", "Σ", "ss", "I\u0307", "\u0307i"], "ignore_case": True},
    {"kind": "contains_any", "keywords": ["ı."], "ignore_case": True},
    {"kind": "regex_match", "pattern": r"^[^,b]*$"},
    {"kind": "regex_match", "pattern": r"a\s?b"},
    {"kind": "regex_match", "pattern": "^ß+", "ignore_case": True},
    {"kind": "starts_with", "prefix": "ss", "ignore_case": True},
    {"kind": "starts_with", "prefix": "iİ", "ignore_case": True},
    {"kind": "starts_with", "prefix": "你"},
    {"kind": "ends_with", "suffix": "Ii", "ignore_case": True},
    {"kind": "ends_with", "suffix": "fi", "ignore_case": True},
    {"kind": "ends_with", "suffix": " "},
]


@cache
def hostile_texts(count: int, longest: int = 60) -> list[str]:
    choose = random.Random(20261121)
    texts = []
    for _ in range(count):
        # no pool: any characters at all
        pool = choose.choice((*POOLS, *POOLS, "".join(POOLS), ""))
        length = choose.randrange(longest)
        text = "".join(choose.choices(pool, k=length) if pool else map(chr, choose.choices(range(0x110000), k=length)))
        if choose.random() < 0.1:
            text += choose.choice("aя你 .") * choose.randrange(5 * LONGEST_WORD)
        texts.append(text)
    return texts


def plainly_violates(rule: dict[str, Any], text: str) -> bool:
    """Each kind as docs/rules.md defines it, in one line, with nothing done ahead."""
    case = fold if rule.get("ignore_case") else str
    flags = regex.IGNORECASE | regex.FULLCASE if rule.get("ignore_case") else 0
    definitions: dict[str, Callable[[], bool]] = {
        "max_tokens": lambda: plain_estimate(text) > rule["max_tokens"],
        "max_chars": lambda: len(text) > rule["max_chars"],
        "non_empty": lambda: not text.strip(),
        "allowed_values": lambda: (text.strip() if rule.get("trim", True) else text) not in rule["allowed_values"],
        "contains_any": lambda: not any(case(keyword) in case(text) for keyword in rule["keywords"]),
        "regex_match": lambda: regex.search(rule["pattern"], text, flags) is None,
        "starts_with": lambda: not case(text).startswith(case(rule["prefix"])),
        "ends_with": lambda: not case(text).endswith(case(rule["suffix"])),
    }
    return definitions[rule["kind"]]()


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: "-".join(ascii(value) for value in rule.values()))
def test_a_compiled_rule_and_its_handler_are_the_kinds_definition(rule: dict[str, Any]) -> None:
    compiled = compile_rules([{"id": "rule", **rule}])
    handler = RULE_HANDLERS[rule["kind"]]
    verdicts = set()
    for text in hostile_texts(1000, longest=25):
        verdict = plainly_violates(rule, text)
        assert (bool(compiled.check(text)), handler(rule, text)) == (verdict, verdict), repr(text)
        verdicts.add(verdict)
    assert verdicts == {True, False}


def test_a_handler_keeps_its_name_and_says_what_it_refuses() -> None:
    assert set(RULE_HANDLERS) >= set(KINDS) == {rule["kind"] for rule in RULES}
    for kind in KINDS:
        assert RULE_HANDLERS[kind].__name__ == f"handle_{kind}"
        assert RULE_HANDLERS[kind].__doc__


def plain_estimate(text: str) -> int:
    """The estimate as docs/rules.md defines it, a character at a time."""

    def within(char: str, *ranges: tuple[int, int]) -> bool:
        return any(first <= ord(char) <= last for first, last in ranges)

    cjk = words = others = run = 0
    for index, char in enumerate(text):
        is_cjk = within(
            char, (0x3000, 0x9FFF), (0xAC00, 0xD7FF), (0xF900, 0xFAFF), (0xFF00, 0xFFFF), (0x20000, 0x3FFFF)
        )
        is_word = not is_cjk and (
            (char <= "\xff" and (char.isalnum() or char == "_"))
            or within(char, (0x100, 0x1FFF), (0x2C00, 0x2FFF), (0xA000, 0xABFF), (0xFB00, 0xFDFF))
        )
        if is_word:
            words += run % LONGEST_WORD == 0
            run += 1
            if run == 1 and index and text[index - 1] == " ":
                others -= 1  # the space belongs to this word
            continue
        run = 0
        cjk += is_cjk
        others += not is_cjk
    return cjk + words + others // 4


def test_the_token_estimate_is_its_definition() -> None:
    for text in hostile_texts(4000):
        expected = plain_estimate(text)
        assert estimate_tokens(text) == expected, repr(text)
        for limit in {0, expected // 2, max(expected - 1, 0), expected, expected + 1, expected + 9}:
            assert exceeds_tokens(text, limit) is (expected > limit), (text, limit)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("one two three", 3),
        (" ".join(["word"] * 200), 200),
        ("用户说：你好。", 7),
        ("你好 world", 3),
        ("a, b, c", 3),
        ("....", 1),
        ("...", 0),
        (" " * 400, 100),
        ("x" * LONGEST_WORD, 1),
        ("x" * (LONGEST_WORD + 1), 2),
        ("x" * 1_000_000, 31250),
        ("Füße über Bäume", 3),
        ("быстрая лиса", 2),
        ("😀😀😀😀", 1),
        ("𠀀𠀀", 2),
    ],
)
def test_the_token_estimate_by_example(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("straße", "STRASSE"),
        ("ẞ", "ss"),
        ("ΟΔΟΣ", "οδος"),
        ("ΟΔΟΣ", "οδοσ"),
        ("İstanbul", "istanbul"),
        ("İSTANBUL", "i\u0307stanbul"),
        ("ISPARTA", "ısparta"),
        ("ПРИВЕТ", "привет"),
        ("ﬃ", "FFI"),
        ("Ａ", "ａ"),
        ("Ꭰ", "ꭰ"),
    ],
)
def test_case_is_ignored_in_every_script(one: str, other: str) -> None:
    for text, wanted in ((one, other), (other, one)):
        for kind, key in (("contains_any", "keywords"), ("starts_with", "prefix"), ("ends_with", "suffix")):
            value = [wanted] if key == "keywords" else wanted
            rule = {"id": "rule", "kind": kind, key: value, "ignore_case": True}
            assert compile_rules([rule]).check(text) == (), (kind, text, wanted)
            assert compile_rules([rule | {"ignore_case": False}]).check(text) != () or wanted in text


@pytest.mark.slow
def test_no_character_folds_into_one_that_is_said_to_have_no_case() -> None:
    caseless = set()
    folded_into: set[str] = set()
    for code in range(sys.maxunicode + 1):
        char = chr(code)
        if has_no_case(char):
            caseless.add(char)
            assert fold(char) == char
        elif fold(char) != char:
            folded_into.update(fold(char))
    assert not caseless & folded_into
    assert {"中", "か", "한", "1", "。"} - caseless == {"。"}  # punctuation is left in doubt, which costs only time
    assert not has_no_case("a")


TIKTOKEN_PLUGIN = """
def letters():
    ranks = {bytes([byte]): byte for byte in range(256)}
    ranks[b"ab"] = 256
    return {"name": "letters", "pat_str": r"\\S+|\\s+", "mergeable_ranks": ranks, "special_tokens": {"<|end|>": 257}}

def unreachable():
    raise OSError("no route to host")

ENCODING_CONSTRUCTORS = {"letters": letters, "unreachable": unreachable}
"""
COUNT = """
from agentscope_tuner.rules import compile_rules
rule = {"id": "exact", "kind": "max_tokens", "max_tokens": 3, "tokenizer": %r}
rules = compile_rules([rule])
print([bool(rules.check(text)) for text in ("ababab", "abababa", "abc", "<|end|>", "ab" * 1_000_000, "\\ud800")])
"""


def count_in_new_process(tmp_path: Path, tokenizer: str, before: str = "") -> str:
    plugin = tmp_path / "tiktoken_ext" / "plugin.py"
    plugin.parent.mkdir(exist_ok=True)
    plugin.write_text(TIKTOKEN_PLUGIN, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", before + COUNT % tokenizer],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    return (done.stdout + done.stderr).strip().splitlines()[-1]


def test_a_tokenizer_counts_exactly(tmp_path: Path) -> None:
    assert count_in_new_process(tmp_path, "letters") == "[False, True, False, True, True, False]"


@pytest.mark.parametrize(
    ("tokenizer", "before", "message"),
    [
        ("letterz", "", "tokenizer cannot be used: tokenizer must be one of tiktoken's encodings"),
        ("unreachable", "", "could not load its vocabulary (OSError: no route to host)"),
        ("letters", "import sys; sys.modules['tiktoken'] = None", "pip install '.[tokenizer]'"),
    ],
)
def test_a_tokenizer_that_cannot_be_had_is_a_config_error(
    tmp_path: Path, tokenizer: str, before: str, message: str
) -> None:
    last = count_in_new_process(tmp_path, tokenizer, before)
    assert last.startswith("- rules[0] ('exact'): tokenizer cannot be used: ")
    assert message in last
