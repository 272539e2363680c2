"""Readers are forked from the worker, and share its memory until one of them writes to it.

The collector writes to every object that it looks at. So it leaves alone what the worker imported.
"""

import gc
from typing import Any

from celery.signals import worker_before_create_process


@worker_before_create_process.connect  # type: ignore[untyped-decorator]
def keep_shared(**_: Any) -> None:
    """What is garbage now would stay for good: it goes first."""
    gc.collect()
    gc.freeze()
