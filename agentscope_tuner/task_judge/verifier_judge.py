"""VerifierJudge: the math judge's rules first, and a model that verifies answers for what they leave open.

Published models only say whether an answer matches a reference; their prompts and replies are in verifiers.toml.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from agentscope_tuner.config import SECTION, WITH_OFF, task_judge_section, validate_section
from agentscope_tuner.errors import Cause, JudgeError
from agentscope_tuner.graders.client.chat_model import Prompt
from agentscope_tuner.graders.client.reply import AnswerAtFault, Reply, ReplyError, final_match, without_thinking
from agentscope_tuner.graders.client.settings import MODEL_NAME, EndpointSection
from agentscope_tuner.graders.client.usage import Usage, metered
from agentscope_tuner.graders.cost import Estimate, Reckoner
from agentscope_tuner.graders.injection_defence import neutralise, plain
from agentscope_tuner.graders.template import ChatMessage, fill, headings, read_words
from agentscope_tuner.graders.whose_fault import HARMLESS, ask_about
from agentscope_tuner.task_judge.base_judge import Reward, final_answer
from agentscope_tuner.task_judge.llm.probes import ModelJudge, Probes
from agentscope_tuner.task_judge.llm.rollout_fields import USUAL_PATHS
from agentscope_tuner.task_judge.llm.settings import ModelsSection, build_panels
from agentscope_tuner.task_judge.math_answer_as_judge import MathAnswerAsJudge, asked
from agentscope_tuner.verify.math.tokens import SPACE, is_missing
from agentscope_tuner.verify.math.unwrap import bare
from agentscope_tuner.workflow import WorkflowOutput, WorkflowTask


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
# A verdict with words beside its yes or no, which an answer may hold
_WORDED = frozenset({"general_verifier", "omni_judge"})
# These leave no room for thinking aloud, in which a verdict could be taken back
_ONE_VERDICT = frozenset({"omni_judge", "xverify", "tinyv", "compass_verifier"})

# What may take a verdict back without a word: a symbol of mathematics or a picture, `!` or `?` before it, an empty `[]`
_SIGNS = frozenset({"Sm", "So"})
# What LaTeX prints is a command's argument, not its name
_PRINTS_NOTHING = re.compile(rf"{SPACE}|\\[hv]?phantom\{{[^{{}}]*\}}|(?:\\[a-zA-Z]{{1,20}}\*?|\^|_)(?=\s*\{{)")
_DOUBTS = re.compile(r"[!?][^\w\s]*\Z|\[\s*\]")


def states(text: str) -> bool:
    r"""Whether a text states anything, whatever a model would say of it.

    Punctuation, spaces of LaTeX, and commands around nothing state nothing: `...`, `\,`, `\phantom{7}`.
    """
    left = _PRINTS_NOTHING.sub("", plain(bare(text)))
    return any(unicodedata.category(char)[0] in "LNS" for char in left)


def matches(preset: str, reply: Reply, shown: str = "") -> bool:
    """Whether the verifier says that the answer, which it was `shown`, matches.

    Raises:
        Quotation: the verdict stands in the answer.
        ReplyError: the reply is a refusal, cut off, empty, or does not end with a verdict; or it holds two that differ,
            or signs beside its verdict that may take it back.
    """
    form = PRESETS[preset]
    echoes = [shown] if preset in _WORDED else []
    last = final_match(reply, form.verdict, echoes, ends=preset not in _EXPLAINS)["said"]
    text = without_thinking(reply.text).strip()
    found = list(form.verdict.finditer(text))
    before, behind = text[found[-1].start() : found[-1].start(1)], text[found[-1].end() :]
    behind = behind.partition("\n")[0] if preset in _EXPLAINS else behind
    if _DOUBTS.search(before) or "?" in behind or any(unicodedata.category(sign) in _SIGNS for sign in before + behind):
        raise ReplyError(f"the verdict stands beside signs that may take it back: {reply.text[-160:]!r}")
    said = {match[1].lower() in form.right for match in found}
    if preset in _ONE_VERDICT and len(said) > 1:
        raise ReplyError(f"the reply holds two verdicts that differ: {reply.text[:160]!r}")
    return last.lower() in form.right


WHERE = f"{SECTION}.verifier"
#: Why the rules' verdict may be taken to the model.
Open = Literal["unread", "undecided", "different", "reference"]


class VerifierConfig(EndpointSection):
    """Which verifier is asked, and about which of the rules' verdicts; the rules are set under `task_judge.math`."""

    preset: Literal["general_verifier", "xverify", "compass_verifier", "omni_judge", "tinyv"]
    model_name: str = Field(min_length=1, description=MODEL_NAME)
    #: of a run: calls, tokens, cost; see RunBudget
    budget: dict[str, Any] | None = None
    #: ask where the rules cannot read the answer, cannot decide, find it different, or cannot read the reference
    escalate: list[Open] = Field(default=["unread", "undecided"])
    #: what the model is shown: the answer that the rules find, or the whole response
    shows: Literal["answer", "response"] = "answer"
    #: about a longer answer the model is not asked
    max_chars: int = Field(default=4_000, ge=100)
    #: what becomes of a model that finds answers right that say nothing
    probes: Annotated[Literal["refuse", "warn", "off"], WITH_OFF] = "refuse"


class VerifierJudge(ModelJudge):
    """`judge_type: verifier`; configured under `astuner.task_judge.verifier`, see VerifierConfig.

    The reward is 1.0 or 0.0, with the math judge's marks `unread` and `undecided` where the model has not decided. What
    the rules find right is right, unasked. An output that states no answer is wrong, unasked. The metric
    `verifier_asked` is 1.0 where the model was asked, so that its mean is the share asked; the reason holds both
    verdicts. Where the answer's own text makes the model fail, or is none that it may be asked about, the rules'
    verdict stands, and is 0.0 where they have none.

    Raises:
        ConfigError: the section, or that of the math judge, is wrong.
        JudgeError: of a verdict: the model or its endpoint failed, or the reference is missing.
    """

    bounds_itself = True

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        section = task_judge_section(config)
        self.settings = mine = validate_section(VerifierConfig, section.verifier, WHERE)
        self.rules = MathAnswerAsJudge(config)
        models = ModelsSection(
            **mine.model_dump(include={"model_name", "base_url", "budget"}),
            api_key=mine.api_key,
            client={"max_tokens": 1024, **mine.client},
        )
        (self.model,) = build_panels(models, WHERE, section.deadline, {}).first.values()
        self.judge_models, self.response_path, self.top_score = [self.model], USUAL_PATHS["response"], 1.0
        self._probes = Probes(mine.probes, WHERE)
        self.metric_names = ("verifier_asked", "verifier_right", "unread", "undecided", *Usage.metric_names())

    async def acompute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Reward:
        """See BaseJudge."""
        with metered() as meter:
            rules, why = await self._by_rules(workflow_task, workflow_output)
            shown = self._shown(workflow_output)
            told = rules.message if isinstance(rules, JudgeError) else rules.reason
            if why not in self.settings.escalate or shown is None:
                if isinstance(rules, JudgeError):
                    if why not in self.settings.escalate:
                        raise rules
                    # To leave out the verdict would let a policy choose when it is judged
                    told = f"rules ({why}): {told}; not asked: {self._unshown}"
                return self._reward(rules, not isinstance(rules, JudgeError) and rules[1], told, why, usage=meter.usage)
            query, truth = asked(workflow_task.task) or "", str(workflow_task.task.metadata.get("answer", ""))
            await self._probes.check(lambda text: self._shares(query, truth, text), truth)
            try:
                right = await self._verified(query, truth, shown)
            except AnswerAtFault as exc:
                return self._reward(rules, False, f"rules: {told}; {exc.message}", why, asked=1.0, usage=meter.usage)
        verdict = "right" if right else "not right"
        reason = f"rules ({why}): {told}; {self.settings.model_name}: {verdict}"
        # What the model has decided is open no longer
        return self._reward(rules, right, reason, "", asked=1.0, usage=meter.usage)

    async def _by_rules(self, task: WorkflowTask, output: WorkflowOutput) -> tuple[Reward | JudgeError, str]:
        """The rules' verdict, and why the model may be asked, as one of `Open`; empty if it may not.

        Raises:
            JudgeError: the rules have no verdict, and a model could have none either.
        """
        try:
            found = await self.rules.acompute_reward(task, output)
        except JudgeError as exc:
            if exc.cause is Cause.UNDECIDED:
                return exc, "undecided"
            truth = task.task.metadata.get("answer")
            if exc.cause is Cause.REFERENCE and truth and states(str(truth)) and not is_missing(str(truth)):
                return exc, "reference"
            raise
        reward = found if isinstance(found, Reward) else Reward(*found)
        if reward[1]:
            return reward, ""
        return reward, next((name for name in ("unread", "undecided") if reward.metrics.get(name)), "different")

    @property
    def _unshown(self) -> str:
        return f"no answer is stated, or one of more than {self.settings.max_chars} characters"

    def _shown(self, output: WorkflowOutput) -> str | None:
        """The text of an output that the model is shown; None if it states no answer, or is longer than `max_chars`."""
        found = self.rules.find(output).text
        if found is None or not states(found):
            return None
        text = found if self.settings.shows == "answer" else final_answer(output)
        return text if len(text) <= self.settings.max_chars else None

    async def _verified(self, query: str, truth: str, shown: str) -> bool:
        def question(text: str) -> tuple[Prompt, Callable[[Reply], bool]]:
            return self._prompt(query, truth, text), lambda reply: matches(self.settings.preset, reply, text)

        answer = await ask_about(self.model, *question(shown), lambda: question(HARMLESS))
        return answer.value

    def _prompt(self, query: str, truth: str, shown: str) -> Prompt:
        markers = self.model.settings.markers
        # These prompts have no border, for the models were trained without one
        safe = neutralise(shown, tokens=(*markers, *headings(PRESETS[self.settings.preset].prompt)), judged=True)
        values = {"query": neutralise(query, self.settings.max_chars, markers), "ground_truth": truth, "response": safe}
        messages = [ChatMessage(content=fill(PRESETS[self.settings.preset].prompt, values))]
        return Prompt(lambda: messages)

    def _shares(self, query: str, truth: str, text: str) -> dict[str, Coroutine[Any, Any, float]]:
        return {self.settings.model_name: self._verified(query, truth, text)}

    def _reward(
        self, rules: Reward | JudgeError, right: bool, reason: str, why: str, *, usage: Usage, asked: float = 0.0
    ) -> Reward:
        metrics = {
            **(rules.metrics if isinstance(rules, Reward) else {}),
            "verifier_asked": asked,
            "verifier_right": asked * float(right),
            "unread": float(why == "unread"),
            "undecided": float(why == "undecided"),
            **usage.metrics(),
        }
        return Reward(float(right), right, reason=" ".join(reason.split()), metrics=metrics)

    def estimate(self, task: WorkflowTask, outputs: Sequence[WorkflowOutput], reckoner: Reckoner) -> Estimate:
        """See BaseJudge: at most one question an output; how many the rules leave open is not known before."""
        query, truth = asked(task.task) or "", str(task.task.metadata.get("answer", ""))
        shown = [text for output in outputs if (text := self._shown(output)) is not None]
        return reckoner.reckon((self.model, self._prompt(query, truth, text)) for text in shown).perhaps
