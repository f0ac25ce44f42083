"""Where one jail after another fails, no more are asked for, but for a try in each while.

And where the system starts no thread for jails, later ones do not wait for it.
"""

from __future__ import annotations

import functools
import threading
from types import SimpleNamespace
from typing import Any

import pytest

from agentscope_tuner._jail import jail
from agentscope_tuner._jail.bubblewrap import NoIsolationError
from agentscope_tuner._jail.idle_jails import SandboxBreaker, WarmJails
from agentscope_tuner._jail.jail import JailBroken, _Starter, check_isolation
from agentscope_tuner.errors import Cause, JudgeError


def _broken() -> str:
    return "no namespaces"


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
    breaker = SandboxBreaker(most=3, rest_seconds=3600.0, why_broken=_broken)
    assert [cause_of_a_try(breaker, broken=True) for _ in range(5)] == [Cause.SANDBOX] * 3 + [Cause.BREAKER] * 2
    # nor is what would succeed let through
    assert cause_of_a_try(breaker, broken=False) is Cause.BREAKER


def test_a_success_between_two_failures_counts_from_zero_again() -> None:
    breaker = SandboxBreaker(most=2, rest_seconds=3600.0, why_broken=_broken)
    tried = [cause_of_a_try(breaker, broken=broken) for broken in (True, False, True, False, True, True, True)]
    assert tried == [Cause.SANDBOX, None, Cause.SANDBOX, None, Cause.SANDBOX, Cause.SANDBOX, Cause.BREAKER]


def test_after_its_rest_one_try_is_let_through_and_a_success_closes_it() -> None:
    breaker = SandboxBreaker(most=1, rest_seconds=0.0, why_broken=_broken)
    tried = [cause_of_a_try(breaker, broken=broken) for broken in (True, True, False, False)]
    assert tried == [Cause.SANDBOX, Cause.SANDBOX, None, None]


def test_programs_that_fail_where_one_of_our_own_does_not_open_nothing() -> None:
    """A policy found a program that no kernel starts, and took all verdicts away with ten of them."""
    asked: list[str] = []

    def why_broken() -> str:
        asked.append("")
        return ""

    breaker = SandboxBreaker(most=3, rest_seconds=3600.0, why_broken=why_broken)
    assert [cause_of_a_try(breaker, broken=True) for _ in range(12)] == [Cause.SANDBOX] * 12
    assert len(asked) == 4
    assert cause_of_a_try(breaker, broken=False) is None


def test_it_says_how_many_failed_and_why() -> None:
    breaker = SandboxBreaker(most=1, rest_seconds=3600.0, why_broken=_broken)
    cause_of_a_try(breaker, broken=True)
    with pytest.raises(
        JudgeError, match=r"1 sandboxes failed in a row, the last: no namespaces; the next try is in \d+ s"
    ):
        breaker.trying().__enter__()


def test_a_machine_that_was_mended_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    told = ["no namespaces", ""]
    monkeypatch.setattr(jail, "_tried", functools.cache(lambda bare: told.pop(0)))
    with pytest.raises(NoIsolationError, match="no namespaces"):
        check_isolation()
    check_isolation()
    check_isolation()
    assert told == []


def refuse(thread: threading.Thread) -> None:
    raise RuntimeError("can't start new thread")


def test_a_thread_that_the_system_refused_once_hangs_no_later_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every later program waited for ever for the thread that should have started its jail."""
    starter, made = _Starter(), list[Any]()
    with monkeypatch.context() as scarce:
        scarce.setattr(threading.Thread, "start", refuse)
        with pytest.raises(RuntimeError, match="new thread"):
            starter.run(lambda: pytest.fail("there is no thread"))
    later = threading.Thread(target=lambda: made.append(starter.run(lambda: "a jail")), daemon=True)  # type: ignore[arg-type, return-value]
    later.start()
    later.join(30)
    assert made == ["a jail"]


def test_a_jail_that_no_thread_would_end_does_not_wait_idle(monkeypatch: pytest.MonkeyPatch) -> None:
    jails, closed = WarmJails(idle_seconds=0.01), threading.Semaphore(0)
    one: Any = SimpleNamespace(alive=True, close=closed.release)
    with monkeypatch.context() as scarce:
        scarce.setattr(threading.Thread, "start", refuse)
        jails.give("kind", one)
    assert closed.acquire(blocking=False)
    jails.give("kind", one)
    assert closed.acquire(timeout=30)
