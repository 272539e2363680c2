"""Parsers that are killed: an attempt of the upload that was being read, and of no other."""

import contextlib
import os
import re
import signal
import sys
from datetime import timedelta

import psutil
import pytest
from django.conf import settings as live
from django.utils import timezone

from backend.ingest.models import State, Upload
from backend.ingest.queue import batches, queue, watching, worker
from backend.ingest.queue.claims import claim_due
from backend.ingest.queue.outcomes import MORE_MEMORY
from backend.ingest.reading import answers, questions
from backend.testing.uploads import claim_next, make_tenant, make_upload
from backend.untrusted.sandbox import sandbox as sandbox_module
from backend.untrusted.sandbox.parser_failures import ParserInterrupted
from backend.untrusted.sandbox.sandbox import Sandbox, sandbox

pytestmark = [pytest.mark.django_db, pytest.mark.processes]
PLANTED = [sys.executable, "-m", "backend.untrusted.tests.planted_child"]


@pytest.fixture
def tenant():
    return make_tenant()


@pytest.fixture
def upload(tenant):
    return make_upload(tenant)


def processed(upload):
    worker.process(upload.pk)
    upload.refresh_from_db()
    return upload


def wait_out(upload):
    Upload.objects.filter(pk=upload.pk).update(retry_at=None)


def counted(uploads):
    rows = Upload.objects.in_bulk([upload.pk for upload in uploads])
    return [(rows[each.pk].state, rows[each.pk].attempts, rows[each.pk].faults) for each in uploads]


@pytest.fixture
def kill_parsers(monkeypatch):
    """Kills the next parsers that are asked about an upload, before they answer."""
    send, kills = Sandbox._send, []

    def send_and_kill(box, message):
        is_start = b'"artefacts":[]' in message
        if is_start or not kills:
            return send(box, message)
        kills.pop()
        os.kill(box._running_child().pid, signal.SIGSTOP)
        child = send(box, message)
        os.kill(child.pid, signal.SIGKILL)
        return child

    monkeypatch.setattr(Sandbox, "_send", send_and_kill)
    yield lambda times: kills.extend([1] * times)
    sandbox().close()


def test_the_third_kill_fails_the_upload_and_its_page_says_why(
    client, tenant, upload, kill_parsers
):
    kill_parsers(3)
    for attempt in (1, 2):
        assert processed(upload).state == State.RECEIVED
        assert (upload.attempts, upload.faults) == (attempt, 0)
        assert upload.reason.endswith("Loadsheet tries again automatically.")
        wait_out(upload)
    assert processed(upload).state == State.FAILED
    expected = re.compile(
        r"While it read this upload, the parser was killed \(SIGKILL\), as happens when memory "
        r"runs out; it had used (at most )?[\d,]+ MiB of memory, the limit is 2,048 MiB\. "
        r"This was attempt 3, the last\. The raw files are kept\. "
        r"Send its results as several smaller uploads, or ask the operator for more memory: of "
        r"the worker, and PARSE_MEMORY_BYTES, the limit of a parser\."
    )
    assert live.PARSE_MEMORY_BYTES == 2048 << 20
    assert expected.fullmatch(upload.reason)
    client.force_login(tenant.user)
    assert expected.search(client.get(f"/u/{upload.pk}").content.decode())
    answer = client.get(f"/api/v1/uploads/{upload.pk}").json()
    assert (answer["state"], answer["attempts"]) == ("failed", 3)
    assert expected.fullmatch(answer["reason"])


def test_an_upload_whose_parser_was_killed_twice_is_read(upload, kill_parsers):
    kill_parsers(2)
    for _ in range(2):
        processed(upload)
        wait_out(upload)
    assert processed(upload).state == State.PARSED
    assert (upload.reason, upload.attempts, upload.faults) == ("", 3, 0)


def test_the_pause_after_each_kill_is_longer(upload, kill_parsers):
    kill_parsers(2)
    assert processed(upload).retry_at <= timezone.now() + timedelta(seconds=5)
    wait_out(upload)
    before = timezone.now()
    assert processed(upload).retry_at > before + timedelta(minutes=5)
    assert claim_next() is None


def test_what_another_upload_left_in_a_parser_is_not_measured(upload, tenant):
    sandbox().prepare()
    used = sandbox().child
    assert processed(upload).state == State.PARSED
    assert sandbox().child is used
    again = make_upload(tenant)
    Upload.objects.filter(pk=again.pk).update(attempts=1)
    assert processed(again).state == State.PARSED
    assert sandbox().child is not used


@pytest.fixture
def planted(monkeypatch):
    """A parser that misbehaves as the text asks."""
    box = Sandbox(PLANTED)
    for module in (answers, batches, questions, sandbox_module, watching, worker):
        monkeypatch.setattr(module, "sandbox", lambda: box)
    yield box
    box.close()


def test_the_memory_of_a_killed_parser_is_measured(tenant, planted):
    upload = processed(make_upload(tenant, "KILL it"))
    assert (upload.state, upload.attempts) == (State.RECEIVED, 1)
    used_mib = re.search(r"had used (?:at most )?([\d,]+) MiB", upload.reason)[1]
    assert int(used_mib.replace(",", "")) >= 300


def test_an_upload_whose_parser_dies_of_memory_each_time_fails_with_what_to_do(tenant, planted):
    """The parser grows and is killed by nothing but this upload, as where memory runs out."""
    upload = make_upload(tenant, "KILL it")
    for attempt in (1, 2):
        assert (processed(upload).state, upload.attempts) == (State.RECEIVED, attempt)
        wait_out(upload)
    assert (processed(upload).state, upload.attempts, upload.faults) == (State.FAILED, 3, 0)
    reason = re.fullmatch(
        r"While it read this upload, the parser was killed \(SIGKILL\), as happens when memory "
        r"runs out; it had used (?:at most )?([\d,]+) MiB of memory, the limit is 2,048 MiB\. This "
        r"was attempt 3, the last\. The raw files are kept\. " + re.escape(MORE_MEMORY),
        upload.reason,
    )
    assert int(reason[1].replace(",", "")) >= 300
    assert processed(make_upload(tenant, "FINE")).attempts == 1


def test_an_upload_that_reaches_the_limit_of_memory_fails_with_it_at_once(tenant, settings):
    """15 MB of short lines take 1 GB: the limit of the real parser, and its own answer."""
    settings.PARSE_MEMORY_BYTES = 512 << 20
    upload = processed(make_upload(tenant, "ab\n" * 5_000_000))
    assert (upload.state, upload.attempts) == (State.FAILED, 1)
    needed = "Reading this upload needed more than 512 MiB of memory, its limit."
    assert upload.reason == f"{needed} {MORE_MEMORY}"
    assert processed(make_upload(tenant)).state == State.PARSED


@pytest.fixture
def kill_stopped(planted, monkeypatch):
    """Kills, from outside, the parser that has stopped itself at an upload."""

    def kill(_):
        with contextlib.suppress(psutil.Error):
            if planted.child and psutil.Process(planted.child.pid).status() == "stopped":
                os.kill(planted.child.pid, signal.SIGKILL)

    monkeypatch.setattr(sandbox_module, "MEANWHILE_S", 0.05)
    monkeypatch.setattr(queue.Lease, "renew", kill)


@pytest.mark.usefixtures("kill_stopped")
def test_a_kill_in_a_batch_is_an_attempt_of_the_upload_being_read_alone(tenant):
    uploads = [make_upload(tenant, f"{order} it") for order in ("FINE", "STOP", "FINE", "FINE")]
    (claims,) = claim_due()
    worker._work_on_all(claims)
    assert counted(uploads) == [
        (State.FAILED, 1, 0),  # it was read, and holds no result
        (State.RECEIVED, 1, 0),
        (State.RECEIVED, 0, 0),
        (State.RECEIVED, 0, 0),
    ]
    wait_out(uploads[1])
    groups = [{held.upload_id for held in claims} for _ in range(2) for claims in claim_due()]
    assert {uploads[1].pk} in groups
    assert {uploads[2].pk, uploads[3].pk} in groups


def test_a_kill_before_the_parser_has_the_request_is_held_against_nobody(upload, monkeypatch):
    box = sandbox()
    box.prepare()
    os.kill(box.child.pid, signal.SIGKILL)
    os.waitid(os.P_PID, box.child.pid, os.WEXITED | os.WNOWAIT)
    monkeypatch.setattr(Sandbox, "_running_child", lambda box: box.child)
    with pytest.raises(ParserInterrupted, match="before it read this upload"):
        box.read([], tool="")
    monkeypatch.undo()
    assert processed(upload).state == State.PARSED
