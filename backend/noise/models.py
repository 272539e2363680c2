"""How noisy a host is: its A/A comparisons, and what follows from them and from its other runs."""

from django.db import models

from backend.runs.models import Host, Run, Series


class SelfComparison(models.Model):
    """A server measured against itself in one run at one load (an A/A comparison)."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="self_comparisons")
    host = models.ForeignKey(Host, on_delete=models.CASCADE, related_name="self_comparisons")
    series = models.ForeignKey(Series, on_delete=models.CASCADE, related_name="+")
    connections = models.PositiveIntegerField(null=True)
    # The mean log of throughput on side B minus that on side A.
    difference = models.FloatField()
    trials_a = models.PositiveIntegerField()
    trials_b = models.PositiveIntegerField()
    # Comparisons of a run with the same number share server starts, so they are not independent.
    start_group = models.PositiveIntegerField()
    measured_at = models.DateTimeField()

    class Meta:
        ordering = ["-measured_at", "pk"]
        indexes = [models.Index(fields=["host", "-measured_at"], name="self_comparison_by_host")]

    def __str__(self) -> str:
        return f"{self.series} at {self.connections}: {self.difference:+.4f}"


class HostNoise(models.Model):
    """What a host's records say of its noise. Null is unknown."""

    host = models.OneToOneField(
        Host, primary_key=True, on_delete=models.CASCADE, related_name="noise"
    )
    # Two equal servers differ by less than this share in 95 % of comparisons.
    floor_share = models.FloatField(null=True)
    # Independent A/A comparisons, and when the latest of them was measured.
    comparisons = models.PositiveIntegerField(default=0)
    latest = models.DateTimeField(null=True)
    # The standard deviation of throughput between runs, in logs, beyond the noise of their trials;
    # and its degrees of freedom.
    run_sd = models.FloatField(null=True)
    run_freedom = models.PositiveIntegerField(default=0)

    def __str__(self) -> str:
        return f"noise of {self.host_id}"
