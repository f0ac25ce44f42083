"""Rows of a data set through a trainer's adapter with made completions, before a GPU starts: what is seen and paid.

Each trainer hands a row to its adapter in a shape of its own. Only those are here whose adapter reads rows without the
trainer's package.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from types import SimpleNamespace
from typing import Any

from agentscope_tuner.adapters import agentscope, areal, ms_swift, openrlhf, slime, verl
from agentscope_tuner.adapters.trl.functions import pairs_of
from agentscope_tuner.errors import JudgeError, input_error, reference_error
from agentscope_tuner.records.formats.sample import Prompt, first, is_chat, required
from agentscope_tuner.task_judge.batch import ConfiguredJudge, Pair
from agentscope_tuner.task_judge.contract.columns import QUESTIONS
from agentscope_tuner.task_judge.contract.judgement import Judgement

Row = Mapping[str, Any]


@dataclass(frozen=True)
class RowSeen:
    """What an adapter makes of a row.

    Attributes:
        question: the judge's question; empty where the adapter finds none.
        reference: the judge's reference as it is given; None where there is none.
        gets: by made completion, what the trainer would get: a reward, or why it gets none.
        failed: whether some completion has no verdict.
    """

    question: str
    reference: Any
    gets: Mapping[str, float | str]
    failed: bool

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return asdict(self)


def dry_run(judge: ConfiguredJudge, trainer: str, row: Row) -> RowSeen:
    """A row through the adapter of `trainer`, with three completions: its reference in a box, the reference alone, and
    none.
    """
    try:
        task, _ = TRAINERS[trainer](row, "")
        seen = judge.read(task.task)
    except JudgeError as error:
        return RowSeen("", None, {"any": f"{error.message}{_renamed(row, error, trainer)}"}, True)
    reference = seen.metadata.get("answer")
    said = {"boxed": f"\\boxed{{{reference}}}", "alone": f"{reference}", "empty": ""}
    pairs = [TRAINERS[trainer](row, text) for text in said.values()]
    if judge.listwise and trainer in _GROUPS:
        found = judge.judge_group(pairs)
    else:
        found = [judge.judge(*pair) for pair in pairs]
    gets = {name: _gets(judge, judgement) for name, judgement in zip(said, found, strict=True)}
    return RowSeen(seen.main_query, reference, gets, any(isinstance(got, str) for got in gets.values()))


def _renamed(row: Row, error: JudgeError, trainer: str) -> str:
    """How to give the row the column `prompt`, which the trainer asks for by that name."""
    held = next((name for name in QUESTIONS if row.get(name) is not None), None)
    if held is None or "no prompt" not in error.message:
        return f"; {trainer} needs it, too"
    return f", which {trainer} asks for by this name: rename the column, `dataset.rename_column({held!r}, 'prompt')`"


def _gets(judge: ConfiguredJudge, judgement: Judgement) -> float | str:
    try:
        return judge.reward_or_raise(judgement)
    except JudgeError as error:
        return judgement.reason if judgement.status == "failed" else error.message


def _asked(row: Row, *names: str) -> Prompt:
    name, value = first(row, *names)
    if not isinstance(value, str) and not is_chat(value):
        raise input_error(f"{name} must be a text or chat messages, got {value!r:.100}")
    return value  # type: ignore[no-any-return]


def _trl(row: Row, said: str) -> Pair:
    prompt = _asked(row, "prompt")
    columns = {name: [value] for name, value in row.items() if name not in ("prompt", "completion")}
    completion: Prompt = said if isinstance(prompt, str) else [{"role": "assistant", "content": said}]
    return pairs_of([prompt], [completion], columns)[0]


def _verl(row: Row, said: str) -> Pair:
    model = required(row, "reward_model")
    if not isinstance(model, Mapping) or "ground_truth" not in model:
        raise reference_error(f"verl reads reward_model.ground_truth, got {model!r:.100}")
    extra = row.get("extra_info") or {}
    if not isinstance(extra, Mapping):
        raise input_error(f"extra_info must be a mapping, got {extra!r:.100}")
    info = {**extra, "raw_prompt": required(row, "prompt"), "num_turns": 2}
    return verl.pair_of(str(required(row, "data_source")), said, model["ground_truth"], info)


def _openrlhf(row: Row, said: str) -> Pair:
    prompt = _asked(row, "input", "prompt", "question")
    text = prompt if isinstance(prompt, str) else str(prompt[-1].get("content"))
    label = first(row, "label", "answer", "ground_truth")[1]
    return openrlhf.decode_request({"query": [text + said], "prompts": [text], "labels": [label]})


def _slime(row: Row, said: str) -> Pair:
    sample = {"prompt": _asked(row, "prompt", "input", "text"), "label": row.get("label")}
    return slime.as_pair(SimpleNamespace(**sample, response=said, metadata=row.get("metadata") or {}))


def _ms_swift(row: Row, said: str) -> Pair:
    messages = _asked(row, "messages")
    if isinstance(messages, str):
        raise input_error(f"messages must be chat messages, got {messages!r:.100}")
    return ms_swift.pair_of(said, {**row, "messages": [*messages, {"role": "assistant", "content": said}]})


def _areal(row: Row, said: str) -> Pair:
    asked = _asked(row, "messages", "prompt", "question")
    if not isinstance(asked, str) and "messages" not in row:
        raise input_error("AReaL reads chat messages from the column 'messages': rename it")
    prompt = asked if isinstance(asked, str) else str(asked[-1].get("content", ""))
    return areal.pair_of(prompt, said, dict(row))


#: By trainer: a row of its data set and a completion, as its adapter hands them to the judge.
TRAINERS: Mapping[str, Callable[[Row, str], Pair]] = {
    "trl": _trl,
    "verl": _verl,
    "openrlhf": _openrlhf,
    "slime": _slime,
    "ms-swift": _ms_swift,
    "areal": _areal,
    "agentscope": agentscope.as_pair,
}
# Those that hand over whole groups; in verl the reward manager does
_GROUPS = frozenset({"trl", "verl", "slime", "ms-swift"})
