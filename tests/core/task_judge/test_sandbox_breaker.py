"""Where one jail after another fails, no more are asked for, but for a try in each while."""

from __future__ import annotations

import pytest

from agentscope_tuner._jail.idle_jails import SandboxBreaker
from agentscope_tuner._jail.jail import JailBroken
from agentscope_tuner.errors import Cause, JudgeError


def cause_of_a_try(breaker: SandboxBreaker, *, broken: bool) -> Cause | None:
    """The cause of the JudgeError that a try raises; None where it succeeds."""
    try:
        with breaker.trying():
            if broken:
                raise JailBroken("no namespaces")
    except JudgeError as error:
        return error.cause
    return None


def test_it_opens_at_the_last_of_so_many_failures_in_a_row() -> None:
    breaker = SandboxBreaker(most=3, rest_seconds=3600.0)
    assert [cause_of_a_try(breaker, broken=True) for _ in range(5)] == [Cause.SANDBOX] * 3 + [Cause.BREAKER] * 2
    # nor is what would succeed let through
    assert cause_of_a_try(breaker, broken=False) is Cause.BREAKER


def test_a_success_between_two_failures_counts_from_zero_again() -> None:
    breaker = SandboxBreaker(most=2, rest_seconds=3600.0)
    tried = [cause_of_a_try(breaker, broken=broken) for broken in (True, False, True, False, True, True, True)]
    assert tried == [Cause.SANDBOX, None, Cause.SANDBOX, None, Cause.SANDBOX, Cause.SANDBOX, Cause.BREAKER]


def test_after_its_rest_one_try_is_let_through_and_a_success_closes_it() -> None:
    breaker = SandboxBreaker(most=1, rest_seconds=0.0)
    tried = [cause_of_a_try(breaker, broken=broken) for broken in (True, True, False, False)]
    assert tried == [Cause.SANDBOX, Cause.SANDBOX, None, None]


def test_it_says_how_many_failed_and_why() -> None:
    breaker = SandboxBreaker(most=1, rest_seconds=3600.0)
    cause_of_a_try(breaker, broken=True)
    with pytest.raises(
        JudgeError, match=r"1 sandboxes failed in a row, the last: no namespaces; the next try is in \d+ s"
    ):
        breaker.trying().__enter__()
