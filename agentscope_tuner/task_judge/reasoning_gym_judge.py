"""ReasoningGymJudge: asks the scorers of the package reasoning-gym, in a jail."""

from __future__ import annotations

import ast
import hashlib
import keyword
import logging
import math
import re
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from agentscope_tuner._jail.bubblewrap import SHOWN
from agentscope_tuner._jail.idle_jails import SandboxBreaker, WarmJails, require_isolation
from agentscope_tuner._jail.jail import Ending, Jail, JailWork, RunLimits, slot
from agentscope_tuner._run import loops
from agentscope_tuner.config import StrictSection, task_judge_section, validate_section
from agentscope_tuner.errors import ConfigError, JudgeError, install, reference_error
from agentscope_tuner.task_judge.base_judge import KWARGS, BaseJudge, Reward, final_answer
from agentscope_tuner.verify.code.inside.code_values import NotPlainError, dump
from agentscope_tuner.verify.countdown import NotArithmeticError, evaluate
from agentscope_tuner.verify.find import find_answer
from agentscope_tuner.verify.strict_json import NotStrictJsonError, float_real, read_json
from agentscope_tuner.verify.words import OFFERS, denies
from agentscope_tuner.workflow import Task, WorkflowOutput, WorkflowTask

_log = logging.getLogger(__name__)
_FOLDERS = (str(Path(__file__).parents[1] / "verify" / "code" / "inside"),)
_ENTRY = "agentscope_tuner.verify.code.inside.query_or_puzzle"


_MOST_SOUND = 100_000

# They have the package loaded, which takes seconds
_jails = WarmJails(idle_seconds=60.0)


class ReasoningGymJudgeConfig(StrictSection):
    """ReasoningGymJudge's `astuner.task_judge.judge_kwargs`."""

    #: places of the answer, in order of preference; `whole`: all of the output
    answer_in: list[Literal["tag", "boxed", "hash", "label", "whole"]] = Field(default=["tag"], min_length=1)
    #: whether the reward is 1.0 or 0.0; else the scorer's own number, which many scorers give for form alone
    binary: bool = True
    #: the least score that is a success
    success: float = Field(default=1.0, gt=0, le=1)
    #: CPU seconds of one scoring
    seconds: float = Field(default=4.0, gt=0, le=3600)
    memory_mb: int = Field(default=1024, ge=256)


class ReasoningGymJudge(BaseJudge):
    """The score that reasoning-gym gives an answer, or with `binary` whether it is a success.

    The tasks are that package's entries: `task.metadata` holds `answer` and `metadata` with its `source_dataset`, or
    these side by side, as `astuner rollout` makes them. Scorers run in a jail, where some of them hang, and some run
    the answer as code: such answers must be data. A scorer that raises, or hangs, on an answer and not on the data
    set's own gives 0.0.

    Raises:
        ConfigError: a setting is wrong, the package is not installed, or there is no isolation on this machine.
        JudgeError: of a verdict: the row names no data set, the scorer does not pay its own answer, or the sandbox
            failed.
    """

    bounds_itself = True
    reference_keys = ("answer", "metadata", "source_dataset")
    metric_names = ("score", "cpu_seconds")

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self._settings = settings = validate_section(
            ReasoningGymJudgeConfig, task_judge_section(config).judge_kwargs, KWARGS
        )
        if (spec := find_spec("reasoning_gym")) is None or spec.origin is None:
            raise ConfigError(f"ReasoningGymJudge needs the extra 'reasoning-gym': {install('reasoning-gym')}")
        self._packages = str(Path(spec.origin).resolve().parents[1])
        self._limits = RunLimits(
            seconds=settings.seconds, wall_seconds=2 * settings.seconds, memory_mb=settings.memory_mb, processes=16
        )
        self._breaker = SandboxBreaker()
        self._warned: set[str] = set()
        # hashes of rows whose own answer the scorer pays
        self._sound: set[bytes] = set()
        require_isolation(KWARGS)

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Reward:
        """See BaseJudge. Blocks while the scorer runs."""
        dataset, entry = _entry(workflow_task.task)
        self._warn(dataset)
        if (answer := self._answer(final_answer(workflow_output))) is None:
            return self._reward(0.0, "no answer in the places that are read", 0.0)
        if why := unfit(dataset, answer, str(entry["answer"])):
            return self._reward(0.0, why, 0.0)
        found, ending = self._scored(dataset, answer, entry)
        if isinstance(found, str):
            own, _ = self._scored(dataset, entry["answer"], entry)
            if isinstance(own, str):
                raise reference_error(f"the scorer of {dataset!r} fails on its own answer: {own}")
            return self._reward(0.0, f"the scorer fails on this answer: {found}", ending.cpu_seconds)
        if found < self._settings.success and not self._is_sound(dataset, entry):
            raise reference_error(f"the scorer of {dataset!r} does not pay its own answer: drop the row")
        if not 0 <= found <= 1:
            return self._reward(0.0, f"the scorer gives {found!r}, which is no score", ending.cpu_seconds)
        if found >= self._settings.success and (why := another(answer, str(entry["answer"]), dataset)):
            return self._reward(0.0, f"the scorer gives {found:g}, and {why}", ending.cpu_seconds)
        return self._reward(found, f"{dataset}: {found:g}", ending.cpu_seconds)

    async def acompute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Reward:
        """See BaseJudge: the same in a thread, so that no event loop waits for a scorer."""
        return await loops.in_thread(self.compute_reward, workflow_task, workflow_output)

    def check_task(self, task: Task, output: WorkflowOutput | None = None) -> str | None:
        """See BaseJudge: a row that names no data set, or whose own answer is not paid."""
        try:
            dataset, entry = _entry(task)
            found, _ = self._scored(dataset, entry["answer"], entry)
        except JudgeError as error:
            return f"bad row: {error.message}"
        if isinstance(found, str):
            return f"its scorer fails on its own answer: {found}"
        # some data sets have no answer of their own, and any that fits is right
        return (
            None if entry["answer"] is None or found >= self._settings.success else f"its own answer is paid {found:g}"
        )

    def _is_sound(self, dataset: str, entry: Mapping[str, Any]) -> bool:
        """Whether the scorer pays the row's own answer; True if the row has none.

        The result is kept, because a row gets many answers.
        """
        if entry["answer"] is None:
            return True
        key = hashlib.sha256(dump({"dataset": dataset, "entry": dict(entry)})).digest()
        if key not in self._sound:
            found, _ = self._scored(dataset, entry["answer"], entry)
            if isinstance(found, str) or found < self._settings.success:
                return False
            if len(self._sound) >= _MOST_SOUND:
                self._sound.clear()
            self._sound.add(key)
        return True

    def _answer(self, output: str) -> str | None:
        places = [place for place in self._settings.answer_in if place != "whole"]
        found = find_answer(output, places).text if places else None
        return output.strip() if found is None and "whole" in self._settings.answer_in else found

    def _warn(self, dataset: str) -> None:
        if dataset in RUN_THE_ANSWER and dataset not in self._warned:
            self._warned.add(dataset)
            _log.warning(
                "reasoning-gym's scorer of %r runs answers as code: answers that are more than data get 0.0", dataset
            )

    def _reward(self, score: float, reason: str, cpu_seconds: float) -> Reward:
        success = score >= self._settings.success
        reward = float(success) if self._settings.binary else score
        return Reward(reward, success, reason=reason, metrics={"score": score, "cpu_seconds": round(cpu_seconds, 4)})

    def _new_jail(self) -> Jail:
        preload = ["reasoning_gym", _ENTRY]
        return Jail(folders=_FOLDERS, visible=[self._packages], search=[f"{SHOWN}/0"], preload=preload)

    def _scored(self, dataset: str, answer: object, entry: Mapping[str, Any]) -> tuple[float | str, Ending]:
        """The score, or a text that says why there is none; and how the scoring ended.

        Raises:
            JudgeError: the sandbox failed twice, or the row holds a value that cannot be sent to it.
        """
        try:
            payload = dump({"dataset": dataset, "answer": answer, "entry": dict(entry)})
        except NotPlainError as exc:
            raise reference_error(f"the row holds {exc}") from exc
        work = JailWork(entry=f"{_ENTRY}:score_puzzle", payload=payload)
        with self._breaker.trying(), slot():
            ending = _jails.run(self._packages, self._new_jail, work, self._limits)
        if ending.kind != "exit" or ending.status != 0:
            return f"over its bounds: {ending.kind}" if ending.kind != "exit" else "it ends its process", ending
        try:
            found = read_json(ending.result.decode(errors="replace"), real=float_real)
        except NotStrictJsonError as exc:
            return f"no score: {exc}", ending
        score = found.get("score") if isinstance(found, dict) else None
        if isinstance(score, float) and math.isfinite(score):
            return score, ending
        return str(found.get("error", "no score") if isinstance(found, dict) else "no score"), ending


def _entry(task: Task) -> tuple[str, dict[str, Any]]:
    """The name of the task's data set, and the entry as reasoning-gym makes it.

    Raises:
        JudgeError: the row has no answer, or names no data set.
    """
    metadata = task.metadata
    about = metadata.get("metadata") if isinstance(metadata.get("metadata"), Mapping) else metadata
    dataset = about.get("source_dataset") if about is not None else None
    if not isinstance(dataset, str) or not dataset.isidentifier() or "answer" not in metadata:
        raise reference_error(
            "the task's metadata must hold 'answer' and the 'source_dataset' of reasoning-gym, it has "
            f"{sorted(metadata)!r}"
        )
    question = metadata.get("question") or task.main_query
    return dataset, {"question": question, "answer": metadata["answer"], "metadata": dict(about or {})}


# Which answers must not reach a scorer: some scorers run them, and some pay them for nothing
#: Scorers of version 0.1.25 that run the answer as code; what an answer may hold there is checked before.
RUN_THE_ANSWER = frozenset(
    (
        *("binary_matrix", "countdown", "intermediate_integration", "n_queens", "polynomial_multiplication"),
        *("puzzle24", "simple_integration", "spiral_matrix", "string_insertion"),
    )
)
_NAMES = {
    *("sin", "cos", "tan", "sec", "csc", "cot", "asin", "acos", "atan"),
    *("sinh", "cosh", "tanh", "exp", "log", "ln", "sqrt"),
}
_PIECE = re.compile(
    r"[A-Za-z]\w*|_(?!\w)|[0-9]+(?:\.[0-9]+)?|\*\*|[-+*/^(),\[\]{}\s=·×÷−|\\$]|'[A-Za-z0-9 _.-]*'|\"[A-Za-z0-9 _.-]*\""
)
_NO_NUMBER = re.compile(r"\b(?:nan|inf|infinity)\b", re.IGNORECASE)
_TRUTHS = {"True": {"true", "yes"}, "False": {"false", "no"}}
_WHOLE = re.compile(r"[0-9]+")
_TWENTY_FOUR = 24
# Behind these an opening bracket groups; behind anything else it calls what is written before it
_GROUPS_BEHIND = {*"-+*/^(,[{=·×÷−|$", "**"}
_MOST_CHARS = 20_000
_MOST_POWER = 3


def unfit(dataset: str, answer: str, own: str) -> str | None:
    """Why `answer` cannot be right and must not be scored; None if it may be scored.

    Such are `nan`, `yes` if the own answer is `False`, and code, for a scorer that runs the answer.

    Args:
        dataset: the name of the data set.
        answer: the policy's answer.
        own: the data set's own answer, which may hold what other answers must not.
    """
    if len(answer) > _MOST_CHARS:
        return f"over the bounds: {len(answer):,} characters"
    if _NO_NUMBER.search(answer) and not _NO_NUMBER.search(own):
        return "NaN and infinity are no answers"
    # a scorer that asks for the truth of both texts takes "False" for true
    if own.strip() in _TRUTHS and answer.strip().strip(".").lower() not in _TRUTHS[own.strip()]:
        return "not the right truth"
    if dataset == "puzzle24" and (why := _no_24(answer, own)):
        return why
    is_own = "".join(answer.split()) == "".join(own.split())
    return _no_data(answer) if dataset in RUN_THE_ANSWER and not is_own else None


def _no_24(answer: str, own: str) -> str | None:
    """Why an answer is wrong in the game of 24; None if it is right, or cannot be calculated here, such as a power.

    The package's scorer takes any numbers, and drops a fraction. Here the numbers must be those of `own`.
    """
    if sorted(_WHOLE.findall(answer)) != sorted(_WHOLE.findall(own)):
        return "not the numbers of the puzzle"
    try:
        return None if evaluate(answer) == _TWENTY_FOUR else "not 24"
    except (NotArithmeticError, ZeroDivisionError):
        # such as powers
        return None


_A_NUMBER = re.compile(
    r"[-+−]?(?:[0-9]{1,3}(?:,[0-9]{3})+(?![0-9])|[0-9]+)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]{1,3})?|[-+−]?\.[0-9]+"
)
_A_FRACTION = re.compile(r"\s*([-+−]?[0-9]{1,15})\s*/\s*([0-9]{1,15})\s*")
# If the right answer is a number, another number is right only if it differs by rounding
_ROUNDING = 0.01


# In these data sets only the own text is right, but the scorer also pays more text behind it
_ONE_TEXT = {"letter_jumble"}
_SAME = 1e-9


def another(answer: str, own: str, dataset: str = "") -> str | None:
    """Why `answer` differs from the data set's own, whatever the scorer says; None if nothing shows that it does.

    If the own answer is `12`, then `13`, `12 or 13` and `not 12` differ, and `x = 12` does not. Some scorers accept 0
    whatever is right, skip a minus sign, take the first of several numbers, or accept numbers that are only near.
    """
    if dataset in _ONE_TEXT and answer.casefold().split() != own.casefold().split():
        return "the answer is another text"
    if _says_more(answer, own):
        return "the answer denies it, or says more"
    if (listed := _numbers_in(own)) is not None:
        given = sorted(_read_number(found[0]) for found in _A_NUMBER.finditer(answer))
        pairs = zip(given, listed, strict=False)
        is_same = len(given) == len(listed) and all(math.isclose(*pair, rel_tol=_SAME) for pair in pairs)
        return None if is_same else "the answer lists other numbers"
    wanted = _A_NUMBER.fullmatch(own.strip())
    # of `3 * 4 = 12` or `x = 12` the right side
    said = answer.rpartition("=")[2]
    numbers = {_read_number(found[0]) for found in _A_NUMBER.finditer(said)}
    if (ratio := _A_FRACTION.fullmatch(said)) is not None and int(ratio[2]):
        numbers = {_read_number(ratio[1]) / int(ratio[2])}
    if wanted is None or not numbers:
        return None
    number = _read_number(wanted[0])
    if len(numbers) > 1:
        return f"the answer names {len(numbers)} numbers"
    decimals, said_number = len(own.strip().partition(".")[2]), numbers.pop()
    same = math.isclose(said_number, number, rel_tol=_ROUNDING if decimals else 0.0)
    return None if same or (decimals and round(said_number, decimals) == number) else "the answer is another number"


def _says_more(answer: str, own: str) -> bool:
    """Whether `answer` holds the own answer and takes it back: `not 12`, `12 or 13`, or words on a later line."""
    parts = r"\s+".join(map(re.escape, own.split()))
    if not parts or not (found := [*re.finditer(rf"(?<!\w){parts}(?!\w)", answer, re.IGNORECASE)]):
        return False
    before = answer[: found[-1].start()].rpartition("\n")[2]
    behind, *later = answer[found[-1].end() :].split("\n")
    beside = f"{before} {behind}"
    is_denied = any(denies(word) for word in re.findall(r"[^\W\d_]+(?:['’]\w+)?", beside.lower()))
    return is_denied or OFFERS.search(beside) is not None or re.search(r"\w", "".join(later)) is not None


def _numbers_in(own: str) -> list[float] | None:
    """The numbers of an answer that is a list, sorted: `[3, 1]` gives `[1.0, 3.0]`; None for any other answer."""
    try:
        listed = ast.literal_eval(own.strip()) if own.strip()[:1] == "[" else None
        return sorted(map(float, listed)) if listed else None
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None


def _read_number(text: str) -> float:
    return float(text.replace(",", "").replace("−", "-"))


def _no_data(answer: str) -> str | None:
    """Why the answer is more than numbers, letters, lists and formulas, and might run as code; None if it is not.

    `[1, 2]` and `sin(x)` are data; `f(2)` and `__import__('os')` are not.
    """
    at, powers, before = 0, 0, "("
    for piece in _PIECE.finditer(answer):
        if piece.start() != at:
            break
        at, word = piece.end(), piece[0]
        if "__" in word or keyword.iskeyword(word):
            return f"{word!r:.40} is no part of an answer"
        if word == "(" and not (before in _GROUPS_BEHIND or before in _NAMES or before[0].isdigit()):
            return f"{before!r:.40}, called, is no part of an answer"
        powers += word in ("**", "^")
        before = before if word.isspace() else word
    if at != len(answer):
        return f"{answer[at : at + 20]!r} is no part of an answer"
    return "too many powers" if powers > _MOST_POWER * (1 + len(answer) // 20) else None
