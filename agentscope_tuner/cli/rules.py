"""`astuner rules`: run rules over a table, count what fired, and look at rules before they run.

Rules come from an agent's YAML or from a training YAML; problems are reported with their lines.
"""

from __future__ import annotations

import difflib
import json
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer
import yaml
from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table

from agentscope_tuner.cli.console import Exit, config_errors, err, fail, out, progress, say, table
from agentscope_tuner.cli.options import Json
from agentscope_tuner.config import SECTION, resolve
from agentscope_tuner.errors import Cause, ConfigError, JudgeError, importing, told
from agentscope_tuner.rules import RULE_HANDLERS, RuleSet, compile_rules
from agentscope_tuner.rules.kinds import KINDS, is_built_in
from agentscope_tuner.rules.rule_set import Problem, all_of, find_problems, import_rule_modules
from agentscope_tuner.rules.table_run import FlowTally, OnProblem, OnRow, RuleTally, check_table, count_table


@dataclass(frozen=True)
class RuleSource:
    """A `rules` section as it stands in a file.

    Args:
        path: the file.
        section: the dotted path of the section that holds `rules` and `rule_modules`.
        rules: the rules; empty when the file has none.
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
        if found := self.problems():
            raise all_of(self.where, [f"line {line}: {problem.describe('rules')}" for line, problem in found])
        return compile_rules(self.rules, rule_modules=self.rule_modules, where=self.where)

    def problems(self) -> list[tuple[int, Problem]]:
        """Everything wrong with the rules, each with its line in the file, in the order of the lines."""
        found = find_problems(self.rules, self.rule_modules)
        rules = child(self.nodes, "rules")
        found += [Problem(f"key {key!r} stands twice", index, key) for index, key in _repeated_keys(rules)]
        placed = [*self.misplaced, *((self._line(problem), problem) for problem in found)]
        return sorted(placed, key=lambda pair: pair[0])

    def _line(self, problem: Problem) -> int:
        if problem.index is None:
            return _line(child(self.nodes, problem.key or "rules")) or _line(self.nodes) or 1
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
            return _read_source(path, "evaluation")
    files = {path.stem for path in agents_dir.glob("*.yaml")}
    known = sorted(files | {path.parent.name for path in agents_dir.glob("*/agent.yaml")})
    said = f"agents here: {', '.join(known) or 'none'}"
    raise ConfigError(f"agent {agent!r} has neither {candidates[0]} nor {candidates[1]}; {said}")


def config_rules(path: Path) -> RuleSource:
    """The `astuner.task_judge.rules` of a training YAML, or the `evaluation.rules` of an agent's file.

    Raises:
        ConfigError: the file cannot be read, or its `astuner.task_judge` section is wrong.
    """
    source = _read_source(path, SECTION)
    if source.nodes is None and (agents := _read_source(path, "evaluation")).nodes is not None:
        return agents
    section = resolve(path).task_judge
    # The values as training reads them, with interpolations resolved
    return RuleSource(path, SECTION, section.rules, section.rule_modules, source.nodes, source.misplaced)


def _read_source(path: Path, section: str) -> RuleSource:
    with told(f"cannot read {str(path)!r}"):
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
    if values is None:
        values = {}
    if not isinstance(values, dict):
        raise ConfigError(f"{path}: {section} must be a mapping, got {values!r}")
    own = {key: value for key, value in values.items() if value is not None}
    return RuleSource(path, section, own.get("rules", []), own.get("rule_modules", []), node, misplaced)


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


_MOST_PAIRS = 10


def tally_report(tally: RuleTally, title: str) -> RenderableType:
    """Verdicts (per flow where there are flows), each rule's count and share, and the rules that fire together."""
    verdicts = table(title, "", "total", "passed", "failed", "unchecked", "pass rate")
    for column in verdicts.columns[1:]:
        column.justify = "right"
    _add_verdicts(verdicts, "all" if set(tally.flows) - {""} else "outputs", tally.overall)
    if set(tally.flows) - {""}:
        for flow, counts in tally.flows.items():
            _add_verdicts(verdicts, flow or "output", counts)
    parts: list[RenderableType] = [verdicts]
    if tally.overall.rules:
        parts.append(_rule_table(tally))
    if tally.overall.together:
        pairs = table("fire together", "rule", "together with", "count")
        for (first, second), count in tally.overall.together.most_common(_MOST_PAIRS):
            pairs.add_row(escape(first), escape(second), str(count))
        parts.append(pairs)
    return Group(*parts)


def _add_verdicts(verdicts: Table, name: str, counts: FlowTally) -> None:
    numbers = counts.total, counts.passed, counts.failed, counts.unchecked
    verdicts.add_row(escape(name), *map(str, numbers), _percent(counts.pass_rate))


def _rule_table(tally: RuleTally) -> Table:
    flows = sorted(set(tally.flows) - {""}) and list(tally.flows)
    found = table("", "rule", "count", "share", *(escape(flow or "output") for flow in flows))
    for rule, count in tally.overall.rules.most_common():
        per_flow = (str(tally.flows[flow].rules[rule]) for flow in flows)
        found.add_row(escape(rule), str(count), _percent(tally.overall.share(count)), *per_flow)
    return found


def _percent(share: float | None) -> str:
    return "no verdicts" if share is None else f"{share:.1%}"


def plot_tally(tally: RuleTally, path: Path) -> None:
    """Write a bar chart of each rule's count, a bar a flow; PNG or SVG by the ending of `path`.

    Raises:
        ConfigError: another ending, matplotlib is not installed, or the file cannot be written.
    """
    if path.suffix.lower() not in (".png", ".svg"):
        raise ConfigError(f"--plot must end in .png or .svg, got {str(path)!r}")
    with importing("--plot needs matplotlib", "report"):
        from matplotlib.figure import Figure
        from matplotlib.ticker import MaxNLocator
    rules = [rule for rule, _ in tally.overall.rules.most_common()]
    flows = list(tally.flows)
    figure = Figure(figsize=(8, 1.5 + 0.4 * max(len(rules), 1) * max(len(flows), 1)), layout="constrained")
    axes = figure.subplots()
    height = 0.8 / max(len(flows), 1)
    for place, flow in enumerate(flows):
        positions = [index + place * height for index in range(len(rules))]
        bars = axes.barh(positions, [tally.flows[flow].rules[rule] for rule in rules], height, label=flow or "output")
        axes.bar_label(bars, padding=3)
    axes.set_yticks([index + 0.4 - height / 2 for index in range(len(rules))], rules)
    axes.invert_yaxis()
    axes.margins(x=0.1)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel("outputs that break the rule")
    axes.set_title(f"{tally.overall.failed} of {tally.overall.passed + tally.overall.failed} outputs fail")
    if len(flows) > 1:
        axes.legend()
    with told(f"cannot write {str(path)!r}"):
        figure.savefig(path)


_MOST_PROBLEMS = 20
_ROWS_A_DRAWING = 1024
_DEFAULTS = {True: " (default true)", False: " (default false)", None: " (optional)"}

app = typer.Typer(
    name="rules",
    help="Check a table of results by rules, and count what breaks them.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Agent = Annotated[str | None, typer.Option("--agent", help="Rules of this agent: `evaluation.rules` of its YAML.")]
AgentsDir = Annotated[Path, typer.Option("--agents-dir", help="The folder of <agent>.yaml or <agent>/agent.yaml.")]
Conf = Annotated[Path | None, typer.Option("--conf", help="Rules of this training YAML: `astuner.task_judge.rules`.")]
InFile = Annotated[Path, typer.Option("--input", "--infile", help="A table: .csv, .tsv, .jsonl or .parquet.")]
Encoding = Annotated[str, typer.Option("--encoding", help="The encoding of a text table, such as gb18030.")]
Modules = Annotated[list[str] | None, typer.Option("--module", help="A module that adds kinds to RULE_HANDLERS.")]


@app.command(epilog="Example: astuner rules run --conf train.yaml --input rows.csv --output checked.csv")
def run(
    infile: InFile,
    outfile: Annotated[Path, typer.Option("--output", "--outfile", help="The same table with verdict columns added.")],
    agent: Agent = None,
    agents_dir: AgentsDir = Path("configs/agents"),
    conf: Conf = None,
    output_column: Annotated[str, typer.Option("--output-column", help="The column that rules look at.")] = "output",
    encoding: Encoding = "utf-8",
    as_json: Json = False,
) -> None:
    """Add rule_pass and rule_violations to every row. Exit code 3 when a row could not be checked; it is kept."""
    with config_errors():
        source = _chosen_source(agent, agents_dir, conf)
        if not (rules := source.compile()):
            say(f"{source.where}: no rules: every row gets rule_pass 1", to=err)
        started = time.perf_counter()
        with _watched(infile) as (problem, row):
            tally = check_table(
                infile, outfile, rules, output_column=output_column, encoding=encoding, on_problem=problem, on_row=row
            )
    if as_json:
        print(json.dumps({"output": str(outfile), **tally.to_dict()}, ensure_ascii=False))
    else:
        out.print(tally_report(tally, f"{infile} ▸ {outfile}"))
        out.print(f"{tally.rows / (time.perf_counter() - started):,.0f} rows per second", highlight=False)
    if tally.overall.unchecked:
        raise typer.Exit(Exit.ROWS_FAILED)


@app.command(epilog="Example: astuner rules stats --input checked.csv")
def stats(
    infile: InFile,
    as_json: Json = False,
    plot: Annotated[Path | None, typer.Option("--plot", help="Write a bar chart to this .png or .svg.")] = None,
    encoding: Encoding = "utf-8",
) -> None:
    """Count the verdicts of a table that `rules run` wrote."""
    with config_errors():
        with _watched(infile) as (on_problem, on_row):
            tally = count_table(infile, encoding=encoding, on_problem=on_problem, on_row=on_row)
        if plot is not None:
            plot_tally(tally, plot)
    if as_json:
        print(json.dumps(tally.to_dict(), ensure_ascii=False, indent=2))
    else:
        out.print(tally_report(tally, str(infile)))


@app.command("list", epilog="Example: astuner rules list")
def list_kinds(module: Modules = None, as_json: Json = False) -> None:
    """The kinds of rule, their parameters, and an example of each."""
    with config_errors():
        _import(module)
    kinds, parameters = dict[str, dict[str, Any]](), dict[str, str]()
    for name, handler in RULE_HANDLERS.items():
        kinds[name], parameters[name] = {"holds": _first_line(handler), "example": None}, "its own"
        if is_built_in(name):
            kind = KINDS[name]
            kinds[name] = {"holds": kind.meaning, "example": kind.example}
            said = (f"{each.name}: {each.shape}{_DEFAULTS.get(each.default, '')}" for each in kind.parameters)
            parameters[name] = "\n".join(said) or "none"
    if as_json:
        print(json.dumps(kinds))
        return
    found = table("", "kind", "holds when the text is", "parameters", "example")
    found.show_lines = True
    for name, about in kinds.items():
        example = json.dumps(about["example"], ensure_ascii=False) if about["example"] else ""
        found.add_row(*map(escape, (name, about["holds"], parameters[name], example)))
    out.print(found)
    say(
        "Every rule also takes target (output, query or metadata.<key>; default output), action (mark_bad or record;\n"
        "default mark_bad) and not (true turns the rule round; default false)."
    )


def _first_line(handler: object) -> str:
    return (handler.__doc__ or "").strip().split("\n")[0]


@app.command(epilog="Example: astuner rules validate --conf train.yaml")
def validate(
    agent: Agent = None,
    agents_dir: AgentsDir = Path("configs/agents"),
    conf: Conf = None,
    as_json: Json = False,
) -> None:
    """Report every problem of a rules section with its line. Exit code 2 when there is any."""
    with config_errors():
        source = _chosen_source(agent, agents_dir, conf)
    problems = source.problems()
    if as_json:
        said = [{"line": line, "problem": problem.describe("rules")} for line, problem in problems]
        print(json.dumps({"file": str(source.path), "rules": len(source.rules), "problems": said}))
    for line, problem in () if as_json else problems:
        say(f"{source.path}:{line}: {problem.describe('rules')}", to=err)
    if problems:
        raise typer.Exit(Exit.BAD_USAGE)
    count = len(source.rules)
    if not as_json:
        say(f"{source.where}: {count} rules, no problems" if count else f"{source.where}: no rules")


@app.command("try", epilog="Example: astuner rules try --rule '{kind: max_chars, max_chars: 9}' --text 'a long text'")
def try_rule(
    rule: Annotated[str, typer.Option("--rule", help="One rule, as JSON or YAML: '{kind: max_chars, max_chars: 9}'.")],
    text: Annotated[str, typer.Option("--text", help="The text to check, whatever the rule's target is.")],
    module: Modules = None,
    as_json: Json = False,
) -> None:
    """Check one rule against one text."""
    with config_errors():
        with told(f"--rule must be one rule as JSON or YAML, got {rule!r}", yaml.YAMLError):
            parsed = yaml.safe_load(rule)
        if not isinstance(parsed, dict):
            raise ConfigError(f"--rule must be a mapping such as {{kind: non_empty}}, got {parsed!r}")
        rules = compile_rules([{"id": "rule", **parsed}], rule_modules=module or (), where="--rule")
    metadata = {target.removeprefix("metadata."): text for target in rules.targets}
    try:
        violations = rules.check(text, query=text, metadata=metadata)
        if violations and violations[0].unfinished:
            raise JudgeError(f"rule 'rule' {violations[0].unfinished}", cause=Cause.DEADLINE)
    except JudgeError as exc:
        say(f"not decided: {exc}", to=err)
        raise typer.Exit(Exit.ROWS_FAILED) from exc
    if as_json:
        print(json.dumps({"violated": bool(violations)}))
    else:
        say(f"violated: {violations[0].action}" if violations else "holds")


def _chosen_source(agent: str | None, agents_dir: Path, conf: Path | None) -> RuleSource:
    if agent is not None and conf is None:
        return agent_rules(agents_dir, agent)
    if conf is not None and agent is None:
        return config_rules(conf)
    raise fail("name the rules by one of --agent and --conf")


def _import(modules: list[str] | None) -> None:
    if problems := import_rule_modules(modules or []):
        raise ConfigError("\n".join(problem.message for problem in problems))


@contextmanager
def _watched(infile: Path) -> Iterator[tuple[OnProblem, OnRow]]:
    """Two functions to call: for problems (the first are printed), and for progress (shown on a terminal only)."""
    problems = 0

    def on_problem(line: int, reason: str) -> None:
        nonlocal problems
        problems += 1
        if problems <= _MOST_PROBLEMS:
            say(f"{infile}:{line}: {reason}", to=err)

    with progress() as shown:
        bar = shown.add_task("0 rows", total=1.0)

        def on_row(rows: int, share_read: Callable[[], float]) -> None:
            if rows % _ROWS_A_DRAWING == 0:
                shown.update(bar, description=f"{rows:,} rows", completed=share_read())

        yield on_problem, on_row
    if problems > _MOST_PROBLEMS:
        say(f"{infile}: {problems - _MOST_PROBLEMS} more problems", to=err)
