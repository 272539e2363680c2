"""The processes of the tests begin with different modules, and all of them together with each."""

import gc
from pathlib import Path

from backend.testing.collecting import (
    import_share,
    modules_below,
    pytest_collection_modifyitems,
    share_of,
)

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
    def __init__(self, *markers):
        self.markers = markers

    def get_closest_marker(self, name):
        return name if name in self.markers else None


def test_what_starts_processes_comes_first_in_its_order():
    items = [Item("database"), Item("processes"), Item("browser"), Item("database", "chaos")]
    pytest_collection_modifyitems(items)
    assert [item.markers[-1] for item in items] == ["processes", "chaos", "database", "browser"]


def test_what_was_collected_is_no_longer_looked_at():
    assert gc.isenabled()
    assert gc.get_freeze_count() > 0
