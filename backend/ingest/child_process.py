"""The process of the child that parses: how it starts, and its pipes."""

from __future__ import annotations

import os
import select
import subprocess
from collections.abc import Sequence
from typing import IO

from django.conf import settings


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
