r"""Why two texts are the same or not: the stage that decides without a worker, and its words (cases/reasons.txt).

A row is `reference ⇒ answer ⇒ reason`, with the question behind it where there is one. Where the reason ends with the
two texts as they stand in the row, each is `…` there. Verdicts alone are many more in cases/math_*.jsonl; what these
rows pin is which rule is the one that decides, so that another which gives the same verdict is seen.

In cases/remarks.txt whole outputs stand in the place of answers, with `⏎` for a line's end: there the reason names what
beside the answer takes it back.
"""

from __future__ import annotations

from pathlib import Path

from agentscope_tuner.verify.find import find_answer
from agentscope_tuner.verify.math.place import judge_place
from agentscope_tuner.verify.math.verdict import compare

CASES = Path(__file__).parents[2] / "cases"
ROWS, REMARKS = (
    [line.split(" ⇒ ") for line in (CASES / name).read_text(encoding="utf-8").splitlines()]
    for name in ("reasons.txt", "remarks.txt")
)


def said(reference: str, answer: str, question: str | None) -> str:
    reason = compare(answer, reference, question=question).reason
    for sign in "=≠?":
        if reason.endswith(whole := f": {answer} {sign} {reference}"):
            return f"{reason.removesuffix(whole)}: … {sign} …"
    return reason


def test_the_reason_is_that_of_the_table() -> None:
    found = [[row[0], row[1], said(row[0], row[1], row[3] if len(row) > 3 else None), *row[3:]] for row in ROWS]
    assert [row for row, told in zip(found, ROWS, strict=True) if row != told] == []


def test_the_table_has_rows_of_every_stage_and_verdict() -> None:
    reasons = [row[2] for row in ROWS]
    heads = {reason.partition(":")[0] for reason in reasons}
    assert heads >= {"exact", "normalised", "numeric", "structure", "unread", "copied", "unworked", "name by name"}
    assert all(any(reason.endswith(f"… {sign} …") for reason in reasons) for sign in "=≠?")
    assert len({(row[0], row[1], *row[3:]) for row in ROWS}) == len(ROWS) > 600


def said_of_output(output: str, reference: str, question: str | None) -> str:
    text, asked = output.replace("⏎", "\n"), question and question.replace("⏎", "\n")
    found = find_answer(text, ["boxed"], by_value=True)
    verdict = judge_place(found, reference, asked, lambda value: compare(value, reference, question=asked))
    return verdict.reason.replace("\n", "⏎")


def test_the_reason_names_what_takes_an_answer_back() -> None:
    found = [
        [row[0], row[1], said_of_output(row[0], row[1], row[3] if len(row) > 3 else None), *row[3:]] for row in REMARKS
    ]
    assert [row for row, told in zip(found, REMARKS, strict=True) if row != told] == []
    taken_back = sum(" beside the answer" in row[2] for row in REMARKS)
    assert len(REMARKS) / 4 < taken_back < len(REMARKS)
