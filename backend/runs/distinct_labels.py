"""Names for workloads that are shown together, so that no two read the same."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from uuid import UUID

from backend.runs.models import Workload


def label_workloads(workloads: Iterable[Workload]) -> dict[UUID, str]:
    """By id, the name; with what differs where several of these workloads have one name."""
    by_name: dict[str, dict[UUID, Workload]] = defaultdict(dict)
    for workload in workloads:
        by_name[workload.name][workload.pk] = workload
    labels: dict[UUID, str] = {}
    for name, namesakes in by_name.items():
        details = _details(list(namesakes.values())) if len(namesakes) > 1 else {}
        labels |= {id_: f"{name} ({details[id_]})" if details else name for id_ in namesakes}
    return labels


def _details(namesakes: list[Workload]) -> dict[UUID, str]:
    """What differs between workloads of one name; where that is nothing shown, a part of the id."""
    texts: dict[UUID, list[str]] = {workload.pk: [] for workload in namesakes}
    for read in _DETAILS:
        details = [read(workload) for workload in namesakes]
        if len(set(details)) > 1:
            for workload, text in zip(namesakes, details, strict=True):
                texts[workload.pk].append(text)
    joined = {id_: " ".join(parts) for id_, parts in texts.items()}
    if len(set(joined.values())) == len(namesakes):
        return joined
    return {id_: f"{text} {str(id_)[:8]}".strip() for id_, text in joined.items()}


def _size(name: str, size_bytes: int | None) -> str:
    return f"{name} of unknown size" if size_bytes is None else f"{size_bytes:,} B {name}"


def _either(value: bool | None, name: str) -> str:
    if value is None:
        return f"{name} unknown"
    return name if value else f"no {name}"


_DETAILS: tuple[Callable[[Workload], str], ...] = (
    lambda workload: workload.method or "unknown method",
    lambda workload: workload.path or "unknown path",
    lambda workload: _size("payload", workload.payload_bytes),
    lambda workload: _size("body", workload.body_bytes),
    lambda workload: _either(workload.keepalive, "keep-alive"),
    lambda workload: _either(workload.tls, "TLS"),
)
