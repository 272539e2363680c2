"""GET /api/v1/alerts, GET and PATCH /api/v1/alerts/<id>."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.views import APIView

from backend.accounts.workspace import access
from backend.alerts.lifecycle import MAX_NOTE, answer_alert
from backend.alerts.listing import SHOWN, alert_page, find_alert
from backend.alerts.models import SAID_STATES, Alert, AlertState, RuleKind
from backend.alerts.wording import describe_alert
from backend.api.protocol.auth import author_of, required_actor
from backend.api.protocol.errors import or_not_found
from backend.api.protocol.paging import ONLY_WORKSPACE, after_asked, limit_asked, list_operation
from backend.api.protocol.parameters import not_allowed
from backend.api.protocol.schema import operation
from backend.api.protocol.strict import StrictSerializer, validated
from backend.api.runs.runs import workspaces_asked
from backend.runs.database.cursors import Page


class AlertRuleNameSerializer(serializers.Serializer[Any]):
    """The rule of an alert."""

    id = serializers.UUIDField()
    name = serializers.CharField()
    kind = serializers.ChoiceField(RuleKind.choices)


class AlertCommitsSerializer(serializers.Serializer[Any]):
    """From the runs' labels commit, sha or revision."""

    good = serializers.CharField(allow_null=True, help_text="The last one before the alert")
    bad = serializers.CharField(allow_null=True, help_text="The first one that shows it")


class AlertRunSerializer(serializers.Serializer[Any]):
    """A run at the edge of an alert."""

    id = serializers.UUIDField()
    url = serializers.CharField()
    at = serializers.DateTimeField()
    commit = serializers.CharField(allow_null=True)


class AlertRunsSerializer(serializers.Serializer[Any]):
    """The runs that it lies between."""

    before = AlertRunSerializer(allow_null=True)
    first = AlertRunSerializer(allow_null=True)
    last = AlertRunSerializer(allow_null=True)


class AlertSerializer(serializers.Serializer[Any]):
    """Something that a rule noticed."""

    id = serializers.UUIDField()
    workspace = serializers.CharField()
    rule = AlertRuleNameSerializer()
    state = serializers.ChoiceField(AlertState.choices)
    text = serializers.CharField(help_text="A sentence with the figures")
    range = serializers.CharField(
        allow_null=True, help_text="The commits or runs between which it began"
    )
    commits = AlertCommitsSerializer()
    runs = AlertRunsSerializer()
    figures = serializers.DictField(help_text="The figures behind the sentence; null is unknown")
    seen_at = serializers.DateTimeField(help_text="When it was first seen")
    confirmed_at = serializers.DateTimeField(
        allow_null=True, help_text="When a second run showed it too; until then, nobody is notified"
    )
    ended_at = serializers.DateTimeField(allow_null=True)
    url = serializers.CharField()
    chart_url = serializers.CharField(help_text="The trend, host or agents that show it")
    pair_url = serializers.CharField(allow_null=True, help_text="The two runs side by side")


class AlertChangeSerializer(serializers.Serializer[Any]):
    """A state that it got."""

    state = serializers.ChoiceField(AlertState.choices)
    by = serializers.CharField(allow_null=True, help_text="Null: Loadsheet itself")
    note = serializers.CharField(allow_blank=True)
    at = serializers.DateTimeField()


class AlertDetailSerializer(AlertSerializer):
    """An alert with all that was said of it."""

    changes = AlertChangeSerializer(many=True)


class AlertAnswerSerializer(StrictSerializer):
    """What a member says of an alert."""

    state = serializers.ChoiceField([state.value for state in SAID_STATES])
    note = serializers.CharField(required=False, allow_blank=True, default="", max_length=MAX_NOTE)


class AlertList(APIView):
    @list_operation(
        "alert_list",
        "alerts",
        AlertSerializer,
        ONLY_WORKSPACE,
        OpenApiParameter(
            "state", str, enum=SHOWN, default="all", description="open: all that have not ended"
        ),
    )
    def get(self, request: Request) -> Page[Any]:
        """Newest first."""
        limit = limit_asked(request)
        state = request.query_params.get("state") or "all"
        if state not in SHOWN:
            raise not_allowed("state", state, f"are {', '.join(SHOWN)}")
        workspaces = workspaces_asked(request)
        page = alert_page(workspaces, state, after=after_asked(request), limit=limit)
        return Page([describe_alert(alert) for alert in page.rows], page.next)


class AlertDetail(APIView):
    @operation("alert_read", answer=AlertDetailSerializer)
    def get(self, request: Request, alert_id: UUID) -> dict[str, Any]:
        """The alert with the states it had, by whom and when."""
        return _describe(_readable(request, alert_id))

    @operation(
        "alert_answer", (401, 404, 409), body=AlertAnswerSerializer, answer=AlertDetailSerializer
    )
    def patch(self, request: Request, alert_id: UUID) -> dict[str, Any]:
        """Acknowledge it, or say that it is fixed or not a regression."""
        actor = required_actor(request)
        alert = _readable(request, alert_id)
        or_not_found(access.may_write(actor, alert.workspace_id))
        asked = validated(AlertAnswerSerializer, request)
        answer_alert(alert, asked["state"], by=author_of(actor), note=asked["note"])
        return _describe(alert)


def _readable(request: Request, alert_id: UUID) -> Alert:
    visible = access.workspace_ids_of(required_actor(request))
    return or_not_found(find_alert(visible, alert_id))


def _describe(alert: Alert) -> dict[str, Any]:
    changes = [
        {
            "state": change.state,
            "by": change.by_name or None,
            "note": change.note,
            "at": change.at,
        }
        for change in alert.changes.all()
    ]
    return {**describe_alert(alert), "changes": changes}
