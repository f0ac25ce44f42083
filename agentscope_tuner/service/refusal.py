"""A request that is not judged, and why."""

from __future__ import annotations


class Refusal(Exception):
    """A request that is answered with an HTTP error status.

    Args:
        status: the HTTP status code.
        detail: what is wrong and the way out; may quote the request back to its sender.
        retry_after: seconds after which the same request may do better; None where it never will.
    """

    def __init__(self, status: int, detail: str, *, retry_after: int | None = None) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.retry_after = retry_after
        # The rest of the request's body is still coming, so the connection cannot be used again
        self.close = False

    def headers(self) -> dict[str, str]:
        """The headers of the response."""
        found = {"WWW-Authenticate": "Bearer"} if self.status == 401 else {}
        if self.retry_after is not None:
            found["Retry-After"] = str(self.retry_after)
        if self.close:
            found["Connection"] = "close"
        return found
