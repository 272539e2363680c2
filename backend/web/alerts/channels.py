"""Channels that messages go to, the log of what was sent, and tokens for feed readers."""

from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from backend.accounts.models import Workspace
from backend.accounts.sign_in import recent_sign_in
from backend.deliveries.channels import (
    BadChannel,
    ChannelRefused,
    add_channel,
    channels_in,
    remove_channel,
    renew_secret,
    send_test,
)
from backend.deliveries.models import Channel, ChannelKind, Delivery, Topic
from backend.deliveries.signing import secret_of
from backend.feeds.tokens import make_token, revoke_token, tokens_of
from backend.links import absolute, link_to
from backend.web.base import visible

MOST_DELIVERIES = 100
KINDS = {
    ChannelKind.MAIL: ("Email", "To the address of a member."),
    ChannelKind.WEBHOOK: ("Webhook", "Signed JSON, to your own program."),
    ChannelKind.SLACK: (
        "Slack",
        "To an incoming webhook of Slack, Mattermost or a similar service.",
    ),
}
TOPICS = {Topic.ALERTS: "Alerts", Topic.RUNS: "Every new run"}


@require_http_methods(["GET", "HEAD", "POST"])
def channels(request: HttpRequest, slug: str) -> HttpResponse:
    """The channels. A POST by an admin adds one: kind, name, address, topics."""
    if request.method != "POST":
        return _page(request, visible.own_workspace_or_404(request, slug))
    workspace = visible.administered_workspace_or_404(request, slug)
    form = request.POST
    try:
        channel = add_channel(
            workspace,
            author=visible.viewer(request),
            kind=form.get("kind", ""),
            name=form.get("name", ""),
            address=form.get("address", ""),
            topics=form.getlist("topics"),
        )
    except (BadChannel, ChannelRefused) as refused:
        return _page(request, workspace, refused=refused, sent=form)
    messages.info(request, f"Added the channel “{channel.name}”. Send a test to try it.")
    return HttpResponseRedirect(link_to("channel-page", workspace.slug, channel.pk))


@require_safe
def channel(request: HttpRequest, slug: str, channel_id: UUID) -> HttpResponse:
    """One channel with its signing secret, for admins, and the log of its deliveries."""
    row = _channel_or_404(request, slug, channel_id)
    deliveries = Delivery.objects.filter(channel=row)[:MOST_DELIVERIES]
    context = {
        "workspace": row.workspace,
        "nav": "alerts",
        "channel": row,
        "kind": KINDS[ChannelKind(row.kind)][0],
        "topics": [TOPICS[Topic(topic)] for topic in row.topics],
        "secret": secret_of(row) if row.kind == ChannelKind.WEBHOOK else "",
        "deliveries": deliveries,
    }
    return render(request, "channel.html", context)


@require_POST
def test_channel(request: HttpRequest, slug: str, channel_id: UUID) -> HttpResponse:
    """Queue a test message."""
    row = _channel_or_404(request, slug, channel_id)
    send_test(row)
    messages.info(request, "The test message is on its way. Reload this page to see the outcome.")
    return HttpResponseRedirect(link_to("channel-page", slug, row.pk))


@require_POST
def renew_channel_secret(request: HttpRequest, slug: str, channel_id: UUID) -> HttpResponse:
    """Make another signing secret."""
    row = _channel_or_404(request, slug, channel_id)
    renew_secret(row)
    messages.info(request, "The channel has a new secret. Enter it at the receiver now.")
    return HttpResponseRedirect(link_to("channel-page", slug, row.pk))


@require_POST
def delete_channel(request: HttpRequest, slug: str, channel_id: UUID) -> HttpResponse:
    """Delete a channel with its log; messages that wait are not sent."""
    row = _channel_or_404(request, slug, channel_id)
    remove_channel(row)
    messages.info(request, f"Deleted the channel “{row.name}”.")
    return HttpResponseRedirect(link_to("channels-page", slug))


@require_POST
def new_feed_token(request: HttpRequest, slug: str) -> HttpResponse:
    """Make a token for a feed reader; it is shown once. Field: name."""
    workspace = visible.own_workspace_or_404(request, slug)
    recent_sign_in.require(request)
    viewer = visible.viewer_or_404(request)
    _, clear = make_token(workspace, viewer, request.POST.get("name", ""))
    return _page(request, workspace, new_token=clear)


@require_POST
def revoke_feed_token(request: HttpRequest, slug: str, token_id: UUID) -> HttpResponse:
    """End a token of the viewer at once."""
    workspace = visible.own_workspace_or_404(request, slug)
    viewer = visible.viewer_or_404(request)
    visible.or_404(revoke_token(workspace, viewer, token_id))
    messages.info(request, "The feed token was revoked. Its feeds no longer open.")
    return HttpResponseRedirect(link_to("channels-page", workspace.slug))


def _channel_or_404(request: HttpRequest, slug: str, channel_id: UUID) -> Channel:
    workspace = visible.administered_workspace_or_404(request, slug)
    return get_object_or_404(channels_in([workspace.pk]), pk=channel_id)


def _page(
    request: HttpRequest,
    workspace: Workspace,
    *,
    refused: BadChannel | ChannelRefused | None = None,
    sent: Any = None,
    new_token: str = "",
) -> HttpResponse:
    viewer = visible.viewer_or_404(request)
    context = {
        "workspace": workspace,
        "nav": "alerts",
        "rows": [_row(row) for row in channels_in([workspace.pk])],
        "may_administer": visible.may_administer(request, workspace),
        "kinds": [(kind.value, *texts) for kind, texts in KINDS.items()],
        "topics": [(topic.value, text) for topic, text in TOPICS.items()],
        "members_email": viewer.email,
        "is_off": settings.WEBHOOKS == "off",
        "sends_mail": settings.SENDS_MAIL,
        "refused": refused,
        "sent": sent or {},
        "feed_tokens": tokens_of(workspace, viewer),
        "new_feeds": _feed_urls(workspace, new_token) if new_token else [],
    }
    return render(request, "channels.html", context, status=400 if refused else 200)


def _row(row: Channel) -> dict[str, Any]:
    return {
        "channel": row,
        "kind": KINDS[ChannelKind(row.kind)][0],
        "topics": ", ".join(TOPICS[Topic(topic)] for topic in row.topics),
        "last": row.deliveries.first(),
    }


def _feed_urls(workspace: Workspace, token: str) -> list[tuple[str, str]]:
    """The feeds that a token opens, by what they follow."""
    return [
        (label, absolute(link_to(route, workspace.slug, query={"token": token})))
        for label, route in (("Alerts", "alerts-feed"), ("Runs and result sets", "workspace-feed"))
    ]
