"""What failed in a run stands on its page above what succeeded."""

import pytest

from backend.ingest.models import Upload
from backend.ingest.queue.worker import process
from backend.runs.models import Trial
from backend.testing.uploads import make_upload
from backend.web.runs.failures import MOST_GROUPS, failures_of
from backend.web.tests.pages import html_of


def trial(ordinal, error="", server="nginx 1.27"):
    return {"ordinal": ordinal, "server": server, "workload": "hello", "error": error}


def test_trials_that_failed_for_one_reason_are_one_group_the_largest_first():
    refused, slow = "Connection refused.", "The server did not start."
    failures = failures_of([trial(0), trial(1, slow), trial(2, refused), trial(3, refused)])
    assert (failures.failed, failures.total, failures.others) == (3, 4, 0)
    groups = {group.reason: [each["ordinal"] for each in group.trials] for group in failures.groups}
    assert list(groups.items()) == [(refused, [2, 3]), (slow, [1])]


def test_many_reasons_are_counted():
    failures = failures_of([trial(number, f"reason {number}") for number in range(MOST_GROUPS + 3)])
    assert len(failures.groups) == MOST_GROUPS
    assert failures.others == 3


def test_a_run_without_failures_has_none():
    assert failures_of([trial(0), trial(1)]) is None


@pytest.mark.django_db
def test_the_page_tells_how_many_trials_failed_and_why_above_the_results(owner, scene):
    first, second = Trial.objects.filter(run=scene.run).order_by("ordinal")[:2]
    Trial.objects.filter(pk__in=(first.pk, second.pk)).update(error="wrk ended with <status> 1")
    html = html_of(owner.get(f"/r/{scene.run.pk}"))
    above = html[: html.index('class="tab-list"')]
    assert "2 of 12 trials failed." in above
    assert "secret-server 1.0" in above
    assert "wrk ended with &lt;status&gt; 1" in above
    assert f'<a href="/t/{first.pk}">#0</a>' in above
    assert '<span class="status status-error">2 failed</span>' in html


@pytest.mark.django_db
def test_a_run_whose_trials_all_succeeded_has_no_notice(owner, scene):
    html = html_of(owner.get(f"/r/{scene.run.pk}"))
    assert "trials failed" not in html


@pytest.mark.django_db
def test_the_page_of_a_failed_upload_says_first_that_it_failed_then_why_and_what_to_do(
    owner, scene
):
    upload = make_upload(scene.own, "no output of a load tool")
    process(upload.pk)
    html = html_of(owner.get(f"/u/{upload.pk}"))
    title, reason = html.index("Failed</span>"), html.index("We don&#x27;t recognise this file")
    again = html.index('<a href="/w/own-lab/upload">upload it again</a>')
    assert title < html.index(str(upload.pk)[:8], title) < reason < again
    Upload.objects.filter(pk=upload.pk).update(state="quarantined")
    html = html_of(owner.get(f"/u/{upload.pk}"))
    assert "The fault is in Loadsheet: the operator of this service can" in html
    assert "upload it again" not in html
