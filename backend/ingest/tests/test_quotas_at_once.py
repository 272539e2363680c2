"""Fifty at once try to take the last seven places of each quota: seven succeed, not eight."""

import base64
import hashlib
import threading
import uuid
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest
from django.db import connections
from django.test import Client

from backend.accounts.models import Invitation, Membership, Role, Token, User
from backend.accounts.tokens import token_making
from backend.accounts.tokens.token_making import usable_tokens
from backend.accounts.workspace import invitations, workspaces
from backend.accounts.workspace.quotas import MembersFull, set_limits
from backend.alerts import rules
from backend.alerts.models import AlertRule
from backend.deliveries import channels
from backend.deliveries.models import Channel
from backend.feeds import tokens as feed_tokens
from backend.feeds.models import FeedToken
from backend.fleet import heartbeats
from backend.fleet.models import Agent
from backend.ingest.models import Part, Upload
from backend.ingest.quota.stored_sums import recount, sums_of
from backend.sharing import saved_views
from backend.sharing.models import SavedView
from backend.testing.uploads import WRK, Tenant, make_file, make_tenant
from backend.untrusted.limits import LEAST_PART_BYTES

THREADS, PLACES = 50, 7
UPLOADS = "/api/v1/uploads"
SIZE = len(WRK.encode())
pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.timeout(300),
    pytest.mark.usefixtures("own_storage"),
]


@pytest.fixture
def tenant():
    return make_tenant()


@dataclass
class Answer:
    """What one of the fifty got."""

    status: int
    detail: str = ""


def at_once(send):
    """The answers of fifty threads that begin together."""
    start = threading.Barrier(THREADS)

    def run(number):
        try:
            # Fifty wait for one lock: on a busy machine longer than a request may.
            with connections["default"].cursor() as cursor:
                cursor.execute("SET lock_timeout = 0")
            start.wait(120)
            return send(number)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(run, range(THREADS)))


def answer_of(response):
    body = response.json()
    return Answer(response.status_code, body.get("detail", ""))


def by_token(tenant, path, body):
    return answer_of(Client().post(path, body, "application/json", headers=tenant.headers))


@dataclass
class By:
    """Requests of the owner's session to the API."""

    tenant: Tenant

    def post(self, path, body):
        client = Client()
        client.cookies = self.cookies
        return answer_of(client.post(path, body, "application/json"))

    def __post_init__(self):
        client = Client()
        client.force_login(self.tenant.user)
        self.cookies = client.cookies


def uploads_of_a_day(tenant, _):
    set_limits(tenant.workspace, {"uploads_per_day": PLACES})
    return by_upload(tenant), 429, f"{PLACES} of {PLACES}", Upload.objects.count


def bytes_of_uploads(tenant, _):
    set_limits(tenant.workspace, {"stored_bytes": PLACES * SIZE})
    figures = (
        f"it stores {PLACES * SIZE:,} bytes, and {SIZE:,} more came; at most {PLACES * SIZE:,}"
    )
    return by_upload(tenant), 507, figures, Upload.objects.count


def by_upload(tenant):
    def send(_):
        return answer_of(Client().post(UPLOADS, {"file": make_file()}, headers=tenant.headers))

    return send


def waiting_parts(tenant, settings):
    settings.PARTS_MAX_BYTES = PLACES * LEAST_PART_BYTES
    figures = f"{PLACES * LEAST_PART_BYTES:,} bytes of parts wait"
    return by_part(tenant), 429, figures, Part.objects.count


def bytes_of_parts(tenant, _):
    set_limits(tenant.workspace, {"stored_bytes": PLACES * LEAST_PART_BYTES})
    return by_part(tenant), 507, f"at most {PLACES * LEAST_PART_BYTES:,}", Part.objects.count


def by_part(tenant):
    data = b"x" * LEAST_PART_BYTES
    digest = base64.b64encode(hashlib.sha256(data).digest()).decode()
    headers = {"content-digest": f"sha-256=:{digest}:", **tenant.headers}

    def send(_):
        path = f"{UPLOADS}/{uuid.uuid4()}/parts/{'0' * 64}/0"
        return answer_of(Client().put(path, data, "application/octet-stream", headers=headers))

    return send


def invited_members(tenant, _):
    set_limits(tenant.workspace, {"members": 1 + PLACES})
    owner = By(tenant)
    body = {"workspace": "lab", "role": "member"}
    figures = f"Members: 1, open invitations: {PLACES}, limit: {1 + PLACES}"
    return lambda _: owner.post("/api/v1/invitations", body), 400, figures, Invitation.objects.count


def joining_members(tenant, _):
    """Invited before the limit was lowered."""
    links = [invitations.invite(tenant.user, tenant.workspace, Role.MEMBER) for _ in range(THREADS)]
    names = [f"person-{number}" for number in range(THREADS)]
    users = User.objects.bulk_create(User(username=name) for name in names)
    set_limits(tenant.workspace, {"members": PLACES})

    def join(number):
        try:
            invitations.accept(links[number], users[number])
        except MembersFull as full:
            return Answer(400, str(full))
        return Answer(200)

    figures = f"Members: {PLACES}, open invitations: 0, limit: {PLACES}"
    return join, 400, figures, lambda: Membership.objects.exclude(role=Role.OWNER).count() + 1


def open_invitations(tenant, _, monkeypatch):
    monkeypatch.setattr(invitations, "MOST_OPEN", PLACES)
    owner = By(tenant)
    body = {"workspace": "lab", "role": "member"}
    figures = f"This workspace has {PLACES} open invitations"
    return lambda _: owner.post("/api/v1/invitations", body), 409, figures, Invitation.objects.count


def tokens(tenant, _, monkeypatch):
    monkeypatch.setattr(token_making, "MOST_USABLE", PLACES)
    Token.objects.all().delete()
    owner = By(tenant)
    body = {"workspace": "lab", "name": "token", "scopes": ["runs:read"]}

    def count():
        return usable_tokens(tenant.workspace).count()

    return lambda _: owner.post("/api/v1/tokens", body), 409, f"has {PLACES} tokens", count


def tokens_of_feeds(tenant, _, monkeypatch):
    monkeypatch.setattr(feed_tokens, "MAX_TOKENS", PLACES)
    owner = By(tenant)
    body = {"workspace": "lab", "name": "reader"}
    figures = f"You have {PLACES} feed tokens here"
    return lambda _: owner.post("/api/v1/feed-tokens", body), 409, figures, FeedToken.objects.count


def channels_of_messages(tenant, _, monkeypatch):
    monkeypatch.setattr(channels, "MAX_CHANNELS", PLACES)
    owner = By(tenant)

    def send(number):
        body = {"workspace": "lab", "kind": "webhook", "name": f"channel {number}"}
        return owner.post("/api/v1/channels", {**body, "address": "https://192.0.2.1/"})

    return send, 409, f"has {PLACES} channels", Channel.objects.count


def alert_rules(tenant, _, monkeypatch):
    monkeypatch.setattr(rules, "MAX_RULES", PLACES)
    owner = By(tenant)

    def send(number):
        body = {"workspace": "lab", "kind": "silent_agent", "name": f"rule {number}"}
        return owner.post("/api/v1/alert-rules", body)

    return send, 409, f"has {PLACES} rules", AlertRule.objects.count


def views(tenant, _, monkeypatch):
    monkeypatch.setattr(saved_views, "MAX_VIEWS", PLACES)

    def send(number):
        body = {"workspace": "lab", "name": f"view {number}", "query": ""}
        return by_token(tenant, "/api/v1/views", body)

    return send, 409, f"has {PLACES} saved views", SavedView.objects.count


def owned_workspaces(tenant, _, monkeypatch):
    monkeypatch.setattr(workspaces, "MOST_OWNED", PLACES)
    Membership.objects.all().delete()
    owner = By(tenant)

    def send(number):
        return owner.post("/api/v1/workspaces", {"name": f"Lab {number}", "slug": f"lab-{number}"})

    return (
        send,
        400,
        f"You own {PLACES} workspaces; the limit is {PLACES}",
        Membership.objects.count,
    )


def hosts_of_a_token(tenant, _, monkeypatch):
    monkeypatch.setattr(heartbeats, "TOKEN_HOSTS", PLACES)

    def send(number):
        body = {"agent": {"name": "agent", "version": "1", "hostname": f"host-{number}"}}
        return by_token(tenant, "/api/v1/heartbeat", body)

    return send, 429, f"used on {PLACES} hosts", Agent.objects.count


OF_SETTINGS = [
    uploads_of_a_day,
    bytes_of_uploads,
    waiting_parts,
    bytes_of_parts,
    invited_members,
    joining_members,
]
FIXED = [
    open_invitations,
    tokens,
    tokens_of_feeds,
    channels_of_messages,
    alert_rules,
    views,
    owned_workspaces,
    hosts_of_a_token,
]


@pytest.mark.parametrize("quota", [*OF_SETTINGS, *FIXED], ids=lambda quota: quota.__name__)
def test_of_fifty_at_once_as_many_succeed_as_there_are_places(tenant, settings, monkeypatch, quota):
    more = [monkeypatch] if quota in FIXED else []
    send, refused_status, figures, count = quota(tenant, settings, *more)
    first_taken = PLACES - 1 if quota is joining_members else PLACES

    answers = at_once(send)

    accepted = [answer for answer in answers if answer.status < 300]
    refused = [answer for answer in answers if answer.status >= 300]
    assert count() == PLACES
    assert len(accepted) == first_taken
    assert Counter(answer.status for answer in refused) == {refused_status: THREADS - first_taken}
    assert {answer.detail for answer in refused if figures not in answer.detail} == set()
    assert recount() == 0
    assert sums_of(tenant.workspace.pk).uploads == Upload.objects.count()
