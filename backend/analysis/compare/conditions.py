"""The line under the finding: under which conditions it was measured."""

import re
from collections.abc import Callable, Iterable, Sequence
from statistics import median

from backend.analysis.compare.measured_factors import (
    keepalive_of,
    measured_response_size,
    size_text,
)
from backend.analysis.grouping.points import Point
from backend.analysis.query.records import LoadedCell, LoadedHost
from backend.formats.published import NAME as PUBLISHED
from backend.runs.checks.response_sizes import USUAL_HEADER_BYTES, ResponseSize, smallest_sizes

# Headers such as Content-Length and the page's date make responses of one page differ by so much.
ONE_SIZE = 0.05


def conditions_of(points: Sequence[Point]) -> str:
    """One line; what differs among the points is counted or ranged, never picked."""
    cells = [cell for point in points for cell in point.cells]
    if not cells:
        return ""
    # Cells of one series have these conditions in common, so one cell of each is enough.
    of_series = list({cell.series.id.int: cell for cell in cells}.values())
    parts = [
        _each(of_series, _tool, "tools"),
        _each(of_series, lambda cell: cell.workload.name, "workloads"),
        _payloads(cells),
        _keepalives(cells),
        _each(of_series, _loop, "loops"),
        _trials(points),
        _runs(cells),
        _hosts(of_series),
    ]
    return " · ".join(part for part in parts if part)


def _each(cells: Iterable[LoadedCell], read: Callable[[LoadedCell], str | None], noun: str) -> str:
    texts = sorted({text for cell in cells if (text := read(cell)) is not None})
    if len(texts) <= 1:
        return texts[0] if texts else ""
    more = ", …" if len(texts) > 3 else ""
    return f"{len(texts)} {noun}: {', '.join(texts[:3])}{more}"


def _tool(cell: LoadedCell) -> str:
    """`wrk 4.1.0`, `published figures of ab`"""
    tool, version = cell.series.tool, cell.series.tool_version
    if tool == PUBLISHED:
        return f"published figures of {version}" if version else "published figures"
    return f"{tool} {version or ''}".strip()


def _payloads(cells: Iterable[LoadedCell]) -> str:
    """`13 B`, `about 81 B` for 80 and 82 B, `13 to 1,024 B`; else what a response had."""
    declared, received = [], []
    for cell in cells:
        if cell.workload.payload_bytes is not None:
            declared.append(cell.workload.payload_bytes)
        elif (size := measured_response_size(cell)) is not None:
            received.append(size)
    text = _declared_text(declared) if declared else ""
    if not received:
        return text
    each = f"{size_text(*_extremes(received))} per response"
    if not text:
        return f"payload unknown, {each}"
    return f"{text}, and {each} where the payload is unknown"


def _declared_text(sizes: Sequence[int]) -> str:
    least, most = min(sizes), max(sizes)
    if least == most:
        return f"{most:,} B"
    return size_text(median(sizes)) if _is_one_size(least, most) else f"{least:,} to {most:,} B"


def _extremes(received: Sequence[ResponseSize]) -> tuple[float, ...]:
    """The smallest and the largest size; one size where all are nearly equal.

    Where sizes differ by more than headers, these are the two sizes that reasons name.
    """
    smallest = smallest_sizes(received, USUAL_HEADER_BYTES)
    if len(smallest) > 1:
        return smallest[0], smallest[-1]
    sizes = [size.size for size in received]
    least, most = min(sizes), max(sizes)
    return (least,) if _is_one_size(least, most) else (least, most)


def _is_one_size(least: float, most: float) -> bool:
    return most <= least * (1 + ONE_SIZE)


def _keepalives(cells: Iterable[LoadedCell]) -> str:
    """The known settings; the line also says if the setting is unknown for some servers."""
    settings = {keepalive_of(cell) for cell in cells}
    names = {True: "keep-alive", False: "no keep-alive"}
    text = " and ".join(name for setting, name in names.items() if setting in settings)
    return f"{text} (unknown for some servers)" if text and None in settings else text


def _loop(cell: LoadedCell) -> str | None:
    return None if cell.series.loop == "unknown" else f"{cell.series.loop} loop"


def _trials(points: Sequence[Point]) -> str:
    counts = [len(point.trials) for point in points]
    least, most = min(counts), max(counts)
    if least != most:
        return f"{least} to {most} trials a point"
    return f"{least} trial{'' if least == 1 else 's'} a point"


def _runs(cells: Iterable[LoadedCell]) -> str:
    count = len({cell.run.id.int for cell in cells})
    return f"{count} run{'' if count == 1 else 's'}"


def _hosts(cells: Sequence[LoadedCell]) -> str:
    pairs = {(cell.series.client_host, cell.series.server_host) for cell in cells}
    hosts = {host for pair in pairs for host in pair if host is not None}
    if not hosts:
        return "hosts unknown"
    texts = sorted({host_text(host) for host in hosts})
    more = ", …" if len(texts) > 2 else ""
    noun = "host" if len(hosts) == 1 else "hosts"
    return f"{len(hosts)} {noun}: {'; '.join(texts[:2])}{more}"


def host_text(host: LoadedHost) -> str:
    """`2-core Xeon, Linux 6.1`, as far as it is known."""
    cores = None if host.cores is None else f"{host.cores}-core"
    model = re.sub(r"\((?:R|TM|r|tm)\)", "", host.cpu_model or "")
    machine = " ".join(part for part in (cores, *model.split()) if part)
    system = host.kernel or host.os or ""
    return ", ".join(part for part in (machine or host.label, system) if part)
