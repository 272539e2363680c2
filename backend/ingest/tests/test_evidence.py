"""What an agent sends beside figures is kept, shown, and refused where it is of another shape."""

import hashlib

import pytest
from django.test import Client

from backend.ingest.envelope.envelope import read_envelope
from backend.ingest.envelope.envelope_errors import EnvelopeError
from backend.ingest.queue.worker import process
from backend.runs.models import Run, Trial, Workload
from backend.testing.uploads import make_envelope, make_tenant, make_trial, make_upload

PLAN = 'order = "randomised"\n# Grüße\n'
EVENTS = [{"at": "2026-01-31T12:00:05Z", "kind": "server-restart", "text": "started again"}]
RATES = [{"server": "hello", "workload": "hello", "rate_rps": 512.0, "confirmed": True}]


pytestmark = pytest.mark.usefixtures("own_storage")


def envelope(**trial):
    body = make_envelope(0)
    body["agent"] = {"name": "loadsheet-agent", "version": "0.1.0", "hostname": "bench-1"}
    body["run"] |= {
        "plan": PLAN,
        "plan_sha256": hashlib.sha256(PLAN.encode()).hexdigest(),
        "seed": 41,
        "stopped": "the plan's time is over",
        "events": EVENTS,
        "max_rates": RATES,
        "server_tails": {"hello": "Listening", "other": None},
    }
    body["hosts"]["client"]["facts"] = {
        "smt": True,
        "clock": {"offset_s": 0.01, "uncertainty_s": 0.002, "round_trip_s": 0.004},
        "calibration": {"version": 1, "sha256_mib_s": 800.5},
    }
    entry = make_trial(
        0,
        phase="confirm",
        glance={"throughput_rps": 6000.0, "p99_s": 0.01, "error_rate": 0.0},
        resources={"client_cpu_per_core": [0.5, 0.9], "server_rss_peak_bytes": 1 << 25},
        server_tail="",
    )
    entry["load"] |= {"connections_asked": 11, "requests": None, "threads": 2}
    body["trials"] = [{**entry, **trial}]
    return body


def recorded(db_envelope, tenant=None):
    tenant = tenant or make_tenant("lab")
    upload = make_upload(tenant, envelope=db_envelope)
    process(upload.pk)
    upload.refresh_from_db()
    assert upload.state == "parsed", upload.reason
    return tenant, Run.objects.get(pk=upload.run_id)


@pytest.mark.django_db
def test_it_is_kept():
    _, run = recorded(envelope())
    assert (run.seed, run.stopped) == (41, "the plan's time is over")
    # By the service's clock, which was 10 ms ahead of the client's.
    assert run.events == [{**EVENTS[0], "at": "2026-01-31T12:00:05.010000Z"}]
    assert run.max_rates == RATES
    assert run.server_tails == {"hello": "Listening"}
    assert run.agent["hostname"] == "bench-1"
    trial = Trial.objects.get(run=run)
    assert (trial.phase, trial.glance["p99_s"]) == ("confirm", 0.01)
    assert trial.load["connections_asked"] == 11


@pytest.mark.django_db
def test_it_is_shown_on_the_pages_and_in_the_api():
    tenant, run = recorded(envelope())
    client = Client()
    client.force_login(tenant.user)
    page = client.get(f"/r/{run.pk}").content.decode()
    for part in (
        *("Reproduce", "randomised", "--seed 41", "loadsheet-agent 0.1.0", "Resource use"),
        *("started again", "Listening", "Highest rates found", "confirmation", "SMT"),
        *("Clock: service minus host", "Score: SHA-256", "as sent"),
        "A rule in the plan stopped this run early: the plan&#x27;s time is over",
    ):
        assert part in page, part
    trial = Trial.objects.get(run=run)
    page = client.get(f"/t/{trial.pk}").content.decode()
    for part in ("Busy share of each core", "Memory at its peak", "Connections requested"):
        assert part in page, part
    answer = Client(headers=tenant.headers).get(f"/api/v1/runs/{run.pk}").json()
    assert (answer["seed"], answer["max_rates"]) == (41, RATES)
    assert answer["trials"][0]["phase"] == "confirm"
    assert answer["trials"][0]["resources"]["client_cpu_per_core"] == [0.5, 0.9]


@pytest.mark.django_db
def test_the_plan_is_downloaded_as_it_was_hashed():
    tenant, run = recorded(envelope())
    person = Client()
    person.force_login(tenant.user)
    program = Client(headers=tenant.headers)
    for answer in (
        person.get(f"/r/{run.pk}/plan.toml"),
        program.get(f"/api/v1/runs/{run.pk}/plan.toml"),
    ):
        assert hashlib.sha256(answer.content).hexdigest() == run.plan_sha256
        assert answer["Content-Disposition"].startswith("attachment")


@pytest.mark.django_db
def test_another_body_is_another_workload_and_no_body_is_the_one_of_before():
    tenant = make_tenant("lab")
    workload = {"name": "post", "method": "POST", "path": "/"}
    for digest in (None, "a" * 64, "b" * 64, None):
        size = None if digest is None else 5
        asked = {**workload, "body_bytes": size, "body_sha256": digest}
        recorded(envelope(workload=asked), tenant)
    recorded(envelope(workload=workload), tenant)
    found = Workload.objects.filter(name="post").order_by("body_sha256")
    assert [row.body_sha256 for row in found] == ["a" * 64, "b" * 64, None]


@pytest.mark.parametrize(
    ("where", "change"),
    [
        ("run.seed", {"seed": -1}),
        ("run.events", {"events": "none"}),
        ("run.events[0].at", {"events": [{"at": "yesterday"}]}),
        ("run.max_rates[0].rate_rps", {"max_rates": [{"rate_rps": "fast"}]}),
        ("run.server_tails.x", {"server_tails": {"x": 1}}),
        ("run.stopped", {"stopped": 5}),
    ],
)
def test_a_run_of_another_shape_is_refused_by_its_place(where, change):
    body = envelope()
    body["run"] |= change
    with pytest.raises(EnvelopeError, match=rf"envelope: {where.replace('[', chr(92) + '[')} is"):
        read_envelope(body)


def test_a_phase_that_nobody_knows_is_refused():
    with pytest.raises(EnvelopeError, match="phase"):
        read_envelope(envelope(phase="rehearsal"))
