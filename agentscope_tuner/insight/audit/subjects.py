"""Makes subjects of rows. The form of an answer that the judge reads is found by asking the judge."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from agentscope_tuner.errors import ConfigError
from agentscope_tuner.insight.audit.subject import FORMS, Subject, countdown_of, reference_of, solved
from agentscope_tuner.records.reader import Row
from agentscope_tuner.task_judge.batch import ConfiguredJudge
from agentscope_tuner.workflow import Rollout

_PROBED = 8
_OTHERS = 3


def subjects_of(rows: Iterable[Row], judge: ConfiguredJudge, keys: Sequence[str], limit: int) -> list[Subject]:
    """One subject for each task, up to `limit` tasks.

    Args:
        rows: rollouts, or tasks read as rollouts without an answer.
        judge: the judge under audit.
        keys: the judge's `reference_keys`.
        limit: the most tasks.

    Raises:
        ConfigError: no row can be read.
    """
    found: dict[str, Subject] = {}
    problem = "the file is empty"
    for row in rows:
        if row.rollout is None:
            problem = f"{row.where}: {row.problem}"
            continue
        name = row.rollout.task.task_id or row.rollout.id
        if name not in found and len(found) < limit:
            found[name] = _subject(row.rollout, keys)
    if not found:
        raise ConfigError(f"there is no task to audit with: {problem}")
    subjects = _others(list(found.values()))
    form = _form(subjects[:_PROBED], judge)
    return [replace(subject, form=form) for subject in subjects]


def _subject(rollout: Rollout, keys: Sequence[str]) -> Subject:
    metadata = rollout.output.metadata
    given = {key: value for key, value in metadata.items() if key not in ("final_answer", "messages")}
    known = {**given, **rollout.task.metadata}
    game, reference = countdown_of(known), reference_of(known, keys)
    honest = solved(*game) if game is not None else reference
    answer, label = metadata.get("final_answer"), rollout.label or {}
    written = answer if isinstance(answer, str) and label.get("is_success") is True else None
    return Subject(rollout.id, rollout.task, given, reference, honest, written, "boxed")


def _others(subjects: list[Subject]) -> list[Subject]:
    """The subjects, each with right answers of the tasks behind it that differ from its own answer."""
    count, made = len(subjects), []
    for place, subject in enumerate(subjects):
        behind = [subjects[(place + step) % count] for step in range(1, min(count, 20))]
        answers = dict.fromkeys(other.honest for other in behind if other.honest is not None)
        own = (subject.honest, subject.reference)
        others = [answer for answer in answers if answer not in own and _value(answer) != _value(subject.reference)]
        made.append(replace(subject, others=tuple(others[:_OTHERS])))
    return made


def _value(text: str | None) -> object:
    """The value of an answer for comparisons: 5 and 5.0 are the same answer."""
    try:
        return float((text or "").replace(",", ""))
    except ValueError:
        return "".join((text or "").split()).lower()


def _form(subjects: Sequence[Subject], judge: ConfiguredJudge) -> str:
    """The form in which the judge passes the most right answers; if it passes none, the first of `FORMS`."""
    known = [subject for subject in subjects if subject.honest is not None]
    passed = {}
    for form in FORMS:
        pairs = [
            replace(subject, form=form).pair(replace(subject, form=form).said(subject.honest or ""))
            for subject in known
        ]
        verdicts = judge.judge_batch(pairs) if pairs else []
        passed[form] = sum((verdict.reward or 0.0) + bool(verdict.is_success) for verdict in verdicts)
    return max(passed, key=passed.__getitem__)
