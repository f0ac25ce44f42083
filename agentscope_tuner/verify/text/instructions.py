"""The verifiable instructions of IFEval (arXiv 2311.07911): one check of a response for each of the paper's ids.

The packages with the paper's own checks (`lm-eval`, `if-verifiable`) download trained models of nltk. Their library for
languages answers differently from run to run, and their regular expressions are quadratic in hostile text. So the
checks are written anew here. Four of them accept other responses than the paper's: sentences are counted by rules;
languages are recognised by scripts and small words; a response must hold exactly one of the three constrained answers;
and a full-width comma is a comma.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agentscope_tuner.verify.text.language import LANGUAGES
from agentscope_tuner.verify.text.sentences import count_sentences, count_words
from agentscope_tuner.verify.text.spoken import is_in_language
from agentscope_tuner.verify.text.strict_json import NotStrictJsonError, read_json

#: Each check reads all of the response, up to eight times. So a longer response counts as following no instruction.
MOST_CHARS = 100_000
MOST_INSTRUCTIONS = 32

Arguments = Mapping[str, Any]


def _text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _texts(value: object) -> bool:
    return isinstance(value, list | tuple) and 0 < len(value) <= 100 and all(map(_text, value))


def _count(value: object) -> bool:
    # A data set's column with a missing value turns the whole numbers of its other rows into floats
    whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    return whole and not isinstance(value, bool) and value >= 0  # type: ignore[operator]


def _place(value: object) -> bool:
    return _count(value) and value != 0


def _relation(value: object) -> bool:
    return value in ("at least", "less than")


def _language(value: object) -> bool:
    return value in LANGUAGES


_NEEDED: dict[Callable[[object], bool], str] = {
    _text: "a text",
    _texts: "a list of texts",
    _count: "a whole number",
    _place: "a whole number from 1 on",
    _relation: "'at least' or 'less than'",
    _language: f"one of {', '.join(LANGUAGES)}",
}


def _holds(count: int, relation: str, wanted: float) -> bool:
    return count >= wanted if relation == "at least" else count < wanted


def _existence(said: str, given: Arguments) -> bool:
    return all(keyword.lower() in said.lower() for keyword in given["keywords"])


def _frequency(said: str, given: Arguments) -> bool:
    return _holds(said.lower().count(given["keyword"].strip().lower()), given["relation"], given["frequency"])


def _forbidden(said: str, given: Arguments) -> bool:
    words = given["forbidden_words"]
    return not any(re.search(rf"(?<!\w){re.escape(word.strip())}(?!\w)", said, re.IGNORECASE) for word in words)


def _letters(said: str, given: Arguments) -> bool:
    return _holds(said.lower().count(given["letter"].strip().lower()), given["let_relation"], given["let_frequency"])


def _paragraphs(said: str, given: Arguments) -> bool:
    """`***` separates paragraphs; only the first and the last may be empty."""
    parts = [bool(part.strip()) for part in said.split("***")]
    return all(parts[1:-1]) and sum(parts) == given["num_paragraphs"]


def _first_word(said: str, given: Arguments) -> bool:
    parts = said.split("\n\n")
    filled = sum(bool(part.strip()) for part in parts)
    nth = int(given["nth_paragraph"])
    if filled != given["num_paragraphs"] or nth > filled or not parts[nth - 1].strip():
        return False
    word = parts[nth - 1].split()[0].lstrip("'\"")
    opening: str = given["first_word"]
    return re.split(r"[.,?!'\"]", word)[0].lower() == opening.strip().lower()


def _postscript(said: str, given: Arguments) -> bool:
    marker = given["postscript_marker"].strip()
    known = {"P.P.S": r"p\.\s?p\.\s?s", "P.S.": r"p\.\s?s\."}
    return re.search(known.get(marker, re.escape(marker)), said, re.IGNORECASE) is not None


def _bullets(said: str, given: Arguments) -> bool:
    lines = [line.lstrip() for line in said.split("\n")]
    stars = sum(line[:1] == "*" and line[1:2] not in ("", "*") for line in lines)
    wanted: float = given["num_bullets"]
    return stars + sum(line[:1] == "-" for line in lines) == wanted


_ANSWERS = ("My answer is yes.", "My answer is no.", "My answer is maybe.")


def _constrained(said: str, given: Arguments) -> bool:
    """The response holds exactly one of the three answers; the paper's own check accepts several."""
    return sum(answer in said for answer in _ANSWERS) == 1


def _highlights(said: str, given: Arguments) -> bool:
    once = [part for part in re.findall(r"\*[^\n*]*\*", said) if part.strip("*").strip()]
    twice = [part for part in re.findall(r"\*\*[^\n*]*\*\*", said) if part.strip("*").strip()]
    wanted: float = given["num_highlights"]
    return len(once) + len(twice) >= wanted


def _sections(said: str, given: Arguments) -> bool:
    splitter = re.escape(given["section_spliter"].strip())
    wanted: float = given["num_sections"]
    return len(re.findall(rf"{splitter}\s?\d+", said)) >= wanted


def _json(said: str, given: Arguments) -> bool:
    fence = re.fullmatch(r"```(?:json)?\s?(.*?)\s?(?:```)?", said.strip(), re.IGNORECASE | re.DOTALL)
    try:
        read_json((fence[1] if fence else said).strip())
    except NotStrictJsonError:
        return False
    return True


def _title(said: str, given: Arguments) -> bool:
    return any(title.strip() for title in re.findall(r"<<([^\n<>]+)>>", said))


def _two_responses(said: str, given: Arguments) -> bool:
    parts = [part.strip() for part in said.split("******")]
    filled = [part for part in parts if part]
    return all(parts[1:-1]) and len(filled) == 2 and filled[0] != filled[1]


def _capital_words(said: str, given: Arguments) -> bool:
    count = sum(word.isupper() for word in re.findall(r"\w[\w.'’-]*", said))
    return _holds(count, given["capital_relation"], given["capital_frequency"])


@dataclass(frozen=True, slots=True)
class _Instruction:
    """Attributes:
    check: whether a response that is not empty follows the instruction.
    needs: the instruction's arguments by name, each with a check of its value.
    """

    check: Callable[[str, Arguments], bool]
    needs: Mapping[str, Callable[[object], bool]]


_CHECKS = {
    "keywords:existence": _Instruction(_existence, {"keywords": _texts}),
    "keywords:frequency": _Instruction(_frequency, {"keyword": _text, "frequency": _count, "relation": _relation}),
    "keywords:forbidden_words": _Instruction(_forbidden, {"forbidden_words": _texts}),
    "keywords:letter_frequency": _Instruction(
        _letters, {"letter": _text, "let_frequency": _count, "let_relation": _relation}
    ),
    "language:response_language": _Instruction(
        lambda said, given: is_in_language(said, given["language"]), {"language": _language}
    ),
    "length_constraints:number_sentences": _Instruction(
        lambda said, given: _holds(count_sentences(said), given["relation"], given["num_sentences"]),
        {"num_sentences": _count, "relation": _relation},
    ),
    "length_constraints:number_paragraphs": _Instruction(_paragraphs, {"num_paragraphs": _count}),
    "length_constraints:number_words": _Instruction(
        lambda said, given: _holds(count_words(said), given["relation"], given["num_words"]),
        {"num_words": _count, "relation": _relation},
    ),
    "length_constraints:nth_paragraph_first_word": _Instruction(
        _first_word, {"num_paragraphs": _count, "nth_paragraph": _place, "first_word": _text}
    ),
    "detectable_content:number_placeholders": _Instruction(
        lambda said, given: len(re.findall(r"\[[^\[\]\n]*+\]", said)) >= given["num_placeholders"],
        {"num_placeholders": _count},
    ),
    "detectable_content:postscript": _Instruction(_postscript, {"postscript_marker": _text}),
    "detectable_format:number_bullet_lists": _Instruction(_bullets, {"num_bullets": _count}),
    "detectable_format:constrained_response": _Instruction(_constrained, {}),
    "detectable_format:number_highlighted_sections": _Instruction(_highlights, {"num_highlights": _count}),
    "detectable_format:multiple_sections": _Instruction(_sections, {"section_spliter": _text, "num_sections": _count}),
    "detectable_format:json_format": _Instruction(_json, {}),
    "detectable_format:title": _Instruction(_title, {}),
    "combination:two_responses": _Instruction(_two_responses, {}),
    "combination:repeat_prompt": _Instruction(
        lambda said, given: said.strip().lower().startswith(given["prompt_to_repeat"].strip().lower()),
        {"prompt_to_repeat": _text},
    ),
    "startend:end_checker": _Instruction(
        lambda said, given: said.strip().strip('"').lower().endswith(given["end_phrase"].strip().lower()),
        {"end_phrase": _text},
    ),
    "startend:quotation": _Instruction(
        lambda said, given: len(said.strip()) > 1 and said.strip()[0] == said.strip()[-1] == '"', {}
    ),
    "change_case:capital_word_frequency": _Instruction(
        _capital_words, {"capital_frequency": _count, "capital_relation": _relation}
    ),
    "change_case:english_capital": _Instruction(lambda said, given: said.isupper() and is_in_language(said, "en"), {}),
    "change_case:english_lowercase": _Instruction(
        lambda said, given: said.islower() and is_in_language(said, "en"), {}
    ),
    # A Chinese comma counts as a comma, too
    "punctuation:no_comma": _Instruction(lambda said, given: "," not in said and "，" not in said, {}),
}
#: The paper's ids of all instructions.
INSTRUCTIONS = tuple(_CHECKS)


def instruction_problem(instruction: str, given: Arguments) -> str | None:
    """The reason why `instruction` with these arguments cannot be checked; None when it can."""
    if instruction not in _CHECKS:
        return f"the instruction {instruction!r:.80} is none of {', '.join(INSTRUCTIONS)}"
    for name, fits in _CHECKS[instruction].needs.items():
        if not fits(given.get(name)):
            return f"{instruction} needs {name!r}, {_NEEDED[fits]}, got {given.get(name)!r:.100}"
    return None


def follows(said: str, instruction: str, given: Arguments, *, loose: bool) -> bool:
    """Whether the response follows the instruction; an empty response follows none.

    Args:
        said: the response.
        instruction: one of `INSTRUCTIONS`.
        given: the instruction's arguments, for which `instruction_problem` must be None.
        loose: accept the response if any of the paper's eight forms of it follows the instruction. The forms leave out
            the first line, the last line, or both, each with and without asterisks.
    """
    if len(said) > MOST_CHARS:
        return False
    check = _CHECKS[instruction].check
    return any(form.strip() and check(form, given) for form in (_loosened(said) if loose else [said]))


def _loosened(said: str) -> Sequence[str]:
    lines = said.split("\n")
    forms = [said, *("\n".join(part).strip() for part in (lines[1:], lines[:-1], lines[1:-1]))]
    return list(dict.fromkeys([*forms, *(form.replace("*", "") for form in forms)]))
