"""The pages of a catalogue stay whole while rows come and go."""

import pytest

from backend.runs.catalogue import catalogue
from backend.runs.catalogue.catalogue import host_page, server_page
from backend.runs.database.cursors import BadCursor, pack_cursor
from backend.runs.models import Host, Run
from backend.testing.rows import CellSpec, make_run, make_workspace

pytestmark = pytest.mark.django_db


@pytest.fixture
def lab():
    return make_workspace("lab")


def measure_on(lab, **facts):
    """A run on a host of its own."""
    run = make_run(lab, CellSpec())
    host = Host.objects.create(workspace=lab, identity=run.pk.bytes, **facts)
    Run.objects.filter(pk=run.pk).update(server_host=host, client_host=host)
    return host


def test_a_host_that_comes_or_goes_moves_no_other_to_another_page(lab):
    # Two of one name, one without any, and one without a name of its own.
    facts = [{"name": "b"}, {"name": "b"}, {}, {"cpu_model": "c"}, {"name": "z"}]
    hosts = [measure_on(lab, **each) for each in facts]
    seen, after = [], ""
    while after is not None:
        page = host_page([lab.pk], after=after, limit=1)
        seen += [row.id for row in page.rows]
        after = page.next
        if len(seen) == 2:
            measure_on(lab, name="a")
        if len(seen) == 3:
            Run.objects.filter(server_host=hosts[0]).delete()
    assert len(set(seen)) == len(seen)
    assert {host.pk for host in hosts} <= set(seen)


NAMES = ["aiohttp", "Puma", "puma", "Waitress", "WEBrick", "wsgiref"]


def names_page_by_page(page_of, lab):
    names, after = [], ""
    while after is not None:
        page = page_of([lab.pk], after=after, limit=1)
        names += [row.name for row in page.rows]
        after = page.next
    return names


def test_servers_are_listed_by_name_whatever_their_capitals(lab):
    make_run(lab, *(CellSpec(server=name) for name in reversed(NAMES)))
    assert names_page_by_page(server_page, lab) == NAMES


def test_of_a_name_with_many_configurations_some_are_listed(lab, monkeypatch):
    """6,200 of one name took 1.3 GB of a page without a slot."""
    specs = [CellSpec(configuration={"a": "x" * 60, "b": number}) for number in range(6)]
    make_run(lab, *specs, CellSpec(server="zzz", configuration={"a": "x" * 60}))
    (first, other) = server_page([lab.pk]).rows
    assert (len(first.others), len(other.others), first.tally.cells) == (6, 1, 6)
    monkeypatch.setattr(catalogue, "MAX_RELATED", 4)
    assert len(server_page([lab.pk]).rows[0].others) == 4
    monkeypatch.setattr(catalogue, "MOST_TEXT_BYTES", 250)
    (first, other) = server_page([lab.pk]).rows
    assert (len(first.others), len(other.others), first.tally.cells) == (2, 1, 6)


def test_hosts_are_listed_by_name_whatever_their_capitals(lab):
    names = [name for name in NAMES if name != "puma"]
    for name in reversed(names):
        measure_on(lab, name=name)
    assert names_page_by_page(host_page, lab) == names


def test_a_list_that_was_begun_before_an_upgrade_goes_on(lab):
    for name in "abc":
        measure_on(lab, name=name)
    page = host_page([lab.pk], after="1", limit=1)
    rest = host_page([lab.pk], after=page.next, limit=1)
    assert [row.name for row in (*page.rows, *rest.rows)] == ["b", "c"]


@pytest.mark.parametrize(
    "after", ["1" * 9, "x", pack_cursor("a\0", "0" * 32), pack_cursor("a", "b")]
)
def test_what_is_no_cursor_is_refused(lab, after):
    with pytest.raises(BadCursor):
        host_page([lab.pk], after=after)


def test_what_is_kept_of_names_has_a_bound_of_rows(lab, monkeypatch):
    """Of 128 pages of names each had megabytes: of every version of every name on it."""
    make_run(lab, *(CellSpec(server=name) for name in NAMES))
    catalogue._measured.forget()
    monkeypatch.setattr(catalogue._measured, "_most", 5)
    names_page_by_page(server_page, lab)
    weights = [1 + len(kept.finding.last_by_id) for kept in catalogue._measured._kept.values()]
    assert weights
    assert sum(weights) <= 5
