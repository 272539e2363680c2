"""The requests of a plan as records, with what their answers must be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from loadsheet_agent.plan.keys import Choice, Flag, Integer, LongText, Text, Texts, key
from loadsheet_agent.plan.toml_table import Subtable

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
PLAN_LIMIT = 200_000  # characters; the plan travels with every run
PATH_LIMIT = 2000


@dataclass(frozen=True)
class ExpectSpec:
    """What the answer to a workload must be, asked once before the first trial."""

    status: int | None = key(Integer(least=100), "Status of the answer.", default=None)
    body: str | None = key(LongText(PLAN_LIMIT), "Body of the answer.", default=None)
    body_sha256: str | None = key(
        Text(pattern="^[0-9a-f]{64}$"), "SHA-256 of the answer's body.", default=None
    )
    closes: bool | None = key(
        Flag(), "Whether the server closes the connection after its answer.", default=None
    )


@dataclass(frozen=True)
class WorkloadSpec:
    """One kind of request."""

    name: str = key(Text(), "Name of the workload.", example='"hello"')
    method: str = key(Choice(METHODS), "Method of the request.", default="GET")
    path: str = key(
        Text(limit=PATH_LIMIT, pattern="^/"),
        "Path and query of the request; {env:NAME} is filled in.",
        default="/",
    )
    keepalive: bool = key(
        Flag(), "Whether connections are kept open between requests.", default=True
    )
    payload_bytes: int | None = key(
        Integer(least=0),
        "Expected size of the answer's body; a trial is refused when it differs.",
        default=None,
    )
    headers: Mapping[str, str] = key(
        Texts(),
        "Headers of each request; {env:NAME} is filled in and kept out of what is stored.",
        default={},
    )
    expect: ExpectSpec = key(
        Subtable(ExpectSpec, exclusive=(("body", "body_sha256"),)),
        "What the answer must be; else no trial of the server is run.",
        default=ExpectSpec(),
    )
    body: str | None = key(
        LongText(PLAN_LIMIT), "Body of each request; needs a Content-Type header.", default=None
    )
    body_file: str | None = key(
        Text(limit=1000), "File with the body, relative to the plan.", default=None
    )
    # The bytes of body or body_file; None: requests have no body.
    content: bytes | None = None

    @property
    def label(self) -> str:
        """How messages call this workload."""
        return self.name

    @property
    def is_answer_expected(self) -> bool:
        """Whether the plan says what the answer must be."""
        return self.expect != ExpectSpec() or self.payload_bytes is not None
