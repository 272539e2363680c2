"""Merging two servers, hosts or workloads that are one, and undoing it."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from backend.analysis.compare.comparison import compare
from backend.analysis.query.compare_query import CompareQuery
from backend.ingest.queue.worker import process
from backend.ingest.reprocessing.reprocess import reprocess
from backend.runs.amending import merging, regrouping
from backend.runs.amending.editing import correct
from backend.runs.amending.merging import MergeRefused, merge, merges_into, successor_of, undo_merge
from backend.runs.amending.renaming import RenameRefused, rename
from backend.runs.catalogue.catalogue import host_page, server_page, workload_page
from backend.runs.models import Cell, FormerName, Host, Merge, Run, Server, Trial, Workload
from backend.runs.recording import cells
from backend.testing.uploads import WRK, make_envelope, make_tenant, make_upload

pytestmark = pytest.mark.django_db
Kind = FormerName.Kind


@pytest.fixture
def lab():
    return make_tenant("lab")


def read(lab, *, servers=("hello",), workload="hello", host="here", text=WRK):
    envelope = make_envelope(len(servers))
    envelope["hosts"] = {"client": {"name": host}, "server": {"name": host}}
    for trial, server in zip(envelope["trials"], servers, strict=True):
        trial["server"]["name"] = server
        trial["workload"]["name"] = workload
    # Equal outputs would be copies.
    texts = [text.replace("2.10MB read", f"2.1{at}MB read") for at in range(len(servers))]
    upload = make_upload(lab, *texts, envelope=envelope)
    process(upload.pk)
    return Run.objects.get(upload=upload)


def everything(lab):
    """All rows but their times, and the ids of what is made again."""
    workspace = lab.workspace.pk
    pages = [page([workspace]).rows for page in (server_page, workload_page, host_page)]
    trials = Trial.objects.select_related("cell__series__server").order_by("run", "ordinal")
    return (
        [[(row.id, row.name, getattr(row.row, "slot", None)) for row in page] for page in pages],
        [(trial.pk, str(trial.cell.series.key), str(trial.cell.series)) for trial in trials],
        sorted((str(cell.series.key), cell.trial_count) for cell in Cell.objects.all()),
        [(str(run.server_host), str(run.client_host)) for run in Run.objects.order_by("pk")],
    )


def servers_of(lab, query):
    answer = compare(CompareQuery.parse(query), workspace_ids=[lab.workspace.pk])
    return [series.label for series in answer.series]


def test_a_merged_server_is_one_server_and_old_links_lead_on(lab):
    read(lab, servers=["caddy-server"])
    read(lab, servers=["caddy"], text=WRK + "x\n")
    merged = merge(lab.workspace, Kind.SERVER, "caddy-server", "caddy", lab.user)
    (row,) = server_page([lab.workspace.pk]).rows
    assert (row.name, row.tally.runs) == ("caddy", 2)
    assert len(servers_of(lab, "server=caddy-server")) == 1
    assert successor_of(lab.workspace, Kind.SERVER, merged.rows[0]["id"]) == row.id
    assert merges_into(lab.workspace, Kind.SERVER, "caddy") == [merged]


@pytest.mark.parametrize(
    ("kind", "first", "second"),
    [
        (Kind.SERVER, {"servers": ["a", "a"]}, {"servers": ["b"]}),
        (Kind.WORKLOAD, {"workload": "a"}, {"workload": "b"}),
        (Kind.HOST, {"host": "a"}, {"host": "b"}),
    ],
)
def test_undoing_a_merge_gives_everything_back(lab, kind, first, second):
    read(lab, **first)
    read(lab, **second, text=WRK + "x\n")
    before = everything(lab)
    merged = merge(lab.workspace, kind, "a", "b", lab.user)
    assert everything(lab) != before
    assert undo_merge(merged, by=lab.user)
    assert everything(lab) == before
    assert not FormerName.objects.exists()
    assert not undo_merge(merged, by=lab.user)


def test_two_servers_of_one_run_become_one_cell(lab):
    read(lab, servers=["a", "b", "a"])
    before = everything(lab)
    merged = merge(lab.workspace, Kind.SERVER, "a", "b", lab.user)
    assert Cell.objects.get().trial_count == 3
    undo_merge(merged, by=lab.user)
    assert everything(lab) == before


def test_what_comes_later_under_the_old_name_is_undone_too(lab):
    read(lab, servers=["a"])
    read(lab, servers=["b"], text=WRK + "x\n")
    merged = merge(lab.workspace, Kind.SERVER, "a", "b", lab.user)
    later = read(lab, servers=["a"], text=WRK + "y\n")
    assert str(Trial.objects.get(run=later).cell.series.server) == "b 1.0"
    undo_merge(merged, by=lab.user)
    assert str(Trial.objects.get(run=later).cell.series.server) == "a 1.0"


def test_reading_again_changes_no_merge_and_no_undoing(lab):
    run = read(lab, servers=["a"])
    read(lab, servers=["b"], text=WRK + "x\n")
    merged = merge(lab.workspace, Kind.SERVER, "a", "b", lab.user)
    after = everything(lab)
    reprocess(run.upload.pk)
    assert everything(lab) == after
    undo_merge(merged, by=lab.user)
    assert server_page([lab.workspace.pk]).total == 2


def test_names_before_a_merge_lead_on_and_come_back(lab):
    read(lab, servers=["first"])
    read(lab, servers=["b"], text=WRK + "x\n")
    rename(lab.workspace, Kind.SERVER, "first", "a", None)
    merged = merge(lab.workspace, Kind.SERVER, "a", "b", lab.user)
    assert len(servers_of(lab, "server=first")) == 1
    rename(lab.workspace, Kind.SERVER, "b", "c", None)
    undo_merge(merged, by=lab.user)
    names = dict(FormerName.objects.values_list("former", "current"))
    assert names == {"first": "a", "b": "c"}
    assert {row.name for row in server_page([lab.workspace.pk]).rows} == {"a", "c"}


def test_undoing_a_merge_leaves_names_that_were_used_otherwise_since(lab):
    for number, name in enumerate("abcd"):
        read(lab, servers=[name], text=WRK + "x" * number)
    first = merge(lab.workspace, Kind.SERVER, "a", "b", lab.user)
    second = merge(lab.workspace, Kind.SERVER, "b", "c", lab.user)
    undo_merge(first, by=lab.user)
    merge(lab.workspace, Kind.SERVER, "a", "d", lab.user)
    undo_merge(second, by=lab.user)
    assert dict(FormerName.objects.values_list("former", "current")) == {"a": "d"}
    assert {row.name for row in server_page([lab.workspace.pk]).rows} == {"b", "c", "d"}


def test_a_corrected_name_that_was_merged_comes_back_too(lab):
    run = read(lab, servers=["foo"])
    read(lab, servers=["a"], text=WRK + "x\n")
    read(lab, servers=["b"], text=WRK + "y\n")
    correct(run.pk, {"server": "a"}, author=lab.user)
    merged = merge(lab.workspace, Kind.SERVER, "a", "b", lab.user)
    assert str(Trial.objects.get(run=run).cell.series.server) == "b 1.0"
    undo_merge(merged, by=lab.user)
    assert str(Trial.objects.get(run=run).cell.series.server) == "a 1.0"


def test_the_name_of_a_merge_that_stands_is_not_given_away(lab):
    """Undoing the merge gives it back, and two things would have it."""
    read(lab, servers=["a"])
    read(lab, servers=["b"], text=WRK + "x\n")
    before = everything(lab)
    merged = merge(lab.workspace, Kind.SERVER, "a", "b", lab.user)
    with pytest.raises(RenameRefused, match="The server “a” was merged"):
        rename(lab.workspace, Kind.SERVER, "b", "a", None)
    undo_merge(merged, by=lab.user)
    assert everything(lab) == before


@pytest.mark.parametrize(
    ("source", "target", "sentence"),
    [
        ("a", "a", "cannot be merged with itself"),
        ("a", "none", "There is no server named “none”"),
        ("none", "a", "There is no server named “none” any more"),
    ],
)
def test_only_two_servers_are_merged(lab, source, target, sentence):
    read(lab, servers=["a"])
    with pytest.raises(MergeRefused, match=sentence):
        merge(lab.workspace, Kind.SERVER, source, target, lab.user)


@pytest.mark.parametrize("kind", Kind)
def test_more_runs_than_can_be_undone_in_a_request_are_not_merged(lab, monkeypatch, kind):
    names = {Kind.SERVER: "servers", Kind.WORKLOAD: "workload", Kind.HOST: "host"}[kind]
    for number, name in enumerate(["a", "a", "b"]):
        read(lab, **{names: [name] if kind == Kind.SERVER else name}, text=WRK + "x" * number)
    monkeypatch.setattr(merging, "MAX_RUNS", 1)
    with pytest.raises(MergeRefused, match="“a” has 2 runs; at most 1 can be merged"):
        merge(lab.workspace, kind, "a", "b", lab.user)
    merge(lab.workspace, kind, "b", "a", lab.user)


@pytest.mark.parametrize("kind", Kind)
def test_more_trials_than_can_be_undone_in_a_request_are_not_merged(lab, monkeypatch, kind):
    read(lab, servers=["a"], workload="a", host="a")
    read(lab, servers=["b"], workload="b", host="b", text=WRK + "x")
    monkeypatch.setattr(merging, "MAX_TRIALS", 0)
    with pytest.raises(MergeRefused, match=r"“a” has 1 trials; at most 0 can be merged"):
        merge(lab.workspace, kind, "a", "b", lab.user)


def watch_portions(monkeypatch):
    """How many runs are computed again together, in a list."""
    together, regroup_trials = [], regrouping._regroup_trials

    def watched(runs, corrections):
        together.append(len(runs))
        regroup_trials(runs, corrections)

    monkeypatch.setattr(regrouping, "_regroup_trials", watched)
    return together


@pytest.mark.parametrize(
    ("limits", "portions"),
    [
        ({}, [3]),
        ({"RUNS_AT_ONCE": 2}, [2, 1]),
        ({"TRIALS_AT_ONCE": 2}, [2, 1]),
        ({"TRIALS_AT_ONCE": 0}, [1, 1, 1]),
        ({"BYTES_AT_ONCE": 0}, [1, 1, 1]),
    ],
)
def test_runs_of_many_trials_are_computed_again_in_portions(lab, monkeypatch, limits, portions):
    for number in range(3):
        read(lab, servers=["a"], text=WRK + "x" * number + "\n")
    read(lab, servers=["b"], text=WRK + "y\n")
    before = everything(lab)
    merged = merge(lab.workspace, Kind.SERVER, "a", "b", lab.user)
    for name, limit in limits.items():
        monkeypatch.setattr(regrouping, name, limit)
    together = watch_portions(monkeypatch)
    assert undo_merge(merged, by=None)
    assert together == portions
    assert everything(lab) == before


@pytest.mark.parametrize(
    "large",
    [
        {"server_tails": {"a": "x" * 60_000}},
        {"as_read": {"notes": "x" * 60_000}},
        {"trials__load": {"connections": 8, "unknown": "x" * 60_000}},
        # 10 runs of 380 configurations each took hundreds of MB of a web process.
        {"servers__configuration": {"key": "x" * 60_000}},
    ],
)
def test_large_runs_are_computed_again_a_few_at_a_time(lab, monkeypatch, large):
    for number in range(4):
        read(lab, servers=["a"], text=WRK + "x" * number + "\n")
    read(lab, servers=["b"], text=WRK + "y\n")
    ((column, value),) = large.items()
    path, _, name = column.rpartition("__")
    rows = {"trials": Trial, "servers": Server}.get(path, Run)
    rows._default_manager.update(**{name: value})
    merged = merge(lab.workspace, Kind.SERVER, "a", "b", lab.user)
    assert regrouping.BYTES_AT_ONCE < 16 << 20
    monkeypatch.setattr(regrouping, "BYTES_AT_ONCE", 100_000)
    together = watch_portions(monkeypatch)
    assert undo_merge(merged, by=None)
    assert together == [1, 1, 1, 1]


def test_what_the_servers_of_a_run_printed_is_read_a_few_trials_at_a_time(lab, monkeypatch):
    """10,000 trials of one run may have 800 MB of it."""
    read(lab, servers=["a"] * 4)
    read(lab, servers=["b"], text=WRK + "y\n")
    Trial.objects.update(server_tail="x" * 60_000 + " Debug mode: on")
    merged = merge(lab.workspace, Kind.SERVER, "a", "b", lab.user)
    Trial.objects.update(checks=[])
    monkeypatch.setattr(regrouping, "BYTES_AT_ONCE", 130_000)
    together = []
    changed_checks = regrouping._changed_checks

    def watch(rows, named):
        together.append(len(rows := list(rows)))
        return changed_checks(rows, named)

    monkeypatch.setattr(regrouping, "_changed_checks", watch)
    assert undo_merge(merged, by=None)
    assert together == [2, 2]
    again = Trial.objects.filter(cell__series__server__name="a")
    assert all("development-mode" in {each["id"] for each in trial.checks} for trial in again)


@pytest.mark.parametrize("kind", Kind)
def test_merging_and_undoing_read_no_plan_and_no_facts(lab, kind):
    for name in ("a", "b"):
        read(lab, servers=[name], workload=name, host=name, text=f"{WRK}{name}")
    with CaptureQueriesContext(connection) as statements:
        undo_merge(merge(lab.workspace, kind, "a", "b", lab.user), by=None)
    unread = [f'"runs_run"."{name}",' for name in ("plan", "facts", "events", "max_rates")]
    assert not [each for each in statements if any(column in each["sql"] for column in unread)]


def test_merging_takes_as_many_statements_for_many_cells_as_for_few(lab):
    counts = []
    for runs in (2, 8):
        for number in range(runs):
            text = f"{WRK}{runs * 100 + number}\n"
            read(lab, servers=[f"a{runs}", f"b{runs}"], text=text)
        with CaptureQueriesContext(connection) as statements:
            merge(lab.workspace, Kind.SERVER, f"a{runs}", f"b{runs}", lab.user)
        joined = Cell.objects.filter(series__server__name=f"b{runs}")
        assert [cell.trial_count for cell in joined] == [2] * runs
        counts.append(len(statements))
    assert counts[0] == counts[1]


@pytest.mark.parametrize("limit", ["JOINED_AT_ONCE", "BYTES_AT_ONCE"])
def test_cells_of_many_runs_are_joined_in_portions(lab, monkeypatch, limit):
    for number in range(3):
        read(lab, servers=["a", "b"], text=f"{WRK}{number}\n")
    before, cells_before = everything(lab), Cell.objects.count()
    monkeypatch.setattr(cells, limit, 1)
    merged = merge(lab.workspace, Kind.SERVER, "a", "b", lab.user)
    assert (cells_before, Cell.objects.count()) == (6, 3)
    assert {cell.trial_count for cell in Cell.objects.all()} == {2}
    assert undo_merge(merged, by=None)
    assert everything(lab) == before


def test_a_server_can_be_renamed_to_what_a_correction_left(lab):
    run = read(lab, servers=["a"])
    correct(run.pk, {"server": "b"}, author=lab.user)
    rename(lab.workspace, Kind.SERVER, "b", "a", None)
    assert [row.name for row in server_page([lab.workspace.pk]).rows] == ["a"]
    assert Server.objects.count() == Host.objects.count() == Workload.objects.count() == 1


def test_a_merge_whose_name_is_in_use_again_is_not_undone(lab):
    """A workspace could give the name back before renaming refused that."""
    read(lab, servers=["old"])
    read(lab, servers=["new"], text=WRK + "x\n")
    merged = merge(lab.workspace, Kind.SERVER, "old", "new", lab.user)
    FormerName.objects.all().delete()
    Merge.objects.update(undone_at=timezone.now())
    rename(lab.workspace, Kind.SERVER, "new", "old", lab.user)
    Merge.objects.update(undone_at=None)
    before = everything(lab)
    with pytest.raises(MergeRefused, match="There is a server “old” again") as refused:
        undo_merge(merged, by=lab.user)
    assert refused.value.hint == "Rename that server, then undo the merge."
    assert everything(lab) == before
    assert Merge.objects.get().undone_at is None
    rename(lab.workspace, Kind.SERVER, "old", "newer", lab.user)
    assert undo_merge(merged, by=lab.user)
    assert {row.name for row in server_page([lab.workspace.pk]).rows} == {"old", "newer"}


@pytest.mark.parametrize("kind", Kind)
def test_undoing_takes_as_many_statements_for_many_runs_as_for_few(lab, kind):
    counts = []
    for runs in (2, 12):
        names = {Kind.SERVER: "servers", Kind.HOST: "host", Kind.WORKLOAD: "workload"}
        for number in range(runs):
            name = [f"a{runs}"] if kind == Kind.SERVER else f"a{runs}"
            read(lab, **{names[kind]: name}, text=f"{WRK}{runs * 100 + number}\n")
        other = [f"b{runs}"] if kind == Kind.SERVER else f"b{runs}"
        read(lab, **{names[kind]: other}, text=f"{WRK}{runs}\n")
        merged = merge(lab.workspace, kind, f"a{runs}", f"b{runs}", lab.user)
        with CaptureQueriesContext(connection) as statements:
            assert undo_merge(merged, by=lab.user)
        counts.append(len(statements))
    assert counts[0] == counts[1]


def test_merges_that_were_undone_long_ago_are_forgotten(lab, monkeypatch):
    read(lab, servers=["a"])
    read(lab, servers=["b"], text=WRK + "x")
    monkeypatch.setattr(merging, "UNDONE_KEPT", 2)
    made = []
    for _ in range(3):
        made.append(merge(lab.workspace, Kind.SERVER, "a", "b", lab.user))
        undo_merge(made[-1], by=lab.user)
    standing = merge(lab.workspace, Kind.SERVER, "a", "b", lab.user)
    assert set(Merge.objects.values_list("pk", flat=True)) == {
        *(merged.pk for merged in made[1:]),
        standing.pk,
    }


def test_beside_each_trial_only_what_differs_of_it_is_kept(lab):
    """Two merges stored 40 KB beside each of 10,000 trials, which counted in no quota."""
    run = read(lab, servers=["a"])
    read(lab, servers=["b"], workload="other")
    correct(run.pk, {"version": "2.0"}, author=lab.user)
    before = everything(lab)
    renamed = ((Kind.SERVER, "a", "b"), (Kind.WORKLOAD, "hello", "other"))
    merges = [merge(lab.workspace, *each, lab.user) for each in renamed]
    (trial,) = Trial.objects.filter(run=run)
    assert trial.as_read.keys() == {"server", "workload"}
    assert trial.as_read["server"].keys() == {"name", "version"}
    assert trial.as_read["workload"] == {"name": "hello"}
    for merged in reversed(merges):
        assert undo_merge(merged, by=None)
    assert everything(lab) == before
