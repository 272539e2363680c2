"""What is done at the signals of Celery's processes.

The id of the task is in every log line that is written while it runs. Readers are forked from the
worker, and share its memory until one of them writes to it. The collector writes to every object
that it looks at. So it leaves alone what the worker imported. A reader ends with its worker.
"""

import gc
import os
from contextlib import ExitStack
from typing import Any

from celery.signals import (
    task_postrun,
    task_prerun,
    worker_before_create_process,
    worker_process_init,
)

from backend import log_context

# Of the tasks that run in this process: one at a time, unless a test nests them.
_running: list[ExitStack] = []
# The process that forks the readers.
_worker_pid: int | None = None


@task_prerun.connect  # type: ignore[untyped-decorator]
def begin(task_id: str = "", **_: Any) -> None:
    stack = ExitStack()
    stack.enter_context(log_context.bound(task_id=task_id))
    _running.append(stack)


@task_postrun.connect  # type: ignore[untyped-decorator]
def end(**_: Any) -> None:
    if _running:
        _running.pop().close()


@worker_before_create_process.connect  # type: ignore[untyped-decorator]
def keep_shared(**_: Any) -> None:
    """What is garbage now would stay for good: it goes first."""
    gc.collect()
    gc.freeze()


@worker_before_create_process.connect  # type: ignore[untyped-decorator]
def note_worker(**_: Any) -> None:
    global _worker_pid  # noqa: PLW0603  the forked reader has it from here
    _worker_pid = os.getpid()


@worker_process_init.connect  # type: ignore[untyped-decorator]
def end_without_worker(**_: Any) -> None:
    """Celery asks the system to end a reader together with its worker. That comes too late if the
    worker has already ended."""
    if _worker_pid is not None and os.getppid() != _worker_pid:
        os._exit(1)
