"""The prompts and replies of published models that only say whether an answer matches a reference.

Each preset follows the form on which its model was trained: which parts stand in the prompt, in which order and under
which headings, and how the reply ends. The sentences between them are this package's own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from agentscope_tuner.graders.client.reply import Reply, ReplyError, check_finished, without_thinking


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


# A verdict of one word begins the reply, a line or a sentence: "it is not correct" ends with another one
_ALONE = r"(?:\A|[\n:.\[])[^\w\n]{0,8}"

PRESETS: dict[str, Preset] = {
    "general_verifier": Preset(
        "User: ### Question: {query}\n\n### Ground Truth Answer: {ground_truth}\n\n### Student Answer: {response}\n\n"
        "For the above question, please verify if the student's answer is equivalent to the ground truth answer.\n"
        "Do not solve the question by yourself; just check if the student's answer is equivalent to the ground truth "
        'answer.\nIf it is, end with "Final Decision: Yes". If it is not, end with "Final Decision: No". Assistant:',
        # A judged text is shown with another colon, so that a repeated one is no verdict
        re.compile(r"Final Decision\W{0,3}[:：]\W{0,5}(Yes|No)\b", re.IGNORECASE),
        frozenset({"yes"}),
    ),
    "xverify": Preset(
        "Decide whether the output sentence answers the question correctly. Compare its final answer with the correct "
        "answer; do not solve the question. An output without a final answer is incorrect.\n\nQuestion: {query}\n\n"
        "Output sentence: {response}\n\nCorrect answer: {ground_truth}\n\nReply with [Correct] or [Incorrect] "
        "alone.\n\nJudgement:",
        re.compile(rf"{_ALONE}(Correct|Incorrect)\b", re.IGNORECASE),
        frozenset({"correct"}),
    ),
    "compass_verifier": Preset(
        "Grade the candidate's answer by the standard answer, which is right. Do not solve the question.\n"
        "A: CORRECT, the final answer matches. B: INCORRECT, it does not. C: INVALID, it is cut off, repeats itself or "
        "refuses.\n\n<Original Question Begin>:\n{query}\n<Original Question End>\n\n<Standard Answer Begin>:\n"
        "{ground_truth}\n<Standard Answer End>\n\n<Candidate's Answer Begin>:\n{response}\n<Candidate's Answer End>\n\n"
        "Reply with one letter, A, B or C.\nJudging the correctness of the candidate's answer:",
        re.compile(r"(?:\\boxed\{\s*|\A\W*|\n\W*)([ABC])(?=\W|\Z)"),
        frozenset({"a"}),
    ),
    "omni_judge": Preset(
        "You are given a problem, a reference answer and a student's solution. Decide whether the student's final "
        "answer is equivalent to the reference answer.\n\n# Problem\n{query}\n\n# Reference Answer\n{ground_truth}\n\n"
        "# Student Solution\n{response}\n\nWrite the sections ## Student Final Answer, ## Equivalence Judgement (TRUE "
        "or FALSE) and ## Justification.",
        re.compile(r"Equivalence Judge?ment\W{1,12}(TRUE|FALSE)\b", re.IGNORECASE),
        frozenset({"true"}),
    ),
    "tinyv": Preset(
        "You verify answers. Say True where the model's answer means the same as the ground truth answer, else False. "
        "Forms may differ; the meaning may not.\n\n<question>{query}</question>\n\n"
        "<ground_truth_answer>{ground_truth}</ground_truth_answer>\n\n<model_answer>{response}</model_answer>\n\n"
        "Return True or False alone.",
        re.compile(rf"{_ALONE}(True|False)\b", re.IGNORECASE),
        frozenset({"true"}),
    ),
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
