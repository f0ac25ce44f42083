r"""Reads the words around an answer: the sentence that it stands in must be understood.

Before an answer, its clause says what the answer is: `so the area of the square is`. Words between a subject and its
verb may be any, as they name what the question asks for. But none may operate on the answer, deny or suppose it, or
change it, and a word that nobody knows may not stand right before the answer, nor describe `answer` itself. What stands
before the clause is a step or a reason, where a mark or a word such as `so` parts them.

Behind an answer its sentence may name what is counted, and go on with a reason or a place. No later sentence may take
the answer back.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

from agentscope_tuner.verify.number_words import number_in_words


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


# --- the one table: words that change no answer, language by language

# Words for what a question asks for, and what is said of it
_ANSWERS = _set(
    """answer answers final result value values number numbers total sum solution solutions correct right required
    desired needed actual corrected unique only just exactly exact altogether overall remaining left different distinct
    possible minimum maximum option choice letter over form conclusion score analysis best guess certain problem
    question step part method even odd product produkt produit producto produto prodotto произведение сума antwort
    ergebnis endergebnis wert lösung summe anzahl gesamt insgesamt richtig korrekt exakt genau endgültige gesuchte
    réponse résultat valeur somme nombre bonne correcte finale exactement respuesta resultado valor suma correcta
    exactamente resposta soma número exatamente risposta risultato valore somma totale tutto numero corretta
    esattamente ответ итоговый количество результат значение сумма число верный правильный ровно окончательный всего
    итого cevap cevabı cevaptır sonuç sonucu toplam toplamı değeri doğru đáp án số kết quả giá trị tổng cộng jawaban
    jawabannya hasilnya nilai odpowiedź wynik wartość antwoord uitkomst totaal svaret svar summan värdet الجواب الإجابة
    النتيجة قيمة الصحيح soluzione soluzioni solución soluciones solução soluções lösungen решение решения корень корни
    nghiệm çözümü oplossing lösning rozwiązanie penyelesaian única único unica unico einzige einziger единственный
    единственное duy nhất النهائية النهائي उत्तर मान सही अंतिम कुल 정답은 답은 정답 답 총 값은 최종 odpověď výsledek
    hodnota počet відповідь значення кількість απάντηση σύνολο پاسخ جواب răspunsul valoarea válasz összege értéke
    vastaus arvo summa отговорът broj odgovor vrijednost התשובה הוא উত্তর jibu sagot"""
)
# Articles, pronouns, auxiliaries, adverbs of order; the verbs by which a result is got
_JOINING = _set(
    """the a an this that these those it its he him his she her they them their we us our you your i my me there here
    who whom whose what all both any each every no-one everyone more times is are was were be been being am do does
    did have has had having can could will would should must may shall let let's lets now still also finally indeed
    already again ones other others okay ok das der die den dem des ein eine eines einen im zu ist sind war es wir
    man nun la le les l un une au du en ce cette est sont vaut il elle y nous on obtient obtenons trouve égal égale à
    el los las es son se hay tiene tenemos obtiene obtenemos igual al o os as um uma é são há tem temos ao na no lo
    gli una è sono si ha abbiamo otteniamo uguale vale и на у в е есть это равен равна равно равны составляет имеет
    получаем получим таким образом olur olarak bulunur eder göre buna bu là bằng có tất cả cuối cùng adalah yaitu
    dengan demikian jest to wynosi równa się is er zijn bedraagt gelijk aan het är blir lika med det هو هي يساوي
    تساوي فإن है हैं होगा होगी होता होते आता 이다 입니다 이에요 된다 모두 결국 je jsou činí má máme rovná є дорівнює
    маємо η είναι το ο οι τα ισούται برابر با است este sunt az on ovat je lig היא הוא হলো ni ang ay"""
)
# Verbs by which a result is got, and what goes with them
_GETS = _set(
    """get gets got give gives gave given yield yields obtain obtains obtained find finds found make makes made take
    takes took need needs come comes came become becomes equal equals know see conclude means leaving leaves follows
    end ends up out arrive arrives corresponds matches agrees brings shown based above back donne gibt erhalten
    erhält lautet beträgt ergibt gleich liegt liegen beläuft benötigt braucht brauchen faut nécessaires necesitan
    necesita necesarios necesarias necessários necessárias servono occorrono нужно понадобится потребуется требуется
    potrzeba nodig gerekir cần 필요한"""
)
# The verbs by which a step gets its result: what stands before them is a step
_RESULTS = _set(
    """get gives give obtain yields yield find have arrive ottiene otteniamo obtiene obtenemos obtemos obtém obtient
    obtenons trouve trouvons erhalten erhält ergibt bekommen получаем получим находим bulunur buluruz ederiz được
    otrzymujemy mamy krijgen får diperoleh"""
)
# Words that say that an answer follows
SO = _set(
    """so therefore thus hence consequently whence daher damit somit also folglich donc ainsi d'où finalement luego
    entonces por tanto así assim portanto logo quindi dunque perciò следовательно следователно поэтому значит итак
    sonuçta nedenle vậy do đó kết luận jadi maka pertanto dolayısıyla böylece consiguiente modo segue conséquent ne stąd
    hieruit zatem więc ostatecznie dus daarom derfor alltså därför إذن لذلك अतः इसलिए 따라서 그러므로 즉 тому
    отже tedy proto
    takže άρα επομένως بنابراین پس prin urmare deci tehát így siis joten altså dakle stoga לכן সুতরাং kwa hiyo
    samakatuwid"""
)
# Words that begin a part of a sentence which says why, where or when
OPENS = _set(
    """because since as which where so when if thus therefore hence and giving making after before by with in on at
    for from of to or per ie eg using due given while during among between within across throughout until who whose
    into than including over oder weil da denn wobei und für von mit bei nach durch ou car puisque donc où pour comme
    dont de et par avec après porque pues ya donde para con y o perché poiché dove pois com onde per e так где для по
    после çünkü için vì nên để karena untuk bo gdyż want omdat namely nämlich savoir saber incluindo como wie как
    qui che 分别是 分别为 即"""
)
REASONS = _set(
    """como puesto because due since weil da denn car puisque porque pues perché poiché pois потому çünkü vì karena
    bo gdyż omdat"""
)
# How a step begins: what it works with need not be understood
_STEPS = _set("by from via after with since because through durch nach mit en por con par avec après com per по po")
SUPPOSES = _set(
    """if whether suppose supposing assume assuming unless pretend imagine otherwise though although wenn ob
    angenommen si suponiendo supposons se sia supondo если ли eğer nếu giả jika kalau jeśli als indien om ifall إذا
    لو अगर यदि क्या 만약 만일 acaba liệu هل"""
)
_WHEN = _set("when quand lorsque cuando quando когда falls gdy khi wanneer")
DENIES = _set(
    """není nejsou nije δεν ei pole nu not no never non none nor neither cannot nothing nobody without nicht nein kein
    keine keinen nie niemals pas point jamais ne ningún ninguno nunca jamás não nem mai нет не ни никогда değil asla
    không chưa chẳng bukan tidak nie niet geen inte aldrig ikke לא ليس لا नहीं 아니라 아니 아닌 ไม่ except but
    besides"""
)


def denies(word: str) -> bool:
    """Whether a word denies what follows it."""
    return word in DENIES or word.endswith(("n't", "n’t"))


# Words that turn against what was said before
_ADVERSE = _set(
    """however but yet though unfortunately allerdings jedoch aber leider cependant toutefois mais embargo pero porém
    mas contudo però tuttavia ma однако но увы jednak ale niestety maar echter ancak fakat 그러나 하지만"""
)
NUMBERS = _set("one two three four five six seven eight nine ten eleven twelve both")
_NUMBER_WORDS = {
    word: at
    for at, word in enumerate(["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"])
}
# Determiners before a number word: `the two points`, not `two more than`
_DETERMINERS = _set(
    """the these those all both his her its our their my your of in for with among from at on between first last next
    other only any each every and who which than"""
)
# Words that may not stand right before a value, wherever they are from: they bound it or shift it
SHIFTS = _set(
    """over from than before after between among within until without during across throughout while if when though
    up less more under above below beyond past or given assuming oder ou или plus più más mehr menos moins weniger
    больше меньше fewer minus near about"""
)
# Prepositions right before a value that say nothing: the word before them must be understood
_HANGS = _set("of to by at de von di del da do van i từ in on for as per a")
VERBS = _set(
    """is are was were equals equal costs cost является gives gets makes became becomes comes reads ist sind war waren
    hat haben beträgt ergibt kostet est sont était a ont vaut possède coûte es son era tiene tienen hay cuesta vale é
    são tem há custa è ha hanno costa misura mesure mide mede misst staan zijn có стоит стоят стоил стоила равен
    равна равно равны составляет имеет bằng là adalah jest ma wynosi är har heeft है हैं olur has have had"""
)

# --- signs and sentences

WORDS = re.compile(r"(?![-'])[^\s\d!-&(-,./:-@\[-`{-~。，、！？（）；：।؟–—…“”✓✔✅☑\ufe0f]+")
FORMULA = re.compile(r"\$\$[^$]+\$\$|\$[^$]+\$|\\\(.*?\\\)|\\[a-zA-Z]+\*?(?:\{[^{}]*\})?|[`<][^<>`]*[`>]")
# A full stop behind a digit ends a sentence, too, but not the number of an item
SENTENCE_END = re.compile(r"[.!?؟।۔](?=[\s*_)\]\"'”’}$]|$)|[。！？]|\n")
_CLAUSE_END = re.compile(r"[,;，；、،—–](?=\D|$)|[:：](?=\s|$)|므로(?=\s)")
_STRONG = re.compile(r"[;；—–]|[:：](?=\s|$)|(?<=\s)-(?=\s)")
_OPENERS = re.compile(r"[\s$*_`>#({\[\\|-]*$")
_OPENED = re.compile(r"(?<!\\)\$|\\[(\[]|<")
IS_UNSPACED = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff]")
IS_HANGUL = re.compile(r"[\uac00-\ud7a3]")
# Where words are written without spaces: what denies, doubts or changes a value in a run of signs
_TURNS_UNSPACED = re.compile(
    "不(?!等式|[变同妨难断])|未(?!知)|无(?![理穷限])|误(?!差)|[没非若假错疑舍]|ต่าง|如果|是否|难道|誤|もし|ない|만약|아니|않"
)
# Another time, and a scale of the number
_ELSEWHERE_UNSPACED = re.compile(
    "[之以]前|昨|曾经?|原[来本先]|起初|最初|不久|即将|将来|明[天年]|去年|上次|[万亿億](?![一能])|[千百](?![克米瓦分])|以上|以下|以内"
)
# How an adverb ends that stands before a value or its verb, and makes the value uncertain
_UNSURE_UNSPACED = re.compile(
    "(?:[约約能乎许概似估近]|そらく|およそ|たぶん|多分|ほぼ|약|거의|대략|아마)(?:[有是为]|等于)?\\Z"
)
_CHANGES_UNSPACED = re.compile(f"{_TURNS_UNSPACED.pattern}|[倍半多万亿千百弃]")
# What such a run is made of beside the question's signs, and how one ends, or a Korean word
_UNSPACED = re.compile(
    r"因此|所以|从而|于是|那么|最终|最后|正确|答案|结果|应该|应当|得到|可得|可知|解得|我们|一共|总共|共有|现在|需要|等于|就是|也就是|此时|经?检验|符合题意|成立|满足|希望|帮助|对[你您]"
    r"|したがって|よって|ゆえに|求める|正しい|答え|正解|合計|全部で|結果|である|です|なります|なる"
    r"|ดังนั้น|คำตอบ|เท่ากับ|คือ|จึง|ได้|มี|ทั้งหมด|ผลลัพธ์|รวม|เป็น|[应即故则得解共有是为的值了个数和差积商还就答はがのをにでと個]"
)
_ENDS_UNSPACED = re.compile(
    r"(?:[是为有得即于共值答到出解はがでと]|需要|答案|结果|答え|คือ|เท่ากับ|เป็น|ได้|มี|[은는이가답값총즉]|모두|따라서)\Z"
)
CALLS_WRONG = re.compile(
    r"\b(?:wrong|incorrect|mistakes?|mistaken|false|lie|falsch|faux|erreur|erro|incorrecto|equivocado|erróneo|errado|incorreto|sbagliato|errato"
    r"|(?:\w+n['’]t|not|cannot)\s(?:be\s)?(?:right|correct)|made an? (?:\w+ )?error"
    r"|неверн\w+|неправильн\w+|ошибка|błędne|yanlış\w*|hatalı|salah|keliru|fout|onjuist)\b|\bsai\b|不正确|错|误|不对|間違|誤|오답|틀렸"
    r"|틀린|잘못|خطأ|خاطئ|गलत|ผิด|λάθος",
    re.IGNORECASE,
)
# A word for what is sought, in any language: an unknown word beside it may deny it
_OF_ANSWER = re.compile(
    r"^(?:it|this|that|these|those|mine|my|i|above|case|number|n[uú]m[eé]ro|zahl|число|sum|summe|suma|soma|somm[ae]|сумма)$|answer|resul|résult|risult|ergebnis|value|solution|guess|respuesta|réponse|antwort|ответ|cevap|答"
)
# A step that is none, and doubts
_FLAWED = re.compile(
    r"^(?:format|templat|placehold|wrong|incorrect|mistake|error|false|faulty|flawed|naive|careless|accident|habit|guess|pretend|imagin|suppos|ignor|forget|mis|oversight|deny|denie|impossib|oppos|scratch|disregard|strike|discard|falsch"
    r"|fehler|faux|erreur|error|fals|errad|errone|sbagliat|неверн|ошиб)"
)
_DOUBTS = re.compile(
    r"^(?:doubl(?!e-)|tripl|halv|quadrupl|add|subtract|miss|exclud|ignor|omit|multipl|divid|squar|unlikel|doubt|improbab|perhaps|maybe"
    r"|possibl|probabl|guess|suppos)"
)
# Marks of a value. Text may rightly call a letter, a yes or a name wrong, as in `the wrong step is \boxed{B}`, so only
# values are checked for such text
IS_VALUE = re.compile(r"\d|\\(?:pi|infty|frac|sqrt)")
_FORMS = re.compile(r"[^\W_]+")
_CAPITAL = re.compile(r"(?<![.?!:]\s)(?<=\s)[A-Z][a-z]+")
_SHORT, _LONG, _STORY = 4, 5, 60


_ELIDED = re.compile(r"^(?:[ldscjnm]|qu|un|(?:d|n|s|qu)ell|all|dall|sull)['’](?=\w)")


class Asked(NamedTuple):
    """What a question lets stand beside its answer.

    Attributes:
        text: the question, in lower case; empty where there is none.
        names: the names in it, in lower case.
        allows: whether a word is the question's.
        counts: whether a word is a unit, or a noun that is counted.
        changes: whether a word is a number or changes one: `ten`, `doubled`.
    """

    text: str
    names: frozenset[str]
    allows: Callable[[str], bool]
    counts: Callable[[str], bool]
    changes: Callable[[str], bool]

    @classmethod
    def of(
        cls,
        question: str,
        allows: Callable[[str], bool],
        counts: Callable[[str], bool],
        changes: Callable[[str], bool],
    ) -> Asked:
        """The words of a question, as it was asked."""
        return cls(question.lower(), _names(question), allows, counts, changes)

    @property
    def tells(self) -> bool:
        """Whether the question tells of things, of which an answer may speak in words of its own."""
        return len(self.text) >= (_STORY if IS_UNSPACED.search(self.text) is None else _STORY // 3)

    def has(self, word: str) -> bool:
        """Whether the question has this very word."""
        return f" {word} " in _spaced(self.text)

    def says(self, word: str) -> bool:
        """Whether a word is a name of one letter, or a form of one of the question's words."""
        if (len(word) == 1 and word.isascii()) or self.allows(word):
            return True
        if IS_UNSPACED.search(word) is not None:
            return all(sign in self.text for sign in _UNSPACED.sub("", word))
        word = _ELIDED.sub("", word).removesuffix("'s").removesuffix("’s")
        # inflected words share their beginnings; short ones must be there as they stand
        stem = f" {word[: max(len(word) - 3, 4)]}" if len(word) >= _SHORT else f" {word} "
        return stem in _spaced(self.text)

    def understands(self, word: str) -> bool:
        """Whether a word is understood before an answer: it is listed, or said by the question."""
        return word in UNDERSTOOD or self.says(word) or _is_form(word) or _ELIDED.sub("", word) in UNDERSTOOD


@lru_cache(maxsize=256)
def _spaced(text: str) -> str:
    return f" {' '.join(_FORMS.findall(text))} "


@lru_cache(maxsize=256)
def _names(question: str) -> frozenset[str]:
    return frozenset(name.lower() for name in _CAPITAL.findall(question))


@lru_cache(maxsize=1024)
def _is_form(word: str) -> bool:
    """Whether a word is another form of one for an answer: `решением`."""
    if len(word) <= _LONG:
        return False
    return any(
        len(one) > _LONG and abs(len(one) - len(word)) < _SHORT and one[:-2] == word[: len(one) - 2] for one in _ANSWERS
    )


# What may come to a sum
_RISES = _set("add adds sum sums come comes out end ends make makes work works turns found round rounds")
UNDERSTOOD = _RESULTS | _ANSWERS | _JOINING | _GETS | _RISES | SO | OPENS


def is_neutral(word: str) -> bool:
    """Whether a word is no answer by itself, as in `see above`."""
    return word in UNDERSTOOD and word not in _ANSWERS and not denies(word)


# --- before an answer

# `no number except \boxed{7}` and `没有别的，除了` confirm the box, because they exclude all other values
_EXCEPTING = re.compile(r"(?:except|other\s+than|anything\s+but|rather\s+than|different\s+from|除了)\Z", re.IGNORECASE)
_NO_OTHER = re.compile(r"\b(?:no|none|nothing|nobody|cannot|not|never)\b|n['’]t\b|没有|无|不", re.IGNORECASE)
# An operation on the answer, in lower case: with no digit between it and the answer, and as the last words before it
_OPERATES_SOON = re.compile(
    r"(?:\b(?:(?:a|one|two) (?:third|quarter|fifth|tenth)s? of|half(?!-)|twice|double|triple|thrice|tenfold|le tiers"
    r"|le quart|drittel|viertel|hälfte|doppelte?|dreifache|(?:tercera|cuarta) parte|moitié|doble|mitad|un terzo"
    r"|un quarto|metà|doppio|terça parte|triplo|metade|dobro|треть|четверть|половин\w*|удвоенн\w*|вдвое"
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
_CUT = re.compile(
    r"\b(?:(?:so|hence|thus|then|and) (?:we|i)|we|therefore|thus|hence|then|so|and"
    r"|(?:see|follows|conclude|deduce|find|know|means|implies|shows?) that)\b",
    re.IGNORECASE,
)
# What begins a clause that follows from what stands before it
_FOLLOWS = re.compile(rf"\W*(?:{'|'.join(SO)}|which|leaving|giving|making|and so|that is)(?!\w)")
# The words of a label: `Bonus:`
_LABELLED = re.compile(r"^[^.!?,;\n\d]{1,40}[:：]\W*$")
# Set phrases that only say that the answer follows
_SAID_OF_ALL = re.compile(
    r"\b(?:(?:it is|it's) (?:easy|clear|obvious|well known)|(?:it is not|it isn't|not) (?:hard|difficult))"
    r"(?: to (?:see|check|show|verify))?(?: that)?\b|\bnothing (?:other than|but)\b"
    r"|^\W*(?:so )?(?:i|we) (?:think|believe|guess)\b(?: that)?|\bno,? wait\b|\bat last\b|\bread off\b"
    r"|\b(?:this|which|the) one\b"
    r"|\bno (?:doubt|wonder)\b|\bwithout (?:any )?(?:a )?doubt\b|不难看出"
)
# How a participle ends, which stands behind an auxiliary verb: `has spent`, `a dépensé`
_PARTICIPLE = re.compile(r"(?:[aiu][dt][oaei]|é(?:e?s?)|ed|en|nt|ado|л[аои]?)$|^(?:\w{0,4}ge)\w+t$")
_BARE_VERBS = frozenset({"is", "are", "equals", "was", "="})
_NEGATED = re.compile(
    r"(?:\\(?:neq?|lnot|neg|not\s*=)(?![a-zA-Z])|[≠¬]|(?<![\w)}])!=|不是|不为|不等于|并非|绝非)[\s$\\,;!({]*\Z"
)
# Words that join a clause to what stands before it
_JOINS = _set("and but yet mais aber pero ma mas но а y et und e и")
_MOST_WORDS, _WINDOW, _LAST_WORDS, _A_NOUN, _FEW = 5, 200, 60, 3, 3


def strange_before(text: str, before: str, asked: Asked, is_value: bool) -> str:
    """What is said before an answer other than that it is the answer; empty where all is understood.

    Args:
        text: the answer.
        is_value: whether it has a value; what is wrong may be a letter, as the answer to a question.
    """
    if (denied := _NEGATED.search(before)) is not None:
        return denied[0]
    if "\\text" in before:
        before = _SET.sub(lambda said: " ".join(["", *_INSIDE.findall(said[0])]), before)
    lead = _lead(before)
    if found := operated(lead, asked):
        return found
    if (part := _OF_THE_ANSWER.search(lead)) is not None and not asked.has("answer"):
        return part[0]
    if not _words(lead):
        above = _above(before)
        if is_value and not any(map(str.isdigit, above)) and CALLS_WRONG.search(above) is not None:
            return above.strip()
        lead = above if asked.text and above[-1:] in "?？؟" else lead
    strange = _strange_lead(lead, asked, is_value)
    said_again = lead.rstrip(" $*\\,(").removesuffix(" or").rstrip(" $*\\").endswith(text)
    if not strange or said_again or _is_confirmed(lead):
        return ""
    # set phrases are looked for only where a word is not understood
    return _strange_lead(_SAID_OF_ALL.sub(" ", lead), asked, is_value)


def _strange_lead(lead: str, asked: Asked, is_value: bool) -> str:
    front, clause = _clauses(lead)
    return _strange_clause(clause, asked, is_value) or _strange_front(front, clause, asked)


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


def _clauses(lead: str) -> tuple[str, str]:
    """What a sentence says before the clause of its answer, and that clause.

    The clause begins behind the last comma, or at the writer's last `we` or `so`; a bare verb has its subject before
    it, and a mark right before the answer belongs to the words before it.
    """
    plain = FORMULA.sub(lambda math: "0" * len(math[0]), lead).rstrip(" $*\\:：,，")
    cuts = [0, *(cut.end() for cut in _CLAUSE_END.finditer(plain))]
    at = cuts[-1]
    said = _words(lead[at:])
    if len(cuts) > 1 and (
        # a label before a formula
        (not said and len(_words(lead[cuts[-2] : at])) < _MOST_WORDS) or lead[at:].strip(" $*\\") in _BARE_VERBS
    ):
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
    is_label = (
        clause.rstrip(" $*\\\n")[-1:] in ":："
        and IS_UNSPACED.search(words[-1]) is None
        and not _is_step(words[0])
        and not any(map(_is_verb, words))
    )
    if is_value and is_label and asked.text:
        return words[strange[0]]
    return "" if _is_subject(words, strange, asked, is_value, clause.rstrip()[-1:] == "=") else words[strange[0]]


def _fits(words: list[str], at: int, asked: Asked) -> bool:
    """Whether a word is understood where it stands."""
    word = words[at]
    if word in SUPPOSES:
        # `se` supposes in Portuguese and Italian, `als` in Dutch
        is_pronoun = word == "se" and ("¿" in asked.text or words[at + 1 : at + 2] == ["obtiene"])
        return is_pronoun or (word == "als" and words[at + 1 : at + 2] in (["lösung"], ["ergebnis"], ["antwort"]))
    if word in DENIES and (at or word not in _JOINS):
        # `the students not in the band`: of what the question speaks of, and before the verb
        return asked.has(word) and at > 0 and at + 2 < len(words) and asked.says(words[at + 1])
    if _counts_others(words, at, asked):
        return False
    if word in NUMBERS:
        behind = words[at + 1 : at + 3]
        counts = at == 0 and any(map(_is_plural, behind)) and not any(map(asked.changes, behind))
        led = at > 0 and words[at - 1] in _DETERMINERS
        return (
            asked.has(word)
            or (bool(behind) and (word == "both" or counts or led))
            or (word == "one" and at > 1 and words[at - 2] in ("a", "the"))
        )
    return asked.understands(word) or word in VERBS or (at == 0 and (word in _JOINS or _is_step(word)))


def _counts_others(words: Sequence[str], at: int, asked: Asked) -> bool:
    """Whether a clause begins with another number of the question's things than the question has: two pencils."""
    if at or not asked.text or len(words) < 2 or not asked.says(words[1]):
        return False
    found = number_in_words([words[0]])
    value = _NUMBER_WORDS.get(words[0]) if found is None else found[0]
    return value is not None and value > 1 and not asked.has(words[0]) and not asked.has(str(value))


def _is_plural(word: str) -> bool:
    return len(word) >= _A_NOUN and word.endswith("s")


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


def _is_told(words: list[str], strange: list[int], asked: Asked) -> bool:
    """Whether the only unknown word is what a person or a thing of the question does: `Mike collects`."""
    at, verb = strange[0], words[strange[0]]
    named = any(word.removesuffix("'s") in asked.names or word in ("he", "she", "they", "it") for word in words[:at])
    of_it = any(len(word) >= _A_NOUN and asked.has(word) for word in words[:at]) and not any(
        map(_OF_ANSWER.search, words)
    )
    told = verb.endswith(("s", "ed")) or (asked.tells and not verb.endswith("ly"))
    return len(strange) == 1 and (named or of_it) and told and not asked.changes(verb)


def _is_subject(words: list[str], strange: list[int], asked: Asked, is_value: bool, chained: bool) -> bool:
    """Whether the unknown words may be the subject of a known verb, and say nothing of the answer by its name.

    Args:
        chained: whether a formula goes on into the answer, so that the words name what it begins with.
    """
    unknown = [words[at] for at in strange]
    if _counts_others(words, 0, asked) or any(
        word in SUPPOSES or denies(word) or word.startswith("fail") or asked.changes(word) for word in unknown
    ):
        return False
    if IS_UNSPACED.search(words[-1]) is not None or IS_HANGUL.search(words[-1]) is not None:
        turns = (is_value and _turns_unspaced(words, asked)) or any("答" in word for word in unknown)
        named = _ENDS_UNSPACED.search(words[-1]) is not None or len(words[-1]) > _MOST_WORDS or chained
        return (named or asked.tells) and not turns
    if is_value and asked.text and any(_follows_verb(words, at) for at in strange):
        return False
    if is_value and any(words[at].endswith("ly") and any(map(_is_verb, words[at + 1 : at + 2])) for at in strange):
        return False
    if asked.text and _is_told(words, strange, asked):
        return True
    if any(CALLS_WRONG.search(word) or _FLAWED.search(word) or _DOUBTS.search(word) for word in unknown):
        return False
    verbs = [at for at, word in enumerate(words) if word in VERBS or word in _RESULTS - _GETS]
    before_verb = bool(verbs) and (strange[-1] < verbs[-1] or words[0] in _STEPS or (verbs[0] == 1 and words[0] in SO))
    if not is_value or chained or _is_step(words[0]):
        return True
    sought = [at for at, word in enumerate(words) if _OF_ANSWER.search(word) and word not in ("that", "these", "those")]
    if sought:
        # `the value of the expression is`: of what it is the value
        return before_verb and sought[0] < strange[0]
    led = before_verb or strange[-1] < len(words) - 1 or not _DETERMINERS.isdisjoint(words[-2:-1])
    return led and (asked.tells or not asked.text or len(words) > _FEW)


def _turns_unspaced(words: Sequence[str], asked: Asked) -> bool:
    """Whether words without spaces deny a value, scale it, doubt it or speak of another time than the question does."""
    elsewhere = [found[0] for word in words for found in _ELSEWHERE_UNSPACED.finditer(word)]
    return (
        any(map(_TURNS_UNSPACED.search, words))
        or any(one not in asked.text for one in elsewhere)
        or _UNSURE_UNSPACED.search(words[-1]) is not None
    )


def _follows_verb(words: Sequence[str], at: int) -> bool:
    """Whether an unknown word stands between the verb of a clause and its value: `costs nearly`, `is upwards of`."""
    behind = words[at + 1 :]
    hangs = bool(behind) and all(word in _HANGS for word in behind) and words[at - 1] not in _JOINING
    is_next = not behind or hangs
    return is_next and _PARTICIPLE.search(words[at]) is None and any(map(_is_verb, words[:at]))


@lru_cache(maxsize=1024)
def _is_verb(word: str) -> bool:
    """Whether a word is a known verb, or a longer form of one."""
    return word in VERBS or (
        len(word) > _SHORT and any(one[:_SHORT] == word[:_SHORT] for one in VERBS if len(one) > _SHORT)
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
    if supposed and not {"were", "had"}.isdisjoint(words):
        return words[0]
    if IS_UNSPACED.search("".join(words)) is not None or (not asked.text and not supposed):
        return ""
    follows = _FOLLOWS.match(clause) is not None or not _JOINS.isdisjoint(_words(clause)[:1])
    gets = not supposed and not _RESULTS.isdisjoint(_words(clause))
    if words[0] in REASONS or words[-1].endswith("므로") or (follows and not supposed):
        return ""
    for at, word in enumerate(words):
        if gets or word in _STEPS or word.endswith("ing"):
            # what a step works with need not be understood
            rest = (word for word in words[at:] if word in SUPPOSES or word in DENIES or _FLAWED.search(word))
            return next(rest, "")
        if not _fits(words, at, asked) and (at or not supposed):
            return word
    return ""


# --- behind an answer

_WORDS_AND_NUMBERS = re.compile(rf"\d[\d.,:]*|{WORDS.pattern}")
_OWN_FORMULA = re.compile(r"(?:[^$\n]|\n(?!\n)){0,120}?(?P<close>\$\$?|\\[)\]])")
# `, not 400`
_DENIES_ANOTHER = re.compile(r"[,，;；(（]\s*(?:and |und |y |et |而)?(?:不是|ではなく|(?P<word>[^\W\d]+))\s*\$?[-−]?\d")
_COMPLEMENTED = frozenset({"than", "not", "st", "nd", "rd", "th", "square", "cubic"})
# A suffix that a number takes: `8'dir`
_SUFFIX = re.compile(r"\A['’]\w{1,5}")
_MOST_REMARKED, _AFTER = 12, 400
_SET_BEHIND = re.compile(r"\s*\\text[a-z]*\s*\{([^{}]*)\}")
CLOSING = re.compile(r"(?:[\s$*_`)\]}”\"]|\\[)\],;:! ])*")
CONFIRMED = re.compile(r"[?？\s$*)]*(?:yes|yep|correct|right|indeed|是的|对|没错|正确)", re.IGNORECASE)
_NOTHING = re.compile(r"\b(?:no|none|nothing|nobody)\b|没有|无", re.IGNORECASE)
_MOST_SENTENCES = 6
# A choice is right because the others are wrong
_REASONED = re.compile(r"\b(?:because|since|as|denn|weil|car|puisque|porque|perché)\b", re.IGNORECASE)
_TURNED = re.compile(r"\b(?:is off|fails|no more|not|scheidet)\b|不适|不適|不对")
# How a Korean sentence ends, written together with what is counted
COPULA = re.compile("(?:입니다|이다|이에요|예요|이|가|임)$")
_COUNTED_UNSPACED = re.compile(r"[个只条本支名人张件辆头台元米次岁棵朵块间位份杯瓶把家][^不没非半倍多万亿千百]{0,4}")


# Signs of the end, and of joy
_ENDS = str.maketrans(dict.fromkeys("∎■□▢◻◼◽◾▪▫⬛⬜▮✅✔☑🎉🎊🎯🏆👍👏🙌😊🙂😀😃😄🚀⭐🌟✨💡💯🥳📌", " "))
_QED = re.compile(
    r"\b(?:q\.?e\.?d\b\.?|quod erat demonstrandum|что и требовалось \w+|c\.?q\.?f\.?d\b\.?|ce qu'il fallait \w+"
    r"|come volevasi dimostrare|(?:lo que|como) (?:se )?(?:quer\w+|quería) \w+)|证毕|得证|証明終",
    re.IGNORECASE,
)


def strange_behind(text: str, behind: str, asked: Asked, is_value: bool, before: str = "") -> str:
    """What is said behind an answer other than that it is the answer; empty where all is understood.

    Args:
        text: the answer.
        before: the text before it.
    """
    if (set_behind := _SET_BEHIND.match(behind)) is not None:
        behind = f" {set_behind[1]} {behind[set_behind.end() :].lstrip(' $')}"
    own = _OWN_FORMULA.match(behind)
    behind = behind[:_AFTER] if own is None else behind[own.start("close") : _AFTER]
    behind = _QED.sub(" ", behind).translate(_ENDS)
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
    if re.search(rf"(?<!\w){re.escape(text)}(?![\w'’])", words) is not None:
        # said again, it is confirmed
        return ""
    later = [one for one in SENTENCE_END.split(rest) if one.strip()][:_MOST_SENTENCES]
    context = f"{asked.text} {before[-_WINDOW:].lower()}"
    said = (first,) if not is_value and _may_be_denied(text, asked) else (first, *later)
    if (denied := next(filter(None, (_denied_whole(one, context) for one in said)), "")) != "":
        return denied
    if not is_value:
        # what is wrong may be the answer
        first = _REASONED.split(first)[0]
        turned_round = CALLS_WRONG.search(first) or _TURNED.search(first)
        return turned_round[0] if turned_round and asked.text and turned_round[0].lower() not in asked.text else ""
    return _strange(first, asked) or _taken_back_later(later, asked)


def _may_be_denied(text: str, asked: Asked) -> bool:
    """Whether an answer is a no to what may be right or wrong: who denies more confirms it."""
    denial = any(map(denies, WORDS.findall(text.lower()))) or CALLS_WRONG.search(text) or _NONE_UNSPACED.search(text)
    return bool(denial) and (not asked.text or _OF_TRUTH.search(asked.text) is not None)


_OF_TRUTH = re.compile(
    r"\b(?:right|correct|true|false|possible|exists?|richtig|falsch|wahr|vrai|faux|possible|correct[ao]|verdader[ao]|falso"
    r"|ver[ao]|верно|правда)\b|对|错|正确|能|正し|맞|옳"
)


def _denied_whole(sentence: str, context: str) -> str:
    """A sentence that says nothing but that the answer is none or wrong: `Actually, no.`, `This is not the answer.`

    Args:
        context: the question and the text before the answer; what is called wrong there may be the answer.
    """
    if any(map(str.isdigit, sentence)) or _NAMES_ITS_OWN.search(sentence) is not None:
        return ""
    words = WORDS.findall(sentence.lower())
    if not 0 < len(words) <= _MOST_REMARKED:
        return ""
    found = CALLS_WRONG.search(sentence) or _WITHDRAWS.search(sentence)
    wrong = found[0].lower() if found is not None else ""
    if found is not None and (wrong in context or _NOTHING.search(sentence, 0, found.start()) is not None):
        return ""
    if IS_UNSPACED.search(sentence) is not None or IS_HANGUL.search(sentence) is not None:
        # what is said of the answer is short where words are not parted
        denied = "" if _NONE_UNSPACED.search(sentence) else wrong or next(iter(_DENIES_UNSPACED.findall(sentence)), "")
        return denied if denied and len("".join(words)) <= _LONGEST_DENIAL else ""
    wrong = wrong or next(filter(denies, words), "")
    ours = all(one in _OF_DENIALS or denies(one) or CALLS_WRONG.search(one) or _WITHDRAWS.search(one) for one in words)
    return wrong if wrong and ours and _MORE.isdisjoint(words) else ""


# A sentence about something else than the answer: a formula, an option's letter
_NAMES_ITS_OWN = re.compile(r"[$\\=]|(?<![^\W_])(?!I\b)[A-Z](?![\w'’])|其[他余它]|ほか|[他別][のに]|나머지|다른")
_WITHDRAWS = re.compile(
    r"\b(?:fail(?:s|ed)?|t(?:ake|ook)\b.{1,12}\bback|scratch|withdraw\w*|retract\w*|disregard)\b", re.IGNORECASE
)
_DENIES_UNSPACED = re.compile("ではない|じゃない|ではありません|不是|并非|不对|不成立|아니다|아닙니다")
_NONE_UNSPACED = re.compile("没有|无|없|(?<!では)(?<!じゃ)ない")
_LONGEST_DENIAL = 10
# Who says that there are no others confirms the answer
_MORE = _set("other others else more further better than doubt only less nothing none nobody even odd left")


def _taken_back_later(sentences: Sequence[str], asked: Asked) -> str:
    """What a later sentence says of the answer that is not understood."""
    for sentence in sentences:
        words: list[str] = [word.lower() for word in WORDS.findall(FORMULA.sub(" ", sentence))]
        if words[:1] == ["i"] and not DENIES.isdisjoint(words):
            # whoever says that they have no answer
            return " ".join(words)
        has_digit = any(map(str.isdigit, sentence))
        if not asked.text or not _ADVERSE.isdisjoint(words[: _MOST_WORDS + 1]):
            adverse = next((word for word in words[: _MOST_WORDS + 1] if word in _ADVERSE), "")
            if adverse and len(words) > _MOST_WORDS and not has_digit:
                return adverse
        at_once = CALLS_WRONG.match(sentence.lstrip())
        if at_once is not None and at_once[0].lower() not in asked.text:
            return at_once[0]
        if has_digit or len(words) > _MOST_REMARKED:
            continue
        if wrong := _called_wrong(sentence, words, asked):
            return wrong
        is_short = len(words) < _MOST_WORDS and _NO_OTHER.search(sentence) is None
        is_read = is_short or (asked.text and any(map(_OF_ANSWER.search, words)))
        if is_read and (adverse := _adverse(words, asked, known=is_short and asked.text != "")):
            return adverse
    return ""


def _called_wrong(sentence: str, words: Sequence[str], asked: Asked) -> str:
    """The words of a short sentence that call an answer wrong, and not `nothing is wrong here`."""
    is_read = len(words) <= _MOST_WORDS + 1 and not any(map(str.isdigit, sentence))
    found = CALLS_WRONG.search(sentence) if is_read else None
    if found is None or found[0].lower() in asked.text or _NOTHING.search(sentence[: found.start()].rpartition(",")[2]):
        return ""
    return found[0]


def _strange(sentence: str, asked: Asked) -> str:
    """The first word of an answer's sentence behind it that is not understood; empty where all are."""
    another = _DENIES_ANOTHER.match(sentence)
    if another is not None and (another["word"] is None or another["word"] in DENIES):
        return ""
    sentence = FORMULA.sub(" ", _SUFFIX.sub("", sentence).replace("i.e.", "ie").replace("e.g.", "eg"))
    sentence = sentence.replace("years old", "years")
    said = list(_WORDS_AND_NUMBERS.finditer(sentence))
    words = [found[0].lower() for found in said]
    if len(words) == 1 and (denies(words[0]) or words[0] == "guess"):
        return words[0]
    if wrong := _called_wrong(sentence, words, asked):
        return wrong
    for place, (found, word) in enumerate(zip(said, words, strict=True)):
        rest = words[place + 1 :]
        if word[0].isdigit():
            # a number of the question's, in its own words: `years old 10 years from now`
            if place == 0 or not re.search(rf"(?<![\d.,]){re.escape(word.strip('.,:'))}(?![\d.]\d)", asked.text):
                return sentence[found.start() :] if place else ""
        elif word in _COMPLEMENTED:
            # `more than James`, `not in the team`, `18th floor`: what they speak of must be the question's
            return "" if _is_led(word, words[:place]) and _is_of_question(rest, asked) else found[0]
        elif (word in OPENS or (_is_step(word) and sentence[: found.start()].rstrip()[-1:] == ",")) and not (
            word == "over" and rest and rest[0][0].isdigit()
        ):
            if rest == ["more"]:
                return rest[0]
            is_free = word in REASONS or not (asked.text or word == "which")
            return "" if is_free else _adverse(rest, asked)
        elif not _is_counted(found[0], place, asked):
            return "" if _tells_of_world(words, place, asked) else found[0]
    return ""


def _is_counted(said: str, place: int, asked: Asked) -> bool:
    """Whether a word behind an answer is understood there: what is counted, a currency, a copula.

    Args:
        said: the word as it was written, for case counts in units.
    """
    word = said.lower()
    return CALLS_WRONG.search(word) is None and (
        word in _SAYS_SO
        or COPULA.sub("", word) in ("", *_SAYS_SO)
        or unicodedata.category(word[0]) == "Sc"
        or asked.says(word)
        or asked.counts(COPULA.sub("", said))
        or (place == 0 and not asked.text and _is_noun(word))
    )


_SAYS_SO = (
    _ANSWERS
    | _JOINING
    | _set(
        """respectively attained done works fits hope help helps thank thanks yes check checks checked verified espero
        ter ajudado ayude ajude hoffe hilft helfen j'espère aide aidé надеюсь помогло umarım elde ederiz buluruz を得る
        が得られる と求まる を 을 를 얻는다 얻습니다 구한다 도움이 되었기를 바랍니다 confirmed q e d war zeigen
        zu км ч м кг руб см unique 個 個です 通り
        通りである 通りです 本 人 枚 つ 匹 円 度 됩니다 vor auf heraus übrig statt 点 個になります 個である 組
        種類 개 명 가지 마리 권 원 번 个 只 条 种 名 元 米 次 岁
        である です だ であります となる になる が答えです が答え 이 가 답이다 답입니다 就是答案 即为所求 为所求
        是答案 即答案 为答案 为正确答案 ครับ ค่ะ"""
    )
)


# What a sentence that only denies its answer is made of
_OF_DENIALS = (
    _SAYS_SO
    | _GETS
    | SO
    | _ADVERSE
    | _set(
        """actually well wait sorry oops hmm rather eso esto isso isto questo quello ciò c'est ça cela dies este этот
        n'est đây phải quite him her هذا هذه هو यह वह bu şu điều này ini itu dit dat det está check given above true
        valid"""
    )
)


def _is_led(word: str, said: Sequence[str]) -> bool:
    """Whether the words before `than`, `not` or an ending of a number let it stand there."""
    if word == "than":
        return any(one in ("more", "less") or one.endswith("er") for one in said)
    return bool(said) and VERBS.isdisjoint(said) if word == "not" else not said


def _is_of_question(words: Sequence[str], asked: Asked) -> bool:
    """Whether words speak of what the question speaks of, and of no answer."""
    return any(asked.says(word) or asked.counts(word) for word in words) and not any(
        _OF_ANSWER.search(word) or word in ("correct", "right", "true", "wrong") or word.endswith("ly")
        for word in words
    )


def _is_step(word: str) -> bool:
    """Whether a word begins what is done beside the answer, and not to it: `using`, but not `doubling`."""
    return word.endswith("ing") and _DOUBTS.search(word) is None


def _tells_of_world(words: Sequence[str], place: int, asked: Asked) -> bool:
    """Whether an unknown word speaks of the world: the question tells of one, or a noun is counted before it."""
    end = next((at for at, one in enumerate(words[place + 1 :], place + 1) if one in OPENS), len(words))
    tells = asked.tells or (place > 0 and (asked.counts(words[0]) or _is_noun(words[0])))
    return tells and words[0] not in VERBS and words[0] not in SHIFTS and _is_of_the_world(words[:end], asked)


def _is_of_the_world(words: Sequence[str], asked: Asked) -> bool:
    """Whether words behind an answer say where or of what something is, and nothing of the answer."""
    return not any(_OF_ANSWER.search(word) or word[0].isdigit() for word in words) and not _adverse(words, asked)


def _adverse(words: Sequence[str], asked: Asked, *, known: bool = False) -> str:
    """The word of a remark that may deny an answer, doubt it or change it; where it must be `known`, any other one."""
    for at, word in enumerate(words):
        if (
            asked.has(word)
            or word in UNDERSTOOD
            or (word in NUMBERS and not _DETERMINERS.isdisjoint(words[at - 1 : at]))
        ):
            continue
        if denies(word) or word in SUPPOSES or word in _ADVERSE or asked.changes(word):
            return word
        if IS_UNSPACED.search(word) is not None and _CHANGES_UNSPACED.search(word) is not None:
            return word
        if known and not (word in _SAYS_SO or asked.says(word) or asked.counts(word)):
            return word
        if CALLS_WRONG.search(word) or _DOUBTS.search(word) or _FLAWED.search(word):
            return word
    return ""


def _is_noun(word: str) -> bool:
    """Whether a single word may be the noun that a value counts, where no question tells: a plural, not a scale."""
    if _COUNTED_UNSPACED.fullmatch(word) is not None:
        return True
    is_plural = word.isascii() and word.endswith("s") and word not in UNDERSTOOD
    return is_plural and not word.endswith(("ions", "ands", "eds", "ens", "ails"))


def turned(text: str, before: str, behind: str, asked: Asked) -> str:
    """What the sentence of an answer says of it other than that it is the answer; empty where it says nothing so.

    Args:
        text: the answer.
        before: the text before the answer.
        behind: the text behind it; its words must be understood.
        asked: what the question lets stand beside it.
    """
    is_value = IS_VALUE.search(text) is not None
    if _EXCEPTING.search(before[-_LAST_WORDS:].strip(" $x=")) is not None and _NO_OTHER.search(behind[:_LAST_WORDS]):
        # all others are excluded: `except 7 there is none`
        return ""
    return (
        strange_before(text, before, asked, is_value)
        or strange_behind(text, behind, asked, is_value, before)
        or _supposes_else(before, behind)
    )
