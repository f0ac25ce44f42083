r"""`make law N=30000`: one text, one value, on random texts: none may be paid for two references that differ.

A text is composed of fragments (`law_fragments`) around a value of a reference (`law_references`) or around another
value of the same kind. It is judged by `load_judge(configs/math.yaml)`, some of the texts with tags, hashes and labels
read too, under the reference's own question. What may not be:

- two values: the text is paid for two references that differ. This needs no label, whatever the text says.
- denied: the only value in the text is denied, doubted or changed by the words and signs around it, and is paid.
- hedged: the box offers two values, and one of them is paid.
- contradicted: after the box, the text states another value as the answer, and the box is paid.
- unworked: a formula of the question, with free letters on which it does not depend, is paid.
- changed: a text in which one letter, place or word is another, so that its value is, is paid.
- refused: a rewrite that keeps the value is not paid, though nothing stands around it but "the answer is", and perhaps
  the same value once more.

Each violation is made as small as it can be: fragments are dropped while it lasts. `--at N` shows text number N alone.
The exit code is 1 where there is one violation.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import NamedTuple

from agentscope_tuner import Task, TaskJudge, WorkflowOutput, WorkflowTask, load_config, load_judge
from benchmarks.math import law_fragments as fragments
from benchmarks.math.law_references import REFERENCES, Reference

CONFIG = Path(__file__).parents[2] / "configs" / "math.yaml"
COUNT, SEED = 30_000, 20270104
# Texts that one task of a process judges
CHUNK = 500
LAWS = ("two values", "denied", "hedged", "contradicted", "unworked", "changed", "refused")
_EVERYWHERE = ("boxed", "tag", "hash", "label")
# One text in so many is judged with all places read
_EVERYWHERE_SHARE = 6


class Piece(NamedTuple):
    """A fragment in a text; `law`: what it does to the value, empty where it does nothing; `word`: what `%` becomes."""

    law: str
    fragment: str
    word: str = ""

    def filled(self, value: str, other: str) -> str:
        """The fragment with a value in it."""
        parts = [part.replace("%", self.word) for part in self.fragment.split("%%")]
        return "%".join(parts).replace("@", value).replace("~", other)


@dataclass(frozen=True)
class Draft:
    """A text before it is written.

    Attributes:
        reference: the place in REFERENCES.
        core: what stands innermost: the value's text, or a rewrite of it.
        value: the reference's text, or one of its other values, that `core` stands for; None: neither.
        other: the other value, for `~`.
        inner: fragments in the box, the innermost first.
        around: fragments around the box, the innermost first.
        before, after: sentences.
        law: what the core itself may not be; empty where nothing is known of it.
        everywhere: whether tags, hashes and labels are read too.
    """

    reference: int
    core: str
    value: str | None
    other: str
    inner: tuple[Piece, ...] = ()
    around: tuple[Piece, ...] = ()
    before: tuple[Piece, ...] = ()
    after: tuple[Piece, ...] = ()
    law: str = ""
    boxed: bool = True
    everywhere: bool = False

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """Every fragment."""
        return (*self.inner, *self.around, *self.before, *self.after)

    def text(self) -> str:
        """The whole text."""
        inside = self.core
        for piece in self.inner:
            inside = piece.filled(inside, self.other)
        text = f"\\boxed{{{inside}}}" if self.boxed else inside
        for piece in self.around:
            text = piece.filled(text, self.other)
        sentences = [[piece.filled(self.core, self.other) for piece in part] for part in (self.before, self.after)]
        return "\n".join((*sentences[0], text, *sentences[1]))


@dataclass(frozen=True)
class Violation:
    """A text that breaks a law; `paid`: the references that it was paid for, or was to be paid for."""

    law: str
    draft: Draft
    paid: tuple[str, ...]

    def shape(self) -> tuple[str, ...]:
        """What violations of one cause have in common."""
        if not self.draft.pieces:
            return (self.law, REFERENCES[self.draft.reference].kind, self.draft.core)
        return (self.law, *(piece.fragment for piece in self.draft.pieces))


@dataclass
class Tally:
    """What a search found."""

    texts: int = 0
    calls: int = 0
    violations: list[Violation] = field(default_factory=list)

    def by_law(self) -> Counter[str]:
        """Violations by law."""
        return Counter(one.law for one in self.violations)


@cache
def _judge(everywhere: bool) -> TaskJudge:
    if not everywhere:
        return load_judge(CONFIG)
    return load_judge(load_config(CONFIG, [f"astuner.task_judge.math.answer_in=[{','.join(_EVERYWHERE)}]"]))


Pays = Callable[[Draft, str], bool]


def pays(draft: Draft, reference: str) -> bool:
    """Whether the draft's text is paid for a reference under the draft's question; no verdict is no pay."""
    task = Task(main_query=REFERENCES[draft.reference].question, metadata={"answer": reference})
    output = WorkflowOutput(metadata={"final_answer": draft.text()})
    return _judge(draft.everywhere).judge(WorkflowTask(task=task), output).is_success is True


def draft(at: int, seed: int = SEED) -> Draft:
    """Text number `at` of the seed's series."""
    draw = random.Random(f"{seed}/{at}")
    place = draw.randrange(len(REFERENCES))
    reference = REFERENCES[place]
    values = [reference.text, *draw.sample(reference.others, min(2, len(reference.others)))]
    draw.shuffle(values)
    value = values[0]
    other = draw.choice(values[1:])
    plain = Draft(place, value, value, other, everywhere=not draw.randrange(_EVERYWHERE_SHARE))
    kinds = [*[_mutated] * 2, *[_denied] * 8, *[_combined] * 9, _contradicted]
    return draw.choice(kinds)(draw, reference, _said(draw, plain))


def _neutral(draw: random.Random, choices: Iterable[str], most: int) -> tuple[Piece, ...]:
    return tuple(Piece("", fragment) for fragment in draw.sample(list(choices), draw.randint(0, most)))


def _piece(draw: random.Random, law: str, choices: Sequence[str]) -> Piece:
    return Piece(law, draw.choice(choices), draw.choice(fragments.DENYING))


def _said(draw: random.Random, plain: Draft) -> Draft:
    around = [_piece(draw, "", fragments.PLACES)]
    if draw.random() < 0.7:
        around.append(_piece(draw, "", fragments.SAID))
    inner = () if draw.random() < 0.7 else _neutral(draw, fragments.DRESS[1:4], 1)
    return replace(plain, around=tuple(around), inner=inner)


def _mutated(draw: random.Random, reference: Reference, plain: Draft) -> Draft:
    """A rewrite that keeps the value, or changes it, or states the question's own formula."""
    digits = [at for at, sign in enumerate(reference.text) if sign.isascii() and sign.isdigit()]
    changed = [*reference.changed, *reference.others]
    if digits:
        changed += [_other_digit(draw, reference.text, draw.choice(digits)) for _ in changed]
    pools = [("refused", (reference.text, *reference.same)), ("changed", tuple(changed))]
    if reference.unworked:
        pools += [("unworked", reference.unworked)] * 3
    law, pool = draw.choice(pools)
    plain = replace(plain, core=draw.choice(pool), law=law, value=reference.text, everywhere=False)
    if law == "refused" and draw.random() < 0.4:
        restated = _piece(draw, "", fragments.RESTATED)
        return replace(plain, after=(restated,), other=draw.choice((reference.text, *reference.same)))
    if law != "unworked":
        return plain
    return replace(plain, inner=_neutral(draw, fragments.LETTERED, 2))


def _other_digit(draw: random.Random, text: str, at: int) -> str:
    return text[:at] + draw.choice([digit for digit in "123456789" if digit != text[at]]) + text[at + 1 :]


def _denied(draw: random.Random, reference: Reference, plain: Draft) -> Draft:
    """The value alone, with something in or around the box that denies or changes it."""
    law, dressed = "denied", _neutral(draw, fragments.DRESS, 1)
    inside = [fragments.DENIED] * 3 + [fragments.STRUCK] + ([fragments.OPERATED] if reference.number else [])
    outside = [fragments.DENIED_BOX] * 2 + ([fragments.OPERATED_BOX] if reference.number else [])
    if (kind := draw.random()) < 0.7:
        wrap = _piece(draw, law, draw.choice(inside))
        return replace(plain, inner=draw.choice(((*dressed, wrap), (wrap, *dressed))))
    if kind < 0.9:
        return replace(plain, around=(_piece(draw, law, draw.choice(outside)),), inner=dressed)
    return replace(plain, after=(_piece(draw, law, fragments.TAKEN_BACK),), inner=dressed)


def _combined(draw: random.Random, reference: Reference, plain: Draft) -> Draft:
    """Two values, in any place: whatever the text states, it states one of them at most."""
    inner = [_piece(draw, "hedged", fragments.HEDGED)] if draw.random() < 0.5 else []
    if not inner or draw.random() < 0.3:
        inner.append(_piece(draw, "two", fragments.COMBINED))
    if draw.random() < 0.2:
        inner.append(_piece(draw, "two", draw.choice((fragments.DENIED, fragments.COMBINED, fragments.DRESS))))
    draw.shuffle(inner)
    before = tuple(_piece(draw, "two", fragments.ASIDE) for _ in range(draw.randint(0, 2)))
    after = tuple(_piece(draw, "two", fragments.ASIDE) for _ in range(draw.randint(0, 1)))
    if draw.random() < 0.15:
        return replace(
            plain, inner=tuple(inner), before=before, after=after, boxed=False, everywhere=True,
            around=(_piece(draw, "", fragments.OTHER_PLACES),),
        )  # fmt: skip
    return replace(plain, inner=tuple(inner), before=before, after=after)


def _contradicted(draw: random.Random, reference: Reference, plain: Draft) -> Draft:
    """The box, and after it another value as the answer."""
    return replace(plain, after=(_piece(draw, "contradicted", fragments.CONTRADICTED),))


def broken(found: Draft, paid: Pays = pays) -> Violation | None:
    """The law that a text breaks, if any. References that the text cannot decide on are not asked."""
    own = REFERENCES[found.reference].text
    laws = [piece.law for piece in found.pieces if piece.law]
    if found.law:
        if paid(found, own) is (found.law != "refused"):
            return Violation(found.law, found, (own,))
        return None
    assert found.value is not None
    first = paid(found, found.value)
    # Two such fragments may take back each other's meaning, so their label is known only where there is one
    if first and len(laws) == 1 and laws[0] in ("denied", "hedged", "contradicted"):
        return Violation(laws[0], found, (found.value,))
    if "~" not in "".join(piece.fragment for piece in found.pieces):
        return None
    if laws == ["hedged"] and paid(found, found.other):
        return Violation("hedged", found, (found.other,))
    if first and paid(found, found.other):
        return Violation("two values", found, (found.value, found.other))
    return None


def smaller(found: Draft) -> Iterator[Draft]:
    """The draft with one fragment less."""
    for name in ("before", "after", "inner", "around"):
        pieces = getattr(found, name)
        for at in range(len(pieces)):
            yield replace(found, **{name: pieces[:at] + pieces[at + 1 :]})


def minimised(violation: Violation, paid: Pays = pays) -> Violation:
    """The smallest violation of the same law that dropping fragments gives."""
    for draft_ in smaller(violation.draft):
        if not draft_.boxed and not draft_.around:
            continue
        found = broken(draft_, paid)
        if found is not None and found.law == violation.law:
            return minimised(found, paid)
    return violation


def chunk(count: int, seed: int, start: int) -> Tally:
    """Judge `count` texts from number `start` on."""
    tally = Tally()

    def counted(found: Draft, reference: str) -> bool:
        tally.calls += 1
        return pays(found, reference)

    for at in range(start, start + count):
        found = broken(draft(at, seed), counted)
        tally.texts += 1
        if found is not None:
            tally.violations.append(minimised(found, counted))
    return tally


def search(count: int, seed: int = SEED, jobs: int = 1, seconds: float = 1e9) -> Tally:
    """Judge the first `count` texts of a seed's series, in several processes.

    Args:
        seconds: no further texts are begun after this time.
    """
    parts = [(min(CHUNK, count - start), seed, start) for start in range(0, count, CHUNK)]
    whole, until = Tally(), time.monotonic() + seconds
    if jobs == 1:
        for part in parts:
            if time.monotonic() < until:
                _add(whole, chunk(*part))
        return whole
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn")) as pool:
        for result in [pool.submit(_until, until, *part) for part in parts]:
            _add(whole, result.result())
    return whole


def _until(until: float, count: int, seed: int, start: int) -> Tally:
    return chunk(count, seed, start) if time.monotonic() < until else Tally()


def _add(whole: Tally, part: Tally) -> None:
    whole.texts += part.texts
    whole.calls += part.calls
    whole.violations += part.violations


def report(tally: Tally, shown: int) -> str:
    """The violations, those of one shape together, the most frequent first."""
    by_law = tally.by_law()
    lines = [f"{tally.texts:,} texts, {tally.calls:,} verdicts, {len(tally.violations):,} violations: {dict(by_law)}"]
    shapes: dict[tuple[str, ...], list[Violation]] = defaultdict(list)
    for violation in tally.violations:
        shapes[violation.shape()].append(violation)
    for law in LAWS:
        found = sorted((s for s in shapes if s[0] == law), key=lambda s: (-len(shapes[s]), s))
        if found:
            lines.append(f"\n{law}: {by_law[law]} texts in {len(found)} shapes")
        for shape in found[:shown]:
            alike = shapes[shape]
            first = min(alike, key=lambda one: len(one.draft.text()))
            kinds = sorted({REFERENCES[one.draft.reference].kind for one in alike})
            question = REFERENCES[first.draft.reference].question
            said = "refused for" if law == "refused" else "paid for"
            everywhere = " [all places]" if first.draft.everywhere else ""
            lines.append(f"  {len(alike):4} {first.draft.text()!r}{everywhere} {said} {' and for '.join(first.paid)!r}")
            lines.append(f"       {f'to {question!r}; ' if question else ''}kinds: {', '.join(kinds)}")
            words = sorted({p.word for one in alike for p in one.draft.pieces if "%" in p.fragment.replace("%%", "")})
            lines += [f"       words: {', '.join(words[:40])}"] if words else []
        if len(found) > shown:
            lines.append(f"  … and {len(found) - shown} more shapes")
    return "\n".join(lines)


def main() -> int:
    """0 when no law is broken."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=COUNT, help="texts; half a million are a night's")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--minutes", type=float, default=1e6, help="no text is begun later")
    parser.add_argument("--shown", type=int, default=60, help="shapes of violations that are printed of each law")
    parser.add_argument("--at", type=int, help="show and judge this text alone")
    asked = parser.parse_args()
    if asked.at is not None:
        found = draft(asked.at, asked.seed)
        print(found, found.text(), broken(found), sep="\n")
        return 0
    tally = search(asked.count, asked.seed, asked.jobs, 60 * asked.minutes)
    print(report(tally, asked.shown))
    return 1 if tally.violations else 0


if __name__ == "__main__":
    sys.exit(main())
