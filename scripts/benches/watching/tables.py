"""The figures of scripts/bench watch as tables, and the aims that they must meet."""

from collections.abc import Iterator, Mapping, Sequence
from textwrap import fill
from typing import Any

from simulation.printing import as_table

from watching.builds import MOST_RUNS, REQUIREMENT
from watching.nights import FALL, NIGHTS, NIGHTS_TO_TELL, SERIES

Row = Mapping[str, Any]
MOST_WRONG = 0.05
MOST_FALSE_ALERTS = 1.0
LEAST_TOLD = 0.95
# Of a line of prose.
WIDTH = 110


def missed(results: Mapping[str, Any]) -> Iterator[str]:
    """Each aim that is missed, in a sentence."""
    for row in results["builds"]:
        if _is_held(row) and row["ever_regressed"] > MOST_WRONG:
            yield f"{_percent(row['ever_regressed'])} of {_build_text(row)} builds are regressed"
    yield from _missed_nights(results)


def _missed_nights(results: Mapping[str, Any]) -> Iterator[str]:
    false = _mean(results["unchanged"], "alerts")
    if false > MOST_FALSE_ALERTS:
        yield f"{false:.1f} false alerts in {NIGHTS} nights of {SERIES} series"
    falls = results["falls"]
    told, ranged = sum(row["told"][-1] for row in falls), sum(row["ranged"] for row in falls)
    if min(told, ranged) < LEAST_TOLD * sum(row["series"] for row in falls):
        yield f"only {told} falls are told in {NIGHTS_TO_TELL} nights, {ranged} with their range"
    for row in results["halved"]:
        if row["told"] != row["series"] or row["messages"] != 1:
            yield f"servers that halve: {row}"


def _is_held(row: Row) -> bool:
    """Whether the build keeps the requirement."""
    return row["change"] >= -(REQUIREMENT.share or 0)


def builds_table(rows: Sequence[Row]) -> str:
    """What the gate says after each run; a line for each history and change."""
    looks = [f"after run {number}" for number in range(1, MOST_RUNS + 1)]
    lines = []
    for row in rows:
        shares = [row["once"], *row["looks"]]
        runs = f"{row['runs']:.1f}"
        lines.append([str(row["history"]), _build_text(row), *map(_verdicts, shares), runs])
    return as_table(["runs of history", "build", "asked once", *looks, "runs measured"], lines)


def errors_table(rows: Sequence[Row]) -> str:
    """How often the answers about a build err."""
    columns = ["runs of history", "build", "regressed in any answer"]
    lines = []
    for row in rows:
        if _is_held(row):
            shares = [_percent(row[name]) for name in ("ever_regressed", "ever_wrong")]
            lines.append([str(row["history"]), _build_text(row), *shares])
    return as_table([*columns, "an interval leaves out the change"], lines)


def nights_table(results: Mapping[str, Any]) -> str:
    """What alert rules did."""
    unchanged, halved = results["unchanged"], results["halved"]
    nights = ["1 night", *(f"{number} nights" for number in range(2, NIGHTS_TO_TELL + 1))]
    confirmed = [f"confirmed after {each}" for each in nights]
    columns = ["nights", "runs differ by", *confirmed, "right range", "of one commit"]
    lines = []
    for run_sd, told, *ranges in _falls(results["falls"]):
        count = sum(row["series"] for row in results["falls"] if row["run_sd"] == run_sd)
        name = f"{count} series fall by {_percent(FALL)}"
        lines.append([name, _percent(run_sd), *map(_percent, [*told, *ranges])])
    alerts = sum(row["alerts"] for row in unchanged)
    false = f"{alerts} false alerts in {len(unchanged)} × {NIGHTS} nights of {SERIES} series"
    (servers,) = {row["series"] for row in halved}
    told = sum(row["told"] == servers for row in halved)
    one = sum(row["messages"] == 1 for row in halved)
    once = (
        f"{servers} servers halved at once in {len(halved)} labs: all were confirmed after 2 "
        f"nights in {told} of these labs, in one message in {one}"
    )
    return f"{as_table(columns, lines)}\n\n{fill(f'Without a change: {false}. {once}.', WIDTH)}"


def _falls(rows: Sequence[Row]) -> Iterator[tuple[float, list[float], float, float]]:
    """How far runs differ, and the shares told after each night, with the right range of commits,
    and with a range of one commit."""
    for run_sd in sorted({row["run_sd"] for row in rows}):
        own = [row for row in rows if row["run_sd"] == run_sd]
        count = sum(row["series"] for row in own)
        told = [sum(row["told"][night] for row in own) / count for night in range(NIGHTS_TO_TELL)]
        ranges = (sum(row[name] for row in own) / count for name in ("ranged", "exact"))
        yield (run_sd, told, *ranges)


def _mean(rows: Sequence[Row], name: str) -> float:
    return sum(row[name] for row in rows) / len(rows)


def _build_text(row: Row) -> str:
    change = f"{row['change'] * 100:+g} %".replace("-", "−") if row["change"] else "unchanged"
    return f"{change}, its runs within an hour" if row["shared"] else change


def _verdicts(shares: Sequence[float]) -> str:
    """`1 / 20 / 79`: regressed, kept and too noisy, in percent."""
    regressed, kept = shares
    noisy = 1 - regressed - kept
    return " / ".join(f"{share * 100:.0f}" for share in (regressed, kept, noisy))


def _percent(share: float) -> str:
    return f"{share * 100:.3g} %"
