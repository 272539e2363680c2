"""Tokens for feed readers under /api/v1/feed-tokens. Each member has tokens of their own."""

from typing import Any
from uuid import UUID

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.views import APIView

from backend.accounts.models import Token, User
from backend.api.protocol.auth import author_of, require_recent_sign_in, required_actor
from backend.api.protocol.errors import or_not_found
from backend.api.protocol.paging import WORKSPACE, list_operation, newest_first
from backend.api.protocol.schema import operation
from backend.api.protocol.strict import StrictSerializer, validated
from backend.api.protocol.workspaces import member_workspace, workspace_field
from backend.errors import NotFound
from backend.feeds.models import FeedToken
from backend.feeds.tokens import MAX_NAME, make_token, revoke_token, tokens_of
from backend.links import absolute, link_to
from backend.runs.database.cursors import Page


class NewFeedTokenSerializer(StrictSerializer):
    """The feed token to make."""

    name = serializers.CharField(
        required=False,
        default="",
        allow_blank=True,
        max_length=MAX_NAME,
        help_text="Which feed reader it is for",
    )
    workspace = workspace_field()


class FeedTokenSerializer(serializers.ModelSerializer[FeedToken]):
    """A feed token, without its clear text."""

    workspace = serializers.CharField(source="workspace.slug")

    class Meta:
        model = FeedToken
        fields = ["id", "workspace", "name", "created_at", "used_at"]


class MadeFeedTokenSerializer(FeedTokenSerializer):
    """A new feed token. Its clear text, and the addresses with it, are in this answer only."""

    token = serializers.SerializerMethodField(help_text="The clear text")
    alerts_url = serializers.SerializerMethodField(help_text="The feed of alerts")
    workspace_url = serializers.SerializerMethodField(help_text="The feed of runs and result sets")

    class Meta(FeedTokenSerializer.Meta):
        fields = [*FeedTokenSerializer.Meta.fields, "token", "alerts_url", "workspace_url"]

    def get_token(self, token: FeedToken) -> str:
        return str(self.context["clear"])

    def get_alerts_url(self, token: FeedToken) -> str:
        return self._feed(token, "alerts-feed")

    def get_workspace_url(self, token: FeedToken) -> str:
        return self._feed(token, "workspace-feed")

    def _feed(self, token: FeedToken, route: str) -> str:
        query = {"token": self.context["clear"]}
        return absolute(link_to(route, token.workspace.slug, query=query))


class FeedTokenList(APIView):
    @list_operation("feed_token_list", "feed_tokens", FeedTokenSerializer, WORKSPACE)
    def get(self, request: Request) -> Page[FeedToken]:
        """Those of the sender, the newest first; for a token, those of its maker."""
        workspace = member_workspace(required_actor(request), request.query_params.get("workspace"))
        rows = tokens_of(workspace, _owner(request)).select_related("workspace")
        return newest_first(request, rows, "created_at")

    @operation(
        "feed_token_create",
        (401, 403, 404, 409),
        body=NewFeedTokenSerializer,
        answer=MadeFeedTokenSerializer,
        status=201,
    )
    def post(self, request: Request) -> tuple[FeedToken, dict[str, Any]]:
        """Make a token that opens the feeds of the workspace while its maker is a member. Made
        with an API token, it opens them only while that is valid, and from its networks. Otherwise
        it has no end: revoke it when it is not needed."""
        asked = validated(NewFeedTokenSerializer, request)
        actor = required_actor(request)
        workspace = member_workspace(actor, asked.get("workspace"))
        require_recent_sign_in(request)
        made_by = actor if isinstance(actor, Token) else None
        token, clear = make_token(workspace, _owner(request), asked["name"], made_by=made_by)
        return token, {"clear": clear}


class FeedTokenDetail(APIView):
    @operation("feed_token_revoke")
    def delete(self, request: Request, token_id: UUID) -> None:
        """Revoke it: the feeds no longer open with it. For its maker."""
        actor = required_actor(request)
        rows = FeedToken.objects.filter(pk=token_id).select_related("workspace")
        workspace = member_workspace(actor, or_not_found(rows.first()).workspace.slug)
        or_not_found(revoke_token(workspace, _owner(request), token_id))


def _owner(request: Request) -> User:
    """Whose feed tokens are asked for. Raises NotFound for a token without a maker."""
    user = author_of(required_actor(request))
    if user is None:
        raise NotFound("This token was made by the operator, and only members have feed tokens.")
    return user
