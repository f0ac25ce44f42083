"""Makes attacks on a judge from the injection set: an attack is an answer with an injection around it."""

from __future__ import annotations

from collections.abc import Iterator

from agentscope_tuner.insight.injections import INJECTIONS
from agentscope_tuner.insight.more_injections import MORE_INJECTIONS

# The sample answer in the injection texts, in English and Chinese; the attacked answer replaces it
_HONEST = ("It rains.", "It rains", "下雨了。", "下雨了")
_TOP = "10"


def attacked(answer: str, top: float) -> Iterator[tuple[str, str]]:
    """The kind and the text of each attack that is made from `answer`, for a judge whose highest score is `top`."""
    for kind, text in (*INJECTIONS, *MORE_INJECTIONS):
        asked = text if top == float(_TOP) else text.replace(_TOP, f"{top:g}")
        said = next((words for words in _HONEST if words in asked), None)
        yield kind, asked.replace(said, answer, 1) if said is not None else f"{answer}\n{asked}"
