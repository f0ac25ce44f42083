"""ChoiceJudge: the letter however it is said, and never two of them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from agentscope_tuner import ConfigError, Task
from agentscope_tuner.task_judge.choice_judge import read_choice
from agentscope_tuner.verify.labels import CONTRADICTION
from agentscope_tuner.verify.text import OPEN, LetterReader
from tests.text_judges import MISSING, ask, ask_hostile, built

CITIES = {"A": "London", "B": "Paris", "C": "Rome", "D": "New York"}


@pytest.mark.parametrize(
    "text",
    [
        "B",
        "b",
        "(B)",
        "(b)",
        "[B]",
        "B.",
        "B)",
        "**B**",
        "**(B)**",
        "`B`",
        "$B$",
        "$\\mathbf{B}$",
        "\\textbf{(B)}",
        "The answer is $\\mathrm{B}$.",
        "「B」",
        '"B"',
        "Ｂ",
        "（B）",
        "B. Paris",
        "B) Paris",
        "(B) Paris",
        "B: Paris",
        "B - Paris",
        "B Paris",
        "**B. Paris**",
        "Paris",
        "paris.",
        "Option B",
        "option b.",
        "Answer: B",
        "Answer: b",
        "Answer: (B)",
        "**Answer:** B",
        "**Answer: B**",
        "Answer: B. Paris",
        "Final answer: B",
        "### Final Answer\n\nThe answer is B.",
        "The answer is B",
        "The answer is (B).",
        "The answer is **B**.",
        "The answer is option B.",
        "The answer is B: Paris",
        "The answer is B because the Louvre is there.",
        "The correct answer is B, Paris.",
        "The correct option is B.",
        "The best choice is (B)",
        "The answer to the question is B.",
        "The answer should be B.",
        "The answer is most likely B.",
        "I choose B.",
        "I would choose option B.",
        "I'll go with B",
        "So we pick (B).",
        "Therefore B is correct.",
        "B is the correct answer.",
        "Option B is right.",
        "(B) is the best answer.",
        "A is wrong, C is wrong, so the answer is B.",
        "The answer is not A, it is B.",
        "The answer is B, not C.",
        "Hence option B.",
        "I think it's B.",
        "Choose B",
        "I'd say B",
        "本题选B",
        "综上，答案选择B。",
        "选项A错误，选项B正确。",
        "London is not in France. The answer is B.",
        r"\boxed{B}",
        r"So the answer is $\boxed{B}$.",
        r"\boxed{\text{B}}",
        r"\boxed{\text{(B) Paris}}",
        r"\boxed{B. Paris}",
        r"\boxed{\textbf{B}}",
        r"\boxed{Paris}",
        "<answer>B</answer>",
        "<think>A? No.</think><answer>(B)</answer>",
        "<think>The answer is A.</think>The answer is B.",
        "选B",
        "选 B。",
        "故选B",
        "故选：B。",
        "答案是B",
        "答案：B",
        "答案为（B）",
        "所以答案选B。",
        "因此，正确选项是B。",
        "B选项正确",
        "应选B",
        "【答案】B",
        "Let me see.\nThe Louvre is in Paris.\n\nB",
        "Let me see.\nThe Louvre is in Paris.\n\n(B) Paris",
        # corrected: a sentence stands between
        "The answer is A. No, the Louvre is not in London, I was wrong. The answer is B.",
        r"\boxed{A} is my guess, but the Louvre is elsewhere. So it is \boxed{B}.",
    ],
)
def test_the_letter_however_it_is_said(text: str) -> None:
    found = read_choice(text, "ABCD", CITIES)
    assert (found.letters, found.problem) == ("B", "")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I do not know.",
        "E",
        "A or B",
        "A/B",
        "B or C",
        "B or maybe C",
        "B, maybe C",
        "The answer is A or B.",
        "The answer is B or C.",
        "The answer is B/C.",
        "The answer is (B) or (C).",
        "The answer is either B or C.",
        "The answer is B. Or C.",
        "The answer is B, but could be C.",
        "The answer is A. The answer is B.",
        "Answer: A\nAnswer: B",
        "Answer: A. Alternatively, the answer is B.",
        r"\boxed{A} \boxed{B}",
        r"\boxed{A}, \boxed{B}",
        r"$\boxed{A}$ or $\boxed{B}$",
        r"\boxed{A or B}",
        r"\boxed{A/B}",
        r"\boxed{A, B}",
        "<answer>A</answer><answer>B</answer>",
        "<answer>A or B</answer>",
        "选A或B",
        "选A或者B",
        "答案是A或B",
        "答案是A。答案是B。",
        "All of A, B, C, D.",
        "A B C D",
        "ABCD",
        "A, B",
        "A and B",
        "A. London\nB. Paris",
        "A. London\nB. Paris\nC. Rome\nD. New York",
        # a letter with the text of another option
        "B. London",
        "The answer is B. London",
        r"\boxed{B. London}",
        "(B) Rome",
        # not said, or denied
        "The answer is B (or C)",
        "Answer: B C",
        "Answer: (B)(C)",
        "Answer: B and/or C",
        "The answer is B~C",
        "A or B is correct.",
        "Both A and B are correct.",
        "(A) or (B) is the best answer.",
        "选B还是C",
        "The answer is B. Actually C.",
        "The answer is B unless it is C",
        "The answer is B... or is it C?",
        "不选B",
        "选项B错误",
        "答案是C。选项B错误。",
        "The answer is not B.",
        "The answer isn't B.",
        "I don't think the answer is B.",
        "答案不是B",
        "B is not correct.",
        "B is incorrect.",
        "Is the answer B?",
        "If the answer is B, Paris is in France.",
        "The answer is B. Wait, the answer is not B.",
        "<think>The answer is B.</think>",
        "<think>The answer is B.",
        # words that begin like a letter
        "The answer is bad.",
        "Better not to answer.",
        "The answer is a big city.",
        "The answer is A big city.",
        "Paris or London",
        "B-2",
        "B2",
        "Because",
        # the sentence behind a letter was taken for its option's text
        "The answer is B. No wait, the answer is A.",
        "The answer is B. No, the answer is A.",
        "B. Then again, the answer is A.",
        "B. A",
    ],
)
def test_what_does_not_choose_the_letter_is_not_paid(text: str) -> None:
    assert read_choice(text, "ABCD", CITIES).letters != "B"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("I do not know.", "no choice is stated"),
        ("", "no choice is stated"),
        ("\\boxed{Lyon}", "'Lyon' is no option"),
        ("The answer is A. The answer is C.", CONTRADICTION),
    ],
)
def test_why_there_is_no_choice_is_said(text: str, reason: str) -> None:
    found = read_choice(text, "ABCD", CITIES)
    assert (found.letters, found.problem) == ("", reason)


@pytest.mark.parametrize(
    ("text", "letters"),
    [
        ("The answer is A.", "A"),
        ("The answer is A because it is in England.", "A"),
        ("A is correct.", "A"),
        ("A", "A"),
        ("Answer: a", "A"),
        ("A big city is not always a capital. The answer is C.", "C"),
        ("AC", "AC"),
        ("The answers are A and C.", "AC"),
        ("Answer: A, C", "AC"),
        ("答案：AC", "AC"),
        ("选A、C", "AC"),
        ("故选：ACD", "ACD"),
        (r"\boxed{A, C}", "AC"),
        (r"\boxed{\text{A and C}}", "AC"),
        ("C and A", "AC"),
        ("A and C are correct.", "AC"),
        ("A, B and D are right.", "ABD"),
        ("不选A，选C", "C"),
        ("B. Vitamin A", "B"),
        ("I think D. New York", ""),
    ],
)
def test_letters_without_known_texts(text: str, letters: str) -> None:
    assert read_choice(text, "ABCD").letters == letters


@pytest.mark.parametrize(
    ("answer", "metadata", "text", "reward"),
    [
        ("B", {}, "The answer is B.", 1.0),
        ("B", {}, "The answer is C.", 0.0),
        ("b", {}, "B", 1.0),
        ("(B)", {}, "B", 1.0),
        ("B.", {}, "B", 1.0),
        (["B"], {}, "B", 1.0),
        ("AC", {}, "A and C", 1.0),
        ("A, C", {}, "AC", 1.0),
        (["C", "A"], {}, "AC", 1.0),
        ("AC", {}, "A", 0.0),
        ("AC", {}, "A, B and C", 0.0),
        ("A", {}, "AC", 0.0),
        ("AC", {}, "A or C", 0.0),
        ("Paris", {"options": ["London", "Paris"]}, "B", 1.0),
        ("B", {"options": ["London", "Paris"]}, "Paris", 1.0),
        ("B", {"options": ["London", "Paris"]}, "C", 0.0),
        ("B", {"options": {"A": 41, "B": 42}}, "42", 1.0),
        ("D", {"options": {"label": ["C", "D"], "text": ["x", "y"]}}, "The answer is D", 1.0),
        ("J", {"options": list(map(str, range(10)))}, "The answer is J.", 1.0),
    ],
)
def test_the_verdict_is_on_exactly_the_letters(answer: Any, metadata: dict[str, Any], text: str, reward: float) -> None:
    judgement = ask(built("choice"), text, answer, **metadata)
    assert (judgement.reward, judgement.is_success) == (reward, reward == 1.0)


@pytest.mark.parametrize(
    ("answer", "metadata", "kind"),
    [
        (MISSING, {}, "missing"),
        (None, {}, "missing"),
        ("", {}, "missing"),
        (float("nan"), {}, "wrong type"),
        (1, {}, "wrong type"),
        (True, {}, "wrong type"),
        ({"B": 1}, {}, "wrong type"),
        ([], {}, "unreadable"),
        (["A", 1], {}, "unreadable"),
        ("Z", {}, "unreadable"),
        ("A or B", {}, "unreadable"),
        ("Paris", {}, "unreadable"),
        ("1", {}, "unreadable"),
        ("B", {"options": "London"}, "unreadable"),
        ("B", {"options": ["London"]}, "unreadable"),
        ("C", {"options": ["London", "Paris"]}, "unreadable"),
        ("B", {"options": {"A": "x", "second": "y"}}, "unreadable"),
    ],
)
def test_a_reference_that_is_none_is_no_verdict(answer: Any, metadata: dict[str, Any], kind: str) -> None:
    judge = built("choice")
    failed = ask(judge, "B", answer, **metadata)
    assert (failed.status, failed.reward, failed.cause) == ("failed", None, "reference")
    task = Task(metadata=metadata if answer is MISSING else {"answer": answer, **metadata})
    assert str(judge.inner.check_task(task)).startswith(f"{kind}: ")


@pytest.mark.parametrize(
    ("first", "answer", "letters"),
    [
        (0, 0, "A"),
        (0, 3, "D"),
        (1, 1, "A"),
        (1, 4, "D"),
        (0, "2", "C"),
        (0, 2.0, "C"),
        (0, np.int64(2), "C"),
        (1, [1, 3], "AC"),
        # letters stay what they are
        (0, "B", "B"),
        (1, "Rome", "C"),
    ],
)
def test_a_number_is_the_options_place_where_the_first_number_is_told(first: int, answer: Any, letters: str) -> None:
    judge = built("choice", count_from=first)
    for text in (letters, " and ".join(letters)):
        assert ask(judge, text, answer, options=list(CITIES.values())).reward == 1.0
    assert ask(judge, "B" if letters != "B" else "C", answer, options=list(CITIES.values())).reward == 0.0


@pytest.mark.parametrize(
    ("first", "answer", "words"),
    [
        (None, 2, "write count_from: 0 or count_from: 1"),
        (None, "2", "write the right option's letter, or set judge_kwargs: {count_from: 0}, or 1"),
        (0, 4, "none of 4 options counted from 0"),
        (1, 0, "none of 4 options counted from 1"),
        (1, -1, "none of 4 options counted from 1"),
        (0, 1.5, "must be a letter"),
        (0, True, "must be a letter"),
        (0, math.nan, "must be a letter"),
        (0, math.inf, "must be a letter"),
    ],
)
def test_a_number_that_is_no_options_place_is_no_verdict(first: int | None, answer: Any, words: str) -> None:
    judge = built("choice", **({} if first is None else {"count_from": first}))
    failed = ask(judge, "C", answer, options=list(CITIES.values()))
    assert (failed.status, failed.cause) == ("failed", "reference")
    assert words in str(failed.error)


@pytest.mark.parametrize(
    "text",
    [
        "B " * 500_000,
        "The answer is B. " * 60_000,
        "(" * 10**6,
        "answer to " * 100_000,
        r"\boxed{" * 140_000,
        "选" * 10**6,
        "A or " * 200_000,
        "<answer>" * 125_000,
        "\n" * 10**6,
        "**" * 500_000,
        "answer is the option " * 50_000,
    ],
    ids=lambda text: f"{text[:8]}…",
)
@pytest.mark.slow
def test_a_hostile_megabyte_is_read_in_time(text: str) -> None:
    ask_hostile(built("choice"), text, "B", options=list(CITIES.values()))


@pytest.mark.parametrize(
    "kwargs",
    [
        {"letters": "abcd"},
        {"letters": "A"},
        {"letters": 4},
        {"options": 1},
        {"option": "x"},
        {"count_from": 2},
    ],
)
def test_impossible_settings_are_refused_at_load(kwargs: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="judge_kwargs"):
        built("choice", **kwargs)


# options whose texts are letters themselves: languages, blood types, variables, grades, elements
LANGUAGES = {"A": "Python", "B": "C", "C": "Java", "D": "D"}
BLOOD = {"A": "O", "B": "A", "C": "B", "D": "AB"}
VARIABLES = {"A": "c", "B": "a", "C": "b", "D": "d"}


@pytest.mark.parametrize(
    ("text", "options", "letters"),
    [
        # a bare letter is the letter: it was read as the option whose text it is, and paid
        ("C", LANGUAGES, "C"),
        ("C.", LANGUAGES, "C"),
        ("(C)", LANGUAGES, "C"),
        ("**C**", LANGUAGES, "C"),
        (r"\boxed{C}", LANGUAGES, "C"),
        ("<answer>C</answer>", LANGUAGES, "C"),
        ("Let me see.\n\nC", LANGUAGES, "C"),
        ("The answer is C", LANGUAGES, "C"),
        ("B", LANGUAGES, "B"),
        ("D", LANGUAGES, "D"),
        ("A", BLOOD, "A"),
        ("B", BLOOD, "B"),
        (r"\boxed{B}", BLOOD, "B"),
        # a letter and its option's text
        ("B) C", LANGUAGES, "B"),
        ("(B) C", LANGUAGES, "B"),
        ("B. C", LANGUAGES, "B"),
        ("B - C", LANGUAGES, "B"),
        ("The answer is B) C.", LANGUAGES, "B"),
        ("The answer is (B) C.", LANGUAGES, "B"),
        ("Answer: B. C", LANGUAGES, "B"),
        ("C) B", BLOOD, "C"),
        ("D) AB", BLOOD, "D"),
        # two letters that are one option's text
        ("AB", BLOOD, "D"),
        (r"\boxed{AB}", BLOOD, "D"),
        ("AB", CITIES, "AB"),
        # other texts as before
        ("Python", LANGUAGES, "A"),
        ("O", BLOOD, "A"),
        # nobody knows
        ("c", VARIABLES, ""),
        ("a.", VARIABLES, ""),
        (r"\boxed{b}", VARIABLES, ""),
        ("d", VARIABLES, "D"),
        ("C", VARIABLES, "C"),
        ("C) C", LANGUAGES, ""),
        ("B C", LANGUAGES, ""),
        ("B or C", LANGUAGES, ""),
        ("The answer is B or C.", LANGUAGES, ""),
        ("The answer is B) D.", LANGUAGES, ""),
        ("A) B", BLOOD, ""),
    ],
)
def test_a_letter_is_not_the_option_whose_text_it_is(text: str, options: dict[str, str], letters: str) -> None:
    assert read_choice(text, "ABCD", options).letters == letters


@pytest.mark.parametrize(
    ("answer", "options", "right", "wrong"),
    [
        ("C", LANGUAGES, "C", "B"),
        ("B", BLOOD, "B", "C"),
        ("AB", BLOOD, "D", "A"),
        ("A, B", BLOOD, "A and B", "D"),
        ("AB", CITIES, "A and B", "A"),
    ],
)
def test_reference_and_answer_are_read_alike(answer: str, options: dict[str, str], right: str, wrong: str) -> None:
    for text, reward in ((right, 1.0), (answer, 1.0), (wrong, 0.0)):
        assert ask(built("choice"), text, answer, options=options).reward == reward, text


@pytest.mark.parametrize(
    ("text", "letters"),
    [
        ("A and B", ["A", "AB"]),
        ("B, A", ["B", "AB"]),
        ("B和A", ["B", "AB"]),
        ("A, then D", ["A", "D"]),
        # an `or` leaves open which, and so does what is joined to it
        *((text, ["A", OPEN]) for text in ("A or B", "A/B", "(A) or (B)", "A 或 B", "A or A")),
        ("A, B or C", ["A", "AB", OPEN]),
        ("A or B, C", ["A", OPEN, OPEN]),
        ("A or B. Then C", ["A", OPEN, "C"]),
        # letters of words, and of no option
        ("AB", []),
        ("E or F", []),
    ],
)
def test_letters_are_read_with_those_that_are_joined_to_them(text: str, letters: list[str]) -> None:
    assert [found.letters for found in LetterReader("ABCD").all(text)] == letters
