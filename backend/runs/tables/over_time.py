"""What was seen second by second: of a trial by its load tool, of a server's host by an agent.

The slices of a trial as they are answered are here too.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import Any

from django.db import models
from django.utils import timezone

from backend.accounts.models import Workspace
from backend.formats.model import TimeSlice
from backend.formats.read_trial import slices_in
from backend.stats import Histogram

# More than a chart has pixels.
MOST_SHOWN = 2_000


class TrialTimeline(models.Model):
    """What completed in each stretch of a trial, where its artefacts have a time series.

    Beside the trial, since lists of trials never need it.
    """

    trial = models.OneToOneField(
        "runs.Trial", primary_key=True, on_delete=models.CASCADE, related_name="timeline"
    )
    # As formats/read_trial.py packs it.
    packed = models.BinaryField()

    def __str__(self) -> str:
        return f"timeline of {self.trial_id}"

    @property
    def slices(self) -> Sequence[TimeSlice]:
        """Unpacked anew each time."""
        return slices_in(self.packed)

    @property
    def seconds(self) -> list[dict[str, Any]]:
        """The slices as they are drawn and answered: counts, and latency in µs; None is unknown.

        Of more than MOST_SHOWN, neighbours are pooled.
        """
        slices = self.slices
        together = ceil(len(slices) / MOST_SHOWN)
        if together <= 1:
            return [describe_slice(part) for part in slices]
        starts = range(0, len(slices), together)
        return [_describe_pooled(slices[start : start + together]) for start in starts]


class Observation(models.Model):
    """What an agent on the server host saw while a run was measured from elsewhere.

    The run may come later than what was seen of it, so its id is no foreign key.
    """

    # Made by the agent: sent again it is the same.
    id = models.UUIDField(primary_key=True, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="+")
    run = models.UUIDField(db_index=True)
    # As in an envelope: the identity of the host, and facts.
    host = models.JSONField(default=dict)
    # Of its times, which are the service's.
    uncertainty_s = models.FloatField()
    sample_count = models.PositiveIntegerField()
    # The times of its first and last sample, so that few are read of a long run. Unknown where it
    # was kept before they were, or imported, until it is read.
    first_s = models.FloatField(null=True)
    last_s = models.FloatField(null=True)
    # zlib over the JSON list of runs.observing.Sample.
    packed = models.BinaryField()
    received_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["received_at"]

    def __str__(self) -> str:
        return f"{self.sample_count} samples of {self.run}"


def describe_slice(part: TimeSlice) -> dict[str, Any]:
    """The counts of one slice and its latency in µs, from the histogram where there is one."""
    return {
        "start_s": part.start_s,
        "length_s": part.length_s,
        "completed": part.completed,
        "failed": part.failed,
        # The tool's own rate, where it gives no count.
        "reported_rps": part.reported_rps,
        **_latency_of(Histogram.decode(part.histogram) if part.histogram else None, part),
    }


def _latency_of(histogram: Histogram | None, part: TimeSlice | None) -> dict[str, float | None]:
    """In µs, of the histogram; where there is none, as the tool printed it of the slice."""
    if histogram is None:
        printed = part.percentiles if part else {}
        names = {"p50_us": "50", "p99_us": "99", "max_us": "100"}
        return {name: printed.get(key) for name, key in names.items()}
    p50_us, p99_us = histogram.percentiles([50, 99])
    return {"p50_us": p50_us, "p99_us": p99_us, "max_us": histogram.max_us}


def _describe_pooled(parts: Sequence[TimeSlice]) -> dict[str, Any]:
    """Neighbouring slices as one. What is unknown of one of them is unknown of all; percentiles
    that a tool printed cannot be pooled."""
    first, last = parts[0], parts[-1]
    rates = _sum([part.reported_rps for part in parts])
    return {
        "start_s": first.start_s,
        "length_s": last.start_s + last.length_s - first.start_s,
        "completed": _sum([part.completed for part in parts]),
        "failed": _sum([part.failed for part in parts]),
        "reported_rps": None if rates is None else rates / len(parts),
        **_latency_of(_merged(parts), None),
    }


def _merged(parts: Sequence[TimeSlice]) -> Histogram | None:
    """None where a slice has latencies without a histogram."""
    histograms = [part.histogram for part in parts if part.histogram]
    # A slice in which nothing completed has none.
    has_all = all(part.histogram or not (part.completed or part.percentiles) for part in parts)
    return (
        Histogram.merge_all(map(Histogram.decode, histograms)) if histograms and has_all else None
    )


def _sum(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None
