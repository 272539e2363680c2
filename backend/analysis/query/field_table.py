"""The table of fields. A new field is one entry here, and a test of what it does; a text that tells
servers apart is an entry of `SERVER_TEXTS` instead.

From an entry follow the filter, its reading and its counts, the axis, series and panels, the
names of series, the factor that a comparison is about, the parameters and texts of the API, and
the choosers of the page.
"""

import uuid
from collections.abc import Sequence

from backend.analysis.query.field import (
    Field,
    Value,
    run_labels_text,
    run_time_text,
)
from backend.analysis.query.records import LoadedCell, LoadedHost, LoadedSeries
from backend.runs.server_texts import SERVER_TEXTS, ServerText


def _host_value(host: LoadedHost | None) -> Value:
    return None if host is None else host.label


def _host_aliases(host: LoadedHost | None) -> Sequence[str]:
    return () if host is None else (str(host.id),)


def _host_id(host: LoadedHost | None) -> uuid.UUID | None:
    return None if host is None else host.id


def _host_text(host: LoadedHost | None) -> str:
    return "unknown host" if host is None else host.label


def _settings(series: LoadedSeries) -> Sequence[Value]:
    return series.server.settings or (None,)


def _request(cell: LoadedCell) -> object:
    workload = cell.workload
    headers = tuple(sorted((name, str(value)) for name, value in workload.headers.items()))
    return (workload.method, workload.keepalive, workload.tls, headers, workload.body_sha256)


def _request_text(cell: LoadedCell) -> str:
    workload = cell.workload
    tls = {True: "TLS", False: "no TLS", None: None}[workload.tls]
    keepalive = {True: "keep-alive", False: "no keep-alive", None: None}[workload.keepalive]
    return " ".join(filter(None, [workload.method, tls, keepalive]))


def _size_text(cell: LoadedCell) -> str:
    size = cell.workload.payload_bytes
    return "" if size is None else f"{size:,} B"


def _offered_rate(cell: LoadedCell) -> object:
    """A closed loop offers no rate, which is known and not unknown."""
    if cell.rate_rps is None and cell.series.loop == "closed":
        return "none"
    return cell.rate_rps


def _server_text(text: ServerText) -> Field:
    return Field(
        id=text.name,
        label=text.noun.capitalize(),
        noun=text.noun,
        help=f"Only these {text.noun}s",
        level="series",
        read=lambda series: series.server.texts[text.name],
        of="server",
        along=("server",),
        rule="test",
        name_rank=text.name_rank,
        apart_rank=text.apart_rank,
        has_order=text.has_order,
    )


TABLE: tuple[Field, ...] = (
    Field(
        id="run",
        label="Run",
        noun="run",
        help="Only these runs",
        level="run",
        syntax="run id",
        is_axis=False,
        is_identity=False,
    ),
    Field(
        id="server",
        label="Server",
        noun="server",
        help="Only these servers: name or slug",
        level="series",
        path="server.name",
        aliases=lambda series: (str(series.server.id),),
        part="name",
        of="server",
        rule="test",
        # A series with a server is named by the server first of all.
        name_rank=None,
        apart_rank=None,
    ),
    *(_server_text(text) for text in SERVER_TEXTS),
    Field(
        id="configuration",
        label="Configuration",
        noun="configuration",
        help="Only servers with any of these settings: key=value",
        level="series",
        read_all=_settings,
        identify=lambda cell: cell.server.settings,
        of="server",
        along=("server",),
        rule="test",
        judge=lambda cell: " ".join(cell.server.settings) or "none",
        text=lambda cell: " ".join(cell.server.settings),
        name_rank=30,
        apart_rank=100,
    ),
    Field(
        id="host",
        label="Server host",
        noun="server host",
        help="Only these server hosts: name or slug",
        level="series",
        read=lambda series: _host_value(series.server_host),
        aliases=lambda series: _host_aliases(series.server_host),
        part="server_host",
        identify=lambda cell: _host_id(cell.series.server_host),
        along=("client",),
        text=lambda cell: _host_text(cell.series.server_host),
        name_rank=60,
        apart_rank=120,
    ),
    Field(
        id="client",
        label="Client host",
        noun="client host",
        help="Only these client hosts: name or slug",
        level="series",
        read=lambda series: _host_value(series.client_host),
        aliases=lambda series: _host_aliases(series.client_host),
        part="client_host",
        identify=lambda cell: _host_id(cell.series.client_host),
        along=("host",),
        text=lambda cell: _host_text(cell.series.client_host),
        apart="from {}",
        name_rank=70,
        apart_rank=130,
    ),
    Field(
        id="workload",
        label="Workload",
        noun="workload",
        help="Only these workloads: name or slug",
        level="series",
        path="workload.name",
        aliases=lambda series: (str(series.workload.id),),
        identify=lambda cell: (cell.workload.name, cell.workload.path),
        of="workload",
        along=("payload",),
        splits=("payload",),
        rule="must",
        remedy="workload",
        name_rank=40,
        apart_rank=30,
    ),
    Field(
        id="payload",
        label="Payload (bytes)",
        noun="payload size",
        help="Only these payload sizes, in bytes",
        level="series",
        path="workload.payload_bytes",
        kind="number",
        syntax="bytes",
        at="at a payload of {} bytes",
        of="workload",
        along=("workload",),
        rule="must",
        text=_size_text,
        name_rank=None,
        apart_rank=40,
    ),
    Field(
        id="request",
        label="Request",
        noun="request setting",
        help="",
        level="series",
        is_axis=False,
        identify=_request,
        of="workload",
        text=_request_text,
        name_rank=None,
        apart_rank=50,
    ),
    Field(
        id="tool",
        label="Load tool",
        noun="load tool",
        help="Only these load tools",
        level="series",
        path="tool",
        rule="axis",
        remedy="tool",
        name_rank=50,
        apart_rank=60,
    ),
    Field(
        id="tool_version",
        label="Load tool version",
        noun="load tool version",
        help="Only these versions of the load tool",
        level="series",
        has_order=True,
        path="tool_version",
        along=("tool",),
        rule="note",
        text=lambda cell: cell.series.tool_version or "version unknown",
        name_rank=None,
        apart_rank=70,
    ),
    Field(
        id="loop",
        label="Loop",
        noun="loop",
        help="Only these loops: open, closed",
        level="series",
        path="loop",
        syntax="loop",
        rule="must",
        text=lambda cell: f"{cell.series.loop} loop",
        name_rank=80,
        apart_rank=80,
    ),
    Field(
        id="connections",
        label="Connections",
        noun="number of connections",
        plural="connections",
        help="Only these numbers of connections",
        level="load",
        column="connections",
        kind="number",
        at="at {} connections",
        syntax="load",
        rule="must",
        remedy="load",
        name_rank=90,
    ),
    Field(
        id="rate",
        label="Offered requests/s",
        noun="offered rate",
        help="Only these offered rates",
        level="load",
        column="rate_rps",
        kind="number",
        at="at {} offered requests/s",
        syntax="load",
        rule="must",
        judge=_offered_rate,
        remedy="load",
        name_rank=None,
    ),
    Field(
        id="date",
        label="Date",
        noun="date",
        help="",
        level="run",
        has_order=True,
        read_run=run_time_text,
        at="on {}",
        is_identity=False,
        rule="test",
        text=lambda cell: run_time_text(cell.run),
        name_rank=110,
    ),
    Field(
        id="label",
        label="Label",
        noun="label",
        help="Only runs with any of these labels: key:value",
        level="run",
        read_run=run_labels_text,
        syntax="label",
        is_identity=False,
        rule="test",
        text=lambda cell: run_labels_text(cell.run) or "no label",
        name_rank=100,
    ),
)
