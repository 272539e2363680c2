"""What was seen second by second: of a trial by its load tool, of a server's host by an agent.

The slices of a trial as they are answered are here too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import models
from django.utils import timezone

from backend.accounts.models import Workspace
from backend.formats.model import TimeSlice
from backend.formats.read_trial import slices_in
from backend.stats import Histogram


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
        """The slices as they are drawn and answered: counts, and latency in µs; None is unknown."""
        return [describe_slice(part) for part in self.slices]


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
    histogram = Histogram.decode(part.histogram) if part.histogram else None
    return {
        "start_s": part.start_s,
        "length_s": part.length_s,
        "completed": part.completed,
        "failed": part.failed,
        # The tool's own rate, where it gives no count.
        "reported_rps": part.reported_rps,
        "p50_us": histogram.percentile(50) if histogram else part.percentiles.get("50"),
        "p99_us": histogram.percentile(99) if histogram else part.percentiles.get("99"),
        "max_us": histogram.max_us if histogram else part.percentiles.get("100"),
    }
