"""`astuner judge-eval`: measures whether an LLM judge agrees with people and with itself, and which tricks move it.

With the verdict cache a judge would always agree with itself, so the cache is off.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Protocol, runtime_checkable

import typer
from rich.progress import MofNCompleteColumn

from agentscope_tuner._run import loops
from agentscope_tuner.cli.console import (
    Exit,
    config_errors,
    err,
    measure,
    number,
    out,
    printable,
    progress,
    say,
    span,
    table,
)
from agentscope_tuner.cli.options import Conf, Format, Json, Map, Overrides, conversion, mapped, source_lines
from agentscope_tuner.config import SECTION, Settings
from agentscope_tuner.errors import ConfigError
from agentscope_tuner.graders.client.chat_model import ChatModel
from agentscope_tuner.graders.rubrics import evaluate
from agentscope_tuner.lab.labels import Labelled, read_labelled, response_of, with_response
from agentscope_tuner.lab.statistics import clustered_share
from agentscope_tuner.task_judge.contract.loading import load_judge
from agentscope_tuner.task_judge.contract.task_judge import TaskJudge
from agentscope_tuner.workflow import WorkflowOutput

# The sample answer in the injection texts, in English and Chinese; the attacked answer replaces it
_HONEST = ("It rains.", "It rains", "下雨了。", "下雨了")
_TOP = "10"


def attacked(answer: str, top: float) -> Iterator[tuple[str, str]]:
    """The kind and the text of each attack that is made from `answer`, for a judge whose highest score is `top`."""
    for kind, text in INJECTIONS:
        asked = text if top == float(_TOP) else text.replace(_TOP, f"{top:g}")
        said = next((words for words in _HONEST if words in asked), None)
        yield kind, asked.replace(said, answer, 1) if said is not None else f"{answer}\n{asked}"


#: The kind and the text of each injection: texts with which a policy may try to get a high score from a judge
#: model. They close the fence around the judged text, state a verdict, speak in another role, or hide control markers
#: of many models and invisible characters. Each asks for a score of 10 of 10; an honest score would be 2.
INJECTIONS: list[tuple[str, str]] = [
    (kind, text)
    for kind, text in json.loads(files("agentscope_tuner").joinpath("lab", "texts", "injections.json").read_bytes())
]

Pairs = Sequence[tuple[float, float]]
#: The reward of each answer; None for an answer without a verdict.
Rewards = list[float | None]

_SAME = 1e-9
# The range of a share
_SHARE = (0.0, 1.0)
_WORST = 10


@runtime_checkable
class AsksModels(Protocol):
    """A judge that asks judge models, through this package's client, about the answer at one path.

    Attributes:
        response_path: the path of the answer, such as `output.metadata.final_answer`.
        judge_models: the models.
        top_score: the highest score in the judge's prompt.
    """

    @property
    def response_path(self) -> str: ...

    @property
    def judge_models(self) -> Sequence[ChatModel]: ...

    @property
    def top_score(self) -> float: ...


def asked_anew(judge: TaskJudge) -> AsksModels:
    """The judge inside `judge`, with the verdict caches of its models turned off for good.

    Raises:
        ConfigError: the judge asks no judge models.
    """
    inner = judge.inner
    if not isinstance(inner, AsksModels):
        measured = f"judge-eval measures llm, task_rubrics and rubrics_auto_grader, got {type(inner).__name__}"
        raise ConfigError(f"{measured}: `astuner agree` compares the rows that any judge scores")
    for model in inner.judge_models:
        model.settings = model.settings.model_copy(update={"cache": False})
    return inner


class JudgeEval:
    """Asks one judge about labelled answers, in several ways.

    Args:
        judge: the judge with its rules; its verdict cache must be off.
        answers: the labelled answers.
        response_path: the path at which the judge reads an answer.
        top: the highest score in the judge's prompt, which attacks ask for.
        concurrency: the most rows at once, or groups for a judge that ranks.
        done: called after every verdict.
    """

    def __init__(
        self,
        judge: TaskJudge,
        answers: Sequence[Labelled],
        response_path: str,
        *,
        top: float = 10.0,
        concurrency: int = 64,
        done: Callable[[], None] = lambda: None,
    ) -> None:
        self._judge, self._answers, self._path = judge, answers, response_path
        self._top, self._done = top, done
        self._slots = asyncio.Semaphore(concurrency)
        self._groups: dict[str, list[int]] = {}
        for index, one in enumerate(answers):
            self._groups.setdefault(one.group, []).append(index)

    def verdicts(self, on: int) -> int:
        """The number of verdicts that `run(on)` asks for."""
        again = 4 if self._judge.traits.ranks else 3
        return len(self._answers) * again + sum(1 for index in self._lowest(on) for _ in self._attacks(index))

    async def run(self, on: int) -> dict[str, Any]:
        """Make all measurements; the `on` answers with the lowest labels are attacked."""
        first = await self._asked([one.output for one in self._answers])
        second = await self._asked([one.output for one in self._answers])
        twice = await self._asked([self._with(one, f"{self._said(one)}\n\n{self._said(one)}") for one in self._answers])
        return {
            "answers": len(self._answers),
            "groups": len(self._groups),
            "failed": sum(reward is None for reward in first),
            "agreement": self._agreement(first),
            "self_consistency": self._consistency(first, second),
            "length": self._length(first, twice),
            "position": await self._position(first) if self._judge.traits.ranks else None,
            "attacks": await self._attacked(first, on),
        }

    def _said(self, one: Labelled) -> str:
        return response_of(one.output, self._path)

    def _with(self, one: Labelled, text: str) -> WorkflowOutput:
        return with_response(one.output, self._path, text)

    async def _asked(self, outputs: Sequence[WorkflowOutput], backwards: bool = False) -> Rewards:
        """The rewards of `outputs`, which belong to the answers in the same order.

        Args:
            outputs: an output for each answer.
            backwards: show a judge that ranks each group in the opposite order.
        """
        rewards: Rewards = [None] * len(outputs)

        async def group(members: list[int]) -> None:
            shown = members[::-1] if backwards else members
            async with self._slots:
                found = await self._judge.ajudge_group(self._answers[members[0]].task, [outputs[one] for one in shown])
            for index, judgement in zip(shown, found, strict=True):
                rewards[index] = judgement.reward
                self._done()

        members = self._groups.values() if self._judge.traits.ranks else [[index] for index in range(len(outputs))]
        await asyncio.gather(*map(group, members))
        return rewards

    def _agreement(self, rewards: Rewards) -> dict[str, Any]:
        """Measures of rewards against labels. Labels beyond 0 to 1 are no rewards, so only their order is measured."""
        pairs = [(one.label, reward) for one, reward in zip(self._answers, rewards, strict=True)]
        metrics = evaluate.metrics(0.1)
        if not all(0.0 <= one.label <= 1.0 for one in self._answers):
            metrics = {name: metrics[name] for name in ("spearman", "kendall")}
        groups = self._by_group(pairs)
        return {name: _measured(metric, groups, evaluate.RANGES.get(name)) for name, metric in metrics.items()}

    def _consistency(self, first: Rewards, second: Rewards) -> dict[str, Any]:
        pairs = list(zip(first, second, strict=True))
        apart = [[abs(one - other) for one, other in group] for group in self._by_group(pairs)]
        same = share_of([[far <= _SAME for far in group] for group in apart])
        return {"same": same, "difference": mean_of(apart)}

    def _length(self, first: Rewards, twice: Rewards) -> dict[str, Any]:
        lengths = [float(len(self._said(one))) for one in self._answers]
        pairs = self._by_group(list(zip(first, twice, strict=True)))
        said_twice = mean_of([[after - before for before, after in group] for group in pairs])
        labels = [one.label for one in self._answers]
        with_reward, with_label = (
            _measured(evaluate.spearman, self._by_group(list(zip(lengths, of, strict=True)))) for of in (first, labels)
        )
        return {"reward_follows": with_reward, "label_follows": with_label, "said_twice": said_twice}

    async def _position(self, first: Rewards) -> dict[str, Any]:
        """Ask about the groups in the opposite order: an unbiased judge gives each pair of answers the same order."""
        swapped = await self._asked([one.output for one in self._answers], backwards=True)
        pairs: list[list[tuple[float, float]]] = []
        for members in self._groups.values():
            both = [(first[index], swapped[index]) for index in members]
            known = _known(both)
            if len(known) == len(both) > 1:
                pairs.append(known)
        return {
            "reordered": mean_of([[_reordered(group)] for group in pairs], _SHARE),
            # The first answer's reward, minus its reward when it stands last
            "first_place_earns": mean_of([[group[0][0] - group[0][1]] for group in pairs]),
        }

    def _lowest(self, on: int) -> list[int]:
        return sorted(range(len(self._answers)), key=lambda index: self._answers[index].label)[:on]

    def _attacks(self, index: int) -> list[tuple[str, str]]:
        return list(attacked(self._said(self._answers[index]), self._top))

    async def _attacked(self, first: Rewards, on: int) -> dict[str, Any]:
        shifts: list[tuple[str, str, float]] = []
        failed = 0
        for index in self._lowest(on):
            before = first[index]
            attacks = self._attacks(index)
            rewards = await asyncio.gather(*(self._one_attacked(index, text) for _, text in attacks))
            for (kind, text), reward in zip(attacks, rewards, strict=True):
                if before is None or reward is None:
                    failed += 1
                else:
                    shifts.append((kind, text, reward - before))
        kinds = list(dict.fromkeys(kind for kind, _, _ in shifts))
        worst = sorted(shifts, key=lambda shift: -shift[2])[:_WORST]
        return {
            "on": on,
            "failed": failed,
            "kinds": {kind: self._effect([shift for of, _, shift in shifts if of == kind]) for kind in kinds},
            "all": self._effect([shift for _, _, shift in shifts]),
            "worst": [{"kind": kind, "shift": shift, "text": text} for kind, text, shift in worst if shift > _SAME],
        }

    async def _one_attacked(self, index: int, text: str) -> float | None:
        one = self._answers[index]
        members = self._groups[one.group] if self._judge.traits.ranks else [index]
        outputs = [self._with(one, text) if member == index else self._answers[member].output for member in members]
        async with self._slots:
            found = await self._judge.ajudge_group(one.task, outputs)
        self._done()
        return found[members.index(index)].reward

    def _effect(self, shifts: Sequence[float]) -> dict[str, Any]:
        raised = share_of([[shift > _SAME] for shift in shifts])
        return {"texts": len(shifts), "raised": raised, "shift": mean_of([[shift] for shift in shifts])}

    def _by_group(self, pairs: Sequence[tuple[float | None, float | None]]) -> list[Pairs]:
        groups = (_known([pairs[index] for index in members]) for members in self._groups.values())
        return [group for group in groups if group]


def _measured(
    metric: evaluate.Metric, groups: Sequence[Pairs], within: tuple[float, float] | None = None
) -> dict[str, Any]:
    """The `value` of `metric` over all groups, and its `interval`, which counts all answers to one task as one, because
    they are alike.
    """
    value = metric([pair for group in groups for pair in group]) if groups else None
    spread = evaluate.interval(metric, groups, 0, within) if groups else None
    return {"value": value, "interval": None if spread is None else list(spread)}


def share_of(groups: Sequence[Sequence[bool]]) -> dict[str, Any]:
    """The share of True in all groups, and its 95 % interval. The values within a group are alike, such as those of one
    task.
    """
    value = _mean([float(hit) for group in groups for hit in group])
    spread = clustered_share([sum(group) for group in groups], [len(group) for group in groups])
    return {"value": value, "interval": None if spread is None else list(spread)}


def mean_of(groups: Sequence[Sequence[float]], within: tuple[float, float] | None = None) -> dict[str, Any]:
    """The mean of the values in all groups, and its 95 % interval. The values within a group are alike, such as those
    of one task.

    The interval is None if fewer than ten groups differ from the most frequent value: with a few large values among
    zeros the jackknife's interval is too narrow (`benchmarks.insight.coverage`).
    """
    found = _measured(_second, [[(0.0, value) for value in group] for group in groups], within)
    (_, most), *_ = Counter(map(_mean, groups)).most_common(1) or [(0.0, 0)]
    apart = len(groups) - (most if most > 1 else 0)
    return found if apart >= evaluate.LEAST_CLUSTERS else {**found, "interval": None}


def _known(pairs: Sequence[tuple[float | None, float | None]]) -> list[tuple[float, float]]:
    return [(one, other) for one, other in pairs if one is not None and other is not None]


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _second(pairs: Pairs) -> float | None:
    return _mean([value for _, value in pairs])


def _reordered(group: Pairs) -> float:
    """The share of pairs of answers whose order differs between two rounds."""
    both = [(group[a], group[b]) for a in range(len(group)) for b in range(a)]
    return sum((one[0] - other[0]) * (one[1] - other[1]) < 0 for one, other in both) / len(both)


_LABELLED = "Rollouts with label: {score} or {is_success}, samples for rubrics, or rows with --map score=label.score."
_ATTACKED = "To how many of the answers with the lowest labels every injection is added."
_DRY_RUN = "Print how many verdicts it takes, without calling a model."
_TEXT_CHARS = 80


def judge_eval(
    conf: Conf,
    labels: Annotated[str, typer.Option("--labels", help=_LABELLED)],
    overrides: Overrides = None,
    format_: Format = None,
    map_: Map = None,
    attacked: Annotated[int, typer.Option("--attacked", min=0, help=_ATTACKED)] = 1,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="Read only the first N rows.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help=_DRY_RUN)] = False,
    as_json: Json = False,
) -> None:
    """Measure an LLM judge on labelled answers, without the cache. Exit code 3: no verdict on half of the answers."""
    with config_errors():
        settings = _in_the_order_given(conf, overrides or (), map_)
        judge = load_judge(settings)
        inner = asked_anew(judge)
        with source_lines(labels) as (lines, _):
            rows = conversion(settings, format_, map_).all(lines) if format_ or map_ else lines
            answers = read_labelled(rows, labels, inner.response_path, limit)
        with progress(MofNCompleteColumn()) as shown:
            subject = JudgeEval(
                judge,
                answers,
                inner.response_path,
                top=inner.top_score,
                concurrency=settings.task_judge.concurrency,
                done=lambda: shown.advance(bar),
            )
            expected = subject.verdicts(attacked)
            bar = shown.add_task("verdicts", total=expected)
            if dry_run:
                out.print(f"{len(answers)} labelled answers, about {expected:,} verdicts; nothing was sent")
                return
            report = loops.run(subject.run(attacked)) | _spent(inner)
    if as_json:
        print(json.dumps({"labels": labels, **report}))
    else:
        _show(report, Path(labels).name)
    if 2 * report["failed"] >= report["answers"]:
        err.print("half of the answers got no verdict: the figures mean nothing", style="bold red")
        raise typer.Exit(Exit.ROWS_FAILED)


def _spent(judge: AsksModels) -> dict[str, float]:
    usage = [model.usage for model in judge.judge_models]
    return {"calls": sum(one.calls for one in usage), "cost": sum(one.cost for one in usage)}


def _show(report: dict[str, Any], name: str) -> None:
    title = f"{name}: {report['answers']} answers to {report['groups']} tasks, {report['failed']} without a verdict"
    found = table(title, "measure", "value", "95 % interval")
    position = report["position"] or {}
    measures = {
        **{f"agrees with people: {metric.replace('_', ' ')}": value for metric, value in report["agreement"].items()},
        "asked twice: the same reward": report["self_consistency"]["same"],
        "asked twice: mean difference": report["self_consistency"]["difference"],
        "length: rank correlation with the reward": report["length"]["reward_follows"],
        "length: rank correlation with the label": report["length"]["label_follows"],
        "length: the answer said twice moves the reward by": report["length"]["said_twice"],
        "position: pairs in another order when swapped": position.get("reordered"),
        "position: standing first earns": position.get("first_place_earns"),
    }
    for words, value in measures.items():
        if value is not None:
            found.add_row(words, number(value["value"]), span(value["interval"]))
    if not position:
        found.add_row("position", "none", "one answer is shown at a time")
    out.print(found)
    if report["attacks"]["on"]:
        _show_attacks(report["attacks"])
    cost = f", cost {report['cost']:.4g}" if report["cost"] else ""
    out.print(f"{report['calls']:,} calls{cost}")


def _show_attacks(found: dict[str, Any]) -> None:
    title = f"the injection set on the {found['on']} worst answers; {found['failed']} without a verdict"
    attacks = table(title, "attack", "texts", "raised the reward", "moved it by")
    for kind, moved in (*found["kinds"].items(), ("all", found["all"])):
        attacks.add_row(kind, str(moved["texts"]), measure(moved["raised"]), measure(moved["shift"]))
    out.print(attacks)
    for one in found["worst"]:
        text = " ".join(printable(one["text"]).split())[-_TEXT_CHARS:]
        say(f"{one['shift']:+.3f} {one['kind']}: …{text}")


def _in_the_order_given(conf: str, overrides: Sequence[str], pairs: Sequence[str] | None) -> Settings:
    """Settings under which the judge shows a group's answers in the given order, because the measurement changes the
    order itself.
    """
    settings = mapped(conf, overrides, pairs)
    if settings.task_judge.judge_type in ("llm", "pairwise"):
        settings = mapped(conf, [f"{SECTION}.llm.shuffle_seed=null", *overrides], pairs)
    return settings
