"""Counts tokens exactly with tiktoken, for `max_tokens` rules that name a `tokenizer`."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from agentscope_tuner.errors import install

if TYPE_CHECKING:
    import tiktoken


@lru_cache(maxsize=8)
def load_encoding(name: str) -> tuple[tiktoken.Encoding, int]:
    """The tiktoken encoding called `name`, and the length in bytes of its longest token.

    Raises:
        ValueError: tiktoken is not installed, has no such encoding, or could not download the encoding's vocabulary,
            which happens on first use; the message names the way out.
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
    # boundary: tiktoken downloads the vocabulary, and its HTTP client and its file cache may raise anything
    except Exception as exc:
        raise ValueError(
            f"tokenizer {name!r}: tiktoken could not load its vocabulary ({type(exc).__name__}: {exc}); fetch it once "
            "where there is a network and set TIKTOKEN_CACHE_DIR to the directory that holds it"
        ) from exc
    return encoding, max(map(len, encoding.token_byte_values()))


def exceeds_exactly(text: str, limit: int, name: str) -> bool:
    """Whether `text` has more than `limit` tokens in the encoding called `name`; special tokens are read as text.

    Byte-pair merging of a hostile megabyte takes far longer than linear time. So a text that is longer than `limit`
    times the vocabulary's longest token is not tokenized at all: it must have more tokens.
    """
    encoding, longest_token = load_encoding(name)
    size = len(text.encode("utf-8", "replace"))
    if size <= limit:
        return False
    if size > limit * longest_token:
        return True
    return len(encoding.encode(text, disallowed_special=())) > limit
