"""The addresses of the pages."""

from django.urls import path

from backend.runs.models import FormerName
from backend.web import (
    artefacts,
    compare,
    dismissals,
    embeds,
    guide,
    home,
    renaming,
    result_set_changes,
    result_sets,
    runs,
    search,
    settings_page,
    sign_in,
    things,
    trials,
    uploads,
)

urlpatterns = [
    path("", home.home, name="home"),
    path("sign-in/<str:token>", sign_in.sign_in, name="sign-in"),
    path("docs/", guide.page, name="guide"),
    path("docs/<path:name>", guide.page, name="guide-page"),
    path("w/<slug:slug>/", home.workspace_front, name="workspace"),
    path("w/<slug:slug>/compare", compare.compare, name="compare-page"),
    path("w/<slug:slug>/compare.png", compare.as_png, name="compare-png"),
    path("w/<slug:slug>/runs", runs.runs, name="runs-page"),
    path("w/<slug:slug>/servers", things.servers, name="servers-page"),
    path("w/<slug:slug>/servers/<uuid:server_id>", things.server, name="server-page"),
    path("w/<slug:slug>/hosts", things.hosts, name="hosts-page"),
    path("w/<slug:slug>/hosts/<uuid:host_id>", things.host, name="host-page"),
    path("w/<slug:slug>/workloads", things.workloads, name="workloads-page"),
    path("w/<slug:slug>/workloads/<uuid:workload_id>", things.workload, name="workload-page"),
    *(
        path(
            f"w/<slug:slug>/{kind}s/<uuid:id_>/rename",
            renaming.rename_thing,
            {"kind": kind},
            name=f"rename-{kind}",
        )
        for kind in FormerName.Kind
    ),
    path("w/<slug:slug>/upload", uploads.new_upload, name="new-upload"),
    path("w/<slug:slug>/search", search.search, name="search"),
    path("w/<slug:slug>/settings", settings_page.workspace_settings, name="settings"),
    path("w/<slug:slug>/tokens", home.make_token, name="make-token"),
    path("w/<slug:slug>/result-sets", result_sets.result_sets, name="result-sets-page"),
    path("w/<slug:slug>/result-sets/new", result_sets.share, name="share"),
    path("r/<uuid:run_id>", runs.run, name="run-page"),
    path("r/<uuid:run_id>/dismissals", dismissals.dismissals, name="dismissals"),
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
    path("s/<uuid:link>/revoke", result_set_changes.revoke_result_set, name="revoke"),
    path("embed/<uuid:link>", embeds.embed, name="embed"),
    path("oembed", embeds.oembed, name="oembed"),
]
