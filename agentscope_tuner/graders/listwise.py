"""Ranks candidates: together, in chunks if they do not fit one prompt, or by pairs; and turns places into rewards."""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any

from agentscope_tuner.graders.client.chat_model import Prompt
from agentscope_tuner.graders.client.usage import Usage
from agentscope_tuner.graders.combine import shared_places
from agentscope_tuner.graders.llm_grader import LLMGrader
from agentscope_tuner.graders.prompt import is_empty
from agentscope_tuner.graders.schema import GraderRank, GraderScore, grader_error
from agentscope_tuner.graders.whose_fault import HARMLESS


@dataclass(frozen=True, slots=True)
class Ranking:
    """Places of candidates; 1 is best, ties share their mean place.

    Attributes:
        places: one place for each candidate.
        reason: the judge model's reason in the first call.
        usage: the usage of all calls.
        calls: the number of prompts.
        disagreements: the number of pairs that were ranked twice and in opposite orders: in swapped orders, or in
            overlapping chunks.
    """

    places: Sequence[float]
    reason: str
    usage: Usage
    calls: int = 0
    disagreements: int = 0


async def rank_all(grader: LLMGrader, responses: Sequence[str], max_chars: int, inputs: Mapping[str, Any]) -> Ranking:
    """Rank `responses`, in one call if they fit.

    Equal responses are shown once and get equal places. Responses that together are longer than `max_chars` are ranked
    in chunks. Each later chunk shows again the best, the middle and the worst response so far, or the middle one alone
    if the prompt has no room for three; they count within `max_chars`. The chunk's new responses, at least one, get
    their places by comparison with these: next to the middle one, if it is shown alone.

    Args:
        grader: a listwise grader.
        responses: the candidates.
        max_chars: of the responses in one call.
        inputs: the grader's other arguments, such as the query.

    Raises:
        GraderError: a call gave no ranking.
    """
    distinct = list(dict.fromkeys(responses))
    if len(distinct) == 1:
        return Ranking([(len(responses) + 1) / 2] * len(responses), "all responses are the same", Usage())
    results: list[GraderRank] = []
    positions: dict[str, float] = {}
    conflicts = 0
    while distinct:
        anchors = _anchors(positions, grader.max_chars // 2 - len(distinct[0]))
        new, distinct = _first_chunk(distinct, max_chars - sum(map(len, anchors)), 1 if anchors else 2)
        shown = [*anchors, *new]
        result = _checked(grader, await grader.aevaluate(response=shown, **inputs))
        results.append(result)
        here = dict(zip(shown, result.metadata["places"], strict=True))
        conflicts += sum(here[one] > here[other] for one, other in pairwise(anchors))
        positions |= {text: _position(here[text], anchors, here, positions) for text in new}
        positions = dict(zip(positions, shared_places(list(positions.values())), strict=True))
    usage = sum((result.metadata["usage"] for result in results), Usage())
    conflicts += sum(result.metadata.get("disagreements", 0) for result in results)
    return Ranking(
        shared_places([positions[text] for text in responses]), results[0].reason, usage, len(results), conflicts
    )


async def tournament(
    grader: LLMGrader, responses: Sequence[str], most_pairs: int, inputs: Mapping[str, Any]
) -> Ranking:
    """Rank `responses` by the share of comparisons that each wins; a tie is half a win.

    Equal responses are shown once. Each is compared with each other response. If that makes more than `most_pairs`
    pairs, each is compared only with the next few in a ring, as many as `most_pairs` allows. It is in two pairs at
    least, even if that makes more than `most_pairs`.

    Responses that are empty or overlong, or that a comparison found at fault, share the last place. A comparison with
    one of these does not count; a response without other comparisons has won half. If the judge model fails over a
    pair, though not over either response alone, the response with more such pairs loses it; with equally many the pair
    does not count. A response with no other pair is last, too.

    Raises:
        GraderError: a comparison gave no ranking, or each pair broke the judge model.
    """
    distinct = list(dict.fromkeys(responses))
    if len(distinct) == 1:
        return Ranking([(len(responses) + 1) / 2] * len(responses), "all responses are the same", Usage())
    last = {text for text in distinct if is_empty(text) or grader.overlong({**inputs, "response": [text, HARMLESS]})}
    judged = [text for text in distinct if text not in last]
    pairs = _pairs(len(judged), most_pairs)
    asked = [grader.aevaluate(response=[judged[one], judged[other]], **inputs) for one, other in pairs]
    found = await asyncio.gather(*asked)
    results = [result if "apart" in result.metadata else _checked(grader, result) for result in found]
    told = next((result.reason for result in results if "apart" not in result.metadata), "")
    if results and all("apart" in result.metadata for result in results):
        raise grader_error(f"{grader.name}: no pair can be compared: {results[0].reason}", None)
    last |= {judged[pair[at]] for pair, one in zip(pairs, results, strict=True) for at in one.metadata.get("last", ())}
    share = _shares_won(judged, pairs, results, last)
    last |= {text for text in judged if text not in share}
    lost = {text: 1.0 if text in last else -share[text] for text in distinct}
    usage = sum((result.metadata["usage"] for result in results), Usage())
    conflicts = sum(result.metadata.get("disagreements", 0) for result in results)
    told = f"{len(pairs)} pairs, the first: {told}" if results else "no two answers can be compared"
    return Ranking(shared_places([lost[text] for text in responses]), told, usage, len(results), conflicts)


def _shares_won(
    judged: Sequence[str], pairs: Sequence[tuple[int, int]], results: Sequence[GraderScore | GraderRank], last: Set[str]
) -> dict[str, float]:
    """The share of its comparisons that each of `judged` has won; left out is one whose comparisons all failed.

    Args:
        judged: the responses that were compared.
        pairs: the indices in `judged` of each pair.
        results: the result of each pair; `apart` in its metadata says that the judge failed over the pair.
        last: the responses that share the last place; comparisons with them do not count.
    """
    won, played = dict.fromkeys(judged, 0.0), dict.fromkeys(judged, 0)
    broken: Counter[str] = Counter()
    for pair, result in zip(pairs, results, strict=True):
        broken.update(judged[index] for index in pair if "apart" in result.metadata)
    compared: set[str] = set()
    for pair, result in zip(pairs, results, strict=True):
        one, other = texts = [judged[index] for index in pair]
        if "apart" in result.metadata:
            # One that breaks only the comparisons that it would lose must not win by it
            if broken[one] != broken[other]:
                played[max(texts, key=broken.__getitem__)] += 1
        elif last.isdisjoint(texts):
            compared |= set(texts)
            for text, place in zip(texts, result.metadata["places"], strict=True):
                # Places of two are 1 and 2, or 1.5 each
                won[text] += 2 - place
                played[text] += 1
    rated = [text for text in judged if text in compared or not broken[text]]
    return {text: won[text] / played[text] if played[text] else 0.5 for text in rated}


def _checked(grader: LLMGrader, result: GraderScore | GraderRank) -> GraderRank:
    if result.error is not None or not isinstance(result, GraderRank):
        raise grader_error(f"{grader.name}: {result.error}", result.cause)
    return result


def _pairs(size: int, most: int) -> list[tuple[int, int]]:
    pairs = list(combinations(range(size), 2))
    if len(pairs) <= most:
        return pairs
    steps = max(1, most // size)
    ring = [(index, (index + step) % size) for step in range(1, steps + 1) for index in range(size)]
    return sorted({(min(pair), max(pair)) for pair in ring})


def tournament_prompts(
    grader: LLMGrader, responses: Sequence[str], most_pairs: int, inputs: Mapping[str, Any]
) -> list[Prompt]:
    """The prompts that `tournament` would send, for estimates; nothing is sent."""
    distinct = list(dict.fromkeys(responses))
    shown = [[distinct[one], distinct[other]] for one, other in _pairs(len(distinct), most_pairs)]
    return [prompt for pair in shown for prompt in grader.prompts({**inputs, "response": pair})]


def shown_order(texts: Sequence[str], seed: int | None) -> list[int]:
    """The indices of `texts` in the order in which they are shown, which does not depend on the given order.

    So no position in a group is an advantage, and a repeated group is answered by the cache. The order depends on all
    texts together: no text can be worded so that it comes first. A `seed` of None keeps the given order.
    """
    if seed is None:
        return list(range(len(texts)))
    alone = [hashlib.sha256(text.encode(errors="replace")).digest() for text in texts]
    group = hashlib.sha256(b"".join([str(seed).encode(), *sorted(alone)])).digest()
    keys = [hashlib.sha256(group + text).digest() for text in alone]
    return sorted(range(len(texts)), key=keys.__getitem__)


def group_prompts(
    grader: LLMGrader, responses: Sequence[str], max_chars: int, inputs: Mapping[str, Any]
) -> list[Prompt]:
    """About the prompts that `rank_all` would send, for estimates; nothing is sent.

    The answers that a chunk shows again depend on verdicts, so the first answers take their place here.
    """
    distinct = list(dict.fromkeys(responses))
    left, shown = distinct if len(distinct) > 1 else [], list[list[str]]()
    while left:
        anchors = (
            _anchors({text: float(n) for n, text in enumerate(distinct[:3])}, max_chars - len(left[0])) if shown else []
        )
        new, left = _first_chunk(left, max_chars - sum(map(len, anchors)), 1 if anchors else 2)
        shown.append([*anchors, *new])
    return [prompt for responses in shown for prompt in grader.prompts({**inputs, "response": responses})]


def place_reward(place: float, size: int) -> float:
    """`1 - (place - 1) / (size - 1)`: 1.0 for the best of `size` candidates, 0.0 for the worst."""
    return 1.0 - (place - 1.0) / (size - 1.0)


def _first_chunk(texts: Sequence[str], room: int, least: int) -> tuple[list[str], list[str]]:
    """The first of `texts`, `least` or more, in at most `room` characters; and the rest."""
    size = used = 0
    while size < len(texts) and (size < least or used + len(texts[size]) <= room):
        used += len(texts[size])
        size += 1
    return list(texts[:size]), list(texts[size:])


def _anchors(positions: Mapping[str, float], room: int) -> list[str]:
    ordered = sorted(positions, key=lambda text: positions[text])
    if len(ordered) > 3:
        ordered = [ordered[0], ordered[len(ordered) // 2], ordered[-1]]
    return ordered if sum(map(len, ordered)) <= room else ordered[len(ordered) // 2 :][:1]


def _position(
    place: float, anchors: Sequence[str], places: Mapping[str, float], positions: Mapping[str, float]
) -> float:
    """The position, among all candidates, of a candidate that has `place` in a chunk with `anchors`.

    The anchors are candidates of earlier chunks with known `positions`. The candidate gets a position between its
    neighbours among the anchors: 1.5 if it is ranked between those at 1 and 2.

    Args:
        place: the candidate's place in the chunk.
        anchors: the candidates that the chunk showed again.
        places: the places of all candidates in the chunk.
        positions: the positions of all candidates of earlier chunks.
    """
    if not anchors:
        return place
    above = max((positions[anchor] for anchor in anchors if places[anchor] < place), default=None)
    below = min((positions[anchor] for anchor in anchors if places[anchor] > place), default=None)
    if tied := [positions[anchor] for anchor in anchors if places[anchor] == place]:
        return sum(tied) / len(tied)
    small = place / (len(places) + 1.0)  # keeps the order of candidates between the same two anchors
    if above is None:
        if below is None:
            return place
        # To beat the middle one, if there was no room to show the best, is not to beat the best
        better = max((position for position in positions.values() if position < below), default=below - 1.0)
        return better + (below - better) * small
    if below is None:
        return above + small
    # This chunk may have put the anchors in another order, so that `above` is below `below`: take the middle of the two
    return above + (below - above) * small if above < below else (above + below) / 2.0
