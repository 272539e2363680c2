"""Renaming servers, hosts and workloads, and dismissing findings of a run."""

from typing import Any
from uuid import UUID

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.views import APIView

from backend.accounts.workspace import access
from backend.analysis.loading.large_runs import hold_slot_if_workspace_large
from backend.api.protocol.auth import author_of, required_actor, viewer_name
from backend.api.protocol.errors import or_not_found
from backend.api.protocol.schema import operation
from backend.api.protocol.strict import StrictSerializer, validated
from backend.api.protocol.workspaces import workspace_field, writable_workspace
from backend.api.runs.runs import writable_run
from backend.runs.amending.dismissals import MAX_REASON, dismiss, dismissals_of, undo
from backend.runs.amending.renaming import rename
from backend.runs.models import Dismissal, FormerName, Run
from backend.runs.tables.names import MAX_NAME


class RenameRequestSerializer(StrictSerializer):
    """Everything of the name `former` gets the name `current`."""

    workspace = workspace_field()
    kind = serializers.ChoiceField(FormerName.Kind.choices)
    former = serializers.CharField(max_length=MAX_NAME)
    current = serializers.CharField(max_length=MAX_NAME)


class RenameSerializer(serializers.Serializer[Any]):
    """A name, and the name that links with it lead to."""

    kind = serializers.ChoiceField(FormerName.Kind.choices)
    former = serializers.CharField()
    current = serializers.CharField(help_text="As it is stored")


class Renames(APIView):
    @operation("rename", body=RenameRequestSerializer, answer=RenameSerializer)
    def post(self, request: Request) -> dict[str, Any]:
        """Rename a server, host or workload. Links and uploads with the former name lead on."""
        actor = required_actor(request)
        asked = validated(RenameRequestSerializer, request)
        workspace = writable_workspace(actor, asked.get("workspace"))
        hold_slot_if_workspace_large(workspace.pk, viewer=viewer_name(request))
        kind = FormerName.Kind(asked["kind"])
        current = rename(workspace, kind, asked["former"], asked["current"], author_of(actor))
        return {"kind": kind, "former": asked["former"], "current": current}


class DismissalRequestSerializer(StrictSerializer):
    """A check that fired in the run, and why its findings are no caveat."""

    check = serializers.CharField(max_length=60, help_text="The id of the check")
    reason = serializers.CharField(max_length=MAX_REASON)


class DismissalSerializer(serializers.Serializer[Dismissal]):
    """Why the findings of a check are no caveat in a run."""

    check = serializers.CharField(source="check_id", help_text="The id of the check")
    reason = serializers.CharField()
    author = serializers.CharField(source="author.username", default=None, allow_null=True)
    dismissed_at = serializers.DateTimeField()


class DismissalListSerializer(serializers.Serializer[Any]):
    """Those that are not undone, by check."""

    dismissals = DismissalSerializer(many=True)


class DismissalList(APIView):
    hint_instead_of_key = (
        "Leave out Idempotency-Key. A dismissal that is sent again creates nothing, and the first "
        "reason stays."
    )

    @operation("dismissal_list", answer=DismissalListSerializer)
    def get(self, request: Request, run_id: UUID) -> dict[str, Any]:
        """The dismissals that stand, one for each check."""
        visible = access.workspace_ids_of(required_actor(request))
        or_not_found(Run.objects.filter(pk=run_id, workspace__in=visible).exists())
        by_check = dismissals_of([run_id]).get(run_id, {})
        return {"dismissals": [by_check[check] for check in sorted(by_check)]}

    @operation(
        "dismissal_create", body=DismissalRequestSerializer, answer=DismissalSerializer, status=201
    )
    def post(self, request: Request, run_id: UUID) -> Dismissal:
        """Dismiss the findings of a check in this run. They stay visible, with the reason.

        A check that is dismissed already keeps its first reason.
        """
        run = writable_run(request, run_id)
        asked = validated(DismissalRequestSerializer, request)
        author = author_of(required_actor(request))
        return dismiss(run, asked["check"], reason=asked["reason"], author=author)


class DismissalDetail(APIView):
    @operation("dismissal_undo")
    def delete(self, request: Request, run_id: UUID, check: str) -> None:
        """Undo it: the findings of the check count again."""
        run = writable_run(request, run_id)
        or_not_found(undo(run, check, by=author_of(required_actor(request))))
