"""Who may read one run: /api/v1/runs/<id>/sharing, and the run behind its link."""

from uuid import UUID

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from backend.accounts.workspace import access
from backend.analysis.loading.large_runs import hold_slot_if_long
from backend.analysis.pages.run_trials import give_details
from backend.api.protocol.auth import required_actor, viewer_name
from backend.api.protocol.errors import or_not_found
from backend.api.protocol.parameters import FIELDS, only_asked
from backend.api.protocol.schema import operation
from backend.api.protocol.strict import StrictSerializer, validated
from backend.api.protocol.taken_down import HELP, TakenDownSerializer
from backend.api.runs.run_json import SharedRunSerializer
from backend.api.runs.runs import writable_run
from backend.links import absolute
from backend.runs.models import Run
from backend.sharing.models import Visibility
from backend.sharing.run_sharing import (
    Sharing,
    describe_sharing,
    find_shared_run,
    revoke_link,
    share_run,
)
from backend.sharing.shared_run import describe_shared_run


class SharingSerializer(serializers.Serializer[Sharing]):
    """Who may read a run, and why."""

    visibility = serializers.ChoiceField(
        Visibility.choices, help_text="Of the run itself; private: as its workspace"
    )
    effective_visibility = serializers.ChoiceField(
        Visibility.choices,
        help_text="The more open of run and workspace, without what was taken down",
    )
    why = serializers.CharField(help_text="Who may read it, and why")
    taken_down = TakenDownSerializer(source="takedown", allow_null=True, help_text=HELP)
    url = serializers.SerializerMethodField(
        help_text="Its page for readers outside the workspace; null for a private run"
    )

    def get_url(self, sharing: Sharing) -> str | None:
        return None if sharing.path is None else absolute(sharing.path)


class SharingEditSerializer(StrictSerializer):
    """Who may read the run from now on."""

    visibility = serializers.ChoiceField(Visibility.choices)


class RunSharing(APIView):
    @operation("run_sharing_read", answer=SharingSerializer)
    def get(self, request: Request, run_id: UUID) -> Sharing:
        """Its visibility, that of its workspace counted in, why, and its link."""
        own = access.workspaces_of(required_actor(request))
        rows = Run.objects.select_related("workspace")
        return describe_sharing(or_not_found(rows.filter(pk=run_id, workspace__in=own).first()))

    @operation("run_sharing_edit", body=SharingEditSerializer, answer=SharingSerializer)
    def patch(self, request: Request, run_id: UUID) -> Sharing:
        """Make the run unlisted or public, or private again, which ends its link for good.

        A run whose texts hold a secret is not shared: 400 names the field.
        """
        run = writable_run(request, run_id)
        asked = validated(SharingEditSerializer, request)
        share_run(run, Visibility(asked["visibility"]))
        return describe_sharing(run)


class RunSharingRevoke(APIView):
    @operation("run_sharing_revoke", (401, 404, 409), body=None, answer=SharingSerializer)
    def post(self, request: Request, run_id: UUID) -> Sharing:
        """Give the run a new link; the former one leads nowhere from now on."""
        run = writable_run(request, run_id)
        revoke_link(run)
        return describe_sharing(run)


class SharedRunDetail(APIView):
    """A run behind its link."""

    @operation("shared_run_read", (401, 404, 413), answer=SharedRunSerializer, parameters=[FIELDS])
    def get(self, request: Request, shared_link: UUID) -> Response:
        """The run without raw output, members and other runs, for everyone who has the link."""
        shared = or_not_found(find_shared_run(shared_link))
        hold_slot_if_long([shared.run_id], viewer=viewer_name(request))
        view = describe_shared_run(shared)
        give_details(view["trials"])
        response = Response(only_asked(request, [view])[0])
        if shared.visibility == Visibility.UNLISTED:
            response["X-Robots-Tag"] = "noindex"
        return response
