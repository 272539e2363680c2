"""Whatever the document of the API allows, and much that it does not, gets a documented answer.

schemathesis draws requests of every operation, the same ones each time: what the document allows,
and what it does not allow; chains of requests are in test_openapi_chains.py. Each answer has a
documented status, content type and shape. The texts and bodies that broke services like this one
are sent as well, at every place that takes one: none gets a 500.
"""

import json
import uuid
from math import inf

import pytest
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.specs.openapi.checks import negative_data_rejection

from backend.accounts.models import Role, Token
from backend.accounts.workspace import invitations
from backend.api.tests.drawn_requests import (
    CHECKS,
    EXAMPLES,
    IN_FULL,
    OPERATIONS,
    drawn,
    make_credentials,
)
from backend.runs.amending.editing import correct
from backend.runs.amending.merging import merge
from backend.runs.models import FormerName
from backend.sharing.models import Visibility
from backend.storage import storage
from backend.testing.openapi import read_document
from backend.testing.scenes import (
    make_alerts,
    make_export,
    make_measured_run,
    make_result_set,
    make_saved_view,
    make_scene,
    make_shared_run,
)
from backend.testing.transactions import kept_for_a_module, taken_back

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("world", "_no_sender_has_to_wait")]
# Parameters that any text fits.
TEXT = {"type": "string"}
TEXTS = {"type": "array", "items": TEXT}


@pytest.fixture(scope="module")
def world(django_db_setup, django_db_blocker, tmp_path_factory):
    """The credentials of an owner, and what stands in a path by the name of its parameter.

    Made once for all requests, because it takes a second, and each undoes what it changes.
    """
    folder = tmp_path_factory.mktemp("artefacts")
    with django_db_blocker.unblock(), kept_for_a_module(folder):
        scene = make_scene()
        yield make_credentials(scene), make_ids(scene), folder


@pytest.fixture(autouse=True)
def _its_artefacts(world, settings):
    settings.DATA_DIR = world[2]
    storage.cache_clear()


@pytest.fixture
def credentials(world):
    return world[0]


@pytest.fixture
def ids(world):
    return world[1]


def make_ids(scene):
    """What stands in a path, by the name of its parameter."""
    own, workspace = scene.own, scene.own.workspace
    shared = make_result_set(workspace, Visibility.PUBLIC)
    alerts = make_alerts(own, scene.run)
    make_measured_run(workspace, servers=("old-name", "new-name"))
    merged = merge(workspace, FormerName.Kind.SERVER, "old-name", "new-name", None)
    invitation = invitations.find(invitations.invite(own.user, workspace, Role.VIEWER))
    return {
        "slug": workspace.slug,
        "check": "same-host",
        "export_id": str(make_export(workspace).pk),
        **{f"{noun}_id": str(alerts[noun]) for noun in ("alert", "rule", "channel")},
        "run_id": str(scene.run.pk),
        "trial_id": str(scene.trial.pk),
        "merge_id": str(merged.pk),
        "correction_id": str(correct(scene.run.pk, {"notes": "Why."}, author=None)[0].pk),
        "upload_id": str(scene.upload.pk),
        "artefact_id": str(scene.artefact.pk),
        "link": str(shared.link),
        "shared_link": str(make_shared_run(workspace).link),
        "user_id": str(scene.viewer.pk),
        "invitation_id": str(invitation.pk),
        "view_id": str(make_saved_view(workspace).pk),
        "token_id": str(own_token(scene).pk),
        "feed_token_id": str(alerts["feed_token"]),
    }


def own_token(scene):
    """The token of an agent, which no request here is signed with."""
    return Token.objects.filter(workspace=scene.own.workspace).earliest("created_at")


def ids_for(operation, ids):
    """Those of an operation: two kinds of tokens have the same name in the paths."""
    if operation.path.startswith("/api/v1/feed-tokens/"):
        return {**ids, "token_id": ids["feed_token_id"]}
    return ids


def has_its_form(name, text):
    """Whether a drawn text may give way to an id that exists: not one of the wrong form."""
    if name == "slug":
        return True
    try:
        uuid.UUID(str(text))
    except ValueError:
        return False
    return True


def unfounded_checks(case):
    """None of the checks, but where the address of a case is as the document allows.

    In an address null, 5 and {} are texts, and one text is a list of one.
    """
    schemas = {each.name: each.definition["schema"] for each in case.operation.query}
    are_texts = (
        are_texts_when_sent(schemas[name], value)
        for name, value in dict(case.query or {}).items()
        if is_text(schemas.get(name, {})) or schemas.get(name) == TEXTS
    )
    return [negative_data_rejection] if any(are_texts) else []


def is_text(schema):
    """Whether it allows every text, or every one that is short enough."""
    return schema.get("type") == "string" and schema.keys() <= {"type", "maxLength"}


def are_texts_when_sent(schema, value):
    """Whether a value of another type than its parameter has is sent as the parameter allows."""
    items = value if isinstance(value, list) else [value]
    if is_text(schema):
        is_short = all(len(str(item)) <= schema.get("maxLength", inf) for item in items)
        return not isinstance(value, str) and len(items) <= 1 and is_short
    return not isinstance(value, list) or not all(isinstance(item, str) for item in items)


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.label)
def test_a_drawn_request_gets_a_documented_answer(operation, credentials, ids, application):
    existing = ids_for(operation, ids)

    def check(case):
        for name, text in dict(case.path_parameters or {}).items():
            if name in existing and has_its_form(name, text):
                case.path_parameters[name] = existing[name]
        if "confirm" in (case.query or {}) and isinstance(case.query["confirm"], str):
            case.query["confirm"] = existing["slug"]
        signature = credentials.sign(operation)
        headers = {**(case.headers or {}), **signature["headers"]}
        with taken_back():
            answer = case.call(app=application, headers=headers, cookies=signature["cookies"])
        checks = [each for each in CHECKS if each not in unfounded_checks(case)]
        case.validate_response(answer, checks=checks)

    modes = [operation.as_strategy(mode) for mode in GenerationMode]
    drawn(max_examples=EXAMPLES)(given(case=st.one_of(*modes))(check))()


def test_each_signed_request_is_let_through_to_its_view(send, ids):
    """Otherwise the tests here ask the permissions, and no view."""
    refused = [
        each.label for each in OPERATIONS if send(each, path_of(each, ids)) in (401, 403, 429)
    ]
    assert refused == []


@pytest.mark.parametrize("path", list(read_document()["paths"]))
def test_a_method_that_an_address_does_not_have_gets_405(path, send, ids):
    operations = {each.method.upper(): each for each in OPERATIONS if each.path == path}
    operation = next(iter(operations.values()))
    address = path_of(operation, ids)
    for method in {"GET", "POST", "PUT", "PATCH", "DELETE"} - operations.keys():
        assert send(operation, address, method=method) == 405, method


HOSTILE_TEXTS = (
    *(
        "%00",
        "a%00b",
        "000000001" + "9" * 5000,
        "%ED%A0%80",
        "%FF",
        "NaN",
        "Infinity",
        "-1",
        "0",
        "1e999",
        "9" * 5000,
    ),
    *("9223372036854775808", "-9223372036854775809", "99999-01-01T00:00:00Z", "[" * 2000),
    *("%E2%80%AE", "%0D%0AX-A:%201", "..%2F..%2Fetc%2Fpasswd", "'\"><", "", "\N{BULLET}" * 2000),
)
BODIES = (
    *(b"", b"null", b"[]", b'""', b"{", b"NaN", b'{"a": Infinity}', b"9" * 5000, b"\xff\xfe"),
    *(b"[" * 100_000, b'{"a":' * 100_000, b'"\\ud800"', b'{"\\u0000": "\\u0000"}', b"1e999"),
    *(b'{"a": ' + b"9" * 400 + b"}", b'{"a": 1, "a": 2}', b'"' + b"x" * (1 << 20) + b'"'),
)


@pytest.fixture
def send(credentials):
    """Sends a request of an operation; nothing of it is left."""

    def send(operation, path, *body, method=""):
        signature = credentials.sign(operation)
        client = Client(headers=signature["headers"], raise_request_exception=False)
        client.cookies.load(signature["cookies"])
        with taken_back():
            return client.generic(method or operation.method.upper(), path, *body).status_code

    return send


def path_of(operation, ids, **texts):
    """The address of an operation, with ids that exist where no text is given."""
    path = operation.path
    existing = ids_for(operation, ids)
    for name, value in {**existing, "artefact": "0" * 64, "number": "1", **texts}.items():
        path = path.replace(f"{{{name}}}", value)
    return path


def raw_operations():
    return [pytest.param(operation, id=operation.label) for operation in OPERATIONS]


@pytest.mark.parametrize("operation", raw_operations())
def test_no_hostile_text_in_an_address_gets_a_500(operation, send, ids):
    for parameter in operation.path_parameters:
        for text in HOSTILE_TEXTS:
            path = path_of(operation, ids, **{parameter.name: text})
            assert send(operation, path) < 500, path
    for place, parameter in enumerate(operation.query):
        # A fifth of them each time: with many parameters, all would take minutes.
        for text in HOSTILE_TEXTS if IN_FULL else HOSTILE_TEXTS[place % 5 :: 5]:
            path = f"{path_of(operation, ids)}?{parameter.name}={text}"
            assert send(operation, path) < 500, path[:300]


@pytest.mark.parametrize(
    "operation", [each for each in raw_operations() if each.values[0].method != "get"]
)
@pytest.mark.parametrize("kind", ["application/json", "multipart/form-data; boundary=b", "text/x"])
def test_no_hostile_body_gets_a_500(operation, send, ids, kind):
    for body in BODIES:
        assert send(operation, path_of(operation, ids), body, kind) < 500, body[:100]


# In the place of each member of a body that is otherwise as the document shows it.
VALUES = (
    *("10000-01-01T00:00:00Z", "99999-12-31T23:59:59Z", "0001-01-01T00:00:00+14:00"),
    *("2026-02-30T00:00:00Z", "", "a\0b", "\ud800", "\N{BULLET}" * 2000, "\r\nX-A: 1"),
    *(None, [None], {"\0": ["\0"]}, -1, 2**63, 10**400, 1e308, float("nan")),
)


def json_body_of(operation):
    """The JSON body as the document describes it; empty for an operation without one."""
    content = operation.definition.raw.get("requestBody", {}).get("content", {})
    return content.get("application/json", {})


def members_of(operation):
    """The names that the members of a JSON body may have; none where the body is no object."""
    name = json_body_of(operation).get("schema", {}).get("$ref", "").rpartition("/")[2]
    return read_document()["components"]["schemas"][name]["properties"] if name else {}


@pytest.mark.parametrize(
    "operation", [each for each in raw_operations() if members_of(each.values[0])]
)
def test_no_hostile_value_in_a_body_gets_a_500(operation, send, ids):
    example = json_body_of(operation)["example"]
    for name in members_of(operation):
        for value in VALUES:
            body = json.dumps({**example, name: value}).encode()
            path = path_of(operation, ids)
            assert send(operation, path, body, "application/json") < 500, body[:300]
