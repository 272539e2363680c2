"""What the envelope and the output say of one trial, to be held against each other."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from backend.formats.command_line import asked_compression, asked_keepalive, asked_protocol
from backend.runs.checks.check_input import Claims, Evidence
from backend.runs.checks.contradictions import claims_of_url
from backend.runs.checks.response_sizes import response_size_of

if TYPE_CHECKING:
    from backend.runs.measured.measured import TrialRecord
    from backend.runs.models import Run, Trial

# A step of 0.01 MB is a tenth of these.
LEAST_BYTES = 100_000
# In characters; no path in an envelope is longer.
LONGEST_FACT = 2_000


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
            keepalive=_keepalive(record),
            **claims_of_url(parsed.url),
        ),
        url=parsed.url,
        response=response_size_of(
            parsed.tool,
            response_bytes(parsed.bytes_received, parsed.requests_completed),
            _each(parsed.body_bytes, parsed.requests_completed),
        ),
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


def printed_facts(record: TrialRecord) -> dict[str, Any]:
    """What output and command say of how the trial was measured; what they do not say is left out.

    `asked_keepalive`, `asked_compression`: by the command. A server may close all the same, so
    `keepalive` is then known only if it was not asked for. `protocol`: of HTTP, where a load tool
    speaks several. `software`: the responses' header Server. `body_bytes`: of a response, where the
    tool counts headers too and tells the two apart.
    """
    parsed = record.parsed
    facts = {
        "keepalive": _keepalive(record),
        "asked_keepalive": _asked_keepalive(record),
        "asked_compression": asked_compression(parsed.tool, command_words(record)),
        "threads": parsed.threads,
        "protocol": _protocol(record),
        "software": parsed.server_software,
        "body_bytes": _each(parsed.body_bytes, parsed.requests_completed),
        **claims_of_url(parsed.url),
    }
    return {name: _cut(value) for name, value in facts.items() if value is not None}


def _cut(value: object) -> object:
    # Comparisons read the facts of thousands of trials.
    return value[:LONGEST_FACT] if isinstance(value, str) else value


def _protocol(record: TrialRecord) -> str | None:
    printed = (record.parsed.extra.get("extra") or {}).get("protocol")
    return printed or asked_protocol(record.parsed.tool, command_words(record))


def _keepalive(record: TrialRecord) -> bool | None:
    """Whether connections were kept; only the output can say that a server kept them."""
    if record.parsed.keepalive is not None:
        return record.parsed.keepalive
    return False if _asked_keepalive(record) is False else None


def _asked_keepalive(record: TrialRecord) -> bool | None:
    return asked_keepalive(record.parsed.tool, command_words(record))


def command_words(record: TrialRecord) -> Sequence[str]:
    """The command as the envelope has it, else as it stands above the output."""
    return record.command or _words(record.parsed.command)


def _words(command: str) -> Sequence[str]:
    try:
        return shlex.split(command)
    except ValueError:
        return ()


def response_bytes(received: int | None, completed: int | None) -> float | None:
    """Received bytes per completed request, as the tool counts them.

    None where too few bytes were received to tell: siege prints them in steps of 0.01 MB.
    """
    if received is None or received < LEAST_BYTES or not completed:
        return None
    return received / completed


def _each(total: int | None, completed: int | None) -> float | None:
    return total / completed if total is not None and completed else None


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
