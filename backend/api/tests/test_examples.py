"""The examples of the OpenAPI document are answers of the service, and fit its schemas.

API_EXAMPLES=record writes them anew: scripts/test backend/api/tests/test_examples.py -n0
"""

import base64
import hashlib
import json
import os
import uuid

import jsonschema
import pytest
from django.test import Client

from backend.api.examples import PATH, recorded
from backend.ingest.trash import trash_run
from backend.runs.dismissals import fired_in
from backend.runs.models import FormerName, Run
from backend.sharing.models import Visibility
from backend.testing.openapi import list_operations, read_document
from backend.testing.scenes import (
    make_changes,
    make_measured_run,
    make_result_set,
    make_saved_view,
)
from backend.testing.uploads import make_file

pytestmark = pytest.mark.django_db
IS_RECORDING = os.environ.get("API_EXAMPLES") == "record"
# A list shows its form by a few entries.
MOST_ENTRIES, MOST_TEXT = 2, 200
ROOT = "/api/v1"
PART = b"x" * (256 << 10)


@pytest.fixture
def api(scene):
    return Client(headers=scene.own.headers)


def asked_requests(scene):
    """By operation: method, address, and body (JSON, or a form)."""
    run, trial, upload = scene.run.pk, scene.trial.pk, scene.upload.pk
    workspace = scene.own.workspace
    kept = make_result_set(workspace, Visibility.UNLISTED).link
    withdrawn = make_result_set(workspace, Visibility.UNLISTED).link
    view = make_saved_view(workspace).pk
    cell = scene.trial.cell_id
    check = sorted(fired_in(scene.run))[0]
    newer = Run.objects.get(upload=make_measured_run(workspace)).pk
    make_changes(scene)
    trash_run(Run.objects.get(upload=make_measured_run(workspace)), by=None)
    form = {"file": make_file()}
    host = {"name": "bench-1", "cpu_model": "Xeon", "cores": 2}
    agent = {"name": "loadsheet-agent", "version": "0.1.0", "hostname": "bench-2"}
    question = f"run={run}&connections=64"
    gate = f"candidate=run={newer}&baseline=run={run}&require=throughput > -5%25"
    frozen = {"query": question, "title": "Nightly", "kind": "frozen", "visibility": "unlisted"}
    meeting = {
        "name": "big",
        "parts": 2,
        "plan_sha256": hashlib.sha256(b"plan").hexdigest(),
        "seed": 7,
        "run": str(uuid.uuid4()),
        "host_name": "bench-2",
        "step": None,
    }
    observation = {
        "id": str(uuid.uuid4()),
        "host": host,
        "uncertainty_s": 0.002,
        "samples": [{"at_s": 1769860801.5, "cpu_s": 12.5, "rss_bytes": 81920000}],
    }
    part = f"{uuid.uuid4()}/parts/{hashlib.sha256(b'whole').hexdigest()}/0"
    return {
        "compare": ("get", f"/compare?{question}", None),
        "compare_pair": ("get", f"/compare/pair?a={run}&b={newer}", None),
        "facets": ("get", f"/facets?{question}&field=server", None),
        "gate": ("get", f"/gate?{gate}", None),
        "heartbeat": ("post", "/heartbeat", {"agent": agent, "run": None}),
        "host_list": ("get", "/hosts", None),
        "limit_list": ("get", "/limits", None),
        "me": ("get", "/me", None),
        "merge_list": ("get", "/merges", None),
        "merge_make": (
            "post",
            "/merges",
            {"kind": FormerName.Kind.SERVER, "source": "other-server", "target": "secret-server"},
        ),
        "result_set_list": ("get", "/result-sets", None),
        "result_set_create": ("post", "/result-sets", frozen),
        "result_set_read": ("get", f"/result-sets/{kept}", None),
        "result_set_edit": ("patch", f"/result-sets/{kept}", {"notes": "The cable was loose."}),
        "result_set_changes": ("GET", "/result-sets/{created}/changes", None),
        "result_set_revoke": ("post", f"/result-sets/{kept}/revoke", {}),
        "result_set_withdraw": (
            "post",
            f"/result-sets/{withdrawn}/withdraw",
            {"reason": "Measured with a loose cable."},
        ),
        "run_list": ("get", "/runs", None),
        "run_read": ("get", f"/runs/{run}", None),
        "run_edit": ("patch", f"/runs/{run}", {"notes": "The cable was loose."}),
        "observation_create": ("post", f"/runs/{run}/observations", observation),
        "run_progress": ("get", f"/runs/{run}/progress", None),
        "server_list": ("get", "/servers", None),
        "session_meet": ("post", "/sessions", meeting),
        "trash_list": ("get", "/trash", None),
        "trial_list": ("get", f"/trials?cell={cell}", None),
        "trial_read": ("get", f"/trials/{trial}", None),
        "trial_timeline": ("get", f"/trials/{trial}/timeline", None),
        "upload_list": ("get", "/uploads", None),
        "upload_create": ("post", "/uploads", form),
        "upload_read": ("get", f"/uploads/{upload}", None),
        "part_list": ("get", f"/uploads/{upload}/parts", None),
        "part_create": ("put", f"/uploads/{part}", PART),
        "upload_preview": ("post", "/uploads/preview", {"file": make_file()}),
        "dismissal_create": (
            "post",
            f"/runs/{run}/dismissals",
            {"check": check, "reason": "The client is on the same machine on purpose."},
        ),
        "dismissal_list": ("get", f"/runs/{run}/dismissals", None),
        "rename": (
            "post",
            "/renames",
            {"kind": FormerName.Kind.WORKLOAD, "former": "hello", "current": "hello, world"},
        ),
        "view_list": ("get", "/views", None),
        "view_create": ("post", "/views", {"name": "Nightly", "query": "server=nginx&x=date"}),
        "view_edit": ("patch", f"/views/{view}", {"is_default": True}),
        "workload_list": ("get", "/workloads", None),
    }


def send(api, method, path, body):
    address = f"{ROOT}{path}"
    if body is None:
        return api.get(address)
    if isinstance(body, bytes):
        digest = base64.b64encode(hashlib.sha256(body).digest()).decode()
        headers = {"content-digest": f"sha-256=:{digest}:"}
        kind = "application/octet-stream"
        return api.put(address, body, content_type=kind, headers=headers)
    if "file" in body:
        return api.post(address, body)
    return getattr(api, method)(address, body, content_type="application/json")


def record(api, scene):
    """By operation: the body that was sent, and the answer, both shortened."""
    examples, created = {}, ""
    asked = asked_requests(scene)
    # What only reads comes first: a change may give a trial another cell.
    for operation in sorted(
        asked, key=lambda each: (asked[each][0] != "get", "{" in asked[each][1])
    ):
        method, path, body = asked[operation]
        answer = send(api, method, path.replace("{created}", created), body)
        assert answer.status_code < 300, (operation, answer.content)
        examples[operation] = {"answer": shorten(answer.json())}
        if isinstance(body, dict) and body and "file" not in body:
            examples[operation]["request"] = body
        if operation == "result_set_create":
            created = answer.json()["id"]
    return examples


def shorten(value):
    """The same form with fewer entries; names of the scene are those of a lab."""
    if isinstance(value, dict):
        return {name: shorten(member) for name, member in value.items()}
    if isinstance(value, list):
        return [shorten(entry) for entry in value[:MOST_ENTRIES]]
    if isinstance(value, str):
        text = value.replace("secret-server", "nginx").replace("other-server", "caddy")
        return text if len(text) <= MOST_TEXT or "://" in text else f"{text[:MOST_TEXT]}…"
    return value


@pytest.mark.skipif(not IS_RECORDING, reason="only to write the examples anew")
def test_record(api, scene):
    PATH.write_text(json.dumps(record(api, scene), indent=1, sort_keys=True) + "\n")


def answered():
    """By operation, those with JSON in their answer."""
    return {
        described["operationId"]: described
        for _, _, described in list_operations()
        if any("application/json" in answer.get("content", {}) for answer in successes(described))
    }


def successes(described):
    """The answers without an error."""
    return [answer for code, answer in described["responses"].items() if code < "300"]


@pytest.mark.parametrize("operation", answered())
def test_each_example_fits_its_schema(operation):
    described = answered()[operation]
    example = recorded()[operation]
    parts = [part["content"]["application/json"]["schema"] for part in successes(described)]
    for schema in parts:
        validate(example["answer"], schema)
    body = described.get("requestBody", {}).get("content", {}).get("application/json")
    if body is not None:
        validate(example["request"], body["schema"])


def validate(value, schema):
    """Raises ValidationError."""
    whole = {**schema, "components": read_document()["components"]}
    jsonschema.Draft202012Validator(whole).validate(value)


def test_the_service_still_answers_as_the_examples(api, scene):
    now, then = record(api, scene), recorded()
    assert set(now) == set(then) == set(answered())
    for operation, example in now.items():
        if isinstance(example["answer"], dict):
            assert set(example["answer"]) == set(then[operation]["answer"]), operation
