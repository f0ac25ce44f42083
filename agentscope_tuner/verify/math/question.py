r"""Facts about the task's question: its formulas, its words, the signs and names that it uses.

These facts never make an answer right. They only narrow the meaning of a word or a sign, and they show which formulas
cannot be answers because the question itself gives them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

from agentscope_tuner.verify.math.asked import AskedAmount, asked_amount_of, asked_units
from agentscope_tuner.verify.math.canonical import Key, key
from agentscope_tuner.verify.math.in_words import numbers_said
from agentscope_tuner.verify.math.node import Node, Relation, Symbol, UndefinedCall
from agentscope_tuner.verify.math.question_formulas import formulas_of
from agentscope_tuner.verify.math.tree import CONSTANTS, symbols, walk
from agentscope_tuner.verify.math.unit import PhysicalUnit, singular

_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
# `what percent` asks for a percentage; `20 percent of 50` does not
_ASKS_PERCENT = re.compile(
    r"(?<!\d)(?<!\d )(?<!\d\$ )percent|percentage|(?:what|which|how many|by what|as an?|in) (?:a )?\$?\\?%",
    re.IGNORECASE,
)
_ASKS_FRACTION = re.compile(
    r"\b(?:as|in|give|what|which|find the|write the)\s+(?:an?\s+)?(?:\w+\s+){0,2}(?:fractions?|decimals?)\b",
    re.IGNORECASE,
)
_REWRITES = re.compile(
    r"\b(?:convert|express|write|rewrite|simplify|reduce|change|round|expand|factor|factori[sz]e|rationali[sz]e|"
    r"estimate|approximate|turn|transform)\b|\bas an? (?:\w+ ){0,2}(?:fraction|decimal|percent|percentage|mixed number|"
    r"number|power|ratio)\b|\b(?:in|to) (?:the |its )?(?:scientific|lowest|simplest|standard|decimal|nearest|radical|"
    r"exponential)\b",
    re.IGNORECASE,
)
_SIMPLIFIES = re.compile(
    r"\bsimplify|\bsimplest\b|\bsimplified\b|\blowest terms\b|\bcommon fraction\b|\birreducible fraction\b"
    r"|\breduced? (?:the fraction|fraction|form|\$|\\|\d)",
    re.IGNORECASE,
)
_FACTORS = re.compile(r"(?<!common )(?<!prime )\bfactor(?:i[sz]e|i[sz]ation|ed)?\b(?! of)(?!s)", re.IGNORECASE)
_PRIMES = re.compile(
    r"\bprime factori[sz]ation|\bproduct of (?:its )?prime|\binto (?:its )?prime|分解质因数", re.IGNORECASE
)
_SOLVED_FOR = re.compile(
    r"\bsolve\b[^.?]{0,60}?\bfor \$?([a-zA-Z])\$?(?![a-zA-Z])"
    r"|\b(?:express|write|find) \$?([a-zA-Z])\$? (?:in terms|as a function) of|slope-intercept",
    re.IGNORECASE,
)
_ROUNDS = re.compile(r"\bround \$?-?\d", re.IGNORECASE)
_SQUARE = re.compile(r"complet\w+ the square|vertex form", re.IGNORECASE)
_HOW_MANY = re.compile(r"\bhow many((?:\s+[a-zA-Z-]+){1,4})", re.IGNORECASE)
_EXPANDS = re.compile(r"\b(?:expand|expanded|expansion|multiply out)\b|without (?:parentheses|brackets)", re.IGNORECASE)
_DECIMAL_LOG = re.compile(
    r"\\log_(?:\{10\}|10)|\\lg\b|\blog10\b|common log|base[- ]?(?:10|ten)|decibel|\bpH\b|richter", re.IGNORECASE
)
_RATIO = re.compile(r"\b[a-zA-Z]{1,2}\s*:\s*[a-zA-Z]{1,2}\b|\b[a-z]+ (?:to|versus|vs\.?) [a-z]+\s*[?.]")
_BOUNDED = re.compile(
    r"\b(?:positive|non-?negative|negative|natural)\b|\\mathbb\s*\{?[RQZN]\}?\s*(?:\^|_)|\\mathbb\s*\{?N|[<>]|\\[gl](?:e|t|eq|eqslant)\b"
    r"|\(\s*0\s*,|\[\s*0\s*,",
    re.IGNORECASE,
)
_CLOCK = re.compile(
    r"\d:\d\d|\btimes?\b|\bclock|\bhours?\b|\bminutes?\b|\b[ap]\.?m\b|\b(?:arriv|leav|depart|start|begin|end)\w*\b",
    re.IGNORECASE,
)
_NATURAL_LOG = re.compile(r"\\ln\b|\bln\b|natural log", re.IGNORECASE)
_BARE_LOG = re.compile(r"(?:\\|\b)log(?![a-zA-Z_0-9])(?!\s*_)")
_LETTER = re.compile(r"(?<![a-zA-Z\\])[a-zA-Z](?![a-zA-Z])")
_NAMES = re.compile(r"\(\s*([a-zA-Z](?:\s*,\s*[a-zA-Z])+)\s*\)")


@dataclass(frozen=True)
class Question:
    """One question; each fact about it is computed at its first use, and most are kept."""

    text: str

    @cached_property
    def words(self) -> frozenset[str]:
        """The question's words in lower case, each also as `unit.singular` spells it."""
        return frozenset(form for word in _WORD.findall(self.text) for form in (word.lower(), singular(word)))

    @cached_property
    def formulas(self) -> dict[Key, Node]:
        """The question's formulas, the sides of its relations and the members of its lists, by canonical key."""
        return formulas_of(self.text)

    def leaves_open(self, node: Node) -> bool:
        """Whether the question has this formula, which has unknowns, and no equation that gives its value.

        An equation like `S = a+b` only names the formula.
        """
        own = key(node)
        unknown = symbols(node) - CONSTANTS or any(isinstance(n, UndefinedCall) for n in walk(node))
        return bool(unknown) and own in self.formulas and not any(_equates(f, own) for f in self.formulas.values())

    @cached_property
    def letters(self) -> frozenset[str]:
        """The single letters in the question, which include the words `a` and `I`."""
        return frozenset(_LETTER.findall(self.text))

    @cached_property
    def names(self) -> tuple[tuple[str, ...], ...]:
        """The question's tuples of names, like `(x, y)`: they give the order of the values in an answer."""
        return tuple(tuple(n.strip() for n in names.split(",")) for names in _NAMES.findall(self.text))

    @property
    def asks_percent(self) -> bool:
        return _ASKS_PERCENT.search(self.text) is not None

    @property
    def asks_fraction(self) -> bool:
        """Whether the question asks for a fraction or a decimal, so that a percentage has the wrong form."""
        return _ASKS_FRACTION.search(self.text) is not None

    @property
    def speaks_of_radians(self) -> bool:
        """Whether the question mentions radians, and no degrees."""
        text = self.text.lower()
        return "radian" in text and "degree" not in text

    @property
    def speaks_of_degrees(self) -> bool:
        text = self.text.lower()
        return any(sign in text for sign in ("degree", "°", "\\circ")) and "radian" not in text

    @cached_property
    def speaks_of_ratios(self) -> bool:
        """Whether `4:15` is a ratio: the question mentions ratios, or it compares two things and mentions no time."""
        if {"ratio", "proportion", "odds", "scale"} & self.words:
            return True
        return _RATIO.search(self.text) is not None and _CLOCK.search(self.text) is None

    @cached_property
    def bounds_arguments(self) -> bool:
        """Whether the question restricts its numbers, as to positive ones: an answer may repeat the restriction."""
        return _BOUNDED.search(self.text) is not None

    @cached_property
    def has_inequality(self) -> bool:
        """Whether the question has an inequality: then its answer must be solved to the last step."""
        return any(isinstance(f, Relation) and f.operators[0][0] in "<>" for f in self.formulas.values())

    @property
    def asks_to_rewrite(self) -> bool:
        """Whether the question asks for another form of a value, so that a value copied from it is not an answer."""
        return _REWRITES.search(self.text) is not None

    @cached_property
    def asks_to_simplify(self) -> bool:
        """Whether the question asks for a value in its simplest form."""
        return _SIMPLIFIES.search(self.text) is not None

    @cached_property
    def asks_to_factor(self) -> bool:
        """Whether the question asks to write a sum as a product."""
        return _FACTORS.search(self.text) is not None

    @cached_property
    def asks_to_expand(self) -> bool:
        """Whether the question asks to write a product as a sum."""
        return _EXPANDS.search(self.text) is not None

    @cached_property
    def asks_primes(self) -> bool:
        """Whether the question asks to write a number as a product of primes."""
        return _PRIMES.search(self.text) is not None

    @cached_property
    def solved_for(self) -> str:
        """The unknown that the question asks to solve for; empty if it names no unknown."""
        match = _SOLVED_FOR.search(self.text)
        return "" if match is None else next((g for g in match.groups() if g), "y")

    @cached_property
    def asks_to_round(self) -> bool:
        """Whether the question asks to round a number that it gives."""
        return _ROUNDS.search(self.text) is not None

    @cached_property
    def asks_square(self) -> bool:
        """Whether the question asks to complete the square."""
        return _SQUARE.search(self.text) is not None

    @cached_property
    def counted(self) -> frozenset[str]:
        """The words after `how many`: the counted nouns."""
        phrases = [words.split() for words in _HOW_MANY.findall(self.text)]
        return frozenset(form for words in phrases for word in words for form in (word.lower(), singular(word)))

    def says(self, phrase: str) -> bool:
        """Whether the question holds the phrase, which is in lower case; the question's case does not count."""
        return phrase in self.text.lower()

    @cached_property
    def asked_units(self) -> frozenset[PhysicalUnit]:
        """The units in which the question asks for its answer."""
        return asked_units(self.text)

    @cached_property
    def asked_amount(self) -> AskedAmount:
        """Whether the question asks for an amount, and whether its answer may be a rate."""
        return asked_amount_of(self.text)

    @cached_property
    def numbers(self) -> frozenset[Fraction]:
        """The numbers in the question, in digits or in words."""
        return frozenset(numbers_said(self.text))

    @cached_property
    def log_base(self) -> int | None:
        """10 if the question means base 10 by a `log` without a base; None if it does not tell."""
        decimal = _DECIMAL_LOG.search(self.text) is not None
        both = _NATURAL_LOG.search(self.text) is not None and _BARE_LOG.search(self.text) is not None
        return 10 if decimal or both else None


@lru_cache(maxsize=256)
def about(text: str | None) -> Question | None:
    """The facts about a question; None without a question. Cached, because an advantage group shares its question."""
    return Question(text) if text and text.strip() else None


def _equates(node: Node, own: Key) -> bool:
    """Whether the node is an equation of the formula with this key, and no side is only a name."""
    if not isinstance(node, Relation) or "=" not in node.operators or own not in map(key, node.args):
        return False
    return not any(isinstance(side, Symbol) for side in node.args)
