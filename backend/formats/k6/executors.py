"""What k6's banner says was asked for: an executor for each scenario."""

from collections.abc import Sequence
from dataclasses import dataclass

from backend.formats.numbers import parse_count, parse_duration_s, parse_number
from backend.formats.text import Line

# Named in the log lines that k6 prints between.
OPEN_EXECUTORS = ("executor=constant-arrival-rate", "executor=ramping-arrival-rate")


@dataclass(frozen=True, slots=True)
class Asked:
    """What was asked for; None if the banner does not say it, or not one figure."""

    loop: str | None = None
    connections: int | None = None
    iterations_per_s: float | None = None
    duration_s: float | None = None


def asked_for(lines: Sequence[Line]) -> Asked:
    """What the lines of a run ask for; of several scenarios, the loop if they share one."""
    scenarios = [asked for line in lines if (asked := _scenario(line.text)) is not None]
    if len(scenarios) == 1:
        return scenarios[0]
    loops = {asked.loop for asked in scenarios}
    if not loops:
        loops = {"open" for line in lines if any(name in line.text for name in OPEN_EXECUTORS)}
    return Asked(loop=loops.pop()) if len(loops) == 1 else Asked()


def _scenario(text: str) -> Asked | None:
    """The scenario of a line such as "* default: 5 looping VUs for 2s (gracefulStop: 30s)"."""
    if not text.startswith("* "):
        return None
    # A scenario's name may have a colon too.
    colons = [position for position, letter in enumerate(text[:400]) if letter == ":"]
    executors = (_executor(text[position + 1 :].split()) for position in colons)
    return next(filter(None, executors), None)


def _executor(words: list[str]) -> Asked | None:
    is_most = words[:2] == ["Up", "to"]
    words = words[2:] if is_most else words
    count = parse_number(words[0]) if len(words) >= 5 else None
    if count is None:
        return None
    if words[1:4] == ["looping", "VUs", "for"]:
        users = None if is_most else parse_count(words[0])
        return Asked("closed", users, None, parse_duration_s(words[4].rstrip(",")))
    if words[1:3] == ["iterations/s", "for"]:
        rate = None if is_most else count
        return Asked("open", None, rate, parse_duration_s(words[3].rstrip(",")))
    return _shared_iterations(words[1:])


def _shared_iterations(words: list[str]) -> Asked | None:
    """Of "iterations shared among 10 VUs" and "iterations for each of 10 VUs"."""
    if words[:3] == ["iterations", "shared", "among"]:
        return Asked("closed", parse_count(words[3]))
    if words[:4] == ["iterations", "for", "each", "of"] and len(words) > 4:
        return Asked("closed", parse_count(words[4]))
    return None
