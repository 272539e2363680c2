"""HdrHistogram's percentile distribution as text: value, percentile, count so far, 1/(1-p).

Each row counts what is above the value of the row before and at most its own. A histogram made of
the rows therefore has every latency at its row's value: exact where the rows say something, high
by at most a row between them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from backend.formats.model import FormatError
from backend.formats.text import Line, number, whole
from backend.stats import Histogram

PERCENTILES = (50, 75, 90, 99)
FOOTER = frozenset(("mean", "stddeviation", "max", "totalcount"))


@dataclass(frozen=True, slots=True)
class Spectrum:
    """The rows and the figures below them, in the text's own unit."""

    values: tuple[float, ...]
    fractions: tuple[float, ...]
    counts: tuple[int, ...]
    mean: float
    stdev: float
    largest: float
    total: int

    def histogram(self, *, unit_us: float) -> Histogram:
        """The mergeable histogram; `unit_us` is the text's unit in µs."""
        each = np.diff(np.array([0, *self.counts]))
        return Histogram.from_counts(np.array(self.values) * unit_us, each)

    def as_dict(self, *, unit: float, suffix: str) -> dict[str, Any]:
        """Its main figures; `unit` scales them, `suffix` names their unit."""
        return {
            "points": len(self.values),
            "total_count": self.total,
            f"first_value{suffix}": round(self.values[0] * unit, 6),
            f"mean{suffix}": round(self.mean * unit, 6),
            f"stdev{suffix}": round(self.stdev * unit, 6),
            f"max{suffix}": round(self.largest * unit, 6),
            **{f"p{p}_value{suffix}": round(self._value_at(p) * unit, 6) for p in PERCENTILES},
        }

    def _value_at(self, percent: float) -> float:
        return next(
            value
            for value, fraction in zip(self.values, self.fractions, strict=True)
            if fraction >= percent / 100
        )


def is_header(line: Line) -> bool:
    """Whether this is the line above the rows, with no unit in it."""
    return line.words == ["Value", "Percentile", "TotalCount", "1/(1-Percentile)"]


def read_spectrum(lines: Sequence[Line], *, tool: str) -> Spectrum:
    """The distribution that begins with its header; raises FormatError for a damaged one."""
    rows: list[tuple[float, float, int]] = []
    footer: dict[str, float] = {}
    for line in lines[1:]:
        if line.text.startswith("#["):
            footer |= _footer(line)
            if "totalcount" in footer:
                break
        elif line.text:
            rows.append(_row(line, tool))
    if not rows or not footer.keys() >= FOOTER:
        raise _damaged(lines[-1], tool, "the rows of the distribution and its #[Max = …] line")
    values, fractions, counts = zip(*rows, strict=True)
    spectrum = Spectrum(
        values,
        fractions,
        counts,
        mean=footer["mean"],
        stdev=footer["stddeviation"],
        largest=footer["max"],
        total=int(footer["totalcount"]),
    )
    _check(spectrum, lines[0], tool)
    return spectrum


def _row(line: Line, tool: str) -> tuple[float, float, int]:
    words = line.words
    value, fraction = (number(word) for word in (*words, "", "")[:2])
    count = whole(words[2]) if len(words) in (3, 4) else None
    if value is None or fraction is None or count is None or fraction > 1:
        raise _damaged(line, tool, "value, percentile, count and 1/(1-percentile)")
    return value, fraction, count


def _footer(line: Line) -> dict[str, float]:
    """{"mean": …, "stddeviation": …} of "#[Mean = …, StdDeviation = …]"."""
    pairs = (part.split("=") for part in line.text.strip("#[]").split(","))
    # "Total count" in Java and C, "TotalCount" in Python.
    named = {
        pair[0].replace(" ", "").lower(): number(pair[1].strip())
        for pair in pairs
        if len(pair) == 2
    }
    return {name: value for name, value in named.items() if value is not None}


def _check(spectrum: Spectrum, line: Line, tool: str) -> None:
    rises = all(a <= b for a, b in zip(spectrum.counts, spectrum.counts[1:], strict=False))
    sorted_values = list(spectrum.values) == sorted(spectrum.values)
    is_whole = spectrum.counts[-1] == spectrum.total and spectrum.fractions[-1] == 1
    if not rises or not sorted_values or not is_whole:
        raise _damaged(line, tool, f"rows that rise to the total count, {spectrum.total}")


def _damaged(line: Line, tool: str, expected: str) -> FormatError:
    return FormatError(
        "The percentile distribution is damaged or cut off.",
        tool=tool,
        line=line.number,
        found=line.text,
        expected=expected,
    )
