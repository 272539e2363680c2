"""A report read together with the file of every request that the same run wrote."""

from collections.abc import Iterator
from dataclasses import replace

from backend.formats.model import ParsedTrial
from backend.formats.together import with_samples

# What a printed time may be off by: half a step and the cut to whole µs; and the histogram's
# three digits.
SLACK_US = 1
PRECISION = 0.001


def with_requests(trial: ParsedTrial, rows: ParsedTrial) -> ParsedTrial:
    """The report's figures with the rows' samples; where they contradict each other is noted."""
    if rows.latency_origin != "samples":
        return replace(trial, disagreements=(*trial.disagreements, *_disagreements(trial, rows)))
    trial = replace(trial, tool_version=trial.tool_version or rows.tool_version)
    return with_samples(trial, rows, _disagreements(trial, rows))


def _disagreements(trial: ParsedTrial, rows: ParsedTrial) -> Iterator[str]:
    if trial.requests_completed != rows.requests_completed:
        yield (
            f"the report says {trial.requests_completed} responses, "
            f"the other file has {rows.requests_completed}"
        )
    step = max(trial.latency_resolution_us or 1, rows.latency_resolution_us or 1)
    for name in ("min", "mean", "max"):
        printed = getattr(trial.latency, f"{name}_us")
        measured = getattr(rows.histogram, f"{name}_us", None)
        if printed is None or measured is None:
            continue
        if abs(printed - measured) > step / 2 + SLACK_US + measured * PRECISION:
            yield (
                f"the report says that the {name} is {printed:g} µs, "
                f"in the other file it is {measured:g} µs"
            )
