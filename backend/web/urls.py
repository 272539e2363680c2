"""The addresses of the pages."""

from django.urls import path

from backend.web import (
    artefacts,
    compare,
    embeds,
    home,
    result_set_changes,
    result_sets,
    runs,
    sign_in,
    uploads,
)

urlpatterns = [
    path("", home.home, name="home"),
    path("sign-in/<str:token>", sign_in.sign_in, name="sign-in"),
    path("w/<slug:slug>/", home.workspace_front, name="workspace"),
    path("w/<slug:slug>/compare", compare.compare, name="compare-page"),
    path("w/<slug:slug>/runs", runs.runs, name="runs-page"),
    path("w/<slug:slug>/tokens", home.make_token, name="make-token"),
    path("w/<slug:slug>/result-sets", result_sets.result_sets, name="result-sets-page"),
    path("w/<slug:slug>/result-sets/new", result_sets.share, name="share"),
    path("r/<uuid:run_id>", runs.run, name="run-page"),
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
