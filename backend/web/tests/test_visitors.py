"""The front page of people without an account, and the preview that they may try."""

import gzip
import hashlib
import io
import json
import re
import resource
import secrets
from datetime import timedelta
from ipaddress import ip_address
from uuid import UUID

import psutil
import pytest
from django.core.cache import caches
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from backend.accounts.models import Token, User
from backend.fleet.heartbeats import Heartbeat, record_heartbeat
from backend.ingest.models import Artefact, Upload
from backend.ingest.preview.dry_run import OF_STRANGERS
from backend.library.loading import SHOWCASE, result_set_id
from backend.runs.models import Run, Trial
from backend.sharing.edits import withdraw
from backend.sharing.gallery import feature_if_none_is
from backend.sharing.models import Kind, ResultSet, Visibility
from backend.testing.rows import CellSpec, make_run, make_workspace
from backend.testing.scenes import make_result_set
from backend.testing.uploads import WRK, make_file
from backend.testing.worst_texts import WORST_TEXTS, worst_text
from backend.untrusted.sandbox import fair_slots, sandbox
from backend.untrusted.sandbox.slots import STRANGERS
from backend.web.tests.pages import html_of

pytestmark = pytest.mark.django_db
DEMO_RUN = UUID(int=12)
GZIPPED_ZEROS = gzip.compress(b"0" * (8 * OF_STRANGERS.quick.unpacked_bytes))


@pytest.fixture(autouse=True)
def _nothing_kept():
    caches["process"].clear()


@pytest.fixture
def stranger():
    # Previews are counted by address: each test has its own.
    return Client(REMOTE_ADDR=str(ip_address(0x0A000000 + secrets.randbelow(1 << 24))))


def rows():
    return [model.objects.count() for model in (Upload, Artefact, Run, Trial)]


def page(client, path="/"):
    return client.get(path).content.decode()


def test_the_front_page_asks_one_question_and_shows_no_command(stranger):
    html = page(stranger)
    assert "Which HTTP server is faster, and can you trust the answer?" in html
    assert "curl" not in html
    assert "<iframe" not in html
    assert "Public result sets" not in html


def test_the_first_public_set_is_the_one_to_play_with(stranger, scene):
    first = make_result_set(scene.own.workspace, Visibility.PUBLIC)
    newest = make_result_set(scene.own.workspace, Visibility.PUBLIC)
    response = stranger.get("/")
    html = response.content.decode()
    assert f'src="/embed/{first.link}"' in html
    assert f"/embed/{first.link}?metric=p99" in html
    assert "frame-src 'self'" in response["Content-Security-Policy"]
    gallery = html.split('class="gallery"')[1]
    assert str(newest.link) in gallery
    assert str(first.link) not in gallery
    assert "secret-finding" in gallery
    for look in ("", "?metric=p50", "?metric=p99", "?view=nines", "?view=tradeoff"):
        assert stranger.get(f"/embed/{first.link}{look}").status_code == 200


def test_a_set_that_ranks_nothing_gives_way_to_one_that_does(stranger, scene):
    unranked, ranked = (make_result_set(scene.own.workspace, Visibility.PUBLIC) for _ in range(2))
    whole = unranked.frozen_snapshot()
    whole["figures"]["outcome"]["status"] = "not_comparable"
    snapshot = json.dumps(whole).encode()
    digest = hashlib.sha256(snapshot).hexdigest()
    ResultSet.objects.filter(pk=unranked.pk).update(snapshot=snapshot, sha256=digest)
    assert showcase_on(stranger) == str(ranked.link)
    withdraw(ResultSet.objects.get(pk=ranked.pk), "Wrong.")
    assert showcase_on(stranger) == str(unranked.link)


def showcase_on(client):
    match = re.search(r'src="/embed/([^"]+)"', page(client))
    return match and match[1]


def test_the_operator_chooses_the_comparison_of_the_front_page(stranger, scene):
    first, second, newest = (
        make_result_set(scene.own.workspace, Visibility.PUBLIC) for _ in range(3)
    )
    owner, operator = Client(), Client()
    owner.force_login(scene.own.user)
    operator.force_login(User.objects.create_user("operator", is_staff=True))
    assert owner.post(f"{second.path}/feature").status_code == 404
    assert "Show on the front page" not in page(owner, second.path)
    assert "Show on the front page" in page(operator, second.path)
    assert operator.post(f"{second.path}/feature").status_code == 302
    assert showcase_on(stranger) == str(second.link)
    # A set that the demo publishes later does not take its place.
    feature_if_none_is(newest)
    assert showcase_on(stranger) == str(second.link)
    operator.post(f"{newest.path}/feature")
    assert showcase_on(stranger) == str(newest.link)
    operator.post(f"{newest.path}/feature", {"is_featured": "0"})
    assert showcase_on(stranger) == str(second.link)
    withdraw(ResultSet.objects.get(pk=second.pk), "Wrong.")
    assert showcase_on(stranger) == str(first.link)
    feature_if_none_is(newest)
    assert showcase_on(stranger) == str(newest.link)


def test_until_somebody_chooses_the_front_page_shows_a_study_of_the_library(stranger, scene):
    _, study, newest = (make_result_set(scene.own.workspace, Visibility.PUBLIC) for _ in range(3))
    ResultSet.objects.filter(pk=study.pk).update(link=result_set_id(SHOWCASE))
    assert showcase_on(stranger) == str(result_set_id(SHOWCASE))
    assert "A published benchmark, with its checks" in page(stranger)
    feature_if_none_is(newest)
    assert showcase_on(stranger) == str(newest.link)
    assert "A measured comparison" in page(stranger)


@pytest.fixture
def demo_agent(settings):
    """The token of the demo's agent, on a site of scripts/start."""
    settings.LOCAL_SITE = True
    made = io.StringIO()
    call_command("make_demo", stdout=made)
    return Token.objects.get(workspace__slug=json.loads(made.getvalue())["workspace"])


def report(token, state="running", **fields):
    """A heartbeat of the demo's run."""
    heartbeat = Heartbeat(run=DEMO_RUN, state=state, trials_done=12, trials_planned=48, **fields)
    record_heartbeat(token, host_name="here", program="loadsheet", version="1", heartbeat=heartbeat)


def test_while_the_demo_is_measured_the_front_page_says_how_far_it_is(demo_agent, stranger):
    assert "The demo is being measured" not in page(stranger)
    report(demo_agent, seconds_left=70, silent_s=60)
    html = html_of(stranger.get("/"))
    assert "The demo is being measured on this machine" in html
    assert "<strong>12 of 48 trials and warm-ups</strong>, about 2 minutes left." in html
    assert '<progress max="48" value="12"' in html
    report(demo_agent, state="finished")
    assert "The demo is being measured" not in page(stranger)


def test_a_workspace_that_is_called_demo_is_no_demo_elsewhere(demo_agent, stranger, settings):
    report(demo_agent, silent_s=60)
    settings.LOCAL_SITE = False
    assert "The demo is being measured" not in page(stranger)


def test_a_private_set_does_not_come_to_the_front_page(scene):
    operator = Client()
    scene.own.user.is_staff = True
    scene.own.user.save()
    operator.force_login(scene.own.user)
    private = make_result_set(scene.own.workspace, Visibility.PRIVATE)
    response = operator.post(f"{private.path}/feature")
    assert response.status_code == 409
    assert "The front page shows a result set that is public" in response.content.decode()


HIDDEN = {
    "private": {"visibility": Visibility.PRIVATE},
    "unlisted": {"visibility": Visibility.UNLISTED},
    "withdrawn": {"withdrawn_at": timezone.now(), "withdrawn_reason": "wrong"},
    "expired": {"expires_at": timezone.now() - timedelta(days=1)},
    "live": {"kind": Kind.LIVE},
}


@pytest.mark.parametrize("fields", HIDDEN.values(), ids=HIDDEN)
def test_only_what_everyone_may_read_stands_on_the_front_page(stranger, scene, fields):
    visibility = fields.get("visibility", Visibility.PUBLIC)
    shown = make_result_set(scene.own.workspace, visibility)
    changed = dict(fields)
    if changed.get("kind") == Kind.LIVE:
        changed["snapshot"] = None
    type(shown).objects.filter(pk=shown.pk).update(**changed)
    assert str(shown.link) not in page(stranger)


def test_a_superseded_set_gives_way_to_its_successor(stranger, scene):
    newer = make_result_set(scene.own.workspace, Visibility.PUBLIC)
    older = make_result_set(scene.own.workspace, Visibility.PUBLIC, superseded_by=newer)
    html = page(stranger)
    assert str(newer.link) in html
    assert str(older.link) not in html


def test_a_visitor_sees_an_output_read_and_checked_and_nothing_is_stored(stranger):
    before = rows()
    html = html_of(stranger.post("/try", {"paste": WRK}))
    assert "1 trial, nothing was stored" in html
    assert 'value="6000.0" data-format="rate"' in html
    assert "<strong>Server version unknown</strong>" in html
    assert rows() == before


@pytest.mark.parametrize("is_open", [True, False])
def test_after_an_output_was_read_the_next_steps_are_named(stranger, settings, is_open):
    settings.OPEN_SIGN_UP = is_open
    html = html_of(stranger.post("/try", {"paste": WRK}))
    steps = html.split("What next?")[1].split("</section>")[0]
    for words in ("Keep it", "Compare it", "the same load tool, workload and load", "Try another"):
        assert words in steps
    assert 'href="/accounts/login/"' in steps
    assert ("create an account" in steps) == is_open
    assert ("A new account needs an invitation" in steps) != is_open
    assert "What next?" not in page(stranger)
    unread = html_of(stranger.post("/try", {"paste": "hello"}))
    assert "Keep it" not in unread
    assert "Try another" in unread


def test_a_member_of_no_workspace_is_told_one_thing(stranger, scene):
    stranger.force_login(User.objects.create_user("alone"))
    for address in ("/", "/workspaces"):
        html = html_of(stranger.get(address))
        assert "You have no workspace yet. Create a workspace" in html
        assert 'href="/new-workspace"' in html
        assert "Ask an owner" not in html


def test_a_signed_in_form_of_another_site_is_refused(db):
    client = Client(enforce_csrf_checks=True)
    assert client.post("/try", {"paste": WRK}).status_code == 403


def test_an_address_may_try_so_often_and_is_told_when_to_come_back(stranger, settings):
    settings.TRIES_PER_MINUTE = 2
    statuses = [stranger.post("/try", {"paste": WRK}).status_code for _ in range(2)]
    refused = stranger.post("/try", {"paste": WRK})
    assert [*statuses, refused.status_code] == [200, 200, 429]
    assert (
        "More than 2 previews came from your network within a minute. Try again in"
        in refused.content.decode()
    )
    assert int(refused["Retry-After"]) > 0
    other = stranger.post("/try", {"paste": WRK}, REMOTE_ADDR="192.0.2.7")
    assert other.status_code == 200


def test_one_visitor_at_a_time_is_served_by_a_process(stranger, monkeypatch):
    monkeypatch.setattr(fair_slots, "PATIENCE_S", 0.01)
    with STRANGERS.take():
        # A thread that holds the slot keeps it; another request comes in a thread of its own.
        STRANGERS._own.is_taken = False
        response = stranger.post("/try", {"paste": WRK})
    assert response.status_code == 503
    assert int(response["Retry-After"]) > 0


def test_a_file_that_unpacks_to_more_than_a_visitor_may_read_is_refused(stranger):
    html = html_of(stranger.post("/try", {"file": make_file(GZIPPED_ZEROS, "zeros.gz")}))
    assert "notice-error" in html
    assert f"more than {OF_STRANGERS.quick.unpacked_bytes:,} bytes" in html

    assert f"{OF_STRANGERS.quick.unpacked_bytes:,} bytes, the limit of a preview." in html


def cpu_s_of_children():
    """Of those that live, and of those that ended."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    living = [child.cpu_times() for child in psutil.Process().children()]
    times = [(ended.ru_utime, ended.ru_stime), *((each.user, each.system) for each in living)]
    return sum(user + system for user, system in times)


def worst_form(name):
    """As much gzip of a worst text as the form takes, in members: it unpacks to many megabytes."""
    member = gzip.compress(worst_text(name, 1 << 20), mtime=0)
    return member * max(1, OF_STRANGERS.total_bytes // len(member))


@pytest.mark.processes
@pytest.mark.parametrize("name", WORST_TEXTS)
def test_the_worst_text_costs_a_visitor_no_more_than_a_preview_may_take(
    stranger, monkeypatch, name
):
    # On a busy machine a second of CPU time may take many of the clock's.
    monkeypatch.setattr(sandbox, "GRACE_S", 60)
    stranger.post("/try", {"file": make_file(gzip.compress(WRK.encode()))})  # starts the children
    before_s = cpu_s_of_children()
    html = html_of(stranger.post("/try", {"file": make_file(worst_form(name), "worst.gz")}))
    # The system counts whole seconds of CPU time: a second more for the search and for the reading.
    assert cpu_s_of_children() - before_s < 2 * (OF_STRANGERS.quick.cpu_s + 1)
    assert "the limit of a preview." in html


def test_an_empty_form_says_what_to_do(stranger):
    response = stranger.post("/try", {"paste": " "})
    assert response.status_code == 400
    assert "Paste the output of a load tool, or choose its file." in response.content.decode()


def test_the_demo_is_published_once_for_the_front_page(stranger):
    workspace = make_workspace("demo")
    run = make_run(workspace, CellSpec("fast"), CellSpec("slow"))
    Trial.objects.update(latency_resolution_us=10.0)
    first, second = publish(run), publish(run)
    assert first == second
    assert first["tool"] == "wrk 4.1.0, which prints latency in steps of 10 µs"
    link = first["path"].removeprefix("/s/")
    assert f'src="/embed/{link}"' in page(stranger)
    assert first["tool"] in stranger.get(first["path"]).content.decode()


def publish(run):
    out = io.StringIO()
    call_command("publish_demo", str(run.pk), stdout=out)
    return json.loads(out.getvalue())
