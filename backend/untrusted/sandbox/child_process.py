"""The process of a child: how it starts, its pipes, and how it ends."""

import os
import resource
import select
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from typing import IO

from django.conf import settings

from backend.untrusted.sandbox.deaths import Death


def start_child(command: Sequence[str]) -> subprocess.Popen[bytes]:
    """A child that is asked over its pipes."""
    return subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        bufsize=0,
        # With all that it may start, which ends with it.
        process_group=0,
        cwd=settings.BASE_DIR,
        # Nothing of the service's secrets; one thread per library keeps memory small.
        env={
            "PATH": os.environ.get("PATH", ""),
            "LANG": "C.UTF-8",
            "OPENBLAS_NUM_THREADS": "1",
            "POLARS_MAX_THREADS": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
        },
    )


def has_output(pipe: IO[bytes], timeout_s: float) -> bool:
    """Whether there is something to read, or the end, before the time is over."""
    # Not select: it refuses file descriptors above 1023, and slow clients have many.
    poll = select.poll()
    poll.register(pipe, select.POLLIN)
    return bool(poll.poll(1000 * timeout_s))


def close_pipes(child: subprocess.Popen[bytes]) -> None:
    for pipe in (child.stdin, child.stdout):
        if pipe is not None:
            pipe.close()


def death_of(child: subprocess.Popen[bytes]) -> Death | None:
    """How the child ended, with what it used; None while it lives."""
    if child.returncode is not None:
        return Death(child.returncode)
    try:
        pid, status, usage = os.wait4(child.pid, os.WNOHANG)
    except ChildProcessError:  # reaped elsewhere
        return Death(child.poll() or 0)
    if pid == 0:
        return None
    # Popen's own wait would not tell what was used.
    child.returncode = os.waitstatus_to_exitcode(status)
    return Death(child.returncode, usage.ru_maxrss << 10, most_memory_bytes())


def most_memory_bytes() -> int:
    """The most memory that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def has_ended(child: subprocess.Popen[bytes]) -> bool:
    """Whether it has; `death_of` then says how."""
    if child.returncode is not None:
        return True
    try:
        ended = os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:  # reaped elsewhere
        return True
    return ended is not None


def end_group(leader: subprocess.Popen[bytes]) -> None:
    """End what a child started that has ended itself."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader.pid, signal.SIGKILL)
