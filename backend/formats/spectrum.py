"""HdrHistogram's percentile distribution as text: value, percentile, count so far, 1/(1-p).

Each row counts what is above the value of the row before and at most its own. A histogram made of
the rows therefore has every latency at its row's value: exact where the rows say something, high
by at most a row between them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from backend.formats.model import FormatError
from backend.formats.numbers import LONGEST_S, parse_count, parse_number
from backend.formats.text import Line
from backend.stats import Histogram

PERCENTILES = (50, 75, 90, 99)


@dataclass(frozen=True, slots=True)
class Spectrum:
    """The rows and the figures below them, in the text's own unit."""

    values: tuple[float, ...]
    fractions: tuple[float, ...]
    counts: tuple[int, ...]
    # None if nothing was recorded: "-nan" is printed then.
    mean: float | None
    stdev: float | None
    largest: float
    total: int

    def histogram(
        self, *, unit_us: float, percentiles: Mapping[str, float] | None = None
    ) -> Histogram:
        """The mergeable histogram; `unit_us` is the text's unit in µs.

        `percentiles` ("99.9") in µs are those that the text gives beside: one that lies between
        two rows tells how many of the later row's are below it.
        """
        points = dict(zip(self.counts, np.array(self.values) * unit_us, strict=True))
        for percent, value in (percentiles or {}).items():
            # HdrHistogram's own rule.
            rank = max(1, int(float(percent) / 100 * self.total + 0.5))
            before = max((v for count, v in points.items() if count < rank), default=0.0)
            after = min((v for count, v in points.items() if count >= rank), default=0.0)
            if rank not in points and before < value < after:
                points[rank] = value
        reached = sorted(points)
        values = np.array([points[count] for count in reached])
        return Histogram.from_counts(values, np.diff(np.array([0, *reached])))

    def as_dict(self, *, unit: float, suffix: str) -> dict[str, Any]:
        """Its main figures; `unit` scales them, `suffix` names their unit."""
        return {
            "points": len(self.values),
            "total_count": self.total,
            f"first_value{suffix}": round(self.values[0] * unit, 6),
            f"mean{suffix}": None if self.mean is None else round(self.mean * unit, 6),
            f"stdev{suffix}": None if self.stdev is None else round(self.stdev * unit, 6),
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
    """Whether this is the line above the rows, with a unit behind Value or without one."""
    words = line.words
    return words[-3:] == ["Percentile", "TotalCount", "1/(1-Percentile)"] and (
        len(words) in (4, 5) and words[0].replace("[", "(").partition("(")[0] == "Value"
    )


def read_spectrum(lines: Sequence[Line]) -> Spectrum:
    """The distribution that begins with its header; raises FormatError for a damaged one."""
    rows: list[tuple[float, float, int]] = []
    footer: dict[str, float | None] = {}
    for line in lines[1:]:
        if line.text.startswith("#["):
            footer |= _footer(line)
            if "totalcount" in footer:
                break
        elif line.text:
            rows.append(_row(line))
    largest, total = footer.get("max"), footer.get("totalcount")
    has_mean = total == 0 or None not in (footer.get("mean"), footer.get("stddeviation"))
    if not rows or largest is None or total is None or not has_mean:
        raise _damaged(lines[-1], "the rows of the distribution and its #[Max = …] line")
    values, fractions, counts = zip(*rows, strict=True)
    spectrum = Spectrum(
        values,
        fractions,
        counts,
        mean=footer.get("mean"),
        stdev=footer.get("stddeviation"),
        largest=largest,
        total=int(total),
    )
    _check(spectrum, lines[0])
    return spectrum


def _row(line: Line) -> tuple[float, float, int]:
    words = line.words
    value, fraction = (parse_number(word) for word in (*words, "", "")[:2])
    count = parse_count(words[2]) if len(words) in (3, 4) else None
    # In ms or µs: neither is longer than this.
    is_time = value is not None and value <= LONGEST_S * 1e6
    if not is_time or fraction is None or count is None or fraction > 1:
        raise _damaged(line, "value, percentile, count and 1/(1-percentile)")
    return value or 0.0, fraction, count


def _footer(line: Line) -> dict[str, float | None]:
    """{"mean": …, "stddeviation": …} of "#[Mean = …, StdDeviation = …]"."""
    pairs = (part.split("=") for part in line.text.strip("#[]").split(","))
    # "Total count" in Java and C, "TotalCount" in Python.
    return {
        pair[0].replace(" ", "").lower(): parse_number(pair[1].strip())
        for pair in pairs
        if len(pair) == 2
    }


def _check(spectrum: Spectrum, line: Line) -> None:
    columns = (spectrum.values, spectrum.fractions, spectrum.counts)
    rises = all(a <= b for column in columns for a, b in pairwise(column))
    if not rises or spectrum.counts[-1] != spectrum.total or spectrum.fractions[-1] != 1:
        raise _damaged(line, f"rows that rise to the total count, {spectrum.total}")


def _damaged(line: Line, expected: str) -> FormatError:
    return line.refusal("The percentile distribution is damaged or cut off.", expected=expected)
