"""Text under judgement, made harmless to stand inside a prompt.

The policy that wrote a response gains when the judge takes its text for instructions. Three measures, none of which
needs the judge's cooperation: markers around the text carry a delimiter drawn for this call, which the text cannot
know and so cannot close; tokens that chat templates give a meaning to are spelled differently; invisible characters,
in which instructions can be hidden from people but not from tokenizers, are removed.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping

# The brackets in every width: tokenizers that normalise (NFKC) turn ＜|im_end|＞ into the token itself.
_OPEN, _CLOSE = "<＜﹤", ">＞﹥"
_BAR = "|｜∣￨"
_CONTROL_TOKEN = re.compile(
    # <|im_start|>, <｜User｜>, <|eot_id|> and all their kind
    rf"[{_OPEN}]\s?[{_BAR}][^{_OPEN}{_CLOSE}\n]{{0,64}}?[{_BAR}]\s?[{_CLOSE}]"
    rf"|[{_OPEN}]\s?[{_BAR}]|[{_BAR}]\s?[{_CLOSE}]"
    # <s> </s> <bos> <eos> <pad> <unk> <start_of_turn> <think> <tool_call> <unused0> <sep> <mask> and their closing
    # forms
    rf"|[{_OPEN}]\s?/?\s?(?:s|bos|eos|pad|unk|sep|cls|mask|start_of_turn|end_of_turn|think|thinking|analysis|final|system|user"
    rf"|assistant|human|tool_call|tool_response|reserved_\w{{1,20}}|unused\d{{1,4}}|end_of_text|endoftext)\s?/?\s?[{_CLOSE}]"
    # [INST] [/INST] [SYSTEM_PROMPT] [gMASK] [TOOL_CALLS]
    r"|[\[［]\s?/?\s?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|gMASK|sMASK|MASK|SEP|CLS|PAD|UNK)\s?[\]］]"
    # <<SYS>> <</SYS>>
    rf"|[{_OPEN}]{{2}}\s?/?\s?SYS\s?[{_CLOSE}]{{2}}",
    re.IGNORECASE,
)
_LOOKALIKE = str.maketrans(
    {**dict.fromkeys(_OPEN, "‹"), **dict.fromkeys(_CLOSE, "›"), **dict.fromkeys(_BAR, "¦"), **dict.fromkeys("[［", "⟦"),
     **dict.fromkeys("]］", "⟧")}
)  # fmt: skip
# control characters but tab, newline and return; zero-width and direction marks; the tag block, invisible ASCII
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]"
)


_SUSPECT = re.compile(f"[{_OPEN}{_BAR}\\[［]")


def new_delimiter() -> str:
    """A delimiter nobody can foresee: 64 random bits in hexadecimal."""
    return secrets.token_hex(8)


def neutralise(text: str, max_chars: int | None = None) -> str:
    """`text` as it may stand in a prompt: readable as before, without control tokens and invisible characters.

    Args:
        text: anything a policy can write; lone surrogates, which no request can carry, become question marks.
        max_chars: of a longer text the middle is left out, and a note in its place says so.
    """
    if max_chars is not None and len(text) > max_chars:
        head, tail = text[: max_chars * 2 // 3], text[-(max_chars // 3) :]
        text = f"{head}\n[… {len(text) - len(head) - len(tail)} characters left out …]\n{tail}"
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode("utf-8")
    # invisible characters first: they could split a token that would close up again after them
    text = _INVISIBLE.sub("", text)
    if not _SUSPECT.search(text):
        return text  # most texts: a search for one of few characters is many times cheaper
    return _CONTROL_TOKEN.sub(lambda match: match[0].translate(_LOOKALIKE), text)


def fence_all(texts: Mapping[str, str | list[str]], delimiter: str) -> dict[str, str]:
    """Each neutralised text between markers that carry its name and `delimiter`; of a list, each text with its
    number.
    """
    blocks = {}
    for name, text in texts.items():
        items = [(name, text)] if isinstance(text, str) else [(f"{name} {n}", item) for n, item in enumerate(text, 1)]
        fenced = [f"[BEGIN {title} {delimiter}]\n{item}\n[END {title} {delimiter}]" for title, item in items]
        blocks[name] = "\n\n".join(fenced)
    return blocks
