"""Commits of git repositories that servers are installed from, fetched once.

The id of a commit is a hash of all files below it. Git compares what it receives with that hash.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from loadsheet_agent.errors import BrokenInstallError, NotInstalledError

LIMIT_S = 300.0
LINE_LIMIT = 300
# How addresses of plans are fetched; a kept copy is a folder.
PROTOCOL, KEPT_PROTOCOL = "https", "file"
# Settings of the user or the system could rewrite addresses, change files or run programs.
ISOLATED = {
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "HOME": os.devnull,
    "XDG_CONFIG_HOME": os.devnull,
    "LC_ALL": "C",
}
SETTINGS = ("protocol.version=2", f"core.hooksPath={os.devnull}", "credential.helper=")
# What git prints where it reached a server that does not have the repository or the commit.
GONE = re.compile("not our ref|not found|does not appear to be a git repo|prompts disabled")
# The mode of a submodule in a tree.
SUBMODULE = "160000 "


def check_out(url: str, commit: str, target: Path, *, folder: Path) -> None:
    """Write the files of the commit into the new folder `target`. Raises NotInstalledError.

    `folder` keeps a bare repository for each commit, so that it is fetched once.
    """
    kept = folder / f"{commit}.git"
    try:
        if not kept.exists():
            _keep(url, commit, kept)
    except NotInstalledError as error:
        raise type(error)(
            f"{url} could not be fetched ({error}); without a network, put a bare copy of the "
            f"repository at {kept}"
        ) from error
    try:
        _fetch(target, kept.as_uri(), commit, KEPT_PROTOCOL)
        _write_files(target, commit)
    except NotInstalledError as error:
        raise type(error)(f"{kept}, the copy of {url}, cannot be used ({error})") from error
    shutil.rmtree(target / ".git")


def _keep(url: str, commit: str, kept: Path) -> None:
    part = kept.with_suffix(".part")
    shutil.rmtree(part, ignore_errors=True)
    _fetch(part, url, commit, PROTOCOL)
    (part / ".git").replace(kept)
    part.rmdir()


def _fetch(folder: Path, url: str, commit: str, protocol: str) -> None:
    """Make `folder` a repository with this commit alone."""
    folder.mkdir(parents=True)
    _git(folder, "init", "--quiet", "--template=")
    fetch = ("fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules")
    _git(folder, *fetch, url, commit, protocol=protocol)


def _write_files(folder: Path, commit: str) -> None:
    entries = _git(folder, "ls-tree", "-r", commit).splitlines()
    if any(entry.startswith(SUBMODULE) for entry in entries):
        raise BrokenInstallError("it has submodules, which are not fetched")
    _git(folder, "checkout", "--quiet", "--detach", commit)
    checked_out = _git(folder, "rev-parse", "HEAD").strip()
    if checked_out != commit:
        raise BrokenInstallError(f"it has the commit {checked_out}; expected {commit}")


def _git(folder: Path, *arguments: str, protocol: str = "none") -> str:
    """What git prints. Raises NotInstalledError."""
    settings = [word for setting in SETTINGS for word in ("-c", setting)]
    others = {name: text for name, text in os.environ.items() if not name.startswith("GIT_")}
    try:
        done = subprocess.run(
            ("git", *settings, *arguments),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=LIMIT_S,
            check=False,
            cwd=folder,
            env={**others, **ISOLATED, "GIT_ALLOW_PROTOCOL": protocol},
        )
    except subprocess.TimeoutExpired:
        raise NotInstalledError(f"git did not end within {LIMIT_S:g} s") from None
    except OSError as error:
        raise NotInstalledError(f"git could not be started: {error.strerror}") from error
    if done.returncode != 0:
        kind = BrokenInstallError if GONE.search(done.stderr) else NotInstalledError
        raise kind(_reason(done.stderr))
    return done.stdout


def _reason(text: str) -> str:
    """The first line of git's output that names an error, without its kind; else the last line."""
    lines = text.strip().splitlines() or ["it printed nothing"]
    errors = (line for line in lines if line.startswith(("fatal: ", "error: ")))
    return next(errors, f": {lines[-1]}").partition(": ")[2][:LINE_LIMIT]
