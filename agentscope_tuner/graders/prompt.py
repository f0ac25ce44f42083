"""Builds prompts for judge models: a template filled with fenced data, and the form of the reply at its end.

The form is given in words, and to the endpoint as a JSON schema.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import groupby, islice
from pathlib import Path
from typing import Any

from agentscope_tuner.bounds import flat
from agentscope_tuner.graders.client.chat_model import Prompt
from agentscope_tuner.graders.client.reply import AnswerAtFault
from agentscope_tuner.graders.injection_defence import (
    MARK_CHARS,
    RESPELLED,
    Border,
    border_of,
    fence_all,
    is_blank,
    neutralise,
    shortened,
)
from agentscope_tuner.graders.template import ChatMessage, LanguageEnum, fill, read_words

# The most that OpenAI's endpoint gives for a token
_TOP_LOGPROBS = 20
# The closing words are at the end of the prompt, behind the data, because a model follows the last instructions most.
# The text before the data is the same in all calls, so providers can cache it.
_WORDS = read_words(Path(__file__).with_name("words.toml"))


def closing(language: LanguageEnum, border: Border, form: str, *, respelled: bool = False, images: bool = False) -> str:
    """The end of a prompt: it explains `border`, and states `form`, the form of the reply.

    With `respelled` it also says that tags in the material are written in other characters, and with `images` that the
    images belong to the material.
    """
    note = _WORDS["respelled"][language] if respelled else ""
    told = note + (_WORDS["images"][language] if images else "") + form
    words: str = _WORDS["closing"][language]
    return words.format(delimiter=border.delimiter, mark=border.mark.strip(), form=told).rstrip()


@dataclass(frozen=True, slots=True)
class ReplyForm:
    """The form of a judge model's reply: in `words`, as a JSON `schema`, or by the probabilities of words."""

    words: str
    schema: Mapping[str, Any] | None = None
    top_logprobs: int = 0


@lru_cache(maxsize=256)
def reply_form(
    language: LanguageEnum, low: float, high: float, labels: tuple[str, ...], candidates: int, by_logprobs: bool
) -> ReplyForm:
    """The form of a grader's reply.

    It asks for the places of `candidates` if there are any. Otherwise it asks for one of `labels`, whose probabilities
    are read `by_logprobs`, or without labels for a score from `low` to `high`.
    """
    shown = " / ".join(labels)
    reason = {"reason": {"type": "string"}}
    if candidates:
        place = {"type": "integer", "minimum": 1, "maximum": candidates}
        rank = {"type": "array", "items": place, "minItems": candidates, "maxItems": candidates}
        return ReplyForm(
            fill(_WORDS["rank"][language], {"size": str(candidates)}), object_schema({**reason, "rank": rank})
        )
    if by_logprobs:
        return ReplyForm(fill(_WORDS["label"][language], {"labels": shown}), top_logprobs=_TOP_LOGPROBS)
    if labels:
        label = {"type": "string", "enum": list(labels)}
        return ReplyForm(fill(_WORDS["choice"][language], {"labels": shown}), object_schema({**reason, "label": label}))
    # The reason comes first, so that the model thinks before it scores
    score = {"type": "number", "minimum": low, "maximum": high}
    words = fill(_WORDS["score"][language], {"low": f"{low:g}", "high": f"{high:g}"})
    return ReplyForm(words, object_schema({**reason, "score": score}))


def object_schema(properties: dict[str, Any]) -> dict[str, Any]:
    """The JSON schema of an object with these properties and no other, all of them required."""
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


Texts = Mapping[str, str | Sequence[str]]

_RESPELLED_CHARACTERS = frozenset(RESPELLED + "·")
#: The default of `max_chars`.
MOST_CHARS = 120_000
_MOST_TURNS = 200
_MOST_OF_A_REPLY = 16_000
_FIRST_TURNS = 50


class Trajectory(tuple[str, ...]):
    """One response in several turns, such as a whole trajectory. Each turn stands between markers of its own.

    Attributes:
        roles: who speaks in each turn. A policy writes the text of a turn, never its role.
        images: the URLs of the images in the turns, by the names that the turns use for them.
    """

    roles: tuple[str, ...]
    images: Mapping[str, str]

    def __new__(
        cls, turns: Iterable[str], roles: Iterable[str] = (), images: Mapping[str, str] | None = None
    ) -> Trajectory:
        trajectory = super().__new__(cls, turns)
        trajectory.roles = tuple(roles) or ("assistant",) * len(trajectory)
        trajectory.images = images or {}
        return trajectory

    def __reduce__(self) -> tuple[Any, ...]:
        return Trajectory, (tuple(self), self.roles, self.images)

    @property
    def last(self) -> int | None:
        """The index of the last turn that the policy wrote, which is its answer; None if it wrote none."""
        own = [index for index, role in enumerate(self.roles) if role == "assistant"]
        return own[-1] if own else None

    def answers(self) -> list[str]:
        """The turns that the policy wrote."""
        return [turn for turn, role in zip(self, self.roles, strict=True) if role == "assistant"]

    def joined(self) -> str:
        """All turns as one text, each behind its role, such as `(assistant)`; empty if the answer is empty."""
        if is_empty(self):
            return ""
        return "\n\n".join(f"({role})\n{turn}" for role, turn in zip(self.roles, self, strict=True))

    def bounded(self) -> Trajectory:
        """The trajectory, shortened if more than 200 of its turns are not the policy's own.

        Notes such as `(… 60 turns left out …)` then replace the middle ones of these. The policy's turns stay.
        """
        others = [index for index, role in enumerate(self.roles) if role != "assistant"]
        left_out = set(others[_FIRST_TURNS : _FIRST_TURNS - _MOST_TURNS]) if len(others) > _MOST_TURNS else set()
        turns: list[tuple[str, str]] = []
        for hidden, found in groupby(range(len(self)), left_out.__contains__):
            indices = list(found)
            note = (f"(… {len(indices)} turns left out …)", "note")
            turns += [note] if hidden else [(self[index], self.roles[index]) for index in indices]
        if not left_out:
            return self
        return Trajectory([turn for turn, _ in turns], [role for _, role in turns], self.images)


def is_empty(response: str | Sequence[str]) -> bool:
    """Whether a response, or the answer of a trajectory, holds no visible character."""
    if isinstance(response, Trajectory):
        return response.last is None or is_blank(response[response.last])
    return is_blank(response) if isinstance(response, str) else all(map(is_blank, response))


def as_texts(
    values: Mapping[str, Any], language: LanguageEnum, max_chars: int, tokens: tuple[str, ...] = ()
) -> dict[str, str | Sequence[str]]:
    """`values` as neutralised texts of about `max_chars` together.

    A list of str stays a list. Other data becomes JSON, and None a text which says that none was given.

    What the policy wrote (`response`, or the assistant's turns of a trajectory) is shown whole. It may take three
    quarters of the budget, and what the other texts do not need. These share the rest, and the question and the
    reference get at least half of it. A text that is longer than its share loses its middle, and a note says so.

    Args:
        values: the arguments of a grader, by name.
        language: of the notes.
        max_chars: the budget.
        tokens: see `neutralise`.

    Raises:
        AnswerAtFault: what the policy wrote does not fit. A part that is not shown could be the bad one.
    """
    raw: dict[str, str | Sequence[str]] = {}
    texts: list[str] = []
    own: list[bool] = []
    asked: list[bool] = []
    room = max_chars
    for name, value in values.items():
        raw[name] = one = value if isinstance(value, str) else _as_text(value, language)
        turns = [one] if isinstance(one, str) else one
        texts += turns
        asked += [name in _ASKED] * len(turns)
        if name == "response" and isinstance(one, Trajectory):
            own += [role == "assistant" for role in one.roles]
        else:
            own += [name == "response"] * len(turns)
        room -= _TURN_CHARS * len(turns) * isinstance(one, Trajectory)
    shown: list[str] = []
    cost: float = 0
    shares: Sequence[int] = list(map(len, texts))
    if sum(shares) > max(0, room):
        shares = _shares(shares, max(0, room), own, asked)
    for text, most, is_own in zip(texts, shares, own, strict=True):
        if is_own and most < len(text):
            cost = math.inf
            break
        shown.append(neutralise(text, most, tokens, judged=True))
        taken = len(shown[-1]) + MARK_CHARS * shown[-1].count("\n")
        if is_own:
            cost += taken
        elif taken > 2 * most + _SLACK:
            shown[-1] = _fitted(text, most, tokens, taken)
    if cost > 2 * max_chars + _SLACK:
        long = sum(len(text) for text, is_own in zip(texts, own, strict=True) if is_own)
        raise AnswerAtFault(
            f"what is to be judged has {long} characters in {sum(own)} texts, and must be shown whole: max_chars is "
            f"{max_chars} for all that a prompt shows"
        )
    return _regrouped(raw, iter(shown))


def _regrouped(raw: Texts, shown: Iterator[str]) -> dict[str, str | Sequence[str]]:
    """`raw` with its texts replaced, one after the other, by those of `shown`; lists and trajectories stay such."""
    found: dict[str, str | Sequence[str]] = {}
    for name, one in raw.items():
        if isinstance(one, str):
            found[name] = next(shown)
        elif isinstance(one, Trajectory):
            roles = [_SIGNS.sub(" ", role) for role in one.roles]
            found[name] = Trajectory(islice(shown, len(one)), roles, one.images)
        else:
            found[name] = list(islice(shown, len(one)))
    return found


_SIGNS = re.compile(r"\W+")


def _as_text(value: Any, language: LanguageEnum) -> str | Sequence[str]:
    if value is None:
        nothing: str = _WORDS["nothing"][language]
        return nothing
    if isinstance(value, Trajectory):
        return value.bounded()
    if isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
        return list(value)
    return as_json(value)


def as_json(value: Any) -> str:
    """`value` as JSON; if JSON has no form for it, its keys and values as plain text: `a 1 b 2`."""
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (RecursionError, ValueError, TypeError):
        return flat(value)


def overlong(values: Mapping[str, Any], max_chars: int) -> set[int]:
    """The indices of the texts in the list `values["response"]` that do not fit beside the others: see `as_texts`."""
    others = [len(str(value)) for name, value in values.items() if name != "response" and value is not None]
    sizes = list(map(len, values["response"]))
    most = _shares([*sizes, *others], max_chars, [True] * len(sizes) + [False] * len(others))
    return {index for index, size in enumerate(sizes) if most[index] < size}


def _shares(sizes: Sequence[int], budget: int, own: Sequence[bool], asked: Sequence[bool] = ()) -> Sequence[int]:
    """How many characters of each text are shown, `budget` in all: see `as_texts`.

    Args:
        sizes: the length of each text.
        budget: the sum of all shares.
        own: for each text whether the policy wrote it.
        asked: for each text whether it is the question or the reference.
    """
    others = [0 if mine else size for size, mine in zip(sizes, own, strict=True)]
    kept = min(sum(others), budget // 4)
    first = _filled([size if mine else 0 for size, mine in zip(sizes, own, strict=True)], budget - kept)
    left = budget - sum(first)
    row = [size if is_asked else 0 for size, is_asked in zip(others, asked or [False] * len(others), strict=True)]
    rest = [size - one for size, one in zip(others, row, strict=True)]
    row = _filled(row, max(left - sum(rest), left // 2))
    rest = _filled(rest, left - sum(row))
    return [sum(shares) for shares in zip(first, row, rest, strict=True)]


def _filled(sizes: Sequence[int], budget: int) -> list[int]:
    """Shares of `budget`: the small sizes in full, and the same for all larger ones.

    `_filled([10, 50, 90], 80)` is `[10, 35, 35]`.
    """
    shares = list(sizes)
    for position, index in enumerate(sorted(range(len(sizes)), key=sizes.__getitem__)):
        shares[index] = min(sizes[index], budget // (len(sizes) - position))
        budget -= shares[index]
    return shares


def _fitted(text: str, most: int, tokens: tuple[str, ...], cost: int) -> str:
    """`text`, neutralised and shortened further, because its marks and codes make it much longer than its share.

    Args:
        text: the text.
        most: its share, in characters; the result may have about twice as many.
        tokens: see `neutralise`.
        cost: the length, marks and codes included, at the share of `most`.
    """
    cap, shown = most, ""
    for _ in range(3):
        cap = cap * most // cost
        shown = neutralise(text, cap, tokens, judged=True)
        if (cost := len(shown) + MARK_CHARS * shown.count("\n")) <= 2 * most + _SLACK:
            break
    return shortened(shown, 2 * most + _SLACK)


# The arguments that a task's author wrote, which a policy's many turns must not crowd out
_ASKED = ("query", "ground_truth")
_SLACK = 200
# About the length of the markers around a turn
_TURN_CHARS = 100


def build_prompt(
    messages: Sequence[ChatMessage],
    language: LanguageEnum,
    own: Mapping[str, str],
    texts: Texts,
    form: ReplyForm,
    draw: int = 0,
) -> Prompt:
    """The prompt that `messages` make, with the data in them and the form of the reply at their end.

    Args:
        messages: a template's messages in `language`.
        language: the language of the words that are added.
        own: values that are the grader's own words; they are filled in as they are.
        texts: values that are data, as `as_texts` makes them; they are fenced.
        form: the form of the reply. Its words are at the end, behind the explanation of the fences.
        draw: see Prompt.
    """

    roles: dict[str, tuple[str, ...]] = {}
    images: dict[str, str] = {}
    for name, text in texts.items():
        if isinstance(text, Trajectory):
            roles[name] = text.roles
            images |= text.images

    def write() -> list[ChatMessage]:
        border = border_of(texts)
        data = fence_all(texts, border)
        shown = "".join(data.values())
        respelled = not shown.isascii() and not _RESPELLED_CHARACTERS.isdisjoint(shown)
        values = {**own, **data}
        *before, last = [ChatMessage(role=message.role, content=fill(message.content, values)) for message in messages]
        ending = closing(language, border, form.words, respelled=respelled, images=bool(images))
        return [*before, ChatMessage(role=last.role, content=f"{last.content.rstrip()}\n\n{ending}")]

    # The identity leaves the delimiter out: it is the text around the data and the data itself, with images' digests
    frame = _frame_json(language, tuple(messages), tuple(own.items()), form.words)
    identity = f"{frame}, {json.dumps([dict(texts), roles] if roles else dict(texts))}]"
    return Prompt(write, identity, form.schema, form.top_logprobs, draw, images, partial(_again, language))


def _again(language: LanguageEnum, said: str) -> str:
    """Words that show a judge its unreadable reply `said`, and ask for the verdict of that reply once more.

    The reply is fenced like judged text, because a policy may have made the judge write it.
    """
    shown = {"reply": neutralise(said, _MOST_OF_A_REPLY, judged=True)}
    border = border_of(shown)
    words: str = _WORDS["again"][language]
    return "\n\n" + words.format(mark=border.mark.strip(), reply=fence_all(shown, border)["reply"])


@lru_cache(maxsize=256)
def _frame_json(language: str, messages: tuple[ChatMessage, ...], own: tuple[tuple[str, str], ...], form: str) -> str:
    """The text around the data as a JSON list without its closing bracket: all rows of a run share it."""
    frame = [(message.role, message.content) for message in messages]
    return json.dumps([language, frame, dict(own), form, _WORDS["closing"][language]])[:-1]


def echoes(texts: Texts) -> list[str]:
    """All the data of a prompt. JSON in a reply that repeats JSON of these texts was copied from them."""
    found: list[str] = []
    for text in texts.values():
        found += [text] if isinstance(text, str) else text
    return found
