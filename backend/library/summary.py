"""What today's run of a study says in a few sentences, made from its figures. Pure: no Django."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from backend.library.study import Study
from backend.library.today import Figure, Row, Today, read_today

# With more runnable processes than this share of the processors, a machine counts as busy.
BUSY_SHARE = 0.5


def today_summary(study: Study) -> str:
    """Who is the fastest today, and which versions differ.

    No order is told where other programs kept the machine busy. Empty for a study that was not
    measured again.
    """
    today = read_today(study)
    if today is None or not today.rows:
        return ""
    busy = _busy_text(today)
    orders = (_highest,) if busy else (_winners, _versions)
    figures = [text for order in orders for text in order(today.rows)]
    texts = [busy, *figures, *_not_measured(today.rows), _machine_text(today)]
    return " ".join(filter(None, texts))


def _winners(rows: Sequence[Row]) -> Iterator[str]:
    """The fastest of each workload today."""
    for workload, ranked in _by_workload(rows):
        (row, first), *rest = ranked
        is_clear = all(_is_above(first, figure) for _, figure in rest)
        verdict = "is the fastest, with" if is_clear else "leads with"
        overlap = "" if is_clear else ", but trials of others overlap its own"
        yield (f"{workload}: {row.server} {first.version} {verdict} {_rate_text(first)}{overlap}.")


def _not_measured(rows: Sequence[Row]) -> Iterator[str]:
    """The servers with a published figure that have none of today, under any setting."""
    then = {_name(row) for row in rows if row.then is not None}
    missing = sorted(then - {_name(row) for row in rows if row.today is not None})
    if missing:
        yield f"Not measured today: {', '.join(missing)}."


def _name(row: Row) -> str:
    """The server without its settings."""
    return row.server.partition(", ")[0]


def _highest(rows: Sequence[Row]) -> Iterator[str]:
    """The highest figure of each workload, which is no verdict."""
    figures = [
        f"{workload}: {ranked[0][0].server} {ranked[0][1].version} with {_rate_text(ranked[0][1])}"
        for workload, ranked in _by_workload(rows)
    ]
    if figures:
        yield f"The highest figures are {'; '.join(figures)}."


def _by_workload(rows: Sequence[Row]) -> Iterator[tuple[str, list[tuple[Row, Figure]]]]:
    """Each workload that was measured today with its rows, the highest first."""
    for workload in sorted({row.workload for row in rows}):
        measured = [(row, row.today) for row in rows if row.workload == workload]
        ranked = [(row, figure) for row, figure in measured if figure is not None]
        if ranked:
            ranked.sort(key=lambda pair: -pair[1].centre)
            yield f"{workload[:1].upper()}{workload[1:]}", ranked


def _rate_text(figure: Figure) -> str:
    return f"{figure.centre:,.0f} requests/s{figure.load}"


def _is_above(higher: Figure, lower: Figure) -> bool:
    """Whether every trial of the one is above every trial of the other."""
    return min(higher.rates) > max(lower.rates)


def _versions(rows: Sequence[Row]) -> Iterator[str]:
    """Old versions against current ones, as far as no trial of them overlaps."""
    twins = [(f"{row.server} ({row.workload})", *row.twins) for row in rows if row.twins]
    faster = [_ratio(*twin) for twin in twins if _is_above(twin[2], twin[1])]
    slower = [_ratio(*twin) for twin in twins if _is_above(twin[1], twin[2])]
    if faster:
        yield f"Faster in the current version: {', '.join(faster)}."
    if slower:
        yield f"Slower in the current version: {', '.join(slower)}."
    open_ = len(twins) - len(faster) - len(slower)
    if open_:
        yield f"For {open_} of {len(twins)} pairs of versions the trials overlap."


def _ratio(name: str, old: Figure, current: Figure) -> str:
    return f"{name} {current.centre / old.centre:.2g}×"


def _busy_text(today: Today) -> str:
    """Why no order can be taken from the run; empty where its machine was idle."""
    if today.load is None or not today.cores or today.load <= BUSY_SHARE * today.cores:
        return ""
    return (
        f"No order can be told: other programs kept the machine busy (load {today.load:g}), so the "
        "figures are low and uneven."
    )


def _machine_text(today: Today) -> str:
    return f"Measured on {today.date} on a virtual machine with {today.cores} processors."
