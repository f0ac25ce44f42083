r"""What the task's question says about its answers: its formulas, its words, the signs and names that it uses.

Nothing here decides that an answer is right: the question only narrows what a word or a sign may mean, and names the
formulas that are no answers because they are the question itself.
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
# `20 percent of 50` does not ask for a percentage, `what percent` does
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
    """One question; what is looked up in it is worked out when first asked for, and kept."""

    text: str

    @cached_property
    def words(self) -> frozenset[str]:
        """Its words, as `unit` spells them."""
        return frozenset(form for word in _WORD.findall(self.text) for form in (word.lower(), singular(word)))

    @cached_property
    def formulas(self) -> dict[Key, Node]:
        """Its formulas, the sides of its relations and the members of its lists, by their canonical keys."""
        return formulas_of(self.text)

    def leaves_open(self, node: Node) -> bool:
        """Whether a formula with unknowns stands there, and no equation says its value; `S = a+b` only names it."""
        own = key(node)
        unknown = symbols(node) - CONSTANTS or any(isinstance(n, UndefinedCall) for n in walk(node))
        return bool(unknown) and own in self.formulas and not any(_says_worth(f, own) for f in self.formulas.values())

    @cached_property
    def letters(self) -> frozenset[str]:
        """The single letters that it uses; the article `a` and `I` are letters too."""
        return frozenset(_LETTER.findall(self.text))

    @cached_property
    def names(self) -> tuple[tuple[str, ...], ...]:
        """Its tuples of names, `(x, y)`: the order in which their values are given."""
        return tuple(tuple(n.strip() for n in names.split(",")) for names in _NAMES.findall(self.text))

    @property
    def asks_percent(self) -> bool:
        return _ASKS_PERCENT.search(self.text) is not None

    @property
    def asks_fraction(self) -> bool:
        """Whether the answer is to be a fraction or a decimal, so that a percent sign is another form."""
        return _ASKS_FRACTION.search(self.text) is not None

    @property
    def speaks_of_radians(self) -> bool:
        """Whether the question speaks of radians, and not of degrees too."""
        text = self.text.lower()
        return "radian" in text and "degree" not in text

    @property
    def speaks_of_degrees(self) -> bool:
        text = self.text.lower()
        return any(sign in text for sign in ("degree", "°", "\\circ")) and "radian" not in text

    @cached_property
    def speaks_of_ratios(self) -> bool:
        """Whether `4:15` is a ratio there: the question names ratios or compares two things, and speaks of no clock."""
        if {"ratio", "proportion", "odds", "scale"} & self.words:
            return True
        return _RATIO.search(self.text) is not None and _CLOCK.search(self.text) is None

    @cached_property
    def bounds_arguments(self) -> bool:
        """Whether it asks about positive numbers and the like, so that an answer may say so again."""
        return _BOUNDED.search(self.text) is not None

    @cached_property
    def has_inequality(self) -> bool:
        """Whether an inequality stands there, which is to be solved to the last step."""
        return any(isinstance(f, Relation) and f.operators[0][0] in "<>" for f in self.formulas.values())

    @property
    def asks_to_rewrite(self) -> bool:
        """Whether the question is about how something is written, so that a value of its own is no answer either."""
        return _REWRITES.search(self.text) is not None

    @cached_property
    def asks_to_simplify(self) -> bool:
        """Whether a value is to be given in its simplest form."""
        return _SIMPLIFIES.search(self.text) is not None

    @cached_property
    def asks_to_factor(self) -> bool:
        """Whether a sum is to be written as a product."""
        return _FACTORS.search(self.text) is not None

    @cached_property
    def asks_to_expand(self) -> bool:
        """Whether a product is to be written as a sum."""
        return _EXPANDS.search(self.text) is not None

    @cached_property
    def asks_primes(self) -> bool:
        """Whether a number is to be written as a product of primes."""
        return _PRIMES.search(self.text) is not None

    @cached_property
    def solved_for(self) -> str:
        """The unknown that is to stand alone; empty where none is named."""
        match = _SOLVED_FOR.search(self.text)
        return "" if match is None else next((g for g in match.groups() if g), "y")

    @cached_property
    def asks_to_round(self) -> bool:
        """Whether a number that stands there is to be rounded."""
        return _ROUNDS.search(self.text) is not None

    @cached_property
    def asks_square(self) -> bool:
        """Whether a square is to be completed."""
        return _SQUARE.search(self.text) is not None

    @cached_property
    def counted(self) -> frozenset[str]:
        """The nouns of counted things: the words that follow `how many`."""
        phrases = [words.split() for words in _HOW_MANY.findall(self.text)]
        return frozenset(form for words in phrases for word in words for form in (word.lower(), singular(word)))

    def says(self, phrase: str) -> bool:
        """Whether the words stand in it, in either case."""
        return phrase in self.text.lower()

    @cached_property
    def asked_units(self) -> frozenset[PhysicalUnit]:
        """The units that its answer is asked for in."""
        return asked_units(self.text)

    @cached_property
    def asked_amount(self) -> AskedAmount:
        """Whether its answer may be so many of something for one of something else."""
        return asked_amount_of(self.text)

    @cached_property
    def numbers(self) -> frozenset[Fraction]:
        """The numbers that stand there, in digits or in words."""
        return frozenset(numbers_said(self.text))

    @cached_property
    def log_base(self) -> int | None:
        """10 where the question says that a bare log is decimal; None where it says nothing."""
        decimal = _DECIMAL_LOG.search(self.text) is not None
        both = _NATURAL_LOG.search(self.text) is not None and _BARE_LOG.search(self.text) is not None
        return 10 if decimal or both else None


@lru_cache(maxsize=256)
def about(text: str | None) -> Question | None:
    """What a question says; None where there is none. An advantage group asks about the same one many times."""
    return Question(text) if text and text.strip() else None


def _says_worth(node: Node, own: Key) -> bool:
    """Whether an equation puts something else than a name beside the formula with this key."""
    if not isinstance(node, Relation) or "=" not in node.operators or own not in map(key, node.args):
        return False
    return not any(isinstance(side, Symbol) for side in node.args)
