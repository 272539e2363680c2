"""The addresses of the API."""

from django.urls import path

from backend.api import (
    agents,
    alert_rules,
    alerts,
    amendments,
    artefacts,
    audit,
    catalogue,
    channels,
    compare,
    docs,
    explore,
    exports,
    facets,
    gate,
    limits,
    merges,
    observations,
    pair,
    parts,
    point_trials,
    result_sets,
    run_sharing,
    runs,
    saved_views,
    sessions,
    tokens,
    trash,
    trial_files,
    trials,
    uploads,
    usage,
    workspace_settings,
)

# Answers below it are JSON, also where no route fits.
ROOT = "api/"
VERSION_ROOT = f"{ROOT}v1/"


def is_api_path(path: str) -> bool:
    """Whether a request's path is below the API."""
    return path.startswith(f"/{ROOT}")


urlpatterns = [
    path("sessions", sessions.Sessions.as_view(), name="session-meet"),
    path("me", agents.Me.as_view(), name="me"),
    path("heartbeat", agents.Heartbeat.as_view(), name="heartbeat"),
    path("uploads", uploads.UploadList.as_view(), name="upload-list"),
    path("uploads/preview", uploads.UploadPreview.as_view(), name="upload-preview"),
    path("uploads/<uuid:upload_id>", uploads.UploadDetail.as_view(), name="upload"),
    path("uploads/<uuid:upload_id>/parts", parts.PartList.as_view(), name="part-list"),
    path(
        "uploads/<uuid:upload_id>/parts/<str:artefact>/<int:number>",
        parts.PartDetail.as_view(),
        name="part",
    ),
    path("compare", compare.Compare.as_view(), name="compare"),
    path("compare.csv", compare.CompareCsv.as_view(), name="compare-csv"),
    path("compare/pair", pair.ComparePair.as_view(), name="compare-pair-api"),
    path("gate", gate.GateCheck.as_view(), name="gate"),
    path("facets", facets.Facets.as_view(), name="facets"),
    path("runs", runs.RunList.as_view(), name="run-list"),
    path("runs/<uuid:run_id>", runs.RunDetail.as_view(), name="run"),
    path(
        "runs/<uuid:run_id>/corrections/<uuid:correction_id>",
        runs.CorrectionDetail.as_view(),
        name="correction",
    ),
    path(
        "runs/<uuid:run_id>/observations",
        observations.Observations.as_view(),
        name="observations",
    ),
    path("runs/<uuid:run_id>/progress", agents.RunProgress.as_view(), name="run-progress"),
    path("runs/<uuid:run_id>/plan.toml", runs.RunPlan.as_view(), name="run-plan"),
    path("runs/<uuid:run_id>/sharing", run_sharing.RunSharing.as_view(), name="run-sharing"),
    path(
        "runs/<uuid:run_id>/sharing/revoke",
        run_sharing.RunSharingRevoke.as_view(),
        name="run-sharing-revoke",
    ),
    path(
        "shared-runs/<uuid:shared_link>", run_sharing.SharedRunDetail.as_view(), name="shared-run"
    ),
    path("trials", point_trials.PointTrials.as_view(), name="trial-list"),
    path("trials.csv", trial_files.TrialsCsv.as_view(), name="trials-csv"),
    path("trials.parquet", trial_files.TrialsParquet.as_view(), name="trials-parquet"),
    path("trials/<uuid:trial_id>", trials.TrialDetail.as_view(), name="trial"),
    path(
        "trials/<uuid:trial_id>/timeline",
        trials.TrialTimelineDetail.as_view(),
        name="trial-timeline",
    ),
    path("servers", catalogue.ServerList.as_view(), name="server-list"),
    path("hosts", catalogue.HostList.as_view(), name="host-list"),
    path("workloads", catalogue.WorkloadList.as_view(), name="workload-list"),
    path("runs/<uuid:run_id>/restore", trash.RunRestore.as_view(), name="restore-run-api"),
    path("trash", trash.TrashList.as_view(), name="trash-list"),
    path(
        "runs/<uuid:run_id>/dismissals", amendments.DismissalList.as_view(), name="dismissal-list"
    ),
    path(
        "runs/<uuid:run_id>/dismissals/<slug:check>",
        amendments.DismissalDetail.as_view(),
        name="dismissal",
    ),
    path("renames", amendments.Renames.as_view(), name="renames"),
    path("merges", merges.MergeList.as_view(), name="merge-list"),
    path("merges/<uuid:merge_id>", merges.MergeDetail.as_view(), name="merge"),
    path("artefacts/<uuid:artefact_id>/raw", artefacts.ArtefactRaw.as_view(), name="artefact"),
    path("result-sets", result_sets.ResultSetList.as_view(), name="result-set-list"),
    path("result-sets/<uuid:link>", result_sets.ResultSetDetail.as_view(), name="result-set"),
    path(
        "result-sets/<uuid:link>/changes",
        result_sets.ResultSetChanges.as_view(),
        name="result-set-changes-api",
    ),
    path(
        "result-sets/<uuid:link>/withdraw",
        result_sets.ResultSetWithdraw.as_view(),
        name="result-set-withdraw",
    ),
    path(
        "result-sets/<uuid:link>/revoke",
        result_sets.ResultSetRevoke.as_view(),
        name="result-set-revoke",
    ),
    path("views", saved_views.ViewList.as_view(), name="view-list"),
    path("views/<uuid:view_id>", saved_views.ViewDetail.as_view(), name="view"),
    path(
        "workspaces/<slug:slug>",
        workspace_settings.WorkspaceDetail.as_view(),
        name="workspace-settings-api",
    ),
    path("tokens", tokens.TokenList.as_view(), name="token-list"),
    path("tokens/<uuid:token_id>", tokens.TokenDetail.as_view(), name="token"),
    path("exports", exports.ExportList.as_view(), name="export-list"),
    path("exports/<uuid:export_id>", exports.ExportDetail.as_view(), name="export"),
    path("exports/<uuid:export_id>/file", exports.ExportFile.as_view(), name="export-file-api"),
    path("audit", audit.AuditList.as_view(), name="audit-list"),
    path("leaked-tokens", tokens.LeakedTokenList.as_view(), name="leaked-token-list"),
    path("alerts", alerts.AlertList.as_view(), name="alert-list"),
    path("alerts/<uuid:alert_id>", alerts.AlertDetail.as_view(), name="alert"),
    path("alert-rules", alert_rules.RuleList.as_view(), name="alert-rule-list"),
    path("alert-rules/<uuid:rule_id>", alert_rules.RuleDetail.as_view(), name="alert-rule"),
    path("channels", channels.ChannelList.as_view(), name="channel-list"),
    path("channels/<uuid:channel_id>", channels.ChannelDetail.as_view(), name="channel"),
    path("channels/<uuid:channel_id>/test", channels.ChannelTest.as_view(), name="channel-test"),
    path(
        "channels/<uuid:channel_id>/deliveries",
        channels.DeliveryList.as_view(),
        name="delivery-list",
    ),
    path("explore", explore.Explore.as_view(), name="explore-api"),
    path("workspaces/<slug:slug>/usage", usage.WorkspaceUsage.as_view(), name="workspace-usage"),
    path("limits", limits.LimitList.as_view(), name="limit-list"),
    path("openapi.json", docs.OpenApiDocument.as_view(), name="openapi"),
    path("docs", docs.docs_page, name="api-docs"),
]
