r"""Text to tokens: the table of known commands, and one scanner for LaTeX, plain ASCII mathematics and Unicode.

The scanner replaces a command of the role `same` by its canonical name, and drops one of the role `look`. The parser
reads every other command by its role.

Two texts with the same tokens are one answer, typeset twice: `\dfrac{1}{2}`, `\frac {1}{2}`.
"""

from __future__ import annotations

import threading
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import takewhile
from typing import Literal, NamedTuple, ParamSpec, TypeVar

from agentscope_tuner._run.forks import Kept as Kept
from agentscope_tuner.verify import re
from agentscope_tuner.verify.words import OR_WORDS, joining

Role = Literal[
    "look", "same", "function", "fraction", "binomial", "root", "symbol", "constant", "bar", "decoration", "accent",
    "big", "environment", "currency", "relation",
]  # fmt: skip
MANY = -1


class Command(NamedTuple):
    """One row of the table of commands, such as `cdot`, whose canonical name is `*` and whose role is `same`.

    `arity` is the number of operands, or `MANY` for any number.
    """

    name: str
    canonical: str
    role: Role
    arity: int


# Role, arity and names. `name:=canonical` gives a canonical name that differs from the name
_ROWS: tuple[tuple[Role, int, str], ...] = (
    ("function", 1, """
        sin cos tan cot sec csc arcsin arccos arctan arccot arcsec arccsc sinh cosh tanh coth sech csch arcsinh arccosh
        arctanh asin:=arcsin acos:=arccos atan:=arctan asinh:=arcsinh acosh:=arccosh atanh:=arctanh
        arsinh:=arcsinh arcosh:=arccosh artanh:=arctanh ln log lg:=log exp
        cis tg:=tan ctg:=cot cotg:=cot arctg:=arctan arcctg:=arccot cosec:=csc sh:=sinh ch:=cosh th:=tanh ld:=log
        deg dim rank rk:=rank rang:=rank rg:=rank ord card tr abs det
        floor ceil sgn sign:=sgn Re Im re:=Re im:=Im arg conj conjugate:=conj erf"""),
    ("function", MANY, "gcd lcm min max diag"),
    ("fraction", 2, "frac"),
    ("binomial", 2, "binom"),
    ("root", 1, "sqrt cbrt root"),
    ("constant", 0, "pi infty"),
    ("symbol", 0, r"""
        alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi rho sigma tau upsilon phi chi psi omega
        Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega top otherwise emptyset
        ell hbar aleph nabla partial ldots mathbb{R}
        mathbb{Z} mathbb{N} mathbb{Q} mathbb{C} square checkmark"""),
    # A line over capital letters marks a segment, over any other formula a conjugate
    ("bar", 1, "overline bar"),
    ("decoration", 1, "vec angle triangle mathcal mathscr mathfrak underline"),
    # Accents that change a symbol's identity: `\hat{x}` is not `x`
    ("accent", 1, "hat widehat tilde dot ddot"),
    ("big", 1, "int sum prod lim"),
    ("environment", 0, "begin"),
    ("currency", 1, r"""$:=$ euro:=euro pounds:=gbp yen:=yen rupee:=rupee rouble:=rouble zloty:=zloty
        lira:=lira won:=won dong:=đồng baht:=baht hryvnia:=hryvnia shekel:=shekel naira:=naira taka:=taka kip:=kip
        tenge:=tenge"""),
    ("relation", 2, r"""
        in:=in approx:=~ sim:=sim equiv:== cong:=cong iff:=iff subset:=subset subseteq:=subset
        supset:=supset supseteq:=supset notin:=notin perp:=perp
        parallel:=parallel propto:=propto mapsto:=mapsto Leftrightarrow:=iff nmid:=nmid pmod:=pmod leftrightarrow:=iff
        triangleq:== coloneqq:=="""),
    ("same", 0, r"""
        oint:=\int
        dfrac:=\frac tfrac:=\frac cfrac:=\frac dbinom:=\binom tbinom:=\binom cdot:=* times:=* ast:=* star:=* bullet:=*
        div:=/ slash:=/ leq:=<= le:=<= leqslant:=<= leqq:=<= geq:=>= ge:=>= geqslant:=>= geqq:=>= lt:=< gt:=> ne:=!=
        neq:=!= lbrace:=\{ rbrace:=\} lbrack:=[ rbrack:=] lvert:=| rvert:=| vert:=| lparen:=( rparen:=) mid:=\mid to:=->
        rightarrow:=-> longrightarrow:=-> Rightarrow:==> implies:==> Longrightarrow:==> land:=and wedge:=and lor:=or
        vee:=or prime:=' colon:=: degree:=\circ varnothing:=\emptyset bigcup:=\cup bigcap:=\cap smallsetminus:=\setminus
        backslash:=\setminus varepsilon:=\epsilon varphi:=\phi vartheta:=\theta lnot:=not neg:=not approxeq:=\approx
        simeq:=\approx dots:=\ldots cdots:=\ldots dotsc:=\ldots dotsb:=\ldots hdots:=\ldots overrightarrow:=\vec
        measuredangle:=\angle sphericalangle:=\angle
        surd:=\sqrt wideparen:=\widehat overarc:=\widehat textdollar:=\$ EUR:=\euro
        pound:=\pounds texteuro:=\euro textsterling:=\pounds textyen:=\yen infin:=\infty
        plusmn:=\pm R:=\mathbb{R} reals:=\mathbb{R} Reals:=\mathbb{R} Z:=\mathbb{Z} N:=\mathbb{N} Q:=\mathbb{Q}
        C:=\mathbb{C}"""),
    ("look", 0, """
        Large LARGE large huge Huge small tiny normalsize
        displaystyle textstyle scriptstyle limits nolimits left right big Big bigg Bigg bigl bigr Bigl Bigr biggl biggr
        Biggl Biggr middle mathrm mathit mathsf mathtt mathbf bm boldsymbol mathop mathnormal rm bf it hfill hfil strut
        displaylimits nonumber notag newline thinspace enspace boxed fbox ensuremath bigm mathord mathrel mathbin hbox
        protect cal"""),
)  # fmt: skip


def _commands() -> Iterator[Command]:
    for role, arity, names in _ROWS:
        for entry in names.split():
            name, _, canonical = entry.partition(":=")
            yield Command(name, canonical or name, role, arity)


COMMANDS = {command.name: command for command in _commands()}
# The same table with the backslash before each name, as the scanner's tokens have it
BY_TOKEN = {f"\\{command.name}": command for command in COMMANDS.values()}


def with_role(*roles: Role) -> dict[str, Command]:
    """The commands that have one of these roles, by name: `with_role("root")` has `sqrt`, `cbrt` and `root`."""
    return {name: command for name, command in COMMANDS.items() if command.role in roles}


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _pairs(text: str) -> dict[str, str]:
    return {name: value for name, _, value in (entry.partition(":=") for entry in text.split())}


# Commands that `\operatorname` may name, and those that plain text may write without a backslash
OPERATORS = frozenset(with_role("function", "fraction", "binomial", "root"))
# Functions of an object that are not computed: `\dim V = 3` only gives 3 a name
PROPERTIES = _names("deg dim rank ord card tr")
#: The span of vectors. It is not read as a function of several arguments: the span of two is that of their set
SPAN = "span"
FUNCTIONS = OPERATORS - PROPERTIES - _names("tg ctg sh ch th ld rk rg")
LOOKS = frozenset(with_role("look"))
SAME = {name: command.canonical for name, command in with_role("same").items()}
# Symbols that plain text may write without a backslash
SPELLED = {"pi": "\\pi", "infinity": "\\infty", "inf": "\\infty", "oo": "\\infty", "infty": "\\infty"} | {
    name: "\\" + name for name in _names("alpha beta gamma delta epsilon theta lambda mu sigma omega phi psi rho tau")
}
UNITS = _names(
    """cm mm km kg mg ml mL ft lb lbs oz mph kph hr hrs min mins sec secs yd mi cc kHz Hz MHz kW kJ MeV eV rad deg
    USD EUR GBP RMB cal kcal kmh kWh mol jam ora ore uur dni"""
)
# Short runs of letters that are words, not products of symbols
WORDS = _names(
    """and or no yes odd even true false none all not any set am pm at is to of percent pct percentage dollars dollar
    cents cent degrees degree per mod if then for cup day days year years mile miles men old new one two six ten"""
)
_LOWER_GREEK = """alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho varsigma sigma
tau upsilon phi chi psi omega"""
UNICODE = str.maketrans(
    _pairs(
        r"""−:=- –:=- —:=- ‐:=- ‑:=- ×:=* ·:=* ⋅:=* ∙:=* ∗:=* ÷:=/ ⁄:=/ ∕:=/ ≤:=<= ⩽:=<= ≥:=>= ⩾:=>= ≠:=!= →:=-> ⇒:==>
        ∶:=: ′:=' ’:=' ″:='' ℝ:=\mathbb{R} ℤ:=\mathbb{Z} ℕ:=\mathbb{N} ℚ:=\mathbb{Q} ℂ:=\mathbb{C}
        ，:=, ،:=, 、:=, ；:=; ：:=: ＄:=\$ 。:=. “:=" ”:=" ‘:=' """
    )
    | {
        symbol: command + " "
        for symbol, command in _pairs(
            r"""√:=\sqrt ∛:=\cbrt ∞:=\infty ≈:=\approx ±:=\pm ∓:=\mp ∪:=\cup ∩:=\cap ∅:=\emptyset ∈:=\in
            °:=^\circ º:=^\circ
            ∖:=\setminus ¬:=\lnot ∧:=\land ∨:=\lor …:=\ldots ⋯:=\ldots ≡:=\equiv ⟨:=\langle ⟩:=\rangle ⌊:=\lfloor
            △:=\triangle ∠:=\angle ∥:=\parallel ⊥:=\perp ∣:=\mid ∼:=\sim ≅:=\cong ⊂:=\subset ⊆:=\subseteq
            ⊃:=\supset ⊇:=\supseteq
            ∂:=\partial ∇:=\nabla ℓ:=\ell ↦:=\mapsto ⌋:=\rfloor ⌈:=\lceil ⌉:=\rceil ∑:=\sum ∏:=\prod ∫:=\int ¢:=\cents
            Δ:=\Delta Γ:=\Gamma Θ:=\Theta Λ:=\Lambda
            Σ:=\Sigma Φ:=\Phi Ψ:=\Psi Ω:=\Omega €:=\euro £:=\pounds ¥:=\yen ￥:=\yen ₹:=\rupee
            ₽:=\rouble ₺:=\lira ₩:=\won ₫:=\dong ฿:=\baht ₴:=\hryvnia ₪:=\shekel ₦:=\naira ৳:=\taka ₭:=\kip
            ₸:=\tenge"""
        ).items()
    }
    | {chr(0x3B1 + at): f"\\{name} " for at, name in enumerate(_LOWER_GREEK.split())}
)
# The function that an exponent of -1 turns each of these functions into
INVERSE = {name: f"arc{name}" for name in _names("sin cos tan cot sec csc sinh cosh tanh")}
# A function's argument without brackets ends before another function: `\sin x \cos x` is a product
ARGUMENT_STOPS = {f"\\{name}" for name in (*with_role("function"), "root")} - {"\\abs"}
# Currency symbols, which may be written before or after an amount, and the unit that each names
CURRENCIES = {f"\\{name}": command.canonical for name, command in with_role("currency").items()}
# Tokens with which an operand can begin
OPERANDS = frozenset(
    {token for token, command in BY_TOKEN.items() if command.role not in ("look", "same", "relation")} | {"\\left"}
)
CLOSERS = {
    "(": (")", "]"),
    "[": ("]", ")"),
    "\\{": ("\\}",),
    "{": ("}",),
    "\\langle": ("\\rangle",),
    "\\lfloor": ("\\rfloor",),
    "\\lceil": ("\\rceil",),
}
CLOSING = frozenset(closer for closers in CLOSERS.values() for closer in closers)
RELATIONS = {sign: sign for sign in ("=", "<", ">", "<=", ">=", "!=", "->", "=>", ":")} | {
    f"\\{name}": command.canonical for name, command in with_role("relation").items()
}
EMPTY_SET, REALS, INTEGERS = "\\emptyset", "\\mathbb{R}", "\\mathbb{Z}"
WORD_SETS = {
    "all real numbers": REALS,
    "real numbers": REALS,
    "all reals": REALS,
    "reals": REALS,
    "all integers": INTEGERS,
    "integers": INTEGERS,
    "empty set": EMPTY_SET,
    "the empty set": EMPTY_SET,
    "no solution": EMPTY_SET,
    "no solutions": EMPTY_SET,
    "no real solution": EMPTY_SET,
    "no real solutions": EMPTY_SET,
    "infinity": "\\infty",
    "infinite": "\\infty",
} | dict.fromkeys(
    (  # noqa: SIM905
        "any real number|every real number|the real numbers|set of all real numbers|全体实数|所有实数|任意实数"
        "|todos los números reales|todos los reales|todos os números reais|todos os reais|tutti i numeri reali"
        "|tous les nombres réels|tous les réels|alle reellen zahlen|alle reële getallen|все действительные числа"
        "|любое действительное число|множество действительных чисел|усі дійсні числа|wszystkie liczby rzeczywiste"
        "|zbiór liczb rzeczywistych|všechna reálná čísla|tüm gerçek sayılar|tüm reel sayılar|mọi số thực|tập số thực"
        "|semua bilangan real|すべての実数|全ての実数|모든 실수|جميع الأعداد الحقيقية|सभी वास्तविक संख्याएँ"
        "|όλοι οι πραγματικοί αριθμοί|alla reella tal|toate numerele reale|minden valós szám"
    ).split("|"),
    REALS,
)


_RAISED = re.compile(r"(?:[^\x00-\x7f])+")
# Tags of Unicode decompositions. With these tags a character only looks different from the plain one
_LOOKS = frozenset({"<font>", "<wide>", "<narrow>", "<compat>", "<noBreak>"})
_GROUPS = {"<super>": "^", "<sub>": "_"}
_LETTERS = frozenset({"Lu", "Ll", "Lt", "Lm", "Lo"})
_MARKS = frozenset({"Mn", "Mc"})
_ALPHABETS = 0x370


def fold(text: str) -> str:
    r"""The text with each character replaced by its plain spelling, if it has one.

    Digits of all alphabets become ASCII digits. Raised or lowered characters become one group: `⁻¹⁰` is `^{-10}`. A
    vulgar fraction becomes a `\frac`. Mathematical letters and full-width signs become plain ones. Letters of other
    alphabets stay, though they may look like Latin ones; circled and Roman digits stay too.
    """
    text = unicodedata.normalize("NFC", text)
    if _GREEK_ACCENT.search(text) is None:
        return _RAISED.sub(_folded, text)
    # words of Greek are no products of letters
    parts = _GREEK_WORD.split(text)
    return "".join(part if at % 2 else _RAISED.sub(_folded, part) for at, part in enumerate(parts))


_GREEK_ACCENT = re.compile("[άέήίόύώϊϋΐΰΆΈΉΊΌΎΏ]")
_GREEK_WORD = re.compile("([\u0370-\u03ff]{2,})")


def _folded(match: re.Match[str]) -> str:
    out: list[str] = []
    group = ""
    for char in match.group():
        kind, plain = _plain(char)
        found = _GROUPS.get(kind, "")
        if group and found != group:
            out.append("}")
        if found and found != group:
            out.append(found + "{")
        group = found
        out.append(plain)
    return "".join(out) + ("}" if group else "")


def _plain(char: str) -> tuple[str, str]:
    """The tag of a character's Unicode decomposition, and its plain spelling: `<super>` and `2` for `²`.

    The tag is empty if it does not matter here.
    """
    translated = UNICODE.get(ord(char))
    if translated is not None:
        return "", translated
    if char.isdecimal():
        return "", str(unicodedata.decimal(char))
    kind = unicodedata.decomposition(char).partition(" ")[0]
    plain = unicodedata.normalize("NFKC", char)
    if kind == "<fraction>" and len(parts := plain.split("\u2044")) == 2 and all(parts):
        return kind, f"\\frac{{{parts[0]}}}{{{parts[1]}}}"
    if kind in _GROUPS or (kind in _LOOKS and unicodedata.category(char) not in ("Nl", "No")):
        return kind, plain.translate(UNICODE)
    return "", char


def word_end(text: str, at: int) -> int:
    """The position after the non-Latin word that begins at `at`, or `at` itself if no such word begins there.

    `word_end("час = 1", 0)` is 3.

    A combining mark belongs to the word only after a letter of an alphabet that writes with marks. On Latin letters and
    digits, strokes and circles change the meaning.
    """
    end = at
    while end < len(text) and ord(text[end]) > 127:
        category = unicodedata.category(text[end])
        marked = category in _MARKS and end > at and ord(text[end - 1]) >= _ALPHABETS
        if category not in _LETTERS and not marked:
            break
        end += 1
    return end


MAX_CHARS = 12_000
MAX_TOKENS = 3_000


class Unreadable(Exception):
    """The text is not mathematics that this grammar can read."""


class TooComplex(Exception):
    """The text is over a bound (length, tokens, nesting, size of numbers): it is too large to check."""


class Token(NamedTuple):
    """One token of the text.

    Attributes:
        kind: `num` (a number), `sym` (a letter), `name` (of an operator or an environment), `word`, `cmd` (a command
            such as `\\frac`), `op` (an operator or punctuation), `open` or `close` (a bracket).
        spaced: whether white space was before the token.
        upright: whether the letter was set upright, as in `\\mathrm{m}`, and may be a unit.
    """

    kind: str
    text: str
    spaced: bool = False
    upright: bool = False


#: A pattern for white space and for commands that print only space, such as `\quad`
SPACE = (
    r"\\[ ,;:!>\n\t/]|\\(?:q?quad|space|medspace|thickspace|negthinspace)(?![a-zA-Z])"
    r"|\\[hv]space\*?\{[^{}]*\}|[\s~\u200b\ufeff]"
)
_GROUP = r"(?:\{,\}|,(?:\\!|\{\})[ ]?|\\[,;: ]|,)"
# Colours in which a text is invisible. A command with such a colour is kept as a token, which the parser refuses
_INVISIBLE = r"\s*(?i:white|transparent|none|\#?f{3}(?:f{3})?)\s*\}"
_TOKEN = re.compile(
    rf"""(?P<space>(?:{SPACE})+)
    |(?P<skip>\$|\\[()\[\]]|\\(?:label|[hv]?phantom)\s*\{{[^{{}}]*\}}|\\(?:text)?color\s*\{{(?!{_INVISIBLE})[^{{}}]*\}}
        |\\tag\*?\{{\s*\(?(?:\d{{1,3}}|[a-zA-Z*])(?:\.\d{{1,3}})?'?\)?\s*\}})
    |(?P<text>\\(?:text|textbf|textit|textrm|textsf|texttt|textup|textnormal|textsc|mbox)\s*\{{(?P<inner>[^{{}}]*)\}})
    |(?P<roman>\\(?:mathrm|operatorname\*?|mathsf)\s*\{{(?P<mixed>[^{{}}a-zA-Z]*[a-zA-Z]+[^{{}}a-zA-Z][^{{}}]*)\}})
    |(?P<rm>\\(?:mathrm|operatorname\*?|mathop|mathsf|mathbf|mathit|rm)\s*\{{(?:{SPACE})*(?P<upright>[a-zA-Z.]+)(?:{SPACE})*\}})
    |(?P<thousands>[1-9]\d{{0,2}}(?:{_GROUP}\d{{3}})+(?!\d)(?:\.\d+)?)
    |(?P<blocks>[1-9]\d{{0,2}}(?:[ ]\d{{3}})+(?![\d])(?:\.\d+)?)
    |(?P<comma>\d+\{{,\}}\d+)
    |(?P<dots>\.\.\.+)
    |(?P<num>(?:\d+(?:\.\d+|\.(?![\w.]))?|\.\d+)(?:[eE][+-]?\d+(?![\d.a-zA-Z]))?)
    |(?P<env>\\(?P<side>begin|end)\s*\{{(?P<name>[a-zA-Z]+\*?)\}}(?:(?<=array\}})\s*\{{[^{{}}]*\}})?)
    |(?P<bb>\\mathbb\s*(?:\{{\s*)?(?P<field>[A-Z])\s*\}}?)
    |(?P<cmd>\\[a-zA-Z]+\*?)
    |(?P<newline>\\\\(?:\[[^\[\]]*\])?)
    |(?P<escaped>\\[{{}}%$\#&_|])
    |(?P<letters>[a-zA-Z]+)
    |(?P<op><=|>=|!=|==|<>|->|=>|\*\*|[-+*/^_=<>!:;,.&%'|()\[\]{{}}?"])
    """,
    re.VERBOSE,
)
# A word with letters that only some languages of this alphabet have: `Schüler`, `quyển`
_LATIN_WORD = re.compile(r"[a-zA-Z]*[\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u1e00-\u1eff][^\W\d_]*")
_PLAIN = {"==": "=", "<>": "!=", "**": "^", "\\|": "|", "\\%": "%", "\\_": "_", "\\&": "and", "\\#": "#"}
_DOUBLED = re.compile(r"\\\\(?=[a-zA-Z]{2})")
_SEPARATOR = re.compile(r"\{,\}|\\!|\{\}|\\[,;: ]|[, ]")


def tokenize(text: str) -> list[Token]:
    r"""The tokens of a text without its formatting: `\dfrac{1}{2}` and `\frac {1}{2}` have the same texts of tokens.

    The time is linear in the length of the text.

    Raises:
        TooComplex: the text is longer than the bounds.
        Unreadable: the text holds an ASCII character that mathematics does not use, or half a surrogate pair.
    """
    if len(text) > MAX_CHARS:
        raise TooComplex(f"{len(text)} characters, more than {MAX_CHARS}")
    if not text.isascii():
        text = fold(text)
    if "\\\\" in text and "\\begin" not in text:
        # The text was escaped once too often: `\\frac` was `\frac`
        text = _DOUBLED.sub("\\\\", text)
    out: list[Token] = []
    _scan(text, False, out)
    if len(out) > MAX_TOKENS:
        raise TooComplex(f"{len(out)} symbols, more than {MAX_TOKENS}")
    return out


def _scan(text: str, in_text: bool, out: list[Token]) -> None:
    r"""Append the tokens of `text` to `out`; `in_text` says whether it is inside `\text{…}` or the like."""
    at, spaced, depth, ascii_only = 0, False, 0, text.isascii()
    while at < len(text):
        if not ascii_only and (word := _LATIN_WORD.match(text, at)) is not None:
            out.append(Token("word", _joined(word[0]), spaced))
            at, spaced = word.end(), False
            continue
        match = _TOKEN.match(text, at)
        if match is None:
            at = _foreign(text, at, spaced, out)
            spaced = False
            continue
        kind = match.lastgroup or ""
        if kind == "thousands" and depth and "," in match.group() and not re.search(r"\{,\}|\\", match.group()):
            # Inside brackets a bare comma separates elements, not thousands
            match = re.compile(r"\d+").match(text, at) or match
            kind = "num"
        found = match.group()
        at = match.end()
        if kind == "space":
            spaced = True
        elif kind != "skip":
            if kind in ("escaped", "op", "cmd"):
                depth += (found in ("(", "[", "\\{")) - (found in (")", "]", "\\}"))
            if (kind == "op" and found in _SIGNS) or (kind == "num" and found.isdigit()):
                # tokens as they are, as most are
                out.append(Token(kind, found, spaced))
            else:
                _emit(match, kind, spaced, in_text, out)
            spaced = kind == "text" and found[:-1].endswith(" ")


def _foreign(text: str, at: int, spaced: bool, out: list[Token]) -> int:
    """Append a token for the character or the word at `at`, which no pattern matches, and return the position after it.

    A run of another alphabet's letters (Chinese, Cyrillic) is a word, which equals only itself, even if its letters
    look Latin. Any other character may change the meaning of the text around it, so the text must not be read without
    it: the character becomes an operator that the parser does not know.
    """
    end = word_end(text, at)
    if end > at:
        out.append(Token("word", _joined(text[at:end]), spaced))
        return end
    if ord(text[at]) < 128 or 0xD800 <= ord(text[at]) < 0xE000:
        raise Unreadable(f"the character {text[at]!r}")
    out.append(Token("op", text[at], spaced))
    return at + 1


# Operators that become tokens without any further look at their surroundings
_SIGNS = frozenset("+-*/^_=<>,:;")


def _emit(match: re.Match[str], kind: str, spaced: bool, in_text: bool, out: list[Token]) -> None:
    found = match[0]
    match kind:
        case "num" | "thousands" | "blocks":
            # Keep the point of `0.` if repeating digits follow: `0.\overline{3}`
            repeats = match.string.startswith(("\\overline", "\\dot", "\\bar"), match.end())
            out.append(Token("num", _SEPARATOR.sub("", found if repeats else found.rstrip(".")), spaced))
        case "cmd":
            _emit_command(match, spaced, out)
        case "letters":
            _emit_letters(found, spaced, in_text, out, is_product=_is_product(match, in_text, out))
        case "comma":
            # `3{,}5`: a decimal comma, since a group of thousands has three digits
            out.append(Token("num", found.replace("{,}", "."), spaced))
        case "text":
            inside, before = match["inner"], len(out)
            _scan(inside, True, out)
            if len(out) > before and (spaced or inside[:1].isspace()):
                out[before] = out[before]._replace(spaced=True)
        case "roman":
            _scan(match["mixed"], True, out)
        case "rm":
            name = match["upright"]
            if len(name) == 1:
                _emit_letter(name, spaced, "rm" in found, out)
            elif name in OPERATORS if "operatorname" in found else name in PROPERTIES - {"deg"} or name == "rk":
                out.append(Token("cmd", "\\" + name, spaced))
            elif "operatorname" in found:
                out.append(Token("name", name, spaced))
            else:
                _emit_letters(name, spaced, "rm" in found, out)
        case "env":
            out += [Token("cmd", f"\\{match['side']}", spaced), Token("name", match["name"].rstrip("*"))]
        case "bb":
            out.append(Token("cmd", f"\\mathbb{{{match['field']}}}", spaced))
        case "dots":
            out.append(Token("cmd", "\\ldots", spaced))
        case _:
            _emit_op(match, spaced, out)


def _is_product(match: re.Match[str], in_text: bool, out: Sequence[Token]) -> bool:
    """Whether two letters that are also a word or a unit are a product here: `at` in `at^2`, `cm` in `Q=cm`.

    An operator beside them shows it.
    """
    if in_text or len(match[0]) != len("ab"):
        return False
    if match[0] in UNITS and _begins_factor(out):
        return True
    if match[0] not in WORDS or match[0] in _UNLIKE_PRODUCTS:
        return False
    behind = _BEHIND_FACTOR.match(match.string, match.end())
    return behind is not None and (_begins_factor(out) or behind["sign"] is not None)


_BEHIND_FACTOR = re.compile(r"(?P<sign>[-+*/^])|\s*(?:[-+*/)=,.;]|\Z)")
_UNLIKE_PRODUCTS = _names("no or pm am")


def _emit_letters(found: str, spaced: bool, in_text: bool, out: list[Token], *, is_product: bool = False) -> None:
    if found == "sec" and in_text and out and out[-1].kind == "num":
        out.append(Token("word", found, spaced))
    elif found in FUNCTIONS:
        out.append(Token("cmd", "\\" + found, spaced))
    elif found in SPELLED:
        out.append(Token("cmd", SPELLED[found], spaced))
    elif len(found) == 1:
        _emit_letter(found, spaced, in_text, out)
    elif in_text or (_is_word(found) and not is_product):
        out.append(Token("word", found, spaced))
    else:
        tail = next(
            (name for name in (found[1:], found[2:]) if len(name) > 1 and name in FUNCTIONS | SPELLED.keys()), ""
        )
        for letter in found[: len(found) - len(tail)]:
            out.append(Token("sym", letter, spaced))
            spaced = False
        if tail:
            _emit_letters(tail, False, False, out)


def _begins_factor(tokens: Sequence[Token]) -> bool:
    r"""Whether a factor must follow, since the last token is `=`, `+`, `-`, `*` or `(`: no unit comes after these.

    So the `cm` of `Q=cm\Delta t` is a product of two letters.
    """
    return bool(tokens) and tokens[-1].kind == "op" and tokens[-1].text in "=+-*("


def _emit_letter(letter: str, spaced: bool, upright: bool, out: list[Token]) -> None:
    r"""Append a letter to `out`. An upright letter may be read as a unit later: the m of `5\,\mathrm{m}`."""
    out.append(Token("sym", letter, spaced, upright))


def _is_word(found: str) -> bool:
    """Whether a run of letters is a word or a unit, `dollars`, and not a product of symbols, `xyz`."""
    return (
        (len(found) > 3 and not _glued(found))
        or found.lower() in WORDS
        or found in UNITS
        or (len(found) == 3 and found.isupper())
    )


def _glued(found: str) -> bool:
    """Whether one or two letters are written directly before the name of a function, as in `xsin`."""
    return any(found[cut:] in FUNCTIONS and len(found) - cut > 2 for cut in (1, 2))


def _emit_command(match: re.Match[str], spaced: bool, out: list[Token]) -> None:
    name = match[0][1:].rstrip("*")
    if name in ("left", "right") and match.string[match.end() : match.end() + 1] == "|":
        out.append(Token("cmd", "\\" + name, spaced))
    elif name not in LOOKS:
        same = SAME.get(name, "\\" + name)
        kind = "word" if same in ("and", "or", "not") else "cmd" if same.startswith("\\") else "op"
        out.append(Token(_bracket_kind(same) or kind, same, spaced))


def _bracket_kind(text: str) -> str:
    return "open" if text in CLOSERS else "close" if text in CLOSING else ""


def _emit_op(match: re.Match[str], spaced: bool, out: list[Token]) -> None:
    found = _PLAIN.get(match[0], match[0])
    if found == "!=" and not spaced and out and (_ends_number(out) or _FACTORIAL.search(match.string)):
        # `5!=120` is a factorial and an equals sign: behind a number, or if the text has another factorial
        out += [Token("op", "!"), Token("op", "=")]
    elif found != "." or not match.string[: match.start()].endswith(("\\left", "\\right")):
        found = "\\\\" if found.startswith("\\\\") else found
        out.append(Token("word" if found == "and" else _bracket_kind(found) or "op", found, spaced))


_FACTORIAL = re.compile(r"[\d)a-z]\s?!(?!=|\s*\})")


def _ends_number(tokens: Sequence[Token]) -> bool:
    """Whether the tokens end with a number that is no index, or with a bracket of numbers: `5`, `(3+2)`, not `x_5`."""
    if tokens[-1].text == ")":
        numbers = sum(1 for _ in takewhile(lambda token: token.kind in ("num", "op"), tokens[-2::-1]))
        return [token.text for token in tokens[-2 - numbers : -1 - numbers]] == ["("]
    return tokens[-1].kind == "num" and [t.text for t in tokens[-2:-1]] != ["_"]


P = ParamSpec("P")
T = TypeVar("T")


def on_own_stack(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call `function`; if the caller's stack is too deep, call it again in a new thread, which has an empty stack.

    A verdict must not depend on the depth of the caller. The new thread has more room than any caller, so a call that
    succeeds at one depth succeeds at all.

    Raises:
        TooComplex: the recursion is too deep for an empty stack, too.
    """
    try:
        return function(*args, **kwargs)
    except RecursionError:
        pass
    found: list[T] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            found.append(function(*args, **kwargs))
        # boundary: the waiting caller must see every exception, so it is carried over and raised there
        except BaseException as exc:  # noqa: BLE001
            failed.append(exc)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join()
    if failed and isinstance(failed[0], RecursionError):
        raise TooComplex("nested too deeply")
    if failed:
        raise failed[0]
    return found[0]


_MODULI = frozenset({"\\mod", "\\bmod", "mod", "\\pmod", "\\pod"})


def with_modulus(tokens: list[Token]) -> list[Token]:
    r"""The tokens with the modulus of a congruence spelled `\pmod`: those of `x \equiv 1 \pmod 8` for `\mod 8`.

    A list of residues becomes a list of congruences: `x \equiv 1, 3 \pmod 8` is two of them.
    """
    texts = [t.text for t in tokens]
    if "\\equiv" not in texts:
        return tokens
    at = next((at for at, text in enumerate(texts) if text in _MODULI and at > texts.index("\\equiv")), None)
    if at is None:
        return tokens
    rest = tokens[at + 1 :]
    start = at
    if at and texts[at - 1] == "(" and texts[-1:] == [")"]:
        start, rest = at - 1, rest[:-1]
    # a list of residues is a list of congruences: `x \\equiv 1, 3 or 5 \\pmod 8`
    sign = texts.index("\\equiv")
    cuts = [i for i in range(sign + 1, start) if texts[i].lower() in (",", "and", "or")]
    residues = [tokens[low + 1 : high] for low, high in zip([sign, *cuts], [*cuts, start], strict=True)]
    if not cuts and tokens[sign + 1].text == "\\pm":
        residues = [residues[0][1:], [Token("op", "-"), *residues[0][1:]]]
    if len(residues) == 1 or any(t.kind == "open" for t in tokens[sign:start]):
        return [*tokens[:start], Token("cmd", "\\pmod"), *rest]
    found: list[Token] = []
    for residue in residues:
        if residue:
            found += [
                *([Token("op", ",")] if found else []),
                *tokens[: sign + 1],
                *residue,
                Token("cmd", "\\pmod"),
                *rest,
            ]
    return found


# The texts that pandas, JSON and float() write for a missing or overflowed number
_NOT_A_NUMBER = re.compile(r"[-+]?(?:(?i:nan|inf|<na>|nat)|Infinity|INFINITY)")
# The texts that str() and JSON write for a missing value. The case must match: an answer's word "none" is
# `\text{None}` or `none`
_NO_VALUE = frozenset({"None", "null", "NULL"})
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_LAYOUT = "\n\r\t "
# Each control character and the letter of its escape: `\f` is a form feed
_ESCAPES = {"\x07": "a", "\x08": "b", "\t": "t", "\n": "n", "\x0b": "v", "\x0c": "f", "\r": "r"}
# A control character and the rest of a command: the character replaced the backslash and the command's first letter
_LOST = re.compile(
    r"\x0c(?=rac|orall|loor|box)|\x08(?=eta|inom|ar\b|oxed|egin|mod|oldsymbol|f\b|ig|ullet|ot\b)"
    r"|\t(?=imes|heta|an\b|ext|frac|au\b|o\b|riangle|ilde|binom|op\b)|\r(?=ight|ho\b|angle|floor|ceil|m\b|vert)"
    r"|\n(?=eq|e\b|abla|otin|ewline|mid)|\x07(?=lpha|ngle|pprox|rc|st\b|leph)|\x0b(?=ec\b|ee\b|arphi|ert|dots)"
)


def is_missing(text: str) -> bool:
    """Whether the text is what programs write for a missing value or an overflowed number: `NaN`, `-inf`, `None`."""
    # A template may have written `$`, `%` or a backslash around the missing cell
    text = text.strip().strip("$%\\ ")
    return text in _NO_VALUE or _NOT_A_NUMBER.fullmatch(text) is not None


def lost_backslash(text: str) -> str | None:
    r"""A description of the command whose backslash became a control character; None if there is no such command.

    In a string that is not raw, `\frac` begins with a form feed. Tabs and line breaks are layout, unless the rest of a
    command follows: a tab before `imes` was `\times`. Every other control character is damage.
    """
    if text.isprintable():
        return None
    match = _LOST.search(text) or next((m for m in _CONTROL.finditer(text) if m.group() not in _LAYOUT), None)
    if match is None:
        return None
    letter = _ESCAPES.get(match.group())
    if letter is None:
        return f"the control character {match.group()!r}"
    rest = re.match(r"[a-zA-Z]*", text[match.end() :])
    command = f"\\{letter}{rest.group() if rest else ''}"
    return (
        f"the one character `\\{letter}` where `{command}` lost its backslash: in JSON write two, `\\{command}`; in "
        f"Python a raw string, r'{command}…'"
    )


_TEXT = r"\\(?:text|mathrm|textrm|textbf|mbox|operatorname)"
_GAP = r"(?:\\[ ,;:!~]|~|\s)*"
_BASES = {
    name: at
    for at, name in enumerate(
        """two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen""".split(),  # noqa: SIM905
        start=2,
    )
} | {"binary": 2, "octal": 8, "decimal": 10, "hex": 16, "hexadecimal": 16, "bin": 2, "oct": 8, "dec": 10}
_BASE_WORD = "|".join(sorted(_BASES, key=len, reverse=True))

_OR_WORDS = "|".join(OR_WORDS)
_AND_WORDS = "|".join(
    ("oraz", "şi", "й", "και", "および", "かつ", "그리고", "且", "和", "与", "以及", "و", "และ", "ו", *joining("and"))
)

_JOINS = dict.fromkeys(_OR_WORDS.split("|"), "or") | dict.fromkeys(_AND_WORDS.split("|"), "and")


def _joined(word: str) -> str:
    """The English `and` or `or` for a word of another language that means it, as `oder`; any other word unchanged."""
    return _JOINS.get(word, word)


_MINUS = "minus|negative|menos|moins|meno|минус|负|負|マイナス|마이너스"

_CHOSEN = r"\s*\{?\s*(\d+|[a-z])\s*\}?"
_FROM = r"\s*\{\s*([\da-z][\da-z+\-]{0,12})\s*\}"
_CHOOSES = r"(?<![a-zA-Z\\])(?:C|\\(?:mathrm|text|operatorname|rm)\s*\{\s*C\s*\})"
_WIDE = r"(?:\\[ ,;:!]|\\q?quad(?![a-zA-Z])|~|\s)*+"
# No space on one side of a word of one letter, which may be a unit or a constant
_TIGHT = re.compile(r"^\\text\s*\{\S|\S\}$")
_PREFIX = re.compile(r"(?<=kilo|mega|giga|nano|pico)\s|(?<=milli|micro|centi)\s")
_COORDINATE = (
    r"(?:(?<=\d)(?:,|\{,\})(?=\d)|[-+\d./{}\s~]|\\(?:[dt]?frac|sqrt|pi)(?![a-z])|\\[ ,;:!]|\\q?quad(?![a-z]))++"
)
_BAR_OF_POINT = r"(?:\\(?:middle|big[lrm]?)\s*)?(?:[|∣]|\\(?:[lr]?vert|mid)(?![a-z]))"
_SHORT_NUMBER = r"-?(?:\d{1,9}(?:[.,]\d{1,9})?|\\[dt]?frac\{-?\d{1,9}\}\{\d{1,9}\})"
_FIELD = r"\\mathbb\s*\{?(?P<field>[RQ])\}?\s*"


def _point(found: re.Match[str]) -> str:
    """`0.5,3` for the `0,5|3` of a point: commas in place of the bars between coordinates, points in the decimals.

    Unchanged if a part is no coordinate, as in `1+|-2|+3`.
    """
    coordinates = re.split(_BAR_OF_POINT, re.sub(r"(?<=\d)(?:\{,\}|,)(?=\d)", ".", found[0]))
    # `(1+|-2|+3)`
    adds = any(one.rstrip().endswith(("+", "-")) or one.lstrip().startswith("+") for one in coordinates)
    return found[0] if adds or not all(map(_HAS_VALUE.search, coordinates)) else ",".join(coordinates)


_HAS_VALUE = re.compile(r"\d|pi")


def _arrangements(found: re.Match[str]) -> str:
    r"""`\frac{5!}{3!}` for `A_5^2`, a number of arrangements.

    Unchanged if the text has no equals sign, or if an index is a letter: then it may be a power of `A_5`.
    """
    above, below = found.groups()
    if "=" not in found.string or not (above.isdigit() and below.isdigit() and int(below) <= int(above)):
        return found[0]
    return rf"\frac{{{above}!}}{{{int(above) - int(below)}!}}"


def _choices(found: re.Match[str]) -> str:
    r"""`\binom{10}{3}` for `C_{10}^{3}`, a number of choices."""
    above, below = (one for one in found.groups() if one)
    return rf"\binom{{{above}}}{{{below}}}"


def _derivative(found: re.Match[str]) -> str:
    """`y'''` for `y^{(3)}`; an order given by a letter becomes an index."""
    name, order = found.groups()
    return name + "'" * int(order) if order.isdigit() else f"{name}_{{({order})}}"


def _turned_brackets(found: re.Match[str]) -> str:
    """`(2,3)` for `]2;3[`: some countries write an open end of an interval with a bracket that looks away from it.

    Unchanged if the brackets are those of `[2;3]`, or if they do not hold two ends.
    """
    if (found["open"], found["close"]) == ("[", "]"):
        return found[0]
    comma = r"(?<![{\\]),(?!\})"
    low, *others = found["ends"].split(";") if ";" in found["ends"] else re.split(comma, found["ends"])
    if len(others) != 1:
        return found[0]
    # beside a semicolon, a comma is that of a decimal
    low, high = (re.sub(comma, "{,}", end) for end in (low, *others))
    return f"{'(' if found['open'] == ']' else '['}{low},{high}{')' if found['close'] == '[' else ']'}"


def _unknowns(found: re.Match[str]) -> str:
    """`(x,y)=(1,2)` for a column of the unknowns x and y that equals a column of values.

    Unchanged if the first column holds anything but different unknowns.
    """
    names, values = ([one.strip() for one in found[side].split("\\\\")] for side in ("names", "values"))
    known = len(names) == len(values) and len(set(names)) == len(names) and all(map(_UNKNOWN.fullmatch, names))
    return f"({','.join(names)})=({','.join(values)})" if known else found[0]


_UNKNOWN = re.compile(r"[a-z](?:_\{?\d\}?)?|\\(?:alpha|beta|gamma|lambda|mu)")


def _half_of(half: str, found: re.Match[str]) -> str:
    r"""The numbers of a field on one side of zero: `(0,\infty)` for `\mathbb{R}^+`, an intersection for `\mathbb{Q}^+`.

    Args:
        half: the interval of all real numbers on that side of zero.
    """
    return half if found["field"] == "R" else rf"\mathbb{{{found['field']}}}\cap {half}"


def _without_zero(found: re.Match[str]) -> str:
    r"""`\mathbb{R}\setminus\{0\}` for `\mathbb{R}^*`; but `\mathbb{Z}^\times` is the group of units, 1 and -1."""
    if found[1] == "Z" and found[2]:
        return r"\operatorname{units}(\mathbb{Z})"
    return rf"\mathbb{{{found[1]}}}\setminus\{{0\}}"


_ANGLE = (r"(?:\\langle(?![a-z])|[⟨〈])\s*", r"\s*(?:\\rangle(?![a-z])|[⟩〉])")
_END = r"(?:(?!\\[lr]angle)[^,;()\[\]|⟨⟩])"
_ENDS = rf"({_END}{{1,40}}[,;]{_END}{{1,40}}?)"


def _closed_by_angles(found: re.Match[str]) -> str:
    r"""`[2,3)` for `\langle 2,3)`: an interval with square brackets in place of angle brackets at its closed ends."""
    lead, opened, ends, shut = found.groups()
    return f"{lead}{'(' if opened == '(' else '['}{ends}{')' if shut == ')' else ']'}"


_OF_VECTORS = re.compile(r"ve[ck]tor|wektor|ideal|ideál|span|obal|podprostor|podprzestrze|skal[aá]rn", re.IGNORECASE)
_OF_ANGLE_INTERVALS = re.compile(r"[ąęłńśźżćřěůčšžýďťľĺŕ]")
_BETWEEN_ANGLES = re.compile(rf"()(?:\\left)?({_ANGLE[0]}){_ENDS}(?:\\right)?({_ANGLE[1]})")


def with_square_brackets(text: str, question: str | None) -> str:
    r"""`x \in [2,3]` for `x \in \langle 2,3\rangle`, as Czech, Polish and Slovak write closed intervals.

    Args:
        text: an answer or a reference.
        question: its question. The text is left as it is unless the question has letters of these languages, or if it
            is about vectors, for which angle brackets have another meaning.
    """
    if ("angle" not in text and "⟨" not in text) or question is None or _OF_ANGLE_INTERVALS.search(question) is None:
        return text
    return text if _OF_VECTORS.search(question) is not None else _BETWEEN_ANGLES.sub(_closed_by_angles, text)


# The Dutch intervals without an end: `\\langle\\leftarrow, -3]`
_LEFT_ARROW = re.compile(
    rf"(?:\\left\s*)?{_ANGLE[0]}\\leftarrow\s*[,;]\s*({_END}{{1,40}}?)(?:\\right)?({_ANGLE[1]}|\s*[\])])"
)
_RIGHT_ARROW = re.compile(
    rf"(?:\\left\s*)?({_ANGLE[0]}|[\[(])({_END}{{1,40}}?)[,;]\s*\\(?:rightarrow|to)(?![a-z])\s*(?:\\right)?{_ANGLE[1]}"
)


def _or_or_comma(found: re.Match[str]) -> str:
    """The replacement for the word between two equations: `or` for `x=1 o x=2`, a comma for `x=1 y y=2`.

    The comma is for a word that means `and`, between the values of two different names.
    """
    before = re.findall(r"([a-zA-Z])\s*=", found.string[: found.start()])
    both = _joined(found[1]) in ("and", "y", "e", "i") and before[-1:] != [found[2]]
    return ", " if both else r"\text{ or }"


def _joined_in_text(found: re.Match[str]) -> str:
    """` and ` for the ` und ` of `2 und 3`, likewise for `or`, in many languages; any other word unchanged.

    The Dutch `of` (or) is left as it is, because it is an English word, too.
    """
    meaning = _joined(found[1]) if found[1] != "of" else ""
    return f" {meaning} " if meaning in ("and", "or") else found[0]


def _and_or_letter(letter: str, found: re.Match[str]) -> str:
    """The English `and` for a one-letter word that means it between two values, such as the `y` of `2 y 3`.

    Unchanged if the letter is also a symbol of the formula, as in `3(y-4) y (y+2)`.
    """
    return found[0] if re.search(rf"(?<![a-zA-Z\\\s]){letter}(?![a-zA-Z])", found.string) else r"\text{ and }"


_BAR = r"(?:\||\\[lr]?vert(?![a-z])|\\mid(?![a-z]))"
_POINT = (
    "(?:the |le |der |den |el |il |lo |o |het |de )?(?:points?|pun[kc]te?n?|punto|ponto|punt|pun?kti|pont|nokta(?:sı)?"
    "|điểm|titik|точк[аи]|точці|bod|σημείο|نقطة|النقطة|نقطه|बिंदु|বিন্দু|จุด|נקודה|点|點|점)"
)
_GONE = {"公里": "km", "千米": "km", "厘米": "cm", "米": "m", "キロメートル": "km", "キロ": "km", "メートル": "m"}
_SPANS = {"时": "h", "時": "h", "秒": "s", "分": "min"}
_Rule = tuple[str, re.Pattern[str], str | Callable[[re.Match[str]], str]]
# A text that every match contains (a cheap test before the pattern), the pattern, and the new spelling of the match
_RULES: tuple[_Rule, ...] = (
    # `0.(3)`: the digits in the brackets repeat
    ("(", re.compile(r"(?<![\w.)])(\d+)[.,]\((\d{1,30})\)(?![\w(^])"), r"\1.\\overline{\2}"),
    ("(", re.compile(r"^(\d+)[.,](\d+)\((\d{1,30})\)$"), r"\1.\2\\overline{\3}"),
    ("{:}", re.compile(r"\{:\}"), ":"),
    ("\\operatorname", re.compile(r"\\operatorname\*?\s*\{([^{}\x00-\x7f]+)\}"), r"\\text{\1}"),
    # the Dutch ends of an interval without an end
    ("arrow", _LEFT_ARROW, lambda found: f"(-\\infty,{found[1]}{']' if found[2].strip() == ']' else ')'}"),
    ("angle", _RIGHT_ARROW, lambda found: f"{'[' if found[1] == '[' else '('}{found[2]},\\infty)"),
    ("10", re.compile(r"(?<=\d)\s*[xX]\s*(?=10\s*\^)"), r"\\times "),
    # the bar of a set, as tall as the formula on one side of it: `\\left\\{x\\left|x>2\\right.\\right\\}`
    ("\\right.", re.compile(rf"(\\\{{[^|]{{1,60}}?)\\left\s*{_BAR}([^|]{{1,200}}?)\\right\s*\."), r"\1|\2"),
    ("\\left.", re.compile(rf"(\\\{{\s*)\\left\s*\.([^|]{{1,60}}?)\\right\s*{_BAR}(?!\s*[_^])"), r"\1\2|"),
    (
        "A",
        re.compile(r"\\AA(?![a-zA-Z])|\\mathring\s*(?:\{\s*)?(?:\\(?:mathrm|text)\s*\{\s*)?A\s*\}{0,2}"),
        r"\\text{ Å}",
    ),
    # a power in a unit in upright letters: `\\text{m/s²}`
    ("text{", re.compile(r"(?<=[^\W\d_])[²³](?=[^{}$]{0,40}\})"), lambda m: "^2" if m[0] == "²" else "^3"),
    # the word `point` before its coordinates
    ("t{", re.compile(rf"^\\text\s*\{{\s*(?:{_POINT})\s*:?\s*\}}{_WIDE}(?=\(|\\left\s*\()", re.IGNORECASE), ""),
    # the unknown before its set, if the letter is also a constant (`e \\in`), or if the set has a `\\pm`
    ("\\in", re.compile(r"^\s*(?:e|[xz](?=[^}]*\\pm))\s*\\in\s*(?=(?:\\left\s*)?\\\{)"), ""),
    ("lim", re.compile(r"\\(?:varlim|lim)(sup|inf)(?![a-zA-Z])"), r"\\operatorname{lim\1}"),
    # the weight of a body: no milligrams
    ("mg", re.compile(r"(\\mu(?:_\{?\w+\}?)?)\s*mg(?![a-zA-Z])"), r"\1 m g"),
    # the direct sum of two groups is their product
    ("oplus", re.compile(r"(\\mathbb\s*\{?[A-Z]\}?(?:\s*[_^/]\s*\{?\w+\}?)?)\s*\\oplus\s*(?=\\mathbb)"), r"\1\\times "),
    ("0b", re.compile(r"^0b([01]{1,60})$"), r"\1_2"),
    # an index before a symbol: `{}^{14}C`
    ("{}", re.compile(r"\{\}(?=\s*[\^_])"), ""),
    # a number of choices by its letter, as in `C_{10}^{3}`, `C(n,k)`, `_nC_k`
    # indices of one character, whose closing brace belongs to another command: `\\frac{6}{C_5^2}`
    ("C", re.compile(rf"({_CHOOSES})_\s*(\w)(?=\s*\^)"), r"\1_{\2}"),
    ("C", re.compile(rf"({_CHOOSES}_\s*\{{[^{{}}]{{1,14}}\}}\s*\^)\s*(\w)(?!\w)"), r"\1{\2}"),
    ("C", re.compile(rf"{_CHOOSES}_(?:{_FROM}|{_CHOSEN})\s*\^(?:{_FROM}|{_CHOSEN})"), _choices),
    ("C", re.compile(rf"{_CHOOSES}\s*\(\s*(\d+|[nmN])\s*,\s*(\d+|[kmrj])\s*\)"), r"\\binom{\1}{\2}"),
    ("C", re.compile(rf"([_^])\s*(\w)(?=\s*{_CHOOSES}_)"), r"\1{\2}"),
    ("C", re.compile(rf"([_^]\{{\w\}}\s*{_CHOOSES})_\s*(\w)(?!\w)"), r"\1_{\2}"),
    ("C", re.compile(rf"[_^](?:{_FROM}|{_CHOSEN})\s*{_CHOOSES}_(?:{_FROM}|{_CHOSEN})"), _choices),
    # an order of derivation: `y^{(3)}`
    ("^{(", re.compile(r"(?<![a-zA-Z\\])([fghuvwy])\^\{\(([1-5kmn])\)\}"), _derivative),
    # states of quantum physics by the commands of packages
    ("\\ket", re.compile(r"\\ket\{([^{}|]{1,20})\}"), r"|\1\\rangle"),
    ("\\bra", re.compile(r"\\bra\{([^{}|]{1,20})\}"), r"\\langle\1|"),
    ("C", re.compile(r"^(\d+|n)C(\d+|[kr])(?=$|=|\s)"), r"\\binom{\1}{\2}"),
    ("%", re.compile(r"^\\%\s?(\d+(?:[.,]\d+)?)$"), r"\1\\%"),
    # arrangements: `A_5^2`, `{}_5P_2`
    (
        "=",
        re.compile(rf"(?:\\(?:mathrm|text|rm)\s*\{{[AP]\}}|(?<![a-zA-Z\\])[AP])_{_CHOSEN}\s*\^{_CHOSEN}"),
        _arrangements,
    ),
    ("P", re.compile(rf"(?<![\w}}])[_^]{_CHOSEN}P_{_CHOSEN}"), _arrangements),
    ("angle", re.compile(r"(?<=[\d}])\s*\\angle\s*(?=-?[\d(])"), r"\\operatorname{cis}"),
    ("angle", re.compile(r"(?<![a-zA-Z\\])m\s*(?=\\angle)"), ""),
    ("frown", re.compile(r"\\overset\s*\{\s*\\(?:small)?frown\s*\}"), r"\\widehat"),
    (
        "all real",
        re.compile(
            r"^(?:\\text\s*\{\s*)?all real numbers,?(?: [a-z])? (?:except|other than|but)(?: for)?"
            r"(?: [a-z] ?=)?\s*\}?\s*"
            r"(?:[a-z]\s*=\s*)?(-?\d+(?:(?:\s*,\s*|\s*(?:\\text\s*\{\s*)?and\s*+(?:\}\s*+)?)-?\d+)*)\s*\}?$"
        ),
        lambda m: f"\\mathbb{{R}}\\setminus\\{{{','.join(re.findall(r'-?[0-9]+', m[1]))}\\}}",
    ),
    # a currency symbol with a letter: `R$ 5`
    ("R", re.compile(r"^(?:\\text\s*\{\s*)?R\s*\\?\$\s*\}?(?:\\[ ,;:!]|~|\s)*(-?\d[\d.,{}]*)$"), r"\1\\text{ reais}"),
    # two excluded values by one plus-minus sign: `x \\ne \\pm 2`
    (
        "pm",
        re.compile(r"(?<![a-zA-Z\\])([a-z])\s*(?:\\neq?(?![a-zA-Z])|≠)\s*\\pm\s*(\\sqrt\{\d+\}|\d+(?:/\d+)?)"),
        r"\1\\neq \2, \1\\neq -\2",
    ),
    # `or` in other languages between two statements, and a star that marks a name
    (
        "=",
        re.compile(rf"(?<=[\d)}}])\$?\s+({_OR_WORDS}|{_AND_WORDS}|[yeoi])\s+\$?(?=([a-zA-Z])\s*=)"),
        _or_or_comma,
    ),
    (
        "text{",
        re.compile(
            rf"(?<=[\d)}}]){_WIDE}\\text\s*\{{\s*([yeioóu]|of|ou|oder|lub|eller)\s*\}}{_WIDE}"
            r"(?=-?\d|-?\\(?:[dt]?frac|sqrt)|[a-zA-Z]\s*(?:[<>=≤≥]|\\[lgn]e))"
        ),
        lambda m: m[0] if _TIGHT.search(m[0]) else rf"\text{{ {'and' if m[1] in 'yei' else 'or'} }}",
    ),
    (" y ", re.compile(r"(?<=[\d€$%°)}])\s+y\s+(?=[-\d$€(\\])"), partial(_and_or_letter, "y")),
    (" e ", re.compile(r"(?<=[\d€$%°)}])\s+e\s+(?=[-\d$€(\\])"), partial(_and_or_letter, "e")),
    (" i ", re.compile(r"(?<=[\d€$%°)}])\s+i\s+(?=[-\d$€(\\])"), partial(_and_or_letter, "i")),
    (" ", re.compile(r"(?<=[\w€$%°)}])\s+([^\s\d\\{}$()+*/^=,;.]{1,16})\s+(?=[-\d$€(\\])"), _joined_in_text),
    # `x<-7 o x>7`: before another condition it is no name
    (" ", re.compile(rf"(?<=[\w}})])\s+(?:o|{_OR_WORDS})\s+(?=[a-z]\s*(?:[<>=≤≥]|\\[lg][et]))"), " or "),
    (
        "*",
        re.compile(r"(?<![a-zA-Z\\])([a-zA-Z](?:_\{?\w\}?)?)\^\{?\s*(?:\*|\\ast)\s*\}?(?=\s*(?:=|[,)][^=]{0,20}=))"),
        r"\1",
    ),
    # the change of a quantity, named by the quantity itself: `\\Delta x = 3`
    (
        "Delta",
        re.compile(
            r"^\\Delta\s*(?:_\{?[a-z]+\}?)?\s*\{?([a-zA-Z])\}?(?:_\{?(?:\\(?:text|mathrm)\{)?[a-z]+\}{0,2})?(?=\s*=)"
        ),
        r"\1",
    ),
    # a union by a letter
    ("U", re.compile(r"(?<=[)\]])\s*U\s*(?=[\[(])"), r"\\cup "),
    # parallel lines, and a divisor
    ("|", re.compile(r"^([^|]*[A-Z}])\s*\\\|\s*([A-Z\\][^|]*)$"), r"\1\\parallel \2"),
    ("|", re.compile(r"^([^|()\\{}]+)\|([^|()\\{}]+)$"), r"\1\\mid \2"),
    # a point with bars between its coordinates, which are numbers: `P(3|4)`, `(0,5 \\mid 3 \\mid -\\frac{1}{2})`
    ("(", re.compile(rf"(?<=\(){_COORDINATE}(?:{_BAR_OF_POINT}{_COORDINATE})+(?=(?:\\right\s*)?\))"), _point),
    ("_", re.compile(r"^\(([0-9A-Z]+)\)\s*(?=_)"), r"\1"),
    (
        "_",
        re.compile(rf"(?<=[0-9A-Z])_\s*(?:\{{\s*)?(?:{_TEXT}\s*\{{\s*)?({_BASE_WORD})\s*\}}*$", re.IGNORECASE),
        lambda m: f"_{{{_BASES[m[1].lower()]}}}",
    ),
    ("cent", re.compile(r"(?<=[\d}{ ])per cent\b", re.IGNORECASE), "percent"),
    # the exponents of units: `\\mathrm{m\\,s^{-2}}`
    ("rm{", re.compile(r"(?<=[a-zA-Z])\^\{(-?\d)\}(?=(?:[^{}$=]|\^\{-?\d\})*\})"), r"^\1"),
    # equations of which one holds, as they are joined in Russian: `\left[\begin{array}{l} … \end{array}\right.`
    (
        "\\left",
        re.compile(
            r"\\left\s*\[\s*\\begin\{(array|aligned|gathered|matrix)\}(?:\s*\{[lcr| ]{1,6}\})?"
            r"(?P<rows>(?:(?!\\(?:begin|end)|&).){1,400})\\end\{\1\}\s*\\right(?![a-z])\s*\.?"
            r"(?P<of>(?:\\[ ,;:!]|\\q?quad|~|\s)*(?=[a-z](?:\s*,\s*[a-z])*\s*\\in))?",
            re.DOTALL,
        ),
        lambda m: (
            r"\text{ or }".join(one for row in m["rows"].split("\\\\") if (one := row.strip(" ,;.\n")))
            + (", " if m["of"] else "")
        ),
    ),
    # thousands of ohms
    (
        "k",
        re.compile(rf"(?<=\d)(?:\s|~|\\[ ,;])*+(?:{_TEXT}\s*\{{\s*)?k\s*\}}?\$?\s*(?:\\Omega|Ω)\$?\s*\}}?$"),
        r"\\text{ kiloohm}",
    ),
    # the distance per unit of time, for a speed: `秒速15m`
    (
        "速",
        re.compile(
            r"^(?P<span>[时時秒分])速(?:为|は)?\s*(?P<number>\d+(?:\.\d+)?)\s*"
            r"(?P<unit>k?m|cm|公里|千米|厘?米|キロメートル|メートル|キロ)$"
        ),
        lambda m: f"{m['number']}\\text{{ {_GONE.get(m['unit'], m['unit'])}/{_SPANS[m['span']]}}}",
    ),
    # the solution set, as it is named in German
    ("mathbb", re.compile(r"^\s*\\mathbb\s*\{?[LS]\}?\s*=\s*"), ""),
    (
        "\\in",
        re.compile(
            r"(?<=\\in)\s*\{?\s*(?:\\(?:mathrm|mathbf|text|bf)\s*\{)?([ZNRQ])\}*(?=\s*(?:$|[,;)\]^_]|\\[)\]}]|\\right(?![a-z])))"
        ),
        r" \\mathbb{\1}",
    ),
    (
        "mathbb",
        re.compile(rf"{_FIELD}(?:_\{{\\g(?:e|eq|eqslant)\s*0\}}|\^\{{?\+\}}?_\{{?0\}}?|_\{{?0\}}?\^\{{?\+\}}?)"),
        partial(_half_of, "[0,\\infty)"),
    ),
    (
        "mathbb",
        re.compile(rf"{_FIELD}(?:_\{{?-\}}?\^\{{?\*\}}?|\^\{{?\*\}}?_\{{?-\}}?|\^\{{?-\}}?|_\{{?-\}}?|_\{{<\s*0\}})"),
        partial(_half_of, "(-\\infty,0)"),
    ),
    (
        "mathbb",
        re.compile(
            rf"{_FIELD}(?:_\{{?\+\}}?\^\{{?\*\}}?|\^\{{?\*\}}?_\{{?\+\}}?|\^\{{?\+\}}?|⁺|_\{{?\+\}}?|_\{{>\s*0\}})"
        ),
        partial(_half_of, "(0,\\infty)"),
    ),
    (
        "mathbb",
        re.compile(r"\\mathbb\s*\{?([RCQZ])\}?\s*\^\s*(?:\{\s*)?(?:\*|\\ast|\\star|(\\times))(?![a-zA-Z])(?:\s*\})?"),
        _without_zero,
    ),
    (
        "mathbb",
        re.compile(r"\\mathbb\s*\{?N\}?\s*(?:\^\s*(?:\{\s*)?(?:\*|\\ast|\\star|\+)\s*\}?|_\{?\+\}?)"),
        r"\\mathbb{N}",
    ),
    ("mathbb", re.compile(r"\\mathbb\s*\{?Z\}?\s*(?:\^\s*\{?\s*\+\s*\}?|_\{?\+\}?|_\{>0\})"), r"\\mathbb{N}"),
    ("[", re.compile(r"\\[,;:!]\s*(?=[;,\[\]])"), ""),
    # quantities by the commands of siunitx: `\SI{5}{\kilo\metre\per\second}`
    (
        "{\\",
        re.compile(r"\\(?:SI|qty)\{(-?[\d.]+)\}\{((?:\\[a-z]+)+)\}"),
        lambda m: f"{m[1]}\\text{{ {_PREFIX.sub('', ' '.join(m[2].split(chr(92))).strip())}}}",
    ),
    ("text{", re.compile(r"^\\text\s*\{\s*(USD|EUR|GBP|CNY|RMB)\s*\}\s*([\d.,]+)$"), r"\2\\text{ \1}"),
    # intervals as some countries write them: `]-\\infty;2[`
    (
        "[",
        re.compile(r"(?P<open>[\[\]])(?P<ends>[^\[\];()]+(?:;[^\[\];()]+)?)(?P<close>[\[\]])"),
        _turned_brackets,
    ),
    # the unknowns as a column, whose order counts: `\\begin{pmatrix}x\\\\y\\end{pmatrix} = …`
    (
        "matrix}=",
        re.compile(
            r"^\\begin\{(?P<kind>[pb]matrix)\}(?P<names>[^&{}]+?)\\end\{(?P=kind)\}=\s*"
            r"\\begin\{(?P=kind)\}(?P<values>[^&]+?)\\end\{(?P=kind)\}$"
        ),
        _unknowns,
    ),
    ("approx", re.compile(r"(\\approx\s*-?\d+),(?=\d+$)(?!\d{3}$)"), r"\1{,}"),
    ("approx", re.compile(r"(\\approx\s*-?0),(?=\d+$)"), r"\1{,}"),
    # a pair as some countries write it: `(2,5; 3)`
    (
        "(",
        re.compile(rf"\(\s*({_SHORT_NUMBER})\s*;\s*({_SHORT_NUMBER})\s*\)"),
        lambda m: f"({m[1].replace(',', '{,}')};{m[2].replace(',', '{,}')})",
    ),
    # a condition in brackets: `n = 2^k (k \\ge 1)`
    (
        "(",
        re.compile(
            r"^(.*=.*[^\s~,\\])(?:\\[ ,;]|\\q?quad|~|\s)++\(\s*([a-z]\s*(?:\\[gl]eq?(?:slant)?(?![a-z])|[<>])[^()]*)\)$"
        ),
        r"\1,\2",
    ),
    # degrees, minutes and seconds
    ("prime", re.compile(r"\^\s*\{\s*\\prime\s*\\prime\s*\}"), "''"),
    ("prime", re.compile(r"\^\s*\{?\s*\\prime\s*\}?"), "'"),
    (
        "circ",
        re.compile(
            r"(?<![\d.])(\d{1,4})\s*\^?\s*\{?\s*\\circ\s*\}?(?:\s|\\[ ,;:!])*(\d{1,2})\s*'(?!')"
            r"(?:(?:\s|\\[ ,;:!])*(\d{1,2})\s*(?:''|\"))?"
        ),
        lambda m: f"\\frac{{{(int(m[1]) * 60 + int(m[2])) * 60 + int(m[3] or 0)}}}{{3600}}^\\circ",
    ),
    # fractions, numbers and angles by the commands of packages; roots of TeX
    ("frac", re.compile(r"\\(?:nice|s|x)frac(?![a-zA-Z])"), r"\\frac"),
    ("\\num", re.compile(r"\\num\{(-?[\d.]+)(?:e(-?\d+))?\}"), lambda m: m[1] + f"\\cdot 10^{{{m[2]}}}" * bool(m[2])),
    ("\\ang", re.compile(r"\\ang\{(-?[\d.]+)\}"), r"\1^\\circ"),
    ("\\of", re.compile(r"\\root\s*(\w)\s*\\of(?![a-zA-Z])\s*(\{[^{}]{1,80}\}|\w)"), r"\\sqrt[\1]{\2}"),
    # a group of remainders
    ("/", re.compile(r"(\\mathbb\s*\{?Z\}?)\s*/\s*(?:\((\d+)\)|(\d++)(?:\s*\\mathbb\s*\{?Z\}?)?)"), r"\1_{\2\3}"),
    # an equals sign with a limit over or under it, and a lower bound that names its variable: `\\int_{x=0}`
    ("{=}", re.compile(r"\\(?:underset|overset|stackrel)\s*\{[^{}?]*\\to(?![a-z])[^{}?]*\}\s*\{=\}"), "="),
    ("int_{", re.compile(r"(\\int_)\{\s*[a-z]\s*=\s*([^{}=]*)\}"), r"\1{\2}"),
    # a closed end in Czech, Polish and Slovak: behind `\\in` or `\\cup`, or beside an open end
    (
        "\\in",
        re.compile(rf"(\\in\s*)(?:\\left)?({_ANGLE[0]}|\(){_ENDS}(?:\\right)?({_ANGLE[1]}|\))"),
        _closed_by_angles,
    ),
    ("cup", re.compile(rf"(\\cup\s*)(?:\\left)?({_ANGLE[0]}){_ENDS}(?:\\right)?({_ANGLE[1]}|\))"), _closed_by_angles),
    ("angle", re.compile(rf"()(?:\\left)?({_ANGLE[0]}){_ENDS}(?:\\right)?(\))"), _closed_by_angles),
    ("angle", re.compile(rf"()(?:\\left)?(\(){_ENDS}(?:\\right)?({_ANGLE[1]})"), _closed_by_angles),
    # the mark that aligns lines, beside an equals sign
    ("&", re.compile(r"&\s*=|=\s*&"), "="),
    # a system with one brace
    (
        "\\begin",
        re.compile(
            r"\\left\s*\\\{\s*\\begin\{(?P<kind>array|aligned|matrix)\}(?:\{[lcr|@ ]*\})?(?P<rows>.*?)"
            r"\\end\{(?P=kind)\}\s*\\right\s*\.?"
        ),
        r"\\begin{cases}\g<rows>\\end{cases}",
    ),
    # a constant of integration in words, square units in French, and the end of a Japanese sentence
    ("const", re.compile(r"(?<=\+)\s*\\(?:text|mathrm)\s*\{\s*const(?:\.|ant)?\s*\}\s*$"), "C"),
    ("'a", re.compile(r"unités? d'(?:aire|area)"), "square units"),
    ("'", re.compile(r"(?<=\s)(?:all'|à l')(?=ora\b|heure\b)"), "per "),
    ("kr", re.compile(r"(?<=\d) kr\.?\Z"), r"\\text{ kronor}"),
    # an amount behind the short name of its money: `Rs. 50`
    *(
        (
            needed,
            re.compile(rf"^(?:\\text\s*\{{\s*)?({name})\b\.?\s*\}}?{_GAP}(\d[\d.,{{}}]*)\s*\}}?$"),
            r"\2\\text{ \1}",
        )
        for needed, name in (("Rs", "Rs"), ("Rp", "Rp"), ("sh", "[KTU]shs?"), ("Sh", r"(?:[KTU]Shs?\b|Shs?(?=\.))"))
    ),
    ("で", re.compile(r"(?<=[^\s{])(?:です|である)。?(?=\s*\}\s*$)"), ""),
    ("单位", re.compile(r"个单位"), "单位"),
    # `LCM(4,6)`, as words or as a formula
    (
        "(",
        re.compile(
            r"(?:\\(?:text|mathrm)\s*\{\s*)?(?<![a-zA-Z])(?:(?P<low>LCM)|GCD|HCF|GCF)\s*\}?(?=\s*(?:\\left)?\()"
        ),
        lambda m: f"\\operatorname{{{'lcm' if m['low'] else 'gcd'}}}",
    ),
    ("元钱", re.compile(r"元钱(?=\s*\}\s*$)"), "元"),
    ("{:}", re.compile(r"(?<=\d)\{:\}(?=\d\d)"), ":"),
    # an hour by its letter in other languages
    ("km/", re.compile(r"(?<=km/)(?:u|t|st|hod|tim)\b\.?"), "h"),
    # `and` and `or` in the languages of the models' solutions, also behind a unit: `12\\text{ cm und }5`
    (
        "t{",
        re.compile(
            rf"(?<=[\d}},\s])\\text\{{(\s*[^\W\d_]{{1,12}}[²³]?)\s+((?!of\s*\}})(?:{_OR_WORDS}|{_AND_WORDS}|[yei](?=\s)))"
            r"\s*\}(?=\s*-?(?:\d|\\[dt]?frac|\\sqrt))"
        ),
        r"\\text{\1}\\text{ \2 }",
    ),
    ("t{", re.compile(rf"\\text\{{(?:\s*(?:{_OR_WORDS})|\s+[oó])\s*\}}"), r"\\text{ or }"),
    ("t{", re.compile(rf"\\text\{{(?:\s*(?:{_AND_WORDS})|\s+[yei](?=\s))\s*\}}"), r"\\text{ and }"),
    ("t{", re.compile(rf"^\\text\{{\s*(?:{_MINUS})\s*\}}\s*(?=\d|\\[dt]?frac)"), "-"),
    # `(1,2)^T`: a column, written as a transposed row
    (
        "^",
        re.compile(
            r"(?<![\w)}])[(\[]([^()\[\]]*,[^()\[\]]*)[)\]]"
            r"\s*\^(?:\{\s*)?(?:T|\\top|\\intercal|\\(?:mathsf|mathrm|text)\s*\{\s*T\s*\})(?:\s*\})?(?=\s*(?:,|\\\}|\\right\s*\\\}|$))"
        ),
        r"(\1)",
    ),
    # names: `\\det = 18`, `f(x)_{\\text{min}}`
    ("=", re.compile(r"^\\(det|gcd|lcm|lim|arg|deg)\s*(?==)"), r"\\text{\1}"),
    ("_{", re.compile(r"^([a-zA-Z])\([a-z]\)\s*(?=_\{[^{}]*(?:\{[^{}]*\})?\}\s*=)"), r"\1"),
    # feet and inches
    ("'", re.compile(rf"^(\d+)\s*'{_GAP}(\d+(?:\.\d+)?)\s*(?:''|\"|$)$"), r"\1\\text{ ft }\2\\text{ in}"),
    ("'", re.compile(r"^(\d+(?:\.\d+)?)\s*''$"), r"\1\\text{ inches}"),
    ('"', re.compile(r"^(\d+(?:\.\d+)?)\s*\"$"), r"\1\\text{ inches}"),
)
_PLAIN_DECIMAL = str.maketrans(
    {"٫": ".", "٬": "", "″": "''", "”": '"', "’": "'", "′": "'"}
    | {field: f"\\mathbb{{{letter}}}" for field, letter in zip("ℝℤℕℚℂ", "RZNQC", strict=True)}
)
# The rules respell single values, which are short
_LONGEST = 400


@lru_cache(maxsize=128)
def respelled(text: str) -> str:
    r"""The text in common LaTeX, without the spellings of single countries or packages: `0.\overline{3}` for `0.(3)`.

    `_RULES` lists these spellings. A text of more than `_LONGEST` characters is left as it is.
    """
    if len(text) > _LONGEST:
        return text
    if not text.isascii():
        text = text.translate(_PLAIN_DECIMAL)
    for needed, pattern, spelling in _RULES:
        if needed in text:
            text = pattern.sub(spelling, text)
    return text
