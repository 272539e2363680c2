"""The same bytes count once, from the upload to the answer."""

import pytest
from django.test import Client

from backend.analysis.pages.repeated_outputs import _with_same_output
from backend.ingest.queue.worker import process
from backend.runs.models import Cell, Trial
from backend.testing.uploads import WRK, make_envelope, make_tenant, make_trial, make_upload

pytestmark = pytest.mark.django_db

OTHER = WRK.replace("18000 requests", "18060 requests").replace("6000.00", "6020.00")
THIRD = WRK.replace("18000 requests", "17940 requests").replace("6000.00", "5980.00")


@pytest.fixture
def tenant():
    return make_tenant()


def upload(tenant, *texts, **over):
    envelope = {**make_envelope(len(texts)), **over}
    row = make_upload(tenant, *texts, envelope=envelope)
    process(row.pk)
    row.refresh_from_db()
    return row


def compare(tenant, query=""):
    answer = Client().get(f"/api/v1/compare?workspace=lab&{query}", headers=tenant.headers)
    assert answer.status_code == 200
    return answer.json()


def fired(figures):
    return {check["id"]: check for check in figures["checks"]}


def test_one_file_named_by_three_trials_is_one_trial(tenant):
    trials = [make_trial(index, artefacts=["0.txt"]) for index in range(3)]
    run = upload(tenant, WRK, trials=trials).run
    figures = compare(tenant)
    (series,) = figures["series"]
    (point,) = series["points"]
    assert point["trials"] == 1
    assert point["metrics"]["throughput"]["each"] == [6000.0]
    assert point["metrics"]["throughput"]["low"] is None
    assert fired(figures)["duplicate"]["count"] == 2
    assert "duplicate" in point["checks"]
    assert "same output as another trial (2 of 3 trials)" in figures["outcome"]["reasons"]
    assert "few-trials" in fired(figures)
    assert Cell.objects.get(run=run).trial_count == 1
    assert Trial.objects.filter(run=run).count() == 3


def test_a_file_uploaded_again_counts_once(tenant):
    for _ in range(5):
        upload(tenant, WRK, OTHER, THIRD)
    (series,) = compare(tenant)["series"]
    (point,) = series["points"]
    assert point["trials"] == 3
    assert sorted(point["metrics"]["throughput"]["each"]) == [5980.0, 6000.0, 6020.0]


def test_along_the_dates_the_first_run_has_the_output(tenant):
    upload(tenant, WRK, OTHER, THIRD)
    upload(tenant, WRK, run={"started_at": "2026-02-01T12:00:00Z"})
    figures = compare(tenant, "x=date")
    assert figures["x"]["values"] == ["2026-01-31 12:00:00"]
    assert fired(figures)["duplicate"]["count"] == 1


def test_new_trials_of_a_run_count_beside_old_ones(tenant):
    upload(tenant, WRK, OTHER)
    upload(tenant, WRK, THIRD)
    (series,) = compare(tenant)["series"]
    assert sorted(series["points"][0]["metrics"]["throughput"]["each"]) == [5980.0, 6000.0, 6020.0]


def test_one_output_under_two_names_is_an_error(tenant):
    for name in ("nginx", "Apache"):
        upload(tenant, WRK, trials=[make_trial(0, server={"name": name, "version": "1"})])
    check = fired(compare(tenant))["same-output"]
    assert (check["severity"], check["count"]) == ("error", 2)


def test_several_results_in_one_file_are_several_trials(tenant):
    row = make_upload(tenant, f"{WRK}\n{OTHER}")
    process(row.pk)
    (series,) = compare(tenant)["series"]
    assert series["points"][0]["trials"] == 2


def test_one_output_in_other_dress_counts_once(tenant):
    dresses = (WRK, WRK.replace("\n", "\r\n"), f"```\n{WRK}```\n", f"$ wrk -c2 http://h/\n{WRK}")
    row = make_upload(tenant, *dresses)
    process(row.pk)
    figures = compare(tenant)
    (series,) = figures["series"]
    assert series["points"][0]["trials"] == 1
    assert series["points"][0]["metrics"]["throughput"]["low"] is None
    assert fired(figures)["duplicate"]["count"] == len(dresses) - 1


def test_one_output_twice_in_one_file_counts_once(tenant):
    row = make_upload(tenant, f"{WRK}\n{WRK}")
    process(row.pk)
    (series,) = compare(tenant)["series"]
    assert series["points"][0]["trials"] == 1


def test_what_is_not_read_beside_a_trial_of_a_plan_is_told(tenant):
    row = upload(tenant, WRK + "\nname,rps,p99\nfirst,41,7\n")
    assert Trial.objects.get(run=row.run).error == ""
    assert "were not read: the table" in row.reason


def test_an_empty_stderr_does_not_make_an_output_another(tenant):
    trials = [make_trial(0), make_trial(1, artefacts=["0.txt", "1.txt"])]
    upload(tenant, WRK, "", trials=trials)
    assert compare(tenant)["series"][0]["points"][0]["trials"] == 1


def test_the_pages_of_run_and_trial_name_the_other_trial(tenant):
    first = upload(tenant, WRK, OTHER).run
    second = upload(tenant, WRK).run
    trials = Client().get(f"/api/v1/runs/{second.pk}", headers=tenant.headers).json()["trials"]
    (check,) = [check for check in trials[0]["checks"] if check["id"] == "duplicate"]
    assert check["detail"] == f"Trial 0 of run {first.pk} has the same output."
    client = Client()
    client.force_login(tenant.user)
    page = client.get(f"/t/{trials[0]['id']}")
    assert f"Trial 0 of run {first.pk} has the same output." in page.content.decode()


def test_one_output_under_two_names_is_not_ranked(tenant):
    texts = (WRK, OTHER, THIRD)
    for name in ("nginx", "Apache"):
        server = {"name": name, "version": "1"}
        upload(tenant, *texts, trials=[make_trial(index, server=server) for index in range(3)])
    rows = compare(tenant)["ranking"]["rows"]
    assert [row["tier"] for row in rows] == [None, None]
    assert all(row["why"] for row in rows)


def checks_of(tenant, run):
    trials = Client().get(f"/api/v1/runs/{run.pk}", headers=tenant.headers).json()["trials"]
    return [
        {check["id"]: check["detail"] for check in trial["checks"] if check["id"] in REPEATED}
        for trial in trials
    ]


REPEATED = ("duplicate", "same-output")


def test_a_trial_is_told_the_first_other_with_its_output_and_how_many_there_are(tenant):
    trials = [make_trial(index, artefacts=["0.txt"]) for index in range(4)]
    run = upload(tenant, WRK, trials=trials).run
    first = {"duplicate": "Trial 1 of this run has the same output, and so do 2 more."}
    others = {"duplicate": "Trial 0 of this run has the same output, and so do 2 more."}
    assert checks_of(tenant, run) == [first, others, others, others]


def test_a_trial_under_another_name_is_told_before_one_under_the_same(tenant):
    def trial(index, name):
        return make_trial(index, artefacts=["0.txt"], server={"name": name, "version": "1"})

    names = ("nginx", "Apache", "nginx", "Caddy")
    run = upload(tenant, WRK, trials=[trial(*each) for each in enumerate(names)]).run
    apache = "Trial 1 of this run, of Apache 1, has the same output, and so does 1 more."
    nginx = "Trial 0 of this run, of nginx 1, has the same output, and so do 2 more."
    assert checks_of(tenant, run) == [
        {"same-output": text} for text in (apache, nginx, apache, nginx)
    ]


def test_of_a_file_that_all_trials_name_few_rows_are_read(tenant):
    """Each of 5,000 such trials was compared with all others: 75 s of a processor."""
    trials = [make_trial(index, artefacts=["0.txt"]) for index in range(60)]
    run = upload(tenant, WRK, trials=trials).run
    (output,) = _with_same_output(run.workspace_id, run_id=run.pk).values()
    assert output.count == 60
    assert [len(named.first) for named in output.by_name.values()] == [2]
