"""The table of aims in docs/statistics.md: whether each aim holds, and its nearest figure."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from simulation.aims import AIMS, Aim, Argued, Row, Tables, exceptions_of

DECISIONS = Path(__file__).parents[3] / "docs" / "decisions"
# Heads of columns that say too little without their table.
HEADS = {"true": "true difference", "n": "n ="}


def summary(tables: Tables) -> dict[str, Any]:
    """A table with a row for each aim: whether it holds, and the figure nearest to missing it."""
    columns = ["aim", "holds", "figure nearest to the aim, or furthest beyond it", "argued in"]
    rows = [_line(aim, tables) for aim in AIMS if aim.table in tables]
    return {"columns": columns, "labels": 1, "over": "holds", "rows": rows}


def _line(aim: Aim, tables: Tables) -> list[str]:
    rows = list(aim.rows(tables))
    beyond = [(place, row) for place, row in rows if aim.missed_by(row) > 0]
    place, row = max(rows, key=lambda each: aim.missed_by(each[1]))
    exceptions = [exceptions_of(*each) for each in beyond]
    decisions = sorted({each.decision for argued in exceptions for each in argued})
    return [
        f"{aim.words[0].upper()}{aim.words[1:]}",
        _holds(exceptions, len(rows)),
        f"{row[aim.column]} %: {_labels(row, len(place) - 2)}",
        ", ".join(map(_link, decisions)),
    ]


def _labels(row: Row, count: int) -> str:
    """The labels of a row, each with the head of its column."""
    return "; ".join(
        f"{HEADS.get(head, head)} {label}" for head, label in list(row.items())[:count]
    )


def _holds(exceptions: Sequence[Sequence[Argued]], figures: int) -> str:
    """`exceptions`: of each figure that is beyond the aim."""
    words = [each.says for argued in exceptions for each in argued[:1] if each.says]
    missed_ones = len(exceptions) - len(words)
    holds = f"but for {missed_ones} of {figures} figures" if missed_ones else "yes"
    said = [f"for {count} the page says “{text}”" for text, count in Counter(words).items()]
    return "; ".join([holds, *said])


def _link(decision: str) -> str:
    (record,) = DECISIONS.glob(f"{decision}-*.md")
    return f"[{decision}](decisions/{record.name})"
