"""The id of the Celery task in every log line that is written while it runs."""

from contextlib import ExitStack
from typing import Any

from celery.signals import task_postrun, task_prerun

from backend import log_context

# Of the tasks that run in this process: one at a time, unless a test nests them.
_running: list[ExitStack] = []


@task_prerun.connect  # type: ignore[untyped-decorator]
def begin(task_id: str = "", **_: Any) -> None:
    stack = ExitStack()
    stack.enter_context(log_context.bound(task_id=task_id))
    _running.append(stack)


@task_postrun.connect  # type: ignore[untyped-decorator]
def end(**_: Any) -> None:
    if _running:
        _running.pop().close()
