"""What is shared and kept: result sets with their images, runs shared by a link, saved views."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from datetime import datetime
from typing import Any

import orjson
from django.db import models
from django.db.models import Q
from django.utils import timezone

from backend.accounts.models import User, Workspace
from backend.accounts.takedown_models import Takedown, Thing
from backend.links import comparison_link, result_set_link, shared_run_link
from backend.runs.models import Run
from backend.sharing.moved_ids import moved_document


class Visibility(models.TextChoices):
    PRIVATE = "private"
    UNLISTED = "unlisted"
    PUBLIC = "public"


# From the most closed to the most open.
OPENNESS = list(Visibility)


class Kind(models.TextChoices):
    FROZEN = "frozen"  # a snapshot with its hash
    LIVE = "live"  # a saved query, evaluated at each reading


class State(models.TextChoices):
    CURRENT = "current"
    SUPERSEDED = "superseded"  # still readable; a newer one is named
    EXPIRED = "expired"  # not readable until a new time is set
    WITHDRAWN = "withdrawn"  # not readable any more, with a reason


GONE = (State.EXPIRED, State.WITHDRAWN)


class ResultSets(models.QuerySet["ResultSet"]):
    def readable(self, workspace_ids: Iterable[uuid.UUID]) -> ResultSets:
        """Shared result sets, and all of these workspaces; one that was frozen while its workspace
        was deleted is not."""
        is_open = Q(visibility__in=[Visibility.UNLISTED, Visibility.PUBLIC])
        shared = is_open & Q(workspace__deleted_at=None)
        return self.filter(shared | Q(workspace_id__in=list(workspace_ids)))

    def public(self) -> ResultSets:
        """Those that everybody finds and reads: neither expired nor withdrawn."""
        is_unexpired = Q(expires_at=None) | Q(expires_at__gt=timezone.now())
        rows = self.standing().filter(is_unexpired, workspace__deleted_at=None)
        return rows.filter(visibility=Visibility.PUBLIC, withdrawn_at=None)

    def standing(self) -> ResultSets:
        """Those that the staff did not take down."""
        taken = Takedown.objects.active()
        rows = self.exclude(pk__in=taken.of_kind(Thing.RESULT_SET))
        return rows.exclude(workspace__in=taken.of_kind(Thing.WORKSPACE))


class ResultSet(models.Model):
    """A chosen view under a link: *frozen*, bytes that never change, or *live*, a saved query."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    # The id in its URLs. It is random, so nobody can guess it; revoking sets a new one. It starts
    # as the id, which is part of the snapshot.
    link = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="result_sets")
    author = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    kind = models.CharField(max_length=10, choices=Kind.choices, default=Kind.FROZEN)
    title = models.CharField(max_length=300)
    # Markdown, beside the snapshot and not in it: notes may be corrected, figures may not.
    notes = models.TextField(default="", blank=True)
    # The query as it was asked. The snapshot of a frozen set also names its runs.
    query = models.TextField(default="")
    visibility = models.CharField(
        max_length=10, choices=Visibility.choices, default=Visibility.PRIVATE
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    # The very bytes of /s/<id>.json: kept as bytes so that no JSON library can reorder them.
    snapshot = models.BinaryField(null=True, editable=False)
    sha256 = models.CharField(max_length=64, default="", editable=False)

    # Where it was imported from an archive: the namespaces of its ids (moved_ids.py), in turn. The
    # snapshot keeps its bytes, and so the ids of the workspace it was frozen in.
    moved_through = models.JSONField(default=list, editable=False)

    superseded_by = models.ForeignKey(
        "self", null=True, on_delete=models.SET_NULL, related_name="supersedes"
    )
    expires_at = models.DateTimeField(null=True, blank=True)
    withdrawn_at = models.DateTimeField(null=True, editable=False)
    withdrawn_reason = models.TextField(default="", editable=False)
    # Since when it is meant for the front page of the service; null: it is not.
    featured_at = models.DateTimeField(null=True, editable=False)

    objects = ResultSets.as_manager()

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [
            models.CheckConstraint(
                name="frozen_has_a_snapshot",
                condition=Q(kind=Kind.FROZEN, snapshot__isnull=False)
                | Q(kind=Kind.LIVE, snapshot__isnull=True),
            ),
            models.CheckConstraint(
                name="not_superseded_by_itself",
                condition=~Q(superseded_by=models.F("id")),
            ),
        ]

    def __str__(self) -> str:
        return self.title

    @property
    def is_frozen(self) -> bool:
        return self.kind == Kind.FROZEN

    @property
    def is_shared(self) -> bool:
        """Whether people outside the workspace may read it."""
        return self.visibility != Visibility.PRIVATE

    @property
    def is_open(self) -> bool:
        """Whether people outside the workspace may read it now: staff did not take it down."""
        return self.is_shared and ResultSet.objects.standing().filter(pk=self.pk).exists()

    @property
    def state(self) -> State:
        if self.withdrawn_at is not None:
            return State.WITHDRAWN
        if self.expires_at is not None and self.expires_at <= timezone.now():
            return State.EXPIRED
        return State.CURRENT if self.superseded_by_id is None else State.SUPERSEDED

    @property
    def is_gone(self) -> bool:
        return self.state in GONE

    @property
    def end(self) -> tuple[str, datetime]:
        """Why and since when it is not readable. Raises ValueError while it is readable."""
        if self.withdrawn_at is not None:
            return f"It was withdrawn: {self.withdrawn_reason}", self.withdrawn_at
        if self.expires_at is None or not self.is_gone:
            raise ValueError(f"result set {self.pk} is not gone")
        return "This link has expired.", self.expires_at

    @property
    def path(self) -> str:
        """The path of its page."""
        return result_set_link(self.link)

    def frozen_snapshot(self) -> dict[str, Any]:
        """The frozen document; its ids are those of this workspace. Raises ValueError for a live
        result set.
        """
        if self.snapshot is None:
            raise ValueError(f"result set {self.pk} is live")
        snapshot: dict[str, Any] = orjson.loads(bytes(self.snapshot))
        return moved_document(snapshot, self.moved_through) if self.moved_through else snapshot

    def may_name(self, other: ResultSet) -> bool:
        """Whether readers of this set may learn the link of `other`: it is at least as open, and
        was not taken down."""
        is_as_open = OPENNESS.index(Visibility(other.visibility)) >= OPENNESS.index(
            Visibility(self.visibility)
        )
        return is_as_open and ResultSet.objects.standing().filter(pk=other.pk).exists()


class CitedRun(models.Model):
    """A run that a frozen result set cites. Its raw output stays while the set is not withdrawn."""

    result_set = models.ForeignKey(
        ResultSet, on_delete=models.CASCADE, related_name="cited_runs", db_index=False
    )
    # No foreign key: a run can be deleted, and the snapshot still names it.
    run = models.UUIDField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["result_set", "run"], name="run_cited_once")]

    def __str__(self) -> str:
        return f"{self.run} in {self.result_set_id}"


class SharedRuns(models.QuerySet["SharedRun"]):
    def standing(self) -> SharedRuns:
        """Those that the staff did not take down."""
        taken = Takedown.objects.active()
        rows = self.exclude(pk__in=taken.of_kind(Thing.RUN))
        return rows.exclude(run__workspace__in=taken.of_kind(Thing.WORKSPACE))


class SharedRun(models.Model):
    """A run that people outside its workspace may read. A run without a row is private.

    Not columns of the run: reading its upload again writes that row again.
    """

    run = models.OneToOneField(Run, on_delete=models.CASCADE, primary_key=True, related_name="+")
    # The id in its address. It is random, and not the id of the run, which result sets tell.
    link = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    visibility = models.CharField(max_length=10, choices=Visibility.choices)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    objects = SharedRuns.as_manager()

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [
            models.CheckConstraint(
                name="shared_run_is_not_private", condition=~Q(visibility=Visibility.PRIVATE)
            )
        ]

    def __str__(self) -> str:
        return f"run {self.run_id}, {self.visibility}"

    @property
    def path(self) -> str:
        """The path of the page for its readers."""
        return shared_run_link(self.link)


class Drawing(models.Model):
    """The image of a result set, kept until what it shows changes."""

    result_set = models.OneToOneField(ResultSet, on_delete=models.CASCADE, related_name="drawing")
    # SHA-256 of the drawn content and of the program.
    key = models.CharField(max_length=64)
    png = models.BinaryField()
    drawn_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"image of {self.result_set_id}"


class SavedView(models.Model):
    """A comparison under a name, for the members of its workspace: the query, never figures."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="saved_views")
    author = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    name = models.CharField(max_length=120)
    # Canonical, without the workspace: its page names that.
    query = models.TextField(default="", blank=True)
    # The view that Compare in the menu opens.
    is_default = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["name", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["workspace", "name"], name="one_view_of_each_name"),
            models.UniqueConstraint(
                fields=["workspace"], condition=Q(is_default=True), name="one_default_view"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def path(self) -> str:
        """The path of the comparison that it names."""
        return comparison_link(self.workspace.slug, self.query)
