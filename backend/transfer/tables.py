"""What an archive holds: the tables of a workspace; rows refer to those of earlier tables.

A test asks that every model of a workspace is in TABLES or in LEFT_OUT.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from uuid import UUID

from django.db.models import AutoField, Field, ForeignKey, Model, QuerySet

from backend.accounts.models import User, Workspace
from backend.alerts.models import Alert, AlertChange, AlertRule
from backend.ingest.models import END_STATES, Artefact, Rereading, SmallContent, Upload
from backend.noise.models import HostNoise, SelfComparison
from backend.runs.models import (
    Cell,
    Correction,
    Dismissal,
    FormerName,
    Host,
    Merge,
    Observation,
    Run,
    Series,
    Server,
    Trial,
    TrialTimeline,
    Workload,
)
from backend.sharing.models import CitedRun, ResultSet, SavedView, SharedRun

# The version of the archive's layout: raised when older code cannot read it.
VERSION = 1


@dataclass(frozen=True)
class Table:
    """The rows of one model. `path`: from the model to its workspace, as filters spell it."""

    name: str
    model: type[Model]
    path: str
    conditions: Mapping[str, Any] = field(default_factory=dict)
    # Columns that mean nothing elsewhere: they get their defaults.
    without: frozenset[str] = frozenset()

    def rows(self, workspace_id: UUID) -> QuerySet[Any]:
        """The rows of a workspace, in the order in which they were made where keys tell it."""
        # The base manager: the trash is part of the workspace.
        rows = self.model._base_manager.filter(**self.conditions)
        return rows.filter(**{self.path: workspace_id}).order_by("pk")

    @cached_property
    def fields(self) -> tuple[Field[Any, Any], ...]:
        """The columns of a row in the archive."""
        return tuple(each for each in self.model._meta.concrete_fields if self._is_kept(each))

    def _is_kept(self, each: Field[Any, Any]) -> bool:
        is_workspace = isinstance(each, ForeignKey) and each.related_model is Workspace
        return not (is_workspace or isinstance(each, AutoField) or each.name in self.without)


_OF_CLAIMS = frozenset(("token", "faults", "retry_at", "lease_until", "fence", "is_interactive"))
_ENDED = {"state__in": END_STATES}
_OF_ENDED = {"upload__state__in": END_STATES}

TABLES = (
    Table("server", Server, "workspace"),
    Table("host", Host, "workspace"),
    Table("workload", Workload, "workspace"),
    Table("former_name", FormerName, "workspace"),
    Table("merge", Merge, "workspace"),
    Table("series", Series, "workspace"),
    # The database counts for itself what a run has.
    Table("run", Run, "workspace", {}, frozenset({"counted_trials", "best_rps"})),
    Table("cell", Cell, "workspace"),
    Table("trial", Trial, "run__workspace"),
    Table("timeline", TrialTimeline, "trial__run__workspace"),
    Table("observation", Observation, "workspace", {}, frozenset(("first_s", "last_s"))),
    Table("upload", Upload, "workspace", _ENDED, _OF_CLAIMS),
    Table("artefact", Artefact, "upload__workspace", _OF_ENDED),
    Table(
        "artefact_of_trial",
        Artefact.trials.through,
        "artefact__upload__workspace",
        {"artefact__upload__state__in": END_STATES},
    ),
    Table("rereading", Rereading, "upload__workspace", _OF_ENDED),
    Table("correction", Correction, "run__workspace"),
    Table("dismissal", Dismissal, "run__workspace"),
    Table("self_comparison", SelfComparison, "run__workspace"),
    Table("host_noise", HostNoise, "host__workspace"),
    Table("saved_view", SavedView, "workspace"),
    Table("result_set", ResultSet, "workspace", {}, frozenset({"featured_at"})),
    Table("cited_run", CitedRun, "result_set__workspace"),
    Table("shared_run", SharedRun, "run__workspace"),
    Table("alert_rule", AlertRule, "workspace"),
    Table("alert", Alert, "workspace"),
    Table("alert_change", AlertChange, "alert__workspace"),
)

# The bytes of small artefacts; larger ones are files of the archive.
CONTENTS = Table("small_content", SmallContent, "")
SETTINGS = ("name", "relevant_share", "min_trials", "must_match", "is_public", "raw_kept_days")

# By the label of the model: why an archive does not have its rows.
LEFT_OUT = {
    "accounts.membership": "members: they are people of this service",
    "accounts.invitation": "invitations: secrets, and addresses of people",
    "accounts.token": "tokens: secrets",
    "accounts.workspacelink": "links to the workspace: secrets",
    "accounts.formerslug": "former addresses: they lead to this workspace",
    "accounts.quota": "limits that the operator set here",
    "accounts.heldmessage": "mails that were not sent",
    "accounts.takedown": "what the operator of this service took down",
    "accounts.report": "reports of readers to the operator of this service",
    "accounts.staffaccess": "accesses of staff: part of the audit log",
    "ingest.turn": "the order in which waiting uploads are read",
    "ingest.part": "parts of uploads on their way",
    "ingest.storedbytes": "the sum of stored bytes: it is counted again",
    "sharing.drawing": "images: they are drawn again",
    "fleet.agent": "agents: each is a token on a host",
    "fleet.progress": "heartbeats of runs",
    "fleet.session": "sessions under way: what they measured is in the runs",
    "fleet.sessionmember": "sessions under way: what they measured is in the runs",
    "deliveries.channel": "channels: their addresses hold secrets",
    "deliveries.delivery": "messages that were sent",
    "feeds.feedtoken": "tokens of feeds: secrets",
    "alerts.pendingrun": "runs that alert rules have not judged yet",
    "api.creationkey": "answers kept for requests that are sent again",
    "transfer.export": "earlier archives",
}
# What else an archive does not have, for people.
ALSO_LEFT_OUT = (
    "the audit log: it names people and addresses",
    "uploads that were not read yet",
    "passwords and email addresses: only the user name says who did something",
)


def is_person(each: Field[Any, Any]) -> bool:
    """Whether the column refers to a user: an archive has the name."""
    return isinstance(each, ForeignKey) and each.related_model is User
