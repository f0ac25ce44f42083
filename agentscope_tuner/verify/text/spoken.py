"""Tells languages of the same script apart, by the small words that every sentence has."""

from __future__ import annotations

import re
from collections import Counter

from agentscope_tuner.verify.text.language import language_share

# Words that are common in one of these languages and rare in the others
_SMALL_WORDS = {
    "de": "der die und nicht ist ein eine das mit auf für von ich zu auch sich den dem",
    "en": "the and of is that it with for are this was you not have from be by which",
    "es": "el los las que y es por una con para del como pero más está muy hay también",
    "fi": "ja on ei se että oli hän mutta niin kun ovat myös tämä joka mitä kuin voi ole",
    "fr": "le les et est une des que pour dans pas vous avec qui sur ce nous mais sont",
    "id": "yang dan di dengan untuk tidak ini itu dari dalam akan pada adalah juga ada saya",
    "it": "il che di non è per una sono con gli della del anche questo ma si più nel",
    "nl": "het een van en niet dat zijn op voor met ook maar aan wordt deze naar bij heeft",
    "pl": "i w nie na się jest że z do to jak ale są przez tak od jego dla",
    "pt": "o os que não uma com para do da em é por mais como mas são você também",
    "sv": "och att det som är en på för med inte av till den har men ett jag om",
    "sw": "na ya wa kwa ni za katika la kuwa hii cha watu yake kama lakini pia hiyo vya",
    "tr": "ve bir bu için ile çok ama daha olarak gibi değil var ne kadar olan sonra ben en",
    "vi": "và của là có không được một các cho người trong những đã với này để khi như",
}
_KNOWN = {code: frozenset(words.split()) for code, words in _SMALL_WORDS.items()}
_WORD = re.compile(r"[^\W\d_]+")
_LEAST_SHARE = 0.5
# A text of fewer words may contain no small word
_FEW_WORDS = 8


def is_in_language(text: str, language: str) -> bool:
    """Whether most words of `text` are in the script of `language`, and small words of no other language are commoner.

    Small words are listed for fourteen languages in Latin script; other languages are recognised by script alone.

    Args:
        language: one of `language.LANGUAGES`.
    """
    share, _, total = language_share(text, language)
    if share < _LEAST_SHARE or total == 0:
        return False
    if language not in _KNOWN:
        return True
    words = Counter(_WORD.findall(text.lower()))
    hits = {code: sum(words[word] for word in known) for code, known in _KNOWN.items()}
    if hits[language] == 0 and total >= _FEW_WORDS:
        return False
    return hits[language] == max(hits.values())
