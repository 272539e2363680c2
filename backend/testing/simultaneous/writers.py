"""What writes into a workspace, each as one call: requests of agents and members, and workers."""

import base64
import hashlib
import itertools
import json
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings
from django.test import Client

from backend.accounts.models import Membership, Role, TokenKind, User
from backend.accounts.tokens.tokens import AGENT_LIFETIME, issue
from backend.alerts.pending import judge_next
from backend.deliveries.queue import send_next
from backend.ingest.queue.worker import drain
from backend.runs.models import Run
from backend.sharing.models import ResultSet, Visibility
from backend.testing.reports import WRK, make_envelope, make_trial
from backend.testing.scenes import (
    make_alerts,
    make_measured_run,
    make_result_set,
    make_saved_view,
)
from backend.testing.uploads import Tenant, make_file, make_tenant

API = "/api/v1"
JSON = "application/json"
NUMBERS = itertools.count()
ROLE_OF_MEMBER = Role.ADMIN


def session_of(user: User) -> str:
    client = Client()
    client.force_login(user)
    return client.cookies[settings.SESSION_COOKIE_NAME].value


def client_of(session: str) -> Client:
    client = Client(raise_request_exception=False)
    client.cookies[settings.SESSION_COOKIE_NAME] = session
    return client


@dataclass(frozen=True, slots=True)
class World:
    """`busy` is what the act strikes; `calm` is a workspace that nobody touches.

    `token` is one that a member made, who is not the owner. `run` is complete and has two servers;
    trials of `open_run` come in uploads of their own.
    """

    busy: Tenant
    calm: Tenant
    member: User
    token: str
    run: Run
    result_set: ResultSet
    ids: dict[str, uuid.UUID]
    sessions: dict[str, str]
    open_run: uuid.UUID = field(default_factory=uuid.uuid4)
    # What was answered with 2xx: the ids of uploads, with the SHA-256 of what was sent.
    accepted: dict[str, dict[str, str]] = field(default_factory=lambda: {"busy": {}, "calm": {}})

    @property
    def owner(self) -> Client:
        return client_of(self.sessions["owner"])

    @property
    def colleague(self) -> Client:
        return client_of(self.sessions["member"])

    def agent(self) -> Client:
        headers = {"authorization": f"Bearer {self.token}"}
        return Client(raise_request_exception=False, headers=headers)


def make_world() -> World:
    number = next(NUMBERS)
    busy, calm = make_tenant(f"busy-{number}"), make_tenant(f"calm-{number}")
    workspace = busy.workspace
    member = User.objects.create_user(username=f"member-{number}", password=None)
    Membership.objects.create(user=member, workspace=workspace, role=ROLE_OF_MEMBER)
    kind, name = TokenKind.AGENT, "of the member"
    token = issue(kind, workspace, user=member, name=name, lifetime=AGENT_LIFETIME)
    run = Run.objects.get(upload=make_measured_run(workspace))
    ids = {**make_alerts(busy, run), "view": make_saved_view(workspace).pk}
    result_set = make_result_set(workspace, Visibility.PUBLIC)
    sessions = {"owner": session_of(busy.user), "member": session_of(member)}
    world = World(busy, calm, member, token, run, result_set, ids, sessions)
    # The server that trials name is there before an act renames it.
    upload_of_a_trial(world)
    drain()
    return world


def upload(world: World) -> Any:
    return _uploaded(world.agent(), world.accepted["busy"], {})


def upload_of_a_trial(world: World) -> Any:
    number = next(NUMBERS)
    trial = make_trial(number, artefacts=["wrk.txt"])
    envelope = {**make_envelope(0, run={"id": str(world.open_run)}), "trials": [trial]}
    return _uploaded(world.agent(), world.accepted["busy"], {"envelope": json.dumps(envelope)})


def upload_elsewhere(world: World) -> Any:
    client = Client(raise_request_exception=False, headers=world.calm.headers)
    return _uploaded(client, world.accepted["calm"], {})


def _uploaded(client: Client, accepted: dict[str, str], form: dict[str, Any]) -> Any:
    text = f"{WRK}# {next(NUMBERS)}\n"
    answer = client.post(f"{API}/uploads", {"file": make_file(text), **form})
    if answer.status_code < 300:
        accepted[answer.json()["id"]] = hashlib.sha256(text.encode()).hexdigest()
    return answer


def part(world: World) -> Any:
    data = f"part {next(NUMBERS)}".encode()
    digest = base64.b64encode(hashlib.sha256(data).digest()).decode()
    path = f"{API}/uploads/{uuid.uuid4()}/parts/{hashlib.sha256(data).hexdigest()}/0"
    headers = {"content-digest": f"sha-256=:{digest}:"}
    return world.agent().put(path, data, "application/octet-stream", headers=headers)


def observation(world: World) -> Any:
    run = (world.run.pk, world.open_run)[next(NUMBERS) % 2]
    body = {
        "id": str(uuid.uuid4()),
        "host": {"name": "observed"},
        "uncertainty_s": 0.002,
        "samples": [{"at_s": 1769860801.5, "cpu_s": 12.5, "rss_bytes": 81920000}],
    }
    return world.agent().post(f"{API}/runs/{run}/observations", body, JSON)


def heartbeat(world: World) -> Any:
    agent = {"name": "agent", "version": "1", "hostname": f"host-{next(NUMBERS) % 5}"}
    run = {"id": str(world.open_run), "state": "running", "trials_done": 0}
    return world.agent().post(f"{API}/heartbeat", {"agent": agent, "run": run}, JSON)


def session(world: World) -> Any:
    body = {
        "name": f"together-{next(NUMBERS) % 3}",
        "parts": 50,
        "plan_sha256": hashlib.sha256(b"plan").hexdigest(),
        "seed": 7,
        "run": str(uuid.uuid4()),
        "host_name": "bench-2",
        "step": None,
    }
    return world.agent().post(f"{API}/sessions", body, JSON)


def frozen_set(world: World) -> Any:
    body = {
        "query": f"run={world.run.pk}",
        "title": "Kept",
        "kind": "frozen",
        "visibility": "public",
        "workspace": world.busy.workspace.slug,
    }
    return world.owner.post(f"{API}/result-sets", body, JSON)


def change_of_a_set(world: World) -> Any:
    body = {"notes": f"The cable was loose {next(NUMBERS)} times."}
    return world.owner.patch(f"{API}/result-sets/{world.result_set.link}", body, JSON)


def correction(world: World) -> Any:
    body = {"server_host": f"host-{next(NUMBERS) % 3}"}
    return world.owner.patch(f"{API}/runs/{world.run.pk}", body, JSON)


def new_token(world: World) -> Any:
    slug, number = world.busy.workspace.slug, next(NUMBERS)
    body = {"name": f"token {number}", "scopes": ["runs:read"], "workspace": slug}
    return world.colleague.post(f"{API}/tokens", body, JSON)


def alert_rule(world: World) -> Any:
    body = {
        "kind": "error_rate",
        "name": f"rule {next(NUMBERS)}",
        "view": str(world.ids["view"]),
        "workspace": world.busy.workspace.slug,
    }
    return world.owner.post(f"{API}/alert-rules", body, JSON)


def answered_alert(world: World) -> Any:
    body = {"state": "acknowledged", "note": f"Seen {next(NUMBERS)} times."}
    return world.owner.patch(f"{API}/alerts/{world.ids['alert']}", body, JSON)


def message(world: World) -> Any:
    return world.owner.post(f"{API}/channels/{world.ids['channel']}/test", {}, JSON)


def page_with_a_form(world: World) -> Any:
    path = f"/w/{world.busy.workspace.slug}/settings"
    return world.owner.post(path, {"name": "Busy", "slug": world.busy.workspace.slug})


def _one_claim() -> Callable[[], bool]:
    """Stops a worker at its second claim: others bring work faster than it is done."""
    claims = iter((False,))
    return lambda: next(claims, True)


def reading(_world: World) -> None:
    drain(is_stopping=_one_claim())


def judging(_world: World) -> None:
    judge_next()


def delivering(_world: World) -> None:
    send_next()


Writer = Callable[[World], Any]
# Agents of one workspace; as many threads as the campaign has senders.
SENDERS: tuple[Writer, ...] = (upload, upload_of_a_trial)
OTHERS: tuple[Writer, ...] = (
    *(upload_elsewhere, part, observation, heartbeat, session, frozen_set, change_of_a_set),
    *(correction, new_token, alert_rule, answered_alert, message, page_with_a_form),
    *(reading, judging, delivering),
)
