"""Builds the agent as one file: python agents/build_pyz.py loadsheet.pyz [--wheel]

The file holds the agent and its dependencies for Linux and macOS, x86-64 and ARM. At its first
start it unpacks itself into the user's cache, by its checksum, because a compiled module (psutil)
cannot be loaded out of an archive and a server's guard is started as a file of its own.
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
import subprocess
import sys
import tempfile
import zipapp
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
# Pure dependencies, with what they need on the oldest Python: pip asks the markers of the Python
# that builds, so those for older ones are named here.
PURE = ("httpx", "rich", "tomli", "typing_extensions", "exceptiongroup")
COMPILED = "psutil"
PYTHON = "3.9"
PLATFORMS = {
    "linux-x86_64": ("manylinux2014_x86_64", "manylinux_2_12_x86_64", "manylinux2010_x86_64"),
    "linux-aarch64": ("manylinux2014_aarch64",),
    "darwin-x86_64": ("macosx_10_9_x86_64",),
    "darwin-arm64": ("macosx_11_0_arm64",),
}
MAIN = """\
import os, platform, shutil, sys, tempfile, zipfile

DIGEST = {digest!r}


def unpacked():
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    place = os.path.join(base, "loadsheet", DIGEST)
    if os.path.isdir(place):
        return place
    os.makedirs(os.path.dirname(place), mode=0o700, exist_ok=True)
    part = tempfile.mkdtemp(dir=os.path.dirname(place))
    with zipfile.ZipFile(sys.path[0]) as archive:
        archive.extractall(part)
    try:
        os.rename(part, place)
    except OSError:  # another process was quicker
        shutil.rmtree(part, ignore_errors=True)
    return place


def run():
    if sys.version_info < (3, 9):
        sys.exit("loadsheet needs Python 3.9 or newer; this is " + platform.python_version() + ".")
    name = platform.system().lower() + "-" + platform.machine().lower()
    place = unpacked()
    compiled = os.path.join(place, "compiled", name)
    if not os.path.isdir(compiled):
        sys.exit("loadsheet.pyz has nothing for " + name + "; install the wheel by pipx")
    pure = os.path.join(place, "pure")
    sys.path[:1] = [pure, compiled]
    from loadsheet_agent.cli import main

    sys.exit(main())


run()
"""


def main() -> None:
    parser = argparse.ArgumentParser(description="Builds the agent as one file.")
    parser.add_argument("output", metavar="FILE", nargs="?", default="loadsheet.pyz")
    parser.add_argument(
        "--platform", action="append", choices=PLATFORMS, help="only these; repeatable"
    )
    parser.add_argument("--wheel", action="store_true", help="and a wheel beside it, for pipx")
    arguments = parser.parse_args()
    output = Path(arguments.output)
    output.parent.mkdir(parents=True, exist_ok=True)
    build(output, arguments.platform or list(PLATFORMS))
    if arguments.wheel:
        build_wheel(output.parent)


def build_wheel(folder: Path) -> None:
    """The only wheel there afterwards. Built of a copy, since setuptools litters its source."""
    for old in folder.glob("loadsheet_agent-*.whl"):
        old.unlink()
    with tempfile.TemporaryDirectory(prefix="loadsheet-wheel-") as place:
        copy = Path(place) / "agents"
        copy.mkdir()
        shutil.copytree(
            HERE / "src", copy / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info")
        )
        for name in ("pyproject.toml", "README.md"):
            shutil.copy(HERE / name, copy / name)
        _pip("wheel", "--no-deps", "--wheel-dir", str(folder), str(copy))


def build(output: Path, platforms: list[str]) -> None:
    """Raises CalledProcessError where pip cannot get a dependency."""
    with tempfile.TemporaryDirectory(prefix="loadsheet-pyz-") as folder:
        tree = Path(folder) / "tree"
        shutil.copytree(
            HERE / "src" / "loadsheet_agent",
            tree / "pure" / "loadsheet_agent",
            ignore=shutil.ignore_patterns("__pycache__"),
        )
        _install(tree / "pure", PURE, ("any",), pure=True)
        for name in platforms:
            _install(tree / "compiled" / name, (COMPILED,), PLATFORMS[name], pure=False)
        (tree / "__main__.py").write_text(MAIN.format(digest=_digest(tree)), encoding="utf-8")
        # Replaced whole: somebody may be downloading the one before.
        part = output.with_name(output.name + ".part")
        zipapp.create_archive(tree, part, "/usr/bin/env python3", compressed=True)
        part.replace(output)
    with zipfile.ZipFile(output) as archive:
        files = len(archive.namelist())
    sys.stdout.write(f"{output}: {files} files, {output.stat().st_size / 1e6:.1f} MB\n")


def _install(target: Path, names: tuple[str, ...], tags: tuple[str, ...], *, pure: bool) -> None:
    """Unpack wheels for the oldest Python; the stable ABI of psutil's serves all newer ones."""
    kind = ["--implementation", "py", "--abi", "none"] if pure else ["--abi", "abi3"]
    _pip(
        *("install", "--root-user-action", "ignore"),
        *("--target", str(target), "--only-binary", ":all:", "--python-version", PYTHON),
        *(word for tag in tags for word in ("--platform", tag)),
        *kind,
        *([] if pure else ["--no-deps"]),
        *names,
    )
    for useless in (*target.rglob("__pycache__"), target / "bin", *target.rglob("tests")):
        shutil.rmtree(useless, ignore_errors=True)


def _pip(command: str, *words: str) -> None:
    quiet = ("--quiet", "--disable-pip-version-check")
    subprocess.run([sys.executable, "-m", "pip", command, *quiet, *words], check=True)


def _digest(tree: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted(path for path in tree.rglob("*") if path.is_file()):
        digest.update(str(path.relative_to(tree)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:20]


if __name__ == "__main__":
    main()
