"""What others do between two statements of a request."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection


@contextmanager
def work_of_others_after(part: str, work: Callable[[], object]) -> Iterator[None]:
    """`work` is done and committed by another connection after the first statement with `part`.

    Fails where no statement has it.
    """
    is_done = threading.Event()

    def work_alone() -> None:
        try:
            work()
        finally:
            connection.close()

    def execute(run: Callable[..., Any], sql: str, *arguments: Any) -> Any:
        answer = run(sql, *arguments)
        if part in sql and not is_done.is_set():
            is_done.set()
            thread = threading.Thread(target=work_alone)
            thread.start()
            thread.join()
        return answer

    with connection.execute_wrapper(execute):
        yield
    assert is_done.is_set(), f"no statement has {part}"
