"""Formulas, reactions and electron configurations of chemistry, compared by their substances."""

from __future__ import annotations

from collections import Counter

from agentscope_tuner.verify import re
from agentscope_tuner.verify.asked_clause import asking_clause
from agentscope_tuner.verify.math.compare_notations import LONGEST_OPTION, SET_TYPE, unset
from agentscope_tuner.verify.math.names import substances
from agentscope_tuner.verify.math.node import (
    DIFFERENT,
    EQUAL,
    UNKNOWN,
    Outcome,
)
from agentscope_tuner.verify.math.question import Question
from agentscope_tuner.verify.math.tokens import fold
from agentscope_tuner.verify.math.units import unit_named
from agentscope_tuner.verify.math.unwrap import PLAIN_REACTION, Pair

ELEMENTS = frozenset(
    """H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge As Se Br Kr Rb Sr Y Zr Nb
    Mo Tc Ru Rh Pd Ag Cd In Sn Sb Te I Xe Cs Ba La Ce Nd Sm Eu Gd W Os Ir Pt Au Hg Tl Pb Bi Po At Rn Fr Ra Ac Th Pa U
    Np Pu Am""".split()  # noqa: SIM905
)
_ARROW = re.compile(
    # with the condition of the reaction, which its equation may leave out
    r"\\x(?:right)?(?:arrow|longequal|longrightarrow)\s*(?:\[[^\[\]]*\])?\s*\{(?:[^{}]|\{[^{}]*\})*\}"
    r"|\\(?:overset|stackrel|underset)\s*\{(?:[^{}]|\{[^{}]*\})*\}\s*\{(?:(?:=|\\!|\s)++"
    r"|\s*\\(?:(?:long)?rightarrow|to)\s*)\}"
    r"|->(?:\[[^\[\]]*\])?|\\(?:long)?rightarrow|\\to(?![a-z])|⟶|\\rightleftharpoons|⇌|<=>|="
)
_STATE = re.compile(r"_?\((?:s|l|g|aq)\)|\\(?:up|down)arrow|[↑↓]")
_SCRIPT = re.compile(r"([_^])(?:\{([^{}]*)\}|((?<=\^)\d?[+-]|\w))")
_SPECIES = re.compile(
    r"\d*(?:_\w+;)?(?:\^[\d+-]+;)?(?:(?:[A-Z][a-z]?|[()\[\]]|e(?=\^))(?:_?\d*;?)(?:\^[\d+-]+;)?|\*\d*)+"
)


def chemistry(pair: Pair) -> Outcome:
    r"""Compare formulas of chemistry: `\ce{2H2 + O2 -> 2H2O}`. States count where the reference has them."""
    # a formula may be set in each of its parts: `2H$_2$O`
    truth = pair.ref.text.replace("$", "")
    plain = re.sub(r"_\{(\d+)\}", r"\1", fold(truth))
    is_plain = (PLAIN_REACTION.search(plain) or _PLAIN_FORMULA.fullmatch(plain)) is not None
    is_plain = is_plain or (pair.question is not None and pair.question.has(_OF_CHEMISTRY))
    if not (is_plain or _CHEMICAL.search(truth)) or len(pair.answer) > LONGEST_OPTION * 4:
        return UNKNOWN
    mine = _species(pair.ref.text, keep=True)
    if mine is None:
        return UNKNOWN
    if pair.question is not None and _OF_CONDITIONS.search(pair.question.text) is not None:
        wanted, found = _condition(pair.ref.text), _condition(pair.answer)
        if wanted and wanted != found:
            return DIFFERENT
    theirs = _species(pair.answer, keep=bool(_STATE.search(SET_TYPE.sub("", pair.ref.text))))
    if theirs == mine:
        return EQUAL
    # the order of the elements tells how they are joined
    return DIFFERENT if theirs is not None and mine[1:] == theirs[1:] == [] and _is_of_atoms(pair) else UNKNOWN


# An amount of a substance: `36\\text{ g of }H_2O`, `2\\ \\mathrm{mol\\ CO_2}`
_OF_SUBSTANCE = re.compile(
    r"(?P<amount>\D{0,40}\d.*?)\s*(?<![a-zA-Z\\])(?P<unit>[a-zA-Zµμ]{1,9})\s+(?:(?:of|de|di|von|av) )?\(?"
    r"(?P<formula>(?:[A-Z][a-z]?\s*(?:_?\s*\{?\d+\}?\s*)?){2,6}|[A-Z][a-z]?\s*_?\s*\{?\d\}?)\)?"
)


def without_substance(text: str, asked: Question) -> str:
    """An amount without the formula of the one substance that the question asks for, behind its unit."""
    said = unset(re.sub(r"\\ce(?=\{)", r"\\text", text)) if len(text) <= LONGEST_OPTION else ""
    found = _OF_SUBSTANCE.fullmatch(said)
    if found is None or unit_named(found["unit"]) is None:
        return text
    # the one that is asked for, or the first of those: `How many grams of CO2 are produced from CH4`
    formula, asked_for = re.sub(r"[\s_{}]", "", found["formula"]), substances(asked.text)
    asks = re.sub(r"[_{}$^\\]|mathrm|text", "", asking_clause(asked.text)[0])
    is_first = (
        re.search(rf"\b(?:grams?|mass|moles?|lit(?:er|re)s?|volume) (?:of )?{formula}(?![a-zA-Z0-9])", asks) is not None
    )
    is_asked = asked_for == {formula} or (formula in asked_for and is_first)
    return f"{found['amount']}\\text{{ {found['unit']}}}" if is_asked else text


# Of which elements a compound's question does not ask, where it has others
_FIXED = frozenset("O H F Li Na K Rb Cs Mg Ca Sr Ba Al Zn Ag".split())  # noqa: SIM905
_OF_OXIDATION = re.compile(
    r"oxida[tc]i(?:on|e|ón|ão)|ossidazione|oxydation|степен\w* окисл|ступ\w* окисн|氧化数|化合价|酸化数|산화수"
    r"|utlenieni|yükseltgenme|oxi hóa|oxidatie|oxidační",
    re.IGNORECASE,
)
_STATE_OF = re.compile(
    r"(?:(?P<of>[A-Z][a-z]?)|(?P<name>[^\W\d_]{3,}))?(?<![A-Z](?=[IV]))[\s:=(^]*(?P<sign>[+-]?)(?:(?P<number>\d)|(?P<roman>V?I{1,3}|I?V|VIII))(?P<behind>[+-]?)\)?"
)
_ROMAN = {said: at for at, said in enumerate("I II III IV V VI VII VIII".split(), 1)}  # noqa: SIM905


def in_figures_of_oxidation(text: str, asked: Question) -> str:
    """`+6` for `Cr(VI)` and `+VI`, where the question asks in which state of oxidation an element is."""
    if len(text) > LONGEST_OPTION or not asked.has(_OF_OXIDATION):
        return text
    found = _STATE_OF.fullmatch(unset(re.sub(r"[{}$]|\\(?:ce|mathrm|text)(?![a-z])", "", text)).replace("−", "-"))
    if found is None or (found["sign"] and found["behind"]):
        return text
    name, of = found["name"], found["of"]
    given = {*re.findall(r"[A-Z][a-z]?(?![a-z])", " ".join(re.findall(r"[A-Z][A-Za-z0-9_{}()]*", asked.text)))}
    if (name and not asked.says(name.lower())) or (of and (of not in given or (of in _FIXED and not given <= _FIXED))):
        return text
    number = found["number"] or _ROMAN[found["roman"]]
    is_told = of or name or found["roman"] or found["behind"]
    return f"{found['sign'] or found['behind'] or '+'}{number}" if is_told else text


_SHELL = re.compile(r"([1-7](?:s(?=[12])|p(?=[1-6])|d(?=\d)|f(?=\d)))((?<=f)1[0-4]|(?<=d)10|[1-9])")
_CONFIGURATION = re.compile(rf"(?:\[(?P<core>He|Ne|Ar|Kr|Xe|Rn)\])?(?:(?:{_SHELL.pattern})+)")
_CORES = {"He": 2, "Ne": 10, "Ar": 18, "Kr": 36, "Xe": 54, "Rn": 86}
_FILLED = "1s2 2s2 2p6 3s2 3p6 4s2 3d10 4p6 5s2 4d10 5p6 6s2 4f14 5d10 6p6".split()  # noqa: SIM905


def _electrons(text: str) -> Counter[str] | None:
    """The electrons of each subshell, a noble gas written out: those of `[Ar]3d^5`; None for another text."""
    written = SET_TYPE.sub("", fold(SET_TYPE.sub("", text))).replace("^", "").replace("_", "")
    found = _CONFIGURATION.fullmatch(written)
    if found is None or (found["core"] is None and len(_SHELL.findall(written)) < 2):  # a lone `2p^2` may be a power
        return None
    held: Counter[str] = Counter()
    for filled in _FILLED:
        if found["core"] is None or held.total() >= _CORES[found["core"]]:
            break
        held[filled[:2]] += int(filled[2:])
    shells = _SHELL.findall(written, written.find("]") + 1)
    for shell, count in shells:
        held[shell] += int(count)
    return held if len(dict(shells)) == len(shells) else None


_OF_ELECTRONS = re.compile(
    r"electron|configurat|elektron|électron|электрон|电子|電子|전자|orbital|atom|\bion\b", re.IGNORECASE
)


def configurations(pair: Pair) -> Outcome:
    r"""Compare how electrons fill subshells, in any order: `1s^22s^2` and `[\mathrm{He}]\,2s^2`."""
    is_of_atoms = "[" in pair.ref.text or pair.question is None or pair.question.has(_OF_ELECTRONS)
    truth = _electrons(pair.ref.text) if is_of_atoms and re.search("[spdf]", pair.ref.text) else None
    stated = None if truth is None else _electrons(pair.answer)
    if truth is None or stated is None:
        return UNKNOWN
    return EQUAL if truth == stated else DIFFERENT


_OF_CHEMISTRY = re.compile(
    r"chem|chim[iy]|quím|quim|хими|molec|molek|moléc|молек|\bcompounds?\b(?! (?:interest|event|prob))|isom[eè]r|изомер"
    r"|\bacids?\b|\bsalts?\b|\bion(?:s|ic)?\b|oxid"
    r"|(?:summen|struktur)formel|化学|分子[式结構]|结构简式|構造式|化合|示性|화학|분자|kimya|hóa học|phân tử",
    re.IGNORECASE,
)
_OF_FORMULAS = re.compile(r"form[ue]l|fórmul|формул|công thức|wzór|化学式", re.IGNORECASE)


def _is_of_atoms(pair: Pair) -> bool:
    """Whether a formula is one of chemistry by its question or its command; two letters alone may be a product."""
    asked = pair.question.text if pair.question is not None else ""
    said = SET_TYPE.sub("", pair.ref.text)
    several, counted = len(set(re.findall(r"[A-Z][a-z]?", said))) > len("AB"), re.search("_?[2-9]", said) is not None
    if not (several or counted or any(map(str.islower, said))):
        return False
    is_told = "\\ce" in pair.ref.text or _OF_CHEMISTRY.search(asked) or _OF_FORMULAS.search(asked)
    return bool(is_told) or (several and counted)


# A question that asks for what stands over the arrow
_OF_CONDITIONS = re.compile(
    r"条件|over the arrow|\bconditions?\b|catalys|über dem Pfeil|Bedingung|Katalys|sur la flèche|услови|катализ",
    re.IGNORECASE,
)
_CONDITION = re.compile(
    r"\\x(?:right)?(?:arrow|longequal|longrightarrow)\s*(?:\[[^\[\]]*\])?\s*\{((?:[^{}]|\{[^{}]*\})*)\}"
    r"|\\(?:overset|stackrel|underset)\s*\{((?:[^{}]|\{[^{}]*\})*)\}\s*\{\s*(?:=|\\(?:long)?rightarrow|\\to)\s*\}"
    r"|->\[([^\[\]]*)\]"
)
_HEAT = re.compile(r"\\?delta|\\triangle|[△Δ∆]|加热|heat(?:ing)?|hitze|erhitzen", re.IGNORECASE)


def _condition(text: str) -> str:
    """What stands over the arrow of a reaction, in one spelling; empty for nothing."""
    said = "".join(next(filter(None, found), "") for found in _CONDITION.findall(text))
    return "".join(_HEAT.sub("△", SET_TYPE.sub("", said)).replace("_", "").split()).lower()


_CHEMICAL = re.compile(r"[A-Z][a-z]?\}?\s*(?:_|\^)|\\(?:mathrm|text|ce)\{[\d\s]*[A-Z]|^\{?\}?[_^]")


# `C3H8`
_PLAIN_FORMULA = re.compile(r"(?=.*\d)(?:[A-Z][a-z]?\d{0,2}|[·⋅]\d?|\((?:[A-Z][a-z]?\d{0,2})+\)\d{0,2}){2,12}")
# A charge in plain text: `Ca2+`, `SO42-`, `NH4+`
_PLAIN_ION = re.compile(
    r"(?:(?<![A-Za-z\d)])(?P<one>\d*[A-Z][a-z]?)(?P<charge>\d?[+-])|(?P<most>[A-Za-z)]\d?)(?P<sign>\d?[+-]))"
    r"(?=\s|->|→|\Z|\((?:aq|s|l|g)\))"
)


def _with_charges(text: str) -> str:
    """A plain reaction with its charges raised; a sign of plus between substances has spaces around it."""
    return _PLAIN_ION.sub(lambda m: f"{m['one'] or m['most']}^{{{m['charge'] or m['sign']}}}", text)


def _species(text: str, *, keep: bool) -> list[list[str]] | None:
    """The sorted substances on each side of the arrow; None for a text that is no formula of chemistry."""
    text = _with_charges(fold(text)) if "^" not in text else fold(text)
    text = re.sub(r"\\uparrow|\s\^(?=[\s}]|\Z)", "↑", text)
    text = re.sub(r"\\downarrow|(?<=[\w)])\sv(?=[\s}]|\Z)", "↓", text)
    text = text.replace("\\cdot", "*").replace("·", "*").replace("{}", "")
    text = re.sub(
        r"\\(?:ce|mathrm|text|mathsf|operatorname|textrm)(?![a-zA-Z])|[$~\s]|\\[ ,;:!]", "", _ARROW.sub("→", text)
    )
    text = text if keep else _STATE.sub("", text)
    text = (
        _SCRIPT.sub(lambda m: f"{m[1]}{m[2] or m[3] or ''};", text.replace("{+}", "+"))
        .replace("{", "")
        .replace("}", "")
    )
    text = re.sub(r"(?<![A-Za-z)\]\d])(\^\w+;)(_\w+;)", r"\2\1", text)
    # an index is a number behind its element
    text = re.sub(r"(?<=[A-Za-z)\]])(\^[\d+-]+;)(_\w+;)", r"\2\1", text)
    text = re.sub(r"(?<=[A-Za-z)\]])_(\w+);", r"\1", text)
    sides = [sorted(re.split(r"\+(?!;)", side)) for side in text.split("→")]
    names = re.findall(r"[A-Z][a-z]?", text)
    known = names and all(name in ELEMENTS for name in names)
    return sides if known and all(_SPECIES.fullmatch(_STATE.sub("", one)) for side in sides for one in side) else None
