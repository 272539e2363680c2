"""The paths of the pages."""

from collections.abc import Callable

from django.http import HttpResponseBase
from django.urls import path
from django.views.generic import RedirectView

from backend.runs.models import FormerName
from backend.web.alerts import alert_rules, alerts, channels
from backend.web.compare import compare, pair, saved_views
from backend.web.documents import agent_files, guide, site_files
from backend.web.home import explore, home, library, visitors
from backend.web.registry import registry, renaming
from backend.web.results import embeds, feeds, result_set_changes, result_sets
from backend.web.runs import (
    artefacts,
    run_edit,
    run_page,
    runs,
    sessions,
    shared_run,
    ticked_runs,
    trash,
    trials,
)
from backend.web.search import search
from backend.web.sign_in import account_data, sign_in
from backend.web.staff import reports
from backend.web.uploads import uploads
from backend.web.workspace import (
    agents,
    audit_page,
    exports,
    members,
    settings_page,
    tokens,
    workspace_links,
    workspaces,
)

# Below /w/<slug>/: the pages of a workspace, each with its view and its name.
PAGES_OF_WORKSPACE: tuple[tuple[str, Callable[..., HttpResponseBase], str], ...] = (
    ("link", workspace_links.make_link, "make-workspace-link"),
    ("link/revoke", workspace_links.revoke_link, "revoke-workspace-link"),
    ("", home.workspace_front, "workspace"),
    ("compare", compare.compare, "compare-page"),
    ("compare/first", compare.first_comparison, "first-comparison"),
    ("compare/pair", pair.compare_two, "compare-pair"),
    ("compare.png", compare.as_png, "compare-png"),
    ("alerts", alerts.alerts, "alerts-page"),
    ("alerts/<uuid:alert_id>", alerts.alert, "alert-page"),
    ("alerts/<uuid:alert_id>/answer", alerts.answer, "answer-alert"),
    ("alerts/rules", alert_rules.alert_rules, "alert-rules-page"),
    ("alerts/rules/<uuid:rule_id>/change", alert_rules.change, "change-alert-rule"),
    ("alerts/rules/<uuid:rule_id>/delete", alert_rules.delete, "delete-alert-rule"),
    ("channels", channels.channels, "channels-page"),
    ("channels/<uuid:channel_id>", channels.channel, "channel-page"),
    ("channels/<uuid:channel_id>/test", channels.test_channel, "test-channel"),
    ("channels/<uuid:channel_id>/secret", channels.renew_channel_secret, "renew-channel-secret"),
    ("channels/<uuid:channel_id>/delete", channels.delete_channel, "delete-channel"),
    ("feed-tokens", channels.new_feed_token, "new-feed-token"),
    ("feed-tokens/<uuid:token_id>/revoke", channels.revoke_feed_token, "revoke-feed-token"),
    ("feed.atom", feeds.workspace_feed, "workspace-feed"),
    ("alerts.atom", feeds.alerts_feed, "alerts-feed"),
    ("servers/<uuid:server_id>/feed.atom", feeds.server_feed, "server-feed"),
    ("views", saved_views.saved_views, "saved-views"),
    ("views/new", saved_views.save, "save-view"),
    ("views/<uuid:view_id>/edit", saved_views.edit, "edit-view"),
    ("views/<uuid:view_id>/delete", saved_views.delete, "delete-view"),
    ("runs", runs.runs, "runs-page"),
    ("runs/ticked", ticked_runs.ticked_runs, "ticked-runs"),
    ("uploads", uploads.uploads, "uploads-page"),
    ("trash", trash.trash, "trash-page"),
    ("servers", registry.servers, "servers-page"),
    ("servers/<uuid:server_id>", registry.server, "server-page"),
    ("hosts", registry.hosts, "hosts-page"),
    ("hosts/<uuid:host_id>", registry.host, "host-page"),
    ("workloads", registry.workloads, "workloads-page"),
    ("workloads/<uuid:workload_id>", registry.workload, "workload-page"),
    ("merges/<uuid:merge_id>/undo", renaming.undo_merge_row, "undo-merge"),
    ("agents", agents.agents, "agents-page"),
    ("agents/<uuid:token_id>/revoke", tokens.revoke, "revoke-token"),
    ("sessions/<path:name>", sessions.session, "session-page"),
    ("upload", uploads.new_upload, "new-upload"),
    ("search", search.search, "search"),
    ("settings", settings_page.workspace_settings, "settings"),
    ("settings/readers", settings_page.readers, "workspace-readers"),
    ("settings/raw-output", settings_page.raw_output, "raw-output"),
    ("exports", exports.exports_page, "exports-page"),
    ("exports/<uuid:export_id>/file", exports.file, "export-file"),
    ("exports/<uuid:export_id>/delete", exports.delete, "delete-export"),
    ("audit", audit_page.audit_log, "audit"),
    ("rename", workspaces.rename_workspace, "rename-workspace"),
    ("delete", workspaces.remove_workspace, "delete-workspace"),
    ("members", members.members_page, "members-page"),
    ("members/<uuid:user_id>/role", members.change_role, "change-role"),
    ("members/<uuid:user_id>/remove", members.remove_member, "remove-member"),
    ("invitations/<uuid:invitation_id>/revoke", members.revoke_invitation, "revoke-invitation"),
    ("tokens", tokens.tokens_page, "tokens-page"),
    ("first-token", home.make_token, "make-token"),
    ("result-sets", result_sets.result_sets, "result-sets-page"),
    ("result-sets/new", result_sets.share, "share"),
)

urlpatterns = [
    *(
        path(f"w/<slug:slug>/{address}", view, name=name)
        for address, view, name in PAGES_OF_WORKSPACE
    ),
    path("", home.home, name="home"),
    path("try", visitors.try_it, name="try"),
    path("robots.txt", site_files.robots, name="robots"),
    path(".well-known/security.txt", site_files.security_txt, name="security-txt"),
    *(
        path(name, site_files.operators_text, {"name": name}, name=name)
        for name in site_files.TEXTS
    ),
    path("report", reports.report, name="report"),
    path("report/<uuid:report_id>/sent", reports.report_sent, name="report-sent"),
    path("account/data", account_data.your_data, name="account-data"),
    path("account/data/export", account_data.export, name="account-export"),
    path("account/erase", account_data.erase, name="erase-account"),
    path("sign-in/<str:token>", sign_in.sign_in, name="sign-in"),
    path("first-owner/<str:token>", workspaces.first_owner, name="first-owner"),
    path("shared/<str:token>", workspace_links.open_link, name="open-workspace"),
    path("workspaces", workspaces.workspaces_page, name="workspaces"),
    path("new-workspace", workspaces.new_workspace, name="new-workspace"),
    path("messages", workspaces.held_messages, name="held-messages"),
    path("invitations/<str:token>", members.invitation, name="invitation"),
    path("invitations/<str:token>/join", members.join, name="join"),
    path("docs", RedirectView.as_view(pattern_name="guide"), name="guide-without-slash"),
    path("docs/", guide.page, name="guide"),
    path("docs/<path:name>", guide.page, name="guide-page"),
    path("library/", library.library, name="library"),
    path("library/servers/<slug:slug>", library.library_server, name="library-server"),
    path(
        "w/<slug:slug>",
        RedirectView.as_view(pattern_name="workspace"),
        name="workspace-without-slash",
    ),
    path("explore", explore.explore, name="explore"),
    path("search", search.search_everywhere, name="search-everywhere"),
    path("s/<uuid:link>.atom", feeds.result_set_feed, name="result-set-feed"),
    *(
        path(f"w/<slug:slug>/{kind}s/<uuid:id_>/{act}", view, {"kind": kind}, name=f"{act}-{kind}")
        for kind in FormerName.Kind
        for act, view in (("rename", renaming.rename_row), ("merge", renaming.merge_row))
    ),
    path("loadsheet.pyz", agent_files.pyz, name="agent-pyz"),
    path("loadsheet.pyz.sha256", agent_files.pyz_sha256, name="agent-pyz-sha256"),
    path("agent/<str:name>", agent_files.wheel, name="agent-wheel"),
    path("integrations/<path:name>", agent_files.integration_file, name="integration-file"),
    path("r/<uuid:run_id>", run_page.run, name="run-page"),
    path("r/<uuid:run_id>/plan.toml", run_page.plan, name="run-plan-page"),
    path("r/<uuid:run_id>/edit", run_edit.edit, name="edit-run"),
    path(
        "r/<uuid:run_id>/corrections/<uuid:correction_id>/undo",
        run_edit.undo,
        name="undo-correction",
    ),
    path("r/<uuid:run_id>/share", shared_run.share, name="share-run"),
    path("r/<uuid:run_id>/share/revoke", shared_run.revoke, name="revoke-run-link"),
    path("shared/runs/<uuid:shared_link>", shared_run.shared_run, name="shared-run-page"),
    path("shared/runs/<uuid:shared_link>/plan.toml", shared_run.plan, name="shared-run-plan"),
    path("r/<uuid:run_id>/delete", trash.delete_run, name="delete-run"),
    path("r/<uuid:run_id>/dismissals", run_edit.dismissals, name="dismissals"),
    path("r/<uuid:run_id>/restore", trash.restore, name="restore-run"),
    path("r/<uuid:run_id>/erase", trash.erase_run, name="erase-run"),
    path("t/<uuid:trial_id>", trials.trial, name="trial-page"),
    path("u/<uuid:upload_id>", uploads.upload, name="upload-page"),
    path("a/<uuid:artefact_id>", artefacts.artefact, name="artefact-page"),
    path("a/<uuid:artefact_id>/raw", artefacts.raw, name="artefact-raw"),
    path("s/<uuid:link>", result_sets.result_set, name="result-set-page"),
    path("s/<uuid:link>.json", result_sets.as_json, name="result-set-json"),
    path("s/<uuid:link>.csv", result_sets.as_csv, name="result-set-csv"),
    path("s/<uuid:link>.png", result_sets.as_png, name="result-set-png"),
    path("s/<uuid:link>.svg", result_sets.as_svg, name="result-set-svg"),
    path("s/<uuid:link>/changes", result_set_changes.changes, name="result-set-changes"),
    path("s/<uuid:link>/edit", result_set_changes.edit_result_set, name="edit-result-set"),
    path("s/<uuid:link>/supersede", result_set_changes.supersede_result_set, name="supersede"),
    path("s/<uuid:link>/withdraw", result_set_changes.withdraw_result_set, name="withdraw"),
    path("s/<uuid:link>/feature", result_set_changes.feature_result_set, name="feature"),
    path("s/<uuid:link>/revoke", result_set_changes.revoke_result_set, name="revoke"),
    path("embed/<uuid:link>", embeds.embed, name="embed"),
    path("oembed", embeds.oembed, name="oembed"),
]
