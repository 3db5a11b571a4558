"""Schemathesis over the published document: no request that fits it, or does not, finds an answer that is not in it.

The short form: the same few examples of every operation each time. `HUSH_EXAMPLES=2000` asks for others, and more.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.collectors import SPEC, Opened, Served, in_thread, opened
from tests.unit.collect.test_collect_access import TABLE

pytestmark = pytest.mark.peers

MORE = "HUSH_EXAMPLES" in os.environ
EXAMPLES = int(os.environ.get("HUSH_EXAMPLES", "30"))
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
OPERATIONS = [key for key in TABLE if key[1] != "/openapi.json"]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("schema")
    with in_thread(folder, backups=folder) as made:
        yield made


@pytest.fixture(scope="module")
def document(served: Served) -> Any:
    return schemathesis.openapi.from_url(f"{served.url}/openapi.json")


@pytest.fixture(scope="module")
def session() -> Iterator[requests.Session]:
    with requests.Session() as made:
        yield made


def test_the_document_has_every_operation(document: Any) -> None:
    there = {(made.ok().method.upper(), made.ok().path) for made in document.get_all_operations()}
    assert there == set(OPERATIONS)


@pytest.mark.parametrize(("method", "path"), OPERATIONS)
def test_no_answer_is_a_surprise(
    served: Served, document: Any, session: requests.Session, method: str, path: str
) -> None:
    operation = document[path][method]
    one = opened(served, target_n=100)
    wrong = operation.as_strategy(generation_mode=GenerationMode.NEGATIVE)
    right = operation.as_strategy(generation_mode=GenerationMode.POSITIVE)
    cases = st.one_of(right, wrong) if operation.body or operation.query else right
    statuses = set()

    @settings(
        max_examples=EXAMPLES,
        derandomize=not MORE,
        deadline=None,
        database=None,
        phases=[Phase.explicit, Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=cases, known=st.booleans(), token=st.sampled_from(["", served.admin, served.admin, "nobody's"]))
    def tried(case: Case, known: bool, token: str) -> None:
        endless = path.endswith("/live")  # what is admitted there never ends
        if known and "id" in (case.path_parameters or {}) and not endless:
            case.path_parameters["id"] = one.id
        if known and isinstance(case.body, dict) and "spec" in case.body:
            case.body["spec"] = SPEC.to_dict()  # which chance never finds
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        answer = case.call_and_validate(base_url=served.url, session=session, headers=headers, checks=CHECKS)
        statuses.add(answer.status_code)

    tried()
    assert statuses


def test_batches_that_fit_are_taken_as_the_document_says(served: Served, document: Any) -> None:
    """Chance never finds an envelope that fits."""
    one: Opened = opened(served)
    operation = document["/v1/collections/{id}/batches"]["POST"]
    for media_type in ("application/octet-stream", "text/plain"):
        case = operation.Case(path_parameters={"id": one.id}, body=one.body([0, 1]), media_type=media_type)
        answer = requests.post(one.address, data=one.body([0, 1]), headers={"Content-Type": media_type}, timeout=30)
        assert answer.status_code == 200
        case.validate_response(answer, checks=CHECKS)
