"""Other programs: what one prints, and signals to all processes of one."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from typing import Any


def ask(
    argv: Sequence[str], *, limit_s: float = 20.0, **options: Any
) -> subprocess.CompletedProcess[str] | None:
    """What the program printed; None if it cannot be started or does not end in time."""
    with suppress(OSError, subprocess.TimeoutExpired):
        return subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=limit_s,
            check=False,
            **options,
        )
    return None


def signal_group(pid: int, number: int) -> None:
    """Signal every process of a group, if there is one."""
    with suppress(ProcessLookupError):
        os.killpg(pid, number)
