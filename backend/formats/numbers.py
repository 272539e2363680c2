"""Numbers, amounts with a unit and durations, as tools print them and as JSON holds them.

Every number is finite and at least 0, but for those of `parse_float`: no tool prints others.
Here is also the elapsed time that a printed rate implies, where the printed time is rounded more.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar, cast

Figure = TypeVar("Figure", bound=float)
TIME_UNITS_US = {"ns": 1e-3, "us": 1.0, "ms": 1e3, "s": 1e6, "m": 60e6, "h": 3600e6}
# The same units as some tools spell them.
TIME_UNITS_US |= {"msec": 1e3, "sec": 1e6, "secs": 1e6, "min": 60e6, "hr": 3600e6}
# The micro sign and the Greek letter, which look the same.
MICRO_SIGNS = str.maketrans({"\u00b5": "u", "\u03bc": "u"})
BINARY_UNITS = {"B": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40}
DECIMAL_UNITS = {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
# Above this no count or figure of a test is real, and sums may leave 64 bits.
LIMIT = 10**18
# Whatever took longer than a month is a damaged row; in µs more would not fit 64 bits.
LONGEST_S = 31 * 24 * 3600
LONGEST_MS = LONGEST_S * 1000
LONGEST_LINE = 2000
# Go's longest duration, 292 years, has 24 characters: "2562047h47m16.854775807s".
LONGEST_DURATION = 32
# One amount of a duration, such as "30.5s" or "3 ms".
_AMOUNT = re.compile(r"([0-9.,]{1,30}) ?([a-z]{1,4}) ?")
MICROSECOND = 1e-6


def parse_number(word: str) -> float | None:
    """The number that a word is, thousands separated by commas allowed; None if it is not one.

    A comma is believed between groups of three digits only: elsewhere it may be a decimal one.
    """
    plain = _ungrouped(word)
    # float() takes more than people write ("1_0", "infinity", "٣"): only plain digits here.
    if not plain.isascii() or not plain.replace(".", "", 1).isdigit() or len(plain) > 30:
        return None
    return float(plain)


def parse_float(word: str) -> float | None:
    """The number of a word such as "-1.5" or "7e-05"; None if it is none."""
    if len(word) > 40 or word.strip("0123456789.e+-"):
        return None
    try:
        value = float(word)
    except ValueError:
        return None
    return value if abs(value) < 1e15 else None


def parse_count(word: str) -> int | None:
    """The whole number that a word is; None if it is not one."""
    plain = _ungrouped(word)
    return int(plain) if plain.isascii() and plain.isdigit() and len(plain) <= 18 else None


def _ungrouped(word: str) -> str:
    """A number without the commas between its thousands; empty if a comma is something else."""
    if "," not in word:
        return word
    integer, point, decimals = word.partition(".")
    head, *groups = integer.split(",")
    # "0,620" and "12,5" have a decimal comma.
    grouped = 1 <= len(head) <= 3 and head[0] != "0" and all(len(group) == 3 for group in groups)
    return f"{head}{''.join(groups)}{point}{decimals}" if grouped and "," not in decimals else ""


def split_unit(word: str) -> tuple[str, str]:
    """("27.92", "ms") of "27.92ms"."""
    digits = word.rstrip(LETTERS)
    return digits, word[len(digits) :]


def parse_amount(word: str, units: Mapping[str, float]) -> float | None:
    """The amount of a word such as "27.92ms", in the unit that counts 1; None if it is not one."""
    digits, unit = split_unit(word)
    factor = units.get(unit)
    return None if factor is None else scaled(parse_number(digits), factor)


def scaled(value: float | None, factor: float) -> float | None:
    """A figure in another unit; None stays unknown."""
    # Six digits after the point: what multiplying decimals by 1000 adds is noise.
    return None if value is None else round(value * factor, 6)


def step_us(text: str) -> float | None:
    """The smallest step a printed time can show, in µs: 10 for "27.92ms", at least 1.

    None if the text is no time.
    """
    amounts = _amounts(text)
    if not amounts:
        return None
    digits, unit = amounts[-1]
    decimals = len(digits.partition(".")[2])
    return max(1.0, round(TIME_UNITS_US[unit] / float(10**decimals), 6))


def parse_duration_us(text: str) -> float | None:
    """The µs of a time in one unit or several ("27.92ms", "3 ms", "1m30.5s"); None if it is none.

    Every format that prints times with their units reads them here.
    """
    amounts = _amounts(text)
    if not amounts:
        return None
    parts = (float(digits) * TIME_UNITS_US[unit] for digits, unit in amounts)
    # Six digits after the point: what multiplying decimals by 1000 adds is noise.
    return round(sum(parts), 6)


def _amounts(text: str) -> list[tuple[str, str]] | None:
    """Digits and unit of each part of a duration; None if the text is no duration."""
    if len(text) > LONGEST_DURATION:
        return None
    plain = text if text.isascii() else text.translate(MICRO_SIGNS)
    amounts: list[tuple[str, str]] = []
    at = 0
    while at < len(plain):
        part = _AMOUNT.match(plain, at)
        digits = "" if part is None else _ungrouped(part[1])
        if part is None or part[2] not in TIME_UNITS_US or parse_number(digits) is None:
            return None
        amounts.append((digits, part[2]))
        at = part.end()
    return amounts


def parse_duration_s(text: str) -> float | None:
    """As `parse_duration_us`, in seconds."""
    microseconds = parse_duration_us(text)
    return None if microseconds is None else round(microseconds / 1e6, 9)


def all_known(figures: Iterable[Figure | None]) -> list[Figure] | None:
    """The figures; None if one of them is unknown."""
    known = list(figures)
    return None if None in known else cast(list[Figure], known)


def all_by_name(figures: Mapping[str, Figure | None]) -> dict[str, Figure] | None:
    """The figures by name; None if one of them is unknown."""
    return None if None in figures.values() else cast(dict[str, Figure], dict(figures))


def require_number(word: str) -> float:
    """As `parse_number`; raises ValueError where the word is no number."""
    value = parse_number(word)
    if value is None:
        raise ValueError(f"{word!r} is not a number")
    return value


def require_count(word: str) -> int:
    """As `parse_count`; raises ValueError where the word is no count."""
    count = parse_count(word)
    if count is None:
        raise ValueError(f"{word!r} is not a count")
    return count


def require_duration_us(word: str) -> float:
    """As `parse_duration_us`; raises ValueError where the word is no duration."""
    microseconds = parse_duration_us(word)
    if microseconds is None:
        raise ValueError(f"{word!r} is not a duration")
    return microseconds


def json_number(value: Any) -> float:
    """The number that a JSON value is; raises ValueError for others, NaN and negative ones."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < LIMIT:
        raise ValueError(f"{value!r} is not a number from 0 on")
    return float(value)


def json_count(value: Any) -> int:
    """The whole number that a JSON value is; raises ValueError for others."""
    if json_number(value) != int(value):
        raise ValueError(f"{value!r} is not a whole number")
    return int(value)


def json_counts(block: Mapping[str, Any]) -> dict[str, int]:
    """The counts of a JSON object by their names."""
    return {str(name): json_count(count) for name, count in block.items()}


def optional_number(value: Any) -> float | None:
    """As `json_number`; None for null."""
    return None if value is None else json_number(value)


def optional_line(value: Any) -> str | None:
    """A text of one line; None for null and for an empty text. Raises ValueError for others."""
    if value is None or value == "":
        return None
    if not isinstance(value, str) or len(value) > LONGEST_LINE or not value.isprintable():
        raise ValueError(f"{value!r} is not a line of text")
    return value


def count_of_share(count: int, percent: str) -> int | None:
    """The only whole number that is so many printed percent of a count; None if there are more."""
    nearest, slack = _nearest_of_share(count, percent)
    return nearest if slack < 0.5 else None


def nearest_of_share(count: int, percent: str) -> int | None:
    """The whole number nearest to so many printed percent of a count, also where others have that
    share too. None where none has it, and where it is 0 and another has it."""
    nearest, slack = _nearest_of_share(count, percent)
    return nearest if nearest or slack < 0.5 else None


def _nearest_of_share(count: int, percent: str) -> tuple[int | None, float]:
    """The nearest number, None where it has another share; and how far others with it may be."""
    share = parse_number(percent)
    if share is None or share > 100:
        return None, 0.0
    exact = count * share / 100
    slack = count * 0.5 / 10.0 ** (2 + len(percent.partition(".")[2]))
    return (round(exact) if abs(round(exact) - exact) <= slack + 1e-9 else None), slack


def implied_elapsed_s(
    elapsed_s: float | None,
    *,
    step_s: float,
    count: int | None,
    rate_rps: float | None,
    rate_step: float,
) -> float | None:
    """The seconds in which `count` requests make `rate_rps`; None if the printed time is finer.

    Tools compute their rate from the exact time, of which they print two or three digits. `step_s`
    and `rate_step` are the smallest steps that the output can show. None as well where rate and
    time contradict each other: then the rate counts something else.
    """
    if not elapsed_s or not count or not rate_rps:
        return None
    implied = count / rate_rps
    width = implied * rate_step / rate_rps
    # A tool that cuts digits off is a whole step below.
    if width >= step_s or abs(implied - elapsed_s) > step_s + width / 2 + MICROSECOND:
        return None
    return round(implied, 9)
