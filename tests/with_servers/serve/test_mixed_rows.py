"""Mixed data by the service: the same rewards as by the command line, bit by bit."""

from __future__ import annotations

from tests.mixed_rows import CONFIG, DIGEST, digest, mixed_rows
from tests.with_servers.serve.running_service import RunningService


def test_a_thousand_rows_of_five_kinds_are_paid_the_same_bits() -> None:
    rows = mixed_rows()
    with RunningService("--conf", CONFIG) as service:
        answers = [
            service.post("/reward", {"rollouts": rows[first : first + 200]}) for first in range(0, len(rows), 200)
        ]
    judgements = [judgement for answer in answers for judgement in answer.json()["judgements"]]
    assert [judgement["id"] for judgement in judgements] == [row["id"] for row in rows]
    assert digest([judgement["reward"] for judgement in judgements]) == DIGEST
