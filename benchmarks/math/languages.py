"""Write words of many languages for the math judge, as the Unicode CLDR has them: units, `and`, `or`.

Fetch and unpack the data once, then name the folder:

    npm pack cldr-units-full cldr-numbers-full cldr-misc-full
    for each in cldr-*.tgz; do tar xzf "$each"; done
    python -m benchmarks.math.languages package/main

It writes `agentscope_tuner/verify/words_abroad.txt`: a line for each unit, its name, then every form of it: in all
numbers, cases and genders of a language. A form that names two units, in whichever languages, is left out, and so is
one that the judge reads as another word.
"""

from __future__ import annotations

import json
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import agentscope_tuner.verify as package
from agentscope_tuner.verify.math import units

OUT = Path(package.__file__).with_name("words_abroad.txt")
LANGUAGES = """
    af ar az be bg bn bs ca cs da de el es et eu fa fi fil fr gl gu he hi hr hu hy id is it ja ka kk km kn ko ky lo lt
    lv mk ml mn mr ms my nb ne nl nn pa pl pt ro ru si sk sl sq sr sv sw ta te th tr uk ur uz vi zh zu
""".split()  # noqa: SIM905
_POWERS = {"power2": "square", "power3": "cubic"}
_SIGNS = ("degree", "percent")
# Units of which a short name is often another word: a Polish foot is a `stop`
_OFTEN_OTHER = frozenset(
    "foot inch mile yard knot pint quart acre bit byte century decade ounce pound".split()  # noqa: SIM905
)
# In other languages an abbreviation may be a common word: `से` is `from` in Hindi
_WITH_SHORT = ("ar", "bg", "el", "fa", "ru", "th", "uk")
_OF_OTHER_SCRIPTS = re.compile("^[^a-z]+$", re.IGNORECASE)
# Units of which the whole phrase is kept: another power or rate of its words would be another unit
_WHOLE_PHRASES = frozenset(
    """area-square-meter area-square-centimeter area-square-kilometer volume-cubic-meter volume-cubic-centimeter
    speed-kilometer-per-hour speed-meter-per-second concentr-percent""".split()  # noqa: SIM905
)
_MARKS = re.compile("[\u200e\u200f\u061c]")
# words of other meanings in the languages of the list, beside those that the judge knows by its own tables
_OTHER_WORDS = frozenset(
    """mila mille mili mina miña dies letu luni mese sata posto степен степена степени степеном stepen
    stepena stepeni năm grader graders grads quarto цент dana tony ali""".split()  # noqa: SIM905
)
_LEAST = 4
_LEAST_OF_OTHERS = 6


def _patterns(unit: dict[str, str]) -> Iterator[str]:
    for key, pattern in unit.items():
        if "count" in key or key == "displayName":
            yield " ".join(_MARKS.sub("", pattern).replace("\xa0", " ").replace("{0}", " ").split()).lower()


def _read(folder: Path, language: str, name: str) -> dict[str, Any]:
    text = (folder / language / f"{name}.json").read_text(encoding="utf-8")
    words: dict[str, Any] = json.loads(text)["main"][language]
    return words


def _forms(folder: Path, language: str) -> Iterator[tuple[str, str]]:
    """A form of a unit, of a power or of `per` in a language, and the English name of it."""
    long, short = (_read(folder, language, "units")["units"][width] for width in ("long", "short"))
    words: set[str] = set()
    for key, unit in long.items():
        name = key.partition("-")[2].replace("-", " ")
        if key in _POWERS:
            powers = {form for form in _patterns(unit) if " " not in form and not re.search(r"[\d²³.]", form)}
            words |= powers
            yield from ((form, _POWERS[key]) for form in powers)
        elif re.sub("^(?:square|cubic) ", "", name) in {*units._UNITS, *_SIGNS}:
            yield from ((form, name) for form in _patterns(unit) if " " not in form)
        if key in _WHOLE_PHRASES:
            yield from ((form.replace(" ", "_"), name) for form in _patterns(unit) if " " in form)
        rate = unit.get("perUnitPattern", "").replace("{0}", "").split()
        if len(rate) == len(["per", "metre"]) and any(form.startswith(rate[1][:3].lower()) for form in _patterns(unit)):
            yield rate[0].lower(), "per"
    for key, unit in short.items() if language in _WITH_SHORT else ():
        if (name := key.partition("-")[2].replace("-", " ")) in units._UNITS:
            yield from ((form, name) for form in _patterns(unit) if _OF_OTHER_SCRIPTS.search(form) and " " not in form)
    for code, currency in _read(folder, language, "currencies")["numbers"]["currencies"].items():
        name = next((one for one in sorted(units.names_of(code)) if one.islower() and len(one) > len(code)), code)
        yield from ((form, name) for form in _patterns(currency) if name in units._UNITS and " " not in form)
    for kind, key in (("and", "listPattern-type-standard"), ("or", "listPattern-type-or")):
        joined = _read(folder, language, "listPatterns")["listPatterns"][key]["2"].replace("\xa0", " ")
        yield from ((word, kind) for word in re.findall(r"(?<= )(\S+)(?= )", joined))
    for key, unit in long.items():
        # the unit in `κυβικά εκατοστά`, which may have another form than the unit alone
        power, _, base = key.partition("-")[2].partition("-")
        for form in _patterns(unit) if power in _POWERS.values() and base in units._UNITS else ():
            rest = [word for word in form.split() if word not in words]
            if len(form.split()) == 2 and len(rest) == 1:
                yield rest[0], base


def _is_free(form: str, name: str) -> bool:
    """Whether a form of a unit is a word of letters that is no other word to the judge."""
    known = units.NEVER | units.NUMBER_WORDS | units.COUNTED | units.DESCRIBING | units.RATES
    least = _LEAST_OF_OTHERS if name in _OFTEN_OTHER else _LEAST if form.isascii() else 2
    if name in ("per", "and", "or"):
        return re.search(r"[./]", form) is None
    if "_" in form:
        return re.search(r"[\d²³./·%(){}°]", form) is None
    if name in _POWERS.values():
        known -= units.COUNTED
    return len(form) >= least and re.search(r"[\d²³./·%(){}°\-]", form) is None and form not in known | _OTHER_WORDS


def main(folder: Path) -> int:
    """Write the file; returns how many forms it has."""
    named = defaultdict(set)
    for language in LANGUAGES:
        for form, name in _forms(folder, language):
            named[form].add(name)
    lines = defaultdict(list)
    for form, several in sorted(named.items()):
        # what a word joins is known by what stands behind it
        names = several & {"per"} or several & {"and", "or"} or several
        if len(names) == 1 and "radian" not in names and _is_free(form, name := next(iter(names))):
            lines[name].append(form)
    source = "# Words from the Unicode CLDR, © Unicode, Inc., under the Unicode License v3\n"
    OUT.write_text(
        source + "".join(f"{name}: {' '.join(forms)}\n" for name, forms in sorted(lines.items())), encoding="utf-8"
    )
    return sum(map(len, lines.values()))


if __name__ == "__main__":
    print(main(Path(sys.argv[1])))
