"""The retry table, exactly: each status, how often it is sent, where the result ends."""

from __future__ import annotations

import base64
import gzip
import io
import json
import os
import shutil
import zipfile
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path

import httpx
import pytest
from agent_fakes import TOKEN, FakeService, run_agent

from loadsheet_agent.errors import UsageError
from loadsheet_agent.exits import Exit
from loadsheet_agent.upload import retry
from loadsheet_agent.upload.api_client import open_client
from loadsheet_agent.upload.delivery import Uploader
from loadsheet_agent.upload.envelope import file_envelope
from loadsheet_agent.upload.parts import PackedFile
from loadsheet_agent.upload.spool import Entry, Spool
from loadsheet_agent.upload.target import Target, make_target, read_target

RETRIED = (408, 424, 425, 429, 500, 502, 503, 504, 507)
REJECTED = (400, 409, 413, 415, 422)
HELD = (401, 403, 404, 302, 418)


@pytest.fixture
def spool(tmp_path: Path) -> Spool:
    return Spool(tmp_path / "spool")


def waiting_entry(spool: Spool, content: bytes = b"Requests/sec: 1\n" * 200) -> Entry:
    entry = spool.create()
    (entry.directory / "wrk.txt").write_bytes(content)
    entry.commit(file_envelope(entry.id), ["wrk.txt"])
    return entry


class Sleeper:
    def __init__(self) -> None:
        self.slept: list[float] = []

    def __call__(self, seconds: float) -> None:
        self.slept.append(seconds)


def uploader(url: str, sleeper: Sleeper, **more: object) -> Uploader:
    target = Target(url=url, token=TOKEN)
    return Uploader(
        target=target,
        client=open_client(target),
        sleep=sleeper,
        draw=lambda: 1.0,
        clock=lambda: sum(sleeper.slept),
        **more,
    )


@pytest.mark.parametrize("status", RETRIED)
def test_a_passing_failure_is_sent_again_until_taken(
    service: FakeService, spool: Spool, status: int
):
    service.script = [(status, {}, {"title": "later"})] * 4
    sleeper = Sleeper()
    entry = waiting_entry(spool)
    delivery = uploader(service.url, sleeper).deliver(entry)
    assert delivery.exit_code is Exit.OK
    assert delivery.state == "parsed"
    assert delivery.result_url == f"{service.url}/u/{entry.id}"
    assert service.posts == 5
    assert sleeper.slept[:4] == [1, 2, 4, 8]
    assert spool.notes() == []


@pytest.mark.parametrize("status", REJECTED)
def test_a_refusal_for_good_is_sent_once_and_kept_with_its_problem(
    service: FakeService, spool: Spool, status: int
):
    problem = {"title": "No", "status": status, "detail": "This will never do.", "hint": "Look."}
    service.script = [(status, {"Content-Type": "application/problem+json"}, problem)]
    entry = waiting_entry(spool)
    delivery = uploader(service.url, Sleeper()).deliver(entry)
    assert delivery.exit_code is Exit.REJECTED
    assert "This will never do." in (delivery.detail or "")
    assert service.posts == 1
    kept = spool.root / "rejected" / entry.id
    assert json.loads((kept / "problem.json").read_text()) == problem
    assert (kept / "wrk.txt").stat().st_size
    (note,) = spool.notes()
    assert (note.state, note.last_error) == ("rejected", "This will never do.")


@pytest.mark.parametrize("status", HELD)
def test_what_a_person_must_change_is_held_in_the_spool(
    service: FakeService, spool: Spool, status: int
):
    service.script = [(status, {}, {"title": "Sign in"})]
    entry = waiting_entry(spool)
    delivery = uploader(service.url, Sleeper()).deliver(entry)
    assert delivery.exit_code is Exit.HELD
    assert "LOADSHEET_TOKEN" in delivery.detail or "LOADSHEET_URL" in delivery.detail
    assert service.posts == 1
    (note,) = spool.notes()
    assert (note.id, note.state, note.attempts) == (entry.id, "waiting", 1)


def too_early(wait_s: int) -> tuple[int, dict[str, str], dict[str, str]]:
    return 425, {"Retry-After": str(wait_s)}, {"title": "Time in the future", "detail": "In 2099."}


def test_a_time_that_comes_within_the_hour_is_waited_for(service: FakeService, spool: Spool):
    service.script = [too_early(900)]
    sleeper = Sleeper()
    delivery = uploader(service.url, sleeper).deliver(waiting_entry(spool))
    assert delivery.exit_code is Exit.OK
    assert sleeper.slept[0] == 900


def test_a_time_far_in_the_future_waits_in_the_spool_and_holds_up_no_other(
    service: FakeService, spool: Spool
):
    service.script = [too_early(7200)]
    sleeper = Sleeper()
    entry = waiting_entry(spool)
    delivery = uploader(service.url, sleeper).deliver(entry)
    assert (delivery.exit_code, delivery.holds_others) == (Exit.SPOOLED, False)
    assert "Time in the future In 2099." in (delivery.detail or "")
    assert (sleeper.slept, service.posts) == ([], 1)
    (note,) = spool.notes()
    assert (note.id, note.state) == (entry.id, "waiting")
    service.script = [too_early(7200)]
    waiting_entry(spool)
    done = run_agent("spool", "retry", "--spool", spool.root, *service.flags)
    assert done.returncode == Exit.SPOOLED
    assert len(service.uploads) == 1
    assert [note.id for note in spool.notes()] == [entry.id]


def test_every_listed_status_has_its_verdict():
    for status in (*RETRIED, *REJECTED):
        expected = retry.Verdict.RETRY if status in RETRIED else retry.Verdict.REJECT
        assert retry.verdict(status) is expected
    assert retry.verdict(201) is retry.Verdict.STORED
    assert retry.verdict(501) is retry.Verdict.HOLD


@pytest.mark.parametrize(
    "answer", [b"<html>sign in</html>", b"{}", b"[]", b'{"id": "00000000-other"}', b"\xff\xfe"]
)
def test_a_success_that_is_no_receipt_keeps_the_result(
    service: FakeService, spool: Spool, answer: bytes
):
    service.script = [(200, {}, answer)]
    delivery = uploader(service.url, Sleeper()).deliver(waiting_entry(spool))
    assert delivery.exit_code is Exit.HELD
    assert len(spool.notes()) == 1


def test_a_service_that_is_away_is_tried_until_the_time_is_over(spool: Spool):
    sleeper = Sleeper()
    # Port 9 (discard) of loopback: nobody listens.
    delivery = uploader("http://127.0.0.1:9", sleeper, max_wait_s=20).deliver(waiting_entry(spool))
    assert delivery.exit_code is Exit.SPOOLED
    assert sleeper.slept == [1, 2, 4, 8]
    (note,) = spool.notes()
    assert (note.state, note.attempts) == ("waiting", 5)
    assert "was not reached" in (note.last_error or "")


def test_a_timeout_is_sent_again(spool: Spool):
    seen: list[bytes] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request.read())
        if len(seen) < 3:
            raise httpx.ReadTimeout("too slow", request=request)
        return httpx.Response(202, json={"id": entry.id, "state": "parsed"})

    entry = waiting_entry(spool)
    sleeper = Sleeper()
    client = httpx.Client(transport=httpx.MockTransport(answer), base_url="http://x")
    sender = Uploader(target=Target("http://x", TOKEN), client=client, sleep=sleeper)
    assert sender.deliver(entry).exit_code is Exit.OK
    bodies = {body.split(b"\r\n", 1)[1].replace(body.split(b"\r\n", 1)[0], b"") for body in seen}
    assert len(seen) == 3
    assert len(bodies) == 1, "each try carries the same bytes"


def test_retry_after_is_honoured_up_to_an_hour(service: FakeService, spool: Spool):
    service.script = [
        (429, {"Retry-After": "30"}, {}),
        (503, {"Retry-After": "99999"}, {}),
        (503, {"Retry-After": "soon"}, {}),
    ]
    sleeper = Sleeper()
    uploader(service.url, sleeper).deliver(waiting_entry(spool))
    assert sleeper.slept[:3] == [30, 3600, 4]


def test_the_delay_is_full_jitter_under_a_ceiling():
    assert retry.delay_s(0, draw=0.0) == 0
    assert retry.delay_s(3, draw=0.5) == 4
    assert retry.delay_s(8, draw=1.0) == 256
    assert retry.delay_s(9, draw=1.0) == 300
    assert retry.delay_s(10_000, draw=1.0) == 300
    assert retry.delay_s(0, draw=1.0, retry_after_s=0) == 1


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (None, None),
        ("5", 5),
        ("Sat, 21 Nov 2026 00:01:00 GMT", 60),
        ("Fri, 20 Nov 2026 00:00:00 GMT", 0),
        ("-3", None),
        ("soon", None),
        ("²", None),
        ("٣", None),
        (f"Sat, 21 Nov {'9' * 30} 00:01:00 GMT", None),
        ("Sat, 21 Nov 2026 00:01:00 +99999999999999", None),
    ],
)
def test_retry_after_is_seconds_or_a_date(value: str | None, seconds: float | None):
    now = datetime(2026, 11, 21, tzinfo=timezone.utc)
    assert retry.parse_retry_after(value, now) == seconds


def test_the_same_upload_twice_is_one_upload(service: FakeService, spool: Spool, tmp_path: Path):
    """As after a kill between the service's answer and the removal from the spool."""
    entry = waiting_entry(spool)
    again = tmp_path / "again" / entry.id
    again.parent.mkdir()
    shutil.copytree(entry.directory, again)
    assert uploader(service.url, Sleeper()).deliver(entry).exit_code is Exit.OK
    assert uploader(service.url, Sleeper()).deliver(Entry(again)).exit_code is Exit.OK
    assert (service.posts, len(service.uploads)) == (2, 1)


def test_large_files_are_gzipped_under_their_own_name(service: FakeService, spool: Spool):
    entry = waiting_entry(spool, b"x" * 6_000_000)
    uploader(service.url, Sleeper()).deliver(entry)
    (upload,) = service.uploads.values()
    assert len(upload.raw["wrk.txt"]) < 20_000
    assert upload.files["wrk.txt"] == b"x" * 6_000_000
    assert upload.token == TOKEN


def zipped(content: bytes) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("stdout", content)
    return data.getvalue()


@pytest.mark.parametrize("compress", [gzip.compress, zipped])
def test_a_file_compressed_before_is_not_compressed_twice(
    service: FakeService, spool: Spool, compress: Callable[[bytes], bytes]
):
    packed = compress(os.urandom(4000))
    uploader(service.url, Sleeper()).deliver(waiting_entry(spool, packed))
    (upload,) = service.uploads.values()
    assert upload.raw["wrk.txt"] == packed


@pytest.mark.parametrize("state", ["failed", "quarantined"])
def test_an_unreadable_upload_says_why(service: FakeService, spool: Spool, state: str):
    service.states = ["received", "parsing", state]
    delivery = uploader(service.url, Sleeper()).deliver(waiting_entry(spool))
    assert (delivery.exit_code, delivery.state) == (Exit.UNREAD, state)
    assert delivery.detail == "the text ends early"
    assert spool.notes() == []


def test_an_upload_sent_before_tells_how_it_ended(service: FakeService, spool: Spool):
    entry = waiting_entry(spool)
    service.script = [(200, {}, {"id": entry.id, "state": "failed", "reason": "junk"})]
    delivery = uploader(service.url, Sleeper()).deliver(entry)
    assert (delivery.exit_code, delivery.detail, service.gets) == (Exit.UNREAD, "junk", 0)


def test_a_slow_reader_is_not_waited_for_forever(service: FakeService, spool: Spool):
    service.states = ["parsing"]
    sleeper = Sleeper()
    delivery = uploader(service.url, sleeper).deliver(waiting_entry(spool))
    assert (delivery.exit_code, delivery.state) == (Exit.OK, "parsing")
    assert 120 <= sum(sleeper.slept) < 125


def random_lines(size: int) -> bytes:
    """Text that hardly packs."""
    return base64.b64encode(os.urandom(size))


@pytest.mark.long
def test_large_files_go_in_parts_and_small_ones_beside_the_envelope(
    service: FakeService, spool: Spool
):
    entry = waiting_entry(spool)
    body = random_lines(12 << 20)
    (entry.directory / "plot.tsv").write_bytes(body)
    entry.commit(file_envelope(entry.id), ["plot.tsv"])
    assert uploader(service.url, Sleeper()).deliver(entry).exit_code is Exit.OK
    (upload,) = service.uploads.values()
    assert upload.files["plot.tsv"] == body
    assert "wrk.txt" in upload.files
    assert len(service.parts) == -(-len(upload.raw["plot.tsv"]) // (256 << 10))


@pytest.mark.long
def test_after_a_cut_only_what_is_missing_is_sent(service: FakeService, spool: Spool):
    entry = waiting_entry(spool, random_lines(20 << 20))
    taken = (201, {}, {})
    before_cuts = [*[taken] * 5, None, *[taken] * 7, None, None]
    service.part_script = [*before_cuts, *[taken] * 9, (500, {}, {})]
    sleeper = Sleeper()
    assert uploader(service.url, sleeper).deliver(entry).exit_code is Exit.OK
    (upload,) = service.uploads.values()
    (whole,) = json.loads(upload.fields["parts"])
    resent = service.part_bytes - whole["size_bytes"]
    assert 0 < resent == 4 * len(service.parts[entry.id, whole["sha256"], 0])
    assert resent < 0.1 * whole["size_bytes"]
    # The pause grows while nothing gets through, and is short again once something did.
    assert sleeper.slept[:4] == [1, 1, 2, 1]


@pytest.mark.long
def test_an_answer_that_was_lost_costs_no_part_again(
    service: FakeService, spool: Spool, tmp_path: Path
):
    entry = waiting_entry(spool, random_lines(12 << 20))
    again = tmp_path / "again" / entry.id
    again.parent.mkdir()
    shutil.copytree(entry.directory, again)
    uploader(service.url, Sleeper()).deliver(entry)
    sent = service.part_bytes
    service.parts.clear()
    assert uploader(service.url, Sleeper()).deliver(Entry(again)).exit_code is Exit.OK
    assert (service.part_bytes, len(service.uploads)) == (sent, 1)


@pytest.mark.long
def test_parts_that_were_swept_are_sent_again(service: FakeService, spool: Spool):
    entry = waiting_entry(spool, random_lines(12 << 20))
    service.script = [(424, {}, {"title": "Parts are missing"})]
    assert uploader(service.url, Sleeper()).deliver(entry).exit_code is Exit.OK
    assert len(service.uploads) == 1


@pytest.mark.long
def test_a_refused_part_refuses_the_upload(service: FakeService, spool: Spool):
    entry = waiting_entry(spool, random_lines(12 << 20))
    service.part_script = [(409, {}, {"title": "Sent before", "detail": "Other bytes."})]
    assert uploader(service.url, Sleeper()).deliver(entry).exit_code is Exit.REJECTED
    assert (spool.root / "rejected" / entry.id / "wrk.txt").exists()


@pytest.mark.parametrize(
    ("size", "part", "count"),
    [
        (1, 256 << 10, 1),
        (20 << 20, 256 << 10, 80),
        (100_000_000, 1_000_000, 100),
        (1_000_000_001, 1 << 20, 954),
        (20 << 30, 2_147_484, 10_000),
    ],
)
def test_a_part_is_a_hundredth_within_bounds(size: int, part: int, count: int):
    parcel = PackedFile("a", io.BytesIO(), size)
    assert (parcel.part_bytes, parcel.part_count) == (part, count)


def test_half_an_address_is_an_error():
    assert read_target(None, None) is None
    assert make_target("https://x.example/", "t") == Target("https://x.example", "t")
    for url, token in (("https://x", None), (None, "t"), ("x.example", "t"), ("http://x", "a b")):
        with pytest.raises(UsageError):
            make_target(url, token)
