"""Which Authorization header carries the token."""

from __future__ import annotations

import pytest

from agentscope_tuner._http import carries


@pytest.mark.parametrize(
    "header", [b"Bearer t0ken", b"bearer t0ken", b"BEARER t0ken", b"Bearer   t0ken", b"bearer t0ken "]
)
def test_the_scheme_may_be_in_any_case(header: bytes) -> None:
    assert carries(header, b"t0ken")


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"Bearer",
        b"Bearer ",
        b"t0ken",
        b"Bearert0ken",
        b"Basic t0ken",
        b" Bearer t0ken",
        b"Bearer\tt0ken",
        b"Bearer T0KEN",
        b"Bearer t0ke",
        b"Bearer t0kenx",
        b"Bearer t0ken t0ken",
        b"Bearer \xff",
    ],
)
def test_nothing_else_carries_it(header: bytes) -> None:
    assert not carries(header, b"t0ken")
