"""The knee of each sweep, in words: from which load on more load brings no more throughput."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from backend.analysis.fields import number_text
from backend.analysis.points import plain
from backend.analysis.swept import (
    NAMED,
    Swept,
    known,
    load_of,
    more_series,
    throughput_at,
)
from backend.analysis.words import at_load, load_text, rate_text
from backend.stats.knee import Knee, Load, find_knee

# A share of the throughput that a knee's noise must not reach if it is to be called one.
LOOSE = 0.1


@dataclass(frozen=True, slots=True)
class KneeRow:
    """One of `knees`, with what a sentence needs besides."""

    swept: Swept
    knee: Knee
    why: str

    def as_dict(self) -> dict[str, object]:
        return {
            "series": self.swept.group.id,
            "x": plain(self.knee.x),
            "throughput": throughput_at(self.swept, self.knee.x),
            "why": self.why,
        }


def knees_of(swept: Sequence[Swept], *, axis: str, relevant: float) -> list[KneeRow]:
    """`knees` of the figures: where more load brings no more throughput.

    Points with more than 1 % of failures do not count: answering less is no throughput.
    """
    return [_knee(one, axis, relevant) for one in swept]


def _knee(swept: Swept, axis: str, relevant: float) -> KneeRow:
    counted = [point for point in swept.points if not point.failing]
    loads = [Load(load_of(point), tuple(known(point, "throughput"))) for point in counted]
    knee = find_knee(loads, relevant=relevant)
    why = knee_why(knee, axis, relevant)
    failing = len(swept.points) - len(counted)
    if failing:
        why += f" ({failing} load{'' if failing == 1 else 's'} above 1 % failures not counted)"
    return KneeRow(swept, knee, why)


def knee_why(knee: Knee, axis: str, relevant: float) -> str:
    """The sentence beside a knee, or in its place. `relevant`: the least gain that counts."""
    if knee.highest is None:
        return "A knee needs at least 3 loads of at least 3 trials"
    if knee.outcome == "rising":
        return f"Throughput still rises {at_load(knee.highest, axis)}, the highest load measured"
    if knee.x is None:
        return (
            f"Whether throughput rises beyond {load_text(knee.perhaps or knee.highest, axis)} is "
            "within noise: more trials would tell"
        )
    parts = [_beyond(knee, relevant)]
    if knee.above is None:
        parts.append("it is the lowest load measured, so the knee may be below")
    else:
        between = f"between {number_text(knee.above)} and {load_text(knee.x, axis)}"
        parts.append(f"nothing was measured {between}")
    if knee.perhaps is not None:
        parts.append(f"it may already be {at_load(knee.perhaps, axis)}: more trials would tell")
    return "; ".join(parts)


def _beyond(knee: Knee, relevant: float) -> str:
    """How much more load may bring, as far as the trials tell."""
    excess = knee.excess or 0
    gain = f"{float(f'{excess * 100:.2g}'):g} %"
    if excess <= relevant:
        return f"Beyond it throughput gains at most {gain}"
    more = ": more trials would tell" if excess > LOOSE else ""
    return f"Beyond it throughput shows no gain; its noise leaves room for at most {gain}{more}"


def knee_finding(rows: Sequence[KneeRow], *, axis: str) -> str:
    """`nginx gains no more beyond 64 connections (12,000 requests/s); caddy: …`, the fastest first.

    Three series; the rest is counted.
    """
    if not rows:
        return "No series to look for a knee in"
    ordered = sorted(rows, key=lambda row: -(throughput_at(row.swept, row.knee.x) or 0))
    texts = [_knee_text(row, axis) for row in ordered[:NAMED]]
    return "; ".join([*texts, *more_series(len(ordered) - NAMED)])


def _knee_text(row: KneeRow, axis: str) -> str:
    label, knee = row.swept.group.label, row.knee
    if knee.x is None:
        return f"{label}: {row.why[0].lower()}{row.why[1:]}"
    rate = throughput_at(row.swept, knee.x)
    most = "" if rate is None else f" ({rate_text(rate)})"
    # Where noise could hide so much, nothing is claimed of what more load would bring.
    verb = "shows no gain" if (knee.excess or 0) > LOOSE else "gains no more"
    return f"{label} {verb} beyond {load_text(knee.x, axis)}{most}"
