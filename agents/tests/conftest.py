from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[1] / "src"
sys.path[:0] = [str(SOURCE), str(Path(__file__).resolve().parent)]

from agent_fakes import FakeService, write_fake_wrk  # noqa: E402


@pytest.fixture
def service() -> Iterator[FakeService]:
    with FakeService() as running:
        yield running


@pytest.fixture
def fake_wrk(tmp_path: Path) -> str:
    return write_fake_wrk(tmp_path)


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [name for name in os.environ if name.startswith("LOADSHEET_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("LOADSHEET_CONFIG", str(tmp_path / "login.json"))
    monkeypatch.setenv("LOADSHEET_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("LOADSHEET_SPOOL", str(tmp_path / "spool"))
    monkeypatch.setenv("PYTHONPATH", str(SOURCE))


def pytest_configure() -> None:
    """A shell lets what it starts in the background ignore interrupts, and agents inherit that."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
