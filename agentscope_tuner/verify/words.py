r"""Reads the words around an answer for what takes it back, doubts it, supposes it or changes it.

A solution may lead to its answer in any words of any language, so words that are unknown say nothing. What turns an
answer is of few kinds, each a closed class of words: denials, suppositions, words that call an answer wrong or doubt
it, and operations and bounds that stand right beside a value. Words inside a box are another matter: there each must be
understood (`math.read`).

Only the sentence of the answer is read, and the sentences behind it: before it, the clause that the answer stands in.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


# --- the one table: words that turn an answer, and what they lean on, language by language

SUPPOSES = _set(
    """if whether suppose supposing assume assuming unless pretend imagine otherwise though although wenn ob
    angenommen si suponiendo supposons se sia supondo если ли eğer nếu giả jika kalau jeśli als indien ifall إذا
    لو अगर यदि क्या 만약 만일 acaba liệu هل"""
)
DENIES = _set(
    """není nejsou nije δεν ei pole nu not no never nein nope non none nor neither cannot nothing nobody without nicht
    kein keine keinen nie niemals pas point jamais ne ningún ninguno nunca jamás não nem mai нет не ни
    никогда değil asla
    không chưa chẳng bukan tidak nie niet geen inte aldrig ikke לא ليس لا नहीं 아니라 아니 아닌 ไม่ except but
    besides sem nem არ չէ չի نیست కాదు نہیں নয় அல்ல இல்ல није nisu אינה אינו אין mustahil keinesfalls
    keineswegs aucunement ουδέποτε όχι"""
)


# Reflexive pronouns of some languages, and conjunctions of others: they suppose only where a clause begins
_SUPPOSES_FIRST = frozenset({"si", "se"})


_WHEN = _set("when quand lorsque cuando quando когда falls gdy khi wanneer")
# Denials of what stands next to them alone: `everything except`
_EXCEPTS = frozenset({"but", "except", "besides", "point"})


def denies(word: str) -> bool:
    """Whether a word denies what follows it."""
    return word in DENIES or word.endswith(("n't", "n’t")) or word.startswith(("아니", "않"))


# Words that turn against what was said before
_ADVERSE = _set(
    """however but yet though unfortunately allerdings jedoch aber leider cependant toutefois mais embargo pero porém
    mas contudo però tuttavia ma однако но увы jednak ale niestety maar echter ancak fakat"""
)
# Words that say that an answer follows
SO = _set(
    """so therefore thus hence consequently whence daher damit somit also folglich donc ainsi d'où finalement luego
    entonces por tanto así assim portanto logo quindi dunque perciò следовательно следователно поэтому значит итак
    sonuçta nedenle vậy do đó jadi maka zatem więc dus daarom derfor alltså därför إذن لذلك अतः इसलिए 따라서 그러므로
    즉 тому отже tedy proto takže άρα επομένως بنابراین پس prin urmare deci tehát így siis joten altså dakle stoga
    לכן সুতরাং kwa hiyo samakatuwid"""
)
# Words that begin a part of a sentence which says why, where or when
OPENS = _set(
    """because since as which where so when if thus therefore hence and giving making after before by with in on at
    for from of to or per ie eg using due given while during among between within across throughout until who whose
    into than including over oder weil da denn wobei und für von mit nach durch ou car puisque donc où pour comme
    dont de et par avec après porque pues ya donde para con y o perché poiché dove pois com onde per e так где для по
    после çünkü için vì nên để karena untuk bo gdyż want omdat namely nämlich savoir saber incluindo como wie как
    分别是 分别为 即"""
)
REASONS = _set(
    """como puesto because due since weil da denn car puisque porque pues perché poiché pois потому çünkü vì karena
    bo gdyż omdat"""
)
# Words that may not stand right before a value: they bound it or shift it. From what a value is, another differs
SHIFTS = _set(
    """instead short shy different far close over from than before after between within until without during
    throughout while if when though under above below beyond past given assuming upwards north south oder ou più plus
    más mehr menos moins weniger больше меньше fewer minus near about almost nearly roughly approximately barely hardly
    knapp etwa ungefähr rund unter über fast fere environ presque jusqu'à quasiment casi mejor quase circa cerca
    около почти порядка примерно yaklaşık περίπου σχεδόν kira-kira sekitar hampir omtrent ongeveer bijna około prawie
    blisko omkring nästan bortåt khoảng gần xỉ від od от från dari عن حوالي تقريبا लगभग 약 거의 대략 ประมาณ"""
)
# Prepositions right before a value that say nothing: the word before them may bound it
_HANGS = _set("of to by at de von di del da do van i từ in on for as per a")
# What may come to a sum: `adds up to`
_RISES = _set("add adds added sum sums come comes out end ends make makes work works turns found round rounds")
VERBS = _set(
    """is are was were equals equal costs cost gives gets makes became becomes comes reads ist sind war waren hat
    haben beträgt ergibt kostet est sont était a ont vaut possède coûte es son era tiene tienen hay cuesta vale é são
    tem há custa è ha hanno costa равен равна равно равны составляет имеет bằng là adalah jest ma wynosi är har heeft
    है हैं olur has have had"""
)

# The words for what is sought: a denial reaches over them to the value
_SOUGHT = re.compile(
    r"^(?:it|this|that|mine|my)$|answer|^(?:sum|solution|value|number)$|resul|résult|risult|ergebnis|respuesta|réponse|antwort|ответ|cevap|resposta|svar"
)

# --- signs and sentences

WORDS = re.compile(r"(?![-'])[^\s\d!-&(-,./:-@\[-`{-~。，、！？（）；：।؟–—…“”✓✔✅☑\ufe0f]+")
FORMULA = re.compile(r"\$\$[^$]+\$\$|\$[^$]+\$|\\\(.*?\\\)|\\[a-zA-Z]+\*?(?:\{[^{}]*\})?|[`<][^<>`]*[`>]")
# A full stop behind a digit ends a sentence, too, but not the number of an item
SENTENCE_END = re.compile(r"[.!?؟।۔](?=[\s*_)\]\"'”’}$]|$)|[。！？]|\n")
_CLAUSE_END = re.compile(r"[,;，；、،—–](?=\D|$)|[:：](?=\s|$)|므로(?=\s)")
_OPENERS = re.compile(r"[\s$*_`>#({\[\\|-]*$")
_OPENED = re.compile(r"(?<!\\)\$|\\[(\[]|<")
IS_UNSPACED = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff]")
IS_HANGUL = re.compile(r"[\uac00-\ud7a3]")
# Where words are written without spaces: what denies, doubts or changes a value in a run of signs
_TURNS_UNSPACED = re.compile(
    "除了$|排除|别[写填选]|不(?!等式|[变同妨难断])|未(?!知)|无(?![理穷限])|误(?!差)|[没非若假错疑舍]|ต่าง|如果|是否|难道|誤|もし|ない|만약|아니|않"
)
_CHANGES_UNSPACED = re.compile(f"{_TURNS_UNSPACED.pattern}|[倍半多万亿千百弃]")
# The scale of a value there, and how an adverb ends that makes a value uncertain
_SCALES_UNSPACED = re.compile("[万亿億](?![一能])|[千百](?![克米瓦分])")
_UNSURE_UNSPACED = re.compile("(?:[约約乎许概估近]|可能|そらく|およそ|たぶん|多分|ほぼ)(?:[有是为]|等于)?\\Z")
CALLS_WRONG = re.compile(
    r"\b(?:wrong|incorrect|mistakes?|mistaken|false|lie|falsch|faux|erreur|erro|incorrecto|equivocado|erróneo|errado|incorreto|sbagliato|errato"
    r"|(?:\w+n['’]t|not|cannot)\s(?:be\s)?(?:right|correct)|made an? (?:\w+ )?error"
    r"|неверн\w+|неправильн\w+|ошибка|błędne|yanlış\w*|hatalı|salah|keliru|fout|onjuist)\b|\bsai\b|不正确|错|误|不对|間違|誤|오답|틀렸"
    r"|틀린|잘못|خطأ|خاطئ|गलत|ผิด|λάθος",
    re.IGNORECASE,
)
# A step that is none, and doubts
_DOUBTS = re.compile(
    r"^(?:wrong|incorrect|mistake|false|faulty|flawed|careless|pretend|imagin|suppos|deny|denie|impossib|scratch"
    r"|(?:withdr|retract|reject|ignor|discard|disregard|exclud)(?!.*ing$)|unlikel|doubt|improbab|perhaps|maybe|possibl|probabl|fail(?!ure)|falsch|fehler|faux|erreur|errad"
    r"|errone|sbagliat|неверн|ошиб|vielleicht|peut-être|quizás|forse|talvez|возможно|mustahil)"
)
# What may still be done to an answer that is given: `to be doubled`
_DONE_LATER = _set(
    """doubled tripled halved quadrupled added subtracted excluded omitted multiplied divided squared cubed minus plus
    menos moins meno минус"""
)
# The scale of a value
_SCALES = re.compile(
    r"^(?:thousand|million|billion|hundred|tausend|milliard|millier|migliai|тысяч|миллион|modulo$|octal|binary"
    r"|hexadecimal|dozens?$|tens$|mil$|mille$|lakh|crore|triệu$|nghìn$|milhar|bin$)"
)
# Marks of a value. Text may rightly call a letter, a yes or a name wrong, as in `the wrong step is \boxed{B}`, so only
# values are checked for such text
IS_VALUE = re.compile(r"\d|\\(?:pi|infty|frac|sqrt)")
_FORMS = re.compile(r"[^\W_]+")


class Asked(NamedTuple):
    """What a question lets stand beside its answer.

    Attributes:
        text: the question, in lower case; empty where there is none.
        allows: whether a word is the question's.
        counts: whether a word is a unit, or a noun that is counted.
    """

    text: str
    allows: Callable[[str], bool]
    counts: Callable[[str], bool]

    def has(self, word: str) -> bool:
        """Whether the question has this very word."""
        return f" {word} " in _spaced(self.text)

    def says(self, word: str) -> bool:
        """Whether a word is a name of one letter, or a form of one of the question's words."""
        if (len(word) == 1 and word.isascii()) or self.allows(word):
            return True
        if IS_UNSPACED.search(word) is not None:
            return word in self.text
        word = word.removesuffix("'s").removesuffix("’s")
        # inflected words share their beginnings; short ones must be there as they stand
        stem = f" {word[: max(len(word) - 3, 4)]}" if len(word) >= _SHORT else f" {word} "
        return stem in _spaced(self.text)


@lru_cache(maxsize=256)
def _spaced(text: str) -> str:
    return f" {' '.join(_FORMS.findall(text))} "


_SHORT = 4

# --- before an answer

# `no number except \boxed{7}` and `没有别的，除了` confirm the box, because they exclude all other values
_EXCEPTING = re.compile(r"(?:except|other\s+than|anything\s+but|rather\s+than|different\s+from|除了)\Z", re.IGNORECASE)
_NO_OTHER = re.compile(r"\b(?:no|none|nothing|nobody|cannot|not|never)\b|n['’]t\b|没有|无|不", re.IGNORECASE)
# An operation on the answer, in lower case: with no digit between it and the answer, and as the last words before it
_OPERATES_SOON = re.compile(
    r"(?:\b(?:(?:a|one|two) (?:third|quarter|fifth|tenth)s? of|(?:half|double|triple)(?!-)|twice|thrice|tenfold"
    r"|le tiers|le quart|drittel|viertel|hälfte|doppelte?|dreifache|(?:tercera|cuarta) parte|moitié|doble|mitad"
    r"|un terzo|un quarto|metà|doppio|terça parte|triplo|metade|dobro|треть|четверть|половин\w*|удвоенн\w*|вдвое"
    r"|в \w+ раза? (?:больше|меньше)|üçte|yarısı|iki katı|phần ba|sepertiga)\b|(?:[2-9两二三]\s?倍|半分|一半|之半"
    r"|절반|[두세] ?배|نصف|ضعف|आधा|दोगुना))(?=\D*$)"
)
_OPERATES_NEXT = re.compile(
    r"(?:\b(?:(?:at|the) (?:least|most)|(?:more|less|greater|fewer|larger|smaller|bigger|higher|lower) than"
    r"|(?:strictly )?(?:above|below|exceeds?|exceeding|beyond)|between \S{1,12} and|unequal to|rul(?:e|es|ed|ing) out"
    r"|not this (?:one)?|not the case that we (?:get|have)|minus|negative|(?:one|1) over|(?:successor|predecessor"
    r"|multiple|divisor|factor|root|square|cube|power|factorial|opposite|negation|reciprocal|inverse|logarithm|log"
    r"|sine|cosine|tangent|complement) of(?: the)?|ungleich|mindestens|höchstens|(?:mehr|weniger|größer|kleiner) als"
    r"|negativ|(?:quadrat)?wurzel (?:aus|von)|kehrwert von|tout sauf|(?:au )?(?:plus|moins)(?: de| que)?"
    r"|racine(?: carrée)? de|inverse de|opposé de|carré de|moinsième|(?:al|por lo) menos|como máximo|a lo sumo|(?:más"
    r"|menos|mayor|menor) (?:de|que)|menos|raíz(?: cuadrada)? de|opuesto de|inverso de|cuadrado de|pelo menos"
    r"|no máximo|(?:mais|maior) (?:de|que)|raiz(?: quadrada)? de|almeno|al massimo|(?:più|meno) di|meno"
    r"|radice(?: quadrata)? di|opposto di|(?:не )?(?:больше|меньше|более|менее)(?: чем)?|минус|отрицательное"
    r"|корень из|en (?:az|fazla)|eksi|tersi|ít nhất|nhiều nhất|âm|căn bậc hai của|paling (?:sedikit|banyak)"
    r"|lebih dari|co (?:najmniej|najwyżej)|meer dan|minder dan|ten minste|hoogstens)|超过|大于|小于|至多|至少|不到"
    r"|多于|少于|低于|高于|不足|最[多少](?:是|为)?|少なくとも|高々|적어도|많아야|कम से कम|负|負|マイナス|ルート"
    r"|마이너스|음수|루트|根号|سالب|ऋण|ลบ)\W*$"
)
# Behind a step that is over: `since there is no half shelf, we need`
_LATER_CLAUSE = re.compile(r",(?:\s+[^\W\d_]+){2}")
_STANDS_NEXT = re.compile(r"\W*(?:(?:of|de|von|di)\b\W*)?")
# `at least` and `at most` may be the question's words
_BOUNDS = re.compile(r"least|most|plus|moins|menos|máximo|sumo|almeno|massimo|mindestens|höchstens|至多|至少|最多|最少")
# Words set in the formula of an answer
_INSIDE = re.compile(r"\{([^{}]*)\}")
_SET = re.compile(r"(?:\$\$?|\\[(\[])\s*(?:\\text[a-z]*\s*\{[^{}]*\}[\s:]*)+\Z")
_OF_THE_ANSWER = re.compile(r"\b(?:of|than|from) (?:the |my |our )?(?:final |correct )?(?:answer|result)\b(?!s)")
# `not 18 but`: what follows is meant
_CONTRASTS = re.compile(
    r"(?:\bnot\b|n['’]t\b|\bno\b|\bnon\b|\bnicht\b|\bpas\b|\bnão\b|\bне\b|\bniet\b|\bnie\b|\binte\b|\bkhông\b)\D{0,12}[\d$].*"
    r"\b(?:but|wait|sino|sondern|mais|mas|bensì|ma|а|maar|ale|lecz|utan|mà là|mà)\W*$"
    r"|\bnothing but\W*$|(?:而是|아니라|ではなく)\W*$|\bin fact\b|\bnot \$?\d[\d.]*\$?:\W*$",
)
# Where the clause of an answer begins, beside a comma
_CUT = re.compile(
    r"\b(?:so|therefore|thus|hence|then|but(?= (?:it|this|the|we|i)\b)"
    r"|(?:see|follows|conclude|deduce|find|know|means|implies|shows?) that)\b"
)
# Denials that say only that the answer follows
_SAYS_NOTHING = re.compile(
    r"\b(?:nothing (?:other than|but|less than)|no (?:doubt|wonder)|without (?:any |a )?(?:doubt|loss of generality)"
    r"|not (?:hard|difficult))\b"
)
_BARE_VERBS = frozenset({"is", "are", "equals", "was", "="})
_NEGATED = re.compile(
    r"(?:\\(?:neq?|lnot|neg|not\s*=)(?![a-zA-Z])|[≠¬]|(?<![\w)}])!=|不是|不为|不等于|并非|绝非)[\s$\\,;!({]*\Z"
)
# A sentence that is quoted with its answer: an example, or somebody else's
_QUOTED = re.compile(r"(?:^|[\s(])[“\"«„「『][^\"“”«»„「」『』\n]*\w\w[^\"“”«»„「」『』\n]*\Z")
_QUOTE_ENDS = re.compile(r"[^\"“”«»„「」『』\n]{0,60}[”\"»“」』]")
_MOST_WORDS, _WINDOW, _LAST_WORDS = 5, 200, 60


def strange_before(text: str, before: str, asked: Asked, is_value: bool) -> str:
    """What is said before an answer that turns it; empty where nothing does.

    Args:
        text: the answer.
        is_value: whether it has a value; what is wrong may be a letter, as the answer to a question.
    """
    if (denied := _NEGATED.search(before)) is not None:
        return denied[0]
    if "\\text" in before:
        before = _SET.sub(lambda said: " ".join(["", *_INSIDE.findall(said[0])]), before)
    lead = _SAYS_NOTHING.sub(" ", _lead(before))
    if found := operated(lead, asked):
        return found
    if (part := _OF_THE_ANSWER.search(lead)) is not None and not asked.has("answer"):
        return part[0]
    if not _words(lead):
        above = _above(before)
        is_wrong = is_value and not any(map(str.isdigit, above)) and CALLS_WRONG.search(above) is not None
        return above.strip() if is_wrong else ""
    clause = _clause(lead)
    if _is_confirmed(lead):
        return ""
    if is_value and (shift := shifts(clause)):
        return shift
    if is_value and (scale := next((one for one in _words(lead) if _SCALES.search(one) and not asked.says(one)), "")):
        return scale
    # what is denied is stated: `91 is not prime: no`
    states = not is_value and clause.rstrip(" $*\\\n")[-1:] in ":："
    turn = "" if states else _turn(_words(clause), asked, is_value)
    said_again = lead.rstrip(" $*\\,(").removesuffix(" or").rstrip(" $*\\").endswith(text)
    return "" if said_again else turn


# `Ist 4 die Hypotenuse, so`; `腰为3时,`
_INVERTED = re.compile(r"\W*(\w+)\s[^,]{1,60},\s*(?:so|dann)\s")
_CONDITION_UNSPACED = re.compile(r"[^,，、:：]{1,40}?(时|時|的话|場合|とき|면)(?:は|には)?[,，、]")


def condition_of(lead: str) -> str:
    """The word by which a sentence supposes something, in lower case; empty where it supposes nothing."""
    lead = lead.lower()
    first = WORDS.search(FORMULA.sub(" ", lead))
    if first is not None and (first[0] in SUPPOSES or first[0] in _WHEN):
        return first[0]
    if (unspaced := _CONDITION_UNSPACED.match(lead) or re.match(r"\W*(如果|若|当|假如|もし)", lead)) is not None:
        return unspaced[1]
    inverted = _INVERTED.match(lead)
    return "" if inverted is None else inverted[1]


def _supposes_else(before: str, behind: str) -> str:
    """The word by which the sentence behind an answer supposes otherwise than its own: `If …, 8. If …, one less`."""
    if not (condition := condition_of(_lead(before))):
        return ""
    rest = SENTENCE_END.split(behind.replace(";", ". ").replace("；", "。"))[1:3]
    other = next((one for one in rest if condition_of(one) == condition), "")
    return condition if other and DENIES.isdisjoint(WORDS.findall(other.lower())) else ""


def _lead(before: str) -> str:
    """The sentence that leads to an answer, or the heading above it; empty where a sentence has just ended."""
    text = _OPENERS.sub("", before[-_WINDOW:])
    ends = [end.end() for end in SENTENCE_END.finditer(text)]
    if not ends and len(before) > _WINDOW:
        # the window begins within a word
        return text.partition(" ")[2].lower()
    return text[ends[-1] if ends else 0 :].lower()


def _above(before: str) -> str:
    """The sentence that ends right before an answer."""
    text = before[-_WINDOW:].rstrip(" $*_`>#({[\\\n")
    begun = [end.end() for end in SENTENCE_END.finditer(text[:-1])]
    return text[begun[-1] if begun else 0 :].lower()


def operated(lead: str, asked: Asked) -> str:
    """The words right before an answer that operate on it or bound it: half of it, at least it."""
    found = _OPERATES_NEXT.search(lead, max(len(lead) - _LAST_WORDS, 0))
    if found is None:
        found = _OPERATES_SOON.search(lead, max(map(lead.rfind, "0123456789")) + 1)
    if found is None or _LATER_CLAUSE.search(lead, found.end()) is not None:
        return ""
    stands_next = _STANDS_NEXT.fullmatch(lead, found.end()) is not None and not _BOUNDS.search(found[0])
    return found[0].strip() if stands_next or found[0].strip() not in asked.text else ""


def _is_confirmed(lead: str) -> bool:
    """Whether the words before an answer deny another one, and so confirm it."""
    excepts = _EXCEPTING.search(lead.strip(" $x=")) is not None and _NO_OTHER.search(lead) is not None
    return excepts or _CONTRASTS.search(lead) is not None


def _clause(lead: str) -> str:
    """The clause of an answer in the sentence that leads to it.

    It begins behind the last comma, or at the writer's last `so`; a bare verb has its subject before it, and a mark
    right before the answer belongs to the words before it.
    """
    plain = FORMULA.sub(lambda math: "0" * len(math[0]), lead).rstrip(" $*\\:：,，")
    cuts = [0, *(cut.end() for cut in _CLAUSE_END.finditer(plain))]
    at = cuts[-1]
    if len(cuts) > 1 and (not _words(lead[at:]) or lead[at:].strip(" $*\\") in _BARE_VERBS):
        at = cuts[-2]
    begun = [cut.end() for cut in _CUT.finditer(plain, at)]
    return lead[begun[-1] if begun else at :]


def _words(said: str) -> list[str]:
    said = FORMULA.sub(" ", said)
    opened = _OPENED.search(said)
    return WORDS.findall(said if opened is None else said[: opened.start()])


def _turn(words: Sequence[str], asked: Asked, is_value: bool) -> str:
    """The word of an answer's clause before it that denies, supposes or doubts the answer."""
    for at, word in enumerate(words):
        if word in SUPPOSES and (at == 0 or word not in _SUPPOSES_FIRST):
            return word
        if denies(word):
            # `the students not in the band`: of what the question speaks of
            if asked.has(word) and at + 1 < len(words) and asked.says(words[at + 1]):
                continue
            if not _is_spent(words[at + 1 :]) and (word not in _EXCEPTS or at + 1 == len(words)):
                return word
        elif is_value and not asked.has(word) and _turns(word):
            return word
    if is_value and words and IS_UNSPACED.search(words[-1]) is not None:
        scale = _SCALES_UNSPACED.search("".join(words))
        if (scale is not None and scale[0] not in asked.text) or _UNSURE_UNSPACED.search(words[-1]) is not None:
            return words[-1]
    return ""


def _turns(word: str) -> bool:
    if IS_UNSPACED.search(word) is not None:
        return _TURNS_UNSPACED.search(word) is not None
    return CALLS_WRONG.search(word) is not None or _DOUBTS.search(word) is not None


def _is_spent(behind: Sequence[str]) -> bool:
    """Whether a denial is about something before the verb of the clause: `the students not in the band are`."""
    verb = next((at for at, word in enumerate(behind) if word in VERBS), 0)
    return verb > 1 and not any(map(_SOUGHT.search, behind[:verb]))


def shifts(clause: str) -> str:
    """The word right before a value that bounds it or shifts it."""
    words = FORMULA.sub(" 0 ", clause).strip(" $*\\:：,，`_({[").split()
    while len(words) > 1 and words[-1] in _HANGS:
        words.pop()
        if words[-1] in _RISES:
            return ""
    if words[-1:] == ["up"] and not _RISES.isdisjoint(words[-2:-1]):
        return ""
    return words[-1] if words and words[-1] in SHIFTS else ""


# --- behind an answer

# How a Korean sentence ends, written together with what is counted
COPULA = re.compile("(?:입니다|이다|이에요|예요|이|가|임)$")

_OWN_FORMULA = re.compile(r"(?:[^$\n]|\n(?!\n)){0,120}?(?P<close>\$\$?|\\[)\]])")
# `, not 400`
_DENIES_ANOTHER = re.compile(r"[,，;；(（]\s*(?:and |und |y |et |而)?(?:不是|ではなく|(?P<word>[^\W\d]+))\s*\$?[-−]?\d")
# A suffix that a number takes: `8'dir`
_SUFFIX = re.compile(r"\A['’]\w{1,5}")
# What is done to a value by the words right behind it
_OPERATES_BEHIND = re.compile(
    r"[\s(]*(?:and a (?:half|third|quarter)|over \d|(?:st|nd|rd|th)\b|[-−+*/^×]\s*\$?\d|give or take|(?:more|less) than"
    r"|to the power|or so\b|too\b|off\b)"
)
_COPULAS = _set("is are would could ist sind war wäre est sont était serait es son era sería è sono é são")
_DEFINITE = _set(
    """the our my your its his her their what as how correct right indeed exactly then therefore thus also left needed
    required possible die das der unser unsere meine richtig also la el le les il lo a o los las gli i notre ma mi
    nuestra correcto correcta bonne nostra giusto certa correta donc por bien"""
)
# A sign that calls an answer wrong
_CROSSES = re.compile("[✗✘❌✖⛔🚫👎🤔❓🤷❎🙅]")
_MOST_REMARKED, _AFTER = 12, 400
_SET_BEHIND = re.compile(r"\s*\\text[a-z]*\s*\{([^{}]*)\}")
CLOSING = re.compile(r"(?:[\s$*_`)\]}”\"]|\\[)\],;:! ])*")
CONFIRMED = re.compile(r"[?？\s$*)]*(?:yes|yep|correct|right|indeed|是的|对|没错|正确)", re.IGNORECASE)
_NOTHING = re.compile(r"\b(?:no|none|nothing|nobody)\b|没有|无", re.IGNORECASE)
_MOST_SENTENCES = 6
# A sentence about something else than the answer: a formula, an option's letter, a number
_NAMES_ITS_OWN = re.compile(r"[$\\=\d]|(?<![^\W_])(?!I\b)[A-Z](?![\w'’])|其[他余它]|ほか|他の|나머지")
_WITHDRAWS = re.compile(
    r"\b(?:fail(?:s|ed)?|t(?:ake|ook)\b.{1,12}\bback|scratch|withdraw\w*|retract\w*|disregard|ignore|kidding|forget|strike|discard|nope)\b",
    re.IGNORECASE,
)
_DENIES_UNSPACED = re.compile("ではない|じゃない|ではありません|不是|并非|不对|不成立|아니다|아닙니다")
_LONGEST_DENIAL = 10
# Who says that there are no others confirms the answer
_MORE = _set("other others else more further better than doubt only less")
# What a sentence that only denies its answer is made of
_OF_DENIALS = (
    _COPULAS
    | _DEFINITE
    | SO
    | _ADVERSE
    | _set(
        """i we it this that these those there a an am be been do does did have has can could be given valid actually
        well wait sorry oops hmm just rather answer answers result value solution number check above it's that's c'est
        antwort ergebnis réponse résultat respuesta resultado resposta risposta ответ cevap jawaban svaret antwoord
        odpowiedź đáp án eso esto isso isto questo quello ciò ça cela dies das este этот هذا هذه यह वह bu şu điều này
        ini itu dit dat det está e y и là to ce n'est la le das der die je è этот это phải đây यह उत्तर है هذا الجواب o a
        el não"""
    )
)
# A choice is right because the others are wrong
_REASONED = re.compile(r"\b(?:because|since|as|denn|weil|car|puisque|porque|perché)\b", re.IGNORECASE)
_TURNED = re.compile(r"\b(?:is off|fails|no more|not|scheidet)\b|不适|不適|不对")


def strange_behind(text: str, before: str, behind: str, asked: Asked, is_value: bool) -> str:
    """What is said behind an answer other than that it is the answer; empty where all is understood.

    Args:
        text: the answer.
    """
    if (set_behind := _SET_BEHIND.match(behind)) is not None:
        behind = f" {set_behind[1]} {behind[set_behind.end() :].lstrip(' $')}"
    own = _OWN_FORMULA.match(behind)
    behind = behind[:_AFTER] if own is None else behind[own.start("close") : _AFTER]
    if (cross := _CROSSES.search(behind)) is not None:
        return cross[0]
    closing = CLOSING.match(behind)
    gap = closing[0] if closing is not None else ""
    words = behind[len(gap) :]
    if not words.strip():
        return ""
    # behind a new line, or a formula that stands alone, a new sentence begins
    begins = "\n" in gap or (("$$" in gap or "\\]" in gap) and words[:1].isupper())
    if words[:1] == "." and not words[1:2].isdigit():
        begins, words = True, words[1:]
    stop = None if begins else SENTENCE_END.search(words)
    end = 0 if begins else len(words) if stop is None else stop.end()
    first, rest = words[:end], words[end:]
    if first and first[-1] in "?？؟" and CONFIRMED.match(rest) is None:
        return "?"
    if text in words:
        # said again, it is confirmed
        return ""
    if not is_value:
        # whoever denies more confirms an answer that itself denies
        itself = any(map(denies, WORDS.findall(text.lower())))
        for sentence in [first, *(one for one in SENTENCE_END.split(rest) if one.strip())][:_MOST_SENTENCES]:
            denied = _denied_whole(sentence, f"{asked.text} {before[-_WINDOW:].lower()}")
            if denied and not (itself and denies(denied)) and CALLS_WRONG.search(text) is None:
                return denied
    if not is_value:
        # what is wrong may be the answer
        first = _REASONED.split(first)[0]
        turned_round = CALLS_WRONG.search(first) or _TURNED.search(first)
        return turned_round[0] if turned_round and asked.text and turned_round[0].lower() not in asked.text else ""
    return _strange(first, asked) or _taken_back_later(rest, asked)


def _taken_back_later(rest: str, asked: Asked) -> str:
    """What a later sentence says that takes the answer back."""
    for sentence in [one for one in SENTENCE_END.split(rest) if one.strip()][:_MOST_SENTENCES]:
        words = WORDS.findall(FORMULA.sub(" ", sentence).lower())
        if words[:1] == ["i"] and len(words) <= _MOST_REMARKED and any(map(denies, words)):
            # whoever says that they have no answer
            return " ".join(words)
        at_once = CALLS_WRONG.match(sentence.lstrip())
        if at_once is not None and at_once[0].lower() not in asked.text:
            return at_once[0]
        if found := _called_wrong(sentence, words, asked) or _denied_whole(sentence, asked.text):
            return found
    return ""


def _denied_whole(sentence: str, context: str) -> str:
    """What denies in a sentence that says nothing but that an answer is none or wrong: `This is not the answer.`

    Args:
        context: the question; what is called wrong there may be the answer.
    """
    words = WORDS.findall(sentence.lower())
    if _NAMES_ITS_OWN.search(sentence) is not None or not 0 < len(words) <= _MOST_REMARKED:
        return ""
    found = CALLS_WRONG.search(sentence) or _WITHDRAWS.search(sentence)
    if found is not None and (found[0].lower() in context or _NOTHING.search(sentence, 0, found.start()) is not None):
        return ""
    wrong = found[0] if found is not None else ""
    if IS_UNSPACED.search(sentence) is not None or IS_HANGUL.search(sentence) is not None:
        # what is said of the answer is short where words are not parted
        denied = wrong or next(iter(_DENIES_UNSPACED.findall(sentence)), "")
        return denied if denied and len("".join(words)) <= _LONGEST_DENIAL else ""
    wrong = wrong or next(filter(denies, words), "")
    if found is not None and found.re is _WITHDRAWS and len(words) <= _MOST_WORDS:
        return wrong
    ours = all(one in _OF_DENIALS or denies(one) or CALLS_WRONG.search(one) or _WITHDRAWS.search(one) for one in words)
    return wrong if ours and _MORE.isdisjoint(words) else ""


def is_neutral(word: str) -> bool:
    """Whether a word is no answer by itself, as in `see above`."""
    return (word in _OF_DENIALS or word in ("see", "above", "below", "here")) and not denies(word)


def _called_wrong(sentence: str, words: Sequence[str], asked: Asked) -> str:
    """The words of a short sentence that call an answer wrong, and not `nothing is wrong here`."""
    is_read = len(words) <= _MOST_WORDS + 1 and not any(map(str.isdigit, sentence))
    found = CALLS_WRONG.search(sentence) if is_read else None
    if found is None or found[0].lower() in asked.text or _NOTHING.search(sentence[: found.start()].rpartition(",")[2]):
        return ""
    return found[0]


def _strange(sentence: str, asked: Asked) -> str:
    """The first word of an answer's sentence behind it that turns the answer; empty where none does."""
    another = _DENIES_ANOTHER.match(sentence)
    if another is not None and (another["word"] is None or another["word"] in DENIES):
        return ""
    sentence = FORMULA.sub(" ", _SUFFIX.sub("", sentence))
    words = [word.lower() for word in WORDS.findall(sentence)]
    if len(words) == 1 and denies(words[0]):
        return str(words[0])
    if wrong := _called_wrong(sentence, words, asked):
        return wrong
    operates = _OPERATES_BEHIND.match(sentence.lower())
    if operates is not None and operates[0].strip() not in asked.text:
        return operates[0].strip()
    if words and _SCALES.search(words[0]) and not asked.has(words[0]):
        return str(words[0])
    if len(words) > 1 and words[0] in _COPULAS and denies(words[1]):
        return str(words[1])
    if len(words) > 1 and words[0] in _COPULAS and not (words[1] in _DEFINITE or asked.says(words[1])):
        # `is too small`, `is an upper bound`; what an answer is, is said of no other thing: `is the answer`
        return str(words[1])
    # behind a number, the sentence speaks of that
    words = WORDS.findall(re.split(r"\d", sentence.lower(), maxsplit=1)[0])
    end = next((at for at, word in enumerate(words) if word in REASONS), len(words))
    return _adverse(words[:end], asked)


def _adverse(words: Sequence[str], asked: Asked) -> str:
    """The word of a remark behind an answer that denies it, doubts it or changes it."""
    for word in words:
        if asked.has(word):
            continue
        if denies(word) or word in SUPPOSES or word in _ADVERSE or word in _DONE_LATER:
            return word
        if IS_UNSPACED.search(word) is not None and _CHANGES_UNSPACED.search(word) is not None:
            return word
        if CALLS_WRONG.search(word) or word == "guess" or (_DOUBTS.search(word) and not word.startswith("fail")):
            return word
    return ""


def turned(text: str, before: str, behind: str, asked: Asked) -> str:
    """What the sentence of an answer says of it other than that it is the answer; empty where it says nothing so.

    Args:
        text: the answer.
        before: the text before the answer.
        behind: the text behind it.
        asked: what the question lets stand beside it.
    """
    is_value = IS_VALUE.search(text) is not None
    if _EXCEPTING.search(before[-_LAST_WORDS:].strip(" $x=")) is not None and _NO_OTHER.search(behind[:_LAST_WORDS]):
        # all others are excluded: `except 7 there is none`
        return ""
    if _QUOTED.search(before[-_LAST_WORDS:]) is not None and _QUOTE_ENDS.match(behind[:_LAST_WORDS]) is not None:
        return "a quotation"
    return (
        strange_before(text, before, asked, is_value)
        or strange_behind(text, before, behind, asked, is_value)
        or _supposes_else(before, behind)
    )
