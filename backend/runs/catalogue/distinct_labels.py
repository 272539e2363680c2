"""Labels for servers or workloads that are shown together, so that no two read the same."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar
from uuid import UUID

from backend.runs.models import Server, Workload
from backend.runs.tables.server_texts import SERVER_TEXTS, ServerText

_Row = TypeVar("_Row", Server, Workload)
# Gives what one row says of itself where it differs from a row of the same name.
_Detail = Callable[[_Row], str]


def label_workloads(workloads: Iterable[Workload]) -> dict[UUID, str]:
    """By id, the name; with what differs where several of these workloads have one name."""
    return _label(workloads, lambda _: _WORKLOAD_DETAILS)


def label_servers(servers: Iterable[Server]) -> dict[UUID, str]:
    """By id, name and version; with what differs where several of these servers share both."""
    return _label(servers, _server_details)


def _label(
    rows: Iterable[_Row], details_of: Callable[[Sequence[_Row]], Sequence[_Detail[_Row]]]
) -> dict[UUID, str]:
    by_name: dict[str, dict[UUID, _Row]] = defaultdict(dict)
    for row in rows:
        by_name[str(row)][row.pk] = row
    labels: dict[UUID, str] = {}
    for name, namesakes in by_name.items():
        if len(namesakes) == 1:
            labels |= dict.fromkeys(namesakes, name)
            continue
        differences = _differences(list(namesakes.values()), details_of)
        labels |= {id_: f"{name} ({text})" for id_, text in differences.items()}
    return labels


def _differences(
    namesakes: Sequence[_Row], details_of: Callable[[Sequence[_Row]], Sequence[_Detail[_Row]]]
) -> dict[UUID, str]:
    """What differs between rows of one name; where that is nothing shown, a part of the id."""
    texts: dict[UUID, list[str]] = {row.pk: [] for row in namesakes}
    for read in details_of(namesakes):
        details = [read(row) for row in namesakes]
        if len(set(details)) > 1:
            for row, text in zip(namesakes, details, strict=True):
                texts[row.pk].append(text)
    joined = {id_: " ".join(parts) for id_, parts in texts.items()}
    if len(set(joined.values())) == len(namesakes):
        return joined
    return {id_: f"{text} {str(id_)[:8]}".strip() for id_, text in joined.items()}


def _server_details(namesakes: Sequence[Server]) -> list[_Detail[Server]]:
    settings = sorted({name for server in namesakes for name in server.configuration})
    return [
        *(_text_reader(text) for text in SERVER_TEXTS),
        *(_setting_reader(name) for name in settings),
    ]


def _text_reader(text: ServerText) -> _Detail[Server]:
    return lambda server: getattr(server, text.name) or f"unknown {text.noun}"


def _setting_reader(name: str) -> _Detail[Server]:
    def read(server: Server) -> str:
        is_set = name in server.configuration
        return f"{name}={server.configuration[name]}" if is_set else f"no {name}"

    return read


def _size(name: str, size_bytes: int | None) -> str:
    return f"{name} of unknown size" if size_bytes is None else f"{size_bytes:,} B {name}"


def _either(value: bool | None, name: str) -> str:
    if value is None:
        return f"{name} unknown"
    return name if value else f"no {name}"


_WORKLOAD_DETAILS: tuple[_Detail[Workload], ...] = (
    lambda workload: workload.method or "unknown method",
    lambda workload: workload.path or "unknown path",
    lambda workload: _size("payload", workload.payload_bytes),
    lambda workload: _size("body", workload.body_bytes),
    lambda workload: _either(workload.keepalive, "keep-alive"),
    lambda workload: _either(workload.tls, "TLS"),
)
