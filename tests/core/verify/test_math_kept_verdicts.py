"""The verdict on a pair is kept for those who state the same, unless a worker had a part in it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from agentscope_tuner.verify.math import verdict as stages
from agentscope_tuner.verify.math.verdict import MathVerdict, compare

# A pair that a worker compares
OPEN = (r"\sqrt[3]{16}", r"2\sqrt[3]{2}")


class Worker:
    """Answers each stage with the next of some outcomes, and counts."""

    def __init__(self, *outcomes: str) -> None:
        self.outcomes, self.asked = list(outcomes), 0

    def __call__(self, *_: Any, **__: Any) -> Any:
        self.asked += 1
        return self.outcomes.pop(0), ""


@pytest.fixture(autouse=True)
def _nothing_kept() -> None:
    stages._kept_verdict.cache_clear()


@pytest.fixture
def readings(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The answers of all pairs that were read, in order."""
    read: list[str] = []
    own: Callable[..., Any] = stages._cheap_verdict

    def counted(pair: Any, copied: Any) -> Any:
        read.append(pair.answer)
        return own(pair, copied)

    monkeypatch.setattr(stages, "_cheap_verdict", counted)
    return read


def test_a_pair_is_read_once(readings: list[str]) -> None:
    rows = [(r"\frac{6\sqrt{5}}{7}", r"\frac67\sqrt5"), (r"\frac{6\sqrt{5}}{11}", r"\frac67\sqrt5")] * 3
    verdicts = [compare(answer, reference) for answer, reference in rows]
    assert [verdict.outcome for verdict in verdicts] == ["equal", "different"] * 3
    assert verdicts[:2] * 3 == verdicts
    assert len(readings) == 2


@pytest.mark.parametrize(
    "other",
    [
        {"answer": "17+4x"},
        {"ground_truth": "5x+17"},
        {"question": "What is the sum of 4x and 17?"},
        {"question": "Write the sum $17+x+3x$ without like terms.", "copied": "accept"},
        {"symbolic": Worker()},
    ],
    ids=["answer", "reference", "question", "copied", "worker"],
)
def test_what_differs_in_anything_is_read_anew(readings: list[str], other: dict[str, Any]) -> None:
    asked = {"answer": "17+x+3x", "ground_truth": "4x+17", "question": "Write the sum $17+x+3x$ without like terms."}
    first, second = compare(**asked), compare(**{**asked, **other})  # type: ignore[arg-type]
    assert first.outcome == "different"
    assert len(readings) == 2
    assert (second == first) is ("symbolic" in other)


def test_a_verdict_of_a_worker_is_asked_for_again() -> None:
    answer, reference = OPEN
    worker = Worker("undecided", "equal")
    verdicts = [compare(answer, reference, symbolic=worker) for _ in range(2)]
    assert [verdict.outcome for verdict in verdicts] == ["undecided", "equal"]
    assert worker.asked == 2


def test_what_is_open_without_a_worker_is_not_kept() -> None:
    answer, reference = OPEN
    assert compare(answer, reference).outcome == "undecided"
    assert compare(answer, reference, symbolic=Worker("equal")) == MathVerdict(
        "equal", "symbolic", f"symbolic: {answer} = {reference}"
    )


def test_a_long_answer_is_not_kept(readings: list[str]) -> None:
    answer = "+".join(f"{at}x" for at in range(1, 90))
    assert len(answer) > 256
    assert [compare(answer, "4005x").outcome for _ in range(2)] == ["equal", "equal"]
    assert len(readings) == 2
