"""The border between a judge's prompt and the text that it judges.

The policy that wrote a response gains when the judge takes its text for instructions. Four measures prevent this
without the judge's cooperation. None of them knows a word of any language, or a token of any model:

- The markers around the text carry a delimiter that no text can know: an HMAC of the text under a secret of this
  process. So no text can end its block, and all questions about one text share their beginning, which servers cache.
- Every line of the text begins with a mark made of the delimiter (spotlighting, arXiv 2403.14720). So no line of the
  prompt begins with a role, a heading or a separator that the text chose.
- What has the shape of a tag, of a turn's head or of a key is shown in similar characters, wherever it stands. Ordinary
  brackets and comparisons stay as they are.
- Invisible characters are shown as codes, because they can hide instructions from people but not from tokenizers. They
  stay where a script or an emoji needs them.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import secrets
import unicodedata
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from agentscope_tuner.errors import told

# Unicode's property Default_Ignorable_Code_Point, the control characters but tab and newline, line separators that are
# no newlines here, and blank characters whose category is letter or symbol
_HIDDEN = (
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f"
    "\u2028-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0e\ue000-\uf8ff\ufeff\uffa0\ufff0-\ufffc\ufffe\uffff\U0001bca0-\U0001bca3"
    "\U00013430-\U0001345f\U0001d159\U0001d173-\U0001d17a\U000e0000-\U0010ffff"
)
_JOINERS = "\u200c\u200d\ufe0f"
# Scripts that need joiners: Arabic, Syriac, N'Ko, Mandaic; Brahmi's from Devanagari to Myanmar; Khmer and Mongolian
_JOINED = "\u0600-\u08ff\u0900-\u109f\u1780-\u18af\ufb50-\ufdff\ufe70-\ufefc"
_EMOJI = "\u203c-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
_NEEDED = (
    rf"(?<=[{_JOINED}])[\u200c\u200d](?=[{_JOINED}\s.,:;!?،؛؟।]|$)"
    rf"|(?<=[{_EMOJI}\ufe0f])\u200d(?=[{_EMOJI}])|(?<=[{_EMOJI}0-9#*©®])\ufe0f"
)
_INVISIBLE = re.compile(rf"({_NEEDED})|[{_HIDDEN}{_JOINERS}]+")
_ALL_INVISIBLE = re.compile(f"[{_HIDDEN}{_JOINERS}]+")
# The visible characters of ASCII, which most texts begin with
_SEEN = re.compile("[!-~]")
_PRIVATE = re.compile("[\ue000-\uf8ff\U000f0000-\U000ffffd\U00100000-\U0010fffd]")
# Code points that are no characters for good
_NO_CHARACTER = re.compile(
    "[\ufdd0-\ufdef" + "".join(chr(plane + 0xFFFE) + chr(plane + 0xFFFF) for plane in range(0, 0x110000, 0x10000)) + "]"
)
_MOST_CODES = 4
# For ASCII texts one pass of `translate` is many times as fast as a search for the characters to remove
_NO_CONTROLS = {code: None for code in range(128) if _ALL_INVISIBLE.match(chr(code))}
_LOWER_LETTERS = {code: chr(code).lower() if chr(code).isalnum() else None for code in range(128)}
# Characters that look like those of a marker, though NFKC does not replace them
_LOOKS_LIKE = {
    **dict.fromkeys("\u2044\u2215\u29f8", "/"),
    **dict.fromkeys("\u2223\u01c0\u2758\u2759\u275a\u23b8\u23d0\u23fd\u05c0", "|"),
    **dict.fromkeys("\u0589\u05c3\u1803\u205a\u16ec\ua4fd\ufe30", ":"),
    "\u02c2": "<",
    "\u02c3": ">",
}
# The colons of all scripts, by their names; but not the currency colon, nor colons combined with an equals sign
_COLON = re.compile(r"(?<!SEMI)(?<!EQUALS )COLON\b(?! SIGN| EQUALS)")
# The edges of tables that are drawn
_EDGE = re.compile(r"BOX DRAWINGS .*\bVERTICAL\Z")


def is_blank(text: str) -> bool:
    """Whether `text` has no visible character, so that there is nothing to ask a model about.

    Visible are letters, numbers, punctuation, symbols, characters of private use, and those that are newer than this
    Python. A combining mark that takes no room of its own is not visible by itself.
    """
    if _SEEN.search(text):
        return False
    seen = _ALL_INVISIBLE.sub("", text).strip()
    kinds = map(unicodedata.category, _NO_CHARACTER.sub("", seen))
    return not any(kind[0] in "LNPS" or kind in ("Mc", "Cn") for kind in kinds) and not _PRIVATE.search(text)


def plain(text: str) -> str:
    """`text` in one spelling: without invisible characters, and each other character in its NFKC form."""
    if not text.isascii():
        return "".join(map(_folded, text))
    return text if text.isprintable() else text.translate(_NO_CONTROLS)


def composed(text: str) -> str:
    """`plain(text)` with a letter and its accents as one character, if there is one: models write them so."""
    return text if text.isascii() and text.isprintable() else unicodedata.normalize("NFKC", plain(text))


def lower_letters(text: str) -> str:
    """The letters and digits of `text` in lower case."""
    return text.translate(_LOWER_LETTERS) if text.isascii() else "".join(filter(str.isalnum, text.casefold()))


def as_written(shown: str) -> str:
    """The text that `neutralise` showed as `shown`, in one spelling: `‹b›` is `<b>` again, and codes are left out."""
    # codes, dots and replaced characters are none of ASCII
    return plain(shown) if shown.isascii() else plain(_added().sub("", shown)).translate(_BACK)


def _plain_with_positions(text: str) -> tuple[str, list[int]]:
    """`plain(text)`, and for each of its characters the position in `text` of the character that it came from."""
    pieces = [_folded(char) for char in text]
    return "".join(pieces), [position for position, piece in enumerate(pieces) for _ in piece]


@lru_cache(maxsize=4096)
def _folded(char: str) -> str:
    if _ALL_INVISIBLE.match(char):
        return ""
    folded = "".join(map(_alike, _LOOKS_LIKE.get(char) or unicodedata.normalize("NFKC", char)))
    # 9½ is not 91/2
    return f" {folded}" if unicodedata.decomposition(char).startswith("<fraction>") else folded


def _alike(char: str) -> str:
    """`:` or `|` if `char` may be read as one, such as the edge `│` of a table; else what it looks like, or `char`."""
    name = unicodedata.name(char, "")
    if _COLON.search(name):
        return ":"
    return "|" if _EDGE.match(name) else _LOOKS_LIKE.get(char, char)


def _codes(match: re.Match[str]) -> str:
    if match[1]:
        return match[1]
    shown = "".join(f"‹U+{ord(char):04X}›" for char in match[0][:_MOST_CODES])
    more = len(match[0]) - _MOST_CODES
    return shown + (f"‹{more} more invisible characters›" if more > 0 else "")


_TAGS = "|".join((
    # A tag of any content: <|im_start|>, </s>, <<SYS>>, <msg role="system">, <0x0A>; but "x < 5 and y > 3" is none, and
    # neither are arrows: there an operand stands before the sign
    r"(?<!<)<++\s{0,40}(?![\s\d<>]|[=\-](?:[\s\d]|[=\-]*+>))[^<>\n]++>++|(?<!<)<++\d[^\s<>]{0,60}>++",
    r"(?<![\w)\]}$<])(?<![\w)\]}$][^\S\n])<++[\d=\-][^<>\n]*+>++|(?<!<)<++-\s[^<>\n]*+(?<![=\-])>++",
    # Not even behind an operand: what is doubled on both sides, and what is closed as a tag is, not as an operator
    r"(?<!<)<<++[^\w<>\n]*+(?!\d)\w[^<>\n]*+>>++|(?<!<)<++[=\-](?!\d)[^<>\n]*+(?<![\s=\-])>++(?!\S)",
    r"(?<!>)>>++[^<>\n]{1,60}<<++",
    r"<\s?[|/!?]|[|/]\s?>",
    # [INST], [/INST], [gMASK], [system role="x"]; but lists of numbers and of quoted texts, x[i+1] and \[x^2\] are none
    r"(?<![\w\\])\[\s{0,40}(?![+\-.,(]{0,9}[\d\"']|[+\-.,(][^\S\n])[^\s\[\]][^\[\]\n]*+\]",
    r"(?<=\w)\[\s{0,40}+(?![a-z]?\s?[+\-*]?\s?\d{0,6}\]|[\"'\d\-:])[^\[\]\n]*+\]",
    # Behind a backslash it is a formula, unless it begins with a word or with a letter that formulas do not have, or
    # has a word by itself in it
    r"(?<=\\)\[(?=(?:[^\w\\\[\]\n]|_)*+\w{0,60}?(?:[^\W\d_]{2}|[^\W\d_a-zA-Z])|[^\[\]\n]*?\s[^\W\d_]{3})[^\[\]\n]*+\]",
    # no formula begins with an index
    r"(?<=\\)\[[^\w\\\[\]\n]*+_[^\[\]\n]*+\]|(?<=\\)\[[\w|]{2,60}\\?\]|\[\s?[|/]|\|\s?\]",
    # ]~b], ]~!b[, [e~[, {{#system}}
    r"\]~!?\w{0,12}[\[\]]|\[\w{1,12}~!?[\[\]]|(?<!\{)\{\{++[^{}\n]{0,80}\}\}++|\{%[^{}\n]{0,80}%\}",
))  # fmt: skip
# The word before any colon may be a speaker or a key, and so may the first cell of a table's row. Times are no
# exception: "System 2:1 …" is a speaker with a number
_TURNS = r"(?m:^(?:[^\S\n]|[>*\-])*+\|)|:"
_LOOKALIKE = str.maketrans({
    "<": "‹", ">": "›", "|": "¦", "[": "⟦", "]": "⟧", ":": "∶",
})  # fmt: skip
_BRACES = str.maketrans({"{": "❴", "}": "❵"})
#: The characters that replace those of a marker.
RESPELLED = "‹›¦⟦⟧∶❴❵"
_BACK = str.maketrans(RESPELLED, "<>|[]:{}")
_MOST_TOKEN_CHARS = 100
_OPENINGS = re.compile(r"[<\[]")
_WORD = re.compile(r"\w+")
# Every marker in ASCII text holds one of these
_SUSPECT = ("<", ">", "[", "]", ":", "|", "{{", "{%")


@lru_cache(maxsize=1)
def _brackets() -> tuple[str, str]:
    """Patterns of an opening and of a closing bracket of all scripts but ASCII, without usual quotation marks."""
    kinds = {"Ps": "", "Pe": "", "Pi": "◁", "Pf": "▷"}
    # ideographs, syllables and private use hold none, and are most of all
    for char in map(chr, (*range(0x80, 0x3400), *range(0xA000, 0xAC00), *range(0xF900, 0x10000))):
        kind = unicodedata.category(char)
        if kind in kinds and char not in "“”‘’‟‛„‚" + RESPELLED:
            kinds[kind] += char
    return f"[{kinds['Ps']}{kinds['Pi']}]", f"[{kinds['Pe']}{kinds['Pf']}]"


@lru_cache(maxsize=1)
def _like_added() -> re.Pattern[str]:
    """A pattern for middle dots at the brackets of a text, which look like the dots that `neutralise` adds there.

    `neutralise` writes more of them, so that one is left when `as_written` removes the added ones. Group 1 is a dot
    between two brackets.
    """
    opening, closing = _brackets()
    return re.compile(rf"(?<={opening})(·)(?={closing})|(?<={opening})·|·(?={closing})")


@lru_cache(maxsize=1)
def _added() -> re.Pattern[str]:
    """A pattern for what `neutralise` adds: codes such as `‹U+200B›`, and middle dots at brackets."""
    opening, closing = _brackets()
    return re.compile(rf"‹(?:U\+[0-9A-F]{{4,6}}|\d+ more invisible characters)›|(?<={opening})·|·(?={closing})")


@lru_cache(maxsize=16)
def _pattern(tokens: tuple[str, ...], turns: bool) -> re.Pattern[str]:
    """A pattern that finds every marker and each of `tokens` in text of one spelling."""
    listed = [re.escape(token) for token in sorted(tokens, key=len, reverse=True)]
    opening, closing = _brackets()
    # a bracket of ASCII may be closed by one of another script
    mixed = rf"<(?=\s{{0,40}}+[^<>\n]*{closing})|\[(?=\s{{0,40}}+[^\[\]\n]*{closing})"
    brackets = f"{opening}(?!·)|(?<!·){closing}"
    return re.compile("|".join([*listed, _TAGS, *([_TURNS] if turns else []), mixed, brackets]))


def _respell(marker: str) -> str:
    """`marker` in similar characters, which a reader recognises and no tokenizer takes for the marker: `‹s›` for `<s>`.

    A marker without a character to replace gets a middle dot inside its last word: `E·OS`.
    """
    if len(marker) == 1 and not marker.isascii():
        # A bracket of another script stays, for a floor is no ceiling; the dot keeps it from the word in it
        return f"{marker}·" if re.match(_brackets()[0], marker) else f"·{marker}"
    spelled = marker.translate(_LOOKALIKE)
    if marker.startswith(("{{", "{%")):
        spelled = spelled.translate(_BRACES)
    if spelled != marker:
        return spelled
    words = list(_WORD.finditer(marker))
    first = words[-1].start() + 1 if words else 1
    return f"{marker[:first]}·{marker[first:]}"


def special_tokens(tokenizer_file: str) -> tuple[str, ...]:
    """The tokens that a Hugging Face `tokenizer.json` marks as special in `added_tokens`.

    Raises:
        ConfigError: the file cannot be read, or is no `tokenizer.json`.
    """
    with told(f"tokenizer must name a tokenizer.json with added_tokens, got {tokenizer_file!r}"):
        added = json.loads(Path(tokenizer_file).read_text(encoding="utf-8"))["added_tokens"]
        found: Sequence[str] = [token["content"] for token in added if token.get("special")]
    # A token of white space alone is no marker, and nearly every text holds it
    return tuple(sorted({token for token in found if token.strip() and len(token) <= _MOST_TOKEN_CHARS}))


def neutralise(text: str, max_chars: int | None = None, tokens: tuple[str, ...] = (), *, judged: bool = False) -> str:
    """`text` made safe for a prompt: readable as before, without markers, and with codes for invisible characters.

    `<|im_start|>` becomes `‹¦im_start¦›`, and a zero width space `‹U+200B›`.

    Args:
        text: anything a policy can write; lone surrogates, which no request can carry, become question marks.
        max_chars: a longer text loses its middle, and a note in its place says so. Codes and dots come on top.
        tokens: special tokens of the judge's own tokenizer, if it is known; other markers are found by their shape.
        judged: whether a policy may have written `text`; then a colon, which may end the head of a turn, is a marker,
            and so is the first bar of a table's row.
    """
    if max_chars is not None and len(text) > max_chars:
        text = shortened(text, max_chars)
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode("utf-8")
    if not (text.isascii() and text.isprintable()):
        if "·" in text:
            text = _like_added().sub(lambda dot: "···" if dot[1] else "··", text)
        text = _INVISIBLE.sub(_codes, text.replace("\r\n", "\n").replace("\r", "\n"))
    if text.isascii() and not tokens and not any(map(text.__contains__, _SUSPECT)):
        return text  # true of most texts, and many times cheaper than the search for markers
    return _respelled(text, _pattern(tokens, judged))


def shortened(text: str, max_chars: int) -> str:
    """`text`; if it is longer than `max_chars`, a note replaces its middle."""
    if len(text) <= max_chars:
        return text
    head, tail = text[: max_chars * 2 // 3], text[len(text) - max_chars // 3 :]
    return f"{head}\n(… {len(text) - len(head) - len(tail)} characters left out …)\n{tail}"


def _respelled(text: str, found: re.Pattern[str]) -> str:
    """`text` with the markers that the pattern `found` finds respelled, also those in wide characters.

    A marker may overlap with the end of another one, so the search is repeated, three times at most. Text that is
    nested more deeply is not ordinary: then each `<` and `[` is respelled.
    """
    for each in (found, found, found, _OPENINGS):
        plain, positions = (text, range(len(text))) if text.isascii() else _plain_with_positions(text)
        pieces, end = list[str](), 0
        for match in each.finditer(plain):
            pieces += [_original(text, plain, positions, end, match.start()), _respell(match[0])]
            end = match.end()
        if not pieces:
            break
        text = "".join([*pieces, _original(text, plain, positions, end, len(plain))])
    return text


def _original(text: str, plain: str, positions: Sequence[int], start: int, end: int) -> str:
    """The part of `text` that became `plain[start:end]`.

    If the slice begins or ends within a character's plain form, as in the `(10)` of `⑽`, it has the plain form there.
    """
    first, last = start, end
    while 0 < first < end and positions[first] == positions[first - 1]:
        first += 1
    while first < last < len(plain) and positions[last] == positions[last - 1]:
        last -= 1
    if first >= last:
        return plain[start:end]
    begin = positions[first - 1] + 1 if first else 0
    behind = positions[last] if last < len(plain) else len(text)
    return plain[start:first] + text[begin:behind] + plain[last:end]


_SECRET = secrets.token_bytes(32)


#: The end of every mark.
MARK_END = "| "
#: The length of every mark.
MARK_CHARS = 4 + len(MARK_END)


class Border(NamedTuple):
    """The strings that keep judged texts apart from the rest of a prompt: the `delimiter` in their markers, 64 bits in
    hexadecimal, and the `mark` at the beginning of each of their lines.
    """

    delimiter: str
    mark: str


def border_of(texts: Mapping[str, str | Sequence[str]]) -> Border:
    """The border of a prompt about `texts`; nobody outside of this process can know it."""
    delimiter = hmac.new(_SECRET, json.dumps(texts, sort_keys=True).encode(), hashlib.sha256).hexdigest()[:16]
    return Border(delimiter, delimiter[:4] + MARK_END)


def fence_all(texts: Mapping[str, str | Sequence[str]], border: Border) -> dict[str, str]:
    """Each neutralised text between markers that carry its name and the delimiter, with a mark before each line.

    Texts of a list are numbered; the markers of a trajectory's turns also name the roles.
    """
    blocks, (delimiter, mark) = {}, border
    for name, text in texts.items():
        fenced = ""
        for title, item in [(name, text)] if isinstance(text, str) else _titled(name, text):
            marked = item.replace("\n", f"\n{mark}")
            fenced += f"\n\n[BEGIN {title} {delimiter}]\n{mark}{marked}\n[END {title} {delimiter}]"
        blocks[name] = fenced[2:]
    return blocks


def _titled(name: str, items: Sequence[str]) -> list[tuple[str, str]]:
    roles: Sequence[str] = getattr(items, "roles", None) or [""] * len(items)
    numbered = zip(range(1, len(items) + 1), roles, items, strict=True)
    return [(f"{name} {number} {role}".rstrip(), item) for number, role, item in numbered]
