r"""The table of all known LaTeX commands: name, canonical name, role and number of operands.

The scanner replaces a command of the role `same` by its canonical name, and drops one of the role `look`. The parser
reads every other command by its role.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

Role = Literal[
    "look", "same", "function", "fraction", "binomial", "root", "symbol", "constant", "bar", "decoration", "accent",
    "big", "environment", "currency", "relation",
]  # fmt: skip
MANY = -1


class Command(NamedTuple):
    """One row of the table; `arity` is the number of operands, or `MANY` for any number."""

    name: str
    canonical: str
    role: Role
    arity: int


# Role, arity and names. `name:=canonical` gives a canonical name that differs from the name
_ROWS: tuple[tuple[Role, int, str], ...] = (
    ("function", 1, """
        sin cos tan cot sec csc arcsin arccos arctan arccot arcsec arccsc sinh cosh tanh coth sech csch arcsinh arccosh
        arctanh asin:=arcsin acos:=arccos atan:=arctan asinh:=arcsinh acosh:=arccosh atanh:=arctanh ln log lg:=log exp
        abs det floor ceil sgn sign:=sgn Re Im re:=Re im:=Im arg conj conjugate:=conj erf"""),
    ("function", MANY, "gcd lcm min max"),
    ("fraction", 2, "frac"),
    ("binomial", 2, "binom"),
    ("root", 1, "sqrt cbrt root"),
    ("constant", 0, "pi infty"),
    ("symbol", 0, r"""
        alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi rho sigma tau upsilon phi chi psi omega
        Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega emptyset ell hbar aleph nabla partial ldots mathbb{R}
        mathbb{Z} mathbb{N} mathbb{Q} mathbb{C} square checkmark"""),
    # A line over capital letters marks a segment, over any other formula a conjugate
    ("bar", 1, "overline bar"),
    ("decoration", 1, "vec angle triangle mathcal mathscr mathfrak underline"),
    # Accents that change a symbol's identity: `\hat{x}` is not `x`
    ("accent", 1, "hat widehat tilde dot ddot"),
    ("big", 1, "int sum prod lim"),
    ("environment", 0, "begin"),
    ("currency", 1, r"$:=$ euro:=euro pounds:=gbp yen:=yen rupee:=rupee"),
    ("relation", 2, r"""
        in:=in approx:=~ sim:=sim equiv:== cong:=cong iff:=iff subset:=subset subseteq:=subset notin:=notin perp:=perp
        parallel:=parallel propto:=propto mapsto:=-> Leftrightarrow:=iff nmid:=nmid pmod:=pmod leftrightarrow:=iff
        triangleq:== coloneqq:=="""),
    ("same", 0, r"""
        dfrac:=\frac tfrac:=\frac cfrac:=\frac dbinom:=\binom tbinom:=\binom cdot:=* times:=* ast:=* star:=* bullet:=*
        div:=/ slash:=/ leq:=<= le:=<= leqslant:=<= leqq:=<= geq:=>= ge:=>= geqslant:=>= geqq:=>= lt:=< gt:=> ne:=!=
        neq:=!= lbrace:=\{ rbrace:=\} lbrack:=[ rbrack:=] lvert:=| rvert:=| vert:=| lparen:=( rparen:=) mid:=\mid to:=->
        rightarrow:=-> longrightarrow:=-> Rightarrow:==> implies:==> Longrightarrow:==> land:=and wedge:=and lor:=or
        vee:=or prime:=' colon:=: degree:=\circ varnothing:=\emptyset bigcup:=\cup bigcap:=\cap smallsetminus:=\setminus
        backslash:=\setminus varepsilon:=\epsilon varphi:=\phi vartheta:=\theta lnot:=not neg:=not approxeq:=\approx
        simeq:=\approx dots:=\ldots cdots:=\ldots dotsc:=\ldots dotsb:=\ldots hdots:=\ldots overrightarrow:=\vec
        textdollar:=\$ EUR:=\euro pound:=\pounds texteuro:=\euro textsterling:=\pounds textyen:=\yen infin:=\infty
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
    """The commands of these roles by their names."""
    return {name: command for name, command in COMMANDS.items() if command.role in roles}
