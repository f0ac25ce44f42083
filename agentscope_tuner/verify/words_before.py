r"""Reads the words before an answer: the clause that the answer stands in must be understood.

A lead is a sentence up to its answer. Its last clause says what the answer is: each word of it is neutral, or the
question's, and none supposes, denies or changes what follows. What stands before that clause is a step or a reason
where a mark or a word such as `so` parts them, and is read as the clause is where it goes on: `Modulo 20, the answer
is`. A subject of unknown words may stand before a known verb, and a thing of the question before an unknown one: `Janet
makes`, `the spring stretches by`.
"""

from __future__ import annotations

import re

from agentscope_tuner.verify.neutral_words import (
    BEFORE_NUMBERS,
    CONNECTS,
    DENIES,
    ENDS_UNSPACED,
    IS_HANGUL,
    IS_UNSPACED,
    METHODS,
    NUMBERS,
    REASONS,
    SUPPOSES,
    VERBS,
    WORDS,
    Asked,
)

# `no number except \boxed{7}` and `没有别的，除了` confirm the box, because they exclude all other values
_EXCEPTING = re.compile(r"(?:except|other\s+than|anything\s+but|rather\s+than|different\s+from|除了)\Z", re.IGNORECASE)
_NO_OTHER = re.compile(r"\b(?:no|none|nothing|nobody|cannot|not|never)\b|n['’]t\b|没有|无|不", re.IGNORECASE)
_NO_OTHER_BEHIND = re.compile(
    r"[\s$*]*(?:[之以]?外)?[\s，,]*(?:(?:就|再|也|便|并)?(?:没有|无|不存在|不再有)(?:其他|其它|别的|他|另外|任何|第二)|别无"
    r"|(?:其他|其它|别的|其余|任何)[^，。；\n]{0,12}?[都均皆也]?(?:不|没))"
    r"|[\s$*,]*(?:there\s+(?:is|are)\s+)?(?:no|none|nothing|nobody)\b",
    re.IGNORECASE,
)

# An operation on the answer, in lower case: with no digit between it and the answer, and as the last words before it
_OPERATES_SOON = re.compile(
    r"(?:\b(?:(?:a|one|two) (?:third|quarter|fifth|tenth)s? of|le tiers|le quart|drittel|viertel|tercera parte|cuarta"
    r" parte"
    r"|un terzo|un quarto|terça parte|треть|четверть|üçte|phần ba|sepertiga"
    r"|half(?!-)|twice|double|triple|thrice|tenfold|hälfte|doppelte?|dreifache|moitié|doble|mitad|triplo|metade|dobro"
    r"|metà|doppio|половин\w*|удвоенн\w*|вдвое|в \w+ раза? (?:больше|меньше)|yarısı|iki katı)\b(?=\D*$)"
    r"|(?:[2-9两二三]\s?倍|半分|一半|之半|절반|[두세] ?배|نصف|ضعف|आधा|दोगुना)(?=\D*$))"
)
_OPERATES_NEXT = re.compile(
    r"(?:(?:\b(?:(?:at|the) (?:least|most)|(?:more|less|greater|fewer|larger|smaller|bigger|higher|lower) than"
    r"|(?:strictly )?(?:above|below|exceeds?|exceeding|beyond)|between \S{1,12} and|no (?:more|less|fewer|greater) than"
    r"|(?:successor|predecessor|multiple|divisor|factor) of|not this (?:one)?|not the case that we (?:get|have)"
    r"|unequal to|ungleich"
    r"|mindestens|höchstens|(?:mehr|weniger|größer|kleiner) als|tout sauf|(?:au )?(?:plus|moins) (?:de|que)"
    r"|au (?:plus|moins)"
    r"|(?:al|por lo) menos|como máximo|a lo sumo|(?:más|menos|mayor|menor) (?:de|que)|pelo menos|no máximo|(?:mais"
    r"|maior) (?:de|que)"
    r"|almeno|al massimo|(?:più|meno) di|(?:не )?(?:больше|меньше|более|менее)(?: чем)?|en (?:az|fazla)|ít nhất"
    r"|nhiều nhất"
    r"|paling (?:sedikit|banyak)|lebih dari|co (?:najmniej|najwyżej)|meer dan|minder dan|ten minste|hoogstens)\W*$"
    r"|(?:超过|大于|小于|至多|至少|不到|多于|少于|低于|高于|不足|最多(?:是|为)?|最少(?:是|为)?|少なくとも|高々|적어도"
    r"|많아야|कम से कम)\W*$)"
    r"|(?:\b(?:minus|negative|moins|menos|meno|eksi|âm|negativ|moinsième|минус|отрицательное|(?:one|1) over"
    r"|(?:root|square|cube|power|factorial|opposite|negation|reciprocal|inverse|logarithm|log|sine|cosine|tangent|complement)"
    r" of(?: the)?|quadratwurzel (?:aus|von)|wurzel (?:aus|von)|kehrwert von|racine(?: carrée)? de|inverse de"
    r"|opposé de|carré de"
    r"|raíz(?: cuadrada)? de|opuesto de|inverso de|cuadrado de|raiz(?: quadrada)? de|radice(?: quadrata)? di"
    r"|opposto di|корень из"
    r"|tersi|căn bậc hai của)|负|負|マイナス|ルート|마이너스|음수|루트|根号|سالب|ऋण|ลบ)\W*$)"
)
# Behind a step that is over: `since there is no half shelf, we need`
_LATER_CLAUSE = re.compile(r",(?:\s+[^\W\d_]+){2}")
_STANDS_NEXT = re.compile(r"\W*(?:(?:of|de|von|di)\b\W*)?")
# `at least` and `at most` may be the question's words
_BOUNDS = re.compile(r"least|most|plus|moins|menos|máximo|sumo|almeno|massimo|mindestens|höchstens|至多|至少|最多|最少")
CALLS_WRONG = re.compile(
    r"\b(?:wrong|incorrect|mistakes?|mistaken|false|lie|falsch|faux|erreur|erro|incorrecto|equivocado|erróneo|errado|incorreto|sbagliato|errato"
    r"|неверн\w+|неправильн\w+|ошибка|błędne|yanlış\w*|hatalı|salah|keliru|fout|onjuist)\b|\bsai\b|错|误|不对|間違|誤|오답|틀렸"
    r"|틀린|잘못|خطأ|خاطئ|गलत|ผิด|λάθος",
    re.IGNORECASE,
)
# Counterfactual: `would have found`, `had we`
# A step that is none
_FLAWED = re.compile(
    r"^(?:wrong|incorrect|mistake|error|false|faulty|flawed|naive|careless|accident|habit|guess|pretend|imagin|suppos|ignor|forget|mis|chance|oversight|falsch"
    r"|fehler|faux|erreur|error|fals|errad|errone|sbagliat|неверн|ошиб)"
)
# Words set in the formula of an answer
_INSIDE = re.compile(r"\{([^{}]*)\}")
_SET = re.compile(r"(?:\$\$?|\\[(\[])\s*(?:\\text[a-z]*\s*\{[^{}]*\}[\s:]*)+\Z")
_OF_THE_ANSWER = re.compile(r"\b(?:of|than|from) (?:the |my |our )?(?:final |correct )?(?:answer|result)\b(?!s)")
_UNREAL = re.compile(
    r"\bused to be\b|\b(?:would|could|might) (?:\w+ )?(?:have|be) (?!to\b)\w+(?: \w+)?\W*$"
    r"|^\W*(?:had|were) (?:\w+ ){1,3}"
    r"|\bif (?:\w+ ){1,3}(?:were|had)\b",
    re.IGNORECASE,
)
_COUNTED_ON = re.compile(r"\b(?:would|could|might) (?:have|be)\W*$")
# `not 18 but`: what follows is meant
_MAY_CONTRAST = re.compile(
    r"(?:but|wait|sino|sondern|mais|mas|bensì|ma|а|maar|ale|lecz|utan|mà là|mà|而是|아니라|ではなく|\d\$?:)\W*$"
    r"|\bin fact\b"
)
_CONTRASTS = re.compile(
    r"(?:\bnot\b|n['’]t\b|\bno\b|\bnon\b|\bnicht\b|\bpas\b|\bnão\b|\bне\b|\bniet\b|\bnie\b|\binte\b|\bkhông\b)\D{0,12}[\d$].*"
    r"\b(?:but|wait|sino|sondern|mais|mas|bensì|ma|а|maar|ale|lecz|utan|mà là|mà)\W*$"
    r"|\bnothing but\W*$|(?:而是|아니라|ではなく)\W*$|\bin fact\b|\bnot \$?\d[\d.]*\$?:\W*$",
    re.IGNORECASE,
)
_CUT = re.compile(
    r"\b(?:(?:so|hence|thus|then|and) (?:we|i)|we|therefore|thus|hence|then|so|and"
    r"|(?:see|follows|conclude|deduce|find|know|means|implies|shows?) that)\b",
    re.IGNORECASE,
)
_INVERTS = frozenset("also damit somit daher folglich dus daarom derfor alltså därför".split())  # noqa: SIM905
# What begins a clause that follows from what stands before it
_FOLLOWS = re.compile(
    r"\W*(?:so|therefore|thus|hence|consequently|and so|which|that is|leaving|giving|making|also|daher|damit|somit"
    r"|folglich|donc|d['’]où|ainsi|luego|entonces|por (?:lo )?tanto|portanto|logo|quindi|dunque|perciò"
    r"|следовательно|поэтому|значит|итак|zatem|więc|dus|daarom|alltså|därför|vậy|jadi|maka|إذن|لذلك|अतः|इसलिए|따라서|그러므로)(?!\w)",
    re.IGNORECASE,
)
# The words of a label: `Bonus:`
_LABELLED = re.compile(r"^[^.!?,;\n\d]{1,40}[:：]\W*$")
_STRONG = re.compile(r"[;；—–]|[:：](?=\s|$)|(?<=\s)-(?=\s)")
# Set phrases that only say that the answer follows
_SAID_OF_ALL = re.compile(
    r"\b(?:(?:it is|it's) (?:easy|clear|obvious|well known)|(?:it is not|it isn't|not) (?:hard|difficult))"
    r"(?: to (?:see|check|show|verify))?(?: that)?\b|\bnothing (?:other than|but)\b"
    r"|^\W*(?:so )?(?:i|we) (?:think|believe|guess)\b(?: that)?|\bno,? wait\b|\bat last\b|\bread off\b"
    r"|\b(?:this|which|the) one\b"
    r"|\bno (?:doubt|wonder)\b|\bwithout (?:any )?(?:a )?doubt\b|不难看出"
)
# Words that may not stand right before a value, wherever they are from: they bound it or shift it
SHIFTS = frozenset(
    """over from than before after between among within until without during across throughout while if when though
    up less more under above below beyond past or given assuming oder ou или plus più más mehr menos moins weniger
    больше меньше fewer minus near about""".split()  # noqa: SIM905
)
# Prepositions that say nothing: the word before them must be understood
_HANGS = frozenset("of to by at de von di del da do van i từ in on for as per a".split())  # noqa: SIM905
_RISES = frozenset("add adds sum sums come comes out end ends make makes work works turns found round rounds".split())  # noqa: SIM905
_ANSWER_WORD = re.compile(
    r"^(?:it|this|that)$|answer|resul|résult|risult|ergebnis|value|solution|guess|respuesta|réponse|antwort|ответ|cevap|答"
)
# What a question may ask for in any language: an unknown word beside it may deny it
_SOUGHT = frozenset(
    """sum total count number product quotient remainder difference amount probability perimeter area summe zahl produkt
    suma número producto soma somma numero somme nombre produit сумма число произведение liczba iloczyn toplam sayı
    tổng số jumlah i you we reader textbook student case""".split()  # noqa: SIM905
)
_JSON_KEY = re.compile(r'"([\w -]{1,40})"\s*:\s*"?[\s$\\]*$')
_JSON_ANSWERS = frozenset(
    """answer answers result solution value response output content text boxed final reply message the my your correct
    number integer numeric exact math step s a""".split()  # noqa: SIM905
)
_BARE_VERBS = frozenset({"is", "are", "equals", "was", "="})
_OPENED = re.compile(r"(?<!\\)\$|\\[(\[]|<")
_NEGATED = re.compile(r"(?:\\(?:neq?|lnot|neg|not\s*=)(?![a-zA-Z])|[≠¬]|(?<![\w)}])!=)[\s$\\,;!({]*\Z")
# Words that join a clause to what stands before it
_JOINS = frozenset("and but yet mais aber pero ma mas но а y et und e и".split())  # noqa: SIM905
# Of so many words of a clause that does not name the answer, all but one are understood
_UNDERSTOOD = 3
_MOST_WORDS, _WINDOW, _LAST_WORDS, _A_NOUN = 5, 200, 60, 4
# A full stop behind a digit ends a sentence, too, but not the number of an item
SENTENCE_END = re.compile(r"[.!?؟।۔](?=[\s*_)\]\"'”’}$]|$)|[。！？]|\n")
_CLAUSE_END = re.compile(r"[,;，；、،—–](?=\D|$)|[:：](?=\s|$)|므로(?=\s)")
FORMULA = re.compile(r"\$\$[^$]+\$\$|\$[^$]+\$|\\\(.*?\\\)|\\[a-zA-Z]+\*?(?:\{[^{}]*\})?|[`<][^<>`]*[`>]")
_OPENERS = re.compile(r"[\s$*_`>#({\[\\|-]*$")


def strange_before(text: str, before: str, asked: Asked, is_value: bool) -> str:
    """What is said before an answer other than that it is the answer; empty where all is understood.

    Args:
        text: the answer.
        is_value: whether it has a value; what is wrong may be a letter, as the answer to a question.
    """
    key = _JSON_KEY.search(before)
    if key is not None and not _JSON_ANSWERS.issuperset(re.findall("[a-z]+", key[1].lower())):
        return key[1]
    if (denied := _NEGATED.search(before)) is not None:
        return denied[0]
    lead = _lead(_SET.sub(lambda said: " ".join(["", *_INSIDE.findall(said[0])]), before))
    if found := operated(lead, asked):
        return found
    if _is_confirmed(lead):
        return ""
    if (unreal := _UNREAL.search(lead)) is not None and not _COUNTED_ON.search(lead):
        return unreal[0].strip()
    if lead.rstrip(" $*\\,(").removesuffix(" or").rstrip(" $*\\").endswith(text):
        # it is said again
        return ""
    if (part := _OF_THE_ANSWER.search(lead)) is not None and not asked.has("answer"):
        return part[0]
    if not _words(lead):
        above = _above(before)
        if is_value and not any(map(str.isdigit, above)) and CALLS_WRONG.search(above) is not None:
            return above.strip()
        lead = above if asked.text and above[-1:] in "?？؟" else lead
    strange = _strange_lead(lead, asked, is_value)
    # set phrases are looked for only where a word is not understood
    return strange and _strange_lead(_SAID_OF_ALL.sub(" ", lead), asked, is_value)


def _strange_lead(lead: str, asked: Asked, is_value: bool) -> str:
    front, clause = _clauses(lead)
    return _strange_clause(clause, asked, is_value) or _strange_front(front, clause, asked)


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
        digits = [at for at, sign in enumerate(lead) if sign.isdigit()]
        found = _OPERATES_SOON.search(lead, digits[-1] if digits else 0)
    if found is None:
        return ""
    if _LATER_CLAUSE.search(lead, found.end()) is not None:
        return ""
    stands_next = _STANDS_NEXT.fullmatch(lead, found.end()) is not None and not _BOUNDS.search(found[0])
    return found[0].strip() if stands_next or found[0].strip() not in asked.text else ""


def excludes_others(before: str, behind: str) -> bool:
    """Whether an answer is the only one that is not excluded: `except 7 there is none`."""
    return _EXCEPTING.search(before.strip(" $x=")) is not None and _NO_OTHER_BEHIND.match(behind) is not None


def _is_confirmed(lead: str) -> bool:
    """Whether the words before an answer deny another one, and so confirm it."""
    excepts = _EXCEPTING.search(lead.strip(" $x=")) is not None and _NO_OTHER.search(lead) is not None
    return excepts or (_MAY_CONTRAST.search(lead) is not None and _CONTRASTS.search(lead) is not None)


def _clauses(lead: str) -> tuple[str, str]:
    """What a sentence says before the clause of its answer, and that clause.

    The clause begins behind the last comma, or at the writer's last `we` or `so`; a bare verb has its subject before
    it, and a mark right before the answer belongs to the words before it.
    """
    plain = FORMULA.sub(lambda math: "0" * len(math[0]), lead).rstrip(" $*\\:：,，")
    cuts = [0, *(cut.end() for cut in _CLAUSE_END.finditer(plain))]
    at = cuts[-1]
    said = _words(lead[at:])
    if not said and len(cuts) > 1 and len(_words(lead[cuts[-2] : at])) < _MOST_WORDS:
        # a label before a formula
        at = cuts[-2]
    elif len(cuts) > 1 and lead[at:].strip(" $*\\") in _BARE_VERBS:
        at = cuts[-2]
    begun = [cut.start() for cut in _CUT.finditer(plain, at)]
    at = begun[-1] if begun else at
    return lead[:at], lead[at:]


def _words(said: str) -> list[str]:
    said = FORMULA.sub(" ", said)
    opened = _OPENED.search(said)
    return WORDS.findall(said if opened is None else said[: opened.start()])


def _strange_clause(clause: str, asked: Asked, is_value: bool) -> str:
    """The word of an answer's clause that is not understood, or that stands so that it changes the answer."""
    words = _words(clause)
    if not words:
        return ""
    if is_value and (shift := shifts(clause)):
        return shift
    strange = [at for at, word in enumerate(words) if not _fits(words, at, asked)]
    if not is_value and clause.rstrip(" $*\\\n")[-1:] in ":：":
        # what is denied is stated: `91 is not prime: no`
        strange = [at for at in strange if words[at] not in DENIES]
    if not strange:
        return ""
    return "" if _is_subject(words, strange, asked, is_value, clause.rstrip()[-1:] == "=") else words[strange[0]]


def _fits(words: list[str], at: int, asked: Asked) -> bool:
    """Whether a word is understood where it stands."""
    word = words[at]
    if word in SUPPOSES and (at == 0 or word != "falls"):
        return False
    if word in DENIES and (at or word not in _JOINS):
        # `the students not in the band`: of what the question speaks of, and before the verb
        return asked.has(word) and at > 0 and at + 2 < len(words) and asked.says(words[at + 1])
    if word in NUMBERS:
        if at + 1 < len(words) and (
            word == "both" or (at == 0 and any(map(_is_plural, words[1:3])) and not any(map(asked.changes, words[1:3])))
        ):
            return True
        if word == "one" and at > 1 and words[at - 2] in ("a", "the"):
            # `a blue one`
            return True
        return asked.has(word) or (at > 0 and words[at - 1] in BEFORE_NUMBERS and at + 1 < len(words))
    return asked.understands(word) or word in CONNECTS or (at == 0 and word in _JOINS)


def _is_plural(word: str) -> bool:
    return len(word) >= _A_NOUN and word.endswith("s")


def shifts(clause: str) -> str:
    """The word right before a value that bounds it or shifts it."""
    words = FORMULA.sub(" 0 ", clause).strip(" $*\\:：,，`_({[").split()
    while len(words) > 1 and words[-1] in _HANGS:
        if words[-2] in _RISES or words[-3:-1] in (["adds", "up"], ["add", "up"], ["sums", "up"]):
            return ""
        words.pop()
    return words[-1] if words and words[-1] in SHIFTS else ""


def _is_told(words: list[str], strange: list[int], asked: Asked) -> bool:
    """Whether the only unknown word is what a person or a thing of the question does: `Mike collects`."""
    at, verb = strange[0], words[strange[0]]
    named = any(word.removesuffix("'s") in asked.names or word in ("he", "she") for word in words[:at])
    of_it = any(len(word) >= _A_NOUN and asked.has(word) for word in words[:at])
    speaks = named or (of_it and not any(map(_ANSWER_WORD.search, words)))
    of_thing = of_it and not any(map(_is_of_answer, words))
    told = verb.endswith(("s", "ed")) or (of_thing and asked.tells and not verb.endswith("ly"))
    return len(strange) == 1 and speaks and told and not asked.changes(verb)


def _is_subject(words: list[str], strange: list[int], asked: Asked, is_value: bool, chained: bool) -> bool:
    """Whether the unknown words may be the subject of a known verb, and say nothing of the answer by its name.

    Args:
        chained: whether a formula goes on into the answer, so that the words name what it begins with.
    """
    unknown = [words[at] for at in strange]
    if any(
        (word in SUPPOSES and word != "falls") or word in DENIES or word.startswith("fail") or asked.changes(word)
        for word in unknown
    ):
        return False
    if IS_UNSPACED.search(words[-1]) is not None or IS_HANGUL.search(words[-1]) is not None:
        turns = (is_value and any(map(TURNS_UNSPACED.search, words))) or any("答" in word for word in unknown)
        named = ENDS_UNSPACED.search(words[-1]) is not None or len(words[-1]) > _MOST_WORDS or chained
        return (named or asked.tells) and not turns
    if asked.text and _is_told(words, strange, asked):
        return True
    of_answer = any(_ANSWER_WORD.search(word) or CALLS_WRONG.search(word) or _is_of_answer(word) for word in words)
    if _UNDERSTOOD * len(strange) < len(words) and not of_answer:
        return True
    verbs = [at for at, word in enumerate(words) if word in VERBS]
    # `also beträgt die Fläche`
    inverted = bool(verbs) and verbs[0] == 1 and words[0] in _INVERTS
    follows = (
        bool(verbs)
        and (asked.tells or not asked.text or len(words) > _UNDERSTOOD + 1)
        and (strange[-1] < verbs[-1] or inverted)
    )
    of_the_world = (
        (asked.tells or len(words) > _UNDERSTOOD)
        and 2 * len(strange) <= len(words)
        and not any(map(_is_of_answer, words[: strange[0] + 2]))
    )
    return (follows or of_the_world) and not any(map(_ANSWER_WORD.search, words))


def _is_of_answer(word: str) -> bool:
    """Whether a word names what is sought, as the sum, and no thing of the world."""
    return word in _SOUGHT


TURNS_UNSPACED = re.compile(
    "不(?!等式|[变同妨难断])|未(?!知)|无(?![理穷限])|误(?!差)|[没非若假错疑舍]|ต่าง|如果|是否|难道|誤|もし|ない|만약|아니|않"
)


def _strange_front(front: str, clause: str, asked: Asked) -> str:
    """The word that is not understood in what goes on into an answer's clause."""
    begun = [cut.end() for cut in _STRONG.finditer(FORMULA.sub(lambda math: "0" * len(math[0]), front))]
    words = _words(front[begun[-1] if begun else 0 :])
    label = _LABELLED.search(front)
    if not words and label is not None and asked.text:
        return next(
            (one for one in _words(label[0]) if not asked.understands(one) and not one.lower().endswith("ing")), ""
        )
    if not words:
        return ""
    supposed = words[0] in SUPPOSES
    if IS_UNSPACED.search("".join(words)) is not None or (not asked.text and not supposed):
        return ""
    follows = _FOLLOWS.match(clause) is not None or not _JOINS.isdisjoint(_words(clause)[:1])
    if words[0] in REASONS or words[-1].endswith("므로") or (follows and not supposed):
        return ""
    for at, word in enumerate(words):
        if word in METHODS or word.endswith("ing"):
            # what a step works with need not be understood
            rest = (word for word in words[at:] if word in SUPPOSES or word in DENIES or _FLAWED.search(word))
            return next(rest, "")
        if not _fits(words, at, asked) and (at or not supposed):
            return word
    return ""
