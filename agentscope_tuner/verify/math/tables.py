"""The commands and names that the scanner and the parser know."""

from __future__ import annotations

from agentscope_tuner.verify.math.commands import BY_TOKEN, with_role


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _pairs(text: str) -> dict[str, str]:
    return {name: value for name, _, value in (entry.partition(":=") for entry in text.split())}


# Commands that plain text may write without a backslash
FUNCTIONS = frozenset(with_role("function", "fraction", "binomial", "root"))
LOOKS = frozenset(with_role("look"))
SAME = {name: command.canonical for name, command in with_role("same").items()}
# Symbols that plain text may write without a backslash
SPELLED = {"pi": "\\pi", "infinity": "\\infty", "inf": "\\infty", "oo": "\\infty", "infty": "\\infty"} | {
    name: "\\" + name for name in _names("alpha beta gamma delta epsilon theta lambda mu sigma omega phi psi rho tau")
}
UNITS = _names(
    """cm mm km kg mg ml mL ft lb lbs oz mph kph hr hrs min mins sec secs yd mi cc kHz Hz MHz kW kJ MeV eV rad deg
    USD EUR GBP RMB cal kcal kmh"""
)
# Short runs of letters that are words, not products of symbols
WORDS = _names(
    """and or no yes odd even true false none all not any set am pm at is to of percent pct percentage dollars dollar
    cents cent degrees degree per if then for cup day days year years mile miles men old new one two six ten"""
)
_LOWER_GREEK = """alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho varsigma sigma
tau upsilon phi chi psi omega"""
UNICODE = str.maketrans(
    _pairs(
        r"""−:=- –:=- —:=- ‐:=- ‑:=- ×:=* ·:=* ⋅:=* ∙:=* ∗:=* ÷:=/ ⁄:=/ ∕:=/ ≤:=<= ⩽:=<= ≥:=>= ⩾:=>= ≠:=!= →:=-> ⇒:==>
        ∶:=: ′:=' ’:=' ″:='' ℝ:=\mathbb{R} ℤ:=\mathbb{Z} ℕ:=\mathbb{N} ℚ:=\mathbb{Q} ℂ:=\mathbb{C}
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
# The function that an exponent of -1 turns each of these functions into
INVERSE = {name: f"arc{name}" for name in _names("sin cos tan cot sec csc sinh cosh tanh")}
# A function's argument without brackets ends before another function: `\sin x \cos x` is a product
ARGUMENT_STOPS = {f"\\{name}" for name in (*with_role("function"), "root")} - {"\\abs"}
# Currency signs, which may stand before or after an amount, and the unit that each names
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
    "any real number|every real number|the real numbers|set of all real numbers|全体实数|所有实数|任意实数".split("|"),  # noqa: SIM905
    REALS,
)
