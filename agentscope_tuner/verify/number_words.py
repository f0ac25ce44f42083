"""Whole numbers below a thousand in words of six languages, each spelled by its grammar from a row of its roots."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from functools import cache

_GERMAN = """null ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn
siebzehn achtzehn neunzehn zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig""".split()  # noqa: SIM905
_FRENCH = """zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize dixsept
dixhuit
dixneuf vingt trente quarante cinquante soixante""".split()  # noqa: SIM905
_SPANISH = """cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis
diecisiete dieciocho diecinueve veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa cien doscientos
trescientos cuatrocientos quinientos seiscientos setecientos ochocientos novecientos""".split()  # noqa: SIM905
_ITALIAN = """zero uno due tre quattro cinque sei sette otto nove dieci undici dodici tredici quattordici quindici
sedici diciassette diciotto diciannove venti trenta quaranta cinquanta sessanta settanta ottanta novanta""".split()  # noqa: SIM905
_PORTUGUESE = """zero um dois três quatro cinco seis sete oito nove dez onze doze treze quatorze quinze dezesseis
dezessete dezoito dezenove vinte trinta quarenta cinquenta sessenta setenta oitenta noventa cem duzentos trezentos
quatrocentos quinhentos seiscentos setecentos oitocentos novecentos""".split()  # noqa: SIM905
_RUSSIAN = """ноль один два три четыре пять шесть семь восемь девять десять одиннадцать двенадцать тринадцать
четырнадцать пятнадцать шестнадцать семнадцать восемнадцать девятнадцать двадцать тридцать сорок пятьдесят шестьдесят
семьдесят восемьдесят девяносто сто двести триста четыреста пятьсот шестьсот семьсот восемьсот девятьсот""".split()  # noqa: SIM905
# Other forms of a whole word: of another gender, or before a noun
_FORMS = {
    "eins": 1, "eine": 1, "einen": 1, "une": 1, "una": 1, "uma": 1, "duas": 2, "одна": 1, "одно": 1, "две": 2,
    "catorze": 14, "dezasseis": 16, "dezassete": 17, "dezanove": 19, "veintiún": 21,
}  # fmt: skip
# Words of English, too
_ENGLISH = frozenset({"once", "elf", "cent", "due", "sei"})
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_LEAST_TENS, _BELOW, _HUNDRED, _MOST_WORDS = 20, 1_000, 100, 7


def number_in_words(words: Sequence[str]) -> tuple[int, int] | None:
    """The number that the first words spell, and how many of them do; None where they spell none."""
    table = _table()
    for size in range(min(len(words), _MOST_WORDS), 0, -1):
        joined = _plain("".join(words[:size])) if all(map(_WORD.fullmatch, words[:size])) else ""
        if joined in table and joined not in _ENGLISH:
            return table[joined], size
    return None


def _plain(word: str) -> str:
    spelled = unicodedata.normalize("NFD", word.lower().replace("ß", "ss"))
    return "".join(sign for sign in spelled if sign.isalpha())


@cache
def _table() -> dict[str, int]:
    spellers = (_german, _french, _spanish, _italian, _portuguese, _russian)
    table = {_plain(word): n for speller in spellers for n in range(_BELOW) for word in speller(n)}
    return table | {_plain(word): n for word, n in _FORMS.items()}


def _tens(roots: Sequence[str], n: int) -> str:
    """The root of the tens of a number from 20 to 99."""
    return roots[_LEAST_TENS + n // 10 - 2]


def _hundreds(n: int, below: Callable[[int], Iterator[str]], hundred: str, joint: str = "") -> Iterator[str]:
    """The spellings of a number from 100, whose hundreds are spelled `hundred`."""
    if n % _HUNDRED == 0:
        yield hundred
    else:
        yield from (f"{hundred}{joint}{rest}" for rest in below(n % _HUNDRED))


def _german(n: int) -> Iterator[str]:
    if n >= _HUNDRED:
        for head in (_GERMAN[n // _HUNDRED], "") if n < 2 * _HUNDRED else (_GERMAN[n // _HUNDRED],):
            yield from _hundreds(n, _german, f"{head}hundert")
    elif n < _LEAST_TENS:
        yield "eins" if n == 1 else _GERMAN[n]
    else:
        yield (f"{_GERMAN[n % 10]}und" if n % 10 else "") + _tens(_GERMAN, n)


def _french(n: int) -> Iterator[str]:
    eighty, sixty, ten = 80, 60, 10
    if n >= _HUNDRED:
        head = f"{_FRENCH[n // _HUNDRED] if n >= 2 * _HUNDRED else ''}cent"
        yield from _hundreds(n, _french, head)
        if n % _HUNDRED == 0 and n > _HUNDRED:
            yield f"{head}s"
    elif n < _LEAST_TENS:
        yield _FRENCH[n]
    elif n >= eighty:
        yield f"quatrevingt{_FRENCH[n - eighty] if n > eighty else 's'}"
    else:
        rest = n - sixty if n >= sixty else n % ten
        joint = "et" if rest in (1, 11) else ""
        yield _FRENCH[_LEAST_TENS + min(n, sixty) // ten - 2] + (f"{joint}{_FRENCH[rest]}" if rest else "")


def _spanish(n: int) -> Iterator[str]:
    thirty = 30
    if n >= _HUNDRED:
        head = _SPANISH[27 + n // _HUNDRED]
        yield from _hundreds(n, _spanish, "ciento" if _HUNDRED < n < 2 * _HUNDRED else head)
    elif n < _LEAST_TENS:
        yield _SPANISH[n]
    elif _LEAST_TENS < n < thirty:
        yield f"veinti{_SPANISH[n % 10]}"
    else:
        yield _tens(_SPANISH, n) + (f"y{_SPANISH[n % 10]}" if n % 10 else "")


def _italian(n: int) -> Iterator[str]:
    if n >= _HUNDRED:
        yield from _hundreds(n, _italian, f"{_ITALIAN[n // _HUNDRED] if n >= 2 * _HUNDRED else ''}cento")
    elif n < _LEAST_TENS:
        yield _ITALIAN[n]
    else:
        # the tens lose their last vowel before another
        tens = _tens(_ITALIAN, n)
        yield (tens[:-1] if n % 10 in (1, 8) else tens) + (_ITALIAN[n % 10] if n % 10 else "")


def _portuguese(n: int) -> Iterator[str]:
    if n >= _HUNDRED:
        head = _PORTUGUESE[27 + n // _HUNDRED]
        yield from _hundreds(n, _portuguese, "cento" if _HUNDRED < n < 2 * _HUNDRED else head, "e")
    elif n < _LEAST_TENS:
        yield _PORTUGUESE[n]
    else:
        yield _tens(_PORTUGUESE, n) + (f"e{_PORTUGUESE[n % 10]}" if n % 10 else "")


def _russian(n: int) -> Iterator[str]:
    if n >= _HUNDRED:
        yield from _hundreds(n, _russian, _RUSSIAN[27 + n // _HUNDRED])
    elif n < _LEAST_TENS:
        yield _RUSSIAN[n]
    else:
        yield _tens(_RUSSIAN, n) + (_RUSSIAN[n % 10] if n % 10 else "")
