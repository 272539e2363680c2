"""The page of a trial: figures that point to the numbers they came from, and what is dismissed."""

import re
from pathlib import Path

import pytest
from django.core.cache import caches
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from backend.ingest.models import State
from backend.ingest.queue.worker import process
from backend.runs.amending.dismissals import dismissals_of
from backend.runs.models import Dismissal, Trial
from backend.testing.scenes import PARSED
from backend.testing.uploads import WRK, make_upload
from backend.untrusted.sandbox.parser_failures import ParserFailed
from backend.untrusted.sandbox.quick_sandbox import QuickSandbox

FORMATS = Path(__file__).parents[2] / "formats"


@pytest.fixture
def owner(scene):
    caches["process"].clear()
    client = Client()
    client.force_login(scene.own.user)
    return client


def read(tenant, *texts, **more):
    upload = make_upload(tenant, *texts, **more)
    process(upload.pk)
    upload.refresh_from_db()
    assert upload.state == State.PARSED, upload.reason
    return list(Trial.objects.filter(run=upload.run_id))


def page(client, trial):
    response = client.get(f"/t/{trial.pk}")
    assert response.status_code == 200
    return response.content.decode()


def places(html, figure):
    """The texts of the numbers that a figure's row links to, and how its origin is said."""
    row = html.split(f'<tr id="figure-{figure}">')[1].split("</tr>")[0]
    ids = re.findall(r'href="#(read-[0-9-]+)"', row)
    texts = [re.search(rf'id="{id_}"[^>]*>([^<]+)<', html).group(1) for id_ in ids]
    return texts, re.sub(r"<[^>]+>", " ", row)


def test_each_figure_points_to_the_number_it_was_read_from(owner, scene):
    (trial,) = read(scene.own, WRK)
    html = page(owner, trial)
    assert places(html, "completed")[0] == ["18000"]
    assert places(html, "reported")[0] == ["6000.00"]
    assert places(html, "latency-max")[0] == ["30.51"]
    # The name of a percentile is part of what it was read from; one link for the line.
    assert places(html, "p99")[0] == ["99"]
    assert "line 10" in places(html, "p99")[1]
    texts, said = places(html, "throughput")
    assert texts == ["18000"]
    assert "computed, completed ÷ elapsed" in said
    # The rate in the next line says the elapsed time more exactly.
    assert "lines 11–12" in said
    assert 'href="#figure-completed"' in html


def test_only_the_trial_that_is_asked_for_is_pointed_to(owner, scene):
    second = WRK.replace("18000", "21000").replace("6000.00", "7000.00")
    first, other = read(scene.own, WRK + second)
    assert places(page(owner, first), "completed")[0] == ["18000"]
    assert places(page(owner, other), "completed")[0] == ["21000"]


def test_a_figure_that_is_read_otherwise_now_is_not_pointed_anywhere(owner, scene):
    (trial,) = read(scene.own, WRK)
    Trial.objects.filter(pk=trial.pk).update(
        parsed={**trial.parsed, "requests_completed": 17_000}, requests_completed=17_000
    )
    texts, said = places(page(owner, trial), "completed")
    assert texts == []
    assert "reads another value" in said


def test_output_that_is_too_long_is_shown_without_marks_and_says_so(owner, scene):
    (trial,) = read(scene.own, "\n" * (70 << 10) + WRK)
    html = page(owner, trial)
    assert "more than 64 KiB" in html
    assert 'class="read' not in html
    assert "18000" in html


@pytest.mark.usefixtures("small_files_as_files")
def test_a_missing_file_leaves_the_figures(owner, scene, settings):
    (trial,) = read(scene.own, WRK.replace("18000", "18300"))
    artefact = trial.artefacts.get()
    (settings.DATA_DIR / "artefacts" / artefact.sha256[:2] / artefact.sha256).unlink()
    html = page(owner, trial)
    assert "missing from the storage" in html
    assert "18300" in html


def test_a_trial_names_its_neighbours(owner, scene):
    trials = list(Trial.objects.filter(run=scene.run))
    html = page(owner, trials[1])
    assert f'href="/t/{trials[0].pk}" rel="prev"' in html
    assert f'href="/t/{trials[2].pk}" rel="next"' in html
    assert 'rel="prev"' not in page(owner, trials[0])


def test_the_timeline_is_given_and_absent_where_there_is_none(owner, scene):
    trials = list(Trial.objects.filter(run=scene.run))
    answer = owner.get(f"/api/v1/trials/{trials[0].pk}/timeline").json()
    assert answer["length_s"] == 3.0
    assert [one["completed"] for one in answer["seconds"]] == [6000, 5999, 5998]
    assert answer["seconds"][0]["p99_us"] == 9000.0
    assert answer["seconds"][0]["max_us"] is None
    assert owner.get(f"/api/v1/trials/{trials[1].pk}/timeline").status_code == 404
    assert "data-timeline-url" in page(owner, trials[0])
    assert "data-timeline-url" not in page(owner, trials[1])


def test_unknown_is_said_to_be_unknown(owner, scene):
    trial = Trial.objects.filter(run=scene.run).first()
    assert PARSED.latency.stdev_us is None
    said = places(page(owner, trial), "bytes")[1]
    assert "unknown" in said


def test_a_finding_is_dismissed_with_a_reason_and_taken_back(owner, scene):
    url, run = f"/r/{scene.run.pk}/dismissals", f"/r/{scene.run.pk}"
    response = owner.post(url, {"check": "same-host", "reason": " All  of them <b>share</b> it. "})
    assert response["Location"] == f"{run}#check-same-host"
    standing = dismissals_of([scene.run.pk])[scene.run.pk]
    assert standing["same-host"].reason == "All of them <b>share</b> it."
    assert standing["same-host"].author == scene.own.user
    trial = Trial.objects.filter(run=scene.run).first()
    for path in (run, f"/t/{trial.pk}"):
        html = owner.get(path).content.decode()
        assert "All of them &lt;b&gt;share&lt;/b&gt; it." in html
        assert "Take back" in html
    owner.post(url, {"check": "same-host", "undo": "1"})
    assert dismissals_of([scene.run.pk]).get(scene.run.pk, {}) == {}
    kept = Dismissal.objects.get()
    assert kept.undone_by == scene.own.user
    owner.post(url, {"check": "same-host", "reason": "Again."})
    assert Dismissal.objects.count() == 2


@pytest.mark.parametrize(
    ("asked", "page"),
    [
        ("/w/own-lab/compare?workload=hello", "/w/own-lab/compare?workload=hello"),
        ("/t/1#x", "/t/1"),
        ("https://evil.example/", "/r/{run}"),
        ("//evil.example/", "/r/{run}"),
        ("javascript:alert(1)", "/r/{run}"),
        ("", "/r/{run}"),
    ],
)
def test_who_dismissed_is_led_back_within_this_site(owner, scene, asked, page):
    form = {"check": "same-host", "reason": "Known.", "next": asked}
    answer = owner.post(f"/r/{scene.run.pk}/dismissals", form)
    assert answer["Location"] == f"{page.format(run=scene.run.pk)}#check-same-host"


def test_dismissing_twice_keeps_the_first(owner, scene):
    url = f"/r/{scene.run.pk}/dismissals"
    for reason in ("First.", "Second."):
        assert owner.post(url, {"check": "same-host", "reason": reason}).status_code == 302
    assert Dismissal.objects.get().reason == "First."


@pytest.mark.parametrize(
    ("check", "reason", "said"),
    [
        ("same-host", "  ", "expected 1 to 500"),
        ("same-host", "x" * 501, "has 501 characters"),
        ("exit-code", "Known.", "did not fire in this run"),
        ("", "Known.", "did not fire"),
    ],
)
def test_nothing_is_dismissed_without_a_reason_or_a_finding(owner, scene, check, reason, said):
    response = owner.post(f"/r/{scene.run.pk}/dismissals", {"check": check, "reason": reason})
    assert response.status_code == 400
    assert said in response.content.decode()
    assert not Dismissal.objects.exists()


def test_a_viewer_sees_a_dismissal_and_cannot_make_one(owner, scene):
    owner.post(f"/r/{scene.run.pk}/dismissals", {"check": "same-host", "reason": "Known."})
    viewer = Client()
    viewer.force_login(scene.viewer)
    html = viewer.get(f"/r/{scene.run.pk}").content.decode()
    assert "Known." in html
    assert "Take back" not in html
    assert "Dismiss for this run" not in html


def test_the_checks_of_a_run_link_to_their_trials(owner, scene):
    html = owner.get(f"/r/{scene.run.pk}").content.decode()
    section = html.split('id="check-same-host"')[1].split("</li>")[0]
    links = re.findall(r'href="(/t/[0-9a-f-]+)"', section)
    assert len(links) == 12
    assert owner.get(links[0]).status_code == 200


def test_a_computed_percentile_points_to_the_lines_of_its_distribution(owner, scene):
    capture = FORMATS / "wrk2/tests/captures/rate500-latency-fast/stdout"
    (trial,) = read(scene.own, capture.read_text())
    assert trial.percentiles_origin == "computed"
    html = page(owner, trial)
    _, said = places(html, "p99")
    assert "computed, from the distribution" in said
    assert re.search(r"lines 19–\d\d", said)
    # What is zero because nothing was printed points nowhere.
    assert places(html, "error-connect")[0] == []
    assert "implied by the output" in places(html, "error-connect")[1]
    assert "Computed by Loadsheet from the distribution" in html


def test_counts_that_must_agree_point_to_all_of_them(owner, scene):
    (trial,) = read(scene.own, (FORMATS / "oha/tests/captures/c10-n2000-text/stdout").read_text())
    _, said = places(page(owner, trial), "completed")
    assert "counts that must be equal" in said
    assert "lines 14–24" in said


def test_a_viewer_is_offered_nothing_that_changes(owner, scene):
    viewer = Client()
    viewer.force_login(scene.viewer)
    for path in ("/w/own-lab/", "/w/own-lab/runs", f"/r/{scene.run.pk}"):
        html = viewer.get(path).content.decode()
        assert '/w/own-lab/upload"' not in html, path
        assert "/w/own-lab/settings" not in html, path
    assert "/w/own-lab/upload" in owner.get("/w/own-lab/runs").content.decode()


def test_a_parser_that_fails_on_a_text_is_asked_once(owner, scene, monkeypatch):
    (trial,) = read(scene.own, WRK)
    asked = []

    def fail(self, artefacts, *, entry):
        asked.append(entry)
        raise ParserFailed("Reading this upload took more than 8 s of CPU time.")

    monkeypatch.setattr(QuickSandbox, "trace", fail)
    for _ in range(2):
        html = page(owner, trial)
        assert "took more than 8 s" in html
        assert "18000" in html
    assert asked == [0]


def test_no_envelope_is_read_for_the_page_of_a_trial(owner, scene):
    """Each of eight files of the trial brought 4 MB of JSON."""
    (trial,) = read(scene.own, WRK)
    with CaptureQueriesContext(connection) as asked:
        page(owner, trial)
    statements = [each["sql"] for each in asked if '"ingest_upload"' in each["sql"]]
    assert statements
    assert [sql for sql in statements if re.search(r'"envelope"(?! #>)', sql)] == []
