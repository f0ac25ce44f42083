r"""Answers that the words around them take back: `The answer is not \boxed{7}`, `\boxed{7} is wrong`.

A solution may discuss wrong attempts elsewhere. So only a bounded number of words directly before and behind the answer
are read. They are read alike around a box, a tag, a mark or a label.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

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
    r"(?:不是|不为|不等于|不等同于?|并非|绝非|而非|不可能是|不会是|不应该?是|不再是|排除|除了|(?:如果|假设|假如|若|是否)(?:答案|结果)?[是为])$"
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
_WORD_SIGNS = re.compile(r"[^\W_]+")
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


# What a sentence may say of an answer other than that it is the answer, in the languages of the models' solutions. A
# question's own words are not meant: where they ask for the wrong step, it is the answer

# An operation on the answer, as the last words before it
_OPERATES_NEXT = re.compile(
    r"(?:\b(?:(?:a|one|two) (?:third|quarter|fifth|tenth)s? of|le tiers|le quart|drittel|viertel|tercera parte|cuarta"
    r" parte"
    r"|un terzo|un quarto|terça parte|треть|четверть|üçte|phần ba|sepertiga"
    r"|half|twice|double|triple|thrice|tenfold|hälfte|doppelte?|dreifache|moitié|doble|mitad|triplo|metade|dobro"
    r"|metà|doppio|половин\w*|удвоенн\w*|вдвое|в \w+ раза? (?:больше|меньше)|yarısı|iki katı)\b(?=\D*$)"
    r"|(?:[2-9两二三]\s?倍|半分|一半|之半|절반|[두세] ?배|نصف|ضعف|आधा|दोगुना)(?=\D*$)"
    r"|(?:\b(?:(?:at|the) (?:least|most)|(?:more|less|greater|fewer|larger|smaller|bigger|higher|lower) than"
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
    r"|tersi|căn bậc hai của)|负|負|マイナス|ルート|마이너스|음수|루트|根号|سالب|ऋण|ลบ)\W*$)",
    re.IGNORECASE,
)
_STANDS_NEXT = re.compile(r"\W*(?:(?:of|de|von|di)\b\W*)?")
# `at least` and `at most` may be the question's words
_BOUNDS = re.compile(r"least|most|plus|moins|menos|máximo|sumo|almeno|massimo|mindestens|höchstens|至多|至少|最多|最少")
# The clause before an answer supposes it, doubts it, removes it, or gives it as a mistake, an example or a claim
_GIVEN_AS_ELSE = re.compile(
    r"\b(?:naive\w*|flaw\w*|hasty|careless\w*|rival\w*|doubt\w*|unsure|pretend\w*|placeholder|template|instructions?|distractor|trap|eliminat\w+|reject\w*|discard\w*"
    r"|withdraw\w*|withdrew|retract\w*|dismiss\w*|exclud\w*|abandon\w*|rule out|rule|(?:might|may|could) (?:accept"
    r"|say|answer|think)"
    r"|wrong(?:ly)?|incorrect(?:ly)?|mistaken(?:ly)?|erroneous(?:ly)?|mistakes?|errors?|ignor(?:e|es|ed|ing)|forg[eo]t\w*"
    r"|overlook\w*|false that|not true that|suppos(?:e|ing)|neglect\w*|misread\w*|miscount\w*|earlier version"
    r"|format example|example (?:format|output|answer)"
    r"|(?:someone|somebody|others?|people|students?|teacher|author|book|key|friend|he|she|they|model|calculator|website"
    r"|forum) (?:\w+ )?(?:claims?|claimed|answered|answers?|replied|wrote|writes|thinks|thought|believes?|believed"
    r"|says|said"
    r"|gave|gives|suggests?|suggested)|would(?: never)? have (?:\w+ed|been|got|gotten|found|given|had)|must not"
    r"|should not"
    r"|cannot possibly|dud[oa]\w*|duvid\w+|dubit\w+|doute\w*|bezweif\w+|betwijfel\w*|сомнева\w+|wątpi\w*"
    r"|incorrect[oae]s?|equivocad[oa]s?|erróne[oa]s?|erron[ée]\w*|errad[oa]s?|sbagliat[oaie]|errat[oaie]|incorret[oa]s?"
    r"|falsch\w*|irrtümlich\w*|fehler\w*|faux|fausse|erreur\w*|ошиб\w+|неверн\w+|неправильн\w+|yanlış\w*|hatalı|şüphe\w*"
    r"|błęd\w+|помилк\w+|salah|keliru|fout\w*|ignora\w+|olvid\w+|oubli\w+|vergess\w+|vergiss\w*|dimentic\w+|esquec\w+"
    r"|забы\w+|unut\w+|exclu\w+|descart\w+|rechaz\w+|rejet\w+|verwerf\w*|verwirf\w*|ausschließ\w*|scart\w+|escl[uù]\w+|исключ\w+"
    r"|отброс\w+|отверг\w+|hätten?|wären?|aurait|aurions|aurais|hubiér\w+|hubiera\w*|habríamos|avremmo|avrebbe|teríamos|бы)\b"
    r"|\bsai(?=\s|$)|nghi ngờ|nếu|giả sử|loại bỏ|忽略|忘记|漏|错误?|误|假如|假设|难道|是否|怀疑|若[^，,]*$|舍去|撤回"
    r"|間違|誤|疑|もし|仮に"
    r"|除外|틀린|잘못|만약|의심|제외|خطأ|خاطئ|أشك|لو |استبعاد|गलत|अगर|यदि|शक |ผิด|ถ้า|สงสัย|λάθος",
    re.IGNORECASE,
)
_COUNTERFACTUAL = re.compile(r"^\W*(?:had|were) (?:\w+ ){1,3}|\bif \w+ (?:had|were)\b[^.]*\bwould\b", re.IGNORECASE)
# Denials that stand just before what they deny, unless the right value stands behind them: `no es 301 sino`
_DENIES_NEXT = re.compile(
    r"(?:\b(?:no es|no son|no era|non è|não é|nicht|keineswegs|kaum|n['’]est (?:pas|point)|ne vaut pas|niet|nie jest"
    r"|inte|ikke|не|bukan|không phải(?: là)?|chưa phải là|δεν είναι|nu este|ei ole|nem)"
    r"(?: (?!(?:sino|sondern|mais|bensì|mas|но|а|maar|ale|lecz|utan|mà) )[^\W\d]+){0,2}|ليس(?:ت)?|לא)\W*$",
    re.IGNORECASE,
)
# A writer who says that they have no answer, and a short sentence that calls what it follows wrong
_HAS_NONE = re.compile(
    r"\bi (?:\w+ ){0,2}(?:do not know|don['’]t know|could(?: not|n['’]t)|cannot|can['’]t|was(?: not|n['’]t) able"
    r"|am not able|have no\b|have(?: not|n['’]t)|did(?: not|n['’]t) (?:solve|find|finish)|am unable|was unable|give up"
    r"|retract|withdraw|take (?:it|that) back)|\bi (?:do not|don['’]t|would not)[,.;]|\bno (?:final )?answer\b"
    r"|\bno sé\b"
    r"|je ne sais pas|weiß (?:es )?nicht|non lo so|não sei|не знаю|nie wiem|bilmiyorum|không biết|tidak tahu|不知道"
    r"|无法确定|わからない|分かりません|わかりません|모르|모른다|لا أعرف|لا أعلم|नहीं जानता|पता नहीं|ไม่รู้|ไม่ทราบ",
    re.IGNORECASE,
)
_CALLS_WRONG = re.compile(
    r"\b(?:wrong|incorrect|mistaken|false|falsch|faux|incorrecto|equivocado|erróneo|errado|incorreto|sbagliato|errato"
    r"|неверно|неправильно|ошибка|błędne|yanlış\w*|hatalı|salah|keliru|fout|onjuist)\b|\bsai\b|错|误|不对|間違|誤り|틀렸"
    r"|틀린|잘못|خطأ|خاطئ|गलत|ผิด|λάθος",
    re.IGNORECASE,
)
# The words that may stand behind an answer in its sentence, beside the question's: each only says that it is the answer
_SAYS_SO = frozenset(
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
_OPENS = frozenset(
    """because since as which where so when if thus therefore hence and giving making after before by with in on at for
    from of to or oder ou или o per ie eg that using due given while assuming weil da denn wobei und für von car
    puisque donc où pour de et porque pues ya donde para y perché poiché dove pois onde потому так где для çünkü
    için vì nên để karena untuk bo gdyż want omdat over during among between within across throughout until who
    whose""".split()  # noqa: SIM905
)
# The words that may lead to an answer, beside those above and the question's: they say whose it is, or how it was found
_LEADS = (
    _SAYS_SO
    | _OPENS
    | frozenset(
        """we i you he she they there us him her his their them our my your who whose what therefore thus hence then now
    finally indeed also still already overall conclude conclusion summary has have had having can could will would
    should must may do does did been being am get gets got obtain obtains obtained find finds found see know
    give gives gave given yield yields make makes made making take takes took taking need needs needed spend spends
    spent pay pays paid buy buys bought sell sells sold earn earns earned save saves saved use uses used using cost
    costs leave leaves leaving come comes go goes went becomes amounts evaluates simplifies reduces equals arrive
    arrives arrived read reads sum total count counted counting every per back both same calculation
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
_UNSPACED = re.compile(
    r"综上所述|综上|因此|所以|从而|于是|那么|最终|最后|正确|答案|结果|应该|应当|得到|可得|可知|解得|我们|一共|总共|共有|现在|需要|等于|就是|也就是|所求|此时"
    r"|したがって|よって|ゆえに|以上より|求める|正しい|答え|正解|最終的|つまり|すなわち|合計|全部で|結果|である|です|なります|なる"
    r"|ดังนั้น|คำตอบ|เท่ากับ|คือ|จึง|ได้|มี|ทั้งหมด|ผลลัพธ์|รวม|เป็น|ไม่มีกรณีอื่น|[应即故则得解共有是为的值了个数和差积商还就答はがのをにでと個]"
)
_IS_UNSPACED = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff]")
# Verbs that lead to a value as their last word, beside `_LEADS`
_CONNECTS = frozenset(
    """approaches converges contains totals sums holds covers shows reaches remains stays reveals becoming being means
    denotes represents leaving implies read""".split()  # noqa: SIM905
)
# Prepositions that say nothing: the word before them must be understood
_HANGS = frozenset("of to by at from de von di del da do von van i từ be equal in on for than over up".split())  # noqa: SIM905
_RISES = frozenset("add adds sum sums come comes equal equals out end ends make makes work works turns found".split())  # noqa: SIM905
# A run without spaces, or a Korean word, must end so
_ENDS_UNSPACED = re.compile(
    r"(?:[是为有得即于共值答到出解はが]|需要|答案|结果|答え|คือ|เท่ากับ|เป็น|ได้|มี|[은는이가답값총즉]|모두|따라서)\Z"
)
_IS_HANGUL = re.compile(r"[\uac00-\ud7a3]")
# Determiners before a number word: `the two points`, not `two more than`
_BEFORE_NUMBERS = frozenset(
    """the these those all both his her its our their my your of in for with among from at on between first last next
    other only any each every and who which than""".split()  # noqa: SIM905
)
# `not 18 but`: what follows is meant
_CONTRASTS = re.compile(
    r"(?:\bnot\b|n['’]t\b|\bnothing\b|\bno\b|\bnon\b|\bnicht\b|\bpas\b|\bnão\b|\bне\b|\bniet\b|\bnie\b|\binte\b|\bkhông\b).*"
    r"\b(?:but|wait|sino|sondern|mais|mas|bensì|ma|а|maar|ale|lecz|utan|mà là|mà)\W*$"
    r"|(?:而是|아니라|ではなく)\W*$|\bin fact\b",
    re.IGNORECASE,
)
_CUT = re.compile(
    r"\b(?:we|therefore|thus|hence|then|so|and|(?:see|follows|conclude|find|know|means|implies|shows?) that)\b",
    re.IGNORECASE,
)
# Words behind an answer that begin a reason, which is not read
_REASONS = frozenset(
    """because since due weil da denn car puisque porque pues perché poiché pois потому çünkü vì karena bo
    gdyż omdat""".split()  # noqa: SIM905
)
# The words that may stand behind an answer after a word of `_OPENS`
_REMARKS = (
    _SAYS_SO
    | _OPENS
    | frozenset(
        """we i he she they you me there his her their them him have has had all every both any each no other holds case
    cases equality attained fraction decimal percentage
    shown above claimed computed calculated found obtained expected wanted proved asked option
    choice even odd approximately about exact hope helps help let know questions further thanks thank done check
    checked checks out verified confirmed great good luck welcome feel free ask clear therefore finished yes""".split()  # noqa: SIM905
    )
)
_WORDS = re.compile(r"(?![-'])[^\s\d!-&(-,./:-@\[-`{-~。，、！？（）；：।؟–—…“”✓✔✅☑\ufe0f]+")
# Words with a complement, and what must stand between the answer and them
_MORE = frozenset({"more", "less", "fewer"})
_VERBS = frozenset(
    "is are was were be been do does did can could may might should must will would has have had".split()  # noqa: SIM905
)
_COMPLEMENTED: Mapping[str, Callable[[Sequence[str]], bool]] = {
    "than": lambda said: any(word.lower() in _MORE or word.lower().endswith("er") for word in said),
    "not": lambda said: bool(said) and _VERBS.isdisjoint(word.lower() for word in said),
    **dict.fromkeys(("st", "nd", "rd", "th", "square", "cubic"), lambda said: not said),
}
_SPEAKS_OF_ANSWER = re.compile(
    r"answer|result|value|solution|guess|right|correct|wrong|true|truth|false|real|actual|expected|^(?:it|that|this)$"
)
_WORDS_AND_NUMBERS = re.compile(r"\d[\d.,:]*|(?![-'])[^\s\d!-&(-,./:-@\[-`{-~。，、！？（）；：।؟–—…“”✓✔✅☑\ufe0f]+")
_FORMULA = re.compile(r"\$[^$]*\$|\\\(.*?\\\)|\\[a-zA-Z]+\*?(?:\{[^{}]*\})?|[`<][^<>`]*[`>]")
_OWN_FORMULA = re.compile(r"(?:[^$\n]|\n(?!\n)){0,120}?(?P<close>\$\$?|\\[)\]])")
_ANSWER_WORD = re.compile(r"answer|result|value|solution|guess|respuesta|réponse|antwort|ответ|答")
_ADDS_MORE = re.compile(
    r"\W*(?:and|plus|und|et|y|e|и)\s+(?:a|an|one|two|three|half|ein|un|une|uno|una|\d)\b", re.IGNORECASE
)
# `, not 400`
_DENIES_ANOTHER = re.compile(
    r"[,，;；(（]\s*(?:and |und |y |et |而)?(?:not|nicht|no|pas|non|не|不是|ではなく)\s*\$?[-−]?\d", re.IGNORECASE
)
_JSON_KEY = re.compile(r'"([\w -]{1,40})"\s*:\s*"?[\s$\\]*$')
_JSON_ANSWERS = frozenset(
    """answer answers result solution value response output content text boxed final reply message the my your correct
    number integer numeric exact math step s a""".split()  # noqa: SIM905
)
# A suffix that a number takes: `8'dir`
_SUFFIX = re.compile(r"\A['’]\w{1,5}")
_BARE_VERBS = frozenset({"is", "are", "equals", "was", "="})
_OPENED = re.compile(r"(?<!\\)\$|\\[(\[]|<")
_NEGATED = re.compile(r"(?:\\(?:neq?|lnot|neg|not\s*=)(?![a-zA-Z])|[≠¬]|!=)[\s$\\,;!({]*\Z")
_THE_TWO = re.compile(r"\b(?:the|these|those|all) (?:two|three|four|five|six)\b")
_MOST_WORDS, _MOST_REMARKED, _MOST_SIGNS, _SHORT = 5, 12, 36, 4
_SENTENCE_END = re.compile(r"[.!?؟।](?=[\s*_)\]\"'”’}$]|$)|[。！？]|\n")
_CLAUSE_END = re.compile(r"[,;，；、،—–](?=\D|$)|[:：](?=\s|$)")
_OPENERS = re.compile(r"[\s$*_`>#({\[\\|-]*$")


def turned(
    text: str,
    before: str,
    behind: str,
    question: str,
    allows: Callable[[str], bool],
    changes: Callable[[str], bool],
) -> str:
    """What the sentence of an answer says of it other than that it is the answer; empty where it says nothing so.

    Args:
        text: the answer.
        before: the text before the answer.
        behind: the text behind it; its words must be understood.
        question: the task's text; its own words turn no answer round.
        allows: whether a word is the question's, or a unit.
        changes: whether a word is a number or changes one: `ten`, `doubled`.
    """
    asked = question.lower()
    lead = _lead(before)
    clause = _last_clause(lead)
    key = _JSON_KEY.search(before)
    if key is not None and not _JSON_ANSWERS.issuperset(re.findall("[a-z]+", key[1].lower())):
        return key[1]
    is_value = _IS_VALUE.search(text) is not None
    is_read = is_value and asked != ""
    is_known = is_read and not _strange_lead(clause, asked, allows)
    if (denied := _NEGATED.search(before)) is not None:
        return denied[0]
    if found := _turned_before(lead, "" if is_known else clause, asked, is_value):
        return found
    if _EXCEPTING.search(lead.strip(" $")) is not None and _NO_OTHER_BEHIND.match(behind) is not None:
        return ""
    if (
        is_read
        and not is_known
        and not _is_confirmed(lead)
        and (strange := _unled(_cut(clause), asked, allows, changes))
    ):
        return strange
    return _turned_behind(text, behind, asked, allows, changes)


def _last_clause(lead: str) -> str:
    """The part of a sentence that leads to an answer, behind its last comma; a bare verb has its subject before it."""
    cuts = [0, *(cut.end() for cut in _CLAUSE_END.finditer(lead))]
    clause = lead[cuts[-1] :]
    if len(cuts) > 1 and clause.strip(" $*\\") in _BARE_VERBS:
        return lead[cuts[-2] :]
    if not clause.strip(" $*\\") and (len(lead.split()) < _MOST_WORDS or _ANSWER_WORD.search(lead)):
        # a colon, or a comma, right before the answer
        return lead
    return clause


def _turned_before(lead: str, clause: str, asked: str, is_value: bool) -> str:
    """The words before an answer that turn it round: they deny it, suppose it, or operate on it."""
    parts = (_OPERATES_NEXT, lead), (_GIVEN_AS_ELSE, clause), (_COUNTERFACTUAL, lead), (_DENIES_NEXT, clause)
    for pattern, part in parts:
        found = pattern.search(part) if part else None
        if found is None or (pattern is not _OPERATES_NEXT and _is_asked_word(found[0], asked)):
            continue
        if pattern is _OPERATES_NEXT and _STANDS_NEXT.fullmatch(lead, found.end()) and not _BOUNDS.search(found[0]):
            return found[0].strip()
        if (is_value or not _CALLS_WRONG.search(found[0])) and found[0].strip() not in asked:
            return found[0].strip()
    return ""


def _is_confirmed(lead: str) -> bool:
    """Whether the words before an answer deny another one, and so confirm it."""
    excepts = _EXCEPTING.search(lead.strip(" $x=")) is not None and _NO_OTHER.search(lead) is not None
    return excepts or _CONTRASTS.search(lead) is not None


def _cut(clause: str) -> str:
    """The clause from its last subject that is the writer, or its last `so`: `by Vieta we have`."""
    if clause.rstrip(" $*\\")[-1:] in ":：":
        clause = clause[max((cut.end() for cut in _CLAUSE_END.finditer(clause.rstrip(" $*\\:："))), default=0) :]
    cuts = [cut.start() for cut in _CUT.finditer(_FORMULA.sub(lambda math: " " * len(math[0]), clause))]
    return clause[cuts[-1] :] if cuts else clause


def _lead_words(clause: str) -> list[str]:
    said = _FORMULA.sub(" ", clause)
    opened = _OPENED.search(said)
    return _WORDS.findall(said if opened is None else said[: opened.start()])


def _strange_lead(clause: str, asked: str, allows: Callable[[str], bool]) -> str:
    """The first word that leads to an answer and is not understood; empty where all are."""
    return next((word for word in _lead_words(clause) if not _leads(word, asked, allows)), "")


def _unled(clause: str, asked: str, allows: Callable[[str], bool], changes: Callable[[str], bool]) -> str:
    """The word before an answer that does not lead to it, or a number that no word before it determines."""
    words = _lead_words(clause)
    if not words:
        return ""
    if changed := _changed(words, asked, changes):
        return changed
    *front, last = words
    if _IS_UNSPACED.search(last) is not None or _IS_HANGUL.search(last) is not None:
        return "" if _ENDS_UNSPACED.search(last) is not None or _leads(last, asked, allows) else last
    while last in _HANGS and front:
        if front[-1] in _RISES:
            return ""
        last = front.pop()
    if last in ("think", "believe") and front[-1:] in (["i"], ["we"]):
        # their own answer, and not what others think
        return ""
    return "" if last in _CONNECTS or _leads(last, asked, allows) else last


def _changed(words: list[str], asked: str, changes: Callable[[str], bool]) -> str:
    """The first word that changes a value and is neither the question's nor determined, as in `the two`."""
    for at, word in enumerate(words):
        if word in _LEADS or word in _REMARKS or word in _HANGS or word in _BEFORE_NUMBERS or not changes(word):
            continue
        if f" {word} " not in _spaced(asked) and (not at or words[at - 1] not in _BEFORE_NUMBERS):
            return word
    return ""


def _leads(word: str, asked: str, allows: Callable[[str], bool]) -> bool:
    """Whether a word is understood before an answer: it is listed, or said by the question."""
    return word in _LEADS or _is_said(word, asked, allows)


def _is_said(word: str, asked: str, allows: Callable[[str], bool]) -> bool:
    """Whether a word is a name of one letter, a unit, or a form of one of the question's words."""
    if (len(word) == 1 and word.isascii()) or allows(word):
        return True
    if _IS_UNSPACED.search(word) is not None:
        return all(sign in asked for sign in _UNSPACED.sub("", word))
    word = word.removesuffix("'s").removesuffix("’s")
    # inflected words share their beginnings; short ones must be there as they stand
    stem = f" {word[: max(len(word) - 3, 3)]}" if len(word) > _SHORT else f" {word} "
    return stem in _spaced(asked)


@lru_cache(maxsize=256)
def _spaced(text: str) -> str:
    return f" {' '.join(re.findall(_WORD_SIGNS, text))} "


def _is_asked_word(said: str, asked: str) -> bool:
    words = said.lower().split()
    return bool(words) and all(word.strip(",.") in asked for word in words)


def _lead(before: str) -> str:
    """The sentence that leads to an answer, or the heading above it; empty where a sentence has just ended."""
    text = _OPENERS.sub("", before[-_BEFORE * 2 :])
    ends = [end.end() for end in _SENTENCE_END.finditer(text)]
    if not ends and len(before) > _BEFORE * 2:
        # the window begins within a word
        return text.partition(" ")[2].lower()
    return text[ends[-1] if ends else 0 :].lower()


def _turned_behind(
    text: str, behind: str, asked: str, allows: Callable[[str], bool], changes: Callable[[str], bool]
) -> str:
    own = _OWN_FORMULA.match(behind)
    behind = behind[:_AFTER] if own is None else behind[own.start("close") : _AFTER]
    words = _words_behind(behind)
    if not words.strip():
        return ""
    gap = behind[: len(behind) - len(words)]
    stop = _SENTENCE_END.search(words)
    first, rest = (words[: stop.end()], words[stop.end() :]) if stop is not None else (words, "")
    if words[:1] == "." and not words[1:2].isdigit():
        first, rest = "", words[1:]
    if "\n" in gap or (("$$" in gap or "\\]" in gap) and words[:1].isupper()):
        # a new line, or a new sentence behind a formula that stands alone
        first, rest = "", words
    if first[-1:] in "?？؟" and first and _CONFIRMED.match(rest) is None:
        return "?"
    if _IS_VALUE.search(text) is None or text in words:
        # what is wrong may be the answer, and a value that is said again is confirmed
        return ""
    if strange := _strange(first, asked, allows, changes):
        return strange
    rest = rest.strip()
    sentence = rest[: stop.end()] if (stop := _SENTENCE_END.search(rest)) is not None else rest
    short = len(sentence.split()) <= _MOST_WORDS and len(sentence) <= _MOST_SIGNS and sentence[-1:] not in "?？؟"
    short = short and not any(map(str.isdigit, sentence)) and _NO_OTHER.search(sentence) is None
    if asked and "\n" not in gap and not any(map(str.isdigit, sentence)) and len(sentence.split()) <= _MOST_REMARKED:
        unknown = 0 if len(sentence.split()) < _MOST_WORDS else _MOST_REMARKED
        if strange := _unknown_remark(_FORMULA.sub(" ", sentence), asked, allows, changes, unknown):
            return strange
    found = _HAS_NONE.search(sentence) or (_CALLS_WRONG.search(sentence) if short else None)
    return found[0] if found is not None and found[0].lower() not in asked else ""


def _strange(sentence: str, asked: str, allows: Callable[[str], bool], changes: Callable[[str], bool]) -> str:
    """The first word of an answer's sentence behind it that is not understood; empty where all are."""
    if _DENIES_ANOTHER.match(sentence):
        return ""
    sentence = (
        _FORMULA.sub(" ", _SUFFIX.sub("", sentence).replace("i.e.", "ie").replace("e.g.", "eg"))
        .replace("years old", "years")
        .replace("left over", "left")
    )
    if _ADDS_MORE.match(sentence):
        return sentence.split()[0]
    said = [found for found in _WORDS_AND_NUMBERS.finditer(sentence) if not _is_invisible(found[0])]
    words = [found[0].lower() for found in said]
    for place, (found, word) in enumerate(zip(said, words, strict=True)):
        rest = words[place + 1 :]
        if word[0].isdigit():
            # a number of the question's, in its own words: `years old 10 years from now`
            if place == 0 or not re.search(rf"(?<![\d.,]){re.escape(word.strip('.,:'))}(?![\d.]\d)", asked):
                return sentence[found.start() :] if place else ""
        elif word in _COMPLEMENTED:
            # `more than James`, `not in the team`, `18th floor`: what they speak of must be the question's
            understood = _COMPLEMENTED[word](words[:place]) and _is_of_question(rest, asked, allows)
            return "" if understood else found[0]
        elif word in _OPENS and not (word == "over" and rest and rest[0][0].isdigit()):
            if not asked or word in _REASONS:
                return ""
            return _unknown_remark(sentence[found.end() :], asked, allows, changes)
        elif (
            word not in _SAYS_SO
            and not _is_said(word, asked, allows)
            and not (len(said) == 1 and not asked and _is_noun(word))
        ):
            return found[0]
    return ""


def _is_invisible(word: str) -> bool:
    """Half a pair, a null, a mark of the byte order: nobody reads them."""
    return all(unicodedata.category(sign)[0] == "C" for sign in word)


def _is_of_question(words: Sequence[str], asked: str, allows: Callable[[str], bool]) -> bool:
    """Whether words speak of what the question speaks of, and of no answer."""
    speaks = any(_is_said(word, asked, allows) for word in words)
    return speaks and not any(_SPEAKS_OF_ANSWER.search(word) for word in words)


def _unknown_remark(
    said: str, asked: str, allows: Callable[[str], bool], changes: Callable[[str], bool], unknown: int = 1
) -> str:
    """The word of a remark on an answer, before it begins a reason, that is not understood or changes the value.

    Args:
        unknown: how many words need not be understood.
    """
    words = list(map(str.lower, _WORDS.findall(said)))
    reason = next((at for at, word in enumerate(words) if word in _REASONS), len(words))
    if changed := _changed(words[:reason], asked, changes):
        return changed
    strange = [word for word in words[:reason] if word not in _REMARKS and not _is_said(word, asked, allows)]
    return strange[unknown] if len(strange) > unknown else ""


def _is_noun(word: str) -> bool:
    """Whether a single word may be the noun that a value counts, where no question tells: a plural, not a scale."""
    return word.isascii() and word.endswith("s") and not word.endswith(("ions", "ands", "eds", "ens", "ails"))


# Words that say nothing but that the answer follows, wherever they stand
_PLAIN_LEADS = frozenset(
    """the a is are answer answers final therefore thus so hence result value number total sum of we get have obtain
    that this correct solution solutions""".split()  # noqa: SIM905
)


def needs_reading(near: str) -> bool:
    """Whether the sentence before a box has words of which it is not plain that they only lead to it."""
    return not _PLAIN_LEADS.issuperset(near.lower().replace(":", " ").replace(",", " ").split())


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
