"""Exact token counts by tiktoken, for `max_tokens` rules that name a `tokenizer`."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from agentscope_tuner.errors import install

if TYPE_CHECKING:
    import tiktoken


@lru_cache(maxsize=8)
def load_encoding(name: str) -> tuple[tiktoken.Encoding, int]:
    """The tiktoken encoding called `name`, and the length in bytes of the longest token in it.

    Raises:
        ValueError: tiktoken is not installed, knows no such encoding, or could not fetch its vocabulary (tiktoken
            downloads a vocabulary the first time it is used); the message names the way out.
    """
    try:
        import tiktoken
    except ImportError:
        raise ValueError(
            f"tokenizer {name!r} needs tiktoken: {install('tokenizer')}, or leave `tokenizer` out to use the estimate"
        ) from None
    known = tiktoken.list_encoding_names()
    if name not in known:
        raise ValueError(f"tokenizer must be one of tiktoken's encodings ({', '.join(known)}), got {name!r}")
    try:
        encoding = tiktoken.get_encoding(name)
    # boundary: tiktoken downloads with whatever errors its HTTP client and the file cache may raise
    except Exception as exc:
        raise ValueError(
            f"tokenizer {name!r}: tiktoken could not load its vocabulary ({type(exc).__name__}: {exc}); fetch it once "
            "where there is a network and set TIKTOKEN_CACHE_DIR to the directory that holds it"
        ) from exc
    return encoding, max(map(len, encoding.token_byte_values()))


def exceeds_exactly(text: str, limit: int, name: str) -> bool:
    """Whether `text` is more than `limit` tokens in the encoding called `name`; special tokens are read as text.

    No token is longer than the vocabulary's longest, so a text too long for `limit` of those is not tokenized at all:
    byte-pair merging of a hostile megabyte takes far longer than linear time.
    """
    encoding, longest_token = load_encoding(name)
    size = len(text.encode("utf-8", "replace"))
    if size <= limit:
        return False
    if size > limit * longest_token:
        return True
    return len(encoding.encode(text, disallowed_special=())) > limit
