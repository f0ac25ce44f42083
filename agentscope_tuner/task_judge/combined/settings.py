"""The settings of a combined judge: its parts, the order in which they are asked, and how their rewards become one.

Everything is checked at load. Every combination is independent of the parts' order, to the last bit.

`PartVerdicts` are the parts' verdicts on one rollout, so far. `AsksJudges` is the base of judges that ask other judges,
each of which has a whole `task_judge` section inside theirs.
"""

from __future__ import annotations

import inspect
import logging
import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from operator import mul
from typing import Any, ClassVar, Literal, NamedTuple

from msgspec.structs import replace

from agentscope_tuner.config import SECTION, PartConfig, TaskJudgeConfig, task_judge_section
from agentscope_tuner.errors import Cause, ConfigError, JudgeError, did_you_mean, judge_error, told
from agentscope_tuner.graders.client.usage import Usage
from agentscope_tuner.task_judge.base_judge import BaseJudge, Counts
from agentscope_tuner.task_judge.combined.condition import Condition, parse_condition
from agentscope_tuner.task_judge.contract.judgement import Judgement
from agentscope_tuner.task_judge.contract.loading import load_inner, resolve_function
from agentscope_tuner.task_judge.contract.task_judge import TaskJudge
from agentscope_tuner.workflow import Task, WorkflowOutput

WHERE = f"{SECTION}.parts"
_NAME = re.compile(r"[^\W\d][\w-]{0,63}")
# Names with a meaning in a condition or in `success`
_RESERVED = ("all", "and", "any", "not", "or")
_log = logging.getLogger(__name__)

Combination = Callable[[Sequence[float], Sequence[float]], float]
#: From the weights and rewards of the parts that count to the reward; a product and a minimum read no weights.
COMBINATIONS: Mapping[str, Combination] = {
    "weighted_sum": lambda weights, rewards: math.fsum(map(mul, weights, rewards)),
    # Over the weights of the parts that were asked, so a skipped part changes nothing
    "weighted_mean": lambda weights, rewards: math.fsum(map(mul, weights, rewards)) / math.fsum(weights),
    # sorted: a product of floats is rounded at each step, and depends on their order
    "product": lambda weights, rewards: math.prod(sorted(rewards)),
    "min": lambda weights, rewards: min(rewards),
}


@dataclass(frozen=True, slots=True)
class PartVerdict:
    """A part's verdict, as a user's function of the parts gets it.

    Attributes:
        name: the part's.
        weight: its weight.
        status: as a `Judgement`'s; `skipped` if its condition was not met; `failed` only if it may fail.
        reward: None exactly when skipped or failed.
        is_success: None exactly when skipped or failed.
    """

    name: str
    weight: float
    status: Literal["judged", "filtered", "skipped", "failed"]
    reward: float | None
    is_success: bool | None


#: `module->function` of a combined judge: from the parts, by name, to the reward.
PartsFunction = Callable[[Mapping[str, PartVerdict]], object]


class Part:
    """One judge of a combined one.

    Args:
        name: its key; its reward is the metric `part/<name>`.
        judge: the judge behind its own rules and deadline.
        section: the combined judge's section.
        weighs: whether a weight of 0 takes a part out of the reward; a function of the parts decides that itself.

    Attributes:
        settings: its section.
        weight: its factor in a sum or mean.
        when: the condition under which it is asked; None for always.
        needs: the parts that the condition reads.
        counts: whether it counts for the reward: a part of weight 0 does not, it only observes.
        may_fail: whether the verdict goes on if this part fails: it is optional, or only observes.
        zero_on_error: whether a failure counts as a reward of 0.0, which a user asked for by name.
        is_cheap: whether the part computes, and waits for no service.
        is_read: whether a condition reads it.
        key: `part/<name>`.
        reward_name: what conditions call its reward; `success_name` likewise.

    Raises:
        ConfigError: its name or its condition cannot be used.
    """

    def __init__(self, name: str, judge: TaskJudge, section: TaskJudgeConfig, *, weighs: bool) -> None:
        if not _NAME.fullmatch(name) or name in _RESERVED:
            raise ConfigError(
                f"{WHERE}: a part's name is a letter and then up to 63 letters, digits, _ or -, and none of "
                f"{', '.join(_RESERVED)}, got {name!r}"
            )
        self.name, self.judge = name, judge
        self.settings: PartConfig = section.parts[name]
        self.weight, self.is_cheap = self.settings.weight, judge.traits.kind == "cpu"
        self.key, self.reward_name, self.success_name = f"part/{name}", f"{name}.reward", f"{name}.is_success"
        self.when = _condition(section, name)
        self.needs = frozenset(read.rpartition(".")[0] for read in self.when.names) if self.when else frozenset()
        if judge.traits.ranks and self.when is not None:
            raise ConfigError(
                f"{WHERE}.{name}.when: {judge.traits.name} ranks whole advantage groups, and a condition would take "
                "some of their members out: remove it, or multiply with the part that it names"
            )
        self.counts = not weighs or self.weight != 0
        self.may_fail = self.is_read = False
        self.zero_on_error = self.settings.on_error == "zero"

    def metric_names(self) -> list[str]:
        """Every metric that its verdicts add to the combined one's."""
        names = [self.key]
        names += [f"{self.key}/skipped"] if self.when is not None else []
        names += [f"{self.key}/failed"] if self.may_fail or self.zero_on_error else []
        own = self.settings.metric_names
        for metric in self.judge.inner.metric_names if own is None else own:
            names.append(metric if metric.startswith("judge_") else f"{self.key}/{metric}")
        return names


def _condition(section: TaskJudgeConfig, name: str) -> Condition | None:
    if (when := section.parts[name].when) is None:
        return None
    known: dict[str, type] = {}
    for other in section.parts:
        if other != name:
            known |= {f"{other}.is_success": bool, f"{other}.reward": float}
    return parse_condition(when, known, f"{WHERE}.{name}.when")


def load_parts(judges: Mapping[str, TaskJudge], section: TaskJudgeConfig, *, weighs: bool) -> list[Part]:
    """The parts of a combined judge, in their order.

    Args:
        judges: the judge of each part.
        section: the combined judge's.
        weighs: see Part.

    Raises:
        ConfigError: there are no parts, or a name or a condition cannot be used.
    """
    if not judges:
        raise ConfigError(
            f"{WHERE} is missing: write for instance "
            "`parts: {a: {judge: math}, b: {judge: choice}}`; each part takes the keys of task_judge"
        )
    parts = [Part(name, judge, section, weighs=weighs) for name, judge in judges.items()]
    needed = frozenset[str]().union(*(part.needs for part in parts))
    for part in parts:
        part.is_read = part.name in needed
        # A part of weight 0 that a condition or `success` reads decides something, so its failure is not passed over
        observes = not part.counts and not part.is_read and part.name != section.success
        part.may_fail = part.settings.optional or observes
    return parts


def in_stages(parts: Sequence[Part]) -> list[list[Part]]:
    """The order in which parts are asked: each after those its condition reads, cheap ones as early as that allows.

    A stage is one cheap part, or several parts that wait at the same time.

    Raises:
        ConfigError: conditions lead in a circle.
    """
    stages: list[list[Part]] = []
    waiting, asked = list(parts), set[str]()
    while waiting:
        if not (ready := [part for part in waiting if asked >= part.needs]):
            circle = ", ".join(f"{part.name} when {part.settings.when}" for part in waiting)
            raise ConfigError(f"{WHERE}: these conditions lead in a circle: {circle}")
        cheap = [part for part in ready if part.is_cheap]
        stages += [[part] for part in cheap] or [ready]
        asked.update(part.name for part in cheap or ready)
        waiting = [part for part in waiting if part.name not in asked]
    return stages


def written(combination: str, parts: Sequence[Part], rewards: Sequence[float]) -> str:
    """The combination as a formula for people: `1 × 1 (correct) + 0.3 × 0.5 (style)`."""
    if not parts:
        return "no part was asked"
    if combination in ("weighted_sum", "weighted_mean"):
        weighed = zip(parts, rewards, strict=True)
        terms = " + ".join([f"{part.weight:g} × {reward:g} ({part.name})" for part, reward in weighed])
        terms = terms.replace(" + -", " - ") if " + -" in terms else terms
        if combination == "weighted_sum":
            return terms
        return f"({terms}) / {math.fsum(part.weight for part in parts):g}"
    values = [f"{reward:g} ({part.name})" for part, reward in zip(parts, rewards, strict=True)]
    return " × ".join(values) if combination == "product" else f"{combination} of {', '.join(values)}"


def function_of(reward: str) -> PartsFunction | None:
    """The function that `reward` names, or None where `reward` is a built-in combination.

    Raises:
        ConfigError: `reward` names neither, or the function cannot be called with the parts.
    """
    if reward in COMBINATIONS:
        return None
    if "->" not in reward:
        raise ConfigError(
            f"{SECTION}.reward: must be one of {', '.join(COMBINATIONS)}, or 'module->function' of the parts, "
            f"got {reward!r}"
        )
    function = resolve_function(reward)
    if inspect.iscoroutinefunction(function):
        raise ConfigError(f"{SECTION}.reward: {reward!r} is `async def`: it must return a number")
    with told(f"{SECTION}.reward: {reward!r} must take one argument, the parts", TypeError):
        inspect.signature(function).bind({})
    return function


def check_together(section: TaskJudgeConfig) -> None:
    """Check the settings of the parts against each other, and against those of the whole.

    Raises:
        ConfigError: `clip` is no range, or shuts out what a rule or an error pays; `success` names no part that always
            says whether the task was solved; or the weights mean nothing to the combination.
    """
    _check_success(section)
    if section.reward in COMBINATIONS:
        _check_weights(section)
    if section.clip is None:
        return
    low, high = section.clip
    if not low < high:
        raise ConfigError(f"{SECTION}.clip: must be [least, largest], got {section.clip!r}")
    paid = {"rule_reward": section.rule_reward} if section.rules else {}
    paid |= {"on_error: zero": 0.0} if section.on_error == "zero" else {}
    for key, value in paid.items():
        if not low <= value <= high:
            raise ConfigError(f"{SECTION}.clip: {key} pays {value:g}, which lies outside of {section.clip!r}")


def _check_success(section: TaskJudgeConfig) -> None:
    known = (*section.parts, "all", "any")
    if section.success not in known:
        hint = did_you_mean(section.success, known)
        raise ConfigError(f"{SECTION}.success: {hint}must be one of {', '.join(known)}, got {section.success!r}")
    if section.success in section.parts and section.parts[section.success].optional:
        raise ConfigError(
            f"{SECTION}.success: the part {section.success!r} is optional, so it may have no verdict, and then nobody "
            "knows whether the task was solved: name another part, or remove its `optional`"
        )


def _check_weights(section: TaskJudgeConfig) -> None:
    combination, parts = section.reward, section.parts
    if all(part.weight == 0 for part in parts.values()):
        raise ConfigError(f"{WHERE}: every weight is 0, so no part makes the reward")
    if combination == "weighted_sum":
        return
    for name, part in parts.items():
        if part.weight < 0:
            raise ConfigError(
                f"{WHERE}.{name}.weight: a {combination} takes no negative weight, got {part.weight!r}: "
                "reward: weighted_sum does"
            )
    if all(part.when is not None for part in parts.values() if part.weight):
        raise ConfigError(
            f"{SECTION}.reward: a {combination} of no part has no value, and every part that counts has a condition: "
            "give one of weight above 0 no `when`"
        )
    unread = {name: part.weight for name, part in parts.items() if part.weight not in (0, 1)}
    if unread and combination != "weighted_mean":
        _log.warning("%s.reward: a %s multiplies with no weight, so these count as 1: %s", SECTION, combination, unread)


_REASON_CHARS = 300
_SPENT = frozenset(Usage.metric_names())
_UNJUDGEABLE = "unjudgeable"


class Account(NamedTuple):
    """A summary of the parts' verdicts, from which the combined verdict is made.

    Attributes:
        counted: the parts that count for the reward and have a verdict.
        rewards: the rewards of these parts.
        told: the end of the combined reason: the reason of each part.
        metrics: `part/<name>`, the reward of each part that has one; whether parts were skipped or failed; and the
            parts' own metrics. What judging used (`judge_…`) is added up under its own name, as summaries and budgets
            read it.
        violations: the rules of the parts that were broken, each under its part's name.
    """

    counted: list[Part]
    rewards: list[float]
    told: str
    metrics: dict[str, float]
    violations: tuple[str, ...]


class PartVerdicts:
    """The verdicts of the parts of one combined judge on one rollout.

    Args:
        paid: `AsksJudges.paid` of that judge.

    Attributes:
        judged: the verdicts, by part; a failed verdict only for a part that may fail.
        values: what conditions read: `<part>.reward` and `<part>.is_success` of parts that have a verdict.
        skipped: the reasons why parts were not asked, by part.
        failed: the errors, by part, of parts that may fail, or whose failures count as 0.0.
        alone: the reasons, by part, of parts that must have a verdict and have no other rollout to rank this one with.
        lacking: parts without a verdict because of a failure: their own, or that of a part that their condition reads.
        spent: what judge models were paid so far, by whichever parts, as metrics: also for verdicts that failed.
    """

    __slots__ = ("_paid", "alone", "failed", "judged", "lacking", "skipped", "spent", "values")

    def __init__(self, paid: Callable[[str, Judgement], Judgement]) -> None:
        self._paid = paid
        self.judged: dict[str, Judgement] = {}
        self.values: dict[str, float | bool] = {}
        self.skipped: dict[str, str] = {}
        self.failed: dict[str, str] = {}
        self.alone: dict[str, str] = {}
        self.lacking: set[str] = set()
        self.spent: dict[str, float] = {}

    def asked(self, parts: Sequence[Part]) -> list[Part]:
        """The `parts` that are to be asked; for the others the reason is noted."""
        asked = []
        for part in parts:
            held = part.when is None or part.when.holds(self.values)
            if held:
                asked.append(part)
            elif held is None:
                lacking = sorted(name for name in part.needs if f"{name}.reward" not in self.values)
                self.skipped[part.name] = f"no verdict of {', '.join(lacking)}"
                if not self.lacking.isdisjoint(part.needs):
                    self.lacking.add(part.name)
            else:
                self.skipped[part.name] = f"not {part.settings.when}"
        return asked

    def add(self, part: Part, outcome: Judgement | JudgeError) -> None:
        """Note a part's verdict.

        Raises:
            JudgeError: the part has no verdict, and must have one.
        """
        self._note(part, self._counted(outcome))

    def add_all(self, parts: Sequence[Part], outcomes: Sequence[Judgement | JudgeError]) -> None:
        """Note verdicts of parts that were asked at the same time. The costs of all are counted, also if one fails."""
        for part, judgement in zip(parts, list(map(self._counted, outcomes)), strict=True):
            self._note(part, judgement)

    def _counted(self, outcome: Judgement | JudgeError) -> Judgement:
        judgement = Judgement.failed(outcome) if isinstance(outcome, JudgeError) else outcome
        for name in _SPENT.intersection(judgement.metrics):
            self.spent[name] = self.spent.get(name, 0.0) + judgement.metrics[name]
        return judgement

    def _note(self, part: Part, judgement: Judgement) -> None:
        name = part.name
        if judgement.reward is None:
            reason = judgement.reason
            if part.zero_on_error or not part.may_fail:
                if judgement.cause is Cause.ALONE and not part.zero_on_error:
                    self.alone[name] = reason
                judgement = self._paid(name, judgement)
            else:
                self.lacking.add(name)
            self.failed[name] = reason
        elif part.weight < 0 and judgement.status == "filtered" and _UNJUDGEABLE in judgement.violations:
            # With a negative weight the lowest reward is the best for a policy, which could break this judge to get it
            top = part.judge.inner.top_reward
            judgement = replace(judgement, reward=judgement.reward if top is None else top)
        self.judged[name] = judgement
        if part.is_read and judgement.reward is not None:
            self.values[part.reward_name] = judgement.reward
            self.values[part.success_name] = bool(judgement.is_success)

    @contextmanager
    def accounted(self) -> Iterator[None]:
        """A context that adds the costs to a JudgeError, so that summaries and `--resume` add them up."""
        try:
            yield
        except JudgeError as error:
            error.metrics = {**error.metrics, **self.spent}
            raise

    def is_success(self, name: str) -> bool:
        """Whether the part has a verdict, and that is a success."""
        judgement = self.judged.get(name)
        return judgement is not None and bool(judgement.is_success)

    def verdict(self, part: Part) -> PartVerdict:
        """The part's verdict, as a user's function of the parts gets it."""
        if (judgement := self.judged.get(part.name)) is None:
            return PartVerdict(part.name, part.weight, "skipped", None, None)
        return PartVerdict(part.name, part.weight, judgement.status, judgement.reward, judgement.is_success)

    def said(self) -> str:
        """The parts that failed or were not asked, with the reasons; if there are none, the parts that answered."""
        told = [f"{name} failed: {why}" for name, why in self.failed.items()]
        told += [f"{name} skipped: {why}" for name, why in self.skipped.items()]
        return "; ".join(told) or f"{', '.join(self.judged) or 'none'} answered"

    def account(self, parts: Sequence[Part]) -> Account:
        """A summary of the verdicts of `parts`, all of which were asked or skipped."""
        counted: list[Part] = []
        rewards: list[float] = []
        metrics: dict[str, float] = {}
        violations: list[str] = []
        told = ""
        for part in parts:
            name, key, judgement = part.name, part.key, self.judged.get(part.name)
            if part.when is not None:
                metrics[f"{key}/skipped"] = float(judgement is None)
            if part.may_fail or part.zero_on_error:
                metrics[f"{key}/failed"] = float(name in self.failed)
            if judgement is None:
                told += f"; {name} skipped: {self.skipped[name]}"
                continue
            if (reward := judgement.reward) is None:
                told += f"; {name} failed and is {'optional' if part.settings.optional else 'of weight 0'}: "
            elif part.counts:
                counted.append(part)
                rewards.append(reward)
                told += f"; {name}: "
            else:
                told += f"; {name} {reward:g}, of weight 0: "
            told += judgement.reason[:_REASON_CHARS]
            if reward is not None:
                metrics[key] = reward
            for metric, value in judgement.metrics.items():
                if metric.startswith("judge_"):
                    metrics[metric] = metrics.get(metric, 0.0) + value
                else:
                    metrics[f"{key}/{metric}"] = value
            if judgement.violations:
                violations += [f"{name}/{rule}" for rule in judgement.violations]
        return Account(counted, rewards, told, metrics, tuple(violations))


class AsksJudges(BaseJudge):
    """The base of judges that ask other judges, which it loads.

    What it reports about tasks and runs is what these judges report, each under its name.

    Attributes:
        inner_key: the key of their sections: `parts` or `routes`.
        section: the typed section.

    Raises:
        ConfigError: one of them cannot be loaded.
    """

    inner_key: ClassVar[Literal["parts", "routes"]]

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        section = self.section = task_judge_section(config)
        sections = getattr(section, self.inner_key)
        self.asks: Mapping[str, TaskJudge] = {
            name: load_inner(config, section, self.inner_key, name, own) for name, own in sections.items()
        }
        for judge in self.asks.values():
            # This judge itself warns if the workflow's own reward is ignored: once is enough
            judge.heeds_own_reward = True
        asked = [judge.inner for judge in self.asks.values()]
        self.metric_names = tuple(dict.fromkeys(name for judge in asked for name in judge.metric_names))
        self.reference_keys = tuple(dict.fromkeys(key for judge in asked for key in judge.reference_keys))
        self.reads_own_reward = any(judge.reads_own_reward for judge in asked)
        self.gives_turns = any(judge.gives_turns for judge in asked)
        self._ranks = any(judge.traits.ranks for judge in self.asks.values())
        self.bounds_itself = all(
            judge.traits.bounded or sections[name].deadline is not None for name, judge in self.asks.items()
        )

    def called(self, name: str) -> str:
        """The judge `name` as messages call it: `part 'style'`."""
        return f"{self.inner_key.removesuffix('s')} {name!r}"

    def paid(self, name: str, judgement: Judgement) -> Judgement:
        """The verdict of the judge `name`, or 0.0 in place of a failed one if its section has `on_error: zero`.

        Raises:
            JudgeError: any other failed verdict. The message leaves out the task, so that summaries count equal
                failures together.
        """
        if judgement.reward is not None:
            return judgement
        if getattr(self.section, self.inner_key)[name].on_error == "zero":
            reason = f"no verdict, 0.0 by on_error: zero: {judgement.reason}"
            return Judgement("judged", 0.0, False, reason, metrics=judgement.metrics)
        told = f"{self.called(name)} ({self.asks[name].traits.name}): {judgement.reason}"
        error = judge_error(told, judgement.cause or Cause.JUDGE)
        error.metrics = judgement.metrics
        raise error

    def problem_of(self, names: Collection[str], task: Task, output: WorkflowOutput | None) -> str | None:
        """The first problem that the judges of these names find in a row, with its kind and the judge's name."""
        for name in names:
            if (problem := self.asks[name].check_task(task, output)) is not None:
                return self.named(name, problem)
        return None

    def row_notes(self, task: Task, output: WorkflowOutput | None = None) -> list[str]:
        """See BaseJudge: the notes of every judge, each under its name."""
        return [f"{name}: {note}" for name, judge in self.asks.items() for note in judge.row_notes(task, output)]

    def named(self, name: str, problem: str) -> str:
        """A problem with the judge that found it: `wrong type: no text` becomes `wrong type: part 'style': no text`."""
        kind, colon, said = problem.partition(":")
        return f"{kind}: {self.called(name)}:{said}" if colon else f"{problem}: {self.called(name)}"

    async def ready(self, names: Collection[str]) -> None:
        """Ask the judges of these names whether they could judge now.

        Raises:
            JudgeError: one of them could not.
        """
        for name in names:
            try:
                await self.asks[name].inner.aready()
            except JudgeError as exc:
                raise JudgeError(f"{self.called(name)}: {exc.message}", cause=exc.cause) from exc

    def run_notes(self) -> list[str]:
        """See BaseJudge: the notes of every judge, each under its name."""
        return [f"{name}: {note}" for name, judge in self.asks.items() for note in judge.inner.run_notes()]

    def take_counts(self) -> Counts:
        """See BaseJudge: the counts of every judge, each under its name."""
        taken = ((name, judge.inner.take_counts()) for name, judge in self.asks.items())
        return {f"{name}: {key}": numbers for name, counts in taken for key, numbers in counts.items()}

    def notes_on(self, counts: Counts) -> list[str]:
        """See BaseJudge: the notes of every judge on its own counts, each under its name."""
        notes = []
        for name, judge in self.asks.items():
            own = {key.removeprefix(f"{name}: "): n for key, n in counts.items() if key.startswith(f"{name}: ")}
            notes += [f"{name}: {note}" for note in judge.inner.notes_on(own)]
        return notes


def same_for(judge: TaskJudge, first: Mapping[str, Any], second: Mapping[str, Any]) -> bool:
    """Whether `judge` takes two tasks, given by their metadata, to have the same reference: see `same_reference`."""
    keys = judge.inner.reference_keys
    return judge.inner.same_reference({key: first.get(key) for key in keys}, {key: second.get(key) for key in keys})
