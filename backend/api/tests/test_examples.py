"""The examples of the OpenAPI document are answers of the service, and fit its schemas.

API_EXAMPLES=record writes them again: scripts/test backend/api/tests/test_examples.py -n0
"""

import base64
import hashlib
import json
import os
import re
import uuid
from dataclasses import replace

import jsonschema
import pytest
from django.test import Client
from django.utils import timezone

from backend.accounts.models import Role, Token, TokenKind
from backend.accounts.tokens.token_making import TokenRequest, make_token
from backend.accounts.workspace.invitations import invite
from backend.accounts.workspace.scopes import Scope
from backend.alerts.lifecycle import Sighting, apply_sightings
from backend.alerts.models import Alert, RuleKind
from backend.alerts.rules import add_rule
from backend.api.protocol.examples import PATH, recorded
from backend.deliveries.channels import add_channel
from backend.deliveries.models import ChannelKind, Delivery, DeliveryState
from backend.feeds.tokens import make_token as make_feed_token
from backend.fleet.heartbeats import record_heartbeat
from backend.ingest.removing.trash import trash_run
from backend.runs.amending.dismissals import fired_in
from backend.runs.models import FormerName, Run
from backend.sharing.models import Visibility
from backend.testing.openapi import OPEN_BODIES, list_operations, read_document
from backend.testing.scenes import (
    make_changes,
    make_export,
    make_measured_run,
    make_result_set,
    make_saved_view,
    make_shared_run,
)
from backend.testing.uploads import make_file

pytestmark = pytest.mark.django_db
IS_RECORDING = os.environ.get("API_EXAMPLES") == "record"
# A list shows its form by a few entries.
MOST_ENTRIES, MOST_TEXT = 2, 200
ROOT = "/api/v1"
PART = b"x" * (256 << 10)
# Names of the scene, and those of a lab.
LAB_NAMES = {
    "secret-server": "nginx",
    "other-server": "caddy",
    "secret-title": "nginx and caddy",
    "secret-view": "Both servers",
    "secret-finding": "nginx is faster",
}
CLEAR_TOKEN = re.compile(r"\b(ls_[a-z]+_|whsec_)[\w+/=-]{36,}")
# What no token may do.
FOR_PEOPLE = {"workspace_create", "workspace_link_make"}


@pytest.fixture
def api(scene):
    asked = TokenRequest("Nightly benchmarks", list(Scope))
    _, clear = make_token(scene.own.user, scene.own.workspace, asked)
    return Client(headers={"authorization": f"Bearer {clear}"})


@pytest.fixture
def owner(scene):
    client = Client()
    client.force_login(scene.own.user)
    return client


def make_alert(workspace, view, runs):
    """A confirmed alert over the view that a channel was told of; the alert and the channel."""
    channel = add_channel(
        workspace,
        author=None,
        kind=ChannelKind.WEBHOOK,
        name="Chat",
        address="https://chat.example/hooks/7",
    )
    rule = add_rule(
        workspace, author=None, kind=RuleKind.ERROR_RATE, name="Errors of both", view=view
    )
    sighting = Sighting(
        "error_rate nginx",
        is_bad=True,
        text="nginx: 2.1% of requests failed at 64 connections, more than 1%.",
        data={
            "metric": "error_rate",
            "unit": "ratio",
            "axis": "connections",
            "x": 64,
            "value": 0.021,
        },
    )
    before, *bad = runs
    for run in bad:
        apply_sightings(rule, [replace(sighting, before=before)], run=run)
    now = timezone.now()
    attempts = [{"at": now.isoformat(), "status": 204, "reason": "", "seconds": 0.2}]
    Delivery.objects.update(state=DeliveryState.DELIVERED, attempts=attempts, ended_at=now)
    return Alert.objects.get(rule=rule), channel


def asked_requests(scene):
    """By operation: method, address, and body (JSON, or a form)."""
    run, trial, upload = scene.run.pk, scene.trial.pk, scene.upload.pk
    workspace = scene.own.workspace
    kept = make_result_set(workspace, Visibility.UNLISTED).link
    withdrawn = make_result_set(workspace, Visibility.UNLISTED).link
    view = make_saved_view(workspace).pk
    cell = scene.trial.cell_id
    check = sorted(fired_in(scene.run))[0]
    later = [Run.objects.get(upload=make_measured_run(workspace)) for _ in range(2)]
    newer = later[0].pk
    alert, channel = make_alert(workspace, view, [scene.run, *later])
    make_result_set(workspace, Visibility.PUBLIC)
    shared = make_shared_run(workspace, notes="The cable was loose.")
    invite(scene.own.user, workspace, Role.MEMBER, email="ada@lab.example")
    make_feed_token(workspace, scene.own.user, "Reader at home")
    make_changes(scene)
    trash_run(Run.objects.get(upload=make_measured_run(workspace)), by=None)
    machine = Token.objects.filter(workspace=workspace, kind=TokenKind.AGENT).latest("created_at")
    record_heartbeat(
        machine,
        host_name="bench-1",
        program="loadsheet-agent",
        version="0.1.0",
        heartbeat=None,
    )
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
    watched = {"kind": "error_rate", "name": "Errors on main", "view": str(view)}
    receiver = {"kind": "webhook", "name": "Pager", "address": "https://pager.example/hooks/1"}
    token = {"name": "Dashboard", "scopes": ["runs:read"], "days": 90}
    # No token of any service: the checksum is wrong.
    leak = {"token": f"ls_api_{'0' * 36}", "url": "https://git.example/lab/bench/ci.yml"}
    return {
        "agent_list": ("get", "/agents", None),
        "alert_answer": (
            "patch",
            f"/alerts/{alert.pk}",
            {"state": "acknowledged", "note": "The proxy ran out of file descriptors."},
        ),
        "alert_list": ("get", "/alerts", None),
        "alert_read": ("get", f"/alerts/{alert.pk}", None),
        "alert_rule_create": ("post", "/alert-rules", {**watched, "label": "branch:main"}),
        "alert_rule_edit": ("patch", f"/alert-rules/{alert.rule_id}", {"threshold": 0.02}),
        "alert_rule_list": ("get", "/alert-rules", None),
        "audit_list": ("get", "/audit", None),
        "channel_create": ("post", "/channels", receiver),
        "channel_list": ("get", "/channels", None),
        "channel_secret_read": ("get", f"/channels/{channel.pk}/secret", None),
        "channel_secret_renew": ("post", f"/channels/{channel.pk}/secret", {}),
        "channel_test": ("post", f"/channels/{channel.pk}/test", {}),
        "delivery_list": ("get", f"/channels/{channel.pk}/deliveries", None),
        "explore": ("get", "/explore", None),
        "export_create": ("post", "/exports", {"workspace": workspace.slug}),
        "export_list": ("get", "/exports", None),
        "export_read": ("get", f"/exports/{make_export(workspace).pk}", None),
        "workspace_read": ("get", f"/workspaces/{workspace.slug}", None),
        "workspace_edit": ("patch", f"/workspaces/{workspace.slug}", {"raw_kept_days": 90}),
        "leaked_token_report": ("post", "/leaked-tokens", [leak]),
        "token_create": ("post", "/tokens", token),
        "token_list": ("get", "/tokens", None),
        "compare": ("get", f"/compare?{question}", None),
        "compare_pair": ("get", f"/compare/pair?a={run}&b={newer}", None),
        "facets": ("get", f"/facets?{question}&field=server", None),
        "gate": ("get", f"/gate?{gate}", None),
        "heartbeat": ("post", "/heartbeat", {"agent": agent, "run": None}),
        "feed_token_create": ("post", "/feed-tokens", {"name": "Reader"}),
        "feed_token_list": ("get", "/feed-tokens", None),
        "host_list": ("get", "/hosts", None),
        "invitation_create": ("post", "/invitations", {"role": "member"}),
        "invitation_list": ("get", "/invitations", None),
        "limit_list": ("get", "/limits", None),
        "workspace_usage": ("get", f"/workspaces/{workspace.slug}/usage", None),
        "me": ("get", "/me", None),
        "member_edit": ("patch", f"/members/{scene.viewer.pk}", {"role": "member"}),
        "member_list": ("get", "/members", None),
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
        "run_sharing_read": ("get", f"/runs/{shared.run_id}/sharing", None),
        "run_sharing_edit": ("patch", f"/runs/{run}/sharing", {"visibility": "unlisted"}),
        "run_sharing_revoke": ("post", f"/runs/{shared.run_id}/sharing/revoke", {}),
        "shared_run_read": ("get", f"/shared-runs/{shared.link}", None),
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
        "workspace_create": ("post", "/workspaces", {"name": "Nightly benchmarks"}),
        "workspace_link_make": ("post", f"/workspaces/{workspace.slug}/link", {}),
        "workspace_list": ("get", "/workspaces", None),
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


def record(api, owner, scene):
    """By operation: the body that was sent, and the answer, both shortened."""
    examples, created = {}, ""
    asked = asked_requests(scene)
    # What only reads comes first: a change may give a trial another cell.
    for operation in sorted(
        asked, key=lambda each: (asked[each][0] != "get", "{" in asked[each][1])
    ):
        method, path, body = asked[operation]
        client = owner if operation in FOR_PEOPLE else api
        answer = send(client, method, path.replace("{created}", created), body)
        assert answer.status_code < 300, (operation, answer.content)
        examples[operation] = {"answer": shorten(answer.json())} if answer.content else {}
        if isinstance(body, dict | list) and body and "file" not in body:
            examples[operation]["request"] = body
        if operation == "result_set_create":
            created = answer.json()["id"]
    return examples


def shorten(value):
    """The same form with fewer entries, the names of a lab, and no token."""
    if isinstance(value, dict):
        return {name: shorten(member) for name, member in value.items()}
    if isinstance(value, list):
        return [shorten(entry) for entry in value[:MOST_ENTRIES]]
    if isinstance(value, str):
        text = CLEAR_TOKEN.sub(r"\1…", value)
        for name, lab_name in LAB_NAMES.items():
            text = text.replace(name, lab_name)
        return text if len(text) <= MOST_TEXT or "://" in text else f"{text[:MOST_TEXT]}…"
    return value


@pytest.mark.skipif(not IS_RECORDING, reason="only to write the examples anew")
def test_record(api, owner, scene):
    PATH.write_text(json.dumps(record(api, owner, scene), indent=1, sort_keys=True) + "\n")


def answered():
    """By operation, those with JSON in their answer or their body."""
    return {
        described["operationId"]: described
        for _, _, described in list_operations()
        if any(map(has_json, (*successes(described), described.get("requestBody", {}))))
    }


def has_json(part):
    return "application/json" in part.get("content", {})


def successes(described):
    """The answers without an error."""
    return [answer for code, answer in described["responses"].items() if code < "300"]


@pytest.mark.parametrize("operation", answered())
def test_each_example_fits_its_schema(operation):
    described = answered()[operation]
    example = recorded()[operation]
    for part in filter(has_json, successes(described)):
        validate(example["answer"], part["content"]["application/json"]["schema"])
    body = described.get("requestBody", {}).get("content", {}).get("application/json")
    if body is not None:
        validate(example["request"], body["schema"])


def validate(value, schema):
    """Raises ValidationError."""
    whole = {**schema, "components": read_document()["components"]}
    jsonschema.Draft202012Validator(whole).validate(value)


def test_the_service_still_answers_as_the_examples(api, owner, scene):
    now, then = record(api, owner, scene), recorded()
    assert set(now) == set(then) == set(answered())
    for operation, example in now.items():
        assert set(example) == set(then[operation]), operation
        if isinstance(example.get("answer"), dict):
            assert set(example["answer"]) == set(then[operation]["answer"]), operation


def test_no_operation_leaves_a_member_of_its_body_unread(api, owner, scene):
    documented_bodies = {
        described["operationId"]
        for _, _, described in list_operations()
        if has_json(described.get("requestBody", {}))
    }
    asked = asked_requests(scene)
    for operation in documented_bodies - OPEN_BODIES:
        method, path, body = asked[operation]
        client = owner if operation in FOR_PEOPLE else api
        answer = send(client, method, path, {**body, "misspelt": 1})
        assert answer.status_code == 400, operation
        assert [each["field"] for each in answer.json()["errors"]] == ["misspelt"], operation
