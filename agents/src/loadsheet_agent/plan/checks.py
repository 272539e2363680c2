"""What a plan must hold beyond the kinds of its keys. Each check yields sentences, worst first.

A sentence says what is wrong and what to write instead; the reader puts the place before it.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from urllib.parse import urlsplit

from loadsheet_agent.plan.keys import keys_of
from loadsheet_agent.plan.plan import LoadSpec, MaxRateSpec, Plan
from loadsheet_agent.plan.server_spec import ProgramSpec, ServerSpec, ServiceSpec, SourceSpec
from loadsheet_agent.plan.workload_spec import WorkloadSpec

# The characters of a header's name (RFC 9110, 5.6.2).
HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
DIGEST = re.compile(r"[0-9a-f]{64}")
COMMIT = re.compile(r"[0-9a-f]{40}")
REPOSITORY = re.compile(r"https://[\w.-]+(:\d+)?(/[\w.~+-]+)+")
FILE_NAME = re.compile(r"\w[\w.+-]*")
# The load tools write these themselves, each in its own way.
STARTED_ONLY = ("environment", "setup", "teardown", "cwd", "user", "cpus", "ulimit", "templates")
OWN_HEADERS = ("host", "connection", "content-length", "transfer-encoding")


def check_plan(plan: Plan) -> Iterator[str]:
    """Rules between tables."""
    if plan.adaptive and plan.max_rate:
        yield "both [adaptive] and [max_rate] are given; keep one of them."
    if plan.adaptive and plan.adaptive.most_repeats < plan.repeats:
        yield (
            f"[adaptive] most_repeats is {plan.adaptive.most_repeats}; expected at least repeats "
            f"({plan.repeats})."
        )
    yield from check_sides(plan)
    yield from check_names(plan)
    yield from check_server_loads(plan)
    if plan.steady is not None and plan.warmup_s == 0:
        yield "[steady] repeats warm-ups, and there are none; set warmup_s."


def check_names(plan: Plan) -> Iterator[str]:
    """Servers name services and workloads that the plan has, and every workload has a server."""
    for server in plan.servers:
        yield from _check_server_names(plan, server)
    for workload in plan.workloads:
        if not any(server.takes(workload) for server in plan.servers):
            yield f"no server takes the workload {workload.name!r}; remove it or name it."


def _check_server_names(plan: Plan, server: ServerSpec) -> Iterator[str]:
    services = {service.name for service in plan.services}
    for name in sorted({*server.services} - services):
        yield f"server {server.label!r} needs the service {name!r}; add its [[services]]."
    workloads = {workload.name for workload in plan.workloads}
    for name in sorted({*server.workloads, *server.paths} - workloads):
        yield (
            f"server {server.label!r} names the workload {name!r}; expected one of "
            f"{', '.join(sorted(workloads))}."
        )


def check_server_loads(plan: Plan) -> Iterator[str]:
    """Rules of a server's own load."""
    for server in plan.servers:
        if server.load.connections or server.load.rates:
            yield from _check_own_load(plan, server)


def _check_own_load(plan: Plan, server: ServerSpec) -> Iterator[str]:
    own = server.load
    if plan.max_rate is not None:
        yield f"[max_rate] chooses the load of {server.label!r}; remove its load."
    if own.rates and own.connections:
        yield (
            f"server {server.label!r} has both connections and rates; keep one of them. With "
            "rates, the plan's connections are the most that are open at once."
        )
    if own.rates and len(plan.load.connections) != 1:
        yield (
            f"server {server.label!r} has rates; they need connections = [N] in [load], one "
            "number: the most connections open at once."
        )
    if own.connections and plan.load.rates:
        yield f"server {server.label!r} has connections, and the plan offers rates; use rates."


def check_sides(plan: Plan) -> Iterator[str]:
    """Rules of a server that the plan has twice: both sides are alike, and run at the same time."""
    for side_a, side_b in itertools.combinations(plan.servers, 2):
        if side_a.key[:2] != side_b.key[:2]:
            continue
        for name in keys_of(ServerSpec):
            if name != "url" and getattr(side_a, name) != getattr(side_b, name):
                yield (
                    f"two servers are named {side_a.name!r}, but their {name} differs; give each "
                    "its own name, or make both alike to measure this machine against itself."
                )
        if side_a.start and "{port}" not in side_a.url and side_a.url == side_b.url:
            yield (
                f"the server {side_a.name!r} is given twice, and both run at the same time; write "
                "{port} in its url and its start, so that each gets a port."
            )
        if plan.max_rate is not None:
            yield (
                f"the server {side_a.name!r} is given twice, to measure this machine against "
                "itself at fixed loads; remove [max_rate]."
            )


def check_load(load: LoadSpec, *, is_search: bool) -> Iterator[str]:
    """`is_search`: the plan has [max_rate]."""
    if is_search and (load.rates or load.requests):
        yield "[max_rate] chooses the rates; remove rates and requests."
    if (load.rates or is_search) and len(load.connections) != 1:
        yield (
            "an offered rate needs connections = [N], one number: the most connections open at "
            "once."
        )


def check_max_rate(search: MaxRateSpec) -> Iterator[str]:
    if search.start_rate > search.most_rate:
        yield f"start_rate is {search.start_rate:g}, above most_rate ({search.most_rate:g})."


def check_server(server: ServerSpec) -> Iterator[str]:
    """Rules of its address and its commands."""
    if "{port}" in server.url and server.start is None:
        yield (
            "url has {port} but there is no start; the agent chooses a port only for a server it "
            "starts, so write the real port."
        )
    problem = _url_problem(server.url.replace("{port}", "80"))
    if problem:
        yield f'url is {server.url!r}, which {problem}; write, for example, "http://127.0.0.1:8000".'
    if server.stop and not server.start:
        yield "stop is given but no start; a plan only stops a server it started."
    yield from _check_unstarted(server)
    yield from check_program(server)
    yield from _check_paths(server)


def _check_unstarted(server: ServerSpec) -> Iterator[str]:
    """Keys that only a server which the plan starts may have."""
    for name in STARTED_ONLY:
        if getattr(server, name) and not server.start:
            yield f"{name} is given but no start; it is for a server the plan starts."


def _check_paths(server: ServerSpec) -> Iterator[str]:
    for name, path in server.paths.items():
        if not _is_path(path):
            yield f"paths.{name} is {path!r}; write a path, for example /a."
    if not _is_path(server.ready_path):
        yield f"ready_path is {server.ready_path!r}; write a path, for example /health."


def check_program(program: ProgramSpec) -> Iterator[str]:
    """Rules of how a program is installed."""
    if program.packages and program.interpreter is None:
        yield 'packages are given but no interpreter; write, for example, interpreter = "3.11".'
    if program.lock is not None and not program.packages:
        yield "lock is given but no packages; it holds the hashes of packages."
    for package in program.packages:
        if "==" not in package:
            yield f"packages has {package!r}; give each its exact version, such as tornado==6.5.2."
    yield from _check_sources(program)
    for name in program.templates:
        if {"", ".."} & set(name.split("/")):
            yield f"templates has {name!r}; give the name of a file, which is written into {{run}}."


def _check_sources(program: ProgramSpec) -> Iterator[str]:
    for source in program.source:
        has_name = bool(FILE_NAME.fullmatch(source.label))
        if source.commit is None:
            yield from _check_file(source, has_name=has_name)
        elif not COMMIT.fullmatch(source.commit):
            yield (
                f"source has {source.url!r} with the commit {source.commit!r}; give its whole id, "
                "40 hexadecimal digits in lower case."
            )
        elif not has_name or not REPOSITORY.fullmatch(source.url):
            yield (
                f"source has the git repository {source.url!r}; write its https address without a "
                "password, such as https://example.org/server.git."
            )


def _check_file(source: SourceSpec, *, has_name: bool) -> Iterator[str]:
    if source.sha256 is None:
        yield (
            f"source has {source.url!r} without a hash; give the sha256 of a file, or the commit "
            "of a git repository."
        )
    elif not DIGEST.fullmatch(source.sha256) or not has_name:
        yield (
            f"source has {source.url!r} with the SHA-256 {source.sha256!r}; give the address "
            "of a file and 64 hexadecimal digits in lower case."
        )


def check_service(service: ServiceSpec) -> Iterator[str]:
    """Rules of a service."""
    if service.start is None:
        yield "start is missing; a service is started by the plan."
    yield from check_program(service)


def check_workload(workload: WorkloadSpec) -> Iterator[str]:
    """Rules of its path, headers and body, after environment variables were filled in."""
    if not _is_path(workload.path):
        yield (
            f"path is {workload.path!r}; expected it to begin with / and have no blanks, "
            'such as "/a".'
        )
    for name, text in workload.headers.items():
        yield from _check_header(name, text)
    names = [name.lower() for name in workload.headers]
    if len(set(names)) != len(names):
        yield "a header is given twice; keep one of them."
    if workload.content is not None and "content-type" not in names:
        yield (
            "a body needs the header Content-Type, because each load tool would choose another; "
            'add headers = { "Content-Type" = "application/json" }.'
        )


def _check_header(name: str, text: str) -> Iterator[str]:
    is_printable = all(32 <= ord(char) <= 126 for char in text)
    if not is_printable or text != text.strip() or not HEADER_NAME.fullmatch(name):
        yield f"headers.{name} has characters that a header cannot have; write one line of ASCII."
    if name.lower() in OWN_HEADERS:
        yield (
            f"the load tool writes the header {name} itself; use keepalive for connections and "
            "url for the host."
        )


def _is_path(path: str) -> bool:
    return path.startswith("/") and all(32 < ord(char) <= 126 for char in path)


def _url_problem(url: str) -> str | None:
    try:
        parts = urlsplit(url)
        has_host = bool(parts.hostname) and parts.port != 0
    except ValueError:
        return "is not an address"
    if parts.scheme not in ("http", "https") or not has_host:
        return "is not an http or https address"
    if parts.username or parts.password:
        return "carries a password that would be stored with the run"
    if parts.path.strip("/") or parts.query or parts.fragment:
        return "has a path (the path belongs to the workload)"
    return None
