"""Reads the words around an answer for what takes it back, doubts it, supposes it or changes it.

A solution may lead to its answer in any words of any language, so an unknown word counts for nothing. The words that
turn an answer (deny, doubt or change it) form few classes, each of them closed: denials, suppositions, words that call
an answer wrong or doubt it, and operations and bounds right beside a value. Words inside a box are another matter:
there each must be understood (`math.read`).

Before the answer only its own sentence is read, mostly its last clause; behind it, also the sentences that follow.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

from agentscope_tuner.verify import re


@cache
def abroad() -> dict[str, str]:
    """The meaning in English of words of other languages: `metro` is `meter`.

    Meanings are units, `square`, `percent`, `per`, `and`, and `or`. `words_abroad.txt` has every word in all its cases;
    `python -m benchmarks.math.languages` makes it from the Unicode CLDR.
    """
    lines = Path(__file__).with_name("words_abroad.txt").read_text(encoding="utf-8").splitlines()
    return {form: name for name, _, forms in (line.partition(": ") for line in lines[1:]) for form in forms.split()}


# Words for `and` or `or` that may also be an inch, or a place
_NO_JOINS = frozenset({"in", "at"})


def joining(meaning: str) -> tuple[str, ...]:
    """The words of other languages for `and` or `or`, the longest first: `eller`, `oder`.

    Single ASCII letters are left out.

    Args:
        meaning: `and` or `or`.
    """
    words = (word for word, name in abroad().items() if name == meaning and word not in _NO_JOINS)
    return tuple(sorted((word for word in words if len(word) > 1 or not word.isascii()), key=len, reverse=True))


#: words that mean `or`, but for English and for the letters that mean it
OR_WORDS = (
    "or else",
    "oppure",
    "albo",
    "czy",
    "ya da",
    "yoksa",
    "أم",
    "还是",
    "または",
    "又は",
    "或",
    "或者",
    "或是",
    "अथवा",
    *joining("or"),
)
# without words that mean something else in a language with more speakers
_SURE_ORS = "|".join(sorted({"or", *OR_WORDS} - {"of", "ar", "же", "не"}, key=len, reverse=True))
OFFERS = re.compile(rf"(?<!\w)(?:{_SURE_ORS})(?!\w)|[或또]", re.IGNORECASE)


def word_set(words: str) -> frozenset[str]:
    """The words of a text, split at white space."""
    return frozenset(words.split())


class Known:
    """Remembers the words that have passed a test, because most texts consist of the same words.

    Args:
        passes: the test.
        most: how many words may be remembered before all are forgotten.
    """

    def __init__(self, passes: Callable[[str], bool], *, most: int = 8_192) -> None:
        self._passes, self._most = passes, most
        self._words: set[str] = set()

    def has_all(self, words: Sequence[str]) -> bool:
        """Whether all words pass the test."""
        if self._words.issuperset(words):
            return True
        if not all(map(self._passes, words)):
            return False
        if len(self._words) > self._most:
            self._words.clear()
        self._words.update(words)
        return True

    def cache_clear(self) -> None:
        """Forget all words, as the caches of functools do."""
        self._words.clear()


# --- the one table: words that deny, doubt or change an answer, and the words around them, language by language

SUPPOSES = word_set(
    """if whether suppose supposing assume assuming unless pretend imagine otherwise though although wenn ob
    angenommen si suponiendo supposons se sia supondo если ли eğer nếu giả jika kalau jeśli als indien ifall إذا
    لو अगर यदि क्या 만약 만일 acaba liệu هل"""
)
DENIES = word_set(
    """není nejsou nije δεν ei pole nu not no never nein nope non none nor neither cannot nothing nobody without
    nicht kein keine keinen nie niemals pas point jamais ne ningún ninguno nunca jamás não nem mai нет не ни никогда
    değil asla không chưa chẳng bukan tidak niet geen inte aldrig ikke לא ليس لا नहीं 아니라 아니 아닌 ไม่ except
    but besides sem არ չէ չի نیست కాదు نہیں নয় அல்ல இல்ல није nisu אינה אינו אין mustahil keinesfalls keineswegs
    aucunement ουδέποτε όχι নয় না নেই deyil емес nėra hindi değildir yok yoktur"""
)


# Reflexive pronouns of some languages, and conjunctions of others: they suppose only at the beginning of a clause
SUPPOSES_FIRST = frozenset({"si", "se"})


_WHEN = word_set("when quand lorsque cuando quando когда falls gdy khi wanneer")
# Denials of the next word alone: `everything except`
_EXCEPTS = frozenset({"but", "except", "besides", "point"})


def denies(word: str) -> bool:
    """Whether a word denies what follows it: `not`, `isn't`."""
    return word in DENIES or word.endswith(("n't", "n’t")) or word.startswith(("아니", "않"))


# Words that turn against what was said before
ADVERSE = word_set(
    """however but yet though unfortunately allerdings jedoch aber leider cependant toutefois mais embargo pero porém
    mas contudo però tuttavia ma однако но увы jednak ale niestety maar echter ancak fakat"""
)
# Words that say that an answer follows
SO = word_set(
    """so therefore thus hence consequently whence daher damit somit also folglich donc ainsi d'où finalement luego
    entonces por tanto así assim portanto logo quindi dunque perciò следовательно следователно поэтому значит итак
    sonuçta nedenle vậy do đó jadi maka zatem więc dus daarom derfor alltså därför إذن لذلك अतः इसलिए 따라서 그러므로
    즉 тому отже tedy proto takže άρα επομένως بنابراین پس prin urmare deci tehát így siis joten altså dakle stoga
    לכן সুতরাং অতএব kwa hiyo samakatuwid"""
)
# Words that begin a reason, a place or a time
OPENS = word_set(
    """because since as which where so when if thus therefore hence and giving making after before by with in on at
    for from of to or per ie eg using due given while during among between within across throughout until who whose
    into than including over oder weil da denn wobei und für von mit nach durch ou car puisque donc où pour comme
    dont de et par avec après voor porque pues ya donde para con y o perché poiché dove pois com onde per e так где
    для по после çünkü için vì nên để karena untuk bo gdyż want omdat namely nämlich savoir saber incluindo como wie
    как 分别是 分别为 即 或 或者 或写成 写成 也可写成 可写成 记作"""
)
REASONS = word_set(
    """como puesto because due since weil da denn car puisque porque pues perché poiché pois потому çünkü vì karena
    bo gdyż omdat زیرا لأن क्योंकि কারণ оскільки поскольку ponieważ protože want eftersom"""
)
# Words that may not be right before a value, because they bound or change it: `under 5`, `different from 5`
SHIFTS = word_set(
    """instead short shy different far close over from than before after between within until without during
    throughout while if when though under above below beyond past given assuming upwards north south oder ou più plus
    diverso diversa distinto distinta diferente diferentes
    más mehr menos moins weniger больше меньше fewer minus near about almost nearly roughly approximately barely hardly
    knapp etwa ungefähr rund unter über fast fere environ presque jusqu'à quasiment casi mejor quase circa cerca
    около почти порядка примерно yaklaşık περίπου σχεδόν kira-kira sekitar hampir omtrent ongeveer bijna około prawie
    blisko omkring nästan bortåt khoảng gần xỉ від od от från dari عن حوالي تقريبا تقريباً लगभग 약 거의 대략 ประมาณ"""
)
# Prepositions right before a value that say nothing: the word before them may bound it
HANGS = word_set("of to by at de von di del da do van i từ in on for as per a")
# Verbs whose `to` leads to a result: `adds up to`
_RISES = word_set("add adds added sum sums come comes out end ends make makes work works turns found round rounds")
VERBS = word_set(
    """zijn is are was were equals equal costs cost gives gets makes became becomes comes reads ist sind war waren hat
    haben beträgt ergibt kostet est sont était a ont vaut possède coûte es son era tiene tienen hay cuesta vale é são
    tem há custa è ha hanno costa равен равна равно равны составляет имеет bằng là adalah jest ma wynosi är har heeft
    है हैं olur has have had besitzt besitzen possèdent admet admettent posee poseen possiede possiedono possui possuem
    bezit bezitten telt posiada"""
)

# The words for what is sought: a denial reaches over them to the value
SOUGHT = re.compile(
    r"^(?:it|this|that|mine|my)$|answer|^(?:sum|solution|value|number)$|resul|résult|risult|ergebnis|respuesta|réponse|antwort|ответ|cevap|resposta|^(?:slut)?svar"
)

# Quantities that a question may ask for. An unknown verb may say anything about them: `the sum exceeds`
_QUANTITIES = word_set(
    """answer result total sum count product quotient remainder difference amount probability perimeter area median mean
    length width height volume radius distance speed price cost summe zahl produkt som suma soma somma numero número
    nombre somme produit сумма число произведение liczba wynik toplam sayı tổng án số jumlah x y n k"""
)
# `Let n = 6; then`: what is set is no answer
_LETS = word_set("let sei seien soit soient sea sean seja sia siano пусть 设 設")
_MOST_LET = 3
# Verbs, and words beside them, that join a quantity to its value, beside those of VERBS
JOINS = word_set(
    """be been being equal yield yields gives give produces produce leave leaves left remains stays stands lies occurs
    comes out down up works turns found reduces simplifies evaluates amounts adds sums totals must should can will
    may would certain pay we i you get obtain have find see conclude know result results value now then thus only
    exactly just simply indeed finally therefore hence precisely same measured reached attained taken given correct
    right final required desired takes take reads shows show means implies approaches converges contains denotes
    represents genau gleich liefert folgt bleibt lautet wird damit insgesamt reste devient donne obtient trouve égale
    égal égaux donc queda resulta da dan igual obtenemos resta fica dá vale valem obtemos viene risulta ottiene uguale
    выходит получается составит составила остаётся получаем итого равняется wynosi daje jest otrzymujemy olur eder
    bulunur vardır được thu có menjadi sama diperoleh bedraagt gelijk wordt levert krijgen blir är får ger wartość
    wert valeur valor valore значение hodnota hodnotu"""
)
_ARTICLES = word_set(
    """a an the un une ein eine einen einem einer der die das den dem la le les el il lo o os as los las una uno um uma
    no"""
)
# Words between a verb and its value that say nothing
_LEADS_BACK = (
    HANGS
    | _ARTICLES
    | word_set(
        """à al ao aan be ser être sein zu essere być into in with us me him her them itself only just exactly simply
        also indeed then now"""
    )
)

# --- signs and sentences

WORDS = re.compile(r"(?![-'])[^\s\d!-&(-,./:-@\[-`{-~。，、！？（）；：।۔؟،؛–—…“”✓✔✅☑\ufe0f]+")
FORMULA = re.compile(r"\$\$[^$]+\$\$|\$[^$]+\$|\\\(.*?\\\)|\\[a-zA-Z]+\*?(?:\{[^{}]*\})?|[`<][^<>`]*[`>]")
# A full stop behind a digit ends a sentence, too, but not the number of an item
SENTENCE_END = re.compile(r"[.!?؟।۔](?=[\s*_)\]\"'”’}$]|$)|[。！？]|\n")
_CLAUSE_END = re.compile(r"[,;，；、،—–](?=\D|$)|[:：](?=\s|$)|므로(?=\s)")
# What opens a box or sets its type
_OPENERS = "".join(filter(str.isspace, map(chr, range(0x3001)))) + "$*_`>#({[\\|-"
_OPENED = re.compile(r"(?<!\\)\$|\\[(\[]|<")
IS_UNSPACED = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff]")
IS_HANGUL = re.compile(r"[\uac00-\ud7a3]")
# In languages without spaces between words: characters that deny, doubt or change a value
_TURNS_UNSPACED = re.compile(
    "除了$|随便|乱[写填选猜]|[猜蒙]的?$|瞎[写填选猜]|排除|别[写填选]|不(?!等式|[变同妨难断])|未(?!知)|无(?![理穷限])|误(?!差)|[没非若假错疑舍]|ต่าง|如果|是否|难道|誤|もし|ない|만약|아니|않"
)
CHANGES_UNSPACED = re.compile(f"{_TURNS_UNSPACED.pattern}|[倍万亿弃]|半(?!径)|多(?![项边])|[千百](?![克米瓦分])")
# The scale of a value in these languages, and the ends of adverbs that make a value uncertain
_SCALES_UNSPACED = re.compile("[万亿億](?![一能])|[千百](?![克米瓦分])")
_UNSURE_UNSPACED = re.compile("(?:[约約乎许概估近]|可能|そらく|およそ|たぶん|多分|ほぼ)(?:[有是为]|等于)?\\Z")
CALLS_WRONG = re.compile(
    r"\b(?:wrong|incorrect|mistakes?|mistaken|false|lie|falsch|faux|erreur|erro|incorrecto|equivocado|erróneo|errado|incorreto|sbagliato|errato"
    r"|(?:\w+n['’]t|not|cannot)\s(?:be\s)?(?:right|correct)|made an? (?:\w+ )?error"
    r"|неверн\w+|неправильн\w+|ошибка|mauvaise?s?|błędn\w+|nesprávn\w+|verkeerde?|felaktig\w*|hibás|greșit\w*|невірн\w+|yanlış\w*|hatalı|salah|keliru|fout|onjuist)\b|\bsai\b|不正确|错|误|不对|間違|誤|오답|틀렸"
    r"|틀린|잘못|خطأ|خاطئ|गलत|ผิด|λάθος|ভুল",
    re.IGNORECASE,
)
# Words that take a step back, and doubts
DOUBTS = re.compile(
    r"^(?:wrong|incorrect|mistake|false|faulty|flawed|careless|pretend|imagin|suppos|deny|denie|impossib|scratch"
    r"|(?:withdr|retract|reject|ignor|discard|descart|verw[eo]rf|disregard|exclud)(?!.*ing$)|unlikel|doubt|improbab|perhaps|maybe|possibly|probabl|geraten|hasard|наугад|chutei|fail(?!ure)|falsch|fehler|faux|erreur|errad"
    r"|errone|sbagliat|неверн|ошиб|vielleicht|peut-être|quizás|forse|talvez|возможно|mustahil)"
)
# Words for the scale of a value
SCALES = re.compile(
    r"^(?:thousand|million|billion|hundred|tausend|milliard|millier|migliai|тысяч|миллион|modulo$|octal|binary"
    r"|hexadecimal|dozens?$|tens$|mil$|mille$|lakh|crore|triệu$|nghìn$|milhar|bin$)"
)
# Marks of a value. Text may rightly call a letter, a yes or a name wrong, as in `the wrong step is \boxed{B}`, so only
# values are checked for such text
IS_VALUE = re.compile(r"\d|\\(?:pi|infty|frac|sqrt)")
_FORMULA_ALONE = re.compile(
    r"[a-z]{1,3}|[^\n]*\\(?:sin|cos|tan|ln|log|cdot|times|vec|alpha|beta|theta|lambda)(?![a-z])[^\n]*"
)


def is_value(text: str, asked: Asked) -> bool:
    """Whether an answer is a number, or a formula whose letters the question names: `42`, `xy`; not the choice `B`."""
    if IS_VALUE.search(text) is not None:
        return True
    if _FORMULA_ALONE.fullmatch(text) is None:
        return False
    letters = set(re.findall(r"[a-z]", re.sub(r"\\[a-z]+", "", text)))
    return all(re.search(rf"(?<![a-z]){one}(?![a-z])", asked.text) for one in letters)


_FORMS = re.compile(r"[^\W_]+")


@dataclass(frozen=True, eq=False)
class Asked:
    """A question, and which words may be used beside its answer. Compared by identity, so that it can be a cache's key.

    Attributes:
        text: the question, in lower case; empty if there is none.
        allows: whether a word is the question's.
        counts: whether a word is a unit, or a noun that is counted.
    """

    text: str
    allows: Callable[[str], bool]
    counts: Callable[[str], bool]

    def has(self, word: str) -> bool:
        """Whether the question has this very word: not `page` if it has `pages`."""
        return f" {word} " in _spaced(self.text)

    def means_else(self, word: str) -> bool:
        """Whether a word that denies or offers something means something else in the question's language.

        `no` denies nothing in Portuguese, where it means `in the`.
        """
        return word in _HOMOGRAPHS and _language(self.text) in _HOMOGRAPHS[word]

    def says(self, word: str) -> bool:
        """Whether a word is a single ASCII letter, or a form of one of the question's words: `authors` for `author`."""
        if len(word) == 1 and word.isascii():
            return True
        if IS_UNSPACED.search(word) is not None:
            return word in self.text or self.allows(word)
        if _ARABIC.fullmatch(word) is not None:
            # what is counted is asked for behind `how many`
            asks = self.text[max(self.text.rfind("كم"), 0) :]
            if (OPERATES_SOON.search(word) is None and _root(word) in _roots(asks)) or self.allows(word):
                return True
            if not word.endswith("\u064b\u0627"):
                return False
        own = BEHIND_NAME.sub("", word)
        # inflected words share their beginnings; short ones must be the same
        stem = f" {own[: max(len(own) - 3, 4)]}" if len(own) >= _SHORT else f" {own} "
        return stem in _spaced(self.text) or self.allows(word)


# How a language is recognised: words that are in most of its sentences, and in few of the other languages'
_FUNCTION_WORDS = {
    "en": word_set("the of is are what how find many if to from which an"),
    "de": word_set("der die das und ist wie viele ein eine den wird welche von"),
    "fr": word_set("le les des est une quelle quel calculer du combien dans et un on soit"),
    "es": word_set("el los es una cuál cuántos del y qué halla calcula un en cuánto"),
    "pt": word_set("do da dos das um uma é os qual em quanto quantos no na com são ao"),
    "it": word_set("il di è della del gli che quanti qual un una calcola trova quanto si"),
    "pl": word_set("jest w z i oblicz ile na się o do oraz są rozwiąż wyznacz jaka"),
    "cs": word_set("je v a se kolik na jaký jaká určete vypočtěte o s ze"),
    "nl": word_set("het een van de is hoeveel en wat bereken bepaal met in"),
    "ro": word_set("este are un câte cât și pe cu care de sunt"),
    "sv": word_set("och är en ett av hur vad bestäm att med som många på"),
}
# Words of the tables that mean something else in these languages
_HOMOGRAPHS = {
    "no": {"pt"}, "pole": {"pl", "cs", "en"}, "ma": {"pl", "fr"}, "point": {"en"}, "nu": {"sv", "nl", "fr"},
    "als": {"de"}, "mai": {"de", "ro"}, "but": {"fr"}, "ei": {"de"}, "ale": {"en"}, "o": {"pt", "pl", "cs"},
    "mas": {"es"}, "se": {"es", "cs", "fr"}, "si": {"it"}, "ou": {"nl"}, "hindi": {"en"},
    "i": {"sv", "pl", "it", "cs"}, "a": {"pl"}, "sem": {"cs"},
}  # fmt: skip


@lru_cache(maxsize=1_024)
def _language(text: str) -> str:
    """The code of a text's language by its function words: `de` for `wie viele äpfel`; empty if it is unclear."""
    words = WORDS.findall(FORMULA.sub(" ", text))
    counts = {name: sum(word in own for word in words) for name, own in _FUNCTION_WORDS.items()}
    best = max(counts, key=counts.__getitem__)
    return best if counts[best] > 0 and list(counts.values()).count(counts[best]) == 1 else ""


_NUMBERS = re.compile(r"\d+(?:[.,]\d+)*")


def repeats_given(said: str, given: str) -> bool:
    """Whether `said` has two or more numbers, all of them in `given`, and no `or` between answers: `12, and ate 5`."""
    numbers = set(_NUMBERS.findall(said))
    if len(numbers) < 2 or not numbers.issubset(_NUMBERS.findall(given)):
        return False
    return OFFERS.search(said) is None and {"o", "should"}.isdisjoint(WORDS.findall(said.lower()))


def asks_difference(word: str, question: str) -> bool:
    """Whether a question asks for a difference by `word`, as in `How much more`: an answer may then say `5 more`."""
    return word in COMPARED and re.search(rf"\bhow (?:much|many)(?: \w+)? {word}\b", question.lower()) is not None


COMPARED = frozenset({"more", "less", "fewer"})


@lru_cache(maxsize=1_024)
def _spaced(text: str) -> str:
    """The words of a text between single spaces, so that ` word ` finds whole words alone."""
    return f" {' '.join(_FORMS.findall(text))} "


_SHORT = 4
# A suffix behind a name or a symbol, as in Turkish and Hungarian: `Ayşe'nin`, `Ft-ba`
BEHIND_NAME = re.compile(r"(?<=[^\W\d_]{2})(?:['’](?!t\Z)[^\W\d_]{1,5}|-[^\W\d_]{1,2})\Z")
_ARABIC = re.compile("[\u0621-\u064a][\u0621-\u0652]{2,}")


def _root(word: str) -> str:
    """The consonants of an Arabic word, which its plural shares: `ضلع` of `أضلاع` and `ضلعًا`."""
    bare = re.sub("[\u064b-\u0652]", "", word).removesuffix("ا" if word.endswith(("ًا", "اً")) else "\0")
    bare = re.sub("^(?:[وبكف]?ال|لل)(?=..)|(?<=..)(?:ات|ة)$", "", bare)
    root = re.sub("[اأإآويىئؤء]", "", bare)
    return root if len(root) > 2 else bare


@lru_cache(maxsize=1_024)
def _roots(text: str) -> frozenset[str]:
    """The roots of all Arabic words of a text; see `_root`."""
    return frozenset(map(_root, _ARABIC.findall(text)))


# --- before an answer

# `no number except \boxed{7}` and `没有别的，除了` confirm the box, because they exclude all other values
EXCEPTING = re.compile(r"(?:except|other\s+than|anything\s+but|rather\s+than|different\s+from|除了)\Z", re.IGNORECASE)
NO_OTHER = re.compile(r"\b(?:no|none|nothing|nobody|cannot|not|never)\b|n['’]t\b|没有|无|不", re.IGNORECASE)
# An operation on the answer, in lower case: with no digit between it and the answer, and as the last words before it
OPERATES_SOON = re.compile(
    r"(?:\b(?:(?:a|one|two) (?:third|quarter|fifth|tenth)s? of|(?:half|double|triple)(?!-)|twice|thrice|tenfold"
    r"|le tiers|le quart|drittel|viertel|hälfte|doppelte?|dreifache|(?:tercera|cuarta) parte|moitié|doble|mitad"
    r"|un terzo|un quarto|metà|doppio|terça parte|triplo|metade|dobro|треть|четверть|половин\w*|удвоенн\w*|вдвое"
    r"|в \w+ раза? (?:больше|меньше)|üçte|yarısı|iki katı|phần ba|sepertiga)\b|(?:[2-9两二三]\s?倍|半分|一半|之半"
    r"|절반|[두세] ?배|نصف|ضعف|आधा|दोगुना))(?=\D*$)"
)
_OPERATES_NEXT = re.compile(
    r"(?:\b(?:(?:at|the) (?:least|most)|(?:more|less|greater|fewer|larger|smaller|bigger|higher|lower) than"
    r"|(?:strictly )?(?:above|below|exceeds?|exceeding|beyond)|between \S{1,12} and|unequal to"
    r"|(?:rule|rules|ruled|ruling) out"
    r"|not this (?:one)?|majoré par|minoré par|cota (?:inferior|superior)|"
    r"not the case that we (?:get|have)|minus|negative|(?:one|1) over|(?:successor|predecessor"
    r"|multiple|divisor|factor|root|square|cube|power|factorial|opposite|negation|reciprocal|inverse|logarithm|log"
    r"|sine|cosine|tangent|complement) of(?: the)?|ungleich|mindestens|höchstens|(?:mehr|weniger|größer|kleiner) als"
    r"|negativ|(?:quadrat)?wurzel (?:aus|von)|kehrwert von|tout sauf|(?:au )?(?:plus|moins)(?: de| que)?"
    r"|racine(?: carrée)? de|inverse de|opposé de|carré de|moinsième|(?:al|por lo) menos|como máximo|a lo sumo|(?:más"
    r"|menos|mayor|menor) (?:de|que)|menos|raíz(?: cuadrada)? de|opuesto de|inverso de|cuadrado de|pelo menos"
    r"|no máximo|(?:mais|maior) (?:de|que)|raiz(?: quadrada)? de|almeno|al massimo|(?:più|meno) di|meno"
    r"|radice(?: quadrata)? di|opposto di|(?:не )?(?:больше|меньше|более|менее)(?: чем)?|минус|отрицательное"
    r"|корень из|en (?:az|fazla)|eksi|tersi|ít nhất|nhiều nhất|âm|căn bậc hai của|paling (?:sedikit|banyak)"
    r"|lebih dari|m[ií]nusz|mindre än|mer än|co (?:najmniej|najwyżej)|meer dan|minder dan|ten minste|hoogstens"
    r"|außer|ausgenommen|sauf|except[éo]|exceto|hormis|salvo|tranne|eccetto|кроме|исключая|крім|окрім|освен|oprócz|poza"
    r"|kecuali|undtagen|undtaget|unntatt|utom|förutom|behalve|uitgezonderd|paitsi|kivéve|în afară de|kromě"
    r"|okrem|osim|razen|εκτός(?: από)?|(?:ngoại )?trừ|(?:ما )?عدا|إلا|باستثناء|بجز|מלבד|חוץ|ยกเว้น|ব্যতীত|छोड़कर)"
    r"|\b(?:exclude|reject|discard|dismiss|eliminate)|排除|超过|大于|小于|至多|至少|不到"
    r"|多于|少于|低于|高于|不足|最[多少](?:是|为)?|少なくとも|高々|적어도|많아야|कम से कम|负|負"
    r"|零下|氷点下|영하|マイナス|ルート|أ(?:قل|كثر|كبر|صغر) من"
    r"|마이너스|음수|루트|根号|سالب|ऋण|ลบ)\W*$"
)
# Behind a step that is over: `since there is no half shelf, we need`
_LATER_CLAUSE = re.compile(r",(?:\s+[^\W\d_]+){2}|[，；,]\s*(?:所以|因此|故|则|于是|因而|可得|从而)")


def _is_said_scale(word: str, asked: Asked) -> bool:
    """Whether the question itself has a word of scale: `thousand`, or `mod` for `modulo`."""
    return asked.says(word) or (word == "modulo" and "mod" in asked.text)


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
# Phrases with a denial that only announce the answer
_SAYS_NOTHING = re.compile(
    r"\b(?:nothing (?:other than|but|less than)|no (?:doubt|wonder)|without (?:any |a )?(?:doubt|loss of generality)"
    r"|not (?:hard|difficult))\b"
)
_BARE_VERBS = frozenset({"is", "are", "equals", "was", "="})
_NEGATED = re.compile(
    r"(?:\\(?:neq?|lnot|neg|not\s*=)(?![a-zA-Z])|[≠¬]|(?<![\w)}])!=|不是|不为|不等于|并非|绝非)[\s$\\,;!({]*\Z"
)
# A sentence that is quoted with its answer: an example, or somebody else's
QUOTED = re.compile(r"(?:^|[\s(])[“\"«„「『][^\"“”«»„「」『』\n]*\w\w[^\"“”«»„「」『』\n]*\Z")
QUOTE_ENDS = re.compile(r"[^\"“”«»„「」『』\n]{0,60}[”\"»“」』]")
MOST_WORDS, WINDOW, LAST_WORDS = 5, 200, 60


# The words of headings that only announce an answer, in the languages that have such headings
_ANNOUNCES = (
    _ARTICLES
    | word_set(
        """answer answers solution result conclusion réponse résultat respuesta resultado solución conclusión resposta
        solução conclusão risposta risultato soluzione conclusione antwort ergebnis lösung endergebnis
        schlussantwort ответ результат решение вывод відповідь odpowiedź wynik rozwiązanie odpověď výsledek řešení
        antwoord eindantwoord resultaat uitkomst oplossing svar resultat lösning slutsvar løsning cevap yanıt sonuç
        çözüm đáp án số kết quả câu trả lời giải jawaban hasil válasz eredmény megoldás răspuns rezultat soluție
        απάντηση αποτέλεσμα λύση vastaus תשובה תוצאה پاسخ جواب نتیجه الإجابة الجواب الناتج الحل उत्तर हल परिणाम
        উত্তর jibu"""
    ),
    word_set(
        """final finale finales finals finally endgültige endgültiges endgültig finaler finales abschließende
        окончательный окончательное итоговый итоговое конечный финальный остаточна кінцева підсумкова ostateczna
        ostateczny ostateczne końcowa końcowy konečná konečný výsledná definitief definitieve slutligt slutlig
        slutgiltigt endelig endelige nihai son cuối cùng akhir végső finală final τελική τελικό lopullinen סופית
        סופי نهایی النهائية النهائي अंतिम চূড়ান্ত حتمی mwisho définitive definitiva"""
    ),
)


def announces(lead: str) -> bool:
    """Whether the words before an answer say only that it is the final one, in any order: `**Réponse finale**`."""
    words = WORDS.findall(lead)
    nouns, finals = _ANNOUNCES
    said = set(words)
    return bool(said) and said <= nouns | finals and not said <= finals | _ARTICLES and not _SIGNS.intersection(lead)


# A sentence that calls the one behind it wrong
_FORETELLS = re.compile(
    r"(?:\b(?:(?:next|following)(?: (?:one|answer|value|result|number|line|box|statement))?|what follows"
    r"|das folgende|la suite|lo siguiente|quanto segue|o seguinte|следующее)\s(?:is|are|was|ist|est|es|è|é)?\s?"
    r"|下面的?|以下的?)"
    rf"[^.!?。\n]{{0,12}}?(?:{CALLS_WRONG.pattern})[^.!?。\n]{{0,8}}[.!:。\n][^.!?。\n]*\Z",
    re.IGNORECASE,
)


# Each such sentence has one of these, which are found much faster than the pattern
_WHAT = ("one", "answer", "value", "result", "number", "line", "box", "statement", "is", "are", "was")
_AHEAD = (
    "hat follows",
    "as folgende",
    "a suite",
    "o siguiente",
    "uanto segue",
    "o seguinte",
    "ледующее",
    "下面",
    "以下",
)


def _points_ahead(near: str) -> bool:
    """Whether a text has words such as `next one` or `what follows`. A cheap test before `_FORETELLS`."""
    for lead in ("ext ", "ollowing "):
        at = near.find(lead)
        while at >= 0:
            if near.startswith(_WHAT, at + len(lead)):
                return True
            at = near.find(lead, at + 1)
    return any(map(near.__contains__, _AHEAD))


def foretold_wrong(before: str, question: str = "") -> str:
    """The words before an answer that call its sentence wrong: `The next one is wrong.`; empty if there are none.

    Empty, too, if the question asks for a wrong one.

    Args:
        before: the text before the answer.
        question: the question.
    """
    near = before[-WINDOW:]
    # without the end of a sentence there is no sentence before the answer's
    ends = "." in near or ":" in near or "\n" in near or "!" in near or "。" in near
    if not ends or not _points_ahead(near):
        return ""
    said = _FORETELLS.search(near) if CALLS_WRONG.search(near) and not CALLS_WRONG.search(question) else None
    return "" if said is None else said[0].strip()


_SIGNS = frozenset("=<>\\$0123456789?？؟")


def strange_before(text: str, before: str, asked: Asked, is_value: bool) -> str:
    """The words before an answer that deny, doubt or change it: `not` in `the answer is not 42`; else empty.

    Args:
        text: the answer.
        before: the text before it.
        asked: the question.
        is_value: whether the answer is a number or a formula. A letter may rightly be called wrong, if that is asked
            for.
    """
    if "\\text" in before:
        before = _SET.sub(lambda said: " ".join(["", *_INSIDE.findall(said[0])]), before)
    lead = lead_of(before)
    if " lie " in lead:
        lead = _LIES_THERE.sub(" are ", lead)
    if (is_value and leads_plainly(lead, asked)) or announces(lead):
        return ""
    return strange_lead(text, before, lead, asked, is_value)


# The verb of points, not an untruth: `the foci lie at`
_LIES_THERE = re.compile(r"(?<!\ba)(?<!\bi) lie (?=(?:at|on|in|within|between|along|inside|outside)\b)")
# A clause contrary to fact, by its inversion or its mood, on which the value hangs
_CONTRARY = re.compile(
    r"\A\W*(?P<mood>had|were|hätten?|wären?)\b(?! (?:we|i)\b)[^,]*,[^,]*\b(?:would|could|might|wäre|hätte|würde)\b"
    r"|\bif\b[^,]*\b(?P<past>were|had)\b[^,]*,[^,]*\bwould\b|\bsi\b[^,]*\b(?:avait|était|hubiera|fuera|fosse|avesse|tivesse)\b"
    r"|\bals\b[^,]*\b(?:was|had|waren)\b[^,]*,[^,]*\bzou\b"
)


# French for `that is`, if it is right before the value; at the beginning of a sentence it means `let`
_THAT_IS = re.compile(r",\s*soit[\s$*\\(]*\Z")


def strange_lead(text: str, before: str, lead: str, asked: Asked, is_value: bool) -> str:
    """As `strange_before`, for the sentence `lead` alone, which is not known to be harmless: each pattern is tried.

    Args:
        text: the answer.
        before: the text before it.
        lead: the sentence that leads to it, see `lead_of`.
        asked: the question.
        is_value: whether the answer is a number or a formula.
    """
    if (denied := _NEGATED.search(before)) is not None:
        return denied[0]
    if is_value and (contrary := _CONTRARY.search(lead)) is not None and _CONTRARY.search(asked.text) is None:
        return contrary["mood"] or contrary["past"] or "si"
    lead = _THAT_IS.sub("", _SAYS_NOTHING.sub(" ", lead))
    if found := operated(lead, asked):
        return found
    if (part := _OF_THE_ANSWER.search(lead)) is not None and not asked.has("answer"):
        return part[0]
    if not _words(lead):
        above = _above(before)
        is_wrong = is_value and not any(map(str.isdigit, above)) and CALLS_WRONG.search(above) is not None
        # `Hmm, that is wrong.` behind a box is about that box
        return above.strip() if is_wrong and not ("\\boxed" in before and _LOOKS_BACK.fullmatch(above)) else ""
    clause = _clause(lead)
    if _is_confirmed(lead):
        return ""
    if is_value and (shift := shifts(clause)) and not (shift in _LATER and _ASKS_WHEN.search(asked.text)):
        return shift
    if is_value and (pole := _other_pole(clause, asked.text)):
        return pole
    if is_value and (
        scale := next((one for one in _words(lead) if SCALES.search(one) and not _is_said_scale(one, asked)), "")
    ):
        return scale
    # what is denied is stated: `91 is not prime: no`
    states = not is_value and clause.rstrip(" $*\\\n")[-1:] in ":："
    words = _words(clause)
    turn = (
        "" if states else _turn(words, asked, is_value) or (_said_of_sought(clause, words, asked) if is_value else "")
    )
    return "" if lead.rstrip(" $*\\,(").removesuffix(" or").rstrip(" $*\\").endswith(text) else turn


# A finished sentence about the text before it: `Hmm, that is wrong.`
_LOOKS_BACK = re.compile(
    r"\W*(?:(?:h+m+|wait|oh|no|but|oops|sorry|actually)\W+)*(?:that|this|it|my (?:first|earlier|previous))\b"
    r"[^:：,，;]*[.!]\s*",
    re.IGNORECASE,
)


# Words for the smallest and for the greatest, of which a question may ask for one
_LEAST = re.compile(
    r"(?<!at )\b(?:smallest|smaller|least|minimum|minimal|lowest(?! terms)|shortest|shorter|fewest|"
    r"kleinst\w+|kleiner\w+|"
    r"kürzest\w+|niedrigst\w+|geringst\w+|plus petite?s?|menor(?:es)?|mínim[oa]s?|minim[oaie]|minor[ei]|"
    r"più piccol[oaie]|наименьш\w+|меньш[аеийо]\w+|минимальн\w+|nhỏ nhất|terkecil|en küçük|najmniejsz\w+)\b|"
    r"[最较較][小短少低]|가장 작은|최소|最も小さ"
)
_GREATEST = re.compile(
    r"(?<!at )\b(?:largest|larger|greatest|greater|maximum|maximal|highest|longest|longer|biggest|größ(?:t|"
    r"er)\w+|höchst\w+|längst\w+|plus grande?s?|mayor(?:es)?|máxim[oa]s?|massim[oaie]|maior(?:es)?|maggior[ei]|"
    r"più grand[ei]|наибольш\w+|больш[аеийо]\w+|максимальн\w+|lớn nhất|terbesar|en büyük|największ\w+|"
    r"grootste)\b|[最较較][大长長多高]|가장 큰|최대|最も大き"
)


# Patterns of several words, whose words by themselves deny or change nothing
_ANYWHERE, _ENDS = (OPERATES_SOON, _CONTRASTS), (_LEAST, _GREATEST)
# Tried in twos and threes by a test
LINKS = (
    word_set(
        """the of is that this it we get have and a an case in be my our final correct answer result one not de by
    at am from al do la le un una del den to two out"""
    )
    - DENIES
)


def _words_of(patterns: Sequence[re.Pattern[str]]) -> frozenset[str]:
    """The ASCII words of patterns, without common ones such as `of`: `thirds? of` gives `third` and `thirds`."""
    return frozenset(
        form
        for one in patterns
        for word, last in re.findall(r"([^\W\d_]+)([^\W\d_]\??)", re.sub(r"\\[a-zA-Z]", " ", one.pattern))
        for form in ({word, word + last[0]} if last[1:] else {word + last})
        if form.isascii() and form not in LINKS
    )


_OF_LAST_PHRASES = _words_of((_OPERATES_NEXT,))
# One more than the most words of a phrase of `_OPERATES_NEXT` without a denial
_LAST_PHRASE = 5
_TURNING = SUPPOSES | DENIES | _WHEN | ADVERSE | _LETS
# Words that mean the smallest or the greatest by themselves; whether they are right depends on the question
_END_WORDS = tuple(frozenset(filter(one.fullmatch, _words_of(_ENDS))) - _TURNING for one in _ENDS)
_POLES = _END_WORDS[0] | _END_WORDS[1]
_READ_ON = _POLES | {"answer", "result", "had", "were"}
_OF_PHRASES = _words_of((*_ANYWHERE, *_ENDS)) - _POLES
_PLAIN_LEAD = re.compile(r"[a-z0-9 ,:%*()-]*+")
# A formula in ASCII, in lower case
_OF_FORMULA = r"(?:[ -#%-\[\]-~]|\\[ -'*-~])++"
_PLAIN_FORMULA = re.compile(rf"\$\$?{_OF_FORMULA}\$\$?|\\\({_OF_FORMULA}\\\)")
_LATIN = re.compile("[a-z]+")
_KNOWN_VERBS = (VERBS | SO | JOINS) - _LEADS_BACK
_LONGEST_WORD = 24


def turns_nothing(word: str) -> bool:
    """Whether a lower-case word right before an answer can do nothing to it: `makes`, but not `than`."""
    return word not in _OF_LAST_PHRASES and _turns_nothing_far(word)


def _turns_nothing_far(word: str) -> bool:
    """As `turns_nothing`, for a word further away: `than` does nothing in `integers less than 103 is`."""
    return word in _POLES or not (
        word in _TURNING
        or denies(word)
        or len(word) > _LONGEST_WORD
        or word in _OF_PHRASES
        or any(one.search(word) is not None for one in (CALLS_WRONG, DOUBTS, SCALES, _LEAST, _GREATEST))
    )


_NEXT, _FAR = Known(turns_nothing), Known(_turns_nothing_far)


def leads_plainly(lead: str, asked: Asked) -> Sequence[str]:
    """The words of the sentence before a value, if none can deny or change it; else empty.

    Most solutions lead to their answers so, `Janet makes`, and then no pattern of several words need be tried.
    """
    if "$" in lead or "\\(" in lead:
        if not all(_NEXT.has_all(_LATIN.findall(one)) for one in _PLAIN_FORMULA.findall(lead)):
            return ()
        lead = _PLAIN_FORMULA.sub(" ", lead)
    if "'" in lead:
        lead = lead.replace("'s ", " ")
    if _PLAIN_LEAD.fullmatch(lead) is None:
        return ()
    words = _LATIN.findall(lead)
    last = words[-_LAST_PHRASE:]
    if not last or not _NEXT.has_all(last) or not _FAR.has_all(words):
        return ()
    while len(last) > 1 and last[-1] in HANGS:
        last.pop()
    if last[-1] in SHIFTS:
        return ()
    if not _READ_ON.isdisjoint(words) and (
        _OF_THE_ANSWER.search(lead) or _CONTRARY.search(lead) or _may_be_other_pole(words, asked.text)
    ):
        return ()
    return words if words[-1] in _KNOWN_VERBS or not _said_of_sought(lead, words, asked) else ()


@lru_cache(maxsize=1_024)
def _asked_ends(asked: str) -> tuple[bool, ...]:
    """Whether a question has words for the smallest, and for the greatest: `(True, False)` for `the least number`."""
    return tuple(one.search(asked) is not None for one in _ENDS)


def _may_be_other_pole(words: Sequence[str], asked: str) -> bool:
    """Whether a sentence may name the opposite extreme of the one asked for: `largest` instead of the smallest."""
    said, sought = tuple(not one.isdisjoint(words) for one in _END_WORDS), _asked_ends(asked)
    return all(said) or (said != sought and any(said) and sum(sought) == 1)


def _other_pole(clause: str, asked: str) -> str:
    """The word of an answer's clause for the opposite extreme of the one asked for: `largest`; else empty."""
    for one, other in ((_LEAST, _GREATEST), (_GREATEST, _LEAST)):
        said = other.search(clause)
        if said is not None and one.search(asked) and not other.search(asked) and not one.search(clause):
            return said[0]
    return ""


# Words before a time, which may be an answer: `the stone lands after`
_LATER = frozenset({"after", "nach", "après", "dopo", "depois", "через", "past"})
_ASKS_WHEN = re.compile(
    r"\b(?:how long|when|wie lange|wann|combien de temps|quand|quanto tempo|когда|сколько времени|через)\b"
    r"|\b(?:after|nach|après|dopo|depois|después)\b(?: de)? (?:how|wie ?viel|combien|quant|cuánt)"
)
# `Ist 4 die Hypotenuse, so`; `腰为3时,`
_INVERTED = re.compile(r"\W*(\w+)\s[^,]{1,60},\s*(?:so|dann)\s")
_CONDITION_UNSPACED = re.compile(r"[^,，、:：]{1,40}?(时|時|的话|場合|とき|면)(?:は|には)?[,，、]")


def condition_of(lead: str) -> str:
    """The word that makes a sentence a condition, in lower case: `if` for `If x is even, the answer is`; else empty."""
    lead = lead.lower()
    first = WORDS.search(FORMULA.sub(" ", lead))
    if first is not None and (first[0] in SUPPOSES or first[0] in _WHEN):
        return first[0]
    if (unspaced := _CONDITION_UNSPACED.match(lead) or re.match(r"\W*(如果|若|当|假如|もし)", lead)) is not None:
        return unspaced[1]
    inverted = _INVERTED.match(lead)
    return "" if inverted is None else inverted[1]


def supposes_else(before: str, behind: str) -> str:
    """The word of a second condition behind an answer under a first one: `if` in `If …, 8. If …, one less`.

    Empty if there is none.
    """
    rest = SENTENCE_END.split(behind.replace(";", ". ").replace("；", "。"))[1:3]
    if not any(map(str.strip, rest)) or not (condition := condition_of(lead_of(before))):
        return ""
    other = next((one for one in rest if condition_of(one) == condition), "")
    return condition if other and DENIES.isdisjoint(WORDS.findall(other.lower())) else ""


def lead_of(before: str) -> str:
    """The sentence that leads to an answer, or the heading above it, in lower case.

    Empty if a sentence has just ended.
    """
    text = before[-WINDOW:].rstrip(_OPENERS)
    line = text[text.rfind("\n") + 1 :]
    is_whole = line.isascii() and "." not in line and "?" not in line and "!" not in line
    ends = [] if is_whole else [end.end() for end in SENTENCE_END.finditer(line)]
    if not ends and len(line) == len(text) and len(before) > WINDOW:
        # the window begins within a word
        return text.partition(" ")[2].lower()
    # a full stop inside a formula ends that, too
    return line[ends[-1] if ends else 0 :].removeprefix("$").lower()


def _above(before: str) -> str:
    """The finished sentence right before an answer, in lower case: `that is wrong.`"""
    text = before[-WINDOW:].rstrip(" $*_`>#({[\\\n")
    begun = [end.end() for end in SENTENCE_END.finditer(text[:-1])]
    return text[begun[-1] if begun else 0 :].lower()


def operated(lead: str, asked: Asked) -> str:
    """The words right before an answer that calculate with it or bound it: `half` in `it is half of 6`; else empty.

    A bound, such as `at least`, does not count if it is the question's.
    """
    if (found := _OPERATES_NEXT.search(lead, max(len(lead) - LAST_WORDS, 0))) is None:
        soon = OPERATES_SOON.finditer(lead, max(map(lead.rfind, "0123456789")) + 1)
        found = next((one for one in soon if _LATER_CLAUSE.search(lead, one.end()) is None), None)
    if found is None or _LATER_CLAUSE.search(lead, found.end()) is not None:
        return ""
    stands_next = _STANDS_NEXT.fullmatch(lead, found.end()) is not None and not _BOUNDS.search(found[0])
    return found[0].strip() if stands_next or found[0].strip() not in asked.text else ""


def _is_confirmed(lead: str) -> bool:
    """Whether the words before an answer deny a different one, and so confirm it: `it is not 18 but`."""
    excepts = EXCEPTING.search(lead.strip(" $x=")) is not None and NO_OTHER.search(lead) is not None
    return excepts or _CONTRASTS.search(lead) is not None


def _clause(lead: str) -> str:
    """The clause of an answer in the sentence that leads to it: ` the answer is` in `since she has 12, the answer is`.

    It begins behind the last comma, or at the writer's last `so`. If only a verb is left, the clause before it belongs
    to it. A punctuation mark right before the answer does not end the clause.
    """
    plain = FORMULA.sub(lambda math: "0" * len(math[0]), lead).rstrip(" $*\\:：,，")
    cuts = [0, *(cut.end() for cut in _CLAUSE_END.finditer(plain))]
    at = cuts[-1]
    if len(cuts) > 1 and (not _words(lead[at:]) or lead[at:].strip(" $*\\") in _BARE_VERBS):
        # `since 13 is no factor, $m+n=`: the reason denies nothing of the formula that gets a value
        stated = _STATES_NEXT.match(lead, at)
        at = at if stated is not None and _is_reason(lead[cuts[-2] : at], stated["what"].strip()) else cuts[-2]
    begun = [cut.end() for cut in _CUT.finditer(plain, at)]
    return lead[begun[-1] if begun else at :]


_STATES_NEXT = re.compile(r"\s*(?:\$|\\\()(?=[^$]*[a-z])(?P<what>[^$=]+)(?:=[^$=]+)*=\s*\Z")


def _is_reason(clause: str, what: str) -> bool:
    """Whether a clause is a reason about another number or formula than `what`, and not about the answer.

    Such as `since 13 is no factor,` before `$m+n=`.
    """
    words = _words(clause)
    is_begun = words[:1] == ["as"] or not REASONS.isdisjoint(words[:1])
    of_else = re.search(r"[$\d]", clause) is not None and f"${what}$" not in clause
    return is_begun and of_else and not any(map(SOUGHT.search, words))


def _words(said: str) -> list[str]:
    """The words of a text without its formulas; what follows an unclosed `$` is left out."""
    said = FORMULA.sub(" ", said)
    opened = _OPENED.search(said)
    return WORDS.findall(said if opened is None else said[: opened.start()])


def _is_passive(words: Sequence[str]) -> bool:
    """Whether a clause with its value is `se recogen` or `si vendono`: a reflexive pronoun with its verb."""
    verb = words[1] if 1 < len(words) <= _MOST_PASSIVE and words[0] in SUPPOSES_FIRST else ""
    return len(verb) >= _SHORTEST_VERB and verb not in VERBS


_MOST_PASSIVE, _SHORTEST_VERB = 3, 4


def _turn(words: Sequence[str], asked: Asked, is_value: bool) -> str:
    """The word of the clause before an answer that denies, supposes or doubts it: `not`, `perhaps`; else empty."""
    for at, word in enumerate(words):
        if asked.means_else(word):
            continue
        if word in SUPPOSES and (at == 0 or word not in SUPPOSES_FIRST) and not _is_passive(words[at:]):
            return word
        sets = word in _LETS and words[at - 1 : at + 1] != ["ou", "seja"]
        if sets and words[at + 1 : at + 2] not in (["us"], ["me"]) and len(words) - at <= _MOST_LET:
            return word
        if denies(word) and not (word == "nu" and at + 1 == len(words)):
            # `the students not in the band`: about the question's words
            if asked.has(word) and at + 1 < len(words) and asked.says(words[at + 1]):
                continue
            if not _denies_before_verb(words[at + 1 :]) and (word not in _EXCEPTS or at + 1 == len(words)):
                return word
        elif is_value and not asked.has(word) and _turns(word):
            return word
    if is_value and words and IS_UNSPACED.search(words[-1]) is not None:
        scale = _SCALES_UNSPACED.search("".join(words))
        if (scale is not None and scale[0] not in asked.text) or _UNSURE_UNSPACED.search(words[-1]) is not None:
            return words[-1]
    return ""


def _said_of_sought(clause: str, words: Sequence[str], asked: Asked) -> str:
    """The verb that does not equate a quantity with the value behind it: `exceeds` in `the sum exceeds`; else empty."""
    said = clause.rstrip(" $*_`({[\\:：\n")
    if not words or not said.endswith(words[-1]) or IS_UNSPACED.search(said) or IS_HANGUL.search(said):
        return ""
    end = len(words)
    while end > 1 and words[end - 1] in _LEADS_BACK:
        end -= 1
    word = words[end - 1]
    if not any(one in _QUANTITIES or (len(one) > _SHORT and SOUGHT.search(one)) for one in words[: end - 1]):
        return ""
    is_known = word in JOINS or word in VERBS or word in _QUANTITIES or word in OPENS or word in SO
    if (
        is_known
        or SOUGHT.search(word)
        or word.endswith(("ly", "ing"))
        or (asked.text and (asked.says(word) or asked.counts(word)))
    ):
        return ""
    # the noun of a phrase: `a probability of`, `by the zero product property`
    is_noun = (end < len(words) and words[end - 2] in _ARTICLES) or _BY_MEANS_OF.search(said) is not None
    return "" if is_noun else word


_BY_MEANS_OF = re.compile(
    r"\b(?:by|from|using|via|with|through|par|por|per|mit|durch|nach|по|из) "
    r"(?:(?:the|der|dem|den|die|la|le|el|il|lo) )?"
    r"(?:(?!(?:the|an?|is|are|das|der|die|la|le|el|il|whose|which)\b)[^\s,]+ ?){1,5}\Z"
)


def _turns(word: str) -> bool:
    """Whether a word calls an answer wrong or doubts it: `wrong`. In text without spaces, whether a part of it does."""
    if IS_UNSPACED.search(word) is not None:
        return _TURNS_UNSPACED.search(word) is not None
    return CALLS_WRONG.search(word) is not None or DOUBTS.search(word) is not None


def _denies_before_verb(behind: Sequence[str]) -> bool:
    """Whether a denial is about words before the clause's verb: `not` in `the students not in the band are`.

    Args:
        behind: the words behind the denial.
    """
    verb = next((at for at, word in enumerate(behind) if word in VERBS), 0)
    return verb > 1 and not any(map(SOUGHT.search, behind[:verb]))


def shifts(clause: str) -> str:
    """The word right before a value that bounds or changes it: `about` in `the sum is about`; else empty."""
    words = FORMULA.sub(" 0 ", clause).strip(" $*\\:：,，`_({[").split()
    while len(words) > 1 and words[-1] in HANGS:
        words.pop()
        if words[-1] in _RISES:
            return ""
    if words[-1:] == ["up"] and not _RISES.isdisjoint(words[-2:-1]):
        return ""
    return words[-1] if words and words[-1] in SHIFTS else ""
