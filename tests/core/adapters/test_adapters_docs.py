"""The trainers' guide: its code compiles and rewards, its YAML reads, both languages show the same, and what it names
exists. The snippets that import their trainer run in tests/with_trainers.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from agentscope_tuner import JudgeError
from agentscope_tuner.adapters.art import judged_by
from tests.core.adapters.test_adapters_more import Sample
from tests.targets import TARGETS

ROOT = Path(__file__).parents[3]
PAGES = sorted((ROOT / "docs" / "trainers").glob("*.md"))
#: By language, the text of the guide: its front, and a page for each trainer.
GUIDES = {
    ".md": "\n".join(page.read_text(encoding="utf-8") for page in PAGES if not page.name.endswith(".zh.md")),
    ".zh.md": "\n".join(page.read_text(encoding="utf-8") for page in PAGES if page.name.endswith(".zh.md")),
}


def blocks(guide: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", GUIDES[guide], re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("guide", GUIDES)
def test_its_code_compiles_and_its_yaml_reads(guide: str) -> None:
    assert len(blocks(guide, "python")) >= 5
    for code in blocks(guide, "python"):
        compile(code, guide, "exec")
    for text in [*blocks(guide, "yaml"), (ROOT / "configs/verl_math.yaml").read_text(encoding="utf-8")]:
        assert isinstance(yaml.safe_load(text), dict)


def test_both_languages_show_the_same_code() -> None:
    for language in ("python", "yaml", "console"):
        assert blocks(".md", language) == blocks(".zh.md", language)


@pytest.mark.parametrize("page", [*PAGES, ROOT / "docs/trainers.md", ROOT / "docs/trainers.zh.md"], ids=str)
def test_the_files_and_targets_it_names_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for link in re.findall(r"\]\(([^)#]+)\)", text):
        assert (page.parent / link).exists(), link
    assert set(re.findall(r"make (test-[a-z0-9]+)", text)) <= TARGETS


def snippet(heading: str, place: int = 0) -> dict[str, Any]:
    """What a piece of Python under `heading` of the guide defines, run as it is printed."""
    section = re.split(rf"^##? {re.escape(heading)}\n", GUIDES[".md"], maxsplit=1, flags=re.MULTILINE)[1]
    section = re.split(r"^##? ", section, maxsplit=1, flags=re.MULTILINE)[0]
    code = re.findall(r"^```python\n(.*?)^```", section, re.DOTALL | re.MULTILINE)[place]
    names: dict[str, Any] = {"__name__": "snippet"}
    exec(compile(code, f"docs/trainers, {heading}", "exec"), names)  # noqa: S102, the guide is ours
    return names


@pytest.fixture
def in_the_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the guide's relative paths lead somewhere, beside the types of trainers that are not on PyPI."""
    monkeypatch.chdir(ROOT)
    monkeypatch.syspath_prepend(str(ROOT / "tests" / "stand_ins"))


@pytest.mark.parametrize("suffix", GUIDES)
def test_old_anchors_lead_to_the_pages(suffix: str) -> None:
    front = (ROOT / f"docs/trainers{suffix}").read_text(encoding="utf-8")
    led = dict(re.findall(r'<a id="([^"]+)"></a>\[[^]]*\]\(([^)#]+)', front))
    assert set(led.values()) == {
        f"trainers/{page.name}" for page in PAGES if page.name.endswith(".zh.md") == ("zh" in suffix)
    }
    assert {"trl", "verl", "openrlhf", "nemo-gym", "agentjet", "agentscopetuner-1x", "verifiers-01"} <= led.keys()


RIGHT, WRONG = r"\boxed{42.0}", r"\boxed{41}"


def trl_combined(said: str) -> Any:
    return snippet("TRL", 1)["reward_funcs"](["6*7?"], [said], answer=["42"])[0] // 1


def openrlhf_file(said: str) -> Any:
    return snippet("OpenRLHF")["reward_func"]([f"6*7?{said}"], ["6*7?"], ["42"])["rewards"]


def slime_rm(said: str) -> Any:
    return asyncio.run(snippet("slime and miles")["reward"](None, Sample(said)))


def areal_fn(said: str) -> Any:
    return snippet("AReaL")["reward_fn"]("6*7?", said, [1], [2], answer="42")


def rllm_fn(said: str) -> Any:
    return snippet("rLLM")["reward"]({"question": "6*7?", "answer": "42"}, said).reward


def open_instruct_verifier(said: str) -> Any:
    return snippet("open-instruct")["MathJudge"]()([1], said, "42", "6*7?").score


def art_rollout(said: str) -> Any:
    return asyncio.run(snippet("OpenPipe ART")["judged"](trajectory(said), {"answer": "42"})).reward


def axolotl_function(said: str) -> Any:
    return snippet("Axolotl and Unsloth")["math"](["6*7?"], [said], answer=["42"])[0]


def trajectory(said: str) -> Any:
    turns = [{"role": "user", "content": "6*7?"}, {"role": "assistant", "content": said}]
    return SimpleNamespace(messages=lambda: turns, reward=0.0, metrics={})


SNIPPETS = [
    trl_combined, openrlhf_file, slime_rm, areal_fn, rllm_fn, open_instruct_verifier, art_rollout, axolotl_function,
]  # fmt: skip


@pytest.mark.usefixtures("in_the_checkout")
@pytest.mark.parametrize("ask", SNIPPETS)
def test_a_snippet_rewards_as_it_is_printed(ask: Callable[[str], Any]) -> None:
    assert (ask(RIGHT), ask(WRONG)) == (1.0, 0.0)


@pytest.mark.usefixtures("in_the_checkout")
def test_a_trajectory_gives_a_judge_the_fields_of_a_record() -> None:
    """A row's value may be `{"target": 12, "nums": [3, 4]}`, also as text; under `answer` alone they are hidden."""
    judged = judged_by("configs/countdown.yaml")
    for truth in ({"target": 12, "nums": [3, 4]}, '{"target": 12, "nums": [3, 4]}'):
        assert asyncio.run(judged(trajectory(r"\boxed{3*4}"), {"answer": truth})).reward == 1.0


def test_a_trajectory_is_judged_by_the_policys_last_message_alone() -> None:
    """A tool said the right answer, and the policy nothing more."""
    judged, math = judged_by(ROOT / "configs/math.yaml"), trajectory("I ask.")
    math.messages = lambda: [*trajectory("I ask.").messages(), {"role": "tool", "content": RIGHT}]
    assert asyncio.run(judged(math, {"answer": "42"})).reward == 0.0
    assert math.metrics["MathAnswerAsJudge/success"] == 0.0
    with pytest.raises(JudgeError, match="answer"):
        asyncio.run(judged(trajectory(RIGHT), {}))
