"""A plugin of pytest: each of its processes collects the thousands of tests for less.

Several processes import the same modules at the same time. In a new checkout each would rewrite the
asserts of all: so each begins with a share of them, and reads what the others wrote. What was
collected stays until the end, so the collector of garbage need not look at it again and again.

Tests that start processes come first. Some take minutes: at the end one of them would run alone.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
from collections.abc import Generator, Sequence
from pathlib import Path

import pytest

PACKAGE = "backend"
LONG = ("chaos", "processes")


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
    items.sort(key=is_short)


def is_short(item: pytest.Item) -> bool:
    return not any(map(item.get_closest_marker, LONG))


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
