"""Uploading in the browser: what is read is shown, nothing is stored until it is saved."""

import gzip
import itertools
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
from django.test import Client

from backend.formats.tests.test_techempower import RAW
from backend.ingest.models import Artefact, Upload
from backend.ingest.preview.dry_run import OF_MEMBERS
from backend.ingest.queue.worker import process
from backend.runs.models import Run, Server, Trial
from backend.storage import StorageAway
from backend.testing.uploads import WRK, make_file, make_upload
from backend.untrusted.limits import PAGE_FORM_BYTES
from backend.untrusted.sandbox.fair_slots import Busy
from backend.untrusted.sandbox.parser_failures import ParserFailed
from backend.untrusted.secrets.cleaner_refusals import CleanerInterrupted
from backend.web.tests.pages import html_of

URL = "/w/own-lab/upload"
AB = Path(__file__).parents[2] / "formats/ab/tests/captures/keepalive-c10-10k-tsv-csv/stdout"


@pytest.fixture
def before(scene):
    return [model.objects.count() for model in (Upload, Artefact, Run, Trial, Server)]


def upload_id(response):
    """Of the page that saving leads to."""
    return response["Location"].removeprefix("/u/").removesuffix("?then=run")


def now():
    return [model.objects.count() for model in (Upload, Artefact, Run, Trial, Server)]


@pytest.mark.parametrize("field", ["paste", "notes"])
def test_long_texts_are_refused_and_not_shown_again(owner, field):
    """An output of this length is a file."""
    text = '"' * (PAGE_FORM_BYTES + 1)
    for address in ("/w/own-lab/upload", "/try"):
        answer = owner.post(address, {field: text, "file": make_file()})
        assert answer.status_code == 413
        html = answer.content.decode()
        assert "262,145 characters" in html
        assert "&quot;&quot;" not in html


def test_what_was_pasted_is_read_and_not_stored(owner, before):
    html = owner.post(URL, {"paste": WRK, "server": "nginx", "version": "1.27"}).content.decode()
    assert "1 trial, not saved yet" in html
    assert 'value="6000.0" data-format="rate"' in html
    assert 'value="10020.0" data-format="time"' in html
    assert "nginx 1.27" in html
    assert "Running 3s test" in html.split("<textarea")[1].split("</textarea>")[0]
    assert now() == before


def test_a_median_rounded_to_zero_has_the_step_of_its_tool(owner, scene):
    mark = re.compile(r'value="0(\.0)?" data-format="time"\s+data-step="1000(\.0)?"')
    assert mark.search(owner.post(URL, {"paste": AB.read_text()}).content.decode())
    upload = make_upload(scene.own, AB.read_text())
    process(upload.pk)
    trial = Trial.objects.get(run=upload.pk)
    for address in (f"/r/{upload.pk}", f"/t/{trial.pk}"):
        assert mark.search(owner.get(address).content.decode()), address


def test_several_files_and_several_results_in_one(owner, before):
    files = [make_file(WRK + WRK, "two.txt"), make_file(gzip.compress(WRK.encode()), "one.gz")]
    html = owner.post(URL, {"file": files}).content.decode()
    assert "3 trials" in html
    assert "two.txt" in html
    assert "one.gz" in html
    assert now() == before


def test_the_preview_says_which_names_are_from_the_output(owner):
    html = html_of(owner.post(URL, {"paste": AB.read_text()}))
    assert re.search(r'nginx 1\.22\.1 <span class="hint"[^>]*>from the output</span>', html)
    named = html_of(owner.post(URL, {"paste": AB.read_text(), "server": "app"}))
    assert "from the output" not in named


def test_the_preview_counts_warm_ups_apart(owner):
    html = html_of(owner.post(URL, {"file": make_file(RAW, "raw")}))
    assert "2 trials and 2 warm-ups, not saved yet" in html
    assert html.count('<span class="tag">warm-up</span>') == 2
    # Checks count the trials alone.
    assert "of 4 trials" not in html


def test_the_checks_of_every_trial_are_shown_each_once(owner):
    failed = WRK + "Non-2xx or 3xx responses: 9000\n"
    html = owner.post(URL, {"paste": WRK + failed}).content.decode()
    checks = html.split('<ul class="read-checks">')[1].split("</ul>")[0]
    assert "2 of 2 trials" in checks
    # It fired on the second trial only.
    assert "of requests failed" in checks
    assert checks.count("1 of 2 trials") >= 1


def test_repeats_with_the_same_checks_list_them_once(owner):
    failed = WRK + "Non-2xx or 3xx responses: 9000\n"
    files = [make_file(WRK, "1.txt"), make_file(WRK, "2.txt"), make_file(failed, "3.txt")]
    html = html_of(owner.post(URL, {"file": files}))
    assert html.count('<ul class="read-checks">') == 2
    assert html.count("The same checks fired as for <code>1.txt</code>.") == 1


def test_what_is_not_read_says_where_what_and_what_was_expected(owner, before):
    response = owner.post(URL, {"paste": "hello\n<b>world</b>\n"})
    html = response.content.decode()
    assert response.status_code == 200
    assert "We don&#x27;t recognise this file." in html
    assert "<dt>Line</dt><dd>1</dd>" in html
    assert "<code>hello</code>" in html
    assert "Loadsheet reads the output of ab" in html
    assert "<b>world" not in html
    assert now() == before


def test_saving_is_an_upload_like_any_other(owner, scene):
    said = {"server": "nginx", "version": "1.27", "workload": "hello", "host": "bench-9"}
    response = owner.post(URL, {"paste": WRK.replace("\n", "\r\n"), "action": "save", **said})
    assert response.status_code == 302
    upload = Upload.objects.get(pk=upload_id(response))
    assert upload.author == scene.own.user
    process(upload.pk)
    upload.refresh_from_db()
    trial = Trial.objects.get(run=upload.run_id)
    assert str(trial.cell.series.server) == "nginx 1.27"
    assert trial.cell.series.workload.name == "hello"
    assert trial.cell.series.workload.path == "/"
    assert str(trial.run.server_host) == "bench-9"
    assert trial.throughput_rps == 6000
    # As it was typed into the box: browsers send CR LF, the tool printed LF.
    assert upload.artefacts.get().size_bytes == len(WRK)


def test_the_next_output_keeps_the_details_that_it_may_share(owner):
    given = {"server": "nginx", "version": "1.27", "workload": "a b", "started": "2026-01-31T12:00"}
    saved = owner.post(URL, {"paste": WRK, "action": "save_another", **given})
    assert saved["Location"] == f"{URL}?server=nginx&workload=a+b"
    assert Upload.objects.filter(envelope__server__version="1.27").exists()
    form = owner.get(saved["Location"])
    assert "Saved. Add the next output, and enter its version." in html_of(form)
    assert form.context["given"] | {"server": "nginx", "workload": "a b"} == form.context["given"]
    assert form.context["given"]["version"] == form.context["given"]["started"] == ""
    assert form.context["pasted"] == ""


def test_nothing_said_is_nothing_invented(owner):
    response = owner.post(URL, {"paste": WRK, "action": "save"})
    upload = Upload.objects.get(pk=upload_id(response))
    assert upload.envelope == {}


@pytest.mark.parametrize("action", ["read", "save"])
def test_an_empty_form_says_what_to_do(owner, before, action):
    response = owner.post(URL, {"paste": "  \n", "action": action})
    assert response.status_code == 400
    assert "Nothing was sent. Paste the output of a load tool" in response.content.decode()
    assert now() == before


@pytest.mark.parametrize("url", [URL, "/try"])
@pytest.mark.parametrize("action", ["read", "save"])
def test_an_empty_file_is_named_with_what_to_do(owner, before, url, action):
    response = owner.post(url, {"file": make_file("", "<ab>.txt"), "action": action})
    assert response.status_code == 400
    html = html_of(response)
    assert "“&lt;ab&gt;.txt” is empty (0 bytes). Nothing was read." in html
    assert "Check that the load tool wrote its output into that file" in html
    assert "Nothing was sent" not in html
    assert now() == before


def test_empty_files_beside_others_are_named_and_left_out(owner, before):
    files = [make_file("", "ab.txt"), make_file(WRK, "wrk.txt"), make_file("", "stderr.txt")]
    html = html_of(owner.post(URL, {"file": files}))
    sentence = "“ab.txt”, “stderr.txt” are empty (0 bytes). The other files were read."
    assert sentence in html
    assert "1 trial, not saved yet" in html
    files = [make_file(WRK, "wrk.txt"), make_file("", "stderr.txt")]
    saved = owner.post(URL, {"file": files, "action": "save"}, follow=True)
    assert "“stderr.txt” is empty (0 bytes). The other files were saved." in html_of(saved)
    assert [row.name for row in Artefact.objects.order_by("-pk")[:1]] == ["wrk.txt"]


def test_what_is_too_long_is_not_read_before_it_is_saved(owner, before):
    response = owner.post(URL, {"file": make_file(b"x" * (OF_MEMBERS.total_bytes + 1))})
    assert response.status_code == 413
    assert f"at most 50 files of {OF_MEMBERS.total_bytes:,} bytes" in response.content.decode()
    assert now() == before


def test_a_field_that_is_too_long_is_told(owner, before):
    response = owner.post(URL, {"paste": WRK, "server": "x" * 201})
    assert response.status_code == 400
    assert "expected text of at most 200 characters" in response.content.decode()
    assert now() == before


def test_reading_is_limited_in_how_often(owner, settings, before):
    settings.PREVIEWS_PER_MINUTE = 2
    statuses = [owner.post(URL, {"paste": WRK}).status_code for _ in range(3)]
    assert statuses == [200, 200, 429]
    response = owner.post(URL, {"paste": WRK})
    assert int(response["Retry-After"]) > 0


def test_the_rest_of_the_world_previews_with_a_token(scene, before):
    client = Client(headers=scene.own.headers)
    answer = client.post(
        "/api/v1/uploads/preview", {"file": [make_file(), make_file("no report\n", "bad.txt")]}
    )
    assert answer.status_code == 200
    good, bad = answer.json()["files"]
    assert good["trials"][0]["throughput"] == 6000.0
    assert good["trials"][0]["connections"] == 10
    assert "unknown-server-version" in {one["id"] for one in good["trials"][0]["checks"]}
    assert bad["trials"] == []
    assert bad["refusals"][0]["line"] == 1
    assert bad["refusals"][0]["found"] == "no report"
    assert now() == before


AWAY = {
    "slots": (Busy(), "The service is busy with other files. Nothing was saved. Wait 10 "),
    "parser": (ParserFailed("The parser is busy. Try again in a minute."), "Try again in a minute"),
    "cleaner": (CleanerInterrupted(), "Nothing was saved. Wait 5 seconds, then send it again."),
    "storage": (StorageAway("mount: nfs-17"), "The storage of raw files cannot be used at the"),
}


@pytest.mark.parametrize("action", ["read", "save"])
@pytest.mark.parametrize(("error", "sentence"), AWAY.values(), ids=AWAY)
def test_a_form_that_cannot_be_served_now_says_why_and_when(
    owner, monkeypatch, before, action, error, sentence
):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr("backend.web.uploads.uploads.dry_run", fail)
    monkeypatch.setattr("backend.web.uploads.uploads.receive", fail)
    response = owner.post(URL, {"paste": "Running", "action": action})
    html = html_of(response)
    assert response.status_code == 503
    assert int(response["Retry-After"]) > 0
    assert sentence in html.split('id="read"')[1]
    assert "Running</textarea>" in html
    assert "nfs-17" not in html
    assert now() == before


def test_a_form_of_another_site_is_refused(scene):
    client = Client(enforce_csrf_checks=True)
    client.force_login(scene.own.user)
    assert client.post(URL, {"paste": WRK, "action": "save"}).status_code == 403


def test_reading_many_files_ends_in_time_and_says_so(owner, monkeypatch, before):
    monkeypatch.setattr(
        "backend.ingest.preview.dry_run.time.monotonic", itertools.count(step=60).__next__
    )
    html = owner.post(URL, {"paste": WRK}).content.decode()
    assert "This file is read after you save it" in html
    assert now() == before


def test_the_details_of_the_form_are_those_of_the_run(owner):
    details = {
        "started": "2026-10-01T08:30",
        "labels": "branch: main, url: http://a/b",
        "notes": "The fan was loud.\r\nMeasured twice.",
        "host": "bench-1",
        "client_host": "bench-2",
    }
    response = owner.post(URL, {"paste": WRK, "action": "save", **details})
    process(upload_id(response))
    run = Run.objects.get(upload=upload_id(response))
    assert run.started_at == datetime(2026, 10, 1, 8, 30, tzinfo=UTC)
    assert run.labels == {"branch": "main", "url": "http://a/b"}
    assert run.notes.splitlines() == ["The fan was loud.", "Measured twice."]
    assert (run.server_host.name, run.client_host.name) == ("bench-1", "bench-2")


@pytest.mark.parametrize(
    ("details", "sentence"),
    [
        ({"started": "yesterday"}, "Measured at: got “yesterday”, expected a date and a time"),
        ({"labels": "main"}, "Labels: got “main”, expected names with values"),
        ({"notes": "x" * 10_001}, "run.notes"),
    ],
)
def test_a_detail_that_is_not_understood_is_explained(owner, before, details, sentence):
    response = owner.post(URL, {"paste": WRK, **details})
    assert response.status_code == 400
    assert sentence in response.content.decode()
    assert now() == before


def test_a_saved_upload_leads_to_its_run_once_it_is_read(owner):
    page = owner.post(URL, {"paste": WRK, "action": "save"})["Location"]
    assert "Waiting to be read" in owner.get(page).content.decode()
    upload = Upload.objects.get(pk=page.removeprefix("/u/").removesuffix("?then=run"))
    process(upload.pk)
    upload.refresh_from_db()
    assert owner.get(page)["Location"] == f"/r/{upload.run_id}"
    assert owner.get(f"/u/{upload.pk}").status_code == 200


def test_a_file_that_failed_shows_its_reason_and_leads_nowhere(owner):
    page = owner.post(URL, {"paste": "no report", "action": "save"})["Location"]
    upload = Upload.objects.get(pk=page.removeprefix("/u/").removesuffix("?then=run"))
    process(upload.pk)
    html = owner.get(page).content.decode()
    assert "Failed" in html
    assert "recognise this file" in html


def test_bytes_that_were_uploaded_before_are_told_before_they_are_saved(owner, scene):
    text = f"{WRK}\n"
    assert "The same bytes" not in owner.post(URL, {"paste": text}).content.decode()
    saved = owner.post(URL, {"paste": text, "action": "save"})
    process(upload_id(saved))
    run = Run.objects.get(upload=upload_id(saved))
    html = owner.post(URL, {"paste": text}).content.decode()
    assert "the same bytes were uploaded:" in html
    assert f'href="/r/{run.pk}">open that run' in html


def test_bytes_of_another_workspace_are_nobodys_business(owner, scene):
    process(make_upload(scene.foreign).pk)
    Artefact.objects.filter(upload__workspace=scene.own.workspace).delete()
    assert "The same bytes" not in owner.post(URL, {"paste": WRK}).content.decode()
