"""Writes the lock of servers on the shelf: every package with the SHA-256 of its files.

    python agents/lock_servers.py gunicorn@current tornado@0.2,current
    python agents/lock_servers.py --missing

For Python 3.8 and newer, pip-tools (`pip install pip-tools`) lists the files of all platforms. For
older Pythons, pip downloads the files for this platform, and the lock is for this platform only.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "src"))

from loadsheet_agent.errors import AgentError  # noqa: E402
from loadsheet_agent.install.interpreters import Interpreter, find_interpreter  # noqa: E402
from loadsheet_agent.plan.place import Place  # noqa: E402
from loadsheet_agent.plan.shelf import Shelf, ShelfEntry, parse_use  # noqa: E402

HEAD = "# Made by agents/lock_servers.py for Python {version}.\n"
# name-1.2.tar.gz and name-1.2-py3-none-any.whl
FILE_NAME = re.compile(r"(?P<name>.+?)-(?P<version>\d[^-]*?)(-.*\.whl|\.tar\.gz|\.zip|\.tar\.bz2)$")


def main() -> int:
    shelf = Shelf(HERE / "servers")
    if sys.argv[1:] == ["--missing"]:
        wanted = [
            (entry, version)
            for entry in shelf.entries()
            for version in entry.versions
            if not lock_path(entry, version).exists()
        ]
    else:
        wanted = []
        for word in sys.argv[1:]:
            name, versions = parse_use(word, Place("arguments"))
            entry = shelf.entry(name)
            wanted += [(entry, version) for version in entry.pick_versions(versions)]
    failures = sum(not lock(entry, version) for entry, version in wanted)
    return 1 if failures else 0


def lock_path(entry: ShelfEntry, version: str) -> Path:
    return entry.folder / "versions" / f"{version}.lock"


def lock(entry: ShelfEntry, version: str) -> bool:
    """Whether the lock was written; a version without packages needs none."""
    table = entry.server_table(version)
    if not table.get("packages"):
        return True
    try:
        interpreter = find_interpreter(table["interpreter"])
        text = make_lock(table["packages"], interpreter)
    except (AgentError, subprocess.CalledProcessError) as error:
        detail = getattr(error, "stderr", "") or ""
        sys.stderr.write(f"{entry.name}@{version}: {error}\n{detail[-1500:]}\n")
        return False
    path = lock_path(entry, version)
    path.write_text(HEAD.format(version=interpreter.version) + text, encoding="utf-8")
    sys.stdout.write(f"{path.relative_to(HERE)}\n")
    return True


def make_lock(packages: list[str], interpreter: Interpreter) -> str:
    minor = tuple(int(number) for number in interpreter.version.split(".")[:2])
    with tempfile.TemporaryDirectory(prefix="loadsheet-lock-") as folder:
        if minor >= (3, 8):
            return compile_lock(packages, interpreter, Path(folder))
        return download_lock(packages, interpreter, Path(folder))


def compile_lock(packages: list[str], interpreter: Interpreter, folder: Path) -> str:
    source = folder / "packages.in"
    source.write_text("\n".join(packages) + "\n", encoding="utf-8")
    flags = "--generate-hashes --no-header --no-annotate --allow-unsafe --strip-extras --quiet"
    return run(
        *(sys.executable, "-m", "piptools", "compile", *flags.split()),
        *("--no-emit-index-url", "--no-emit-find-links", "--no-emit-trusted-host"),
        *("--output-file", "-", str(source)),
    )


def download_lock(packages: list[str], interpreter: Interpreter, folder: Path) -> str:
    run(interpreter.path, "-m", "pip", "download", "--dest", str(folder), *packages)
    return "".join(sorted(lock_line(path) for path in folder.iterdir()))


def lock_line(path: Path) -> str:
    match = FILE_NAME.match(path.name)
    if match is None:
        raise AgentError(f"{path.name} is no file of a package")
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return f"{match['name']}=={match['version']} --hash=sha256:{digest}\n"


def run(*argv: str) -> str:
    done = subprocess.run(argv, capture_output=True, text=True, check=True, timeout=900)
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
