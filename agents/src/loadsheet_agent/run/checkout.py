"""Whether a server of the shelf works here: start, pages, close behaviour, 64 connections."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from loadsheet_agent.errors import ServerStartError
from loadsheet_agent.install.installer import Installer, cache_folder
from loadsheet_agent.plan.plan import Plan
from loadsheet_agent.plan.server_spec import ServerSpec
from loadsheet_agent.plan.workload_spec import WorkloadSpec
from loadsheet_agent.run.burst import Burst, send_burst
from loadsheet_agent.run.probe import Answer, Probe
from loadsheet_agent.run.servers import ManagedServer, running_servers

CHECKED, SKIPPED, FAILED = "checked", "skipped", "failed"
CONNECTIONS = 64
BURST_S = 1.0
# What the pages of the shelf answer; the size of /json and /template depends on the framework.
SIZES = {"/bytes/5": 5, "/bytes/10000": 10_000}
PARTS = {"/json": b"Hello, world!", "/template": b"row 12", "/api": b"item"}
HELLO, HELLO_PATH = b"Hello, world!", "/"


@dataclass(frozen=True)
class Checkout:
    """One version of a server: `text` says what was seen, or what is wrong."""

    name: str
    state: str
    text: str


def check_server(plan: Plan, paths: Sequence[str]) -> Checkout:
    """The plan's only server, which is installed already."""
    (spec,) = plan.servers
    words = Installer(cache_folder(), plan.directory).install(spec, spec.label)
    try:
        with running_servers(plan, {spec.key: words}) as servers:
            return _check(servers[spec.key], paths)
    except ServerStartError as error:
        return Checkout(spec.label, FAILED, str(error))


def _check(server: ManagedServer, paths: Sequence[str]) -> Checkout:
    """Raises ServerStartError."""
    server.ensure_ready()
    problem = next(_problems(server, paths), None)
    burst = send_burst(server.url, paths[0], connections=CONNECTIONS, seconds=BURST_S)
    problem = problem or _burst_problem(burst, server.spec)
    if problem is None:
        return Checkout(server.spec.label, CHECKED, _summary(server, paths, burst))
    text = f"{problem}; its last output: {server.program.tail()}"
    return Checkout(server.spec.label, FAILED, text)


def _problems(server: ManagedServer, paths: Sequence[str]) -> Iterator[str]:
    probe = Probe(server.url, verify_tls=True)
    for path in paths:
        answer = probe.answer(WorkloadSpec(name=path, path=path))
        if answer is None:
            yield f"it does not answer {path}"
        else:
            yield from _page_problems(path, answer)
    closing = probe.answer(WorkloadSpec(name="close", path=paths[0], keepalive=False))
    if closing is None:
        yield "it does not answer a request with Connection: close"
    elif closing.announces_close != server.spec.announces_close:
        does = "announces" if closing.announces_close else "does not announce"
        yield f"it {does} that it closes a connection; the shelf says otherwise (announces_close)"


def _page_problems(path: str, answer: Answer) -> Iterator[str]:
    if answer.status != 200:
        yield f"it answers {path} with status {answer.status}; expected 200"
    size = SIZES.get(path)
    if size is not None and answer.body_bytes != size:
        yield f"it answers {path} with {answer.body_bytes:,} bytes; expected {size:,}"
    is_other = path == HELLO_PATH and answer.body != HELLO
    if is_other or PARTS.get(path, b"") not in answer.body:
        yield f"it answers {path} with another page: {answer.body[:60]!r}"


def _burst_problem(burst: Burst, spec: ServerSpec) -> str | None:
    # The client's request then meets a connection that is closed already.
    may_reset = spec.configuration.get("answers_before_reading") == "yes"
    if burst.failures and not may_reset:
        return (
            f"{burst.failures} of {burst.answers + burst.failures} requests on {CONNECTIONS} "
            f"connections failed: {burst.first_failure}"
        )
    if burst.answers < CONNECTIONS:
        return f"it gave {burst.answers} answers to {CONNECTIONS} connections"
    return None


def _summary(server: ManagedServer, paths: Sequence[str], burst: Burst) -> str:
    version = f"version {server.version}" if server.version else "version unknown"
    pages = "1 page" if len(paths) == 1 else f"{len(paths)} pages"
    resets = f", {burst.failures} resets" if burst.failures else ""
    return f"{version}, {pages}, {burst.answers} answers{resets} on {CONNECTIONS} connections"
