"""The load tool of the demonstration: wrk where it can be had."""

import os
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Callable

from backend.config.site.progress import say

WAIT_S = 30.0
INSTALL = (("apt-get", "update", "-qq"), ("apt-get", "install", "-y", "-qq", "wrk"))
QUESTION = (
    "wrk is not installed. It measures latency in finer steps than the installed load tools.\n    "
    f"Install it with apt-get? [y/N] (continues without it after {WAIT_S:.0f} s) "
)


def offer_wrk(tend: Callable[[], None]) -> None:
    """Ask a person at a terminal whether to install wrk. Nobody else is asked or waited for.

    `tend` is called several times a second meanwhile.
    """
    if not _can_offer():
        return
    say(QUESTION)
    if not _is_wanted(tend):
        say("Continuing without wrk.")
        return
    for command in INSTALL:
        if not _runs(command, tend):
            say(f"`{' '.join(command)}` failed. Continuing without wrk.")
            return


def _can_offer() -> bool:
    """Whether wrk is missing, this may install it, and a person can answer."""
    is_debian_root = os.geteuid() == 0 and shutil.which("apt-get") is not None
    has_person = sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()
    return shutil.which("wrk") is None and is_debian_root and has_person


def _is_wanted(tend: Callable[[], None]) -> bool:
    deadline = time.monotonic() + WAIT_S
    while time.monotonic() < deadline:
        tend()
        readable, _, _ = select.select([sys.stdin], [], [], 0.1)
        if readable:
            return sys.stdin.readline().strip().lower() in ("y", "yes")
    return False


def _runs(command: tuple[str, ...], tend: Callable[[], None]) -> bool:
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    while child.poll() is None:
        tend()
        time.sleep(0.1)
    return child.returncode == 0
