"""A workspace with something on every page: runs, agents, a run that goes on, a shared set."""

import uuid

from backend.accounts.models import Token, TokenKind
from backend.analysis.query.compare_query import CompareQuery
from backend.fleet.heartbeats import Heartbeat, record_heartbeat
from backend.ingest.models import State, Upload
from backend.ingest.queue.worker import process
from backend.runs.models import Run, Trial
from backend.sharing.freezing import Description, freeze
from backend.sharing.models import Visibility
from backend.testing.rows import CellSpec, make_run
from backend.testing.scenes import make_measured_run
from backend.testing.uploads import WRK, make_envelope, make_tenant, make_trial, make_upload

RUNNING, LIVE = uuid.UUID(int=7), uuid.UUID(int=8)
NOW = {
    "ordinal": 3,
    "server": "gunicorn sync",
    "workload": "hello",
    "connections": 64,
    "rate_rps": None,
    "repeat": 2,
    "phase": "measure",
}


# What an agent sends beside figures.
EVIDENCE = {
    "plan": 'order = "randomised"\nrepeats = 3\n\n[load]\ntool = "wrk"\nconnections = [10]\n',
    "seed": 1795,
    "events": [{"at": "2026-01-31T12:00:05Z", "kind": "server-restart", "text": "started again"}],
    "max_rates": [{"server": "nginx", "workload": "hello", "rate_rps": 5120.0, "confirmed": True}],
    "labels": {"why": "what changed since " + "a-branch-with-a-long-name-" * 6, "batch": "7"},
    "server_tails": {"nginx": "worker process exited"},
}
USED = {
    "client_cpu_s": 1.52,
    "client_cores": 2,
    "client_cpu_per_core": [0.91, 0.44],
    "client_cpu_steal": 0.004,
    "server_cpu_s": 2.03,
    "server_rss_peak_bytes": 41_000_000,
    "server_threads_peak": 6,
    "server_processes_peak": 3,
    "time_wait_peak": 120,
}


def going_on(done):
    return Heartbeat(
        run=LIVE,
        state="running",
        trials_done=done,
        trials_planned=48,
        current=NOW,
        last={"throughput_rps": 8120.0, "p99_us": 9100.0, "error_rate": 0.0},
        seconds_left=200.0,
        silent_s=3600,
    )


def send_part(tenant, ordinal):
    """A trial of the run that goes on, as its agent sends it."""
    trial = {**make_trial(ordinal, resources=USED, phase="measure"), "artefacts": ["0.txt"]}
    envelope = {**make_envelope(0), "trials": [trial]}
    envelope["run"] |= {**EVIDENCE, "id": str(LIVE)}
    process(make_upload(tenant, envelope=envelope).pk)


def _plan():
    trials = []
    for server in ("nginx", "caddy"):
        for repeat in range(3):
            trial = make_trial(len(trials), repeat=repeat, phase="measure", resources=USED)
            trial["server"] = {"name": server, "version": "1.27", "configuration": {"workers": 2}}
            trials.append(trial)
    envelope = {**make_envelope(0), "trials": trials}
    envelope["run"] |= {**EVIDENCE, "session": {"name": "big", "parts": 2}}
    return envelope


def make_page_lab(folder):
    """Several servers, versions and hosts, and an empty workspace, by name.

    `folder` gets the agent's files.
    """
    tenant, empty = make_tenant("lab"), make_tenant("empty-lab")
    upload = make_upload(tenant, *[WRK] * 6, envelope=_plan())
    process(upload.pk)
    for version in ("27.0", "27.1"):
        cells = [
            CellSpec(server=name, version=version, connections=load, rates=(rate, rate + 9))
            for name, rate in (("gunicorn sync", 900.0), ("gunicorn gthread", 700.0))
            for load in (1, 8, 64)
        ]
        make_run(tenant.workspace, *cells, host={"name": "bench-2", "cpu_model": "EPYC"})
    seconds = make_measured_run(tenant.workspace)
    shared = freeze(
        CompareQuery.parse("server=gunicorn sync&series=version&x=connections"),
        workspace=tenant.workspace,
        author=tenant.user,
        description=Description(title="Two versions", visibility=Visibility.PUBLIC),
    )
    failed = Upload.objects.create(
        workspace=tenant.workspace,
        content_sha256="1" * 64,
        state=State.FAILED,
        reason="We don't recognise this file. Line 1. Found: 'hello'.",
    )
    token = Token.objects.get(workspace=tenant.workspace, kind=TokenKind.AGENT)
    send_part(tenant, 0)
    for host, heartbeat in (
        ("bench-client-3", going_on(3)),
        ("bench-client-1", Heartbeat(run=upload.pk, state="finished", trials_done=6)),
        ("bench-client-2", Heartbeat(run=RUNNING, state="running", trials_done=3, silent_s=3600)),
    ):
        record_heartbeat(
            token, host_name=host, program="loadsheet-agent", version="0.1.0", heartbeat=heartbeat
        )
    (folder / "loadsheet.pyz").write_bytes(b"PK")
    (folder / "loadsheet_agent-0.1.0-py3-none-any.whl").write_bytes(b"PK")
    return {
        "token": token,
        "tenant": tenant,
        "empty": empty,
        "shared": shared,
        "failed": failed,
        "upload": upload,
        "run": Run.objects.get(pk=upload.pk),
        "trial": Trial.objects.filter(run=upload.pk).first(),
        "seconds": Trial.objects.filter(run=seconds.run_id).earliest("ordinal"),
    }
