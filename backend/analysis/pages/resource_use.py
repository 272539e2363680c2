"""What a trial cost the machines, as its agent measured."""

from collections.abc import Mapping, Sequence
from typing import Any

from backend.analysis.pages.trial import Figure, FigureGroup
from backend.analysis.query.metrics import is_amount

# Name in `Trial.resources`, label, kind. Shares are fractions of 1, one for each core.
SERVER: Sequence[tuple[str, str, str]] = (
    ("server_cpu_s", "CPU time", "seconds"),
    ("services_cpu_s", "CPU time of services beside it", "seconds"),
    ("server_rss_peak_bytes", "Memory at its peak", "bytes"),
    ("server_rss_bytes", "Memory at the end", "bytes"),
    ("server_threads_peak", "Threads, at most", "count"),
    ("server_processes_peak", "Processes, at most", "count"),
    ("server_host_cpu_per_core", "Busy share of each core of its host", "shares"),
    ("server_time_wait_peak", "Sockets in TIME_WAIT on its host, at most", "count"),
    ("server_samples", "Samples on its host", "count"),
    ("server_clock_uncertainty_s", "Uncertainty of the two clocks, ±", "seconds"),
)
# Only where an agent observed the server from its own host.
OBSERVED = frozenset({name for name, _, _ in SERVER[-4:]})

CLIENT: Sequence[tuple[str, str, str]] = (
    ("client_cpu_s", "CPU time of the load tool", "seconds"),
    ("client_cores", "Logical cores", "count"),
    ("client_cpu_per_core", "Busy share of each core", "shares"),
    ("client_cpu_steal", "Time taken by the hypervisor", "ratio"),
    ("client_cpu_irq", "Time taken by interrupts", "ratio"),
    ("time_wait_start", "Sockets in TIME_WAIT before", "count"),
    ("time_wait_peak", "Sockets in TIME_WAIT, at most", "count"),
    ("time_wait_end", "Sockets in TIME_WAIT after", "count"),
    ("samples", "Number of samples", "count"),
)
LISTED = frozenset(name for name, _, _ in (*SERVER, *CLIENT))


def list_resource_figures(resources: Mapping[str, Any]) -> list[FigureGroup]:
    """The figures of server and client; nothing where the agent measured nothing."""
    if not resources:
        return []
    server = [row for row in SERVER if row[0] not in OBSERVED or row[0] in resources]
    client = (*_figures(CLIENT, resources), *_further_figures(resources))
    groups = (
        FigureGroup("resources-server", "Server processes", tuple(_figures(server, resources))),
        FigureGroup("resources-client", "Client host", client),
    )
    return [group for group in groups if any(figure.is_known for figure in group.figures)]


def _further_figures(resources: Mapping[str, Any]) -> list[Figure]:
    """What an agent of another version sent, as text."""
    return [
        Figure(f"resource-{name}", name.replace("_", " "), value, "text")
        for name, value in resources.items()
        if name not in LISTED and not isinstance(value, dict | list)
    ]


def _figures(
    names: Sequence[tuple[str, str, str]], resources: Mapping[str, Any]
) -> Sequence[Figure]:
    return [
        Figure(f"resource-{name}", label, _value(resources.get(name), kind), kind)
        for name, label, kind in names
    ]


def _value(value: Any, kind: str) -> Any:
    """What was sent, where it is of its kind; anything else is unknown."""
    if kind == "shares":
        is_list = isinstance(value, list) and all(is_amount(share) for share in value)
        return value if is_list and value else None
    return value if is_amount(value) else None


def busiest_core(resources: Mapping[str, Any]) -> float | None:
    """The share of time that the client's busiest core was busy."""
    shares = _value(resources.get("client_cpu_per_core"), "shares")
    return max(shares) if shares else None


def resource_columns(resources: Mapping[str, Any]) -> dict[str, Any]:
    """The figures of a table with one row a trial."""
    columns = {name: _value(resources.get(name), kind) for name, _, kind in (*SERVER, *CLIENT)}
    return {**columns, "busiest_core": busiest_core(resources)}
