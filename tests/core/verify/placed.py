"""What a box states together with the formula and the words around it."""

from __future__ import annotations

from agentscope_tuner.verify.find import find_answer
from agentscope_tuner.verify.math.around import said_by
from agentscope_tuner.verify.math.verdict import compare


def stated(text: str, question: str | None = None) -> str | None:
    """The answer of the last box; None where the text around it makes it none."""
    found = find_answer(text, ["boxed"], by_value=True)
    said, problem = said_by(found, question)
    if found.text is None or problem:
        return None
    groups = [*((other,) for other in found.others), *found.again]
    same = all(any(compare(one, said).outcome == "equal" for one in spellings) for spellings in groups)
    return said if same else None
