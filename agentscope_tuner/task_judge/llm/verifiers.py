"""The prompts and replies of published models that only say whether an answer matches a reference: verifiers.toml."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from agentscope_tuner.graders.client.reply import Reply, ReplyError, check_finished, without_thinking
from agentscope_tuner.graders.template import read_words


@dataclass(frozen=True, slots=True)
class Preset:
    """A verifier's prompt, and how its reply is read.

    Attributes:
        prompt: one user message with {query}, {ground_truth} and {response}.
        verdict: finds the verdict in a reply, as its first group; the last one counts, and no word may follow.
        right: the verdicts that say that the answer matches.
    """

    prompt: str
    verdict: re.Pattern[str]
    right: frozenset[str]


PRESETS: dict[str, Preset] = {
    name: Preset(
        told["prompt"],
        re.compile(told["verdict"], re.IGNORECASE if told["ignores_case"] else 0),
        frozenset(told["right"]),
    )
    for name, told in read_words(Path(__file__).with_name("verifiers.toml")).items()
}
# Only this preset's form puts a justification behind its verdict
_EXPLAINS = frozenset({"omni_judge"})
# These leave no room for thinking aloud, in which a verdict could be taken back
_ONE_VERDICT = frozenset({"omni_judge", "xverify", "tinyv"})


def matches(preset: str, reply: Reply) -> bool:
    """Whether the verifier says that the answer matches.

    Raises:
        ReplyError: the reply is a refusal, cut off, empty, or does not end with a verdict; or it holds two that differ.
    """
    check_finished(reply)
    text, form = without_thinking(reply.text).strip(), PRESETS[preset]
    found = list(form.verdict.finditer(text))
    if not found:
        raise ReplyError(f"the reply holds no verdict of {preset}: {text[:160]!r}")
    last = found[-1]
    if preset not in _EXPLAINS and re.search(r"\w", text[last.end() :]):
        raise ReplyError(f"the reply goes on behind its verdict: {text[-160:]!r}")
    said = {match[1].lower() in form.right for match in found}
    if preset in _ONE_VERDICT and len(said) > 1:
        raise ReplyError(f"the reply holds two verdicts that differ: {text[:160]!r}")
    return last[1].lower() in form.right
