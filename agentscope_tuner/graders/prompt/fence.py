"""Makes judged text safe to stand inside a prompt.

The policy that wrote a response gains when the judge takes its text for instructions. Three measures prevent this
without the judge's cooperation:

- The markers around the text carry a delimiter drawn for each call. No text can know it, so none can end its block.
- Markers to which chat templates give a meaning are respelled.
- Invisible characters are removed, because they can hide instructions from people but not from tokenizers.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping

from agentscope_tuner.graders.prompt import markers
from agentscope_tuner.graders.prompt.visible import plain_with_positions, without_invisible

# Every marker in ASCII text holds one of these
_SUSPECT = re.compile(r"[<>\[\]|:]|\{\{|[-=@$#*~]{2}")


def new_delimiter() -> str:
    """An unpredictable delimiter: 64 random bits in hexadecimal."""
    return secrets.token_hex(8)


def neutralise(text: str, max_chars: int | None = None, tokens: tuple[str, ...] = ()) -> str:
    """`text` as it may stand in a prompt: readable as before, without markers and invisible characters.

    Args:
        text: anything a policy can write; lone surrogates, which no request can carry, become question marks.
        max_chars: a longer text loses its middle, and a note in its place says so.
        tokens: special tokens of the judge's own tokenizer, where it is known; other markers are found by their shape.
    """
    if max_chars is not None and len(text) > max_chars:
        head, tail = text[: max_chars * 2 // 3], text[-(max_chars // 3) :]
        text = f"{head}\n[… {len(text) - len(head) - len(tail)} characters left out …]\n{tail}"
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode("utf-8")
    # Invisible characters first: without them the two parts of a marker would join again
    text = without_invisible(text)
    found = markers.pattern(tokens)
    if text.isascii():
        if not tokens and not _SUSPECT.search(text):
            return text  # true of most texts, and many times cheaper than the search for markers
        return found.sub(lambda match: markers.respell(match[0]), text)
    return _respelled(text, found)


def _respelled(text: str, found: re.Pattern[str]) -> str:
    """`text` with its markers respelled, also those of wide characters or with joiners; the rest stays as it is."""
    plain, positions = plain_with_positions(text)
    pieces, end = [], 0
    for match in found.finditer(plain):
        start = positions[match.start()]
        if start < end:
            continue
        pieces += [text[end:start], markers.respell(match[0])]
        end = positions[match.end() - 1] + 1
    return "".join([*pieces, text[end:]])


def fence_all(texts: Mapping[str, str | list[str]], delimiter: str) -> dict[str, str]:
    """Each neutralised text between markers that carry its name and `delimiter`; texts of a list are numbered."""
    blocks = {}
    for name, text in texts.items():
        items = [(name, text)] if isinstance(text, str) else [(f"{name} {n}", item) for n, item in enumerate(text, 1)]
        fenced = [f"[BEGIN {title} {delimiter}]\n{item}\n[END {title} {delimiter}]" for title, item in items]
        blocks[name] = "\n\n".join(fenced)
    return blocks
