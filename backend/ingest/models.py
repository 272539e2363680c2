"""The raw envelope as received. The Upload row is the record of work; a Celery message is a hint.

States: received → parsing → parsed | failed | quarantined. A row exists only once its artefacts are
durable, so there is no state before received. Beside it are what it was read as again, the sums of
what a workspace stores, and parts that wait.
"""

from __future__ import annotations

import uuid
from typing import Any

from django.db import models
from django.db.models.fields.json import KT
from django.db.models.functions import Lower, Replace
from django.utils import timezone

from backend.accounts.models import Token, User, Workspace
from backend.runs.models import Run, Trial
from backend.storage.models import SmallContent
from backend.untrusted.json.json_pieces import PieceDecoder, QuickEncoder

__all__ = [
    "Artefact",
    "Part",
    "Rereading",
    "SmallContent",
    "State",
    "StoredBytes",
    "Upload",
]


class State(models.TextChoices):
    RECEIVED = "received"
    PARSING = "parsing"
    PARSED = "parsed"
    FAILED = "failed"
    QUARANTINED = "quarantined"


END_STATES = [State.PARSED, State.FAILED, State.QUARANTINED]


def as_hex(text: Any) -> Lower:
    """The hex digits of an id, however it is written."""
    return Lower(Replace(text, models.Value("-"), output_field=models.TextField()))


# The run that an envelope names, as hex digits; of any other text, its beginning.
NAMED_RUN_SQL = "left(lower(replace(%(expressions)s #>> '{run,id}', '-', '')), 32)"
NAMED_RUN = models.Func("envelope", template=NAMED_RUN_SQL, output_field=models.TextField())


def _named_run(envelope: dict[str, Any]) -> str | None:
    return (envelope.get("run") or {}).get("id")


class Uploads(models.QuerySet["Upload"]):
    """Uploads, and how lists read them."""

    def without_envelopes(self) -> Uploads:
        """Each with `part_of`, the run that its envelope names, in place of the envelope."""
        return self.defer("envelope").annotate(part_of=KT("envelope__run__id"))


class Upload(models.Model):
    """One envelope: artefacts and metadata, kept and re-readable."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="uploads")
    token = models.ForeignKey(Token, null=True, on_delete=models.SET_NULL, related_name="+")
    author = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    run = models.OneToOneField(Run, null=True, on_delete=models.SET_NULL, related_name="upload")
    envelope = models.JSONField(default=dict, encoder=QuickEncoder, decoder=PieceDecoder)
    # Of the envelope as JSON; it counts for the quota.
    envelope_bytes = models.PositiveIntegerField(default=0, db_default=0)
    tool_hint = models.CharField(max_length=40, default="")
    # SHA-256 over the envelope and the artefacts: same id + same bytes is the same upload.
    content_sha256 = models.CharField(max_length=64)
    state = models.CharField(max_length=12, choices=State.choices, default=State.RECEIVED)
    reason = models.TextField(default="")
    received_at = models.DateTimeField(default=timezone.now)
    finished_at = models.DateTimeField(null=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    # Passing faults (the storage or the database was away, the worker died); they are no attempts.
    faults = models.PositiveIntegerField(default=0)
    # After a fault: not before this.
    retry_at = models.DateTimeField(null=True)
    # It took longer than QUICK_READ_S: the slow lane reads it (turns.py).
    is_slow = models.BooleanField(default=False, db_default=False)
    # One small text or a few, without a plan: read together with others (batches.py).
    is_small = models.BooleanField(default=False, db_default=False)
    # A person waits for it: read before others of its workspace (priority.py, turns.py).
    is_interactive = models.BooleanField(default=False, db_default=False)
    # Equal for uploads that were claimed together.
    lease_until = models.DateTimeField(null=True)
    # Raised at each claim: a worker whose lease ran out can no longer write (fencing).
    fence = models.PositiveIntegerField(default=0)
    parser_version = models.CharField(max_length=40, default="")
    # Its artefacts have no bytes since then, and how many days they were kept (retention.py).
    raw_removed_at = models.DateTimeField(null=True)
    raw_kept_days = models.PositiveIntegerField(null=True)
    # Its run is in the trash: then the upload and its artefacts are shown nowhere.
    is_in_trash = models.BooleanField(default=False, db_default=False)

    objects = Uploads.as_manager()

    class Meta:
        ordering = ["-received_at"]
        indexes = [
            models.Index(fields=["workspace", "-received_at"], name="upload_by_workspace"),
            # The head of each workspace's queue, in both lanes, is one step into this index.
            models.Index(
                fields=["is_slow", "workspace", "retry_at", "received_at"],
                name="upload_waiting",
                condition=models.Q(state="received"),
            ),
            models.Index(
                fields=["is_slow", "workspace", "received_at"],
                name="upload_interactive",
                condition=models.Q(state="received", is_interactive=True),
            ),
            models.Index(
                fields=["workspace", "lease_until"],
                name="upload_reading",
                condition=models.Q(state="parsing"),
            ),
            # Those that a list shows by their state (listed_uploads.py); most were read whole.
            models.Index(
                fields=["workspace", "-received_at"],
                name="upload_in_trouble",
                condition=models.Q(state__in=["failed", "quarantined"]) | models.Q(reason__gt=""),
            ),
            # Early trials of a run come in uploads of their own.
            models.Index(NAMED_RUN, name="upload_by_named_run"),
        ]

    def __str__(self) -> str:
        return f"{self.id} ({self.state})"

    @property
    def is_ended(self) -> bool:
        return self.state in END_STATES

    @property
    def is_partial(self) -> bool:
        """Whether it was read, but some results not, or not whole: its reason names them."""
        return self.state == State.PARSED and bool(self.reason)

    @property
    def reason_lines(self) -> list[str]:
        """The reason as its lines: what happened, then each refusal."""
        return self.reason.splitlines()

    @property
    def removal_note(self) -> str:
        """When the raw output was removed and why, as a sentence; empty while it is kept."""
        if self.raw_removed_at is None:
            return ""
        days = f"{self.raw_kept_days} day{'' if self.raw_kept_days == 1 else 's'}"
        return (
            f"Raw output removed on {self.raw_removed_at:%Y-%m-%d}, kept {days} by this "
            "workspace's setting."
        )

    @property
    def result_run_id(self) -> uuid.UUID | None:
        """The run of the upload, after it was read."""
        if self.run_id is not None or self.state != State.PARSED:
            return self.run_id
        # Lists leave the envelope out, which may have 4 MB, and annotate what it names.
        run_id = self.part_of if hasattr(self, "part_of") else _named_run(self.envelope)
        return uuid.UUID(run_id) if run_id else None


class Artefact(models.Model):
    """One raw file of an upload, stored by its content's hash."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    upload = models.ForeignKey(Upload, on_delete=models.CASCADE, related_name="artefacts")
    trials = models.ManyToManyField(Trial, related_name="artefacts")
    position = models.PositiveIntegerField()
    name = models.CharField(max_length=255)
    sha256 = models.CharField(max_length=64, db_index=True)
    size_bytes = models.BigIntegerField()

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["upload", "name"], name="artefact_name_per_upload")
        ]

    def __str__(self) -> str:
        return self.name


class Rereading(models.Model):
    """One reading of an upload again, with another parser: what it changed, or why it did not."""

    upload = models.ForeignKey("Upload", on_delete=models.CASCADE, related_name="rereadings")
    read_at = models.DateTimeField(default=timezone.now)
    from_version = models.CharField(max_length=40)
    to_version = models.CharField(max_length=40)
    # [{"ordinal", "figure", "before", "after"}, …]
    changes = models.JSONField(default=list)
    # The new parser's words where it reads nothing: then the old reading stays.
    refused = models.TextField(default="")
    # How the parser ended before it answered (memory, CPU time, a crash, a kill); the old reading
    # stays, and nothing is known of what the parser would have read.
    stopped = models.TextField(default="", db_default="")

    class Meta:
        ordering = ["-read_at"]

    def __str__(self) -> str:
        return f"{self.upload_id} read by {self.to_version}"

    @property
    def outcome(self) -> str:
        """In one word: refused, stopped, changed or unchanged."""
        if self.refused:
            return "refused"
        if self.stopped:
            return "stopped"
        return "changed" if self.changes else "unchanged"


class StoredBytes(models.Model):
    """A share of what a workspace stores and of its uploads today; the shares make up the sums
    (quota).
    """

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="+")
    share = models.PositiveSmallIntegerField()
    # Below 0 where more was deleted from this row than added to it.
    size_bytes = models.BigIntegerField()
    # Received on `day` (UTC), the last day on which this row was written.
    uploads = models.PositiveIntegerField(default=0, db_default=0)
    day = models.DateField(null=True)

    class Meta:
        ordering = ["share"]
        constraints = [
            models.UniqueConstraint(fields=["workspace", "share"], name="stored_bytes_per_share")
        ]

    def __str__(self) -> str:
        return f"{self.size_bytes} bytes of {self.workspace_id}"


class Part(models.Model):
    """A numbered part of an artefact whose upload is still on its way."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="+")
    # Of the upload that will be: its row is written once everything is there.
    upload_id = models.UUIDField()
    artefact_sha256 = models.CharField(max_length=64)
    number = models.PositiveIntegerField()
    # Of the part; empty until its bytes are durable. Its size is known before.
    sha256 = models.CharField(max_length=64, default="")
    size_bytes = models.BigIntegerField(default=0)
    begun_at = models.DateTimeField(default=timezone.now, db_index=True)

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "upload_id", "artefact_sha256", "number"],
                condition=~models.Q(sha256=""),
                name="part_once",
            )
        ]
        indexes = [models.Index(fields=["workspace", "upload_id"], name="part_of_upload")]

    def __str__(self) -> str:
        return f"part {self.number} of {self.artefact_sha256[:12]}"
