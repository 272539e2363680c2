"""Tokens of a workspace: listing, making and revoking them, and reports of published ones."""

from typing import Any
from uuid import UUID

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.views import APIView

from backend.accounts.limits import throttle
from backend.accounts.limits.limiters import LEAK_REPORTS
from backend.accounts.models import Token
from backend.accounts.sign_in.leaks import MOST_REPORTED, Leak, end_leaked
from backend.accounts.tokens.token_making import (
    LONGEST_DAYS,
    MAX_NAME,
    USUAL_DAYS,
    TokenRequest,
    make_token,
    scopes_to_give,
    tokens_of,
)
from backend.accounts.tokens.tokens import revoke
from backend.accounts.workspace import access
from backend.accounts.workspace.scopes import Scope
from backend.api.protocol.auth import require_recent_sign_in, required_actor
from backend.api.protocol.errors import or_not_found
from backend.api.protocol.paging import WORKSPACE, list_operation, newest_first
from backend.api.protocol.schema import operation
from backend.api.protocol.strict import OpenSerializer, StrictSerializer, validated
from backend.api.protocol.workspaces import member_workspace, workspace_field
from backend.feeds.tokens import end_leaked as end_leaked_feed_token
from backend.runs.database.cursors import Page


class NewTokenSerializer(StrictSerializer):
    """The token to make."""

    name = serializers.CharField(max_length=MAX_NAME, help_text="What it is for")
    scopes = serializers.ListField(
        child=serializers.ChoiceField(Scope.choices), help_text="What it may do"
    )
    days = serializers.IntegerField(
        min_value=1,
        max_value=LONGEST_DAYS,
        default=USUAL_DAYS,
        allow_null=True,
        help_text="After how many days it expires; null: never",
    )
    networks = serializers.ListField(
        child=serializers.CharField(max_length=60),
        default=list,
        help_text="Networks (CIDR) that it is accepted from; empty: from everywhere",
    )
    workspace = workspace_field()


class TokenSerializer(serializers.ModelSerializer[Token]):
    """A token, without its clear text."""

    workspace = serializers.CharField(source="workspace.slug")
    author = serializers.CharField(source="user.username", default=None, allow_null=True)
    scopes = serializers.ListField(child=serializers.CharField())
    networks = serializers.ListField(child=serializers.CharField())

    class Meta:
        model = Token
        fields = ["id", "workspace", "name", "scopes", "networks", "author", "created_at"]
        fields += ["expires_at", "used_at", "revoked_at", "leaked_at"]


class MadeTokenSerializer(TokenSerializer):
    """A new token. Its clear text is in this answer only."""

    token = serializers.SerializerMethodField(help_text="The clear text")

    class Meta(TokenSerializer.Meta):
        fields = [*TokenSerializer.Meta.fields, "token"]

    def get_token(self, token: Token) -> str:
        return str(self.context["clear"])


class TokenList(APIView):
    @list_operation("token_list", "tokens", TokenSerializer, WORKSPACE)
    def get(self, request: Request) -> Page[Token]:
        """The newest first, ended ones included. For members; for a token with the scope admin."""
        workspace = member_workspace(required_actor(request), request.query_params.get("workspace"))
        return newest_first(request, tokens_of(workspace).select_related("workspace"), "created_at")

    @operation(
        "token_create",
        (401, 403, 404, 409),
        body=NewTokenSerializer,
        answer=MadeTokenSerializer,
        status=201,
    )
    def post(self, request: Request) -> tuple[Token, dict[str, Any]]:
        """Make a token. Nobody gives a scope that they do not have; a token also passes on its end
        and its networks. The clear text is shown in this answer only. For members; for a token
        with the scope admin."""
        actor = required_actor(request)
        asked = validated(NewTokenSerializer, request)
        workspace = member_workspace(actor, asked.pop("workspace", None))
        or_not_found(scopes_to_give(actor, workspace))
        require_recent_sign_in(request)
        token, clear = make_token(actor, workspace, TokenRequest(**asked))
        return token, {"clear": clear}


class TokenDetail(APIView):
    @operation("token_revoke")
    def delete(self, request: Request, token_id: UUID) -> None:
        """Revoke it: the service no longer accepts it. For admins, owners and its maker."""
        actor = required_actor(request)
        rows = Token.objects.filter(pk=token_id, workspace__in=_workspaces(actor))
        token = or_not_found(rows.first())
        or_not_found(access.may_revoke(actor, token))
        revoke(token)


def _workspaces(actor: Any) -> list[UUID]:
    return [actor.workspace_id] if isinstance(actor, Token) else access.workspace_ids_of(actor)


class LeakSerializer(OpenSerializer):
    """A text that looks like a token, as secret scanners report it. Other fields are ignored."""

    token = serializers.CharField(max_length=200, trim_whitespace=False)
    url = serializers.CharField(
        max_length=2000, required=False, allow_blank=True, help_text="Where it was seen"
    )


class LeakedTokenList(APIView):
    """Reports of published tokens."""

    authentication_classes = []

    @operation("leaked_token_report", (415,), body=LeakSerializer(many=True))
    def post(self, request: Request) -> None:
        """Report up to 100 published tokens. Each that is one of this service is revoked, and its
        maker and owners are told. The answer is the same for every text. Anyone may report: whoever
        has a token could use it."""
        throttle.require(LEAK_REPORTS, throttle.network_of(request.META))
        bound: Any = {"many": True, "max_length": MOST_REPORTED}
        form = LeakSerializer(data=request.data, **bound)
        form.is_valid(raise_exception=True)
        for leak in form.validated_data:
            end_leaked(Leak(leak["token"], leak.get("url", "")))
            end_leaked_feed_token(leak["token"])
