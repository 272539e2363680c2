"""The programs of scripts/bench can be loaded, also those that no other test runs."""

import subprocess
import sys

import pytest

from backend.config.site.site import ROOT

pytestmark = pytest.mark.processes
BENCHES = ROOT / "scripts" / "benches"
LOAD = "import importlib, sys; [importlib.import_module(name) for name in sys.argv[1:]]"


def test_every_bench_loads(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", f"{ROOT}:{ROOT / 'agents' / 'src'}:{BENCHES}")
    names = sorted(path.stem for path in BENCHES.glob("*.py"))
    command = [sys.executable, "-c", LOAD, *names]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
