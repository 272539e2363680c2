"""Previews are bounded by viewer: whoever has many read leaves the others a turn."""

import threading
from concurrent.futures import ThreadPoolExecutor, as_completed
from itertools import islice

import pytest
from django.db import connections
from django.test import Client

from backend.accounts.models import Membership, Role, TokenKind, User
from backend.accounts.tokens.tokens import AGENT_LIFETIME, issue
from backend.ingest.preview import dry_run
from backend.testing.scenes import make_scene
from backend.testing.uploads import WRK, make_file, make_tenant
from backend.untrusted.sandbox import fair_slots, slots
from backend.untrusted.sandbox.slots import PREVIEWS, PREVIEWS_OF_VIEWER, STRANGERS

pytestmark = pytest.mark.django_db(transaction=True)
# Of a busy machine.
PATIENCE_S = 60.0
FLOOD = 12


class Held:
    """Files named "slow" stand still until they are let go, one by one or all."""

    def __init__(self):
        self.begun, self._steps = threading.Semaphore(0), threading.Semaphore(0)
        self.order = []

    def read(self, reader, file):
        self.order.append(file.name)
        if file.name.startswith("slow"):
            self.begun.release()
            assert self._steps.acquire(timeout=PATIENCE_S)
        return self.usual(reader, file)

    def wait_until_begun(self, times=1):
        for _ in range(times):
            assert self.begun.acquire(timeout=PATIENCE_S)

    def let_go(self, times=1000):
        self._steps.release(times)


@pytest.fixture
def held(monkeypatch):
    held = Held()
    held.usual = dry_run._Reader.read

    def read(reader, file):
        return held.read(reader, file)

    monkeypatch.setattr(dry_run._Reader, "read", read)
    monkeypatch.setattr(PREVIEWS, "_patience_s", PATIENCE_S)
    monkeypatch.setattr(fair_slots, "PATIENCE_S", PATIENCE_S)
    yield held
    held.let_go()


def preview(headers, *names):
    files = [make_file(WRK, name) for name in names]
    return Client(headers=headers).post("/api/v1/uploads/preview", {"file": files})


def try_it(address, paste=WRK):
    return Client(REMOTE_ADDR=address).post("/try", {"file": make_file(paste, "slow")})


def in_thread(pool, work, *arguments):
    def run():
        try:
            return work(*arguments)
        finally:
            connections.close_all()

    return pool.submit(run)


def statuses(futures):
    return [future.result(PATIENCE_S).status_code for future in futures]


def wait_for_queue(places, waiting):
    while len(places._queue) < waiting:
        threading.Event().wait(0.01)


def token_of(user, tenant):
    workspace = tenant.workspace
    made = issue(TokenKind.AGENT, workspace, user=user, name="n", lifetime=AGENT_LIFETIME)
    return {"authorization": f"Bearer {made}"}


def test_a_viewers_flood_gets_429_and_another_member_of_the_workspace_a_preview(held):
    """Twelve previews at once of one token kept twelve threads of a web process."""
    tenant = make_tenant()
    colleague = User.objects.create_user("colleague")
    Membership.objects.create(user=colleague, workspace=tenant.workspace, role=Role.MEMBER)
    own, other = tenant.headers, token_of(colleague, tenant)
    with ThreadPoolExecutor(FLOOD) as pool:
        flood = [in_thread(pool, preview, own, "slow") for _ in range(FLOOD)]
        held.wait_until_begun()
        refused = list(islice(as_completed(flood, PATIENCE_S), FLOOD - PREVIEWS_OF_VIEWER))
        answer = preview(other, "other")
        held.let_go()
        answered = statuses(each for each in flood if each not in refused)

    problems = [future.result() for future in refused]
    assert {each.status_code for each in problems} == {429}
    assert {each["Retry-After"] for each in problems} == {str(fair_slots.RETRY_AFTER_S)}
    assert {each.json()["detail"] for each in problems} == {slots.TooManyPreviews.sentence}
    assert answer.status_code == 200
    assert answered == [200] * PREVIEWS_OF_VIEWER
    assert (PREVIEWS._running, PREVIEWS._queue) == ([], [])


def test_a_user_has_one_share_with_all_tokens_workspaces_and_the_page(held):
    scene = make_scene()
    user = scene.own.user
    Membership.objects.create(user=user, workspace=scene.foreign.workspace, role=Role.MEMBER)
    page = Client()
    page.force_login(user)
    form = {"file": make_file(WRK, "more")}
    with ThreadPoolExecutor(2) as pool:
        first = in_thread(pool, preview, scene.own.headers, "slow")
        held.wait_until_begun()
        second = in_thread(pool, preview, token_of(user, scene.foreign), "slow")
        wait_for_queue(PREVIEWS, 1)
        third = page.post(f"/w/{scene.own.workspace.slug}/upload", form)
        held.let_go()
        assert statuses([first, second]) == [200, 200]

    assert third.status_code == 429
    assert third["Retry-After"] == str(fair_slots.RETRY_AFTER_S)
    assert slots.TooManyPreviews.sentence in third.content.decode()


def test_where_two_viewers_have_long_previews_a_third_comes_after_one_file(held):
    viewers = [make_tenant(name).headers for name in ("first", "second", "third")]
    slow = ["slow 1", "slow 2", "slow 3"]
    with ThreadPoolExecutor(3) as pool:
        long = [
            in_thread(pool, preview, viewers[0], *slow),
            in_thread(pool, preview, viewers[1], *slow),
        ]
        held.wait_until_begun(2)
        third = in_thread(pool, preview, viewers[2], "third")
        wait_for_queue(PREVIEWS, 1)
        held.let_go(1)
        assert third.result(PATIENCE_S).status_code == 200
        assert all(not future.done() for future in long)
        held.let_go()
        assert statuses(long) == [200, 200]
    assert [len(future.result().json()["files"]) for future in long] == [3, 3]
    assert held.order.index("third") == 2


@pytest.mark.parametrize(
    ("addresses", "elsewhere"),
    [
        (["192.0.2.1"] * 3, "192.0.2.2"),
        # Networks of one /48 are one visitor.
        ([f"2001:db8:71:{number}::1" for number in range(3)], "2001:db8:72::1"),
    ],
)
def test_an_address_leaves_other_visitors_a_preview(held, settings, addresses, elsewhere):
    settings.TRIES_PER_MINUTE = 1000
    with ThreadPoolExecutor(3) as pool:
        flood = [in_thread(pool, try_it, addresses[0])]
        held.wait_until_begun()
        flood.append(in_thread(pool, try_it, addresses[1]))
        wait_for_queue(STRANGERS, 1)
        refused = try_it(addresses[2])
        other = in_thread(pool, try_it, elsewhere)
        # The one that waits gives way: its address has one read.
        assert flood[1].result(PATIENCE_S).status_code == 503
        held.let_go()
        assert statuses([flood[0], other]) == [200, 200]
    assert refused.status_code == 429
    assert int(refused["Retry-After"]) > 0


def test_a_flood_of_visitors_leaves_members_a_preview(held, settings):
    settings.TRIES_PER_MINUTE = 1000
    member = make_tenant().headers
    with ThreadPoolExecutor(2) as pool:
        visitors = [in_thread(pool, try_it, f"192.0.2.{number}") for number in (1, 2)]
        held.wait_until_begun()
        wait_for_queue(STRANGERS, 1)
        assert preview(member, "member").status_code == 200
        held.let_go()
        assert statuses(visitors) == [200, 200]


def test_long_work_of_uploads_does_not_hold_up_a_preview(monkeypatch):
    monkeypatch.setattr(fair_slots, "PATIENCE_S", 0.0)
    none_left = slots.Slots(running=1, waiting=1)
    none_left._running.append("other")
    for module in ("secrets.cleaners", "sandbox.slots"):
        monkeypatch.setattr(f"backend.untrusted.{module}.LONG_WORK", none_left)
        monkeypatch.setattr("backend.untrusted.sandbox.slots.SHORT_WORK", none_left)
    tenant = make_tenant()
    large = WRK + "# padding\n" * 15_000
    files = {"file": make_file(large)}
    answer = Client(headers=tenant.headers).post("/api/v1/uploads/preview", files)
    assert answer.status_code == 200
    assert answer.json()["files"][0]["trials"]
