"""Requests to the server under test, outside its trials: is it ready, what does it answer?

Certificates are verified unless the plan says `verify_tls = false`, or the server is on loopback,
where no other machine can answer in its place. Load tools never verify certificates, so the run
refuses a false server here, before a load tool sends it the plan's headers.
"""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from dataclasses import dataclass

import httpx

from loadsheet_agent.addresses import is_loopback
from loadsheet_agent.errors import ServerStartError
from loadsheet_agent.plan.workload_spec import WorkloadSpec

TIMEOUT_S = 5.0


@dataclass(frozen=True)
class Answer:
    """What one answer says.

    `closes`: the server ends the connection after it. `announces_close`: a client that asked for
    the end of the connection reads from the answer where its body ends and that the server closes.
    """

    status: int
    body: bytes
    closes: bool
    announces_close: bool = True

    @property
    def body_bytes(self) -> int:
        return len(self.body)


@dataclass(frozen=True)
class Probe:
    """Of one server: `url` is its address without a path."""

    url: str
    verify_tls: bool

    def status(self, path: str) -> int | None:
        """The status of the answer; None if no answer came."""
        answer = self._request("GET", path, {}, None)
        return None if answer is None else answer.status_code

    def answer(self, workload: WorkloadSpec) -> Answer | None:
        """The answer to a request of the workload; None if no answer came."""
        headers = {"Accept-Encoding": "identity", **workload.headers}
        if not workload.keepalive:
            headers["Connection"] = "close"
        answer = self._request(workload.method, workload.path, headers, workload.content)
        if answer is None:
            return None
        return Answer(
            status=answer.status_code,
            body=answer.content,
            closes=_closes(answer),
            announces_close=_closes(answer) and _has_length(answer),
        )

    def _request(
        self, method: str, path: str, headers: Mapping[str, str], content: bytes | None
    ) -> httpx.Response | None:
        """Raises ServerStartError for a certificate that cannot be verified."""
        verify = self.verify_tls and not is_loopback(self.url)
        try:
            # No proxies of the environment: the load tools use none either.
            with httpx.Client(trust_env=False, verify=verify, timeout=TIMEOUT_S) as client:
                return client.request(method, self.url + path, headers=headers, content=content)
        except httpx.HTTPError as error:
            reason = _certificate_problem(error)
            if reason is None:
                return None
            raise ServerStartError(
                f"the certificate of {self.url} cannot be verified ({reason}); give the server a "
                "trusted certificate, or set verify_tls = false in its [[servers]] table"
            ) from error


def _closes(answer: httpx.Response) -> bool:
    """Whether the server ends the connection after this answer, by its version and header."""
    options = [word.strip().lower() for word in answer.headers.get("Connection", "").split(",")]
    return "close" in options or (answer.http_version == "HTTP/1.0" and "keep-alive" not in options)


def _has_length(answer: httpx.Response) -> bool:
    """Whether the answer says where its body ends, other than by the end of the connection."""
    is_chunked = "chunked" in answer.headers.get("Transfer-Encoding", "").lower()
    return is_chunked or "Content-Length" in answer.headers


def _certificate_problem(error: BaseException) -> str | None:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return cause.verify_message
        cause = cause.__cause__ or cause.__context__
    return None
