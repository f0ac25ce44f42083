"""Outputs a second through eight rules, beside a reference that loops and compiles nothing ahead.

Both sides see the same texts in the same run, must reach the same verdicts, and take turns; a rate is the best of five
turns, the ratio that of the two rates.
"""

from __future__ import annotations

import os
import platform
import random
import time
from collections.abc import Callable
from typing import Any

from agentscope_tuner.rules import compile_rules
from benchmarks.bars import at_least
from benchmarks.rules import reference

SENTENCES = {
    "English": "the total of 42 apples is shared by six people because every basket holds seven and nobody eats one "
    "before noon therefore each person gets exactly seven apples which is what the question asked us to find",
    "German": "die Summe von 42 Äpfeln wird auf sechs Menschen verteilt weil jeder Korb sieben fasst und niemand "
    "vorher einen ißt daher erhält schließlich jeder genau sieben Äpfel wie für die Übung gefragt war",
    "Russian": "сумма из 42 яблок делится на шесть человек потому что каждая корзина вмещает семь и никто не ест "
    "раньше поэтому каждый получает ровно семь яблок о чём и спрашивалось в задаче",
    "Chinese": "一共 有 四十二 个 苹果 分给 六个人 因为 每个 篮子 装 七个 而且 没有人 提前 吃掉 所以 "
    "每人 正好 得到 七个 苹果 这 就是 题目 要求 的 答案 step 3",
}
WORDS = {language: sentence.split() for language, sentence in SENTENCES.items()}
JOINED = {"Chinese": ("", "，", "。")}
RULES: list[dict[str, Any]] = [
    {"id": "tokens", "kind": "max_tokens", "max_tokens": 400},
    {"id": "chars", "kind": "max_chars", "max_chars": 4000},
    {"id": "filled", "kind": "non_empty"},
    {"id": "label", "kind": "allowed_values", "allowed_values": ["yes", "no"], "not": True},
    {"id": "refusal", "kind": "contains_any", "keywords": ["As an AI", "I cannot"], "ignore_case": True, "not": True},
    {"id": "no_json", "kind": "regex_match", "pattern": "^[^{]*$"},
    {"id": "summary", "kind": "starts_with", "prefix": "Summary:", "ignore_case": True},
    {"id": "period", "kind": "ends_with", "suffix": "."},
]
TEXTS = 32


def prose(language: str, length: int, choose: random.Random) -> str:
    """`length` characters of words in sentences."""
    blank, comma, stop = JOINED.get(language, (" ", ", ", ". "))
    parts: list[str] = []
    size = 0
    while size < length:
        part = choose.choice(WORDS[language]) + choose.choice([blank] * 8 + [comma, stop])
        parts.append(part)
        size += len(part)
    return "".join(parts)[:length]


def rate(check: Callable[[str], object], texts: list[str], seconds: float) -> float:
    """Outputs a second, over at least `seconds`."""
    done, started = 0, time.perf_counter()
    while (elapsed := time.perf_counter() - started) < seconds:
        for text in texts:
            check(text)
        done += len(texts)
    return done / elapsed


def side_by_side(rules: list[dict[str, Any]], texts: list[str], seconds: float) -> tuple[float, float]:
    """The best rates of the engine and of the reference, turn by turn."""
    compiled = compile_rules(rules)
    for text in texts:
        ours = [violation.rule_id for violation in compiled.check(text)]
        assert ours == reference.check(rules, text), (ours, text)
    turns = [
        (rate(compiled.check, texts, seconds), rate(lambda text: reference.check(rules, text), texts, seconds))
        for _ in range(5)
    ]
    return max(ours for ours, _ in turns), max(theirs for _, theirs in turns)


def main() -> None:
    """Print a line a language and length, then a line a kind."""
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores, one process; outputs a second")
    print(f"{'8 rules':<28}{'engine':>12}{'reference':>12}{'ratio':>8}")
    choose, ratios = random.Random(1), []
    for length in (1_000, 20_000):
        for language in WORDS:
            texts = [prose(language, length, choose) for _ in range(TEXTS)]
            ours, theirs = side_by_side(RULES, texts, 0.2)
            print(f"{language + f', {length:,} characters':<28}{ours:>12,.0f}{theirs:>12,.0f}{ours / theirs:>7.1f}x")
            ratios.append(ours / theirs)
    at_least("eight rules, beside a reference, the least of eight kinds of text", min(ratios), 20)
    print(f"\n{'one rule, 1,000 English':<28}{'engine':>12}{'reference':>12}{'ratio':>8}")
    texts = [prose("English", 1_000, choose) for _ in range(TEXTS)]
    for rule in RULES:
        ours, theirs = side_by_side([rule], texts, 0.05)
        print(f"{rule['kind']:<28}{ours:>12,.0f}{theirs:>12,.0f}{ours / theirs:>7.1f}x")


if __name__ == "__main__":
    main()
