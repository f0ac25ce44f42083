"""The service's guide and its deployment: both languages show the same, and every option, path and metric exists.

That the guide's code runs, against a real service, is tests/with_servers/serve/test_guide.py.
"""

from __future__ import annotations

import configparser
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
import typer.main
import yaml
from packaging.requirements import Requirement

from agentscope_tuner import load_judge
from agentscope_tuner.cli.app import app
from agentscope_tuner.task_judge.http_judge import DEADLINE_HEADER, HttpJudge, HttpJudgeConfig
from tests.targets import TARGETS

ROOT = Path(__file__).parents[3]
GUIDES = ["docs/service.md", "docs/service.zh.md"]
SERVICE = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "agentscope_tuner/service").glob("*.py"))


def _serve() -> Any:
    root: Any = typer.main.get_command(app)
    return root.resolve_command(root.make_context("astuner", ["serve"], resilient_parsing=True), ["serve"])[1]


OPTIONS = {option for parameter in _serve().params for option in parameter.opts}


def text(guide: str) -> str:
    return (ROOT / guide).read_text(encoding="utf-8")


def blocks(guide: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", text(guide), re.DOTALL | re.MULTILINE)


def manifests() -> list[dict[str, Any]]:
    paths = sorted((ROOT / "deploy/kubernetes").glob("*.yaml"))
    return [document for path in paths for document in yaml.safe_load_all(path.read_text(encoding="utf-8"))]


def manifest(kind: str) -> dict[str, Any]:
    (found,) = [document for document in manifests() if document["kind"] == kind]
    return found


def container() -> dict[str, Any]:
    (found,) = manifest("Deployment")["spec"]["template"]["spec"]["containers"]
    assert isinstance(found, dict)
    return found


def image_command() -> list[str]:
    lines = (ROOT / "deploy/Containerfile").read_text(encoding="utf-8").splitlines()
    (words,) = [line.removeprefix("CMD ") for line in lines if line.startswith("CMD ")]
    command = yaml.safe_load(words)
    assert isinstance(command, list)
    return command


def served(words: list[str]) -> dict[str, str]:
    """The options of an `astuner serve` command line, with their values; each of them exists."""
    assert words[0] == "serve"
    options = [word for word in words if word.startswith("--")]
    assert set(options) <= OPTIONS
    return {word: words[at + 1] for at, word in enumerate(words) if word in options and at + 1 < len(words)}


def has_path(path: str) -> bool:
    """Whether the service has a route of this path."""
    return f'"{path}"' in SERVICE


def test_both_languages_show_the_same() -> None:
    for language in ("python", "yaml", "console", "sh"):
        assert blocks(GUIDES[0], language) == blocks(GUIDES[1], language)
    tables = [re.findall(r"^\| `([^`]+)`", text(guide), re.MULTILINE) for guide in GUIDES]
    assert tables[0] == tables[1]


@pytest.mark.parametrize("guide", GUIDES)
def test_what_a_guide_names_exists(guide: str) -> None:
    for link in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text(guide)):
        assert (ROOT / "docs" / link).exists(), link
    assert set(re.findall(r"`make ([a-z0-9-]+)", text(guide))) <= TARGETS
    for command in re.findall(r"^\$ astuner (.*)$", text(guide), re.MULTILINE):
        assert "--conf" in served(shlex.split(command))
    table_options = re.findall(r"`(--[a-z-]+)`", text(guide))
    assert set(table_options) <= OPTIONS
    assert len(set(table_options)) >= 8
    for path in re.findall(r"(?:GET|POST) (/[a-z_]*)", text(guide)):
        assert has_path(path), path
    for metric in re.findall(r"`(astuner_[a-z_]+)`", text(guide)):
        assert f'"{metric.removesuffix("_total")}"' in SERVICE, metric
    assert f"`{DEADLINE_HEADER}`" in text(guide)
    assert f'"{DEADLINE_HEADER}"' in SERVICE


@pytest.mark.parametrize("guide", GUIDES)
def test_the_judges_settings_are_all_told_with_their_defaults(guide: str) -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| ([^|]*?) ?\|", text(guide), re.MULTILINE))
    for name, field in HttpJudgeConfig.model_fields.items():
        told = rows[name].strip()
        if name == "deadline":
            # it is cut to the deadline of every verdict, so the guide gives that one
            assert re.fullmatch(r"`astuner\.task_judge\.deadline`[ （(]+300[)）]", told)
        elif field.is_required() or field.default is None:
            assert told in ("", "none", "无")
        else:
            assert yaml.safe_load(told) == field.default, name


def test_the_guides_judge_loads() -> None:
    (config,) = blocks(GUIDES[0], "yaml")
    assert isinstance(load_judge(yaml.safe_load(config)).inner, HttpJudge)


def test_the_image_and_the_deployment_start_a_service_that_asks_for_a_token() -> None:
    image, deployed = served(image_command()), served(container()["args"])
    for option in ("--conf", "--host", "--port", "--token-file"):
        assert image[option] == deployed[option], option
    assert "--insecure" not in container()["args"]
    mounts = [mount["mountPath"] for mount in container()["volumeMounts"]]
    assert str(Path(deployed["--token-file"]).parent) in mounts
    assert str(Path(deployed["--conf"]).parent) in mounts


def test_the_image_has_every_package_in_one_version_and_by_its_hash() -> None:
    pinned = dict[str, str]()
    for line in (ROOT / "deploy/requirements.txt").read_text(encoding="utf-8").split("\n"):
        if line and not line.startswith(" "):
            name, version = line.removesuffix(" \\").split("==")
            pinned[name] = version
        else:
            assert not line or line.startswith("    --hash=sha256:")
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg", encoding="utf-8")
    wanted = setup["options"]["install_requires"] + setup["options.extras_require"]["serve"]
    for line in filter(None, wanted.split("\n")):
        if not line.startswith("#"):
            asked = Requirement(line)
            assert asked.specifier.contains(pinned[asked.name.lower().replace("_", "-")]), line


def test_the_probes_ask_what_the_service_answers() -> None:
    port = served(container()["args"])["--port"]
    (named,) = container()["ports"]
    assert str(named["containerPort"]) == port
    for probe in ("startupProbe", "livenessProbe"):
        asked = container()[probe]["httpGet"]
        # the one path that answers without the token
        assert asked == {"path": "/healthz", "port": named["name"]}
        assert has_path(asked["path"])
    shell, dash_c, script = container()["readinessProbe"]["exec"]["command"]
    subprocess.run([shell, "-n", dash_c, script], check=True)
    assert (shell, dash_c) == ("bash", "-c")
    assert f"/dev/tcp/127.0.0.1/{port}" in script
    assert "GET /readyz HTTP/1.1" in script
    assert has_path("/readyz")
    assert served(container()["args"])["--token-file"] in script


def test_the_grace_period_is_longer_than_the_drain() -> None:
    seconds = int(container()["lifecycle"]["preStop"]["exec"]["command"][1])
    drain = float(served(container()["args"])["--drain-seconds"])
    # the service ends at the latest 5 s after its drain
    assert manifest("Deployment")["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] >= seconds + drain + 5


def test_the_objects_belong_together() -> None:
    labels = manifest("Deployment")["spec"]["template"]["metadata"]["labels"]
    assert manifest("Deployment")["spec"]["selector"]["matchLabels"] == labels
    assert manifest("Service")["spec"]["selector"] == labels
    assert manifest("NetworkPolicy")["spec"]["podSelector"]["matchLabels"] == labels
    assert manifest("PodDisruptionBudget")["spec"]["selector"]["matchLabels"] == labels
    scaled = manifest("HorizontalPodAutoscaler")["spec"]
    assert scaled["scaleTargetRef"]["name"] == manifest("Deployment")["metadata"]["name"]
    (metric,) = scaled["metrics"]
    assert f'"{metric["pods"]["metric"]["name"]}"' in SERVICE
    load_judge(yaml.safe_load(manifest("ConfigMap")["data"]["judge.yaml"]))
