"""The processes of the tests begin with different modules, and all of them together with each."""

import gc
from pathlib import Path

from backend.testing.collecting import import_share, modules_below, share_of

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


def test_what_was_collected_is_no_longer_looked_at():
    assert gc.isenabled()
    assert gc.get_freeze_count() > 0
