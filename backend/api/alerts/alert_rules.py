"""GET and POST /api/v1/alert-rules, PATCH and DELETE /api/v1/alert-rules/<id>."""

from typing import Any
from uuid import UUID

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.views import APIView

from backend.alerts.models import AlertRule, RuleKind
from backend.alerts.rules import (
    MAX_LABEL,
    METRICS,
    add_rule,
    change_rule,
    delete_rule,
    rules_in,
)
from backend.api.protocol.auth import author_of, required_actor
from backend.api.protocol.idempotency import idempotent
from backend.api.protocol.paging import ONLY_WORKSPACE
from backend.api.protocol.schema import operation
from backend.api.protocol.strict import StrictSerializer, validated
from backend.api.protocol.workspaces import workspace_field, writable_row, writable_workspace
from backend.api.runs.runs import workspaces_asked
from backend.deliveries.channels import MAX_NAME


class RuleEditSerializer(StrictSerializer):
    """What to change; what is left out stays."""

    name = serializers.CharField(required=False, max_length=MAX_NAME)
    view = serializers.UUIDField(
        required=False, help_text="The saved view whose runs are watched (regression, error_rate)"
    )
    # Popped by DRF's metaclass.
    label = serializers.CharField(  # type: ignore[assignment]
        required=False,
        allow_blank=True,
        max_length=MAX_LABEL,
        help_text="Only runs with this label, such as branch:main",
    )
    metrics = serializers.ListField(
        child=serializers.ChoiceField(METRICS),
        required=False,
        min_length=1,
        max_length=len(METRICS),
        help_text="For a regression: the metrics to watch",
    )
    threshold = serializers.FloatField(
        required=False,
        help_text="error_rate, noisy_host: a share (0.01 is 1 %); silent_agent: hours",
    )
    is_enabled = serializers.BooleanField(required=False)


class NewRuleSerializer(RuleEditSerializer):
    """What to watch."""

    kind = serializers.ChoiceField(RuleKind.choices)
    name = serializers.CharField(max_length=MAX_NAME, help_text="Unique in the workspace")
    workspace = workspace_field()


class RuleSerializer(serializers.ModelSerializer[AlertRule]):
    """A rule."""

    workspace = serializers.CharField(source="workspace.slug")
    author = serializers.CharField(source="author.username", default=None, allow_null=True)
    view = serializers.UUIDField(
        source="view_id",
        allow_null=True,
        help_text="Null if the rule uses no view, or the view was deleted",
    )
    metrics = serializers.ListField(child=serializers.CharField())
    threshold = serializers.FloatField(allow_null=True)
    problem = serializers.CharField(help_text="Why the last evaluation failed; empty if it did not")

    class Meta:
        model = AlertRule
        fields = ["id", "workspace", "name", "kind", "view", "label", "metrics", "threshold"]
        fields += ["is_enabled", "problem", "author", "created_at"]


class RuleListSerializer(serializers.Serializer[Any]):
    """By name."""

    rules = RuleSerializer(many=True)


class RuleList(APIView):
    @operation("alert_rule_list", answer=RuleListSerializer, parameters=[ONLY_WORKSPACE])
    def get(self, request: Request) -> dict[str, Any]:
        """All of them, by name."""
        return {"rules": rules_in(workspaces_asked(request))}

    @idempotent
    @operation(
        "alert_rule_create",
        (401, 404, 409),
        body=NewRuleSerializer,
        answer=RuleSerializer,
        status=201,
    )
    def post(self, request: Request) -> AlertRule:
        """Watch the runs of a saved view, the hosts or the agents."""
        actor = required_actor(request)
        asked = validated(NewRuleSerializer, request)
        workspace = writable_workspace(actor, asked.pop("workspace", None))
        return add_rule(workspace, author=author_of(actor), **asked)


class RuleDetail(APIView):
    @operation("alert_rule_edit", (401, 404, 409), body=RuleEditSerializer, answer=RuleSerializer)
    def patch(self, request: Request, rule_id: UUID) -> AlertRule:
        """Change it, or turn it on or off. Another view or label starts a new baseline."""
        rule = writable_row(request, AlertRule.objects.select_related("author"), rule_id)
        change_rule(rule, **validated(RuleEditSerializer, request))
        return rule

    @operation("alert_rule_delete")
    def delete(self, request: Request, rule_id: UUID) -> None:
        """Delete it with its alerts."""
        delete_rule(writable_row(request, AlertRule.objects.all(), rule_id))
