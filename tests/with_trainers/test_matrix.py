"""Each cell of docs/trainers_matrix.md, by the trainers of the environment that this runs in."""

from __future__ import annotations

import pytest

from tests.with_trainers.matrix import CASES, cell, here, read_page
from tests.with_trainers.runners import RUNNERS


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", here())
def test_a_cell_says_what_reached_the_trainer(name: str, case: str) -> None:
    shown = dict(zip(CASES, read_page()[name][1:], strict=True))
    found = cell(RUNNERS[name], CASES[case])
    assert found == shown[case]
    assert found in CASES[case].may
