"""The single file: unpacks itself once, runs everything, and says where it cannot."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest
from agent_fakes import FakeService, write_plan

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT))

import build_pyz  # noqa: E402

pytestmark = pytest.mark.processes

HERE = f"{platform.system()}-{platform.machine()}".lower()


@pytest.fixture(autouse=True)
def nothing_is_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    """The dependencies are those of this environment."""

    def make(target: Path, *_: object, **__: object) -> None:
        target.mkdir(parents=True, exist_ok=True)

    monkeypatch.setattr(build_pyz, "_install", make)


@pytest.fixture
def pyz(tmp_path: Path) -> Path:
    build_pyz.build(tmp_path / "loadsheet.pyz", [HERE])
    return tmp_path / "loadsheet.pyz"


def run(pyz: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    environ = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        [sys.executable, str(pyz), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**environ, "XDG_CACHE_HOME": str(pyz.parent / "cache")},
    )


@pytest.mark.skipif(HERE not in build_pyz.PLATFORMS, reason="no file is built for this platform")
def test_one_file_carries_out_a_plan(
    pyz: Path, service: FakeService, fake_wrk: str, tmp_path: Path
):
    plan = write_plan(tmp_path, servers=1, connections="[1]", repeats=1, warmup_s=0)
    done = run(pyz, "run", plan, "--tool-path", f"wrk={fake_wrk}", *service.flags, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["state"] == "parsed"
    assert len(service.uploads) == 1
    (place,) = (tmp_path / "cache" / "loadsheet").iterdir()
    before = place.stat().st_ino
    assert "[[servers]]" in run(pyz, "plan", "new", "-").stdout
    assert [path.stat().st_ino for path in place.parent.iterdir()] == [before]


def test_a_platform_it_was_not_built_for_is_told(tmp_path: Path):
    build_pyz.build(tmp_path / "loadsheet.pyz", [])
    done = run(tmp_path / "loadsheet.pyz", "status")
    assert done.returncode == 1
    assert f"has nothing for {HERE}; install the wheel" in done.stderr
