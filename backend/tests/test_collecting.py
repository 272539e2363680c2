"""The processes of the tests begin with different modules, and all of them together with each."""

import gc
from pathlib import Path

import pytest

from backend.testing.collecting import deal, import_share, modules_below, share_of

MODULES = ["a", "b", "c", "d", "e"]


def share_of_worker(monkeypatch, worker):
    monkeypatch.setenv("PYTEST_XDIST_WORKER", worker)
    monkeypatch.setenv("PYTEST_XDIST_WORKER_COUNT", "2")
    return share_of(MODULES)


def test_two_processes_share_the_modules(monkeypatch):
    assert share_of_worker(monkeypatch, "gw0") == ["a", "c", "e"]
    assert share_of_worker(monkeypatch, "gw1") == ["b", "d"]


def test_a_process_alone_imports_them_as_it_collects(monkeypatch):
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
    assert share_of(MODULES) == []


def test_the_modules_are_named_as_pytest_names_them():
    assert __name__ in modules_below(Path(__file__).parents[2])


def test_a_module_that_cannot_be_imported_stops_no_process(monkeypatch, tmp_path):
    (tmp_path / "backend").mkdir()
    (tmp_path / "backend" / "test_of_a_typing_error.py").write_text("import nothing at all")
    share_of_worker(monkeypatch, "gw0")
    import_share(tmp_path)


class Item:
    def __init__(self, path, *markers):
        self.path, self.markers = path, markers

    def get_closest_marker(self, name):
        return name if name in self.markers else None


def paths_of(items):
    return [item.path for item in items]


def test_each_part_begins_with_its_share_of_the_long_tests():
    short = [Item(f"short {number}", "database") for number in range(6)]
    long = [
        *(Item("site", "processes"), Item("page 1", "browser"), Item("site", "processes")),
        *(Item("page 2", "browser"), Item("all", "database", "long"), Item("deaths", "chaos")),
    ]
    dealt = paths_of(deal([*short, *long], 2))
    # The tests of one module start their processes once.
    assert dealt[:6] == ["site", "site", "page 2", "deaths", "short 0", "short 1"]
    assert dealt[6:] == ["all", "page 1", "short 2", "short 3", "short 4", "short 5"]


@pytest.mark.parametrize("processes", [1, 2, 3, 7])
@pytest.mark.parametrize("marker", ["browser", "processes", "database"])
def test_however_many_share_them_each_test_is_there_once(processes, marker):
    items = [Item(f"module {number // 3}", marker) for number in range(10)]
    assert sorted(map(id, deal(items, processes))) == sorted(map(id, items))


def test_what_was_collected_is_no_longer_looked_at():
    assert gc.isenabled()
    assert gc.get_freeze_count() > 0
