"""InstructionJudge: every instruction of IFEval with a response that follows it and one that nearly does."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agentscope_tuner import ConfigError, Task
from agentscope_tuner.task_judge.instruction_judge import (
    INSTRUCTIONS,
    count_sentences,
    count_words,
    follows,
    instruction_problem,
)
from tests.text_judges import ask, ask_hostile, built

AT_LEAST, LESS = "at least", "less than"
CASES: list[tuple[str, dict[str, Any], list[str], list[str]]] = [
    (
        "keywords:existence",
        {"keywords": ["rain", "Snow"]},
        ["Rain and snow.", "RAINy, snowy"],
        ["Only rain.", "", "r a i n and snow"],
    ),
    (
        "keywords:frequency",
        {"keyword": "rain", "frequency": 2, "relation": AT_LEAST},
        ["Rain, rain.", "rain rain rain"],
        ["Rain.", "r rain"],
    ),
    ("keywords:frequency", {"keyword": "rain", "frequency": 2, "relation": LESS}, ["Rain.", "Sun."], ["Rain, rain."]),
    (
        "keywords:forbidden_words",
        {"forbidden_words": ["cat", "c++"]},
        ["A concatenation.", "Dogs."],
        ["A Cat.", "I write C++.", "the cat's"],
    ),
    (
        "keywords:letter_frequency",
        {"letter": "e", "let_frequency": 3, "let_relation": AT_LEAST},
        ["Eve sees"],
        ["Eve", "none"],
    ),
    (
        "keywords:letter_frequency",
        {"letter": "!", "let_frequency": 1.0, "let_relation": LESS},
        ["Quiet."],
        ["Loud!"],
    ),
    (
        "language:response_language",
        {"language": "de"},
        ["Der Zug ist nicht mit dem Auto gekommen und das ist gut für die Stadt."],
        ["The train is not here and that is what you have.", "火车很快。", "42"],
    ),
    (
        "language:response_language",
        {"language": "zh"},
        ["火车很快。"],
        ["The train is fast.", "電車は速いですね、とても速いです。"],
    ),
    (
        "length_constraints:number_sentences",
        {"num_sentences": 3, "relation": AT_LEAST},
        ["One. Two! Three?", "一。二！三？", "One. Two. Three"],
        ["One. Two.", "! ! ! ! !", "Mr. Smith met Dr. Jones at 3.5 p.m. today.", "..."],
    ),
    (
        "length_constraints:number_sentences",
        {"num_sentences": 3, "relation": LESS},
        ["One. Two.", "Mr. Smith met Dr. J. R. Jones. He left."],
        ["One. Two. Three."],
    ),
    (
        "length_constraints:number_paragraphs",
        {"num_paragraphs": 2},
        ["One\n***\nTwo", "***\nOne\n***\nTwo\n***"],
        ["One\n\nTwo", "One\n***\n***\nTwo", "One\n***\nTwo\n***\nThree"],
    ),
    (
        "length_constraints:number_words",
        {"num_words": 4, "relation": AT_LEAST},
        ["one two three four", "一二三四", "it's a trap"],
        ["one two three", "- - - - -"],
    ),
    ("length_constraints:number_words", {"num_words": 4, "relation": LESS}, ["one two three"], ["one two three four"]),
    (
        "length_constraints:nth_paragraph_first_word",
        {"num_paragraphs": 2, "nth_paragraph": 2, "first_word": "Weather"},
        ["One.\n\nWeather, again.", 'One.\n\n"weather" it is'],
        ["One.\n\nThe weather.", "Weather.\n\nOne.", "One.\n\nWeather.\n\nThree.", "Weather."],
    ),
    (
        "detectable_content:number_placeholders",
        {"num_placeholders": 2},
        ["Dear [name], at [place].", "[a][b][c]"],
        ["Dear [name].", "[[", "[\n] [a]"],
    ),
    (
        "detectable_content:postscript",
        {"postscript_marker": "P.S."},
        ["Bye.\n\nP.S. More.", "p. s. more"],
        ["Bye.", "PS more"],
    ),
    ("detectable_content:postscript", {"postscript_marker": "P.P.S"}, ["Bye. P.P.S more"], ["Bye. P.S. more"]),
    (
        "detectable_format:number_bullet_lists",
        {"num_bullets": 2},
        ["* one\n* two", "- one\n- two", "Here:\n  * one\n  - two"],
        ["* one", "* one\n* two\n* three", "**one**\n**two**", "1. one\n2. two"],
    ),
    (
        "detectable_format:constrained_response",
        {},
        ["My answer is yes.", "Hm. My answer is maybe."],
        ["Yes.", "my answer is yes", "My answer is yes. My answer is no. My answer is maybe."],
    ),
    (
        "detectable_format:number_highlighted_sections",
        {"num_highlights": 2},
        ["*one* and *two*", "**one** and *two*", "*one*\n*two*"],
        ["*one*", "* * * *", "****", "*one\ntwo*"],
    ),
    (
        "detectable_format:multiple_sections",
        {"section_spliter": "Section", "num_sections": 2},
        ["Section 1\na\nSection 2\nb", "Section1 Section2"],
        ["Section 1\na", "SECTION 1 SECTION 2", "Section A Section B"],
    ),
    (
        "detectable_format:json_format",
        {},
        ['{"a": 1}', '```json\n{"a": 1}\n```', "```\n[1]\n```"],
        ["a: 1", '{"a": 1} done', '{"a": NaN}', '{"a": 1, "a": 2}'],
    ),
    ("detectable_format:title", {}, ["<<Rain>>\nIt rains.", "<<a>>"], ["# Rain", "<< >>", "<<>>", "<<Rain", "<Rain>"]),
    (
        "combination:two_responses",
        {},
        ["One.\n******\nTwo.", "******\nOne.\n******\nTwo.\n******"],
        ["One.", "One.\n******\nOne.", "One.\n******\n******\nTwo.", "a******b******c"],
    ),
    (
        "combination:repeat_prompt",
        {"prompt_to_repeat": "Write a poem."},
        ["Write a poem. Roses are red.", "  write A poem.\nRoses"],
        ["Roses are red.", "Sure! Write a poem."],
    ),
    (
        "startend:end_checker",
        {"end_phrase": "Any other questions?"},
        ["Yes. Any other questions?", '"Yes. any other questions?"\n'],
        ["Any other questions? No.", "Yes."],
    ),
    ("startend:quotation", {}, ['"Yes."', ' "a" \n'], ["Yes.", '"', '"Yes', "'Yes'"]),
    (
        "change_case:capital_word_frequency",
        {"capital_frequency": 2, "capital_relation": AT_LEAST},
        ["NASA and ESA", "I am HERE"],
        ["NASA alone", "Nasa and Esa"],
    ),
    ("change_case:capital_word_frequency", {"capital_frequency": 1, "capital_relation": LESS}, ["none"], ["ONE"]),
    (
        "change_case:english_capital",
        {},
        ["THIS IS THE ANSWER AND IT IS NOT FOR YOU."],
        ["This IS THE ANSWER.", "DAS IST NICHT DIE ANTWORT UND SIE IST NICHT FÜR DICH.", "123", "答案"],
    ),
    (
        "change_case:english_lowercase",
        {},
        ["this is the answer and it is not for you."],
        ["This is the answer.", "das ist nicht die antwort und sie ist nicht für dich.", "123"],
    ),
    ("punctuation:no_comma", {}, ["No comma. None."], ["One, two.", "一，二"]),
]


def test_every_instruction_of_the_paper_is_here() -> None:
    assert len(INSTRUCTIONS) == 25
    assert {case[0] for case in CASES} == set(INSTRUCTIONS)


@pytest.mark.parametrize(("instruction", "given", "good", "bad"), CASES)
def test_an_instruction_is_followed_or_not(
    instruction: str, given: dict[str, Any], good: list[str], bad: list[str]
) -> None:
    assert instruction_problem(instruction, given) is None
    for said in good:
        assert follows(said, instruction, given, loose=False), said
        assert follows(said, instruction, given, loose=True), said
    for said in [*bad, "", " \n"]:
        assert not follows(said, instruction, given, loose=False), said


def test_loose_forgives_an_opening_line_a_closing_line_and_asterisks() -> None:
    instruction, given = "length_constraints:number_words", {"num_words": 4, "relation": LESS}
    for said in (
        "Sure, here you are:\none two",
        "one two\nHope that helps you today!",
        "Sure, here:\none\nHope this helps!",
    ):
        assert not follows(said, instruction, given, loose=False)
        assert follows(said, instruction, given, loose=True)
    end = {"end_phrase": "the end"}
    assert not follows("**The end**", "startend:end_checker", end, loose=False)
    assert follows("**The end**", "startend:end_checker", end, loose=True)
    assert not follows("one two three four five", instruction, given, loose=True)


@pytest.mark.parametrize(
    ("text", "sentences", "words"),
    [
        ("", 0, 0),
        ("One", 1, 1),
        ("One.", 1, 1),
        ("Dr. Smith came. He left at 3.15 p.m. on Monday.", 2, 12),
        ("Wait... what? Yes!", 2, 3),
        ("1. First.\n2. Second.", 2, 4),
        ('He said "no." Then he left.', 2, 6),
        ("今天很好。明天也很好！", 2, 9),
        ("e.g. this", 1, 3),
    ],
)
def test_sentences_and_words_by_hand(text: str, sentences: int, words: int) -> None:
    assert (count_sentences(text), count_words(text)) == (sentences, words)


IDS = ["punctuation:no_comma", "length_constraints:number_words", "detectable_format:title"]
# a column of the data set holds every argument, most of them empty
KWARGS = [{"num_words": None}, {"num_words": 3.0, "relation": AT_LEAST, "keywords": None}, None]


@pytest.mark.parametrize(
    ("kwargs", "text", "reward", "success"),
    [
        ({}, "<<Rain>> one two three", 1.0, True),
        ({}, "<<Rain>> one", 0.0, False),
        ({"reward": "fraction"}, "<<Rain>> one", 2 / 3, False),
        ({"reward": "fraction"}, "", 0.0, False),
        ({"reward": "fraction"}, "one, two, three", 1 / 3, False),
        ({}, "<think>one, two</think><<Rain>> one two three", 1.0, True),
        ({}, "<think><<Rain>></think> one two three", 0.0, False),
        ({}, "Sure, here:\n<<Rain>> one two three", 0.0, False),
        ({"mode": "loose"}, "Sure, here:\n<<Rain>> one two three", 1.0, True),
    ],
)
def test_several_instructions(kwargs: dict[str, Any], text: str, reward: float, success: bool) -> None:
    judge = built("instruction", **kwargs)
    for given in (KWARGS, [json.dumps(one) for one in KWARGS]):
        judgement = ask(judge, text, instruction_id_list=IDS, kwargs=given)
        assert judgement.reward == pytest.approx(reward)
        assert judgement.is_success is success


@pytest.mark.parametrize(
    ("metadata", "kind"),
    [
        ({}, "missing"),
        ({"instruction_id_list": [], "kwargs": []}, "missing"),
        ({"instruction_id_list": float("nan"), "kwargs": []}, "unreadable"),
        ({"instruction_id_list": IDS}, "unreadable"),
        ({"instruction_id_list": IDS, "kwargs": [{}]}, "unreadable"),
        ({"instruction_id_list": IDS[:1], "kwargs": ["{"]}, "unreadable"),
        ({"instruction_id_list": IDS[:1], "kwargs": [3]}, "unreadable"),
        ({"instruction_id_list": ["punctuation:no_coma"], "kwargs": [{}]}, "unreadable"),
        ({"instruction_id_list": [3], "kwargs": [{}]}, "unreadable"),
        ({"instruction_id_list": IDS[1:2], "kwargs": [{}]}, "unreadable"),
        ({"instruction_id_list": IDS[1:2], "kwargs": [{"num_words": 3, "relation": "more than"}]}, "unreadable"),
        ({"instruction_id_list": IDS[1:2], "kwargs": [{"num_words": True, "relation": LESS}]}, "unreadable"),
        ({"instruction_id_list": IDS[1:2], "kwargs": [{"num_words": float("nan"), "relation": LESS}]}, "unreadable"),
        ({"instruction_id_list": IDS[1:2], "kwargs": [{"num_words": "3", "relation": LESS}]}, "unreadable"),
        ({"instruction_id_list": ["language:response_language"], "kwargs": [{"language": "xx"}]}, "unreadable"),
        ({"instruction_id_list": ["keywords:existence"], "kwargs": [{"keywords": [""]}]}, "unreadable"),
    ],
)
def test_instructions_that_cannot_be_checked_are_no_verdict(metadata: dict[str, Any], kind: str) -> None:
    judge = built("instruction")
    failed = ask(judge, "one two three", **metadata)
    assert (failed.status, failed.reward, failed.cause) == ("failed", None, "reference")
    assert str(judge.inner.check_task(Task(metadata=metadata))).startswith(f"{kind}: ")


@pytest.mark.parametrize("unit", ["*", "[", "<<", "\n", ". ", "-", "* \n", "******", "a", "[a", "字", "```", "a. "])
@pytest.mark.slow
def test_hostile_texts_are_read_in_time(unit: str) -> None:
    """A hundred thousand characters in eight forms against every instruction; a megabyte is refused."""
    judge = built("instruction", mode="loose", reward="fraction")
    cases = CASES[:32]
    metadata = {"instruction_id_list": [case[0] for case in cases], "kwargs": [case[1] for case in cases]}
    half = 50_000 // len(unit)
    ask_hostile(judge, unit * half + "\n" + unit * half, **metadata)
    assert ask_hostile(judge, unit * (10**6 // len(unit)), **metadata).reward == 0.0


@pytest.mark.parametrize("kwargs", [{"mode": "lose"}, {"reward": "some"}, {"strict": True}])
def test_impossible_settings_are_refused_at_load(kwargs: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="judge_kwargs"):
        built("instruction", **kwargs)
