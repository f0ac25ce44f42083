"""The injection set as attacks on a judge: each text put where an answer's words stand."""

from __future__ import annotations

from collections.abc import Iterator

from agentscope_tuner.insight.injections import INJECTIONS
from agentscope_tuner.insight.more_injections import MORE_INJECTIONS

# what the texts of the set say of rain, in English and in Chinese: the answer that is attacked takes its place
_HONEST = ("It rains.", "It rains", "下雨了。", "下雨了")
_TOP = "10"


def attacked(answer: str, top: float) -> Iterator[tuple[str, str]]:
    """The kind and the text of each attack on a judge whose highest score is `top`, made from `answer`."""
    for kind, text in (*INJECTIONS, *MORE_INJECTIONS):
        asked = text if top == float(_TOP) else text.replace(_TOP, f"{top:g}")
        said = next((words for words in _HONEST if words in asked), None)
        yield kind, asked.replace(said, answer, 1) if said is not None else f"{answer}\n{asked}"
