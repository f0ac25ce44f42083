"""YAML files of configurations: how they are read, and the way out where one cannot be."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from agentscope_tuner.errors import ConfigError


def read_source(source: str | Path | Mapping[str, Any] | DictConfig | None) -> DictConfig:
    """The configuration in a YAML file, or one that was read before.

    Raises:
        ConfigError: the file cannot be read, or is no YAML with a mapping at its top.
    """
    if source is None:
        return OmegaConf.create({})
    if isinstance(source, DictConfig):
        return source
    if isinstance(source, Mapping):
        return OmegaConf.create(dict(source))
    if not isinstance(source, str | Path):
        raise ConfigError(f"a configuration is a YAML file's path or a mapping, got {type(source).__name__}")
    try:
        loaded = OmegaConf.load(source)
    except FileNotFoundError as exc:
        raise ConfigError(f"no configuration file {str(source)!r}{_nearest(Path(source))}") from exc
    except IsADirectoryError as exc:
        there = sorted(path.name for path in Path(source).glob("*.y*ml"))
        named = f": name one of its files, {', '.join(there[:3])}" if there else ", and holds no .yaml"
        raise ConfigError(f"{str(source)!r} is a folder{named}") from exc
    except UnicodeDecodeError as exc:
        told = f"cannot read the configuration file {str(source)!r}: it is not in UTF-8"
        raise ConfigError(f"{told}, so save it as UTF-8 ({exc})") from exc
    except OSError as exc:
        raise ConfigError(f"cannot read the configuration file {str(source)!r}: {exc}") from exc
    except RecursionError as exc:
        raise ConfigError(f"the configuration file {str(source)!r} is nested too deeply") from exc
    except yaml.YAMLError as exc:
        raise ConfigError(f"{str(source)!r} {unreadable(exc, Path(source))}") from exc
    except (*UNFIT, OmegaConfBaseException) as exc:
        raise ConfigError(f"{str(source)!r} holds a value that does not fit its tag, such as `!!int x`: {exc}") from exc
    if not isinstance(loaded, DictConfig):
        raise ConfigError(f"{str(source)!r} must hold a mapping at its top, such as `astuner:`, got a list")
    if (lost := _LOST_BACKSLASH.search(repr(OmegaConf.to_container(loaded)))) is not None:
        told = f"{str(source)!r} holds a control character before {lost[1]!r}"
        raise ConfigError(f"{told}: in double quotes YAML reads a backslash so; write single quotes")
    return loaded


# As Python shows a text in which YAML read the backslash of `"\boxed"` or `"\frac"` as the beginning of an escape
_LOST_BACKSLASH = re.compile(r"(?<!\\)\\x(?:07|08|0b|0c|1b)([a-zA-Z]{2,12})")


#: What the constructors of YAML's own tags raise for a value that does not fit.
UNFIT = (ValueError, KeyError, AttributeError)
_TAG = re.compile(r"could not determine a constructor for the tag '(?:tag:yaml.org,2002:)?(.*)'")


def unreadable(exc: yaml.YAMLError, path: Path) -> str:
    """The reason why a YAML file cannot be read, to follow the file's name in a message, with the remedy if one is
    known.
    """
    mark = getattr(exc, "problem_mark", None)
    if mark is None or (tag := _TAG.fullmatch(str(getattr(exc, "problem", "")))) is None:
        return f"is not valid YAML: {yaml_hint(exc, path)}{exc}"
    name = tag[1] if tag[1].startswith("!") else f"!!{tag[1]}"
    told = "a tag says which object to build of a value, and so may run code, and a configuration holds plain values"
    return f"has the tag {name} in line {mark.line + 1}, and tags are refused: {told}: write the value without it"


def yaml_hint(exc: yaml.YAMLError, path: Path) -> str:
    """A hint for the commonest mistakes in YAML, such as a tab, because YAML's own messages are hard to understand;
    empty for other mistakes.
    """
    if path.suffix in (".jsonl", ".csv", ".tsv"):
        return "it looks like a file of rows, which --input takes; --conf takes the YAML. "
    if "expected a single document" in str(getattr(exc, "context", "")):
        return "a line `---` parts it in two: remove it. "
    mark, begun = getattr(exc, "problem_mark", None), getattr(exc, "context_mark", None)
    lines = path.read_text(encoding="utf-8").splitlines()
    if twice := re.fullmatch(r"found duplicate key (.+)", str(getattr(exc, "problem", ""))):
        two = "`judge: combined` and `parts: {a: {judge: math}, b: {judge: length}}`"
        both = f"; to ask two judges, write {two}" if twice[1] in ("task_judge", "judge") else ""
        return f"{twice[1]!r} stands twice in one mapping: join the two, or remove one{both}. "
    wide = next((number for number, line in enumerate(lines[: mark.line + 1] if mark else (), 1) if "：" in line), None)
    if wide is not None and "mapping values" in str(getattr(exc, "problem", "")):
        return f"line {wide} has a full-width colon, ：: YAML takes a plain one. "
    if mark is not None and "escape character" in str(getattr(exc, "problem", "")):
        return f"a backslash in double quotes begins an escape in line {mark.line + 1}: use single quotes. "
    if begun is not None and "quoted scalar" in str(getattr(exc, "context", "")):
        return f"the quote in line {begun.line + 1} is not closed. "
    if mark is None or mark.line >= len(lines):
        return ""
    line = lines[mark.line]
    if re.match(r" *\t", line):
        return f"line {mark.line + 1} is indented with a tab: YAML takes spaces. "
    if "mapping values" in str(getattr(exc, "problem", "")) and mark.line:
        before, here = (re.match(r"( *)\S", one) for one in (lines[mark.line - 1], line))
        if before and here and len(here[1]) > len(before[1]):
            told = f"line {mark.line + 1} is indented further than line {mark.line}, which has its value already"
            return f"{told}: begin both in one column. "
    if (gap := re.search(r"\{\{ ?\w+ ?\}\}", line)) is not None:
        return f"it is a template, with a gap {gap[0]} in line {mark.line + 1}: fill its gaps first. "
    if (variable := re.search(r"\$\{[\w.:]+\}", line)) is not None:
        return f'write it in quotes, "{variable[0]}": a brace begins a mapping. '
    if begun is not None and "block mapping" in str(getattr(exc, "context", "")):
        told = f"line {mark.line + 1} begins in column {mark.column + 1}, and no key above it does"
        return f"{told}: keys of one mapping begin in one column. "
    return ""


def _nearest(path: Path) -> str:
    """The advice for a configuration file that does not exist: what could be meant."""
    if path.is_symlink():
        return f": it is a link to {os.readlink(path)!r}, which is not there"
    if re.search(r":\s|\n|\{", str(path)):
        return ": it is YAML text, and a path or a mapping is taken: `load_judge(yaml.safe_load(TEXT))`"
    if path.suffix == "" and path.name.isidentifier():
        example = {"astuner": {"task_judge": {"judge": path.name}}}
        return f": name a YAML file; in Python a mapping is taken, too, such as {example}"
    there = {each.name.lower(): each for each in path.parent.glob("*") if each.suffix.lower() in (".yaml", ".yml")}
    if near := difflib.get_close_matches(path.name.lower(), there, n=1, cutoff=0.7):
        return f": did you mean {str(there[near[0]])!r}?"
    return ": `astuner init math FOLDER` writes one"
