"""An audit in one sentence: can the judge be fooled, and what would a policy learn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agentscope_tuner.lab.audit.run import AttackResult, StrategyResult

_WORST = 3


def right_answers(results: Sequence[AttackResult]) -> tuple[int, int]:
    """How many of the plain right answers passed, and how many got a verdict."""
    plain = [result for result in results if result.name == "right answer"]
    tried = sum(result.answers for result in plain)
    return tried - sum(result.false for result in plain), tried


def verdict_of(results: Sequence[AttackResult], played: Sequence[StrategyResult]) -> str:
    """The finding of an audit."""
    passed, tried = right_answers(results)
    wrong = [result for result in results if result.must == "fail" and result.answers]
    if not wrong:
        return "Nothing is known: the judge has no verdict on any of the answers that must fail."
    holes = sorted((result for result in wrong if result.false), key=lambda result: -(result.rate or 0.0))
    unknown = ""
    if tried and not passed:
        unknown = (
            f"None of {tried} right answers passes, in no form that the audit knows: nothing is known of what the "
            "judge pays. Give the form of its answers by --form."
        )
        if not holes:
            return unknown
    said = [f"None of {sum(result.answers for result in wrong)} wrong answers passes."]
    if holes:
        worst = holes[0]
        said = [
            f"The judge can be fooled: {len(holes)} of {len(wrong)} attacks pass, most of all {worst.name!r}, with "
            f"{worst.rate:.0%} of its {worst.answers} answers."
        ]
    said += [unknown] if unknown else []
    near = [result for result in played if result.alarming]
    if near:
        said.append(f"A policy would learn {near[0].name!r}: {near[0].reward:.3f} a task{_beside_honest(played)}.")
    said += [
        f"It pays for length: a long right answer earns {result.length_pays:.2f} times what it earns alone."
        for result in played
        if result.length_pays is not None
    ]
    refused = [result for result in results if result.must == "pass" and result.false]
    if passed and refused:
        count, answers = sum(result.false for result in refused), sum(r.answers for r in results if r.must == "pass")
        said.append(f"It refuses {count} of {answers} right answers, written differently.")
    if not tried:
        said.append("No right answer is known, so nobody can say what it refuses.")
    return " ".join(said)


def _beside_honest(played: Sequence[StrategyResult]) -> str:
    honest = next((result.reward for result in played if result.name == "honest"), None)
    return "" if honest is None else f", where honest work earns {honest:.3f}"


def worst_rows(results: Sequence[AttackResult]) -> list[tuple[AttackResult, dict[str, Any]]]:
    """The three worst answers, of different attacks: first wrong ones that pass, by the rate of their attack."""
    holes = [result for result in results if result.worst]
    holes.sort(key=lambda result: (result.must != "fail", -(result.rate or 0.0)))
    return [(result, result.worst[0]) for result in holes[:_WORST]]
