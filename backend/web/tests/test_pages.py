"""What the pages hand over: headers of raw output, exact bytes of a snapshot, clear messages."""

import gzip
import re
from urllib.parse import parse_qs, urlsplit

import orjson
import pytest
from django.test import Client

from backend.accounts.models import Token
from backend.runs.models import Trial
from backend.sharing import drawing
from backend.sharing.models import Visibility
from backend.testing.scenes import make_artefact, make_result_set
from backend.testing.uploads import WRK
from backend.web.tests.pages import html_of

NOBODYS_RUN = "00000000-0000-4000-8000-000000000000"


def test_a_comparison_has_an_image_of_exactly_its_query(owner, scene, monkeypatch, settings):
    settings.PUBLIC_URL = "https://bench.example"
    drawn = []
    monkeypatch.setattr(drawing, "draw", lambda scene: drawn.append(scene) or b"PNG")
    answer = owner.get("/w/own-lab/compare.png?view=nines&metric=p99&x=connections")
    assert answer.status_code == 200
    assert answer["Content-Type"] == "image/png"
    assert "no-store" in answer["Cache-Control"]
    told = orjson.loads(drawn[0])
    page = "https://bench.example/w/own-lab/compare"
    assert told["url"] == f"{page}?metric=p99&view=nines"
    assert told["figures"]["metric"] == "p99"
    assert owner.get("/w/own-lab/compare.png").status_code == 200
    assert orjson.loads(drawn[-1])["url"] == f"{page}?workspace=own-lab"
    assert owner.get("/w/own-lab/compare.png?nonsense=1").status_code == 400


def test_raw_output_is_a_download_that_cannot_run(owner, scene):
    response = owner.get(f"/a/{scene.artefact.pk}/raw")
    assert b"".join(response.streaming_content) == WRK.encode()
    assert response["Content-Type"].startswith("text/plain")
    assert response["Content-Disposition"] == 'attachment; filename="wrk.txt"'
    assert response["Content-Security-Policy"] == "sandbox; default-src 'none'"
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["Cache-Control"] == "private, no-store"
    assert int(response["Content-Length"]) == len(WRK.encode())


@pytest.mark.parametrize("name", ['a"\r\nX-Evil: 1.txt', "../../etc/passwd", "b\x00c", "ä.txt"])
def test_a_files_name_cannot_break_out_of_its_header(owner, scene, name):
    artefact = make_artefact(scene.upload, name=name.replace("\x00", ""))
    response = owner.get(f"/a/{artefact.pk}/raw")
    assert response.status_code == 200
    assert "X-Evil" not in response
    assert "/" not in response["Content-Disposition"]


def test_compressed_output_is_downloaded_as_stored_and_read_unpacked(owner, scene):
    packed = gzip.compress(WRK.encode())
    artefact = make_artefact(scene.upload, packed, name="wrk.txt.gz")
    assert b"".join(owner.get(f"/a/{artefact.pk}/raw").streaming_content) == packed
    assert "Requests/sec" in owner.get(f"/a/{artefact.pk}").content.decode()


def test_the_page_of_an_artefact_escapes_what_it_shows(owner, scene):
    evil = b"<script>alert(1)</script>\x1b[31mred\x1b[0m" + b"x" * (300 << 10)
    artefact = make_artefact(scene.upload, evil, name="evil.txt")
    page = owner.get(f"/a/{artefact.pk}").content.decode()
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert "\x1b" not in page
    assert "Only the beginning" in page


def test_a_broken_archive_is_still_a_page(owner, scene):
    artefact = make_artefact(scene.upload, b"\x1f\x8bnonsense", name="broken.gz")
    assert owner.get(f"/a/{artefact.pk}").status_code == 200


def test_a_file_lost_from_the_storage_is_told(owner, scene, settings):
    path = settings.DATA_DIR / "artefacts" / scene.artefact.sha256[:2] / scene.artefact.sha256
    path.unlink()
    for page in ("", "/raw"):
        response = owner.get(f"/a/{scene.artefact.pk}{page}")
        assert response.status_code == 500
        assert b"not in the storage" in response.content


@pytest.mark.parametrize("visibility", Visibility)
def test_the_snapshot_is_given_byte_for_byte(owner, scene, visibility):
    result_set = make_result_set(scene.own.workspace, visibility)
    response = owner.get(f"/s/{result_set.pk}.json")
    assert response.content == bytes(result_set.snapshot)
    assert response["ETag"] == f'"{result_set.sha256}"'
    again = owner.get(f"/s/{result_set.pk}.json", headers={"if-none-match": response["ETag"]})
    assert again.status_code == 304
    assert again.content == b""


def test_unlisted_is_kept_out_of_indexes_and_referrers(scene):
    unlisted = make_result_set(scene.own.workspace, Visibility.UNLISTED)
    for suffix in ("", ".json", ".csv"):
        response = Client().get(f"/s/{unlisted.pk}{suffix}")
        assert response["X-Robots-Tag"] == "noindex"
        # Not no-referrer: browsers would send `Origin: null` with the forms of the page.
        assert response["Referrer-Policy"] == "same-origin"
    public = make_result_set(scene.own.workspace, Visibility.PUBLIC)
    assert "X-Robots-Tag" not in Client().get(f"/s/{public.pk}")


def test_freezing_and_sharing(owner, scene):
    response = owner.post(
        "/w/own-lab/result-sets/new",
        {"query": f"run={scene.run.pk}", "title": "T", "visibility": "private"},
    )
    assert response.status_code == 302
    link = response["Location"]
    assert Client().get(link).status_code == 404
    assert owner.get(link).status_code == 200
    owner.post(f"{link}/edit", {"visibility": "unlisted"})
    assert Client().get(link).status_code == 200
    figures = Client().get(f"{link}.json").json()["figures"]
    assert {series["server"] for series in figures["series"]} == {"secret-server", "other-server"}
    assert owner.post(f"{link}/edit", {"visibility": "everybody"}).status_code == 400
    owner.post(f"{link}/edit", {"visibility": "private"})
    assert Client().get(link).status_code == 404


def test_a_frozen_page_never_changes_when_a_run_arrives(owner, scene):
    from backend.testing.scenes import make_measured_run

    link = owner.post("/w/own-lab/result-sets/new", {"query": "", "title": "T"})["Location"]
    before = owner.get(f"{link}.json").content
    make_measured_run(scene.own.workspace, servers=("newer",))
    assert owner.get(f"{link}.json").content == before


@pytest.mark.parametrize("query", ["metric=speed", "nonsense=1", "run=1", "at=-3"])
def test_a_link_that_is_not_understood_names_the_field(owner, query):
    response = owner.get(f"/w/own-lab/compare?{query}")
    assert response.status_code == 400
    assert query.split("=")[0] in response.content.decode()
    assert '<a href="/w/own-lab/compare">' in response.content.decode()
    assert (
        owner.post("/w/own-lab/result-sets/new", {"query": query, "title": "T"}).status_code == 400
    )


def test_freezing_a_foreign_run_is_nothing(owner, scene):
    from backend.testing.scenes import make_measured_run

    foreign = make_measured_run(scene.foreign.workspace)
    query = f"run={foreign.pk}"
    assert (
        owner.post("/w/own-lab/result-sets/new", {"query": query, "title": "T"}).status_code == 404
    )


def test_the_run_page_shows_trials_commands_and_raw_output(owner, scene):
    page = owner.get(f"/r/{scene.run.pk}").content.decode()
    assert "secret-server" in page
    assert "wrk -c8 http://127.0.0.1:8080/" in page
    assert f"/a/{scene.artefact.pk}/raw" in page
    assert f"/w/own-lab/compare?run={scene.run.pk}" in page


def test_a_run_is_called_by_what_it_measured(owner, scene):
    page = html_of(owner.get(f"/r/{scene.run.pk}"))
    title = "other-server 1.0 and secret-server 1.0 · hello · wrk"
    assert f"<title>{title} · Loadsheet</title>" in page
    heading = page[page.index("<h1>") : page.index("</h1>")]
    assert title in heading
    assert "12 trials" in heading
    Trial.objects.filter(run=scene.run, repeat=0).update(warmup=True)
    assert "8 trials and 4 warm-ups" in html_of(owner.get(f"/r/{scene.run.pk}"))


def test_the_checks_of_a_run_are_grouped_and_their_text_is_closed(owner, scene):
    page = html_of(owner.get(f"/r/{scene.run.pk}"))
    section = page[page.index('id="checks"') :]
    assert section.index("<h3>Warnings") < section.index('id="check-same-host"')
    assert "<details open" not in section
    owner.post(f"/r/{scene.run.pk}/dismissals", {"check": "same-host", "reason": "Known."})
    section = html_of(owner.get(f"/r/{scene.run.pk}"))
    assert section.index("<h3>Dismissed") < section.index('id="check-same-host"')


def test_nul_in_the_name_of_a_check_names_none(owner, scene):
    form = {"check": "same-host\0x", "undo": "1"}
    answer = owner.post(f"/r/{scene.run.pk}/dismissals", form, follow=True)
    assert answer.status_code == 200
    assert "There was no dismissal." in html_of(answer)


def test_checks_of_warm_ups_are_counted_apart(owner, scene):
    trials = Trial.objects.filter(run=scene.run).order_by("ordinal")
    finding = {"id": "too-short", "detail": ""}
    trials.filter(repeat=0).update(warmup=True, checks=[finding, {"id": "cut-off", "detail": ""}])
    trials.filter(repeat=1).update(checks=[finding])
    page = html_of(owner.get(f"/r/{scene.run.pk}"))
    counted, warmups = (page[page.index(f'id="check-{id_}"') :] for id_ in ("too-short", "cut-off"))
    assert '<span class="hint">4 trials</span>' in counted[: counted.index("</summary>")]
    assert '<span class="hint">4 warm-ups</span>' in counted[: counted.index("</summary>")]
    assert "trials" not in warmups[: warmups.index("</summary>")]
    assert page.index("<h3>In warm-ups only") < page.index('id="check-cut-off"')


def test_a_load_is_not_read_as_part_of_a_version(owner, scene):
    Trial.objects.filter(run=scene.run).update(resources={"server_cpu_s": 1.5})
    page = html_of(owner.get(f"/r/{scene.run.pk}"))
    used = page[page.index('id="resources-title"') :]
    assert '<span class="hint"> 64 connections </span>' in used[: used.index("</table>")]


def test_a_made_token_is_shown_once_and_works(owner):
    assert 'action="/w/own-lab/first-token#curl"' in owner.get("/w/own-lab/").content.decode()
    page = owner.post("/w/own-lab/first-token").content.decode()
    shown = page[page.index('id="curl"') :]
    assert "ls_agent_" in shown[: shown.index("</code>")]
    assert "ls_agent_" not in owner.get("/").content.decode()
    assert Token.objects.filter(name="made on the page").count() == 1


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/nope", "/w/nope/compare", f"/r/{NOBODYS_RUN}", "/r/1"])
def test_a_missing_page_says_what_to_do(path):
    response = Client().get(path)
    assert response.status_code == 404
    assert b"sign in, or ask" in response.content


def test_a_viewer_who_is_signed_in_is_not_asked_to_sign_in(scene):
    client = Client()
    client.force_login(scene.viewer)
    assert "Check the address, or ask the person" in client.get("/nope").content.decode()


def test_a_form_without_its_token_is_refused_with_a_sentence(scene):
    client = Client(enforce_csrf_checks=True)
    client.force_login(scene.own.user)
    response = client.post("/w/own-lab/result-sets/new", {"query": ""})
    assert response.status_code == 403
    assert b"out of date" in response.content


@pytest.mark.django_db
def test_a_failing_page_is_a_page(monkeypatch):
    from backend.web.home import home

    monkeypatch.setattr(home.access, "workspaces_of", lambda _: 1 / 0)
    response = Client(raise_request_exception=False).get("/")
    assert response.status_code == 500
    assert b"The error was logged" in response.content


@pytest.mark.parametrize(
    ("query", "status", "said"),
    [
        ("server=nobody", 400, "no trial has “nobody”"),
        ("workspace=elsewhere", 400, "Recorded: own-lab"),
        ("connections=3", 400, "no trial has “3”"),
        (f"run={NOBODYS_RUN}", 404, ""),
    ],
)
def test_a_comparison_of_what_is_not_there_is_refused(owner, scene, query, status, said):
    answer = owner.get(f"/w/own-lab/compare?{query}")
    assert answer.status_code == status
    assert said in answer.content.decode()


@pytest.mark.parametrize("address", ["compare", "compare.csv", "facets"])
@pytest.mark.parametrize("field", ["server", "connections", "workspace"])
def test_the_api_names_the_unknown_value_and_the_known_ones(owner, scene, address, field):
    answer = owner.get(f"/api/v1/{address}?{field}=31")
    assert answer.status_code == 400
    body = answer.json()
    assert (body["field"], body["got"]) == (field, "31")
    assert body["allowed"]


def test_addresses_without_their_slash_lead_on():
    for path in ("/docs", "/w/own-lab"):
        assert Client().get(path)["Location"] == f"{path}/"


def test_the_address_of_the_token_form_leads_to_its_page(owner, scene):
    assert owner.get("/w/own-lab/first-token")["Location"] == "/w/own-lab/"


def test_signing_in_leads_back_to_the_page(scene):
    """Also from a page that is not shared with strangers, and with what its address asks for."""
    public = make_result_set(scene.own.workspace, Visibility.PUBLIC)
    for path in (f"/s/{public.pk}?metric=p99", "/w/own-lab/compare"):
        html = Client().get(path).content.decode()
        (start,) = re.findall(r'href="(/accounts/login/[^"]*)">Sign in', html)
        assert parse_qs(urlsplit(start).query) == {"next": [path]}
        assert f'name="next" value="{path}"' in Client().get(start).content.decode()
    assert 'href="/accounts/login/">Sign in' in Client().get("/accounts/login/").content.decode()
