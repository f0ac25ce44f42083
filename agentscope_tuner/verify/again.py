r"""Answers that are stated again behind an answer: a different one, or the same one in a different spelling.

A statement is a value behind a label (`Answer: 36`, `答えはCです`), in a tag, behind `####`, or where the text goes on
from the answer (`, i.e. $3\pi$`, `No, it is 36`). A plain number may be a different answer without any label. Values
are not compared here: the caller does that.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from decimal import Decimal
from functools import lru_cache, partial

from agentscope_tuner.verify import re
from agentscope_tuner.verify.labels import ANSWER, is_denied, is_prose, same_text, statement_at
from agentscope_tuner.verify.remarks import INSTEAD, is_adverse, is_neutral, opens_formula, plain_end
from agentscope_tuner.verify.words import OPENS, joining

# `the answer` in the languages of the models' solutions: behind a box it announces a second answer
_ANSWER_WORDS = (
    rf"{ANSWER}|result|solution|soluci[oó]n|solução|soluzione|total|value|correction|ergebnis|lösung|résultat|resultado|risultato|решение|результат"
    "|wynik|sonuç|kết quả|(?<!能)结果|الناتج"
)
_NUMBER = r"[-−]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:(?:[.,]|\{,\})\d+)?(?:/\d+)?"
_ANNOUNCED = re.compile(
    rf"(?:(?<![a-z])(?:{_ANSWER_WORDS})s?(?![a-z])(?:(?!\([a-h]\)|\bpart\b)[^。\n\d]){{0,40}}?"
    r"|(?:\A|\n)####[ ](?=[^\n]{1,20}\Z))"
    rf"({_NUMBER})(?![\d/])(?!\s*(?:(?!\\[)\]])[-+/^=\\]|\*(?!\*)))",
    re.IGNORECASE,
)
# The letters of words that have spaces between them, and digits; a number may stand within a Chinese sentence
# without the stops of Arabic, Hindi and Armenian, the dashes and the quotation marks
_LETTER_OF_WORD = (
    r"\d_a-zA-Z\u00b5-\u0588\u058a-\u060b\u060d-\u061a\u0620-\u06d3\u06d5-\u0963\u0966-\u200f\u2030-\u2fff"
)
_STATED_NUMBER = re.compile(
    rf"(?<![{_LETTER_OF_WORD}.^_/{{+=#≈-])(?<!approx )(?<!approx)(?<!#### )(?<!\{{,\}}){_NUMBER}"
    rf"(?![{_LETTER_OF_WORD}/]|\.\d|\{{,\}}\d|\s*(?!\^\s*\{{?\\circ|\\[)\]%]|\\,\\%)[-+/^=×·\\]|\s*\*(?!\*))"
)
_OWN_FORMULA = re.compile(r"\A(?:[^$\n\\]|\\[a-zA-Z])*?(?:\$\$?|\\[)\]])")
_EQUATION = re.compile(
    r"\$(?>[^$\n]*?(?:=|\\equiv(?![a-z])))[^$\n]*+\$|\\[(\[](?>[^\n]*?=)[^\n]*?\\[)\]]"
    r"|(?<!\d)[\d)][\d\s+*/^().×·÷-]*+=\s*[\d.,]+"
)
# A reason, a bracket or a list of what is counted: numbers in it are not a second answer
_EXPLAINS = re.compile(
    r"\b(?:am|are|be) \$?\d[\d.]*\s?\\?%\$? (?:confident|certain|sure)\b"
    r"|[(（][^()（）\n]{1,120}[)）]|(?:\bi\.e\.|\b(?:since|because|namely|nämlich|weil|denn|porque|parce que|car"
    r"|puisque|perché|поскольку|потому что|так как|оскільки|ponieważ|gdyż|protože|omdat|eftersom|mert|deoarece|çünkü"
    r"|karena|क्योंकि|কারণ|زیرا|لأن)\b|,\s(?:da|bo|want|pois|como|pues)\b)(?:[^.!?。\n]|!(?=[$=)\\]))*|(?:分别是|分别为|因为|即|なぜなら)[^。\n]*|[^。、\n]{1,40}(?:なので|であるから)"
    rf"|[:：][ $]*{_NUMBER}\$?(?:(?:,| and| und| y| et| e| и| 和|，|、)+ ?\$?{_NUMBER}\$?)+",
    re.IGNORECASE,
)
# A reason or a bracket that states an answer itself
_STATES = re.compile(
    rf"(?<![a-z])(?:or|actually|wrong|incorrect|correct|instead|rather|should|(?:{_ANSWER_WORDS})s?)(?![a-z])"
    r"|\A(?:i\.e\.|namely|nämlich|即|[(（])\W*[\d.,{}]+\W*\Z"
    r"|\A(?:i\.e\.|namely|nämlich|即)\W*[\d.,{}]+[\s$~\\]*(?:text\s*\{\s*)?[a-zA-Zµ°%/²³^]{1,8}[\s}$)]*\Z"
    # what a reason concludes: `since …, so it is 17`
    r"|(?:(?<![a-z])(?:so|thus|therefore|hence|daher|folglich|donc|luego|quindi|portanto|поэтому)(?![a-z])|所以|因此)[^=]{0,40}\d",
    re.IGNORECASE,
)
_MOST_STATED = 8
# Three numbers or more
LIST = re.compile(rf"(?<!\w)\$?{_NUMBER}\$?(?:(?:,| and| und| y| et| e| и| 和|，|、)+ ?\$?{_NUMBER}\$?){{2,}}")
# A label and the verb or mark before its value; without `total` and `value`, which may name other quantities
_NAMES_ANSWER = _ANSWER_WORDS.replace("|total|value", "")
_LABEL = re.compile(
    rf"(?<![a-z])(?:{_NAMES_ANSWER})(?![a-z])[^。.\n\d:：=$\\()（）]{{0,30}}?\s*"
    r"(?:(?P<marked>[*_]{0,2}[:：=][*_]{0,2})|(?<![^\W_])(?:is|are|was|equals?|should be|must be"
    r"|ist|lautet|est|es|é|è|là|adalah|jest|to|هو|هي)(?![^\W_])|是|为|為|は|[은는])",
    re.IGNORECASE,
)
# A tag or `####`, which mark an answer by themselves
_MARKED = re.compile(
    r"<(?:answer|final|result)\w*>(?P<tagged>.{1,300}?)</|(?:\A|\n)####[^\S\n](?P<hashed>[^\n]{1,200})", re.DOTALL
)
# How a text goes on from an answer to the same one or a different one: `or`, `i.e.`, `=`
# Words that end a sentence behind its value in some languages
_ENDINGS = "です|である|だ|입니다|이다|이에요|है|olur"
_GOES_ON = re.compile(
    rf"(?:{_ENDINGS}|[\s$*_.,;。।，、（(～)\]\\}}])*?"
    r"(?:\b(?:or|oder|ou|o|или|veya|hoặc|i\.e\.|that is,?|namely|cioè|ossia"
    r"|es decir,?|ou seja,?|c['’]est[- ]à[- ]dire|soit|das heißt,?|d\.\s?h\.|то есть|czyli|yani|tức là|即|つまり"
    r"|すなわち)"
    r"(?=[\s,$\\])|(?<=[\n$])=(?!=)|(?<=\$ )="
    r"|或(?:者|可?写成|可?写作|可?表示为)?|または|또는|أو|\\lor(?![a-z])|∨)[\s,]*",
    re.IGNORECASE,
)
# A line that begins with a sign of equality behind a sentence
_EQUALS = re.compile(r"(?<=[.!?。！？।])[^\S\n]*\n\s*+\$?\s*+=(?!=)\s*")
_CORRECTS = re.compile(
    r"(?:\A|(?<=[.!?\n。]))[\s$*_]*+(?:(?:no|wait|sorry|oops|actually|rather|so|correction|i meant?)\b[\s,:]*){1,3}"
    r"(?:(?:it|that|this)\s+(?:is|was|equals|should be|must be)\s+)?",
    re.IGNORECASE,
)
# An option that is chosen, and a value that is called the answer behind it
_CHOOSES = re.compile(
    r"(?:\b(?:choose|select|pick)(?: (?:option|choice))?|选择?|選ぶ?)[\s(（*$:：]*(?=[A-H](?![a-zA-Z]))", re.IGNORECASE
)
_IS_ANSWER = re.compile(
    r"(?:\$([^$\n]{1,100})\$|\\\(([^\n]{1,100}?)\\\))\s*(?:is|才是|は)\s*"
    r"(?:the (?:final |correct |right )?answer\b|答案|正しい答え)"
)
_COPULA = re.compile(rf"(?:{_ENDINGS}|instead|statt dessen)\W*\Z")
_LEADING_FORMULA = re.compile(
    rf"\$\$?[^$]{{1,200}}\$|\\\(.{{1,200}}?\\\)|\\text\s*\{{[^{{}}]*\}}|{_NUMBER}(?![\w.]|\s*[-+/^=×·\\])"
)
_LETTER = re.compile(r"\(?([A-H])[).:]\s*\S")
# A formula that is set as text, in which letters that touch are no words: `f(x)=cx`, `H_2SO_4`
_OF_LETTERS = re.compile(r"(?<!\S)[^\s=_^]*+(?:\s?=\s?|[_^])\S*")
_CAPITALS = re.compile(r"(?<![^\W_])[A-Z]{2,6}(?![^\W_])|\\(?:mathrm|operatorname|mathbf|ce)\s*\{[^{}]*\}|[①-⑳]")


def statements(rest: str, content: str, before: str = "") -> Iterator[tuple[tuple[str, ...], int, int]]:
    """Each value that the text behind an answer states as an answer: its possible spellings, its start and its end.

    For `so the answer is 36.` it is `(("36",), 7, 20)`.

    Args:
        rest: the text behind the answer; the positions are positions in it.
        content: the answer.
        before: the text before the answer, whose words may announce a second one, in any language.
    """
    # the name of a tag, `<answer>`, is not a label
    untagged = _MARKED.sub(lambda mark: " " * len(mark[0]), rest)
    leads = [*_LABEL.finditer(untagged), *_CORRECTS.finditer(rest), *_EQUALS.finditer(rest)]
    leads += _announced_alike(before, rest)
    if (goes_on := _GOES_ON.match(rest)) is not None:
        leads.append(goes_on)
    if len(content) == 1 and content.isupper():
        leads += _CHOOSES.finditer(rest)
    for named in list(_IS_ANSWER.finditer(rest))[:_MOST_STATED]:
        value = (named[1] or named[2]).rpartition("=")[2]
        yield (value,), named.start(), named.end()
    for lead in leads[:_MOST_STATED]:
        said, end = statement_at(rest, lead.end())
        spellings = _spellings(said, worded=lead.re.pattern == _LABEL.pattern and lead["marked"] is not None)
        if not spellings and lead.re.pattern == _LABEL.pattern and not is_denied(said) and _has(said, content):
            spellings = (content,)
        if spellings and not (lead is goes_on and len(spellings) > 1):
            yield spellings, lead.start(), end
    for mark in list(_MARKED.finditer(rest))[:_MOST_STATED]:
        ends = mark["tagged"] is not None or not rest[mark.end() :].strip()
        if spellings := _spellings(mark["tagged"] or mark["hashed"], worded=ends):
            yield spellings, mark.start(), mark.end()


_FRAME = re.compile(r"(?:\A|[.!?。！？|।\n])\s*((?:[^\W\d_]+[ :]+){1,5})[\s$*\\]*\Z")
_FRAME_NEAR, _SHORTEST_FRAME = 80, 4
_VALUE_BEHIND = r"[\s:$*]+(?=[-−]?\d|\\[(\[a-z])"
_COMES = re.compile(rf"[^\W\d_]{_VALUE_BEHIND}", re.IGNORECASE)


def _announced_alike(before: str, rest: str) -> Iterator[re.Match[str]]:
    """Each match in `rest` of the words that announced the answer, in any language: of `Jibu ni`, if it occurs again.

    Up to two words may be between them: `jibu sahihi ni`.

    Args:
        before: the text before the answer.
        rest: the text behind it.
    """
    frame = _FRAME.search(before[-_FRAME_NEAR:])
    words = [] if frame is None else frame[1].replace(":", " ").lower().split()
    words = words[next((at for at, word in enumerate(words) if not is_neutral(word)), 0) :]
    if len("".join(words)) < _SHORTEST_FRAME:
        return
    near = rest[:_READ_BEHIND]
    # most texts need no pattern of their own
    if _COMES.search(near) is None or ((near + words[0]).isascii() and words[0] not in near.lower()):
        return
    between = r"(?:[\s:]+[^\W\d_]+){0,2}?[\s:]+"
    again = rf"(?<!\w){between.join(map(re.escape, words))}{_VALUE_BEHIND}"
    yield from re.finditer(again, near, re.IGNORECASE)


def _has(said: str, content: str) -> bool:
    """Whether the statement `said` contains the answer `content` as a whole word: `the answer is 36` contains `36`."""
    return re.search(rf"(?<![\w.]){re.escape(content.strip())}(?!\w|\.\d)", said) is not None


def _spellings(said: str, *, worded: bool) -> tuple[str, ...]:
    r"""The possible spellings of a statement: `$3\pi$ metres long` and its formula `$3\pi$`, `B) 7` and `B`.

    Empty if it states no value.

    Args:
        worded: whether one or two words may be the value.
    """
    said = _COPULA.sub("", said).strip().removeprefix('\\"').rstrip('\\"').strip(' \n"')
    # a closing bracket that was opened before the statement; `[2,7)` has its own
    if said[-1:] in (")", "）") and sum(map(said.count, "([（")) < sum(map(said.count, ")）")):
        said = said[:-1].rstrip()
    if said.endswith("}") and said.count("{") < said.count("}"):
        said = said[:-1].rstrip(' "')
    if said.count("$") == 1:
        said = said.replace("\\$", "").replace("$", "").strip()
    if not said:
        return ()
    if not is_prose(_CAPITALS.sub(" ", _OF_LETTERS.sub(" ", said))):
        letter = _LETTER.match(said)
        return (said,) if letter is None else (said, letter[1])
    if (leading := _LEADING_FORMULA.match(said)) is not None:
        return said, leading[0]
    words = said.lower().split()
    return (said,) if worded and len(words) <= 2 and not all(map(is_neutral, words)) else ()


# Words for a different quantity than the answer: `the other root is 3`, `(b) 7`
_OF_ANOTHER = re.compile(
    r"\b(?:the|die|der|das|la|le|el|il|o|a) (?:next|suivante?|siguiente|successiv[oa]|próxim[oa]|nächste[nrs]?"
    r"|other(?! (?:candidate|answer|value|option|choice|possib|result))"
    r"|andere|otr[ao]|autre|altr[ao]|outr[ao])\b|l['’]autre\b"
    r"|\bдруг\w+|另一|もう一|他の|다른|\bpart \(?(?:[b-h]\)?)? ?[:：]|\A\W*\([b-h]\)",
    re.IGNORECASE,
)
# The number of a step at the end of a sentence: `if you have questions about step 3`
_OF_STEP = re.compile(
    r"(?:\b(?:step|schritt|étape|paso|passo|шаг\w*|adım|bước)\s|步骤?|ステップ|단계\s?)[\d.]+\W*\Z",
    re.IGNORECASE,
)
_READ_BEHIND = 2_000


#: A verb like `is` before a value: `so the number asked for is $60-40=20$`.
IS_SAID = re.compile(
    r"(?<![^\W_])(?:is|are|was|be|equals|ist|sind|beträgt|est|vaut|es|son|é|são|è|равно|равен|равна)"
    r"(?:\s(?:actually|really|indeed|then|thus|therefore|now|instead|simply|just|eigentlich|tatsächlich|en fait"
    r"|en realidad|na verdade|in realtà|на самом деле))?\s*\Z"
    r"|(?:powinno być|должно быть|має бути|debería ser|deveria ser|devrait être|dovrebbe essere|seharusnya"
    r"|phải là)\s*\Z|(?:[是为為はが]|应为|應為|实际上是)\s*\Z",
    re.IGNORECASE,
)
_LAST_SIDE = re.compile(rf"(?:=|\\\\equiv)\s*({_NUMBER})\s*(?:\$|\\[)\]])?\Z")


_ENDS = re.compile(r"[\s.。!！*$}\])）]*+(?:\\[)\]][\s.]*)?")
_FIRST_SIDE = re.compile(rf"(?:\$|\\[(\[])\s*({_NUMBER})\s*=")


def _conclusion_of(content: str, equation: re.Match[str]) -> str:
    """The replacement for an equation in the text: its value if the sentence concludes with it, else a space.

    `20` for `so the number is $60-40=20$`, a space for `Check: $60-40=20$`, which is a step. Also a space for an
    equation in the answer's own letters.

    Args:
        content: the answer. If it is a plain number, an equation of numbers that ends the text is a conclusion, too.
    """
    letters, behind = _letters(content), equation.string[: equation.start()]
    if letters and letters <= _letters(equation[0]):
        return " "
    ends = (
        _ENDS.fullmatch(equation.string, equation.end()) is not None
        and re.fullmatch(_NUMBER, content.strip()) is not None
        and not _letters(equation[0])
        and not behind.rstrip(" $\n*").endswith((":", "："))
        and not _is_alike(behind, equation[0])
    )
    if not ends and IS_SAID.search(behind, max(len(behind) - _FRAME_NEAR, 0)) is None:
        return " "
    last = _LAST_SIDE.search(equation[0]) or _FIRST_SIDE.match(equation[0])
    return " " if last is None else f" {last[1]}"


def _is_alike(behind: str, equation: str) -> bool:
    """Whether an earlier equation of the same sentence has the same value, as when two roots are checked.

    Args:
        behind: the text between the answer and the equation.
    """
    last = _LAST_SIDE.search(equation)
    before = _SENTENCE_MARK.split(behind)[-1]
    return last is not None and any(
        (other := _LAST_SIDE.search(one[0])) is not None and other[1] == last[1] for one in _EQUATION.finditer(before)
    )


def _unless_it_states(reason: re.Match[str]) -> str:
    """The replacement for a reason in the text: itself if it states an answer, `since …, so it is 17`, or a space."""
    behind = reason.string[: reason.start()]
    labels = reason[0][0] in ":：" and _STATES.search(behind[behind.rfind("\n") + 1 :]) is not None
    return reason[0] if labels or _STATES.search(reason[0]) is not None else " "


def _unless_counted(content: str, listed: re.Match[str]) -> str:
    """The replacement for a list of numbers in the text: a space if the answer is their count or sum, else the list.

    A space for `2, 3 and 5`, if the answer `content` is `3` or `10`.
    """
    numbers = re.findall(_NUMBER, listed[0])
    whole = [int(one) for one in numbers if one.isdigit() and len(one) <= _FEW_DIGITS]
    adds_up = len(whole) == len(numbers) and content == str(sum(whole))
    return " " if adds_up or content == str(len(numbers)) else listed[0]


_FEW_DIGITS = 9
_FIRST_WORDS = frozenset(re.findall("[a-z]+", _GOES_ON.pattern + _CORRECTS.pattern))


@lru_cache(maxsize=8_192)
def _labels(word: str) -> bool:
    """Whether a text contains a word that announces an answer, such as `answer` or `choose`."""
    return re.search(rf"{_NAMES_ANSWER}|choose|select|pick|选|選", word) is not None


def states_nothing(rest: str) -> bool:
    """Whether the text behind an answer is the plain end of its sentence: ` apples.`, but not ` or 7.`

    Then it has no number and no word that announces a value, and need not be searched.
    """
    if (end := plain_end(rest)) is None or end.has_number:
        return False
    return _FIRST_WORDS.isdisjoint(end.words[:1]) and not any(map(_labels, end.words))


def announces(text: str) -> bool:
    """Whether a text announces a number as an answer: `The answer is 7`."""
    return _ANNOUNCED.search(text) is not None


def stated_again(text: str, start: int, rest: str, content: str) -> tuple[tuple[str, ...], ...]:
    """The values that the text behind a box states as a different answer, each in its possible spellings.

    Behind a box with 35, `Sorry, the answer is 36.` gives `(("36",),)`. A number without a label counts, too, if
    neither the box nor the text before it has it.

    Args:
        text: the whole output.
        start: the position of the box's start.
        rest: the text behind the box.
        content: the text in the box.
    """
    rest = rest[:_READ_BEHIND]
    stated = list(statements(rest, content, text[max(start - _FRAME_NEAR, 0) : start]))
    said = same_text(content)
    found = [one for one, _, _ in stated if said not in map(same_text, one)]
    for _, begins, ends in stated:
        rest = f"{rest[:begins]}{' ' * (ends - begins)}{rest[ends:]}"
    found += _formulas_stated(text[:start], rest, content)
    return (*found, *(_new_numbers(text[:start], rest, content) if any(map(str.isdigit, rest)) else ()))


_FORMULA = re.compile(r"\$\$?([^$]{1,200}?)\$|\\\((.{1,200}?)\\\)|\\\[(.{1,200}?)\\\]", re.DOTALL)
# Words that introduce a correction: `On second thought $\\frac15$`, `Or perhaps`, `In truth,`
_TURNS_TO = (
    r"\A\W*+(?:P\.?S\.?\W+)?(?:or|oder|ou|или|no|nein|non|não|нет|ні|nej|nee|nie|ne|hayır|không|bukan"
    r"|on second thoughts?|on reflection|in truth|in fact"
    rf"|correctly \w+|i meant?|wait|sorry|oops|pardon|perdón"
    rf"|scusa\w*|entschuldigung|desculp\w+|przepraszam|извин\w+|ой|en \w+ant bien|{INSTEAD})(?![^\W_])[\s,:]*+"
    r"(?:perhaps|maybe|rather|possibly|was it|is it|it (?:is|was|reads))?[\s,:]*\Z"
)
_TURNS = re.compile(_TURNS_TO, re.IGNORECASE)
# A value that is neither a plain number nor a relation, or an interval or a set of numbers
_CLOSED = re.compile(
    r"\A\s*+(?:\\left)?(?:[(\[]|\\\{)(?:[-\d\s.,;/]|\\infty)++(?:\\right)?(?:[)\]]|\\\})\s*+\Z|"
    r"(?=[^=<>]*\\(?:[dt]?frac|sqrt|pi|binom|begin\{[a-zA-Z]{0,2}matrix\})(?![a-z]))(?!.*\\(?:[lg]eq?|ne|approx|equiv|times|cdot|in|text)(?![a-z]))"
)
_LEADS = re.compile(
    rf"{IS_SAID.pattern}|{_TURNS_TO}|(?:correct|right|richtig|korrekt|rétabl|верн|правильн|đúng|benar|doğru)\w*\s[\w\s]{{0,30}}\Z",
    re.IGNORECASE,
)


def _letters(formula: str) -> frozenset[str]:
    r"""The single letters of a formula: `x` and `y` of `\frac{x}{ab} + y`."""
    return frozenset(re.findall(r"(?<![\\a-zA-Z])[a-zA-Z](?![a-zA-Z])", formula))


def _formulas_stated(before: str, rest: str, content: str) -> list[NewFormula]:
    """The formulas behind an answer that may be a different answer: `x+2` of `The correct one is $x+2$`, behind `x+1`.

    They have the answer's letters, a word like `is` or a correction leads them, and no text before has them.

    Args:
        before: the text before the answer.
        rest: the text behind it.
        content: the answer.
    """
    letters, is_related = _letters(content), "=" in content
    # of formulas without letters only those that are not plain numbers: `the area is $\frac{34}{3}$`
    is_read = letters or any(map(str.isdigit, content))
    rest = _OWN_FORMULA.sub(" ", rest) if is_read and opens_formula(before) else rest
    formulas = list(_FORMULA.finditer(rest)) if is_read else []
    if not formulas:
        return []
    known = same_text(before + content)
    found = []
    for formula in formulas:
        said = formula[1] or formula[2] or formula[3]
        if _letters(said) != letters or ("=" in said) != is_related or same_text(said) in known:
            continue
        if is_related and _DERIVED.match(said) is not None and _DERIVED.match(content) is None:
            # the answer gives `y`, and this formula `y'`
            continue
        if not letters and (is_related or _CLOSED.match(said) is None):
            continue
        clause = _CONCLUDES.split(_SENTENCE_MARK.split(rest[: formula.start()])[-1])[-1]
        named = clause.rstrip(" *$\n")
        if is_related and _ENDS.match(rest, formula.end()) is not None and _turns_to_relation(clause):
            found.append(NewFormula(said, ""))
            continue
        is_led = _LEADS.search(clause) is not None or (named[-1:] in ":：" and (not letters or _labels(clause)))
        if is_led and not is_denied(clause) and _OF_ANOTHER.search(clause) is None:
            # words of a correction, `On second thought`, do not name a thing
            of = "" if _TURNS.match(clause) is not None else clause
            of = named[:-1] if not letters and named[-1:] in (":", "：") else of
            found.append(NewFormula(said, of.rpartition(":")[2].rpartition("：")[2]))
    return found


_DERIVED = re.compile(
    r"\s*(?:\\(?:left|displaystyle)\s*)?(?:[a-zA-Z](?:'|\^\{?\\prime)|\\[dt]?frac\s*\{\s*\\?(?:mathrm\{d\}|d))"
)


def _turns_to_relation(clause: str) -> bool:
    """Whether the words before a relation, such as `x=5`, may be a correction: one or two, as in `Sorry, x=5`.

    Words that open a condition, such as `for` and `where`, are no correction.
    """
    words = re.findall(r"[^\W\d_]+", clause.lower())
    # `of toch`: or yet
    return 0 < len(words) <= _MOST_TURNING and OPENS.isdisjoint(words[words[0] == "of" :])


_MOST_TURNING = 2


class NewFormula(tuple[str, ...]):
    """The only spelling of a formula behind a box that may be a different answer.

    Attributes:
        led: the words that say what the formula is, such as `The area is`; may be empty.
    """

    led: str

    def __new__(cls, formula: str, led: str) -> NewFormula:
        """Make it of the formula's text and of the words before it."""
        one = super().__new__(cls, (formula,))
        one.led = led
        return one


# Words that call a value right, or the answer
CALLS_RIGHT = re.compile(
    rf"(?:corr[eé]ct|corrett|giust|right|true|actual|real|richtig|korrekt|верн|правильн|poprawn|prawidł|správn|riktig|juist|đúng"
    rf"|benar|doğru|{_ANSWER_WORDS})\w*",
    re.IGNORECASE,
)


#: The prefix in spellings of a number that the text calls rounded.
ROUGHLY = "\\approx "
_PERCENT = re.compile(
    r"\s?(?:\\,)?\\?[%％]|\s(?:per ?cent|prozent|pour cent|por ciento|por cento|per cento|процент)", re.IGNORECASE
)
#: Words that call the number behind them rounded.
ROUGHLY_BEFORE = re.compile(
    r"(?:\b(?:about|around|roughly|approximately|environ|etwa|rund|ungefähr|circa|cerca de|aproximadamente"
    r"|около|примерно|приблизительно|приблизно|khoảng|około|yaklaşık|ongeveer|ungefär|cirka|omtrent|noin|přibližně|asi"
    r"|körülbelül|approximativement|approssimativamente|aproximativ|περίπου|تقريباً?|حوالي|लगभग|ประมาณ|sekitar|kira-kira)"
    r"(?: (?:the|il|lo|la|el|le|los|las|gli|un[ao]?|ein|uma?))?"
    r"|[≈约約][为是]?|약|\\approx)"
    r"[\s$]*(?:\\[(\[])?\Z",
    re.IGNORECASE,
)


def _written(found: re.Match[str], group: int) -> tuple[str, ...]:
    r"""The possible spellings of a number in a text: `0.4` and `40` for `40%`, `3.5` and `3,5` for a decimal comma.

    With a unit behind it, `24\text{ minutes}` and `24`; a number that is called rounded gets the prefix `\approx `.

    Args:
        group: the group of the match that is the number.
    """
    spellings = [found[group]]
    plain = found[group].replace("{,}", ".").replace(",", ".").replace("−", "-")
    if _PERCENT.match(found.string, found.end(group)) is not None and plain.count(".") <= 1 and "/" not in plain:
        spellings.insert(0, f"{Decimal(plain) / 100:f}")
    elif plain != found[group] and _IN_THOUSANDS.fullmatch(found[group]) is None and plain.count(".") == 1:
        # a decimal comma
        spellings.insert(0, plain)
    if _DEGREES.match(found.string, found.end(group)) is not None:
        spellings.insert(0, f"{spellings[0]}^\\circ")
    if (unit := _UNIT_BEHIND.match(found.string, found.end(group))) is not None:
        spellings.insert(0, f"{spellings[0]}\\text{{ {unit[1]}}}")
        if (
            larger := _LARGER_UNIT.search(found.string, max(found.start(group) - _FRAME_NEAR, 0), found.start(group))
        ) is not None:
            # `2 hours and 24 minutes`
            spellings.insert(0, f"{larger[1]}\\text{{ {larger[2]}}}{spellings[0]}")
    start, end = found.span(group)
    if ROUGHLY_BEFORE.search(found.string, max(start - _ROUGHLY_NEAR, 0), start) or _ROUGHLY_BEHIND.match(
        found.string, end
    ):
        spellings = [f"{ROUGHLY}{one}" for one in spellings]
    return tuple(spellings)


_UNIT_BEHIND = re.compile(
    r"\s?\$?\s?(?:\\text\s*\{\s*)?((?:[^\W\d_]|[\u0900-\u0903\u093a-\u094f\u0981-\u0983\u09bc-\u09cd°]){1,14}(?:/[a-zA-Z]{1,3})?(?:\^?[23²³])?)(?![\w])"
)
_DEGREES = re.compile(r"\s?(?:\^\s?\{?\s?\\circ|°(?!\s?[CF]))")
_LARGER_UNIT = re.compile(
    rf"(?<![\d.,])(\d{{1,9}})\s([^\W\d_]{{1,14}})(?:,|\s(?:{'|'.join(joining('and'))}|and|y|e|и))?\s\Z"
)
_ROUGHLY_BEHIND = re.compile(
    rf"(?i)(?:{_PERCENT.pattern})?[\s$]*(?:approximately|aproximadamente|approximativement|approssimativamente|environ"
    r"|circa|ungefähr|приблизительно|примерно|تقريباً?)(?!\w)(?=[\s$]*(?:[.!;。)]|\Z))"
)
_ROUGHLY_NEAR = 20
_IN_THOUSANDS = re.compile(r"-?\d{1,3}(?:,\d{3})+")


# The beginning of a conclusion, which a denial before it does not deny: `the sales were not 78, so the number is 12`
_CONCLUDES = re.compile(
    r"[;；]|[,，]\s*(?:and |и )?(?:so|thus|therefore|hence|then|but|daher|also|folglich|donc|alors|luego|quindi"
    r"|portanto|dunque|поэтому|значит|所以|因此|故|则|だから|따라서)",
    re.IGNORECASE,
)


class NewNumber(tuple[str, ...]):
    """The spellings of a number behind a box that is new there; of several, only the last about the answer counts."""


def _new_numbers(before: str, rest: str, content: str) -> tuple[tuple[str, ...], ...]:
    r"""The numbers behind a box that may be a different answer, the last first, each in its possible spellings.

    `(("36\text{ metres}", "36"),)` for `It is 36 metres, not 35`, behind a box with 35. A number that the text before
    has, too, counts only behind a label.

    Args:
        before: the text before the box.
        rest: the text behind it.
        content: the text in it.
    """
    # the rest of the box's own formula is read with the box, and an equation is a step or a check
    rest = _EQUATION.sub(
        partial(_conclusion_of, content),
        _OWN_FORMULA.sub(" ", rest) if opens_formula(before) else rest,
    )
    if _letters(content.rpartition("=")[2]) and _RELATED.search(content) is None:
        rest = _WHERE.sub(lambda said: " " if said["letter"] in content else said[0], rest)
    if "," not in content:
        # if the answer is a single number, a point such as `(-3,7)` is not a different answer
        rest = _POINT.sub(" ", rest)
    rest = _EXPLAINS.sub(_unless_it_states, rest)
    rest = LIST.sub(partial(_unless_counted, content.strip()), rest)
    if not any(map(str.isdigit, rest)) or not any(map(str.isdigit, content)):
        return ()
    said, listed = same_text(content), members_of(content) or set(re.findall(_NUMBER, content))
    known = _numbers_known(before, content, rest)
    if len(listed) > 1 and listed <= set(re.findall(_NUMBER, rest)):
        # all values of the box are stated again; those of a point must keep their order
        order = list(dict.fromkeys(one for one in re.findall(r"[-−]?\d+", rest) if one in listed))
        in_order = not members_of(content) or order == list(dict.fromkeys(re.findall(r"[-−]?\d+", content)))
        return () if in_order or _Y_FIRST.search(rest) else ((f"({','.join(order)})",),)
    announced = list(_ANNOUNCED.finditer(rest))
    if announced and same_text(announced[-1][1]) != said:
        return (_written(announced[-1], 1),)
    news: list[tuple[str, ...]] = []
    for sentence in reversed(re.split(r"(?:[.!]|(?<=\?))\s|[。！\n]|(?<=[？؟])", rest)):
        sentence = _OF_STEP.sub(" ", sentence)
        is_else = _OF_ANOTHER.search(sentence) is not None
        following = len(sentence)
        for found in reversed(list(_STATED_NUMBER.finditer(sentence))):
            denied = _is_number_denied(sentence, found, following)
            following = found.start()
            if (same_text(found[0]) == said and not denied) or len(news) > _MOST_STATED:
                return tuple(news)
            is_other = is_else or denied or found[0] in known or (found[0] in content and _is_part(sentence, found))
            if not is_other or (found[0] in content and _alone_called_right(sentence) < found.start()):
                news.append(NewNumber(_written(found, 0)))
    return tuple(news)


# A bound of a letter, for which a formula holds: `for $x>0$`
_RELATED = re.compile(r"[<>≤≥≠]|\\(?:[lg](?:e|eq|t)|neq?)(?![a-z])")
_WHERE = re.compile(
    rf"\$\s*(?:[-\d.]+\s*(?:{_RELATED.pattern})\s*)?(?P<letter>[a-z])\s*(?:{_RELATED.pattern})\s*[-\d.]+(?:\s*,\s*[-\d.]+)*\s*\$"
)
_Y_FIRST = re.compile(r"(?<![a-z])y(?![a-z]).*(?<![a-z])x(?![a-z])|ord[ei]n.*absc", re.DOTALL | re.IGNORECASE)
_PLAIN = re.compile(r"\d+(?:\.\d+)?")


def members_of(content: str) -> set[str]:
    """The numbers of a point or an interval of integers: `-3` and `7` of `(-3,7)`; empty for any other text.

    In brackets the comma is no decimal comma.
    """
    inside = _POINT.fullmatch(content.strip())
    return set() if inside is None else set(re.findall(r"[-−]?\d+", content))


# Words that choose one of several values: `only 7 is right`
_ALONE = re.compile(
    r"\b(?:only|just|nur|bloß|seul\w*|s[oó]l[oa]\w*|soltanto|apenas|somente|только|лишь|tylko|pouze|alleen|bara|endast"
    r"|doar|yalnızca|sadece|hanya|chỉ)\b|[只仅]|だけ|のみ|만",
    re.IGNORECASE,
)
_POINT = re.compile(r"[(（]\s*[-−]?\d+\s*[,，;]\s*[-−]?\d+\s*[)）]")
_MARGIN = re.compile(r"(?<!\d)(\d+(?:\.\d+)?)\s*(?:\\pm(?![a-z])|±)\s*(\d+(?:\.\d+)?)")
_OF_DIGITS = re.compile(
    r"\b(?:ends? (?:in|with)|digits?|endet auf|ziffern?|chiffres?|cifras?|cifre|цифр)|尾数|个位|数字", re.IGNORECASE
)


@lru_cache(maxsize=64)
def _alone_called_right(sentence: str) -> int:
    """The position of `only` in a sentence that calls one of several values right: 0 for `Only 7 is correct`.

    The sentence's length if it does not do so.
    """
    alone = _ALONE.search(sentence)
    return alone.start() if alone is not None and CALLS_RIGHT.search(sentence) is not None else len(sentence)


def _is_part(sentence: str, number: re.Match[str]) -> bool:
    """Whether a number that is a part of the answer's digits is not a different answer.

    Such as `315.25` in `The interest is 315.25`, of an answer 2315.25, or `5` in `It ends in 5`.
    """
    if "." in number[0]:
        words = re.findall(r"[^\W\d_]+", sentence.lower())
        of_else = [word for word in words if not is_neutral(word) and CALLS_RIGHT.fullmatch(word) is None]
        return any(len(word) > _SHORT for word in of_else) and not any(map(turns, words))
    part = _OF_WHICH.search(sentence)
    is_of_which = part is not None and part.start() < number.start() < part.end()
    return is_of_which or _OF_DIGITS.search(sentence, 0, number.start()) is not None


def _numbers_known(before: str, content: str, rest: str) -> set[str]:
    """The numbers of an answer and of the text before it; `5` is also known if the text before has 0.05.

    Both parts of an answer 6.35 are known if `rest` has both: `6 dollars and 35 cents`.

    Args:
        before: the text before the answer.
        content: the answer.
        rest: the text behind the answer.
    """
    known = {
        *re.findall(_NUMBER, content),
        *members_of(content),
        *_PLAIN.findall(content),
        *re.findall(_NUMBER, before),
    }
    plain, said = set(_PLAIN.findall(before)), set(_PLAIN.findall(rest))
    for one in _PLAIN.findall(content):
        parts = set(one.split("."))
        known |= parts if parts <= said else set()
    if (margin := _MARGIN.search(content)) is not None:
        middle, width = Decimal(margin[1]), Decimal(margin[2])
        known |= {str(middle - width), str(middle + width)}
    return known | plain | {one.partition(".")[2].lstrip("0") for one in plain if one.startswith("0.")}


def _is_number_denied(sentence: str, number: re.Match[str], following: int) -> bool:
    """Whether a word of denial is about a number: `not 43`, `43 would be wrong`, but not `that is wrong: it is 43`.

    Args:
        following: the position of the next number in the sentence, or of the sentence's end.
    """
    if _ASKS_WHETHER.match(sentence) and sentence.rstrip()[-1:] in ("?", "？", "؟"):
        # `Should it not be 43?`
        return False
    front = _PARTS_CLAUSES.split(sentence[max(number.start() - _FRAME_NEAR, 0) : number.start()])[-1]
    if (denial := _DENIES_NEXT.search(front)) is not None:
        return len(denial["between"].split()) <= _MOST_BETWEEN and CALLS_RIGHT.search(denial["between"]) is None
    back = sentence[number.end() : following]
    said = _PARTS_CLAUSES.split(back)[0] or back
    # `43 and not 42` denies the other number
    ends = following == len(sentence) or said != back
    return ends and _CONTRASTS.match(back) is None and is_denied(said)


_MOST_BETWEEN = 5
_CONTRASTS = re.compile(r"[\s$)\]\\]*(?:and|or|but|not|rather|instead)\b", re.IGNORECASE)
# The beginning of a question that proposes a number although it has `not` in it: `Should it not be 43?`
_ASKS_WHETHER = re.compile(
    r"\W*(?:(?:or|but|oder|ou|o|или)\W+)?(?:is|are|was|should|must|could|would|ist|sollte|muss|müsste)(?:n['’]t)?\b",
    re.IGNORECASE,
)
# A denial, and the words between it and the number behind it
_DENIES_NEXT = re.compile(
    r"(?:\b(?:not|never|neither|nor|cannot|no longer|anything but|other than|different from|far from|unlikely"
    r"|ruled? out|rather than|instead of)\b|n['’]t\b"
    r"|\b(?:incorrect|wrong|impossible|invalid|absurd)(?=(?: to)?(?: [a-z]+)?\W*\Z)"
    r"|不是|不为|不等于|不会|不可能|并非|绝非|而非|排除)(?P<between>(?:(?!\b(?:not|never|rather|instead)\b).)*)\Z",
    re.IGNORECASE,
)
# The border between two clauses; a comma between numbers is none
_PARTS_CLAUSES = re.compile(
    r"[;；:：，]|,(?!\s?[$\d-])|\b(?:but|so|thus|therefore|hence|because|since|sondern|also|denn|weil|mais|donc|car"
    r"|parce que|sino|luego|porque|mas|però|perché|но|поэтому|потому что|所以|因此|因为|而是|应)",
    re.IGNORECASE,
)


_ATOMS = re.compile(r"\s*[A-Z][a-z]?(?:[,.\s]|\Z)")
_CLAUSES = re.compile(r"[,，;；:：。!！?？\n]|\.(?!\d)|\b(?:and|while|whereas)\b")


def is_of_else(number: str, behind: str, question: str) -> bool:
    """Whether a number behind an answer is about something that the question does not ask for, wherever it occurs.

    Such as 8 in `Of this, 8 is interest`, a part of the answer, in `8 less than the original price`, or in `At that
    time she will be 8`, if the question asks for the time.

    Args:
        number: the number's text.
        behind: the text behind the answer.
        question: the task's text.
    """
    stands = re.compile(rf"(?<![\d.,]){re.escape(number)}(?![\d.,]*\d)")
    found = list(itertools.islice(stands.finditer(behind), _MOST_SAID + 1))
    if not 0 < len(found) <= _MOST_SAID:
        return False
    asked = question.lower()
    return all(_is_led_by_else(behind, one.start(), one.end(), asked) for one in found)


_MOST_SAID = 3


def sentence_around(behind: str, start: int, end: int) -> tuple[int, str]:
    """The position of the sentence around the text from `start` to `end`, and the sentence."""
    begins = max((mark.end() for mark in _SENTENCE_MARK.finditer(behind, 0, start)), default=0)
    stop = _SENTENCE_MARK.search(behind, end)
    return begins, behind[begins : len(behind) if stop is None else stop.start()]


def _is_led_by_else(behind: str, start: int, end: int, asked: str) -> bool:
    """As `is_of_else`, for the number from `start` to `end`; `asked` is the question in lower case."""
    begins, sentence = sentence_around(behind, start, end)
    words = re.findall(r"[^\W\d_]+", sentence.lower())
    if is_denied(sentence):
        return False
    compared = _compared(behind, begins, start, end, asked)
    # in a comparison `less` is not a correction
    if any(turns(word) for word in words if word not in compared):
        return False
    said = behind[begins:start]
    if (part := _OF_THIS.match(sentence)) is not None and CONCLUDING.search(said, part.end() - 1) is None:
        return True
    if _SUCH.search(sentence) is not None and _ASKS_OF_ALL.search(asked) is not None:
        return True
    if _NAMES_VALUE.search(sentence) is not None:
        return False
    if compared:
        return True
    at_that_time = _AT_THAT_TIME.match(sentence) is not None and CONCLUDING.search(said) is None
    if at_that_time and _ASKS_TIME.search(asked) is not None:
        return True
    if (of_which := _OF_WHICH.search(sentence)) is not None and of_which["noun"].lower()[:_STEM] not in asked:
        return True
    counts_atoms = _REACTS.search(asked) is not None and len(_OF_ELEMENT.findall(sentence)) > 1
    return _ATOMS.match(behind, end) is not None and (counts_atoms or _ATOM.search(sentence) is not None)


# Something at the time that is asked for: `At that time the father will be 48`
_AT_THAT_TIME = re.compile(
    r"\W*(?:at that (?:time|moment|point)|by then|en ese momento|zu diesem zeitpunkt|à ce moment(?:-là)?"
    r"|nesse momento|in quel momento|в этот момент|w tym momencie|届时|那时)[^:]*",
    re.IGNORECASE,
)
# The beginning of a conclusion, which may be a different answer
CONCLUDING = re.compile(r"[;:；：]|\b(?:so|thus|hence|therefore|then|but|which|leav\w+|giv\w+|mak\w+)\b|所以|因此|故")
# A difference from another thing: `48 kronor lägre än`, `提前了4天` behind `比`
_BEHIND_COMPARED = re.compile(
    r"\s?\$?(?:\s?[^\W\d_]++){0,2}\s(?:more|less|fewer|earlier|later|lower|higher|shorter|longer|cheaper|faster|slower"
    r"|mehr|weniger|niedriger|höher|früher|später|plus|moins|más|menos|mais|più|meno|lägre|högre|меньше|больше|раньше|позже)"
    r"\s(?:[^\W\d_]+\s)?(?:than|als|que|di|del|än|чем)\s(?P<than>[^.,;!?\n]{1,60})"
    r"|\s?\$?(?:\s[^\W\d_]++){0,3}?\s(?:compared (?:with|to)|im Vergleich zu[mr]?|par rapport (?:à|au)|respecto al?"
    r"|rispetto a\w*|em relação [aà]o?|по сравнению с)\s(?P<with>[^.,;!?\n]{1,60})",
    re.IGNORECASE,
)
# Verbs for a difference without a comparative: `saves 5 compared with`
_SAVES = re.compile(r"\b(?:sav|spar|écono|ahorr|risparmi|эконом|gain|los[est]|reduc)\w*", re.IGNORECASE)
# Words for an earlier amount, `the original price`; other words behind `than` must be in the question
_EARLIER = re.compile(
    r"(?:before|original|initial|first|start|begin|plan|previous|usual|urspr|vorher|anfang|avant|départ|antes|inici|princip"
    r"|prima|iniz|раньше|сначала|первонач)"
)
_SHORT = 3
_BEFORE_COMPARED = re.compile(r"比[^，。；,;]{1,14}[多少提快慢高低长短早晚节降增省][^，。；,;\d]{0,4}\Z")
_ASKS_COMPARISON = re.compile(
    r"\b(?:than|als|än|чем|differen\w+|difer\w+|разниц\w+|unterschied|compared)\b|比|差|提前|[多少高低]多少|节约|节省|相差"
)


_ASKS_TIME = re.compile(
    r"\b(?:when|in how many|how long|wann|in wie viel|quand|dans combien|dentro de cuánt|cuándo|daqui a quant|quando"
    r"|tra quant|через сколько|когда|za ile|kiedy)|几年|多少[年天小时月]|何时"
)


def _compared(behind: str, begins: int, start: int, end: int, asked: str) -> str:
    """The words that make a number a difference or a share, such as ` less than the original price`.

    Empty if there are none, or if the question asks for a difference or a share.

    Args:
        behind: the text behind the answer.
        begins: the position of the number's sentence in it.
        start: the position of the number.
        end: the position of the number's end.
        asked: the question in lower case.
    """
    if _ASKS_COMPARISON.search(asked) is not None:
        return ""
    if (before := _BEFORE_COMPARED.search(behind[max(begins, start - 40) : start])) is not None:
        return before[0]
    if (share := _IS_SHARE.match(behind, end)) is not None:
        clause = _SENTENCE_MARK.split(asked.rstrip("?？ \n"))[-1]
        return share[0] if "how many" in clause and _ASKS_SHARE.search(clause) is None else ""
    if (found := _BEHIND_COMPARED.match(behind, end)) is None:
        return ""
    if found["with"] and _SAVES.search(behind, begins, start) is None:
        return ""
    words = [word for word in re.findall(r"[^\W\d_]+", (found["than"] or found["with"]).lower()) if len(word) > _SHORT]
    is_told = bool(words) and all(_EARLIER.match(word) or word in asked for word in words)
    return found[0].lower() if is_told else ""


# Words of a question that asks for a share, and a share behind its number: `5/12 of the whole`, `25% of all`
_ASKS_SHARE = re.compile(r"percent|per cent|%|fraction|portion|share|ratio|part|probab")
_IS_SHARE = re.compile(r"(?:(?<=/\d)|(?<=/\d\d)|\s?\\?%\$?) of (?:the|all|its|their|his|her)\b")


# A question about all of several things, such as their sum: how many they are is no answer to it
_ASKS_OF_ALL = re.compile(
    r"\A(?!.*\b(?:how many|number of|count)\b).*\b(?:sum|product|largest|smallest|greatest|least|average|mean)\b",
    re.DOTALL,
)
# A part of the answer: `Of this, 4 A flows through the first`; and how many things there are: `There are 3 such pairs`
_OF_THIS = re.compile(
    r"\W*(?:of (?:this|that|these|those|them|which)|davon|dont|dess[ea]s?(?: valor| total| quantia)?"
    r"|de (?:ellos|ellas|estos)|di (?:questi|queste)|из (?:них|этого)|z (?:tego|nich)|其中|このうち)"
    r"[\s,$\\(]*(?:R\\?\$)?\s?\d",
    re.IGNORECASE,
)
_SUCH = re.compile(r"\A\W*there (?:are|is) (?:exactly )?[\w$]+ such [a-z]+\W*\Z", re.IGNORECASE)
# `of which $312.16 is interest`
_OF_WHICH = re.compile(
    r"\bof (?:which|these|those|this),?\s[^a-zA-Z]{1,20}\s(?:is|are|was|were)\s(?:the |an? )?(?P<noun>[a-zA-Z]{3,})"
)
_STEM = 4
_SENTENCE_MARK = re.compile(r"[.?](?!\d)|!(?![\d=+*/^)-])|[。！？\n]")
_ATOM = re.compile(r"\A(?>.*?\d [A-Z][a-z]?\b).*\batoms?\b")
_REACTS, _OF_ELEMENT = re.compile(r"\\(?:long)?(?:right)?arrow|\\to\b|->|→"), re.compile(r"\d [A-Z][a-z]?(?![^\W_])")
_NAMES_VALUE = re.compile(
    rf"(?:{_ANSWER_WORDS})|答案|结果|所求|总|共|和|值|应|可能|也|或|重|更|改|后|实", re.IGNORECASE
)
_TURNING = frozenset("wait actually sorry oops instead rather correction mistake should must would".split())  # noqa: SIM905


def turns(word: str) -> bool:
    """Whether a word takes back the words before it: `actually`, `wait`."""
    return is_adverse(word) or word in _TURNING
