"""Correcting a run by hand: what changes, what stays as it was read, and undoing it."""

from collections import Counter
from datetime import UTC, datetime

import pytest
from django.db import connection
from django.db.models.signals import post_init
from django.test.utils import CaptureQueriesContext

from backend.analysis.compare.comparison import compare
from backend.analysis.query.compare_query import CompareQuery
from backend.ingest.models import Upload
from backend.ingest.queue.worker import process
from backend.ingest.reading.reading import envelope_of
from backend.ingest.reprocessing.reprocess import reprocess
from backend.runs.amending import editing, regrouping
from backend.runs.amending.editing import CorrectionRefused, correct, undo_correction
from backend.runs.catalogue.catalogue import host_page, server_page, workload_page
from backend.runs.models import Cell, Correction, Host, Run, Series, Server, Trial, Workload
from backend.runs.recording.as_read import trials_sharing_as_read
from backend.testing.uploads import WRK, make_envelope, make_tenant, make_upload

pytestmark = pytest.mark.django_db


@pytest.fixture
def lab():
    return make_tenant("lab")


def read(lab, *texts, envelope=None):
    upload = make_upload(lab, *texts, envelope=envelope)
    process(upload.pk)
    return Run.objects.get(upload=upload)


def outputs(count):
    """Outputs of which none is a copy of another."""
    return [WRK.replace("2.10MB", f"2.{at + 10}MB") for at in range(count)]


@pytest.fixture
def planned(lab):
    return read(lab, *outputs(3), envelope=make_envelope(3))


@pytest.fixture
def saved(lab):
    """A saved output without an envelope."""
    return read(lab, WRK)


def rows_of(run):
    """Everything that is stored of a run but what is made again: ids and times of making."""
    run.refresh_from_db()
    trials = Trial.objects.filter(run=run).select_related("cell__series__server")
    return (
        (run.server_host, run.client_host, run.started_at, run.labels, run.notes, run.as_read),
        [
            (trial.pk, str(trial.cell.series.key), trial.as_read, trial.checks, trial.parsed)
            for trial in trials
        ],
        sorted(
            (str(cell.series.key), cell.trial_count, str(cell.checks), cell.percentiles_us)
            for cell in Cell.objects.filter(run=run)
        ),
    )


def servers_in(run):
    names = Trial.objects.filter(run=run).order_by("ordinal")
    return [str(trial.cell.series.server) for trial in names]


def test_a_corrected_server_is_the_server_everywhere(lab, saved):
    correct(saved.pk, {"server": "caddy", "version": "1.27.1"}, author=lab.user)
    assert servers_in(saved) == ["caddy 1.27.1"]
    listed = server_page([lab.workspace.pk]).rows
    assert [str(server.row) for server in listed] == ["caddy 1.27.1"]
    query = CompareQuery.parse("server=caddy")
    (series,) = compare(query, workspace_ids=[lab.workspace.pk]).series
    assert series.label.startswith("caddy")


def test_what_has_no_trials_left_is_in_no_list(lab, planned):
    slot = Server.objects.get().slot
    values = {"server": "caddy", "workload": "json", "server_host": "a", "client_host": "b"}
    made = correct(planned.pk, values, author=lab.user)
    pages = [page([lab.workspace.pk]) for page in (server_page, workload_page, host_page)]
    assert [[row.name for row in page.rows] for page in pages] == [["caddy"], ["json"], ["a", "b"]]
    assert [page.total for page in pages] == [1, 1, 2]
    for correction in made:
        undo_correction(planned.pk, correction.pk, by=lab.user)
    (row,) = server_page([lab.workspace.pk]).rows
    assert (row.name, row.row.slot) == ("hello", slot)


def test_the_history_says_who_set_what_from_what(lab, saved):
    before = Server.objects.get().name
    made = correct(saved.pk, {"server": "caddy", "version": "1.27.1"}, author=lab.user)
    history = [(each.field, each.before, each.value, each.author) for each in made]
    assert history == [
        ("server", [before], "caddy", lab.user),
        ("version", [None], "1.27.1", lab.user),
    ]


def test_a_run_keeps_so_many_corrections_and_refuses_more(lab, saved, monkeypatch):
    """Each answer about the run lists them, so their number must have an end."""
    monkeypatch.setattr(editing, "MAX_CORRECTIONS", 3)
    for notes in ("first", "second"):
        (made,) = correct(saved.pk, {"notes": notes}, author=lab.user)
        undo_correction(saved.pk, made.pk, by=lab.user)
    expected = "This run has 2 corrections, undone ones included; at most 3 are kept."
    with pytest.raises(CorrectionRefused, match=expected):
        correct(saved.pk, {"notes": "third", "labels": {"a": "b"}}, author=lab.user)
    correct(saved.pk, {"notes": "third"}, author=lab.user)
    assert correct(saved.pk, {"notes": "third"}, author=lab.user) == []
    with pytest.raises(CorrectionRefused, match="This run has 3 corrections"):
        correct(saved.pk, {"notes": "fourth"}, author=lab.user)
    saved.refresh_from_db()
    assert (saved.notes, saved.labels) == ("third", {})


def test_undoing_gives_back_what_was_read(lab, planned):
    before = rows_of(planned)
    values = {
        "server": "caddy",
        "version": None,
        "workload": "json",
        "server_host": "bench-9",
        "client_host": None,
        "started_at": datetime(2025, 1, 1, tzinfo=UTC),
        "labels": {"why": "night"},
        "notes": "The cable was loose.",
    }
    made = correct(planned.pk, values, author=lab.user)
    assert [each.field for each in made] == list(values)
    after = rows_of(planned)
    assert after != before
    assert (planned.labels, planned.notes) == ({"why": "night"}, "The cable was loose.")
    assert str(planned.server_host) == "bench-9"
    assert planned.client_host is None
    for correction in made:
        assert undo_correction(planned.pk, correction.pk, by=lab.user)
    assert rows_of(planned) == before
    assert Correction.objects.filter(undone_by=lab.user).count() == len(values)
    assert not undo_correction(planned.pk, made[0].pk, by=lab.user)


def test_the_latest_correction_that_stands_counts(lab, saved):
    (first,) = correct(saved.pk, {"server": "caddy"}, author=lab.user)
    (second,) = correct(saved.pk, {"server": "nginx"}, author=lab.user)
    undo_correction(saved.pk, first.pk, by=lab.user)
    assert servers_in(saved) == ["nginx"]
    undo_correction(saved.pk, second.pk, by=lab.user)
    assert servers_in(saved)[0].startswith("unknown server")


def test_chosen_trials_become_another_server(lab, planned):
    correct(planned.pk, {"server": "caddy"}, ordinals=[1], author=lab.user)
    assert servers_in(planned) == ["hello 1.0", "caddy 1.0", "hello 1.0"]
    counts = dict(Cell.objects.values_list("series__server__name", "trial_count"))
    assert counts == {"hello": 2, "caddy": 1}
    (correction,) = Correction.objects.all()
    undo_correction(planned.pk, correction.pk, by=lab.user)
    assert Cell.objects.get().trial_count == 3
    assert Series.objects.count() == 1


def test_reading_again_keeps_corrections_and_the_upload_stays(lab, planned):
    upload = Upload.objects.get()
    envelope, files = upload.envelope, list(upload.artefacts.values_list("sha256", flat=True))
    values = {"server": "caddy", "workload": "json", "labels": {"a": "b"}, "notes": "Why."}
    correct(planned.pk, values, author=lab.user)
    correct(planned.pk, {"version": "2"}, ordinals=[2], author=lab.user)
    before = rows_of(planned)
    reprocess(upload.pk)
    assert rows_of(planned) == before
    upload.refresh_from_db()
    assert upload.envelope == envelope
    assert list(upload.artefacts.values_list("sha256", flat=True)) == files
    assert envelope_of(upload).entries[0].server.name == "hello"


def test_a_name_brings_the_host_and_the_workload_that_have_it(lab, planned, saved):
    host, workload = Host.objects.get(), Workload.objects.get(method="GET")
    correct(saved.pk, {"server_host": "here", "workload": "hello"}, author=lab.user)
    saved.refresh_from_db()
    assert saved.server_host == host
    assert Trial.objects.get(run=saved).cell.series.workload == workload


def test_a_name_brings_no_workload_that_the_output_contradicts(lab, planned):
    saved = read(lab, WRK.replace("8080/", "8080/other"))
    correct(saved.pk, {"workload": "hello"}, author=lab.user)
    workload = Trial.objects.get(run=saved).cell.series.workload
    assert (workload.name, workload.path, workload.method) == ("hello", "/other", None)


def test_checks_of_what_was_unknown_follow(lab, saved):
    def fired():
        return {finding["id"] for finding in Trial.objects.get(run=saved).checks}

    assert {"unknown-server-version", "unknown-host"} <= fired()
    made = correct(saved.pk, {"version": "1.0-debug", "server_host": "a"}, author=lab.user)
    assert not {"unknown-server-version", "unknown-host"} & fired()
    for correction in made:
        undo_correction(saved.pk, correction.pk, by=lab.user)
    assert {"unknown-server-version", "unknown-host"} <= fired()


def test_a_run_that_began_at_another_time_took_as_long(lab):
    envelope = make_envelope(1)
    envelope["run"]["finished_at"] = "2026-01-31T12:10:00Z"
    run = read(lab, WRK, envelope=envelope)
    correct(run.pk, {"started_at": datetime(2025, 6, 1, tzinfo=UTC)}, author=lab.user)
    run.refresh_from_db()
    assert run.finished_at == datetime(2025, 6, 1, 0, 10, tzinfo=UTC)


def test_an_end_out_of_range_is_unknown(lab):
    run = read(lab, WRK, envelope=make_envelope(1))
    # As uploads could say it before times in the future were refused.
    Run.objects.filter(pk=run.pk).update(finished_at=datetime(9999, 12, 31, 12, tzinfo=UTC))
    correct(run.pk, {"started_at": datetime(2026, 2, 1, 12, tzinfo=UTC)}, author=lab.user)
    run.refresh_from_db()
    assert run.finished_at is None


def test_labels_notes_and_dates_leave_the_trials_unread(lab, planned):
    values = {"labels": {"a": "b"}, "notes": "Why.", "started_at": datetime(2025, 6, 1, tzinfo=UTC)}
    with CaptureQueriesContext(connection) as made:
        corrections = correct(planned.pk, values, author=lab.user)
        for correction in corrections:
            undo_correction(planned.pk, correction.pk, by=lab.user)
    assert len(corrections) == len(values)
    assert not [query["sql"] for query in made if "runs_trial" in query["sql"]]


def test_a_correction_is_computed_once_for_trials_that_are_alike(lab, monkeypatch):
    run = read(lab, *outputs(12), envelope=make_envelope(12))
    before, read_trial, reads = rows_of(run), regrouping.read_trial, []

    def counted(trial):
        reads.append(trial)
        return read_trial(trial)

    monkeypatch.setattr(regrouping, "read_trial", counted)
    made = correct(run.pk, {"server": "caddy"}, author=lab.user)
    assert len(reads) == 1
    made += correct(run.pk, {"server": "nginx"}, ordinals=[1, 2], author=lab.user)
    assert len(reads) == 3
    names = [name.partition(" ")[0] for name in servers_in(run)]
    assert names == ["caddy", "nginx", "nginx", *["caddy"] * 9]
    for correction in made:
        undo_correction(run.pk, correction.pk, by=lab.user)
    assert rows_of(run) == before


def test_what_trials_share_is_read_once_for_all_of_them(lab):
    envelope = make_envelope(24)
    for number, trial in enumerate(envelope["trials"]):
        trial["load"]["connections"] = 8 * (1 + number % 2)
    run = read(lab, *outputs(24), envelope=envelope)
    made = Counter()

    def count(sender, **_):
        made[sender] += 1

    post_init.connect(count)
    try:
        correct(run.pk, {"server": "caddy"}, author=lab.user)
    finally:
        post_init.disconnect(count)
    assert made[Trial] >= 24
    assert max(made[Cell], made[Series], made[Server], made[Workload], made[Host]) < 24


def test_what_is_so_already_is_no_correction(lab, planned):
    assert correct(planned.pk, {"server": "hello", "labels": {"for": "test"}}, author=None) == []
    assert not Correction.objects.exists()


@pytest.mark.parametrize(
    ("values", "ordinals", "sentence"),
    [
        ({"server": ""}, None, "server: got nothing, expected a name"),
        ({"server": "unknown"}, None, "expected a name"),
        ({"version": "x" * 201}, None, "expected at most 200 characters"),
        ({"workload": "a\0b"}, None, "without NUL"),
        ({"started_at": "yesterday"}, None, "expected a time such as"),
        (
            {"started_at": datetime(9999, 12, 31, tzinfo=UTC)},
            None,
            "got 9999-12-31 00:00, expected a time from 1970 until now",
        ),
        (
            {"started_at": datetime(1, 1, 1, tzinfo=UTC)},
            None,
            "got 1-01-01 00:00, expected a time from 1970",
        ),
        ({"labels": {"a": 1}}, None, "expected at most 100 names with texts"),
        ({"labels": ["a"]}, None, "expected at most 100 names with texts"),
        ({"notes": "x" * 10_001}, None, "expected at most 10000 characters"),
        ({"server": "caddy"}, [9], "this run has no trial 9"),
        ({"server": "caddy"}, [], "got none"),
        ({"notes": "Why."}, [1], "belongs to the whole run"),
    ],
)
def test_what_cannot_be_set_changes_nothing(lab, planned, values, ordinals, sentence):
    before = rows_of(planned)
    with pytest.raises(CorrectionRefused, match=sentence):
        correct(planned.pk, values, ordinals=ordinals, author=lab.user)
    assert rows_of(planned) == before
    assert not Correction.objects.exists()


def test_trials_of_one_upload_share_what_was_read_of_them(lab, planned):
    """10,000 trials of one upload with 40 KB of it each took 2.7 GB of a web process."""
    correct(planned.pk, {"server": "caddy"}, author=lab.user)
    trials = trials_sharing_as_read(Trial.objects.filter(run=planned).order_by("ordinal"))
    assert trials[0].as_read["server"]["name"] == "hello"
    assert len({id(trial.as_read) for trial in trials}) == 1 < len(trials)


def test_labels_are_bounded_by_their_bytes_as_in_an_envelope(lab, saved):
    faces = "\N{GRINNING FACE}" * 150
    labels = {f"{at} {faces}": "x" for at in range(40)}
    with pytest.raises(CorrectionRefused, match="these labels have"):
        correct(saved.pk, {"labels": labels}, author=lab.user)
    assert len(correct(saved.pk, {"labels": dict(list(labels.items())[:20])}, author=None)) == 1
