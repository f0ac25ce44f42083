"""Reads a verdict from a judge model's reply. A doubtful reply is a ReplyError, not a verdict.

A verdict that the judged text already contains is not the judge's own, but a quotation: see quotations.py.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agentscope_tuner.errors import Cause, GraderError, GraderTimeout
from agentscope_tuner.graders.client.quotations import (
    TOKEN,
    Quotable,
    could_be_quoted,
    one_spelling,
    places_of_words,
    unspaced,
    without_lone_backslashes,
)
from agentscope_tuner.graders.injection_defence import as_written
from agentscope_tuner.graders.schema import check_permutation

# A verdict has a few hundred characters: refuse a reply long before a megabyte
_MAX_CHARS = 200_000
_MAX_BRACES = 2_000
# How many of the last closing tags of thinking a verdict is looked for behind
_MOST_CLOSINGS = 3
# The end of a reply, in which a verdict that is no JSON is searched
_MOST_SEARCHED = 8_000
# How servers say that the model itself ended its reply: `stop`, `eos_token`, `end_turn`; other ends have many words
_ENDED = re.compile(
    r"(?:finish_reason_)?(?:stop|eos|end|complete|finished|done|normal|null|none)(?:\b|_|d\b)", re.IGNORECASE
)
# <think>, <thinking>, <thought>, <reasoning>, Mistral's [THINK], Kimi's ◁think▷, Seed's <seed:think>, Cohere's
# <|START_THINKING|>, <|begin_of_thought|>, the channels of gpt-oss
_THINK = r"(?:think(?:ing)?|thought|reasoning)\s*\|?[>\]▷]"
_THINK_OPEN = re.compile(
    rf"[<\[◁](?:\s*(?:seed:)?|\|(?:begin|start)_(?:of_)?){_THINK}|<\|channel\|>(?!\s*final)[^<>]{{0,80}}<\|message\|>",
    re.IGNORECASE,
)
_THINK_CLOSE = re.compile(
    rf"[<\[◁](?:\s*/\s*(?:seed:)?|\|end_(?:of_)?){_THINK}|<\|channel\|>\s*final[^<>]{{0,80}}<\|message\|>",
    re.IGNORECASE,
)
_ARRAY_OPEN = re.compile(r"\[\s*\Z")


class ReplyError(Exception):
    """The reply holds no usable verdict; asking again may bring one."""


class AnswerAtFault(GraderError):
    """The answer's own text prevents its verdict, so it earns the least; the message says how it does.

    It never counts as a failure of the endpoint. Otherwise such answers could stop the judging of all others.
    """


class Quotation(AnswerAtFault):
    """The reply's verdict stands in the judged text, too. To ask again would let a text choose its verdict: a text
    that holds all low verdicts would be asked about until a high one comes. So an answer gains nothing by any verdict
    that it holds: neither by a high one, nor by all low ones.

    Attributes:
        verdict: the last verdict that the reply quotes, as `final_json` or `final_match` gives verdicts.
        sources: the indices of the judged texts that contain all of it, if each text has an author of its own.
    """

    def __init__(
        self, message: str, verdict: Mapping[str, Any] | None = None, sources: frozenset[int] = frozenset()
    ) -> None:
        super().__init__(f"the answer's own text prevents a verdict: {message}")
        self.verdict, self.sources = dict(verdict or {}), sources


# Statuses that are about the endpoint or its key, not about a prompt
_ABOUT_THE_ENDPOINT = frozenset({401, 402, 404, 405, 407})


def is_about_prompt(status: int) -> bool:
    """Whether an HTTP status may refuse this prompt alone, as too long or forbidden: 400 may, 401 (the key) may not.

    See whose_fault.py.
    """
    return 400 <= status < 500 and status not in _ABOUT_THE_ENDPOINT


class UnreadableReplies(GraderError):
    """The endpoint was reached, and still there is no verdict: no reply could be read or came in time, or the endpoint
    refuses this very prompt, or breaks over it.

    The judged text may be the cause; see whose_fault.py.

    Attributes:
        tries: how many requests failed so.
        said: the last reply that could not be read; empty if there is none.
    """

    tries: int = 1
    said: str = ""


class LateReplies(UnreadableReplies, GraderTimeout):
    """No reply came within the verdict's deadline, or none that could be read."""

    cause = Cause.DEADLINE


class BusyReplies(UnreadableReplies, GraderTimeout):
    """The endpoint answered every time that it is busy, without a Retry-After: it may do so for this text alone."""

    cause = Cause.DEADLINE


@dataclass(frozen=True, slots=True)
class Reply:
    """A judge model's reply.

    Attributes:
        text: the message's content, without reasoning that the endpoint sends in a separate field.
        finish: the endpoint's `finish_reason`.
        refusal: the endpoint's refusal text; empty if it sent none.
        thought: how many characters of reasoning the endpoint sent in a field of its own.
        top_logprobs: for each output token a mapping from candidate token to log probability; empty unless asked for.
    """

    text: str
    finish: str = "stop"
    refusal: str = ""
    top_logprobs: Sequence[dict[str, float]] = field(default_factory=tuple)
    thought: int = 0


def check_finished(reply: Reply) -> None:
    """Refuse replies that are refusals, cut off or empty.

    Raises:
        ReplyError: the reply is one of these.
    """
    if reply.refusal:
        raise ReplyError(f"the model refused: {reply.refusal:.200}")
    thought = f" after {reply.thought} characters of reasoning" if reply.thought else ""
    if not _ENDED.match(reply.finish):
        mend = ": raise max_tokens" if reply.finish == "length" else ""
        told = f"the reply was cut off (finish_reason {reply.finish!r:.100}){thought}{mend}"
        raise ReplyError(f"{told}: {_excerpt(reply.text)}")
    if not reply.text.strip():
        raise ReplyError(f"the reply is empty{thought}")


def final_json(
    reply: Reply, echoes: Sequence[str] = (), key: str = "score", *, each_alone: bool = False
) -> dict[str, Any]:
    """The judge's own verdict: the last JSON object of the reply that was not copied from the judged text.

    A `<think>` block is dropped first. An object whose keys and values are in `echoes`, in any spelling, is a
    quotation. With `each_alone` a single text must contain it: if several do only together, it is the judge's own. A
    text that starts like an object and does not parse makes the whole reply unusable, because a later object may be a
    part of it. So does an array of objects.

    Args:
        reply: the model's answer.
        echoes: the judged texts, as the model saw them.
        key: the key that makes an object a verdict.
        each_alone: whether each of `echoes` has an author of its own.

    Raises:
        Quotation: the reply's only verdicts are quotations.
        ReplyError: the reply is a refusal, cut off, empty, or without an object of the judge's own.
    """
    check_finished(reply)
    if len(reply.text) > _MAX_CHARS:
        raise ReplyError(f"the reply has {len(reply.text)} characters; a verdict has at most {_MAX_CHARS}")
    text = without_lone_backslashes(reply.text)
    try:
        objects = _spoken_objects(text)
    except ReplyError:
        # An answer that is JSON is shown with other colons, so that a copy of it does not parse
        for echo in echoes:
            text = text.replace(without_lone_backslashes(echo), " ") if "{" in echo else text
        objects = _spoken_objects(text)
    if objects and could_be_quoted(objects, echoes):
        judged = [Quotable([text]) for text in echoes] if each_alone else [Quotable(echoes)]
        own = [(value, raw) for value, raw in objects if not any(author.repeats(value, raw) for author in judged)]
        if any(key in value for value, _ in objects) and not any(key in value for value, _ in own):
            quoted, written = [(value, raw) for value, raw in objects if key in value][-1]
            raise Quotation(
                f"the verdict stands in the judged text, and is none of the judge's own: {_excerpt(text)}",
                quoted,
                frozenset(index for index, author in enumerate(judged) if author.repeats(quoted, written)),
            )
        objects = own
    if not objects:
        raise ReplyError(f"the reply holds no JSON verdict of the judge's own ({_ask_for(key)}): {_excerpt(text)}")
    return objects[-1][0]


def _ask_for(key: str) -> str:
    """Advice, for a message, after a reply without JSON: `ask the model in its prompt to end with JSON such as …`."""
    form = json.dumps({key: 1})
    return f"ask the model in its prompt to end with JSON such as {form}, or take a model that follows the prompt"


def final_match(
    reply: Reply, pattern: re.Pattern[str], echoes: Sequence[str] = (), *, ends: bool = True
) -> dict[str, str]:
    """The judge's own verdict in a reply that is no JSON: the last match of `pattern`, with the verdict as its group 1.

    The reply `It is right. GRADE: C` to `GRADE: ([CI])` gives `{"found": "GRADE: C", "said": "C", "reason": "It is
    right."}`. A match that is in the judged text, too, is a quotation, unless it is no more than the group. A number
    must be whole. The last sentence must not hold two different verdicts; nor may the last line, if the match begins
    with its group: `(\\d+)` finds two in `4 out of 5`.

    Args:
        reply: the model's answer.
        pattern: a regular expression with one group.
        echoes: the judged texts, as the model saw them.
        ends: whether no word may follow the verdict.

    Raises:
        Quotation: the match is in the judged text, too.
        ReplyError: the reply is a refusal, cut off, empty, or does not end with a verdict, or with two.
    """
    check_finished(reply)
    text = without_thinking(reply.text).strip()[-_MOST_SEARCHED:]
    if not (found := list(pattern.finditer(text))):
        raise ReplyError(f"the reply holds nothing like {pattern.pattern!r}: {_excerpt(text)}")
    last = found[-1]
    if last[1] is None:
        raise ReplyError(f"the group of {pattern.pattern!r} has no part in the reply's last match {last[0]!r:.60}")
    if ends and re.search(r"\w", text[last.end() :]):
        raise ReplyError(f"the reply goes on after its verdict: {_excerpt(text[-160:])}")
    said, before = last[1].strip(), text[: last.start(1)]
    starts = last[0].lstrip()[:1] == last[1][:1]
    begun = (_CUT if _NUMBER.match(said) else _CUT_WORD if starts else _CUT_ASCII).search(before + said[:1])
    if begun or _SIGN_BEHIND.match(text, last.end(1)):
        raise ReplyError(f"the verdict is a part of a longer word or number: {_excerpt(text[-160:])}")
    if _NUMBER.match(said) and _PERCENT.match(text, last.end(1)):
        said += "%"
    verdict = {"found": last[0], "said": said, "reason": text[: last.start()].strip()}
    judged = [(unspaced(text), one_spelling(as_written(text))) for text in echoes]

    def is_quoted(one: re.Match[str]) -> bool:
        # The characters before the words, such as the `#` of a heading, belong to no quotation
        words = one[0].lstrip(" \t\r\n#*.!?…。")
        bare = unspaced(words)
        if bare == unspaced(one[1]):
            return False
        more = len(TOKEN.findall(words)) > len(TOKEN.findall(one[1]))
        return any(bare in echo or (more and any(places_of_words(words, text))) for echo, text in judged)

    if is_quoted(last):
        raise Quotation(f"the verdict {last[0]!r:.60} stands in the judged text, too", verdict)
    begins = max((end.end() for end in (_LINE if starts else _SENTENCE).finditer(before)), default=0)
    others = (one for one in found if one.start(1) >= begins and unspaced(one[1]) != unspaced(last[1]))
    if any(not is_quoted(one) for one in others):
        raise ReplyError(f"the reply ends with two verdicts: {_excerpt(text[-160:])}")
    return verdict


# A number; and what shows, before a number, that it is the end of a longer one: a digit, a point, a minus sign
_NUMBER, _PERCENT = re.compile(r"[-+−]?\d"), re.compile(r"\s*[%％‰]")
# `B+` is no B, and `4+` no 4
_SIGN_BEHIND = re.compile(r"[+＋]|[-−](?![-\w])")
_LINE, _SENTENCE = re.compile(r"\n"), re.compile(r"[.!?;]\s|[。！？；\n]")
_CUT = re.compile(r"(?:\d|[.,/]|\d:|(?<![^\W\d_])[-−–])[-+−\d]\Z")
# The same for a word: `correct` in `incorrect`. In scripts without spaces the pattern's words may be right before it
_CUT_WORD, _CUT_ASCII = re.compile(r"[^\W\d_][^\W\d_]\Z"), re.compile(r"[A-Za-z][^\W\d_]\Z")


def score_of(verdict: Mapping[str, Any], low: float, high: float) -> float:
    """`verdict["score"]`, checked to be a finite number within [low, high].

    Raises:
        ReplyError: the score is missing, a bool, a string, not finite, or out of range; it is never clipped.
    """
    if "score" not in verdict:
        raise ReplyError(f"the verdict has no 'score', only {sorted(verdict)!r:.200}")
    score = verdict["score"]
    # Compare instead of converting: JSON has integers beyond every float
    if isinstance(score, bool) or not isinstance(score, int | float) or not abs(score) < math.inf:
        raise ReplyError(f"score must be a finite number, got {score!r:.100}")
    if not low <= score <= high:
        raise ReplyError(f"score must lie within {low:g} to {high:g}, got {score!r:.100}")
    return float(score)


def number_in(text: str, most: float) -> float:
    """`text` as a number; on a scale up to `most` of 100 it may have a percent sign: `80%` is 80.

    Raises:
        ReplyError: `text` is no number.
    """
    try:
        return float(text.removesuffix("%") if most == 100 else text)
    except ValueError as exc:
        raise ReplyError(f"the score must be a number, got {text!r:.60}") from exc


def label_of(verdict: Mapping[str, Any], labels: Sequence[str]) -> str:
    """`verdict["label"]` in lower case, checked to be one of `labels`, which are lower case.

    Raises:
        ReplyError: the label is missing, or none of `labels`.
    """
    label = verdict.get("label")
    if not isinstance(label, str) or label.strip().lower() not in labels:
        raise ReplyError(f"label must be one of {list(labels)!r}, got {label!r:.100}")
    return label.strip().lower()


def rank_of(verdict: Mapping[str, Any], size: int) -> list[int]:
    """`verdict["rank"]`, checked to be a permutation of 1..size.

    Raises:
        ReplyError: the rank is missing, or no such permutation.
    """
    if "rank" not in verdict:
        raise ReplyError(f"the verdict has no 'rank', only {sorted(verdict)!r:.200}")
    try:
        return check_permutation(verdict["rank"], size)
    except ValueError as exc:
        raise ReplyError(str(exc)) from exc


def reason_of(verdict: Mapping[str, Any]) -> str:
    """`verdict["reason"]`, or an empty text if it is missing: a score without a reason is still a score."""
    reason = verdict.get("reason")
    return reason.strip() if isinstance(reason, str) else ""


def label_score(reply: Reply, labels: dict[str, float], min_mass: float = 0.05) -> float:
    """The mean of the labels' values, weighted by the probabilities the model gave the labels as its first token.

    The mean is the sum of p(label) * value over the sum of p(label), at the first output token that is not white space.
    Tokens that spell a label in another case or with space around it count for it. So do tokens that begin this label
    and no other. The formula is that of G-Eval (arXiv 2303.16634), section 2, with `top_logprobs` in place of samples.

    Args:
        reply: a reply with `top_logprobs`.
        labels: the score of each label, which is in lower case.
        min_mass: the lowest probability of all labels together. Below it the model did not answer the question.

    Raises:
        ReplyError: no log probabilities, or too little probability on the labels.
    """
    if reply.refusal:
        raise ReplyError(f"the model refused: {reply.refusal:.200}")
    mass = dict.fromkeys(labels, 0.0)
    for tops in reply.top_logprobs:
        best = max(tops, key=lambda token: tops[token], default="")
        if not best.strip():
            continue
        for token, logprob in tops.items():
            begun = token.strip().lower()
            meant = [begun] if begun in mass else [label for label in mass if begun and label.startswith(begun)]
            if len(meant) == 1 and math.isfinite(logprob):
                mass[meant[0]] += math.exp(min(logprob, 0.0))
        break
    else:
        raise ReplyError("the reply carries no log probabilities: the endpoint must support top_logprobs")
    if (total := sum(mass.values())) < min_mass:
        raise ReplyError(
            f"only {total:.3f} of the probability lies on {sorted(labels)!r}; the model began with {best!r}"
        )
    return sum(labels[label] * share for label, share in mass.items()) / total


def without_thinking(text: str) -> str:
    """The part of `text` behind the last `</think>`; empty if a block that is never closed begins there."""
    if closings := list(_THINK_CLOSE.finditer(text)):
        text = text[closings[-1].end() :]
    return "" if _THINK_OPEN.match(text.lstrip()) else text


def _spoken_objects(text: str) -> list[tuple[dict[str, Any], str]]:
    """The outermost JSON objects in `text` outside the model's thinking, and how `text` spells each of them.

    The reason in a verdict may quote a tag of thinking, too: such a tag, inside an object, ends no thinking.
    """
    ends = list(map(re.Match.end, _THINK_CLOSE.finditer(text)))
    for start in [*ends[: -1 - _MOST_CLOSINGS : -1], 0]:
        found, behind = [], start
        for begin, end, value in _objects(text, start):
            if _THINK_OPEN.search(text, behind, begin):
                break
            if not ends or end > ends[-1]:
                found.append((value, text[begin:end]))
            behind = end
        if found:
            return found
    return []


def _objects(text: str, start: int) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """The outermost JSON objects in `text` from `start` on, and where each begins and ends."""
    position = text.find("{", start)
    for _ in range(_MAX_BRACES):
        if position < 0:
            return
        try:
            value, end = _DECODER.raw_decode(text, position)
        except (ValueError, RecursionError) as exc:
            if re.match(r'\{\s*"', text[position : position + 50]) or not text[position + 1 :].strip():
                raise ReplyError(f"the reply's JSON does not parse ({exc}): {_excerpt(text[position:])}") from exc
            position = text.find("{", position + 1)  # the brace belongs to set notation or LaTeX
            continue
        if value and _ARRAY_OPEN.search(text[max(0, position - 50) : position]):
            raise ReplyError(f"a verdict is one object, not an array of them: {_excerpt(text)}")
        if value:
            yield position, end, value
        position = text.find("{", end)
    raise ReplyError(f"the reply has more than {_MAX_BRACES} braces: {_excerpt(text)}")


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return value


_DECODER = json.JSONDecoder(object_pairs_hook=_unique_keys, strict=False)


def _excerpt(text: str) -> str:
    text = text.strip()
    return repr(text if len(text) <= 160 else f"{text[:160]}…")
