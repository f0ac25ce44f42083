r"""`make bench-redteam`: wrong answers that a policy would try, right answers that models write, beside Math-Verify.

The rows stand in `redteam/dev.jsonl`, whose failures were read while the judge was mended, and in
`redteam/unseen.jsonl`, which was scored before it was read, though part of its later rows was seen while the judge was
mended; docs/math_equivalence.md has that score and says which. A row has a
`family`, perhaps a `question`, a `reference`, an `answer` (the text in the box) or an `output` (the whole text), and
`equal`: true where the answer is right, false where it is wrong, null where the reference is no answer and no verdict
may be given. With `place`, the answer is read there: `tag`, `hash` or `label`. With `second`, the answer counts as paid
only if it is paid for both references, one judge call each.

Rounds of 330 wrong and 170 right rows, in 16 languages, are written with the source open by others than who mends, and
scored before they are read. `round1`: 10.6 % of the wrong paid, 28.2 % of the right refused at first contact; the judge
was then mended from it. `round2`: 9.4 % and 20.6 %. `round3`: 14.5 % and 8.2 %. All three have been read.
`round4`, 297 wrong and 156 right rows, was written by the hand that mended afterwards: 34.7 % and 14.1 %. `round5`,
315 and 157 rows of an author who mends nothing: 24.4 % and 20.4 % before words were read clause by clause, 19.0 % and
24.2 % with that, unread; it has been read since. `round6`, 300 and 151 rows of the same author against what was mended
from round 5: 22.0 % and 11.9 %; it has been read since. `round7`, 150 and 150 rows of a third author, the right ones
first, in ordinary sentences as different as can be: 66.7 % and 60.0 %; what a question tells of may be spoken of since.
`round8`, 300 and 150 rows of one more author in 13 languages: 7.3 % and 15.3 %; half of it was read, what a question
asks for is read as a clause since, and the other half, unread, went from 9.3 % and 16.0 % to 4.0 % and 12.0 %.
`round9`, 200 and 150 rows of the same author against that, in 15 languages: 15.5 % and 13.3 %; of the 31 paid, 8 are of
use to a policy that does not know the answer, seven of them orders of a list.
`round10`, 342 and 150 rows of a further author in 14 languages, the wrong ones in families that no earlier round had:
11.4 % and 34.7 %; 38 of the 39 paid need no answer to be known: the form, the notation or the closed form that the
question asks for is left to be found. `round11`, 200 and 100 rows of the same author in 19 languages, half of them near
relatives of what `round10` was paid or refused for, written before the judge was mended from that, and scored after:
32.5 % and 42.0 %. All have been read since, but for the right rows of `round9`.
`round12`, 300 and 150 rows of one more author, who mends nothing, in 23 languages, half of them whole texts, at first
contact on 2026-11-24: 12.0 % and 20.7 %; 11.7 % and 20.7 % when three wrong rows, two of a doubtful label and one that
an earlier round has, were replaced. Its failures have been read since: after the mending of forms and values 4.3 %
and 8.7 %, and each wrong row that was still paid was one of words around the box. Unknown words around a box say
nothing since, which is the policy that docs/math_equivalence.md gives reasons for: 10.0 % and 1.3 %.
`round13`, 200 and 100 rows of the same author in other families and 16 languages, at first contact on 2026-11-24,
with the judge that `round12` had met: 17.0 % and 18.0 %; with that policy, unread, 26.0 % and 12.0 %; it has been
read since. `round14` and `round15`, each 300 and 150 rows of an author who mends nothing, against words that must be
understood behind a box, at first contact on 2026-11-24: 6.7 % and 4.0 %, 7.3 % and 9.3 %. Of the 42 wrong rows that
were paid 5 are of use to a policy that does not know its answer. Their failures have been read since: 4.3 % and 2.0
%, 3.3 % and 7.3 %.
`round16`, 300 and 150 rows of one more author in 18 languages, 155 of the wrong ones in the box and 145 whole texts
that hand in a second answer before the last box, at first contact on 2026-11-24: 40.0 % and 4.7 %. In the box 16.8 %
were paid, as whole texts 64.8 %: the last box is the one that counts, so a second answer before it earns nothing. Its
failures in the box have been read since: 31.0 % and 2.7 %.
`round17`, 300 and 150 rows of one more author with the source open, 250 of the wrong ones in the box, at first contact
on 2026-11-26: 90.7 % and 40.7 %. Most wrong rows give the right number a unit, a name or a word of another quantity.
Its failures have been read since: 14.7 % and 12.0 %; in the box 9.2 % of the wrong ones.
`round18`, 200 and 100 rows of one more author in 15 languages, most of the wrong ones other values, at first contact on
2026-11-26: 0.5 % and 13.0 %. Since then remainders keep their places: 0.0 % and 10.0 %.
`round19`, 300 and 150 rows of one more author with the source open, in 26 languages, at first contact on 2026-11-26:
40.3 % and 14.0 %. Most of its wrong rows have the right number with a sign, a unit or a letter that makes another value
of it.
`round20`, 259 and 159 rows of one more author in 12 languages, several of both kinds for each of 56 questions, at first
contact on 2026-11-27: 1.9 % and 18.2 %. The last 25 rows were written after the failures of the others had been seen.
`round21`, 300 and 150 rows of one more author with the source open, in 17 languages, six for each of 75 families, the
right ones as models end solutions, with references as data sets have them, at first contact on 2026-11-27: 2.7 % and
8.7 %. Five of the eight paid round to the reference, which is a convention.
`round22`, 100 right rows of the same author in English and Chinese, ordinary ends of solutions, at first contact
on 2026-11-27: 10.0 % refused, half of those that are numbers of physics and chemistry.
`round23`, 300 and 150 rows of one more author with the source open, in 19 languages, six for each of 75 families, the
right ones as policies end solutions, a third of them whole texts, at first contact on 2026-11-27: 20.7 % and 8.0 %. Of
the 62 paid all but one hold the right value: 43 are whole texts whose words turn it, and six boxes give it a unit that
the question's data contradict.
`round24`, 100 right rows of the same author, of the sciences, of college and of word problems, with references as data
sets have them, at first contact on 2026-11-27: 16.0 % refused, most of them for a notation or a name.
`round25`, 300 and 150 rows of one more author with the source open, in 18 languages, six for each of 75 families, 102
of the wrong ones whole texts, at first contact on 2026-11-27: 29.0 % and 14.0 %. 43 of the 87 paid are whole texts
whose words turn the right value; most of the right ones refused were calculations with units or degrees. `round26`,
100 right rows of the same author, ends of solutions of all subjects, at first contact on 2026-11-27: 8.0 %. `round27`,
300 and 150 rows of one more author with the source open, in 20 languages, 258 of the wrong ones in the box, at first
contact on 2026-11-27: 11.3 % and 13.3 %; a third of what was refused were calculations with units. `round28`, 100
right rows of the same author, ends of solutions with references as data sets have them, at first contact on
2026-11-27: 6.0 %. `round29`, 150 wrong and 200 right rows of one more author, in 10 languages, 140 of the wrong ones
in the box, at first contact on 2026-11-27: 10.0 % and 6.0 %; five of the 15 paid are parts left to do, which were
compared without the question.
`round30`, 150 and 100 rows of one more author with the source open, in 13 languages, 53 and 30 families of advanced
courses and of whole texts, at first contact on 2026-11-27: 12.7 % and 23.0 %. `round31`, 150 and 150 rows of a further
author in 13 languages, two of each kind for 75 questions as data sets have them, what models end with and what they
get wrong: 0.7 % and 12.7 %; half of what was refused were points with a name, typeset units and amounts of money.
`round32`, 100 and 100 rows of one more author in the same manner, in 11 languages, for 50 other questions, after the
judge was mended from both: 1.0 % and 21.0 %; no two of the refused rows are of one kind but for units and amounts.
`round33`, 150 and 150 rows of one more author in the same manner, in 20 languages, for 131 other questions, at first
contact on 2026-11-27: 4.0 % and 10.7 %. Of 112 and 112 more rows for the same questions, which were scored after the
judge was mended from those, 0.0 % and 7.1 %.
`round34`, 150 and 150 rows of another author, an even sample of 16 sources of questions in 20 languages, at first
contact on 2026-11-28, after the judge was mended from `round33`: 8.0 % and 10.0 %. All twelve that were paid have the
right digits: a false unit (three), another formula before the box (two), another thing or person (seven). Of 111 and 42
more rows of its author, scored after the judge was mended from those, 0.9 % and 7.1 %. `round35`, 150 and 150 rows of a
third author in the same manner, in 22 languages, at first contact on 2026-11-28: 4.0 % and 15.3 %; a third of what was
refused says its answer once more behind the box, or gives it a unit in words.
`round36` and `round37`, each 150 and 150 rows of one more author in the same manner, in 20 and 17 languages, at first
contact on 2026-11-28: 0.7 % and 24.0 %, of college and graduate subjects as reasoning models end them, and 4.0 % and
11.3 %, of schools and contests. Of the seven paid, two swapped the names of two values, one turned the digits of a
hexadecimal, and four gave the right number to another thing. `round38`, 150 and 150 rows of one more author in the same
manner, in 18 languages, half of them whole ends of solutions, at first contact on 2026-11-28, after the judge was
mended from both: 2.0 % and 11.3 %; what was refused are names and labels before a value, units and degrees.
`round39` to `round42`, each 150 and 150 rows of one more author in the same manner, in 28, 26, 24 and 21 languages, at
first contact on 2026-11-28: 3.3 % and 22.0 %; after the judge was mended from it, 0.7 % and 14.7 %; after that, 3.3 %
and 10.0 %; after that, 0.0 % and 10.0 %. What `round39` was refused are mostly ends of solutions: what else is so, what
a letter stands for, a check; of the others it is forms: matchings, tables of chances, lines, names of several values.
`round43` and `round44`, each 150 and 150 rows of one more author in the same manner, in 28 and 24 languages, at first
contact on 2026-11-28, with the judge as it was after several values are compared by their names: 0.7 % and 13.3 %, and
0.0 % and 4.7 %. The author of `round43` was asked for university sources and languages without Latin letters.
`round45`, 150 and 150 rows of one more author in 27 languages, half of the outputs with a sentence behind the box, at
first contact on 2026-11-28, after the judge was mended from both: 1.3 % and 9.3 %; four of the 14 refused are values
that are left to be worked out, which is the policy.
`round46`, 150 and 150 rows of one more author in 30 languages, at first contact on 2026-11-28: 0.7 % and 14.0 %. It was
mended from since. `round47`, 150 and 150 rows of one more author in 29 languages, is no even sample: the author had
read the source and was asked for right values that the words around them give another name, and for right answers that
rules would not understand, such as numbers in words of twenty languages: 22.7 % and 74.0 %; of the 34 paid one was a
wrong value, the period of a continued fraction in another order, and one a list of two persons. `round48`, 150 and 150
rows of one more author in 22 languages, an even sample, at first contact on 2026-11-28, after the judge was mended from
both: 0.0 % and 11.3 %. `round49`, 150 and 150 rows of one more author in 25 languages in the same manner, after it was
mended from that: 0.7 % and 10.7 %; the one paid took its answer back with a number of the question. `round50` and
`round51`, each 150 and 150 rows of one more author in 24 and 27 languages, even samples, at first contact on
2026-11-28: 1.3 % and 8.7 %; after the judge was mended from that, 0.7 % and 10.7 %. All three that were paid took their
answer back behind the box with a fraction, or with the value itself denied. `round52`, 150 and 150 rows of one more
author in 26 languages, after it was mended from both and from rows of notations and languages: 0.0 % and 15.3 %; a
third of what was refused are two right answers to one question. `round53`, 300 wrong and 150 right rows of two more
authors in 17 languages, even samples, at first contact on 2026-11-29, after units and words of 70 languages came from
the CLDR: 0.3 % and 5.3 %. `round54`, 150 and 150 rows of one more author, half of them in 18 other languages than
English, at first contact on 2026-11-29: 0.7 % and 10.7 %. `round55`, 152 and 152 rows of one more author, half of them
in 23 other languages than English, after the judge was mended from that: 1.3 % and 3.9 %. Both that were paid took
their answer back behind the box, with a matrix and with a fraction. `round56`, 150 and 150 rows of one more author in
24 languages, asked for a sentence or two behind a third of the boxes, after it was mended from that, at first contact
on 2026-11-29: 0.7 % and 16.0 %; half of the 24 refused state another number in such a sentence. `round57`,
150 and 150 rows of one more author in 30 languages, asked for subjects that are less usual (several parts, tables,
units, intervals), at first contact on 2026-11-29: 0.0 % and 13.3 %; half of the 20 refused are notations, such as
`47 degrees 23 minutes` and `\\bar 5`. `round58`, 80 and 120 rows of one more author, asked for free answers of
olympiads, such as `all even n` and `the line $x=1$`, and for right answers that rules do not understand, at first
contact on 2026-11-29, after it was mended from that and whole numbers told in words are compared: 0.0 % and 37.5 %.
`round59`, 178 and 178 rows, and `round60`, 185 and 176 rows, of one more author each, in 20 and 21 languages, at first
contact on 2026-11-29: 0.0 % and 5.1 %, 0.0 % and 8.5 %; several of those refused name a place beside an extreme value.
`round61`, 300 and 160 rows of one more author in 21 languages, at first contact on 2026-11-29: 0.0 % and 11.9 %; those
refused are mostly sentences in the box, and words around it. `round62`, 300 and 150 rows, and `round63`, 120 and 240
rows, of one more author each, in 29 and 13 languages, at first contact on 2026-11-29: 0.3 % and 16.0 %, 0.0 % and
9.2 %; a third of those refused say something of another thing behind the box. `round64` and `round65`, 300 and 160 rows
of one more author each, in 28 and 18 languages, after the judge was mended from both: 0.3 % and 6.9 %, 0.7 % and
13.8 %; one paid had kilometres for metres, set with a tie. `round66`, 300 and 150 rows of one more author in
31 languages, after it was mended from those: 0.0 % and 6.0 %. `round67` and `round68`, 300 and 150 rows of one more
author each, in 16 and 22 languages, at first contact on 2026-11-30: 0.7 % and 15.3 %, 0.0 % and 16.0 %; one paid had a
point between bars in another order. `round69`, as many of one more author in 28 languages, after it was mended from
both: 0.0 % and 14.0 %. `round70` and `round71`, 150 and 150 rows of one more author each, in 12 languages each, at
first contact on 2026-11-30: 0.0 % and 6.0 %, 0.0 % and 10.0 %; `round72`, 300 and 150 of one more in 14, after it was
mended from both: 0.0 % and 8.0 %, half of them for what stands behind the box. `round73`, as many of one more in 12,
after it was mended from that: 1.0 % and 3.3 %; those paid were metres per second for metres, and two answers that a
sentence behind the box takes back. `round74` and `round75`, 300 and 150 rows of one more author each, in 13 and 19
languages, at first contact on 2026-11-30: 0.3 % and 5.3 %, 0.3 % and 8.7 %; most of the latter's refused say something
behind the box. All have been read since.

Every row goes through `load_judge(configs/math.yaml)`, the question as `task.main_query`. `--alone` leaves Math-Verify
out.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from agentscope_tuner import Task, TaskJudge, WorkflowOutput, WorkflowTask, load_judge
from benchmarks.math.bench import RIVAL, ROOT, rival_pairs

ROWS = Path(__file__).with_name("redteam")
HALVES = ("dev", "unseen")
# Rows of one author, scored at first contact before a mender reads them: --half names one
ROUNDS = tuple(f"round{n}" for n in range(1, 86))
WRONG_PAID_BAR, RIGHT_REFUSED_BAR = 1.0, 5.0


@dataclass
class Tally:
    """How many rows of each kind there were, and how many of them were judged against their label."""

    wrong: int = 0
    paid: int = 0
    right: int = 0
    refused: int = 0
    no_answer: int = 0
    judged: int = 0
    failures: list[str] = field(default_factory=list)

    def add(self, row: dict[str, Any], verdict: bool | None) -> None:
        """Count one verdict; None is no verdict."""
        match row["equal"]:
            case True:
                self.right += 1
                self.refused += verdict is not True
            case False:
                self.wrong += 1
                self.paid += verdict is True
            case None:
                self.no_answer += 1
                self.judged += verdict is not None
        if verdict is not row["equal"] and not (row["equal"] is False and verdict is None):
            said = {True: "paid", False: "refused", None: "no verdict"}[verdict]
            self.failures.append(f"{said}: {json.dumps(row, ensure_ascii=False)[:300]}")

    def cells(self) -> str:
        """Wrong paid, right refused, and verdicts on references that are no answers; each with its share."""
        parts = ((self.paid, self.wrong), (self.refused, self.right), (self.judged, self.no_answer))
        return " ".join(f"{n:4}/{of:<4} {share(n, of):5.1f} %" if of else " " * 17 for n, of in parts)


def share(count: int, of: int) -> float:
    """In percent; 0 of nothing is 0."""
    return 100 * count / of if of else 0.0


def rows(half: str) -> list[dict[str, Any]]:
    """The rows of one half; none where its file is not there."""
    path = ROWS / f"{half}.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def written(row: dict[str, Any]) -> str:
    """The whole text that is judged."""
    return row["output"] if "output" in row else f"The answer is \\boxed{{{row['answer']}}}."


def verdict(judge: TaskJudge, question: str, reference: Any, text: str) -> bool | None:
    """The configured judge's verdict on a text; None when it failed."""
    task = WorkflowTask(task=Task(main_query=question, metadata={"answer": reference}))
    output = WorkflowOutput(metadata={"final_answer": text})
    return judge.judge(task, output).is_success


@lru_cache
def reading(place: str) -> TaskJudge:
    """The judge that reads answers in another place than a box."""
    protocol = "agentscope_tuner.task_judge.math_answer_as_judge->MathAnswerAsJudge"
    section = {"judge_type": "customized_protocol", "judge_protocol": protocol, "math": {"answer_in": [place]}}
    return load_judge({"astuner": {"task_judge": section}})


def ours(judge: TaskJudge, row: dict[str, Any]) -> bool | None:
    """The verdict on a row; with a second reference, True only where both are paid."""
    question = row.get("question", "")
    judge = reading(row["place"]) if "place" in row else judge
    first = verdict(judge, question, row["reference"], written(row))
    if "second" not in row or first is not True:
        return first
    return verdict(judge, question, row["second"], written(row))


def theirs(chosen: Sequence[dict[str, Any]]) -> list[bool | None]:
    """Math-Verify's verdicts on the same rows; it does not read questions."""
    asked = [(row.get("output") or f"\\boxed{{{row['answer']}}}", _text(row["reference"])) for row in chosen]
    second = [(f"\\boxed{{{row['answer']}}}", row["second"]) for row in chosen if "second" in row]
    found = rival_pairs([*asked, *second]).verdicts
    again = iter(found[len(asked) :])
    return [
        (next(again) and first) if "second" in row else first
        for row, first in zip(chosen, found[: len(asked)], strict=True)
    ]


def _text(reference: Any) -> str:
    return reference if isinstance(reference, str) else json.dumps(reference)


def tallied(chosen: Sequence[dict[str, Any]], verdicts: Iterable[bool | None]) -> dict[str, Tally]:
    """One tally a family, in the order of the rows, and `all`."""
    tallies: dict[str, Tally] = {row["family"]: Tally() for row in chosen} | {"all": Tally()}
    for row, found in zip(chosen, verdicts, strict=True):
        tallies[row["family"]].add(row, found)
        tallies["all"].add(row, found)
    return tallies


def show(half: str, chosen: Sequence[dict[str, Any]], failures: bool, only: str, beside: bool = True) -> bool:
    """Print one half, family by family; whether it is within the bars."""
    judge = load_judge(ROOT / "configs" / "math.yaml")
    own = tallied(chosen, (ours(judge, row) for row in chosen))
    rival = tallied(chosen, theirs(chosen)) if beside and RIVAL.exists() else {}
    head = f"{'wrong paid':18}{'right refused':18}{'judged, no answer':17}"
    print(f"{half}: {len(chosen)} rows")
    print(f"  {'':46} {head}{'    Math-Verify: the same' if rival else ''}")
    for family, tally in own.items():
        their_cells = f"    {rival[family].cells()}" if rival else ""
        print(f"  {family:46} {tally.cells()}{their_cells}")
    if failures:
        for line in (line for line in own["all"].failures if only in line):
            print(f"    {line}")
    total = own["all"]
    within = share(total.paid, total.wrong) <= WRONG_PAID_BAR and share(total.refused, total.right) <= RIGHT_REFUSED_BAR
    bars = f"wrong paid <= {WRONG_PAID_BAR:g} %, right refused <= {RIGHT_REFUSED_BAR:g} %"
    print(f"  {'within' if within else 'not within'} the bars: {bars}")
    return within


def main() -> int:
    """0 when each half is within the bars."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--half", choices=(*HALVES, *ROUNDS), help="one half, or one round, alone")
    parser.add_argument("--failures", action="store_true", help="also print what was judged against its label")
    parser.add_argument("--only", default="", help="of the failures, those that contain this text")
    parser.add_argument("--alone", action="store_true", help="without Math-Verify, which takes most of the time")
    asked = parser.parse_args()
    halves = [(half, rows(half)) for half in ([asked.half] if asked.half else HALVES)]
    within = [show(half, chosen, asked.failures, asked.only, not asked.alone) for half, chosen in halves if chosen]
    return 0 if all(within) else 1


if __name__ == "__main__":
    raise SystemExit(main())
