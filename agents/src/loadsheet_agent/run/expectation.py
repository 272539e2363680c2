"""Whether a server's answer is what the plan expects, before any load is put on it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from loadsheet_agent.plan.workload_spec import WorkloadSpec
from loadsheet_agent.run.probe import Answer

SHOWN = 60


def find_mismatch(workload: WorkloadSpec, answer: Answer) -> str | None:
    """How the answer differs, to follow the server's name; None if it is as expected."""
    return next(_mismatches(workload, answer), None)


def _mismatches(workload: WorkloadSpec, answer: Answer) -> Iterator[str]:
    expect, path = workload.expect, workload.path
    if expect.status is not None and answer.status != expect.status:
        yield f"answers {path} with status {answer.status}, the plan says {expect.status}"
    planned = workload.payload_bytes
    if planned is not None and answer.body_bytes != planned:
        yield f"answers {path} with {answer.body_bytes:,} bytes, the plan says {planned:,}"
    if expect.body is not None and answer.body != expect.body.encode():
        yield (
            f"answers {path} with {_shown(answer.body)}, the plan says "
            f"{_shown(expect.body.encode())}"
        )
    if expect.body_sha256 not in (None, hashlib.sha256(answer.body).hexdigest()):
        yield f"answers {path} with a body of another SHA-256 than the plan says"
    if expect.closes not in (None, answer.closes):
        does, says = ("closes", "keeps") if answer.closes else ("keeps", "closes")
        yield f"{does} the connection after its answer to {path}; the plan says it {says} it"


def find_misfit(tool_name: str, workload: WorkloadSpec, answer: Answer) -> str | None:
    """Why the load tool would count this server's answers as errors, to follow its name."""
    if tool_name != "wrk" or workload.keepalive or answer.announces_close:
        return None
    return (
        "closes connections without saying so in its answer. wrk would count a read error for "
        'each answer; set announces_close = false in its table, or tool = "ab" in [load]'
    )


def _shown(body: bytes) -> str:
    text = body[:SHOWN].decode("utf-8", errors="replace")
    return f"{text!r}{'…' if len(body) > SHOWN else ''}"
