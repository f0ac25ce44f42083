"""docs/trainers_matrix.md is what `make trainers-matrix` knows: no trainer, case or language is left out, and no cell
without a verdict holds a number. The cells themselves are tested by tests/with_trainers/test_matrix.py.
"""

from __future__ import annotations

import pytest

from tests.with_trainers.matrix import CASES, PAGES, WITHOUT_A_VERDICT, pages, read_page
from tests.with_trainers.runners import RUNNERS


def test_the_page_is_what_the_command_writes() -> None:
    table = read_page()
    assert list(table) == list(RUNNERS)
    for language, text in pages(table).items():
        assert PAGES[language].read_text(encoding="utf-8") == text


@pytest.mark.parametrize("name", RUNNERS)
def test_every_cell_is_one_that_its_case_allows(name: str) -> None:
    _, *cells = read_page()[name]
    for case, cell in zip(CASES, cells, strict=True):
        assert cell in CASES[case].may, case


def test_no_case_without_a_verdict_allows_a_number() -> None:
    for case in CASES.values():
        if case.may & WITHOUT_A_VERDICT:
            assert not any(word[0].isdigit() for word in case.may)
