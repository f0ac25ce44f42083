"""Numbers in words: in English and Chinese, and whole numbers below a thousand in eleven more languages.

For these languages all spellings are made from a list of the roots, by the grammar of each.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache

from agentscope_tuner.verify import re

# --- English

_MAX_CHARS_SAID, _MAX_DIGITS = 5_000, 40
_SMALL = {
    word: at
    for at, word in enumerate(
        """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
        seventeen eighteen nineteen""".split()  # noqa: SIM905
    )
}
_TENS = {word: 10 * at for at, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), 2)}  # noqa: SIM905
_SCALES = {"hundred": 100, "thousand": 1_000, "million": 10**6, "billion": 10**9}
# Words that imply a number: `twice as many`, `a dozen eggs`
_MEANT = {
    "half": 2, "halves": 2, "twice": 2, "double": 2, "doubled": 2, "pair": 2, "couple": 2, "both": 2, "squared": 2,
    "square": 2, "triple": 3, "tripled": 3, "thrice": 3, "third": 3, "thirds": 3, "cubed": 3, "cube": 3, "quarter": 4,
    "quarters": 4, "fourth": 4, "fourths": 4, "fifth": 5, "fifths": 5, "sixth": 6, "tenth": 10, "dozen": 12,
    "dozens": 12, "percent": 100,
}  # fmt: skip
_SAID_NUMBER = re.compile(r"(?<![\d.])(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|(?<!\d)\.\d+|[a-zA-Z]+", re.ASCII)


def numbers_said(text: str) -> Iterator[Fraction]:
    """The numbers in an English text, in digits or in words: 23, 4 and 2 of `twenty-three apples, 4, twice`.

    Two digits together, such as `12`, are given singly, too.
    """
    run: list[str] = []
    for match in _SAID_NUMBER.finditer(text[:_MAX_CHARS_SAID]):
        if (word := match.group().lower()) in _MEANT:
            yield Fraction(_MEANT[word])
        if not word[0].isalpha():
            yield from _in_digits(word)
        if word == "and" and run and run[-1] in _SCALES:
            continue
        if run and not _continues(run[-1], word):
            yield _value_of_words(run)
            run = []
        if word in _SMALL or word in _TENS or (run and word in _SCALES):
            run.append(word)
    if run:
        yield _value_of_words(run)


def is_number_word(word: str) -> bool:
    """Whether a word is an English number word, such as `two` or `forty-two`."""
    return all(part in _SMALL or part in _TENS or part in _SCALES for part in word.lower().split("-"))


# --- Chinese

_HAN_DIGITS = {sign: at for at, sign in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_HAN_PLACES = {"十": 10, "百": 100, "千": 1_000}
_HAN_NUMBER = r"[零〇一二两三四五六七八九十百千万]{1,12}"
_HAN_SAID = re.compile(
    rf"负?(?:(?P<below>{_HAN_NUMBER}|百)分之(?P<above>{_HAN_NUMBER})|(?P<whole>{_HAN_NUMBER})(?P<counted>[\u4e00-\u9fff]{{0,4}}))"
)


def in_chinese_figures(text: str) -> str | None:
    """A Chinese number in digits: `四十二人` as `42人`, `百分之八十` as `80\\%`; None for any other text."""
    if (match := _HAN_SAID.fullmatch(text)) is None:
        return None
    sign = "-" if text[0] == "负" else ""
    if match["whole"]:
        whole = _in_chinese(match["whole"])
        return None if whole is None else f"{sign}{whole}{match['counted']}"
    above, below = _in_chinese(match["above"]), _in_chinese(match["below"].removeprefix("一") or "一")
    if above is None or (below is None and match["below"] != "百"):
        return None
    return f"{sign}{above}\\%" if match["below"] == "百" else f"{sign}\\frac{{{above}}}{{{below}}}"


def _in_chinese(said: str) -> int | None:
    """The value of a Chinese number in words: 1005 for `一千零五`; None unless its units go from large to small."""
    if "万" in said:
        front, _, behind = said.partition("万")
        thousands, rest = _in_chinese(front), _in_chinese(behind) if behind else 0
        return None if thousands is None or rest is None else thousands * 10_000 + rest
    total, digit, place = 0, None, 10_000
    for sign in said:
        if sign in _HAN_DIGITS:
            if digit:
                return None
            digit = _HAN_DIGITS[sign]
        elif _HAN_PLACES[sign] >= place:
            return None
        else:
            place = _HAN_PLACES[sign]
            total, digit = total + (1 if digit is None else digit) * place, None
    return (total + (digit or 0)) if said else None


def _continues(last: str, word: str) -> bool:
    """Whether `word` continues the number that ends with `last`: `three` after `twenty`, `hundred` after `two`."""
    if word in _SCALES or (last in _SCALES and (word in _SMALL or word in _TENS)):
        return True
    return last in _TENS and 0 < _SMALL.get(word, 0) < _TENS["twenty"] // 2


def _value_of_words(run: list[str]) -> Fraction:
    """The value of the words of one number: 203 for `["two", "hundred", "three"]`."""
    total = part = 0
    for word in run:
        if word == "hundred":
            part *= 100
        elif word in _SCALES:
            total, part = total + part * _SCALES[word], 0
        else:
            part += _SMALL.get(word, _TENS.get(word, 0))
    return Fraction(total + part)


def _in_digits(word: str) -> Iterator[Fraction]:
    """The value of a number in digits: 1250 for `1,250`; for two digits, such as `12`, then also 1 and 2."""
    written = word.replace(",", "")
    if len(written) <= _MAX_DIGITS:
        yield Fraction(written)
    if written.isdigit() and len(written) == 2:
        # The two digits may be the numbers of `\frac12`
        yield from map(Fraction, written)


# --- more languages


def _plain(word: str) -> str:
    """The letters of a word in lower case, without accents: `funf` for `Fünf`."""
    spelled = unicodedata.normalize("NFD", word.lower().replace("ß", "ss"))
    return "".join(sign for sign in spelled if sign.isalpha())


_ROOTS = {
    language: [_plain(root) for root in roots.split()]
    for language, roots in {
        "german": """null ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn
            sechzehn siebzehn achtzehn neunzehn zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig""",
        "french": """zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize
            dixsept dixhuit dixneuf vingt trente quarante cinquante soixante""",
        "spanish": """cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince
            dieciséis diecisiete dieciocho diecinueve veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa
            cien doscientos trescientos cuatrocientos quinientos seiscientos setecientos ochocientos novecientos""",
        "italian": """zero uno due tre quattro cinque sei sette otto nove dieci undici dodici tredici quattordici
            quindici sedici diciassette diciotto diciannove venti trenta quaranta cinquanta sessanta settanta ottanta
            novanta""",
        "portuguese": """zero um dois três quatro cinco seis sete oito nove dez onze doze treze quatorze quinze
            dezesseis dezessete dezoito dezenove vinte trinta quarenta cinquenta sessenta setenta oitenta noventa cem
            duzentos trezentos quatrocentos quinhentos seiscentos setecentos oitocentos novecentos""",
        "russian": """ноль один два три четыре пять шесть семь восемь девять десять одиннадцать двенадцать
            тринадцать четырнадцать пятнадцать шестнадцать семнадцать восемнадцать девятнадцать двадцать тридцать сорок
            пятьдесят шестьдесят семьдесят восемьдесят девяносто сто двести триста четыреста пятьсот шестьсот семьсот
            восемьсот девятьсот""",
        "indonesian": """nol satu dua tiga empat lima enam tujuh delapan sembilan sepuluh sebelas duabelas tigabelas
            empatbelas limabelas enambelas tujuhbelas delapanbelas sembilanbelas duapuluh tigapuluh empatpuluh limapuluh
            enampuluh tujuhpuluh delapanpuluh sembilanpuluh""",
        "turkish": """sıfır bir iki üç dört beş altı yedi sekiz dokuz on onbir oniki onüç ondört onbeş onaltı onyedi
            onsekiz ondokuz yirmi otuz kırk elli altmış yetmiş seksen doksan""",
        "polish": """zero jeden dwa trzy cztery pięć sześć siedem osiem dziewięć dziesięć jedenaście dwanaście
            trzynaście czternaście piętnaście szesnaście siedemnaście osiemnaście dziewiętnaście dwadzieścia trzydzieści
            czterdzieści pięćdziesiąt sześćdziesiąt siedemdziesiąt osiemdziesiąt dziewięćdziesiąt sto dwieście trzysta
            czterysta pięćset sześćset siedemset osiemset dziewięćset""",
        "dutch": """nul een twee drie vier vijf zes zeven acht negen tien elf twaalf dertien veertien vijftien zestien
            zeventien achttien negentien twintig dertig veertig vijftig zestig zeventig tachtig negentig""",
        "swedish": """noll ett två tre fyra fem sex sju åtta nio tio elva tolv tretton fjorton femton sexton sjutton
            arton nitton tjugo trettio fyrtio femtio sextio sjuttio åttio nittio""",
    }.items()
}
_HUNDREDS = {"german": "hundert", "french": "cent", "italian": "cento", "dutch": "honderd", "swedish": "hundra"}
_HUNDREDS |= {"indonesian": "ratus", "turkish": "yuz"}
# Other forms of a whole word: of another gender, or before a noun
_FORMS = {
    "eins": 1, "eine": 1, "einen": 1, "une": 1, "una": 1, "uma": 1, "duas": 2, "одна": 1, "одно": 1, "две": 2,
    "двух": 2, "трех": 3, "четырех": 4, "пяти": 5, "шести": 6,
    "catorze": 14, "dezasseis": 16, "dezassete": 17, "dezanove": 19, "veintiún": 21,
}  # fmt: skip
_ARABIC = """اثنان 2 اثنين 2 ثلاثة 3 ثلاث 3 أربعة 4 أربع 4 خمسة 5 خمس 5 ستة 6 ست 6 سبعة 7 سبع 7 ثمانية 8 ثماني 8 تسعة 9
    تسع 9 عشرة 10 عشر 10 عشرون 20 عشرين 20 ثلاثون 30 ثلاثين 30 أربعون 40 أربعين 40 خمسون 50 خمسين 50 ستون 60 ستين 60
    سبعون 70 سبعين 70 ثمانون 80 ثمانين 80 تسعون 90 تسعين 90"""
_FORMS |= {f"{joint}{word}": int(n) for word, n in re.findall(r"(\w+) (\d+)", _ARABIC) for joint in ("", "و")}
# Number words that are also English words
_ENGLISH = frozenset({"once", "elf", "cent", "due", "sei", "on", "sex", "lima"})
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_LEAST_TENS, _BELOW, _HUNDRED, _MOST_WORDS = 20, 1_000, 100, 7


def number_in_words(words: Sequence[str]) -> tuple[int, int] | None:
    """The number that the first of `words` spell, and how many words they are.

    `(42, 3)` for `["cuarenta", "y", "dos", "manzanas"]`. None if the first word begins no number.
    """
    table = _table()
    for size in range(min(len(words), _MOST_WORDS), 0, -1):
        joined = _plain("".join(words[:size])) if all(map(_WORD.fullmatch, words[:size])) else ""
        if joined in table and joined not in _ENGLISH:
            return table[joined], size
    return None


def with_figures(words: Sequence[str]) -> list[str]:
    """The words with their numbers in digits: `["23", "apples"]` for `["twenty", "three", "apples"]`.

    Zero and one stay words, since `one` is an article in many languages.
    """
    found: list[str] = []
    at = 0
    while at < len(words):
        size = next((n for n, word in enumerate(words[at:]) if not is_number_word(word)), len(words) - at)
        said = list(numbers_said(" ".join(words[at : at + size])))
        value, size = (said[0], size) if len(said) == 1 else number_in_words(words[at:]) or (Fraction(), max(size, 1))
        found += [str(value)] if value > 1 else words[at : at + size]
        at += size
    return found


_PARTS_OF_ONE = {"half": 2, "quarter": 4} | {
    ordinal: at
    for at, ordinal in enumerate("third fourth fifth sixth seventh eighth ninth tenth".split(), 3)  # noqa: SIM905
}
_PARTS_OF_ONE |= {"halve": 2, "hundredth": 100, "thousandth": 1_000}

_PARTS = """hälfte 2 moitié 2 mitad 2 metade 2 metà 2 половина 2 половину 2 połowa 2 połowę 2 helft 2 hälften 2 yarı 2
    yarısı 2 drittel 3 tiers 3 tercio 3 terço 3 terzo 3 треть 3 tredjedel 3 viertel 4 quart 4 cuarto 4 quarto 4
    четверть 4 kwart 4 fjärdedel 4 çeyrek 4 fünftel 5 cinquième 5 quinto 5 пятая 5 пятую 5"""
#: Words for fractions of one in other languages, with their denominators: `hälfte` and `2`.
PARTS_ABROAD = dict(re.findall(r"(\w+) (\d)", _PARTS))


def in_figures(text: str) -> str | None:
    """An English number in digits: `-3` for `negative three`, `\\frac{2}{3}` for `two thirds`; None for other texts."""
    words = text.lower().replace("-", " ").split()
    sign = "-" if words[:1] in (["minus"], ["negative"]) else ""
    words = words[len(sign) :]
    if len(words) > 1:
        # an article alone is a letter
        words = ["one" if word in ("a", "an") else word for word in words]
    words = ["one", *words] if words == ["half"] else words
    if words[-1:] == ["dozen"] and (count := _whole_of_words(" ".join(words[:-1]) or "one")) is not None:
        return f"{sign}{12 * count}"
    below = _PARTS_OF_ONE.get(words[-1].removesuffix("s"), 1) if words else 1
    whole, joined, above = " ".join(words[:-1] if below > 1 else words).rpartition(" and ")
    if not joined or below == 1:
        whole, above = "", f"{whole}{joined}{above}"
    ones, parts = _whole_of_words(whole or "zero"), _whole_of_words(above)
    if ones is None or parts is None:
        return None
    count = ones * below + parts
    return f"{sign}\\frac{{{count}}}{{{below}}}" if below > 1 else f"{sign}{count}"


def spelled_number(text: str) -> str | None:
    """A number in words of any of the languages, in digits: `42` for `forty-two`, `cuarenta y dos` and `四十二`.

    None for any other text.
    """
    if not text.replace(" ", "").replace("-", "").isalpha():
        return None
    figures = " ".join(with_figures(text.lower().split()))
    return in_figures(text) or (figures if figures.isdigit() else in_chinese_figures(text))


def _whole_of_words(text: str) -> int | None:
    """The whole number that all words of an English text spell together: 203 for `two hundred and three`, or None."""
    said = list(numbers_said(text)) if all(map(is_number_word, text.replace(" and ", " ").split())) else []
    return int(said[0]) if len(said) == 1 else None


@cache
def _table() -> dict[str, int]:
    """The numbers below a thousand by their spellings in all languages of `_ROOTS`, as `_plain` writes them."""
    table = {word: n for language in _ROOTS for n in range(_BELOW) for word in _spellings(language, n)}
    return table | {_plain(word): n for word, n in _FORMS.items()}


def _spellings(language: str, n: int) -> list[str]:
    """The spellings of a number below a thousand, without spaces: `deuxcent` and `deuxcents` for 200 in French."""
    hundreds, rest = divmod(n, _HUNDRED)
    if not hundreds:
        return [_below_hundred(language, n)]
    roots = _ROOTS[language]
    if language in _HUNDREDS:
        head = (roots[hundreds] if hundreds > 1 else "") + _HUNDREDS[language]
    else:
        head = roots[27 + hundreds]
    if rest:
        head = {"cien": "ciento", "cem": "cento"}.get(head, head) + ("e" if language == "portuguese" else "")
        head += _below_hundred(language, rest)
    if language == "french" and hundreds > 1 and not rest:
        return [head, f"{head}s"]
    one = {"german": "ein", "indonesian": "se", "swedish": "ett"}.get(language) if hundreds == 1 else None
    return [head] if one is None else [head, f"{one}{head}"]


def _below_hundred(language: str, n: int) -> str:
    """The spelling of a number below a hundred, without spaces: `einundzwanzig` for 21 in German."""
    roots = _ROOTS[language]
    if n < _LEAST_TENS:
        return "eins" if language == "german" and n == 1 else roots[n]
    tens, unit = divmod(n, 10)
    if language == "french" and tens in (7, 9):
        # seventy is sixty and ten, ninety is four twenties and ten
        tens, unit = tens - 1, unit + 10
    head = "quatrevingt" if language == "french" and tens == 8 else roots[_LEAST_TENS + tens - 2]
    if not unit:
        return "quatrevingts" if head == "quatrevingt" else head
    if (joint := {"german": "und", "dutch": "en"}.get(language)) is not None:
        return f"{roots[unit]}{joint}{head}"
    if language == "italian" and unit in (1, 8):
        # the tens lose their last vowel before a vowel: `ventuno`
        head = head[:-1]
    et = "et" if unit in (1, 11) and tens < 8 else ""
    joint = {"spanish": "y", "portuguese": "e", "french": et}.get(language, "")
    return (head + joint + roots[unit]).replace("veintey", "veinti")
