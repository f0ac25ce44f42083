"""Reads the words behind an answer: one that is not understood there takes the answer back.

Before its answer a solution may use any words, so there (`verify.words`) only words of closed classes deny, doubt or
change it. Behind it little is said: a unit, what is counted, that the answer is checked. So behind an answer the rule
is the one of a box: each word must be understood.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from agentscope_tuner.verify import re
from agentscope_tuner.verify.asked_clause import option_behind
from agentscope_tuner.verify.number_words import (
    PARTS_ABROAD,
    is_number_word,
    number_in_words,
    numbers_said,
    with_figures,
)
from agentscope_tuner.verify.words import (
    ADVERSE,
    BEHIND_NAME,
    CALLS_WRONG,
    CHANGES_UNSPACED,
    DENIES,
    DOUBTS,
    EXCEPTING,
    FORMULA,
    HANGS,
    IS_HANGUL,
    IS_UNSPACED,
    IS_VALUE,
    JOINS,
    LAST_WORDS,
    MOST_WORDS,
    NO_OTHER,
    OPENS,
    OPERATES_SOON,
    QUOTE_ENDS,
    QUOTED,
    REASONS,
    SCALES,
    SENTENCE_END,
    SHIFTS,
    SO,
    SOUGHT,
    SUPPOSES,
    SUPPOSES_FIRST,
    VERBS,
    WINDOW,
    WORDS,
    Asked,
    Known,
    announces,
    asks_difference,
    denies,
    foretold_wrong,
    is_value,
    joining,
    lead_of,
    leads_plainly,
    repeats_given,
    strange_before,
    supposes_else,
    word_set,
)

# The ends of Korean sentences, which are written together with the noun that is counted
COPULA = re.compile("(?:입니다|이다|이에요|예요|이|가|임)$")

_OWN_FORMULA = re.compile(r"(?:[^$\n]|\n(?!\n)){0,120}?(?P<close>\$\$?|\\[)\]])")
# `, not 400`
_DENIES_ANOTHER = re.compile(
    r"\s?[,，;；(（—–]\s*(?:and |und |y |et |而)?(?:不是|ではなく|(?P<word>[^\W\d]+))\s*\$?[-−]?\d"
)
# A suffix of a number, `8'dir`, and Spanish `es decir` (that is), which begins with a verb
_SUFFIX = re.compile(r"\A(?:['’]\w{1,5}|[\s$,]*es decir\b)")
# Words right behind a value that calculate with it or make it inexact
_OPERATES_BEHIND = re.compile(
    r"[\s(]*(?:and a (?:half|third|quarter)|over \d|(?:st|nd|rd|th)\b|[-−+*/^×]\s*\$?\d|give or take|(?:more|less) than"
    r"|to the power|or so\b|too\b|off\b|more or less\b"
    r"|(?:correct )?up to (?:an? |the )?(?:overall |constant )?(?:factor|sign)\b"
    r"|or (?:(?:its|the) )?(?:half|twice|double|square|inverse|reciprocal"
    r"|negative|opposite|complement|conjugate|transpose)\b)"
)
_COPULAS = word_set("is are would could ist sind war wäre est sont était serait es son era sería è sono é são")
_DEFINITE = word_set(
    """the our my your its his her their what as how correct right indeed exactly then therefore thus also left needed
    required possible die das der unser unsere meine richtig also la el le les il lo a o los las gli i notre ma mi
    nuestra correcto correcta bonne nostra giusto certa correta donc por bien"""
)
# Words for what is still to be done with an answer: `to be doubled`
_DONE_LATER = word_set(
    """doubled tripled halved quadrupled added subtracted excluded omitted multiplied divided squared cubed minus plus
    menos moins meno минус"""
)
# Symbols that mark an answer as wrong
_CROSSES = re.compile("[✗✘❌✖⛔🚫👎🤔❓🤷❎🙅]")
_MOST_REMARKED, _AFTER = 12, 1_200
_SET_BEHIND = re.compile(r"\s*\\text[a-z]*\s*\{([^{}]*)\}")
# The value in words: `(twelve)`
_SPELLED = re.compile(r"[\s$]*[(（]([^\d()（）]{2,40})[)）]")
_ROLES = word_set("user assistant system tool")
_DIGITS = re.compile(r"\d+")
_WORD = re.compile(r"(?<![\w\\])[^\W\d_]+(?:-[^\W\d_]+)*(?!\w)")
_TURN_ENDS = re.compile(r"<\|\w{1,20}\|>|</s>")
CLOSING = re.compile(r"(?:[\s$*_`)\]}”\"]|\\[)\],;:! ])*")
CONFIRMED = re.compile(r"[?？\s$*)]*(?:yes|yep|correct|right|indeed|是的|对|没错|正确)", re.IGNORECASE)
_NOTHING = re.compile(r"\b(?:no|none|nothing|nobody)\b|没有|无", re.IGNORECASE)
_MOST_SENTENCES = 16
# A sentence about something else than the answer: a formula, an option's letter, a number
_NAMES_ITS_OWN = re.compile(r"[$\\=\d]|(?<![^\W_])(?!I\b)[A-Z](?![\w'’])|其[他余它]|ほか|他の|나머지")
_WITHDRAWS = re.compile(
    r"\b(?:fail(?:s|ed)?|t(?:ake|ook)\b.{1,12}\bback|scratch|withdraw\w*|retract\w*|disregard|ignore|kidding|forget|strike|discard|nope)\b",
    re.IGNORECASE,
)
_MISTOOK = re.compile(
    r"\bI (?:was (?:wrong|mistaken)|erred|mis(?:read|took|calculated|counted))\b|\bmy (?:mistake|bad)\b"
    r"|\bhabe? mich (?:verrechnet|geirrt|vertan|verzählt)|\bje me suis tromp|\bme (?:equivoqué|he equivocado|enganei)"
    r"|\bho sbagliato|\bmi sono sbagliat|\benganei-me|\bя ошиб|\bпомили(?:вся|лась)|\bpomylił[ae]m|\bspletla? jsem"
    r"|\bme vergist|\bräknade fel|\byanıldım|\bhata yaptım|\btôi (?:đã )?nhầm|\bsaya (?:salah|keliru)|算错了|計算ミス",
    re.I,
)
_DENIES_UNSPACED = re.compile("ではない|じゃない|ではありません|不是|并非|不对|不成立|아니다|아닙니다")
_LONGEST_DENIAL = 10
# `There are no others` confirms the answer, so a denial with such a word does not count
_MORE = word_set("other others else more further better than doubt only less")
# The words of sentences that only deny the answer
_OF_DENIALS = (
    _COPULAS
    | _DEFINITE
    | SO
    | ADVERSE
    | word_set(
        """we it this that these those there an am be been does did have has can given valid actually well wait
        sorry oops hmm just rather answer answers result value solution number check above it's that's c'est antwort
        ergebnis réponse résultat respuesta resultado resposta risposta ответ cevap jawaban svaret antwoord
        odpowiedź đáp án eso esto isso isto questo quello ciò ça cela dies este этот هذا هذه यह वह bu şu điều này thỏa
        mãn بجے बजे ini itu dit dat det está e y и là to ce n'est je это phải đây उत्तर है الجواب não"""
    )
)
# Harmless words behind an answer, beside the question's: that it is the answer, what it counts, that it is checked
_UNDERSTOOD = (
    _OF_DENIALS
    | OPENS
    | VERBS
    | word_set(
        """liczba liczbą число числом число број číslo číslem talet tallet tal szám számot number's numărul număr sayı
        sayısı sayısıdır sayıdır broj luku arv αριθμός αριθμό bilangan nambari số عدد العدد संख्या zahl nombre número
        worth all every each both other others such soit currently now up any them us me you they he she same
        total totals altogether together overall only precisely different distinct ways way times time more
        remaining desired requested sought wanted final simplest form reduced fraction decimal percentage exact integer
        whole units square cubic years year old day days hours long apart away shown computed calculated found obtained
        expected
        claimed stated done proved verified confirmed attained achieved reached satisfied satisfies satisfy works
        work matches match agrees agree holds hold checks confirms happens happen make sense good here below
        condition conditions constraint constraints equation equations case cases statement problem question
        original identity equality steps step method calculation computation formula hope helps help looking asked
        know see clear complete completes completed concludes conclude conclusion finished finish multiplying adding
        substitution substituting back th st nd rd qed q d nice directed parallel perpendicular upward upwards
        downward downwards clockwise counterclockwise horizontally vertically numerically entire standard well-known
        theorem formed located placed order matters folgt suit sigue segue wynika correspond corresponde corrisponde
        entspricht obtient obtiene ottiene obtém fórmula formule formel allgemeine allgemeinen general générale
        generale geral bekannten connue conocida nota conhecida известной d'aire то positifs positivi positivos
        positivas positiven inclus incluidos inclusi compresi einschließlich можно noch nog übrig encore ancora aún
        todavía ainda ещё jeszcze restantes restants cioè ossia ovvero seja decir есть c'est-à-dire heißt czyli yani tức
        أي حوالي تقريبا تقريباً
        itself themselves posibles possíveis possibili mögliche möglichen возможных note let box boxed exactement genau
        exactamente exatamente esattamente ровно jahre alt vor zeigen cuadradas cuadrados cúbicas carrées carrés
        cubes quadrati quadrate cubiche quadradas quadrados cúbicos квадратных кубических ед кв flächeneinheiten
        volumeneinheiten raumeinheiten quadrateinheiten längeneinheiten arbitrary beliebig beliebige arbitraire
        arbitraria arbitrario arbitrária arbitrário произвольная произвольное произвольный równa równe równy
        insgesamt alle möglichkeiten lösung gesuchte werden gebraucht unités en tout au possibilités possibles principal
        solución posibilidades unidades soluzione possibilità solução possibilidades donne верный правильный
        достигается всего при lang breit hoch tief schwer breed hoog hosszú széles magas lungo largo alto doğru
        olarak bulunur cevaptır kalmıştır kişidir vardır elde ederiz ederim edilir eder năm sonuç jawabannya yang
        benar rozwiązanie een af op uit het oud jaar på मिलता मिलते होगा होगी होता आता होते होंगे हुआ
        हुई हुए ہے ہوگا ہوگی ہیں است هست باشد می‌باشد میباشد شد می‌شود خواهد بود হবে হয় হলো అవుతుంది ఉంటుంది
        आहे છે lesz pro ครับ ค่ะ ஆகும் bring
        yes data qualify qualifies numbers seems reasonable sensible plausible checked double-checked even odd
        multiplication independent unabhängig indépendant indépendante independiente independente indipendente
        shows lowest terms positive negative prime remark remarks eliminated options option point curve achève
        calcul termine
        cqfd listo queda demostrado что требовалось найти доказать получить nothing wrong dozens should must feel
        free please ask like further detail details questions doubt doubts concerns explanation explain clears
        everything proof reasoning means occurs occur occurring i'd you'd anything luck i'm json finale stimmt
        points passes lies walk through depend depends verifica facilmente risultato vérifié geprüft prüfung qui que
        che womit co czym waarmee wat vilket skulle ki oldu đúng như dự đoán ban đầu bài toán xong measured
        expressed about approximately roughly environ etwa rund ungefähr circa cerca около примерно
        aproximadamente approximativement approssimativamente приблизительно ungefär cirka yaklaşık przybliżeniu
        δηλαδή
        का की के को में ने है हैं बचे बचा টি টা জন আছে বাকি таким образом tutto avanzati maradt maradtak alles tilbage tillbaka
        jäljellä kvar igjen zostało zostaje zbylo zbývá залишилося залишилось осталось còn lại sisa tersisa buah
        ekor rămas au rămas quedan restam rimangono restent reste verbleiben geriye kalır kaldı kalmış
        kalan vastaus vastus svar відповідь απάντηση válasz răspuns odpověď odpoveď odgovor одговор отговор উত্তর
        jawapan პასუხი պատասխան תשובה پاسخ جواب คำตอบ resposta
        memiliki mempunyai окончательный итоговый endgültig endgültige définitif définitive definitivo definitiva कुल
        tổng cộng unique fertig fin
        still gegeben donnée donné dada dado data dato
        natürliche ganze exakter exakte wert endwert eindeutig eindeutige siehe oben primzahl lösungsmenge
        beide endergebnis reelle premier entier exact valeur valeurs unique voir ci-dessus ensemble réelles
        réels primo entero única único valor valores exacto exacta conjunto ambas ambos válidas reales
        esatto unica unico exato результат простое целое точное значение единственное корни оба обе
        действительные końcowy końcowa pierwsza kesin asal nihai nguyên số tố geheel eindantwoord
        eindresultaat prima akhir النهائي वर्ग slutsvar"""
    )
)
# How words begin that say, in many languages, that a thing is done, shown or checked, and what it is that is done; an
# infinitive may say that it is still to be done: `queda por resolver`
_CLOSES = re.compile(
    r"(?!\w*(?:[aei]re?|[аеи]ть|ować)\Z)(?:[ld]['’])?(?:confirm|conferm|bestätig|подтвер|potwierdz|bevestig|bekräft|onayl|verif|vérif|überprüf|provad|comprob|провер"
    r"|sprawdz|probe\Z|gecontrol|kontroll|demonstr|démontr|dimostr|demostr|bewies|доказ|udowod|bewezen|bevis|zeigt|montr|mostr"
    r"|muestr|visas\Z|termin|ach[eè]v|complet|complèt|vollständig|abgeschloss|beendet|заверш|законч|полност|kończ"
    r"|zakończ|afgerond|klaar\Z|färdig|conclu|encerr|finaliz|bit(?:ir|ti)|tamamla|resuel|resolv|résol|résou|risol|gelöst"
    r"|opgelost|реш[её]н|rozwiąza|çözül|esercizi|ejercici|exerc[ií]|aufgabe|opgave|uppgift|zadani|задач|soru\Z|problem"
    r"|problèm|quest[ãi]|cuestión|hesaplan|berechnet|calcul|вычисл|получен|oblicz|berekend|beräkn|erklär|spiega"
    r"|объясн|wyjaśni|uitleg|förklar|açıkla)"
)
# How nouns and adjectives of mathematics begin, and participles of solutions, language by language; none is a quantity,
# operates on a value, bounds it or denies it, and none bids the reader to do so
_OF_MATHEMATICS = re.compile(
    r"(?:[ld]['’])?(?:constant|integration|integral|derivati|antiderivati|differenti(?:al|able)|polynom|quadrat(?!ur)|parabol|parabel|hyperbol|ellip"
    r"|vert(?:ex|ices)|triang|rectang|quadril|trapez|circle|sphere|cylind|pyramid|hexagon|pentagon|diagonals?\Z|hypoten|pythag"
    r"|theorem|lemma|axiom|identit|symmetr|geometr|arithm|algebra|trigonom|binom|trinom|matri(?:x|ces)|determin|eigen"
    r"|vector|scalar|diagonaliz(?:able|ation)|orthogon|linear|isomorph|homomorph|cyclic|abelian|prime|modul[aeo]r|congruen|euclid|euler"
    r"|gauss|vieta(?!t)|heron|newton|leibniz|lagrang|cauchy|riemann|bayes|bernoulli|poisson|fermat|klein|taylor|fourier|laplac"
    r"|probabilit(?:y|ies)\Z|statist|distribut|series|sequenc|contin[uo]|asympt"
    r"|monoton|function|graph|curve|axis|axes|origin|tangent|perpendic"
    r"|parallel|coordinat|plane\Z"
    r"|electr|magnet|photon"
    r"|molecul|atom|ion(?:s|ic)?\Z|acid|oxid|reaction|equilib|boundary"
    r"|substitut(?:ed|ion)|combinati|permutation|arrangement|subset|element|vertical|horizontal"
    # German
    r"|ableitung|stammfunktion|konstant|scheitel|dreieck|rechteck|kreis|kugel|winkel|gerade[nr]?\Z|ebene|punkt|achse|steigung"
    r"|gleichung|formel|satz\Z|geöffnet|funktion|graph|kurve|regel|potenz"
    r"|anwendung|angewend|zerlegung|faktorisierung|wahrscheinlichkeit|ereignis|zufall|gesetz|beweis"
    r"|bewegung|entgegengericht"
    r"|verläuft|liegt|schneide[nt]|parallel|symmetri|reihe|folge"
    # French
    r"|mouvement|suite\Z|série"
    r"|parallèl|symétri|dérivé|primitiv|constante|sommet|triangle|cercle|sphère|droite|plan\Z|axe|pente|racine|équation|formule|théorème|milieu"
    r"|fonction|courbe|règle|puissance|probabilité|évènement|événement|ensemble|loi\Z"
    # Spanish, Portuguese, Italian
    r"|movimi|moviment|sucesi|sequênc|successi|serie"
    r"|paralel|parallel|simétr|simmetr|derivad|derivat[ao]|integra[cçlz]|vértice|vertice|triángul|triângul|triangol|círcul|cerchi|circunfer|circonfer|esfer|sfer"
    r"|recta|reta\Z|retta|plano|piano|eje\Z|eixo|asse\Z|pendiente|coeficient|coefficient|raíces|raíz|raiz|raízes|radic"
    r"|ecuaci|equaç|equazion|fórmul|teorem|punto|ponto|funci|funç|funzion|curva"
    r"|regla|regra|regola|potencia|potência|potenza|probabilidad|probabilità|evento|conjunto|insieme|propiedad|propriedad"
    r"|proprietà|definici|definiç|definizion|aplic(?:ó|aci|ando|amos)|applic(?:ando|azion|ation|ata|ato)|utiliz(?:ó|ando|ado|ada|amos)|utilizzando|usando"
    # Russian, Ukrainian
    r"|движени|последовательн|ряд\Z"
    r"|параллел|симметр|производн|первообразн|интеграл|констант|постоянн|вершин|треугольн|прямоугольн|окружност|круг|сфер|прям[аоы]|плоскост"
    r"|ось\Z|оси\Z|уравнен|формул|теорем|точк|функци"
    r"|график|кривая|правил|событи|множеств|свойств|определени|закон"
    # Polish, Turkish, Vietnamese, Indonesian
    r"|pochodn|całk|wierzchoł|trójkąt|prostokąt|okręg|koł[oa]\Z|prost[aey]|równani|wzór|wzoru|twierdzeni|punkt|bok[ui]?\Z"
    r"|türev|integral|üçgen|daire|çember|doğru(?:nun|su)|denklem|formül|teorem|nokta|kenar|açı|đạo|tích\Z|tam\Z|giác|tròn"
    r"|thẳng|phương|trình|định|điểm|cạnh|góc|turunan|segitiga|lingkaran|persamaan|rumus|titik|sisi|sudut)"
)
# What was foreseen is understood only behind such a word: `an estimate` says that the answer is none
_FORESEEN = re.compile(
    r"(?:l['’])?(?:estim|stima|schätzung|erwartung|attente|previs|prévis|expectati|prediction|aspettativ|оценк|ожидани"
    r"|oczekiwa|szacun|verwachting|schatting|förvänt|uppskatt|départ|initial|inizial|inicial|anfänglich|начальн)"
)
_OTHERS = word_set(
    """other others else further weitere weiteren andere anderen autre autres d'autre d'autres otra otras otro otros más
    outra outras outro outros mais altra altre altri altro другой других другие başka khác lain innych innej andere"""
)
# Clauses behind an answer: `when read upside down`; other openings begin a place or a time, as in `in his wallet`
_BEGINS_CLAUSE = word_set(
    """when where which that if while who whose until once before after as so wenn wo während der die das quand où qui
    que cuando donde quando dove che когда где который"""
)
_PLACES = word_set("aus à en na nas no nos em nel nella dans sur au aux im am auf bei в на при w na på op aan zu")
_MOST_UNKNOWN, _SHORT = 2, 4
# Harmless parts of text without spaces between words; the rest of such a text must be in the question
_KNOWN_UNSPACED = re.compile(
    "如果?[你您]?还?有(?:任何|其[他它]|别的|更多|不(?:明白|清楚)的?)*(?:问题|疑问)|请?随时(?:告诉|问|提问|联系)我?|欢迎(?:随时|继续)?提问"
    "|(?:这个|上面的?)?(?:讲解|解答|解释|过程)|希望|对[你您]|有所?帮助|证毕|解毕|できました|終わり|以上|説明|問題|も|没有(?:其他|其它|别的|另外|错误)|可以|能够|才能|即可|检验|验证|验算|完毕|经|成立|满足|条件|符合|题意|此题|本题|检查|検算|确认|確認|済み|已|精确值?|准确值?|最简|最终|最終的?な?|结果|化简后?|小数|分数|整数|正[数の]|(?:平方)?单位|(?:平方)?単位(?:なし)?|概率|比值|四舍五入|これ|以上|故选|综上|所以|因此|即为|所求|答案|正确|原方程|方程|的解|就是|也就是|分别|一共|总共|等于|是|为|的|了|共|种|個|个|只|条|支|名|人|张|件|辆|头|台"
    "|圆|抛物线|双曲线|椭圆|直线|平面|函数|定理|公式|性质|定义|法则|根据|利用|由|得到?|知|取得|取到|当|时|其中?|此时|处|单调|递增|递减|对应"
    "|图像|图象|恒等式"
    "|元|米|次|岁|棵|朵|块|间|位|份|杯|瓶|把|家|组合|组|方法|方案|可能|情况|通り|種類|である|であり|でした|です|となります|となる"
    "|になります|になる|なる|だとわかる|とわかる|が答え|答え|求める|をとる|を取る|をもつ|を持つ|かかります|かかる|値|円|度|点|枚|匹|冊|本|回|歳|倍数|を得る|得る|あります|ある|います"
    "|いる|となり|必要|できる|考えられる|存在する|する|した|ครับ|ค่ะ|นั่นเอง|ตัว|คน|หน่วย|[对答解之がはをにでとのもつだ]|质数|唯一|见上|素数|計算|实根|実数|斜边|定理|勾股"
)
_KNOWN_KOREAN = re.compile(
    "이것|그것|걸립니다|걸린다|남습니다|남는다|나옵니다|나온다|얻습니다|얻는다|같습니다|같다|따라서|그러므로|검산|성립|만족|조건|제곱단위|단위|입니다|이다|이에요|예요|이므로|된다|됩니다|정?답|가지|마리|개|명|권|원|번|점|살|필요|있다|있습니다|있으므로|하다|합니다|모두|풀이|마칩니다|마치겠습니다|끝|도움|완료|소수|정수|자연수|실근|최종|정확|검증|확인"
)
_KOREAN_ENDING = re.compile("(?:습니다|았습니다|었습니다|니다|는다|았다|었다)$")
_PARTICLE = re.compile("(?:이|가|은|는|을|를|의|로|으로|에|와|과|도|임|함)$")

_STATES = re.compile(
    r"^\W*(?:(?:so|thus|hence|therefore|yes)\W+)?(?:the|my) (?:final |correct )?answer (?:is|stays|remains)\W",
    re.IGNORECASE,
)
_SENTENCES = re.compile(rf".+?(?:{SENTENCE_END.pattern}|\Z)", re.DOTALL)
# How a later sentence begins that turns against the one before it, in languages whose words are not read one by one
_BUT_UNSPACED = re.compile(r"\W*(但是?|不过|然而|可是|可惜|しかし|だが|けれど|ただし|그러나|하지만|다만)")
# A choice is right because the others are wrong
_REASONED = re.compile(r"\b(?:because|since|as|denn|weil|car|puisque|porque|perché)\b", re.IGNORECASE)
_TURNED = re.compile(r"\b(?:is off|fails|no more|not|scheidet)\b|不适|不適|不对")


# A check that gives a different value: `2\\cdot7-5=8\\ne9`
_FAILED_CHECK = re.compile(r"=\s*-?\d[\d.]*\s*(?:\\neq?(?![a-z])|≠)\s*-?[1-9]")


_FACTORIAL = re.compile(r"(?<=[\w)}])!(?=(?:\$|\\[)\]]|[-=+*/<>^]))")


def opens_formula(before: str) -> bool:
    """Whether `before` ends inside a formula: `the value is $x = `."""
    displays = before.count("$$")
    opened = displays % 2 == 1 or (before.count("$") - 2 * displays) % 2 == 1
    return opened or any(before.rfind(f"\\{one}") > before.rfind(f"\\{end}") for one, end in ("()", "[]"))


def _in_one_spelling(text: str, behind: str) -> str:
    r"""The text behind an answer, easier to read: without the answer in words, the macro of its unit, or a factorial.

    Behind `12`, ` (twelve) eggs` becomes ` eggs`, and ` \text{cm}` becomes ` cm `. In `$n!$` the `!` is removed,
    because it ends no sentence.
    """
    if (spelled := _SPELLED.match(behind)) is not None and with_figures(WORDS.findall(spelled[1].lower())) == [text]:
        behind = behind[spelled.end() :]
    if (set_behind := _SET_BEHIND.match(behind)) is not None:
        behind = f" {set_behind[1]} {behind[set_behind.end() :].lstrip(' $')}"
    if "!" in behind:
        # a factorial ends no sentence
        behind = _FACTORIAL.sub(" ", behind)
    return behind


_COUNTED_IN_WORDS = re.compile(
    r"(?P<when>\b(?:after|in|within|over|during|dans|après|en|em|após|nach|dopo|w|po|через|за) )"
    r"(?P<number>[^\W\d_]{2,12}) (?=(?P<of>[^\W\d_]{2,}))"
)


def _in_figures_of(question: str, said: str) -> str:
    """`said` with numbers in figures if the question writes them so: `after three years` as `after 3 years`.

    Only before a noun that has the same number in the question, ` 3 years`.
    """

    def in_figures_there(one: re.Match[str]) -> str:
        found = number_in_words([one["number"]])
        value = next(numbers_said(one["number"]), None) if is_number_word(one["number"]) else found and found[0]
        is_there = value and f" {value} {one['of']}" in question
        return f"{one['when']}{value} " if is_there else one[0]

    return _COUNTED_IN_WORDS.sub(in_figures_there, said) if any(map(str.isdigit, question)) else said


def strange_behind(text: str, before: str, behind: str, asked: Asked, is_value: bool) -> str:
    """The words behind an answer that deny, doubt or change it, or are not understood; empty if there are none.

    `squared` for `the answer is 42 squared`. A word such as `apples` in `42 apples` is understood if it is the
    question's.

    Args:
        text: the answer.
        before: the text before it.
        behind: the text behind it.
        asked: the question, whose words may be used.
        is_value: whether the answer is a number or a formula. Behind a letter or a word, unknown words are allowed.
    """
    behind = _in_one_spelling(text, behind)
    behind = _in_figures_of(asked.text, behind[:_AFTER]) + behind[_AFTER:]
    # a token such as `</s>` ends the model's turn; behind it only the next speaker's name may follow
    behind, *others = _TURN_ENDS.split(behind)
    if not _ROLES.issuperset(
        word.lower() for turn in others for word in (*WORDS.findall(turn), *_DIGITS.findall(turn))
    ):
        return "another turn"
    behind = _without_more(text, behind, asked)
    if is_value and WORDS.search(behind, _AFTER) is not None:
        return "a long text"
    own = _OWN_FORMULA.match(behind) if opens_formula(before) else None
    behind = behind[:_AFTER] if own is None else behind[own.start("close") : _AFTER]
    if other := _another_by_reference(behind, text, asked):
        return other
    first, rest = _own_sentence(behind)
    if first and first[-1] in "?？؟" and CONFIRMED.match(rest) is None:
        return "?"
    another = _DENIES_ANOTHER.match(first)
    if another is not None and another["word"] in DENIES and text in re.split("[,;]", first[1:])[0]:
        # `— neither 22 nor 23`
        return first.strip()[:LAST_WORDS]
    # an answer that is only repeated is confirmed, also by a later sentence
    first = _without_answer(first, text) if text in first else first
    sentences = _SENTENCES.findall(rest)
    confirms = [at for at, one in enumerate(sentences) if text in one and (_STATES.search(one) or _restates(one, text))]
    rest = "".join(sentences[confirms[-1] + 1 if confirms else 0 :])
    if text in rest and (denial := _denied_again(_SENTENCES.findall(rest), text)):
        return denial
    rest = _without_answer(rest, text) if text in rest else rest
    if other := option_behind(text, [first, *_SENTENCES.findall(rest)], asked.text):
        return other
    if is_value:
        denied = _denied_when_repeated(behind, text)
        return (
            denied or _first_turn(_unexplained(first, text, asked), text, asked) or _taken_back_later(rest, text, asked)
        )
    return _denial_of_words(text, first, rest, before, asked)


def _denied_again(sentences: Sequence[str], text: str) -> str:
    """The denying word before an answer that a sentence repeats: `non` in `Luca non ha 7 mele`; empty if none does.

    A sentence with a second number does not count.
    """
    for said in sentences:
        unsaid, front = _without_answer(said, text), said.partition(text)[0].lower()
        if unsaid != said and not any(map(str.isdigit, unsaid)) and any(map(denies, WORDS.findall(front))):
            return str(next(filter(denies, WORDS.findall(front))))
    return ""


# A question that ends the text and offers another answer: `Or B?`, `Who knows?`
_ASKS_BACK = re.compile(
    r"(?:(?:\A|[.!\n])\W*+(?:or|but|oder|ou|o|или|но|aber|mais|pero|ma)\b(?! why\b)"
    r"[^.!?\n]{1,80}|\bwho knows\W*)\?\W*\Z",
    re.IGNORECASE,
)
# A different answer, named by its relation to this one: `The opposite holds`, `The next letter is the one`
_BY_REFERENCE = re.compile(
    r"(?:\A|[.!\n])\W*+(?:(?:quite|just|exactly|rather) )?the (?:exact )?(?:opposite|contrary|reverse)"
    r"(?: (?:holds|applies|is (?:true|the case|right|correct)))?\W*(?:\Z|[.!\n])"
    r"|(?:\A|[.!\n])\W*+the (?:(?:next|previous|preceding|following) (?:letter|option|choice|one)"
    r"|(?:letter|option|choice|one) (?:right |just )?(?:after|before) (?:it|this|that))"
    r"(?: (?:is|would be) (?:the )?(?:one|right|correct|answer)(?: one)?)?\W*(?:\Z|[.!\n])"
    r"|\bits (?:square|half|double|inverse|reciprocal|negative|opposite|complement|cube|transpose) is"
    r" (?:the answer|what)\b"
    r"|(?:\A|[.!\n])\W*+(?:divide|multiply|add|subtract|halve|double|square|negate|swap|flip)"
    r" (?:(?:one|\$?\d+\$?) (?:to|from) )?"
    r"(?:it|this|that|(?:every|each|all)(?: (?:entry|entries|coefficient|value|number))?)\b"
    # `Add 8 to this and you get 50` checks it
    r"(?![^.\n]*(?:[=:]|\b(?:get|gives?|check|obtain|back|yields?|makes?|recovers?)\b))",
    re.IGNORECASE,
)
_SAYS_NO_MEMBER = (
    r"(?:\$? (?:fails\b|(?:is|was) (?:no|not an?|not the) (?:solution|root|zero|answer)\b"
    r"|(?:is|was) (?:extraneous|spurious|rejected)\b|does(?: not|n['’]t) (?:satisfy|solve|work|fit|hold)\b)"
    r"|[^.,;。，\d\n]{0,24}(?:(?<![^\W_])(?:not|nicht|keine?|pas|no|non|não|не|nie|niet)(?![^\W_])|n['’]t|不)"
    r"[^.,;。，\d\n]{0,16}(?:belong|member|element|dazu\b|lösung|nullstelle|soluci|solução|soluzione|pertenece"
    r"|pertence|racine|ra[íi]z|подход|корен|решени|[解根属])|(?<=\d) (?:не подходит|n['’]y appartient pas))"
)
_NO_MEMBER = re.compile(rf"\d{_SAYS_NO_MEMBER}", re.IGNORECASE)
_BELONGS = re.compile("belong|element|dazu|appart|perten|属")
_MOST_MEMBERS = 8


def _denied_member(behind: str, text: str) -> str:
    """The words that deny one of the answer's numbers: `2 is no solution` behind `2, 3`; empty if none do."""
    if _NO_MEMBER.search(behind) is None:
        return ""
    members = list(dict.fromkeys(_DIGITS.findall(text)))[:_MOST_MEMBERS]
    if not members or re.search(r"[a-zA-Z]", re.sub(r"\\[a-zA-Z]+|[a-z]\s*=", "", text)):
        return ""
    said = re.search(rf"(?<![a-zA-Z\d_.,^\-+*/=])(?:{'|'.join(members)}){_SAYS_NO_MEMBER}", behind, re.IGNORECASE)
    words = [] if said is None else WORDS.findall(behind[: said.start()].lower())[-2:]
    if said is None or any(denies(word) and word not in _ALL_BUT for word in words):
        return ""
    end = _DIGITS.match(said[0])
    if end is not None and re.search(rf"\(\s*{end[0]}\b|\b{end[0]}\s*(?:\\right)?\)", text) is not None:
        # an open end belongs to no interval
        return "" if _BELONGS.search(said[0]) is not None else said[0]
    return said[0]


def _another_by_reference(behind: str, text: str, asked: Asked) -> str:
    """The words behind an answer that ask for or name a different one, or mark it as wrong; empty if none do.

    `Or B?`, `The opposite holds`, a cross such as `❌`, or a denial of one of the answer's numbers.
    """
    if (cross := _CROSSES.search(behind) or _FAILED_CHECK.search(behind)) is not None:
        return cross[0]
    if (asks := _ASKS_BACK.search(behind)) is not None or (asks := _BY_REFERENCE.search(behind)) is not None:
        return asks[0].strip()
    operates = _OPERATES_BEHIND.match(behind.lstrip("$ ,").lower())
    if (
        operates is not None
        and ("(" in operates[0] or "more or" in operates[0])
        and operates[0].strip(" (") not in asked.text
    ):
        return operates[0].strip()
    return _denied_member(behind, text)


_SAYS_MORE = re.compile(
    r"(?P<close>[\s$)\]\\]*)(?:(?P<each>,? ?respectively|,? ?respectivamente|,? ?rispettivamente|,? ?соответственно)\b"
    r"|,? ?(?:on |of |in )?(?:the )?(?:next|following|same) (?:day|morning|afternoon|evening|night)\b)",
    re.IGNORECASE,
)
_ASKS_TIME = re.compile(r"\bwhat time\b|\bwhen\b")


def _without_more(text: str, behind: str, asked: Asked) -> str:
    """The text behind an answer, without `, respectively` behind a list, or `the next day` if a time is asked for.

    Words for the answer itself are written in figures: ` twelve apples` behind `12` becomes ` 12 apples`.
    """
    if text.isdigit():
        behind = _WORD.sub(lambda one: text if with_figures([one[0]]) == [text] else one[0], behind)
    more = _SAYS_MORE.match(behind)
    says = more is not None and ("," in text if more["each"] else _ASKS_TIME.search(asked.text) is not None)
    return behind[more.end() :] if more is not None and says else behind


def _without_answer(said: str, text: str) -> str:
    """`said` without the answer. The `2` of `2^3` is not the answer 2, nor is the `B` of `But` the answer B."""
    return re.sub(rf"(?<![\w^.,]){re.escape(text)}(?![\w^]|[.,]\d)", " ", said)


# A label of a few words in any language, a colon, and perhaps a unit before the amount
_LABELLED = re.compile(
    r"[\s*_$#]*[^\s\d:：.$]+(?:\s[^\s\d:：.$]+){0,2}\s*[*_]*[:：][\s*_$\\(]*(?:[^\W\d_]{1,14}\s)?[$\\(\s]*"
)


_LONGEST_LABEL = 80


# Words that mean `all but the next value`, unlike the denial of `43, not 42`
_ALL_BUT = word_set("but besides except point without sem")


def _denied_when_repeated(behind: str, text: str) -> str:
    """The denying word before the answer if `behind` repeats it: `not` for `No, it is not 42`; else empty."""
    said = rf"(?P<word>[^\W\d_]+(?:['’]t)?)[\s$*]*(?:\\\()?\s*{re.escape(text)}(?!\w|[.,]\d|\s*[-+*/^])"
    for found in itertools.islice(re.finditer(said, behind), _MOST_SENTENCES) if text in behind else ():
        word = found["word"].lower()
        if (denies(word) and word not in _ALL_BUT) or _DENIES_UNSPACED.search(word[-_LONGEST_DENIAL:]) is not None:
            return word
    return ""


def _restates(sentence: str, text: str) -> bool:
    """Whether a sentence states the answer again behind a label, and no word denies it: `คำตอบ: 95 บาท`."""
    if not text:
        return False
    before, _, behind = sentence.partition(text)
    words = WORDS.findall(sentence.lower())
    if (
        len(before) > _LONGEST_LABEL
        or _LABELLED.fullmatch(before) is None
        or len(WORDS.findall(behind)) > 2
        or any(map(str.isdigit, behind))
    ):
        return False
    return CALLS_WRONG.search(sentence) is None and not any(map(is_adverse, words))


def _unexplained(sentence: str, text: str, asked: Asked) -> str:
    """The answer's sentence up to a colon, if a calculation with the question's numbers follows it; else all of it.

    `7 are left` for `7 are left: she had 12 and ate 5`.
    """
    said, _, reason = sentence.partition(":")
    explains = repeats_given(reason, f"{text} {asked.text}")
    return said if explains and not _adverse(WORDS.findall(reason.lower()), asked) else sentence


def _own_sentence(behind: str) -> tuple[str, str]:
    """The rest of the answer's own sentence, and the sentences behind it.

    ` apples. They are red.` gives `apples.` and ` They are red.`; behind a line break the first of the two is empty.
    """
    closing = CLOSING.match(behind)
    gap = closing[0] if closing is not None else ""
    words = behind[len(gap) :]
    if not words.strip():
        return "", ""
    # a new sentence begins behind a new line or a display formula
    begins = "\n" in gap or (("$$" in gap or "\\]" in gap) and words[:1].isupper())
    if words[:1] == "." and not words[1:2].isdigit():
        begins, words = True, words[1:]
    stop = None if begins else SENTENCE_END.search(words)
    end = 0 if begins else len(words) if stop is None else stop.end()
    return words[:end], words[end:]


_SAYS_YES = re.compile(r"(?<![^\W_])(?:yes|true|ja|oui|sí|sim|да|tak|evet)(?![^\W_])")
# How a sentence begins that gives the right answer instead; and (`IN_FACT`) one that may or may not do so
INSTEAD = (
    r"on (?:second thoughts?|reflection)|thinking again|oder doch|à la réflexion|pensándolo bien|ripensandoci"
    r"|pensando bem|если подумать|actually|rather|better|make (?:that|it)|besser|vielmehr|plutôt|mieux|más bien|mejor"
    r"|piuttosto|скорее|melhor|meglio|лучше"
    r"|eigentlich|in wirklichkeit|en réalité|en realidad|in realtà|na verdade|на самом деле|aslında"
    r"|w rzeczywistości|其实|实际上|事实上|実は|사실은?"
)
IN_FACT = re.compile(
    rf"\W*(?:(?:or|oder|ou|o|или)\s)?(?:(?P<instead>{INSTEAD})"
    r"|(?:in (?:fact|truth)|tatsächlich|en fait|de hecho|infatti))"
    r"(?![^\W_\u3000-\u9fff\uac00-\ud7a3])\W*"
    r"(?P<said>.*)",
    re.IGNORECASE | re.DOTALL,
)
_SAYS_NO = re.compile(
    r"\W*(?:no|nope|nein|non|нет|nej|nee|nie|hayır|tidak|いいえ|不|아니요?)\s*[,，、]\s*\w", re.IGNORECASE
)
_IS_ANOTHER = re.compile(r"\b(?:is|was|be) (?:another|a different|some other)\b", re.IGNORECASE)
_BACK = word_set("it's isn't lo si yes ja oui sí да doch yo ello sie es ist")


def _contradiction(sentence: str, text: str, asked: Asked, *, itself: bool) -> str:
    """The words of a sentence that contradict the answer before it: `In fact it is not`; empty if there are none.

    Args:
        sentence: a sentence behind the answer.
        text: the answer.
        asked: the question.
        itself: whether the answer itself denies; then a sentence such as `No, it is not` confirms it.
    """
    if (
        any(map(str.isdigit, sentence))
        or FORMULA.search(sentence) is not None
        or _without_answer(sentence, text) != sentence
    ):
        return ""
    if _SAYS_YES.search(text.lower()) is not None:
        own = WORDS.findall(sentence.lower())
        if any(map(denies, own)) and all(word in _OF_DENIALS or denies(word) or asked.says(word) for word in own):
            return sentence.strip()
    if (said := (None if itself else _SAYS_NO.match(sentence)) or _IS_ANOTHER.search(sentence)) is not None:
        return said[0].strip()
    begun = IN_FACT.match(sentence)
    words = [] if begun is None else WORDS.findall(begun["said"].lower())
    if begun is None or not 0 < len(words) <= MOST_WORDS:
        return ""
    only_denies = all(word in _OF_DENIALS or word in _BACK or denies(word) for word in words)
    return sentence.strip() if begun["instead"] or only_denies else ""


_TURNS_BACK = re.compile(r"\W*(?:however|but|wait|actually|no|oops|sorry)\b", re.IGNORECASE)


def _denial_of_words(text: str, first: str, rest: str, before: str, asked: Asked) -> str:
    """The words that deny an answer without a number, or call it wrong; empty if there are none.

    `false` in `However, this is false.` An answer may itself deny, as `not prime` does; then further denials confirm
    it.

    Args:
        text: the answer.
        first: the rest of its own sentence.
        rest: the sentences behind that.
        before: the text before the answer.
        asked: the question.
    """
    itself = any(map(denies, WORDS.findall(text.lower())))
    said = [first, *(one for one in SENTENCE_END.split(rest) if one.strip())][:_MOST_SENTENCES]
    # `However, this is false, because …`
    clauses = [clause for one in said if _TURNS_BACK.match(one) is not None for clause in re.split("[,;]", one)[:2]]
    for sentence in [*said, *(one for one in clauses if one.strip())]:
        denied = _denied_whole(sentence, f"{asked.text} {before[-WINDOW:].lower()}")
        # a further denial confirms an answer that itself denies, except for `this is not the answer`
        led = sentence is first and sentence[:1] not in ",，" and re.search(_ANSWER, lead_of(before)) is not None
        confirms = itself and denies(denied) and not led and re.search(_ANSWER, sentence.lower()) is None
        if denied and not confirms and CALLS_WRONG.search(text) is None:
            return denied
        if sentence is not first and (turn := _contradiction(sentence, text, asked, itself=itself)):
            return turn
    first = _REASONED.split(first)[0]
    # an aside such as `(not absolutely)` does not deny the answer
    aside = _BRACKETED.match(first)
    if aside is not None and _denies_another_word(WORDS.findall(aside["said"].lower())):
        first = first[aside.end() :]
    found = CALLS_WRONG.search(first) or (None if itself else _TURNED.search(first))
    return found[0] if found and asked.text and found[0].lower() not in asked.text else ""


_CHECKS_OUT = re.compile(r"\bchecks? out\b")


def _taken_back_later(rest: str, text: str, asked: Asked) -> str:
    """The words of a later sentence that take the answer back: `wrong` in `That is wrong.`; empty if none do.

    Args:
        rest: the sentences behind the answer's own.
        text: the answer.
        asked: the question.
    """
    sentences = [one for one in SENTENCE_END.split(rest) if one.strip()]
    if len(sentences) > _MOST_SENTENCES:
        # nobody goes on for so long behind an answer
        return sentences[_MOST_SENTENCES].strip()[:LAST_WORDS]
    for sentence in sentences:
        words = WORDS.findall(_CHECKS_OUT.sub("checks", FORMULA.sub(" ", sentence).lower()))
        if words[:1] == ["i"] and len(words) <= _MOST_REMARKED and any(denies(w) or DOUBTS.match(w) for w in words):
            # the writer has no answer, or doubts it
            return " ".join(words)
        if (but := _BUT_UNSPACED.match(sentence)) is not None:
            return but[1]
        at_once = CALLS_WRONG.match(sentence.lstrip())
        if at_once is not None and at_once[0].lower() not in asked.text:
            return at_once[0]
        if found := _called_wrong(sentence, words, asked) or _denied_whole(sentence, asked.text):
            return found
        if found := _called_wrong_beside_number(sentence, asked):
            return found
        if not any(map(str.isdigit, sentence)) and (found := _unknown_remark(sentence, words, text, asked)):
            return found
    return ""


def _unknown_remark(sentence: str, words: Sequence[str], text: str, asked: Asked) -> str:
    """The first word of a sentence behind the answer that is not understood, and so might change it; empty if none.

    Empty, too, for a sentence with nothing that could change the answer: `Let me know if you need help.` What follows
    a `because` is not read.
    """
    if _excludes_others(sentence) or (_OFFERS_HELP.search(sentence) and not any(map(is_number_word, words))):
        return ""
    if re.search(_ANSWER, sentence.lower()) is None:
        # the beginning of a sentence may count what is known: `All four pairs`; not so in `It should be all five`
        at = next((at for at, word in enumerate(words) if word not in _COPULAS), 0) + 1
        counts = {*words[at : at + 1]} if _is_given_number(words, at, asked, text) else set[str]()
        words = [word for word in words if word not in counts]
        sentence = WORDS.sub(lambda word: "" if word[0].lower() in counts else word[0], sentence)
    # `This is the radius` may say what the answer is
    knows = _is_understood if words and words[0] in _IT else _understands
    begun = IN_FACT.match(sentence)
    is_instead = begun is not None and begun["instead"] is not None
    if not is_instead and not _clauses_turn(f",{sentence.lower()}", text, asked, is_cut=False):
        return ""
    for at, word in enumerate(words):
        if word in REASONS and at:
            return ""
        if IS_UNSPACED.search(word) is not None or IS_HANGUL.search(word) is not None:
            if unsaid := _unknown_run(word, asked):
                return unsaid
        elif not (knows(word, asked) or word in _PLACES or (at and word in SUPPOSES_FIRST)):
            return word
    return ""


_IS_TO_BE = re.compile(r"\b(?:to be|(?:have|has) to)\b")
_FEWEST_TELLING = 4


_IT = word_set("this that it these which they das dies es ce cela c'est esto es isto questo это đây")

# What bounds or shifts a value in a clause, beside what points back
_SHIFTS_ASIDE = word_set(
    """respectively times give take before after per excluding including omitting minus plus over under rounded
    best worst typo overestimate underestimate decoy herring placeholder cube if when unless until bluff dozen dozens
    some about around maybe least most nearest reverse corrected theory solver"""
)


# A sentence to the reader, who may ask for more
_OFFERS_HELP = re.compile(
    r"\A\W*(?:(?:please )?(?:let me know|feel free)|would you like|do you want|if you (?:want|would like|need|have"
    r"|prefer|wish)|if anything|happy to|falls du|wenn du|melde dich|ich hoffe|n['’]hésite|j['’]espère|espero que"
    r"|si tienes|si tiene|spero che|se hai|espero ter|se tiver|надеюсь|если (?:у вас|есть))\b(?!.*\b(?:answer|value"
    r"|result|correct|actual|real|right|antwort|réponse|respuesta|risposta|resposta|ответ)\b)",
    re.IGNORECASE | re.DOTALL,
)


def _excludes_others(sentence: str) -> bool:
    """Whether a sentence says that there is no other answer, and so confirms this one: `No other number fits.`"""
    words = WORDS.findall(re.split("[,;，；]", sentence.lower())[0])
    denied = next((at for at, word in enumerate(words) if denies(word)), len(words))
    has_number = any(map(is_number_word, WORDS.findall(sentence))) or any(map(str.isdigit, sentence))
    return not _OTHERS.isdisjoint(words[denied + 1 : denied + 4]) and len(words) <= _MOST_REMARKED and not has_number


def _denied_whole(sentence: str, context: str) -> str:
    """The denying word of a sentence that says only that the answer is wrong: `not` in `This is not the answer.`

    Empty for a sentence about anything else.

    Args:
        sentence: a sentence behind the answer.
        context: the question. A word such as `wrong` that it contains does not count.
    """
    words = WORDS.findall(sentence.lower())
    if (mistook := _MISTOOK.search(sentence)) is not None:
        return mistook[0]
    if _NAMES_ITS_OWN.search(sentence) is not None or not 0 < len(words) <= _MOST_REMARKED:
        return ""
    found = CALLS_WRONG.search(sentence) or _WITHDRAWS.search(sentence)
    if found is not None and (found[0].lower() in context or _NOTHING.search(sentence, 0, found.start()) is not None):
        return ""
    wrong = found[0] if found is not None else ""
    if IS_UNSPACED.search(sentence) is not None or IS_HANGUL.search(sentence) is not None:
        # in a language without spaces, only a short sentence is about nothing but the answer
        denied = wrong or next(iter(_DENIES_UNSPACED.findall(sentence)), "")
        return denied if denied and len("".join(words)) <= _LONGEST_DENIAL else ""
    wrong = wrong or next(filter(denies, words), "")
    if found is not None and found.re.pattern == _WITHDRAWS.pattern and len(words) <= MOST_WORDS:
        return wrong
    ours = all(one in _OF_DENIALS or denies(one) or CALLS_WRONG.search(one) or _WITHDRAWS.search(one) for one in words)
    return wrong if ours and _MORE.isdisjoint(words) else ""


def is_neutral(word: str) -> bool:
    """Whether a lower-case word states nothing by itself and denies nothing, such as the words of `see above`."""
    return (word in _OF_DENIALS or word in ("see", "above", "below", "here")) and not denies(word)


def _called_wrong(sentence: str, words: Sequence[str], asked: Asked) -> str:
    """The word of a short sentence that calls the answer wrong: `wrong` in `That is wrong.`; else empty.

    A sentence such as `Nothing is wrong here.` confirms the answer, and one with digits is not read.
    """
    is_read = len(words) <= MOST_WORDS + 1 and not any(map(str.isdigit, sentence))
    found = CALLS_WRONG.search(sentence) if is_read else None
    if found is None or found[0].lower() in asked.text or _NOTHING.search(sentence[: found.start()].rpartition(",")[2]):
        return ""
    return found[0]


# What parts a clause from the number that follows it; and how a clause begins that is about the answer
_GOES_ON_TO_NUMBER = re.compile(
    r"[,;:，；：。—–]|\b(?:because|since|as|so|but|and|denn|weil|car|porque|perché)\b", re.IGNORECASE
)
_OF_THE_ANSWER = re.compile(
    r"\W*(?:(?:oh|no|but|actually)\W+)*(?:(?:that|this|it|the (?:above|box|boxed|answer|result|value)|das|dies|es"
    r"|ce(?:la)?|ça|eso|esto|no es|questo|isso|isto|это|to|bu|đó|dat|det|هذا)\b|这|那|上|これ|이것)",
    re.IGNORECASE,
)


def _called_wrong_beside_number(sentence: str, asked: Asked) -> str:
    """The words that call the answer wrong in a clause before a number: `not right` in `that is not right, it is 43`.

    Empty if there are none.
    """
    if not any(map(str.isdigit, sentence)):
        return ""
    for clause in _GOES_ON_TO_NUMBER.split(sentence):
        if any(map(str.isdigit, clause)):
            break
        if _OF_THE_ANSWER.match(clause):
            words = WORDS.findall(clause.lower())
            if found := _called_wrong(clause, words, asked) or _denied_clause(clause, words, asked):
                return found
    return ""


def _denied_clause(clause: str, words: Sequence[str], asked: Asked) -> str:
    """The clause, if it only denies that the answer is what is asked for: `This is not the right plane`; else empty."""
    known = (word in _OF_DENIALS or word in _IT or asked.says(word) or denies(word) for word in words)
    return clause.strip() if any(map(denies, words)) and all(known) else ""


def _first_turn(sentence: str, text: str, asked: Asked) -> str:
    """The first word in the rest of an answer's sentence that denies or changes it or is not understood; else empty.

    `squared` in `5 apples squared`, `too` in `5 is too small`.

    Args:
        sentence: the rest of the answer's sentence.
        text: the answer.
        asked: the question.
    """
    another = _DENIES_ANOTHER.match(sentence)
    if another is not None and (another["word"] is None or another["word"] in DENIES):
        return ""
    whole = _SUFFIX.sub("", sentence)
    sentence = FORMULA.sub(" ", whole)
    words = [word.lower() for word in WORDS.findall(sentence)]
    if len(words) == 1 and denies(words[0]):
        return str(words[0])
    if wrong := _called_wrong(sentence, words, asked):
        return wrong
    operates = _OPERATES_BEHIND.match(sentence.lower())
    if operates is not None and operates[0].strip() not in asked.text:
        word, _, than = operates[0].strip().partition(" ")
        if than != "than" or not asks_difference(word, asked.text):
            return operates[0].strip()
    if words and SCALES.search(words[0]) and not asked.has(words[0]):
        return str(words[0])
    if len(words) > 1 and words[0] in _COPULAS and denies(words[1]):
        return str(words[1])
    if len(words) > 1 and words[0] in _COPULAS and not (words[1] in _DEFINITE or asked.says(words[1])):
        # `is too small`, `is an upper bound`; only a definite phrase identifies the answer: `is the answer`
        return str(words[1])
    # from the next number on, the sentence is about that number
    said = re.split(r"\d", sentence.lower(), maxsplit=1)[0]
    words = WORDS.findall(said)
    if asked.text and not _clauses_turn(said, text, asked, is_cut=len(said.rstrip()) < len(whole.rstrip())):
        words = WORDS.findall(_CLAUSE_BEGINS.split(said)[0])
    end = next((at for at, word in enumerate(words) if word in REASONS), len(words))
    if (number := next((word for word in words[end:] if _is_large(word) and not asked.says(word)), "")) != "":
        # a reason with a number of its own
        return number
    return _adverse(words[:end], asked) or (_unknown(words[:end], said, asked, text) if asked.text else "")


def _is_given_number(words: Sequence[str], at: int, asked: Asked, text: str) -> bool:
    """Whether the word at `at` counts what is known: `the five people`, if the question has a 5.

    Or the answer's own values: `All four pairs`, if it has four.
    """
    if not 0 < at < len(words) - 1 or not is_number_word(words[at]) or words[at - 1] not in _ALL_OF:
        return False
    values = text.rpartition("=")[2]
    listed = len(_POINT.findall(values)) or len(_PARTS_VALUES.split(values))
    known = {*_DIGITS.findall(asked.text), *([str(listed)] if listed > 1 else [])}
    is_given = {str(one) for one in numbers_said(words[at])} <= known
    return is_given and asked.says(words[at + 1]) and _ADDS.isdisjoint(words[:at])


_POINT, _PARTS_VALUES = re.compile(r"\([^()]*\)"), re.compile(r"[,;，；、]")
_ALL_OF, _ADDS = word_set("the all these those"), word_set("and or plus with but nor than minus times")


def _is_large(word: str) -> bool:
    """Whether a word is a number over twelve, `twenty`. A reason may count in smaller ones: `it has three parts`."""
    return is_number_word(word) and max(numbers_said(word), default=0) > _DOZEN


_DOZEN = 12


def _unknown(words: Sequence[str], said: str, asked: Asked, text: str = "") -> str:
    """The first word behind an answer, in its own sentence, that is not understood; empty if there is none.

    Behind a preposition, two unknown words are allowed: `in the old hall`. What is counted must be a word of the
    question, because another noun might change the value: `factorial`, `squared`.

    Args:
        words: the words of the sentence.
        said: the sentence; without spaces between its words, it is read up to its first comma.
        asked: the question.
        text: the answer.
    """
    clause, opened, closes, unknown = False, False, False, 0
    explains = False
    if any(IS_UNSPACED.search(word) is not None for word in words):
        words = WORDS.findall(re.split("[，,、；]", said)[0])
    for at, word in enumerate(words):
        closes = closes or _CLOSES.match(word) is not None
        if word in _SHIFTS_ASIDE and word not in _UNDERSTOOD and not asked.says(word):
            return word
        if word in OPENS or word in _PLACES or (word in _OF and ":" not in text):
            clause, opened, unknown = word in _BEGINS_CLAUSE, True, 0
            # what names the answer is no explanation: `as the area`
            explains = word not in _NAMING and word not in _OF
        elif IS_UNSPACED.search(word) is not None or IS_HANGUL.search(word) is not None:
            if unsaid := _unknown_run(word, asked):
                return unsaid
        elif not (
            (_understands(word, asked) if explains else _is_understood(word, asked))
            or _is_given_number(words, at, asked, text)
            or (closes and _FORESEEN.match(word))
        ):
            unknown += 1
            if not opened or clause or unknown > _MOST_UNKNOWN or _is_number(word):
                return word
    return ""


_CLAUSE_BEGINS = re.compile(r"[,;:،؛、，；：(（—–](?=\D)")
# A remark of a few words in brackets or behind a dash is of the answer's own clause, in any language: `— 제외`
_UNSPACED = r"\u3040-\u9fff\uac00-\ud7a3"
_LETTERS = rf"(?:(?:[a-zA-Z'-]|[^\x00-\x7f（）：，、。；{_UNSPACED}])++|[{_UNSPACED}]{{1,6}}+)"
_FEW = rf"\s*{_LETTERS}(?:\s{_LETTERS}){{0,2}}\s*"
_FEW_WORDS = re.compile(rf"[(（\[【{{]{_FEW}[)）\]】}}]|[—–]\s{_FEW}(?:[.!。\n]|\Z)")
# What begins a word that calls a check failed, or the answer to be worked on or crossed out
_UNDONE = re.compile(
    # a check that fails, and what is crossed out
    r"extran|spurious|violat|contr[ae]d|contrar|widerspr|absurd|échou|fall[ao]\Z|étrang|посторон|obc[yeia]+\Z|barré|riscad"
    r"|зач[её]рк|tachad|(?:durch)?gestrichen"
    # what is left to do
    r"|remain|rest\Z|resolver\Z|encore\Z|todavía\Z|ainda\Z|ancora\Z|jeszcze\Z|ещ[её]\Z|ajout|añad|sumar|restar|aggiung|adicion"
    r"|(?:multiply|subtract|deduct|add|negate)\Z|halv|hinzu|прибав|добав|вычест|умнож|müss|muss\Z|sollt|devr|deb(?:e|ería)\Z|dovr|должн|powin|vertausch|échang"
    r"|intercambi|перепут|zamien|scambi|fehl|verfehl|manqu|falta|manca|недоста"
    # what bounds it, or only may be
    r"|unknown|respect|rispett|может\Z|może\Z|maybe|kanske|misschien|možná|belki|mungkin|talán|along\Z|salvo\Z|sauf\Z"
    r"|près\Z|dizain|docena|dutzend|плюс|десятк|top\Z|tranne\Z|außer\Z|кроме\Z|без\Z|ohne\Z|sans\Z|senza\Z"
    r"|según\Z|selon\Z|secondo\Z|segundo\Z|estim|depending|abhäng"
    r"|zależ|зависим"
    # what would be right
    r"|different|ander[aes]|richtig|corr[eé]ct|corrett|giust|верн|правильн|prawidł|doğru|správn|riktig|juist|helyes"
)
_TURNS_RUN = re.compile(
    "[应反重望实乘加减除再还還两二三四五六七八九十百千双]|答案|正[确解]|其[他它]|更正|矛盾|増根|增根|失败|他の|다른|정답"
)


@lru_cache(maxsize=8_192)
def _turns_alone(word: str) -> bool:
    """Whether one word of a different clause may deny or change the answer: `halved`, `instead`."""
    if IS_UNSPACED.search(word) is not None or IS_HANGUL.search(word) is not None:
        return CHANGES_UNSPACED.search(word) is not None or _TURNS_RUN.search(word) is not None
    return (
        is_adverse(word)
        or word in _OTHERS
        or word in _TURNING_BACK
        or _UNDONE.match(word) is not None
        or OPERATES_SOON.search(word) is not None
        or _WITHDRAWS.search(word) is not None
        or (word not in _UNDERSTOOD and (word in _SHIFTS_ASIDE or SOUGHT.search(word) is not None))
    )


def _clauses_turn(said: str, text: str, asked: Asked, *, is_cut: bool) -> bool:
    """Whether the clauses behind an answer may deny or change it, as `, but halve it` does.

    If so, the caller reads each word of them; if not, it passes over them.

    Args:
        said: the rest of the answer's sentence, up to the next number.
        text: the answer.
        asked: the question.
        is_cut: whether `said` ends at a number, behind which the sentence goes on.
    """
    if _FEW_WORDS.search(f"{said}0" if is_cut else said) is not None:
        return True
    clauses = _CLAUSE_BEGINS.split(said)[1:]
    gives = is_cut and clauses and _gives_value(WORDS.findall(clauses[-1]), asked)
    return bool(gives) or any(_turns_answer(one, text, asked) for one in clauses)


def _gives_value(words: Sequence[str], asked: Asked) -> bool:
    """Whether words lead to a value of what is asked for: `, and the probability of rain is`."""
    says = any(len(one) > _SHORT and asked.says(one) for one in words[:-1])
    return says and words[-1] in _STATES_LAST


def _turns_answer(clause: str, text: str, asked: Asked) -> bool:
    """Whether a clause behind an answer may deny or change it: ` instead of it`.

    So does a number that the answer does not have.
    """
    words = WORDS.findall(clause.replace("i.e.", " ").replace("in other words", " "))
    if _IS_TO_BE.search(clause) is not None or not _FRACTIONS.isdisjoint(words):
        return True
    if words and words[-1] in _COMPARED:
        return True
    if words and words[0] in _DEFINES and (words[1:2] == [] or words[1] in VERBS or len(words[1]) == 1):
        return True
    # a reason may count in small numbers: `since it has three parts`
    is_reason = not REASONS.isdisjoint(words[:1]) or words[:2] == ["ya", "que"]
    # a formula with letters is not worded as numbers
    is_formula = _IS_FORMULA.search(_COMMAND.sub("", text)) is not None and _SUBJECTS.isdisjoint(words)
    turning = [
        at
        for at, word in enumerate(words)
        if not (is_formula and (word in _ORDINALS or _is_number(word)))
        and (
            (_names_number(words, at, text, asked) and not (is_reason and not _is_large(word)))
            # `a real image`, and `se decompõe`
            or (
                not (at and word in SUPPOSES_FIRST)
                and not (word == "real" and _UNDERSTOOD.isdisjoint(words[at + 1 : at + 2]))
                and _turns_alone(word)
                and not asked.has(word)
                and not asked.means_else(word)
            )
        )
    ]
    excludes = any(denies(word) and word not in _EXCEPTING for word in words) and not _OTHERS.isdisjoint(words)
    if turning and (excludes or _denies_else(words, turning[0], asked)):
        turning = [at for at in turning if words[at] not in _OTHERS and not denies(words[at])]
    # `two fifths` may word a fraction, but `half of this` never words a whole number
    told = [at for at in turning if words[at] not in _TURNING_BACK or not text.isdecimal()]
    said = ((at, {*map(str, numbers_said(words[at])), PARTS_ABROAD.get(words[at], "")} - {""}) for at in told)
    parts = {at for at, numbers in said if numbers and numbers <= _numerals(text)}
    return bool({*turning} - parts)


def _denies_else(words: Sequence[str], at: int, asked: Asked) -> bool:
    """Whether the denial at `at` is about a different subject than the answer: `friction plays no role`."""
    if not denies(words[at]) or words[at] in _EXCEPTING:
        return False
    subject = words[:at]
    if any(map(_CLOSES.match, subject)):
        return False
    told = [
        word
        for word in subject
        if len(word) >= _SHORT and (asked.says(word) or not _understands(word, asked)) and not SOUGHT.search(word)
    ]
    return len(words) >= _FEWEST_TELLING and bool(told) and _SUBJECTS.isdisjoint(subject)


_SUBJECTS = (_IT | _BACK) - {"that", "which", "es", "è", "é"}
# the last word of a clause by which the number is a different one: `the ways are more`
_COMPARED = word_set("more fewer less larger smaller greater higher lower bigger más menos mehr weniger plus moins")
_FRACTIONS = word_set("halves thirds fourths fifths sixths sevenths eighths ninths tenths")
_EXCEPTING = word_set("but except besides without sem nobody none")


# Numbers up to ten, but for one, in languages whose number words are not read
_NUMBER_ABROAD = re.compile(
    r"dwa|dwie|trzy|cztery|pięć|sześć|siedem|osiem|dziewięć|dziesięć|dva|tři|čtyři|pět|šest|sedm|osm|devět|deset"
    r"|iki|üç|dört|beş|altı|yedi|sekiz|dokuz|twee|drie|vijf|zes|zeven|negen|tien|två|fyra|fem|sju|åtta|nio|tio"
    r"|dua|tiga|empat|lima|enam|tujuh|delapan|sembilan|sepuluh|bốn|sáu|bảy|tám|chín|mười|п['’]ять|шість|сім|вісім|десять"
    r"|kettő|három|négy|öt|hét|nyolc|kilenc|tíz|doi|două|trei|patru|șase|șapte|zece|δύο|τρία|τέσσερα|πέντε|έξι|επτά|οκτώ|δέκα"
    r"|(?:و|ال)?(?:اثن|ثلاث|أربع|خمس|ست|سبع|ثمان|تسع|عشر)\w{0,3}|سه|چهار|پنج|شش|هفت|هشت|نه|ده"
    r"|दो|तीन|चार|पाँच|पांच|छह|सात|आठ|नौ|दस|দুই|তিন|চার|পাঁচ|ছয়|সাত|আট|নয়|দশ|mbili|tatu|nne|tano|sita|saba|nane"
)


@lru_cache(maxsize=64)
def _numerals(text: str) -> frozenset[str]:
    r"""The numbers, in digits, whose words may state an answer: for `25%` also `1`, `4` and `100`, as in `a quarter`.

    Of `\frac23` they include `2` and `3`. Empty if the answer has letters beside LaTeX commands.
    """
    plain = _COMMAND.sub("", text)
    if _LETTER.search(plain) is not None:
        return frozenset()
    found = {*_DIGITS.findall(text), *(re.findall(r"\d", text) if "frac" in text else ())}
    members = _PARTS_VALUES.split(re.sub(r"\\[^a-zA-Z]", "", plain).replace("{,}", "."))
    if len(members) > 1:
        found.add(str(len(members)))
    elif (decimal := _DECIMAL.search(plain)) is not None:
        if decimal[2]:
            found.add(f"{decimal[2]}0")
        if "%" in text:
            share = Fraction(f"{decimal[1]}.{decimal[2] or 0}") / 100
            found |= {str(share.numerator), str(share.denominator), "100"}
    return frozenset(found)


_DECIMAL = re.compile(r"(\d{1,9})(?:(?:[.,]|\{,\})(\d{1,9}))?")
_IS_FORMULA = re.compile(r"[a-zA-Z](?=[^=]*\Z)(?:.*[\^_()\[\]+])|[\^_()\[\]+][^=]*[a-zA-Z][^=]*\Z")
_ORDINALS = word_set("half third thirds quarter fourth fifth")
_LETTER, _COMMAND = re.compile("[A-Za-z]"), re.compile(r"\\[A-Za-z]+(?:\{[^{}]*\})?")


def _is_number(word: str) -> bool:
    """Whether a word is a number in a language that is read: `seven`, `sieben`, `siedem`."""
    return is_number_word(word) or number_in_words([word]) is not None or _NUMBER_ABROAD.fullmatch(word) is not None


def _names_number(words: Sequence[str], at: int, text: str, asked: Asked) -> bool:
    """Whether the word at `at` is a number that the answer lacks, such as `seven` for the answer 5.

    False if it counts a further noun: `the seven dwarfs`.
    """
    word = words[at]
    if not _is_number(word):
        return False
    if (said := number_in_words([word])) is not None or _NUMBER_ABROAD.fullmatch(word) is None:
        values = {str(said[0])} if said is not None else {str(one) for one in numbers_said(word)}
        tens = {f"{one[:-1]}0" for one in _numerals(text)} | {one[-1] for one in _numerals(text)}
        is_abroad = _NUMBER_ABROAD.fullmatch(word) is not None
        if "1" in values or (values and values <= (_numerals(text) | tens if is_abroad else _numerals(text))):
            return False
    counted = words[at + 1] if at + 1 < len(words) else ""
    is_noun = (
        len(counted) > 2
        and counted not in VERBS | OPENS | _SUBJECTS
        and not [*numbers_said(counted)]
        and not _is_number(counted)
        and not _is_understood(counted, asked)
        and number_in_words([counted]) is None
    )
    return not is_noun or counted in JOINS or not at


_STATES_LAST = VERBS | {"هو", "هي"}
_DEFINES = word_set("where donde où onde dove wobei где gdzie waar kde")
# What may point back to the answer, to another candidate, or to what is still done to it
_TURNING_BACK = word_set(
    """i my mine ours me answer value number box frame term other others another else both either neither versions
    instead rather opposite contrary reverse original actual real true truth correct next previous former latter
    example sample exercise format draft estimate guess attempt reading candidate grader teacher student friend
    rival user author model half double twice triple third quarter inverse reciprocal complement negation multiple
    percentage still yet now then remains remaining too off down short away missing extra again meant intended
    joke trick test trap ordering tally must should shall need needs less error errors typo swapped interchanged
    reversed transposed flipped permuted typos slip slips blunder flaw flaws above"""
)
_OF = word_set("di del della dei degli delle dello nella nello do dos das des du")
_NAMING = word_set("as of als como comme come jako как von de di do da del du der des")


def _unknown_run(run: str, asked: Asked) -> str:
    """`run` itself if a part of it is not understood, else empty.

    Args:
        run: text that is written without spaces, such as Chinese, or a Korean word.
        asked: the question, whose words are understood.
    """
    if asked.counts(run):
        return ""
    if IS_HANGUL.search(run) is not None:
        stem = _PARTICLE.sub("", _KNOWN_KOREAN.sub("", run))
        stem = _KOREAN_ENDING.sub("", stem)
        return "" if len(stem) <= 1 or IS_HANGUL.search(stem) is None or stem in asked.text else run
    return "" if all(sign in asked.text for sign in _KNOWN_UNSPACED.sub("", run)) else run


def _understands(word: str, asked: Asked) -> bool:
    """As `_is_understood`, but terms of mathematics, such as `polynomial`, are understood, too.

    For words that cannot be what the answer counts: an unknown noun right behind a number might change it.
    """
    return _is_understood(word, asked) or (_OF_MATHEMATICS.match(word) is not None and not is_adverse(word))


def is_of_mathematics(word: str) -> bool:
    """Whether a lower-case word is a term of mathematics, such as `theorem`, or a participle of its solutions."""
    return _OF_MATHEMATICS.match(word) is not None


def _is_understood(word: str, asked: Asked) -> bool:
    """Whether a word behind an answer is known to be harmless (`altogether`), is the question's, or has no letter."""
    word = BEHIND_NAME.sub("", word)
    one = word[:-1] if len(word) > _SHORT and word.endswith("s") and not word.endswith("ss") else word
    known = word in _UNDERSTOOD or one in _UNDERSTOOD or _CLOSES.match(word) is not None
    return known or not any(map(str.isalpha, word)) or asked.says(word) or asked.counts(word)


def _adverse(words: Sequence[str], asked: Asked) -> str:
    """The first word behind an answer that denies, doubts or changes it, such as `doubled`; empty if there is none."""
    for at, word in enumerate(words):
        if asked.has(word) or asked.means_else(word) or (at and asked.text and word in SUPPOSES_FIRST):
            continue
        if is_adverse(word):
            return word
    return ""


def is_adverse(word: str) -> bool:
    """Whether a lower-case word denies a value, doubts it or changes it: `not`, `perhaps`, `doubled`."""
    if denies(word) or word in SUPPOSES or word in ADVERSE or word in _DONE_LATER or word == "guess":
        return True
    if IS_UNSPACED.search(word) is not None and CHANGES_UNSPACED.search(word) is not None:
        return True
    return CALLS_WRONG.search(word) is not None or (DOUBTS.search(word) is not None and not word.startswith("fail"))


# The rest of a sentence in Latin letters, and whole numbers, that ends the text
_PLAIN_BEHIND = re.compile(
    r"(?:\$\$?| *+\n?+ *+\\[)\]])?(?:\*\*)?"
    r"(?P<said>(?= (?P<first>[a-zA-Z]+)|)"
    r"(?: [a-zA-Z]++(?:'s?(?![a-zA-Z]))?+,?+(?P<number> \d{1,6}+(?= |[.*\s]*\Z))?+)*+)[.*\s]*+\Z"
)
_LATIN = re.compile("[a-z]+")
# A word, and what opens the formula of an answer that is all of it
_PLAIN_LEFT = re.compile(r"[a-zA-Z]{2}(?: (?P<sign>\$|\\\(|)|:?[ \n]{1,5}\\\[ ?\n? {0,4}) ?\Z")
_OPENING = 16
_MOST_OF_QUESTION = 256


class PlainEnd(NamedTuple):
    """The plain words from an answer to the end of the text.

    Attributes:
        said: all of the text, in lower case.
        words: its words.
        first: the first word as it is written.
        has_number: whether whole numbers are among the words.
    """

    said: str
    words: Sequence[str]
    first: str
    has_number: bool


# Called twice for a verdict: when an answer is found, and when it is judged
@lru_cache(maxsize=64)
def plain_end(behind: str) -> PlainEnd | None:
    """The text behind an answer if it is nothing but plain ASCII words, such as `$ dollars every day.`

    None if there is anything else in it, such as a colon or a second sentence.
    """
    rest = _PLAIN_BEHIND.match(behind) if len(behind) <= _AFTER else None
    if rest is None:
        return None
    said = rest["said"].lower()
    return PlainEnd(said, _LATIN.findall(said), rest["first"] or "", rest["number"] is not None)


def _is_harmless(word: str, asked: Asked) -> bool:
    """Whether a word behind a value is understood, and neither denies nor changes it: the question's `dollars`."""
    return not is_adverse(word) and (not asked.text or _is_understood(word, asked))


@lru_cache(maxsize=1_024)
def _harmless_words(asked: Asked) -> Known:
    """The cache of words for which `_is_harmless` is true with this question."""
    return Known(lambda word: _is_harmless(word, asked), most=_MOST_OF_QUESTION)


class PlainSentence(NamedTuple):
    """A value's sentence in which no word can change the value: the words before it, and the text behind it."""

    lead: Sequence[str]
    end: PlainEnd


def plain_sentence(before: str, behind: str, asked: Asked) -> PlainSentence | None:
    r"""The sentence of a value, if all its words are known to be harmless; else None.

    No further check is then needed. Most solutions end so: `Janet makes $\boxed{18}$ dollars every day.`
    """
    opened = _PLAIN_LEFT.search(before, max(len(before) - _OPENING, 0))
    if opened is None or (end := plain_end(behind)) is None or not _closes(opened["sign"], behind, end.words):
        return None
    words = end.words
    if words and (words[0] in _COPULAS or SCALES.search(words[0]) or _OPERATES_BEHIND.match(end.said)):
        return None
    # `or 5`, and `, 5`
    if end.has_number and (words[0] == "or" or "," in end.said):
        return None
    if words and not _harmless_words(asked).has_all(words):
        return None
    lead = leads_plainly(lead_of(before), asked)
    if ("next" in before or "follow" in before) and foretold_wrong(before, asked.text):
        return None
    # before `or` there may be a different answer
    if not lead or lead[-1] == "or" or (not _ANSWERS_PLAINLY.issuperset(lead) and _of_another(lead_of(before), asked)):
        return None
    is_qualified = (len(lead) < 2 or lead[-2] in _IS) and _qualified(before, asked)
    return None if is_qualified else PlainSentence(lead, end)


_ANSWERS_PLAINLY = word_set("so thus hence therefore then we get have the my our final correct answer is")


def stands_plainly(text: str, before: str, behind: str, asked: Asked) -> bool:
    """Whether `text` is a value in a sentence of harmless words: `18` in `Janet makes $18$ dollars every day.`"""
    return IS_VALUE.search(text) is not None and plain_sentence(before, behind, asked) is not None


def _closes(sign: str | None, behind: str, words: Sequence[str]) -> bool:
    r"""Whether an answer's formula ends right behind it: with `$` if `$` opens it, `\)` for `\(`, `\]` for a display.

    Behind a display no more words may follow.

    Args:
        sign: the mark that opens the formula; empty for no formula, None for a display.
        behind: the text behind the answer.
        words: its words.
    """
    if sign is None:
        return not words and behind.lstrip()[:2] == "\\]"
    return (sign == "$") == (behind[:1] == "$") if sign != "\\(" else behind.lstrip(" ")[:2] == "\\)"


# Verbs of many languages that a value follows, or an adverb that bounds or shares it
_IS = word_set(
    """is are was were equals ist sind est sont son è sono é são jest je är er este yra ir nėra είναι становить
    дорівнює là adalah bằng az"""
)


def _qualified(before: str, asked: Asked) -> str:
    """The unknown word between a verb and a value: `alespoň` (at least) in `x je alespoň 5`; empty if there is none."""
    *_, verb, word = ["", "", *before[-LAST_WORDS:].rstrip(" \t\n:$(").lower().rsplit(None, 2)]
    if verb not in _IS or word in _IS or not word.isalpha():
        return ""
    return "" if word in JOINS or word in _SETS_DOWN or _is_understood(word, asked) else word


# How a value is set down: `is written`
_SETS_DOWN = frozenset({"written", "denoted", "represented"})


def _wrong_before(text: str, before: str, asked: Asked) -> str:
    """The words that call a letter or word wrong in the clause before it: `wrong` in `the wrong choice is B`.

    Empty if there are none, if there is no question, or if it asks for a wrong one.

    Args:
        text: the letter or word.
        before: the text before it.
        asked: the question.
    """
    words = WORDS.findall(asked.text)
    if not words or CALLS_WRONG.search(asked.text) or any(map(denies, words)) or "不" in asked.text:
        return ""
    clause = re.split("[,，;；]", lead_of(before))[-1]
    found = CALLS_WRONG.search(clause)
    said = WORDS.findall(clause if found is None else clause[: found.start()])
    denied = any(map(denies, (*said, *WORDS.findall(text.lower()))))
    return found[0] if found is not None and not denied else ""


_CONDITION = re.compile(r"[=<>≤≥≡∈]|\\(?:equiv|[lg]eq?|in|n?mid)(?![a-z])|divisible|multiple of|\b(?:even|odd|prime)\b")
_ASKS_CONDITION = re.compile(
    r"\b(?:for (?:which|what|how many)|when (?:is|are|does|do)|under what|find (?:all|every)|für welche|wann"
    r"|pour quel|para qué|para quais|para que|per qual|при каких|dla jakich|voor welke)\b"
    r"|什么(?:时|条件)|何时|どのような"
)
# Words for the contrary of what is asked for
_CONTRARY = re.compile(
    r"\b(?:los(?:es?|t)|diverges?|undefined|verlier\w*|perd\w*|pierde\w*|проигрыва\w*)\b|输|败|发散", re.IGNORECASE
)
_WHEN = re.compile(
    r"\b(?:(?:exactly|precisely|only|just|genau dann|genau)\s+)?(?:when|if(?:\s+and\s+only\s+if)?|iff|wenn|falls|quando"
    r"|cuando|lorsque|quand|si et seulement si|si y solo si|se e solo se|se e somente se|si"
    r"|тогда и только тогда, когда|при)"
    r"[\s$\\(\[:]*\Z",
    re.IGNORECASE,
)


# `all solutions are given by`
_GIVEN_BY = re.compile(r"(?:(?<=\bis )|(?<=\bare ))given by(?=[\s$\\(\[:*]*\Z)")


# The word before two bounds, with the verb before it
_BETWEEN = re.compile(
    r"(?<![^\W_])(?:(?P<verb>\w+)\s+)?(?:between|zwischen|entre|tra|fra|между|między|tussen|mellan|mellem|mellom|antara|giữa"
    r"|între|mezi)(?=[\s$\\(\[:*]*\Z)|介于(?=[\s$]*\Z)",
    re.IGNORECASE,
)
_AND = "|".join(("[,，和与yeiи]", "and", *joining("and")))
_TWO_BOUNDS = re.compile(rf"[\s$]*[-−]?\d[\d.]*[\s$]*(?:\\text\s*\{{\s*)?(?:{_AND})[}}\s$\\]*[-−]?\d[\d.]*[\s$]*")


def _without_between(text: str, before: str, asked: Asked) -> str:
    """The text before an answer of two bounds, `3 and 5`, with `is` in place of `is between`.

    Unchanged before any other answer. Unchanged, too, if the question does not have the word `between`, because it then
    asks for something else.
    """
    said = _BETWEEN.search(before) if _TWO_BOUNDS.fullmatch(text) is not None else None
    if said is None or denies(verb := (said["verb"] or "").lower()) or is_adverse(verb):
        return before
    word = said[0].rpartition(" ")[2].lower()
    return f"{before[: said.start()]}is" if not asked.text or word in asked.text else before


# A clause that is only about the answer: its noun, what qualifies that, and a verb
_ANSWER = (
    "answer|antwort|réponse|respuesta|resposta|risposta|antwoord|svaret|ответ|odpowiedź|cevap|jawaban|答案|답은|उत्तर"
    "|الجواب"
)
_OF_NOUN = re.compile(
    r"(?:\A|[,，;；:：.!?。！？\n])\W*(?P<front>(?:[^\s\d.,;:!?()$\\]+\s+){0,5}?)"
    r"answer(?P<behind>(?:\s+[^\s\d.,;:!?()$\\]+){0,3}?)[\s:：]*(?<![^\W_])(?:is|are|was|)[\s$\\(\[:：*]*\Z",
    re.IGNORECASE,
)
# Adjectives that do not make a different answer of `answer`, in the language in which that noun is read
_OF_ANSWERS = word_set(
    """numerical numeric unique resulting full best most appropriate official single actual true closest valid sensible
    accurate precise proper nearest sought needed natural rational real complex symbolic analytic algebraic particular
    specific standard combined short quick concise direct obvious intended clean truncated converted corrected revised
    updated derived deduced ultimate definitive consistent logical mathematical practical simplest first second third
    fourth last"""
)
# Words that are harmless with other nouns, but beside `answer` name a different one
_OTHER_ANSWER = word_set("other wrong nothing roughly about approximately old odd even noch encore ancora otro más")
# An example, or a form to fill in: an answer only if the question asks for one of several
_INSTANCE = (
    r"(?:for (?:example|instance)|zum beispiel|z\.\s?b\.|par exemple|por ejemplo|por exemplo|(?:per|ad) esempio"
    r"|например|örneğin|ví dụ|misalnya|na przykład|bijvoorbeeld|till exempel|for eksempel)\b"
    "|例如|比如|例えば|たとえば|예를 들어"
)
_IS_INSTANCE = re.compile(
    rf"(?<![^\W_])(?:{_INSTANCE})[^.!?。\n]*\Z"
    r"|\b(?:format|template|placeholder|example|sample)\s(?:is|would be|looks like|reads)[\s:$*\\(\[]*\Z",
    re.IGNORECASE,
)
_ASKS_INSTANCE = re.compile(
    rf"(?<![^\W_])(?:{_INSTANCE}|(?:example|instance|any|possible|some|such|format|sample)\b"
    r"|(?:give|find|name|write|state|construct|provide|show) (?:me )?(?:an?|one)\b|one (?:of|such)\b"
    r"|beispiel|exemp|ejemplo|esempio|пример|örnek)",
)


# Only a lead with one of these is searched: the noun `answer`, or a part of the words for an example or a form
_HINTS = (
    *("answer", "example", "instance", "beispiel", "exemp", "ejemplo", "esempio", "például", "örneğin", "ví dụ"),
    *("misalnya", "na przykład", "bijvoorbeeld", "till ex", "for eks", "例", "比如", "たとえば", "예를"),
    *("format", "template", "placeholder", "sample", "z.b", "z. b"),
)
_TYPESET = re.compile(r"\\[a-zA-Z]+\s*\{?")


def _of_another(lead: str, asked: Asked) -> str:
    """The words before an answer that make it a different one: `banned` in `the banned answer is`; empty if there are
    none.

    `the format is` and `for example` do so, too, unless the question asks for an example.
    """
    if not any(map(lead.__contains__, _HINTS)):
        return ""
    if (instance := _IS_INSTANCE.search(lead)) is not None and not _ASKS_INSTANCE.search(asked.text):
        return instance[0].strip()
    said = _OF_NOUN.search(_TYPESET.sub(" ", lead) if "\\" in lead else lead)
    front: list[str] = [] if said is None else WORDS.findall(said["front"].lower())
    if front[:1] == ["as"] and not any(_turns_alone(word) or word in _OTHER_ANSWER for word in front):
        # `As a three-digit contest answer`
        return ""
    if len(front) > 1 and front[-1] in SO | _COMPARES:
        return front[-1]
    behind = [] if said is None else WORDS.findall(said["behind"].lower())
    words = [*front, *behind] if OPENS.isdisjoint(behind[:1]) else front
    return next((word for word in words if not _qualifies(word, asked)), "")


_COMPARES = word_set("more less fewer")
_BRACKETED = re.compile(
    r"(?:[\s$*]|\\[)\]])*(?:(?P<dash>[—–]\s)|[(（\[【{])(?P<said>[^()（）\[\]【】{}\d$\\=:]{1,40}?)"
    r"(?(dash)(?:[.!。\n]|\Z)|[)）\]】}])"
)


def _bracketed(behind: str, asked: Asked, is_value: bool) -> str:
    """A remark in brackets right behind an answer, if it denies or changes it or is unknown: ` (half)`; else empty.

    Only remarks of one to three words are read.
    """
    said = _BRACKETED.match(behind)
    words = [] if said is None else WORDS.findall(said["said"].lower())
    if (
        said is None
        or not 0 < len(words) <= _MOST_BRACKETED
        or any(len(one) > _SHORT and asked.has(one) for one in words)
    ):
        return ""
    dangles = len(words[-1]) > 1 and words[-1] in _DANGLES
    if (
        dangles
        or OPERATES_SOON.search(said["said"].lower())
        or _COMPARES.union(_OTHER_ANSWER, SO, _JOINS).issuperset(words)
    ):
        return said["said"]
    if asked.text and is_value:
        # read with the sentence
        return ""
    if _denies_another_word(words):
        return ""
    if all(word in _OF_DENIALS or is_adverse(word) for word in words) and any(map(is_adverse, words)):
        return said["said"]
    return "" if said["said"].strip()[:1].isupper() else _unknown(words, said["said"].lower(), asked)


def _denies_another_word(words: Sequence[str]) -> bool:
    """Whether two words deny a word other than the answer: `not absolutely`."""
    return len(words) == 2 and denies(words[0]) and words[1] not in _UNDERSTOOD and not is_adverse(words[1])


# `as shown above` ends so
_DANGLES = (SHIFTS - word_set("above below before given")) | HANGS | ADVERSE | {"longer"}
_MOST_BRACKETED, _JOINS = 3, word_set("and or")


def _qualifies(word: str, asked: Asked) -> bool:
    """Whether a word beside `answer` still means the answer asked for: `final` does, `wrong` does not."""
    if asked.has(word) or word in _OF_ANSWERS or announces(f"{word} answer"):
        return True
    return _understands(word, asked) and word not in _OTHER_ANSWER and word not in SHIFTS and not is_adverse(word)


def turned(text: str, before: str, behind: str, asked: Asked) -> str:
    """The words around an answer that deny, doubt or change it, or are not understood; empty if there are none.

    `not` for `the answer is not 42`, and `wrong` for `the answer is 42. That is wrong.`

    Args:
        text: the answer.
        before: the text before the answer.
        behind: the text behind it.
        asked: the question, whose words may be used beside the answer.
    """
    if _CONDITION.search(text) and _ASKS_CONDITION.search(asked.text) and not _CONTRARY.search(before[-LAST_WORDS:]):
        # `It wins exactly when \\boxed{n = 3k}`
        before = _WHEN.sub("", before)
    before = _without_between(text, before, asked)
    before = _GIVEN_BY.sub("", before) if "given by" in before else before
    if word := _of_another(lead_of(before), asked) or foretold_wrong(before, asked.text):
        return word
    if word := _bracketed(behind, asked, is_value(text, asked)):
        return word
    if (has_value := is_value(text, asked)) and (word := _qualified(before, asked)):
        return word
    if EXCEPTING.search(before[-LAST_WORDS:].strip(" $x=")) is not None and NO_OTHER.search(behind[:LAST_WORDS]):
        # all other values are excluded: `except 7 there is none`
        return ""
    if QUOTED.search(before[-LAST_WORDS:]) is not None and QUOTE_ENDS.match(behind[:LAST_WORDS]) is not None:
        return "a quotation"
    return (
        strange_before(text, before, asked, has_value)
        or ("" if has_value else _wrong_before(text, before, asked))
        # an empty answer is refused as such, whatever follows it
        or (strange_behind(text, before, behind, asked, has_value) if text else "")
        or supposes_else(before, behind)
    )
