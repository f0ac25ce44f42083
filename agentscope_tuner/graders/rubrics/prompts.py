"""The prompts that propose, revise and sort rubrics, and that judge by them: prompts.toml."""

from __future__ import annotations

from pathlib import Path

from agentscope_tuner.graders.schema import GraderMode
from agentscope_tuner.graders.template import read_words, template_of

#: Words that are filled into prompts, by their names and languages.
WORDS = read_words(Path(__file__).with_name("prompts.toml"))
PROPOSE, REVISE, SORT = (template_of(WORDS[name]) for name in ("propose", "revise", "sort"))
EVALUATION = {
    GraderMode.POINTWISE: template_of(WORDS["score"]),
    GraderMode.LISTWISE: template_of(WORDS["rank"]),
}
