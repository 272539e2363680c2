"""What was measured: servers, hosts, workloads, runs, trials and cells.

Identity columns are hashed into one indexed key; annotations (labels, notes, plan text) never are.
Unknown is null.
"""

from __future__ import annotations

import uuid
from typing import Any

from django.db import models
from django.db.models.functions import Now, Upper
from django.utils import timezone

from backend.accounts.models import User, Workspace
from backend.runs.tables.amendments import Correction, Dismissal, FormerName, Merge
from backend.runs.tables.over_time import Observation, TrialTimeline
from backend.runs.tables.run_indexes import RUN_INDEXES, text_index
from backend.runs.tables.server_texts import SERVER_TEXTS

__all__ = [
    "Cell",
    "Correction",
    "Dismissal",
    "FormerName",
    "Host",
    "Merge",
    "Observation",
    "Run",
    "Series",
    "Server",
    "Trial",
    "TrialTimeline",
    "Workload",
]


class Identified(models.Model):
    """A server, host or workload. Two with equal identity fields are one row of the workspace."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="+")
    # SHA-256 of the canonical JSON of the identity fields (see runs/registry/identity.py).
    identity = models.BinaryField(max_length=32, editable=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        abstract = True


class Server(Identified):
    """The software under test."""

    name = models.CharField(max_length=200)
    configuration = models.JSONField(default=dict)
    # The colour of this server on every page of the workspace.
    slot = models.PositiveSmallIntegerField(default=0)
    # Columns of `SERVER_TEXTS`, added below.
    version: str | None
    runtime: str | None

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workspace", "identity"], name="server_identity")
        ]
        indexes = [text_index(Upper("name"), Upper("version"), name="server_by_text")]

    def __str__(self) -> str:
        return f"{self.name} {self.version or ''}".strip()


for _text in SERVER_TEXTS:
    # Null is unknown.
    Server.add_to_class(_text.name, models.CharField(max_length=200, null=True))


class Host(Identified):
    """A machine, as measured."""

    name = models.CharField(max_length=200, null=True)  # noqa: DJ001  null is unknown
    cpu_model = models.CharField(max_length=200, null=True)  # noqa: DJ001
    cores = models.PositiveIntegerField(null=True)
    memory_bytes = models.BigIntegerField(null=True)
    virtualisation = models.CharField(max_length=100, null=True)  # noqa: DJ001
    os = models.CharField(max_length=200, null=True)  # noqa: DJ001
    kernel = models.CharField(max_length=200, null=True)  # noqa: DJ001

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workspace", "identity"], name="host_identity")
        ]
        indexes = [text_index(Upper("name"), Upper("cpu_model"), name="host_by_text")]

    def __str__(self) -> str:
        return self.name or self.cpu_model or "unknown host"


class Workload(Identified):
    """The request that load tools send."""

    name = models.CharField(max_length=200)
    method = models.CharField(max_length=20, null=True)  # noqa: DJ001
    path = models.CharField(max_length=2000, null=True)  # noqa: DJ001
    payload_bytes = models.BigIntegerField(null=True)
    keepalive = models.BooleanField(null=True)
    tls = models.BooleanField(null=True)
    headers = models.JSONField(default=dict)
    # What is sent with each request; null: nothing, or unknown.
    body_bytes = models.BigIntegerField(null=True)
    body_sha256 = models.CharField(max_length=64, null=True)  # noqa: DJ001

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workspace", "identity"], name="workload_identity")
        ]
        indexes = [text_index(Upper("name"), Upper("path"), name="workload_by_text")]

    def __str__(self) -> str:
        return self.name


class KeptRuns(models.Manager["Run"]):
    """The runs that are not in the trash."""

    def get_queryset(self) -> models.QuerySet[Run]:
        return super().get_queryset().filter(trashed_at=None)


class OfKeptRuns(models.Manager[Any]):
    """Cells or trials of the runs that are not in the trash."""

    def get_queryset(self) -> models.QuerySet[Any]:
        return super().get_queryset().filter(run__trashed_at=None)


class Run(models.Model):
    """One submission: a plan executed once. `objects` leaves out the trash."""

    id = models.UUIDField(primary_key=True, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="runs")
    author = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    server_host = models.ForeignKey(Host, null=True, on_delete=models.PROTECT, related_name="+")
    client_host = models.ForeignKey(Host, null=True, on_delete=models.PROTECT, related_name="+")
    same_host = models.BooleanField(null=True)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    recorded_at = models.DateTimeField(default=timezone.now)
    # When it was recorded complete, got late trials or came back from the trash, by the clock of
    # the database. Without meaning while the run is open.
    completed_at = models.DateTimeField(db_default=Now())
    interrupted = models.BooleanField(default=False)
    # Annotations: shown, never part of an identity.
    labels = models.JSONField(default=dict)
    notes = models.TextField(default="", db_default="")
    plan = models.TextField(default="")
    plan_sha256 = models.CharField(max_length=64, default="")
    facts = models.JSONField(default=dict)
    # The program that measured: name, version, hostname.
    agent = models.JSONField(default=dict)
    # Of the order of the trials; and by which rule of its plan the run ended early.
    seed = models.BigIntegerField(null=True)
    stopped = models.TextField(default="")
    # [{"at", "kind", "text"}, …]: what happened beside the trials.
    events = models.JSONField(default=list)
    # [{"server", "workload", "rate_rps", "confirmed"}, …]: what its searches came to.
    max_rates = models.JSONField(default=list)
    # What each server printed last, by name.
    server_tails = models.JSONField(default=dict)
    # Of the plan, warm-ups included.
    trials_planned = models.PositiveIntegerField(null=True)
    # name and parts, where several agents carried out one plan together.
    session = models.JSONField(default=dict)
    # Its trials come one by one, and the agent has not yet sent the end of the run.
    is_open = models.BooleanField(default=False)
    # Without warm-ups; and the throughput of its best load point, null: unknown. The database keeps
    # both up to date (migration 0022), so that lists are sorted by an index.
    counted_trials = models.IntegerField(db_default=0, editable=False)
    best_rps = models.FloatField(null=True, editable=False)
    # What its upload says where the columns above say otherwise; null: nowhere (corrections.py).
    as_read = models.JSONField(null=True)
    # In the trash since then, and by whom (decision 0027); null: not in the trash.
    trashed_at = models.DateTimeField(null=True)
    trashed_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")

    objects = KeptRuns()
    with_trash: models.Manager[Run] = models.Manager()

    class Meta:
        # Of lists of arrivals; what is newest is asked by happening.newest_first.
        ordering = ["-recorded_at"]
        indexes = RUN_INDEXES

    def __str__(self) -> str:
        return str(self.id)


class Series(models.Model):
    """What stays the same over the load points: server, hosts, workload, load tool and loop."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="+")
    # SHA-256 over all of the below.
    key = models.BinaryField(max_length=32, editable=False)
    server = models.ForeignKey(Server, on_delete=models.PROTECT, related_name="series")
    workload = models.ForeignKey(Workload, on_delete=models.PROTECT, related_name="series")
    server_host = models.ForeignKey(Host, null=True, on_delete=models.PROTECT, related_name="+")
    client_host = models.ForeignKey(Host, null=True, on_delete=models.PROTECT, related_name="+")
    tool = models.CharField(max_length=40)
    tool_version = models.CharField(max_length=80, null=True)  # noqa: DJ001
    loop = models.CharField(max_length=10)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["workspace", "key"], name="series_key")]
        indexes = [text_index(Upper("tool"), name="series_by_text")]

    def __str__(self) -> str:
        return f"{self.server}, {self.workload}"


class Cell(models.Model):
    """One series at one load point within one run: its trials merged."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="cells", db_index=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="+")
    series = models.ForeignKey(
        Series, on_delete=models.PROTECT, related_name="cells", db_index=False
    )
    connections = models.PositiveIntegerField(null=True)
    rate_rps = models.FloatField(null=True)
    # Trials that count: no warm-ups, and each tells something (a figure of any kind).
    trial_count = models.PositiveIntegerField(default=0)
    # The centre of their throughput, as a comparison gives it (stats/replicates.py); null: unknown.
    throughput_rps = models.FloatField(null=True)
    # Compressed HdrHistogram of all counted trials, when every one of them has its own.
    histogram = models.BinaryField(null=True)
    # {"50": …, "99.9": …} in µs of that histogram, kept because decoding one takes milliseconds
    # and a comparison shows hundreds of cells. Empty when there is no histogram.
    percentiles_us = models.JSONField(default=dict)
    # {"count": n, "points": [[percent, µs], …]} of that histogram, to draw (stats/histogram.py).
    curve = models.JSONField(null=True)
    checks = models.JSONField(default=list)

    objects = models.Manager()
    of_kept_runs = OfKeptRuns()

    class Meta:
        indexes = [
            # What counting by series and load, and the best load point of a run, need: no row is
            # read for them.
            models.Index(
                fields=["run", "series", "connections", "rate_rps"],
                include=["trial_count", "throughput_rps"],
                name="cell_of_run",
            ),
            # So too the best load point of a server or workload in each run.
            models.Index(
                fields=["series", "run"], include=["throughput_rps"], name="cell_of_series"
            ),
            # The best load point of a run is the last entry.
            models.Index(fields=["run", "throughput_rps"], name="cell_by_throughput"),
        ]

    def __str__(self) -> str:
        return f"{self.series.server} at {self.connections or self.rate_rps}"


class Trial(models.Model):
    """One execution of the load tool at one load point."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="trials", db_index=False)
    cell = models.ForeignKey(Cell, on_delete=models.CASCADE, related_name="trials")
    ordinal = models.PositiveIntegerField()
    repeat = models.PositiveIntegerField(null=True)
    warmup = models.BooleanField(default=False)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    command = models.JSONField(default=list)
    exit_code = models.IntegerField(null=True)
    error = models.TextField(default="")
    incomplete = models.BooleanField(default=False)

    elapsed_s = models.FloatField(null=True)
    requests_completed = models.BigIntegerField(null=True)
    requests_ok = models.BigIntegerField(null=True)
    # What the error rate is made of (formats/outcome.py); null is unknown.
    attempts = models.BigIntegerField(null=True)
    failed = models.BigIntegerField(null=True)
    bytes_received = models.BigIntegerField(null=True)
    throughput_rps = models.FloatField(null=True)
    goodput_rps = models.FloatField(null=True)
    error_rate = models.FloatField(null=True)
    reported_rps = models.FloatField(null=True)
    errors = models.JSONField(default=dict)
    tool_errors = models.JSONField(default=dict)
    status_counts = models.JSONField(null=True)

    latency_mean_us = models.FloatField(null=True)
    latency_min_us = models.FloatField(null=True)
    latency_max_us = models.FloatField(null=True)
    # {"50": …} in µs, with where they come from: computed (histogram) or reported (the tool).
    percentiles_us = models.JSONField(default=dict)
    percentiles_origin = models.CharField(max_length=10, null=True)  # noqa: DJ001
    latency_resolution_us = models.FloatField(null=True)
    histogram = models.BinaryField(null=True)
    resources = models.JSONField(default=dict)
    # The load as the agent asked for it; the cell has the load point of it.
    load = models.JSONField(default=dict)
    # warmup, measure, search or confirm; null is unknown.
    phase = models.CharField(max_length=10, null=True)  # noqa: DJ001
    # The tool's own figures as the agent saw them, on which its rules and searches decided.
    glance = models.JSONField(default=dict)
    # What the server printed last, where the trial failed.
    server_tail = models.TextField(default="")

    # Names the bytes that were read: equal for two trials of one output. Null: nothing was read.
    output_sha256 = models.BinaryField(max_length=32, null=True, editable=False)
    # What output and command say of how it was measured (runs/measured/evidence.py: printed_facts).
    printed = models.JSONField(default=dict)
    # Everything read, in the formats' own shape: the evidence behind the columns above.
    parsed = models.JSONField(default=dict)
    # The fields of server and workload in which its upload differs from its series; null: none.
    as_read = models.JSONField(null=True)
    checks = models.JSONField(default=list)

    objects = models.Manager()
    of_kept_runs = OfKeptRuns()

    class Meta:
        ordering = ["ordinal"]
        constraints = [models.UniqueConstraint(fields=["run", "ordinal"], name="trial_ordinal")]
        indexes = [
            models.Index(fields=["output_sha256"], name="trial_by_output"),
            # What a list of runs counts, so that no row is read for it.
            models.Index(fields=["run"], include=["warmup"], name="trial_of_run"),
            models.Index(fields=["run"], condition=~models.Q(error=""), name="trial_failed"),
        ]

    def __str__(self) -> str:
        return f"trial {self.ordinal} of {self.run_id}"
