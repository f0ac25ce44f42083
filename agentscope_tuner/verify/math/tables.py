"""What the scanner and the parser know by name."""

from __future__ import annotations

from agentscope_tuner.verify.math.node import BigSign


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _pairs(text: str) -> dict[str, str]:
    # `\,` stands before what would otherwise part the entries
    return {name: value for name, _, value in (entry.partition(":=") for entry in text.split())}


FUNCTIONS = _names(
    """sin cos tan cot sec csc arcsin arccos arctan arccot arcsec arccsc sinh cosh tanh coth sech csch arcsinh arccosh
    arctanh asin acos atan asinh acosh atanh ln log lg exp sqrt cbrt abs det gcd lcm min max floor ceil sgn sign Re Im
    re im arg conj conjugate root erf frac binom"""
)
GREEK = _names(
    """alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon phi chi psi
    omega Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega"""
)
# names that plain text writes without a backslash
SPELLED = {"pi": "\\pi", "infinity": "\\infty", "inf": "\\infty", "oo": "\\infty", "infty": "\\infty"} | {
    name: "\\" + name for name in _names("alpha beta gamma delta epsilon theta lambda mu sigma omega phi psi rho tau")
}
UNITS = _names(
    """cm mm km kg mg ml mL ft lb lbs oz mph kph hr hrs min mins sec secs yd mi cc kHz Hz MHz kW kJ MeV eV rad deg
    USD EUR GBP RMB cal kcal kmh"""
)
# runs of letters that are words although they are short
WORDS = _names(
    """and or no yes odd even true false none all not any set am pm at is to of percent pct percentage dollars dollar
    cents cent degrees degree per if then for cup day days year years mile miles men old new one two six ten"""
)
# commands that only change how things look
LOOKS = _names(
    """displaystyle textstyle scriptstyle limits nolimits left right big Big bigg Bigg bigl bigr Bigl Bigr biggl biggr
    Biggl Biggr middle mathrm mathit mathsf mathtt mathbf bm boldsymbol mathop mathnormal rm bf it hfill hfil strut
    displaylimits nonumber notag newline thinspace enspace boxed fbox ensuremath bigm
    mathord mathrel mathbin hbox protect cal"""
)
# commands that say what another command or character says
SAME = _pairs(
    r"""dfrac:=\frac tfrac:=\frac cfrac:=\frac dbinom:=\binom tbinom:=\binom cdot:=* times:=* ast:=* star:=* bullet:=*
    div:=/ slash:=/ leq:=<= le:=<= leqslant:=<= leqq:=<= geq:=>= ge:=>= geqslant:=>= geqq:=>= lt:=< gt:=> ne:=!= neq:=!=
    lbrace:=\{ rbrace:=\} lbrack:=[ rbrack:=] lvert:=| rvert:=| vert:=| lparen:=( rparen:=) mid:=\mid to:=->
    rightarrow:=-> longrightarrow:=-> Rightarrow:==> implies:==> Longrightarrow:==> land:=and wedge:=and lor:=or vee:=or
    prime:=' colon:=: degree:=\circ varnothing:=\emptyset bigcup:=\cup bigcap:=\cap smallsetminus:=\setminus
    backslash:=\setminus varepsilon:=\epsilon varphi:=\phi vartheta:=\theta lnot:=not neg:=not approxeq:=\approx
    simeq:=\approx dots:=\ldots cdots:=\ldots dotsc:=\ldots dotsb:=\ldots hdots:=\ldots overrightarrow:=\vec
    textdollar:=\$ EUR:=\euro pound:=\pounds texteuro:=\euro textsterling:=\pounds textyen:=\yen
    infin:=\infty plusmn:=\pm R:=\mathbb{R} reals:=\mathbb{R} Reals:=\mathbb{R} Z:=\mathbb{Z}
    N:=\mathbb{N} Q:=\mathbb{Q} C:=\mathbb{C}"""
)
_LOWER_GREEK = """alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho varsigma sigma
tau upsilon phi chi psi omega"""
UNICODE = str.maketrans(
    _pairs(
        r"""−:=- –:=- —:=- ‐:=- ‑:=- ×:=* ·:=* ⋅:=* ∙:=* ∗:=* ÷:=/ ⁄:=/ ∕:=/ ≤:=<= ⩽:=<= ≥:=>= ⩾:=>= ≠:=!= →:=-> ⇒:==>
        ′:=' ’:=' ″:='' ℝ:=\mathbb{R} ℤ:=\mathbb{Z} ℕ:=\mathbb{N} ℚ:=\mathbb{Q} ℂ:=\mathbb{C}
        ，:=, 、:=, ；:=; ：:=: ＄:=\$ 。:=. “:=" ”:=" ‘:=' """
    )
    | {
        symbol: command + " "
        for symbol, command in _pairs(
            r"""√:=\sqrt ∛:=\cbrt ∞:=\infty ≈:=\approx ±:=\pm ∓:=\mp ∪:=\cup ∩:=\cap ∅:=\emptyset ∈:=\in
            °:=^\circ º:=^\circ
            ∖:=\setminus ¬:=\lnot ∧:=\land ∨:=\lor …:=\ldots ⋯:=\ldots ≡:=\equiv ⟨:=\langle ⟩:=\rangle ⌊:=\lfloor
            ⌋:=\rfloor ⌈:=\lceil ⌉:=\rceil ∑:=\sum ∏:=\prod ∫:=\int ¢:=\cents Δ:=\Delta Γ:=\Gamma Θ:=\Theta Λ:=\Lambda
            Σ:=\Sigma Φ:=\Phi Ψ:=\Psi Ω:=\Omega €:=\euro £:=\pounds ¥:=\yen ￥:=\yen ₹:=\rupee"""
        ).items()
    }
    | {chr(0x3B1 + at): f"\\{name} " for at, name in enumerate(_LOWER_GREEK.split())}
)
INVERSE = {name: f"arc{name}" for name in _names("sin cos tan cot sec csc sinh cosh tanh")}
ALIASES = _pairs(
    """asin:=arcsin acos:=arccos atan:=arctan asinh:=arcsinh acosh:=arccosh atanh:=arctanh re:=Re im:=Im conjugate:=conj
    sign:=sgn lg:=log"""
)
PREFIX = frozenset("\\" + name for name in FUNCTIONS)
# a function's bare argument ends before another function
ARGUMENT_STOPS = PREFIX - {"\\sqrt", "\\frac", "\\binom", "\\cbrt", "\\abs"}
DECORATIONS = _names(
    r"""\vec \hat \widehat \angle \triangle \tilde \mathcal \mathscr \mathfrak \underline \dot \ddot"""
)
# decorations that make another symbol of the one they stand on
NAMING = _names(r"\hat \widehat \tilde \dot \ddot")
BIG: dict[str, BigSign] = {"\\int": "int", "\\sum": "sum", "\\prod": "prod", "\\lim": "lim"}
SYMBOLS = frozenset("\\" + name for name in GREEK) | _names(
    r"""\infty \emptyset \ell \hbar \aleph \nabla \partial \ldots \mathbb{R} \mathbb{Z} \mathbb{N} \mathbb{Q} \mathbb{C}
    \square \checkmark"""
)
# what stands before an amount or after it, and the unit that it names
CURRENCIES = {"\\$": "$", "\\euro": "euro", "\\pounds": "gbp", "\\yen": "yen", "\\rupee": "rupee"}
OPERANDS = (
    PREFIX | SYMBOLS | DECORATIONS | BIG.keys() | {"\\begin", "\\left", "\\overline", "\\bar"} | CURRENCIES.keys()
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
RELATIONS = _pairs(
    r"""=:== <:=< >:=> <=:=<= >=:=>= !=:=!= \in:=in \approx:=~ ->:=-> =>:==> \sim:=sim \equiv:== \cong:=cong \iff:=iff
    \subset:=subset \subseteq:=subset ::=: \notin:=notin \perp:=perp \parallel:=parallel \propto:=propto \mapsto:=->
    \Leftrightarrow:=iff \nmid:=nmid \pmod:=pmod \leftrightarrow:=iff \triangleq:== \coloneqq:=="""
)
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
}
