"""Where the rules of a run come from: an agent's YAML or a training YAML, with the line of every key."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from agentscope_tuner.config import SECTION, resolve
from agentscope_tuner.errors import ConfigError
from agentscope_tuner.rules import RuleSet, compile_rules
from agentscope_tuner.rules.problems import Problem, find_problems


@dataclass(frozen=True)
class RuleSource:
    """A `rules` section as it stands in a file.

    Args:
        path: the file.
        section: the dotted path of the section that holds `rules` and `rule_modules`.
        rules: the rules; None when the file has none.
        rule_modules: the modules that register custom kinds.
        nodes: the YAML nodes of the section, for line numbers.
        misplaced: problems on the path to the rules, each with its line: a key that stands twice, or is mistyped.
    """

    path: Path
    section: str
    rules: Any
    rule_modules: Any
    nodes: yaml.Node | None = field(default=None, repr=False)
    misplaced: tuple[tuple[int, Problem], ...] = ()

    @property
    def where(self) -> str:
        """The section's place, for messages."""
        return f"{self.path}: {self.section}.rules"

    def compile(self) -> RuleSet:
        """The rules, compiled; none when the file has none. Raises ConfigError for anything wrong with them."""
        found = self.problems()
        if found:
            count = "1 problem" if len(found) == 1 else f"{len(found)} problems"
            lines = "".join(f"\n- line {line}: {problem.describe('rules')}" for line, problem in found)
            raise ConfigError(f"{self.where} has {count}:{lines}")
        modules = [] if self.rule_modules is None else self.rule_modules
        return compile_rules([] if self.rules is None else self.rules, rule_modules=modules, where=self.where)

    def problems(self) -> list[tuple[int, Problem]]:
        """Everything wrong with the rules, each with its line in the file, in the order of the lines."""
        modules = [] if self.rule_modules is None else self.rule_modules
        found = find_problems([] if self.rules is None else self.rules, modules)
        rules = child(self.nodes, "rules")
        found += [Problem(f"key {key!r} stands twice", index, key) for index, key in _repeated_keys(rules)]
        placed = [*self.misplaced, *((self._line(problem), problem) for problem in found)]
        return sorted(placed, key=lambda pair: pair[0])

    def _line(self, problem: Problem) -> int:
        if problem.index is None:
            node = child(self.nodes, problem.key or "rules")
            return _line(node) or _line(self.nodes) or 1
        rules = child(self.nodes, "rules")
        if not isinstance(rules, yaml.SequenceNode) or problem.index >= len(rules.value):
            return _line(rules) or 1  # an interpolation: the rules stand elsewhere
        rule = rules.value[problem.index]
        if isinstance(rule, yaml.MappingNode):
            for key, _ in reversed(rule.value):
                if problem.key is not None and key.value == problem.key:
                    return _line(key) or 1
        return _line(rule) or 1


def agent_rules(agents_dir: Path, agent: str) -> RuleSource:
    """The `evaluation.rules` of an agent: ``<agents_dir>/<agent>.yaml``, or ``<agents_dir>/<agent>/agent.yaml``.

    Raises:
        ConfigError: there is no such agent, or its file is not YAML.
    """
    if not agent or agent != Path(agent).name:
        raise ConfigError(f"--agent must be the name of an agent in {agents_dir}, got {agent!r}")
    candidates = (agents_dir / f"{agent}.yaml", agents_dir / agent / "agent.yaml")
    for path in candidates:
        if path.is_file():
            return _source(path, "evaluation")
    known = sorted(
        {path.stem for path in agents_dir.glob("*.yaml")}
        | {path.parent.name for path in agents_dir.glob("*/agent.yaml")}
    )
    raise ConfigError(
        f"agent {agent!r} has neither {candidates[0]} nor {candidates[1]}; agents here: {', '.join(known) or 'none'}"
    )


def config_rules(path: Path) -> RuleSource:
    """The `astuner.task_judge.rules` of a training YAML.

    Raises:
        ConfigError: the file cannot be read, or its `astuner.task_judge` section is wrong.
    """
    section = resolve(path).task_judge
    source = _source(path, SECTION)
    # The values as training reads them, with interpolations resolved
    return RuleSource(path, SECTION, section.rules or None, section.rule_modules, source.nodes, source.misplaced)


def _source(path: Path, section: str) -> RuleSource:
    try:
        text = path.read_text(encoding="utf-8-sig")
        loader = yaml.SafeLoader(text)
        try:
            node = loader.get_single_node()
            misplaced = tuple(_misplaced(node, (*section.split("."), "rules")))
            for name in section.split("."):
                node = child(node, name)
            values = {} if node is None else loader.construct_document(node)
        finally:
            loader.dispose()
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as exc:
        raise ConfigError(f"cannot read {str(path)!r}: {exc}") from exc
    if values is None:
        values = {}
    if not isinstance(values, dict):
        raise ConfigError(f"{path}: {section} must be a mapping, got {values!r}")
    return RuleSource(path, section, values.get("rules"), values.get("rule_modules"), node, misplaced)


def child(node: yaml.Node | None, key: str) -> yaml.Node | None:
    """The node under `key` in a YAML mapping; None where there is no such key."""
    if isinstance(node, yaml.MappingNode):
        for name, value in node.value:
            if name.value == key:
                return value  # type: ignore[no-any-return]
    return None


def _misplaced(node: yaml.Node | None, names: tuple[str, ...]) -> Iterator[tuple[int, Problem]]:
    """The problems on the path `names` because of which the rules at its end would be overlooked."""
    for name in names:
        if not isinstance(node, yaml.MappingNode):
            return
        keys = {key.value: key for key, _ in node.value if isinstance(key.value, str)}
        for key, count in Counter(key.value for key, _ in node.value if isinstance(key.value, str)).items():
            if count > 1:
                yield _line(keys[key]) or 1, Problem(f"key {key!r} stands twice", key=key)
        close = difflib.get_close_matches(name, keys, n=1, cutoff=0.8)
        if name not in keys and close:
            yield _line(keys[close[0]]) or 1, Problem(f"unknown key {close[0]!r}: did you mean {name!r}?", key=close[0])
        node = child(node, name)


def _line(node: yaml.Node | None) -> int | None:
    return None if node is None else node.start_mark.line + 1


def _repeated_keys(rules: yaml.Node | None) -> list[tuple[int, str]]:
    # YAML's reader silently takes the last of two equal keys
    found = []
    for index, rule in enumerate(rules.value if isinstance(rules, yaml.SequenceNode) else ()):
        names = [key.value for key, _ in rule.value] if isinstance(rule, yaml.MappingNode) else []
        found += [(index, name) for name in sorted(set(names)) if names.count(name) > 1]
    return found
