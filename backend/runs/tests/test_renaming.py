"""Renaming things: their rows keep their ids, and every name they had still means them."""

import uuid
from contextlib import ExitStack

import pytest
from django.db import OperationalError, connection, transaction
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.accounts.models import User, Workspace
from backend.formats.model import ParsedTrial
from backend.formats.read_trial import ReadTrial
from backend.runs.amending.renaming import MAX_NAME, RenameRefused, former_names, rename
from backend.runs.catalogue.listing import run_page
from backend.runs.catalogue.search import RunSearch
from backend.runs.measured.measured import TrialRecord
from backend.runs.models import Cell, FormerName, Host, Run, Series, Server, Trial, Workload
from backend.runs.recording.record import RunInput, record_run, rerecord_run
from backend.runs.registry import registry
from backend.runs.registry.identity import identity_of
from backend.runs.registry.registry import (
    MOST_WAITING_OF_WORKSPACE,
    NamesBusy,
    SeriesIdentity,
    current_name,
    lock_names,
    register_series,
    register_servers,
    register_workloads,
)
from backend.testing.rows import make_workspace

pytestmark = pytest.mark.django_db
Kind = FormerName.Kind
HOST = {"name": "bench-1", "cpu_model": "Xeon", "cores": 2}


@pytest.fixture
def lab():
    return make_workspace("lab")


def record_of(server="a", workload="hello", version="1", ordinal=0, **more):
    return TrialRecord(
        ordinal=ordinal,
        server={"name": server, "version": version, "configuration": {"workers": 4}},
        workload={"name": workload, "method": "GET", "headers": {"Accept": "*/*"}},
        load={"tool": "wrk", "loop": "closed", "connections": 64},
        reading=ReadTrial(
            parsed=ParsedTrial(tool="wrk", elapsed_s=1.0, requests_completed=10, requests_ok=10)
        ),
        **more,
    )


def facts_of(lab, host=HOST, run_id=None):
    id_ = run_id or uuid.uuid4()
    return RunInput(id=id_, workspace=lab, server_host=host, client_host=host)


def record(lab, *records, host=HOST):
    facts = facts_of(lab, host)
    record_run(facts, records or [record_of()])
    return facts.id


def names(model, lab):
    return sorted(model.objects.filter(workspace=lab).values_list("name", flat=True))


def version_of(lab):
    return Workspace.objects.get(pk=lab.pk).data_version


RENAMES = [
    (Kind.SERVER, Server, "a"),
    (Kind.WORKLOAD, Workload, "hello"),
    (Kind.HOST, Host, "bench-1"),
]


@pytest.mark.parametrize(("kind", "model", "former"), RENAMES)
def test_everything_of_the_name_gets_the_new_one_and_keeps_its_id(lab, kind, model, former):
    record(lab, record_of(), record_of(version="2", ordinal=1))
    rows = set(model.objects.values_list("pk", flat=True))
    series = set(Series.objects.values_list("pk", flat=True))
    version = version_of(lab)
    author = User.objects.create_user(username="ann", password=None)
    assert rename(lab, kind, former, "  new \n name ", author) == "new name"
    assert set(names(model, lab)) == {"new name"}
    assert version_of(lab) > version
    (kept,) = former_names(lab, kind, "new name")
    assert (kept.former, kept.author) == (former, author)
    for one in Series.objects.select_related("server", "workload", "server_host", "client_host"):
        assert bytes(one.key) == SeriesIdentity.of(one).key
    # What comes under either name is the same thing, and no row more.
    for name in (former, "new name"):
        said = {Kind.SERVER: "a", Kind.WORKLOAD: "hello", Kind.HOST: "bench-1", kind: name}
        pair = said[Kind.SERVER], said[Kind.WORKLOAD]
        both = record_of(*pair), record_of(*pair, version="2", ordinal=1)
        record(lab, *both, host={**HOST, "name": said[Kind.HOST]})
    assert set(model.objects.values_list("pk", flat=True)) == rows
    assert set(Series.objects.values_list("pk", flat=True)) == series


@pytest.mark.parametrize(("kind", "model", "former"), RENAMES)
def test_what_is_not_meant_stays(lab, kind, model, former):
    other = make_workspace("other")
    record(other)
    record(lab)
    record(lab, record_of("b", "big"), host={**HOST, "name": "bench-2"})
    before = {row.pk: row for row in model.objects.exclude(workspace=lab, name=former)}
    keys = dict(Series.objects.filter(workspace=other).values_list("pk", "key"))
    rename(lab, kind, former, "new", None)
    for row in model.objects.filter(pk__in=before):
        assert row.name == before[row.pk].name
        assert bytes(row.identity) == bytes(before[row.pk].identity)
    assert dict(Series.objects.filter(workspace=other).values_list("pk", "key")) == keys
    for theirs in {*Kind} - {kind}:
        assert not FormerName.objects.filter(kind=theirs).exists()


def test_a_new_version_under_the_former_name_is_of_the_renamed_server(lab):
    record(lab, record_of("first"), record_of("a", ordinal=1))
    rename(lab, Kind.SERVER, "a", "b", None)
    record(lab, record_of("a", version="3"))
    assert names(Server, lab) == ["b", "b", "first"]
    assert set(Server.objects.filter(name="b").values_list("slot", flat=True)) == {1}


def test_a_reread_run_is_of_the_renamed_server(lab):
    run_id = record(lab)
    (server,) = Server.objects.all()
    rename(lab, Kind.SERVER, "a", "b", None)
    rerecord_run(facts_of(lab, run_id=run_id), [record_of()])
    assert list(Server.objects.values_list("pk", "name")) == [(server.pk, "b")]
    assert Cell.objects.get(run=run_id).series.server == server
    assert (Run.objects.count(), Trial.objects.count()) == (1, 1)


def test_chains_are_pointed_on_and_a_name_can_be_given_back(lab):
    record(lab)
    had = {"a"}
    for former, current in ("ab", "bc", "ca", "ad", "db"):
        rename(lab, Kind.SERVER, former, current, None)
        had.add(current)
        assert names(Server, lab) == [current]
        assert all(current_name([lab.pk], Kind.SERVER, name) == current for name in had)
        assert set(FormerName.objects.values_list("current", flat=True)) == {current}
    assert [one.former for one in former_names(lab, Kind.SERVER, "b")] == ["a", "c", "d"]
    (server,) = Server.objects.all()
    first_fields = ("name", "version", "runtime", "configuration")
    fields = {name: getattr(server, name) for name in first_fields}
    assert bytes(server.identity) == identity_of(fields)


@pytest.mark.parametrize(
    ("current", "said"),
    [
        ("", "has 0 characters; expected 1 to 200"),
        (" \n ", "has 0 characters; expected 1 to 200"),
        ("x" * (MAX_NAME + 1), "has 201 characters; expected 1 to 200"),
        ("a\0b", "without NUL"),
        ("unknown", "is reserved"),
        ("a", "already has the name “a”"),
        ("b", "Another server has the name “b”"),
        ("once-c", "former name of the server “c”"),
    ],
)
def test_refused_and_nothing_changed(lab, current, said):
    record(lab, *(record_of(name, ordinal=n) for n, name in enumerate(["a", "b", "once-c"])))
    rename(lab, Kind.SERVER, "once-c", "c", None)
    before = names(Server, lab), FormerName.objects.count(), version_of(lab)
    with pytest.raises(RenameRefused) as refused:
        rename(lab, Kind.SERVER, "a", current, None)
    assert said in str(refused.value)
    assert (names(Server, lab), FormerName.objects.count(), version_of(lab)) == before


def test_a_swap_is_refused_over_a_third_name_too(lab):
    record(lab, record_of("a"), record_of("b", ordinal=1))
    rename(lab, Kind.SERVER, "a", "c", None)
    with pytest.raises(RenameRefused, match="former name of the server “c”"):
        rename(lab, Kind.SERVER, "b", "a", None)
    with pytest.raises(RenameRefused, match="no server named “a” any more"):
        rename(lab, Kind.SERVER, "a", "d", None)


def test_rows_that_differ_only_as_sent_are_not_merged(lab):
    for workers in (100, 1e2):
        register_servers(lab, [{"name": "a", "configuration": {"workers": workers}}])
    assert Server.objects.count() == 2
    Server.objects.update(configuration={"workers": 100})
    with pytest.raises(RenameRefused, match="would become one"):
        rename(lab, Kind.SERVER, "a", "b", None)
    assert names(Server, lab) == ["a", "a"]
    assert not FormerName.objects.exists()


def test_a_renaming_waits_for_recordings_and_they_wait_for_it_alone(lab):
    record(lab)
    assert held() == ["ShareLock"]
    rename(lab, Kind.SERVER, "a", "b", None)
    assert held() == ["ExclusiveLock", "ShareLock"]


def held():
    """The modes of the locks that the test's transaction has on names."""
    mine = "locktype = 'advisory' AND pid = pg_backend_pid()"
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT mode FROM pg_locks WHERE {mine} ORDER BY mode")
        return [mode for (mode,) in cursor.fetchall()]


def test_few_requests_wait_for_names_and_others_are_told_to_come_later(lab):
    """A merge keeps the names of its workspace for seconds: all threads could wait for it."""
    other = connection.copy()
    try:
        with other.cursor() as cursor:
            key = int.from_bytes(lab.pk.bytes[:8], signed=True)
            cursor.execute("SELECT pg_advisory_lock(%s)", [key])
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL lock_timeout = '10ms'")
        # Each that waited in vain leaves its place.
        for _ in range(MOST_WAITING_OF_WORKSPACE + 1):
            with pytest.raises(OperationalError), transaction.atomic():
                lock_names(lab)
        with ExitStack() as places:
            for _ in range(MOST_WAITING_OF_WORKSPACE):
                places.enter_context(registry._place_to_wait(lab.pk))
            with pytest.raises(NamesBusy):
                rename(lab, Kind.SERVER, "a", "b", None)
            # Others find a place beside them.
            with registry._place_to_wait(uuid.uuid4()):
                pass
        assert not registry._waiting
    finally:
        other.close()


NAMES = st.sampled_from("abcde")


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(NAMES, NAMES), max_size=8))
def test_whatever_is_renamed_every_name_means_the_thing_that_had_it(renames):
    lab = make_workspace(uuid.uuid4().hex)
    workload = register_workloads(lab, [{"name": "hello"}])[0]
    servers = {name: register_servers(lab, [{"name": name}])[0] for name in "abc"}
    register_series(
        lab,
        [
            SeriesIdentity(
                server, workload, None, None, tool="wrk", tool_version=None, loop="closed"
            )
            for server in servers.values()
        ],
    )
    things = {name: server.pk for name, server in servers.items()}
    current = {pk: name for name, pk in things.items()}
    for former, new in renames:
        thing = next((pk for pk, name in current.items() if name == former), None)
        allowed = thing is not None and new != former and things.get(new, thing) == thing
        try:
            rename(lab, Kind.SERVER, former, new, None)
        except RenameRefused:
            assert not allowed
        else:
            assert allowed
            things[new], current[thing] = thing, new
        for name, pk in things.items():
            found = register_servers(lab, [{"name": name}])[0]
            assert (found.pk, found.name) == (pk, current[pk])


def test_servers_registered_together_get_slots_and_current_names_in_order(lab):
    record(lab, record_of("old"), record_of("stays", ordinal=1))
    rename(lab, Kind.SERVER, "old", "new", None)
    names_sent = ["second", "old", "stays", "first", "second", "new"]
    versions = [None, "2", None, None, "2", "2"]
    servers = register_servers(
        lab,
        [
            {"name": name, "version": version}
            for name, version in zip(names_sent, versions, strict=True)
        ],
    )
    assert [server.name for server in servers] == [
        "second",
        "new",
        "stays",
        "first",
        "second",
        "new",
    ]
    assert [server.slot for server in servers] == [2, 0, 1, 3, 2, 0]
    assert servers[1] == servers[5]
    again = register_servers(lab, [{"name": "first"}])
    assert again == [servers[3]]


def test_runs_are_found_by_a_former_name(lab):
    record(lab, record_of("old-sync"))
    rename(lab, Kind.SERVER, "old-sync", "gthread", None)
    for word in ("old-sy", "gthread"):
        assert len(run_page([lab.pk], search=RunSearch(q=word)).rows) == 1, word
    assert not run_page([lab.pk], search=RunSearch(q="older")).rows
