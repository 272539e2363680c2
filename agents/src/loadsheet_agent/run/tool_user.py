"""Load tools as a user of their own: what they can read, where they write, what they leave behind.

A load tool reads the answers of the server under test, and a plan may come from somebody else. As
another user it cannot read the agent's token, or write anywhere but into an empty folder.
"""

from __future__ import annotations

import os
import pwd
import shutil
import stat
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from loadsheet_agent.errors import UsageError

# What a tool gets of the agent's environment: nothing that could be a secret.
KEPT_NAMES = ("PATH", "TZ", "LANG", "LC_ALL", "LC_CTYPE", "LC_NUMERIC", "LD_LIBRARY_PATH")
# A process can make others while it is ended.
MOST_ROUNDS = 1000


@dataclass(frozen=True)
class ToolUser:
    """A user that nothing else on this machine runs as."""

    uid: int
    gid: int

    def identity(self) -> dict[str, Any]:
        """Arguments of a process that runs as the user, in none of the agent's groups."""
        return {"user": self.uid, "group": self.gid, "extra_groups": []}

    def end_processes(self) -> None:
        """Also those that left the process group of the tool."""
        for _ in range(MOST_ROUNDS):
            processes = self._processes()
            if not processes:
                return
            for process in processes:
                # It may have ended by itself meanwhile.
                with suppress(psutil.NoSuchProcess):
                    process.kill()
            psutil.wait_procs(processes, timeout=1)

    def _processes(self) -> list[psutil.Process]:
        return [
            process
            for process in psutil.process_iter(["uids", "status"])
            if process.info["uids"] is not None
            and process.info["uids"].real == self.uid
            and process.info["status"] != psutil.STATUS_ZOMBIE
        ]


def find_tool_user(name: str | None) -> ToolUser | None:
    """The user by its name, or by a number that no user needs to have; None if none is given.

    Raises UsageError where load tools cannot run as this user, or something runs as it already:
    after each trial, every process of the user is ended.
    """
    if not name:
        return None
    if os.geteuid() != 0:
        raise UsageError(
            f"--tool-user is {name!r}; only root may start load tools as another user."
        )
    try:
        entry = pwd.getpwnam(name)
        user = ToolUser(entry.pw_uid, entry.pw_gid)
    except KeyError:
        if not (name.isascii() and name.isdigit() and 0 < int(name) < 2**32 - 1):
            raise UsageError(
                f"--tool-user is {name!r}, which is neither a user nor a user number here."
            ) from None
        user = ToolUser(int(name), int(name))
    if user.uid == 0 or user._processes():
        raise UsageError(
            f"--tool-user is {name!r}, which other programs run as; give a user of its own, "
            "because its processes are ended after each trial."
        )
    return user


def environ_for(user: ToolUser | None, home: Path, environ: Mapping[str, str]) -> dict[str, str]:
    """The environment of a load tool. Never the agent's own variables: one is its token."""
    if user is None:
        return {name: value for name, value in environ.items() if not _is_own(name)}
    kept = {name: environ[name] for name in KEPT_NAMES if name in environ}
    return {**kept, "HOME": str(home), "TMPDIR": str(home)}


def _is_own(name: str) -> bool:
    return name.startswith("LOADSHEET_")


@contextmanager
def work_folder(user: ToolUser | None, directory: Path, files: Iterable[str]) -> Iterator[Path]:
    """Where a load tool works: `directory`, or an empty folder of its user.

    Then every process of the user is ended, and `files` come into `directory`.
    """
    if user is None:
        yield directory
        return
    with tempfile.TemporaryDirectory(prefix="loadsheet-tool-") as made:
        # The user owns the inner folder alone: else it could put a link in the place of the outer.
        outer = Path(made)
        outer.chmod(0o711)
        folder = outer / "work"
        folder.mkdir(mode=0o700)
        os.chown(folder, user.uid, user.gid)
        try:
            yield folder
        finally:
            user.end_processes()
            for name in files:
                _bring(folder / name, directory / name, user)


def _bring(source: Path, kept: Path, user: ToolUser) -> None:
    """Only a file that the tool wrote itself: a link could lead to what the agent may read."""
    try:
        handle = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return
    try:
        status = os.fstat(handle)
        if stat.S_ISREG(status.st_mode) and status.st_uid == user.uid:
            with os.fdopen(os.dup(handle), "rb") as file, kept.open("wb") as copy:
                shutil.copyfileobj(file, copy)
    finally:
        os.close(handle)
