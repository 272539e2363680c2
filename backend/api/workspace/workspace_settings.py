"""The settings of a workspace: reading and changing them."""

from typing import Any

from django.db import transaction
from drf_spectacular.utils import OpenApiParameter, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.views import APIView

from backend.accounts.models import Token, User, Workspace
from backend.accounts.workspace import access
from backend.accounts.workspace.takedowns import takedown_of_workspace
from backend.accounts.workspace.workspace_links import is_unlisted
from backend.accounts.workspace.workspaces import (
    LARGEST_SHARE,
    MIN_TRIALS,
    change_settings,
    current_slug,
    rename,
)
from backend.analysis.query.factors import DEFAULT_MUST_MATCH, HOST_FACTORS, chosen_factors
from backend.api.protocol.auth import require_recent_sign_in, required_actor
from backend.api.protocol.errors import Problem
from backend.api.protocol.schema import operation
from backend.api.protocol.strict import StrictSerializer, validated
from backend.api.protocol.taken_down import HELP, TakenDownSerializer
from backend.api.protocol.workspaces import managed_workspace, owned_workspace
from backend.ingest.removing.retention import DAYS, count_due_output
from backend.sharing.readers import readers_of_runs
from backend.sharing.workspace_deletion import delete_workspace

_SHARE = "Differences below this share are called not relevant"
_TRIALS = "With fewer trials per load point, a comparison warns"
_MATCH = "Facts of the hosts that must match; null: the defaults"
_KEPT = "Days that raw output is kept after it came; null: for ever"


class WorkspaceSettingsSerializer(serializers.Serializer[Workspace]):
    """A workspace and its settings."""

    workspace = serializers.CharField(source="slug", help_text="Slug")
    name = serializers.CharField()
    is_public = serializers.BooleanField(help_text="Whether everyone may read its runs")
    relevant_share = serializers.FloatField(help_text=_SHARE)
    min_trials = serializers.IntegerField(help_text=_TRIALS)
    must_match = serializers.SerializerMethodField(help_text=_MATCH)
    raw_kept_days = serializers.IntegerField(allow_null=True, help_text=_KEPT)
    is_unlisted = serializers.SerializerMethodField(
        help_text="Whether everyone who has its link may read its runs"
    )

    readers = serializers.SerializerMethodField(help_text="Who may read its runs now, and why")

    taken_down = serializers.SerializerMethodField(help_text=HELP)

    @extend_schema_field(TakenDownSerializer(allow_null=True))
    def get_taken_down(self, workspace: Workspace) -> dict[str, Any] | None:
        takedown = takedown_of_workspace(workspace)
        return None if takedown is None else TakenDownSerializer(takedown).data

    def get_readers(self, workspace: Workspace) -> str:
        return readers_of_runs(workspace)

    def get_is_unlisted(self, workspace: Workspace) -> bool:
        return is_unlisted(workspace)

    def get_must_match(self, workspace: Workspace) -> list[str]:
        chosen = workspace.must_match
        return list(DEFAULT_MUST_MATCH if chosen is None else chosen)


class WorkspaceEditSerializer(StrictSerializer):
    """The settings to change; what is left out stays."""

    name = serializers.CharField(required=False, max_length=120)
    slug = serializers.CharField(
        required=False,
        max_length=60,
        help_text="The part of its address; links with the former one lead to the new one",
    )
    is_public = serializers.BooleanField(
        required=False, help_text="Whether everyone may read its runs; for owners"
    )
    relevant_share = serializers.FloatField(
        required=False, min_value=0, max_value=LARGEST_SHARE, help_text=_SHARE
    )
    min_trials = serializers.IntegerField(
        required=False,
        min_value=MIN_TRIALS.start,
        max_value=MIN_TRIALS.stop - 1,
        help_text=_TRIALS,
    )
    must_match = serializers.ListField(
        child=serializers.ChoiceField(list(HOST_FACTORS)),
        required=False,
        allow_null=True,
        max_length=len(HOST_FACTORS),
        help_text=_MATCH,
    )
    raw_kept_days = serializers.IntegerField(
        required=False,
        allow_null=True,
        min_value=DAYS.start,
        max_value=DAYS.stop - 1,
        help_text=_KEPT,
    )
    is_confirmed = serializers.BooleanField(
        default=False, help_text="Needed if raw_kept_days removes raw output now"
    )


class WorkspaceDetail(APIView):
    @operation("workspace_read", answer=WorkspaceSettingsSerializer)
    def get(self, request: Request, slug: str) -> Workspace:
        """The settings. For members."""
        return _readable(required_actor(request), slug)

    @operation(
        "workspace_edit",
        (401, 404, 409),
        body=WorkspaceEditSerializer,
        answer=WorkspaceSettingsSerializer,
    )
    def patch(self, request: Request, slug: str) -> Workspace:
        """Change the name, the address and settings. For admins and owners; only an owner, and no
        token, makes a workspace public or private again.

        Where fewer days remove raw output now, the answer is 409 and says how much, and nothing is
        changed. Send it again with `is_confirmed: true`.
        """
        actor = required_actor(request)
        workspace = managed_workspace(actor, slug)
        fields = validated(WorkspaceEditSerializer, request)
        if "is_public" in fields and not access.may_own(actor, workspace.pk):
            raise _not_owner()
        if not fields.pop("is_confirmed"):
            _refuse_unconfirmed(workspace, fields.get("raw_kept_days"))
        if fields.get("must_match") is not None:
            fields["must_match"] = chosen_factors(fields["must_match"])
        owner = actor if "is_public" in fields and isinstance(actor, User) else None
        _change(workspace, fields, owner)
        return workspace

    @operation(
        "workspace_delete",
        (401, 403, 404),
        parameters=[
            OpenApiParameter(
                "confirm", str, required=True, description="The slug of the workspace, to confirm"
            )
        ],
    )
    def delete(self, request: Request, slug: str) -> None:
        """Delete the workspace for good, with everything in it. For owners."""
        workspace = owned_workspace(required_actor(request), slug)
        given = request.query_params.get("confirm", "")
        if given != workspace.slug:
            raise Problem(
                400,
                "Not confirmed",
                f"confirm: got {given[:60]!r}, expected {workspace.slug!r}. Nothing was deleted.",
                hint="To delete the workspace for good, end the address with "
                f"?confirm={workspace.slug}.",
                field="confirm",
            )
        require_recent_sign_in(request)
        delete_workspace(workspace)


@transaction.atomic
def _change(workspace: Workspace, fields: dict[str, Any], owner: User | None) -> None:
    """Store the fields of a valid form, all or none. Raises WorkspaceRefused."""
    name, slug = fields.pop("name", workspace.name), fields.pop("slug", workspace.slug)
    # First, because what opens a workspace takes seconds before it locks the row.
    if fields:
        change_settings(workspace, fields, owner=owner)
    if (name, slug) != (workspace.name, workspace.slug):
        rename(workspace, name=name, slug=slug)
    workspace.refresh_from_db()


def _not_owner() -> Problem:
    return Problem(
        403,
        "Not allowed",
        "is_public: only an owner of the workspace may change it, not a token. Nothing was "
        "changed.",
        hint="Sign in as an owner of the workspace, or leave out is_public.",
        field="is_public",
    )


def _readable(actor: Token | User, slug: str) -> Workspace:
    """Raises NotFound. A token that administers without reading runs may read the settings."""
    own = access.workspaces_of(actor).filter(slug=current_slug(slug)).first()
    return own or managed_workspace(actor, slug)


def _refuse_unconfirmed(workspace: Workspace, days: int | None) -> None:
    """Raise Problem 409 where so many days remove raw output now."""
    due = count_due_output(workspace, days) if days is not None else None
    if due is None or not due.files:
        return
    raise Problem(
        409,
        "Raw output would go",
        f"{due.files} files of {due.uploads} uploads ({due.size_bytes:,} bytes) came more than "
        f"{days} days ago; they would be removed for good. Nothing was changed.",
        hint="To remove them, send the request again with is_confirmed: true.",
        field="raw_kept_days",
        **_members(due),
    )


def _members(due: Any) -> dict[str, Any]:
    return {"uploads": due.uploads, "files": due.files, "size_bytes": due.size_bytes}
