"""The help of the scripts is printed at once: it needs nothing that would be installed."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
pytestmark = pytest.mark.processes


@pytest.fixture
def checkout(tmp_path):
    """A fresh checkout on a machine without Node: preparing it would fail."""
    shutil.copytree(SCRIPTS, tmp_path / "scripts", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python3").symlink_to(sys.executable)
    for name in ("sh", "env", "sed", "dirname"):
        (tmp_path / "bin" / name).symlink_to(shutil.which(name))
    return tmp_path


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("start", ("--port N", "--data DIR", "--no-demo")),
        ("test", ("--unit", "--pooler", "To run chosen tests")),
        ("check", ("Changes nothing",)),
        ("fix", ("generated files",)),
        ("upgrade", ("The first step", "COMPOSE_FILE")),
        ("bench", ("truth-checks", "--help")),
        ("bench agent", ("agent",)),
    ],
)
@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_help_installs_nothing_and_lists_the_options(checkout, command, expected, flag):
    name, *words = command.split()
    done = subprocess.run(
        [str(checkout / "scripts" / name), *words, flag],
        env={"PATH": str(checkout / "bin"), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert [text for text in expected if text not in done.stdout] == []
    assert sorted(os.listdir(checkout)) == ["bin", "scripts"]
