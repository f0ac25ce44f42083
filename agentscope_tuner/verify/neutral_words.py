"""The words that may stand around an answer, in one place: none of them denies, supposes, attributes or changes it.

Every other word there must be the question's. What is not understood is not paid.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

# The words that may stand behind an answer in its sentence, beside the question's: each only says that it is the answer
SAYS_SO = frozenset(
    """the a an is are was were be being been it that this our its indeed also exactly only just total
    altogether overall left remaining different distinct possible such correct right required desired needed
    final answer answers value values result solution solutions number numbers ways minimum maximum times more
    each here ok okay done qed q e d years exactement exakt genau exactamente exatamente esattamente ровно
    boxed respectively hope ist sind richtig korrekt die das der lösung antwort gesuchte est sont la le les
    réponse bonne correcte es son respuesta correcta é são resposta correta è sono risposta corretta ответ
    верный правильный olur olarak bulunur cevaptır eder là đáp án adalah jawaban jest odpowiedź है हैं होगा होगी
    होता आता होते ครับ ค่ะ هو هي الجواب である です だ であります となる になる となります になります が答え
    が答えです が求める答えである 이다 입니다 이에요 이 된다 가 답이다 답입니다 就是答案 即为所求 为所求 是答案
    即答案 为答案 为正确答案 個 個です 通り 通りである 通りです 本 人 枚 つ 匹 円 度 点 個になります 個である
    км ч м кг руб см war zu zeigen attained every cubic unique 組 種類 개 개이다 명
    명이다 가지 가지이다 마리 권 원 번 个 只 条 种 名 元 米 次 岁""".split()  # noqa: SIM905
)
# Words behind an answer that begin a part of the sentence which says why, where or when
OPENS = frozenset(
    """because since as which where so when if thus therefore hence and giving making after before by with in on at for
    from of to or oder ou или o per ie eg that using due given while assuming weil da denn wobei und für von car
    puisque donc où pour comme dont
    de et porque pues ya donde para y perché poiché dove pois onde потому так где для çünkü
    için vì nên để karena untuk bo gdyż want omdat over namely nämlich including
    incluindo incluyendo einschließlich saber savoir come como wie как 分别是 分别为 即
    during among between within across throughout until who
    whose""".split()  # noqa: SIM905
)
# The words that may lead to an answer, beside those above and the question's: they say whose it is, or how it was found
LEADS = (
    SAYS_SO
    | OPENS
    | frozenset(
        """end ends grand brings bring let's lets months sales brought currently corresponds correspond corresponding
        matches match agrees pick picks mark marks whence upon satisfying rounding combined seems bottom top behaves
        happen owns burns carries requires box
        we i you he she they there us him her his their them our my your who whose what therefore thus hence then now
    finally indeed also still already overall conclude conclusion summary has have had having can could will would
    should must may do does did been being am get gets got obtain obtains obtained find finds found see know
    give gives gave given yield yields make makes made making take takes took taking need needs needed spend spends
    spent pay pays paid buy buys bought sell sells sold earn earns earned save saves saved use uses used using cost
    costs leave leaves leaving come comes go goes went becomes amounts evaluates simplifies reduces equals arrive
    arrives arrived read reads sum total count counted counting every per back both calculation
    computation simplified simplest reduced lowest final best guess form terms expression inequality equation equations
    function polynomial integral limit series sequence term coefficient root roots slope intercept matrix determinant
    vector point points line circle triangle rectangle distance length speed rate time price cost profit difference
    product quotient remainder mean median mode range set domain option choice letter statement key unknown variable
    exact decimal fraction percentage odd even prime integer integers people person money amount profit score fact
    thinking verification verified combining multiplying adding together multiply altogether evaluated evaluating
    solving squaring simplifying substituting computing calculating factoring rearranging expanding applying summing
    dividing running similar script elimination certain including ones won lost ate ran drove flew grew wrote caught
    broke gave held kept knew led met rode slept stood taught wore walked lives weighs
    produkt summe zahl fläche produit somme nombre aire producto suma número área produto soma prodotto somma numero
    произведение сумма число площадь ilość liczba
    aber also somit damit daher folglich lautet beträgt ergibt ergebnis wert endgültige gesamt insgesamt es gibt wir
    erhalten man erhält gleich ein eine eines der des dem den im zu also nun
    ainsi finalement vaut valeur résultat total il y a nous obtenons on obtient trouve égal égale à du en d'où l'aire
    possède cette ce qui au sa son ses
    por lo tanto entonces luego así final resultado valor total hay tiene un una el los las en se obtiene tenemos
    obtenemos igual a al finalmente
    portanto logo assim final resultado há tem temos um uma os as no na obtemos igual ao do da dos das
    quindi dunque perciò finale risultato valore si ha abbiamo otteniamo uguale il lo gli i di del della un uno vale
    следовательно итак таким образом значит поэтому получаем получим равен равна равно равны составляет итого всего
    у в на есть имеет это окончательный
    sonuç sonucu olarak buna göre bu nedenle cevap cevabı doğru toplam toplamı sonuçta bulunur değeri
    vậy do đó bằng đáp án là kết quả tổng cộng có tất cả cuối cùng giá trị
    jadi maka hasilnya jawabannya adalah yaitu dengan demikian nilai total
    zatem więc wynosi równa się wynik odpowiedź to jest ostatecznie
    dus daarom is gelijk aan het antwoord de totaal van uitkomst er zijn bedraagt
    svaret alltså därför är lika med blir summan värdet det
    إذن الجواب هو هي الإجابة النهائية لذلك قيمة يساوي تساوي فإن النتيجة الصحيح
    अतः इसलिए उत्तर है कुल मान सही अंतिम
    따라서 그러므로 정답은 답은 최종 값은 결국 정답 답 총 모두 즉""".split()  # noqa: SIM905
    )
)
# The same where words are written without spaces; what is left of a run must be in the question
UNSPACED = re.compile(
    r"故选|代入|计算|化简|相加|整理|综上所述|综上|因此|所以|从而|于是|那么|最终|最后|正确|答案|结果|应该|应当|得到|可得|可知|解得|我们|一共|总共|共有|现在|需要|等于|就是|也就是|所求|此时"
    r"|計算すると|代入すると|整理すると|解くと|したがって|よって|ゆえに|以上より|求める|正しい|答え|正解|最終的|つまり|すなわち|合計|全部で|結果|である|です|なります|なる"
    r"|ดังนั้น|คำตอบ|เท่ากับ|คือ|จึง|ได้|มี|ทั้งหมด|ผลลัพธ์|รวม|เป็น|ไม่มีกรณีอื่น|[应即故则得解共有是为的值了个数和差积商还就答はがのをにでと個]"
)
IS_UNSPACED = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff]")
# Verbs that lead to a value as their last word, beside `_LEADS`
CONNECTS = frozenset(
    """approaches converges contains totals sums holds covers shows reaches remains stays reveals becoming being means
    denotes represents leaving implies read""".split()  # noqa: SIM905
)
# A run without spaces, or a Korean word, must end so
ENDS_UNSPACED = re.compile(
    r"(?:[是为有得即于共值答到出解はがでと]|需要|答案|结果|答え|คือ|เท่ากับ|เป็น|ได้|มี|[은는이가답값총즉]|모두|따라서)\Z"
)
IS_HANGUL = re.compile(r"[\uac00-\ud7a3]")
# Words behind an answer that begin a reason, which is not read
REASONS = frozenset(
    """como puesto because since due weil da denn car puisque porque pues perché poiché pois потому çünkü vì karena bo
    gdyż omdat""".split()  # noqa: SIM905
)
# The words that may stand behind an answer after a word of `_OPENS`
REMARKS = (
    SAYS_SO
    | OPENS
    | frozenset(
        """we i he she they you me there his her their them him have has had all every both any each no other holds case
    cases equality attained fraction decimal percentage
    shown above computed calculated found obtained expected wanted proved asked option
    choice even odd approximately about exact hope helps help let know questions further thanks thank done check
    checked checks out verified confirmed great good luck welcome feel free ask clear therefore finished yes
    makes sense matches match agrees agree consistent verifies satisfies satisfy reasonable complete completes concludes
    follows confirm confirms confirming proves question problem see seems explanation clears everything up includes
    include double-checked end solution happen happens currently""".split()  # noqa: SIM905
    )
)
# The same in languages of which fewer solutions are seen
_FURTHER = frozenset(
    """tedy proto takže tudíž odpověď je jsou výsledek hodnota počet součet celkem má máme rovná rovno činí
    отже тому відповідь дорівнює сума число кількість маємо значення є всього
    άρα επομένως συνεπώς η απάντηση είναι το ο οι τα ισούται με σύνολο αριθμός
    بنابراین پس پاسخ برابر با است مجموع جواب تعداد مقدار
    prin urmare deci așadar răspunsul este sunt suma numărul egal cu egală valoarea
    tehát így ezért válasz az a összege értéke összesen van
    siis joten vastaus on ovat summa arvo yhteensä luku
    derfor altså svaret er lik lig med summen antallet verdien værdien
    следователно отговорът сборът броят общо стойността
    dakle stoga odgovor je zbroj zbir broj ukupno vrijednost
    לכן התשובה היא הוא סכום מספר שווה
    সুতরাং উত্তর হলো যোগফল kwa hiyo jibu ni jumla samakatuwid ang sagot ay""".split()  # noqa: SIM905
)
# Names of mathematical things and of the steps that lead to a value
MATHEMATICS = frozenset(
    """addition adjacent algebra altitude analysis angle angles application arc areas argument arithmetic arrangement
    arrangements axis balance binomial bisector boundary calculations center centre chord circles circumference
    coefficients combination combinations combined common complex component components computations cone congruence
    consecutive constant coordinate coordinates cylinder data definition definitions degree degrees denominator
    derivative derivation determinant diagonal diagonals diagram diameter digit digits dimension discriminant
    distribution edge edges element elements ellipse entire entries equality event events expansion exponent
    exponents face faces factorization figure formula formulas fractions functions geometric geometry graph grid
    group height heights hyperbola hypotenuse identities identity induction initial inner intersection interval law
    leg legs length lengths linear lines logic measure measures method midpoint multiplication numerator ordered
    outcome outcomes outer pair pairs parabola parallel parameter parity pattern perimeter period permutations
    perpendicular place places plane points polygon position positive prism principle probabilities problem
    procedure process proof property proportion pyramid quadratic quadrilateral quantity question radius ratio
    rational region regular relation relations rest row rows sample section sector segment segments shaded shift
    side sides simplification slopes solid space sphere standard step steps structure subset subsets substitution
    sums surface symmetric symmetry system table terms theorem theorems theory transformation trapezoid triangles
    trigonometric union variables variance vectors vertex vertices volume volumes width word words zeros corrected
    sorted these those such middle compute computes computed calculate calculates calculated evaluate solve solves
    solved simplify deduce deduced infer note notice observe recall derive derived determine determined choose
    select written rewritten shown given based again back everyone once all every easily quickly directly carefully
    clearly surely certainly precisely adds add up out rounds works turns well please respective actual simply truly
    straightforwardly immediately ultimately everywhere bruchteil dreieck dreiecks kreis kreises gleichung lösungen
    wert winkel umfang seite länge volumen triangle cercle équation solutions périmètre côté longueur reste calcul
    donne triángulo círculo ecuación soluciones ángulo perímetro lado longitud resto cálculo triangolo cerchio
    equazione soluzioni angolo perimetro lato lunghezza calcolo triângulo equação soluções ângulo comprimento
    треугольника круга уравнения решений корней угол периметр сторона длина объём остаток корень
    plugging""".split()  # noqa: SIM905
)
# How a step begins: what it works with need not be understood
METHODS = frozenset(
    """by from via after with since because through durch nach mit en por con par avec après com per по после
    подставляя bằng dengan po""".split()  # noqa: SIM905
)
# Whoever may have found another answer
PERSONS = frozenset("you everyone everybody person people your".split())  # noqa: SIM905
# Words that suppose, and words that deny: the question's own licence none of them in an answer's clause
SUPPOSES = frozenset(
    """if whether suppose supposing assume assuming unless pretend imagine otherwise though although wenn falls ob
    angenommen si suponiendo supposons se sia supondo если ли eğer nếu giả jika kalau jeśli als indien om ifall إذا لو
    अगर यदि क्या 만약 만일 acaba liệu هل""".split()  # noqa: SIM905
)
DENIES = frozenset(
    """not no never non none nor neither cannot nothing nobody without nicht kein keine keinen nie niemals pas point
    jamais ne ningún ninguno nunca jamás não nem mai нет не ни никогда değil asla không chưa chẳng bukan tidak nie niet
    geen inte aldrig ikke לא ليس لا नहीं 아니라 아니 아닌 ไม่ except but besides""".split()  # noqa: SIM905
)
# Verbs that may stand between an unknown subject and its value
VERBS = frozenset(
    """is are was were be been being equals equal has have had gets get got makes make made takes take took needs need
    needed costs cost spends spend spent pays pay paid earns earn earned saves save saved uses use used buys bought
    sells sold becomes became comes came amounts goes went weighs lives loses lost won ate ran drove wrote caught
    held kept rode slept walked reads ist sind war waren hat haben beträgt ergibt kostet est sont était a ont vaut
    possède coûte es son era tiene tienen hay cuesta vale é são tem há custa è ha hanno costa равен равна равно
    равны составляет имеет bằng là adalah jest ma wynosi är har heeft है हैं olur travels travel walks drives runs
    covers produces contains holds reaches receives collects remains lasts drinks eats scores có dostaneme""".split()  # noqa: SIM905
)
# Number words behind a determiner, as in `the two`
NUMBERS = frozenset("one two three four five six seven eight nine ten eleven twelve both".split())  # noqa: SIM905
# Determiners before a number word: `the two points`, not `two more than`
BEFORE_NUMBERS = frozenset(
    """the these those all both his her its our their my your of in for with among from at on between first last next
    other only any each every and who which than""".split()  # noqa: SIM905
)
WORDS = re.compile(r"(?![-'])[^\s\d!-&(-,./:-@\[-`{-~。，、！？（）；：।؟–—…“”✓✔✅☑\ufe0f]+")
_FORMS = re.compile(r"[^\W_]+")
_CAPITAL = re.compile(r"(?<![.?!:]\s)(?<=\s)[A-Z][a-z]+")
_SHORT, _STORY = 4, 60


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
            return all(sign in self.text for sign in UNSPACED.sub("", word))
        word = word.removesuffix("'s").removesuffix("’s")
        # inflected words share their beginnings; short ones must be there as they stand
        stem = f" {word[: max(len(word) - 3, 4)]}" if len(word) >= _SHORT else f" {word} "
        return stem in _spaced(self.text)

    def counts_or_says(self, word: str) -> bool:
        """Whether a word is one of the question's, or may stand behind a number: a unit, a counted noun."""
        return self.says(word) or self.counts(word)

    def understands(self, word: str) -> bool:
        """Whether a word is understood before an answer: it is listed, or said by the question."""
        if word in PERSONS and self.text:
            return bool(self.names) or any(map(self.has, PERSONS))
        return word in LEADS or word in MATHEMATICS or word in _FURTHER or self.says(word)


@lru_cache(maxsize=256)
def _spaced(text: str) -> str:
    return f" {' '.join(_FORMS.findall(text))} "


@lru_cache(maxsize=256)
def _names(question: str) -> frozenset[str]:
    return frozenset(name.lower() for name in _CAPITAL.findall(question))
