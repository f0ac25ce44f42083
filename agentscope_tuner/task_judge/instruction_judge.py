"""InstructionJudge: whether an output follows the verifiable instructions of its prompt, as IFEval has them.

There is one check of a response for each id of the paper (arXiv 2311.07911). The packages with the paper's own checks
(`lm-eval`, `if-verifiable`) download trained models of nltk, their library for languages answers differently from run
to run, and their regular expressions are quadratic in hostile text. So the checks are written anew here. Four of them
accept other responses than the paper's: sentences are counted by rules; languages are recognised by scripts and small
words; a response must hold exactly one of the three constrained answers; and a full-width comma is a comma.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from agentscope_tuner.config import StrictSection
from agentscope_tuner.errors import JudgeError, reference_error, told
from agentscope_tuner.task_judge.base_judge import Reward, TextJudge, as_list, final_answer
from agentscope_tuner.verify.find import after_thinking
from agentscope_tuner.verify.strict_json import NotStrictJsonError, read_json
from agentscope_tuner.verify.text import LANGUAGES, UNSPACED, language_share
from agentscope_tuner.workflow import Task, WorkflowOutput, WorkflowTask

# Words that are common in one of these languages and rare in the others
_SMALL_WORDS = {
    "de": "der die und nicht ist ein eine das mit auf für von ich zu auch sich den dem",
    "en": "the and of is that it with for are this was you not have from be by which",
    "es": "el los las que y es por una con para del como pero más está muy hay también",
    "fi": "ja on ei se että oli hän mutta niin kun ovat myös tämä joka mitä kuin voi ole",
    "fr": "le les et est une des que pour dans pas vous avec qui sur ce nous mais sont",
    "id": "yang dan di dengan untuk tidak ini itu dari dalam akan pada adalah juga ada saya",
    "it": "il che di non è per una sono con gli della del anche questo ma si più nel",
    "nl": "het een van en niet dat zijn op voor met ook maar aan wordt deze naar bij heeft",
    "pl": "i w nie na się jest że z do to jak ale są przez tak od jego dla",
    "pt": "o os que não uma com para do da em é por mais como mas são você também",
    "sv": "och att det som är en på för med inte av till den har men ett jag om",
    "sw": "na ya wa kwa ni za katika la kuwa hii cha watu yake kama lakini pia hiyo vya",
    "tr": "ve bir bu için ile çok ama daha olarak gibi değil var ne kadar olan sonra ben en",
    "vi": "và của là có không được một các cho người trong những đã với này để khi như",
}
_KNOWN = {code: frozenset(words.split()) for code, words in _SMALL_WORDS.items()}
_LETTERS = re.compile(r"[^\W\d_]+")
_LEAST_SHARE = 0.5
# A text of fewer words may contain no small word
_FEW_WORDS = 8


def is_in_language(text: str, language: str) -> bool:
    """Whether most words of `text` are in the script of `language`, and small words of no other language are commoner.

    Small words are listed for fourteen languages in Latin script; other languages are recognised by script alone.

    Args:
        language: one of `verify.text.LANGUAGES`.
    """
    share, _, total = language_share(text, language)
    if share < _LEAST_SHARE or total == 0:
        return False
    if language not in _KNOWN:
        return True
    words = Counter(_LETTERS.findall(text.lower()))
    hits = {code: sum(words[word] for word in known) for code, known in _KNOWN.items()}
    if hits[language] == 0 and total >= _FEW_WORDS:
        return False
    return hits[language] == max(hits.values())


_END = re.compile(r"[。！？]++|(?<![.!?…])(?P<dots>[.!?…]++)[\"'”’)\]*_]{0,4}(?=\s|\Z)")
_ABBREVIATED = re.compile(
    r"(?:\b(?:Mr|Mrs|Ms|Dr|Prof|St|Sr|Jr|vs|etc|No|Fig|Inc|Ltd|Co|approx|e\.g|i\.e|[ap]\.m|cf|al)|\b[A-Z](?:\.[A-Z])*"
    r"|(?:^|\n)\s{0,8}\d{1,3})$"
)
_GOES_ON = re.compile(r"\s+[a-z]")
_WORD = re.compile(rf"[{UNSPACED}]|[^\W{UNSPACED}]+")
_LOOK = 16


def count_words(text: str) -> int:
    """The number of words as IFEval counts them: runs of word characters, and single characters of Han and the like."""
    return sum(1 for _ in _WORD.finditer(text))


def count_sentences(text: str) -> int:
    """The number of sentences that contain a word.

    A sentence ends with `.`, `!` or `?` before a blank, or with `。`, `！` or `？`. Some full stops do not end a
    sentence: those of abbreviations, of initials, and of a number that opens a line. Nor do several dots before a small
    letter. IFEval asks nltk's trained model instead, which agrees on plain prose.
    """
    count = at = 0
    for end in _END.finditer(text):
        dots = end["dots"]
        if dots == "." and _ABBREVIATED.search(text[max(end.start() - _LOOK, at) : end.start()]):
            continue
        if dots and (dots == "…" or set(dots) == {"."}) and len(dots) != 1 and _GOES_ON.match(text, end.end()):
            continue
        count += _WORD.search(text, at, end.start()) is not None
        at = end.end()
    return count + (_WORD.search(text, at) is not None)


#: Each check reads all of the response, up to eight times. So a longer response counts as following no instruction.
MOST_CHARS = 100_000
MOST_INSTRUCTIONS = 32

Arguments = Mapping[str, Any]
_Check = Callable[[str, Arguments], bool]


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


@dataclass(frozen=True, slots=True)
class _Instruction:
    """Attributes:
    check: whether a response that is not empty follows the instruction.
    needs: the instruction's arguments by name, each with a check of its value.
    """

    check: _Check
    needs: Mapping[str, Callable[[object], bool]]


_CHECKS: dict[str, _Instruction] = {}


def _instruction(name: str, **needs: Callable[[object], bool]) -> Callable[[_Check], _Check]:
    """Makes the decorated function the check of the paper's instruction `name`."""

    def add(check: _Check) -> _Check:
        _CHECKS[name] = _Instruction(check, needs)
        return check

    return add


def _holds(count: int, relation: str, wanted: float) -> bool:
    return count >= wanted if relation == "at least" else count < wanted


@_instruction("keywords:existence", keywords=_texts)
def _existence(said: str, given: Arguments) -> bool:
    return all(keyword.lower() in said.lower() for keyword in given["keywords"])


@_instruction("keywords:frequency", keyword=_text, frequency=_count, relation=_relation)
def _frequency(said: str, given: Arguments) -> bool:
    return _holds(said.lower().count(given["keyword"].strip().lower()), given["relation"], given["frequency"])


@_instruction("keywords:forbidden_words", forbidden_words=_texts)
def _forbidden(said: str, given: Arguments) -> bool:
    words = given["forbidden_words"]
    return not any(re.search(rf"(?<!\w){re.escape(word.strip())}(?!\w)", said, re.IGNORECASE) for word in words)


@_instruction("keywords:letter_frequency", letter=_text, let_frequency=_count, let_relation=_relation)
def _letters(said: str, given: Arguments) -> bool:
    return _holds(said.lower().count(given["letter"].strip().lower()), given["let_relation"], given["let_frequency"])


@_instruction("length_constraints:number_paragraphs", num_paragraphs=_count)
def _paragraphs(said: str, given: Arguments) -> bool:
    """`***` separates paragraphs; only the first and the last may be empty."""
    parts = [bool(part.strip()) for part in said.split("***")]
    return all(parts[1:-1]) and sum(parts) == given["num_paragraphs"]


@_instruction(
    "length_constraints:nth_paragraph_first_word", num_paragraphs=_count, nth_paragraph=_place, first_word=_text
)
def _first_word(said: str, given: Arguments) -> bool:
    parts = said.split("\n\n")
    filled = sum(bool(part.strip()) for part in parts)
    nth = int(given["nth_paragraph"])
    if filled != given["num_paragraphs"] or nth > filled or not parts[nth - 1].strip():
        return False
    word = parts[nth - 1].split()[0].lstrip("'\"")
    return bool(re.split(r"[.,?!'\"]", word)[0].lower() == given["first_word"].strip().lower())


@_instruction("detectable_content:postscript", postscript_marker=_text)
def _postscript(said: str, given: Arguments) -> bool:
    marker = given["postscript_marker"].strip()
    known = {"P.P.S": r"p\.\s?p\.\s?s", "P.S.": r"p\.\s?s\."}
    return re.search(known.get(marker, re.escape(marker)), said, re.IGNORECASE) is not None


@_instruction("detectable_format:number_bullet_lists", num_bullets=_count)
def _bullets(said: str, given: Arguments) -> bool:
    lines = [line.lstrip() for line in said.split("\n")]
    stars = sum(line[:1] == "*" and line[1:2] not in ("", "*") for line in lines)
    return bool(stars + sum(line[:1] == "-" for line in lines) == given["num_bullets"])


_ANSWERS = ("My answer is yes.", "My answer is no.", "My answer is maybe.")


@_instruction("detectable_format:constrained_response")
def _constrained(said: str, given: Arguments) -> bool:
    """The response holds exactly one of the three answers; the paper's own check accepts several."""
    return sum(answer in said for answer in _ANSWERS) == 1


@_instruction("detectable_format:number_highlighted_sections", num_highlights=_count)
def _highlights(said: str, given: Arguments) -> bool:
    once = [part for part in re.findall(r"\*[^\n*]*\*", said) if part.strip("*").strip()]
    twice = [part for part in re.findall(r"\*\*[^\n*]*\*\*", said) if part.strip("*").strip()]
    return bool(len(once) + len(twice) >= given["num_highlights"])


@_instruction("detectable_format:multiple_sections", section_spliter=_text, num_sections=_count)
def _sections(said: str, given: Arguments) -> bool:
    splitter = re.escape(given["section_spliter"].strip())
    return bool(len(re.findall(rf"{splitter}\s?\d+", said)) >= given["num_sections"])


@_instruction("detectable_format:json_format")
def _json(said: str, given: Arguments) -> bool:
    fence = re.fullmatch(r"```(?:json)?\s?(.*?)\s?(?:```)?", said.strip(), re.IGNORECASE | re.DOTALL)
    try:
        read_json((fence[1] if fence else said).strip())
    except NotStrictJsonError:
        return False
    return True


@_instruction("detectable_format:title")
def _title(said: str, given: Arguments) -> bool:
    return any(title.strip() for title in re.findall(r"<<([^\n<>]+)>>", said))


@_instruction("combination:two_responses")
def _two_responses(said: str, given: Arguments) -> bool:
    parts = [part.strip() for part in said.split("******")]
    filled = [part for part in parts if part]
    return all(parts[1:-1]) and len(filled) == 2 and filled[0] != filled[1]


@_instruction("change_case:capital_word_frequency", capital_frequency=_count, capital_relation=_relation)
def _capital_words(said: str, given: Arguments) -> bool:
    count = sum(word.isupper() for word in re.findall(r"\w[\w.'’-]*", said))
    return _holds(count, given["capital_relation"], given["capital_frequency"])


@_instruction("language:response_language", language=_language)
def _in_language(said: str, given: Arguments) -> bool:
    return is_in_language(said, given["language"])


@_instruction("length_constraints:number_sentences", num_sentences=_count, relation=_relation)
def _sentences(said: str, given: Arguments) -> bool:
    return _holds(count_sentences(said), given["relation"], given["num_sentences"])


@_instruction("length_constraints:number_words", num_words=_count, relation=_relation)
def _words(said: str, given: Arguments) -> bool:
    return _holds(count_words(said), given["relation"], given["num_words"])


@_instruction("detectable_content:number_placeholders", num_placeholders=_count)
def _placeholders(said: str, given: Arguments) -> bool:
    return bool(len(re.findall(r"\[[^\[\]\n]*+\]", said)) >= given["num_placeholders"])


@_instruction("combination:repeat_prompt", prompt_to_repeat=_text)
def _repeated(said: str, given: Arguments) -> bool:
    return said.strip().lower().startswith(str(given["prompt_to_repeat"]).strip().lower())


@_instruction("startend:end_checker", end_phrase=_text)
def _ending(said: str, given: Arguments) -> bool:
    return said.strip().strip('"').lower().endswith(str(given["end_phrase"]).strip().lower())


@_instruction("startend:quotation")
def _quotation(said: str, given: Arguments) -> bool:
    return len(said.strip()) > 1 and said.strip()[0] == said.strip()[-1] == '"'


@_instruction("change_case:english_capital")
def _capitals(said: str, given: Arguments) -> bool:
    return said.isupper() and is_in_language(said, "en")


@_instruction("change_case:english_lowercase")
def _lowercase(said: str, given: Arguments) -> bool:
    return said.islower() and is_in_language(said, "en")


@_instruction("punctuation:no_comma")
def _no_comma(said: str, given: Arguments) -> bool:
    # A Chinese comma counts as a comma, too
    return "," not in said and "，" not in said


#: The paper's ids of all instructions.
INSTRUCTIONS = tuple(_CHECKS)


def instruction_problem(instruction: str, given: Arguments) -> str | None:
    """The reason why `instruction` with these arguments cannot be checked; None when it can."""
    if instruction not in _CHECKS:
        return f"instruction {instruction!r:.80} is none of {', '.join(INSTRUCTIONS)}"
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


class InstructionConfig(StrictSection):
    """InstructionJudge's `astuner.task_judge.judge_kwargs`."""

    #: `strict`: the response as it is; `loose`: also without its first or last line and its asterisks, as the paper
    mode: Literal["strict", "loose"] = "strict"
    #: several instructions: 1.0 where `all` are followed and else 0.0, or the `fraction` that is
    reward: Literal["all", "fraction"] = "all"


class InstructionJudge(TextJudge[InstructionConfig]):
    """The share of the task's instructions that the output follows, 0.0 to 1.0; success means all of them.

    IFEval (arXiv 2311.07911) names 25 instructions that a program can check. A task lists its own under
    `metadata["instruction_id_list"]`, such as `length_constraints:number_words`, and the arguments of each, in the same
    order, under `metadata["kwargs"]`. Text in `<think>` tags does not belong to the response. The docstring of
    this module says where a check differs from the paper's code.

    Raises:
        JudgeError: of a verdict: an instruction is not known, or its arguments are missing or of the wrong kind.
    """

    settings_class = InstructionConfig
    reference_keys = ("instruction_id_list", "kwargs")
    metric_names = ("instructions_followed",)

    def verdict(self, task: WorkflowTask, output: WorkflowOutput) -> Reward:
        """See TextJudge."""
        instructions, said = self.reference(task.task), after_thinking(final_answer(output))
        loose = self.settings.mode == "loose"
        missed = [name for name, given in instructions if not follows(said, name, given, loose=loose)]
        share = 1.0 - len(missed) / len(instructions)
        reward = share if self.settings.reward == "fraction" else float(not missed)
        told = f", not {', '.join(missed[:8])}" if missed else ""
        reason = f"{len(instructions) - len(missed)} of {len(instructions)} instructions followed{told}"
        return Reward(reward, not missed, reason=reason, metrics={"instructions_followed": share})

    def reference(self, task: Task) -> list[tuple[str, Mapping[str, Any]]]:
        """See TextJudge: the task's instructions, each with its arguments."""
        ids, arguments = as_list(task.metadata.get("instruction_id_list")), as_list(task.metadata.get("kwargs"))
        if ids is None or not 1 <= len(ids) <= MOST_INSTRUCTIONS:
            raise _bad(f"instruction_id_list must list 1 to {MOST_INSTRUCTIONS} instructions, got {ids!r:.100}")
        if arguments is None or len(arguments) != len(ids):
            raise _bad(f"kwargs must list one mapping for each of {len(ids)} instructions, got {arguments!r:.100}")
        found = []
        for name, raw in zip(ids, arguments, strict=True):
            given = _arguments(raw)
            problem = instruction_problem(name, given) if isinstance(name, str) else f"no instruction: {name!r:.80}"
            if problem:
                raise _bad(problem)
            found.append((name, given))
        return found

    def reference_problem(self, task: Task, error: JudgeError) -> str:
        """See TextJudge."""
        listed = task.metadata.get("instruction_id_list")
        return "missing" if listed is None or as_list(listed) == [] else "unreadable"


def _arguments(raw: object) -> Mapping[str, Any]:
    with told(f"kwargs: {raw!r:.100} is no JSON", ValueError, RecursionError, to=_bad):
        given = json.loads(raw) if isinstance(raw, str) else raw
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise _bad(f"kwargs: a mapping is needed for each instruction, got {given!r:.100}")
    return given


def _bad(message: str) -> JudgeError:
    return reference_error(f"the task's {message}; {_FORM}")


_FORM = 'such as IFEval\'s "instruction_id_list": ["punctuation:no_comma"], "kwargs": [{}]'
