"""The table of fields. A new field is one entry here, and a test of what it does; a text that tells
servers apart is an entry of `SERVER_TEXTS` instead.

From an entry follow the filter, its reading and its counts, the axis, series and panels, the
names of series, the factor that a comparison is about, the parameters and texts of the API, and
the choosers of the page.
"""

from collections.abc import Sequence

from backend.analysis.query.field import Field, Value, run_labels_text, run_time_text
from backend.analysis.query.records import LoadedCell, LoadedHost, LoadedSeries
from backend.runs.tables.server_texts import SERVER_TEXTS, ServerText


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
        read=lambda series: series.server.texts[text.name],
        of="server",
        along=("server",),
        rule="test",
        name_rank=text.name_rank,
        apart_rank=text.apart_rank,
        has_order=text.has_order,
    )


def _host(id_: str, role: str, other: str, *, apart: str = "{}", ranks: tuple[int, int]) -> Field:
    """The host that is the server or the client. `other`: the field of the other host."""
    part = f"{role}_host"

    def host_of(series: LoadedSeries) -> LoadedHost | None:
        host: LoadedHost | None = getattr(series, part)
        return host

    return Field(
        id=id_,
        label=f"{role.capitalize()} host",
        noun=f"{role} host",
        help=f"Only these {role} hosts: name or slug",
        read=lambda series: None if (host := host_of(series)) is None else host.label,
        aliases=lambda series: (str(host.id),) if (host := host_of(series)) else (),
        part=part,
        identify=lambda cell: (host := host_of(cell.series)) and host.id,
        along=(other,),
        text=lambda cell: host.label if (host := host_of(cell.series)) else "unknown host",
        apart=apart,
        name_rank=ranks[0],
        apart_rank=ranks[1],
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
    _host("host", "server", other="client", ranks=(60, 120)),
    _host("client", "client", other="host", apart="from {}", ranks=(70, 130)),
    Field(
        id="workload",
        label="Workload",
        noun="workload",
        help="Only these workloads: name or slug",
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
