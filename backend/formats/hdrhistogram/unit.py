"""The unit of HdrHistogram's values, where the file states it."""

from collections.abc import Iterable

from backend.formats.text import Line

NAMES = {
    1e-3: ("ns", "nsec", "nsecs", "nanos", "nanosecond", "nanoseconds"),
    1.0: ("us", "µs", "μs", "usec", "usecs", "micros", "microsecond", "microseconds"),
    1e3: ("ms", "msec", "msecs", "millis", "millisecond", "milliseconds"),
    1e6: ("sec", "secs", "second", "seconds"),
}
UNITS_US = {name: factor for factor, names in NAMES.items() for name in names}
SAYING = frozenset(("unit", "units"))
SAYING_IN = frozenset(("value", "values", "latency", "latencies", "times"))


def stated_unit_us(lines: Iterable[Line]) -> float | None:
    """The unit in µs that comments state; None if none does, or two contradict each other.

    "# unit: us", "#[Values in microseconds]" and a head "Value [us]" state one.
    """
    stated = {unit for line in lines if (unit := _stated(line.text)) is not None}
    return stated.pop() if len(stated) == 1 else None


def _stated(text: str) -> float | None:
    words = "".join(c if c.isalnum() else " " for c in text.lower()).split()
    if words[:1] == ["value"] and "percentile" in words:
        return UNITS_US.get(words[1])
    return _of_comment(words) if text.startswith("#") else None


def _of_comment(words: list[str]) -> float | None:
    terms = [word for word in words if word not in ("is", "are", "of")]
    for before, word, after in zip(terms, terms[1:], [*terms[2:], ""], strict=False):
        if before in SAYING:
            return UNITS_US.get(after if word == "in" else word)
        if before in SAYING_IN and word == "in":
            return UNITS_US.get(after)
    return None
