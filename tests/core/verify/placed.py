"""What a box states together with the formula and the words around it."""

from __future__ import annotations

from agentscope_tuner.verify.find import find_answer
from agentscope_tuner.verify.math.read import said_by
from agentscope_tuner.verify.math.verdict import compare


def stated(text: str, question: str | None = None) -> str | None:
    """The answer of the last box; None where the text around it makes it none."""
    found = find_answer(text, ["boxed"], by_value=True)
    said, problem = said_by(found, question)
    if found.text is None or problem:
        return None
    others = [*found.others, found.again] if found.again else found.others
    return None if any(compare(other, said).outcome != "equal" for other in others) else said
