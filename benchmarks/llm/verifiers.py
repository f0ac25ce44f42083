"""The math judge alone, a verifier model alone and both, on 500 labelled answers.

python -m benchmarks.llm.verifiers [--errs 0.05]

The answers are a seeded sample of the math judge's own cases, which its authors have read, and answers in words, of
which the rules can read few. The verifier is simulated: it knows the label, and errs on the share `errs` of answers,
which is an assumption. Beside it answers that say nothing, which must not be paid, whatever the verifier says.

Exit code 1 when a bar is missed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentscope_tuner.task_judge.contract.judgement import Judgement
from agentscope_tuner.task_judge.contract.loading import load_judge
from agentscope_tuner.task_judge.llm.probes import EMPTY_ANSWERS
from agentscope_tuner.workflow import Task, WorkflowOutput, WorkflowTask
from benchmarks.bars import at_least, at_most
from tests.judge_server import Body, Canned, JudgeServer, prompt_of

CASES = Path(__file__).parents[2] / "tests" / "cases"
SIZE = 500
#: a reference, an answer that means the same, and one that does not
WORDS = (
    ("Peace of Westphalia", "the Westphalian peace", "the Peace of Augsburg"),
    ("photosynthesis", "the process of photosynthesis in plants", "cellular respiration"),
    ("William Shakespeare", "Shakespeare", "Christopher Marlowe"),
    ("the mitochondrion", "mitochondria", "the ribosome"),
    ("United States of America", "the USA", "the United Kingdom"),
    ("carbon dioxide", "CO2 gas", "carbon monoxide"),
    ("Mount Everest", "Everest", "K2"),
    ("supply exceeds demand", "there is more supply than demand", "demand exceeds supply"),
    ("it accelerates downwards", "its downward speed grows", "it stays at rest"),
    ("a right triangle", "a triangle with a right angle", "an equilateral triangle"),
    ("Marie Curie", "Madame Curie", "Rosalind Franklin"),
    ("the Pacific Ocean", "the Pacific", "the Atlantic Ocean"),
    ("binary search tree", "a BST", "a linked list"),
    ("World War II", "the Second World War", "World War I"),
    ("sodium chloride", "table salt", "sodium hydroxide"),
    ("Leonardo da Vinci", "da Vinci", "Michelangelo"),
    ("natural selection", "selection by nature", "genetic drift alone"),
    ("the Industrial Revolution", "the revolution of industry in Britain", "the French Revolution"),
    ("a monopoly", "a market with one seller", "perfect competition"),
    ("deoxyribonucleic acid", "DNA", "RNA"),
)


@dataclass(frozen=True, slots=True)
class Row:
    """An answer, and whether it is right."""

    reference: str
    answer: str
    right: bool


def rows() -> list[Row]:
    """500 labelled answers, the same ones every time."""
    known = [
        Row(
            case["reference"],
            case["answer"] if "boxed" in case["answer"] else f"\\boxed{{{case['answer']}}}",
            case["equal"],
        )
        for file in sorted(CASES.glob("math_*.jsonl"))
        for case in map(json.loads, file.read_text(encoding="utf-8").splitlines())
        if "question" not in case
    ]
    words = [
        Row(reference, f"So the answer is \\boxed{{{answer}}}.", answer == same)
        for reference, same, other in WORDS
        for answer in (same, other)
    ]
    return [*random.Random(7).sample(known, SIZE - len(words)), *words]


def verifier(rights: Sequence[Row], errs: float) -> Any:
    """A simulated general-verifier that errs on the share `errs` of answers; the number of the row is its question."""

    misjudged = set(random.Random(7).sample(range(len(rights)), round(errs * len(rights))))

    def answer(body: Body, attempt: int) -> Canned:
        found = re.search(r"number (\d+)", prompt_of(body))
        number = int(found[1]) if found else -1
        said = (number >= 0 and rights[number].right) is not (number in misjudged)
        return Canned(
            f"Final Decision: {'Yes' if said else 'No'}", usage={"prompt_tokens": 300, "completion_tokens": 8}
        )

    return answer


def judged(section: dict[str, Any], shown: Sequence[Row]) -> list[Judgement]:
    """The verdicts of the judge that `section` describes."""
    judge = load_judge({"astuner": {"task_judge": section}})

    async def one(number: int, row: Row) -> Judgement:
        task = Task(main_query=f"number {number}", task_id=str(number), metadata={"answer": row.reference})
        return await judge.ajudge(WorkflowTask(task=task), WorkflowOutput(metadata={"final_answer": row.answer}))

    async def every() -> list[Judgement]:
        return list(await asyncio.gather(*(one(number, row) for number, row in enumerate(shown))))

    return asyncio.run(every())


def table(name: str, shown: Sequence[Row], found: Sequence[Judgement]) -> tuple[float, float, float]:
    """Prints wrong answers paid, right ones refused, rows without a verdict, the share asked, and the cost."""
    wrong = [one for row, one in zip(shown, found, strict=True) if not row.right]
    right = [one for row, one in zip(shown, found, strict=True) if row.right]
    paid = 100 * sum(one.reward == 1 for one in wrong) / len(wrong)
    refused = 100 * sum(one.reward == 0 for one in right) / len(right)
    asked = (
        100
        * sum(one.metrics.get("verifier_asked", one.metrics.get("judge_calls", 0) > 0) for one in found)
        / len(found)
    )
    cost, none = sum(one.metrics.get("judge_cost", 0) for one in found), sum(one.reward is None for one in found)
    print(f"{name:34} {paid:8.1f} {refused:9.1f} {none:12} {asked:9.1f} {cost:9.4f}")
    return paid, refused, asked


def main() -> int:
    """Print the table, and every figure that has a bar."""
    parser = argparse.ArgumentParser(description="The math judge, a verifier model, and both.")
    parser.add_argument("--errs", type=float, default=0.05)
    # `make bench-llm` hands all of its programs the same options
    errs = parser.parse_known_args()[0].errs
    shown = rows()
    blanks = [Row("42", text, False) for text in (*EMPTY_ANSWERS, "", "\u200b", "Answer:", "The answer is")]
    with JudgeServer(verifier(shown, errs)) as server:
        prices = {"prompt": 0.1, "completion": 0.4}
        mine: dict[str, Any] = {
            "preset": "general_verifier",
            "model_name": "v",
            "base_url": server.url,
            "probes": "off",
        }
        mine["client"] = {"cache": False, "prices": prices}
        print(f"{len(shown)} answers, {sum(row.right for row in shown)} right; the verifier errs on {100 * errs:g} %")
        print(f"{'':34} {'paid %':>8} {'refused %':>9} {'no verdict':>12} {'asked %':>9} {'cost':>9}")
        alone = table("math judge alone", shown, judged({"judge": "math"}, shown))
        model = _model_alone(server.url, shown, prices)
        kinds = (["unread", "undecided"], ["unread", "undecided", "different"])
        both, wider = (
            table(
                f"both: {', '.join(open_)}",
                shown,
                judged({"judge": "verifier", "verifier": {**mine, "escalate": open_}}, shown),
            )
            for open_ in kinds
        )
    with JudgeServer(lambda body, attempt: Canned("Final Decision: Yes")) as server:
        paid = sum(one.reward == 1 for one in judged(_verifier(mine | {"base_url": server.url}, kinds[1]), blanks))
    kept = [
        at_most("answers that say nothing paid, though the verifier says yes", paid, 0, ""),
        at_most("wrong answers paid by both, beside the model alone", both[0] - model[0], 0, "%"),
        at_most("right answers refused by both, beside the math judge alone", both[1] - alone[1], 0, "%"),
        at_least("answers that both judge unasked", 100 - both[2], 50, "%"),
        at_most("right answers refused by both, asked about different ones, too", wider[1] - both[1], 0, "%"),
    ]
    return 0 if all(kept) else 1


def _verifier(mine: dict[str, Any], escalate: Sequence[str]) -> dict[str, Any]:
    return {"judge": "verifier", "verifier": {**mine, "escalate": list(escalate)}}


def _model_alone(url: str, shown: Sequence[Row], prices: dict[str, float]) -> tuple[float, float, float]:
    """The same verifier about every answer, by a prompt and a pattern."""
    prompt = "Question: {query}\nReference: {ground_truth}\nAnswer: {response}\nEnd with Final Decision: Yes or No."
    labels = {"score_pattern": r"Final Decision: (Yes|No)", "labels": {"yes": 1, "no": 0}}
    client = {"cache": False, "prices": prices}
    mine = {"model_name": "v", "base_url": url, "prompt": prompt, "client": client, **labels}
    return table("the verifier alone", shown, judged({"judge": "llm", "llm": mine}, shown))


if __name__ == "__main__":
    sys.exit(main())
