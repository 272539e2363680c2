"""Persons take turns, and slow uploads leave a reader for the rest."""

from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.utils import timezone

from backend.accounts.models import Membership, Role, Workspace, WorkTurn
from backend.ingest.models import State, Upload
from backend.ingest.queue import budget, outcomes, queue, watching, worker
from backend.ingest.queue.claims import claim_due
from backend.ingest.reading import answers
from backend.runs.models import Trial
from backend.runs.recording import trial_row
from backend.testing.uploads import WRK, claim_next, make_envelope, make_tenant, make_upload
from backend.untrusted.sandbox.sandbox import LocalArtefact, Sandbox, cpu_used_s, sandbox

pytestmark = pytest.mark.django_db


@pytest.fixture
def busy():
    """A workspace with many uploads waiting."""
    tenant = make_tenant("busy")
    for _ in range(6):
        make_upload(tenant)
    return tenant


@pytest.fixture
def other():
    return make_tenant("other")


def claimed_workspaces(count):
    claims = [claim_next() for _ in range(count)]
    ids = [held.upload_id for held in claims if held is not None]
    slugs = dict(Upload.objects.values_list("pk", "workspace__slug"))
    return [slugs[upload_id] for upload_id in ids]


def workspaces_read(count):
    """Whose uploads are read, one after the other."""
    order = []
    for _ in range(count):
        held = claim_next()
        order.append(Upload.objects.get(pk=held.upload_id).workspace.slug)
        queue.finish(held, State.PARSED)
    return order


def test_an_upload_is_claimed_next_however_many_wait_elsewhere(busy, other):
    assert claimed_workspaces(1) == ["busy"]
    make_upload(other)
    assert claimed_workspaces(2) == ["other", "busy"]


def test_workspaces_that_finish_at_once_take_turns(busy, other):
    for _ in range(3):
        make_upload(other)
    order = workspaces_read(6)
    assert sorted(order[:2]) == sorted(order[2:4]) == sorted(order[4:]) == ["busy", "other"]


def give_workspaces(tenant, count):
    """More workspaces of the person who owns the tenant's."""
    for number in range(count):
        workspace = Workspace.objects.create(slug=f"{tenant.user.username}-{number}")
        Membership.objects.create(user=tenant.user, workspace=workspace, role=Role.OWNER)
        yield replace(tenant, workspace=workspace)


@pytest.mark.parametrize("is_slow", [False, True])
def test_twenty_workspaces_of_one_person_have_one_turn(busy, other, is_slow, settings):
    settings.SLOW_READS = 4
    for tenant in give_workspaces(busy, 20):
        make_upload(tenant), make_upload(tenant)
    for _ in range(3):
        make_upload(other)
    Upload.objects.update(is_slow=is_slow)
    order = workspaces_read(6)
    assert [order[at : at + 2].count("other") for at in (0, 2, 4)] == [1, 1, 1]
    # The workspaces of the one person take turns too.
    assert len({slug for slug in order if slug != "other"}) == 3


def test_twenty_workspaces_of_one_person_have_one_share_of_a_batch(busy, other):
    for tenant in give_workspaces(busy, 20):
        make_upload(tenant), make_upload(tenant)
    for _ in range(20):
        make_upload(other)
    claims = claim_due()
    read = Upload.objects.filter(pk__in=[each.upload_id for held in claims for each in held])
    assert read.filter(workspace=other.workspace).count() >= 15


def test_whoever_owns_a_workspace_first_pays_for_it(busy, other):
    """A second owner's turns are not taken."""
    Membership.objects.create(user=other.user, workspace=busy.workspace, role=Role.OWNER)
    assert claimed_workspaces(2) == ["busy", "busy"]
    make_upload(other)
    assert claimed_workspaces(1) == ["other"]
    # Nobody owns it any more: the workspace has turns of its own.
    Membership.objects.filter(workspace=busy.workspace).delete()
    assert claimed_workspaces(2) == ["busy", "busy"]


def test_turns_go_on_after_the_clock_was_set_back(busy, other):
    ahead = timezone.now() + timedelta(hours=1)
    for tenant in (busy, other):
        WorkTurn.objects.create(key=f"upload user {tenant.user.pk}", at=ahead)
        ahead += timedelta(seconds=1)
    for _ in range(2):
        make_upload(other)
    order = workspaces_read(4)
    assert order == ["busy", "other", "busy", "other"]


def test_a_workspace_reads_at_most_so_many_uploads_at_a_time(busy, other, settings):
    settings.READS_PER_WORKSPACE = 4
    assert claimed_workspaces(6) == ["busy"] * 4
    make_upload(other)
    assert claimed_workspaces(2) == ["other"]


def test_a_slow_upload_moves_to_the_slow_lane_and_is_read_there(other, settings):
    settings.QUICK_READ_S = -1
    upload = make_upload(other)
    worker.drain()
    upload.refresh_from_db()
    assert (upload.state, upload.is_slow, upload.attempts) == (State.PARSED, True, 1)


def test_an_upload_that_is_slow_to_write_moves_to_the_slow_lane(other, monkeypatch):
    clock = stopped_clock(monkeypatch)
    check = trial_row.check_trial

    def check_trial(figures):
        clock.monotonic_s += 60
        clock.cpu_s += 60
        return check(figures)

    monkeypatch.setattr(trial_row, "check_trial", check_trial)
    envelope = make_envelope(3)
    for trial in envelope["trials"]:
        trial["artefacts"] = ["0.txt"]
        trial["server"] = {"name": f"server {trial['ordinal']}"}
    upload = make_upload(other, WRK, envelope=envelope)
    held = queue.claim_one(upload.pk)
    assert not worker._work_on(held)
    upload.refresh_from_db()
    assert (upload.state, upload.is_slow, Trial.objects.count()) == (State.RECEIVED, True, 0)


def stopped_clock(monkeypatch):
    """The clocks of the budget: they stand still until a test sets them on."""
    clock = SimpleNamespace(monotonic_s=0.0, cpu_s=0.0)
    monkeypatch.setattr(budget, "time", SimpleNamespace(monotonic=lambda: clock.monotonic_s))
    monkeypatch.setattr(budget, "cpu_used_s", lambda: clock.cpu_s)
    return clock


@pytest.mark.parametrize(
    ("took_s", "worked_s", "is_slow"),
    [
        (4, 4, False),
        (6, 0.3, True),
        # Small, on a machine that has little time for it: not behind the large ones.
        (50, 0.1, False),
        # It waits for something else, and the others for its reader.
        (61, 0.1, True),
    ],
)
def test_a_small_upload_on_a_busy_machine_stays_in_the_quick_lane(
    other, monkeypatch, settings, took_s, worked_s, is_slow
):
    settings.QUICK_READ_S = 5
    clock = stopped_clock(monkeypatch)
    check = trial_row.check_trial

    def check_trial(figures):
        clock.monotonic_s += took_s
        clock.cpu_s += worked_s
        return check(figures)

    monkeypatch.setattr(trial_row, "check_trial", check_trial)
    # The second trial is not begun where the first one took too long.
    envelope = make_envelope(2)
    for trial in envelope["trials"]:
        trial["artefacts"] = ["0.txt"]
    upload = make_upload(other, WRK, envelope=envelope)
    held = queue.claim_one(upload.pk)
    worker._work_on(held)
    upload.refresh_from_db()
    assert upload.is_slow == is_slow
    assert upload.state == (State.RECEIVED if is_slow else State.PARSED)


@pytest.mark.parametrize(
    ("seconds", "is_read", "is_started"),
    [((1, 1), True, False), ((2, 1), True, True), ((2, 0.1), True, False), ((2, 1), False, False)],
    ids=["early", "late", "waiting for a processor", "being written"],
)
def test_a_parser_that_will_be_stopped_has_a_spare(
    other, monkeypatch, settings, seconds, is_read, is_started
):
    settings.QUICK_READ_S = 5
    clock, started = stopped_clock(monkeypatch), []
    monkeypatch.setattr(Sandbox, "start_spare", lambda _: started.append(1))
    meanwhile = watching.watch([queue.claim_one(make_upload(other).pk)], None)
    clock.monotonic_s, clock.cpu_s = seconds
    monkeypatch.setattr(sandbox(), "is_at_work", is_read)
    meanwhile()
    assert bool(started) == is_started


def test_after_a_reading_no_spare_is_left(other):
    sandbox().prepare()
    sandbox().start_spare()
    make_upload(other)
    worker.drain()
    assert sandbox().spare is None


def test_the_work_of_the_parser_counts(other):
    before_s = cpu_used_s()
    make_upload(other)
    worker.drain()
    assert sandbox().cpu_s() > 0
    assert cpu_used_s() > before_s


def test_only_so_many_slow_uploads_are_read_at_a_time(busy, other, settings):
    Upload.objects.update(is_slow=True)
    make_upload(other)
    Upload.objects.filter(workspace=other.workspace).update(is_slow=True)
    quick = make_upload(busy)
    held = [claim_next() for _ in range(3)]
    assert [each.is_slow for each in held[:2]].count(True) == 1
    assert quick.pk in {each.upload_id for each in held[:2]}
    assert held[2] is None


def test_a_slow_upload_ends_at_its_own_limit(other, settings):
    settings.QUICK_READ_S = settings.SLOW_READ_S = -1
    upload = make_upload(other)
    worker.drain()
    upload.refresh_from_db()
    assert upload.state == State.FAILED
    assert "took longer than" in upload.reason


def test_a_parser_that_is_left_behind_answers_no_later_question(other, settings):
    """A reading that is broken off must not leave its answer to the next upload."""
    upload = make_upload(other)
    with answers.storage().local_path(upload.artefacts.get().sha256) as path:
        files = [LocalArtefact("0.txt", path)]
        box = sandbox()
        child = box._running_child()
        box._wait = lambda *_: (_ for _ in ()).throw(outcomes.OutOfTime)
        with pytest.raises(outcomes.OutOfTime):
            box.read(files, tool="")
        del box._wait
        assert child.poll() is not None
        assert box.read(files, tool="k6")["refused"]


@pytest.mark.usefixtures("small_files_as_files")
def test_a_file_that_many_trials_name_is_read_once_by_each_tool(other, monkeypatch):
    ask, asked = answers.ask_parser, []

    def counted(files, *, tool, **options):
        asked.append(tool)
        return ask(files, tool=tool, **options)

    monkeypatch.setattr(answers, "ask_parser", counted)
    envelope = make_envelope(60)
    for trial in envelope["trials"]:
        trial["artefacts"] = ["0.txt"]
    envelope["trials"][7]["load"]["tool"] = ""
    upload = make_upload(other, WRK, envelope=envelope)
    worker.drain()
    assert sorted(asked) == ["", "wrk"]
    assert Trial.objects.filter(run_id=upload.pk, requests_completed=18_000).count() == 60
