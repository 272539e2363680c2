"""The JSON of one run, of its trials and of its corrections."""

from typing import Any

from rest_framework import serializers

from backend.api.protocol.strict import StrictSerializer
from backend.ingest.envelope.envelope import PHASES
from backend.runs.catalogue.run_states import STATES
from backend.runs.models import Correction
from backend.runs.tables.names import MAX_NAME, MAX_NOTES
from backend.sharing.models import Visibility
from backend.untrusted.limits import ENVELOPE_TRIALS

STATE_HELP = "failed: a trial failed; partial: a part of its upload could not be read"


class ArtefactSerializer(serializers.Serializer[Any]):
    """A raw file as received."""

    id = serializers.UUIDField()
    name = serializers.CharField()
    url = serializers.CharField(help_text="The page to read it on")
    raw_url = serializers.CharField(help_text="The bytes as received")
    size_bytes = serializers.IntegerField()
    sha256 = serializers.CharField()
    removed_at = serializers.DateTimeField(
        allow_null=True,
        help_text="When the workspace's setting removed its bytes; null if they are still there",
    )
    kept_days = serializers.IntegerField(
        allow_null=True, help_text="For how many days its bytes were kept, if they were removed"
    )


class TrialSerializer(serializers.Serializer[Any]):
    """One execution of the load tool. Null is unknown."""

    id = serializers.UUIDField()
    run = serializers.UUIDField()
    ordinal = serializers.IntegerField()
    cell = serializers.UUIDField()
    server = serializers.CharField()
    workload = serializers.CharField()
    tool = serializers.CharField()
    loop = serializers.CharField()
    connections = serializers.IntegerField(allow_null=True)
    rate_rps = serializers.FloatField(allow_null=True)
    repeat = serializers.IntegerField(allow_null=True)
    warmup = serializers.BooleanField()
    phase = serializers.ChoiceField(PHASES, allow_null=True, help_text="What the trial was for")
    started_at = serializers.DateTimeField(allow_null=True)
    elapsed_s = serializers.FloatField(allow_null=True)
    throughput = serializers.FloatField(
        allow_null=True, help_text="Completed responses / elapsed, else the rate the tool printed"
    )
    throughput_origin = serializers.ChoiceField(
        ["computed", "reported"],
        allow_null=True,
        help_text="Reported: the tool's own rate, where a count or the elapsed time is unknown",
    )
    reported_rps = serializers.FloatField(allow_null=True, help_text="The rate the tool printed")
    p50_us = serializers.FloatField(allow_null=True)
    p99_us = serializers.FloatField(allow_null=True)
    origin = serializers.ChoiceField(["computed", "reported"], allow_null=True)
    error_rate = serializers.FloatField(allow_null=True)
    errors = serializers.DictField()  # type: ignore[assignment]  # popped by DRF's metaclass
    requests = serializers.IntegerField(allow_null=True)
    checks = serializers.ListField(child=serializers.DictField())
    resources = serializers.DictField(help_text="What the agent measured of server and client")
    load = serializers.DictField(help_text="The load as the agent asked for it")
    command = serializers.CharField()
    exit_code = serializers.IntegerField(allow_null=True)
    incomplete = serializers.BooleanField()
    error = serializers.CharField()
    server_tail = serializers.CharField(
        help_text="For a failed trial: what the server printed last"
    )
    artefacts = ArtefactSerializer(
        many=True,
        help_text="Of a trial of a run at most the first 20, or fewer where the run has more than "
        "1,000 trials; `GET /api/v1/trials/<id>` has all",
    )
    artefact_count = serializers.IntegerField(help_text="How many files the trial has")


class RereadingSerializer(serializers.Serializer[Any]):
    """One reading of the run's files again, by another version of the parser."""

    read_at = serializers.DateTimeField()
    from_version = serializers.CharField()
    to_version = serializers.CharField()
    changes = serializers.ListField(
        child=serializers.DictField(), help_text="ordinal, figure, before and after of each"
    )
    refused = serializers.CharField(
        help_text="Why the parser could read nothing, so the earlier figures stay; else empty"
    )
    stopped = serializers.CharField(
        help_text="What ended the parser before it answered, so the earlier figures stay: memory, "
        "CPU time, a crash or a kill; else empty"
    )


class CorrectionSerializer(serializers.Serializer[Any]):
    """One field that a member set to another value, the latest first. Null is unknown."""

    id = serializers.UUIDField()
    # Popped by DRF's metaclass.
    field = serializers.ChoiceField(Correction.Field.choices)
    label = serializers.CharField()  # type: ignore[assignment]
    trials = serializers.ListField(
        child=serializers.IntegerField(), allow_null=True, help_text="Ordinals; null: all trials"
    )
    before = serializers.ListField(
        # Any JSON, null included: no second schema for null beside that of everything.
        child=serializers.JSONField(),
        help_text="The values that it replaced",
    )
    value = serializers.JSONField()
    author = serializers.CharField(allow_null=True)
    made_at = serializers.DateTimeField()
    undone_by = serializers.CharField(allow_null=True)
    undone_at = serializers.DateTimeField(allow_null=True, help_text="Null: the correction counts")


class RunEditSerializer(StrictSerializer):
    """What to correct; what is left out stays. Null is unknown."""

    server = serializers.CharField(required=False, max_length=MAX_NAME)
    version = serializers.CharField(required=False, max_length=MAX_NAME, allow_null=True)
    workload = serializers.CharField(required=False, max_length=MAX_NAME)
    server_host = serializers.CharField(required=False, max_length=MAX_NAME, allow_null=True)
    client_host = serializers.CharField(required=False, max_length=MAX_NAME, allow_null=True)
    started_at = serializers.DateTimeField(required=False, allow_null=True)
    labels = serializers.DictField(
        child=serializers.CharField(max_length=MAX_NAME), required=False, help_text="All of them"
    )
    notes = serializers.CharField(required=False, max_length=MAX_NOTES, allow_blank=True)
    trials = serializers.ListField(
        child=serializers.IntegerField(min_value=0),
        required=False,
        allow_empty=False,
        max_length=ENVELOPE_TRIALS,
        help_text="Only these trials, by ordinal: for server, version and workload",
    )


class RunSerializer(serializers.Serializer[Any]):
    """A run with its hosts and every trial, warm-ups included."""

    id = serializers.UUIDField()
    name = serializers.CharField(help_text="Its servers, workloads and load tools")
    workspace = serializers.CharField()
    started_at = serializers.DateTimeField(allow_null=True)
    finished_at = serializers.DateTimeField(allow_null=True)
    recorded_at = serializers.DateTimeField()
    state = serializers.ChoiceField(STATES, help_text=STATE_HELP)
    not_read = serializers.ListField(
        child=serializers.CharField(),
        help_text="How many results of its upload could not be read, then why; empty: none",
    )
    interrupted = serializers.BooleanField()
    open = serializers.BooleanField(help_text="Whether more trials will arrive")
    trials_planned = serializers.IntegerField(allow_null=True, help_text="Warm-ups included")
    same_host = serializers.BooleanField(allow_null=True)
    labels = serializers.DictField()
    notes = serializers.CharField()
    plan = serializers.CharField()
    plan_sha256 = serializers.CharField()
    agent = serializers.DictField(help_text="name, version, hostname; empty if unknown")
    session = serializers.DictField(help_text="name and parts, for several agents; otherwise empty")
    seed = serializers.IntegerField(
        allow_null=True, help_text="The seed of the order of the trials"
    )
    stopped = serializers.CharField(help_text="The rule of the plan that ended it early, or empty")
    events = serializers.ListField(
        child=serializers.DictField(), help_text="at, kind and text of what else happened"
    )
    max_rates = serializers.ListField(
        child=serializers.DictField(),
        help_text="For each search: server, workload, rate_rps, confirmed",
    )
    server_tails = serializers.DictField(help_text="What each server printed last, by its name")
    hosts = serializers.ListField(child=serializers.DictField())
    rereadings = RereadingSerializer(many=True)
    corrections = CorrectionSerializer(many=True)
    trials = TrialSerializer(many=True)


class SharedTrialSerializer(TrialSerializer):
    """A trial of a shared run: without its output, and what its server printed."""

    run = None  # type: ignore[assignment]
    server_tail = None  # type: ignore[assignment]
    artefacts = None  # type: ignore[assignment]
    artefact_count = None  # type: ignore[assignment]


class SharedCorrectionSerializer(CorrectionSerializer):
    """A correction of a shared run that counts: without who made it."""

    author = None  # type: ignore[assignment]
    undone_by = None  # type: ignore[assignment]
    undone_at = None  # type: ignore[assignment]
    before = serializers.ListField(
        child=serializers.JSONField(),
        help_text="The values that it replaced; empty for notes and labels",
    )
    value = serializers.JSONField(help_text="Null too for former notes and labels")


class SharedRunSerializer(RunSerializer):
    """A run as the readers of its link get it."""

    not_read = serializers.ListField(
        child=serializers.CharField(),
        help_text="How many results of its upload could not be read; empty: none",
    )

    visibility = serializers.ChoiceField(Visibility.choices, help_text="Never private")
    workspace = None  # type: ignore[assignment]
    session = None  # type: ignore[assignment]
    server_tails = None  # type: ignore[assignment]
    corrections = SharedCorrectionSerializer(many=True)
    trials = SharedTrialSerializer(many=True)


class SecondSerializer(serializers.Serializer[Any]):
    """One stretch of a trial. Null is unknown."""

    start_s = serializers.FloatField(help_text="Since the trial's first request")
    length_s = serializers.FloatField()
    completed = serializers.IntegerField(allow_null=True)
    failed = serializers.IntegerField(allow_null=True)
    reported_rps = serializers.FloatField(
        allow_null=True, help_text="The tool's own rate, where it gives no counts"
    )
    p50_us = serializers.FloatField(allow_null=True)
    p99_us = serializers.FloatField(allow_null=True)
    max_us = serializers.FloatField(allow_null=True)


class TimelineSerializer(serializers.Serializer[Any]):
    """A trial over time."""

    trial = serializers.UUIDField()
    length_s = serializers.FloatField()
    seconds = SecondSerializer(
        many=True,
        help_text="At most 2,000: of a longer time series, neighbours are pooled. What is unknown "
        "of one of them is then null, and so are percentiles that the tool printed",
    )


class ReadTrialSerializer(TrialSerializer):
    """One trial, asked for by itself."""

    timeline = TimelineSerializer(
        required=False,
        allow_null=True,
        help_text="If expanded; null: the output has no time series",
    )
