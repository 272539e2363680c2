"""A plugin of pytest: each of its processes collects the thousands of tests for less.

Several processes import the same modules at the same time. In a new checkout each would rewrite the
asserts of all: so each begins with a share of them, and reads what the others wrote. What was
collected stays until the end, so the collector of garbage need not look at it again and again.

Each process begins with its share of the long tests: at the end one of them would run alone.
"""

import contextlib
import gc
import importlib
import os
from collections.abc import Generator, Hashable, Iterable, Sequence
from itertools import islice
from pathlib import Path

import pytest

PACKAGE = "backend"
# They start processes, often once for the tests of a module.
STARTING = ("chaos", "processes")
LONG = (*STARTING, "browser", "long")


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    gc.disable()
    try:
        if session.config.args_source is pytest.Config.ArgsSource.TESTPATHS:
            import_share(session.config.rootpath)
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


# After pytest-django, which puts those that need no database last.
@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items[:] = deal(items, int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")))


def deal(items: Sequence[pytest.Item], processes: int) -> Sequence[pytest.Item]:
    """The tests, so that each of as many equal parts begins with its share of the long ones.

    pytest-xdist gives each process one part; one that is done takes from the end of another's.
    """
    shares: list[list[list[pytest.Item]]] = [[] for _ in range(processes)]
    for number, unit in enumerate(long_units(items)):
        shares[number % processes].append(unit)
    short = iter([item for item in items if not is_marked(item, LONG)])
    dealt: list[pytest.Item] = []
    for number, units in enumerate(shares):
        end = len(dealt) + (len(items) - len(dealt)) // (processes - number)
        # Every other process begins at the other end: some wait for what others compute.
        for unit in units[:: -1 if number % 2 else 1]:
            dealt += unit
        dealt += islice(short, max(0, end - len(dealt)))
    return [*dealt, *short]


def long_units(items: Sequence[pytest.Item]) -> Iterable[list[pytest.Item]]:
    """The long tests; those that start processes with all such of their module."""
    units: dict[Hashable, list[pytest.Item]] = {}
    for item in items:
        if is_marked(item, LONG):
            place = item.path if is_marked(item, STARTING) else item
            units.setdefault(place, []).append(item)
    return units.values()


def is_marked(item: pytest.Item, names: Sequence[str]) -> bool:
    return any(map(item.get_closest_marker, names))


def import_share(root: Path) -> None:
    """Import the modules that this process of several begins with."""
    for name in share_of(modules_below(root)):
        # What cannot be imported is told when it is collected.
        with contextlib.suppress(Exception, pytest.skip.Exception):
            importlib.import_module(name)


def modules_below(root: Path) -> Sequence[str]:
    paths = sorted((root / PACKAGE).rglob("test_*.py"))
    return [".".join(path.relative_to(root).with_suffix("").parts) for path in paths]


def share_of(modules: Sequence[str]) -> Sequence[str]:
    """Those of this process; none where it is alone."""
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    if worker is None:
        return []
    return modules[int(worker.removeprefix("gw")) :: int(os.environ["PYTEST_XDIST_WORKER_COUNT"])]
