"""The service's description against its handlers.

schemathesis reads `/openapi.json` and asks what it likes: nothing crashes, and every answer is as described.
What the document lists by hand is what the code has: paths, fields, causes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

import pytest
import schemathesis
import yaml
from hypothesis import HealthCheck, given, settings
from pydantic import BaseModel
from schemathesis import GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)

from agentscope_tuner import Judgement, Task, WorkflowOutput, service
from agentscope_tuner.errors import Cause
from agentscope_tuner.service.app import PATHS, described
from agentscope_tuner.service.wire_formats import RewardRow, written_late
from agentscope_tuner.task_judge.http_judge import DEADLINE_HEADER
from tests.with_servers.serve.running_service import JUDGES, RunningService, config_file

# what a description cannot say, such as that a query begins with its prompt, is refused as malformed data is; and a
# malformed row in a batch is answered, by its own failure. So no check of which requests are refused.
CHECKS = [
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
]


WIRES = ["/reward", "/openrlhf", "/verify", "/slime"]
JUDGED = [*WIRES, "/get_reward", "/", *(f"/costs{path}" for path in WIRES)]
ASKED = [*(("POST", path) for path in JUDGED), *(("GET", path) for path in ("/healthz", "/readyz", "/metrics"))]


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    folder = tmp_path_factory.mktemp("configs")
    options = ["--conf", config_file(folder), "--conf", f"costs={config_file(folder, JUDGES + 'Costs')}"]
    with RunningService(*options) as service:
        yield schemathesis.openapi.from_url(f"http://127.0.0.1:{service.port}/openapi.json")
        assert [line for line in service.log().splitlines() if " ERROR " in line] == []


# not schemathesis' own pytest plugin: 4.32 reads an attribute that pytest 9 has dropped
@pytest.mark.parametrize(
    ("method", "path", "mode"),
    [
        *((*asked, GenerationMode.POSITIVE) for asked in ASKED),
        # of a GET nothing can be wrong
        *(("POST", path, GenerationMode.NEGATIVE) for path in JUDGED),
    ],
)
def test_every_answer_is_as_described(api: Any, method: str, path: str, mode: GenerationMode) -> None:
    operation = api[path][method]

    @settings(max_examples=30, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck), database=None)
    @given(case=operation.as_strategy(generation_mode=mode))
    def ask(case: Any) -> None:
        response = case.call(timeout=30)
        case.validate_response(response, checks=CHECKS)
        if response.status_code == 504:
            # the client allowed less time than a judge needs that awaits
            assert float((case.headers or {})[DEADLINE_HEADER]) < 1.0
        elif response.status_code >= 500:
            # OpenRLHF's wire and slime's have no other way to say that there is no verdict
            assert path.rsplit("/", 1)[1] in {"", "get_reward", "openrlhf", "slime"}
            assert (response.status_code, "no verdict" in response.json()["detail"]) == (503, True)
            assert response.headers["retry-after"] == ["1"]

    ask()


def test_everything_that_is_described_is_asked(api: Any) -> None:
    described = {(operation.ok().method.upper(), operation.ok().path) for operation in api.get_all_operations()}
    assert set(ASKED) <= described
    # the same handlers under another name
    assert {path for _, path in described - set(ASKED)} == {"/costs/get_reward", "/costs/"}


DOCUMENT = yaml.safe_load(files(service).joinpath("openapi.yaml").read_text("utf-8"))
SCHEMAS = DOCUMENT["components"]["schemas"]


@pytest.mark.parametrize("model", [Task, WorkflowOutput, RewardRow])
def test_a_row_is_described_with_the_fields_that_are_read(model: type[BaseModel]) -> None:
    told = SCHEMAS[model.__name__]
    assert set(told["properties"]) == set(model.model_fields)
    assert told.get("required", []) == [name for name, field in model.model_fields.items() if field.is_required()]
    for name, field in model.model_fields.items():
        assert told["properties"][name].get("default", field.default) == field.default, name


def test_a_verdict_is_described_with_the_fields_that_are_written() -> None:
    told = SCHEMAS["RowJudgement"]
    assert set(told["properties"]) == set(written_late({"id": "r"}))
    late = written_late({"id": "r"})
    assert (late["error"], late["cause"]) == ("not judged within the request's time", "deadline")
    assert set(told["required"]) == set(Judgement(status="judged", reward=1.0, is_success=True).to_dict())
    assert told["properties"]["cause"]["enum"] == [*map(str, Cause), None]


def test_each_judge_has_every_judging_path_below_its_name() -> None:
    paths = described(DOCUMENT, ["", "math"], guarded=False)["paths"]
    judging = {path for path, operations in paths.items() if "post" in operations}
    assert judging == {prefix + path for prefix in ("", "/math") for path in PATHS}
    identifiers = [operation["operationId"] for operations in paths.values() for operation in operations.values()]
    assert len(identifiers) == len(set(identifiers))


def test_the_page_fetches_nothing_from_elsewhere() -> None:
    page = files(service).joinpath("docs.html").read_text("utf-8")
    assert re.findall(r"(?:src|href)=\W?([^\s>\"]+)|fetch\(\"([^\"]+)", page) == [
        ("openapi.json", ""),
        ("", "openapi.json"),
    ]
    assert "//" not in re.sub(r"^\s*//.*$", "", page, flags=re.MULTILINE)
