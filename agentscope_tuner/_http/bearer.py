"""The bearer token of a request (RFC 6750)."""

from __future__ import annotations

import hmac


def carries(authorization: bytes, token: bytes) -> bool:
    """Whether an Authorization header carries `token`. The scheme may be in any case (RFC 9110, 11.1).

    The tokens are compared in constant time: how long a refusal takes tells nothing about the token.
    """
    scheme, _, given = authorization.partition(b" ")
    return scheme.lower() == b"bearer" and hmac.compare_digest(given.strip(b" "), token)
