r"""Answers that the words around them take back: `The answer is not \boxed{7}`, `\boxed{7} is wrong`.

A solution may discuss wrong attempts elsewhere. So only a bounded number of words directly before and behind the answer
are read. They are read alike around a box, a tag, a mark or a label.
"""

from __future__ import annotations

import re

from agentscope_tuner.verify.labels import labelled

_BEFORE, _AFTER = 100, 400
_SPACES = re.compile(r"\s+")
# Formula delimiters, emphasis and brackets that may stand between a word and a box
_OPENING = ' -−\t\r\n\f\v\u00a0\u3000$*_`:：,，([{“"\\'
_OPENING_COMMAND = re.compile(r"\\(?:[;!]|displaystyle|quad|qquad|Large|large|mathbf|bf)\Z")
_ENDING = " \t\r\n$*_`)]}.\\"
_CLOSING = re.compile(r"(?:[\s$*_`)\]}”\"]|\\[)\],;:! ])*")
_STOPS = re.compile(r"(?:[\s$*_`)\]}”\".,;:!?。，；：！？…—–-]|\\[)\],;:! ])*")
_THE_ANSWER = (
    r"(?:(?:that|the|my|our|its|this|final|correct|right|total|it)\s+){0,4}"
    r"(?:(?:answer|result|value|sum|total|solution|number|it)\s+)?(?:is|was|were|equals|be|are)"
)
# Matched in lower case at each word of `_DENIALS`, because a search would take longer than the rest of the verdict
_DENIED = re.compile(
    r"(?:not|never|cannot|n't)(?:\s+(?:be|equal(?:\s+to)?|the\s+answer|necessarily|really|actually|exactly|simply))*$"
    r"|(?:instead\s+of|rather\s+than|other\s+than|anything\s+but|different\s+from|except"
    r"|(?<=\bno )longer(?:\s+(?:be|equal))?|rul(?:e|es|ed|ing)\s+out|(?<=\bas )opposed\s+to|neither|nor|unlike"
    r"|far\s+from)$"
    r"|(?:not|never|cannot|n't|doubt|deny|false|wrong|unlikely|impossible)"
    r"(?:\s+(?:really|actually|think|believe|say|claim|mean|conclude|agree|true|certain|sure|clear|likely|possible|the|case))"
    rf"{{0,3}}\s+{_THE_ANSWER}$"
    rf"|(?:if|whether|suppose|supposing|assume|assuming|unless|pretend)\s+{_THE_ANSWER}$"
)
_DENIED_IN_CHINESE = re.compile(
    r"(?:不是|不为|不等于|并非|绝非|而非|不可能是|不会是|不应该?是|不再是|排除|除了|(?:如果|假设|假如|若|是否)(?:答案|结果)?[是为])$"
)
# A quick test before the expressions above: every sentence that they match ends with a word of this list ...
_LAST_WORDS = frozenset(
    re.findall(
        r"\w+",
        """not never cannot be equal equals to answer necessarily really actually exactly simply of than but from except
        longer out neither nor unlike is was were are wrong incorrect false mistaken result value guess solution total
        sum write say choose pick put box give accept submit""",
    )
)
# ... and begins with a word of this list
_DENIALS = frozenset(
    re.findall(
        r"\w+",
        """not cannot never instead rather other anything different except longer rule rules ruled ruling opposed
        neither nor unlike far doubt deny false wrong unlikely impossible if whether suppose supposing assume assuming
        unless pretend incorrect mistaken""",
    )
)
_WORD = re.compile(r"[a-z']+")
_LETTERS = "abcdefghijklmnopqrstuvwxyz'"
_FIRST_HAN = "\u4e00"
# The most characters of a sentence that denies a box
_MOST_DENIED = 64
# `no number except \boxed{7}` and `没有别的，除了` confirm the box, because they exclude all other values
_EXCEPTING = re.compile(r"(?:except|other\s+than|anything\s+but|rather\s+than|different\s+from|除了)\Z", re.IGNORECASE)
_NO_OTHER = re.compile(r"\b(?:no|none|nothing|nobody|cannot|not|never)\b|n['’]t\b|没有|无|不", re.IGNORECASE)
_NO_OTHER_BEHIND = re.compile(
    r"[\s$*]*(?:[之以]?外)?[\s，,]*(?:(?:就|再|也|便|并)?(?:没有|无|不存在|不再有)(?:其他|其它|别的|他|另外|任何|第二)|别无"
    r"|(?:其他|其它|别的|其余|任何)[^，。；\n]{0,12}?[都均皆也]?(?:不|没))"
    r"|[\s$*,]*(?:there\s+(?:is|are)\s+)?(?:no|none|nothing|nobody)\b",
    re.IGNORECASE,
)
_CONFIRMED = re.compile(r"[?？\s$*)]*(?:yes|yep|correct|right|indeed|是的|对|没错|正确)", re.IGNORECASE)
# Applied to values only, because a task may ask for the wrong statement: `the wrong answer is \boxed{B}`
_CALLED_WRONG_BEFORE = re.compile(
    r"(?:wrong|incorrect|false|mistaken)(?:\s+(?:answer|result|value|guess|solution|total|sum))?(?:\s+(?:would\s+be|is|was))?$"
    r"|(?:never|not|n't|cannot)\s+(?:answer|write|say|choose|pick|put|box|give|accept|submit)$"
)
_CALLED_WRONG_IN_CHINESE = re.compile(
    r"(?:错误|不正确|错)的?(?:答案|结果)?[是为]?$|(?:不能|不要|不应|不可|别)(?:填|写|选|答|取|是|为)?$"
)
# Text before a box that is struck out, hidden or commented out
_HIDDEN = re.compile(
    r"(?:\\(?:[hv]?phantom|sout|st|[xbh]?cancel|iffalse|begin\{comment\}|(?:text)?color\s*\{?\s*white\s*\}?)\s*(?:\{\s*)?\$?|~~"
    r"|<!--[^>]{0,40}|<(?:s|del|strike)>)\s*\$?\Z"
    r"|(?:\A|\n)[^\S\n]*%[^\n]{0,60}\Z"
)
_HIDING = ("%", "~~", "<", "phantom", "sout", "\\st", "cancel", "iffalse", "comment", "white")
# Marks of a value. Text may rightly call a letter, a yes or a name wrong, as in `the wrong step is \boxed{B}`, so only
# values are checked for such text
_IS_VALUE = re.compile(r"\d|\\(?:pi|infty|frac|sqrt)")
_WRONG = (
    r"(?:wrong|incorrect|mistaken|a\s+mistake|an\s+error|erroneous|nonsense"
    r"|not\s+(?:the\s+)?(?:final\s+|actual\s+|real\s+)?(?:right|correct|answer)(?:\s+(?:answer|one|value))?)"
    r"(?!\s+(?:to|if|that|for|unless|on|by|only|when)\b)(?![-\w])"
)
_IS = (
    r"(?:is|was|seems|looks|appears|must\s+be|would\s+be|turns\s+out\s+to\s+be)"
    r"(?:\s+(?:actually|clearly|obviously|also|just|completely|simply|likely|probably|to\s+be))?"
)
_BACK = (
    r"(?:(?:but|and|however|although|though|yet|which|oh|wait|no|nope|actually|hmm+|sorry|oops|correction|hold\s+on"
    r"|scratch\s+that|never\s*mind)\b[\s,.:;!…—–-]*)"
)
_IT = (
    r"(?:that|this|it|the\s+(?:(?:above|previous|boxed|first)\s+)?(?:answer|result|value|box|one)"
    r"|my\s+(?:answer|result))"
)
_CALLED_WRONG = re.compile(
    rf"{_BACK}{{0,5}}(?:{_IT}\s+|which\s+)?(?:{_IS}\s+{_WRONG}|(?:is|was)n['’]t\s+(?:the\s+)?(?:right|correct|answer)\b"
    rf"|can(?:not|['’]t)\s+be\s+(?:right|correct|the\s+answer)\b)"
    rf"|{_BACK}{{0,5}}(?:that|it)['’]s\s+{_WRONG}"
    rf"|{_BACK}{{1,5}}i\s+(?:have\s+)?(?:made|make)\s+(?:a|an)\s+(?:\w+\s+)?(?:mistake|error)\b"
    r"|(?:scratch|ignore|disregard|forget|strike|discard)\s+(?:that|this|it|the\s+(?:above|previous|box|answer))\b"
    rf"|(?:wait|no|nope|actually|sorry|oops|correction)\b[\s,.:;!…—–-]*{_BACK}{{0,3}}(?:{_IT}|the\s+(?:correct|right|actual|real|true)\s+\w+|i\s+meant?)"
    r"\s+(?:(?:should|must|has\s+to|ought\s+to|would)\s+(?:have\s+been|be)|is|equals)\s*(?:actually\s*)?"
    r"(?P<other>[-$\\(\d]\S{0,30})"
    rf"|{_BACK}{{0,4}}(?:correction|i\s+meant?|or\s+rather|make\s+that|(?:no|nope|sorry|oops)(?=\s*[,.:;!—–-]))\s*[,.:：;!—–-]*\s*"
    r"(?P<meant>[-$\\(\d]\S{0,30})"
    r"|(?:no|nope)\s*[.!]*\s*$|[✗✘❌✖]|[(（]\s*(?:wrong|incorrect|false|错|不对|不是|×)"
    r"|(?:(?:但是?|不过|等等|等一下|哦|啊|抱歉|可是)[，,。.\s]*)*(?:(?:这|上面|该|此|那|以上|我)(?:个|的)?)?(?:答案|结果|数)?(?:是|显然|其实|好像|应该|算)*"
    r"(?:不对|不正确|错的|错误的?|错了|有误)(?!的)",
    re.IGNORECASE,
)
# The counted noun behind the box, as in `\boxed{7} apples.`
_COUNTED = re.compile(r"(?:[\u4e00-\u9fff]{1,4}|[a-zA-Z]{1,15}(?:\s[a-zA-Z]{1,15}){0,2})?(?=[.。，,！!？?;；])")
_VALUE = re.compile(r"[\s$*\\()\[\].,;!{}]")


# One table: what a sentence may say of an answer beside it other than that it is the answer, in the languages of the
# models' solutions. A question's own words are not meant: where they ask for the wrong step, it is the answer

# The clause before an answer multiplies it, supposes it, doubts it, or gives it as a mistake, an example or a claim
_MAKES_ANOTHER = re.compile(
    r"\b(?:half|twice|double|triple|thrice|tenfold|hälfte|doppelte?|dreifache|moitié|doble|mitad|triplo|metade|dobro"
    r"|metà|doppio|половин\w*|удвоенн\w*|вдвое|в \w+ раза? (?:больше|меньше)|yarısı|iki katı)\b"
    r"|[2-9两二三]\s?倍|半分|一半|之半|절반|[두세] ?배|نصف|ضعف|आधा|दोगुना",
    re.IGNORECASE,
)
_GIVEN_AS_ELSE = re.compile(
    r"\b(?:doubt\w*|unsure|pretend\w*|placeholder|template|instructions?|distractor|trap|eliminat\w+"
    r"|reject\w*|discard\w*|wrong(?:ly)?|incorrect(?:ly)?|mistaken(?:ly)?|erroneous(?:ly)?|mistakes?|errors?"
    r"|ignor(?:e|es|ed|ing)|forg[eo]t\w*|overlook\w*|neglect\w*|misread\w*|miscount\w*|earlier version|format example"
    r"|example (?:format|output|answer)|(?:someone|somebody|others?|people|students?|teacher|author|book|key|friend|he|she|they"
    r"|model|calculator|website|forum) (?:\w+ )?(?:claims?|claimed|answered|answers?|replied|wrote|writes|thinks|thought|believes?"
    r"|believed|says|said|gave|gives|suggests?|suggested)"
    r"|would(?: never)? have (?:\w+ed|been|got|gotten|found|given|had)|must not|should not|cannot possibly"
    r"|dud[oa]\w*|duvid\w+|dubit\w+|doute\w*|bezweif\w+|betwijfel\w*|сомнева\w+|wątpi\w*|incorrect[oae]s?|equivocad[oa]s?"
    r"|erróne[oa]s?|erron[ée]\w*|errad[oa]s?|sbagliat[oaie]|errat[oaie]|incorret[oa]s?|falsch\w*|irrtümlich\w*|fehler\w*"
    r"|faux|fausse|erreur\w*|ошиб\w+|неверн\w+|неправильн\w+|yanlış\w*|hatalı|şüphe\w*|błęd\w+|помилк\w+|salah|keliru|fout\w*"
    r"|ignora\w+|olvid\w+|oubli\w+|vergess\w+|vergiss\w*|dimentic\w+|esquec\w+|забы\w+|unut\w+"
    r"|hätten?|wären?|aurait|aurions|aurais|hubiér\w+|hubiera\w*|habríamos|avremmo|avrebbe|teríamos|бы)\b"
    r"|\bsai(?=\s|$)|nghi ngờ|nếu|giả sử|忽略|忘记|漏|错误?|误|假如|假设|难道|是否|怀疑|若[^，,]*$|間違|誤|疑|もし|仮に|틀린|잘못|만약|의심"
    r"|خطأ|خاطئ|أشك|لو |गलत|अगर|यदि|शक |ผิด|ถ้า|สงสัย|λάθος",
    re.IGNORECASE,
)
_COUNTERFACTUAL = re.compile(r"^\W*(?:had|were) (?:\w+ ){1,3}|\bif \w+ (?:had|were)\b[^.]*\bwould\b", re.IGNORECASE)
# Denials that stand just before what they deny
_DENIES_NEXT = re.compile(
    r"(?:\b(?:no es|no son|no era|non è|não é|nicht|keineswegs|kaum|n['’]est (?:pas|point)|ne vaut pas|niet|nie jest|inte|ikke|не"
    r"|bukan|không phải(?: là)?|chưa phải là|δεν είναι|nu este|ei ole|nem)(?: \w+){0,2}|ليس(?:ت)?|לא)\W*$",
    re.IGNORECASE,
)
# What stands right behind an answer and denies it, questions it, or goes on against it
_TURNS_BEHIND = re.compile(
    r"(?:ではな|じゃな|でない|とは限ら|にはなら|となるが|だが|ですが|だろうか|でしょうか|ですか|か[。？]|[은는이가을를]? ?(?:아니|아닙|않|되지만|이지만|지만|라는 것은 틀)"
    r"|değil|olamaz|mi\?|mı\?|mu\?|नहीं|नही|لا يمكن|ไม่ใช่|吗|么[？?]|是错|不对|是不对|को अस्वीकार|নয়|இல்லை"
    r"|(?:,|;|，|；|—|–|-|\()?\s*(?:but|however|although|though|yet|aber|jedoch|doch|mais|pero|però|porém|но|однако|ama|ancak|fakat"
    r"|nhưng|tuy nhiên|tetapi|tapi|namun|ale|jednak|maar|echter|men|αλλά|אבל|لكن|ولكن|लेकिन|परंतु|किंतु|แต่|但|可是|不过|然而|而实际|而正确"
    r"|しかし|하지만|그러나)(?![a-z]))",
    re.IGNORECASE,
)
_SCALED = re.compile(
    r"(?:(?:text|mathrm)\s*\{\s*)?(hundred|thousand|million|billion|trillion|dozen|percent|mille|millions?|Millionen"
    r"|millones|milhões|тысяч\w*|миллион\w*|[十百千万亿億兆]|만|억|倍|の[2-9]倍|的[一两二三\d]?[半倍])(?![a-z])",
    re.IGNORECASE,
)
# A writer who says that they have no answer, and a short sentence that calls what it follows wrong
_HAS_NONE = re.compile(
    r"\bi (?:\w+ ){0,2}(?:do not know|don['’]t know|could(?: not|n['’]t)|cannot|can['’]t|was(?: not|n['’]t) able|am not able|have no\b"
    r"|have(?: not|n['’]t)|did(?: not|n['’]t) (?:solve|find|finish)|am unable|was unable|give up|retract|withdraw|take (?:it|that) back)"
    r"|\bno (?:final )?answer\b|\bno sé\b|je ne sais pas|weiß (?:es )?nicht|non lo so|não sei|не знаю|nie wiem|bilmiyorum|không biết"
    r"|tidak tahu|不知道|无法确定|わからない|分かりません|わかりません|모르|모른다|لا أعرف|لا أعلم|नहीं जानता|पता नहीं|ไม่รู้|ไม่ทราบ",
    re.IGNORECASE,
)
_CALLS_WRONG = re.compile(
    r"\b(?:wrong|incorrect|mistaken|false|falsch|faux|incorrecto|equivocado|erróneo|errado|incorreto|sbagliato|errato"
    r"|неверно|неправильно|ошибка|błędne|yanlış\w*|hatalı|salah|keliru|fout|onjuist)\b|\bsai\b|错|误|不对|間違|誤り|틀렸|틀린|잘못"
    r"|خطأ|خاطئ|गलत|ผิด|λάθος",
    re.IGNORECASE,
)
_ANSWER_WORD = re.compile(r"answer|result|value|solution|guess|respuesta|réponse|antwort|ответ|答")
_MOST_WORDS, _MOST_SIGNS = 5, 36
_SENTENCE_END = re.compile(r"[.!?؟।](?=[\s*_)\]\"'”’}]|$)|[。！？]|\n")
_CLAUSE_END = re.compile(r"[,;，；、،—–](?=\D|$)|[:：](?=\s|$)")
_OPENERS = re.compile(r"[\s$*_`>#({\[\\|-]*$")


def turned(text: str, before: str, behind: str, question: str) -> str:
    """What the sentence of an answer says of it other than that it is the answer; empty where it says nothing so.

    Args:
        text: the answer.
        before: the text before the answer.
        behind: the text behind it.
        question: the task's text; its own words turn no answer round.
    """
    asked = question.lower()
    lead = _lead(before)
    clause = lead[max((cut.end() for cut in _CLAUSE_END.finditer(lead)), default=0) :]
    if not clause.strip(" $*\\") and (len(lead.split()) < _MOST_WORDS or _ANSWER_WORD.search(lead)):
        # a colon, or a comma, right before the answer
        clause = lead
    is_value = _IS_VALUE.search(text) is not None
    for found in _MAKES_ANOTHER.finditer(lead):
        if not any(map(str.isdigit, lead[found.end() :])) and found[0].lower() not in asked:
            return found[0]
    for pattern, part in ((_GIVEN_AS_ELSE, clause), (_COUNTERFACTUAL, lead), (_DENIES_NEXT, clause)):
        found = pattern.search(part)
        if (
            found is not None
            and not _is_asked_word(found[0], asked)
            and (is_value or not _CALLS_WRONG.search(found[0]))
        ):
            return found[0].strip()
    return _turned_behind(text, behind, asked)


def _is_asked_word(said: str, asked: str) -> bool:
    words = said.lower().split()
    return bool(words) and all(word.strip(",.") in asked for word in words)


def _lead(before: str) -> str:
    """The sentence that leads to an answer; where the answer's line has no words, the line above it too."""
    text = _OPENERS.sub("", before[-_BEFORE * 2 :])
    ends = [end.end() for end in _SENTENCE_END.finditer(text)]
    if ends and ends[-1] == len(text):
        ends.pop()
    return text[ends[-1] if ends else 0 :].lower()


def _turned_behind(text: str, behind: str, asked: str) -> str:
    words = _words_behind(_SPACES.sub(" ", behind[:_AFTER].replace("\n", " \n ", 1)))
    if not words.strip():
        return ""
    for pattern in (_TURNS_BEHIND, _SCALED):
        if (found := pattern.match(words)) is not None and found[0].strip(" ,;，；").lower() not in asked:
            return found[0].strip()
    stop = _SENTENCE_END.search(words)
    first, rest = (words[: stop.end()], words[stop.end() :]) if stop is not None else (words, "")
    if first[-1:] in "?？؟" and first and _CONFIRMED.match(rest) is None:
        return "?"
    if _IS_VALUE.search(text) is None or text in words:
        # what is wrong may be the answer, and a value that is said again is confirmed
        return ""
    for sentence in (first, rest[: stop.end()] if (stop := _SENTENCE_END.search(rest)) is not None else rest):
        short = len(sentence.split()) <= _MOST_WORDS and len(sentence) <= _MOST_SIGNS and sentence[-1:] not in "?？؟"
        short = short and not any(map(str.isdigit, sentence)) and _NO_OTHER.search(sentence) is None
        found = _HAS_NONE.search(sentence) or (_CALLS_WRONG.search(sentence) if short else None)
        if found is not None and found[0].lower() not in asked:
            return found[0]
    return ""


# A quick test of the words just before an answer that ends its text
_TURNING = _DENIALS | frozenset({"no", "nor", "or"})


def is_turned(near: str) -> bool:
    """Whether words just before a box may deny it, suppose it, or make another value of it."""
    near = near.lower().replace(":", " ")
    if not _TURNING.isdisjoint(near.split()) or "n't" in near or "n’t" in near:
        return True
    return any(one.search(near) is not None for one in (_MAKES_ANOTHER, _GIVEN_AS_ELSE, _COUNTERFACTUAL, _DENIES_NEXT))


def is_taken_back(text: str, start: int, end: int, inside: str) -> bool:
    """Whether the words around a box deny it, suppose it, question it, or take it back.

    Args:
        text: the whole output.
        start: the position of the box's start.
        end: the position of the box's end.
        inside: the text in the box.
    """
    near = text[max(start - _BEFORE, 0) : start]
    before = _without_opening(near).lower().replace("’", "'")
    denials = _denials(before)
    if denials and any(_denies(before, at, text, end) for at in denials):
        return True
    behind = text[end : end + _AFTER]
    # Most outputs end with the box, so the substitution is skipped for them
    behind = _SPACES.sub(" ", behind) if behind.strip(_ENDING) else ""
    if _IS_VALUE.search(inside) is None:
        return behind != "" and _is_asked(_words_behind(behind))
    if (denials and any(_calls_wrong(before, at) for at in denials)) or _is_hidden(near, start):
        return True
    return behind != "" and _is_corrected(_words_behind(behind), text[end:], inside)


def _words_behind(behind: str) -> str:
    at = _CLOSING.match(behind)
    assert at is not None
    return behind[at.end() :]


def _is_asked(words: str) -> bool:
    """Whether a question mark stands behind the box, and no confirmation behind the mark."""
    return words[:1] in ("?", "？") and _CONFIRMED.match(words) is None


def _is_corrected(words: str, rest: str, inside: str) -> bool:
    """Whether the words behind a value question it, call it wrong, or replace it.

    Args:
        words: the words behind the box, up to a bounded number of characters.
        rest: all of the text behind the box.
        inside: the text in the box.
    """
    if words[:1] in ("?", "？"):
        return _is_asked(words)
    found = _CALLED_WRONG.match(words, _past_stops(words, 0))
    if found is None and (counted := _COUNTED.match(words)) is not None:
        found = _CALLED_WRONG.match(words, _past_stops(words, counted.end()))
    if found is None:
        return False
    said = _VALUE.sub("", inside)
    other = found["other"] or found["meant"]
    if other is not None and _VALUE.sub("", other) == said:
        return False
    again = labelled(rest)
    # A later label that announces the same value confirms it
    return again is None or _VALUE.sub("", again.text) != said


def _denies(before: str, at: int, text: str, end: int) -> bool:
    found = _DENIED_IN_CHINESE.search(before, at) if before[-1] >= _FIRST_HAN else _DENIED.match(before, at)
    if found is None:
        return False
    if _EXCEPTING.search(found[0]) is None:
        return True
    return (
        _NO_OTHER.search(before, 0, found.start()) is None and _NO_OTHER_BEHIND.match(text, end, end + _BEFORE) is None
    )


def _calls_wrong(before: str, at: int) -> bool:
    if before[-1] >= _FIRST_HAN:
        return _CALLED_WRONG_IN_CHINESE.search(before, at) is not None
    return _CALLED_WRONG_BEFORE.match(before, at) is not None


def _without_opening(text: str) -> str:
    """The text before a box up to its last word: the delimiters, emphasis and brackets behind the word are cut off."""
    text = text.rstrip(_OPENING)
    # Most texts end in a word without a command, so look for a backslash near the end before the slower search
    while "\\" in text[-14:] and (command := _OPENING_COMMAND.search(text, max(len(text) - 14, 0))) is not None:
        text = text[: command.start()].rstrip(_OPENING)
    return text


def _denials(before: str) -> list[int]:
    """The positions in `before` where a denial of the box may begin; most boxes have none."""
    last, at = before[-1:], max(len(before) - _MOST_DENIED, 0)
    if last >= _FIRST_HAN:
        return [at]
    word = before[len(before.rstrip(_LETTERS)) :]
    if word not in _LAST_WORDS and not word.endswith("n't"):
        return []
    if "not" not in before and "n't" not in before and _DENIALS.isdisjoint(before.replace("(", " ").split()):
        return []
    words = _WORD.finditer(before, at)
    starts = (found.start() if found[0] in _DENIALS else found.end() - 3 for found in words if _may_deny(found[0]))
    return list(starts)


def _may_deny(word: str) -> bool:
    return word in _DENIALS or word.endswith("n't")


def _is_hidden(near: str, start: int) -> bool:
    """Whether a value is struck out or commented out by the text before it."""
    for hiding in _HIDING:  # noqa: SIM110 - a generator takes twice as long
        # a mark before the text where the window begins within a line
        if hiding in near and _HIDDEN.search("…" + near if start > _BEFORE else near):
            return True
    return False


def _past_stops(text: str, at: int) -> int:
    stops = _STOPS.match(text, at)
    assert stops is not None
    return stops.end()
