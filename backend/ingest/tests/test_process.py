import gzip
from datetime import timedelta

import pytest
from django.db.models.functions import Now

from backend.ingest.envelope.envelope import read_envelope
from backend.ingest.envelope.envelope_errors import EnvelopeError
from backend.ingest.models import State, Upload
from backend.ingest.queue import queue
from backend.ingest.queue.worker import process
from backend.ingest.reading import answers
from backend.ingest.reading.reading import MAX_REASONS, Reading, Refusal
from backend.runs.models import Cell, Run, Trial
from backend.testing.uploads import WRK, gzip_of, make_envelope, make_tenant, make_trial
from backend.testing.uploads import make_upload as upload_of
from backend.untrusted.sandbox.parser_failures import ParserFailed
from backend.untrusted.secrets.rewriting import CannotClean

pytestmark = pytest.mark.django_db


@pytest.fixture
def tenant():
    return make_tenant()


@pytest.fixture
def make_upload(tenant):
    return lambda *texts, **fields: upload_of(tenant, *texts, **fields)


def processed(upload):
    process(upload.pk)
    upload.refresh_from_db()
    return upload


def test_a_saved_wrk_report_becomes_a_run(make_upload):
    upload = processed(make_upload())
    trial = Trial.objects.get(run=upload.run)
    assert upload.state == State.PARSED
    assert trial.requests_completed == 18000
    assert trial.throughput_rps == pytest.approx(6000)
    assert trial.percentiles_us["99"] == 10020
    assert trial.percentiles_origin == "reported"
    assert trial.cell.series.tool == "wrk"
    assert trial.cell.connections == 10
    assert [artefact.name for artefact in trial.artefacts.all()] == ["0.txt"]


def test_the_run_has_the_uploads_id(make_upload):
    upload = processed(make_upload())
    assert upload.run_id == upload.pk


def test_a_gzipped_report_is_read(make_upload):
    assert processed(make_upload(gzip.compress(WRK.encode()))).state == State.PARSED


def test_trials_of_an_envelope_share_a_cell(make_upload):
    upload = processed(make_upload(WRK, WRK, WRK, envelope=make_envelope(3)))
    cell = Cell.objects.get(run=upload.run)
    assert cell.trials.count() == 3
    assert cell.series.server.name == "hello"
    assert len(bytes(cell.series.key)) == 32


def test_one_unreadable_trial_is_kept_with_its_error(make_upload):
    upload = processed(make_upload(WRK, "no tool's output", envelope=make_envelope(2)))
    assert upload.state == State.PARSED
    head, line = upload.reason_lines
    assert head == "1 of 2 results could not be read."
    assert line.startswith("Trial 1: ")
    bad = Trial.objects.get(run=upload.run, ordinal=1)
    assert bad.error
    assert bad.throughput_rps is None


def test_results_that_could_not_be_read_are_counted_among_all_results(make_upload, monkeypatch):
    ask = answers.ask_parser

    def ask_parser(files, **options):
        answer = ask(files, **options)
        refused = [{"refused": text} for text in ("No figure.", "No\nfigure.", "No time.")]
        return {**answer, "entries": [*answer["entries"], *refused]}

    monkeypatch.setattr(answers, "ask_parser", ask_parser)
    upload = processed(make_upload())
    assert upload.state == State.PARSED
    # Equal reasons are told once.
    assert upload.reason_lines == [
        "3 of 4 results could not be read.",
        "0.txt: No figure.",
        "0.txt: No time.",
    ]


def test_only_the_first_reasons_of_many_are_told(make_upload):
    refusals = [Refusal(f"{at}.txt", f"No {at}.") for at in range(MAX_REASONS + 2)]
    lines = Reading([], [], refusals, len(refusals), "").reason.splitlines()
    assert len(lines) == 1 + MAX_REASONS + 1
    assert lines[-1] == "More reasons, not listed: 2."


def test_a_reason_of_many_files_is_told_once_with_the_first_of_them(make_upload):
    upload = processed(make_upload(WRK, *["no tool's output"] * 23))
    head, line = upload.reason_lines
    assert head == "23 of 24 results could not be read."
    assert line.startswith("1.txt, 2.txt, 3.txt and 20 more: ")


def test_a_trial_the_tool_failed_on_is_no_hole(make_upload):
    failed = make_trial(1, artefacts=[], error="wrk ended with status 1", exit_code=1)
    envelope = make_envelope(1)
    envelope["trials"].append(failed)
    upload = processed(make_upload(WRK, envelope=envelope))
    assert Trial.objects.get(run=upload.run, ordinal=1).error == "wrk ended with status 1"


@pytest.mark.parametrize(
    "junk", [b"\x00\x01\x02\xff" * 500, b"just some words", b"<html><h1>404</h1></html>"]
)
def test_what_is_no_tools_output_fails_with_a_sentence(make_upload, junk):
    upload = processed(make_upload(junk))
    assert upload.state == State.FAILED
    assert len(upload.reason) > 20
    assert not Run.objects.exists()


def test_truncated_output_fails_and_keeps_the_raw_file(make_upload):
    upload = processed(make_upload(WRK[:200]))
    assert upload.state == State.FAILED
    assert upload.artefacts.get().size_bytes == 200


def test_a_bomb_is_refused_before_it_is_stored(make_upload):
    head = b"starttime\tseconds\tctime\tdtime\tttime\twait\n"
    rows = b"Sat Nov 21 07:00:00 2026\t1795244400\t0\t1\t1\t1\n" * 20_000
    with pytest.raises(CannotClean, match="100 times its size"):
        make_upload(gzip_of(rows, 100, head=head))
    assert not Upload.objects.exists()


def test_a_parser_at_its_limit_fails_the_upload_at_once(make_upload, monkeypatch):
    def reach_limit(*_, **__):
        raise ParserFailed("Reading this upload needed more than 2048 MiB of memory.")

    monkeypatch.setattr(answers, "ask_parser", reach_limit)
    upload = processed(make_upload())
    assert (upload.state, upload.attempts) == (State.FAILED, 1)


def test_a_worker_without_memory_tries_again(make_upload, monkeypatch):
    def exhaust(*_, **__):
        raise MemoryError

    monkeypatch.setattr(answers, "ask_parser", exhaust)
    upload = processed(make_upload())
    assert (upload.state, upload.attempts) == (State.RECEIVED, 1)


def test_a_fault_nobody_foresaw_is_an_attempt(make_upload, monkeypatch):
    def fault(*_, **__):
        raise KeyError("a fault of ours")

    monkeypatch.setattr(answers, "ask_parser", fault)
    upload = processed(make_upload())
    assert (upload.state, upload.attempts) == (State.RECEIVED, 1)
    assert "A fault of Loadsheet stopped the reading of this upload (KeyError)" in upload.reason


def test_a_second_hint_does_nothing(make_upload):
    upload = processed(make_upload())
    assert processed(upload).attempts == 1
    assert Run.objects.count() == 1


def test_a_worker_whose_lease_ran_out_writes_nothing(make_upload, monkeypatch):
    upload = make_upload()
    ask = answers.ask_parser

    def slowly(*args, **kwargs):
        answer = ask(*args, **kwargs)
        Upload.objects.filter(pk=upload.pk).update(fence=99)
        return answer

    monkeypatch.setattr(answers, "ask_parser", slowly)
    assert processed(upload).state == State.PARSING
    assert not Run.objects.exists()


def test_a_server_keeps_its_colour_over_versions(make_upload):
    newer = make_envelope(1)
    newer["trials"][0]["server"]["version"] = "2.0"
    first = processed(make_upload(WRK, envelope=make_envelope(1)))
    second = processed(make_upload(WRK, envelope=newer))
    slots = {run.cells.get().series.server.slot for run in (first.run, second.run)}
    assert len(slots) == 1


def test_an_empty_text_says_nothing(make_upload):
    envelope = make_envelope(1)
    envelope["trials"][0]["server"] = {"name": " ", "version": "", "runtime": "Unknown"}
    run = processed(make_upload(WRK, envelope=envelope)).run
    server = run.cells.get().series.server
    assert (server.name, server.version, server.runtime) == ("unknown server", None, None)


def test_claiming_counts_the_attempt_first(make_upload):
    upload = make_upload()
    held = queue.claim_one(upload.pk)
    assert (held.attempt, held.fence) == (1, 1)
    assert queue.claim_one(upload.pk) is None


@pytest.mark.usefixtures("small_files_as_files")
@pytest.mark.parametrize("envelope", [None, make_envelope(3)])
def test_reading_many_trials_keeps_the_claim(make_upload, monkeypatch, envelope):
    upload = make_upload(WRK, WRK, WRK, envelope=envelope)
    ask, taken = answers.ask_parser, []

    def slowly(*args, **kwargs):
        answer = ask(*args, **kwargs)
        # As if this trial had taken the whole lease.
        Upload.objects.filter(pk=upload.pk).update(lease_until=Now() - timedelta(seconds=1))
        monkeypatch.setattr(queue, "RENEW_AFTER_SHARE", 0)
        return answer

    def watched(lease):
        renew(lease)
        taken.append(queue.requeue_abandoned())

    renew = queue.Lease.renew
    monkeypatch.setattr(answers, "ask_parser", slowly)
    monkeypatch.setattr(queue.Lease, "renew", watched)
    assert processed(upload).state == State.PARSED
    # Three trials to read, and the same three to write.
    assert taken == [0] * 6


def test_a_claim_that_was_lost_stops_the_reading(make_upload, monkeypatch):
    upload = make_upload()
    held = queue.claim_one(upload.pk)
    Upload.objects.filter(pk=upload.pk).update(fence=99)
    monkeypatch.setattr(queue, "RENEW_AFTER_SHARE", 0)
    with pytest.raises(queue.ClaimLost):
        queue.Lease(held).renew()


def test_labels_are_kept_as_texts_that_a_link_can_ask_for(tenant):
    labels = {"name": "x", "n": 1, "nightly": True, "none": None}
    envelope = make_envelope(1)
    envelope["run"]["labels"] = labels
    upload = processed(upload_of(tenant, WRK, envelope=envelope))
    run = Run.objects.get(pk=upload.pk)
    assert run.labels == {"name": "x", "n": "1", "nightly": "true"}


def test_the_largest_values_of_an_envelope_are_recorded(make_upload):
    """No column is shorter than its limit in an envelope."""
    host = {
        **dict.fromkeys(("name", "cpu_model", "os", "kernel"), "n" * 200),
        "cores": 2**31 - 1,
        "memory_bytes": 2**63 - 1,
        "virtualisation": "v" * 100,
    }
    workload = {
        "name": "w" * 200,
        "method": "M" * 20,
        "path": "/" + "p" * 1999,
        "payload_bytes": 2**63 - 1,
        "body_bytes": 2**63 - 1,
        "body_sha256": "f" * 64,
    }
    load = {"tool_version": "v" * 80, "connections": 2**31 - 1, "rate_rps": 9.9e14}
    trial = {
        "artefacts": ["0.txt"],
        "ordinal": 2**31 - 1,
        "repeat": 2**31 - 1,
        "exit_code": 2**31 - 1,
        "resources": {"client_cpu_s": 1e20},
        "server": dict.fromkeys(("name", "version", "runtime"), "s" * 200),
        "workload": workload,
        "load": load,
    }
    run = {"seed": 2**63 - 1, "trials_planned": 2**31 - 1, "plan_sha256": "f" * 64}
    envelope = {"schema": 1, "run": run, "hosts": {"client": host, "server": host}}
    upload = processed(make_upload(envelope={**envelope, "trials": [trial]}))
    assert (upload.state, upload.reason) == (State.PARSED, "")
    assert Trial.objects.get(run=upload.run).resources["client_cpu_s"] == 1e20


@pytest.mark.parametrize("number", [1e16, 1e30, -1.7976931348623157e308])
def test_numbers_that_the_database_writes_out_are_read_again(make_upload, number):
    # It gives them as whole numbers of more than 64 bits.
    big = {"big": number, "list": [{"big": number}]}
    server = {"name": "s", "configuration": big}
    trial = {
        "artefacts": ["0.txt"],
        "server": server,
        "workload": {"name": "w", "headers": big},
        "resources": big,
        "glance": big,
    }
    run = {"labels": {"text": "a", "big": number}}
    hosts = {"client": {"name": "c", "facts": big}}
    envelope = {"schema": 1, "run": run, "hosts": hosts, "trials": [trial]}
    upload = processed(make_upload(envelope=envelope))
    assert (upload.state, upload.reason) == (State.PARSED, "")
    kept = Trial.objects.get(run=upload.run)
    series = kept.cell.series
    maps = (
        *(kept.resources, kept.resources["list"][0], kept.glance, upload.run.labels),
        *(series.server.configuration, series.workload.headers),
    )
    assert [float(each["big"]) for each in maps] == [number] * len(maps)


@pytest.mark.parametrize("fields", [{"cores": 2**31}, {"virtualisation": "v" * 101}])
def test_a_host_that_no_column_holds_is_refused_when_it_is_sent(fields):
    with pytest.raises(EnvelopeError, match=next(iter(fields))):
        read_envelope({"schema": 1, "hosts": {"server": {"name": "a", **fields}}})
