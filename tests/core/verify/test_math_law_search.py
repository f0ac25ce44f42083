"""A seeded part of `make law`, and what the search itself promises."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.math import law
from benchmarks.math.law import LAWS, Draft, Piece, Violation
from benchmarks.math.law_fragments import DENYING, HEDGED
from benchmarks.math.law_references import REFERENCES

# Laws that the judge still breaks. A law that it has come to keep fails here, too: take it off this list
BROKEN: set[str] = set()
TEXTS = 6_000

PLAIN = Draft(0, "42", "42", "17", around=(Piece("", "So it is @."),))
HEDGE = Piece("hedged", "@\\text{ or }~")


@pytest.fixture(scope="module")
def tally() -> law.Tally:
    return law.search(TEXTS)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.xfail(strict=True, reason="broken")] if name in BROKEN else [])
        for name in LAWS
    ],
)
def test_no_random_text_breaks_a_law(tally: law.Tally, name: str) -> None:
    assert tally.texts == TEXTS
    found = [one for one in tally.violations if one.law == name]
    assert not found, law.report(law.Tally(tally.texts, tally.calls, found), shown=20)


def test_a_text_is_written_from_the_inside_out() -> None:
    draft = replace(
        PLAIN, inner=(HEDGE, Piece("", "{@}")), before=(Piece("two", "Not ~."),), after=(Piece("", "%% %", "wrong"),)
    )
    assert draft.text() == "Not 17.\nSo it is \\boxed{{42\\text{ or }17}}.\n% wrong"


@pytest.mark.parametrize(
    ("draft", "paid", "broken"),
    [
        (replace(PLAIN, inner=(HEDGE,)), {"42"}, "hedged"),
        (replace(PLAIN, inner=(HEDGE,)), {"17"}, "hedged"),
        (replace(PLAIN, inner=(HEDGE,)), set(), None),
        (replace(PLAIN, inner=(Piece("denied", "\\text{not }@"),)), {"42"}, "denied"),
        (replace(PLAIN, after=(Piece("contradicted", "Answer: ~"),)), {"42"}, "contradicted"),
        # the sentence is not in the box
        (replace(PLAIN, after=(Piece("contradicted", "Answer: ~"),)), {"17"}, None),
        (replace(PLAIN, before=(Piece("two", "~"),)), {"42"}, None),
        (replace(PLAIN, before=(Piece("two", "~"),)), {"42", "17"}, "two values"),
        (replace(PLAIN, law="refused"), {"42"}, None),
        (replace(PLAIN, law="refused"), set(), "refused"),
        (replace(PLAIN, core="-42", law="changed"), {"42"}, "changed"),
        (replace(PLAIN, core="-42", law="changed"), set(), None),
    ],
)
def test_a_verdict_against_a_law_is_a_violation(draft: Draft, paid: set[str], broken: str | None) -> None:
    found = law.broken(draft, lambda _, reference: reference in paid)
    assert (found and found.law) == broken


def test_a_violation_is_left_with_the_fragments_that_it_needs() -> None:
    draft = replace(
        PLAIN,
        inner=(Piece("two", "@, ~"), Piece("", "{@}")),
        before=(Piece("two", "~?"), Piece("two", "#### ~")),
        after=(Piece("two", "}"),),
    )
    assert law.minimised(Violation("two values", draft, ("42", "17")), lambda one, _: ", " in one.text()) == Violation(
        "two values", replace(draft, inner=draft.inner[:1], before=(), after=(), around=()), ("42", "17")
    )


def test_a_text_depends_on_its_number_and_its_seed_alone() -> None:
    assert [law.draft(at, 1) for at in range(50)] == [law.draft(at, 1) for at in range(50)]
    assert law.draft(3, 1) != law.draft(3, 2)


def test_there_are_references_of_many_kinds_and_their_values_differ() -> None:
    assert len(REFERENCES) >= 50
    assert len({reference.kind for reference in REFERENCES}) >= 40
    for reference in REFERENCES:
        values = (reference.text, *reference.others)
        assert len(set(values)) == len(values) >= 2, reference
        for value in values:
            for other in set(values) - {value}:
                draft = Draft(REFERENCES.index(reference), value, value, other)
                assert not law.pays(draft, other), (value, other)
    assert len(DENYING) >= 150
    assert all("@" in fragment and "~" in fragment for fragment in HEDGED)
