"""Channels under /api/v1/channels, with the log of what was sent to each."""

from typing import Any
from uuid import UUID

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.views import APIView

from backend.accounts.models import Token, User
from backend.accounts.workspace.scopes import Scope
from backend.api.protocol.auth import author_of, required_actor
from backend.api.protocol.errors import or_not_found
from backend.api.protocol.idempotency import idempotent
from backend.api.protocol.paging import ONLY_WORKSPACE, list_operation, newest_first
from backend.api.protocol.schema import operation
from backend.api.protocol.strict import StrictSerializer, validated
from backend.api.protocol.workspaces import managed_row, managed_workspace, workspace_field
from backend.api.runs.runs import workspaces_asked
from backend.deliveries.channels import (
    MAX_ADDRESS,
    MAX_NAME,
    add_channel,
    channels_in,
    remove_channel,
    renew_secret,
    send_test,
)
from backend.deliveries.models import Channel, ChannelKind, Delivery, DeliveryState, Topic
from backend.deliveries.signing import secret_of
from backend.runs.database.cursors import Page


class NewChannelSerializer(StrictSerializer):
    """Where messages shall go."""

    kind = serializers.ChoiceField(ChannelKind.choices)
    name = serializers.CharField(max_length=MAX_NAME, help_text="Unique in the workspace")
    address = serializers.CharField(
        max_length=MAX_ADDRESS,
        help_text="mail: the email address of a member; webhook, slack: an https:// address",
    )
    topics = serializers.ListField(
        child=serializers.ChoiceField(Topic.choices),
        required=False,
        min_length=1,
        max_length=len(Topic),
        help_text="Default: alerts",
    )
    workspace = workspace_field()


class ChannelSerializer(serializers.ModelSerializer[Channel]):
    """A channel. Its signing secret is asked for by itself."""

    workspace = serializers.CharField(source="workspace.slug")
    author = serializers.CharField(source="author.username", default=None, allow_null=True)
    address = serializers.SerializerMethodField(
        help_text="For a web address, only its host; null for a token without the scope admin"
    )
    topics = serializers.ListField(child=serializers.ChoiceField(Topic.choices))

    class Meta:
        model = Channel
        fields = ["id", "workspace", "kind", "name", "address", "topics", "author", "created_at"]

    def get_address(self, channel: Channel) -> str | None:
        return channel.shown_address if self.context["shows_addresses"] else None


class ChannelListSerializer(serializers.Serializer[Any]):
    """By name."""

    channels = ChannelSerializer(many=True)


class AttemptSerializer(serializers.Serializer[Any]):
    """One attempt to send a message."""

    at = serializers.DateTimeField()
    status = serializers.IntegerField(
        allow_null=True,
        help_text="The HTTP status of the receiver's answer; null without an answer",
    )
    reason = serializers.CharField(allow_blank=True, help_text="Why it failed; empty if it did not")
    seconds = serializers.FloatField(
        allow_null=True, help_text="How long it took; null where it did not end"
    )


class DeliverySerializer(serializers.ModelSerializer[Delivery]):
    """One message to a channel."""

    state = serializers.ChoiceField(DeliveryState.choices)
    attempts = AttemptSerializer(many=True)
    retry_at = serializers.SerializerMethodField(help_text="When it is tried next")

    class Meta:
        model = Delivery
        fields = ["id", "event", "subject", "state", "attempts", "created_at", "ended_at"]
        fields += ["retry_at"]

    def get_retry_at(self, delivery: Delivery) -> str | None:
        is_waiting = delivery.state == DeliveryState.WAITING and bool(delivery.attempts)
        return delivery.retry_at.isoformat() if is_waiting else None


class ChannelList(APIView):
    @operation("channel_list", answer=ChannelListSerializer, parameters=[ONLY_WORKSPACE])
    def get(self, request: Request) -> tuple[dict[str, Any], dict[str, Any]]:
        """All of them, by name."""
        actor = required_actor(request)
        is_admin = isinstance(actor, Token) and Scope.ADMIN in actor.scopes
        if is_admin:
            workspace_ids = [managed_workspace(actor, request.query_params.get("workspace")).pk]
        else:
            workspace_ids = workspaces_asked(request)
        shows_addresses = is_admin or isinstance(actor, User)
        return {"channels": channels_in(workspace_ids)}, {"shows_addresses": shows_addresses}

    @idempotent
    @operation(
        "channel_create",
        (401, 404, 409),
        body=NewChannelSerializer,
        answer=ChannelSerializer,
        status=201,
    )
    def post(self, request: Request) -> tuple[Channel, dict[str, Any]]:
        """Add a channel; for admins. Nothing is sent before there is something to tell."""
        actor = required_actor(request)
        asked = validated(NewChannelSerializer, request)
        workspace = managed_workspace(actor, asked.pop("workspace", None))
        channel = add_channel(workspace, author=author_of(actor), **asked)
        return channel, {"shows_addresses": True}


class ChannelDetail(APIView):
    @operation("channel_delete")
    def delete(self, request: Request, channel_id: UUID) -> None:
        """Delete it with its log; messages that wait are not sent. For admins."""
        remove_channel(_administered(request, channel_id))


class ChannelTest(APIView):
    """Trying a channel."""

    @operation("channel_test", body=None, answer=DeliverySerializer, status=202)
    def post(self, request: Request, channel_id: UUID) -> Delivery:
        """Queue a test message; the log of the channel shows what became of it. For admins."""
        return send_test(_administered(request, channel_id))


class ChannelSecretSerializer(serializers.Serializer[Any]):
    """What the receiver of a webhook checks signatures with."""

    secret = serializers.CharField(help_text="Begins with whsec_; see docs/alerts.md")


class ChannelSecret(APIView):
    @operation("channel_secret_read", answer=ChannelSecretSerializer)
    def get(self, request: Request, channel_id: UUID) -> dict[str, str]:
        """The secret. For admins. 404 too for a channel that is no webhook: it signs nothing."""
        return {"secret": secret_of(_signing(request, channel_id))}

    @operation("channel_secret_renew", body=None, answer=ChannelSecretSerializer)
    def post(self, request: Request, channel_id: UUID) -> dict[str, str]:
        """Make another secret. The earlier one stops at once: enter the new one at the receiver.
        For admins."""
        channel = _signing(request, channel_id)
        renew_secret(channel)
        return {"secret": secret_of(channel)}


def _signing(request: Request, channel_id: UUID) -> Channel:
    """The webhook. Raises NotFound, also for channels of other kinds."""
    channel = _administered(request, channel_id)
    or_not_found(channel.kind == ChannelKind.WEBHOOK)
    return channel


class DeliveryList(APIView):
    @list_operation("delivery_list", "deliveries", DeliverySerializer)
    def get(self, request: Request, channel_id: UUID) -> Page[Delivery]:
        """Newest first, with each attempt; kept for 30 days. For admins."""
        channel = _administered(request, channel_id)
        return newest_first(request, Delivery.objects.filter(channel=channel), "created_at")


def _administered(request: Request, channel_id: UUID) -> Channel:
    return managed_row(request, Channel.objects.select_related("author"), channel_id)
