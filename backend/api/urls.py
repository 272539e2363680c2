"""The addresses of the API."""

from django.urls import URLPattern, path
from rest_framework.views import APIView

from backend.api import docs
from backend.api.alerts import alert_rules, alerts, channels, feed_tokens
from backend.api.limits import limits
from backend.api.results import (
    compare,
    explore,
    facets,
    point_trials,
    result_sets,
    run_sharing,
    saved_views,
)
from backend.api.runs import amendments, catalogue, merges, runs, trash, trial_files, trials
from backend.api.uploads import (
    agent_list,
    agents,
    artefacts,
    gate,
    observations,
    parts,
    sessions,
    uploads,
)
from backend.api.workspace import (
    audit,
    exports,
    invitations,
    members,
    tokens,
    usage,
    workspace_list,
    workspace_settings,
)

# Answers below it are JSON, also where no route fits.
ROOT = "api/"
VERSION_ROOT = f"{ROOT}v1/"


def is_api_path(path: str) -> bool:
    """Whether a request's path is below the API."""
    return path.startswith(f"/{ROOT}")


def _at(address: str, view: type[APIView], name: str) -> URLPattern:
    return path(address, view.as_view(), name=name)


urlpatterns = [
    _at("sessions", sessions.Sessions, "session-meet"),
    _at("me", agents.Me, "me"),
    _at("heartbeat", agents.Heartbeat, "heartbeat"),
    _at("uploads", uploads.UploadList, "upload-list"),
    _at("uploads/preview", uploads.UploadPreview, "upload-preview"),
    _at("uploads/<uuid:upload_id>", uploads.UploadDetail, "upload"),
    _at("uploads/<uuid:upload_id>/parts", parts.PartList, "part-list"),
    _at("uploads/<uuid:upload_id>/parts/<str:artefact>/<int:number>", parts.PartDetail, "part"),
    _at("compare", compare.Compare, "compare"),
    _at("compare.csv", compare.CompareCsv, "compare-csv"),
    _at("compare/pair", compare.ComparePair, "compare-pair-api"),
    _at("gate", gate.GateCheck, "gate"),
    _at("facets", facets.Facets, "facets"),
    _at("runs", runs.RunList, "run-list"),
    _at("runs/<uuid:run_id>", runs.RunDetail, "run"),
    _at("runs/<uuid:run_id>/corrections/<uuid:correction_id>", runs.CorrectionDetail, "correction"),
    _at("runs/<uuid:run_id>/observations", observations.Observations, "observations"),
    _at("runs/<uuid:run_id>/progress", agents.RunProgress, "run-progress"),
    _at("runs/<uuid:run_id>/plan.toml", runs.RunPlan, "run-plan"),
    _at("runs/<uuid:run_id>/sharing", run_sharing.RunSharing, "run-sharing"),
    _at("runs/<uuid:run_id>/sharing/revoke", run_sharing.RunSharingRevoke, "run-sharing-revoke"),
    _at("shared-runs/<uuid:shared_link>", run_sharing.SharedRunDetail, "shared-run"),
    _at("trials", point_trials.PointTrials, "trial-list"),
    _at("trials.csv", trial_files.TrialsCsv, "trials-csv"),
    _at("trials.parquet", trial_files.TrialsParquet, "trials-parquet"),
    _at("trials/<uuid:trial_id>", trials.TrialDetail, "trial"),
    _at("trials/<uuid:trial_id>/timeline", trials.TrialTimelineDetail, "trial-timeline"),
    _at("servers", catalogue.ServerList, "server-list"),
    _at("hosts", catalogue.HostList, "host-list"),
    _at("workloads", catalogue.WorkloadList, "workload-list"),
    _at("runs/<uuid:run_id>/restore", trash.RunRestore, "restore-run-api"),
    _at("trash", trash.TrashList, "trash-list"),
    _at("runs/<uuid:run_id>/dismissals", amendments.DismissalList, "dismissal-list"),
    _at("runs/<uuid:run_id>/dismissals/<slug:check>", amendments.DismissalDetail, "dismissal"),
    _at("renames", amendments.Renames, "renames"),
    _at("merges", merges.MergeList, "merge-list"),
    _at("merges/<uuid:merge_id>", merges.MergeDetail, "merge"),
    _at("artefacts/<uuid:artefact_id>/raw", artefacts.ArtefactRaw, "artefact"),
    _at("result-sets", result_sets.ResultSetList, "result-set-list"),
    _at("result-sets/<uuid:link>", result_sets.ResultSetDetail, "result-set"),
    _at("result-sets/<uuid:link>/changes", result_sets.ResultSetChanges, "result-set-changes-api"),
    _at("result-sets/<uuid:link>/withdraw", result_sets.ResultSetWithdraw, "result-set-withdraw"),
    _at("result-sets/<uuid:link>/revoke", result_sets.ResultSetRevoke, "result-set-revoke"),
    _at("views", saved_views.ViewList, "view-list"),
    _at("views/<uuid:view_id>", saved_views.ViewDetail, "view"),
    _at("workspaces", workspace_list.WorkspaceList, "workspace-list"),
    _at("workspaces/<slug:slug>/link", workspace_list.WorkspaceLinkDetail, "workspace-link"),
    _at("members", members.MemberList, "member-list"),
    _at("members/<uuid:user_id>", members.MemberDetail, "member"),
    _at("invitations", invitations.InvitationList, "invitation-list"),
    _at("invitations/<uuid:invitation_id>", invitations.InvitationDetail, "invitation-api"),
    _at("feed-tokens", feed_tokens.FeedTokenList, "feed-token-list"),
    _at("feed-tokens/<uuid:token_id>", feed_tokens.FeedTokenDetail, "feed-token"),
    _at("agents", agent_list.AgentList, "agent-list"),
    _at("workspaces/<slug:slug>", workspace_settings.WorkspaceDetail, "workspace-settings-api"),
    _at("tokens", tokens.TokenList, "token-list"),
    _at("tokens/<uuid:token_id>", tokens.TokenDetail, "token"),
    _at("exports", exports.ExportList, "export-list"),
    _at("exports/<uuid:export_id>", exports.ExportDetail, "export"),
    _at("exports/<uuid:export_id>/file", exports.ExportFile, "export-file-api"),
    _at("audit", audit.AuditList, "audit-list"),
    _at("leaked-tokens", tokens.LeakedTokenList, "leaked-token-list"),
    _at("alerts", alerts.AlertList, "alert-list"),
    _at("alerts/<uuid:alert_id>", alerts.AlertDetail, "alert"),
    _at("alert-rules", alert_rules.RuleList, "alert-rule-list"),
    _at("alert-rules/<uuid:rule_id>", alert_rules.RuleDetail, "alert-rule"),
    _at("channels", channels.ChannelList, "channel-list"),
    _at("channels/<uuid:channel_id>", channels.ChannelDetail, "channel"),
    _at("channels/<uuid:channel_id>/test", channels.ChannelTest, "channel-test"),
    _at("channels/<uuid:channel_id>/secret", channels.ChannelSecret, "channel-secret"),
    _at("channels/<uuid:channel_id>/deliveries", channels.DeliveryList, "delivery-list"),
    _at("explore", explore.Explore, "explore-api"),
    _at("workspaces/<slug:slug>/usage", usage.WorkspaceUsage, "workspace-usage"),
    _at("limits", limits.LimitList, "limit-list"),
    _at("openapi.json", docs.OpenApiDocument, "openapi"),
    path("docs", docs.docs_page, name="api-docs"),
]
