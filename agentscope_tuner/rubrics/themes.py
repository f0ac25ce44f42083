"""Lets the model sort rubrics into themes."""

from __future__ import annotations

from collections.abc import Sequence

from agentscope_tuner.graders.client.chat_model import ChatModel
from agentscope_tuner.graders.client.reply import Reply, ReplyError, final_json
from agentscope_tuner.graders.prompt.judge_prompt import as_texts, build_prompt
from agentscope_tuner.graders.prompt.template import LanguageEnum
from agentscope_tuner.rubrics import prompts
from agentscope_tuner.rubrics.config import AutoGraderConfig
from agentscope_tuner.rubrics.proposals import numbered
from agentscope_tuner.rubrics.saved import Rubric


async def sort_into_themes(config: AutoGraderConfig, model: ChatModel, rubrics: Sequence[Rubric]) -> list[Rubric]:
    """`rubrics` with at most `categories_number` themes; the rubrics of a theme stand together.

    Raises:
        GraderError: the model gave no partition of the rubrics.
    """
    language = LanguageEnum(config.language)
    texts = as_texts({"rubrics": numbered([rubric.text for rubric in rubrics])}, language, 200_000)
    own = {"count": str(config.categories_number)}
    theme = {
        "type": "object",
        "properties": {"name": {"type": "string"}, "rubrics": {"type": "array", "items": {"type": "integer"}}},
        "required": ["name", "rubrics"],
        "additionalProperties": False,
    }
    schema = {
        "type": "object",
        "properties": {"themes": {"type": "array", "items": theme}},
        "required": ["themes"],
        "additionalProperties": False,
    }

    def parse(reply: Reply) -> list[tuple[str, list[int]]]:
        return _themes(final_json(reply).get("themes"), len(rubrics), config.categories_number)

    prompt = build_prompt(prompts.SORT, language, own, texts, prompts.THEMES_FORM[language], schema)
    themes = (await model.ask(prompt, parse)).value
    return [rubrics[number - 1].model_copy(update={"theme": name}) for name, numbers in themes for number in numbers]


def _themes(found: object, size: int, most: int) -> list[tuple[str, list[int]]]:
    try:
        assert isinstance(found, list)
        themes = [(" ".join(theme["name"].split())[:80], list(theme["rubrics"])) for theme in found]
    except (AssertionError, KeyError, TypeError, AttributeError) as exc:
        raise ReplyError(f"themes must be a list of names and numbers, got {found!r:.200}") from exc
    numbers = [number for _, listed in themes for number in listed]
    if any(type(number) is not int for number in numbers) or sorted(numbers) != list(range(1, size + 1)):
        raise ReplyError(f"every number from 1 to {size} must stand in exactly one theme, got {numbers!r:.200}")
    if len(themes) > most or not all(name for name, _ in themes):
        raise ReplyError(f"at most {most} themes with names were asked for, got {[name for name, _ in themes]!r:.200}")
    return themes
