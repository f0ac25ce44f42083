"""`astuner migrate`: AgentJet's YAML, with the judge under `astuner.task_judge` and everything else as it was."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, get_args

import typer
import yaml

from agentscope_tuner.cli.console import config_errors, fail, say
from agentscope_tuner.cli.console import err as stderr
from agentscope_tuner.cli.options import Json
from agentscope_tuner.config import TaskJudgeConfig
from agentscope_tuner.config.sections import UPSTREAM_KEYS
from agentscope_tuner.config.yaml_files import UNFIT, unreadable
from agentscope_tuner.errors import told
from agentscope_tuner.storage import write_whole

_HOME = "agentscope_tuner.task_judge"
# AgentJet's section, under its name of today and the two before
_TRAINERS = ("ajet", "astuner", "astune")
# The judge of AgentJet's own defaults, which stand in a file of one of these names
_DEFAULT = "ajet.task_judge.env_service_as_judge->EnvServiceJudge"
_DEFAULTS = frozenset(f"{name}_default" for name in _TRAINERS)
_ADAPTER = "agentscope_tuner.adapters.agentjet->AstunerJudge"
_OWN_JUDGE = "agentscope_tuner.adapters.agentjet->AgentJetJudge"
# AgentJet's judges that this package has, too, by the module's last name and the class
_OURS = {
    "env_service_as_judge->EnvServiceJudge",
    "math_answer_as_judge->MathAnswerAsJudge",
    "countdown_answer_as_judge->CountdownAnswerAsJudge",
}
# It asks a model about every answer; ours asks one about what the math rules leave open
_MATH_AND_LLM = "math_answer_as_judge->MathAnswerAndLlmAsJudge"
_DASHSCOPE = "https://dashscope.aliyuncs.com/compatible-mode/v1"
_RUBRICS = "rubrics_auto_grader"
_OUR_TYPES = {*get_args(TaskJudgeConfig.model_fields["judge_type"].annotation)} - {"customized_protocol", _RUBRICS}
_RENAMED = {"generate_number": "query_specific_generate_number"}
_AGGREGATION = {"keep_all": False, "merge_similar": True}
# What AgentJet's default files set, and a file that inherits them may leave out
_INHERITED = {
    "alien_llm_model": "qwen3-235b-a22b-instruct-2507",
    "alien_llm_response_length": 512,
    "model_name": "qwen-max",
    "max_score": 1,
}
_CHECK = "so check it with `astuner check`"


@dataclass
class _Migrated:
    """Our `task_judge`, and what a reader should know of how it came about.

    Attributes:
        section: our `task_judge`.
        asked: whether the trainer asks a judge at all.
        notes: remarks for the reader, such as settings without an equivalent.
        own: the settings of the user's own judge, which its class reads from the trainer's section.
    """

    section: dict[str, Any]
    asked: bool = True
    notes: list[str] = field(default_factory=list)
    own: dict[str, Any] = field(default_factory=dict)


def migrate(
    conf: Annotated[Path, typer.Argument(help="AgentJet's YAML.", exists=True, dir_okay=False)],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="By default standard output.")] = None,
    as_json: Json = False,
) -> None:
    """Write a copy of an AgentJet YAML that uses astuner's judge, and list the settings that have no equivalent.

    AgentJet then asks astuner's judge, to which rules and a deadline can be added.
    """
    try:
        text, notes = migrated(conf.read_text(encoding="utf-8"))
    except yaml.YAMLError as exc:
        raise fail(f"{str(conf)!r} {unreadable(exc, conf)}") from exc
    except (OSError, *UNFIT) as exc:
        raise fail(f"{str(conf)!r}: {exc}") from exc
    if output is None:
        if not as_json:
            sys.stdout.write(text)
    elif os.path.exists(output):
        raise fail(f"{str(output)!r} is there already: name another file")
    else:
        with config_errors(), told(f"cannot write {str(output)!r}"):
            write_whole(output, text)
    if as_json:
        print(json.dumps({"output": str(output) if output else None, "notes": notes, "yaml": text}))
        return
    for note in notes:
        say(f"- {note}", to=stderr)
    say(f"next: astuner check --conf {output or 'FILE'}", to=stderr)


# One of these is in each section that configures a training, and none where data is only generated
_OF_TRAINING = frozenset({"task_judge", "rollout", "model", "data"})


def migrated(text: str) -> tuple[str, list[str]]:
    """AgentJet's YAML `text` with our section, and notes for the reader. All but the judge's own lines stays as it is.

    Raises:
        ValueError: the text has no section of AgentJet's, or has ours already; or it is written in a way in which
            its lines cannot be replaced.
    """
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    whole = yaml.safe_load(text)
    if not isinstance(root, yaml.MappingNode) or not (name := next((key for key in _TRAINERS if key in whole), None)):
        raise ValueError(f"no section {', '.join(_TRAINERS)}: this is no configuration of AgentJet's")
    if not isinstance(whole[name], Mapping):
        raise ValueError(f"{name} must be a mapping, got {whole[name]!r:.200}")
    if name != "astuner" and "astuner" in whole:
        raise ValueError(f"it has a section `astuner` beside `{name}` already: it is migrated, {_CHECK}")
    judge = whole[name].get("task_judge")
    if not isinstance(judge, Mapping | None):
        raise ValueError(f"{name}.task_judge must be a mapping, got {judge!r:.200}")
    named = "judge_protocol" in (judge or {})
    listed = whole.get("defaults") if isinstance(whole.get("defaults"), list) else []
    others = [each for each in listed if isinstance(each, str) and each.startswith(_TRAINERS)]
    if not named and others and not _DEFAULTS & {*others}:
        raise ValueError(f"it names no judge: copy {name}.task_judge from {others[-1]!r}, which its `defaults` name")
    if not named and "defaults" not in whole and _OF_TRAINING.isdisjoint(whole[name]):
        raise ValueError(f"{name} has none of {', '.join(sorted(_OF_TRAINING))}, and no `defaults`: it trains nothing")
    found = _translated(judge or {}, named=named, inherits=bool(_DEFAULTS & {*others}))
    if name == "astuner" and _is_ours(judge or {}):
        raise ValueError(f"astuner.task_judge names a judge of astuner's: it is migrated, {_CHECK}")
    section = _value(root, name)
    keys = [key.value for key, _ in section.value]
    if twice := next((key for key in keys if keys.count(key) > 1), None):
        raise ValueError(f"{name}.{twice} stands there twice, and only the last would count: join the two")
    if name == "astuner":
        _share(found)
        made = _with_judge(text, section, found.section)
        return _checked(made, {**whole, name: {**whole[name], "task_judge": found.section}}), found.notes
    expected = {**whole, "astuner": {"task_judge": found.section}}
    if found.asked:
        asked = {**_asked(name, judge or {}), **found.own}
        text = _with_judge(text, section, asked)
        expected[name] = {**whole[name], "task_judge": asked}
    ours = yaml.safe_dump({"astuner": {"task_judge": found.section}}, sort_keys=False, allow_unicode=True)
    made = f"{text.rstrip()}\n\n# Which judge, its rules and its deadline: docs/judge_reference.md\n{ours}"
    return _checked(made, expected), found.notes


def _asked(name: str, judge: Mapping[str, Any]) -> dict[str, Any]:
    """The keys of AgentJet's `task_judge` by which it asks our adapter. `name` is that of AgentJet's section; its first
    version spells `customized_protocol` differently.
    """
    given = judge.get("judge_type")
    if given == _RUBRICS:
        given = "customized_protocal" if name == "astune" else "customized_protocol"
    return {**({} if given is None else {"judge_type": given}), "judge_protocol": _ADAPTER}


def _share(found: _Migrated) -> None:
    """Change our section so that the AgentJet of that time can read it, too: it needs the judge as a class."""
    if found.section.get("judge_type") == _RUBRICS:
        del found.section["judge_type"]
        found.section = {"judge_protocol": f"{_HOME}.rm_auto_grader_judge->AutoGraderJudge", **found.section}
    if found.own:
        found.section["judge_kwargs"]["settings"] = found.own
    found.notes.append(
        "AgentJet of that time reads this section, too, and asks the judge itself, without our rules and deadline; for "
        "these, call the section `ajet` in the old file, migrate it again, and train with today's AgentJet"
    )


def _checked(text: str, expected: Mapping[str, Any]) -> str:
    """`text`, if it means `expected`: some ways of writing YAML cannot be changed line by line."""
    try:
        same = yaml.safe_load(text) == expected
    except yaml.YAMLError:
        same = False
    if not same:
        forms = "anchors, aliases, texts of several lines (| or >) and `...`"
        raise ValueError(f"its task_judge cannot be replaced line by line: write the section without {forms}")
    return text


def _is_ours(judge: Mapping[str, Any]) -> bool:
    """Whether a section named `astuner` is this package's, and not an early AgentJet's: it names its judge in a way
    that only this package reads.
    """
    # AgentJet reads no other type as a judge's own name; its early files spell the first one `customized_protocal`
    ours = judge.get("judge_type") in _OUR_TYPES
    protocol = judge.get("judge_protocol")
    short = isinstance(protocol, str) and "->" not in protocol
    # AgentJet's package once had our name, and its keys beside the judge; we refuse them
    by_path = str(protocol).startswith("agentscope_tuner.") and not UPSTREAM_KEYS.keys() & judge.keys()
    return ours or short or judge.get("judge") is not None or by_path


def _translated(judge: Mapping[str, Any], *, named: bool, inherits: bool) -> _Migrated:
    """AgentJet's `task_judge` as ours; the file may inherit AgentJet's defaults."""
    kept = {key: value for key, value in judge.items() if key in TaskJudgeConfig.model_fields}
    for key in ("judge_type", "judge_protocol", _RUBRICS):
        kept.pop(key, None)
    unknown = [key for key in judge if key not in TaskJudgeConfig.model_fields]
    if _learns_rubrics(judge, named=named):
        return _rubrics(judge, kept, unknown, inherits)
    notes = [_unknown(f"task_judge.{key}", key) for key in unknown]
    if not named and (strange := next((key for key in unknown if key not in UPSTREAM_KEYS), None)):
        # Settings of a judge that is named in a way we cannot read: the default's verdicts would stand for its own
        way_out = f"write judge_protocol: module->Class, or delete {strange!r}"
        raise ValueError(f"task_judge has {strange!r} and no judge_protocol, which names a judge: {way_out}")
    protocol = judge.get("judge_protocol") if named else _DEFAULT
    if protocol is None:
        told = (
            "no judge is named: the workflows set the reward, and AgentJet asks no judge, so that no rule or deadline "
            "of ours runs in training; `astuner judge` checks those rewards"
        )
        protocol = f"{_HOME}.workflow_reward_as_judge->WorkflowRewardJudge"
        return _Migrated({"judge_protocol": protocol, **kept}, asked=False, notes=[*notes, told])
    if not named:
        notes.append(f"no judge is named: AgentJet's default is {_DEFAULT}, behind a reward that the workflow sets")
    if (own := str(protocol).rpartition(".")[2]) in _OURS:
        return _Migrated({"judge_protocol": f"{_HOME}.{own}", **kept}, notes=notes)
    if own == _MATH_AND_LLM:
        return _verifier(judge, kept, [key for key in unknown if key not in _INHERITED])
    return _own_judge(protocol, judge)


def _own_judge(protocol: object, judge: Mapping[str, Any]) -> _Migrated:
    """The section for the user's own judge. All keys but its name are settings that only its class understands."""
    own = {key: value for key, value in judge.items() if key not in ("judge_type", "judge_protocol")}
    told = f"{protocol} is your own: it is asked as it is, under our rules and deadline, where it can be imported"
    if own:
        told += f"; {', '.join(own)} stay where it reads them"
    return _Migrated({"judge_protocol": _OWN_JUDGE, "judge_kwargs": {"protocol": protocol}}, notes=[told], own=own)


def _verifier(judge: Mapping[str, Any], kept: Mapping[str, Any], unknown: list[str]) -> _Migrated:
    """The nearest equivalent of AgentJet's judge that asks a model whether an answer matches the reference."""
    model, tokens = (judge.get(key) or _INHERITED[key] for key in ("alien_llm_model", "alien_llm_response_length"))
    verifier = {"preset": "xverify", "model_name": model, "client": {"max_tokens": tokens}}
    if not str(model).startswith("qwen"):
        # AgentJet asks DashScope for every model
        verifier["base_url"] = _DASHSCOPE
    notes = [_unknown(f"task_judge.{key}", key) for key in unknown]
    notes.append(
        f"AgentJet's {_MATH_AND_LLM.rpartition('>')[2]} asks {model} about every answer. Here the math judge decides "
        "first, by the answer in \\boxed{}, and the model is asked about what it can neither read nor decide; "
        "verifier.escalate: [unread, undecided, different] asks about all that it finds wrong, too"
    )
    notes.append("DASHSCOPE_API_KEY with several keys, as in A|B: here they are a list, verifier.api_key: [A, B]")
    protocol = f"{_HOME}.verifier_judge->VerifierJudge"
    return _Migrated({"judge_protocol": protocol, "verifier": verifier, **kept}, notes=notes)


def _learns_rubrics(judge: Mapping[str, Any], *, named: bool) -> bool:
    """Whether AgentJet's learned rubrics judge: by their type; or in their first form, with the settings beside."""
    if judge.get("judge_type") == _RUBRICS:
        return True
    return not named and ("AutoGrader" in str(judge.get("class_name")) or "grader_mode" in judge)


def _rubrics(judge: Mapping[str, Any], kept: Mapping[str, Any], beside: list[str], inherits: bool) -> _Migrated:
    """AgentJet's learned rubrics as ours, and a note on each setting that has no equivalent."""
    # It takes long to import
    from agentscope_tuner.graders.rubrics.settings import AutoGraderConfig

    inside = judge.get(_RUBRICS) or {}
    if not isinstance(inside, Mapping):
        raise ValueError(f"task_judge.{_RUBRICS} must be a mapping, got {inside!r:.200}")
    by_type = judge.get("judge_type") == _RUBRICS
    notes = [_unknown(f"task_judge.{key}", key) for key in beside if by_type]
    flat = {} if by_type else {key: judge[key] for key in beside if key != "class_name"}
    named = {_RENAMED.get(key, key): value for key, value in {**flat, **inside}.items()}
    if not by_type:
        notes.append(f"class_name and the settings beside it are AgentJet's first form of judge_type: {_RUBRICS}")
    elif inherits and (lacks := {key: _INHERITED[key] for key in ("model_name", "max_score") if key not in named}):
        named = {**lacks, **named}
        notes.append(f"{_RUBRICS} gets {lacks!r} from AgentJet's defaults, which differ from ours")
    if (merges := _AGGREGATION.get(str(named.get("aggregation_mode")))) is not None:
        del named["aggregation_mode"]
        named.setdefault("enable_categorization", merges)
    if (samples := named.pop("reference_samples_path", None)) is not None:
        named.setdefault("dataset_file", {"training": {"file_path": samples}})
    known = {key: value for key, value in named.items() if key in AutoGraderConfig.model_fields}
    notes += [_unknown(f"task_judge.{_RUBRICS}.{key}", key) for key in named if key not in known]
    if not {"dataset_file", "jsonl_dataset_file"} & known.keys():
        notes.append(f"the labelled samples are missing: add {_RUBRICS}.dataset_file.training.file_path")
    if known.get("grader_mode") == "listwise":
        notes.append("grader_mode: listwise ranks answers, and AgentJet asks about one at a time: it takes pointwise")
    notes.append("rubrics are learned before a run: astuner rubrics learn")
    return _Migrated({"judge_type": _RUBRICS, _RUBRICS: known, **kept}, notes=notes)


def _unknown(path: str, key: str) -> str:
    return f"{path} is left out: {UPSTREAM_KEYS.get(key, 'astuner has no such setting')}"


def _value(mapping: yaml.MappingNode, key: str) -> yaml.MappingNode:
    value = next(value for name, value in mapping.value if name.value == key)
    assert isinstance(value, yaml.MappingNode)
    return value


def _with_judge(text: str, section: yaml.MappingNode, judge: Mapping[str, Any]) -> str:
    """`text`, with `judge` as the section's `task_judge`; all other characters stay."""
    pairs = {name.value: (name, value) for name, value in section.value}
    if section.flow_style:
        raise ValueError("the section is written in braces: write it as lines, one key a line")
    first = section.value[0][0].start_mark
    block = yaml.safe_dump({"task_judge": dict(judge)}, sort_keys=False, allow_unicode=True).rstrip()
    block = block.replace("\n", "\n" + " " * first.column)
    if "task_judge" not in pairs:
        return f"{text[: first.index]}{block}\n\n{' ' * first.column}{text[first.index :]}"
    name, value = pairs["task_judge"]
    # A block's end mark stands behind the blank lines and comments that follow it
    return text[: name.start_mark.index] + block + text[_end(value) :]


def _end(node: yaml.Node) -> int:
    """The position after the last character of a value, before the comments that follow it."""
    if isinstance(node, yaml.MappingNode | yaml.SequenceNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return _end(last[1] if isinstance(last, tuple) else last)
    return int(node.end_mark.index)
