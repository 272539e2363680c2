"""Times by the service's clock: the measured offset is added, and no time lies in the future."""

import json
import uuid
from dataclasses import fields
from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from backend.errors import TooEarly
from backend.formats.archive_facts import ArchiveFacts
from backend.formats.model import ParsedTrial
from backend.ingest.models import Upload
from backend.ingest.queue.worker import process
from backend.ingest.reprocessing.reprocess import reprocess
from backend.runs.measured.host_facts import MOST_OFFSET_S
from backend.runs.models import Observation, Run, Trial
from backend.runs.tables.happening import happened_at, lies_ahead, newest_first, refuse_future
from backend.testing.uploads import (
    WRK,
    make_envelope,
    make_file,
    make_tenant,
    make_trial,
    make_upload,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("own_storage")]
BEGAN = datetime(2026, 1, 31, 12, tzinfo=UTC)
HOUR_S = 3600.0
URL = "/api/v1/uploads"


@pytest.fixture
def lab():
    return make_tenant("lab")


def at(ahead: timedelta) -> str:
    return (timezone.now() + ahead).isoformat()


def with_time(place: str, time: str) -> dict:
    """An envelope of one trial that has this time at a place such as `trials[0].started_at`."""
    envelope = make_envelope(1)
    part, _, name = place.rpartition(".")
    if part == "run.events[0]":
        envelope["run"]["events"] = [{"at": time, "kind": "note", "text": "it rained"}]
    else:
        (envelope["run"] if part == "run" else envelope["trials"][0])[name] = time
    return envelope


def with_clock(envelope: dict, offset_s: object, **more: object) -> dict:
    envelope["hosts"]["client"]["facts"] = {"clock": {"offset_s": offset_s, **more}}
    return envelope


PLACES = [
    *(f"{part}.{name}" for part in ("run", "trials[0]") for name in ("started_at", "finished_at")),
    "run.events[0].at",
]
FUTURE, ALLOWED = timedelta(hours=2), timedelta(minutes=4)


@pytest.mark.parametrize("place", PLACES)
def test_a_time_in_the_future_is_refused_wherever_it_stands(client, lab, place):
    files = {"file": make_file(WRK, "0.txt")}
    envelope = with_time(place, at(FUTURE))
    answer = client.post(URL, {**files, "envelope": json.dumps(envelope)}, headers=lab.headers)
    problem = answer.json()
    assert (answer.status_code, problem["code"]) == (425, "time-in-the-future")
    assert problem["detail"].startswith(f"envelope: {place} is 20")
    assert "expected a time at most 5 minutes after" in problem["detail"]
    assert "Set the clock of the machine that measured" in problem["hint"]
    assert 3600 < int(answer["Retry-After"]) <= 115 * 60
    assert not Upload.objects.exists()


@pytest.mark.parametrize("place", PLACES)
def test_a_clock_that_is_a_little_ahead_is_no_reason_to_refuse(lab, place):
    upload = make_upload(lab, envelope=with_time(place, at(ALLOWED)))
    process(upload.pk)
    run = Run.objects.get(pk=upload.pk)
    assert happened_at(run) <= run.recorded_at


@pytest.mark.parametrize("address", [URL, f"{URL}/preview"])
def test_the_measured_offset_decides_what_is_the_future(client, lab, address):
    """Of a clock that is two hours ahead, and of one that is two hours behind."""

    def status(ahead, offset_s):
        envelope = with_clock(with_time("run.started_at", at(ahead)), offset_s)
        data = {"file": make_file(WRK, "0.txt"), "envelope": json.dumps(envelope)}
        return client.post(address, data, headers=lab.headers).status_code

    assert status(timedelta(hours=2), -2 * HOUR_S) < 300
    assert status(timedelta(hours=-1), 2 * HOUR_S) == 425


def test_the_offset_is_in_all_times_of_a_run(lab):
    trial = make_trial(0, started_at=BEGAN.isoformat(), finished_at=BEGAN.isoformat())
    envelope = with_clock({**make_envelope(0), "trials": [trial]}, HOUR_S, is_applied=False)
    envelope["run"] |= {
        "started_at": BEGAN.isoformat(),
        "finished_at": (BEGAN + timedelta(minutes=1)).isoformat(),
        "events": [{"at": BEGAN.isoformat(), "kind": "note", "text": "it rained"}],
    }
    upload = make_upload(lab, envelope=envelope)
    process(upload.pk)
    later = BEGAN + timedelta(hours=1)
    for _ in range(2):
        run, row = Run.objects.get(pk=upload.pk), Trial.objects.get(run=upload.pk)
        assert (run.started_at, run.finished_at) == (later, later + timedelta(minutes=1))
        assert (row.started_at, row.finished_at) == (later, later)
        assert datetime.fromisoformat(run.events[0]["at"]) == later
        assert run.facts["client"]["clock"] == {"offset_s": HOUR_S, "is_applied": True}
        # Read again, it is added once all the same.
        reprocess(upload.pk)


@pytest.mark.parametrize("offset_s", [None, "3600", True, 2 * MOST_OFFSET_S, [1]])
def test_what_is_no_offset_of_a_clock_changes_no_time(lab, offset_s):
    envelope = with_clock(with_time("run.started_at", BEGAN.isoformat()), offset_s, is_applied=True)
    upload = make_upload(lab, envelope=envelope)
    process(upload.pk)
    run = Run.objects.get(pk=upload.pk)
    assert run.started_at == BEGAN
    assert run.facts["client"]["clock"]["is_applied"] is False


def test_a_time_that_no_calendar_has_stays_as_it_was_sent(lab):
    envelope = with_clock(with_time("run.started_at", "0001-01-01T00:00:00Z"), -HOUR_S)
    upload = make_upload(lab, envelope=envelope)
    process(upload.pk)
    assert Run.objects.get(pk=upload.pk).started_at.year == 1


def test_an_upload_that_is_stored_is_answered_again_whatever_its_times(lab):
    """The sender lost the answer of a service that took such times."""
    envelope = with_time("run.started_at", at(ALLOWED))
    upload = make_upload(lab, envelope=envelope)
    later = timezone.now() - timedelta(hours=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("backend.runs.tables.happening.timezone.now", lambda: later)
        assert make_upload(lab, envelope=envelope).pk == upload.pk
        with pytest.raises(TooEarly):
            make_upload(lab, envelope={**envelope, "id": str(uuid.uuid4())})


def test_a_run_of_the_future_that_is_stored_is_read_again_and_is_not_the_newest(lab):
    past = make_upload(lab, envelope=with_time("run.started_at", BEGAN.isoformat()))
    Upload.objects.filter(pk=past.pk).update(envelope=with_time("run.started_at", at(FUTURE)))
    process(past.pk)
    reprocess(past.pk)
    newer = make_upload(lab)
    process(newer.pk)
    order = newest_first(Run.objects.filter(workspace=lab.workspace))
    assert [run.pk for run in order] == [newer.pk, past.pk]


def test_samples_of_the_future_are_refused(client, lab):
    upload = make_upload(lab, envelope=make_envelope(1))
    process(upload.pk)
    address = f"/api/v1/runs/{upload.pk}/observations"

    def send(ahead):
        body = {
            "id": str(uuid.uuid4()),
            "host": {"name": "server-1"},
            "uncertainty_s": 0.1,
            "samples": [{"at_s": (timezone.now() + ahead).timestamp()}],
        }
        return client.post(address, body, "application/json", headers=lab.headers)

    refused = send(FUTURE)
    assert (refused.status_code, refused.json()["code"]) == (425, "time-in-the-future")
    assert not Observation.objects.exists()
    assert send(ALLOWED).status_code == 201


def test_no_correction_moves_a_run_into_the_future(client, lab):
    upload = make_upload(lab, envelope=make_envelope(1))
    process(upload.pk)
    client.force_login(lab.user)
    address = f"/api/v1/runs/{upload.pk}"

    def correct(ahead):
        return client.patch(address, {"started_at": at(ahead)}, "application/json")

    refused = correct(FUTURE)
    assert refused.status_code == 400
    assert "expected a time from 1970 until now" in refused.json()["detail"]
    assert correct(timedelta(0)).status_code == 200


def test_the_form_refuses_a_time_in_the_future(client, lab):
    client.force_login(lab.user)
    started = (timezone.now() + timedelta(days=1)).strftime("%Y-%m-%dT%H:%M")
    for action in ("preview", "save"):
        given = {"paste": WRK, "started": started, "action": action}
        answer = client.post("/w/lab/upload", given)
        assert answer.status_code == 425
        assert "run.started_at is" in answer.content.decode()
    assert not Upload.objects.exists()


def test_no_output_says_when_it_was_measured():
    """A parser that reads a time must have it refused in the future, by its own rule."""
    texts = [str(each.type) for kind in (ParsedTrial, ArchiveFacts) for each in fields(kind)]
    assert not [text for text in texts if "date" in text]


def test_five_minutes_are_allowed(monkeypatch):
    monkeypatch.setattr("backend.runs.tables.happening.timezone.now", lambda: BEGAN)
    most = BEGAN + timedelta(minutes=5)
    assert not lies_ahead(most)
    with pytest.raises(TooEarly, match="after 2026-01-31T12:00:00Z") as refused:
        refuse_future("started_at", most + timedelta(seconds=1))
    assert refused.value.wait_s == 1
