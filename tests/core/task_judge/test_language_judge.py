"""LanguageJudge: words counted by hand in several scripts, and answers that have none to count."""

from __future__ import annotations

from typing import Any

import pytest

from agentscope_tuner import ConfigError, Task
from agentscope_tuner.verify.text import language_share
from tests.text_judges import ask, ask_hostile, built


@pytest.mark.parametrize(
    ("text", "language", "ours", "total"),
    [
        ("The answer is four.", "en", 4, 4),
        ("L'été est là", "fr", 3, 3),
        ("答案是四。", "zh", 4, 4),
        ("The 答案 is four", "zh", 2, 5),
        ("The 答案 is four", "en", 3, 5),
        # names in formulas are no words, nor are digits
        ("设 x = 3, 则 y = 4", "zh", 2, 2),
        ("用 Python 写代码", "zh", 4, 5),
        # kana make it Japanese, Han alone is Chinese
        ("答えは四です", "ja", 6, 6),
        ("答えは四です", "zh", 2, 6),
        ("答案是四", "ja", 0, 4),
        ("정답은 4입니다", "ko", 2, 2),
        ("Ответ четыре", "ru", 2, 2),
        # a Cyrillic letter in a Latin word, which looks the same
        ("the \u0430nswer", "en", 1, 2),
        ("उत्तर चार है", "hi", 3, 3),
        ("الجواب أربعة", "ar", 2, 2),
        ("ans\u200bwer", "en", 1, 1),
        # code, formulas, links and tags are no language
        ("答案\n```python\nprint('hello world')\n```\n是", "zh", 3, 3),
        ("答案\n```python\nprint('hello world')\n", "zh", 2, 2),
        ("用 `print(hello)` 打印", "zh", 3, 3),
        (r"所以 $\frac{abc}{def}$ 和 $$sin cos$$ 和 \(abc def\) 和 \[ abc \\[2pt] def \]", "zh", 5, 5),
        (r"\begin{align} abc &= def \\ ghi &= jkl \end{align} 得", "zh", 1, 1),
        ("见 https://example.com/some/page 吧", "zh", 2, 2),
        ("<think>想</think><answer>四</answer>", "zh", 2, 2),
        (r"\boxed{42}", "en", 0, 0),
        ("", "en", 0, 0),
        # a dollar sign that opens nothing
        ("It costs $5 today", "en", 3, 3),
    ],
)
def test_words_by_hand(text: str, language: str, ours: int, total: int) -> None:
    assert language_share(text, language) == (ours / total if total else 0.0, ours, total)


WRITTEN = {
    "latin": """cs čeština|da dansk|de Straße|en water|es español|fi hyvää|fr français|hu magyar|id bahasa
        |it perché|ms bahasa|nl Nederlands|no språk|pl źródło|pt português|ro română|sv svenska|sw kiswahili|tr Türkçe
        |vi tiếng""",
    "cyrillic": "be беларуская|bg български|kk қазақ|ru русский|uk українська",
    "arabic": "ar العربية|fa فارسی|ur اردو",
    "devanagari": "hi हिन्दी|mr मराठी|ne नेपाली",
    "others": """hy հայերեն|bn বাংলা|ka ქართული|el ελληνικά|gu ગુજરાતી|pa ਪੰਜਾਬੀ|zh 中文|ko 한국어|he עברית
        |kn ಕನ್ನಡ|km ខ្មែរ|lo ລາວ|ml മലയാളം|my မြန်မာ|si සිංහල|ta தமிழ்|te తెలుగు|th ไทย|ja ことば""",
}  # fmt: skip


@pytest.mark.parametrize("script", WRITTEN)
def test_each_language_is_known_by_its_script(script: str) -> None:
    rows = [row.split() for row in WRITTEN[script].split("|")]
    for language, text in rows:
        assert language_share(text, language).share == 1.0, language
        foreign = "русский" if script == "latin" else "water"
        assert language_share(foreign, language).share == 0.0, language
        # beside others of the same script no language is told from another
        alike = [other for other, _ in rows if language_share(text, other).share == 1.0]
        assert alike == ([language] if script == "others" else [other for other, _ in rows])


@pytest.mark.parametrize(
    ("kwargs", "text", "reward", "success"),
    [
        ({"language": "zh"}, "答案是四", 1.0, True),
        ({"language": "zh-CN"}, "答案是四", 1.0, True),
        ({"language": "zh"}, "The answer is four", 0.0, False),
        ({"language": "zh"}, "答案 is 四", 0.75, False),
        ({"language": "zh", "least": 0.7}, "答案 is 四", 0.75, True),
        # nothing but code or signs has no language
        ({"language": "en"}, "```\nAll of this is hidden.\n```", 0.0, False),
        ({"language": "en"}, "42", 0.0, False),
        ({"language": "zh"}, "<think>Let me think</think>四", 0.25, False),
        ({"language": "zh", "part": "answer"}, "<think>Let me think</think>四", 1.0, True),
    ],
)
def test_the_reward_is_the_share(kwargs: dict[str, Any], text: str, reward: float, success: bool) -> None:
    judgement = ask(built("language", **kwargs), text)
    assert (judgement.reward, judgement.is_success) == (reward, success)


def test_a_task_names_its_own_language() -> None:
    judge = built("language", language="task.metadata.language")
    assert ask(judge, "答案是四", language="zh").reward == 1.0
    assert ask(judge, "答案是四", language="en_US").reward == 0.0
    for broken in ({}, {"language": None}, {"language": 3}, {"language": "Klingon"}, {"language": float("nan")}):
        failed = ask(judge, "答案是四", **broken)
        assert (failed.status, failed.cause) == ("failed", "reference")
    assert judge.inner.check_task(Task(metadata={"language": "zh"})) is None
    assert str(judge.inner.check_task(Task())).startswith("missing: ")
    assert str(judge.inner.check_task(Task(metadata={"language": "xx"}))).startswith("unreadable: ")


@pytest.mark.parametrize(
    "text",
    [
        "$" * 10**6,
        "`" * 10**6,
        "`" * 10**6 + "x`",
        r"\(" * 500_000,
        r"\[" * 100_000,
        r"\begin{align}" * 77_000,
        "```\n" * 250_000,
        "a" * 10**6,
        "".join(map("{:x} ".format, range(150_000))),
        "字" * 10**6,
        "https://" * 25_000,
        "<a" * 500_000,
    ],
    ids=lambda text: f"{text[:8]}…",
)
@pytest.mark.slow
def test_a_hostile_megabyte_is_read_once(text: str) -> None:
    ask_hostile(built("language", language="ja"), text)


@pytest.mark.parametrize(
    ("kwargs", "way_out"),
    [
        ({}, "language is missing"),
        ({"language": "Chinese"}, "one of"),
        ({"language": "task.metdata.x"}, "did you mean 'metadata'"),
        ({"language": "zh", "least": 0.0}, "least"),
        ({"language": "zh", "least": 2}, "least"),
        ({"languge": "zh"}, "did you mean 'language'"),
    ],
)
def test_impossible_settings_are_refused_at_load(kwargs: dict[str, Any], way_out: str) -> None:
    with pytest.raises(ConfigError, match="judge_kwargs") as caught:
        built("language", **kwargs)
    assert way_out in str(caught.value)
