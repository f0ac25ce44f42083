"""Runs the audit: every attack on every task. Counts false verdicts, and keeps the worst answers and the times."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agentscope_tuner.insight.audit.attack import Attack
from agentscope_tuner.insight.audit.empty_attacks import EMPTY_ATTACKS
from agentscope_tuner.insight.audit.right_variants import RIGHT_VARIANTS
from agentscope_tuner.insight.audit.subject import Subject
from agentscope_tuner.insight.audit.wrong_attacks import WRONG_ATTACKS
from agentscope_tuner.insight.intervals import Interval, wilson
from agentscope_tuner.task_judge.batch import ConfiguredJudge
from agentscope_tuner.task_judge.judgement import Judgement

ATTACKS: tuple[Attack, ...] = (*EMPTY_ATTACKS, *WRONG_ATTACKS, *RIGHT_VARIANTS)
_WORST = 3
_SHOWN = 300


@dataclass(frozen=True, slots=True)
class AttackResult:
    """One attack over all tasks.

    Attributes:
        name: the attack's name.
        about: the attack in one line.
        must: the right verdict on its answers, `fail` or `pass`.
        answers: number of answers with a verdict.
        false: number of false verdicts: false passes or false fails.
        no_verdict: number of answers without a verdict, which were neither passed nor failed.
        seconds: wall-clock time for all answers.
        slowest: seconds of the slowest verdict.
        worst: three answers with false verdicts, those with the worst rewards.
    """

    name: str
    about: str
    must: str
    answers: int
    false: int
    no_verdict: int
    seconds: float
    slowest: float
    worst: tuple[dict[str, Any], ...]

    @property
    def rate(self) -> float | None:
        """The share of false verdicts; None without any verdict."""
        return self.false / self.answers if self.answers else None

    @property
    def interval(self) -> Interval | None:
        """Wilson's 95 % interval of `rate`."""
        return wilson(self.false, self.answers)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        names = ("name", "about", "must", "answers", "false", "no_verdict", "rate", "interval", "seconds", "slowest")
        return {**{name: getattr(self, name) for name in names}, "worst": list(self.worst)}


def attacked(judge: ConfiguredJudge, subjects: Sequence[Subject], pass_at: float) -> list[AttackResult]:
    """The results of every attack that makes sense for the tasks.

    Args:
        judge: the judge under audit.
        subjects: the tasks.
        pass_at: the lowest reward that counts as a pass; a verdict of success counts as a pass, too.
    """
    results = (_attack(attack, judge, subjects, pass_at) for attack in ATTACKS)
    return [result for result in results if result.answers or result.no_verdict]


def _attack(attack: Attack, judge: ConfiguredJudge, subjects: Sequence[Subject], pass_at: float) -> AttackResult:
    asked = [(subject, answer) for subject in subjects for answer in attack.answers(subject)]
    started = time.perf_counter()
    verdicts = judge.judge_batch([subject.pair(answer) for subject, answer in asked]) if asked else []
    seconds = time.perf_counter() - started
    false = [
        (subject, answer, verdict)
        for (subject, answer), verdict in zip(asked, verdicts, strict=True)
        if verdict.reward is not None and passed(verdict, pass_at) == (attack.must == "fail")
    ]
    false.sort(key=lambda item: (item[2].reward or 0.0) * (-1 if attack.must == "fail" else 1))
    failed = sum(verdict.reward is None for verdict in verdicts)
    return AttackResult(
        name=attack.name,
        about=attack.about,
        must=attack.must,
        answers=len(verdicts) - failed,
        false=len(false),
        no_verdict=failed,
        seconds=seconds,
        slowest=max((verdict.seconds for verdict in verdicts), default=0.0),
        worst=tuple(_example(*item) for item in false[:_WORST]),
    )


def passed(verdict: Judgement, pass_at: float) -> bool:
    """Whether a trainer would treat the verdict as a pass."""
    return bool(verdict.is_success) or (verdict.reward is not None and verdict.reward >= pass_at)


def _example(subject: Subject, answer: str, verdict: Judgement) -> dict[str, Any]:
    return {
        "id": subject.id,
        "reference": None if subject.reference is None else subject.reference[:_SHOWN],
        "answer": answer[:_SHOWN],
        "reward": verdict.reward,
        "reason": verdict.reason[:_SHOWN],
    }
