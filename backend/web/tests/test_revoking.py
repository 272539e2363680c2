"""Revoking while fifty visitors read on: nothing that was asked for afterwards is answered."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import chain

import pytest
from django.db import connection
from django.test import Client

from backend.accounts.models import Token
from backend.accounts.tokens import tokens
from backend.accounts.tokens.token_making import TokenRequest, make_token
from backend.accounts.workspace import workspace_links
from backend.accounts.workspace.scopes import Scope
from backend.sharing import drawing
from backend.sharing.edits import end_link
from backend.sharing.models import SharedRun, Visibility
from backend.sharing.run_sharing import revoke_link, share_run
from backend.testing.scenes import make_export
from backend.web.tests.pages import keep
from backend.web.tests.shared_rows import SHARED, SHARED_RUN
from backend.web.tests.test_access import body_of

pytestmark = pytest.mark.django_db(transaction=True)
VISITORS, THREADS = 50, 10
OF_A_SET = [row.path for row in SHARED.values() if row.status["anonymous"] == 200]
OF_A_RUN = [row.path for row in SHARED_RUN.values() if "{shared_link}" in row.path]


@pytest.fixture(autouse=True)
def _no_limit_on_requests(settings, monkeypatch):
    """A limit would answer 429 and hide what is behind it; and no image is really drawn."""
    settings.REQUESTS_PER_MINUTE = 10**9
    monkeypatch.setattr(drawing, "draw", lambda scene: b"\x89PNG")


class Reader:
    """A visitor who asks for the same addresses in turn."""

    def __init__(self, paths, headers=None, opens=None):
        self.client = Client(headers=headers)
        self.paths = paths
        if opens is not None:
            self.client.get(opens)
        # (asked after the link was revoked, status)
        self.answers = []

    def read_until(self, revoked):
        turn = after = 0
        # Each address once more after the link was revoked.
        while after < len(self.paths):
            is_after = revoked.is_set()
            answer = self.client.get(self.paths[turn % len(self.paths)])
            body_of(answer)
            self.answers.append((is_after, answer.status_code))
            turn, after = turn + 1, after + is_after


def read_while_revoking(readers, revoke_it):
    """The statuses of what was asked for before and after."""
    revoked, started = threading.Event(), time.monotonic()

    def play(some):
        try:
            for reader in some:
                reader.read_until(revoked)
        finally:
            connection.close()

    with ThreadPoolExecutor(THREADS) as pool:
        played = [pool.submit(play, readers[at::THREADS]) for at in range(THREADS)]
        while sum(len(reader.answers) for reader in readers) < 2 * len(readers[0].paths):
            assert time.monotonic() - started < 60, "the visitors read nothing"
            time.sleep(0.01)
        revoke_it()
        revoked.set()
        for each in played:
            each.result()
    answers = list(chain.from_iterable(reader.answers for reader in readers))
    before = [status for is_after, status in answers if not is_after]
    return before, [status for is_after, status in answers if is_after]


def assert_ended(readers, revoke_it):
    before, after = read_while_revoking(readers, revoke_it)
    assert 200 in before
    assert len(after) == VISITORS * len(readers[0].paths)
    assert set(after) <= {401, 404}


def test_the_link_of_a_result_set(scene):
    made = keep(scene, visibility=Visibility.UNLISTED)
    paths = [path.format(shared=made.link) for path in OF_A_SET]
    assert len(paths) == 9
    assert_ended([Reader(paths) for _ in range(VISITORS)], lambda: end_link(made))


def test_the_link_of_a_run(scene):
    share_run(scene.run, Visibility.UNLISTED)
    link = SharedRun.objects.get(run=scene.run).link
    paths = [path.format(shared_link=link) for path in OF_A_RUN]
    assert_ended([Reader(paths) for _ in range(VISITORS)], lambda: revoke_link(scene.run))


def test_the_link_of_a_workspace_and_its_raw_files(scene):
    workspace = scene.own.workspace
    link = f"/shared/{workspace_links.make_link(scene.own.user, workspace)}"
    raw = [f"/a/{scene.artefact.pk}/raw", f"/a/{scene.artefact.pk}", f"/r/{scene.run.pk}"]
    paths = [*raw, "/w/own-lab/compare", "/w/own-lab/runs"]
    readers = [Reader(paths, opens=link) for _ in range(VISITORS)]
    assert_ended(readers, lambda: workspace_links.revoke_link(workspace))


def test_a_token_its_raw_files_and_exports(scene):
    asked = TokenRequest("reader", list(Scope))
    token, clear = make_token(scene.own.user, scene.own.workspace, asked)
    export = make_export(scene.own.workspace).pk
    paths = [f"/api/v1/artefacts/{scene.artefact.pk}/raw", f"/api/v1/exports/{export}/file"]
    paths += ["/api/v1/trials.csv", "/api/v1/trials.parquet", "/api/v1/compare.csv"]
    readers = [Reader(paths, {"authorization": f"Bearer {clear}"}) for _ in range(VISITORS)]
    assert_ended(readers, lambda: tokens.revoke(Token.objects.get(pk=token.pk)))
