"""What the envelope declares of a trial, and what its output says of the same."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Claims:
    """What one source says of how a trial was measured. None: it does not say."""

    connections: int | None = None
    threads: int | None = None
    rate_rps: float | None = None
    duration_s: float | None = None
    keepalive: bool | None = None
    tls: bool | None = None
    method: str | None = None
    path: str | None = None
    payload_bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What the envelope asked for, and what the output says.

    `url`: that the tool called. `response_bytes`: received bytes ÷ completed requests.
    `host_names`: of client and server, None where unknown.
    """

    asked: Claims = field(default_factory=Claims)
    printed: Claims = field(default_factory=Claims)
    url: str | None = None
    response_bytes: float | None = None
    host_names: tuple[str | None, str | None] = (None, None)
