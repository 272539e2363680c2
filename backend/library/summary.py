"""What today's run of a study says in a few sentences, made from its figures. Pure: no Django."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from backend.library.study import Study
from backend.library.today import Figure, Row, find_today, rows_of

# With more runnable processes than this share of the processors, a machine counts as busy.
BUSY_SHARE = 0.5


def today_summary(study: Study) -> str:
    """Who is the fastest today, which versions differ, and whether the machine was busy.

    Empty for a study that was not measured again.
    """
    return " ".join(_sentences(study))


def _sentences(study: Study) -> Iterator[str]:
    rows = rows_of(study)
    if not rows:
        return
    for workload in sorted({row.workload for row in rows}):
        yield from _winner([row for row in rows if row.workload == workload])
    yield from _versions(rows)
    yield from _machine(study)


def _winner(rows: Sequence[Row]) -> Iterator[str]:
    """The fastest of one workload today."""
    measured = [(row, row.today) for row in rows]
    ranked = sorted(
        ((row, figure) for row, figure in measured if figure is not None),
        key=lambda pair: -pair[1].centre,
    )
    if not ranked:
        return
    (row, first), *rest = ranked
    is_clear = all(_is_above(first, figure) for _, figure in rest)
    verdict = "is the fastest, with" if is_clear else "leads with"
    overlap = "" if is_clear else ", but trials of others overlap its own"
    yield (
        f"{row.workload[:1].upper()}{row.workload[1:]}: {row.server} {first.version} {verdict} "
        f"{first.centre:,.0f} requests/s{first.load}{overlap}."
    )


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
    return f"{name} {current.centre / old.centre:.2g} times"


def _machine(study: Study) -> Iterator[str]:
    today = find_today(study)
    if today is None:
        return
    host = today.envelope["hosts"]["client"]
    load, cores = host["facts"].get("load_average_1m"), host.get("cores")
    yield f"Measured on {today.date} on a virtual machine with {cores} processors."
    if load is not None and cores and load > BUSY_SHARE * cores:
        yield (
            f"Other programs kept it busy (load {load:g}), so the figures are low and uneven: take "
            "no order from them."
        )
