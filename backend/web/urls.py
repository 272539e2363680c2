"""The addresses of the pages."""

from django.urls import path

from backend.web import (
    artefacts,
    compare,
    dismissals,
    home,
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
    path("w/<slug:slug>/", home.workspace_front, name="workspace"),
    path("w/<slug:slug>/compare", compare.compare, name="compare-page"),
    path("w/<slug:slug>/runs", runs.runs, name="runs-page"),
    path("w/<slug:slug>/servers", things.servers, name="servers-page"),
    path("w/<slug:slug>/servers/<uuid:server_id>", things.server, name="server-page"),
    path("w/<slug:slug>/hosts", things.hosts, name="hosts-page"),
    path("w/<slug:slug>/hosts/<uuid:host_id>", things.host, name="host-page"),
    path("w/<slug:slug>/workloads", things.workloads, name="workloads-page"),
    path("w/<slug:slug>/workloads/<uuid:workload_id>", things.workload, name="workload-page"),
    path("w/<slug:slug>/upload", uploads.new_upload, name="new-upload"),
    path("w/<slug:slug>/search", search.search, name="search"),
    path("w/<slug:slug>/settings", settings_page.workspace_settings, name="settings"),
    path("w/<slug:slug>/tokens", home.make_token, name="make-token"),
    path("w/<slug:slug>/freeze", result_sets.freeze, name="freeze"),
    path("r/<uuid:run_id>", runs.run, name="run-page"),
    path("r/<uuid:run_id>/dismissals", dismissals.dismissals, name="dismissals"),
    path("t/<uuid:trial_id>", trials.trial, name="trial-page"),
    path("u/<uuid:upload_id>", uploads.upload, name="upload-page"),
    path("a/<uuid:artefact_id>", artefacts.artefact, name="artefact-page"),
    path("a/<uuid:artefact_id>/raw", artefacts.raw, name="artefact-raw"),
    path("s/<uuid:result_set_id>", result_sets.result_set, name="result-set-page"),
    path("s/<uuid:result_set_id>.json", result_sets.as_json, name="result-set-json"),
    path("s/<uuid:result_set_id>.csv", result_sets.as_csv, name="result-set-csv"),
    path("s/<uuid:result_set_id>/visibility", result_sets.visibility, name="visibility"),
]
