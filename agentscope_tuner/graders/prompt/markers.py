"""Finds and respells text that a chat template, a judge's prompt or an instruct format may take for its own markers.

A list of the tokens of known model families is out of date with the next family. So markers are found by shape, in
text of one spelling (see `visible.plain`). The shapes are `<|…|>`, `<…>`, `[…]`, `<<…>>`, `>>…<<`, `]~…]`, a fence's
BEGIN and END, and a role's name in brackets, or with a colon at the start of a line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from agentscope_tuner.errors import ConfigError

_ROLES = (
    r"system|user|assistant|human|developer|tool|function|model|bot|ai|instructions?|response|input|output|query|question"
    r"|grader|judge|evaluator|系统|用户|助手|助理|指令|模型|评分员|评测器|评委|裁判员?|考官"
)
# The speakers of a chat. In code and prose these words start a line less often than the other roles do
_SPEAKERS = (
    r"system|user|assistant|human|developer|chatbot|grader|evaluator|系统|用户|助手|助理|评分员|评测器|评委|裁判员?"
)
_SHAPES = (
    # <|im_start|>, <|eot_id|>, and either end of such a marker alone
    r"<\s?\|[^<>\n]{0,64}?\|\s?>|<\s?\||\|\s?>",
    # <<SYS>>, <</SYS>>, <<<END>>>, >>QUESTION<<
    r"<{2,4}\s?/?\s?[\w\u2581\- ]{1,40}\s?/?\s?>{2,4}|>{2,4}\s?/?[\w\u2581\- ]{1,40}<{2,4}",
    # <think>, </s>, <start_of_turn>, <0x0A>: a tag without attributes, with a letter or digit in its name
    r"<\s?/?\s?(?=[^\s<>]{0,8}[^\W_])[^\s<>()=,;\"'|]{1,64}\s?/?\s?>",
    # [|system|], [INST], [/INST], [gMASK], [unused1]; a[index] stays as it is
    r"\[\s?/?\s?\|[^\[\]\n|]{0,64}\|?\s?\]",
    r"\[\s?/?\s?(?=\w{0,24}[A-Z]{2}|\w{1,24}[_\d]|/)[^\s\[\]()<>,;=\"']{2,64}\s?/?\s?\]",
    r"(?<!\w)\[\s?/?\s?(?=\w{0,8}[^\W\d_]{2})[\w\u2581\-/]{2,64}\s?\](?!\()",
    # This package's own fence, which a policy may imitate
    r"\[\s?/?\s?(?:BEGIN|END|begin|end|Begin|End)\b[^\[\]\n]{0,80}\]",
    # ]~b], ]~!b[, [e~[
    r"\]~!?\w{0,12}[\[\]]|\[\w{1,12}~!?[\[\]]",
    # "### System:", "Human:", "GPT4 Correct Assistant:", "(助手)：", "系统提示："
    rf"(?im:^[^\w\n]{{0,10}}(?:[^\W\d_][\w.]{{0,15}}[ \t]){{0,2}}(?:{_ROLES})(?:提示|消息|输出|回答)?[^\w\n]{{0,3}}:)",
    # "=== Assistant ===", "@@system@@", "assistant>>>"
    rf"(?im:^[^\w\n]{{0,10}}(?:{_SPEAKERS})[^\w\n]{{0,3}}?(?:[-=@$#*~]{{2,}}|>))",
    # A role in brackets that prompts use, though no tokenizer does: «assistant», 【助手】, {{{{#system}}}}
    rf"(?i:[«‹〈《【〔〖「『⟨❬❰]\s?[/#]?\s?(?:{_ROLES})\s?[»›〉》】〕〗」』⟩❭❱])",
    rf"(?i:\{{\{{\s?[#/~]?\s?(?:{_ROLES})\s?~?\s?\}}\}})",
)
_LOOKALIKE = str.maketrans({"<": "‹", ">": "›", "|": "¦", "[": "⟦", "]": "⟧", ":": "∶"})
#: The characters that replace those of a marker.
RESPELLED = "‹›¦⟦⟧∶"
_MOST_TOKEN_CHARS = 100
_WORD = re.compile(r"\w+")


@lru_cache(maxsize=16)
def pattern(tokens: tuple[str, ...] = ()) -> re.Pattern[str]:
    """A pattern that finds every marker and each of `tokens` in text of one spelling."""
    listed = [re.escape(token) for token in sorted(tokens, key=len, reverse=True)]
    return re.compile("|".join([*listed, *_SHAPES]))


def respell(marker: str) -> str:
    """`marker` in similar characters, which a reader recognises and no tokenizer takes for the marker.

    A marker without a character to replace gets a middle dot inside its last word.
    """
    spelled = marker.translate(_LOOKALIKE)
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
    try:
        added = json.loads(Path(tokenizer_file).read_text(encoding="utf-8"))["added_tokens"]
        found: Sequence[str] = [token["content"] for token in added if token.get("special")]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as exc:
        raise ConfigError(
            f"tokenizer must name a tokenizer.json with added_tokens, got {tokenizer_file!r}: {exc}"
        ) from exc
    # A token of white space alone is no marker, and nearly every text holds it
    return tuple(sorted({token for token in found if token.strip() and len(token) <= _MOST_TOKEN_CHARS}))
