"""A row of every model that a workspace can have, and a text of ours in every field of them.

The fields are read from the models, so a new one is found without being named here.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from typing import Any

from django.apps import apps
from django.db import models
from django.test import Client

from backend.accounts.limits.throttle import payer_of
from backend.accounts.models import Role, Token, TokenKind, User, Workspace
from backend.accounts.sign_in import leaks
from backend.accounts.tokens.token_making import TokenRequest, make_token
from backend.accounts.workspace import invitations, workspace_links
from backend.accounts.workspace.quotas import set_limits
from backend.deliveries.channels import send_test
from backend.deliveries.models import Channel
from backend.fleet.heartbeats import Heartbeat, record_heartbeat
from backend.fleet.sessions import JoinRequest, join_session
from backend.ingest.models import Rereading
from backend.runs.amending.dismissals import dismiss, fired_in
from backend.sharing.models import Drawing, ResultSet, Visibility
from backend.sharing.run_sharing import share_run
from backend.sharing.takedowns import report, restore, take_down, thing_of_result_set
from backend.testing.scenes import (
    Scene,
    make_alerts,
    make_changes,
    make_export,
    make_result_set,
    make_saved_view,
)

# What belongs to people and to the service, and outlives every workspace.
OUTLIVES = {
    "accounts.User",
    "account.EmailAddress",
    "account.EmailConfirmation",
    "mfa.Authenticator",
    "usersessions.UserSession",
    "sessions.Session",
    # Of the service as a whole.
    "config.BackupReport",
    # Django's own.
    "admin.LogEntry",
    "auth.Group",
    "auth.Permission",
    "contenttypes.ContentType",
    # Ids of users and workspaces, for a day.
    "accounts.WorkTurn",
    # Names of machines, and counts.
    "config.Heartbeat",
    "config.IntegrityReport",
}
# Fields that are not overwritten, and why.
UNMARKED = {
    "ingest.Artefact.sha256": "names the bytes, which would be lost",
    "ingest.SmallContent.sha256": "names the bytes",
    "transfer.Export.sha256": "names the bytes",
    "ingest.SmallContent.content": "holds the bytes of uploads, which have texts of their own",
    "accounts.AuditEvent.*": "no event can be changed; events with the text are added",
}
TEXTS = (models.CharField, models.TextField)
HOLDERS = (*TEXTS, models.JSONField, models.BinaryField)


def text_fields() -> Iterator[models.Field[Any, Any]]:
    """The fields of workspaces that can hold a text of somebody's; those with choices cannot."""
    for model in apps.get_models():
        label = model._meta.label
        for field in model._meta.local_concrete_fields:
            is_excused = bool({name_of(field), f"{label}.*"} & UNMARKED.keys())
            holds_text = isinstance(field, HOLDERS) and not field.choices
            if holds_text and not is_excused and label not in OUTLIVES:
                yield field


def name_of(field: models.Field[Any, Any]) -> str:
    """`app.Model.field`."""
    return f"{field.model._meta.label}.{field.name}"


def overwrite_texts(
    workspace: Workspace,
    value_of: Callable[[models.Field[Any, Any], Any, int], Any],
    fields: Iterator[models.Field[Any, Any]] | None = None,
) -> None:
    """Store `value_of(field, value of before, number of the row)` in every text of a workspace.

    Rows of models that name no workspace are overwritten whoever owns them.
    """
    by_model: dict[type[models.Model], list[models.Field[Any, Any]]] = {}
    for field in fields or text_fields():
        by_model.setdefault(field.model, []).append(field)
    for model, own in by_model.items():
        for number, row in enumerate(_rows_of(model, workspace)):
            values = {each.name: value_of(each, getattr(row, each.attname), number) for each in own}
            model._base_manager.filter(pk=row.pk).update(**values)


def _rows_of(model: type[models.Model], workspace: Workspace) -> list[models.Model]:
    rows = model._base_manager.order_by("pk")
    if model is Workspace:
        return list(rows.filter(pk=workspace.pk))
    if any(field.name == "workspace" for field in model._meta.fields):
        return list(rows.filter(workspace=workspace.pk))
    return list(rows)


def make_every_row(scene: Scene, text: str) -> None:
    """A row of every model that a workspace can have, beside those of the scene.

    `text`: a short one, where an act writes an event that nothing changes later.
    """
    workspace, user = scene.own.workspace, scene.own.user
    token = Token.objects.get(workspace=workspace, kind=TokenKind.AGENT)
    make_changes(scene)
    make_alerts(scene.own, scene.run)
    make_saved_view(workspace, name="another-view")
    shown = make_result_set(workspace, Visibility.PUBLIC)
    share_run(scene.run, Visibility.PUBLIC)
    Drawing.objects.create(result_set=shown, key="0", png=b"")
    make_export(workspace)
    dismiss(scene.run, sorted(fired_in(scene.run))[0], reason="Known.", author=user)
    set_limits(workspace, {"members": 100})
    invitations.invite(user, workspace, Role.VIEWER, email="eve@example.org")
    workspace_links.make_link(user, workspace)
    send_test(Channel.objects.get(workspace=workspace))
    Rereading.objects.create(upload=scene.upload)
    heard = Heartbeat(run=uuid.uuid4(), state="running", trials_done=1)
    record_heartbeat(token, host_name="host", program="agent", version="1", heartbeat=heard)
    meeting = JoinRequest("pair", 2, "0" * 64, seed=1, run=uuid.uuid4(), host_name="host")
    join_session(token, meeting)
    _observe(scene)
    _open_for_staff(workspace, text)
    _create_with_key(scene, text)
    _take_down(shown)
    User.objects.filter(pk=user.pk).update(email="owner@example.org")
    leaks.warn_of_leak(token.pk, f"https://example.org/{text}")


def _take_down(result_set: ResultSet) -> None:
    """A report of something public, its takedown, and its restoration."""
    staff = User.objects.create_user("who-decides", is_staff=True)
    thing = thing_of_result_set(result_set)
    fields = {"page": result_set.path, "reason": "other", "email": "reader@example.org"}
    sent = report(thing, text="Not mine.", sender=payer_of("192.0.2.7"), **fields)
    restore(take_down(sent, reason="Asked for.", is_legal=False, by=staff), by=staff)


def _observe(scene: Scene) -> None:
    body = {
        "id": str(uuid.uuid4()),
        "host": {"name": "server-1"},
        "uncertainty_s": 0.01,
        "samples": [{"at_s": 1.7e9, "cpu_s": 1.0}],
    }
    client = Client(headers=scene.own.headers)
    path = f"/api/v1/runs/{scene.run.pk}/observations"
    answer = client.post(path, body, content_type="application/json")
    assert answer.status_code == 201, answer.content


def _open_for_staff(workspace: Workspace, text: str) -> None:
    client = Client()
    client.force_login(User.objects.create_user("the-staff", is_staff=True))
    form = {"workspace": str(workspace.pk), "reason": f"They asked for help with {text}."}
    # As a browser does: the notice of what was done is shown, and leaves the session.
    answer = client.post("/staff/accounts/staffaccess/add/", form, follow=True)
    assert answer.redirect_chain, answer.content


def _create_with_key(scene: Scene, text: str) -> None:
    """A saved view by the API, whose answer is kept."""
    asked = TokenRequest(text, ["runs:read", "runs:write"])
    _, clear = make_token(scene.own.user, scene.own.workspace, asked)
    client = Client(headers={"authorization": f"Bearer {clear}", "Idempotency-Key": "a-key"})
    body = {"name": text, "query": ""}
    answer = client.post("/api/v1/views", body, content_type="application/json")
    assert answer.status_code == 201, answer.content
    # The pages may not import the API.
    (kept,) = apps.get_model("api", "CreationKey")._base_manager.values_list("workspace", flat=True)
    assert kept == scene.own.workspace.pk
