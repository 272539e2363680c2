"""What the envelope and the output say of one trial, to be held against each other."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from backend.runs.checks.claims import Claims, Evidence
from backend.runs.checks.contradictions import claims_of_url

if TYPE_CHECKING:
    from backend.runs.measured import TrialRecord
    from backend.runs.models import Run, Trial

# A step of 0.01 MB is a tenth of these.
LEAST_BYTES = 100_000


def evidence_of(record: TrialRecord, run: Run) -> Evidence:
    """Both sides of a trial of `run`; what is not known of a side is None there."""
    parsed = record.parsed
    hosts = (run.client_host, run.server_host)
    client, server = (None if host is None else host.name for host in hosts)
    return Evidence(
        asked=_asked(record),
        printed=Claims(
            connections=parsed.connections,
            threads=parsed.threads,
            rate_rps=parsed.requested_rate_rps,
            duration_s=parsed.requested_duration_s,
            keepalive=parsed.keepalive,
            **claims_of_url(parsed.url),
        ),
        url=parsed.url,
        response_bytes=response_bytes(parsed.bytes_received, parsed.requests_completed),
        host_names=(client, server),
    )


def _asked(record: TrialRecord) -> Claims:
    load, workload = record.load, record.workload
    return Claims(
        connections=load.get("connections"),
        threads=load.get("threads"),
        rate_rps=load.get("rate_rps"),
        duration_s=load.get("duration_s"),
        keepalive=workload.get("keepalive"),
        tls=workload.get("tls"),
        method=workload.get("method"),
        path=workload.get("path"),
        payload_bytes=workload.get("payload_bytes"),
    )


def response_bytes(received: int | None, completed: int | None) -> float | None:
    """Received bytes per completed request; some tools count headers, others bodies alone.

    None where too few bytes were received to tell: siege prints them in steps of 0.01 MB.
    """
    if received is None or received < LEAST_BYTES or not completed:
        return None
    return received / completed


def with_own_output(trials: Iterable[Trial]) -> list[Trial]:
    """The trials without those whose output an earlier trial has: one output counts once."""
    outputs: set[bytes] = set()
    counted = []
    for trial in trials:
        output = None if trial.output_sha256 is None else bytes(trial.output_sha256)
        if output not in outputs:
            counted.append(trial)
        if output is not None:
            outputs.add(output)
    return counted
