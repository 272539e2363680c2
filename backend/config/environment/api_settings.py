"""The settings of the API: nothing in them depends on the environment."""

from typing import Any

REST_FRAMEWORK: dict[str, Any] = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "backend.api.protocol.auth.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": [
        "backend.api.protocol.scopes.HasScope",
        "backend.api.protocol.parameters.RefuseRepeatedParameters",
        "backend.api.protocol.workspaces.RefuseOtherWorkspace",
        "backend.api.protocol.idempotency.RefuseUnusedKey",
        "backend.api.protocol.preconditions.RefuseUnusedCondition",
    ],
    "DEFAULT_RENDERER_CLASSES": ["backend.api.protocol.rendering.JsonRenderer"],
    "DEFAULT_PARSER_CLASSES": ["backend.api.protocol.parsing.JsonParser"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "DEFAULT_THROTTLE_CLASSES": ["backend.api.protocol.rates.RequestRate"],
    "EXCEPTION_HANDLER": "backend.api.protocol.errors.problem_handler",
    "UNAUTHENTICATED_USER": "django.contrib.auth.models.AnonymousUser",
}
SPECTACULAR_SETTINGS: dict[str, Any] = {
    "TITLE": "Loadsheet",
    "DESCRIPTION": "HTTP benchmark runs, compared honestly.",
    "VERSION": "1",
    "OAS_VERSION": "3.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "backend.api.protocol.schema.allow_empty_values",
        "backend.api.protocol.schema.name_scopes",
        "backend.api.protocol.conventions.describe_conventions",
        "backend.api.protocol.examples.add_examples",
    ],
    "ENUM_NAME_OVERRIDES": {
        "AlertState": "backend.alerts.models.AlertState",
        "AlertRuleKind": "backend.alerts.models.RuleKind",
        "AxisKind": ["number", "category"],
        "ChannelKind": "backend.deliveries.models.ChannelKind",
        "DeliveryState": "backend.deliveries.models.DeliveryState",
        "GateVerdict": ["improved", "not_comparable", "regressed", "too_noisy", "unchanged"],
        "KindOfName": [("server", "Server"), ("host", "Host"), ("workload", "Workload")],
        "OriginEnum": ["computed", "reported"],
        "ProgressStateEnum": ["running", "finished", "stopped", "interrupted", "silent"],
        "ResultSetKind": "backend.sharing.models.Kind",
        "ResultSetState": "backend.sharing.models.State",
        "Role": "backend.accounts.models.Role",
        "RunRowStateEnum": ["complete", "failed", "interrupted", "partial", "running"],
        "VerdictEnum": ["improved", "inconclusive", "regressed", "size_uncertain", "unchanged"],
        "VisibilityEnum": "backend.sharing.models.Visibility",
    },
}
